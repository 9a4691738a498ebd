"""Of ``dicelab evaluate``, ``regret`` and ``rules``: estimates as rows, exact or from games, and in words rules and losses."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from analysis.estimates import LEVEL, ROW
from analysis.intervals import mean_interval, wilson_interval
from analysis.tables import records, text_table, wrapped
from sims import exact
from sims.errors import InputError, check_int
from sims.results import Matchup
from sims.ruleset import Ruleset
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever import readable, search
from sims.simulate import find_ruleset, set_table

Said = tuple[dict[str, Any], str]


def win_rates(ruleset: str, policies: Sequence[str], variant: str) -> Said:
    """Return the exact win rate of each policy over all its seats, and in each, as an object and as text."""
    game = find_ruleset(ruleset)
    table = set_table(game, policies, variant)
    specs = tuple(policy.spec for policy in table.policies)
    evaluate, rates = _evaluator(game, len(specs)), pd.DataFrame(columns=["policy", "seat", "win"])
    for r in range(Matchup(game, table.variant.name, specs, 0).rotations):
        seated = table.policies[r:] + table.policies[:r]
        for seat, win in enumerate(evaluate(game, seated, table.variant)):
            rates.loc[len(rates)] = seated[seat].spec, seat, win
    rows = []
    for policy, of_policy in rates.groupby("policy", sort=False):
        rows.append(("win_rate", policy, None, of_policy.win.mean()))
        rows += [("win_rate", policy, seat, win) for seat, win in of_policy.groupby("seat").win.mean().items()]
    head, estimates = _head(game, table.variant.name), _exact(rows)
    return {**head, "estimates": records(estimates)}, _text(head, estimates)


def regret(ruleset: str, policy: str, variant: str, games: int | None = None, seed: int = 0) -> Said:
    """Return what a policy gives away against best play, as an object and as text: exactly, or from so many games."""
    game = find_ruleset(ruleset)
    if game.evaluation is None:
        known = ", ".join(name for name, each in RULESETS.items() if each.evaluation is not None)
        raise InputError(f"regret is not known for {game.name}; choose from {known}")
    rules, evaluation = game.variant(variant), import_module(game.evaluation)
    head = {**_head(game, rules.name), "opponent": "optimal"}
    if games is None:
        found = evaluation.regret(game, policy, rules, progress=True)
        lost = {"regret": found.best - found.win, **_by_kind(found)}
        quantities = {"win_rate": found.win, "best_win_rate": found.best, **lost}
        estimates = _exact([row for quantity, values in quantities.items() for row in _by_seat(quantity, found.policy, values)])
    else:
        found = evaluation.sampled_regret(game, policy, games, seed, rules, progress=True)
        head |= {"seed": seed, "games": found.wins.size}
        lost = {"regret": sum(found.by_kind.values()), **_by_kind(found)}
        best = _exact(_by_seat("best_win_rate", found.policy, found.best)).astype({"n": "Int64"})
        tables = [_sampled(quantity, found.policy, values) for quantity, values in {"win_rate": found.wins, **lost}.items()]
        estimates = pd.concat([tables[0], best, *tables[1:]], ignore_index=True)
    most = "at {game}: {game_times:.2g} times a game at" if games is None else "in one game at {game}:"
    worst = [{**asdict(mistake), "lost": mistake.lost} for mistake in found.worst]
    lines = [
        f"{i:2}. {100 * each['lost']:.3g}% a game: {each['decision']}: {each['plays']} where {each['best']} is best, "
        f"{each['times']:.3g} times a game at {100 * each['cost']:.3g}%;\n"
        f"    most {most.format(**each)} {100 * each['game_cost']:.3g}%"
        for i, each in enumerate(worst, 1)
    ]
    title = ["", "where it loses most (win probability):"] if lines else []
    return {**head, "estimates": records(estimates), "worst": worst}, "\n".join([_text(head, estimates), *title, *lines])


def rules(variant: str, n_lines: Sequence[int]) -> Said:
    """Return the best rules on a card that the search finds, for each number of lines, as an object and as text."""
    game = find_ruleset("dice-fever")
    for n in n_lines:
        check_int(n, "lines", 1, search.MAX_LINES)
    head = {**_head(game, game.variant(variant).name), "opponent": "optimal"}
    found = [search.find(variant, n, progress=True) for n in n_lines]
    estimates = _exact([("regret", rule.spec, None, cost) for rule, cost in found])
    cards: list[dict[str, Any]] = [
        {"lines": n, "policy": rule.spec, "words": list(readable.lines(rule))}
        for n, (rule, _) in zip(n_lines, found, strict=True)
    ]
    text = [_text(head, estimates)]
    for card in cards:
        text += ["", f"at most {card['lines']} {'line' if card['lines'] == 1 else 'lines'}: {card['policy']}"]
        text += [f"{i:2}. {line}" for i, line in enumerate(card["words"], 1)]
    text += ["", wrapped(readable.UNSAID)]
    return {**head, "estimates": records(estimates), "rules": cards, "unsaid": readable.UNSAID}, "\n".join(text)


def _by_kind(found: Any) -> dict[str, Any]:
    return {f"regret_{kind}": lost for kind, lost in found.by_kind.items()}


def _by_seat(quantity: str, policy: str, values: np.ndarray) -> list[tuple]:
    """Return (quantity, policy, seat, value): the mean over both seats, and each."""
    return [(quantity, policy, None, values.mean()), *((quantity, policy, seat, value) for seat, value in enumerate(values))]


def _sampled(quantity: str, policy: str, values: np.ndarray) -> pd.DataFrame:
    """Return the means of values by deal and seat as rows of estimates: over both seats, and in each; the deal is the unit.

    Where nothing happened in any deal there is no spread to measure: Wilson's interval for a share of the deals, as elsewhere.
    """
    deals = np.stack([values.sum(1), *values.T])
    n, total = np.full(3, len(values)), deals.sum(1)
    estimate, stderr, low, high = mean_interval(total, (deals**2).sum(1), n, np.array([2, 1, 1]), LEVEL)
    none = total == 0
    _, bound = wilson_interval(np.zeros(3), n, LEVEL)
    numbers = {"estimate": estimate, "stderr": stderr, "low": np.maximum(low, 0.0), "high": np.where(none, bound, high)}
    keys = {"quantity": quantity, "policy": policy, "seat": pd.array([None, 0, 1], "Int64"), "n": pd.array(n, "Int64")}
    return pd.DataFrame({**keys, **numbers, "level": LEVEL, "method": np.where(none, "wilson", "student")})[ROW]


def _evaluator(game: Ruleset, seats: int) -> Callable[..., np.ndarray]:
    if game.evaluation is None or seats != 2:
        return exact.evaluate
    return partial(import_module(game.evaluation).evaluate, progress=True)


def _exact(rows: Sequence[tuple]) -> pd.DataFrame:
    """Return (quantity, policy, seat, value) as rows of estimates without an error."""
    table = pd.DataFrame(rows, columns=["quantity", "policy", "seat", "estimate"])
    table = table.assign(seat=table.seat.astype("Int64"), n=pd.NA, stderr=0.0, level=np.nan, method="exact")
    return table.assign(low=table.estimate, high=table.estimate)[ROW]


def _head(game: Ruleset, variant: str) -> dict[str, Any]:
    return {"ruleset": game.name, "version": game.version, "variant": variant}


def _text(head: dict[str, Any], estimates: pd.DataFrame) -> str:
    return "\n".join(["  ".join(f"{key} {value}" for key, value in head.items()), text_table(estimates)])
