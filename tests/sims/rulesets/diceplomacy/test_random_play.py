"""Random games: against the oracle of ``reference.py``, step by step under every variant; and what always holds."""

import importlib.util
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sims import RULESETS, simulate
from sims.jit import INTERPRETED
from sims.ruleset import CHANCE, OVER
from sims.rulesets.diceplomacy import rules

GAME = RULESETS["diceplomacy"]
SWITCHES = {
    "null_treaty": [True, False],
    "first_player": ["random", "first_seat"],
    "max_helping_parties": [1, 0, 2, 6],
    "helping_pair_consent": ["both", "asked_one"],
    "help_protocol": ["sequential", "volunteers"],
    "surrender_order": ["defenders", "attackers", "none"],
    "loser_rerolls": [False, True],
    "refused_breaks": [True, False],
    "tiebreak_die": ["before", "after"],
}
GAMES = 8 if INTERPRETED else 100


def load_reference():
    spec = importlib.util.spec_from_file_location("reference", Path(__file__).with_name("reference.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = load_reference()


def question(state):
    """What the rules ask, in the words of the reference."""
    who = int(rules.actor(state))
    if who != CHANCE:
        return "choose", who, [GAME.describe(state, action) for action in GAME.legal(state)]
    return ("first",) if state.turn == -1 else ("roll", int(state.turn))


def code_of(asked, choice, state):
    """The outcome or action that is this choice."""
    if asked[0] == "roll":
        return choice - 1
    if asked[0] == "first":
        return choice
    return next(action for action in GAME.legal(state) if GAME.describe(state, action) == choice)


def table_of(state):
    """The public counters and the dice, in the words of the specification."""
    seats = range(int(state.seats))
    ally = [None if state.ally[seat] == seat else int(state.ally[seat]) for seat in seats]
    rows = [state[name][: state.seats].tolist() for name in ("die", "score", "defeats", "known")]
    return [*rows, [not state.alive[seat] for seat in seats], ally]


@pytest.mark.parametrize("n", range(4, 9))
def test_games_equal_the_reference(n):
    for seed in range(GAMES):
        play_side_by_side(n, random.Random(seed))


def play_side_by_side(n, rng):
    variant = {name: rng.choice([values[0], rng.choice(values)]) for name, values in SWITCHES.items()}
    eager = rng.random()  # how often a choice is a war, help or a pact: uniform play alone has few wars of pairs
    story = REFERENCE.play(n, variant)
    table, state = next(story), GAME.new_state(n, variant)
    asked = next(story)
    while True:
        assert question(state) == asked
        assert table_of(state) == [table.die, table.V, table.D, table.known, table.out, table.ally]
        if asked[0] == "choose":
            keen = [word for word in asked[2] if word[:3] in ("WAR", "ASK", "JOI", "ACC", "PRO")]
            choice = rng.choice(keen if keen and rng.random() < eager else asked[2])
        else:
            choice = rng.randint(1, 6) if asked[0] == "roll" else rng.randrange(n)
        GAME.advance(state, code_of(asked, choice, state))
        try:
            asked = story.send(choice)
        except StopIteration as end:
            winners = end.value
            break
    assert rules.actor(state) == OVER
    shares = np.zeros(n)
    rules.payoffs(state, shares)
    np.testing.assert_allclose(shares, [1 / len(winners) if seat in winners else 0 for seat in range(n)])


# --- what always holds ----------------------------------------------------------------------------------------------------


def check_table(state, n):
    seats = range(n)
    alive = [seat for seat in seats if state.alive[seat]]
    assert state.n_alive == len(alive) > 0
    for seat in seats:
        ally = int(state.ally[seat])
        assert state.ally[ally] == seat
        assert ally == seat or len(alive) > 3
        assert ally == seat or ally in alive
        assert 0 <= state.score[seat] <= 3
        assert 0 <= state.defeats[seat] <= 3
        assert state.known[seat] in (0, state.die[seat])
        if seat in alive:
            assert state.die[seat] > 0 or state.turns.sum() == 0
        else:
            assert (state.die[seat], state.defeats[seat], state.eliminated[seat]) == (0, 3, 1)


@pytest.mark.parametrize("n", range(4, 9))
def test_what_always_holds(n):
    for seed in range(2 if INTERPRETED else 20):
        rng, state = random.Random(seed), GAME.new_state(n)
        while (who := rules.actor(state)) != OVER:
            check_table(state, n)
            GAME.advance(state, rng.choice(range(rules.chance(state)) if who == CHANCE else GAME.legal(state)))
        assert state.wars.sum() <= 2 * n + 1
        assert state.wars.sum() == state.attacked.sum()
        assert (state.conquests <= state.wars).all()
        assert (state.attacked_known <= state.attacked).all()
        assert (state.losses == state.hit_next + state.spared).all()
        assert state.joint.sum() >= 2 * state.pair_ends.sum() + 3 * state.trio_ends.sum()
        assert state.winner.sum() >= 1


@pytest.mark.parametrize("n", [4, 6, 8])
def test_at_most_2n_plus_1_wars(n):
    table = simulate("diceplomacy", ["uniform"] * n, games=n * (6 if INTERPRETED else 2_000), n_jobs=1, progress=False)
    wars = table[(table.measure == "wars") & table.policy.isna() & table.seat.isna()].iloc[0]
    assert 0 < wars.total <= (2 * n + 1) * wars.deals


def test_ply_limit_truncates():
    """Who never attacks never ends the game (R33)."""
    table = simulate("diceplomacy", [reforms_for_ever] * 4, games=4, variant="standard,ply_limit=50", n_jobs=1, progress=False)
    assert (table.truncated == table.games).all()
    assert table[table.measure == "payoff"].total.eq(0).all()


def reforms_for_ever(view, actions, n, params, rng):
    """Reform."""
    return actions[0]


def test_interpreted_games_are_the_same(tmp_path):
    specs = ["uniform", "cautious:5", "threshold:0.6", "hunter:0.6", "kingmaker:0.6", "inference:0.6"]
    for variant in ("standard", "standard,help_protocol=volunteers,show_to_ally=true,helping_pair_consent=asked_one"):
        tables = [
            simulate("diceplomacy", specs, games=12, variant=variant, seed=3, n_jobs=1, progress=False, interpreted=interpreted)
            for interpreted in (False, True)
        ]
        pd.testing.assert_frame_equal(*tables, check_exact=True)
