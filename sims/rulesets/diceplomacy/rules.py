"""The rules of Diceplomacy, clause by clause (R and A numbers: README.md beside this file).

A turn is one action of the seat that moves, ``mover``. A proposal and a war ask other seats: ``decider`` is the one that must
answer now. ``fighters`` holds the sides of the war in the order in which they vote and roll again: attackers, then defenders,
each with its leader first. A seat without an alliance is its own ``ally``. Everything but the dice is public, and ``history``
keeps what has happened: every action and answer, who rolled, and the dice that a battle has shown.
"""

import numpy as np

from sims.jit import cold, copy_record, jit
from sims.ruleset import CHANCE, OVER, PLY_LIMIT, Field, variant_dtype

MAX_SEATS = 8
VICTORIES = 3  # that win
DEFEATS = 3  # that eliminate
HISTORY = 256  # events kept; the oldest are overwritten
NOBODY = -1

RANDOM, FIRST_SEAT = range(2)  # first_player
BOTH, ASKED_ONE = range(2)  # helping_pair_consent
SEQUENTIAL, VOLUNTEERS = range(2)  # help_protocol
DEFENDERS, ATTACKERS, NONE = range(3)  # surrender_order, and the sides of a war
BEFORE, AFTER = range(2)  # tiebreak_die

FIELDS = {
    "null_treaty": Field(True, "may a Treaty be signed where there is no alliance, to pass?"),
    "first_player": Field("random", "who begins", ("random", "first_seat")),
    "max_helping_parties": Field(1, "parties that may join an outnumbered defender", high=6, alternatives=(0, 2)),
    "helping_pair_consent": Field("both", "who must agree when an allied pair is asked for help", ("both", "asked_one")),
    "help_protocol": Field(
        "sequential",
        "the defender asks one party after the other, or picks one of those that offer",
        ("sequential", "volunteers"),
    ),
    "surrender_order": Field("defenders", "which side may surrender first, or none at all", ("defenders", "attackers", "none")),
    "loser_rerolls": Field(False, "do the losers of a battle roll again too?"),
    "refused_breaks": Field(True, "does a refused proposal end the alliance of who made it?"),
    "tiebreak_die": Field("before", "which die breaks a tie: before or after the roll that follows a war", ("before", "after")),
    "show_to_ally": Field(False, "do allies see each other's die?"),
    "ply_limit": PLY_LIMIT,
}
STATE = np.dtype(
    [
        ("variant", variant_dtype(FIELDS)),
        ("seats", np.int32),
        ("phase", np.int32),
        ("turn", np.int32),  # whose die is rolled; at a decision the mover; NOBODY (the table) to draw the first player
        ("mover", np.int32),  # the seat whose turn it is
        ("decider", np.int32),  # the seat that must decide
        ("n_alive", np.int32),
        # the proposal or the war
        ("target", np.int32),  # the seat that is proposed to, or attacked
        ("n_attackers", np.int32),
        ("n_fighters", np.int32),
        ("fighters", np.int32, MAX_SEATS),  # attackers, then defenders; the leader of each side first
        ("n_parties", np.int32),  # helping parties that have joined
        ("helper", np.int32),  # of the party that is asked, the member asked first
        ("asked", np.int32, MAX_SEATS),  # in this war already, or asked to help
        ("willing", np.int32, MAX_SEATS),  # the first member of a party that offers its help
        ("voting", np.int32),  # the side that votes on surrender
        ("voter", np.int32),  # place among the fighters of the seat that votes
        ("unanimous", np.int32),  # has every member of the party or side agreed so far?
        # the dice that are due
        ("n_rolls", np.int32),
        ("rolled", np.int32),
        ("rollers", np.int32, MAX_SEATS),  # the seats that roll, in order
        # the seats
        ("die", np.int32, MAX_SEATS),  # hidden
        ("known", np.int32, MAX_SEATS),  # the die that a lost battle has shown, until it is rolled again; or 0
        ("score", np.int32, MAX_SEATS),  # victories
        ("defeats", np.int32, MAX_SEATS),
        ("alive", np.int32, MAX_SEATS),
        ("ally", np.int32, MAX_SEATS),  # the seat itself if it has none
        ("beaten", np.int32, MAX_SEATS),  # did this seat lose a battle, with no war since?
        ("n_victors", np.int32),  # seats with three victories
        ("winner", np.int32, MAX_SEATS),
        # what has happened: (seat, action or event); event number k is in row k mod HISTORY
        ("n_events", np.int32),
        ("history", np.int8, (HISTORY, 2)),
        # counted for the results
        ("turns", np.int32, MAX_SEATS),
        ("reforms", np.int32, MAX_SEATS),
        ("pacts", np.int32, MAX_SEATS),  # alliances entered
        ("wars", np.int32, MAX_SEATS),  # wars declared
        ("conquests", np.int32, MAX_SEATS),  # of these, won
        ("attacked", np.int32, MAX_SEATS),  # wars declared on this seat
        ("attacked_known", np.int32, MAX_SEATS),  # of these, with a die that everybody knew
        ("losses", np.int32, MAX_SEATS),  # battles lost by a seat that is still in the game at the next war
        ("hit_next", np.int32, MAX_SEATS),  # of these, those whose next war is declared on this seat or its ally
        ("spared", np.int32, MAX_SEATS),  # the others
        ("helped", np.int32, MAX_SEATS),  # wars of others joined to help
        ("surrenders", np.int32, MAX_SEATS),
        ("eliminated", np.int32, MAX_SEATS),
        ("joint", np.int32, MAX_SEATS),  # reached three victories together with others
        ("pair_ends", np.int32, MAX_SEATS),  # wars declared that brought two seats the third victory together
        ("trio_ends", np.int32, MAX_SEATS),  # wars declared that brought it to three or more
        ("draws", np.int32, MAX_SEATS),  # wars declared that ended in a shared win
    ],
    align=True,
)

