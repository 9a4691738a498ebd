"""Dice Fever: when to STOP, for points and to win, what cards and seats are worth, what is assumed, and what the policies win.

Each part below returns its figures, its tables and the words and numbers of its text; :func:`content` joins them.
"""

import base64
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from analysis import figures
from analysis.chapters.parts import Part, find_groups, in_all, join
from analysis.estimates import (
    fair_shares,
    game_length,
    length_histogram,
    seat_advantage,
    turn_ends,
    win_rate_matrix,
    win_rates,
)
from sims.errors import InputError
from sims.policy import load_policy
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever.adviser import Adviser
from sims.rulesets.dice_fever.assumptions import ASSUMPTIONS, decide, sensitivity, settled_tracks
from sims.rulesets.dice_fever.compact import compact
from sims.rulesets.dice_fever.decisions import card_worth, decisions, thresholds
from sims.rulesets.dice_fever.evaluation import regret
from sims.rulesets.dice_fever.exact import Solution, solution
from sims.rulesets.dice_fever.odds import Turn, points_rule, sample_table
from sims.rulesets.dice_fever.readable import RULES, UNSAID, lines
from sims.study import Study

TITLE = "When should I say STOP in Dice Fever?"
GAME = "dice-fever"
GROUPS = {"pairs": "pairs", "sweep": "against", "seats": "self", "many": "against"}
OPPONENT = "hold_dice:3"  # of the sweep
TURNS_PER_POSITION = 20_000  # simulated turns behind each z-score
SOLVED = "standard"  # the variant that is solved for the answers
FEW_CARDS = "standard,parade_cards=1,risk_cards=1"  # the one for the assumptions: it is solved in seconds
MAPPED = ("6", "16", "34", "46", "345", "256")  # tracks with maps
AGAINST_LEAD = ("24", "16", "26", "36", "46", "56")  # tracks shown against the lead
HANDS = {"both with all cards": None, "both without cards": (0, 0)}
NEAR = 20  # points to the target that a turn often makes: nearer to it the maps tell more than a threshold


def check(study: Study) -> None:
    """Raise InputError if the report could not be made of a study's results: better now than after playing them."""
    groups = find_groups(study, GAME, GROUPS)
    for spec in groups["sweep"].policies:
        if not re.fullmatch(r"hold_pot:\d+(\.\d+)?", spec):
            raise InputError(f"the report's group 'sweep' takes policies such as hold_pot:7, not {spec!r}")
    if groups["sweep"].opponents != [OPPONENT]:
        raise InputError(f"the report's group 'sweep' takes the opponent {OPPONENT}, not {', '.join(groups['sweep'].opponents)}")
    for name in ("pairs", "seats", "many"):
        if len(groups[name].variants) > 1:
            raise InputError(f"the report's group {name!r} takes one variant, not {', '.join(groups[name].variants)}")
    if len(groups["pairs"].policies) < 2:
        raise InputError(f"the report's group 'pairs' needs two policies or more, not {groups['pairs'].policies[0]!r} alone")


def ahead() -> list[Callable]:
    """Return the call that solves the games and evaluates the rules of which the chapter speaks."""
    return [partial(_evaluate_and_solve, [rule.spec for rule in RULES], SOLVED, list(_assumed_games().values()))]


def _evaluate_and_solve(rules: list[str], variant: str, variants: list[str]) -> None:
    for rule in rules:
        regret(GAME, rule, variant)
    _solve(variants)


def _solve(variants: list[str]) -> list[Solution]:
    return [solution(RULESETS[GAME], variant) for variant in variants]


def _assumed_games() -> dict[str, str]:
    return {"as assumed": FEW_CARDS} | {name: f"{FEW_CARDS},{settings}" for name, settings in ASSUMPTIONS.items()}


def content(study: Study, results: pd.DataFrame, games: int, seed: int) -> Part:
    """Return the figures, tables and words of the chapter; see :mod:`analysis.chapters`."""
    turns = {variant: Turn(RULESETS[GAME], variant) for variant in RULESETS[GAME].presets}
    odds = {variant: turn.table() for variant, turn in turns.items()}
    open_turns = odds["standard"][odds["standard"].dice < 6]
    solved = solution(RULESETS[GAME], SOLVED)
    for_points = _for_points(turns, odds, seed)
    parts: tuple[Part, ...] = (
        for_points,
        _to_win(solved, open_turns, for_points[2]["threshold"]),
        _on_a_card(),
        _cards(solved),
        _assumed(solved, open_turns),
        _policies(study, results),
        _with_more(results[results.group == "many"]),
        ({}, {}, {"games": games, "seed": seed, "version": RULESETS[GAME].version}),
    )
    return join(parts)


