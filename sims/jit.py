"""The only numba configuration: one decorator for kernels and rules, one for policies, and the cache folder.

numba notices a changed file but not a changed *callee*: a kernel cached on disk would go on playing yesterday's rules.
So the cache folder is keyed by a hash of every source file of this package, and is set before numba compiles anything.
With ``NUMBA_DISABLE_JIT=1`` every decorator here returns the plain Python function.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from platformdirs import user_cache_path

PACKAGE = Path(__file__).parent
MAX_ACTIONS = 256  # room in the buffer of legal actions


def sources_hash(package: Path) -> str:
    """Return a hash of every source file of a package."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def is_ours(function: Callable) -> bool:
    """Is this a function of this package, which the hash of its sources covers?"""
    return Path(function.__code__.co_filename).is_relative_to(PACKAGE)


def _cache_folder() -> Path:
    folder = user_cache_path("dicelab") / "kernels" / SOURCES
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # no writable home: compile anew in every session rather than fail
        return Path(tempfile.mkdtemp(prefix="dicelab-kernels-"))
    return folder


SOURCES = sources_hash(PACKAGE)
CACHE = _cache_folder()
os.environ["NUMBA_CACHE_DIR"] = str(CACHE)
os.environ["NUMBA_OPT"] = "1"  # games are as fast as at 3, and compiled in two thirds to nine tenths of the time
os.environ["NUMBA_LOOP_VECTORIZE"] = "0"  # loops over seats gain nothing, and their vectors spill at every policy call

import numba  # noqa: E402  (the cache folder must be known before numba loads)
import numba.core.errors  # noqa: E402
import numba.extending  # noqa: E402
import numpy as np  # noqa: E402
from numba.core import cgutils  # noqa: E402
from numba.np.arrayobj import populate_array  # noqa: E402

_config: Any = numba.config  # numba does not declare its settings
_config.reload_config()  # a notebook may have imported numba before us

INTERPRETED = bool(_config.DISABLE_JIT)

njit: Any = numba.njit  # numba does not declare `_nrt`
_UNCOUNTED: dict[str, Any] = {"_nrt": False, "forceinline": True}
"""No reference counting: it took most of a policy call (two atomic operations per view). Such a function cannot allocate."""

jit = njit(nogil=True, cache=True, error_model="numpy", **_UNCOUNTED)
"""Decorator of every kernel, rules function and policy helper; none of them allocates."""


cold = njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
"""The same for what happens rarely, or is long and called from many places: left out of line, it keeps the loop short."""


@contextmanager
def vectorised() -> Iterator[None]:
    """Compile what is first called in this block with vector instructions: for loops over long rows of numbers."""
    _config.LOOP_VECTORIZE = 1
    try:
        yield
    finally:
        _config.LOOP_VECTORIZE = 0


def type_of(state: np.dtype) -> Any:
    """What numba calls a record of this dtype (the dtype itself when nothing is compiled)."""
    return state if INTERPRETED else numba.from_dtype(state)


def copy_record(source, target):
    """Overwrite a record with another of the same type, as one block of memory."""
    target.setfield(source, source.dtype)


if not INTERPRETED:

    def _typed_copy(typing, source, target):
        if source != target:
            raise numba.core.errors.TypingError(f"{source} does not fit into {target}")

        def generate(context, builder, signature, arguments):
            cgutils.raw_memcpy(builder, arguments[1], arguments[0], context.get_constant(numba.types.intp, source.size), 1)
            return context.get_dummy_value()

        return numba.types.void(source, target), generate

    _copy: Any = numba.extending.intrinsic(_typed_copy)

    @numba.extending.overload(copy_record)
    def _copy_record(source, target):
        return lambda source, target: _copy(source, target)


# --- policies ---------------------------------------------------------------------------------------------------------------

_ALLOCATING: set[Callable] = set()
_ACTIONS, _PARAMS, _STREAM = (numba.types.CPointer(number) for number in (numba.int32, numba.float64, numba.uint64))
"""How arrays travel to a policy: an array itself is seven words, and passing three took longer than most policies."""


def _signature(view: Any) -> Any:
    """Return the signature that every policy shares, for one kind of view."""
    return numba.int64(view, _ACTIONS, numba.int64, _PARAMS, numba.int64, _STREAM)


HANDLE = np.dtype([("function", np.uint64), ("params", np.uint64), ("n_params", np.int64)])
"""What the loop holds of a policy: addresses of its entry and of its parameters, which are shared and never copied."""


def ask(policies, entry, view, actions, n, rng):
    """Ask one of the policies for an action, in the loop; see :func:`handles`."""
    function, params = policies[entry]
    return function(view, actions, n, params, rng)


