"""The board and the dice as tables, worked out from their geometry when this module is imported (R1 to R12, R20).

A square is the number 8 r + c of its row and column; a set of squares is an int64 mask whose bit is that number. A die is one of
48 orientations, 24 of the right-handed die and then 24 of the left-handed one, so that its number says everything about it.
Sides are numbered clockwise from South, directions clockwise from North: who sits on side i moves forward in direction i.
"""

from itertools import combinations

import numpy as np

from sims.jit import jit

SIZE = 8
SIDES, DIRECTIONS = "SWNE", "NESW"
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))  # row and column, by direction
VALUES = range(1, 7)
FACES = "TNESWB"  # top, the four sides, bottom: the order in which a die is written
TOP, NORTH_FACE = 0, 1  # the face that points in direction i is NORTH_FACE + i
TURNS = {  # which old face comes to each place
    "yaw_cw": "TWNESB",
    "yaw_ccw": "TESWNB",
    "tip_N": "STEBWN",
    "tip_S": "NBETWS",
    "tip_E": "WNTSBE",
    "tip_W": "ENBSTW",
}
N_TURNS = len(TURNS)
DIE = {"right": (1, 2, 4, 5, 3, 6), "left": (1, 2, 3, 5, 4, 6)}  # 1, 2, 3 counter-clockwise about their corner, or clockwise
HANDS = tuple(DIE)
NOWHERE = -1  # no square
FAR = 99  # more than any distance


# --- squares --------------------------------------------------------------------------------------------------------------


def is_square(row: int, column: int) -> bool:
    """Is this a square of the board, which has no corners (R1, R2)?"""
    on_grid = 0 <= row < SIZE and 0 <= column < SIZE
    return on_grid and not (row % (SIZE - 1) == 0 and column % (SIZE - 1) == 0)


def is_inner_square(row: int, column: int) -> bool:
    """Does a square of the board have no number (R3)?"""
    return 0 < row < SIZE - 1 and 0 < column < SIZE - 1


SQUARES = [SIZE * row + column for row in range(SIZE) for column in range(SIZE) if is_square(row, column)]
INNER_SQUARES = [square for square in SQUARES if is_inner_square(*divmod(square, SIZE))]
INNER = np.int64(sum(1 << square for square in INNER_SQUARES))
LOWEST = np.array([next((s for s in range(63) if (1 << s) % 67 == rest), 0) for rest in range(67)], np.int64)
"""The square of a mask with one square, by the mask's remainder: the powers of 2 up to 2^65 all differ modulo 67."""


@jit
def bit(square):
    """Return the set that holds this square alone."""
    return np.int64(1) << np.int64(square)


@jit
def lowest(squares):
    """Return the lowest square of a set that is not empty."""
    return LOWEST[(squares & -squares) % 67]


@jit
def size(squares):
    """Return the number of squares in a set."""
    n = 0
    while squares:
        squares &= squares - 1
        n += 1
    return n


# --- dice -----------------------------------------------------------------------------------------------------------------


def turned(die: tuple[int, ...], turn: str) -> tuple[int, ...]:
    """Return a die after one of the six quarter-turns (R12)."""
    return tuple(die[FACES.index(face)] for face in TURNS[turn])


