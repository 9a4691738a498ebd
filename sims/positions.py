"""Every position that play of a game can come to, enumerated once through the rules functions, and found again by its key.

Positions are told apart by all words of the state but its variant, its seats and its measures other than the score, which
no rule reads. A word takes the bits that the values met so far need, so a position is a handful of bytes and a number that
never changes costs none; when a value does not fit, all keys are written anew.

Far too many positions are noticed before they are enumerated, by the birthday problem. If there are N of them, m that are drawn
from them independently, by whatever law, all differ with a chance below exp(-m (m - 1) / 2N): equal chances are the worst case
(D. Bloom, "A birthday problem", Amer. Math. Monthly 80, 1973). So random play is broken off m times after the same number of
steps, with m such that this bound is exp(-20), 2 in 10^9, for the most positions that are allowed. If all m differ, there are
more. If two are the same nothing is known, and the enumeration decides.

A seat with a policy takes one action. A free seat may take any, but where it can win on the spot no other action is
followed: none is worth more, and play on may have no end (in Pig a pot may grow beyond the goal).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sims.errors import InputError, check_int, choose
from sims.jit import MAX_ACTIONS, PLAYER, ask, jit
from sims.ruleset import (
    CHANCE,
    OVER,
    Ruleset,
    Variant,
    actor,
    apply_action,
    apply_chance,
    chance,
    is_among,
    legal_actions,
    observed,
    payoffs,
)
from sims.simulate import IllegalAction, Table
from sims.streams import draw, mix, open_deal

ROOM = 1 << 21  # positions for which there is room at first; what is never written takes no memory
KEY_BITS = 63  # of a key word; its sign stays 0
STEPS = 40  # of random play, outcomes and actions, before it is broken off
SURE = 20  # minus the logarithm of the chance to refuse a game that has no more positions than are allowed
words_overflow: Any = np.errstate(over="ignore")  # interpreted, the 64-bit words of a hash overflow as they should
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
    """Who decides how: what :func:`sims.jit.ask` asks, which seats are free to choose, and room to ask."""

    asked: Any  # as from sims.jit.players
    free: np.ndarray  # bool (seats,)
    actions: np.ndarray  # int32 (MAX_ACTIONS,)
    minds: np.ndarray  # uint64 (seats, 4): the stream of each seat
    unused: np.ndarray  # the same before anybody draws
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
    """Write the words of a position."""
    for w in range(layout.live):
        bits = key[layout.slots[w]] >> layout.shifts[w]
        words[layout.places[w]] = layout.lows[w] + (bits & ((1 << layout.widths[w]) - 1))
    for w in range(layout.live, layout.places.size):
        words[layout.places[w]] = layout.lows[w]


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
def explore(state, words, before, view, players, layout, graph, key, counts):
    """Enumerate positions, breadth first, from where the last call stopped.

    Parameters
    ----------
    state, words, before, view : record, array, array, record
        A position, the same memory as an array of numbers, room for a copy of that, and room for what a seat sees of it.
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
        copy(words, before)
        n = 0
        if who == CHANCE:
            n = chance(state)
        elif who >= 0:
            n = legal_actions(state, players.actions)
            if players.free[who]:
                shares = graph.values[i]  # room: the values of this position come later
                only = winning_action(state, words, before, players.actions, n, who, shares)
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
            successor(state, words, before, players.actions, who, k)
            status, child = enter(state, words, layout, graph, key, counts)
            if status != DONE:
                return status
            graph.children[at] = child
            at += 1
        graph.first[i + 1] = at
        counts[0] += 1
    return DONE


@jit
def copy(words, to):
    """Copy the words of a position."""
    for w in range(words.size):
        to[w] = words[w]


@jit
def successor(state, words, before, actions, who, k):
    """Set the state to what follows the position that is looked at after outcome k, or after its k-th action."""
    copy(before, words)
    if who == CHANCE:
        apply_chance(state, k)
    else:
        apply_action(state, actions[k])


