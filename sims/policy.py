"""A policy: a function from what a seat sees to an action, with parameter values and a spec that names both.

Every policy has one signature, ``function(view, actions, n, params, rng) -> action``: the record that its seat may see, the
``n`` legal actions in ``actions``, its parameters as floats, and its seat's own random stream (``sims.streams.draw(rng, m)``).
It reads and returns; it never writes. The spec round-trips: ``hold_dice:3,cards=asap`` is the policy ``hold_dice`` with its
first parameter 3 and ``cards`` set to ``asap``.
"""

import hashlib
import importlib
import importlib.util
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np

from sims.digest import Untold, spell
from sims.errors import InputError, choose
from sims.jit import is_ours

if TYPE_CHECKING:
    from sims.ruleset import Ruleset

ENTRY_POINTS = "dicelab.policies"
FILE = Path  # the default of a parameter that is a table read from a .npy file


@dataclass(frozen=True)
class Policy:
    """A function, the parameters that it knows, and their values.

    Attributes
    ----------
    function : callable
        ``function(view, actions, n, params, rng) -> action``.
    name : str
        How the policy is named, up to the parameters: ``hold_pot``, ``mine.py:bold``.
    parameters : dict
        Default per parameter: a number, a tuple of words (the first is the default), or ``FILE`` for a table.
    values : tuple
        A number, a word, or for ``FILE`` a path or an array, per parameter.
    """

    function: Callable
    name: str
    parameters: Mapping[str, Any]
    values: tuple
    table_size: Callable[[Mapping[str, Any]], int] | None = None  # from a variant's values; None for any size
    # What it plays from besides its values: a table, made by `solve(ruleset, variant, *values)`.
    solve: Callable[..., np.ndarray] | None = None
    # The variant that the table is for, and the call that returns it: only who plays waits for it.
    solved: tuple[Any, Callable[[], np.ndarray]] | None = field(default=None, compare=False, repr=False)

    def solved_for(self, ruleset: "Ruleset", variant: Any) -> "Policy":
        """Return the policy with its solution of a variant; raises InputError if it holds that of another one."""
        if self.solve is None:
            return self
        if self.solved is None:
            return replace(self, solved=(variant, partial(self.solve, ruleset, variant, *self.values)))
        if dict(self.solved[0].values) != dict(variant.values):
            raise InputError(f"{self.spec} was solved for the variant {self.solved[0]}, not for {variant}")
        return self

    def check(self, variant_values: Mapping[str, Any]) -> None:
        """Raise InputError if the table does not fit the variant: compiled, a short one would be read past its end."""
        if self.table_size is not None and self.params.size != self.table_size(variant_values):
            size = self.table_size(variant_values)
            raise InputError(f"{self.spec} has {self.params.size} entries; this variant needs a table of {size}")

    def __call__(self, /, *args: Any, **named: Any) -> "Policy":
        """Return the same policy with other parameter values: ``hold_dice(3, cards="asap")``."""
        if len(args) > len(self.parameters):
            raise InputError(f"{self.name} has {len(self.parameters)} parameters, not {len(args)}")
        given = dict(zip(self.parameters, args, strict=False))
        for name in given.keys() & named.keys():
            raise InputError(f"{name} of {self.name} is given twice: {given[name]!r} and {named[name]!r}; choose one of them")
        given |= named
        values = dict(zip(self.parameters, self.values, strict=True))
        for name, value in given.items():
            choose(name, self.parameters, f"parameter of {self.name}")
            values[name] = _value(self.name, name, self.parameters[name], value)
        return replace(self, values=tuple(values.values()), solved=None)

    @property
    def spec(self) -> str:
        """The text that :func:`load_policy` turns into this policy."""
        parts = []
        for i, (name, value) in enumerate(zip(self.parameters, self.values, strict=True)):
            default = self.parameters[name]
            if i == 0 and not isinstance(default, tuple):
                parts.append(_text(value))
            elif value != _default(default):
                parts.append(f"{name}={_text(value)}")
        return ":".join([self.name, ",".join(parts)]) if parts else self.name

    def __str__(self) -> str:
        return self.spec

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process gets: not our own solutions, which are large and are found again there."""
        left = {"params"} if self.solve is not None and is_ours(self.solve) else set()
        state = {name: value for name, value in vars(self).items() if name not in left}
        return {**state, "function": _packed(self.function)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, function=_unpacked(state["function"]))

    @property
    def digest(self) -> str | None:
        """A hash of all that decides how this policy plays, or None where that cannot be told."""
        try:
            does = spell((self.spec, self.function, self._plays_from()))
        except (Untold, RecursionError):
            return None
        return hashlib.sha256(does.encode()).hexdigest()

    def _plays_from(self) -> Any:
        """What tells its parameters: themselves, or, not to solve anything yet, what is solved by code of this package."""
        if self.solved is None or self.solve is None or not is_ours(self.solve):
            return self.params
        return self.solve, dict(self.solved[0].values)

    @cached_property
    def params(self) -> np.ndarray:
        """What the function gets: its numbers, and behind them the table that it plays from."""
        if self.solved is None:
            return self.numbers
        table = self.solved[1]()
        return np.concatenate([self.numbers, table]) if self.parameters else table

    @cached_property
    def numbers(self) -> np.ndarray:
        """One float per parameter; for a table of its own, the table, flat, read once."""
        numbers: list[np.ndarray] = []
        for default, value in zip(self.parameters.values(), self.values, strict=True):
            if default is FILE:
                numbers.append(_table(self.name, value))
            else:
                numbers.append(np.array([default.index(value) if isinstance(default, tuple) else value], float))
        return np.ascontiguousarray(np.concatenate(numbers) if numbers else np.zeros(1))


def policy(
    function: Callable | None = None,
    *,
    table_size: Callable | None = None,
    solve: Callable | None = None,
    **parameters: Any,
) -> Any:
    """Make a policy of a function: ``@policy`` or ``@policy(points=20, cards=("none", "asap"))``.

    Examples
    --------
    >>> @policy(points=20)
    ... def stop_at(view, actions, n, params, rng):
    ...     return 0 if view.pot >= params[0] else 1
    >>> stop_at(25).spec
    'stop_at:25'
    """
    if function is None:
        return lambda function: policy(function, table_size=table_size, solve=solve, **parameters)
    code = getattr(function, "__code__", None)
    if code is None or code.co_argcount != 5:
        raise InputError(f"a policy is a function of (view, actions, n, params, rng), not {function!r}")
    values = tuple(_default(default) for default in parameters.values())
    return Policy(function, function.__name__, parameters, values, table_size, solve)


def _default(default: Any) -> Any:
    return default[0] if isinstance(default, tuple) else "" if default is FILE else default


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):  # different tables are different policies
        return f"<array {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:8]}>"
    return str(value)


def _value(policy_name: str, name: str, default: Any, value: Any) -> Any:
    if default is FILE:
        return value.copy() if isinstance(value, np.ndarray) else value  # the policy stays what its spec says
    if isinstance(default, tuple):
        return choose(str(value), default, f"{name} of {policy_name}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{name} of {policy_name} must be a number, not {value!r}")
    return int(number) if number.is_integer() else number


def _table(policy_name: str, value: Any) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value.astype(float).ravel()
    if not str(value):
        raise InputError(f"{policy_name} needs a table: {policy_name}:FILE.npy")
    try:
        return np.load(value, allow_pickle=False).astype(float).ravel()
    except (OSError, ValueError) as error:
        raise InputError(f"{policy_name} cannot read the table {str(value)!r}: {error}") from error


# --- from one process to another ------------------------------------------------------------------------------------------


@cache
def _packed(function: Callable) -> bytes:
    """Return what another process makes a function of: its name, if it is of this package, else its code and what that uses."""
    return cloudpickle.dumps((function.__module__, function.__qualname__) if is_ours(function) else function)


@cache
def _unpacked(packed: bytes) -> Callable:
    """Return the same function for the same bytes, so that it is compiled once, whatever its parameters."""
    found = cloudpickle.loads(packed)
    if callable(found):
        return found
    module, name = found
    found = getattr(importlib.import_module(module), name)
    return found.function if isinstance(found, Policy) else found


# --- from a spec to a policy ----------------------------------------------------------------------------------------------


def load_policy(ruleset: "Ruleset", spec: "str | Policy | Callable") -> Policy:
    """Return the policy that a spec names.

    Parameters
    ----------
    ruleset : Ruleset
        Its own policies are known by name.
    spec : str, Policy or function
        ``name``, ``path/to/file.py:name``, ``module:name`` or the name of an installed entry point of the group
        ``dicelab.policies``, each followed by ``:value,parameter=value,...`` if wanted. A Policy is returned as it is.

    Raises
    ------
    InputError
        If there is no such policy, file, module or parameter.
    """
    if isinstance(spec, Policy):
        return spec
    if callable(spec):
        return policy(getattr(spec, "py_func", spec))  # a function that numba has compiled already is compiled our way
    text = str(spec).strip()
    head, _, rest = text.partition(":")
    if ".py:" in text or text.endswith(".py"):
        return _load_from_file(text)
    if head in ruleset.policies:
        return _with_settings(ruleset.policies[head], rest)
    plug_ins = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if head in plug_ins:
        try:
            found = plug_ins[head].load()
        except Exception as error:
            raise InputError(f"the installed policy {head!r} does not load: {error}") from error
        return _with_settings(_named(found, head), rest)
    name, _, settings = rest.partition(":")
    if name.isidentifier() and _is_module(head):
        try:
            module = importlib.import_module(head)
        except Exception as error:
            raise InputError(f"the module {head!r} does not load: {type(error).__name__}: {error}") from error
        return _with_settings(_member(module, name, f"{head}:{name}"), settings)
    choose(head, [*ruleset.policies, *plug_ins], f"policy of {ruleset.name}")
    raise AssertionError("unreachable: a known head returned above")


def installed_policies() -> dict[str, str]:
    """Return the entry points of installed packages: ``"ok"``, or why one does not load."""
    statuses = {}
    for point in entry_points(group=ENTRY_POINTS):
        try:
            statuses[point.name] = f"ok: {_named(point.load(), point.name).spec}"
        except Exception as error:  # a broken plug-in is listed and does not crash the rest
            statuses[point.name] = f"broken: {type(error).__name__}: {error}"
    return statuses


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _load_from_file(text: str) -> Policy:
    path, _, rest = text.partition(".py:")
    path, (name, _, settings) = f"{path.removesuffix('.py')}.py", rest.partition(":")
    if not name:
        raise InputError(f"{text!r} names no policy; write {path}:NAME")
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise InputError(f"cannot read the policy file {path!r}")
    module = importlib.util.module_from_spec(spec)
    try:  # not exec_module: Python's cache of compiled files overlooks an edit of the same size in the same second
        exec(compile(Path(path).read_bytes(), path, "exec", dont_inherit=True), vars(module))
    except Exception as error:
        raise InputError(f"the policy file {path!r} does not load: {type(error).__name__}: {error}") from error
    return _with_settings(_member(module, name, f"{path}:{name}"), settings)


def _member(module: Any, name: str, full_name: str) -> Policy:
    names = [key for key, value in vars(module).items() if isinstance(value, Policy)]
    if not hasattr(module, name):
        choose(name, names, f"policy in {full_name.rpartition(':')[0]}")
    return _named(getattr(module, name), full_name)


def _named(found: Any, name: str) -> Policy:
    if not isinstance(found, Policy) and not callable(found):
        raise InputError(f"{name} is not a policy but a {type(found).__name__}")
    return replace(found if isinstance(found, Policy) else policy(found), name=name)


def _with_settings(base: Policy, settings: str) -> Policy:
    args: list[str] = []
    named: dict[str, str] = {}
    for setting in filter(None, settings.split(",")):
        name, equals, value = setting.partition("=")
        name, value = name.strip(), value.strip()
        if equals and name in named:
            raise InputError(f"{name} of {base.name} is given twice: {named[name]!r} and {value!r}; choose one of them")
        if equals:
            named[name] = value
        elif named:
            raise InputError(f"{base.name}: {setting!r} follows a named parameter; write parameter=value")
        else:
            args.append(setting.strip())
    return base(*args, **named)
