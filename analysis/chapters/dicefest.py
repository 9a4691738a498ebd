"""Dicefest: starting, how games end, the last lock, tokens, first dice, collecting, placing, blocking, length, what is assumed.

Each part below returns its figures, its tables and the words and numbers of its text; :func:`content` joins them. Some games are
played here and not by the study, as their raw rows are counted (:mod:`analysis.tallies`): by first dice and by tokens left.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats

from analysis import figures
from analysis.boards import dicefest_board, plot_dicefest_board, positions
from analysis.chapters.parts import (
    USUAL,
    Part,
    at_once,
    best_of,
    check_number,
    check_parameters,
    check_same_variants,
    check_seats_in_order,
    colours,
    find_groups,
    in_all,
    join,
    labelled,
    scaled,
    sweep,
    value_of,
    verdicts,
)
from analysis.estimates import (
    LEVEL,
    fair_shares,
    length_histogram,
    of_first,
    seat_shares,
    share_of_games,
    win_rates,
)
from analysis.intervals import logistic_fit, quantile_interval
from analysis.tallies import shares, tally
from sims.errors import InputError
from sims.results import MAX_LENGTH
from sims.rulesets import RULESETS
from sims.rulesets.dicefest.geometry import DISTANCE, SPENDING, STANDING, START, VALUES
from sims.simulate import set_table
from sims.study import Study

TITLE = "Is it better to start in Dicefest?"
GAME = "dicefest"
PLAYER = "thrifty:0.1"  # in both seats where nothing else is said
GROUPS = {
    "mirrors": "self",
    "slow_mirrors": "self",
    "lock": "against",
    "lock_others": "against",
    "thrift": "against",
    "placement": "against",
    "placement_keen": "against",
    "placement_ahead": "against",
    "block": "against",
    "block_others": "against",
    "skill": "against",
    "readings": "self",
    "readings_best": "against",
}
NUMBERS = {  # how many of what a group must have
    "lock": {"opponents": 1, "variants": 1},
    "thrift": {"opponents": 1, "variants": 1},
    "placement": {"opponents": 1, "variants": 1},
    "placement_keen": {"opponents": 1, "variants": 1},
    "placement_ahead": {"opponents": 1, "variants": 1},
    "block": {"opponents": 1, "variants": 1},
    "skill": {"policies": 1, "opponents": 1, "variants": 3},
    "readings": {"policies": 1, "seats": 1},
    "readings_best": {"policies": 3, "opponents": 1, "seats": 1},
}
PARAMETERS = {  # that all policies of a group must have
    "lock": "lock",
    "lock_others": "lock",
    "thrift": "tokens",
    "placement": "placement",
    "placement_keen": "placement",
    "placement_ahead": "placement",
    "block": "block",
}
PLACEMENTS = ("placement", "placement_keen", "placement_ahead")
BY_PLACE = ("mirrors", "slow_mirrors", "readings")
ASSUMED = ("initial_yaw", "sides", "tie", "deadlock", "repetition")  # fields of which the rulebook says nothing
ENDS = {"total_ends": "total victory", "mini_ends": "mini victory", "deadlocks": "deadlock", "truncated": "unfinished"}
COUNTED = {PLAYER: 50_000, "lookahead:2": 5_000}  # games between two of a policy, of which the raw rows are counted
BY = ["seat", "payoff", "score", "triple", "start_cost", "left_at_two", "left_at_three"]
LONGEST = 100  # turns in the figure of lengths; policies whose median is higher are left out of it
ENOUGH = 100  # games for a point in a figure: fewer give an interval as high as the figure
HELD = {"0 to 2": (0, 2), "3 to 5": (3, 5), "6": (6, 6), "7 to 9": (7, 9), "10 or more": (10, 36)}  # tokens, for the text
LEFT = {"1": (1, 1), "2 or 3": (2, 3), "4 or more": (4, 36)}

Counts = dict[str, pd.DataFrame]  # rows of seat 0 counted, by policy


def check(study: Study) -> None:
    """Raise InputError if the report could not be made of a study's results: better now than after playing them."""
    groups = find_groups(study, GAME, GROUPS)
    for name, numbers in NUMBERS.items():
        for what, n in numbers.items():
            check_number(groups[name], what, n)
    check_parameters(groups, GAME, PARAMETERS)
    check_seats_in_order(groups[name] for name in BY_PLACE)
    if groups["mirrors"].seats != groups["slow_mirrors"].seats:
        raise InputError(f"the report's group 'slow_mirrors' takes seats {groups['mirrors'].seats}, as 'mirrors' does")
    check_same_variants(groups["readings"], groups["readings_best"])


