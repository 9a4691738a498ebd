"""The one game loop. It asks the ruleset who is due, draws the outcome or asks the policy, and applies it; nothing else.

The loop is compiled once per ruleset: rules are found by the type of the state, policies are called by their addresses, so
that neither another pairing nor another number of seats needs a compilation.
"""

import numpy as np

from sims.jit import apart, ask, jit
from sims.luck import adjust_action, adjust_outcome, end_adjusting, start_adjusting
from sims.ruleset import (
    CHANCE,
    OVER,
    SHARE,
    actor,
    apply_action,
    apply_chance,
    chance,
    is_among,
    legal_actions,
    measure,
    observed,
    payoffs,
    reset,
)
from sims.streams import draw, open_deal
from sims.trajectories import copy_measures, measure_game, record_decision, record_end, record_position, rewind

FINISHED, TRUNCATED, ILLEGAL = range(3)
LOOP_MEASURES = ("payoff", "plies", "truncated")  # what the loop itself counts; the ruleset's follow, then those of a tape


@apart
def play_game(state, view, players, dice, minds, actions, rotation, log, tape, luck):
    """Play one game from open streams.

    Parameters
    ----------
    state, view : records
        The position (seats and variant set) and room for what a seat sees of it.
    players : array (rotations, seats)
        See :func:`sims.jit.players`.
    dice, minds : uint64 arrays (seats + 1, 4), (seats, 4)
        The streams of the deal, opened; they advance.
    actions : int32 array
        Buffer for legal actions.
    rotation : int
        Which seating of the deal.
    log : int64 array or None
        Filled with the outcomes and actions in order, as far as it is long; an illegal action ends it.
    tape : Tape or None
        Rewound, to be filled with the standings of the seats; compiled, a loop without a tape does not know of tapes.
    luck : Luck or None
        Its shares are summed on the way; :func:`sims.luck.end_adjusting` completes them. Without it nothing of it is compiled.

    Returns
    -------
    status : int
        FINISHED, TRUNCATED or ILLEGAL.
    plies, steps : int
        Number of decisions; number of decisions and outcomes, as far as they are logged.
    """
    plies = steps = 0
    reset(state)
    if luck is not None:
        start_adjusting(state, luck)
    while True:
        who, steps = draw_outcomes(state, dice, log, steps, tape, luck)
        if who == OVER:
            return FINISHED, plies, steps
        if plies == state.variant.ply_limit:
            return TRUNCATED, plies, steps
        n = legal_actions(state, actions)
        if tape is not None:
            record_decision(tape, n)
        action = ask(players[rotation, np.uint64(who)], observed(state, who, view), n)
        steps = write_down(action, log, steps)
        if not is_among(action, actions, n):
            return ILLEGAL, plies, steps
        if luck is not None:
            adjust_action(state, who, action, luck)
        apply_action(state, action)
        plies += 1


@jit
def draw_outcomes(state, dice, log, steps, tape, luck):
    """Draw and apply outcomes until a seat must act or the game is over; return which, and the steps so far."""
    who = next_actor(state, tape)
    while who == CHANCE:
        outcome = draw(dice[state.turn], chance(state))
        if luck is not None:
            adjust_outcome(state, outcome, luck)
        apply_chance(state, outcome)
        steps = write_down(outcome, log, steps)
        who = next_actor(state, tape)
    return who, steps


@jit
def next_actor(state, tape):
    """Return who is due, after noting down the standings."""
    if tape is not None:
        record_position(state, tape)
    return actor(state)


@jit
def write_down(code, log, steps):
    """Write an outcome or an action down, as far as the log is long; return the steps so far, which none counts without one."""
    if log is None:
        return steps
    if steps < log.size:
        log[steps] = code
    return steps + 1


@jit
def play_deals(
    state,
    view,
    players,
    dice,
    minds,
    actions,
    seed,
    first_deal,
    shares,
    rows,
    fault,
    tape,
    luck,
    adjusted,
):
    """Play every rotation of consecutive deals.

    Parameters
    ----------
    state, view, players, dice, minds, actions, tape
        See :func:`play_game`.
    seed, first_deal : int
        Key of the streams.
    shares : float array (seats,)
        Buffer for win shares.
    rows : int32 array (deals, rotations, seats, measures)
        Filled with the measures: those of the loop, those of the ruleset, and with a tape those of its trajectory.
    fault : int64 array (3,)
        After an illegal action: deal, rotation, seat.
    luck, adjusted : Luck, float array (deals, rotations, seats); or None, None
        Filled with the luck-adjusted win shares.

    Returns
    -------
    status : int
        FINISHED, or ILLEGAL if a policy made an illegal action; `rows` is then useless.
    """
    n_deals, rotations, seats, _ = rows.shape
    for i in range(n_deals):
        for rotation in range(rotations):
            open_deal(dice, minds, seed, first_deal + i)
            if tape is not None:
                rewind(tape)
            status, plies, _ = play_game(state, view, players, dice, minds, actions, rotation, None, tape, luck)
            if status == ILLEGAL:
                fault[0], fault[1], fault[2] = first_deal + i, rotation, actor(state)
                return ILLEGAL
            for seat in range(seats):
                shares[seat] = 0.0
            if status == FINISHED:
                payoffs(state, shares)
            if tape is not None:
                record_end(state, tape, shares)
                measure_game(tape, shares, status == FINISHED, plies)
            for seat in range(seats):
                row = rows[i, rotation, seat]
                row[0] = np.int32(shares[seat] * SHARE + 0.5)
                row[1], row[2] = plies, status == TRUNCATED
                measure(state, seat, row[3:])
                if tape is not None:
                    copy_measures(tape, row)
            if luck is not None:
                end_adjusting(state, status == TRUNCATED, shares, luck)
                for seat in range(seats):
                    adjusted[i, rotation, seat] = luck.shares[seat]
    return FINISHED
