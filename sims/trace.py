"""One game as a readable transcript, and scripted play: the same rules functions, fed with given outcomes and actions.

The loop logs the codes of a game; the transcript replays them and writes a word for each. A script is the same words, so a
transcript's words, or a worked example of a rulebook, can be played again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sims.errors import InputError, check_int
from sims.playouts import ILLEGAL, TRUNCATED
from sims.policy import Policy
from sims.ruleset import CHANCE, OVER, SHARE, Ruleset
from sims.simulate import MAX_INT, IllegalAction, Table, accusation, set_table
from sims.streams import open_deal


@dataclass(frozen=True)
class Game:
    """A game played: its outcomes and actions in order, the last position, and how the loop ended."""

    codes: list[int]
    state: Any
    status: int


def replay(table: Table, seed: int, deal: int, rotation: int) -> Game:
    """Play one game of a run again, alone."""
    play, _ = table.kernels()
    arguments, log = table.arguments(), np.zeros(0, np.int64)
    state, _, _, dice, minds, _ = arguments
    while True:
        with np.errstate(over="ignore"):
            open_deal(dice, minds, np.uint64(seed), deal)
            status, _, steps = play(*arguments, rotation, log, None, None)
        if steps == log.size:
            return Game([int(code) for code in log], state, status)
        log = np.zeros(steps, np.int64)  # the first time only counts the steps


def last_positions(table: Table, seed: int, deals: int) -> Iterator[Any]:
    """Yield how each of the first deals of a run ends, in its first rotation: always the same record, so copy what is kept.

    Raises
    ------
    IllegalAction
        If a policy returns an action that is not legal.
    """
    play, _ = table.kernels()
    arguments = table.arguments()
    state, _, _, dice, minds, _ = arguments
    for deal in range(deals):
        with np.errstate(over="ignore"):
            open_deal(dice, minds, np.uint64(seed), deal)
            status, *_ = play(*arguments, 0, None, None, None)
        if status == ILLEGAL:
            raise IllegalAction(accusation(table, seed, deal, 0, table.ruleset.rules.actor(state)))
        yield state


def trace(
    ruleset: str | Ruleset,
    policies: Sequence[str | Policy | Callable],
    seed: int = 0,
    deal: int = 0,
    rotation: int = 0,
    variant: Any = None,
    interpreted: bool = False,
) -> str:
    """Return the transcript of one game of a run, one line per turn, and the picture that the ruleset draws of a position.

    Raises
    ------
    InputError
        For an unknown ruleset, policy or variant, or a rotation that is not below the number of seats.
    """
    table = set_table(ruleset, policies, variant, interpreted)
    check_int(rotation, "rotation", 0, len(table.policies) - 1)
    check_int(seed, "seed", 0, MAX_INT)
    check_int(deal, "deal", 0, MAX_INT)
    game = replay(table, seed, deal, rotation)
    return "\n".join([*_heading(table, seed, deal, rotation), *_lines(table, game), *_ending(table, game)]) + "\n"


def _heading(table: Table, seed: int, deal: int, rotation: int) -> list[str]:
    seats = len(table.policies)
    lines = [f"{table.ruleset.title} {table.ruleset.version}, variant {table.variant.name}"]
    lines.append(f"seed {seed}, deal {deal}, rotation {rotation}")
    return lines + [f"seat {seat}: {table.policies[(seat + rotation) % seats].spec}" for seat in range(seats)]


def _lines(table: Table, game: Game) -> Iterable[str]:
    """One line per turn: whose it is (the table's before the game), and the words of its outcomes and decisions."""
    ruleset = table.ruleset
    state, codes = ruleset.new_state(len(table.policies), table.variant), iter(game.codes)
    turn: tuple[int, int] | None = None
    words: list[str] = []
    while (code := next(codes, None)) is not None:
        now = int(state.turn), int(state.turns[max(state.turn, 0)])
        if now != turn and words:
            yield from _turn(ruleset, words, state)
            words = []
        if not words:
            words = ["table:" if now[0] < 0 else f"seat {now[0]}:"]
        turn = now
        who = ruleset.rules.actor(state)
        if who != CHANCE and code not in ruleset.legal(state):
            words.append(f"illegal action {code}")
            break
        word = ruleset.describe(state, code)
        words.append(word if who in (CHANCE, state.turn) else f"[seat {who}: {word}]")
        ruleset.advance(state, code)
    yield from _turn(ruleset, words, state)


def _turn(ruleset: Ruleset, words: list[str], state: Any) -> Iterable[str]:
    scores = " ".join(str(score) for score in state.score[: state.seats])
    yield f"{' '.join(words)}  -> {scores}"
    if ruleset.picture is not None:
        yield from ruleset.picture(state).splitlines()


def _ending(table: Table, game: Game) -> list[str]:
    if game.status == ILLEGAL:
        return ["stopped by the illegal action"]
    if game.status == TRUNCATED:
        return [f"truncated after {table.variant.values['ply_limit']} decisions: nobody wins"]
    shares = np.zeros(len(table.policies))
    table.ruleset.rules.payoffs(game.state, shares)
    winners = [f"seat {seat}" for seat in np.flatnonzero(shares)]
    verb = "wins" if len(winners) == 1 else "share the win"
    return [f"{' and '.join(winners)} {verb}" + (f" ({round(shares.max() * SHARE)}/{SHARE} each)" if len(winners) > 1 else "")]


def follow(ruleset: Ruleset, state: Any, script: str | Iterable[str]) -> Any:
    """Play a script from a position: the words that a transcript has, such as ``"P1 5 THROW 2 STOP"``.

    THROW and ROLL may be left out before a die.

    Parameters
    ----------
    state : record
        Changed in place and returned.

    Raises
    ------
    InputError
        For a word that fits neither an outcome nor a legal action.
    """
    for word in script.split() if isinstance(script, str) else script:
        words = options(ruleset, state)
        again = next((words[name] for name in ("THROW", "ROLL") if name in words), None)
        if word not in words and again is not None:
            thrown = ruleset.after(state, again)
            if word in options(ruleset, thrown):
                ruleset.advance(state, again)
                words = options(ruleset, state)
        if word not in words:
            raise InputError(f"{word!r} is not possible here; choose from {', '.join(words) or 'nothing: the game is over'}")
        ruleset.advance(state, words[word])
    return state


def options(ruleset: Ruleset, state: Any) -> dict[str, int]:
    """Return the words that are possible now, with their codes; none when the game is over."""
    who = ruleset.rules.actor(state)
    if who == OVER:
        return {}
    codes = range(ruleset.rules.chance(state)) if who == CHANCE else ruleset.legal(state)
    words: dict[str, int] = {}
    for code in codes:
        words.setdefault(ruleset.describe(state, code), code)
    return words
