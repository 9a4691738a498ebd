"""A game of Dice Fever between two at the table, followed word by word, with the win probability of every option.

What happened is typed in the words of a transcript. Questions and advice go to stderr, so that stdout is left to the record.
"""

import sys
from contextlib import redirect_stdout
from itertools import groupby
from operator import itemgetter
from typing import Any

import click
import numpy as np

from sims.errors import InputError
from sims.ruleset import CHANCE, OVER, Ruleset, Variant
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever import rules
from sims.rulesets.dice_fever.adviser import Adviser
from sims.rulesets.dice_fever.exact import Solution
from sims.trace import follow, options

ASKS = {
    rules.COMMIT: "cards committed",
    rules.ADD_PARADE: "PARADE cards added",
    rules.WINDOW: "Relance used on which die",
    rules.DECIDE: "STOP or THROW (or the die thrown)",
    rules.DIE: "die",
    rules.FIRST_DIE: "first of two dice",
    rules.BONUS_DIE: "BONUS face",
    rules.RISK_DIE: "RISK face",
    rules.DUEL_DIE: "die in the Duel",
    rules.RIVAL_DIE: "die in the Duel",
    rules.SIX_DICE: "next of the six dice",
    rules.RETHROW: "die thrown again",
    rules.DEATH_DIE: "die of sudden death",
}
COMMANDS = "undo, help, quit"


class Record:
    """A game so far: the words of what happened, and the position to which they lead."""

    def __init__(self, ruleset: Ruleset, variant: Variant) -> None:
        self.ruleset, self.variant = ruleset, variant
        self.words: list[str] = []
        self.state = self._start()

    def _start(self) -> Any:
        return self.ruleset.new_state(2, self.variant)

    def play(self, word: str) -> None:
        """Add what happened; raises InputError, and changes nothing, if it is not possible now."""
        self.state = follow(self.ruleset, self.state.copy(), [word])
        self.words.append(word)

    def undo(self) -> None:
        """Take the last word back; raises InputError if there is none."""
        if not self.words:
            raise InputError("nothing to undo: the game has just begun")
        self.words.pop()
        self.state = follow(self.ruleset, self._start(), self.words)

    def valid(self) -> list[str]:
        """Return the words that are possible now."""
        return list(options(self.ruleset, self.state))

    def winner(self) -> int | None:
        """Return the player (1 or 2) who has won, if one has."""
        return int(np.argmax(self.state.contender[:2])) + 1 if rules.actor(self.state) == OVER else None

    def lines(self) -> list[str]:
        """Return the words, a line for each turn."""
        state, turns = self._start(), []
        for word in self.words:
            turns.append((int(state.turn), int(state.turns[state.turn])))
            follow(self.ruleset, state, [word])
        pairs = zip(turns, self.words, strict=True)
        return [" ".join(word for _, word in turn) for _, turn in groupby(pairs, key=itemgetter(0))]


def follow_game(variant: str) -> tuple[dict[str, Any], str]:
    """Ask what happens until the game or the input ends; return the record as an object and as text."""
    adviser = Adviser(RULESETS["dice-fever"], variant)
    record = Record(adviser.ruleset, adviser.variant)
    _say(f"{adviser.variant.name}: type what happens at the table, or {COMMANDS}")
    try:
        _ask_on(record, adviser.solution)
    except (click.Abort, KeyboardInterrupt):
        _say("")
    _say(_position(record))
    scores = [int(score) for score in record.state.score[:2]]
    data = {"words": record.words, "scores": scores, "winner": record.winner()}
    return {"ruleset": record.ruleset.name, "variant": record.variant.name, **data}, "\n".join(record.lines())


def _ask_on(record: Record, solution: Solution) -> None:
    """Show, ask and play until ``quit``; the advice is told once for each position."""
    told = None
    while True:
        if told != (told := list(record.words)):
            _say(_position(record))
            _say_options(record, solution)
        for word in _prompt(_question(record)).split():
            if word.lower() == "quit":
                return
            try:
                _take(record, word)
            except InputError as error:
                _say(f"{error}; or {COMMANDS}")
                break


def _take(record: Record, word: str) -> None:
    if word.lower() == "help":
        _say(f"valid now: {', '.join([*record.valid(), COMMANDS])}; several words in a row are fine")
    elif word.lower() == "undo":
        record.undo()
    else:
        record.play(word.upper())


def _say_options(record: Record, solution: Solution) -> None:
    """Say how likely whoever decides is to win, by option."""
    who = rules.actor(record.state)
    if who in (CHANCE, OVER):
        return
    wins = {record.ruleset.describe(record.state, code): win for code, win in solution.options(record.state).items()}
    best = max(wins, key=lambda word: wins[word])
    chances = "  ".join(f"{word} {win:.2%}" for word, win in wins.items())
    _say(f"  player {who + 1} to win: {chances}  best {best}")


def _position(record: Record) -> str:
    state = record.state
    scores = f"scores {state.score[0]} {state.score[1]}"
    if winner := record.winner():
        return f"{scores}: player {winner} wins"
    track = ",".join(str(value) for value in range(1, 7) if state.track & rules.bit(value))
    turn = f"  track {track}  shields {state.shields}  points {rules.stop_points(state)}" if track else ""
    return f"{scores}  turn of player {state.turn + 1}{turn}"


def _question(record: Record) -> str:
    state = record.state
    who = rules.actor(state)
    if who == OVER:
        return "the game is over; undo or quit"
    seat = who if who != CHANCE else state.rival if state.phase == rules.RIVAL_DIE else state.turn
    words = record.valid()
    choice = f" ({' '.join(words)})" if words != list("123456") and state.phase != rules.DECIDE else ""
    return f"player {seat + 1}, {ASKS[state.phase]}{choice}"


def _prompt(question: str) -> str:
    with redirect_stdout(sys.stderr):  # click writes the last space of a question to stdout
        return click.prompt(question, err=True)


def _say(line: str) -> None:
    click.echo(line, err=True)
