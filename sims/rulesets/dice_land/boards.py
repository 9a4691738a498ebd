"""Positions as text, both ways: ``R5 B4 . R2`` becomes a position of the game, and a position a picture of its map."""

from typing import Any

from sims.errors import InputError, check_int
from sims.ruleset import Ruleset
from sims.rulesets.dice_land import rules
from sims.rulesets.dice_land.maps import KINDS, SPIRAL, bit, unpacked

COLOURS = "RB"
TERRAIN_MARKS = " htmf"  # nothing, hill, town, mountain, forest
WIDTH = 6  # of a hex in a picture; each row is shifted by half of it


def position(ruleset: Ruleset, dice: str, seat: int = 0, variant: Any = None, terrain: str = "", no_attack: int = 0) -> Any:
    """Return the position at the start of a turn: the end, or the first node where there is a choice.

    Parameters
    ----------
    dice : str
        A word for each hex in the order of the map: ``R5`` a red 5, ``B2`` a blue 2, ``.`` none.
    seat : int
        Whose turn starts: 0 red, 1 blue.
    variant : optional
        Its map must not be drawn; `eden` and `edge` are played on the spiral of as many hexes as there are words.
    terrain : str
        A letter for each hex: ``p``, ``h``, ``t``, ``m`` or ``f``; the variant's only terrain, or plains, if empty.
    no_attack : int
        Turns without attack before this one.

    Raises
    ------
    InputError
        For a word that is no die, too many of one seat, or a number of words that is no map's.
    """
    words = dice.split()
    state = ruleset.new_state(rules.SEATS, _on_a_fixed_map(ruleset, variant, len(words)))
    if len(words) != state.hexes:
        raise InputError(f"{len(words)} words for a map of {state.hexes} hexes; write one for each, '.' for an empty one")
    rules.reset(state)
    for h, word in enumerate(words):
        _put(state, h, word)
    _lay_terrain(state, terrain)
    state.thrown = 0
    state.turn, state.phase = check_int(seat, "seat", 0, 1), rules.NEW_TURN
    state.no_attack = check_int(no_attack, "no_attack", 0, 2)
    if not state.dice.all():
        state.phase = rules.THE_END
    rules.go_on(state)
    return state


def _on_a_fixed_map(ruleset: Ruleset, variant: Any, n: int) -> Any:
    variant = ruleset.variant(variant)
    if variant.values["map"] not in KINDS:
        return variant
    kind = variant.values["map"] if variant.values["map"] == "line" else KINDS[SPIRAL]
    return ruleset.variant(variant, map=kind, hexes=n)


def _put(state: Any, h: int, word: str) -> None:
    if word == ".":
        return
    if len(word) != 2 or word[0] not in COLOURS or word[1] not in "123456":
        raise InputError(f"{word!r} is no die; write R1 to R6, B1 to B6, or '.' for an empty hex")
    seat, value = COLOURS.index(word[0]), int(word[1])
    if 2 * state.score[seat] == state.hexes:
        raise InputError(f"more than {state.hexes // 2} dice of seat {seat}")
    state.dice[seat] |= bit(h)
    state.score[seat] += 1
    rules.set_value(state, seat, h, value)


def _lay_terrain(state: Any, letters: str) -> None:
    if not letters:
        return
    known = "p" + TERRAIN_MARKS.strip()
    if len(letters) != state.hexes or not set(letters) <= set(known):
        raise InputError(f"terrain needs {state.hexes} letters of {', '.join(known)}, not {letters!r}")
    state.terrain[:] = 0
    for h, letter in enumerate(letters):
        state.terrain[known.index(letter)] |= bit(h)


def words_of(state: Any) -> list[str]:
    """Return a word for each hex, as :func:`position` reads them."""
    return [_word(state, h) for h in range(state.hexes)]


def _word(state: Any, h: int) -> str:
    for seat in range(rules.SEATS):
        if state.dice[seat] & bit(h):
            return f"{COLOURS[seat]}{state.value[h]}"
    return "."


def picture(state: Any) -> str:
    """Return the map in rows: for each hex its number, its die, and the first letter of its terrain; none before play."""
    if state.phase in (rules.PLACE, *range(rules.GROW, rules.STARTER_COIN + 1)):
        return ""
    rows: dict[int, dict[int, str]] = {}
    for h, word in enumerate(words_of(state)):
        q, r = unpacked(int(state.cell[h]))
        mark = next((TERRAIN_MARKS[i] for i in range(len(rules.TERRAINS)) if state.terrain[i] & bit(h)), " ")
        rows.setdefault(r, {})[2 * q + r] = f"{h}{word}{mark}".rstrip()
    left = min(column for row in rows.values() for column in row)
    return "\n".join(_row(rows[r], left) for r in sorted(rows))


def _row(row: dict[int, str], left: int) -> str:
    line = ""
    for column in sorted(row):
        line = line.ljust((column - left) * WIDTH // 2 + 2) + row[column]
    return line
