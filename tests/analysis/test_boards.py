"""The drawn boards show every hex or square, and every die with its pips or numbers in the colour of its seat."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle, RegularPolygon

from analysis.boards import (
    EMPTY_COLOUR,
    PIPS,
    SEAT_COLOURS,
    board,
    dicefest_board,
    plot_board,
    plot_dicefest_board,
    positions,
)
from sims.rulesets import RULESETS
from sims.rulesets.dice_land.boards import position
from sims.rulesets.dice_land.maps import DIRECTIONS, spiral
from sims.rulesets.dicefest.boards import position as dicefest_position
from sims.simulate import set_table
from sims.trace import trace

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


# --- Dicefest -----------------------------------------------------------------------------------------------------------------

SOUTH = "4/6/5/1/2/3@14 6/2/3/5/4/1@76 1/2/4/5/3/6@42"  # the second is locked
NORTH = "6/3/5/4/2/1@01 4/6/5/1/2/3@73 2/1/3/6/4/5@60"
FREE = "24 34 44 54 64"


@pytest.fixture(scope="module")
def squares():
    return dicefest_board(dicefest_position(RULESETS["dicefest"], [SOUTH, NORTH], FREE, [2, 5]))


def test_a_dicefest_board_is_the_position(squares):
    dice = squares[squares.seat.notna()].set_index("name")
    faces = ["top", "north", "east", "south", "west"]
    for seat, (side, words) in enumerate(zip("SN", (SOUTH, NORTH), strict=True)):
        for name, word in zip("abc", words.split(), strict=True):
            die = dice.loc[side + name]
            written = "/".join(f"{die[face]:.0f}" for face in faces)
            assert (die.seat, f"{written}/{7 - die.top:.0f}@{die.row}{die.column}") == (seat, word)
    assert dice.index[dice.is_locked == True].tolist() == ["Na", "Sb"]  # noqa: E712 (missing where there is no die)
    tokens = {f"{square.row}{square.column}" for square in squares[squares.token].itertuples()}
    inner = {f"{row}{column}" for row in range(1, 7) for column in range(1, 7)}
    assert tokens == inner - set(FREE.split()) - {"14", "42"}
    numbers = squares[squares.number > 0].set_index(["row", "column"]).number
    assert len(squares) == 60
    assert len(numbers) == 24
    assert [numbers[0, 1], numbers[3, 0], numbers[7, 2], numbers[1, 7]] == [6, 3, 2, 6]  # README, R4


def test_every_square_die_and_token_is_drawn(squares):
    ax = plot_dicefest_board(squares)
    kinds = [type(patch) for patch in ax.patches]
    assert [kinds.count(kind) for kind in (Rectangle, FancyBboxPatch, Circle)] == [60, 6, squares.token.sum()]
    dice = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    seats = squares.seat.dropna()
    assert [die.get_facecolor() for die in dice] == [to_rgba(SEAT_COLOURS[seat]) for seat in seats]
    assert sum(die.get_linewidth() > 1 for die in dice) == 2
    at = {(round(x, 1), round(y, 1)): text.get_text() for text in ax.texts for x, y in [text.get_position()]}
    assert [at[place] for place in [(4, 1), (4, 1.3), (4.3, 1), (4, 0.7), (3.7, 1)]] == list("46512")  # T/N/E/S/W of Sa
    plt.close(ax.figure)


def test_positions_are_those_of_the_transcript():
    *_, last = positions(set_table("dicefest", ["thrifty"] * 2), 3)
    assert RULESETS["dicefest"].picture(last) in trace("dicefest", ["thrifty"] * 2, 3)
