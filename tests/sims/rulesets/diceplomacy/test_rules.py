"""Diceplomacy, clause by clause (R numbers of the README), every worked example of the specification, every variant field."""

import numpy as np
import pytest

from sims import RULESETS, InputError
from sims.ruleset import CHANCE, OVER
from sims.rulesets.diceplomacy import rules
from sims.trace import follow

GAME = RULESETS["diceplomacy"]
FIRST = "standard,first_player=first_seat"


def table(dice, *pairs, variant=FIRST, score=(), defeats=(), known=()):
    """The first turn of seat 0 with these dice, allied pairs, victories, defeats and seats whose dice are known."""
    state = follow(GAME, GAME.new_state(len(dice), variant), " ".join(map(str, dice)))
    for one, two in pairs:
        state.ally[one], state.ally[two] = two, one
    for seat, n in enumerate(score):
        state.score[seat] = n
    for seat, n in enumerate(defeats):
        state.defeats[seat] = n
    for seat in known:
        state.known[seat] = state.die[seat]
    return state


def play(words, *args, **named):
    return follow(GAME, table(*args, **named), words)


def options(state):
    return [GAME.describe(state, action) for action in GAME.legal(state)]


def seats(state, name):
    return state[name][: state.seats].tolist()


def counters(state):
    """(victories, defeats) of each seat."""
    return list(zip(seats(state, "score"), seats(state, "defeats"), strict=True))


def pairs(state):
    return [(seat, other) for seat, other in enumerate(seats(state, "ally")) if seat < other]


def fighters(state):
    """The attackers, the defenders."""
    everybody = state.fighters[: state.n_fighters].tolist()
    return everybody[: state.n_attackers], everybody[state.n_attackers :]


def rollers(state):
    """The seats that roll from here on, in order; each shows a 1."""
    found = []
    while rules.actor(state) == CHANCE and state.phase == rules.ROLL:
        found.append(int(state.turn))
        follow(GAME, state, "1")
    return found


def shares(state):
    assert rules.actor(state) == OVER
    out = np.full(state.seats, np.nan)
    rules.payoffs(state, out)
    return out.tolist()


def events(state):
    return [tuple(event) for event in state.history[: state.n_events].tolist()]


# --- setup ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(4, 9))
def test_r1_everybody_rolls_one_die_in_seat_order(n):
    state = GAME.new_state(n)
    for seat in range(n):
        assert (rules.actor(state), rules.chance(state), state.turn) == (CHANCE, 6, seat)
        follow(GAME, state, str(1 + seat % 6))
    assert seats(state, "die") == [1 + seat % 6 for seat in range(n)]


def test_r2_nothing_has_happened_at_the_start():
    state = table([1, 2, 3, 4, 5])
    assert counters(state) == [(0, 0)] * 5
    assert pairs(state) == []
    assert seats(state, "known") == [0] * 5


@pytest.mark.parametrize("n", range(4, 9))
def test_r3_the_first_player_is_drawn_from_the_tables_stream(n):
    for seat in range(n):
        state = follow(GAME, GAME.new_state(n), ["1"] * n)
        assert (rules.actor(state), rules.chance(state), state.turn) == (CHANCE, n, -1)
        follow(GAME, state, f"SEAT{seat}")
        assert (rules.actor(state), state.turn, state.turns[seat]) == (seat, seat, 1)


def test_r3_play_is_clockwise_past_the_eliminated():
    state = table([1, 1, 1, 1, 1])
    state.alive[2], state.n_alive = 0, 4
    for seat in (0, 1, 3, 4, 0):
        assert (state.mover, state.turn) == (seat, seat)
        follow(GAME, state, "TREATY")


@pytest.mark.parametrize("n", [3, 9])
def test_four_to_eight_seats(n):
    with pytest.raises(InputError, match=f"4 to 8 seats, not {n}"):
        GAME.new_state(n)


# --- the four actions -----------------------------------------------------------------------------------------------------


def test_r4_four_actions_and_no_pass():
    assert options(table([1, 1, 1, 1])) == ["REFORM", "TREATY", "WAR1", "WAR2", "WAR3", "PROPOSE1", "PROPOSE2", "PROPOSE3"]


def test_r4_no_proposal_to_the_ally_but_war():
    assert options(table([1, 1, 1, 1], (0, 2))) == ["REFORM", "TREATY", "WAR1", "WAR2", "WAR3", "PROPOSE1", "PROPOSE3"]


def test_r4_neither_war_on_the_eliminated_nor_a_proposal_to_them():
    state = table([1, 1, 1, 1, 1])
    state.alive[3], state.n_alive = 0, 4
    assert options(state) == ["REFORM", "TREATY", "WAR1", "WAR2", "WAR4", "PROPOSE1", "PROPOSE2", "PROPOSE4"]


