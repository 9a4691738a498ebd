"""Confidence sequences: intervals for a mean that hold at all looks at once, however one decides to stop.

Values x_1, x_2, ... have mean mu, between -1 and 1, given all before them, and are at most r from 0. With any guess g_i between
-1 and 1, made before x_i is seen, no x_i is further than c = r + 1 from its guess, which is 2 for values between -1 and 1. Let

    S = sum (x_i - mu),    V = sum (x_i - g_i)^2,    psi(t) = (-log(1 - c t) - c t) / c^2.

For each t in [0, 1/c), exp(t S - psi(t) V) is a nonnegative supermartingale that starts at 1, and so is its mean over a density
of t. By Ville's inequality the chance that it ever reaches 1/alpha is at most alpha. For the gamma density of Howard, Ramdas,
McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49 (2021), theorem
4 and proposition 9, the mean is known in closed form. Nothing is assumed of the values but their bounds; the interval adapts to
their spread.

The guess is the mean before the batch, cut off at -1 and 1. So sums over the past are all that is kept, and the interval is
centred on the mean.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import special
from scipy.optimize.elementwise import find_root

from analysis.intervals import check_level

VARIANCE = 1 / 4  # of a deal's difference, as it may well be
FINEST, COARSEST, STEP = (
    1e-4,
    0.1,
    4,
)  # half-widths for which the interval is tuned; nobody plays the billions that finer ones take


@dataclass(frozen=True)
class ConfidenceSequence:
    """A mean between -1 and 1, with an interval that may be looked at after each batch.

    Attributes
    ----------
    alpha, weights, span : float, tuple of float, float
        Of the boundary on each side.
    n : int
        Values so far.
    total, squares, spread : float arrays
        Sum, sum of squares, and V: one sequence for each place in the arrays.
    """

    alpha: float
    weights: tuple[float, ...]
    span: float
    n: int = 0
    total: np.ndarray = field(default_factory=lambda: np.zeros(()))
    squares: np.ndarray = field(default_factory=lambda: np.zeros(()))
    spread: np.ndarray = field(default_factory=lambda: np.zeros(()))

    @classmethod
    def start(cls, level: float, precision: float, reach: float = 1) -> "ConfidenceSequence":
        """Return the sequence before the first value.

        Parameters
        ----------
        level : float
            The chance that the intervals of all looks contain the mean, between 0 and 1.
        precision : float
            The smallest half-width that is of interest: from there on, up to a coarse one, the interval is at its best. It holds
            for any choice made before the first value.
        reach : float
            How far from 0 values may be: 1 or more.
        """
        return cls((1 - check_level(level)) / 2, _weights(max(precision, FINEST)), reach + 1)

    def add(self, values: np.ndarray) -> "ConfidenceSequence":
        """Return the sequence after a batch more, an array (n, ...): as many sequences as the other axes have places."""
        n, total, squares = len(values), values.sum(axis=0), (values**2).sum(axis=0)
        guess = np.clip(self.total / max(self.n, 1), -1, 1)
        spread = self.spread + np.maximum(squares - 2 * guess * total + n * guess**2, 0)
        return replace(self, n=self.n + n, total=self.total + total, squares=self.squares + squares, spread=spread)

    def interval(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return mean, low and high, which are not beyond -1 and 1."""
        mean, half = self.total / self.n, boundary(self.spread, self.alpha, self.weights, self.span) / self.n
        return mean, np.maximum(mean - half, -1), np.minimum(mean + half, 1)


def boundary(spread: np.ndarray, alpha: float, weights: Sequence[float], span: float) -> np.ndarray:
    """Return what S ever reaches with a chance of at most `alpha`, given V (`spread`); c is the `span`.

    Each weight stands for a density of t, for which the boundary is at its best where V is some 9 times as large. Their mean is
    as valid, and hardly wider than the best of them.
    """

    def excess(total, spread):
        logs = [log_mixture(total, spread, weight, span) for weight in weights]
        return special.logsumexp(logs, axis=0) - np.log(len(weights)) + np.log(alpha)

    enough = 2 * span * -np.log(alpha)
    highest = enough + np.sqrt(enough * (spread + max(weights)))
    while (excess(highest, spread) < 0).any():
        highest = 2 * highest
    return find_root(excess, (np.zeros_like(highest), highest), args=(spread,)).x


def _weights(precision: float) -> tuple[float, ...]:
    """Return the weights that are best at half-widths from `precision` to the coarsest, each a few times the one before."""
    steps = max(0, int(np.log(COARSEST / precision) / np.log(STEP)))
    return tuple((VARIANCE / (precision * STEP**k)) ** 2 for k in range(steps + 1))


def log_mixture(total: np.ndarray, spread: np.ndarray, weight: float, span: float) -> np.ndarray:
    """Return the logarithm of the mean of exp(t S - psi(t) V) over t, at S = `total` >= 0 and V = `spread`.

    With c = `span` and r = `weight` / c^2, 1 - c t has a gamma density of shape r and rate r, cut off at 1.
    """
    s, v, r = total / span, spread / span**2, weight / span**2
    return s + v + _log_gamma_cut(v + r, s + v + r) - _log_gamma_cut(r, r)


def _log_gamma_cut(shape: Any, rate: Any) -> np.ndarray:
    """Return log of the integral of g^(shape - 1) exp(-rate g) over g from 0 to 1."""
    return special.gammaln(shape) + np.log(special.gammainc(shape, rate)) - shape * np.log(rate)


def batch_sizes(n: int) -> Iterator[int]:
    """Yield the sizes of the batches of `n` values: an eighth of those before, but at least 100 and at most 100,000."""
    done = 0
    while done < n:
        size = min(max(100, done // 8), 100_000, n - done)
        yield size
        done += size
