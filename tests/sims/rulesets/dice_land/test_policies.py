"""What the policies of Dice Land do, decision by decision, and that they beat what they should."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from analysis.estimates import win_rates
from sims import simulate
from sims.jit import INTERPRETED
from sims.policy import load_policy
from sims.ruleset import MAX_ACTIONS
from sims.rulesets import RULESETS
from sims.rulesets.dice_land import policies, rules
from sims.rulesets.dice_land.boards import position
from sims.rulesets.dice_land.maps import bit, size
from sims.streams import open_deal
from sims.trace import follow

GAME = RULESETS["dice-land"]
S1 = "R5 B4 R2 B3 R1 B6 B2 R4"
HANDS = "6 6 4 3 2 1 6 5 5 3 3 2"


def at(dice=S1, variant="standard", seat=0):
    return position(GAME, dice, seat, variant)


def placing(words="", hands=HANDS):
    return follow(GAME, GAME.new_state(2, "standard,hexes=8,map=spiral"), f"{hands} {words}")


def stream(deal=0):
    dice, minds = np.zeros((3, 4), np.uint64), np.zeros((2, 4), np.uint64)
    with np.errstate(over="ignore"):
        open_deal(dice, minds, np.uint64(5), deal)
    return minds[0]


@cache
def solved(spec, variant):
    return load_policy(GAME, spec).solved_for(GAME, GAME.variant(variant))


def answer(spec, state, variant="standard", rng=None):
    actions = np.zeros(MAX_ACTIONS, np.int32)
    n = rules.legal_actions(state, actions)
    each = solved(spec, variant)
    with np.errstate(over="ignore"):
        return GAME.describe(state, int(each.function(state, actions, n, each.params, stream() if rng is None else rng)))


# --- placement --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("left, values", [("any", {1, 2, 3, 4, 6}), ("low", {3, 4, 6}), ("high", {1, 2, 3, 4})])
def test_left_over_rules(left, values):
    state, rng = placing(), stream()
    placed = {int(answer(f"uniform:uniform,left={left}", state, rng=rng)[0]) for _ in range(200)}
    assert placed == values


def test_left_over_rules_keep_two_of_equal_dice():
    state = placing(hands="6 6 2 2 2 1 6 5 5 3 3 2")
    assert [int(policies.n_spare(state, value, policies.LOW)) for value in range(1, 7)] == [0, 2, 0, 0, 0, 2]
    assert [int(policies.n_spare(state, value, policies.HIGH)) for value in range(1, 7)] == [1, 3, 0, 0, 0, 0]
    assert [int(policies.n_spare(state, value, policies.ANY)) for value in range(1, 7)] == [1, 3, 0, 0, 0, 2]


@pytest.mark.parametrize("left, sums", [("low", (3, 5)), ("high", (12, 11))])
def test_the_two_dice_kept(left, sums):
    """Played to the end of the placement, the lowest or the highest two are left."""
    state = placing()
    while state.phase == rules.PLACE:
        actions = {GAME.describe(state, action): action for action in GAME.legal(state)}
        GAME.advance(state, actions[answer(f"greedy:3,placement=strong_first,left={left}", state)])
    assert tuple(state.left_pips) == sums


def test_uniform_places_on_every_free_hex():
    state, rng = placing("6@3"), stream()
    assert {answer("uniform", state, rng=rng)[2:] for _ in range(300)} == set("0124567")


def test_strong_first_goes_beside_the_weakest_enemy():
    assert answer("greedy:3,placement=strong_first", placing()) == "6@0"  # nobody there: most neighbours
    assert answer("greedy:3,placement=strong_first", placing("1@7 6@4 6@5")) == "5@1"  # only 1 touches 7


def test_edge_safe_puts_weak_dice_at_the_edge():
    assert answer("greedy:3,placement=edge_safe", placing()) == "1@7"  # one neighbour
    assert answer("greedy:3,placement=edge_safe", placing("1@7")) == "2@2"  # three neighbours, the lowest such hex


def test_cluster_makes_pairs_against_an_enemy():
    state = placing("6@0 6@1 1@4")  # blue to place; then red
    follow(GAME, state, "5@7")
    assert answer("massing", state) == "6@2"  # with 0 against 1
    for h in (3, 5):
        assert policies.pairs_facing(state, h) == 0
    assert policies.pairs_facing(state, 2) == policies.pairs_facing(state, 6) == 1


def test_defaults_of_massing():
    assert load_policy(GAME, "massing").spec == "massing:3"
    assert load_policy(GAME, "massing:3,placement=cluster,left=low").spec == "massing:3"
    state = placing()
    for placement in policies.PLACEMENTS:
        for left in policies.LEFT:
            settings = f"3,placement={placement},left={left}"
            assert answer(f"massing:{settings}", state) == answer(f"greedy:{settings}", state)


# --- attack, choice, move ---------------------------------------------------------------------------------------------------


def test_greedy_takes_the_attack_with_the_best_gain():
    """5 on 2 removes it with rolls of 2 to 5."""
    assert answer("greedy", at("R5 B6 . . . . B2 .")) == "0>6"
    assert answer("greedy", at("R4 B6 . . . . . R4")) == "0+7>1"  # together they may bring it down


def test_single_attacks_with_one_die_wherever_it_can():
    assert answer("single", at("R4 B6 . . . . . R4")) in ("0>1", "7>1")
    assert answer("single", at("R5 B6 . . . . B2 .")) == answer("greedy", at("R5 B6 . . . . B2 .")) == "0>6"
    follow_up = follow(GAME, at(), "0+2>1 2 4")
    assert answer("single", follow_up) == answer("greedy", follow_up)


def test_greedy_declines_what_loses():
    variant = "standard,attack_mandatory=false"
    assert answer("greedy", at("R1 B6 . . . . . .", variant), variant) == "DECLINE"
    assert answer("greedy", at("R5 B1 . . . . . .", variant), variant) == "0>1"


def test_dutiful_declines_nothing():
    variant = "standard,attack_mandatory=false"
    assert answer("dutiful", at("R1 B6 . . . . . .", variant), variant) == "0>1"
    assert answer("dutiful", at(variant=variant), variant) == answer("greedy", at())


@pytest.mark.parametrize("preset", ["standard", "published"])
def test_dutiful_plays_as_greedy_must(preset):
    """Where attacks are optional, it plays the very games of ``greedy`` where they are not."""
    games = 6 if INTERPRETED else 500
    free = simulate("dice-land", ["dutiful:3"] * 2, games, 3, f"{preset},attack_mandatory=false", progress=False)
    must = simulate("dice-land", ["greedy:3"] * 2, games, 3, preset, progress=False)
    asked = ["plies"]  # the only attack is asked for where it may be declined
    numbers = ["measure", "seat", "value", "deals", "total", "squares"]
    free, must = (each[~each.measure.isin(asked)][numbers].reset_index(drop=True) for each in (free, must))
    pd.testing.assert_frame_equal(free, must)


def test_greedy_chooses_what_gains_most():
    assert answer("greedy", follow(GAME, at(), "0+2>1 2 4")) in ("0:4", "2:2")
    assert answer("greedy:0", follow(GAME, at(variant="published"), "0+2>1 2 4"), "published") == "0:4"


def test_greedy_moves_at_random():
    state, rng = follow(GAME, at("R3 B6 . R2 . . . ."), "1"), stream()
    assert {answer("greedy", state, rng=rng) for _ in range(100)} == {"STAY", "3-2", "3-4"}


def test_cautious_attacks_with_the_least_to_lose():
    """A 2 loses 5 pips in 6 rolls, a 6 loses 15."""
    assert answer("cautious", at("R6 B2 R2 . . . . .")).startswith("2")
    assert answer("cautious:0", at("R6 B2 R2 . . . . .")).startswith("0")


def test_cautious_moves_out_of_reach():
    """Beside the blue 6 the red 2 would be attacked by two."""
    state = follow(GAME, at("R3 B6 . R2 . . . ."), "1")
    assert answer("cautious", state) != "3-2"
    assert answer("expectimax", state) == answer("cautious", state)


def test_uniform_plays_every_option():
    state, rng = at(), stream()
    found = {answer("uniform", state, rng=rng) for _ in range(400)}
    assert len(found) == 16


# --- strength ---------------------------------------------------------------------------------------------------------------


def wins(one, other, variant, games):
    table = win_rates(simulate("dice-land", [one, other], games=games, seed=3, variant=variant, progress=False, n_jobs=1))
    row = table[(table.policy == load_policy(GAME, one).spec) & table.seat.isna()].iloc[0]
    return row.estimate, row.stderr


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["standard", "published"])
@pytest.mark.parametrize(
    "better, worse, games",
    [
        ("greedy", "uniform", 4_000),
        ("massing", "greedy", 4_000),
        ("massing", "massing:3,left=high", 4_000),
        ("greedy:0", "greedy:100", 4_000),
        ("expectimax", "greedy", 1_000),
        ("expectimax:0,placement=cluster,left=low", "massing:1", 6_000),
        ("expectimax", "expectimax:0,dice=100", 1_000),
    ],
)
def test_which_beats_which(better, worse, games, variant):
    share, error = wins(better, worse, variant, games)
    assert share - 0.5 > 5 * error


@pytest.mark.skipif(INTERPRETED, reason="the same run twice")
@pytest.mark.parametrize("variant", ["standard,hexes=8", "published,hexes=8,terrain=HILLS/TOWN/FOREST/MOUNTAINS/PLAINS"])
def test_interpreted_games_are_the_same(variant):
    game = {"games": 4, "seed": 2, "variant": variant, "progress": False, "n_jobs": 1}
    for matchup in (["greedy", "uniform"], ["cautious", "expectimax:3"]):
        compiled, plain = (simulate("dice-land", matchup, interpreted=mode, **game) for mode in (False, True))
        assert compiled.equals(plain)


def test_pairs_facing_counts_own_neighbours_of_both():
    state = at("R5 B4 R2 . . . R1 .")
    for h in range(8):
        own = int(state.near[h] & state.dice[0] & state.near[1]) if state.near[h] & bit(1) else 0
        assert policies.pairs_facing(state, h) == size(np.int64(own))
