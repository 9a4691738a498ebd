"""Dice Forge, clause by clause (R numbers of the README), the worked examples (T numbers), and every variant field."""

import pytest

from sims.errors import InputError
from sims.ruleset import CHANCE, OVER
from sims.rulesets import RULESETS
from sims.rulesets.dice_forge import cards, faces, picture, rules
from sims.trace import follow, options

GAME = RULESETS["dice-forge"]
FACE = faces.NUMBER
DICE_OF = {"light": 0, "dark": 1}


def rolled(state, word="G1"):
    """Play every chance node: the first outcome that shows this, else the first one."""
    while rules.actor(state) == CHANCE:
        words = options(GAME, state)
        follow(GAME, state, [next((each for each in words if each.endswith(":" + word)), next(iter(words)))])
    return state


def new(seats=2, variant="standard"):
    """The first decision of the first turn, everybody having rolled G1s only."""
    return rolled(GAME.new_state(seats, variant))


def acting(seats=3, variant="published", have=(12, 6, 6), **layout):
    """The first seat must act, with these resources; others have nothing."""
    state = new(seats, variant)
    state.have[:] = 0
    state.have[0, :3] = have
    return state


def words(state):
    return set(options(GAME, state))


def play(state, script):
    return follow(GAME, state, script)


def has(state, seat=0):
    return state.have[seat].tolist()


def stack_of(card):
    return cards.STACK_NAMES.index(cards.STACK_OF[card])


def give(state, seat, card):
    """A card that a seat took earlier."""
    state.owned[seat, cards.NAMES.index(card)] += 1
    state.chests[seat] += card == "CHEST"
    state.hammers[seat] += card == "HAMMER"
    state.tritons[seat] += card == "TRITON"
    state.cerberi[seat] += card == "CERBERUS"


def set_die(state, seat, die, *names):
    state.dice[seat, DICE_OF[die]] = [FACE[name] for name in (names if len(names) == 6 else names * 6)]
    state.up[seat, DICE_OF[die]] = 0


def dice(state, seat, die):
    return [faces.NAMES[face] for face in state.dice[seat, DICE_OF[die]]]


def again(state, at=rules.ACTION):
    """The decision is due again, after the position was changed by hand."""
    state.n_tasks = 0
    for task in (rules.END_TURN, rules.EXTRA_ACTION, rules.ACTION, rules.REINFORCEMENTS):
        rules.push(state, task, 0)
        if task == at:
            break
    state.phase = rules.NEXT
    rules.go_on(state)
    return state


# --- components and setup ---------------------------------------------------------------------------------------------------


def test_t1_r1_r2_r3_components():
    assert 4 * 12 + sum(n for n in faces.STOCK) == 108
    assert sum(faces.STOCK[: faces.N_BOUGHT]) == 40
    assert sum(faces.STOCK[faces.X3_FACE :]) == 20
    assert 4 * cards.N_CARDS == 96
    assert cards.N_STACKS == 15
    assert len(cards.PAIRED) == 9


@pytest.mark.parametrize("seats, copies, gold", [(2, 2, [3, 2]), (3, 3, [3, 2, 1]), (4, 4, [3, 2, 1, 0])])
def test_r4_r8_r9_setup(seats, copies, gold):
    state = GAME.new_state(seats, "standard")
    assert state.left.tolist() == [copies] * 15
    assert state.have[:seats].tolist() == [[n, 0, 0, 0] for n in gold]
    assert not state.island.any()
    while rules.actor(state) == CHANCE and state.phase != rules.ROLL:
        rules.apply_chance(state, 0)
    assert sum(state.stock[: faces.N_BOUGHT]) == (20 if seats == 2 else 40)
    assert sum(state.stock[faces.N_BOUGHT :]) == 20  # R7


def test_r6_mixed_pools_are_drawn():
    state = GAME.new_state(2, "standard")
    assert state.turn == -1
    assert words(state) == {
        "stay:G6+S1V1",
        "stay:G6+G2M1",
        "stay:G6+G1/S1/M1",
        "stay:S1V1+G2M1",
        "stay:S1V1+G1/S1/M1",
        "stay:G2M1+G1/S1/M1",
    }
    play(state, "stay:G6+G2M1 stay:V4+G2/S2/M2")
    left = {faces.NAMES[face]: int(state.stock[face]) for face in range(faces.N_BOUGHT)}
    twice = dict.fromkeys(["G3", "M1", "G4", "S1", "G3/V2", "M2", "S2", "V3"], 2)
    none = dict.fromkeys(["S1V1", "G1/S1/M1", "M2V2", "G1S1M1V1"], 0)
    assert left == twice | none | {"G6": 1, "G2M1": 1, "V4": 1, "G2/S2/M2": 1}


