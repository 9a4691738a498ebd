"""What chapters are made of: groups of a study, which they check before anything is played, and parts, which they join."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis import figures
from analysis.estimates import LEVEL, fair_shares
from sims.errors import InputError, choose
from sims.policy import load_policy
from sims.rulesets import RULESETS
from sims.study import Group, Study

SEATS_IN_ORDER = "first_player=first_seat"  # so that a seat's number is its place in the turn order
USUAL = "usual rules"
FEW = 1000  # of the games that a chapter counts, with which its fits still hold
Part = tuple[dict[str, Any], dict[str, pd.DataFrame], dict[str, Any]]  # figures, tables, words


def find_groups(study: Study, ruleset: str, kinds: Mapping[str, str]) -> dict[str, Group]:
    """Return the study's groups by name; raises InputError if it is of another game or lacks one of these names and kinds."""
    choose(study.ruleset, [ruleset], "ruleset of the report")
    groups = {group.name: group for group in study.groups}
    for name, kind in kinds.items():
        if name not in groups or groups[name].kind != kind:
            found = f"one of kind {groups[name].kind!r}" if name in groups else "none"
            raise InputError(f"the report needs a group {name!r} of kind {kind!r}; the study has {found}")
    return groups


def check_number(group: Group, what: str, n: int) -> None:
    """Raise InputError if a group has another number of policies, opponents, variants or seats."""
    found = getattr(group, what)
    if len(found) != n:
        raise InputError(f"the report's group {group.name!r} takes {n} {what}, not {', '.join(map(str, found))}")


def check_seats_in_order(groups: Iterable[Group]) -> None:
    """Raise InputError if a variant of these groups does not let the first seat start."""
    for group in groups:
        for variant in group.variants:
            if SEATS_IN_ORDER not in variant.split(","):
                raise InputError(f"the report's group {group.name!r} takes variants with {SEATS_IN_ORDER}, not {variant!r}")


def check_parameters(groups: Mapping[str, Group], ruleset: str, parameters: Mapping[str, str]) -> None:
    """Raise InputError if a policy of a group lacks the parameter that is named for the group."""
    for name, parameter in parameters.items():
        for spec in groups[name].policies:
            if parameter not in load_policy(RULESETS[ruleset], spec).parameters:
                raise InputError(f"the report's group {name!r} takes policies with {parameter}, not {spec!r}")


def check_same_variants(one: Group, other: Group) -> None:
    """Raise InputError if two groups have different variants."""
    if one.variants != other.variants:
        raise InputError(f"the report's groups {one.name!r} and {other.name!r} take the same variants")


def labelled(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return estimates with ``first`` and ``others``, policies at the table, ``seats``, ``line``, ``reading`` of the rules."""
    specs = estimates.matchup.str.split(" v ")
    seats = specs.str.len()
    lines = [f"{n} players" for n in seats]
    reading = estimates.variant.map(_reading)
    return estimates.assign(first=specs.str[0], others=specs.str[-1], seats=seats, line=lines, reading=reading)


def _reading(variant: str) -> str:
    """What a variant changes in the usual rules."""
    return ", ".join(change for change in variant.split(",")[1:] if change != SEATS_IN_ORDER) or USUAL


def value_of(ruleset: str, spec: str, parameter: str) -> Any:
    """Return the value of a parameter of a policy."""
    policy = load_policy(RULESETS[ruleset], spec)
    return dict(zip(policy.parameters, policy.values, strict=True))[parameter]


def at_once(estimator: Callable[..., pd.DataFrame], results: pd.DataFrame) -> pd.DataFrame:
    """Return estimates with ``band_low`` and ``band_high``, intervals that hold for all rows at the same time (Bonferroni)."""
    rows = estimator(results)
    band = estimator(results, 1 - (1 - LEVEL) / len(rows))
    return rows.assign(band_low=band.low, band_high=band.high)


def sweep(results: pd.DataFrame, parameter: str) -> pd.DataFrame:
    """Return :func:`at_once` the fair shares of a policy by the value ``x`` of its parameter, a panel for what others play."""
    rows = labelled(at_once(fair_shares, results))
    values = [value_of(*key, parameter) for key in zip(rows.ruleset, rows.policy, strict=True)]
    return rows.assign(x=values, panel="others play " + rows.others)


def colours(lines: pd.Series) -> dict[str, str]:
    """Return a colour for each line, in the order in which they come."""
    return figures.colours(list(dict.fromkeys(lines)))


def verdicts(shares: pd.DataFrame) -> dict[str, Any]:
    """Return how many fair shares are above 1, below it, and neither, by intervals :func:`at_once`; lowest and highest."""
    more, less = int((shares.band_low > 1).sum()), int((shares.band_high < 1).sum())
    return {"more": more, "less": less, "neither": len(shares) - more - less, "range": span(shares.estimate)}


def best_of(rows: pd.DataFrame, by: str | list[str]) -> list[dict[str, Any]]:
    """Return the highest row of each group with its interval :func:`at_once`, and in ``near`` the x of those whose overlap it."""
    found = []
    for _, each in rows.groupby(by, sort=False):
        best = each.loc[each.estimate.idxmax()]
        near = each.x[(each.band_high >= best.band_low) & (each.x != best.x)]
        found.append({**best.to_dict(), "low": best.band_low, "high": best.band_high, "near": near.tolist()})
    return found


def span(values: pd.Series) -> tuple[float, float]:
    """Return the lowest and the highest of them."""
    return float(values.min()), float(values.max())


def scaled(n: int, games: int, study: Study) -> int:
    """Return how many games to count: n where the study's own number is played, else in proportion, but not too few."""
    return max(min(n, FEW), n * games // study.games)


def in_all(results: pd.DataFrame, what: str = "games") -> int:
    """Return how many games the results of a study are of, or how many of them were truncated."""
    return int(results.groupby(["group", "matchup", "variant"])[what].first().sum())


def join(parts: Sequence[Part]) -> Part:
    """Return the parts of a chapter as one."""
    figures, tables, words = ({name: each for part in kind for name, each in part.items()} for kind in zip(*parts, strict=True))
    return figures, tables, words
