"""Dice Fever between two players, solved: the exact win probability of every position, and best play.

A *position* is the start of a turn: seat t is to move; both scores; both hands (PARADE and RISK cards left); whether a Relance
token lies against the mover; whether seat 0 has validated in this round (then it is seat 1's last turn). Let V be the mover's
chance to win. A turn worth F(leaf) at its ends (``turns.py``) is worth

    V = max over committed cards c of  mean over RISK faces of  T(c, face),      T = value of the start of the turn graph,
    F(leaf) = 1 - V(the opponent's position after it), or the result of the game.

Order of solution. Cards never come back, so a pair of hands (a *layer*) needs only layers with fewer cards: committing k PARADE
with or without a RISK card is a throw from the layer with the cards that are left. In a layer banked points raise the sum of the
scores, so sums are taken falling. What remains is a cycle of two unknowns: OUT without a committed card leads to the same scores
with the other player to move, and back,

    V0 = max(C0, f0(1 - V1)),    V1 = max(C1, f1(1 - V0)),

with C the best value of committing cards and f the turn graph as a function of what OUT is worth. Each f is convex, piecewise
linear and increasing with slope P(OUT) < 1, so V1 -> V0 -> V1 is a contraction; Aitken's extrapolation ends it as soon as best
play no longer changes. Sudden death, Duels and the faces of the RISK die are enumerated through the rules functions.
"""

import hashlib
import json
import sys
import time
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import groupby, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path
from tqdm import tqdm

from sims.errors import InputError
from sims.files import make_folder, whole_file
from sims.jit import jit, vectorised
from sims.ruleset import CHANCE, OVER, Ruleset, Variant
from sims.rulesets.dice_fever import rules, turns
from sims.rulesets.dice_fever.turns import OUT, PLAIN, SIX, TURN_FIELDS, X2, TurnGraph, position_key, turn_graph

RELANCE = 3  # a start of its own here: as PLAIN, but the opponent's next turn is under a token
MAX_BYTES = 4e9  # of the tables; a variant with hands and stakes that need more is refused
TABLES = ("win", "last_turn", "cards", "last_cards")
TOLERANCE = 1e-14
LANES = 32  # pairs of scores side by side: the values of a graph then fit a core's cache


# --- kernels ----------------------------------------------------------------------------------------------------------------
# Values are arrays (leaves + nodes, lanes): a sweep over the graph values many pairs of scores side by side, one in each lane.


@jit
def put(out, weight, value):
    """Set ``out = weight * value``, lane by lane."""
    for lane in range(out.size):
        out[lane] = weight * value[lane]


@jit
def add(out, weight, value):
    """Add ``weight * value``, lane by lane."""
    for lane in range(out.size):
        out[lane] += weight * value[lane]


@jit
def mean(values, edges, child, weight, row, out):
    """Write the mean value of an action or a start to `out`."""
    put(out, weight[edges[row]], values[child[edges[row]]])
    for edge in range(edges[row] + 1, edges[row + 1]):
        add(out, weight[edge], values[child[edge]])


@jit
def improve(best, value, is_owners):
    """Keep the better value: for the owner of a Relance token the smaller one."""
    if is_owners:
        for lane in range(best.size):
            best[lane] = value[lane] if value[lane] < best[lane] else best[lane]
    else:
        for lane in range(best.size):
            best[lane] = value[lane] if value[lane] > best[lane] else best[lane]


@jit
def sweep(values, graph, n_leaves, first, last, other):
    """Value the nodes first..last-1; `other` is room for the value of an action."""
    rows, edges, child, weight, is_owners = graph
    for node in range(first, last):
        best = values[n_leaves + node]
        mean(values, edges, child, weight, rows[node], best)
        for row in range(rows[node] + 1, rows[node + 1]):
            mean(values, edges, child, weight, row, other)
            improve(best, other, is_owners[node])


@jit
def sweep_all(values, graph, n_leaves, room):
    """Value every node, one lane."""
    sweep(values, graph, n_leaves, 0, graph[0].size - 1, room)


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
        for lane in range(out.size):
            values[leaf, lane] = out[lane] if dead[leaf, lane] else values[leaf, lane]


@jit
def throw(values, dead, out, graph, n_leaves, first, last, start, room):
    """Value a start, written to `room`, if OUT is worth `out`."""
    settle(values, dead, out)
    sweep(values, graph, n_leaves, first, last, room)
    mean(values, graph[1], graph[2], graph[3], start, room)