def test_r13_the_6_gold_face_may_be_taken_out():
    state = GAME.new_state(2, "standard,remove_g6_2p=true")
    assert words(state) == {"stay:S1V1+G2M1", "stay:S1V1+G1/S1/M1", "stay:G2M1+G1/S1/M1"}
    play(state, "stay:S1V1+G2M1")
    assert len(words(state)) == 6
    assert state.stock[FACE["G6"]] == 0


def test_r10_r11_r30_seats_act_in_order_every_round():
    state, movers = new(3, "published"), []
    while rules.actor(state) != OVER:
        movers.append(int(state.mover))
        play(rolled(state), ["PASS" if "PASS" in words(state) else "no_extra"])
        rolled(state)
    assert movers == [0, 1, 2] * 10


def test_r12_r32_blessings_in_a_turn():
    for seats, times in [(2, 2), (3, 1), (4, 1)]:
        state, rolls = GAME.new_state(seats, "published"), []
        while rules.actor(state) == CHANCE:
            if state.phase == rules.ROLL:
                rolls.append((int(state.turn), int(state.rolling) & 1))
            rules.apply_chance(state, 0)
        assert rolls == [(seat, die) for seat in range(seats) for die in range(2)] * times
        state = play(state, "PASS")
        assert state.turn == 1  # the mover is first


def test_r14_r15_r16_r17_layouts():
    def sets(variant):
        return {cards.NAMES[card] for card in new(2, variant).card}

    basic = {stack.sets[0] for stack in cards.STACKS.values()}
    assert sets("standard") == basic
    assert sets("standard,layout=alternate") == {stack.sets[-1] for stack in cards.STACKS.values()}
    assert sets("standard,layout=bear/SHIP") == basic - {"HIND", "OWL"} | {"BEAR", "SHIP"}
    state = GAME.new_state(4, "standard,layout=random")
    assert words(state) == {"HIND", "BEAR"}
    play(state, "BEAR SATYRS CERBERUS CANCER TYPHON OWL SHIELD GORGON CYCLOPS")
    names = {cards.NAMES[card] for card in state.card}
    assert {"BEAR", "SATYRS", "CERBERUS", "CANCER", "TYPHON", "OWL", "SHIELD", "GORGON", "CYCLOPS"} < names


@pytest.mark.parametrize("text, part", [("BEAR/HIND", "two sets"), ("BEER", "did you mean BEAR"), ("", "unknown")])
def test_wrong_layouts_are_refused(text, part):
    with pytest.raises(InputError, match=part):
        GAME.variant({"layout": text})


def test_a_set_left_in_the_box():
    """Neither its basic pair nor its price matters: there is no card of it; the other sets are all there."""
    assert "feat:HYDRA" in words(acting())
    without = acting(variant="published,removed=HYDRA")
    assert words(acting()) - words(without) == {"feat:HYDRA"}
    assert without.left.sum() == 14 * 3
    assert acting(variant="published,removed=TYPHON").left.sum() == 15 * 3  # basic layout: it is not on the table anyway
    assert "feat:TYPHON" not in words(acting(variant="published,layout=TYPHON,removed=TYPHON"))
    state = GAME.new_state(2, "standard,layout=random,removed=BEAR")
    play(state, "BEAR SATYRS CERBERUS CANCER TYPHON OWL SHIELD GORGON CYCLOPS")
    assert rolled(state).left[stack_of("BEAR")] == 0


def test_r18_starting_dice():
    state = new()
    assert dice(state, 1, "light") == ["G1"] * 5 + ["S1"]
    assert dice(state, 1, "dark") == ["G1"] * 4 + ["M1", "V2"]


def test_r19_prices():
    prices = {name: int(price) for name, price in zip(faces.NAMES, faces.PRICE, strict=True) if price}
    assert prices["G3"] == prices["M1"] == 2
    assert prices["G4"] == prices["S1"] == 3
    assert prices["G6"] == prices["S1V1"] == prices["G2M1"] == prices["G1/S1/M1"] == 4
    assert prices["G3/V2"] == 5
    assert prices["M2"] == 6
    assert prices["S2"] == prices["V3"] == 8
    assert prices["V4"] == prices["M2V2"] == prices["G1S1M1V1"] == prices["G2/S2/M2"] == 12
    assert len(prices) == 16


# --- turns ------------------------------------------------------------------------------------------------------------------


