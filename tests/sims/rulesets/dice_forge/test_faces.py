"""Face with face, pair by pair, against a slow resolver: blessings, Satyrs, Minotaur, Sentinel, Cyclops, Cerberus."""

import importlib.util
from collections import Counter
from itertools import combinations_with_replacement
from pathlib import Path

import pytest

from sims.jit import INTERPRETED
from sims.ruleset import CHANCE, copied
from sims.rulesets import RULESETS
from sims.rulesets.dice_forge import cards, faces, rules

SPEC = importlib.util.spec_from_file_location("forge_reference", Path(__file__).with_name("reference.py"))
reference = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(reference)

GAME = RULESETS["dice-forge"]
SIMPLE = ["G3", "S1", "M2", "V3", "G1S1M1V1", "G2M1"]
SPECIAL = ["G1/S1/M1", "G3/V2", "X3", "MIRROR", "SHIP", "SH_S", "SH_M", "SH_G", "SH_V", "BOAR_r", "BOAR_b", "BOAR_y"]
TESTED = SIMPLE + SPECIAL
SIGHTS = [("G3", "X3", "SH_S", "BOAR_y"), ("MIRROR", "SHIP", "MIRROR", "G3/V2"), ("MIRROR",) * 4]
START = (15, 12, 12, 40)  # of everybody: room for every gain, and enough for every loss
OWNERS = (2, 0, 1)  # of the boars in red, blue and yellow


def table(faces_of_0, sight, variant="standard", mover=0):
    """Three seats; each die has one face six times, so that it shows it whatever is rolled. Nothing is left to do."""
    state = GAME.new_state(3, variant)
    for seat, pair in enumerate([faces_of_0, sight[:2], sight[2:]]):
        for die in range(2):
            state.dice[seat, die] = faces.NUMBER[pair[die]]
        state.chests[seat] = 4
        state.have[seat] = START
    rules.show_dice(state)
    state.boar_owner[:3] = OWNERS
    state.mover, state.n_tasks, state.phase = mover, 0, rules.NEXT
    rules.push(state, rules.ACTION, 0)  # where everything ends: at a decision of the mover
    return state


def endings(state, want=()):
    """Every way to go on: the final positions with the ships offered and the triggers of owners, until the mover may act."""
    rules.go_on(state)
    todo, done = [(state, (), ())], []
    while todo:
        state, triggers, ships = todo.pop()
        if rules.actor(state) == CHANCE:
            rules.apply_chance(state, 0)
            todo.append((state, triggers, ships))
        elif state.phase == rules.ACT:
            done.append((state, triggers, ships))
        elif state.phase == rules.OWNER_PICK:
            colour = faces.NAMES[state.face[state.which]]
            assert state.decider == OWNERS[int(state.face[state.which]) - faces.BOAR_0]
            assert GAME.legal(state) == [rules.PICK_0 + 1, rules.PICK_0 + 2, rules.PICK_0 + 3]
            before = state.have[state.decider].tolist()
            step = copied(state)
            rules.apply_action(step, rules.PICK_0 + 3)
            assert step.have[state.decider].tolist() == [*before[:3], before[3] + 3]
            # the owner's glory is taken back, so that only the roller's gain is left
            step.have[state.decider, 3] -= 3
            todo.append((step, (*triggers, colour), ships))
        elif state.phase == rules.SHIP_BUY:
            todo.append((GAME.after(state, rules.NO), triggers, (*ships, 2 * int(state.multiplier))))
        else:
            todo += [(GAME.after(state, code), triggers, ships) for code in GAME.legal(state)]
    return done


def found(state, seat=0):
    result = set()
    for end, triggers, ships in endings(state):
        assert all(tuple(end.have[other]) == START for other in range(3) if other != seat)
        gained = tuple(int(n) for n in end.have[seat] - START)
        result.add((gained, tuple(sorted(Counter(triggers).items())), ships))
    return result


def bless(state, seat, mode=rules.PLAIN):
    rules.push(state, rules.DIVINE, seat + 4 * mode)
    return state


ALL_PAIRS = list(combinations_with_replacement(TESTED, 2))
PAIRS = ALL_PAIRS[::5] if INTERPRETED else ALL_PAIRS
MODES = {"plain": rules.PLAIN, "sentinel": rules.TO_GLORY_SHARDS}


@pytest.mark.parametrize("sight", SIGHTS, ids=range(3))
@pytest.mark.parametrize("mode", MODES)
def test_divine_blessing_of_every_pair(mode, sight):
    for pair in PAIRS:
        for order in (pair, pair[::-1]):
            state = bless(table(order, sight), 0, MODES[mode])
            assert found(state) == reference.outcomes(order, sight, order, mode), order


@pytest.mark.parametrize("mode", ["plain", "cyclops"])
@pytest.mark.parametrize("die", [0, 1])
def test_minor_blessing_of_every_face(mode, die):
    for face in TESTED:
        for sight in SIGHTS:
            own = ("V3", face) if die else (face, "V3")
            state = table(own, sight)
            rules.push(state, rules.MINOR, die + 4 * (rules.TO_GLORY_GOLD if mode == "cyclops" else rules.PLAIN))
            assert found(state) == reference.outcomes((face, "-"), sight, own, mode), face


def test_satyrs_of_every_pair():
    """The mover picks two of four dice: any two, resolved as his own, but no own die is looked at (A8)."""
    for pair in PAIRS:
        sight = (*pair, "G3", "G3")
        expected = set()
        for i in range(4):
            for j in range(i + 1, 4):
                expected |= reference.outcomes((sight[i], sight[j]), sight, (None, None))
        state = table(("V3", "V3"), sight)
        state.card[3] = cards.SATYRS
        rules.push(state, rules.TAKE_CARD, 3)
        assert found(state) == expected, pair


def test_minotaur_of_every_pair():
    for pair in PAIRS:
        for sight in SIGHTS:
            state = table(pair, sight, mover=2)
            rules.push(state, rules.RESOLVE, 0 + 16 * rules.LOSS)
            rules.push_rolls(state, 0)
            assert found(state) == reference.outcomes(pair, sight, pair, "minotaur"), pair


def test_cerberus_repeats_every_pair():
    """With the same faces, choices anew; the second time no token is asked for."""
    sight = SIGHTS[0]
    for pair in PAIRS:
        once = reference.outcomes(pair, sight, pair)
        twice = set(once)
        for gain, triggers, ships in once:
            for gain_2, triggers_2, ships_2 in once:
                both = Counter(dict(triggers)) + Counter(dict(triggers_2))
                twice.add((reference.plus(gain, gain_2), tuple(sorted(both.items())), ships + ships_2))
        state = table(pair, sight)
        for seat in range(3):
            state.chests[seat] = 12  # room for two gains
        state.cerberi[0] = 2
        bless(state, 0)
        ends = endings(copied(state))
        assert {int(end.cerberi[0]) for end, _, _ in ends} == {1, 2}
        assert found(state) == twice, pair
