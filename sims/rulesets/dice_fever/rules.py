"""The rules of Dice Fever, clause by clause (R and A numbers: README.md beside this file).

A turn is a walk through phases. The decision phases come first, then the chance phases; ``throw``, ``resolve``, ``unlock``,
``decide``, ``bank``, ``out`` are the steps between them, in the order in which a turn meets them. A track is a set of values,
held as six bits: value v is bit v-1.
"""

import numpy as np

from sims.jit import cold, jit
from sims.ruleset import CHANCE, OVER, PLY_LIMIT, Field, variant_dtype

MAX_SEATS = 6
PLUS5, DOUBLE, X3, SUITE = range(4)
BONUS_FACES = ("PLUS5", "DOUBLE", "X3", "SUITE")
X2, DUEL, RELANCE, SIX = range(4)
RISK_FACES = ("X2", "DUEL", "RELANCE", "SIX")
CHOSEN, LEFT = range(2)  # duel_target, relance_target
FORCED = 1  # relance_mode
IMMEDIATE = 1  # suite_check
SHARED, OWN, SHARE_WIN = range(3)  # sudden_death
DIFFERENCE, WINNER_DIE = -1, -2  # duel_stake
STAKES = {"difference": DIFFERENCE, "winner_die": WINNER_DIE}

FIELDS = {
    "target": Field(76, "score that wins, with a 6 in the turn", low=1),
    "parade_cards": Field(3, "PARADE cards of each player", high=9),
    "risk_cards": Field(2, "RISK cards of each player", high=9),
    "max_risk_per_turn": Field(1, "RISK cards that one turn may use", high=1),
    "fever_bonus": Field(10, "points for all six values"),
    "bonus_die": Field(True, "is there a BONUS die?"),
    "bonus_at": Field(4, "values on the track that unlock the BONUS die", low=1, high=6),
    "bonus_faces": Field(
        ("PLUS5", "PLUS5", "DOUBLE", "DOUBLE", "X3", "SUITE"), "its faces", BONUS_FACES, alternatives=(BONUS_FACES,)
    ),
    "risk_faces": Field(
        ("X2", "X2", "DUEL", "DUEL", "RELANCE", "SIX"), "faces of the RISK die", RISK_FACES, alternatives=(RISK_FACES,)
    ),
    "suite_value": Field(10, "points for Suite", alternatives=(5,)),
    "suite_len": Field(4, "consecutive values that Suite needs", low=1, high=6, alternatives=(5,)),
    "suite_check": Field("end", "when Suite looks for them: at scoring, or at once", ("end", "immediate")),
    "duel_target": Field("chosen", "who is challenged", ("chosen", "left")),
    "duel_stake": Field(5, "points that a Duel moves", high=1000, named=STAKES, alternatives=(*STAKES, 10)),
    "relance_target": Field("chosen", "who must throw again", ("chosen", "left")),
    "relance_mode": Field("chosen", "the owner picks a die, or the 4th value is thrown again", ("chosen", "forced")),
    "relance_keeps_x3": Field(False, "does the die thrown again still count triple?"),
    "double_forced": Field(False, "must Double De be thrown?"),
    "double_dup_parades": Field(1, "PARADE cards that cancel two duplicates of Double De", low=1, high=9, alternatives=(2,)),
    "six_partial_bonus": Field(True, "does the six-dice face unlock the BONUS die short of a Dice Fever?"),
    "parade_after_risk": Field(False, "may PARADE cards also be committed after the RISK throw?"),
    "last_turn_strict": Field(True, "must a validated player still have the target when the round ends?"),
    "sudden_death": Field(
        "shared", "shared or own tracks with the loser out; or all but the loser win", ("shared", "own", "share_win")
    ),
    "ply_limit": PLY_LIMIT,
}
STATE = np.dtype(
    [
        ("variant", variant_dtype(FIELDS)),
        ("seats", np.int32),
        ("phase", np.int32),
        ("turn", np.uint32),  # the seat whose turn it is; an index without a sign is cheaper
        ("last_round", np.int32),  # did someone validate in this round?
        # the turn
        ("track", np.uint32),  # values laid, as bits
        ("shields", np.int32),  # PARADE cards committed and not used yet
        ("extra", np.int32),  # points of PLUS5
        ("next3", np.int32),  # does the next die count triple?
        ("double", np.int32),  # is the next throw two dice?
        ("tripled_value", np.int32),  # value that counts triple, or 0
        ("suite", np.int32),  # was Suite thrown?
        ("six", np.int32),  # did this turn start with six dice?
        ("mult", np.int32),  # 2 after Score x2
        ("bonus_face", np.int32),  # face of the BONUS die, or NO_FACE
        # the throw
        ("fresh", np.uint32),  # values laid in this throw, as bits
        ("first", np.int32),  # the first of two dice
        ("in_air", np.int32),  # of six dice, those not landed yet
        ("surplus", np.int32),  # of six dice, the duplicates
        ("owner", np.uint32),  # the seat whose Relance token is looked at
        ("rival", np.uint32),  # the seat challenged to a Duel
        ("duel_die", np.int32),  # what the challenger threw
        # the seats
        ("score", np.int32, MAX_SEATS),
        ("parade", np.int32, MAX_SEATS),
        ("risk", np.int32, MAX_SEATS),
        ("validated", np.int32, MAX_SEATS),
        ("tokens", np.int32, MAX_SEATS),  # owners of a Relance token against this seat, as bits
        ("contender", np.int32, MAX_SEATS),  # still able to win when the game has ended; at last the winners
        ("death_track", np.int32, MAX_SEATS),  # tracks of sudden death, as bits
        # counted for the results
        ("turns", np.int32, MAX_SEATS),
        ("stops", np.int32, MAX_SEATS),
        ("outs", np.int32, MAX_SEATS),
        ("fevers", np.int32, MAX_SEATS),
        ("points", np.int32, MAX_SEATS),  # of own turns, Duels apart
        ("parried", np.int32, MAX_SEATS),
        ("duels", np.int32, MAX_SEATS),  # challenges made
        ("relances", np.int32, MAX_SEATS),  # tokens used
        ("sudden_death", np.int32, MAX_SEATS),  # 1 for every seat of a game that came to it
    ],
    align=True,
)
NO_FACE = -1
FULL = 63

