"""Policies for Diceplomacy: random play, a cautious attacker, thresholds on the chance to win, and what builds on them.

``threshold`` attacks where its chance to win a battle is high enough, with fair hidden dice and without a thought of who might
help. ``hunter`` and ``kingmaker`` choose their targets with more care; ``inference`` is ``kingmaker`` with beliefs about the
hidden dice. All read a view in which unknown dice are 0.
"""

import numpy as np

from sims.jit import allocates, jit
from sims.policy import policy
from sims.rulesets.diceplomacy.chances import (
    FACES,
    LARGEST_SUM,
    MEAN_DIE,
    attacking_side,
    defending_side,
    party,
    update_beliefs,
    win_chance,
)
from sims.rulesets.diceplomacy.rules import (
    ACCEPT,
    ALONE,
    ANSWER,
    ASK,
    ATTACKERS,
    CONSENT,
    DECLINE,
    FIGHT,
    HELP,
    JOIN,
    MAIN,
    MAX_SEATS,
    NOBODY,
    PROPOSE,
    REFORM,
    REFUSE,
    SURRENDER,
    TREATY,
    VICTORIES,
    VOTE,
    WAR,
    is_allied,
)
from sims.streams import draw

ANY_SCORE = VICTORIES
LOW_DIE = 3  # a known die that invites a hunter


# --- targets --------------------------------------------------------------------------------------------------------------


@jit
def after_me(view, places):
    """Return the seat so many places clockwise: who goes through the table that way favours no seat number."""
    seat = view.decider + places
    return seat - view.seats if seat >= view.seats else seat


@jit
def is_target(view, seat):
    """Is this another seat, in the game, and not the own ally?"""
    return view.alive[seat] and seat != view.decider and seat != view.ally[view.decider]


@jit
def war_chance(view, target, beliefs):
    """Return the chance to win a war on this seat if nobody helps it; a war on the own ally is fought alone."""
    me = view.decider
    if view.ally[me] == target:
        return win_chance(view, 1 << me, 1 << target, beliefs)
    return win_chance(view, party(view, me), party(view, target), beliefs)


@jit
def easiest_target(view, attack):
    """Return the target with the highest chance, the next one on ties, if that is at least `attack`, else NOBODY."""
    best, best_chance = NOBODY, attack
    for places in range(1, view.seats):
        seat = after_me(view, places)
        if is_target(view, seat):
            chance = war_chance(view, seat, None)
            if chance > best_chance or (chance == best_chance and best == NOBODY):
                best, best_chance = seat, chance
    return best


# --- answers --------------------------------------------------------------------------------------------------------------


@jit
def is_free(view, seat, max_score):
    """Is this another seat without an ally, with at most so many victories?"""
    return view.alive[seat] and seat != view.decider and not is_allied(view, seat) and view.score[seat] <= max_score


@jit
def propose_or_reform(view, max_score, rng):
    """Propose to a free seat, any with the same chance, or reform: a coin decides; reform if there is no one to propose to."""
    n_free = 0
    if view.n_alive > 3 and not is_allied(view, view.decider):
        for seat in range(view.seats):
            n_free += is_free(view, seat, max_score)
    if n_free == 0:
        return REFORM
    chosen = draw(rng, 2 * n_free)
    for seat in range(view.seats):
        if is_free(view, seat, max_score):
            if chosen == 0:
                return PROPOSE + seat
            chosen -= 1
    return REFORM


@jit
def strongest_party(view, actions, n, max_score):
    """Ask the party with the highest dice, an unknown one counting 3.5, among those with at most so many victories."""
    best, best_dice, first = ALONE, 0.0, 0
    while first < n and actions[first] - ASK < view.decider:
        first += 1
    for k in range(n):
        i = (first + k) % n
        seat = actions[i] - ASK
        if seat >= 0 and max(view.score[seat], view.score[view.ally[seat]]) <= max_score:
            dice = expected_die(view, seat) + (expected_die(view, view.ally[seat]) if is_allied(view, seat) else 0.0)
            if dice > best_dice:
                best, best_dice = actions[i], dice
    return best


