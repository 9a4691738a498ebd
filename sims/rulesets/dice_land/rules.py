"""The rules of Dice Land, clause by clause (R and A numbers: README.md beside this file).

The table draws the map, both seats throw their dice and place them; then a turn is an attack and a move. Each phase either asks
a seat, or throws a die, or is done at once by :func:`go_on` where it leaves no choice. An action's code says by itself what it
is: a kind, and up to three numbers of six bits.
"""

import numpy as np

from sims.jit import jit
from sims.ruleset import CHANCE, OVER, PLY_LIMIT, Field, is_among, variant_dtype
from sims.rulesets.dice_land.maps import (
    EDEN,
    FRONTIER,
    KINDS,
    MAX_HEXES,
    MIN_HEXES,
    SPIRAL,
    SPIRAL_CELLS,
    STEPS,
    MapField,
    bit,
    lowest,
    touches,
)

SEATS = 2
RED, BLUE = range(SEATS)
TERRAINS = ("PLAINS", "HILLS", "TOWN", "MOUNTAINS", "FOREST")
PLAINS, HILLS, TOWN_HEX, MOUNTAINS, FOREST = range(len(TERRAINS))
REPLACE = 1  # valid_loss
PICK_ONE = 1  # combined
DIFFERENCE, ALL = 1, 2  # failed_loss
TWO_PASSES = 1  # end_check
RANDOM = 1  # first_placer, starter

FIELDS = {
    "hexes": Field(16, "hexes of the map, an even number; a map of cells has its own", low=MIN_HEXES, high=MAX_HEXES, step=2),
    "map": MapField("eden", "how the map is drawn, or its cells", KINDS),
    "terrain": Field(("PLAINS",), "faces of the die that gives each hex its terrain", TERRAINS),
    "valid_loss": Field("subtract", "a valid attacker loses the roll, or is replaced by it", ("subtract", "replace")),
    "combined": Field("assign_both", "both dice of a combined attack count, or one of them", ("assign_both", "pick_one")),
    "combined_mutual_adjacency": Field(False, "must two attackers touch each other?"),
    "failed_loss": Field("1", "what a failed attacker loses: 1, roll less attacker, or all", ("1", "difference", "all")),
    "attack_mandatory": Field(True, "must a seat attack that can?"),
    "conqueror_may_move": Field(False, "may the die that invaded move in the same turn?"),
    "invade_optional": Field(False, "may the attacker stay where it is after a conquest?"),
    "end_check": Field("immediate", "over when no dice touch, or after two turns without attack", ("immediate", "two_passes")),
    "first_placer": Field("sixes", "who places first: most sixes, then fives, ...; or a coin", ("sixes", "random")),
    "starter": Field("leftover_sum", "who plays first: the larger sum left over; or a coin", ("leftover_sum", "random")),
    "ply_limit": PLY_LIMIT,
}
STATE = np.dtype(
    [
        ("variant", variant_dtype(FIELDS)),
        ("seats", np.int32),
        ("phase", np.int32),
        ("turn", np.int32),  # the seat whose turn it is; -1 while the table draws
        # the map
        ("hexes", np.int32),  # on the map so far
        ("cell", np.int32, MAX_HEXES),  # packed coordinates
        ("near", np.int64, MAX_HEXES),  # neighbours, as a set
        ("terrain", np.int64, len(TERRAINS)),  # hexes of each terrain, as sets
        ("closed", np.int64),  # mountains that a die has left
        ("frontier", np.int32, FRONTIER),  # while the map grows: cells it may grow by
        ("n_frontier", np.int32),
        # the dice
        ("hand", np.int32, (SEATS, 7)),  # dice of each value not placed yet
        ("thrown", np.int32),  # dice of the hand, or hexes' terrains, that have been thrown
        ("dice", np.int64, SEATS),  # hexes with a die of each seat, as a set
        ("value", np.int32, MAX_HEXES),  # of the die there; 0 for none
        # the turn
        ("no_attack", np.int32),  # turns without attack, one after the other
        ("target", np.int32),  # of this turn's attack
        ("first", np.int32),  # its attackers; the same hex twice for a single attack
        ("second", np.int32),
        ("roll", np.int32, 2),
        ("invader", np.int32),  # asked whether it invades
        ("conqueror", np.int32),  # hex that was invaded in this turn, or NOWHERE
        ("acted", np.int64),  # dice that attacked or moved in this turn, as a set
        # the seats
        ("score", np.int32, SEATS),  # dice on the map
        # counted for the results
        ("turns", np.int32, SEATS),
        ("pips", np.int32, SEATS),  # on the map
        ("placed_pips", np.int32, SEATS),  # on the map when it was full
        ("left_pips", np.int32, SEATS),  # of the two dice left over
        ("placed_first", np.int32, SEATS),
        ("started", np.int32, SEATS),
        ("attacks", np.int32, SEATS),
        ("combined", np.int32, SEATS),  # of them with two dice
        ("conquests", np.int32, SEATS),
        ("moves", np.int32, SEATS),
    ],
    align=True,
)
NOWHERE = -1
SEVERAL = -2

