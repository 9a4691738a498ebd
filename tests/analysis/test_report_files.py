"""The report's files: the same bytes from another process, whole or not at all, and nothing fetched from elsewhere."""

import base64
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import html5lib
import matplotlib.pyplot as plt
import pytest

from analysis import figures, report
from analysis.chapters import dice_fever
from sims.jit import INTERPRETED
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever.odds import Turn, points_rule

REPORTS = Path(__file__).parents[2] / "reports"
STUDY = """
ruleset = "dice-fever"
games = 40
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
MAKE = """
import sys
from pathlib import Path
from analysis import report
from analysis.chapters import dice_fever
report.CHAPTERS = {"dice_fever": dice_fever}
dice_fever.TURNS_PER_POSITION = 100
dice_fever.SOLVED = dice_fever.FEW_CARDS = "standard,target=30,parade_cards=1,risk_cards=1"
dice_fever.ASSUMPTIONS = {"Suite is worth 5": "suite_value=5"}
del dice_fever.RULESETS["dice-fever"].presets["even_faces"]
report.write_report(Path(sys.argv[1]), n_jobs=1)  # other processes would not know of these changes
"""
NAMESPACES = {  # what an SVG must name, and no browser fetches
    "http://creativecommons.org/ns#",
    "http://purl.org/dc/dcmitype/StillImage",
    "http://purl.org/dc/elements/1.1/",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://www.w3.org/1999/xlink",
    "http://www.w3.org/2000/svg",
    "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two reports, each made from nothing by a process of its own, at the same time."""
    if INTERPRETED:
        pytest.skip("a minute per matchup in plain Python")
    folders = [tmp_path_factory.mktemp("reports") for _ in range(2)]
    processes = []
    for i, folder in enumerate(folders):
        (folder / "studies").mkdir(parents=True)
        (folder / "studies" / "dice_fever.toml").write_text(STUDY)
        shutil.copytree(REPORTS / "templates", folder / "templates")
        environment = {**os.environ, "PYTHONHASHSEED": str(i), "TZ": ("UTC", "Asia/Tokyo")[i]}
        processes.append(subprocess.Popen([sys.executable, "-c", MAKE, str(folder)], env=environment))
    assert [process.wait() for process in processes] == [0, 0]
    return [folder / "build" for folder in folders]


def is_result(path):
    return path.is_file() and "_chapter" not in path.parts  # where chapters are remembered, with the time that they took


@pytest.mark.slow
def test_another_process_makes_the_same_bytes(made):
    first, second = ({path.relative_to(b): path.read_bytes() for path in sorted(b.rglob("*")) if is_result(path)} for b in made)
    assert list(first) == list(second)
    assert {path for path in first if first[path] != second[path]} == set()
    assert {str(path) for path in first} >= {
        "index.html",
        "dice_fever.html",
        "dice_fever_rules.html",
        "methods.html",
        "stop.html",
        "tables/dice_fever/win_rates.csv",
        "figures/dice_fever/stop_chart.pdf",
    }
    assert not any(path.suffix == ".partial" for path in first)


@pytest.mark.slow
def test_nothing_is_fetched_from_elsewhere(made):
    texts = {path.name: path.read_text() for path in made[0].glob("*.html") if path.name != "stop.html"}  # that: test_stop_page
    images = []
    for page in texts.values():
        links = re.findall(r"""(?:src|href|srcset|action|data|poster)\s*=\s*["']?([^"'\s>]+)""", page)
        for link in links:
            name, _, anchor = link.partition("#")
            if link.startswith("data:"):
                images.append(link.removeprefix("data:image/svg+xml;base64,"))
            elif name in texts:
                assert not anchor or f'id="{anchor}"' in texts[name], link
            else:
                assert not anchor or f'id="{anchor}"' in page, link
                assert not name or (made[0] / name).is_file(), link
        assert not re.search(r"<script|<link|<iframe|@import|url\(", page)
        assert re.findall(r"(?:https?:)?//[\w.]+", re.sub(r'"data:[^"]*"', "", page)) == []
    assert len(images) >= 6
    for image in images:
        text = base64.b64decode(image).decode()
        assert set(re.findall(r"""https?://[^"'\s<>]+""", text)) <= NAMESPACES
        assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", text))
        for element in ElementTree.fromstring(text).iter():
            assert element.tag.rpartition("}")[2] not in ("script", "foreignObject")
            for name, value in element.attrib.items():
                assert not name.endswith("href") or value.startswith(("#", "data:"))


@pytest.mark.slow
def test_pages_are_valid_titled_and_say_what_figures_show(made):
    for path in made[0].glob("*.html"):
        page = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(
            path.read_text()
        )  # raises for what is not valid
        assert page.get("lang") == "en"
        assert page.find("head/title").text.strip()
        assert len(page.findall(".//h1")) == 1, path.name
        for image in page.iter("img"):
            assert len(image.get("alt")) > 20, path.name
        ids = [element.get("id") for element in page.iter() if element.get("id")]
        assert len(ids) == len(set(ids)), path.name


@pytest.mark.parametrize("step", ["write", "replace"])
def test_a_failure_midway_leaves_the_earlier_file_whole(tmp_path, monkeypatch, step):
    path = tmp_path / "page.html"
    report._write(path, b"earlier")

    def half(self, data):
        with self.open("wb") as file:
            file.write(data[:3])
        raise OSError("no space left")

    def refuse(source, target):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", half) if step == "write" else patch.setattr(os, "replace", refuse)
        with pytest.raises((OSError, KeyboardInterrupt)):
            report._write(path, b"later and longer")
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
    assert path.read_bytes() == b"earlier"
    report._write(path, b"later")
    assert path.read_bytes() == b"later"


def test_the_chart_of_the_readme_is_the_reports():
    """If this fails: make report, then copy reports/build/figures/dice_fever/stop_chart.svg to reports/."""
    odds = Turn(RULESETS["dice-fever"]).table()
    with plt.rc_context(figures.STYLE):
        chart = figures.plot_stop_chart(dice_fever._without_shield(odds), dice_fever._sentence(points_rule(odds)[0]))
        image = report._svg(chart)
        plt.close(chart)
    assert image.encode() == (REPORTS / "stop_chart.svg").read_bytes()