def test_t11_r103_number_of_turns_and_blessings():
    for variant, seats, turns in [
        ("published", 2, 18),
        ("published", 3, 30),
        ("published", 4, 36),
        ("standard,pass_rule=always", 2, 20),
        ("standard,pass_rule=always", 3, 27),
        ("standard,pass_rule=always", 4, 36),
    ]:
        state, rolls = GAME.new_state(seats, variant), 0
        while rules.actor(state) != OVER:
            if rules.actor(state) == CHANCE:
                rolls += state.phase == rules.ROLL
                rules.apply_chance(state, 0)
            else:
                rules.apply_action(state, rules.PASS)
        assert sum(state.turns) == turns
        assert rolls == turns * seats * 2 * (2 if seats == 2 else 1)
        assert state.mover == seats - 1


def test_r33_r40_reinforcements_once_each_before_the_action():
    state = acting(have=(12, 6, 6))
    for card in ("HIND", "ELDER", "ELDER", "OWL"):
        give(state, 0, card)
    again(state, rules.REINFORCEMENTS)
    assert words(state) == {"act", "hind:light", "hind:dark", "elder", "owl:G", "owl:S", "owl:M"}
    play(state, "elder owl:M elder")
    assert has(state) == [6, 6, 6, 8]
    assert words(state) == {"act", "hind:light", "hind:dark"}
    play(state, "hind:dark dark:V2")
    assert has(state) == [6, 6, 6, 10]
    assert state.phase == rules.ACT  # nothing left to use
    play(state, "feat:OWL")
    assert "owl:G" not in words(state)
    assert state.phase == rules.EXTRA


def test_r33_elder_needs_3_gold():
    state = acting(have=(2, 0, 0))
    give(state, 0, "ELDER")
    again(state, rules.REINFORCEMENTS)
    assert state.phase == rules.ACT


def test_r34_main_actions():
    assert words(acting(have=(1, 0, 1))) == {"PASS", "feat:HAMMER", "feat:CHEST"}
    assert words(acting(have=(2, 0, 0))) == {"PASS", "FORGE"}


def test_r35_r36_a_pass_in_standard_only_if_stuck():
    assert words(again(acting(variant="standard", have=(2, 1, 0)))) == {"FORGE", "feat:ELDER", "feat:SPIRITS"}
    state = acting(variant="standard", have=(1, 0, 0))
    give(state, 0, "TRITON")
    again(state)
    assert words(state) == {"PASS", "triton:G", "triton:S", "triton:M"}
    state = acting(variant="standard", have=(1, 0, 0))
    again(state)
    assert state.passes[0] == 1  # at once: the only option
    assert state.turn == 1


def test_r37_no_extra_action_after_a_pass():
    state = play(acting(have=(0, 6, 0)), "PASS")
    assert state.mover == 1


def test_r38_r39_one_extra_action_for_two_sun():
    state = play(acting(have=(12, 6, 6)), "feat:OWL")
    assert words(state) == {"no_extra", "extra"}
    play(state, "extra")
    assert has(state)[1] == 2
    assert state.extra_actions[0] == 1
    play(state, "feat:SPIRITS")  # one sun is left
    assert state.mover == 1
    state = play(acting(have=(12, 6, 6)), "feat:OWL extra feat:CHEST")
    assert has(state)[1] == 2
    assert state.mover == 1  # only one


def test_r41_triton_tokens():
    state = acting(variant="published,layout=TRITON", have=(0, 5, 0))
    play(state, "feat:TRITON")
    assert has(state)[:3] == [0, 1, 0]
    assert words(state) == {"no_extra", "triton:G", "triton:S", "triton:M"}
    play(state, "triton:S")
    assert state.tritons[0] == 0
    play(state, "extra PASS")
    assert state.mover == 1
    assert has(state)[1] == 1


def test_r41_triton_before_reinforcements_reaches_the_elder():
    state = acting(have=(0, 0, 0))
    give(state, 0, "TRITON")
    give(state, 0, "ELDER")
    again(state, rules.REINFORCEMENTS)
    assert words(state) == {"act", "triton:G", "triton:S", "triton:M"}
    play(state, "triton:G elder")
    assert has(state) == [3, 0, 0, 4]


def test_field_triton_in_forge():
    for value in (True, False):
        state = acting(variant=f"published,triton_in_forge={str(value).lower()}", have=(8, 0, 0))
        give(state, 0, "TRITON")
        play(again(state), "FORGE buy:G3 on:light.S1")
        assert ("triton:G" in words(state)) == value
        if value:
            play(state, "triton:G")
            assert has(state)[0] == 12
            assert "buy:V4" in words(state)
            assert "buy:G3" not in words(state)


# --- forging ----------------------------------------------------------------------------------------------------------------