# Phases: decisions, then chance, then the end.
COMMIT, ADD_PARADE, DUEL_TARGET, RELANCE_TARGET, WINDOW, DECIDE = range(6)
DIE, FIRST_DIE, DUEL_DIE, RIVAL_DIE, SIX_DICE, RETHROW, DEATH_DIE, BONUS_DIE, RISK_DIE = range(6, 15)
THE_END = 15

# Actions: a code says by itself what it is.
STOP, THROW, KEEP = range(3)
USE = 2  # USE + v: throw the die of value v again
AT = 10  # AT + seat: that seat is the target
CARDS = 20  # CARDS + 2k + r: commit k PARADE cards and r RISK cards


def _longest_run(track: int) -> int:
    return max(length for length in range(7) if any(track >> low & (1 << length) - 1 == (1 << length) - 1 for low in range(6)))


# Facts about the 64 tracks: number of values, their sum, longest run of consecutive values.
COUNT = np.array([bin(track).count("1") for track in range(64)], np.int32)
PIPS = np.array([sum(v for v in range(1, 7) if track >> (v - 1) & 1) for track in range(64)], np.int32)
RUN = np.array([_longest_run(track) for track in range(64)], np.int32)


@jit
def bit(value):
    """Return the track that holds this value alone."""
    return 1 << (value - 1)


# --- what a track is worth ------------------------------------------------------------------------------------------------


@jit
def turn_points(state, track, tripled_value, flat, suite):
    """Points of a turn that ends with this track (R34, R40, R41), the needed 6 apart."""
    points = (PIPS[track] + 2 * tripled_value) * state.mult + flat
    if suite and RUN[track] >= state.variant.suite_len:
        points += state.variant.suite_value
    if track == FULL:
        points += state.variant.fever_bonus
    return points


