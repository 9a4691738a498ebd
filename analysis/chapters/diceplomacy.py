"""Diceplomacy: when to attack and to surrender, what an alliance is worth, whom the next war hits, how games end, and seats.

Each part below returns its figures, its tables and the words and numbers of its text; :func:`content` joins them.
"""

from typing import Any

import pandas as pd

from analysis import figures
from analysis.chapters.parts import (
    USUAL,
    Part,
    at_once,
    best_of,
    check_number,
    check_same_variants,
    check_seats_in_order,
    colours,
    find_groups,
    in_all,
    join,
    labelled,
    span,
    sweep,
    value_of,
    verdicts,
)
from analysis.estimates import fair_shares, game_length, per_game, per_seat, seat_advantage, seat_gap, share_of
from sims.errors import InputError
from sims.policy import load_policy
from sims.rulesets import RULESETS
from sims.rulesets.diceplomacy.odds import battle_odds
from sims.study import Study

TITLE = "When should I attack in Diceplomacy?"
GAME = "diceplomacy"
GROUPS = {
    "players": "self",
    "pile_on": "self",
    "attack": "against",
    "surrender": "against",
    "help": "against",
    "alliance": "against",
    "assumed": "self",
    "assumed_best": "against",
}
SWEPT = ("attack", "surrender", "help")  # groups named after the parameter of `threshold` that they vary
ASSUMED = ("null_treaty", "help_protocol", "surrender_order")  # fields of which the rulebook says nothing
ENDS = {
    "eliminated": "players eliminated",
    "pair_ends": "two reach three victories together",
    "trio_ends": "three or more do",
    "draws": "the win is shared",
}


def check(study: Study) -> None:
    """Raise InputError if the report could not be made of a study's results: better now than after playing them."""
    groups = find_groups(study, GAME, GROUPS)
    for name in SWEPT:
        for spec in groups[name].policies:
            if load_policy(RULESETS[GAME], spec).name != "threshold":
                raise InputError(f"the report's group {name!r} takes policies such as threshold:0.5, not {spec!r}")
    for name, n in {"players": 1, "pile_on": 2, "attack": 1, "surrender": 1, "help": 1, "alliance": 2}.items():
        check_number(groups[name], "variants", n)
    for name in ("surrender", "help"):
        check_number(groups[name], "opponents", 1)
    for name in ("assumed", "assumed_best"):
        check_number(groups[name], "seats", 1)
    check_number(groups["assumed"], "policies", 1)
    check_number(groups["alliance"], "policies", 1)
    check_seats_in_order(groups[name] for name in ("players", "pile_on", "assumed"))
    check_same_variants(groups["assumed"], groups["assumed_best"])


def content(study: Study, results: pd.DataFrame, games: int, seed: int) -> Part:
    """Return the figures, tables and words of the chapter; see :mod:`analysis.chapters`."""
    group = dict(list(results.groupby("group", sort=False)))
    odds = battle_odds()
    totals = {"total_games": in_all(results), "truncated": in_all(results, "truncated")}
    parts: tuple[Part, ...] = (
        _odds(odds),
        _attack(group["attack"], odds),
        _answers(group["surrender"], group["help"]),
        _alliance(group["alliance"]),
        _seats(group["players"]),
        _pile_on(group["pile_on"]),
        _ends(group["players"]),
        _assumed(group["assumed"], group["assumed_best"]),
        ({}, {}, {**totals, "games": games, "seed": seed, "version": RULESETS[GAME].version}),
    )
    return join(parts)


# --- war ------------------------------------------------------------------------------------------------------------------


def _odds(odds: pd.DataFrame) -> Part:
    """The exact odds of a battle."""
    odds = odds.assign(battle=[f"{row.attackers} v {row.defenders}" for row in odds.itertuples()])
    blind = odds[odds.die == 0].set_index("battle")
    words = {"blind": [{"battle": battle, **row} for battle, row in blind.to_dict("index").items()]}
    return {"battle_odds": figures.plot_battle_odds(odds)}, {"battle_odds": odds}, words


