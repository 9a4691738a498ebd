"""Dice Fever, clause by clause (R numbers of the README), every worked example, and every variant field."""

import numpy as np
import pytest

from sims.errors import InputError
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever import rules
from sims.trace import follow

GAME = RULESETS["dice-fever"]


def new(seats=2, variant="standard", **scores):
    """A game in its first position, with the scores given as s0=70."""
    state = GAME.new_state(seats, variant)
    for name, score in scores.items():
        state.score[int(name[1:])] = score
    return state


def play(words, seats=2, variant="standard", **scores):
    return follow(GAME, new(seats, variant, **scores), words)


def options(state):
    return [GAME.describe(state, action) for action in GAME.legal(state)]


def tokens(state):
    """Return for each seat whom its Relance token is against, or -1."""
    seats = range(state.seats)
    return [next((seat for seat in seats if state.tokens[seat] >> owner & 1), -1) for owner in seats]


# --- setup and order ------------------------------------------------------------------------------------------------------


def test_r1_cards_and_scores_at_the_start():
    state = new(3)
    assert [int(x) for x in state.parade[:3]] == [3, 3, 3]
    assert [int(x) for x in state.risk[:3]] == [2, 2, 2]
    assert [int(x) for x in state.score[:3]] == [0, 0, 0]


def test_r2_seat_0_starts():
    assert new(4).turn == 0


def test_r3_play_goes_to_the_left():
    state = new(3)
    for seat in (0, 1, 2, 0):
        assert state.turn == seat
        follow(GAME, state, "P0 3 STOP")


@pytest.mark.parametrize("seats", [1, 7])
def test_r4_two_to_six_seats(seats):
    with pytest.raises(InputError, match=f"2 to 6 seats, not {seats}"):
        new(seats)


# --- cards ----------------------------------------------------------------------------------------------------------------


def test_r5_any_number_of_parade_and_at_most_one_risk():
    assert options(new()) == ["P0", "P0R", "P1", "P1R", "P2", "P2R", "P3", "P3R"]


def test_r6_no_cards_after_the_risk_throw():
    assert play("P0R X2 4").phase == rules.DECIDE


def test_r7_committed_cards_are_gone_used_or_not():
    state = play("P2 6 STOP")
    assert state.parade[0] == 1
    assert play("P2R X2 6 STOP").risk[0] == 1


def test_r8_cards_never_come_back():
    state = play("P3R X2 6 STOP P0 1 STOP P0R X2 5 STOP P0 1 STOP")
    assert (state.parade[0], state.risk[0]) == (0, 0)
    assert state.phase == rules.DIE  # nothing left to commit: no question


def test_r9_a_risk_card_throws_the_risk_die_at_once():
    assert play("P0R").phase == rules.RISK_DIE


# --- throwing and laying --------------------------------------------------------------------------------------------------


def test_r10_one_die_at_a_time():
    assert play("P0").phase == rules.DIE


def test_r11_stop_only_after_a_throw():
    assert rules.actor(play("P0")) == -1
    assert options(play("P0 3")) == ["STOP", "THROW"]


def test_r12_the_first_die_is_never_a_duplicate():
    for value in range(1, 7):
        assert play(f"P0 {value}").track == rules.bit(value)


def test_r13_a_duplicate_is_out():
    state = play("P0 4 2 4")
    assert (state.score[0], state.outs[0], state.turn) == (0, 1, 1)


def test_r14_a_parade_cancels_a_duplicate():
    state = play("P1 5 2 5")
    assert state.track == rules.bit(5) | rules.bit(2)
    assert options(state) == ["STOP", "THROW"]


def test_r15_a_parade_is_used_automatically():
    assert play("P1 5 2 5").shields == 0


def test_r16_each_parade_cancels_one_duplicate():
    assert play("P3 5 5 5 5").shields == 0
    assert play("P3 5 5 5 5 5").outs[0] == 1


def test_r17_stop_or_throw_after_each_throw():
    assert options(play("P0 1 2")) == ["STOP", "THROW"]


# --- BONUS ----------------------------------------------------------------------------------------------------------------


def test_r18_the_fourth_value_unlocks_the_bonus_die():
    assert play("P0 1 2 3 4").phase == rules.BONUS_DIE
    assert play("P1 1 2 3 3").phase == rules.DECIDE  # a parried die does not count


def test_r19_the_bonus_die_comes_before_the_choice():
    assert play("P0 1 2 3 4 PLUS5").phase == rules.DECIDE


def test_r20_the_bonus_die_is_thrown_once():
    assert play("P0 1 2 3 4 PLUS5 5").phase == rules.DECIDE


