"""Policies for Dice Forge: random play, passing, five with a plan for their actions, and one that values every action.

They differ in the main action, the extra one and the purchases. Everything else (slots, picks, splits, tokens) is decided by
what the options are worth (``worth.py``), the first of equal ones.
"""

import numpy as np

from sims.jit import jit
from sims.policy import policy
from sims.ruleset import is_among
from sims.rulesets.dice_forge import cards, rules
from sims.rulesets.dice_forge.cards import COST, HAMMER_STEPS, TRITON_GAIN
from sims.rulesets.dice_forge.faces import AMOUNT, BOAR_OWNER, GOLD, KIND, MOON, PRICE, SHIP_DISCOUNT, SUN, X3
from sims.rulesets.dice_forge.rules import ACT, BUY, EXTRA, FACE_0, FEAT_0, FORGE, NO, PASS, PICK_0, SLOT_0, SLOTS, TRITON_0
from sims.rulesets.dice_forge.worth import (
    HAMMER_RATE,
    best_feat,
    face_worth,
    forging_worth,
    is_oust,
    new_face_worth,
    plain_worth,
    survey,
    turns_left,
    with_room,
)
from sims.streams import draw

FIRST = 1_000.0  # more than any action is worth
WITHOUT = ("nothing", "extra", *cards.NAMES)  # what a planner may have to do without: extra actions, or a set of feats
NO_EXTRA, FIRST_CARD = 1, 2


# --- decisions that are not the main action ---------------------------------------------------------------------------------


@jit
def fixed_weights():
    """Return the worth of gold, sun, moon and glory for policies that do not mind the time."""
    return 0.4, 1.2, 1.2, 1.0


@jit
def best_slot(view, actions, n, dice, w):
    """Return the slot where the new face gains most over the old one."""
    best, best_gain = actions[0], -FIRST
    for i in range(n):
        die, slot = (actions[i] - SLOT_0) // SLOTS, (actions[i] - SLOT_0) % SLOTS
        gain = -face_worth(view.dice[view.decider, die, slot], die, dice, w)
        if KIND[view.new_face] == X3:
            gain += 2.0 * dice[1 - die]
        if gain > best_gain:
            best, best_gain = actions[i], gain
    return best


@jit
def side_worth(view, code, dice, w):
    """Return what an option is worth of a decision that is no main action, purchase or slot; what is never taken, nothing."""
    phase, seat, which = view.phase, view.decider, view.which
    if phase == rules.SPLIT:
        return split_worth(view, code - rules.SPLIT_0, w)
    if TRITON_0 <= code < PICK_0:
        return triton_worth(view, code - TRITON_0, w)
    if phase == rules.OWNER_PICK:
        return with_room(view, seat, code - PICK_0, BOAR_OWNER[code - PICK_0], w)
    if phase == rules.PICK:
        gain = with_room(view, seat, code - PICK_0, AMOUNT[view.face[which], code - PICK_0] * view.multiplier, w)
        return -gain if view.mode == rules.LOSS else gain
    if phase == rules.REINFORCE:
        return reinforcement_worth(view, code, dice, w)
    if phase == rules.COPY:
        factor = 3.0 if KIND[view.face[1 - which]] == X3 else 1.0
        return plain_worth(code - FACE_0, w) * (-factor if view.mode == rules.LOSS else factor)
    if phase == rules.CHOOSE_SHIELD:
        return plain_worth(code - FACE_0, w)
    if phase == rules.CHOOSE_DIE:
        return dice[code - rules.DIE_0]
    if phase == rules.CHOOSE_PAIR:
        one, two = (code - rules.PAIR_0) >> 3, (code - rules.PAIR_0) & 7
        return plain_worth(rules.shown_by(view, one), w) + plain_worth(rules.shown_by(view, two), w)
    if code == NO:
        return 0.0
    if phase == rules.SHIP_BUY:
        price = max(0, PRICE[code - FACE_0] - SHIP_DISCOUNT * view.multiplier)
        return new_face_worth(view, code - FACE_0, dice, w) - price * w[GOLD]
    if phase == rules.CONVERT:
        return conversion_worth(view, w)
    return repeat_worth(view, dice, w) if phase == rules.REPEAT else 0.0  # the bearer of a boar, gold or ship first


