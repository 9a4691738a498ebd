import functools
import importlib
import os
import random
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from sims import RULESETS, IllegalAction, InputError, policy, simulate, trace
from sims.jit import INTERPRETED
from sims.playouts import play_deals, play_game
from sims.results import COLUMNS, Matchup, Sums, rows_table
from sims.simulate import deal_shares, set_table
from sims.streams import draw

MODULE = importlib.import_module("sims.simulate")  # `sims.simulate` is the function
SMALL = 36 if INTERPRETED else 1_200
DEALS = 10 if INTERPRETED else 70
SPECS = {
    "pig": ["hold_at:20", "uniform", "keep_pace:21"],
    "dice-fever": ["hold_pot:15", "race:2,parade=asap,risk=behind", "uniform"],
}
compiled_only = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled with NUMBA_DISABLE_JIT=1")


def play(ruleset="pig", policies=("hold_at:20", "hold_at:25"), games=SMALL, **options):
    return simulate(ruleset, policies, games, **{"n_jobs": 1, "progress": False, **options})


def same(one, two):
    pd.testing.assert_frame_equal(one, two, check_exact=True)
    return True


def small_batches(monkeypatch, size=SMALL // 12):
    monkeypatch.setattr(MODULE, "BATCH", size)


def read_rows(folder):
    return pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))], ignore_index=True)


