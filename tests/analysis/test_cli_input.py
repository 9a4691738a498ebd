"""Bad input, argument by argument and command by command: one line on stderr, status 2, nothing on stdout; and the help."""

import json
import os
import subprocess
import sys
import time

import pytest

from analysis.chapters import dice_fever
from analysis.cli import main

PIG = ["pig", "hold_at:20", "uniform"]
FEW = ["--games", "20", "--jobs", "1"]
ROW = ["quantity", "policy", "seat", "n", "estimate", "stderr", "low", "high", "level", "method"]
TOO_BIG = "99999999999999999999"


def refused(capsys, args):
    """Run a command that must be refused; return its line on stderr."""
    with pytest.raises(SystemExit) as caught:
        main(list(map(str, args)))
    captured = capsys.readouterr()
    assert caught.value.code == 2
    assert captured.out == ""
    assert captured.err.startswith("dicelab: ")
    assert captured.err.count("\n") == 1
    assert captured.err.endswith("\n")
    return captured.err


def printed(capsys, args):
    main(list(map(str, args)))
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


# --- what two commands share ----------------------------------------------------------------------------------------------

SHARED = [
    (["pog", "hold_at", "hold_at"], ["'pog'", "did you mean pig", "dice-fever"]),
    (["pig", "hold_it", "hold_at"], ["'hold_it'", "did you mean hold_at", "keep_pace"]),
    (["pig", "hold_at", ""], ["''", "hold_at"]),
    (["pig", "hold_at:1,2,3", "uniform"], ["hold_at", "3"]),
    (["pig", "hold_at:at=x", "uniform"], ["'x'", "at"]),
    (["pig", "hold_at:goal=3", "uniform"], ["'goal'", "at"]),
    (["pig", "nowhere/mine.py:bold", "uniform"], ["nowhere/mine.py"]),
    (["pig", "nowhere/mine.py", "uniform"], ["nowhere/mine.py", "names no policy"]),
    (["pig", "table:nowhere.npy", "uniform"], ["nowhere.npy"]),
    (["pig", "table", "uniform"], ["table"]),
    (["pig", "hold_at"], ["2 to 10 seats", "1"]),
    (["pig", *["hold_at"] * 11], ["2 to 10 seats", "11"]),
    (["dice-fever", *["race"] * 7], ["2 to 6 seats", "7"]),
    (["pig", "hold_at:20,at=30", "uniform"], ["at", "twice", "'20'", "'30'"]),
    (["pig", "hold_at:at=20,at=30", "uniform"], ["at", "twice", "'20'", "'30'"]),
    (["pig", "hold_at:self=3", "uniform"], ["'self'", "at"]),
    ([*PIG, "--variant", ""], ["''", "standard"]),
    ([*PIG, "--set", "goal=50", "--set", "goal=60"], ["goal", "twice", "'50'", "'60'"]),
    ([*PIG, "--variant", "standard,goal=50", "--set", "goal=50"], ["goal", "twice"]),
    ([*PIG, "--variant", "plain"], ["'plain'", "standard"]),
    ([*PIG, "--variant", "standard,goal"], ["'goal'", "field=value"]),
    ([*PIG, "--set", "gaol=50"], ["'gaol'", "did you mean goal", "faces"]),
    ([*PIG, "--set", "goal=lots"], ["'lots'", "goal"]),
    ([*PIG, "--set", "goal="], ["''", "goal"]),
    ([*PIG, "--set", ""], ["''", "field=value"]),
    ([*PIG, "--set", "goal=50", "--set", "faces=x"], ["'x'", "faces"]),
    ([*PIG, "--seed", "-1"], ["-1"]),
    ([*PIG, "--seed", "one"], ["'one'"]),
    ([*PIG, "--seed", TOO_BIG], [TOO_BIG, "seed"]),
    ([*PIG, "--seeds", "1"], ["--seeds"]),
    (["pig"], ["POLICIES"]),
    ([], ["RULESET"]),
]


@pytest.mark.parametrize("command", ["simulate", "trace"])
@pytest.mark.parametrize("args, words", SHARED, ids=lambda value: " ".join(value)[:60])
def test_game_policies_variant_and_seed(capsys, command, args, words):
    line = refused(capsys, [command, *args])
    for word in words:
        assert word in line


