"""The exact odds of a turn against a small independent recursion, hand-checked positions, and simulation."""

from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.ruleset import CHANCE
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever import rules
from sims.rulesets.dice_fever.odds import STATUSES, Turn, points_rule, sample_table
from sims.trace import follow

GAME = RULESETS["dice-fever"]


@cache
def best(track):
    """Value of a plain track under best play for points."""
    if len(track) == 6:
        return Fraction(31)
    return max(Fraction(sum(track)), throw(track))


@cache
def throw(track):
    return sum((best(track | {v}) for v in range(1, 7) if v not in track), Fraction(0)) / 6


def test_plain_odds_equal_an_independent_recursion():
    table = Turn(GAME, "plain").table()
    assert len(table) == 63
    for row in table[table.dice < 6].itertuples():
        track = frozenset(map(int, row.track))
        assert row.stop == sum(track)
        assert row.p_out == pytest.approx(len(track) / 6)
        assert row.throw == pytest.approx(float(throw(track)))


@pytest.fixture(scope="module")
def standard():
    turn = Turn(GAME, "standard")
    return turn, turn.table()


def test_table_covers_every_track_and_shield(standard):
    _, table = standard
    assert table.groupby(["track", "shields"]).ngroups == 63 * 4


def test_hand_checked_positions(standard):
    turn, _ = standard
    five = turn.odds(turn.position((1, 2, 3, 4, 5), bonus="plus5"))
    assert (five.p_out, five.stop, five.throw) == pytest.approx((5 / 6, 20, 36 / 6))
    double = turn.odds(turn.position((1, 2, 3, 4), bonus="double"))
    assert double.p_out == pytest.approx(4 / 9)
    x3 = turn.odds(turn.position((1, 2, 3, 4), bonus="x3"))
    assert x3.throw == pytest.approx((25 + 28) / 6)
    assert turn.odds(turn.position((1, 2), shields=1)).p_out == 0
    doubled = turn.odds(turn.position((1, 2, 3, 4), bonus="plus5", double_score=True))
    assert doubled.stop == 25


def test_the_rule_is_best_play_in_every_position(standard):
    threshold, wrong = points_rule(standard[1])
    assert threshold == 7
    assert wrong.empty


def test_more_shields_never_hurt(standard):
    means = [standard[0].mean_of_best_play(shields) for shields in range(4)]
    assert means == sorted(means)


@pytest.mark.skipif(INTERPRETED, reason="millions of throws")
def test_simulation_agrees(standard):
    checked = sample_table(*standard, n=5_000, seed=1)
    assert np.abs(checked[["z_out", "z_throw"]]).max().max() < 5
    assert (checked.z_throw != 0).sum() > 100


@pytest.mark.parametrize(
    "position",
    [
        {"track": ()},
        {"track": (1, 1)},
        {"track": (0,)},
        {"track": (1,), "shields": 4},
        {"track": (1,), "bonus": "plus5"},
        {"track": (1, 2, 3, 4)},
        {"track": (1, 2, 3, 4), "bonus": "x3-used", "tripled": 4},
        {"track": (1, 2, 3, 4, 5), "bonus": "x3", "tripled": 5},
    ],
    ids=str,
)
def test_impossible_positions_are_refused(position, standard):
    with pytest.raises(InputError):
        standard[0].position(**position)


# --- the positions that a turn can come to --------------------------------------------------------------------------------

PHASE, FRESH, SCORE = (rules.STATE.fields[name][1] for name in ("phase", "fresh", "score"))


def first_positions(variant):
    """The start of a turn of seat 0: with every card, and where it can be with a Relance token of seat 1 against it."""
    variant = GAME.variant(f"{variant},target=1000000")
    states = [GAME.new_state(2, variant)]
    no_more = "P0" if variant.values["parade_after_risk"] else ""
    with suppress(InputError):
        states.append(follow(GAME, GAME.new_state(2, variant), f"P0 1 1 P0R RELANCE {no_more} 1 1"))
    return states


