"""The chapter on Diceplomacy: its estimates against plain counts from raw rows and transcripts, its checks, and its page."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import report
from analysis.chapters import diceplomacy
from analysis.estimates import fair_shares, per_game, per_seat, seat_advantage, seat_gap, share_of
from analysis.report import write_report
from sims import simulate
from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.rulesets import RULESETS
from sims.rulesets.diceplomacy import rules
from sims.simulate import set_table
from sims.study import load_study
from sims.trace import replay

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "reports" / "studies" / "diceplomacy.toml"
TABLES = {  # the sizes and policies of tables, and games played
    "self": (["threshold:0.6"] * 5, 300),
    "against": (["threshold:0.3", *["kingmaker:0.6"] * 3], 400),
}
pytestmark = pytest.mark.skipif(INTERPRETED, reason="minutes in plain Python")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Results and raw rows of each table."""
    found = {}
    for name, (specs, games) in TABLES.items():
        folder = tmp_path_factory.mktemp(name)
        variant = "standard,first_player=first_seat"
        results = simulate("diceplomacy", specs, games, 3, variant=variant, rows=folder, progress=False)
        found[name] = results, pd.read_parquet(folder)
    return found


def interval(values):
    """Mean and Student's interval of one value per deal."""
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return np.mean(values), np.mean(values) - half, np.mean(values) + half


def shown(row):
    return row.estimate, row.low, row.high


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("measure", diceplomacy.ENDS)
def test_per_game(name, measure, played):
    results, rows = played[name]
    games = rows.groupby(["deal", "rotation"])[measure].sum().groupby("deal").mean()
    row = per_game(results, measure).iloc[0]
    assert row.n == len(games)
    if games.any():
        mean, low, high = interval(games)
        assert shown(row) == pytest.approx((mean, max(low, 0), high))
    else:
        assert (row.estimate, row.low, row.method) == (0, 0, "wilson")


def test_per_seat(played):
    results, rows = played["against"]
    for policy, each in rows.groupby("policy"):
        row = per_seat(results, "attacked").set_index("policy").loc[policy]
        assert shown(row) == pytest.approx(interval(each.groupby("deal").attacked.mean()))


@pytest.mark.parametrize("name", TABLES)
def test_share_of_lost_battles(name, played):
    results, rows = played[name]
    deals = rows.groupby("deal")[["hit_next", "losses"]].sum()
    ratio = deals.hit_next.sum() / deals.losses.sum()
    stderr = (deals.hit_next - ratio * deals.losses).std(ddof=1) / deals.losses.mean() / len(deals) ** 0.5
    row = share_of(results, "hit_next", "spared", "losses").iloc[0]
    assert (row.estimate, row.stderr, row.n) == pytest.approx((ratio, stderr, len(deals)))
    assert row.low < ratio < row.high


def test_fair_shares(played):
    results, rows = played["against"]
    shares = 4 * rows[rows.policy == "threshold:0.3"].groupby("deal").payoff.mean()
    row = fair_shares(results).iloc[0]
    assert (row.policy, row.seats, row.n) == ("threshold:0.3", 4, len(shares))
    assert shown(row) == pytest.approx(interval(shares))
    copies = fair_shares(played["self"][0])
    assert copies.estimate.tolist() == pytest.approx([1])


def test_seat_gap(played):
    results, rows = played["self"]
    wins = 5 * rows.groupby("seat").payoff.mean()
    row = seat_gap(results).iloc[0]
    assert row.estimate == pytest.approx(wins.max() - wins.min())
    places = seat_advantage(results, 1 - 0.05 / 5).set_index("seat")
    best, worst = places.loc[wins.idxmax()], places.loc[wins.idxmin()]
    assert row.high == pytest.approx(5 * (best.high - worst.low))
    assert row.low == pytest.approx(max(0, 5 * (best.low - worst.high)))


def test_seat_gap_covers_equal_seats():
    """Where the first player is drawn all places are equal: the interval must reach 0."""
    results = [simulate("diceplomacy", ["threshold:0.6"] * 4, 400, seed, progress=False) for seed in range(40)]
    assert sum(seat_gap(each).low.iloc[0] == 0 for each in results) >= 36


def wars(state, codes):
    """What happens in a game, in order: who is attacked in a war, who loses a battle, and who is out."""
    for code in codes:
        n_wars, defeats, surrenders = state.wars.sum(), state.defeats.copy(), state.surrenders.copy()
        RULESETS["diceplomacy"].advance(state, code)
        if state.wars.sum() > n_wars:
            yield "war", {int(state.target), int(state.ally[state.target])}
        yield "battle", set(np.flatnonzero((state.defeats > defeats) & (state.surrenders == surrenders)).tolist())
        yield "out", set(np.flatnonzero(state.eliminated).tolist())


