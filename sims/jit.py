"""The only numba configuration: one decorator for kernels and rules, one for policies, and the cache folder.

numba notices a changed file but not a changed *callee*: a kernel cached on disk would go on playing yesterday's rules.
So the cache folder is keyed by a hash of every source file of this package, and is set before numba compiles anything.
With ``NUMBA_DISABLE_JIT=1`` every decorator here returns the plain Python function.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
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
os.environ["NUMBA_OPT"] = "2"  # games are as fast as at 3, or faster, and compiled in less time
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

apart = njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=False)
"""The same for what is called as a whole, as the game loop, which should not share registers with what is around it."""


def cold(function: Callable) -> Callable:
    """Decorate what happens rarely: it stays out of line, and the compiler lays the usual path out straight.

    A call costs nothing unless it happens. Such a function must not raise: nobody looks.
    """
    if INTERPRETED:
        return function
    compiled = apart(function)

    @wraps(function)
    def called(*args):
        return compiled(*args)

    vars(called).pop("__wrapped__")  # numba would take the function's signature for this one's
    vars(called)["py_func"] = function
    overload(called)(lambda *args: lambda *args: _call_rarely(compiled, args))
    return called


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


def overload(function: Callable) -> Callable:
    """Decorate what says how a function is compiled, by the types of its arguments; it is always inlined."""
    return numba.extending.overload(function, jit_options={"forceinline": True})


if not INTERPRETED:

    def _typed_copy(typing, source, target):
        if source != target:
            raise numba.core.errors.TypingError(f"{source} does not fit into {target}")

        def generate(context, builder, signature, arguments):
            cgutils.raw_memcpy(builder, arguments[1], arguments[0], context.get_constant(numba.types.intp, source.size), 1)
            return context.get_dummy_value()

        return numba.types.void(source, target), generate

    _copy: Any = numba.extending.intrinsic(_typed_copy)

    def _call_compiled(context, builder, callee, signature, arguments):
        """Call as numba does, but leave the room for results as it is: numba clears it, called or not, wherever it stands.

        Returns the call, which is 0 or says that there is an exception, the pointer to it, and the result.
        """
        with builder.goto_entry_block():
            result, exception = (builder.alloca(each.pointee) for each in callee.type.pointee.args[:2])
        given = context.get_arg_packer(signature.args).as_arguments(builder, arguments)
        call = builder.call(callee, [result, exception, *given])
        return call, exception, context.get_returned_value(builder, signature.return_type, builder.load(result))

    def _typed_rare_call(typing, function, arguments):
        signature = function.get_call_type(typing, tuple(arguments), {})

        def generate(context, builder, given, values):
            overload = function.dispatcher.overloads[signature.args]
            context.add_linking_libs([overload.library])
            values = cgutils.unpack_tuple(builder, values[1])
            values = [context.cast(builder, *each) for each in zip(values, arguments, signature.args, strict=True)]
            callee = context.declare_function(builder.module, overload.fndesc)
            call, _, result = _call_compiled(context, builder, callee, signature, values)
            call.attributes._known |= {"cold"}  # llvmlite knows it for functions only
            call.attributes.update(("cold", "noinline"))
            return result

        return signature.return_type(function, arguments), generate

    _call_rarely: Any = numba.extending.intrinsic(_typed_rare_call)

    @overload(copy_record)
    def _copy_record(source, target):
        return lambda source, target: _copy(source, target)


# --- policies ---------------------------------------------------------------------------------------------------------------

_ALLOCATING: set[Callable] = set()
PLAYER = np.dtype([(name, np.uint64) for name in ("function", "actions", "params", "n_params", "rng")])
"""A policy in its seat, for the loop: addresses of its entry, the list of legal actions, its parameters and its stream.

An array itself is seven words, and passing three of them took longer than most policies."""


def _signature(view: Any) -> Any:
    """Return the signature that every policy's entry shares, for one kind of view."""
    return numba.int64(view, numba.int64, type_of(PLAYER))


def ask(player, view, n):
    """Ask a player for one of the first n legal actions, in the loop; see :func:`players`."""
    function, actions, params, rng = player
    return function(view, actions, n, params, rng)


