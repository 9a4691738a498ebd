"""Rankings: every moment against raw rows, Pig against exact win rates, and what does not matter (order, workers, folders)."""

import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from analysis import ranking
from analysis.metagame import PayoffTable
from analysis.ranking import rank, text
from analysis.ratings import POINTS, bradley_terry
from sims import InputError, exact
from sims.jit import INTERPRETED
from sims.playouts import SHARE
from sims.results import Matchup, reduce_rows, results_table
from sims.rulesets import RULESETS
from sims.rulesets.pig.rules import HOLD, ROLL

PIG = RULESETS["pig"]
NAMES = ("hold_at:20", "hold_at:25", "uniform")
TABLES = ("win_rates", "pairs", "ratings", "metagame", "cycles")


def made_up(specs, deals, chance, generator, seed=0, ties=0.1, unfinished=0.1):
    """Return raw rows (deals, rotations, seats, measures) of games won by chance, some tied or unfinished, and their results."""
    matchup = Matchup(PIG, "standard", tuple(specs), seed)
    rows = np.zeros((deals, matchup.rotations, len(specs), len(matchup.measures)), np.int32)
    payoff, truncated = (matchup.measures.index(name) for name in ("payoff", "truncated"))
    for d, r in itertools.product(range(deals), range(matchup.rotations)):
        seated = [specs[(seat + r) % len(specs)] for seat in range(len(specs))]
        end = generator.random()
        if end < unfinished:
            rows[d, r, :, truncated] = 1
        elif end < unfinished + ties:
            rows[d, r, :2, payoff] = SHARE // 2
        else:
            rows[d, r, generator.choice(len(specs), p=chance(seated)), payoff] = SHARE
    return rows, results_table(matchup, reduce_rows(matchup, rows))


def evenly(seated):
    return np.arange(1, len(seated) + 1) / sum(range(1, len(seated) + 1))


# --- seatings -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_every_order_of_the_seats_is_played_as_often(seats):
    """The rotations of the tables of a profile, each as often as it has rotations, are all ways to seat it, once each."""
    seatings = list(ranking._seatings(3, seats))
    seated = Counter()
    for each in seatings:
        rotations = Matchup(PIG, "", tuple(map(str, each.table)), 0).rotations
        seated.update(each.table[r:] + each.table[:r] for r in range(rotations))
        assert each.table.count(each.one) == each.held
    assert set(seated.values()) == {1}
    assert set(seated) == {table for table in itertools.product(range(3), repeat=seats) if len(set(table)) <= 2}
    kinds = [key for key, _ in itertools.groupby(seatings, ranking._kind)]
    assert len(kinds) == len(set(kinds))  # those of a profile follow each other


# --- moments --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [(0, 1), (0, 1, 1), (0, 0, 1), (0, 0, 1, 1), (0, 1, 0, 1), (0, 1, 1, 1, 1)])
def test_moments_of_two_policies_are_those_of_raw_rows(table):
    deals, k, held = 40, len(table), table.count(0)
    specs = [NAMES[p] for p in table]
    rows, results = made_up(specs, deals, evenly, np.random.default_rng(k))
    profile = ranking._profile(ranking.Seating(0, 1, held, table), results, NAMES)
    payoff = rows[..., 0] / SHARE
    assert Matchup(PIG, "", tuple(specs), 0).measures[0] == "payoff"
    owner = np.array([[table[(seat + r) % k] for seat in range(k)] for r in range(profile.weight)])
    won = np.stack([np.array([game[owner == p].mean() for game in payoff]) for p in (0, 1)])
    np.testing.assert_allclose(profile.payoffs, won.mean(axis=1))
    np.testing.assert_allclose(profile.covariance, np.cov(won) / deals, atol=1e-15)
    finished = payoff.sum(axis=2)
    if k == 2:
        share = [payoff[:, 0, 0] + (1 - finished[:, 0]) / 2, payoff[:, 1, 1] + (1 - finished[:, 1]) / 2]
        np.testing.assert_allclose(profile.errors, np.cov(share) / deals, atol=1e-15)
    else:
        share = [held * won[0] + held / k * (1 - finished.mean(axis=1))]
        np.testing.assert_allclose(profile.errors, [[np.var(share, ddof=1) / deals]])
    np.testing.assert_allclose(profile.shares, np.mean(share, axis=1))
    assert (profile.deals, profile.weight) == (deals, len(owner))


