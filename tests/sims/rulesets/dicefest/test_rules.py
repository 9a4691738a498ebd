"""Dicefest, clause by clause (R numbers of the README), every worked example, and every variant field."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from sims import simulate
from sims.errors import InputError
from sims.ruleset import CHANCE, OVER
from sims.rulesets import RULESETS
from sims.rulesets.dicefest import rules
from sims.rulesets.dicefest.boards import dice_of, picture, position
from sims.rulesets.dicefest.geometry import FACE, INNER, ORIENTATIONS, START, TRIPLES, bit
from sims.trace import follow, options

GAME = RULESETS["dicefest"]
SOUTH = "6/2/3/5/4/1@01 3/5/6/2/1/4@04 1/2/4/5/3/6@06"  # the specification's D3 and D4
NORTH = "6/3/5/4/2/1@76 4/6/5/1/2/3@74 2/1/3/6/4/5@72"
TURNS = {"yaw_cw", "yaw_ccw", "tip_N", "tip_S", "tip_E", "tip_W"}
NORTH_LOCKED = "6/3/5/4/2/1@01 4/6/5/1/2/3@03 2/1/3/6/4/5@05"
SOUTH_LOCKED = "6/2/3/5/4/1@71 3/5/6/2/1/4@74 1/2/4/5/3/6@76"


def at(south=SOUTH, north=NORTH, free="", reserves=None, seat=0, variant="standard", others=()):
    return position(GAME, [south, north, *others], free, reserves, seat, variant)


def new(words="", seats=2, variant="standard"):
    return follow(GAME, GAME.new_state(seats, variant), words)


def words(state):
    return set(options(GAME, state))


def square(name):
    return 8 * int(name[0]) + int(name[1])


def free_of(state):
    return {f"{s // 8}{s % 8}" for s in range(64) if int(rules.free_squares(state)) >> s & 1}


def shares(state):
    assert rules.actor(state) == OVER
    out = np.zeros(int(state.seats))
    rules.payoffs(state, out)
    return out.tolist()


def locked(state, seat):
    return state.locked[seat].tolist()


def drawn(state):
    """Play the outcome number 0 until the first decision."""
    while rules.actor(state) == CHANCE:
        rules.apply_chance(state, 0)
    return state


# --- setup ------------------------------------------------------------------------------------------------------------------


def test_r7_play_is_clockwise():
    state, seats = drawn(GAME.new_state(4)), []
    for _ in range(5):
        seats.append(int(state.turn))
        GAME.advance(state, GAME.legal(state)[0])
    assert seats == [0, 1, 2, 3, 0]
    assert state.side.tolist() == [0, 1, 2, 3]  # South, West, North, East


def test_r13_a_token_on_every_inner_square():
    state = new()
    assert state.tokens == INNER
    assert int(INNER).bit_count() == 36
    assert not state.reserve.any()


def test_r14_twenty_triples_equally_likely():
    state = new()
    assert rules.chance(state) == 20
    assert len(words(state)) == 20
    assert all(sorted(word, reverse=True) == list(word) and len(set(word)) == 3 for word in words(state))


def test_r14_any_way_of_rolling_again_gives_this_law():
    """Three dice until all differ: 120 equal outcomes, 6 for each set."""
    throws = Counter(frozenset(throw) for throw in product(range(1, 7), repeat=3) if len(set(throw)) == 3)
    assert len(throws) == 20
    assert set(throws.values()) == {6}
    assert set(throws) == {frozenset(map(int, triple)) for triple in TRIPLES}


def test_r15_each_die_on_its_number_the_highest_on_the_left():
    state = drawn(GAME.new_state(4))
    for seat in range(4):
        assert state.square[seat].tolist() == START[state.side[seat], FACE[state.orient[seat], 0]].tolist()
        assert FACE[state.orient[seat], 0].tolist() == sorted(FACE[state.orient[seat], 0], reverse=True)
        assert state.triple[seat] == 321


def test_d3_setup():
    state = drawn(new("631 6/2/3/5/4/1 3/5/6/2/1/4 1/2/4/5/3/6 642"))
    assert [word[-2:] for word in dice_of(state, 0)] == ["01", "04", "06"]
    assert [word[-2:] for word in dice_of(state, 1)] == ["76", "74", "72"]
    assert state.triple[:2].tolist() == [631, 642]
    goals = {(0, 6): "76", (0, 3): "73", (0, 1): "71", (1, 6): "01", (1, 4): "03", (1, 2): "05"}
    for (seat, top), goal in goals.items():
        number = next(i for i, die in enumerate(ORIENTATIONS[:24]) if die[0] == top)
        state.square[seat, 0], state.orient[seat, 0], state.turn = square(goal), number, seat
        state.locked[seat, 0] = 0
        rules.lock_at_goal(state, 0)
        assert state.locked[seat, 0]


def test_r16_four_ways_to_face_a_die_with_its_value():
    state = new("631")
    assert rules.chance(state) == 4
    assert words(state) == {"/".join(map(str, die)) for die in ORIENTATIONS[:24] if die[0] == 6}
    follow(GAME, state, "6/2/3/5/4/1")
    assert {word[0] for word in words(state)} == {"3"}


def test_r16_draw_order():
    """Per seat its values, then the dice from the highest; then who begins."""
    state, order = GAME.new_state(3), []
    while rules.actor(state) == CHANCE:
        order.append((int(state.turn), rules.chance(state)))
        rules.apply_chance(state, 1)
    assert order == [(seat, m) for seat in range(3) for m in (20, 4, 4, 4)] + [(-1, 3)]


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_r17_first_player_is_drawn(seats):
    for first in range(seats):
        state = GAME.new_state(seats)
        while state.phase != rules.FIRST:
            rules.apply_chance(state, 0)
        assert words(state) == {f"SEAT{seat}" for seat in range(seats)}
        follow(GAME, state, f"SEAT{first}")
        assert (state.turn, state.first, state.started[:seats].tolist()) == (
            first,
            first,
            [int(s == first) for s in range(seats)],
        )


@pytest.mark.parametrize("seats, sides", [(2, [0, 2]), (3, [0, 1, 2]), (4, [0, 1, 2, 3])])
def test_r18_seats(seats, sides):
    assert new(seats=seats).side[:seats].tolist() == sides


# --- moves ------------------------------------------------------------------------------------------------------------------


def test_d4_legal_moves_at_the_start():
    assert words(at()) == {"bN5", "bW1", "aN2", "cN2", "cW3"}


def test_r19_one_action_with_one_of_the_own_dice():
    state = follow(GAME, at(), "aN2")
    assert state.turn == 1
    assert all(word[0] in "abc" for word in words(state))
    assert dice_of(follow(GAME, state, "cE3"), 0) == dice_of(state, 0)


def test_r20_the_facing_number_is_the_distance():
    for word, goal in (("bN5", "54"), ("bW1", "03"), ("aN2", "21"), ("cN2", "26"), ("cW3", "03")):
        state = follow(GAME, at(), word)
        assert dice_of(state, 0)["abc".index(word[0])].endswith(goal)


def test_r21_no_die_on_the_target_and_not_off_the_board():
    state = at()
    assert "aE3" not in words(state)  # 04 is occupied
    assert not {"bE6", "bS2", "aW4", "aS5"} & words(state)
    assert "aE3" in words(at(south=SOUTH.replace("@04", "@03")))


def test_d13_a_corner_is_no_target():
    with_4 = next(die for die in ORIENTATIONS[:24] if die[1] == 4)
    with_3 = next(die for die in ORIENTATIONS[:24] if die[1] == 3)
    for die, is_legal in ((with_4, False), (with_3, True)):
        state = at(south=SOUTH.replace("6/2/3/5/4/1@01", "/".join(map(str, die)) + "@30"))
        assert (f"aN{die[1]}" in words(state)) == is_legal


def test_r22_dice_are_jumped():
    """An own one, another one, a locked one."""
    for south, north in ((SOUTH.replace("@06", "@34"), NORTH), (SOUTH, NORTH.replace("@74", "@34"))):
        state = follow(GAME, at(south, north), "bN5")
        assert dice_of(state, 0)[1].endswith("@54")
        assert state.collected[0] == 4  # there was no token under the die
    state = at("6/2/3/5/4/1@01 3/5/6/2/1/4@04 1/2/4/5/3/6@06", NORTH.replace("4/6/5/1/2/3@74", "2/6/4/1/3/5@05"))
    assert locked(state, 1) == [0, 1, 0]
    assert dice_of(follow(GAME, state, "cW3"), 0)[2].endswith("@03")  # over 05, and over the own one on 04


def test_r23_numbered_squares_of_any_side():
    state = at(south="1/2/4/5/3/6@33 6/2/3/5/4/1@01 3/5/6/2/1/4@04")
    assert {"aE4", "aW3"} <= words(state)
    assert dice_of(follow(GAME, state, "aE4"), 0)[0].endswith("@37")  # the East side is vacant
    assert dice_of(follow(GAME, at(), "bW1"), 0)[1].endswith("@03")


def test_r24_a_move_keeps_facing_and_is_free():
    state = follow(GAME, at(), "bW1")
    assert dice_of(state, 0)[1] == "3/5/6/2/1/4@03"
    assert state.reserve[0] == 0
    assert state.paid[0] == 0


def test_d5_collecting():
    state = follow(GAME, at(), "bN5")
    assert state.reserve[0] == 5
    assert int(state.tokens).bit_count() == 31
    assert free_of(state) == {"14", "24", "34", "44"}
    assert state.n_free == 4
    state = follow(GAME, at(variant="standard,collect=landing"), "bN5")
    assert (state.reserve[0], int(state.tokens).bit_count(), state.n_free) == (1, 35, 0)


def test_r25_r33_tokens_passed_and_last_are_collected():
    state = follow(GAME, at(free="24 44", reserves=[1, 1]), "bN5")
    assert state.reserve[:2].tolist() == [4, 1]
    assert state.collected[0] == 3
    assert free_of(state) == {"14", "24", "34", "44"}


# --- quarter-turns ----------------------------------------------------------------------------------------------------------


def d6():
    return follow(GAME, at(), "bN5 cE3")


def test_d6_turning_and_paying():
    state = follow(GAME, d6(), "b.tip_W 14 24 34")
    assert dice_of(state, 0)[1] == "6/5/4/2/3/1@54"
    assert state.reserve[0] == 2
    assert free_of(state) == {"44"}
    assert state.turn == 1
    state = at(south=" ".join(dice_of(state, 0)), free="44", reserves=[2, 0])
    assert {"bS2", "bW3"} <= words(state)
    assert not {"bN5", "bE4"} & words(state)
    assert not any("." in word for word in words(state) if word[0] == "b")


def test_r26_the_cost_is_the_value_on_top_before():
    state = follow(GAME, d6(), "b.tip_W")
    assert state.due == 3  # 6 comes on top
    state = follow(GAME, d6(), "b.yaw_cw")
    assert state.due == 3


def test_r26_all_six_turns():
    assert {word[2:] for word in words(d6()) if word.startswith("b.")} == TURNS


def test_r27_both_tokens_and_free_squares_are_needed():
    free = "11 12 13 14 15 16"
    south, north = "4/6/5/1/2/3@33 3/5/6/2/1/4@44 1/2/4/5/3/6@06", NORTH.replace("@72", "@55")
    assert {word[0] for word in words(at(south, north, free, [4, 5])) if "." in word} == {"a", "b", "c"}
    assert {word[0] for word in words(at(south, north, free, [3, 6])) if "." in word} == {"b", "c"}


def test_d7_free_square_limit():
    """Reserves 4 and 2, three dice on inner squares: three free squares. Top 4 may not be turned, top 3 may."""
    south = "4/6/5/1/2/3@33 3/5/6/2/1/4@44 1/2/4/5/3/6@06"
    state = at(south, NORTH.replace("2/1/3/6/4/5@72", "2/1/3/6/4/5@55"), "11 12 13", [4, 2])
    assert state.n_free == 3
    assert {word[0] for word in words(state) if "." in word} == {"b", "c"}
    state = follow(GAME, state, "b.yaw_cw")  # three tokens on three squares: no choice
    assert (state.reserve[0], state.n_free, state.turn) == (1, 0, 1)


def test_r28_free_squares():
    """No square with a token or a die, none with a number; one token each."""
    state = follow(GAME, d6(), "b.tip_W")
    assert words(state) == {"14", "24", "34", "44"}  # not 54, where the die is
    assert state.turn == 0
    state = follow(GAME, state, "24")
    assert words(state) == {"14", "34", "44"}


def test_r34_tokens_leave_the_reserve_one_by_one():
    state = d6()
    assert rules.actor(state) == 0
    for word, left in (("b.tip_W", 5), ("14", 4), ("24", 3), ("34", 2)):
        follow(GAME, state, word)
        assert state.reserve[0] == left
    assert int(state.tokens).bit_count() + state.reserve.sum() == 36
    assert state.paid[0] == 3


def test_tokens_placed_in_another_order_make_the_same_position():
    one, other = follow(GAME, d6(), "b.tip_W 14 24 34"), follow(GAME, d6(), "b.tip_W 34 14 24")
    assert one.tobytes() == other.tobytes()


# --- passing and locking ----------------------------------------------------------------------------------------------------


def test_r29_no_pass_while_there_is_an_action():
    state = at()
    assert "PASS" not in words(state)
    assert state.passes == 0
    assert not state.passed.any()


def test_d12_forced_pass():
    """North has locked all: it passes, and South's next action ends the run of passes."""
    state = at(north=NORTH_LOCKED, south="6/2/3/5/4/1@11 3/5/6/2/1/4@04 1/2/4/5/3/6@06", free="21 22", reserves=[1, 2])
    assert locked(state, 1) == [1, 1, 1]
    for passes in (1, 2, 3):
        follow(GAME, state, min(word for word in words(state) if "." not in word))
        assert (state.turn, state.passes, state.passed[1], state.passed[0]) == (0, 1, passes, 0)
    follow(GAME, state, next(word for word in sorted(words(state)) if word.startswith("c.")))
    follow(GAME, state, min(words(state)))
    assert (state.turn, state.passes, state.passed[1]) == (0, 1, 4)  # a quarter-turn ends it too


