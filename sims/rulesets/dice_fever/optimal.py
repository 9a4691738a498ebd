"""The policy ``optimal``: plays from the exact solution of the game between two.

Its parameters are one flat table: a header, the value tables of ``exact.py`` with the cards that best play commits packed into
them (2 * code + value: a value is at most 1), and the turn graph with, for each decision, what lies below it. A decision within a
turn is valued by a sweep over that alone, and first over much less: whoever throws and then says STOP as soon as possible wins no
more than best play after the throw, so if that beats STOP already, THROW is best. Nineteen in twenty throws are found so. Sums
round monotonically, so this bound never exceeds the value that the whole sweep would compute. With more than two players it plays
as if against one: the rival with the highest score (of a Relance token, its owner or its target).
"""

from typing import Any

import numpy as np

from sims.jit import allocates, cold, jit
from sims.policy import policy
from sims.ruleset import Ruleset, Variant
from sims.rulesets.dice_fever import exact, rules
from sims.rulesets.dice_fever.rules import (
    ADD_PARADE,
    AT,
    CARDS,
    COMMIT,
    DUEL,
    DUEL_TARGET,
    RELANCE_TARGET,
    RISK_DIE,
    THROW,
    WINDOW,
    after_risk,
    apply_action,
    risk_die,
)
from sims.rulesets.dice_fever.solver import Frame, tie_value
from sims.rulesets.dice_fever.sweeps import RELANCE
from sims.rulesets.dice_fever.turns import OUT, PLAIN, SIX, X2, position_code

HEADER = (
    "low", "scores", "risk", "hands", "target", "top", "strict", "tie", "leaves", "nodes", "slots",
    "record", "win", "last", "points", "six", "starts", "slot", "below", "near",
)  # fmt: skip
(
    LOW, SCORES, RISK, HANDS, TARGET, TOP, STRICT, TIE, LEAVES, NODES, SLOTS,
    RECORD, WIN, LAST, POINTS, SIX_ON, STARTS, SLOT, BELOW, NEAR,
) = range(len(HEADER))  # fmt: skip

FACES = {PLAIN: DUEL, X2: rules.X2, SIX: rules.SIX, RELANCE: rules.RELANCE}


# --- the table --------------------------------------------------------------------------------------------------------------


def table(ruleset: Ruleset, variant: Variant) -> np.ndarray:
    """Return the table of ``optimal`` for a variant, solved or from the cache folder."""
    return packed(exact.solution(ruleset, variant))


