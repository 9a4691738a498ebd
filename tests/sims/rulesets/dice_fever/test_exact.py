"""Dice Fever between two solved: its values one step on through the rules, by plain value iteration, and its file."""

import numpy as np
import pytest

from sims import RULESETS
from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.ruleset import CHANCE, OVER
from sims.rulesets.dice_fever import exact, rules, turns

FEVER = RULESETS["dice-fever"]
compiled_only = pytest.mark.skipif(INTERPRETED, reason="to solve a variant with cards takes minutes in plain Python")
SMALL = "plain,target=8" if INTERPRETED else "plain"
WITH_CARDS = "standard,target=12,parade_cards=1,risk_cards=1"


def after(state, code):
    copy = state.copy()
    step = rules.apply_chance if rules.actor(state) == CHANCE else rules.apply_action
    step(copy, int(code))
    return copy


def solved(variant):
    """A solution that keeps the graph with which it was solved, so that it need not be walked again."""
    variant = FEVER.variant(variant)
    graph = turns.turn_graph(FEVER, variant)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "turn_graph", lambda *_: graph)
        solution = exact.solve(FEVER, variant, progress=False)
        assert solution.graph is graph
    return solution


@pytest.fixture(scope="module")
def plain():
    return solved(SMALL)


@pytest.fixture(scope="module")
def with_cards():
    return solved(WITH_CARDS)


@pytest.fixture(params=["plain", pytest.param("with_cards", marks=compiled_only)])
def solution(request):
    return request.getfixturevalue(request.param)


# --- the value of the game --------------------------------------------------------------------------------------------------

# As the solver gave them when each of its parts agreed with the rules one step on; those of small targets also agree with the
# value iteration below.
FIRST_SEAT = {
    "plain": 0.4750463435,
    "standard": 0.4658763619,
    WITH_CARDS: 0.454835287376,
    "standard,target=20,parade_cards=1,risk_cards=1": 0.448644556555,
}


@compiled_only
def test_first_seat_of_plain(plain):
    assert plain.first_seat_win == pytest.approx(FIRST_SEAT["plain"], abs=1e-10)


@compiled_only
def test_first_seat_with_a_card_of_each_kind(with_cards):
    assert with_cards.first_seat_win == pytest.approx(FIRST_SEAT[WITH_CARDS], abs=1e-11)


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize("variant", list(FIRST_SEAT)[:0:-2])
def test_first_seat_of_larger_variants(variant):
    assert solved(variant).first_seat_win == pytest.approx(FIRST_SEAT[variant], abs=1e-10)


# --- what must hold in every table ------------------------------------------------------------------------------------------


def layers(solution):
    """The positions that can occur: own hand, other hand, values by token (where one can lie), other score and own score."""
    frame = solution.frame
    for seat, own, other in np.ndindex(2, frame.hands, frame.hands):
        low, high = frame.bounds(own, other)
        scores = slice(low - frame.low, high + 1 - frame.low)
        tokens = 2 if exact.RELANCE in frame.faces and frame.cards(other)[1] < frame.risk else 1
        yield seat, own, other, solution.win[seat, :tokens, own, other, scores, scores]


def test_values_are_probabilities(solution):
    for *_, values in layers(solution):
        assert np.all((values > 0) & (values < 1))
    assert np.all((solution.last_turn >= 0) & (solution.last_turn < 1))


def test_a_relance_token_never_helps_the_player_it_lies_against(solution):
    for *_, values in layers(solution):
        assert np.all(values[-1] <= values[0] + 1e-12)


def test_more_points_never_hurt(solution):
    """Not even just under the target, where a turn without a 6 is OUT: no exception was found, in `plain` for any target."""
    for *_, values in layers(solution):
        assert np.all(np.diff(values, axis=2) >= -1e-12)
        assert np.all(np.diff(values, axis=1) <= 1e-12)


def test_points_are_worth_the_same_where_every_turn_must_end_with_the_6():
    """Up to a target of 6 the only way to win is a 6, and it is enough."""
    values = [solved(f"plain,target={target}").first_seat_win for target in (1, 2, 6)]
    np.testing.assert_allclose(values, values[0], rtol=0, atol=1e-14)