def test_r4_three_players_cannot_propose():
    state = table([1, 1, 1, 1])
    state.alive[1], state.n_alive = 0, 3
    assert options(state) == ["REFORM", "TREATY", "WAR2", "WAR3"]


def test_r4_treaty_ends_every_alliance():
    state = play("TREATY", [1] * 6, (0, 1), (2, 3))
    assert pairs(state) == []
    assert state.mover == 1


def test_r4_reform_rolls_the_own_die_and_hides_it():
    state = play("REFORM", [3, 3, 3, 3], known=[0, 1])
    assert (rules.actor(state), state.turn) == (CHANCE, 0)
    follow(GAME, state, "6")
    assert seats(state, "die") == [6, 3, 3, 3]
    assert seats(state, "known") == [0, 3, 0, 0]
    assert (state.mover, state.reforms[0]) == (1, 1)


# --- proposals ------------------------------------------------------------------------------------------------------------


def test_r5_the_alliance_of_who_proposes_ends_at_once():
    state = play("PROPOSE2", [1] * 4, (0, 1))
    assert pairs(state) == []
    assert pairs(follow(GAME, state, "REFUSE")) == []


def test_r6_the_other_seat_answers():
    state = play("PROPOSE2", [1] * 4)
    assert rules.actor(state) == 2
    assert options(state) == ["ACCEPT", "REFUSE"]
    assert follow(GAME, state, "ACCEPT").mover == 1


def test_r7_accepting_ends_the_present_alliance_of_who_accepts():
    assert pairs(play("PROPOSE2 ACCEPT", [1] * 4, (2, 3))) == [(0, 2)]


def test_r7_refusing_keeps_it():
    assert pairs(play("PROPOSE2 REFUSE", [1] * 4, (2, 3))) == [(2, 3)]


def test_r8_allies_fight_together_in_attack_and_defence():
    assert fighters(play("WAR2", [1] * 5, (0, 1), (2, 4))) == ([0, 1], [2, 4])


# --- war: the sides -------------------------------------------------------------------------------------------------------


def test_r9_war_on_the_ally_ends_the_alliance_first():
    state = play("WAR1", [1] * 4, (0, 1))
    assert pairs(state) == []
    assert fighters(state) == ([0], [1])


def test_r10_allies_are_in_the_war_unasked():
    state = play("WAR2", [1] * 6, (0, 4), (2, 1))
    assert fighters(state) == ([0, 4], [2, 1])
    assert state.phase == rules.VOTE


@pytest.mark.parametrize("allied", [[], [(1, 2)], [(0, 3), (1, 2)]])
def test_r11_no_help_unless_the_defender_is_outnumbered(allied):
    """1 v 1, 1 v 2, 2 v 2."""
    assert play("WAR1", [1] * 6, *allied).phase == rules.VOTE


def test_r11_outnumbered_defender_may_ask():
    state = play("WAR2", [1] * 4, (0, 1))
    assert (state.phase, rules.actor(state)) == (rules.HELP, 2)
    assert options(state) == ["ASK3", "ALONE"]


def test_r12_parties_are_unallied_players_and_allied_pairs_outside_the_war():
    state = play("WAR3", [1] * 8, (0, 1), (2, 6), (4, 5))
    assert options(state) == ["ASK2", "ASK4", "ASK7", "ALONE"]


def test_r12_the_eliminated_are_not_asked():
    state = table([1] * 6, (0, 1))
    state.alive[4], state.n_alive = 0, 5
    assert options(follow(GAME, state, "WAR2")) == ["ASK3", "ASK5", "ALONE"]


def test_r13_each_party_is_asked_at_most_once_in_the_defenders_own_order():
    state = play("WAR2 ASK5", [1] * 6, (0, 1))
    assert rules.actor(state) == 5
    follow(GAME, state, "DECLINE")
    assert options(state) == ["ASK3", "ASK4", "ALONE"]
    assert options(follow(GAME, state, "ASK3 DECLINE")) == ["ASK4", "ALONE"]
    assert follow(GAME, state, "ASK4 DECLINE").phase == rules.VOTE


def test_r13_he_may_stop():
    state = play("WAR2 ASK3 DECLINE ALONE", [1] * 6, (0, 1))
    assert state.phase == rules.VOTE
    assert fighters(state) == ([0, 1], [2])


def test_r13_the_next_war_starts_with_nobody_asked():
    state = play("WAR2 ASK3 DECLINE FIGHT FIGHT FIGHT 1 1", [1] * 4, (0, 1))
    assert options(follow(GAME, state, "WAR2")) == ["ASK3", "ALONE"]


