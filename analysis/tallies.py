"""Raw rows -> counts: how many rows have which values, and the mean payoff by any of them.

Results hold sums per policy and seat; what they cannot say, such as how often the seat with more pips wins, is counted here. The
rows pass through a temporary folder and are counted a file at a time, so that memory does not grow with games.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis.estimates import LEVEL
from analysis.intervals import mean_interval, wilson_interval
from sims.errors import InputError
from sims.simulate import simulate

LEAD = "lead_"


def tally(
    ruleset: str, policies: Sequence[str], by: Sequence[str], games: int, seed: int, variant: str | None = None, n_jobs: int = -1
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Play a matchup and return its results, and its rows counted.

    Parameters
    ----------
    by : sequence of str
        What to count by; see :func:`count_rows`.
    ruleset, policies, games, seed, variant, n_jobs
        See :func:`sims.simulate.simulate`.
    """
    with tempfile.TemporaryDirectory() as folder:
        results = simulate(ruleset, policies, games, seed, variant, n_jobs, rows=folder, progress=False)
        return results, count_rows(folder, by)


def count_rows(folder: str | Path, by: Sequence[str]) -> pd.DataFrame:
    """Count raw rows by the values of some of their columns.

    Parameters
    ----------
    folder : path
        Where ``simulate(..., rows=folder)`` wrote them.
    by : sequence of str
        Columns of the rows; ``lead_x`` is a seat's own ``x`` less that of the other seat, in games of two.

    Returns
    -------
    DataFrame
        The columns ``by``, and ``n``, the number of rows with these values.
    """
    by, counts = list(by), pd.Series(dtype=float)
    stored = ["seat", *(name.removeprefix(LEAD) for name in by if name != "seat")]
    for path in sorted(Path(folder).glob("*.parquet")):
        rows = pd.read_parquet(path, columns=list(dict.fromkeys(stored)))
        leads = {name: _lead(rows, name.removeprefix(LEAD)) for name in by if name.startswith(LEAD)}
        more = rows.assign(**leads).groupby(by).size()
        counts = more if counts.empty else counts.add(more, fill_value=0)
    return counts.astype(int).rename("n").reset_index()


def _lead(rows: pd.DataFrame, measure: str) -> pd.Series:
    """Rows of a game stand one below the other, in the order of the seats."""
    if rows.seat.max() != 1:
        raise InputError(f"{LEAD}{measure} is for games of two seats, not {rows.seat.max() + 1}")
    values = rows[measure].to_numpy().reshape(-1, 2)
    return pd.Series((values - values[:, ::-1]).ravel(), rows.index)


def shares(counts: pd.DataFrame, by: Sequence[str] = (), level: float = LEVEL) -> pd.DataFrame:
    """Return the mean payoff of the rows that have the same values, with Student's interval (Wilson's if all are won, or lost).

    Parameters
    ----------
    counts : DataFrame
        From :func:`count_rows`, with the column ``payoff``; at most one row of each deal, so that they are independent.
    by : sequence of str
        Columns; none for a single mean.

    Returns
    -------
    DataFrame
        The columns ``by``, n (rows), estimate, stderr, low, high, level, method.
    """
    sums = counts.assign(total=counts.n * counts.payoff, squares=counts.n * counts.payoff**2, all="all")
    sums = sums.groupby(list(by) or ["all"], sort=True)[["n", "total", "squares"]].sum().reset_index()
    estimate, stderr, low, high = mean_interval(sums.total, sums.squares, sums.n, 1, level)
    constant = estimate.isin([0, 1])
    low[constant], high[constant] = wilson_interval(estimate[constant], sums.n[constant], level)
    method = constant.map({True: "wilson", False: "student"})
    numbers = {"estimate": estimate, "stderr": stderr, "low": low.clip(0), "high": high.clip(upper=1), "level": level}
    return sums[[*by, "n"]].assign(**numbers, method=method)
