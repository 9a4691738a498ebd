"""Ratings: one number per policy that tells how often it wins. They hide who beats whom (that is ``metagame``).

Bradley and Terry (Biometrika 39, 1952), with a term for who sits first as in Davidson and Beaver (Biometrics 33, 1977):

    P(i wins against j) = 1 / (1 + exp(-(s_i - s_j + h))),   h if i sits first, -h if second,

by maximum likelihood on win shares. Where i has c of k seats and j the others, all seats in turn, the chance that one of i's wins
is Luce's c e^s_i / (c e^s_i + (k - c) e^s_j): the same curve with log(c / (k - c)) in the place of h. A rating is
400 s / log 10, Elo's scale: 400 points are odds of ten to one. The mean of the rated policies is 0.
"""

import numpy as np
import pandas as pd
from scipy import special, stats

from analysis.estimates import LEVEL, ROW
from analysis.intervals import check_level, logistic_fit

POINTS = 400 / np.log(10)


def bradley_terry(one, two, seat, share, n, offset=0.0, covariance=None):
    """Fit strengths and the worth of sitting first, in log odds.

    Parameters
    ----------
    one, two : int arrays (records,)
        Policies, numbered from 0; the same number twice for a policy against itself. Each must be linked to every other one by
        a chain of wins and by one of losses (Ford, American Mathematical Monthly 64, 1957); a share strictly between 0
        and 1 is both.
    seat : float array (records,)
        1 where policy `one` sits first, -1 where second, 0 where it had all seats in turn.
    share, n : float arrays (records,)
        What policy `one` won, 0 to 1, and in how many games.
    offset : float array (records,), optional
        log(c / (k - c)), see above.
    covariance : float array (records, records), optional
        Of the shares; without it, each share is the result of `n` independent games that all ended so.

    Returns
    -------
    strengths : float array (policies,)
        Their sum is 0.
    first : float
        What the first seat is worth; 0 where no policy sat more often in it.
    covariance : float array (policies + 1, policies + 1)
        Of the strengths and, last, of `first`.
    """
    one, two, seat = np.asarray(one), np.asarray(two), np.asarray(seat, float)
    policies, records = max(one.max(), two.max()) + 1, np.arange(len(one))
    difference = np.zeros((len(one), policies + 1))
    np.add.at(difference, (records, one), 1.0)
    np.add.at(difference, (records, two), -1.0)
    difference[:, policies] = seat
    # The last strength is minus the sum of the others.
    free = np.zeros((policies + 1, policies))
    free[: policies - 1, : policies - 1], free[policies - 1, : policies - 1], free[policies, policies - 1] = (
        np.eye(policies - 1),
        -1,
        1,
    )
    free = free if seat.any() else free[:, :-1]
    b, spread = logistic_fit(difference @ free, share, n, offset, covariance)
    fitted = free @ b
    return fitted[:-1], fitted[-1], free @ spread @ free.T


def ratings(records: pd.DataFrame, covariance: np.ndarray, level: float = LEVEL) -> pd.DataFrame:
    """Return a rating per policy, the strongest first, what sitting first is worth, and how far the model is from the win rates.

    Parameters
    ----------
    records : DataFrame
        Columns policy, opponent, seat (1 where the policy sits first, -1 second, 0 all seats in turn), share (won by the
        policy), offset (see :func:`bradley_terry`), n (deals).
    covariance : float array (records, records)
        Of the shares.
    level : float
        Of each interval by itself.

    Returns
    -------
    DataFrame
        Rows of estimates: ``rating`` per policy and ``first_seat``, in Elo points, with normal intervals from the sandwich
        covariance; ``misfit``, the largest difference between a share and the fitted curve, which has no interval: where it
        is more than noise, one number per policy does not tell who beats whom.
    """
    quantile = stats.norm.ppf((1 + check_level(level)) / 2)
    names = sorted({*records.policy, *records.opponent})
    one, two = (records[side].map(names.index).to_numpy() for side in ("policy", "opponent"))
    seat, offset = records.seat.to_numpy(float), records.offset.to_numpy(float)
    strengths, first, spread = bradley_terry(one, two, seat, records.share, records.n, offset, covariance)
    has_seat = bool(seat.any())
    quantities = ["rating"] * len(names) + ["first_seat"] * has_seat
    estimate = POINTS * np.append(strengths, first)[: len(quantities)]
    stderr = POINTS * np.sqrt(np.diag(spread).clip(0))[: len(quantities)]
    table = pd.DataFrame(
        {"quantity": quantities, "policy": [*names, None][: len(quantities)], "estimate": estimate, "stderr": stderr}
    )
    table = table.assign(low=estimate - quantile * stderr, high=estimate + quantile * stderr, level=level)
    fitted = special.expit(strengths[one] - strengths[two] + seat * first + offset)
    misfit = pd.DataFrame({"quantity": ["misfit"], "policy": [None], "estimate": [np.abs(records.share - fitted).max()]})
    table = pd.concat([table.sort_values(["quantity", "estimate"], ascending=False), misfit], ignore_index=True)
    return table.assign(seat=pd.array([pd.NA] * len(table), "Int64"), n=int(records.n.min()), method="bradley-terry")[ROW]