# Phases: decisions, then chance, then what is done at once, then the end.
PLACE, ATTACK, CHOOSE, INVADE, MOVE, TOWN = range(6)
GROW, TERRAIN, HAND, PLACER_COIN, STARTER_COIN, SINGLE_DIE, FIRST_DIE, SECOND_DIE = range(6, 14)
NEW_TURN, THE_END = 14, 15
PHASES = (
    *("place", "attack", "choose", "invade", "move", "town"),
    *("map", "terrain", "hand", "placer", "starter", "die", "first die", "second die"),
    *("new turn", "over"),
)

# Actions: kind << 18, and up to three numbers.
DECLINE, STAY, GO_IN, HOLD = range(4)
A_PLACE, A_ATTACK, A_CHOICE, A_MOVE, A_TOWN = range(1, 6)


@jit
def code(kind, one, two, three):
    """Return the code of an action of this kind."""
    return ((np.int64(kind) << 6 | one) << 6 | two) << 6 | three


@jit
def kind_of(action):
    """Return the kind of an action; 0 for the plain words."""
    return action >> 18


@jit
def part(action, i):
    """Return number 0, 1 or 2 of an action."""
    return action >> 12 - 6 * i & 63


# --- the map ----------------------------------------------------------------------------------------------------------------


@jit
def reset(state):
    """Clear the table and draw the map (R1, R3)."""
    for h in range(MAX_HEXES):
        state.cell[h] = state.near[h] = state.value[h] = 0
    for terrain in range(len(TERRAINS)):
        state.terrain[terrain] = 0
    for i in range(FRONTIER):
        state.frontier[i] = 0
    state.hexes = state.closed = state.n_frontier = state.thrown = state.acted = state.no_attack = 0
    state.conqueror = NOWHERE
    clear_attack(state)
    for seat in range(SEATS):
        for value in range(7):
            state.hand[seat, value] = 0
        state.dice[seat] = state.score[seat] = state.turns[seat] = state.pips[seat] = state.placed_pips[seat] = 0
        state.left_pips[seat] = state.placed_first[seat] = state.started[seat] = state.attacks[seat] = 0
        state.combined[seat] = state.conquests[seat] = state.moves[seat] = 0
    state.turn = -1
    start_map(state)


@jit
def n_hexes(variant):
    """Return the number of hexes of the whole map."""
    return variant.n_map if variant.n_map > 1 else variant.hexes


@jit
def start_map(state):
    """Lay the whole map, or its first hex where it grows (R3)."""
    variant = state.variant
    kind = variant.map[0]
    if variant.n_map == 1 and kind < SPIRAL:
        add_hex(state, 0)
        spread(state, 0)
        state.phase = GROW
        return
    for h in range(n_hexes(variant)):
        if variant.n_map > 1:
            add_hex(state, variant.map[h])
        else:
            add_hex(state, SPIRAL_CELLS[h] if kind == SPIRAL else 128 * h)
    finish_map(state)


@jit
def add_hex(state, cell):
    """Lay a hex and link it with its neighbours (R2)."""
    h = state.hexes
    for other in range(h):
        if touches(state.cell[other], cell):
            state.near[other] |= bit(h)
            state.near[h] |= bit(other)
    state.cell[h] = cell
    state.hexes += 1


@jit
def spread(state, cell):
    """A hex was laid: it is no candidate any more, and its empty neighbours are, once (`eden`) or once per link (`edge`)."""
    n = 0
    for i in range(state.n_frontier):
        if state.frontier[i] != cell:
            state.frontier[n] = state.frontier[i]
            n += 1
    state.n_frontier = n
    for i in range(6):
        neighbour = cell + STEPS[i]
        known = state.variant.map[0] == EDEN and is_among(neighbour, state.frontier, state.n_frontier)
        if not known and not is_among(neighbour, state.cell, state.hexes):
            state.frontier[state.n_frontier] = neighbour
            state.n_frontier += 1


