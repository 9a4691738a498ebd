"""Exact values of Pig between two, for luck adjustment (``sims/luck.py``): both seats play a reference policy, or best.

Let C(i, j) be the chance to win of a seat that starts its turn with i points against j, and D(i, j, p) with a pot of p; f faces.

    D(i, j, p) = hold or roll, as the reference plays,  or 1 from the goal on,       hold = 1 - C(j, i + p),
    roll = (1 - C(j, i) + D(i, j, p + 2) + ... + D(i, j, p + f)) / f,                C(i, j) = roll at p = 0.

HOLD raises the sum of the scores, so sums are taken falling. C(i, j) and C(j, i) hang on each other through a turn that ends
with a 1; they are found by Newton's steps, one if the reference is a policy, as a turn is then linear in what follows a 1.
"""

from typing import NamedTuple

import numpy as np

from sims.errors import InputError
from sims.jit import ask, jit
from sims.rulesets.pig.rules import HOLD, ROLL

BEST = 2  # in place of an action: whichever is better
MAX_GOAL = 300  # the tables of a reference then take 0.43 GB
TOLERANCE = 1e-13  # of a step of Newton; what is left after it is rounding


class Book(NamedTuple):
    """Values, by own and other score (and pot), all below the goal.

    Attributes
    ----------
    start : float array (goal, goal)
        C.
    lost : float array (goal, goal, goal, 2)
        How much less HOLD, or ROLL, is worth than what the reference does.
    """

    start: np.ndarray
    lost: np.ndarray


@jit
def ask_everywhere(state, player, actions, plan):
    """Write down what a policy does in every position; any answer but HOLD is taken as ROLL."""
    goal = plan.shape[0]
    state.turn = state.throwing = 0
    actions[0], actions[1] = HOLD, ROLL
    for own in range(goal):
        for other in range(goal):
            for pot in range(1, goal - own):
                state.score[0], state.score[1], state.pot = own, other, pot
                action = ask(player, state, 2)
                plan[own, other, pot] = HOLD if action == HOLD else ROLL


@jit
def value_turn(own, other, plan, book, turn):
    """Value a turn by a plan and from what follows it; return its value, and the chance of a 1 in it.

    `turn` is room for values and chances of a 1, by pot up to the goal and what one more throw may add.
    """
    goal, need = book.start.shape[0], book.start.shape[0] - own
    faces = turn.shape[1] - goal
    for pot in range(need, need + faces):
        turn[0, pot], turn[1, pot] = 1.0, 0.0
    for pot in range(need - 1, -1, -1):
        roll, one = 1.0 - book.start[other, own], 1.0
        for face in range(2, faces + 1):
            roll += turn[0, pot + face]
            one += turn[1, pot + face]
        turn[0, pot], turn[1, pot] = roll / faces, one / faces
        if pot == 0:
            break
        hold = 1.0 - book.start[other, own + pot]
        gain, action = turn[0, pot] - hold, plan[own, other, pot]
        holds = action == HOLD or (action == BEST and gain < 0.0)
        if holds:
            turn[0, pot], turn[1, pot] = hold, 0.0
        book.lost[own, other, pot, HOLD] = 0.0 if holds else gain
        book.lost[own, other, pot, ROLL] = -gain if holds else 0.0
    return turn[0, 0], turn[1, 0]


@jit
def value_all(plan, book, turn):
    """Fill in the values of both seats going by a plan."""
    start, goal = book.start, book.start.shape[0]
    for total in range(2 * goal - 2, -1, -1):
        for own in range(max(0, total - goal + 1), total // 2 + 1):
            other = total - own
            start[own, other] = start[other, own] = 0.5
            change = 1.0
            while change > TOLERANCE:
                x, y = start[own, other], start[other, own]
                mine, one = value_turn(own, other, plan, book, turn)
                theirs, two = value_turn(other, own, plan, book, turn)
                start[own, other] += (mine - x - one * (theirs - y)) / max(1.0 - one * two, 1e-12)
                start[other, own] = theirs - two * (start[own, other] - x)
                change = abs(start[own, other] - x) + abs(start[other, own] - y)


def book(ruleset, variant, reference):
    """Return the values of a variant; raises InputError if its tables would be too large.

    Parameters
    ----------
    reference : tuple or None
        What the loop has of its table (:meth:`sims.simulate.Table.arguments`); None for best play.
    """
    goal, faces = variant.values["goal"], variant.values["faces"]
    if goal > MAX_GOAL:
        raise InputError(f"luck adjustment of {ruleset.name} is for goals up to {MAX_GOAL}, not {goal}")
    plan, values = np.full((goal, goal, goal), BEST, np.int8), Book(np.zeros((goal, goal)), np.zeros((goal, goal, goal, 2)))
    if reference is not None:
        state, _, players, _, _, actions = reference
        ask_everywhere(state, players[0, 0], actions, plan)
    value_all(plan, values, np.zeros((2, goal + faces)))
    return values


def room(book):
    """Return how many floats of room are needed."""
    return 0


def cost(book):
    """Return how many times longer an adjusted game takes, between fast policies."""
    return 1.4


@jit
def value(state, luck):
    """Return the chance of the seat whose turn it is, as the game starts or at a decision."""
    own, other, pot = state.score[state.turn], state.score[1 - state.turn], state.pot
    if state.throwing:
        return luck.book.start[own, other]
    if own + pot >= state.variant.goal:
        return 1.0
    return 1.0 - luck.book.start[other, own + pot] + luck.book.lost[own, other, pot, HOLD]


@jit
def loss(state, action, luck):
    """Return how much less the action is worth than what the reference does."""
    own, other, pot = state.score[state.turn], state.score[1 - state.turn], state.pot
    if own + pot >= state.variant.goal:
        return 0.0 if action == HOLD else luck.book.start[other, own] / state.variant.faces
    return luck.book.lost[own, other, pot, action]