@pytest.mark.parametrize("first, second", [("JOIN", "DECLINE"), ("DECLINE", "JOIN"), ("DECLINE", "DECLINE")])
def test_r14_a_pair_joins_only_if_both_agree(first, second):
    state = play("WAR2 ASK3", [1] * 6, (0, 1), (3, 4))
    assert rules.actor(state) == 3
    assert rules.actor(follow(GAME, state, first)) == 4
    follow(GAME, state, second)
    assert fighters(state) == ([0, 1], [2])
    assert options(state) == ["ASK5", "ALONE"]


def test_r14_both_agree():
    assert fighters(play("WAR2 ASK3 JOIN JOIN", [1] * 6, (0, 1), (3, 4))) == ([0, 1], [2, 3, 4])


def test_r15_the_first_party_that_agrees_ends_the_asking():
    state = play("WAR2 ASK3 JOIN", [1] * 6, (0, 1))
    assert fighters(state) == ([0, 1], [2, 3])
    assert state.phase == rules.VOTE


def test_r16_helping_makes_no_alliance_and_costs_nothing():
    state = play("WAR2 ASK3 JOIN FIGHT FIGHT FIGHT FIGHT", [1, 1, 6, 6], (0, 1))
    assert pairs(state) == [(0, 1)]
    assert counters(state) == [(0, 1), (0, 1), (1, 0), (1, 0)]
    assert state.helped.tolist()[:4] == [0, 0, 0, 1]


# --- war: surrender or battle ---------------------------------------------------------------------------------------------


def test_r17_a_side_surrenders_if_all_its_members_say_yes():
    state = play("WAR2 SURRENDER SURRENDER", [1] * 5, (2, 3))
    assert counters(state) == [(1, 0), (0, 0), (0, 1), (0, 1), (0, 0)]


@pytest.mark.parametrize("votes", ["SURRENDER FIGHT", "FIGHT SURRENDER", "FIGHT FIGHT"])
def test_r17_one_no_is_enough_to_go_on(votes):
    state = play(f"WAR2 {votes}", [1] * 5, (2, 3))
    assert (state.phase, rules.actor(state)) == (rules.VOTE, 0)
    assert counters(state) == [(0, 0)] * 5


def test_r17_dice_stay_hidden():
    state = play("WAR2 SURRENDER", [1, 1, 5, 1], known=[1])
    assert all(code < rules.SHOWN for _, code in events(state))
    assert seats(state, "known") == [0, 1, 0, 0]


def test_r18_the_defenders_vote_first_then_the_attackers():
    state = play("WAR2", [1] * 5, (0, 1), (2, 3))
    for seat in (2, 3, 0, 1):
        assert rules.actor(state) == seat
        assert options(state) == ["SURRENDER", "FIGHT"]
        follow(GAME, state, "FIGHT")
    assert state.phase == rules.ROLL


def test_r19_surrender_of_the_attackers():
    state = play("WAR2 FIGHT FIGHT SURRENDER SURRENDER", [6, 6, 1, 1, 1], (0, 1), (2, 3), defeats=(1,))
    assert counters(state) == [(0, 2), (0, 1), (1, 0), (1, 0), (0, 0)]
    assert state.surrenders.tolist()[:5] == [1, 1, 0, 0, 0]


@pytest.mark.parametrize("own, other, wins", [(4, 3, True), (3, 3, False), (3, 4, False)])
def test_r20_the_attackers_win_only_with_the_higher_sum(own, other, wins):
    state = play("WAR2 FIGHT FIGHT", [own, 6, other, 6])
    assert counters(state)[0] == ((1, 0) if wins else (0, 1))
    assert counters(state)[2] == ((0, 1) if wins else (1, 0))


@pytest.mark.parametrize("dice, wins", [((6, 5, 4, 1, 5), True), ((6, 4, 4, 1, 5), False), ((1, 1, 6, 6, 6), False)])
def test_r20_sums_of_two_against_three(dice, wins):
    state = play("WAR2 ASK3 JOIN JOIN FIGHT FIGHT FIGHT FIGHT FIGHT", dice, (0, 1), (3, 4))
    assert seats(state, "score") == ([1, 1, 0, 0, 0] if wins else [0, 0, 1, 1, 1])


def test_r20_the_dice_of_all_fighters_are_shown_and_no_others():
    state = play("WAR2 FIGHT FIGHT FIGHT", [4, 3, 1, 6], (2, 3))
    shown = [(seat, code - rules.SHOWN) for seat, code in events(state) if code >= rules.SHOWN]
    assert shown == [(0, 4), (2, 1), (3, 6)]


def test_r21_allies_and_helpers_score_like_their_side():
    state = play("WAR2 ASK3 JOIN JOIN FIGHT FIGHT FIGHT FIGHT FIGHT", [6, 6, 1, 1, 1], (0, 1), (3, 4))
    assert counters(state) == [(1, 0), (1, 0), (0, 1), (0, 1), (0, 1)]


