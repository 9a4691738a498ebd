"""Intervals against SciPy, textbook formulas written out over raw data, a bootstrap, and their own coverage."""

import math

import numpy as np
import pytest
from scipy import stats

from analysis.intervals import (
    DRAWS,
    change_intervals,
    deviation_interval,
    logistic_curve,
    logistic_fit,
    margins,
    mean_interval,
    quantile_interval,
    ratio_interval,
    regret_interval,
    simultaneous_level,
    wilson_interval,
)

LEVELS = (0.5, 0.9, 0.95, 0.999)


def of_raw(x, per_deal=1, level=0.95):
    """mean_interval of raw sums over deals."""
    return mean_interval(x.sum(), (x**2).sum(), len(x), per_deal, level)


def ratio_of_raw(x, t, level=0.95):
    return ratio_interval(x.sum(), (x**2).sum(), t.sum(), (t**2).sum(), (x * t).sum(), len(x), level)


def correlated(generator, shape):
    """Turns and points of deals: more turns make more points."""
    turns = generator.integers(4, 15, shape).astype(float)
    return 6 * turns + generator.normal(0, 8, shape), turns


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("per_deal", [1, 2, 12])
@pytest.mark.parametrize("n", [2, 3, 40])
def test_a_mean_has_students_interval(n, per_deal, level):
    rows = np.random.default_rng(n).normal(3, 2, (n, per_deal))
    estimate, stderr, low, high = of_raw(rows.sum(1), per_deal, level)
    deals = rows.mean(1)  # the deal is the unit, however many rows it has
    assert estimate == pytest.approx(rows.mean())
    assert stderr == pytest.approx(stats.sem(deals))
    assert (low, high) == pytest.approx(stats.t.interval(level, n - 1, deals.mean(), stats.sem(deals)))


def test_arrays_in_arrays_out():
    x = np.random.default_rng(1).normal(0, 1, (5, 30))
    together = mean_interval(x.sum(1), (x**2).sum(1), np.full(5, 30), np.arange(1, 6), 0.9)
    for i in range(5):
        assert [column[i] for column in together] == pytest.approx([float(value) for value in of_raw(x[i], i + 1, 0.9)])


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [2, 5, 300])
def test_a_ratio_has_the_linearised_interval(n, level):
    x, t = correlated(np.random.default_rng(n), n)
    estimate, stderr, low, high = ratio_of_raw(x, t, level)
    ratio = x.sum() / t.sum()
    residuals = [each - ratio * turns for each, turns in zip(x, t, strict=True)]
    spread = math.sqrt(sum(each**2 for each in residuals) / (n - 1))
    expected = spread / math.sqrt(n) / t.mean()
    assert estimate == pytest.approx(ratio)
    assert stderr == pytest.approx(expected, rel=1e-6)
    half = stats.t.ppf((1 + level) / 2, n - 1) * expected
    assert (low, high) == pytest.approx((ratio - half, ratio + half), rel=1e-6)


def test_a_ratio_has_the_standard_error_of_the_bootstrap():
    x, t = correlated(np.random.default_rng(3), 400)
    picks = np.random.default_rng(4).integers(0, 400, (4_000, 400))
    bootstrap = (x[picks].sum(1) / t[picks].sum(1)).std()
    _, stderr, *_ = ratio_of_raw(x, t)
    assert stderr == pytest.approx(bootstrap, rel=5 / math.sqrt(2 * 4_000))  # 5 standard errors of a standard deviation
    naive = (x / t).std() / math.sqrt(400)
    assert abs(naive - stderr) > 0.02 * stderr  # the mean of ratios is something else, and the test would see it


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("kind", ["mean", "ratio"])
def test_intervals_cover_as_often_as_they_say(kind, level):
    runs, n = 4_000, 60
    generator = np.random.default_rng(8)
    x, t = correlated(generator, (runs, n))
    if kind == "mean":
        x = generator.normal(2, 5, (runs, n))
        _, _, low, high = mean_interval(x.sum(1), (x**2).sum(1), np.full(runs, n), 4, level)
        truth = 2 / 4
    else:
        sums = [each.sum(1) for each in (x, x**2, t, t**2, x * t)]
        _, _, low, high = ratio_interval(*sums, np.full(runs, n), level)
        truth = 6
    covered = np.mean((low <= truth) & (truth <= high))
    assert abs(covered - level) < 5 * math.sqrt(level * (1 - level) / runs)