def whole_number(action):
    """Return a policy's answer as an action; what is none becomes -1, which is never legal."""
    try:
        return int(action) if action == int(action) else -1
    except (TypeError, ValueError):
        return -1


def _entry(view, n, player):
    actions, rng = _array(player.actions, MAX_ACTIONS, np.int32), _array(player.rng, 4, np.uint64)
    params = _array(player.params, player.n_params, np.float64)
    return whole_number(policy(view, actions, n, params, rng))  # type: ignore[name-defined] # noqa: F821


if not INTERPRETED:

    @overload(ask)
    def _ask(player, view, n):
        return lambda player, view, n: _call(player.function, view, n, player)

    @overload(whole_number)
    def _whole_number(action):
        if isinstance(action, numba.types.Float):
            return lambda action: np.int64(action) if action == np.int64(action) else np.int64(-1)
        if isinstance(action, numba.types.Integer | numba.types.Boolean | numba.types.IntEnumMember):
            return lambda action: np.int64(action)
        raise numba.core.errors.TypingError(f"a policy returns a whole number, not {action}")

    def _typed_call(typing, address, view, n, player):
        signature = _signature(view)

        def generate(context, builder, _, arguments):
            convention = context.call_conv
            kind = convention.get_function_type(signature.return_type, signature.args).as_pointer()
            function = builder.inttoptr(arguments[0], kind)
            call, exception, action = _call_compiled(context, builder, function, signature, arguments[1:])
            with cgutils.if_unlikely(builder, cgutils.is_not_null(builder, call)):  # the policy's own exception goes on
                convention.return_status_propagate(builder, convention._get_return_status(builder, call, builder.load(exception)))
            return action

        return signature.return_type(numba.uint64, *signature.args), generate

    def _typed_array(typing, address, size, kind):
        array = numba.types.Array(kind.dtype, 1, "C")

        def generate(context, builder, signature, arguments):
            itemtype = context.get_data_type(array.dtype)
            data = builder.inttoptr(arguments[0], itemtype.as_pointer())
            result = context.make_array(array)(context, builder)
            itemsize = context.get_constant(numba.types.intp, context.get_abi_sizeof(itemtype))
            populate_array(result, data=data, shape=[arguments[1]], strides=[itemsize], itemsize=itemsize, meminfo=None)
            return result._getvalue()

        return array(numba.uint64, numba.types.intp, kind), generate

    _call: Any = numba.extending.intrinsic(_typed_call)
    """Call the policy at an address."""
    _array: Any = numba.extending.intrinsic(_typed_array)
    """Return the array of so many entries of a kind at an address (numba's ``carray`` needs reference counting)."""


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


def players(policies: Sequence[Any], state: np.dtype, actions: Any, minds: Any, interpreted: bool = INTERPRETED) -> Any:
    """Seat policies in every rotation of a deal, for :func:`ask`.

    Parameters
    ----------
    policies : sequence of Policy
        The caller keeps their parameters alive, which are shared and never copied, and both arrays.
    state : dtype
        The kind of position.
    actions : int32 array (MAX_ACTIONS,)
        Where the legal actions will stand.
    minds : uint64 array (seats, 4)
        The stream of each seat.

    Returns
    -------
    players : array (rotations, seats)
        ``PLAYER`` records, or interpreted, tuples: entry (r, s) is policy (r + s) mod seats, in seat s.
    """
    seats = len(policies)
    found = np.empty((seats, seats), object) if interpreted else np.zeros((seats, seats), PLAYER).view(np.recarray)
    for entry, policy in enumerate(policies):
        function: Any = _interpreted(policy.function) if interpreted else compile_policy(policy.function, state)
        for seat, rng in enumerate(minds):
            found[(entry - seat) % seats, seat] = (
                (function, actions, policy.params, rng)
                if interpreted
                else (function, actions.ctypes.data, policy.params.ctypes.data, policy.params.size, rng.ctypes.data)
            )
    return found


def _interpreted(function: Callable) -> Callable:
    return lambda *args: whole_number(function(*args))