def test_r22_after_a_surrender_all_fighters_roll_again():
    state = play("WAR2 SURRENDER SURRENDER", [2, 2, 2, 2, 2, 2], (0, 4), (2, 3), known=[0, 2, 5])
    assert rollers(state) == [0, 4, 2, 3]
    assert seats(state, "known") == [0, 0, 0, 0, 0, 2]


def test_r22_after_a_battle_only_the_winners_roll_again():
    state = play("WAR2 FIGHT FIGHT FIGHT FIGHT", [6, 5, 4, 3, 2], (0, 1), (2, 3), known=[0, 4])
    assert rollers(state) == [0, 1]
    assert seats(state, "die") == [1, 1, 4, 3, 2]
    assert seats(state, "known") == [0, 0, 4, 3, 2]


def test_r22_helpers_roll_last():
    state = play("WAR2 ASK4 JOIN JOIN FIGHT FIGHT FIGHT FIGHT FIGHT", [1, 1, 6, 2, 6, 6], (0, 1), (4, 5))
    assert rollers(state) == [2, 4, 5]


def test_r22_third_defeat_eliminates_and_ends_the_alliance():
    state = play("WAR2 FIGHT FIGHT FIGHT 5", [6, 2, 1, 1, 3, 3], (2, 3), defeats=(0, 0, 2))
    assert seats(state, "alive") == [1, 1, 0, 1, 1, 1]
    assert pairs(state) == []
    assert (state.die[2], state.known[2], state.eliminated[2]) == (0, 0, 1)
    assert state.known[3] == 1


def test_r22_elimination_comes_after_the_dice_also_after_a_surrender():
    state = play("WAR2 SURRENDER", [6, 2, 1, 1, 3], defeats=(0, 0, 2))
    assert rollers(state) == [0, 2]
    assert (state.die[2], state.alive[2]) == (0, 0)


def test_r22_other_alliances_survive_with_four_players_left():
    assert pairs(play("WAR2 FIGHT FIGHT 5", [6, 2, 1, 1, 3], (1, 3), defeats=(0, 0, 2))) == [(1, 3)]


def test_r22_with_three_players_left_all_alliances_end_for_good():
    state = play("WAR2 FIGHT FIGHT 5", [6, 2, 1, 1], (1, 3), defeats=(0, 0, 2))
    assert (state.n_alive, pairs(state)) == (3, [])
    assert not any(word.startswith("PROPOSE") for word in options(state))


def test_r22_two_at_once():
    state = play("WAR2 FIGHT FIGHT FIGHT 5", [6, 2, 1, 1, 3], (2, 3), defeats=(0, 0, 2, 2))
    assert seats(state, "alive") == [1, 1, 0, 0, 1]
    assert state.n_alive == 3


def test_r23_alliances_survive_a_war_lost_or_won_and_a_surrender():
    assert pairs(play("WAR2 FIGHT FIGHT FIGHT FIGHT 1 1", [6, 6, 1, 1, 1], (0, 1), (2, 3))) == [(0, 1), (2, 3)]
    assert pairs(play("WAR2 SURRENDER SURRENDER 1 1 1 1", [6, 6, 1, 1, 1], (0, 1), (2, 3))) == [(0, 1), (2, 3)]


# --- information ----------------------------------------------------------------------------------------------------------


def seen(state, seat):
    view = GAME.new_state(int(state.seats))
    rules.observe(state, seat, view)
    return view


def test_r24_everything_but_the_dice_is_public():
    state = play("WAR2 ASK3 DECLINE", [6, 5, 4, 3, 2], (0, 1), known=[4], score=(1, 2), defeats=(0, 1))
    view = seen(state, 3)
    for name in GAME.state.names:
        if name != "die":
            assert np.array_equal(view[name], state[name]), name


def test_r24_history_tells_actions_answers_rolls_and_shown_dice():
    state = play("PROPOSE1 REFUSE REFORM 2 WAR3 FIGHT FIGHT", [6, 5, 4, 3])
    rolled = [(seat, rules.ROLLED) for seat in range(4)]
    said = [(0, rules.PROPOSE + 1), (1, rules.REFUSE), (1, rules.REFORM), (1, rules.ROLLED), (2, rules.WAR + 3)]
    fought = [(3, rules.FIGHT), (2, rules.FIGHT), (2, rules.SHOWN + 4), (3, rules.SHOWN + 3)]
    assert events(state) == rolled + said + fought
    assert events(follow(GAME, state, "5"))[-1] == (2, rules.ROLLED)


