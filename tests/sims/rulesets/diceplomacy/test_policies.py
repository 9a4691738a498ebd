"""The policies, line by line of the README, each asked with what its seat sees."""

import random

import numpy as np
import pytest

from sims import RULESETS, simulate
from sims.jit import INTERPRETED
from sims.policy import load_policy
from sims.ruleset import CHANCE, MAX_ACTIONS, OVER
from sims.rulesets.diceplomacy import rules
from sims.trace import follow

GAME = RULESETS["diceplomacy"]
FIRST = "standard,first_player=first_seat"


def table(dice, *pairs, score=(), known=(), words=""):
    """The first turn of seat 0 with these dice, allied pairs, victories and known dice; then what was said."""
    state = follow(GAME, GAME.new_state(len(dice), FIRST), " ".join(map(str, dice)))
    for one, two in pairs:
        state.ally[one], state.ally[two] = two, one
    for seat, n in enumerate(score):
        state.score[seat] = n
    for seat in known:
        state.known[seat] = state.die[seat]
    return follow(GAME, state, words)


def answer(spec, state, stream=None):
    """What a policy says in the seat that must decide."""
    who, each = rules.actor(state), load_policy(GAME, spec)
    view, actions = GAME.new_state(int(state.seats), FIRST), np.zeros(MAX_ACTIONS, np.int32)
    rules.observe(state, who, view)
    n = rules.legal_actions(state, actions)
    stream = np.array([1, 2, 3, 1], np.uint64) if stream is None else stream
    with np.errstate(over="ignore"):
        return GAME.describe(state, each.function(view, actions, n, each.params, stream))


def answers(spec, state, n=400):
    """How often each word is said, in n decisions with one stream."""
    stream = np.array([1, 2, 3, 1], np.uint64)
    words = [answer(spec, state, stream) for _ in range(n)]
    return {word: words.count(word) for word in sorted(set(words))}


def is_about(count, n, p):
    return abs(count - n * p) < 5 * (n * p * (1 - p)) ** 0.5


def test_uniform_says_everything():
    found = answers("uniform", table([3] * 4), 800)
    assert sorted(found) == sorted(["REFORM", "TREATY", "WAR1", "WAR2", "WAR3", "PROPOSE1", "PROPOSE2", "PROPOSE3"])
    assert all(is_about(count, 800, 1 / 8) for count in found.values())


# --- cautious -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("die, word", [(1, "REFORM"), (4, "REFORM"), (5, "WAR1"), (6, "WAR1")])
def test_cautious_reforms_below_5(die, word):
    assert answer("cautious", table([die, 1, 1, 1])) == word
    assert answer("cautious:4", table([4, 1, 1, 1])) == "WAR1"


def test_cautious_attacks_the_best_target():
    assert answer("cautious", table([5, 6, 5, 3], known=[1, 2, 3])) == "WAR3"
    assert answer("cautious", table([5, 1, 1, 6], (1, 2), known=[3])) == "WAR1"  # 1/6 beats the sure defeat by seat 3


def test_cautious_answers():
    assert answer("cautious", table([1, 6, 1, 1], words="PROPOSE1")) == "REFUSE"
    assert answer("cautious", table([6, 1, 1, 1], known=[0], words="WAR1")) == "FIGHT"
    for die, word in ((4, "DECLINE"), (5, "JOIN")):
        assert answer("cautious", table([1, 1, 1, die], (0, 1), words="WAR2 ASK3")) == word
    assert answer("cautious", table([1, 1, 1, 1], (0, 1), words="WAR2")) == "ASK3"


# --- threshold ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec, die, attacks",
    [
        ("threshold", 4, False),
        ("threshold", 5, True),
        ("threshold:0.5", 4, True),
        ("threshold:0.5", 3, False),
        ("threshold:0.7", 5, False),
    ],
)
def test_threshold_attacks_from_a_chance_on(spec, die, attacks):
    """A duel is won with (k - 1) / 6; exactly `attack` is enough."""
    assert (answer(spec, table([die, 1, 1, 1])) == "WAR1") == attacks


def test_threshold_attacks_the_easiest_target_the_next_on_ties():
    assert answer("threshold", table([5, 6, 3, 1], known=[1, 2, 3])) == "WAR2"
    assert answer("threshold", table([5, 1, 1, 1], (1, 2))) == "WAR3"
    assert answer("threshold", table([5, 1, 1, 5, 1], words="TREATY REFORM 1 REFORM 1")) == "WAR4"


