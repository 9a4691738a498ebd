"""What the policies of Dicefest do, decision by decision, and which beats which."""

import numpy as np
import pytest

from analysis.estimates import win_rates
from sims import simulate
from sims.jit import INTERPRETED
from sims.policy import load_policy
from sims.ruleset import MAX_ACTIONS
from sims.rulesets import RULESETS
from sims.rulesets.dicefest import placement, policies, rules
from sims.rulesets.dicefest.boards import position
from sims.rulesets.dicefest.geometry import bit
from sims.trace import follow, options

GAME = RULESETS["dicefest"]
SOUTH = "6/2/3/5/4/1@01 3/5/6/2/1/4@04 1/2/4/5/3/6@06"
NORTH = "6/3/5/4/2/1@76 4/6/5/1/2/3@74 2/1/3/6/4/5@72"
LAST = "4/6/5/1/2/3@14 6/2/3/5/4/1@76 1/2/4/5/3/6@71"  # aN6 locks the last die
ELSEWHERE = "6/3/5/4/2/1@75 4/6/5/1/2/3@73 2/1/3/6/4/5@72"
DONE = "6/3/5/4/2/1@01 4/6/5/1/2/3@03 2/1/3/6/4/5@05"
WAY = "24 34 44 54 64"


def at(south=SOUTH, north=NORTH, free="", reserves=None, seat=0):
    return position(GAME, [south, north], free, reserves, seat)


def answers(spec, state, times=60):
    """The words that a policy says, asked again and again."""
    actions, rng = np.zeros(MAX_ACTIONS, np.int32), np.array([1, 2, 3, 1], np.uint64)
    n, each = rules.legal_actions(state, actions), load_policy(GAME, spec)
    with np.errstate(over="ignore"):
        found = {int(each.function(state, actions, n, each.params, rng)) for _ in range(times)}
    return {GAME.describe(state, action) for action in found}


def squares(names):
    return sum(int(bit(8 * int(name[0]) + int(name[1]))) for name in names.split())


# --- actions ----------------------------------------------------------------------------------------------------------------


def test_uniform_takes_every_action():
    assert answers("uniform", at(), 200) == {"bN5", "bW1", "aN2", "cN2", "cW3"}


def gains(state):
    """Steps that each action takes its die towards the goal."""
    return {word: policies.worth(state, action, 0.0, 0.0, np.int64(0)) for word, action in options(GAME, state).items()}


def test_racer_takes_the_action_that_brings_a_die_closest():
    state = at(free="11 12 13 14 15 16", reserves=[4, 2])
    by_word = gains(state)
    best = {word for word, gain in by_word.items() if gain == max(by_word.values())}
    assert 0 < len(best) < len(by_word)
    assert answers("racer", state, 300) == best


def test_racer_locks_with_tokens_in_hand_and_thrifty_does_not():
    state = at(LAST, ELSEWHERE, "24 34 44 54", [1, 4])
    assert gains(state)["aN6"] == 1
    assert answers("racer", state) == {"aN6"}
    for spec in ("thrifty", "thrifty:0", "blocker", "lookahead"):
        assert "aN6" not in answers(spec, state)


@pytest.mark.parametrize("lock, is_locked", [(1, False), (2, True), (36, True)])
def test_thrifty_locks_with_as_many_tokens_as_it_may(lock, is_locked):
    """The last token on the way makes two of one."""
    state = at(LAST, ELSEWHERE, "24 34 44 54", [1, 4])
    assert (answers(f"thrifty:0,lock={lock}", state) == {"aN6"}) == is_locked


@pytest.mark.parametrize("spec", ["thrifty", "thrifty:0.1", "thrifty:-0.1", "blocker", "lookahead:1", "lookahead:2"])
def test_total_victory_is_taken(spec):
    assert answers(spec, at(LAST, ELSEWHERE, WAY, [0, 6])) == {"aN6"}


@pytest.mark.parametrize("spec", ["thrifty", "blocker"])
@pytest.mark.parametrize("reserves, is_taken", [([2, 4], True), ([3, 3], False), ([4, 2], False)])
def test_mini_victory_is_taken_if_it_wins_alone(spec, reserves, is_taken):
    assert (answers(spec, at(LAST, DONE, WAY, reserves)) == {"aN6"}) == is_taken


def test_thrifty_weighs_tokens():
    """b's move takes five tokens."""
    assert answers("thrifty:10", at()) == {"bN5"}
    assert "bN5" not in answers("thrifty:-10", at())


def test_blocker_stands_on_goals_of_others():
    """North's dice show 6, 4 and 2: their goals are 01, 03 and 05; South's a stands on 01."""
    state = at()
    assert policies.contested(state) == squares("01 03 05")
    assert answers("blocker:10,tokens=0.001", state) == {"bW1"}  # cW3 goes to 03 too, but away from c's own goal
    assert answers("blocker:10,tokens=0", state) == {"bW1"}
    by_word = {
        word: policies.worth(state, action, 0.001, 10.0, np.int64(squares("01 03 05")))
        for word, action in options(GAME, state).items()
    }
    assert [word for word, value in by_word.items() if value > 5] == ["bW1", "cW3"]
    assert [word for word, value in by_word.items() if value < -5] == ["aN2"]


def test_blocker_forgets_locked_dice():
    assert policies.contested(at(SOUTH.replace("@01", "@11"), NORTH.replace("6/3/5/4/2/1@76", "6/3/5/4/2/1@01"))) == squares(
        "03 05"
    )


# --- placing tokens ---------------------------------------------------------------------------------------------------------


