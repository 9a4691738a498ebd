"""The rules of Dice Forge, clause by clause (R and A numbers: README.md beside this file).

What is still to be done is a stack of tasks in the state, the next one on top: a turn puts its steps there, a blessing its rolls
and what is to be resolved, a feat its effect. :func:`go_on` does one after the other until a die is due or somebody has a choice.
Faces are resolved in steps of their own (:func:`resolve`), so that a choice can come between any two. A decision's phase lists
the codes that may be chosen (``CODES``), and :func:`is_option` says which are legal now.
"""

import numpy as np

from sims.jit import jit
from sims.ruleset import CHANCE, OVER, PLY_LIMIT, Field, variant_dtype
from sims.rulesets.dice_forge import cards
from sims.rulesets.dice_forge.cards import (
    CAPS,
    CHEST_ROOM,
    COST,
    HAMMER_GLORY,
    HAMMER_STEPS,
    ISLAND,
    N_CARDS,
    N_STACKS,
    PAIRED,
    PRINTED_GLORY,
    RANDOM_LAYOUT,
    SETS,
    LayoutField,
)
from sims.rulesets.dice_forge.faces import (
    AMOUNT,
    BOAR,
    BOAR_0,
    BOAR_OWNER,
    CHOICE,
    EMPTY,
    GLORY,
    GOLD,
    KIND,
    MATCH,
    MIRROR,
    MIRROR_FACE,
    MIXED,
    MOON,
    N_BOUGHT,
    N_FACES,
    NOTHING,
    PAIRS,
    POOL_OF,
    PRICE,
    SHIELD,
    SHIELD_0,
    SHIELD_HIT,
    SHIP,
    SHIP_DISCOUNT,
    SHIP_FACE,
    START_DICE,
    STOCK,
    SUM,
    SUN,
    X3,
    X3_FACE,
)

MAX_SEATS = 4
SLOTS = 6
NOBODY = -1
BY_TEXT = 0  # rounds
LEFTOVER, SHARED, BGA = range(3)  # tie
IF_STUCK = 0  # pass_rule
FALLING, EQUAL = range(2)  # start_gold
ONE_PICK, TRIPLED = 0, 0  # x3_choice, x3_boar
RAW = 0  # shield_sees
BY_CHOICE = 0  # ship_order
ANY_SPLIT = 0  # hammer_split
ANY_TIME = 0  # cerberus_when

FIELDS = {
    "rounds": Field("standard", "rounds with 2, 3, 4 seats: 10, 9, 9 or (published) 9, 10, 9", ("standard", "published")),
    "tie": Field(
        "leftover",
        "equal glory: most leftover resources, a shared win, or faces forged, feats, leftovers, earliest seat",
        ("leftover", "shared", "bga"),
    ),
    "pass_rule": Field(
        "if_stuck", "may a seat pass only if it can neither forge nor do a feat, or always?", ("if_stuck", "always")
    ),
    "layout": LayoutField(
        "basic", "the sets of cards: basic, alternate, drawn, or those that replace others", ("basic", "alternate", "random")
    ),
    "removed": Field(
        "none", "a set of cards that is left in the box: no rule, but a way to ask what it does", ("none", *cards.NAMES)
    ),
    "remove_g6_2p": Field(False, "with two seats, is the face of 6 gold always one of those taken out?"),
    "start_gold": Field("falling", "gold at the start: 3, 2, 1, 0 by seat, or 3 for all", ("falling", "equal")),
    "mixed_pool": Field(True, "may one forging take different faces of the same pool?"),
    "x3_choice": Field("one", "a choice face beside X3: one pick, tripled, or three picks", ("one", "three")),
    "x3_boar": Field("three", "a boar beside X3 triggers its owner three times, or once", ("three", "one")),
    "mirror_own": Field(True, "may a mirror copy the own other face where an opponent shows a mirror?"),
    "shield_sees": Field("raw", "a gain turned into glory counts for a shield as it was, or as glory", ("raw", "converted")),
    "ship_order": Field(
        "choice", "ship and gold that would overflow: asked which comes first, or always the ship", ("choice", "ship_first")
    ),
    "hammer_split": Field("any", "gold to the hammer: any part, or only so that no gold is wasted", ("any", "no_waste")),
    "cerberus_when": Field("any", "a Cerberus token repeats own rolls of any turn, or of the own turn only", ("any", "own_turn")),
    "triton_in_forge": Field(False, "may a Triton token be spent between two faces of one forging?"),
    "ply_limit": PLY_LIMIT,
}
STACK = 32  # tasks at most
STATE = np.dtype(
    [
        ("variant", variant_dtype(FIELDS)),
        ("seats", np.int32),
        ("phase", np.int32),
        ("turn", np.int32),  # whose die is rolled; at a decision the mover; NOBODY (the table) at setup
        ("mover", np.int32),  # the seat whose turn it is
        ("decider", np.int32),  # the seat that must decide
        ("round_number", np.int32),
        ("no_extra", np.int32),  # has the extra action been used, or passed up?
        ("drawn", np.int32),  # draws of the setup done
        ("n_tasks", np.int32),
        ("tasks", np.int32, STACK),
        # rolls
        ("rolling", np.int32),  # the die that is due: 2 seat + die
        ("shown", np.int32, (MAX_SEATS, 2)),  # the faces that mirrors see: as rolled, not as forged over since
        # the faces being resolved
        ("step", np.int32),
        ("who", np.int32),  # whose blessing it is
        ("mode", np.int32),
        ("is_own", np.int32),  # his own roll, not Satyrs
        ("may_repeat", np.int32),  # by a Cerberus token
        ("rolled", np.int32, 2),
        ("face", np.int32, 2),  # after mirrors have copied
        ("amount", np.int32, (2, 4)),
        ("multiplier", np.int32),
        ("which", np.int32),  # which of the two faces a decision is about
        ("picks", np.int32),  # picks that the face still allows
        ("ship_first", np.int32),
        ("triggers", np.int32, 2),  # rewards that the owner of a boar has still to take
        # what a decision is about
        ("gold", np.int32),  # gained, to be split between hammer and reserve
        ("new_face", np.int32),  # that must be forged
        ("bought", np.int32),  # types bought in this action, as a set
        # the table
        ("stock", np.int32, N_FACES),
        ("card", np.int32, N_STACKS),
        ("left", np.int32, N_STACKS),
        ("boar_owner", np.int32, 4),  # by colour
        ("n_boars", np.int32),  # boar cards taken
        ("leader", np.int32),
        # the seats
        ("dice", np.int32, (MAX_SEATS, 2, SLOTS)),
        ("up", np.int32, (MAX_SEATS, 2)),
        ("have", np.int32, (MAX_SEATS, 4)),  # gold, sun, moon, glory on the track
        ("owned", np.int32, (MAX_SEATS, N_CARDS)),
        ("used", np.int32, N_CARDS),  # reinforcements used this turn
        ("hammered", np.int32, MAX_SEATS),  # steps on the hammer tracks
        ("tritons", np.int32, MAX_SEATS),
        ("cerberi", np.int32, MAX_SEATS),
        ("island", np.int32, MAX_SEATS),  # 0 is the portal
        ("winner", np.int32, MAX_SEATS),
        # counted for the results
        ("score", np.int32, MAX_SEATS),  # track and printed glory, in sum the four that follow
        ("from_dice", np.int32, MAX_SEATS),  # less what a Minotaur took
        ("from_feats", np.int32, MAX_SEATS),  # printed
        ("from_effects", np.int32, MAX_SEATS),  # Elder, Bear, Typhon, owned boars
        ("from_hammer", np.int32, MAX_SEATS),
        ("turns", np.int32, MAX_SEATS),
        ("forged", np.int32, MAX_SEATS),  # faces, those of cards too
        ("feats", np.int32, MAX_SEATS),
        ("ousts", np.int32, MAX_SEATS),
        ("ousted", np.int32, MAX_SEATS),
        ("extra_actions", np.int32, MAX_SEATS),
        ("passes", np.int32, MAX_SEATS),
        ("chests", np.int32, MAX_SEATS),
        ("hammers", np.int32, MAX_SEATS),
        ("wasted", np.int32, MAX_SEATS),  # gold and shards lost to a cap
        ("leads", np.int32, MAX_SEATS),  # times taken, at the end of a turn
        ("leftover", np.int32, MAX_SEATS),  # gold and shards at the end
        ("tied", np.int32, MAX_SEATS),  # did this seat and another have most glory?
    ],
    align=True,
)

