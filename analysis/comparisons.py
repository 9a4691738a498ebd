"""Is A better than B? Both play the same deals, and a test that may stop at any time says so as soon as it knows.

The unit is the deal with all its rotations; the value is what A wins of it less what B wins, between -1 and 1. Between two
players A and B meet each other; with others at the table each of them sits down with these, at the same places and with the
same dice (common random numbers).

The verdict comes from a confidence sequence (:mod:`analysis.sequential`), looked at after every batch: A or B is better once it
leaves out 0, else they are equivalent once it lies within the margin. The chance that it ever leaves out the true difference is
at most 1 - level, so each kind of wrong verdict is at most as frequent, by whatever rule one stops.

On request the win shares are adjusted for luck (:mod:`sims.luck`), by exact values only: such a share lies between -3/2 and
5/2, so the value of a deal is at most 4 from 0, and all of this holds for it too.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from analysis.estimates import LEVEL, ROW
from analysis.intervals import check_level, mean_interval, wilson_interval
from analysis.sequential import ConfidenceSequence, batch_sizes
from analysis.tables import records, text_table
from sims.errors import InputError, check_int
from sims.luck import is_exact
from sims.policy import Policy, load_policy
from sims.ruleset import Ruleset
from sims.rulesets import RULESETS
from sims.simulate import MAX_INT, AdjustedShares, Table, adjusted_shares, deal_shares, find_ruleset, set_table

MARGIN = 0.005
BUDGET = 10_000_000  # games
REACH, ADJUSTED_REACH = 1, 4  # how far from 0 the value of a deal may be, as it is played and adjusted for luck
A_BETTER, B_BETTER, EQUIVALENT, BUDGET_SPENT, INTERRUPTED = "a_better", "b_better", "equivalent", "budget_spent", "interrupted"
Said = tuple[dict[str, Any], str]


@dataclass(frozen=True)
class Comparison:
    """What a comparison found.

    Attributes
    ----------
    ruleset, version, variant, seed, a, b, against, margin, until, level, budget, luck
        What was compared, and how.
    games, truncated : int
        Games played, and how many of them were stopped, which nobody wins.
    verdict : str
        ``a_better``, ``b_better``, ``equivalent``, ``budget_spent`` or ``interrupted``.
    games_unpaired : float
        Independent games, each with dice and seats of its own and a tie decided by lot, that have the same standard error.
    estimates : DataFrame
        Rows of estimates (n is deals): the difference with its confidence sequence (method ``anytime``), the same with Student's
        interval, which holds for a number of deals fixed beforehand only, and the win rates of A and of B. Adjusted for luck, all
        of them, they are called ``difference_adjusted`` and ``win_rate_adjusted``.
    looks : DataFrame
        The difference at each look: n, games, estimate, low, high.
    """

    ruleset: str
    version: str
    variant: str
    seed: int
    games: int
    truncated: int
    a: str
    b: str
    against: tuple[str, ...]
    verdict: str
    margin: float
    until: float | None
    level: float
    budget: int
    luck: bool
    games_unpaired: float
    estimates: pd.DataFrame
    looks: pd.DataFrame


class Pair(NamedTuple):
    """A and B: at one table, or each at its own with the same others."""

    tables: tuple[Table, ...]
    a: str
    b: str
    luck: bool

    @property
    def games_per_deal(self) -> int:
        """Rotations of all tables."""
        return sum(table.matchup(0).rotations for table in self.tables)

    def play(self, seed: int, first_deal: int, deals: int, n_jobs: int) -> tuple[np.ndarray, int]:
        """Return win shares, a float array (deals, 2) of A and B, and the number of truncated games."""
        play = adjusted_shares if self.luck else deal_shares
        played = [play(table, seed, first_deal, deals, n_jobs) for table in self.tables]
        shares = [each.adjusted if isinstance(each, AdjustedShares) else each.shares for each in played]
        columns = [self.tables[0].matchup(seed).policies.index(self.a), self.tables[-1].matchup(seed).policies.index(self.b)]
        both = np.stack([shares[0][:, columns[0]], shares[-1][:, columns[1]]], axis=1)
        return both, sum(int(each.truncated.sum()) for each in played)

    def start(self, level: float, precision: float) -> ConfidenceSequence:
        """Return the confidence sequence of the difference before the first deal."""
        return ConfidenceSequence.start(level, precision, ADJUSTED_REACH if self.luck else REACH)


def pair(
    ruleset: str | Ruleset,
    a: Any,
    b: Any,
    against: Sequence[Any] = (),
    variant: Any = None,
    interpreted: bool = False,
    luck: bool = False,
) -> Pair:
    """Seat A and B: at one table, or each with the policies of `against`; see :func:`compare`."""
    game = find_ruleset(ruleset)
    if isinstance(against, str) or not isinstance(against, Sequence):
        raise InputError(f"against must be a list of policies, not {against!r}")
    low, high = game.seats
    if not low <= (1 + len(against) if against else 2) <= high:
        raise InputError(
            f"{game.name} is played by {low} to {high} seats: name {max(low - 1, 1)} to {high - 1} policies with --against "
            f"(against=[...]), which A and then B sit down with, not {len(against)}"
        )
    if luck and not is_exact(game):
        exact = ", ".join(name for name, each in RULESETS.items() if is_exact(each))
        raise InputError(f"no exact values are known of {game.name}, to adjust comparisons for luck by; choose from {exact}")
    known = {spec: load_policy(game, spec) for spec in (a, b, *against) if isinstance(spec, str)}
    first, second, *others = [known[each] if isinstance(each, str) else load_policy(game, each) for each in (a, b, *against)]
    if first.spec == second.spec and first.function is not second.function:
        raise InputError(f"2 different policies are called {first.spec}; give them different names")
    seatings = [[first, *others], [second, *others]] if others else [[first, second]]
    tables = tuple(set_table(game, seated, variant, interpreted) for seated in seatings)
    for table in tables:
        table.arguments()  # a policy that does not compile is refused before anything is played
    return Pair(tables, first.spec, second.spec, luck)


def verdict(low: Any, high: Any, margin: float) -> np.ndarray:
    """Return what an interval of the difference says: a word, empty where it says nothing yet (arrays allowed)."""
    says = [np.greater(low, 0), np.less(high, 0), np.greater(low, -margin) & np.less(high, margin)]
    return np.select(says, [A_BETTER, B_BETTER, EQUIVALENT], "")


class Look(NamedTuple):
    """All that is known after a batch: the difference, A's share and B's, and of the difference the interval."""

    values: ConfidenceSequence
    truncated: int
    estimate: float
    low: float
    high: float


def compare(
    ruleset: str | Ruleset,
    a: str | Policy | Callable,
    b: str | Policy | Callable,
    against: Sequence[str | Policy | Callable] = (),
    variant: Any = None,
    margin: float = MARGIN,
    until: float | None = None,
    level: float = LEVEL,
    budget: int = BUDGET,
    seed: int = 0,
    n_jobs: int = -1,
    interpreted: bool = False,
    progress: bool = True,
    luck: bool = False,
) -> Comparison:
    """Play A and B on the same deals until it is known which is better, or that they differ by less than the margin.

    Ctrl-C keeps what is done. Looks come after fixed numbers of deals, so the answer is the same for any number of workers.

    Parameters
    ----------
    ruleset, variant, seed, n_jobs, interpreted, progress
        See :func:`sims.simulate.simulate`.
    a, b : str, Policy or function
        What is compared. Without `against` they meet each other, two at a table.
    against : sequence
        The others at the table: A plays with them, and so does B, on the same deals. The win share of a policy that sits there
        more than once is the mean of its places.
    margin : float
        Differences between win shares smaller than this are of no interest; above 0, below 1.
    until : float, optional
        Play on, after the verdict, until the interval is at most so far from the estimate on either side.
    level : float
        Of the intervals; wrong verdicts are at most as frequent as 1 - level.
    budget : int
        Games at most, rounded up to whole deals. A verdict that is known by then stands, however wide the interval.
    luck : bool
        Compare win shares adjusted for luck, where the ruleset has exact values for it: the same mean from fewer games, after up
        to a minute for the values.

    Raises
    ------
    InputError
        For an unknown ruleset, policy, variant or field, a number of seats that the game does not have, or a bad number; for
        `luck` where no exact values are known.
    IllegalAction
        If a policy returns an action that is not legal.
    """
    check_level(level)
    _check_width(margin, "margin")
    _check_width(margin if until is None else until, "until")
    budget, seed = check_int(budget, "budget", 1, MAX_INT), check_int(seed, "seed", 0, MAX_INT)
    if check_int(n_jobs, "n_jobs", -1024, 1024) == 0:
        raise InputError("n_jobs must not be 0; choose a number of workers, or -1 for all cores")
    both = pair(ruleset, a, b, against, variant, interpreted, luck)
    per_deal, width = both.games_per_deal, np.inf if until is None else 2 * until
    start = both.start(level, min(margin, until or margin))
    looks: list[Look] = []
    with tqdm(total=budget, unit=" games", unit_scale=True, disable=None if progress else True) as bar:
        bar.set_description(f"{both.a} or {both.b}"[:60])
        try:
            for look in _looks(both, start, -(-budget // per_deal), seed, n_jobs):
                looks.append(look)
                bar.set_postfix_str(f"{look.estimate:+.4f} in [{look.low:+.4f}, {look.high:+.4f}]", refresh=False)
                bar.update(look.values.n * per_deal - bar.n)
                if verdict(look.low, look.high, margin) and look.high - look.low <= width:
                    break
            unknown = BUDGET_SPENT
        except KeyboardInterrupt:
            if not looks:
                raise
            unknown = INTERRUPTED
            print(f"interrupted: keeping {looks[-1].values.n * per_deal:,} games", file=sys.stderr)
    table, last = both.tables[0], looks[-1]
    return Comparison(
        ruleset=table.ruleset.name,
        version=table.ruleset.version,
        variant=table.variant.name,
        seed=seed,
        games=last.values.n * per_deal,
        truncated=last.truncated,
        a=both.a,
        b=both.b,
        against=tuple(policy.spec for policy in table.policies[1:]) if against else (),
        verdict=str(verdict(last.low, last.high, margin)) or unknown,
        margin=margin,
        until=until,
        level=level,
        budget=budget,
        luck=luck,
        games_unpaired=_games_unpaired(both, last.values),
        estimates=_estimates(both, last, level),
        looks=pd.DataFrame(
            {
                "n": [look.values.n for look in looks],
                "games": [look.values.n * per_deal for look in looks],
                **{name: [getattr(look, name) for look in looks] for name in ("estimate", "low", "high")},
            }
        ),
    )


def _check_width(value: Any, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < 1:
        raise InputError(f"{what} must be a number between 0 and 1, both excluded, not {value!r}")


def _looks(both: Pair, values: ConfidenceSequence, deals: int, seed: int, n_jobs: int) -> Iterator[Look]:
    """Yield a look after every batch."""
    truncated = 0
    for size in batch_sizes(deals):
        shares, stopped = both.play(seed, values.n, size, n_jobs)
        values, truncated = values.add(np.column_stack([shares[:, 0] - shares[:, 1], shares])), truncated + stopped
        yield Look(values, truncated, *(float(each[0]) for each in values.interval()))


def _estimates(both: Pair, look: Look, level: float) -> pd.DataFrame:
    """Return the difference, at any time and for a number of deals fixed beforehand, and both win rates."""
    values = look.values
    estimate, stderr, low, high = mean_interval(values.total, values.squares, values.n, 1, level)
    low, high, constant = np.maximum(low, [-1, 0, 0]), np.minimum(high, 1), ~(stderr > 0)
    low[constant] = high[constant] = np.nan  # no spread was seen, and so nothing is known of it, but for shares of 0 and of 1
    extreme = np.flatnonzero(constant & np.isin(estimate, (0, 1)) & [False, True, True])
    low[extreme], high[extreme] = wilson_interval(estimate[extreme], np.full(len(extreme), values.n), level)
    methods = np.array(["student"] * 3, object)
    methods[extreme] = "wilson"
    table = pd.DataFrame(
        {
            "quantity": [f"{name}_adjusted" if both.luck else name for name in ("difference", "win_rate", "win_rate")],
            "policy": [f"{both.a} - {both.b}", both.a, both.b],
            "seat": pd.array([None] * 3, "Int64"),
            "n": values.n,
            **{"estimate": estimate, "stderr": stderr, "low": low, "high": high, "level": level, "method": methods},
        }
    )
    anytime = table[:1].assign(low=look.low, high=look.high, method="anytime")
    return pd.concat([anytime, table], ignore_index=True)[ROW]


def _games_unpaired(both: Pair, values: ConfidenceSequence) -> float:
    """Return how many independent games have the same standard error of the difference.

    One game between A and B is worth a win or a loss, of variance p_a + p_b - (p_a - p_b)^2; with others at the table half of
    the games are A's and half are B's, each of variance p (1 - p).
    """
    _, stderr, *_ = mean_interval(values.total[0], values.squares[0], values.n, 1, LEVEL)
    p = values.total[1:] / values.n
    variance = p.sum() - (p[0] - p[1]) ** 2 if len(both.tables) == 1 else 2 * (p * (1 - p)).sum()
    return float(variance / stderr**2) if stderr > 0 else np.inf


def described(found: Comparison) -> Said:
    """Return a comparison as an object and as text."""
    data = {f.name: getattr(found, f.name) for f in fields(found) if f.name not in ("games_unpaired", "estimates", "looks")}
    unpaired, without = found.games_unpaired if np.isfinite(found.games_unpaired) else None, _without(found)
    data = {**data, "against": list(found.against), "games_unpaired": unpaired, "estimates": records(found.estimates)}
    head = "  ".join(f"{key} {data[key]}" for key in ("ruleset", "version", "variant", "seed", "games", "truncated"))
    if unpaired is None:
        cost = f"{without}: no spread was seen, so the cost is unknown"
    else:
        cost = f"{without}: {unpaired:,.0f} games for the same standard error, {unpaired / found.games:.2g} times as many"
    return data, "\n".join([head, sentence(found), text_table(found.estimates), cost])


def _without(found: Comparison) -> str:
    return "without pairing and luck adjustment" if found.luck else "without pairing"


def sentence(found: Comparison) -> str:
    """Return the verdict in words."""
    better = {A_BETTER: ("A", found.a, found.b), B_BETTER: ("B", found.b, found.a)}
    others = f", with {', '.join(found.against)} at the table" if found.against else ""
    if found.verdict in better:
        letter, winner, loser = better[found.verdict]
        low, high = found.looks[["low", "high"]].iloc[-1]
        small = f", by less than the margin of {found.margin:g}" if max(-low, high) < found.margin else ""
        return f"{letter} better: {winner} is better than {loser}{others}{small}"
    if found.verdict == EQUIVALENT:
        return f"equivalent: {found.a} and {found.b} differ by less than the margin of {found.margin:g}{others}"
    return f"{found.verdict.replace('_', ' ')}: not known yet whether {found.a} and {found.b} differ by {found.margin:g}{others}"


def rehearse(
    ruleset: str | Ruleset,
    a: str | Policy | Callable,
    b: str | Policy | Callable,
    comparisons: int,
    deals: int,
    against: Sequence[str | Policy | Callable] = (),
    variant: Any = None,
    margin: float = MARGIN,
    level: float = LEVEL,
    seed: int = 0,
    n_jobs: int = -1,
    luck: bool = False,
) -> pd.DataFrame:
    """Make many comparisons of the same two policies, to see how often the verdict is wrong where the truth is known.

    Every comparison has deals of its own, and as many looks as :func:`compare` would have had. An eighth of all deals are in
    memory at once.

    Parameters
    ----------
    comparisons, deals : int
        How many; deals of each.
    ruleset, a, b, against, variant, margin, level, seed, n_jobs, luck
        See :func:`compare`.

    Returns
    -------
    DataFrame
        Columns test, comparison, n (deals so far), estimate, low, high: a row per look. The tests are ``anytime``; Student's
        interval at every look (``student_each_look``), as if it were valid there; and once, at the end (``student_last_look``).
    """
    both, tables = pair(ruleset, a, b, against, variant, luck=luck), []
    values = both.start(level, margin)
    for size in batch_sizes(deals):
        shares, _ = both.play(seed, values.n * comparisons, size * comparisons, n_jobs)
        values = values.add((shares[:, 0] - shares[:, 1]).reshape(size, comparisons))
        mean, _, low, high = mean_interval(values.total, values.squares, values.n, 1, level)
        tests = {"anytime": values.interval(), "student_each_look": (mean, low, high)}
        if values.n == deals:
            tests["student_last_look"] = (mean, low, high)
        for test, columns in tests.items():
            numbers = dict(zip(("estimate", "low", "high"), columns, strict=True))
            tables.append(pd.DataFrame({"test": test, "comparison": np.arange(comparisons), "n": values.n, **numbers}))
    return pd.concat(tables, ignore_index=True)


def stops(looks: pd.DataFrame, margin: float) -> pd.DataFrame:
    """Return where each test of each comparison stops, with a column ``verdict``: its first look that has one, else its last."""
    words = verdict(looks.low, looks.high, margin)
    rows, keys = looks.assign(verdict=np.where(words == "", BUDGET_SPENT, words)), ["test", "comparison"]
    last = rows.drop_duplicates(keys, keep="last")
    return pd.concat([rows[words != ""], last]).drop_duplicates(keys).reset_index(drop=True)


def called_better(looks: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return the share of comparisons in which a test has called one policy better by then, with Wilson's interval.

    Parameters
    ----------
    looks : DataFrame
        From :func:`rehearse`.

    Returns
    -------
    DataFrame
        Columns test, n (deals so far), comparisons, estimate, low, high, level, method.
    """
    called = ((looks.low > 0) | (looks.high < 0)).groupby([looks.test, looks.comparison]).cummax()
    rates = called.groupby([looks.test, looks.n]).agg(["mean", "size"]).reset_index()
    rates = rates.rename(columns={"mean": "estimate", "size": "comparisons"})
    low, high = wilson_interval(rates.estimate, rates.comparisons, level)
    return rates.assign(low=low, high=high, level=level, method="wilson")[
        ["test", "n", "comparisons", "estimate", "low", "high", "level", "method"]
    ]


