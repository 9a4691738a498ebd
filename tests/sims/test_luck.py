"""Luck adjustment: the same games, the same mean, and every decision's loss equal to what slow ways say."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sims import RULESETS, InputError
from sims.exact import evaluate, solve
from sims.jit import INTERPRETED, type_of
from sims.luck import mean_book
from sims.playouts import SHARE, TRUNCATED
from sims.ruleset import BY_STATE, CHANCE, OVER
from sims.rulesets.dice_fever import evaluation, exact
from sims.rulesets.pig.rules import HOLD, ROLL
from sims.simulate import _play_batch, adjusted_shares, deal_shares, set_table
from sims.trace import replay

compiled_only = pytest.mark.skipif(INTERPRETED, reason="solves games")
DEALS = 20 if INTERPRETED else 4_000
SMALL_PIG = "standard,goal=12,faces=4"
PLAIN, CARDS = "plain,target=12", "standard,target=10,parade_cards=1,risk_cards=1"
ADDS = "even_faces,target=8,parade_cards=1,risk_cards=1,parade_after_risk=true,relance_mode=chosen,bonus_at=3"
TABLES = (
    ("pig", SMALL_PIG, ("hold_at:4", "uniform")),
    ("pig", SMALL_PIG, ("hold_at:3", "hold_at:4")),
    ("pig", f"{SMALL_PIG},ply_limit=4", ("hold_at:3", "hold_at:6")),
    pytest.param("dice-fever", PLAIN, ("hold_dice:3", "hold_dice:4"), marks=compiled_only),
    pytest.param("dice-fever", PLAIN, ("uniform", "race:2"), marks=compiled_only),
    pytest.param("dice-fever", f"{PLAIN},ply_limit=5", ("uniform", "race:2"), marks=compiled_only),
    pytest.param("dice-fever", CARDS, ("uniform", "race:2,parade=asap,risk=asap"), marks=compiled_only),
    pytest.param("dice-fever", f"{CARDS},ply_limit=9", ("uniform", "race:2,parade=asap"), marks=compiled_only),
    pytest.param("dice-fever", ADDS, ("uniform", "race:2,parade=near,risk=near"), marks=compiled_only),
)


def best_book(table):
    return table.ruleset.luck.book(table.ruleset, table.variant, None)


def books(table):
    """Best play's values, and where there are those of a reference, the first policy's, the second's, and their mean."""
    own = [set_table(table.ruleset, [policy] * 2, table.variant).arguments() for policy in table.policies]
    with np.errstate(over="ignore"):
        found = [table.ruleset.luck.book(table.ruleset, table.variant, reference) for reference in (None, *own)]
    return found[:1] if found[1] is None else [*found, mean_book(found[1:])]


@pytest.mark.parametrize(("name", "variant", "policies"), TABLES)
def test_adjusted_games_are_the_same_games_with_the_same_mean(name, variant, policies):
    table = set_table(name, policies, variant)
    plain, adjusted = deal_shares(table, 3, 5, DEALS, 1), adjusted_shares(table, 3, 5, DEALS, 1)
    assert (adjusted.shares == plain.shares).all()
    assert (adjusted.truncated == plain.truncated).all()
    for book in books(table):
        batch = _play_batch(table, table.matchup(3), 5, DEALS, True, book)
        luck = batch.rows[..., 0] / SHARE - batch.adjusted
        luck = luck.mean(axis=1)  # by seat
        error = luck.std(axis=0, ddof=1) / DEALS**0.5
        assert (np.abs(luck.mean(axis=0)) <= 5 * error + 1e-9).all()
        assert (error > 0).all()


@pytest.mark.parametrize(("name", "variant", "policies"), TABLES)
def test_interpreted_and_compiled_adjust_alike(name, variant, policies):
    compiled, interpreted = (set_table(name, policies, variant, interpreted) for interpreted in (False, True))
    one, two = (_play_batch(each, each.matchup(1), 0, 4, False, best_book(each)).adjusted for each in (compiled, interpreted))
    assert one == pytest.approx(two, abs=1e-12)


# --- oracles --------------------------------------------------------------------------------------------------------------


def game_shares(ruleset, state):
    """What each seat has won at the end of a game."""
    shares = np.zeros(2)
    ruleset.rules.payoffs(state, shares)
    return shares


def first_seat(ruleset, state, value, mover):
    """Seat 0's chance: `value` at decisions and once the mover's turn is over, and chance multiplied out."""
    who = ruleset.rules.actor(state)
    if who == OVER:
        return game_shares(ruleset, state)[0]
    if who != CHANCE or state.turn != mover:
        mine = value(state)
        return mine if state.turn == 0 else 1.0 - mine
    m = ruleset.rules.chance(state)
    return sum(first_seat(ruleset, ruleset.after(state, outcome), value, mover) for outcome in range(m)) / m


