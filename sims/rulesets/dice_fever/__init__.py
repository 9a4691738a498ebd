"""Dice Fever: throw dice of new values as long as you dare. Rules: README.md beside this file."""

from sims.ruleset import Ruleset
from sims.rulesets.dice_fever import exact, luck, optimal, policies, readable, rules

DECISION_WORDS = {rules.STOP: "STOP", rules.THROW: "THROW", rules.KEEP: "KEEP"}


def describe(state, code):
    """Word for an outcome (a die's value or a face) or an action."""
    if rules.actor(state) >= 0:
        return _describe_action(code)
    if state.phase == rules.BONUS_DIE:
        return rules.BONUS_FACES[state.variant.bonus_faces[code]]
    if state.phase == rules.RISK_DIE:
        return rules.RISK_FACES[state.variant.risk_faces[code]]
    return str(code + 1)


def _describe_action(action):
    if action >= rules.CARDS:
        n_parade, n_risk = divmod(action - rules.CARDS, 2)
        return f"P{n_parade}" + "R" * n_risk
    if action >= rules.AT:
        return f"SEAT{action - rules.AT}"
    return DECISION_WORDS.get(action) or f"USE{action - rules.USE}"


def values_of(track):
    """Return the values on a track, ascending."""
    return [value for value in range(1, 7) if track & rules.bit(value)]


def render(state):
    """The scores, and the turn: track, shields, BONUS face, points at stake."""
    scores = " ".join(str(score) for score in state.score[: state.seats])
    track = ",".join(map(str, values_of(int(state.track)))) or "-"
    face = rules.BONUS_FACES[state.bonus_face] if state.bonus_face != rules.NO_FACE else "-"
    points = rules.stop_points(state)
    return (
        f"scores {scores}  turn of seat {state.turn}  track {track}  shields {state.shields}  "
        f"x{state.mult}  bonus {face}  points {points}"
    )


RULESET = Ruleset(
    name="dice-fever",
    title="Dice Fever",
    version="1",
    seats=(2, rules.MAX_SEATS),
    rules=rules,
    presets={
        "standard": {},
        "plain": {"parade_cards": 0, "risk_cards": 0, "bonus_die": False},
        "even_faces": {"bonus_faces": rules.BONUS_FACES, "risk_faces": rules.RISK_FACES},
    },
    policies={
        p.name: p
        for p in (
            policies.uniform,
            policies.never_stop,
            policies.hold_pot,
            policies.hold_dice,
            policies.expected_gain,
            policies.race,
            readable.rule_1,
            readable.rule_3,
            readable.rule_7,
            optimal.optimal,
        )
    },
    measures=(
        "score",
        "turns",
        "stops",
        "outs",
        "fevers",
        "points",
        "parried",
        "duels",
        "relances",
        "sudden_death",
    ),
    named_policies=(
        "uniform",
        "hold_dice:3",
        "hold_dice:4",
        "hold_dice:3,cards=asap",
        "hold_pot:7",
        "hold_pot:12",
        "hold_pot:15",
        "expected_gain:0",
        "expected_gain:0,parade=asap,risk=asap",
        "race:2",
        "race:2,parade=asap,risk=behind",
        "race:2,parade=near,risk=near",
    ),
    describe=describe,
    render=render,
    solver=exact.solution,
    evaluation="sims.rulesets.dice_fever.evaluation",
    win_table=optimal.table,
    win_chance=optimal.win_chance,
    ladder=("uniform", "hold_dice:3", "race:2", "race:2,parade=asap,risk=behind", "rule_7", "optimal"),
    restricted=(
        ("PARADE cards", "race:2,parade=asap,risk=behind", "race:2,risk=behind"),
        ("RISK cards", "race:2,parade=asap,risk=behind", "race:2,parade=asap"),
        ("Relance tokens", "race:2,parade=asap,risk=behind", "race:2,parade=asap,risk=behind,token=keep"),
        ("a look at the other scores", "race:2,parade=asap,risk=behind", "expected_gain:0,parade=asap,risk=behind"),
    ),
    luck=luck,
)
