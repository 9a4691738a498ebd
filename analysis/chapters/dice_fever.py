"""Dice Fever: the STOP chart, its check by simulation, and what the policies of the study win."""

import re
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from analysis import figures
from analysis.estimates import (
    game_length,
    length_histogram,
    seat_advantage,
    turn_ends,
    win_rate_matrix,
    win_rates,
)
from sims.errors import InputError, choose
from sims.policy import load_policy
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever.odds import Turn, points_rule, sample_table
from sims.study import Study

TITLE = "When should I say STOP in Dice Fever?"
GAME = "dice-fever"
GROUPS = {"pairs": "pairs", "sweep": "against", "seats": "self"}
OPPONENT = "hold_dice:3"  # of the sweep
TURNS_PER_POSITION = 20_000  # simulated turns behind each z-score


def check(study: Study) -> None:
    """Raise InputError if the report could not be made of a study's results: better now than after playing them."""
    choose(study.ruleset, [GAME], "ruleset of the report")
    groups = {group.name: group for group in study.groups}
    for name, kind in GROUPS.items():
        if name not in groups or groups[name].kind != kind:
            found = f"one of kind {groups[name].kind!r}" if name in groups else "none"
            raise InputError(f"the report needs a group {name!r} of kind {kind!r}; the study has {found}")
    for spec in groups["sweep"].policies:
        if not re.fullmatch(r"hold_pot:\d+(\.\d+)?", spec):
            raise InputError(f"the report's group 'sweep' takes policies such as hold_pot:7, not {spec!r}")
    if groups["sweep"].opponents != [OPPONENT]:
        raise InputError(f"the report's group 'sweep' takes the opponent {OPPONENT}, not {', '.join(groups['sweep'].opponents)}")
    for name in ("pairs", "seats"):
        if len(groups[name].variants) > 1:
            raise InputError(f"the report's group {name!r} takes one variant, not {', '.join(groups[name].variants)}")
    if len(groups["pairs"].policies) < 2:
        raise InputError(f"the report's group 'pairs' needs two policies or more, not {groups['pairs'].policies[0]!r} alone")


def content(
    study: Study, results: pd.DataFrame, games: int, seed: int
) -> tuple[dict[str, Any], dict[str, pd.DataFrame], dict[str, Any]]:
    """Return the chapter's figures, its tables, and the words and numbers of its text.

    Parameters
    ----------
    study : Study
        One that :func:`check` accepts.
    results : DataFrame
        Of its matchups, as ``run_study`` returns them.
    games, seed : int
        Games per matchup, and the seed, that they were played with.

    Returns
    -------
    figures : dict of str to Axes or Figure
    tables : dict of str to DataFrame
    words : dict of str to object
        What the template reads.
    """
    ruleset = RULESETS[GAME]
    group = dict(list(results.groupby("group", sort=False)))
    turns = {variant: Turn(ruleset, variant) for variant in ruleset.presets}
    odds = {variant: turn.table() for variant, turn in turns.items()}
    standard = odds["standard"]
    bare = _without_shield(standard)
    checked = sample_table(turns["standard"], standard, TURNS_PER_POSITION, seed)
    rates, pairs = win_rates(results), win_rates(group["pairs"])
    sweep = _sweep(win_rates(group["sweep"]))
    policies = [load_policy(ruleset, spec).spec for g in study.groups if g.name == "pairs" for spec in g.policies]
    mirror = group["pairs"][group["pairs"].matchup.map(lambda matchup: len(set(matchup.split(" v "))) == 1)]
    ends = turn_ends(mirror)
    seats = _by_seats(seat_advantage(group["seats"]))
    rules = _rules(odds)
    drawn = {
        "stop_chart": figures.plot_stop_chart(bare, _sentence(rules.loc["standard", "threshold"])),
        "gain": figures.plot_gain(bare),
        "sweep": figures.plot_sweep(sweep, OPPONENT),
        "matrix": figures.plot_win_rate_matrix(win_rate_matrix(pairs)),
        "turn_ends": figures.plot_turn_ends(ends),
        "length": figures.plot_length(_lengths(mirror, policies[:4]), figures.colours(policies)),
        "seats": figures.plot_seat_advantage(seats),
        "z": figures.plot_z_scores(_quantiles(checked)),
    }
    mirror_length = game_length(mirror)
    tables = {
        "odds_standard": standard,
        "odds_checked": checked,
        "points_rule": rules.reset_index(),
        "win_rates": rates,
        "turn_ends": ends,
        "game_length": game_length(group["pairs"]),
        "seat_advantage": seat_advantage(results),
    }
    words = {
        "threshold": int(rules.loc["standard", "threshold"]),
        "rules": rules.reset_index().to_dict("records"),
        "best_play": [turns["standard"].mean_of_best_play(shields) for shields in range(4)],
        "z": _z_summary(checked),
        "z_turns": TURNS_PER_POSITION,
        "ranking": _ranking(pairs),
        "sweep": _sweep_words(sweep),
        "seats": seats.to_dict("records"),
        "sudden": mirror_length[mirror_length.quantity == "sudden_death_share"].to_dict("records"),
        "length": mirror_length[mirror_length.quantity == "turns_per_seat"].to_dict("records"),
        "games": games,
        "total_games": int(results.groupby(["group", "matchup", "variant"]).games.first().sum()),
        "truncated": int(results.groupby(["group", "matchup", "variant"]).truncated.first().sum()),
        "seed": seed,
        "version": ruleset.version,
    }
    return drawn, tables, words


