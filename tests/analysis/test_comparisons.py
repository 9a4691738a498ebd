"""Comparisons against exact values, against the estimates of simulated games, and by how often their verdicts are wrong."""

import inspect
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import analysis.comparisons
from analysis.cli import compare_command, main
from analysis.comparisons import Comparison, compare, described, error_rates, rehearse, sentence, stops, verdict
from analysis.estimates import LEVEL, ROW, win_rates
from analysis.sequential import batch_sizes
from sims import InputError, exact, policy, simulate
from sims.jit import INTERPRETED
from sims.rulesets.dice_fever import evaluation
from sims.rulesets.pig.rules import HOLD, ROLL
from sims.simulate import BATCH, adjusted_shares, set_table
from sims.streams import draw

SHORT = "standard,goal=20"
QUIET = {"n_jobs": 1, "progress": False}
FEW = 200 if INTERPRETED else 4_000


def difference(a, b, against=None, variant=SHORT):
    """What A wins less what B wins, exactly, over both seats."""

    def rate(policy, other):
        return (exact.evaluate("pig", [policy, other], variant)[0] + exact.evaluate("pig", [other, policy], variant)[1]) / 2

    return 2 * rate(a, b) - 1 if against is None else rate(a, against) - rate(b, against)


def row(found, quantity, method=None, spec=None):
    rows = found.estimates[found.estimates.quantity == quantity]
    rows = rows if method is None else rows[rows.method == method]
    return (rows if spec is None else rows[rows.policy == spec]).iloc[0]


# --- verdicts -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_pig_hold_at_20_or_25():
    """The exact value is 0.488276 for hold_at:20, so B is better, by 0.023448."""
    found = compare("pig", "hold_at:20", "hold_at:25", until=0.003, seed=2, **QUIET)
    assert found.verdict == "b_better"
    truth = 2 * 0.488276 - 1
    student, anytime = row(found, "difference", "student"), row(found, "difference", "anytime")
    assert abs(student.estimate - truth) < 5 * student.stderr
    assert anytime.low < truth < anytime.high
    assert (anytime.high - anytime.low) / 2 <= 0.003
    assert anytime.low < student.low < student.high < anytime.high
    assert 2 < found.games_unpaired / found.games < 5  # some 3 times as many, for pairs of rotations


@pytest.mark.slow
def test_common_dice_for_neighbours_against_a_third():
    found = compare("pig", "hold_at:10", "hold_at:11", ["hold_at:14"], SHORT, margin=0.01, **QUIET)
    truth = difference("hold_at:10", "hold_at:11", "hold_at:14")
    assert 0 < truth < 0.01
    assert found.verdict in ("a_better", "equivalent")
    student = row(found, "difference", "student")
    assert abs(student.estimate - truth) < 5 * student.stderr
    assert found.games_unpaired > 10 * found.games


@pytest.mark.parametrize("against", [(), ("hold_at:14",)])
def test_a_policy_is_equivalent_to_itself(against):
    found = compare("pig", "hold_at:8", "hold_at:at=8", against, SHORT, margin=0.1, **QUIET)
    assert (found.verdict, found.a, found.b) == ("equivalent", "hold_at:8", "hold_at:8")
    anytime, student = row(found, "difference", "anytime"), row(found, "difference", "student")
    assert -0.1 < anytime.low < anytime.estimate == 0 < anytime.high < 0.1
    assert student.stderr == 0
    assert np.isnan([student.low, student.high]).all()  # no spread was seen: Student knows nothing
    assert found.games_unpaired == math.inf


def never(view, actions, n, params, rng):
    """Roll for ever: a turn ends with a 1 or with the game."""
    return HOLD if view.score[view.turn] + view.pot >= view.variant.goal else ROLL


def test_one_sided_games_end_at_once():
    found = compare("pig", never, "hold_at:20", **QUIET)
    assert (found.verdict, len(found.looks)) == ("b_better", 1)


