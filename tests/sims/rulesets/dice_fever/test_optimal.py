"""The policy ``optimal`` plays as the solution says, and wins as often as it says."""

import random
from functools import cache

import numpy as np
import pytest
from numba import njit

from sims import RULESETS, simulate
from sims.errors import InputError
from sims.jit import INTERPRETED, MAX_ACTIONS, ask, jit, players
from sims.policy import load_policy
from sims.ruleset import CHANCE, OVER
from sims.rulesets.dice_fever import exact, rules, turns
from sims.rulesets.dice_fever import optimal as policies
from sims.rulesets.dice_fever.evaluation import regret
from sims.streams import draw

GAME = RULESETS["dice-fever"]
SMALL = "standard,target=20,parade_cards=1,risk_cards=1"
VARIANTS = (
    SMALL,
    "plain,target=20",
    "standard,target=12,parade_cards=2,risk_cards=1,parade_after_risk=true,duel_stake=difference,last_turn_strict=false",
)


@jit
def answer_of(player, state, n):
    return ask(player, state, n)


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
    actions, rng = np.zeros(MAX_ACTIONS, np.int32), np.array([[1, 2, 3, 1]], np.uint64)
    choice, seen = random.Random(5), {}
    player = players([policy], GAME.state, actions, rng)[0, 0]
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
                action = answer_of(player, state, n)
                assert options[action] == pytest.approx(max(options.values()), abs=1e-9), GAME.render(state)
                seen[int(state.phase)] = seen.get(int(state.phase), 0) + 1
            rules.apply_action(state, choice.choice(GAME.legal(state)))
    assert rules.DECIDE in seen


@compiled_only
@pytest.mark.parametrize("variant", VARIANTS)
def test_chances_at_the_start_of_a_turn_are_those_of_the_solution(variant):
    """By random play through the rules, last turns and Relance tokens among them."""
    solution, table, choice, seen = (
        exact.solution(GAME, variant),
        policies.table(GAME, GAME.variant(variant)),
        random.Random(6),
        0,
    )
    last = tokens = 0
    while seen < 300:
        state, turns = GAME.new_state(2, solution.variant), 0
        while rules.actor(state) != OVER:
            if int(state.turns.sum()) != turns:
                turns, seen = int(state.turns.sum()), seen + 1
                last, tokens = last + int(state.last_round), tokens + int(state.tokens[state.turn] > 0)
                expected = [solution.win_probability(state, seat) for seat in (0, 1)]
                assert [GAME.win_chance(state, seat, table) for seat in (0, 1)] == pytest.approx(expected, abs=1e-9)
            at_chance = rules.actor(state) == CHANCE
            GAME.advance(state, choice.randrange(rules.chance(state)) if at_chance else choice.choice(GAME.legal(state)))
    assert last
    assert tokens or "plain" in variant


@njit(nogil=True, error_model="numpy")
def compare(state, params, actions, rng, games):
    """Play at random; return how many decisions within a turn there were, how many ties, and how many short cuts went wrong."""
    n_decisions = n_ties = n_wrong = 0
    values = np.zeros(int(params[policies.LEAVES] + params[policies.NODES]))
    for _ in range(games):
        rules.reset(state)
        while rules.actor(state) != OVER:
            if rules.actor(state) == CHANCE:
                rules.apply_chance(state, draw(rng, rules.chance(state)))
                continue
            n = rules.legal_actions(state, actions)
            if state.phase == rules.DECIDE or state.phase == rules.WINDOW:
                rival = policies.rival_of(state)
                values[:] = np.nan  # what is not valued anew is no number
                chosen = policies.decide(state, params, rival, values)
                values[:] = np.nan
                ends = policies.ends_of(state, params, rival, policies.hand(state, params, state.turn))
                node = policies.find(params, turns.position_code(state))
                policies.value_each(params, ends, values, int(params[policies.BELOW]), node, False)
                first, place = policies.mean_of(params, values, node + 3)
                best = policies.best_of(params, values, node)
                n_decisions += 1
                n_ties += n > 1 and first == policies.mean_of(params, values, place)[0]
                n_wrong += chosen != params[best[0]] or np.isnan(best[1])
            rules.apply_action(state, actions[draw(rng, n)])
    return n_decisions, n_ties, n_wrong


@compiled_only
@pytest.mark.parametrize("variant", [*VARIANTS, "standard,target=6,parade_cards=0,risk_cards=1,relance_mode=forced"])
def test_a_short_cut_changes_no_decision(variant):
    """Against the sweep over everything below, at many random positions, where equal values keep the first action."""
    state, rng = GAME.new_state(2, variant), np.array([5, 2, 3, 1], np.uint64)
    n_decisions, n_ties, n_wrong = compare(state, optimal(variant).params, np.zeros(64, np.int32), rng, 3_000)
    assert n_decisions > 10_000
    assert n_ties > 0
    assert n_wrong == 0


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
    table = simulate(GAME, [policy, policy], games=4_000_000, seed=11, progress=False)
    mean, error = rate(table, None, seat=0)
    assert abs(mean - 0.465882218934) < 5 * error


@compiled_only
@pytest.mark.long
@pytest.mark.parametrize("spec", [spec for spec in GAME.named_policies if spec != "uniform"] + ["rule_1", "rule_3", "rule_7"])
def test_four_million_games_of_standard_match_the_exact_value(spec):
    """Against every shipped policy that draws no random numbers, seat by seat; no policy wins more than half."""
    wins = regret(GAME, spec).win
    assert wins.mean() < 0.5
    table = simulate(GAME, [spec, optimal("standard")], games=4_000_000, seed=11, progress=False)
    for seat in range(2):
        mean, error = rate(table, spec, seat)
        assert abs(mean - wins[seat]) < 5 * error


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
