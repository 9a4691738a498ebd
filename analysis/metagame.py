"""The game of choosing a policy: who beats whom, in cycles too, and what survives if everybody chooses well.

A **heuristic payoff table** (Wellman, Proc. AAAI 2006; Tuyls et al., Autonomous Agents and Multi-Agent Systems 34, 2020) has a
row per way to share out the seats among policies: how many each holds, and what one seat of each wins. Here at most two policies
share a table, as nothing below needs more; with two seats it is the matrix of win rates. As an array, ``payoffs[i, j, c - 1]`` is
what one seat of policy i wins where i holds c of the k seats and j the other k - c.

* **Margin** of i over j: payoff of i minus payoff of j, the mean over c = 1 .. k - 1. With two seats: win rate minus losses.
* **Maximal lottery** (Kreweras 1965; Fishburn, Review of Economic Studies 51, 1984), also **Nash averaging** (Balduzzi et al.,
  NeurIPS 2018): the mixture of policies over which no policy has a positive margin; where there are several, the one of most
  entropy. A policy's margin over it, at most 0, is its Nash average.
* **Alpha-rank** (Omidshafiei et al., Scientific Reports 9, 9937, 2019), of one population, as all seats choose from the same
  policies. In a population of m that all play i one mutant plays j; each of the m earns what it wins on average against k - 1
  others drawn from the population, and copies another one with a probability logistic in alpha times the difference. The mass
  of a policy is how much of the time everybody plays it, if mutants are rare: it sees policies that live by beating each other
  in turn.
* **Tiers**: strongly connected components of "has a margin over", the best first; the first is the top cycle (Smith set).
"""

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, special, stats
from scipy.sparse.csgraph import connected_components

from analysis.estimates import LEVEL, ROW
from analysis.intervals import check_level

ALPHA, POPULATION = (
    100.0,
    50,
)  # win rates are from 0 to 1: one percentage point at every meeting is selected for, m alpha / 100 > 1
DRAWS = 500
SAME = 1e-9


@dataclass(frozen=True)
class PayoffTable:
    """A heuristic payoff table with its noise: a row per profile, c seats for one policy and the others for another.

    Attributes
    ----------
    policies : tuple of str
    seats : int
    one, two, held : int arrays (profiles,)
        Policies by number, one < two, and the seats of `one`, 1 to seats - 1; or one = two, held = seats, a policy by itself.
        Every profile is there once.
    payoffs : float array (profiles, 2)
        Win rate of one seat of either.
    covariance : float array (profiles, 2, 2)
        Of the payoffs; profiles are independent.
    deals : int array (profiles,)
    """

    policies: tuple[str, ...]
    seats: int
    one: np.ndarray
    two: np.ndarray
    held: np.ndarray
    payoffs: np.ndarray
    covariance: np.ndarray
    deals: np.ndarray

    def array(self, payoffs: np.ndarray) -> np.ndarray:
        """Return payoffs (..., profiles, 2) as the array (..., policies, policies, seats) that this module opens with."""
        n, k = len(self.policies), self.seats
        full = np.zeros((*payoffs.shape[:-2], n, n, k))
        mixed = self.one != self.two
        one, two, held = self.one[mixed], self.two[mixed], self.held[mixed]
        full[..., one, two, held - 1] = payoffs[..., mixed, 0]
        full[..., two, one, k - held - 1] = payoffs[..., mixed, 1]
        full[..., self.one[~mixed], :, k - 1] = np.moveaxis(payoffs[..., ~mixed, 0], -1, 0)[..., None]
        return full

    def draws(self, n: int, seed: int) -> np.ndarray:
        """Return payoffs (n, profiles, 2) as they might have come out: normal around these, with their covariance."""
        normal = np.random.default_rng(seed).standard_normal((n, len(self.one), 2))
        values, vectors = np.linalg.eigh(self.covariance)
        return (self.payoffs + np.einsum("pij,pj,npj->npi", vectors, np.sqrt(values.clip(0)), normal)).clip(0, 1)


