"""A ruleset: a state record, the handful of functions that change it, its variants and its policies.

A state is a NumPy record with named fields and its variant nested inside. At any time it is a decision node, a chance node
or over. The functions below are the whole vocabulary; each ruleset's ``rules`` module defines them under the same names:

    reset(state)                         the first position; seats and variant are kept
    actor(state)                         the seat that must act now, or CHANCE, or OVER
    chance(state) -> m                   number of equally likely outcomes due
    apply_chance(state, outcome)         what outcome 0..m-1 does
    legal_actions(state, actions) -> n   fills an int32 buffer with the n legal actions, in a stable order
    apply_action(state, action)          what the choice does
    payoffs(state, out)                  win share per seat: 1, 0, or 1/k for k that share
    standing(state, seat)                only where it is not the score: how far a seat has come, for who is ahead
    observe(state, seat, view)           only where something is hidden: `view` becomes what that seat may see

They mutate in place, draw nothing, allocate nothing and know no policy. Every STATE has the fields ``variant``, ``seats``,
``turn`` (whose dice are thrown; -1 for the table's) and, per seat, ``score`` and ``turns``.
"""

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from sims import jit
from sims.errors import InputError, choose, parse_int
from sims.jit import MAX_ACTIONS

CHANCE, OVER = -1, -2
SHARE = 2520  # win shares are counted in 2520ths, whole numbers for 1 to 10 winners, so that sums are exact in any order


@dataclass(frozen=True)
class Field:
    """One open question of a rulebook: its default answer and the other answers that a variant may give.

    The type of the default says what kind of field it is: a bool, an int (``low`` to ``high``), a str (one of
    ``choices``), or a tuple (a die: its faces, each one of ``choices``).
    """

    default: bool | int | str | tuple[str, ...]
    note: str
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 1_000_000
    step: int = 1  # an int field has the values low, low + step, ...
    named: Mapping[str, int] = field(default_factory=dict)  # values of an int field that have a name
    alternatives: tuple = ()  # of an int or a die: other values that the rulebook may mean

    MAX_FACES = 12

    def parse(self, name: str, text: str) -> Any:
        """Read a value as written on the command line; raises InputError naming the value and the valid ones."""
        if isinstance(self.default, bool):
            return choose(text.lower(), ("true", "false"), f"{name}") == "true"
        if isinstance(self.default, tuple):
            faces = tuple(choose(face.strip().upper(), self.choices, f"face of {name}") for face in text.split("/"))
            if len(faces) > self.MAX_FACES:
                raise InputError(f"{name} has {len(faces)} faces; at most {self.MAX_FACES}")
            return faces
        if isinstance(self.default, str):
            return choose(text, self.choices, name)
        if text in self.named:
            return text
        also = "".join(f", or {word}" for word in self.named)
        number = parse_int(text, name, self.low, self.high, also)
        if (number - self.low) % self.step:
            raise InputError(f"{name} goes from {self.low} to {self.high} in steps of {self.step}; {number} is none of them")
        return number

    def others(self, value: Any) -> list[Any]:
        """Return the other answers: all of a bool or a str, of an int or a die those that are declared."""
        if isinstance(self.default, bool):
            return [not value]
        if isinstance(self.default, str):
            return [choice for choice in self.choices if choice != value]
        return [answer for answer in (self.default, *self.alternatives) if self.alternatives and answer != value]

    def format(self, value: Any) -> str:
        """Write a value the way :meth:`parse` reads it."""
        if isinstance(value, tuple):
            return "/".join(value)
        return str(value).lower() if isinstance(value, bool) else str(value)

    def code(self, value: Any) -> Any:
        """Return the number (or, for a die, the list of numbers) that stands for a value in the variant record."""
        if isinstance(value, tuple):
            return [self.choices.index(face) for face in value]
        if isinstance(self.default, str):
            return self.choices.index(value)
        return self.named[value] if value in self.named else int(value)

    def columns(self, name: str) -> list[tuple]:
        """Return the columns of the variant record: one number; for a die `d` the array `d` and the number of its faces `n_d`."""
        if isinstance(self.default, tuple):
            return [(name, np.int32, self.MAX_FACES), (f"n_{name}", np.int32)]
        return [(name, np.int32)]


PLY_LIMIT = Field(10_000, "decisions after which a game is stopped and counted as truncated", low=1)


def variant_dtype(fields: Mapping[str, Field]) -> np.dtype:
    """Return the record that holds a variant: the columns of every field."""
    return np.dtype([column for name, spec in fields.items() for column in spec.columns(name)], align=True)