def test_r24_history_keeps_the_latest_events():
    state = table([1] * 4)
    follow(GAME, state, ["TREATY"] * rules.HISTORY)
    assert state.n_events == rules.HISTORY + 4
    assert state.history[3].tolist() == [3, rules.TREATY]  # over the roll of seat 3
    assert state.history[4].tolist() == [0, rules.TREATY]
    assert rules.ROLLED not in state.history[:, 1]


def test_r25_only_the_own_die_is_seen():
    state = table([6, 5, 4, 3], (0, 1))
    assert [seats(seen(state, seat), "die") for seat in range(4)] == [[6, 0, 0, 0], [0, 5, 0, 0], [0, 0, 4, 0], [0, 0, 0, 3]]


def test_r26_the_losers_die_is_known_until_it_is_rolled_the_winners_is_not():
    state = play("WAR2 FIGHT FIGHT 4", [6, 5, 3, 2])
    assert seats(state, "known") == [0, 0, 3, 0]
    assert seats(seen(state, 1), "die") == [0, 5, 3, 0]
    assert seats(seen(follow(GAME, state, "REFORM 1 REFORM 6"), 1), "die") == [0, 1, 0, 0]


def test_r27_no_die_is_known_after_a_surrender():
    state = play("WAR2 SURRENDER 1 2", [6, 5, 3, 2], known=[0, 2])
    assert seats(state, "known") == [0] * 4


# --- the end --------------------------------------------------------------------------------------------------------------


def test_r28_third_victory_ends_the_game_at_once():
    state = play("WAR2 FIGHT FIGHT", [6, 1, 1, 1], score=(2,))
    assert shares(state) == [1, 0, 0, 0]
    assert state.joint.sum() == state.pair_ends.sum() == state.trio_ends.sum() == state.draws.sum() == 0


def test_r29_fewest_defeats():
    state = play("WAR2 ALONE FIGHT FIGHT FIGHT", [5, 6, 1, 1], (0, 1), score=(2, 2), defeats=(1, 2))
    assert shares(state) == [1, 0, 0, 0]
    assert state.joint.tolist()[:4] == [1, 1, 0, 0]
    assert (state.pair_ends[0], state.trio_ends[0], state.draws[0]) == (1, 0, 0)


def test_r29_then_the_highest_die():
    state = play("WAR2 ALONE FIGHT FIGHT FIGHT", [5, 6, 1, 1], (0, 1), score=(2, 2), defeats=(1, 1))
    assert shares(state) == [0, 1, 0, 0]


def test_r29_then_they_share():
    state = play("WAR2 ALONE FIGHT FIGHT FIGHT", [5, 5, 1, 1], (0, 1), score=(2, 2), defeats=(1, 1))
    assert shares(state) == [0.5, 0.5, 0, 0]
    assert (state.pair_ends[0], state.draws[0]) == (1, 1)


def test_r29_only_those_with_three_victories_count():
    state = play("WAR2 ALONE FIGHT FIGHT FIGHT", [5, 6, 1, 1], (0, 1), score=(2, 1), defeats=(2, 0))
    assert shares(state) == [1, 0, 0, 0]


@pytest.mark.parametrize(
    "dice, defeats, expected",
    [
        ((1, 1, 2, 3, 4), (0, 0, 0, 0, 0), [0, 0, 0, 0, 1]),
        ((1, 1, 4, 3, 4), (0, 0, 0, 0, 0), [0, 0, 0.5, 0, 0.5]),
        ((1, 1, 4, 4, 4), (0, 0, 1, 1, 1), [0, 0, 1 / 3, 1 / 3, 1 / 3]),
        ((1, 1, 2, 3, 4), (0, 0, 1, 0, 1), [0, 0, 0, 1, 0]),
    ],
)
def test_r30_three_can_arrive_together(dice, defeats, expected):
    words = "WAR2 ASK3 JOIN JOIN FIGHT FIGHT FIGHT FIGHT FIGHT"
    state = play(words, dice, (0, 1), (3, 4), score=(0, 0, 2, 2, 2), defeats=defeats)
    assert shares(state) == expected
    assert state.joint.tolist()[:5] == [0, 0, 1, 1, 1]
    assert (state.pair_ends[0], state.trio_ends[0], state.draws[0]) == (0, 1, sum(share > 0 for share in expected) > 1)


def test_r31_victory_comes_before_elimination():
    state = play("WAR2 FIGHT FIGHT", [6, 1, 1, 1], score=(2,), defeats=(0, 0, 2))
    assert shares(state) == [1, 0, 0, 0]
    assert (state.alive[2], state.eliminated[2], state.defeats[2]) == (1, 0, 3)


