"""Tree search: what it counts, that it finds what is best where that is known, and how strong it is."""

import numpy as np
import pytest

from analysis.estimates import win_rates
from sims import simulate
from sims.jit import INTERPRETED, copy_record
from sims.policy import load_policy
from sims.ruleset import MAX_ACTIONS
from sims.rulesets import RULESETS
from sims.rulesets.dice_land import rules, tree
from sims.rulesets.dice_land.boards import position
from sims.rulesets.dice_land.search import records, win_share
from sims.streams import open_deal

GAME = RULESETS["dice-land"]


def stream(deal=0):
    dice, minds = np.zeros((3, 4), np.uint64), np.zeros((2, 4), np.uint64)
    with np.errstate(over="ignore"):
        open_deal(dice, minds, np.uint64(5), deal)
    return minds[0]


def answer(spec, state, variant):
    actions = np.zeros(MAX_ACTIONS, np.int32)
    n = rules.legal_actions(state, actions)
    each = load_policy(GAME, spec).solved_for(GAME, GAME.variant(variant))
    with np.errstate(over="ignore"):
        return int(each.function(state, actions, n, each.params, stream()))


def test_every_run_is_counted_from_root_to_leaf():
    variant, runs = GAME.variant("standard"), 20 if INTERPRETED else 500
    root, nodes, states = position(GAME, "R5 B4 R2 B3 R1 B6 B2 R4"), tree.new_tree(runs + 1), records(1)
    params = load_policy(GAME, "greedy").solved_for(GAME, variant).params
    buffer, rng = np.zeros(MAX_ACTIONS, np.int32), stream()
    with np.errstate(over="ignore"):
        for _ in range(runs):
            copy_record(root, states[0])
            tree.run(nodes, states[0], buffer, params, rng)
    size = nodes.size[0]
    assert size == runs + 1  # nothing ends so soon
    assert nodes.visits[0] == runs
    for name in ("visits", "won"):
        below = np.bincount(nodes.parent[1:size], getattr(nodes, name)[1:size], minlength=size)
        inner = nodes.children[:size] > 0
        leaves = np.append(False, ~inner[1:])
        own = getattr(nodes, name)[:size] - below  # a node's own run is the one that added it
        assert own[0] == 0
        assert (own[leaves] == getattr(nodes, name)[:size][leaves]).all()
        assert ((own >= 0) & (own <= 1))[1:].all()
    best = tree.most_visited(nodes)
    assert best in GAME.legal(root)
    assert nodes.visits[tree.child_of(nodes, 0, best)] == max(nodes.visits[1:size][nodes.parent[1:size] == 0])


ENDGAMES = [
    ("R1 B6 . . R2 . . .", "published,attack_mandatory=false"),
    ("R3 B2 . B4 . . . R1", "published"),
    ("R5 B2 R1 . . . . R2", "standard"),
]


@pytest.mark.skipif(INTERPRETED, reason="exact endgames take minutes in plain Python")
@pytest.mark.parametrize("dice, variant", ENDGAMES)
def test_what_it_plays_is_nearly_best(dice, variant):
    """Against exact win shares after each action."""
    state = position(GAME, dice, variant=variant)
    shares = {action: win_share(GAME.after(state, action)) for action in GAME.legal(state)}
    assert len(shares) > 1
    lost = max(shares.values()) - shares[answer("mcts:3000,exact=0", state, variant)]
    assert lost < 0.05


@pytest.mark.skipif(INTERPRETED, reason="exact endgames take minutes in plain Python")
def test_with_few_dice_it_is_exact():
    state = position(GAME, "R3 B2 . B4 . . . R1", variant="published")
    assert answer("mcts:1,exact=4", state, "published") == answer("expectimax:4", state, "published")


@pytest.mark.slow
@pytest.mark.skipif(INTERPRETED, reason="minutes in plain Python")
def test_it_beats_greedy_play():
    table = win_rates(simulate("dice-land", ["mcts:400", "greedy"], games=800, seed=3, progress=False, n_jobs=1))
    row = table[table.policy.str.startswith("mcts") & table.seat.isna()].iloc[0]
    assert row.estimate - 0.5 > 5 * row.stderr


@pytest.mark.slow
@pytest.mark.skipif(INTERPRETED, reason="the same run twice")
def test_interpreted_games_are_the_same():
    game = {"games": 2, "seed": 2, "variant": "published,hexes=8", "progress": False, "n_jobs": 1}
    compiled, plain = (simulate("dice-land", ["mcts:20", "greedy"], interpreted=mode, **game) for mode in (False, True))
    assert compiled.equals(plain)


def test_a_run_that_need_not_end_is_stopped():
    """Two who may wait, and would lose by attacking."""
    variant = "standard,attack_mandatory=false"
    state = position(GAME, "R1 B1 . . . . . .", variant=variant)
    assert answer(f"mcts:{2 if INTERPRETED else 20}", state, variant) in GAME.legal(state)
