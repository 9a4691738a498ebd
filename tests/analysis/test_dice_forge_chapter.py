"""The chapter on Dice Forge: its estimates against plain counts from games replayed one by one, its checks, and its page."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import report
from analysis.chapters import dice_forge
from analysis.estimates import turns_per
from analysis.report import write_report
from sims import simulate
from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.rulesets.dice_forge import cards, faces
from sims.simulate import set_table
from sims.study import load_study
from sims.trace import replay

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "reports" / "studies" / "dice_forge.toml"
SEED, GAMES = 3, 150
pytestmark = pytest.mark.skipif(INTERPRETED, reason="minutes in plain Python")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Results, raw rows, and the last position of each game, found in another way than the chapter's."""
    folder = tmp_path_factory.mktemp("rows")
    results = simulate("dice-forge", ["planner"] * 2, GAMES, SEED, rows=folder, progress=False)
    table = set_table("dice-forge", ["planner"] * 2)
    return results, pd.read_parquet(folder), [replay(table, SEED, deal, 0).state for deal in range(GAMES)]


@pytest.fixture
def ends(monkeypatch):
    monkeypatch.setattr(dice_forge, "ENOUGH", 30)
    return dice_forge._ends("standard", 2, GAMES, SEED)


def interval(values):
    """Mean and Student's interval of one value per game."""
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return np.mean(values), np.mean(values) - half, np.mean(values) + half


def shown(row):
    return row.estimate, row.low, row.high


# --- estimates --------------------------------------------------------------------------------------------------------------


def test_turns_of_a_lead(played):
    results, rows, _ = played
    deals = rows.groupby("deal")[["turns", "leads"]].sum()
    assert set(deals.turns) == {20}
    ratio = deals.turns.sum() / deals.leads.sum()
    stderr = (deals.turns - ratio * deals.leads).std(ddof=1) / deals.leads.mean() / GAMES**0.5
    row = turns_per(results, "leads").iloc[0]
    assert (row.estimate, row.stderr, row.n) == pytest.approx((ratio, stderr, GAMES))
    assert row.low < ratio < row.high


def test_last_positions_are_those_of_the_rows(played, ends):
    _, rows, states = played
    rows = rows.sort_values(["deal", "seat"])
    assert ends.scores.ravel().tolist() == rows.score.tolist()
    assert ends.shares.ravel() == pytest.approx(rows.payoff.to_numpy())
    assert ends.cards.sum(axis=2).ravel().tolist() == rows.feats.tolist()
    assert ends.leads.tolist() == rows.groupby("deal").leads.sum().tolist()
    assert (ends.faces.sum(axis=2) == 12).all()
    assert ends.cards[7].tolist() == states[7].owned[:2].tolist()


@pytest.mark.parametrize("name", ["HYDRA", "CHEST", "ELDER"])
def test_what_winners_took_more_of(name, played, ends):
    _, _, states = played
    card, gaps, payoffs = cards.NAMES.index(name), [], []
    for state in states:
        wins, owned = state.winner[:2].tolist(), state.owned[:2, card].tolist()
        gaps.append(0 if wins == [1, 1] else owned[wins.index(1)] - owned[wins.index(0)])
        if owned[0] != owned[1]:
            payoffs.append(wins[int(np.argmax(owned))] / sum(wins))
    row = dice_forge._gaps(ends, ends.cards, cards.NAMES).set_index("name").loc[name]
    assert shown(row) == pytest.approx(interval(gaps))
    assert row.winner - row.loser == pytest.approx(row.estimate)
    more = dice_forge._shares_of_more(ends, ends.cards, cards.NAMES).set_index("name")
    assert shown(more.loc[name]) == pytest.approx(interval(payoffs))