def test_t8_r42_r43_r44_what_one_forging_may_buy():
    state = play(acting(have=(4, 0, 0)), "FORGE buy:G3 on:light.S1")
    assert words(state) == {"enough", "buy:M1"}
    state = play(acting(have=(8, 0, 0)), "FORGE buy:G6 on:light.S1")
    assert "buy:S1V1" in words(state)
    state = play(acting(variant="published,mixed_pool=false", have=(8, 0, 0)), "FORGE buy:G6 on:light.S1")
    assert words(state) == {"enough", "buy:G3", "buy:M1", "buy:G4", "buy:S1"}


def test_r42_at_least_one_face():
    assert "enough" not in words(play(acting(), "FORGE"))


def test_r43_the_same_type_again_in_the_extra_action():
    state = play(acting(have=(5, 3, 0)), "FORGE buy:G3 on:light.S1 enough extra FORGE")
    assert "buy:G3" in words(state)


def test_r45_r46_a_face_replaces_another():
    state = play(acting(have=(12, 0, 0)), "FORGE buy:V4 on:dark.V2")
    assert dice(state, 0, "dark") == ["G1"] * 4 + ["M1", "V4"]
    assert state.forged[0] == 1
    assert state.stock[FACE["V4"]] == 0
    assert state.mover == 1


def test_r46_never_over_a_boar():
    state = acting()
    set_die(state, 0, "light", "BOAR_r", "G1", "G1", "G1", "G1", "G1")
    state.up[0] = 1
    play(state, "FORGE buy:G3")
    assert words(state) == {"on:light.G1^", "on:light.G1", "on:dark.G1^", "on:dark.G1", "on:dark.M1", "on:dark.V2"}


def test_slots_that_are_alike_are_one_option_but_for_the_one_on_top():
    state = play(acting(), "FORGE buy:G3")
    assert words(state) == {
        "on:light.G1^",
        "on:light.G1",
        "on:light.S1",
        "on:dark.G1^",
        "on:dark.G1",
        "on:dark.M1",
        "on:dark.V2",
    }


def test_a21_over_a_face_forged_just_before():
    state = play(acting(), "FORGE buy:G3 on:light.S1 buy:G4")
    assert "on:light.G3" in words(state)


# --- feats ------------------------------------------------------------------------------------------------------------------


def test_r21_r26_r28_prices_islands_and_glory():
    expected = {
        "HAMMER": (0, 1, 0, 1), "CHEST": (0, 1, 2, 1), "HIND": (0, 2, 2, 2), "BEAR": (0, 2, 2, 2), "SATYRS": (0, 3, 6, 2),
        "BOAR": (0, 3, 4, 2), "FERRYMAN": (0, 4, 12, 3), "CERBERUS": (0, 4, 6, 3), "HELMET": (0, 5, 4, 3),
        "CANCER": (0, 6, 8, 4), "SENTINEL": (0, 6, 6, 4), "ELDER": (1, 0, 0, 7), "SPIRITS": (1, 0, 2, 7), "OWL": (2, 0, 4, 6),
        "SHIP": (2, 0, 4, 6), "MINOTAUR": (3, 0, 8, 6), "SHIELD": (3, 0, 6, 6), "GORGON": (4, 0, 14, 5),
        "TRITON": (4, 0, 8, 5), "MIRROR": (5, 0, 10, 5), "SPHINX": (6, 0, 10, 4), "CYCLOPS": (6, 0, 8, 4),
        "HYDRA": (5, 5, 26, 4), "TYPHON": (5, 5, 16, 4),
    }  # fmt: skip
    assert set(expected) == set(cards.NAMES)
    for name, (sun, moon, glory, island) in expected.items():
        stack = stack_of(name)
        assert tuple(cards.COST[stack]) == (0, sun, moon)
        assert cards.CARDS[name] == glory
        assert cards.ISLAND[stack] == island
        assert name in cards.STACKS[cards.STACK_OF[name]].sets


def test_r24_r49_r50_r104_a_feat_without_effect():
    state = play(acting(have=(0, 5, 6)), "feat:HYDRA")
    assert has(state) == [0, 0, 1, 0]  # printed glory is not on the track
    assert state.score[0] == state.from_feats[0] == 26
    assert state.island[0] == 4
    assert state.left[stack_of("HYDRA")] == 2
    assert state.mover == 1


def test_r49_a_stack_runs_out():
    state = acting()
    state.left[stack_of("HYDRA")] = 0
    assert "feat:HYDRA" not in words(state)


def test_t6_r51_r52_r53_ousting_comes_before_the_effect():
    state = acting(have=(0, 6, 6))
    state.have[0, 1] = 12  # enough for the extra action too
    state.island[1] = 4
    play(state, "feat:CANCER")
    assert state.turn == 1  # the ousted rolls first
    play(state, "light:S1 dark:V2")
    assert has(state, 1) == [0, 1, 0, 2]
    assert state.island.tolist() == [4, 0, 0, 0]
    play(state, "light:G1 dark:G1 light:G1 dark:V2")
    assert has(state)[0::3] == [3, 2]
    play(state, "extra feat:SPHINX")
    assert (state.ousted[1], state.ousts[0]) == (1, 1)  # nobody ousts himself
    assert state.island[0] == 4