def matrix_payoffs(matrix):
    """Return a payoff matrix (..., n, n) of a game of two seats as an array (..., n, n, 2)."""
    matrix = np.asarray(matrix, float)
    own = np.einsum("...ii->...i", matrix)
    return np.stack([matrix, np.broadcast_to(own[..., None], matrix.shape)], axis=-1)


def margins(payoffs):
    """Return the margin of each policy (row) over each (column), an array (..., n, n), from payoffs (..., n, n, seats)."""
    mixed = payoffs[..., :-1].mean(axis=-1)
    return mixed - np.swapaxes(mixed, -1, -2)


# --- cycles -----------------------------------------------------------------------------------------------------------------


def cycles(margin):
    """Return the triples (i, j, k) with i over j, j over k, k over i, an int array (cycles, 3); i is the first in the list."""
    n = len(margin)
    found = [
        (i, j, k)
        for i, j, k in itertools.permutations(range(n), 3)
        if i == min(i, j, k) and min(margin[i, j], margin[j, k], margin[k, i]) > 0
    ]
    return np.array(found, int).reshape(-1, 3)


def tiers(margin):
    """Return the tier of each policy, from 1: it has a margin over all in later ones; policies of one tier are tied by cycles."""
    reaches = np.asarray(margin) >= 0
    n, component = connected_components(reaches, directed=True, connection="strong")
    best_first = sorted(range(n), key=lambda c: -np.count_nonzero(reaches[component == c].any(axis=0)))
    return np.array([best_first.index(c) + 1 for c in component])


# --- the maximal lottery ------------------------------------------------------------------------------------------------------


def maximal_lottery(margin):
    """Return the mixture over which no policy has a margin, the one of most entropy if there are several.

    Parameters
    ----------
    margin : float array (n, n)
        Antisymmetric.

    Returns
    -------
    masses : float array (n,)
    """
    margin = np.asarray(margin, float)
    n = len(margin)
    beaten = (margin > 0).sum(axis=1)
    if beaten.max() == n - 1:  # who beats all others is the answer, at once
        return np.eye(n)[beaten.argmax()]
    # Of all p >= 0 that nothing beats, the one with most entries of 1 or more: it has every policy that is in any of them.
    objective = np.concatenate([np.zeros(n), -np.ones(n)])
    unbeaten = np.hstack([margin, np.zeros((n, n))])
    capped = np.hstack([-np.eye(n), np.eye(n)])
    bounds = [(0, None)] * n + [(0, 1)] * n
    found = optimize.linprog(objective, np.vstack([unbeaten, capped]), np.zeros(2 * n), bounds=bounds, method="highs").x[:n]
    support = np.flatnonzero(found > SAME * found.max())
    masses = np.zeros(n)
    masses[support] = found[support] / found[support].sum()
    if np.linalg.matrix_rank(margin[np.ix_(support, support)], tol=SAME) < len(support) - 1:
        masses[support] = _most_entropy(margin[:, support], masses[support])
    return masses