def test_the_other_way_round_is_the_mirror_image():
    one = compare("pig", "hold_at:8", "hold_at:12", variant=SHORT, budget=FEW, margin=0.2, **QUIET)
    other = compare("pig", "hold_at:12", "hold_at:8", variant=SHORT, budget=FEW, margin=0.2, **QUIET)
    assert (one.looks.low == -other.looks.high).all()
    assert (one.looks.estimate == -other.looks.estimate).all()
    assert one.games_unpaired == pytest.approx(other.games_unpaired)
    assert {one.verdict, other.verdict} in ({"a_better", "b_better"}, {"budget_spent"})


@pytest.mark.parametrize(
    "low, high, word",
    [
        (0.01, 0.5, "a_better"),
        (-0.5, -0.01, "b_better"),
        (0.001, 0.002, "a_better"),
        (-0.04, 0.04, "equivalent"),
        (-0.06, 0.04, ""),
        (-0.05, 0.04, ""),
        (0, 0.04, "equivalent"),
        (0, 0.06, ""),
    ],
)
def test_what_an_interval_says(low, high, word):
    assert verdict(low, high, 0.05) == word


def test_until_plays_on_after_the_verdict():
    arguments = ("pig", "hold_at:2", "hold_at:8")
    soon = compare(*arguments, variant=SHORT, margin=0.2, budget=FEW, **QUIET)
    later = compare(*arguments, variant=SHORT, margin=0.2, until=0.15, budget=10 * FEW, **QUIET)
    assert soon.verdict == later.verdict == "b_better"
    last = later.looks.iloc[-1]
    assert (last.high - last.low) / 2 <= 0.15
    assert later.games > soon.games