def whole_number(action):
    """Return a policy's answer as an action; what is none becomes -1, which is never legal."""
    try:
        return int(action) if action == int(action) else -1
    except (TypeError, ValueError):
        return -1


def _entry(view, actions, n, params, n_params, rng):
    action = policy(view, _array(actions, MAX_ACTIONS), n, _array(params, n_params), _array(rng, 4))  # type: ignore[name-defined] # noqa: F821
    return whole_number(action)


if not INTERPRETED:

    @numba.extending.overload(ask)
    def _ask(policies, entry, view, actions, n, rng):
        def ask(policies, entry, view, actions, n, rng):
            policy = policies[entry]
            return _call(policy.function, view, actions.ctypes, n, policy.params, policy.n_params, rng.ctypes)

        return ask

    @numba.extending.overload(whole_number)
    def _whole_number(action):
        if isinstance(action, numba.types.Float):
            return lambda action: np.int64(action) if action == np.int64(action) else np.int64(-1)
        if isinstance(action, numba.types.Integer | numba.types.Boolean | numba.types.IntEnumMember):
            return lambda action: np.int64(action)
        raise numba.core.errors.TypingError(f"a policy returns a whole number, not {action}")

    def _typed_call(typing, address, view, actions, n, params, n_params, rng):
        signature = _signature(view)

        def generate(context, builder, _, arguments):
            convention, kinds = context.call_conv, (signature.return_type, signature.args)
            function = builder.inttoptr(arguments[0], convention.get_function_type(*kinds).as_pointer())
            params = builder.inttoptr(arguments[4], context.get_value_type(_PARAMS))
            given = [*arguments[1:4], params, *arguments[5:]]
            status, action = convention.call_function(builder, function, *kinds, given)
            with cgutils.if_unlikely(builder, status.is_error):  # the policy's own exception goes on
                convention.return_status_propagate(builder, status)
            return action

        by_address = (numba.uint64, *signature.args[:3], numba.uint64, *signature.args[4:])
        return signature.return_type(*by_address), generate

    def _typed_array(typing, pointer, size):
        array = numba.types.Array(pointer.dtype, 1, "C")

        def generate(context, builder, signature, arguments):
            data, n = arguments
            result = context.make_array(array)(context, builder)
            itemsize = context.get_constant(numba.types.intp, context.get_abi_sizeof(context.get_data_type(pointer.dtype)))
            populate_array(result, data=data, shape=[n], strides=[itemsize], itemsize=itemsize, meminfo=None)
            return result._getvalue()

        return array(pointer, numba.types.intp), generate

    _call: Any = numba.extending.intrinsic(_typed_call)
    """Call the policy at an address."""
    _array: Any = numba.extending.intrinsic(_typed_array)
    """Return the array of so many entries at a pointer (numba's ``carray`` needs reference counting)."""


def allocates(function: Callable) -> Callable:
    """Mark a policy of this package that makes arrays of its own: it is compiled with reference counting, as a user's is."""
    _ALLOCATING.add(function)
    return function


@cache
def compile_policy(function: Callable, state: np.dtype) -> int:
    """Compile a policy for one kind of state, behind an entry with the one signature that every policy shares.

    The loop calls the entry by its address, so one compiled loop serves every pairing. Only the policies of this
    package are cached on disk: the key of the cache folder covers no others.

    Returns
    -------
    address : int
        Of the entry; it stays valid, as numba never unloads code.

    Raises
    ------
    numba.core.errors.NumbaError
        If numba cannot compile the function.
    """
    ours = is_ours(function)
    is_counted = not ours or function in _ALLOCATING
    options: dict[str, Any] = {"error_model": "numpy", **({} if is_counted else _UNCOUNTED)}
    # Not a closure, which would never be found on disk again; numba tells entries apart by their qualified names.
    entry = FunctionType(_entry.__code__, {**globals(), "policy": njit(**options)(function)})
    entry.__qualname__ = f"{function.__module__}.{function.__qualname__}"
    signature = _signature(type_of(state))
    compiled = njit(signature, cache=ours, **options)(entry).overloads[signature.args]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


def handles(policies: Iterable[Any], state: np.dtype, interpreted: bool = INTERPRETED) -> Any:
    """Return what :func:`ask` asks: ``HANDLE`` records of policies, which the caller keeps alive.

    Interpreted, these are pairs of a function and its parameters.
    """
    if interpreted:
        return [(_interpreted(each.function), each.params) for each in policies]
    records = [(compile_policy(each.function, state), each.params.ctypes.data, each.params.size) for each in policies]
    return np.array(records, HANDLE).view(np.recarray)


def _interpreted(function: Callable) -> Callable:
    return lambda *args: whole_number(function(*args))