# --- the same results -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", SPECS)
def test_workers_and_batches_change_nothing(ruleset, monkeypatch):
    whole = play(ruleset, SPECS[ruleset], seed=7)
    assert whole.games.iloc[0] == SMALL
    for size, n_jobs in [(SMALL // 12, 1), (SMALL // 12, 2), (SMALL // 5 - 1, 3), (1, 2)]:
        small_batches(monkeypatch, size)
        assert same(whole, play(ruleset, SPECS[ruleset], seed=7, n_jobs=n_jobs))


@pytest.mark.parametrize("ruleset", SPECS)
def test_deal_shares_are_those_of_the_rows(ruleset, monkeypatch, tmp_path):
    small_batches(monkeypatch, SMALL // 12)
    variant = "standard,ply_limit=12" if ruleset == "pig" else "standard"
    play(ruleset, SPECS[ruleset], seed=7, variant=variant, rows=tmp_path)
    rows = read_rows(tmp_path)
    wanted = rows.pivot_table("payoff", "deal", "policy")[SPECS[ruleset]].to_numpy()
    stopped = rows[rows.seat == 0].groupby("deal").truncated.sum().to_numpy()
    table = set_table(ruleset, SPECS[ruleset], variant)
    for n_jobs in (1, 2):
        parts = [deal_shares(table, 7, 0, 5, n_jobs), deal_shares(table, 7, 5, len(wanted) - 5, n_jobs)]
        np.testing.assert_allclose(np.concatenate([part.shares for part in parts]), wanted, rtol=1e-12)
        assert (np.concatenate([part.truncated for part in parts]) == stopped).all()
    assert (ruleset == "pig") == stopped.any()


def test_deal_shares_of_a_policy_against_itself_are_fair():
    shares, _ = deal_shares(set_table("pig", ["hold_at:20"] * 3), 7, 0, 20, 1)
    np.testing.assert_allclose(shares, np.full((20, 1), 1 / 3))


def test_another_seed_or_game_gives_other_results():
    table = play(seed=7)
    for other in (play(seed=8), play(seed=7, games=SMALL + 2), play(seed=7, variant="standard,goal=99")):
        assert not table.total.equals(other.total)


@pytest.mark.parametrize("ruleset", SPECS)
def test_interpreted_changes_nothing(ruleset):
    games = 30
    for variant in RULESETS[ruleset].presets:
        table = play(ruleset, SPECS[ruleset], games, variant=variant, seed=5)
        assert same(table, play(ruleset, SPECS[ruleset], games, variant=variant, seed=5, interpreted=True))


DUMP = """
import sys
from sims import jit, simulate
assert jit.INTERPRETED
for ruleset, folder in (("pig", sys.argv[1]), ("dice-fever", sys.argv[2])):
    table = simulate(ruleset, {specs}[ruleset], games=60, seed=11, n_jobs=1, progress=False)
    table.to_parquet(folder)
"""


@compiled_only
def test_a_process_without_numba_gets_the_same_results(tmp_path):
    paths = [tmp_path / f"{ruleset}.parquet" for ruleset in SPECS]
    subprocess.run(
        [sys.executable, "-c", DUMP.format(specs=SPECS), *map(str, paths)],
        check=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    for (ruleset, specs), path in zip(SPECS.items(), paths, strict=True):
        assert same(play(ruleset, specs, 60, seed=11), pd.read_parquet(path))


def test_sums_are_the_same_in_any_order():
    table = MODULE.set_table("dice-fever", SPECS["dice-fever"])
    matchup = Matchup(table.ruleset, table.variant.name, tuple(p.spec for p in table.policies), 3)
    batches = [MODULE._play_batch(table, matchup, first, DEALS // 10, False).sums for first in range(0, DEALS, DEALS // 10)]
    whole = MODULE._play_batch(table, matchup, 0, DEALS, False).sums
    for seed in range(3):
        random.Random(seed).shuffle(batches)
        sums = Sums.zero(matchup)
        for batch in batches:
            sums += batch
        assert sums.deals == whole.deals == DEALS
        for name in ("total", "squares", "by_turns", "lengths"):
            np.testing.assert_array_equal(getattr(sums, name), getattr(whole, name))
    assert whole.total.any(axis=0).sum() > 5


# --- compiled once --------------------------------------------------------------------------------------------------------


@compiled_only
def test_another_pairing_compiles_no_loop():
    for ruleset, specs in SPECS.items():
        play(ruleset, specs[:2], 4)
        before = len(play_deals.signatures), len(play_game.signatures)
        play(ruleset, specs[::-1], 6)
        play(ruleset, specs[:1] * 2, 6, variant="standard,ply_limit=9")
        play(ruleset, [RULESETS[ruleset].named_policies[-1], lambda view, actions, n, params, rng: actions[0]], 6)
        assert (len(play_deals.signatures), len(play_game.signatures)) == before


SECOND = """
from sims import simulate
from sims.playouts import play_deals
for ruleset, specs in {specs}.items():
    simulate(ruleset, specs[::-1], games=6, n_jobs=1, progress=False)
assert len(play_deals.stats.cache_hits) == {n}, play_deals.stats
assert not play_deals.stats.cache_misses, play_deals.stats
"""


@compiled_only
def test_second_process_compiles_no_loop():
    for ruleset, specs in SPECS.items():
        play(ruleset, specs[:2], 4)
    subprocess.run([sys.executable, "-c", SECOND.format(specs=SPECS, n=len(SPECS))], check=True)


# --- what is counted ------------------------------------------------------------------------------------------------------


def reduced(rows, unit, measure):
    """Total, squares and by_turns of a measure, by pandas alone."""
    policy, seat = unit
    if not pd.isna(policy):
        rows = rows[rows.policy == policy]
    if not pd.isna(seat):
        rows = rows[rows.seat == seat]
    deals = rows.groupby("deal")[list(dict.fromkeys([measure, "turns"]))].sum()
    x, t = deals[measure], deals["turns"]
    return len(rows) / rows.deal.nunique(), x.sum(), (x**2).sum(), (x * t).sum()


@pytest.mark.parametrize("ruleset, variant", [("pig", "standard,ply_limit=40"), ("dice-fever", "standard")])
def test_rows_reduce_to_the_table(ruleset, variant, tmp_path, monkeypatch):
    small_batches(monkeypatch)
    specs = [SPECS[ruleset][0], SPECS[ruleset][1], SPECS[ruleset][0]]
    table = play(ruleset, specs, SMALL // 4, variant=variant, rows=tmp_path / "new" / "rows")
    assert same(table, play(ruleset, specs, SMALL // 4, variant=variant))
    rows = read_rows(tmp_path / "new" / "rows")
    k, deals = 3, table.deals.iloc[0]
    assert len(rows) == deals * k * k
    assert not rows.duplicated(["deal", "rotation", "seat"]).any()
    assert sorted(rows.deal.unique()) == list(range(deals))
    assert (rows.policy == [specs[(s + r) % k] for s, r in zip(rows.seat, rows.rotation, strict=True)]).all()
    sums = table[table.measure != "length"]
    assert set(sums.measure) == {"payoff", "plies", "truncated", *RULESETS[ruleset].measures}
    for line in sums.itertuples():
        expected = reduced(rows, (line.policy, line.seat), line.measure)
        found = line.per_deal, line.total, line.squares, line.by_turns
        np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=f"{line.policy} {line.seat} {line.measure}")
    lengths = table[table.measure == "length"].set_index("value").total
    turns = rows.groupby(["deal", "rotation"]).turns.sum().clip(upper=511).value_counts().sort_index()
    assert lengths.index.tolist() == turns.index.tolist()
    assert lengths.tolist() == turns.tolist()


def test_table_has_the_schema():
    table = play("dice-fever", SPECS["dice-fever"], seed=5, variant="plain,target=50")
    assert list(table.columns) == COLUMNS
    keys = table[["ruleset", "version", "variant", "matchup", "seed", "games", "truncated"]].drop_duplicates()
    ruleset = RULESETS["dice-fever"]
    matchup = " v ".join(SPECS["dice-fever"])
    assert keys.values.tolist() == [["dice-fever", ruleset.version, "plain,target=50", matchup, 5, SMALL, 0]]
    assert not table.duplicated(["policy", "seat", "measure", "value"]).any()
    payoff = table[table.measure == "payoff"]
    assert payoff[payoff.policy.isna() & payoff.seat.isna()].total.item() == SMALL
    assert payoff[payoff.policy.notna() & payoff.seat.notna()].total.sum() == pytest.approx(SMALL)


def test_games_are_rounded_up_to_whole_deals():
    assert play(games=1).games.iloc[0] == 2
    assert play("pig", SPECS["pig"], games=4).games.iloc[0] == 6
    assert play("pig", SPECS["pig"], games=4).deals.unique().tolist() == [2]


@pytest.mark.parametrize(
    "specs, rotations",
    [("aa", 1), ("ab", 2), ("aaa", 1), ("aab", 3), ("abab", 2), ("aabb", 4), ("aaaa", 1), ("abcabc", 3)],
)
def test_rotations_are_the_seatings_that_differ(specs, rotations):
    assert Matchup(RULESETS["pig"], "standard", tuple(specs), 0).rotations == rotations


def test_self_play_is_one_rotation_a_deal(tmp_path):
    table = play(policies=["hold_at:20"] * 2, games=31, rows=tmp_path)
    assert table.games.iloc[0] == 31
    assert table.deals.unique().tolist() == [31]
    rows = read_rows(tmp_path)
    assert rows.rotation.unique().tolist() == [0]
    assert rows.payoff.sum() == 31


def test_two_policies_of_one_name_are_not_one_policy():
    """Nothing but the spec tells policies apart, so these must not be taken for self-play."""

    def make(points):
        def hold(view, actions, n, params, rng):
            return 0 if view.pot >= points else 1

        return hold

    try:
        table = play(policies=[make(5), make(25)], games=20)
    except InputError:
        return  # as good: refused
    assert table.policy.nunique() == 2


def test_rotations_meet_the_same_dice():
    """The dice belong to the seats of a deal, not to the policies."""
    hold = RULESETS["pig"].policies["hold_at"]
    log = []
    for rotation in (0, 1):
        text = trace("pig", [hold(1), hold(1)], seed=3, deal=5, rotation=rotation)
        log.append([line for line in text.splitlines() if line.startswith("seat") and "->" in line])
    assert log[0] == log[1]
    assert len(log[0]) > 10


@pytest.mark.parametrize("ruleset", SPECS)
def test_truncated_games_are_counted(ruleset, tmp_path):
    limit = "standard,ply_limit=5"
    table = play(ruleset, SPECS[ruleset], variant=limit, rows=tmp_path / "five")
    assert (table.truncated == table.games).all()
    assert table[table.measure == "payoff"].total.eq(0).all()
    rows = read_rows(tmp_path / "five")
    assert rows.plies.eq(5).all()
    assert rows.truncated.eq(1).all()

    usual = play(ruleset, SPECS[ruleset])
    every = usual[usual.policy.isna() & usual.seat.isna()].set_index("measure")
    middle = int(every.total["plies"] / len(SPECS[ruleset]) / SMALL)
    table = play(ruleset, SPECS[ruleset], variant=f"standard,ply_limit={middle}", rows=tmp_path / "some")
    games = read_rows(tmp_path / "some").groupby(["deal", "rotation"])
    stopped = games.truncated.max().astype(bool)
    assert 0 < stopped.sum() == table.truncated.iloc[0] < table.games.iloc[0]
    assert games.truncated.nunique().eq(1).all()
    assert games.plies.max()[stopped].eq(middle).all()
    assert games.plies.max().le(middle).all()
    shares = games.payoff.sum()
    assert shares[stopped].eq(0).all()
    np.testing.assert_allclose(shares[~stopped], 1, atol=1e-12)


@pytest.mark.parametrize("ruleset", SPECS)
def test_shares_of_every_number_of_seats_sum_to_one(ruleset, tmp_path):
    low, high = RULESETS[ruleset].seats
    for seats in range(low, high + 1):
        specs = [SPECS[ruleset][i % 3] for i in range(seats)]
        play(ruleset, specs, seats if INTERPRETED else seats * 4, rows=tmp_path / str(seats))
        shares = read_rows(tmp_path / str(seats)).groupby(["deal", "rotation"]).payoff
        np.testing.assert_allclose(shares.sum(), 1, atol=1e-12)
        assert shares.size().eq(seats).all()


# --- interrupted ----------------------------------------------------------------------------------------------------------


def interrupt(monkeypatch, after):
    """Ctrl-C when this many batches have been counted."""
    add, seen = Sums.__iadd__, []

    def __iadd__(self, other):
        if len(seen) == after:
            raise KeyboardInterrupt
        seen.append(other.deals)
        return add(self, other)

    monkeypatch.setattr(Sums, "__iadd__", __iadd__)


class Torn(np.ndarray):
    """An array that Ctrl-C meets while it is added."""

    def __radd__(self, other):
        raise KeyboardInterrupt

    __array_ufunc__ = None


@pytest.mark.parametrize("name", ["total", "squares", "by_turns", "lengths"])
def test_interrupted_sums_are_whole(name):
    matchup = Matchup(RULESETS["pig"], "standard", ("hold_at:20", "uniform"), 0)
    sums, batch = Sums.zero(matchup), Sums.zero(matchup)
    for each in ("total", "squares", "by_turns", "lengths"):
        getattr(batch, each).fill(1)
    batch.deals = 1
    setattr(batch, name, getattr(batch, name).view(Torn))
    with pytest.raises(KeyboardInterrupt):
        sums += batch
    assert not any(np.any(value) for value in vars(sums).values())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupted_run_is_a_shorter_run(n_jobs, monkeypatch, capsys, tmp_path):
    size = SMALL // 24 * 2  # whole deals
    small_batches(monkeypatch, size)
    shorter = play(games=5 * size, seed=4)
    with monkeypatch.context() as patch:
        interrupt(patch, after=5)
        table = play(games=SMALL, seed=4, n_jobs=n_jobs, rows=tmp_path)
    assert same(table, shorter)
    assert f"keeping {5 * size:,} games" in capsys.readouterr().err
    rows = read_rows(tmp_path)
    assert set(range(5 * size // 2)) <= set(rows.deal)
    assert not list(tmp_path.glob("*.partial"))


def test_rows_of_an_interrupted_run_are_those_of_its_table(monkeypatch, tmp_path):
    small_batches(monkeypatch, SMALL // 12)
    with monkeypatch.context() as patch:
        interrupt(patch, after=5)
        table = play(seed=4, n_jobs=2, rows=tmp_path)
    assert read_rows(tmp_path).deal.nunique() == table.deals.iloc[0]


def test_interrupted_in_the_middle_of_a_file_of_rows(monkeypatch, tmp_path):
    small_batches(monkeypatch, SMALL // 12)
    write, written = pd.DataFrame.to_parquet, []

    def killed(self, path, **options):
        written.append(path)
        write(self, path, **options)
        if len(written) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pd.DataFrame, "to_parquet", killed)
        table = play(seed=4, rows=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert read_rows(tmp_path).deal.nunique() == table.deals.iloc[0]


def test_interrupted_before_the_first_batch_raises(monkeypatch):
    small_batches(monkeypatch)
    interrupt(monkeypatch, after=0)
    with pytest.raises(KeyboardInterrupt):
        play()


# --- policies that fail ---------------------------------------------------------------------------------------------------


def cheat(view, actions, n, params, rng):
    return 99 if view.score[view.turn] >= params[0] else view.pot < 20


def first_offence(points):
    """(deal, rotation) of the first game in which a seat that holds at 20 comes back with this score."""
    for deal in range(100):
        for rotation in (0, 1):
            offender = f"seat {(1 - rotation) % 2}:"
            text = trace("pig", ["hold_at:20", "hold_at:20"], seed=6, deal=deal, rotation=rotation)
            score, due = 0, False
            for line in text.splitlines():
                if "->" not in line or not line.startswith(offender):
                    continue
                due = due or (score >= points and line.split()[2] != "1")
                score = int(line.split("->")[1].split()[(1 - rotation) % 2])
            if due:
                return deal, rotation
    raise AssertionError("no offence in 100 deals")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("interpreted", [False, True])
def test_illegal_action_says_how_to_see_it(n_jobs, interpreted, monkeypatch):
    small_batches(monkeypatch, 10)
    mine = policy(cheat, points=60)
    with pytest.raises(IllegalAction) as caught:
        play(policies=["hold_at:20", mine], games=60, seed=6, n_jobs=n_jobs, interpreted=interpreted)
    deal, rotation = first_offence(60)
    message = str(caught.value)
    for part in (
        "policy cheat:60",
        f"in seat {1 - rotation}",
        "action 99",
        "seed 6",
        f"deal {deal}",
        f"rotation {rotation}",
        "HOLD",
        "ROLL",
    ):
        assert part in message
    text = trace("pig", ["hold_at:20", mine], seed=6, deal=deal, rotation=rotation, interpreted=interpreted)
    assert "illegal action 99" in text
    assert text.endswith("stopped by the illegal action\n")


def test_illegal_action_out_of_int32_is_named_in_full():
    with pytest.raises(IllegalAction, match=str(2**32)):
        play(policies=["hold_at:20", policy(lambda view, actions, n, params, rng: 2**32)], games=2)


@pytest.mark.parametrize("answer", [None, "HOLD", 0.5])
def test_interpreted_policy_that_answers_nonsense_is_illegal(answer):
    def silent(view, actions, n, params, rng):
        return answer

    with pytest.raises(IllegalAction, match="silent"):
        play(policies=["hold_at:20", silent], games=2, interpreted=True)


ANSWERS = {
    "comparison": "view.pot < 20",
    "numpy_whole": "actions[1 if view.pot < 20 else 0]",
    "whole_float": "1.0 if view.pot < 20 else 0.0",
    "broken_float": "1.5 if view.pot < 20 else 0.5",
    "whole_and_broken": "1.5 if view.pot < 20 else 0",
}


@compiled_only
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_answers_of_any_type_mean_the_same_interpreted(answer):
    own = policy(eval(f"lambda view, actions, n, params, rng: {answer}"))
    outcomes = []
    for interpreted in (False, True):
        try:
            table = play(policies=[own, "hold_at:15"], games=20, interpreted=interpreted)
            outcomes.append(table.total.tolist())
        except (InputError, IllegalAction):
            outcomes.append("refused")
    assert outcomes[0] == outcomes[1]


UNCOMPILABLE = {
    "word": ("return 'HOLD'", "HOLD"),
    "nothing": ("pass", "none"),
    "perhaps": ("return 1 if pot > 2 else None", "whole_number"),
    "undefined": ("return no_such_name", "no_such_name"),
    "misspelt": ("return view.scoer[0]", "scoer"),
    "mixed": ("return max(view.pot, 'a')", "max"),
}


@compiled_only
@pytest.mark.parametrize("body, reason", UNCOMPILABLE.values(), ids=UNCOMPILABLE)
def test_policy_that_numba_cannot_compile_is_refused_with_its_line(body, reason, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(f"import sims\n\n\ndef odd(view, actions, n, params, rng):\n    pot = view.pot\n    {body}\n", "utf-8")
    with pytest.raises(InputError) as caught:
        play(policies=["hold_at:20", f"{path}:odd"])
    message = str(caught.value)
    lines = [int(number) for number in re.findall(r"line (\d+)", message)]
    assert lines
    assert all(4 <= line <= 9 for line in lines)
    for part in (f"{path}:odd", "interpreted", reason):
        assert part in message
    assert "\n" not in message


@compiled_only
@pytest.mark.parametrize("text", ["lambda view: 0", "max", "functools.partial(max, 3)", "PIG['hold_at']"])
def test_functions_of_another_shape_are_refused_or_play(text):
    function = eval(text, {"functools": functools, "PIG": RULESETS["pig"].policies})
    if text.startswith("PIG"):
        assert play(policies=["hold_at:20", function], games=4).policy.dropna().unique().tolist() == ["hold_at:20"]
        return
    with pytest.raises(InputError):
        play(policies=["hold_at:20", function])


@compiled_only
def test_function_already_compiled_plays_or_is_refused():
    numba = pytest.importorskip("numba")

    def own(view, actions, n, params, rng):
        return 0 if view.pot >= 20 else 1

    try:
        table = play(policies=[numba.njit(own), "hold_at:25"], games=10)
    except InputError:
        return
    assert table.total.equals(play(policies=[own, "hold_at:25"], games=10).total)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("interpreted", [False, True])
def test_error_in_a_policy_propagates(n_jobs, interpreted, monkeypatch):
    small_batches(monkeypatch, 4)

    def broken(view, actions, n, params, rng):
        if view.score[0] > 50:
            raise ValueError("a mistake of the user's")
        return 0 if view.pot >= 20 else 1

    with pytest.raises(ValueError, match="a mistake of the user's") as caught:
        play(policies=["hold_at:20", broken], games=20, n_jobs=n_jobs, interpreted=interpreted)
    assert not isinstance(caught.value, InputError)


@pytest.mark.parametrize("interpreted", [False, True])
def test_user_policy_may_draw_from_its_own_stream(interpreted):
    def own(view, actions, n, params, rng):
        return actions[draw(rng, n)]

    options = {"games": 20, "seed": 1, "interpreted": interpreted}
    table = play(policies=[own, "hold_at:20"], **options)
    assert table.total.equals(play(policies=["uniform", "hold_at:20"], **options).total)


# --- bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, parts",
    [
        ({"games": 0}, ["games", "from 1", "0"]),
        ({"games": -5}, ["games", "-5"]),
        ({"games": 1e6}, ["games", "1000000.0"]),
        ({"games": "many"}, ["games", "'many'"]),
        ({"games": True}, ["games", "True"]),
        ({"games": 2**63}, ["games", str(2**63)]),
        ({"seed": -1}, ["seed", "from 0", "-1"]),
        ({"seed": None}, ["seed", "None"]),
        ({"seed": 2**63}, ["seed", str(2**63)]),
        ({"seed": 0.5}, ["seed", "0.5"]),
        ({"n_jobs": 0}, ["n_jobs", "0", "-1"]),
        ({"n_jobs": "all"}, ["n_jobs", "'all'"]),
        ({"n_jobs": 1.5}, ["n_jobs", "1.5"]),
        ({"ruleset": "pigg"}, ["ruleset", "'pigg'", "did you mean pig?", *RULESETS]),
        ({"ruleset": "chess"}, ["ruleset", "'chess'", *RULESETS]),
        ({"policies": ["hold_at:20"]}, ["2 to 10 seats", "not 1"]),
        ({"policies": []}, ["2 to 10 seats", "not 0"]),
        ({"policies": ["hold_at:20"] * 11}, ["2 to 10 seats", "not 11"]),
        ({"ruleset": "dice-fever", "policies": ["uniform"] * 7}, ["2 to 6 seats", "not 7"]),
        ({"policies": ["hold_at:20", "hold"]}, ["policy of pig", "'hold'", "hold_at"]),
        ({"policies": "hold_at:20"}, ["hold_at:20"]),
        ({"variant": "plain"}, ["variant of pig", "'plain'", "standard"]),
        ({"variant": "standard,gaol=3"}, ["variant field of pig", "did you mean goal?"]),
        ({"variant": "standard,goal=0"}, ["goal", "from 1 to 10000", "'0'"]),
    ],
    ids=str,
)
def test_bad_input_is_refused(options, parts):
    with pytest.raises(InputError) as caught:
        play(**options)
    for part in parts:
        assert part in str(caught.value)


def test_bad_rows_folders_are_refused(tmp_path):
    play(games=4, rows=tmp_path / "rows")
    with pytest.raises(InputError, match="is not empty"):
        play(games=4, rows=tmp_path / "rows")
    (tmp_path / "file").write_text("not a folder", "utf-8")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match=re.escape(str(folder))):
            play(games=4, rows=folder)
    with pytest.raises(InputError):
        play(games=4, rows=True)  # no folder named


def test_refused_run_leaves_no_folder(tmp_path):
    with pytest.raises(InputError):
        play(policies=["table:none.npy", "hold_at:20"], rows=tmp_path / "rows")
    assert not (tmp_path / "rows").exists()


def test_rows_table_names_the_policy_of_each_row():
    matchup = Matchup(RULESETS["pig"], "standard", ("a", "b"), 0)
    rows = np.arange(2 * 2 * 2 * len(matchup.measures), dtype=np.int32).reshape(2, 2, 2, -1)
    table = rows_table(matchup, 10, rows)
    assert table.deal.tolist() == [10] * 4 + [11] * 4
    assert table.policy.tolist() == ["a", "b", "b", "a"] * 2
    assert table[matchup.measures[-1]].tolist() == rows[..., -1].ravel().tolist()
