"""Invariants under random play, exact facts by enumeration and by simulation, and jitted against plain Python."""

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

from sims import simulate, trace
from sims.jit import INTERPRETED
from sims.ruleset import CHANCE, OVER, copied
from sims.rulesets import RULESETS
from sims.rulesets.dice_forge import cards, faces, rules

GAME = RULESETS["dice-forge"]
GAMES = 60 if INTERPRETED else 40_000


# --- invariants -------------------------------------------------------------------------------------------------------------


def check(state, before):
    seats = int(state.seats)
    assert (state.have >= 0).all()
    for seat in range(seats):
        for resource in range(3):
            assert state.have[seat, resource] <= rules.cap(state, seat, resource)
    islands = [island for island in state.island if island]
    assert len(islands) == len(set(islands))
    assert (state.stock >= 0).all()
    assert (state.left >= 0).all()
    gone = int(before.stock.sum() - state.stock.sum())  # bought, so forged, or just about to be
    assert gone - sum(state.forged) == (state.phase == rules.SLOT)
    assert 12 * (4 - seats) + state.dice[:seats].size + state.stock.sum() + gone + (40 + 20 - before.stock.sum()) == 108
    assert (state.left.sum() + state.owned.sum()) + (4 - seats) * 15 + 9 * 4 == 96
    assert (state.score == state.from_dice + state.from_feats + state.from_effects + state.from_hammer).all()
    assert (state.score[:seats] == state.have[:seats, faces.GLORY] + state.owned[:seats] @ cards.PRINTED_GLORY).all()
    assert (state.tritons >= 0).all()
    assert (state.tritons <= state.owned[:, cards.TRITON]).all()
    assert (state.cerberi >= 0).all()
    assert (state.cerberi <= state.owned[:, cards.CERBERUS]).all()
    assert (state.hammered <= 30 * state.hammers).all()
    assert 0 <= state.n_tasks <= rules.STACK


@pytest.mark.parametrize("layout", ["basic", "alternate", "random"])
def test_invariants_of_random_play(layout):
    for seed in range(4 if INTERPRETED else 10):
        rng = random.Random(seed)
        state = GAME.new_state(rng.randint(2, 4), f"standard,layout={layout}")
        before, phases = None, set()
        while rules.actor(state) != OVER:
            if rules.actor(state) == CHANCE:
                rules.apply_chance(state, rng.randrange(int(rules.chance(state))))
            else:
                rules.apply_action(state, rng.choice(GAME.legal(state)))
            if state.phase in (rules.DRAW_LAYOUT, rules.DRAW_POOL):
                continue
            before = before if before is not None else copied(state)
            phases.add(int(state.phase))
            check(state, before)
        assert len(phases) > 5


def test_tokens_are_spent_once():
    """A token of Triton or Cerberus is gone after its use."""
    spent = Counter()
    for seed in range(6 if INTERPRETED else 12):
        rng = random.Random(seed)
        state = GAME.new_state(2, "published,layout=alternate")
        state.tritons[:2] = state.cerberi[:2] = 1
        state.owned[:2, [cards.TRITON, cards.CERBERUS]] = 1
        while rules.actor(state) != OVER:
            if rules.actor(state) == CHANCE:
                rules.apply_chance(state, rng.randrange(int(rules.chance(state))))
                continue
            seat, phase, code = int(state.decider), int(state.phase), rng.choice(GAME.legal(state))
            tokens = int(state.tritons[seat]), int(state.cerberi[seat])
            rules.apply_action(state, code)
            if rules.TRITON_0 <= code < rules.PICK_0:
                spent["triton"] += 1
                assert state.tritons[seat] == tokens[0] - 1
            elif phase == rules.REPEAT and code == rules.YES:
                spent["cerberus"] += 1
                assert state.cerberi[seat] == tokens[1] - 1
    assert spent["triton"] > 5
    assert spent["cerberus"] > 5


@pytest.mark.parametrize("layout", ["basic", "alternate"])
def test_jitted_and_plain_games_are_the_same(layout):
    for deal in range(3):
        keys = {"variant": f"published,layout={layout}", "seed": 5, "deal": deal}
        specs = ["uniform"] * (2 + deal)
        assert trace("dice-forge", specs, **keys) == trace("dice-forge", specs, **keys, interpreted=True)


