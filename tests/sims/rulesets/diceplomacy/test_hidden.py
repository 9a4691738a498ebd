"""What is hidden stays hidden: other dice, drawn anew, change no view and no decision of any policy."""

import random
from functools import cache

import numpy as np
import pytest

from sims import RULESETS, policy
from sims.jit import INTERPRETED, ask, jit, players
from sims.policy import load_policy
from sims.ruleset import CHANCE, MAX_ACTIONS, OVER, observed
from sims.rulesets.diceplomacy import rules
from sims.simulate import set_table
from sims.streams import open_deal

GAME = RULESETS["diceplomacy"]
SPECS = list(dict.fromkeys([*GAME.named_policies, *(each.spec for each in GAME.policies.values())]))
VARIANTS = ("standard", "standard,show_to_ally=true", "standard,help_protocol=volunteers,loser_rerolls=true")
GAMES = 1 if INTERPRETED else 6


@policy
def peek(view, actions, n, params, rng):
    """Betray all dice that the view shows, as far as the number of actions lets it."""
    total = 0
    for seat in range(view.seats):
        total = 7 * total + view.die[seat]
    return actions[total % n]


@jit
def decision(player, state, who, view, n):
    """What the loop does at a decision node."""
    return ask(player, observed(state, who, view), n)


ACTIONS, STREAM = np.zeros(MAX_ACTIONS, np.int32), np.zeros((1, 4), np.uint64)


@cache
def callers():
    """Every policy, and as the loop wants it, with ACTIONS and STREAM."""
    loaded = [load_policy(GAME, spec) for spec in [*SPECS, peek]]
    return [(each, players([each], GAME.state, ACTIONS, STREAM)[0, 0]) for each in loaded]


def positions(seats, variant, seed):
    """The decision nodes of a random game."""
    rng, state = random.Random(seed), GAME.new_state(seats, variant)
    while (who := rules.actor(state)) != OVER:
        if who != CHANCE:
            yield state, who
        GAME.advance(state, rng.choice(range(rules.chance(state)) if who == CHANCE else GAME.legal(state)))


def is_visible(state, seat, other):
    """Written from the specification: own, known, or shown to the ally."""
    shown = state.variant.show_to_ally and state.ally[seat] == other
    return bool(other == seat or state.known[other] or shown or not state.alive[other])


def redrawn(state, seat, rng):
    """The position with other dice wherever this seat sees none."""
    twin = state.copy()
    for other in range(state.seats):
        if not is_visible(state, seat, other):
            twin.die[other] = rng.choice([value for value in range(1, 7) if value != state.die[other]])
    return twin


def buffer(state, byte):
    """A view full of what another seat might have left there."""
    return np.frombuffer(bytes([byte]) * state.nbytes, GAME.state).copy().view(np.recarray)[0]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seats", [4, 6, 8])
def test_hidden_dice_change_no_decision(seats, variant):
    rng = random.Random(seats)
    phases = set()
    for state, who in (each for seed in range(GAMES) for each in positions(seats, variant, seed)):
        twin, n = redrawn(state, who, rng), rules.legal_actions(state, ACTIONS)
        assert twin.tobytes() != state.tobytes() or all(is_visible(state, who, other) for other in range(seats))
        for each, player in callers():
            answers = set()
            for position, byte in ((state, 0), (twin, 255)):
                STREAM[:] = 1, 2, 3, 1
                with np.errstate(over="ignore"):
                    answers.add(int(decision(player, position, who, buffer(state, byte), n)))
            assert len(answers) == 1, each.spec
        phases.add(int(state.phase))
    assert phases >= {rules.MAIN, rules.ANSWER, rules.VOTE}


def test_the_test_can_fail():
    """The same policy asked with the state itself, not with a view, betrays the dice."""
    rng, actions, changed = random.Random(0), np.zeros(MAX_ACTIONS, np.int32), 0
    for state, who in positions(4, "standard", 1):
        n = rules.legal_actions(state, actions)
        twin = redrawn(state, who, rng)
        changed += peek.function(state, actions, n, peek.params, None) != peek.function(twin, actions, n, peek.params, None)
    assert changed > 10


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seats", range(4, 9))
def test_view_is_the_state_without_the_hidden_dice(seats, variant):
    """Every byte of the view follows from what the seat may know: nothing is left of what the view held before."""
    rng = random.Random(seats)
    for state, _who in positions(seats, variant, seats):
        for seat in range(seats):
            one, two = buffer(state, 0), buffer(state, 255)
            rules.observe(state, seat, one)
            rules.observe(redrawn(state, seat, rng), seat, two)
            assert one.tobytes() == two.tobytes()
            expected = state.copy()
            for other in range(seats):
                expected.die[other] = state.die[other] if is_visible(state, seat, other) else 0
            assert one.tobytes() == expected.tobytes()


@pytest.mark.parametrize("interpreted", [False, True])
def test_the_loop_asks_with_views(interpreted):
    """A whole game of peeking policies goes on as if all hidden dice were 0."""
    table = set_table(GAME, [peek] * 5, interpreted=interpreted)
    play, _ = table.kernels()
    arguments, log = table.arguments(), np.zeros(100_000, np.int64)
    _, _, _, dice, minds, actions = arguments
    with np.errstate(over="ignore"):
        open_deal(dice, minds, np.uint64(3), 0)
        _, _, steps = play(*arguments, 0, log, None, None)
    state, decisions = GAME.new_state(5), 0
    for code in log[: min(steps, 400)]:
        who = rules.actor(state)
        if who >= 0:
            n, total = rules.legal_actions(state, actions), 0
            for other in range(5):
                total = 7 * total + (state.die[other] if is_visible(state, who, other) else 0)
            assert code == actions[total % n]
            decisions += 1
        GAME.advance(state, int(code))
    assert decisions > 20
