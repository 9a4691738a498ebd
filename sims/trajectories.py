"""How the lead goes: every seat's standing turn by turn, and what it says of a game once the winner is known.

A seat's *standing* is what the ruleset says of how far it has come (``standing``, the score unless the rules define another), or
its exact chance to win where the ruleset has a table of them. The loop writes the standings to a *tape* at the start of every
turn in which something is drawn or decided, and at the end: positions 0 to T. With w(t) the highest standing of the winners in
position t, o(t) that of the others, and S the largest spread between two seats in one position (1 for chances to win):

    lead_changes   times that a seat takes the lead alone from another one that had it; at a tie nobody takes it
    contested      t / T for the first t from which on w > o; 1 if that is never so (decided games)
    drama          mean over the positions with o > w of sqrt((o - w) / S), 0 if there is none: Browne (Automatic generation and
                   evaluation of recombination games, PhD thesis, QUT, 2008); decided games
    deficit        the largest (o - w) / S of all positions, at least 0 (decided games)
    comebacks      1 if o > w in position floor(T / 2) (decided games)
    first_wins     the win share of the seat that had the first turn
    decided        1 if the game ended and somebody lost
    shared         1 if the game ended and several seats share the win
    options        legal actions of all decisions
    choices        decisions with more than one legal action

``settled``, ``calm``, ``ease``, ``held``, ``spare`` and ``forced`` are the rests to what ``RATIOS`` divides by, as a ratio's
interval needs them. All are measures of the game, the same for every seat. Those between 0 and 1 are counted as win shares are.
"""

from typing import NamedTuple

import numpy as np

from sims.jit import cold, jit
from sims.ruleset import SHARE, standing, win_chance

POSITIONS = 16_384  # room on a tape; what comes later overwrites the last one
RATIOS = {  # a measure, its rest, and what both add up to
    "contested": ("settled", "decided"),
    "drama": ("calm", "decided"),
    "deficit": ("ease", "decided"),
    "comebacks": ("held", "decided"),
    "options": ("spare", "plies"),
    "choices": ("forced", "plies"),
}
FRACTIONS = ("first_wins", "contested", "settled", "drama", "calm", "deficit", "ease")  # counted in SHAREs
MEASURES = (
    "lead_changes",
    "first_wins",
    "decided",
    "shared",
    *(name for part, (rest, _) in RATIOS.items() for name in (part, rest)),
)
TURNS, LENGTH, FIRST, OPTIONS, CHOICES = range(5)  # Tape.counts


class Tape(NamedTuple):
    """What is written down of a game.

    Attributes
    ----------
    standings : float array (POSITIONS, seats)
    counts : int64 array (5,)
        Turns begun, positions written, the seat that had the first turn, legal actions of all decisions, decisions with a choice.
    chances : float array
        The ruleset's table of chances to win; empty if standings go by the rules.
    measures : int32 array (MEASURES,)
        Of the game, once it is over.
    """

    standings: np.ndarray
    counts: np.ndarray
    chances: np.ndarray
    measures: np.ndarray


def new_tape(seats: int, chances: np.ndarray) -> Tape:
    """Return an empty tape."""
    return Tape(np.zeros((POSITIONS, seats)), np.zeros(5, np.int64), chances, np.zeros(len(MEASURES), np.int32))


@jit
def rewind(tape):
    """Make a tape ready for another game."""
    for i in range(tape.counts.size):
        tape.counts[i] = 0


@jit
def record_position(state, tape):
    """Write down the standings if a turn has begun since the last time."""
    turns = 0
    for seat in range(state.seats):
        turns += state.turns[seat]
    if turns != tape.counts[TURNS]:
        if tape.counts[TURNS] == 0:
            while state.turns[tape.counts[FIRST]] == 0:
                tape.counts[FIRST] += 1
        tape.counts[TURNS] = turns
        row = next_row(tape)
        for seat in range(state.seats):
            tape.standings[row, seat] = win_chance(state, seat, tape.chances) if tape.chances.size else standing(state, seat)


@jit
def record_decision(tape, n):
    """Write down a decision between `n` legal actions."""
    tape.counts[OPTIONS] += n
    tape.counts[CHOICES] += n > 1


