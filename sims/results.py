"""The results schema: raw rows, one per seat of a game; and sums, what a batch of rows is reduced to as it finishes.

Sums keep memory flat and lose nothing that an estimate needs. For a *unit* (a policy in a seat, a policy over all its seats, a
seat over all policies, or the whole game) let x_d be the sum of a measure over the unit's rows in deal d, and t_d the same of
``turns``. The table holds, per unit and measure, the number of deals, the rows per deal, and

    total = sum x_d,   squares = sum x_d^2,   by_turns = sum x_d t_d.

All are sums of whole numbers, so they are exact and the same in any order, for any batch size and any number of workers.
The measure ``length`` is a histogram instead: ``total`` games had ``value`` turns (the last value stands for "or more").
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sims.jit import jit
from sims.playouts import LOOP_MEASURES
from sims.ruleset import SHARE, Ruleset
from sims.trajectories import FRACTIONS, MEASURES

MAX_LENGTH = 512
BLOCK = 128  # deals that are summed at a time, so that their sums stay in the nearest cache
KEYS = ["ruleset", "version", "variant", "matchup", "seed", "games", "truncated"]
COLUMNS = [*KEYS, "policy", "seat", "measure", "value", "deals", "per_deal", "total", "squares", "by_turns"]


@dataclass(frozen=True)
class Matchup:
    """One assignment of policies to seats, ready to be counted.

    Attributes
    ----------
    specs : tuple of str
        The policy of each seat in rotation 0.
    watched : bool
        Are the measures of :mod:`sims.trajectories` counted too?
    """

    ruleset: Ruleset
    variant: str
    specs: tuple[str, ...]
    seed: int
    watched: bool = False

    @property
    def name(self) -> str:
        """The specs in seat order."""
        return " v ".join(self.specs)

    @property
    def rotations(self) -> int:
        """Seatings that differ: the period of the list of specs (1 where a policy plays itself)."""
        k = len(self.specs)
        return next(r for r in range(1, k + 1) if k % r == 0 and self.specs == self.specs[r:] + self.specs[:r])

    @property
    def policies(self) -> tuple[str, ...]:
        """The different specs."""
        return tuple(dict.fromkeys(self.specs))

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the last axis of the rows."""
        return (*LOOP_MEASURES, *self.ruleset.measures, *(MEASURES if self.watched else ()))

    @property
    def entry_policy(self) -> np.ndarray:
        """Which of the different specs each entry of `specs` is."""
        return np.array([self.policies.index(spec) for spec in self.specs])

    @property
    def cells(self) -> np.ndarray:
        """Which of the units of :class:`Sums` a row belongs to by its policy and seat: int (rotations, seats)."""
        rotation, seat = np.indices((self.rotations, len(self.specs)))
        return self.entry_policy[(seat + rotation) % len(self.specs)] * len(self.specs) + seat

    def units(self) -> list[tuple[str | None, int | None]]:
        """(policy, seat) of each unit, in the order of :class:`Sums`; None stands for all."""
        seats = range(len(self.specs))
        cells = [(policy, seat) for policy in self.policies for seat in seats]
        return [*cells, *((policy, None) for policy in self.policies), *((None, seat) for seat in seats), (None, None)]


@dataclass
class Sums:
    """The running sums of one matchup: int64 arrays (units, measures), and the histogram of game lengths."""

    deals: int
    total: np.ndarray
    squares: np.ndarray
    by_turns: np.ndarray
    lengths: np.ndarray

    @classmethod
    def zero(cls, matchup: Matchup) -> "Sums":
        """No games yet."""
        shape = (len(matchup.units()), len(matchup.measures))
        total, squares, by_turns = (np.zeros(shape, np.int64) for _ in range(3))
        return cls(0, total, squares, by_turns, np.zeros(MAX_LENGTH, np.int64))

    def __iadd__(self, other: "Sums") -> "Sums":
        sums = {name: value + getattr(other, name) for name, value in vars(self).items()}
        vars(self).update(sums)  # in one step: Ctrl-C comes before it or after it, never between two of the sums
        return self


@jit
def _add_to(unit, numbers):
    for m in range(unit.size):
        unit[m] += numbers[m]


@jit
def _add_up(rows, cells, n_policies, units):
    """Sum the rows of one deal, (rotations, seats, measures), for each unit: int64 (units, measures)."""
    rotations, seats = cells.shape
    n_cells = n_policies * seats
    units[:] = 0
    for r in range(rotations):
        for s in range(seats):
            _add_to(units[cells[r, s]], rows[r, s])
    for p in range(n_policies):
        for s in range(seats):
            cell = units[p * seats + s]
            _add_to(units[n_cells + p], cell)
            _add_to(units[n_cells + n_policies + s], cell)
    for p in range(n_policies):
        _add_to(units[n_cells + n_policies + seats], units[n_cells + p])


