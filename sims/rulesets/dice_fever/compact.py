"""The solution between two, small enough for a page: what it takes to advise as ``adviser.py`` does, without Python.

Of a position within a turn the page needs the graph of the turn (``turns.py``), which is small, and what every end of the turn is
worth: the win probability at the start of the next one. Those are millions, but smooth in both scores. Each is rounded to a
multiple of ``STEP``, so that it is wrong by half a step at most, and so is every mean, maximum or minimum of such numbers. What
is left of a table after differences along both scores is mostly zeros and small numbers, which zlib packs.

The tables come in *blocks*, one for each kind of start, token, mover's hand and other's hand; a row for each score of the other
and a column for each score of the mover, as far as these hands allow (``Frame.bounds``).
"""

import zlib
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from sims.errors import InputError
from sims.rulesets.dice_fever import readable, rules
from sims.rulesets.dice_fever.adviser import Adviser
from sims.rulesets.dice_fever.exact import Solution
from sims.rulesets.dice_fever.odds import STATUSES
from sims.rulesets.dice_fever.solver import tie_value
from sims.rulesets.dice_fever.sweeps import RELANCE
from sims.rulesets.dice_fever.turns import TurnGraph, position_codes

STEP = 0.0002
FIRST, SECOND, LAST = range(3)  # who starts the turn: seat 1, seat 2, seat 2 for the last time
DECIDES, OWNER_DECIDES, CHANCE_NODE = range(3)  # kinds of nodes
NOWHERE = -1
X3_USED = [("x3-used", value) for value in range(1, 7)]
BONUSES = [*((status, 0) for status in STATUSES), *X3_USED]  # with the value that counts triple


class Block(NamedTuple):
    """A table of starts of turns, and where it belongs."""

    start: int  # FIRST, SECOND or LAST
    token: int  # is there a Relance token against the mover?
    hand: int
    other_hand: int
    low_row: int  # score of the other
    low_column: int  # score of the mover
    win: np.ndarray  # the mover's chance, float array (scores of the other, scores of the mover)


class Compact(NamedTuple):
    """All that a page needs.

    Attributes
    ----------
    facts : dict
        The variant, the graph of its turns, the positions in which a player says STOP or throws, the rules that fit on a card,
        and where the blocks begin; goes into JSON as it is.
    table : bytes
        The blocks, see :func:`pack`.
    """

    facts: dict[str, Any]
    table: bytes


def compact(adviser: Adviser) -> Compact:
    """Return the solution of the adviser's variant between two, win probabilities to within ``STEP / 2``."""
    solved, values = adviser.solution, adviser.variant.values
    frame, tables = solved.frame, list(blocks(solved))
    facts = {
        "variant": adviser.variant.name,
        "step": STEP,
        "target": frame.target,
        "cards": [values["parade_cards"], values["risk_cards"]],
        "counted_risk": frame.risk,
        "stake": frame.stake,
        "has_relance": adviser.turn.can_risk("RELANCE"),
        "is_strict": bool(values["last_turn_strict"]),
        "tie": tie_value(solved.ruleset, solved.variant),
        "graph": _graph(solved.graph),
        "bonuses": BONUSES,
        "positions": _positions(adviser),
        "rules": {rule.name: dict(zip(rule.parameters, rule.values, strict=True)) for rule in readable.RULES},
        "lines": {rule.name: readable.lines(rule) for rule in readable.RULES},
        "unsaid": readable.UNSAID,
        "blocks": [[*block[:-1], *block.win.shape] for block in tables],
    }
    return Compact(facts, pack([block.win for block in tables]))


