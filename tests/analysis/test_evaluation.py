"""What ``evaluate`` and ``regret`` print: exact rows with the keys of every estimate, for any game that is small enough."""

import json

import pytest

from analysis.cli import main
from sims import exact
from sims.jit import INTERPRETED
from sims.rulesets.dice_fever import exact as dice_fever
from sims.rulesets.dice_fever.evaluation import regret

ROW = ["quantity", "policy", "seat", "n", "estimate", "stderr", "low", "high", "level", "method"]
HEAD = ["ruleset", "version", "variant"]
PIG = ["evaluate", "pig", "hold_at:4", "hold_at:3", "--set", "goal=5"]
FEVER = ["evaluate", "dice-fever", "hold_dice:3", "race:2", "--variant", "plain", "--set", f"target={2 if INTERPRETED else 6}"]
REGRET = ["regret", "dice-fever", "hold_dice:3", "--variant", "plain", "--set", f"target={4 if INTERPRETED else 20}"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(dice_fever, "user_cache_path", lambda _: tmp_path)


def printed(capsys, args):
    main(args)
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


@pytest.mark.parametrize("args", [PIG, FEVER], ids=["any game", "the game's own"])
def test_evaluate_json(capsys, args):
    data = json.loads(printed(capsys, [*args, "--json"]))
    assert list(data) == [*HEAD, "estimates"]
    rows = data["estimates"]
    assert all(list(row) == ROW for row in rows)
    assert all(row["low"] == row["estimate"] == row["high"] for row in rows)
    assert all((row["n"], row["level"], row["stderr"], row["method"]) == (None, None, 0, "exact") for row in rows)
    value = {(row["policy"], row["seat"]): row["estimate"] for row in rows}
    one, two = args[2:4]
    there, back = (exact.evaluate(args[1], seats, data["variant"]) for seats in ([one, two], [two, one]))
    assert [value[one, 0], value[two, 1]] == pytest.approx(there, abs=1e-9)
    assert [value[two, 0], value[one, 1]] == pytest.approx(back, abs=1e-9)
    assert value[one, None] == pytest.approx((there[0] + back[1]) / 2, abs=1e-9)


def test_evaluate_a_policy_against_itself_and_more_seats(capsys):
    data = json.loads(printed(capsys, ["evaluate", "pig", *["hold_at:4"] * 3, "--set", "goal=3", "--json"]))
    assert [row["seat"] for row in data["estimates"]] == [None, 0, 1, 2]
    assert data["estimates"][0]["estimate"] == pytest.approx(1 / 3, abs=1e-9)


def test_evaluate_text(capsys):
    out = printed(capsys, PIG)
    assert out.startswith("ruleset pig  version 1  variant standard,goal=5\n")
    assert "exact" in out


def test_regret_json(capsys):
    data = json.loads(printed(capsys, [*REGRET, "--json"]))
    assert list(data) == [*HEAD, "opponent", "estimates", "worst"]
    value = {(row["quantity"], row["seat"]): row["estimate"] for row in data["estimates"]}
    assert {quantity for quantity, _ in value} == {
        "win_rate", "best_win_rate", "regret", "regret_cards", "regret_stop", "regret_relance",
    }  # fmt: skip
    for seat in (None, 0, 1):
        kinds = sum(value[f"regret_{kind}", seat] for kind in ("cards", "stop", "relance"))
        assert value["best_win_rate", seat] - value["win_rate", seat] == pytest.approx(kinds, abs=1e-9)
        assert value["regret", seat] == pytest.approx(kinds, abs=1e-9)
    assert value["best_win_rate", None] == pytest.approx(0.5)
    assert 0 < len(data["worst"]) <= 10
    assert all(each["lost"] == pytest.approx(each["times"] * each["cost"]) for each in data["worst"])


@pytest.mark.skipif(INTERPRETED, reason="solves a game")
def test_regret_from_games(capsys):
    args = ["regret", "dice-fever", "uniform", *REGRET[3:], "--games", "999", "--seed", "7"]
    data = json.loads(printed(capsys, [*args, "--json"]))
    assert list(data) == [*HEAD, "opponent", "seed", "games", "estimates", "worst"]
    assert (data["seed"], data["games"]) == (7, 1000)
    assert all(list(row) == ROW for row in data["estimates"])
    rows = {(row["quantity"], row["seat"]): row for row in data["estimates"]}
    assert len(rows) == 18
    for quantity in ("win_rate", "regret", "regret_stop"):
        row = rows[quantity, None]
        assert (row["method"], row["n"], row["level"]) == ("student", 500, 0.95)
        assert 0 <= row["low"] < row["estimate"] < row["high"] < 1
        assert row["estimate"] == pytest.approx((rows[quantity, 0]["estimate"] + rows[quantity, 1]["estimate"]) / 2)
    assert (rows["best_win_rate", None]["method"], rows["best_win_rate", None]["n"]) == ("exact", None)
    none = rows["regret_relance", None]  # there are no cards, and games do not prove that nothing was to lose
    assert (none["estimate"], none["low"], none["method"]) == (0, 0, "wilson")
    assert 0 < none["high"] < 0.01
    assert "in one game at" in printed(capsys, args)


def test_regret_text(capsys):
    out = printed(capsys, REGRET)
    assert "THROW where STOP is best" in out
    assert "10." in out or INTERPRETED


@pytest.mark.slow
@pytest.mark.skipif(INTERPRETED, reason="solves a game")
def test_rules(capsys):
    args = ["rules", "--variant", "plain", "--set", "target=8", "--lines", "1,2"]
    data = json.loads(printed(capsys, [*args, "--json"]))
    assert list(data) == [*HEAD, "opponent", "estimates", "rules", "unsaid"]
    assert [list(row) for row in data["estimates"]] == [ROW, ROW]
    one, two = data["estimates"]
    assert 0 < two["estimate"] <= one["estimate"] < 0.5
    for row, card in zip((one, two), data["rules"], strict=True):
        assert (row["quantity"], row["seat"], row["method"], row["policy"]) == ("regret", None, "exact", card["policy"])
        assert row["estimate"] == pytest.approx(0.5 - regret("dice-fever", card["policy"], data["variant"]).win.mean())
        assert 1 <= len(card["words"]) <= card["lines"]
    text = printed(capsys, args)
    assert f"at most 1 line: {one['policy']}" in text
    assert f" 1. {data['rules'][1]['words'][0]}" in text
    assert data["unsaid"].split(";")[0] in text


@pytest.mark.parametrize(
    "args, words",
    [
        (["regret", "pig", "hold_at:20"], "regret is not known for pig; choose from dice-fever"),
        (["regret", "dice-fever", "uniform", "--variant", "plain", "--set", "target=3"], "simulate it instead, with --games"),
        (["regret", "dice-fever", "race", "--seed", "3"], "--seed needs --games"),
        (["regret", "dice-fever", "race", "--games", "0"], "--games"),
        (["rules", "--lines", "0"], "lines must be a whole number from 1 to 9, not 0"),
        (["rules", "--lines", "3,12"], "lines must be a whole number from 1 to 9, not 12"),
        (["rules", "--lines", "three"], "'three' is not a list of values such as 1,3,7"),
        (["rules", "--lines", ""], "'' is not a list of values such as 1,3,7"),
        (["rules", "--variant", "plane"], "'plane'"),
        (["rules", "--set", "target=x"], "target must be a whole number"),
        (["rules", "--set", "target=100000"], "too many positions"),
        (["rules", "pig"], "pig"),
        (["regret", "dice-fever", "nobody"], "unknown policy of dice-fever: 'nobody'"),
        (["regret", "dice-fever", "race", "--set", "target=x"], "target must be a whole number"),
        (["evaluate", "pig", "hold_at"], "2 to 10 seats, not 1"),
        (["evaluate", "dice-fever", "race", "uniform", "--variant", "plain"], "policy uniform in seat 1 draws random"),
        (["evaluate", "dice-fevre", "race", "race"], "did you mean dice-fever?"),
    ],
)
def test_bad_input_is_one_line(capsys, args, words):
    with pytest.raises(SystemExit) as caught:
        main(args)
    captured = capsys.readouterr()
    assert caught.value.code == 2
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert words in captured.err