def test_more_cards_never_hurt(solution):
    """An own hand with one card more is worth as much or more, one of the opponent's as much or less."""
    frame, tables = solution.frame, {tuple(key): values for *key, values in layers(solution)}
    for (seat, own, other), values in tables.items():
        for larger in (hand for hand in range(frame.hands) if holds_one_more(frame, hand, own)):
            low, high = frame.bounds(larger, other)
            inner = slice(low - frame.bounds(own, other)[0], high + 1 - frame.bounds(own, other)[0])
            more = tables[seat, larger, other]
            assert np.all(more >= values[: len(more), inner, inner] - 1e-12)
        for larger in (hand for hand in range(frame.hands) if holds_one_more(frame, hand, other)):
            low, high = frame.bounds(own, larger)
            inner = slice(low - frame.bounds(own, other)[0], high + 1 - frame.bounds(own, other)[0])
            assert np.all(tables[seat, own, larger][0] <= values[0, inner, inner] + 1e-12)


def holds_one_more(frame, larger, hand):
    return sorted(np.subtract(frame.cards(larger), frame.cards(hand)).tolist()) == [0, 1]


def test_the_first_position(solution):
    state = FEVER.new_state(2, solution.variant)
    assert solution.win_probability(state) == solution.at_start(state) == solution.first_seat_win
    assert solution.win_probability(state, 1) == 1 - solution.first_seat_win


# --- one step on through the rules ------------------------------------------------------------------------------------------


def positions(variant, each, games, seed=1):
    """Positions of random play: so many of each phase, in and before a last turn, and of one whose leader was pulled back."""
    rng, kept, seen = np.random.default_rng(seed), {}, set()
    for _ in range(games):
        state = FEVER.new_state(2, variant)
        while (who := rules.actor(state)) != OVER:
            last = bool(state.last_round)
            kind = int(state.phase), last, last and bool(state.score[0] < state.variant.target)
            of_kind = kept.setdefault(kind, [])
            if len(of_kind) < each and state.tobytes() not in seen:
                seen.add(state.tobytes())
                of_kind.append(state)
            state = after(state, rng.choice(rules.chance(state) if who == CHANCE else FEVER.legal(state)))
    return [state for kind in sorted(kept) for state in kept[kind]]


def test_values_agree_with_one_step_on(plain):
    check_one_step_on(plain, positions(plain.variant, each=10, games=100))


SWITCHED = {  # every field switched, several at a time
    "sudden death": "plain,target=9,sudden_death=own,fever_bonus=0",
    "late parade": "standard,target=8,parade_cards=1,risk_cards=1,duel_stake=difference,parade_after_risk=true,"
    "relance_keeps_x3=true,bonus_at=3,bonus_faces=X3/DOUBLE/SUITE,suite_check=immediate,suite_len=3,sudden_death=share_win",
    "forced": "standard,target=6,parade_cards=2,risk_cards=1,duel_stake=winner_die,double_forced=true,double_dup_parades=2,"
    "six_partial_bonus=false,relance_mode=forced,last_turn_strict=false",
    "no bonus": "standard,target=10,parade_cards=1,risk_cards=2,duel_stake=3,bonus_die=false,risk_faces=DUEL/RELANCE",
    "no risk": "standard,target=20,parade_cards=2,max_risk_per_turn=0,bonus_at=3,bonus_faces=SUITE/PLUS5,suite_value=3",
    "kept x3": "standard,target=6,parade_cards=1,risk_cards=1,relance_mode=forced,relance_keeps_x3=true,bonus_at=3,"
    "parade_after_risk=true,bonus_faces=X3/PLUS5,risk_faces=X2/RELANCE/SIX",
}


@compiled_only
@pytest.mark.parametrize("variant", [WITH_CARDS, *SWITCHED.values()], ids=["defaults", *SWITCHED])
def test_values_agree_with_one_step_on_where_fields_are_switched(variant, request):
    solution = request.getfixturevalue("with_cards") if variant == WITH_CARDS else solved(variant)
    check_one_step_on(solution, positions(solution.variant, each=3, games=150))


def check_one_step_on(solution, states):
    """The value of each position is the mean of those one step on, or the best of them; `best_cards` is a best option."""
    known = {}  # of all these positions, so that no turn is valued twice
    for state in states:
        who, value = rules.actor(state), solution._first_seat(state, known)
        codes = range(rules.chance(state)) if who == CHANCE else FEVER.legal(state)
        one_step_on = [solution._first_seat(after(state, code), known) for code in codes]
        expected = np.mean(one_step_on) if who == CHANCE else max(one_step_on) if who == 0 else min(one_step_on)
        assert value == pytest.approx(expected, abs=1e-9), FEVER.render(state)
        if state.phase == rules.COMMIT:
            assert one_step_on[codes.index(solution.best_cards(state))] == pytest.approx(value, abs=1e-9)
