"""Estimates against the same numbers computed naively from raw rows; intervals against SciPy and by their coverage."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.estimates import estimates, seat_advantage, turn_ends, win_rate_matrix, win_rates
from analysis.intervals import mean_interval, ratio_interval, wilson_interval
from sims.jit import INTERPRETED
from sims.simulate import simulate

GAMES = 40 if INTERPRETED else 2000


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    results = simulate("dice-fever", ["hold_dice:3,cards=asap", "race:2"], GAMES, 3, rows=folder)
    return results, pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])


def test_win_rate_per_policy_has_the_deal_as_unit(played):
    results, rows = played
    table = win_rates(results)
    for policy, games in rows.groupby("policy"):
        per_deal = games.groupby("deal").payoff.mean()
        row = table[(table.policy == policy) & table.seat.isna()].iloc[0]
        low, high = stats.t.interval(0.95, len(per_deal) - 1, per_deal.mean(), stats.sem(per_deal))
        assert (row.n, row.estimate, row.low, row.high) == pytest.approx((len(per_deal), per_deal.mean(), low, high))


def test_win_rate_per_seat(played):
    results, rows = played
    table = win_rates(results).dropna(subset="seat")
    for row in table.itertuples():
        games = rows[(rows.policy == row.policy) & (rows.seat == row.seat)]
        assert row.estimate == pytest.approx(games.payoff.mean())
        assert row.stderr == pytest.approx(stats.sem(games.payoff))


def test_seat_advantages_sum_to_zero(played):
    assert seat_advantage(played[0]).estimate.sum() == pytest.approx(0)


def test_turn_ends_are_ratios_of_the_rows(played):
    results, rows = played
    for row in turn_ends(results).query("quantity == 'out_share'").itertuples():
        games = rows[rows.policy == row.policy]
        deals = games.groupby("deal")[["outs", "turns"]].sum()
        ratio = deals.outs.sum() / deals.turns.sum()
        residual = deals.outs - ratio * deals.turns
        stderr = residual.std(ddof=0) / deals.turns.mean() / np.sqrt(len(deals) - 1)
        assert (row.estimate, row.stderr) == pytest.approx((ratio, stderr))


def test_every_estimate_has_n_interval_and_seed(played):
    table = estimates(played[0])
    assert table[["n", "estimate", "stderr", "low", "high", "level", "method", "seed"]].notna().all().all()
    assert (table.low <= table.estimate).all()
    assert (table.estimate <= table.high).all()


def test_share_without_spread_has_a_wilson_interval(played):
    row = estimates(played[0]).query("quantity == 'truncated_share'").iloc[0]
    assert (row.estimate, row.low, row.method) == (0, 0, "wilson")
    assert row.high == pytest.approx(stats.binomtest(0, int(row.n)).proportion_ci(method="wilson").high)


def test_win_rate_matrix_is_antisymmetric(played):
    results = pd.concat([played[0], simulate("dice-fever", ["race:2", "race:2"], 20, 1)])
    matrix = win_rate_matrix(win_rates(results))
    assert matrix.loc["race:2", "race:2"] == 0.5
    assert matrix.iloc[0, 1] + matrix.iloc[1, 0] == pytest.approx(1)


def test_intervals_cover_as_often_as_they_say():
    rng, runs, n = np.random.default_rng(5), 4000, 50
    x = rng.binomial(2, 0.4, (runs, n)).astype(float)
    _, _, low, high = mean_interval(x.sum(1), (x**2).sum(1), n, 2, 0.95)
    assert abs(((low <= 0.4) & (high >= 0.4)).mean() - 0.95) < 5 * np.sqrt(0.95 * 0.05 / runs)
    t = rng.integers(5, 15, (runs, 400)).astype(float)
    y = rng.binomial(t.astype(int), 0.3).astype(float)
    _, _, low, high = ratio_interval(y.sum(1), (y * y).sum(1), t.sum(1), (t * t).sum(1), (y * t).sum(1), 400, 0.95)
    assert abs(((low <= 0.3) & (high >= 0.3)).mean() - 0.95) < 5 * np.sqrt(0.95 * 0.05 / runs)


def test_wilson_is_scipys():
    low, high = wilson_interval([0.0, 1.0], [10, 20], 0.9)
    assert low[1] == pytest.approx(stats.binomtest(20, 20).proportion_ci(0.9, "wilson").low)
    assert high[0] == pytest.approx(stats.binomtest(0, 10).proportion_ci(0.9, "wilson").high)