@jit
def solve_layer(graph, points, with_six, starts, ends, begins, target, low, bounds, own, last_turn, tokens, values, dead, room):
    """Solve the cycles of a layer, sum after falling sum.

    Parameters
    ----------
    graph : tuple of arrays
        ``rows, edges, child, weight, is_owners``.
    bounds : (int, int)
        Lowest and highest score of the layer.
    own : tuple (2 seats) of float arrays (2 tokens, scores of the other, own scores)
        At first the best value of committing cards (or -1), at last the values.
    last_turn : float array (2 tokens, scores at the target, scores)
        Seat 1's last turn, for the same hands.
    tokens : tuple (2 seats) of bool
        Can a Relance token lie against the seat?
    values, dead, room : arrays (2, leaves + nodes, lanes), (2, leaves, lanes), (8, lanes)
        Room to work in.
    """
    n_lanes = values.shape[2]
    for total in range(2 * bounds[1], 2 * bounds[0] - 1, -1):
        lowest, highest = max(bounds[0], total - bounds[1]), min(bounds[1], total - bounds[0])
        for first in range(lowest, highest + 1, n_lanes):
            n = min(n_lanes, highest + 1 - first)
            solve_cycles(
                graph, points, with_six, starts, ends, begins, target, low, first, total, own, last_turn, tokens,
                values[:, :, :n], dead[:, :, :n], room[:, :n],
            )  # fmt: skip


@jit
def solve_cycles(
    graph, points, with_six, starts, ends, begins, target, low, first, total, own, last_turn, tokens, values, dead, room
):
    """Solve neighbouring positions with the same sum of scores: seat 0 has `first`, first + 1, ..."""
    n_leaves, n = points.size, values.shape[2]
    last, start = ends[0, PLAIN, 0], starts[0, PLAIN, 0]
    one, two = own
    cards_0, cards_1, guess, before, first_out, second_out, thrown, other = room
    for lane in range(n):
        score, rest = first + lane, total - first - lane
        for leaf in range(n_leaves):
            a = worth(points[leaf], with_six[leaf], score, rest, 0, target, low, two[0], last_turn[0])
            b = worth(points[leaf], with_six[leaf], rest, score, 1, target, low, one[0], last_turn[0])
            values[0, leaf, lane], values[1, leaf, lane] = a, b
            dead[0, leaf, lane], dead[1, leaf, lane] = leaf == OUT or a < 0.0, leaf == OUT or b < 0.0
        cards_0[lane], cards_1[lane] = one[0, rest - low, score - low], two[0, score - low, rest - low]
        guess[lane], before[lane] = 0.5, -1.0
    for step in range(1000):
        for lane in range(n):
            first_out[lane] = 1.0 - guess[lane]
        throw(values[0], dead[0], first_out, graph, n_leaves, 0, last, start, thrown)
        improve(thrown, cards_0, False)
        for lane in range(n):
            second_out[lane] = 1.0 - thrown[lane]
        throw(values[1], dead[1], second_out, graph, n_leaves, 0, last, start, other)
        improve(other, cards_1, False)
        change = 0.0
        for lane in range(n):
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
            throw(values[seat], dead[seat], out, graph, n_leaves, 0, last, start, thrown)
            sweep(values[seat], graph, n_leaves, begins[1, PLAIN], ends[1, PLAIN, 0], thrown)
            mean(values[seat], graph[1], graph[2], graph[3], starts[1, PLAIN, 0], thrown)
            for lane in range(n):
                i, j = first + lane - low, total - first - lane - low
                if seat == 0:
                    one[1, j, i] = max(one[1, j, i], thrown[lane])
                else:
                    two[1, i, j] = max(two[1, i, j], thrown[lane])


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
    n_leaves, n_lanes = points.size, values.shape[1]
    edges, child, weight = graph[1], graph[2], graph[3]
    for score in range(rows[0], rows[1]):
        for first in range(bounds[0], bounds[1] + 1, n_lanes):
            n = min(n_lanes, bounds[1] + 1 - first)
            lanes, part = values[:, :n], room[:n]
            for relance in range(2 if risk else 1):
                for leaf in range(n_leaves):
                    for lane in range(n):
                        lanes[leaf, lane] = worth(
                            points[leaf],
                            with_six[leaf],
                            score,
                            first + lane,
                            seat,
                            target,
                            low,
                            after[relance],
                            last_turn[relance],
                        )
                for leaf in range(n_leaves):
                    if leaf == OUT or lanes[leaf, 0] < 0.0:
                        for lane in range(n):
                            lanes[leaf, lane] = 1.0 - after[relance, score - low, first + lane - low]
                for against in range(2 if token else 1):
                    for kind in range(3 if risk and not relance else 1):
                        sweep(lanes, graph, n_leaves, begins[against, kind], ends[against, kind, shields], part)
                        for k in range(shields + 1):
                            place = out[RELANCE if relance else kind, against, k, score - low]
                            mean(lanes, edges, child, weight, starts[against, kind, k], place[first - low : first - low + n])


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
    for leaf in range(n_leaves):
        for lane in range(need.size):
            won = 1.0 if points[leaf] > need[lane] else tie if points[leaf] == need[lane] else 0.0
            values[leaf, lane] = won if with_six[leaf] and leaf != OUT else 0.0
    for against in range(2 if risk else 1):
        for kind in range(3 if risk else 1):
            sweep(values, graph, n_leaves, begins[against, kind], ends[against, kind, shields], room)
            for k in range(shields + 1):
                mean(values, graph[1], graph[2], graph[3], starts[against, kind, k], out[kind, against, k])


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
    n_leaves, n = points.size, bounds[1] - bounds[0] + 1
    lanes, part = values[:, :n], room[:n]
    for row in range(out.shape[2]):
        first_score = target - out.shape[2] + row
        if first_score < bounds[0]:
            continue
        for leaf in range(n_leaves):
            for lane in range(n):
                score = bounds[0] + lane
                total = score + points[leaf]
                validates = leaf != OUT and total >= target
                if validates and with_six[leaf]:
                    lanes[leaf, lane] = 1.0
                elif plays_on:
                    lanes[leaf, lane] = 1.0 - after[(score if validates else total) - low, first_score - low]
                else:
                    lanes[leaf, lane] = 0.0
        for against in range(2 if token else 1):
            sweep(lanes, graph, n_leaves, begins[against, PLAIN], ends[against, PLAIN, shields], part)
            for k in range(shields + 1):
                place = out[against, k, row, bounds[0] - low : bounds[1] + 1 - low]
                mean(lanes, graph[1], graph[2], graph[3], starts[against, PLAIN, k], place)