# --- exact facts ------------------------------------------------------------------------------------------------------------


def test_one_blessing_of_the_starting_dice():
    mean = np.zeros(4)
    for one, two in product(range(6), range(6)):
        mean += faces.AMOUNT[faces.START_DICE[0, one]] + faces.AMOUNT[faces.START_DICE[1, two]]
    assert (mean / 36).tolist() == pytest.approx([1.5, 1 / 6, 1 / 6, 1 / 3])


def first_gold(seats):
    """The exact distribution of the first seat's gold before it acts, by walking through all outcomes of its dice."""
    odds = Counter()
    start = GAME.new_state(seats, "published,layout=basic")
    while start.phase != rules.ROLL:
        rules.apply_chance(start, 0)
    todo = Counter({start.tobytes(): Fraction(1)})
    while todo:
        key, weight = todo.popitem()
        state = np.frombuffer(bytearray(key), np.dtype((np.record, GAME.state)))[0]
        if rules.actor(state) != CHANCE:
            odds[int(state.have[0, 0]) - 3] += weight
            continue
        n = 6 if state.turn == 0 else 1  # what others roll does not matter
        for outcome in range(n):
            todo[GAME.after(state, outcome).tobytes()] += weight / n
    return odds


def test_first_round_gold():
    assert first_gold(4) == first_gold(3) == {0: Fraction(1, 18), 1: Fraction(7, 18), 2: Fraction(10, 18)}
    once, twice = first_gold(3), Counter()
    for (one, p), (two, q) in product(once.items(), once.items()):
        twice[one + two] += p * q
    assert first_gold(2) == twice


def passing(n):
    """The distribution of the glory of who always passes: two for each of n rolls that shows V2."""
    return {2 * k: math.comb(n, k) * 5 ** (n - k) / 6**n for k in range(n + 1)}


def test_passing_by_enumeration():
    two = passing(36)
    mean = sum(score * p for score, p in two.items())
    assert mean == pytest.approx(12)
    assert math.sqrt(sum((score - mean) ** 2 * p for score, p in two.items())) == pytest.approx(4.472, abs=5e-4)
    assert two[0] == pytest.approx(0.00141, abs=5e-6)
    assert max(two, key=two.get) == 12
    tie = sum(p * p for p in two.values())
    assert tie == pytest.approx(0.12645, abs=5e-6)
    assert (1 - tie) / 2 == pytest.approx(0.43678, abs=5e-6)
    assert sum(max(a, b) * p * q for a, p in two.items() for b, q in two.items()) == pytest.approx(14.500, abs=5e-4)
    three = passing(30)
    assert sum(score * p for score, p in three.items()) == pytest.approx(10)
    assert math.sqrt(sum((score - 10) ** 2 * p for score, p in three.items())) == pytest.approx(4.082, abs=5e-4)


@pytest.mark.parametrize("seats, rolls", [(2, 36), (3, 30), (4, 36)])
def test_passing_by_simulation(seats, rolls, tmp_path):
    """Mean, spread, ties and the best score within five standard errors."""
    simulate("dice-forge", ["pass_only"] * seats, GAMES, seed=1, variant="published", n_jobs=1, rows=tmp_path, progress=False)
    rows = pd.read_parquet(tmp_path)
    odds = passing(rolls)
    mean, sd = rolls / 3, 2 * math.sqrt(rolls * 5 / 36)
    scores, n = rows.score, len(rows)
    assert abs(scores.mean() - mean) < 5 * sd / math.sqrt(n)
    fourth = sum((score - mean) ** 4 * p for score, p in odds.items())
    assert abs(((scores - mean) ** 2).mean() - sd**2) < 5 * math.sqrt((fourth - sd**4) / n)
    for score, p in odds.items():
        assert abs((scores == score).mean() - p) <= 5 * math.sqrt(p * (1 - p) / n) + 5 / n
    if seats == 2:
        games = rows.pivot(index=["deal", "rotation"], columns="seat", values="score")
        tie = sum(p * p for p in odds.values())
        assert abs((games[0] == games[1]).mean() - tie) < 5 * math.sqrt(tie * (1 - tie) / len(games))
        best = games.max(axis=1)
        assert abs(best.mean() - 14.500) < 5 * best.std() / math.sqrt(len(games))
