"""The rules of Dicefest, clause by clause (R and A numbers: README.md beside this file).

The seats draw their dice; then they act in turn: a move, or a quarter-turn and one ply for each token that it costs. An action's
code says by itself what it is. A turn that leaves no choice, a pass or the only move, is taken at once by :func:`go_on`.
"""

import numpy as np

from sims.jit import jit
from sims.ruleset import CHANCE, OVER, Field, variant_dtype
from sims.rulesets.dicefest.geometry import (
    DISTANCE,
    FACE,
    FIXED,
    GOAL,
    HANDS,
    INNER,
    INNER_SQUARES,
    N_TURNS,
    NORTH_FACE,
    NOWHERE,
    PATH,
    SIZE,
    SPENDING,
    STANDING,
    START,
    TARGET,
    TOP,
    TRIPLES,
    TURNED,
    bit,
    lowest,
    size,
)

MAX_SEATS = 4
DICE = 3
ENDLESS = 1_000  # turns in a row in which nobody has a choice
STUCK = 8.0  # actions that it counts to have locked all dice with tokens left
HISTORY = 256  # positions kept for `repetition`; the oldest are overwritten

LAST_SQUARE = 1  # collect
RANDOM_YAW, CHOSEN, FIXED_YAW = range(3)  # initial_yaw
ADJACENT = 1  # sides
RANDOM, OLDEST, FIRST_SEAT = range(3)  # first_player
FIRST_LOCKED = 1  # tie
RANK = 1  # deadlock

FIELDS = {
    "collect": Field("path", "tokens taken by a move: all on its way, or only on the last square", ("path", "landing")),
    "initial_yaw": Field(
        "random", "how the dice face at first: drawn, chosen, smallest face forward", ("random", "chosen", "fixed")
    ),
    "sides": Field("opposite", "two seats sit across from each other, or side by side", ("opposite", "adjacent")),
    "first_player": Field(
        "random", "who begins: drawn, chosen by the oldest (seat 0), seat 0", ("random", "oldest", "first_seat")
    ),
    "turns_per_action": Field(1, "quarter-turns of a die that one action may have", low=1, high=6, alternatives=(2,)),
    "lock_by_rotation": Field(True, "does a quarter-turn on the goal lock a die?"),
    "tie": Field("shared", "equal smallest reserves share a mini victory, or who locked first wins", ("shared", "first_locked")),
    "deadlock": Field("draw", "when nobody can act: a draw, or locked dice and then reserves count", ("draw", "rank")),
    "repetition": Field(False, "is a position that comes a third time a draw?"),
    "hand": Field("right", "are 1, 2 and 3 of a die counter-clockwise (right) or clockwise about their corner?", HANDS),
    "ply_limit": Field(4_000, "decisions after which a game is stopped and counted as truncated", low=1),
}
STATE = np.dtype(
    [
        ("variant", variant_dtype(FIELDS)),
        ("seats", np.int32),
        ("phase", np.int32),
        ("turn", np.int32),  # the seat whose turn it is; -1 while the first player is drawn
        ("first", np.int32),  # the seat that begins
        ("die", np.int32),  # that is being turned, or faced
        ("due", np.int32),  # tokens that must still be placed
        ("quarters", np.int32),  # quarter-turns of this action
        ("passes", np.int32),  # in a row
        ("end", np.int32),  # why the game is over
        # the board
        ("occupied", np.int64),  # squares with a die, as a set
        ("tokens", np.int64),  # squares with a token, as a set
        ("n_free", np.int32),  # inner squares with neither
        # the seats
        ("side", np.int32, MAX_SEATS),
        ("square", np.int32, (MAX_SEATS, DICE)),
        ("orient", np.int32, (MAX_SEATS, DICE)),
        ("locked", np.int32, (MAX_SEATS, DICE)),
        ("score", np.int32, MAX_SEATS),  # locked dice
        ("reserve", np.int32, MAX_SEATS),  # tokens
        ("place", np.int32, MAX_SEATS),  # 1 for who locked all dice first, 2 for the next; 0 for who has not
        ("winner", np.int32, MAX_SEATS),
        # what has been: keys of the positions since a die was locked, number i in row i mod HISTORY; kept with `repetition` only
        ("n_seen", np.int32),
        ("seen", np.int64, HISTORY),
        # counted for the results
        ("turns", np.int32, MAX_SEATS),
        ("started", np.int32, MAX_SEATS),
        ("triple", np.int32, MAX_SEATS),  # the first values, highest first, as a number: 631
        ("start_cost", np.int32, MAX_SEATS),  # tokens that the shortest ways of the dice take at the start, each die on its own
        ("total", np.int32, MAX_SEATS),  # total victories
        ("mini", np.int32, MAX_SEATS),  # mini victories, shared ones too
        ("total_ends", np.int32, MAX_SEATS),  # games that a total victory ended, whoever won it
        ("mini_ends", np.int32, MAX_SEATS),  # and a mini victory
        ("deadlocks", np.int32, MAX_SEATS),  # games that nobody could go on with
        ("repetitions", np.int32, MAX_SEATS),  # games drawn by repetition
        ("moves", np.int32, MAX_SEATS),
        ("quarter_turns", np.int32, MAX_SEATS),
        ("passed", np.int32, MAX_SEATS),
        ("collected", np.int32, MAX_SEATS),  # tokens
        ("paid", np.int32, MAX_SEATS),  # tokens; the rest of the collected ones are left
        ("left_at_two", np.int32, MAX_SEATS),  # tokens left when the second die was locked
        ("left_at_three", np.int32, MAX_SEATS),  # and the third
    ],
    align=True,
)