def test_r21_a_bonus_is_lost_when_out():
    assert play("P0 1 3 4 6 PLUS5 3").score[0] == 0


def test_r22_faces_and_their_frequencies():
    state = new()
    assert [rules.BONUS_FACES[f] for f in state.variant.bonus_faces[:6]] == ["PLUS5", "PLUS5", "DOUBLE", "DOUBLE", "X3", "SUITE"]


def test_r23_suite_needs_four_consecutive_values_at_scoring():
    assert play("P0 1 2 4 6 SUITE STOP").score[0] == 13
    assert play("P0 1 2 4 6 SUITE 3 STOP").score[0] == 26


def test_r24_x3_concerns_the_very_next_throw():
    assert play("P0 1 2 3 4 X3 5 STOP").score[0] == 25
    assert play("P1 1 2 3 4 X3 6").next3 == 0


def test_r25_x3_is_lost_when_parried():
    assert play("P1 1 2 3 4 X3 4 5 STOP").score[0] == 15


def test_r26_the_tripled_die_is_doubled():
    assert play("P0R X2 1 2 4 5 X3 3 STOP").score[0] == 42


def test_r27_double_is_two_dice_but_never_more_than_are_left():
    assert play("P0 1 2 3 4 DOUBLE THROW").phase == rules.FIRST_DIE
    assert play("P3R SIX 1 2 3 4 5 5 DOUBLE THROW").phase == rules.DIE


def test_r28_stop_is_allowed_before_the_double():
    assert play("P0 1 2 3 4 DOUBLE STOP").score[0] == 10


def test_r29_a_single_duplicate_of_two_is_free():
    for pair in ("5 3", "3 5"):
        state = play(f"P1 1 2 3 4 DOUBLE {pair}")
        assert (rules.COUNT[state.track], state.shields) == (5, 1)


def test_r30_two_equal_new_values_lay_one():
    assert play("P0 1 2 3 4 DOUBLE 5 5 STOP").score[0] == 15


def test_r31_two_duplicates_cost_a_parade_or_are_out():
    assert play("P0 1 2 3 4 DOUBLE 2 3").outs[0] == 1
    assert play("P1 1 2 3 4 DOUBLE 2 3").shields == 0


def test_r32_after_double_single_dice():
    assert play("P1 1 2 3 4 DOUBLE 2 3 THROW").phase == rules.DIE


# --- RISK -----------------------------------------------------------------------------------------------------------------


def test_r33_faces_and_their_frequencies():
    state = new()
    assert [rules.RISK_FACES[f] for f in state.variant.risk_faces[:6]] == ["X2", "X2", "DUEL", "DUEL", "RELANCE", "SIX"]


def test_r34_flat_bonuses_are_not_doubled():
    assert play("P0R X2 1 3 4 6 PLUS5 STOP").score[0] == 33
    assert play("P0R X2 2 3 4 5 SUITE STOP").score[0] == 38


def test_r35_duel():
    state = play("P0R DUEL", seats=3)
    assert options(state) == ["SEAT1", "SEAT2"]
    follow(GAME, state, "SEAT2 4 4 3 5")
    assert [int(s) for s in state.score[:3]] == [-5, 0, 5]
    assert state.track == 0  # its dice are no track dice
    follow(GAME, state, "3 3")
    assert state.score[0] == -5


def test_r36_six_dice_at_once():
    assert play("P0R SIX 1 2 2 3 4 5").outs[0] == 1
    assert play("P1R SIX 1 1 1 2 5 6").outs[0] == 1
    state = play("P3R SIX 1 1 1 2 5 6")
    assert (state.shields, state.phase) == (1, rules.BONUS_DIE)
    assert play("P3R SIX 1 1 1 1 2 3").phase == rules.DECIDE  # three values: no BONUS
    for face, score in (("PLUS5", 36), ("X3", 31), ("DOUBLE", 31), ("SUITE", 41)):
        assert play(f"P0R SIX 3 1 6 2 5 4 {face}").score[0] == score


def test_r36_no_relance_on_six_dice():
    assert play("P0R RELANCE 1 STOP P1R SIX 1 2 3 4 5 5").phase == rules.BONUS_DIE


def test_r37_relance():
    state = play("P0R RELANCE 1 STOP P1 2 KEEP 6")
    assert GAME.rules.actor(state) == 0
    assert options(state) == ["KEEP", "USE6"]
    follow(GAME, state, "USE6 2")
    assert (state.outs[1], tokens(state)) == (1, [-1, -1])


