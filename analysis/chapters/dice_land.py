"""Dice Land: does the first roll decide, is it better to start, which dice to keep, map sizes, both presets, compulsory attacks.

Each part below returns its figures, its tables and the words and numbers of its text; :func:`content` joins them. Some games are
played here and not by the study, as their raw rows are counted (:mod:`analysis.tallies`): results do not say what a pip is worth.
"""

import itertools
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats

from analysis import figures
from analysis.boards import board, plot_board, positions
from analysis.chapters.parts import Part, at_once, best_of, find_groups, in_all, join, scaled, value_of
from analysis.estimates import LEVEL, game_length, length_histogram, of_first, win_rates
from analysis.intervals import logistic_curve, logistic_fit
from analysis.tallies import shares, tally
from sims.errors import InputError
from sims.policy import load_policy
from sims.rulesets import RULESETS
from sims.rulesets.dice_land.boards import position
from sims.rulesets.dice_land.odds import attack_table
from sims.rulesets.dice_land.search import SLOTS, win_share
from sims.simulate import set_table
from sims.study import Group, Study

TITLE = "Does the first roll decide Dice Land?"
GAME = "dice-land"
GROUPS = {"left": "against", "placements": "against", "sizes": "against", "duty": "against", "standoff": "self"}
PRESETS = ("standard", "published")
PLAYER = "greedy:3"  # plays both seats of the games that are counted
UNSKILLED = "uniform"  # against it, to measure skill in pips
COUNTED = 50_000  # games for each variant that is counted
BY = ["seat", "rotation", "payoff", "started", "placed_first", "lead_placed_pips", "lead_left_pips"]
COINS = "starter=random,first_placer=random"
LEADS = [1, 3, 6, 10, 99]  # edges of the classes of leads
ENOUGH = 50  # games for a point in the figure: fewer give an interval as high as the figure
BEHIND = 5  # pips, for a comeback
ENDGAMES = {  # on a round map of eight, red's turn; solved where attacks are compulsory and where they are not
    "a 1 beside a 1": "R1 B1 . . . . . .",
    "a 2 beside a 1": "R2 B1 . . . . . .",
    "a 6 beside a 6": "R6 B6 . . . . . .",
    "two 1s beside a 2": "R1 B2 . . . . . R1",
    "a 1 beside a 6, and a 2 out of reach": "R1 B6 . . R2 . . .",
}
SOLVED = "published"  # where both are: under standard nothing but an attack ends a game
READINGS = {  # under which the answers are compared: the first is the usual one
    "standard": "standard",
    "published": "published",
    "attacker becomes the roll": "standard,valid_loss=replace",
    "one die of a combined attack": "standard,combined=pick_one",
    "attackers touch each other": "standard,combined_mutual_adjacency=true",
    "two passes end the game": "standard,end_check=two_passes",
    "failing costs the difference": "standard,failed_loss=difference",
    "failing costs the die": "standard,failed_loss=all",
    "invader may move": "standard,conqueror_may_move=true",
    "compact map": "standard,map=edge",
    "round map": "standard,map=spiral",
}

ROW = ["n", "estimate", "stderr", "low", "high", "level", "method"]
EXACT = ("attack_odds", "endgames")  # tables; all others have a seed

Games = dict[str, tuple[pd.DataFrame, pd.DataFrame]]  # results and counts, by variant


def check(study: Study) -> None:
    """Raise InputError if the report could not be made of a study's results: better now than after playing them."""
    groups = find_groups(study, GAME, GROUPS)
    for name in GROUPS:
        if groups[name].seats != [2]:
            raise InputError(f"the report's group {name!r} takes seats [2], not {groups[name].seats}")
        for key in ("policies", "opponents"):
            if len(getattr(groups[name], key)) > 1 and (name, key) != ("placements", "policies"):
                raise InputError(f"the report's group {name!r} takes one of {key}, not {', '.join(getattr(groups[name], key))}")
    for spec in groups["placements"].policies:
        if not {"placement", "left"} <= set(load_policy(RULESETS[GAME], spec).parameters):
            raise InputError(f"the report's group 'placements' takes policies with placement and left, not {spec!r}")
    for name in ("duty", "standoff"):
        _check_free(groups[name])


def _check_free(group: Group) -> None:
    for variant in group.variants:
        if RULESETS[GAME].variant(variant).values["attack_mandatory"]:
            raise InputError(f"the report's group {group.name!r} takes variants with attack_mandatory=false, not {variant!r}")


