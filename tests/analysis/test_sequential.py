"""Confidence sequences against integrals and sums written out, against what theory promises, and by their own coverage."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from analysis.sequential import ConfidenceSequence, batch_sizes, boundary, log_mixture
from sims import InputError


def psi(t, span):
    return (-np.log(1 - span * t) - span * t) / span**2


def slow_log_mixture(total, spread, weight, span):
    """The mean over t of exp(t S - psi(t) V), as an integral."""
    r = weight / span**2

    def density(t):
        return (1 - span * t) ** (r - 1) * math.exp(-r * (1 - span * t))

    def integrand(t):
        return math.exp(t * total - psi(t, span) * spread) * density(t)

    edges = [share / span for share in (0, 0.02, 0.06, 0.2, 0.4, 1)]
    area = [sum(integrate.quad(f, *edges[i : i + 2])[0] for i in range(len(edges) - 1)) for f in (integrand, density)]
    return math.log(area[0] / area[1])


def slow_interval(batches, level, weights, span):
    """Mean, low and high, value by value; the boundary from integrals."""
    n, total, spread = 0, 0.0, 0.0
    for batch in batches:
        guess = min(max(total / n, -1), 1) if n else 0.0
        for x in batch:
            spread += (x - guess) ** 2
        n, total = n + len(batch), total + sum(batch)

    def excess(s):
        mixtures = [math.exp(slow_log_mixture(s, spread, weight, span)) for weight in weights]
        return math.log(sum(mixtures) / len(mixtures)) - math.log(2 / (1 - level))

    half = optimize.brentq(excess, 0, 5 * (n + 10)) / n
    return total / n, max(total / n - half, -1), min(total / n + half, 1)


@pytest.mark.parametrize(
    "total, spread, weight", [(0, 0, 5), (10, 20, 5), (40, 100, 30), (3, 0, 50), (60, 300, 100), (1, 0.5, 0.8)]
)
@pytest.mark.parametrize("span", [2, 4])
def test_the_mixture_is_its_integral(total, spread, weight, span):
    assert log_mixture(np.float64(total), np.float64(spread), weight, span) == pytest.approx(
        slow_log_mixture(total, spread, weight, span), abs=1e-6
    )


@pytest.mark.parametrize("level, precision", [(0.95, 0.05), (0.8, 0.1), (0.99, 0.02)])
@pytest.mark.parametrize("mean", [0, 0.4])
def test_the_interval_is_the_slow_one(level, precision, mean):
    generator = np.random.default_rng(1)
    batches = [generator.choice([-1, 0, 0.5, 1], n, p=[(1 - mean) / 3, 1 / 3, mean / 3, 1 / 3]) for n in (7, 1, 30, 12)]
    sequence = ConfidenceSequence.start(level, precision)
    for batch in batches:
        sequence = sequence.add(batch)
    expected = slow_interval(batches, level, sequence.weights, 2)
    assert [float(value) for value in sequence.interval()] == pytest.approx(expected, abs=1e-6)


def test_the_interval_of_values_beyond_1_is_the_slow_one():
    generator, sequence = np.random.default_rng(1), ConfidenceSequence.start(0.95, 0.05, reach=3)
    batches = [np.full(3, 3.0), *(generator.choice([-3, 0, 0.5, 1], n) for n in (4, 60, 40))]  # at first the mean is beyond 1
    for batch in batches:
        sequence = sequence.add(batch)
    expected = slow_interval(batches, 0.95, sequence.weights, 4)
    assert [float(value) for value in sequence.interval()] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("reach", [1, 4])
def test_each_factor_is_at_most_1_on_average(reach):
    """What makes it a supermartingale: E exp(t (x - mu) - psi(t) (x - g)^2) <= 1, whatever the guess, for values within bounds.

    Two values are enough: every distribution with a mean is a mixture of such.
    """
    span = reach + 1
    t = np.linspace(0, 0.998 / span, 60)[:, None, None, None]
    low, high = np.linspace(-reach, 0, 9)[:, None, None], np.linspace(0, reach, 9)[:, None]
    psi_t = psi(t, span)
    for guess in np.linspace(-1, 1, 9):
        for share in np.linspace(0, 1, 11):
            mu = (1 - share) * low + share * high
            factors = [np.exp(t * (x - mu) - psi_t * (x - guess) ** 2) for x in (low, high)]
            assert ((1 - share) * factors[0] + share * factors[1]).max() <= 1 + 1e-12


def test_many_sequences_at_once_are_as_one_by_one():
    values = np.random.default_rng(2).choice([-1, 0, 1], (300, 4, 2))
    together = ConfidenceSequence.start(0.9, 0.1).add(values[:50]).add(values[50:])
    for place in np.ndindex(4, 2):
        alone = ConfidenceSequence.start(0.9, 0.1).add(values[:50][:, *place]).add(values[50:][:, *place])
        for one, other in zip(together.interval(), alone.interval(), strict=True):
            assert one[place] == pytest.approx(float(other), rel=1e-9)


SHAPES = {
    "rare losses": ([-1, 0.03], [0.03, 0.97]),
    "rare wins": ([-0.03, 1], [0.97, 0.03]),
    "a coin": ([-1, 1], [0.5, 0.5]),
    "pairs of games": ([-1, 0, 1], [0.1, 0.75, 0.15]),
    "hardly any": ([-1, 0], [0.002, 0.998]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_all_looks_together_cover_as_often_as_they_say(shape):
    """At the lowest level, where there is least to spare; the looks are many, so that intervals of one look would fail."""
    values, chances = SHAPES[shape]
    level, runs, truth = 0.5, 2_000, float(np.dot(values, chances))
    generator, sequence = np.random.default_rng(3), ConfidenceSequence.start(level, 0.05)
    covered = by_student = np.ones(runs, bool)
    for size in (5, 5, *[10] * 19, *[50] * 16):
        sequence = sequence.add(generator.choice(values, (size, runs), p=chances))
        mean, low, high = sequence.interval()
        covered = covered & (low <= truth) & (truth <= high)
        half = stats.norm.ppf((1 + level) / 2) * np.sqrt(np.maximum(sequence.squares / sequence.n - mean**2, 0) / sequence.n)
        by_student = by_student & (np.abs(mean - truth) <= half)
    assert covered.mean() >= level
    assert by_student.mean() < level - 5 * math.sqrt(level * (1 - level) / runs)


@pytest.mark.parametrize("variance", [0.02, 0.1, 0.25, 1])
def test_it_is_not_much_wider_than_students_interval(variance):
    """Once that is as narrow as asked for: its square, and so the values needed, is at most 5 times as large, mostly 3."""
    precision = 0.005
    n = variance * (2.5 * 1.96 / precision) ** 2
    half = boundary(np.float64(variance * n), 0.025, ConfidenceSequence.start(0.95, precision).weights, 2) / n
    student = 1.96 * math.sqrt(variance / n)
    assert 1.3 < half / student < math.sqrt(5)


def test_values_that_never_differ_are_soon_known():
    sequence = ConfidenceSequence.start(0.95, 0.01).add(np.zeros(5_000))
    mean, low, high = sequence.interval()
    assert (mean, -low) == (0, high)
    assert 0 < high < 0.005


@pytest.mark.parametrize("value", [1, -1])
def test_one_sided_values_are_soon_known(value):
    mean, low, high = ConfidenceSequence.start(0.95, 0.005).add(np.full(100, value)).add(np.full(100, value)).interval()
    assert mean == value
    assert (low > 0) if value > 0 else (high < 0)


def test_a_higher_level_is_wider():
    batch = np.random.default_rng(4).choice([-1, 0, 1], 200)
    widths = [np.ptp(ConfidenceSequence.start(level, 0.05).add(batch).interval()) for level in (0.5, 0.8, 0.95, 0.999, 1 - 1e-9)]
    assert widths == sorted(widths)


@pytest.mark.parametrize("precision", [1e-300, 1e-9, 0.999])
def test_any_precision_will_do(precision):
    generator = np.random.default_rng(5)
    mean, low, high = (
        ConfidenceSequence.start(0.95, precision).add(generator.choice([-1, 0, 1], 200_000, p=[0.2, 0.2, 0.6])).interval()
    )
    assert -1 < low < 0.4 < high < 1
    assert low < mean < high


def test_the_boundary_at_very_large_numbers():
    """Beyond any budget it still grows as sqrt(V log V), and is found."""
    spread = np.array([0.0, 1e4, 1e8, 1e12])
    found = boundary(spread, 0.025, (100.0, 2_500.0), 2)
    assert np.all(np.diff(found) > 0)
    ratio = found[1:] / np.sqrt(spread[1:])
    assert np.all((ratio > 2.7) & (ratio < 6))


@pytest.mark.parametrize("level", [0, 1, "high"])
def test_a_bad_level_is_refused(level):
    with pytest.raises(InputError, match="level"):
        ConfidenceSequence.start(level, 0.1)


@pytest.mark.parametrize("n", [1, 99, 100, 101, 5_000, 1_000_000])
def test_batches_grow_and_end(n):
    sizes = list(batch_sizes(n))
    assert sum(sizes) == n
    done = np.cumsum([0, *sizes])
    assert all(size <= max(100, before // 8) for size, before in zip(sizes, done, strict=False))
    assert max(sizes) <= 100_000