# Phases: decisions, then chance, then the end.
MAIN, ANSWER, HELP, CONSENT, VOTE = range(5)
ROLL, FIRST = range(5, 7)
THE_END = 7

# Actions and, for the history, events: a code says by itself what it is.
REFORM, TREATY = range(2)
ACCEPT, REFUSE = range(2, 4)  # a proposal
ALONE = 4  # ask nobody (else) for help
JOIN, DECLINE = range(5, 7)  # a war, to help
SURRENDER, FIGHT = range(7, 9)
WAR, PROPOSE, ASK = 10, 20, 30  # + seat
ROLLED = 40
SHOWN = 50  # + value


# --- alliances and history ------------------------------------------------------------------------------------------------


@jit
def is_allied(state, seat):
    """Has this seat an ally?"""
    return state.ally[seat] != seat


@jit
def end_alliance(state, seat):
    """End the alliance of this seat, if it has one."""
    state.ally[state.ally[seat]] = state.ally[seat]
    state.ally[seat] = seat


@jit
def end_all_alliances(state):
    """End every alliance on the table."""
    for seat in range(state.seats):
        state.ally[seat] = seat


@jit
def is_any_allied(state):
    """Is there an alliance on the table?"""
    for seat in range(state.seats):  # noqa: SIM110 (numba compiles no generator expression)
        if state.ally[seat] != seat:
            return True
    return False


@jit
def remember(state, seat, code):
    """Add an action or event to the public history (R24)."""
    row = state.n_events % HISTORY
    state.history[row, 0] = seat
    state.history[row, 1] = code
    state.n_events += 1


@jit
def forget(state):
    """Empty the history."""
    for row in range(min(state.n_events, HISTORY)):
        state.history[row, 0] = state.history[row, 1] = 0
    state.n_events = 0


# --- setup, dice and turns ------------------------------------------------------------------------------------------------