@jit
def grow(state, cell):
    """Lay the hex that was drawn (R3)."""
    add_hex(state, cell)
    spread(state, cell)
    if state.hexes == state.variant.hexes:
        for i in range(FRONTIER):
            state.frontier[i] = 0
        state.n_frontier = 0
        finish_map(state)


@jit
def finish_map(state):
    """Throw each hex's terrain, unless there is only one; then the dice."""
    if state.variant.n_terrain > 1:
        state.phase = TERRAIN
    else:
        state.terrain[state.variant.terrain[0]] = bit(state.hexes) - 1
        start_hand(state, RED)


@jit
def set_terrain(state, terrain):
    """Give the next hex its terrain."""
    state.terrain[terrain] |= bit(state.thrown)
    state.thrown += 1
    if state.thrown == state.hexes:
        start_hand(state, RED)


# --- throwing and placing the dice ------------------------------------------------------------------------------------------


@jit
def start_hand(state, seat):
    """This seat throws its dice (R4), red before blue."""
    state.turn = seat
    state.thrown = 0
    state.phase = HAND


@jit
def throw_hand(state, value):
    """One die of the hand; there are half as many as hexes, and two more (R4)."""
    state.hand[state.turn, value] += 1
    state.thrown += 1
    if 2 * state.thrown < state.hexes + 4:
        return
    if state.turn == RED:
        start_hand(state, BLUE)
    else:
        state.thrown = 0
        choose_placer(state)


@jit
def choose_placer(state):
    """More sixes place first, then more fives, and so on; a coin if all are equal (R5)."""
    if state.variant.first_placer != RANDOM:
        for value in range(6, 0, -1):
            more = state.hand[RED, value] - state.hand[BLUE, value]
            if more != 0:
                start_placing(state, RED if more > 0 else BLUE)
                return
    state.turn = -1
    state.phase = PLACER_COIN


@jit
def start_placing(state, seat):
    """This seat places the first die (R6)."""
    state.placed_first[seat] = 1
    state.turn = seat
    state.phase = PLACE


@jit
def free_hexes(state):
    """Return the empty hexes of the map."""
    return (bit(state.hexes) - 1) & ~(state.dice[RED] | state.dice[BLUE])


@jit
def n_values(state, seat):
    """Return how many different values this seat has in hand."""
    n = 0
    for value in range(1, 7):
        n += state.hand[seat, value] > 0
    return n


@jit
def place(state, value, h):
    """Place a die with its value (R6); when the map is full, two dice are left over (R7)."""
    seat = state.turn
    state.hand[seat, value] -= 1
    state.dice[seat] |= bit(h)
    state.score[seat] += 1
    state.placed_pips[seat] += value
    set_value(state, seat, h, value)
    state.turn = 1 - seat
    if state.score[RED] + state.score[BLUE] == state.hexes:
        choose_starter(state)


@jit
def choose_starter(state):
    """The larger sum of left-over dice starts, a coin if they are equal (R8); then their values are forgotten (R9)."""
    for seat in range(SEATS):
        for value in range(1, 7):
            state.left_pips[seat] += value * state.hand[seat, value]
            state.hand[seat, value] = 0
    more = state.left_pips[RED] - state.left_pips[BLUE]
    if more == 0 or state.variant.starter == RANDOM:
        state.turn = -1
        state.phase = STARTER_COIN
    else:
        start_play(state, RED if more > 0 else BLUE)


@jit
def start_play(state, seat):
    """This seat has the first turn (R8)."""
    state.started[seat] = 1
    state.turn = seat
    state.phase = NEW_TURN


# --- attack -----------------------------------------------------------------------------------------------------------------


@jit
def can_be_combined_on(state, t):
    """Hills and mountains cannot suffer combined attacks."""
    return (state.terrain[HILLS] | state.terrain[MOUNTAINS]) & bit(t) == 0


@jit
def list_attacks(state, actions):
    """Write every single (R10) and combined (R11) attack, by target and attackers; return how many there are."""
    mine, targets, n = state.dice[state.turn], state.dice[1 - state.turn], 0
    while targets:
        t = lowest(targets)
        targets &= targets - 1
        near = state.near[t] & mine
        while near:
            x = lowest(near)
            near &= near - 1
            actions[n] = code(A_ATTACK, t, x, x)
            n += 1
            partners = near if can_be_combined_on(state, t) else 0
            if state.variant.combined_mutual_adjacency:
                partners &= state.near[x]
            while partners:
                actions[n] = code(A_ATTACK, t, x, lowest(partners))
                n += 1
                partners &= partners - 1
    return n