@jit
def stop_points(state):
    """Points that STOP would give now, the needed 6 apart."""
    return turn_points(state, state.track, state.tripled_value, state.extra, state.suite)


@jit
def lacks_six(state, points, track):
    """Would these points reach the target without a 6 on the track, so that the turn is OUT (R42)?"""
    return state.score[state.turn] + points >= state.variant.target and not track & bit(6)


# --- the game and its rounds ----------------------------------------------------------------------------------------------


@jit
def reset(state):
    """Hand out the cards; every score is 0 (R1). Seats are numbered in turn order, so seat 0 starts (R2, R3)."""
    for seat in range(state.seats):
        state.score[seat] = 0
        state.parade[seat] = state.variant.parade_cards
        state.risk[seat] = state.variant.risk_cards
        state.tokens[seat] = state.validated[seat] = state.contender[seat] = state.death_track[seat] = 0
        state.turns[seat] = state.stops[seat] = state.outs[seat] = state.fevers[seat] = state.points[seat] = 0
        state.parried[seat] = state.duels[seat] = state.relances[seat] = state.sudden_death[seat] = 0
    state.last_round = state.fresh = state.first = state.in_air = state.surplus = state.owner = state.rival = state.duel_die = 0
    start_turn(state, 0)


@jit
def start_turn(state, seat):
    """The seat may commit cards if it has any (R5); otherwise it throws."""
    state.turn = seat
    state.turns[seat] += 1
    state.track = state.shields = state.extra = state.next3 = state.double = 0
    state.tripled_value = state.suite = state.six = 0
    state.mult = 1
    state.bonus_face = NO_FACE
    if state.parade[seat] > 0 or min(state.risk[seat], state.variant.max_risk_per_turn) > 0:
        state.phase = COMMIT
    else:
        throw(state)


@jit
def end_turn(state):
    """Tokens against this player expire (R37); the next player to the left has the turn (R3), or the round ends.

    Where nobody has validated in it, that is all there is to a round.
    """
    state.tokens[state.turn] = 0
    if state.turn + 1 < state.seats:
        start_turn(state, state.turn + 1)
    elif state.last_round:
        end_round(state)
    else:
        start_turn(state, 0)


@cold
def end_round(state):
    """If someone is validated the highest score of the validated wins (R46 to R48); a tie goes to sudden death (R50)."""
    best = n_best = state.last_round = 0
    for seat in range(state.seats):
        if in_the_running(state, seat):
            if n_best == 0 or state.score[seat] > best:
                best, n_best = state.score[seat], 1
            elif state.score[seat] == best:
                n_best += 1
    if n_best == 0:  # nobody, or only a leader whom a Duel pulled under the target: play on (R49)
        for seat in range(state.seats):
            state.validated[seat] = 0
        start_turn(state, 0)
        return
    for seat in range(state.seats):
        state.contender[seat] = in_the_running(state, seat) and state.score[seat] == best
        state.sudden_death[seat] = n_best > 1
    if n_best == 1:
        state.phase = THE_END
    else:
        start_death(state, next_contender(state, state.seats - 1))


@jit
def in_the_running(state, seat):
    """Is this seat validated and, read strictly, still at the target (R48, A33)?"""
    at_target = not state.variant.last_turn_strict or state.score[seat] >= state.variant.target
    return state.validated[seat] and at_target


@jit
def next_contender(state, seat):
    """Return the next contender in round order after `seat`."""
    seat = (seat + 1) % state.seats
    while not state.contender[seat]:
        seat = (seat + 1) % state.seats
    return seat


@jit
def start_death(state, seat):
    """Sudden death starts (again) with empty tracks (R50, R51)."""
    for each in range(state.seats):
        state.death_track[each] = 0
    state.turn = seat
    state.phase = DEATH_DIE