def test_r55_bears():
    state = acting(variant="published,layout=BEAR")
    state.island[1] = 2
    give(state, 1, "BEAR")
    give(state, 1, "BEAR")
    play(state, "feat:BEAR")
    assert state.have[1, 3] == 6
    assert state.have[0, 3] == 0  # the bear just bought does not count yet
    rolled(state)
    state.island[2] = 1
    play(state, "extra feat:CHEST")
    assert state.have[0, 3] == 3


def test_r57_spirits_after_paying():
    state = play(acting(have=(2, 1, 6)), "feat:SPIRITS")
    assert has(state) == [5, 0, 6, 0]


def test_r86_r82_r83_r84_satyrs():
    state = acting(have=(0, 0, 3))
    give(state, 0, "CERBERUS")
    play(state, "feat:SATYRS light:S1 dark:V2 light:G1 dark:M1")
    assert words(state) == {"take:S1+V2", "take:S1+G1", "take:S1+M1", "take:V2+G1", "take:V2+M1", "take:G1+M1"}
    play(state, "take:S1+V2")
    assert has(state) == [0, 1, 0, 2]  # nothing for the others, and no Cerberus
    assert has(state, 1) == [0, 0, 0, 0]
    state = acting(2, have=(0, 0, 3))
    play(state, "feat:SATYRS light:S1 dark:V2")
    assert has(state)[1::2] == [1, 2]  # both dice, no choice


def test_satyrs_merges_pairs_that_are_alike():
    state = play(acting(have=(0, 0, 3)), "feat:SATYRS light:G1 dark:G1 light:G1 dark:M1")
    assert words(state) == {"take:G1+G1", "take:G1+M1"}


def test_r87_r88_r89_minotaur():
    state = acting(have=(0, 3, 0))
    state.have[1] = [5, 5, 5, 1]
    state.hammered[2] = 5
    give(state, 2, "HAMMER")
    state.have[2] = [1, 0, 0, 0]
    set_die(state, 2, "light", "G3")
    state.score[1] = state.from_dice[1] = 1
    play(state, "feat:MINOTAUR light:G1 dark:V2 light:G3")
    play(state, "dark:G1")
    assert has(state, 1) == [4, 5, 5, 0]
    assert state.score[1] == 0
    assert has(state, 2)[0] == 0
    assert state.hammered[2] == 5
    assert has(state) == [0, 0, 0, 0]


@pytest.mark.parametrize("card", ["CANCER", "SENTINEL"])
def test_r98_two_blessings_in_a_row(card):
    state = acting(variant=f"published,layout={card}", have=(0, 0, 6))
    play(state, f"feat:{card} light:S1")
    assert state.phase == rules.ROLL
    play(state, "dark:G1")
    if card == "SENTINEL":
        assert words(state) == {"keep", "to_glory"}
        play(state, "to_glory")
        assert has(state) == [1, 0, 0, 2]
    else:
        assert has(state) == [1, 1, 0, 0]
    play(state, "light:G1 dark:G1")
    assert state.mover == 1 or state.phase == rules.EXTRA


@pytest.mark.parametrize("card", ["SPHINX", "CYCLOPS"])
def test_r98_r100_four_minor_blessings_with_one_die(card):
    state = acting(variant=f"published,layout={card}", have=(0, 6, 0))
    play(state, f"feat:{card}")
    assert words(state) == {"die:light", "die:dark"}
    play(state, "die:light light:G1")
    if card == "CYCLOPS":
        play(state, "to_glory light:G1 keep light:S1 light:G1 keep")
        assert has(state) == [2, 1, 0, 1]
    else:
        play(state, "light:G1 light:S1 light:G1")
        assert has(state) == [3, 1, 0, 0]
    assert state.mover == 1


@pytest.mark.parametrize("card, face", [("HELMET", "X3"), ("MIRROR", "MIRROR"), ("SHIP", "SHIP")])
def test_r20_r56_faces_of_the_gardens_are_forged_at_once(card, face):
    state = acting(variant=f"published,layout={card}" if card == "SHIP" else "published")
    play(state, f"feat:{card}")
    assert state.phase == rules.SLOT
    play(state, "on:light.S1")
    assert dice(state, 0, "light")[5] == face
    assert state.stock[FACE[face]] == 3
    assert state.forged[0] == 1