@jit
def winning_action(state, words, before, actions, n, who, shares):
    """Return which action wins at once and alone, or -1; `shares` is room, and holds zeros in the end."""
    winning = -1
    for k in range(n):
        successor(state, words, before, actions, who, k)
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
    """Return a status and which action the policy of this seat takes, whatever the words say that positions leave out.

    It is asked twice, and in between these words change: the number `i` should be another one at every call. Without any such
    word once is enough.
    """
    answer = np.int64(0)
    for turn in range(2 if players.forgotten.size else 1):
        if turn:
            for w in range(players.forgotten.size):
                words[players.forgotten[w]] = (7 * i + 13 * w) & 63
        seen = observed(state, who, view)
        action = ask(players.asked[0, who], seen, n)
        for word in range(4):
            if players.minds[who, word] != players.unused[who, word]:
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


# --- too many of them -------------------------------------------------------------------------------------------------------


@jit
def wander(state, words, before, view, players, stream, shares, counts, steps):
    """Play on at random for so many steps, or until the game is over, as far as :func:`explore` would follow.

    Parameters
    ----------
    state, words, before, view, players, counts
        See :func:`explore`.
    stream : uint64 array
        What outcomes and the actions of free seats are drawn from.
    shares : float array (seats,)
        Room, zeros.
    steps : int
        Outcomes and actions.

    Returns
    -------
    status : int
        DONE, or why a policy cannot be evaluated.
    """
    for step in range(steps):
        who = np.int64(actor(state))
        if who == OVER:
            break
        copy(words, before)
        if who == CHANCE:
            k = draw(stream, chance(state))
        else:
            n = legal_actions(state, players.actions)
            if players.free[who]:
                k = winning_action(state, words, before, players.actions, n, who, shares)
                if k < 0:
                    k = draw(stream, n)
            else:
                status, k = policy_action(state, words, view, players, n, who, step, counts)
                if status != DONE:
                    return status
        successor(state, words, before, players.actions, who, k)
    return DONE


@jit
def all_differ(state, words, before, view, players, stream, shares, counts, steps, start, places, seen, n):
    """Do n times so many random steps from the first position lead to positions that are all different?

    Parameters
    ----------
    state, words, before, view, players, stream, shares, counts, steps
        See :func:`wander`.
    start : array
        The words of the first position.
    places : int64 array
        Words of the state by which positions are told apart.
    seen : uint64 array
        Zeros, a power of 2 above n: a hash table of positions.
    """
    for _ in range(n):
        copy(start, words)
        if wander(state, words, before, view, players, stream, shares, counts, steps) != DONE:
            return False
        if not is_new(words, places, seen):
            return False
    return True


@jit
def is_new(words, places, seen):
    """Enter a position; has none with the same hash been entered before?"""
    word = np.uint64(1)
    for w in range(places.size):
        word = mix(word ^ np.uint64(np.int64(words[places[w]])))
    last = np.uint64(seen.size - 1)
    slot = word & last
    while seen[slot] and seen[slot] != word:
        slot = (slot + np.uint64(1)) & last
    found = seen[slot] == word
    seen[slot] = word
    return not found


# --- room and growth -------------------------------------------------------------------------------------------------------