def test_faces_of_winners(played, ends):
    _, _, states = played
    face = faces.NUMBER["S2"]
    gaps = [
        sum(
            (2 * win / state.winner[:2].sum() - 1) * (state.dice[seat] == face).sum() for seat, win in enumerate(state.winner[:2])
        )
        for state in states
    ]
    table = dice_forge._faces(ends)[1]["faces"].set_index("name")
    assert shown(table.loc["S2"]) == pytest.approx(interval(gaps))
    assert table.estimate.sum() == pytest.approx(0)  # all dice have twelve faces


def test_a_set_may_be_bought_by_winners_and_still_do_harm():
    kinds = [dice_forge.GAP, dice_forge.MAY]
    numbers = {"bought, harms": (1, 2, 0.3, 0.4), "left, helps": (-2, -1, 0.6, 0.7)}
    numbers |= {"unclear": (-1, 1, 0.3, 0.4), "agrees": (1, 2, 0.6, 0.7)}
    rows = [
        {"panel": "basic", "name": name, "kind": kind, "low": low, "high": high, "estimate": (low + high) / 2}
        for name, values in numbers.items()
        for kind, low, high in zip(kinds, values[::2], values[1::2], strict=True)
    ]
    assert [each["name"] for each in dice_forge._misled(pd.DataFrame(rows))] == ["bought, harms", "left, helps"]


def test_what_is_denied_is_seen_from_the_other_side(ends):
    denied = simulate("dice-forge", ["planner:without=HYDRA", "planner"], 400, SEED, progress=False)
    removed = pd.concat(
        simulate("dice-forge", ["planner", "gold_engine"], 100, SEED, variant, progress=False)
        for variant in ("standard", "standard,removed=HYDRA")
    )
    rows = dice_forge._feats_of(ends, denied, removed).set_index("kind")
    wins = denied[(denied.measure == "payoff") & denied.seat.isna() & (denied.policy == "planner:0.65")].iloc[0]
    assert rows.loc[dice_forge.MAY].estimate == pytest.approx(wins.total / wins.deals / wins.per_deal)
    assert rows.loc[dice_forge.MAY].low < rows.loc[dice_forge.MAY].estimate < rows.loc[dice_forge.MAY].high
    wins = removed[(removed.measure == "payoff") & removed.seat.isna() & (removed.policy == "planner:0.65")].set_index("variant")
    wins = wins.loc["standard,removed=HYDRA"]
    assert rows.loc[dice_forge.NOBODY].estimate == pytest.approx(wins.total / wins.deals / wins.per_deal)
    assert set(rows["name"]) == {"HYDRA"}


def test_from_which_round_on_something_holds():
    rows = pd.DataFrame({"x": [4, 1, 2, 3]})
    assert dice_forge._from_here(rows, rows.x != 2) == 3  # not from 1 on
    assert dice_forge._from_here(rows, rows.x > 0) == 1
    assert dice_forge._from_here(rows, rows.x < 4) is None


def test_answers_that_move_are_compared_within_the_same_sets():
    rows = [("usual rules", 1, 2), ("tie=bga", 3, 4), ("layout=alternate", 5, 6), ("layout=alternate, x3_boar=one", 5.5, 7)]
    rows = [{"answer": "points", "reading": reading, "low": low, "high": high} for reading, low, high in rows]
    assert dice_forge._moved(pd.DataFrame(rows)) == {"points": ["tie=bga"]}
    assert dice_forge._moved(pd.DataFrame([*rows[2:], {**rows[0], "low": 0}])) == {"points": []}


# --- the study --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, part",
    [
        (('name = "hunt"', 'name = "chase"'), "'hunt' of kind 'against'; the study has none"),
        (('"planner:until=3"', '"hunter"'), "'until' takes policies with until, not 'hunter'"),
        (('"planner:without=CHEST"]', '"greedy_feat"]'), "'worth' takes policies with without, not 'greedy_feat'"),
        (('variants = ["standard,layout=alternate"]', 'variants = ["standard", "published"]'), "takes 1 variants"),
    ],
)
def test_studies_that_will_not_do_are_refused(change, part, tmp_path):
    text = STUDY.read_text()
    assert change[0] in text
    (tmp_path / "study.toml").write_text(text.replace(*change))
    with pytest.raises(InputError) as caught:
        dice_forge.check(load_study(tmp_path / "study.toml"))
    assert part in str(caught.value)