def test_shield_is_chosen_of_those_left():
    state = acting(variant="published,layout=SHIELD")
    state.stock[FACE["SH_M"]] = 0
    play(state, "feat:SHIELD")
    assert words(state) == {"shield:SH_S", "shield:SH_G", "shield:SH_V"}
    play(state, "shield:SH_G on:dark.V2")
    assert dice(state, 0, "dark")[5] == "SH_G"
    assert state.stock[FACE["SH_G"]] == 0


def test_r77_the_boar_is_forged_by_another():
    state = acting(variant="published,layout=BOAR")
    play(state, "feat:BOAR")
    assert words(state) == {"bearer:1", "bearer:2"}
    play(state, "bearer:2")
    assert rules.actor(state) == 2
    play(state, "on:light.S1")
    assert dice(state, 2, "light")[5] == "BOAR_r"
    assert state.boar_owner[0] == 0
    assert state.forged.tolist() == [0, 0, 1, 0]
    play(state, "extra feat:BOAR bearer:1 on:dark.M1")
    assert dice(state, 1, "dark")[4] == "BOAR_b"  # the next colour


def test_boar_with_two_seats_has_one_bearer():
    state = play(acting(2, "published,layout=BOAR"), "feat:BOAR")
    assert rules.actor(state) == 1
    assert state.phase == rules.SLOT


def test_t10_typhon_counts_forged_faces():
    state = acting(variant="published,layout=TYPHON", have=(0, 5, 5))
    state.forged[0] = 7
    play(state, "feat:TYPHON")
    assert has(state)[3] == 7
    assert state.score[0] == 16 + 7


def test_cerberus_repeats_once():
    state = acting(have=(0, 0, 0))
    give(state, 0, "CERBERUS")
    give(state, 0, "CERBERUS")
    give(state, 0, "HIND")
    again(state, rules.REINFORCEMENTS)
    play(state, "hind:light light:S1")
    assert words(state) == {"repeat", "keep_token"}
    play(state, "repeat")
    assert has(state)[1] == 2
    assert state.cerberi[0] == 1
    assert state.phase == rules.ACT


@pytest.mark.parametrize("value", ["any", "own_turn"])
def test_a12_field_cerberus_when(value):
    state = acting(variant=f"published,cerberus_when={value}", have=(0, 0, 0))
    give(state, 1, "CERBERUS")
    state.have[0, 2] = 2
    state.island[1] = 2
    play(again(state), "feat:HIND light:S1 dark:G1")
    assert (state.phase == rules.REPEAT) == (value == "any")


# --- faces: single cases; every pair is in test_faces.py ---------------------------------------------------------------------


def blessed(state, light, dark, seat=0, **dice_of_others):
    """A divine blessing of the mover with these faces."""
    set_die(state, seat, "light", light)
    set_die(state, seat, "dark", dark)
    state.n_tasks = 0
    state.tritons[seat] = 1  # so that there is a choice afterwards
    rules.push(state, rules.ACTION, 0)
    rules.push(state, rules.DIVINE, seat)
    state.phase = rules.NEXT
    rules.go_on(state)
    while rules.actor(state) == CHANCE:
        rules.apply_chance(state, 0)
    return state


def test_t2_triples():
    state = blessed(acting(have=(0, 0, 0)), "X3", "G1S1M1V1")
    assert has(state) == [3, 3, 3, 3]
    state = blessed(acting(have=(0, 0, 0)), "G2/S2/M2", "X3")
    assert words(state) == {"get:G", "get:S", "get:M"}
    assert has(play(state, "get:M")) == [0, 0, 6, 0]
    assert has(blessed(acting(have=(0, 0, 0)), "X3", "X3")) == [0, 0, 0, 0]


def test_a1_field_x3_choice():
    state = blessed(acting(variant="published,x3_choice=three", have=(0, 0, 0)), "G2/S2/M2", "X3")
    assert has(play(state, "get:G get:M get:M")) == [2, 0, 4, 0]


@pytest.mark.parametrize("value, times", [("three", 3), ("one", 1)])
def test_a2_field_x3_boar(value, times):
    state = acting(variant=f"published,x3_boar={value}", have=(0, 0, 0))
    state.boar_owner[0] = 1
    play(blessed(state, "BOAR_r", "X3"), "get:S")
    assert has(state)[1] == 3
    for _ in range(times):
        assert rules.actor(state) == 1
        play(state, "get:V")
    assert has(state, 1) == [0, 0, 0, 3 * times]
    assert state.phase == rules.ACT


@pytest.mark.parametrize("value", ["true", "false"])
def test_a7_r61_field_mirror_own(value):
    state = acting(variant=f"published,mirror_own={value}", have=(0, 0, 0))
    for seat in (1, 2):
        set_die(state, seat, "light", "MIRROR")
        set_die(state, seat, "dark", "MIRROR")
    blessed(state, "MIRROR", "M2")
    assert has(state)[2] == (4 if value == "true" else 2)


