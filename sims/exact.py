"""Exact win probabilities of a game small enough, through its rules functions themselves.

Every position that play can come to is enumerated once. With v_s(x) the share of the win that seat s can make sure of in
position x,

    v_s(x) = payoff of s                              if the game is over,
    v_s(x) = mean over outcomes o of v_s(x after o)       at a chance node,
    v_s(x) = max over actions a of v_s(x after a)         where s itself decides,
    v_s(x) = min over actions a of v_s(x after a)         where another seat decides.

A seat with a fixed policy has one action, so the same equations evaluate policies (any number of seats, no max or min left),
find the best reply to a policy, and solve the game of two seats: what one wins the other loses. Each v_s is iterated from 0
upwards, so it never exceeds the true value, and 1 - sum over s of v_s bounds the error of all of them; what never ends is
won by nobody. The graph has cycles (a turn that scores nothing, a ply limit is no part of a position), so it is cut into its
strongly connected components, in the order of Pearce (2016), "A space-efficient algorithm for finding strongly connected
components": when a component's turn comes all that it leads to is known, and within it most successors come first.

Positions are told apart by all words of the state but its variant, its seats and its measures other than the score, which
no rule reads. Each word takes the bits that the values met so far need; a position is a handful of bytes, and numbers that
never change cost none. Where a deciding seat can win on the spot no other action is followed: none is worth more, and play
on may have no end (in Pig a pot may grow beyond the goal).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sims.errors import InputError, check_int
from sims.jit import MAX_ACTIONS, ask, jit
from sims.playouts import is_among
from sims.policy import Policy
from sims.ruleset import (
    CHANCE,
    OVER,
    Ruleset,
    Variant,
    actor,
    apply_action,
    apply_chance,
    chance,
    legal_actions,
    observed,
    payoffs,
)
from sims.simulate import IllegalAction, Table, find_ruleset, set_table
from sims.streams import mix, open_deal

MAX_STATES = 10_000_000
ROOM = 1 << 21  # positions for which there is room at first
TOLERANCE = 1e-13  # a component is settled when a whole sweep changes no value by more
SAME = 1e-11  # of actions worth the same to this, the first is chosen
KEY_BITS = 63  # of a key word; its sign stays 0
DONE, FULL, WIDE, ILLEGAL, RANDOM, COUNTING = range(6)


class Layout(NamedTuple):
    """How a position becomes a key: word ``places[w]`` of the state, less ``lows[w]``, is ``widths[w]`` bits of the key word
    ``slots[w]`` from bit ``shifts[w]`` on; the first `live` words have bits, the others have never changed."""

    places: np.ndarray
    lows: np.ndarray
    widths: np.ndarray
    slots: np.ndarray
    shifts: np.ndarray
    live: int


class Graph(NamedTuple):
    """Positions by number, in the order in which they were found; successors of i: ``children[first[i]:first[i + 1]]``."""

    keys: np.ndarray  # int64 (positions, key words)
    table: np.ndarray  # int32: hash table of position numbers plus 1, 0 where free
    who: np.ndarray  # int8: actor
    choice: np.ndarray  # uint8: which of the legal actions is taken
    values: np.ndarray  # float (positions, seats)
    first: np.ndarray  # int64
    children: np.ndarray  # uint32: an index without a sign is cheaper


class Players(NamedTuple):
    """Who decides how: the arguments of :func:`sims.jit.ask`, which seats are free to choose, and room to ask."""

    policies: Any
    params: np.ndarray
    free: np.ndarray  # bool (seats,)
    rng: np.ndarray  # uint64 (2, 4): a stream and its copy
    actions: np.ndarray  # int32 (MAX_ACTIONS,)
    forgotten: np.ndarray  # int64: words of the state that positions leave out


# --- keys -----------------------------------------------------------------------------------------------------------------


@jit
def pack(words, layout, key):
    """Write the key of a position; False if one of its words does not fit."""
    for k in range(key.size):
        key[k] = 0
    for w in range(layout.live):
        value = np.int64(words[layout.places[w]]) - layout.lows[w]
        if value >> layout.widths[w]:
            return False
        key[layout.slots[w]] |= value << layout.shifts[w]
    for w in range(layout.live, layout.places.size):  # noqa: SIM110 (numba compiles no generator expression)
        if words[layout.places[w]] != layout.lows[w]:
            return False
    return True


@jit
def unpack(key, layout, words):
    """Write the words of a position; those without bits are there already."""
    for w in range(layout.live):
        bits = key[layout.slots[w]] >> layout.shifts[w]
        words[layout.places[w]] = layout.lows[w] + (bits & ((1 << layout.widths[w]) - 1))


@jit
def slot_of(key, keys, table):
    """Return the slot of the hash table where this key is, or the free one where it belongs."""
    word = np.uint64(0)
    for k in range(key.size):
        word = mix(word ^ np.uint64(key[k]))
    last = table.size - 1
    slot = np.int64(word & np.uint64(last))
    while table[slot] and not is_same(key, keys[table[slot] - 1]):
        slot = (slot + 1) & last
    return slot


@jit
def is_same(key, other):
    """Are these keys equal?"""
    for k in range(key.size):  # noqa: SIM110 (numba compiles no generator expression)
        if key[k] != other[k]:
            return False
    return True


@jit
def fill_table(keys, n, table):
    """Enter the first n positions into an empty hash table."""
    for i in range(n):
        table[slot_of(keys[i], keys, table)] = i + 1


@jit
def locate(words, layout, key, keys, table):
    """Return the number of a position, or -1."""
    return np.int64(table[slot_of(key, keys, table)]) - 1 if pack(words, layout, key) else -1


# --- the positions --------------------------------------------------------------------------------------------------------


@jit
def explore(state, words, view, players, layout, graph, key, counts):
    """Enumerate positions, breadth first, from where the last call stopped.

    Parameters
    ----------
    state, words, view : record, array, record
        A position, the same memory as an array of numbers, and room for what a seat sees of it.
    players, layout, graph : Players, Layout, Graph
        The graph is filled.
    key : int64 array
        Room for a key.
    counts : int64 array (3,)
        Positions expanded, positions found; after ILLEGAL the action.

    Returns
    -------
    status : int
        DONE; FULL or WIDE if the graph needs room or `words` do not fit the layout; ILLEGAL, RANDOM or COUNTING if the
        policy asked in position ``counts[0]`` made an illegal action, used its stream, or looked at what is left out.
    """
    while counts[0] < counts[1]:
        i = counts[0]
        at, who, only = graph.first[i], np.int64(graph.who[i]), -1
        unpack(graph.keys[i], layout, words)
        n = 0
        if who == CHANCE:
            n = chance(state)
        elif who >= 0:
            n = legal_actions(state, players.actions)
            if players.free[who]:
                only = winning_action(state, words, players.actions, n, who, layout, graph, i)
            else:
                status, only = policy_action(state, words, view, players, n, who, i, counts)
                if status != DONE:
                    return status
        if graph.children.size - at < n:
            return FULL
        graph.choice[i] = max(only, 0)
        for k in range(n):
            if only >= 0 and k != only:
                continue
            successor(state, words, players.actions, who, k, layout, graph, i)
            status, child = enter(state, words, layout, graph, key, counts)
            if status != DONE:
                return status
            graph.children[at] = child
            at += 1
        graph.first[i + 1] = at
        counts[0] += 1
    return DONE


@jit
def successor(state, words, actions, who, k, layout, graph, i):
    """Set the state to what follows position i after outcome k, or after its k-th action."""
    unpack(graph.keys[i], layout, words)
    if who == CHANCE:
        apply_chance(state, k)
    else:
        apply_action(state, actions[k])


@jit
def winning_action(state, words, actions, n, who, layout, graph, i):
    """Return which action wins at once and alone, or -1."""
    shares, winning = graph.values[i], -1  # there is room, as the values of this position come later
    for k in range(n):
        successor(state, words, actions, who, k, layout, graph, i)
        if actor(state) == OVER:
            payoffs(state, shares)
            if shares[who] == 1.0:
                winning = k
                break
    for seat in range(shares.size):
        shares[seat] = 0.0
    return winning


@jit
def policy_action(state, words, view, players, n, who, i, counts):
    """Return a status and which action the policy of this seat takes, whatever the words say that positions leave out."""
    answer = np.int64(0)
    for turn in range(2):
        for w in range(players.forgotten.size):
            words[players.forgotten[w]] = turn * ((7 * i + 13 * w) % 61)
        seen = observed(state, who, view)
        action = ask(players.policies, who, seen, players.actions, n, players.params[who], players.rng[0])
        for word in range(4):
            if players.rng[0, word] != players.rng[1, word]:
                return RANDOM, -1
        if turn and action != answer:
            return COUNTING, -1
        answer = action
    if not is_among(answer, players.actions, n):
        counts[2] = answer
        return ILLEGAL, -1
    only = 0
    while players.actions[only] != answer:
        only += 1
    return DONE, only


@jit
def enter(state, words, layout, graph, key, counts):
    """Return a status and the number of this position, a new one if it was not known."""
    if not pack(words, layout, key):
        return WIDE, -1
    slot, n = slot_of(key, graph.keys, graph.table), counts[1]
    if graph.table[slot]:
        return DONE, np.int64(graph.table[slot]) - 1
    if n == graph.keys.shape[0]:
        return FULL, -1
    graph.table[slot] = n + 1
    for k in range(key.size):
        graph.keys[n, k] = key[k]
    graph.who[n] = actor(state)
    if graph.who[n] == OVER:
        payoffs(state, graph.values[n])
    counts[1] += 1
    return DONE, n


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
    begin, end, who, change = graph.first[i], graph.first[i + 1], graph.who[i], 0.0
    for seat in range(graph.values.shape[1] if begin < end else 0):
        value = graph.values[graph.children[begin], seat]
        if who == CHANCE:
            for at in range(begin + 1, end):
                value += graph.values[graph.children[at], seat]
            value /= end - begin
        elif who == seat:
            for at in range(begin + 1, end):
                value = max(value, graph.values[graph.children[at], seat])
        else:
            for at in range(begin + 1, end):
                value = min(value, graph.values[graph.children[at], seat])
        change = max(change, abs(value - graph.values[i, seat]))
        graph.values[i, seat] = value
    return change


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
    path : str or None
        Where the solution is kept: nowhere.
    """

    ruleset: Ruleset
    variant: Variant
    seats: int
    first_seat_win: float
    states: int
    seconds: float
    values: np.ndarray
    choices: np.ndarray
    _search: "Search"
    path: str | None = None

    def number(self, state: Any) -> int:
        """Return the number of a position; raises InputError if play cannot come there, or if it is of another game."""
        number = self._search.number(state)
        if number < 0:
            raise InputError(f"not a position of {self.ruleset.name} {self.variant} that was looked at: {self._render(state)}")
        return number

    def position(self, number: int) -> Any:
        """Return the position with a number (the last is the first of the game), its measures other than the score all 0."""
        return self._search.position(check_int(number, "number", 0, len(self.values) - 1))

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


