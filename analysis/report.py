"""The report: studies -> estimates -> figures and tables -> one self-contained HTML file, the answer first.

The page is the same byte for byte for the same seed, games and sources: no dates, no host names, fixed SVG identifiers.
"""

import base64
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
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
from sims.files import make_folder, whole_file
from sims.policy import load_policy
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever.odds import Turn, points_rule, sample_table
from sims.study import Study, load_study, run_study

GAME = "dice-fever"
GROUPS = {"pairs": "pairs", "sweep": "against", "seats": "self"}
OPPONENT = "hold_dice:3"  # of the sweep
TURNS_PER_POSITION = 20_000  # simulated turns behind each z-score


def write_report(folder: Path, games: int | None = None, seed: int | None = None, n_jobs: int = -1) -> Path:
    """Play what is missing, draw everything, and write ``build/report.html`` and its tables as CSV.

    Parameters
    ----------
    folder : Path
        The project's ``reports`` folder: studies/, templates/; build/ is made.
    games, seed : int, optional
        Instead of the study's own.

    Returns
    -------
    Path
        The page.
    """
    if not (folder / "studies").is_dir():
        raise InputError(f"{str(folder)!r} has no folder studies; name the project's reports folder with --reports")
    study = load_study(folder / "studies" / "dice_fever.toml")
    _check_study(study)
    template = _template(folder / "templates")
    build = folder / "build"
    for name in ("results", "tables", "figures"):
        make_folder(build / name, "the report")
    results = run_study(study, build / "results", games, seed, n_jobs)
    with plt.rc_context(figures.STYLE):
        content = _chapter(study, results, games or study.games, study.seed if seed is None else seed)
        images = {name: _svg(figure) for name, figure in content["figures"].items()}
        chart = _pdf(content["figures"]["stop_chart"])
        plt.close("all")
    _write_tables(content["tables"], build / "tables")
    for name, image in images.items():
        _write(build / "figures" / f"{name}.svg", image.encode())
    _write(build / "figures" / "stop_chart.pdf", chart)
    _write(build / "report.html", _render(template, content, images).encode())
    return build / "report.html"


def _check_study(study: Study) -> None:
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


# --- content --------------------------------------------------------------------------------------------------------------


def _chapter(study: Study, results: pd.DataFrame, games: int, seed: int) -> dict[str, Any]:
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
    rules = _rules(odds)
    drawn: dict[str, Figure] = {
        "stop_chart": figures.plot_stop_chart(bare, _sentence(rules.loc["standard", "threshold"])),
        "gain": _figure(figures.plot_gain, bare),
        "sweep": _figure(figures.plot_sweep, sweep, OPPONENT),
        "matrix": _figure(figures.plot_win_rate_matrix, win_rate_matrix(pairs)),
        "turn_ends": _figure(figures.plot_turn_ends, ends),
        "length": _figure(figures.plot_length, _lengths(mirror, policies[:4]), figures.colours(policies)),
        "seats": _figure(figures.plot_seat_advantage, _by_seats(seat_advantage(group["seats"]))),
        "z": _figure(figures.plot_z_scores, _quantiles(checked)),
    }
    length, mirror_length = game_length(group["pairs"]), game_length(mirror)
    tables = {
        "odds_standard": standard,
        "odds_checked": checked,
        "points_rule": rules.reset_index(),
        "win_rates": rates,
        "turn_ends": ends,
        "game_length": length,
        "seat_advantage": seat_advantage(results),
    }
    return {
        "figures": drawn,
        "tables": tables,
        "threshold": int(rules.loc["standard", "threshold"]),
        "rules": rules.reset_index().to_dict("records"),
        "best_play": [turns["standard"].mean_of_best_play(shields) for shields in range(4)],
        "z": _z_summary(checked),
        "z_turns": TURNS_PER_POSITION,
        "ranking": _ranking(pairs),
        "sweep": _sweep_words(sweep),
        "seats": _by_seats(seat_advantage(group["seats"])).to_dict("records"),
        "sudden": mirror_length[mirror_length.quantity == "sudden_death_share"].to_dict("records"),
        "length": mirror_length[mirror_length.quantity == "turns_per_seat"].to_dict("records"),
        "games": games,
        "total_games": int(results.groupby(["group", "matchup", "variant"]).games.first().sum()),
        "truncated": int(results.groupby(["group", "matchup", "variant"]).truncated.first().sum()),
        "seed": seed,
        "version": ruleset.version,
    }


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


# --- files ----------------------------------------------------------------------------------------------------------------


def _figure(plot: Callable, *args: Any) -> Figure:
    return plot(*args).figure


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _pdf(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return buffer.getvalue()


def _template(folder: Path) -> jinja2.Template:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined)
    try:
        return environment.get_template("report.html.j2")
    except (OSError, UnicodeDecodeError, jinja2.TemplateError) as error:
        path = folder / "report.html.j2"
        raise InputError(f"cannot read the template {str(path)!r}: {type(error).__name__}: {error}") from error


def _render(template: jinja2.Template, content: dict[str, Any], images: dict[str, str]) -> str:
    urls = {name: "data:image/svg+xml;base64," + base64.b64encode(image.encode()).decode() for name, image in images.items()}
    return template.render({**content, "images": urls})


def _write_tables(tables: dict[str, pd.DataFrame], folder: Path) -> None:
    for name, table in tables.items():
        _write(folder / f"{name}.csv", table.to_csv(index=False, lineterminator="\n", float_format="%.10g").encode())


def _write(path: Path, data: bytes) -> None:
    with whole_file(path) as partial:
        partial.write_bytes(data)
