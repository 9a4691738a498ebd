"""The kernels of regret by simulation: a game that was played is followed through the rules functions, and each decision of one
seat tells what it gives away, by the values of best play (a packed solution, ``optimal.py``).

A decision is valued as if best play followed it, so no luck of later dice is in its loss; the sum over a game has the mean
V(game) - V(game, policy against best play) by the performance difference lemma (``evaluation.py``).
"""

from typing import Any, NamedTuple

import numpy as np

from sims.jit import cold
from sims.ruleset import CHANCE
from sims.rulesets.dice_fever.flow import IN_CARDS, IN_TURN, IN_WINDOW, Losses, card_slot, count_loss
from sims.rulesets.dice_fever.optimal import (
    BELOW,
    LEAVES,
    best_addition,
    best_of,
    cards_of,
    cards_value,
    ends_of,
    find,
    hand,
    mean_of,
    rival_of,
    start_entry,
    value_each,
    value_of,
)
from sims.rulesets.dice_fever.rules import ADD_PARADE, COMMIT, WINDOW, actor, apply_action, apply_chance, reset
from sims.rulesets.dice_fever.turns import position_code


class Book(NamedTuple):
    """Best play's values, and room to work in."""

    params: np.ndarray  # the packed solution
    values: np.ndarray  # float (leaves + nodes,)
    states: Any  # records (3,): the position; after cards; after the RISK die
    rows: np.ndarray  # of the turn graph
    ways: np.ndarray  # float (ways, 3): face of the RISK die, points won in a Duel, probability
    codes: int  # ways to commit cards


@cold
def follow_game(game, seat, book, losses: Losses):
    """Count what a seat gives away in a game, told by its outcomes and actions."""
    state = book.states[0]
    reset(state)
    for code in game:
        who = actor(state)
        if who == CHANCE:
            apply_chance(state, code)
            continue
        if who == seat and state.phase in (COMMIT, ADD_PARADE):
            count_cards(state, code, book, losses)
        elif who == seat:
            count_turn(state, code, book, losses)
        apply_action(state, code)


@cold
def count_cards(state, action, book, losses):
    """Count the cards committed to a turn, or those added after its RISK die."""
    rival, adds = 1 - state.turn, int(state.phase == ADD_PARADE)
    if adds:
        best, value = best_addition(state, book.params, rival, book.values)
    else:
        entry = start_entry(state, book.params, rival)
        best, value = np.int64(cards_of(entry)), value_of(entry)
    if action != best:
        loss = value - cards_value(state, action, book.params, book.ways, book.values, book.states[1:])
        which = card_slot(hand(state, book.params, state.turn), adds, action, best, book.codes, book.rows[-1])
        count_loss(state, IN_CARDS, which, action, best, 1.0, loss, losses)


@cold
def count_turn(state, action, book, losses):
    """Count STOP or throw, or what becomes of a Relance token."""
    params, values, rival = book.params, book.values, rival_of(state)
    ends, node = ends_of(state, params, rival, hand(state, params, state.turn)), find(params, position_code(state))
    value_each(params, ends, values, int(params[BELOW]), node, False)
    best, best_value = best_of(params, values, node)
    first = row = chosen_row = best_row = book.rows[int(params[node]) - int(params[LEAVES])]
    place, chosen_value = node + 3, best_value
    for _ in range(int(params[node + 2])):
        value, following = mean_of(params, values, place)
        if params[place] == action:
            chosen_row, chosen_value = row, value
        if place == best:
            best_row = row
        row, place = row + 1, following
    if chosen_row != best_row:
        kind, which = IN_WINDOW if state.phase == WINDOW else IN_TURN, 3 * chosen_row + best_row - first
        count_loss(state, kind, which, action, int(params[best]), 1.0, abs(best_value - chosen_value), losses)
