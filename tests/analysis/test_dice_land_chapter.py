"""The chapter of Dice Land: its numbers against raw rows counted plainly, what it refuses, and the same page again."""

import re
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import report
from analysis.chapters import dice_land
from analysis.report import write_report
from analysis.tallies import count_rows
from sims import simulate
from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.rulesets import RULESETS
from sims.rulesets.dice_land.odds import attack_table
from sims.study import load_study

PAGES = ("index.html", "dice_land.html", "dice_land_rules.html", "methods.html")
REPORTS = Path(__file__).parents[2] / "reports"
FREE = "attack_mandatory=false"
STUDY = f"""
ruleset = "dice-land"
games = 200
seed = 1
[[groups]]
name = "left"
kind = "against"
policies = ["greedy:3,left=low"]
opponents = ["greedy:3,left=high"]
variants = ["standard", "published"]
[[groups]]
name = "placements"
kind = "against"
policies = ["greedy:3,left=low", "greedy:3,placement=cluster,left=high"]
opponents = ["greedy:3"]
variants = ["standard", "published"]
[[groups]]
name = "sizes"
kind = "against"
policies = ["greedy:3"]
opponents = ["uniform"]
variants = ["standard,hexes=8", "standard,hexes=12", "published,hexes=8", "published,hexes=12"]
[[groups]]
name = "duty"
kind = "against"
policies = ["greedy:3"]
opponents = ["dutiful:3"]
variants = ["standard,{FREE}", "published,{FREE}"]
[[groups]]
name = "standoff"
kind = "self"
policies = ["greedy:3"]
variants = ["standard,{FREE},ply_limit=200"]
"""


def study_of(folder, text=STUDY):
    path = folder / "dice_land.toml"
    path.write_text(text)
    return load_study(path)


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Raw rows of one variant, a game a line with the columns of both seats; and the chapter's counts of the same."""
    folder = tmp_path_factory.mktemp("rows")
    n = 30 if INTERPRETED else 2_000
    results = simulate("dice-land", ["greedy:3"] * 2, n, 4, rows=folder, progress=False)
    rows = pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])
    red, blue = (rows[rows.seat == seat].set_index("deal").add_suffix(f"_{seat}") for seat in (0, 1))
    return red.join(blue), results, count_rows(folder, dice_land.BY)


# --- numbers ----------------------------------------------------------------------------------------------------------------


def test_who_has_more_pips_game_by_game(games):
    played, _, counts = games
    won, thrown, n = 0.0, [], 0
    for game in played.itertuples():
        lead = game.placed_pips_0 - game.placed_pips_1
        n += lead != 0
        won += game.payoff_0 if lead > 0 else game.payoff_1 if lead < 0 else 0
        more = lead + game.left_pips_0 - game.left_pips_1
        thrown += [game.payoff_0 if more > 0 else game.payoff_1] if more else []
    row = dice_land._row(dice_land._ahead(counts))
    assert (row["n"], row["estimate"]) == (n, pytest.approx(won / n))
    assert dice_land._row(dice_land._threw_more(counts))["estimate"] == pytest.approx(np.mean(thrown))


def test_who_starts_and_how_games_end(games):
    played, results, counts = games
    starter = np.where(played.started_0 == 1, played.payoff_0, played.payoff_1)
    row = dice_land._row(counts[counts.started == 1])
    assert (row["n"], row["estimate"], row["stderr"]) == (
        len(played),
        pytest.approx(starter.mean()),
        pytest.approx(stats.sem(starter)),
    )
    measures = dice_land._measures(results, counts)
    assert measures["turns"]["estimate"] == pytest.approx((played.turns_0 + played.turns_1).mean())
    assert measures["draws"]["estimate"] == pytest.approx((played.payoff_0 == 0.5).mean())
    lead = played.placed_pips_0 - played.placed_pips_1
    behind = pd.concat([played.payoff_0[lead <= -dice_land.BEHIND], played.payoff_1[lead >= dice_land.BEHIND]])
    assert measures["far_behind"]["estimate"] == pytest.approx(behind.mean())
    assert measures["far_behind"]["n"] == len(behind)


@pytest.mark.skipif(INTERPRETED, reason="too few games for a curve")
def test_a_pip_multiplies_the_odds(games):
    """Against a search for the slope by the likelihood of single games."""
    played, _, counts = games
    lead = (played.placed_pips_0 - played.placed_pips_1).to_numpy()
    red = played.payoff_0.to_numpy()
    slopes = np.linspace(0, 0.6, 6001)
    share = 1 / (1 + np.exp(-np.outer(slopes, lead)))
    best = slopes[(red * np.log(share) + (1 - red) * np.log(1 - share)).sum(1).argmax()]
    odds = dice_land._per_pip(dice_land._ahead(counts))
    assert odds["estimate"] == pytest.approx(np.exp(best), abs=2e-4)
    assert odds["low"] < odds["estimate"] < odds["high"] < 1.1 * odds["low"]


