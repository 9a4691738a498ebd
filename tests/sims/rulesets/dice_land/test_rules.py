"""Dice Land, clause by clause (R numbers of the README), every worked example, and every variant field."""

import random

import numpy as np
import pytest

from sims.errors import InputError
from sims.rulesets import RULESETS
from sims.rulesets.dice_land import rules
from sims.rulesets.dice_land.boards import picture, position, words_of
from sims.rulesets.dice_land.maps import bit, lowest, size, spiral, unpacked
from sims.trace import follow, options

GAME = RULESETS["dice-land"]
PUBLISHED = "published"
S1 = "R5 B4 R2 B3 R1 B6 B2 R4"  # the specification's position on spiral(8)
PAIRS = {"0+2>1", "0+7>1", "2+7>1", "0+2>3", "0+4>3", "2+4>3", "0+4>5"}
SINGLES = {"0>1", "2>1", "7>1", "0>3", "2>3", "4>3", "0>5", "4>5", "0>6"}
HANDS = "6 6 4 3 2 1 6 5 5 3 3 2"  # red's six dice, then blue's


def at(dice=S1, variant="standard", seat=0, **more):
    return position(GAME, dice, seat, variant, **more)


def play(words, dice=S1, variant="standard", seat=0, **more):
    return follow(GAME, at(dice, variant, seat, **more), words)


def new(words="", variant="standard,hexes=8,map=spiral"):
    return follow(GAME, GAME.new_state(2, variant), words)


def words(state):
    return set(options(GAME, state))


def dice_of(state):
    """Dice by hex: ``0R5 3B1``."""
    return " ".join(f"{h}{word}" for h, word in enumerate(words_of(state)) if word != ".")


def shares(state):
    out = np.zeros(2)
    rules.payoffs(state, out)
    return out.tolist()


def is_over(state):
    return state.phase == rules.THE_END


# --- the map ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hexes", [8, 22, 36])
@pytest.mark.parametrize("kind", ["eden", "edge", "spiral", "line"])
def test_r1_a_map_is_connected_and_has_its_number_of_hexes(kind, hexes):
    state, rng = new(variant=f"standard,hexes={hexes},map={kind}"), random.Random(hexes)
    while state.phase == rules.GROW:
        rules.apply_chance(state, rng.randrange(rules.chance(state)))
    assert state.hexes == hexes
    assert len(set(state.cell[:hexes].tolist())) == hexes
    reached, edge = int(bit(0)), int(bit(0))
    while edge:
        h = int(lowest(np.int64(edge)))
        edge &= edge - 1
        fresh = int(state.near[h]) & ~reached
        reached, edge = reached | fresh, edge | fresh
    assert size(np.int64(reached)) == hexes


@pytest.mark.parametrize("hexes", ["7", "9", "6", "38", "x"])
def test_r1_other_numbers_of_hexes_are_refused(hexes):
    with pytest.raises(InputError, match=f"hexes.*{hexes}"):
        GAME.variant(f"standard,hexes={hexes}")


def test_r2_neighbours():
    state, n = new(variant="standard,hexes=36,map=spiral"), 0
    steps = {(1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1)}
    cells = [unpacked(int(code)) for code in state.cell]
    for x, (q, r) in enumerate(cells):
        for y, (other_q, other_r) in enumerate(cells):
            assert bool(state.near[x] & bit(y)) == ((other_q - q, other_r - r) in steps)
            n += bool(state.near[x] & bit(y))
    assert n == 2 * (90 - 4)  # a hexagon of 37 has 90 links, and the hex that is missing would have four


def test_r3_spiral():
    assert spiral(8) == [(0, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-2, 2)]
    state = new()
    near = [[h for h in range(8) if state.near[x] & bit(h)] for x in range(8)]
    expected = [[1, 2, 3, 4, 5, 6], [0, 2, 6, 7], [0, 1, 3], [0, 2, 4], [0, 3, 5], [0, 4, 6], [0, 1, 5], [1]]
    assert near == expected
    assert sum(map(len, near)) == 2 * 13


