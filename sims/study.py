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
    kind = "against"                # each of `policies` against each of `opponents`
    policies = ["hold_pot:5", "hold_pot:6"]
    opponents = ["hold_dice:3"]
    [[groups]]
    name = "seats"
    kind = "self"                   # each of `policies` in every seat
    policies = ["hold_dice:3"]
    seats = [2, 3, 4]

Results are kept in a folder, a parquet file per matchup, named by a hash of everything that they depend on: the sources of
this package, the variant, what the policies do (:mod:`sims.digest`), the seed and the number of games. Where it cannot be told
what a policy does, the matchup is played every time.
"""

import dataclasses
import hashlib
import itertools
import os
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from sims import jit
from sims.errors import InputError, choose
from sims.rulesets import RULESETS
from sims.simulate import set_table, simulate

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

    def matchups(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield (variant, specs) of each matchup."""
        pairs: Iterable[tuple[str, ...]]
        for variant in self.variants:
            if self.kind == "pairs":
                pairs = itertools.combinations_with_replacement(self.policies, 2)
            elif self.kind == "against":
                pairs = itertools.product(self.policies, self.opponents)
            else:
                pairs = (((policy,) * seats) for policy in self.policies for seats in self.seats)
            yield from ((variant, tuple(specs)) for specs in pairs)


@dataclass(frozen=True)
class Study:
    """A ruleset and the groups of matchups to play."""

    ruleset: str
    games: int
    seed: int
    groups: list[Group]


def load_study(path: str | Path) -> Study:
    """Read a study from a TOML file; raises InputError naming an unknown key or value."""
    try:
        with open(path, "rb") as file:
            data = tomllib.load(file)
    except OSError as error:
        raise InputError(f"cannot read the study {str(path)!r}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the study {str(path)!r} is not TOML: {error}") from error
    groups = [_dataclass(Group, group, f"group {i} of {path}") for i, group in enumerate(data.pop("groups", []), 1)]
    study = _dataclass(Study, {**data, "groups": groups}, str(path))
    choose(study.ruleset, RULESETS, "ruleset")
    for group in study.groups:
        choose(group.kind, KINDS, f"kind of group {group.name}")
        for variant, specs in group.matchups():
            set_table(study.ruleset, specs, variant)
    return study


def _dataclass(kind: Any, data: dict[str, Any], where: str) -> Any:
    fields = {f.name: f for f in dataclasses.fields(kind)}
    for key in data:
        choose(key, fields, f"key in {where}")
    for name, f in fields.items():
        if name not in data and f.default_factory is dataclasses.MISSING:
            raise InputError(f"{where} lacks the key {name!r}")
    return kind(**data)


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
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    games, seed = games or study.games, study.seed if seed is None else seed
    todo = [(group.name, variant, specs) for group in study.groups for variant, specs in group.matchups()]
    tables = []
    for group_name, variant, specs in tqdm(todo, desc=f"study of {study.ruleset}", unit=" matchups", disable=None):
        results = _kept(folder, study.ruleset, variant, specs, games, seed, n_jobs)
        tables.append(results.assign(group=group_name))
    return pd.concat(tables, ignore_index=True)


def _kept(folder: Path, name: str, variant: str, specs: tuple[str, ...], games: int, seed: int, n_jobs: int) -> pd.DataFrame:
    table = set_table(name, specs, variant)
    digests = [policy.digest for policy in table.policies]
    key = repr((jit.SOURCES, name, table.ruleset.version, table.variant.name, digests, games, seed))
    path = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.parquet"
    if None not in digests and path.is_file():
        return pd.read_parquet(path)
    results = simulate(name, table.policies, games, seed, variant=table.variant, n_jobs=n_jobs, progress=False)
    if int(results.games.iloc[0]) < games:
        raise KeyboardInterrupt  # a part of a matchup is not kept: the next call plays it again
    if None not in digests:
        _keep(results, path)
    return results


def _keep(results: pd.DataFrame, path: Path) -> None:
    partial = path.with_suffix(".partial")
    results.to_parquet(partial, index=False)
    os.replace(partial, path)
