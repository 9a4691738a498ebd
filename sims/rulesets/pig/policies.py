"""Policies for Pig: rules of thumb, Neller and Presser's rule, random play and a table."""

from sims.jit import jit
from sims.policy import FILE, policy
from sims.rulesets.pig.rules import HOLD, ROLL
from sims.streams import draw


@jit
def best_other_score(view):
    """Return the highest score of the other seats."""
    best = -1
    for seat in range(view.seats):
        if seat != view.turn:
            best = max(best, view.score[seat])
    return best


@policy
def uniform(view, actions, n, params, rng):
    """Choose any legal action with the same probability."""
    return actions[draw(rng, n)]


@policy(at=20)
def hold_at(view, actions, n, params, rng):
    """Hold once the turn is worth `at` points, or enough to win."""
    wins = view.score[view.turn] + view.pot >= view.variant.goal
    return HOLD if wins or view.pot >= params[0] else ROLL


@policy(base=21, divisor=8, end=71)
def keep_pace(view, actions, n, params, rng):
    """Keep pace and end race: roll to win if either player has `end` points, else hold at `base` + difference / `divisor`.

    T. Neller and C. Presser, "Practical play of the dice game Pig", The UMAP Journal 31(1), 2010: hold at
    21 + round((j - i) / 8), where i and j are the scores of the player and the opponent. With more seats the opponent is
    the leader of the others.
    """
    score, other = view.score[view.turn], best_other_score(view)
    if score + view.pot >= view.variant.goal:
        return HOLD
    if score >= params[2] or other >= params[2]:
        return ROLL
    difference = (other - score) / params[1]
    rounded = int(difference + 0.5) if difference >= 0 else -int(0.5 - difference)
    return HOLD if view.pot >= params[0] + rounded else ROLL


@policy(table_size=lambda variant: variant["goal"] ** 3, table=FILE)
def table(view, actions, n, params, rng):
    """Roll where a table says so: entry [own score, best other score, pot] is not 0; each index is below the goal."""
    goal = view.variant.goal
    score, other = view.score[view.turn], best_other_score(view)
    if score + view.pot >= goal:
        return HOLD
    return ROLL if params[(score * goal + other) * goal + view.pot] != 0 else HOLD