def described(state, status, tripled):
    return int(state.track), int(state.shields), status, int(tripled), state.mult == 2


def status_of(state):
    if state.bonus_face == rules.NO_FACE:
        return "none"
    face = rules.BONUS_FACES[state.bonus_face].lower()
    return f"{face}-used" if (face == "double" and not state.double) or (face == "x3" and not state.next3) else face


def dice_fever(state, after, code):
    """The six values that this outcome or action completes; a tripled one shows in the points."""
    mult, points = int(state.mult), int(after.points[0])
    if state.phase == rules.BONUS_DIE:
        status = rules.BONUS_FACES[state.variant.bonus_faces[code]].lower()
    else:
        status = status_of(state).removesuffix("-used")
        status += "-used" if status in ("double", "x3") else ""
    tripled = ((points - 10) // mult - 21) // 2 if status == "x3-used" else 0
    return rules.FULL, int(state.shields), status, tripled, mult == 2


def reached(variant):
    """Every position of a turn in which the player decides or which is a Dice Fever, through the rules functions."""
    found, seen, todo = set(), set(), list(enumerate(first_positions(variant)))
    while todo:
        start, state = todo.pop()
        if state.phase == rules.DECIDE:
            found.add(described(state, status_of(state), state.tripled_value))
        for code in range(rules.chance(state)) if rules.actor(state) == CHANCE else GAME.legal(state):
            after = GAME.after(state, code)
            if after.turn != 0:
                if after.fevers[0]:
                    found.add(dice_fever(state, after, code))
                continue
            end = FRESH if after.phase == rules.DECIDE else SCORE  # what the last throw was no longer matters
            key = start, after.tobytes()[PHASE:end], int(after.parade[0]), int(after.relances[1])
            if key not in seen:
                seen.add(key)
                todo.append((start, after))
    return found


def accepted(variant):
    turn, found = Turn(GAME, variant), set()
    for mask in range(1, 64):
        track = tuple(value for value in range(1, 7) if mask >> (value - 1) & 1)
        for shields, status, tripled, doubled in product(range(5), STATUSES, range(7), (False, True)):
            with suppress(InputError):
                state = turn.position(track, shields, status, tripled, doubled)
                found.add(described(state, status, tripled))
    return found


@pytest.mark.parametrize(
    "variant",
    [
        "plain",
        "standard,parade_cards=3,risk_cards=0",
        "standard,parade_cards=1,max_risk_per_turn=0",
        "standard,parade_cards=1,bonus_faces=X3/SUITE,risk_faces=SIX",
        "standard,parade_cards=1,relance_mode=forced",
        "standard,parade_cards=1,bonus_at=6",
        *(
            pytest.param(f"standard,{changes}", marks=pytest.mark.slow)
            for changes in (
                "parade_cards=1,double_forced=true",
                "parade_cards=1,bonus_at=3,relance_mode=forced",
                "parade_cards=1,parade_after_risk=true,relance_keeps_x3=true",
                "parade_cards=2,bonus_at=5,double_dup_parades=2",
                "parade_cards=2,double_dup_parades=2,six_partial_bonus=false",
            )
        ),
    ],
)
def test_a_position_is_accepted_if_and_only_if_a_turn_comes_there(variant):
    assert accepted(variant) == reached(variant)


def test_without_the_bonus_throw_of_a_six_dice_turn_it_comes_with_the_dice_fever_alone():
    """Five values after six dice at once, no BONUS die: a sixth value is 31 points and the BONUS face."""
    turn = Turn(GAME, "standard,six_partial_bonus=false")
    odds = turn.odds(turn.position((1, 2, 3, 4, 5)))
    assert odds.throw == pytest.approx((31 + (2 * 5 + 10) / 6) / 6)
    assert turn.odds(turn.position((1, 2, 3, 4), shields=1)).stop == 10