# --- the solution -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solution:
    """Win probabilities and committed cards of every position.

    Attributes
    ----------
    win : float array (2 seats, 2 tokens, hands, hands, scores, scores)
        The mover's chance at the start of its turn, by seat, token against it, own hand, other hand, other score, own score.
        A hand is ``parade * (risk_cards + 1) + risk``; a score is counted from ``low``.
    last_turn : float array (2 tokens, hands, hands, scores at the target, scores)
        Seat 1's chance in its last turn: token, seat 0's hand, seat 1's hand, seat 0's score from the target on, seat 1's score.
    cards, last_cards : int8 arrays of the same shapes
        What best play commits: ``2 * parade + risk``.
    graph : TurnGraph
        The turns of the variant.
    low : int
        The lowest score.
    states, seconds : int, float
        Number of positions; time to solve them.
    path : Path or None
        The file that keeps the solution.
    """

    ruleset: Ruleset
    variant: Variant
    win: np.ndarray
    last_turn: np.ndarray
    cards: np.ndarray
    last_cards: np.ndarray
    graph: TurnGraph
    low: int
    states: int
    seconds: float
    path: Path | None = None

    @property
    def first_seat_win(self) -> float:
        """The value of the game: the chance of the seat that starts."""
        return float(self.win[0, 0, -1, -1, -self.low, -self.low])

    @cached_property
    def frame(self) -> "Frame":
        """The measures of the tables."""
        return frame_of(self.ruleset, self.variant, self.graph)

    def win_probability(self, state: Any, seat: int = 0) -> float:
        """Return the chance of a seat to win from any position of a game between two, under best play of both."""
        return self._first_seat(state, {}) if seat == 0 else 1.0 - self._first_seat(state, {})

    def options(self, state: Any) -> dict[int, float]:
        """Return the win probability of whoever decides, by action."""
        who, known = rules.actor(state), dict[bytes, Any]()
        options = {}
        for action in self.ruleset.legal(state):
            after = state.copy()
            rules.apply_action(after, action)
            first = self._first_seat(after, known)
            options[action] = first if who == 0 else 1.0 - first
        return options

    def _first_seat(self, state: Any, known: dict[bytes, Any]) -> float:
        """Seat 0's chance. `known` remembers the values of turns."""
        who = rules.actor(state)
        if who == OVER:
            shares = np.zeros(2)
            rules.payoffs(state, shares)
            return float(shares[0])
        if self._is_start(state):
            return self._mine_to_first(state, self.at_start(state))
        if state.phase in (rules.DECIDE, rules.WINDOW, rules.BONUS_DIE, rules.RETHROW):
            return self._mine_to_first(state, self._at_node(state, known))
        if state.phase == rules.DUEL_DIE:  # equal dice are thrown again, so they change nothing
            duels = [(mine, theirs) for mine, theirs in product(range(6), repeat=2) if mine != theirs]
            return sum(self._first_seat(_after(_after(state, mine), theirs), known) for mine, theirs in duels) / len(duels)
        if who == CHANCE:
            key = state.tobytes()  # six dice come to the same position in many ways
            if key not in known:
                n = rules.chance(state)
                known[key] = sum(self._first_seat(_after(state, outcome), known) for outcome in range(n)) / n
            return known[key]
        best = max if who == 0 else min
        return best(self._first_seat(_after(state, action), known) for action in self.ruleset.legal(state))

    def _is_start(self, state: Any) -> bool:
        """Is this the start of a turn? Without a card to commit, the first die is in the air already.

        A last turn whose leader is under the target is past its start: the Duel of a last card pulled the leader back.
        """
        seat = state.turn
        if state.last_round and state.score[0] < self.frame.target:
            return False
        is_thrown = state.phase == rules.DIE and not (state.track or state.shields or state.tokens[1 - seat]) and state.mult == 1
        return state.phase == rules.COMMIT or bool(is_thrown and self._hand(state, seat) == 0)

    def _hand(self, state: Any, seat: int) -> int:
        return self.frame.hand(int(state.parade[seat]), min(int(state.risk[seat]), self.frame.risk))

    def _mine_to_first(self, state: Any, value: float) -> float:
        return value if state.turn == 0 else 1.0 - value

    def _place(self, state: Any) -> tuple[tuple, tuple]:
        """Return the places of a turn's start in `win` (and `cards`) and in `last_turn` (and `last_cards`)."""
        hands = [self._hand(state, seat) for seat in range(2)]
        scores = [int(state.score[seat]) for seat in range(2)]
        seat, other, token = int(state.turn), 1 - int(state.turn), int(state.tokens[state.turn] > 0)
        return (
            (seat, token, hands[seat], hands[other], scores[other] - self.low, scores[seat] - self.low),
            (token, *hands, scores[0] - self.frame.target, scores[1] - self.low),
        )

    def at_start(self, state: Any) -> float:
        """Return the mover's chance at the start of its turn."""
        win, last = self._place(state)
        return float(self.last_turn[last] if state.last_round else self.win[win])

    def best_cards(self, state: Any) -> int:
        """Return the action of best play at the start of a turn: which cards to commit."""
        win, last = self._place(state)
        return rules.CARDS + int(self.last_cards[last] if state.last_round else self.cards[win])

    def _at_node(self, state: Any, known: dict[bytes, Any]) -> float:
        """Value a decision within a turn by a sweep over the turn's graph."""
        turn = state.copy()
        for name in TURN_FIELDS:
            turn[name] = 0
        turn.tokens[state.turn] = turn.fresh = turn.first = turn.six = turn.owner = 0
        key = turn.tobytes()
        if key not in known:
            known[key] = self.turn_values(state)
        return float(known[key][len(self.graph.points) + self.graph.node_of[position_key(state)], 0])

    def turn_values(self, state: Any) -> np.ndarray:
        """Return the mover's chance at every leaf and node of its turn, float array (leaves + nodes, 1).

        Scores, hands, validation and the mover's own Relance token are those of `state`, which is within the turn.
        """
        graph, worth_ = self.graph, []
        for points, with_six in zip(graph.points, graph.with_six, strict=True):
            worth_.append(self._end_of_turn(state, int(points), bool(with_six)))
        worth_[OUT] = self._end_of_turn(state, None, False)
        values = np.zeros((len(worth_) + len(graph.states), 1))
        values[: len(worth_), 0] = worth_
        rows = (graph.rows, graph.edges, graph.child, graph.weight, graph.is_owners)
        sweep_all(values, rows, len(worth_), np.zeros(1))
        return values

    def _end_of_turn(self, state: Any, points: int | None, with_six: bool) -> float:
        """Return the mover's chance after its turn ended OUT (None) or with so many points, through the rules."""
        after = state.copy()
        after.track, after.tripled_value, after.suite, after.mult = rules.bit(6) if with_six else 0, 0, 0, 1
        after.extra = 0 if points is None else points - 6 * with_six
        if points is None:
            rules.out(after)
        else:
            rules.bank(after)
        first = self._first_seat(after, {})
        return first if state.turn == 0 else 1.0 - first


