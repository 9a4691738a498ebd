"""The reference policies, row by row of their definition, and what the others do at a few telling positions."""

import numpy as np
import pytest

from sims.policy import load_policy
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever import rules
from sims.trace import follow

GAME = RULESETS["dice-fever"]


def choice(spec, state):
    """The word for what a policy does in this position."""
    policy, actions = load_policy(GAME, spec), np.zeros(64, np.int32)
    n = rules.legal_actions(state, actions)
    before = state.tobytes()
    action = policy.function(state, actions, n, policy.params, np.ones(4, np.uint64))
    assert state.tobytes() == before
    assert action in actions[:n]
    return GAME.describe(state, int(action))


def at(words, seats=2, variant="standard", **scores):
    state = GAME.new_state(seats, variant)
    for name, score in scores.items():
        state.score[int(name[1:])] = score
    return follow(GAME, state, words)


def test_cards_none_and_asap():
    assert choice("hold_pot:12", at("")) == "P0"
    assert choice("hold_pot:12,cards=asap", at("")) == "P1R"
    state = at("")
    state.risk[0] = 0
    assert choice("hold_dice:3,cards=asap", state) == "P1"
    state.parade[0], state.risk[0] = 0, 1
    assert choice("hold_dice:3,cards=asap", state) == "P0R"


def test_row_1_target_without_a_six_throws():
    assert choice("hold_dice:1", at("P0 5 4", s0=70)) == "THROW"
    assert choice("hold_dice:1,goal=1", at("P0 5 4", s0=70)) == "THROW"


def test_row_2_below_a_validated_score_throws():
    state = at("P0 6 5 STOP P0 6 4", s0=70, s1=70)
    assert choice("hold_pot:1", state) == "THROW"
    assert choice("hold_pot:1", at("P0 6 5 STOP P0 6 5", s0=70, s1=70)) == "STOP"  # equal is not below
    pending = at("P0R DUEL 1 6 1 STOP P0 2", s1=73)  # seat 1 itself is pending: nobody to beat
    assert choice("hold_dice:5", pending) == "THROW"


def test_row_3_goal_stops_at_the_target():
    assert choice("hold_pot:30,goal=1", at("P0 6", s0=70)) == "STOP"
    assert choice("hold_pot:30", at("P0 6", s0=70)) == "THROW"


def test_row_4_thresholds():
    assert choice("hold_pot:9", at("P0 4 5")) == "STOP"
    assert choice("hold_pot:10", at("P0 4 5")) == "THROW"
    assert choice("hold_dice:2", at("P0 4 5")) == "STOP"
    assert choice("hold_dice:3", at("P0 4 5")) == "THROW"
    assert choice("hold_pot:24", at("P0 2 3 4 5 SUITE")) == "STOP"
    assert choice("hold_pot:42", at("P0R X2 1 2 4 5 X3 3")) == "STOP"


def test_opponent_is_the_highest_score_lowest_seat():
    assert choice("hold_pot:9", at("P0R DUEL", seats=4, s1=10, s2=20, s3=20)) == "SEAT2"
    assert choice("hold_pot:9", at("P0R RELANCE", seats=4)) == "SEAT1"
    assert choice("hold_pot:9", at("P0R DUEL", seats=3, s1=-5, s2=-3)) == "SEAT2"


def test_relance_token():
    start = "P0R RELANCE 1 STOP P0 "
    assert choice("hold_pot:9", at(start + "6")) == "USE6"
    assert choice("hold_pot:9", at(start + "1 KEEP 2 KEEP 3 KEEP 5")) == "USE5"
    assert choice("hold_pot:9", at(start + "1 KEEP 2 KEEP 3")) == "KEEP"
    assert choice("hold_pot:9", at(start + "1 KEEP 2 KEEP 3 KEEP 4 KEEP PLUS5 5")) == "KEEP"


def test_when_cards_are_committed():
    spec = "expected_gain:0,parade={},risk=never"
    for when, score, word in (("asap", 0, "P1"), ("never", 0, "P0"), ("behind", 0, "P1"), ("behind", 20, "P0")):
        assert choice(spec.format(when), at("", s0=score, s1=10)) == word
    assert choice("race:2,parade=near,reach=10", at("", s0=66)) == "P1"
    assert choice("race:2,parade=near,reach=10", at("", s0=65)) == "P0"


def test_whom_and_token():
    assert choice("race:2,whom=left", at("P0 1 STOP P0R DUEL", seats=3, s0=9)) == "SEAT2"
    assert choice("race:2,token=keep", at("P0R RELANCE 1 STOP P0 6")) == "KEEP"


def test_expected_gain_throws_while_it_pays():
    assert choice("expected_gain:0", at("P0 1 4")) == "THROW"
    assert choice("expected_gain:0", at("P0 5 4")) == "STOP"
    assert choice("expected_gain:0", at("P1 5 4")) == "THROW"


def test_race_beats_the_leader_and_breaks_ties_early():
    tie = at("P0 6 5 STOP P0 6 5", s0=70, s1=70)
    assert choice("race:2", tie) == "THROW"  # two dice: a throw is OUT with 1/3 only
    tie.track |= rules.bit(1) | rules.bit(2)
    tie.score[1] -= 3
    assert choice("race:2", tie) == "STOP"
    assert choice("race:2", at("P0 6", s0=70)) == "STOP"


def test_race_presses_when_the_leader_is_near():
    assert choice("race:2", at("P0 5 4", s1=60)) == "THROW"
    assert choice("race:2", at("P0 5 4", s1=20)) == "STOP"


@pytest.mark.parametrize("parades", [0, 2])
def test_never_stop(parades):
    assert choice(f"never_stop:{parades}", at("")) == f"P{parades}"
    assert choice(f"never_stop:{parades}", at("P0 6", s0=70)) == "THROW"