def test_r3_line():
    state = new(variant="standard,hexes=10,map=line")
    assert [unpacked(int(code)) for code in state.cell[:10]] == [(q, 0) for q in range(10)]
    assert [size(state.near[h]) for h in range(10)] == [1, *[2] * 8, 1]


def test_r3_eden_counts_a_cell_once_and_edge_once_for_each_contact():
    state = new("1:0", "standard,hexes=8,map=eden")  # two hexes: eight cells touch them, two of these touch both
    assert sorted(GAME.describe(state, outcome) for outcome in range(rules.chance(state))) == sorted(
        ["2:0", "2:-1", "1:-1", "0:-1", "-1:0", "-1:1", "0:1", "1:1"]
    )
    state = new("1:0", "standard,hexes=8,map=edge")
    drawn = [GAME.describe(state, outcome) for outcome in range(rules.chance(state))]
    assert len(drawn) == 10
    assert sorted(cell for cell in set(drawn) if drawn.count(cell) == 2) == ["0:1", "1:-1"]


@pytest.mark.parametrize("kind", ["eden", "edge"])
def test_r3_growth_follows_its_definition(kind):
    """A second reading of R3 with sets of coordinates, at every step of random growth."""
    steps = [(1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1)]
    for seed in range(5):
        state, rng = new(variant=f"standard,hexes=36,map={kind}"), random.Random(seed)
        cells = [(0, 0)]
        while state.phase == rules.GROW:
            links = [(q + a, r + b) for q, r in cells for a, b in steps if (q + a, r + b) not in cells]
            expected = sorted(links if kind == "edge" else set(links))
            assert sorted(unpacked(int(code)) for code in state.frontier[: state.n_frontier]) == expected
            outcome = rng.randrange(rules.chance(state))
            cells.append(unpacked(int(state.frontier[outcome])))
            rules.apply_chance(state, outcome)
        assert [unpacked(int(code)) for code in state.cell] == cells


def test_r3_a_map_of_cells():
    cells = "5:5/6:5/7:5/8:5/5:6/6:6/7:6/8:6"
    state = new(variant=f"standard,map={cells}")
    assert state.hexes == 8
    assert [unpacked(int(code)) for code in state.cell[:8]] == [(q, r) for r in (0, 1) for q in range(4)]
    assert GAME.variant(f"standard,map={cells}").values["map"] == cells
    assert follow(GAME, state, "6").turn == 0  # eight hexes are six dice each


@pytest.mark.parametrize(
    "cells, part",
    [
        ("0:0/1:0", "not 2"),
        ("/".join(f"{q}:0" for q in range(9)), "not 9"),
        ("/".join(f"{q}:0" for q in range(38)), "not 38"),
        ("/".join(f"{q % 7}:0" for q in range(8)), "(0, 0) twice"),
        ("/".join(f"{2 * q}:0" for q in range(8)), "not connected"),
        ("0:0/1", "'1' is not a cell"),
        ("0:0/1:x", "'1:x' is not a cell"),
        ("0:0/1:2:3", "'1:2:3' is not a cell"),
        ("sprial", "did you mean spiral?"),
    ],
)
def test_r3_what_is_no_map_is_refused(cells, part):
    with pytest.raises(InputError) as caught:
        GAME.variant(f"standard,map={cells}")
    assert part in str(caught.value)


# --- setup ------------------------------------------------------------------------------------------------------------------


def test_r4_half_as_many_dice_as_hexes_and_two_more():
    state = new("6 6 4 3 2")
    assert (state.turn, state.phase) == (0, rules.HAND)
    state = new("6 6 4 3 2 1 6 5 5 3 3")
    assert (state.turn, state.phase) == (1, rules.HAND)
    assert state.hand[0].tolist() == [0, 1, 1, 1, 1, 0, 2]
    assert rules.actor(new(HANDS)) == 0