# Phases: decisions, then chance, then what is done at once, then the end.
ACT, PLACE, TURN_AGAIN, FACE_DICE, NAME_FIRST = range(5)
TRIPLE, YAW, FIRST = range(5, 8)
AFTER_ACTION, NEW_TURN, THE_END = range(8, 11)
NOT_OVER, TOTAL, MINI, DEADLOCK, REPETITION = range(5)  # why the game is over

# Actions. A die has ten: four moves by direction, six quarter-turns.
PER_DIE, FIRST_TURN = 10, 4
DONE = 30  # no further quarter-turn
YAW_0 = 32  # + yaw
SEAT_0 = 40  # + seat
SQUARE_0 = 64  # + square
PASS, SEVERAL = -1, -2  # what may be found in place of the only action


# --- setup ------------------------------------------------------------------------------------------------------------------


@jit
def reset(state):
    """A token on every inner square (R13), nothing in reserve; the first seat draws its dice."""
    state.die = state.due = state.quarters = state.passes = state.end = state.n_free = state.n_seen = state.first = 0
    state.occupied = 0
    state.tokens = INNER
    for row in range(HISTORY):
        state.seen[row] = 0
    for seat in range(MAX_SEATS):
        state.side[seat] = 2 * seat if state.seats == 2 and state.variant.sides != ADJACENT else seat  # R18
        for k in range(DICE):
            state.square[seat, k] = state.orient[seat, k] = state.locked[seat, k] = 0
        state.score[seat] = state.reserve[seat] = state.place[seat] = state.winner[seat] = 0
        state.turns[seat] = state.started[seat] = state.triple[seat] = state.total[seat] = state.mini[seat] = 0
        state.start_cost[seat] = state.total_ends[seat] = state.mini_ends[seat] = 0
        state.deadlocks[seat] = state.repetitions[seat] = state.moves[seat] = state.quarter_turns[seat] = 0
        state.passed[seat] = state.collected[seat] = state.paid[seat] = 0
        state.left_at_two[seat] = state.left_at_three[seat] = 0
    state.turn = 0
    state.phase = TRIPLE


@jit
def set_dice(state, outcome):
    """The values drawn (R14) go to their squares, the highest on the left (R15)."""
    seat = state.turn
    side, hand = state.side[seat], state.variant.hand
    for k in range(DICE):
        top = TRIPLES[outcome, k]
        state.square[seat, k] = START[side, top]
        state.orient[seat, k] = FIXED[hand, top, side] if state.variant.initial_yaw == FIXED_YAW else STANDING[hand, top, 0]
        state.occupied |= bit(START[side, top])
        state.triple[seat] = 10 * state.triple[seat] + top
    state.die = 0
    if state.variant.initial_yaw == RANDOM_YAW:
        state.phase = YAW
    else:
        next_seat_draws(state)