@pytest.mark.parametrize("which", range(4))
def test_the_luck_of_pig_is_zero_on_average_at_every_chance_node(which):
    table = set_table("pig", ["hold_at:3", "hold_at:5"], "standard,goal=6,faces=3")
    ruleset, rules, module = table.ruleset, table.ruleset.rules, table.ruleset.luck
    luck = table.luck(books(table)[which])

    def value(state):
        return module.value(state, luck)

    for own in range(6):
        for other in range(6):
            for pot in (0, 2, 3, 4, 5, 6, 7):
                state = ruleset.new_state(2, table.variant)
                rules.reset(state)
                state.score[:2], state.pot = (own, other), pot
                if pot == 0:
                    outcomes = [first_seat(ruleset, ruleset.after(state, outcome), value, 0) for outcome in range(3)]
                    assert value(state) == pytest.approx(np.mean(outcomes), abs=1e-12)
                    continue
                state.throwing = 0
                for action in (0, 1):
                    after = first_seat(ruleset, ruleset.after(state, action), value, 0)
                    assert value(state) - module.loss(state, action, luck) == pytest.approx(after, abs=1e-12)


@compiled_only
@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize("variant", [PLAIN, "plain,target=12,bonus_die=true,bonus_at=3,sudden_death=own"])
def test_the_luck_of_dice_fever_is_zero_on_average_wherever_games_come(variant, which):
    """The value of each decision, less what its action loses, is the mean value of what may follow."""
    table = set_table("dice-fever", ["race:2", "hold_dice:4"], variant)
    ruleset, module = table.ruleset, table.ruleset.luck
    luck, decisions = table.luck(books(table)[which]), 0

    def value(state):
        return module.value(state, luck)

    for deal in range(5):
        game, state = replay(table, 2, deal, 0), ruleset_start(table)
        assert first_seat(ruleset, state, value, state.turn) == pytest.approx(value(state), abs=1e-11)
        for code in game.codes:
            if ruleset.rules.actor(state) != CHANCE:
                mine = value(state) - module.loss(state, code, luck)
                after = first_seat(ruleset, ruleset.after(state, code), value, state.turn)
                assert (mine if state.turn == 0 else 1.0 - mine) == pytest.approx(after, abs=1e-11)
                decisions += 1
            ruleset.advance(state, code)
    assert decisions > 20


@pytest.mark.parametrize("which", range(4))
def test_the_mean_of_an_adjusted_game_of_pig_is_the_exact_win_share(which):
    """Losses are summed over the whole game, by iteration over all positions: what they add to the value of the start."""
    policies, goal = ("hold_at:2", "hold_at:4"), 6
    table = set_table("pig", policies, f"standard,goal={goal},faces=3")
    ruleset, luck, ends = table.ruleset, table.luck(books(table)[which]), (2, 4)

    def after(turn, scores, pot):
        """What the first policy gains by losses to come, before a throw; `lost` and `gains` are of the sweep."""
        stays = sum(decision(turn, scores, pot + face) for face in (2, 3))
        return (gains[1 - turn, scores] + stays) / 3

    def decision(turn, scores, pot):
        state = ruleset_start(table)
        state.turn, state.score[:2], state.pot, state.throwing = turn, scores, pot, 0
        holds = pot >= ends[turn] or scores[turn] + pot >= goal
        lost = float(ruleset.luck.loss(state, HOLD if holds else ROLL, luck)) * (-1 if turn == 0 else 1)
        if not holds:
            return lost + after(turn, scores, pot)
        banked = tuple(score + (pot if seat == turn else 0) for seat, score in enumerate(scores))
        return lost + (0.0 if banked[turn] >= goal else gains[1 - turn, banked])

    keys = [(turn, scores) for turn in range(2) for scores in np.ndindex(goal, goal)]
    gains, change = dict.fromkeys(keys, 0.0), 1.0
    while change > 1e-12:
        swept = {key: after(*key, 0) for key in keys}
        change, gains = max(abs(swept[key] - gains[key]) for key in keys), swept
    value = ruleset.luck.value(ruleset_start(table), luck)
    assert value + gains[0, (0, 0)] == pytest.approx(evaluate("pig", policies, table.variant)[0], abs=1e-10)


