"""The scorecard of a game, in the same words for every ruleset, and which of its conclusions hold whatever the rules leave open.

Every quantity has its formula and source in ``README.md`` beside this file. Games of one table are watched
(``sims.trajectories``): who begins, how long it takes, how the lead goes. Then each policy of the ruleset's ladder plays all
weaker ones, and each policy that may not use a card or a rule plays the same one that may. In these duels a policy is alone at
its table: with k seats the others all have the other policy, and the fair share is 1 / k.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from tqdm import tqdm

from analysis.estimates import (
    COLUMNS,
    LEVEL,
    game_mean,
    length_spread,
    of_first,
    per_game,
    seat_advantage,
    share_of,
    share_of_games,
    win_rates,
)
from analysis.intervals import check_level
from analysis.tables import listed, wrapped
from sims.errors import InputError, choose
from sims.policy import Policy
from sims.results import MAX_LENGTH
from sims.ruleset import Ruleset, Variant
from sims.simulate import find_ruleset, set_table, simulate
from sims.trajectories import RATIOS

GAMES = 20_000
QUANTITIES = (
    *("start_advantage", "seat_advantage", "shared_share", "truncated_share", "turns_per_game", "turns_deviation", "turns_tail"),
    *("lead_changes", *RATIOS, "ladder_step", "luck_share", "restricted_play"),
)
OF_THE_LEAD = ("lead_changes", "contested", "drama", "deficit", "comebacks")
CONCLUSIONS = ("start_advantage", "ladder_step", "restricted_play")
HOLDS, CHANGES, UNDECIDED = "holds", "changes sign", "undecided"


@dataclass(frozen=True)
class Terms:
    """What is played, and how much of it: all but the policies."""

    ruleset: Ruleset
    variant: Variant
    seats: int
    games: int
    seed: int
    n_jobs: int
    interpreted: bool

    def play(self, specs: Sequence[str | Policy | Callable], watch: bool = False) -> pd.DataFrame:
        """Return the results of a matchup; Ctrl-C ends everything, as half a scorecard is none."""
        results = simulate(
            self.ruleset, specs, self.games, self.seed, self.variant, self.n_jobs, False, self.interpreted, False, watch=watch
        )
        if int(results.games.iloc[0]) < self.games:
            raise KeyboardInterrupt
        return results

    def duel(self, one: str, other: str, level: float) -> pd.DataFrame:
        """Return the win rate of a policy alone among others that all have the other policy."""
        return of_first(win_rates(self.play([one] + [other] * (self.seats - 1)), level))


def balance(
    ruleset: str | Ruleset,
    policies: Sequence[str | Policy | Callable] | None = None,
    variant: Any = None,
    seats: int | None = None,
    games: int = GAMES,
    seed: int = 0,
    level: float = LEVEL,
    n_jobs: int = -1,
    interpreted: bool = False,
    progress: bool = True,
) -> pd.DataFrame:
    """Return the scorecard of a ruleset: an estimate per line.

    Parameters
    ----------
    ruleset : str or Ruleset
    policies : sequence, optional
        Whose games are watched: one per seat, or one for all seats. The best of the ruleset's ladder unless given.
    variant : str, mapping or Variant, optional
    seats : int, optional
        As many as there are policies, or as few as the game has.
    games, seed, n_jobs, interpreted
        Of each matchup; see :func:`sims.simulate.simulate`.
    level : float
        Of the intervals.
    progress : bool
        Show a progress bar of the matchups on stderr if that is a terminal.

    Returns
    -------
    DataFrame
        Estimates (:mod:`analysis.estimates`) with a column ``what``: by what a seat is ahead, which policy is beaten, or what may
        not be used. The quantities are ``QUANTITIES``; a ruleset without a ladder, or restricted policies, has none of those.

    Raises
    ------
    InputError
        For what does not exist, and if there are neither policies nor a ladder.
    """
    check_level(level)
    game = find_ruleset(ruleset)
    policies = _policies(game, policies, seats)
    table = set_table(game, policies, variant, interpreted)
    terms = Terms(game, table.variant, len(policies), games, seed, n_jobs, interpreted)
    with tqdm(
        total=1 + _n_duels(game), desc=f"balance of {game.name}", unit=" matchups", disable=None if progress else True
    ) as bar:
        lines = [scorecard(terms.play(policies, watch=True), level)]
        by_lead = lines[0].quantity.isin(OF_THE_LEAD)
        lines[0] = lines[0].assign(what=by_lead.map({True: _ahead_by(terms), False: ""}))
        bar.update()
        for part in (_ladder(terms, level, bar), _restricted(terms, level, bar)):
            lines.extend(part)
    return pd.concat(lines, ignore_index=True)[[*COLUMNS, "what"]]


def _policies(game: Ruleset, policies: Sequence[Any] | None, seats: int | None) -> list[Any]:
    if isinstance(policies, str):
        raise InputError(f"policies must be a list, not {policies!r}")
    if not policies and not game.ladder:
        raise InputError(f"{game.name} has no ladder of policies; say which policies play")
    chosen = list(policies or game.ladder[-1:])
    if len(chosen) == 1:
        chosen *= game.check_seats(game.seats[0] if seats is None else seats)
    if seats not in (None, len(chosen)):
        raise InputError(f"{len(chosen)} policies do not fit {seats} seats; give one, or one per seat")
    return chosen


def _n_duels(game: Ruleset) -> int:
    return len(list(combinations(game.ladder, 2))) + len(game.restricted)


def _ahead_by(terms: Terms) -> str:
    is_exact = terms.ruleset.win_table is not None and terms.seats == 2
    return "exact chance to win" if is_exact else "standing"


def scorecard(results: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return the lines of watched games: seats, draws, unfinished games, duration, and how the lead goes.

    Parameters
    ----------
    results : DataFrame
        Of ``simulate(..., watch=True)``.
    """
    lines = [start_advantage(results, level), seat_advantage(results, level)]
    lines += [share_of_games(results, measure, level) for measure in ("shared", "truncated")]
    lines += [
        per_game(results, "turns", level),
        length_spread(results, MAX_LENGTH - 1, level=level),
        game_mean(results, "lead_changes", level),
    ]
    lines += [share_of(results, part, rest, whole, level) for part, (rest, whole) in RATIOS.items()]
    return pd.concat(lines, ignore_index=True)


