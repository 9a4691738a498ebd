import dataclasses
import importlib
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sims import RULESETS, InputError, Policy
from sims.jit import INTERPRETED
from sims.policy import load_policy
from sims.study import Group, Study, load_study, run_study

MODULE = importlib.import_module("sims.study")
GAMES = 4 if INTERPRETED else 20
HEAD = 'ruleset = "pig"\ngames = 40\nseed = 3\n'
TEXT = f"""{HEAD}
[[groups]]
name = "pairs"
kind = "pairs"
policies = ["hold_at:20", "uniform", "keep_pace:21"]
variants = ["standard", "standard,goal=50"]
[[groups]]
name = "sweep"
kind = "against"
policies = ["hold_at:15", "hold_at:25"]
opponents = ["uniform", "hold_at:20"]
[[groups]]
name = "seats"
kind = "self"
policies = ["hold_at:20", "uniform"]
seats = [2, 5]
"""
SMALL = Study("pig", GAMES, 3, [Group("pairs", "pairs", ["hold_at:20", "uniform"])])
compiled_only = pytest.mark.skipif(INTERPRETED, reason="plain Python may read anything, so such a policy is not kept")


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "study.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def played(monkeypatch):
    """The matchups that are played, not taken from the folder."""
    calls, real = [], MODULE.simulate

    def simulate(name, specs, games, seed, **options):
        calls.append((str(options["variant"]), tuple(map(str, specs)), games, seed))
        return real(name, specs, games, seed, **options)

    monkeypatch.setattr(MODULE, "simulate", simulate)
    return calls


def refusal(path):
    with pytest.raises(InputError) as caught:
        load_study(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def run(study, folder, **options):
    return run_study(study, folder, **{"n_jobs": 1, **options})


def test_groups_become_matchups(write):
    pairs, sweep, seats = load_study(write(TEXT)).groups
    a, b, c = pairs.policies
    two = [(a, a), (a, b), (a, c), (b, b), (b, c), (c, c)]
    assert list(pairs.matchups()) == [(variant, pair) for variant in pairs.variants for pair in two]
    assert list(sweep.matchups()) == [("standard", (p, o)) for p in sweep.policies for o in sweep.opponents]
    assert list(seats.matchups()) == [("standard", (p,) * n) for p in seats.policies for n in (2, 5)]


def test_one_against_several_of_the_same():
    group = Group("crowd", "against", ["a", "b"], ["c"], seats=[2, 4])
    assert list(group.matchups()) == [("standard", (p, *"c" * n)) for p in "ab" for n in (1, 3)]


@pytest.mark.parametrize("path", sorted((Path(__file__).parents[2] / "reports" / "studies").glob("*.toml")), ids=lambda p: p.stem)
def test_the_projects_studies_can_be_played(path):
    study = load_study(path)
    assert study.ruleset.replace("-", "_") == path.stem


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("games = 40", "game = 40", ["'game'", "study.toml", "games"]),
        ('kind = "self"', 'kinds = "self"', ["'kinds'", "group 3", "kind"]),
        ("seed = 3", "", ["'seed'", "study.toml"]),
        ('name = "sweep"', "", ["'name'", "group 2"]),
        ('kind = "self"', "", ["'kind'", "group 3"]),
        ('kind = "self"', 'kind = "selfie"', ["'selfie'", "self", "against", "pairs"]),
        ('ruleset = "pig"', 'ruleset = "pigs"', ["'pigs'", "pig", "dice-fever"]),
        ('"hold_at:15"', '"hold_it:15"', ["'hold_it'", "hold_at"]),
        ('"standard,goal=50"', '"standard,gaol=50"', ["'gaol'", "goal"]),
        ("[2, 5]", "[2, 11]", ["11", "2 to 10 seats"]),
        ("seed = 3", "seed = ", ["study.toml", "TOML"]),
    ],
)
def test_a_bad_study_is_refused(write, old, new, words):
    message = refusal(write(TEXT.replace(old, new, 1)))
    assert all(word in message for word in words)


