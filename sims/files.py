"""Files: a folder that can be written is found out before any long work, and a file is written as a whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sims.errors import InputError


def make_folder(folder: str | Path, what: str) -> Path:
    """Return a folder that exists and takes files, made if it must be; raises InputError naming it and what was to go there."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise InputError(
            f"cannot write {what} to {str(folder)!r}: {error.strerror}; name a folder that can be written"
        ) from error
    return Path(folder)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a path to fill, which takes the place of `path` at the end; after a failure `path` is what it was before."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
