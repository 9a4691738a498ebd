"""Boards drawn: a position of Dice Land as hexes with the dice of both seats.

The same position as text, as a transcript shows it, is :func:`sims.rulesets.dice_land.boards.picture`; rows and numbers agree.
"""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Circle, RegularPolygon

from analysis.figures import FAINT, INK, PALETTE, STOP_COLOUR
from sims.rulesets.dice_land.boards import COLOURS, words_of
from sims.rulesets.dice_land.maps import unpacked

SEAT_COLOURS = (STOP_COLOUR, PALETTE[0])  # red and blue, of different lightness
EMPTY_COLOUR = "#f1f1f1"
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
