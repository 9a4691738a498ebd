import functools
import importlib
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.cli import main
from sims import RULESETS, IllegalAction, InputError, policy, simulate
from sims.checkpoints import Checkpoint
from sims.jit import INTERPRETED
from sims.results import Sums
from sims.study import Group, Study, run_study

MODULE = importlib.import_module("sims.simulate")  # `sims.simulate` is the function
BATCH, GAMES = (10, 80) if INTERPRETED else (400, 8_000)
SPECS = ["hold_at:20", "hold_at:25"]
STUDY = Study("pig", GAMES, 3, [Group("pairs", "pairs", SPECS)])


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(MODULE, "BATCH", BATCH)


def play(out, games=GAMES, seed=3, policies=SPECS, **options):
    return simulate("pig", policies, games, seed, **{"n_jobs": 2, "progress": False, "out": out, **options})


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def interrupt(monkeypatch, after, error=KeyboardInterrupt):
    """Stop a run when this many batches have been counted."""
    add, seen = Sums.__iadd__, []

    def __iadd__(self, other):
        seen.append(other)
        if len(seen) > after:
            raise error
        return add(self, other)

    monkeypatch.setattr(Sums, "__iadd__", __iadd__)


# --- killed ---------------------------------------------------------------------------------------------------------------

KILLED = """
import importlib, os, signal, sys
import numpy as np
from sims import checkpoints
importlib.import_module("sims.simulate").BATCH, checkpoints.Checkpoint.is_due = {batch}, True  # a checkpoint after each batch
savez, saves = np.savez, []

def killed(file, **numbers):
    saves.append(file)
    if len(saves) < 6:
        return savez(file, **numbers)
    file.write(b"PK half a checkpoint")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

np.savez = killed
"""


def kill(code, *args):
    """Run code in a process that is killed while it writes its sixth checkpoint."""
    killed = subprocess.run([sys.executable, "-c", KILLED.format(batch=BATCH) + code, *map(str, args)], check=False)
    assert killed.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_a_killed_simulate_goes_on_to_the_same_bytes(tmp_path, capsys):
    def command(name):
        common = ["simulate", "pig", *SPECS, "--games", str(GAMES), "--seed", "3", "--json"]
        return [*common, "--out", str(tmp_path / name / "out"), "--rows", str(tmp_path / name / "rows")]

    main(command("whole"))
    whole = capsys.readouterr().out
    kill("from analysis.cli import main; main(sys.argv[1:])", *command("killed"))
    killed = tmp_path / "killed"
    assert Checkpoint(killed / "out" / "checkpoint.npz").load()["deals"] == 5 * BATCH // 2 < GAMES // 2
    assert not (killed / "out" / "results.parquet").exists()
    begun = {path: path.stat().st_mtime_ns for path in (killed / "rows").glob("*.parquet")}
    main(command("killed"))
    assert capsys.readouterr().out == whole
    for name in ("out/results.parquet", "rows"):
        one, two = tmp_path / "whole" / name, killed / name
        assert one.read_bytes() == two.read_bytes() if one.is_file() else content(one) == content(two)
    assert sum(path.stat().st_mtime_ns == time for path, time in begun.items()) == 5  # those are not played again
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.slow
def test_a_killed_study_goes_on_to_the_same_bytes(tmp_path):
    kill(
        f"from sims.study import *; run_study(Study(*{('pig', GAMES, 3)}, [Group('pairs', 'pairs', {SPECS})]), sys.argv[1])",
        tmp_path,
    )
    (half,) = tmp_path.glob("*/checkpoint.npz")
    assert Checkpoint(half).load()["deals"] == 5 * BATCH
    results = run_study(STUDY, tmp_path, n_jobs=1)
    pd.testing.assert_frame_equal(results, run_study(STUDY, tmp_path / "whole", n_jobs=1), check_exact=True)
    whole = content(tmp_path / "whole")
    assert len(whole) == 9
    assert whole.items() <= content(tmp_path).items()


SWEEP = ["sweep", "pig", "hold_at", "--param", "at=19:22:1", "--games", str(GAMES), "--seed", "3"]
RANK = ["rank", "pig", *SPECS, "--games", str(GAMES), "--seed", "3"]