def test_hits_are_those_of_the_transcripts(played):
    _, rows = played["self"]
    specs, _ = TABLES["self"]
    variant = "standard,first_player=first_seat"
    table = set_table("diceplomacy", specs, variant)
    for deal in range(60):
        beaten, hit, losses = set(), 0, 0
        state = RULESETS["diceplomacy"].new_state(5, variant)
        for what, seats in wars(state, replay(table, 3, deal, 0).codes):
            if what == "war":
                losses, hit, beaten = losses + len(beaten), hit + len(beaten & seats), set()
            else:
                beaten = beaten | seats if what == "battle" else beaten - seats
        counted = rows[rows.deal == deal][["losses", "hit_next", "pair_ends", "trio_ends", "draws"]].sum()
        arrived = int((state.score == rules.VICTORIES).sum())
        assert counted.tolist() == [losses, hit, arrived == 2, arrived > 2, state.winner.sum() > 1]


# --- the study ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, part",
    [
        (('ruleset = "diceplomacy"', 'ruleset = "pig"'), "pig"),
        (('name = "help"', 'name = "aid"'), "'help' of kind 'against'; the study has none"),
        (('"threshold:0.3", "threshold:0.5"', '"threshold:0.3", "cautious:5"'), "not 'cautious:5'"),
        (('["standard", "standard,max_helping_parties=0"]', '["standard"]'), "'alliance' takes 2 variants, not standard"),
        (
            ('variants = ["standard,first_player=first_seat"]', 'variants = ["standard"]'),
            "first_player=first_seat, not 'standard'",
        ),
    ],
)
def test_studies_that_will_not_do_are_refused(change, part, tmp_path):
    text = STUDY.read_text()
    assert change[0] in text
    (tmp_path / "study.toml").write_text(text.replace(*change))
    with pytest.raises(InputError) as caught:
        diceplomacy.check(load_study(tmp_path / "study.toml"))
    assert part in str(caught.value)


def test_both_groups_of_assumptions_take_the_same_readings(tmp_path):
    text = STUDY.read_text()
    last = text.rindex('    "standard,first_player=first_seat,show_to_ally=true",\n')
    (tmp_path / "study.toml").write_text(text[:last] + "]\n")
    with pytest.raises(InputError, match="'assumed' and 'assumed_best' take the same variants"):
        diceplomacy.check(load_study(tmp_path / "study.toml"))


# --- the page -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_page_is_byte_stable_and_says_what_the_tables_say(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "CHAPTERS", {"diceplomacy": diceplomacy})
    shutil.copytree(ROOT / "reports" / "templates", tmp_path / "templates")
    (tmp_path / "studies").mkdir()
    study = STUDY.read_text().replace("[4, 5, 6, 7, 8]", "[4, 5]").replace("[4, 6, 8]", "[4, 5]")
    (tmp_path / "studies" / "diceplomacy.toml").write_text(study)
    first = write_report(tmp_path, games=40, n_jobs=1).with_name("diceplomacy.html").read_bytes()
    shutil.rmtree(tmp_path / "build")
    assert write_report(tmp_path, games=40, n_jobs=2).with_name("diceplomacy.html").read_bytes() == first
    text, tables = first.decode(), tmp_path / "build" / "tables" / "diceplomacy"
    assert not re.search(r"\b(nan|None|NA)\b", re.sub(r'"data:[^"]*"', "", text))
    alliance = pd.read_csv(tables / "alliance.csv")
    least = alliance[(alliance.others == "threshold:0.6") & (alliance.reading == diceplomacy.USUAL)].estimate
    assert f"the one without allies wins {least.min():.2f} to {least.max():.2f} fair shares" in text
    odds = pd.read_csv(tables / "battle_odds.csv")
    assert odds[odds.die == 0].wins.tolist() == [15, 20, 181, 575, 1182]
    assert {path.suffix for path in (tmp_path / "build" / "figures" / "diceplomacy").iterdir()} == {".svg", ".pdf"}


def test_the_lowest_die_to_attack_with():
    duels = pd.DataFrame({"die": range(1, 7), "chance": [(die - 1) / 6 for die in range(1, 7)]})
    assert [diceplomacy._lowest_die(duels, attack) for attack in (0, 0.1, 0.5, 0.6, 0.9)] == [1, 2, 4, 5, None]
