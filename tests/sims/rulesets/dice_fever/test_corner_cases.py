"""Corner cases of the rules, worked examples under their other readings, and variant fields, each from the specification."""

import numpy as np
import pytest

from sims import RULESETS
from sims.errors import InputError
from sims.ruleset import CHANCE, OVER
from sims.rulesets.dice_fever import rules, values_of
from sims.trace import follow

FEVER = RULESETS["dice-fever"]


def play(script, *score, variant=None):
    """Play a script from the first position of a game with these scores."""
    score = score or (0, 0)
    state = FEVER.new_state(len(score), variant)
    state.score[: len(score)] = score
    return follow(FEVER, state, script)


def words(state):
    """What the seat that must decide can say; nothing at a chance node."""
    return [FEVER.describe(state, action) for action in FEVER.legal(state)] if rules.actor(state) >= 0 else []


def scores(state):
    return state.score[: state.seats].tolist()


def track(state):
    return values_of(int(state.track))


def payoffs(state):
    assert rules.actor(state) == OVER
    shares = np.zeros(state.seats)
    rules.payoffs(state, shares)
    return shares.tolist()


# --- seats, cards, throws -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", range(2, 7))
def test_r3_r4_turns_go_round_any_table(seats):
    state = play("P0 3 STOP " * seats, *[0] * seats)
    assert (state.turn, scores(state)) == (0, [3] * seats)


def test_r5_cannot_commit_more_than_there_is():
    with pytest.raises(InputError):
        play("P4")
    with pytest.raises(InputError):
        play("P0RR")


@pytest.mark.parametrize("ending", ["6 STOP", "6 2 6 2 2", "1 2 3 4 DOUBLE 5 6"])
def test_r7_committed_cards_are_gone_however_the_turn_ends(ending):
    state = play(f"P2R X2 {ending}")
    assert (state.turn, state.parade[0], state.risk[0], state.shields) == (1, 1, 1, 0)


def test_r11_no_stop_before_the_first_die():
    for cards in ("P0", "P1", "P0R X2", "P0R DUEL 1 2", "P0R RELANCE", "P0R SIX"):
        assert rules.actor(play(cards)) == CHANCE


def test_r14_stop_is_allowed_after_a_parry_and_the_value_counts_once():
    assert scores(play("P1 5 2 5 STOP")) == [7, 0]


def test_r18_parried_dice_do_not_unlock_the_bonus_die():
    assert words(play("P3 1 2 1 2 3 3")) == ["STOP", "THROW"]
    assert FEVER.describe(play("P3 1 2 1 2 3 3 4"), 0) == "PLUS5"


def test_r20_no_second_bonus_after_a_relance_took_the_fourth_value_away():
    state = play("P0R RELANCE 1 STOP P0 1 KEEP 2 KEEP 3 KEEP 4 KEEP PLUS5 5 USE5 6")
    assert words(state) == ["STOP", "THROW"]
    assert scores(follow(FEVER, state, "STOP")) == [1, 16 + 5]


def test_r24_x3_does_not_wait_for_a_later_throw():
    assert scores(play("P0 1 2 4 5 X3 3 6")) == [21 + 6 + 10, 0]


def test_r27_r32_one_die_again_after_a_double():
    assert words(play("P0 1 2 3 4 DOUBLE 5 3 6")) == ["P0", "P0R", "P1", "P1R", "P2", "P2R", "P3", "P3R"]  # Dice Fever
    assert words(play("P1 1 2 3 4 DOUBLE 2 3 5")) == ["STOP", "THROW"]


@pytest.mark.parametrize("pair, shields", [("5 3", 1), ("3 5", 1), ("5 5", 1), ("3 3", 0), ("2 3", 0)])
def test_r29_to_r31_parades_that_a_double_costs(pair, shields):
    assert play(f"P1 1 2 3 4 DOUBLE {pair}").shields == shields


# --- RISK faces -----------------------------------------------------------------------------------------------------------


def test_r35_dice_of_a_duel_are_not_the_needed_6():
    assert scores(play("P0R DUEL 6 1 5 STOP", 70, 0)) == [75, -5]


