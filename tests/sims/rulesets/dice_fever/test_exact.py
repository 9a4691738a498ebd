"""Dice Fever between two solved: its values one step on through the rules, by plain value iteration, and its file."""

from dataclasses import replace

import numpy as np
import pytest

from sims import RULESETS
from sims import exact as any_game
from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.ruleset import CHANCE, OVER
from sims.rulesets.dice_fever import exact, rules, solver, sweeps, turns
from sims.trace import follow

FEVER = RULESETS["dice-fever"]
compiled_only = pytest.mark.skipif(INTERPRETED, reason="to solve a variant with cards takes minutes in plain Python")
SMALL = "plain,target=8" if INTERPRETED else "plain"
WITH_CARDS = "standard,target=12,parade_cards=1,risk_cards=1"


after = FEVER.after


def solved(variant):
    return exact.solve(FEVER, variant, progress=False)


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

# As the solver gave them; the tests one step on and the value iteration below say why it can be believed.
FIRST_SEAT = {
    "plain": 0.4750463435,
    "standard": 0.4658822189,
    WITH_CARDS: 0.454836955388,
    "standard,target=20,parade_cards=1,risk_cards=1": 0.448654206385,
}


@compiled_only
def test_first_seat_of_plain(plain):
    assert plain.first_seat_win == pytest.approx(FIRST_SEAT["plain"], abs=1e-10)


@compiled_only
def test_first_seat_with_a_card_of_each_kind(with_cards):
    assert with_cards.first_seat_win == pytest.approx(FIRST_SEAT[WITH_CARDS], abs=1e-11)


@compiled_only
@pytest.mark.long
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
        tokens = 2 if sweeps.RELANCE in frame.faces and frame.cards(other)[1] < frame.risk else 1
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
            pulled = last and bool(state.score[0] < state.variant.target)
            kind = int(state.phase), last, pulled, bool(state.tokens[state.turn]), bool(state.track)
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
@pytest.mark.parametrize(
    "variant", [WITH_CARDS, *(pytest.param(v, marks=pytest.mark.long) for v in SWITCHED.values())], ids=["defaults", *SWITCHED]
)
def test_values_agree_with_one_step_on_where_fields_are_switched(variant, request):
    solution = request.getfixturevalue("with_cards") if variant == WITH_CARDS else solved(variant)
    check_one_step_on(solution, positions(solution.variant, each=1, games=300))


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


@compiled_only
def test_the_last_turn_after_a_duel_of_the_last_card_pulled_the_leader_back():
    solution = solved("standard,target=6,parade_cards=0,risk_cards=1,bonus_die=false,risk_faces=DUEL")
    state = follow(FEVER, FEVER.new_state(2, solution.variant), "P0 6 STOP P0R DUEL 6 1")
    assert state.score[0] < 6
    assert solution.win_probability(state) == pytest.approx(0.230967869445, abs=1e-11)
    check_one_step_on(solution, [state])


# --- plain value iteration --------------------------------------------------------------------------------------------------

COUNTED = ("turns", "stops", "outs", "fevers", "points", "parried", "duels", "relances")


def value_by_iteration(variant):
    """Seat 0's chance, by walking through every position and taking means, best and worst until nothing changes."""
    first = FEVER.new_state(2, variant)
    number, states, followers = {}, [], []

    def place(state):
        for name in COUNTED:
            state[name] = 0
        if rules.actor(state) == OVER:
            shares = np.zeros(2)
            rules.payoffs(state, shares)
            state = np.array([shares[0]])
        key = state.tobytes()
        if key not in number:
            number[key] = len(states)
            states.append(state)
        return number[key]

    place(first)
    for state in states:  # grows while it is read
        codes = () if state.shape else range(rules.chance(state)) if rules.actor(state) == CHANCE else FEVER.legal(state)
        followers.append([place(after(state, code)) for code in codes])
    values = np.array([state[0] if state.shape else 0.5 for state in states])
    who = np.array([OVER if state.shape else rules.actor(state) for state in states])
    groups = [(who == code, np.array([f for f, w in zip(followers, who, strict=True) if w == code])) for code in (CHANCE, 0, 1)]
    change = 1.0
    while change > 1e-13:
        before = values.copy()
        for (rows, next_), best in zip(groups, (np.mean, np.max, np.min), strict=True):
            values[rows] = best(before[next_], axis=1)
        change = np.abs(values - before).max()
    return values[0]