@jit
def sole_attack(state):
    """Return the attack if there is just one, NOWHERE if there is none, else SEVERAL. One contact is one single attack."""
    mine, targets, found = state.dice[state.turn], state.dice[1 - state.turn], np.int64(NOWHERE)
    while targets:
        t = lowest(targets)
        targets &= targets - 1
        near = state.near[t] & mine
        if near:
            if found != NOWHERE or near & (near - 1):
                return np.int64(SEVERAL)
            found = code(A_ATTACK, t, lowest(near), lowest(near))
    return found


@jit
def launch(state, action):
    """Declare an attack: one die is thrown (R19), or two (R20, R21)."""
    state.target, state.first, state.second = part(action, 0), part(action, 1), part(action, 2)
    state.acted |= bit(state.first) | bit(state.second)
    state.no_attack = 0  # R23
    state.attacks[state.turn] += 1
    if state.first == state.second:
        state.phase = SINGLE_DIE
    else:
        state.combined[state.turn] += 1
        state.phase = FIRST_DIE


@jit
def resolve(variant, attack, defence, roll):
    """Return the new values of attacker and defender after this roll (R15); 0 for a die that is removed (A7)."""
    if roll > attack:  # failed
        loss = attack if variant.failed_loss == ALL else roll - attack if variant.failed_loss == DIFFERENCE else 1
        return max(0, attack - loss), defence
    if roll < attack:  # valid
        attack = roll if variant.valid_loss == REPLACE else attack - roll
    return attack, max(0, defence - roll)


@jit
def set_value(state, seat, h, value):
    """Give the die of this seat on this hex a value; 0 removes it (R16, R17)."""
    state.pips[seat] += value - state.value[h]
    state.value[h] = value
    if value == 0:
        state.dice[seat] &= ~bit(h)
        state.score[seat] -= 1


@jit
def strike(state, x, roll):
    """Settle one roll of one attacker against the target; is the target removed (R15 to R18)?"""
    t = state.target
    attack, defence = resolve(state.variant, state.value[x], state.value[t], roll)
    set_value(state, state.turn, x, attack)
    set_value(state, 1 - state.turn, t, defence)
    return defence == 0


@jit
def strike_single(state, roll):
    """Settle a single attack (R19)."""
    if strike(state, state.first, roll):
        conquer(state, state.first)
    else:
        end_attack(state)


@jit
def strike_combined(state, x, roll):
    """Settle a combined attack: x takes this roll; with `assign_both` the other takes the other one, unless all is done."""
    if strike(state, x, roll):
        conquer(state, x)  # R20: the second die is ignored
        return
    if state.variant.combined != PICK_ONE:
        other, rest = state.first + state.second - x, state.roll[0] + state.roll[1] - roll
        if strike(state, other, rest):
            conquer(state, other)
            return
    end_attack(state)


@jit
def conquer(state, x):
    """The die that removed the target invades (R16), or may (A9)."""
    if state.variant.invade_optional and state.dice[1 - state.turn] != 0:
        state.invader = x
        state.phase = INVADE
    else:
        invade(state, x)


@jit
def invade(state, x):
    """The die goes to the target's hex with its new value (A8)."""
    relocate(state, x, state.target)
    state.conqueror = state.target
    state.conquests[state.turn] += 1
    end_attack(state)


@jit
def relocate(state, x, y):
    """A die leaves a hex for an empty one; a mountain that was left is closed."""
    seat = state.turn
    state.dice[seat] ^= bit(x) | bit(y)
    state.value[y] = state.value[x]
    state.value[x] = 0
    state.acted |= bit(y)
    state.closed |= state.terrain[MOUNTAINS] & bit(x)


@jit
def end_attack(state):
    """A seat without dice has lost (R24, R31); else the turn goes on with the move."""
    clear_attack(state)
    state.phase = MOVE if state.dice[RED] and state.dice[BLUE] else THE_END


@jit
def clear_attack(state):
    """Forget the attack, so that equal positions are equal records."""
    state.target = state.first = state.second = state.roll[0] = state.roll[1] = state.invader = 0


# --- move -------------------------------------------------------------------------------------------------------------------


