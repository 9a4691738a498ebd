"""Dice Forge: when to stop forging, what to buy, where points come from, seats, ousting, leads, sets, rounds, what is assumed.

Each part below returns its figures, its tables and the words and numbers of its text; :func:`content` joins them. Some games are
played here and not by the study, as their last positions are looked at: results do not say who has which cards and faces.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analysis import figures
from analysis.chapters.parts import (
    USUAL,
    Part,
    at_once,
    best_of,
    check_number,
    check_parameters,
    check_same_variants,
    colours,
    find_groups,
    in_all,
    join,
    labelled,
    scaled,
    sweep,
    verdicts,
)
from analysis.estimates import LEVEL, fair_shares, per_game, per_seat, seat_gap, seat_shares, share_of_games, turns_per
from analysis.intervals import mean_interval
from analysis.tallies import shares
from sims.errors import InputError
from sims.policy import load_policy
from sims.rulesets import RULESETS
from sims.rulesets.dice_forge.cards import NAMES as CARDS
from sims.rulesets.dice_forge.faces import N_FACES
from sims.rulesets.dice_forge.faces import NAMES as FACES
from sims.simulate import set_table
from sims.study import Study
from sims.trace import last_positions

TITLE = "When should I switch from gold to glory in Dice Forge?"
GAME = "dice-forge"
PLAYER = "planner"  # in all seats where nothing else is said
GROUPS = {
    "mirrors": "self",
    "engine_mirrors": "self",
    "plain_mirrors": "self",
    "rounds": "self",
    "layouts": "self",
    "skill": "against",
    "hunt": "against",
    "until": "against",
    "engine": "against",
    "worth": "against",
    "denied": "against",
    "denied_alternate": "against",
    "removed": "against",
    "removed_alternate": "against",
    "readings": "self",
    "readings_best": "against",
}
PARAMETERS = {"until": "until", "engine": "rounds"} | dict.fromkeys(["worth", "denied", "denied_alternate"], "without")
FALLING, EQUAL = "3, 2, 1, 0 gold", "3 gold each"  # at the start
LAYOUTS = {"basic sets": "standard", "alternate sets": "standard,layout=alternate"}
SOURCES = {"from_dice": "dice", "from_feats": "printed on feats", "from_effects": "effects of feats", "from_hammer": "hammer"}
GAP, MORE, MAY, NOBODY = "winners less losers", "took more of it", "may take it, the other may not", "nobody may take it"
NEARLY = 0.95  # of a fair share
COUNTED = {2: 12_000, 3: 3_000, 4: 3_000}  # games by number of players whose last positions are looked at
ENOUGH = 100  # seats with more of something for a share of wins: fewer say nothing
OTHER_SETS = "layout=alternate"
ASSUMED = ("mirror_own", "shield_sees", "ship_order")  # fields of which no source says what is played here


def check(study: Study) -> None:
    """Raise InputError if the report could not be made of a study's results: better now than after playing them."""
    groups = find_groups(study, GAME, GROUPS)
    check_parameters(groups, GAME, PARAMETERS)
    for name in ("until", "worth", "denied", "denied_alternate", "removed", "removed_alternate", "skill", "hunt"):
        check_number(groups[name], "opponents", 1)
    for name in ("until", "worth", "denied", "denied_alternate"):
        check_number(groups[name], "variants", 1)
    for name in ("denied", "denied_alternate", "removed", "removed_alternate", "engine", "readings", "readings_best"):
        check_number(groups[name], "seats", 1)
    for name in ("mirrors", "engine_mirrors", "rounds", "layouts", "readings"):
        check_number(groups[name], "policies", 1)
    if not {"standard", f"standard,{OTHER_SETS}"} <= set(groups["readings"].variants):
        raise InputError(f"the report's group 'readings' takes the variants standard and standard,{OTHER_SETS} among others")
    check_same_variants(groups["readings"], groups["readings_best"])


