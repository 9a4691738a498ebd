"""Sequential halving: the best of several arms with few deals, of which none is spent on what is bad already.

Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", Proc. ICML 2013. Here all arms meet the same deals,
so that luck is common to them, and what earlier rounds said is kept.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def sequential_halving(
    arms: Any, n: int, budget: int, play: Callable[[Any, int], Any], value: Callable[[Any], np.ndarray]
) -> list[Any]:
    """Look for the arm of the highest value.

    Parameters
    ----------
    arms : any
        `n` of them, at least 2, which have played the same deals; ``arms.only(chosen)`` returns some of them, in this order.
    budget : int
        Deals, each arm's counted by itself; at least n * ceil(log2(n)).
    play : callable
        ``play(arms, deals)`` returns the same arms after so many deals more.
    value : callable
        ``value(arms)`` returns how good each has been in all its deals, a float array.

    Returns
    -------
    list
        The arms that played each round, the best first. The first of the last round is the answer.
    """
    rounds, history = math.ceil(math.log2(n)), []
    for _ in range(rounds):
        arms = play(arms, budget // (n * rounds))
        arms = arms.only(np.argsort(-value(arms), kind="stable"))
        history.append(arms)
        n = math.ceil(n / 2)
        arms = arms.only(np.arange(n))
    return history
