"""Estimates against the same numbers computed naively, with pandas, from the raw rows of the same games."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import estimates as module
from analysis.estimates import (
    COLUMNS,
    ROW,
    estimates,
    game_length,
    length_histogram,
    seat_advantage,
    turn_ends,
    win_rate_matrix,
    win_rates,
)
from analysis.tables import interval, records, text_table
from sims import simulate
from sims.jit import INTERPRETED

GAMES = 36 if INTERPRETED else 1_200
CASES = {
    "two": ("dice-fever", ["race:2,parade=asap,risk=asap", "hold_pot:12"], "standard"),
    "self": ("dice-fever", ["hold_dice:3,cards=asap"] * 2, "standard"),
    "three": ("dice-fever", ["race:2", "hold_pot:7", "race:2"], "standard"),
    "truncated": ("dice-fever", ["never_stop", "uniform"], "plain,ply_limit=60"),
    "pig": ("pig", ["hold_at:20", "uniform", "keep_pace:21"], "standard"),
}
COUNTS = {"points": "points_per_turn", "outs": "out_share", "stops": "stop_share", "fevers": "fever_share"}
COUNTS |= {"busts": "bust_share", "parried": "parries_per_turn"}


def play(ruleset, specs, variant="standard", games=GAMES, **options):
    return simulate(ruleset, specs, games, **{"seed": 5, "variant": variant, "n_jobs": 1, "progress": False, **options})


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    """Results and raw rows of the same run."""
    folder = tmp_path_factory.mktemp("rows")
    results = play(*CASES[request.param], rows=folder)
    return results, pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])


def one(table, quantity, policy=None, seat=None):
    """The only row of this quantity, policy and seat."""
    chosen = table[
        (table.quantity == quantity)
        & (table.policy.isna() if policy is None else table.policy == policy)
        & (table.seat.isna() if seat is None else table.seat == seat)
    ]
    assert len(chosen) == 1, (quantity, policy, seat)
    return chosen.iloc[0]


def agrees(row, deals, level=0.95, base=0.0, share=True):
    """Is the row the mean of these values, one per deal, with Student's interval?"""
    assert row.n == len(deals)
    assert row.estimate == pytest.approx(deals.mean() - base)
    assert row.stderr == pytest.approx(stats.sem(deals), abs=1e-9)
    if row.method == "wilson":
        assert deals.nunique() == 1
        return
    low, high = (
        stats.t.interval(level, len(deals) - 1, deals.mean(), stats.sem(deals)) if stats.sem(deals) else [deals.mean()] * 2
    )
    low, high = low - base, high - base
    if share:
        low, high = max(low, 0), min(high, 1)
    assert (row.low, row.high) == pytest.approx((low, high), abs=1e-9)


# --- against raw rows -----------------------------------------------------------------------------------------------------


def test_win_rates_are_means_over_deals(case):
    results, rows = case
    table = win_rates(results)
    for policy, of_policy in rows.groupby("policy"):
        agrees(one(table, "win_rate", policy), of_policy.groupby("deal").payoff.mean())
        for seat, of_cell in of_policy.groupby("seat"):
            agrees(one(table, "win_rate", policy, seat), of_cell.groupby("deal").payoff.mean())
    assert len(table) == rows.policy.nunique() + len(rows[["policy", "seat"]].drop_duplicates())


def test_seat_advantage_is_the_win_rate_over_the_fair_share(case):
    results, rows = case
    table = seat_advantage(results)
    seats = rows.seat.nunique()
    for seat, of_seat in rows.groupby("seat"):
        agrees(one(table, "seat_advantage", None, seat), of_seat.groupby("deal").payoff.mean(), base=1 / seats, share=False)
    assert len(table) == seats


def test_turn_ends_are_ratios_of_sums_over_deals(case):
    results, rows = case
    table = turn_ends(results)
    assert set(table.quantity) == {name for count, name in COUNTS.items() if count in rows}
    for policy, of_policy in rows.groupby("policy"):
        deals = of_policy.groupby("deal")[[*(count for count in COUNTS if count in rows), "turns"]].sum()
        n, turns = len(deals), deals.turns
        for count in deals.columns.drop("turns"):
            row = one(table, COUNTS[count], policy)
            ratio = deals[count].sum() / turns.sum()
            residuals = deals[count] - ratio * turns
            stderr = math.sqrt((residuals**2).sum() / (n - 1) / n) / turns.mean()
            assert (row.n, row.estimate) == (n, pytest.approx(ratio))
            assert row.stderr == pytest.approx(stderr, rel=1e-6, abs=1e-9)
            if row.method == "ratio":
                half = stats.t.ppf(0.975, n - 1) * stderr
                low, high = ratio - half, ratio + half
                if row.quantity.endswith("share"):
                    low, high = max(low, 0), min(high, 1)
                assert (row.low, row.high) == pytest.approx((low, high), rel=1e-6, abs=1e-9)


