"""Rules that fit on a card: one policy whose parameters are its lines, and the words of each line.

What goes without saying is no line: throw where STOP would be OUT for want of a 6, or would lose in the last turn; STOP where
that wins at once; play a PARADE and a RISK card in every turn, as long as there are any. Of the rest each line is one sentence,
and a parameter that is 0 leaves its line out. ``rule_1``, ``rule_3`` and ``rule_7`` are the best rules of one, three and seven
lines that ``search.py`` finds; ``evaluation.regret`` says exactly what each costs against best play.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sims.jit import jit
from sims.policy import Policy, policy
from sims.rulesets.dice_fever.policies import best_other_score, leader, score_to_beat, use_or_keep
from sims.rulesets.dice_fever.rules import (
    CARDS,
    COMMIT,
    COUNT,
    DECIDE,
    PIPS,
    STOP,
    THROW,
    WINDOW,
    lacks_six,
    stop_points,
)

BY = ("worth", "points", "dice")
PARAMETERS: Mapping[str, Any] = {
    "by": BY,  # what STOP goes by: the worth of the dice (one tripled is worth three times), points of the turn, number of dice
    "stop": 8,  # STOP from so many, with no shield left
    "goal": 0,  # 1: STOP at the target with a 6
    "parade": 1,  # PARADE cards of a turn, with a RISK card; 0 for no cards at all ...
    "hold": 0,  # ... once I have so many points
    "rest": 0,  # cards after the first time, once I have so many points
    "threat": 0,  # cards at once when someone else has so many points
    "chase": 0,  # while behind someone with so many points ...
    "chase_stop": 10,  # ... STOP from so many
    "relance": 0,  # under a Relance, STOP from so many
    "lead": 0,  # so many points ahead of everybody ...
    "lead_stop": 7,  # ... STOP from so many
    "dice": 0,  # STOP from so many dice too, with no shield left, whatever they are worth
}
(
    BY_, STOP_, GOAL_, PARADE_, HOLD_, REST_, THREAT_, CHASE_, CHASE_STOP_, RELANCE_, LEAD_, LEAD_STOP_, DICE_,
) = range(len(PARAMETERS))  # fmt: skip


@jit
def measure(view, by):
    """Return what the rule goes by."""
    if by == 0:
        return PIPS[view.track] + 2 * view.tripled_value
    return np.int64(stop_points(view) if by == 1 else COUNT[view.track])


@jit
def obvious(view):
    """Return what goes without saying at STOP or throw: an action, or -1."""
    points = stop_points(view)
    total, to_beat = view.score[view.turn] + points, score_to_beat(view)
    if lacks_six(view, points, view.track) or total < to_beat:
        return THROW
    is_last = view.turn == view.seats - 1
    return STOP if is_last and total >= view.variant.target and total > to_beat else -1


@jit
def stop_from(view, params):
    """Return from how much on to STOP: the first line that applies."""
    mine, other = view.score[view.turn], best_other_score(view)
    if params[RELANCE_] > 0 and view.tokens[view.turn]:
        return params[RELANCE_]
    if params[CHASE_] > 0 and params[CHASE_] <= other and mine < other:
        return params[CHASE_STOP_]
    if params[LEAD_] > 0 and mine >= other + params[LEAD_]:
        return params[LEAD_STOP_]
    return params[STOP_]


@jit
def is_enough(view, params):
    """Are the dice enough to STOP, with no shield left?"""
    return measure(view, params[BY_]) >= stop_from(view, params) or 0 < params[DICE_] <= COUNT[view.track]


@jit
def cards(view, params):
    """Return the cards to commit."""
    seat, n_parade = view.turn, min(view.parade[view.turn], int(params[PARADE_]))
    is_threatened = params[THREAT_] > 0 and best_other_score(view) >= params[THREAT_]
    is_rest = params[REST_] > 0 and view.parade[seat] < view.variant.parade_cards
    is_time = view.score[seat] >= (params[REST_] if is_rest else params[HOLD_])
    if params[PARADE_] == 0 or not (is_threatened or (is_time and n_parade > 0)):
        return CARDS
    return CARDS + 2 * n_parade + (min(view.risk[seat], view.variant.max_risk_per_turn) > 0)


def rule(view, actions, n, params, rng):
    """Play by the lines of a card."""
    if view.phase == COMMIT:
        return cards(view, params)
    if view.phase == WINDOW:
        return use_or_keep(view)
    if view.phase != DECIDE:
        return CARDS if actions[0] >= CARDS else leader(view, actions, n)
    action = obvious(view)
    if action >= 0:
        return action
    if params[GOAL_] > 0 and view.score[view.turn] + stop_points(view) >= view.variant.target:
        return STOP
    return STOP if view.shields == 0 and is_enough(view, params) else THROW


def _named(name: str, **lines: Any) -> Policy:
    """Return the rule with these lines as a policy of its own."""
    return replace(policy(rule, **{**PARAMETERS, **lines}), name=name)


rule_1 = _named("rule_1")
rule_3 = _named("rule_3", lead=4, parade=2, hold=1)
rule_7 = _named("rule_7", goal=1, relance=5, chase=68, lead=8, parade=2, hold=1, rest=32)

RULES = (rule_1, rule_3, rule_7)


def answer(rule: Policy, state: Any) -> int:
    """Return what a rule does at STOP or throw."""
    return int(rule.function(state, np.array([STOP, THROW], np.int32), 2, rule.params, np.zeros(4, np.uint64)))


# --- in words -------------------------------------------------------------------------------------------------------------

UNSAID = (
    "Never STOP where that is OUT for want of a 6, or loses in the last turn; STOP where it wins at once. "
    "Unless a line says otherwise, play a PARADE and a RISK card in every turn."
)

AT_LEAST = {
    "worth": "your dice are worth {} or more",
    "points": "the turn is worth {} points or more",
    "dice": "you have {} dice",
}


def lines(rule: Policy) -> tuple[str, ...]:
    """Return the lines of a rule in words."""
    on = dict(zip(rule.parameters, rule.values, strict=True))

    def enough(key: str) -> str:
        return AT_LEAST[on["by"]].format(on[key])

    play = f"lay {on['parade']} PARADE and a RISK in a turn."
    points = "points" if on["hold"] == 1 else f"{on['hold']} points"
    cards = {
        "hold": f"Keep your cards until you have {points}; then p{play}",
        "parade": "" if on["hold"] or on["parade"] == 1 else f"P{play}",
        "rest": f"Keep what is left after the first time until you have {on['rest']} points.",
        "threat": f"Someone else has {on['threat']} points: play your cards at once.",
    }
    words = {
        "stop": f"A shield left? Throw. None left? STOP once {enough('stop')}.",
        "dice": f"No shield left and {on['dice']} dice: STOP, whatever they are worth.",
        "goal": "STOP as soon as that takes you to the target with a 6.",
        "relance": f"Under a Relance: STOP once {enough('relance')}.",
        "chase": f"Behind someone with {on['chase']} points or more: STOP only once {enough('chase_stop')}.",
        "lead": f"{on['lead']} points ahead of everybody: STOP once {enough('lead_stop')}.",
    }
    if on["parade"] == 0:
        return (*(text for name, text in words.items() if on[name]), "Play no cards.")
    return tuple(text for name, text in (words | cards).items() if on[name] and text)