def content(study: Study, results: pd.DataFrame, games: int, seed: int) -> Part:
    """Return the figures, tables and words of the chapter; see :mod:`analysis.chapters`."""
    coins = [f"{preset},{COINS}" for preset in PRESETS]
    n = scaled(COUNTED, games, study)
    counted = {variant: tally(GAME, [PLAYER, PLAYER], BY, n, seed, variant) for variant in [*READINGS.values(), *coins]}
    group = dict(list(results.groupby("group", sort=False)))
    parts: tuple[Part, ...] = (
        _boards(seed),
        _first_roll(counted),
        _skill(2 * n, seed),
        _start(counted),
        _kept_dice(group["left"], group["placements"]),
        _map_sizes(group["sizes"]),
        _presets(counted),
        _duty(group["duty"], group["standoff"]),
        _odds(),
        _readings(counted),
        ({}, {"win_rates": win_rates(results)}, _played(study, results, counted, n, seed)),
    )
    drawn, tables, words = join(parts)
    return drawn, {name: table if name in EXACT else table.assign(seed=seed) for name, table in tables.items()}, words


def _played(study: Study, results: pd.DataFrame, counted: Games, n: int, seed: int) -> dict[str, Any]:
    """What was played, by whom."""
    tallied = sum(int(each.games.iloc[0]) for each, _ in counted.values()) + 2 * n * len(PRESETS)
    return {
        "seed": seed,
        "version": RULESETS[GAME].version,
        "player": PLAYER,
        "counted": n,
        "total_games": in_all(results) + tallied,
        "size_opponent": next(group.opponents[0] for group in study.groups if group.name == "sizes"),
    }


# --- what the game looks like -----------------------------------------------------------------------------------------------


def _boards(seed: int) -> Part:
    """The first game of the run: the full map, the middle, the end."""
    played = list(positions(set_table(GAME, [PLAYER, PLAYER]), seed))
    turns = int(played[-1].turns.sum())
    middle = turns // 2
    shown = {
        "the map is full": next(state for state in played if state.started.any()),
        f"after {middle} turns": next(state for state in played if state.turns.sum() > middle),
        f"the end, after {turns} turns": played[-1],
    }
    figure, axes = plt.subplots(1, len(shown), figsize=(9, 3.2))
    for ax, (title, state) in zip(axes, shown.items(), strict=True):
        plot_board(board(state), ax)
        pips = [int(board(state).value[board(state).seat == seat].sum()) for seat in (0, 1)]
        ax.set_title(
            f"{title}\nred {state.score[0]} dice, {pips[0]} pips; blue {state.score[1]} dice, {pips[1]} pips", fontsize=9
        )
    return {"boards": figure}, {}, {}


# --- the first roll ---------------------------------------------------------------------------------------------------------


def _first_roll(counted: Games) -> Part:
    """Win share by the lead in pips on the full map, as the seat sees it that has more."""
    ahead = {preset: _ahead(counted[preset][1]) for preset in PRESETS}
    by_lead = pd.concat(shares(rows, ["lead"]).assign(variant=preset) for preset, rows in ahead.items())
    classes = {preset: rows.assign(lead=pd.cut(rows.lead, LEADS, right=False).cat.codes) for preset, rows in ahead.items()}
    classes = pd.concat(shares(rows, ["lead"]).assign(variant=preset, of=rows.n.sum()) for preset, rows in classes.items())
    curves = pd.concat(_curve(rows).assign(variant=preset) for preset, rows in ahead.items())
    words = {
        "ahead": [_row(rows, variant=preset) for preset, rows in ahead.items()],
        "threw_more": [_row(_threw_more(counted[preset][1]), variant=preset) for preset in PRESETS],
        "per_pip": [_per_pip(rows) for rows in ahead.values()],
        "classes": [rows.to_dict("records") for _, rows in classes.groupby("lead")],
        "class_names": [f"{low} to {high - 1}" for low, high in itertools.pairwise(LEADS[:-1])] + [f"{LEADS[-2]} or more"],
        "enough": ENOUGH,
        "level_games": 1 - ahead["standard"].n.sum() / counted["standard"][0].games.iloc[0],
    }
    return {"lead": figures.plot_lead(by_lead[by_lead.n >= ENOUGH], curves)}, {"by_lead": by_lead, "lead_curves": curves}, words


def _ahead(counts: pd.DataFrame) -> pd.DataFrame:
    """The rows of the seats with more pips on the full map: at most one a game."""
    return counts[counts.lead_placed_pips > 0].rename(columns={"lead_placed_pips": "lead"})


