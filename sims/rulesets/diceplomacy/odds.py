"""Exact odds of a battle, by counting all dice through the rules functions themselves."""

from itertools import product
from typing import Any

import pandas as pd

from sims.ruleset import copied
from sims.rulesets.diceplomacy import RULESET
from sims.trace import follow

VARIANT = "standard,first_player=first_seat,surrender_order=none"
ALLIES = "PROPOSE1 ACCEPT REFORM 1"  # seats 0 and 1
SCRIPTS = {
    (1, 1): "WAR2",
    (1, 2): "REFORM 1 REFORM 1 PROPOSE3 ACCEPT REFORM 1 REFORM 1 WAR2",
    (2, 1): f"{ALLIES} REFORM 1 REFORM 1 REFORM 1 WAR2 ALONE",
    (2, 2): f"{ALLIES} PROPOSE3 ACCEPT REFORM 1 REFORM 1 WAR2",
    (2, 3): f"{ALLIES} REFORM 1 PROPOSE4 ACCEPT REFORM 1 WAR2 ASK3 JOIN JOIN",
}
"""What five seats say, after their first dice, until the last word starts a battle of so many attackers and defenders."""


def battle_odds() -> pd.DataFrame:
    """Return the attackers' chance to win, by the number of fighters and the leading attacker's own die.

    Returns
    -------
    DataFrame
        One row per battle and die: ``attackers``, ``defenders``, ``die`` (0 where it is unknown too), ``wins`` of ``cases``
        equally likely dice, ``chance``.

    Examples
    --------
    >>> odds = battle_odds()
    >>> odds[(odds.attackers == 1) & (odds.defenders == 1)].wins.tolist()
    [15, 0, 1, 2, 3, 4, 5]
    """
    return pd.concat([_odds(*sides) for sides in SCRIPTS], ignore_index=True)


def _odds(attackers: int, defenders: int) -> pd.DataFrame:
    before, last = _eve_of_battle(attackers, defenders)
    fighters = RULESET.after(before, last).fighters[: attackers + defenders]
    dice = list(product(range(1, 7), repeat=len(fighters)))
    battles = pd.DataFrame({"die": [each[0] for each in dice], "won": [_is_won(before, last, fighters, each) for each in dice]})
    by_die = battles.groupby("die").won.agg(["sum", "count"])
    by_die.loc[0] = by_die.sum()
    rows = by_die.sort_index().reset_index().set_axis(["die", "wins", "cases"], axis=1)
    return rows.assign(attackers=attackers, defenders=defenders, chance=rows.wins / rows.cases)


def _eve_of_battle(attackers: int, defenders: int) -> tuple[Any, int]:
    """Return the position before the last word of a script, and the action of that word."""
    *words, last = SCRIPTS[attackers, defenders].split()
    state = follow(RULESET, RULESET.new_state(5, VARIANT), ["1"] * 5 + words)
    return state, next(action for action in RULESET.legal(state) if RULESET.describe(state, action) == last)


def _is_won(before: Any, last: int, fighters: Any, dice: tuple[int, ...]) -> bool:
    """Does the attack succeed with these dice of the fighters?"""
    state = copied(before)
    state.die[fighters] = dice
    RULESET.advance(state, last)
    return state.conquests[0] == 1