@pytest.mark.parametrize(
    "hands, first",
    [
        (HANDS, 0),
        ("6 1 1 1 1 1 6 6 1 1 1 1", 1),
        ("6 6 5 1 1 1 6 6 4 4 4 4", 0),
        ("6 5 4 3 1 1 6 5 4 3 2 1", 1),
        ("2 2 2 2 2 1 2 2 2 2 2 2", 1),
    ],
)
def test_r5_more_sixes_place_first_then_more_fives(hands, first):
    state = new(hands)
    assert (state.phase, state.turn) == (rules.PLACE, first)
    assert state.placed_first.tolist() == [1 - first, first]


@pytest.mark.parametrize("first", [0, 1])
def test_r5_a_coin_if_all_are_equal(first):
    state = new("6 5 4 3 2 1 1 2 3 4 5 6")
    assert (state.phase, state.turn, rules.chance(state)) == (rules.PLACER_COIN, -1, 2)
    assert follow(GAME, state, f"SEAT{first}").turn == first


def test_r5_first_placer_random():
    assert new(HANDS, "standard,hexes=8,map=spiral,first_placer=random").phase == rules.PLACER_COIN


def test_r6_players_place_in_turn_with_the_values_thrown():
    state = new(HANDS)
    assert words(state) == {f"{value}@{h}" for value in (1, 2, 3, 4, 6) for h in range(8)}
    follow(GAME, state, "6@3")
    assert (state.turn, dice_of(state)) == (1, "3R6")
    assert words(state) == {f"{value}@{h}" for value in (2, 3, 5, 6) for h in range(8) if h != 3}
    follow(GAME, state, "5@0")
    assert (state.turn, dice_of(state)) == (0, "0B5 3R6")
    assert state.hand[0].tolist() == [0, 1, 1, 1, 1, 0, 1]


PLACED = f"{HANDS} 6@0 6@1 6@2 5@3 4@4 5@5 3@6 3@7"  # red keeps 2 and 1, blue 3 and 2


def test_r7_two_dice_of_the_players_choice_are_left_over():
    assert new(PLACED).left_pips.tolist() == [3, 5]
    other = new(f"{HANDS} 6@0 6@1 1@2 5@3 2@4 5@5 3@6 2@7")
    assert other.left_pips.tolist() == [10, 6]


def test_r8_the_larger_sum_left_over_starts():
    """L14."""
    state = new(PLACED)
    assert (state.phase, state.turn, state.started.tolist()) == (rules.ATTACK, 1, [0, 1])
    assert new(f"{HANDS} 6@0 6@1 1@2 5@3 2@4 5@5 3@6 2@7").turn == 0


@pytest.mark.parametrize("starter", [0, 1])
def test_r8_a_coin_if_the_sums_are_equal(starter):
    state = new(f"{HANDS} 6@0 6@1 6@2 5@3 2@4 5@5 3@6 3@7")  # red keeps 4 and 1, blue 3 and 2
    assert (state.phase, state.turn, rules.chance(state)) == (rules.STARTER_COIN, -1, 2)
    follow(GAME, state, f"SEAT{starter}")
    assert (state.turn, state.started.tolist()) == (starter, [1 - starter, starter])


def test_r8_starter_random():
    assert new(PLACED, "standard,hexes=8,map=spiral,starter=random").phase == rules.STARTER_COIN


def test_r9_the_values_left_over_are_forgotten():
    assert not new(PLACED).hand.any()


def test_last_die_without_a_choice_is_placed():
    state = new("6 6 6 6 6 6 5 5 5 5 5 5 6@0 5@1 6@2 5@3 6@4 5@5 6@6")
    assert dice_of(state).endswith("7B5")
    assert state.turn == 0  # 12 to 10


