"""Tuning: halving and searching find the best point, and what is said of it comes from games that did not choose it."""

import json
from functools import partial
from math import ceil, log2

import numpy as np
import pandas as pd
import pytest
from tqdm import tqdm

from analysis import tuning
from analysis.cli import main
from analysis.sweeps import Paired, new_grid, sweep
from analysis.tuning import FINALISTS, fresh_seed, halve, search, tune
from sims import InputError, policy
from sims.jit import INTERPRETED
from sims.rulesets.pig.rules import HOLD, ROLL

SHORT = "standard,goal=12"
BUDGET = 400 if INTERPRETED else 4_000


@policy(points=20, style=("steady", "timid", "rash"))
def styled(view, actions, n, params, rng):
    """Steady holds at `points`; timid holds at once; rash rolls on."""
    if params[1] == 1:
        return HOLD
    return HOLD if params[1] == 0 and view.pot >= params[0] else ROLL


def short_tune(**changes):
    named = {"params": {"at": "2:9:1"}, "budget": BUDGET, "variant": SHORT, "n_jobs": 1, **changes}
    return tune("pig", named.pop("policy", "hold_at:5"), **named)


@pytest.mark.slow
def test_halving_finds_the_best_threshold_of_pig():
    """To 100 against hold_at:20 it is 25; local search would stop at 20, and 24 is a third of a percentage point worse."""
    for seed in range(2):
        found = tune("pig", "hold_at:20", {"at": "10:40:1"}, budget=400_000, seed=seed)
        assert found.winner == "hold_at:25"
        won, regret = found.estimates.iloc[0], found.estimates.iloc[-1]
        assert abs(won.estimate - 0.5117) < 5 * won.stderr
        assert regret.low <= 0 <= regret.high < 0.01


