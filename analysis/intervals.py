"""Confidence intervals from sums over deals: arrays in, arrays out.

The deal is the unit: all its rotations use the same dice, so its games are not independent, but deals are. With x_d and t_d
sums over deal d,

* a mean per row: estimate = sum x / (n w) with w rows per deal, standard error = sd(x_d) / (w sqrt n), Student's t;
* a ratio sum x / sum t: the residuals x_d - r t_d have mean zero, so the standard error is sd(residuals) / (mean(t) sqrt n)
  (linearisation, e.g. Cochran, Sampling Techniques, 1977, section 2.11);
* a share that was 0 in every deal, or 1, has no spread to measure: Wilson's interval for n deals instead, as if a deal were one
  trial. A count per turn that was 0 in every deal has the same interval: a deal that shows one has few per turn. For points per
  turn that were 0 in every deal no interval is known;
* a standard deviation has a standard error by the delta method, a quantile is between order statistics, with n deals in place of
  their games: right where a deal is one game, else rather too wide;
* a share that depends on numbers x as 1 / (1 + exp(-b x)): b by maximum likelihood, its covariance by the sandwich of White
  (Econometrica 50, 1982), which holds for shares between 0 and 1 too, and where the curve is not exactly of this form;
* several means of the same deals, whose intervals are to hold all at the same time: the quantile of the largest |t| among them,
  for which draws stand, from their covariance (Hothorn, Bretz and Westfall, Biometrical Journal 50, 2008).
"""

import numpy as np
from scipy import optimize, special, stats

from sims.errors import InputError

DRAWS = 20_000  # that a joint distribution is made of: a level of 95 % is met within 0.15 % (standard error)
NOTHING = 1e-12  # a variance that rounding leaves of equal numbers, relative to their squares


def check_level(level):
    """Return a confidence level; raises InputError if it is not between 0 and 1."""
    if not isinstance(level, (int, float, np.number)) or not 0 < level < 1:
        raise InputError(f"level must be a number between 0 and 1, both excluded, not {level!r}")
    return level


def mean_interval(total, squares, n, per_deal, level):
    """Return estimate, standard error, low and high of a mean per row.

    Parameters
    ----------
    total, squares : float arrays
        Sums over deals of x_d and of its square.
    n, per_deal : int arrays
        Deals; rows per deal.
    level : float
        Confidence level between 0 and 1.
    """
    n = np.asarray(n, float)
    mean = total / n
    return _student(mean / per_deal, (squares / n - mean**2) / per_deal**2, n, level)


def ratio_interval(x, xx, t, tt, xt, n, level):
    """Return estimate, standard error, low and high of sum x / sum t from the sums of x, x^2, t, t^2, x t over deals."""
    n = np.asarray(n, float)
    ratio = x / t
    residual = (xx - 2 * ratio * xt + ratio**2 * tt) / n
    return _student(ratio, residual / (t / n) ** 2, n, level)


def _student(estimate, variance, n, level):
    """Student's interval around a mean of `n` values of this (biased) variance; unbounded for a single value."""
    with np.errstate(divide="ignore", invalid="ignore"):
        stderr = np.sqrt(np.maximum(variance, 0) / (n - 1))
    quantile = stats.t.ppf((1 + check_level(level)) / 2, np.maximum(n - 1, 1))
    return estimate, stderr, estimate - quantile * stderr, estimate + quantile * stderr


def wilson_interval(share, n, level):
    """Return low and high of Wilson's interval for a share of `n` deals (Wilson 1927), through SciPy."""
    check_level(level)
    pairs = [stats.binomtest(round(s * k), int(k)).proportion_ci(level, method="wilson") for s, k in zip(share, n, strict=True)]
    return np.array([p.low for p in pairs]), np.array([p.high for p in pairs])