@dataclass(frozen=True)
class Frame:
    """What the tables of a variant measure."""

    parade: int
    risk: int
    target: int
    duels: tuple[tuple[int, float], ...]  # (points won, probability)
    faces: dict[int, float]  # PLAIN stands for Duel
    low: int
    high: int
    top: int  # highest score of a validated seat

    @property
    def hands(self) -> int:
        """Number of hands."""
        return (self.parade + 1) * (self.risk + 1)

    @property
    def stake(self) -> int:
        """The most that a Duel moves."""
        return max((gain for gain, _ in self.duels), default=0)

    def hand(self, parade: int, risk: int) -> int:
        """Index of a hand."""
        return parade * (self.risk + 1) + risk

    def cards(self, hand: int) -> tuple[int, int]:
        """PARADE and RISK cards of a hand."""
        return divmod(hand, self.risk + 1)

    def bounds(self, *hands: int) -> tuple[int, int]:
        """Lowest and highest score with these two hands left: each RISK card that is gone may have been a Duel."""
        gone = sum(self.risk - self.cards(hand)[1] for hand in hands)
        return -self.stake * gone, self.target - 1 + self.stake * gone

    def layers(self) -> list[list[tuple[int, int]]]:
        """Pairs of hands in groups, so that a group needs only the groups before it."""
        pairs = [(one, two) for one in range(self.hands) for two in range(self.hands)]
        by_size = sorted(pairs, key=self.n_cards)
        return [list(group) for _, group in groupby(by_size, key=self.n_cards)]

    def n_cards(self, layer: tuple[int, int]) -> int:
        """Number of cards in two hands."""
        return sum(sum(self.cards(hand)) for hand in layer)


