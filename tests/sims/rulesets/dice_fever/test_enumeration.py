"""Facts by complete enumeration through the rules: every turn of a variant, every duplicate, every throw followed by STOP."""

from fractions import Fraction

import numpy as np
import pytest

from sims import RULESETS
from sims.jit import INTERPRETED
from sims.ruleset import CHANCE
from sims.rulesets.dice_fever import rules
from sims.rulesets.dice_fever.policies import gain_of_throw
from sims.trace import follow

FEVER = RULESETS["dice-fever"]
FAR = "target=1000000"


after = FEVER.after


def position(track, shields, face, changes, variant):
    """Seat 0 at STOP or throw with this track, these shields, this BONUS face and other fields changed."""
    state = follow(FEVER, FEVER.new_state(2, variant), "P0" if variant != "plain" else "")
    state.phase, state.track, state.shields, state.bonus_face = rules.DECIDE, track, shields, face
    for name, value in changes.items():
        state[name] = value
    return state


def followers(state):
    """Every position one step on."""
    chance = rules.actor(state) == CHANCE
    return (after(state, code) for code in (range(rules.chance(state)) if chance else FEVER.legal(state)))


def all_turn_points(state):
    """Points of every way in which the turn of seat 0 can go on."""
    points, seen, stack = set(), set(), [state]
    while stack:
        for state in followers(stack.pop()):
            if state.turn != 0:
                points.add(int(state.points[0]))
                continue
            if state.phase == rules.DECIDE:
                state.fresh = state.first = 0  # the throw is over: how it went no longer matters
            if (key := state.tobytes()) not in seen:
                seen.add(key)
                stack.append(state)
    return points


@pytest.mark.skipif(INTERPRETED, reason="tens of thousands of positions")
@pytest.mark.parametrize("faces", ["X2", "SIX"])
def test_largest_single_turns_of_all_turns(faces):
    """Duel and Relance make no larger turns: they change nothing but scores and tokens."""
    state = FEVER.new_state(2, f"standard,{FAR},parade_cards=0,bonus_faces=PLUS5/DOUBLE/X3/SUITE,risk_faces={faces}")
    largest = sorted(all_turn_points(follow(FEVER, state, "P0R")), reverse=True)
    assert largest[0] == {"X2": 76, "SIX": 41}[faces]
    if faces == "X2":
        assert largest[:4] == [76, 72, 68, 64]


@pytest.mark.parametrize("m", range(1, 6))
def test_chance_of_a_duplicate_is_m_sixths(m):
    state = follow(FEVER, FEVER.new_state(2, "plain"), ["6", "1", "5", "2", "4"][:m])
    thrown = after(state, rules.THROW)
    assert Fraction(sum(int(after(thrown, outcome).outs[0]) for outcome in range(6)), 6) == Fraction(m, 6)


def test_plain_fever_is_31():
    assert follow(FEVER, FEVER.new_state(2, "plain"), "6 1 5 2 4 3").points[0] == 31


# --- one throw, then STOP -------------------------------------------------------------------------------------------------


def statuses(variant):
    """BONUS statuses with the number of values on the track that they need: face, other fields, least values."""
    settings = FEVER.variant(variant).values
    if not settings["bonus_die"]:
        return [(rules.NO_FACE, {}, 1)]
    least = settings["bonus_at"]
    return [
        (rules.NO_FACE, {}, 0),  # only below `least`
        (rules.NO_FACE, {"six": 1}, 0 if settings["six_partial_bonus"] else 1),
        (rules.PLUS5, {"extra": 5}, least),
        (rules.SUITE, {"suite": 1}, least),
        (rules.DOUBLE, {"double": 1}, least),
        (rules.DOUBLE, {}, least),
        (rules.X3, {"next3": 1}, least),
        (rules.X3, {}, least),
        *((rules.X3, {"tripled_value": value}, least + 1) for value in range(1, 7)),
        (rules.X3, {"tripled_value": 6, "mult": 2}, least + 1),
    ]


def positions(variant):
    """All 62 tracks, shields 0 to 3, all BONUS statuses; far from the target, or so near that the needed 6 matters."""
    values = FEVER.variant(variant).values
    for face, changes, least in statuses(variant):
        for track in range(1, rules.FULL):
            count, tripled = int(rules.COUNT[track]), changes.get("tripled_value", 0)
            fits = count >= least if least else count < values["bonus_at"]
            if not fits or (tripled and not track & rules.bit(tripled)):
                continue
            for shields in range(4):
                state = position(track, shields, face, changes, variant)
                state.score[0] = values["target"] - 15 if shields == 1 else 0
                yield state


def mean_banked(state, known):
    """Mean points that seat 0 gains when every further decision is STOP."""
    if state.turn != 0:
        return float(state.points[0])
    key = state.tobytes()
    if key not in known:
        if rules.actor(state) == CHANCE:
            known[key] = np.mean([mean_banked(after(state, outcome), known) for outcome in range(rules.chance(state))])
        else:
            known[key] = mean_banked(after(state, rules.STOP), known)
    return known[key]


@pytest.mark.skipif(INTERPRETED, reason="hundreds of thousands of steps")
@pytest.mark.parametrize(
    "variant",
    [
        "standard",
        "plain",
        "even_faces,suite_check=immediate,double_dup_parades=2,six_partial_bonus=false",
        "standard,bonus_at=5,suite_len=3,suite_value=5,fever_bonus=0",
        "standard,double_forced=true",
    ],
)
def test_gain_of_throw_is_the_mean_over_all_outcomes(variant):
    known = {}
    wrong = [
        (FEVER.render(state), float(gain_of_throw(state)), exact)
        for state in positions(variant)
        if abs(gain_of_throw(state) - (exact := exact_gain(state, known))) > 1e-9
    ]
    assert wrong[:5] == []


def exact_gain(state, known):
    return mean_banked(after(state, rules.THROW), known) - mean_banked(after(state, rules.STOP), known)