def _attack(results: pd.DataFrame, odds: pd.DataFrame) -> Part:
    """From which chance on to attack, by the opponents' own threshold and the number of players."""
    rows = sweep(results, "attack")
    duels = odds[(odds.attackers == 1) & (odds.defenders == 1) & (odds.die > 0)]
    rows = rows.assign(from_die=pd.array([_lowest_die(duels, attack) for attack in rows.x], "Int64"))
    drawn = figures.plot_estimates(rows, "attack from this chance on", "wins in fair shares", colours(rows.line), 1)
    return {"attack": drawn}, {"attack": rows}, {"best_attack": best_of(rows, ["others", "seats"]), "thresholds": len(rows)}


def _lowest_die(duels: pd.DataFrame, attack: float) -> int | None:
    """The lowest die with which one attacks a single player whose die is unknown; None if there is none."""
    dice = duels.die[duels.chance >= attack]
    return None if dice.empty else int(dice.min())


def _answers(surrender: pd.DataFrame, help: pd.DataFrame) -> Part:
    """Below which chance to surrender, and from which chance on to help."""
    sweeps = {"surrender": sweep(surrender, "surrender"), "help": sweep(help, "help")}
    titles = {"surrender": "surrender below this chance", "help": "help from this chance on"}
    lines = pd.concat(rows.assign(panel=titles[name]) for name, rows in sweeps.items())
    drawn = figures.plot_estimates(lines, "chance", "wins in fair shares", colours(lines.line), 1)
    helping = sweeps["help"].sort_values(["x", "seats"])
    words = {
        "surrender": verdicts(sweeps["surrender"]),
        "surrender_rows": sweeps["surrender"].to_dict("records"),
        "helps_most": helping[helping.x == helping.x.min()].to_dict("records"),
        "helps_least": helping[helping.x == helping.x.max()].to_dict("records"),
        "usual": {name: value_of(GAME, rows.others.iloc[0], name) for name, rows in sweeps.items()},
    }
    return {"answers": drawn}, sweeps, words


# --- alliances ------------------------------------------------------------------------------------------------------------


def _alliance(results: pd.DataFrame) -> Part:
    """What it costs to be the only one without an ally, with help for the outnumbered and without."""
    loner = labelled(at_once(fair_shares, results))
    lines = loner.assign(panel="others play " + loner.others, line=loner.reading, x=loner.seats)
    drawn = figures.plot_estimates(lines, "players", "wins in fair shares", colours(lines.line), 1)
    attacked = labelled(per_seat(results, "attacked"))
    usual = attacked[(attacked.reading == USUAL) & (attacked.others == attacked.others.iloc[0])]
    words = {
        "attacked": [rows.to_dict("records") for _, rows in usual.groupby("seats")],
        "loner_verdicts": [
            {"others": others, "reading": reading, **verdicts(rows)}
            for (others, reading), rows in loner.groupby(["others", "reading"], sort=False)
        ],
    }
    return {"alliance": drawn}, {"alliance": loner, "attacked": attacked}, words


# --- seats and the number of players --------------------------------------------------------------------------------------


def _seats(results: pd.DataFrame) -> Part:
    """What the place in the turn order is worth, and which number of players is fairest."""
    gaps = labelled(seat_gap(results))
    advantage = labelled(seat_advantage(results))
    shown = advantage[advantage["first"] == advantage["first"].iloc[0]]
    lines = gaps.assign(panel="best place minus worst", line=gaps["first"], x=gaps.seats)
    fairest = gaps.loc[gaps.groupby("first", sort=False).estimate.idxmin()]
    drawn = {
        "seats": figures.plot_seat_advantage(shown),
        "gaps": figures.plot_estimates(lines, "players", "difference in fair shares", colours(lines.line), 0),
    }
    words = {
        "places": [rows.to_dict("records") for _, rows in shown.groupby("seats")],
        "gaps": [{"policy": policy, "rows": rows.to_dict("records")} for policy, rows in gaps.groupby("first", sort=False)],
        "fairest": fairest.assign(rivals=[_rivals(gaps, row) for row in fairest.itertuples()]).to_dict("records"),
        "seats_policy": shown["first"].iloc[0],
    }
    return drawn, {"seat_advantage": advantage, "seat_gap": gaps}, words