def blocks(solved: Solution) -> Iterator[Block]:
    """Yield every table that the end of a turn may lead to."""
    frame, low, most = solved.frame, solved.low, int(solved.graph.points.max())
    for token, hand, other in product(range(2), range(frame.hands), range(frame.hands)):
        if token and not (RELANCE in frame.faces and frame.cards(other)[1] < frame.risk):
            continue
        lowest, highest = frame.bounds(hand, other)
        scores = slice(lowest - low, highest - low + 1)
        for seat in (FIRST, SECOND):
            yield Block(seat, token, hand, other, lowest, lowest, solved.win[seat, token, hand, other, scores, scores])
        leads = slice(highest + most - frame.target + 1)
        yield Block(LAST, token, hand, other, frame.target, lowest, solved.last_turn[token, other, hand, leads, scores])


def pack(tables: list[np.ndarray]) -> bytes:
    """Round to multiples of ``STEP``, take differences along rows and columns, and compress them.

    A difference d is written as 2d, or -2d - 1 if it is negative; all low bytes come first, then all high bytes.
    """
    rounded = [np.rint(table / STEP).astype(np.int32) for table in tables]
    moves = np.concatenate([np.diff(np.diff(each, axis=0, prepend=0), axis=1, prepend=0).ravel() for each in rounded])
    codes = np.where(moves < 0, -2 * moves - 1, 2 * moves)
    return zlib.compress((codes & 255).astype(np.uint8).tobytes() + (codes >> 8).astype(np.uint8).tobytes(), 9)


def _graph(graph: TurnGraph) -> dict[str, Any]:
    """The graph of the turn as lists; the starts, which nobody asks for within a turn, are left out."""
    weights, weight = np.unique(graph.weight, return_inverse=True)
    is_chance = np.diff(graph.rows) == 1
    n_edges = graph.edges[len(graph.actions)]
    return {
        "points": graph.points.tolist(),
        "with_six": graph.with_six.astype(int).tolist(),
        "kinds": np.select([is_chance, graph.is_owners], [CHANCE_NODE, OWNER_DECIDES], DECIDES).tolist(),
        "rows": graph.rows.tolist(),
        "edges": graph.edges[: len(graph.actions) + 1].tolist(),
        "child": graph.child[:n_edges].tolist(),
        "weight": weight[:n_edges].tolist(),
        "weights": weights.tolist(),
    }


def _positions(adviser: Adviser) -> dict[str, Any]:
    """Where a player may say STOP or throw, by Score x2, track (a bit for each value), bonus and shields, in this order.

    Either the number of a message says why there is no such position, or node and node under a Relance are where the graph has
    it; `spent` PARADE cards and `used_risk` RISK cards must have gone in the turn.
    """
    records, messages = [], dict[str, int]()
    columns: dict[str, list[int]] = {name: [] for name in ("refused", "spent", "used_risk")}
    ways = product((False, True), range(64), BONUSES, range(adviser.variant.values["parade_cards"] + 1))
    for double_score, mask, (bonus, tripled), shields in ways:
        track = tuple(value for value in range(1, 7) if mask & rules.bit(value))
        row = [NOWHERE, 0, 0]
        try:
            records.append(adviser.position(track, shields, bonus, tripled, double_score))
            asked = len(track), bonus, tripled, double_score
            row[1:] = adviser.turn.spent(*asked) or 0, int(adviser.turn.used_risk(*asked))
        except InputError as error:
            row[0] = messages.setdefault(str(error), len(messages))
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    return {**columns, **_nodes(adviser.solution.graph, records, columns["refused"]), "messages": list(messages)}


def _nodes(graph: TurnGraph, records: list[Any], refused: list[int]) -> dict[str, list[int]]:
    """The nodes of the positions that were not refused, without and under a Relance."""
    codes = np.zeros(len(records), np.int64)
    position_codes(np.array(records, rules.STATE).view(np.recarray), codes)
    places = np.flatnonzero(np.array(refused) == NOWHERE)
    found = {}
    for token, name in enumerate(("node", "node_under_relance")):  # the token is the last bit of a code
        nodes = np.full(len(refused), NOWHERE)
        nodes[places] = [graph.node_of.get(code + token, NOWHERE) for code in codes.tolist()]
        found[name] = nodes.tolist()
    return found
