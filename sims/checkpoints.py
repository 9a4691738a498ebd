"""A run that is killed goes on later: a folder that belongs to one run, and in it what its deals so far add up to.

Batches are taken in order, so "so many deals, and these are their sums" is all that there is to keep: one small file, replaced as
a whole every few seconds. What was played after it is played again from the same streams, so results are the same to the byte.
"""

import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sims.errors import InputError
from sims.files import make_folder, whole_file

SECONDS = 5.0  # from one checkpoint to the next
RUN = "run.json"


def claim_folder(folder: str | Path, run: Mapping[str, Any]) -> Path:
    """Return a folder that belongs to a run, made if it must be.

    Parameters
    ----------
    folder : path
        A new or an empty folder, or one that the same run has claimed before.
    run : mapping
        All that the results depend on: text, numbers, lists and mappings of them. It is kept in the file ``run.json``.

    Raises
    ------
    InputError
        If the folder holds another run, or something else; the message says where the runs differ.
    """
    if not str(folder):
        raise InputError(f"a run must be kept in a folder, not in {folder!r}")
    folder, run = make_folder(folder, "the run"), json.loads(json.dumps(run))
    path = folder / RUN
    if not path.is_file():
        if any(each.suffix != ".partial" for each in folder.iterdir()):
            raise InputError(
                f"the folder {str(folder)!r} is not empty and holds no run (no {RUN}); name an empty one, or a new one"
            )
        with whole_file(path) as partial:
            partial.write_text(json.dumps(run, indent=2) + "\n")
    try:
        found = json.loads(path.read_text())
        other = next((key for key in {**run, **found} if found.get(key) != run.get(key)), None)
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(f"{str(path)!r} does not describe a run ({error}); name another folder, or a new one") from error
    if other is not None:
        there, here = (json.dumps(each.get(other)) for each in (found, run))
        raise InputError(
            f"the folder {str(folder)!r} holds another run: {other} is {there} there, {here} here; name another folder"
        )
    return folder


def is_claimed(folder: str | Path | None) -> bool:
    """Does a run own this folder?"""
    return folder is not None and (Path(folder) / RUN).is_file()


def short_hash(run: Mapping[str, Any]) -> str:
    """Return a name for the files of a run among those of others."""
    return hashlib.sha256(json.dumps(run).encode()).hexdigest()[:24]


class Checkpoint:
    """Numbers and arrays in one file, replaced as a whole now and then; without a path nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self.path, self.due = path, time.monotonic() + SECONDS

    def load(self) -> dict[str, Any]:
        """Return what is kept, an empty mapping if nothing is; raises InputError if the file is damaged."""
        if self.path is None or not self.path.is_file():
            return {}
        try:
            with (
                open(self.path, "rb") as file,
                np.load(file, allow_pickle=False) as kept,
            ):  # a zip file, so that every array has a checksum
                return {name: kept[name] if kept[name].ndim else kept[name].item() for name in kept}
        except Exception as error:  # a zip file can be damaged in many ways
            raise InputError(
                f"the checkpoint {str(self.path)!r} is damaged ({error}); delete it to play from the start"
            ) from error

    @property
    def is_due(self) -> bool:
        """Is it time to save again?"""
        return self.path is not None and time.monotonic() >= self.due

    def save(self, numbers: Mapping[str, Any]) -> None:
        """Keep these instead."""
        if self.path is None:
            return
        start = time.monotonic()
        with whole_file(self.path) as partial, open(partial, "wb") as file:
            np.savez(file, **numbers)
        now = time.monotonic()
        self.due = now + max(SECONDS, 20 * (now - start))  # large arrays take longer, and are to cost no more than 5 %