def stop_page() -> dict[str, Any]:
    """Return the words of the adviser's page: the solved game, readable and packed for its script."""
    facts, table = compact(Adviser(RULESETS[GAME], SOLVED))
    text = json.dumps(facts, separators=(",", ":")).encode()
    packed = {"packed_facts": zlib.compress(text, 9), "packed_table": table}
    return {"title": "STOP or THROW?", "facts": facts} | {name: base64.b64encode(part).decode() for name, part in packed.items()}


PAGES = {"stop": stop_page}


# --- one turn, for points ---------------------------------------------------------------------------------------------------


def _for_points(turns: dict[str, Turn], odds: dict[str, pd.DataFrame], seed: int) -> Part:
    """When to STOP for the most points, and the same odds from simulated turns."""
    standard = odds["standard"]
    bare = _without_shield(standard)
    checked = sample_table(turns["standard"], standard, TURNS_PER_POSITION, seed)
    rules = _rules(odds)
    threshold = int(rules.loc["standard", "threshold"])
    drawn = {
        "stop_chart": figures.plot_stop_chart(bare, _sentence(threshold)),
        "gain": figures.plot_gain(bare),
        "z": figures.plot_z_scores(_quantiles(checked)),
    }
    words = {
        "threshold": threshold,
        "rules": rules.reset_index().to_dict("records"),
        "best_play": [turns["standard"].mean_of_best_play(shields) for shields in range(4)],
        "z": _z_summary(checked),
        "z_turns": TURNS_PER_POSITION,
    }
    return drawn, {"odds_standard": standard, "odds_checked": checked, "points_rule": rules.reset_index()}, words


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


def _quantiles(checked: pd.DataFrame) -> pd.DataFrame:
    z = np.sort(_all_z(checked))
    return pd.DataFrame({"expected": stats.norm.ppf((np.arange(len(z)) + 0.5) / len(z)), "z": z})


def _all_z(checked: pd.DataFrame) -> np.ndarray:
    z = np.concatenate([checked.z_out, checked.z_throw])
    return z[z != 0]


def _z_summary(checked: pd.DataFrame) -> dict[str, float]:
    z = _all_z(checked)
    return {"n": len(z), "largest": float(np.abs(z).max()), "spread": float(z.std()), "positions": len(checked)}


# --- the game between two, to win -------------------------------------------------------------------------------------------