# --- attack -----------------------------------------------------------------------------------------------------------------


def test_r10_r11_l1_legal_attacks():
    assert words(at()) == SINGLES | PAIRS
    assert len(words(at())) == 16


def test_r11_l1_two_attackers_touch_each_other_in_published():
    assert words(at(variant=PUBLISHED)) == SINGLES | {"0+2>1", "0+2>3", "0+4>3", "0+4>5"}


def test_r11_two_dice_are_thrown():
    assert play("0+2>1").phase == rules.FIRST_DIE
    assert play("0+2>1 2").phase == rules.SECOND_DIE
    assert play("0+2>1 2 4").phase == rules.CHOOSE


def test_r12_an_attack_is_compulsory():
    assert "DECLINE" not in words(at())
    assert "DECLINE" in words(at(variant="standard,attack_mandatory=false"))
    state = play("DECLINE", variant="standard,attack_mandatory=false")
    assert (state.turn, state.no_attack) == (1, 1)


def test_r12_the_only_attack_is_made():
    state = at("R3 B3 . . . . . .")
    assert (state.phase, state.target, state.attacks.tolist()) == (rules.SINGLE_DIE, 1, [1, 0])
    assert at("R3 B3 . . . . . .", "standard,attack_mandatory=false").phase == rules.ATTACK


def test_r13_single_attack_although_a_partner_is_there():
    assert {"0>1", "0+2>1"} <= words(at("R5 B4 R2 . . . . ."))
    assert dice_of(play("0>1 2", "R5 B4 R2 . . . . .")) == "0R3 1B2 2R2"


def test_r14_one_attack_a_turn():
    state = play("0>3 5")
    assert state.turn == 1  # red still touches blue, but its turn is over


@pytest.mark.parametrize("attack", range(1, 7))
@pytest.mark.parametrize("defence", range(1, 7))
@pytest.mark.parametrize("roll", range(1, 7))
def test_r15_resolution(attack, defence, roll):
    """Every case of the table, under both presets."""
    for preset, valid in (("standard", attack - roll), ("published", roll)):
        after = rules.resolve(GAME.new_state(2, preset).variant, attack, defence, roll)
        if roll > attack:
            assert after == (attack - 1, defence)
        else:
            assert after == (attack if roll == attack else valid, max(0, defence - roll))


@pytest.mark.parametrize("variant, dice", [("standard", "0R3 3B1"), (PUBLISHED, "0R2 3B1")])
def test_l2_valid(variant, dice):
    state = play("0>3 2", variant=variant)
    assert f"{dice_of(state)} ".startswith(f"{dice.split()[0]} 1B4 2R2 {dice.split()[1]} ")


@pytest.mark.parametrize("variant", ["standard", PUBLISHED])
def test_l4_perfect(variant):
    assert dice_of(play("0>3 5", variant=variant)) == "1B4 2R2 3R5 4R1 5B6 6B2 7R4"


@pytest.mark.parametrize("variant", ["standard", PUBLISHED])
def test_l5_failed(variant):
    assert dice_of(play("0>3 6", variant=variant)) == "0R4 1B4 2R2 3B3 4R1 5B6 6B2 7R4"


@pytest.mark.parametrize("loss, dice", [("1", "1B5 2R3"), ("difference", "1B5 2R2"), ("all", "1B5")])
def test_failed_loss(loss, dice):
    """A 4 that rolls a 6."""
    assert dice_of(play("2>1 6", ". B5 R4 . . . . .", f"standard,failed_loss={loss},attack_mandatory=false")) == dice


def test_failed_loss_of_more_than_all():
    state = play("2>1 6", ". B5 R2 . . . . .", "standard,failed_loss=difference,attack_mandatory=false")
    assert (dice_of(state), is_over(state)) == ("1B5", True)