PAIR = '["hold_at:15", "hold_at:25"]'
OPPONENTS = 'opponents = ["uniform", "hold_at:20"]'


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("[2, 5]", '["two"]', ["seats", "group 3", "'two'"]),
        ("[2, 5]", "2", ["seats", "group 3", "2", "list"]),
        ("[2, 5]", "[2, true]", ["seats", "True"]),
        ("[2, 5]", "[5, 5]", ["seats", "5", "different"]),
        (PAIR, "15", ["policies", "group 2", "15", "list"]),
        (PAIR, '"hold_at:15"', ["policies", "group 2", "'hold_at:15'", "list"]),
        (PAIR, "[]", ["policies", "group 2", "[]"]),
        (PAIR, '["hold_at:15", 15]', ["policies", "group 2", "15", "text"]),
        (PAIR, '["uniform", "uniform"]', ["policies", "group 2", "'uniform'", "different"]),
        (OPPONENTS, "", ["opponents", "group 2", "against"]),
        (OPPONENTS, f"{OPPONENTS}\nseats = [1]", ["2 to 10 seats", "1"]),
        ('kind = "pairs"', 'kind = "pairs"\nseats = [2]', ["seats", "group 1", "'against' or 'self'", "'pairs'"]),
        ("seats = [2, 5]", OPPONENTS, ["opponents", "group 3", "'against'"]),
        ('["standard", "standard,goal=50"]', "7", ["variants", "group 1", "7"]),
        ('["standard", "standard,goal=50"]', '[""]', ["''", "standard"]),
        ('name = "sweep"', "name = 5", ["name", "group 2", "5", "text"]),
        ('name = "sweep"', 'name = "pairs"', ["names", "'pairs'", "different"]),
        ('ruleset = "pig"', "ruleset = 1", ["ruleset", "1", "text"]),
        ("games = 40", "games = 1.5", ["games", "1.5", "whole"]),
        ("games = 40", "games = 0", ["games", "0", "from 1"]),
        ('name = "', 'games = -1\nname = "', ["games in group 1", "-1", "from 0"]),
        ("seed = 3", "seed = -1", ["seed", "-1", "from 0"]),
        ("seed = 3", "seed = true", ["seed", "True", "whole"]),
    ],
)
def test_a_value_that_cannot_be_played_is_refused(write, old, new, words):
    message = refusal(write(TEXT.replace(old, new, 1)))
    assert all(word in message for word in words), message


@pytest.mark.parametrize("groups", ["", "groups = []", "groups = 5", "groups = [5]", '[groups]\nname = "pairs"'])
def test_a_study_without_groups_is_refused(write, groups):
    assert "groups" in refusal(write(HEAD + groups))


def test_bytes_that_are_no_text_are_refused(write):
    assert "study.toml" in refusal(write(b'ruleset = "\xff\xfe"'))


def test_a_missing_file_or_a_folder_is_refused(tmp_path):
    assert "nowhere.toml" in refusal(tmp_path / "nowhere.toml")
    assert tmp_path.name in refusal(tmp_path)


@pytest.mark.parametrize("study, options", [(SMALL, {"games": 0}), (SMALL, {"seed": -1}), (Study("pig", 4, 3, []), {})])
def test_a_run_that_cannot_be_is_refused(tmp_path, played, study, options):
    with pytest.raises(InputError):
        run(study, tmp_path, **options)
    assert played == []


def test_results_are_kept_and_used_again(tmp_path, played):
    first = run(SMALL, tmp_path)
    assert played == [("standard", specs, GAMES, 3) for _, specs in SMALL.groups[0].matchups()]
    assert len(list(tmp_path.glob("*/results.parquet"))) == len(played) == 3
    played.clear()
    pd.testing.assert_frame_equal(first, run(SMALL, tmp_path), check_exact=True)
    assert played == []


def test_a_study_is_its_matchups(tmp_path):
    chosen = run(SMALL, tmp_path).query("matchup == 'hold_at:20 v uniform'")
    direct = MODULE.simulate("pig", ["hold_at:20", "uniform"], GAMES, 3, n_jobs=1, progress=False)
    pd.testing.assert_frame_equal(chosen.drop(columns="group").reset_index(drop=True), direct, check_exact=True)


@pytest.mark.parametrize("change", ["seed", "games", "variant", "sources"])
def test_what_results_depend_on_is_played_anew(tmp_path, played, monkeypatch, change):
    run(SMALL, tmp_path)
    played.clear()
    study, options = SMALL, {"seed": {"seed": 0}, "games": {"games": GAMES + 2}}.get(change, {})
    if change == "variant":
        study = dataclasses.replace(SMALL, groups=[dataclasses.replace(SMALL.groups[0], variants=["standard,goal=99"])])
    if change == "sources":
        monkeypatch.setattr("sims.jit.SOURCES", "other")
    run(study, tmp_path, **options)
    assert len(played) == 3
    for variant, _, games, seed in played:
        assert variant == ("standard,goal=99" if change == "variant" else "standard")
        assert (games, seed) == (options.get("games", GAMES), options.get("seed", 3))