@pytest.mark.parametrize("value", ["raw", "converted"])
def test_a6_r70_field_shield_sees(value):
    state = acting(variant=f"published,shield_sees={value}", have=(0, 0, 0))
    set_die(state, 0, "light", "SH_M")
    set_die(state, 0, "dark", "M2")
    rules.push(state, rules.DIVINE, 4 * rules.TO_GLORY_SHARDS)
    state.phase = rules.NEXT
    rules.go_on(state)
    play(state, "light:SH_M dark:M2 to_glory")
    if value == "raw":
        assert has(state) == [0, 0, 0, 4 + 5]
    else:  # nothing matches any more, and the lower reward may be turned into glory as well
        assert has(play(state, "keep")) == [0, 0, 2, 4]


def test_r65_mirrors_see_what_was_forged_over_the_face_on_top():
    state = acting(have=(12, 0, 0))
    play(state, "FORGE buy:V4 on:light.G1^")
    rules.show_dice(state)
    assert state.shown[0, 0] == FACE["V4"]


def test_a10_mirrors_see_what_was_rolled_though_a_ship_forges_over_it():
    state = acting(have=(6, 0, 0))
    set_die(state, 0, "light", "SHIP")
    set_die(state, 0, "dark", "V2")
    set_die(state, 1, "light", "MIRROR")
    set_die(state, 2, "light", "G1")
    set_die(state, 1, "dark", "G1")
    set_die(state, 2, "dark", "G1")
    state.n_tasks = 0
    rules.push(state, rules.ACTION, 0)
    rules.push(state, rules.BEGIN_BLESSING, 0)
    state.phase = rules.NEXT
    rules.go_on(state)
    while rules.actor(state) == CHANCE:
        rules.apply_chance(state, 0)
    play(state, "ship:M2 on:dark.V2^")
    assert words(state) == {"copy:SHIP", "copy:V2", "copy:G1"}


def test_r78_r79_ships_buy_at_a_discount():
    state = blessed(acting(have=(2, 0, 0)), "SHIP", "V2")
    assert words(state) == {
        "no_ship",
        "ship:G3",
        "ship:M1",
        "ship:G4",
        "ship:S1",
        "ship:G6",
        "ship:S1V1",
        "ship:G2M1",
        "ship:G1/S1/M1",
    }
    play(state, "ship:G3 on:dark.V2")
    assert has(state)[0] == 2  # for nothing
    assert "FORGE" in words(state)
    assert "buy:G3" in words(play(state, "FORGE"))  # R79


def test_r78_a_price_is_never_below_zero():
    state = play(blessed(acting(have=(1, 0, 0)), "SHIP", "X3"), "ship:G3 on:dark.X3")
    assert has(state)[0] == 1


def test_r66_a_ship_beside_x3_is_one_forging_at_6_off():
    state = play(blessed(acting(have=(6, 0, 0)), "SHIP", "X3"), "ship:V4 on:dark.X3")
    assert has(state)[0] == 0
    assert state.phase == rules.ACT


@pytest.mark.parametrize("order", ["gold_first", "ship_first"])
def test_a11_order_of_gold_and_ship(order):
    state = blessed(acting(have=(10, 0, 0)), "SHIP", "G6")
    assert words(state) == {"gold_first", "ship_first"}
    play(state, order)
    play(state, "ship:V4 on:dark.G6")
    assert has(state)[0] == (2 if order == "gold_first" else 6)


def test_a11_without_overflow_gold_comes_first():
    state = blessed(acting(have=(4, 0, 0)), "SHIP", "G6")
    assert "ship:V4" in words(state)


def test_field_ship_order():
    state = blessed(acting(variant="published,ship_order=ship_first", have=(10, 0, 0)), "SHIP", "G6")
    assert has(play(state, "ship:V4 on:dark.G6"))[0] == 6


# --- resources, chest, hammer -----------------------------------------------------------------------------------------------


def test_t4_r90_r91_r92_caps():
    assert has(blessed(acting(have=(11, 6, 6)), "G6", "G1S1M1V1")) == [12, 6, 6, 1]
    state = acting(have=(11, 6, 6))
    give(state, 0, "CHEST")
    assert has(blessed(state, "G6", "S2")) == [16, 8, 6, 0]
    state = acting(have=(11, 0, 0))
    give(state, 0, "HAMMER")
    blessed(state, "G6", "V2")
    assert words(state) == {f"hammer:{n}" for n in range(7)}
    play(state, "hammer:5")
    assert has(state) == [12, 0, 0, 2]
    assert state.hammered[0] == 5


