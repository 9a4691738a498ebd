"""STOP or THROW to win, in many positions at once: tables of exact win probabilities, and what they come down to.

A position of the turn is a row of ``odds.Turn.table`` (track, shields, BONUS); its place in the game is a pair of scores, the
seat and both hands. ``adviser.py`` answers for one position; here the graph of the turn is swept with a pair of scores in every
lane.
"""

from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from sims.errors import InputError
from sims.jit import jit
from sims.rulesets.dice_fever import rules
from sims.rulesets.dice_fever.exact import Solution
from sims.rulesets.dice_fever.odds import Turn, best_threshold
from sims.rulesets.dice_fever.sweeps import LANES, sweep_all, worth
from sims.rulesets.dice_fever.turns import position_code

POSITION = ["track", "dice", "shields", "bonus", "tripled"]
Cards = tuple[int, int]  # PARADE, RISK


def decisions(
    solved: Solution,
    positions: pd.DataFrame,
    scores: npt.ArrayLike,
    seat: int = 0,
    cards: Cards | None = None,
    their_cards: Cards | None = None,
) -> pd.DataFrame:
    """Return what STOP and throwing on are worth in each position of a turn at each pair of scores, both playing best.

    Nobody has validated, and no Relance token lies against either player.

    Parameters
    ----------
    solved : Solution
        The game.
    positions : DataFrame
        Columns track, dice, shields, bonus, tripled, as of :meth:`Turn.table`. Those that `solved` has not (another variant, a
        Dice Fever, not enough cards) are left out.
    scores : int array (n, 2)
        Mine, theirs.
    seat : int
        Mine: 0 starts the rounds.
    cards, their_cards : (int, int), optional
        PARADE and RISK cards at the start of my turn, those committed included. By default all.

    Returns
    -------
    DataFrame
        A row per position and pair: its columns, points (that STOP banks), mine, theirs, stop, throw (win probabilities), gain
        (throw less stop), is_out (would STOP be OUT, because it reaches the target without a 6?).
    """
    turn, full = Turn(solved.ruleset, solved.variant), (solved.frame.parade, solved.frame.risk)
    scores = np.asarray(scores)
    found = [_place(solved, turn, row, cards or full) for row in positions.itertuples()]
    here = np.array([place is not None for place in found], bool)
    places = np.array([place for place in found if place is not None], int).reshape(-1, 3)
    values = np.zeros((2, len(places), len(scores)))
    for hand in np.unique(places[:, 1]):
        these = places[:, 1] == hand
        rows = solved.graph.rows[places[these, 0]]
        other = solved.frame.hand(*(their_cards or full))
        values[:, these] = _values(solved, np.array([rows, rows + 1]), scores, seat, hand, other)
    table = positions.loc[here, POSITION].assign(points=places[:, 2])
    table = table.loc[table.index.repeat(len(scores))].reset_index(drop=True)
    mine, theirs = np.tile(scores, (len(places), 1)).T
    stop, throw = values.reshape(2, -1)
    is_out = (mine + table.points >= solved.frame.target) & ~table.track.str.contains("6")
    return table.assign(mine=mine, theirs=theirs, stop=stop, throw=throw, gain=throw - stop, is_out=is_out)


def _place(solved: Solution, turn: Turn, row: Any, cards: Cards) -> tuple[int, int, int] | None:
    """Return a position's node, the hand left and the points that STOP banks; None if no turn with these cards comes there."""
    with suppress(InputError):
        position = turn.position(tuple(map(int, row.track)), row.shields, row.bonus, row.tripled)
        parade = cards[0] - row.shields - (turn.spent(row.dice, row.bonus, row.tripled, False) or 0)
        risk = cards[1] - turn.used_risk(row.dice, row.bonus, row.tripled, False)
        node = solved.graph.node_of.get(position_code(position))
        if node is not None and min(parade, risk) >= 0:
            return node, solved.frame.hand(parade, risk), int(rules.stop_points(position))
    return None