# Phases: decisions, then chance, then what is done at once, then the end.
(
    REINFORCE,
    ACT,
    BUY,
    SLOT,
    EXTRA,
    CHOOSE_SHIELD,
    CHOOSE_BEARER,
    CHOOSE_DIE,
    CHOOSE_PAIR,
    COPY,
    PICK,
    CONVERT,
    SHIP_ORDER,
    SPLIT,
    SHIP_BUY,
    OWNER_PICK,
    REPEAT,
) = range(17)
N_DECISIONS = 17
ROLL, DRAW_LAYOUT, DRAW_POOL = range(17, 20)
NEXT, THE_END = range(20, 22)

# Actions. A code means the same wherever it is legal.
NO, YES, FORGE, PASS = range(4)
TRITON_0 = 4  # + resource
PICK_0 = 8  # + resource
DIE_0 = 12  # + die
FACE_0 = 16  # + face
SLOT_0 = 48  # + 6 die + slot
FEAT_0 = 64  # + stack
SEAT_0 = 96  # + seat
HIND_0 = 100  # + die
ELDER_ = 102
OWL_0 = 103  # + resource
SPLIT_0 = 112  # + gold
PAIR_0 = 144  # + 8 i + j: die i % 2 of seat i // 2, and j
MOST_GOLD = 18  # one gain, three times the largest face

# Tasks, with what they are about: task + 16 x argument.
BEGIN_BLESSING, REINFORCEMENTS, ACTION, EXTRA_ACTION, END_TURN, GO_ON_FORGING, ROLL_DIE, RESOLVE, GO_ON_RESOLVING = range(9)
DIVINE, MINOR, TAKE_CARD, PICK_PAIR = range(9, 13)

PLAIN, TO_GLORY_SHARDS, TO_GLORY_GOLD, LOSS = range(4)  # how a blessing is applied: Sentinel, Cyclops, Minotaur
BOTH = 0  # dice; 1 the light one, 2 the dark one

# Steps of a resolution; those with two numbers are done for each of the two faces.
COPYING, MULTIPLYING, PICKING, SHIELDING, CONVERTING, ORDERING, GAINING, SHIPPING, GAINING_LATE, TRIGGERING, REPEATING = (
    0,
    2,
    3,
    5,
    6,
    8,
    9,
    10,
    12,
    13,
    14,
)


def _codes() -> np.ndarray:
    """Return for each decision the codes that may be chosen, in order; -1 after the last."""
    faces, tritons = range(FACE_0, FACE_0 + N_BOUGHT), range(TRITON_0, TRITON_0 + 3)
    slots, picks = range(SLOT_0, SLOT_0 + 2 * SLOTS), range(PICK_0, PICK_0 + 4)
    rows = {
        REINFORCE: [NO, HIND_0, HIND_0 + 1, ELDER_, *range(OWL_0, OWL_0 + 3), *tritons],
        ACT: [FORGE, *range(FEAT_0, FEAT_0 + N_STACKS), PASS, *tritons],
        BUY: [NO, *faces, *tritons],
        SLOT: [*slots],
        EXTRA: [NO, YES, *tritons],
        CHOOSE_SHIELD: [*range(FACE_0 + SHIELD_0, FACE_0 + SHIELD_0 + 4)],
        CHOOSE_BEARER: [*range(SEAT_0, SEAT_0 + MAX_SEATS)],
        CHOOSE_DIE: [DIE_0, DIE_0 + 1],
        CHOOSE_PAIR: [PAIR_0 + 8 * i + j for i in range(8) for j in range(i + 1, 8)],
        COPY: [*range(FACE_0, FACE_0 + NOTHING)],
        PICK: [*picks],
        CONVERT: [NO, YES],
        SHIP_ORDER: [NO, YES],
        SPLIT: [*range(SPLIT_0, SPLIT_0 + MOST_GOLD + 1)],
        SHIP_BUY: [NO, *faces],
        OWNER_PICK: [*picks],
        REPEAT: [NO, YES],
    }
    table = np.full((N_DECISIONS, max(map(len, rows.values())) + 1), -1)
    for phase, codes in rows.items():
        table[phase, : len(codes)] = codes
    return table


CODES = _codes()


# --- setup ------------------------------------------------------------------------------------------------------------------


@jit
def reset(state):
    """Set up the table and the seats (R4 to R9); then the layout and the pools are drawn where that is due."""
    reset_table(state)
    for seat in range(MAX_SEATS):
        reset_seat(state, seat)
    for seat in range(state.seats):
        state.have[seat, GOLD] = 3 if state.variant.start_gold == EQUAL else 3 - seat
    state.turn = NOBODY
    state.phase = DRAW_LAYOUT
    if state.variant.layout != RANDOM_LAYOUT:
        set_up_pools(state)
    if state.phase == NEXT:
        go_on(state)