def test_r16_the_attacker_invades_with_its_new_value():
    state = play("0>3 4")
    assert "3R1" in dice_of(state)
    assert "0R" not in dice_of(state)
    assert state.conquests.tolist() == [1, 0]
    assert "3R4" in dice_of(play("0>3 4", variant=PUBLISHED))


def test_r17_an_attacker_at_0_is_removed_and_nobody_advances():
    assert dice_of(play("4>5 3")) == "0R5 1B4 2R2 3B3 5B6 6B2 7R4"


def test_r18_attacker_and_target_never_vanish_together():
    for variant in ("standard", PUBLISHED, "standard,failed_loss=all", "standard,failed_loss=difference"):
        record = GAME.new_state(2, variant).variant
        for attack in range(1, 7):
            for defence in range(1, 7):
                for roll in range(1, 7):
                    after, left = rules.resolve(record, attack, defence, roll)
                    assert after > 0 or left == defence


def test_r19_one_roll_settles_a_single_attack():
    assert play("0>6 1").turn == 1  # no move is possible


@pytest.mark.parametrize(
    "choice, dice",
    [
        ("0:2", {"standard": "0R3 1B2 2R2", PUBLISHED: "0R2 1B2 2R2"}),
        ("0:4", {"standard": "1R1 2R2", PUBLISHED: "1R4 2R2"}),
        ("2:2", {"standard": "0R5 1B2 2R2", PUBLISHED: "0R5 1B2 2R2"}),
        ("2:4", {"standard": "0R5 1B4 2R1", PUBLISHED: "0R5 1B4 2R1"}),
    ],
)
@pytest.mark.parametrize("preset", ["standard", PUBLISHED])
def test_r21_l7_pick_one(choice, dice, preset):
    state = at(variant=f"{preset},combined=pick_one")
    follow(GAME, state, "0+2>1 2 4")
    assert words(state) == {"0:2", "0:4", "2:2", "2:4"}
    assert dice_of(follow(GAME, state, choice)).startswith(dice[preset])


@pytest.mark.parametrize("choice, dice", [("0:2", "0R3 1B2 2R1"), ("2:4", "0R3 1B2 2R1"), ("0:4", "1R1 2R2"), ("2:2", "1R1 2R2")])
def test_r20_l8_assign_both(choice, dice):
    state = play("0+2>1 2 4")
    assert words(state) == {"0:2", "0:4", "2:2", "2:4"}
    assert dice_of(follow(GAME, state, choice)) == f"{dice} 3B3 4R1 5B6 6B2 7R4"


def test_r20_the_second_die_is_ignored_after_a_conquest():
    """With 5 and 6 the order matters: 0 first takes the hex and leaves 2 alone; 2 first fails and loses a pip."""
    assert dice_of(play("0+2>1 5 6 0:5")).startswith("1R5 2R2")
    assert dice_of(play("0+2>1 5 6 2:6")).startswith("1R5 2R1")


def test_r20_the_die_that_removes_the_target_invades():
    """A4: with a 3 and a 2, both valid, on a 4, who is second goes in."""
    dice = "R4 B4 R3 . . . . ."
    assert dice_of(play("0+2>1 3 2 0:3", dice)) == "0R1 1R1"
    assert dice_of(play("0+2>1 3 2 2:2", dice)) == "1R1 2R1"


def test_r22_a_choice_is_due_although_all_fail():
    state = play("2+4>3 5 6")
    assert words(state) == {"2:5", "2:6", "4:5", "4:6"}
    assert dice_of(follow(GAME, state, "2:5")) == "0R5 1B4 2R1 3B3 5B6 6B2 7R4"


def test_equal_rolls_have_two_choices():
    assert words(play("0+2>1 4 4")) == {"0:4", "2:4"}


def test_r23_turns_without_attack():
    state = at("R3 . . . . . . B2", PUBLISHED)
    assert (state.no_attack, state.phase) == (1, rules.MOVE)
    free = "published,attack_mandatory=false"
    assert play("0>3 2", variant=free, no_attack=1).no_attack == 0