@pytest.mark.slow
@pytest.mark.parametrize("command", [SWEEP, RANK], ids=["sweep", "rank"])
def test_a_killed_sweep_or_ranking_goes_on_to_the_same_bytes(tmp_path, capsys, command):
    command = [*command, "--json", "--out"]
    main([*command, str(tmp_path / "whole")])
    whole = capsys.readouterr().out
    kill("from analysis.cli import main; main(sys.argv[1:])", *command, tmp_path / "killed")
    half = [Checkpoint(path).load()["deals"] for path in (tmp_path / "killed").rglob("checkpoint.npz")]
    assert 0 < min(half) < GAMES // 2
    main([*command, str(tmp_path / "killed")])
    assert capsys.readouterr().out == whole
    with pytest.raises(SystemExit) as refused:
        main([*command, str(tmp_path / "killed"), "--set", "goal=50"])
    assert refused.value.code == 2
    assert "holds another run" in capsys.readouterr().err


# --- stopped, and gone on with --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("stop", [KeyboardInterrupt, IllegalAction("cheat")])
def test_a_stopped_run_goes_on(tmp_path, monkeypatch, capsys, rows, stop):
    def folder(name):
        return {"out": tmp_path / name, "rows": rows and tmp_path / f"{name} rows"}

    whole = play(**folder("whole"))
    with monkeypatch.context() as patch:
        interrupt(patch, after=5, error=stop)
        if stop is KeyboardInterrupt:
            assert play(**folder("half")).games.eq(5 * BATCH).all()
            assert f"keeping {5 * BATCH:,} games; the same call goes on from there" in capsys.readouterr().err
        else:
            with pytest.raises(IllegalAction):
                play(**folder("half"))
    assert {path.name for path in (tmp_path / "half").iterdir()} == {"run.json", "checkpoint.npz"}
    pd.testing.assert_frame_equal(play(**folder("half")), whole, check_exact=True)
    for name in ("", " rows") if rows else ("",):
        one, two = content(tmp_path / f"whole{name}"), content(tmp_path / f"half{name}")
        assert {path for path in one if one[path] != two[path]} <= {"run.json"}  # which names the folder of rows
        assert one.keys() == two.keys()


