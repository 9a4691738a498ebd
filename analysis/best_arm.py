"""Which policy is best, when games are few: sequential halving on common dice, and what the answer is worth.

An **arm** is a policy; its value is what one seat of it wins on average where the others all play one policy of the field, each
policy of the field as often (against itself, its fair share). Sequential halving (Karnin, Koren, Somekh, Proc. ICML 2013) shares
its budget out over ceil(log2 arms) rounds, plays all remaining arms equally often, and drops the worse half after each. Unlike
there, all arms meet the same deals, so that luck is common to them, and what earlier rounds said is kept. Half of the budget then
plays the finalists (two to four) on deals of another seed: the search picks what looked good, partly by luck, and fresh deals
know nothing of that.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from analysis.estimates import LEVEL, ROW
from analysis.halving import sequential_halving
from analysis.intervals import check_level, mean_interval, wilson_interval
from analysis.ranking import enter, own_seed
from analysis.tables import listed, records, wrapped
from sims.errors import InputError, check_int
from sims.policy import Policy, load_policy
from sims.ruleset import Ruleset, Variant
from sims.simulate import MAX_INT, deal_shares, find_ruleset, set_table

Values = Callable[[np.ndarray, int, int], np.ndarray]


class Round(NamedTuple):
    """Arms (their numbers), the deals each has played, and sums over these."""

    arms: np.ndarray
    deals: int
    total: np.ndarray
    squares: np.ndarray

    @classmethod
    def new(cls, arms: int) -> "Round":
        """No deals yet."""
        return cls(np.arange(arms), 0, np.zeros(arms), np.zeros(arms))

    def only(self, chosen: np.ndarray) -> "Round":
        """Return some of the arms, in this order."""
        return Round(self.arms[chosen], self.deals, self.total[chosen], self.squares[chosen])

    def play(self, play: Values, deals: int) -> "Round":
        """Return the arms after so many deals more."""
        values = play(self.arms, self.deals, deals)
        return Round(self.arms, self.deals + deals, self.total + values.sum(axis=0), self.squares + (values**2).sum(axis=0))


def best_of(play: Values, arms: int, budget: int) -> list[Round]:
    """Look for the arm that wins most, by :func:`sequential_halving`.

    Parameters
    ----------
    play : callable
        ``play(arms, first, deals)`` returns what these arms (an int array) win in so many deals from number `first`, a float
        array (deals, arms).
    """
    return sequential_halving(Round.new(arms), arms, budget, lambda left, deals: left.play(play, deals), lambda left: left.total)


@dataclass(frozen=True)
class BestArm:
    """What a search found.

    Attributes
    ----------
    head : dict
        ruleset, version, variant, seats, seed, confirmation_seed, budget, games (played), truncated, field, winner, and verdict:
        "confirmed" if the winner is better than every other finalist on the fresh deals, "refuted" if one of them is better
        than it, else "open".
    rounds : DataFrame
        Rows of estimates of the search, with columns round and kept. They chose the winner, so its own are rather too high.
    confirmation : DataFrame
        Rows of estimates on the fresh deals: ``win_rate`` of each finalist; ``lead``, by how much the winner wins more than each
        other one, simultaneous; ``simple_regret``, by how much the best finalist wins more than the winner.
    """

    head: dict[str, Any]
    rounds: pd.DataFrame
    confirmation: pd.DataFrame

    def data(self) -> dict[str, Any]:
        """Return everything as plain Python objects."""
        tables = {"rounds": self.rounds, "confirmation": self.confirmation}
        return {**self.head, **{name: records(table, table.columns) for name, table in tables.items()}}


def best_arm(
    ruleset: str | Ruleset,
    policies: Sequence[str | Policy | Callable],
    budget: int,
    seats: int = 2,
    seed: int = 0,
    variant: Any = None,
    level: float = LEVEL,
    n_jobs: int = -1,
    field: Sequence[str | Policy | Callable] | None = None,
) -> BestArm:
    """Look for the policy that wins most against the field, with few games.

    Parameters
    ----------
    ruleset, policies, seats, seed, variant, level, n_jobs
        As for :func:`analysis.ranking.rank`.
    budget : int
        Games in all.
    field : sequence, optional
        Whom they play, each as often; the policies themselves if left out.

    Raises
    ------
    InputError
        As :func:`analysis.ranking.rank`, and for a budget too small for two deals of every policy.
    IllegalAction
        If a policy returns an action that is not legal.
    """
    check_level(level)
    game = find_ruleset(ruleset)
    game.check_seats(check_int(seats, "seats", 2, 1000))
    seed = check_int(seed, "seed", 0, MAX_INT)
    rules = variant if isinstance(variant, Variant) else game.variant(variant)
    entrants = enter(game, policies, rules)
    others = entrants if field is None else [load_policy(game, each).solved_for(game, rules) for each in field]
    cost = seats * max(sum(each.spec != arm.spec for each in others) for arm in entrants)
    if not cost:
        raise InputError("the field is the policy itself; name somebody else")
    rounds = math.ceil(math.log2(len(entrants)))
    least = 4 * cost * len(entrants) * rounds
    if check_int(budget, "budget", 1, MAX_INT) < least:
        raise InputError(f"a budget of {budget} games is too small for {len(entrants)} policies: at least {least}")
    with tqdm(total=budget, unit=" games", unit_scale=True, desc=f"best of {game.name}", disable=None) as bar:
        arms = _Arms(game, entrants, others, seats, rules, n_jobs, bar)
        history = best_of(arms.play(seed), len(entrants), budget // 2 // cost)
        winner, last_four, fresh = history[-1].arms[0], history[max(rounds - 2, 0)].arms, own_seed(seed, "confirmation")
        finalists = np.concatenate([[winner], last_four[last_four != winner]])
        values = arms.play(fresh)(finalists, 0, (budget - arms.games) // (cost * len(finalists)))
    names = np.array([policy.spec for policy in entrants])
    head = {"ruleset": game.name, "version": game.version, "variant": rules.name, "seats": seats, "seed": seed}
    head |= {"confirmation_seed": fresh, "budget": budget, "games": arms.games, "truncated": arms.truncated}
    head |= {"field": [each.spec for each in others], "winner": str(names[winner])}
    confirmation = _confirmation(names[finalists], values, level)
    leads = confirmation[confirmation.quantity == "lead"]
    verdict = "confirmed" if (leads.low > 0).all() else "refuted" if (leads.high < 0).any() else "open"
    return BestArm({**head, "verdict": verdict}, _rounds(names, history, level), confirmation)


@dataclass
class _Arms:
    """Policies that play the field; counts the games."""

    game: Ruleset
    arms: Sequence[Policy]
    field: Sequence[Policy]
    seats: int
    variant: Variant
    n_jobs: int
    bar: tqdm
    games: int = 0
    truncated: int = 0

    def play(self, seed: int) -> Values:
        """Return how arms play deals of this seed."""
        return lambda arms, first, deals: np.stack([self._values(self.arms[arm], seed, first, deals) for arm in arms], axis=1)

    def _values(self, arm: Policy, seed: int, first: int, deals: int) -> np.ndarray:
        values = np.zeros(deals)
        for other in self.field:
            if other.spec == arm.spec:
                values += 1 / self.seats
                continue
            table = set_table(self.game, [arm, *[other] * (self.seats - 1)], self.variant)
            played = deal_shares(table, seed, first, deals, self.n_jobs)
            values += played.shares[:, 0]
            self.games += deals * self.seats
            self.truncated += int(played.truncated.sum())
            self.bar.update(deals * self.seats)
        return values / len(self.field)


def _rounds(names: np.ndarray, history: Sequence[Round], level: float) -> pd.DataFrame:
    tables = []
    for i, each in enumerate(history, 1):
        kept = np.arange(len(each.arms)) < math.ceil(len(each.arms) / 2)
        rates = _rates(names[each.arms], each.total, each.squares, each.deals, level)
        tables.append(rates.assign(round=i, kept=kept))
    return pd.concat(tables, ignore_index=True)


def _confirmation(names: np.ndarray, values: np.ndarray, level: float) -> pd.DataFrame:
    """Return what fresh deals (deals, finalists) say of finalists, of whom the first is the winner."""
    n, leads = len(values), values[:, :1] - values[:, 1:]
    lead = mean_interval(leads.sum(axis=0), (leads**2).sum(axis=0), n, 1, level ** (1 / leads.shape[1]))
    # The lead over the best rival is the smallest one: it lies between the smallest of the bounds, whichever rival it is.
    regret, low, high = (np.array([max(0.0, -bound.min())]) for bound in (lead[0], lead[3], lead[2]))
    rows = [
        _rates(names, values.sum(axis=0), (values**2).sum(axis=0), n, level),
        _rows("lead", names[1:], n, lead, level, "student-sidak"),
        _rows("simple_regret", names[:1], n, (regret, np.array([np.nan]), low, high), level, "student-sidak"),
    ]
    return pd.concat(rows, ignore_index=True)


def _rates(names: np.ndarray, total: np.ndarray, squares: np.ndarray, n: int, level: float) -> pd.DataFrame:
    """Return win rates as rows of estimates: Wilson's interval where all deals were won, or none."""
    estimate, stderr, low, high = mean_interval(total, squares, n, 1, level)
    constant = ~(stderr > 0) & np.isin(estimate, (0, 1))
    low[constant], high[constant] = wilson_interval(estimate[constant], np.full(constant.sum(), n), level)
    methods = np.where(constant, "wilson", "student")
    return _rows("win_rate", names, n, (estimate, stderr, low.clip(0), high.clip(max=1)), level, methods)


