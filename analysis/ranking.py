"""Every policy against every other one: win rates, who is better, ratings, and the game of choosing a policy.

Every two policies share every kind of table that has both: c seats for the one and k - c for the other, c = 1 .. k - 1, in every
cyclic order, each played in all rotations; with two seats that is one matchup per pair. And each plays itself. A matchup has dice
of its own (its seed is a hash of the run's seed and its name), so that what is made of several has a known error: on common dice
the errors of different matchups would go together, and results do not hold how much.

Intervals of win rates and margins hold all at once, by Sidak's inequality (Journal of the American Statistical Association 62,
1967: whatever the correlations): each is at level ``level ** (1 / family)``, where the family is all of its kind that are shown.
A pair's verdict is "better" or "worse" where its interval leaves out 0, and "open" otherwise.
"""

import hashlib
import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import linalg, stats
from tqdm import tqdm

from analysis.estimates import LEVEL, ROW
from analysis.intervals import check_level, wilson_interval
from analysis.metagame import PayoffTable, cycles, margins, metagame, tiers
from analysis.ratings import ratings
from analysis.tables import WIDTH, listed, records, wrapped
from sims.checkpoints import claim_folder
from sims.errors import InputError, check_int
from sims.policy import Policy, load_policy
from sims.ruleset import Ruleset, Variant
from sims.rulesets import RULESETS
from sims.simulate import MAX_INT, Table, find_ruleset
from sims.study import Group, Planned, Study, plan, run_matchup

GAMES, MAX_POLICIES = 20_000, 30
TINY = 1e-18  # a variance that is rounding
PAIR = [*ROW[:2], "opponent", *ROW[2:]]


@dataclass(frozen=True)
class Ranking:
    """What a round robin says; all tables are tidy, one row per estimate, policies from the highest rating to the lowest.

    Attributes
    ----------
    head : dict
        ruleset, version, variant, seats, seed, games (played in all), truncated (of them, stopped unfinished).
    win_rates : DataFrame
        What one seat of `policy` wins where it holds `held` seats and `opponent` the others (``PAIR`` and held); simultaneous.
    pairs : DataFrame
        The margin of `policy` over `opponent` (``PAIR`` and verdict), a row per pair; simultaneous.
    ratings : DataFrame
        See :func:`analysis.ratings.ratings`; tier of each policy.
    metagame : DataFrame
        See :func:`analysis.metagame.metagame`.
    cycles : DataFrame
        Columns first, second, third (each has a margin over the next, and the third over the first), margin (the smallest of
        the three), verdict: "certain" if all three pairs are settled, else "open". The clearest first.
    """

    head: dict[str, Any]
    win_rates: pd.DataFrame
    pairs: pd.DataFrame
    ratings: pd.DataFrame
    metagame: pd.DataFrame
    cycles: pd.DataFrame

    def matrix(self, column: str = "estimate") -> pd.DataFrame:
        """Return a column of `win_rates` as a table: of one seat of the row's policy, where the column's holds all others."""
        names = self.ratings[self.ratings.quantity == "rating"].policy
        lone = self.win_rates[self.win_rates.held == 1].pivot(index="policy", columns="opponent", values=column)
        return lone.reindex(index=names, columns=names).rename_axis(index=None, columns=None)

    def half_widths(self) -> pd.DataFrame:
        """Return by how much the interval of each entry of :meth:`matrix` reaches beyond it, on its longer side."""
        rates = self.matrix()
        return np.maximum(self.matrix("high") - rates, rates - self.matrix("low"))

    def data(self) -> dict[str, Any]:
        """Return everything as plain Python objects."""
        tables = {name: getattr(self, name) for name in ("win_rates", "pairs", "ratings", "metagame", "cycles")}
        return {**self.head, **{name: records(table, table.columns) for name, table in tables.items()}}