@jit
def reset_table(state):
    """Nothing bought, nothing pending; the stock is that of three or four seats."""
    state.mover = state.decider = state.round_number = state.no_extra = state.drawn = state.n_tasks = 0
    state.rolling = state.step = state.who = state.mode = state.is_own = state.may_repeat = state.multiplier = state.which = (
        state.picks
    ) = 0
    state.ship_first = state.gold = state.new_face = state.bought = state.n_boars = 0
    state.leader = NOBODY
    for i in range(STACK):
        state.tasks[i] = 0
    for i in range(2):
        state.rolled[i] = state.face[i] = NOTHING
        state.triggers[i] = 0
        for resource in range(4):
            state.amount[i, resource] = 0
    for face in range(N_FACES):
        state.stock[face] = STOCK[face]
    for stack in range(N_STACKS):
        state.card[stack] = SETS[stack, 0]
        state.left[stack] = state.seats
    for bit in range(len(PAIRED)):
        state.card[PAIRED[bit]] = SETS[PAIRED[bit], state.variant.layout >> bit & 1]
    for colour in range(4):
        state.boar_owner[colour] = NOBODY
    for card in range(N_CARDS):
        state.used[card] = 0


@jit
def reset_seat(state, seat):
    """The starting dice (R18), nothing in reserve, on the portal; so too the seats that nobody plays."""
    for die in range(2):
        for slot in range(SLOTS):
            state.dice[seat, die, slot] = START_DICE[die, slot]
        state.up[seat, die] = 0
        state.shown[seat, die] = START_DICE[die, 0]
    for resource in range(4):
        state.have[seat, resource] = 0
    for card in range(N_CARDS):
        state.owned[seat, card] = 0
    state.hammered[seat] = state.tritons[seat] = state.cerberi[seat] = state.island[seat] = state.winner[seat] = 0
    state.score[seat] = state.from_dice[seat] = state.from_feats[seat] = state.from_effects[seat] = state.from_hammer[seat] = 0
    state.turns[seat] = state.forged[seat] = state.feats[seat] = state.ousts[seat] = state.ousted[seat] = 0
    state.extra_actions[seat] = state.passes[seat] = state.chests[seat] = state.hammers[seat] = state.wasted[seat] = 0
    state.leads[seat] = state.leftover[seat] = state.tied[seat] = 0


@jit
def draw_layout(state, outcome):
    """The basic set of the next pair, or the other one (R15)."""
    state.card[PAIRED[state.drawn]] = SETS[PAIRED[state.drawn], outcome]
    state.drawn += 1
    if state.drawn == len(PAIRED):
        set_up_pools(state)


@jit
def set_up_pools(state):
    """With two seats, two faces of each pool are taken out (R4, R6): of the mixed ones those drawn."""
    state.drawn = 0
    if state.seats > 2:
        start_game(state)
        return
    for face in range(N_BOUGHT):
        state.stock[face] = 2 if STOCK[face] == 4 else 0
    state.phase = DRAW_POOL


@jit
def draw_pool(state, outcome):
    """Two faces of the next mixed pool stay; with `remove_g6_2p` no pair with the first face of the first one (R13)."""
    first = 3 if is_without_g6(state) else 0
    for i in range(2):
        state.stock[MIXED[state.drawn, PAIRS[first + outcome, i]]] = 1
    state.drawn += 1
    if state.drawn == len(MIXED):
        start_game(state)


@jit
def is_without_g6(state):
    """Is the pool being drawn the one that loses its 6 gold for sure?"""
    return state.variant.remove_g6_2p and state.drawn == 0


@jit
def start_game(state):
    """No card of the set that is left in the box; the first seat begins (R10, R11)."""
    for stack in range(N_STACKS):
        if state.card[stack] == state.variant.removed - 1:
            state.left[stack] = 0
    state.phase = NEXT
    start_turn(state, 0)


# --- tasks and turns --------------------------------------------------------------------------------------------------------


@jit
def push(state, task, argument):
    """Put a task on top: it comes before all those already there."""
    state.tasks[state.n_tasks] = task + 16 * argument
    state.n_tasks += 1


@jit
def ask(state, phase, seat):
    """This seat must decide."""
    state.phase = phase
    state.decider = seat
    state.turn = state.mover


@jit
def start_turn(state, seat):
    """S1 to S6 of a turn, the last one put down first (R31); S1 twice with two seats (R12, R32)."""
    state.mover = seat
    state.turns[seat] += 1
    state.no_extra = 0
    for card in range(N_CARDS):
        state.used[card] = 0
    push(state, END_TURN, 0)
    push(state, EXTRA_ACTION, 0)
    push(state, ACTION, 0)
    push(state, REINFORCEMENTS, 0)
    push(state, BEGIN_BLESSING, 0)
    if state.seats == 2:
        push(state, BEGIN_BLESSING, 0)


@jit
def end_turn(state):
    """The next seat, the next round, or the end (R30, R103)."""
    note_leader(state)
    seat = state.mover + 1
    if seat == state.seats:
        seat = 0
        state.round_number += 1
    if state.round_number == n_rounds(state):
        settle(state)
    else:
        start_turn(state, seat)


@jit
def n_rounds(state):
    """Return the number of rounds (A23)."""
    is_long = state.seats == 2 if state.variant.rounds == BY_TEXT else state.seats == 3
    return 10 if is_long else 9


@jit
def note_leader(state):
    """Count a lead that is taken from another seat, or is the first one; level scores leave it."""
    best, is_alone = 0, True
    for seat in range(1, state.seats):
        if state.score[seat] >= state.score[best]:
            is_alone = state.score[seat] > state.score[best]
            best = seat
    if is_alone and best != state.leader:
        state.leader = best
        state.leads[best] += 1


