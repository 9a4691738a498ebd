"""The compact solution says what the solver says: every win probability to half a step, every position where the graph has it."""

import re
import zlib

import numpy as np
import pytest

from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever.adviser import Adviser
from sims.rulesets.dice_fever.compact import BONUSES, LAST, STEP, compact
from sims.rulesets.dice_fever.turns import position_code

DICE_FEVER = RULESETS["dice-fever"]
PLAIN = "plain,target=20"
DUELS = "plain,target=20,parade_cards=1,risk_cards=1,risk_faces=DUEL/RELANCE/X2"
BONUS = "standard,target=20,parade_cards=1,risk_cards=1"
VARIANTS = [
    PLAIN,
    pytest.param(DUELS, marks=pytest.mark.skipif(INTERPRETED, reason="solving takes minutes in plain Python")),
    pytest.param("standard", marks=pytest.mark.long),
]


@pytest.fixture(scope="module")
def advisers(tmp_path_factory):
    """Advisers by variant; `standard` from the user's own cache, the others from one of this module's own."""
    made, folder = {}, tmp_path_factory.mktemp("cache")

    def adviser(variant):
        if variant not in made:
            made[variant] = Adviser(DICE_FEVER, variant)
            with pytest.MonkeyPatch.context() as patch:
                if variant != "standard":
                    patch.setattr("sims.rulesets.dice_fever.exact.user_cache_path", lambda name: folder)
                assert made[variant].solution
        return made[variant]

    return adviser


def unpacked(small):
    """The numbers of every block, read back as compact.pack says they are written."""
    data = np.frombuffer(zlib.decompress(small.table), np.uint8).astype(np.int64)
    codes = data[: len(data) // 2] + 256 * data[len(data) // 2 :]
    moves = np.where(codes % 2 == 1, -(codes + 1) // 2, codes // 2)
    at, found = 0, {}
    for *where, rows, columns in small.facts["blocks"]:
        part = moves[at : at + rows * columns].reshape(rows, columns)
        found[tuple(where)] = part.cumsum(axis=1).cumsum(axis=0) * small.facts["step"]
        at += rows * columns
    assert at == len(moves)
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_start_of_a_turn_is_within_half_a_step(advisers, variant):
    solved, small = advisers(variant).solution, compact(advisers(variant))
    assert STEP / 2 <= 0.0005
    frame, n_starts = solved.frame, 0
    for (start, token, hand, other, low_row, low_column), win in unpacked(small).items():
        lowest, highest = frame.bounds(hand, other)
        scores = slice(lowest - solved.low, highest - solved.low + 1)
        if start == LAST:
            exact = solved.last_turn[token, other, hand, : len(win), scores]
            assert low_row + len(win) - 1 == highest + solved.graph.points.max()  # the most that the leader can have
        else:
            exact = solved.win[start, token, hand, other, scores, scores]
            n_starts += win.size
        assert (low_row, low_column) == (frame.target if start == LAST else lowest, lowest)
        assert np.abs(win - exact).max() <= STEP / 2 + 1e-12
        assert exact.min() >= 0  # unsolved positions are -1
        assert exact.max() <= 1
    bounds = [frame.bounds(hand, other) for hand in range(frame.hands) for other in range(frame.hands)]
    n_last_turns = (frame.top - frame.target + 1) * sum(highest - lowest + 1 for lowest, highest in bounds)
    assert n_starts + n_last_turns == solved.states


@pytest.mark.parametrize("variant", VARIANTS[:2])
def test_every_position_of_a_turn_is_listed_or_refused_in_the_same_words(advisers, variant):
    adviser = advisers(variant)
    facts = compact(adviser).facts
    listed, shields_and_none = facts["positions"], facts["cards"][0] + 1
    rng = np.random.default_rng(3)
    for place in rng.choice(len(listed["node"]), 400, replace=False):
        rest, shields = divmod(int(place), shields_and_none)
        rest, status = divmod(rest, len(BONUSES))
        double_score, mask = divmod(rest, 64)
        track = tuple(value for value in range(1, 7) if mask >> (value - 1) & 1)
        asked = track, shields, *BONUSES[status], bool(double_score)
        if (number := listed["refused"][place]) >= 0:
            with pytest.raises(InputError, match=re.escape(listed["messages"][number])):
                adviser.position(*asked)
            assert listed["node"][place] == listed["node_under_relance"][place] == -1
            continue
        position = adviser.position(*asked)
        for token, name in enumerate(("node", "node_under_relance")):
            position.tokens[0] = token << 1
            assert listed[name][place] == adviser.solution.graph.node_of.get(position_code(position), -1)