def test_game_length_counts_games_not_rows(case):
    results, rows = case
    table = game_length(results)
    games = rows.groupby(["deal", "rotation"]).agg(plies=("plies", "first"), truncated=("truncated", "first"))
    agrees(one(table, "plies"), games.groupby("deal").plies.mean(), share=False)
    agrees(one(table, "truncated_share"), games.groupby("deal").truncated.mean())
    agrees(one(table, "turns_per_seat"), rows.groupby("deal").turns.mean(), share=False)
    if "sudden_death" in rows:
        agrees(one(table, "sudden_death_share"), rows.groupby("deal").sudden_death.mean())
    assert results.truncated.iloc[0] == games.truncated.sum()


def test_the_histogram_counts_every_game(case):
    results, rows = case
    table = length_histogram(results)
    lengths = rows.groupby(["deal", "rotation"]).turns.sum().value_counts(normalize=True).sort_index()
    assert list(table.value) == list(lengths.index)
    assert list(table.share) == pytest.approx(list(lengths))
    assert table.share.sum() == pytest.approx(1)


def test_the_cases_say_something(case):
    """No agreement because everything is 0."""
    results, rows = case
    if results.variant.iloc[0].startswith("plain"):
        assert 0 < rows.truncated.mean() < 1 or rows.truncated.all()
    assert rows.turns.nunique() > 3
    assert (rows.points.sum() if "points" in rows else rows.busts.sum()) > 0
    if not INTERPRETED and results.matchup.iloc[0].startswith("race:2,"):
        assert min(rows[count].sum() for count in ("fevers", "parried", "sudden_death")) > 0


# --- what must add up -----------------------------------------------------------------------------------------------------


def test_somebody_wins_every_game_that_ends(case):
    results, rows = case
    ended = 1 - rows.truncated.mean()
    table = win_rates(results)
    seats = rows.seat.nunique()
    shares = rows.groupby("policy").size() / len(rows) * seats  # seats that a policy has in a game
    assert sum(one(table, "win_rate", policy).estimate * shares[policy] for policy in shares.index) == pytest.approx(ended)
    assert seat_advantage(results).estimate.sum() == pytest.approx(ended - 1)
    specs = results.matchup.iloc[0].split(" v ")
    if len(set(specs)) == len(specs):  # each policy plays each seat equally often
        for seat in range(seats):
            assert sum(one(table, "win_rate", policy, seat).estimate for policy in specs) == pytest.approx(
                seats * (one(seat_advantage(results), "seat_advantage", None, seat).estimate + 1 / seats)
            )


def test_every_turn_ends_in_one_way(case):
    results, rows = case
    if "stops" not in rows:
        pytest.skip("this game has no such ends")
    ends = ["outs", "stops", "fevers"]
    unfinished = (rows.turns - rows[ends].sum(axis=1)).groupby([rows.deal, rows.rotation]).sum()
    truncated = rows.groupby(["deal", "rotation"]).truncated.first()
    assert (unfinished[truncated == 0] == 0).all()
    assert (unfinished[truncated == 1] <= 1).all()
    table = turn_ends(results)
    for policy, of_policy in rows.groupby("policy"):
        total = sum(one(table, COUNTS[end], policy).estimate for end in ends)
        assert total == pytest.approx(of_policy[ends].to_numpy().sum() / of_policy.turns.sum())
        if not rows.truncated.any():
            assert total == pytest.approx(1)


def test_a_policy_against_itself_wins_half():
    row = one(win_rates(play("dice-fever", ["race:2"] * 2)), "win_rate", "race:2")
    assert (row.estimate, row.stderr, row.low, row.high) == (0.5, 0, 0.5, 0.5)


# --- no spread ------------------------------------------------------------------------------------------------------------


def test_a_share_without_spread_has_wilsons_interval():
    results = play("dice-fever", ["race:2", "hold_pot:7"], "plain,ply_limit=1", games=40)
    table = estimates(results)
    for quantity, share in (("truncated_share", 1), ("sudden_death_share", 0)):
        row = one(table, quantity)
        wilson = stats.binomtest(20 * share, 20).proportion_ci(method="wilson")
        assert (row.estimate, row.stderr, row.n, row.method) == (share, 0, 20, "wilson")
        assert (row.low, row.high) == pytest.approx((wilson.low, wilson.high))
    rates = table[table.quantity == "win_rate"]
    assert set(rates.method) == {"wilson"}
    assert (rates.high > 0.1).all()
    assert (rates.estimate == 0).all()
    assert one(table, "plies").method == "student"  # no share


