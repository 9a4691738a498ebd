"""Exact facts of Dice Fever that need no assumption about faces, by exact recursion through the rules functions."""

from fractions import Fraction
from itertools import permutations, product

import pytest

from sims.rulesets import RULESETS
from sims.rulesets.dice_fever import rules
from sims.rulesets.dice_fever.policies import gain_of_throw
from sims.trace import follow

GAME = RULESETS["dice-fever"]
FAR = "target=1000000"


def apply(state, code):
    after = state.copy()
    (rules.apply_chance if rules.actor(state) == -1 else rules.apply_action)(after, code)
    return after


def chance_of(state, happened, known=None):
    """Exact probability that `happened` becomes true when the player always throws."""
    known = {} if known is None else known
    if happened(state):
        return Fraction(1)
    if state.turn != 0:
        return Fraction(0)
    key = state.tobytes()
    if key not in known:
        if rules.actor(state) == -1:
            m = rules.chance(state)
            known[key] = sum(chance_of(apply(state, outcome), happened, known) for outcome in range(m)) / m
        else:
            known[key] = chance_of(apply(state, rules.THROW), happened, known)
    return known[key]


def start(words, variant=f"standard,{FAR}"):
    return follow(GAME, GAME.new_state(2, variant), words)


NEVER_STOPPING = {
    0: ("5/18", "5/324"),
    1: ("5/9", "35/648"),
    2: ("485/648", "665/5832"),
    3: ("70/81", "245/1296"),
}


@pytest.mark.parametrize("parades", NEVER_STOPPING)
def test_never_stopping(parades):
    state = start(f"P{parades}", f"standard,bonus_die=false,{FAR}")
    four, six = map(Fraction, NEVER_STOPPING[parades])
    assert chance_of(state, lambda s: s.turn == 0 and rules.COUNT[s.track] >= 4) == four
    assert chance_of(state, lambda s: s.fevers[0] > 0) == six


SIX_AT_ONCE = {1: "1/7776", 2: "155/7776", 3: "25/108", 4: "325/648", 5: "25/108", 6: "5/324"}


@pytest.mark.parametrize("d", SIX_AT_ONCE)
def test_six_at_once(d):
    """With nine PARADE cards no surplus is OUT, so the track shows how many values were thrown."""
    state = start("P9R SIX", f"standard,parade_cards=9,bonus_die=false,{FAR}")
    assert _lays(state, d, {}) == Fraction(SIX_AT_ONCE[d])


def _lays(state, d, known):
    """Probability that the dice in the air leave d values on the track."""
    if state.turn != 0:
        return Fraction(int(d == 6))
    if rules.actor(state) != -1:
        return Fraction(int(rules.COUNT[state.track] == d))
    key = state.tobytes()
    if key not in known:
        known[key] = sum(_lays(apply(state, outcome), d, known) for outcome in range(6)) / 6
    return known[key]


@pytest.mark.parametrize("parades, survival", list(enumerate(["5/324", "20/81", "485/648", "635/648"])))
def test_six_at_once_not_out(parades, survival):
    state = start(f"P{parades}R SIX", f"standard,bonus_die=false,{FAR}")
    survived = chance_of(state, lambda s: (s.phase == rules.DECIDE and s.turn == 0) or s.fevers[0] > 0)
    assert survived == Fraction(survival)


def test_double_on_four_values():
    state = start("P0 1 2 3 4 DOUBLE THROW")
    pairs = [apply(apply(state, one), two) for one, two in product(range(6), repeat=2)]
    assert Fraction(sum(s.outs[0] for s in pairs), 36) == Fraction(4, 9)
    assert Fraction(sum(s.fevers[0] for s in pairs), 36) == Fraction(1, 18)


def test_largest_single_turns():
    totals = {score for order in permutations("123456") for score in _scores_of(order)}
    assert sorted(totals, reverse=True)[:4] == [76, 72, 68, 64]


def _scores_of(order):
    for face in ("PLUS5", "X3", "SUITE"):
        words = ["P0R", "X2", *order[:4], face, *order[4:]]
        yield int(follow(GAME, GAME.new_state(2, f"standard,{FAR}"), words).score[0])


def test_perfect_turn():
    assert rules.RISK_FACES.index("X2") in GAME.new_state(2).variant.risk_faces[:6]
    after_x2 = chance_of(start("P0R X2"), lambda s: s.score[0] == 76)  # the only face with which 76 is possible
    assert Fraction(2, 6) * after_x2 == Fraction(5, 34992)


def test_sudden_death_first_thrower_loses():
    state = GAME.new_state(2)
    state.score[:2] = 72
    follow(GAME, state, "P0 6 STOP P0 6 STOP")
    assert _loses(state) == Fraction(155, 324)


def _loses(state):
    if rules.actor(state) == -2:
        return Fraction(int(state.contender[0] == 0))
    return sum(_loses(apply(state, outcome)) for outcome in range(6)) / 6


@pytest.mark.parametrize(
    "variant", ["standard", "plain", "even_faces,double_dup_parades=2", "standard,suite_check=immediate,six_partial_bonus=false"]
)
def test_gain_of_throw_equals_brute_force(variant):
    """The closed form against every outcome of one throw followed by STOP, at scores far from and near the target."""
    base = GAME.new_state(2, variant)
    has_bonus = base.variant.bonus_die
    for track in range(1, rules.FULL):
        for shields, score, status in product((0, 1, 2), (0, 66), range(5)):
            if (status > 0) != (has_bonus and rules.COUNT[track] >= 4):
                continue
            state = base.copy()
            state.phase, state.track, state.shields, state.score[0] = rules.DECIDE, track, shields, score
            state.six = status == 4 and shields == 2
            if status:
                face = status - 1
                state.bonus_face, state.extra = face, 5 if face == rules.PLUS5 else 0
                state.double, state.next3, state.suite = face == rules.DOUBLE, face == rules.X3, face == rules.SUITE
            brute = _mean_after(apply(state, rules.THROW), score) - (apply(state, rules.STOP).score[0] - score)
            assert gain_of_throw(state) == pytest.approx(brute, abs=1e-12)


def _mean_after(state, score):
    if state.turn != 0:
        return int(state.score[0]) - score
    if rules.actor(state) != -1:
        return _mean_after(apply(state, rules.STOP), score)
    m = rules.chance(state)
    return sum(_mean_after(apply(state, outcome), score) for outcome in range(m)) / m
