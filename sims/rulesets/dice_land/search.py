"""Search through the rules functions: to the end of one's turn with an estimate there, or to the end of the game, exactly.

With V the value of a position for red,

    V(s) = mean over outcomes o of V(s after o)                     at a chance node,
    V(s) = max (red) or min (blue) over actions a of V(s after a)   at a decision.

A search without a memo goes to the end of the turn. There V is red's lead in pips, a die counting `dice` more, less what the best
reply gains on average if blue replies, plus it if red does; `WIN` is added where red has won, taken away where it has lost.

With a memo it goes to the end of the game, where V is red's win share. Every attack takes a pip off the map and nothing adds
any, so play never comes back to a position. Values at the starts of turns are remembered: there the dice, the seat and the turns
without attack say everything. With towns, or where attacks may be declined and only contact ends the game, play could come back,
and with mountains there would be more to remember; such endgames are not solved.

The search is a loop with a stack and not a recursion, which numba would not find in its cache again.
"""

from typing import Any, NamedTuple

import numba.extending
import numpy as np

from sims.errors import InputError
from sims.jit import INTERPRETED, MAX_ACTIONS, copy_record, jit
from sims.ruleset import CHANCE, OVER
from sims.rulesets.dice_land.maps import bit, lowest
from sims.rulesets.dice_land.odds import gain_of_attack
from sims.rulesets.dice_land.rules import (
    BLUE,
    MOUNTAINS,
    RED,
    STATE,
    TOWN_HEX,
    TWO_PASSES,
    actor,
    apply_action,
    apply_chance,
    chance,
    legal_actions,
    list_attacks,
    share_of_red,
)
from sims.streams import mix

WIN = 10_000.0
TURN_DEPTH = 9  # the position, and what may follow in a turn: attack, two dice, choice, invasion, move, town; then the next turn
GAME_DEPTH = 300  # of an endgame: 36 pips, at most six nodes for a turn with an attack and two for one without
MAX_DICE = 6  # in an endgame; a key has ten bits for each: hex, value, seat
SLOTS = 1 << 17  # of a policy's memo: a power of 2; half of them are used, then the search is given up


class Room(NamedTuple):
    """The nodes from the root of the search down to the present one, and the memo of an exact search.

    Attributes
    ----------
    states : records (depth,)
        Their positions.
    actions : int32 array (depth, MAX_ACTIONS)
        Their legal actions.
    n, tried, best : int64 arrays (depth,)
        How many actions or outcomes there are, how many have been tried, and which action was best, the first on ties.
    values : float array (depth,)
        Their values as far as they have been tried.
    starts : bool array (depth,)
        Does a turn start there?
    keys, shares : int64, float arrays (slots,)
        Hash table of the win shares that are known; without slots the search ends with the turn.
    n_known : int64 array (1,)
        How many they are.
    """

    states: Any
    actions: Any
    n: Any
    tried: Any
    best: Any
    values: Any
    starts: Any
    keys: Any
    shares: Any
    n_known: Any


def records(n):
    """Return room for n positions."""
    return np.zeros(n, STATE).view(np.recarray)


if not INTERPRETED:

    @numba.extending.overload(records)
    def _records(n):
        return lambda n: np.empty(n, STATE)


@numba.extending.register_jitable
def new_room(depth, slots):
    """Return room for a search down to this depth, with a memo of so many slots."""
    actions, numbers = np.empty((depth, MAX_ACTIONS), np.int32), np.zeros((3, depth), np.int64)
    values, starts = np.zeros(depth), np.zeros(depth, np.bool_)
    keys, shares, n_known = np.zeros(slots, np.int64), np.zeros(slots), np.zeros(1, np.int64)
    return Room(records(depth), actions, numbers[0], numbers[1], numbers[2], values, starts, keys, shares, n_known)


# --- the estimate at the end of a turn --------------------------------------------------------------------------------------


@jit
def lead_of_red(state, dice):
    """Return red's pips less blue's, a die counting `dice` more."""
    lead = dice * (state.score[RED] - state.score[BLUE])
    for h in range(state.hexes):
        lead += -state.value[h] if state.dice[BLUE] & bit(h) else state.value[h]
    return lead


@jit
def best_reply(state, actions, gains, offset):
    """Return what the best attack of the active seat gains on average; 0 if it has none, or need not attack."""
    n = list_attacks(state, actions)
    best = 0.0 if n == 0 or not state.variant.attack_mandatory else -WIN
    for i in range(n):
        best = max(best, gain_of_attack(state, actions[i], gains, offset))
    return best


@jit
def estimate(state, seat, actions, gains, offset, dice):
    """Return the value for red of a position after the turn of this seat; forced steps of the other may have begun."""
    lead = lead_of_red(state, dice)
    if actor(state) == OVER:
        return lead + WIN * (2.0 * share_of_red(state) - 1.0)
    state.turn = 1 - seat
    reply = best_reply(state, actions, gains, offset)
    return lead - reply if seat == RED else lead + reply


# --- the memo of an exact search --------------------------------------------------------------------------------------------


@jit
def is_solvable(variant):
    """Does play under this variant never come back to a position, nor to one that only its mountains tell apart?"""
    for i in range(variant.n_terrain):
        if variant.terrain[i] == TOWN_HEX or variant.terrain[i] == MOUNTAINS:
            return False
    return variant.attack_mandatory or variant.end_check == TWO_PASSES


