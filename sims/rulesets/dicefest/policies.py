"""Policies for Dicefest: random play, a racer, two that mind their tokens, and one that looks ahead.

All but ``uniform`` and ``lookahead`` give each action a worth and take the best, any of equal ones with the same chance. Tokens
are placed by one of four rules, the same for all. ``lookahead`` is in ``search.py``.
"""

import numpy as np

from sims.jit import cold, jit
from sims.policy import policy
from sims.rulesets.dicefest.geometry import (
    DISTANCE,
    FACE,
    GOAL,
    NORTH_FACE,
    PATH,
    SIZE,
    TARGET,
    TOP,
    TURNED,
    bit,
    lowest,
    size,
)
from sims.rulesets.dicefest.rules import (
    DICE,
    DONE,
    FIRST_TURN,
    PER_DIE,
    PLACE,
    SQUARE_0,
    free_squares,
    is_free_to_enter,
    tokens_on_way,
)
from sims.streams import draw

PLACEMENTS = ("uniform", "clean", "trap", "spread")
UNIFORM, CLEAN, TRAP, SPREAD = range(len(PLACEMENTS))
DECISIVE = 1_000.0  # more than anything else that an action may be worth


# --- placing tokens ---------------------------------------------------------------------------------------------------------


@jit
def lines(view, seat):
    """Return the inner squares that dice of a seat could take tokens from with their next move."""
    found = np.int64(0)
    for k in range(DICE):
        square, orient = view.square[seat, k], view.orient[seat, k]
        for direction in range(4):
            if not view.locked[seat, k] and is_free_to_enter(view, TARGET[square, orient, direction]):
                found |= PATH[square, direction, FACE[orient, NORTH_FACE + direction]]
    return found


@jit
def rest_of(view, seat):
    """Return how many actions the dice of a seat are away from their goals, each on its own."""
    rest = 0
    for k in range(DICE):
        rest += DISTANCE[view.side[seat], view.square[seat, k], view.orient[seat, k]]
    return rest


@jit
def leader(view):
    """Return the other seat that is closest to its goals, of those that still play; the next one on ties."""
    best, best_rest = view.turn, 100
    for places in range(1, view.seats):
        seat = (view.turn + places) % view.seats
        if view.score[seat] < DICE and rest_of(view, seat) < best_rest:
            best, best_rest = seat, rest_of(view, seat)
    return best


@jit
def loneliest(view, squares):
    """Return those of the squares with the fewest tokens beside them."""
    found, fewest = np.int64(0), 5
    while squares:
        square = lowest(squares)
        squares &= squares - 1
        beside = bit(square - 1) | bit(square + 1) | bit(square - SIZE) | bit(square + SIZE)
        n = size(beside & view.tokens)
        if n < fewest:
            found, fewest = np.int64(0), n
        if n == fewest:
            found |= bit(square)
    return found


@jit
def any_of(squares, rng):
    """Return one of the squares, each with the same chance."""
    for _ in range(draw(rng, size(squares))):
        squares &= squares - 1
    return lowest(squares)


@cold
def place_by_rule(view, placement, rng):
    """Place a token on a square that the rule prefers, on any free one if it prefers none."""
    free = free_squares(view)
    preferred = free
    if placement == CLEAN:
        preferred = free & ~lines(view, view.turn)
    elif placement == TRAP:
        preferred = free & lines(view, leader(view))
    elif placement == SPREAD:
        preferred = loneliest(view, free)
    return SQUARE_0 + any_of(preferred if preferred else free, rng)


# --- what an action is worth ------------------------------------------------------------------------------------------------


@jit
def outcome_of(view, action):
    """Return where a move or quarter-turn leaves its die, how it then faces, and what it adds to the reserve."""
    k, what = action // PER_DIE, action % PER_DIE
    square, orient = view.square[view.turn, k], view.orient[view.turn, k]
    if what >= FIRST_TURN:
        return np.int64(square), np.int64(TURNED[orient, what - FIRST_TURN]), -np.int64(FACE[orient, TOP])
    return np.int64(TARGET[square, orient, what]), np.int64(orient), np.int64(size(tokens_on_way(view, k, what)))


@jit
def contested(view):
    """Return the squares that are goals of dice of others, as these show now."""
    found = np.int64(0)
    for seat in range(view.seats):
        for k in range(DICE):
            if seat != view.turn and not view.locked[seat, k]:
                found |= bit(GOAL[view.side[seat], FACE[view.orient[seat, k], TOP]])
    return found


@jit
def would_win(view, reserve):
    """Does locking the last die with this reserve win alone: a total victory, or at once a mini victory?"""
    if reserve == 0:
        return True
    for seat in range(view.seats):
        if seat != view.turn and (view.score[seat] < DICE or view.reserve[seat] <= reserve):
            return False
    return True


@jit
def worth(view, action, tokens, block, goals):
    """Return what an action is worth: steps towards the goal, tokens and blocked goals of others with their weights.

    With a weight of tokens (not 0), the last die is locked if that wins, and not otherwise.
    """
    if action >= DONE:
        return 0.0
    seat, k = view.turn, action // PER_DIE
    here, side = view.square[seat, k], view.side[seat]
    square, orient, gained = outcome_of(view, action)
    rest = DISTANCE[side, square, orient]
    value = float(DISTANCE[side, here, view.orient[seat, k]] - rest)
    if tokens == 0:
        return value
    value += tokens * gained + block * ((goals >> square & 1) - (goals >> here & 1))
    if rest == 0 and view.score[seat] == DICE - 1:
        value += DECISIVE if would_win(view, view.reserve[seat] + gained) else -DECISIVE
    return value


@cold
def best_action(view, actions, n, rng, tokens, block):
    """Return an action that is worth most, any of equal ones with the same chance."""
    goals = contested(view) if block != 0 else np.int64(0)
    best, best_worth, n_equal = actions[0], -np.inf, 0
    for i in range(n):
        value = worth(view, actions[i], tokens, block, goals)
        if value > best_worth:
            best, best_worth, n_equal = actions[i], value, 1
        elif value == best_worth:
            n_equal += 1
            if draw(rng, n_equal) == 0:
                best = actions[i]
    return best


# --- the policies -----------------------------------------------------------------------------------------------------------


@policy(placement=PLACEMENTS)
def uniform(view, actions, n, params, rng):
    """Choose any legal action with the same probability; place by the rule."""
    if view.phase == PLACE and params[0] != UNIFORM:
        return place_by_rule(view, params[0], rng)
    return actions[draw(rng, n)]


@policy(placement=PLACEMENTS)
def racer(view, actions, n, params, rng):
    """Take the action that brings its die closest to the goal, without a thought of tokens."""
    if view.phase == PLACE:
        return place_by_rule(view, params[0], rng)
    return best_action(view, actions, n, rng, 0.0, 0.0)


@policy(tokens=0.25, placement=PLACEMENTS)
def thrifty(view, actions, n, params, rng):
    """Race, a token gained counting `tokens` steps; never lock the last die with tokens left, unless that wins."""
    if view.phase == PLACE:
        return place_by_rule(view, params[1], rng)
    return best_action(view, actions, n, rng, params[0], 0.0)


@policy(block=1, tokens=0.25, placement=PLACEMENTS)
def blocker(view, actions, n, params, rng):
    """Play as ``thrifty``, a die on the goal of another seat's die counting `block` steps."""
    if view.phase == PLACE:
        return place_by_rule(view, params[2], rng)
    return best_action(view, actions, n, rng, params[1], params[0])