def content(study: Study, results: pd.DataFrame, games: int, seed: int) -> Part:
    """Return the figures, tables and words of the chapter; see :mod:`analysis.chapters`."""
    group = dict(list(results.groupby("group", sort=False)))
    mirrors = pd.concat([group["mirrors"], group["engine_mirrors"]])
    counted = {seats: scaled(n, games, study) for seats, n in COUNTED.items()}
    ends = {name: _ends(variant, 2, counted[2], seed) for name, variant in LAYOUTS.items()}
    more_ends = {seats: ends["basic sets"] if seats == 2 else _ends("standard", seats, n, seed) for seats, n in counted.items()}
    denied = {"basic sets": group["denied"], "alternate sets": group["denied_alternate"]}
    removed = {"basic sets": group["removed"], "alternate sets": group["removed_alternate"]}
    parts: tuple[Part, ...] = (
        _switch(group["until"], group["engine"]),
        _worth(group["worth"], group["mirrors"]),
        _feats(ends, denied, removed),
        _faces(ends["basic sets"]),
        _sources(group["plain_mirrors"], group["mirrors"]),
        _seats(mirrors),
        _ousts(group["plain_mirrors"], group["mirrors"], group["hunt"]),
        _leads(group["mirrors"], more_ends),
        _layouts(group["layouts"], group["skill"]),
        _rounds(group["rounds"], group["skill"]),
        _readings(group["readings"], group["readings_best"]),
        ({}, {}, _played(results, counted, seed)),
    )
    drawn, tables, words = join(parts)
    return drawn, {name: table.assign(seed=seed) for name, table in tables.items()}, words


def _played(results: pd.DataFrame, counted: dict[int, int], seed: int) -> dict[str, Any]:
    return {
        "total_games": in_all(results) + sum(counted.values()) + counted[2],
        "seed": seed,
        "version": RULESETS[GAME].version,
        "player": PLAYER,
        "counted": counted,
    }


# --- what the parts share -------------------------------------------------------------------------------------------------


def _labelled(estimates: pd.DataFrame) -> pd.DataFrame:
    return _shortened(labelled(estimates))


def _sweep(results: pd.DataFrame, parameter: str) -> pd.DataFrame:
    return _shortened(sweep(results, parameter))


def _shortened(rows: pd.DataFrame) -> pd.DataFrame:
    """Labelled rows with policies by their short names, and with ``preset``."""
    return rows.assign(first=rows["first"].map(_short), others=rows.others.map(_short), preset=rows.variant.str.split(",").str[0])


def _short(spec: str) -> str:
    """A policy without parameters that have their usual value."""
    policy = load_policy(RULESETS[GAME], spec)
    return policy.name if policy.spec == load_policy(RULESETS[GAME], policy.name).spec else spec


def _by(rows: pd.DataFrame, key: str) -> list[tuple[Any, list[dict[str, Any]]]]:
    """Rows as records, in groups of the same key."""
    return [(value, each.to_dict("records")) for value, each in rows.groupby(key, sort=False)]


def _first_seat(results: pd.DataFrame) -> pd.DataFrame:
    places = seat_shares(results)
    return places[places.seat == 0]


class Ends(NamedTuple):
    """How games end that players of one policy play.

    Attributes
    ----------
    shares, scores : array (games, seats)
        Win shares; points.
    cards, faces : int array (games, seats, cards or faces)
        How many of each a seat has.
    leads : int array (games,)
        How many times a seat took the lead.
    """

    shares: np.ndarray
    scores: np.ndarray
    cards: np.ndarray
    faces: np.ndarray
    leads: np.ndarray


def _ends(variant: str, seats: int, games: int, seed: int) -> Ends:
    table = set_table(GAME, [PLAYER] * seats, variant)
    kept = []
    for state in last_positions(table, seed, games):
        wins = state.winner[:seats]
        faces = [np.bincount(dice.ravel(), minlength=N_FACES) for dice in state.dice[:seats]]
        kept.append((wins / wins.sum(), state.score[:seats].copy(), state.owned[:seats].copy(), faces, state.leads[:seats].sum()))
    return Ends(*map(np.array, zip(*kept, strict=True)))


def _mean(values: np.ndarray) -> dict[str, Any]:
    """The mean of one number per game as a row."""
    numbers = mean_interval(values.sum(), (values**2).sum(), len(values), 1, LEVEL)
    row = dict(zip(("estimate", "stderr", "low", "high"), map(float, numbers), strict=True))
    return {"n": len(values), **row, "level": LEVEL, "method": "student"}


def _share(payoffs: np.ndarray) -> dict[str, Any]:
    return shares(pd.DataFrame({"payoff": payoffs, "n": 1})).iloc[0].to_dict()


def _gaps(ends: Ends, counts: np.ndarray, names: Sequence[str]) -> pd.DataFrame:
    """What the winner of two had more than the loser, of each thing that anybody had; a shared win counts 0."""
    rows = []
    for name, count in zip(names, np.moveaxis(counts, 2, 0), strict=True):
        if count.any():
            gap = ((2 * ends.shares - 1) * count).sum(axis=1)
            both = {"winner": float((ends.shares * count).sum(axis=1).mean())}
            rows.append({"name": name, **both, "loser": both["winner"] - float(gap.mean()), **_mean(gap)})
    return pd.DataFrame(rows)