# --- what is counted ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("against", [(), ("hold_at:14",), ("hold_at:14", "uniform"), ("hold_at:8",)])
def test_numbers_are_those_of_the_same_games_simulated(tmp_path, against):
    """Win rates and intervals from simulate; the variance of a single game from raw rows."""
    a, b = "hold_at:8", "hold_at:12"
    found = compare("pig", a, b, against, SHORT, margin=0.001, budget=300, seed=5, **QUIET)
    deals, games, variances = found.estimates.n.iloc[0], 0, []
    for spec, matchup in ((a, [a, *against]), (b, [b, *against])) if against else ((a, [a, b]), (b, [a, b])):
        rotations = 1 if matchup == [a, a] else len(matchup)
        folder = tmp_path / f"{spec.replace(':', '_')}"
        results = simulate("pig", matchup, deals * rotations, 5, SHORT, rows=folder, **QUIET)
        expected = win_rates(results).query("policy == @spec and seat.isna()").iloc[0]
        shown = row(found, "win_rate", spec=spec)
        assert shown.estimate == pytest.approx(expected.estimate)
        if expected.stderr > 0:
            assert (shown.stderr, shown.low, shown.high) == pytest.approx((expected.stderr, expected.low, expected.high))
        rows = pd.concat(map(pd.read_parquet, folder.glob("*.parquet")))
        wins = rows[rows.policy == spec].payoff
        variances.append(4 * wins.var(ddof=0) if not against else 2 * wins.var(ddof=0))
        games += rotations * deals
    rates = found.estimates[found.estimates.quantity == "win_rate"].estimate.to_list()
    found_difference = row(found, "difference", "student")
    assert found_difference.estimate == pytest.approx(rates[0] - rates[1])
    assert found.games == (games if against else games // 2)
    unpaired = (sum(variances) if against else variances[0]) / found_difference.stderr**2
    assert found.games_unpaired == pytest.approx(unpaired)


def test_truncated_games_are_counted_and_nobodys(monkeypatch):
    found = compare("pig", "hold_at:8", "hold_at:12", variant="standard,goal=10000,ply_limit=3", budget=50, **QUIET)
    assert found.truncated == found.games == 50
    assert (found.estimates.estimate == 0).all()


@pytest.mark.parametrize("budget, games", [(1, 2), (2, 2), (51, 52)])
def test_the_budget_is_rounded_up_to_whole_deals(budget, games):
    found = compare("pig", "hold_at:8", "hold_at:12", variant=SHORT, budget=budget, **QUIET)
    assert (found.games, found.verdict, found.budget) == (games, "budget_spent", budget)


def test_rows_are_estimates():
    found = compare("pig", "hold_at:8", "hold_at:12", variant=SHORT, budget=60, level=0.9, **QUIET)
    assert list(found.estimates.columns) == ROW
    assert found.estimates.quantity.to_list() == ["difference", "difference", "win_rate", "win_rate"]
    assert found.estimates.method.to_list() == ["anytime", "student", "student", "student"]
    assert (found.estimates.level == 0.9).all()
    assert list(found.looks.columns) == ["n", "games", "estimate", "low", "high"]
    assert (found.looks.games == 2 * found.looks.n).all()


@pytest.mark.slow
@pytest.mark.parametrize("against", [(), ("hold_at:14",)])
def test_the_number_of_workers_changes_nothing(against):
    games = 4 * BATCH * 9  # the last batches are played by several workers
    one, two = (
        compare(
            "pig", "hold_at:10", "hold_at:13", against, SHORT, margin=1e-4, until=1e-4, budget=games, n_jobs=n, progress=False
        )
        for n in (1, 2)
    )
    pd.testing.assert_frame_equal(one.looks, two.looks)
    pd.testing.assert_frame_equal(one.estimates, two.estimates)
    assert json.dumps(described(one)) == json.dumps(described(two))


# --- adjusted for luck ----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(INTERPRETED, reason="thousands of games")
@pytest.mark.parametrize("against", [(), ("hold_at:14",)])
def test_what_is_adjusted_for_luck_is_the_same_difference(against):
    arguments = {
        "ruleset": "pig",
        "a": "hold_at:8",
        "b": "hold_at:12",
        "against": against,
        "variant": SHORT,
        "margin": 1e-3,
        **QUIET,
    }
    plain, adjusted = (compare(budget=2 * FEW, luck=luck, **arguments) for luck in (False, True))
    truth = difference("hold_at:8", "hold_at:12", *against)
    found, of_games = row(adjusted, "difference_adjusted", "student"), row(plain, "difference", "student")
    assert abs(found.estimate - truth) < 5 * found.stderr
    assert found.stderr < of_games.stderr / 2
    assert adjusted.games_unpaired > 4 * plain.games_unpaired * adjusted.games / plain.games
    assert list(adjusted.estimates.quantity) == ["difference_adjusted"] * 2 + ["win_rate_adjusted"] * 2
    assert (adjusted.estimates.method == plain.estimates.method).all()
    tables = [set_table("pig", [each, *against], SHORT) for each in ("hold_at:8", "hold_at:12")] if against else None
    tables = tables or [set_table("pig", ["hold_at:8", "hold_at:12"], SHORT)]
    shares = [adjusted_shares(table, 0, 0, found.n, 1).adjusted for table in tables]
    values = shares[0][:, 0] - shares[-1][:, 0 if against else 1]
    assert found.estimate == pytest.approx(values.mean(), abs=1e-12)


def test_a_rehearsal_adjusted_for_luck_is_what_compare_would_have_found():
    deals = 150 if INTERPRETED else 2_000
    looks = rehearse("pig", "hold_at:9", "hold_at:10", 1, deals, variant=SHORT, margin=0.06, n_jobs=1, luck=True)
    found = compare("pig", "hold_at:9", "hold_at:10", variant=SHORT, margin=0.06, budget=2 * deals, luck=True, **QUIET)
    anytime, shown = looks[looks.test == "anytime"].reset_index(drop=True), ["n", "estimate", "low", "high"]
    pd.testing.assert_frame_equal(anytime[shown][: len(found.looks)], found.looks[shown])


@pytest.mark.slow
def test_a_comparison_adjusted_for_luck_needs_fewer_games():
    plain, adjusted = (compare("pig", "hold_at:20", "hold_at:25", luck=luck, seed=2, **QUIET) for luck in (False, True))
    assert plain.verdict == adjusted.verdict == "b_better"
    assert 3 * adjusted.games < plain.games


@pytest.mark.parametrize(
    "change, words",
    [
        (
            {"ruleset": "dicefest", "a": "uniform", "b": "thrifty"},
            "no exact values are known of dicefest, .*; choose from pig, dice-fever",
        ),
        ({"ruleset": "dice-land", "a": "uniform", "b": "greedy"}, "no exact values are known of dice-land"),
        ({"against": ["hold_at:20"] * 2}, "luck adjustment of pig is for 2 seats, not 3"),
        ({"variant": "standard,goal=400"}, "goals up to 300, not 400"),
    ],
    ids=str,
)
def test_where_there_are_no_exact_values_it_is_refused(change, words):
    with pytest.raises(InputError, match=words):
        compare(**{"ruleset": "pig", "a": "hold_at:20", "b": "hold_at:25", "luck": True, **QUIET, **change})


# --- Ctrl-C ---------------------------------------------------------------------------------------------------------------


def interrupt(monkeypatch, call):
    """Press Ctrl-C while batch number `call` is played."""
    play, calls = analysis.comparisons.deal_shares, []

    def deal_shares(*arguments):
        calls.append(arguments)
        if len(calls) == call:
            raise KeyboardInterrupt
        return play(*arguments)

    monkeypatch.setattr("analysis.comparisons.deal_shares", deal_shares)


def test_ctrl_c_keeps_what_is_done(monkeypatch, capsys):
    interrupt(monkeypatch, 3)
    found = compare("pig", "hold_at:10", "hold_at:13", variant=SHORT, **QUIET)
    assert (found.verdict, found.games, len(found.looks)) == ("interrupted", 400, 2)
    assert capsys.readouterr().err == "interrupted: keeping 400 games\n"


def test_ctrl_c_keeps_the_verdict(monkeypatch):
    interrupt(monkeypatch, 3)
    assert compare("pig", never, "hold_at:20", until=0.001, **QUIET).verdict == "b_better"


def test_ctrl_c_before_anything_is_done(monkeypatch):
    interrupt(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        compare("pig", "hold_at:10", "hold_at:13", **QUIET)


# --- bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, words",
    [
        ({"ruleset": "pog"}, ["'pog'", "pig"]),
        ({"a": "hold_it"}, ["'hold_it'", "hold_at"]),
        ({"b": "hold_at:x"}, ["'x'"]),
        ({"against": ["hold_it"]}, ["'hold_it'"]),
        ({"against": "hold_at"}, ["against", "'hold_at'"]),
        ({"against": ["hold_at"] * 10}, ["pig", "1 to 9", "not 10"]),
        ({"variant": "plain"}, ["'plain'"]),
        ({"margin": 0}, ["margin", "0"]),
        ({"margin": 1}, ["margin", "1"]),
        ({"margin": math.nan}, ["margin", "nan"]),
        ({"margin": "small"}, ["margin", "'small'"]),
        ({"until": -0.1}, ["until", "-0.1"]),
        ({"until": 0}, ["until", "0"]),
        ({"level": 1}, ["level", "1"]),
        ({"budget": 0}, ["budget", "0"]),
        ({"budget": 1.5}, ["budget", "1.5"]),
        ({"seed": -1}, ["seed", "-1"]),
        ({"n_jobs": 0}, ["n_jobs", "-1"]),
    ],
    ids=str,
)
def test_bad_input_is_refused_before_anything_is_played(monkeypatch, change, words):
    monkeypatch.setattr("analysis.comparisons.deal_shares", lambda *arguments: pytest.fail("played before refusing"))
    with pytest.raises(InputError) as caught:
        compare(**{"ruleset": "pig", "a": "hold_at:20", "b": "hold_at:25", **change})
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_game_of_four_needs_others_at_the_table():
    with pytest.raises(InputError, match=r"4 to 8 seats: name 3 to 7 policies with --against .*, not 0"):
        compare("diceplomacy", "uniform", "threshold")


def test_two_policies_of_one_name_are_refused():
    def other():
        @policy
        def never(view, actions, n, params, rng):
            return ROLL

        return never

    for against in ((), ("hold_at:20",)):
        with pytest.raises(InputError, match="2 different policies are called never"):
            compare("pig", never, other(), against)


# --- in words, and on the command line ------------------------------------------------------------------------------------

KEYS = ["ruleset", "version", "variant", "seed", "games", "truncated", "a", "b", "against", "verdict", "margin", "until", "level"]
COMMAND = ["compare", "pig", "hold_at:8", "hold_at:12", "--set", "goal=20", "--budget", "60", "--jobs", "1"]


def test_json(capsys):
    main([*COMMAND, "--against", "uniform", "--against", "hold_at:14", "--seed", "3", "--json"])
    captured = capsys.readouterr()
    data = json.loads(captured.out, parse_constant=pytest.fail)
    assert captured.err == ""
    assert list(data) == [*KEYS, "budget", "luck", "games_unpaired", "estimates"]
    assert (data["variant"], data["against"], data["verdict"]) == (SHORT, ["uniform", "hold_at:14"], "budget_spent")
    assert (data["seed"], data["games"], data["truncated"], data["until"]) == (3, 60, 0, None)
    assert all(list(each) == ROW for each in data["estimates"])


def test_json_of_what_is_not_known(capsys):
    main(["compare", "pig", "hold_at", "hold_at", "--budget", "1", "--jobs", "1", "--json"])
    data = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert data["games_unpaired"] is None
    assert data["estimates"][1]["low"] is None


def test_text(capsys):
    main(COMMAND)
    head, words, _, *rows, cost = capsys.readouterr().out.splitlines()
    assert head == "ruleset pig  version 1  variant standard,goal=20  seed 0  games 60  truncated 0"
    assert words == "budget spent: not known yet whether hold_at:8 and hold_at:12 differ by 0.005"
    assert [line.split()[0] for line in rows] == ["difference", "difference", "win_rate", "win_rate"]
    assert cost.startswith("without pairing: ")


def test_text_of_what_is_adjusted_for_luck(capsys):
    main([*COMMAND, "--luck"])
    _, _, _, *rows, cost = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in rows] == ["difference_adjusted"] * 2 + ["win_rate_adjusted"] * 2
    assert "anytime" in rows[0]
    assert cost.startswith("without pairing and luck adjustment: ")