def _without_shield(odds: pd.DataFrame) -> pd.DataFrame:
    """One row per open track: no shield, and after the BONUS die the best face for throwing (the advice is then the same)."""
    rows = odds[(odds.shields == 0) & (odds.dice < 6) & (odds.tripled == 0)]
    rows = rows.assign(gain=rows.throw - rows.stop).sort_values(["gain", "bonus"], ascending=[False, True], kind="stable")
    return rows.drop_duplicates("track").sort_values(["dice", "stop", "track"]).reset_index(drop=True)


def _rules(odds: dict[str, pd.DataFrame]) -> pd.DataFrame:
    rows = []
    for variant, table in odds.items():
        threshold, wrong = points_rule(table)
        regret = (wrong.throw - wrong.stop).abs().max() if len(wrong) else 0.0
        positions = int((table.dice < 6).sum())
        rows.append((variant, threshold, positions, len(wrong), regret, ", ".join(wrong.track)))
    columns = ["variant", "threshold", "positions", "exceptions", "worst_regret", "where"]
    return pd.DataFrame(rows, columns=columns).set_index("variant")


def _sentence(threshold: int) -> str:
    return f"Shield left? Throw.  No shield? STOP as soon as your dice are worth {threshold} points or more."


def _sweep(rates: pd.DataFrame) -> pd.DataFrame:
    rows = rates[rates.seat.isna() & rates.policy.str.startswith("hold_pot:")]
    return rows.assign(threshold=rows.policy.str.removeprefix("hold_pot:").astype(float))


def _sweep_words(sweep: pd.DataFrame) -> list[dict[str, Any]]:
    return sweep.loc[sweep.groupby("variant", sort=False).estimate.idxmax()].to_dict("records")


def _lengths(mirror: pd.DataFrame, policies: list[str]) -> pd.DataFrame:
    table = length_histogram(mirror)
    table = table.assign(policy=[matchup.split(" v ")[0] for matchup in table.matchup])
    return table[table.policy.isin(policies)]


def _by_seats(advantage: pd.DataFrame) -> pd.DataFrame:
    return advantage.assign(seats=[matchup.count(" v ") + 1 for matchup in advantage.matchup])


def _quantiles(checked: pd.DataFrame) -> pd.DataFrame:
    z = np.sort(_all_z(checked))
    return pd.DataFrame({"expected": stats.norm.ppf((np.arange(len(z)) + 0.5) / len(z)), "z": z})


def _all_z(checked: pd.DataFrame) -> np.ndarray:
    z = np.concatenate([checked.z_out, checked.z_throw])
    return z[z != 0]


def _z_summary(checked: pd.DataFrame) -> dict[str, float]:
    z = _all_z(checked)
    return {"n": len(z), "largest": float(np.abs(z).max()), "spread": float(z.std()), "positions": len(checked)}


def _ranking(pairs: pd.DataFrame) -> list[dict[str, Any]]:
    """Each policy's win rate over its opponents in the study, each opponent with the same weight."""
    rows = pairs[pairs.seat.isna() & pairs.matchup.map(lambda matchup: len(set(matchup.split(" v "))) == 2)]
    grouped = rows.groupby("policy", sort=False)
    table = grouped.agg(estimate=("estimate", "mean"), stderr=("stderr", _pooled), n=("n", "sum"), k=("n", "size"))
    half = stats.norm.ppf(0.975) * table.stderr
    table = table.assign(low=table.estimate - half, high=table.estimate + half).reset_index()
    return table.sort_values("estimate", ascending=False).to_dict("records")


def _pooled(stderr: pd.Series) -> float:
    return float(np.sqrt((stderr**2).sum()) / len(stderr))