def _shares_of_more(ends: Ends, counts: np.ndarray, names: Sequence[str]) -> pd.DataFrame:
    """What a player wins who has more of a thing than the other one, where that is so in enough games."""
    rows = []
    for name, count in zip(names, np.moveaxis(counts, 2, 0), strict=True):
        payoffs = ends.shares[:, 0][count[:, 0] > count[:, 1]], ends.shares[:, 1][count[:, 1] > count[:, 0]]
        if sum(map(len, payoffs)) >= ENOUGH:
            rows.append({"name": name, **_share(np.concatenate(payoffs))})
    return pd.DataFrame(rows)


# --- from gold to glory -----------------------------------------------------------------------------------------------------


def _switch(until: pd.DataFrame, engine: pd.DataFrame) -> Part:
    """What it does to forge in the first rounds only, to a player who weighs every action and to one who does not."""
    stop, rule = _sweep(until, "until"), _sweep(engine, "rounds")
    lines = pd.concat(
        [stop.assign(panel="planner among planner"), rule.assign(panel="gold_engine against " + rule.others)], ignore_index=True
    )
    label = "forge in the first ... rounds only"
    drawn = figures.plot_estimates(lines, label, "wins in fair shares", colours(lines.line), 1)
    words = {
        "until": _by(stop.sort_values(["x", "seats"]), "x"),
        "until_ends": [
            {"seats": seats, "nearly": _from_here(rows, rows.estimate >= NEARLY), "wholly": _from_here(rows, rows.high >= 1)}
            for seats, rows in stop.groupby("seats")
        ],
        "nearly": NEARLY,
        "engine": _by(rule.sort_values("x", kind="stable"), "x"),
        "engine_best": best_of(rule, "others"),
    }
    return {"switch": drawn}, {"until": stop, "engine": rule}, words


def _from_here(rows: pd.DataFrame, holds: pd.Series) -> int | None:
    """The lowest x from which on something holds; None if it never does."""
    fails = rows.x[~holds]
    found = rows.x if fails.empty else rows.x[rows.x > fails.max()]
    return None if found.empty else int(found.min())


# --- what to buy ------------------------------------------------------------------------------------------------------------


def _worth(results: pd.DataFrame, mirrors: pd.DataFrame) -> Part:
    """What one player wins who does without extra actions, hammers or chests; and how many the others take."""
    without = _sweep(results, "without")
    usual = mirrors[mirrors.variant == "standard"]
    measures = {"extra": "extra_actions", "HAMMER": "hammers", "CHEST": "chests"}
    used = pd.concat(_labelled(per_seat(usual, measure)).assign(x=name) for name, measure in measures.items())
    taken = dict(_by(used, "x"))
    words = {"worth": [{"what": what, "rows": rows, "used": taken[what]} for what, rows in _by(without, "x")]}
    return {}, {"worth": without, "used": used}, words


def _feats(ends: dict[str, Ends], denied: dict[str, pd.DataFrame], removed: dict[str, pd.DataFrame]) -> Part:
    """What winners took more of, beside what it wins to have a set at all: both, so that nobody takes one for the other."""
    table = pd.concat(_feats_of(ends[name], denied[name], removed[name]).assign(panel=name) for name in ends)
    shown = table[table.kind.isin([MORE, MAY])]
    words = {
        "feats": [
            {
                "layout": layout,
                "rows": [{row["kind"]: row for row in rows} for _, rows in _by(table[table.panel == layout], "name")],
            }
            for layout in ends
        ],
        "base": {name: _off_the_table(rows).set_index("name").loc["none"].to_dict() for name, rows in removed.items()},
        "misled": _misled(table),
    }
    return {"feats": figures.plot_cause(shown)}, {"feats": table}, words


def _feats_of(ends: Ends, denied: pd.DataFrame, removed: pd.DataFrame) -> pd.DataFrame:
    """A row for each set that was denied to one of two, and kind of estimate; first the sets that it wins most to have."""
    rates = _sweep(denied, "without").rename(columns={"x": "name"})
    numbers = {
        "estimate": 1 - rates.estimate / 2,
        "stderr": rates.stderr / 2,
        "low": 1 - rates.high / 2,
        "high": 1 - rates.low / 2,
    }
    may = rates[["name", "n", "level", "method"]].assign(**numbers)
    kinds = {
        GAP: _gaps(ends, ends.cards, CARDS),
        MORE: _shares_of_more(ends, ends.cards, CARDS),
        MAY: may,
        NOBODY: _off_the_table(removed),
    }
    by_name = {kind: rows.assign(kind=kind).set_index("name") for kind, rows in kinds.items()}
    names = may.sort_values("estimate", ascending=False)["name"]
    rows = [by_name[kind].loc[[name]] for name in names for kind in kinds if name in by_name[kind].index]
    return pd.concat(rows).reset_index()


