"""Bad input: one exception with one clear line, and the checks that produce most of those lines."""

import difflib
from collections.abc import Iterable
from numbers import Integral
from typing import Any


class InputError(ValueError):
    """A value that cannot be used; the message names it and the valid choices. The command line exits with 2."""


def choose(value: str, valid: Iterable[str], what: str) -> str:
    """Return `value` if it is one of the valid ones; raises InputError with the closest and all the valid ones."""
    valid = list(valid)
    if value in valid:
        return value
    close = difflib.get_close_matches(str(value), valid, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    raise InputError(f"unknown {what}: {value!r}; {hint}choose from {', '.join(valid)}")


def check_int(value: Any, what: str, low: int, high: int) -> int:
    """Return a whole number within bounds, or raise InputError."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        raise InputError(f"{what} must be a whole number from {low} to {high}, not {value!r}")
    return int(value)


def parse_int(text: str, what: str, low: int, high: int, also: str = "") -> int:
    """Return an integer within bounds, or raise InputError."""
    try:
        number = int(text)
    except (TypeError, ValueError):
        number = None
    if number is None or not low <= number <= high:
        raise InputError(f"{what} must be a whole number from {low} to {high}{also}, not {text!r}")
    return number