@cold
def sudden_death_die(state, value):
    """Add a die to the common track; whoever repeats a value is out of it (R50, R51)."""
    track = state.turn if state.variant.sudden_death == OWN else 0
    if not state.death_track[track] & bit(value):
        state.death_track[track] |= bit(value)
        state.turn = next_contender(state, state.turn)
        return
    state.contender[state.turn] = 0
    heir = next_contender(state, state.turn)
    if state.variant.sudden_death == SHARE_WIN or next_contender(state, heir) == heir:
        state.phase = THE_END
    else:
        start_death(state, heir)


# --- cards and the RISK die -----------------------------------------------------------------------------------------------


@cold
def commit(state, n_parade, n_risk):
    """Committed cards are gone whatever happens (R5 to R8); a RISK card throws the RISK die (R9)."""
    state.parade[state.turn] -= n_parade
    state.risk[state.turn] -= n_risk
    state.shields += n_parade
    if n_risk:
        state.phase = RISK_DIE
    else:
        throw(state)


@cold
def risk_die(state, face):
    """Apply the face of the RISK die at once (R33)."""
    if face == X2:
        state.mult = 2
        after_risk(state)
    elif face == DUEL:
        choose_target(state, DUEL_TARGET, state.variant.duel_target)
    elif face == RELANCE:
        choose_target(state, RELANCE_TARGET, state.variant.relance_target)
    else:
        state.six = 1
        state.in_air = 6
        state.surplus = state.fresh = 0
        state.phase = SIX_DICE


@jit
def choose_target(state, phase, rule):
    """The active player chooses an opponent, unless there is no choice (R35, R37)."""
    state.phase = phase
    if rule == LEFT or state.seats == 2:
        target(state, (state.turn + 1) % state.seats)


@cold
def target(state, seat):
    """Challenge this seat to a Duel, or lay a Relance token against it."""
    if state.phase == DUEL_TARGET:
        state.duels[state.turn] += 1
        state.rival = seat
        state.phase = DUEL_DIE
    else:
        state.tokens[seat] |= 1 << state.turn
        after_risk(state)


@cold
def duel(state, rival_die):
    """Settle a Duel at once: equal dice throw again; the stake moves from loser to winner (R35)."""
    mine = state.duel_die
    if mine == rival_die:
        state.phase = DUEL_DIE
        return
    stake = state.variant.duel_stake
    if stake == DIFFERENCE:
        stake = abs(mine - rival_die)
    elif stake == WINNER_DIE:
        stake = max(mine, rival_die)
    gain = stake if mine > rival_die else -stake
    state.score[state.turn] += gain
    state.score[state.rival] -= gain
    after_risk(state)


@jit
def after_risk(state):
    """Throw the first die, or first add PARADE cards where the variant allows it (A3)."""
    if state.variant.parade_after_risk and state.parade[state.turn] > 0:
        state.phase = ADD_PARADE
    else:
        throw(state)


@cold
def six_dice_die(state, value):
    """Collect six dice thrown at once; every surplus die needs a PARADE, all of them or OUT (R36)."""
    if state.track & bit(value):
        state.surplus += 1
    else:
        lay(state, value)
    state.in_air -= 1
    if state.in_air > 0:
        return
    if state.surplus > state.shields:
        out(state)
        return
    state.shields -= state.surplus
    state.parried[state.turn] += state.surplus
    unlock(state)


# --- throwing and laying --------------------------------------------------------------------------------------------------


@jit
def throw(state):
    """Throw one die (R10), or two after Double De while dice are left (R27)."""
    state.fresh = 0
    state.phase = FIRST_DIE if is_pair(state) else DIE


@jit
def is_pair(state):
    """Is the throw of two dice?"""
    return state.double and COUNT[state.track] < 5


@jit
def lay(state, value):
    """Lay a new value on the track (R12); a pending x3 concerns this die (R24)."""
    state.track |= bit(value)
    state.fresh |= bit(value)
    if state.next3:
        state.tripled_value = value


@jit
def first_die(state, value):
    """The first of two dice is laid before the second (R29, R30)."""
    state.first = value
    if not state.track & bit(value):
        lay(state, value)
    state.phase = DIE


