"""What faces, feats and whole actions are worth, in glory: expected gains over the rolls and turns that are left.

``w`` holds the worth of one gold, sun, moon and glory; ``dice`` is the :func:`survey` of a seat. A face is worth what it gives,
each time with the chance 1/6. Interactions are averages: X3 adds twice what the other die gives, a mirror shows a good face of an
opponent.
"""

import numpy as np

from sims.jit import jit
from sims.rulesets.dice_forge import cards
from sims.rulesets.dice_forge.cards import COST, ISLAND, N_STACKS, PRINTED_GLORY
from sims.rulesets.dice_forge.faces import (
    AMOUNT,
    BOAR,
    BOAR_OWNER,
    GLORY,
    GOLD,
    KIND,
    MIRROR,
    MIRROR_FACE,
    MOON,
    N_BOUGHT,
    POOL_TYPES,
    PRICE,
    SHIELD,
    SHIELD_0,
    SHIELD_HIT,
    SHIP,
    SHIP_DISCOUNT,
    SHIP_FACE,
    SUM,
    SUN,
    X3,
    X3_FACE,
)
from sims.rulesets.dice_forge.rules import SLOTS, can_do, cap, hammer_room, n_rounds

HAMMER_RATE = 0.8  # glory per gold on a hammer, both passes together 25 for 30
HIT_CHANCE = 0.35  # of a shield
MIRROR_FACTOR = 1.4  # the face copied against the average face of opponents
SATYRS_FACTOR = 1.5  # the faces picked, likewise
CHEST_WORTH = 3.0  # at the start of the game, of what no cap takes away
OTHERS, LEAST = 2, 3  # places in a survey, after the two dice
NEW_FACE = np.full(cards.N_CARDS, -1)  # that a card brings
for _card, _face in ((cards.HELMET, X3_FACE), (cards.MIRROR, MIRROR_FACE), (cards.SHIP, SHIP_FACE), (cards.SHIELD, SHIELD_0)):
    NEW_FACE[_card] = _face


@jit
def turns_left(view, seat):
    """Return how many turns of a seat are still to come, after the one it may be in."""
    return n_rounds(view) - view.turns[seat]


@jit
def rolls_left(view):
    """Return how many times each seat still rolls both dice at the start of a turn."""
    turns = (n_rounds(view) - view.round_number) * view.seats - view.mover - 1
    return float(2 * turns if view.seats == 2 else turns)


# --- faces ------------------------------------------------------------------------------------------------------------------


@jit
def plain_worth(face, w):
    """Return what a face is worth each time it shows, alone; nothing for X3 and mirrors."""
    kind, total, best = KIND[face], 0.0, 0.0
    for resource in range(4):
        worth = w[resource] * AMOUNT[face, resource]
        total += worth
        best = max(best, worth)
    if kind == SUM:
        return total
    if kind == SHIELD:
        return HIT_CHANCE * SHIELD_HIT + (1 - HIT_CHANCE) * best
    if kind == SHIP:
        return 1.0 + SHIP_DISCOUNT * w[GOLD]
    return best  # a choice, or a boar


@jit
def survey(view, seat, w):
    """Return what the light die, the dark die and a die of an opponent give on average, and the least that an own face gives."""
    light = dark = others = 0.0
    least = 99.0
    for owner in range(view.seats):
        for die in range(2):
            for slot in range(SLOTS):
                face = view.dice[owner, die, slot]
                worth = plain_worth(face, w)
                if owner != seat:
                    others += worth
                    continue
                light += worth if die == 0 else 0.0
                dark += worth if die == 1 else 0.0
                if KIND[face] != BOAR and KIND[face] != X3 and KIND[face] != MIRROR:
                    least = min(least, worth)
    return light / SLOTS, dark / SLOTS, others / (2 * SLOTS * (view.seats - 1)), least


@jit
def face_worth(face, die, dice, w):
    """Return what a face is worth each time it shows on this die; `dice` is the survey of the seat."""
    if KIND[face] == X3:
        return 2.0 * dice[1 - die]
    if KIND[face] == MIRROR:
        return MIRROR_FACTOR * dice[OTHERS]
    return plain_worth(face, w)


@jit
def new_face_worth(view, face, dice, w):
    """Return what a new face adds over the rolls that are left, in place of the least face."""
    worth = max(face_worth(face, 0, dice, w), face_worth(face, 1, dice, w))
    return (worth - dice[LEAST]) * rolls_left(view) / SLOTS


@jit
def excluded(view, face):
    """Return the types that may not be bought after this one in the same action, as a set: itself, or its pool (R43, A3)."""
    return 1 << face if view.variant.mixed_pool else POOL_TYPES[face]


