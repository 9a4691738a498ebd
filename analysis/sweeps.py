"""Sweeps: parameters of a policy and fields of the rules over a grid, every point of it on the same deals.

As all points meet the same dice (common random numbers), their differences are known better than each of them, and the covariance
across the grid says how well. It comes from sums of products of the deals' values, block by block, so memory does not grow with
games. From it follow a band that holds along the whole curve (:func:`analysis.intervals.simultaneous_level`) and which points may
be the best (:func:`analysis.intervals.margins`).
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from tqdm import tqdm

from analysis.estimates import COLUMNS, LEVEL, means
from analysis.intervals import NOTHING, change_intervals, check_level, margins, simultaneous_level, wilson_interval
from sims.checkpoints import Checkpoint, claim_folder
from sims.errors import InputError, check_int, choose
from sims.policy import Policy, load_policy
from sims.results import SHARE, Matchup, payoffs_of, policy_shares
from sims.ruleset import Field, Ruleset
from sims.simulate import MAX_INT, Table, deal_rows, find_ruleset, set_table
from sims.workers import Parcel

MAX_POINTS = 1000  # of a grid: products are kept for every two of them
BLOCK = 500  # deals of every point at a time
MAX_LEVEL = 0.999  # what draws can tell of a joint distribution
QUANTITIES = ("win_rate", "seat_advantage", "turns_per_game")
BAND = ["band_low", "band_high", "may_be_best"]

Given = Mapping[str, str | Iterable[Any]]


# --- the grid -------------------------------------------------------------------------------------------------------------


class Point(NamedTuple):
    """What is set at one point of a grid, and the table that plays it."""

    settings: dict[str, Any]
    table: Table


@dataclass(frozen=True)
class Grid:
    """The values of every parameter and field that is swept, and what stays the same."""

    ruleset: Ruleset
    policy: Policy
    opponents: tuple[Policy, ...]
    variant: Any
    params: Mapping[str, Sequence[Any]]
    fields: Mapping[str, Sequence[Any]]

    @property
    def values(self) -> dict[str, Sequence[Any]]:
        """The values by name, parameters first."""
        return {**self.params, **self.fields}

    def point(self, values: Sequence[Any]) -> Point:
        """Return the point with these values, one per name."""
        settings = dict(zip(self.values, values, strict=True))
        own = self.policy(**{name: settings[name] for name in self.params})
        changed = {name: settings[name] for name in self.fields}
        table = set_table(self.ruleset, [own, *self.opponents], self.ruleset.variant(self.variant, **changed))
        return Point({name: _shown(value) for name, value in settings.items()}, table)

    def points(self) -> list[Point]:
        """Return all points; the values of the last name change fastest."""
        n = prod(map(len, self.values.values()))
        if n > MAX_POINTS:
            raise InputError(f"the grid has {n:,} points; at most {MAX_POINTS:,}: choose larger steps or fewer values")
        return [self.point(values) for values in product(*self.values.values())]


def new_grid(
    ruleset: str | Ruleset,
    policy: Any,
    params: Given | None = None,
    fields: Given | None = None,
    against: Any = None,
    variant: Any = None,
) -> Grid:
    """Return a grid; see :func:`sweep`. Raises InputError for a name or value that does not exist."""
    game = find_ruleset(ruleset)
    base, rules = load_policy(game, policy), game.variant(variant)
    specs = [against] if isinstance(against, str | Policy) or callable(against) else list(against or [base])
    rivals = [_as_loaded(base, policy, load_policy(game, spec), spec) for spec in specs]
    opponents = tuple(rivals * (game.seats[0] - 1) if len(rivals) == 1 else rivals)
    swept = {name: _parameter_values(base, name, given) for name, given in (params or {}).items()}
    changed = {name: _field_values(game, name, given) for name, given in (fields or {}).items()}
    if not swept and not changed:
        known = ", ".join(f"{name}={field.format(field.default)}" for name, field in game.fields.items())
        raise InputError(f"nothing to sweep; choose a parameter of {described(base)}, or a field of {game.name}: {known}")
    for name in [*swept, *changed]:
        if name in COLUMNS or name in BAND or (name in swept and name in changed):
            raise InputError(f"cannot sweep {name!r}: it would be twice in the table of estimates")
    return Grid(game, base, opponents, rules, swept, changed)


def _as_loaded(base: Policy, spec: Any, opponent: Policy, opponent_spec: Any) -> Policy:
    """A policy of a file that faces itself with other values is one function: the file is run once for both."""
    if not (isinstance(spec, str) and isinstance(opponent_spec, str)) or opponent.name != base.name:
        return opponent
    return base(**dict(zip(opponent.parameters, opponent.values, strict=True)))


def described(policy: Policy) -> str:
    """Return the name and the parameters of a policy, with their values."""
    values = zip(policy.parameters, policy.values, strict=True)
    return f"{policy.name} ({', '.join(f'{name}={value}' for name, value in values) or 'which has none'})"


def _parameter_values(base: Policy, name: str, given: str | Iterable[Any]) -> list[Any]:
    if not base.parameters:
        raise InputError(f"{base.name} has no parameters, so there is no {name!r} to change")
    policies = [base(**{name: value}) for value in _listed(name, given)]
    return _different(name, [dict(zip(each.parameters, each.values, strict=True))[name] for each in policies])


def _field_values(game: Ruleset, name: str, given: str | Iterable[Any]) -> list[Any]:
    field: Field = game.fields[choose(name, game.fields, f"variant field of {game.name}")]
    texts = [value if isinstance(value, str) else field.format(value) for value in _listed(name, given)]
    return _different(name, [field.parse(name, text) for text in texts])


def _different(name: str, values: list[Any]) -> list[Any]:
    for value in values:
        if values.count(value) > 1:
            raise InputError(f"{name} has the value {_shown(value)} {values.count(value)} times; give different ones")
    return values


def _shown(value: Any) -> Any:
    """A value as it stands in a table: a number, or the text of anything else."""
    if isinstance(value, tuple):
        return "/".join(value)
    return str(value).lower() if isinstance(value, bool) else value


def _listed(name: str, given: str | Iterable[Any]) -> list[Any]:
    """Return the values of ``low:high:step``, of ``a,b,c``, or of anything that can be gone through."""
    if not isinstance(given, str):
        values = list(given)
    elif ":" in given:
        values = _stepped(name, given)
    else:
        values = [value.strip() for value in given.split(",")]
    if not values or "" in values:
        raise InputError(f"{name} needs values, LOW:HIGH:STEP or A,B,C, not {given!r}")
    return values


def _stepped(name: str, text: str) -> list[str]:
    """Return low, low + step, ... up to high, in decimals, so that 0.1 + 0.2 is 0.3."""
    try:
        low, high, step = map(Decimal, text.split(":"))
        if not (low.is_finite() and high.is_finite() and step > 0 and high >= low):
            raise ValueError
    except (InvalidOperation, ValueError) as error:
        raise InputError(f"{name} must be LOW:HIGH:STEP with LOW <= HIGH and STEP > 0, or A,B,C, not {text!r}") from error
    n = int((high - low) / step) + 1
    if n > MAX_POINTS:
        raise InputError(f"{name}={text} has {n:,} values; at most {MAX_POINTS:,}")
    return [f"{low + i * step:f}" for i in range(n)]


def read_settings(texts: Iterable[str], option: str) -> dict[str, str]:
    """Return what is swept from texts ``name=values``, by name; raises InputError naming the option."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals:
            raise InputError(f"{option} must be NAME=LOW:HIGH:STEP or NAME=A,B,C, not {text!r}")
        if name in found:
            raise InputError(f"{option} {name} is given twice: {found[name]!r} and {values!r}; choose one of them")
        found[name] = values
    return found