class Search:
    """The positions of a game between free seats and seats with a policy: room for what the kernels fill, and its growth."""

    def __init__(self, ruleset: Ruleset, variant: Variant, free: Sequence[bool], table: Table | None, max_states: int) -> None:
        self.ruleset, self.variant, self.table = ruleset, variant, table
        self.max_states = check_int(max_states, "max_states", 1, 2**31 - 2)
        self._start = ruleset.new_state(len(free), variant)
        memory = np.zeros(2, ruleset.state)
        self._bytes = memory[:1].view(np.uint8)
        self._words: np.ndarray = memory[:1].view(_unit(ruleset.state))
        self._state, self._view = memory.view(np.recarray)
        self._load(self._start)
        places, forgotten = _places(ruleset)
        self._words[forgotten] = 0
        self._layout = _lay_out(places, self._words[places].astype(np.int64), np.zeros_like(places))
        self._players = _players(free, table, forgotten)
        room = min(ROOM, self.max_states)
        self._graph = _room(len(free), 1, room, 4 * room)
        self._counts = np.zeros(3, np.int64)
        enter(self._state, self._words, self._layout, self._graph, self._key(), self._counts)

    def _load(self, state: Any) -> None:
        self._bytes[:] = np.frombuffer(state.tobytes(), np.uint8)

    def _key(self) -> np.ndarray:
        return np.zeros(self._graph.keys.shape[1], np.int64)

    def solve(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Return the values, the choices (see :class:`Solution`) and the number of decisions; the edges are given up."""
        while (status := self._explore()) != DONE:
            if status == WIDE:
                self._widen()
            elif status == FULL:
                self._grow()
            else:
                raise self._refusal(status)
        n, edges = int(self._counts[1]), int(self._graph.first[self._counts[1]])
        order, starts, *room = (np.zeros(n + 1, np.int32) for _ in range(6))
        components = find_components(self._graph.first, self._graph.children, order, starts, *room, np.zeros(n, np.int64))
        graph = _room(len(self._players.free), self._graph.keys.shape[1], n, edges)._replace(table=self._graph.table)
        renumber(order[:n], self._graph, room[0], graph)
        settle(graph, starts, components, TOLERANCE)
        decisions = choose_actions(graph, n, SAME)
        self._graph = graph._replace(first=graph.first[:0], children=graph.children[:0])
        return graph.values, graph.choice, int(decisions)

    def _explore(self) -> int:
        place = (self._state, self._words, self._view)
        return explore(*place, self._players, self._layout, self._graph, self._key(), self._counts)

    def _grow(self) -> None:
        """Double the room for positions if that is what is full, else the room for edges."""
        graph, found = self._graph, int(self._counts[1])
        if found < len(graph.keys):
            self._graph = graph._replace(children=_grown(graph.children, 2 * graph.children.size))
            return
        if found >= self.max_states:
            game = f"{self.ruleset.name} {self.variant}"
            raise InputError(f"{game} has more than {self.max_states} positions; choose a smaller variant, or more max_states")
        size = min(2 * found, self.max_states)
        arrays = {name: _grown(getattr(graph, name), size) for name in ("keys", "who", "choice", "values")}
        self._graph = graph._replace(first=_grown(graph.first, size + 1), **arrays)
        self._enter_all()

    def _enter_all(self) -> None:
        table = np.zeros(_slots(len(self._graph.keys)), np.int32)
        fill_table(self._graph.keys, self._counts[1], table)
        self._graph = self._graph._replace(table=table)

    def _widen(self) -> None:
        """Give bits to the words of the present position that need more, and write all keys anew."""
        old, found = self._layout, int(self._counts[1])
        lows, widths = old.lows.copy(), old.widths.copy()
        for w, value in enumerate(self._words[old.places].astype(np.int64)):
            if (value - lows[w]) >> widths[w]:
                met = _column(self._graph.keys[:found], old, w)
                low, high = min(value, met.min()), max(value, met.max())
                widths[w] = int(high - low).bit_length()
                lows[w] = low if value == high else high - (1 << widths[w]) + 1  # room where the values are going
        order = np.argsort(widths == 0, kind="stable")
        new = _lay_out(old.places[order], lows[order], widths[order])
        keys = np.zeros((len(self._graph.keys), new.slots.max() + 1), np.int64)
        for w, was in enumerate(order[: new.live]):
            keys[:found, new.slots[w]] |= (_column(self._graph.keys[:found], old, was) - new.lows[w]) << new.shifts[w]
        self._layout, self._graph = new, self._graph._replace(keys=keys)
        self._enter_all()

    def _refusal(self, status: int) -> Exception:
        """Say why the policy that is asked in the present position cannot be evaluated."""
        assert self.table is not None  # free seats are not asked
        number, _, action = map(int, self._counts)
        seat = int(self._graph.who[number])
        who = f"policy {self.table.policies[seat].spec} in seat {seat}"
        if status == RANDOM:
            return InputError(f"{who} draws random numbers; only a policy without can be evaluated exactly; simulate it instead")
        if status == COUNTING:
            names = ", ".join(_forgotten(self.ruleset))
            return InputError(f"{who} looks at one of {names}, which positions leave out; simulate it instead")
        state = self.position(number)
        legal = ", ".join(f"{a} ({self.ruleset.describe(state, a)})" for a in self.ruleset.legal(state))
        position = self.ruleset.render(state)
        return IllegalAction(f"{who} returned action {action}, which is not legal; position: {position}; legal: {legal}")

    def number(self, state: Any) -> int:
        """Return the number of a position, or -1."""
        same_game = getattr(state, "dtype", None) == self.ruleset.state and state.seats == self._start.seats
        if not same_game or state.variant.tobytes() != self._start.variant.tobytes():
            return -1
        self._load(state)
        return int(locate(self._words, self._layout, self._key(), self._graph.keys, self._graph.table))

    def position(self, number: int) -> Any:
        """Return the position with a number."""
        self._load(self._start)
        self._words[_places(self.ruleset)[1]] = 0
        unpack(self._graph.keys[number], self._layout, self._words)
        return self._state.copy()


def _unit(state: np.dtype) -> type:
    """Return the type of the words of a state: int32 where no field is smaller, else bytes."""
    sizes = [number for field, offset, *_ in _leaves(state) for number in (field.itemsize, offset)]
    return np.uint8 if any(number % 4 for number in [*sizes, state.itemsize]) else np.int32


def _leaves(state: np.dtype) -> list[Any]:
    """Return (type of an element, offset) of the fields of a position but its variant."""
    assert state.fields is not None
    return [(field[0].base, *field[1:]) for name, field in state.fields.items() if name != "variant"]


def _forgotten(ruleset: Ruleset) -> list[str]:
    """Return the fields that no rule reads."""
    return [name for name in ruleset.measures if name != "score"]


def _places(ruleset: Ruleset) -> tuple[np.ndarray, np.ndarray]:
    """Return the words by which positions are told apart, and those that are left out."""
    size, forgotten = np.dtype(_unit(ruleset.state)).itemsize, _forgotten(ruleset)
    places: tuple[list[int], list[int]] = [], []
    for name, (field, offset, *_) in (ruleset.state.fields or {}).items():
        if name not in ("variant", "seats"):
            places[name in forgotten].extend(range(offset // size, (offset + field.itemsize) // size))
    return np.array(places[0], np.int64), np.array(places[1], np.int64)


def _lay_out(places: np.ndarray, lows: np.ndarray, widths: np.ndarray) -> Layout:
    """Return the layout of words with so many bits; those without come last."""
    slots, shifts = np.zeros_like(places), np.zeros_like(places)
    slot = used = 0
    for w, width in enumerate(widths):
        if used + width > KEY_BITS:
            slot, used = slot + 1, 0
        slots[w], shifts[w] = slot, used
        used += int(width)
    return Layout(places, lows, widths, slots, shifts, int(np.count_nonzero(widths)))


def _column(keys: np.ndarray, layout: Layout, w: int) -> np.ndarray:
    """Return the w-th word of the layout in each of these positions."""
    return layout.lows[w] + (keys[:, layout.slots[w]] >> layout.shifts[w] & (1 << layout.widths[w]) - 1)


def _slots(positions: int) -> int:
    """Return the size of a hash table for so many positions: a power of 2, at most half full."""
    return 1 << (2 * positions - 1).bit_length()


def _room(seats: int, key_words: int, positions: int, edges: int) -> Graph:
    """Return an empty graph; what is never written takes no memory."""
    return Graph(
        keys=np.zeros((positions, key_words), np.int64),
        table=np.zeros(_slots(positions), np.int32),
        who=np.zeros(positions, np.int8),
        choice=np.zeros(positions, np.uint8),
        values=np.zeros((positions, seats)),
        first=np.zeros(positions + 1, np.int64),
        children=np.zeros(edges, np.uint32),
    )


def _grown(array: np.ndarray, size: int) -> np.ndarray:
    """Return a longer array that starts with this one."""
    longer = np.zeros((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def _players(free: Sequence[bool], table: Table | None, forgotten: np.ndarray) -> Players:
    seats = len(free)
    policies, params = (np.zeros(seats, np.uint64), np.zeros((seats, 1))) if table is None else table.arguments()[2:]
    dice, minds = np.zeros((seats + 1, 4), np.uint64), np.zeros((seats, 4), np.uint64)
    open_deal(dice, minds, np.uint64(0), 0)
    return Players(policies, params, np.array(free), minds[[0, 0]], np.zeros(MAX_ACTIONS, np.int32), forgotten)


def _solution(ruleset: Ruleset, variant: Variant, free: Sequence[bool], table: Table | None, max_states: int) -> Solution:
    if any(free) and hasattr(ruleset.rules, "observe"):
        raise InputError(f"{ruleset.name} hides something from its seats; only fixed policies can be evaluated exactly")
    started = time.perf_counter()
    with np.errstate(over="ignore"):  # interpreted, 64-bit words overflow as they should
        search = Search(ruleset, variant, free, table, max_states)
        values, choices, decisions = search.solve()
    seconds = time.perf_counter() - started
    return Solution(ruleset, variant, len(free), float(values[-1, 0]), decisions, seconds, values, choices, search)


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
        Most positions to look at, those of dice in the air included; a position takes about 60 bytes.

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
