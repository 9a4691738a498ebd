"""Exact STOP odds against a recursion in fractions that shares no code with the rules: written from the rules text."""

from fractions import Fraction
from functools import cache

import pytest

from sims.errors import InputError
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever.odds import Turn

BONUS = {
    "standard": ("plus5", "plus5", "double", "double", "x3", "suite"),
    "even_faces": ("plus5", "double", "x3", "suite"),
    "plain": (),
}
DICE = range(1, 7)


class Reference:
    """The odds of a turn without RISK face, or under Score x2 (`mult` 2), for points alone.

    A position is (track, shields, bonus, tripled): a frozenset of values; unused PARADE cards; what the BONUS die did, with
    ``-used`` once the throw that Double De or x3 concerns has been made; and the value that counts triple, or 0.
    """

    def __init__(self, faces, mult):
        self.faces, self.mult = faces, mult
        self.value = cache(self._value)

    def stop(self, track, bonus, tripled):
        """R41; the flat bonuses are not doubled (R34), the tripled die is (R26)."""
        points = Fraction((sum(track) + 2 * tripled) * self.mult)
        points += 5 * (bonus == "plus5")
        points += 10 * (bonus == "suite" and any(track >= set(range(low, low + 4)) for low in DICE))  # R23
        return points + 10 * (len(track) == 6)  # R40

    def _value(self, track, shields, bonus, tripled):
        points = self.stop(track, bonus, tripled)
        return points if len(track) == 6 else max(points, self.throw(track, shields, bonus, tripled))

    def throws(self, track, bonus):
        """Yield the new values of each equally likely throw (R10, R27), none where all of it is duplicates (R29, R30)."""
        for first in DICE:
            for second in DICE if bonus == "double" and len(track) < 5 else [first]:
                yield frozenset({first, second}) - track

    def throw(self, track, shields, bonus, tripled):
        after = f"{bonus}-used" if bonus in ("double", "x3") else bonus  # R24, R32
        results = []
        for new in self.throws(track, bonus):
            if new:
                results.append(self.laid(track | new, shields, after, *(new if bonus == "x3" else [tripled])))
            elif shields:  # R14 to R16, R25, R31
                results.append(self.value(track, shields - 1, after, tripled))
            else:  # R13
                results.append(Fraction(0))
        return sum(results) / len(results)

    def laid(self, track, shields, bonus, tripled):
        if bonus == "none" and len(track) >= 4 and self.faces:  # R18 to R20
            return sum(self.value(track, shields, face, tripled) for face in self.faces) / len(self.faces)
        return self.value(track, shields, bonus, tripled)

    def p_out(self, track, shields, bonus):
        throws = list(self.throws(track, bonus))
        return Fraction(0 if shields else throws.count(frozenset()), len(throws))


def check(turn, reference, row, doubled):
    track = frozenset(map(int, row.track))
    odds = turn.odds(turn.position(tuple(track), row.shields, row.bonus, row.tripled, doubled))
    assert odds.stop == reference.stop(track, row.bonus, row.tripled)
    if len(track) == 6:
        assert (odds.p_out, odds.throw) == (0, odds.stop)
        return
    throw = reference.throw(track, row.shields, row.bonus, row.tripled)
    assert odds.throw == pytest.approx(float(throw), rel=1e-12)
    assert odds.p_out == pytest.approx(float(reference.p_out(track, row.shields, row.bonus)), rel=1e-12)
    if abs(throw - Fraction(odds.stop)) > Fraction(1, 10**9):
        assert odds.advice == ("THROW" if throw > odds.stop else "STOP")


@pytest.mark.parametrize("variant", BONUS)
def test_every_position(variant):
    turn, reference = Turn(RULESETS["dice-fever"], variant), Reference(BONUS[variant], 1)
    table = turn.table()
    assert len(table) == {"plain": 63}.get(variant, 794)
    for row in table.itertuples():
        check(turn, reference, row, doubled=False)
    for shields in range(4):
        mean = reference.throw(frozenset(), shields, "none", 0)
        assert turn.mean_of_best_play(shields) == pytest.approx(float(mean), rel=1e-12)


def test_positions_under_score_x2():
    """Few shields: they are what the time goes into."""
    turn, reference = Turn(RULESETS["dice-fever"], "standard,parade_cards=1"), Reference(BONUS["standard"], 2)
    checked = 0
    for row in turn.table().itertuples():
        try:
            check(turn, reference, row, doubled=True)
            checked += 1
        except InputError:
            assert row.bonus in ("double", "x3")  # after six dice at once alone
    assert checked > 300
