"""Exact values of Dice Fever between two, for luck adjustment (``sims/luck.py``).

V is best play's, from its packed solution (``optimal.py``). Cards are valued only where others than best play's are committed,
and a throw only where it is not seen at once that it is best; the rest is a sweep over what lies below a decision.

A game without cards has few enough turns for all of them to be valued beforehand. Then both seats may play a reference policy
instead, whose values take the place of best play's in the packed solution: starts of turns are met with falling sums of scores,
as banked points raise them. An OUT leads to the same scores with the other to move; a turn is linear in what that start is worth,
so both follow from two equations.
"""

from typing import NamedTuple

import numpy as np

from sims.jit import ask, cold, jit
from sims.rulesets.dice_fever import exact, optimal
from sims.rulesets.dice_fever.optimal import (
    BELOW,
    LEAVES,
    NODES,
    SCORES,
    STARTS,
    at_target,
    best_addition,
    best_of,
    cards_of,
    cards_value,
    clipped,
    ends_of,
    find,
    hand,
    is_last,
    is_throw_best,
    mean_of,
    start_entry,
    start_place,
    value_each,
    value_of,
    worth_of_end,
)
from sims.rulesets.dice_fever.rules import ADD_PARADE, COMMIT, DECIDE, STOP, THROW, WINDOW
from sims.rulesets.dice_fever.turns import position_code

KEPT = 65_537  # worths of cards that are kept; a prime spreads the keys


class Book(NamedTuple):
    """Values of best play or of a reference, in entries whose mean over references are values too.

    Attributes
    ----------
    params : float array
        The packed solution.
    ways : float array (ways, 3)
        Outcomes of the RISK die, see ``optimal.ways_of``.
    turns : float array (starts, leaves + nodes)
        The mover's chance at every leaf and node of a turn, by :func:`start_number`; no rows in a game with cards.
    """

    params: np.ndarray
    ways: np.ndarray
    turns: np.ndarray


# --- the book -------------------------------------------------------------------------------------------------------------------


def book(ruleset, variant, reference):
    """Return the values of a variant under best play, or of a reference; None for a reference in a game with cards.

    Parameters
    ----------
    reference : tuple or None
        See :func:`sims.rulesets.pig.luck.book`.
    """
    solution = exact.solution(ruleset, variant)
    has_cards = solution.frame.hands > 1
    if reference is not None and has_cards:
        return None
    params = optimal.packed(solution)
    starts = np.zeros((0, 4), np.int64) if has_cards else starts_of(solution.frame)
    turns = np.zeros((len(starts), int(params[LEAVES] + params[NODES])))
    states = solution.graph.records.copy()
    states["variant"] = ruleset.new_state(2, variant).variant
    if reference is None:
        value_best(starts, states, params, turns)
    else:
        _, _, players, _, _, actions = reference
        plan, worth = np.zeros((2, len(states)), np.int64), np.zeros(6)
        value_reference(starts, states, players[0, 0], actions, plan, worth, params, turns)
    return Book(params, optimal.ways_of(solution.frame), turns)


def room(book):
    """Return how many floats of room are needed: the values of a turn; keys and worth of cards that were committed."""
    return book.turns.shape[1] + (0 if len(book.turns) else 2 * KEPT)


def cost(book):
    """Return how many times longer an adjusted game takes, between fast policies; see ``tests/bench/luck.py``."""
    return 3.0 if len(book.turns) else 40.0


def starts_of(frame):
    """Return the starts of turns in a game without cards, an int array (starts, 4): seat, scores of seats 0 and 1, is it last?

    The last turns come first, then falling sums; the two seats of the same scores are neighbours.
    """
    first, second = np.mgrid[frame.target : frame.top + 1, : frame.target].reshape(2, -1)
    last = np.stack([np.ones_like(first), first, second, np.ones_like(first)], 1)
    first, second = np.mgrid[: frame.target, : frame.target].reshape(2, -1)
    order = np.argsort(-(first + second), kind="stable").repeat(2)
    ordinary = np.stack([np.arange(order.size) % 2, first[order], second[order], np.zeros_like(order)], 1)
    return np.concatenate([last, ordinary])


@jit
def start_number(state, params):
    """Return the number of the start of this turn in `turns`."""
    scores, rival = int(params[SCORES]), 1 - np.int64(state.turn)
    own, other = clipped(params, state.score[state.turn]), clipped(params, state.score[rival])
    if is_last(state, rival):
        return (2 * scores + at_target(params, state.score[rival])) * scores + own
    return (np.int64(state.turn) * scores + own) * scores + other


@jit
def open_start(state, start):
    """Set whose turn it is, the scores, and whether seat 0 has validated."""
    state.turn, state.score[0], state.score[1] = start[0], start[1], start[2]
    state.last_round = state.validated[0] = start[3]


@cold
def value_best(starts, states, params, turns):
    """Fill in the turns of best play."""
    state, first = states[0], int(params[int(params[STARTS])])
    for i in range(starts.shape[0]):
        open_start(state, starts[i])
        values = turns[start_number(state, params)]
        value_each(params, ends_of(state, params, 1 - np.int64(state.turn), 0), values, int(params[BELOW]), first, False)


@cold
def value_reference(starts, states, player, actions, plan, worth, params, turns):
    """Fill in the turns in which both seats play a policy, and the chances at their starts."""
    n_last = starts.shape[0] - 2 * int(params[SCORES]) ** 2
    for i in range(starts.shape[0]):
        seat = starts[i, 0]
        plan_turn(states, starts[i], player, actions, params, plan[seat])
        if i < n_last:
            params[start_place(states[0], params, 1 - np.int64(seat))] = value_planned(states[0], params, plan[seat], turns)
        elif seat == 1:
            settle_pair(states[0], starts[i - 1], starts[i], plan, params, turns, worth)