def _off_the_table(removed: pd.DataFrame) -> pd.DataFrame:
    """Win rates between two, by the set that is left in the box."""
    rows = fair_shares(removed)
    names = [RULESETS[GAME].variant(variant).values["removed"] for variant in rows.variant]
    numbers = {column: rows[column] / 2 for column in ("estimate", "stderr", "low", "high")}
    return rows[["n", "level", "method"]].assign(name=names, **numbers)


def _misled(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Sets of which winners took clearly fewer although having them clearly helps, or more although it harms."""
    found = []
    for (layout, name), rows in table.groupby(["panel", "name"], sort=False):
        row = rows.set_index("kind")
        gap, may = row.loc[GAP if GAP in row.index else MAY], row.loc[MAY]
        if (gap.high < 0 and may.low > 0.5) or (gap.low > 0 and may.high < 0.5):
            found.append({"layout": layout, "name": name, "gap": gap.to_dict(), "may": may.to_dict()})
    return found


def _faces(ends: Ends) -> Part:
    """Which faces winners have on their dice at the end, and losers have not."""
    table = _gaps(ends, ends.faces, FACES).sort_values("estimate", ascending=False)
    lines = table.rename(columns={"name": "reading"}).assign(quantity="faces on both dice at the end, winner less loser")
    return {"faces": figures.plot_readings(lines, 0)}, {"faces": table}, {"faces": table.to_dict("records")}


def _sources(plain: pd.DataFrame, mirrors: pd.DataFrame) -> Part:
    """Points by where they come from."""
    usual = mirrors[(mirrors.variant == "standard") & (mirrors.matchup.str.count(" v ") > 1)]
    played = pd.concat([plain, usual])
    points = pd.concat(_labelled(per_seat(played, measure)).assign(source=source) for measure, source in SOURCES.items())
    points = points.assign(label=points["first"] + [f", {n} players" if n > 2 else "" for n in points.seats])
    points = pd.concat(points[points.label == label] for label in sorted(set(points.label), key=list(points.label).index))
    return {"sources": figures.plot_sources(points)}, {"sources": points}, {"sources": _by(points, "label")}


# --- seats, ousting, leads --------------------------------------------------------------------------------------------------


def _seats(mirrors: pd.DataFrame) -> Part:
    """What each place wins, with less gold the later one begins and with the same for all."""
    places, gaps = (_with_gold(_labelled(estimate(mirrors))) for estimate in (seat_shares, seat_gap))
    shown = places[(places["first"] == PLAYER) & (places.preset == "standard")]
    shown = shown.assign(panel=shown.line, line=shown.gold, x=shown.seat.astype(int) + 1)
    drawn = figures.plot_estimates(shown, "place in the turn order", "wins in fair shares", colours(shown.line), 1)
    keys = ["first", "preset", "seats", "gold"]
    gap = gaps.set_index(keys)
    rows = [
        {**dict(zip(keys, key, strict=True)), "places": each.to_dict("records"), "gap": gap.loc[key].to_dict()}
        for key, each in places.groupby(keys, sort=False)
    ]
    ours = gaps[gaps["first"] == PLAYER].pivot(index=["preset", "seats"], columns="gold", values="estimate")
    words = {
        "seats": rows,
        "fairer": int((ours[FALLING] < ours[EQUAL]).sum()),
        "fairer_of": len(ours),
        "first_places": dict(_by(places[(places["first"] == PLAYER) & (places.seat == 0)], "preset")),
    }
    return {"seats": drawn}, {"places": places, "seat_gaps": gaps}, words


def _with_gold(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(gold=[EQUAL if "start_gold=equal" in variant else FALLING for variant in rows.variant])


def _ousts(plain: pd.DataFrame, mirrors: pd.DataFrame, hunt: pd.DataFrame) -> Part:
    """How many players are ousted in a game, and what it wins to hunt."""
    played = pd.concat([plain, mirrors[(mirrors.variant == "standard") & (mirrors.matchup.str.count(" v ") > 1)]])
    ousts, feats = (_labelled(per_game(played, measure)) for measure in ("ousts", "feats"))
    hunting = _labelled(fair_shares(hunt))
    pairs = zip(ousts.to_dict("records"), feats.to_dict("records"), strict=True)
    words = {"ousts": [{"ousts": one, "feats": other} for one, other in pairs], "hunt": hunting.to_dict("records")}
    return {}, {"ousts": pd.concat([ousts, feats]), "hunt": hunting}, words


def _leads(mirrors: pd.DataFrame, ends: dict[int, Ends]) -> Part:
    """How often the lead is taken, how long it is held, and how large it is at the end."""
    usual = mirrors[mirrors.variant == "standard"]
    found = {
        "times taken": _labelled(per_game(usual, "leads")),
        "turns that it lasts": _labelled(turns_per(usual, "leads")),
        "ties": _labelled(share_of_games(usual, "tied")),
    }
    held = {seats: np.sort(each.scores, axis=1) for seats, each in ends.items()}
    rows = pd.concat([rows.assign(answer=answer) for answer, rows in found.items()])
    more = [{"answer": "margin", "seats": seats, **_mean(scores[:, -1] - scores[:, -2])} for seats, scores in held.items()]
    more += [
        {"answer": "never changed", "seats": seats, **_share((each.leads == 1).astype(float))} for seats, each in ends.items()
    ]
    table = pd.concat([rows, pd.DataFrame(more)], ignore_index=True)
    words = {"leads": [{"answer": answer, "rows": each} for answer, each in _by(table, "answer")]}
    return {}, {"leads": table}, words


# --- sets, rounds, what is assumed --------------------------------------------------------------------------------------------


def _layouts(results: pd.DataFrame, skill: pd.DataFrame) -> Part:
    """The game with basic, alternate and drawn sets."""
    return _compared("layouts", results, skill)


def _rounds(results: pd.DataFrame, skill: pd.DataFrame) -> Part:
    """The game with the rounds of the rulebook, and with those of the published game."""
    return _compared("rounds", results, skill)


def _compared(name: str, results: pd.DataFrame, skill: pd.DataFrame) -> Part:
    """The same answers under several variants, by number of players."""
    measures = {"faces forged": "forged", "feats": "feats", "extra actions": "extra_actions"}
    measures |= {"points of dice": "from_dice", "points of the hammer": "from_hammer"}
    found = {
        "points": per_seat(results, "score"),
        "first place": _first_seat(results),
        "skill": fair_shares(skill[skill.variant.isin(results.variant)]),
        "ties": share_of_games(results, "tied"),
        "ousted players in a game": per_game(results, "ousts"),
    }
    found |= {answer: per_seat(results, measure) for answer, measure in measures.items()}
    table = pd.concat([_labelled(rows).assign(answer=answer) for answer, rows in found.items()], ignore_index=True)
    cells = table.set_index(["answer", "seats", "reading"]).to_dict("index")
    readings, seats = list(dict.fromkeys(table.reading)), sorted(set(table.seats))
    words = {
        name: [
            {"answer": answer, "seats": n, "rows": [cells[answer, n, reading] for reading in readings]}
            for answer in found
            for n in seats
            if (answer, n, readings[0]) in cells
        ],
        f"{name}_readings": readings,
    }
    return {}, {name: table}, words


def _readings(own: pd.DataFrame, against: pd.DataFrame) -> Part:
    """The answers again under other readings of the rules, one field at a time."""
    estimates = {"points": per_seat(own, "score"), "first place": _first_seat(own), "ties": share_of_games(own, "tied")}
    estimates |= {_short(policy): rows for policy, rows in at_once(fair_shares, against).groupby("policy", sort=False)}
    table = pd.concat(_labelled(rows).assign(answer=answer) for answer, rows in estimates.items())
    by_reading = [
        {"reading": reading, "is_assumed": reading.split(", ")[-1].split("=")[0] in ASSUMED, "rows": rows}
        for reading, rows in _by(table, "reading")
    ]
    by_answer = {
        answer: {**verdicts(rows), "of": len(rows)}
        for answer, rows in table[table.quantity == "fair_shares"].groupby("answer", sort=False)
    }
    words = {"readings": by_reading, "answers": list(estimates), "verdicts": by_answer, "moved": _moved(table)}
    return {}, {"readings": table}, words


def _moved(table: pd.DataFrame) -> dict[str, list[str]]:
    """By answer the readings under which its interval lies apart from the one under the usual reading with the same sets."""
    found: dict[str, list[str]] = {}
    for answer, rows in table.groupby("answer", sort=False):
        by_reading = rows.set_index("reading")
        usual = by_reading.loc[[OTHER_SETS if reading.startswith(OTHER_SETS) else USUAL for reading in rows.reading]]
        is_apart = (rows.low.to_numpy() > usual.high.to_numpy()) | (rows.high.to_numpy() < usual.low.to_numpy())
        found[str(answer)] = [reading.removeprefix(f"{OTHER_SETS}, ") for reading in rows.reading[is_apart]]
    return found
