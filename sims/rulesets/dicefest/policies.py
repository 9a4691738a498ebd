"""Policies for Dicefest: random play, for now."""

from sims.policy import policy
from sims.streams import draw


@policy
def uniform(view, actions, n, params, rng):
    """Choose any legal action with the same probability."""
    return actions[draw(rng, n)]
