"""The game of choosing a policy: published values, and the slow and obvious ways beside the quick ones."""

import itertools
import math

import numpy as np
import pytest

from analysis.metagame import (
    PayoffTable,
    alpha_rank,
    cycles,
    log_fixation,
    margins,
    matrix_payoffs,
    maximal_lottery,
    metagame,
    stationary,
    tiers,
)

ROCK_PAPER_SCISSORS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])


def antisymmetric(generator, n):
    matrix = generator.normal(size=(n, n))
    return matrix - matrix.T


# --- alpha-rank -----------------------------------------------------------------------------------------------------------------


def test_published_stationary_distribution():
    """Commitment in the prisoner's dilemma (Han et al., Scientific Reports 3, 2695, 2013), the reference case of OpenSpiel."""
    reward, temptation, punishment, sucker, compensation, cost = 1, 2, 0, -1, 4, 0.25
    r, t, p, s = reward, temptation, punishment, sucker
    payoffs = [
        [r - cost / 2, r - cost, 0, s + compensation - cost, r - cost],
        [r, r, s, s, s],
        [0, t, p, p, p],
        [t - compensation, t, p, p, p],
        [r, t, p, p, p],
    ]
    expected = [0.40966787, 0.07959841, 0.20506998, 0.08505983, 0.2206039]
    assert alpha_rank(matrix_payoffs(payoffs), alpha=0.1, population=20) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("alpha", [0.01, 1, 100])
def test_nobody_survives_rock_paper_scissors_longer(alpha):
    assert alpha_rank(matrix_payoffs(ROCK_PAPER_SCISSORS), alpha) == pytest.approx(np.full(3, 1 / 3))


def test_a_constant_sum_game_has_the_closed_form():
    """Omidshafiei et al., equation 12: (1 - e^-u) / (1 - e^-mu), u = alpha m / (m - 1) (payoff - half of the sum)."""
    generator, alpha, m = np.random.default_rng(1), 0.8, 20
    payoff = 0.5 + antisymmetric(generator, 4) / 9
    u = alpha * m / (m - 1) * (payoff.T - 0.5)
    with np.errstate(invalid="ignore"):
        expected = np.where(np.eye(4, dtype=bool), 1 / m, (1 - np.exp(-u)) / (1 - np.exp(-m * u)))
    np.testing.assert_allclose(np.exp(log_fixation(matrix_payoffs(payoff), alpha, m)), expected)


def fixation_by_hand(payoffs, i, j, alpha, m):
    """Chance that one mutant j takes over m - 1 of policy i: the states of the population written out, all groups dealt out."""
    k = payoffs.shape[-1]

    def earned(kind, other, n_kind):
        """Mean over the groups of k - 1 that one of the n_kind may meet."""
        others = ["same"] * (n_kind - 1) + ["other"] * (m - n_kind)
        groups = list(itertools.combinations(others, k - 1))
        return sum(payoffs[kind, other, group.count("same")] for group in groups) / len(groups)

    chain = np.zeros((m + 1, m + 1))
    chain[0, 0] = chain[m, m] = 1
    for mutants in range(1, m):
        difference = earned(j, i, mutants) - earned(i, j, m - mutants)
        meet = mutants / m * (m - mutants) / (m - 1)
        chain[mutants, mutants + 1] = meet / (1 + math.exp(-alpha * difference))
        chain[mutants, mutants - 1] = meet / (1 + math.exp(alpha * difference))
        chain[mutants, mutants] = 1 - chain[mutants].sum()
    inside = np.eye(m - 1) - chain[1:m, 1:m]
    return np.linalg.solve(inside, chain[1:m, m])[0]


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_alpha_rank_is_the_eigenvector_of_the_chain_of_populations(seats):
    generator, n, alpha, m = np.random.default_rng(seats), 4, 3.0, 8
    payoffs = generator.random((n, n, seats))
    payoffs[..., -1] = payoffs[range(n), range(n), -1][:, None]
    chain = np.array([[fixation_by_hand(payoffs, i, j, alpha, m) / (n - 1) if i != j else 0 for j in range(n)] for i in range(n)])
    chain += np.diag(1 - chain.sum(axis=1))
    values, vectors = np.linalg.eig(chain.T)
    expected = np.real(vectors[:, np.argmax(np.real(values))])
    np.testing.assert_allclose(alpha_rank(payoffs, alpha, m), expected / expected.sum(), rtol=1e-8)


