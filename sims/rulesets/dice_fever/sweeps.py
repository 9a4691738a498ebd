"""Sweeps over the graph of a turn (``turns.py``), for many pairs of scores side by side, and what is solved by them.

Values are arrays (leaves + nodes + 2, LANES): one lane for each pair of scores, the last pair repeated to fill the row, and two
spare rows. Within a pair of hands everything that a turn leads
to is known, but for OUT without a committed card: it leads to the same scores with the other player to move, and back,

    V0 = max(C0, f0(1 - V1)),    V1 = max(C1, f1(1 - V0)),

with C the best value of committing cards and f the turn graph as a function of what OUT is worth. Each f is convex, piecewise
linear and increasing with slope P(OUT) < 1, so V1 -> V0 -> V1 is a contraction; Aitken's extrapolation ends it as soon as best
play no longer changes.
"""

import numpy as np

from sims.jit import jit
from sims.rulesets.dice_fever.turns import OUT, PLAIN

RELANCE = 3  # a start beside those of ``turns.STARTS``: as PLAIN, but the opponent's next turn is under a token
TOLERANCE = 1e-14
LANES = 32  # pairs of scores side by side: the values of a graph then fit a core's cache


@jit
def put(out, weight, value):
    """Set ``out = weight * value``, lane by lane."""
    for lane in range(LANES):
        out[lane] = weight * value[lane]


@jit
def add_two(out, weight, value, weight_2, value_2):
    """Add two weighted values, lane by lane: `out` is read and written half as often as by one at a time."""
    for lane in range(LANES):
        out[lane] += weight * value[lane] + weight_2 * value_2[lane]


@jit
def put_two(out, weight, value, weight_2, value_2):
    """Set the sum of two weighted values, lane by lane."""
    for lane in range(LANES):
        out[lane] = weight * value[lane] + weight_2 * value_2[lane]


@jit
def mean(values, edges, child, weight, row, out):
    """Write the mean value of an action or a start to `out`."""
    edge, end = edges[row], edges[row + 1]
    if (end - edge) % 2:
        put(out, weight[edge], values[child[edge]])
        edge += 1
    else:
        put_two(out, weight[edge], values[child[edge]], weight[edge + 1], values[child[edge + 1]])
        edge += 2
    while edge < end:
        add_two(out, weight[edge], values[child[edge]], weight[edge + 1], values[child[edge + 1]])
        edge += 2


@jit
def place_of(values, edges, child, weight, row, spare):
    """Return where the mean value of an action stands: in the row `spare`, or, if it has one consequence only, at that."""
    if edges[row + 1] - edges[row] == 1:
        return child[edges[row]]
    mean(values, edges, child, weight, row, values[spare])
    return np.int64(spare)


@jit
def choose(out, one, two, is_owners):
    """Write the better value to `out`: for the owner of a Relance token the smaller one."""
    if is_owners:
        for lane in range(LANES):
            out[lane] = two[lane] if two[lane] < one[lane] else one[lane]
    else:
        for lane in range(LANES):
            out[lane] = two[lane] if two[lane] > one[lane] else one[lane]


@jit
def improve(best, value, is_owners):
    """Keep the better value."""
    choose(best, best, value, is_owners)


@jit
def sweep(values, graph, n_leaves, first, last):
    """Value the nodes first..last-1; the two spare rows at the end of `values` are room for the values of actions."""
    rows, edges, child, weight, is_owners = graph
    spare = values.shape[0] - 2
    for node in range(first, last):
        out, row = values[n_leaves + node], rows[node]
        if rows[node + 1] - row == 1:
            mean(values, edges, child, weight, row, out)
            continue
        one = place_of(values, edges, child, weight, row, spare)
        two = place_of(values, edges, child, weight, row + 1, spare + 1)
        choose(out, values[one], values[two], is_owners[node])
        for more in range(row + 2, rows[node + 1]):
            improve(out, values[place_of(values, edges, child, weight, more, spare)], is_owners[node])


@jit
def sweep_all(values, graph, n_leaves):
    """Value every node."""
    sweep(values, graph, n_leaves, 0, graph[0].size - 1)


@jit
def worth(points, with_six, score, other, seat, target, low, after, last_turn):
    """Return what an end of the turn is worth to the mover, or -1 if it is an OUT for want of a 6.

    Parameters
    ----------
    points, with_six : int, bool
        What it banks.
    score, other : int
        The mover's score and the other player's.
    after : float array (scores, scores)
        The opponent's win probability in his next turn, by the mover's new score and his own.
    last_turn : float array (scores at the target, scores)
        The same where seat 0 has validated and seat 1 has its last turn.
    """
    total = score + points
    if total < target:
        return 1.0 - after[total - low, other - low]
    if not with_six:
        return -1.0
    return 1.0 if seat == 1 else 1.0 - last_turn[total - target, other - low]


@jit
def settle(values, dead, out):
    """Give OUT, and the leaves that are worth as much, their value, lane by lane."""
    for leaf in range(dead.shape[0]):
        for lane in range(LANES):
            values[leaf, lane] = out[lane] if dead[leaf, lane] else values[leaf, lane]