@jit
def reset(state):
    """Everybody rolls a die (R1); there are no counters, no alliances, and nobody knows a die (R2)."""
    forget(state)
    for seat in range(state.seats):
        state.die[seat] = state.known[seat] = state.score[seat] = state.defeats[seat] = state.winner[seat] = 0
        state.alive[seat] = 1
        state.ally[seat] = seat
        state.fighters[seat] = state.rollers[seat] = state.asked[seat] = state.willing[seat] = 0
        state.turns[seat] = state.reforms[seat] = state.pacts[seat] = state.wars[seat] = state.conquests[seat] = 0
        state.attacked[seat] = state.attacked_known[seat] = state.helped[seat] = state.surrenders[seat] = 0
        state.beaten[seat] = state.losses[seat] = state.hit_next[seat] = state.spared[seat] = 0
        state.eliminated[seat] = state.joint[seat] = state.pair_ends[seat] = state.trio_ends[seat] = state.draws[seat] = 0
    state.n_alive = state.seats
    state.n_victors = state.n_rolls = state.n_fighters = state.n_attackers = state.n_parties = 0
    state.helper = state.voting = state.voter = state.unanimous = 0
    state.mover = state.decider = state.target = NOBODY
    for seat in range(state.seats):
        must_roll(state, seat)
    roll_dice(state)


@jit
def must_roll(state, seat):
    """Put this seat last in the queue for the dice."""
    state.rollers[state.n_rolls] = seat
    state.n_rolls += 1


@jit
def roll_dice(state):
    """The queue rolls its dice, one seat after the other."""
    state.rolled = 0
    state.turn = state.rollers[0]
    state.phase = ROLL


@jit
def roll(state, value):
    """A die is rolled in secret: nobody else knows it any more."""
    state.die[state.turn] = value
    state.known[state.turn] = 0
    remember(state, state.turn, ROLLED)
    state.rolled += 1
    if state.rolled < state.n_rolls:
        state.turn = state.rollers[state.rolled]
        return
    state.n_rolls = 0
    if state.mover == NOBODY:
        first_player(state)
    elif state.n_victors > 0:
        judge(state)
    else:
        settle(state)


@cold
def first_player(state):
    """The first player is drawn (R3, A2)."""
    if state.variant.first_player == FIRST_SEAT:
        start_turn(state, 0)
    else:
        state.turn = NOBODY
        state.phase = FIRST


@jit
def start_turn(state, seat):
    """This seat must choose one of the four actions (R4)."""
    state.turn = state.mover = state.decider = state.target = seat
    state.n_fighters = state.n_attackers = state.n_parties = 0
    state.turns[seat] += 1
    state.phase = MAIN


@jit
def next_turn(state):
    """Play goes on clockwise, past the eliminated (R3)."""
    seat = state.mover
    while True:
        seat = seat + 1 if seat + 1 < state.seats else 0
        if state.alive[seat]:
            break
    start_turn(state, seat)


# --- Reform, Treaty, Propose ----------------------------------------------------------------------------------------------


@jit
def reform(state):
    """Roll the own die again (R4)."""
    state.reforms[state.mover] += 1
    must_roll(state, state.mover)
    roll_dice(state)


@jit
def propose(state, target):
    """The present alliance of who proposes ends at once (R5), before the answer (R6)."""
    if state.variant.refused_breaks:
        end_alliance(state, state.mover)
    state.target = state.decider = target
    state.phase = ANSWER


@jit
def ally(state):
    """Both are allied with each other and nobody else (R7, R8)."""
    for seat in (state.mover, state.target):
        end_alliance(state, seat)
        state.pacts[seat] += 1
    state.ally[state.mover], state.ally[state.target] = state.target, state.mover


# --- war: the sides -------------------------------------------------------------------------------------------------------