def _rows(quantity: str, policies: np.ndarray, n: int, numbers: Sequence[np.ndarray], level: float, method: Any) -> pd.DataFrame:
    table = pd.DataFrame(dict(zip(("estimate", "stderr", "low", "high"), numbers, strict=True)))
    keys: dict[str, Any] = {"quantity": quantity, "policy": policies, "seat": pd.array([pd.NA] * len(table), "Int64"), "n": n}
    return table.assign(**keys, level=level, method=method)[ROW]


def text(found: BestArm) -> str:
    """Return a search as text for a terminal of 100 columns."""
    head = {name: value for name, value in found.head.items() if name not in ("field", "confirmation_seed", "verdict", "winner")}
    field = ", ".join(found.head["field"])
    regret = found.confirmation[found.confirmation.quantity == "simple_regret"].iloc[0]
    level = f"{100 * found.confirmation.level.iloc[0]:.4g} %"
    rounds = {
        "round": found.rounds["round"],
        "policy": found.rounds.policy,
        "n": found.rounds.n,
        "win rate": [f"{value:.4f}" for value in found.rounds.estimate],
        "interval": [f"[{row.low:.4f}, {row.high:.4f}]" for row in found.rounds.itertuples()],
        "": ["kept" if kept else "" for kept in found.rounds.kept],
    }
    shown = found.confirmation[found.confirmation.quantity != "simple_regret"]
    fresh = {
        "quantity": shown.quantity.replace({"win_rate": "win rate", "lead": "its lead over"}),
        "policy": shown.policy,
        "n": shown.n,
        "estimate": [f"{value:.4f}" for value in shown.estimate],
        "interval": [f"[{row.low:.4f}, {row.high:.4f}]" for row in shown.itertuples()],
    }
    return "\n".join(
        [
            wrapped("  ".join(f"{key} {value}" for key, value in head.items())),
            f"\nbest against the field: {found.head['winner']}  ({found.head['verdict']} on fresh deals)",
            f"simple regret {regret.estimate:.4f} [{regret.low:.4f}, {regret.high:.4f}]: how much more the best finalist may win",
            f"\nfresh deals (seed {found.head['confirmation_seed']}; {level} intervals, of the leads all at once)",
            listed(fresh),
            "\n" + wrapped(f"the search (each interval {level}; the field: {field})"),
            listed(rounds),
        ]
    )