def test_rows_of_a_deal_are_not_independent():
    """Two seatings with the same dice: rows counted one by one would give too narrow an interval."""
    runs, n = 2_000, 30
    deals = np.random.default_rng(5).normal(0, 1, (runs, n))
    _, _, low, high = mean_interval(2 * deals.sum(1), 4 * (deals**2).sum(1), np.full(runs, n), 2, 0.95)
    by_deal = np.mean((low <= 0) & (high >= 0))
    _, _, low, high = mean_interval(2 * deals.sum(1), 2 * (deals**2).sum(1), np.full(runs, 2 * n), 1, 0.95)
    by_row = np.mean((low <= 0) & (high >= 0))
    sigma = math.sqrt(0.95 * 0.05 / runs)
    assert abs(by_deal - 0.95) < 5 * sigma
    assert by_row < 0.95 - 5 * sigma


@pytest.mark.parametrize("level", LEVELS)
def test_wilson_is_scipys_and_the_textbooks(level):
    shares, n = np.array([0.0, 0.25, 0.5, 1.0, 1.0]), np.array([10, 40, 8, 1, 100_000])
    low, high = wilson_interval(shares, n, level)
    z = stats.norm.ppf((1 + level) / 2)
    for i, (p, k) in enumerate(zip(shares, n, strict=True)):
        expected = stats.binomtest(round(p * k), k).proportion_ci(level, "wilson")
        assert (low[i], high[i]) == pytest.approx((expected.low, expected.high))
        centre, half = p + z**2 / (2 * k), z * math.sqrt(p * (1 - p) / k + z**2 / (4 * k**2))
        textbook = (centre - half) / (1 + z**2 / k), (centre + half) / (1 + z**2 / k)
        assert (low[i], high[i]) == pytest.approx(textbook, abs=1e-12)


def test_no_spread_is_a_point_and_one_deal_knows_nothing():
    assert [float(value) for value in of_raw(np.full(9, 3.0), 2)] == [1.5, 0.0, 1.5, 1.5]
    x, t = 2 * np.arange(1.0, 5), np.arange(1.0, 5)
    assert [float(value) for value in ratio_of_raw(x, t)] == [2, 0, 2, 2]
    estimate, *unknown = of_raw(np.array([3.0]))
    assert estimate == 3
    assert not np.isfinite(unknown).any()


# --- logistic curves --------------------------------------------------------------------------------------------------------


def logit(share):
    return math.log(share / (1 - share))


def test_a_curve_with_as_many_numbers_as_shares_goes_through_them():
    """Two groups, a constant and a difference: the textbook's log odds ratio, with the variance of independent shares."""
    x, won, n = np.array([[1, 0], [1, 0], [1, 1], [1, 1]]), np.array([1, 0, 1, 0]), np.array([30, 70, 160, 40])
    b, covariance = logistic_fit(x, won, n)
    assert b == pytest.approx([logit(0.3), logit(0.8) - logit(0.3)], abs=1e-6)
    first, second = 1 / (100 * 0.3 * 0.7), 1 / (200 * 0.8 * 0.2)
    assert covariance.ravel() == pytest.approx([first, -first, -first, first + second], rel=1e-5)
    share, low, high = logistic_curve([[1, 0], [1, 1]], b, covariance, 0.95)
    assert share == pytest.approx([0.3, 0.8])
    half = stats.norm.ppf(0.975) * math.sqrt(second)
    assert (logit(low[1]), logit(high[1])) == pytest.approx((logit(0.8) - half, logit(0.8) + half), rel=1e-5)


def test_a_draw_is_half_a_win_but_spreads_less():
    won, covariance_won = logistic_fit([[1], [1]], [1, 0], [60, 40])
    drawn, covariance_drawn = logistic_fit([[1], [1], [1]], [1, 0.5, 0], [40, 40, 20])
    assert drawn == pytest.approx(won, abs=1e-6)
    assert covariance_drawn[0, 0] < 0.7 * covariance_won[0, 0]


