"""Pig, the reference game with a known optimum. Rules: README.md beside this file."""

from sims.ruleset import Ruleset
from sims.rulesets.pig import exact, luck, policies, rules


def describe(state, code):
    """Word for an outcome or an action."""
    if state.throwing:
        return str(code + 1)
    return "HOLD" if code == rules.HOLD else "ROLL"


def render(state):
    """The scores and the pot."""
    scores = " ".join(str(score) for score in state.score[: state.seats])
    return f"scores {scores}  turn of seat {state.turn}  pot {state.pot}"


RULESET = Ruleset(
    name="pig",
    title="Pig",
    version="1",
    seats=(2, rules.MAX_SEATS),
    rules=rules,
    presets={"standard": {}},
    policies={p.name: p for p in (policies.uniform, policies.hold_at, policies.keep_pace, policies.table)},
    measures=("score", "turns", "busts"),
    named_policies=("uniform", "hold_at:15", "hold_at:20", "hold_at:25", "keep_pace:21"),
    describe=describe,
    render=render,
    win_table=exact.win_table,
    win_chance=exact.win_chance,
    ladder=("uniform", "hold_at:8", "hold_at:15", "hold_at:20", "keep_pace:21"),
    restricted=(
        ("a second throw", "keep_pace:21", "hold_at:1"),
        ("a look at the other score", "keep_pace:21", "hold_at:20"),
    ),
    luck=luck,
)