def test_r32_the_last_player_alive_wins():
    state = table([6, 1, 1, 1], defeats=(0, 2, 3, 3))
    for seat in (2, 3):
        rules.eliminate(state, seat)
    follow(GAME, state, "WAR1 FIGHT FIGHT")
    assert rules.actor(state) == CHANCE  # the winner rolls, then the loser is out
    assert shares(follow(GAME, state, "2")) == [1, 0, 0, 0]


# --- worked examples ------------------------------------------------------------------------------------------------------


def test_p1_duel():
    state = play("WAR2 FIGHT FIGHT", [5, 2, 3, 4])
    assert counters(state) == [(1, 0), (0, 0), (0, 1), (0, 0)]
    assert rollers(state) == [0]
    assert seats(state, "known") == [0, 0, 3, 0]
    assert seats(state, "die") == [1, 2, 3, 4]


def test_p2_tie():
    state = play("WAR2 FIGHT FIGHT", [4, 1, 4, 1])
    assert counters(state) == [(0, 1), (0, 0), (1, 0), (0, 0)]
    assert rollers(state) == [2]
    assert seats(state, "known") == [4, 0, 0, 0]


def test_p3_two_against_one_without_help():
    state = play("WAR2 ASK3 DECLINE FIGHT FIGHT FIGHT", [2, 3, 6, 1], (0, 1))
    assert counters(state) == [(0, 1), (0, 1), (1, 0), (0, 0)]
    assert rollers(state) == [2]
    assert seats(state, "known") == [2, 3, 0, 0]
    assert pairs(state) == [(0, 1)]


def test_p4_help():
    state = play("WAR2 ASK3 JOIN FIGHT FIGHT FIGHT FIGHT", [2, 3, 4, 1], (0, 1))
    assert counters(state) == [(0, 1), (0, 1), (1, 0), (1, 0)]
    assert rollers(state) == [2, 3]
    assert seats(state, "known") == [2, 3, 0, 0]
    assert pairs(state) == [(0, 1)]


def test_p4_without_help_the_attackers_win():
    state = play("WAR2 ASK3 DECLINE FIGHT FIGHT FIGHT", [2, 3, 4, 1], (0, 1))
    assert counters(state) == [(1, 0), (1, 0), (0, 1), (0, 0)]


def test_p5_surrender():
    state = play("WAR2 ASK3 DECLINE SURRENDER", [2, 3, 1, 5], (0, 1), known=[0, 1])
    assert counters(state) == [(1, 0), (1, 0), (0, 1), (0, 0)]
    assert rollers(state) == [0, 1, 2]
    assert seats(state, "known") == [0, 0, 0, 0]
    assert all(code < rules.SHOWN for _, code in events(state))
    assert state.die[3] == 5


def test_p6_split_vote():
    state = play("WAR2 SURRENDER FIGHT", [4, 4, 3, 3, 1], (0, 1), (2, 3))
    assert [rules.actor(state)] == [0]
    follow(GAME, state, "SURRENDER FIGHT")
    assert counters(state) == [(1, 0), (1, 0), (0, 1), (0, 1), (0, 0)]
    assert state.known[2] == 3


def test_p8_attack_on_the_ally():
    state = play("WAR1", [4, 3, 1, 1], (0, 1))
    assert (pairs(state), fighters(state), state.phase) == ([], ([0], [1]), rules.VOTE)


def test_p9_proposal_chain():
    state = play("PROPOSE2", [1] * 4, (0, 1), (2, 3))
    assert pairs(state) == [(2, 3)]
    assert pairs(follow(GAME, state.copy(), "ACCEPT")) == [(0, 2)]
    assert pairs(follow(GAME, state, "REFUSE")) == [(2, 3)]


def test_p10_elimination_and_the_three_player_limit():
    state = play("WAR2 ASK3 DECLINE FIGHT FIGHT FIGHT", [4, 5, 6, 1], (0, 1), score=(0, 0, 1), defeats=(0, 0, 2))
    assert rollers(state) == [0, 1]
    assert counters(state)[:3] == [(1, 0), (1, 0), (1, 3)]
    assert (state.alive[2], state.die[2], pairs(state)) == (0, 0, [])
    assert options(state) == ["REFORM", "TREATY", "WAR0", "WAR3"]


def test_p12_third_victory_by_surrender():
    state = play("WAR2 ALONE SURRENDER", [3, 2, 1, 1], (0, 1), score=(2, 2))
    assert shares(state) == [1, 0, 0, 0]


def test_p13_great_treaty():
    state = table([1] * 5, (0, 1), (2, 3))
    for seat in range(4):
        state.ally[seat] = seat ^ 1
    state.turn = state.mover = state.decider = 4
    assert pairs(follow(GAME, state, "TREATY")) == []