# --- command by command ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args, words",
    [
        (["--games", "0"], ["0"]),
        (["--games", "-3"], ["-3"]),
        (["--games", "1.5"], ["'1.5'"]),
        (["--games", TOO_BIG], [TOO_BIG]),
        (["--jobs", "0"], ["0", "-1"]),
        (["--jobs", "all"], ["'all'"]),
        (["--jobs", "100000"], ["100000"]),
        (["--level", "0"], ["0"]),
        (["--level", "1"], ["1"]),
        (["--level", "95"], ["95"]),
        (["--level", "high"], ["'high'"]),
        (["--level", "nan"], ["nan", "between 0 and 1"]),
        (["--level", "inf"], ["inf", "between 0 and 1"]),
        (["--rows", ""], ["''", "folder"]),
        (["--out", ""], ["''", "folder"]),
        (["--batch", "0"], ["0"]),
        (["--engine", "dusk"], ["'dusk'", "did you mean dask", "threads"]),
        (["--engine", "dask"], ["--scheduler ADDRESS"]),
        (["--scheduler", "tcp://host:1"], ["tcp://host:1", "'threads'"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_simulate(capsys, tmp_path, monkeypatch, args, words):
    monkeypatch.chdir(tmp_path)
    line = refused(capsys, ["simulate", *PIG, *args])
    for word in words:
        assert word in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "args, words",
    [
        (["pog", "hold_at", "hold_at:25"], ["'pog'", "did you mean pig"]),
        (["pig", "hold_it", "hold_at:25"], ["'hold_it'", "did you mean hold_at"]),
        (["pig", "hold_at", "hold_at:x"], ["'x'", "at"]),
        (["pig", "hold_at"], ["B"]),
        (["pig", "hold_at", "uniform", "uniform"], ["uniform"]),
        ([*PIG, "--against", "hold_it"], ["'hold_it'", "did you mean hold_at"]),
        ([*PIG, *["--against", "hold_at"] * 10], ["1 to 9", "--against", "10"]),
        (["diceplomacy", "uniform", "uniform"], ["4 to 8 seats", "3 to 7", "--against", "0"]),
        (["diceplomacy", "uniform", "uniform", "--against", "uniform"], ["3 to 7", "--against", "1"]),
        ([*PIG, "--margin", "0"], ["margin", "0"]),
        ([*PIG, "--margin", "-0.1"], ["margin", "-0.1"]),
        ([*PIG, "--margin", "1"], ["margin", "1"]),
        ([*PIG, "--margin", "nan"], ["margin", "nan"]),
        ([*PIG, "--margin", "small"], ["'small'"]),
        ([*PIG, "--until", "0"], ["until", "0"]),
        ([*PIG, "--until", "2"], ["until", "2"]),
        ([*PIG, "--budget", "0"], ["0"]),
        ([*PIG, "--budget", TOO_BIG], [TOO_BIG, "budget"]),
        ([*PIG, "--level", "1"], ["level", "1"]),
        ([*PIG, "--seed", "-1"], ["-1"]),
        ([*PIG, "--jobs", "0"], ["jobs", "-1"]),
        ([*PIG, "--variant", "plain"], ["'plain'", "standard"]),
        ([*PIG, "--set", "gaol=50"], ["'gaol'", "did you mean goal"]),
        ([*PIG, "--games", "100"], ["--games"]),
    ],
    ids=lambda value: " ".join(value)[:60],
)
def test_compare(capsys, args, words):
    line = refused(capsys, ["compare", *args])
    for word in words:
        assert word in line


@pytest.mark.parametrize(
    "args, words",
    [
        (["--deal", "-1"], ["-1"]),
        (["--deal", TOO_BIG], [TOO_BIG, "deal"]),
        (["--deal", "x"], ["'x'"]),
        (["--rotation", "2"], ["2", "0 to 1"]),
        (["--rotation", "-1"], ["-1"]),
        (["--games", "1"], ["--games"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_trace(capsys, args, words):
    line = refused(capsys, ["trace", *PIG, *args])
    for word in words:
        assert word in line


@pytest.mark.parametrize(
    "args, words",
    [
        ([], ["--track"]),
        (["--track"], ["--track"]),
        (["--track", ""], ["''", "1,4,5"]),
        (["--track", "1;2"], ["'1;2'", "1,4,5"]),
        (["--track", "0"], ["0", "1 to 6"]),
        (["--track", "-1"], ["-1", "1 to 6"]),
        (["--track", "7"], ["7", "1 to 6"]),
        (["--track", "1,1"], ["1,1", "different"]),
        (["--track", "1,2,3,4,5,6,1"], ["1,2,3,4,5,6,1", "different"]),
        (["--track", "1", "--shields", "-1"], ["-1", "0 to 3"]),
        (["--track", "1", "--shields", "4"], ["4", "0 to 3"]),
        (["--track", "1", "--shields", "1", "--variant", "plain"], ["1", "0 to 0"]),
        (["--track", "1", "--shields", "x"], ["'x'"]),
        (["--track", "1", "--bonus", "x2"], ["'x2'", "suite"]),
        (["--track", "1,2,3", "--bonus", "suite"], ["'suite'", "4 values"]),
        (["--track", "1,2,3,4", "--bonus", "suite", "--variant", "plain"], ["'suite'", "BONUS die"]),
        (["--track", "1,2,3,4", "--bonus", "suite", "--set", "bonus_faces=X3"], ["'suite'", "x3"]),
        (["--track", "1,2,3,4"], ["4 values", "plus5"]),
        (["--track", "1", "--tripled", "1"], ["1", "x3-used"]),
        (["--track", "1,2,3,4,5", "--bonus", "plus5", "--tripled", "5"], ["5", "x3-used"]),
        (["--track", "1,2,3,4,5", "--bonus", "x3-used", "--tripled", "6"], ["6", "x3-used"]),
        (["--track", "1", "--double-score", "--variant", "plain"], ["Score x2", "plain"]),
        (["--track", "1", "--double-score", "--set", "risk_faces=DUEL"], ["Score x2"]),
        (["--track", "1", "--double-score", "--set", "max_risk_per_turn=0"], ["Score x2"]),
        (["--track", "1,2,3,4", "--bonus", "x3-used", "--shields", "3"], ["3", "0 to 2", "'x3-used'"]),
        (["--track", "1,2,3,4", "--bonus", "double-used", "--shields", "3"], ["3", "0 to 2", "'double-used'"]),
        (["--track", "1,2,3,4", "--bonus", "x3-used", "--variant", "even_faces,parade_cards=0"], ["'x3-used'", "PARADE"]),
        (["--track", "1,2,3,4,5", "--bonus", "x3", "--shields", "3"], ["3", "0 to 2", "'x3'"]),
        (["--track", "1,2,3,4,5", "--bonus", "double", "--double-score"], ["'double'", "5 values", "Score x2"]),
        (["--track", "1,2,3,4", "--bonus", "double", "--set", "double_forced=true"], ["'double'", "double_forced=true"]),
        (["--track", "1", "--variant", "pig"], ["'pig'", "standard", "plain"]),
        (["--track", "1", "--set", "goal=3"], ["'goal'", "target"]),
        (["--track", "1", "extra"], ["extra"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_stop(capsys, args, words):
    line = refused(capsys, ["stop", *args])
    for word in words:
        assert word in line


@pytest.mark.parametrize(
    "args, words",
    [
        (["--games", "0"], ["0"]),
        (["--games", "few"], ["'few'"]),
        (["--seed", "-1"], ["-1"]),
        (["--jobs", "0"], ["0", "-1"]),
        (["--reports", "nowhere"], ["nowhere", "--reports"]),
        (["--reports", ""], ["--reports"]),
        (["extra"], ["extra"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_report(capsys, tmp_path, monkeypatch, args, words):
    monkeypatch.chdir(tmp_path)
    line = refused(capsys, ["report", *args])
    for word in words:
        assert word in line
    assert list(tmp_path.iterdir()) == []


STUDY = """
ruleset = "dice-fever"
games = 4
seed = 1
[[groups]]
name = "pairs"
kind = "pairs"
policies = ["race", "uniform"]
[[groups]]
name = "sweep"
kind = "against"
policies = ["hold_pot:6", "hold_pot:7.5"]
opponents = ["hold_dice:3"]
[[groups]]
name = "seats"
kind = "self"
policies = ["race"]
[[groups]]
name = "many"
kind = "against"
policies = ["rule_1", "rule_3"]
opponents = ["race:2"]
seats = [3, 4]
games = 12
"""
PIG_STUDY = """
ruleset = "pig"
games = 4
seed = 1
[[groups]]
name = "pairs"
kind = "pairs"
policies = ["hold_at", "uniform"]
"""


@pytest.fixture
def reports(tmp_path, monkeypatch):
    """A folder of reports, of which nothing may be played or computed."""
    monkeypatch.setattr("analysis.report.run_matchup", lambda *args: pytest.fail("played before refusing"))
    monkeypatch.setattr("analysis.chapters.dice_fever.Turn.table", lambda turn: pytest.fail("computed the odds before refusing"))
    monkeypatch.setattr("analysis.report.CHAPTERS", {"dice_fever": dice_fever})
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "dice_fever.toml").write_text(STUDY)
    (tmp_path / "templates").mkdir()
    for name in ("layout", "index", "dice_fever", "stop"):
        (tmp_path / "templates" / f"{name}.html.j2").write_text("a page")
    return tmp_path


@pytest.mark.parametrize(
    "old, new, words",
    [
        (STUDY, None, ["dice_fever.toml"]),
        (STUDY, "ruleset = ", ["dice_fever.toml"]),
        (STUDY, PIG_STUDY, ["'pig'", "dice-fever"]),
        ("dice-fever", "chess", ["'chess'"]),
        ('"race"', '"rase"', ["'rase'", "race"]),
        ('name = "sweep"', 'name = "swept"', ["'sweep'", "'against'"]),
        ('name = "pairs"', 'name = "peers"', ["'pairs'"]),
        ('name = "seats"', 'name = "seat"', ["'seats'", "'self'"]),
        ('kind = "pairs"', 'kind = "self"', ["'pairs'", "'self'"]),
        ('"hold_pot:7.5"', '"hold_pot:7,cards=asap"', ["'sweep'", "'hold_pot:7,cards=asap'"]),
        ('["hold_dice:3"]', '["hold_dice:4"]', ["'sweep'", "hold_dice:3", "hold_dice:4"]),
        ('["race", "uniform"]', '["race"]', ["'pairs'", "'race'"]),
        ('["race", "uniform"]', '["race", "uniform"]\nvariants = ["standard", "plain"]', ["'pairs'", "standard, plain"]),
        ('["rule_1", "rule_3"]', '["rule_1", "rule_3"]\nvariants = ["standard", "plain"]', ["'many'", "standard, plain"]),
    ],
)
def test_report_of_a_bad_study(capsys, reports, old, new, words):
    study = reports / "studies" / "dice_fever.toml"
    study.unlink()
    if new is not None:
        study.write_text(STUDY.replace(old, new, 1))
    line = refused(capsys, ["report", "--reports", reports, "--jobs", "1"])
    assert all(word in line for word in words), line
    assert not (reports / "build").exists()


@pytest.mark.parametrize("name", ["layout.html.j2", "index.html.j2", "dice_fever.html.j2", "stop.html.j2"])
@pytest.mark.parametrize("text", [None, "{% for %}", b"\xff"])
def test_report_without_a_template(capsys, reports, name, text):
    template = reports / "templates" / name
    if text is None:
        template.unlink()
    else:
        template.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert name in refused(capsys, ["report", "--reports", reports, "--jobs", "1"])
    assert not (reports / "build").exists()


@pytest.mark.parametrize("place", ["build", "build/results", "build/tables", "build/figures"])
def test_report_into_a_place_that_cannot_be_written(capsys, reports, place):
    (reports / place).parent.mkdir(exist_ok=True)
    (reports / place).touch()
    assert place in refused(capsys, ["report", "--reports", reports, "--jobs", "1"])


@pytest.mark.parametrize("args", [["extra"], ["--jsn"]])
def test_list(capsys, args):
    assert args[0] in refused(capsys, ["list", *args])


@pytest.mark.parametrize(
    "args, words",
    [
        (["--fly"], ["--fly"]),
        (["fly"], ["'fly'"]),
        (["fly"], ["simulate", "stop", "report"]),
        (["simulat"], ["'simulat'", "did you mean simulate?"]),
    ],
)
def test_no_such_command(capsys, args, words):
    line = refused(capsys, args)
    for word in words:
        assert word in line


# --- the folder for rows --------------------------------------------------------------------------------------------------


def test_rows_under_a_file(capsys, tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "rows"):
        assert str(folder) in refused(capsys, ["simulate", *PIG, *FEW, "--rows", folder])


@pytest.mark.parametrize("folder", ["/proc/rows", "/sys/kernel"])
def test_rows_where_nothing_can_be_made(capsys, folder):
    if not os.path.isdir(os.path.dirname(folder)):
        pytest.skip("needs a file system that refuses new files")
    assert f"'{folder}'" in refused(capsys, ["simulate", *PIG, *FEW, "--rows", folder])


def test_rows_twice(capsys, tmp_path):
    printed(capsys, ["simulate", *PIG, *FEW, "--rows", tmp_path / "rows"])
    before = {path: path.read_bytes() for path in (tmp_path / "rows").iterdir()}
    assert before
    assert str(tmp_path / "rows") in refused(capsys, ["simulate", *PIG, *FEW, "--rows", tmp_path / "rows"])
    assert {path: path.read_bytes() for path in (tmp_path / "rows").iterdir()} == before


def test_rows_among_other_files(capsys, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    refused(capsys, ["simulate", *PIG, *FEW, "--rows", tmp_path])


# --- what is printed ------------------------------------------------------------------------------------------------------


def test_stdout_is_one_json_object_and_nothing_else(capsys):
    for args in (
        ["simulate", *PIG, *FEW],
        ["trace", *PIG],
        ["stop", "--track", "1,2"],
        ["list"],
        ["compare", *PIG, "--budget", 20, "--jobs", 1],
    ):
        out = printed(capsys, [*args, "--json"])
        assert out.startswith("{\n")
        assert out.endswith("}\n")
        assert isinstance(json.loads(out, parse_constant=pytest.fail), dict)


def test_simulate_json_of_a_single_deal_has_null_for_what_is_unknown(capsys):
    data = json.loads(printed(capsys, ["simulate", *PIG, "--games", 1, "--jobs", 1, "--seed", 4, "--level", 0.9, "--json"]))
    assert {key: data[key] for key in list(data)[:-1]} == {
        "ruleset": "pig",
        "version": "1",
        "variant": "standard",
        "seed": 4,
        "games": 2,
        "truncated": 0,
    }
    assert all(list(row) == ROW and row["level"] == 0.9 and row["n"] == 1 for row in data["estimates"])
    student = [row for row in data["estimates"] if row["method"] == "student"]
    assert student
    assert all(row[key] is None for row in student for key in ("stderr", "low", "high"))


def test_simulate_text_and_json_show_the_same_rows(capsys):
    args = ["simulate", *PIG, *FEW, "--set", "goal=50"]
    data = json.loads(printed(capsys, [*args, "--json"]))
    head, titles, *lines = printed(capsys, args).splitlines()
    assert data["variant"] == "standard,goal=50"
    assert head == "ruleset pig  version 1  variant standard,goal=50  seed 0  games 20  truncated 0"
    assert titles.split()[0] == "quantity"
    assert [line.split()[0] for line in lines] == [row["quantity"] for row in data["estimates"]]
    assert [float(line.split()[4]) for line in lines] == pytest.approx([row["estimate"] for row in data["estimates"]], rel=1e-4)


def test_a_seed_is_a_seed(capsys):
    out = [printed(capsys, ["simulate", *PIG, *FEW, "--seed", seed, "--json"]) for seed in (1, 1, 2)]
    assert out[0] == out[1]
    assert json.loads(out[1])["estimates"] != json.loads(out[2])["estimates"]


def test_interpreted_prints_the_same(capsys):
    args = ["simulate", *PIG, *FEW, "--json"]
    assert printed(capsys, args) == printed(capsys, [*args, "--interpreted"])


def test_stop_json_and_text(capsys):
    args = ["stop", "--track", "4,1,5", "--double-score"]
    data = json.loads(printed(capsys, [*args, "--json"]))
    assert list(data) == ["ruleset", "variant", "method", "advice", "p_out", "stop", "throw", "regret"]
    assert (data["advice"], data["stop"], data["p_out"]) == ("STOP", {"points": 20.0}, 0.5)
    assert list(data["throw"]) == ["points"]
    assert data["regret"] == pytest.approx(20 - data["throw"]["points"])
    text = printed(capsys, args)
    assert text.startswith("STOP")
    for part in ("20.00", f"{data['throw']['points']:.2f}", "50.0%", "THROW would cost"):
        assert part in text


def test_list_says_what_the_other_commands_take(capsys):
    for ruleset in json.loads(printed(capsys, ["list", "--json"]))["rulesets"]:
        low, _ = ruleset["seats"]
        assert set(ruleset) >= {"name", "version", "variants", "fields", "policies", "settings"}
        for variant in ruleset["variants"]:
            specs = (ruleset["settings"] * low)[:low]
            fields = [f"--set={name}={value}" for name, value in ruleset["fields"].items()]
            assert printed(capsys, ["trace", ruleset["name"], *specs, "--variant", variant, *fields])


# --- the help -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args", [["--help"], ["-h"], ["simulate", "--help"], ["compare", "--help"], ["stop", "-h"], ["report", "--help"], []]
)
def test_help(capsys, args):
    assert "Usage: dicelab" in printed(capsys, args)


def test_help_is_quick_and_version_is_a_version():
    dicelab = [sys.executable, "-X", "importtime", "-c", "from analysis.cli import main; main()"]
    started = time.perf_counter()
    done = subprocess.run([*dicelab, "--help"], capture_output=True, text=True, check=True)
    assert time.perf_counter() - started < 5
    assert "Usage: dicelab" in done.stdout
    modules = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "click" in modules
    assert not modules & {"numba", "pandas", "numpy", "scipy", "matplotlib", "joblib", "sims"}
    version = subprocess.run([*dicelab[:1], *dicelab[3:], "--version"], capture_output=True, text=True, check=True)
    assert version.stderr == ""
    assert "0.1.0" in version.stdout