def _after(state: Any, code: int) -> Any:
    after = state.copy()
    if rules.actor(state) == CHANCE:
        rules.apply_chance(after, code)
    else:
        rules.apply_action(after, code)
    return after


def duel_gains(ruleset: Ruleset, variant: Variant) -> tuple[tuple[int, float], ...]:
    """Return what a Duel may win and how likely, by throwing both dice through the rules (ties are thrown again)."""
    gains: dict[int, int] = {}
    for mine, theirs in product(range(6), repeat=2):
        state = ruleset.new_state(2, variant)
        state.phase, state.rival = rules.DUEL_DIE, 1
        rules.apply_chance(state, mine)
        rules.apply_chance(state, theirs)
        if mine != theirs:
            gains[int(state.score[0])] = gains.get(int(state.score[0]), 0) + 1
    return tuple((gain, n / 30) for gain, n in sorted(gains.items()))


def tie_value(ruleset: Ruleset, variant: Variant) -> float:
    """Return seat 1's chance if its last turn ties with seat 0: sudden death, die by die through the rules."""
    state = ruleset.new_state(2, variant)
    state.turn = 1
    state.score[:2] = state.variant.target
    state.validated[:2] = 1
    rules.end_turn(state)
    return _second_seat_share(state, {})


def _second_seat_share(state: Any, known: dict[bytes, float]) -> float:
    if rules.actor(state) != CHANCE:
        shares = np.zeros(2)
        rules.payoffs(state, shares)
        return float(shares[1])
    key = state.tobytes()
    if key not in known:
        total = 0.0
        for outcome in range(6):
            after = state.copy()
            rules.apply_chance(after, outcome)
            total += _second_seat_share(after, known)
        known[key] = total / 6
    return known[key]


def frame_of(ruleset: Ruleset, variant: Variant, graph: TurnGraph) -> Frame:
    """Return the measures of a variant's tables."""
    values = variant.values
    faces: dict[int, float] = {}
    risk = values["risk_cards"] if values["max_risk_per_turn"] else 0
    if risk:
        kinds = {"X2": X2, "DUEL": PLAIN, "RELANCE": RELANCE, "SIX": SIX}
        for face in values["risk_faces"]:
            faces[kinds[face]] = faces.get(kinds[face], 0.0) + 1 / len(values["risk_faces"])
    duels = duel_gains(ruleset, variant) if PLAIN in faces else ()
    reach = 2 * risk * max((gain for gain, _ in duels), default=0)
    target = values["target"]
    high = target - 1 + reach
    return Frame(values["parade_cards"], risk, target, duels, faces, -reach, high, high + int(graph.points.max()))


def solve(ruleset: Ruleset, variant: Any = None, n_jobs: int = 2, progress: bool = True) -> Solution:
    """Solve the game between two players from the rules, or raise InputError if its tables would be too large."""
    variant = variant if isinstance(variant, Variant) else ruleset.variant(variant)
    return _Solver(ruleset, variant).solution(n_jobs, progress)


