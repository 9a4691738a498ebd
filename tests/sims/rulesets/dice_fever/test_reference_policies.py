"""The yardstick policies hold_pot and hold_dice against each row of their exact definition, at the edges of every row."""

import numpy as np
import pytest

from sims import RULESETS
from sims.policy import load_policy
from sims.rulesets.dice_fever import rules
from sims.trace import follow

FEVER = RULESETS["dice-fever"]
LAST_TURN = "P0 6 STOP "  # seat 0 is validated, the others have their last turn


def play(script, *score, variant=None):
    """Play a script from the first position of a game with these scores."""
    score = score or (0, 0)
    state = FEVER.new_state(len(score), variant)
    state.score[: len(score)] = score
    return follow(FEVER, state, script)


def answer(spec, state):
    """The word for what the policy does."""
    policy, actions = load_policy(FEVER, spec), np.zeros(64, np.int32)
    n = rules.legal_actions(state, actions)
    action = policy.function(state, actions, n, policy.params, np.zeros(4, np.uint64))
    assert action in actions[:n]
    return FEVER.describe(state, int(action))


@pytest.mark.parametrize("family", ["hold_pot", "hold_dice"])
@pytest.mark.parametrize(
    "parade, risk, none, asap", [(3, 2, "P0", "P1R"), (1, 1, "P0", "P1R"), (2, 0, "P0", "P1"), (0, 1, "P0", "P0R")]
)
def test_cards(family, parade, risk, none, asap):
    state = play("")
    state.parade[0], state.risk[0] = parade, risk
    assert answer(f"{family}:3", state) == none
    assert answer(f"{family}:3,cards=asap", state) == asap


def test_cards_asap_where_risk_cards_may_not_be_used():
    assert answer("hold_dice:3,cards=asap", play("", variant="standard,max_risk_per_turn=0")) == "P1"


@pytest.mark.parametrize("goal", [0, 1])
@pytest.mark.parametrize("score, word", [(66, "STOP"), (67, "THROW"), (76, "THROW")])
def test_row_1_never_stops_at_the_target_without_a_6(goal, score, word):
    for spec in ("hold_pot:1", "hold_dice:1"):
        assert answer(f"{spec},goal={goal}", play("P0 5 4", score, 0)) == word


def test_row_1_counts_a_duel_of_this_turn():
    assert answer("hold_dice:1", play("P0R DUEL 6 1 5", 66, 0)) == "THROW"
    assert answer("hold_dice:1", play("P0R DUEL 6 1 5", 65, 0)) == "STOP"


def test_row_1_says_nothing_with_a_6():
    assert answer("hold_dice:2", play("P0 6 5", 70, 0)) == "STOP"


@pytest.mark.parametrize("score, word", [(0, "THROW"), (60, "THROW"), (65, "THROW"), (66, "STOP")])
def test_row_2_throws_below_the_best_validated_score(score, word):
    state = play(LAST_TURN + "P0 6 4", 70, score)  # 76 to beat
    assert answer("hold_dice:1", state) == word
    assert answer("hold_pot:1,goal=1", state) == word


def test_row_2_takes_the_largest_of_several():
    script = "P0 6 STOP P0 6 5 STOP P0 6 4"  # 76 and 81
    assert answer("hold_dice:1", play(script, 70, 70, 70)) == "THROW"
    assert answer("hold_dice:1", play(script, 70, 70, 71)) == "STOP"


def test_row_2_ignores_seats_that_are_only_pending():
    assert answer("hold_dice:1", play("P0 2", 0, 90)) == "STOP"


@pytest.mark.parametrize("strict", ["true", "false"])
def test_row_2_ignores_a_validated_seat_that_a_duel_pulled_under_the_target(strict):
    state = play(LAST_TURN + "P0R DUEL 6 1 2", 70, 0, variant=f"standard,last_turn_strict={strict}")
    assert (state.validated[0], state.score[0]) == (1, 71)
    assert answer("hold_dice:1", state) == "STOP"


@pytest.mark.parametrize("spec, goal, word", [("hold_pot:99", 0, "THROW"), ("hold_pot:99", 1, "STOP")])
def test_row_3_goal(spec, goal, word):
    assert answer(f"{spec},goal={goal}", play("P0 6", 70, 0)) == word
    assert answer(f"{spec},goal={goal}", play("P0 6", 69, 0)) == "THROW"
    assert answer(f"hold_dice:6,goal={goal}", play("P0 6", 70, 0)) == word


@pytest.mark.parametrize(
    "script, points, dice",
    [
        ("P0 5", 5, 1),
        ("P0 4 5", 9, 2),
        ("P1 4 5 4", 9, 2),
        ("P0R X2 4 5", 18, 2),
        ("P0 1 3 4 6 PLUS5", 19, 4),
        ("P0R X2 1 3 4 6 PLUS5", 33, 4),
        ("P0 2 3 4 5 SUITE", 24, 4),
        ("P0 1 2 4 6 SUITE", 13, 4),
        ("P0 1 2 4 6 SUITE 3", 26, 5),
        ("P0 1 2 4 5 X3", 12, 4),
        ("P0R X2 1 2 4 5 X3 3", 42, 5),
    ],
)
def test_row_4_points_and_dice_at_which_to_stop(script, points, dice):
    state = play(script)
    assert [answer(f"hold_pot:{n}", state) for n in (points, points + 1)] == ["STOP", "THROW"]
    assert [answer(f"hold_dice:{n}", state) for n in (dice, dice + 1)] == ["STOP", "THROW"]


@pytest.mark.parametrize("face", ["DUEL", "RELANCE"])
@pytest.mark.parametrize(
    "score, seat",
    [((9, 0, 0), 1), ((0, 1, 2), 2), ((99, 5, 5), 1), ((0, -9, -5), 2), ((0, 80, 75), 1)],
)
def test_opponent_with_the_highest_score_and_the_lowest_seat(face, score, seat):
    assert answer("hold_dice:3", play(f"P0R {face}", *score)) == f"SEAT{seat}"


def test_opponent_may_have_a_lower_seat():
    assert answer("hold_pot:9", play("P0 1 STOP P0R DUEL", 3, 0, 4)) == "SEAT0"


@pytest.mark.parametrize(
    "script, word",
    [
        ("5", "KEEP"),
        ("6", "USE6"),
        ("1 KEEP 2 KEEP 3", "KEEP"),
        ("1 KEEP 2 KEEP 3 KEEP 4", "USE4"),
        ("1 KEEP 2 KEEP 3 KEEP 6", "USE6"),
        ("1 KEEP 2 KEEP 3 KEEP 4 KEEP PLUS5 5", "KEEP"),
        ("1 KEEP 2 KEEP 3 KEEP 4 KEEP DOUBLE 6 5", "USE6"),
        ("1 KEEP 2 KEEP 3 KEEP 4 KEEP DOUBLE 5 3", "KEEP"),
        ("6 KEEP 2 KEEP 3 KEEP 4", "USE4"),  # the 6 of an earlier throw is out of reach
    ],
)
def test_relance_token(script, word):
    state = play("P0R RELANCE 1 STOP P0 " + script)
    assert answer("hold_dice:3", state) == word
    assert answer("hold_pot:12,cards=asap", state) == word


def test_relance_token_after_six_at_once_looks_at_single_dice_only():
    start = "P0R RELANCE 1 STOP P3R SIX 1 1 2 2 3 3 "
    assert answer("hold_dice:3", play(start + "4")) == "USE4"
    assert answer("hold_dice:3", play(start + "6")) == "USE6"