def deviation_interval(values, counts, n, level):
    """Return estimate, standard error, low and high of a standard deviation, from values and how often each came up.

    Student's interval; the squared standard error is (m4 - s^4) / (4 s^2 n), the m's central moments (delta method; Cramer,
    Mathematical Methods of Statistics, 1946, section 27.7).

    Parameters
    ----------
    values, counts : arrays
    n : int
        Independent ones among them: each may stand for several that are not, as the games of a deal.
    level : float
    """
    values, counts = np.asarray(values, float), np.asarray(counts, float)
    mean = np.average(values, weights=counts)
    second, fourth = (np.average((values - mean) ** power, weights=counts) for power in (2, 4))
    variance = (fourth - second**2) / (4 * second) if second > 0 else 0.0
    return _student(np.sqrt(second), variance, np.asarray(n, float), level)


def quantile_interval(values, counts, share, n, level):
    """Return the quantile of values that came up so often, and the two of them that have the true one between them.

    The places of the two are quantiles of the binomial distribution (Conover, Practical Nonparametric Statistics, 1999, section
    3.2), so nothing is assumed of the values.

    Parameters
    ----------
    values, counts : int arrays
    share : float
        0.5 for the median.
    n : int
        See :func:`deviation_interval`; the interval then is rather too wide.
    level : float
    """
    sample = np.repeat(np.asarray(values), np.asarray(counts, int))
    low, high = (int(end) for end in stats.binom.interval(check_level(level), n, share))
    places = int(share * len(sample)), -(-low * len(sample) // n) - 1, high * len(sample) // n
    return tuple(sample[min(max(place, 0), len(sample) - 1)] for place in places)


def logistic_fit(x, share, n, offset=0.0, covariance=None):
    """Fit share = 1 / (1 + exp(-b x - offset)) and return b and its covariance matrix.

    Parameters
    ----------
    x : float array (values, k)
        What the share depends on; a column of ones for a constant.
    share, n : arrays (values,)
        Win shares, each 0 to 1, and how many independent games had this one; or means of so many games, with their covariance.
    offset : float array (values,), optional
        What is known to be added to b x.
    covariance : float array (values, values), optional
        Of the shares, where they are means.
    """
    x, share, n = (np.asarray(each, float) for each in (x, share, n))

    def loss(b):
        return np.sum(n * (np.logaddexp(0, x @ b + offset) - share * (x @ b + offset)))

    def slope(b):
        return x.T @ (n * (special.expit(x @ b + offset) - share))

    def curvature(b):
        return (x.T * n * special.expit(x @ b + offset) * special.expit(-(x @ b + offset))) @ x

    b = optimize.minimize(loss, np.zeros(x.shape[1]), jac=slope, hess=curvature, method="trust-exact").x
    if covariance is None:
        spread = (x.T * n * (special.expit(x @ b + offset) - share) ** 2) @ x
    else:
        spread = (x.T * n) @ covariance @ (x.T * n).T
    bread = np.linalg.inv(curvature(b))
    return b, bread @ spread @ bread


def logistic_curve(x, b, covariance, level):
    """Return share, low and high of a fitted curve at x, an array (values, k); normal intervals of b x."""
    x = np.asarray(x, float)
    half = stats.norm.ppf((1 + check_level(level)) / 2) * np.sqrt(np.einsum("ij,jk,ik->i", x, covariance, x))
    return special.expit(x @ b), special.expit(x @ b - half), special.expit(x @ b + half)


def simultaneous_level(covariance, n, level):
    """Return the level of each of several intervals at which all of them hold at the same time with probability `level`.

    Parameters
    ----------
    covariance : float array (k, k)
        Of the k means of the same `n` deals; a mean without variance is left out. The result is never below `level`, which one
        interval needs, nor above what Bonferroni's inequality asks for.
    """
    k = max(1, np.count_nonzero(np.diag(covariance)))
    largest = np.abs(_joint_errors(covariance, n)).max(axis=1)
    found = 2 * stats.t.cdf(np.quantile(largest, check_level(level)), n - 1) - 1
    return float(np.clip(found, level, 1 - (1 - level) / k))


def _joint_errors(covariance, n):
    """Draw errors of means, in their standard errors, from the multivariate t distribution: (draws, k); always the same draws."""
    stderr = np.sqrt(np.diag(covariance))
    scale = np.outer(stderr, stderr)
    correlation = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    joint = stats.multivariate_t(shape=correlation, df=n - 1, allow_singular=True)
    return joint.rvs(DRAWS, random_state=np.random.default_rng(0)).reshape(DRAWS, -1)


def _differences(covariance):
    """Return the standard error of every difference of two means: (k, k)."""
    variance = np.diag(covariance)
    both = variance[:, None] + variance
    between = both - 2 * covariance
    return np.sqrt(np.where(between > NOTHING * both, between, 0))


def margins(mean, covariance, n, level):
    """Compare each of several means with the best of the others: multiple comparisons with the best.

    J. Hsu, Annals of Statistics 12 (1984), in the form for unequal standard errors (Hsu, Multiple Comparisons, 1996, chapter 4):
    with q_i the quantile of the largest t of the others' differences to i (one-sided), i may be the best if no other is ahead
    by more than q_i standard errors of the difference.

    Parameters
    ----------
    mean, covariance : float arrays (k,), (k, k)
        Two means or more, of the same `n` deals.

    Returns
    -------
    margin, low, high : float arrays (k,)
        The mean less the highest of the others, and intervals that hold all at the same time; no low is above 0, no high below.
    may_be_best : bool array (k,)
        True for the best of all with probability `level` at least.
    """
    mean, spread = np.asarray(mean, float), _differences(covariance)
    errors = _joint_errors(covariance, n) * np.sqrt(np.diag(covariance))
    quantiles = np.zeros(len(mean))
    for i, against in enumerate(spread):
        if (differ := against > 0).any():
            ahead = (errors[:, differ] - errors[:, [i]]) / against[differ]
            quantiles[i] = np.quantile(ahead.max(axis=1), check_level(level))
    others = ~np.eye(len(mean), dtype=bool)
    gap = mean[:, None] - mean
    reach = quantiles[:, None] * spread
    high = np.min(gap + reach, axis=1, where=others, initial=np.inf)
    may_be_best = high >= 0
    low = np.min(gap - reach.T, axis=1, where=others & may_be_best, initial=0)
    return np.min(gap, axis=1, where=others, initial=np.inf), low, high.clip(0), may_be_best


def change_intervals(mean, covariance, reference, n, level):
    """Return how far several means are above one of them: estimate, standard error, low, high, and a band: its low and high.

    Parameters
    ----------
    mean, covariance : float arrays (k,), (k, k)
        Of the same `n` deals. Where a mean has been the same as the reference in every deal, all intervals have no width.
    """
    contrast, differs = np.eye(len(mean)) - np.eye(len(mean))[reference], _differences(covariance)[reference] > 0
    gap, between = contrast @ mean, np.where(np.outer(differs, differs), contrast @ covariance @ contrast.T, 0)
    stderr = np.sqrt(np.diag(between))
    reach, wide = (
        stats.t.ppf((1 + each) / 2, n - 1) * stderr for each in (check_level(level), simultaneous_level(between, n, level))
    )
    return gap, stderr, gap - reach, gap + reach, gap - wide, gap + wide


def regret_interval(mean, covariance, chosen, n, level):
    """Return how far the highest of several means is above a chosen one, low and high, where other deals have chosen it.

    All differences to the chosen one lie in their band at the same time, so the largest does.

    Parameters
    ----------
    mean, covariance : float arrays (k,), (k, k)
        Of the same `n` deals.
    """
    gap, _, _, _, low, high = change_intervals(mean, covariance, chosen, n, level)
    return gap.max(), low.max(), high.max()