@jit
def throw(values, dead, out, graph, n_leaves, last, start, thrown):
    """Value a start, written to `thrown`, if OUT is worth `out`."""
    settle(values, dead, out)
    sweep(values, graph, n_leaves, 0, last)
    mean(values, graph[1], graph[2], graph[3], start, thrown)


@jit
def solve_layer(
    graph, points, with_six, starts, ends, begins, target, low, bounds, layer, win, last_turn, tokens, values, dead, room
):
    """Solve the cycles of a layer, sum after falling sum.

    Parameters
    ----------
    graph : tuple of arrays
        ``rows, edges, child, weight, is_owners``.
    bounds : (int, int)
        Lowest and highest score of the layer.
    layer : (int, int)
        The hands of seats 0 and 1.
    win : float array (2 seats, 2 tokens, own hands, hands of the other, scores of the other, own scores)
        For this layer at first the best value of committing cards (or -1), at last the values.
    last_turn : float array (2 tokens, hands of seat 0, of seat 1, scores at the target, scores)
        Seat 1's last turn.
    tokens : tuple (2 seats) of bool
        Can a Relance token lie against the seat?
    values, dead, room : arrays (2, leaves + nodes + 2, LANES), (2, leaves, LANES), (8, LANES)
        Room to work in.
    """
    one, two = layer  # arrays are cut here, where that makes the same types of all variants
    own, last_turn = (win[0, :, one, two], win[1, :, two, one]), last_turn[:, one, two]
    for total in range(2 * bounds[1], 2 * bounds[0] - 1, -1):
        lowest, highest = max(bounds[0], total - bounds[1]), min(bounds[1], total - bounds[0])
        for first in range(lowest, highest + 1, LANES):
            solve_cycles(
                graph, points, with_six, starts, ends, begins, target, low, first, highest, total, own, last_turn, tokens,
                values, dead, room,
            )  # fmt: skip


@jit
def solve_cycles(
    graph, points, with_six, starts, ends, begins, target, low, first, highest, total, own, last_turn, tokens, values, dead, room
):
    """Solve neighbouring positions with the same sum of scores: seat 0 has `first`, first + 1, ... up to `highest`."""
    n_leaves, n = points.size, min(LANES, highest + 1 - first)
    last, start = ends[0, PLAIN, 0], starts[0, PLAIN, 0]
    one, two = own
    cards_0, cards_1, guess, before, first_out, second_out, thrown, other = room
    for lane in range(LANES):
        score = min(first + lane, highest)
        rest = total - score
        for leaf in range(n_leaves):
            a = worth(points[leaf], with_six[leaf], score, rest, 0, target, low, two[0], last_turn[0])
            b = worth(points[leaf], with_six[leaf], rest, score, 1, target, low, one[0], last_turn[0])
            values[0, leaf, lane], values[1, leaf, lane] = a, b
            dead[0, leaf, lane], dead[1, leaf, lane] = leaf == OUT or a < 0.0, leaf == OUT or b < 0.0
        cards_0[lane], cards_1[lane] = one[0, rest - low, score - low], two[0, score - low, rest - low]
        guess[lane], before[lane] = 0.5, -1.0
    for step in range(1000):
        for lane in range(LANES):
            first_out[lane] = 1.0 - guess[lane]
        throw(values[0], dead[0], first_out, graph, n_leaves, last, start, thrown)
        improve(thrown, cards_0, False)
        for lane in range(LANES):
            second_out[lane] = 1.0 - thrown[lane]
        throw(values[1], dead[1], second_out, graph, n_leaves, last, start, other)
        improve(other, cards_1, False)
        change = 0.0
        for lane in range(LANES):
            new, old = other[lane], guess[lane]
            change = max(change, abs(new - old))
            if step % 3 == 2 and abs(old - before[lane]) > TOLERANCE:
                slope = (new - old) / (old - before[lane])
                before[lane], guess[lane] = old, new + (new - old) * slope / (1.0 - slope)
            else:
                before[lane], guess[lane] = old, new
        if change < TOLERANCE:
            break
    for lane in range(n):
        i, j = first + lane - low, total - first - lane - low
        one[0, j, i], two[0, i, j] = thrown[lane], other[lane]
        first_out[lane], second_out[lane] = 1.0 - other[lane], 1.0 - thrown[lane]
    for seat in range(2):
        if tokens[seat]:
            out = first_out if seat == 0 else second_out
            throw(values[seat], dead[seat], out, graph, n_leaves, last, start, thrown)
            sweep(values[seat], graph, n_leaves, begins[1, PLAIN], ends[1, PLAIN, 0])
            mean(values[seat], graph[1], graph[2], graph[3], starts[1, PLAIN, 0], thrown)
            for lane in range(n):
                i, j = first + lane - low, total - first - lane - low
                if seat == 0:
                    one[1, j, i] = max(one[1, j, i], thrown[lane])
                else:
                    two[1, i, j] = max(two[1, i, j], thrown[lane])