# South's dice stand on 73, 20 and 27, North's last one on 23: each is on the only squares that the others could go to.
NOBODY_MOVES = ("6/2/4/5/3/1@73 1/5/3/2/4/6@20 1/5/3/2/4/6@27", "1/5/4/2/3/6@23 4/6/5/1/2/3@03 2/1/3/6/4/5@05")


def blocked(variant="standard", reserves=(0, 4), seat=0):
    south, north = NOBODY_MOVES
    return at(right_handed(south), right_handed(north), "11 12 13", list(reserves), seat, variant)


def right_handed(dice):
    """Give each die the top that its north and east faces have on a right-handed die."""
    found = []
    for word in dice.split():
        faces, _, where = word.partition("@")
        _, north, east, *_ = map(int, faces.split("/"))
        found.append("/".join(map(str, next(die for die in ORIENTATIONS[:24] if die[1:3] == (north, east)))) + f"@{where}")
    return " ".join(found)


@pytest.mark.parametrize("seat", [0, 1])
def test_r40_d12_deadlock(seat):
    """Nobody can act: as many passes in a row as seats, a draw."""
    state = blocked(seat=seat)
    assert rules.actor(state) == OVER
    assert state.passes == 2
    assert state.passed[:2].tolist() == [1, 1]
    assert state.deadlocks[:2].tolist() == [1, 1]
    assert shares(state) == [0.5, 0.5]