def test_r37_unused_token_expires():
    state = play("P0R RELANCE 1 STOP P0 2 KEEP STOP")
    assert tokens(state) == [-1, -1]


def test_r37_the_window_comes_before_bonus_and_x3_is_lost():
    state = play("P0R RELANCE 1 STOP P0 1 KEEP 2 KEEP 3 KEEP 4")
    assert state.phase == rules.WINDOW
    follow(GAME, state, "KEEP X3 6")
    assert state.tripled_value == 6
    follow(GAME, state, "USE6 5 STOP")
    assert state.score[1] == 15


def test_r37_several_owners_in_seat_order():
    state = play("P0R RELANCE SEAT2 1 STOP P0R RELANCE SEAT2 1 STOP P0 4", seats=3)
    assert GAME.rules.actor(state) == 0
    follow(GAME, state, "USE4 5")
    assert GAME.rules.actor(state) == 1
    follow(GAME, state, "USE5 6 STOP")
    assert state.score[2] == 6


# --- end of a turn --------------------------------------------------------------------------------------------------------


def test_r38_three_ends_of_a_turn():
    for words, counter in (("P0 3 STOP", "stops"), ("P0 3 3", "outs"), ("P0 1 2 3 4 PLUS5 5 6", "fevers")):
        state = play(words)
        assert state[counter][0] == 1
        assert state.turn == 1


def test_r39_out_scores_nothing_but_duels_stand():
    assert play("P0R DUEL 2 5 3 3").score[0] == -5


def test_r40_dice_fever():
    assert play("P0 1 2 3 4 X3 4", seats=2).score[0] == 0
    assert play("P0 1 2 3 4 DOUBLE 5 6").score[0] == 31


def test_r41_points_of_the_turn():
    assert play("P0R X2 1 2 3 4 X3 6 5", s0=-10).score[0] == 66


def test_r42_target_without_a_six_is_out():
    state = play("P0 5 4 STOP", s0=70)
    assert (state.score[0], state.outs[0], state.validated[0]) == (70, 1, 0)


def test_r43_the_six_may_be_any_die_of_the_track():
    assert play("P0 6 4 STOP", s0=70).validated[0] == 1


def test_r44_at_the_target_validated():
    assert play("P0 6 STOP", s0=69).validated[0] == 0
    assert play("P0 6 STOP", s0=70).validated[0] == 1


def test_r45_a_duel_makes_pending_only():
    state = play("P0R DUEL 1 6", s1=73)
    assert (state.score[1], state.validated[1]) == (78, 0)
    follow(GAME, state, "2 STOP P0 3 STOP")
    assert (state.score[1], state.validated[1]) == (78, 0)
    follow(GAME, state, "P0 1 STOP P0 6 STOP")
    assert state.score[1] == 84
    assert rules.actor(state) == -2


# --- end of the game ------------------------------------------------------------------------------------------------------


def shares(state):
    out = np.zeros(state.seats)
    GAME.rules.payoffs(state, out)
    return list(out)


def test_r46_the_round_is_completed():
    state = play("P0 6 STOP", seats=3, s0=70)
    assert state.turn == 1
    follow(GAME, state, "P0 1 STOP P0 1 STOP")
    assert rules.actor(state) == -2


def test_r47_six_rule_in_the_last_turns_and_pending_do_not_count():
    state = play("P0 6 STOP P0 5 4 STOP", s0=70, s1=75)
    assert (state.score[1], shares(state)) == (75, [1, 0])
    pending = new(3, s0=90, s1=70)
    pending.turn = 1
    pending.phase = rules.COMMIT
    follow(GAME, pending, "P0 6 STOP P0 2 STOP")
    assert shares(pending) == [0, 1, 0]


def test_r48_the_highest_validated_score_wins():
    assert shares(play("P0 6 STOP P0 6 5 STOP", s0=70, s1=70)) == [0, 1]


def test_r49_nobody_left_at_the_target_plays_on():
    state = play("P0 6 STOP P0R DUEL 6 1 2 STOP", s0=70)
    assert (state.score[0], state.validated[0], state.turn) == (71, 0, 0)
    assert rules.actor(state) == 0


def test_r50_sudden_death():
    state = play("P0 6 STOP P0 6 STOP", s0=72, s1=72)
    assert state.phase == rules.DEATH_DIE
    follow(GAME, state, "3 5 1 3")
    assert shares(state) == [1, 0]
    assert list(state.sudden_death[:2]) == [1, 1]