@cold
def settle_pair(state, first, second, plan, params, turns, worth):
    """Value two starts with the same scores, each of which may lead to the other.

    First each with the other worth 0, then 1: `worth` becomes f0, g0, f1, g1, and x = f0 + (f1 - f0) y, y = g0 + (g1 - g0) x.
    Where every turn is an OUT any x = 1 - y will do. At last each with what the other is worth.
    """
    for step in range(6):
        start, other = (second, first) if step % 2 else (first, second)
        open_start(state, other)
        entry = start_place(state, params, 1 - np.int64(state.turn))
        open_start(state, start)
        if step < 4:
            params[entry] = step // 2
        worth[step] = value_planned(state, params, plan[step % 2], turns)
        if step == 3:
            f, g = worth[2] - worth[0], worth[3] - worth[1]
            x = (worth[0] + f * worth[1]) / (1.0 - f * g) if f * g < 1.0 else 0.5
            params[entry], params[start_place(state, params, 1 - np.int64(state.turn))] = x, worth[1] + g * x


@cold
def plan_turn(states, start, player, actions, params, plan):
    """Ask a policy at every decision of a turn, and write down where in the packed solution its action stands; for what is not
    legal, the first action."""
    lists, leaves, first = int(params[BELOW]), int(params[LEAVES]), int(params[int(params[STARTS])])
    at = lists + int(params[first]) - leaves
    actions[0], actions[1] = STOP, THROW
    for k in range(lists + int(params[at]), lists + int(params[at + 1])):
        node = int(params[k])
        if node < 0:
            continue
        number = int(params[node]) - leaves
        plan[number] = node + 3
        if states[number].phase == DECIDE:
            open_start(states[number], start)
            action = ask(player, states[number], 2)
            place = place_of(params, node, action)
            plan[number] = place if place >= 0 else node + 3
    open_start(states[0], start)


@jit
def place_of(params, node, action):
    """Return the place of an action of the node at a place, or -1."""
    place = node + 3
    for _ in range(int(params[node + 2])):
        if params[place] == action:
            return place
        place += 2 + 2 * int(params[place + 1])
    return np.int64(-1)


@cold
def value_planned(state, params, plan, turns):
    """Value a turn that goes by a plan; return the mover's chance at its start."""
    lists, leaves, start = int(params[BELOW]), int(params[LEAVES]), int(params[int(params[STARTS])])
    values, ends = turns[start_number(state, params)], ends_of(state, params, 1 - np.int64(state.turn), 0)
    at = lists + int(params[start]) - leaves
    for k in range(lists + int(params[at]), lists + int(params[at + 1])):
        each = int(params[k])
        if each < 0:
            values[~each] = worth_of_end(params, ends, ~each)
        else:
            number = int(params[each])
            values[number] = mean_of(params, values, plan[number - leaves])[0]
    return mean_of(params, values, start + 3)[0]


# --- in the loop ----------------------------------------------------------------------------------------------------------------


@cold
def value(state, luck):
    """Return the chance of the seat whose turn it is, as the game starts or at a decision."""
    params, values, rival = luck.book.params, luck.room, 1 - np.int64(state.turn)
    if state.phase == ADD_PARADE:
        return best_addition(state, params, rival, values)[1]
    if state.phase != DECIDE and state.phase != WINDOW:
        return value_of(start_entry(state, params, rival))
    node = find(params, position_code(state))
    if luck.book.turns.shape[0] > 0:
        return luck.book.turns[start_number(state, params), int(params[node])]
    ends = ends_of(state, params, rival, hand(state, params, state.turn))
    value_each(params, ends, values, int(params[BELOW]), node, False)
    return best_of(params, values, node)[1]


@jit
def loss(state, action, luck):
    """Return how much less the action is worth, to the seat that acts, than what best play or the reference does."""
    if luck.book.turns.shape[0] == 0:
        return loss_within(state, action, luck) if state.phase in (DECIDE, WINDOW) else loss_of_cards(state, action, luck)
    params = luck.book.params
    node, values = find(params, position_code(state)), luck.book.turns[start_number(state, params)]
    return values[int(params[node])] - mean_of(params, values, place_of(params, node, action))[0]


@cold
def loss_within(state, action, luck):
    """Return what a decision within a turn gives away, in a game with cards."""
    params, values, rival = luck.book.params, luck.room, 1 - np.int64(state.turn)
    ends, node = ends_of(state, params, rival, hand(state, params, state.turn)), find(params, position_code(state))
    if action == THROW and is_throw_best(params, ends, values, node):
        return 0.0
    value_each(params, ends, values, int(params[BELOW]), node, False)
    return abs(best_of(params, values, node)[1] - mean_of(params, values, place_of(params, node, action))[0])


@cold
def loss_of_cards(state, action, luck):
    """Return what committing these cards, or adding them after the RISK die, gives away."""
    params, values, rival = luck.book.params, luck.room, 1 - np.int64(state.turn)
    if state.phase != COMMIT:
        best, best_value = best_addition(state, params, rival, values)
        return 0.0 if action == best else best_value - cards_value(state, action, params, luck.book.ways, values, luck.spare)
    place = start_place(state, params, rival)
    if action == cards_of(params[place]):
        return 0.0
    key = place * 64.0 + action  # the same first turns come again and again
    kept = luck.book.turns.shape[1] + 2 * (int(key) % KEPT)
    if luck.room[kept] != key:
        luck.room[kept + 1] = cards_value(state, action, params, luck.book.ways, values, luck.spare)
        luck.room[kept] = key
    return value_of(params[place]) - luck.room[kept + 1]