def test_r35_active_player_pending_by_his_own_duel_needs_a_6_in_this_turn():
    assert scores(play("P0R DUEL 6 1 5 STOP", 73, 0)) == [78, -5]
    state = play("P0R DUEL 6 1 6 STOP", 73, 0)
    assert (scores(state), state.validated[0]) == ([84, -5], 1)


def test_r36_values_that_parades_saved():
    state = play("P3R SIX 2 2 4 4 1 1")
    assert (track(state), state.shields, words(state)) == ([1, 2, 4], 0, ["STOP", "THROW"])
    assert FEVER.describe(follow(FEVER, state, "5"), 5) == "SUITE"  # the fourth value, by a single die


def test_r36_full_effect_of_the_bonus_die_short_of_a_fever():
    assert scores(play("P1R SIX 1 2 2 3 4 5 X3 6")) == [15 + 18 + 10, 0]
    assert scores(play("P2R SIX 1 1 1 2 5 6 DOUBLE 3 4")) == [31, 0]


def test_r37_window_offers_every_die_just_laid():
    state = play("P0R RELANCE 1 STOP P0 1 KEEP 2 KEEP 3 KEEP 4 KEEP DOUBLE 6 5")
    assert (rules.actor(state), sorted(words(state))) == (0, ["KEEP", "USE5", "USE6"])


def test_r37_window_leaves_out_a_die_taken_back():
    assert words(play("P0R RELANCE 1 STOP P0 1 KEEP 2 KEEP 3 KEEP 4 KEEP DOUBLE 3 5")) == ["KEEP", "USE5"]


def test_r37_no_window_after_a_parry():
    state = play("P0R RELANCE 1 STOP P1 4 KEEP 4")
    assert (rules.actor(state), words(state)) == (1, ["STOP", "THROW"])


def test_r37_the_same_value_may_come_again():
    assert scores(play("P0R RELANCE 1 STOP P0 2 KEEP 6 USE6 6 STOP")) == [1, 8]


def test_r37_a_6_thrown_again_is_no_6():
    assert scores(play("P0R RELANCE 1 STOP P0 6 USE6 5 4 STOP", 0, 70)) == [1, 70]


def test_r37_a_relance_can_prevent_a_fever():
    state = play("P0R RELANCE 1 STOP P0 1 KEEP 2 KEEP 3 KEEP 4 KEEP PLUS5 5 KEEP 6 USE6 5")
    assert (state.outs[1], scores(state)) == (1, [1, 0])


def test_r37_a_token_is_used_once():
    state = play("P0R RELANCE 1 STOP P0 2 USE2 3")
    assert (rules.actor(state), words(follow(FEVER, state, "4"))) == (1, ["STOP", "THROW"])


def test_r37_only_the_target_is_hit():
    state = play("P0R RELANCE SEAT2 1 STOP P0 4", 0, 0, 0)
    assert rules.actor(state) == 1
    assert rules.actor(follow(FEVER, state, "STOP P0 4")) == 0


# --- the end --------------------------------------------------------------------------------------------------------------


def test_r42_a_fever_always_has_its_6():
    assert scores(play("P0 1 2 3 4 DOUBLE 5 6", 70, 0)) == [101, 0]


def test_r42_a_parade_does_not_help():
    assert scores(play("P3 5 4 STOP", 70, 0)) == [70, 0]


def test_r46_seats_before_the_achiever_do_not_play_again():
    assert payoffs(play("P0 1 STOP P0 6 STOP P0 1 STOP", 75 - 1, 70, 0)) == [0, 1, 0]


def test_r48_a_duel_in_the_last_turns_can_dethrone():
    assert payoffs(play("P0 6 STOP P0 6 STOP P0R DUEL SEAT0 6 1 1 STOP", 73, 72, 0)) == [0, 1, 0]


def test_r49_validation_is_cleared_and_everybody_plays_on():
    state = play("P0 6 STOP P0R DUEL SEAT0 6 1 3 STOP P0 1 STOP", 70, 0, 0)
    assert (state.turn, state.validated.tolist(), scores(state)) == (0, [0] * 6, [71, 8, 1])
    assert scores(follow(FEVER, state, "P0 5 STOP")) == [71, 8, 1]  # 76 without a 6