def _values(solved: Solution, rows: np.ndarray, scores: np.ndarray, seat: int, hand: int, other: int) -> np.ndarray:
    """Return the mover's chance by actions, given as rows of the graph, float array (*rows, scores)."""
    graph, frame = solved.graph, solved.frame
    size = len(graph.points) + len(graph.states)
    ways = csr_array((graph.weight, graph.child, graph.edges), shape=(len(graph.edges) - 1, size))[rows.ravel()]
    arrays = graph.rows, graph.edges, graph.child, graph.weight, graph.is_owners
    after = solved.win[1 - seat, 0, other, hand]
    last_turn = solved.last_turn[0, hand, other]  # of seat 1; who is seat 1 himself has won at the target
    values, out = np.zeros((size + 2, LANES)), np.zeros((rows.size, len(scores)))
    for first in range(0, len(scores), LANES):
        block = scores[first : first + LANES]
        mine, theirs = block[np.minimum(np.arange(LANES), len(block) - 1)].T
        leaves = graph.points, graph.with_six, frame.target, frame.low, after, last_turn
        _value_turns(arrays, *leaves, seat, mine, theirs, values)
        out[:, first : first + LANES] = (ways @ values[:size])[:, : len(block)]
    return out.reshape(*rows.shape, len(scores))


@jit
def _value_turns(graph, points, with_six, target, low, after, last_turn, seat, mine, theirs, values):
    """Value every leaf and node, with a pair of scores in every lane."""
    for leaf in range(points.size):
        for lane in range(LANES):
            value = worth(points[leaf], with_six[leaf], mine[lane], theirs[lane], seat, target, low, after, last_turn)
            values[leaf, lane] = value if value >= 0.0 else 1.0 - after[mine[lane] - low, theirs[lane] - low]
    sweep_all(values, graph, points.size)


def thresholds(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return, for each group of :func:`decisions`, the best rule "no shield: STOP from T points".

    Where STOP would be OUT there is nothing to choose, and the rule does not count.

    Returns
    -------
    DataFrame
        A row per group: the columns `by`; stop_from (T, the threshold of smallest total regret), positions, exceptions (how many
        of them the rule gets wrong), regret (its mean) and largest (the worst), in win probability.
    """
    rows = []
    for key, group in table[(table.shields == 0) & ~table.is_out].groupby(by):
        stop_from = best_threshold(group.points, group.gain)
        regret = group.gain.where(group.points >= stop_from, -group.gain).clip(lower=0)
        exceptions = int((regret > 1e-9).sum())
        rows.append((*key, stop_from, len(group), exceptions, regret.mean(), regret.max()))
    return pd.DataFrame(rows, columns=[*by, "stop_from", "positions", "exceptions", "regret", "largest"])


def card_worth(solved: Solution, mine: int = 0, theirs: int = 0) -> pd.DataFrame:
    """Return the win probability with every hand against all cards, at the start of a round.

    Returns
    -------
    DataFrame
        A row per hand: parade, risk, first and second (win probability of who starts the round and of who does not), mean,
        one_parade and one_risk (what the last card of each kind adds to the mean; NaN without one).
    """
    frame, low = solved.frame, solved.low
    hands = [frame.cards(hand) for hand in range(frame.hands)]
    table = pd.DataFrame(hands, columns=["parade", "risk"])
    first = solved.win[0, 0, :, -1, theirs - low, mine - low]
    second = 1.0 - solved.win[0, 0, -1, :, mine - low, theirs - low]
    mean = (first + second) / 2
    grid = mean.reshape(frame.parade + 1, frame.risk + 1)
    one_parade = np.diff(grid, axis=0, prepend=np.nan).ravel()
    one_risk = np.diff(grid, axis=1, prepend=np.nan).ravel()
    return table.assign(first=first, second=second, mean=mean, one_parade=one_parade, one_risk=one_risk)