# --- playing --------------------------------------------------------------------------------------------------------------


def play_block(table: Table, seed: int, first_deal: int, deals: int) -> tuple[np.ndarray, int]:
    """Play consecutive deals at one point and return :func:`deal_values`, and how many games were truncated."""
    matchup = table.matchup(seed)
    rows = np.concatenate(list(deal_rows(table, seed, first_deal, deals, n_jobs=1)))
    return deal_values(matchup, rows), int(rows[:, :, 0, matchup.measures.index("truncated")].sum())


def deal_values(matchup: Matchup, rows: np.ndarray) -> np.ndarray:
    """Return what each of ``QUANTITIES`` is the mean of: an array (quantities, deals).

    They are the win shares of the first policy and of the first seat, and the turns of a game; the mean over a deal's rotations.
    """
    payoffs, turns = (rows[..., matchup.measures.index(name)] for name in ("payoff", "turns"))
    own = policy_shares(matchup, payoffs_of(matchup, rows))[:, 0]
    return np.stack([own, payoffs[:, :, 0].mean(1) / SHARE, turns.sum(2).mean(1)])


@dataclass
class Paired:
    """Points that play the same deals, and what is kept of them.

    Attributes
    ----------
    truncated : int array (points,)
        Games that were stopped.
    total, products : float arrays (quantities, points), (quantities, points, points)
        Sums over the deals of their values, and of the products of every two points.
    """

    points: list[Point]
    seed: int
    deals: int
    truncated: np.ndarray
    total: np.ndarray
    products: np.ndarray

    @classmethod
    def new(cls, points: Sequence[Point], seed: int) -> "Paired":
        """No deals yet."""
        n, k = len(QUANTITIES), len(points)
        return cls(list(points), seed, 0, np.zeros(k, int), np.zeros((n, k)), np.zeros((n, k, k)))

    @property
    def matchups(self) -> list[Matchup]:
        """What is played at each point."""
        return [point.table.matchup(self.seed) for point in self.points]

    @property
    def rotations(self) -> int:
        """Games in a deal, at the points that have most."""
        return max(matchup.rotations for matchup in self.matchups)

    @property
    def games(self) -> int:
        """How many games have been played, at all points together."""
        return sum(self.deals * matchup.rotations for matchup in self.matchups)

    def play(self, deals: int, n_jobs: int, bar: tqdm, checkpoint: Checkpoint | None = None) -> None:
        """Play the next deals at every point; after Ctrl-C all points have played those of whole blocks."""
        end, parcels = self.deals + deals, [Parcel(partial(play_block, point.table, self.seed)) for point in self.points]
        with Parallel(n_jobs=n_jobs, prefer="threads") as workers:
            for at in range(self.deals, end, BLOCK):
                n = min(BLOCK, end - at)
                played = workers(delayed(parcel)(at, n) for parcel in parcels)
                values = np.stack([values for values, _ in played], axis=1)
                more = {
                    "deals": n,
                    "truncated": np.array([truncated for _, truncated in played]),
                    "total": values.sum(axis=2),
                    "products": values @ values.transpose(0, 2, 1),
                }
                vars(self).update({name: getattr(self, name) + value for name, value in more.items()})  # in one step
                bar.update(n * len(self.points))
                if checkpoint is not None and (checkpoint.is_due or at + n == end):
                    checkpoint.save({name: getattr(self, name) for name in more})

    def only(self, chosen: Sequence[int] | np.ndarray) -> "Paired":
        """Return some of the points, in this order, with what they have played."""
        points, products = [self.points[i] for i in chosen], self.products[:, chosen][:, :, chosen]
        return Paired(points, self.seed, self.deals, self.truncated[chosen], self.total[:, chosen], products)

    def mean(self, quantity: str) -> np.ndarray:
        """Return the mean over the deals at each point."""
        return self.total[QUANTITIES.index(quantity)] / self.deals

    def covariance(self, quantity: str) -> np.ndarray:
        """Return the covariance matrix of the means: (points, points)."""
        mean, square = self.mean(quantity), self.products[QUANTITIES.index(quantity)] / self.deals
        covariance = (square - np.outer(mean, mean)) / (self.deals - 1)
        varies = np.diag(covariance) * self.deals > NOTHING * np.diag(square)
        return np.where(np.outer(varies, varies), covariance, 0)

    def estimates(self, quantity: str, level: float) -> pd.DataFrame:
        """Return the estimates of a quantity, a row per point, with its settings and a simultaneous band."""
        joint, rows = simultaneous_level(self.covariance(quantity), self.deals, level), self._results(quantity)
        base = 1 / len(self.matchups[0].specs) if quantity == "seat_advantage" else 0
        pointwise, band = (means(rows, quantity, each, base) for each in (level, joint))
        settings = pd.DataFrame([point.settings for point in self.points])
        bands = {"band_low": band.low, "band_high": band.high, "may_be_best": pd.array([pd.NA] * len(rows), "boolean")}
        return pd.concat([settings, pointwise[COLUMNS].assign(**bands)], axis=1)

    def _results(self, quantity: str) -> pd.DataFrame:
        """Return rows as in results (:mod:`sims.results`): what a quantity is the mean of, already a mean per deal."""
        i, matchups = QUANTITIES.index(quantity), self.matchups
        keys = {
            "ruleset": matchups[0].ruleset.name,
            "version": matchups[0].ruleset.version,
            "variant": [matchup.variant for matchup in matchups],
            "matchup": [matchup.name for matchup in matchups],
            "seed": self.seed,
            "games": [self.deals * matchup.rotations for matchup in matchups],
            "truncated": self.truncated,
            "policy": pd.array([matchup.specs[0] if quantity == "win_rate" else None for matchup in matchups], "str"),
            "seat": pd.array([0 if quantity == "seat_advantage" else None] * len(matchups), "Int64"),
        }
        return pd.DataFrame(keys).assign(deals=self.deals, per_deal=1, total=self.total[i], squares=np.diag(self.products[i]))


