"""The search for the best rules that fit on a card, by what each costs against best play, exactly.

From each start all changes of a single parameter to another value of the grid are tried that leave no more lines than asked for.
The best one is made, then the best of each other parameter, in the order of what they gained alone, if it still gains; and again,
until no change gains (coordinate descent). So no single change within the grid improves what is found; that no other rule of so
many lines is better is not proved.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from tqdm import tqdm

from sims.errors import check_int
from sims.policy import Policy
from sims.ruleset import Ruleset
from sims.rulesets.dice_fever.evaluation import Costs
from sims.rulesets.dice_fever.readable import BY, lines, rule_1
from sims.simulate import find_ruleset

MAX_LINES = 9
Grid = Mapping[str, Sequence[Any]]

BY_DICE = {"stop": (2, 3, 4), "chase_stop": (4, 5), "relance": (0, 1, 2), "lead_stop": (1, 2)}
BY_POINTS = {
    "stop": (7, 8, 9, 10),
    "chase_stop": (9, 10, 12),
    "relance": (0, 4, 5, 6),
    "lead_stop": (5, 6, 7),
    "dice": (0, 3, 4),  # four are worth 10 or more
}
START = {"worth": {}, "points": {}, "dice": {"stop": 3, "chase_stop": 4, "lead_stop": 2}}
EARLY = (1, 8, 16, 32)  # scores until which cards are kept
CARDS = (1, 2, 0)  # PARADE cards of a turn of the starts


def grid_of(by: str, target: int) -> Grid:
    """Return the values that are tried of each parameter of rules that go by this, with this target."""
    early, near = ((0, *(score for score in scores if 0 < score < target)) for scores in (EARLY, _near(target)))
    scores = {"hold": early, "rest": early, "threat": near, "chase": near, "lead": (0, 4, 8, 16, 24)}
    return {"goal": (0, 1), "parade": (0, 1, 2, 3), **scores, **(BY_DICE if by == "dice" else BY_POINTS)}


def _near(target: int) -> tuple[int, ...]:
    return target - 32, target - 16, target - 8


def starts() -> list[Policy]:
    """Return the rules that the search starts from: each measure, and one, two or no PARADE card in a turn."""
    return [rule_1(by=by, parade=parade, **START[by]) for by, parade in product(BY, CARDS)]


def find(
    variant: Any = None, n_lines: int = 3, ruleset: str | Ruleset = "dice-fever", progress: bool = False
) -> tuple[Policy, float]:
    """Return the best rule of so many lines at most that the search finds from any start, and its cost.

    Parameters
    ----------
    variant, ruleset
        As for :func:`sims.simulate.simulate`.
    n_lines : int
        The most lines, 1 to 9.
    progress : bool
        Show how many rules were tried on stderr, if that is a terminal.

    Returns
    -------
    rule : Policy
    cost : float
        Win probability given away per game against best play, over both seats: exact. The costs are remembered, so that a search
        that was stopped goes on where it was.

    Raises
    ------
    InputError
        For bad arguments, and a game with tables that would be too large.
    """
    check_int(n_lines, "lines", 1, MAX_LINES)
    ruleset = find_ruleset(ruleset)
    target, cost = ruleset.variant(variant).values["target"], Costs(ruleset, variant, progress)
    with tqdm(unit=" rules", desc=f"{n_lines} lines", disable=None if progress else True) as bar:
        known: dict[tuple, float] = {}

        def counted(rule: Policy) -> float:
            if rule.values not in known:
                known[rule.values] = cost(rule)
                bar.update(1)
                bar.set_postfix(least=f"{min(known.values()):.4f}")
            return known[rule.values]

        begun = [start for start in starts() if is_short(start, n_lines)]
        found = [search(counted, start, grid_of(start.values[0], target), n_lines) for start in begun]
    return min(found, key=lambda each: each[1])


def search(cost: Callable[[Policy], float], start: Policy, grid: Grid, n_lines: int) -> tuple[Policy, float]:
    """Return a rule of so many lines at most that no change of a single parameter improves, and its cost.

    Parameters
    ----------
    cost : function
        Of a rule; for example what it gives away per game against best play (``evaluation.Costs``).
    start : Policy
        The rule to begin with; it may have no more lines than that.
    grid : dict of str to sequence
        The values to try, by parameter.
    n_lines : int
        The most lines.
    """
    best, best_cost = start, cost(start)
    while True:
        singles, before = single_changes(cost, best, grid, n_lines), best_cost
        for changed_cost, change in sorted(singles, key=lambda single: single[0]):
            if changed_cost >= before:
                break
            other = best(**change)
            if is_short(other, n_lines) and (other_cost := cost(other)) < best_cost:
                best, best_cost = other, other_cost
        if best_cost == before:
            return best, best_cost


def single_changes(
    cost: Callable[[Policy], float], rule: Policy, grid: Grid, n_lines: int
) -> Iterator[tuple[float, dict[str, Any]]]:
    """Yield the best change of each parameter that alone changes the words, with the cost of the rule changed."""
    for name, values in grid.items():
        others = [(value, rule(**{name: value})) for value in values]
        costs = [
            (cost(other), {name: value}) for value, other in others if lines(other) != lines(rule) and is_short(other, n_lines)
        ]
        if costs:
            yield min(costs, key=lambda each: each[0])


def is_short(rule: Policy, n_lines: int) -> bool:
    """Has a rule so many lines at most?"""
    return len(lines(rule)) <= n_lines
