"""The policy ``optimal``: plays from the exact solution of the game between two.

Its parameters are one flat table: a header, the value tables of ``exact.py`` with the cards that best play commits packed into
them (2 * code + value: a value is at most 1), and the turn graph with, for each decision, the nodes below it. A decision within a
turn is valued by a sweep over those nodes alone. With more than two players it plays as if against one: the rival with the
highest score (of a Relance token, its owner or its target).
"""

from typing import Any

import numpy as np

from sims.jit import allocates, jit
from sims.policy import policy
from sims.ruleset import Ruleset, Variant
from sims.rulesets.dice_fever import exact
from sims.rulesets.dice_fever.rules import (
    ADD_PARADE,
    AT,
    CARDS,
    COMMIT,
    DUEL_TARGET,
    RELANCE_TARGET,
    WINDOW,
)
from sims.rulesets.dice_fever.solver import tie_value
from sims.rulesets.dice_fever.turns import OUT, PLAIN, X2, position_code

HEADER = (
    "low", "scores", "risk", "hands", "target", "top", "strict", "tie", "leaves", "nodes", "slots",
    "win", "last", "points", "six", "rows", "actions", "edges", "child", "weight", "owners", "starts", "slot", "below", "list",
)  # fmt: skip
(
    LOW, SCORES, RISK, HANDS, TARGET, TOP, STRICT, TIE, LEAVES, NODES, SLOTS,
    WIN, LAST, POINTS, SIX_ON, ROWS, ACTIONS, EDGES, CHILD, WEIGHT, OWNERS, STARTS, SLOT, BELOW, LIST,
) = range(len(HEADER))  # fmt: skip


# --- the table --------------------------------------------------------------------------------------------------------------


def table(ruleset: Ruleset, variant: Variant) -> np.ndarray:
    """Return the table of ``optimal`` for a variant, solved or from the cache folder."""
    return packed(exact.solution(ruleset, variant))


def packed(solution: exact.Solution) -> np.ndarray:
    """Return a solution as one flat float array."""
    frame, graph = solution.frame, solution.graph
    win = (2.0 * solution.cards + solution.win).swapaxes(-1, -2)  # own score, other score: a turn's ends lie side by side
    last = 2.0 * solution.last_cards + solution.last_turn
    below, lists = nodes_below(graph)
    slots = slots_of(graph)
    sections = {
        "win": win, "last": last.swapaxes(-1, -2), "points": graph.points, "six": graph.with_six, "rows": graph.rows,
        "actions": graph.actions, "edges": graph.edges, "child": graph.child, "weight": graph.weight,
        "owners": graph.is_owners, "starts": graph.starts[:, : X2 + 1], "slot": slots, "below": below, "list": lists,
    }  # fmt: skip
    numbers = {
        "low": frame.low, "scores": frame.high - frame.low + 1, "risk": frame.risk, "hands": frame.hands, "target": frame.target,
        "top": frame.top, "strict": solution.variant.values["last_turn_strict"],
        "tie": tie_value(solution.ruleset, solution.variant), "leaves": len(graph.points), "nodes": len(graph.states),
        "slots": len(slots) // 2,
    }  # fmt: skip
    offset = len(HEADER)
    for name, section in sections.items():
        numbers[name] = offset
        offset += section.size
    flat = np.empty(offset)
    flat[: len(HEADER)] = [numbers[name] for name in HEADER]
    for name, section in sections.items():
        flat[numbers[name] : numbers[name] + section.size] = section.ravel()
    return flat


