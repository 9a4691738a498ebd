"""Positions as text, both ways: ``3/5/6/2/1/4@54`` becomes a die of a position, and a position a picture of its board.

A die is written with its faces, top, north, east, south, west, bottom, and the row and column of its square; the dice of a seat
are a, b and c, from the highest first value to the lowest.
"""

from collections.abc import Sequence
from typing import Any

from sims.errors import InputError, check_int
from sims.ruleset import Ruleset
from sims.rulesets.dicefest import rules
from sims.rulesets.dicefest.geometry import FACE, INNER_SQUARES, ORIENTATIONS, SIDES, SIZE, SQUARES, TOP, bit

DICE_NAMES = "abc"
DIE_NAMES = ["/".join(map(str, die)) for die in ORIENTATIONS]  # by orientation: 6/3/5/4/2/1
SQUARE_NAMES = [f"{row}{column}" for row in range(SIZE) for column in range(SIZE)]


def position(
    ruleset: Ruleset,
    dice: Sequence[str],
    free: str = "",
    reserves: Sequence[int] | None = None,
    seat: int = 0,
    variant: Any = None,
) -> Any:
    """Return the position at the start of a turn, or after it if it leaves no choice.

    Parameters
    ----------
    dice : list of str
        For each seat its three dice, ``"6/2/3/5/4/1@01 3/5/6/2/1/4@04 1/2/4/5/3/6@06"``. Those on their goal are locked.
    free : str
        Inner squares without a token and without a die, ``"14 24"``; all others hold a token.
    reserves : list of int, optional
        Tokens of each seat; seat 0 has all that are not on the board if left out.
    seat : int
        Whose turn starts.

    Raises
    ------
    InputError
        For a word that is no die or no square, two dice on a square, or tokens that are not 36 in all.
    """
    state = ruleset.new_state(len(dice), variant)
    for owner, words in enumerate(dice):
        if len(words.split()) != rules.DICE:
            raise InputError(f"{words!r} are not the {rules.DICE} dice of seat {owner}")
        for k, word in enumerate(words.split()):
            _put(state, owner, k, word)
    _lay_tokens(state, [_square(word) for word in free.split()], reserves)
    for owner in range(len(dice)):
        state.turn = owner
        for k in range(rules.DICE):
            rules.lock_at_goal(state, k)
    state.turn = state.first = check_int(seat, "seat", 0, len(dice) - 1)
    state.phase = rules.NEW_TURN
    rules.go_on(state)
    return state


def _put(state: Any, owner: int, k: int, word: str) -> None:
    faces, _, at = word.partition("@")
    if faces not in DIE_NAMES:
        raise InputError(f"{word!r} is no die; write its faces and its square, such as 6/2/3/5/4/1@01")
    square = _square(at)
    if state.occupied & bit(square):
        raise InputError(f"two dice on {at}")
    state.square[owner, k], state.orient[owner, k] = square, DIE_NAMES.index(faces)
    state.occupied |= bit(square)
    state.tokens &= ~bit(square)


def _square(word: str) -> int:
    square = SQUARE_NAMES.index(word) if word in SQUARE_NAMES else -1
    if square not in SQUARES:
        raise InputError(f"{word!r} is no square; write row and column, 01 to 76 without the corners")
    return square


def _lay_tokens(state: Any, free: list[int], reserves: Sequence[int] | None) -> None:
    for square in free:
        if not state.tokens & bit(square):
            raise InputError(f"{SQUARE_NAMES[square]} is no free square: it has a number or a die, or is written twice")
        state.tokens &= ~bit(square)
    state.n_free = len(free)
    owned = len(INNER_SQUARES) - sum(1 for square in INNER_SQUARES if state.tokens & bit(square))
    reserves = [owned, *[0] * (state.seats - 1)] if reserves is None else reserves
    if len(reserves) != state.seats or sum(reserves) != owned:
        raise InputError(f"reserves {reserves} must be {state.seats} numbers that add up to the {owned} tokens not on the board")
    state.reserve[: state.seats] = reserves


def dice_of(state: Any, seat: int) -> list[str]:
    """Return the dice of a seat as :func:`position` reads them."""
    dice = zip(state.orient[seat].tolist(), state.square[seat].tolist(), strict=True)
    return [f"{DIE_NAMES[orient]}@{SQUARE_NAMES[square]}" for orient, square in dice]


def picture(state: Any) -> str:
    """Return the board, North above, and the dice of each seat beside it; nothing before play.

    ``o`` is a token, ``.`` a free square, ``-`` a numbered one; a die is its side, its name and its top, ``Sa6``.
    """
    if state.phase in (rules.TRIPLE, rules.YAW, rules.FIRST, rules.NAME_FIRST, rules.FACE_DICE):
        return ""
    on_square = {
        int(state.square[seat, k]): f"{SIDES[state.side[seat]]}{DICE_NAMES[k]}{FACE[state.orient[seat, k], TOP]}"
        for seat in range(state.seats)
        for k in range(rules.DICE)
    }
    rows = [f"{row} " + "".join(f"{_cell(state, SIZE * row + i, on_square):>4}" for i in range(SIZE)) for row in range(SIZE)]
    legend = [_legend(state, seat) for seat in range(state.seats)]
    lines = [f"{row:<36}{legend.pop(0) if legend else ''}".rstrip() for row in reversed(rows)]
    return "\n".join([*lines, "  " + "".join(f"{column:>4}" for column in range(SIZE))])


def _cell(state: Any, square: int, on_square: dict[int, str]) -> str:
    if square in on_square:
        return on_square[square]
    if square in INNER_SQUARES:
        return "o" if state.tokens & bit(square) else "."
    return "-" if square in SQUARES else ""


def _legend(state: Any, seat: int) -> str:
    dice = " ".join(
        f"{name}{'*' if locked else ' '}{die.partition('@')[0]}"
        for name, locked, die in zip(DICE_NAMES, state.locked[seat], dice_of(state, seat), strict=True)
    )
    return f"{SIDES[state.side[seat]]}  {dice}  reserve {state.reserve[seat]}"
