"""Luck adjustment: what a game's result would be if its dice had fallen neither well nor badly.

Let V be any estimate of the win share from a position, fixed before the games. At a chance node with m equally likely outcomes

    luck(outcome) = V(after it) - mean over the m outcomes of V

has mean 0 whatever V is. So the adjusted win share, the win share less the luck of all chance nodes, has the same mean, and the
less variance the better V is (advantage sums: M. Zinkevich et al., AAAI 2006; AIVAT: N. Burch et al., AAAI 2018). Dice that are
hidden from the seats are seen here, so V may be of them all; what AIVAT takes away besides, the luck of policies that draw random
numbers, is left in. A ruleset offers V in its module ``luck``:

    book(ruleset, variant, reference)    what V reads, made once, arrays: of best play, or of a reference policy (or None)
    room(book), cost(book)               floats of room that it needs; how many times longer an adjusted game takes

and either, by any rule, ``estimate(state, luck, out)``, which fills in the win share of each seat: the outcomes of a chance node
are then tried on a copy. Or, between two seats, exact values of both playing best, or both playing the reference:

    value(state, luck)                   of the seat whose turn it is, as the game starts or at a decision
    loss(state, action, luck)            how much less the action is worth to its seat than what best play, or the reference, does

An exact V is its own mean at every chance node, so between two decisions all luck is V after less V before, and what is left is

    adjusted win share = V(start) - own losses + the other's losses.

Nothing is done at chance nodes then. A stopped game is won by nobody: V of where it stops is luck too. The mean of the V of two
references is its own mean as well; where only they differ, what either does counts as a loss of half as much.

The losses of a long game may add up to anything. So before the adjusted win share would be further than 1 from an even one, the
adjustment ends, and the rest of the game counts as it is played: its win share less V of here. Whether it goes on is known before
each outcome, so the mean stays what it was (optional stopping), and an adjusted win share is at most 2 from an even one.
"""

from typing import Any, NamedTuple

import numpy as np

from sims import jit as compiled
from sims.jit import jit
from sims.ruleset import BY_STATE, apply_chance, chance

FURTHEST = 1.0  # that adjusting takes a win share from an even one; what is left of the game may take it 1 further


class Luck(NamedTuple):
    """What the loop needs to adjust a game.

    Attributes
    ----------
    book : any
        What V reads: made once by the ruleset, ``luck.book(ruleset, variant)``.
    room : float array
        Room to work in.
    spare : record array (2,)
        Room for positions.
    shares : float array (seats,)
        The adjusted win shares, while they are summed.
    has_ended : bool array (1,)
        Does the rest of the game count as it is played?
    """

    book: Any
    room: np.ndarray
    spare: Any
    shares: np.ndarray
    has_ended: np.ndarray


def mean_book(books):
    """Return the mean, entry by entry, of the exact values of several references."""
    return type(books[0])(*(sum(entries) / len(books) for entries in zip(*books, strict=True)))


def _offered(name):
    """Return the function of this name that the module ``luck`` of a ruleset offers, found by the type of the state."""

    def interpreted(state, *args):
        return getattr(BY_STATE[state.dtype].luck, name)(state, *args)

    if not compiled.INTERPRETED:

        def resolve(state, *args):
            function = getattr(BY_STATE[state].luck, name)
            return lambda state, *args: function(state, *args)

        compiled.overload(interpreted)(resolve)
    return interpreted


def _by_kind(exact, estimated):
    """Return the function that is the one or the other, by what the ruleset offers."""

    def interpreted(state, *args):
        function = exact if is_exact(BY_STATE[state.dtype]) else estimated
        return getattr(function, "py_func", function)(state, *args)

    if not compiled.INTERPRETED:

        def resolve(state, *args):
            function = exact if is_exact(BY_STATE[state]) else estimated
            return lambda state, *args: function(state, *args)

        compiled.overload(interpreted)(resolve)
    return interpreted


def is_exact(ruleset):
    """Does the ruleset offer the exact value of best play?"""
    return hasattr(ruleset.luck, "loss")


value, loss, estimate = (_offered(name) for name in ("value", "loss", "estimate"))


@jit
def _start_exact(state, luck):
    luck.shares[state.turn] = value(state, luck)
    luck.shares[1 - state.turn] = 1.0 - luck.shares[state.turn]
    luck.has_ended[0] = False


@jit
def _start_estimated(state, luck):
    for seat in range(luck.shares.size):
        luck.shares[seat] = 0.0


@jit
def _no_outcome(state, outcome, luck):
    pass


@jit
def _take_away_luck(state, outcome, luck):
    m, seats = chance(state), luck.shares.size
    for other in range(m):
        luck.spare[0] = state
        apply_chance(luck.spare[0], other)
        estimate(luck.spare[0], luck, luck.room)
        for seat in range(seats):
            luck.shares[seat] += luck.room[seat] * (1.0 / m - (other == outcome))


@jit
def _take_away_loss(state, who, action, luck):
    if luck.has_ended[0]:
        return
    lost = loss(state, action, luck)
    if abs(luck.shares[who] - lost - 0.5) <= FURTHEST:
        luck.shares[who] -= lost
        luck.shares[1 - who] += lost
    else:
        _end_here(state, luck)


@jit
def _end_here(state, luck):
    mine = value(state, luck)
    luck.shares[state.turn] -= mine
    luck.shares[1 - state.turn] -= 1.0 - mine
    luck.has_ended[0] = True


@jit
def _no_action(state, who, action, luck):
    pass


@jit
def _end_exact(state, is_truncated, payoffs, luck):
    if is_truncated and not luck.has_ended[0]:
        _end_here(state, luck)
    if luck.has_ended[0]:
        for seat in range(2):
            luck.shares[seat] += payoffs[seat]


@jit
def _end_estimated(state, is_truncated, payoffs, luck):
    for seat in range(luck.shares.size):
        luck.shares[seat] += payoffs[seat]


start_adjusting = _by_kind(_start_exact, _start_estimated)
adjust_outcome = _by_kind(_no_outcome, _take_away_luck)
adjust_action = _by_kind(_take_away_loss, _no_action)
end_adjusting = _by_kind(_end_exact, _end_estimated)
