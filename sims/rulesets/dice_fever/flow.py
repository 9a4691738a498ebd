"""The kernels of  ``evaluation.py``: probability flows forward through a game between two fixed players.

Let m(x) be how often play comes to x in a game, for x the start of a turn, a decision within one (a node of ``turns.py``) or
its end (a leaf). From the start of a turn it flows down the graph of the turn, along the action that is chosen at each node,

    m(child) += weight * m(node),

from the highest node to the lowest, as children come before their parents; and from each leaf to the start of the next turn or
to a result, which the rules functions themselves say. Cards never come back and banked points raise the sum of the scores, so
starts are met in the order of falling cards and rising sums, a start under a Relance token before one without. What is
left are two starts with equal scores, hands and no token, between which an OUT without a committed card leads to and fro: if
in_0 and in_1 come to them from elsewhere and their turns are OUT with chances q_0 and q_1,

    m_0 = (in_0 + q_1 in_1) / (1 - q_0 q_1),    m_1 = in_1 + q_0 m_0.

With best play's values V at hand (a packed solution, ``optimal.py``), every decision also tells what it gives away:
m * (V of the best action - V of the chosen one), for whoever decides.
"""

from typing import Any, NamedTuple

import numpy as np

from sims.jit import cold, jit
from sims.positions import DONE, Players, policy_action
from sims.rulesets.dice_fever.optimal import (
    best_addition,
    cards_of,
    hand,
    start_entry,
    throw_risk,
    value_of,
    worth_of_ends,
)
from sims.rulesets.dice_fever.rules import (
    ADD_PARADE,
    CARDS,
    COMMIT,
    DEATH_DIE,
    RISK_DIE,
    THE_END,
    WINDOW,
    actor,
    apply_action,
    bank,
    bit,
    lacks_six,
    legal_actions,
    out,
    start_turn,
)
from sims.rulesets.dice_fever.turns import OUT, PLAIN, SIX, X2
from sims.streams import mix

KINDS = IN_CARDS, IN_TURN, IN_WINDOW = range(3)  # decisions: cards; STOP or throw; a Relance token
BOTH = 2  # in place of a seat: the starts of both, between which OUT leads to and fro


class Graph(NamedTuple):
    """The graph of a turn (``turns.TurnGraph``), and the nodes below each start: ``below[reach[s]:reach[s + 1]]``, rising."""

    points: np.ndarray
    with_six: np.ndarray
    states: Any
    is_owners: np.ndarray
    rows: np.ndarray
    actions: np.ndarray
    edges: np.ndarray
    child: np.ndarray
    weight: np.ndarray
    starts: np.ndarray
    reach: np.ndarray
    below: np.ndarray


class Known(NamedTuple):
    """Turns that play came to before: a hash table from what they go by (``turn_code``) to how they end."""

    codes: np.ndarray  # int (slots,): 0 where free
    places: np.ndarray  # int (slots,): rows of `ends`
    ends: np.ndarray  # float (room, leaves)
    used: np.ndarray  # int (1,): rows in use


class Seats(NamedTuple):
    """Who plays: policies, or best play by its table."""

    players: Players
    forgotten: tuple[np.ndarray, np.ndarray, np.ndarray]  # by KINDS: words of the state that a policy must not go by
    is_best: np.ndarray  # bool (2,)
    best: np.ndarray  # the packed solution, if there is one
    is_counted: bool  # is it counted what is given away against it?
    known: tuple[Known, Known]  # without slots if nothing is remembered


class Visits(NamedTuple):
    """How often play comes to the start of each turn, by hands and scores of seats 0 and 1, and how often each seat wins."""

    starts: np.ndarray  # float (2 seats, 2 tokens, hands, hands, scores, scores)
    last: np.ndarray  # float (2 tokens, hands, hands, scores at the target, scores): seat 1's last turn
    wins: np.ndarray  # float (2,)
    ways: np.ndarray  # float (ways, 3): face of the RISK die, points won in a Duel, probability
    tie: float  # seat 1's chance in sudden death
    low: int  # lowest score
    target: int
    risk: int  # RISK cards of a hand, as far as they can be used
    useless: int  # those that never can
    codes: int  # ways to commit cards


class Losses(NamedTuple):
    """What one seat gives away: by kind, and by the slot of a mistake, with the position that loses most of each."""

    seat: int  # -1 for none
    by_kind: np.ndarray  # float (KINDS,)
    sums: np.ndarray  # float (slots, 4): times and loss per game; the same of the position that loses most
    states: Any  # that position
    actions: np.ndarray  # int (slots, 2): chosen, best


