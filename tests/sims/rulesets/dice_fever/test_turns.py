"""The graph of a turn: its shape, and its values against the odds of a turn in points, a recursion of its own."""

import numpy as np
import pytest

from sims import RULESETS
from sims.jit import INTERPRETED
from sims.rulesets.dice_fever import rules
from sims.rulesets.dice_fever.odds import Turn
from sims.rulesets.dice_fever.sweeps import LANES, sweep_all
from sims.rulesets.dice_fever.turns import OUT, PLAIN, SIX, STARTS, X2, turn_graph

FEVER = RULESETS["dice-fever"]
compiled_only = pytest.mark.skipif(INTERPRETED, reason="the turns of a variant with cards take minutes in plain Python")


def walked(variant):
    return turn_graph(FEVER, FEVER.variant(variant))


@pytest.fixture(scope="module")
def plain():
    return walked("plain")


@pytest.fixture(scope="module")
def standard():
    return walked("standard")


@pytest.fixture(params=["plain", pytest.param("standard", marks=compiled_only)])
def graph(request):
    return request.getfixturevalue(request.param)


def valued_for_points(graph):
    """Values of leaves and nodes if an end of the turn is worth its points."""
    values = np.zeros((len(graph.points) + len(graph.states) + 2, LANES))
    values[: len(graph.points)] = graph.points[:, None]
    sweep_all(values, (graph.rows, graph.edges, graph.child, graph.weight, graph.is_owners), len(graph.points))
    return values[:-2, 0]


def at_start(graph, values, token, kind, shields):
    row = graph.starts[token, kind, shields]
    edges = slice(graph.edges[row], graph.edges[row + 1])
    return float(graph.weight[edges] @ values[graph.child[edges]])


def test_every_action_and_start_is_a_distribution(graph):
    assert graph.edges[0] == 0
    assert graph.edges[-1] == len(graph.child) == len(graph.weight)
    assert np.all(np.diff(graph.edges) > 0)
    assert np.all(graph.weight > 0)
    np.testing.assert_allclose(np.add.reduceat(graph.weight, graph.edges[:-1]), 1, rtol=0, atol=1e-12)


def test_children_come_before_their_parents(graph):
    assert np.all(np.diff(graph.rows) > 0)
    assert graph.rows[-1] == len(graph.actions)
    n_leaves = len(graph.points)
    for node in range(len(graph.states)):
        edges = slice(graph.edges[graph.rows[node]], graph.edges[graph.rows[node + 1]])
        assert np.all(graph.child[edges] < n_leaves + node)


def test_sweeps_up_to_a_start_value_all_that_it_needs(graph):
    """Kind after kind, without a token and then with one, each up to the end for so many shields."""
    n_leaves = len(graph.points)
    for token, kind, shields in np.argwhere(graph.starts > 0):
        swept = set()
        for t, before in np.ndindex(token + 1, kind + 1):
            swept.update(range(graph.begins[t, before], graph.ends[t, before, shields]))
        row = graph.starts[token, kind, shields]
        todo = set(graph.child[graph.edges[row] : graph.edges[row + 1]].tolist())
        assert {child - n_leaves for child in todo if child >= n_leaves} <= swept
        for node in swept:
            edges = slice(graph.edges[graph.rows[node]], graph.edges[graph.rows[node + 1]])
            assert {child - n_leaves for child in graph.child[edges].tolist() if child >= n_leaves} <= swept


def test_a_node_is_found_by_its_position(graph):
    assert len(graph.node_of) == len(graph.states)
    assert graph.points[OUT] == 0
    assert not graph.with_six[OUT]


def test_plain_nodes_are_the_tracks_short_of_six(plain):
    """1 to 5 values: 62 tracks. Ends: OUT, 1 to 20 points and 31, with or without a 6."""
    assert sorted(plain.states.track) == list(range(1, 63))
    ends = {(sum(v for v in range(1, 7) if track >> (v - 1) & 1), track >= 32) for track in range(1, 63)} | {(31, True)}
    assert set(zip(plain.points[1:].tolist(), plain.with_six[1:].tolist(), strict=True)) == ends


@compiled_only
@pytest.mark.parametrize("shields, points", [(0, 6.211), (1, 11.373), (2, 15.395), (3, 18.542)])
def test_best_play_for_points_agrees_with_the_odds_of_a_turn(standard, shields, points):
    value = at_start(standard, valued_for_points(standard), 0, PLAIN, shields)
    assert value == pytest.approx(Turn(FEVER, "standard").mean_of_best_play(shields), abs=1e-12)
    assert value == pytest.approx(points, abs=5e-4)


def test_best_play_for_points_in_plain(plain):
    value = at_start(plain, valued_for_points(plain), 0, PLAIN, 0)
    assert value == pytest.approx(Turn(FEVER, "plain").mean_of_best_play(), abs=1e-12)


@compiled_only
def test_shields_and_score_x2_help_and_a_token_hurts(standard):
    values = valued_for_points(standard)
    worth = np.array([[[at_start(standard, values, t, kind, k) for k in range(4)] for kind in STARTS] for t in range(2)])
    assert np.all(np.diff(worth, axis=2) > 0)
    assert np.all(worth[0, X2] > worth[0, PLAIN])
    assert np.all(worth[1] <= worth[0])
    assert np.all(worth[1, [PLAIN, X2]] < worth[0, [PLAIN, X2]])
    assert worth[0, SIX, 0] < worth[0, PLAIN, 0]


@compiled_only
def test_owners_decide_in_windows_alone(standard):
    assert np.all(standard.is_owners == (standard.states.phase == rules.WINDOW))
    assert not np.any(standard.is_owners[: standard.begins[1, PLAIN]])
    assert np.any(standard.is_owners)