def solution(ruleset: Ruleset, variant: Any = None, progress: bool = True) -> Solution:
    """Return the solution of a variant, from the user's cache folder if it is kept there, else solved and kept.

    The file is found by the ruleset's version, the variant and the source of rules and solver, and says so inside. One that
    is damaged or says something else is solved anew.
    """
    variant = variant if isinstance(variant, Variant) else ruleset.variant(variant)
    header = _header(ruleset, variant)
    path = user_cache_path("dicelab") / "solutions" / f"{ruleset.name}-{hashlib.sha256(header.encode()).hexdigest()[:16]}.npz"
    if path.exists():
        try:
            return _load(ruleset, variant, path, header)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            print(f"the kept solution {path} cannot be used ({error}): solving again", file=sys.stderr)
    solved = solve(ruleset, variant, progress=progress)
    try:
        make_folder(path.parent, "the solution")
        with whole_file(path) as partial, open(partial, "wb") as file:
            arrays: dict[str, Any] = {name: getattr(solved, name) for name in (*TABLES, "low", "seconds")}
            arrays |= {each.name: getattr(solved.graph, each.name) for each in fields(TurnGraph)}
            np.savez(file, header=np.array(header), n_states=solved.states, **arrays)
    except (InputError, OSError):  # nowhere to keep it
        return solved
    return replace(solved, path=path)


def _header(ruleset: Ruleset, variant: Variant) -> str:
    sources = hashlib.sha256(
        b"".join(Path(module.__file__ or "").read_bytes() for module in (rules, turns, sys.modules[__name__]))
    )
    key = {"ruleset": ruleset.name, "version": ruleset.version, "variant": dict(variant.values), "sources": sources.hexdigest()}
    return json.dumps(key, sort_keys=True)


def _load(ruleset: Ruleset, variant: Variant, path: Path, header: str) -> Solution:
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as kept:  # numpy itself leaves a damaged file open
        if str(kept["header"]) != header:
            raise ValueError("it is of another variant or version")
        win, last_turn, cards, last_cards = (kept[name] for name in TABLES)
        numbers = int(kept["low"]), int(kept["n_states"]), float(kept["seconds"])
        graph = TurnGraph(*(kept[field.name] for field in fields(TurnGraph)))
        return Solution(ruleset, variant, win, last_turn, cards, last_cards, graph, *numbers, path)