def test_rates_too_small_for_floats():
    """Both policies resist all mutants, one of them e^10 times as well: no float holds e^-5000."""
    log_rates = np.array([[0, -5000.0], [-5010, 0]])
    assert stationary(log_rates) == pytest.approx([1 / (1 + math.exp(10)), 1 / (1 + math.exp(-10))])
    many = np.random.default_rng(3).normal(0, 2, (5, 6, 6))
    for each, found in zip(many, stationary(many), strict=True):
        chain = np.exp(each) / 1e4
        np.fill_diagonal(chain, 0)
        chain += np.diag(1 - chain.sum(axis=1))
        np.testing.assert_allclose(found @ chain, found, rtol=1e-9)


# --- the maximal lottery --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "margin, expected",
    [
        (ROCK_PAPER_SCISSORS, [1 / 3, 1 / 3, 1 / 3]),
        ([[0, 2, -3], [-2, 0, 5], [3, -5, 0]], [0.5, 0.3, 0.2]),  # each has the margin of the other two over each other
        ([[0, 0.1, 0.1], [-0.1, 0, 9], [-0.1, -9, 0]], [1, 0, 0]),  # who beats all others is chosen
        (np.zeros((4, 4)), [0.25] * 4),
        ([[0, 0, 1], [0, 0, 2], [-1, -2, 0]], [0.5, 0.5, 0]),
        # A copy of rock shares rock's mass and changes nothing else (Balduzzi et al., property P1, invariance).
        ([[0, 0, -1, 1], [0, 0, -1, 1], [1, 1, 0, -1], [-1, -1, 1, 0]], [1 / 6, 1 / 6, 1 / 3, 1 / 3]),
        ([[0]], [1]),
    ],
)
def test_known_lotteries(margin, expected):
    assert maximal_lottery(margin) == pytest.approx(expected, abs=1e-6)


def test_nothing_beats_a_maximal_lottery():
    generator = np.random.default_rng(4)
    for n in (2, 3, 5, 9):
        for _ in range(20):
            margin = antisymmetric(generator, n)
            masses = maximal_lottery(margin)
            assert masses.sum() == pytest.approx(1)
            assert masses.min() >= 0
            assert (margin @ masses).max() < 1e-9
            assert np.count_nonzero(masses) % 2 == 1  # the only one, as margins are in general position


def test_of_several_lotteries_that_of_most_entropy():
    """With margins x y' - y x' the lotteries are all mixtures orthogonal to x and y: here a segment, searched point by point."""
    x, y = np.array([1.0, -1, 2, -2]), np.array([1.0, 2, -1, -1.5])
    ends = [np.linalg.solve([x, y, np.ones(4), np.eye(4)[zero]], [0, 0, 1, 0]) for zero in range(4)]
    first, last = [end for end in ends if end.min() > -1e-12]
    points = first + np.linspace(0, 1, 100_001)[1:-1, None] * (last - first)
    best = points[np.argmax(-np.sum(points * np.log(points), axis=1))]
    masses = maximal_lottery(np.outer(x, y) - np.outer(y, x))
    np.testing.assert_allclose(masses, best, atol=1e-4)
    assert 0.01 < np.abs(masses - first).max() < 0.99 * np.abs(last - first).max()  # at neither end


# --- cycles ---------------------------------------------------------------------------------------------------------------------


def test_cycles_and_tiers_of_rock_paper_scissors_over_a_fourth():
    margin = np.pad(ROCK_PAPER_SCISSORS, (1, 1))
    margin[0, 1:], margin[1:, 0] = -1, 1  # the first loses to all of them
    margin[4, :4], margin[:4, 4] = 2, -2  # and the last beats everybody
    assert cycles(margin).tolist() == [[1, 3, 2]]  # rock, scissors, paper
    assert tiers(margin).tolist() == [3, 2, 2, 2, 1]
    assert cycles(np.zeros((3, 3))).shape == (0, 3)
    assert tiers(np.zeros((3, 3))).tolist() == [1, 1, 1]