def test_the_command_refuses_to_adjust_without_exact_values(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["compare", "dicefest", "uniform", "thrifty", "--luck"])
    assert caught.value.code == 2
    assert "no exact values are known of dicefest" in capsys.readouterr().err


def test_the_command_has_the_defaults_of_the_function():
    function = inspect.signature(compare).parameters
    options = {option.name: option.default for option in compare_command.params}
    for name in ("margin", "level", "budget", "seed"):
        assert options[name] == function[name].default, name


@pytest.mark.parametrize(
    "word, against, bounds, text",
    [
        ("a_better", (), (0.01, 0.09), "A better: x is better than y"),
        ("b_better", (), (-0.09, -0.01), "B better: y is better than x"),
        ("a_better", ("z", "z"), (0.01, 0.09), "A better: x is better than y, with z, z at the table"),
        ("b_better", (), (-0.03, -0.01), "B better: y is better than x, by less than the margin of 0.05"),
        ("equivalent", (), (-0.03, 0.01), "equivalent: x and y differ by less than the margin of 0.05"),
        ("interrupted", (), (-0.3, 0.1), "interrupted: not known yet whether x and y differ by 0.05"),
    ],
)
def test_the_verdict_in_words(word, against, bounds, text):
    looks = pd.DataFrame([bounds], columns=["low", "high"])
    known = {"a": "x", "b": "y", "against": against, "verdict": word, "margin": 0.05, "looks": looks}
    assert sentence(Comparison(**{**dict.fromkeys(Comparison.__dataclass_fields__), **known})) == text