def _threw_more(counts: pd.DataFrame) -> pd.DataFrame:
    """The rows of the seats whose dice showed more pips when they were thrown, kept ones included."""
    return counts[counts.lead_placed_pips + counts.lead_left_pips > 0]


def _row(counts: pd.DataFrame, **keys: Any) -> dict[str, Any]:
    """The mean payoff of these rows as a row for the text."""
    return {**keys, **shares(counts).iloc[0].to_dict()}


def _curve(ahead: pd.DataFrame) -> pd.DataFrame:
    leads = np.arange(0, 21)
    slope, covariance = logistic_fit(ahead[["lead"]], ahead.payoff, ahead.n)
    share, low, high = logistic_curve(leads[:, None], slope, covariance, LEVEL)
    return pd.DataFrame({"lead": leads, "estimate": share, "low": low, "high": high})


def _per_pip(ahead: pd.DataFrame) -> dict[str, Any]:
    """The factor by which a pip changes the odds of winning."""
    slope, covariance = logistic_fit(ahead[["lead"]], ahead.payoff, ahead.n)
    return _interval(slope[0], covariance[0, 0] ** 0.5, np.exp)


def _interval(estimate: float, stderr: float, of: Any = float) -> dict[str, Any]:
    half = stats.norm.ppf((1 + LEVEL) / 2) * stderr
    return {
        "estimate": of(estimate),
        "low": of(estimate - half),
        "high": of(estimate + half),
        "level": LEVEL,
        "method": "logistic",
    }


def _skill(games: int, seed: int) -> Part:
    """How many pips a policy is worth: the lead of the other seat at which both win as often."""
    rows = []
    for preset in PRESETS:
        _, counts = tally(GAME, [PLAYER, UNSKILLED], BY, games, seed, preset)
        skilled = counts[(counts.seat == 0) & (counts.rotation == 0)]  # one row of each deal
        x = np.column_stack([np.ones(len(skilled)), skilled.lead_placed_pips])
        (skill, pip), covariance = logistic_fit(x, skilled.payoff, skilled.n)
        towards = np.array([1 / pip, -skill / pip**2])
        pips = _interval(skill / pip, (towards @ covariance @ towards) ** 0.5)
        rows.append({"variant": preset, "n": int(skilled.n.sum()), **pips})
    return {}, {"skill_in_pips": pd.DataFrame(rows)}, {"skill": rows, "unskilled": UNSKILLED}


def _start(counted: Games) -> Part:
    """What it is worth to start and to place first: where the rules decide who does; and where a coin does, for its own sake."""
    variants = {preset: {"by the rules": preset, "by a coin": f"{preset},{COINS}"} for preset in PRESETS}
    rows = [
        {"advantage": column, "decided": decided, **_row(counts[counts[column] == 1], variant=preset)}
        for column in ("started", "placed_first")
        for preset, ways in variants.items()
        for decided, counts in ((decided, counted[variant][1]) for decided, variant in ways.items())
    ]
    return {}, {"start": pd.DataFrame(rows)}, {"start": rows}


# --- dice kept, placement, maps ---------------------------------------------------------------------------------------------


def _kept_dice(left: pd.DataFrame, placements: pd.DataFrame) -> Part:
    """Low or high left-over dice, head to head; and each with each placement against one opponent."""
    duel, rates = _of_first(left), at_once(_of_first, placements)
    rates = rates.assign(**{name: [value_of(GAME, spec, name) for spec in rates.policy] for name in ("placement", "left")})
    rates = rates.assign(x=rates.placement + " keeping " + rates.left)
    opponent = placements.matchup.iloc[0].split(" v ")[1]
    words = {"duel": duel.to_dict("records"), "best_placement": best_of(rates, "variant"), "placement_opponent": opponent}
    words["placements"] = len(rates)
    return {"placements": figures.plot_placements(rates, opponent)}, {"placements": rates}, words