@compiled_only
def test_the_solver_of_any_game_agrees():
    """It searches whole games through the rules, knows nothing of turns, and is checked against brute force itself."""
    variant = FEVER.variant("plain,target=12")
    assert any_game.solve(FEVER, variant).first_seat_win == pytest.approx(solved(variant).first_seat_win, abs=1e-9)


@pytest.mark.long
def test_plain_value_iteration():
    variant = FEVER.variant("plain,target=2")
    assert value_by_iteration(variant) == pytest.approx(solved(variant).first_seat_win, abs=1e-9)


# --- the file ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path, monkeypatch, plain):
    """An empty cache folder, and how often something was solved; solving gives what was solved already."""
    calls = []
    monkeypatch.setattr(exact, "user_cache_path", lambda _: tmp_path)
    monkeypatch.setattr(
        exact, "solve", lambda ruleset, variant, **_: calls.append(variant.name) or replace(plain, variant=variant)
    )
    return calls


def kept(variant=SMALL):
    return exact.solution(FEVER, variant, progress=False)


def same(one, two):
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in (*exact.TABLES, "low", "states", "seconds"))


def test_a_solution_is_kept_and_found_again(cache, plain, tmp_path, capsys):
    first, second = kept(), kept()
    assert cache == [SMALL]
    assert first.path == second.path
    assert list(tmp_path.rglob("*.*")) == [first.path]
    assert same(first, plain)
    assert same(second, plain)
    assert capsys.readouterr().err == ""


def test_a_damaged_file_is_solved_again(cache, plain, capsys):
    path = kept().path
    whole = path.read_bytes()
    for damaged in (whole[:2000] + bytes([whole[2000] ^ 1]) + whole[2001:], whole[:-100], b"", b"PK", b"nothing of the kind"):
        path.write_bytes(damaged)
        cache.clear()
        assert same(kept(), plain)
        assert cache == [SMALL]
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert str(path) in err
        assert same(kept(), plain)
        assert cache == [SMALL]


def test_the_file_of_another_variant_is_not_used(cache, capsys):
    one, other = kept().path, kept("plain,target=9").path
    assert one != other
    one.write_bytes(other.read_bytes())
    cache.clear()
    assert kept().path == one
    assert cache == [SMALL]
    assert "another variant" in capsys.readouterr().err


def test_a_changed_solver_has_another_file(cache, monkeypatch):
    one = kept().path
    header = exact._header
    monkeypatch.setattr(exact, "_header", lambda *arguments: header(*arguments) + "changed")
    assert kept().path != one


def test_without_a_folder_that_can_be_written_nothing_is_kept(cache, plain, tmp_path):
    (tmp_path / "solutions").write_text("a file in the way")
    solution = kept()
    assert solution.path is None
    assert same(solution, plain)


def test_a_failure_while_writing_leaves_nothing(cache, plain, tmp_path, monkeypatch):
    def full(file, **_):
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exact.np, "savez", full)
    solution = kept()
    assert solution.path is None
    assert same(solution, plain)
    assert list((tmp_path / "solutions").iterdir()) == []


def test_a_variant_with_too_many_positions_is_refused(monkeypatch):
    monkeypatch.setattr(solver, "turn_graph", lambda *_: turns.turn_graph(FEVER, FEVER.variant("plain")))
    monkeypatch.setattr(exact.np, "full", lambda *_: pytest.fail("tables were made"))
    with pytest.raises(InputError, match="too many positions") as refused:
        exact.solve(FEVER, "standard,duel_stake=1000,risk_cards=9", progress=False)
    assert "\n" not in str(refused.value)