def test_every_round_drops_the_worse_half():
    found = short_tune()
    assert list(found.search.groupby("round").size()) == [4, 2, 2]
    assert found.search["round"].is_monotonic_decreasing
    n = found.search.groupby("round").n.first()
    assert (found.search.groupby("round").n.nunique() == 1).all()  # all that are left have played all deals
    assert list(np.diff(n, prepend=0)) == [BUDGET // 2 // 3 // (2 * points) for points in (8, 4, 2)]
    for number in (1, 2):
        rows = found.search[found.search["round"] == number]
        assert rows.estimate.is_monotonic_decreasing
    assert found.winner == found.search.policy[0]
    assert (found.tried, found.truncated) == (8, 0)
    assert BUDGET * 0.8 < found.games <= BUDGET


@pytest.mark.parametrize("points", [2, 3, 5, 9, 13])
def test_halving_of_any_number_of_points(points):
    params = {"at": f"2:{points + 1}:1"}
    paired = Paired.new(new_grid("pig", "hold_at:3", params, variant=SHORT).points(), 1)
    played = []
    with tqdm(disable=True) as bar:

        def play(each, deals):
            played.append(len(each.points))
            each.play(min(deals, 5), 1, bar)

        finalists, table = halve(paired, 10_000, play)
    assert len(played) == ceil(log2(points))
    assert played == [ceil(points / 2**i) for i in range(len(played))]
    assert sorted(table["at"]) == list(range(2, points + 2))
    assert [point.settings["at"] for point in finalists] == list(table["at"][:FINALISTS])


def test_the_winner_is_confirmed_on_another_seed():
    found = short_tune(seed=7)
    rates = found.estimates[found.estimates.quantity == "win_rate"]
    assert (found.estimates.seed == fresh_seed(7)).all()
    assert (found.search.seed == 7).all()
    assert fresh_seed(7) != 7
    values = {"at": list(rates["at"])}
    again = sweep("pig", "hold_at:5", values, games=2 * rates.n.iloc[0], seed=fresh_seed(7), variant=SHORT, n_jobs=1)
    columns = ["policy", "n", "estimate", "low", "high", "band_low", "band_high"]
    wanted = again[again.quantity == "win_rate"]
    pd.testing.assert_frame_equal(rates[columns].reset_index(drop=True), wanted[columns].reset_index(drop=True))
    regret = found.estimates.iloc[-1]
    assert (regret.quantity, regret.policy) == ("simple_regret", found.winner)
    assert regret.estimate == pytest.approx(rates.estimate.max() - rates.estimate.iloc[0])
    assert 0 <= regret.low <= regret.estimate <= regret.high


def test_workers_change_nothing():
    one, two = (short_tune(seed=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    pd.testing.assert_frame_equal(one.estimates, two.estimates, check_exact=True)
    pd.testing.assert_frame_equal(one.search, two.search, check_exact=True)
    assert one[3:] == two[3:]


def test_words_and_numbers():
    found = short_tune(policy=styled, params={"style": "steady,timid,rash", "points": "2,5"})
    assert found.winner == "styled:5"
    assert found.estimates["style"][0] == "steady"


@pytest.mark.slow
def test_the_search_finds_what_the_whole_grid_has():
    """Of a grid small enough to play all of it, on the deals of the search; the best that was met is among its best percent."""
    grid = new_grid("pig", "keep_pace", {"base": "10:38:2", "divisor": "2,4,8,16", "end": "60:90:6"}, variant="standard,goal=100")
    with tqdm(disable=True) as bar:
        play = partial(Paired.play, n_jobs=2, bar=bar)
        points, tried = search(grid, 150_000, 1, play)
        deals = 150_000 // (2 * tuning.POPULATION * 3 * (tuning.GENERATIONS + 1))
        whole = Paired.new(grid.points(), 1)
        play(whole, deals)
    rank = np.argsort(-whole.mean("win_rate"), kind="stable")
    place = [whole.points[i].settings for i in rank].index(points[0].settings)
    assert place < len(rank) / 100
    assert tried < len(rank)
    assert len(points) == tuning.SHORT_LIST


def test_more_parameters_are_searched(monkeypatch):
    monkeypatch.setattr(tuning, "GRID_PARAMETERS", 1)
    monkeypatch.setattr(tuning, "GENERATIONS", 3)
    budget = max(BUDGET, 2_000)
    one, two = (
        short_tune(policy=styled, params={"style": "rash,timid,steady", "points": "2:9:1"}, budget=budget, n_jobs=n)
        for n in (1, 2)
    )
    assert one.winner.startswith("styled:")
    assert one.search["style"][0] == "steady"
    assert 8 < one.tried <= 24
    assert one.games <= budget
    pd.testing.assert_frame_equal(one.estimates, two.estimates, check_exact=True)


@pytest.mark.parametrize(
    "changes, part",
    [
        ({"params": {}}, "nothing to tune; choose parameters of hold_at (at=5)"),
        ({"params": {}, "policy": "uniform"}, "nothing to tune; choose parameters of uniform (which has none)"),
        ({"params": {"at": "4"}}, "the grid has one point"),
        ({"params": {"att": "4"}}, "did you mean at?"),
        ({"budget": 50}, "the budget is too small for 8 points"),
        ({"budget": 0}, "budget must be a whole number"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_bad_input(changes, part):
    with pytest.raises(InputError) as caught:
        short_tune(**changes)
    assert part in str(caught.value)


def test_a_budget_too_small_to_search(monkeypatch):
    monkeypatch.setattr(tuning, "GRID_PARAMETERS", 0)
    with pytest.raises(InputError, match="too small to search 1 parameters"):
        short_tune(budget=100)


TUNE = ["tune", "pig", "hold_at:5", "--param", "at=2:9:1", "--set", "goal=12", "--budget", BUDGET, "--jobs", 1]


def test_tune_json(capsys):
    main([*map(str, TUNE), "--seed", "7", "--json"])
    data = json.loads(capsys.readouterr().out)
    head = ["ruleset", "version", "against", "seed", "fresh_seed", "games", "truncated", "points", "winner", "swept"]
    assert list(data) == [*head, "estimates", "search"]
    wanted = short_tune(seed=7)
    assert (data["winner"], data["games"], data["points"]) == (wanted.winner, wanted.games, 8)
    for key in ("estimates", "search"):
        found = pd.DataFrame(data[key])
        np.testing.assert_allclose(found.estimate, getattr(wanted, key).estimate)
        assert list(found.policy) == list(getattr(wanted, key).policy)


def test_tune_text(capsys):
    main(list(map(str, TUNE)))
    captured = capsys.readouterr()
    assert "winner hold_at:" in captured.out.splitlines()[0]
    assert "simple_regret" in captured.out
    assert captured.err == ""
