"""The report: self-contained, the same bytes again, nothing played twice."""

import re
import shutil
from pathlib import Path

import pytest

import analysis.report
import sims.study
from analysis.report import write_report
from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.study import load_study

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(INTERPRETED, reason="a minute per matchup in plain Python")
STUDY = """
ruleset = "dice-fever"
games = 200
seed = 1
[[groups]]
name = "pairs"
kind = "pairs"
policies = ["hold_dice:3", "race:2"]
[[groups]]
name = "sweep"
kind = "against"
policies = ["hold_pot:6", "hold_pot:8"]
opponents = ["hold_dice:3"]
variants = ["standard", "plain"]
[[groups]]
name = "seats"
kind = "self"
policies = ["race:2"]
seats = [2, 3]
"""


@pytest.mark.slow
def test_report_is_self_contained_and_byte_stable(tmp_path, monkeypatch):
    monkeypatch.setattr(analysis.report, "TURNS_PER_POSITION", 200)
    shutil.copytree(ROOT / "reports" / "templates", tmp_path / "templates")
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "dice_fever.toml").write_text(STUDY)
    page = write_report(tmp_path)
    first = page.read_bytes()
    monkeypatch.setattr(sims.study, "simulate", None)  # would fail if anything were played again
    assert write_report(tmp_path).read_bytes() == first
    text = first.decode()
    sources = re.findall(r'(?:src|href)="([^"]+)"', text)
    assert all(source.startswith(("data:", "#")) for source in sources)
    assert sum(source.startswith("data:image") for source in sources) >= 6
    assert {path.name for path in (tmp_path / "build" / "tables").iterdir()} >= {"win_rates.csv", "odds_standard.csv"}
    assert (tmp_path / "build" / "figures" / "stop_chart.pdf").stat().st_size > 1000
    assert not list((tmp_path / "build").rglob("*.partial"))


def study_file(tmp_path, text):
    path = tmp_path / "study.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "change, part",
    [
        (("games", "gammes"), "did you mean games?"),
        (('kind = "self"', 'kind = "selves"'), "did you mean self?"),
        (("seed = 1", ""), "lacks the key 'seed'"),
        (("seed = 1", "seed ="), "not TOML"),
        (("race:2", "rase:2"), "did you mean race?"),
    ],
)
def test_bad_studies_are_refused(change, part, tmp_path):
    with pytest.raises(InputError) as caught:
        load_study(study_file(tmp_path, STUDY.replace(*change)))
    assert part in str(caught.value)


def test_the_projects_study_loads():
    assert load_study(ROOT / "reports" / "studies" / "dice_fever.toml").games >= 1_000_000
