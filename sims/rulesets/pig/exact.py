"""Pig between two, solved: the chance to win at the start of every turn, if both play best."""

from typing import Any

import numpy as np

from sims.jit import jit


def win_table(ruleset: Any, variant: Any) -> np.ndarray:
    """Return the mover's chance at the start of a turn, flat, by own score and the other's, each below the goal."""
    from sims.exact import solve  # it plays games, for which it imports the rulesets

    solution, goal = solve(ruleset, variant), variant.values["goal"]
    turn, score = solution.field("turn"), solution.field("score")
    starts = np.flatnonzero((solution.field("pot") == 0) & (solution.field("throwing") == 1) & (turn == 0))
    table = np.full((goal, goal), np.nan)
    table[score[starts, 0], score[starts, 1]] = solution.values[starts, 0]
    return table.ravel()


@jit
def win_chance(state, seat, table):
    """Return the chance of a seat to win at the start of a turn."""
    mover = table[state.score[state.turn] * state.variant.goal + state.score[1 - state.turn]]
    return mover if seat == state.turn else 1.0 - mover