def test_r40_deadlock_ranked():
    """North has locked two dice."""
    assert shares(blocked("standard,deadlock=rank")) == [0, 1]


ALL_INNER = " ".join(f"{row}{column}" for row in range(1, 7) for column in range(1, 7))


def walled_in(variant):
    """South's a walks up and down its column for ever, as every other square is walled up; North and East have locked all.

    Dice alone can hardly make such a wall: whoever is on an inner square has a way along the row and one along the column.
    """
    seats = (
        "3/5/6/2/1/4@04 6/2/3/5/4/1@76 1/2/4/5/3/6@71",
        "6/2/3/5/4/1@17 5/4/6/3/1/2@27 4/6/5/1/2/3@37",
        "6/3/5/4/2/1@01 5/4/6/3/1/2@02 2/1/3/6/4/5@05",
    )
    state = position(GAME, seats, ALL_INNER, [0, 19, 17], variant=variant)
    state.occupied |= sum(1 << s for s in range(63) if s % 8 != 4) | bit(square("74"))
    state.score[0] = 2
    state.phase = rules.NEW_TURN
    rules.go_on(state)
    return state


@pytest.mark.parametrize("variant, expected", [("draw", [1 / 3] * 3), ("rank", [0, 0, 1])])
def test_r40_play_without_a_choice_for_ever(variant, expected):
    """As good as a deadlock; if it is ranked, the smaller reserve counts where as many dice are locked."""
    state = walled_in(f"standard,deadlock={variant}")
    assert rules.actor(state) == OVER
    assert state.moves[0] == rules.ENDLESS // 3 + 1
    assert state.deadlocks[:3].all()
    assert shares(state) == expected