class Room(NamedTuple):
    """Room to work in. A turn has a branch for each way in which its RISK die may fall: branch w of seat s is s * ways + w."""

    starts: Any  # records (2 seats,)
    branches: Any  # records (2 * branches,): the first dice in the air; then, when PARADE cards may still be added
    after: Any  # record (1,): what follows an end; at last, where a policy was asked in vain
    words: tuple[np.ndarray, np.ndarray]  # the memory of the starts and the branches
    flow: np.ndarray  # float (branches, leaves + nodes): how often a turn comes there
    values: np.ndarray  # float (branches, leaves + nodes): best play's
    best: np.ndarray  # int (branches, nodes): the row that best play chooses
    chosen: np.ndarray  # int (branches, nodes): the row that is chosen
    numbers: np.ndarray  # int (branches, 5): start in ``Graph.reach``; cards added, best to add; of the turn: cards, branches
    worth: np.ndarray  # float (branches, 3): probability, value, value before cards were added
    pair: np.ndarray  # float (2, 2 seats): how often play comes there from elsewhere, chance to lead to each other
    counts: np.ndarray  # int (3,): number of questions to policies, nothing, an illegal action


class Game(NamedTuple):
    """All of it."""

    graph: Graph
    seats: Seats
    visits: Visits
    losses: Losses
    room: Room


# --- decisions ------------------------------------------------------------------------------------------------------------


@cold
def answer(state, words, kind, seats, room):
    """Return a status and which of the legal actions a policy takes."""
    asked, free, actions, minds, unused, _ = seats.players
    players = Players(asked, free, actions, minds, unused, seats.forgotten[kind])
    n, who = legal_actions(state, actions), actor(state)
    room.counts[0] += 1
    status, place = policy_action(state, words, state, players, n, who, room.counts[0], room.counts)
    if status != DONE:
        room.after[0] = state
    return status, place


@cold
def choose_cards(state, words, seats, room):
    """Return a status and the action by which the mover commits cards, where it has any."""
    if state.phase != COMMIT:
        return DONE, CARDS
    if seats.is_best[state.turn]:
        return DONE, cards_of(start_entry(state, seats.best, 1 - state.turn))
    status, place = answer(state, words, IN_CARDS, seats, room)
    return status, np.int64(seats.players.actions[max(place, 0)])


@jit
def set_turn(state, node, graph):
    """Set the state to a node of its turn."""
    at, seat = graph.states[node], np.int64(state.turn)
    state.phase, state.track, state.shields, state.mult, state.extra = at.phase, at.track, at.shields, at.mult, at.extra
    state.bonus_face, state.next3, state.double = at.bonus_face, at.next3, at.double
    state.tripled_value, state.suite, state.six, state.fresh = at.tripled_value, at.suite, at.six, at.fresh
    state.owner = 1 - seat
    state.tokens[seat] = 1 << (1 - seat) if at.tokens[0] else 0


@jit
def decides(state, node, graph):
    """Return the seat that decides at a node: whose turn it is, or the owner of a Relance token."""
    return 1 - state.turn if graph.is_owners[node] else state.turn


@jit
def choose_row(state, words, slot, node, graph, seats, room):
    """Return a status and the row of the action that is chosen at a node."""
    first = graph.rows[node]
    if graph.rows[node + 1] - first == 1:
        return DONE, first
    if seats.is_best[decides(state, node, graph)]:
        return DONE, room.best[slot, node]
    set_turn(state, node, graph)
    status, place = answer(state, words, IN_WINDOW if state.phase == WINDOW else IN_TURN, seats, room)
    return status, first + place


@jit
def needs_values(state, seats):
    """Does best play decide in this turn, its own or one under its Relance token, or is counted what is given away?"""
    seat = state.turn
    return seats.is_counted or seats.is_best[seat] or (seats.is_best[1 - seat] and state.tokens[seat] != 0)


@cold
def count_loss(state, kind, slot, chosen, best, times, loss, losses):
    """Count a decision that gives something away."""
    if loss <= 0.0:
        return
    losses.by_kind[kind] += times * loss
    sums = losses.sums[slot]
    sums[0] += times
    sums[1] += times * loss
    if times * loss > sums[3]:
        sums[2], sums[3] = times, times * loss
        losses.states[slot] = state
        losses.actions[slot, 0], losses.actions[slot, 1] = chosen, best


@jit
def card_slot(own, adds, chosen, best, codes, n_rows):
    """Return the slot of a mistake with this hand, after three slots for each action within a turn."""
    return 3 * n_rows + ((2 * own + adds) * codes + chosen - CARDS) * codes + best - CARDS