def rank(
    ruleset: str | Ruleset,
    policies: Sequence[str | Policy | Callable],
    games: int = GAMES,
    seats: int = 2,
    seed: int = 0,
    variant: Any = None,
    level: float = LEVEL,
    n_jobs: int = -1,
    out: str | Path | None = None,
) -> Ranking:
    """Play a round robin and rank the policies.

    Parameters
    ----------
    ruleset, variant, n_jobs
        As for :func:`sims.simulate.simulate`.
    policies : sequence
        2 to 30 different ones; their order does not matter.
    games : int
        Per matchup, rounded up to whole deals; at least two deals.
    seats : int
        At every table.
    seed : int
        0 to 2**63 - 1.
    level : float
        Of the intervals.
    out : path, optional
        A folder for this ranking alone. One that was stopped, even killed, goes on from there.

    Raises
    ------
    InputError
        For what :func:`sims.simulate.simulate` refuses, and fewer than two, too many or equal policies.
    IllegalAction
        If a policy returns an action that is not legal.
    """
    check_level(level)
    game = find_ruleset(ruleset)
    game.check_seats(check_int(seats, "seats", 2, 1000))
    check_int(games, "games", 2 * seats, MAX_INT)
    check_int(seed, "seed", 0, MAX_INT)
    rules = variant if isinstance(variant, Variant) else game.variant(variant)
    entrants = enter(game, policies, rules)
    seatings = list(_seatings(len(entrants), seats))
    run = {"seats": seats, "games": games}
    if out is not None:
        run = {**Table(game, tuple(entrants), rules).identity(seed), **run}
    with tempfile.TemporaryDirectory() if out is None else nullcontext(claim_folder(out, run)) as folder:
        shown = tqdm(seatings, desc=f"ranking of {game.name}", unit=" matchups", disable=None)
        played = [
            run_matchup(_matchup(game, [entrants[p] for p in each.table], rules, games, seed), Path(folder), n_jobs)
            for each in shown
        ]
    head = {"ruleset": game.name, "version": game.version, "variant": rules.name, "seats": seats, "seed": seed}
    head |= {name: sum(int(results[name].iloc[0]) for results in played) for name in ("games", "truncated")}
    names = tuple(policy.spec for policy in entrants)
    profiles = [_profile(each, results, names) for each, results in zip(seatings, played, strict=True)]
    return _ranking(head, names, seats, [_merged(list(g)) for _, g in itertools.groupby(profiles, _kind)], level)


def enter(game: Ruleset, policies: Sequence[str | Policy | Callable], variant: Variant) -> list[Policy]:
    """Return the policies to compare, in the order of their specs; raises InputError unless they are 2 to 30 different ones."""
    if isinstance(policies, str) or not isinstance(policies, Sequence):
        raise InputError(f"policies must be a list, not {policies!r}")
    entrants = sorted((load_policy(game, p).solved_for(game, variant) for p in policies), key=lambda policy: policy.spec)
    for one, two in itertools.pairwise(entrants):
        if one.spec == two.spec:
            raise InputError(f"the policy {one.spec} is there twice; each must be different")
    if not 2 <= len(entrants) <= MAX_POLICIES:
        raise InputError(f"a ranking needs 2 to {MAX_POLICIES} policies, not {len(entrants)}")
    return entrants


# --- what is played ---------------------------------------------------------------------------------------------------------


class Seating(NamedTuple):
    """A table of at most two policies: their numbers, how many seats the first holds, and who sits where."""

    one: int
    two: int
    held: int
    table: tuple[int, ...]


def _seatings(policies: int, seats: int) -> Iterator[Seating]:
    """Yield every table of one policy or two, up to rotation; those of one profile follow each other."""
    for one in range(policies):
        yield Seating(one, one, seats, (one,) * seats)
    for one, two in itertools.combinations(range(policies), 2):
        for held in range(1, seats):
            tables = set()
            for places in itertools.combinations(range(seats), held):
                table = tuple(one if seat in places else two for seat in range(seats))
                tables.add(min(table[r:] + table[:r] for r in range(seats)))
            yield from (Seating(one, two, held, table) for table in sorted(tables))


