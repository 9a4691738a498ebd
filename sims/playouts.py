"""The one game loop. It asks the ruleset who is due, draws the outcome or asks the policy, and applies it; nothing else.

The loop is compiled once per ruleset: rules are found by the type of the state, policies are called by their addresses, so
that neither another pairing nor another number of seats needs a compilation.
"""

import numpy as np

from sims.jit import ask, jit
from sims.luck import adjust_action, adjust_outcome, end_adjusting, start_adjusting
from sims.ruleset import (
    CHANCE,
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


@jit
def play_game(state, view, policies, rotation, dice, minds, actions, log, tape, luck):
    """Play one game from open streams.

    Parameters
    ----------
    state, view : records
        The position (seats and variant set) and room for what a seat sees of it.
    policies : records (seats,)
        See :func:`sims.jit.handles`; entry (s + rotation) mod seats plays seat s.
    rotation : int
        Which seating of the deal.
    dice, minds : uint64 arrays (seats + 1, 4), (seats, 4)
        The streams of the deal, opened; they advance.
    actions : int32 array
        Buffer for legal actions.
    log : int64 array
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
        Number of decisions; number of decisions and outcomes.
    """
    seats = minds.shape[0]
    plies = steps = 0
    reset(state)
    if luck is not None:
        start_adjusting(state, luck)
    while True:
        if tape is not None:
            record_position(state, tape)
        who = actor(state)
        if who == CHANCE:
            code = draw(dice[state.turn], chance(state))
            if luck is not None:
                adjust_outcome(state, code, luck)
            apply_chance(state, code)
        elif who < 0:
            return FINISHED, plies, steps
        elif plies == state.variant.ply_limit:
            return TRUNCATED, plies, steps
        else:
            n = legal_actions(state, actions)
            if tape is not None:
                record_decision(tape, n)
            entry = np.uint64(who + rotation)
            entry -= np.uint64(seats) if entry >= np.uint64(seats) else np.uint64(0)
            code = ask(policies, entry, observed(state, who, view), actions, n, minds[np.uint64(who)])
            if not is_among(code, actions, n):
                if steps < log.size:
                    log[steps] = code
                return ILLEGAL, plies, steps + 1
            if luck is not None:
                adjust_action(state, who, code, luck)
            apply_action(state, code)
            plies += 1
        if steps < log.size:
            log[steps] = code
        steps += 1


@jit
def play_deals(
    state,
    view,
    policies,
    seed,
    first_deal,
    dice,
    minds,
    actions,
    log,
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
    state, view, policies, dice, minds, actions, log, tape
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
            status, plies, _ = play_game(state, view, policies, rotation, dice, minds, actions, log, tape, luck)
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