def test_r50_only_the_tied_seats_throw():
    state = play("P0 6 STOP P0 1 STOP P0 6 STOP", 72, 0, 72)
    assert (rules.actor(state), state.turn) == (CHANCE, 0)
    assert follow(FEVER, state, "3").turn == 2
    assert payoffs(follow(FEVER, state, "5 3")) == [0, 0, 1]


# --- worked examples of the game level, whole -----------------------------------------------------------------------------


def test_g5_and_its_continuation():
    state = play("P0R DUEL 1 6", 0, 73)
    assert (scores(state), state.validated[1]) == ([-5, 78], 0)
    follow(FEVER, state, "1 STOP P0 3 STOP")
    assert scores(state) == [-4, 78]
    assert rules.actor(state) == 0  # no last turns
    follow(FEVER, state, "P0 1 STOP P0 6 STOP")
    assert (scores(state), payoffs(state)) == ([-3, 84], [0, 1])


def test_g13_later_seats_get_their_last_turn():
    state = play("P0R X2 1 2 3 4 X3 6 5", 0, 0, 0)
    assert (scores(state), state.validated[0], state.turn) == ([76, 0, 0], 1, 1)
    assert payoffs(follow(FEVER, state, "P0 6 STOP P0 5 STOP")) == [1, 0, 0]


# --- variant fields -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target, over", [(20, True), (21, False)])
def test_variant_target(target, over):
    state = play("P0 1 STOP P0 6 STOP", 0, 14, variant=f"standard,target={target}")
    assert (rules.actor(state) == OVER) == over


def test_variant_cards():
    state = FEVER.new_state(2, "standard,parade_cards=1,risk_cards=0")
    assert words(state) == ["P0", "P1"]
    assert words(FEVER.new_state(2, "standard,parade_cards=0")) == ["P0", "P0R"]
    assert words(FEVER.new_state(2, "standard,parade_cards=0,risk_cards=0")) == []


def test_variant_bonus_die_off():
    assert scores(play("P0 1 2 3 4 5 6", variant="standard,bonus_die=false")) == [31, 0]
    assert scores(play("P0R SIX 1 2 3 4 5 6", variant="standard,bonus_die=false")) == [31, 0]


@pytest.mark.parametrize("bonus_at, before", [(1, ""), (2, "1"), (5, "1 2 3 4"), (6, "1 2 3 4 5")])
def test_variant_bonus_at(bonus_at, before):
    state = play(f"P0 {before} 6 PLUS5", variant=f"standard,bonus_at={bonus_at}")
    follow(FEVER, state, "STOP" if bonus_at < 6 else "")
    assert state.points[0] == sum(map(int, before.split())) + 6 + 5 + 10 * (bonus_at == 6)


def test_variant_faces():
    variant = "standard,bonus_faces=X3/X3,risk_faces=SIX"
    assert rules.chance(play("P0 1 2 3 4", variant=variant)) == 2
    assert rules.chance(play("P0R", variant=variant)) == 1


@pytest.mark.parametrize("check, points", [("end", 13 + 3 + 10), ("immediate", 13 + 3)])
def test_variant_suite_check(check, points):
    assert scores(play("P0 1 2 4 6 SUITE 3 STOP", variant=f"standard,suite_check={check}")) == [points, 0]


@pytest.mark.parametrize("check", ["end", "immediate"])
def test_variant_suite_check_makes_no_difference_to_six_at_once(check):
    assert scores(play("P0R SIX 3 1 6 2 5 4 SUITE", variant=f"standard,suite_check={check}")) == [41, 0]


@pytest.mark.parametrize("stake, dice, moved", [("0", "6 1", 0), ("difference", "2 6", -4), ("winner_die", "4 1", 4)])
def test_variant_duel_stake(stake, dice, moved):
    assert scores(play(f"P0R DUEL {dice}", variant=f"standard,duel_stake={stake}")) == [moved, -moved]


def test_variant_left_neighbour_of_the_last_seat_is_the_first():
    variant = "standard,duel_target=left,relance_target=left"
    turns = "P0 1 STOP P0 1 STOP P0R "
    assert scores(play(turns + "DUEL 6 1", 0, 0, 0, variant=variant)) == [-4, 1, 5]
    assert play(turns + "RELANCE", 0, 0, 0, variant=variant).tokens.tolist()[:3] == [1 << 2, 0, 0]


