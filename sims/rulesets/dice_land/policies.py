"""Policies for Dice Land: attacks by their expected gain, play that looks a reply ahead, exact endgames, random play.

All place dice by the same rules (`placement`, and `left` for the two dice that stay off the map). ``greedy`` and ``massing``
value an attack by the table of ``odds.py``; ``cautious`` and ``expectimax`` the position after their turn by ``search.py``.
"""

import numpy as np

from sims.jit import allocates, copy_record, jit
from sims.policy import policy
from sims.rulesets.dice_land.maps import lowest, size
from sims.rulesets.dice_land.odds import ENTRIES, attack_gains, choice_gain, gain_of_attack
from sims.rulesets.dice_land.rules import (
    A_ATTACK,
    A_PLACE,
    ATTACK,
    CHOOSE,
    DECLINE,
    MOVE,
    PLACE,
    code,
    free_hexes,
    kind_of,
    part,
)
from sims.rulesets.dice_land.search import GAME_DEPTH, SLOTS, TURN_DEPTH, is_endgame, is_full, new_room, search
from sims.streams import draw

PLACEMENTS = ("uniform", "strong_first", "edge_safe", "cluster")
UNIFORM, STRONG_FIRST, EDGE_SAFE, CLUSTER = range(len(PLACEMENTS))
LEFT = ("any", "low", "high")  # which two dice stay off the map
ANY, LOW, HIGH = range(len(LEFT))


def starting_with(first, words):
    """Return the words in turn from number `first` on, so that another one is the default; word i was number i + `first`."""
    return (*words[first:], *words[:first])


# --- placement --------------------------------------------------------------------------------------------------------------


@jit
def n_spare(view, value, left):
    """Return how many dice of this value may be placed, if the two lowest or highest of the hand are kept."""
    hand = view.hand[view.turn]
    kept = 0 if left == ANY else 2
    first, last, step = (6, value, -1) if left == HIGH else (1, value, 1)
    for other in range(first, last, step):
        kept -= min(kept, hand[other])
    return hand[value] - min(kept, hand[value])


@jit
def spare_value(view, left, rank):
    """Return the value number `rank` among those that may be placed, from the lowest on; or the highest of them."""
    found = 0
    for value in range(1, 7):
        if n_spare(view, value, left) > 0:
            found = value
            if rank == 0:
                return found
            rank -= 1
    return found


@jit
def n_spare_values(view, left):
    """Return how many different values may be placed."""
    n = 0
    for value in range(1, 7):
        n += n_spare(view, value, left) > 0
    return n


@jit
def beside_weakest(view, h):
    """Return 7 less the weakest enemy die beside this hex, 0 if there is none."""
    enemies, best = view.near[h] & view.dice[1 - view.turn], 0
    while enemies:
        best = max(best, 7 - view.value[lowest(enemies)])
        enemies &= enemies - 1
    return best


@jit
def pairs_facing(view, h):
    """Return how many attacks on one die would have this hex and another own one beside it."""
    enemies, pairs = view.near[h] & view.dice[1 - view.turn], 0
    while enemies:
        pairs += size(view.near[h] & view.dice[view.turn] & view.near[lowest(enemies)])
        enemies &= enemies - 1
    return pairs


@jit
def appeal(view, h, placement):
    """Return how well an empty hex suits a placement rule."""
    if placement == STRONG_FIRST:
        return 8 * beside_weakest(view, h) + size(view.near[h])
    if placement == EDGE_SAFE:
        return -size(view.near[h])
    return 8 * pairs_facing(view, h) + size(view.near[h] & view.dice[view.turn])


@jit
def best_hex(view, placement):
    """Return the empty hex that suits the rule best, the lowest on ties."""
    free = free_hexes(view)
    best = lowest(free)
    while free:
        h = lowest(free)
        free &= free - 1
        if appeal(view, h, placement) > appeal(view, best, placement):
            best = h
    return best


@jit
def place_die(view, rng, placement, left):
    """Place a die: any on any hex; or the weakest (`edge_safe`) or the strongest die on the hex that suits best."""
    if placement == UNIFORM:
        value = spare_value(view, left, draw(rng, n_spare_values(view, left)))
        free = free_hexes(view)
        for _ in range(draw(rng, size(free))):
            free &= free - 1
        return code(A_PLACE, value, lowest(free), 0)
    rank = 0 if placement == EDGE_SAFE else 6
    return code(A_PLACE, spare_value(view, left, rank), best_hex(view, placement), 0)


# --- attacks by their expected gain -----------------------------------------------------------------------------------------


@jit
def gain_of_choice(view, action, dice):
    """Return what a choice after a combined roll gains."""
    x, roll = part(action, 0), part(action, 1)
    other, rest = view.first + view.second - x, view.roll[0] + view.roll[1] - roll
    defence = view.value[view.target]
    return choice_gain(view.variant, view.value[x], roll, view.value[other], rest, defence, dice, 1.0)


@jit
def best_attack(view, actions, n, gains, offset):
    """Return the attack that gains most on average, the first on ties."""
    best, best_gain = actions[0], gain_of_attack(view, actions[0], gains, offset)
    for i in range(1, n):
        gain = gain_of_attack(view, actions[i], gains, offset)
        if gain > best_gain:
            best, best_gain = actions[i], gain
    return best