class _Table(Group):
    """A group of one matchup: its policies around one table."""

    def matchups(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield self.variants[0], tuple(self.policies)


def _matchup(game: Ruleset, table: Sequence[Policy], variant: Variant, games: int, seed: int) -> Planned:
    own = own_seed(seed, " v ".join(policy.spec for policy in table))
    specs: Any = list(table)  # the policies themselves: a file is loaded once, and a game solved once
    name: Any = game.name if RULESETS.get(game.name) is game else game
    return plan(Study(name, games, own, [_Table("ranking", "pairs", specs, variants=[variant.name])]))[0]


def own_seed(seed: int, name: str) -> int:
    """Return a seed for one part of a run, which depends on the run's seed and the part's name alone."""
    return int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:8]) >> 1


# --- from results to win rates with their covariances -----------------------------------------------------------------------


class Profile(NamedTuple):
    """What was won at the tables of one kind.

    `payoffs` (2,) and `covariance` (2, 2) are of one seat of either policy. `shares` and `errors` (their covariance) are of what
    the first one won, an unfinished game being shared evenly: with two seats when it sat first and when it sat second, with more
    over all seats.
    """

    one: int
    two: int
    held: int
    weight: int  # rotations
    deals: int
    payoffs: np.ndarray
    covariance: np.ndarray
    shares: np.ndarray
    errors: np.ndarray


def _kind(profile: Profile) -> tuple[int, int, int]:
    return profile[:3]


def _profile(seating: Seating, results: pd.DataFrame, names: Sequence[str]) -> Profile:
    """Reduce the results of a matchup; every second moment that is needed follows from the squares of its units."""
    sums = {
        (row.measure, None if pd.isna(row.policy) else row.policy, None if pd.isna(row.seat) else int(row.seat)): row
        for row in results[results.measure.isin(["payoff", "truncated"])].itertuples()
    }
    one, two, k = names[seating.one], names[seating.two], len(seating.table)
    game = sums["payoff", None, None]
    n, rotations = int(game.deals), int(game.per_deal) // k
    if one == two:
        return _own_profile(seating, sums, one, n)
    x, y = sums["payoff", one, None], sums["payoff", two, None]
    rows = np.array([x.per_deal, y.per_deal])
    totals = np.array([x.total, y.total]) / rows
    cross = (game.squares - x.squares - y.squares) / 2
    squares = np.array([[x.squares, cross], [cross, y.squares]]) / np.outer(rows, rows)
    payoffs, covariance = _mean(totals, squares, n)
    seats_won = np.array([[seating.held, -(k - seating.held)]]) * np.array([1 - seating.held / k, seating.held / k])
    shares, errors = seating.held / k + seats_won @ payoffs, seats_won @ covariance @ seats_won.T
    if k == 2:
        shares, errors = _by_seat(sums, one, two, n)
    return Profile(*seating[:3], rotations, n, payoffs, covariance, shares, errors)


def _own_profile(seating: Seating, sums: dict, name: str, n: int) -> Profile:
    """Reduce a policy's games with itself: its payoff is its share of the finished games; with two seats, what the first won."""
    k = len(seating.table)
    x = sums["payoff", None, None]
    payoff, variance = _mean(np.array([x.total / k]), np.array([[x.squares / k**2]]), n)
    shares, errors = np.zeros(0), np.zeros((0, 0))
    if k == 2:
        won, square = _difference(sums, name, name, 0, n)
        shares, errors = _mean(np.array([won]), np.array([[square]]), n)
        shares, errors = (1 + shares) / 2, errors / 4
    return Profile(*seating[:3], 1, n, np.repeat(payoff, 2), np.full((2, 2), variance[0, 0]), shares, errors)


def _difference(sums: dict, policy: str, other: str, seat: int, n: int) -> tuple[float, float]:
    """Return the sums over deals of d and d^2, where d is what a policy in a seat won less what the other one did."""
    a, b = sums["payoff", policy, seat], sums["payoff", other, 1 - seat]
    finished = n - sums["truncated", policy, seat].total
    return a.total - b.total, 2 * (a.squares + b.squares) - finished  # a + b = 1 if finished: 2 a b = 1 - a^2 - b^2