def check_run(seed: int, level: float, n_jobs: int) -> None:
    """Raise InputError for a bad seed, level or number of workers."""
    if check_level(level) > MAX_LEVEL:
        raise InputError(f"level must be at most {MAX_LEVEL} where it is that of many intervals together, not {level}")
    check_int(seed, "seed", 0, MAX_INT)
    if check_int(n_jobs, "n_jobs", -1024, 1024) == 0:
        raise InputError("n_jobs must not be 0; choose a number of workers, or -1 for all cores")


# --- sweeps ---------------------------------------------------------------------------------------------------------------


def sweep(
    ruleset: str | Ruleset,
    policy: Any,
    params: Given | None = None,
    fields: Given | None = None,
    against: Any = None,
    games: int = 20_000,
    seed: int = 0,
    variant: Any = None,
    level: float = LEVEL,
    n_jobs: int = -1,
    out: str | Path | None = None,
) -> pd.DataFrame:
    """Play a policy at every point of a grid of its parameters and of rule fields, on the same deals.

    Ctrl-C keeps the deals that every point has played.

    Parameters
    ----------
    ruleset : str or Ruleset
    policy : str, Policy or function
        What is swept; parameters that are not stay as given.
    params, fields : mapping, optional
        Values by name, of the policy's parameters and of the ruleset's fields: ``"10:40:1"``, ``"none,asap"`` or a sequence.
    against : policy or sequence, optional
        The other seats; one policy takes all others of the fewest seats. Left out: `policy` as given.
    games : int
        Per point, rounded up to whole deals; two deals or more.
    seed, variant, n_jobs
        See :func:`sims.simulate.simulate`.
    out : path, optional
        A folder for this sweep alone. One that was stopped, even killed, goes on where its last checkpoint is.

    Returns
    -------
    DataFrame
        The columns of estimates, one per name that is swept, ``band_low`` and ``band_high`` (a band that holds at all points of
        its quantity at the same time) and ``may_be_best``. Quantities: ``win_rate`` of the policy; ``win_rate_margin``, its
        win rate less that of the best other point under the same rules, where ``low`` and ``high`` hold at the same time;
        ``seat_advantage`` of the first seat (win rate less 1 / seats); ``turns_per_game``. Among copies of one policy there
        are no win rates. Where only fields are swept, ``..._change`` is how far each is above the value under the rules as
        given, or, if they are not on the grid, at its first point.

    Raises
    ------
    InputError
        For an unknown ruleset, policy, variant, parameter or field, or a bad number or value.
    """
    check_run(seed, level, n_jobs)
    grid = new_grid(ruleset, policy, params, fields, against, variant)
    paired = Paired.new(grid.points(), seed)
    deals = -(-check_int(games, "games", 1, MAX_INT) // paired.rotations)
    if deals < 2:
        raise InputError(f"games must be at least {paired.rotations + 1}, two deals, not {games}")
    checkpoint = Checkpoint(None)
    if out is not None:
        run = {"points": [point.table.identity(seed) for point in paired.points], "deals": deals}
        checkpoint = Checkpoint(claim_folder(out, run) / "checkpoint.npz")
    vars(paired).update(checkpoint.load())
    total, done = deals * len(paired.points), paired.deals * len(paired.points)
    with tqdm(total=total, initial=done, unit=" deals", unit_scale=True, desc="sweep", disable=None) as bar:
        try:
            paired.play(deals - paired.deals, n_jobs, bar, checkpoint)
        except KeyboardInterrupt:
            if paired.deals < 2:
                raise
            print(f"interrupted: keeping {paired.deals:,} deals per point", file=sys.stderr)
    return _curves(paired, grid, level)


def _curves(paired: Paired, grid: Grid, level: float) -> pd.DataFrame:
    quantities = QUANTITIES if paired.rotations > 1 else QUANTITIES[1:]
    curves = [paired.estimates(quantity, level) for quantity in quantities]
    if not grid.params:
        names = [point.table.variant.name for point in paired.points]
        reference = names.index(grid.variant.name) if grid.variant.name in names else 0
        curves += [
            _changes(paired, curve, quantity, reference, level) for quantity, curve in zip(quantities, curves, strict=True)
        ]
    elif quantities == QUANTITIES:
        rates, *others = curves
        ranked = [_ranked(paired.only(rows), rates.iloc[rows], level) for rows in _same_rules(rates, list(grid.fields))]
        rates.may_be_best = pd.concat(ranked).may_be_best if ranked else rates.may_be_best
        curves = [rates, *ranked, *others]
    return pd.concat(curves, ignore_index=True)


def _changes(paired: Paired, curve: pd.DataFrame, quantity: str, reference: int, level: float) -> pd.DataFrame:
    """Return how far each point is above one of them, as rows like those of the curve.

    Where nothing differed in any deal there is no spread to measure: Wilson's interval bounds the share of deals that differ, and
    thereby a change of a win rate (for the band as Bonferroni's inequality asks); nothing bounds that of a number of turns.
    """
    mean, covariance = paired.mean(quantity), paired.covariance(quantity)
    names = ["estimate", "stderr", "low", "high", "band_low", "band_high"]
    rows = curve.assign(quantity=f"{quantity}_change", method="student")
    rows[names] = np.stack(change_intervals(mean, covariance, reference, paired.deals, level), axis=1)
    same = (rows.stderr == 0) & (rows.estimate == 0) & (np.arange(len(rows)) != reference)
    if quantity == "turns_per_game":
        rows.loc[same, names[1:]] = np.nan
    else:
        bounds = [wilson_interval([0], [paired.deals], each)[1][0] for each in (level, 1 - (1 - level) / len(rows))]
        rows.loc[same, names[2:]] = [sign * bound for bound in bounds for sign in (-1, 1)]
        rows.loc[same, "method"] = "wilson"
    return rows


def _same_rules(rates: pd.DataFrame, fields: list[str]) -> Iterator[list[int]]:
    """Yield the numbers of points that differ in parameters only, where there are two or more."""
    groups = rates.groupby(fields, sort=False).indices.values() if fields else [range(len(rates))]
    yield from (list(rows) for rows in groups if len(rows) > 1)


def _ranked(paired: Paired, rates: pd.DataFrame, level: float) -> pd.DataFrame:
    """Return each point's win rate less that of the best other point, as rows like those of the win rates."""
    margin, low, high, may_be_best = margins(paired.mean("win_rate"), paired.covariance("win_rate"), paired.deals, level)
    numbers = {"estimate": margin, "stderr": np.nan, "low": low, "high": high, "band_low": low, "band_high": high}
    return rates.assign(quantity="win_rate_margin", method="mcb", may_be_best=may_be_best, **numbers)
