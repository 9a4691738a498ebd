"""Dice Land: dice that are provinces attack their neighbours. Rules: README.md beside this file."""

from sims.ruleset import Ruleset
from sims.rulesets.dice_land import boards, luck, policies, rules, tree
from sims.rulesets.dice_land.maps import unpacked

WORDS = {rules.DECLINE: "DECLINE", rules.STAY: "STAY", rules.GO_IN: "INVADE", rules.HOLD: "HOLD"}


def describe(state, code):
    """Word for an outcome (a cell, a terrain, a seat, a die) or an action."""
    if state.phase >= rules.GROW:
        return _describe_outcome(state, code)
    kind, one, two, three = (int(code) >> shift & 63 for shift in (18, 12, 6, 0))
    if kind == rules.A_PLACE:
        return f"{one}@{two}"
    if kind == rules.A_ATTACK:
        return f"{two}>{one}" if two == three else f"{two}+{three}>{one}"
    if kind == rules.A_CHOICE:
        return f"{one}:{two}"
    if kind == rules.A_MOVE:
        return f"{one}-{two}"
    return f"{one}++" if kind == rules.A_TOWN else WORDS.get(int(code), f"action{code}")


def _describe_outcome(state, outcome):
    if state.phase == rules.GROW:
        return "{}:{}".format(*unpacked(int(state.frontier[outcome])))
    if state.phase == rules.TERRAIN:
        return rules.TERRAINS[state.variant.terrain[outcome]]
    if state.phase in (rules.PLACER_COIN, rules.STARTER_COIN):
        return f"SEAT{outcome}"
    return str(outcome + 1)


def render(state):
    """The dice of both seats, whose turn it is, and the hexes with what stands on them."""
    hexes = " ".join(f"{h}{word}" for h, word in enumerate(boards.words_of(state)))
    return f"dice {state.score[0]} {state.score[1]}  turn of seat {state.turn}  phase {rules.PHASES[state.phase]}  {hexes}"


RULESET = Ruleset(
    name="dice-land",
    title="Dice Land",
    version="1",
    seats=(rules.SEATS, rules.SEATS),
    rules=rules,
    presets={
        "standard": {},
        "published": {
            "valid_loss": "replace",
            "combined": "pick_one",
            "combined_mutual_adjacency": True,
            "end_check": "two_passes",
        },
    },
    policies={
        p.name: p
        for p in (
            policies.uniform,
            policies.greedy,
            policies.dutiful,
            policies.single,
            policies.cautious,
            policies.massing,
            policies.expectimax,
            tree.mcts,
        )
    },
    measures=(
        "score",
        "turns",
        "pips",
        "placed_pips",
        "left_pips",
        "placed_first",
        "started",
        "attacks",
        "combined",
        "conquests",
        "moves",
    ),
    named_policies=(
        "uniform",
        "greedy:3",
        "greedy:3,placement=strong_first,left=low",
        "greedy:3,placement=edge_safe,left=high",
        "cautious:100",
        "massing:3",
        "expectimax:0",
        "expectimax:4,placement=cluster,left=low",
    ),
    describe=describe,
    render=render,
    picture=boards.picture,
    ladder=("uniform", "greedy:3", "greedy:3,left=low", "expectimax:0,placement=cluster,left=low"),
    restricted=(("attacks with two dice", "greedy:3,left=low", "single:3,left=low"),),
    luck=luck,
)
