"""Exact chances: the published table, by counting through the rules; the policies' own tables against brute force."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sims import RULESETS
from sims.rulesets.diceplomacy.chances import (
    FACES,
    LARGEST_SUM,
    acts_since_roll,
    fair_chance,
    update_beliefs,
    win_chance,
)
from sims.rulesets.diceplomacy.odds import battle_odds
from sims.trace import follow

GAME = RULESETS["diceplomacy"]
FIRST = "standard,first_player=first_seat"
# Specification, "Exact facts": chance of the attackers by the own die, which is known, and by none.
PUBLISHED = {
    1: [0.000, 0.000, 0.583, 0.162, 0.027],
    2: [0.167, 0.000, 0.722, 0.259, 0.054],
    3: [0.333, 0.028, 0.833, 0.375, 0.097],
    4: [0.500, 0.083, 0.917, 0.500, 0.159],
    5: [0.667, 0.167, 0.972, 0.625, 0.239],
    6: [0.833, 0.278, 1.000, 0.741, 0.336],
}
UNKNOWN = [Fraction(15, 36), Fraction(20, 216), Fraction(181, 216), Fraction(575, 1296), Fraction(1182, 7776)]
SIDES = [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3)]


@pytest.fixture(scope="module")
def odds():
    return battle_odds().set_index(["attackers", "defenders", "die"])


def test_table_of_the_specification(odds):
    for die, row in PUBLISHED.items():
        for sides, chance in zip(SIDES, row, strict=True):
            assert odds.loc[(*sides, die)].chance == pytest.approx(chance, abs=5.0001e-4), (sides, die)


def test_chances_with_an_unknown_die(odds):
    for sides, chance in zip(SIDES, UNKNOWN, strict=True):
        found = odds.loc[(*sides, 0)]
        assert Fraction(int(found.wins), int(found.cases)) == chance
        assert int(found.cases) == 6 ** sum(sides)


def test_duel_is_k_minus_1_sixths(odds):
    for die in range(1, 7):
        found = odds.loc[(1, 1, die)]
        assert Fraction(int(found.wins), int(found.cases)) == Fraction(die - 1, 6)


def test_a_sure_loser_should_surrender():
    """The defeat is the same, but the die is rolled again and stays unknown."""
    start = follow(GAME, GAME.new_state(4, FIRST), "6 1 2 5 WAR1")
    fought, gave_up = (follow(GAME, start.copy(), words) for words in ("FIGHT FIGHT 1", "SURRENDER 1 4"))
    assert fought.defeats[1] == gave_up.defeats[1] == 1
    assert (fought.known[1], gave_up.known[1]) == (1, 0)
    assert gave_up.die[1] == 4


# --- the tables of the policies -------------------------------------------------------------------------------------------


def view_of(dice):
    """A view in which these dice are seen; 0 is unknown."""
    view = GAME.new_state(max(4, len(dice)), FIRST)
    view.die[: len(dice)] = dice
    return view


def brute_chance(dice, n_attackers):
    """Attackers are the first seats, defenders all others."""
    faces = [range(1, 7) if die == 0 else [die] for die in dice]
    wins = [sum(each[:n_attackers]) > sum(each[n_attackers:]) for each in product(*faces)]
    return sum(wins) / len(wins)


CASES = [
    ((0, 0), 1),
    ((4, 0), 1),
    ((0, 1), 1),
    ((6, 6), 1),
    ((6, 5), 1),
    ((0, 0, 0), 1),
    ((0, 0, 0), 2),
    ((1, 2, 6, 1), 2),
    ((5, 0, 0, 3), 2),
    ((6, 6, 1, 1, 1), 2),
    ((0, 0, 0, 0, 0), 2),
    ((6, 6, 0, 0, 0, 0), 2),
    ((1, 1, 6, 6, 6, 6, 6, 6), 2),
    ((6, 6, 1, 1, 1, 1, 1, 1), 2),
]


@pytest.mark.parametrize("dice, n_attackers", CASES)
def test_fair_chance_equals_brute_force(dice, n_attackers):
    attackers, everybody = (1 << n_attackers) - 1, (1 << len(dice)) - 1
    assert fair_chance(view_of(dice), attackers, everybody ^ attackers) == pytest.approx(brute_chance(dice, n_attackers))


def beliefs_of(dice, rng=None):
    """Random beliefs about the unknown dice, or uniform ones."""
    values = np.zeros((8, FACES + 1))
    for seat, die in enumerate(dice):
        values[seat, 1:] = np.eye(6)[die - 1] if die else (np.full(6, 1 / 6) if rng is None else rng.dirichlet(np.ones(6)))
    return values, np.full(LARGEST_SUM + 1, np.nan)


@pytest.mark.parametrize("dice, n_attackers", CASES)
def test_uniform_beliefs_are_fair_dice(dice, n_attackers):
    attackers, everybody = (1 << n_attackers) - 1, (1 << len(dice)) - 1
    found = win_chance(view_of(dice), attackers, everybody ^ attackers, beliefs_of(dice))
    assert found == pytest.approx(win_chance(view_of(dice), attackers, everybody ^ attackers, None))


@pytest.mark.parametrize("dice, n_attackers", [((0, 0), 1), ((3, 0, 0), 2), ((0, 0, 0, 0), 2), ((0, 0, 0, 5, 0), 2)])
def test_believed_chance_equals_brute_force(dice, n_attackers):
    beliefs = beliefs_of(dice, np.random.default_rng(len(dice)))
    expected = 0.0
    for each in product(range(1, 7), repeat=len(dice)):
        if sum(each[:n_attackers]) > sum(each[n_attackers:]):
            expected += np.prod([beliefs[0][seat, value] for seat, value in enumerate(each)])
    attackers, everybody = (1 << n_attackers) - 1, (1 << len(dice)) - 1
    assert win_chance(view_of(dice), attackers, everybody ^ attackers, beliefs) == pytest.approx(expected)


# --- beliefs --------------------------------------------------------------------------------------------------------------


def believed(state, **sharpness):
    """Beliefs of a seat that sees the dice of `state` that are not 0."""
    values = np.zeros((8, FACES + 1))
    update_beliefs(state, *(sharpness.get(name, 0.0) for name in ("war", "fight", "keep")), values)
    return values[:, 1:]


def seen(words, seat=3, n=4):
    state = follow(GAME, GAME.new_state(n, FIRST), f"{'4 ' * n} {words}")
    view = GAME.new_state(n, FIRST)
    GAME.rules.observe(state, seat, view)
    return view


def test_beliefs_are_uniform_without_evidence():
    view = seen("")
    np.testing.assert_allclose(believed(view, war=1, fight=1, keep=1)[:3], 1 / 6)
    np.testing.assert_array_equal(believed(view, war=1)[3], np.eye(6)[3])


def s_(k):
    """s_k(1) to s_k(6)."""
    return 1 / (1 + np.exp(-k * (np.arange(1, 7) - 3.5)))


@pytest.mark.parametrize("words, kind", [("WAR1", "war"), ("TREATY", "keep"), ("PROPOSE1", "keep"), ("PROPOSE1 ACCEPT", "keep")])
def test_a_turn_without_reform_speaks_for_a_high_die(words, kind):
    view = seen(words)
    for name in ("war", "fight", "keep"):
        expected = s_(0.7) if name == kind else np.ones(6)
        np.testing.assert_allclose(believed(view, **{name: 0.7})[0], expected / expected.sum(), err_msg=name)


@pytest.mark.parametrize(
    "words, bold, timid", [("DECLINE", 0, 1), ("JOIN", 1, 0), ("JOIN FIGHT SURRENDER", 1, 1), ("JOIN FIGHT FIGHT", 2, 0)]
)
def test_help_and_fight_speak_for_a_high_die_and_the_contrary_for_a_low_one(words, bold, timid):
    view = seen(f"PROPOSE1 ACCEPT REFORM 1 REFORM 1 REFORM 1 WAR2 ASK3 {words}", seat=0)
    expected = s_(0.8) ** bold * (1 - s_(0.8)) ** timid
    np.testing.assert_allclose(believed(view, fight=0.8)[3], expected / expected.sum())


def test_accepting_and_refusing_say_nothing():
    for word in ("ACCEPT", "REFUSE"):
        np.testing.assert_allclose(believed(seen(f"PROPOSE1 {word}"), war=1, fight=1, keep=1)[1], 1 / 6)


def test_evidence_multiplies():
    view = seen("TREATY REFORM 2 REFORM 2 REFORM 2 " * 2 + "WAR1")
    assert acts_since_roll(view, 0) == (1, 0, 0, 2)
    expected = s_(1.2) * s_(0.5) ** 2
    np.testing.assert_allclose(believed(view, war=1.2, keep=0.5)[0], expected / expected.sum())


@pytest.mark.parametrize("keep, low, high", [(1e6, 0.01**3, 1.0), (-1e6, 0.01, 0.01**2)])
def test_no_act_is_impossible(keep, low, high):
    """Two turns with the same die, then a war: what seems impossible keeps a likelihood of 0.01."""
    expected = np.repeat([low, high], 3)
    np.testing.assert_allclose(believed(seen("TREATY " * 8 + "WAR2"), war=1e6, keep=keep)[0], expected / expected.sum())


def test_a_roll_ends_the_evidence():
    assert acts_since_roll(seen("TREATY TREATY TREATY TREATY REFORM 3"), 0) == (0, 0, 0, 0)
    assert acts_since_roll(seen("TREATY TREATY TREATY TREATY TREATY"), 0) == (0, 0, 0, 2)


def test_more_than_the_history_holds_is_forgotten():
    n = GAME.rules.HISTORY
    assert acts_since_roll(seen("TREATY " * (n - 4)), 0)[3] == n // 4 - 1
    assert acts_since_roll(seen("TREATY " * 2 * n), 0)[3] == n // 4
