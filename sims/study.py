"""A study: many matchups of one ruleset, from a TOML file; what has been played is not played again.

    ruleset = "dice-fever"
    games = 1_000_000
    seed = 20_26
    [[groups]]
    name = "pairs"
    kind = "pairs"                  # every two of `policies`, and each against itself
    policies = ["hold_dice:3", "race:2"]
    variants = ["standard"]
    [[groups]]
    name = "sweep"
    kind = "against"                # each of `policies` against each of `opponents`, who has all other seats
    policies = ["hold_pot:5", "hold_pot:6"]
    opponents = ["hold_dice:3"]
    seats = [2, 4]                  # 2 if left out
    [[groups]]
    name = "seats"
    kind = "self"                   # each of `policies` in every seat
    policies = ["hold_dice:3"]
    seats = [2, 3, 4]

Results are kept in a folder, and in it a folder per matchup, named by a hash of everything that they depend on: the sources of
this package, the variant, what the policies do (:mod:`sims.digest`), the seed and the number of games. A matchup that was
stopped half-way goes on from there (:mod:`sims.checkpoints`). Where it cannot be told what a policy does, it is always played.
"""

import dataclasses
import itertools
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

import pandas as pd
from tqdm import tqdm

from sims.checkpoints import short_hash
from sims.digest import Untold
from sims.errors import InputError, check_int, choose
from sims.files import make_folder
from sims.rulesets import RULESETS
from sims.simulate import MAX_INT, RESULTS, set_table, simulate

KINDS = ("pairs", "against", "self")


