"""The scorecard against raw rows and exact values, its vocabulary over all rulesets, and verdicts of sensitivity."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.balance import (
    CHANGES,
    CONCLUSIONS,
    HOLDS,
    QUANTITIES,
    UNDECIDED,
    _verdicts,
    alternatives,
    balance,
    luck_share,
    scorecard,
    sensitivity,
    sensitivity_text,
)
from analysis.cli import main
from sims import RULESETS, InputError, simulate
from sims.exact import evaluate
from sims.jit import INTERPRETED
from sims.policy import load_policy
from sims.trajectories import RATIOS

PIG = RULESETS["pig"]
SHORT = "standard,goal=15"
GAMES = 40 if INTERPRETED else 400
each_ruleset = pytest.mark.parametrize("ruleset", RULESETS.values(), ids=RULESETS)
FEW = replace(PIG, ladder=("uniform", "hold_at:5", "hold_at:8"), restricted=(("a second throw", "hold_at:8", "hold_at:1"),))


def line(table, quantity, **where):
    rows = table[table.quantity == quantity]
    for column, value in where.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.fixture(scope="module")
def card():
    return balance(FEW, variant=SHORT, games=GAMES, seed=3, progress=False)


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    """Results and rows of the games that `card` watches, and of a mixed matchup."""
    played = []
    for specs in (["hold_at:8"] * 2, ["hold_at:8", "hold_at:5"]):
        folder = tmp_path_factory.mktemp("rows")
        results = simulate(PIG, specs, GAMES, 3, SHORT, rows=folder, watch=True)
        played.append((results, pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])))
    return played


# --- the lines --------------------------------------------------------------------------------------------------------------


def test_every_line_has_its_quantity_interval_and_seed(card):
    assert list(dict.fromkeys(card.quantity)) == list(QUANTITIES)
    assert card[["n", "estimate", "low", "high", "level", "method", "seed", "games"]].notna().all().all()
    assert ((card.low <= card.estimate) & (card.estimate <= card.high)).all()
    assert set(card[card.quantity.isin(["drama", "contested"])].what) == {"exact chance to win"}
    assert card[card.quantity == "ladder_step"].what.tolist() == ["over uniform", "over hold_at:5"]
    assert line(card, "restricted_play").what == "without a second throw"


@pytest.mark.parametrize("which", [0, 1], ids=["self", "mixed"])
def test_lines_of_watched_games_are_those_of_the_rows(raw, which):
    results, rows = raw[which]
    table = scorecard(results)
    games = rows.groupby(["deal", "rotation"]).agg(
        {"turns": "sum", **dict.fromkeys(["lead_changes", "first_wins", "decided", "plies", *RATIOS], "first")}
    )
    for part, (_, whole) in RATIOS.items():
        assert line(table, part).estimate == pytest.approx(games[part].sum() / games[whole].sum()), part
    deals = games.groupby("deal").sum()
    residual = deals.contested - deals.contested.sum() / deals.decided.sum() * deals.decided
    stderr = residual.std(ddof=0) / deals.decided.mean() / np.sqrt(len(deals) - 1)
    assert line(table, "contested").stderr == pytest.approx(stderr)
    assert line(table, "turns_per_game").estimate == pytest.approx(games.turns.mean())
    assert line(table, "turns_deviation").estimate == pytest.approx(games.turns.std(ddof=0))
    assert line(table, "turns_tail").estimate == np.sort(games.turns)[int(0.95 * len(games))]
    assert line(table, "lead_changes").estimate == pytest.approx(games.lead_changes.mean())
    assert line(table, "start_advantage").estimate == pytest.approx(games.first_wins.mean() - 1 / 2)


def test_who_begins_is_seat_0_in_pig(raw):
    table = scorecard(raw[0][0])
    assert line(table, "start_advantage").estimate == pytest.approx(line(table, "seat_advantage", seat=0).estimate)


def test_starting_pig_is_worth_what_is_exact(raw):
    row = line(scorecard(raw[0][0]), "start_advantage")
    exactly = evaluate("pig", ["hold_at:8"] * 2, SHORT)[0] - 1 / 2
    assert abs(row.estimate - exactly) < 5 * row.stderr


# --- skill and luck ---------------------------------------------------------------------------------------------------------


def duels(*rates, stderr=0.0):
    return pd.DataFrame(
        {"estimate": rates, "stderr": stderr, "n": 1000, "policy": "a", "quantity": "win_rate", "matchup": "a v b"}
    )


def test_luck_is_the_variance_that_policies_do_not_explain():
    """Of a game between two policies drawn from three, simulated: the variance of its outcome given the policies."""
    rates = (0.6, 0.9, 0.75)
    rng = np.random.default_rng(1)
    first_is_better, which = rng.integers(0, 2, 200_000), rng.integers(0, 3, 200_000)
    chance = np.where(first_is_better, np.array(rates)[which], 1 - np.array(rates)[which])
    won = rng.random(200_000) < chance
    within = np.mean([won[(which == i) & (first_is_better == j)].var() for i in range(3) for j in range(2)])
    assert luck_share(duels(*rates), 2).iloc[0].estimate == pytest.approx(within / won.var(), abs=0.01)


def test_no_difference_is_all_luck_and_certainty_none():
    assert luck_share(duels(0.5, 0.5), 2).iloc[0].estimate == 1
    assert luck_share(duels(1.0, 1.0), 2).iloc[0].estimate == pytest.approx(0)
    assert luck_share(duels(1.0), 4).iloc[0].estimate == pytest.approx(1 - (3 / 4) ** 2 / (1 / 4 * 3 / 4))


def test_the_interval_of_the_luck_share_covers_it():
    rng, rates, n, covered = np.random.default_rng(2), np.array([0.55, 0.7, 0.62]), 500, 0
    true = 1 - np.mean((2 * rates - 1) ** 2)
    for _ in range(100):
        seen = rng.binomial(n, rates) / n
        row = luck_share(duels(*seen, stderr=np.sqrt(seen * (1 - seen) / n)), 2).iloc[0]
        covered += row.low <= true <= row.high
    assert covered / 100 > 0.95 - 5 * np.sqrt(0.95 * 0.05 / 100)


@each_ruleset
def test_ladders_and_restricted_policies_are_settings_of_the_ruleset(ruleset):
    assert len(set(ruleset.ladder)) == len(ruleset.ladder) > 2
    assert ruleset.restricted
    for spec in (*ruleset.ladder, *(spec for _, *pair in ruleset.restricted for spec in pair)):
        assert load_policy(ruleset, spec).spec == spec
    assert all(free != bound for _, free, bound in ruleset.restricted)


def test_policies_and_seats_must_fit():
    with pytest.raises(InputError, match="2 policies do not fit 3 seats"):
        balance("pig", ["hold_at:20", "hold_at:25"], seats=3)
    with pytest.raises(InputError, match="no ladder"):
        balance(replace(PIG, ladder=()))
    with pytest.raises(InputError, match="2 to 10 seats"):
        balance("pig", seats=11)
    with pytest.raises(InputError, match="must be a list"):
        balance("pig", "hold_at:20")


# --- sensitivity ------------------------------------------------------------------------------------------------------------


@each_ruleset
def test_alternatives_are_every_other_answer(ruleset):
    base, found = ruleset.variant(), alternatives(ruleset)
    for name, value, variant in found:
        changed = [field for field in base.values if base.values[field] != variant.values[field]]
        assert changed == [name]
        assert ruleset.fields[name].format(variant.values[name]) == value
    asked = {name for name, *_ in found}
    for name, field in ruleset.fields.items():
        if isinstance(field.default, bool | str):
            assert name in asked
    for name, field in ruleset.fields.items():
        for value in field.alternatives:
            assert field.parse(name, field.format(value)) == value


def test_an_assumption_that_is_not_the_default_is_compared_with_it():
    found = alternatives("dice-fever", "standard,suite_value=5,double_forced=true")
    assert {("suite_value", "10"), ("double_forced", "false")} <= {(name, value) for name, value, _ in found}


def test_verdicts():
    rows = [("assumed", 0.1, 0.2), ("a", 0.01, 0.3), ("b", -0.2, -0.1), ("c", -0.1, 0.1)]
    rows += [("assumed", -0.1, 0.1), ("a", 0.1, 0.2), ("assumed", -0.2, -0.1), ("a", -0.3, -0.2), ("b", 0.1, 0.2)]
    expected = [HOLDS, HOLDS, CHANGES, UNDECIDED, UNDECIDED, UNDECIDED, HOLDS, HOLDS, CHANGES]
    assert _verdicts(pd.DataFrame(rows, columns=["field", "low", "high"])) == expected


def test_sensitivity_is_a_row_per_conclusion_and_variant():
    """Of Pig with another goal as what its rules leave open."""
    goal = replace(PIG.fields["goal"], default=15, alternatives=(2, 30))
    game = replace(FEW, rules=OtherRules(PIG.rules, {**PIG.fields, "goal": goal}))
    table = sensitivity(game, games=GAMES, seed=3, progress=False)
    assert table.groupby("quantity").size().to_dict() == {"start_advantage": 3, "ladder_step": 6, "restricted_play": 3}
    assert table.value.tolist() == ["", "2", "30"] * 4
    assert table.level.unique() == pytest.approx([1 - 0.05 / 12])
    card = balance(game, games=GAMES, seed=3, progress=False)
    for quantity in CONCLUSIONS:
        there = card[card.quantity == quantity].estimate.to_numpy()
        here = table[(table.quantity == quantity) & (table.field == "assumed")].estimate.to_numpy()
        difference = {"start_advantage": there, "ladder_step": there - 1 / 2, "restricted_play": 1 / 2 - there}
        assert here == pytest.approx(difference[quantity])
    assert INTERPRETED or line(table, "ladder_step", what="hold_at:8 over hold_at:5", value="30").verdict == HOLDS
    worthless = line(table, "restricted_play", value="2")  # any throw but a 1 wins
    assert (worthless.estimate, worthless.verdict) == (0, UNDECIDED)


class OtherRules:
    """The rules of a game with other fields."""

    def __init__(self, rules, fields):
        self.rules, self.FIELDS = rules, fields

    def __getattr__(self, name):
        return getattr(self.rules, name)


def test_the_text_of_sensitivity_has_what_differs_and_names_the_same_games():
    rows = [
        ("", 0.1, 0.05, 0.15, HOLDS),
        ("a", 0.1, 0.05, 0.15, HOLDS),
        ("b", -0.2, -0.3, -0.1, CHANGES),
        ("c", 0.0, -0.1, 0.1, UNDECIDED),
    ]
    table = pd.DataFrame(rows, columns=["value", "estimate", "low", "high", "verdict"]).assign(n=7, field="word", level=0.99)
    table.loc[0, "field"] = "assumed"
    both = pd.concat([table.assign(what="worth of x"), table[:2].assign(what="worth of y")], ignore_index=True)
    assert sensitivity_text(both).splitlines() == [
        "Differences from what is fair; all 6 intervals hold at once with 94 % (Bonferroni).",
        "",
        "worth of x: 0.1000 [0.0500, 0.1500] as assumed, n 7, holds",
        "under 3 other answers: holds 1, changes sign 1, undecided 1",
        "field answer estimate           interval      verdict",
        " word      b  -0.2000 [-0.3000, -0.1000] changes sign",
        " word      c   0.0000  [-0.1000, 0.1000]    undecided",
        "the same games: word=a",
        "",
        "worth of y: 0.1000 [0.0500, 0.1500] as assumed, n 7, holds",
        "under 1 other answers: holds 1, changes sign 0, undecided 0",
        "the same games: word=a",
    ]


def test_the_command_asks_for_sensitivity(capsys, monkeypatch):
    goal = replace(PIG.fields["goal"], default=15, alternatives=(2, 30))
    monkeypatch.setitem(RULESETS, "pig", replace(FEW, rules=OtherRules(PIG.rules, {**PIG.fields, "goal": goal})))
    command = ["balance", "pig", "--games", "20", "--sensitivity"]
    main(command)
    text = capsys.readouterr().out
    assert "worth of the first turn: " in text
    assert max(map(len, text.splitlines())) <= 100
    main([*command, "--json"])
    assert len(json.loads(capsys.readouterr().out)["estimates"]) == 12


def test_rules_without_open_questions_are_refused():
    with pytest.raises(InputError, match="leave nothing open"):
        sensitivity("pig")
    with pytest.raises(InputError, match="did you mean ladder_step"):
        sensitivity("pig", quantities=["ladder_steps"])


# --- the command ------------------------------------------------------------------------------------------------------------


def test_command(capsys, monkeypatch):
    monkeypatch.setitem(RULESETS, "pig", FEW)
    command = ["balance", "pig", "--set", "goal=15", "--games", "20", "--policies", "hold_at:5"]
    main([*command, "--json"])
    data = json.loads(capsys.readouterr().out)
    assert (data["ruleset"], data["variant"], data["seed"], data["games"]) == ("pig", SHORT, 0, 20)
    assert {row["quantity"] for row in data["estimates"]} == set(QUANTITIES)
    assert data["estimates"][0]["matchup"] == "hold_at:5 v hold_at:5"
    main(command)
    captured = capsys.readouterr()
    assert "luck_share" in captured.out
    assert captured.err == ""


def test_command_says_what_is_wrong(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["balance", "pig", "--sensitivity"])
    assert stopped.value.code == 2
    assert "leave nothing open" in capsys.readouterr().err