def test_p15_reform_clears_knowledge():
    state = play("WAR2 FIGHT FIGHT 1 REFORM 1 REFORM 6", [5, 2, 3, 4])
    assert seats(state, "known") == [0] * 4
    assert seen(state, 0).die[2] == 0


# --- variant fields -------------------------------------------------------------------------------------------------------


def test_variant_null_treaty():
    variant = f"{FIRST},null_treaty=false"
    assert "TREATY" not in options(table([1] * 4, variant=variant))
    assert "TREATY" in options(table([1] * 4, (2, 3), variant=variant))


def test_variant_first_player():
    assert table([1] * 5).mover == 0


def test_variant_no_helping_party():
    assert play("WAR2", [1] * 5, (0, 1), variant=f"{FIRST},max_helping_parties=0").phase == rules.VOTE


def test_variant_more_helping_parties():
    state = play("WAR2 ASK5 JOIN", [1] * 8, (0, 1), (3, 4), variant=f"{FIRST},max_helping_parties=2")
    assert options(state) == ["ASK3", "ASK6", "ASK7", "ALONE"]
    assert fighters(follow(GAME, state, "ASK3 JOIN JOIN")) == ([0, 1], [2, 5, 3, 4])
    assert state.phase == rules.VOTE


def test_variant_all_may_help():
    words = "WAR2 ASK3 JOIN ASK4 JOIN ASK5 JOIN ASK6 JOIN ASK7 JOIN"
    state = play(words, [1] * 8, (0, 1), variant=f"{FIRST},max_helping_parties=6")
    assert fighters(state) == ([0, 1], [2, 3, 4, 5, 6, 7])
    assert state.phase == rules.VOTE


def test_variant_asked_one_decides_for_the_pair():
    variant = f"{FIRST},helping_pair_consent=asked_one"
    state = play("WAR2", [1] * 6, (0, 1), (3, 4), variant=variant)
    assert options(state) == ["ASK3", "ASK4", "ASK5", "ALONE"]
    assert fighters(follow(GAME, state.copy(), "ASK4 JOIN")) == ([0, 1], [2, 4, 3])
    assert options(follow(GAME, state, "ASK4 DECLINE")) == ["ASK5", "ALONE"]  # the pair has been asked


def test_variant_volunteers():
    variant = f"{FIRST},help_protocol=volunteers"
    state = play("WAR2", [1] * 7, (0, 1), (3, 5), variant=variant)
    for seat, word in ((3, "JOIN"), (5, "JOIN"), (4, "DECLINE"), (6, "JOIN")):
        assert (state.phase, rules.actor(state)) == (rules.CONSENT, seat)
        follow(GAME, state, word)
    assert rules.actor(state) == 2
    assert options(state) == ["ASK3", "ASK6", "ALONE"]
    assert fighters(follow(GAME, state.copy(), "ASK3")) == ([0, 1], [2, 3, 5])
    assert fighters(follow(GAME, state, "ALONE")) == ([0, 1], [2])


def test_variant_no_volunteers():
    state = play("WAR2 DECLINE DECLINE", [1] * 5, (0, 1), variant=f"{FIRST},help_protocol=volunteers")
    assert (state.phase, fighters(state)) == (rules.VOTE, ([0, 1], [2]))


def test_variant_two_parties_of_volunteers():
    variant = f"{FIRST},help_protocol=volunteers,max_helping_parties=2"
    state = play("WAR2 JOIN JOIN JOIN ASK4", [1] * 6, (0, 1), variant=variant)
    assert options(state) == ["ASK3", "ASK5", "ALONE"]
    assert fighters(follow(GAME, state, "ASK5")) == ([0, 1], [2, 4, 5])
    assert state.phase == rules.VOTE


def test_variant_asked_one_of_volunteers_is_the_lower_seat():
    variant = f"{FIRST},help_protocol=volunteers,helping_pair_consent=asked_one"
    state = play("WAR2 JOIN", [1] * 5, (0, 1), (3, 4), variant=variant)
    assert fighters(follow(GAME, state, "ASK3")) == ([0, 1], [2, 3, 4])


def test_variant_attackers_vote_first():
    variant = f"{FIRST},surrender_order=attackers"
    state = play("WAR2", [1] * 5, (0, 1), (2, 3), variant=variant)
    for seat in (0, 1, 2, 3):
        assert rules.actor(state) == seat
        follow(GAME, state, "FIGHT")
    assert state.phase == rules.ROLL
    assert counters(play("WAR2 SURRENDER", [6, 1, 1, 1], variant=variant))[0] == (0, 1)
    assert counters(play("WAR2 FIGHT SURRENDER", [1, 1, 6, 1], variant=variant))[0] == (1, 0)