def test_r30_d9_lock_by_moving():
    state = at(south="4/6/5/1/2/3@14 6/2/3/5/4/1@01 1/2/4/5/3/6@06", north=NORTH.replace("@74", "@73"),
               free="34 44 64", reserves=[2, 2])  # fmt: skip
    assert "aN6" in words(state)
    follow(GAME, state, "aN6")
    assert dice_of(state, 0)[0] == "4/6/5/1/2/3@74"
    assert state.reserve[0] == 4  # 24 and 54
    assert locked(state, 0) == [1, 0, 0]
    assert state.score[0] == 1
    follow(GAME, state, "bS1")
    assert state.turn == 0
    assert not any(word[0] == "a" for word in words(state))


def test_r30_not_with_another_number_nor_on_another_side():
    for die in ("3/5/6/2/1/4@74", "3/5/6/2/1/4@04", "3/5/6/2/1/4@30", "3/5/6/2/1/4@47"):
        state = at(south=f"6/2/3/5/4/1@01 {die} 1/2/4/5/3/6@06", north="6/3/5/4/2/1@76 4/6/5/1/2/3@75 2/1/3/6/4/5@72")
        assert locked(state, 0) == [0, 0, 0]


def turned_on_goal(variant="standard"):
    """South's b shows 3 on the goal of 6; tip_W brings 6 on top."""
    north = NORTH.replace("@76", "@16")
    south = "6/2/3/5/4/1@01 3/5/6/2/1/4@76 1/2/4/5/3/6@06"
    return at(south, north, "11 12 13 14 15 21 22 23 24 25 26", [10, 2], 0, variant)


