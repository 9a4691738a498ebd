"""Dicefest: dice that walk by their faces, and tokens that pay for turning them. Rules: README.md beside this file."""

from sims.ruleset import Ruleset
from sims.rulesets.dicefest import boards, policies, rules
from sims.rulesets.dicefest.geometry import DIRECTIONS, FACE, NORTH_FACE, SIDES, STANDING, TOP, TRIPLES, TURNS


def describe(state, code):
    """Word for an outcome (values, a die, a seat) or an action: `aN5`, `a.tip_N`, a square, a die, a seat, `DONE`."""
    code = int(code)
    if code >= rules.SQUARE_0:
        return boards.SQUARE_NAMES[code - rules.SQUARE_0]
    phase = state.phase
    if phase == rules.ACT or phase == rules.TURN_AGAIN:
        return "DONE" if code == rules.DONE else _describe_action(state, *divmod(code, rules.PER_DIE))
    if phase == rules.TRIPLE:
        return "".join(map(str, TRIPLES[code]))
    if phase in (rules.FIRST, rules.NAME_FIRST):
        return f"SEAT{code % rules.SEAT_0}"
    top = FACE[state.orient[state.turn, state.die], TOP]
    return boards.DIE_NAMES[STANDING[state.variant.hand, top, code % rules.YAW_0]]


def _describe_action(state, k, what):
    name = boards.DICE_NAMES[k]
    if what >= rules.FIRST_TURN:
        return f"{name}.{[*TURNS][what - rules.FIRST_TURN]}"
    return f"{name}{DIRECTIONS[what]}{FACE[state.orient[state.turn, k], NORTH_FACE + what]}"


def render(state):
    """The dice of each side and its reserve; then whose turn it is, and what is due."""
    sides = (
        f"{SIDES[state.side[seat]]} {' '.join(boards.dice_of(state, seat))} reserve {state.reserve[seat]}"
        for seat in range(state.seats)
    )
    due = f"  {state.due} tokens to place" if state.due else ""
    return f"{'  '.join(sides)}  turn of seat {state.turn}{due}"


RULESET = Ruleset(
    name="dicefest",
    title="Dicefest",
    version="1",
    seats=(2, rules.MAX_SEATS),
    rules=rules,
    presets={"standard": {}},
    policies={p.name: p for p in (policies.uniform, policies.racer, policies.thrifty, policies.blocker, policies.lookahead)},
    measures=(
        "score",
        "turns",
        "started",
        "triple",
        "start_cost",
        "total",
        "mini",
        "total_ends",
        "mini_ends",
        "deadlocks",
        "repetitions",
        "moves",
        "quarter_turns",
        "passed",
        "collected",
        "paid",
        "left_at_two",
        "left_at_three",
    ),
    named_policies=(
        "uniform",
        "racer",
        "thrifty:0.25",
        "thrifty:0.25,placement=clean",
        "thrifty:0.25,placement=trap",
        "thrifty:0.25,placement=spread",
        "thrifty:0.1",
        "thrifty:-0.25",
        "blocker:1",
        "lookahead:1",
        "lookahead:2",
    ),
    describe=describe,
    render=render,
    picture=boards.picture,
    ladder=("uniform", "thrifty:0.25", "thrifty:0.1", "lookahead:1", "lookahead:2"),
    restricted=(
        ("the last lock with tokens in hand", "thrifty:0.1,lock=4", "thrifty:0.1"),
        ("the choice of squares for tokens", "thrifty:0.1,placement=trap", "thrifty:0.1"),
        ("blocking", "blocker:1,tokens=0.1", "thrifty:0.1"),
    ),
)