@pytest.mark.parametrize("seats", [2, 3])
def test_moments_of_a_policy_by_itself(seats):
    rows, results = made_up([NAMES[0]] * seats, 30, evenly, np.random.default_rng(1))
    profile = ranking._profile(ranking.Seating(0, 0, seats, (0,) * seats), results, NAMES)
    payoff = rows[:, 0, :, 0] / SHARE
    np.testing.assert_allclose(profile.payoffs, [payoff.sum(axis=1).mean() / seats] * 2)
    np.testing.assert_allclose(profile.covariance, np.full((2, 2), payoff.mean(axis=1).var(ddof=1) / 30))
    if seats == 2:
        share = payoff[:, 0] + (1 - payoff.sum(axis=1)) / 2
        assert (profile.shares[0], profile.errors[0, 0]) == pytest.approx((share.mean(), share.var(ddof=1) / 30))


# --- simultaneous intervals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3])
def test_equal_policies_are_called_different_as_seldom_as_the_level_says(seats):
    """Six pairs of equals: one verdict or more in 20 of 100 rankings, where single intervals would err in 74."""
    generator, runs, n, sd, level = np.random.default_rng(seats), 200, 400, 0.3, 0.8
    profiles = [(i, j, held) for i, j in itertools.combinations(range(4), 2) for held in range(1, seats)]
    one, two, held = np.array(profiles).T
    covariance, wrong = np.array([np.outer([1, -1], [1, -1]) * sd**2 / n] * len(profiles)), 0
    for _ in range(runs):
        noise = generator.normal(0, sd / math.sqrt(n), len(profiles))
        payoffs = 1 / seats + np.stack([noise, -noise], axis=1)
        table = PayoffTable(tuple("abcd"), seats, one, two, held, payoffs, covariance, np.full(len(profiles), n))
        margin = ranking.margins(table.array(payoffs))
        wrong += (ranking._pairs(table, margin, range(4), level).verdict != "open").any()
    assert abs(wrong / runs - (1 - level)) < 5 * math.sqrt(level * (1 - level) / runs)


# --- whole rankings -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def rock_paper_scissors(monkeypatch):
    """Results of policies that beat each other in turn, 0.7 to 0.3, and all beat the last one always."""
    order = ["hold_at:10", "hold_at:20", "hold_at:30"]

    def chance(seated):
        one, two = seated
        if "uniform" in seated:
            return (
                [1 - 0.5 * (two != "uniform"), 0.5 * (two != "uniform")] if one == two else [one != "uniform", two != "uniform"]
            )
        return [[0.5, 0.5], [0.7, 0.3], [0.3, 0.7]][(order.index(two) - order.index(one)) % 3]

    def play(matchup, folder, n_jobs):
        specs = [policy.spec for policy in matchup.specs]
        return made_up(specs, 150, chance, np.random.default_rng(matchup.seed), matchup.seed, ties=0, unfinished=0)[1]

    monkeypatch.setattr(ranking, "run_matchup", play)
    return [*order, "uniform"]