def _rivals(gaps: pd.DataFrame, fairest: Any) -> list[int]:
    """Numbers of players that may be as fair as the fairest: their intervals overlap."""
    others = gaps[(gaps["first"] == fairest.first) & (gaps.seats != fairest.seats) & (gaps.low < fairest.high)]
    return others.seats.tolist()


# --- after a battle, and the end ------------------------------------------------------------------------------------------


def _pile_on(results: pd.DataFrame) -> Part:
    """How often the next war is on who has just lost a battle, with the die shown and with a new one."""
    hits = labelled(share_of(results, "hit_next", "spared", "losses"))
    lines = hits.assign(panel=hits["first"], line=hits.reading, x=hits.seats)
    drawn = figures.plot_estimates(lines, "players", "share of lost battles", colours(lines.line))
    pairs = [rows.to_dict("records") for _, rows in hits.groupby(["first", "seats"], sort=False)]
    more = pd.Series([shown["estimate"] - rolled["estimate"] for shown, rolled in pairs])
    words = {"hits": pairs, "hit_range": span(hits.estimate[hits.reading == USUAL]), "hit_more": span(more)}
    return {"pile_on": drawn}, {"pile_on": hits}, words


def _ends(results: pd.DataFrame) -> Part:
    """Eliminations, length, and third victories that several reach together."""
    ends = pd.concat(labelled(per_game(results, measure)).assign(measure=measure) for measure in ENDS)
    together = ends[ends.measure.isin(["eliminated", "pair_ends"])]
    lines = together.assign(
        panel=[f"{ENDS[each]}, per game" for each in together.measure], line=together["first"], x=together.seats
    )
    drawn = figures.plot_estimates(lines, "players", "number per game", colours(lines.line))
    length = labelled(game_length(results))
    turns = length[length.quantity == "turns_per_seat"].to_dict("records")
    rows = [rows.to_dict("records") for _, rows in ends.groupby(["first", "seats"], sort=False)]
    ranges = [
        {"policy": policy, **{name: span(each.estimate[each.measure == name]) for name in ENDS}}
        for policy, each in ends.groupby("first", sort=False)
    ]
    words = {"ends": list(zip(turns, rows, strict=True)), "end_names": list(ENDS.values()), "end_ranges": ranges}
    return {"ends": drawn}, {"ends": ends, "game_length": length}, words


# --- what is assumed ------------------------------------------------------------------------------------------------------


def _assumed(own: pd.DataFrame, against: pd.DataFrame) -> Part:
    """The answers again under other readings of the rules."""
    estimates = {
        "gap": seat_gap(own),
        "hit_next": share_of(own, "hit_next", "spared", "losses"),
        "eliminated": per_game(own, "eliminated"),
    }
    estimates |= dict(list(fair_shares(against).groupby("policy", sort=False)))
    table = pd.concat(labelled(rows).assign(answer=answer) for answer, rows in estimates.items())
    by_reading = [{"reading": reading, "rows": rows.to_dict("records")} for reading, rows in table.groupby("reading", sort=False)]
    usual = [row["estimate"] for row in by_reading[0]["rows"]]
    for each in by_reading:
        each["is_same"] = [row["estimate"] for row in each["rows"]] == usual
        each["is_assumed"] = each["reading"].split("=")[0] in ASSUMED
    words = {"readings": by_reading, "assumed_answers": list(estimates), "assumed_seats": int(table.seats.iloc[0])}
    return {}, {"assumed": table}, words
