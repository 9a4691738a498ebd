"""Looking ahead against minimax without cuts: the source with a placement that is not drawn, and the compiled search itself."""

import random
from types import FunctionType

import numpy as np
import pytest

from sims.jit import INTERPRETED
from sims.ruleset import CHANCE, OVER
from sims.rulesets import RULESETS
from sims.rulesets.dicefest import rules, search
from sims.rulesets.dicefest.boards import position
from sims.rulesets.dicefest.geometry import DISTANCE, SPENDING

GAME = RULESETS["dicefest"]
TOKENS = 0.1
KERNELS = ("estimate", "value_of_end", "open_node", "shuffle", "try_out", "include", "search")


def lowest_square(state, placement, rng):
    return GAME.legal(state)[0]


def source_with_lowest_square():
    """The search interpreted, placing every token on the lowest free square."""
    scope = {**vars(search), "place_by_rule": lowest_square}
    for name in KERNELS:
        function = getattr(search, name)
        scope[name] = FunctionType(getattr(function, "py_func", function).__code__, scope)
    return scope["search"]


def standing(state, seat):
    if state.score[seat] == 3:
        return -rules.STUCK - TOKENS * state.reserve[seat]
    dice = [(state.side[seat], state.square[seat, k], state.orient[seat, k]) for k in range(3)]
    to_pay = sum(int(SPENDING[die]) for die in dice)
    return -sum(int(DISTANCE[die]) for die in dice) - TOKENS * abs(int(state.reserve[seat]) - to_pay)


def minimax(state, me, depth, max_depth):
    """The value of a position, and the values of its actions."""
    if rules.actor(state) == OVER:
        shares = np.zeros(int(state.seats))
        rules.payoffs(state, shares)
        return (search.WIN - depth) * (2 * shares[me] - 1), {}
    if depth == max_depth:
        others = [standing(state, seat) for seat in range(state.seats) if seat != me]
        return standing(state, me) - max(others), {}
    values = {}
    for action in GAME.legal(state):
        after = GAME.after(state, action)
        while after.phase == rules.PLACE:
            GAME.advance(after, lowest_square(after, 0, None))
        values[action] = minimax(after, me, depth + 1, max_depth)[0]
    best = max if rules.actor(state) == me else min
    return best(values.values()), values


def midgame(seats, seed, plies, variant="standard"):
    rng, state = random.Random(seed), GAME.new_state(seats, variant)
    while rules.actor(state) != OVER and (plies > 0 or state.phase != rules.ACT):
        is_chance = rules.actor(state) == CHANCE
        GAME.advance(state, rng.choice(range(rules.chance(state)) if is_chance else GAME.legal(state)))
        plies -= not is_chance
    return state


def answer(run, state, depth):
    room, rng = search.new_room(depth, int(state.seats)), np.array([5, 6, 7, 1], np.uint64)
    room.states[0] = np.frombuffer(state.tobytes(), state.dtype)[0]
    with np.errstate(over="ignore"):
        value = run(room, depth, TOKENS, 0, rng)
    return value, int(room.actions[0, room.best[0]])


def check(run, state, depth):
    expected, values = minimax(state, int(rules.actor(state)), 0, depth)
    value, action = answer(run, state, depth)
    assert value == pytest.approx(expected, abs=1e-9)
    assert values[action] == pytest.approx(expected, abs=1e-9)
    return values


@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_search_against_minimax(seats, depth):
    run, n_turns = source_with_lowest_square(), 0
    for seed in range(1 if INTERPRETED else 3 if depth == 3 else 6):
        values = check(run, midgame(seats, seed, 60 + 20 * seed), depth)
        n_turns += sum(action % rules.PER_DIE >= rules.FIRST_TURN for action in values)
    assert n_turns or INTERPRETED


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_compiled_search_against_minimax(seats, depth):
    """At the start nobody can pay for a turn; where a move takes one token only, not for some while either."""
    for seed in range(1 if INTERPRETED else 5):
        check(search.search, midgame(seats, seed, 0, "standard,collect=landing"), depth)


def test_search_sees_the_win_and_the_loss():
    """South wins with aN6, but at 1 the same move leaves it stuck."""
    south, north = "4/6/5/1/2/3@14 6/2/3/5/4/1@76 1/2/4/5/3/6@71", "6/3/5/4/2/1@75 4/6/5/1/2/3@73 2/1/3/6/4/5@72"
    won = position(GAME, [south, north], "24 34 44 54 64", [0, 6])
    assert answer(search.search, won, 2)[0] == search.WIN - 1
    assert GAME.describe(won, answer(search.search, won, 2)[1]) == "aN6"
    stuck = position(GAME, [south, north], "24 34 44 54", [0, 5])
    assert GAME.describe(stuck, answer(search.search, stuck, 1)[1]) != "aN6"


def test_equal_actions_are_found_in_any_order():
    state, found = midgame(2, 5, 0), set()
    room, rng = search.new_room(1, 2), np.array([5, 6, 7, 1], np.uint64)
    values = minimax(state, int(rules.actor(state)), 0, 1)[1]
    best = {action for action, value in values.items() if value == max(values.values())}
    assert len(best) == 2
    for _ in range(60):
        room.states[0] = np.frombuffer(state.tobytes(), state.dtype)[0]
        with np.errstate(over="ignore"):
            search.search(room, 1, TOKENS, 0, rng)
        found.add(int(room.actions[0, room.best[0]]))
    assert found == best
