"""One turn as a graph of its decisions, found by walking through the rules functions.

Take a turn after its cards are committed and its RISK face is known, between two players. What can happen in it depends on
the scores only through what its end is worth, so one graph serves all of them. A *leaf* is an end: OUT, or so many points
with or without a 6. A *node* is a decision: STOP or throw, or, against a Relance token, what its owner does; or a chance to
which many positions lead (the BONUS die, a die thrown again), as a node with one action. All other chance is multiplied out:
every action of a node leads to a distribution over leaves and nodes. With F(leaf) the worth of an end to the player whose
turn it is,

    value(node) = max over actions of  sum over (weight, child) of weight * value(child)      (min where the owner decides),

computed in one sweep, as children come before their parents: every throw lays a value, spends a PARADE, uses a token or
ends the turn. The turn starts in one of the ways of ``STARTS`` with k shields, with or without a Relance token against it.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sims.jit import MAX_ACTIONS, jit
from sims.ruleset import CHANCE, Field, Ruleset, Variant, copied
from sims.rulesets.dice_fever import rules

STARTS = PLAIN, X2, SIX = range(3)  # an ordinary turn (after Duel and Relance too), Score x2, six dice at once
OUT_OF_REACH = 1_000_000
TURN_FIELDS = ("phase", "track", "shields", "mult", "extra", "bonus_face", "next3", "double", "tripled_value", "suite")
OUT = 0  # the leaf of an OUT
SHARED = (rules.BONUS_DIE, rules.RETHROW)  # chance to which many positions lead: nodes of their own
NO_ACTION = -1


@dataclass(frozen=True)
class TurnGraph:
    """The decisions of a turn.

    Attributes
    ----------
    points, with_six : int array (leaves,), bool array (leaves,)
        What each leaf banks; leaf ``OUT`` banks nothing.
    states : record array (nodes,)
        The position of each node; player 0's turn against player 1.
    rows : int array (nodes + 1,)
        Actions of node i are rows[i] to rows[i + 1].
    actions : int array (actions,)
        Their codes.
    edges : int array (actions + starts + 1,)
        Edges of action j are edges[j] to edges[j + 1]; the starts follow the actions.
    child, weight : int array (edges,), float array (edges,)
        Where they lead: a leaf, or number of leaves + node.
    starts : int array (2, 3, shields + 1)
        Row of each start in `edges`: by token, kind of start and shields.
    ends : int array (2, 3, shields + 1)
        A sweep up to this node suffices for that start and all with fewer shields of its kind.
    begins : int array (2, 3)
        Where the new nodes of a kind of start begin; those of the starts before it may be needed as well.
    """

    points: np.ndarray
    with_six: np.ndarray
    states: np.ndarray
    rows: np.ndarray
    actions: np.ndarray
    edges: np.ndarray
    child: np.ndarray
    weight: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    begins: np.ndarray

    @property
    def is_owners(self) -> np.ndarray:
        """Where the owner of a Relance token decides, bool array (nodes,)."""
        return self.states["phase"] == rules.WINDOW

    @property
    def records(self) -> Any:
        """The positions with their fields as attributes, as the rules want them, also after they came from a file."""
        return np.asarray(self.states).view(np.recarray)

    @cached_property
    def node_of(self) -> dict[int, int]:
        """The node of each :func:`position_code`."""
        codes = np.zeros(len(self.states), np.int64)
        position_codes(self.records, codes)
        return {code: node for node, code in enumerate(codes.tolist())}


@jit
def position_code(state):
    """Return a number for what the rules still read of a position within a turn, scores and hands apart: equal for one node."""
    in_window = state.phase == rules.WINDOW
    six = state.six and state.variant.bonus_die and not state.variant.six_partial_bonus and state.bonus_face == rules.NO_FACE
    code = np.int64(state.phase)
    code = code * 64 + state.track
    code = code * 16 + state.shields
    code = code * 2 + state.mult - 1
    code = code * 2 + (state.extra > 0)
    code = code * 8 + state.bonus_face + 1
    code = code * 2 + state.next3
    code = code * 2 + state.double
    code = code * 8 + state.tripled_value
    code = code * 2 + state.suite
    code = code * 2 + (1 if six else 0)
    code = code * 64 + (state.fresh if in_window else 0)
    return code * 2 + (state.tokens[state.turn] != 0)


@jit
def position_codes(states, codes):
    """Write down the code of each of these positions: one call, as a call with a record costs more than the rules."""
    for i in range(states.size):
        codes[i] = position_code(states[i])


class Position(NamedTuple):
    """A position of the walk, and what the walk asks of it."""

    record: Any  # record array (1,)
    code: int  # see position_code
    is_chance: bool
    phase: int
    track: int
    has_ended: bool  # is the turn over?
    is_out: bool
    points: int  # that it banked


@jit
def look(state, facts):
    """Write down what the walk asks of a position: all of :class:`Position` but the record."""
    facts[0], facts[1], facts[2], facts[3] = position_code(state), rules.actor(state) == CHANCE, state.phase, state.track
    facts[4], facts[5], facts[6] = state.turn != 0, state.outs[0] > 0, state.points[0]


@jit
def step(states, actions, after, facts):
    """Take every outcome or action of a position at once, for the same reason; return how many."""
    state = states[0]
    is_chance = rules.actor(state) == CHANCE
    n = rules.chance(state) if is_chance else rules.legal_actions(state, actions)
    for i in range(n):
        after[i] = state
        if is_chance:
            rules.apply_chance(after[i], i)
        else:
            rules.apply_action(after[i], actions[i])
        look(after[i], facts[i])
    return n


def turn_graph(ruleset: Ruleset, variant: Variant) -> TurnGraph:
    """Walk through every turn of a variant."""
    return _Walk(ruleset, variant).graph()


class _Walk:
    """The graph while it grows."""

    def __init__(self, ruleset: Ruleset, variant: Variant) -> None:
        self.values = variant.values
        self.first = ruleset.new_state(2, Variant(variant.name, {**variant.values, "target": OUT_OF_REACH}))
        self.leaves: dict[tuple[int, bool] | None, int] = {None: OUT}
        self.nodes: dict[int, int] = {}
        self.ways: dict[bytes, dict[tuple[str, Any], float]] = {}  # the six dice come to the same positions in many ways
        self.states: list[bytes] = []
        self.actions, self.facts = (
            np.zeros(MAX_ACTIONS, np.int32),
            np.zeros((Field.MAX_FACES, len(Position._fields) - 1), np.int64),
        )
        self.node_actions: list[list[tuple[int, dict]]] = []

    def graph(self) -> TurnGraph:
        """Explore start after start, those without a token first, and write the graph down."""
        shields = self.values["parade_cards"] + 1
        has_risk = self.values["risk_cards"] > 0 and self.values["max_risk_per_turn"] > 0
        starts = {}
        ends, begins = np.zeros((2, 3, shields), np.int64), np.zeros((2, 3), np.int64)
        for token in range(2 if has_risk else 1):
            for kind in STARTS if has_risk else (PLAIN,):
                begins[token, kind] = len(self.states)
                for k in range(shields):
                    starts[token, kind, k] = self.ways_from(self.start(token, kind, k))
                    ends[token, kind, k] = len(self.states)
        self.lengthen(starts, ends, begins)
        return self.written(starts, ends, begins)

    def lengthen(self, starts: dict, ends: np.ndarray, begins: np.ndarray) -> None:
        """Let the sweeps reach nodes that were first found from a start with more shields.

        A Relance that takes the tripled die away leads, without a shield spent, where otherwise only a parry does.
        """
        blocks = list(dict.fromkeys((token, kind) for token, kind, _ in starts))
        firsts = [begins[block] for block in blocks]
        for block in reversed(blocks):
            for k in range(ends.shape[2]):
                nodes = range(begins[block], ends[*block, k])
                ways = [*(starts[*block, j] for j in range(k + 1)), *(w for node in nodes for _, w in self.node_actions[node])]
                for child in {index for each in ways for where, index in each if where == "node"}:
                    place = (*blocks[bisect_right(firsts, child) - 1], k)
                    ends[place] = max(ends[place], child + 1)

    def start(self, token: int, kind: int, shields: int) -> Position:
        """Return the position in which the first dice are in the air."""
        state = copied(self.first)
        state.shields = shields
        state.tokens[0] = token << 1
        if kind == SIX:
            rules.risk_die(state, rules.SIX)
        elif kind == X2:
            state.mult = 2
            rules.throw(state)
        else:
            rules.throw(state)
        look(state, self.facts[0])
        return Position(np.array([state]).view(np.recarray), *self.facts[0].tolist())

    def after(self, position: Position) -> list[Position]:
        """Return the positions after each outcome or action; the actions are then in ``self.actions``."""
        after = np.zeros(len(self.facts), rules.STATE).view(np.recarray)  # interpreted, the rules read fields of records
        n = step(position.record, self.actions, after, self.facts)
        return [Position(after[i : i + 1], *facts) for i, facts in enumerate(self.facts[:n].tolist())]

    def ways_from(self, position: Position, with_six: bool = True) -> dict[tuple[str, Any], float]:
        """Return the distribution over leaves and nodes to which chance leads from here.

        The next turn has an empty track, so whether a 6 was on this one must be told for STOP; a Dice Fever has one.
        """
        if position.has_ended:
            end = None if position.is_out else (position.points, with_six)
            return {("leaf", self.leaves.setdefault(end, len(self.leaves))): 1.0}
        if not position.is_chance or position.phase in SHARED:
            return {("node", self.node(position)): 1.0}
        return self.after_chance(position)

    def after_chance(self, position: Position) -> dict[tuple[str, Any], float]:
        """Return the mean of the distributions after each outcome."""
        key = position.record.tobytes()
        if key not in self.ways:
            after = self.after(position)
            ways: dict[tuple[str, Any], float] = {}
            for each in after:
                for way, weight in self.ways_from(each).items():
                    ways[way] = ways.get(way, 0.0) + weight / len(after)
            self.ways[key] = ways
        return self.ways[key]

    def options(self, position: Position) -> list[tuple[int, dict]]:
        """Return the actions of a node and where they lead; a chance node has one, without a code."""
        if position.is_chance:
            return [(NO_ACTION, self.after_chance(position))]
        after = self.after(position)
        actions = self.actions[: len(after)].tolist()
        with_six = bool(position.track & rules.bit(6))
        return [(action, self.ways_from(each, with_six)) for action, each in zip(actions, after, strict=True)]

    def node(self, position: Position) -> int:
        """Return the node of a decision, after its children."""
        if position.code not in self.nodes:
            options = self.options(position)
            self.nodes[position.code] = len(self.states)
            self.states.append(position.record.tobytes())
            self.node_actions.append(options)
        return self.nodes[position.code]

    def written(self, starts: dict, ends: np.ndarray, begins: np.ndarray) -> TurnGraph:
        """Write the graph into arrays."""
        offset = {"leaf": 0, "node": len(self.leaves)}
        rows, actions, edges, child, weight = [0], [], [0], [], []

        def write(ways: dict) -> None:
            for (kind, index), share in sorted(ways.items()):
                child.append(offset[kind] + index)
                weight.append(share)
            edges.append(len(child))

        for node_actions in self.node_actions:
            for action, ways in node_actions:
                actions.append(action)
                write(ways)
            rows.append(len(actions))
        numbers = np.zeros(ends.shape, np.int64)
        for place, ways in starts.items():
            numbers[place] = len(edges) - 1
            write(ways)
        banked = [end or (0, False) for end in self.leaves]
        return TurnGraph(
            np.array([points for points, _ in banked], np.int64),
            np.array([six for _, six in banked], bool),
            np.frombuffer(bytearray().join(self.states), rules.STATE).view(np.recarray),
            np.array(rows),
            np.array(actions),
            np.array(edges),
            np.array(child),
            np.array(weight),
            numbers,
            ends,
            begins,
        )
