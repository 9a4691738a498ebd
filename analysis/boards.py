"""Boards drawn: a position of Dice Land as hexes, one of Dicefest as squares, with the dice of all seats.

The same positions as text, as a transcript shows them, are :func:`sims.rulesets.dice_land.boards.picture` and
:func:`sims.rulesets.dicefest.boards.picture`; rows, numbers and names of dice agree.
"""

from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle, RegularPolygon

from analysis.figures import FAINT, INK, PALETTE, STOP_COLOUR
from sims.ruleset import copied
from sims.rulesets.dice_land.boards import COLOURS, words_of
from sims.rulesets.dice_land.maps import unpacked
from sims.rulesets.dicefest import rules as dicefest
from sims.rulesets.dicefest.boards import DICE_NAMES
from sims.rulesets.dicefest.geometry import FACE, SIDES, SIZE, SQUARES, START, STEPS, VALUES, bit
from sims.simulate import Table
from sims.trace import replay

SEAT_COLOURS = (STOP_COLOUR, PALETTE[0], "#1d6b5c", PALETTE[5])  # red and blue, of different lightness; green, brown
EMPTY_COLOUR = "#f1f1f1"
TOKEN_COLOUR = "#e0b030"
WIDTH, HEIGHT = 3**0.5, 1.5  # from a hex to the next in its row, and to the next row, where its corners are 1 from its centre
STEP = 0.34  # between pips
PIPS = {  # (column, row) of each pip of a face, from its middle
    1: [(0, 0)],
    2: [(-1, 1), (1, -1)],
    3: [(-1, 1), (0, 0), (1, -1)],
    4: [(-1, 1), (1, 1), (-1, -1), (1, -1)],
    5: [(-1, 1), (1, 1), (0, 0), (-1, -1), (1, -1)],
    6: [(-1, 1), (1, 1), (-1, 0), (1, 0), (-1, -1), (1, -1)],
}


def positions(table: Table, seed: int) -> Iterator[Any]:
    """Yield every position of the first game of a run."""
    state = table.ruleset.new_state(len(table.policies), table.variant)
    for code in replay(table, seed, deal=0, rotation=0).codes:
        table.ruleset.advance(state, code)
        yield copied(state)


def board(state: Any) -> pd.DataFrame:
    """Return the hexes of a position: q, r (axial coordinates), seat (missing where there is no die), value (0 there)."""
    cells = [unpacked(int(cell)) for cell in state.cell[: state.hexes]]
    words = words_of(state)
    seats = pd.array([COLOURS.index(word[0]) if word != "." else None for word in words], "Int64")
    values = [int(word[1:] or 0) for word in words]
    return pd.DataFrame({"q": [q for q, _ in cells], "r": [r for _, r in cells], "seat": seats, "value": values})


def plot_board(hexes: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw hexes with their numbers, and the dice on them in the colours of their seats.

    Parameters
    ----------
    hexes : DataFrame
        From :func:`board`; a hex is numbered by its row.
    """
    ax = ax if ax is not None else plt.subplots(figsize=(4, 4))[1]
    for row in hexes.itertuples():
        x, y = WIDTH * (row.q + row.r / 2), -HEIGHT * row.r
        has_die = row.value > 0
        colour = SEAT_COLOURS[row.seat] if has_die else EMPTY_COLOUR
        ax.add_patch(RegularPolygon((x, y), 6, radius=0.97, facecolor=colour, edgecolor=FAINT))
        ax.text(x, y + 0.6, str(row.Index), ha="center", va="center", fontsize=6, color="white" if has_die else INK)
        for column, line in PIPS.get(row.value, []):
            ax.add_patch(Circle((x + STEP * column, y - 0.16 + STEP * line), 0.125, facecolor="white"))
    ax.set_aspect("equal")
    ax.autoscale_view()
    ax.set_axis_off()
    return ax


def dicefest_board(state: Any) -> pd.DataFrame:
    """Return the squares of a position of Dicefest.

    Returns
    -------
    DataFrame
        Columns row, column, number (of the side's own; 0 for an inner square), token (bool), and for the die on the square seat
        (missing where there is none), name (``Sa``), top, north, east, south, west, is_locked.
    """
    dice = {int(state.square[seat, k]): (seat, k) for seat in range(state.seats) for k in range(dicefest.DICE)}
    numbers = {int(START[side, value]): value for side in range(4) for value in VALUES}
    rows = []
    for square in SQUARES:
        row, column = divmod(square, SIZE)
        token = bool(state.tokens & bit(square))
        die = _die(state, *dice[square]) if square in dice else {}
        rows.append({"row": row, "column": column, "number": numbers.get(square, 0), "token": token, **die})
    return pd.DataFrame(rows).astype({"seat": "Int64"})


def _die(state: Any, seat: int, k: int) -> dict[str, Any]:
    faces = dict(zip(("top", "north", "east", "south", "west"), FACE[state.orient[seat, k]].tolist(), strict=False))
    return {"seat": seat, "name": SIDES[state.side[seat]] + DICE_NAMES[k], "is_locked": bool(state.locked[seat, k]), **faces}


def plot_dicefest_board(squares: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw a position of Dicefest, North above: tokens, and dice with their tops, names and the numbers that they face.

    A die goes as many squares in a direction as its small number there says; a locked die has a thick frame.

    Parameters
    ----------
    squares : DataFrame
        From :func:`dicefest_board`.
    """
    ax = ax if ax is not None else plt.subplots(figsize=(5, 5))[1]
    for square in squares.itertuples():
        x, y = square.column, square.row
        ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="white" if square.number else EMPTY_COLOUR, edgecolor=FAINT))
        if pd.notna(square.seat):
            _draw_die(ax, square)
        elif square.token:
            ax.add_patch(Circle((x, y), 0.17, facecolor=TOKEN_COLOUR, edgecolor=INK, linewidth=0.4))
        elif square.number:
            ax.text(x, y, str(square.number), ha="center", va="center", fontsize=6, color="#777777")
    ax.set_aspect("equal")
    ax.set_xlim(-0.6, SIZE - 0.4)
    ax.set_ylim(-0.6, SIZE - 0.4)
    ax.set_axis_off()
    return ax


def _draw_die(ax: Axes, die: Any) -> None:
    frame: dict[str, Any] = {"edgecolor": INK, "linewidth": 1.8 if die.is_locked else 0.4}
    corner, size = (die.column - 0.36, die.row - 0.36), 0.72
    box = FancyBboxPatch(corner, size, size, boxstyle="round,pad=0.08", facecolor=SEAT_COLOURS[die.seat], **frame)
    ax.add_patch(box)
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": "white"}
    ax.text(die.column, die.row, f"{die.top:.0f}", fontsize=9, weight="bold", **style)
    for (up, right), face in zip(STEPS, (die.north, die.east, die.south, die.west), strict=True):
        ax.text(die.column + 0.3 * right, die.row + 0.3 * up, f"{face:.0f}", fontsize=4.5, **style)
    ax.text(die.column - 0.28, die.row + 0.3, die.name[1], fontsize=4, style="italic", **style)