@jit
def face_die(state, yaw):
    """One of the four ways to face a die with its value on top (R16)."""
    seat = state.turn
    top = FACE[state.orient[seat, state.die], TOP]
    state.orient[seat, state.die] = STANDING[state.variant.hand, top, yaw]
    state.die += 1


@jit
def draw_yaw(state, yaw):
    """Face the next die as drawn (R16)."""
    face_die(state, yaw)
    if state.die == DICE:
        next_seat_draws(state)


@jit
def next_seat_draws(state):
    """After the last seat the first player is found (R17)."""
    state.die = 0
    state.turn += 1
    if state.turn < state.seats:
        state.phase = TRIPLE
    elif state.variant.first_player == RANDOM:
        state.turn = -1
        state.phase = FIRST
    elif state.variant.first_player == OLDEST:
        state.turn = 0
        state.phase = NAME_FIRST
    else:
        begin(state, np.int64(0))


@jit
def begin(state, seat):
    """This seat begins (R17); before that all face their dice, clockwise from it, if that is a choice (R16)."""
    state.turn = state.first = seat
    state.started[seat] = 1
    if state.variant.initial_yaw == CHOSEN:
        state.phase = FACE_DICE
    else:
        state.phase = NEW_TURN


@jit
def choose_yaw(state, yaw):
    """Face the next die as chosen (R16)."""
    face_die(state, yaw)
    if state.die == DICE:
        state.die = 0
        state.turn = next_seat(state)
        if state.turn == state.first:
            state.phase = NEW_TURN


# --- moves ------------------------------------------------------------------------------------------------------------------


@jit
def next_seat(state):
    """Return the seat that follows clockwise (R7)."""
    return state.turn + 1 if state.turn + 1 < state.seats else 0


@jit
def is_free_to_enter(state, square):
    """Is this a square of the board without a die (R21)? Dice on the way do not matter (R22), nor whose side it is (R23)."""
    return square != NOWHERE and state.occupied >> square & 1 == 0


@jit
def tokens_on_way(state, k, direction):
    """Return the tokens that a move takes: those passed over and the last one (R25), or the last one alone (A1)."""
    here, orient = state.square[state.turn, k], state.orient[state.turn, k]
    if state.variant.collect == LAST_SQUARE:
        return bit(TARGET[here, orient, direction]) & state.tokens
    return PATH[here, direction, FACE[orient, NORTH_FACE + direction]] & state.tokens


@jit
def move(state, k, direction):
    """Move a die as far as the face says that points there (R20), and take the tokens (R25, R33); it keeps facing (R24)."""
    state.passes = 0
    seat = state.turn
    here, orient = state.square[seat, k], state.orient[seat, k]
    there = TARGET[here, orient, direction]
    collect(state, tokens_on_way(state, k, direction))
    state.square[seat, k] = there
    state.occupied ^= bit(here) | bit(there)
    state.n_free += (INNER >> here & 1) - (INNER >> there & 1)
    state.moves[seat] += 1
    lock_at_goal(state, k)
    state.phase = AFTER_ACTION


@jit
def collect(state, tokens):
    """These tokens go from the board to the reserve."""
    n = size(tokens)
    state.tokens ^= tokens
    state.n_free += n
    state.reserve[state.turn] += n
    state.collected[state.turn] += n


@jit
def lock_at_goal(state, k):
    """A die on its goal is locked (R30): on the side across, on the number that it shows."""
    seat = state.turn
    if state.square[seat, k] == GOAL[state.side[seat], FACE[state.orient[seat, k], TOP]]:
        lock(state, seat, k)


@jit
def lock(state, seat, k):
    """Lock a die; note what is left, and who has locked all dice as number what."""
    state.locked[seat, k] = 1
    state.score[seat] += 1
    state.n_seen = 0  # no earlier position can come again
    if state.score[seat] == DICE - 1:
        state.left_at_two[seat] = state.reserve[seat]
    elif state.score[seat] == DICE:
        state.left_at_three[seat] = state.reserve[seat]
        for other in range(state.seats):
            state.place[seat] += state.score[other] == DICE


