"""Policies for Dice Fever: the reference policies, expected gain, a racer, and random and reckless play.

``expected_gain`` throws while one more throw is worth it on average. With g(.) the points that STOP would bank (0 where the
needed 6 is missing), one die on a track T with free values F gives

    E = sum over v in F of mean over BONUS faces of g(T + v) / 6  +  (6 - |F|)/6 * (g(T) if a shield is left else 0),

where the mean over faces applies if v unlocks the BONUS die, and likewise over 36 pairs when Double De is due. It is
one throw ahead, no more: best play for points, many throws ahead, is in ``odds.py``.
"""

from sims.jit import cold, jit
from sims.policy import policy
from sims.rulesets.dice_fever.rules import (
    AT,
    CARDS,
    COMMIT,
    COUNT,
    DECIDE,
    DOUBLE,
    FULL,
    IMMEDIATE,
    KEEP,
    NO_FACE,
    PLUS5,
    RUN,
    STOP,
    SUITE,
    THROW,
    USE,
    WINDOW,
    bit,
    lacks_six,
    stop_points,
    turn_points,
)
from sims.streams import draw

WHEN = ("never", "asap", "behind", "near")  # when cards are committed
NEVER, ASAP, BEHIND, NEAR = range(4)
WHOM = ("leader", "left")  # whom a Duel or a Relance hits
TOKEN = ("use", "keep")  # what becomes of a Relance token


# --- what a seat can see --------------------------------------------------------------------------------------------------


@jit
def best_other_score(view):
    """Return the highest score of the other seats, a negative one too."""
    best = -1_000_000
    for seat in range(view.seats):
        if seat != view.turn:
            best = max(best, view.score[seat])
    return best


@jit
def score_to_beat(view):
    """Return the highest score of another validated seat at the target in its last turns, or 0."""
    best = 0
    if not view.last_round:
        return best
    for seat in range(view.seats):
        if seat != view.turn and view.validated[seat] and view.score[seat] >= view.variant.target:
            best = max(best, view.score[seat])
    return best


# --- cards, targets, tokens -----------------------------------------------------------------------------------------------


@jit
def is_time(view, when, reach):
    """Is it time to commit a card: at once, when behind, or when within `reach` points of the target?"""
    score = view.score[view.turn]
    if when == BEHIND:
        return score < best_other_score(view)
    if when == NEAR:
        return score + reach >= view.variant.target
    return when == ASAP


@jit
def commit_cards(view, parade, risk, reach):
    """Commit at most one PARADE and one RISK card, each when its time has come."""
    seat = view.turn
    with_parade = view.parade[seat] > 0 and is_time(view, parade, reach)
    with_risk = min(view.risk[seat], view.variant.max_risk_per_turn) > 0 and is_time(view, risk, reach)
    return CARDS + 2 * with_parade + with_risk


@jit
def leader(view, actions, n):
    """Return the target with the highest score, the lowest seat on ties."""
    best = actions[0]
    for i in range(1, n):
        if view.score[actions[i] - AT] > view.score[best - AT]:
            best = actions[i]
    return best


@jit
def left_neighbour(view, actions, n):
    """Return the first target in turn order."""
    for i in range(n):
        if actions[i] - AT > view.turn:
            return actions[i]
    return actions[0]


@jit
def use_or_keep(view):
    """Use a Relance token on a 6 just laid, else on the die that made the fourth value, else keep it."""
    if view.fresh & bit(6):
        return USE + 6
    if COUNT[view.track & ~view.fresh] == 3 and COUNT[view.track] == 4:
        for value in range(1, 7):
            if view.fresh & bit(value):
                return USE + value
    return KEEP


@cold
def other_decision(view, actions, n, parade, risk, reach, whom, token):
    """Answer every decision but STOP or throw."""
    if view.phase == COMMIT:
        return commit_cards(view, parade, risk, reach)
    if view.phase == WINDOW:
        return use_or_keep(view) if token == 0 else KEEP
    if actions[0] >= CARDS:  # further PARADE cards after the RISK throw: none
        return CARDS
    return leader(view, actions, n) if whom == 0 else left_neighbour(view, actions, n)


# --- the reference policies -----------------------------------------------------------------------------------------------


@jit
def reference(view, points, goal, is_enough):
    """STOP or throw by the reference rules; `is_enough` is what the family says about its own threshold."""
    total = view.score[view.turn] + points
    if total < score_to_beat(view):
        return THROW
    if total >= view.variant.target:
        if not view.track & bit(6):
            return THROW
        if goal:
            return STOP
    return STOP if is_enough else THROW


@policy(points=15, cards=("none", "asap"), goal=0)
def hold_pot(view, actions, n, params, rng):
    """STOP once the turn is worth `points`; a reference policy."""
    if view.phase != DECIDE:
        return other_decision(view, actions, n, params[1], params[1], 0, 0, 0)
    points = stop_points(view)
    return reference(view, points, params[2], points >= params[0])


@policy(dice=3, cards=("none", "asap"), goal=0)
def hold_dice(view, actions, n, params, rng):
    """STOP once `dice` values are on the track; a reference policy."""
    if view.phase != DECIDE:
        return other_decision(view, actions, n, params[1], params[1], 0, 0, 0)
    return reference(view, stop_points(view), params[2], COUNT[view.track] >= params[0])


