"""The published scorecards: up to date, the same in the README, and written as a whole."""

from pathlib import Path

import pandas as pd
import pytest

from analysis import scorecard
from analysis.balance import QUANTITIES
from sims import RULESETS, InputError

REPORTS = Path(__file__).parents[2] / "reports"
UPDATE = "`make scorecard` measures them anew"


def test_published_numbers_are_of_these_rules():
    balances = scorecard.published(REPORTS)
    versions = balances.groupby("ruleset").version.unique()
    assert {name: [str(version) for version in found] for name, found in versions.items()} == {
        name: [ruleset.version] for name, ruleset in RULESETS.items()
    }, UPDATE
    for _, rows in balances.groupby("ruleset"):
        assert set(rows.quantity) == set(QUANTITIES), UPDATE
        assert (rows.low <= rows.estimate).all()
        assert (rows.estimate <= rows.high).all()
        assert rows.n.min() >= 1_000


def test_the_readme_shows_the_published_numbers():
    shown = scorecard.BLOCK.search((REPORTS.parent / "README.md").read_text())
    assert shown.group() == scorecard.headlines(scorecard.published(REPORTS)), UPDATE


def test_publishing_writes_the_table_and_the_readme(tmp_path, monkeypatch):
    kept = scorecard.published(REPORTS)
    monkeypatch.setattr(scorecard, "balance", lambda name, games, seed, n_jobs: kept[kept.ruleset == name])
    (tmp_path / "README.md").write_text("before\n<!-- scorecard -->\nold\n<!-- /scorecard -->\nafter\n")
    scorecard.publish(tmp_path / "reports", 10, 1)
    pd.testing.assert_frame_equal(scorecard.published(tmp_path / "reports"), kept)
    text = (tmp_path / "README.md").read_text()
    assert text == f"before\n<!-- scorecard -->\n{scorecard.headlines(kept)}<!-- /scorecard -->\nafter\n"
    assert not list(tmp_path.rglob("*.partial"))


def test_without_a_place_in_the_readme_nothing_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(scorecard, "balance", lambda *args, **named: pytest.fail("measured"))
    with pytest.raises(InputError, match=r"README.md' has no place for the scorecard"):
        scorecard.publish(tmp_path / "reports")
    with pytest.raises(InputError, match=r"balance.csv'.*`dicelab scorecard` writes it"):
        scorecard.published(tmp_path / "reports")