def test_a_finished_run_is_read_and_more_games_are_added(tmp_path, monkeypatch):
    few = play(tmp_path / "a", GAMES // 2)
    with monkeypatch.context() as patch:
        patch.setattr(MODULE, "_batches", lambda *args: pytest.fail("played again"))
        pd.testing.assert_frame_equal(play(tmp_path / "a", GAMES // 2), few, check_exact=True)
    more = play(tmp_path / "a")
    pd.testing.assert_frame_equal(more, play(None), check_exact=True)
    pd.testing.assert_frame_equal(more, pd.read_parquet(tmp_path / "a" / "results.parquet"), check_exact=True)
    with pytest.raises(InputError, match=f"holds {GAMES} games"):
        play(tmp_path / "a", GAMES // 2)


def test_batches_of_any_size_go_on_with_each_other(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        interrupt(patch, after=3)
        assert play(tmp_path / "a", batch=6).games.eq(18).all()
    pd.testing.assert_frame_equal(play(tmp_path / "a", batch=BATCH), play(None), check_exact=True)
    play(tmp_path / "b", BATCH, rows=tmp_path / "rows", batch=50)
    with pytest.raises(InputError, match=r'"batch": 50} there, .*"batch": 60} here'):
        play(tmp_path / "b", 2 * BATCH, rows=tmp_path / "rows", batch=60)
    with pytest.raises(InputError, match="batch must be"):
        play(None, batch=0)


# --- refused --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other, differs",
    [
        ({"seed": 4}, "seed is 3 there, 4 here"),
        ({"policies": SPECS[::-1]}, r'policies is \["hold_at:20", "hold_at:25"\] there, \["hold_at:25", "hold_at:20"\] here'),
        ({"variant": "standard,goal=50"}, 'variant is "standard" there, "standard,goal=50" here'),
        ({"rows": "rows"}, 'rows is null there, {"folder": '),
    ],
)
def test_a_folder_of_another_run_is_refused(tmp_path, monkeypatch, other, differs):
    monkeypatch.chdir(tmp_path)
    play("mine", BATCH)
    before = content(tmp_path)
    with pytest.raises(InputError, match=f"'mine' holds another run: {differs}"):
        play("mine", BATCH, **other)
    assert content(tmp_path) == before


def test_a_run_of_other_sources_is_refused(tmp_path, monkeypatch):
    play(tmp_path, BATCH)
    monkeypatch.setattr("sims.jit.SOURCES", "other")
    with pytest.raises(InputError, match=r'sources is ".*" there, "other" here'):
        play(tmp_path, BATCH)


@pytest.mark.skipif(INTERPRETED, reason="plain Python may read anything, so such a policy is not kept")
def test_a_run_of_an_edited_policy_is_refused(tmp_path):
    file = tmp_path / "mine.py"
    for points in (18, 19):
        file.write_text(f"def mine(view, actions, n, params, rng):\n    return 0 if view.pot >= {points} else 1\n")
        attempt = functools.partial(play, tmp_path / "out", BATCH, policies=[f"{file}:mine", "uniform"])
        if points == 18:
            attempt()
    with pytest.raises(InputError, match="holds another run: digests is"):
        attempt()


@pytest.mark.parametrize("text, message", [(None, "holds no run"), ("[1]", "does not describe"), ("{half", "does not describe")])
def test_a_folder_of_something_else_is_refused(tmp_path, text, message):
    (tmp_path / ("other.txt" if text is None else "run.json")).write_text(text or "")
    with pytest.raises(InputError, match=message):
        play(tmp_path, BATCH)


@pytest.mark.parametrize("damage", ["half", "flipped", "text", "empty"])
def test_a_damaged_checkpoint_is_refused(tmp_path, damage):
    play(tmp_path, BATCH)
    path = tmp_path / "checkpoint.npz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes({"half": data[: len(data) // 2], "flipped": data, "text": b"deals", "empty": b""}[damage])
    with pytest.raises(InputError, match=r"checkpoint .*checkpoint.npz' is damaged"):
        play(tmp_path, 2 * BATCH)


def test_what_cannot_be_told_is_not_kept(tmp_path, monkeypatch):
    mood = object()

    def fickle(view, actions, n, params, rng):
        return mood or actions[0]

    policies = [policy(fickle), "uniform"]
    with pytest.raises(InputError, match=r"policy fickle .* no --out"):
        play(tmp_path / "out", policies=policies, interpreted=True)
    pig = RULESETS["pig"]
    monkeypatch.setitem(RULESETS, "pig", replace(pig))  # so that ours is as a game of a notebook
    with pytest.raises(InputError, match="what its rules do cannot be told"):
        simulate(pig, SPECS, 4, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_rows_of_a_new_run_go_to_an_empty_folder(tmp_path):
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "old").touch()
    for _ in range(2):
        with pytest.raises(InputError, match="not empty"):
            play(tmp_path / "out", rows=tmp_path / "rows")


def test_checkpoints_are_seconds_apart_and_cost_little(tmp_path, monkeypatch):
    monkeypatch.setattr("sims.checkpoints.SECONDS", 5.0)
    now = [100.0]
    monkeypatch.setattr("sims.checkpoints.time.monotonic", lambda: now[0])
    checkpoint = Checkpoint(tmp_path / "kept.npz")
    for later, due in ((4.9, False), (0.2, True)):
        now[0] += later
        assert checkpoint.is_due == due
    real = np.savez
    monkeypatch.setattr(np, "savez", lambda file, **numbers: (now.__setitem__(0, now[0] + 2), real(file, **numbers)))
    checkpoint.save({"deals": 7, "shares": np.arange(3.0)})
    assert checkpoint.due == now[0] + 40
    assert checkpoint.load()["deals"] == 7
    assert checkpoint.load()["shares"].tolist() == [0, 1, 2]
    assert Checkpoint(None).load() == {}
    assert not Checkpoint(None).is_due