@jit
def record_end(state, tape, shares):
    """Write down the last position, in which the chances to win are the win shares."""
    row = next_row(tape)
    for seat in range(state.seats):
        tape.standings[row, seat] = shares[seat] if tape.chances.size else standing(state, seat)


@jit
def next_row(tape):
    """Return the number of the row for the next position."""
    row = min(tape.counts[LENGTH], tape.standings.shape[0] - 1)
    tape.counts[LENGTH] = row + 1
    return row


# --- measures ---------------------------------------------------------------------------------------------------------------


@jit
def leads(standings, shares):
    """Return the highest standing in a position of the seats that win, and of those that do not."""
    best = worst = -np.inf
    for seat in range(shares.size):
        if shares[seat] > 0:
            best = max(best, standings[seat])
        else:
            worst = max(worst, standings[seat])
    return best, worst


@jit
def lone_leader(standings):
    """Return the seat with the highest standing; -1 if several have it."""
    leader, best = 0, -np.inf
    for seat in range(standings.size):
        if standings[seat] > best:
            leader, best = seat, standings[seat]
        elif standings[seat] == best:
            leader = -1
    return leader


@cold
def lead_changes(standings):
    """Return how often the lead passes from one seat to another; rows are positions."""
    changes, last = 0, -1
    for t in range(standings.shape[0]):
        leader = lone_leader(standings[t])
        if leader >= 0:
            changes += last >= 0 and leader != last
            last = leader
    return changes


@cold
def spread(standings):
    """Return the largest difference between two seats in one position; rows are positions."""
    widest = 0.0
    for t in range(standings.shape[0]):
        least = most = standings[t, 0]
        for seat in range(standings.shape[1]):
            least, most = min(least, standings[t, seat]), max(most, standings[t, seat])
        widest = max(widest, most - least)
    return widest


@cold
def winners_way(standings, shares, scale):
    """Return contested, drama, deficit and comebacks of a decided game; rows are positions."""
    last = standings.shape[0] - 1
    first_ahead, behind, n_behind, deepest = last, 0.0, 0, 0.0
    is_ahead = False
    for t in range(last + 1):
        mine, theirs = leads(standings[t], shares)
        if mine > theirs and not is_ahead:
            first_ahead = t
        is_ahead = mine > theirs
        if theirs > mine:
            deficit = (theirs - mine) / scale
            behind, n_behind, deepest = behind + np.sqrt(deficit), n_behind + 1, max(deepest, deficit)
    contested = first_ahead / last if is_ahead and last > 0 else 1.0
    mine, theirs = leads(standings[last // 2], shares)
    return contested, behind / n_behind if n_behind else 0.0, deepest, theirs > mine


@cold
def measure_game(tape, shares, finished, plies):
    """Measure a game that is over; `shares` are its win shares."""
    standings, out = tape.standings[: tape.counts[LENGTH]], tape.measures
    winners = 0
    for seat in range(shares.size):
        winners += shares[seat] > 0
    decided = finished and winners < shares.size
    contested = drama = deficit = 0.0
    comeback = False
    if decided:
        scale = 1.0 if tape.chances.size else spread(standings)
        contested, drama, deficit, comeback = winners_way(standings, shares, scale)
    out[0], out[1] = lead_changes(standings), fraction(shares[tape.counts[FIRST]])
    out[2], out[3] = decided, winners > 1
    one = SHARE if decided else 0
    write_parts(out, 4, fraction(contested), one)
    write_parts(out, 6, fraction(drama), one)
    write_parts(out, 8, fraction(deficit), one)
    write_parts(out, 10, np.int64(comeback), np.int64(decided))
    write_parts(out, 12, tape.counts[OPTIONS], plies)
    write_parts(out, 14, tape.counts[CHOICES], plies)


@jit
def fraction(share):
    """Return a number from 0 to 1 in SHAREs."""
    return np.int64(share * SHARE + 0.5)


@jit
def write_parts(out, at, part, whole):
    """Write a part and its rest."""
    out[at], out[at + 1] = part, whole - part


@jit
def copy_measures(tape, row):
    """Write the measures of a game to the end of a row of results."""
    n = tape.measures.size
    for i in range(n):
        row[row.size - n + i] = tape.measures[i]