def packed(solution: exact.Solution) -> np.ndarray:
    """Return a solution as one flat float array."""
    frame, graph = solution.frame, solution.graph
    win = (2.0 * solution.cards + solution.win).swapaxes(-1, -2)  # own score, other score: a turn's ends lie side by side
    last = 2.0 * solution.last_cards + solution.last_turn
    record, places, starts = records_of(graph)
    below, near = what_is_below(graph)
    slots = slots_of(graph, places)
    sections = {
        "record": record, "win": win, "last": last.swapaxes(-1, -2), "points": graph.points, "six": graph.with_six,
        "starts": starts, "slot": slots, "below": listed(graph, below, places), "near": listed(graph, near, places),
    }  # fmt: skip
    numbers = {
        "low": frame.low, "scores": frame.high - frame.low + 1, "risk": frame.risk, "hands": frame.hands, "target": frame.target,
        "top": frame.top, "strict": solution.variant.values["last_turn_strict"],
        "tie": tie_value(solution.ruleset, solution.variant), "leaves": len(graph.points), "nodes": len(places),
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


def ways_of(frame: Frame) -> np.ndarray:
    """Return the outcomes of the RISK die and a Duel: face, points won, probability."""
    ways = []
    for kind, share in frame.faces.items():
        won = frame.duels if kind == PLAIN else ((0, 1.0),)
        ways += [(FACES[kind], gain, share * chance) for gain, chance in won]
    return np.array(ways, float).reshape(-1, 3)


def nodes_of(graph: Any) -> list[tuple[int, int, bool]]:
    """Return first row, row after the last and whether an owner decides: of each node, then of each start as one more node."""
    starts = range(len(graph.actions), len(graph.edges) - 1)
    rows = zip(graph.rows[:-1].tolist(), graph.rows[1:].tolist(), graph.is_owners.tolist(), strict=True)
    return [*rows, *((row, row + 1, False) for row in starts)]


def records_of(graph: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the nodes one after another, the place of each in the table, and those of the starts, as ``graph.starts``.

    A node is its number as a child, whether an owner decides, its number of actions and these; an action is its code (any
    for a start), its number of edges and these; an edge is child and weight.
    """
    record, places, codes = list[float](), list[int](), [*graph.actions, *[0] * len(graph.edges)]
    for node, (first, last, is_owners) in enumerate(nodes_of(graph)):
        places.append(len(HEADER) + len(record))
        record += [len(graph.points) + node, is_owners, last - first]
        for row in range(first, last):
            edges = slice(graph.edges[row], graph.edges[row + 1])
            record += [codes[row], edges.stop - edges.start, *np.stack([graph.child[edges], graph.weight[edges]], 1).ravel()]
    starts = np.maximum(graph.starts - len(graph.actions), 0) + len(graph.states)
    return np.array(record), np.array(places), np.array(places)[starts]


def what_is_below(graph: Any) -> tuple[list[set[int]], list[set[int]]]:
    """Return for each of :func:`nodes_of` the leaves and nodes below it, as children; and those before anybody says STOP."""
    n_leaves = len(graph.points)
    below, near, until_stop = list[set[int]](), list[set[int]](), list[set[int]]()
    for first, last, is_owners in nodes_of(graph):
        children = set(graph.child[graph.edges[first] : graph.edges[last]].tolist())
        below.append(children.union(*(below[child - n_leaves] for child in children if child >= n_leaves)))
        near.append(children.union(*(until_stop[child - n_leaves] for child in children if child >= n_leaves)))
        after = set(graph.child[graph.edges[first] : graph.edges[last if is_owners else first + 1]].tolist())
        until_stop.append(after.union(*(until_stop[child - n_leaves] for child in after if child >= n_leaves)))
    return below, near


def listed(graph: Any, sets: list[set[int]], places: np.ndarray) -> np.ndarray:
    """Return sets of children as one array: where each begins (and one end more), then ~leaves and places of nodes, rising."""
    sizes = [len(sets) + 1, *(len(each) for each in sets)]
    where = np.array([*(~leaf for leaf in range(len(graph.points))), *places])
    return np.concatenate([np.cumsum(sizes), where[[child for each in sets for child in sorted(each)]]])


def slots_of(graph: Any, places: np.ndarray) -> np.ndarray:
    """Return a hash table from :func:`turns.position_code` to places of nodes: code (or -1) and place, slot after slot."""
    n_slots = 1 << (4 * len(graph.states)).bit_length()
    slots = np.full((n_slots, 2), -1.0)
    for code, node in graph.node_of.items():
        at = slot(code, n_slots)
        while slots[at, 0] >= 0:
            at = (at + 1) % n_slots
        slots[at] = code, places[node]
    return slots.ravel()


# --- the policy -------------------------------------------------------------------------------------------------------------


@jit
def slot(code, n_slots):
    """Return where to look for a code, below 2**33, first."""
    return (code * 1013904223 >> 32) % n_slots


@jit
def find(params, code):
    """Return the place of the node of a code."""
    n_slots, first = int(params[SLOTS]), int(params[SLOT])
    at = slot(code, n_slots)
    while params[first + 2 * at] != code:
        at = (at + 1) % n_slots
    return int(params[first + 2 * at + 1])


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
def ends_of(view, params, rival, own):
    """Return what the worth of an end of the mover's turn goes by, if `own` is the hand that is left."""
    score, theirs = view.score[view.turn], view.score[rival]
    other = hand(view, params, rival)
    relance = 1 if view.tokens[rival] >> view.turn & 1 else 0
    last = is_last(view, rival)
    is_second = 1 if view.turn > rival else 0
    compares = last and (theirs >= int(params[TARGET]) or params[STRICT] == 0)
    next_seat, next_token = (0, 0) if last else (1 - is_second, relance)
    nexts = win_row(params, next_seat, next_token, other, own, theirs)
    validates = last_row(params, relance, own, other, theirs)
    out = 0.0 if compares else 1.0 - value_of(params[nexts + clipped(params, score)])
    return score, theirs, compares, last or is_second == 1, nexts, validates, out


@jit
def worth_of_end(params, ends, leaf):
    """Return what an end of a turn is worth to the mover."""
    score, theirs, compares, wins, nexts, validates, out = ends
    total, target = score + int(params[int(params[POINTS]) + leaf]), int(params[TARGET])
    if leaf == OUT or (total >= target and params[int(params[SIX_ON]) + leaf] == 0):
        return out
    if compares:
        return 1.0 if total >= target and total > theirs else params[TIE] if total >= target and total == theirs else 0.0
    if total < target:
        return 1.0 - value_of(params[nexts + clipped(params, total)])
    return 1.0 if wins else 1.0 - value_of(params[validates + at_target(params, total)])


@jit
def worth_of_ends(view, params, rival, own, values):
    """Write what each end of the mover's turn is worth to `values`, if `own` is the hand that is left."""
    ends = ends_of(view, params, rival, own)
    for leaf in range(int(params[LEAVES])):
        values[leaf] = worth_of_end(params, ends, leaf)


@jit
def mean_of(params, values, place):
    """Return the value of the action at a place, and the place of the next one."""
    total, end = 0.0, place + 2 + 2 * int(params[place + 1])
    for edge in range(place + 2, end, 2):
        total += params[edge + 1] * values[int(params[edge])]
    return total, end


@jit
def best_of(params, values, node):
    """Return the best action of the node at a place, as its place, and its value."""
    best = node + 3
    best_value, place = mean_of(params, values, best)
    for _ in range(1, int(params[node + 2])):
        action = place
        value, place = mean_of(params, values, action)
        if value < best_value if params[node + 1] else value > best_value:
            best, best_value = action, value
    return best, best_value


@jit
def value_each(params, ends, values, lists, node, stops):
    """Value what the list of the node at a place names, children first; if `stops`, as if STOP were said wherever it may be."""
    at = lists + int(params[node]) - int(params[LEAVES])
    for place in range(lists + int(params[at]), lists + int(params[at + 1])):
        each = int(params[place])
        if each < 0:
            values[~each] = worth_of_end(params, ends, ~each)
        elif stops and not params[each + 1]:
            values[int(params[each])], _ = mean_of(params, values, each + 3)
        else:
            _, values[int(params[each])] = best_of(params, values, each)


@jit
def is_throw_best(params, ends, values, node):
    """Is it seen without a whole sweep that THROW is best at the node at a place?"""
    value_each(params, ends, values, int(params[NEAR]), node, True)
    stop, throw = mean_of(params, values, node + 3)
    return mean_of(params, values, throw)[0] > stop


@jit
def decide(view, params, rival, values):
    """Return the best action within a turn."""
    ends = ends_of(view, params, rival, hand(view, params, view.turn))
    node = find(params, position_code(view))
    if view.phase != WINDOW and is_throw_best(params, ends, values, node):
        return THROW
    value_each(params, ends, values, int(params[BELOW]), node, False)
    return int(params[best_of(params, values, node)[0]])


@jit
def start_place(view, params, rival):
    """Return where the entry of the start of a turn stands."""
    own, other = hand(view, params, view.turn), hand(view, params, rival)
    token = 1 if view.tokens[view.turn] else 0
    score, theirs = view.score[view.turn], view.score[rival]
    if is_last(view, rival) and theirs >= int(params[TARGET]):
        return last_row(params, token, other, own, score) + at_target(params, theirs)
    seat = 1 if view.turn > rival else 0
    return win_row(params, seat, token, own, other, score) + clipped(params, theirs)


@jit
def start_entry(view, params, rival):
    """Return the packed entry of the start of a turn."""
    return params[start_place(view, params, rival)]


@jit
def win_chance(state, seat, table):
    """Return the chance of a seat to win between two, at the start of a turn, if both play best."""
    mover = value_of(start_entry(state, table, 1 - np.int64(state.turn)))
    return mover if seat == state.turn else 1.0 - mover


@jit
def cards_of(entry):
    """Return the cards that best play commits, as an action."""
    return CARDS + int(entry / 2.0)


@jit
def start_value(view, params, rival, values, more):
    """Return the value of a turn whose first dice are in the air, once so many PARADE cards more are committed."""
    ends = ends_of(view, params, rival, hand(view, params, view.turn) - more * (int(params[RISK]) + 1))
    against, kind = 1 if view.tokens[view.turn] else 0, SIX if view.six else X2 if view.mult == 2 else PLAIN
    row = (against * (SIX + 1) + kind) * (view.variant.parade_cards + 1) + view.shields + more
    start = int(params[int(params[STARTS]) + row])
    value_each(params, ends, values, int(params[BELOW]), start, False)
    return mean_of(params, values, start + 3)[0]


@jit
def best_addition(view, params, rival, values):
    """Return how best to add PARADE cards after the RISK throw, as an action, and its value."""
    best, best_value = 0, -1.0
    for more in range(view.parade[view.turn] + 1):
        value = start_value(view, params, rival, values, more)
        if value > best_value:
            best, best_value = more, value
    return CARDS + 2 * best, best_value


@jit
def throw_risk(state, seat, face, gain):
    """Throw the RISK die, and settle a Duel by the points that it wins."""
    risk_die(state, face)
    if face == DUEL:
        state.score[seat] += gain
        state.score[1 - seat] -= gain
        after_risk(state)


@cold
def cards_value(state, action, params, ways, values, spare):
    """Return the mover's chance after it commits or adds these cards; `spare` is room for two positions."""
    after, branch = spare[0], spare[1]
    spare[0] = state
    apply_action(after, action)
    if after.phase != RISK_DIE:
        return start_value(after, params, 1 - state.turn, values, 0)
    total = 0.0
    for way in range(ways.shape[0]):
        spare[1] = after
        throw_risk(branch, np.int64(state.turn), int(ways[way, 0]), int(ways[way, 1]))
        if branch.phase == ADD_PARADE:
            total += ways[way, 2] * best_addition(branch, params, 1 - state.turn, values)[1]
        else:
            total += ways[way, 2] * start_value(branch, params, 1 - state.turn, values, 0)
    return total


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