def test_r51_with_three_the_loser_drops_out_and_a_fresh_track_starts():
    state = play("P0 6 STOP P0 6 STOP P0 6 STOP", seats=3, s0=72, s1=72, s2=72)
    follow(GAME, state, "3 3")  # seat 1 is out; seat 2 starts a fresh track
    assert (state.turn, list(state.contender[:3]), state.death_track[0]) == (2, [1, 0, 1], 0)
    follow(GAME, state, "3 3")
    assert shares(state) == [0, 0, 1]


# --- worked examples ------------------------------------------------------------------------------------------------------

TURNS = {
    "E1": ("P0 3 5 STOP", 8),
    "E2": ("P0 4 2 4", 0),
    "E3": ("P1 5 2 5 STOP", 7),
    "E4": ("P1 5 2 5 2", 0),
    "E5": ("P2 6 STOP", 6),
    "E6": ("P0 1 3 4 6 PLUS5 STOP", 19),
    "E6b": ("P0 1 3 4 6 PLUS5 3", 0),
    "E7": ("P0R X2 1 2 4 5 X3 3 STOP", 42),
    "E8": ("P0R X2 1 2 3 4 X3 6 5", 76),
    "E10": ("P0 2 5 1 6 PLUS5 3 4", 36),
    "E10b": ("P0 2 5 1 6 SUITE 3 4", 41),
    "E11": ("P0 1 2 3 4 DOUBLE 5 3 STOP", 15),
    "E13": ("P0 1 2 3 4 DOUBLE 2 3", 0),
    "E14": ("P0 1 2 3 4 DOUBLE 5 6", 31),
    "E15": ("P0 2 3 4 5 SUITE STOP", 24),
    "E15b": ("P0R X2 2 3 4 5 SUITE STOP", 38),
    "E16": ("P0 1 2 4 6 SUITE 3 STOP", 26),
    "E17": ("P0R X2 1 3 4 6 PLUS5 STOP", 33),
    "E17b": ("P0R X2 1 3 4 1", 0),
    "E18": ("P0R SIX 3 1 6 2 5 4 PLUS5", 36),
    "E19": ("P0R SIX 1 2 2 3 4 5", 0),
    "E19b": ("P1R SIX 1 2 2 3 4 5 PLUS5 STOP", 20),
    "E20": ("P1R SIX 1 1 1 2 5 6", 0),
    "E20b": ("P2R SIX 1 1 1 2 5 6 PLUS5 STOP", 19),
    "E21": ("P1 1 2 3 4 PLUS5 3 6 STOP", 21),
}


@pytest.mark.parametrize("example", TURNS)
def test_worked_turn(example):
    words, points = TURNS[example]
    state = play(words)
    assert state.turn == 1
    assert state.score[0] == points
    assert state.outs[0] == (points == 0)


def test_worked_games_g1_to_g3():
    assert play("P0 5 4 STOP", s0=70).score[0] == 70
    assert play("P0 6 STOP", s0=70).score[0] == 76
    state = play("P0 5 4 6 STOP", s0=70)
    assert (state.score[0], state.validated[0]) == (85, 1)


def test_worked_game_g4():
    state = play("P0R DUEL 2 2 2 5 3 3")
    assert [int(s) for s in state.score[:2]] == [-5, 5]


def test_worked_game_g7():
    state = play("P0 6 STOP P0 6 5 4 STOP P0 5 6 3 STOP", seats=3, s0=70, s1=60, s2=66)
    assert [int(s) for s in state.score[:3]] == [76, 75, 80]
    assert shares(state) == [0, 0, 1]


def test_worked_game_g8():
    state = play("P0 1 STOP P0 1 STOP P0 5 6 3 STOP", seats=3, s0=70, s1=60, s2=66)
    assert shares(state) == [0, 0, 1]


def test_worked_game_g10():
    state = play("P0 6 STOP P0 6 STOP 3 5 1 3", s0=72, s1=72)
    assert shares(state) == [1, 0]


def test_worked_game_g11():
    assert play("P0R RELANCE 1 STOP P1 2 KEEP 6 USE6 2").outs[1] == 1


def test_worked_game_g13():
    state = play("P0R X2 1 2 3 4 X3 6 5")
    assert (state.score[0], state.validated[0], state.turn) == (76, 1, 1)


# --- variant fields -------------------------------------------------------------------------------------------------------

