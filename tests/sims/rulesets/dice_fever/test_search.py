"""The search for rules that fit on a card: its costs are the regrets, and no single change improves what it finds."""

import itertools

import pytest
from joblib import Memory

from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever import evaluation, exact, search
from sims.rulesets.dice_fever.evaluation import Costs, evaluate, regret
from sims.rulesets.dice_fever.readable import BY, RULES, lines, rule_1, rule_3, rule_7
from sims.rulesets.dice_fever.search import find, grid_of, starts

FEVER = RULESETS["dice-fever"]
SMALL = "standard,target=6,parade_cards=1,risk_cards=1"
compiled_only = pytest.mark.skipif(INTERPRETED, reason="solves games")


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setattr(exact, "user_cache_path", lambda name: folder)
        ignored = ["costs", "policy"]
        patch.setattr(evaluation, "_kept_cost", Memory(folder, verbose=0).cache(evaluation._cost, ignore=ignored))
        yield


# --- costs ----------------------------------------------------------------------------------------------------------------

SOME = [  # with the scores of a small game
    rule_1,
    rule_3(lead=1, hold=2, rest=3),
    rule_7(chase=2, lead=2, hold=0, rest=3),
    rule_1(parade=0),
    rule_1(by="dice", stop=2, hold=3, threat=4),
    rule_1(parade=2),
]


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize("room", [(1 << 17, 1 << 19), (4, 64)], ids=["room for all turns", "room for few"])
@pytest.mark.parametrize("variant", [SMALL, f"{SMALL},parade_after_risk=true,duel_stake=difference", "plain,target=20"])
def test_costs_are_regrets(monkeypatch, variant, room):
    """One after the other, as they share what is known of best play's turns; `regret` knows nothing of turns before."""
    monkeypatch.setattr(evaluation, "TURNS", room[0])
    monkeypatch.setattr(evaluation, "BEST_TURNS", room[1])
    costs = Costs(FEVER, variant)
    for rule in SOME:
        found = regret(FEVER, rule, variant)
        assert costs.of(rule) == pytest.approx((found.best - found.win).mean(), abs=1e-12)
        assert 0 < costs.of(rule) < 0.5


@compiled_only
def test_a_cost_is_remembered(monkeypatch):
    found = Costs(FEVER, "plain,target=12")(rule_1)
    monkeypatch.setattr(Costs, "of", None)  # would fail if anything were evaluated again
    assert Costs(FEVER, "plain,target=12")(rule_1) == found
    for rule, variant in ((rule_3, "plain,target=12"), (rule_1, "plain,target=13")):
        with pytest.raises(TypeError):
            Costs(FEVER, variant)(rule)


# --- the search -----------------------------------------------------------------------------------------------------------


def cost(rule):
    """How seldom a rule wins a short game against hold_dice:3."""
    first, second = (evaluate("dice-fever", pair, "plain,target=20") for pair in ([rule, "hold_dice:3"], ["hold_dice:3", rule]))
    return -(first[0] + second[1]) / 2


def test_it_finds_the_best_of_a_small_grid():
    grid = {"stop": range(6, 11), "goal": (0, 1)}
    found, least = search.search(cost, rule_1(stop=10), grid, 2)
    every = {(stop, goal): cost(rule_1(stop=stop, goal=goal)) for stop, goal in itertools.product(*grid.values())}
    assert least == min(every.values())
    assert cost(found) == least


def test_it_keeps_to_the_number_of_lines():
    found, _ = search.search(cost, rule_1, {"stop": range(7, 10), "goal": (0, 1), "chase": (0, 10)}, 1)
    assert len(lines(found)) == 1


def test_it_takes_no_worse_rule():
    found, least = search.search(lambda rule: 1.0, rule_7, {"stop": range(1, 20)}, 7)
    assert (found, least) == (rule_7, 1.0)


def made_up(weights):
    """A cost that is a sum over parameters, so that the best rule is known; goal and relance gain less together."""

    def cost(rule):
        on = dict(zip(rule.parameters, rule.values, strict=True))
        return sum(table.get(on[name], 0) for name, table in weights.items()) + 5 * bool(on["goal"] and on["relance"])

    return cost


def test_with_few_lines_it_takes_those_that_gain_most():
    cost, grid = made_up({"goal": {1: -3}, "relance": {4: -4, 5: -6}, "dice": {4: -2}, "stop": {7: -1}}), grid_of("worth", 76)
    assert search.search(cost, rule_1, grid, 1) == (rule_1(stop=7), -1)
    assert search.search(cost, rule_1, grid, 2) == (rule_1(stop=7, relance=5), -7)
    assert search.search(cost, rule_1, grid, 9) == (rule_1(stop=7, relance=5, dice=4), -9)


def test_the_starts():
    assert len(starts()) == 9
    assert {(rule.values[0], rule(by="worth", stop=8).spec) for rule in starts() if rule.values[0] != "dice"} == {
        (by, cards) for by in BY[:2] for cards in ("rule_1", "rule_1:parade=2", "rule_1:parade=0")
    }
    for start in starts():
        grid, on = grid_of(start.values[0], 76), dict(zip(start.parameters, start.values, strict=True))
        assert all(on[name] in values for name, values in grid.items()), start


def test_the_grid_goes_with_the_target():
    assert grid_of("worth", 76)["chase"] == (0, 44, 60, 68)
    assert grid_of("worth", 12)["chase"] == (0, 4)
    assert grid_of("dice", 20)["rest"] == (0, 1, 8, 16)


@compiled_only
@pytest.mark.slow
def test_no_single_change_improves_what_is_found():
    variant = "plain,target=9"
    costs = Costs(FEVER, variant)
    before = 1.0
    for n in (1, 2):
        found, least = find(variant, n)
        assert len(lines(found)) <= n
        assert least == costs(found) <= min(before, *(costs(start) for start in starts() if len(lines(start)) <= n))
        for name, values in grid_of(found.values[0], 9).items():
            for value in values:
                assert len(lines(found(**{name: value}))) > n or costs(found(**{name: value})) >= least
        before = least


@pytest.mark.parametrize("n", [0, 10, 1.5, "3"])
def test_a_bad_number_of_lines_is_refused(n):
    with pytest.raises(InputError, match="lines"):
        find("plain", n)


@pytest.mark.long
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_no_single_change_improves_the_rules(rule):
    """Of the grid, with no more lines: a minute, three and five."""
    costs, n_lines = Costs(FEVER, "standard"), len(lines(rule))
    least = costs(rule)
    for name, values in grid_of(rule.values[0], 76).items():
        for value in values:
            other = rule(**{name: value})
            assert len(lines(other)) > n_lines or costs(other) >= least, other
