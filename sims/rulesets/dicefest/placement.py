"""Where to put the tokens that a quarter-turn costs: four rules, the same for every policy."""

import numpy as np

from sims.jit import jit
from sims.rulesets.dicefest.geometry import DISTANCE, FACE, NORTH_FACE, PATH, SIZE, TARGET, bit, lowest, size
from sims.rulesets.dicefest.rules import DICE, SQUARE_0, free_squares, is_free_to_enter
from sims.streams import draw

PLACEMENTS = ("uniform", "clean", "trap", "spread")
UNIFORM, CLEAN, TRAP, SPREAD = range(len(PLACEMENTS))


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


@jit
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
