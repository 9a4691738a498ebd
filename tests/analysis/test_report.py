"""The report: self-contained, the same bytes again, nothing played twice."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import pandas as pd
import pytest

import sims.study
from analysis import report
from analysis.chapters import CHAPTERS, dice_fever
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
[[groups]]
name = "many"
kind = "against"
policies = ["rule_1", "rule_3"]
opponents = ["race:2"]
seats = [3, 4]
games = 12
"""


GAMES = {
    "dice_fever": 1_000_000,
    "dice_forge": 4_000,
}  # what its notebook promises; elsewhere enough for intervals that say something


@pytest.mark.slow
def test_report_is_self_contained_and_byte_stable(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "CHAPTERS", {"dice_fever": dice_fever})
    monkeypatch.setattr(dice_fever, "TURNS_PER_POSITION", 200)
    for name in ("SOLVED", "FEW_CARDS"):
        monkeypatch.setattr(dice_fever, name, "standard,target=30,parade_cards=1,risk_cards=1")
    monkeypatch.setattr(dice_fever, "ASSUMPTIONS", {"Suite is worth 5": "suite_value=5"})
    shutil.copytree(ROOT / "reports" / "templates", tmp_path / "templates")
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "dice_fever.toml").write_text(STUDY)
    page = write_report(tmp_path, n_jobs=1)
    first = page.read_bytes()
    for module, name in ((sims.study, "simulate"), (dice_fever, "content")):  # would fail if anything were played or drawn again
        monkeypatch.setattr(module, name, None)
    chapter = (tmp_path / "build" / "dice_fever.html").read_text()
    page.unlink()
    assert write_report(tmp_path, n_jobs=1).read_bytes() == first
    assert (tmp_path / "build" / "dice_fever.html").read_text() == chapter
    assert chapter.count('src="data:image') >= 6
    assert first.decode().count('src="data:image') == 1
    assert b'id="verdict"' in (tmp_path / "build" / "stop.html").read_bytes()
    assert {path.name for path in (tmp_path / "build" / "tables" / "dice_fever").iterdir()} >= {
        "win_rates.csv",
        "odds_standard.csv",
    }
    assert (tmp_path / "build" / "figures" / "dice_fever" / "stop_chart.pdf").stat().st_size > 1000
    assert not list((tmp_path / "build").rglob("*.partial"))


def test_chapters_have_pages_and_folders_of_their_own(tmp_path, monkeypatch):
    (tmp_path / "studies").mkdir()
    shutil.copytree(ROOT / "reports" / "templates", tmp_path / "templates")
    for name in ("one", "two"):
        (tmp_path / "studies" / f"{name}.toml").write_text(STUDY)
        text = (
            '{% from "macros.html.j2" import figure with context %}<h1>{{ title }} & {{ games }}</h1>{{ figure("a", "A<B") }}'
            "{% set answer %}<b>{{ games }} & more</b>{% endset %}{{ answer }}"
        )
        (tmp_path / "templates" / f"{name}.html.j2").write_text(text)

    def chapter(title):
        content = lambda study, results, games, seed: ({"a": plt.figure()}, {"t": results}, {"games": games})  # noqa: E731
        return SimpleNamespace(TITLE=title, check=lambda study: None, content=content)

    monkeypatch.setattr(report, "CHAPTERS", {"one": chapter("Who?"), "two": chapter("When?")})
    monkeypatch.setattr(report, "run_matchup", lambda *_: pd.DataFrame({"x": [1]}))
    front = tmp_path / "templates" / "index.html.j2"
    front.write_text("<h1>All</h1>{% for each in chapters %}{{ each.answer | safe }}{{ each.images.a[:5] }}{% endfor %}")
    front = write_report(tmp_path, games=7, n_jobs=1).read_text()
    assert front.count("<b>7 & more</b>data:") == 2
    for name, title in (("one", "Who?"), ("two", "When?")):
        page = (tmp_path / "build" / f"{name}.html").read_text()
        assert f"<h1>{title} & 7</h1>" in page
        assert page.count("A&lt;B") == 2
        assert "<b>7 & more</b>" in page
        assert all(f'href="{other}.html"' in page for other in ("index", "one", "two", "methods"))
        assert "<h1>Dice Fever</h1>" in (tmp_path / "build" / f"{name}_rules.html").read_text()
    made = {path.relative_to(tmp_path / "build") for path in (tmp_path / "build").rglob("*.*")}
    made = {str(path) for path in made if path.parts[0] != "results"}
    own = {path.format(name) for name in ("one", "two") for path in ("figures/{}/a.svg", "figures/{}/a.pdf", "tables/{}/t.csv")}
    pages = {f"{name}.html" for name in ("index", "one", "one_rules", "two", "two_rules", "methods")}
    assert made == {*pages, *own}


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


@pytest.mark.parametrize("name", CHAPTERS)
def test_the_projects_studies_will_do(name):
    study = load_study(ROOT / "reports" / "studies" / f"{name}.toml")
    CHAPTERS[name].check(study)
    assert study.games >= GAMES.get(name, 10_000)
