"""Sweeps: what is on the grid, what every point plays, and what is said of all points at the same time."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import intervals, sweeps
from analysis.cli import main
from analysis.estimates import COLUMNS, per_game, seat_advantage, win_rates
from analysis.intervals import margins, simultaneous_level
from analysis.sweeps import BAND, QUANTITIES, Paired, deal_values, new_grid, read_settings, sweep
from sims import InputError, policy, simulate
from sims.exact import evaluate
from sims.jit import INTERPRETED
from sims.simulate import deal_rows

PUBLISHED = {20: 0.5, 21: 0.4916, 22: 0.4831, 23: 0.4895, 24: 0.5084, 25: 0.5117, 26: 0.5062}
"""Exact win rates of ``hold_at`` against ``hold_at:20`` in Pig to 100, to four digits."""
SHORT = "standard,goal=12"
GAMES = 40 if INTERPRETED else 400
NUMBERS = ["n", "estimate", "stderr", "low", "high"]


def of(table, quantity):
    return table[table.quantity == quantity].reset_index(drop=True)


def short_sweep(**changes):
    return sweep("pig", "hold_at:5", **{"params": {"at": "3:7:2"}, "games": GAMES, "variant": SHORT, "n_jobs": 1, **changes})


# --- the grid -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, values",
    [
        ("10:40:10", [10, 20, 30, 40]),
        ("10:39:10", [10, 20, 30]),
        ("0.1:0.3:0.1", [0.1, 0.2, 0.3]),
        ("-1:1:1", [-1, 0, 1]),
        ("7:7:1", [7]),
        ("4, 2,8.5", [4, 2, 8.5]),
        (range(3), [0, 1, 2]),
        (np.array([1.5, 2]), [1.5, 2]),
    ],
)
def test_values_of_a_parameter(text, values):
    assert new_grid("pig", "hold_at", {"at": text}).params == {"at": values}


def test_values_of_fields_and_words():
    params = {"dice": "2:3:1", "cards": "none,asap"}
    fields = {"bonus_die": "true,false", "bonus_faces": "X3/SUITE,PLUS5", "duel_stake": "difference,5"}
    grid = new_grid("dice-fever", "hold_dice", params, fields)
    points = grid.points()
    assert len(points) == 32
    words = ["none", True, ("X3", "SUITE"), "difference"]
    assert [grid.values[name][0] for name in ("cards", *fields)] == words
    last = points[-1]
    assert last.settings == {"dice": 3, "cards": "asap", "bonus_die": "false", "bonus_faces": "PLUS5", "duel_stake": 5}
    assert [each.spec for each in last.table.policies] == ["hold_dice:3,cards=asap", "hold_dice:3"]
    assert last.table.variant.name == "standard,bonus_die=false,bonus_faces=PLUS5"
    assert points[1].settings["duel_stake"] == 5  # the last name changes fastest


def test_who_sits_at_the_table():
    def specs(*args, **named):
        return [each.spec for each in new_grid(*args, **named).points()[0].table.policies]

    swept = {"at": "30,40"}
    assert specs("pig", "hold_at:7", swept) == ["hold_at:30", "hold_at:7"]
    assert specs("pig", "hold_at:7", swept, against="uniform") == ["hold_at:30", "uniform"]
    assert specs("pig", "hold_at:7", swept, against=["uniform", "hold_at:9"]) == ["hold_at:30", "uniform", "hold_at:9"]
    assert specs("diceplomacy", "cautious", {"die": "4,5"}) == ["cautious:4", *["cautious:5"] * 3]
    assert specs("pig", "hold_at:7", None, {"goal": "30,40"}) == ["hold_at:7", "hold_at:7"]


def test_a_field_changes_the_variant_that_is_given():
    points = new_grid("pig", "hold_at", None, {"goal": "30,100"}, variant="standard,faces=8,goal=50").points()
    assert [point.table.variant.name for point in points] == ["standard,goal=30,faces=8", "standard,faces=8"]


def test_a_policy_of_a_file_may_face_itself(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from sims import policy\n@policy(at=20)\ndef bold(view, actions, n, params, rng):\n    return view.pot < params[0]\n"
    )
    spec = f"{tmp_path}/mine.py:bold"
    tables = [point.table for point in new_grid("pig", spec, {"at": "8,20"}, against=f"{spec}:8").points()]
    assert [each.spec for each in tables[0].policies] == [f"{spec}:8"] * 2
    assert tables[0].policies[0].function is tables[0].policies[1].function


@policy(games=3)
def collides(view, actions, n, params, rng):
    return actions[0]


@pytest.mark.parametrize(
    "args, part",
    [
        (("pog", "hold_at", {"at": "1,2"}), "did you mean pig?"),
        (("pig", "hold_it", {"at": "1,2"}), "did you mean hold_at?"),
        (("pig", "hold_at", {"att": "1,2"}), "did you mean at?"),
        (("pig", "hold_at", None, {"gaol": "1,2"}), "did you mean goal?"),
        (("pig", "hold_at", {"at": "1,x"}), "must be a number, not 'x'"),
        (("pig", "hold_at", None, {"goal": "1,x"}), "from 1 to 10000, not 'x'"),
        (("pig", "hold_at", {"at": "1:2"}), "LOW:HIGH:STEP with LOW <= HIGH and STEP > 0, or A,B,C, not '1:2'"),
        (("pig", "hold_at", {"at": "2:1:1"}), "not '2:1:1'"),
        (("pig", "hold_at", {"at": "1:2:0"}), "not '1:2:0'"),
        (("pig", "hold_at", {"at": "1:nan:1"}), "not '1:nan:1'"),
        (("pig", "hold_at", {"at": "1:9999:1"}), "9,999 values; at most 1,000"),
        (("pig", "hold_at", {"at": "1:500:1"}, {"goal": "1,2,3"}), "1,500 points; at most 1,000"),
        (("pig", "hold_at", {"at": "1,,2"}), "'1,,2'"),
        (("pig", "hold_at", {"at": []}), "not []"),
        (("pig", "hold_at", {"at": "1,1.0"}), "at has the value 1 2 times"),
        (("pig", "hold_at"), "nothing to sweep; choose a parameter of hold_at (at=20), or a field of pig: goal=100"),
        (("pig", "uniform", {"x": "1"}), "uniform has no parameters"),
        (("pig", collides, {"games": "1,2"}), "cannot sweep 'games'"),
    ],
)
def test_bad_grids(args, part):
    with pytest.raises(InputError) as caught:
        new_grid(*args).points()
    assert part in str(caught.value)


@pytest.mark.parametrize(
    "changes, part",
    [
        ({"games": 2}, "games must be at least 3, two deals, not 2"),
        ({"games": 0}, "games must be a whole number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"level": 1}, "level must be a number between 0 and 1"),
        ({"level": 0.9999}, "level must be at most 0.999"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_bad_runs(changes, part):
    with pytest.raises(InputError) as caught:
        short_sweep(**changes)
    assert part in str(caught.value)


def test_settings_of_the_command_line():
    assert read_settings(["a=1:2:1", "b=x,y=z"], "--param") == {"a": "1:2:1", "b": "x,y=z"}
    for texts, part in ((["a"], "--param must be NAME=LOW:HIGH:STEP"), (["a=1", "a=2"], "--param a is given twice: '1' and '2'")):
        with pytest.raises(InputError, match=part):
            read_settings(texts, "--param")


# --- what every point plays -----------------------------------------------------------------------------------------------


def test_points_play_what_simulate_plays():
    table = short_sweep(seed=7, fields={"faces": "4,6"})
    for row in of(table, "win_rate").itertuples():
        results = simulate("pig", [f"hold_at:{row.at}", "hold_at:5"], GAMES if row.at != 5 else GAMES // 2, 7, row.variant)
        rates, seats, turns = win_rates(results), seat_advantage(results), per_game(results, "turns")
        wanted = [rates[rates.seat.isna() & (rates.policy == row.policy)], seats[seats.seat == 0], turns]
        found = table[(table["at"] == row.at) & (table.faces == row.faces)]
        for quantity, rows in zip(QUANTITIES, wanted, strict=True):
            np.testing.assert_allclose(of(found, quantity)[NUMBERS].astype(float), rows[NUMBERS].astype(float), atol=1e-12)
            assert (of(found, quantity)[["games", "truncated"]].to_numpy() == rows[["games", "truncated"]].to_numpy()).all()


def test_covariances_are_those_of_the_rows(monkeypatch):
    """Sums block by block, against the values of all deals at once."""
    monkeypatch.setattr(sweeps, "BLOCK", 7)
    points = new_grid("pig", "hold_at:5", {"at": "3:7:2"}, {"faces": "4,6"}, variant=SHORT).points()
    paired = Paired.new(points, 7)
    with sweeps.tqdm(disable=True) as bar:
        paired.play(GAMES // 4, 1, bar)
        paired.play(GAMES // 4, 2, bar)
    assert paired.deals == GAMES // 2
    matchups = [point.table.matchup(7) for point in points]
    rows = [np.concatenate(list(deal_rows(point.table, 7, 0, paired.deals, 1))) for point in points]
    values = np.stack([deal_values(*each) for each in zip(matchups, rows, strict=True)], axis=1)
    for i, quantity in enumerate(QUANTITIES):
        wanted = np.cov(values[i]) / paired.deals
        np.testing.assert_allclose(paired.mean(quantity), values[i].mean(axis=1), rtol=1e-12)
        np.testing.assert_allclose(paired.covariance(quantity), wanted, rtol=1e-9, atol=1e-15)
        some = paired.only([4, 1])
        np.testing.assert_allclose(some.covariance(quantity), wanted[np.ix_([4, 1], [4, 1])], rtol=1e-9, atol=1e-15)
    assert (paired.covariance("win_rate")[2:4] == 0).all()  # hold_at:5 against itself


def test_workers_change_nothing(monkeypatch):
    monkeypatch.setattr(sweeps, "BLOCK", 31)
    tables = [short_sweep(seed=3, fields={"goal": "10,12"}, n_jobs=n_jobs) for n_jobs in (1, 2, -1)]
    for other in tables[1:]:
        pd.testing.assert_frame_equal(tables[0], other, check_exact=True)
    assert not short_sweep(seed=4, fields={"goal": "10,12"}).equals(tables[0])


def test_ctrl_c_keeps_whole_blocks(monkeypatch, capsys):
    monkeypatch.setattr(sweeps, "BLOCK", 10)
    whole, play = short_sweep(games=40), sweeps.play_block

    def stop(table, seed, first_deal, deals):
        if first_deal == 20 and table.policies[0].spec == "hold_at:7":
            raise KeyboardInterrupt
        return play(table, seed, first_deal, deals)

    monkeypatch.setattr(sweeps, "play_block", stop)
    pd.testing.assert_frame_equal(short_sweep(games=80), whole)
    assert "interrupted: keeping 20 deals per point" in capsys.readouterr().err


def test_stopped_games_are_counted():
    table = short_sweep(variant=f"{SHORT},ply_limit=3")
    for row in of(table, "turns_per_game").itertuples():
        specs = [f"hold_at:{row.at}", "hold_at:5"]
        assert row.truncated == simulate("pig", specs, row.games, 0, row.variant, 1).truncated.iloc[0] > 0


# --- what is said of them -------------------------------------------------------------------------------------------------


def test_columns_and_quantities():
    table = short_sweep(fields={"goal": "10,12"})
    assert list(table) == ["at", "goal", *COLUMNS, *BAND]
    assert list(table.quantity.unique()) == ["win_rate", "win_rate_margin", "seat_advantage", "turns_per_game"]
    assert (table.groupby("quantity").size() == 6).all()
    assert (table.band_low <= table.low).all()
    assert (table.band_high >= table.high).all()
    assert table.may_be_best.notna().equals(table.quantity.str.startswith("win_rate"))
    assert (of(table, "win_rate").may_be_best == of(table, "win_rate_margin").sort_values(["at", "goal"]).may_be_best.array).all()
    assert of(table, "win_rate").groupby("goal").may_be_best.any().all()  # the best under each rule
    alone = sweep("pig", "hold_at:5", fields={"goal": "10,12"}, games=GAMES, n_jobs=1)
    assert list(alone.quantity.unique()) == [
        "seat_advantage", "turns_per_game", "seat_advantage_change", "turns_per_game_change",
    ]  # fmt: skip
    assert alone.may_be_best.isna().all()
    assert "win_rate_margin" not in set(sweep("pig", "hold_at:5", None, {"goal": "10,12"}, "uniform", GAMES, n_jobs=1).quantity)


def test_changes_are_paired_differences():
    """To the rules as given, deal by deal; or to the first point, if they are not on the grid."""
    for fields, reference in (("10,12,14", 1), ("14,10", 0)):
        table = sweep("pig", "hold_at:5", fields={"goal": fields}, against="hold_at:3", games=GAMES, variant=SHORT, n_jobs=1)
        points = new_grid("pig", "hold_at:5", None, {"goal": fields}, "hold_at:3", SHORT).points()
        values = np.stack([sweeps.play_block(point.table, 0, 0, GAMES // 2)[0] for point in points], axis=1)
        for quantity, each in zip(QUANTITIES, values, strict=True):
            change = of(table, f"{quantity}_change")
            paired = each - each[reference]
            np.testing.assert_allclose(change.estimate, paired.mean(axis=1), atol=1e-12)
            np.testing.assert_allclose(change.stderr, stats.sem(paired, axis=1), atol=1e-12)
            low, high = stats.t.interval(0.95, GAMES // 2 - 1, paired.mean(axis=1), np.maximum(stats.sem(paired, axis=1), 1e-300))
            np.testing.assert_allclose(change[["low", "high"]], np.stack([low, high], axis=1), atol=1e-12)
            others = change.drop(reference)
            assert ((others.band_low < others.low) | (len(others) == 1)).all()
            assert list(change.loc[reference, ["estimate", "low", "high", "band_low", "band_high"]]) == [0] * 5


def test_a_field_that_changed_nothing_is_not_proved_to_change_nothing():
    table = sweep("pig", "hold_at:5", fields={"ply_limit": "9000,10000,9999"}, games=GAMES, variant=SHORT, n_jobs=1)
    seat, turns = of(table, "seat_advantage_change"), of(table, "turns_per_game_change")
    assert (seat.estimate == 0).all()
    bounds = [stats.binomtest(0, GAMES).proportion_ci(level, method="wilson").high for level in (0.95, 1 - 0.05 / 3)]
    for i in (0, 2):
        assert list(seat.loc[i, ["low", "high", "band_low", "band_high"]]) == pytest.approx(
            [-bounds[0], bounds[0], -bounds[1], bounds[1]]
        )
        assert seat.method[i] == "wilson"
        assert turns.loc[i, ["stderr", "low", "high", "band_low", "band_high"]].isna().all()
    assert list(seat.loc[1, ["low", "high"]]) == [0, 0]  # the rules as given


@pytest.mark.slow
def test_the_published_curve_of_pig():
    table = sweep("pig", "hold_at:20", {"at": "20:26:1"}, games=100_000, seed=1)
    rates = of(table, "win_rate")
    exact = rates["at"].map(PUBLISHED)
    assert (abs(rates.estimate - exact) <= 5 * rates.stderr + 0.00005).all()
    assert rates.stderr[0] == rates.band_high[0] - 0.5 == 0  # against itself
    assert list(rates["at"][rates.may_be_best.astype(bool)]) == [25]


@pytest.mark.slow
@pytest.mark.skipif(INTERPRETED, reason="plays many games")
def test_band_and_margins_cover_exact_values(monkeypatch):
    """In how many of 200 sweeps the whole curve lies within the band, and all margins within theirs; pointwise intervals fail."""
    monkeypatch.setattr(intervals, "DRAWS", 4_000)  # enough for the question, and faster
    variant, reps, deals = "standard,goal=20", 200, 500
    points = new_grid("pig", "hold_at:9", {"at": "4:14:2"}, variant=variant).points()
    specs = [[each.spec for each in point.table.policies] for point in points]
    exact = np.array([(evaluate("pig", pair, variant)[0] + evaluate("pig", pair[::-1], variant)[1]) / 2 for pair in specs])
    best = np.array([exact[i] - np.delete(exact, i).max() for i in range(len(exact))])
    values = np.stack([sweeps.play_block(point.table, 5, 0, reps * deals)[0][0] for point in points])
    held = dict.fromkeys(("band", "pointwise", "margins"), 0)
    for sample in np.split(values, reps, axis=1):
        mean, covariance = sample.mean(axis=1), np.cov(sample) / deals
        errors = abs(mean - exact) / np.sqrt(np.diag(covariance))
        for kind, level in {"band": simultaneous_level(covariance, deals, 0.95), "pointwise": 0.95}.items():
            held[kind] += bool((errors <= stats.t.ppf((1 + level) / 2, deals - 1)).all())
        _, low, high, _ = margins(mean, covariance, deals, 0.95)
        held["margins"] += bool(((low <= best) & (best <= high)).all())
    five = 5 * np.sqrt(0.95 * 0.05 / reps)
    assert abs(held["band"] / reps - 0.95) < five
    assert held["pointwise"] / reps < 0.95 - five
    assert held["margins"] / reps > 0.95 - five


# --- the command ----------------------------------------------------------------------------------------------------------

SWEEP = ["sweep", "pig", "hold_at:5", "--param", "at=3:7:2", "--games", GAMES, "--set", "goal=12", "--jobs", 1]


def printed(capsys, args):
    main(list(map(str, args)))
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_sweep_json(capsys):
    data = json.loads(printed(capsys, [*SWEEP, "--field", "faces=4,6", "--seed", 7, "--level", 0.9, "--json"]))
    assert list(data) == ["ruleset", "version", "against", "seed", "games", "truncated", "points", "swept", "estimates"]
    assert (data["against"], data["seed"], data["points"], data["swept"]) == (["hold_at:5"], 7, 6, ["at", "faces"])
    assert data["games"] == 4 * GAMES + 2 * GAMES // 2
    wanted = short_sweep(seed=7, level=0.9, fields={"faces": "4,6"})
    for row, found in zip(wanted.to_dict("records"), data["estimates"], strict=True):
        assert list(found) == ["at", "faces", "variant", "games", "truncated", *COLUMNS[-10:], *BAND]
        assert all(found[key] == pytest.approx(row[key]) for key in ("at", "faces", "quantity", "estimate", "low", "band_high"))
        assert found["level"] == 0.9


def test_sweep_text(capsys):
    text = printed(capsys, SWEEP)
    assert text.startswith(f"ruleset pig  version 1  against hold_at:5  seed 0  games {GAMES * 5 // 2}  truncated 0  points 3\n")
    words = " ".join(text.splitlines()[1].split())
    assert words == "at quantity policy seat n estimate interval band method may be best"
    assert len(text.splitlines()) == 2 + 4 * 3
    alone = printed(capsys, ["sweep", "pig", "hold_at:5", "--field", "goal=10,12", "--games", GAMES, "--against", "uniform"])
    assert "against uniform" in alone
    assert "may be best" not in alone
