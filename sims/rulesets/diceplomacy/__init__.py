"""Diceplomacy: a hidden die each, alliances and wars; three victories win. Rules: README.md beside this file."""

from sims.ruleset import Ruleset
from sims.rulesets.diceplomacy import policies, rules

WORDS = {
    rules.REFORM: "REFORM",
    rules.TREATY: "TREATY",
    rules.ACCEPT: "ACCEPT",
    rules.REFUSE: "REFUSE",
    rules.ALONE: "ALONE",
    rules.JOIN: "JOIN",
    rules.DECLINE: "DECLINE",
    rules.SURRENDER: "SURRENDER",
    rules.FIGHT: "FIGHT",
}
WITH_SEAT = ((rules.ASK, "ASK"), (rules.PROPOSE, "PROPOSE"), (rules.WAR, "WAR"))


def describe(state, code):
    """Word for a die's value, the first player, or an action."""
    if state.phase == rules.ROLL:
        return str(code + 1)
    if state.phase == rules.FIRST:
        return f"SEAT{code}"
    return WORDS.get(code) or next(f"{word}{code - base}" for base, word in WITH_SEAT if code >= base)


def render(state):
    """Each seat's die (* if everybody knows it), victories-defeats and ally; then whose turn it is, and the war."""
    seats = "  ".join(_render_seat(state, seat) for seat in range(state.seats))
    fighters = [str(seat) for seat in state.fighters[: state.n_fighters]]
    sides = fighters[: state.n_attackers], fighters[state.n_attackers :]
    war = f"  war {'+'.join(sides[0])} on {'+'.join(sides[1])}" if fighters else ""
    return f"{seats}  turn of seat {state.mover}{war}"


def _render_seat(state, seat):
    if not state.alive[seat]:
        return f"{seat}: out"
    known = "*" if state.known[seat] else ""
    ally = f" with {state.ally[seat]}" if rules.is_allied(state, seat) else ""
    return f"{seat}: die {state.die[seat]}{known} {state.score[seat]}-{state.defeats[seat]}{ally}"


RULESET = Ruleset(
    name="diceplomacy",
    title="Diceplomacy",
    version="1",
    seats=(4, rules.MAX_SEATS),
    rules=rules,
    presets={"standard": {}},
    policies={
        p.name: p
        for p in (
            policies.uniform,
            policies.cautious,
            policies.threshold,
            policies.hunter,
            policies.kingmaker,
            policies.inference,
        )
    },
    measures=(
        "score",
        "turns",
        "reforms",
        "pacts",
        "wars",
        "conquests",
        "attacked",
        "attacked_known",
        "losses",
        "hit_next",
        "spared",
        "helped",
        "surrenders",
        "eliminated",
        "joint",
        "pair_ends",
        "trio_ends",
        "draws",
    ),
    named_policies=(
        "uniform",
        "cautious:5",
        "threshold:0.6",
        "threshold:0.5",
        "hunter:0.6",
        "kingmaker:0.6",
        "inference:0.6",
    ),
    describe=describe,
    render=render,
    ladder=("uniform", "cautious:6", "cautious:5", "cautious:4", "threshold:0.5,ally=0"),
    restricted=(
        ("alliances", "threshold:0.6", "threshold:0.6,ally=0"),
        ("help in a war", "threshold:0.6", "threshold:0.6,help=1.1"),
        ("surrender", "threshold:0.6", "threshold:0.6,surrender=0"),
    ),
)
