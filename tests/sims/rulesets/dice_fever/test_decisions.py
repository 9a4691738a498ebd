"""Decisions in many positions at once: the same as one by one, and what they come down to on tables made by hand."""

import numpy as np
import pandas as pd
import pytest

from sims import RULESETS
from sims.jit import INTERPRETED
from sims.rulesets.dice_fever import exact, rules
from sims.rulesets.dice_fever.decisions import POSITION, card_worth, decisions, thresholds
from sims.rulesets.dice_fever.odds import Turn, best_threshold
from sims.rulesets.dice_fever.turns import TURN_FIELDS

FEVER = RULESETS["dice-fever"]
VARIANTS = {
    "bonus": "standard,target=20,parade_cards=1,max_risk_per_turn=0",
    "risk": "standard,target=12,parade_cards=1,risk_cards=1,risk_faces=X2/DUEL/SIX",
}
VARIANTS = {"plain": "plain,target=8"} if INTERPRETED else VARIANTS


@pytest.fixture(scope="module", params=VARIANTS)
def solved(request):
    return exact.solve(FEVER, VARIANTS[request.param], progress=False)


@pytest.fixture(scope="module")
def positions():
    """More than any of the variants has."""
    return Turn(FEVER, "plain,parade_cards=1" if INTERPRETED else "standard,parade_cards=2").table()


def hands(solved):
    return [solved.frame.cards(hand) for hand in range(solved.frame.hands)]


def state_of(solved, row, seat, cards, their_cards):
    """The position of a row, set into the game field by field."""
    turn, state = Turn(FEVER, solved.variant), FEVER.new_state(2, solved.variant)
    position = turn.position(tuple(map(int, row.track)), row.shields, row.bonus, row.tripled)
    for name in ("six", *TURN_FIELDS):
        state[name] = position[name]
    spent = turn.spent(row.dice, row.bonus, row.tripled, False) or 0
    state.turn, other = seat, 1 - seat
    state.score[seat], state.score[other] = row.mine, row.theirs
    state.parade[seat], state.parade[other] = cards[0] - row.shields - spent, their_cards[0]
    state.risk[seat], state.risk[other] = cards[1], their_cards[1]
    if turn.used_risk(row.dice, row.bonus, row.tripled, False):
        state.risk[seat] -= 1
    return state


@pytest.mark.parametrize("seat", [0, 1])
def test_the_same_as_position_by_position(solved, positions, seat):
    rng = np.random.default_rng(seat)
    for cards in hands(solved):
        their_cards = hands(solved)[rng.integers(solved.frame.hands)]
        low, high = solved.frame.bounds(solved.frame.hand(*cards), solved.frame.hand(*their_cards))
        scores = rng.integers(low, high + 1, (40, 2))  # more than there are lanes
        table = decisions(solved, positions, scores, seat, cards, their_cards)
        assert len(table) % 40 == 0
        for row in table.sample(12, random_state=seat).itertuples():
            state = state_of(solved, row, seat, cards, their_cards)
            options = solved.options(state)
            assert (row.stop, row.throw) == pytest.approx((options[rules.STOP], options[rules.THROW]), abs=1e-12)
            assert row.gain == row.throw - row.stop
            assert row.points == rules.stop_points(state)
            assert row.is_out == bool(rules.lacks_six(state, rules.stop_points(state), state.track))


def test_every_position_that_the_hand_allows_and_no_other(solved, positions):
    full = hands(solved)[-1]
    own = Turn(FEVER, solved.variant).table()
    own = own[own.dice < 6]
    for cards in ((0, 0), full):
        table = decisions(solved, positions, np.array([[0, 0]]), cards=cards)
        allowed = [row for row in own.itertuples() if np.all(np.less_equal(_cost(solved, row), cards))]
        assert set(table[POSITION].itertuples(index=False, name=None)) == {row[1:6] for row in allowed}
        assert len(table) == len(allowed)


def _cost(solved, row):
    """PARADE and RISK cards that a position needs."""
    turn = Turn(FEVER, solved.variant)
    spent = turn.spent(row.dice, row.bonus, row.tripled, False) or 0
    return row.shields + spent, int(turn.used_risk(row.dice, row.bonus, row.tripled, False))


def test_a_stop_that_is_out_is_worth_the_same_on_every_track(solved, positions):
    table = decisions(solved, positions, np.array([[solved.frame.target - 1, 3]]))
    out = table[table.is_out & (table.shields == 0) & (table.bonus == "none")]
    assert len(out) > 10
    np.testing.assert_allclose(out.stop, out.stop.iloc[0], rtol=0, atol=1e-14)
    assert (out.gain > 0).all()


def test_the_best_threshold_has_the_smallest_regret():
    points, gain = pd.Series([3, 6, 7, 8, 12]), pd.Series([0.2, 0.1, -0.1, 0.3, -0.4])
    assert best_threshold(points, gain) == 9
    assert best_threshold(points, gain.where(points != 8, 0.05)) == 7
    assert best_threshold(points, gain.where(points != 8, 0.1)) == 7  # as good from 9: the lower one


def test_thresholds_of_groups():
    rows = [("1", 3, 0.2, 0), ("2", 6, 0.1, 0), ("3", 7, -0.1, 0), ("4", 8, 0.05, 0), ("5", 12, -0.4, 0)]
    table = pd.DataFrame(rows, columns=["track", "points", "gain", "shields"]).assign(mine=0, theirs=5, is_out=False)
    shield = pd.DataFrame([("6", 20, 0.9, 1)], columns=["track", "points", "gain", "shields"])
    out = pd.DataFrame([("7", 20, 0.9, 0)], columns=["track", "points", "gain", "shields"])
    table = pd.concat([table, shield.assign(mine=0, theirs=5, is_out=False), out.assign(mine=0, theirs=5, is_out=True)])
    other = table.assign(mine=9, gain=-table.gain)
    (first, second) = thresholds(pd.concat([other, table]), ["mine", "theirs"]).itertuples(index=False)
    assert first[:5] == (0, 5, 7, 5, 1)
    assert (first.regret, first.largest) == pytest.approx((0.01, 0.05))
    assert (second.mine, second.theirs) == (9, 5)


def test_card_worth(solved):
    table, full = card_worth(solved, 3, 5), hands(solved)[-1]
    assert list(table[["parade", "risk"]].itertuples(index=False, name=None)) == hands(solved)
    for row in table.itertuples():
        values = []
        for me, they in ((0, 1), (1, 0)):
            state = FEVER.new_state(2, solved.variant)
            state.score[me], state.score[they] = 3, 5
            (state.parade[me], state.risk[me]), (state.parade[they], state.risk[they]) = (row.parade, row.risk), full
            rules.start_turn(state, 0)
            values.append(solved.win_probability(state, me))
        assert (row.first, row.second, row.mean) == pytest.approx((*values, np.mean(values)), abs=1e-12)


def test_the_last_card_of_each_kind(solved):
    table = card_worth(solved)
    mean = table.set_index(["parade", "risk"])["mean"]
    for row in table.itertuples():
        for worth, fewer in ((row.one_parade, (row.parade - 1, row.risk)), (row.one_risk, (row.parade, row.risk - 1))):
            assert np.isnan(worth) if min(fewer) < 0 else worth == pytest.approx(row.mean - mean[fewer]) and worth > 0
    assert mean.iloc[-1] == pytest.approx(0.5)
