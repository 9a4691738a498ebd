"""What is measured of a game's course, against made-up courses, and against every ruleset's games stepped in plain Python."""

import importlib
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from sims import RULESETS, simulate
from sims.exact import solve
from sims.jit import INTERPRETED
from sims.playouts import TRUNCATED
from sims.results import rows_table
from sims.ruleset import CHANCE, SHARE, win_chance
from sims.simulate import set_table, watched
from sims.trace import replay
from sims.trajectories import MEASURES, POSITIONS, RATIOS, TURNS, measure_game, new_tape, record_position, rewind

MODULE = importlib.import_module("sims.simulate")  # `sims.simulate` is the function
DEALS = 1 if INTERPRETED else 2
NONE = np.zeros(0)
SPECS = ["hold_at:20", "hold_at:8", "keep_pace:21"]
SEATS = {"dice-fever": 3, "diceplomacy": 4, "dicefest": 3}


def course(tape_of, shares, chances=NONE, finished=True, plies=10):
    """Measures of a game with these standings."""
    tape = new_tape(len(shares), chances)
    tape.standings[: len(tape_of)] = tape_of
    tape.counts[1] = len(tape_of)
    measure_game(tape, np.array(shares, float), finished, plies)
    return dict(zip(MEASURES, tape.measures.tolist(), strict=True))