@jit
def declare_war(state, target):
    """An alliance between the two ends first (R9); other allies are in the war without being asked (R10)."""
    state.wars[state.mover] += 1
    state.attacked[target] += 1
    state.attacked_known[target] += state.known[target] > 0
    if state.ally[state.mover] == target:
        end_alliance(state, target)
    count_hits(state, target)
    state.target = target
    for seat in range(state.seats):
        state.asked[seat] = state.willing[seat] = 0
    enlist(state, state.mover)
    state.n_attackers = state.n_fighters
    enlist(state, target)
    if state.n_fighters < 2 * state.n_attackers:  # the defender is outnumbered (R11)
        seek_help(state)
    else:
        start_votes(state)


@jit
def count_hits(state, target):
    """This is the next war for who has been beaten since the last one: is it on them?"""
    for seat in range(state.seats):
        if state.beaten[seat]:
            is_hit = seat == target or seat == state.ally[target]
            state.losses[seat] += 1
            state.hit_next[seat] += is_hit
            state.spared[seat] += not is_hit
            state.beaten[seat] = 0


@jit
def enlist(state, seat):
    """Add a seat, and its ally if it has one, to the side that is being formed (R10, R12)."""
    state.fighters[state.n_fighters] = seat
    state.n_fighters += 1
    state.asked[seat] = 1
    if is_allied(state, seat):
        state.fighters[state.n_fighters] = state.ally[seat]
        state.n_fighters += 1
        state.asked[state.ally[seat]] = 1


@cold
def seek_help(state):
    """The defender may ask parties outside the war, each at most once, until one has joined (R12, R13, R15).

    Where they volunteer, all parties answer first, in seat order.
    """
    if state.n_parties < state.variant.max_helping_parties:
        if state.variant.help_protocol == VOLUNTEERS:
            for seat in range(state.seats):
                if may_be_asked(state, seat):
                    ask_party(state, seat)
                    return
        for seat in range(state.seats):
            if is_helper(state, seat):
                state.decider = state.target
                state.phase = HELP
                return
    start_votes(state)


@jit
def may_be_asked(state, seat):
    """Is this a seat outside the war that has not been asked?"""
    return state.alive[seat] and not state.asked[seat]


@jit
def is_helper(state, seat):
    """May the defender name this seat: for its party, which the lower seat of a pair stands for, or for itself (A5)?"""
    if state.variant.help_protocol == VOLUNTEERS:
        return state.willing[seat] > 0
    stands_for_party = seat <= state.ally[seat] or state.variant.helping_pair_consent == ASKED_ONE
    return may_be_asked(state, seat) and stands_for_party


@cold
def ask_party(state, seat):
    """Every member of the party is asked (R14), or only the one named (A5)."""
    state.helper = state.decider = seat
    state.asked[seat] = state.asked[state.ally[seat]] = 1
    state.unanimous = 1
    state.phase = CONSENT


@cold
def consent(state, agrees):
    """A party helps only if all its members agree (R14)."""
    state.unanimous = state.unanimous and agrees
    partner = state.ally[state.helper]
    if state.decider != partner and state.variant.helping_pair_consent == BOTH:
        state.decider = partner
        return
    if state.unanimous:
        if state.variant.help_protocol == VOLUNTEERS:
            state.willing[state.helper] = 1
        else:
            join(state, state.helper)
    seek_help(state)


@cold
def join(state, seat):
    """The party joins the defenders, without an alliance and without a price (R15, R16)."""
    first = state.n_fighters
    enlist(state, seat)
    for i in range(first, state.n_fighters):
        state.helped[state.fighters[i]] += 1
    state.willing[seat] = 0
    state.n_parties += 1


# --- war: surrender or battle ---------------------------------------------------------------------------------------------


@jit
def start_votes(state):
    """The defenders decide first on surrender (R18), unless the variant says otherwise."""
    if state.variant.surrender_order == NONE:
        fight(state)
    else:
        open_vote(state, state.variant.surrender_order)


@jit
def open_vote(state, side):
    """The members of a side vote, its leader first."""
    state.voting = side
    state.voter = 0 if side == ATTACKERS else state.n_attackers
    state.decider = state.fighters[state.voter]
    state.unanimous = 1
    state.phase = VOTE