@jit
def _reduce(rows, cells, n_policies, turns, units, total, squares, by_turns, lengths):
    """Add rows to the sums, a block of deals at a time, as far as there is room in `units` (deals, units, measures)."""
    n_deals, rotations, seats, n_measures = rows.shape
    for first in range(0, n_deals, units.shape[0]):
        n = min(units.shape[0], n_deals - first)
        for d in range(n):
            _add_up(rows[first + d], cells, n_policies, units[d])
            for r in range(rotations):
                length = 0
                for s in range(seats):
                    length += rows[first + d, r, s, turns]
                lengths[min(length, lengths.size - 1)] += 1
        for u in range(units.shape[1]):
            for m in range(n_measures):
                sum_x = sum_xx = sum_xt = np.int64(0)
                for d in range(n):
                    x = units[d, u, m]
                    sum_x += x
                    sum_xx += x * x
                    sum_xt += x * units[d, u, turns]
                total[u, m] += sum_x
                squares[u, m] += sum_xx
                by_turns[u, m] += sum_xt


def reduce_rows(matchup: Matchup, rows: np.ndarray) -> Sums:
    """Reduce rows, an int32 array (deals, rotations, seats, measures), to sums."""
    sums = Sums.zero(matchup)
    sums.deals = len(rows)
    turns, units = matchup.measures.index("turns"), np.zeros((BLOCK, *sums.total.shape), np.int64)
    arrays = sums.total, sums.squares, sums.by_turns, sums.lengths
    _reduce(rows, matchup.cells, len(matchup.policies), turns, units, *arrays)
    return sums


def payoffs_of(matchup: Matchup, rows: np.ndarray) -> np.ndarray:
    """Return the win shares of rows, float (deals, rotations, seats)."""
    return rows[..., matchup.measures.index("payoff")] / SHARE


def policy_shares(matchup: Matchup, shares: np.ndarray) -> np.ndarray:
    """Return win shares by policy, float (deals, different policies): the mean over its games and seats in each deal.

    Parameters
    ----------
    shares : float array (deals, rotations, seats)
    """
    _, rotations, seats = shares.shape
    rotation, seat = np.indices((rotations, seats))
    played_by = matchup.entry_policy[(seat + rotation) % seats]
    return np.stack([shares[:, played_by == p].mean(axis=1) for p in range(len(matchup.policies))], axis=1)


def results_table(matchup: Matchup, sums: Sums) -> pd.DataFrame:
    """Return the results of a matchup as a tidy table with the columns ``COLUMNS``."""
    measures, lengths = matchup.measures, np.flatnonzero(sums.lengths)
    units = [(policy, seat, _rows_per_deal(matchup, policy, seat)) for policy, seat in matchup.units()]
    is_played = [rows > 0 for *_, rows in units]
    policies, seats, per_deal = zip(*(unit for unit in units for _ in measures if unit[2] > 0), strict=True)
    scale = np.array([SHARE if name in ("payoff", *FRACTIONS) else 1 for name in measures])
    columns = {
        "ruleset": matchup.ruleset.name,
        "version": matchup.ruleset.version,
        "variant": matchup.variant,
        "matchup": matchup.name,
        "seed": matchup.seed,
        "games": sums.deals * matchup.rotations,
        "truncated": int(sums.total[-1, measures.index("truncated")]) // len(matchup.specs),
        "policy": pd.array([*policies, *[None] * lengths.size], "str"),
        "seat": pd.array([*seats, *[None] * lengths.size], "Int64"),
        "measure": pd.array([*measures * sum(is_played), *["length"] * lengths.size], "str"),
        "value": pd.array([*[None] * len(policies), *lengths], "Int64"),
        "deals": sums.deals,
        "per_deal": [*per_deal, *[matchup.rotations] * lengths.size],
        "total": np.append(sums.total[is_played] / scale, sums.lengths[lengths]),
        "squares": np.append(sums.squares[is_played] / scale**2, np.zeros(lengths.size)),
        "by_turns": np.append(sums.by_turns[is_played] / scale, np.zeros(lengths.size)),
    }
    return pd.DataFrame(columns)


def _rows_per_deal(matchup: Matchup, policy: str | None, seat: int | None) -> int:
    k = len(matchup.specs)
    return sum(
        (policy is None or matchup.specs[(s + r) % k] == policy) and (seat is None or s == seat)
        for r in range(matchup.rotations)
        for s in range(k)
    )


def rows_table(matchup: Matchup, first_deal: int, rows: np.ndarray) -> pd.DataFrame:
    """Return raw rows as a tidy table, one row per deal, rotation and seat."""
    deals, rotations, seats, _ = rows.shape
    deal, rotation, seat = (index.ravel() for index in np.indices((deals, rotations, seats)))
    columns = {name: rows[..., m].ravel() for m, name in enumerate(matchup.measures)}
    columns |= {name: columns[name] / SHARE for name in ("payoff", *FRACTIONS) if name in columns}
    entry = (seat + rotation) % seats
    return pd.DataFrame(
        {
            "ruleset": matchup.ruleset.name,
            "version": matchup.ruleset.version,
            "variant": matchup.variant,
            "matchup": matchup.name,
            "seed": matchup.seed,
            "deal": first_deal + deal,
            "rotation": rotation,
            "seat": seat,
            "policy": np.array(matchup.specs, object)[entry],
            **columns,
        }
    )
