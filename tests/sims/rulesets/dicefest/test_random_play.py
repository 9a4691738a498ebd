"""Whole random games beside the slow and obvious reference: the same options, positions and ends; and what never changes."""

import importlib.util
import random
from pathlib import Path

import numpy as np
import pytest

from sims.jit import INTERPRETED
from sims.ruleset import OVER
from sims.rulesets import RULESETS
from sims.rulesets.dicefest import rules
from sims.rulesets.dicefest.geometry import DISTANCE, INNER, ORIENTATIONS, SIDES
from sims.trace import options

SPEC = importlib.util.spec_from_file_location("dicefest_reference", Path(__file__).with_name("reference.py"))
REFERENCE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(REFERENCE)
GAME = RULESETS["dicefest"]
VARIANTS = [
    "standard",
    "standard,collect=landing,hand=left",
    "standard,turns_per_action=3,deadlock=rank",
    "standard,lock_by_rotation=false,tie=first_locked",
    "standard,repetition=true,initial_yaw=fixed",
    "standard,sides=adjacent,first_player=first_seat,turns_per_action=2",
    "standard,initial_yaw=chosen,first_player=oldest,repetition=true,deadlock=rank,turns_per_action=2,lock_by_rotation=false",
]
SETUP = (rules.TRIPLE, rules.YAW, rules.FIRST, rules.NAME_FIRST, rules.FACE_DICE)


def set_up(variant, seats, rng):
    state = GAME.new_state(seats, variant)
    while state.phase in SETUP:
        GAME.advance(state, rng.choice([*options(GAME, state).values()]))
    return state


def rest_of(state):
    """Actions that the mover's dice are away from their goals, each on its own."""
    seat = state.turn
    return sum(int(DISTANCE[state.side[seat], state.square[seat, k], state.orient[seat, k]]) for k in range(3))


def sensible(state, rng):
    """A word: the best of a few for getting on, so that games come to an end."""
    words = options(GAME, state)
    if state.phase != rules.ACT:
        return rng.choice([*words])

    def rest(word):
        after = GAME.after(state, words[word])
        after.turn = state.turn
        return rest_of(after)

    return min(rng.sample([*words], min(4, len(words))), key=rest)


def same_start(state, seats, variant):
    """The reference at the start of the game; a game whose first turns leave no choice starts a little later."""
    values = GAME.variant(variant).values
    sides = [SIDES[state.side[seat]] for seat in range(seats)]
    dice = [
        [[ORIENTATIONS[state.orient[seat, k]], divmod(int(state.square[seat, k]), 8)] for k in range(3)] for seat in range(seats)
    ]
    return REFERENCE.Reference(sides, dice, int(state.first), values)


def winners(state, seats):
    shares = np.zeros(seats)
    rules.payoffs(state, shares)
    return [seat for seat in range(seats) if shares[seat]]


def compare(state, reference, seats):
    assert set(options(GAME, state)) == reference.words()
    squares = [[divmod(int(square), 8) for square in state.square[seat]] for seat in range(seats)]
    assert squares == [[square for _, square in dice] for dice in reference.dice]
    assert [[ORIENTATIONS[o] for o in state.orient[seat]] for seat in range(seats)] == [
        [faces for faces, _ in dice] for dice in reference.dice
    ]
    assert {divmod(i, 8) for i in range(64) if state.tokens >> i & 1} == reference.tokens
    assert state.reserve[:seats].tolist() == reference.reserve
    assert state.locked[:seats].astype(bool).tolist() == reference.locked
    if reference.result is None:
        assert state.turn == reference.turn
    else:
        kind, expected = reference.result
        assert winners(state, seats) == expected
        counted = {"total": state.total, "mini": state.mini, "deadlock": state.deadlocks, "repetition": state.repetitions}
        assert {name for name, each in counted.items() if each.any()} == {kind}
    return reference.result


def play_both(variant, seats, seed, limit):
    rng = random.Random(seed)
    state = set_up(variant, seats, rng)
    reference = same_start(state, seats, variant)
    for _ in range(limit):
        if compare(state, reference, seats):
            break
        word = sensible(state, rng)
        GAME.advance(state, options(GAME, state)[word])
        reference.play(word)
    return reference.result


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_same_games_as_the_reference(variant, seats):
    for seed in range(2):
        play_both(variant, seats, seed, limit=30 if INTERPRETED else 60)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_same_games_to_the_end(variant):
    ends = [play_both(variant, 2 + seed % 3, seed, limit=600) for seed in range(6)]
    assert sum(end is not None for end in ends) > 2


def test_what_never_changes():
    rng = random.Random(4)
    for seats in (2, 3, 4):
        state = set_up("standard", seats, rng)
        for _ in range(200):
            if GAME.rules.actor(state) == OVER:
                break
            free = int(INNER) & ~int(state.tokens) & ~int(state.occupied)
            on_inner = (int(INNER) & int(state.occupied)).bit_count()
            assert int(state.tokens).bit_count() + state.reserve.sum() == 36
            assert state.n_free == free.bit_count() == state.reserve.sum() - on_inner
            assert int(state.occupied).bit_count() == 3 * seats
            assert not int(state.tokens) & int(state.occupied)
            assert (state.collected - state.paid == state.reserve).all()
            if state.phase == rules.ACT:
                for seat in range(seats):
                    reached = [DISTANCE[state.side[seat], state.square[seat, k], state.orient[seat, k]] == 0 for k in range(3)]
                    assert state.locked[seat].astype(bool).tolist() == reached
                    assert state.score[seat] == sum(reached)
            GAME.advance(state, rng.choice(GAME.legal(state)))