def test_threshold_counts_its_ally():
    assert answer("threshold", table([2, 1, 1, 1], (0, 1))) == "WAR2"  # 26/36
    assert answer("threshold", table([1, 1, 1, 1], (0, 1))) == "REFORM"  # 21/36
    assert answer("threshold", table([3, 1, 1, 1], (0, 1), (2, 3))) == "REFORM"
    assert answer("threshold", table([5, 1, 1, 1], (0, 1), (2, 3))) == "WAR2"  # 5/8


def test_threshold_does_not_attack_its_ally():
    """A sure duel, but the ally's; the others are a sure defeat."""
    assert answer("threshold", table([6, 1, 6, 6], (0, 1), (2, 3), known=[1, 2, 3])) == "REFORM"


def test_threshold_proposes_to_any_unallied_seat_or_reforms():
    found = answers("threshold", table([1] * 6, (2, 3)), 600)
    assert sorted(found) == ["PROPOSE1", "PROPOSE4", "PROPOSE5", "REFORM"]
    assert is_about(found["REFORM"], 600, 1 / 2)
    assert all(is_about(found[word], 600, 1 / 6) for word in found if word != "REFORM")


def test_threshold_reforms_if_nobody_is_free():
    assert answers("threshold", table([1] * 5, (1, 2), (3, 4)), 50) == {"REFORM": 50}
    three = table([1] * 4)
    rules.eliminate(three, 2)
    assert answers("threshold", three, 50) == {"REFORM": 50}


def test_threshold_accepts_if_unallied():
    assert answer("threshold", table([1] * 4, words="PROPOSE1")) == "ACCEPT"
    assert answer("threshold", table([1] * 4, (1, 2), words="PROPOSE1")) == "REFUSE"


def test_threshold_without_allies():
    loner = "threshold:0.6,ally=0"
    assert answers(loner, table([1] * 4), 50) == {"REFORM": 50}
    assert answer(loner, table([1] * 4, words="PROPOSE1")) == "REFUSE"
    assert answer(loner, table([5, 1, 1, 1])) == answer("threshold", table([5, 1, 1, 1])) == "WAR1"
    assert answer(loner, table([1] * 6, (0, 1), (4, 5), words="WAR2")) == "ASK4"


def test_threshold_asks_the_strongest_party():
    assert answer("threshold", table([1] * 6, (0, 1), (4, 5), words="WAR2")) == "ASK4"
    assert answer("threshold", table([1, 1, 1, 1, 4, 3], (0, 1), known=[3, 4, 5], words="WAR2")) == "ASK4"
    assert answer("threshold", table([1, 1, 1, 3, 3, 1], (0, 1), known=[3], words="WAR2")) == "ASK4"  # 3.5 is more than 3


@pytest.mark.parametrize("help, die, joins", [(0.6, 3, False), (0.6, 4, True), (0.5, 3, True), (0.5, 2, False)])
def test_threshold_helps_from_a_chance_on(help, die, joins):
    """Two dice of the attackers against the own one and the defender's: all cases counted."""
    wins = sum(a + b <= die + c for a in range(1, 7) for b in range(1, 7) for c in range(1, 7)) / 216
    state = table([1, 1, 1, die], (0, 1), words="WAR2 ASK3")
    assert (wins >= help) == joins
    assert (answer(f"threshold:help={help}", state) == "JOIN") == joins


@pytest.mark.parametrize("spec, die, gives_up", [
    ("threshold", 1, True), ("threshold", 2, False), ("threshold:surrender=0.4", 2, True),
    ("threshold:surrender=0", 1, False), ("threshold:surrender=0.5", 3, False),
])  # fmt: skip
def test_threshold_surrenders_below_a_chance(spec, die, gives_up):
    """A defender with a die k wins a duel with k / 6."""
    assert (answer(spec, table([6, die, 1, 1], words="WAR1")) == "SURRENDER") == gives_up


def test_threshold_surrenders_as_attacker_too():
    assert answer("threshold", table([6, 6, 1, 1], known=[1], words="WAR1 FIGHT")) == "SURRENDER"
    assert answer("threshold", table([6, 5, 1, 1], known=[1], words="WAR1 FIGHT")) == "FIGHT"


# --- hunter ---------------------------------------------------------------------------------------------------------------