@pytest.mark.skipif(INTERPRETED, reason="exact endgames take minutes in plain Python")
def test_a_1_that_must_attack_a_1():
    """A roll of 1 removes it, any other the attacker; who may wait keeps the draw."""
    row = dice_land._endgames().set_index("dice").loc["R1 B1 . . . . . ."]
    assert (row.must, row.may) == (pytest.approx(1 / 6), pytest.approx(1 / 2))


def test_the_boards_are_those_of_the_transcript():
    figure = dice_land._boards(seed=3)[0]["boards"]
    last = simulate("dice-land", [dice_land.PLAYER] * 2, 1, 3, progress=False)
    turns = int(last[(last.measure == "turns") & last.policy.isna() & last.seat.isna()].total.iloc[0])
    titles = [ax.get_title() or ax.get_title(loc="left") for ax in figure.axes]
    assert titles[0].startswith("the map is full\nred 8 dice, ")
    assert titles[2].startswith(f"the end, after {turns} turns")


# --- studies ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, part",
    [
        (('"sizes"', '"size"'), "needs a group 'sizes' of kind 'against'; the study has none"),
        (
            ('opponents = ["uniform"]', 'opponents = ["uniform", "massing:3"]'),
            "'sizes' takes one of opponents, not uniform, massing:3",
        ),
        (('"greedy:3,placement=cluster,left=high"', '"optimistic.py:it"'), "optimistic"),
        ((f'"published,{FREE}"', '"published"'), "'duty' takes variants with attack_mandatory=false, not 'published'"),
        (('kind = "self"', 'kind = "pairs"'), "'standoff' of kind 'self'; the study has one of kind 'pairs'"),
    ],
)
def test_studies_that_would_not_do_are_refused(change, part, tmp_path):
    assert change[0] in STUDY
    with pytest.raises(InputError) as caught:
        dice_land.check(study_of(tmp_path, STUDY.replace(*change)))
    assert part in str(caught.value)


def test_another_game_is_refused(tmp_path):
    text = 'ruleset = "pig"\ngames = 1\nseed = 1\n[[groups]]\nname = "sizes"\nkind = "self"\npolicies = ["hold_at:20"]'
    with pytest.raises(InputError, match="unknown ruleset of the report: 'pig'"):
        dice_land.check(study_of(tmp_path, text))


# --- the page ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(INTERPRETED, reason="a minute per matchup in plain Python")
def test_the_page_is_self_contained_and_byte_stable(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "CHAPTERS", {"dice_land": dice_land})
    monkeypatch.setattr(dice_land, "COUNTED", 400)
    monkeypatch.setattr(dice_land, "ENOUGH", 5)
    once = cache(lambda variant: attack_table(RULESETS["dice-land"], variant))
    monkeypatch.setattr(dice_land, "attack_table", lambda ruleset, variant: once(variant))
    monkeypatch.setattr(report, "_pdf", lambda figure: b"")
    readings = {name: dice_land.READINGS[name] for name in ("standard", "published", "round map")}
    monkeypatch.setattr(dice_land, "READINGS", readings)
    shutil.copytree(REPORTS / "templates", tmp_path / "templates")
    (tmp_path / "studies").mkdir()
    study_of(tmp_path / "studies")
    first = write_report(tmp_path, n_jobs=1).with_name("dice_land.html").read_bytes()
    shutil.rmtree(tmp_path / "build" / "results")
    assert write_report(tmp_path, n_jobs=1).with_name("dice_land.html").read_bytes() == first
    links = re.findall(r'(?:src|href)="([^"]+)"', first.decode())
    assert all(link.startswith(("data:image/svg+xml;base64,", "#")) or link.partition("#")[0] in PAGES for link in links)
    anchors = {link[1:] for link in links if link.startswith("#")}
    assert anchors <= set(re.findall(r'id="([^"]+)"', first.decode()))
    drawn = {"boards", "lead", "placements", "sizes", "length", "odds", "readings"}
    assert {path.stem for path in (tmp_path / "build" / "figures" / "dice_land").iterdir()} == drawn
    tables = tmp_path / "build" / "tables" / "dice_land"
    lead = pd.read_csv(tables / "by_lead.csv")
    assert (lead.lead > 0).all()
    assert set(lead.variant) == {"standard", "published"}
    named = set(re.findall(r"(\w+)\.csv", first.decode()))
    assert named <= {path.stem for path in tables.iterdir()}
