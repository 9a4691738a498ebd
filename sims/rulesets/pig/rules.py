"""The rules of Pig: throw a die as often as you like; a 1 loses the pot, HOLD banks it; first to the goal wins."""

import numpy as np

from sims.jit import jit
from sims.ruleset import CHANCE, OVER, PLY_LIMIT, Field, variant_dtype

MAX_SEATS = 10
FIELDS = {
    "goal": Field(100, "score that wins", low=1, high=10_000),
    "faces": Field(6, "faces of the die; face 1 loses the pot", low=2, high=100),
    "ply_limit": PLY_LIMIT,
}
STATE = np.dtype(
    [
        ("variant", variant_dtype(FIELDS)),
        ("seats", np.int32),
        ("turn", np.int32),  # the seat whose turn it is
        ("pot", np.int32),  # points of this turn, not banked yet
        ("throwing", np.int32),  # is a die in the air?
        ("score", np.int32, MAX_SEATS),
        ("turns", np.int32, MAX_SEATS),
        ("busts", np.int32, MAX_SEATS),
    ],
    align=True,
)
HOLD, ROLL = 0, 1


@jit
def reset(state):
    """All scores are 0 and the first seat throws (R1)."""
    for seat in range(state.seats):
        state.score[seat] = state.turns[seat] = state.busts[seat] = 0
    _start_turn(state, 0)


@jit
def _start_turn(state, seat):
    state.turn, state.pot, state.throwing = seat, 0, 1
    state.turns[seat] += 1


@jit
def actor(state):
    """The seat whose turn it is decides; a die in the air is chance; the goal ends the game."""
    if state.throwing:
        return CHANCE
    return OVER if state.score[state.turn] >= state.variant.goal else np.int64(state.turn)


@jit
def chance(state):
    """One die."""
    return state.variant.faces


@jit
def apply_chance(state, outcome):
    """Face 1 loses the pot and passes the die (R3); any other face joins the pot (R2)."""
    if outcome == 0:
        state.busts[state.turn] += 1
        _start_turn(state, (state.turn + 1) % state.seats)
    else:
        state.pot += outcome + 1
        state.throwing = 0


@jit
def legal_actions(state, actions):
    """HOLD or ROLL; a turn starts with a throw, so there is always a pot to hold (R4)."""
    actions[0], actions[1] = HOLD, ROLL
    return 2


@jit
def apply_action(state, action):
    """HOLD banks the pot (R4) and passes the die, unless the goal is reached (R5)."""
    if action == ROLL:
        state.throwing = 1
        return
    state.score[state.turn] += state.pot
    state.pot = 0
    if state.score[state.turn] < state.variant.goal:
        _start_turn(state, (state.turn + 1) % state.seats)


@jit
def payoffs(state, out):
    """The seat that reached the goal wins all (R5)."""
    for seat in range(state.seats):
        out[seat] = 1.0 if seat == state.turn else 0.0
