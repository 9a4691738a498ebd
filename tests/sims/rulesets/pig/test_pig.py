from functools import cache

import numpy as np
import pytest

from sims import RULESETS, simulate
from sims.jit import INTERPRETED
from sims.policy import load_policy
from sims.ruleset import CHANCE, MAX_ACTIONS, OVER
from sims.rulesets.pig import rules
from sims.trace import follow

PIG = RULESETS["pig"]
# Seat-averaged and first-seat win probabilities to six and four places; see README.md of the ruleset.
HOLD_20_V_HOLD_25, HOLD_20_FIRST_SEAT = 0.488276, 0.5347


def position(*score, turn=0, pot=0, variant=None):
    """A decision node: a seat with points in its pot."""
    state = PIG.new_state(len(score), variant)
    state.score[: len(score)] = score
    state.turn, state.pot, state.throwing = turn, pot, 0
    return state


def scores(state):
    return state.score[: state.seats].tolist()


def answer(spec, state):
    each = load_policy(PIG, spec)
    actions = np.zeros(MAX_ACTIONS, np.int32)
    n = rules.legal_actions(state, actions)
    return each.function(state, actions, n, each.params, np.array([1, 2, 3, 1], np.uint64))


def win_rate(table, policy, seat=None):
    """Mean payoff of a policy and its standard error."""
    rows = table[(table.policy == policy) & (table.measure == "payoff")]
    row = rows[rows.seat.isna() if seat is None else rows.seat == seat].squeeze()
    mean = row.total / row.deals
    stderr = np.sqrt((row.squares / row.deals - mean**2) / row.deals)
    return mean / row.per_deal, stderr / row.per_deal


# --- the rules ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 5, 10])
def test_r1_first_seat_throws_and_all_scores_are_0(seats):
    state = PIG.new_state(seats)
    assert scores(state) == [0] * seats
    assert (state.turn, state.pot) == (0, 0)
    assert rules.actor(state) == CHANCE
    assert rules.chance(state) == 6
    assert state.turns.tolist()[:seats] == [1] + [0] * (seats - 1)


def test_r2_die_joins_the_pot():
    state = PIG.new_state(2)
    for face, pot in [("2", 2), ("3", 5), ("6", 11)]:
        follow(PIG, state, face)
        assert state.pot == pot
        assert rules.actor(state) == 0
        follow(PIG, state, "ROLL")
        assert rules.actor(state) == CHANCE
    assert scores(state) == [0, 0]


def test_r3_face_1_loses_the_pot_and_passes_the_die():
    state = follow(PIG, position(30, 40, pot=25), "ROLL 1")
    assert scores(state) == [30, 40]
    assert (state.turn, state.pot) == (1, 0)
    assert rules.actor(state) == CHANCE
    assert state.busts.tolist()[:2] == [1, 0]
    assert follow(PIG, state, "1").turn == 0
    assert state.busts.tolist()[:2] == [1, 1]


def test_r4_hold_banks_the_pot_and_passes_the_die():
    state = position(30, 40, pot=25)
    assert PIG.legal(state) == [rules.HOLD, rules.ROLL]
    follow(PIG, state, "HOLD")
    assert scores(state) == [55, 40]
    assert (state.turn, state.pot) == (1, 0)
    assert rules.actor(state) == CHANCE
    assert state.busts.sum() == 0


def test_r4_turn_starts_with_a_throw():
    """There is nothing to decide before the first die."""
    state = follow(PIG, PIG.new_state(2), "2 HOLD")
    assert rules.actor(state) == CHANCE
    assert scores(follow(PIG, state, "5 HOLD")) == [2, 5]


def test_r4_last_seat_passes_to_the_first():
    state = follow(PIG, PIG.new_state(3), "2 HOLD 1 4 HOLD")
    assert state.turn == 0
    assert scores(state) == [2, 0, 4]
    assert state.turns.tolist()[:3] == [2, 1, 1]


@pytest.mark.parametrize("pot, over", [(9, False), (10, True), (11, True)])
def test_r5_first_to_hold_at_the_goal_wins(pot, over):
    state = position(50, 90, 10, turn=1, pot=pot)
    assert rules.actor(state) == 1  # the pot alone wins nothing
    follow(PIG, state, "HOLD")
    assert (rules.actor(state) == OVER) == over
    if over:
        shares = np.full(3, np.nan)
        rules.payoffs(state, shares)
        assert shares.tolist() == [0, 1, 0]
        assert scores(state) == [50, 90 + pot, 10]


def test_r5_pot_that_would_win_can_still_be_lost():
    state = follow(PIG, position(99, 0, pot=6), "ROLL 1")
    assert scores(state) == [99, 0]
    assert rules.actor(state) == CHANCE


@pytest.mark.parametrize("faces", [2, 4, 100])
def test_variant_faces(faces):
    state = PIG.new_state(2, f"standard,faces={faces}")
    assert rules.chance(state) == faces
    assert follow(PIG, state, str(faces)).pot == faces


def test_variant_goal():
    state = follow(PIG, position(0, 0, pot=7, variant="standard,goal=7"), "HOLD")
    assert rules.actor(state) == OVER


# --- the policies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "score, pot, holds",
    [(0, 19, False), (0, 20, True), (0, 25, True), (95, 4, False), (95, 5, True), (98, 2, True)],
)
def test_hold_at(score, pot, holds):
    assert (answer("hold_at:20", position(score, 50, pot=pot)) == rules.HOLD) == holds


