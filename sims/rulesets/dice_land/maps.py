"""Maps of 8 to 36 hexes (R1 to R3): neighbours, sets of hexes, shapes that are not drawn, and maps given cell by cell.

A hex has axial coordinates (q, r), packed into the one number 128 q + r, so that a neighbour is one addition away. Hexes are
numbered in the order in which they join the map; a set of hexes is an int64 mask whose bit h is hex h.
"""

import numpy as np

from sims.errors import InputError, choose
from sims.jit import jit
from sims.ruleset import Field

MIN_HEXES, MAX_HEXES = 8, 36
KINDS = ("eden", "edge", "spiral", "line")
EDEN, EDGE, SPIRAL, LINE = range(4)
DIRECTIONS = ((1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1))
FRONTIER = 4 * MAX_HEXES - 2  # most pairs of a hex and an empty neighbour that 35 hexes can have: 6 each, less 2 per link
Cell = tuple[int, int]


def packed(cell: Cell) -> int:
    """Return a cell's coordinates as one number."""
    return 128 * cell[0] + cell[1]


def unpacked(code: int) -> Cell:
    """Return the coordinates that a number holds."""
    q = (code + 64) // 128
    return q, code - 128 * q


def spiral(n: int) -> list[Cell]:
    """Return n cells: the centre, then ring k from (-k, k) on, k steps in each direction."""
    cells = [(0, 0)]
    for ring in range(1, MAX_HEXES):
        q, r = -ring, ring
        for step_q, step_r in DIRECTIONS:
            for _ in range(ring):
                cells.append((q, r))
                q, r = q + step_q, r + step_r
        if len(cells) >= n:
            break
    return cells[:n]


STEPS = np.array([packed(step) for step in DIRECTIONS], np.int64)
SPIRAL_CELLS = np.array([packed(cell) for cell in spiral(MAX_HEXES)], np.int64)
LOWEST = np.array([next((h for h in range(MAX_HEXES) if (1 << h) % 37 == rest), 0) for rest in range(37)], np.int64)
"""The hex of a mask with one hex, by the mask's remainder: the powers of 2 up to 2^35 all differ modulo 37."""


@jit
def bit(h):
    """Return the set that holds this hex alone."""
    return np.int64(1) << np.int64(h)


@jit
def lowest(hexes):
    """Return the lowest hex of a set that is not empty."""
    return LOWEST[(hexes & -hexes) % 37]


@jit
def size(hexes):
    """Return the number of hexes in a set."""
    n = 0
    while hexes:
        hexes &= hexes - 1
        n += 1
    return n


@jit
def touches(one, other):
    """Are these two cells neighbours (R2)?"""
    for i in range(6):  # noqa: SIM110 (numba compiles no generator expression)
        if one + STEPS[i] == other:
            return True
    return False


def _parse_cell(text: str) -> Cell:
    try:
        q, r = map(int, text.split(":"))
    except ValueError:
        raise InputError(f"{text!r} is not a cell; write q:r, and a map as cells joined by '/'") from None
    return q, r


def check_cells(cells: list[Cell]) -> None:
    """Raise InputError unless these cells are a map (R1): an even number from 8 to 36, all different, connected."""
    n = len(cells)
    if not MIN_HEXES <= n <= MAX_HEXES or n % 2:
        raise InputError(f"a map has an even number of hexes from {MIN_HEXES} to {MAX_HEXES}, not {n}")
    if len(set(cells)) < n:
        raise InputError(f"the map has the cell {next(cell for cell in cells if cells.count(cell) > 1)} twice")
    reached, edge = {cells[0]}, [cells[0]]
    while edge:
        q, r = edge.pop()
        found = {(q + step_q, r + step_r) for step_q, step_r in DIRECTIONS} & set(cells) - reached
        reached |= found
        edge += found
    if len(reached) < n:
        raise InputError(f"the map is not connected: {next(cell for cell in cells if cell not in reached)} cannot be reached")


class MapField(Field):
    """The field ``map``: a kind of map, or its cells as ``q:r`` joined by ``/``."""

    def parse(self, name: str, text: str) -> str:
        """Read a kind or a list of cells; raises InputError for what is no map."""
        if ":" not in text:
            return choose(text, self.choices, f"{name} (or cells such as 0:0/1:0/...)")
        cells = [_parse_cell(cell) for cell in text.split("/")]
        check_cells(cells)
        return "/".join(f"{q}:{r}" for q, r in cells)

    def code(self, value: str) -> list[int]:
        """Return the number of a kind; or the cells, packed, seen from the first one."""
        if value in self.choices:
            return [self.choices.index(value)]
        cells = [_parse_cell(cell) for cell in value.split("/")]
        q0, r0 = cells[0]
        return [packed((q - q0, r - r0)) for q, r in cells]

    def columns(self, name: str) -> list[tuple]:
        """One column for the numbers of :meth:`code`, one for how many they are."""
        return [(name, np.int32, MAX_HEXES), (f"n_{name}", np.int32)]