def test_tiers_are_who_can_reach_whom():
    generator = np.random.default_rng(9)
    for _ in range(50):
        margin = antisymmetric(generator, 6) + np.triu(np.full((6, 6), 0.8)) - np.tril(np.full((6, 6), 0.8))
        reach = margin >= 0
        for middle in range(6):
            reach |= reach[:, [middle]] & reach[[middle]]
        tier = tiers(margin)
        for i, j in itertools.product(range(6), repeat=2):
            assert (tier[i] == tier[j]) == (reach[i, j] and reach[j, i])
            assert tier[i] <= tier[j] or margin[i, j] < 0


# --- tables with noise ----------------------------------------------------------------------------------------------------------


def payoff_table(seats, generator, scale=1e-3):
    profiles = [(i, i, seats) for i in range(3)]
    profiles += [(i, j, held) for i, j in itertools.combinations(range(3), 2) for held in range(1, seats)]
    one, two, held = np.array(profiles).T
    factor = generator.normal(size=(len(profiles), 2, 2)) * scale
    payoffs = generator.uniform(0.2, 0.6, (len(profiles), 2))
    payoffs[:3, 1] = payoffs[:3, 0]
    deals = np.full(len(profiles), 100)
    return PayoffTable(("a", "b", "c"), seats, one, two, held, payoffs, factor @ factor.swapaxes(1, 2), deals)


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_the_array_has_every_payoff_where_it_belongs(seats):
    table = payoff_table(seats, np.random.default_rng(seats))
    array = table.array(table.payoffs)
    for one, two, held, payoffs in zip(table.one, table.two, table.held, table.payoffs, strict=True):
        if one == two:
            assert np.all(array[one, :, seats - 1] == payoffs[0])
        else:
            assert array[one, two, held - 1] == payoffs[0]
            assert array[two, one, seats - held - 1] == payoffs[1]
    together = table.array(np.stack([table.payoffs, table.payoffs / 2]))
    np.testing.assert_array_equal(together, [array, array / 2])
    margin = margins(array)
    np.testing.assert_allclose(margin, -margin.T)
    if seats == 2:
        np.testing.assert_allclose(margin, array[..., 0] - array[..., 0].T)


def test_draws_have_the_covariance_of_the_payoffs():
    table, n = payoff_table(3, np.random.default_rng(8)), 20_000
    drawn = table.draws(n, 1)
    error = np.sqrt(np.einsum("pii->pi", table.covariance))
    assert np.all(np.abs(drawn.mean(axis=0) - table.payoffs) < 5 * error / math.sqrt(n))
    for p in range(len(table.one)):
        bound = 5 * np.sqrt((table.covariance[p] ** 2 + np.outer(error[p], error[p]) ** 2) / n)
        assert np.all(np.abs(np.cov(drawn[:, p].T) - table.covariance[p]) < bound)


def test_the_bootstrap_of_a_clear_winner_is_the_error_of_its_margins():
    """Where one policy beats all others, a Nash average is minus its margin, and its error is known."""
    matrix, errors = np.array([[0.5, 0.6, 0.7], [0.4, 0.5, 0.55], [0.3, 0.45, 0.5]]), [0.01, 0.02, 0.005]
    one, two = np.array([0, 0, 1, 0, 1, 2]), np.array([1, 2, 2, 0, 1, 2])
    payoffs = np.stack([matrix[one, two], matrix[two, one]], axis=1)
    covariance = np.array([np.outer([1, -1], [1, -1]) * error**2 for error in [*errors, 0, 0, 0]])
    held, deals, draws = np.array([1, 1, 1, 2, 2, 2]), np.full(6, 50), 2_000
    table = PayoffTable(("a", "b", "c"), 2, one, two, held, payoffs, covariance, deals)
    found = metagame(table, 0.95, seed=3, draws=draws).set_index(["quantity", "policy"])
    assert found.loc["maximal_lottery"].estimate.tolist() == [1, 0, 0]
    nash = found.loc["nash_average"]
    assert nash.estimate.tolist() == pytest.approx([0, -0.2, -0.4])
    for policy, error in zip("bc", errors[:2], strict=True):
        assert nash.stderr[policy] == pytest.approx(2 * error, rel=5 / math.sqrt(2 * draws))
        half = 1.96 * 2 * error
        assert nash.low[policy] == pytest.approx(nash.estimate[policy] - half, abs=0.25 * half)
    assert found.loc["alpha_rank"].estimate.sum() == pytest.approx(1)
    again = metagame(table, 0.95, seed=3, draws=draws).set_index(["quantity", "policy"])
    assert again.equals(found)
