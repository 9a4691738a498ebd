"""Looking ahead through the rules functions: alpha-beta between two seats; with more of them, one against all the others.

A step of the search is an action, not a ply: the tokens that a quarter-turn costs are placed at once, by the same rule for every
seat. The seat that searches takes the highest value, all others the lowest (`paranoid`: as if they had nothing else in mind).
Where the search ends a position is worth the outlook (``rules.py``) of the seat less that of the best of the others.

The search is a loop with a stack and not a recursion, which numba would not find in its cache again.
"""

from typing import Any, NamedTuple

import numba.extending
import numpy as np

from sims.jit import INTERPRETED, MAX_ACTIONS, copy_record, jit
from sims.ruleset import OVER
from sims.rulesets.dicefest.placement import place_by_rule
from sims.rulesets.dicefest.rules import PLACE, STATE, actor, apply_action, legal_actions, outlook, payoffs
from sims.streams import draw

WIN = 1_000.0


class Room(NamedTuple):
    """The nodes from the root of the search down to the present one.

    Attributes
    ----------
    states : records (depth + 1,)
        Their positions.
    actions : int32 array (depth + 1, MAX_ACTIONS)
        Their legal actions.
    n, tried : int64 arrays (depth + 1,)
        How many actions there are, and how many have been tried.
    values, low, high : float arrays (depth + 1,)
        Their values as far as they have been tried; what the searching seat, and what the others, can already be sure of.
    best : int64 array (1,)
        Which action is best at the root.
    shares : float array (seats,)
        Room for the win shares of a game that is over.
    """

    states: Any
    actions: Any
    n: Any
    tried: Any
    values: Any
    low: Any
    high: Any
    best: Any
    shares: Any


def records(n):
    """Return room for n positions."""
    return np.zeros(n, STATE).view(np.recarray)


if not INTERPRETED:

    @numba.extending.overload(records)
    def _records(n):
        return lambda n: np.empty(n, STATE)


@numba.extending.register_jitable
def new_room(depth, seats):
    """Return room for a search of so many actions."""
    actions, numbers = np.empty((depth + 1, MAX_ACTIONS), np.int32), np.zeros((2, depth + 1), np.int64)
    values, best, shares = np.zeros((3, depth + 1)), np.zeros(1, np.int64), np.zeros(seats)
    return Room(records(depth + 1), actions, numbers[0], numbers[1], values[0], values[1], values[2], best, shares)


# --- what a position is worth -----------------------------------------------------------------------------------------------


@jit
def estimate(state, me, tokens):
    """Return the standing of a seat less that of the best of the others."""
    best = -np.inf
    for seat in range(state.seats):
        if seat != me:
            best = max(best, outlook(state, seat, tokens))
    return outlook(state, me, tokens) - best


@jit
def value_of_end(state, me, depth, shares):
    """Return the value of a game that is over: the sooner won the better, the later lost."""
    payoffs(state, shares)
    return (WIN - depth) * (2.0 * shares[me] - 1.0)


# --- the search -------------------------------------------------------------------------------------------------------------


@jit
def open_node(room, depth, me):
    """Nothing has been tried at this node; what is sure at the node above is sure here."""
    state = room.states[depth]
    room.n[depth], room.tried[depth] = legal_actions(state, room.actions[depth]), 0
    room.values[depth] = -np.inf if actor(state) == me else np.inf
    room.low[depth] = room.low[depth - 1] if depth > 0 else -np.inf
    room.high[depth] = room.high[depth - 1] if depth > 0 else np.inf


@jit
def shuffle(actions, n, rng):
    """Put n actions in random order, so that any of equal ones may be found first."""
    for i in range(n - 1, 0, -1):
        j = draw(rng, i + 1)
        actions[i], actions[j] = actions[j], actions[i]


@jit
def try_out(room, depth, action, placement, rng):
    """Set the next depth to what follows an action and the tokens placed for it."""
    after = room.states[depth + 1]
    copy_record(room.states[depth], after)
    apply_action(after, action)
    while after.phase == PLACE:
        apply_action(after, place_by_rule(after, placement, rng))


@jit
def include(room, depth, value, me):
    """Let the value of the action just tried count at this node; the rest is cut off if nobody would let it come to this."""
    if actor(room.states[depth]) == me:
        if value > room.values[depth]:
            room.values[depth] = value
            if depth == 0:
                room.best[0] = room.tried[0] - 1
        room.low[depth] = max(room.low[depth], value)
    else:
        room.values[depth] = min(room.values[depth], value)
        room.high[depth] = min(room.high[depth], value)
    if room.low[depth] >= room.high[depth]:
        room.tried[depth] = room.n[depth]


@jit
def search(room, max_depth, tokens, placement, rng):
    """Return the value of the position at depth 0 for the seat that acts there, and note which action is best."""
    me, depth = actor(room.states[0]), 0
    open_node(room, 0, me)
    shuffle(room.actions[0], room.n[0], rng)
    while True:
        if room.tried[depth] < room.n[depth]:
            action = room.actions[depth, room.tried[depth]]
            room.tried[depth] += 1
            try_out(room, depth, action, placement, rng)
            depth += 1
            state = room.states[depth]
            if actor(state) == OVER:
                room.values[depth] = value_of_end(state, me, depth, room.shares)
            elif depth == max_depth:
                room.values[depth] = estimate(state, me, tokens)
            else:
                open_node(room, depth, me)
                continue
        elif depth == 0:
            return room.values[0]
        depth -= 1
        include(room, depth, room.values[depth + 1], me)
