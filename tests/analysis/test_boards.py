"""The drawn board shows every hex, and every die with its pips in the colour of its seat."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Circle, RegularPolygon

from analysis.boards import EMPTY_COLOUR, PIPS, SEAT_COLOURS, board, plot_board
from sims.rulesets import RULESETS
from sims.rulesets.dice_land.boards import position
from sims.rulesets.dice_land.maps import DIRECTIONS, spiral

DICE = "R5 B4 . B3 R1 B6 B2 ."


@pytest.fixture(scope="module")
def hexes():
    return board(position(RULESETS["dice-land"], DICE))


def test_a_board_is_the_position(hexes):
    assert list(zip(hexes.q, hexes.r, strict=True)) == spiral(8)
    words = ["." if value == 0 else f"{'RB'[seat]}{value}" for seat, value in zip(hexes.seat, hexes.value, strict=True)]
    assert " ".join(words) == DICE


def test_every_hex_and_pip_is_drawn(hexes):
    ax = plot_board(hexes)
    cells = [patch for patch in ax.patches if isinstance(patch, RegularPolygon)]
    colours = {"R": SEAT_COLOURS[0], "B": SEAT_COLOURS[1], ".": EMPTY_COLOUR}
    assert [cell.get_facecolor() for cell in cells] == [to_rgba(colours[word[0]]) for word in DICE.split()]
    assert sum(isinstance(patch, Circle) for patch in ax.patches) == hexes.value.sum()
    assert [text.get_text() for text in ax.texts] == list(map(str, range(8)))
    (x, y), others = cells[0].xy, [cell.xy for cell in cells[1:7]]
    assert [(a - x) ** 2 + (b - y) ** 2 for a, b in others] == pytest.approx([3] * len(DIRECTIONS))  # round the centre
    plt.close(ax.figure)


def test_a_face_has_as_many_pips_as_its_value():
    assert {value: len(set(pips)) for value, pips in PIPS.items()} == {value: value for value in range(1, 7)}