class Search:
    """The positions of a game between free seats and seats with a policy: room for what the kernels fill, and its growth."""

    @words_overflow
    def __init__(self, ruleset: Ruleset, variant: Variant, free: Sequence[bool], table: Table | None, max_states: int) -> None:
        self.ruleset, self.variant, self.table = ruleset, variant, table
        self.max_states = check_int(max_states, "max_states", 1, 2**31 - 2)
        self._start = ruleset.new_state(len(free), variant)
        memory = np.zeros(2, ruleset.state)
        self._bytes = memory[:1].view(np.uint8)
        self._words: np.ndarray = memory[:1].view(word_type(ruleset.state))
        self._state, self._view = memory.view(np.recarray)
        self._load(self._start)
        self._places = places = places_of(ruleset, *_told_apart(ruleset))
        forgotten = places_of(ruleset, *_forgotten(ruleset))
        self._words[forgotten] = 0
        self._layout = _lay_out(places, self._words[places].astype(np.int64), np.zeros_like(places))
        self._players = new_players(free, table, forgotten)
        room = min(ROOM, self.max_states)
        self.graph = new_graph(len(free), 1, room, 4 * room)
        self._counts = np.zeros(3, np.int64)
        enter(self._state, self._words, self._layout, self.graph, self._key(), self._counts)

    def _load(self, state: Any) -> None:
        self._bytes[:] = np.frombuffer(state.tobytes(), np.uint8)

    def _key(self) -> np.ndarray:
        return np.zeros(self.graph.keys.shape[1], np.int64)

    @property
    def found(self) -> int:
        """Number of positions."""
        return int(self._counts[1])

    @words_overflow
    def run(self) -> Graph:
        """Return the graph of all positions; raises InputError for too many, or a policy that does not go by them alone."""
        start = (self._state, self._words, np.zeros_like(self._words), self._view, self._players)
        if self._is_hopeless(start):
            raise self._too_many()
        while (status := explore(*start, self._layout, self.graph, self._key(), self._counts)) != DONE:
            if status == WIDE:
                self._widen()
            elif status == FULL:
                self._grow()
            else:
                raise self._refusal(status)
        return self.graph

    def _is_hopeless(self, start: tuple) -> bool:
        """Do random positions tell that there are more than are allowed?"""
        n, seats = sample_size(self.max_states), len(self._players.free)
        dice, minds = np.zeros((seats + 1, 4), np.uint64), np.zeros((seats, 4), np.uint64)
        open_deal(dice, minds, np.uint64(0), 1)
        seen = np.zeros(_slots(n), np.uint64)
        room = dice[-1], np.zeros(seats), np.zeros(3, np.int64), STEPS
        found = bool(all_differ(*start, *room, self._words.copy(), self._places, seen, n))
        self._players.minds[:] = self._players.unused  # a policy that has drawn from it is found out later
        return found

    def _too_many(self) -> InputError:
        game = f"{self.ruleset.name} {self.variant}"
        return InputError(f"{game} has more than {self.max_states:,} positions (max_states); choose a smaller variant")

    def _grow(self) -> None:
        """Double the room for positions if that is what is full, else the room for edges."""
        graph, found = self.graph, self.found
        if found < len(graph.keys):
            self.graph = graph._replace(children=_grown(graph.children, 2 * graph.children.size))
            return
        if found >= self.max_states:
            raise self._too_many()
        size = min(2 * found, self.max_states)
        arrays = {name: _grown(getattr(graph, name), size) for name in ("keys", "who", "choice", "values")}
        self.graph = graph._replace(first=_grown(graph.first, size + 1), **arrays)
        self._enter_all()

    def _enter_all(self) -> None:
        table = np.zeros(_slots(len(self.graph.keys)), np.int32)
        fill_table(self.graph.keys, self._counts[1], table)
        self.graph = self.graph._replace(table=table)

    def _widen(self) -> None:
        """Give bits to the words of the present position that need more, and write all keys anew."""
        old, found = self._layout, self.found
        lows, widths = old.lows.copy(), old.widths.copy()
        for w, value in enumerate(self._words[old.places].astype(np.int64)):
            if (value - lows[w]) >> widths[w]:
                met = _column(self.graph.keys[:found], old, w)
                low, high = min(value, met.min()), max(value, met.max())
                widths[w] = int(high - low).bit_length()
                lows[w] = low if value == high else high - (1 << widths[w]) + 1  # room where the values are going
        order = np.argsort(widths == 0, kind="stable")
        new = _lay_out(old.places[order], lows[order], widths[order])
        keys = np.zeros((len(self.graph.keys), new.slots.max() + 1), np.int64)
        for w, was in enumerate(order[: new.live]):
            keys[:found, new.slots[w]] |= (_column(self.graph.keys[:found], old, was) - new.lows[w]) << new.shifts[w]
        self._layout, self.graph = new, self.graph._replace(keys=keys)
        self._enter_all()

    def _refusal(self, status: int) -> Exception:
        """Say why the policy that is asked in the present position cannot be evaluated."""
        assert self.table is not None  # free seats are not asked
        number, _, action = map(int, self._counts)
        seat = int(self.graph.who[number])
        return refusal(self.table, seat, status, action, self.position(number), _forgotten(self.ruleset))

    @words_overflow
    def number(self, state: Any) -> int:
        """Return the number of a position, or -1."""
        same_game = getattr(state, "dtype", None) == self.ruleset.state and state.seats == self._start.seats
        if not same_game or state.variant.tobytes() != self._start.variant.tobytes():
            return -1
        self._load(state)
        return int(locate(self._words, self._layout, self._key(), self.graph.keys, self.graph.table))

    def field(self, name: str) -> np.ndarray:
        """Return a field of the state in every position."""
        places = places_of(self.ruleset, choose(name, _told_apart(self.ruleset), "field of a position"))
        words = np.zeros((self.found, places.size), self._words.dtype)
        for column, place in enumerate(places):
            words[:, column] = _column(self.graph.keys, self._layout, int(np.flatnonzero(self._layout.places == place)[0]))
        kind = self.ruleset.state[name]
        return words.view(kind.base).reshape(-1, *kind.shape)

    def position(self, number: int) -> Any:
        """Return the position with a number."""
        self._load(self._start)
        self._words[self._players.forgotten] = 0
        unpack(self.graph.keys[number], self._layout, self._words)
        return self._state.copy()