# --- how often the verdict is wrong ---------------------------------------------------------------------------------------


@policy(low=8, high=16)
def heads(view, actions, n, params, rng):
    """Toss a coin before every decision: heads, hold at `low`; tails, at `high`."""
    wins = view.score[view.turn] + view.pot >= view.variant.goal
    return HOLD if wins or view.pot >= params[draw(rng, 2)] else ROLL


@policy(low=8, high=16)
def tails(view, actions, n, params, rng):
    """The same, called the other way round: other games, but exactly as good."""
    wins = view.score[view.turn] + view.pot >= view.variant.goal
    return HOLD if wins or view.pot >= params[1 - draw(rng, 2)] else ROLL


def test_a_rehearsal_is_what_compare_would_have_found(monkeypatch):
    """One comparison alone: the same deals, the same looks, the same stop."""
    deals, margin = (150, 0.4) if INTERPRETED else (2_000, 0.06)
    looks = rehearse("pig", "hold_at:9", "hold_at:10", 1, deals, variant=SHORT, margin=margin, n_jobs=1)
    found = compare("pig", "hold_at:9", "hold_at:10", variant=SHORT, margin=margin, budget=2 * deals, **QUIET)
    anytime = looks[looks.test == "anytime"].reset_index(drop=True)
    assert anytime.n.to_list() == np.cumsum(list(batch_sizes(deals))).tolist()
    shown = ["n", "estimate", "low", "high"]
    pd.testing.assert_frame_equal(anytime[shown][: len(found.looks)], found.looks[shown])
    stop = stops(looks, margin).set_index("test").loc["anytime"]
    assert (stop.verdict, stop.n) == (found.verdict, found.looks.n.iloc[-1])