@dataclass(frozen=True)
class Group:
    """Matchups that are shown together."""

    name: str
    kind: str
    policies: list[str]
    opponents: list[str] = dataclasses.field(default_factory=list)
    variants: list[str] = dataclasses.field(default_factory=lambda: ["standard"])
    seats: list[int] = dataclasses.field(default_factory=lambda: [2])
    games: int = 0  # 0 for the study's own; fewer where a policy is slow

    def matchups(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield (variant, specs) of each matchup."""
        tables: Iterable[tuple[str, ...]]
        for variant in self.variants:
            if self.kind == "pairs":
                tables = itertools.combinations_with_replacement(self.policies, 2)
            elif self.kind == "against":
                sides = itertools.product(self.policies, self.opponents, self.seats)
                tables = ((policy, *[opponent] * (seats - 1)) for policy, opponent, seats in sides)
            else:
                tables = (((policy,) * seats) for policy in self.policies for seats in self.seats)
            yield from ((variant, tuple(specs)) for specs in tables)


TYPES: dict[Any, tuple[type, str]] = {str: (str, "text"), int: (int, "a whole number"), Group: (dict, "a table [[groups]]")}
"""What a value of a study is in TOML."""


@dataclass(frozen=True)
class Study:
    """A ruleset and the groups of matchups to play."""

    ruleset: str
    games: int
    seed: int
    groups: list[Group]


def load_study(path: str | Path) -> Study:
    """Read a study from a TOML file; raises InputError naming an unknown key or a value that cannot be played."""
    try:
        with open(path, "rb") as file:
            data = tomllib.load(file)
    except OSError as error:
        raise InputError(f"cannot read the study {str(path)!r}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the study {str(path)!r} is not TOML: {error}") from error
    _check_table(Study, data, str(path))
    choose(data["ruleset"], RULESETS, "ruleset")
    check_int(data["games"], f"games in {path}", 1, MAX_INT)
    check_int(data["seed"], f"seed in {path}", 0, MAX_INT)
    groups = [_group(group, f"group {i} of {path}") for i, group in enumerate(data["groups"], 1)]
    _check_different([group.name for group in groups], f"names of groups in {path}")
    study = Study(**{**data, "groups": groups})
    for group in groups:
        for variant, specs in group.matchups():
            set_table(study.ruleset, specs, variant)
    return study


def _group(data: dict[str, Any], where: str) -> Group:
    _check_table(Group, data, where)
    check_int(data.get("games", 0), f"games in {where}", 0, MAX_INT)
    kind = choose(data["kind"], KINDS, f"kind in {where}")
    for key, owners in (("opponents", ["against"]), ("seats", ["against", "self"])):
        if key in data and kind not in owners:
            raise InputError(f"{key} in {where} is for the kind {' or '.join(map(repr, owners))}, not for {kind!r}")
    if kind == "against" and "opponents" not in data:
        raise InputError(f"{where} lacks the key 'opponents', which the kind 'against' needs")
    return Group(**data)


def _check_table(kind: Any, data: dict[str, Any], where: str) -> None:
    """Raise InputError if the keys of a TOML table, or the types of their values, are not those of a dataclass."""
    fields = {f.name: f for f in dataclasses.fields(kind)}
    for key in data:
        choose(key, fields, f"key in {where}")
    for name, f in fields.items():
        if name in data:
            _check_type(data[name], f.type, f"{name} in {where}")
        elif f.default is f.default_factory is dataclasses.MISSING:
            raise InputError(f"{where} lacks the key {name!r}")


def _check_type(value: Any, kind: Any, what: str) -> None:
    entries = [value]
    if get_origin(kind) is list:
        if not isinstance(value, list) or not value:
            raise InputError(f"{what} must be a list with one entry or more, not {value!r}")
        (kind,), entries = get_args(kind), value
    toml, words = TYPES[kind]
    for entry in entries:
        if type(entry) is not toml:
            raise InputError(f"{what if entry is value else f'an entry of {what}'} must be {words}, not {entry!r}")
    if kind is not Group:
        _check_different(entries, what)


def _check_different(entries: list, what: str) -> None:
    for entry in entries:
        if entries.count(entry) > 1:
            raise InputError(f"{what} must be different, but {entry!r} is there {entries.count(entry)} times")


class Planned(NamedTuple):
    """A matchup of a study, and all that its results depend on."""

    group: str
    ruleset: str
    variant: str
    specs: tuple[str, ...]
    games: int
    seed: int
    key: str | None  # names the folder of its results; None if it cannot be told what a policy does

    def path(self, folder: Path) -> Path:
        """Return the file that keeps its results, in a folder of its own."""
        return folder / str(self.key) / RESULTS


def plan(study: Study, games: int | None = None, seed: int | None = None) -> list[Planned]:
    """Return the matchups of a study, in its order; `games` and `seed` instead of the study's own."""
    if games is not None:
        check_int(games, "games", 1, MAX_INT)
    seed = check_int(study.seed if seed is None else seed, "seed", 0, MAX_INT)
    if not study.groups:
        raise InputError("a study needs groups of matchups; this one has none")
    planned = []
    for group in study.groups:
        for variant, specs in group.matchups():
            matchup = (study.ruleset, variant, specs, games or group.games or study.games, seed)
            planned.append(Planned(group.name, *matchup, _key(*matchup)))
    return planned


def _key(name: str, variant: str, specs: tuple[str, ...], games: int, seed: int) -> str | None:
    try:
        return short_hash({**set_table(name, specs, variant).identity(seed), "games": games})
    except Untold:
        return None


def run_study(
    study: Study, folder: str | Path, games: int | None = None, seed: int | None = None, n_jobs: int = -1
) -> pd.DataFrame:
    """Play what has not been played yet and return all results, with a column ``group``.

    Parameters
    ----------
    study : Study
        What to play.
    folder : path
        Where results are kept from one call to the next.
    games, seed : int, optional
        Instead of the study's own.
    """
    folder, planned = make_folder(folder, "results"), plan(study, games, seed)
    shown = tqdm(planned, desc=f"study of {study.ruleset}", unit=" matchups", disable=None)
    return pd.concat([run_matchup(matchup, folder, n_jobs) for matchup in shown], ignore_index=True)


def run_matchup(matchup: Planned, folder: Path, n_jobs: int = -1) -> pd.DataFrame:
    """Return the results of a matchup, kept in the folder or played now, with a column ``group``."""
    path = None if matchup.key is None else matchup.path(folder)
    if path is not None and path.is_file():
        return pd.read_parquet(path).assign(group=matchup.group)
    name, specs, games, seed = matchup.ruleset, matchup.specs, matchup.games, matchup.seed
    kept = path and path.parent
    results = simulate(name, specs, games, seed, variant=matchup.variant, n_jobs=n_jobs, progress=False, out=kept)
    if int(results.games.iloc[0]) < games:
        raise KeyboardInterrupt  # a part of a matchup is no result: the next call goes on with it
    return results.assign(group=matchup.group)