def sample_size(positions: int) -> int:
    """Return how many random ones of so many positions, or of fewer, all differ with a chance of exp(-SURE) at most."""
    return math.ceil(math.sqrt(2 * SURE * positions)) + 1


def refusal(table: Table, seat: int, status: int, action: int, state: Any, forgotten: Sequence[str]) -> Exception:
    """Return why the policy of a seat, asked in this position, cannot be evaluated: the status of :func:`policy_action`."""
    who = f"policy {table.policies[seat].spec} in seat {seat}"
    if status == RANDOM:
        return InputError(f"{who} draws random numbers; only a policy without can be evaluated exactly; simulate it instead")
    if status == COUNTING:
        names = ", ".join(forgotten)
        return InputError(f"{who} looks at one of {names}, which positions leave out; simulate it instead")
    ruleset = table.ruleset
    legal = ", ".join(f"{a} ({ruleset.describe(state, a)})" for a in ruleset.legal(state))
    return IllegalAction(f"{who} returned action {action}, which is not legal; position: {ruleset.render(state)}; legal: {legal}")


def word_type(state: np.dtype) -> type:
    """Return the type of the words of a state: int32 where every field is made of those, else bytes."""
    assert state.fields is not None
    fields = [(kind, offset) for name, (kind, offset, *_) in state.fields.items() if name != "variant"]
    whole = all(kind.base.itemsize % 4 == offset % 4 == 0 for kind, offset in fields) and state.itemsize % 4 == 0
    return np.int32 if whole else np.uint8


def _forgotten(ruleset: Ruleset) -> list[str]:
    """Return the fields that no rule reads."""
    return [name for name in ruleset.measures if name != "score"]


def _told_apart(ruleset: Ruleset) -> list[str]:
    """Return the fields by which positions are told apart."""
    return [name for name in ruleset.state.names or () if name not in ("variant", "seats", *_forgotten(ruleset))]


def places_of(ruleset: Ruleset, *names: str) -> np.ndarray:
    """Return which words of the state are these fields."""
    size = np.dtype(word_type(ruleset.state)).itemsize
    fields: Any = ruleset.state.fields
    words = [np.arange(fields[name][1] // size, (fields[name][1] + fields[name][0].itemsize) // size) for name in names]
    return np.concatenate([*words, np.zeros(0, np.int64)])


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


def new_graph(seats: int, key_words: int, positions: int, edges: int) -> Graph:
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


def new_players(free: Sequence[bool], table: Table | None, forgotten: np.ndarray) -> Players:
    """Return the seats that are free and those with a policy of the table; `forgotten` is what positions leave out."""
    if table is None:
        asked = np.zeros((1, len(free)), PLAYER).view(np.recarray)
        minds, actions = np.zeros((len(free), 4), np.uint64), np.zeros(MAX_ACTIONS, np.int32)
    else:
        *_, asked, dice, minds, actions = table.arguments()
        open_deal(dice, minds, np.uint64(0), 0)
    return Players(asked, np.array(free), actions, minds, minds.copy(), forgotten)
