"""Rules that fit on a card: they do what their words say."""

import itertools

import numpy as np
import pytest

from sims.rulesets import RULESETS
from sims.rulesets.dice_fever import readable, rules
from sims.rulesets.dice_fever.evaluation import regret
from sims.rulesets.dice_fever.readable import RULES, answer, lines, rule_1, rule_3, rule_7

DICE_FEVER = RULESETS["dice-fever"]
TRACKS = [track for n in range(1, 6) for track in itertools.combinations(range(1, 7), n)]


def position(track, scores=(0, 0), shields=0, variant="standard", **fields):
    """Seat 0 decides STOP or throw."""
    state = DICE_FEVER.new_state(len(scores), variant)
    state.phase, state.shields = rules.DECIDE, shields
    state.track = sum(int(rules.bit(value)) for value in track)
    state.score[: len(scores)] = scores
    for name, value in fields.items():
        state[name] = value
    return state


def cards(rule, scores, hand):
    """What the rule commits at the start of seat 0's turn, as (PARADE, RISK)."""
    state = DICE_FEVER.new_state(2, "standard")
    state.score[:2] = scores
    state.parade[0], state.risk[0] = hand
    n = len(DICE_FEVER.legal(state))
    action = rule.function(state, np.array(DICE_FEVER.legal(state), np.int32), n, rule.params, np.zeros(4, np.uint64))
    assert action in DICE_FEVER.legal(state)
    return divmod(int(action) - rules.CARDS, 2)


def test_the_rules_have_as_many_lines_as_their_names_say():
    assert [len(lines(rule)) for rule in RULES] == [1, 3, 7]
    assert [rule.spec for rule in RULES] == ["rule_1", "rule_3", "rule_7"]
    assert lines(rule_1) == ("A shield left? Throw. None left? STOP once your dice are worth 8 or more.",)


def test_words_follow_the_parameters():
    rule = rule_1(by="dice", stop=3, goal=1, chase=60, chase_stop=4, lead=20, lead_stop=2, relance=2)
    assert lines(rule) == (
        "A shield left? Throw. None left? STOP once you have 3 dice.",
        "STOP as soon as that takes you to the target with a 6.",
        "Under a Relance: STOP once you have 2 dice.",
        "Behind someone with 60 points or more: STOP only once you have 4 dice.",
        "20 points ahead of everybody: STOP once you have 2 dice.",
    )
    assert lines(rule_1(parade=2, hold=30, rest=60, threat=66))[1:] == (
        "Keep your cards until you have 30 points; then play 2 PARADE and a RISK in a turn.",
        "Keep what is left after the first time until you have 60 points.",
        "Someone else has 66 points: play your cards at once.",
    )
    assert lines(rule_1(dice=4))[1:] == ("No shield left and 4 dice: STOP, whatever they are worth.",)
    assert lines(rule_1(parade=2, hold=1))[1:] == (
        "Keep your cards until you have points; then play 2 PARADE and a RISK in a turn.",
    )
    assert lines(rule_1(parade=2))[1:] == ("Play 2 PARADE and a RISK in a turn.",)
    assert lines(rule_1(parade=0, hold=30, rest=60, threat=66))[1:] == ("Play no cards.",)


@pytest.mark.parametrize("track", TRACKS)
def test_rule_1_goes_by_the_worth_of_the_dice(track):
    assert answer(rule_1, position(track)) == (rules.STOP if sum(track) >= 8 else rules.THROW)
    assert answer(rule_1, position(track, shields=1)) == rules.THROW


def test_worth_points_and_dice():
    track = {"track": (1, 2), "tripled_value": 2, "mult": 2, "extra": 5, "bonus_face": rules.PLUS5}  # worth 7, 19 points, 2 dice
    for by, amount in (("worth", 7), ("points", 19), ("dice", 2)):
        assert answer(rule_1(by=by, stop=amount), position(**track)) == rules.STOP
        assert answer(rule_1(by=by, stop=amount + 1), position(**track)) == rules.THROW


def test_so_many_dice_are_enough_whatever_they_are_worth():
    rule = rule_1(dice=3)
    assert answer(rule, position((1, 2))) == rules.THROW
    assert answer(rule, position((1, 2, 3))) == rules.STOP  # worth 6
    assert answer(rule, position((2, 6))) == rules.STOP  # worth 8
    assert answer(rule, position((1, 2, 3), shields=1)) == rules.THROW
    assert answer(rule, position((1, 2, 3), scores=(72, 0))) == rules.THROW  # STOP would be OUT: no 6


def test_what_goes_without_saying():
    assert answer(rule_1, position((4, 5), scores=(70, 0))) == rules.THROW  # STOP would be OUT: no 6
    last = {"turn": 1, "last_round": 1, "validated": (1, 0, 0, 0, 0, 0)}
    assert answer(rule_1, position((4, 6), scores=(80, 60), **last)) == rules.THROW  # STOP would lose
    assert answer(rule_1, position((6,), scores=(80, 75), **last)) == rules.STOP  # STOP wins at once
    assert answer(rule_1, position((6,), scores=(81, 75), shields=1, **last)) == rules.THROW  # only a tie
    first_of_three = position((6,), scores=(75, 0, 0))
    assert answer(rule_1, first_of_three) == rules.THROW  # at the target, but the others still have a turn


def test_each_line_of_stop_or_throw():
    assert answer(rule_1(goal=1), position((6,), scores=(75, 0), shields=1)) == rules.STOP
    assert answer(rule_1(goal=1), position((6,), scores=(60, 0))) == rules.THROW
    behind, level = position((4, 5), scores=(30, 40)), position((4, 5), scores=(40, 40))
    assert [answer(rule_1(chase=40), state) for state in (behind, level)] == [rules.THROW, rules.STOP]
    ahead, close = position((3, 4), scores=(40, 16)), position((3, 4), scores=(40, 17))
    assert [answer(rule_1(lead=24), state) for state in (ahead, close)] == [rules.STOP, rules.THROW]
    against = position((1, 4), tokens=(2, 0, 0, 0, 0, 0))
    assert [answer(rule, against) for rule in (rule_1, rule_1(relance=5))] == [rules.THROW, rules.STOP]


def test_each_line_of_the_cards():
    two = rule_1(parade=2, hold=32, rest=60, threat=66)
    assert cards(rule_1(parade=0, threat=50), (0, 60), (3, 2)) == (0, 0)
    assert cards(two, (31, 0), (3, 2)) == (0, 0)
    assert cards(two, (32, 0), (3, 2)) == (2, 1)
    assert cards(two, (59, 0), (1, 1)) == (0, 0)
    assert cards(two, (60, 0), (1, 1)) == (1, 1)
    assert cards(two, (0, 66), (3, 2)) == (2, 1)
    assert cards(two, (0, 66), (0, 1)) == (0, 1)
    assert cards(two, (60, 0), (0, 1)) == (0, 0)
    assert [cards(rule_1, (0, 0), hand) for hand in ((3, 2), (3, 0), (0, 2))] == [(1, 1), (1, 0), (0, 0)]


@pytest.mark.long
@pytest.mark.parametrize("rule, first, second", [(rule_1, 0.4359, 0.4939), (rule_3, 0.4443, 0.5082), (rule_7, 0.4481, 0.5097)])
def test_what_the_rules_win_against_best_play(rule, first, second):
    found = regret("dice-fever", rule)
    np.testing.assert_allclose(found.win, [first, second], rtol=0, atol=5e-5)


def test_module_lists_its_rules():
    assert [DICE_FEVER.policies[rule.name] for rule in readable.RULES] == list(RULES)