def test_an_adjusted_win_share_has_bounds():
    """Who rolls on for ever loses by every throw, more than a game; the rest then counts as it is played."""

    def rolls(view, actions, n, params, rng):
        return ROLL if view.score[view.turn] + view.pot < 2 * view.variant.goal else HOLD

    table = set_table("pig", [rolls, "hold_at:3"], "standard,goal=6,faces=12")
    batch = _play_batch(table, table.matchup(1), 0, DEALS, True, best_book(table))
    assert 1 < np.abs(batch.adjusted - 0.5).max() <= 2
    assert batch.adjusted.sum(axis=2) == pytest.approx(1, abs=1e-12)
    luck = (batch.rows[..., 0] / SHARE - batch.adjusted).mean(axis=1)
    assert (np.abs(luck.mean(axis=0)) < 5 * luck.std(axis=0) / DEALS**0.5).all()


def test_best_play_of_pig_is_the_solved_game():
    table = set_table("pig", ["hold_at:4"] * 2, SMALL_PIG)
    assert best_book(table).start[0, 0] == pytest.approx(solve("pig", SMALL_PIG).first_seat_win, abs=1e-11)
    assert books(table)[1].start[0, 0] == pytest.approx(evaluate("pig", ["hold_at:4"] * 2, SMALL_PIG)[0], abs=1e-11)


@compiled_only
def test_published_values_of_pig():
    table = set_table("pig", ["hold_at:20"] * 2)
    best, own = books(table)[:2]
    assert best.start[0, 0] == pytest.approx(0.5306, abs=5e-5)  # Neller and Presser 2004
    assert own.start[0, 0] == pytest.approx(0.5347, abs=5e-5)


@compiled_only
@pytest.mark.parametrize("variant", [PLAIN, CARDS, ADDS])
def test_losses_of_dice_fever_are_those_of_the_solution(variant):
    """Games are replayed in Python and each decision valued by the solution's own slow way."""
    table = set_table("dice-fever", ["uniform", "race:2,parade=asap,risk=near"], variant)
    ruleset, solution = table.ruleset, exact.solution(table.ruleset, table.variant)
    for deal in range(3):
        adjusted = _play_batch(table, table.matchup(2), deal, 1, False, best_book(table)).adjusted
        for rotation in range(2):
            game, state = replay(table, 2, deal, rotation), ruleset.new_state(2, table.variant)
            ruleset.rules.reset(state)
            shares, has_ended = np.array([solution.first_seat_win, 1.0 - solution.first_seat_win]), False
            for code in game.codes:
                who = int(ruleset.rules.actor(state))
                if who != CHANCE and not has_ended:
                    options = solution.options(state)
                    best = max(options.values())
                    lost = best - options[code]
                    has_ended = abs(shares[who] - lost - 0.5) > 1
                    mine, theirs = (best, 1 - best) if has_ended else (lost, -lost)
                    shares -= [mine, theirs] if who == 0 else [theirs, mine]
                ruleset.advance(state, code)
            if has_ended:
                shares += game_shares(ruleset, state)
            assert adjusted[0, rotation] == pytest.approx(shares, abs=1e-9)


@compiled_only
@pytest.mark.parametrize("variant", [PLAIN, "plain,target=12,bonus_die=true,bonus_at=3,sudden_death=own"])
def test_a_reference_that_plays_itself_has_no_luck(variant):
    """The adjusted win share of every game is then the exact value of the policy against itself."""
    table = set_table("dice-fever", ["race:2"] * 2, variant)
    adjusted = _play_batch(table, table.matchup(0), 0, 50, False, books(table)[1]).adjusted
    assert adjusted[:, 0, 0] == pytest.approx(evaluation.evaluate("dice-fever", ["race:2"] * 2, variant)[0], abs=1e-11)


def test_a_stopped_game_is_adjusted_by_where_it_stops():
    table = set_table("pig", ["hold_at:6"] * 2, f"{SMALL_PIG},ply_limit=2")
    game = replay(table, 0, 0, 0)
    assert game.status == TRUNCATED
    luck = table.luck(best_book(table))
    value = table.ruleset.luck.value
    start = ruleset_start(table)
    shares = np.array([value(start, luck), 1 - value(start, luck)])
    state = start
    for code in game.codes:
        who = int(table.ruleset.rules.actor(state))
        if who != CHANCE:
            lost = table.ruleset.luck.loss(state, code, luck)
            shares += np.array([-lost, lost]) if who == 0 else np.array([lost, -lost])
        table.ruleset.advance(state, code)
    mine = value(state, luck)
    shares -= np.array([mine, 1 - mine]) if state.turn == 0 else np.array([1 - mine, mine])
    assert _play_batch(table, table.matchup(0), 0, 1, False, luck.book).adjusted[0, 0] == pytest.approx(shares, abs=1e-12)


