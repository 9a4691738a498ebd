"""Exact win probabilities of a game small enough, through its rules functions themselves.

With v_s(x) the share of the win that seat s can make sure of in position x,

    v_s(x) = payoff of s                              if the game is over,
    v_s(x) = mean over outcomes o of v_s(x after o)       at a chance node,
    v_s(x) = max over actions a of v_s(x after a)         where s itself decides,
    v_s(x) = min over actions a of v_s(x after a)         where another seat decides.

A seat with a fixed policy has one action, so the same equations evaluate policies (any number of seats, no max or min left),
find the best reply to a policy, and solve the game of two seats: what one wins the other loses. Each v_s is iterated from 0
upwards, so it never exceeds the true value, and 1 - sum over s of v_s bounds the error of all of them; what never ends is
won by nobody.

The graph of positions has cycles (a turn that scores nothing), so it is cut into its strongly connected components, in the
order of D. Pearce, "A space-efficient algorithm for finding strongly connected components", Inf. Process. Lett. 116 (2016):
when a component's turn comes all that it leads to is known, and within it most successors come first.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sims.errors import InputError, check_int
from sims.jit import jit
from sims.policy import Policy
from sims.positions import Search, new_graph
from sims.ruleset import CHANCE, Ruleset, Variant
from sims.simulate import Table, find_ruleset, set_table

MAX_STATES = 10_000_000
TOLERANCE = 1e-13  # a component is settled when a whole sweep changes no value by more
SAME = 1e-11  # of actions worth the same to this, the first is chosen


# --- the values -----------------------------------------------------------------------------------------------------------


@jit
def find_components(first, children, order, starts, low, entered, path, cursor, stack):
    """Order the positions so that whatever a component leads to comes before it, and most successors before each position.

    Parameters
    ----------
    first, children : arrays
        See Graph; all positions can be reached from position 0.
    order, starts : int32 arrays (n,), (n + 1,)
        Filled: component c is ``order[starts[c]:starts[c + 1]]``.
    low, entered, path, cursor, stack : int32 arrays (n,), cursor int64
        Room; `low` holds zeros.

    Returns
    -------
    n_components : int
    """
    settled = np.int32(2**31 - 1)
    depth = clock = n_stack = n_order = n_components = 0
    path[0], cursor[0], low[0], entered[0] = 0, first[0], 1, 1
    clock = 1
    while depth >= 0:
        i = path[depth]
        if cursor[depth] < first[i + 1]:
            child = children[cursor[depth]]
            if low[child] == 0:  # the edge is looked at again when the child is done
                depth, clock = depth + 1, clock + 1
                path[depth], cursor[depth], low[child], entered[depth] = child, first[child], clock, clock
            else:
                low[i] = min(low[i], low[child])
                cursor[depth] += 1
            continue
        if low[i] == entered[depth]:
            bottom = n_stack
            while bottom > 0 and low[stack[bottom - 1]] >= low[i]:
                bottom -= 1
            for place in range(bottom, n_stack):
                order[n_order] = stack[place]
                low[stack[place]] = settled
                n_order += 1
            order[n_order] = i
            low[i] = settled
            n_order, n_stack, n_components = n_order + 1, bottom, n_components + 1
            starts[n_components] = n_order
        else:
            stack[n_stack] = i
            n_stack += 1
        depth -= 1
    return n_components


@jit
def renumber(order, graph, place, new):
    """Write the graph with its positions in this order to the graph `new`; `place` becomes the inverse of the order."""
    for p in range(order.size):
        place[order[p]] = p
    for p in range(order.size):
        i = order[p]
        new.who[p], new.choice[p] = graph.who[i], graph.choice[i]
        for k in range(graph.keys.shape[1]):
            new.keys[p, k] = graph.keys[i, k]
        for seat in range(graph.values.shape[1]):
            new.values[p, seat] = graph.values[i, seat]
        shift = new.first[p] - graph.first[i]
        new.first[p + 1] = graph.first[i + 1] + shift
        for at in range(graph.first[i], graph.first[i + 1]):
            new.children[at + shift] = place[graph.children[at]]
    for slot in range(graph.table.size):
        if graph.table[slot]:
            graph.table[slot] = place[graph.table[slot] - 1] + 1


@jit
def settle(graph, starts, n_components, tolerance):
    """Iterate the values of one component after the other, in place, until they change no more."""
    for c in range(n_components):
        begin, end = starts[c], starts[c + 1]
        loops = end - begin > 1 or is_own_successor(graph, begin)
        while True:
            change = 0.0
            for i in range(begin, end):
                change = max(change, update(graph, i))
            if change <= tolerance or not loops:
                break


@jit
def is_own_successor(graph, i):
    """Does this position lead straight to itself?"""
    for at in range(graph.first[i], graph.first[i + 1]):  # noqa: SIM110 (numba compiles no generator expression)
        if graph.children[at] == i:
            return True
    return False


@jit
def update(graph, i):
    """Set the values of a position from those of its successors; return the largest change."""
    begin, end, who, values, change = graph.first[i], graph.first[i + 1], graph.who[i], graph.values, 0.0
    if begin == end:
        return change
    seats = values.shape[1]
    for one in range(0, seats, 2):  # two seats at a time: neither waits for the other
        two = min(one + 1, seats - 1)
        first = graph.children[end - 1]
        a, b = values[first, one], values[first, two]
        for at in range(end - 2, begin - 1, -1):  # backwards: the successor updated last is often the first
            child = graph.children[at]
            if who == CHANCE:
                a += values[child, one]
                b += values[child, two]
            else:
                a = better(a, values[child, one], who == one)
                b = better(b, values[child, two], who == two)
        if who == CHANCE:
            a /= end - begin
            b /= end - begin
        change = max(change, abs(a - values[i, one]), abs(b - values[i, two]))
        values[i, one], values[i, two] = a, b
    return change


@jit
def better(value, other, is_own):
    """Return the higher of two values of a seat where the decision is its own, else the lower."""
    return other if (other > value) == is_own else value


@jit
def choose_actions(graph, n, margin):
    """Set the choice of every position that has one, the first action within the margin; return how many seats decide."""
    decisions = 0
    for i in range(n):
        begin, end, who = graph.first[i], graph.first[i + 1], graph.who[i]
        decisions += who >= 0
        if who < 0 or end - begin == 1:
            continue
        k = 0
        while graph.values[graph.children[begin + k], who] < graph.values[i, who] - margin:
            k += 1
        graph.choice[i] = k
    return decisions


# --- the public side ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solution:
    """The value of a game, and of every position that play can come to.

    Attributes
    ----------
    ruleset : Ruleset
    variant : Variant
    seats : int
    first_seat_win : float
        Probability that the first seat wins (its share of the win, where a win is shared).
    states : int
        Positions in which a seat decides.
    seconds : float
        Time that it took; the first run of a game after a change compiles it.
    values : float array (positions, seats)
        Win probability of each seat, by the number of the position; the last is the first position of the game.
    choices : uint8 array (positions,)
        Which of its legal actions is best (0 where nobody decides); of several, the first.
    path : None
        It is kept in no file (a game's own solver may keep its solution).
    """

    ruleset: Ruleset
    variant: Variant
    seats: int
    first_seat_win: float
    states: int
    seconds: float
    values: np.ndarray
    choices: np.ndarray
    _search: Search
    path: None = None

    def number(self, state: Any) -> int:
        """Return the number of a position; raises InputError if play cannot come there, or if it is of another game."""
        number = self._search.number(state)
        if number < 0:
            raise InputError(f"not a position of {self.ruleset.name} {self.variant} that was looked at: {self._render(state)}")
        return number

    def position(self, number: int) -> Any:
        """Return the position with a number (the last is the first of the game), its measures other than the score all 0."""
        return self._search.position(check_int(number, "number", 0, len(self.values) - 1))

    def field(self, name: str) -> np.ndarray:
        """Return a field of the state in every position, an array (positions, ...); raises InputError if they lack it."""
        return self._search.field(name)

    def value(self, state: Any) -> np.ndarray:
        """Return the win probability of each seat in a position, an array (seats,); see :meth:`number` for errors."""
        return self.values[self.number(state)].copy()

    def action(self, state: Any) -> int:
        """Return the best action in a position; raises InputError where no seat decides (see also :meth:`number`)."""
        if self.ruleset.rules.actor(state) < 0:
            raise InputError(f"nobody decides here: {self._render(state)}")
        return self.ruleset.legal(state)[self.choices[self.number(state)]]

    def _render(self, state: Any) -> str:
        return self.ruleset.render(state) if getattr(state, "dtype", None) == self.ruleset.state else repr(state)


def _iterate(search: Search) -> int:
    """Find the positions and their values, give up the edges, and return in how many positions a seat decides."""
    graph = search.run()
    n = search.found
    order, starts, *room = (np.zeros(n + 1, np.int32) for _ in range(6))
    components = find_components(graph.first, graph.children, order, starts, *room, np.zeros(n, np.int64))
    ordered = new_graph(graph.values.shape[1], graph.keys.shape[1], n, int(graph.first[n]))._replace(table=graph.table)
    renumber(order[:n], graph, room[0], ordered)
    search.graph = graph = ordered
    settle(graph, starts, components, TOLERANCE)
    decisions = choose_actions(graph, n, SAME)
    search.graph = graph._replace(first=graph.first[:0], children=graph.children[:0])
    return int(decisions)


def _solution(ruleset: Ruleset, variant: Variant, free: Sequence[bool], table: Table | None, max_states: int) -> Solution:
    if any(free) and hasattr(ruleset.rules, "observe"):
        raise InputError(f"{ruleset.name} hides something from its seats; only fixed policies can be evaluated exactly")
    started = time.perf_counter()
    search = Search(ruleset, variant, free, table, max_states)
    decisions = _iterate(search)
    seconds, values = time.perf_counter() - started, search.graph.values
    return Solution(ruleset, variant, len(free), float(values[-1, 0]), decisions, seconds, values, search.graph.choice, search)


def solve(ruleset: str | Ruleset, variant: Any = None, seats: int = 2, max_states: int = MAX_STATES) -> Solution:
    """Solve a game of two seats: each maximises its share of the win.

    Parameters
    ----------
    ruleset : str or Ruleset
        A name of ``RULESETS``, or a ruleset.
    variant : str, mapping or Variant, optional
        See :meth:`sims.ruleset.Ruleset.variant`.
    seats : int
        2; any other number is refused, as best play of more seats has no single value.
    max_states : int
        Most positions to look at, those of dice in the air included; a position takes up to 140 bytes. Far more are noticed
        before the first is looked at, and a game with no more refused by mistake with a chance of 2 in 10^9
        (:mod:`sims.positions`).

    Returns
    -------
    Solution

    Raises
    ------
    InputError
        For a game, variant or number of seats that does not exist or is not two, for a game that hides something from its
        seats, and for too many positions.

    Examples
    --------
    >>> round(solve("pig", "standard,goal=2,faces=2").first_seat_win, 6)
    0.666667
    """
    ruleset = find_ruleset(ruleset)
    if ruleset.check_seats(check_int(seats, "seats", 1, 1000)) != 2:
        raise InputError(f"only a game of 2 seats can be solved, not of {seats}; fixed policies can be evaluated for any number")
    variant = variant if isinstance(variant, Variant) else ruleset.variant(variant)
    return _solution(ruleset, variant, [True, True], None, max_states)


def evaluate(
    ruleset: str | Ruleset,
    policies: Sequence[str | Policy | Callable],
    variant: Any = None,
    max_states: int = MAX_STATES,
) -> np.ndarray:
    """Return the exact win probability of each seat when fixed policies play.

    Parameters
    ----------
    ruleset, variant, max_states
        See :func:`solve`.
    policies : sequence
        One per seat, as for :func:`sims.simulate.simulate`. They are asked once per position, and must decide by it alone.

    Returns
    -------
    values : float array (seats,)
        They sum to 1, less the probability that play never ends.

    Raises
    ------
    InputError
        For bad arguments, too many positions, and a policy that draws random numbers or looks at what positions leave out.
    IllegalAction
        If a policy returns an action that is not legal.
    """
    table = set_table(ruleset, policies, variant)
    return _solution(table.ruleset, table.variant, [False] * len(table.policies), table, max_states).values[-1].copy()


def best_response(
    ruleset: str | Ruleset,
    policy: str | Policy | Callable,
    seat: int,
    variant: Any = None,
    max_states: int = MAX_STATES,
) -> float:
    """Return the win probability of the best reply to a fixed policy, in a game of two seats.

    Parameters
    ----------
    ruleset, variant, max_states
        See :func:`solve`.
    policy : str, Policy or function
        What the other side plays; see :func:`evaluate`.
    seat : int
        Where it sits, 0 or 1; the value is that of the other seat.

    Raises
    ------
    InputError, IllegalAction
        As :func:`evaluate`.
    """
    seat = check_int(seat, "seat", 0, 1)
    table = set_table(ruleset, [policy, policy], variant)
    free = [seat == 1, seat == 0]
    return float(_solution(table.ruleset, table.variant, free, table, max_states).values[-1, 1 - seat])