@jit
def run_task(state):
    """Do the task on top."""
    state.n_tasks -= 1
    task, argument = state.tasks[state.n_tasks] & 15, state.tasks[state.n_tasks] >> 4
    state.tasks[state.n_tasks] = 0
    if task == ROLL_DIE:
        state.rolling = argument
        state.turn = argument >> 1
        state.phase = ROLL
    elif task == RESOLVE:
        start_resolving(state, argument & 3, argument >> 2 & 3, argument >> 4)
    elif task == GO_ON_RESOLVING:
        resolve(state)
    elif task == BEGIN_BLESSING:
        bless_all(state)
    elif task == REINFORCEMENTS:
        ask(state, REINFORCE, state.mover)
    elif task == ACTION:
        ask(state, ACT, state.mover)
    elif task == GO_ON_FORGING:
        ask(state, BUY, state.mover)
    elif task == EXTRA_ACTION:
        if not state.no_extra:
            ask(state, EXTRA, state.mover)
    elif task == END_TURN:
        end_turn(state)
    elif task == DIVINE:
        bless(state, argument & 3, argument >> 2)
    elif task == MINOR:
        bless_minor(state, argument & 3, argument >> 2)
    elif task == TAKE_CARD:
        take_card(state, argument)
    else:
        ask(state, CHOOSE_PAIR, state.mover)


@jit
def go_on(state):
    """Do what is due, until a die must be rolled, somebody has a choice, or the game is over. One option is no choice."""
    while True:
        if state.phase == NEXT:
            run_task(state)
        elif state.phase >= N_DECISIONS:
            return
        else:
            code = only_option(state)
            if code < 0:
                return
            choose(state, code)


# --- blessings --------------------------------------------------------------------------------------------------------------


@jit
def show_dice(state):
    """Mirrors see what lies on top now (R65), and then what is rolled (R60)."""
    for seat in range(state.seats):
        for die in range(2):
            state.shown[seat, die] = state.dice[seat, die, state.up[seat, die]]


@jit
def roll(state, slot):
    """A die shows one of its faces; equal ones are the same, the first of them."""
    seat, die = state.rolling >> 1, state.rolling & 1
    face = state.dice[seat, die, slot]
    slot = 0
    while state.dice[seat, die, slot] != face:
        slot += 1
    state.up[seat, die] = slot
    state.shown[seat, die] = face
    state.phase = NEXT


@jit
def push_rolls(state, seat):
    """Both dice of a seat must be rolled."""
    push(state, ROLL_DIE, 2 * seat + 1)
    push(state, ROLL_DIE, 2 * seat)


@jit
def bless_all(state):
    """All roll both dice (R59); then they are resolved one by one from the mover on (R32)."""
    show_dice(state)
    for i in range(state.seats, 0, -1):
        push(state, RESOLVE, (state.mover + i - 1) % state.seats)
    for i in range(state.seats, 0, -1):
        push_rolls(state, (state.mover + i - 1) % state.seats)


@jit
def bless(state, seat, mode):
    """A divine blessing of one seat (R58)."""
    show_dice(state)
    push(state, RESOLVE, seat + 16 * mode)
    push_rolls(state, seat)


@jit
def bless_minor(state, die, mode):
    """A minor blessing of the mover: one die, which was chosen before (R58, A20)."""
    show_dice(state)
    push(state, RESOLVE, state.mover + 4 * (1 + die) + 16 * mode)
    push(state, ROLL_DIE, 2 * state.mover + die)


@jit
def start_resolving(state, seat, which, mode):
    """What a seat has just rolled takes effect: both dice, or one."""
    state.rolled[0] = state.shown[seat, 1 if which == 2 else 0]
    state.rolled[1] = state.shown[seat, 1] if which == BOTH else NOTHING
    state.who = seat
    state.mode = mode
    state.is_own = state.may_repeat = 1
    start_faces(state)
    push(state, GO_ON_RESOLVING, 0)


@jit
def start_faces(state):
    """Begin, or after a Cerberus begin again, with the faces that were rolled."""
    for i in range(2):
        state.face[i] = state.rolled[i]
        state.triggers[i] = 0
        for resource in range(4):
            state.amount[i, resource] = 0
    state.multiplier = 1
    state.ship_first = 0
    state.step = COPYING


# --- faces, step by step ----------------------------------------------------------------------------------------------------


@jit
def resolve(state):
    """Do the next steps, until one needs a decision; what follows waits on the stack."""
    while state.phase == NEXT and state.step <= REPEATING:
        step = state.step
        state.step += 1
        if step < MULTIPLYING:
            copy_face(state, step - COPYING)
        elif step < PICKING:
            multiply(state)
        elif step < SHIELDING:
            start_pick(state, step - PICKING)
        elif step < CONVERTING:
            apply_shields(state)
        elif step < ORDERING:
            start_conversion(state, step - CONVERTING)
        elif step < GAINING:
            order_ship(state)
        elif step in (GAINING, GAINING_LATE):
            if state.ship_first == (step == GAINING_LATE):
                take_amounts(state)
        elif step < GAINING_LATE:
            start_ship(state, step - SHIPPING)
        elif step == TRIGGERING:
            trigger_boars(state)
        else:
            offer_repeat(state)
    if state.phase != NEXT:
        push(state, GO_ON_RESOLVING, 0)


@jit
def copy_face(state, i):
    """A mirror copies a face that its bearer chooses (R60); without one it is nothing (R62)."""
    if KIND[state.face[i]] != MIRROR:
        return
    state.which = i
    state.face[i] = NOTHING
    for face in range(NOTHING):
        if may_copy(state, face):
            ask(state, COPY, state.who)
            return


@jit
def may_copy(state, face):
    """Does an opponent show this face, no mirror (R60, R62), or, where one shows a mirror, the own other die (R61, A7)?"""
    if KIND[face] == MIRROR:
        return False
    sees_mirror = False
    for seat in range(state.seats):
        for die in range(2):
            if seat != state.who:
                if state.shown[seat, die] == face:
                    return True
                sees_mirror = sees_mirror or KIND[state.shown[seat, die]] == MIRROR
    if not (sees_mirror and state.is_own and state.variant.mirror_own):  # of a Satyrs' pick no own die is the other one (A8)
        return False
    return state.shown[state.who, 0] == face or state.shown[state.who, 1] == face


@jit
def multiply(state):
    """X3 triples the other face (R66); two of them, and one alone, are nothing. What both give is written down.

    Where neither leaves a choice, what follows is left out.
    """
    is_one_triple = (KIND[state.face[0]] == X3) != (KIND[state.face[1]] == X3)
    state.multiplier = 3 if is_one_triple else 1
    for i in range(2):
        if KIND[state.face[i]] == SUM:
            for resource in range(4):
                state.amount[i, resource] = state.multiplier * AMOUNT[state.face[i], resource]
    is_simple = KIND[state.face[0]] == SUM and (KIND[state.face[1]] == SUM or KIND[state.face[1]] == EMPTY)
    if is_simple and (state.mode == PLAIN or state.mode == LOSS):
        take_amounts(state)
        state.step = REPEATING