def turning():
    """South has turned c and pays one token; free squares in two rows."""
    state = at(free="11 12 13 14 15 16 31 32 33", reserves=[4, 5])
    return follow(GAME, state, "c.yaw_cw")


def test_lines_are_what_the_next_moves_would_take():
    """a north over 11 to 21, b north to 54, c north to 36; b's way west has a number, and other targets are taken."""
    assert placement.lines(turning(), 0) == squares("11 21 14 24 34 44 54 16 26 36")
    assert placement.lines(at(LAST, DONE), 1) == 0  # locked dice have no next move


def test_clean_keeps_own_lines_free():
    state = turning()
    expected = {word for word in options(GAME, state) if not placement.lines(state, 0) & squares(word)}
    assert answers("uniform:clean", state, 300) == answers("thrifty:0.25,placement=clean", state, 300) == expected
    assert expected < set(options(GAME, state))


def test_trap_lays_tokens_in_the_leaders_way():
    state = turning()
    on_way = {word for word in options(GAME, state) if placement.lines(state, 1) & squares(word)}
    assert on_way
    assert answers("racer:trap", state, 300) == on_way


def test_leader_is_who_is_closest_and_still_plays():
    west = "6/2/3/5/4/1@67 5/4/6/3/1/2@50 4/6/5/1/2/3@40"
    state = position(GAME, [SOUTH, west, NORTH])
    assert [placement.rest_of(state, seat) for seat in range(3)] == [12, 9, 12]
    assert placement.leader(state) == 1
    done = "6/2/3/5/4/1@17 5/4/6/3/1/2@27 4/6/5/1/2/3@37"
    state = position(GAME, [SOUTH.replace("@01", "@33"), done, NORTH], "11", [0, 2, 0])
    assert placement.rest_of(state, 1) == 0
    assert placement.leader(state) == 2


def test_spread_takes_the_loneliest_squares():
    state = at(free="11 12 13 21 22 23 31 32 33", reserves=[4, 5])
    follow(GAME, state, "c.yaw_cw")
    assert answers("thrifty:0.25,placement=spread", state, 300) == {"11", "12", "21", "22"}


def test_placements_use_any_square_where_none_is_preferred():
    state = at(free="14 24", reserves=[1, 1])
    follow(GAME, state, "c.yaw_cw")
    assert answers("uniform:clean", state, 100) == {"14", "24"}  # both in b's way


def test_tokens_are_placed_uniformly():
    state = turning()
    assert answers("uniform", state, 400) == answers("racer", state, 400) == set(options(GAME, state))


# --- strength ---------------------------------------------------------------------------------------------------------------


def lead(better, worse, games, variant="standard"):
    """The difference of win rates and its standard error, between two seats."""
    table = win_rates(simulate("dicefest", [better, worse], games=games, seed=3, variant=variant, progress=False, n_jobs=1))
    rows = table[table.seat.isna()].set_index("policy")
    one, other = (rows.loc[load_policy(GAME, spec).spec] for spec in (better, worse))
    return one.estimate - other.estimate, one.stderr + other.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "better, worse, games, variant",
    [
        ("thrifty", "uniform", 2_000, "standard"),
        ("thrifty", "racer", 2_000, "standard"),
        ("thrifty:0.1", "thrifty", 2_000, "standard"),
        ("thrifty:0.25,placement=trap", "thrifty", 20_000, "standard"),
        ("lookahead:1", "thrifty", 2_000, "standard"),
        ("lookahead:2", "thrifty", 1_000, "standard"),
        ("lookahead:2", "thrifty:0.1", 1_000, "standard"),
        ("lookahead:3", "lookahead:2", 600, "standard"),
        ("racer", "uniform", 4_000, "standard,ply_limit=200"),
        (
            "uniform",
            "racer",
            4_000,
            "standard",
        ),  # given time: who locks all dice with tokens left waits for the other to do better
        ("uniform:clean", "racer:clean", 4_000, "standard"),
    ],
)
def test_which_beats_which(better, worse, games, variant):
    difference, error = lead(better, worse, games, variant)
    assert difference > 5 * error


@pytest.mark.slow
def test_racer_beats_random_play_among_three_where_only_the_last_square_gives_its_token():
    results = simulate("dicefest", ["racer", "uniform", "uniform"], 3_000, 1, "standard,collect=landing", progress=False)
    row = win_rates(results).query("policy == 'racer' and seat.isna()").iloc[0]
    assert row.estimate - 1 / 3 > 5 * row.stderr


@pytest.mark.slow
@pytest.mark.parametrize("seats", [3, 4])
def test_lookahead_beats_thrifty_among_more_seats(seats):
    table = win_rates(
        simulate("dicefest", ["lookahead:2", *["thrifty"] * (seats - 1)], games=600, seed=3, progress=False, n_jobs=1)
    )
    row = table[table.seat.isna()].set_index("policy").loc["lookahead:2"]
    assert row.estimate - 1 / seats > 5 * row.stderr


@pytest.mark.skipif(INTERPRETED, reason="the same run twice")
@pytest.mark.parametrize(
    "variant, matchup",
    [
        ("standard,ply_limit=60", ["racer:trap", "uniform", "blocker"]),
        ("standard,ply_limit=60,turns_per_action=2,initial_yaw=chosen", ["thrifty:0.25,placement=spread", "uniform:clean"]),
        ("standard,ply_limit=14", ["lookahead:2", "thrifty"]),
    ],
)
def test_interpreted_games_are_the_same(variant, matchup):
    game = {"games": 2, "seed": 2, "variant": variant, "progress": False, "n_jobs": 1}
    compiled, plain = (simulate("dicefest", matchup, interpreted=mode, **game) for mode in (False, True))
    assert compiled.equals(plain)
