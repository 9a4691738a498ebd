"""Which exact advice survives what the rulebook leaves open: the same positions decided under other settings of its fields."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from sims.rulesets.dice_fever.decisions import POSITION, card_worth, decisions, thresholds
from sims.rulesets.dice_fever.exact import Solution

ASSUMPTIONS = {
    "each BONUS and RISK face as likely": "bonus_faces=PLUS5/DOUBLE/X3/SUITE,risk_faces=X2/DUEL/RELANCE/SIX",
    "Suite is worth 5": "suite_value=5",
    "Suite needs 5 in a row": "suite_len=5",
    "Suite looks at once": "suite_check=immediate",
    "Duel moves the difference": "duel_stake=difference",
    "Duel moves 10": "duel_stake=10",
    "Relance hits the 4th value": "relance_mode=forced",
    "Double De must be thrown": "double_forced=true",
    "six dice unlock no BONUS": "six_partial_bonus=false",
    "a Duel undoes no validation": "last_turn_strict=false",
}
"""What the rulebook leaves open and could mean otherwise, and the settings that say so: those that move an answer most."""
EQUAL = 1e-9  # closer win probabilities favour neither choice


def decide(solved: Solution, positions: pd.DataFrame, scores: npt.ArrayLike) -> pd.DataFrame:
    """Return the :func:`decisions` of both seats, with a column seat."""
    return pd.concat([decisions(solved, positions, scores, seat).assign(seat=seat) for seat in (0, 1)], ignore_index=True)


def sensitivity(solved: Mapping[str, Solution], decided: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return how the answers move under each assumption; the first one is what the others are compared with.

    Parameters
    ----------
    solved, decided : dict of str to Solution, to DataFrame
        The game and its positions that :func:`decide` decides, by assumption.

    Returns
    -------
    DataFrame
        A row per assumption: first_seat_win; one_parade and one_risk (what the last card of a full hand adds to the win
        probability); stop_from (without a shield, at equal scores); positions (in common with the first); agree (the share of
        them with the same advice); regret (mean loss of win probability by following the first's advice) and largest.
    """
    first = next(iter(decided.values()))
    rows = []
    for name, table in decided.items():
        full = card_worth(solved[name]).iloc[-1]
        equal = thresholds(table[table.mine == table.theirs].assign(all=0), ["all"])
        both = first.merge(table, on=[*POSITION, "mine", "theirs", "seat"], suffixes=("_first", ""))
        differ = _advice(both.gain_first) * _advice(both.gain) < 0
        regret = both.gain.abs().where(differ, 0.0)
        head = (name, solved[name].first_seat_win, full.one_parade, full.one_risk, int(equal.stop_from.iloc[0]))
        rows.append((*head, len(both), 1 - differ.mean(), regret.mean(), regret.max()))
    columns = ["assumption", "first_seat_win", "one_parade", "one_risk", "stop_from", "positions", "agree", "regret", "largest"]
    return pd.DataFrame(rows, columns=columns)


def settled_tracks(decided: Mapping[str, pd.DataFrame], highest: int) -> pd.DataFrame:
    """Return which tracks without a shield have the same advice under all assumptions, at all equal scores up to `highest`.

    Returns
    -------
    DataFrame
        A row per track: track, dice, advice (STOP or THROW if it is right for both seats, with every BONUS and under every
        assumption, else "depends"), least_gain and most_gain (of throwing over STOP, in win probability).
    """
    table = pd.concat(decided, names=["assumption"])
    table = table[(table.shields == 0) & (table.mine == table.theirs) & (table.mine <= highest)]
    rows = []
    for (dice, track), group in table.groupby(["dice", "track"]):
        least, most = group.gain.min(), group.gain.max()
        rows.append((track, dice, "STOP" if most <= EQUAL else "THROW" if least >= -EQUAL else "depends", least, most))
    return pd.DataFrame(rows, columns=["track", "dice", "advice", "least_gain", "most_gain"])


def _advice(gain: pd.Series) -> pd.Series:
    """1 where throwing is better, -1 where STOP is, 0 where they are worth the same."""
    return np.sign(gain.where(gain.abs() > EQUAL, 0.0))