def test_what_never_happened_has_no_interval_of_width_zero():
    table = estimates(play("dice-fever", ["hold_dice:3", "never_stop"], "standard,ply_limit=8", games=40))
    wilson = stats.binomtest(0, 20).proportion_ci(method="wilson")
    row = one(table, "parries_per_turn", "hold_dice:3")
    assert (row.estimate, row.low, row.high, row.method) == (0, 0, pytest.approx(wilson.high), "wilson")
    row = one(table, "points_per_turn", "never_stop:0")
    assert row.estimate == 0
    assert row[["stderr", "low", "high"]].isna().all()


def test_one_deal_gives_no_interval_but_no_nonsense():
    table = estimates(play("dice-fever", ["race:2", "hold_pot:7"], games=2))
    assert (table.n == 1).all()
    assert not np.isfinite(table[table.method == "student"].stderr).any()
    for row in records(table):
        assert all(value is None or not isinstance(value, float) or math.isfinite(value) for value in row.values())
    assert "nan" in text_table(table)


# --- tables ---------------------------------------------------------------------------------------------------------------


def test_every_row_says_where_it_comes_from(case):
    results, _ = case
    table = estimates(results)
    assert list(table.columns) == COLUMNS
    for key in ("ruleset", "version", "variant", "matchup", "seed", "games", "truncated"):
        assert table[key].unique().tolist() == [results[key].iloc[0]]
    assert (table.level == 0.95).all()
    assert set(table.method) <= {"student", "ratio", "wilson"}
    assert ((table.low <= table.estimate) & (table.estimate <= table.high)).all()
    assert table[["estimate", "stderr", "low", "high"]].notna().all(axis=None)
    assert not table.duplicated(["quantity", "policy", "seat"]).any()


def test_a_higher_level_is_a_wider_interval(case):
    results, _ = case
    narrow, wide = estimates(results, 0.5), estimates(results, 0.99)
    assert (wide.level == 0.99).all()
    assert (narrow.estimate == wide.estimate).all()
    assert ((wide.low <= narrow.low) & (wide.high >= narrow.high)).all()
    assert (wide.high - wide.low > narrow.high - narrow.low).sum() > len(narrow) / 2


def test_several_matchups_at_once_are_the_matchups_one_by_one():
    one_by_one = [play("dice-fever", specs, games=40) for specs in (["race:2", "hold_pot:7"], ["race:2", "race:2", "hold_pot:7"])]
    together = estimates(pd.concat(one_by_one, ignore_index=True))
    apart = pd.concat([estimates(each) for each in one_by_one])
    order = ["matchup", "quantity", "policy", "seat"]
    pd.testing.assert_frame_equal(
        together.sort_values(order).reset_index(drop=True), apart.sort_values(order).reset_index(drop=True)
    )


def test_the_matrix_is_antisymmetric_about_a_half():
    specs = ["race:2", "hold_pot:7", "hold_dice:3"]
    pairs = [(one, two) for i, one in enumerate(specs) for two in specs[i:]]
    rates = win_rates(pd.concat([play("dice-fever", pair, games=40) for pair in pairs], ignore_index=True))
    matrix = win_rate_matrix(rates)
    assert list(matrix.index) == list(matrix.columns) == specs
    np.testing.assert_allclose(matrix + matrix.T, 1, atol=1e-12)
    np.testing.assert_array_equal(np.diag(matrix), 0.5)
    direct = rates[(rates.matchup == "race:2 v hold_pot:7") & rates.seat.isna()].set_index("policy").estimate
    assert matrix.loc["race:2", "hold_pot:7"] == direct["race:2"]
    assert matrix.loc["hold_pot:7", "race:2"] == direct["hold_pot:7"]
    assert direct["race:2"] != 0.5


def test_a_pair_not_played_is_missing_in_the_matrix():
    matrix = win_rate_matrix(win_rates(play("pig", ["hold_at:20", "uniform"], games=20)))
    assert matrix.isna().to_numpy().tolist() == [[True, False], [False, True]]


def test_records_are_plain():
    rows = records(estimates(play("pig", ["hold_at:20", "uniform"], games=20)))
    assert all(list(row) == ROW for row in rows)
    assert {type(value) for row in rows for value in row.values()} <= {str, int, float, type(None)}
    assert {row["seat"] for row in rows if row["quantity"] == "win_rate"} == {None, 0, 1}
    assert [row["policy"] for row in rows if row["quantity"] == "plies"] == [None]


def test_the_text_table_has_every_row_and_says_all_for_all():
    table = estimates(play("pig", ["hold_at:20", "uniform"], games=20))
    lines = text_table(table).splitlines()
    assert len(lines) == 1 + len(table)
    assert lines[0].split() == ["quantity", "policy", "seat", "n", "estimate", "interval", "method"]
    assert lines[1].split()[:4] == ["win_rate", "hold_at:20", "all", "10"]
    assert interval(0.1234567, 2) == "[0.12346, 2]"


def test_no_results_no_rows():
    results = play("pig", ["hold_at:20", "uniform"], games=20)
    assert list(module._concat([turn_ends(results[results.measure == "payoff"])]).columns) == COLUMNS
