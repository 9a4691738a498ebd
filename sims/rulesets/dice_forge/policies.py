"""Policies for Dice Forge."""

from sims.policy import policy
from sims.rulesets.dice_forge.rules import ACT, NO, PASS, YES
from sims.streams import draw
from sims.ruleset import is_among


@policy
def uniform(view, actions, n, params, rng):
    """Choose any legal action with the same probability."""
    return actions[draw(rng, n)]


@policy
def pass_only(view, actions, n, params, rng):
    """Pass whenever that is legal; else the first legal action."""
    return PASS if is_among(PASS, actions, n) else actions[0]