def test_r31_locking_is_a_condition():
    state = follow(GAME, turned_on_goal(), "b.tip_W 11 12 13")
    assert dice_of(state, 0)[1] == "6/5/4/2/3/1@76"
    assert locked(state, 0) == [0, 1, 0]


def test_lock_by_rotation_false():
    variant = "standard,lock_by_rotation=false"
    state = follow(GAME, turned_on_goal(variant), "b.tip_W 11 12 13")
    assert locked(state, 0) == [0, 0, 0]
    assert state.score[0] == 0


def test_r32_nobody_acts_on_dice_of_others():
    state = at()
    before = dice_of(state, 1)
    for action in GAME.legal(state):
        assert dice_of(GAME.after(state, action), 1) == before


def test_r35_then_it_is_the_next_seats_turn():
    state = at()
    turns = state.turns[:2].tolist()
    follow(GAME, state, "bN5")
    assert state.turn == 1
    assert state.turns[:2].tolist() == [turns[0], turns[1] + 1]


def test_r36_who_has_locked_all_stays_in_rotation():
    state = about_to_lock([1, 5])
    follow(GAME, state, "aN6")
    assert locked(state, 0) == [1, 1, 1]
    for n in (1, 2, 3):
        assert state.turn == 1
        follow(GAME, state, min(word for word in words(state) if "." not in word))
        assert state.passed[0] == n
        assert state.reserve[0] == 1  # and never changes again (A17)


# --- the end ----------------------------------------------------------------------------------------------------------------