@jit
def lose(row, lanes):
    """Fill lanes with 1 less the opponent's chances, the last one repeated."""
    n = min(LANES, row.size)
    for lane in range(n):
        lanes[lane] = 1.0 - row[lane]
    for lane in range(n, LANES):
        lanes[lane] = lanes[n - 1]


@jit
def write_lanes(lanes, out):
    """Copy lanes to the beginning of a row, as far as there is room."""
    for lane in range(min(LANES, out.size)):
        out[lane] = lanes[lane]


@jit
def throw_values(
    graph, points, with_six, starts, ends, begins, target, low, bounds, after, last_turn, seat,
    shields, risk, token, rows, values, room, out,
):  # fmt: skip
    """Value the starts of a turn for the hand that is left, at every pair of scores.

    Parameters
    ----------
    after : float array (2 tokens, scores of the mover, scores of the other)
        The opponent's next turn, without and with a token of this turn's Relance.
    shields, risk, token : int, bool, bool
        How many PARADE cards can have been committed, whether a RISK card can, and whether a token can lie against the mover.
    rows : (int, int)
        The mover's scores to do, from and to (exclusive).
    out : float array (4 starts, 2 tokens, shields + 1, own scores, scores of the other)
        Filled.
    """
    n_leaves = points.size
    edges, child, weight, end = graph[1], graph[2], graph[3], bounds[1] + 1 - low
    for score in range(rows[0], rows[1]):
        for begin in range(bounds[0] - low, end, LANES):
            for relance in range(2 if risk else 1):
                for leaf in range(n_leaves):
                    total = score + points[leaf]
                    if leaf == OUT or (total >= target and not with_six[leaf]):
                        lose(after[relance, score - low, begin:end], values[leaf])
                    elif total < target:
                        lose(after[relance, total - low, begin:end], values[leaf])
                    elif seat == 0:
                        lose(last_turn[relance, total - target, begin:end], values[leaf])
                    else:
                        values[leaf] = 1.0
                for against in range(2 if token else 1):
                    for kind in range(3 if risk and not relance else 1):
                        sweep(values, graph, n_leaves, begins[against, kind], ends[against, kind, shields])
                        for k in range(shields + 1):
                            mean(values, edges, child, weight, starts[against, kind, k], room)
                            place = out[RELANCE if relance else kind, against, k, score - low]
                            write_lanes(room, place[begin:end])


@jit
def last_values(graph, points, with_six, starts, ends, begins, need, tie, risk, values, room, out):
    """Value the starts of seat 1's last turn, by how far it is behind.

    Parameters
    ----------
    need : int array (gaps,)
        Points that tie with the validated seat 0.
    tie : float
        Seat 1's chance in sudden death.
    out : float array (3 starts, 2 tokens, shields + 1, gaps)
        Filled.
    """
    n_leaves, shields = points.size, out.shape[2] - 1
    for first in range(0, need.size, LANES):
        for leaf in range(n_leaves):
            for lane in range(LANES):
                gap = need[min(first + lane, need.size - 1)]
                won = 1.0 if points[leaf] > gap else tie if points[leaf] == gap else 0.0
                values[leaf, lane] = won if with_six[leaf] and leaf != OUT else 0.0
        for against in range(2 if risk else 1):
            for kind in range(3 if risk else 1):
                sweep(values, graph, n_leaves, begins[against, kind], ends[against, kind, shields])
                for k in range(shields + 1):
                    mean(values, graph[1], graph[2], graph[3], starts[against, kind, k], room)
                    write_lanes(room, out[kind, against, k, first:])


@jit
def pulled_values(
    graph, points, with_six, starts, ends, begins, target, low, bounds, after, plays_on, shields, token, values, room, out
):
    """Value seat 1's last turn once its Duel has pulled seat 0 under the target.

    Parameters
    ----------
    after : float array (scores of seat 1, scores of seat 0)
        Seat 0's next turn, if the game goes on.
    plays_on : bool
        Does it, unless seat 1 validates (otherwise seat 0 has won)?
    out : float array (2 tokens, shields + 1, rows, scores of seat 1)
        Filled; row r is seat 0's score target - rows + r.
    """
    n_leaves = points.size
    for row in range(out.shape[2]):
        first_score = target - out.shape[2] + row
        if first_score < bounds[0]:
            continue
        for first in range(bounds[0], bounds[1] + 1, LANES):
            for leaf in range(n_leaves):
                for lane in range(LANES):
                    score = min(first + lane, bounds[1])
                    total = score + points[leaf]
                    validates = leaf != OUT and total >= target
                    if validates and with_six[leaf]:
                        values[leaf, lane] = 1.0
                    elif plays_on:
                        values[leaf, lane] = 1.0 - after[(score if validates else total) - low, first_score - low]
                    else:
                        values[leaf, lane] = 0.0
            for against in range(2 if token else 1):
                sweep(values, graph, n_leaves, begins[against, PLAIN], ends[against, PLAIN, shields])
                for k in range(shields + 1):
                    mean(values, graph[1], graph[2], graph[3], starts[against, PLAIN, k], room)
                    write_lanes(room, out[against, k, row, first - low : bounds[1] + 1 - low])
