"""What ``dicelab stop`` says of a position: an object for ``--json``, and the same as text."""

from typing import Any

from sims.rulesets import RULESETS
from sims.rulesets.dice_fever.adviser import Advice, Adviser, Table
from sims.rulesets.dice_fever.odds import Odds, Turn

Said = tuple[dict[str, Any], str]
AFTER = {"STOP": "then STOP", "THROW": "then throw on", "FEVER": "Dice Fever", "OUT": "OUT"}


def for_points(variant: str, track: tuple[int, ...], bonus: str, **rest: Any) -> Said:
    """Return the advice for the most points of this turn, as an object and as text."""
    turn = Turn(RULESETS["dice-fever"], variant)
    odds = turn.odds(turn.position(track, bonus=bonus.lower(), **rest))
    lines = [
        f"{odds.advice}  (exact, for points; variant {turn.variant.name})",
        f"  STOP   {odds.stop:6.2f} points",
        f"  THROW  {odds.throw:6.2f} points on average, playing on as best for points",
        f"  chance of OUT on the next throw  {odds.p_out:.1%}",
        f"  {_other(odds.advice)} would cost {odds.regret:.2f} points",
    ]
    data = {"advice": odds.advice, "p_out": odds.p_out, "stop": {"points": odds.stop}, "throw": {"points": odds.throw}}
    return {**_head(turn.variant.name), **data, "regret": odds.regret}, "\n".join(lines)


def to_win(variant: str, track: tuple[int, ...], bonus: str, shields: int, tripled: int, double_score: bool, **game: Any) -> Said:
    """Return the advice to win a game between two, as an object and as text."""
    adviser = Adviser(RULESETS["dice-fever"], variant)
    turn: dict[str, Any] = {
        "track": track,
        "shields": shields,
        "bonus": bonus.lower(),
        "tripled": tripled,
        "double_score": double_score,
    }
    advice = adviser.advise(Table(**game), **turn)
    name = adviser.variant.name
    data = {
        "advice": advice.advice,
        "p_out": advice.p_out,
        "stop": {"points": advice.odds.stop, "win": advice.stop, "out": advice.stop_is_out},
        "throw": {"points": advice.odds.throw, "win": advice.throw},
        "regret": advice.odds.regret,
        "regret_win": advice.regret,
        "next": advice.next,
        "for_points": advice.odds.advice,
        "rules": advice.rules,
        "inputs": {**turn, **vars(advice.table)},
    }
    return {**_head(name), **data}, "\n".join(
        [f"{advice.advice}  (exact, to win; variant {name})", *_lines(advice, adviser.variant.values["target"])]
    )


def _lines(advice: Advice, target: int) -> list[str]:
    table, odds = advice.table, advice.odds
    stop = (
        f"; it would be OUT: {table.scores[0]} + {odds.stop:.0f} points reach {target} without a 6" if advice.stop_is_out else ""
    )
    lines = [
        f"  STOP   {advice.stop:7.2%} to win{stop}",
        f"  THROW  {advice.throw:7.2%} to win, both playing on as best",
        f"  chance of OUT on the next throw  {advice.p_out:.1%}",
        f"  {_other(advice.advice)} would cost {100 * advice.regret:.2f} percentage points",
    ]
    if advice.next:
        ways = [f"{', '.join(advice.next[move])}: {text}" for move, text in AFTER.items() if move in advice.next]
        lines.append(f"  after {'; '.join(ways)}")
    return [
        *lines,
        f"  for points  {odds.advice}: {_points(odds)}",
        f"  rules on a card  {', '.join(f'{name} {said}' for name, said in advice.rules.items())}",
        f"  cards left (PARADE,RISK)  mine {_cards(table.cards)}, theirs {_cards(table.their_cards)}; my seat {table.seat}",
    ]


def _points(odds: Odds) -> str:
    return f"STOP {odds.stop:.2f}, THROW {odds.throw:.2f} points on average, the scores apart"


def _cards(cards: tuple[int, ...] | None) -> str:
    return ",".join(map(str, cards or ()))


def _other(advice: str) -> str:
    return "THROW" if advice == "STOP" else "STOP"


def _head(variant: str) -> dict[str, Any]:
    return {"ruleset": "dice-fever", "variant": variant, "method": "exact"}
