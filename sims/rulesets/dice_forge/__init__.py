"""Dice Forge: dice whose faces are bought, and feats paid with what they show. Rules: README.md beside this file."""

from sims.ruleset import Ruleset
from sims.rulesets.dice_forge import cards, faces, policies, rules

DICE = ("light", "dark")
YES_NO = {
    rules.REINFORCE: ("act", ""),
    rules.BUY: ("enough", ""),
    rules.EXTRA: ("no_extra", "extra"),
    rules.CONVERT: ("keep", "to_glory"),
    rules.SHIP_ORDER: ("gold_first", "ship_first"),
    rules.SHIP_BUY: ("no_ship", ""),
    rules.REPEAT: ("keep_token", "repeat"),
}
FACE_VERBS = {rules.BUY: "buy", rules.SHIP_BUY: "ship", rules.CHOOSE_SHIELD: "shield", rules.COPY: "copy"}


def describe(state, code):
    """Word for an outcome (`light:G1`, a set, faces that stay) or an action (`buy:G3`, `on:dark.G1`, `feat:OWL`, ...)."""
    code, phase = int(code), state.phase
    if phase == rules.ROLL:
        seat, die = state.rolling >> 1, state.rolling & 1
        return f"{DICE[die]}:{faces.NAMES[state.dice[seat, die, code]]}"
    if phase == rules.DRAW_LAYOUT:
        return cards.NAMES[cards.SETS[cards.PAIRED[state.drawn], code]]
    if phase == rules.DRAW_POOL:
        first = 3 if rules.is_without_g6(state) else 0
        stay = faces.MIXED[state.drawn][faces.PAIRS[first + code]]
        return "stay:" + "+".join(faces.NAMES[face] for face in stay)
    if code <= rules.YES:
        return YES_NO[phase][code]
    return _describe_pair(state, code) if code >= rules.PAIR_0 else _describe_action(state, code)


def _describe_pair(state, code):
    return "take:" + "+".join(faces.NAMES[rules.shown_by(state, die)] for die in divmod(code - rules.PAIR_0, 8))


def _describe_action(state, code):
    if code in (rules.FORGE, rules.PASS, rules.ELDER_):
        return {rules.FORGE: "FORGE", rules.PASS: "PASS", rules.ELDER_: "elder"}[code]
    if code >= rules.SPLIT_0:
        return f"hammer:{code - rules.SPLIT_0}"
    if code >= rules.OWL_0:
        return f"owl:{faces.RESOURCES[code - rules.OWL_0]}"
    if code >= rules.HIND_0:
        return f"hind:{DICE[code - rules.HIND_0]}"
    if code >= rules.SEAT_0:
        return f"bearer:{code - rules.SEAT_0}"
    if code >= rules.FEAT_0:
        return f"feat:{cards.NAMES[state.card[code - rules.FEAT_0]]}"
    if code >= rules.SLOT_0:
        return f"on:{_describe_slot(state, code - rules.SLOT_0)}"
    if code >= rules.FACE_0:
        return f"{FACE_VERBS[state.phase]}:{faces.NAMES[code - rules.FACE_0]}"
    if code >= rules.DIE_0:
        return f"die:{DICE[code - rules.DIE_0]}"
    verb, base = ("get", rules.PICK_0) if code >= rules.PICK_0 else ("triton", rules.TRITON_0)
    return f"{verb}:{faces.RESOURCES[code - base]}"


def _describe_slot(state, number):
    """The face that is replaced; ``^`` if it lies on top."""
    die, slot = divmod(number, rules.SLOTS)
    seat = state.decider
    return f"{DICE[die]}.{faces.NAMES[state.dice[seat, die, slot]]}{'^' if slot == state.up[seat, die] else ''}"


def render(state):
    """What each seat has, its glory and its island; then the round and whose turn it is."""
    seats = "  ".join(f"{seat}: {_reserves(state, seat)}" for seat in range(state.seats))
    return f"{seats}  round {state.round_number + 1}  turn of seat {state.mover}"


def _reserves(state, seat):
    gold, sun, moon, glory = (int(n) for n in state.have[seat])
    island = f"island {state.island[seat]}" if state.island[seat] else "portal"
    return f"{gold}G {sun}S {moon}M {glory}V+{state.score[seat] - glory} {island}"


def picture(state):
    """At the end of each turn what every seat has and both its dice, the face on top in brackets."""
    is_new_turn = state.phase == rules.ROLL and state.tasks[0] == rules.END_TURN and _is_first_roll(state)
    if not is_new_turn and state.phase != rules.THE_END:
        return ""
    return "\n".join(f"    seat {seat}: {_reserves(state, seat):<24}  {_dice(state, seat)}" for seat in range(state.seats))


def _is_first_roll(state):
    """Is nothing of the turn done yet?"""
    due = sum(task & 15 == rules.BEGIN_BLESSING for task in state.tasks[: state.n_tasks])
    rolls = sum(task & 15 == rules.ROLL_DIE for task in state.tasks[: state.n_tasks])
    return state.rolling == 2 * state.mover and due == (state.seats == 2) and rolls == 2 * state.seats - 1


def _dice(state, seat):
    return "  ".join(f"{DICE[die]} {_die(state, seat, die)}" for die in range(2))


def _die(state, seat, die):
    names = [faces.NAMES[face] for face in state.dice[seat, die]]
    names[state.up[seat, die]] = f"[{names[state.up[seat, die]]}]"
    return " ".join(names)


RULESET = Ruleset(
    name="dice-forge",
    title="Dice Forge",
    version="1",
    seats=(2, rules.MAX_SEATS),
    rules=rules,
    presets={"standard": {}, "published": {"rounds": "published", "tie": "shared", "pass_rule": "always"}},
    policies={
        p.name: p
        for p in (
            policies.uniform,
            policies.pass_only,
            policies.greedy_feat,
            policies.greedy_forge,
            policies.gold_engine,
            policies.shards,
            policies.hunter,
            policies.planner,
        )
    },
    measures=(
        "score",
        "turns",
        "from_dice",
        "from_feats",
        "from_effects",
        "from_hammer",
        "forged",
        "feats",
        "ousts",
        "ousted",
        "extra_actions",
        "passes",
        "chests",
        "hammers",
        "wasted",
        "leads",
        "leftover",
        "tied",
    ),
    named_policies=(
        "uniform",
        "pass_only",
        "greedy_feat",
        "greedy_forge",
        "gold_engine:4",
        "shards:4",
        "hunter",
        "planner:0.65",
    ),
    describe=describe,
    render=render,
    picture=picture,
    ladder=("uniform", "greedy_feat", "gold_engine:4", "planner:0.65"),
    restricted=tuple((stack.sets[0], "planner:0.65", f"planner:0.65,without={stack.sets[0]}") for stack in cards.STACKS.values()),
)
