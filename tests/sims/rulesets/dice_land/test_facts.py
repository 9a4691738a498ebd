"""Exact facts of Dice Land: every table of the README, by enumeration through the rules functions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sims.rulesets import RULESETS
from sims.rulesets.dice_land import rules
from sims.rulesets.dice_land.odds import attack_gains, attack_table, conquest_chance, entry, mean_of_attack

GAME = RULESETS["dice-land"]
PRESETS = ("standard", "published")
VALUES = range(1, 7)
each_preset = pytest.mark.parametrize("preset", PRESETS)


@each_preset
@pytest.mark.parametrize("attack, defence", list(product(VALUES, VALUES)))
def test_single_attack(attack, defence, preset):
    lost_by_target = mean_of_attack(GAME, (attack,), defence, lambda s: defence - s.pips[rules.BLUE], preset)
    lost_by_attacker = mean_of_attack(GAME, (attack,), defence, lambda s: attack - s.pips[rules.RED], preset)
    assert conquest_chance(GAME, (attack,), defence, preset) == Fraction(max(0, attack - defence + 1), 6)
    assert lost_by_target == Fraction(sum(min(roll, defence) for roll in range(1, attack + 1)), 6)
    assert lost_by_attacker == Fraction(attack * (attack - 1) // 2 + 6 - attack, 6)


@each_preset
def test_pips_that_an_attacker_loses(preset):
    lost = [6 * mean_of_attack(GAME, (value,), 6, lambda s, value=value: value - s.pips[rules.RED], preset) for value in VALUES]
    assert lost == [5, 5, 6, 8, 11, 15]


@pytest.mark.parametrize("one, other, defence", list(product(VALUES, (1, 3, 6), VALUES)))
def test_pick_one_goes_by_the_stronger(one, other, defence):
    miss = 1 - Fraction(max(0, max(one, other) - defence + 1), 6)
    assert conquest_chance(GAME, (one, other), defence, "published") == 1 - miss**2


COMBINED = {
    ((6, 6), 6): (11, 26),
    ((6, 1), 6): (11, 13),
    ((5, 2), 4): (20, 25),
    ((4, 4), 6): (0, 6),
    ((3, 3), 3): (11, 14),
}


@pytest.mark.parametrize("attack", COMBINED)
def test_combined_attack(attack):
    attackers, defender = attack
    pick_one, assign_both = COMBINED[attack]
    for order in (attackers, attackers[::-1]):
        assert conquest_chance(GAME, order, defender, "published") == Fraction(pick_one, 36)
        assert conquest_chance(GAME, order, defender, "standard") == Fraction(assign_both, 36)
        assert conquest_chance(GAME, order, defender, "standard,combined=pick_one") == Fraction(pick_one, 36)


@pytest.mark.slow
@each_preset
def test_table_of_attacks(preset):
    """Every attack once, and in it the numbers of the README."""
    table = attack_table(GAME, preset).set_index(["attackers", "defender"])
    assert len(table) == len(set(table.index)) == (6 + 6 * 7 // 2) * 6
    for (attackers, defender), of_36 in COMBINED.items():
        row = table.loc[(" + ".join(map(str, attackers)), defender)]
        assert row.conquest == pytest.approx(of_36[preset == "standard"] / 36)
    for attack, defence in product(VALUES, VALUES):
        row = table.loc[(str(attack), defence)]
        lost = sum(min(roll, defence) for roll in range(1, attack + 1)) - (attack * (attack - 1) // 2 + 6 - attack)
        assert (row.conquest, row.net) == pytest.approx((max(0, attack - defence + 1) / 6, lost / 6))


VARIANTS = (*PRESETS, "standard,failed_loss=difference", "published,failed_loss=all", "published,combined=assign_both")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("dice, own", [(3, 1), (0, 1), (100, 1), (3, 100)])
def test_table_of_gains_is_the_mean_of_the_best_choice(variant, dice, own):
    """The table of the policies against the walk through the rules functions."""
    gains = attack_gains(GAME, GAME.variant(variant), dice, own)

    def gain_of(attackers, defender):
        def gain(state):
            theirs = defender - state.pips[rules.BLUE] + dice * (1 - state.score[rules.BLUE])
            mine = sum(attackers) - state.pips[rules.RED] + dice * (len(attackers) - state.score[rules.RED])
            return theirs - own * mine

        return mean_of_attack(GAME, attackers, defender, gain, variant)

    for attack, defence in product((1, 2, 4, 6), (1, 3, 6)):
        assert gains[entry(attack, 0, defence)] == pytest.approx(float(gain_of((attack,), defence)))
    for attackers, defence in product(((1, 1), (6, 1), (2, 5), (4, 4), (6, 6)), (1, 4, 6)):
        assert gains[entry(*attackers, defence)] == pytest.approx(float(gain_of(attackers, defence)))
    assert np.isfinite(gains).all()


def test_two_hits_add_up():
    """Why `assign_both` can do what `pick_one` cannot: two dice of 4 bring down a 6."""
    assert conquest_chance(GAME, (4, 4), 6, "published") == 0 < conquest_chance(GAME, (4, 4), 6, "standard")