WAY = "24 34 44 54 64"


def about_to_lock(reserves, free=WAY, variant="standard", north="6/3/5/4/2/1@76 4/6/5/1/2/3@73 2/1/3/6/4/5@72"):
    """South's a goes six squares north to its goal; the other two are locked."""
    return at("4/6/5/1/2/3@14 6/2/3/5/4/1@76 1/2/4/5/3/6@71", north.replace("@76", "@75"), free, reserves, 0, variant)


def test_r37_total_victory():
    state = follow(GAME, about_to_lock([0, 6]), "aN6")
    assert shares(state) == [1, 0]
    assert (state.total[0], state.mini[0]) == (1, 0)


def test_r37_not_with_tokens_left():
    state = follow(GAME, about_to_lock([0, 5], "24 34 44 54"), "aN6")  # it takes a token from 64
    assert rules.actor(state) == 1
    assert state.left_at_three[0] == 1


def test_r37_not_before_the_third_die():
    state = at(free="", reserves=[0, 0])
    assert rules.actor(state) == 0


def test_r37_a18_after_the_whole_action():
    """The last token is paid for the turn that locks the last die."""
    south, north = "6/2/3/5/4/1@76 3/5/6/2/1/4@75 1/2/4/5/3/6@71", "6/3/5/4/2/1@13 4/6/5/1/2/3@74 2/1/3/6/4/5@72"
    state = at(south, north, "11 12 14 15", [3, 2])
    word = next(word for word in words(state) if word.startswith("b.") and follow_top(state, word) == 5)
    follow(GAME, state, word)
    for square_name in ("11", "12"):
        assert rules.actor(state) == 0
        follow(GAME, state, square_name)
    assert rules.actor(state) == 0
    follow(GAME, state, "14")
    assert shares(state) == [1, 0]


def follow_top(state, word):
    after = GAME.after(state, options(GAME, state)[word])
    return FACE[after.orient[0, 1], 0]


NORTH_LAST = "4/1/2/6/5/3@63 6/3/5/4/2/1@01 2/1/3/6/4/5@05"
NORTH_WAY = "13 23 33 43 53"


def both_lock(reserves, variant="standard"):
    """South has locked all; North locks its last die."""
    state = at("4/6/5/1/2/3@74 6/2/3/5/4/1@76 1/2/4/5/3/6@71", NORTH_LAST, NORTH_WAY, reserves, 1, variant)
    return follow(GAME, state, "aS6")


@pytest.mark.parametrize("reserves, expected", [([2, 4], [1, 0]), ([4, 2], [0, 1]), ([3, 3], [0.5, 0.5])])
def test_r38_r39_mini_victory(reserves, expected):
    state = both_lock(reserves)
    assert shares(state) == expected
    assert state.mini[:2].tolist() == [int(share > 0) for share in expected]
    assert not state.total.any()


def test_r39_first_locked():
    assert shares(both_lock([3, 3], "standard,tie=first_locked")) == [1, 0]
    assert shares(both_lock([4, 2], "standard,tie=first_locked")) == [0, 1]


def test_a20_total_victory_comes_first():
    state = both_lock([6, 0])
    assert shares(state) == [0, 1]
    assert (state.total[1], state.mini[1]) == (1, 0)


def test_r38_waits_for_everybody():
    """Three seats, two of them done."""
    done = "4/6/5/1/2/3@74 6/2/3/5/4/1@76 1/2/4/5/3/6@71"
    state = position(GAME, [done, "6/2/3/5/4/1@60 3/5/6/2/1/4@30 1/2/4/5/3/6@10", NORTH_LAST], NORTH_WAY, [2, 2, 2], 2)
    follow(GAME, state, "aS6")
    assert rules.actor(state) == 1


def test_r41_ply_limit():
    table = simulate("dicefest", ["uniform"] * 2, games=20, variant="standard,ply_limit=9", progress=False, n_jobs=1)
    row = table[table.policy.isna() & table.seat.isna()].set_index("measure").total
    assert row["truncated"] == row["plies"] / 9 > 0
    assert row["payoff"] == 0


