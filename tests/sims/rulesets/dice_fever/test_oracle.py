"""Random games in lockstep: rules.py against reference.py, an independent implementation of the specification."""

import importlib.util
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sims import RULESETS
from sims.jit import INTERPRETED
from sims.ruleset import CHANCE, OVER
from sims.rulesets.dice_fever import rules, values_of

FEVER = RULESETS["dice-fever"]
MAX_STEPS = 20_000
SPEC = importlib.util.spec_from_file_location("dice_fever_reference", Path(__file__).with_name("reference.py"))
REFERENCE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(REFERENCE)

RANGES = {  # what a drawn variant may have, where it is not any of the choices of the field
    "target": range(5, 60),
    "parade_cards": range(6),
    "risk_cards": range(6),
    "max_risk_per_turn": (0, 1, 1, 1),
    "fever_bonus": range(20),
    "bonus_at": range(1, 7),
    "suite_value": range(15),
    "suite_len": range(1, 7),
    "duel_stake": (0, 1, 5, 20, "difference", "winner_die"),
    "double_dup_parades": range(1, 4),
}
# All of it must have happened, or the comparison says less than it seems to.
WANTED = ["out", "stop", "fever", "X2", "DUEL", "RELANCE", "SIX", "relance used", "1 duplicates", "2 duplicates"]
WANTED += ["no six", "play on", "1 at the top", "2 at the top"]


class Lockstep:
    """Answers what the reference asks, and first makes sure that the rules are in the same position."""

    def __init__(self, seats, variant, rng, p_first=0.1):
        self.state = FEVER.new_state(seats, variant)
        self.game = REFERENCE.Game(seats, variant.values, self.roll, self.choose)
        self.rng, self.p_first, self.steps = rng, p_first, 0

    def roll(self, sides, n):
        """Throw n dice one after the other in the rules."""
        self.compare()
        outcomes = self.rng.integers(sides, size=n).tolist()
        for outcome in outcomes:
            assert rules.actor(self.state) == CHANCE
            assert rules.chance(self.state) == sides
            rules.apply_chance(self.state, outcome)
        return outcomes

    def choose(self, seat, words):
        self.compare()
        assert rules.actor(self.state) == seat
        actions = {FEVER.describe(self.state, action): action for action in FEVER.legal(self.state)}
        assert sorted(actions) == sorted(words)
        if "STOP" in words:
            assert rules.stop_points(self.state) == self.game.points()
        word = words[0] if self.rng.random() < self.p_first else words[self.rng.integers(len(words))]
        rules.apply_action(self.state, actions[word])
        return word

    def compare(self):
        """Scores, cards and validation of every seat; whose dice; the turn, but not in sudden death."""
        state, turn = self.state, self.game.turn
        self.steps += 1
        assert self.steps < MAX_STEPS
        self.compare_players()
        assert state.turn == self.game.thrower
        if not state.sudden_death[0]:
            got = set(values_of(int(state.track))), state.shields, state.mult, state.tripled_value
            assert got == (set(turn.track), turn.shields, turn.mult, turn.tripled)

    def compare_players(self):
        state = self.state
        columns = (state.score, state.parade, state.risk, state.validated)
        got = [tuple(int(column[seat]) for column in columns) for seat in range(state.seats)]
        assert got == [(p.score, p.parade, p.risk, p.validated) for p in self.game.players]

    def play(self):
        """Play one game and return what happened in it."""
        payoffs = self.game.play()
        self.compare_players()
        assert rules.actor(self.state) == OVER
        shares = np.zeros(len(payoffs))
        rules.payoffs(self.state, shares)
        assert shares.tolist() == payoffs
        return self.game.events


def draw_value(name, spec, rng):
    if isinstance(spec.default, tuple):
        return tuple(rng.choice(spec.choices, size=rng.integers(1, 9)).tolist())
    choices = (False, True) if isinstance(spec.default, bool) else RANGES.get(name, spec.choices)
    return choices[rng.integers(len(choices))]


def draw_variant(seed):
    """Draw a variant in which every field may have any value."""
    rng = np.random.default_rng(seed)
    fields = {name: spec for name, spec in FEVER.fields.items() if name != "ply_limit"}
    return FEVER.variant({name: draw_value(name, spec, rng) for name, spec in fields.items()})


def play_games(variant, seed, games):
    """Play games with 2 to 6 seats in lockstep and return what happened in all of them."""
    events = Counter()
    for game in range(2 if INTERPRETED else games):
        events += Lockstep(2 + game % 5, variant, np.random.default_rng([seed, game])).play()
    return events


@pytest.mark.parametrize(
    "variant",
    [
        "standard",
        "plain",
        "even_faces",
        "standard,target=25",
        "even_faces,target=25,relance_mode=forced",
        "even_faces,target=15,last_turn_strict=false,sudden_death=own",
        "even_faces,target=25,parade_after_risk=true,duel_target=left,relance_target=left,sudden_death=share_win",
        "standard,target=25,parade_cards=6,risk_cards=9,risk_faces=SIX/SIX/DUEL,six_partial_bonus=false",
        "standard,target=25,parade_cards=6,risk_cards=9,risk_faces=RELANCE,bonus_at=2,relance_keeps_x3=true",
        "standard,parade_cards=0,risk_cards=9,risk_faces=RELANCE,relance_mode=forced,bonus_at=3,bonus_faces=DOUBLE",
    ],
)
def test_lockstep(variant):
    play_games(FEVER.variant(variant), seed=1, games=20)


@pytest.mark.parametrize("seed", range(14))
def test_lockstep_in_drawn_variants(seed):
    play_games(draw_variant(seed), seed, games=20)


@pytest.mark.skipif(INTERPRETED, reason="takes a few hundred games")
def test_everything_happens_in_short_games():
    events = play_games(FEVER.variant("even_faces,target=8,duel_stake=9"), seed=3, games=200)
    assert [event for event in WANTED if not events[event]] == []


@pytest.mark.parametrize("rule", ["shared", "own", "share_win"])
def test_lockstep_in_sudden_death(rule):
    """One die each and the target 1: whoever throws a 6 is validated, at 6 points."""
    variant, events = FEVER.variant("plain,target=1", sudden_death=rule), Counter()
    for game in range(60):
        events += Lockstep(6, variant, np.random.default_rng(game), p_first=1).play()
    assert min(events["2 at the top"], events["3 at the top"]) > 0


def test_drawn_variants_vary_every_field():
    drawn = [draw_variant(seed).values for seed in range(14)]
    same = [name for name in FEVER.fields if len({values[name] for values in drawn}) == 1]
    assert same == ["ply_limit"]
