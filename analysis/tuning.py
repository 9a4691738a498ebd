"""Tuning: the best values of a policy's parameters on a grid, with a confirmation that owes nothing to the choice.

The best of many estimates flatters (the winner's curse), so what is said of the winner comes from a fresh seed.
"""

from collections import Counter
from collections.abc import Callable
from math import ceil, log2, prod
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import differential_evolution
from tqdm import tqdm

from analysis.estimates import LEVEL
from analysis.halving import sequential_halving
from analysis.intervals import regret_interval
from analysis.sweeps import BAND, Given, Grid, Paired, Point, check_run, described, new_grid
from sims.errors import InputError, check_int
from sims.policy import load_policy
from sims.ruleset import Ruleset
from sims.simulate import MAX_INT, find_ruleset

GRID_PARAMETERS = 3  # more of them are searched, not tried out
SHORT_LIST, FINALISTS = 32, 8  # how many points that a search found are halved; how many of the last are played again
POPULATION, GENERATIONS = 8, 15  # of a search: points per parameter; how often they are renewed

Play = Callable[[Paired, int], None]


class Tuned(NamedTuple):
    """What tuning has found.

    Attributes
    ----------
    winner : str
        The spec of the best policy.
    estimates : DataFrame
        Like those of a sweep, from a fresh seed, which no choice has seen: ``win_rate`` of the finalists, the winner first, and
        ``simple_regret``, how far the best finalist is above the winner.
    search : DataFrame
        The win rate of each point when it was dropped, with a column ``round``. Points were chosen by these numbers, so those of
        the last rounds flatter.
    tried, games, truncated : int
        Points that were played; games, and games that were stopped, of all stages.
    """

    winner: str
    estimates: pd.DataFrame
    search: pd.DataFrame
    tried: int
    games: int
    truncated: int


def fresh_seed(seed: int) -> int:
    """Return the seed of the games that confirm a choice: another one, and not likely to be in use."""
    return seed ^ 2**40


def tune(
    ruleset: str | Ruleset,
    policy: Any,
    params: Given,
    against: Any = None,
    budget: int = 1_000_000,
    seed: int = 0,
    variant: Any = None,
    level: float = LEVEL,
    n_jobs: int = -1,
) -> Tuned:
    """Find the best values of a policy's parameters on a grid, and confirm them on a fresh seed.

    Up to three parameters every point of the grid is played and the worse half dropped, again and again, with as many games in
    each round (sequential halving: Karnin, Koren and Somekh, ICML 2013); points are compared over all deals so far, which those
    that are left have all played. With more parameters differential evolution (Storn and Price 1997, through SciPy) first looks
    for good points of the grid, and the best 32 that it met are halved. The last eight play again on a seed of their own.

    Parameters
    ----------
    budget : int
        Games at most, in all; each stage (search, halving, confirmation) has an equal part.
    ruleset, policy, params, against, seed, variant, level, n_jobs
        See :func:`analysis.sweeps.sweep`.

    Raises
    ------
    InputError
        As :func:`analysis.sweeps.sweep`, for a grid of a single point, and for a budget too small for the grid.
    """
    check_run(seed, level, n_jobs)
    check_int(budget, "budget", 1, MAX_INT)
    game = find_ruleset(ruleset)
    if not params:
        raise InputError(f"nothing to tune; choose parameters of {described(load_policy(game, policy))}")
    grid = new_grid(game, policy, params, None, against, variant)
    size, spent = prod(map(len, grid.params.values())), Counter(games=0, truncated=0)
    if size < 2:
        raise InputError("nothing to tune: the grid has one point")

    def play(paired: Paired, deals: int) -> None:
        games, truncated = paired.games, paired.truncated.sum()
        paired.play(deals, n_jobs, bar)
        spent.update(games=paired.games - games, truncated=int(paired.truncated.sum() - truncated))

    with tqdm(unit=" deals", unit_scale=True, desc="tune", disable=None) as bar:
        if len(grid.params) > GRID_PARAMETERS:
            stage = budget // 3
            points, tried = search(grid, stage, seed, play)
        else:
            stage = budget // 2
            points, tried = grid.points(), size
        finalists, table = halve(Paired.new(points, seed), stage, play, level)
        final = Paired.new(finalists, fresh_seed(seed))
        play(final, _deals(final, stage))
    return Tuned(finalists[0].table.policies[0].spec, _confirmed(final, level), table, tried, **spent)