# --- turns that are remembered --------------------------------------------------------------------------------------------


@jit
def turn_code(state, start, by_hands):
    """Return what the end of a turn from this start goes by, as a number: scores and tokens, and for best play both hands."""
    code = np.int64(start + 1)
    for seat in range(2):
        cards = 10 * state.parade[seat] + state.risk[seat] if by_hands else 0
        code = (100 * code + cards) * 4 + 2 * state.validated[seat] + (state.tokens[seat] != 0)
    for seat in range(2):
        code = code << 16 | (state.score[seat] & 0xFFFF)
    return 2 * code + state.last_round


@jit
def slot_of(code, codes):
    """Return the slot of a code, or the free one where it belongs."""
    slot = np.int64(mix(np.uint64(code)) & np.uint64(codes.size - 1))
    while codes[slot] != 0 and codes[slot] != code:
        slot = (slot + 1) & (codes.size - 1)
    return slot


@jit
def recall(state, start, seats, flow):
    """Write how a turn ends if that is known; return its code, 0 if it is not remembered, and whether it is known."""
    seat = np.int64(state.turn)
    known = seats.known[0] if seat == 0 else seats.known[1]
    if known.codes.size == 0 or seats.is_counted or state.tokens[seat] != 0:
        return np.int64(0), False
    code = turn_code(state, start, seats.is_best[seat])
    slot = slot_of(code, known.codes)
    if known.codes[slot] == 0:
        return code, False
    ends = known.ends[known.places[slot]]
    for leaf in range(ends.size):
        flow[leaf] = ends[leaf]
    return code, True


@jit
def remember(state, code, seats, flow):
    """Remember how the turn of this code ends, while there is room."""
    known = seats.known[0] if state.turn == 0 else seats.known[1]
    if code == 0 or known.used[0] == known.ends.shape[0]:
        return
    slot, ends = slot_of(code, known.codes), known.ends[known.used[0]]
    known.codes[slot], known.places[slot] = code, known.used[0]
    for leaf in range(ends.size):
        ends[leaf] = flow[leaf]
    known.used[0] += 1


# --- a turn ---------------------------------------------------------------------------------------------------------------


@jit
def open_turn(state, at, visits):
    """Set the state to the start of a turn: seat, token, both hands and scores, is it the last one?"""
    seat, token, one, two, first_score, second_score, is_last = at
    risk = visits.risk
    for each in range(2):
        cards = one if each == 0 else two
        state.parade[each], state.risk[each] = cards // (risk + 1), cards % (risk + 1) + visits.useless
        state.validated[each] = state.tokens[each] = 0
    state.score[0], state.score[1] = first_score, second_score
    state.validated[0] = state.last_round = is_last
    state.tokens[seat] = token << (1 - seat)
    start_turn(state, seat)


@cold
def begin(at, seats, visits, room):
    """Open a turn, have its cards chosen and throw its RISK die in every way; return a status."""
    seat, n_ways = at[0], visits.ways.shape[0]
    first = seat * max(n_ways, 1)
    start = room.starts[seat]
    open_turn(start, at, visits)
    status, action = choose_cards(start, room.words[0][seat], seats, room)
    if status != DONE:
        return status
    room.numbers[first, 4] = n_ways if (action - CARDS) % 2 else 1
    for way in range(room.numbers[first, 4]):
        slot = first + way
        room.branches[slot] = start
        branch = room.branches[slot]
        room.numbers[slot, 1], room.numbers[slot, 3], room.worth[slot, 0] = 0, action, 1.0
        if start.phase == COMMIT:
            apply_action(branch, action)
        if branch.phase == RISK_DIE:
            face, gain = int(visits.ways[way, 0]), int(visits.ways[way, 1])
            room.worth[slot, 0] = visits.ways[way, 2]
            throw_risk(branch, seat, face, gain)
        if branch.phase == ADD_PARADE:
            status = add_cards(slot, seats, room)
            if status != DONE:
                return status
    return DONE


@cold
def add_cards(slot, seats, room):
    """Let the mover of a branch add PARADE cards after the RISK throw; return a status."""
    before = room.branches.size // 2 + slot
    state, words, action = room.branches[slot], room.words[1][slot], np.int64(CARDS)
    room.branches[before] = state
    if needs_values(state, seats):
        best = best_addition(state, seats.best, 1 - state.turn, room.values[slot])
        room.numbers[slot, 2], room.worth[slot, 2] = best
        action = np.int64(room.numbers[slot, 2])
    if not seats.is_best[state.turn]:
        status, place = answer(state, words, IN_CARDS, seats, room)
        if status != DONE:
            return status
        action = np.int64(seats.players.actions[place])
    room.numbers[slot, 1] = action
    apply_action(state, action)
    return DONE


