import importlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial

import cloudpickle
import numpy as np
import pandas as pd
import pytest

from analysis.cli import main
from sims import RULESETS, InputError, simulate
from sims.jit import INTERPRETED
from sims.policy import load_policy
from sims.results import Sums
from sims.ruleset import Ruleset
from sims.simulate import deal_shares, set_table
from sims.workers import LostBatch, Parcel, workers

MODULE = importlib.import_module("sims.simulate")  # `sims.simulate` is the function
MINE = """
import numba

bound = 17

def mine(view, actions, n, params, rng):
    return 0 if view.pot >= bound + more(view) else 1

@numba.njit
def more(view):
    return view.seats

def killer(view, actions, n, params, rng):
    import os

    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    return str(tmp_path / "mine.py")


# --- from process to process ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", RULESETS)
def test_what_is_ours_travels_by_name(ruleset):
    game = RULESETS[ruleset]
    assert cloudpickle.loads(cloudpickle.dumps(game)) is game
    for policy in game.policies.values():
        bound = policy.solved_for(game, game.variant())
        copy = cloudpickle.loads(cloudpickle.dumps(bound))
        assert (copy.spec, copy.values) == (bound.spec, bound.values)
        assert copy.function is bound.function
    specs = [game.named_policies[0]] * game.seats[0]
    assert len(cloudpickle.dumps(set_table(ruleset, specs))) < 5_000


def test_a_solution_stays_at_home():
    game = RULESETS["dice-land"]
    policy = replace(load_policy(game, "massing"), solved=(game.variant(), partial(np.arange, 1e5)))
    assert policy.params.size > 1e5
    assert len(cloudpickle.dumps(policy)) < 5_000
    assert (cloudpickle.loads(cloudpickle.dumps(policy)).params == policy.params).all()


def test_a_users_function_is_the_same_for_all_its_values(mine):
    policy = load_policy(RULESETS["pig"], f"{mine}:mine")
    one, two = (cloudpickle.loads(cloudpickle.dumps(policy)) for _ in range(2))
    assert one.function is two.function is not policy.function


def test_other_sources_are_refused(monkeypatch):
    packed = cloudpickle.dumps(RULESETS["pig"])
    monkeypatch.setattr("sims.jit.SOURCES", "other")
    with pytest.raises(InputError, match="another version of dicelab"):
        cloudpickle.loads(packed)


def test_a_users_game_travels_whole(monkeypatch):
    game = RULESETS["pig"]
    monkeypatch.delattr("sims.rulesets.pig.RULESET")  # as a game of a notebook
    copy = cloudpickle.loads(cloudpickle.dumps(game))
    assert isinstance(copy, Ruleset)
    assert copy is not game
    assert copy.state == game.state


def test_a_parcel_is_unpacked_once():
    parcel = Parcel(lambda seen=[]: seen.append(1) or len(seen))
    assert [parcel(), parcel()] == [1, 2]
    packed = cloudpickle.dumps(parcel)
    assert [cloudpickle.loads(packed)(), cloudpickle.loads(packed)()] == [3, 4]


@pytest.mark.slow
def test_processes_change_nothing(mine, monkeypatch):
    games = 24 if INTERPRETED else 1_200
    monkeypatch.setattr(MODULE, "BATCH", games // 6)
    specs = [f"{mine}:mine", "uniform", "keep_pace:21"]
    with workers("processes"):
        far = simulate("pig", specs, games, n_jobs=2, progress=False)
    pd.testing.assert_frame_equal(far, simulate("pig", specs, games, n_jobs=1, progress=False), check_exact=True)


# --- what is refused ------------------------------------------------------------------------------------------------------


def refusal(*args):
    with pytest.raises(InputError) as caught, workers(*args):
        pytest.fail("let in")
    return str(caught.value)


def test_what_does_not_go_together_is_refused():
    assert "did you mean dask? choose from threads, processes, dask" in refusal("dusk")
    assert "--scheduler ADDRESS" in refusal("dask")
    for engine in ("threads", "processes"):
        assert f"for the engine 'dask', not for '{engine}'" in refusal(engine, "tcp://127.0.0.1:8786")


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'dicelab[dask]'" in refusal("dask", "tcp://127.0.0.1:8786")


@pytest.mark.parametrize("address", ["nowhere", "tcp://127.0.0.1:1"])
def test_a_silent_scheduler_is_refused(monkeypatch, address):
    monkeypatch.setattr("sims.workers.SECONDS", 0.5)
    assert f"no Dask scheduler answers at '{address}'" in refusal("dask", address)


# --- a cluster ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler on this machine, and a call that starts one worker process more."""
    started, file = [], tmp_path / "scheduler.json"

    def start(kind, *args):
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", str(file), "--no-dashboard", *args]
        with open(tmp_path / f"{kind}-{len(started)}.log", "w") as log:
            started.append(subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log))
        return started[-1]

    try:
        start("scheduler", "--host", "127.0.0.1", "--port", "0")
        while not file.is_file() or not file.read_text():
            assert started[0].poll() is None, (tmp_path / "scheduler-0.log").read_text()
            time.sleep(0.05)
        worker = ("worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny")
        yield json.loads(file.read_text())["address"], lambda: start(*worker)
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_cluster_gives_the_same_and_survives_a_lost_worker(cluster, mine, monkeypatch, capsys):
    address, start = cluster
    with monkeypatch.context() as patch:
        patch.setattr("sims.workers.SECONDS", 0.5)
        assert f"has no workers; start some: dask worker {address}" in refusal("dask", address)
    first, _ = start(), start()
    monkeypatch.setattr(MODULE, "BATCH", 20 if INTERPRETED else 1_000)
    games, specs = 40 * MODULE.BATCH, [f"{mine}:mine", "hold_at:25"]
    command = ["simulate", "pig", *specs, "--games", str(games), "--seed", "7", "--json"]
    add, added = Sums.__iadd__, []

    def kill_one_half_way(self, other):
        added.append(other)
        if len(added) == 20:
            os.kill(first.pid, signal.SIGKILL)
        return add(self, other)

    main(command)
    local = capsys.readouterr().out
    with monkeypatch.context() as patch:
        patch.setattr(Sums, "__iadd__", kill_one_half_way)
        main([*command, "--engine", "dask", "--scheduler", address])
    assert capsys.readouterr().out == local
    assert len(added) == 40
    assert first.wait() == -signal.SIGKILL

    table = set_table("pig", specs)
    with workers("dask", address):
        far = deal_shares(table, 7, 5, 2 * MODULE.BATCH)
    assert (far.shares == deal_shares(table, 7, 5, 2 * MODULE.BATCH, 1).shares).all()

    for more in (["sweep", "pig", "hold_at", "--param", "at=19:22:1"], ["rank", "pig", "hold_at:20", f"{mine}:mine"]):
        more = [*more, "--games", "1000", "--seed", "7", "--json"]
        main(more)
        local = capsys.readouterr().out
        main([*more, "--engine", "dask", "--scheduler", address])
        assert capsys.readouterr().out == local

    import distributed

    with distributed.Client(address, set_as_default=False) as client:
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
    with pytest.raises(LostBatch, match="gave up a batch"), workers("dask", address):  # the policy ends whoever plays it
        simulate("pig", [f"{mine}:killer", "uniform"], 4 * MODULE.BATCH, interpreted=True, progress=False)
