"""The only numba configuration: one decorator for kernels and rules, one for policies, and the cache folder.

numba notices a changed file but not a changed *callee*: a kernel cached on disk would go on playing yesterday's rules.
So the cache folder is keyed by a hash of every source file of this package, and is set before numba compiles anything.
With ``NUMBA_DISABLE_JIT=1`` every decorator here returns the plain Python function.
"""

import hashlib
import os
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

PACKAGE = Path(__file__).parent


def _sources_hash() -> str:
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    folder = user_cache_path("dicelab") / "kernels" / SOURCES
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # no writable home: compile anew in every session rather than fail
        return Path(tempfile.mkdtemp(prefix="dicelab-kernels-"))
    return folder


SOURCES = _sources_hash()
CACHE = _cache_folder()
os.environ["NUMBA_CACHE_DIR"] = str(CACHE)
os.environ["NUMBA_LOOP_VECTORIZE"] = "0"  # loops over seats gain nothing, and their vectors spill at every policy call

import numba  # noqa: E402  (the cache folder must be known before numba loads)
import numba.core.errors  # noqa: E402
import numpy as np  # noqa: E402

_config: Any = numba.config  # numba does not declare its settings
_config.CACHE_DIR, _config.LOOP_VECTORIZE = str(CACHE), 0  # a notebook may have imported numba before us
warnings.simplefilter("ignore", numba.core.errors.NumbaExperimentalFeatureWarning)  # first-class functions

INTERPRETED = bool(_config.DISABLE_JIT)

_UNCOUNTED: dict[str, Any] = {"_nrt": False, "forceinline": True}
"""No reference counting: it took most of a policy call (two atomic operations per view). Such a function cannot allocate."""

jit = numba.njit(nogil=True, cache=True, error_model="numpy", **_UNCOUNTED)
"""Decorator of every kernel, rules function and policy helper; none of them allocates."""


def type_of(state: np.dtype) -> Any:
    """What numba calls a record of this dtype (the dtype itself when nothing is compiled)."""
    return state if INTERPRETED else numba.from_dtype(state)


@cache
def compile_policy(function: Callable, state: np.dtype) -> Callable:
    """Compile a policy for one kind of state, with the one signature that every policy shares.

    The explicit signature makes all policies of a ruleset the same first-class type, so that one compiled loop serves
    every pairing. Only the policies of this package are cached on disk: the key of the cache folder covers no others.

    Raises
    ------
    numba.core.errors.NumbaError
        If numba cannot compile the function.
    """
    if INTERPRETED:
        return function
    signature = numba.int64(
        type_of(state), numba.int32[::1], numba.int64, numba.types.Array(numba.float64, 1, "C"), numba.uint64[::1]
    )
    ours = Path(function.__code__.co_filename).is_relative_to(PACKAGE)
    return numba.njit(signature, cache=ours, error_model="numpy", **(_UNCOUNTED if ours else {}))(function)
