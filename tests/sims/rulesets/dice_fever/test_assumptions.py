"""What survives the assumptions, on tables made by hand; and that each assumption says something else than the default."""

import pandas as pd
import pytest

from sims import RULESETS
from sims.jit import INTERPRETED
from sims.rulesets.dice_fever import exact
from sims.rulesets.dice_fever.assumptions import ASSUMPTIONS, decide, sensitivity, settled_tracks
from sims.rulesets.dice_fever.decisions import card_worth
from sims.rulesets.dice_fever.odds import Turn

FEVER = RULESETS["dice-fever"]
COLUMNS = ["track", "dice", "shields", "bonus", "tripled", "points", "mine", "theirs", "gain", "seat"]


def table(*rows):
    """Decisions: track, shields, mine, theirs, gain."""
    full = [
        (track, len(track), shields, "none", 0, sum(map(int, track)), *scores, gain, 0) for track, shields, *scores, gain in rows
    ]
    return pd.DataFrame(full, columns=COLUMNS).assign(is_out=False)


@pytest.mark.parametrize("settings", ASSUMPTIONS.values(), ids=ASSUMPTIONS)
def test_an_assumption_changes_what_it_says_and_no_more(settings):
    default, other = FEVER.variant(), FEVER.variant(f"standard,{settings}")
    changed = {name for name, value in other.values.items() if value != default.values[name]}
    assert changed == {setting.split("=")[0] for setting in settings.split(",")}


def test_settled_tracks():
    first = table(("1", 0, 9, 9, 0.2), ("16", 0, 9, 9, 0.01), ("56", 0, 9, 9, -0.1), ("26", 0, 9, 9, 0.0), ("46", 1, 9, 9, 1))
    other = table(
        ("1", 0, 9, 9, 0.1), ("16", 0, 9, 9, -0.02), ("56", 0, 9, 9, -0.3), ("56", 0, 9, 8, 0.3), ("56", 0, 80, 80, 0.3)
    )
    settled = settled_tracks({"first": first, "other": other}, 40)
    assert list(settled.itertuples(index=False, name=None)) == [
        ("1", 1, "THROW", 0.1, 0.2),
        ("16", 2, "depends", -0.02, 0.01),
        ("26", 2, "STOP", 0.0, 0.0),
        ("56", 2, "STOP", -0.3, -0.1),
    ]


@pytest.fixture(scope="module")
def solved():
    variant = "plain,target=6" if INTERPRETED else "standard,target=20,parade_cards=1,max_risk_per_turn=0"
    return exact.solve(FEVER, variant, progress=False)


def test_sensitivity(solved):
    first = table(("16", 0, 9, 9, 0.01), ("56", 0, 9, 9, -0.1), ("34", 0, 9, 8, 0.2), ("26", 0, 9, 9, 0.0), ("13", 0, 9, 9, 0.3))
    other = table(("16", 0, 9, 9, -0.04), ("56", 0, 9, 9, -0.3), ("34", 0, 9, 8, -0.08), ("26", 0, 9, 9, 0.5))
    result = sensitivity({"first": solved, "other": solved}, {"first": first, "other": other})
    full = card_worth(solved).iloc[-1]
    assert list(result.assumption) == ["first", "other"]
    assert set(result.first_seat_win) == {solved.first_seat_win}
    assert result.one_parade.to_numpy() == pytest.approx([full.one_parade] * 2, nan_ok=True)
    assert list(result.positions) == [5, 4]
    assert list(result.agree) == [1, 0.5]
    assert list(result.regret) == pytest.approx([0, (0.04 + 0.08) / 4])
    assert list(result.largest) == [0, 0.08]
    assert list(result.stop_from) == [8, 9]  # of 16, 26 and 56 alone


def test_both_seats_are_decided(solved):
    decided = decide(solved, Turn(FEVER, solved.variant).table(), [[0, 0], [1, 4]])
    assert set(decided.seat) == {0, 1}
    assert len(decided[decided.seat == 0]) == len(decided[decided.seat == 1]) > 0


@pytest.mark.long
@pytest.mark.parametrize("settings", ["", *ASSUMPTIONS.values()], ids=["as assumed", *ASSUMPTIONS])
def test_only_tracks_worth_7_depend_on_the_scores(settings):
    variant = ",".join(filter(None, ["standard,parade_cards=1,risk_cards=1", settings]))
    game = exact.solution(FEVER, variant, progress=False)
    scores = [(level, level) for level in range(0, 39, 2)]
    settled = settled_tracks({variant: decide(game, Turn(FEVER, variant).table(), scores)}, 38)
    worth = settled.track.map(lambda track: sum(map(int, track)))
    assert (settled.advice[worth < 7] == "THROW").all()
    assert (settled.advice[worth > 7] == "STOP").all()