# --- one throw ahead ------------------------------------------------------------------------------------------------------


@jit
def banked(view, track, tripled_value, flat, suite):
    """Points that STOP would bank with this track: 0 where the needed 6 is missing."""
    points = turn_points(view, track, tripled_value, flat, suite)
    return 0 if lacks_six(view, points, track) else points


@jit
def banked_after_bonus(view, track, tripled_value):
    """Mean points that STOP would bank with this track, over the faces of the BONUS die if the track unlocks it."""
    variant = view.variant
    allowed = not view.six or variant.six_partial_bonus or track == FULL
    if not (variant.bonus_die and view.bonus_face == NO_FACE and COUNT[track] >= variant.bonus_at and allowed):
        return float(banked(view, track, tripled_value, view.extra, view.suite))
    total = 0.0
    for i in range(variant.n_bonus_faces):
        face = variant.bonus_faces[i]
        if face == DOUBLE and variant.double_forced and track != FULL:
            total += banked_after_forced_double(view, track, tripled_value)
            continue
        suite = face == SUITE and (variant.suite_check != IMMEDIATE or RUN[track] >= variant.suite_len)
        total += banked(view, track, tripled_value, 5 if face == PLUS5 else 0, suite)
    return total / variant.n_bonus_faces


@jit
def banked_after_forced_double(view, track, tripled_value):
    """Mean points that STOP would bank after a Double De that had to be thrown from this track."""
    single = COUNT[track] == 5
    price = 1 if single else view.variant.double_dup_parades
    parried = banked(view, track, tripled_value, 0, 0) if view.shields >= price else 0
    total = 0.0
    for one in range(1, 7):
        for two in range(1, 7):
            laid = track | bit(one) if single else track | bit(one) | bit(two)
            total += parried if laid == track else banked(view, laid, tripled_value, 0, 0)
    return total / 36


@jit
def points_after_throw(view):
    """Expected points of throwing once more and then saying STOP (a Relance of an opponent apart)."""
    now = float(banked(view, view.track, view.tripled_value, view.extra, view.suite))
    if view.double and COUNT[view.track] < 5:
        return points_after_double(view, now)
    total = 0.0
    for value in range(1, 7):
        if not view.track & bit(value):
            tripled = value if view.next3 else view.tripled_value
            total += banked_after_bonus(view, view.track | bit(value), tripled)
        elif view.shields > 0:
            total += now
    return total / 6


@jit
def points_after_double(view, now):
    """Expected points of throwing two dice and then saying STOP."""
    parried = now if view.shields >= view.variant.double_dup_parades else 0.0
    total = 0.0
    for one in range(1, 7):
        for two in range(1, 7):
            track = view.track | bit(one) | bit(two)
            total += parried if track == view.track else banked_after_bonus(view, track, view.tripled_value)
    return total / 36


@jit
def gain_of_throw(view):
    """Return how many points one more throw gains on average over STOP now."""
    return points_after_throw(view) - banked(view, view.track, view.tripled_value, view.extra, view.suite)


@policy(margin=0, parade=WHEN, risk=WHEN, reach=25, whom=WHOM, token=TOKEN)
def expected_gain(view, actions, n, params, rng):
    """Throw again while the exact expected gain of one more throw is above `margin`.

    `parade` and `risk` say when a card is committed, `reach` how near to the target "near" is, `whom` whom Duel and
    Relance hit, `token` whether a Relance token is used.
    """
    if view.phase != DECIDE:
        return other_decision(view, actions, n, params[1], params[2], params[3], params[4], params[5])
    if lacks_six(view, stop_points(view), view.track):
        return THROW
    return THROW if gain_of_throw(view) > params[0] else STOP


@policy(press=2, parade=WHEN, risk=WHEN, reach=25, whom=WHOM, token=TOKEN)
def race(view, actions, n, params, rng):
    """Race for the target: never miss the 6, beat the leader in the last turn, press on while a leader is near the target.

    Otherwise as ``expected_gain``. While another seat is ahead and within `reach` of the target, a throw may cost up
    to `press` points on average.
    """
    if view.phase != DECIDE:
        return other_decision(view, actions, n, params[1], params[2], params[3], params[4], params[5])
    points = stop_points(view)
    total, to_beat, other = view.score[view.turn] + points, score_to_beat(view), best_other_score(view)
    if lacks_six(view, points, view.track) or total < to_beat:
        return THROW
    if to_beat > 0 and total == to_beat:  # STOP means sudden death: throw if that is safer than a coin
        return THROW if view.shields > 0 or COUNT[view.track] < 3 else STOP
    if total >= view.variant.target:
        return STOP
    is_pressed = other > total and other + params[3] >= view.variant.target
    return THROW if gain_of_throw(view) > (-params[0] if is_pressed else 0.0) else STOP


# --- without a plan -------------------------------------------------------------------------------------------------------


@policy
def uniform(view, actions, n, params, rng):
    """Choose any legal action with the same probability."""
    return actions[draw(rng, n)]


@policy(parades=0)
def never_stop(view, actions, n, params, rng):
    """Never say STOP; commit `parades` PARADE cards as long as there are so many."""
    if view.phase == COMMIT:
        return CARDS + 2 * int(params[0]) if view.parade[view.turn] >= params[0] else CARDS
    return THROW if view.phase == DECIDE else actions[0]