class _Solver:
    """The tables while they are filled."""

    def __init__(self, ruleset: Ruleset, variant: Variant) -> None:
        self.ruleset, self.variant = ruleset, variant
        self.turns = turn_graph(ruleset, variant)
        self.frame = frame = frame_of(ruleset, variant, self.turns)
        scores, hands = frame.high - frame.low + 1, frame.hands
        shape = (2, 2, hands, hands, scores, scores)
        last_shape = (2, hands, hands, frame.top - frame.target + 1, scores)
        if 9 * (np.prod(shape, dtype=float) + np.prod(last_shape, dtype=float)) > MAX_BYTES:
            raise InputError(f"{variant.name} has too many positions to be solved: {np.prod(shape, dtype=float):.2g}")
        self.win, self.cards = np.full(shape, -1.0), np.zeros(shape, np.int8)
        self.last_turn, self.last_cards = np.zeros(last_shape), np.zeros(last_shape, np.int8)
        graph = self.turns
        self.graph = (graph.rows, graph.edges, graph.child, graph.weight, graph.is_owners)
        self.ways = (graph.points, graph.with_six, graph.starts, graph.ends, graph.begins)
        self.pulled: dict[tuple[int, int], np.ndarray] = {}
        self.thrown: dict[tuple[int, int, int], np.ndarray] = {}

    def room(self, lanes: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a worker's room for the values of the graph and of one action."""
        return np.zeros((len(self.turns.points) + len(self.turns.states), lanes)), np.zeros(lanes)

    def solution(self, n_jobs: int, progress: bool) -> Solution:
        """Fill the tables, group after group of layers."""
        start = time.perf_counter()
        layers = self.frame.layers()
        with (
            vectorised(),
            ThreadPoolExecutor(n_jobs) as pool,
            tqdm(total=self.frame.hands**2, unit=" layers", disable=None if progress else True) as bar,
        ):
            bar.set_description(f"solving {self.ruleset.name} {self.variant.name}"[:60])
            self.gaps = self.last_gaps()
            for group in layers:
                list(pool.map(self.solve_layer, group))
                for layer in group:
                    self.offer_cards(layer, pool, n_jobs)
                    bar.update(1)
        states = self.n_states()
        seconds = time.perf_counter() - start
        tables = self.win, self.last_turn, self.cards, self.last_cards
        return Solution(self.ruleset, self.variant, *tables, self.turns, self.frame.low, states, seconds)

    def n_states(self) -> int:
        """Number of positions within the bounds of their layers."""
        total = 0
        for layer in product(range(self.frame.hands), repeat=2):
            low, high = self.frame.bounds(*layer)
            scores = high - low + 1
            tokens = sum(2 if self.token_against(hand) else 1 for hand in layer)
            total += scores * (scores * tokens + (self.frame.top - self.frame.target + 1))
        return total

    def token_against(self, other_hand: int) -> bool:
        """Can a Relance token lie against a seat whose opponent has this hand left?"""
        return RELANCE in self.frame.faces and self.frame.cards(other_hand)[1] < self.frame.risk

    # A layer

    def solve_layer(self, layer: tuple[int, int]) -> None:
        """Solve the positions of a layer, from the best values of committing cards."""
        one, two = layer
        self.fill_last_turn(layer)
        own = self.win[0, :, one, two], self.win[1, :, two, one]
        offered = own[0].copy(), own[1].copy()
        n_leaves = len(self.turns.points)
        n = n_leaves + max(self.turns.ends[0, PLAIN, 0], self.turns.ends[1, PLAIN, 0])
        cycle_room = np.zeros((2, n, LANES)), np.zeros((2, n_leaves, LANES), bool), np.zeros((8, LANES))
        solve_layer(
            self.graph,
            *self.ways,
            self.frame.target,
            self.frame.low,
            self.frame.bounds(one, two),
            own,
            self.last_turn[:, one, two],
            (self.token_against(two), self.token_against(one)),
            *cycle_room,
        )
        for seat, hands in ((0, (one, two)), (1, (two, one))):
            self.cards[seat, :, *hands][own[seat] > offered[seat]] = 0

    def offer_cards(self, layer: tuple[int, int], pool: ThreadPoolExecutor, n_jobs: int) -> None:
        """Value the throws with cards committed that leave this layer, and offer them to the layers above."""
        one, two = layer
        for seat, left, other in ((0, one, two), (1, two, one)):
            thrown = self.throw_values(seat, left, other, pool, n_jobs)
            if thrown is None:
                continue
            parade, risk = self.frame.cards(left)
            for k in range(1, thrown.shape[2]):
                self.offer(seat, self.frame.hand(parade + k, risk), other, thrown[PLAIN, :, k], 2 * k)
            if risk < self.frame.risk:
                settled = self.after_risk(seat, left, other, thrown)
                for k in range(thrown.shape[2]):
                    value = sum(share * self.of_face(face, settled, thrown, k) for face, share in self.frame.faces.items())
                    self.offer(seat, self.frame.hand(parade + k, risk + 1), other, value, 2 * k + 1)
        if self.frame.stake:
            self.pulled[layer] = self.pulled_values(layer)

    def offer(self, seat: int, hand: int, other: int, value: Any, cards: int) -> None:
        """Keep the value of committing these cards where it is the best so far."""
        best = self.win[seat, :, hand, other]
        better = value > best
        best[better] = value[better]
        self.cards[seat, :, hand, other][better] = cards

    def of_face(self, face: int, settled: np.ndarray, thrown: np.ndarray, k: int) -> Any:
        """Value of k committed shields after this face of the RISK die."""
        if face == SIX:
            return thrown[SIX, :, k]
        if face != PLAIN:
            return settled[face, :, k]
        return sum(share * _moved(settled[PLAIN, :, k], gain) for gain, share in self.frame.duels)

    def after_risk(self, seat: int, left: int, other: int, thrown: np.ndarray) -> np.ndarray:
        """Return the values after the RISK throw, when further PARADE cards may be added if the variant says so."""
        if not self.variant.values["parade_after_risk"]:
            return thrown
        best, (parade, risk) = thrown.copy(), self.frame.cards(left)
        if parade > 0:
            fewer = self.thrown[seat, self.frame.hand(parade - 1, risk), other]
            best = np.maximum(best, fewer[:, :, 1 : 1 + best.shape[2]])
        self.thrown[seat, left, other] = best
        return best

    def throw_values(self, seat: int, left: int, other: int, pool: ThreadPoolExecutor, n_jobs: int) -> np.ndarray | None:
        """Value every start of a turn after which this hand is left; None if no hand is larger."""
        frame = self.frame
        parade, risk = frame.cards(left)
        shields, with_risk = frame.parade - parade, risk < frame.risk
        if not shields and not with_risk:
            return None
        low, high = bounds = frame.bounds(left, other)
        scores = frame.high - frame.low + 1
        out = np.zeros((4, 2, shields + 1, scores, scores))
        after = self.win[1 - seat, :, other, left]
        last_turn = self.last_turn[:, left, other] if seat == 0 else self.last_turn[:, other, left]
        token = self.token_against(other)

        def part(rows: tuple[int, int]) -> None:
            throw_values(
                self.graph, *self.ways, frame.target, frame.low, bounds, after, last_turn, seat,
                shields, with_risk, token, rows, *self.room(LANES), out,
            )  # fmt: skip

        cuts = np.linspace(low, high + 1, n_jobs + 1).astype(int)
        list(pool.map(part, pairwise(cuts)))
        return out.swapaxes(-1, -2)

    # Seat 1's last turn

    def last_gaps(self) -> np.ndarray:
        """Value the starts of the last turn by how far seat 1 is behind: gaps from ``-span`` to ``span``."""
        self.span = self.frame.top - self.frame.low + 2 * self.frame.stake
        need = np.arange(-self.span, self.span + 1)
        out = np.zeros((3, 2, self.frame.parade + 1, need.size))
        tie = tie_value(self.ruleset, self.variant)
        last_values(self.graph, *self.ways, need, tie, self.frame.risk > 0, *self.room(need.size), out)
        return out

    def pulled_values(self, layer: tuple[int, int]) -> np.ndarray:
        """Value seat 1's last turn with seat 0 pulled under the target, after which these hands are left."""
        one, two = layer
        frame, shields = self.frame, self.frame.parade - self.frame.cards(two)[0]
        out = np.zeros((2, shields + 1, frame.stake, frame.high - frame.low + 1))
        plays_on = self.variant.values["last_turn_strict"]
        after, bounds = self.win[0, 0, one, two], frame.bounds(one, two)
        token = self.token_against(one)
        pulled_values(
            self.graph,
            *self.ways,
            frame.target,
            frame.low,
            bounds,
            after,
            plays_on,
            shields,
            token,
            *self.room(bounds[1] + 1 - bounds[0]),
            out,
        )
        parade, risk = frame.cards(two)
        if self.variant.values["parade_after_risk"] and parade > 0:
            fewer = self.pulled[one, frame.hand(parade - 1, risk)]
            out = np.maximum(out, fewer[:, 1 : 1 + out.shape[1]])
        return out

    def fill_last_turn(self, layer: tuple[int, int]) -> None:
        """Best play in seat 1's last turn, for these hands."""
        one, two = layer
        frame, best, cards = self.frame, self.last_turn[:, one, two], self.last_cards[:, one, two]
        parade, risk = frame.cards(two)
        first = np.arange(frame.target, frame.top + 1)[:, None]
        second = np.arange(frame.low, frame.high + 1)[None, :]
        best[...] = -1.0
        for k in range(parade + 1):
            self.offer_last(best, cards, self.by_gap(PLAIN, k, first - second), 2 * k)
        for k in range(parade + 1 if risk else 0):
            more = range(k, parade + 1 if self.variant.values["parade_after_risk"] else k + 1)
            total = np.zeros(best.shape)
            for face, share in frame.faces.items():
                if face == SIX:
                    total += share * self.by_gap(SIX, k, first - second)
                elif face == PLAIN:
                    for gain, chance in frame.duels:
                        total += share * chance * self.after_duel(layer, k, more, first - gain, second + gain)
                else:
                    kind = X2 if face == X2 else PLAIN
                    total += share * np.max([self.by_gap(kind, j, first - second) for j in more], axis=0)
            self.offer_last(best, cards, total, 2 * k + 1)

    def offer_last(self, best: np.ndarray, cards: np.ndarray, value: np.ndarray, code: int) -> None:
        """Keep what is better; against equals, fewer cards."""
        better = value > best
        best[better] = value[better]
        cards[better] = code

    def by_gap(self, kind: int, k: int, gap: np.ndarray) -> np.ndarray:
        """Values of a start of the last turn with k shields, float array (2 tokens, first scores, second scores)."""
        return self.gaps[kind, :, k][:, np.clip(gap, -self.span, self.span) + self.span]

    def after_duel(self, layer: tuple[int, int], k: int, more: range, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Value of the last turn after a Duel that led to these scores."""
        frame, (parade, risk) = self.frame, self.frame.cards(layer[1])
        value = np.max([self.by_gap(PLAIN, j, first - second) for j in more], axis=0)
        pulled = self.pulled[layer[0], frame.hand(parade - k, risk - 1)][:, k]
        rows = first[:, 0] < frame.target
        columns = np.clip(second[0] - frame.low, 0, frame.high - frame.low)
        value[:, rows] = pulled[:, first[rows, 0] - (frame.target - frame.stake)][:, :, columns]
        return value


def _moved(values: np.ndarray, gain: int) -> np.ndarray:
    """Values by (token, other score, own score) of positions from which a Duel moved `gain` points to the mover."""
    moved = np.zeros_like(values)
    n = values.shape[-1]
    here, there = (slice(max(0, -shift), n - max(0, shift)) for shift in (gain, -gain))
    moved[:, there, here] = values[:, here, there]
    return moved
