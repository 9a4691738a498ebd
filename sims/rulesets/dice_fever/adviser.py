"""STOP or THROW to win a game between two: a position of a turn set into the game, and valued by its solution.

The turn comes from ``odds.py`` (track, shields, BONUS), its place in the game from a :class:`Table` (scores, hands, seat). Both
are checked for what no game can show, so that whoever asks learns of a slip before the game is solved.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sims.errors import InputError
from sims.ruleset import CHANCE, Ruleset
from sims.rulesets.dice_fever import readable, rules
from sims.rulesets.dice_fever.exact import Solution, solution
from sims.rulesets.dice_fever.odds import Choice, Odds, Turn
from sims.rulesets.dice_fever.solver import duel_gains
from sims.rulesets.dice_fever.turns import TURN_FIELDS, position_code

Cards = tuple[int, ...]  # PARADE, RISK


@dataclass(frozen=True)
class Table:
    """What the game shows beside the track.

    Attributes
    ----------
    scores : (int, int)
        Mine, theirs; Duels of this turn included.
    cards, their_cards : (int, int) or None
        PARADE and RISK cards left in hand, without those committed. None for the most that the rest allows.
    seat : int
        1 if I start the rounds, 2 if they do.
    last_turn : bool
        Has seat 1 validated in this round, so that this is seat 2's last turn?
    relance, my_relance : bool
        Do they hold a Relance token against this turn? Do I, from this turn, hold one against their next?
    """

    scores: tuple[int, ...]
    cards: Cards | None = None
    their_cards: Cards | None = None
    seat: int = 1
    last_turn: bool = False
    relance: bool = False
    my_relance: bool = False


@dataclass(frozen=True)
class Advice(Choice):
    """What a position offers to whoever wants to win.

    Attributes
    ----------
    stop, throw : float
        Win probabilities, under best play of both from then on.
    p_out : float
        Chance that the next throw ends the turn OUT, a Relance against it played as best for its owner.
    stop_is_out : bool
        Would STOP be OUT, because it reaches the target without a 6?
    odds : Odds
        The same position for the most points.
    rules : dict of str to str
        What each of the rules that fit on a card says (``readable.py``).
    next : dict of str to list of str
        What best play does after each throw, ``{"STOP": ["2", "3 X3"], "OUT": ["1"]}``. Empty after Double De and under a
        Relance, where it would be too long to read.
    table : Table
        What was asked, with both hands filled in.
    """

    stop: float
    throw: float
    p_out: float
    stop_is_out: bool
    odds: Odds
    rules: dict[str, str]
    next: dict[str, list[str]]
    table: Table


class Adviser:
    """Advice under one variant, for points and to win."""

    def __init__(self, ruleset: Ruleset, variant: Any = None) -> None:
        self.ruleset = ruleset
        self.turn = Turn(ruleset, variant)
        self.variant = self.turn.variant

    @cached_property
    def solution(self) -> Solution:
        """The game solved, which takes long the first time."""
        return solution(self.ruleset, self.variant)

    def advise(
        self,
        table: Table,
        track: tuple[int, ...],
        shields: int = 0,
        bonus: str = "none",
        tripled: int = 0,
        double_score: bool = False,
    ) -> Advice:
        """Return the advice to win; raises InputError if no game comes to this position.

        Parameters
        ----------
        table : Table
            The game beside the turn.
        track, shields, bonus, tripled, double_score
            The turn, as :meth:`odds.Turn.position` takes it.
        """
        position = self.position(track, shields, bonus, tripled, double_score)
        spent = self.turn.spent(len(track), bonus, tripled, double_score) or 0
        used_risk = self.turn.used_risk(len(track), bonus, tripled, double_score)
        if table.my_relance and used_risk:
            raise InputError("my-relance is impossible here: the RISK card of this turn has shown another face")
        table = self._with_hands(table, shields + spent, int(used_risk or table.my_relance))
        state = self._in_game(position, table)
        values = self._values(state, table)
        stop, throw = self._worth_of_actions(state, values)
        thrown = self.ruleset.after(state, rules.THROW)
        is_short = not (table.relance or rules.is_pair(state))
        is_out = bool(rules.lacks_six(state, rules.stop_points(state), state.track))
        return Advice(
            stop,
            throw,
            self._p_out(thrown, values),
            is_out,
            self.turn.odds(position),
            {rule.name: self.ruleset.describe(state, readable.answer(rule, state)) for rule in readable.RULES},
            self._moves(thrown, values) if is_short else {},
            table,
        )

    def position(self, track: tuple[int, ...], *rest: Any) -> Any:
        """Return a position of the turn as :meth:`odds.Turn.position` does, but for a Dice Fever, which is no decision."""
        position = self.turn.position(track, *rest)
        if position.track == rules.FULL:
            raise InputError("track 1,2,3,4,5,6 is a Dice Fever: the turn is over; advice to win needs 1 to 5 values")
        return position

    # The place in the game

    def _with_hands(self, table: Table, committed: int, used_risk: int) -> Table:
        """Return the table with its hands filled in, or raise InputError for what no game shows.

        `committed` PARADE and `used_risk` RISK cards are known to have gone in this turn.
        """
        values, faces = self.variant.values, self.turn.can_risk
        if table.seat not in (1, 2):
            raise InputError(f"seat must be 1 (I start the rounds) or 2, not {table.seat}")
        if table.last_turn and table.seat == 1:
            raise InputError("last-turn needs seat 2: who starts the rounds plays no turn after a validation")
        for name, is_on in (("relance", table.relance), ("my-relance", table.my_relance)):
            if is_on and not faces("RELANCE"):
                raise InputError(f"{name} cannot happen: {self.variant.name} has no RISK card to use or no such face")
        full = values["parade_cards"], values["risk_cards"]
        mine = _hand("cards", table.cards, (full[0] - committed, full[1] - used_risk), "what this turn has used")
        theirs = _hand("their-cards", table.their_cards, (full[0], full[1] - table.relance), "the Relance")
        duels = full[1] - used_risk - mine[1], full[1] - table.relance - theirs[1]
        table = replace(table, cards=mine, their_cards=theirs)
        self._check_scores(table, duels, used_risk)
        return table

    def _check_scores(self, table: Table, duels: tuple[int, int], used_risk: int) -> None:
        """Check both scores, with so many RISK cards gone that may have been Duels."""
        target, stake = self.variant.values["target"], self._stake
        low, high = -stake * sum(duels), target - 1 + stake * sum(duels)
        why = f"the target is {target}" + (f", and {sum(duels)} Duels may have moved {stake} each" if stake else "")
        mine, theirs = table.scores
        if not low <= mine <= high:
            raise InputError(f"my score must be from {low} to {high} with these hands ({why}), not {mine}")
        if table.last_turn:
            pulled = stake if duels[0] and not used_risk else 0
            if theirs < target - pulled:
                raise InputError(f"their score must be {target - pulled} or more in the last turn, not {theirs}")
        elif not low <= theirs <= high:
            hint = "; last-turn says that they have validated" if theirs >= target and table.seat == 2 else ""
            raise InputError(f"their score must be from {low} to {high} with these hands ({why}), not {theirs}{hint}")

    @cached_property
    def _stake(self) -> int:
        """The most that a Duel moves."""
        return max(gain for gain, _ in duel_gains(self.ruleset, self.variant)) if self.turn.can_risk("DUEL") else 0

    def _in_game(self, position: Any, table: Table) -> Any:
        """Return the position with the table's scores, hands and tokens."""
        state = self.ruleset.new_state(2, self.variant)
        for name in ("six", *TURN_FIELDS):
            state[name] = position[name]
        me, they = table.seat - 1, 2 - table.seat
        state.turn = me
        for seat, score, cards in zip((me, they), table.scores, (table.cards, table.their_cards), strict=True):
            state.score[seat] = score
            state.parade[seat], state.risk[seat] = cards or (0, 0)
        state.validated[0] = state.last_round = table.last_turn
        state.tokens[me], state.tokens[they] = table.relance << they, table.my_relance << me
        return state

    # The values of the turn

    def _values(self, state: Any, table: Table) -> np.ndarray:
        """Return the mover's chance at every leaf and node of the turn, checked to hold this position."""
        solved = self.solution
        if position_code(state) not in solved.graph.node_of:
            under = " under a Relance" if table.relance else ""
            raise InputError(f"no turn{under} of {self.variant.name} comes to this track, bonus and shields")
        most = solved.frame.bounds(*self._hands(table))[1] + int(solved.graph.points.max())
        if table.last_turn and table.scores[1] > most:
            raise InputError(f"their score must be {most} or less with these hands, not {table.scores[1]}")
        return solved.turn_values(state)

    def _hands(self, table: Table) -> list[int]:
        frame = self.solution.frame
        return [frame.hand(cards[0], min(cards[1], frame.risk)) for cards in (table.cards, table.their_cards) if cards]

    def _worth_of_actions(self, state: Any, values: np.ndarray) -> list[float]:
        """Return the mover's chance by each action of a decision in its turn, in the order of the legal actions."""
        graph = self.solution.graph
        node = graph.node_of[position_code(state)]
        edges = [slice(*graph.edges[row : row + 2]) for row in range(graph.rows[node], graph.rows[node + 1])]
        return [float(graph.weight[edge] @ values[graph.child[edge]]) for edge in edges]

    def _best(self, state: Any, values: np.ndarray) -> int:
        """Return the action of best play; the owner of a Relance wants the mover to lose, and equals go to the first."""
        worth = self._worth_of_actions(state, values)
        best = min(worth) if state.phase == rules.WINDOW else max(worth)
        return self.ruleset.legal(state)[worth.index(best)]

    def _p_out(self, state: Any, values: np.ndarray) -> float:
        """Chance that the dice in the air end the turn OUT, as best play of a Relance's owner has it."""
        if (ended := _ended(state)) or state.phase == rules.DECIDE:
            return float(ended == "OUT")
        if rules.actor(state) == CHANCE:
            n = rules.chance(state)
            return sum(self._p_out(self.ruleset.after(state, outcome), values) for outcome in range(n)) / n
        return self._p_out(self.ruleset.after(state, self._best(state, values)), values)

    def _moves(self, thrown: Any, values: np.ndarray) -> dict[str, list[str]]:
        """Return what best play does after each throw: what was thrown, by move."""
        moves: dict[str, list[str]] = {}
        for path, move in self._paths(thrown, values):
            moves.setdefault(move, []).append(path)
        return moves

    def _paths(self, state: Any, values: np.ndarray) -> list[tuple[str, str]]:
        """Return (words of the throw, move) for each way of chance to the next decision; what makes no difference is left out."""
        if ended := _ended(state):
            return [("", ended)]
        if rules.actor(state) != CHANCE:
            return [("", self.ruleset.describe(state, self._best(state, values)))]
        found: dict[tuple[str, str], None] = {}
        for outcome in range(rules.chance(state)):
            paths = self._paths(self.ruleset.after(state, outcome), values)
            word = self.ruleset.describe(state, outcome)
            same = len({move for _, move in paths}) == 1
            found |= {(word if same else f"{word} {path}", move): None for path, move in paths}
        return list(found)


def _hand(name: str, cards: Cards | None, most: Cards, used_by: str) -> Cards:
    """Return a hand, by default the largest possible, or raise InputError."""
    if min(most) < 0:
        raise InputError(f"{name}: there are not enough cards for {used_by}")
    if cards is None:
        return most
    if any(not 0 <= left <= full for left, full in zip(cards, most, strict=True)):
        text = ",".join(map(str, cards))
        raise InputError(f"{name} must be from 0,0 to {most[0]},{most[1]} (PARADE,RISK; less {used_by}), not {text}")
    return cards


def _ended(state: Any) -> str:
    """Return how the turn ended in a position that began without any OUT or Dice Fever, or nothing."""
    return "OUT" if state.outs[:2].any() else "FEVER" if state.fevers[:2].any() else ""