@jit
def triton_worth(view, resource, w):
    """Return what a token is worth now, less what it is worth kept, which is nothing on the last turn."""
    kept = 0.0 if turns_left(view, view.mover) == 0 else 0.9 * max(2.0 * w[SUN], 2.0 * w[MOON], 6.0 * w[GOLD])
    now = with_room(view, view.mover, resource, TRITON_GAIN[resource], w) - kept
    return now if now > 0 else -FIRST


@jit
def reinforcement_worth(view, code, dice, w):
    """Return what a reinforcement is worth; to stop, nothing."""
    if code == NO:
        return 0.0
    if code < rules.ELDER_:
        return dice[code - rules.HIND_0]
    if code == rules.ELDER_:
        return 4.0 - 3.0 * w[GOLD]
    return 0.01 + with_room(view, view.mover, code - rules.OWL_0, 1, w)


@jit
def split_worth(view, n, w):
    """Return what it is worth to give n gold to the hammer; a track completed now is better than one later."""
    seat = view.decider
    kept = min(view.gold - n, rules.cap(view, seat, GOLD) - view.have[seat, GOLD])
    bonus = view.hammered[seat] % HAMMER_STEPS + n >= HAMMER_STEPS
    return n * HAMMER_RATE + kept * w[GOLD] + (1.0 if bonus else 0.0)


@jit
def conversion_worth(view, w):
    """Return what turning the face's gain into glory adds."""
    gold, sun, moon = view.amount[view.which, GOLD], view.amount[view.which, SUN], view.amount[view.which, MOON]
    if view.mode == rules.TO_GLORY_GOLD:
        return gold * (1.0 - w[GOLD])
    kept = with_room(view, view.decider, SUN, sun, w) + with_room(view, view.decider, MOON, moon, w)
    return 2.0 * (sun + moon) - kept


@jit
def repeat_worth(view, dice, w):
    """Return what a Cerberus adds: what the faces give, against what they give on average."""
    if view.mode == rules.LOSS:
        return -1.0
    now = plain_worth(view.face[0], w) + plain_worth(view.face[1], w)
    return now - (1.5 * (dice[0] + dice[1]) if turns_left(view, view.decider) > 0 else 0.0)


@jit
def decide_aside(view, actions, n, w):
    """Decide what is no main action, purchase or extra action."""
    phase, dice = view.phase, (0.0, 0.0, 0.0, 0.0)
    is_plain = phase == rules.REINFORCE and actions[1] >= rules.ELDER_
    if not (is_plain or phase == rules.SPLIT or phase == rules.PICK):  # the usual ones that need no look at the dice
        dice = survey(view, view.decider, w)
    if view.phase == rules.SLOT:
        return best_slot(view, actions, n, dice, w)
    best, best_worth = actions[0], -np.inf
    for i in range(n):
        worth = side_worth(view, actions[i], dice, w)
        if worth > best_worth:
            best, best_worth = actions[i], worth
    return best


# --- policies with a plan ---------------------------------------------------------------------------------------------------


@jit
def dearest_feat(view, actions, n):
    """Return the feat with the highest price, or -1."""
    best, highest = np.int64(-1), 0
    for i in range(n):
        if FEAT_0 <= actions[i] < rules.SEAT_0:
            price = COST[actions[i] - FEAT_0, SUN] + COST[actions[i] - FEAT_0, MOON]
            if price > highest:
                best, highest = np.int64(actions[i]), price
    return best


@jit
def dearest_face(actions, n, gold, shards):
    """Return the purchase with the highest price, each gold or shard that it gives adding to it; NO if there is none."""
    best, highest = np.int64(actions[0]), -1.0
    for i in range(n):
        if actions[i] >= FACE_0:
            face = actions[i] - FACE_0
            value = PRICE[face] + gold * AMOUNT[face, GOLD] + shards * (AMOUNT[face, SUN] + AMOUNT[face, MOON])
            if value > highest:
                best, highest = np.int64(actions[i]), value
    return best


@jit
def follow_plan(view, actions, n, forges_first, gold, shards):
    """Take the dearest feat, else the dearest face, or the other way round; the extra action whenever it can be paid."""
    phase = view.phase
    if phase == ACT:
        feat = dearest_feat(view, actions, n)
        if actions[0] == FORGE and (forges_first or feat < 0):
            return np.int64(FORGE)
        return feat if feat >= 0 else np.int64(actions[0])
    if phase == BUY:
        return dearest_face(actions, n, gold, shards)
    if phase == EXTRA:
        return np.int64(actions[1]) if actions[1] == rules.YES else np.int64(NO)
    return np.int64(decide_aside(view, actions, n, fixed_weights()))