@dataclass(frozen=True)
class Variant:
    """One setting of a ruleset's fields: its name (``plain``, ``standard,target=50``) and every value."""

    name: str
    values: Mapping[str, Any]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Ruleset:
    """A game: its functions, the shape of its state, its variants and its policies."""

    name: str
    title: str
    version: str  # changes when behaviour changes, and only then
    seats: tuple[int, int]
    rules: ModuleType
    presets: Mapping[str, Mapping[str, Any]]
    policies: Mapping[str, Any]
    measures: tuple[str, ...]  # per-seat fields of the state that are counted in the results; no rule reads any but `score`
    named_policies: tuple[str, ...]  # the settings that studies, reports and lists show
    describe: Callable[[Any, int], str]  # a word for the action or outcome `code` in this state
    render: Callable[[Any], str]  # the position in one line
    # The position in several lines, which a transcript shows after each turn; none where it says nothing new.
    picture: Callable[[Any], str] | None = None
    # The game's own exact solver, if it has one (else sims.exact solves it): `solver(ruleset, variant)` returns a solution with
    # `first_seat_win`, `states`, `seconds`, and `path`, the file where it is kept (None if it is not).
    solver: Callable[..., Any] | None = None
    # The module that evaluates fixed policies in two seats of this game, if it has one (else sims.exact does): `evaluate` as
    # there, and `regret`. Only its name, as it needs what plays games, and that imports the rulesets.
    evaluation: str | None = None
    # Exact chances to win between two, if they are known: `win_table(ruleset, variant)` returns a flat table, in which
    # `win_chance(state, seat, table)`, compiled, looks up the start of a turn.
    win_table: Callable[..., np.ndarray] | None = None
    win_chance: Callable[..., float] | None = None
    # What ``dicelab balance`` compares: settings from weakest to strongest; and what a card or a rule is worth, by how a setting
    # fares that may not use it: (what, the setting, the same without it).
    ladder: tuple[str, ...] = ()
    restricted: tuple[tuple[str, str, str], ...] = ()
    # The module by which its games are adjusted for luck, where that pays (see sims.luck).
    luck: ModuleType | None = None

    def __post_init__(self) -> None:
        for kind in (jit.type_of(self.state), self.state):  # the name, so that a notebook may define its game again
            other = BY_STATE.setdefault(kind, self)
            if other.name != self.name:
                raise InputError(f"{self.name} has the same STATE as {other.name}, whose rules it would play; add a field to it")
            BY_STATE[kind] = self

    def __reduce__(self) -> tuple:
        """Go to another process by the name of the game's package, or whole where there is none, as in a notebook."""
        home = getattr(self.rules, "__name__", "").rpartition(".")[0]
        if getattr(sys.modules.get(home), "RULESET", None) is self:
            return _ruleset_of, (home, jit.SOURCES)
        return Ruleset, tuple(vars(self).values())

    @property
    def state(self) -> np.dtype:
        """Record type of a position."""
        return self.rules.STATE

    @property
    def fields(self) -> Mapping[str, Field]:
        """The variant fields by name."""
        return self.rules.FIELDS

    def variant(self, variant: "str | Variant | Mapping[str, Any] | None" = None, **changes: Any) -> Variant:
        """Return a variant from a preset, from ``"preset,field=value,..."``, and from changes to single fields.

        Examples
        --------
        >>> from sims import RULESETS
        >>> RULESETS["dice-fever"].variant("plain,target=50").values["target"]
        50
        """
        if isinstance(variant, Mapping):
            changes, variant = {**variant, **changes}, None
        preset, *settings = str("standard" if variant is None else variant).split(",")
        choose(preset, self.presets, f"variant of {self.name}")
        written: dict[str, str] = {}
        for setting in settings:
            name, equals, text = setting.partition("=")
            if not equals:
                raise InputError(f"{setting!r} is not of the form field=value")
            if name.strip() in written:
                raise InputError(f"{name.strip()} is given twice: {written[name.strip()]!r} and {text!r}; choose one of them")
            written[name.strip()] = text
        changes = {**written, **changes}
        base = {name: self.presets[preset].get(name, spec.default) for name, spec in self.fields.items()}
        values = dict(base)
        for name, value in changes.items():
            spec = self.fields[choose(name, self.fields, f"variant field of {self.name}")]
            values[name] = spec.parse(name, value if isinstance(value, str) else spec.format(value))
        parts = [f"{name}={self.fields[name].format(values[name])}" for name in values if values[name] != base[name]]
        return Variant(",".join([preset, *parts]), values)

    def check_seats(self, seats: int) -> int:
        """Return the number of seats; raises InputError if this game cannot be played by so many."""
        low, high = self.seats
        if not low <= seats <= high:
            allowed = f"{low} to {high}" if low < high else low
            raise InputError(f"{self.name} is played by {allowed} seats, not {seats}")
        return seats

    def new_state(self, seats: int, variant: "str | Variant | Mapping[str, Any] | None" = None) -> Any:
        """Return the first position of a game, as a record."""
        variant = variant if isinstance(variant, Variant) else self.variant(variant)
        state = np.zeros(1, self.state).view(np.recarray)[0]
        state.seats = self.check_seats(seats)
        for name, value in variant.values.items():
            code = self.fields[name].code(value)
            if isinstance(code, list):
                state.variant[name][: len(code)] = code
                state.variant[f"n_{name}"] = len(code)
            else:
                state.variant[name] = code
        self.rules.reset(state)
        return state

    def advance(self, state: Any, code: int) -> None:
        """Apply an outcome at a chance node, or an action at a decision node."""
        if self.rules.actor(state) == CHANCE:
            self.rules.apply_chance(state, code)
        else:
            self.rules.apply_action(state, code)

    def after(self, state: Any, code: int) -> Any:
        """Return the position after an outcome or an action; `state` stays as it is."""
        after = copied(state)
        self.advance(after, code)
        return after

    def legal(self, state: Any) -> list[int]:
        """Return the legal actions of a decision node."""
        actions = np.zeros(MAX_ACTIONS, np.int32)
        return [int(action) for action in actions[: self.rules.legal_actions(state, actions)]]


