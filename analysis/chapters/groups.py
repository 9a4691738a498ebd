"""What every chapter asks of its study: the game, and groups of matchups by name and kind."""

from collections.abc import Mapping

from sims.errors import InputError, choose
from sims.study import Group, Study


def find_groups(study: Study, ruleset: str, kinds: Mapping[str, str]) -> dict[str, Group]:
    """Return the study's groups by name; raises InputError if it is of another game or lacks one of these names and kinds."""
    choose(study.ruleset, [ruleset], "ruleset of the report")
    groups = {group.name: group for group in study.groups}
    for name, kind in kinds.items():
        if name not in groups or groups[name].kind != kind:
            found = f"one of kind {groups[name].kind!r}" if name in groups else "none"
            raise InputError(f"the report needs a group {name!r} of kind {kind!r}; the study has {found}")
    return groups
