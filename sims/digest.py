"""What a function does, as text to hash: its code and every value that the code reaches, wherever they were written.

Remembered results need it. The bytes of a policy's file would miss the helpers and tables that the file imports, and would name
code that is not the code loaded when a module was edited after its import. What cannot be told is never guessed.
"""

import hashlib
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from sims.errors import InputError
from sims.jit import INTERPRETED, is_ours

FOREIGN = {"builtins", "cmath", "math", "numba", "numpy", "operator"}
"""Modules whose functions are known by name; those of this package are too, as ``jit.SOURCES`` covers them."""
FICKLE = {"objmode", "random"}
"""What numba or numpy offers that does not do the same every time."""
PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype)


class Untold(InputError):
    """What a function does depends on something that cannot be read."""


def spell(value: Any, names: frozenset[str] = frozenset(), seen: tuple = ()) -> str:
    """Return the text of a value; raises Untold if it may stand for different behaviour at different times.

    Parameters
    ----------
    value : object
        A function, or what one uses.
    names : frozenset of str
        What the code around it looks up: of a module, these are all that matters.
    seen : tuple
        The functions around it, which may call each other.
    """
    if hasattr(value, "py_func"):  # what numba has compiled
        return spell((value.py_func, value.targetoptions), names, seen)
    if isinstance(value, PLAIN):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, (tuple, list)):
        return f"({','.join(spell(each, names, seen) for each in value)})"
    if isinstance(value, (set, frozenset)):
        return f"{{{','.join(sorted(spell(each, names, seen) for each in value))}}}"
    if isinstance(value, dict):
        return spell(list(value.items()), names, seen)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, CodeType):
        parts = [getattr(value, f"co_{part}") for part in ("code", "names", "varnames", "freevars", "exceptiontable", "consts")]
        return spell(parts, names, seen)
    if isinstance(value, FunctionType) and is_ours(value):
        return f"{value.__module__}.{value.__qualname__}"
    if _is_foreign(value):
        return f"{getattr(value, '__module__', '')}.{value.__name__}"
    if isinstance(value, ModuleType):
        return spell({name: vars(value)[name] for name in sorted(names) if name in vars(value)}, names, seen)
    if isinstance(value, FunctionType):
        return "again" if value in seen else _spell_function(value, (*seen, value))
    raise Untold(f"{value!r}")


def _spell_function(function: FunctionType, seen: tuple) -> str:
    names = frozenset(_names(function.__code__))
    if INTERPRETED or names & FICKLE:  # Python that is not compiled may read anything: a file, the clock
        raise Untold(function.__qualname__)
    scope = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return spell((function.__code__, function.__defaults__, function.__kwdefaults__, scope, cells), names, seen)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_foreign(value: Any) -> bool:
    """Is this a module of others, or what one of them calls by its own name?"""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in FOREIGN
    home, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not isinstance(home, str) or not isinstance(name, str) or home.partition(".")[0] not in FOREIGN:
        return False
    return getattr(sys.modules.get(home), name, None) is value