@jit
def start_pick(state, i):
    """One of the resources of a choice face, or of a boar for who rolled it (R73); times three beside X3 (A1)."""
    kind = KIND[state.face[i]]
    if kind in (CHOICE, BOAR):
        state.which = i
        state.picks = 1 if state.variant.x3_choice == ONE_PICK or kind == BOAR else state.multiplier
        ask(state, PICK, state.who)


@jit
def pick(state, resource):
    """Take this one, tripled beside X3; or pick again (A1)."""
    i = state.which
    face = state.face[i]
    is_tripled = state.variant.x3_choice == ONE_PICK or KIND[face] == BOAR
    state.amount[i, resource] += (state.multiplier if is_tripled else 1) * AMOUNT[face, resource]
    state.picks -= 1
    state.phase = NEXT
    if state.picks > 0:
        ask(state, PICK, state.who)


@jit
def apply_shields(state):
    """A shield pays 5 glory if the other face gave its resource, else its lower reward (R67 to R72)."""
    for i in range(2):
        if KIND[state.face[i]] != SHIELD:
            continue
        resource = MATCH[state.face[i]]
        state.amount[i, resource] = state.amount[i, GLORY] = 0
        if KIND[state.face[1 - i]] != SHIELD and state.amount[1 - i, resource] > 0:
            state.amount[i, GLORY] = SHIELD_HIT
        else:
            state.amount[i, resource] = state.multiplier * AMOUNT[state.face[i], resource]


@jit
def is_convertible(state, i):
    """Does this face give what the Sentinel, or the Cyclops, turns into glory?"""
    if state.mode == TO_GLORY_SHARDS:
        return state.amount[i, SUN] + state.amount[i, MOON] > 0
    return state.mode == TO_GLORY_GOLD and state.amount[i, GOLD] > 0


@jit
def start_conversion(state, i):
    """The gain of a face, a shield last, may be turned into glory, all of it or nothing (R99, R100)."""
    if KIND[state.face[0]] == SHIELD:
        i = 1 - i
    if is_convertible(state, i):
        state.which = i
        ask(state, CONVERT, state.who)


@jit
def convert(state):
    """Two glory per shard, or one per gold."""
    amount = state.amount[state.which]
    if state.mode == TO_GLORY_SHARDS:
        amount[GLORY] += cards.SENTINEL_GLORY * (amount[SUN] + amount[MOON])
        amount[SUN] = amount[MOON] = 0
    else:
        amount[GLORY] += amount[GOLD]
        amount[GOLD] = 0
    if state.variant.shield_sees != RAW and KIND[state.face[state.which]] != SHIELD:
        apply_shields(state)  # they see glory now (A6)


@jit
def order_ship(state):
    """Gold comes before a ship, to pay with it; where it would overflow the bearer may forge first, to make room (A11)."""
    if state.mode == LOSS or (KIND[state.face[0]] != SHIP and KIND[state.face[1]] != SHIP):
        return
    gold = state.amount[0, GOLD] + state.amount[1, GOLD]
    if gold > 0 and state.have[state.who, GOLD] + gold > cap(state, state.who, GOLD):
        if state.variant.ship_order == BY_CHOICE:
            ask(state, SHIP_ORDER, state.who)
        else:
            state.ship_first = 1


@jit
def take_amounts(state):
    """The seat gains, or under the Minotaur loses (R87), what the faces give; gold last, as it may be split."""
    for resource in range(GLORY, -1, -1):
        n = state.amount[0, resource] + state.amount[1, resource]
        if n == 0:
            continue
        if state.mode == LOSS:
            n = -min(n, state.have[state.who, resource])  # no track goes below 0 (R88)
        if resource == GLORY:
            gain_glory(state, state.who, n)
            state.from_dice[state.who] += n
        elif resource == GOLD and n > 0:
            gain_gold(state, state.who, n)
        else:
            gain(state, state.who, resource, n)


@jit
def start_ship(state, i):
    """A ship lets its bearer buy one face at a discount (R78), not under the Minotaur (R80)."""
    if KIND[state.face[i]] == SHIP and state.mode != LOSS:
        ask(state, SHIP_BUY, state.who)


@jit
def trigger_boars(state):
    """Start the rewards for the owners of boars (R74): three beside X3 (A2)."""
    for i in range(2):
        if KIND[state.face[i]] == BOAR:
            state.triggers[i] = state.multiplier if state.variant.x3_boar == TRIPLED else 1
    ask_owner(state)


@jit
def ask_owner(state):
    """The owner of a boar takes the next reward."""
    for i in range(2):
        if state.triggers[i] > 0:
            state.which = i
            ask(state, OWNER_PICK, state.boar_owner[state.face[i] - BOAR_0])
            return


@jit
def reward_owner(state, resource):
    """One sun, one moon or three glory for the owner of the boar (R74)."""
    owner, n = state.decider, BOAR_OWNER[resource]
    state.triggers[state.which] -= 1
    if resource == GLORY:
        gain_glory(state, owner, n)
        state.from_effects[owner] += n
    else:
        gain(state, owner, resource, n)
    state.phase = NEXT
    ask_owner(state)


@jit
def offer_repeat(state):
    """A Cerberus token applies the own roll once more (R41, A12); one token per roll."""
    is_time = state.variant.cerberus_when == ANY_TIME or state.who == state.mover
    if state.may_repeat and state.cerberi[state.who] > 0 and is_time:
        ask(state, REPEAT, state.who)


@jit
def repeat(state):
    """Use the token: the same faces again, without another token."""
    state.cerberi[state.who] -= 1
    state.may_repeat = 0
    start_faces(state)


# --- gains ------------------------------------------------------------------------------------------------------------------


@jit
def cap(state, seat, resource):
    """Return the most of a resource that a seat can hold (R90, R91)."""
    return CAPS[resource] + CHEST_ROOM[resource] * state.chests[seat]


@jit
def gain(state, seat, resource, n):
    """Add to a reserve; what is beyond the cap is lost (R92)."""
    excess = state.have[seat, resource] + n - cap(state, seat, resource)
    if excess > 0:
        state.wasted[seat] += excess
        n -= excess
    state.have[seat, resource] += n


@jit
def gain_glory(state, seat, n):
    """Move on the glory track."""
    state.have[seat, GLORY] += n
    state.score[seat] += n


@jit
def hammer_room(state, seat):
    """Return the steps that are left on the hammers of a seat (R97)."""
    return 2 * HAMMER_STEPS * state.hammers[seat] - state.hammered[seat]


@jit
def gain_gold(state, seat, n):
    """Gold goes to the reserve, or any part of it to a hammer (R93)."""
    if n > 0 and hammer_room(state, seat) > 0:
        state.gold = n
        ask(state, SPLIT, seat)
    else:
        gain(state, seat, GOLD, n)