def test_variant_no_surrender():
    state = play("WAR2", [5, 1, 3, 1], variant=f"{FIRST},surrender_order=none")
    assert counters(state)[0] == (1, 0)
    assert state.known[2] == 3


def test_variant_loser_rerolls():
    state = play("WAR2 FIGHT FIGHT FIGHT", [2, 1, 3, 4], (2, 3), variant=f"{FIRST},loser_rerolls=true")
    assert rollers(state) == [0, 2, 3]
    assert seats(state, "known") == [0] * 4


def test_variant_refused_breaks():
    variant = f"{FIRST},refused_breaks=false"
    assert pairs(play("PROPOSE2", [1] * 4, (0, 1), variant=variant)) == [(0, 1)]
    assert pairs(play("PROPOSE2 REFUSE", [1] * 4, (0, 1), variant=variant)) == [(0, 1)]
    assert pairs(play("PROPOSE2 ACCEPT", [1] * 4, (0, 1), variant=variant)) == [(0, 2)]


def test_variant_tiebreak_die():
    variant = f"{FIRST},tiebreak_die=after"
    state = play("WAR2 ALONE FIGHT FIGHT FIGHT", [6, 5, 1, 1], (0, 1), score=(2, 2), variant=variant)
    assert rules.actor(state) == CHANCE
    assert shares(follow(GAME, state, "2 3")) == [0, 1, 0, 0]


def test_variant_show_to_ally():
    state = table([6, 5, 4, 3, 2], (0, 1), variant=f"{FIRST},show_to_ally=true", known=[4])
    assert [seats(seen(state, seat), "die") for seat in (0, 1, 2)] == [[6, 5, 0, 0, 2], [6, 5, 0, 0, 2], [0, 0, 4, 0, 2]]


# --- counted for the results ----------------------------------------------------------------------------------------------


def test_measures():
    state = play("WAR2 ASK3 JOIN FIGHT FIGHT FIGHT FIGHT 1 1", [2, 3, 4, 1], (0, 1), known=[2])
    counted = {name: seats(state, name) for name in GAME.measures}
    assert counted["wars"] == [1, 0, 0, 0]
    assert counted["conquests"] == [0, 0, 0, 0]
    assert counted["attacked"] == counted["attacked_known"] == [0, 0, 1, 0]
    assert counted["helped"] == [0, 0, 0, 1]
    assert counted["turns"] == [1, 1, 0, 0]
    assert counted["surrenders"] == [0, 0, 0, 0]
    follow(GAME, state, "PROPOSE3 ACCEPT WAR0 FIGHT FIGHT 6")
    assert seats(state, "pacts") == [0, 1, 0, 1]
    assert seats(state, "attacked_known") == [1, 0, 1, 0]
    follow(GAME, state, "WAR0")  # seat 0 has won and rolled: its die is not known
    assert seats(state, "attacked") == [2, 0, 1, 0]
    assert seats(state, "attacked_known") == [1, 0, 1, 0]


@pytest.mark.parametrize("loser_rerolls, dice", [("false", "1"), ("true", "1 1")])
def test_measures_of_the_beaten(loser_rerolls, dice):
    variant = f"{FIRST},loser_rerolls={loser_rerolls}"
    state = play(f"WAR2 FIGHT FIGHT {dice} REFORM 1", [6, 1, 1, 1], variant=variant)
    assert seats(state, "losses") == [0] * 4  # the next war decides
    follow(GAME, state, "WAR3")
    assert [seats(state, name) for name in ("losses", "hit_next", "spared")] == [[0, 0, 1, 0], [0] * 4, [0, 0, 1, 0]]


def test_measures_of_the_beaten_who_are_hit():
    state = play("WAR2 FIGHT FIGHT 1 WAR2", [6, 1, 1, 1])
    assert [seats(state, name) for name in ("losses", "hit_next", "spared")] == [[0, 0, 1, 0], [0, 0, 1, 0], [0] * 4]
    state = play("WAR3 FIGHT FIGHT FIGHT 1 REFORM 1 WAR4", [6, 1, 1, 1, 1], (3, 4))
    assert seats(state, "losses") == seats(state, "hit_next") == [0, 0, 0, 1, 1]  # allies are hit together
    state = play("WAR1 FIGHT FIGHT 1 WAR0", [1, 6, 1, 1], (0, 1))
    assert [seats(state, name) for name in ("losses", "hit_next")] == [[1, 0, 0, 0]] * 2
    state = play("WAR2 SURRENDER 1 1 WAR2", [6, 1, 1, 1])
    assert seats(state, "losses") == [0] * 4  # a surrender is no battle
    state = play("WAR2 FIGHT FIGHT 1 WAR0", [6, 1, 1, 1], defeats=(0, 0, 2))
    assert seats(state, "losses") == [0] * 4  # who is out cannot be hit
