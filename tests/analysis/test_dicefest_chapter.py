"""The chapter on Dicefest: its estimates against plain counts from raw rows and replayed games, its checks, and its page."""

import pickle
import re
import shutil
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import report
from analysis.chapters import dicefest
from analysis.estimates import seat_shares, share_of_games
from analysis.report import write_report
from analysis.tallies import count_rows
from sims import simulate
from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.rulesets import RULESETS
from sims.rulesets.dicefest import rules
from sims.rulesets.dicefest.boards import DIE_NAMES, dice_of
from sims.simulate import set_table
from sims.study import load_study
from sims.trace import replay

PAGES = ("index.html", "dicefest.html", "dicefest_rules.html", "methods.html")
ROOT = Path(__file__).parents[2]
STUDY = ROOT / "reports" / "studies" / "dicefest.toml"
VARIANTS = {n: f"standard,first_player=first_seat,ply_limit={limit}" for n, limit in ((2, 60), (3, 200))}  # some are unfinished
SEED = 3
pytestmark = pytest.mark.skipif(INTERPRETED, reason="minutes in plain Python")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Results, raw rows and counts by number of players."""
    found = {}
    for seats, variant in VARIANTS.items():
        folder = tmp_path_factory.mktemp("rows")
        results = simulate("dicefest", ["racer"] * seats, 1_000, SEED, variant, rows=folder, progress=False)
        found[seats] = results, pd.read_parquet(folder), count_rows(folder, dicefest.BY)
    return found


def interval(values):
    """Mean and Student's interval of one value per game."""
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return np.mean(values), np.mean(values) - half, np.mean(values) + half


def shown(row):
    return row.estimate, row.low, row.high


# --- estimates --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3])
def test_how_games_end(seats, played):
    results, rows, _ = played[seats]
    found = {end: share_of_games(results, end).iloc[0] for end in dicefest.ENDS}
    assert sum(row.estimate for row in found.values()) == pytest.approx(1)
    assert min(found["mini_ends"].estimate, found["truncated"].estimate) > 0.05
    for end, row in found.items():
        values = rows[rows.seat == 0][end]
        assert row.n == len(values) == 1_000
        if values.any():
            assert shown(row) == pytest.approx((values.mean(), max(interval(values)[1], 0), interval(values)[2]))
        else:
            assert (row.estimate, row.low, row.method) == (0, 0, "wilson")
            assert row.high > 0


@pytest.mark.parametrize("seats", [2, 3])
def test_seat_shares_are_of_finished_games(seats, played):
    results, rows, _ = played[seats]
    found = seat_shares(results).set_index("seat")
    for seat, each in rows.groupby("seat"):
        finished = 1 - each.truncated
        ratio = each.payoff.sum() / finished.sum()
        stderr = (each.payoff - ratio * finished).std(ddof=1) / finished.mean() / len(each) ** 0.5
        row = found.loc[seat]
        assert (row.estimate, row.stderr) == pytest.approx((seats * ratio, seats * stderr))
        assert ratio == pytest.approx(each.payoff[each.truncated == 0].mean())
    assert found.estimate.sum() == pytest.approx(seats)


def test_median_of_turns(played):
    results, rows, _ = played[3]
    turns = np.sort(rows.groupby("deal").turns.sum())
    row = dicefest._median_turns(results).iloc[0]
    assert (row.n, row.estimate) == (1_000, turns[500])
    low, high = stats.binom.interval(0.95, 1_000, 0.5)
    assert (row.low, row.high) == (turns[int(low) - 1], turns[int(high)])


def test_tokens_and_dice_are_those_of_the_games(played):
    """Rows against what is seen on the table when the second and the third die are locked, and against the end."""
    _, rows, _ = played[2]
    table, game = set_table("dicefest", ["racer"] * 2, VARIANTS[2]), RULESETS["dicefest"]
    ways = shortest_ways()
    for deal in range(40):
        state, left = game.new_state(2, VARIANTS[2]), {}
        for code in replay(table, SEED, deal, 0).codes:
            before = state.score.copy()
            game.advance(state, code)
            if state.turns.sum() <= 1 and state.started.any() and "cost" not in left:
                left["cost"] = sum(ways[tuple(map(int, die.partition("@")[0].split("/")))] for die in dice_of(state, 0))
            for n in (2, 3):
                if before[0] < n <= state.score[0]:
                    left[n] = int(state.reserve[0])
        row = rows[(rows.deal == deal) & (rows.seat == 0)].iloc[0]
        assert (row.left_at_two, row.left_at_three) == (left.get(2, 0), left.get(3, 0))
        assert row.start_cost == left["cost"]
        assert (row.total_ends, row.mini_ends, row.truncated) == (
            state.end == rules.TOTAL,
            state.end == rules.MINI,
            state.end == 0,
        )


