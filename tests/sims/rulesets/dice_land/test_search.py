"""The search against a plain recursion through the rules functions, and exact endgames against what is known of them."""

import random
from fractions import Fraction

import numpy as np
import pytest

from sims import InputError
from sims.jit import INTERPRETED
from sims.policy import load_policy
from sims.ruleset import CHANCE, MAX_ACTIONS, OVER
from sims.rulesets import RULESETS
from sims.rulesets.dice_land import odds, policies, rules
from sims.rulesets.dice_land.boards import position
from sims.rulesets.dice_land.search import TURN_DEPTH, new_room, search, win_share

GAME = RULESETS["dice-land"]
S1 = "R5 B4 R2 B3 R1 B6 B2 R4"


def at(dice, variant="standard", seat=0, **more):
    return position(GAME, dice, seat, variant, **more)


def codes(state):
    return range(rules.chance(state)) if rules.actor(state) == CHANCE else GAME.legal(state)


def plain_share(state, known):
    """Win share of red in fractions, remembered by the bytes of the state, measures left out."""
    if rules.actor(state) == OVER:
        return Fraction(rules.share_of_red(state))
    key = tuple(state[name].tobytes() for name in state.dtype.names if name not in GAME.measures)
    if key not in known:
        values = [plain_share(GAME.after(state, code), known) for code in codes(state)]
        who = rules.actor(state)
        known[key] = sum(values) / len(values) if who == CHANCE else (max if who == rules.RED else min)(values)
    return known[key]


ENDGAMES = [
    ("R2 B1 . . . . . .", "standard"),
    ("R3 B2 . . . . . .", "published"),
    ("R2 B1 . R1 . . . .", "standard"),
    ("R2 B1 . R1 . . . .", "published"),
    ("R1 B2 R2 . . . . .", "standard,invade_optional=true"),
    ("R2 B1 . R1 . . . .", "published,attack_mandatory=false"),
    ("R2 B1 . R1 . . . .", "standard,conqueror_may_move=true,terrain=FOREST"),
    ("R1 B1 . . . B1 . .", "published,failed_loss=difference"),
]


@pytest.mark.parametrize("dice, variant", ENDGAMES)
@pytest.mark.parametrize("seat", [0, 1])
def test_endgames_are_the_plain_recursion(dice, variant, seat):
    state = at(dice, variant, seat)
    assert win_share(state) == pytest.approx(float(plain_share(state, {})), abs=1e-12)


def test_one_against_one():
    """A 1 that must attack a 1 removes it with a 1, else is gone."""
    for variant in ("standard", "published"):
        assert win_share(at("R1 B1 . . . . . .", variant)) == pytest.approx(1 / 6)
        assert win_share(at("R1 B1 . . . . . .", variant, seat=1)) == pytest.approx(5 / 6)
        assert win_share(at("R1 . . . . . . .", variant)) == 1.0


@pytest.mark.parametrize("variant", ["standard", "published"])
def test_colours_are_symmetric(variant):
    dice = "R2 B2 . R1 . . . ." if INTERPRETED else "R3 B2 . R1 . . B1 ."
    mirrored = dice.translate(str.maketrans("RB", "BR"))
    assert win_share(at(dice, variant)) == pytest.approx(1 - win_share(at(mirrored, variant, seat=1)))


def test_within_a_turn():
    """The value before a roll is the mean of those after it."""
    state = at("R2 B2 R1 . . . . .", "published")
    attack = GAME.legal(state)[0]
    thrown = GAME.after(state, attack)
    assert win_share(state) == pytest.approx(max(win_share(GAME.after(state, code)) for code in GAME.legal(state)))
    assert win_share(thrown) == pytest.approx(sum(win_share(GAME.after(thrown, face)) for face in range(6)) / 6)


@pytest.mark.parametrize(
    "dice, variant, part",
    [
        ("R1 B1 . . . . . .", "standard,attack_mandatory=false", "not solved"),
        ("R1 B1 . . . . . .", "standard,terrain=TOWN", "not solved"),
        ("R1 B1 . . . . . .", "standard,terrain=PLAINS/MOUNTAINS", "not solved"),
        (S1, "standard", "1 to 6 dice"),
    ],
)
def test_what_is_not_solved_is_refused(dice, variant, part):
    with pytest.raises(InputError, match=part):
        win_share(at(dice, variant))


def test_before_play_is_refused():
    with pytest.raises(InputError, match="none in hand"):
        win_share(GAME.new_state(2, "standard,hexes=8"))


def test_too_small_a_memo_is_told():
    with pytest.raises(InputError, match="8 positions or more"):
        win_share(at("R3 B2 . R1 . . B1 .", "published"), slots=16)


# --- to the end of the turn -------------------------------------------------------------------------------------------------