FIELDS = [
    ("target=20", "P0 6 5 4 3 PLUS5 STOP", 20, 23),
    ("fever_bonus=0", "P0 1 2 3 4 DOUBLE 5 6", 0, 21),
    ("bonus_at=3,bonus_faces=PLUS5", "P0 1 2 3 PLUS5 STOP", 0, 11),
    ("suite_value=5", "P0 2 3 4 5 SUITE STOP", 0, 19),
    ("suite_len=5", "P0 2 3 4 5 SUITE STOP", 0, 14),
    ("suite_len=5", "P0 2 3 4 5 SUITE 6 STOP", 0, 30),
    ("suite_check=immediate", "P0 2 5 1 6 SUITE 3 4", 0, 31),
    ("suite_check=immediate", "P0 1 2 4 6 SUITE 3 STOP", 0, 16),
    ("suite_check=immediate", "P0 2 3 4 5 SUITE STOP", 0, 24),
    ("duel_stake=7", "P0R DUEL 5 2 1 STOP", 0, 8),
    ("duel_stake=difference", "P0R DUEL 5 2 1 STOP", 0, 4),
    ("duel_stake=winner_die", "P0R DUEL 2 5 1 STOP", 0, -4),
    ("double_dup_parades=2", "P1 1 2 3 4 DOUBLE 2 3", 0, 0),
    ("double_dup_parades=2", "P2 1 2 3 4 DOUBLE 2 3 STOP", 0, 10),
    ("six_partial_bonus=false", "P1R SIX 1 2 2 3 4 5 STOP", 0, 15),
    ("six_partial_bonus=false", "P0R SIX 3 1 6 2 5 4 PLUS5", 0, 36),
]


@pytest.mark.parametrize("change, words, before, points", FIELDS)
def test_variant_field_changes_the_score(change, words, before, points):
    assert play(words, variant=f"standard,{change}", s0=before).score[0] == before + points


def test_plain_has_no_cards_and_no_bonus_die():
    state = new(2, "plain")
    assert state.phase == rules.DIE
    assert follow(GAME, state, "1 2 3 4").phase == rules.DECIDE


def test_even_faces_have_four_faces():
    state = new(2, "even_faces")
    assert (state.variant.n_bonus_faces, state.variant.n_risk_faces) == (4, 4)
    assert rules.chance(play("P0R", variant="even_faces")) == 4


def test_max_risk_per_turn_0_forbids_risk_cards():
    assert options(new(2, "standard,max_risk_per_turn=0")) == ["P0", "P1", "P2", "P3"]


@pytest.mark.parametrize("field, face", [("duel_target", "DUEL"), ("relance_target", "RELANCE")])
def test_left_neighbour_is_not_a_choice(field, face):
    state = play(f"P0R {face}", seats=3, variant=f"standard,{field}=left")
    assert rules.actor(state) == -1
    assert state.rival == 1 if face == "DUEL" else tokens(state) == [1, -1, -1]


def test_relance_forced_hits_the_fourth_value():
    variant = "standard,relance_mode=forced"
    state = play("P0R RELANCE 1 STOP P0 1 2 3 4", variant=variant)
    assert (state.phase, rules.COUNT[state.track]) == (rules.RETHROW, 3)
    assert follow(GAME, state, "5").phase == rules.BONUS_DIE


def test_relance_keeps_x3():
    words = "P0R RELANCE 1 STOP P0 1 KEEP 2 KEEP 3 KEEP 4 KEEP X3 6 USE6 5 STOP"
    assert play(words, variant="standard,relance_keeps_x3=true").score[1] == 25


def test_double_forced_leaves_no_choice():
    state = play("P0 1 2 3 4 DOUBLE", variant="standard,double_forced=true")
    assert state.phase == rules.FIRST_DIE


def test_parade_after_risk_but_not_after_six():
    variant = "standard,parade_after_risk=true"
    state = play("P1R X2", variant=variant)
    assert options(state) == ["P0", "P1", "P2"]
    assert follow(GAME, state, "P2").shields == 3
    assert play("P1R SIX", variant=variant).phase == rules.SIX_DICE


def test_last_turn_not_strict_keeps_the_validation():
    state = play("P0 6 STOP P0R DUEL 6 1 2 STOP", variant="standard,last_turn_strict=false", s0=70)
    assert shares(state) == [1, 0]


def test_sudden_death_on_own_tracks():
    state = play("P0 6 STOP P0 6 STOP 3 3 3", variant="standard,sudden_death=own", s0=72, s1=72)
    assert shares(state) == [0, 1]


def test_sudden_death_shared_win():
    state = play("P0 6 STOP P0 6 STOP P0 6 STOP 3 3", seats=3, variant="standard,sudden_death=share_win", s0=72, s1=72, s2=72)
    assert shares(state) == [0.5, 0, 0.5]