# --- quarter-turns ----------------------------------------------------------------------------------------------------------


@jit
def can_turn(state, k):
    """Are there tokens, and free squares to put them on, for the value on top (R26, R27)?"""
    seat = state.turn
    cost = FACE[state.orient[seat, k], TOP]
    return state.reserve[seat] >= cost and state.n_free >= cost


@jit
def free_squares(state):
    """Return the inner squares with neither a token nor a die (R28)."""
    return INNER & ~(state.tokens | state.occupied)


@jit
def turn_die(state, k, turn):
    """Turn a die; what showed on top before must be paid (R26, R34). That it is turned before it is paid makes no difference."""
    seat = state.turn
    state.passes = 0
    state.due = FACE[state.orient[seat, k], TOP]
    state.orient[seat, k] = TURNED[state.orient[seat, k], turn]
    state.die = k
    state.quarters += 1
    state.quarter_turns[seat] += 1
    pay(state)


@jit
def place_token(state, square):
    """Put a token of the reserve on a free square (R28)."""
    state.tokens |= bit(square)
    state.n_free -= 1
    state.due -= 1
    state.reserve[state.turn] -= 1
    state.paid[state.turn] += 1


@jit
def pay(state):
    """Place the next token; as many free squares as tokens leave no choice."""
    if state.n_free == state.due:
        while state.due > 0:
            place_token(state, lowest(free_squares(state)))
    if state.due > 0:
        state.phase = PLACE
    else:
        end_quarter_turn(state)


@jit
def end_quarter_turn(state):
    """The die may be locked now (R31, A11), or be turned again in this action (A5)."""
    k = state.die
    if state.variant.lock_by_rotation:
        lock_at_goal(state, k)
    if state.quarters < state.variant.turns_per_action and not state.locked[state.turn, k] and can_turn(state, k):
        state.phase = TURN_AGAIN
    else:
        state.phase = AFTER_ACTION


# --- turns and the end ------------------------------------------------------------------------------------------------------


@jit
def sole_action(state):
    """Return the only action of the seat (R19); PASS if there is none, SEVERAL if there are more. The only one is a move."""
    seat, found = state.turn, np.int64(PASS)
    for k in range(DICE):
        if state.locked[seat, k]:
            continue
        if can_turn(state, k):
            return np.int64(SEVERAL)
        for direction in range(4):
            if is_free_to_enter(state, TARGET[state.square[seat, k], state.orient[seat, k], direction]):
                if found != PASS:
                    return np.int64(SEVERAL)
                found = np.int64(PER_DIE * k + direction)
    return found


@jit
def go_on(state):
    """Do what leaves no choice, until a seat has one or the game is over; too many turns without a choice are a deadlock."""
    steps = 0
    while state.phase == AFTER_ACTION or state.phase == NEW_TURN:
        if state.phase == NEW_TURN:
            start_turn(state)
        elif steps < 2 * ENDLESS:
            end_turn(state)
        else:
            finish(state, DEADLOCK)
        steps += 1
    if state.phase == THE_END:
        settle(state)