def test_r24_l13_elimination_ends_the_game_at_once():
    for variant in ("standard", PUBLISHED):
        state = play("3", "R1 B4 . . . . . .", variant)
        assert (is_over(state), shares(state), dice_of(state)) == (True, [0.0, 1.0], "1B4")
        state = play("6", "R6 B4 . . . . . .", variant)
        assert (is_over(state), shares(state), dice_of(state)) == (True, [1.0, 0.0], "1R6")


@pytest.mark.parametrize("answer, dice", [("INVADE", "3R5"), ("HOLD", "0R5")])
def test_invade_optional(answer, dice):
    state = play("0>3 5", variant="standard,invade_optional=true")
    assert words(state) == {"INVADE", "HOLD"}
    follow(GAME, state, answer)
    assert dice in dice_of(state)
    assert "3B" not in dice_of(state)
    assert state.conquests.tolist() == [answer == "INVADE", 0]
    assert is_over(play("6", "R6 B4 . . . . . .", "standard,invade_optional=true"))  # nothing left to decide


# --- move -------------------------------------------------------------------------------------------------------------------


FAR = "R3 B6 . R2 . . . ."  # 1 touches 0 but not 3


def test_r25_r27_at_most_one_die_one_step_to_an_empty_hex():
    state = play("1", FAR)
    assert state.phase == rules.MOVE
    assert words(state) == {"STAY", "3-2", "3-4"}
    follow(GAME, state, "3-4")
    assert (state.turn, dice_of(state), state.moves.tolist()) == (1, "0R2 1B5 4R2", [1, 0])


def test_r26_not_beside_an_enemy():
    assert not any(word.startswith("0-") for word in words(play("1", FAR)))


def test_r27_l10_the_conqueror_stays():
    assert play("0>3 5").turn == 1  # no legal move: blue's turn
    state = play("0>3 5", variant="standard,conqueror_may_move=true")
    assert words(state) == {"STAY", "3-0"}


def test_r28_the_destination_may_touch_enemies():
    assert "3-2" in words(play("1", FAR))  # 2 touches 1


def test_r29_or_no_die_is_moved():
    state = play("1 STAY", FAR)
    assert (state.turn, dice_of(state), state.moves.tolist()) == (1, "0R2 1B5 3R2", [0, 0])


def test_r30_then_the_other_player_is_active():
    state = play("1 STAY", FAR)
    assert (state.turn, state.conqueror, state.acted) == (1, rules.NOWHERE, bit(1))  # blue's only attack has begun
    assert state.turns.tolist() == [1, 1]


# --- end --------------------------------------------------------------------------------------------------------------------


def test_r32_l11_two_passes():
    line = "published,map=line"
    state = at("R3 . . . B2 . . .", line)
    assert (state.phase, state.no_attack) == (rules.MOVE, 1)
    follow(GAME, state, "0-1")
    assert (state.phase, state.turn, state.no_attack) == (rules.MOVE, 1, 2)
    follow(GAME, state, "STAY")
    assert (is_over(state), shares(state)) == (True, [1.0, 0.0])
    assert is_over(at("R3 . . . B2 . . .", "standard,map=line"))


def test_r32_immediate_ends_when_no_dice_touch():
    assert is_over(at("R1 . . . . . . B3"))
    assert not is_over(at("R1 . . . . . . B3", PUBLISHED))
    assert not is_over(at("R1 . B3 . . . . ."))


def test_r32_the_move_comes_before_the_end():
    """Red loses its only contact by failing, and moves before the game is over."""
    state = play("0>1 3", "R1 B6 . R2 R2 . . .", "standard,attack_mandatory=false")
    assert (state.phase, dice_of(state)) == (rules.MOVE, "1B6 3R2 4R2")
    assert is_over(follow(GAME, state, "STAY"))
    assert not is_over(play("0>1 3 3-0", "R1 B6 . R2 R2 . . .", "standard,attack_mandatory=false"))