def _deals(paired: Paired, games: int) -> int:
    """Return how many deals these games are at every point; raises InputError if there are not two."""
    deals = games // (paired.rotations * len(paired.points))
    if deals < 2:
        raise InputError(f"the budget is too small for {len(paired.points)} points; choose a larger one, or fewer values")
    return deals


def halve(paired: Paired, games: int, play: Play, level: float = LEVEL) -> tuple[list[Point], pd.DataFrame]:
    """Drop the worse half until one point is left; return the last points, the best first, and the win rates of all."""

    def play_on(left: Paired, deals: int) -> Paired:
        play(left, deals)
        return left

    n = len(paired.points)
    _deals(paired, games // ceil(log2(n)))  # the first round has fewest
    history = sequential_halving(paired, n, games // paired.rotations, play_on, lambda left: left.mean("win_rate"))
    points, tables = list[Point](), list[pd.DataFrame]()
    for number, left in reversed(list(enumerate(history, 1))):
        tables.append(left.estimates("win_rate", level).assign(round=number).iloc[len(points) :])
        points += left.points[len(points) :]
    return points[:FINALISTS], pd.concat(tables, ignore_index=True).drop(columns=BAND)


def search(grid: Grid, games: int, seed: int, play: Play) -> tuple[list[Point], int]:
    """Return the best points that differential evolution meets, and how many it met.

    All play the same deals, so what it maximises is the same at every call, and no point is played twice.
    """
    values = list(grid.params.values())
    first = grid.point([each[0] for each in values])
    first.table.arguments()  # a policy that does not compile is refused here: SciPy would not say why
    deals = games // (len(first.table.policies) * POPULATION * len(values) * (GENERATIONS + 1))
    if not deals:
        raise InputError(f"the budget is too small to search {len(values)} parameters; choose a larger one")
    met: dict[tuple[int, ...], tuple[float, Point]] = {}

    def losses(columns: np.ndarray) -> np.ndarray:
        keys = [tuple(map(int, column.round())) for column in columns.T]
        new = list(dict.fromkeys(key for key in keys if key not in met))
        if new:
            points = [grid.point([each[i] for each, i in zip(values, key, strict=True)]) for key in new]
            paired = Paired.new(points, seed)
            play(paired, deals)
            met.update(zip(new, zip(paired.mean("win_rate"), points, strict=True), strict=True))
        return np.array([-met[key][0] for key in keys])

    differential_evolution(
        losses,
        [(0, len(each) - 1) for each in values],
        integrality=[True] * len(values),
        maxiter=GENERATIONS,
        popsize=POPULATION,
        tol=0,  # win rates are alike: their relative spread says nothing
        rng=np.random.default_rng(seed),
        polish=False,
        vectorized=True,
        updating="deferred",
    )
    best = sorted(met.values(), key=lambda found: -found[0])[:SHORT_LIST]
    return [point for _, point in best], len(met)


def _confirmed(final: Paired, level: float) -> pd.DataFrame:
    """Return the win rates of the finalists, and how far the best of them is above the first."""
    rates = final.estimates("win_rate", level)
    regret, low, high = regret_interval(final.mean("win_rate"), final.covariance("win_rate"), 0, final.deals, level)
    numbers = {"estimate": regret, "stderr": np.nan, "low": low, "high": high, "band_low": low, "band_high": high}
    return pd.concat([rates, rates.iloc[:1].assign(quantity="simple_regret", method="max_t", **numbers)], ignore_index=True)