@jit
def start_turn(state):
    """The seat must choose an action if it has several (R19); it makes the only one, or passes."""
    if state.turns[state.turn] == 0:
        note_start(state)
    state.turns[state.turn] += 1
    if state.variant.repetition and is_third(state):
        finish(state, REPETITION)
        return
    action = sole_action(state)
    if action == SEVERAL:
        state.phase = ACT
    elif action == PASS:
        pass_turn(state)
    else:
        move(state, action // PER_DIE, action % PER_DIE)


@jit
def note_start(state):
    """The dice of the seat still are where it drew them."""
    seat = state.turn
    for k in range(DICE):
        state.start_cost[seat] += SPENDING[state.side[seat], state.square[seat, k], state.orient[seat, k]]


@jit
def pass_turn(state):
    """Only who has no action passes (R29), also who has locked all dice (R36)."""
    state.passes += 1
    state.passed[state.turn] += 1
    state.phase = AFTER_ACTION


@jit
def end_turn(state):
    """After an action: total victory, mini victory, deadlock, in this order; else the next seat's turn (R35)."""
    seat = state.turn
    state.die = state.quarters = 0
    if state.score[seat] == DICE and state.reserve[seat] == 0:  # R37
        finish(state, TOTAL)
    elif state.score[seat] == DICE and have_all_locked(state):  # R38
        finish(state, MINI)
    elif state.passes == state.seats:  # R40
        finish(state, DEADLOCK)
    else:
        state.turn = next_seat(state)
        state.phase = NEW_TURN


@jit
def have_all_locked(state):
    """Has every seat locked its dice?"""
    for seat in range(state.seats):  # noqa: SIM110 (numba compiles no generator expression)
        if state.score[seat] < DICE:
            return False
    return True


@jit
def finish(state, end):
    """The game is over."""
    state.end = end
    state.phase = THE_END


@jit
def rank(state, seat):
    """Return how well a seat stands at the end: the highest rank wins, equal ones share."""
    if state.end == TOTAL:
        return np.int64(seat == state.turn)  # alone
    if state.end == MINI:  # the smallest reserve (R38), and of equal ones all (R39), or who locked all dice first (A19)
        by_place = state.place[seat] if state.variant.tie == FIRST_LOCKED else 0
        return np.int64(-state.reserve[seat] * (MAX_SEATS + 1) - by_place)
    if state.end == DEADLOCK and state.variant.deadlock == RANK:  # the most locked dice, then the smallest reserve (A21)
        return np.int64(64 * state.score[seat] - state.reserve[seat])
    return np.int64(0)  # a draw (R40, R42)


@jit
def settle(state):
    """Say who has won, and count how the game ended."""
    highest = rank(state, 0)
    for seat in range(1, state.seats):
        highest = max(highest, rank(state, seat))
    for seat in range(state.seats):
        state.winner[seat] = rank(state, seat) == highest
        state.total[seat] = state.winner[seat] and state.end == TOTAL
        state.mini[seat] = state.winner[seat] and state.end == MINI
        state.total_ends[seat] = state.end == TOTAL
        state.mini_ends[seat] = state.end == MINI
        state.deadlocks[seat] = state.end == DEADLOCK
        state.repetitions[seat] = state.end == REPETITION


# --- positions that come again ----------------------------------------------------------------------------------------------

_KEYS = np.random.default_rng(20938)
SQUARE_KEY = _KEYS.integers(1 << 31, size=(MAX_SEATS, SIZE * SIZE))
ORIENT_KEY = _KEYS.integers(1 << 31, size=len(FACE))
TOKEN_KEY = _KEYS.integers(1 << 62, size=SIZE * SIZE)
RESERVE_KEY = _KEYS.integers(1 << 62, size=(MAX_SEATS, len(INNER_SQUARES) + 1))
TURN_KEY = _KEYS.integers(1, 1 << 62, size=MAX_SEATS)


@jit
def key_of(state):
    """Return a number for the position: what stands where, the reserves, whose turn it is. Dice of a seat are all alike."""
    key, tokens = TURN_KEY[state.turn], state.tokens
    while tokens:
        key ^= TOKEN_KEY[lowest(tokens)]
        tokens &= tokens - 1
    for seat in range(state.seats):
        key ^= RESERVE_KEY[seat, state.reserve[seat]]
        for k in range(DICE):
            key ^= SQUARE_KEY[seat, state.square[seat, k]] * ORIENT_KEY[state.orient[seat, k]]
    return key


@jit
def is_third(state):
    """Is this the third time that this position begins a turn (R42)? It is remembered."""
    key, times = key_of(state), 0
    for row in range(min(state.n_seen, HISTORY)):
        times += state.seen[row] == key
    state.seen[state.n_seen % HISTORY] = key
    state.n_seen += 1
    return times >= 2


# --- the vocabulary of the loop ---------------------------------------------------------------------------------------------


@jit
def actor(state):
    """Nobody acts on another seat's dice (R32): whose turn it is decides."""
    if state.phase < TRIPLE:
        return np.int64(state.turn)
    return OVER if state.phase == THE_END else CHANCE


@jit
def chance(state):
    """One of 20 sets of values (R14), one of four ways to face (R16), one of the seats (R17)."""
    if state.phase == TRIPLE:
        return np.int64(len(TRIPLES))
    return np.int64(4 if state.phase == YAW else state.seats)


@jit
def apply_chance(state, outcome):
    """Do what the outcome says."""
    if state.phase == TRIPLE:
        set_dice(state, outcome)
    elif state.phase == YAW:
        draw_yaw(state, outcome)
    else:
        begin(state, outcome)
    go_on(state)


@jit
def legal_actions(state, actions):
    """List the options of the phase."""
    if state.phase == ACT:
        return list_actions(state, actions)
    if state.phase == PLACE:
        return list_free_squares(state, actions)
    return list_rarely(state, actions)


@jit
def list_actions(state, actions):
    """Write the moves and quarter-turns of each die that is not locked (R19); return how many there are."""
    seat, n = state.turn, 0
    for k in range(DICE):
        if state.locked[seat, k]:
            continue
        for direction in range(4):
            if is_free_to_enter(state, TARGET[state.square[seat, k], state.orient[seat, k], direction]):
                actions[n] = PER_DIE * k + direction
                n += 1
        if can_turn(state, k):
            n = list_turns(actions, n, k)
    return n


@jit
def list_turns(actions, n, k):
    """Add the six quarter-turns of a die to n actions; return how many there are then."""
    for turn in range(N_TURNS):
        actions[n + turn] = PER_DIE * k + FIRST_TURN + turn
    return n + N_TURNS


@jit
def list_free_squares(state, actions):
    """Write the squares for the next token; return how many there are."""
    squares, n = free_squares(state), 0
    while squares:
        actions[n] = SQUARE_0 + lowest(squares)
        n += 1
        squares &= squares - 1
    return n


@jit
def list_rarely(state, actions):
    """Another quarter-turn or none; ways to face a die; seats that may begin."""
    if state.phase == TURN_AGAIN:
        actions[0] = DONE
        return list_turns(actions, 1, state.die)
    first, n = (YAW_0, 4) if state.phase == FACE_DICE else (SEAT_0, state.seats)
    for i in range(n):
        actions[i] = first + i
    return n


@jit
def apply_action(state, action):
    """Do what was chosen."""
    if action >= SQUARE_0:
        place_token(state, action - SQUARE_0)
        pay(state)
    elif action >= DONE:
        choose_rarely(state, action)
    elif action % PER_DIE < FIRST_TURN:
        move(state, action // PER_DIE, action % PER_DIE)
    else:
        turn_die(state, action // PER_DIE, action % PER_DIE - FIRST_TURN)
    go_on(state)


@jit
def choose_rarely(state, action):
    """No further quarter-turn, a way to face a die, or the seat that begins."""
    if action == DONE:
        state.phase = AFTER_ACTION
    elif action < SEAT_0:
        choose_yaw(state, action - YAW_0)
    else:
        begin(state, action - SEAT_0)


@jit
def outlook(state, seat, tokens):
    """How far a seat is, no rule of the game: - actions to the goals - `tokens` * |reserve - tokens to be paid on the way|.

    Each die counts on its own, by the tables of ``geometry.py``. Who has locked all dice with tokens left can only hope for a
    mini victory: that counts `STUCK` actions.
    """
    if state.score[seat] == DICE:
        return -STUCK - tokens * state.reserve[seat] if state.reserve[seat] else 0.0
    rest, to_pay = 0, 0
    for k in range(DICE):
        rest += DISTANCE[state.side[seat], state.square[seat, k], state.orient[seat, k]]
        to_pay += SPENDING[state.side[seat], state.square[seat, k], state.orient[seat, k]]
    return -rest - tokens * abs(state.reserve[seat] - to_pay)


@jit
def standing(state, seat):
    """The outlook, a token counting a tenth of an action."""
    return outlook(state, seat, 0.1)


@jit
def payoffs(state, out):
    """Winners share (R37 to R40, R42)."""
    n = 0
    for seat in range(state.seats):
        n += state.winner[seat]
    for seat in range(state.seats):
        out[seat] = state.winner[seat] / n