@jit
def best_single_attack(view, actions, n, gains, offset):
    """Return the attack with one die that gains most on average, or the best of all if there is none."""
    best, best_gain = np.int64(-1), -np.inf
    for i in range(n):
        if kind_of(actions[i]) == A_ATTACK and part(actions[i], 1) == part(actions[i], 2):
            gain = gain_of_attack(view, actions[i], gains, offset)
            if gain > best_gain:
                best, best_gain = np.int64(actions[i]), gain
    return best if best >= 0 else np.int64(best_attack(view, actions, n, gains, offset))


@jit
def best_choice(view, actions, n, dice):
    """Return the choice that gains most, the first on ties."""
    best, best_gain = actions[0], gain_of_choice(view, actions[0], dice)
    for i in range(1, n):
        gain = gain_of_choice(view, actions[i], dice)
        if gain > best_gain:
            best, best_gain = actions[i], gain
    return best


@jit
def play_greedily(view, actions, n, params, rng, placement, left):
    """Place by the rule, attack for the best mean gain, move at random; else the first option."""
    if view.phase == PLACE:
        return place_die(view, rng, placement, left)
    if view.phase == ATTACK:
        return best_attack(view, actions, n, params, 3)
    if view.phase == CHOOSE:
        return best_choice(view, actions, n, params[0])
    return actions[draw(rng, n)] if view.phase == MOVE else actions[0]


def table_for_one(ruleset, variant, dice, *_):
    """Return the values of attacks, a die counting `dice` pips more."""
    return attack_gains(ruleset, variant, dice)


def tables_for_both(ruleset, variant, caution, dice, *_):
    """Return the same for a seat whose own losses count `caution` times, then for the other seat."""
    return np.concatenate([attack_gains(ruleset, variant, dice, caution), attack_gains(ruleset, variant, dice)])


def table_for_reply(ruleset, variant, exact, dice, *_):
    """Return the same, for the other seat's reply."""
    return attack_gains(ruleset, variant, dice)


@policy(solve=table_for_one, dice=3, placement=PLACEMENTS, left=LEFT)
def greedy(view, actions, n, params, rng):
    """Attack for the largest mean of enemy pips less own pips lost, a die counting `dice` more; move at random."""
    return play_greedily(view, actions, n, params, rng, params[1], params[2])


@policy(solve=table_for_one, dice=3, placement=PLACEMENTS, left=LEFT)
def dutiful(view, actions, n, params, rng):
    """Play as ``greedy`` does where attacks are compulsory: attack even if it may be declined."""
    n -= actions[n - 1] == DECLINE
    return play_greedily(view, actions, n, params, rng, params[1], params[2])


@policy(solve=table_for_one, dice=3, placement=PLACEMENTS, left=LEFT)
def single(view, actions, n, params, rng):
    """Play as ``greedy``, attacking with one die wherever it can."""
    if view.phase == ATTACK:
        return best_single_attack(view, actions, n, params, 3)
    return play_greedily(view, actions, n, params, rng, params[1], params[2])


@policy(solve=table_for_one, dice=3, placement=starting_with(CLUSTER, PLACEMENTS), left=starting_with(LOW, LEFT))
def massing(view, actions, n, params, rng):
    """Play as ``greedy``, placing dice beside own dice with whom they can attack together."""
    placement, left = (params[1] + CLUSTER) % len(PLACEMENTS), (params[2] + LOW) % len(LEFT)
    return play_greedily(view, actions, n, params, rng, placement, left)


# --- looking ahead ----------------------------------------------------------------------------------------------------------


@policy(solve=tables_for_both, caution=100, dice=3, placement=PLACEMENTS, left=LEFT)
@allocates
def cautious(view, actions, n, params, rng):
    """Make the attack with the smallest mean own loss (its weight is `caution`); after it choose with the reply in mind."""
    if view.phase == PLACE:
        return place_die(view, rng, params[2], params[3])
    if view.phase == ATTACK:
        return best_attack(view, actions, n, params, 4)
    room = new_room(TURN_DEPTH, 0)
    copy_record(view, room.states[0])
    search(room, params, 4 + ENTRIES, params[1])
    return actions[room.best[0]]


@policy(solve=table_for_reply, exact=0, dice=1, placement=PLACEMENTS, left=LEFT)
@allocates
def expectimax(view, actions, n, params, rng):
    """Look ahead to the reply, a die counting `dice` pips more; exactly to the end with at most `exact` dice on the map."""
    if view.phase == PLACE:
        return place_die(view, rng, params[2], params[3])
    exactly = is_endgame(view, params[0])
    room = new_room(GAME_DEPTH, SLOTS) if exactly else new_room(TURN_DEPTH, 0)
    copy_record(view, room.states[0])
    search(room, params, 4, params[1])
    if is_full(room):  # too many positions: look ahead to the reply after all
        room = new_room(TURN_DEPTH, 0)
        copy_record(view, room.states[0])
        search(room, params, 4, params[1])
    return actions[room.best[0]]


# --- without a plan ---------------------------------------------------------------------------------------------------------


@policy(placement=PLACEMENTS, left=LEFT)
def uniform(view, actions, n, params, rng):
    """Choose any legal action with the same probability; place by the rule."""
    return place_die(view, rng, params[0], params[1]) if view.phase == PLACE else actions[draw(rng, n)]
