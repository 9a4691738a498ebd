"""Exact push-your-luck odds of one turn, in points, through the rules functions themselves.

Let s be a position of a turn whose RISK face is settled. With W(s) the points that best play for points gains by the end of
the turn,

    W(s) = points banked                      when the turn is over,
    W(s) = mean over outcomes o of W(s after o)   at a chance node,
    W(s) = max over actions a of W(s after a)     at STOP or throw.

The target is out of reach here, so neither it nor the needed 6 matters; opponents hold no Relance token. Every throw lays a
value, spends a PARADE or ends the turn, so the recursion ends; positions are remembered by the bytes of the state.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from sims.errors import InputError, choose
from sims.jit import jit
from sims.ruleset import CHANCE, Ruleset
from sims.rulesets.dice_fever import rules
from sims.streams import draw, open_deal

OUT_OF_REACH = 1_000_000
STATUSES = ("none", "plus5", "suite", "double", "double-used", "x3", "x3-used")
"""What the BONUS die did: not thrown; its face; for Double De and x3 also that the throw it concerns has been made."""


class Choice:
    """What STOP and throwing on are worth, in points or in win probability."""

    stop: float
    throw: float

    @property
    def advice(self) -> str:
        """THROW where it is worth more, else STOP."""
        return "THROW" if self.throw > self.stop else "STOP"

    @property
    def regret(self) -> float:
        """What the other choice gives away."""
        return abs(self.throw - self.stop)


@dataclass(frozen=True)
class Odds(Choice):
    """What a position offers: chance of OUT on the next throw, points by STOP, expected points by throwing on."""

    p_out: float
    stop: float
    throw: float


@dataclass
class Turn:
    """The odds of every position of a turn under one variant."""

    ruleset: Ruleset
    variant: Any = None
    _values: dict[bytes, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.variant = self.ruleset.variant(self.variant)
        values = {**self.variant.values, "target": OUT_OF_REACH}
        self._start = self.ruleset.new_state(2, type(self.variant)(self.variant.name, values))

    def position(
        self,
        track: tuple[int, ...],
        shields: int = 0,
        bonus: str = "none",
        tripled: int = 0,
        double_score: bool = False,
    ) -> Any:
        """Return the position in which the player says STOP or throws; raises InputError if there is no such position.

        Parameters
        ----------
        track : tuple of int
            Values laid, in any order.
        shields : int
            PARADE cards committed and not used.
        bonus : str
            One of ``STATUSES``.
        tripled : int
            The value that counts triple, or 0.
        double_score : bool
            Is the turn under the RISK face Score x2?
        """
        self._check(track, bonus, tripled, double_score)
        self._check_shields(len(track), shields, bonus, tripled, double_score)
        state = self._start.copy()
        face = bonus.removesuffix("-used").upper()
        state.phase = rules.DECIDE
        state.six = bonus == "none" and self.variant.values["bonus_die"] and len(track) >= self.variant.values["bonus_at"]
        state.track = sum(int(rules.bit(value)) for value in track)
        state.shields = shields
        state.mult = 2 if double_score else 1
        state.bonus_face = rules.BONUS_FACES.index(face) if bonus != "none" else rules.NO_FACE
        state.extra = 5 if bonus == "plus5" else 0
        state.suite = bonus == "suite"
        state.double, state.next3 = bonus == "double", bonus == "x3"
        state.tripled_value = tripled
        return state

    def _check(self, track: tuple[int, ...], bonus: str, tripled: int, double_score: bool) -> None:
        values, name = self.variant.values, self.variant.name
        choose(bonus, STATUSES, "bonus status")
        if not track or len(set(track)) != len(track) or not set(track) <= set(range(1, 7)):
            raise InputError(f"a track holds 1 to 6 different values from 1 to 6, not {','.join(map(str, track)) or 'none'}")
        if double_score and not self.can_risk("X2"):
            raise InputError(f"Score x2 cannot happen: the variant {name} has no RISK card to use or no such face")
        unlocked = values["bonus_die"] and len(track) >= values["bonus_at"]
        faces = [face.lower() for face in values["bonus_faces"]]
        if bonus != "none" and not unlocked:
            needs = f"{values['bonus_at']} values on the track" if values["bonus_die"] else "a variant with a BONUS die"
            raise InputError(f"bonus {bonus!r} is impossible here: it needs {needs}")
        if bonus != "none" and bonus.removesuffix("-used") not in faces:
            raise InputError(f"bonus {bonus!r} is impossible: the BONUS die of {name} shows {', '.join(dict.fromkeys(faces))}")
        if bonus == "none" and unlocked and values["six_partial_bonus"]:
            raise InputError(
                f"with {len(track)} values the BONUS die has been thrown; choose its bonus from {', '.join(STATUSES[1:])}"
            )
        if tripled and (bonus != "x3-used" or tripled not in track or len(track) <= values["bonus_at"]):
            raise InputError(
                f"tripled value {tripled} is impossible: it needs bonus x3-used, {values['bonus_at'] + 1} values or more, "
                f"and {tripled} among them"
            )

    def _check_shields(self, count: int, shields: int, bonus: str, tripled: int, double_score: bool) -> None:
        cards, name = self.variant.values["parade_cards"], self.variant.name
        spent = self.spent(count, bonus, tripled, double_score)
        if spent is None or spent > cards:
            why = "no turn comes there" if spent is None else f"it costs {spent} PARADE to come there, and {name} has {cards}"
            with_x2 = " under Score x2" if double_score else ""
            raise InputError(f"bonus {bonus!r} with {count} values{with_x2} is impossible under {name}: {why}")
        if not 0 <= shields <= cards - spent:
            gone = f", less {spent} that it costs to come here with bonus {bonus!r}" if spent else ""
            raise InputError(f"shields must be from 0 to {cards - spent} (the PARADE cards of {name}{gone}), not {shields}")

    def spent(self, count: int, bonus: str, tripled: int, double_score: bool) -> int | None:
        """Return the PARADE cards that a turn must have spent to be here with `count` values; None where no turn comes.

        Only three ways cost any: the throw that the BONUS die concerns was parried; or the turn started with six dice, each
        surplus die of which costs one. Those are the only way to a throw that is still to come with more than ``bonus_at``
        values, and to no BONUS throw at all. A Relance may take a tripled die away, so that x3 is used and nothing tripled.
        """
        values = self.variant.values
        at, partial = values["bonus_at"], values["six_partial_bonus"]
        six_dice = 6 - count if self.can_risk("SIX") and not double_score else None
        if bonus == "none":
            if not values["bonus_die"] or count < at:
                return 0
            return six_dice if count < 6 else None
        if bonus in ("double", "x3"):
            if bonus == "double" and values["double_forced"] and count < 6:
                return None
            return 0 if count == at else six_dice if partial or count == 6 else None
        if not bonus.endswith("-used"):
            return 0
        if count > at:
            return int(bonus == "x3-used" and not tripled and not self._loses_triple())
        return None if count == 6 else values["double_dup_parades"] if bonus == "double-used" and count < 5 else 1

    def used_risk(self, count: int, bonus: str, tripled: int, double_score: bool) -> bool:
        """Must a RISK card have been used to be here with `count` values: for Score x2, or for six dice at once?"""
        unlocked = self.variant.values["bonus_die"] and count >= self.variant.values["bonus_at"]
        if bonus == "none":
            return double_score or bool(unlocked)
        return double_score or (bonus in ("double", "x3") and bool(self.spent(count, bonus, tripled, double_score)))

    def can_risk(self, face: str) -> bool:
        """Can a RISK card show this face under the variant?"""
        values = self.variant.values
        return face in values["risk_faces"] and values["risk_cards"] > 0 and values["max_risk_per_turn"] > 0

    def _loses_triple(self) -> bool:
        """Can a Relance against this player have taken the tripled die away? Forced, it takes the fourth value."""
        values = self.variant.values
        hits = values["relance_mode"] == "chosen" or values["bonus_at"] == 3
        return hits and not values["relance_keeps_x3"] and self.can_risk("RELANCE")

    def odds(self, state: Any) -> Odds:
        """Return the odds of a position (see :meth:`position`)."""
        points = float(rules.stop_points(state))
        if state.track == rules.FULL:  # Dice Fever: the turn is over
            return Odds(0.0, points, points)
        thrown = self.ruleset.after(state, rules.THROW)
        return Odds(self._p_out(thrown), points, self._value(thrown))

    def _value(self, state: Any) -> float:
        if state.turn != 0:
            return float(state.score[0])
        key = state.tobytes()
        if key not in self._values:
            if rules.actor(state) == CHANCE:
                outcomes = range(rules.chance(state))
                value = sum(self._value(self.ruleset.after(state, outcome)) for outcome in outcomes) / len(outcomes)
            else:
                value = max(self._value(self.ruleset.after(state, action)) for action in self.ruleset.legal(state))
            self._values[key] = value
        return self._values[key]

    def _p_out(self, state: Any) -> float:
        """Chance that the dice in the air (and the BONUS die that they unlock) end the turn OUT."""
        if state.turn != 0:
            return float(state.outs[0])
        if rules.actor(state) != CHANCE:
            return 0.0
        outcomes = range(rules.chance(state))
        return sum(self._p_out(self.ruleset.after(state, outcome)) for outcome in outcomes) / len(outcomes)

    def table(self) -> pd.DataFrame:
        """Return the odds of every position with Score x1: all tracks, shields and statuses that can occur."""
        rows = []
        for mask in range(1, 64):
            track = tuple(value for value in range(1, 7) if mask >> (value - 1) & 1)
            for shields in range(self.variant.values["parade_cards"] + 1):
                for bonus, tripled in self._statuses(track, shields):
                    odds = self.odds(self.position(track, shields, bonus, tripled))
                    text = "".join(map(str, track))
                    rows.append((text, len(track), shields, bonus, tripled, odds.p_out, odds.stop, odds.throw, odds.advice))
        columns = ["track", "dice", "shields", "bonus", "tripled", "p_out", "stop", "throw", "advice"]
        return pd.DataFrame(rows, columns=columns)

    def _statuses(self, track: tuple[int, ...], shields: int) -> list[tuple[str, int]]:
        found = []
        for status, tripled in [*((status, 0) for status in STATUSES), *(("x3-used", value) for value in track)]:
            with suppress(InputError):
                self.position(track, shields, status, tripled)
                found.append((status, tripled))
        return found

    def mean_of_best_play(self, shields: int = 0) -> float:
        """Return the expected points of a whole turn of best play for points, without a RISK card."""
        state = self._start.copy()
        state.shields = shields
        rules.throw(state)
        return self._value(state)


def points_rule(table: pd.DataFrame) -> tuple[int, pd.DataFrame]:
    """Return the best rule "no shield: STOP from T points; a shield: throw", and the positions where it is wrong.

    T is the :func:`best_threshold` over the positions of :meth:`Turn.table`. Where both choices are worth the same to 1e-9
    either is right.
    """
    open_turns = table[table.dice < 6]
    gain, bare = open_turns.throw - open_turns.stop, open_turns.shields == 0
    best = best_threshold(open_turns.stop[bare], gain[bare])
    throws = ~bare | (open_turns.stop < best)
    return best, open_turns[(throws & (gain < -1e-9)) | (~throws & (gain > 1e-9))]


def best_threshold(points: pd.Series, gain: pd.Series) -> int:
    """Return the T for which "STOP from T points" has the smallest total regret, if throwing on gains so much over STOP."""
    thresholds, gains = np.arange(1, 40), gain.to_numpy()[:, None]
    stops = points.to_numpy()[:, None] >= thresholds
    regret = np.where(stops, gains, -gains).clip(min=0).sum(axis=0)
    return int(thresholds[regret.argmin()])


@jit
def _sample(states, threshold, stream, sums):
    """Throw once, then play the points rule to the end of the turn; add points, their squares and OUT at once to `sums`."""
    for _ in range(np.int64(sums[3])):
        states[1] = states[0]
        state = states[1]
        rules.apply_action(state, rules.THROW)
        first_throw = True
        while state.turn == 0:
            if rules.actor(state) == CHANCE:
                rules.apply_chance(state, draw(stream, rules.chance(state)))
            else:
                first_throw = False
                goes_on = state.shields > 0 or rules.stop_points(state) < threshold
                rules.apply_action(state, rules.THROW if goes_on else rules.STOP)
        sums[0] += state.score[0]
        sums[1] += state.score[0] ** 2
        sums[2] += first_throw and state.outs[0] > 0


def sample_table(turn: Turn, table: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """Return the table's open positions with the same odds from `n` simulated turns each, and z-scores.

    Each turn throws once and then plays the points rule (:func:`points_rule`), so the z-scores check the odds, and that the
    rule is as good as best play, through the rules functions and the keyed streams. Columns added: ``sim_p_out``,
    ``sim_throw``, ``z_out`` and ``z_throw`` (0 where there is no spread and the values agree).
    """
    threshold, _ = points_rule(table)
    rows = table[table.dice < 6].reset_index(drop=True)
    sums = np.zeros((len(rows), 4))
    sums[:, 3] = n
    states = np.zeros(2, rules.STATE).view(np.recarray)
    dice, minds = np.zeros((3, 4), np.uint64), np.zeros((2, 4), np.uint64)
    with np.errstate(over="ignore"):
        for i, row in enumerate(rows.itertuples()):
            states[0] = turn.position(tuple(map(int, row.track)), row.shields, row.bonus, row.tripled)
            open_deal(dice, minds, np.uint64(seed), i)
            _sample(states, threshold, dice[0], sums[i])
    mean, p_out = sums[:, 0] / n, sums[:, 2] / n
    spread = np.sqrt(np.maximum(sums[:, 1] / n - mean**2, 0) / n)
    out_spread = np.sqrt(rows.p_out * (1 - rows.p_out) / n).to_numpy()
    z_throw = _z(mean - rows.throw.to_numpy(), spread)
    z_out = _z(p_out - rows.p_out.to_numpy(), out_spread)
    return rows.assign(sim_p_out=p_out, sim_throw=mean, z_out=z_out, z_throw=z_throw)


def _z(difference: np.ndarray, spread: np.ndarray) -> np.ndarray:
    agrees = np.abs(difference) < 1e-9
    return np.where(agrees, 0.0, difference / np.where(spread > 0, spread, np.nan))
