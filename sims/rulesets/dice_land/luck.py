"""A rough value of Dice Land, for luck adjustment (``sims/luck.py``): the win share goes with the pips on the map.

The weight is by least squares how the results of 150 deals of ``greedy:3`` against ``cautious:100`` (``standard``, seed 5) went
with the luck in pips. It saves a tenth of the games and costs much more, so it is there to be measured and is not switched on.
"""

import numpy as np

from sims.jit import jit

WEIGHT = 0.051  # of a pip


def book(ruleset, variant, reference):
    """Return the weight; None for a reference."""
    return np.array([WEIGHT]) if reference is None else None


def room(book):
    """Return how many floats of room are needed: a value per seat."""
    return 2


def cost(book):
    """Return how many times longer an adjusted game takes, between fast policies."""
    return 4.0


@jit
def estimate(state, luck, out):
    """Fill in the win share of each seat."""
    ahead = luck.book[0] * (state.pips[0] - state.pips[1])
    out[0], out[1] = 0.5 + ahead, 0.5 - ahead