def test_hunter_prefers_a_known_low_die():
    assert answer("hunter", table([6, 1, 1, 3], known=[3])) == "WAR3"
    assert answer("hunter", table([6, 1, 2, 3], known=[1, 2, 3])) == "WAR1"  # all are sure, so the next
    assert answer("hunter", table([5, 1, 1, 4], known=[3])) == "WAR3"  # 4 is not low, but a sure victory
    assert answer("hunter", table([6, 1, 1, 1, 5], (1, 2), known=[4])) == "WAR4"


def test_hunter_prefers_who_has_no_ally():
    state = table([6, 1, 1, 5, 5], (1, 2), known=[1, 2, 3, 4])
    assert answer("hunter:0.1", state) == "WAR1"  # 6 against 1 + 1, but a known low die
    assert answer("hunter:0.1", table([6, 4, 1, 5, 5], (1, 2), known=[1, 2, 3, 4])) == "WAR2"


def test_hunter_fears_each_party_that_could_help():
    """Two against one with a die 2 wins 26/36 = .722: enough with one party (.65) or two (.70), not with three (.75)."""
    assert answer("hunter", table([2] * 4, (0, 1))) == "WAR2"
    assert answer("hunter", table([2] * 5, (0, 1))) == "WAR2"
    assert answer("hunter", table([2] * 6, (0, 1))) == "REFORM"
    assert answer("hunter", table([2] * 7, (0, 1), (3, 4))) == "REFORM"  # a pair is one party: seats 5, 6 and the pair
    assert answer("hunter", table([2] * 6, (0, 1), (3, 4))) == "WAR2"
    assert answer("hunter:step=0.01", table([2] * 6, (0, 1))) == "WAR2"


def test_hunter_fears_nobody_alone_or_against_a_pair():
    assert answer("hunter", table([5] * 8)) == "WAR1"
    assert answer("hunter", table([6] * 8, (0, 1), (2, 3), (4, 5), (6, 7))) == "WAR2"  # .741 and no help against it


def test_hunter_answers_as_threshold():
    for state in (table([1] * 4, words="PROPOSE1"), table([6, 1, 1, 1], words="WAR1"), table([1] * 4, (0, 1), words="WAR2")):
        assert answer("hunter", state) == answer("threshold", state)


# --- kingmaker ------------------------------------------------------------------------------------------------------------


def test_kingmaker_hits_who_has_victories():
    assert answer("kingmaker", table([5] * 4)) == "WAR1"
    assert answer("kingmaker:0.5", table([4] * 4)) == "WAR1"  # exactly `attack` is enough
    assert answer("kingmaker:0.5", table([3] * 4)) != "WAR1"
    assert answer("kingmaker", table([5] * 4, score=(0, 0, 2, 1))) == "WAR2"
    assert answer("kingmaker", table([6, 3, 1, 1], score=(0, 0, 0, 1), known=[1])) == "WAR1"  # 1 v .833 + .1
    assert answer("kingmaker:weight=0.3", table([6, 3, 1, 1], score=(0, 0, 0, 1), known=[1])) == "WAR3"


def test_kingmaker_counts_the_victories_of_a_pair():
    assert answer("kingmaker:0.2,weight=1", table([6] * 4, (2, 3), score=(0, 1, 1, 1))) == "WAR2"


def test_kingmaker_signs_the_treaty_against_a_pair_at_two_each():
    assert answer("kingmaker", table([5] * 4, (1, 2), score=(0, 2, 2, 0))) == "TREATY"
    assert answer("kingmaker", table([5] * 4, (1, 2), score=(0, 2, 1, 0))) != "TREATY"
    assert answer("kingmaker", table([5] * 4, score=(0, 2, 2, 0))) == "WAR1"
    assert answer("kingmaker", table([5] * 4, (1, 2), score=(2, 2, 2, 0))) == "WAR3"  # it wins itself
    assert answer("kingmaker", table([4] * 4, (1, 2), score=(2, 2, 2, 0))) == "TREATY"


def test_kingmaker_does_not_crown_its_ally():
    assert answer("kingmaker", table([3, 1, 1, 1], (0, 1), score=(1, 1))) == "WAR2"
    assert answer("kingmaker", table([3, 1, 1, 1], (0, 1), score=(1, 2))) == "REFORM"
    assert answer("kingmaker", table([5, 1, 1, 1], (0, 1), score=(1, 2))) == "WAR1"  # rather against the ally, 4/6
    assert answer("kingmaker", table([3, 1, 1, 1], (0, 1), score=(2, 2))) == "WAR2"