def test_errors_are_counted():
    bounds = {
        0: [(-0.9, 0.9), (-0.2, -0.1)],  # B better, at the second look
        1: [(0.1, 0.9), (-0.9, 0.9)],  # A better, at the first
        2: [(-0.9, 0.9), (-0.9, 0.9)],  # undecided
        3: [(-0.04, 0.04), (0.1, 0.2)],  # equivalent, at the first
    }
    rows = [("anytime", i, look, 0.0, *each) for i, both in bounds.items() for look, each in enumerate(both, 1)]
    looks = pd.DataFrame(rows, columns=["test", "comparison", "n", "estimate", "low", "high"])
    ends = stops(looks, 0.05).sort_values("comparison")
    assert ends.verdict.to_list() == ["b_better", "a_better", "budget_spent", "equivalent"]
    assert ends.n.to_list() == [2, 1, 2, 1]

    def counted(truth):
        rates = error_rates(looks, truth, 0.05)
        assert (rates.n == 4).all()
        return dict(zip(rates.quantity, 4 * rates.estimate, strict=True))

    names = ["false_better", "false_equivalent", "undecided", "covered", "always_covered"]
    assert counted(0) == dict(zip(names, [2, 0, 1, 2, 1], strict=True))
    assert counted(0.15) == dict(zip(names, [1, 1, 1, 2, 2], strict=True))
    assert counted(-0.15) == dict(zip(names, [1, 1, 1, 2, 2], strict=True))


