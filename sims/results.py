"""The results schema: raw rows, one per seat of a game; and sums, what a batch of rows is reduced to as it finishes.

Sums keep memory flat and lose nothing that an estimate needs. For a *unit* (a policy in a seat, a policy over all its seats, a
seat over all policies, or the whole game) let x_d be the sum of a measure over the unit's rows in deal d, and t_d the same of
``turns``. The table holds, per unit and measure, the number of deals, the rows per deal, and

    total = sum x_d,   squares = sum x_d^2,   by_turns = sum x_d t_d.

All are sums of whole numbers, so they are exact and the same in any order, for any batch size and any number of workers.
The measure ``length`` is a histogram instead: ``total`` games had ``value`` turns (the last value stands for "or more").
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sims.jit import jit
from sims.playouts import LOOP_MEASURES
from sims.ruleset import SHARE, Ruleset
from sims.trajectories import FRACTIONS, MEASURES

MAX_LENGTH = 512
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
def _reduce(rows, entry_policy, n_policies, turns, buffer, total, squares, by_turns, lengths):
    n_deals, rotations, seats, n_measures = rows.shape
    n_cells = n_policies * seats
    for d in range(n_deals):
        for u in range(buffer.shape[0]):
            for m in range(n_measures):
                buffer[u, m] = 0
        for r in range(rotations):
            length = 0
            for s in range(seats):
                p = entry_policy[(s + r) % seats]
                length += rows[d, r, s, turns]
                for m in range(n_measures):
                    x = rows[d, r, s, m]
                    buffer[p * seats + s, m] += x
                    buffer[n_cells + p, m] += x
                    buffer[n_cells + n_policies + s, m] += x
                    buffer[n_cells + n_policies + seats, m] += x
            lengths[min(length, lengths.size - 1)] += 1
        for u in range(buffer.shape[0]):
            t = buffer[u, turns]
            for m in range(n_measures):
                x = buffer[u, m]
                total[u, m] += x
                squares[u, m] += x * x
                by_turns[u, m] += x * t


def reduce_rows(matchup: Matchup, rows: np.ndarray) -> Sums:
    """Reduce rows, an int32 array (deals, rotations, seats, measures), to sums."""
    sums = Sums.zero(matchup)
    sums.deals = len(rows)
    turns, buffer = matchup.measures.index("turns"), np.zeros_like(sums.total)
    arrays = sums.total, sums.squares, sums.by_turns, sums.lengths
    _reduce(rows, matchup.entry_policy, len(matchup.policies), turns, buffer, *arrays)
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
    seats, measures = len(matchup.specs), matchup.measures
    units = matchup.units()
    per_deal = [_rows_per_deal(matchup, policy, seat) for policy, seat in units]
    games = sums.deals * matchup.rotations
    truncated = int(sums.total[-1, measures.index("truncated")]) // seats
    scale = np.array([SHARE if name in ("payoff", *FRACTIONS) else 1 for name in measures])
    frame = pd.DataFrame(
        {
            "policy": np.repeat(np.array([policy for policy, _ in units], object), len(measures)),
            "seat": pd.array(np.repeat(np.array([seat for _, seat in units], object), len(measures)), "Int64"),
            "measure": list(measures) * len(units),
            "value": pd.array([pd.NA] * (len(units) * len(measures)), "Int64"),
            "deals": sums.deals,
            "per_deal": np.repeat(per_deal, len(measures)),
            "total": (sums.total / scale).ravel(),
            "squares": (sums.squares / scale**2).ravel(),
            "by_turns": (sums.by_turns / scale).ravel(),
        }
    )
    frame = frame[frame.per_deal > 0]
    lengths = np.flatnonzero(sums.lengths)
    histogram = pd.DataFrame({"value": lengths, "total": sums.lengths[lengths].astype(float)})
    histogram = histogram.assign(policy=None, measure="length", deals=sums.deals, per_deal=matchup.rotations)
    histogram = histogram.assign(squares=0.0, by_turns=0.0, seat=pd.array([pd.NA] * len(lengths), "Int64"))
    keys: dict[str, Any] = {
        "ruleset": matchup.ruleset.name,
        "version": matchup.ruleset.version,
        "variant": matchup.variant,
        "matchup": matchup.name,
        "seed": matchup.seed,
        "games": games,
        "truncated": truncated,
    }
    table = pd.concat([frame, histogram.astype({"value": "Int64", "policy": object})], ignore_index=True)
    return table.assign(**keys)[COLUMNS].astype(
        dict.fromkeys(["ruleset", "version", "variant", "matchup", "policy", "measure"], "str")
    )


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