def ruleset_start(table):
    state = table.ruleset.new_state(2, table.variant)
    table.ruleset.rules.reset(state)
    return state


# --- estimates ------------------------------------------------------------------------------------------------------------


def slow_shares(table, deal, rotation, value):
    """Win shares less luck, by a replay that tries the outcomes on copies; and at how many chance nodes there was any."""
    ruleset, rules, seats = table.ruleset, table.ruleset.rules, len(table.policies)
    game, state = replay(table, 4, deal, rotation), ruleset.new_state(seats, table.variant)
    rules.reset(state)
    shares, terms = np.zeros(seats), 0
    for code in game.codes:
        if rules.actor(state) == CHANCE:
            values = np.array([value(ruleset.after(state, outcome)) for outcome in range(rules.chance(state))])
            shares += values.mean(axis=0) - values[code]
            terms += np.ptp(values) > 0
        ruleset.advance(state, code)
    won = np.zeros(seats)
    rules.payoffs(state, won)
    return shares + won, terms


def lead(state):
    """A value of Pig for any number of seats, as rough as can be: the score with the pot, above the average."""
    worth = np.array([state.score[seat] + (state.pot if seat == state.turn else 0) for seat in range(state.seats)], float)
    return (1.0 + (worth - worth.mean()) / state.variant.goal) / state.seats


def fill_lead(state, luck, out):
    out[: state.seats] = lead(state)


def test_luck_by_an_estimate_is_the_value_less_the_mean_over_outcomes(monkeypatch):
    estimated = SimpleNamespace(book=lambda *_: np.zeros(1), room=lambda book: 3, estimate=fill_lead)
    for kind in (type_of(RULESETS["pig"].state), RULESETS["pig"].state):  # a new ruleset takes the old one's place
        monkeypatch.setitem(BY_STATE, kind, RULESETS["pig"])
    pig = replace(RULESETS["pig"], luck=estimated)
    table = set_table(pig, ["hold_at:3", "hold_at:5", "uniform"], SMALL_PIG, interpreted=True)
    adjusted = _play_batch(table, table.matchup(4), 0, 3, False, best_book(table)).adjusted
    for deal, rotation in np.ndindex(3, 3):
        shares, terms = slow_shares(table, deal, rotation, lead)
        assert terms > 3
        assert adjusted[deal, rotation] == pytest.approx(shares, abs=1e-12)


@pytest.mark.long
def test_the_estimate_of_dice_land():
    def value(state):
        ahead = 0.051 * float(state.pips[0] - state.pips[1])
        return 0.5 + ahead, 0.5 - ahead

    table = set_table("dice-land", ["greedy:3", "cautious:100"])
    batch = _play_batch(table, table.matchup(4), 0, 1_000, True, best_book(table))
    for rotation in range(2):
        shares, terms = slow_shares(table, 0, rotation, value)
        assert terms > 3
        assert batch.adjusted[0, rotation] == pytest.approx(shares, abs=1e-9)
    luck = (batch.rows[..., 0] / SHARE - batch.adjusted).mean(axis=1)
    assert (np.abs(luck.mean(axis=0)) < 5 * luck.std(axis=0) / 1_000**0.5).all()


# --- what it is for -------------------------------------------------------------------------------------------------------


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "variant", "policies", "factor"),
    [
        ("pig", "standard", ("hold_at:20", "hold_at:21"), 10),
        ("dice-fever", "plain", ("race:2", "race:3"), 10),
        ("dice-fever", "plain", ("race:2", "rule_1"), 10),
        ("dice-fever", "standard", ("rule_1", "rule_3"), 4),
    ],
)
def test_fewer_games_give_the_same_error(name, variant, policies, factor):
    table = set_table(name, policies, variant)
    played = adjusted_shares(table, 1, 0, 3_000, 1)
    assert played.shares[:, 0].var() > factor * played.adjusted[:, 0].var()
    assert table.luck_pays


def test_where_there_are_no_values_it_is_refused():
    with pytest.raises(InputError, match="luck adjustment of pig is for 2 seats, not 3"):
        _ = set_table("pig", ["hold_at:20"] * 3).book
    other = next(name for name, each in RULESETS.items() if each.luck is None)
    seats = RULESETS[other].seats[0]
    with pytest.raises(InputError, match=f"luck adjustment is not known for {other}; choose from pig"):
        _ = set_table(other, ["uniform"] * seats).book
    assert not set_table(other, ["uniform"] * seats).luck_pays
    with pytest.raises(InputError, match="goals up to 300, not 400"):
        _ = set_table("pig", ["hold_at:20"] * 2, "standard,goal=400").book