@jit
def forging_worth(view, dice, w):
    """Return what the best purchases together add, as far as the gold goes, the best one first; and the best one's face, or -1.

    The first purchase of an action is made even if it is worth less than its price.
    """
    gold, taken, total, rolls = view.have[view.mover, GOLD], 0, 0.0, rolls_left(view)
    for face in range(N_BOUGHT):
        if view.bought >> face & 1:
            taken |= excluded(view, face)
    first = -1
    while True:
        best, best_worth = -1, 0.0 if taken else -99.0
        for face in range(N_BOUGHT):
            if PRICE[face] <= gold and taken >> face & 1 == 0 and view.stock[face] > 0:
                worth = (plain_worth(face, w) - dice[LEAST]) * rolls / SLOTS - PRICE[face] * w[GOLD]
                if worth > best_worth:
                    best, best_worth = face, worth
        if best < 0:
            return total, first
        first = best if first < 0 else first
        total += best_worth
        gold -= PRICE[best]
        taken |= excluded(view, best)


# --- feats ------------------------------------------------------------------------------------------------------------------


@jit
def with_room(view, seat, resource, n, w):
    """Return what a gain is worth as far as there is room for it."""
    if resource == GLORY:
        return float(n)
    if resource == GOLD and hammer_room(view, seat) > 0:
        return n * w[GOLD]
    return min(n, cap(view, seat, resource) - view.have[seat, resource]) * w[resource]


@jit
def hammer_worth(view, w):
    """Return what a first hammer adds: the gold still to be rolled, as far as it takes it."""
    seat, income = view.mover, 0.0
    if hammer_room(view, seat) > 0:
        return 0.0
    for die in range(2):
        for slot in range(SLOTS):
            income += AMOUNT[view.dice[seat, die, slot], GOLD] / SLOTS
    return min(30.0, income * rolls_left(view)) * max(0.0, HAMMER_RATE - w[GOLD])


@jit
def effect_worth(view, card, dice, w):
    """Return what the effect of a card is worth to the mover."""
    seat, light, dark, others = view.mover, dice[0], dice[1], dice[OTHERS]
    turns, rolls = turns_left(view, seat), rolls_left(view)
    is_late = 1.0 - turns / n_rounds(view)
    if card == cards.HAMMER:
        return hammer_worth(view, w)
    if card == cards.CHEST:
        return CHEST_WORTH * (1.0 - is_late)
    if card == cards.HIND:
        return max(light, dark) * turns
    if card == cards.ELDER:
        return max(0.0, cards.ELDER_GLORY - cards.ELDER_GOLD * max(w[GOLD], 0.3)) * turns * 0.8
    if card == cards.OWL:
        return max(w[GOLD], w[SUN], w[MOON]) * turns
    if card == cards.SPIRITS:
        return with_room(view, seat, GOLD, cards.SPIRITS_GOLD, w) + with_room(view, seat, MOON, cards.SPIRITS_MOON, w)
    if card == cards.CANCER:
        return 2.0 * (light + dark)
    if card == cards.SENTINEL:
        return 2.2 * (light + dark)
    if card == cards.SPHINX or card == cards.CYCLOPS:
        return 4.0 * max(light, dark)
    if card == cards.SATYRS:
        return 2.0 * SATYRS_FACTOR * others
    if card == cards.MINOTAUR:
        return others
    if card == cards.BOAR:
        return max(w[SUN], w[MOON], float(BOAR_OWNER[GLORY])) * rolls / SLOTS
    if card == cards.TRITON:
        return 2.0 * max(w[SUN], w[MOON])
    if card == cards.CERBERUS:
        return 1.5 * (light + dark)
    if card == cards.BEAR:
        return 2.0 * cards.BEAR_GLORY * (1.0 - is_late)
    if card == cards.TYPHON:
        return float(view.forged[seat])
    face = NEW_FACE[card]
    return new_face_worth(view, face, dice, w) if face >= 0 else 0.0


@jit
def is_oust(view, stack):
    """Is another seat on the island of this stack?"""
    for other in range(view.seats):  # noqa: SIM110 (numba compiles no generator expression)
        if other != view.mover and view.island[other] == ISLAND[stack]:
            return True
    return False


@jit
def feat_worth(view, stack, dice, w):
    """Return what a feat is worth: its glory and effect, less its price, and less what an ousted seat gets."""
    card = view.card[stack]
    worth = PRINTED_GLORY[card] + effect_worth(view, card, dice, w) - COST[stack, SUN] * w[SUN] - COST[stack, MOON] * w[MOON]
    return worth - (2.0 * dice[OTHERS] / (view.seats - 1) if is_oust(view, stack) else 0.0)


@jit
def best_feat(view, dice, w, sun, without):
    """Return the stack and the worth of the best feat, but for one card, that leaves so many sun shards; -1 if there is none."""
    best, best_worth = -1, -99.0
    for stack in range(N_STACKS):
        if view.card[stack] != without and can_do(view, stack) and COST[stack, SUN] + sun <= view.have[view.mover, SUN]:
            worth = feat_worth(view, stack, dice, w)
            if worth > best_worth:
                best, best_worth = stack, worth
    return best, best_worth