def test_r32_an_attack_in_between_starts_the_count_again():
    state = at("R3 . R3 B2 . . . . . .", "published,map=line", no_attack=1)
    assert state.no_attack == 0  # red's only attack has begun
    assert not is_over(state)


@pytest.mark.parametrize(
    "dice, winner",
    [
        ("R1 . R1 . . . . B6", [1.0, 0.0]),
        ("R2 . . . . . . B6", [0.0, 1.0]),
        ("R6 . . . . . . B2", [1.0, 0.0]),
        ("R4 . . . . . . B4", [0.5, 0.5]),
    ],
)
def test_r33_more_dice_then_more_pips_then_a_draw(dice, winner):
    state = at(dice)
    assert (is_over(state), shares(state)) == (True, winner)


def test_r34_dice_left_over_do_not_count():
    state = new(PLACED)
    before = shares(state)
    state.left_pips[:] = 12, 2
    assert shares(state) == before


# --- terrain ----------------------------------------------------------------------------------------------------------------


TERRAIN = "standard,terrain=PLAINS/HILLS/TOWN/MOUNTAINS/FOREST"


def test_terrain_is_thrown_for_each_hex_by_the_table():
    state = new(variant=f"{TERRAIN},hexes=8,map=line")
    assert (state.phase, state.turn, rules.chance(state)) == (rules.TERRAIN, -1, 5)
    follow(GAME, state, "HILLS TOWN PLAINS MOUNTAINS FOREST PLAINS PLAINS HILLS")
    assert state.phase == rules.HAND
    assert state.terrain.tolist() == [0b1100100, 0b10000001, 0b10, 0b1000, 0b10000]


def test_one_terrain_is_not_thrown():
    state = new(variant="standard,terrain=HILLS,hexes=8,map=line")
    assert (state.phase, state.terrain.tolist()) == (rules.HAND, [0, 255, 0, 0, 0])


@pytest.mark.parametrize("letter", "hm")
def test_hills_and_mountains_suffer_no_combined_attack(letter):
    attacks = words(at(variant=TERRAIN, terrain=f"p{letter}pppppp"))
    assert attacks == SINGLES | {pair for pair in PAIRS if not pair.endswith(">1")}


@pytest.mark.parametrize("letter", "ptf")
def test_other_terrain_does(letter):
    assert words(at(variant=TERRAIN, terrain=f"p{letter}pppppp")) == SINGLES | PAIRS


def test_a_mountain_that_was_left_is_closed():
    state = play("1 3-4", FAR, TERRAIN, terrain="pppmpppp")
    assert state.closed == bit(3)
    follow(GAME, state, "6 1")  # the only attacks: blue loses a pip, red another
    assert words(state) == {"STAY", "4-5"}  # not 4-3
    assert words(play("1 3-4 6 1", FAR)) == {"STAY", "4-5", "4-3"}


def test_a_mountain_that_an_invader_left_is_closed():
    assert play("0>3 5", variant=TERRAIN, terrain="mppppppp").closed == bit(0)
    assert play("4>5 3", variant=TERRAIN, terrain="ppppmppp").closed == 0  # removed, not left


def test_a_die_in_a_forest_may_leave_an_enemy():
    assert any(word.startswith("0-") for word in words(play("1", FAR, TERRAIN, terrain="fppppppp")))


def test_a_die_in_a_town_gains_a_pip():
    state = play("1 STAY", FAR, TERRAIN, terrain="ppptpppp")
    assert (state.turn, dice_of(state)) == (1, "0R2 1B5 3R3")