def nodes_below(graph: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return for each node where its list begins (and one end more), and the lists: every node below it, children first."""
    n_leaves = len(graph.points)
    below: list[set[int]] = []
    for node in range(len(graph.states)):
        edges = graph.child[graph.edges[graph.rows[node]] : graph.edges[graph.rows[node + 1]]]
        children = {int(child) - n_leaves for child in edges if child >= n_leaves}
        below.append(children.union(*(below[child] for child in children)))
    sizes = np.cumsum([0, *(len(each) for each in below)])
    return sizes, np.array([node for each in below for node in sorted(each)], float)


def slots_of(graph: Any) -> np.ndarray:
    """Return a hash table from :func:`turns.position_code` to nodes: code (or -1) and node, slot after slot."""
    n_slots = 1 << (4 * len(graph.states)).bit_length()
    slots = np.full((n_slots, 2), -1.0)
    for code, node in graph.node_of.items():
        place = slot(code, n_slots)
        while slots[place, 0] >= 0:
            place = (place + 1) % n_slots
        slots[place] = code, node
    return slots.ravel()


# --- the policy -------------------------------------------------------------------------------------------------------------


@jit
def slot(code, n_slots):
    """Return where to look for a code first."""
    return (code * 2654435761 >> 7) % n_slots


@jit
def find(params, code):
    """Return the node of a code."""
    n_slots, first = int(params[SLOTS]), int(params[SLOT])
    place = slot(code, n_slots)
    while params[first + 2 * place] != code:
        place = (place + 1) % n_slots
    return int(params[first + 2 * place + 1])


@jit
def hand(view, params, seat):
    """Return the index of a seat's hand."""
    return view.parade[seat] * (int(params[RISK]) + 1) + min(view.risk[seat], int(params[RISK]))


@jit
def clipped(params, score):
    """Return a score's place in the tables; with more than two players it may lie beyond them."""
    return min(max(score - int(params[LOW]), 0), int(params[SCORES]) - 1)


@jit
def win_row(params, seat, token, own, other, own_score):
    """Return where the entries of a mover lie, by the other's score."""
    hands, scores = int(params[HANDS]), int(params[SCORES])
    layer = ((seat * 2 + token) * hands + own) * hands + other
    return int(params[WIN]) + (layer * scores + clipped(params, own_score)) * scores


@jit
def last_row(params, token, first, second, second_score):
    """Return where the entries of seat 1's last turn lie, by seat 0's score from the target on."""
    hands, scores = int(params[HANDS]), int(params[SCORES])
    rows = int(params[TOP]) - int(params[TARGET]) + 1
    layer = (token * hands + first) * hands + second
    return int(params[LAST]) + (layer * scores + clipped(params, second_score)) * rows


@jit
def value_of(entry):
    """Return the win probability of a packed entry."""
    return entry - 2.0 * np.floor(entry / 2.0)


@jit
def at_target(params, score):
    """Return a validated score's place in the tables."""
    return min(score, int(params[TOP])) - int(params[TARGET])


@jit
def rival_of(view):
    """Return the opponent who matters: the best other score; in a Relance window the two it is between."""
    if view.phase == WINDOW:
        return np.int64(view.owner)
    best = -1
    for seat in range(view.seats):
        if seat != view.turn and (best < 0 or view.score[seat] > view.score[best]):
            best = seat
    return best


@jit
def is_last(view, rival):
    """Does the mover play its last turn against a rival who has validated?"""
    return view.last_round and view.validated[rival] != 0


@jit
def worth_of_ends(view, params, rival, own, values):
    """Write what each end of the mover's turn is worth to `values`, if `own` is the hand that is left."""
    n_leaves, target = int(params[LEAVES]), int(params[TARGET])
    points, six = int(params[POINTS]), int(params[SIX_ON])
    score, theirs = view.score[view.turn], view.score[rival]
    other = hand(view, params, rival)
    relance = 1 if view.tokens[rival] >> view.turn & 1 else 0
    last = is_last(view, rival)
    is_second = 1 if view.turn > rival else 0
    compares = last and (theirs >= target or params[STRICT] == 0)
    next_seat, next_token = (0, 0) if last else (1 - is_second, relance)
    nexts = win_row(params, next_seat, next_token, other, own, theirs)
    validates = last_row(params, relance, own, other, theirs)
    out = 0.0 if compares else 1.0 - value_of(params[nexts + clipped(params, score)])
    for leaf in range(n_leaves):
        total = score + int(params[points + leaf])
        if leaf == OUT or (total >= target and params[six + leaf] == 0):
            values[leaf] = out
        elif compares:
            won = total >= target and total > theirs
            values[leaf] = 1.0 if won else params[TIE] if total >= target and total == theirs else 0.0
        elif total < target:
            values[leaf] = 1.0 - value_of(params[nexts + clipped(params, total)])
        elif last or is_second:
            values[leaf] = 1.0
        else:
            values[leaf] = 1.0 - value_of(params[validates + at_target(params, total)])


@jit
def mean_of(params, values, row):
    """Return the value of an action or a start."""
    edges, child, weight = int(params[EDGES]), int(params[CHILD]), int(params[WEIGHT])
    total = 0.0
    for edge in range(int(params[edges + row]), int(params[edges + row + 1])):
        total += params[weight + edge] * values[int(params[child + edge])]
    return total


@jit
def best_row(params, values, node):
    """Return the best action of a node, as a row, and its value."""
    rows, owners = int(params[ROWS]), int(params[OWNERS])
    best = int(params[rows + node])
    best_value = mean_of(params, values, best)
    for row in range(best + 1, int(params[rows + node + 1])):
        value = mean_of(params, values, row)
        if value < best_value if params[owners + node] else value > best_value:
            best, best_value = row, value
    return best, best_value


@jit
def value_below(params, values, first, last):
    """Value the nodes of a stretch of the lists."""
    n_leaves, lists = int(params[LEAVES]), int(params[LIST])
    for place in range(first, last):
        node = int(params[lists + place])
        _, values[n_leaves + node] = best_row(params, values, node)


@jit
def decide(view, params, rival, values):
    """Return the best action within a turn."""
    worth_of_ends(view, params, rival, hand(view, params, view.turn), values)
    node, below = find(params, position_code(view)), int(params[BELOW])
    value_below(params, values, int(params[below + node]), int(params[below + node + 1]))
    row, _ = best_row(params, values, node)
    return int(params[int(params[ACTIONS]) + row])


@jit
def start_entry(view, params, rival):
    """Return the packed entry of the start of a turn."""
    own, other = hand(view, params, view.turn), hand(view, params, rival)
    token = 1 if view.tokens[view.turn] else 0
    score, theirs = view.score[view.turn], view.score[rival]
    if is_last(view, rival) and theirs >= int(params[TARGET]):
        return params[last_row(params, token, other, own, score) + at_target(params, theirs)]
    seat = 1 if view.turn > rival else 0
    return params[win_row(params, seat, token, own, other, score) + clipped(params, theirs)]


@jit
def cards_of(entry):
    """Return the cards that best play commits, as an action."""
    return CARDS + int(entry / 2.0)


@jit
def best_addition(view, params, rival, values):
    """Return how best to add PARADE cards after the RISK throw, as an action, and its value."""
    per_card = int(params[RISK]) + 1
    own, against = hand(view, params, view.turn), 1 if view.tokens[view.turn] else 0
    kind = X2 if view.mult == 2 else PLAIN
    best, best_value = 0, -1.0
    for more in range(view.parade[view.turn] + 1):
        worth_of_ends(view, params, rival, own - more * per_card, values)
        for node in range(int(params[NODES])):
            _, values[int(params[LEAVES]) + node] = best_row(params, values, node)
        row = int(params[int(params[STARTS]) + (against * 2 + kind) * (view.variant.parade_cards + 1) + view.shields + more])
        value = mean_of(params, values, row)
        if value > best_value:
            best, best_value = more, value
    return CARDS + 2 * best, best_value


@policy(solve=table)
@allocates
def optimal(view, actions, n, params, rng):
    """Play the exact solution of the game between two; with more players, against the leading opponent."""
    rival = rival_of(view)
    if view.phase == COMMIT:
        return cards_of(start_entry(view, params, rival))
    if view.phase == DUEL_TARGET or view.phase == RELANCE_TARGET:
        return AT + rival
    values = np.empty(int(params[LEAVES]) + int(params[NODES]))
    if view.phase == ADD_PARADE:
        return best_addition(view, params, rival, values)[0]
    return decide(view, params, rival, values)