@jit
def split(state, n):
    """So much of the gold gained goes to the hammer, the rest to the reserve; a track completed pays (R94, R95)."""
    seat = state.decider
    before = state.hammered[seat]
    state.hammered[seat] += n
    for done in range(before // HAMMER_STEPS, state.hammered[seat] // HAMMER_STEPS):
        gain_glory(state, seat, HAMMER_GLORY[done % 2])
        state.from_hammer[seat] += HAMMER_GLORY[done % 2]
    gain(state, seat, GOLD, state.gold - n)
    state.gold = 0
    state.phase = NEXT


@jit
def may_split(state, n):
    """Is there so much gold and room (A14)? Under `no_waste` not so little that gold is lost which the hammer could take."""
    seat = state.decider
    most = min(state.gold, hammer_room(state, seat))
    if state.variant.hammer_split == ANY_SPLIT:
        return n <= most
    excess = state.have[seat, GOLD] + state.gold - cap(state, seat, GOLD)
    return min(excess, most) <= n <= most


@jit
def spend_triton(state, resource):
    """Use a token (R41); then the decision that it came before is due again."""
    seat = state.mover
    if state.phase == REINFORCE:
        push(state, REINFORCEMENTS, 0)
    elif state.phase == ACT:
        push(state, ACTION, 0)
    elif state.phase == BUY:
        push(state, GO_ON_FORGING, 0)
    else:
        push(state, EXTRA_ACTION, 0)
    state.tritons[seat] -= 1
    state.phase = NEXT
    if resource == GOLD:
        gain_gold(state, seat, cards.TRITON_GAIN[GOLD])
    else:
        gain(state, seat, resource, cards.TRITON_GAIN[resource])


# --- forging ----------------------------------------------------------------------------------------------------------------


@jit
def can_buy(state, seat, face, discount):
    """Is this face in stock, and can the seat pay for it (R42, R48)?"""
    return state.stock[face] > 0 and PRICE[face] - discount <= state.have[seat, GOLD]


@jit
def can_forge(state):
    """Can the mover buy any face?"""
    for face in range(N_BOUGHT):  # noqa: SIM110 (numba compiles no generator expression)
        if can_buy(state, state.mover, face, 0):
            return True
    return False


@jit
def may_buy(state, face):
    """Can the mover buy this face, of a type not yet bought in this action (R43), nor of its pool (A3)?"""
    if state.bought >> face & 1 or not can_buy(state, state.mover, face, 0):
        return False
    if not state.variant.mixed_pool:
        for other in range(N_BOUGHT):
            if state.bought >> other & 1 and POOL_OF[other] == POOL_OF[face]:
                return False
    return True


@jit
def buy(state, face, discount):
    """Pay for a face, which must be forged at once (R45)."""
    state.have[state.decider, GOLD] -= max(0, PRICE[face] - discount)
    take_face(state, face)


@jit
def take_face(state, face):
    """Take a face from the stock; who decides now puts it on one of his dice."""
    state.stock[face] -= 1
    state.new_face = face
    ask(state, SLOT, state.decider)


@jit
def is_slot(state, number):
    """May the new face go on this slot: no boar (R46), and the first of those that are alike, apart from the one on top?"""
    seat, die, slot = state.decider, number // SLOTS, number % SLOTS
    face, up = state.dice[seat, die, slot], state.up[seat, die]
    if KIND[face] == BOAR:
        return False
    if slot != up:
        for earlier in range(slot):
            if earlier != up and state.dice[seat, die, earlier] == face:
                return False
    return True


@jit
def forge(state, number):
    """Put the new face on a slot; the old one leaves the game."""
    state.dice[state.decider, number // SLOTS, number % SLOTS] = state.new_face
    state.forged[state.decider] += 1
    state.phase = NEXT


# --- feats ------------------------------------------------------------------------------------------------------------------


@jit
def can_do(state, stack):
    """Is there a card left whose price the mover can pay (R49)?"""
    have = state.have[state.mover]
    return state.left[stack] > 0 and COST[stack, SUN] <= have[SUN] and COST[stack, MOON] <= have[MOON]


@jit
def do_feat(state, stack):
    """Pay, go to the island, oust who is there (R49 to R52); then the card has its effect (A18)."""
    seat = state.mover
    state.have[seat, SUN] -= COST[stack, SUN]
    state.have[seat, MOON] -= COST[stack, MOON]
    push(state, TAKE_CARD, stack)
    for other in range(state.seats):
        if other != seat and state.island[other] == ISLAND[stack]:
            oust(state, other)
    state.island[seat] = ISLAND[stack]
    state.phase = NEXT


@jit
def oust(state, other):
    """Back to the portal with a divine blessing (R51); the bears of both pay (R55)."""
    state.island[other] = 0
    state.ousted[other] += 1
    state.ousts[state.mover] += 1
    reward_bears(state, other)
    reward_bears(state, state.mover)
    push(state, DIVINE, other)


@jit
def reward_bears(state, seat):
    """Three glory for each Great Bear (R55)."""
    n = cards.BEAR_GLORY * state.owned[seat, cards.BEAR]
    gain_glory(state, seat, n)
    state.from_effects[seat] += n


@jit
def take_card(state, stack):
    """The card is the mover's, and has its effect at once (R56)."""
    seat, card = state.mover, state.card[stack]
    state.left[stack] -= 1
    state.owned[seat, card] += 1
    state.feats[seat] += 1
    state.from_feats[seat] += PRINTED_GLORY[card]
    state.score[seat] += PRINTED_GLORY[card]
    if card == cards.HAMMER:
        state.hammers[seat] += 1
    elif card == cards.CHEST:
        state.chests[seat] += 1
    elif card == cards.SPIRITS:
        gain(state, seat, MOON, cards.SPIRITS_MOON)
        gain_gold(state, seat, cards.SPIRITS_GOLD)
    elif card == cards.TRITON:
        state.tritons[seat] += 1
    elif card == cards.CERBERUS:
        state.cerberi[seat] += 1
    elif card == cards.TYPHON:
        gain_glory(state, seat, state.forged[seat])
        state.from_effects[seat] += state.forged[seat]
    else:
        start_effect(state, card)


@jit
def start_effect(state, card):
    """Start the effect of a card that brings rolls or a face of the gardens; the others have none."""
    state.decider = state.mover
    if card == cards.CANCER or card == cards.SENTINEL:
        for _ in range(cards.IN_A_ROW[0]):
            push(state, DIVINE, state.mover + 4 * (TO_GLORY_SHARDS if card == cards.SENTINEL else PLAIN))
    elif card == cards.SPHINX or card == cards.CYCLOPS:
        state.mode = TO_GLORY_GOLD if card == cards.CYCLOPS else PLAIN
        ask(state, CHOOSE_DIE, state.mover)
    elif card == cards.SATYRS:
        show_dice(state)
        push(state, PICK_PAIR, 0)
        push_rolls_of_others(state)
    elif card == cards.MINOTAUR:
        show_dice(state)
        for i in range(state.seats - 1, 0, -1):
            push(state, RESOLVE, (state.mover + i) % state.seats + 16 * LOSS)
        push_rolls_of_others(state)
    elif card == cards.HELMET:
        take_face(state, X3_FACE)
    elif card == cards.MIRROR:
        take_face(state, MIRROR_FACE)
    elif card == cards.SHIP:
        take_face(state, SHIP_FACE)
    elif card == cards.SHIELD:
        ask(state, CHOOSE_SHIELD, state.mover)
    elif card == cards.BOAR:
        ask(state, CHOOSE_BEARER, state.mover)


@jit
def push_rolls_of_others(state):
    """Every other seat rolls both dice (R82, R87), clockwise."""
    for i in range(state.seats - 1, 0, -1):
        push_rolls(state, (state.mover + i) % state.seats)


@jit
def bless_in_a_row(state, die):
    """Four minor blessings with the die chosen (Sphinx, Cyclops)."""
    for _ in range(cards.IN_A_ROW[1]):
        push(state, MINOR, die + 4 * state.mode)
    state.phase = NEXT


@jit
def set_boar(state, bearer):
    """The bearer must forge the boar of this card's colour (R77)."""
    colour = state.n_boars
    state.boar_owner[colour] = state.mover
    state.n_boars += 1
    state.decider = bearer
    take_face(state, BOAR_0 + colour)


@jit
def is_pair(state, i, j):
    """Are these two dice of others, the first that show these two faces (R84)?"""
    if not (is_rolled_by_other(state, i) and is_rolled_by_other(state, j)):
        return False
    one, two = shown_by(state, i), shown_by(state, j)
    for a in range(i + 1):
        for b in range(a + 1, 2 * state.seats):
            is_earlier = a < i or b < j
            if is_earlier and is_rolled_by_other(state, a) and is_rolled_by_other(state, b):
                x, y = shown_by(state, a), shown_by(state, b)
                if (x == one and y == two) or (x == two and y == one):
                    return False
    return True


@jit
def is_rolled_by_other(state, die):
    """Is this a die, numbered through, of a seat other than the mover?"""
    return die >> 1 < state.seats and die >> 1 != state.mover


@jit
def shown_by(state, die):
    """Return the face that a die, numbered through, shows."""
    return state.shown[die >> 1, die & 1]


@jit
def apply_pair(state, i, j):
    """The two faces are a blessing of the mover (R83), but not his own roll (R86)."""
    state.rolled[0], state.rolled[1] = shown_by(state, i), shown_by(state, j)
    state.who = state.mover
    state.mode = PLAIN
    state.is_own = state.may_repeat = 0
    start_faces(state)
    push(state, GO_ON_RESOLVING, 0)
    state.phase = NEXT


# --- the actions of a turn --------------------------------------------------------------------------------------------------


@jit
def has_reinforcement(state, card):
    """Is there a copy that has not been used this turn (R33)?"""
    return state.owned[state.mover, card] > state.used[card]


@jit
def reinforce(state, code):
    """Use a reinforcement; another one may follow (R33)."""
    seat = state.mover
    push(state, REINFORCEMENTS, 0)
    state.phase = NEXT
    if code == ELDER_:
        state.used[cards.ELDER] += 1
        state.have[seat, GOLD] -= cards.ELDER_GOLD
        gain_glory(state, seat, cards.ELDER_GLORY)
        state.from_effects[seat] += cards.ELDER_GLORY
    elif code < ELDER_:
        state.used[cards.HIND] += 1
        bless_minor(state, code - HIND_0, PLAIN)
    else:
        state.used[cards.OWL] += 1
        if code == OWL_0 + GOLD:
            gain_gold(state, seat, 1)
        else:
            gain(state, seat, code - OWL_0, 1)


@jit
def act(state, code):
    """Forge, a feat, or a pass, after which there is no extra action (R34, R37)."""
    if code == FORGE:
        state.bought = 0
        push(state, GO_ON_FORGING, 0)
        state.phase = NEXT
    elif code == PASS:
        state.passes[state.mover] += 1
        state.no_extra = 1
        state.phase = NEXT
    else:
        do_feat(state, code - FEAT_0)


@jit
def answer_extra(state, is_wanted):
    """Two sun shards for another action, once a turn (R38, R39)."""
    state.phase = NEXT
    state.no_extra = 1
    if is_wanted:
        state.have[state.mover, SUN] -= 2
        state.extra_actions[state.mover] += 1
        push(state, ACTION, 0)


# --- what may be chosen -----------------------------------------------------------------------------------------------------


@jit
def is_option(state, code):
    """Is this code of the phase legal now?"""
    phase = state.phase
    if phase == ACT:
        return is_action(state, code)
    if phase == SPLIT:
        return may_split(state, code - SPLIT_0)
    if phase == BUY:
        return is_purchase(state, code)
    if phase == SLOT:
        return is_slot(state, code - SLOT_0)
    if phase == REINFORCE:
        return is_reinforcement(state, code)
    if phase == EXTRA:
        return code == NO or (state.have[state.mover, SUN] >= 2 if code == YES else state.tritons[state.mover] > 0)
    if phase == PICK:
        return AMOUNT[state.face[state.which], code - PICK_0] > 0
    if phase == COPY:
        return may_copy(state, code - FACE_0)
    return is_rare_option(state, code)


@jit
def is_action(state, code):
    """Forge, a feat or a token if that is possible; a pass always, or only if there is neither of the first two (R35, R36)."""
    if code >= FEAT_0:
        return can_do(state, code - FEAT_0)
    if code == FORGE:
        return can_forge(state)
    if code == PASS:
        return state.variant.pass_rule != IF_STUCK or is_stuck(state)
    return state.tritons[state.mover] > 0


@jit
def is_stuck(state):
    """Can the mover neither forge nor do a feat?"""
    for stack in range(N_STACKS):
        if can_do(state, stack):
            return False
    return not can_forge(state)


@jit
def is_purchase(state, code):
    """A face; an end after at least one (R42); a token where that is allowed."""
    if code == NO:
        return state.bought != 0
    if code >= FACE_0:
        return may_buy(state, code - FACE_0)
    return state.variant.triton_in_forge and state.tritons[state.mover] > 0


@jit
def is_reinforcement(state, code):
    """Reinforcements that are left, tokens, or no more."""
    if code == NO:
        return True
    if code < HIND_0:
        return state.tritons[state.mover] > 0
    if code < ELDER_:
        return has_reinforcement(state, cards.HIND)
    if code == ELDER_:
        return has_reinforcement(state, cards.ELDER) and state.have[state.mover, GOLD] >= cards.ELDER_GOLD
    return has_reinforcement(state, cards.OWL)


@jit
def is_rare_option(state, code):
    """Check the codes of the other phases."""
    phase = state.phase
    if phase == OWNER_PICK:
        return BOAR_OWNER[code - PICK_0] > 0
    if phase == SHIP_BUY:
        return code == NO or can_buy(state, state.decider, code - FACE_0, SHIP_DISCOUNT * state.multiplier)
    if phase == CHOOSE_SHIELD:
        return state.stock[code - FACE_0] > 0
    if phase == CHOOSE_BEARER:
        return code - SEAT_0 < state.seats and code - SEAT_0 != state.mover
    if phase == CHOOSE_PAIR:
        return is_pair(state, (code - PAIR_0) >> 3, (code - PAIR_0) & 7)
    return True  # yes or no, or one of the two dice


@jit
def only_option(state):
    """Return the only legal action, or -1 if there is a choice."""
    found, i = -1, 0
    while CODES[state.phase, i] >= 0:
        if is_option(state, CODES[state.phase, i]):
            if found >= 0:
                return -1
            found = CODES[state.phase, i]
        i += 1
    return found


@jit
def choose(state, code):
    """Do what was chosen."""
    phase = state.phase
    if TRITON_0 <= code < PICK_0:
        spend_triton(state, code - TRITON_0)
    elif phase == ACT:
        act(state, code)
    elif phase == SLOT:
        forge(state, code - SLOT_0)
    elif phase == BUY:
        if code == NO:
            state.bought = 0
            state.phase = NEXT
        else:
            state.bought |= 1 << (code - FACE_0)
            push(state, GO_ON_FORGING, 0)
            buy(state, code - FACE_0, 0)
    elif phase == EXTRA:
        answer_extra(state, code == YES)
    elif phase == SPLIT:
        split(state, code - SPLIT_0)
    elif phase == PICK:
        pick(state, code - PICK_0)
    elif phase == REINFORCE and code != NO:
        reinforce(state, code)
    else:
        choose_rarely(state, code)


@jit
def choose_rarely(state, code):
    """Do what was chosen in one of the other phases."""
    phase = state.phase
    state.phase = NEXT
    if phase == COPY:
        state.face[state.which] = code - FACE_0
    elif phase == OWNER_PICK:
        reward_owner(state, code - PICK_0)
    elif phase == SHIP_BUY and code != NO:
        buy(state, code - FACE_0, SHIP_DISCOUNT * state.multiplier)
    elif phase == CHOOSE_SHIELD:
        take_face(state, code - FACE_0)
    elif phase == CHOOSE_BEARER:
        set_boar(state, code - SEAT_0)
    elif phase == CHOOSE_DIE:
        bless_in_a_row(state, code - DIE_0)
    elif phase == CHOOSE_PAIR:
        apply_pair(state, (code - PAIR_0) >> 3, (code - PAIR_0) & 7)
    elif code == YES:
        if phase == CONVERT:
            convert(state)
        elif phase == SHIP_ORDER:
            state.ship_first = 1
        else:
            repeat(state)


# --- the end ----------------------------------------------------------------------------------------------------------------


@jit
def rank(state, seat):
    """Return a number that orders the seats at the end: glory (R104, R107), then what breaks ties (R108)."""
    if state.variant.tie == LEFTOVER:
        return np.int64(state.score[seat]) << 32 | state.leftover[seat]
    if state.variant.tie == SHARED:
        return np.int64(state.score[seat])
    ties = (np.int64(state.forged[seat]) << 16 | state.feats[seat] << 8 | state.leftover[seat]) << 2 | (3 - seat)
    return np.int64(state.score[seat]) << 32 | ties


@jit
def settle(state):
    """Leftovers and tokens are worth nothing (R105, R106); the highest rank wins, equal ones share."""
    state.phase = THE_END
    most, highest = 0, np.int64(-1)
    for seat in range(state.seats):
        state.leftover[seat] = state.have[seat, GOLD] + state.have[seat, SUN] + state.have[seat, MOON]
        most = max(most, state.score[seat])
        highest = max(highest, rank(state, seat))
    n_most = 0
    for seat in range(state.seats):
        n_most += 1 if state.score[seat] == most else 0
        state.winner[seat] = rank(state, seat) == highest
    for seat in range(state.seats):
        state.tied[seat] = n_most > 1 and state.score[seat] == most


# --- the vocabulary of the loop ---------------------------------------------------------------------------------------------


@jit
def actor(state):
    """The seat that must decide; rolls and draws are chance."""
    if state.phase < N_DECISIONS:
        return np.int64(state.decider)
    return OVER if state.phase == THE_END else CHANCE


@jit
def chance(state):
    """Six faces of a die; two sets of a pair; six pairs of faces of a mixed pool, or three of them without the 6 gold."""
    if state.phase == DRAW_LAYOUT:
        return np.int64(2)
    return np.int64(3 if state.phase == DRAW_POOL and is_without_g6(state) else 6)


@jit
def apply_chance(state, outcome):
    """Do what the outcome says."""
    if state.phase == ROLL:
        roll(state, outcome)
    elif state.phase == DRAW_POOL:
        draw_pool(state, outcome)
    else:
        draw_layout(state, outcome)
    if state.phase == NEXT:
        go_on(state)


@jit
def legal_actions(state, actions):
    """List the codes of the phase that are legal now."""
    n = i = 0
    while CODES[state.phase, i] >= 0:
        if is_option(state, CODES[state.phase, i]):
            actions[n] = CODES[state.phase, i]
            n += 1
        i += 1
    return n


@jit
def apply_action(state, action):
    """Do what was chosen, and what follows from it."""
    choose(state, action)
    go_on(state)


@jit
def payoffs(state, out):
    """The winners share."""
    n = 0
    for seat in range(state.seats):
        n += state.winner[seat]
    for seat in range(state.seats):
        out[seat] = state.winner[seat] / n