def test_rock_paper_scissors(rock_paper_scissors):
    found = rank("pig", rock_paper_scissors, games=300)
    (cycle,) = found.cycles.itertuples()
    assert (cycle.first, cycle.second, cycle.third, cycle.verdict) == ("hold_at:10", "hold_at:20", "hold_at:30", "certain")
    assert cycle.margin == found.pairs[found.pairs.opponent != "uniform"].estimate.abs().min()
    mass = found.metagame.set_index(["quantity", "policy"])
    for quantity in ("maximal_lottery", "alpha_rank"):
        assert mass.loc[quantity].estimate.sum() == pytest.approx(1)
        assert mass.loc[quantity, "uniform"].estimate == 0
    for policy in rock_paper_scissors[:3]:
        row = mass.loc["maximal_lottery", policy]
        assert row.low < 1 / 3 < row.high
    tiers = found.ratings.set_index("policy").tier
    assert [tiers[policy] for policy in rock_paper_scissors] == [1, 1, 1, 2]
    assert f"cycles: each better than the next, by estimate\n{' > '.join([*cycle[1:4], cycle[1]])}" in text(found)


def test_who_never_won_has_a_finite_rating_and_an_interval(rock_paper_scissors):
    found = rank("pig", ["hold_at:20", "uniform"], games=300)
    low = found.ratings[found.ratings.policy == "uniform"].iloc[0]
    assert np.isfinite(low.estimate)
    assert low.low < low.estimate < low.high < 0
    lost, won = found.win_rates.sort_values("estimate").itertuples()
    assert (lost.policy, lost.estimate, lost.low, won.estimate, won.high) == ("uniform", 0, 0, 1, 1)
    assert lost.high == pytest.approx(1 - won.low)
    assert 0 < lost.high < 0.06
    assert {lost.method, won.method} == {"wilson-sidak"}
    (pair,) = found.pairs.itertuples()
    assert (pair.estimate, pair.high, pair.verdict) == (1, 1, "better")
    assert 0.95 < pair.low < 1


SMALL = "standard,goal=30"
POLICIES = ["hold_at:25", "hold_at:10", "hold_at:20"]


def values(found):
    return [getattr(found, name) for name in TABLES]


def ratings_without_noise(policies, first):
    """Return the ratings that exact win rates would give, by policy, and what sitting first is worth."""
    pairs = list(itertools.permutations(range(len(policies)), 2))
    one, two = np.array([*pairs, *((i, i) for i in range(len(policies)))]).T
    share = [first[policies[i], policies[j]] for i, j in zip(one, two, strict=True)]
    games = np.where(one == two, 2.0, 1)  # a policy with itself has no second rotation, and plays as many games
    strengths, worth, _ = bradley_terry(one, two, np.ones(len(one)), share, 1e4 * games)
    return {**dict(zip(policies, POINTS * strengths, strict=True)), "first_seat": POINTS * worth}


@pytest.mark.skipif(INTERPRETED, reason="thousands of games")
def test_pig_against_exact_win_rates():
    found = rank("pig", POLICIES, 20_000, seed=3, variant=SMALL, n_jobs=2)
    assert (found.head["games"], found.head["truncated"]) == (6 * 20_000, 0)
    first = {}
    for one, two in itertools.product(POLICIES, repeat=2):
        first[one, two] = exact.evaluate("pig", [one, two], SMALL)[0]
    for row in found.win_rates.itertuples():
        truth = (first[row.policy, row.opponent] + 1 - first[row.opponent, row.policy]) / 2
        assert abs(row.estimate - truth) < 5 * row.stderr
    for row in found.pairs.itertuples():
        assert row.verdict == "better"
        assert first[row.policy, row.opponent] > first[row.opponent, row.policy]
    fitted = ratings_without_noise(POLICIES, first)
    for row in found.ratings[found.ratings.quantity != "misfit"].itertuples():
        name = row.policy if row.quantity == "rating" else row.quantity
        assert abs(row.estimate - fitted[name]) < 5 * row.stderr
    assert found.ratings.iloc[-2].quantity == "first_seat"
    assert found.ratings.iloc[-2].low > 0
    assert found.metagame[found.metagame.quantity == "maximal_lottery"].estimate.tolist() == [1, 0, 0]


