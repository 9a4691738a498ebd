"""Win rates adjusted for luck (``sims.luck``): the same games, the same mean, and a standard error of fewer deals.

The deal is the unit, as everywhere. How many times fewer deals give the same standard error is the ratio of the variances of
plain and adjusted win shares of a deal; common random numbers and rotations have shrunk the plain one already.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.estimates import LEVEL, ROW
from analysis.intervals import mean_interval, ratio_interval
from sims.errors import check_int
from sims.policy import Policy
from sims.simulate import MAX_INT, adjusted_shares, set_table


def luck_adjusted(
    ruleset: str,
    policies: Sequence[str | Policy | Callable],
    games: int = 100_000,
    seed: int = 0,
    variant: Any = None,
    n_jobs: int = -1,
    level: float = LEVEL,
    interpreted: bool = False,
) -> pd.DataFrame:
    """Return win rates plain and adjusted for luck, and how many times fewer games the adjustment saves, as rows of estimates.

    Parameters
    ----------
    ruleset, policies, games, seed, variant, n_jobs, interpreted
        As for :func:`sims.simulate.simulate`: the games are the same.
    level : float
        Of the intervals.

    Returns
    -------
    DataFrame
        Per policy ``win_rate``, ``win_rate_adjusted`` and ``luck_factor``, the ratio of their variances.

    Raises
    ------
    InputError
        For bad arguments, and a ruleset that offers no values to adjust by, or not for so many seats.
    IllegalAction
        If a policy returns an action that is not legal.
    """
    games, seed = check_int(games, "games", 1, MAX_INT), check_int(seed, "seed", 0, MAX_INT)
    table = set_table(ruleset, policies, variant, interpreted)
    matchup = table.matchup(seed)
    played = adjusted_shares(table, seed, 0, -(-games // matchup.rotations), n_jobs)
    rows = []
    for policy, plain, adjusted in zip(matchup.policies, played.shares.T, played.adjusted.T, strict=True):
        rows.append(("win_rate", policy, *_mean(plain, level), "student"))
        rows.append(("win_rate_adjusted", policy, *_mean(adjusted, level), "student"))
        rows.append(("luck_factor", policy, *_variance_ratio(plain, adjusted, level), "ratio"))
    columns = ["quantity", "policy", "estimate", "stderr", "low", "high", "method"]
    frame = pd.DataFrame(rows, columns=columns).assign(n=len(played.shares), level=level)
    return frame.assign(seat=pd.array([pd.NA] * len(frame), "Int64"))[ROW]


def _mean(shares: np.ndarray, level: float) -> tuple[float, ...]:
    return tuple(map(float, mean_interval(shares.sum(), (shares**2).sum(), shares.size, 1, level)))


def _variance_ratio(plain: np.ndarray, adjusted: np.ndarray, level: float) -> tuple[float, ...]:
    """Return the ratio of two variances of the same deals: that of sums of squared deviations, deal by deal."""
    x, t = ((each - each.mean()) ** 2 for each in (plain, adjusted))
    if not t.any():  # values so exact that nothing is left, or a policy alone, which always wins half
        return np.nan, np.nan, np.nan, np.nan
    sums = x.sum(), (x**2).sum(), t.sum(), (t**2).sum(), (x * t).sum()
    return tuple(map(float, ratio_interval(*sums, x.size, level)))
