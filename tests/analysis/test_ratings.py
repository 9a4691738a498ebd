"""Bradley-Terry: a published data set, an independent optimiser, its scale, and the coverage of its intervals."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special

from analysis.ratings import POINTS, bradley_terry, ratings

TEAMS = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
# A. Agresti, Categorical Data Analysis, 2nd edition, 2002, table 10.10 (American League, 1987): wins and losses at home.
AT_HOME = """
-   4,3 4,2 4,3 6,1 4,2 6,0
3,3 -   4,2 4,3 6,0 6,1 4,3
2,5 4,3 -   2,4 4,3 4,2 6,0
3,3 5,1 2,5 -   4,3 4,2 6,1
5,1 2,5 3,3 4,2 -   5,2 6,0
2,5 3,3 3,4 4,3 4,2 -   2,4
2,5 1,5 1,6 2,4 1,6 3,4 -
"""


def baseball():
    """Return home team, guest, share (1 or 0) and number of games, a row for wins and one for losses."""
    rows = []
    for home, line in enumerate(AT_HOME.split("\n")[1:-1]):
        for guest, cell in enumerate(line.split()):
            if cell != "-":
                won, lost = map(int, cell.split(","))
                rows += [(home, guest, 1.0, won), (home, guest, 0.0, lost)]
    return map(np.array, zip(*rows, strict=True))


def test_baseball_without_home_advantage():
    """Table 10.11, third column: strengths against Baltimore, with standard errors of about 0.3."""
    home, guest, share, n = baseball()
    strengths, first, covariance = bradley_terry(home, guest, np.zeros(len(home)), share, n)
    assert sorted((strengths - strengths[-1]).round(2))[1:] == [0.68, 1.11, 1.25, 1.29, 1.44, 1.58]
    assert (first, covariance[-1].any()) == (0, False)
    variance = np.diag(covariance)[:-2] + covariance[6, 6] - 2 * covariance[:-2, 6]
    assert np.all(np.sqrt(variance).round(1) == 0.3)
    assert strengths.sum() == pytest.approx(0, abs=1e-9)


def test_baseball_with_home_advantage():
    """Table 10.11, fifth column, and the advantage of 0.302 that the text gives."""
    home, guest, share, n = baseball()
    strengths, first, _ = bradley_terry(home, guest, np.ones(len(home)), share, n)
    assert first == pytest.approx(0.302, abs=0.0005)
    assert sorted(special.softmax(strengths).round(3)) == [0.044, 0.088, 0.137, 0.157, 0.164, 0.190, 0.220]


def test_luces_shares_against_an_independent_optimiser():
    """With c of k seats one of a policy's wins with chance c e^s / (c e^s + (k - c) e^t)."""
    generator = np.random.default_rng(2)
    one, two = np.triu_indices(5, 1)
    one, two, held = np.repeat(one, 3), np.repeat(two, 3), np.tile([1, 2, 3], 10)
    share, n = generator.uniform(0.1, 0.9, 30), generator.integers(10, 99, 30)

    def loss(free):
        worth = np.exp(np.append(free, -free.sum()))
        chance = held * worth[one] / (held * worth[one] + (4 - held) * worth[two])
        return -np.sum(n * (share * np.log(chance) + (1 - share) * np.log(1 - chance)))

    expected = optimize.minimize(
        loss, np.zeros(4), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 9999}
    ).x
    strengths, *_ = bradley_terry(one, two, np.zeros(30), share, n, np.log(held / (4 - held)))
    assert strengths[:4] == pytest.approx(expected, abs=1e-4)


def records(share, seat=0.0, n=100):
    """Two policies, one record."""
    return pd.DataFrame({"policy": ["b"], "opponent": ["a"], "seat": [seat], "share": [share], "offset": [0.0], "n": [n]})


def test_400_points_are_odds_of_ten_to_one():
    table = ratings(records(10 / 11), np.array([[0.01**2]]))
    assert list(table.policy.fillna("")) == ["b", "a", ""]
    assert list(table.quantity) == ["rating", "rating", "misfit"]
    assert table.estimate.tolist() == pytest.approx([200, -200, 0], abs=1e-3)
    # The delta method for one log odds; each of the two has half of it.
    assert table.stderr[0] == pytest.approx(POINTS * 0.01 / (10 / 121) / 2, rel=1e-5)
    assert table.high[0] - table.low[0] == pytest.approx(2 * 1.959964 * table.stderr[0], rel=1e-6)


def test_what_one_number_cannot_tell_is_said():
    names = [("a", "b"), ("b", "c"), ("a", "c")]
    cycle = pd.DataFrame(names, columns=["policy", "opponent"]).assign(seat=0.0, share=[0.7, 0.7, 0.3], offset=0.0, n=100)
    table = ratings(cycle, np.eye(3) * 1e-4).set_index("quantity")
    assert table.estimate["rating"].to_numpy() == pytest.approx(np.zeros(3), abs=1e-3)
    assert table.estimate["misfit"] == pytest.approx(0.2, abs=1e-5)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_coverage_with_deals_that_tie_both_seatings(level):
    """A deal's two games share their luck, which the covariance of the shares tells and single games would not."""
    generator, runs, n, first = np.random.default_rng(6), 150, 300, 0.2
    truth = np.array([0.5, 0.1, -0.6])
    one, two = map(np.array, ([0, 0, 0, 0, 1, 1], [1, 1, 2, 2, 2, 2]))
    seat = np.array([1.0, -1] * 3)
    chance = special.expit(truth[one] - truth[two] + seat * first)
    names = np.array(list("abc"))
    hits = np.zeros(4)
    for _ in range(runs):
        luck = np.repeat(generator.random((n, 3)), 2, axis=1)
        luck[:, 1::2] = np.where(generator.random((n, 3)) < 0.6, 1 - luck[:, 1::2], generator.random((n, 3)))
        won = (luck < chance).astype(float)
        covariance = np.cov(won.T) / n * np.kron(np.eye(3), np.ones((2, 2)))
        table = pd.DataFrame(
            {"policy": names[one], "opponent": names[two], "seat": seat, "share": won.mean(0), "offset": 0.0, "n": n}
        )
        found = ratings(table, covariance, level)
        found = found[found.quantity != "misfit"].sort_values("policy", na_position="last")
        hits += (found.low <= POINTS * np.append(truth, first)) & (POINTS * np.append(truth, first) <= found.high)
    assert np.all(np.abs(hits / runs - level) < 5 * math.sqrt(level * (1 - level) / runs))