@jit
def can_leave(state, x):
    """May this die of the active seat move: no enemy beside it (R26), or in a forest; and it has not just invaded (R27)?"""
    is_free = state.near[x] & state.dice[1 - state.turn] == 0 or state.terrain[FOREST] & bit(x) != 0
    return is_free and (x != state.conqueror or state.variant.conqueror_may_move)


@jit
def list_moves(state, actions):
    """Write STAY (R29) and every move to an empty neighbour that may be entered (R27, R28); return how many there are."""
    movers, n = state.dice[state.turn], 1
    actions[0] = STAY
    while movers:
        x = lowest(movers)
        movers &= movers - 1
        goals = state.near[x] & free_hexes(state) & ~state.closed if can_leave(state, x) else 0
        while goals:
            actions[n] = code(A_MOVE, x, lowest(goals), 0)
            n += 1
            goals &= goals - 1
    return n


@jit
def can_move(state):
    """Is there any move but STAY?"""
    movers, goals = state.dice[state.turn], free_hexes(state) & ~state.closed
    while movers:
        x = lowest(movers)
        movers &= movers - 1
        if state.near[x] & goals and can_leave(state, x):
            return True
    return False


@jit
def growing(state):
    """Return the dice that may gain a pip: in a town, below 6, and they neither attacked nor moved in this turn."""
    dice, grown = state.dice[state.turn] & state.terrain[TOWN_HEX] & ~state.acted, np.int64(0)
    while dice:
        h = lowest(dice)
        dice &= dice - 1
        if state.value[h] < 6:
            grown |= bit(h)
    return grown


# --- turns ------------------------------------------------------------------------------------------------------------------


@jit
def is_over(state):
    """Before a turn: nobody can attack any more, or two turns went by without (R32)."""
    if state.variant.end_check == TWO_PASSES:
        return state.no_attack == 2
    return sole_attack(state) == NOWHERE


@jit
def start_turn(state):
    """The game may be over (R30, R32); else the seat attacks first."""
    state.conqueror = NOWHERE
    state.acted = 0
    if is_over(state):
        state.phase = THE_END
    else:
        state.turns[state.turn] += 1
        state.phase = ATTACK


@jit
def decline(state):
    """No attack in this turn (R12, R23)."""
    state.no_attack += 1
    state.phase = MOVE


@jit
def end_turn(state):
    """The other seat becomes active (R30)."""
    state.turn = 1 - state.turn
    state.phase = NEW_TURN


@jit
def gain_pip(state, h):
    """A die in a town gains a pip; the turn is over."""
    set_value(state, state.turn, h, state.value[h] + 1)
    end_turn(state)


@jit
def go_on(state):
    """Do what leaves no choice, until there is one, a die is due or the game is over."""
    while take_forced_step(state):
        pass


@jit
def take_forced_step(state):
    """Do one step that leaves no choice, and say whether there was one."""
    if state.phase == PLACE:
        return place_last(state)
    if state.phase == NEW_TURN:
        start_turn(state)
        return True
    if state.phase == ATTACK:
        return attack_without_choice(state)
    if state.phase == MOVE:
        if can_move(state):
            return False
        state.phase = TOWN
        return True
    if state.phase == TOWN:
        return grow_without_choice(state)
    return False


@jit
def place_last(state):
    """The last hex takes the last die, if all that are left are equal."""
    if state.score[RED] + state.score[BLUE] + 1 < state.hexes or n_values(state, state.turn) > 1:
        return False
    value = 1
    while state.hand[state.turn, value] == 0:
        value += 1
    place(state, value, lowest(free_hexes(state)))
    return True


@jit
def attack_without_choice(state):
    """Without an attack the seat declines; the only attack is made if it must be (R12)."""
    attack = sole_attack(state)
    if attack == NOWHERE:
        decline(state)
        return True
    if attack == SEVERAL or not state.variant.attack_mandatory:
        return False
    launch(state, attack)
    return True


@jit
def grow_without_choice(state):
    """The turn is over if no die may gain a pip, or only one."""
    dice = growing(state)
    if dice == 0:
        end_turn(state)
    elif dice & (dice - 1):
        return False
    else:
        gain_pip(state, lowest(dice))
    return True


# --- the vocabulary of the loop ---------------------------------------------------------------------------------------------


@jit
def actor(state):
    """The active seat decides in the first phases; then come the chance phases and the end."""
    if state.phase < GROW:
        return np.int64(state.turn)
    return OVER if state.phase == THE_END else CHANCE