BY_STATE: dict[Any, Ruleset] = {}


def _ruleset_of(home: str, sources: str) -> Ruleset:
    """Return the game that another process means; raises InputError if it may have other rules there."""
    if sources != jit.SOURCES:
        raise InputError(
            f"a worker has another version of dicelab (sources {jit.SOURCES}, not {sources}); install the same on all"
        )
    return importlib.import_module(home).RULESET


def copied(state: Any) -> Any:
    """Return a copy of a position (its own ``copy`` goes field by field, ten times slower)."""
    return np.frombuffer(bytearray(state.tobytes()), np.dtype((np.record, state.dtype)))[0]


@jit.jit
def is_among(number, numbers, n):
    """Is this one of the first n numbers, at least one? The ends come first: most decisions have no more than two options."""
    if number == numbers[0] or number == numbers[np.uint64(n - 1)]:
        return True
    for i in range(1, n - 1):  # noqa: SIM110 (numba compiles no generator expression)
        if number == numbers[i]:
            return True
    return False


def _generic(name: str, n_args: int) -> Callable:
    """Return the function that calls a ruleset's function of this name, found by the type of the state.

    A loop that calls these can be a plain module-level function, which numba caches on disk; a loop closed over one
    ruleset's functions could not be.
    """

    def interpreted(state, *args):
        return getattr(BY_STATE[state.dtype].rules, name)(state, *args)

    if not jit.INTERPRETED:

        def resolve(state, *args):
            rule = getattr(BY_STATE[state].rules, name)
            if n_args == 0:
                return lambda state, *args: rule(state)
            return lambda state, *args: rule(state, args[0])

        jit.overload(interpreted)(resolve)
    return interpreted


reset, actor, chance = (_generic(name, 0) for name in ("reset", "actor", "chance"))
apply_chance, legal_actions, apply_action, payoffs = (
    _generic(name, 1) for name in ("apply_chance", "legal_actions", "apply_action", "payoffs")
)


def observed(state, seat, view):
    """Return what a seat may see: the state itself, or, where something is hidden, `view` after ``observe`` filled it."""
    rules = BY_STATE[state.dtype].rules
    if not hasattr(rules, "observe"):
        return state
    rules.observe(state, seat, view)
    return view


def standing(state, seat):
    """Return how far a seat has come: what the rules say of it, or its score."""
    rules = BY_STATE[state.dtype].rules
    return rules.standing(state, seat) if hasattr(rules, "standing") else state.score[seat]


def win_chance(state, seat, table):
    """Return a seat's exact chance to win at the start of a turn, from the ruleset's table."""
    known = BY_STATE[state.dtype].win_chance
    return 0.0 if known is None else known(state, seat, table)


def measure(state, seat, out):
    """Write the ruleset's measures of one seat to the int array `out`."""
    for i, name in enumerate(BY_STATE[state.dtype].measures):
        out[i] = state[name][seat]


if not jit.INTERPRETED:

    @jit.overload(observed)
    def _resolve_observed(state, seat, view):
        rules = BY_STATE[state].rules
        if not hasattr(rules, "observe"):
            return lambda state, seat, view: state
        observe = rules.observe

        def observed(state, seat, view):
            observe(state, seat, view)
            return view

        return observed

    @jit.overload(standing)
    def _resolve_standing(state, seat):
        rules = BY_STATE[state].rules
        if not hasattr(rules, "standing"):
            return lambda state, seat: state.score[seat]
        known = rules.standing
        return lambda state, seat: known(state, seat)

    @jit.overload(win_chance)
    def _resolve_win_chance(state, seat, table):
        known = BY_STATE[state].win_chance
        if known is None:
            return lambda state, seat, table: 0.0
        return lambda state, seat, table: known(state, seat, table)

    @jit.overload(measure)
    def _resolve_measure(state, seat, out):
        # numba cannot loop over the fields of a record, so the loop is written out for it.
        lines = [f"    out[{i}] = state.{name}[seat]" for i, name in enumerate(BY_STATE[state].measures)]
        scope: dict[str, Any] = {}
        exec("\n".join(["def measure(state, seat, out):", *lines]), scope)
        return scope["measure"]