@policy
def uniform(view, actions, n, params, rng):
    """Choose any legal action with the same probability."""
    return actions[draw(rng, n)]


@policy
def pass_only(view, actions, n, params, rng):
    """Pass whenever that is legal; else the first legal action."""
    return PASS if is_among(PASS, actions, n) else actions[0]


@policy
def greedy_feat(view, actions, n, params, rng):
    """Take the dearest feat that can be paid, else the dearest face."""
    return follow_plan(view, actions, n, False, 0.0, 0.0)


@policy
def greedy_forge(view, actions, n, params, rng):
    """Forge the dearest faces whenever that is possible, else take the dearest feat."""
    return follow_plan(view, actions, n, True, 0.0, 0.0)


@policy(rounds=4)
def gold_engine(view, actions, n, params, rng):
    """For the first `rounds` forge, above all gold; then take feats."""
    is_early = view.round_number < params[0]
    return follow_plan(view, actions, n, is_early, 2.0 if is_early else 0.0, 0.0)


@policy(rounds=4)
def shards(view, actions, n, params, rng):
    """For the first `rounds` forge, above all sun and moon; then take feats."""
    is_early = view.round_number < params[0]
    return follow_plan(view, actions, n, is_early, 0.0, 3.0 if is_early else 0.0)


@policy
def hunter(view, actions, n, params, rng):
    """Take the dearest feat that ousts somebody; else play as ``greedy_feat``."""
    if view.phase == ACT:
        best, highest = -1, 0
        for i in range(n):
            if FEAT_0 <= actions[i] < rules.SEAT_0 and is_oust(view, actions[i] - FEAT_0):
                price = COST[actions[i] - FEAT_0, SUN] + COST[actions[i] - FEAT_0, MOON]
                if price > highest:
                    best, highest = actions[i], price
        if best >= 0:
            return best
    return follow_plan(view, actions, n, False, 0.0, 0.0)


# --- the planner ------------------------------------------------------------------------------------------------------------


@jit
def weights_now(view, gold, sun, moon, fade):
    """Return the worth of one gold, sun, moon and glory now: gold falls with the time left, shards in the last `fade` turns."""
    seat = view.decider
    turns = turns_left(view, seat)
    late = min(1.0, turns / fade)
    of_gold = gold * turns / rules.n_rounds(view)
    if rules.hammer_room(view, seat) > 0:
        of_gold = max(of_gold, 0.9 * HAMMER_RATE)
    return of_gold, sun * late, moon * late, 1.0


@jit
def plan(view, actions, n, w, forge, without, until):
    """Return the main action that is worth most, the best purchase, or the answer to the extra action."""
    dice = survey(view, view.mover, w)
    total, face = forging_worth(view, dice, w)
    if view.phase == BUY:
        return NO if face < 0 else FACE_0 + face
    forging = forge * total if view.round_number < until else -FIRST
    stack, worth = best_feat(view, dice, w, 2 if view.phase == EXTRA else 0, without - FIRST_CARD)
    if view.phase == EXTRA:
        is_worth_it = max(worth, forging) > 2.0 * w[SUN] and without != NO_EXTRA
        return rules.YES if actions[1] == rules.YES and is_worth_it else NO
    for i in range(n):
        if TRITON_0 <= actions[i] < PICK_0 and triton_worth(view, actions[i] - TRITON_0, w) > 0:
            return np.int64(actions[i])
    can_pass = is_among(PASS, actions, n)
    if face >= 0 and forging > worth and not (can_pass and forging <= 0):
        return np.int64(FORGE)
    if stack >= 0 and not (can_pass and worth < 0):
        return np.int64(FEAT_0 + stack)
    return np.int64(PASS if can_pass else actions[0])


@policy(gold=0.65, sun=1.9, moon=1.2, fade=5.5, forge=1.5, without=WITHOUT, until=10)
def planner(view, actions, n, params, rng):
    """Take what adds most glory until the end: faces by the rolls left, `gold`, `sun` and `moon` shards by the turns left.

    As long as the rules leave a choice it takes none of the feats that it must do `without`, and forges in the first `until`
    rounds only.
    """
    w = weights_now(view, params[0], params[1], params[2], params[3])
    if view.phase == ACT or view.phase == BUY or view.phase == EXTRA:
        return plan(view, actions, n, w, params[4], np.int64(params[5]), params[6])
    return decide_aside(view, actions, n, w)