def _of_first(results: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    return of_first(win_rates(results, level))


def _map_sizes(sizes: pd.DataFrame) -> Part:
    """How much better a policy with a plan does, the more hexes there are."""
    rates = _of_first(sizes)
    rates = rates.assign(hexes=[RULESETS[GAME].variant(variant).values["hexes"] for variant in rates.variant])
    rates = rates.assign(variant=rates.variant.str.split(",").str[0])
    title = f"Win rate of {sizes.matchup.iloc[0].replace(' v ', ' against ')} (95 % intervals)"
    words = {"sizes": [rows.to_dict("records") for _, rows in rates.groupby("hexes")]}
    return {"sizes": figures.plot_map_sizes(rates, title)}, {"map_sizes": rates}, words


# --- both presets, and compulsory attacks -----------------------------------------------------------------------------------


def _presets(counted: Games) -> Part:
    """Length, draws, unfinished games and comebacks."""
    lengths = pd.concat(length_histogram(counted[preset][0]) for preset in PRESETS).rename(columns={"variant": "label"})
    measures = {preset: _measures(*counted[preset]) for preset in PRESETS}
    table = [{"variant": preset, "quantity": name, **row} for preset, rows in measures.items() for name, row in rows.items()]
    drawn = {"length": figures.plot_length(lengths, figures.colours(PRESETS), longest=45)}
    return drawn, {"presets": pd.DataFrame(table)}, {"presets": measures, "behind": BEHIND}


def _measures(results: pd.DataFrame, counts: pd.DataFrame) -> dict[str, Any]:
    """How long games are, how they end, and how often who is behind wins; each with its interval."""
    length = game_length(results).set_index("quantity")
    red = counts[counts.seat == 0]
    return {
        "turns": _doubled(length.loc["turns_per_seat"]),
        "unfinished": length.loc["truncated_share", ROW].to_dict(),
        "draws": _row(red.assign(payoff=(red.payoff == 0.5).astype(float))),
        "comebacks": _row(counts[counts.lead_placed_pips < 0]),
        "far_behind": _row(counts[counts.lead_placed_pips <= -BEHIND]),
    }


def _doubled(row: pd.Series) -> dict[str, Any]:
    """From turns of a seat to turns of the game."""
    return row[ROW].to_dict() | {name: 2 * row[name] for name in ("estimate", "stderr", "low", "high")}


def _duty(duty: pd.DataFrame, standoff: pd.DataFrame) -> Part:
    """Where attacks are optional: who declines those that lose pips against who never does; and two who decline."""
    rates = _of_first(duty)
    unfinished = game_length(standoff)
    unfinished = unfinished[unfinished.quantity == "truncated_share"].iloc[0].to_dict()
    words: dict[str, Any] = {
        "duty": rates.to_dict("records"),
        "dutiful": duty.matchup.iloc[0].split(" v ")[1],
        "standoff": unfinished,
    }
    words["standoff_limit"] = RULESETS[GAME].variant(standoff.variant.iloc[0]).values["ply_limit"]
    endgames = _endgames()
    words["endgames"] = endgames.to_dict("records")
    return {}, {"duty": rates, "endgames": endgames}, words


def _endgames() -> pd.DataFrame:
    """The win share of who must, or may, attack."""
    rules = {"must": SOLVED, "may": f"{SOLVED},attack_mandatory=false"}
    rows = [
        {"endgame": name, "dice": dice}
        | {rule: win_share(position(RULESETS[GAME], dice, variant=variant), SLOTS) for rule, variant in rules.items()}
        for name, dice in ENDGAMES.items()
    ]
    return pd.DataFrame(rows)


# --- exact ------------------------------------------------------------------------------------------------------------------


def _odds() -> Part:
    """Chance that an attack removes its target, and the pips that it gains on average: exact."""
    odds = pd.concat(attack_table(RULESETS[GAME], preset).assign(variant=preset) for preset in PRESETS)
    single = odds[(odds.partner == 0) & (odds.variant == PRESETS[0])]
    combined = odds[odds.partner > 0]
    panels = pd.concat([single.assign(panel="one attacker"), combined.assign(panel="two, " + combined.variant)])
    net = single.pivot(index="attacker", columns="defender", values="net")
    words = {"net": [(attacker, list(row)) for attacker, row in zip(net.index, net.to_numpy(), strict=True)]}
    return {"odds": figures.plot_attack_odds(panels)}, {"attack_odds": odds}, words


# --- what is assumed --------------------------------------------------------------------------------------------------------


def _readings(counted: Games) -> Part:
    """The answers under other readings of the rules, one field at a time."""
    answers = pd.DataFrame([row for reading, variant in READINGS.items() for row in _answers(reading, *counted[variant])])
    lines = [rows.to_dict("records") for _, rows in answers.groupby("reading", sort=False)]
    return {"readings": figures.plot_readings(answers)}, {"readings": answers}, {"readings": lines}


def _answers(reading: str, results: pd.DataFrame, counts: pd.DataFrame) -> list[dict[str, Any]]:
    measures = _measures(results, counts)
    quantities = {
        "won with more pips": _row(_ahead(counts)),
        "won by who starts": _row(counts[counts.started == 1]),
        "drawn": measures["draws"],
        "turns in a game": measures["turns"],
    }
    return [{"quantity": name, "reading": reading, **row} for name, row in quantities.items()]