@jit
def vote(state, surrenders):
    """A side surrenders if all its members agree (R17); then the other side may (R18); then they fight (R20)."""
    state.unanimous = state.unanimous and surrenders
    state.voter += 1
    if state.voter < (state.n_attackers if state.voting == ATTACKERS else state.n_fighters):
        state.decider = state.fighters[state.voter]
        return
    other = DEFENDERS if state.voting == ATTACKERS else ATTACKERS
    if state.unanimous:
        end_war(state, other, True)
    elif state.voting == state.variant.surrender_order:
        open_vote(state, other)
    else:
        fight(state)


@jit
def fight(state):
    """All dice are shown; the attackers win if theirs are higher, the defenders win a tie (R20)."""
    margin = 0
    for i in range(state.n_fighters):
        die = state.die[state.fighters[i]]
        remember(state, state.fighters[i], SHOWN + die)
        margin += die if i < state.n_attackers else -die
    end_war(state, ATTACKERS if margin > 0 else DEFENDERS, False)


@jit
def end_war(state, winners, is_surrender):
    """Count a victory or a defeat for every fighter (R19, R21); then the third victory, or the dice (R22)."""
    state.conquests[state.mover] += winners == ATTACKERS
    for i in range(state.n_fighters):
        seat = state.fighters[i]
        has_won = (i < state.n_attackers) == (winners == ATTACKERS)
        if has_won:
            state.score[seat] += 1
            state.n_victors += state.score[seat] == VICTORIES
        else:
            state.defeats[seat] += 1
            state.surrenders[seat] += is_surrender
            state.beaten[seat] = not is_surrender
        if has_won or is_surrender or state.variant.loser_rerolls:
            must_roll(state, seat)
        else:  # a loser keeps the die that everybody has seen (A15)
            state.known[seat] = state.die[seat]
    if state.n_victors > 0 and state.variant.tiebreak_die == BEFORE:
        judge(state)
    else:
        roll_dice(state)


@jit
def settle(state):
    """The third defeat eliminates; three players have no alliances; the last one wins (R22)."""
    for i in range(state.n_fighters):
        if state.defeats[state.fighters[i]] == DEFEATS:
            eliminate(state, state.fighters[i])
    if state.n_alive == 1:
        state.winner[last_alive(state)] = 1
        state.phase = THE_END
    else:
        next_turn(state)


@cold
def eliminate(state, seat):
    """This seat is out, with its die; its alliance ends, and with three players left every alliance (R22, A23)."""
    state.alive[seat] = state.die[seat] = state.known[seat] = state.beaten[seat] = 0
    state.eliminated[seat] = 1
    state.n_alive -= 1
    end_alliance(state, seat)
    if state.n_alive <= 3:
        end_all_alliances(state)


@cold
def last_alive(state):
    """Return the only seat that is left."""
    seat = 0
    while not state.alive[seat]:
        seat += 1
    return seat


# --- the end --------------------------------------------------------------------------------------------------------------


@cold
def judge(state):
    """Of those with three victories the fewest defeats win, then the highest die; who is equal shares the win (R28 to R31)."""
    best = NOBODY
    for seat in range(state.seats):
        if state.score[seat] == VICTORIES:
            state.joint[seat] = state.n_victors > 1
            if best == NOBODY or beats(state, seat, best):
                best = seat
    n_winners = 0
    for seat in range(state.seats):
        state.winner[seat] = state.score[seat] == VICTORIES and not beats(state, best, seat)
        n_winners += state.winner[seat]
    state.pair_ends[state.mover] = state.n_victors == 2
    state.trio_ends[state.mover] = state.n_victors > 2
    state.draws[state.mover] = n_winners > 1
    state.phase = THE_END


@jit
def beats(state, one, two):
    """Has seat `one` fewer defeats than seat `two`, or as many and a higher die (R29)?"""
    if state.defeats[one] != state.defeats[two]:
        return state.defeats[one] < state.defeats[two]
    return state.die[one] > state.die[two]


