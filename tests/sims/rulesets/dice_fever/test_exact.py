"""The exact odds of a turn against a small independent recursion, hand-checked positions, and simulation."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever.exact import Turn, mean_of_best_play, points_rule, sample_table

GAME = RULESETS["dice-fever"]


@cache
def best(track):
    """Value of a plain track under best play for points."""
    if len(track) == 6:
        return Fraction(31)
    return max(Fraction(sum(track)), throw(track))


@cache
def throw(track):
    return sum((best(track | {v}) for v in range(1, 7) if v not in track), Fraction(0)) / 6


def test_plain_odds_equal_an_independent_recursion():
    table = Turn(GAME, "plain").table()
    assert len(table) == 63
    for row in table[table.dice < 6].itertuples():
        track = frozenset(map(int, row.track))
        assert row.stop == sum(track)
        assert row.p_out == pytest.approx(len(track) / 6)
        assert row.throw == pytest.approx(float(throw(track)))


@pytest.fixture(scope="module")
def standard():
    turn = Turn(GAME, "standard")
    return turn, turn.table()


def test_table_covers_every_track_and_shield(standard):
    _, table = standard
    assert table.groupby(["track", "shields"]).ngroups == 63 * 4


def test_hand_checked_positions(standard):
    turn, _ = standard
    five = turn.odds(turn.position((1, 2, 3, 4, 5), bonus="plus5"))
    assert (five.p_out, five.stop, five.throw) == pytest.approx((5 / 6, 20, 36 / 6))
    double = turn.odds(turn.position((1, 2, 3, 4), bonus="double"))
    assert double.p_out == pytest.approx(4 / 9)
    x3 = turn.odds(turn.position((1, 2, 3, 4), bonus="x3"))
    assert x3.throw == pytest.approx((25 + 28) / 6)
    assert turn.odds(turn.position((1, 2), shields=1)).p_out == 0
    doubled = turn.odds(turn.position((1, 2, 3, 4), bonus="plus5", double_score=True))
    assert doubled.stop == 25


def test_the_rule_is_best_play_in_every_position(standard):
    threshold, wrong = points_rule(standard[1])
    assert threshold == 7
    assert wrong.empty


def test_more_shields_never_hurt(standard):
    means = [mean_of_best_play(standard[0], shields) for shields in range(4)]
    assert means == sorted(means)


@pytest.mark.skipif(INTERPRETED, reason="millions of throws")
def test_simulation_agrees(standard):
    checked = sample_table(*standard, n=5_000, seed=1)
    assert np.abs(checked[["z_out", "z_throw"]]).max().max() < 5
    assert (checked.z_throw != 0).sum() > 100


@pytest.mark.parametrize(
    "position",
    [
        {"track": ()},
        {"track": (1, 1)},
        {"track": (0,)},
        {"track": (1,), "shields": 4},
        {"track": (1,), "bonus": "plus5"},
        {"track": (1, 2, 3, 4)},
        {"track": (1, 2, 3, 4), "bonus": "x3-used", "tripled": 4},
        {"track": (1, 2, 3, 4, 5), "bonus": "x3", "tripled": 5},
    ],
    ids=str,
)
def test_impossible_positions_are_refused(position, standard):
    with pytest.raises(InputError):
        standard[0].position(**position)