# Each seat can walk one die up and down its column: seven moves bring it back.
WALKERS = (
    "6/3/5/4/2/1@01 3/5/6/2/1/4@04 1/2/4/5/3/6@03",
    "6/3/5/4/2/1@76 4/6/5/1/2/3@74 2/1/3/6/4/5@72",
)


def walk(state):
    """The move of die a along its column; home again where there is a choice."""
    ways = [word for word in words(state) if word[:2] in ("aN", "aS")]
    return ways[0] if len(ways) == 1 else "aS4" if state.turn == 0 else "aN3"


@pytest.mark.parametrize("repetition", [True, False])
def test_r42_third_time_is_a_draw(repetition):
    state = position(GAME, WALKERS, ALL_INNER, [18, 18], variant=f"standard,repetition={repetition}".lower())
    start = rules.key_of(state)
    for n in range(28):
        assert rules.actor(state) == n % 2
        assert (rules.key_of(state) == start) == (n % 14 == 0)
        follow(GAME, state, walk(state))
    if repetition:
        assert shares(state) == [0.5, 0.5]
        assert state.repetitions[:2].tolist() == [1, 1]
    else:
        assert rules.key_of(state) == start
        assert rules.actor(state) == 0


def test_r42_positions_before_a_lock_are_forgotten():
    state = about_to_lock([0, 5], "24 34 44 54", "standard,repetition=true")
    assert state.n_seen == 1
    follow(GAME, state, "aN6")
    assert state.n_seen == 1


def test_key_of_tells_positions_apart():
    state = at()
    key = rules.key_of(state)
    other = at("3/5/6/2/1/4@04 6/2/3/5/4/1@01 1/2/4/5/3/6@06")
    assert rules.key_of(other) == key  # dice of a seat are alike
    changed = [
        at("6/2/3/5/4/1@04 3/5/6/2/1/4@01 1/2/4/5/3/6@06"),  # two faces exchanged
        at(seat=1),
        at(free="11"),
        at(free="11", reserves=[0, 1]),
        at(free="12"),
        at("6/2/3/5/4/1@02 3/5/6/2/1/4@04 1/2/4/5/3/6@06"),
    ]
    keys = {int(rules.key_of(each)) for each in changed}
    assert len(keys | {int(key)}) == len(changed) + 1


# --- variants ---------------------------------------------------------------------------------------------------------------


def test_two_seats_side_by_side():
    state = new(variant="standard,sides=adjacent")
    assert state.side[:2].tolist() == [0, 1]
    assert new(seats=3, variant="standard,sides=adjacent").side[:3].tolist() == [0, 1, 2]


def test_initial_yaw_chosen():
    """Clockwise from the first player, each die from the highest: 64 choices of each seat in three plies."""
    state = new("631 642 SEAT1", variant="standard,initial_yaw=chosen")
    asked = []
    for _ in range(6):
        asked.append((int(rules.actor(state)), {word[0] for word in words(state)}, len(words(state))))
        follow(GAME, state, max(words(state)))
    assert asked == [(seat, {top}, 4) for seat, tops in ((1, "642"), (0, "631")) for top in tops]
    assert state.turn == 1
    assert state.phase == rules.ACT
    assert [word[:11] for word in dice_of(state, 0)] == ["6/5/4/2/3/1", "3/6/2/1/5/4", "1/5/3/2/4/6"]


def test_initial_yaw_fixed():
    """The smallest side face points forward."""
    state = drawn(GAME.new_state(4, "standard,initial_yaw=fixed"))
    for seat, k in product(range(4), range(3)):
        faces = ORIENTATIONS[state.orient[seat, k]][1:5]
        assert faces[seat] == min(faces)


def test_first_player_oldest_chooses():
    state = new("631", seats=3, variant="standard,first_player=oldest,initial_yaw=fixed")
    follow(GAME, state, "642 543")
    assert rules.actor(state) == 0
    assert words(state) == {"SEAT0", "SEAT1", "SEAT2"}
    follow(GAME, state, "SEAT2")
    assert (state.turn, state.first) == (2, 2)


def test_first_player_first_seat():
    state = drawn(GAME.new_state(3, "standard,first_player=first_seat"))
    assert (state.turn, state.started[0]) == (0, 1)