# --- the ruleset's vocabulary ---------------------------------------------------------------------------------------------


@jit
def actor(state):
    """The seat that must decide; dice and the first player are chance."""
    if state.phase >= ROLL:
        return OVER if state.phase == THE_END else CHANCE
    return np.int64(state.decider)


@jit
def chance(state):
    """Six faces, or the seats among which the first player is drawn."""
    return np.int32(6) if state.phase == ROLL else state.seats


@jit
def apply_chance(state, outcome):
    """A die shows outcome + 1; the first player is the seat `outcome`."""
    if state.phase == ROLL:
        roll(state, outcome + 1)
    else:
        start_turn(state, outcome)


@jit
def legal_actions(state, actions):
    """List the options of a decision node (specification, "Decisions")."""
    phase = state.phase
    if phase == MAIN:
        return main_actions(state, actions)
    if phase == HELP:
        return help_actions(state, actions)
    actions[0] = ACCEPT if phase == ANSWER else JOIN if phase == CONSENT else SURRENDER
    actions[1] = actions[0] + 1
    return 2


@jit
def main_actions(state, actions):
    """List the four actions (R4)."""
    actions[0] = REFORM
    n = 1
    if state.variant.null_treaty or is_any_allied(state):
        actions[n] = TREATY
        n += 1
    for seat in range(state.seats):
        if state.alive[seat] and seat != state.mover:
            actions[n] = WAR + seat
            n += 1
    if state.n_alive > 3:
        for seat in range(state.seats):
            if state.alive[seat] and seat != state.mover and seat != state.ally[state.mover]:
                actions[n] = PROPOSE + seat
                n += 1
    return n


@cold
def help_actions(state, actions):
    """List the parties that the defender may name, or go on alone (R12, R13)."""
    n = 0
    for seat in range(state.seats):
        if is_helper(state, seat):
            actions[n] = ASK + seat
            n += 1
    actions[n] = ALONE
    return n + 1


@jit
def apply_action(state, action):
    """Do what the deciding seat chose."""
    remember(state, state.decider, action)
    phase = state.phase
    if phase == VOTE:
        vote(state, action == SURRENDER)
    elif phase == MAIN:
        main_action(state, action)
    elif phase == ANSWER:
        if action == ACCEPT:
            ally(state)
        next_turn(state)
    elif phase == CONSENT:
        consent(state, action == JOIN)
    else:
        name_party(state, action)


@jit
def main_action(state, action):
    """One of the four actions (R4)."""
    if action >= PROPOSE:
        propose(state, action - PROPOSE)
    elif action >= WAR:
        declare_war(state, action - WAR)
    elif action == REFORM:
        reform(state)
    else:
        end_all_alliances(state)
        next_turn(state)


@cold
def name_party(state, action):
    """Ask a party, take a volunteer, or go on alone (R13)."""
    if action == ALONE:
        start_votes(state)
    elif state.variant.help_protocol == VOLUNTEERS:
        join(state, action - ASK)
        seek_help(state)
    else:
        ask_party(state, action - ASK)


@jit
def standing(state, seat):
    """Victories, then fewer defeats (R29); who is out is behind everybody."""
    return state.score[seat] - state.defeats[seat] / (DEFEATS + 1) if state.alive[seat] else -1.0


@jit
def payoffs(state, out):
    """Those whom nobody beats share the win."""
    n = 0
    for seat in range(state.seats):
        n += state.winner[seat]
    for seat in range(state.seats):
        out[seat] = state.winner[seat] / n


@jit
def observe(state, seat, view):
    """A seat sees its own die and those that everybody knows (R25, R26), under `show_to_ally` also its ally's; 0 else."""
    copy_record(state, view)
    for other in range(state.seats):
        if other != seat and not (state.variant.show_to_ally and state.ally[seat] == other):
            view.die[other] = state.known[other]
