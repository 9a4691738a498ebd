"""What ``dicelab evaluate`` and ``dicelab regret`` say: exact estimates as rows, and the positions that lose most in words."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from analysis.estimates import ROW
from analysis.tables import records, text_table
from sims import exact
from sims.errors import InputError
from sims.results import Matchup
from sims.ruleset import Ruleset
from sims.rulesets import RULESETS
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


def regret(ruleset: str, policy: str, variant: str) -> Said:
    """Return what a policy gives away against best play, as an object and as text."""
    game = find_ruleset(ruleset)
    if game.evaluation is None:
        known = ", ".join(name for name, each in RULESETS.items() if each.evaluation is not None)
        raise InputError(f"regret is not known for {game.name}; choose from {known}")
    rules = game.variant(variant)
    found = import_module(game.evaluation).regret(game, policy, rules, progress=True)
    quantities = {"win_rate": found.win, "best_win_rate": found.best, "regret": found.best - found.win}
    quantities |= {f"regret_{kind}": lost for kind, lost in found.by_kind.items()}
    rows = [
        (quantity, found.policy, seat, values.mean() if seat is None else values[seat])
        for quantity, values in quantities.items()
        for seat in (None, 0, 1)
    ]
    head, estimates = {**_head(game, rules.name), "opponent": "optimal"}, _exact(rows)
    worst = [{**asdict(mistake), "lost": mistake.lost} for mistake in found.worst]
    lines = [
        f"{i:2}. {100 * each['lost']:.3g}% a game: {each['decision']}: {each['plays']} where {each['best']} is best, "
        f"{each['times']:.3g} times a game at {100 * each['cost']:.3g}%;\n"
        f"    most at {each['game']}: {each['game_times']:.2g} times a game at {100 * each['game_cost']:.3g}%"
        for i, each in enumerate(worst, 1)
    ]
    title = ["", "where it loses most (win probability):"] if lines else []
    return {**head, "estimates": records(estimates), "worst": worst}, "\n".join([_text(head, estimates), *title, *lines])


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