MINE = """
import {module} as helpers
from {module} import TABLE, count

def mine(view, actions, n, params, rng):
    return 0 if view.pot >= TABLE[0] + count(view) + helpers.more else 1
"""
HELPERS = """
import numba
import numpy as np

TABLE = np.array([{table}])
more = {more}

@numba.njit
def count(view):
    return {count} * view.seats
"""


@compiled_only
@pytest.mark.parametrize("edited", ["file", "table", "more", "count", "nothing"])
def test_an_edited_policy_file_or_helper_is_played_anew(tmp_path, played, monkeypatch, edited):
    """Edits that keep the size of the file and the second of its time, so that no cache of Python notices them either."""
    path, module = tmp_path / "mine.py", f"helpers_of_{edited}"
    monkeypatch.syspath_prepend(tmp_path)
    study = dataclasses.replace(SMALL, groups=[Group("mine", "self", [f"{path}:mine"])])
    values, text, results = {"table": 9, "more": 1, "count": 2}, MINE.format(module=module), []
    for _ in range(2):
        (tmp_path / f"{module}.py").write_text(HELPERS.format(**values))
        path.write_text(text)
        results.append(run(study, tmp_path / "kept"))
        values, text = {**values, edited: 4}, text.replace(">=", "> ") if edited == "file" else text
        sys.modules.pop(module)
        importlib.invalidate_caches()
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    assert len(played) == (1 if edited == "nothing" else 2)
    assert results[0].equals(results[1]) == (edited == "nothing")


def test_an_edited_table_is_played_anew(tmp_path, played):
    path = tmp_path / "table.npy"
    study = Study("pig", GAMES, 3, [Group("mine", "self", [f"table:{path}"], variants=["standard,goal=6"])])
    for entry in (1, 0, 1):
        np.save(path, np.full(6**3, entry))
        run(study, tmp_path / "kept")
    assert len(played) == 2


FICKLE = """
import random
import numpy as np

class Mood:
    pass

mood = Mood()

def python(view, actions, n, params, rng):
    return int(random.random() < 0.5)

def numpy(view, actions, n, params, rng):
    return int(np.random.random() < 0.5)

def unknown(view, actions, n, params, rng):
    mood
    return 0
"""


@pytest.mark.parametrize("name", ["python", "numpy", "unknown"])
def test_a_policy_with_something_hidden_has_no_digest(tmp_path, name):
    (tmp_path / "mine.py").write_text(FICKLE)
    assert load_policy(RULESETS["pig"], f"{tmp_path / 'mine.py'}:{name}").digest is None


def test_without_a_digest_nothing_is_kept(tmp_path, played, monkeypatch):
    monkeypatch.setattr(Policy, "digest", None)
    for _ in range(2):
        run(SMALL, tmp_path)
    assert len(played) == 6
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_matchup_is_no_result_and_goes_on(tmp_path, monkeypatch):
    simulation = importlib.import_module("sims.simulate")
    batches = simulation._batches

    def stopped(*args):
        yield next(batches(*args))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(simulation, "BATCH", GAMES // 2)
        patch.setattr(simulation, "_batches", stopped)
        with pytest.raises(KeyboardInterrupt):
            run(SMALL, tmp_path)
    assert {path.name for path in tmp_path.glob("*/*")} == {"run.json", "checkpoint.npz"}
    pd.testing.assert_frame_equal(run(SMALL, tmp_path), run(SMALL, tmp_path / "at once"), check_exact=True)


def test_a_killed_write_leaves_no_half_file(tmp_path, monkeypatch, played):
    def killed(self, path, **options):
        path.write_bytes(b"PAR1 half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pd.DataFrame, "to_parquet", killed)
        with pytest.raises(KeyboardInterrupt):
            run(SMALL, tmp_path)
    assert {path.name for path in tmp_path.glob("*/*")} == {"run.json", "checkpoint.npz"}
    played.clear()
    assert run(SMALL, tmp_path).games.eq(GAMES).all()
    assert len(played) == 3


def test_a_group_may_have_games_of_its_own(tmp_path):
    few = dataclasses.replace(SMALL.groups[0], name="few", games=2)
    results = run(dataclasses.replace(SMALL, groups=[SMALL.groups[0], few]), tmp_path)
    assert results[results.group == "few"].games.eq(2).all()
    assert results[results.group != "few"].games.eq(GAMES).all()
    assert run(dataclasses.replace(SMALL, groups=[few]), tmp_path / "all", games=4).games.eq(4).all()
