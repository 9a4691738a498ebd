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
from types import FunctionType
from typing import Any

from platformdirs import user_cache_path

PACKAGE = Path(__file__).parent
MAX_ACTIONS = 64  # room in the buffer of legal actions


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
import numba.extending  # noqa: E402
import numpy as np  # noqa: E402
from numba.np.arrayobj import populate_array  # noqa: E402

_config: Any = numba.config  # numba does not declare its settings
_config.CACHE_DIR, _config.LOOP_VECTORIZE = str(CACHE), 0  # a notebook may have imported numba before us
warnings.simplefilter("ignore", numba.core.errors.NumbaExperimentalFeatureWarning)  # first-class functions

INTERPRETED = bool(_config.DISABLE_JIT)

_UNCOUNTED: dict[str, Any] = {"_nrt": False, "forceinline": True}
"""No reference counting: it took most of a policy call (two atomic operations per view). Such a function cannot allocate."""

jit = numba.njit(nogil=True, cache=True, error_model="numpy", **_UNCOUNTED)
"""Decorator of every kernel, rules function and policy helper; none of them allocates."""


cold = numba.njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
"""The same for what happens rarely in a game: left out of line, it keeps the loop short."""


def type_of(state: np.dtype) -> Any:
    """What numba calls a record of this dtype (the dtype itself when nothing is compiled)."""
    return state if INTERPRETED else numba.from_dtype(state)


POINTERS = (numba.types.CPointer(numba.int32), numba.types.CPointer(numba.float64), numba.types.CPointer(numba.uint64))
"""How actions, parameters and stream travel to a policy: an array is seven words, which took longer than most policies."""


def ask(function, view, actions, n, params, rng):
    """Call a policy from the loop."""
    return function(view, actions, n, params, rng)


def whole_number(action):
    """Return a policy's answer as an action; numba would cut 1.5 down to 1."""
    return action


def _entry(view, actions, n, params, n_params, rng):
    action = policy(view, array_at(actions, MAX_ACTIONS), n, array_at(params, n_params), array_at(rng, 4))  # noqa: F821
    return whole_number(action)


if not INTERPRETED:

    @numba.extending.overload(ask)
    def _ask(function, view, actions, n, params, rng):
        return lambda function, view, actions, n, params, rng: function(
            view, actions.ctypes, n, params.ctypes, params.size, rng.ctypes
        )

    @numba.extending.intrinsic
    def array_at(typing, pointer, size):
        """Return the array of `size` entries at a pointer (numba's ``carray`` needs reference counting)."""
        array = numba.types.Array(pointer.dtype, 1, "C")

        def generate(context, builder, signature, arguments):
            data, n = arguments
            result = context.make_array(array)(context, builder)
            itemsize = context.get_constant(numba.types.intp, context.get_abi_sizeof(context.get_data_type(pointer.dtype)))
            populate_array(result, data=data, shape=[n], strides=[itemsize], itemsize=itemsize, meminfo=None)
            return result._getvalue()

        return array(pointer, numba.types.intp), generate

    @numba.extending.overload(whole_number)
    def _whole_number(action):
        if isinstance(action, numba.types.Integer | numba.types.Boolean):
            return lambda action: action
        raise numba.core.errors.TypingError(f"a policy returns a whole number, not {action}")


@cache
def compile_policy(function: Callable, state: np.dtype) -> Callable:
    """Compile a policy for one kind of state, behind an entry with the one signature that every policy shares.

    The explicit signature makes all policies of a ruleset the same first-class type, so that one compiled loop serves
    every pairing. Only the policies of this package are cached on disk: the key of the cache folder covers no others.

    Raises
    ------
    numba.core.errors.NumbaError
        If numba cannot compile the function.
    """
    if INTERPRETED:
        return function
    ours = Path(function.__code__.co_filename).is_relative_to(PACKAGE)
    options: dict[str, Any] = {"error_model": "numpy", **(_UNCOUNTED if ours else {})}
    # Not a closure, which would never be found on disk again; numba tells entries apart by their qualified names.
    entry = FunctionType(_entry.__code__, {**globals(), "policy": numba.njit(**options)(function)})
    entry.__qualname__ = f"{function.__module__}.{function.__qualname__}"
    actions, params, rng = POINTERS
    signature = numba.int64(type_of(state), actions, numba.int64, params, numba.int64, rng)
    return numba.njit(signature, cache=ours, **options)(entry)