def test_variant_relance_forced_hits_the_fourth_of_two_dice():
    variant = "standard,relance_mode=forced,bonus_at=2"
    assert track(play("P0R RELANCE 1 STOP P0 1 2 DOUBLE 3 4", variant=variant)) == [1, 2, 3]
    variant = "standard,relance_mode=forced,bonus_at=3"
    assert track(play("P0R RELANCE 1 STOP P0 1 2 3 DOUBLE 4 5", variant=variant)) == [1, 2, 3, 5]


def test_variant_relance_forced_spares_six_at_once_and_the_fifth_value():
    variant = "standard,relance_mode=forced"
    state = play("P0R RELANCE 1 STOP P2R SIX 1 1 1 2 5 6 PLUS5 3", variant=variant)
    assert (track(state), words(state)) == ([1, 2, 3, 5, 6], ["STOP", "THROW"])


@pytest.mark.parametrize("again", ["4", "6"])
def test_variant_relance_forced_by_two_owners_takes_a_die_off_the_track_each_time(again):
    """After 1,2,3 and Double De (4,5) the first owner's 4 is thrown again; so is, for the second owner, a die that is there."""
    state = play(
        f"P0R RELANCE SEAT2 1 STOP P0R RELANCE SEAT2 1 STOP P0 1 2 3 DOUBLE 4 5 {again}",
        *(0, 0, 0),
        variant="standard,relance_mode=forced,bonus_at=3",
    )
    assert state.phase == rules.RETHROW
    assert len(track(state)) == 4


@pytest.mark.parametrize("keeps, points", [("true", 25), ("false", 15)])
def test_variant_relance_keeps_x3(keeps, points):
    script = "P0R RELANCE 1 STOP P0 1 KEEP 2 KEEP 3 KEEP 4 KEEP X3 6 USE6 5 STOP"
    assert scores(play(script, variant=f"standard,relance_keeps_x3={keeps}")) == [1, points]


def test_variant_double_forced_by_six_at_once():
    state = play("P2R SIX 1 1 1 2 5 6 DOUBLE", variant="standard,double_forced=true")
    assert (rules.actor(state), state.phase) == (CHANCE, rules.FIRST_DIE)
    assert words(follow(FEVER, state, "3 1")) == ["STOP", "THROW"]


@pytest.mark.parametrize("price, parades, outs", [(1, 0, 1), (1, 1, 0), (2, 1, 1), (2, 2, 0)])
def test_variant_double_dup_parades(price, parades, outs):
    state = play(f"P{parades} 1 2 3 4 DOUBLE 2 3", variant=f"standard,double_dup_parades={price}")
    assert (state.outs[0], state.shields) == (outs, 0)


def test_variant_double_dup_parades_is_for_two_dice_only():
    state = play("P2R SIX 1 2 3 4 5 5 DOUBLE 3", variant="standard,double_dup_parades=2")
    assert (state.outs[0], state.shields) == (0, 0)  # five values: Double De is one die, and one PARADE parries it


def test_variant_parade_after_risk():
    variant = "standard,parade_after_risk=true"
    assert words(play("P3R X2", variant=variant)) == []
    state = play("P0R DUEL 6 1 P2 4 4 STOP", variant=variant)
    assert (scores(state), state.parade[0]) == ([9, -5], 1)


@pytest.mark.parametrize("strict", ["true", "false"])
def test_variant_last_turn_strict(strict):
    state = play("P0 6 STOP P0R DUEL 6 1 2 STOP", 70, 0, variant=f"standard,last_turn_strict={strict}")
    assert rules.actor(state) == (0 if strict == "true" else OVER)


@pytest.mark.parametrize(
    "rule, dice, shares",
    [
        ("shared", "3 3 4 4", [0, 0, 1]),
        ("own", "3 3 3 3 4 4 4", [0, 0, 1]),
        ("share_win", "3 3", [0.5, 0, 0.5]),
    ],
)
def test_variant_sudden_death_of_three(rule, dice, shares):
    """Own tracks: 3, 3, 3, then seat 0 repeats its 3; seats 1 and 2 start afresh with 4 and 4, and seat 1 repeats its 4."""
    state = play("P0 6 STOP " * 3 + dice, 72, 72, 72, variant=f"standard,sudden_death={rule}")
    assert payoffs(state) == shares
