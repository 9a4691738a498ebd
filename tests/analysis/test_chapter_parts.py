"""What chapters share, on small tables made by hand."""

import pandas as pd
import pytest

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


def test_verdicts():
    rows = pd.DataFrame({"estimate": [0.5, 1.0, 2.0], "low": [0.4, 0.9, 1.1], "high": [0.6, 1.1, 2.9]})
    assert parts.verdicts(rows) == {"more": 1, "less": 1, "neither": 1, "range": (0.5, 2.0)}
