"""The chance to win a war: with dice that are known or fair, and with beliefs about the hidden ones.

A side is a set of seats, held as bits. With fair hidden dice, a of them among the attackers and b among the defenders, the
attackers win with P(S_a - S_b > d), where d is what the defenders' known dice are ahead; that is a table. With beliefs, a
distribution per seat, the dice are added one by one; a defender's die v counts as 7 - v, so that there are sums only:

    sum A > sum B   if and only if   sum A + sum over B of (7 - v) > 7 |B|.
"""

import math

import numpy as np

from sims.jit import jit
from sims.rulesets.diceplomacy.rules import (
    DECLINE,
    FIGHT,
    HISTORY,
    JOIN,
    MAX_SEATS,
    PROPOSE,
    ROLLED,
    SURRENDER,
    TREATY,
    WAR,
)

FACES = 6
MEAN_DIE = 3.5
MAX_ATTACKERS = 2
LEAST_LIKELY = 0.01  # of an act out of character: nothing that has been seen is impossible
LARGEST_SUM = FACES * MAX_SEATS


def _margins() -> np.ndarray:
    """P(S_a - S_b > d) at [a, b, d + FACES * MAX_ATTACKERS], for every d at which it is neither 0 nor 1 for some a and b."""
    sums = [np.ones(1, np.int64)]  # ways to throw each sum: counted, so that a chance of 1/2 is exactly 0.5
    for _ in range(MAX_SEATS - 1):
        sums.append(np.convolve(sums[-1], np.r_[0, np.ones(FACES, np.int64)]))
    table = np.zeros((MAX_ATTACKERS + 1, MAX_SEATS, FACES * MAX_ATTACKERS + LARGEST_SUM + 1))
    for a in range(MAX_ATTACKERS + 1):
        for b in range(MAX_SEATS):
            difference = np.convolve(sums[a], sums[b][::-1])  # S_a - S_b = i - 6 b at i
            for i, ways in enumerate(difference):
                table[a, b, : max(0, i - FACES * b + FACES * MAX_ATTACKERS)] += ways
            table[a, b] /= FACES ** (a + b)
    return table


MARGIN = _margins()


# --- sides ----------------------------------------------------------------------------------------------------------------


@jit
def party(view, seat):
    """Return the set of a seat and its ally, if it has one."""
    return 1 << view.ally[seat] | 1 << seat


@jit
def fighting(view, first, end):
    """Return the set of the fighters from place `first` to before `end`."""
    side = 0
    for i in range(first, end):
        side |= 1 << view.fighters[i]
    return side


@jit
def attacking_side(view):
    """Return the attacking side of the war."""
    return fighting(view, 0, view.n_attackers)


@jit
def defending_side(view):
    """Return the defending side of the war."""
    return fighting(view, view.n_attackers, view.n_fighters)


# --- chances --------------------------------------------------------------------------------------------------------------


@jit
def win_chance(view, attackers, defenders, beliefs):
    """Return the attackers' chance to win a battle.

    Parameters
    ----------
    view : record
        What a seat sees; a die that it does not know is 0.
    attackers, defenders : int
        Sets of seats.
    beliefs : None, or tuple of float arrays (seats, 7) and (at least LARGEST_SUM + 1,)
        None for fair dice; else the probability of each value of each seat's die, and room for the sums.
    """
    if beliefs is None:
        return fair_chance(view, attackers, defenders)
    return believed_chance(view, attackers, defenders, beliefs)


@jit
def fair_chance(view, attackers, defenders):
    """Return the attackers' chance where every unknown die is fair."""
    a = b = ahead = 0
    for seat in range(view.seats):
        if attackers >> seat & 1:
            a += view.die[seat] == 0
            ahead -= view.die[seat]
        elif defenders >> seat & 1:
            b += view.die[seat] == 0
            ahead += view.die[seat]
    return MARGIN[a, b, ahead + FACES * MAX_ATTACKERS]


@jit
def believed_chance(view, attackers, defenders, beliefs):
    """Return the attackers' chance under beliefs, by adding one die after the other."""
    values, sums = beliefs
    for total in range(LARGEST_SUM + 1):
        sums[total] = 0.0
    sums[0] = 1.0
    n_dice = needed = 0
    for seat in range(view.seats):
        is_attacker = attackers >> seat & 1
        if is_attacker or defenders >> seat & 1:
            n_dice += 1
            needed += 0 if is_attacker else 7
            add_die(sums, FACES * n_dice, values[seat], is_attacker)
    chance = 0.0
    for total in range(needed + 1, FACES * n_dice + 1):
        chance += sums[total]
    return chance


@jit
def add_die(sums, largest, value, is_attacker):
    """Add a die in place, from the largest sum down: each sum needs smaller ones only."""
    for total in range(largest, -1, -1):
        probability = 0.0
        for v in range(1, min(FACES, total) + 1):
            probability += sums[total - v] * value[v if is_attacker else 7 - v]
        sums[total] = probability


# --- beliefs --------------------------------------------------------------------------------------------------------------


@jit
def update_beliefs(view, war, fight, keep, values):
    """Fill in the probability of each value of each die, by Bayes' rule from what its seat has done since it rolled it.

    The prior is uniform. With s_k(v) = 1 / (1 + exp(-k (v - 3.5))), a seat with a die v declares a war with a likelihood
    proportional to s_war(v), refuses a surrender or helps with s_fight(v), does the contrary with 1 - s_fight(v), and keeps
    its die in a turn without war or Reform with s_keep(v); none is less likely than LEAST_LIKELY. A die that the viewer
    knows is certain.

    Parameters
    ----------
    war, fight, keep : float
        How much such an act says; 0 for nothing.
    values : float array (at least seats, 7)
        Entry [seat, v] is filled for v = 1 to 6.
    """
    for seat in range(view.seats):
        wars, bold, timid, kept = acts_since_roll(view, seat)
        total = 0.0
        for v in range(1, FACES + 1):
            if view.die[seat] > 0:
                values[seat, v] = view.die[seat] == v
            else:
                acts = likelihood(war, v, wars) * likelihood(fight, v, bold) * likelihood(-fight, v, timid)
                values[seat, v] = acts * likelihood(keep, v, kept)
            total += values[seat, v]
        for v in range(1, FACES + 1):
            values[seat, v] /= total


@jit
def likelihood(k, v, n):
    """Return the likelihood of n acts, s_k(v)^n, none of them less likely than LEAST_LIKELY; 1 - s_k(v) is s_-k(v)."""
    if n == 0:
        return 1.0
    return max(0.5 + 0.5 * math.tanh(k * (v - MEAN_DIE) / 2), LEAST_LIKELY) ** n


@jit
def acts_since_roll(view, seat):
    """Return how often a seat has declared war, fought or helped, done the contrary, and kept its die, since it last rolled."""
    wars = bold = timid = kept = 0
    for event in range(view.n_events - 1, max(0, view.n_events - HISTORY) - 1, -1):
        row = event % HISTORY
        if view.history[row, 0] != seat:
            continue
        code = view.history[row, 1]
        if code == ROLLED:
            break
        wars += WAR <= code < WAR + MAX_SEATS
        bold += code in (FIGHT, JOIN)
        timid += code in (SURRENDER, DECLINE)
        kept += code == TREATY or PROPOSE <= code < PROPOSE + MAX_SEATS
    return wars, bold, timid, kept