def orientations(die: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return all orientations that quarter-turns make of a die, in order of their faces (R10)."""
    found, edge = {die}, [die]
    while edge:
        seen = edge.pop()
        fresh = {turned(seen, turn) for turn in TURNS} - found
        found |= fresh
        edge += fresh
    return sorted(found)


ORIENTATIONS = [*orientations(DIE["right"]), *orientations(DIE["left"])]
NUMBER = {die: number for number, die in enumerate(ORIENTATIONS)}
FACE = np.array(ORIENTATIONS, np.int8)  # (orientation, face)
TURNED = np.array([[NUMBER[turned(die, turn)] for turn in TURNS] for die in ORIENTATIONS], np.int8)  # (orientation, turn)


def with_top(hand: str, top: int) -> list[int]:
    """Return the four orientations with this top."""
    first = len(ORIENTATIONS) // 2 * HANDS.index(hand)
    return [first + i for i, die in enumerate(orientations(DIE[hand])) if die[TOP] == top]


def facing_forward(hand: str, top: int, side: int) -> int:
    """Return the orientation with this top whose smallest side face points forward (R16, `fixed`)."""
    return min(with_top(hand, top), key=lambda number: FACE[number, NORTH_FACE + side])


STANDING = np.array(
    [[with_top(hand, top) if top else [0] * 4 for top in range(7)] for hand in HANDS], np.int8
)  # (hand, top, yaw)
FIXED = np.array(
    [[[facing_forward(hand, top, side) if top else 0 for side in range(4)] for top in range(7)] for hand in HANDS], np.int8
)  # (hand, top, side)
TRIPLES = np.array(sorted(tuple(sorted(each, reverse=True)) for each in combinations(VALUES, 3)), np.int8)  # R14


# --- sides ----------------------------------------------------------------------------------------------------------------


def start_square(side: int, value: int) -> int:
    """Return the square with this number on a side: 1 to 6 from right to left of who sits there (R4)."""
    row, column = [(0, 7 - value), (value, 0), (7, value), (7 - value, 7)][side]
    return SIZE * row + column


START = np.array([[start_square(side, value) if value else NOWHERE for value in range(7)] for side in range(4)], np.int8)
GOAL = START[[2, 3, 0, 1]]  # (side, value): the same number on the side across (R5)


# --- moves ----------------------------------------------------------------------------------------------------------------


def landing(square: int, direction: int, distance: int) -> int:
    """Return the square so far away, or NOWHERE if that is off the board."""
    row, column = (at + distance * step for at, step in zip(divmod(square, SIZE), STEPS[direction], strict=True))
    return SIZE * row + column if is_square(row, column) else NOWHERE


def path(square: int, direction: int, distance: int) -> int:
    """Return the inner squares of a move: those passed over, and the last one (R25)."""
    passed = [landing(square, direction, steps) for steps in range(1, distance + 1)]
    return sum(1 << each for each in passed if each in INNER_SQUARES)


def _by_square(function, kind) -> np.ndarray:
    return np.array([[[function(square, i, n) for n in range(7)] for i in range(4)] for square in range(SIZE * SIZE)], kind)


LANDING = _by_square(landing, np.int8)  # (square, direction, distance)
PATH = _by_square(path, np.int64)
TARGET = np.stack([LANDING[:, direction, FACE[:, NORTH_FACE + direction]] for direction in range(4)], axis=2).copy()
"""Where a die goes (square, orientation, direction), or NOWHERE (R20, R21); a copy, as numba caches only contiguous tables."""


# --- distances ------------------------------------------------------------------------------------------------------------


def plans(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Return, by square and orientation, the fewest actions that lock a lone die, and the fewest tokens paid on so short a way.

    Other dice, tokens and free squares are left out of account.
    """
    actions = np.full((SIZE * SIZE, len(ORIENTATIONS)), FAR)
    tokens, dice = np.zeros_like(actions), np.arange(len(ORIENTATIONS))
    actions[GOAL[side, FACE[:, TOP]], dice] = 0
    for length in range(1, FAR):
        rest, cost = actions.copy(), tokens.copy()
        for direction in range(4):
            there = TARGET[..., direction]
            _improve(actions, tokens, length, (there >= 0) & (rest[there, dice] < length), cost[there, dice])
        for turn in range(N_TURNS):
            after = TURNED[:, turn]
            _improve(actions, tokens, length, rest[:, after] < length, cost[:, after] + FACE[:, TOP])
        if (actions[SQUARES] < FAR).all():
            break
    return actions.astype(np.int8), tokens.astype(np.int8)


def _improve(actions: np.ndarray, tokens: np.ndarray, length: int, is_way: np.ndarray, cost: np.ndarray) -> None:
    """Enter a way of this length where it is the first, or cheaper than another one as short."""
    is_better = is_way & ((actions > length) | ((actions == length) & (cost < tokens)))
    actions[is_better], tokens[is_better] = length, cost[is_better]


DISTANCE, SPENDING = (np.stack(tables) for tables in zip(*map(plans, range(4)), strict=True))
"""Fewest actions that lock a lone die, and the tokens that this takes (side, square, orientation)."""