def _by_seat(sums: dict, one: str, two: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what a policy won of another one when it sat first and when it sat second, and the covariance of both."""
    first, second = (_difference(sums, one, two, seat, n) for seat in (0, 1))
    # With a, d of the first policy in seat 0 and 1, and b, c of the other: (a - b)(d - c) = ad - ac - bd + bc.
    cell = {key: sums["payoff", *key].squares for key in itertools.product((one, two), (0, 1))}
    ad, bc = (sums["payoff", p, None].squares - cell[p, 0] - cell[p, 1] for p in (one, two))
    ac, bd = (sums["payoff", None, seat].squares - cell[one, seat] - cell[two, seat] for seat in (0, 1))
    cross = (ad + bc - ac - bd) / 2
    shares, errors = _mean(np.array([first[0], second[0]]), np.array([[first[1], cross], [cross, second[1]]]), n)
    return (1 + shares) / 2, errors / 4


def _mean(totals: np.ndarray, squares: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the means over deals and their covariance."""
    mean = totals / n
    return mean, (squares / n - np.outer(mean, mean)) / (n - 1)


def _merged(profiles: list[Profile]) -> Profile:
    """Return the mean of tables that differ in the order of the seats, as if it were drawn by lot."""
    weights = np.array([p.weight for p in profiles]) / sum(p.weight for p in profiles)

    def mean(name: str, power: int) -> np.ndarray:
        return sum(w**power * getattr(p, name) for w, p in zip(weights, profiles, strict=True))

    deals = min(p.deals for p in profiles)
    return Profile(*profiles[0][:3], 1, deals, mean("payoffs", 1), mean("covariance", 2), mean("shares", 1), mean("errors", 2))


# --- from win rates to the ranking ------------------------------------------------------------------------------------------


def _ranking(head: dict[str, Any], names: tuple[str, ...], seats: int, profiles: list[Profile], level: float) -> Ranking:
    columns = {name: np.array([getattr(p, name) for p in profiles]) for name in ("one", "two", "held", "payoffs", "deals")}
    table = PayoffTable(names, seats, covariance=np.array([_noise(p, seats) for p in profiles]), **columns)
    margin = margins(table.array(table.payoffs))
    rated = ratings(*_records(names, seats, profiles), level)
    order = [names.index(policy) for policy in rated[rated.quantity == "rating"].policy]
    tier = dict(zip(names, tiers(margin), strict=True))
    pairs = _pairs(table, margin, order, level)
    mixture = metagame(table, level, own_seed(head["seed"], "bootstrap"))
    place = {names[p]: i for i, p in enumerate(order)}
    return Ranking(
        head,
        _win_rates(names, seats, profiles, order, level),
        pairs,
        rated.assign(tier=pd.array([tier.get(policy) for policy in rated.policy], "Int64")),
        mixture.sort_values("policy", key=lambda column: column.map(place), kind="stable").reset_index(drop=True),
        _cycles(names, margin, pairs),
    )


def _least_error(n: int) -> float:
    """Return the variance of a share that was 0 or 1 in all `n` deals: that of one with two wins and two losses more.

    Games that all ended alike show no spread, but the next may end otherwise (A. Agresti, B. Coull, The American Statistician 52,
    1998).
    """
    return 2 * (n + 2) / (n + 4) ** 2 / n


def _noise(profile: Profile, seats: int) -> np.ndarray:
    """Return the covariance of a profile's payoffs, at least that of :func:`_least_error` where two policies meet."""
    if profile.one == profile.two or np.trace(profile.covariance) > TINY:
        return profile.covariance
    sides = np.array([1 / profile.held, -1 / (seats - profile.held)])
    return np.outer(sides, sides) * _least_error(profile.deals)


def _records(names: Sequence[str], seats: int, profiles: Sequence[Profile]) -> tuple[pd.DataFrame, np.ndarray]:
    """Return what the ratings are fitted to, and its covariance; a share of 0 or 1 gets two wins and two losses more."""
    rows = []
    for p in profiles:
        for r, share in enumerate(p.shares):
            seat, offset = (1 - 2 * r, 0.0) if seats == 2 else (0, np.log(p.held / (seats - p.held)))
            rows.append((names[p.one], names[p.two], seat, share, offset, p.deals))
    records = pd.DataFrame(rows, columns=["policy", "opponent", "seat", "share", "offset", "n"])
    covariance, n = linalg.block_diag(*[p.errors for p in profiles if len(p.shares)]), records.n.to_numpy()
    edge = np.flatnonzero((records.share <= TINY) | (records.share >= 1 - TINY))
    records.loc[edge, "share"] = (n[edge] * records.share[edge] + 2) / (n[edge] + 4)
    covariance[edge], covariance[:, edge] = 0, 0
    covariance[edge, edge] = _least_error(n[edge])
    return records, covariance


def _pairs(table: PayoffTable, margin: np.ndarray, order: Sequence[int], level: float) -> pd.DataFrame:
    """Return the margin of every policy over every later one, with simultaneous Student's intervals."""
    contrast = np.array([1.0, -1.0]) / (table.seats - 1)
    variance = np.einsum("i,pij,j->p", contrast, table.covariance, contrast)
    family = list(itertools.combinations(order, 2))
    rows = []
    for i, j in family:
        mixed = (table.one == min(i, j)) & (table.two == max(i, j))
        n, stderr = int(table.deals[mixed].min()), float(np.sqrt(variance[mixed].sum()))
        half = stderr * stats.t.ppf((1 + level ** (1 / len(family))) / 2, n - 1)
        low, high = max(margin[i, j] - half, -1.0), min(margin[i, j] + half, 1.0)
        verdict = "better" if low > 0 else "worse" if high < 0 else "open"
        rows.append((table.policies[i], table.policies[j], n, margin[i, j], stderr, low, high, verdict))
    frame = pd.DataFrame(rows, columns=["policy", "opponent", "n", "estimate", "stderr", "low", "high", "verdict"])
    frame = frame.assign(quantity="margin", seat=pd.array([pd.NA] * len(frame), "Int64"), level=level, method="student-sidak")
    return frame[[*PAIR, "verdict"]]


def _win_rates(names: Sequence[str], seats: int, profiles: Sequence[Profile], order: Sequence[int], level: float) -> pd.DataFrame:
    """Return both payoffs of every mixed profile, with simultaneous intervals: Wilson's where all deals were won, or none."""
    mixed = [p for p in profiles if p.one != p.two]
    each, place = level ** (1 / len(mixed)), {p: i for i, p in enumerate(order)}
    rows = []
    for p in mixed:
        for side, (policy, opponent, held) in enumerate([(p.one, p.two, p.held), (p.two, p.one, seats - p.held)]):
            estimate, stderr, method = p.payoffs[side], np.sqrt(max(p.covariance[side, side], 0.0)), "student-sidak"
            half = stderr * stats.t.ppf((1 + each) / 2, p.deals - 1)
            low, high = max(estimate - half, 0.0), min(estimate + half, 1 / held)
            if stderr**2 < TINY and np.isclose(estimate * held, (0, 1)).any():
                (low,), (high,) = (bound / held for bound in wilson_interval([estimate * held], [p.deals], each))
                method = "wilson-sidak"
            at = (place[policy], place[opponent], held)
            rows.append(
                (at, "win_rate", names[policy], names[opponent], pd.NA, p.deals, estimate, stderr, low, high, level, method, held)
            )
    rows.sort(key=lambda row: row[0])
    return pd.DataFrame([row[1:] for row in rows], columns=[*PAIR, "held"]).astype({"seat": "Int64"})


def _cycles(names: Sequence[str], margin: np.ndarray, pairs: pd.DataFrame) -> pd.DataFrame:
    settled = {frozenset(pair) for pair in pairs.loc[pairs.verdict != "open", ["policy", "opponent"]].itertuples(index=False)}
    rows = []
    for triple in cycles(margin):
        edges = list(zip(triple, np.roll(triple, -1), strict=True))
        certain = all(frozenset((names[i], names[j])) in settled for i, j in edges)
        rows.append((*(names[i] for i in triple), min(margin[i, j] for i, j in edges), "certain" if certain else "open"))
    frame = pd.DataFrame(rows, columns=["first", "second", "third", "margin", "verdict"])
    return frame.sort_values("margin", ascending=False, ignore_index=True)


# --- as text ----------------------------------------------------------------------------------------------------------------


def text(ranking: Ranking) -> str:
    """Return a ranking as text for a terminal of 100 columns."""
    seats, (level,) = ranking.head["seats"], ranking.pairs.level.unique()
    percent, pairs = f"{100 * level:.4g} %", len(ranking.pairs)
    against = "of the row against the column"
    if seats > 2:
        against = f"of one seat of the row among {seats - 1} of the column"
    parts = {
        "": wrapped("  ".join(f"{key} {value}" for key, value in ranking.head.items())),
        f"win rate {against} (±: {percent} intervals that hold all at once)": _matrix(ranking),
        f"who is better: win rate less the opponent's ({percent} intervals that hold for all {pairs} pairs)": _pairs_text(
            ranking.pairs
        ),
        f"ratings: Bradley-Terry, 400 points are odds of 10 to 1, mean 0 (each interval {percent})": _ratings_text(
            ranking.ratings
        ),
        f"choosing a policy: what survives (bootstrap, {percent})": _metagame_text(ranking.metagame),
        "cycles: each better than the next, by estimate": _cycles_text(ranking.cycles),
    }
    return "\n\n".join(f"{title}\n{part}".lstrip() for title, part in parts.items())


def _matrix(ranking: Ranking) -> str:
    rates, half = ranking.matrix(), ranking.half_widths()
    cells = rates.map("{:.3f}".format) + half.map(" ±{:.3f}".format)
    numbers = range(1, len(rates) + 1)
    rows = [f"{i} {name}" for i, name in zip(numbers, rates.index, strict=True)]
    return cells.where(rates.notna(), "-").set_axis(rows).set_axis(numbers, axis=1).to_string(line_width=WIDTH - 2)


def _pairs_text(pairs: pd.DataFrame) -> str:
    width, words = pairs.opponent.str.len().max(), {"better": "better than", "worse": "worse than", "open": "undecided v"}
    lines = []
    for policy, rows in pairs.groupby("policy", sort=False):
        lines.append(f"{policy} is")
        lines += [
            f"  {words[row.verdict]:11} {row.opponent:{width}}  {row.estimate:+.4f} [{row.low:+.4f}, {row.high:+.4f}]  n {row.n}"
            for row in rows.itertuples()
        ]
    return "\n".join(lines)


def _ratings_text(ratings: pd.DataFrame) -> str:
    rows = ratings[ratings.quantity != "misfit"]
    (misfit,) = ratings[ratings.quantity == "misfit"].estimate
    columns = {
        "policy": rows.policy.where(rows.quantity == "rating", "(sitting first)"),
        "rating": [f"{value:.1f}" for value in rows.estimate],
        "interval": [f"[{row.low:.1f}, {row.high:.1f}]" for row in rows.itertuples()],
        "tier": rows.tier.astype(object).where(rows.tier.notna(), ""),
    }
    return f"{listed(columns)}\nthe win rate furthest from the ratings is {misfit:.3f} away"


def _metagame_text(metagame: pd.DataFrame) -> str:
    by = dict(list(metagame.groupby("quantity")))
    columns: dict[str, Any] = {"policy": by["alpha_rank"].policy.tolist()}
    for quantity, title in {"maximal_lottery": "lottery", "nash_average": "Nash average", "alpha_rank": "alpha-rank"}.items():
        digits = 3 if quantity == "nash_average" else 2
        columns[title] = [
            f"{row.estimate:z.{digits}f} [{row.low:z.{digits}f}, {row.high:z.{digits}f}]" for row in by[quantity].itertuples()
        ]
    return listed(columns)


def _cycles_text(cycles: pd.DataFrame, shown: int = 10) -> str:
    if cycles.empty:
        return "none"
    lines = [
        f"{row.first} > {row.second} > {row.third} > {row.first}  (smallest margin {row.margin:.4f}, {row.verdict})"
        for row in cycles.head(shown).itertuples()
    ]
    return "\n".join([*lines, *([f"and {len(cycles) - shown} more"] if len(cycles) > shown else [])])
