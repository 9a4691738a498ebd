"""What one attack is worth: a fast table for policies, and exact fractions through the rules functions.

With d the pips that the target loses and a those that the attackers lose, a removed die counting `dice` pips more, an outcome of
an attack gains d - own * a. Its value is the mean over the rolls of the best choice's gain.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from sims.jit import jit
from sims.ruleset import Ruleset, Variant
from sims.rulesets.dice_land import rules
from sims.rulesets.dice_land.boards import position
from sims.rulesets.dice_land.rules import DECLINE, PICK_ONE, part, resolve

ENTRIES = 7 * 7 * 7


# --- the table --------------------------------------------------------------------------------------------------------------


@jit
def entry(attack, partner, defence):
    """Return where the value of an attack lies in the table; a single attack has partner 0."""
    return (attack * 7 + partner) * 7 + defence


@jit
def gain_of_attack(state, action, gains, offset):
    """Return what an attack gains on average, from a table that starts at `offset`; 0 for no attack."""
    if action == DECLINE:
        return 0.0
    t, x, y = part(action, 0), part(action, 1), part(action, 2)
    partner = 0 if x == y else state.value[y]
    return gains[offset + entry(state.value[x], partner, state.value[t])]


@jit
def hit_gain(variant, attack, defence, roll, dice, own):
    """Return the gain of one roll of one attacker."""
    after, left = resolve(variant, attack, defence, roll)
    return defence - left + dice * (left == 0) - own * (attack - after + dice * (after == 0))


@jit
def choice_gain(variant, one, roll, other, rest, defence, dice, own):
    """Return the gain of a combined attack in which `one` takes `roll` first."""
    gain = hit_gain(variant, one, defence, roll, dice, own)
    _, left = resolve(variant, one, defence, roll)
    if variant.combined != PICK_ONE and left > 0:
        gain += hit_gain(variant, other, left, rest, dice, own)
    return gain


@jit
def single_gain(variant, attack, defence, dice, own):
    """Return the value of a single attack."""
    total = 0.0
    for roll in range(1, 7):
        total += hit_gain(variant, attack, defence, roll, dice, own)
    return total / 6


@jit
def combined_gain(variant, one, other, defence, dice, own):
    """Return the value of a combined attack."""
    total = 0.0
    for r in range(1, 7):
        for s in range(r, 7):
            best = choice_gain(variant, one, r, other, s, defence, dice, own)
            best = max(best, choice_gain(variant, other, s, one, r, defence, dice, own))
            best = max(best, choice_gain(variant, one, s, other, r, defence, dice, own))
            best = max(best, choice_gain(variant, other, r, one, s, defence, dice, own))
            total += best if r == s else 2 * best
    return total / 36


@jit
def fill_gains(variant, dice, own, gains):
    """Write the value of every attack to the table."""
    for defence in range(1, 7):
        for one in range(1, 7):
            gains[entry(one, 0, defence)] = single_gain(variant, one, defence, dice, own)
            for other in range(1, one + 1):
                gain = combined_gain(variant, one, other, defence, dice, own)
                gains[entry(one, other, defence)] = gains[entry(other, one, defence)] = gain


def attack_gains(ruleset: Ruleset, variant: Variant, dice: float, own: float = 1.0) -> np.ndarray:
    """Return the value of every attack under a variant, as a table that :func:`entry` reads.

    Parameters
    ----------
    dice : float
        Pips that a die counts besides its own.
    own : float
        Weight of the attackers' losses against the target's.
    """
    gains = np.zeros(ENTRIES)
    fill_gains(ruleset.new_state(rules.SEATS, variant).variant, float(dice), float(own), gains)
    return gains


# --- exact fractions --------------------------------------------------------------------------------------------------------


def mean_of_attack(
    ruleset: Ruleset,
    attackers: tuple[int, ...],
    defender: int,
    worth: Callable[[Any], int],
    variant: Any = None,
) -> Fraction:
    """Return the mean, over the rolls, of what is left after the best choice, exactly and through the rules functions.

    Parameters
    ----------
    attackers : tuple of int
        Values of the one or two attacking dice of seat 0, which touch each other and the target.
    defender : int
        Value of the target.
    worth : function
        Of the state after the attack: what the attacker maximises.
    """
    words = [f"B{defender}", *(f"R{value}" for value in attackers)]
    free = ruleset.variant(variant, attack_mandatory=False)  # so that nothing follows by itself
    state = position(ruleset, " ".join(words + ["."] * (8 - len(words))), variant=free)
    return _mean(ruleset, ruleset.after(state, int(rules.code(rules.A_ATTACK, 0, 1, len(attackers)))), worth)


def _mean(ruleset: Ruleset, state: Any, worth: Callable[[Any], int]) -> Fraction:
    if state.phase == rules.CHOOSE:
        return max(_mean(ruleset, ruleset.after(state, choice), worth) for choice in ruleset.legal(state))
    if state.phase in (rules.SINGLE_DIE, rules.FIRST_DIE, rules.SECOND_DIE):
        return sum((_mean(ruleset, ruleset.after(state, face), worth) for face in range(6)), Fraction(0)) / 6
    return Fraction(int(worth(state)))


def conquest_chance(ruleset: Ruleset, attackers: tuple[int, ...], defender: int, variant: Any = None) -> Fraction:
    """Return the chance that an attack removes its target, if nothing else is wanted; see :func:`mean_of_attack`.

    Examples
    --------
    >>> from sims import RULESETS
    >>> conquest_chance(RULESETS["dice-land"], (6, 1), 6, "published")
    Fraction(11, 36)
    """
    return mean_of_attack(ruleset, attackers, defender, lambda state: state.score[rules.BLUE] == 0, variant)


def attack_table(ruleset: Ruleset, variant: Any = None) -> pd.DataFrame:
    """Return the odds of every attack, exactly: a row for each attacker, partner (0 for none) and target.

    Returns
    -------
    DataFrame
        attackers (``"6 + 1"``), attacker, partner, defender; conquest, the chance that the target is removed if nothing else is
        wanted; net, the mean of pips that the target loses less those that the attackers lose if nothing else is wanted.
    """
    gains, rows = attack_gains(ruleset, ruleset.variant(variant), dice=0), []
    for attacker, partner, defender in product(range(1, 7), range(7), range(1, 7)):
        if partner > attacker:
            continue
        attackers = (attacker, partner) if partner else (attacker,)
        chance, net = float(conquest_chance(ruleset, attackers, defender, variant)), gains[entry(attacker, partner, defender)]
        rows.append((" + ".join(map(str, attackers)), attacker, partner, defender, chance, net))
    return pd.DataFrame(rows, columns=["attackers", "attacker", "partner", "defender", "conquest", "net"])