@pytest.mark.parametrize(
    "script, dice, ground",
    [
        ("1 3-4", FAR, "ppptpppp"),  # it moved
        ("1 3-4", FAR, "pppptppp"),  # it moved in
        ("1 STAY", FAR, "tppppppp"),  # it attacked
        ("1 STAY", "R3 B6 . R6 . . . .", "ppptpppp"),  # it has 6
    ],
)
def test_no_pip_for_dice_that_acted_or_have_six(script, dice, ground):
    assert play(script, dice, TERRAIN, terrain=ground).pips[0] == play(script, dice).pips[0]


def test_the_player_picks_the_die_that_gains_a_pip():
    state = play("1 STAY", "R3 B6 . R2 R2 . . .", TERRAIN, terrain="pppttppp")
    assert words(state) == {"3++", "4++"}
    follow(GAME, state, "4++")
    assert (state.turn, dice_of(state)) == (1, "0R2 1B5 3R2 4R3")


# --- positions and pictures -------------------------------------------------------------------------------------------------


def test_picture():
    lines = picture(at()).splitlines()
    assert lines == ["     5B6   4R1", "  6B2   0R5   3B3", "     1B4   2R2", "  7R4"]
    assert picture(new(HANDS)) == ""


def test_picture_shows_terrain():
    assert "7R4m" in picture(at(variant=TERRAIN, terrain="pppppppm"))


@pytest.mark.parametrize(
    "dice, options, part",
    [
        ("R7", {}, "'R7'"),
        ("R5 R5 R5 R5 R5 . . .", {}, "more than 4 dice"),
        ("R5 . .", {}, "not '3'"),
        ("R5 B4 . . . . . .", {"variant": "standard,map=0:0/1:0/2:0/3:0/4:0/5:0/6:0/7:0/8:0/9:0"}, "8 words for a map of 10"),
        (S1, {"terrain": "pppp"}, "terrain"),
        (S1, {"terrain": "pppppppx"}, "terrain"),
        (S1, {"seat": 2}, "seat"),
    ],
)
def test_what_is_no_position_is_refused(dice, options, part):
    with pytest.raises(InputError) as caught:
        at(dice if len(dice) > 2 else f"{dice} . . . . . . .", **options)
    assert part in str(caught.value)


# --- invariants -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "variant", ["standard", PUBLISHED, f"{TERRAIN},invade_optional=true", "published,attack_mandatory=false"]
)
@pytest.mark.parametrize("hexes", [8, 20, 36])
def test_invariants_under_random_play(variant, hexes):
    rng = random.Random(hexes)
    for _ in range(3):
        state, before = GAME.new_state(2, f"{variant},hexes={hexes}"), None
        while not is_over(state):
            check_position(state)
            if before is not None and state.phase != rules.TOWN and "TOWN" not in variant:
                assert state.pips.sum() <= before or state.score.sum() < hexes or state.phase < rules.ATTACK
            before = int(state.pips.sum()) if state.turns.any() else None
            codes = list(options(GAME, state).values())
            GAME.advance(state, rng.choice(codes))
        check_position(state)
        assert state.turns.sum() <= 2 * 6 * hexes or "TOWN" in variant


def check_position(state):
    red, blue = (int(hexes) for hexes in state.dice)
    assert not red & blue
    assert red | blue == sum(1 << h for h in range(36) if state.value[h])
    assert (red | blue) >> int(state.hexes) == 0
    assert not (red | blue) & int(state.closed)
    assert all(0 <= value <= 6 for value in state.value)
    for seat, hexes in enumerate((red, blue)):
        assert state.score[seat] == bin(hexes).count("1")
        assert state.pips[seat] == sum(int(state.value[h]) for h in range(36) if hexes >> h & 1)
    if state.turns.any():
        assert not state.hand.any()
        assert not state.frontier.any()


def test_sets_of_hexes():
    rng = random.Random(1)
    for _ in range(200):
        hexes = np.int64(rng.getrandbits(36) | 1 << rng.randrange(36))
        assert lowest(hexes) == next(h for h in range(36) if hexes >> h & 1)
        assert size(hexes) == bin(int(hexes)).count("1")