CASES = {  # A, B, with whom at the table, margin (None: just below the difference), deals of a comparison
    "equal": (heads, tails, (), 0.05, 3_000),
    "within the margin": ("hold_at:10", "hold_at:13", (), 0.05, 1_000),
    "just outside": ("hold_at:9", "hold_at:10", (), None, 1_000),
    "just outside, with `hold_at:14`": ("hold_at:15", "hold_at:17", ("hold_at:14",), None, 1_000),
}
SHOWN = ("false_better", "false_equivalent", "covered", "always_covered", "undecided")
ADJUSTED = {  # game, variant, A, B, margin (None: just below the difference), deals of a comparison
    "Pig, equal": ("pig", SHORT, heads, tails, 0.05, 1_500),
    "Pig, within the margin": ("pig", SHORT, "hold_at:10", "hold_at:13", 0.05, 1_000),
    "Pig, just outside": ("pig", SHORT, "hold_at:9", "hold_at:10", None, 1_000),
    "`plain`, within the margin": ("dice-fever", "plain", "race:2", "race:3", 0.1, 300),
    "`plain`, just outside": ("dice-fever", "plain", "race:2", "hold_dice:3", None, 300),
}
README = Path(analysis.comparisons.__file__).with_name("README.md")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_verdicts_are_wrong_at_most_as_often_as_they_say_and_the_documentation_shows_it(case):
    a, b, against, margin, deals = CASES[case]
    truth = 0.0 if case == "equal" else difference(a, b, *against)
    margin = 0.99 * abs(truth) if margin is None else margin
    assert (abs(truth) < margin) == (case in ("equal", "within the margin"))
    looks = rehearse("pig", a, b, 2_000, deals, against, SHORT, margin, seed=1, n_jobs=1)
    rates = error_rates(looks, truth, margin).pivot_table("estimate", "test", "quantity")
    anytime, student = rates.loc["anytime"], rates.loc["student_each_look"]
    assert anytime.false_better <= 1 - LEVEL
    assert anytime.false_equivalent <= 1 - LEVEL
    assert anytime.covered >= anytime.always_covered >= LEVEL
    assert anytime.undecided < 0.2  # it does decide
    assert abs(rates.loc["student_last_look"].covered - LEVEL) < 5 * math.sqrt(LEVEL * (1 - LEVEL) / 2_000)
    assert student.always_covered < LEVEL - 5 * math.sqrt(LEVEL * (1 - LEVEL) / 2_000)  # what peeking does
    if case == "equal":
        assert student.false_better > 1 - LEVEL + 5 * math.sqrt(LEVEL * (1 - LEVEL) / 2_000)
    spent = stops(looks, margin).groupby("test").n.mean()
    for test, of_test in rates.iterrows():
        shares = " | ".join(f"{of_test[quantity]:.2%}" for quantity in SHOWN)
        line = f"| {case} | {truth:+.4f} | {margin:.4f} | `{test}` | {shares} | {spent[test]:,.0f} |"
        assert line in README.read_text(encoding="utf-8"), line


def exact_difference(case):
    game, variant, a, b, *_ = ADJUSTED[case]
    if a is heads:
        return 0.0
    evaluate = exact.evaluate if game == "pig" else evaluation.evaluate
    return evaluate(game, [a, b], variant)[0] + evaluate(game, [b, a], variant)[1] - 1


@pytest.mark.slow
@pytest.mark.parametrize("case", ADJUSTED)
def test_verdicts_adjusted_for_luck_are_wrong_at_most_as_often_and_the_documentation_shows_it(case):
    game, variant, a, b, margin, deals = ADJUSTED[case]
    truth = exact_difference(case)
    margin = 0.99 * abs(truth) if margin is None else margin
    looks = rehearse(game, a, b, 2_000, deals, variant=variant, margin=margin, seed=1, n_jobs=1, luck=True)
    looks = looks[looks.test == "anytime"]
    rates = error_rates(looks, truth, margin).set_index("quantity").estimate
    assert rates.false_better <= 1 - LEVEL
    assert rates.false_equivalent <= 1 - LEVEL
    assert rates.covered >= rates.always_covered >= LEVEL
    assert rates.undecided < 0.2
    shares, spent = " | ".join(f"{rates[quantity]:.2%}" for quantity in SHOWN), stops(looks, margin).n.mean()
    line = f"| {case} | {truth:+.4f} | {margin:.4f} | {shares} | {spent:,.0f} |"
    assert line in README.read_text(encoding="utf-8"), line