def plain_estimate(state, seat, turn, gains, dice):
    """The value for red at the end of the turn, as the module describes it."""
    if rules.actor(state) == OVER or (state.turn, state.turns[seat]) != (seat, turn):
        pips = [sum(int(state.value[h]) for h in range(state.hexes) if int(state.dice[s]) >> h & 1) for s in (0, 1)]
        lead = pips[0] - pips[1] + dice * int(state.score[0] - state.score[1])
        if rules.actor(state) == OVER:
            return lead + 10_000 * (2 * rules.share_of_red(state) - 1)
        return lead - (1 if seat == 0 else -1) * plain_reply(state, 1 - seat, gains)
    values = [plain_estimate(GAME.after(state, code), seat, turn, gains, dice) for code in codes(state)]
    if rules.actor(state) == CHANCE:
        return sum(values) / len(values)
    return max(values) if seat == 0 else min(values)


def plain_reply(state, seat, gains):
    """The best attack of a seat: two loops over the neighbours of each of its targets."""
    found = []
    mutual = state.variant.combined_mutual_adjacency
    for t in range(state.hexes):
        if int(state.dice[1 - seat]) >> t & 1:
            near = [x for x in range(state.hexes) if int(state.near[t] & state.dice[seat]) >> x & 1]
            found += [gains[odds.entry(state.value[x], 0, state.value[t])] for x in near]
            pairs = [(x, y) for x in near for y in near if x < y and (not mutual or int(state.near[x]) >> y & 1)]
            found += [gains[odds.entry(state.value[x], state.value[y], state.value[t])] for x, y in pairs]
    return max(found, default=0.0)


LOOKED_AT = [("R2 B1 . R1 . . B3 .", 0), ("R2 B1 . R1 . . B3 .", 1), ("R4 B4 R2 . . . . B1", 0), ("B4 R4 B2 . . . . R1", 1)]


@pytest.mark.parametrize("variant", ["standard", "published"])
@pytest.mark.parametrize("dice, seat", LOOKED_AT)
def test_look_ahead_is_the_plain_recursion(dice, seat, variant):
    state = at(dice, variant, seat)
    weight = 2.0
    gains = odds.attack_gains(GAME, GAME.variant(variant), weight)
    while rules.actor(state) == CHANCE:
        GAME.advance(state, 0)
    seat, turn = int(state.turn), int(state.turns[state.turn])
    room = new_room(TURN_DEPTH, 0)
    room.states[0] = state
    value = search(room, gains, 0, weight)
    values = [plain_estimate(GAME.after(state, code), seat, turn, gains, weight) for code in GAME.legal(state)]
    assert value == pytest.approx(max(values) if seat == 0 else min(values))
    assert values[room.best[0]] == pytest.approx(value)


# --- the policy -------------------------------------------------------------------------------------------------------------


def answer(spec, state, variant):
    actions = np.zeros(MAX_ACTIONS, np.int32)
    n = rules.legal_actions(state, actions)
    each = load_policy(GAME, spec).solved_for(GAME, GAME.variant(variant))
    with np.errstate(over="ignore"):
        return each.function(state, actions, n, each.params, np.ones(4, np.uint64))


def test_expectimax_plays_endgames_exactly():
    """In every position of some endgames its option has the largest share."""
    rng = random.Random(4)
    asked = 0
    while asked < (2 if INTERPRETED else 40):
        more = ["."] if INTERPRETED else [f"B{rng.randint(1, 3)}"]
        state = at(" ".join(rng.sample([f"R{rng.randint(1, 3)}", "R1", "B2", *more, ".", ".", ".", "."], 8)))
        if rules.actor(state) != 0:
            continue
        asked += 1
        shares = {action: win_share(GAME.after(state, action)) for action in GAME.legal(state)}
        assert shares[answer("expectimax:4", state, "standard")] == pytest.approx(max(shares.values()))


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["standard", "published"])
def test_exact_share_is_what_exact_play_wins(variant):
    """Both seats play expectimax:6 from one endgame; red's share within five standard errors of the exact one."""
    state = at("R3 B2 . R1 . . B1 .", variant)
    exact, games = win_share(state), 4_000
    rng, total, chosen = random.Random(1), 0.0, {}
    for _ in range(games):
        now = state.copy()
        while (who := rules.actor(now)) != OVER:
            if who == CHANCE:
                GAME.advance(now, rng.randrange(rules.chance(now)))
            else:
                key = now.tobytes()
                chosen[key] = chosen[key] if key in chosen else answer("expectimax:6", now, variant)
                GAME.advance(now, chosen[key])
        total += rules.share_of_red(now)
    assert abs(total / games - exact) < 5 * (0.25 / games) ** 0.5


@pytest.mark.parametrize("variant", ["standard,terrain=TOWN/PLAINS", "standard,attack_mandatory=false"])
def test_expectimax_looks_ahead_where_endgames_are_not_solved(variant):
    state = at("R3 B2 R2 . . . . .", variant)
    assert answer("expectimax:6", state, variant) == answer("expectimax:0", state, variant)


def test_expectimax_looks_ahead_where_the_memo_is_too_small(monkeypatch):
    state = at("R3 B2 . R1 R2 B2 B1 .", "published")
    monkeypatch.setattr(policies, "SLOTS", 16)
    assert answer("expectimax:6", state, "published") == answer("expectimax:0", state, "published")