@jit
def expected_die(view, seat):
    """Return a die, or the mean of one that is unknown."""
    return float(view.die[seat]) if view.die[seat] > 0 else MEAN_DIE


@jit
def helps(view, help, beliefs):
    """Join if the defenders' chance with this party is at least `help`."""
    helped = defending_side(view) | party(view, view.helper)
    return JOIN if 1 - win_chance(view, attacking_side(view), helped, beliefs) >= help else DECLINE


@jit
def gives_up(view, surrender, beliefs):
    """Vote to surrender if the own side's chance is below `surrender`."""
    chance = win_chance(view, attacking_side(view), defending_side(view), beliefs)
    own = chance if view.voting == ATTACKERS else 1 - chance
    return SURRENDER if own < surrender else FIGHT


@jit
def respond(view, actions, n, surrender, help):
    """Answer what others began, with fair dice in mind: accept if unallied, ask the strongest party, help, surrender."""
    if view.phase == VOTE:
        return gives_up(view, surrender, None)
    if view.phase == ANSWER:
        return REFUSE if is_allied(view, view.decider) else ACCEPT
    return strongest_party(view, actions, n, ANY_SCORE) if view.phase == HELP else helps(view, help, None)


# --- the policies ---------------------------------------------------------------------------------------------------------


@policy
def uniform(view, actions, n, params, rng):
    """Choose any legal action with the same probability."""
    return actions[draw(rng, n)]


@policy(die=5)
def cautious(view, actions, n, params, rng):
    """Reform until the own die is at least `die`, then attack the easiest target; no alliances, no surrender.

    It asks for help when it may, and helps with a die that it would attack with.
    """
    is_strong = view.die[view.decider] >= params[0]
    if view.phase == MAIN:
        return WAR + easiest_target(view, 0.0) if is_strong else REFORM
    if view.phase == CONSENT:
        return JOIN if is_strong else DECLINE
    if view.phase == HELP:
        return strongest_party(view, actions, n, ANY_SCORE)
    return REFUSE if view.phase == ANSWER else FIGHT


@policy(attack=0.6, surrender=0.2, help=0.6, ally=1)
def threshold(view, actions, n, params, rng):
    """Attack the easiest target at a chance of at least `attack`, surrender below `surrender`, help from `help` on.

    Without such a target it proposes or reforms. With `ally` 0 it proposes and accepts no alliance.
    """
    is_loner = params[3] == 0
    if view.phase != MAIN:
        return REFUSE if is_loner and view.phase == ANSWER else respond(view, actions, n, params[1], params[2])
    target = easiest_target(view, params[0])
    if target != NOBODY:
        return WAR + target
    return REFORM if is_loner else propose_or_reform(view, ANY_SCORE, rng)


# --- hunter ---------------------------------------------------------------------------------------------------------------


@jit
def possible_parties(view, target):
    """Return how many parties could help this seat against a war of the viewer: none unless it would be outnumbered."""
    me, n = view.decider, 0
    if not is_allied(view, me) or is_allied(view, target):
        return n
    for seat in range(view.seats):
        is_outside = view.alive[seat] and seat != me and seat != view.ally[me] and seat != target
        n += is_outside and seat <= view.ally[seat]  # the lower seat stands for a pair
    return n


@jit
def prey(view, seat):
    """Rank a target: a known low die and no ally count one each."""
    return (0 < view.known[seat] <= LOW_DIE) + (not is_allied(view, seat))


@policy(attack=0.6, surrender=0.2, help=0.6, step=0.05)
def hunter(view, actions, n, params, rng):
    """Play as ``threshold``, but prefer targets with a known low die and no ally, and beware of who may help them.

    Each party that could help the target raises `attack` by `step`.
    """
    if view.phase != MAIN:
        return respond(view, actions, n, params[1], params[2])
    best, best_rank = NOBODY, 0.0
    for places in range(1, view.seats):
        seat = after_me(view, places)
        if is_target(view, seat):
            chance = war_chance(view, seat, None)
            rank = 1 + prey(view, seat) + chance  # of two equally good preys the easier one
            if chance >= params[0] + params[3] * possible_parties(view, seat) and rank > best_rank:
                best, best_rank = seat, rank
    return propose_or_reform(view, ANY_SCORE, rng) if best == NOBODY else WAR + best