def test_kingmaker_makes_no_alliance_with_who_is_close():
    assert answer("kingmaker", table([1] * 4, score=(2,), words="PROPOSE1")) == "REFUSE"
    assert answer("kingmaker", table([1] * 4, score=(1,), words="PROPOSE1")) == "ACCEPT"
    assert answer("kingmaker", table([1] * 4, (1, 2), words="PROPOSE1")) == "REFUSE"
    assert "PROPOSE2" not in answers("kingmaker", table([1] * 4, score=(0, 0, 2, 1)), 100)
    assert "PROPOSE2" in answers("kingmaker", table([1] * 4, score=(0, 0, 1, 1)), 100)


def test_kingmaker_neither_helps_nor_asks_who_is_close():
    dice, words = [1, 1, 1, 6], "WAR2 ASK3"
    assert answer("kingmaker:help=0", table(dice, (0, 1), score=(0, 0, 1, 0), words=words)) == "JOIN"
    assert answer("kingmaker:help=0", table(dice, (0, 1), score=(0, 0, 2, 0), words=words)) == "DECLINE"
    assert answer("kingmaker:help=0", table(dice, (0, 1), score=(0, 0, 2, 2), words=words)) == "JOIN"
    assert answer("kingmaker", table(dice, (0, 1), score=(0, 0, 1, 2), words="WAR2")) == "ALONE"
    assert answer("kingmaker", table(dice, (0, 1), score=(0, 0, 2, 2), words="WAR2")) == "ASK3"
    assert answer("kingmaker", table([1] * 6, (0, 1), (3, 4), score=(0, 0, 1, 0, 2), words="WAR2")) == "ASK5"


# --- inference ------------------------------------------------------------------------------------------------------------


def test_inference_without_evidence_is_kingmaker():
    """Over whole random games, word by word."""
    decisions = 0
    for seed in range(1 if INTERPRETED else 8):
        rng, state = random.Random(seed), GAME.new_state(4 + seed % 5)
        while (who := rules.actor(state)) != OVER:
            if who != CHANCE:
                assert answer("inference:0.6,war=0,fight=0,keep=0", state) == answer("kingmaker:0.6", state)
                decisions += 1
            GAME.advance(state, rng.choice(range(rules.chance(state)) if who == CHANCE else GAME.legal(state)))
    assert decisions > 20


def test_inference_believes_an_attacker():
    """With a die 2 a defender wins a duel with 1/3 against a fair die, with less against one that attacks."""
    state = table([6, 2, 1, 1], words="WAR1")
    assert answer("inference:war=0,fight=0,keep=0", state) == "FIGHT"
    assert answer("inference:war=3,fight=0,keep=0", state) == "SURRENDER"


def test_inference_believes_who_does_not_surrender():
    state = table([5, 1, 1, 1], words="WAR1 FIGHT")
    assert answer("inference:surrender=0.5,war=0,fight=0", state) == "FIGHT"
    assert answer("inference:surrender=0.5,war=0,fight=3", state) == "SURRENDER"


def test_inference_avoids_who_keeps_the_die():
    """Seat 1 has passed twice, seat 2 has just rolled again."""
    state = table([5, 1, 1, 1], words="TREATY TREATY REFORM 1 REFORM 1 REFORM 5 TREATY REFORM 1 REFORM 1")
    assert answer("inference:keep=0", state) == "WAR1"
    assert answer("inference:keep=1", state) == "WAR2"
    assert answer("inference:keep=-1", state) == "WAR1"


# --- in play --------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(INTERPRETED, reason="thousands of games")
@pytest.mark.parametrize("spec", ["threshold:0.6", "hunter:0.6", "kingmaker:0.6", "inference:0.6", "cautious:5"])
@pytest.mark.parametrize("n", [4, 8])
def test_each_plan_beats_random_play(spec, n):
    games = n * 500
    table = simulate("diceplomacy", [spec] + ["uniform"] * (n - 1), games, n_jobs=1, progress=False)
    row = table[(table.measure == "payoff") & (table.policy == spec) & table.seat.isna()].iloc[0]
    mean = row.total / row.deals
    stderr = ((row.squares / row.deals - mean**2) / row.deals) ** 0.5
    assert mean - 5 * stderr > 1  # of n games, one per seating