def test_turns_per_action():
    variant = "standard,turns_per_action=2"
    state = at(free="11 12 13 14 15 16", reserves=[4, 2], variant=variant)
    follow(GAME, state, "c.tip_N 11")
    top = FACE[state.orient[0, 2], 0]
    assert top == 5
    assert state.turn == 1  # 5 cannot be paid
    state = at(free="11 12 13 14 15 16", reserves=[4, 2], variant=variant)
    follow(GAME, state, "c.yaw_cw 11")
    assert state.turn == 0
    assert words(state) == {"DONE"} | {f"c.{turn}" for turn in TURNS}
    assert GAME.after(state, options(GAME, state)["DONE"]).turn == 1
    follow(GAME, state, "c.yaw_cw 12")
    assert state.turn == 1
    assert (state.reserve[0], state.quarter_turns[0], state.quarters) == (2, 2, 0)
    state = at(free="11 12 13 14 15 16", reserves=[4, 2], variant="standard,turns_per_action=3")
    assert follow(GAME, state, "c.yaw_cw 11 c.yaw_cw 12").turn == 0


def test_turns_per_action_ends_with_a_lock():
    state = follow(GAME, turned_on_goal("standard,turns_per_action=3"), "b.tip_W 11 12 13")
    assert state.turn == 1


def test_hand_left():
    state = drawn(GAME.new_state(4, "standard,hand=left"))
    assert (state.orient >= 24).all()
    assert (drawn(GAME.new_state(4)).orient < 24).all()


# --- measures, positions and pictures ---------------------------------------------------------------------------------------


def test_measures():
    state = follow(GAME, d6(), "b.tip_W 14 24 34")
    assert (state.moves[:2].tolist(), state.quarter_turns[:2].tolist()) == ([1, 1], [1, 0])
    assert (state.collected[0], state.paid[0]) == (5, 3)
    state = follow(GAME, about_to_lock([0, 5], "24 34 44 54"), "aN6")
    assert (state.score[0], state.left_at_three[0]) == (3, 1)
    state = at("6/2/3/5/4/1@76 4/6/5/1/2/3@14 3/5/6/2/1/4@04", NORTH.replace("@74", "@75").replace("@76", "@73"), "24 34", [2, 1])
    assert follow(GAME, state, "bN6").left_at_two[0] == 5


@pytest.mark.parametrize(
    "change, part",
    [
        ({"south": "6/2/3/5/4/1@01"}, "3 dice"),
        ({"south": SOUTH.replace("6/2", "6/1")}, "no die"),
        ({"south": SOUTH.replace("@01", "@00")}, "no square"),
        ({"south": SOUTH.replace("@01", "@04")}, "two dice"),
        ({"free": "01"}, "no free square"),
        ({"free": "11 11"}, "no free square"),
        ({"free": "11", "reserves": [1, 1]}, "add up to the 1"),
        ({"free": "11", "reserves": [1]}, "2 numbers"),
        ({"seat": 2}, "seat"),
    ],
)
def test_bad_positions_are_refused(change, part):
    with pytest.raises(InputError, match=part):
        at(**change)


def test_picture():
    assert picture(new()) == ""
    lines = picture(follow(GAME, at("6/2/3/5/4/1@71 3/5/6/2/1/4@04 1/2/4/5/3/6@06", NORTH_LOCKED), "bN5")).splitlines()
    assert len(lines) == 9
    assert lines[0].split()[:8] == ["7", "Sa6", *["-"] * 5, "S"]
    assert lines[2].split() == ["5", "-", "o", "o", "o", "Sb3", "o", "o", "-"]
    assert lines[3].split() == ["4", "-", "o", "o", "o", ".", "o", "o", "-"]
    assert lines[7].split() == ["0", "Na6", "-", "Nb4", "-", "Nc2", "Sc1"]
    assert "b 3/5/6/2/1/4" in lines[0]
    assert "a*6/3/5/4/2/1 b*4/6/5/1/2/3 c*2/1/3/6/4/5" in lines[1]
    assert lines[0].endswith("reserve 5")


def test_bits_of_a_square():
    assert bit(square("76")) == 1 << 62