def shortest_ways():
    """Fewest tokens that lock a die of South in four actions from its start, by its faces: all ways are tried."""
    moves = {"N": (1, 0), "E": (0, 1), "S": (-1, 0), "W": (0, -1)}
    turns = ["TWNESB", "TESWNB", "STEBWN", "NBETWS", "WNTSBE", "ENBSTW"]

    def cheapest(faces, row, column, actions):
        die = dict(zip("TNESWB", faces, strict=True))
        if (row, column) == (7, die["T"]):
            return 0
        if actions == 0:
            return 99
        found = [die["T"] + cheapest([die[face] for face in turn], row, column, actions - 1) for turn in turns]
        for name, (up, right) in moves.items():
            r, c = row + up * die[name], column + right * die[name]
            if 0 <= r <= 7 and 0 <= c <= 7 and {r, c} - {0, 7}:
                found.append(cheapest(faces, r, c, actions - 1))
        return min(found)

    dice = [tuple(map(int, name.split("/"))) for name in DIE_NAMES[:24]]  # of the right hand
    return {die: cheapest(list(die), 0, 7 - die[0], 4) for die in dice}


def test_first_dice_are_priced_by_value_and_facing(played):
    _, _rows, counts = played[2]
    starts = dicefest._starts()
    ways = pd.Series(shortest_ways())
    by_value = ways.groupby([die[0] for die in ways.index])
    assert starts.fewest.tolist() == by_value.min().tolist()
    assert starts.most.tolist() == by_value.max().tolist()
    assert set(starts.actions) == {4}
    assert set(counts.triple) <= {100 * c + 10 * b + a for a, b, c in combinations(range(1, 7), 3)}
    priced = dicefest._with_prices(counts)
    assert (priced.by_value + priced.by_facing == priced.start_cost).all()
    assert (priced.by_facing >= 0).all()


def test_the_price_of_dice_against_the_likelihood_of_single_games(played):
    _, rows, counts = played[2]
    table = dicefest._price_odds(dicefest._with_prices(counts[counts.seat == 0])).set_index("price")
    games = dicefest._with_prices(rows[rows.seat == 0].assign(n=1))

    def loss(value, facing):
        x = games.by_value * np.log(value) + games.by_facing * np.log(facing)
        return min(np.sum(np.logaddexp(0, x + c) - games.payoff * (x + c)) for c in np.linspace(-3, 3, 601))

    best = loss(table.estimate.by_value, table.estimate.by_facing)
    for name in ("by_value", "by_facing"):
        for factor in (0.97, 1.03):
            moved = table.estimate.copy()
            moved[name] *= factor
            assert loss(moved.by_value, moved.by_facing) > best - 0.01
        assert table.low[name] < table.estimate[name] < table.high[name]


def test_classes_of_tokens(played):
    _, rows, counts = played[2]
    two = rows[(rows.seat == 0) & (rows.score >= 2)]
    for row in dicefest._in_classes(counts[(counts.seat == 0) & (counts.score >= 2)], "left_at_two", dicefest.HELD):
        low, high = dicefest.HELD[row["class"]]
        values = two.payoff[two.left_at_two.between(low, high)]
        assert (row["n"], row["estimate"]) == (len(values), pytest.approx(values.mean()))