@jit
def spread(graph, row, mass, flow):
    """Let mass flow along the edges of an action or a start."""
    for edge in range(graph.edges[row], graph.edges[row + 1]):
        flow[graph.child[edge]] += graph.weight[edge] * mass


@jit
def mean_of(graph, row, values):
    """Return the value of an action or a start."""
    total = 0.0
    for edge in range(graph.edges[row], graph.edges[row + 1]):
        total += graph.weight[edge] * values[graph.child[edge]]
    return total


@jit
def best_row(graph, node, values):
    """Return the best action of a node, as a row, and its value: for the owner of a Relance token the smallest."""
    best = graph.rows[node]
    best_value = mean_of(graph, best, values)
    for row in range(best + 1, graph.rows[node + 1]):
        value = mean_of(graph, row, values)
        if value < best_value if graph.is_owners[node] else value > best_value:
            best, best_value = row, value
    return best, best_value


@cold
def flow_through(slot, graph, seats, room):
    """Let a mass of 1 flow through a branch, whose first dice are in the air; return a status."""
    state, words, flow, values = room.branches[slot], room.words[1][slot], room.flow[slot], room.values[slot]
    kind = SIX if state.six else X2 if state.mult == 2 else PLAIN
    start = graph.starts[1 if state.tokens[state.turn] else 0, kind, state.shields]
    number, n_leaves = start - graph.rows[-1], graph.points.size
    first, last = graph.reach[number], graph.reach[number + 1]
    room.numbers[slot, 0] = number
    code, is_known = recall(state, number, seats, flow)
    if is_known:
        return DONE
    for leaf in range(n_leaves):
        flow[leaf] = 0.0
    for place in range(first, last):
        flow[n_leaves + graph.below[place]] = 0.0
    if needs_values(state, seats):
        worth_of_ends(state, seats.best, 1 - state.turn, hand(state, seats.best, state.turn), values)
        for place in range(first, last):
            node = graph.below[place]
            room.best[slot, node], values[n_leaves + node] = best_row(graph, node, values)
        room.worth[slot, 1] = mean_of(graph, start, values)
    spread(graph, start, 1.0, flow)
    for place in range(last - 1, first - 1, -1):
        node = graph.below[place]
        if flow[n_leaves + node] > 0.0:
            status, row = choose_row(state, words, slot, node, graph, seats, room)
            if status != DONE:
                return status
            room.chosen[slot, node] = row
            spread(graph, row, flow[n_leaves + node], flow)
    for leaf in range(1, n_leaves):
        if lacks_six(state, graph.points[leaf], bit(6) if graph.with_six[leaf] else 0):
            flow[OUT] += flow[leaf]
            flow[leaf] = 0.0
    remember(state, code, seats, flow)
    return DONE


@cold
def leave(slot, mass, with_out, graph, visits, room):
    """Let the mass at the ends of a branch flow on to the next turns and to results; OUT only if it is wanted."""
    state, flow, after = room.branches[slot], room.flow[slot], room.after[0]
    for leaf in range(OUT if with_out else OUT + 1, graph.points.size):
        if flow[leaf] == 0.0:
            continue
        room.after[0] = state
        if leaf == OUT:
            out(after)
        else:
            six = 1 if graph.with_six[leaf] else 0
            after.track, after.mult, after.extra = bit(6) * six, 1, graph.points[leaf] - 6 * six
            after.tripled_value = after.suite = 0
            bank(after)
        arrive(after, mass * flow[leaf], visits)


@jit
def arrive(state, mass, visits):
    """Add mass to the start of a turn or to a result."""
    low, risk = visits.low, visits.risk
    if state.phase == DEATH_DIE:
        visits.wins[0] += mass * (1.0 - visits.tie)
        visits.wins[1] += mass * visits.tie
        return
    if state.phase == THE_END:
        visits.wins[0 if state.contender[0] else 1] += mass
        return
    token = 1 if state.tokens[state.turn] else 0
    one = state.parade[0] * (risk + 1) + min(state.risk[0], risk)
    two = state.parade[1] * (risk + 1) + min(state.risk[1], risk)
    if state.last_round:
        visits.last[token, one, two, state.score[0] - visits.target, state.score[1] - low] += mass
    else:
        visits.starts[state.turn, token, one, two, state.score[0] - low, state.score[1] - low] += mass