def content(study: Study, results: pd.DataFrame, games: int, seed: int) -> Part:
    """Return the figures, tables and words of the chapter; see :mod:`analysis.chapters`."""
    group = dict(list(results.groupby("group", sort=False)))
    mirrors = pd.concat([group["mirrors"], group["slow_mirrors"]])
    counted = {policy: scaled(n, games, study) for policy, n in COUNTED.items()}
    counts = {policy: _counted(policy, n, seed) for policy, n in counted.items()}
    parts: tuple[Part, ...] = (
        _boards(seed),
        _start(mirrors),
        _ends(mirrors),
        _lock(group["lock"], group["lock_others"], counts),
        _held(counts),
        _thrift(group["thrift"]),
        _first_dice(counts, group["skill"]),
        _placement(pd.concat([group[name] for name in PLACEMENTS])),
        _block(group["block"], group["block_others"]),
        _length(mirrors),
        _readings(group["readings"], group["readings_best"]),
        ({}, {}, _played(results, counted, seed)),
    )
    drawn, tables, words = join(parts)
    return drawn, {name: table.assign(seed=seed) if name != "starts" else table for name, table in tables.items()}, words


def _played(results: pd.DataFrame, counted: dict[str, int], seed: int) -> dict[str, Any]:
    return {
        "total_games": in_all(results) + sum(counted.values()),
        "seed": seed,
        "version": RULESETS[GAME].version,
        "player": PLAYER,
        "counted": counted,
    }


# --- what the parts share -------------------------------------------------------------------------------------------------


def _counted(policy: str, games: int, seed: int) -> pd.DataFrame:
    """One row a game, that of seat 0: rows of different games are independent."""
    _, counts = tally(GAME, [policy, policy], BY, games, seed)
    return counts[counts.seat == 0]


def _of_first(results: pd.DataFrame) -> pd.DataFrame:
    return labelled(of_first(win_rates(results)))


def _against(results: pd.DataFrame) -> list[dict[str, Any]]:
    """For each opponent the win rates of the policies that meet it."""
    return [
        {"others": others, "rows": rows.to_dict("records")} for others, rows in _of_first(results).groupby("others", sort=False)
    ]


def _in_classes(counts: pd.DataFrame, column: str, classes: dict[str, tuple[int, int]]) -> list[dict[str, Any]]:
    """Win shares by classes of a number."""
    chosen = {name: counts[counts[column].between(*bounds)] for name, bounds in classes.items()}
    return [{"class": name, **shares(rows).iloc[0].to_dict()} for name, rows in chosen.items() if not rows.empty]


# --- what the game looks like -----------------------------------------------------------------------------------------------