def of_course(standings, shares, scale=None):
    """The same, naively: the definitions of the module written out over a matrix."""
    standings, wins = np.array(standings, float), np.array(shares) > 0
    leaders = [row.argmax() for row in standings if (row == row.max()).sum() == 1]
    found = {"lead_changes": sum(a != b for a, b in pairwise(leaders)), "shared": int(wins.sum() > 1)}
    found["decided"] = int(wins.any() and not wins.all())
    if not found["decided"]:
        return found | {"contested": 0, "drama": 0, "deficit": 0, "comebacks": 0}
    gap = standings[:, ~wins].max(1) - standings[:, wins].max(1)
    scale = scale or (standings.max(1) - standings.min(1)).max() or 1
    t = len(gap) - 1
    ahead = [i for i in range(t + 1) if (gap[i:] < 0).all()]
    behind = gap[gap > 0] / scale
    found["contested"] = ahead[0] / t if ahead and t else 1
    found["drama"] = np.sqrt(behind).mean() if len(behind) else 0
    found["deficit"] = behind.max() if len(behind) else 0
    return found | {"comebacks": int(gap[t // 2] > 0)}


def same(measured, expected):
    for name, value in expected.items():
        unit = SHARE if name in ("contested", "drama", "deficit", "first_wins") else 1
        assert measured[name] == math.floor(value * unit + 0.5), name


def test_a_comeback():
    """Seat 1 is ahead by 4, the most, then by 1; seat 0 takes the lead at the end of four turns."""
    found = course([[0, 0], [0, 4], [3, 4], [5, 5], [8, 5]], [1, 0])
    assert (found["lead_changes"], found["decided"], found["shared"], found["comebacks"]) == (1, 1, 0, 1)
    assert (found["contested"], found["settled"]) == (SHARE, 0)
    assert found["drama"] == round((math.sqrt(4 / 4) + math.sqrt(1 / 4)) / 2 * SHARE)
    assert (found["deficit"], found["ease"]) == (SHARE, 0)


def test_a_lead_from_the_first_turn_on():
    found = course([[0, 0, 0], [2, 0, 1], [3, 2, 2], [4, 3, 3]], [1, 0, 0])
    assert [found[name] for name in ("lead_changes", "contested", "drama", "deficit", "comebacks")] == [0, SHARE // 3, 0, 0, 0]


def test_winners_are_one_side():
    found = course([[0, 0, 0], [0, 2, 1], [3, 1, 2]], [0.5, 0, 0.5])
    assert (found["shared"], found["decided"], found["lead_changes"]) == (1, 1, 1)
    assert (found["contested"], found["deficit"]) == (SHARE, SHARE // 2)  # the better winner is behind once, by 1 of at most 2
    assert found["drama"] == round(math.sqrt(1 / 2) * SHARE)


def test_who_wins_without_being_ahead_at_the_end_is_contested_to_the_end():
    assert course([[0, 0], [2, 0], [2, 2]], [1, 0])["contested"] == SHARE


def test_a_game_without_loser_or_end_decides_nothing():
    for shares, finished in (([0.5, 0.5], True), ([0, 0], False)):
        found = course([[0, 0], [1, 0], [1, 3]], shares, finished=finished)
        assert not any(found[name] for part, (rest, whole) in RATIOS.items() if whole == "decided" for name in (part, rest))
        assert (found["lead_changes"], found["shared"]) == (1, int(finished))


def test_chances_to_win_are_not_scaled():
    assert course([[0.5, 0.5], [0.4, 0.6], [1, 0]], [1, 0], np.ones(1))["deficit"] == round(0.2 * SHARE)


def test_made_up_courses():
    rng = np.random.default_rng(1)
    for _ in range(300):
        seats, turns = rng.integers(2, 6), rng.integers(1, 9)
        shares = rng.integers(0, 2, seats).astype(float)
        standings = rng.integers(0, 5, (turns + 1, seats))
        found = course(standings, shares, finished=shares.any())
        same(found, of_course(standings, shares))
        for part, (rest, whole) in RATIOS.items():
            unit = SHARE if part in ("contested", "drama", "deficit") else 1
            assert found[part] + found[rest] == (10 if whole == "plies" else found["decided"] * unit)


def test_a_tape_that_is_full_keeps_the_last_position():
    game, tape = RULESETS["pig"], new_tape(2, NONE)
    state = game.new_state(2)
    for turn in range(POSITIONS + 5):
        state.turns[0], state.score[1] = turn + 1, turn
        record_position(state, tape)
    assert tape.counts[TURNS] == POSITIONS + 5
    assert tape.standings[-1, 1] == POSITIONS + 4
    assert tape.standings[-2, 1] == POSITIONS - 2
    rewind(tape)
    assert not tape.counts.any()


# --- the games of every ruleset ---------------------------------------------------------------------------------------------


def standing_of(game, state, seat):
    return game.rules.standing(state, seat) if hasattr(game.rules, "standing") else int(state.score[seat])


def stepped(table, deal, rotation):
    """The measures of a game, its codes stepped one by one through the rules functions."""
    game, replayed = table.ruleset, replay(table, 7, deal, rotation)
    state, seats = game.new_state(len(table.policies), table.variant), range(len(table.policies))
    standings, options, turns, first = [], [], 0, None
    for code in [*replayed.codes, None]:
        begun = [int(state.turns[seat]) for seat in seats]
        if sum(begun) != turns:
            turns, first = sum(begun), first if first is not None else next(seat for seat in seats if begun[seat])
            standings.append([standing_of(game, state, seat) for seat in seats])
        if code is not None:
            if game.rules.actor(state) != CHANCE:
                options.append(len(game.legal(state)))
            game.advance(state, code)
    standings.append([standing_of(game, state, seat) for seat in seats])
    shares = np.zeros(len(seats))
    if replayed.status != TRUNCATED:
        game.rules.payoffs(state, shares)
        lost = [standings[-1][seat] for seat in seats if not shares[seat]]
        won = [standings[-1][seat] for seat in seats if shares[seat]]
        # standings agree with results, but in Dice Fever, where scores are not all (a 6 is needed, and sudden death)
        assert not lost or max(won) >= max(lost) or game.name == "dice-fever"
    of_decisions = {"options": sum(options), "choices": sum(n > 1 for n in options), "spare": len(options) - sum(options)}
    return of_course(standings, shares) | of_decisions | {"first_wins": shares[first]}


def rows_of(table, deals):
    """Raw rows of the first deals; simulate() would sum them up."""
    matchup = table.matchup(7)
    return rows_table(matchup, 0, MODULE._play_batch(table, matchup, 0, deals, True).rows)


@pytest.mark.parametrize("name", RULESETS)
def test_measures_of_real_games(name):
    """Interpreted, so that no loop has to be compiled for a game; random play, some of it stopped; standings by the rules."""
    plain = set_table(name, ["uniform"] * SEATS.get(name, 2), "standard,ply_limit=250", interpreted=True)
    table = replace(plain, chances=NONE)
    rows, unwatched = rows_of(table, DEALS), rows_of(plain, DEALS)
    pd.testing.assert_frame_equal(rows[unwatched.columns], unwatched)
    for (deal, rotation), game in rows.groupby(["deal", "rotation"]):
        assert (game[[*MEASURES]].nunique() == 1).all()  # measures of the game
        for measure, value in stepped(table, deal, rotation).items():
            assert game[measure].iloc[0] == pytest.approx(value, abs=0.5 / SHARE), (deal, rotation, measure)


def test_compiled_games_have_the_same_courses():
    tables = [replace(set_table("pig", SPECS, interpreted=interpreted), chances=NONE) for interpreted in (False, True)]
    pd.testing.assert_frame_equal(*(rows_of(table, 20) for table in tables))


def test_watching_changes_no_result_and_workers_no_measure():
    args = ("pig", ["hold_at:20", "keep_pace:21"], 30_000 if not INTERPRETED else 40, 5, "standard,goal=30")
    one, two, plain = simulate(*args, n_jobs=1, watch=True), simulate(*args, n_jobs=2, watch=True), simulate(*args)
    pd.testing.assert_frame_equal(one, two)
    pd.testing.assert_frame_equal(one[~one.measure.isin(MEASURES)].reset_index(drop=True), plain)


# --- chances to win ---------------------------------------------------------------------------------------------------------


def test_standings_of_a_solved_game_are_chances_to_win():
    game, variant = RULESETS["pig"], RULESETS["pig"].variant(goal=15)
    table = watched(set_table("pig", ["hold_at:8", "hold_at:5"], variant, interpreted=True))
    solution, rows = solve(game, variant), rows_of(table, 20)
    for deal in range(20):
        state, turns, standings, shares = game.new_state(2, variant), 0, [], np.zeros(2)
        for code in replay(table, 7, deal, 0).codes:
            if int(state.turns.sum()) != turns:
                turns = int(state.turns.sum())
                standings.append(solution.value(state))
                assert [win_chance(state, seat, table.chances) for seat in (0, 1)] == pytest.approx(standings[-1])
            game.advance(state, code)
        game.rules.payoffs(state, shares)
        measured = rows[(rows.deal == deal) & (rows.rotation == 0) & (rows.seat == 0)].iloc[0]
        for measure, value in of_course([*standings, shares], shares, scale=1).items():
            assert measured[measure] == pytest.approx(value, abs=0.5 / SHARE), (deal, measure)


def test_only_two_seats_have_chances():
    assert watched(set_table("pig", ["hold_at:8"] * 3)).chances.size == 0
    assert watched(set_table("dicefest", ["uniform"] * 2)).chances.size == 0
    assert set_table("pig", ["hold_at:8"] * 2).tape() is None