@jit
def chance(state):
    """A cell of the frontier, a face of the terrain die, a coin, or a die."""
    if state.phase == GROW:
        return np.int64(state.n_frontier)
    if state.phase == TERRAIN:
        return np.int64(state.variant.n_terrain)
    return 2 if state.phase == PLACER_COIN or state.phase == STARTER_COIN else 6


@jit
def apply_chance(state, outcome):
    """Do what the outcome says."""
    if state.phase == SINGLE_DIE:
        strike_single(state, outcome + 1)
        go_on(state)
    elif state.phase == FIRST_DIE:
        state.roll[0] = outcome + 1
        state.phase = SECOND_DIE
    elif state.phase == SECOND_DIE:
        state.roll[1] = outcome + 1
        state.phase = CHOOSE
    else:
        set_up(state, outcome)


@jit
def set_up(state, outcome):
    """The outcomes before the game: the map, the hands, the coins."""
    if state.phase == GROW:
        grow(state, state.frontier[outcome])
    elif state.phase == TERRAIN:
        set_terrain(state, state.variant.terrain[outcome])
    elif state.phase == HAND:
        throw_hand(state, outcome + 1)
    elif state.phase == PLACER_COIN:
        start_placing(state, outcome)
    else:
        start_play(state, outcome)
        go_on(state)


@jit
def legal_actions(state, actions):
    """List the options of the phase."""
    if state.phase == PLACE:
        return list_placings(state, actions)
    if state.phase == ATTACK:
        n = list_attacks(state, actions)
        if not state.variant.attack_mandatory:
            actions[n] = DECLINE
            n += 1
        return n
    if state.phase == CHOOSE:
        return list_choices(state, actions)
    if state.phase == INVADE:
        actions[0], actions[1] = GO_IN, HOLD
        return 2
    if state.phase == MOVE:
        return list_moves(state, actions)
    return list_growing(state, actions)


@jit
def list_placings(state, actions):
    """A value in hand and an empty hex (R6)."""
    n = 0
    for value in range(1, 7):
        free = free_hexes(state) if state.hand[state.turn, value] else 0
        while free:
            actions[n] = code(A_PLACE, value, lowest(free), 0)
            n += 1
            free &= free - 1
    return n


@jit
def list_choices(state, actions):
    """One attacker and one roll: what is used (R21), or what is used first (R20)."""
    n_rolls, n = 1 if state.roll[0] == state.roll[1] else 2, 0
    for i in range(n_rolls):
        actions[n] = code(A_CHOICE, state.first, state.roll[i], 0)
        actions[n + 1] = code(A_CHOICE, state.second, state.roll[i], 0)
        n += 2
    return n


@jit
def list_growing(state, actions):
    """A die in a town."""
    dice, n = growing(state), 0
    while dice:
        actions[n] = code(A_TOWN, lowest(dice), 0, 0)
        n += 1
        dice &= dice - 1
    return n


@jit
def apply_action(state, action):
    """Do what was chosen."""
    kind = kind_of(action)
    if kind == A_PLACE:
        place(state, part(action, 0), part(action, 1))
    elif kind == A_ATTACK:
        launch(state, action)
    elif kind == A_CHOICE:
        strike_combined(state, part(action, 0), part(action, 1))
    elif kind == A_MOVE:
        relocate(state, part(action, 0), part(action, 1))
        state.moves[state.turn] += 1
        state.phase = TOWN
    elif kind == A_TOWN:
        gain_pip(state, part(action, 0))
    elif action == DECLINE:
        decline(state)
    elif action == STAY:
        state.phase = TOWN
    elif action == GO_IN:
        invade(state, state.invader)
    else:  # HOLD
        end_attack(state)
    go_on(state)


@jit
def share_of_red(state):
    """More dice on the map win; then more pips; then both share (R31, R33, R34)."""
    lead = state.score[RED] - state.score[BLUE]
    if lead == 0:
        for h in range(state.hexes):
            lead += -state.value[h] if state.dice[BLUE] & bit(h) else state.value[h]
    return 1.0 if lead > 0 else 0.5 if lead == 0 else 0.0


@jit
def standing(state, seat):
    """Dice on the map, then pips (R31, R33)."""
    return state.score[seat] + state.pips[seat] / 1000


@jit
def payoffs(state, out):
    """A win is 1, a loss 0, a draw 1/2 each."""
    out[RED] = share_of_red(state)
    out[BLUE] = 1.0 - out[RED]