def _boards(seed: int) -> Part:
    """The first game of the run: before the first turn, the middle, the end."""
    played = [state for state in positions(set_table(GAME, [PLAYER, PLAYER]), seed) if state.started.any()]
    turns = int(played[-1].turns.sum())
    shown = {
        "before the first turn": played[0],
        f"after {turns // 2} turns": next(state for state in played if state.turns.sum() > turns // 2),
        f"the end, after {turns} turns": played[-1],
    }
    figure, axes = plt.subplots(1, len(shown), figsize=(10, 4.0))
    for ax, (title, state) in zip(axes, shown.items(), strict=True):
        plot_dicefest_board(dicefest_board(state), ax)
        ax.set_title(f"{title}\nred {state.reserve[0]} tokens, blue {state.reserve[1]}", fontsize=9)
    return {"boards": figure}, {}, {}


# --- starting, ends, length -------------------------------------------------------------------------------------------------


def _start(mirrors: pd.DataFrame) -> Part:
    """What the first player wins among players who play alike."""
    places = labelled(seat_shares(mirrors))
    first = places[places.seat == 0]
    lines = first.assign(panel="win share of who begins", line=first["first"], x=first.seats)
    drawn = figures.plot_estimates(lines, "players", "wins in fair shares", colours(lines.line), 1)
    words = {
        "places": [
            {"policy": policy, "seats": seats, "rows": rows.to_dict("records")}
            for (policy, seats), rows in places.groupby(["first", "seats"], sort=False)
        ],
        "first": {policy: rows.to_dict("records") for policy, rows in first.groupby("first", sort=False)},
    }
    return {"start": drawn}, {"places": places}, words


def _ends(mirrors: pd.DataFrame) -> Part:
    """Total victory, mini victory, deadlock, unfinished."""
    ends = pd.concat(labelled(share_of_games(mirrors, end)).assign(end=end) for end in ENDS)
    rows = [
        {"policy": policy, "seats": seats, "rows": each.to_dict("records")}
        for (policy, seats), each in ends.groupby(["first", "seats"], sort=False)
    ]
    return {}, {"ends": ends}, {"ends": rows, "end_names": list(ENDS.values())}


def _length(mirrors: pd.DataFrame) -> Part:
    """How many turns a game takes."""
    medians = labelled(_median_turns(mirrors))
    lengths = length_histogram(mirrors)
    lengths = lengths[lengths.matchup.str.count(" v ") == 1]
    lengths = lengths.assign(label=lengths.matchup.str.split(" v ").str[0])
    is_short = (medians.seats == 2) & (medians.estimate <= LONGEST)
    shown = lengths[lengths.label.isin(medians["first"][is_short])]
    words = {
        "medians": [{"policy": policy, "rows": each.to_dict("records")} for policy, each in medians.groupby("first", sort=False)],
        "longest": MAX_LENGTH - 1,
    }
    return (
        {"length": figures.plot_length(shown, colours(lengths.label), LONGEST)},
        {"length": lengths, "medians": medians},
        words,
    )


def _median_turns(results: pd.DataFrame) -> pd.DataFrame:
    """The median number of turns of all seats together.

    A mean would say how many games were stopped after thousands of turns, rather than how long a game is.
    """
    groups = length_histogram(results).groupby(["matchup", "variant", "games"], sort=False)
    rows = [(*key, *quantile_interval(each.value, each.total, 0.5, key[-1], LEVEL)) for key, each in groups]
    columns = ["matchup", "variant", "n", "estimate", "low", "high"]
    return pd.DataFrame(rows, columns=columns).assign(quantity="median_turns", level=LEVEL, method="order statistics")


# --- tokens -----------------------------------------------------------------------------------------------------------------


def _lock(lock: pd.DataFrame, others: pd.DataFrame, counts: Counts) -> Part:
    """What it does to lock the last die with up to so many tokens in hand."""
    rows = sweep(lock, "lock")
    drawn = figures.plot_estimates(
        rows, "lock the last die with up to so many tokens left", "wins in fair shares", colours(rows.line), 1
    )
    stuck = {policy: each[(each.score == 3) & (each.left_at_three > 0)] for policy, each in counts.items()}
    words = {
        "lock": verdicts(rows),
        "lock_one": rows[rows.x == rows.x.min()].to_dict("records"),
        "lock_others": _against(others),
        "stuck": [
            {"policy": policy, "of": int(counts[policy].n.sum()), "rows": _in_classes(each, "left_at_three", LEFT)}
            for policy, each in stuck.items()
        ],
    }
    return {"lock": drawn}, {"lock": rows, "lock_others": _of_first(others)}, words


def _held(counts: Counts) -> Part:
    """Win share by the tokens held when the second die was locked."""
    two = {policy: rows[rows.score >= 2] for policy, rows in counts.items()}
    table = pd.concat([shares(rows, ["left_at_two"]).assign(policy=policy) for policy, rows in two.items()], ignore_index=True)
    lines = table[table.n >= ENOUGH].assign(
        panel="two dice locked", line=lambda rows: rows.policy, x=lambda rows: rows.left_at_two
    )
    drawn = figures.plot_estimates(lines, "tokens held when the second die was locked", "win share", colours(lines.line), 0.5)
    words = {
        "held": [{"policy": policy, "rows": _in_classes(rows, "left_at_two", HELD)} for policy, rows in two.items()],
        "held_best": lines.loc[lines.groupby("policy", sort=False).estimate.idxmax()].to_dict("records"),
        "held_mean": {policy: float(np.average(rows.left_at_two, weights=rows.n)) for policy, rows in two.items()},
        "enough": ENOUGH,
    }
    return {"held": drawn}, {"held": table}, words


def _thrift(results: pd.DataFrame) -> Part:
    """How many actions a token should count for `thrifty`."""
    rows = sweep(results, "tokens")
    drawn = figures.plot_estimates(rows, "actions that a token gained counts", "wins in fair shares", colours(rows.line), 1)
    words = {"thrift": [each.to_dict("records") for _, each in rows.groupby("x")], "thrift_best": best_of(rows, "seats")}
    return {"thrift": drawn}, {"thrift": rows}, words


# --- first dice -------------------------------------------------------------------------------------------------------------


def _first_dice(counts: Counts, skill: pd.DataFrame) -> Part:
    """What the values drawn, how dice face, and the choice of how they face are worth; the price of each start is exact."""
    rows = {policy: _with_prices(each) for policy, each in counts.items()}
    triples = pd.concat(shares(each, ["triple"]).assign(quantity=policy) for policy, each in rows.items())
    triples = triples.assign(reading=triples.triple.astype(str))
    prices = pd.concat(_price_odds(each).assign(policy=policy) for policy, each in rows.items())
    starts = _starts()
    chosen = _of_first(skill)
    by_reading = {row["reading"]: row for row in chosen.to_dict("records")}
    words = {
        "starts": starts.to_dict("records"),
        "triples": [each.to_dict("records") for _, each in triples.groupby("quantity", sort=False)],
        "prices": [{"policy": policy, "rows": each.to_dict("records")} for policy, each in prices.groupby("policy", sort=False)],
        "skill": by_reading,
        "skill_policy": chosen["first"].iloc[0],
        "usual": USUAL,
    }
    drawn = {"triples": figures.plot_readings(triples.rename(columns={"n": "games"}), 0.5, "win share")}
    return drawn, {"triples": triples, "price_odds": prices, "starts": starts, "skill": chosen}, words


def _starts() -> pd.DataFrame:
    """How many actions and tokens the shortest way of a die takes from its start, for its best and its worst facing: exact."""
    rows = []
    for value in VALUES:
        start, facing = START[0, value], STANDING[0, value]
        actions, tokens = DISTANCE[0, start, facing], SPENDING[0, start, facing]
        rows.append({"value": value, "actions": int(actions.max()), "fewest": int(tokens.min()), "most": int(tokens.max())})
    return pd.DataFrame(rows)


def _with_prices(counts: pd.DataFrame) -> pd.DataFrame:
    """Counts with ``by_value``, the least that the dice drawn can cost, and ``by_facing``, what they cost more as they face."""
    least = _starts().set_index("value").fewest
    by_value = counts.triple.astype(str).map(lambda triple: sum(least[int(value)] for value in triple))
    return counts.assign(by_value=by_value, by_facing=counts.start_cost - by_value)


def _price_odds(counts: pd.DataFrame) -> pd.DataFrame:
    """The factor by which a token that the first dice cost more changes the odds of winning, by what makes it cost more."""
    x = np.column_stack([np.ones(len(counts)), counts.by_value, counts.by_facing])
    slopes, covariance = logistic_fit(x, counts.payoff, counts.n)
    stderr = np.sqrt(np.diag(covariance))
    half = stats.norm.ppf((1 + LEVEL) / 2) * stderr
    numbers = {"estimate": np.exp(slopes), "low": np.exp(slopes - half), "high": np.exp(slopes + half)}
    table = pd.DataFrame({"price": ["constant", "by_value", "by_facing"], "n": counts.n.sum(), **numbers, "method": "logistic"})
    return table[table.price != "constant"].assign(level=LEVEL)


# --- placing and blocking -----------------------------------------------------------------------------------------------------


def _placement(results: pd.DataFrame) -> Part:
    """What a rule of placing wins among players who place at random."""
    rows = labelled(at_once(fair_shares, results))
    rows = rows.assign(
        reading=[value_of(GAME, spec, "placement") for spec in rows.policy], quantity=rows.others + ", " + rows.line
    )
    words = {
        "placements": [
            {"placement": placement, "rows": each.to_dict("records"), **verdicts(each)}
            for placement, each in rows.groupby("reading", sort=False)
        ],
        "placement_tables": list(dict.fromkeys(rows.quantity)),
    }
    return {"placement": figures.plot_readings(rows, 1, "wins in fair shares")}, {"placement": rows}, words


def _block(results: pd.DataFrame, others: pd.DataFrame) -> Part:
    """What it wins to stand on goals of others, by how much that counts, and against whom."""
    rows = sweep(results, "block")
    drawn = figures.plot_estimates(
        rows, "actions that a die on a goal of others counts", "wins in fair shares", colours(rows.line), 1
    )
    words = {"block": verdicts(rows), "block_rows": rows.to_dict("records"), "block_others": _against(others)}
    return {"block": drawn}, {"block": rows, "block_others": _of_first(others)}, words


# --- what is assumed ------------------------------------------------------------------------------------------------------


def _readings(own: pd.DataFrame, against: pd.DataFrame) -> Part:
    """The answers again under other readings of the rules, one field at a time."""
    places = seat_shares(own)
    estimates = {
        "first player": places[places.seat == 0],
        "total victory": share_of_games(own, "total_ends"),
        "unfinished": share_of_games(own, "truncated"),
        "turns": _median_turns(own),
    }
    wins = dict(list(at_once(fair_shares, against).groupby("policy", sort=False)))
    estimates |= wins
    table = pd.concat(labelled(rows).assign(answer=answer) for answer, rows in estimates.items())
    by_reading = [
        {"reading": reading, "is_assumed": reading.split("=")[0] in ASSUMED, "rows": rows.to_dict("records")}
        for reading, rows in table.groupby("reading", sort=False)
    ]
    words = {
        "readings": by_reading,
        "answers": list(estimates),
        "verdicts": {policy: verdicts(rows) for policy, rows in wins.items()},
    }
    return {}, {"readings": table}, words