@pytest.mark.skipif(INTERPRETED, reason="thousands of games")
def test_three_seats_against_exact_win_rates():
    pair = ["hold_at:4", "hold_at:2"]
    found = rank("pig", pair, 9_000, seats=3, seed=4, variant="standard,goal=6", n_jobs=2)
    for row in found.win_rates.itertuples():
        table = [row.policy] * row.held + [row.opponent] * (3 - row.held)
        truth = 0
        for seated in {tuple(table[r:] + table[:r]) for r in range(3)}:
            wins = exact.evaluate("pig", seated, "standard,goal=6")
            truth += wins[[policy == row.policy for policy in seated]].mean() / 3
        assert abs(row.estimate - truth) < 5 * row.stderr
    margin = found.pairs.iloc[0]
    rates = found.win_rates.groupby("policy").estimate.mean()
    assert margin.estimate == pytest.approx(rates[margin.policy] - rates[margin.opponent])


def test_order_workers_and_folder_do_not_matter(tmp_path, monkeypatch):
    few = {"games": 40, "seed": 5, "variant": SMALL}
    found = rank("pig", POLICIES, n_jobs=1, **few)
    others = [rank("pig", POLICIES[::-1], n_jobs=2, out=tmp_path, **few)]
    monkeypatch.setattr("sims.study.simulate", None)  # all of it is in the folder: nothing can be played
    others.append(rank("pig", POLICIES, out=tmp_path, **few))
    for other in others:
        for one, two in zip(values(found), values(other), strict=True):
            pd.testing.assert_frame_equal(one, two)


def test_a_pair_does_not_depend_on_who_else_is_ranked():
    few = {"games": 40, "seed": 5, "variant": SMALL, "n_jobs": 1}
    small, large = rank("pig", POLICIES[:2], **few), rank("pig", POLICIES, **few)
    pick = ["policy", "opponent", "estimate", "stderr"]
    both = small.win_rates[pick].merge(large.win_rates[pick], on=pick)
    assert len(both) == len(small.win_rates) == 2


def test_a_function_of_ones_own_is_ranked_too():
    def bold(view, actions, n, params, rng):
        return HOLD if view.pot >= 5 else ROLL

    found = rank("pig", [bold, "hold_at:20"], games=20, variant="standard,goal=10", n_jobs=1)
    assert {"bold", "hold_at:20"} == set(found.ratings.policy.dropna())


def test_the_table_of_win_rates():
    found = rank("pig", POLICIES, games=40, variant=SMALL, n_jobs=1)
    matrix, half = found.matrix(), found.half_widths()
    assert list(matrix.index) == list(matrix.columns) == list(found.ratings.policy.dropna())
    np.testing.assert_allclose(matrix + matrix.T, np.where(np.eye(3), np.nan, 1))
    for row in found.win_rates.itertuples():
        assert matrix.loc[row.policy, row.opponent] == row.estimate
        assert half.loc[row.policy, row.opponent] == max(row.high - row.estimate, row.estimate - row.low)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"policies": ["hold_at:20"]}, "needs 2 to 30 policies, not 1"),
        ({"policies": ["hold_at:20", "hold_at"]}, "hold_at:20 is there twice"),
        ({"policies": "hold_at"}, "must be a list"),
        ({"policies": [f"hold_at:{p}" for p in range(31)]}, "not 31"),
        ({"policies": ["hold_it", "hold_at"]}, "did you mean hold_at"),
        ({"seats": 1}, "seats must be a whole number from 2"),
        ({"seats": 11}, "2 to 10 seats, not 11"),
        ({"games": 3}, "games must be a whole number from 4"),
        ({"seed": -1}, "seed must be"),
        ({"level": 1}, "level must be"),
        ({"variant": "plain"}, "unknown variant"),
    ],
)
def test_bad_input(change, words):
    with pytest.raises(InputError, match=words):
        rank(**{"ruleset": "pig", "policies": ["hold_at:20", "uniform"], "games": 4, **change})
