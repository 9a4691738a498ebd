"""The solution of Dice Fever between two, filled layer by layer.

Cards never come back, so a pair of hands (a *layer*) needs only layers with fewer cards: committing k PARADE with or without a
RISK card is a throw from the layer with the cards that are left. So when a layer is solved, its throws are valued and offered to
the layers above it. In a layer banked points raise the sum of the scores, so sums are taken falling; what remains are cycles of
two (``sweeps.py``). Sudden death, Duels and the faces of the RISK die are enumerated through the rules functions.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby, pairwise, product
from typing import Any

import numpy as np
from tqdm import tqdm

from sims.errors import InputError
from sims.jit import vectorised
from sims.ruleset import CHANCE, Ruleset, Variant
from sims.rulesets.dice_fever import rules
from sims.rulesets.dice_fever.sweeps import LANES, RELANCE, last_values, pulled_values, solve_layer, throw_values
from sims.rulesets.dice_fever.turns import PLAIN, SIX, X2, TurnGraph, turn_graph

MAX_BYTES = 4e9  # of the tables; a variant with hands and stakes that need more is refused


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
    state.validated[:2] = state.last_round = 1
    rules.end_turn(state)
    return _second_seat_share(ruleset, state, {})


def _second_seat_share(ruleset: Ruleset, state: Any, known: dict[bytes, float]) -> float:
    if rules.actor(state) != CHANCE:
        shares = np.zeros(2)
        rules.payoffs(state, shares)
        return float(shares[1])
    key = state.tobytes()
    if key not in known:
        known[key] = sum(_second_seat_share(ruleset, ruleset.after(state, outcome), known) for outcome in range(6)) / 6
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


class Solver:
    """The tables of a variant, and their filling."""

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

    def room(self) -> tuple[np.ndarray, np.ndarray]:
        """Return a worker's room for the values of the graph, and for those of a start."""
        return np.zeros((len(self.turns.points) + len(self.turns.states) + 2, LANES)), np.zeros(LANES)

    def fill(self, n_jobs: int, progress: bool) -> None:
        """Fill the tables, group after group of layers."""
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
        cycle_room = np.zeros((2, n + 2, LANES)), np.zeros((2, n_leaves, LANES), bool), np.zeros((8, LANES))
        solve_layer(
            self.graph,
            *self.ways,
            self.frame.target,
            self.frame.low,
            self.frame.bounds(one, two),
            layer,
            self.win,
            self.last_turn,
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
                shields, with_risk, token, rows, *self.room(), out,
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
        last_values(self.graph, *self.ways, need, tie, self.frame.risk > 0, *self.room(), out)
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
            *self.room(),
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
