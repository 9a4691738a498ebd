import ast
from pathlib import Path

import numpy as np
import pytest

from sims import RULESETS
from sims.jit import INTERPRETED, MAX_ACTIONS, PACKAGE, ask, cold, jit, players
from sims.policy import Policy
from sims.ruleset import is_among

PIG = RULESETS["pig"]


@cold
def halve(numbers, until):
    """Halve the first number down to a limit; return how often."""
    n = 0
    while numbers[0] > until:
        numbers[0] >>= 1
        n += 1
    return n


@jit
def halve_if(numbers, is_wanted):
    """Halve, or leave alone."""
    return halve(numbers, 3) if is_wanted else -1


@cold
def swap(numbers):
    """Return nothing."""
    numbers[0], numbers[1] = numbers[1], numbers[0]


@jit
def swap_twice(numbers):
    """Call it, twice."""
    swap(numbers)
    swap(numbers)
    numbers[0] += 1


def test_cold_functions_do_the_same_compiled_and_called_from_python():
    numbers = np.array([100, 7])
    assert halve_if(numbers, False) == -1
    assert numbers.tolist() == [100, 7]
    assert halve_if(numbers, True) == 5
    assert numbers.tolist() == [3, 7]
    assert halve(np.array([8]), 1) == 3
    swap_twice(numbers)
    assert numbers.tolist() == [4, 7]


def raising(source):
    """Names of functions decorated as cold in which something may be raised."""
    functions = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.FunctionDef)]
    colds = [each for each in functions if any(ast.unparse(mark) == "cold" for mark in each.decorator_list)]
    return [each.name for each in colds if any(isinstance(node, ast.Raise | ast.Assert) for node in ast.walk(each))]


def test_no_cold_function_raises():
    """Nobody would look."""
    assert raising("@cold\ndef f():\n    raise ValueError") == ["f"]
    assert not [name for path in Path(PACKAGE).rglob("*.py") for name in raising(path.read_text())]


@jit
def answer_of(player, state, n):
    return ask(player, state, n)


def marked(view, actions, n, params, rng):
    """Return what tells who was asked with which stream."""
    return 1000 * params[0] + rng[0]


@pytest.mark.parametrize("interpreted", [True] if INTERPRETED else [False, True])
def test_players_are_seated_in_every_rotation(interpreted):
    seats, actions = 3, np.zeros(MAX_ACTIONS, np.int32)
    minds = np.arange(100, 100 + 4 * seats, dtype=np.uint64).reshape(seats, 4)
    policies = [Policy(marked, "marked", {"entry": 0}, (entry,)) for entry in range(seats)]
    state = PIG.new_state(seats)
    seated = players(policies, PIG.state, actions, minds, interpreted)
    asked = ask if interpreted else answer_of
    for rotation, seat in np.ndindex(seats, seats):
        assert asked(seated[rotation, seat], state, 2) == 1000 * ((rotation + seat) % seats) + minds[seat, 0]


@pytest.mark.parametrize("n", range(1, 6))
def test_is_among_looks_at_the_first_n(n):
    numbers = np.array([5, 3, 9, 4, 7, 8], np.int32)
    assert [is_among(number, numbers, n) for number in range(11)] == [number in numbers[:n] for number in range(11)]