@jit
def die(state, value):
    """A new value is laid (R12); a throw that lays nothing costs PARADE cards (R14 to R16, R31) or is OUT (R13)."""
    if not state.track & bit(value):
        lay(state, value)
    if state.fresh:
        state.next3 = state.double = 0
        ask_owners(state, 0)
        return
    price = state.variant.double_dup_parades if is_pair(state) else 1
    if state.shields < price:
        out(state)
        return
    state.shields -= price
    state.parried[state.turn] += price
    state.next3 = state.double = 0
    decide(state)


@jit
def ask_owners(state, first):
    """Ask each owner of a Relance token against this player, in seat order from the seat `first` on (R37)."""
    tokens = state.tokens[state.turn] >> first << first
    if tokens:
        ask_first(state, tokens)
    else:
        unlock(state)


@cold
def ask_first(state, tokens):
    """Ask the first of these owners (R37)."""
    state.owner = 0
    while not tokens & 1 << state.owner:
        state.owner += 1
    if state.variant.relance_mode != FORCED:
        state.phase = WINDOW
        return
    fourth = fourth_value(state)
    if fourth:
        use_token(state, fourth)
    else:
        unlock(state)


@jit
def fourth_value(state):
    """Return the value of the die just laid that is the fourth on the track, or 0."""
    before = COUNT[state.track & ~state.fresh]
    if COUNT[state.fresh] == 2:
        return state.first if before == 3 else PIPS[state.fresh] - state.first if before == 2 else 0
    return PIPS[state.fresh] if before == 3 else 0


@cold
def use_token(state, value):
    """The die leaves the track and is thrown again; its x3 is lost, unless the variant keeps it (R37)."""
    state.tokens[state.turn] ^= 1 << state.owner
    state.relances[state.owner] += 1
    if state.tripled_value == value:
        state.tripled_value = 0
        state.next3 = state.variant.relance_keeps_x3
    state.track ^= bit(value)
    state.fresh ^= bit(value)
    state.first = PIPS[state.fresh]  # the other die of Double De, if it was laid
    state.phase = RETHROW


@cold
def rethrown_die(state, value):
    """No PARADE helps against a duplicate of the die thrown again (R37)."""
    if state.track & bit(value):
        out(state)
    else:
        lay(state, value)
        state.next3 = 0
        ask_owners(state, state.owner + 1)


@jit
def unlock(state):
    """The fourth value unlocks the BONUS die, thrown at once and once a turn (R18 to R20)."""
    if state.variant.bonus_die and state.bonus_face == NO_FACE and is_unlocked(state):
        state.phase = BONUS_DIE
    else:
        after_bonus(state)


@jit
def is_unlocked(state):
    """Are there values enough, and does the six-dice face not forbid it (A22)?"""
    count = COUNT[state.track]
    return count >= state.variant.bonus_at and (not state.six or state.variant.six_partial_bonus or count == 6)


@cold
def bonus_die(state, face):
    """Apply the face of the BONUS die (R22)."""
    state.bonus_face = face
    if face == PLUS5:
        state.extra += 5
    elif face == DOUBLE:
        state.double = 1
    elif face == X3:
        state.next3 = 1
    else:
        state.suite = state.variant.suite_check != IMMEDIATE or RUN[state.track] >= state.variant.suite_len
    after_bonus(state)


@jit
def after_bonus(state):
    """Six values end the turn with a Dice Fever (R40); otherwise the player decides (R17)."""
    if state.track == FULL:
        bank(state)
    else:
        decide(state)


@jit
def decide(state):
    """STOP or throw (R17); where Double De is forced there is no choice (A14)."""
    if state.double and state.variant.double_forced:
        throw(state)
    else:
        state.phase = DECIDE


# --- the end of a turn ----------------------------------------------------------------------------------------------------


