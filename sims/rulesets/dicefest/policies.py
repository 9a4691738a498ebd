"""Policies for Dicefest: random play, a racer, two that mind their tokens, and one that looks ahead.

``racer``, ``thrifty`` and ``blocker`` give each action a worth and take the best, any of equal ones with the same chance;
``lookahead`` values the positions some actions later by ``search.py``. All place tokens by the rules of ``placement.py``.
"""

import numpy as np

from sims.jit import allocates, copy_record, jit
from sims.policy import policy
from sims.rulesets.dicefest.geometry import DISTANCE, FACE, GOAL, TARGET, TOP, TURNED, bit, size
from sims.rulesets.dicefest.placement import PLACEMENTS, UNIFORM, place_by_rule
from sims.rulesets.dicefest.rules import DICE, DONE, FIRST_TURN, PER_DIE, PLACE, tokens_on_way
from sims.rulesets.dicefest.search import new_room, search
from sims.streams import draw

DECISIVE = 1_000.0  # more than anything else that an action may be worth


# --- what an action is worth ------------------------------------------------------------------------------------------------


@jit
def outcome_of(view, action):
    """Return where a move or quarter-turn leaves its die, how it then faces, and what it adds to the reserve."""
    k, what = action // PER_DIE, action % PER_DIE
    square, orient = view.square[view.turn, k], view.orient[view.turn, k]
    if what >= FIRST_TURN:
        return np.int64(square), np.int64(TURNED[orient, what - FIRST_TURN]), -np.int64(FACE[orient, TOP])
    return np.int64(TARGET[square, orient, what]), np.int64(orient), np.int64(size(tokens_on_way(view, k, what)))


@jit
def contested(view):
    """Return the squares that are goals of dice of others, as these show now."""
    found = np.int64(0)
    for seat in range(view.seats):
        for k in range(DICE):
            if seat != view.turn and not view.locked[seat, k]:
                found |= bit(GOAL[view.side[seat], FACE[view.orient[seat, k], TOP]])
    return found


@jit
def would_win(view, reserve):
    """Does locking the last die with this reserve win alone: a total victory, or at once a mini victory?"""
    if reserve == 0:
        return True
    for seat in range(view.seats):
        if seat != view.turn and (view.score[seat] < DICE or view.reserve[seat] <= reserve):
            return False
    return True


@jit
def worth(view, action, tokens, block, goals):
    """Return what an action is worth: steps towards the goal, and tokens gained and goals of others covered by their weights."""
    if action >= DONE:
        return 0.0
    k = action // PER_DIE
    here, distance = view.square[view.turn, k], DISTANCE[view.side[view.turn]]
    square, orient, gained = outcome_of(view, action)
    steps = distance[here, view.orient[view.turn, k]] - distance[square, orient]
    return float(steps) + tokens * gained + block * ((goals >> square & 1) - (goals >> here & 1))


@jit
def last_lock(view, action, lock):
    """Return what it is worth that an action locks the last die: a great deal if that wins, else less than nothing.

    With up to `lock` tokens left, who does not mind them, it is worth nothing by itself.
    """
    if action >= DONE or view.score[view.turn] < DICE - 1:
        return 0.0
    square, orient, gained = outcome_of(view, action)
    if DISTANCE[view.side[view.turn], square, orient] > 0:
        return 0.0
    reserve = view.reserve[view.turn] + gained
    if would_win(view, reserve):
        return DECISIVE
    return 0.0 if reserve <= lock else -DECISIVE


@jit
def best_action(view, actions, n, rng, is_careful, tokens, block, lock):
    """Return an action that is worth most, any of equal ones with the same chance; who is careful minds the last lock."""
    goals = contested(view) if block != 0 else np.int64(0)
    best, best_worth, n_equal = actions[0], -np.inf, 0
    for i in range(n):
        value = worth(view, actions[i], tokens, block, goals)
        if is_careful:
            value += last_lock(view, actions[i], lock)
        if value > best_worth:
            best, best_worth, n_equal = actions[i], value, 1
        elif value == best_worth:
            n_equal += 1
            if draw(rng, n_equal) == 0:
                best = actions[i]
    return best


# --- the policies -----------------------------------------------------------------------------------------------------------


@policy(placement=PLACEMENTS)
def uniform(view, actions, n, params, rng):
    """Choose any legal action with the same probability; place by the rule."""
    if view.phase == PLACE and params[0] != UNIFORM:
        return place_by_rule(view, params[0], rng)
    return actions[draw(rng, n)]


@policy(placement=PLACEMENTS)
def racer(view, actions, n, params, rng):
    """Take the action that brings its die closest to the goal, without a thought of tokens."""
    if view.phase == PLACE:
        return place_by_rule(view, params[0], rng)
    return best_action(view, actions, n, rng, False, 0.0, 0.0, 0.0)


@policy(tokens=0.25, placement=PLACEMENTS, lock=0)
def thrifty(view, actions, n, params, rng):
    """Race, a token gained counting `tokens` steps; lock the last die with at most `lock` tokens left, unless that wins."""
    if view.phase == PLACE:
        return place_by_rule(view, params[1], rng)
    return best_action(view, actions, n, rng, True, params[0], 0.0, params[2])


@policy(block=1, tokens=0.25, placement=PLACEMENTS)
def blocker(view, actions, n, params, rng):
    """Play as ``thrifty``, a die on the goal of another seat's die counting `block` steps."""
    if view.phase == PLACE:
        return place_by_rule(view, params[2], rng)
    return best_action(view, actions, n, rng, True, params[1], params[0], 0.0)


@policy(depth=2, tokens=0.1, placement=PLACEMENTS)
@allocates
def lookahead(view, actions, n, params, rng):
    """Look `depth` actions ahead, those of others too; a token more or less than planned counts `tokens` actions."""
    if view.phase == PLACE:
        return place_by_rule(view, params[2], rng)
    depth = max(1, int(params[0]))
    room = new_room(depth, view.seats)
    copy_record(view, room.states[0])
    search(room, depth, params[1], params[2], rng)
    return room.actions[0, room.best[0]]