@pytest.mark.parametrize(
    "mine, other, threshold",
    [
        (0, 0, 21),
        (0, 3, 21),
        (0, 4, 22),  # 0.5 rounds away from 0
        (0, 11, 22),
        (0, 12, 23),
        (10, 50, 26),
        (4, 0, 20),
        (3, 0, 21),
        (50, 10, 16),
        (70, 0, 12),
        (0, 70, 30),
    ],
)
def test_keep_pace_holds_at_21_plus_an_eighth_of_the_difference(mine, other, threshold):
    for turn, score in ((0, (mine, other)), (1, (other, mine))):
        assert answer("keep_pace:21", position(*score, turn=turn, pot=threshold - 1)) == rules.ROLL
        assert answer("keep_pace:21", position(*score, turn=turn, pot=threshold)) == rules.HOLD


@pytest.mark.parametrize("mine, other", [(71, 0), (0, 71), (80, 90)])
def test_keep_pace_rolls_for_the_win_when_the_end_is_near(mine, other):
    assert answer("keep_pace:21", position(mine, other, pot=99 - mine)) == rules.ROLL
    assert answer("keep_pace:21", position(mine, other, pot=100 - mine)) == rules.HOLD


def test_keep_pace_looks_at_the_leader_of_the_others():
    assert answer("keep_pace:21", position(0, 40, 8, pot=25)) == rules.ROLL
    assert answer("keep_pace:21", position(0, 8, 40, pot=26)) == rules.HOLD
    assert answer("keep_pace:21", position(0, 8, 71, pot=60)) == rules.ROLL


def test_keep_pace_has_other_settings():
    assert answer("keep_pace:25", position(0, 0, pot=24)) == rules.ROLL
    assert answer("keep_pace:21,divisor=2", position(0, 10, pot=25)) == rules.ROLL
    assert answer("keep_pace:21,end=90", position(80, 80, pot=19)) == rules.ROLL
    assert answer("keep_pace:15,end=90", position(80, 80, pot=15)) == rules.HOLD


def test_ten_seats_play():
    specs = [f"hold_at:{points}" for points in range(15, 25)]
    table = simulate("pig", specs, games=10 if INTERPRETED else 2_000, n_jobs=1, progress=False)
    payoff = table[(table.measure == "payoff") & table.seat.isna() & table.policy.notna()]
    assert payoff.per_deal.eq(10).all()
    assert payoff.total.sum() == pytest.approx(table.games.iloc[0])


# --- against exact values -------------------------------------------------------------------------------------------------


@cache
def turn_results(enough):
    """Probability of each number of points that a turn which holds at `enough` banks; 0 for a bust."""
    reached = {0: 1.0, **dict.fromkeys(range(1, enough + 6), 0.0)}
    banked = {0: 0.0}
    for pot, p in reached.items():
        if pot >= enough:
            banked[pot] = p
            continue
        banked[0] += p / 6
        for face in range(2, 7):
            reached[pot + face] += p / 6
    return banked


def first_seat_wins(first, second, goal):
    """Exact probability that hold_at:first, going first, beats hold_at:second."""
    wins = {}  # (mover's points parameter is first?, own score, other score) -> the mover wins
    for total in range(2 * goal - 2, -1, -1):
        for i in range(max(0, total - goal + 1), min(goal, total + 1)):
            j = total - i
            # x = a + p (1 - y), y = b + q (1 - x): the mover scores now or later, or busts and the other moves
            (a, p), (b, q) = (
                half(wins, mine, own, other, goal, is_first)
                for mine, own, other, is_first in ((first, i, j, True), (second, j, i, False))
            )
            wins[True, i, j] = (a + p - p * b - p * q) / (1 - p * q)
            wins[False, j, i] = b + q * (1 - wins[True, i, j])
    return wins[True, 0, 0]


def half(wins, points, own, other, goal, is_first):
    """Probability that the mover wins without a bust in this turn, and that of a bust."""
    results, a = turn_results(min(points, goal - own)), 0.0
    for gain, p in results.items():
        if gain:
            a += p * (1.0 if own + gain >= goal else 1 - wins[not is_first, other, own + gain])
    return a, results[0]


def test_exact_recursion_gives_the_published_values():
    assert first_seat_wins(20, 20, 100) == pytest.approx(HOLD_20_FIRST_SEAT, abs=5e-5)
    seat_averaged = (first_seat_wins(20, 25, 100) + 1 - first_seat_wins(25, 20, 100)) / 2
    assert seat_averaged == pytest.approx(HOLD_20_V_HOLD_25, abs=5e-7)


def test_simulation_meets_exact_values():
    games = 2_000 if INTERPRETED else 400_000
    table = simulate("pig", ["hold_at:5", "hold_at:8"], games, seed=1, variant="standard,goal=20", progress=False)
    for seat, exact in ((0, first_seat_wins(5, 8, 20)), (1, 1 - first_seat_wins(8, 5, 20))):
        mean, stderr = win_rate(table, "hold_at:5", seat)
        assert 0 < stderr < 0.02
        assert abs(mean - exact) < 5 * stderr
    mean, stderr = win_rate(table, "hold_at:5")
    assert abs(mean - (first_seat_wins(5, 8, 20) + 1 - first_seat_wins(8, 5, 20)) / 2) < 5 * stderr


@pytest.mark.slow
@pytest.mark.skipif(INTERPRETED, reason="four million games would take hours")
def test_four_million_games_meet_the_published_values():
    table = simulate("pig", ["hold_at:20"] * 2, games=4_000_000, seed=0, progress=False)
    mean, stderr = win_rate(table, "hold_at:20", 0)
    assert stderr < 0.0003
    assert abs(mean - first_seat_wins(20, 20, 100)) < 5 * stderr
    table = simulate("pig", ["hold_at:20", "hold_at:25"], games=4_000_000, seed=0, progress=False)
    mean, stderr = win_rate(table, "hold_at:20")
    assert stderr < 0.0003
    assert abs(mean - HOLD_20_V_HOLD_25) < 5 * stderr