@jit
def bank(state):
    """Add the points of the turn: at the target a 6 validates them (R44), and without one they are lost (R42)."""
    points = stop_points(state)
    if state.score[state.turn] + points >= state.variant.target:
        if not state.track & bit(6):
            out(state)
            return
        state.validated[state.turn] = state.last_round = 1
    if state.track == FULL:
        state.fevers[state.turn] += 1
    else:
        state.stops[state.turn] += 1
    state.points[state.turn] += points
    state.score[state.turn] += points
    end_turn(state)


@jit
def out(state):
    """The turn scores nothing; what Duels moved stands (R39)."""
    state.outs[state.turn] += 1
    end_turn(state)


# --- the ruleset's vocabulary ---------------------------------------------------------------------------------------------


@jit
def actor(state):
    """A Relance token's owner decides in its window; the player whose turn it is decides all else."""
    if state.phase > DECIDE:
        return OVER if state.phase == THE_END else CHANCE
    return np.int64(state.turn) if state.phase == DECIDE else decider(state)


@cold
def decider(state):
    """The seat that takes one of the rarer decisions."""
    return np.int64(state.owner if state.phase == WINDOW else state.turn)


@jit
def chance(state):
    """Six outcomes, except for BONUS and RISK dice with another number of faces."""
    if state.phase < BONUS_DIE:
        return 6
    return state.variant.n_bonus_faces if state.phase == BONUS_DIE else state.variant.n_risk_faces


@jit
def apply_chance(state, outcome):
    """A die shows outcome + 1; a BONUS or RISK die shows its face at that place."""
    if state.phase == DIE:
        die(state, outcome + 1)
    else:
        rare_outcome(state, outcome)


@cold
def rare_outcome(state, outcome):
    """The same for what is not the usual die."""
    phase = state.phase
    if phase == FIRST_DIE:
        first_die(state, outcome + 1)
    elif phase == BONUS_DIE:
        bonus_die(state, state.variant.bonus_faces[outcome])
    elif phase == RISK_DIE:
        risk_die(state, state.variant.risk_faces[outcome])
    elif phase == DUEL_DIE:
        state.duel_die = outcome + 1
        state.phase = RIVAL_DIE
    elif phase == RIVAL_DIE:
        duel(state, outcome + 1)
    elif phase == SIX_DICE:
        six_dice_die(state, outcome + 1)
    elif phase == RETHROW:
        rethrown_die(state, outcome + 1)
    else:
        sudden_death_die(state, outcome + 1)


@jit
def legal_actions(state, actions):
    """List the options of a decision node (specification, "Decisions")."""
    if state.phase == DECIDE:
        actions[0], actions[1] = STOP, THROW
        return 2
    return rare_actions(state, actions)


@cold
def rare_actions(state, actions):
    """List the options of the other decision nodes."""
    n = 0
    if state.phase == WINDOW:
        actions[0] = KEEP
        for value in range(1, 7):
            if state.fresh & bit(value):
                n += 1
                actions[n] = USE + value
        return n + 1
    if state.phase == DUEL_TARGET or state.phase == RELANCE_TARGET:
        for seat in range(state.seats):
            if seat != state.turn:
                actions[n] = AT + seat
                n += 1
        return n
    max_risk = min(state.risk[state.turn], state.variant.max_risk_per_turn) if state.phase == COMMIT else 0
    for n_parade in range(state.parade[state.turn] + 1):
        for n_risk in range(max_risk + 1):
            actions[n] = CARDS + 2 * n_parade + n_risk
            n += 1
    return n


@jit
def apply_action(state, action):
    """Do what the acting player chose."""
    phase = state.phase
    if phase == DECIDE:
        if action == THROW:
            throw(state)
        else:
            bank(state)
    elif phase in (COMMIT, ADD_PARADE):
        commit(state, (action - CARDS) // 2, (action - CARDS) % 2)
    elif phase == WINDOW:
        if action == KEEP:
            ask_owners(state, state.owner + 1)
        else:
            use_token(state, action - USE)
    else:
        target(state, action - AT)


@jit
def payoffs(state, out):
    """The contenders that are left share the win."""
    n = 0
    for seat in range(state.seats):
        n += state.contender[seat]
    for seat in range(state.seats):
        out[seat] = state.contender[seat] / n