def test_both_groups_of_readings_take_the_same(tmp_path):
    text = STUDY.read_text()
    last = text.rindex('    "standard,layout=alternate,triton_in_forge=true",\n')
    (tmp_path / "study.toml").write_text(text[:last] + "]\n")
    with pytest.raises(InputError, match="'readings' and 'readings_best' take the same variants"):
        dice_forge.check(load_study(tmp_path / "study.toml"))


def test_every_set_is_denied_and_removed():
    groups = {group.name: group for group in load_study(STUDY).groups}
    for basic, place in (("", 0), ("_alternate", -1)):
        sets = {stack.sets[place] for stack in cards.STACKS.values() if place == 0 or len(stack.sets) > 1}
        assert {spec.split("=")[1] for spec in groups[f"denied{basic}"].policies} == sets
        assert {variant.split("removed=")[1] for variant in groups[f"removed{basic}"].variants[1:]} == sets


# --- the page ---------------------------------------------------------------------------------------------------------------


def small(text):
    """The same study with as few games, sets, rounds and readings as may be."""
    text = re.sub(r"games = [\d_]+", "games = 24", text).replace("seats = [2, 3, 4]", "seats = [2, 3]")
    text = re.sub(r'    "planner:without=(?!HYDRA|SHIP|TYPHON|CHEST).*\n', "", text)
    text = re.sub(r'    "standard,(layout=alternate,)?removed=(?!HYDRA|SHIP|TYPHON|CHEST).*\n', "", text)
    return re.sub(r'    "standard,(?!removed|layout=alternate"|layout=alternate,removed|rounds).*\n', "", text)


@pytest.mark.slow
def test_the_page_is_byte_stable_and_says_what_the_tables_say(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "CHAPTERS", {"dice_forge": dice_forge})
    monkeypatch.setattr(report, "_pdf", lambda figure: b"")
    monkeypatch.setattr(dice_forge, "COUNTED", {2: 300, 3: 60})
    shutil.copytree(ROOT / "reports" / "templates", tmp_path / "templates")
    (tmp_path / "templates" / "index.html.j2").write_text("")  # a front page, if there is one, shows more than this chapter
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "dice_forge.toml").write_text(small(STUDY.read_text()))
    write_report(tmp_path, n_jobs=1)
    pages = {path: path.read_bytes() for path in (tmp_path / "build").glob("*.html")}
    shutil.rmtree(tmp_path / "build" / "results")
    write_report(tmp_path, n_jobs=1)
    assert all(path.read_bytes() == page for path, page in pages.items())
    text = next(page.decode() for page in pages.values() if b'id="dice_forge-switch"' in page)
    tables = tmp_path / "build" / "tables" / "dice_forge"
    anchors = {link[1:] for link in re.findall(r'href="(#[^"]+)"', text)}
    assert anchors <= set(re.findall(r'id="([^"]+)"', text))
    assert not re.search(r"\b(nan|None|NA)\b", re.sub(r'"data:[^"]*"', "", text))
    drawn = {"switch", "feats", "faces", "sources", "seats"}
    assert {path.stem for path in (tmp_path / "build" / "figures" / "dice_forge").iterdir()} == drawn
    assert set(re.findall(r"(\w+)\.csv", text)) <= {path.stem for path in tables.iterdir()}
    assert all("seed" in pd.read_csv(path) for path in tables.iterdir())
    until = pd.read_csv(tables / "until.csv").set_index(["x", "seats"]).estimate
    assert f"Who stops forging after round 2 wins {50 * until[2, 2]:.0f} % of the games" in text
    faces_of = pd.read_csv(tables / "faces.csv")
    assert f"{faces_of['name'].iloc[0]} ({faces_of.estimate.iloc[0]:+.2f})" in text
