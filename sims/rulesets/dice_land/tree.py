"""Monte Carlo tree search: the policy ``mcts``.

Each run walks down the tree from the present position, outcomes drawn and actions chosen by their upper confidence bound (UCB1:
Auer, Cesa-Bianchi and Fischer, Machine Learning 47, 2002; in trees: Kocsis and Szepesvari, ECML 2006); it adds the first
position that is new, plays on greedily to the end, and counts the win share at every node that it came by. A node stands for what
happened since the root, outcomes included, so it is always the same position. The action that was tried most often is played.
"""

from typing import Any, NamedTuple

import numba.extending
import numpy as np

from sims.jit import MAX_ACTIONS, allocates, copy_record, jit
from sims.policy import policy
from sims.ruleset import CHANCE, OVER
from sims.rulesets.dice_land.odds import attack_gains
from sims.rulesets.dice_land.policies import LEFT, PLACEMENTS, place_die, play_greedily
from sims.rulesets.dice_land.rules import (
    PLACE,
    RED,
    actor,
    apply_action,
    apply_chance,
    chance,
    legal_actions,
    share_of_red,
)
from sims.rulesets.dice_land.search import GAME_DEPTH, SLOTS, is_endgame, is_full, new_room, records, search
from sims.streams import draw

EXPLORATION = 0.7  # weight of the uncertainty of a win share
WIDTH = 1.0  # runs that come by a node let the root of this times their number of actions be tried there
LONGEST = 1_000  # decisions of a run that need not end, as where nobody must attack; it then counts as it stands


class Tree(NamedTuple):
    """Nodes by number, 0 the root; number 0 as a child means none. All arrays are int64 but `won`.

    Attributes
    ----------
    code, parent : (nodes,)
        The outcome or action that leads to a node, and where from.
    first, after, children : (nodes,)
        Its youngest child, its next older sibling, and how many children it has.
    visits, won : (nodes,)
        Runs that came by, and the win shares of red that they ended with (float).
    size : (1,)
        Nodes so far.
    """

    code: Any
    parent: Any
    first: Any
    after: Any
    children: Any
    visits: Any
    won: Any
    size: Any


@numba.extending.register_jitable
def new_tree(n):
    """Return room for a tree of n nodes, with its root."""
    numbers = np.zeros((6, n), np.int64)
    return Tree(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], np.zeros(n), np.ones(1, np.int64))


@jit
def add_child(tree, node, code):
    """Add a node to the tree."""
    child = tree.size[0]
    tree.size[0] += 1
    tree.code[child], tree.parent[child] = code, node
    tree.after[child], tree.first[node] = tree.first[node], child
    tree.children[node] += 1
    return child


@jit
def child_of(tree, node, code):
    """Return what follows a node after this outcome or action, 0 if it is not in the tree."""
    child = tree.first[node]
    while child and tree.code[child] != code:
        child = tree.after[child]
    return child


@jit
def most_promising(tree, node, who):
    """Return the child with the best upper confidence bound for the seat that chooses."""
    child, best, best_bound = tree.first[node], np.int64(0), -1.0
    while child:
        share = tree.won[child] / tree.visits[child]
        bound = share if who == RED else 1.0 - share
        bound += EXPLORATION * np.sqrt(np.log(tree.visits[node]) / tree.visits[child])
        if bound > best_bound:
            best, best_bound = child, bound
        child = tree.after[child]
    return best


@jit
def is_wide(tree, node, n):
    """Have enough of the n actions been tried here, for as many runs as came by (progressive widening)?"""
    tried = tree.children[node]
    return tried == n or tried * tried > WIDTH * tree.visits[node]


@jit
def untried(tree, node, actions, n):
    """Bring the actions that have not been tried here to the front; return how many they are."""
    left = 0
    for i in range(n):
        if child_of(tree, node, actions[i]) == 0:
            actions[left] = actions[i]
            left += 1
    return left


@jit
def next_action(tree, node, is_below, state, actions, params, rng):
    """Return what ``greedy`` would do; in the tree, what it would do among what is untried, or the most promising."""
    n = legal_actions(state, actions)
    if not is_below:
        if is_wide(tree, node, n):
            return tree.code[most_promising(tree, node, state.turn)]
        n = untried(tree, node, actions, n)
    return np.int64(play_greedily(state, actions, n, params, rng, 0, 0))


@jit
def count(tree, node, share):
    """Count a run at a node and at all above it."""
    while True:
        tree.visits[node] += 1
        tree.won[node] += share
        if node == 0:
            return
        node = tree.parent[node]


@jit
def run(tree, state, actions, params, rng):
    """Play on to the end, down the tree to a new node and then below it; count the run at each node that it came by."""
    node, is_below, decisions = np.int64(0), False, 0
    while actor(state) != OVER and decisions < LONGEST:
        if actor(state) == CHANCE:
            code = draw(rng, chance(state))
            apply_chance(state, code)
        else:
            code = next_action(tree, node, is_below, state, actions, params, rng)
            apply_action(state, code)
            decisions += 1
        if not is_below:
            child = child_of(tree, node, code)
            is_below = child == 0
            node = add_child(tree, node, code) if is_below else child
    count(tree, node, share_of_red(state))


@jit
def most_visited(tree):
    """Return the action that was tried most often at the root."""
    child, best = tree.first[0], tree.first[0]
    while child:
        if tree.visits[child] > tree.visits[best]:
            best = child
        child = tree.after[child]
    return tree.code[best]


def table_for_runs(ruleset, variant, runs, exact, dice, *_):
    """Return the values of attacks, a die counting `dice` pips more, for playing on greedily."""
    return attack_gains(ruleset, variant, dice)


@policy(solve=table_for_runs, runs=400, exact=4, dice=3, placement=PLACEMENTS, left=LEFT)
@allocates
def mcts(view, actions, n, params, rng):
    """Search by so many runs, each played out as ``greedy``; exactly to the end with at most `exact` dice on the map."""
    if view.phase == PLACE:
        return place_die(view, rng, params[3], params[4])
    if is_endgame(view, params[1]):
        room = new_room(GAME_DEPTH, SLOTS)
        copy_record(view, room.states[0])
        search(room, params, 5, params[2])
        if not is_full(room):
            return actions[room.best[0]]
    runs = np.int64(max(1.0, params[0]))
    tree, buffer = new_tree(runs + 1), np.empty(MAX_ACTIONS, np.int32)
    states = records(1)  # named in every run: numba frees an array after its last name, though a record of it is in use
    greedy = params[2:]  # its parameters
    for _ in range(runs):
        copy_record(view, states[0])
        run(tree, states[0], buffer, greedy, rng)
    return most_visited(tree)