def _to_win(solved: Solution, positions: pd.DataFrame, threshold: int) -> Part:
    """When to STOP to win: thresholds and maps over the scores, and what depends on the lead."""
    target = solved.frame.target
    bare, grid = positions[positions.shields == 0].sort_values("stop", kind="stable"), _pairs(range(0, target, 5))
    by_hand = pd.concat(_by_hand(solved, bare, grid, seat).assign(seat=seat) for seat in (0, 1))
    best = thresholds(by_hand, ["cards", "seat", "mine", "theirs"])
    best = best[best.mine <= target - NEAR]
    maps = decisions(solved, bare[bare.track.isin(MAPPED)], _pairs(range(target)))
    scores = [(mine, target // 2) for mine in range(target - NEAR + 1)]
    lead = _by_hand(solved, bare[bare.track.isin(AGAINST_LEAD)], scores, 0)
    with_shield = pd.concat(decisions(solved, positions[positions.shields > 0], grid, seat) for seat in (0, 1))
    drawn = {
        "thresholds": figures.plot_thresholds(best[best.seat == 0]),
        "stop_maps": figures.plot_stop_maps(maps),
        "gap": figures.plot_gap(lead),
    }
    level = by_hand[(by_hand.cards == next(iter(HANDS))) & (by_hand.mine == by_hand.theirs) & (by_hand.mine <= target - NEAR)]
    has_target = by_hand[(by_hand.mine + by_hand.points >= target) & ~by_hand.is_out]
    words = {
        "target": target,
        "near": NEAR,
        "leads": _leads(best, 2 * target // 5),
        "toss_up": float(level.gain[level.points == threshold].abs().max()),
        "shield": _exceptions(-with_shield.gain),
        "at_target": [_exceptions(rows.gain) for _, rows in has_target.groupby("seat")],
    }
    return drawn, {"thresholds": best, "stop_maps": maps, "gap": lead}, words


def _by_hand(solved: Solution, positions: pd.DataFrame, scores: list[tuple[int, int]], seat: int) -> pd.DataFrame:
    """The decisions with each of ``HANDS``, the same for both players."""
    return pd.concat(decisions(solved, positions, scores, seat, hand, hand).assign(cards=cards) for cards, hand in HANDS.items())


def _pairs(scores: range) -> list[tuple[int, int]]:
    return [(mine, theirs) for mine in scores for theirs in scores]


def _leads(best: pd.DataFrame, far: int) -> list[dict[str, Any]]:
    """The thresholds, from lowest to highest, where the scores are level and where they are far apart."""
    lead = best.mine - best.theirs
    where = np.select([lead == 0, lead <= -far, lead >= far], ["level", f"{far} or more behind", f"{far} or more ahead"], "")
    grouped = best.assign(where=where)[where != ""].groupby(["where", "cards"], sort=False).stop_from
    return grouped.agg(["min", "max"]).reset_index().to_dict("records")


def _exceptions(regret: pd.Series) -> dict[str, Any]:
    """In how many positions a choice is wrong, and what it costs at most."""
    return {"positions": len(regret), "wrong": int((regret > 1e-9).sum()), "largest": max(0.0, float(regret.max()))}


def _on_a_card() -> Part:
    """What rules that fit on a card cost against best play, and where they lose most."""
    found = [regret(GAME, rule.spec, SOLVED) for rule in RULES]
    rows = [
        {
            "rule": each.policy,
            "lines": len(lines(rule)),
            "win": each.win.mean(),
            "first": each.win[0],
            "second": each.win[1],
            "regret": (each.best - each.win).mean(),
            **{f"regret_{kind}": lost.mean() for kind, lost in each.by_kind.items()},
        }
        for rule, each in zip(RULES, found, strict=True)
    ]
    costs = pd.DataFrame(rows)
    worst = pd.DataFrame(
        [{"rule": each.policy, **asdict(mistake), "lost": mistake.lost} for each in found for mistake in each.worst]
    )
    card = [(rule.name, cost, lines(rule)) for rule, cost in zip(RULES, costs.regret, strict=True)]
    words = {"card_rules": rows, "worst": worst[worst.rule == RULES[-1].spec].head(5).to_dict("records")}
    return {"rule_card": figures.plot_rule_card(card, UNSAID)}, {"rules_on_a_card": costs, "worst_mistakes": worst}, words


def _cards(solved: Solution) -> Part:
    """What cards are worth, and whether it is better to start."""
    worth = card_worth(solved)
    words = {"full_hand": worth.iloc[-1].to_dict(), "no_hand": worth.iloc[0].to_dict(), "first_seat_win": solved.first_seat_win}
    return {"cards": figures.plot_card_worth(worth)}, {"card_worth": worth}, words


def _assumed(solved: Solution, positions: pd.DataFrame) -> Part:
    """Which answers survive what the rulebook leaves open."""
    variants = _assumed_games()
    games = dict(zip(variants, _solve(list(variants.values())), strict=True)) | {"as assumed, all cards": solved}
    target, few = solved.frame.target, positions[positions.shields <= games["as assumed"].frame.parade]
    decided = {name: decide(game, few, _pairs(range(0, target, 10))) for name, game in games.items()}
    moved = sensitivity(games, decided)
    settled = settled_tracks(decided, target // 2)
    settled = settled.assign(points=[sum(map(int, track)) for track in settled.track])
    words = {
        "moved": moved.to_dict("records"),
        "settled": {advice: rows.to_dict("list") for advice, rows in settled.groupby("advice", sort=False)},
        "settled_to": target // 2,
    }
    return {"sensitivity": figures.plot_sensitivity(moved)}, {"sensitivity": moved, "settled_tracks": settled}, words


# --- the policies of the study ----------------------------------------------------------------------------------------------


def _policies(study: Study, results: pd.DataFrame) -> Part:
    """What the policies win, by simulation."""
    group = dict(list(results.groupby("group", sort=False)))
    pairs = win_rates(group["pairs"])
    sweep = _sweep(win_rates(group["sweep"]))
    policies = [load_policy(RULESETS[GAME], spec).spec for g in study.groups if g.name == "pairs" for spec in g.policies]
    mirror = group["pairs"][group["pairs"].matchup.map(lambda matchup: len(set(matchup.split(" v "))) == 1)]
    ends, seats, length = turn_ends(mirror), _by_seats(seat_advantage(group["seats"])), game_length(mirror)
    drawn = {
        "sweep": figures.plot_hold_pot(sweep, OPPONENT),
        "matrix": figures.plot_win_rate_matrix(win_rate_matrix(pairs)),
        "turn_ends": figures.plot_turn_ends(ends),
        "length": figures.plot_length(_lengths(mirror, policies[:4]), figures.colours(list(map(_against_itself, policies)))),
        "seats": figures.plot_seat_advantage(seats),
    }
    tables = {
        "win_rates": win_rates(results),
        "turn_ends": ends,
        "game_length": game_length(group["pairs"]),
        "seat_advantage": seat_advantage(results),
    }
    words = {
        "ranking": _ranking(pairs),
        "sweep": _sweep_words(sweep),
        "seats": seats.to_dict("records"),
        "sudden": length[length.quantity == "sudden_death_share"].to_dict("records"),
        "length": length[length.quantity == "turns_per_seat"].to_dict("records"),
        "total_games": in_all(results),
        "truncated": in_all(results, "truncated"),
    }
    return drawn, tables, words


def _with_more(results: pd.DataFrame) -> Part:
    """What policies win alone among others with more than two players, and what of their order between two is left."""
    shares = fair_shares(results)
    shares = shares.assign(others=shares.matchup.str.split(" v ").str[-1])
    lines = shares.assign(panel="others play " + shares.others, line=shares.policy, x=shares.seats)
    drawn = figures.plot_estimates(lines, "players", "wins in fair shares", figures.colours(list(shares.policy.unique())), 1)
    fields = [
        {"others": others, "rows": [each.to_dict("records") for _, each in rows.groupby("policy", sort=False)]}
        for others, rows in shares.groupby("others", sort=False)
    ]
    by_field = shares.groupby(["others", "policy"], sort=False)
    kept = [{"policy": policy, "others": others, **_verdicts(rows)} for (others, policy), rows in by_field]
    orders = [
        {"others": others, "seats": seats, "policies": rows.sort_values("estimate", ascending=False).policy.to_list()}
        for (others, seats), rows in shares.groupby(["others", "seats"], sort=False)
        if seats in (shares.seats.min(), shares.seats.max())
    ]
    return {"many": drawn}, {"more_than_two": shares}, {"many": fields, "many_kept": kept, "many_orders": orders}


def _verdicts(rows: pd.DataFrame) -> dict[str, str]:
    """With how many players a policy wins more than its share, less, or neither for certain, each by its interval."""
    more, less = rows.low > 1, rows.high < 1
    chosen = {"more": more, "less": less, "unsettled": ~(more | less)}
    return {name: ", ".join(map(str, rows.seats[mask])) for name, mask in chosen.items()}


def _sweep(rates: pd.DataFrame) -> pd.DataFrame:
    rows = rates[rates.seat.isna() & rates.policy.str.startswith("hold_pot:")]
    return rows.assign(threshold=rows.policy.str.removeprefix("hold_pot:").astype(float))


def _sweep_words(sweep: pd.DataFrame) -> list[dict[str, Any]]:
    return sweep.loc[sweep.groupby("variant", sort=False).estimate.idxmax()].to_dict("records")


def _lengths(mirror: pd.DataFrame, policies: list[str]) -> pd.DataFrame:
    table = length_histogram(mirror)
    table = table.assign(label=[_against_itself(matchup.split(" v ")[0]) for matchup in table.matchup])
    return table[table.label.isin(map(_against_itself, policies))]


def _against_itself(policy: str) -> str:
    return f"{policy} against itself"


def _by_seats(advantage: pd.DataFrame) -> pd.DataFrame:
    return advantage.assign(seats=[matchup.count(" v ") + 1 for matchup in advantage.matchup])


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