# --- what is given away -----------------------------------------------------------------------------------------------------


@cold
def count_turn(slot, mass, graph, seats, losses, room):
    """Count what the decisions within a branch that is met so often give away."""
    state, flow, values = room.branches[slot], room.flow[slot], room.values[slot]
    number, n_leaves = room.numbers[slot, 0], graph.points.size
    for place in range(graph.reach[number], graph.reach[number + 1]):
        node = graph.below[place]
        times, row, best = mass * flow[n_leaves + node], room.chosen[slot, node], room.best[slot, node]
        if times == 0.0 or row == best or decides(state, node, graph) != losses.seat:
            continue
        set_turn(state, node, graph)
        loss = abs(values[n_leaves + node] - mean_of(graph, row, values))
        kind, which = IN_WINDOW if graph.is_owners[node] else IN_TURN, 3 * row + best - graph.rows[node]
        count_loss(state, kind, which, graph.actions[row], graph.actions[best], times, loss, losses)


@cold
def count_cards(seat, first, n, mass, n_rows, seats, visits, losses, room):
    """Count what the cards committed to a turn of so many branches, and those added after its RISK die, give away."""
    start, value = room.starts[seat], 0.0
    for slot in range(first, first + n):
        before = room.branches.size // 2 + slot
        share, chosen, best = room.worth[slot, 0], room.numbers[slot, 1], room.numbers[slot, 2]
        if not chosen:  # nothing could be added
            value += share * room.worth[slot, 1]
            continue
        value += share * room.worth[slot, 2]
        if chosen != best:
            state, loss = room.branches[before], room.worth[slot, 2] - room.worth[slot, 1]
            which = card_slot(hand(state, seats.best, seat), 1, chosen, best, visits.codes, n_rows)
            count_loss(state, IN_CARDS, which, chosen, best, mass * share, loss, losses)
    action = room.numbers[first, 3]
    entry = start_entry(start, seats.best, 1 - seat)
    if start.phase == COMMIT and cards_of(entry) != action:
        which = card_slot(hand(start, seats.best, seat), 0, action, cards_of(entry), visits.codes, n_rows)
        count_loss(start, IN_CARDS, which, action, cards_of(entry), mass, value_of(entry) - value, losses)


# --- the game -------------------------------------------------------------------------------------------------------------


@cold
def play_starts(one, two, places, game):
    """Let mass flow on from starts of turns with these hands; return a status.

    Parameters
    ----------
    one, two : int
        Hands of seats 0 and 1.
    places : int array (starts, 5)
        Seat (or BOTH), token, scores of seats 0 and 1, is it the last turn: each after those that lead to it.
    """
    graph, seats, visits, losses, room = game
    n_ways, low = max(visits.ways.shape[0], 1), visits.low
    came, back = room.pair
    for k in range(places.shape[0]):
        who, token, first_score, second_score, is_last = places[k]
        i, j = first_score - low, second_score - low
        for seat in range(2):
            came[seat] = back[seat] = 0.0
            if seat == who or who == BOTH:
                last = visits.last[token, one, two, first_score - visits.target, j] if is_last else 0.0
                came[seat] = last if is_last else visits.starts[seat, token, one, two, i, j]
        first = 0 if came[0] > 0.0 else 1
        for step in range(2):
            seat = first if step == 0 else 1 - first
            if came[seat] == 0.0 and back[1 - seat] == 0.0:
                continue
            status = begin((seat, token, one, two, first_score, second_score, is_last), seats, visits, room)
            if status != DONE:
                return status
            for slot in range(seat * n_ways, seat * n_ways + room.numbers[seat * n_ways, 4]):
                status = flow_through(slot, graph, seats, room)
                if status != DONE:
                    return status
            if who == BOTH and room.numbers[seat * n_ways, 3] == CARDS:
                back[seat] = room.flow[seat * n_ways, OUT]
        came[0] = (came[0] + back[1] * came[1]) / (1.0 - back[0] * back[1])
        came[1] += back[0] * came[0]
        for seat in range(2):
            if came[seat] == 0.0:
                continue
            slot = seat * n_ways
            n = room.numbers[slot, 4]
            if losses.seat == seat:
                count_cards(seat, slot, n, came[seat], graph.rows[-1], seats, visits, losses, room)
            for branch in range(slot, slot + n):
                mass = came[seat] * room.worth[branch, 0]
                if losses.seat >= 0:
                    count_turn(branch, mass, graph, seats, losses, room)
                leave(branch, mass, back[seat] == 0.0, graph, visits, room)
    return DONE