def test_t5_r94_r95_r96_r97_hammer_tracks():
    state = acting(have=(0, 0, 0))
    give(state, 0, "HAMMER")
    state.hammered[0] = 13
    play(blessed(state, "G6", "X3"), "hammer:6")
    assert has(state)[3] == 10
    assert state.hammered[0] == 19
    state.hammered[0] = 28
    blessed(state, "G6", "S1")
    assert words(state) == {"hammer:0", "hammer:1", "hammer:2"}
    before = has(state)
    play(state, "hammer:2")
    assert has(state)[3] == before[3] + 15
    assert has(state)[0] == min(12, before[0] + 4)
    give(state, 0, "HAMMER")
    blessed(state, "G6", "S1")
    assert "hammer:6" in words(state)


def test_thirty_gold_on_a_hammer_are_25_glory():
    state = acting(have=(0, 0, 0))
    give(state, 0, "HAMMER")
    for _ in range(5):
        play(blessed(state, "G6", "S1"), "hammer:6")
    assert has(state)[3] == state.from_hammer[0] == 25
    blessed(state, "G6", "S1")
    assert state.phase == rules.ACT  # finished: no question


def test_a14_field_hammer_split():
    state = acting(variant="published,hammer_split=no_waste", have=(11, 0, 0))
    give(state, 0, "HAMMER")
    blessed(state, "G6", "V2")
    assert words(state) == {"hammer:5", "hammer:6"}


def test_r93_owl_spirits_and_triton_may_go_to_the_hammer():
    for card, word in [("OWL", "owl:G"), ("TRITON", "triton:G")]:
        state = acting(have=(0, 0, 0))
        give(state, 0, "HAMMER")
        give(state, 0, card)
        play(again(state, rules.REINFORCEMENTS), word)
        assert state.phase == rules.SPLIT
    state = acting(have=(0, 1, 0))
    give(state, 0, "HAMMER")
    assert words(play(again(state), "feat:SPIRITS")) == {f"hammer:{n}" for n in range(4)}


# --- the end ----------------------------------------------------------------------------------------------------------------


def ended(tie, scores, have, forged=(0, 0, 0), feats=(0, 0, 0)):
    state = acting(variant=f"published,tie={tie}")
    for seat in range(3):
        state.score[seat], state.have[seat, :3] = scores[seat], have[seat]
        state.forged[seat], state.feats[seat] = forged[seat], feats[seat]
    rules.settle(state)
    return state.winner.tolist()[:3]


def test_r105_r107_r108_winner_and_ties():
    rich, poor, level = (12, 6, 6), (0, 0, 0), (4, 1, 1)
    for tie in ("leftover", "shared", "bga"):
        assert ended(tie, (50, 51, 49), (rich, poor, rich)) == [0, 1, 0]
    assert ended("leftover", (50, 50, 49), (level, (1, 3, 1), rich)) == [1, 0, 0]
    assert ended("leftover", (50, 50, 49), (level, (0, 0, 6), rich)) == [1, 1, 0]
    assert ended("shared", (50, 50, 49), (level, poor, rich)) == [1, 1, 0]
    assert ended("bga", (50, 50, 50), (rich, poor, poor), (3, 4, 4), (9, 1, 2)) == [0, 0, 1]
    assert ended("bga", (50, 50, 50), (poor, level, level), (4, 4, 4), (2, 2, 2)) == [0, 1, 0]


def test_a26_field_start_gold():
    assert GAME.new_state(4, "standard,start_gold=equal").have[:, 0].tolist() == [3, 3, 3, 3]


def test_a23_field_rounds_is_in_the_presets():
    assert GAME.variant("published").values["rounds"] == "published"
    assert {name for name, value in GAME.variant("published").values.items() if value != GAME.fields[name].default} == {
        "rounds",
        "tie",
        "pass_rule",
    }


def test_a_lead_is_counted_when_it_is_taken():
    state = acting()
    state.score[:3] = [3, 5, 5]
    rules.note_leader(state)
    assert not state.leads.any()
    state.score[:3] = [3, 5, 6]
    rules.note_leader(state)
    rules.note_leader(state)
    state.score[:3] = [6, 5, 6]
    rules.note_leader(state)
    assert state.leads.tolist() == [0, 0, 1, 0]
    state.score[0] = 7
    rules.note_leader(state)
    assert state.leads.tolist() == [1, 0, 1, 0]


def test_picture_is_drawn_between_turns_only():
    state = GAME.new_state(3, "published")
    line = " ".join(picture(state).splitlines()[0].split())
    assert line == "seat 0: 3G 0S 0M 0V+0 portal light [G1] G1 G1 G1 G1 S1 dark [G1] G1 G1 G1 M1 V2"
    play(state, "light:G1")
    assert picture(state) == ""