# --- the study --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, part",
    [
        (('ruleset = "dicefest"', 'ruleset = "pig"'), "pig"),
        (('name = "thrift"', 'name = "greed"'), "'thrift' of kind 'against'; the study has none"),
        (('"thrifty:0.1,lock=3"', '"blocker"'), "'lock' takes policies with lock, not 'blocker'"),
        (('"blocker:0.5,tokens=0.1"', '"racer"'), "'block' takes policies with block, not 'racer'"),
        (('opponents = ["thrifty:0.25"]', 'opponents = ["thrifty:0.25", "racer"]'), "takes 1 opponents, not thrifty:0.25, racer"),
        (('variants = ["standard,first_player=first_seat"]', 'variants = ["standard"]'), "first_seat, not 'standard'"),
        (('"standard,collect=landing"]', "]"), "'skill' takes 3 variants"),
    ],
)
def test_studies_that_will_not_do_are_refused(change, part, tmp_path):
    text = STUDY.read_text()
    assert change[0] in text
    if change[0].startswith("ruleset"):
        text = 'ruleset = "dicefest"\ngames = 1\nseed = 1\n[[groups]]\nname = "lock"\nkind = "self"\npolicies = ["hold_at:20"]'
    (tmp_path / "study.toml").write_text(text.replace(*change))
    with pytest.raises(InputError) as caught:
        dicefest.check(load_study(tmp_path / "study.toml"))
    assert part in str(caught.value)


def test_mirrors_and_readings_go_together(tmp_path):
    text = STUDY.read_text()
    seats = text.replace(
        'policies = ["lookahead:2", "racer", "uniform"]\nseats = [2, 3, 4]', 'policies = ["racer"]\nseats = [2, 3]'
    )
    last = text.rindex('    "standard,first_player=first_seat,hand=left",\n')
    for changed, part in ((seats, "takes seats [2, 3, 4]"), (text[:last] + "]\n", "take the same variants")):
        (tmp_path / "study.toml").write_text(changed)
        with pytest.raises(InputError, match=re.escape(part)):
            dicefest.check(load_study(tmp_path / "study.toml"))


# --- the page ---------------------------------------------------------------------------------------------------------------


def small(text):
    """The same study with as few games, players, policies and readings as may be."""
    text = re.sub(r"games = [\d_]+", "games = 24", text).replace("[2, 3, 4]", "[2, 3]")
    text = text.replace('"lookahead:2", "racer", "uniform"', '"racer"').replace('"uniform", "racer", "lookahead:2"', '"racer"')
    return re.sub(r'    "standard,first_player=first_seat,(?!collect).*\n', "", text)


@pytest.mark.slow
def test_the_page_is_byte_stable_and_says_what_the_tables_say(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "CHAPTERS", {"dicefest": dicefest})
    monkeypatch.setattr(report, "_pdf", lambda figure: b"")
    monkeypatch.setattr(dicefest, "COUNTED", {"thrifty:0.1": 400, "lookahead:1": 100})
    monkeypatch.setattr(dicefest, "ENOUGH", 5)
    shutil.copytree(ROOT / "reports" / "templates", tmp_path / "templates")
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "dicefest.toml").write_text(small(STUDY.read_text()))
    first = write_report(tmp_path, n_jobs=1).with_name("dicefest.html").read_bytes()
    shutil.rmtree(tmp_path / "build" / "results")
    assert write_report(tmp_path, n_jobs=1).with_name("dicefest.html").read_bytes() == first
    text, tables = first.decode(), tmp_path / "build" / "tables" / "dicefest"
    links = re.findall(r'(?:src|href)="([^"]+)"', text)
    assert all(link.startswith(("data:image/svg+xml;base64,", "#")) or link.partition("#")[0] in PAGES for link in links)
    assert {link[1:] for link in links if link.startswith("#")} <= set(re.findall(r'id="([^"]+)"', text))
    assert not re.search(r"\b(nan|None|NA)\b", re.sub(r'"data:[^"]*"', "", text))
    drawn = {"boards", "start", "lock", "held", "thrift", "triples", "placement", "block", "length"}
    assert {path.stem for path in (tmp_path / "build" / "figures" / "dicefest").iterdir()} == drawn
    lock = pd.read_csv(tables / "lock.csv")
    assert f"{(lock.band_high < 1).sum()} win less than a fair share" in text
    assert f"{lock.estimate.min():.2f} to {lock.estimate.max():.2f} fair shares" in text
    assert pd.read_csv(tables / "starts.csv").fewest.tolist() == [3, 3, 4, 5, 6, 8]
    assert all("seed" in pd.read_csv(path) for path in tables.iterdir() if path.stem != "starts")


def test_a_part_can_be_sent_to_another_process():
    drawn, tables, words = dicefest._boards(SEED)
    titles = [ax.get_title(loc="left") or ax.get_title() for ax in pickle.loads(pickle.dumps(drawn["boards"])).axes]
    assert titles[0].startswith("before the first turn\nred 0 tokens, blue 0")
    assert (tables, words) == ({}, {})
