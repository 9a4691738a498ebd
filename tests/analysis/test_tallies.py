"""Counts of raw rows against pandas on the whole of them, and mean payoffs against SciPy on single games."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.tallies import count_rows, shares, tally
from sims import simulate
from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.simulate import BATCH

GAMES = 40 if INTERPRETED else BATCH + 200  # two files
PAIR = ["hold_at:20", "hold_at:25"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    simulate("pig", PAIR, GAMES, 3, rows=folder, progress=False)
    files = sorted(folder.glob("*.parquet"))
    assert len(files) > 1 or INTERPRETED
    return folder, pd.concat([pd.read_parquet(path) for path in files])


def test_counts_are_those_of_all_rows_at_once(rows):
    folder, table = rows
    by = ["policy", "seat", "payoff", "turns"]
    expected = table.groupby(by).size().rename("n").reset_index()
    pd.testing.assert_frame_equal(count_rows(folder, by), expected, check_dtype=False)
    assert count_rows(folder, ["seat"]).n.tolist() == [len(table) / 2] * 2


def test_a_lead_is_over_the_other_seat(rows):
    folder, table = rows
    other = table.assign(seat=1 - table.seat)[["deal", "rotation", "seat", "score"]]
    both = table.merge(other, on=["deal", "rotation", "seat"], suffixes=("", "_of_other"))
    expected = both.assign(lead_score=both.score - both.score_of_other).groupby(["seat", "lead_score"]).size()
    counts = count_rows(folder, ["seat", "lead_score"]).set_index(["seat", "lead_score"]).n
    assert counts.to_dict() == expected.to_dict()


def test_a_tally_plays_and_leaves_nothing_behind(rows, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    results, counts = tally("pig", PAIR, ["seat", "payoff"], GAMES, 3)
    pd.testing.assert_frame_equal(results, simulate("pig", PAIR, GAMES, 3, progress=False))
    pd.testing.assert_frame_equal(counts, count_rows(rows[0], ["seat", "payoff"]))
    assert not list(tmp_path.iterdir())


def test_leads_are_for_two():
    with pytest.raises(InputError, match="lead_score is for games of two seats, not 3"):
        tally("pig", ["hold_at:20"] * 3, ["lead_score"], 5, 1)


def test_shares_are_means_with_students_interval():
    counts = pd.DataFrame({"x": [1, 1, 1, 2, 2], "payoff": [1, 0, 0.5, 0, 1], "n": [5, 3, 2, 1, 9]})
    table = shares(counts, ["x"])
    for row, payoffs in zip(table.itertuples(), ([1] * 5 + [0] * 3 + [0.5] * 2, [0] + [1] * 9), strict=True):
        low, high = stats.t.interval(0.95, 9, np.mean(payoffs), stats.sem(payoffs))
        numbers = (row.estimate, row.stderr, row.low, row.high)
        assert numbers == pytest.approx((np.mean(payoffs), stats.sem(payoffs), max(0, low), min(1, high)))
        assert (row.n, row.level, row.method) == (10, 0.95, "student")
    assert shares(counts).estimate.tolist() == [0.75]


def test_what_always_won_has_wilsons_interval():
    row = shares(pd.DataFrame({"payoff": [1.0], "n": [20]})).iloc[0]
    wilson = stats.binomtest(20, 20).proportion_ci(method="wilson")
    assert (row.estimate, row.low, row.high, row.method) == (1, pytest.approx(wilson.low), 1, "wilson")