def test_rows_may_be_counted_or_listed():
    x, won, n = np.array([[1.0], [2], [3], [2]]), np.array([1, 0, 1, 1]), np.array([3, 2, 4, 5])
    counted = logistic_fit(x, won, n)
    listed = logistic_fit(np.repeat(x, n, axis=0), np.repeat(won, n), np.ones(n.sum()))
    for one, other in zip(counted, listed, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_coverage_of_the_fitted_curve():
    generator, leads, slope, runs = np.random.default_rng(7), np.arange(1.0, 16), 0.24, 400
    n, true, hits = 60, 1 / (1 + np.exp(-0.24 * 5)), 0
    for _ in range(runs):
        wins = generator.binomial(n, 1 / (1 + np.exp(-slope * leads)))
        x, won = np.tile(leads, 2)[:, None], np.repeat([1, 0], len(leads))
        _, low, high = logistic_curve([[5]], *logistic_fit(x, won, np.concatenate([wins, n - wins])), 0.95)
        hits += low[0] <= true <= high[0]
    assert abs(hits / runs - 0.95) < 5 * math.sqrt(0.95 * 0.05 / runs)


# --- several means at the same time ---------------------------------------------------------------------------------------

N_DEALS = 21
MET = 5 * np.sqrt(0.95 * 0.05 / DRAWS)  # five standard errors of a level of 95 % that is met by draws


def equicorrelated(k, rho):
    spread = np.arange(1, k + 1)
    return np.outer(spread, spread) * (np.full((k, k), rho) + (1 - rho) * np.eye(k))


@pytest.mark.parametrize("rho", [0, 0.5, 0.9])
def test_simultaneous_level_meets_the_joint_probability(rho):
    """SciPy integrates the multivariate t distribution itself, which takes long where it must be inverted."""
    covariance = equicorrelated(4, rho)
    each = simultaneous_level(covariance, N_DEALS, 0.95)
    reach = stats.t.ppf((1 + each) / 2, N_DEALS - 1)
    shape = np.full((4, 4), rho) + (1 - rho) * np.eye(4)
    joint = stats.multivariate_t(shape=shape, df=N_DEALS - 1).cdf([reach] * 4, lower_limit=[-reach] * 4)
    assert joint == pytest.approx(0.95, abs=MET)
    assert 0.95 < each < 1 - 0.05 / 4 + 1e-12


def test_simultaneous_level_of_one_mean_and_of_copies_is_their_own():
    for covariance in (np.array([[4.0]]), np.full((3, 3), 2.0), np.diag([0, 3.0, 0]), np.zeros((2, 2))):
        each = simultaneous_level(covariance, N_DEALS, 0.95)
        assert 0.95 <= each <= 0.95 + MET


def test_margins_of_two_means_are_a_one_sided_t_test():
    covariance = np.array([[4.0, 1], [1, 2]])
    spread = np.sqrt(4 + 2 - 2)
    reach = stats.t.ppf(0.95, N_DEALS - 1) * spread
    slack = 5 * spread * np.sqrt(0.95 * 0.05 / DRAWS) / stats.t.pdf(stats.t.ppf(0.95, N_DEALS - 1), N_DEALS - 1)
    margin, low, high, may_be_best = margins([3.0, 2], covariance, N_DEALS, 0.95)
    np.testing.assert_allclose(margin, [1, -1])
    np.testing.assert_allclose(low, [1 - reach, -1 - reach], atol=slack)
    np.testing.assert_allclose(high, [1 + reach, -1 + reach], atol=slack)
    assert may_be_best.all()
    margin, low, high, may_be_best = margins([30.0, 2], covariance, N_DEALS, 0.95)
    assert (low[0], high[1]) == (0, 0)
    np.testing.assert_allclose([low[1], high[0]], [-28 - reach, 28 + reach], atol=slack)
    assert list(may_be_best) == [True, False]


def test_margins_of_twins():
    """Two that never differ may both be the best, exactly level; the third is compared with either."""
    covariance = np.array([[1.0, 1, 0.2], [1, 1, 0.2], [0.2, 0.2, 1]])
    margin, low, high, may_be_best = margins([9.0, 9, 1], covariance, N_DEALS, 0.95)
    np.testing.assert_allclose(margin, [0, 0, -8])
    assert list(may_be_best) == [True, True, False]
    assert (list(low[:2]), list(high[:2])) == ([0, 0], [0, 0])


def test_margins_cover():
    """In how many of many samples all intervals hold, and the best is among those that may be; means lie close together."""
    truth, k = np.array([0.0, 0.1, 0.3, 0.5, 0.501]), 5
    factor = np.linalg.cholesky(equicorrelated(k, 0.6))
    samples = np.random.default_rng(1).standard_normal((300, 40, k)) @ factor.T + truth
    best, held, kept = np.array([truth[i] - np.delete(truth, i).max() for i in range(k)]), 0, 0
    for sample in samples:
        _, low, high, may_be_best = margins(sample.mean(axis=0), np.cov(sample.T) / 40, 40, 0.95)
        held += bool(((low <= best) & (best <= high)).all())
        kept += bool(may_be_best[-1])
    assert min(held, kept) / 300 > 0.95 - 5 * np.sqrt(0.95 * 0.05 / 300)


def test_changes_lie_in_their_band_together():
    """Two differences to the third mean have a correlation of their own, which SciPy integrates."""
    covariance = equicorrelated(3, 0.3)
    gap, stderr, low, high, band_low, band_high = change_intervals([5.0, 7, 4], covariance, 2, N_DEALS, 0.95)
    np.testing.assert_allclose(gap, [1, 3, 0])
    spread = np.sqrt([1 + 9 - 2 * 0.9, 4 + 9 - 2 * 1.8])
    np.testing.assert_allclose(stderr, [*spread, 0])
    np.testing.assert_allclose((high - low)[:2] / 2, stats.t.ppf(0.975, N_DEALS - 1) * spread)
    correlation = (0.6 - 0.9 - 1.8 + 9) / spread.prod()
    reach = (band_high - gap)[0] / spread[0]
    joint = stats.multivariate_t(shape=[[1, correlation], [correlation, 1]], df=N_DEALS - 1)
    assert joint.cdf([reach] * 2, lower_limit=[-reach] * 2) == pytest.approx(0.95, abs=MET)
    np.testing.assert_allclose((gap - band_low)[:2] / spread, [reach] * 2)


def test_regret_of_two_means_is_a_paired_t_test():
    covariance = np.array([[4.0, 1], [1, 2]])
    reach = stats.t.ppf(0.975, N_DEALS - 1) * 2
    slack = 5 * 2 * np.sqrt(0.95 * 0.05 / DRAWS) / (2 * stats.t.pdf(reach / 2, N_DEALS - 1))
    regret, low, high = regret_interval(np.array([2.0, 9]), covariance, 0, N_DEALS, 0.95)
    assert (regret, low, high) == (7, pytest.approx(7 - reach, abs=slack), pytest.approx(7 + reach, abs=slack))
    regret, low, high = regret_interval(np.array([9.0, 2]), covariance, 0, N_DEALS, 0.95)
    assert (regret, low, high) == (0, 0, 0)  # the other one is worse, beyond doubt


def test_a_standard_deviation_has_the_interval_of_the_delta_method():
    values, counts = np.array([3, 5, 6]), np.array([4, 1, 2])
    raw = np.repeat(values, counts)
    estimate, stderr, low, high = deviation_interval(values, counts, len(raw), 0.9)
    fourth = stats.moment(raw, 4)
    assert estimate == pytest.approx(raw.std())
    assert stderr == pytest.approx(math.sqrt((fourth - raw.var() ** 2) / (len(raw) - 1)) / (2 * raw.std()))
    assert (high + low) / 2 == pytest.approx(estimate)
    assert deviation_interval([4], [9], 9, 0.9)[:2] == (0, 0)


def test_a_quantile_is_between_order_statistics():
    sample = np.arange(1000) ** 2
    estimate, low, high = quantile_interval(*np.unique(sample, return_counts=True), 0.95, 1000, 0.99)
    places = stats.binom.interval(0.99, 1000, 0.95)
    assert (estimate, low, high) == (sample[950], sample[int(places[0]) - 1], sample[int(places[1])])
    ends = stats.quantile_test(sample, p=0.95).confidence_interval(0.99)
    assert abs(math.isqrt(int(ends.low)) - math.isqrt(int(low))) <= 1  # it has other conventions for ties
    assert abs(math.isqrt(int(ends.high)) - math.isqrt(int(high))) <= 1
    again = quantile_interval(*np.unique(np.repeat(sample, 3), return_counts=True), 0.95, 1000, 0.99)
    assert again == (estimate, low, high)  # three games a deal say as much as one, if they are equal


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_the_intervals_of_quantiles_and_deviations_cover_them(share):
    rng, runs, n, inside, within = np.random.default_rng(3), 400, 101, 0, 0
    for _ in range(runs):
        counted = np.unique(rng.integers(0, 500, n), return_counts=True)
        _, low, high = quantile_interval(*counted, share, n, 0.95)
        inside += low <= 500 * share - 0.5 <= high
        _, _, low, high = deviation_interval(*counted, n, 0.95)
        within += low <= math.sqrt((500**2 - 1) / 12) <= high
    slack = 5 * math.sqrt(0.95 * 0.05 / runs)
    assert inside / runs > 0.95 - slack
    assert abs(within / runs - 0.95) < slack
