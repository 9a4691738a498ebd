"""The policy ``optimal`` plays as the solution says, and wins as often as it says."""

import random
from functools import cache

import numpy as np
import pytest

from sims import RULESETS, simulate
from sims.errors import InputError
from sims.jit import INTERPRETED, addresses, ask, compile_policy, jit
from sims.policy import load_policy
from sims.ruleset import CHANCE, OVER
from sims.rulesets.dice_fever import exact, rules

GAME = RULESETS["dice-fever"]
SMALL = "standard,target=20,parade_cards=1,risk_cards=1"
VARIANTS = (
    SMALL,
    "plain,target=20",
    "standard,target=12,parade_cards=2,risk_cards=1,parade_after_risk=true,duel_stake=difference,last_turn_strict=false",
)


@jit
def answer_of(policies, state, actions, n, params, rng):
    return ask(policies, 0, state, actions, n, params, rng)


compiled_only = pytest.mark.skipif(INTERPRETED, reason="solves games")


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "user_cache_path", lambda name: tmp_path_factory.mktemp("cache"))
        yield


@cache
def optimal(variant):
    return GAME.policies["optimal"].solved_for(GAME, GAME.variant(variant))


def rate(table, policy, seat=None):
    """Win rate and its standard error, with the deal as the unit."""
    rows = table[(table.measure == "payoff")]
    rows = rows[rows.policy.isna() if policy is None else rows.policy == policy]
    row = rows[rows.seat.isna() if seat is None else rows.seat == seat].iloc[0]
    mean = row.total / row.deals
    error = np.sqrt((row.squares / row.deals - mean**2) / row.deals)
    return mean / row.per_deal, error / row.per_deal


@compiled_only
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_decision_is_a_best_option(variant):
    """By random play through the rules: the value of the chosen action is the best of ``Solution.options``."""
    solution, policy = exact.solution(GAME, variant), optimal(variant)
    actions, rng = np.zeros(64, np.int32), np.array([1, 2, 3, 1], np.uint64)
    choice, seen = random.Random(5), {}
    functions = np.array([compile_policy(policy.function, GAME.state)], np.uint64)
    state = GAME.new_state(2, solution.variant)
    while sum(seen.values()) < 25:
        who = rules.actor(state)
        if who == OVER:
            state = GAME.new_state(2, solution.variant)
        elif who == CHANCE:
            rules.apply_chance(state, choice.randrange(rules.chance(state)))
        else:
            n = rules.legal_actions(state, actions)
            if choice.random() < 0.3:
                options = solution.options(state)
                action = answer_of(functions, state, actions, n, addresses([policy.params]), rng)
                assert options[action] == pytest.approx(max(options.values()), abs=1e-9), GAME.render(state)
                seen[int(state.phase)] = seen.get(int(state.phase), 0) + 1
            rules.apply_action(state, choice.choice(GAME.legal(state)))
    assert rules.DECIDE in seen


@compiled_only
@pytest.mark.parametrize("variant", [SMALL, "plain"])
def test_against_itself_it_wins_as_often_as_the_solution_says(variant):
    policy = optimal(variant)
    table = simulate(GAME, [policy, policy], games=10_000, seed=4, variant=variant, progress=False)
    mean, error = rate(table, None, seat=0)
    assert abs(mean - exact.solution(GAME, variant).first_seat_win) < 5 * error
    assert int(table.truncated.iloc[0]) == 0


@compiled_only
@pytest.mark.long
def test_games_of_standard_match_the_exact_value():
    policy = optimal("standard")
    table = simulate(GAME, [policy, policy], games=200_000, seed=11, progress=False)
    mean, error = rate(table, None, seat=0)
    assert abs(mean - 0.465882218934) < 5 * error


@compiled_only
@pytest.mark.parametrize("spec", ["uniform", "hold_dice:3", "hold_pot:7", "race:2"])
def test_it_wins_at_least_as_often_as_any(spec):
    table = simulate(GAME, [optimal("plain"), spec], games=10_000, seed=2, variant="plain", progress=False)
    mean, error = rate(table, "optimal")
    assert mean > 0.5 - 5 * error


@compiled_only
def test_another_variant_than_it_was_solved_for_is_an_error():
    with pytest.raises(InputError, match=r"optimal was solved for the variant plain,target=20, not for plain"):
        simulate(GAME, [optimal("plain,target=20"), "hold_dice:3"], games=2, variant="plain", progress=False)


@compiled_only
def test_more_players_are_played_as_if_against_the_leader():
    table = simulate(GAME, [optimal(SMALL), "uniform", "hold_dice:3", "race:2"], games=4_000, variant=SMALL, progress=False)
    mean, error = rate(table, "optimal")
    assert mean > 0.25 - 5 * error


def test_the_variant_is_part_of_what_a_policy_does():
    """Remembered results tell policies apart by their digest; nothing is solved for it."""
    one, same, other = (
        load_policy(GAME, "optimal").solved_for(GAME, GAME.variant(f"plain,target={target}")) for target in (20, 20, 21)
    )
    assert one.digest == same.digest != other.digest
    assert "params" not in vars(one)