@jit
def is_endgame(state, n):
    """Are there at most n dice on the map, and not more than a key can hold, under a variant that is solved?"""
    return state.score[RED] + state.score[BLUE] <= min(n, MAX_DICE) and is_solvable(state.variant)


@jit
def key_of(state):
    """Return a number for a position at the start of a turn: each die's hex, value and seat; the seat; turns without attack."""
    dice, key = state.dice[RED] | state.dice[BLUE], np.int64(0)
    while dice:
        h = lowest(dice)
        dice &= dice - 1
        key = (key << 6 | h) << 4 | state.value[h] << 1 | (state.dice[BLUE] & bit(h) != 0)
    return (key << 1 | state.turn) << 2 | state.no_attack


@jit
def is_full(room):
    """Has the search been given up, because the memo is full?"""
    return 2 * room.n_known[0] >= room.keys.size > 0


@jit
def slot_of(key, keys):
    """Return where this key is, or the free slot where it belongs."""
    last = keys.size - 1
    slot = np.int64(mix(np.uint64(key)) & np.uint64(last))
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & last
    return slot


# --- the search -------------------------------------------------------------------------------------------------------------


@jit
def try_out(room, depth, code):
    """Set the next depth to what follows an outcome or action."""
    before, after = room.states[depth], room.states[depth + 1]
    copy_record(before, after)
    if actor(before) == CHANCE:
        apply_chance(after, code)
    else:
        apply_action(after, code)
    room.starts[depth + 1] = after.turn != before.turn or after.turns[after.turn] != before.turns[after.turn]


@jit
def is_leaf(room, depth, gains, offset, dice):
    """Is the value of this node known without a search? Then it is set."""
    state = room.states[depth]
    if room.keys.size == 0:
        if actor(state) != OVER and not room.starts[depth]:
            return False
        room.values[depth] = estimate(state, room.states[0].turn, room.actions[depth], gains, offset, dice)
        return True
    if actor(state) == OVER:
        room.values[depth] = share_of_red(state)
        return True
    if is_full(room):
        return True
    if not room.starts[depth]:
        return False
    slot = slot_of(key_of(state), room.keys)
    room.values[depth] = room.shares[slot]
    return room.keys[slot] != 0


@jit
def open_node(room, depth):
    """Nothing has been tried at this node."""
    state = room.states[depth]
    who = actor(state)
    room.tried[depth] = 0
    room.n[depth] = chance(state) if who == CHANCE else legal_actions(state, room.actions[depth])
    room.values[depth] = 0.0 if who == CHANCE else -np.inf if who == RED else np.inf


@jit
def include(room, depth, value):
    """Let the value of the child just tried count at this node."""
    who = actor(room.states[depth])
    if who == CHANCE:
        room.values[depth] += value / room.n[depth]
    elif value > room.values[depth] if who == RED else value < room.values[depth]:
        room.values[depth], room.best[depth] = value, room.tried[depth] - 1


@jit
def remember(room, depth):
    """Note the value of a node in the memo, if there is one and a turn starts here."""
    if room.keys.size > 0 and room.starts[depth] and not is_full(room):
        key = key_of(room.states[depth])
        slot = slot_of(key, room.keys)
        room.keys[slot], room.shares[slot] = key, room.values[depth]
        room.n_known[0] += 1


@jit
def search(room, gains, offset, dice):
    """Return the value for red of the position at depth 0, and note there which action is best.

    `gains`, `offset` and `dice` are what the estimate takes: the table of replies, where it starts, what a die counts more.
    """
    room.starts[0], depth = False, 0
    open_node(room, 0)
    while True:
        if room.tried[depth] < room.n[depth]:
            i = room.tried[depth]
            room.tried[depth] += 1
            try_out(room, depth, i if actor(room.states[depth]) == CHANCE else room.actions[depth, i])
            depth += 1
            if not is_leaf(room, depth, gains, offset, dice):
                open_node(room, depth)
                continue
        elif depth == 0:
            return room.values[0]
        else:
            remember(room, depth)
        depth -= 1
        include(room, depth, room.values[depth + 1])


def win_share(state: Any, slots: int = 1 << 22) -> float:
    """Return the win share of red (seat 0) from a position in play with few dice, both seats playing best, exactly.

    Parameters
    ----------
    state : record
        At the start of a turn or within one, as :func:`sims.rulesets.dice_land.boards.position` makes it.
    slots : int
        Room for half as many positions; a power of 2. A slot takes 16 bytes.

    Raises
    ------
    InputError
        With more than six dice on the map, before play, under a variant that is not solved, or for too many positions.
    """
    if not is_solvable(state.variant):
        raise InputError("endgames with towns or mountains, or with `immediate` and optional attacks, are not solved")
    dice = int(state.score.sum())
    if not 1 <= dice <= MAX_DICE or state.hand.any():
        raise InputError(f"an endgame has 1 to {MAX_DICE} dice on the map and none in hand, not {dice} and {state.hand.sum()}")
    room = new_room(GAME_DEPTH, slots)
    copy_record(state, room.states[0])
    with np.errstate(over="ignore"):  # interpreted, the hash overflows as it should
        share = share_of_red(state) if actor(state) == OVER else search(room, np.zeros(1), 0, 0.0)
    if is_full(room):
        raise InputError(f"this endgame has {slots // 2:,} positions or more; give it more slots")
    return float(share)
