"""What chapters share, on small tables made by hand."""

from types import SimpleNamespace

import pandas as pd
import pytest
from scipy import stats

from analysis.chapters import parts
from analysis.estimates import fair_shares, of_first, win_rates
from sims import simulate


def test_labels():
    rows = pd.DataFrame(
        {
            "matchup": ["hold_at:20 v hold_at:25 v hold_at:25", "uniform v uniform"],
            "variant": ["standard,goal=50,first_player=first_seat,faces=4", "standard,first_player=first_seat"],
        }
    )
    found = parts.labelled(rows)
    assert found["first"].tolist() == ["hold_at:20", "uniform"]
    assert found.others.tolist() == ["hold_at:25", "uniform"]
    assert found.seats.tolist() == [3, 2]
    assert found.line.tolist() == ["3 players", "2 players"]
    assert found.reading.tolist() == ["goal=50, faces=4", parts.USUAL]


def test_a_sweep_has_the_fair_shares_by_the_value_of_the_parameter():
    specs = {"hold_at:15": 15, "hold_at:20": 20, "hold_at:25": 25}
    results = pd.concat(simulate("pig", [spec, "hold_at:20"], 200, 1, "standard,goal=30", progress=False) for spec in specs)
    rows = parts.sweep(results, "at")
    assert rows.x.tolist() == list(specs.values())
    assert rows.estimate.tolist() == fair_shares(results).estimate.tolist()
    assert set(rows.panel) == {"others play hold_at:20"}
    first = of_first(win_rates(results[results.matchup.str.startswith("hold_at:15")]))
    assert (first.policy.tolist(), 2 * first.estimate.iloc[0]) == (["hold_at:15"], pytest.approx(rows.estimate.iloc[0]))


def test_intervals_at_once_share_the_error_among_all():
    results = pd.concat(simulate("pig", [f"hold_at:{at}", "hold_at:20"], 400, 1, progress=False) for at in (15, 19, 22, 25))
    rows = parts.at_once(fair_shares, results)
    for name, share in (("low", 0.05), ("band_low", 0.05 / 4)):
        half = stats.t.ppf(1 - share / 2, rows.n - 1) * rows.stderr
        assert rows[name].tolist() == pytest.approx((rows.estimate - half).tolist())
    assert (rows.band_high - rows.estimate).tolist() == pytest.approx((rows.estimate - rows.band_low).tolist())


def test_best_of_each_group_and_what_may_be_as_good():
    columns = ["others", "x", "estimate", "low", "high", "band_low", "band_high"]
    values = [
        ["a", 1, 1.0, 0.9, 1.1, 0.8, 1.2],
        ["a", 2, 1.3, 1.2, 1.4, 1.1, 1.5],
        ["a", 3, 0.9, 0.8, 1.0, 0.7, 1.1],  # touches
        ["a", 4, 0.8, 0.7, 0.9, 0.6, 1.0],
        ["b", 1, 2.0, 1.9, 2.1, 1.8, 2.2],
    ]
    best = parts.best_of(pd.DataFrame(values, columns=columns), "others")
    assert [(row["others"], row["x"], row["low"], row["high"], row["near"]) for row in best] == [
        ("a", 2, 1.1, 1.5, [1, 3]),
        ("b", 1, 1.8, 2.2, []),
    ]


@pytest.mark.parametrize(
    "n, games, found",
    [
        (50_000, 20_000, 50_000),
        (50_000, 2_000, 5_000),
        (50_000, 200_000, 500_000),
        (50_000, 10, 1_000),  # enough to fit curves to
        (400, 10, 400),
    ],
)
def test_games_that_are_counted_follow_those_of_the_study(n, games, found):
    assert parts.scaled(n, games, SimpleNamespace(games=20_000)) == found


def test_games_and_truncated_games_in_all():
    played = [simulate("pig", ["hold_at:20"] * n, 60 * n, 1, "standard,ply_limit=60", progress=False) for n in (2, 3)]
    results = pd.concat(each.assign(group="self") for each in played)
    assert parts.in_all(results) == 300
    assert parts.in_all(results, "truncated") == sum(int(each.truncated.iloc[0]) for each in played)


def test_verdicts():
    rows = pd.DataFrame({"estimate": [0.5, 1.0, 2.0], "band_low": [0.4, 0.9, 1.1], "band_high": [0.6, 1.1, 2.9]})
    assert parts.verdicts(rows) == {"more": 1, "less": 1, "neither": 1, "range": (0.5, 2.0)}
