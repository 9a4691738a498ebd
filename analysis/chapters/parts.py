"""What chapters are made of: groups of a study, which they check before anything is played, and parts, which they join."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from sims.errors import InputError, choose
from sims.study import Group, Study

SEATS_IN_ORDER = "first_player=first_seat"  # so that a seat's number is its place in the turn order
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


def join(parts: Sequence[Part]) -> Part:
    """Return the parts of a chapter as one."""
    figures, tables, words = ({name: each for part in kind for name, each in part.items()} for kind in zip(*parts, strict=True))
    return figures, tables, words
