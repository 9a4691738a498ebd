"""Dice Fever between two players, solved: the exact win probability of every position, and best play.

A *position* is the start of a turn: seat t is to move; both scores; both hands (PARADE and RISK cards left); whether a Relance
token lies against the mover; whether seat 0 has validated in this round (then it is seat 1's last turn). Let V be the mover's
chance to win. A turn worth F(leaf) at its ends (``turns.py``) is worth

    V = max over committed cards c of  mean over RISK faces of  T(c, face),      T = value of the start of the turn graph,
    F(leaf) = 1 - V(the opponent's position after it), or the result of the game.

``solver.py`` says in which order positions are solved. Solutions are kept in the user's cache folder.
"""

import hashlib
import json
import sys
import time
import zipfile
import zlib
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from sims.errors import InputError
from sims.files import make_folder, whole_file
from sims.ruleset import CHANCE, OVER, Ruleset, Variant, copied
from sims.rulesets.dice_fever import rules, solver, sweeps, turns
from sims.rulesets.dice_fever.solver import Frame, Solver, frame_of
from sims.rulesets.dice_fever.sweeps import LANES, sweep_all
from sims.rulesets.dice_fever.turns import OUT, TURN_FIELDS, TurnGraph, position_code

TABLES = ("win", "last_turn", "cards", "last_cards")


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
        Number of positions; time to walk through the turns and to solve them.
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
    def frame(self) -> Frame:
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
            first = self._first_seat(self.ruleset.after(state, action), known)
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
            thrown = [(self.ruleset.after(state, mine), theirs) for mine, theirs in product(range(6), repeat=2) if mine != theirs]
            return sum(self._first_seat(self.ruleset.after(each, theirs), known) for each, theirs in thrown) / len(thrown)
        if who == CHANCE:
            key = state.tobytes()  # six dice come to the same position in many ways
            if key not in known:
                n = rules.chance(state)
                known[key] = sum(self._first_seat(self.ruleset.after(state, outcome), known) for outcome in range(n)) / n
            return known[key]
        best = max if who == 0 else min
        return best(self._first_seat(self.ruleset.after(state, action), known) for action in self.ruleset.legal(state))

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
        turn = copied(state)
        for name in TURN_FIELDS:
            turn[name] = 0
        turn.tokens[state.turn] = turn.fresh = turn.first = turn.six = turn.owner = 0
        key = turn.tobytes()
        if key not in known:
            known[key] = self.turn_values(state)
        return float(known[key][len(self.graph.points) + self.graph.node_of[position_code(state)]])

    def turn_values(self, state: Any) -> np.ndarray:
        """Return the mover's chance at every leaf and node of its turn, float array (leaves + nodes,).

        Scores, hands, validation and the mover's own Relance token are those of `state`, which is within the turn.
        """
        graph, worth_ = self.graph, []
        for points, with_six in zip(graph.points, graph.with_six, strict=True):
            worth_.append(self._end_of_turn(state, int(points), bool(with_six)))
        worth_[OUT] = self._end_of_turn(state, None, False)
        values = np.zeros((len(worth_) + len(graph.states) + 2, LANES))
        values[: len(worth_)] = np.array(worth_)[:, None]
        rows = (graph.rows, graph.edges, graph.child, graph.weight, graph.is_owners)
        sweep_all(values, rows, len(worth_))
        return values[:-2, 0]

    def _end_of_turn(self, state: Any, points: int | None, with_six: bool) -> float:
        """Return the mover's chance after its turn ended OUT (None) or with so many points, through the rules."""
        after = copied(state)
        after.track, after.tripled_value, after.suite, after.mult = rules.bit(6) if with_six else 0, 0, 0, 1
        after.extra = 0 if points is None else points - 6 * with_six
        if points is None:
            rules.out(after)
        else:
            rules.bank(after)
        first = self._first_seat(after, {})
        return first if state.turn == 0 else 1.0 - first


def solve(ruleset: Ruleset, variant: Any = None, n_jobs: int = 2, progress: bool = True) -> Solution:
    """Solve the game between two players from the rules, or raise InputError if its tables would be too large."""
    variant = variant if isinstance(variant, Variant) else ruleset.variant(variant)
    start = time.perf_counter()
    tables = Solver(ruleset, variant)
    tables.fill(n_jobs, progress)
    seconds = time.perf_counter() - start
    arrays = tables.win, tables.last_turn, tables.cards, tables.last_cards
    return Solution(ruleset, variant, *arrays, tables.turns, tables.frame.low, tables.n_states(), seconds)


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
        b"".join(Path(module.__file__ or "").read_bytes() for module in (rules, turns, sweeps, solver, sys.modules[__name__]))
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