def _most_entropy(margin, masses):
    """Return the mixture of most entropy over which no row has a margin, found from one that is positive."""
    beaten = {"type": "ineq", "fun": lambda p: -margin @ p, "jac": lambda p: -margin}
    whole = {"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones_like(p)}
    entropy = optimize.minimize(
        lambda p: -special.entr(p).sum(),
        masses,
        jac=lambda p: 1 + np.log(np.maximum(p, SAME)),
        bounds=[(0, 1)] * len(masses),
        constraints=[beaten, whole],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    return entropy.x.clip(0) / entropy.x.clip(0).sum()


# --- alpha-rank -----------------------------------------------------------------------------------------------------------------


def log_fixation(payoffs, alpha=ALPHA, population=POPULATION):
    """Return the logarithm of the chance that a mutant of policy j (column) takes over a population of i (row).

    Parameters
    ----------
    payoffs : float array (..., n, n, seats)
    alpha : float
        Strength of selection.
    population : int
        At least the number of seats.

    Returns
    -------
    array (..., n, n)
    """
    seats = payoffs.shape[-1]
    mutants = np.arange(1, population)[:, None]
    others = np.arange(seats)[None, :]  # of one's own kind among the seats - 1 others
    meets = stats.hypergeom.pmf(others, population - 1, mutants - 1, seats - 1)
    met = stats.hypergeom.pmf(others, population - 1, population - mutants - 1, seats - 1)
    resident, mutant = payoffs @ met.T, np.swapaxes(payoffs, -2, -3) @ meets.T
    steps = np.cumsum(alpha * (resident - mutant), axis=-1)
    return -np.logaddexp(0.0, special.logsumexp(steps, axis=-1))


def stationary(log_rates):
    """Return the stationary distribution of a chain from the logarithms of its rates of change (..., n, n), row to column.

    Elimination without subtraction (Grassmann, Taksar and Heyman, Operations Research 33, 1985), in logarithms: rates may
    be as small as exp(-10000).
    """
    rates = np.array(log_rates, float)
    n = rates.shape[-1]
    for k in range(n - 1, 0, -1):
        rates[..., :k, k] -= special.logsumexp(rates[..., k, :k], axis=-1)[..., None]
        through = rates[..., :k, k, None] + rates[..., None, k, :k]
        rates[..., :k, :k] = np.logaddexp(rates[..., :k, :k], through)
    mass = np.zeros(rates.shape[:-1])
    for k in range(1, n):
        mass[..., k] = special.logsumexp(mass[..., :k] + rates[..., :k, k], axis=-1)
    return special.softmax(mass, axis=-1)


def alpha_rank(payoffs, alpha=ALPHA, population=POPULATION):
    """Return the mass of each policy, an array (..., n), from payoffs (..., n, n, seats); see :func:`log_fixation`.

    Examples
    --------
    >>> alpha_rank(matrix_payoffs([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])).round(6).tolist()
    [0.333333, 0.333333, 0.333333]
    """
    return stationary(log_fixation(payoffs, alpha, population))


# --- tidy -----------------------------------------------------------------------------------------------------------------------


def metagame(table: PayoffTable, level: float = LEVEL, seed: int = 0, draws: int = DRAWS) -> pd.DataFrame:
    """Return the mass of each policy in the maximal lottery and in alpha-rank, and its Nash average, as rows of estimates.

    Intervals are percentiles of a parametric bootstrap (payoffs drawn anew from their errors). As the noise makes a
    policy enter and leave the lottery, they say what another run might show rather than cover a true mass with this probability.
    """
    tail = (1 - check_level(level)) / 2
    drawn = table.array(table.draws(draws, seed))
    here, there = table.array(table.payoffs)[None], margins(drawn)
    lottery, lotteries = maximal_lottery(margins(here)[0]), np.array([maximal_lottery(each) for each in there])
    found = {
        "maximal_lottery": (lottery, lotteries),
        "nash_average": (margins(here)[0] @ lottery, np.einsum("nij,nj->ni", there, lotteries)),
        "alpha_rank": (alpha_rank(here)[0], np.concatenate([alpha_rank(some) for some in np.array_split(drawn, 10)])),
    }
    rows = []
    for quantity, (estimate, sample) in found.items():
        low, high = np.quantile(sample, [tail, 1 - tail], axis=0)
        numbers = {"estimate": estimate, "stderr": sample.std(axis=0, ddof=1), "low": low, "high": high}
        rows.append(pd.DataFrame({"quantity": quantity, "policy": table.policies, **numbers}))
    all_rows = pd.concat(rows, ignore_index=True)
    return all_rows.assign(
        seat=pd.array([pd.NA] * len(all_rows), "Int64"), n=int(table.deals.min()), level=level, method="bootstrap"
    )[ROW]