# --- kingmaker and inference ----------------------------------------------------------------------------------------------

ALMOST = VICTORIES - 1


@jit
def would_crown_ally(view):
    """Would the next victory be the ally's third and not the own?"""
    me = view.decider
    return is_allied(view, me) and view.score[view.ally[me]] == ALMOST and view.score[me] < ALMOST


@jit
def is_rival_pair_close(view):
    """Does an alliance of others stand at two victories each?"""
    for seat in range(view.seats):
        if (
            view.score[seat] == ALMOST
            and view.score[view.ally[seat]] == ALMOST
            and is_target(view, seat)
            and is_allied(view, seat)
        ):
            return True
    return False


@jit
def most_dangerous_target(view, attack, weight, beliefs):
    """Return the target with the highest chance + `weight` * victories of its party; NOBODY if no chance is at least `attack`.

    Where the next victory would crown the ally, the ally is the only target.
    """
    is_betrayal = would_crown_ally(view)
    best, best_rank = NOBODY, 0.0
    for places in range(1, view.seats):
        seat = after_me(view, places)
        if (seat == view.ally[view.decider]) if is_betrayal else is_target(view, seat):
            chance = war_chance(view, seat, beliefs)
            victories = view.score[seat] + (view.score[view.ally[seat]] if is_allied(view, seat) and not is_betrayal else 0)
            rank = 1 + chance + weight * victories
            if chance >= attack and rank > best_rank:
                best, best_rank = seat, rank
    return best


@jit
def make_kings(view, actions, n, params, rng, beliefs):
    """Play as ``threshold``, with an eye on who is about to win."""
    attack, surrender, help, weight = params[0], params[1], params[2], params[3]
    me = view.decider
    is_close = view.score[me] == ALMOST
    limit = ANY_SCORE if is_close else ALMOST - 1
    if view.phase == MAIN:
        target = most_dangerous_target(view, attack, weight, beliefs)
        if is_rival_pair_close(view) and not (is_close and target != NOBODY):
            return TREATY
        return propose_or_reform(view, ALMOST - 1, rng) if target == NOBODY else WAR + target
    if view.phase == ANSWER:
        return ACCEPT if not is_allied(view, me) and view.score[view.mover] < ALMOST else REFUSE
    if view.phase == HELP:
        return strongest_party(view, actions, n, limit)
    if view.phase == CONSENT:
        return helps(view, help, beliefs) if is_worthy(view, limit) else DECLINE
    return gives_up(view, surrender, beliefs)


@jit
def is_worthy(view, limit):
    """Has no defender more than so many victories?"""
    for i in range(view.n_attackers, view.n_fighters):  # noqa: SIM110 (numba compiles no generator expression)
        if view.score[view.fighters[i]] > limit:
            return False
    return True


@policy(attack=0.6, surrender=0.2, help=0.6, weight=0.1)
def kingmaker(view, actions, n, params, rng):
    """Play as ``threshold``, but hit those with victories, crown nobody else, and sign the Treaty against a pair at two each."""
    return make_kings(view, actions, n, params, rng, None)


@policy(attack=0.6, surrender=0.2, help=0.6, weight=0.1, war=1, fight=0.5, keep=0.1)
@allocates
def inference(view, actions, n, params, rng):
    """Play as ``kingmaker``, with Bayesian beliefs about hidden dice from what their owners did since they rolled."""
    values, sums = np.zeros((MAX_SEATS, FACES + 1)), np.zeros(LARGEST_SUM + 1)
    update_beliefs(view, params[4], params[5], params[6], values)
    return make_kings(view, actions, n, params, rng, (values, sums))