def start_advantage(results: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return how much more often than its fair share the seat wins that has the first turn, whichever the rules let begin."""
    rows = game_mean(results, "first_wins", level)
    fair = 1 / (rows.matchup.str.count(" v ") + 1)
    moved = {name: rows[name] - fair for name in ("estimate", "low", "high")}
    return rows.assign(quantity="start_advantage", **moved)


def _ladder(terms: Terms, level: float, bar: Any) -> Iterator[pd.DataFrame]:
    """Yield the win rate of each policy over the next weaker one; then the share of luck among all of them."""
    ladder, duels = terms.ruleset.ladder, []
    for lower, upper in combinations(range(len(ladder)), 2):
        duels.append(terms.duel(ladder[upper], ladder[lower], level))
        bar.update()
        if upper - lower == 1:
            yield duels[-1].assign(quantity="ladder_step", what=f"over {ladder[lower]}")
    if duels:
        yield luck_share(pd.concat(duels), terms.seats, level).assign(what=f"{len(ladder)} policies")


def luck_share(duels: pd.DataFrame, seats: int, level: float = LEVEL) -> pd.DataFrame:
    """Return which share of the variance of winning is left when it is known who plays whom.

    With w a policy's win rate in a duel and f = 1 / seats, it is 1 - mean((w - f)^2) / (f (1 - f)), by the law of total
    variance: 1 if all policies win their fair share, 0 if the better one always wins. Each (w - f)^2 is less its squared
    standard error, which makes it unbiased. The interval is Student's by the delta method.

    Parameters
    ----------
    duels : DataFrame
        A row per duel, all of the same weight.
    """
    fair = 1 / seats
    gap, whole, n = duels.estimate - fair, fair * (1 - fair), int(duels.n.min())
    estimate = 1 - np.mean(gap**2 - duels.stderr**2) / whole
    stderr = float(np.sqrt(np.sum((2 * gap * duels.stderr) ** 2)) / (len(duels) * whole))
    half = stats.t.ppf((1 + level) / 2, max(n - 1, 1)) * stderr
    ends = {"low": max(estimate - half, 0.0), "high": min(estimate + half, 1.0)}
    numbers = {"n": n, "estimate": min(estimate, 1.0), "stderr": stderr, **ends, "level": level, "method": "delta"}
    return duels.iloc[:1].assign(quantity="luck_share", policy=None, matchup="all pairs of the ladder", **numbers)


def _restricted(terms: Terms, level: float, bar: Any) -> Iterator[pd.DataFrame]:
    """Yield the win rate of each policy that may not use something, among those that may."""
    for what, free, bound in terms.ruleset.restricted:
        rows = terms.duel(bound, free, level)
        bar.update()
        yield rows.assign(quantity="restricted_play", what=f"without {what}")


# --- sensitivity ------------------------------------------------------------------------------------------------------------


def alternatives(ruleset: str | Ruleset, variant: Any = None) -> list[tuple[str, str, Variant]]:
    """Return the variants that differ in one assumption: (field, its value, variant); see :meth:`sims.ruleset.Field.others`."""
    game = find_ruleset(ruleset)
    base = variant if isinstance(variant, Variant) else game.variant(variant)
    return [
        (name, field.format(value), game.variant(base.name, **{name: value}))
        for name, field in game.fields.items()
        for value in field.others(base.values[name])
    ]


def sensitivity(
    ruleset: str | Ruleset,
    policies: Sequence[str | Policy | Callable] | None = None,
    variant: Any = None,
    seats: int | None = None,
    games: int = GAMES,
    seed: int = 0,
    level: float = LEVEL,
    n_jobs: int = -1,
    interpreted: bool = False,
    progress: bool = True,
    quantities: Sequence[str] = CONCLUSIONS,
) -> pd.DataFrame:
    """Return the headline conclusions under each other answer to each question that the rules leave open.

    A conclusion is the sign of a difference: how much more often than its fair share who begins wins (``start_advantage``), how
    much more often each policy of the ladder wins over the next weaker one (``ladder_step``), and how much less often a policy
    wins that may not use something (``restricted_play``).

    Parameters
    ----------
    ruleset, policies, variant, seats, games, seed, level, n_jobs, interpreted, progress
        See :func:`balance`. Intervals are so wide that all of them hold at once with this level (Bonferroni).
    quantities : sequence of str
        Which conclusions, out of ``CONCLUSIONS``.

    Returns
    -------
    DataFrame
        A row per conclusion and variant, the assumed one first (field ``assumed``): estimates with the columns what, field,
        value, and verdict: ``holds`` if the difference is of the same sign as under the assumed rules, ``changes sign``, or
        ``undecided`` if one of the two intervals contains 0.

    Raises
    ------
    InputError
        For what does not exist, or if no field of the ruleset has another answer.
    """
    check_level(level)
    for quantity in quantities:
        choose(quantity, CONCLUSIONS, "conclusion")
    game = find_ruleset(ruleset)
    policies = _policies(game, policies, seats)
    base = set_table(game, policies, variant, interpreted).variant
    variants = [("assumed", "", base), *alternatives(game, base)]
    if len(variants) == 1:
        raise InputError(f"no field of {game.name} has another answer: its rules leave nothing open")
    questions = _questions(game, quantities, policies)
    each = 1 - (1 - level) / (len(variants) * len(questions))
    rows = []
    shown = [(*way, *question) for question in questions for way in variants]
    for field, value, rules, quantity, what, specs in tqdm(
        shown, desc=f"sensitivity of {game.name}", unit=" matchups", disable=None if progress else True
    ):
        terms = Terms(game, rules, len(policies), games, seed, n_jobs, interpreted)
        row = _difference(terms.play(specs, watch=quantity == "start_advantage"), quantity, each)
        rows.append(row.assign(what=what, field=field, value=value))
    table = pd.concat(rows, ignore_index=True)
    return table.assign(verdict=_verdicts(table))[[*COLUMNS, "what", "field", "value", "verdict"]]


def _questions(game: Ruleset, quantities: Sequence[str], policies: list[Any]) -> list[tuple[str, str, list[Any]]]:
    """Return (quantity, what, policies by seat) of each conclusion."""
    others = len(policies) - 1
    questions = {
        "start_advantage": [("worth of the first turn", policies)],
        "ladder_step": [(f"{upper} over {lower}", [upper] + [lower] * others) for lower, upper in pairwise(game.ladder)],
        "restricted_play": [(f"worth of {what}", [bound] + [free] * others) for what, free, bound in game.restricted],
    }
    return [(quantity, what, specs) for quantity in quantities for what, specs in questions[quantity]]


def _difference(results: pd.DataFrame, quantity: str, level: float) -> pd.DataFrame:
    """Return the difference from the fair share whose sign a conclusion is."""
    if quantity == "start_advantage":
        return start_advantage(results, level)
    rows = of_first(win_rates(results, level)).assign(quantity=quantity)
    fair = 1 / (rows.matchup.str.count(" v ") + 1)
    if quantity == "ladder_step":
        return rows.assign(estimate=rows.estimate - fair, low=rows.low - fair, high=rows.high - fair)
    return rows.assign(estimate=fair - rows.estimate, low=fair - rows.high, high=fair - rows.low)


def _verdicts(table: pd.DataFrame) -> list[str]:
    sign = np.sign(table.low).where(np.sign(table.low) == np.sign(table.high), 0)
    assumed = sign.where(table.field == "assumed").ffill()  # it stands before its alternatives
    return [UNDECIDED if not a * b else HOLDS if a == b else CHANGES for a, b in zip(assumed, sign, strict=True)]


def sensitivity_text(table: pd.DataFrame) -> str:
    """Return what :func:`sensitivity` found as text for a terminal of 100 columns: a table for each conclusion."""
    level = 100 * (1 - (1 - table.level.iloc[0]) * len(table))
    words = f"Differences from what is fair; all {len(table)} intervals hold at once with {level:.4g} % (Bonferroni)."
    return "\n\n".join([words, *(_conclusion_text(rows) for _, rows in table.groupby("what", sort=False))])


def _conclusion_text(rows: pd.DataFrame) -> str:
    """Return a conclusion under the assumed rules, then where it is another number, then where the games were the same."""
    numbers = ["estimate", "low", "high"]
    assumed, others = rows.iloc[0], rows.iloc[1:]
    is_same = (others[numbers] == assumed[numbers]).all(axis=1)
    counts = ", ".join(f"{word} {(others.verdict == word).sum()}" for word in (HOLDS, CHANGES, UNDECIDED))
    head = f"{assumed.what}: {assumed.estimate:.4f} {_interval(assumed)} as assumed, n {assumed.n}, {assumed.verdict}"
    moved = others[~is_same]
    lines = [head, f"under {len(others)} other answers: {counts}"]
    if len(moved):
        shown = {
            "field": moved.field,
            "answer": moved.value,
            "estimate": moved.estimate.map("{:.4f}".format),
            "interval": [_interval(row) for row in moved.itertuples()],
            "verdict": moved.verdict,
        }
        lines.append(listed(shown))
    if is_same.any():
        lines.append(wrapped("the same games: " + ", ".join(others[is_same].field + "=" + others[is_same].value)))
    return "\n".join(lines)


def _interval(row: Any) -> str:
    return f"[{row.low:.4f}, {row.high:.4f}]"