def error_rates(looks: pd.DataFrame, difference: float, margin: float, level: float = LEVEL) -> pd.DataFrame:
    """Return how often each test errs, as shares of the comparisons with Wilson's interval.

    Parameters
    ----------
    looks : DataFrame
        From :func:`rehearse`.
    difference : float
        The true one.

    Returns
    -------
    DataFrame
        Columns test, quantity, n (comparisons), estimate, low, high, level, method. The quantities: ``false_better`` (called
        better without being so), ``false_equivalent``, ``undecided``, ``covered`` (the interval contains the difference where the
        test stops) and ``always_covered`` (at all looks).
    """
    keys = ["test", "comparison"]
    ends = stops(looks, margin).set_index(keys)
    inside = looks.set_index(keys).eval("low <= @difference <= high")
    right = A_BETTER if difference > 0 else B_BETTER if difference < 0 else None
    happened = pd.DataFrame(
        {
            "false_better": ends.verdict.isin([A_BETTER, B_BETTER]) & (ends.verdict != right),
            "false_equivalent": (ends.verdict == EQUIVALENT) & (abs(difference) >= margin),
            "undecided": ends.verdict == BUDGET_SPENT,
            "covered": ends.eval("low <= @difference <= high"),
            "always_covered": inside.groupby(level=keys).all(),
        }
    )
    rates = happened.groupby("test").mean().rename_axis(columns="quantity").stack().rename("estimate").reset_index()
    rates["n"] = looks.comparison.nunique()
    low, high = wilson_interval(rates.estimate, rates.n, level)
    columns = ["test", "quantity", "n", "estimate", "low", "high", "level", "method"]
    return rates.assign(low=low, high=high, level=level, method="wilson")[columns]
