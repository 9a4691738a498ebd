"""The command: data on stdout, one line and status 2 for bad input, for every argument."""

import dataclasses
import json
import shlex
import subprocess
import sys
from types import SimpleNamespace

import pytest
from click.shell_completion import ShellComplete

from analysis.cli import cli, main
from sims import RULESETS, exact
from sims.jit import INTERPRETED
from sims.policy import load_policy  # noqa: F401  (loads the module that is patched)
from sims.ruleset import BY_STATE

GAMES = "20" if INTERPRETED else "200"
ESTIMATE_KEYS = ["quantity", "policy", "seat", "n", "estimate", "stderr", "low", "high", "level", "method"]
SIMULATE = ["simulate", "dice-fever", "hold_dice:3", "race:2", "--games", GAMES]


def test_simulate_json(capsys):
    main([*SIMULATE, "--seed", "7", "--json"])
    data = json.loads(capsys.readouterr().out)
    assert list(data) == ["ruleset", "version", "variant", "seed", "games", "truncated", "estimates"]
    assert (data["ruleset"], data["seed"], data["games"]) == ("dice-fever", 7, int(GAMES))
    assert all(list(row) == ESTIMATE_KEYS for row in data["estimates"])
    rates = [row for row in data["estimates"] if row["quantity"] == "win_rate"]
    assert sum(row["estimate"] for row in rates if row["seat"] is None) == pytest.approx(1)
    assert {row["seat"] for row in rates} == {None, 0, 1}
    assert all(row["low"] <= row["estimate"] <= row["high"] for row in data["estimates"])


def test_simulate_text(capsys):
    main(SIMULATE)
    captured = capsys.readouterr()
    assert "win_rate" in captured.out
    assert captured.err == ""


RANK = ["rank", "pig", "hold_at:10", "hold_at:5", "uniform", "--set", "goal=20", "--games", "20", "--jobs", "1"]
HEAD = ["ruleset", "version", "variant", "seats", "seed"]


def test_rank_json(capsys):
    main([*RANK, "--seed", "7", "--json"])
    data = json.loads(capsys.readouterr().out)
    assert list(data) == [*HEAD, "games", "truncated", "win_rates", "pairs", "ratings", "metagame", "cycles"]
    assert (data["ruleset"], data["variant"], data["seed"], data["games"]) == ("pig", "standard,goal=20", 7, 6 * 20)
    assert [len(data[name]) for name in ("win_rates", "pairs", "ratings", "metagame")] == [6, 3, 5, 9]
    for name in ("win_rates", "pairs", "ratings", "metagame"):
        assert all(set(ESTIMATE_KEYS) <= set(row) for row in data[name])


@pytest.mark.parametrize("seats", ["2", "3"])
def test_rank_text_fits_a_terminal(capsys, seats):
    main([*RANK, "keep_pace:21,divisor=7,end=65", "--seats", seats])
    captured = capsys.readouterr()
    assert captured.err == ""
    assert max(map(len, captured.out.splitlines())) <= 100
    for words in ("win rate of", "better than", "ratings", "alpha-rank", "cycles"):
        assert words in captured.out


def test_rank_all_and_keep_what_was_played(capsys, tmp_path):
    args = ["rank", "pig", "--all", "--set", "goal=10", "--games", "4", "--jobs", "1", "--out", str(tmp_path / "kept")]
    main(args)
    out = capsys.readouterr().out
    assert all(spec in out for spec in RULESETS["pig"].named_policies)
    assert list((tmp_path / "kept").iterdir())
    main(args)
    assert capsys.readouterr().out == out


def test_rank_with_a_budget(capsys):
    args = [*RANK[:7], "--budget", "600", "--jobs", "1", "--field", "uniform"]
    main([*args, "--json"])
    data = json.loads(capsys.readouterr().out)
    rest = ["confirmation_seed", "budget", "games", "truncated", "field", "winner", "verdict", "rounds", "confirmation"]
    assert list(data) == [*HEAD, *rest]
    assert (data["budget"], data["field"]) == (600, ["uniform"])
    assert all(set(ESTIMATE_KEYS) <= set(row) for row in [*data["rounds"], *data["confirmation"]])
    main(args)
    out = capsys.readouterr().out
    assert f"best against the field: {data['winner']}  ({data['verdict']} on fresh deals)" in out
    assert max(map(len, out.splitlines())) <= 100


def test_stop_json(capsys):
    main(["stop", "--track", "1,4,5", "--json"])
    data = json.loads(capsys.readouterr().out)
    assert (data["advice"], data["p_out"], data["stop"]["points"]) == ("STOP", 0.5, 10)
    assert data["throw"]["points"] == pytest.approx(7 + 2 / 3)


def test_stop_text(capsys):
    main(["stop", "--track", "1,4,5", "--shields", "1"])
    assert capsys.readouterr().out.startswith("THROW")


def test_list(capsys):
    main(["list", "--json"])
    data = json.loads(capsys.readouterr().out)
    assert [r["name"] for r in data["rulesets"]] == list(RULESETS)
    main(["list"])
    assert "hold_pot" in capsys.readouterr().out


def test_list_names_a_broken_plug_in(capsys, monkeypatch):
    class Broken:
        name = "broken"

        def load(self):
            raise ImportError("no module named nothing")

    monkeypatch.setattr(sys.modules["sims.policy"], "entry_points", lambda group: [Broken()])
    main(["list"])
    assert "installed policy broken: broken: ImportError: no module named nothing" in capsys.readouterr().out


def test_trace(capsys):
    main(["trace", "pig", "hold_at:20", "hold_at:25", "--seed", "1", "--deal", "2", "--rotation", "1"])
    assert "seed 1, deal 2, rotation 1" in capsys.readouterr().out
    main(["trace", "pig", "hold_at:20", "hold_at:25", "--json"])
    assert json.loads(capsys.readouterr().out)["lines"][-1].endswith("wins")


SOLVE = ["solve", "pig", "--set", "goal=5"]


def test_solve_json(capsys):
    main([*SOLVE, "--json"])
    data = json.loads(capsys.readouterr().out)
    assert list(data) == ["ruleset", "version", "variant", "first_seat_win", "states", "seconds", "path"]
    assert (data["ruleset"], data["version"], data["variant"]) == ("pig", "1", "standard,goal=5")
    assert 0.5 < data["first_seat_win"] < 1
    assert data["states"] > 100
    assert data["seconds"] > 0
    assert data["path"] is None


def test_solve_text(capsys):
    main(SOLVE)
    captured = capsys.readouterr()
    assert captured.out.startswith("first seat wins 0.")
    assert "pig standard,goal=5" in captured.out
    assert captured.err == ""


def test_solve_asks_the_solver_of_the_game_itself(capsys, monkeypatch, tmp_path):
    def solver(ruleset, variant):
        assert ruleset.name == "pig"
        return SimpleNamespace(first_seat_win=0.25, states=len(variant.values), seconds=1.5, path=tmp_path / "kept.npz")

    pig = RULESETS["pig"]
    for kind in [kind for kind, ruleset in BY_STATE.items() if ruleset is pig]:
        monkeypatch.setitem(BY_STATE, kind, pig)  # put back at the end
    monkeypatch.setitem(RULESETS, "pig", dataclasses.replace(pig, solver=solver))
    main([*SOLVE, "--json"])
    data = json.loads(capsys.readouterr().out)
    assert (data["first_seat_win"], data["states"], data["seconds"]) == (0.25, 3, 1.5)
    assert data["path"] == str(tmp_path / "kept.npz")
    main(SOLVE)
    assert f"kept in {tmp_path / 'kept.npz'}" in capsys.readouterr().out


STOP = ["stop", "--track", "1,4,5"]
BAD = [
    (["rank", "pig"], "or '--all'"),
    (["rank", "pog", "--all"], "did you mean pig?"),
    (["rank", "pig", "hold_at"], "needs 2 to 30 policies, not 1"),
    (["rank", "pig", "hold_at", "hold_at:20"], "hold_at:20 is there twice"),
    (["rank", "pig", "hold_it", "hold_at"], "did you mean hold_at"),
    (["rank", "pig", "--all", "--games", "3"], "games must be a whole number from 4"),
    (["rank", "pig", "--all", "--seats", "1"], "seats must be"),
    (["rank", "pig", "--all", "--level", "2"], "level must be"),
    (["rank", "pig", "--all", "--jobs", "0"], "jobs must not be 0"),
    (["rank", "pig", "--all", "--out", ""], "''"),
    (["rank", "pig", "--all", "--field", "uniform"], "--field needs --budget"),
    (["rank", "pig", "--all", "--budget", "99", "--games", "99"], "--games does not go with --budget"),
    (["rank", "pig", "--all", "--budget", "9999", "--out", "kept"], "--out does not go with --budget"),
    (["rank", "pig", "--all", "--budget", "99"], "a budget of 99 games is too small"),
    (["rank", "pig", "--all", "--budget", "9999", "--jobs", "0"], "jobs must not be 0"),
    (["fly"], "fly"),
    (["simulate", "dice-fevre", "race", "race"], "did you mean dice-fever?"),
    (["simulate", "dice-fever", "hold_dise:3", "race"], "did you mean hold_dice?"),
    (["simulate", "dice-fever", "hold_dice:x", "race"], "'x'"),
    (["simulate", "dice-fever", "hold_dice:3,card=asap", "race"], "'card'; did you mean cards?"),
    (["simulate", "dice-fever", "hold_dice:3,cards=now", "race"], "choose from none, asap"),
    (["simulate", "dice-fever", "no_such.py:me", "race"], "no_such.py"),
    (["simulate", "dice-fever", "race"], "2 to 6 seats, not 1"),
    (["simulate", "pig", "table:none.npy", "hold_at"], "none.npy"),
    ([*SIMULATE, "--variant", "plane"], "did you mean plain?"),
    ([*SIMULATE, "--set", "targt=5"], "did you mean target?"),
    ([*SIMULATE, "--set", "target=0"], "from 1 to 1000000, not '0'"),
    ([*SIMULATE, "--set", "target"], "field=value"),
    ([*SIMULATE, "--set", "bonus_die=maybe"], "choose from true, false"),
    ([*SIMULATE, "--set", "bonus_faces=X9"], "choose from PLUS5, DOUBLE, X3, SUITE"),
    ([*SIMULATE, "--set", "duel_stake=big"], "or difference, or winner_die"),
    ([*SIMULATE, "--games", "0"], "0 is not in the range"),
    ([*SIMULATE, "--games", "many"], "'many'"),
    ([*SIMULATE, "--seed", "-1"], "-1"),
    ([*SIMULATE, "--jobs", "0"], "jobs must not be 0"),
    ([*SIMULATE, "--level", "2"], "2"),
    ([*SIMULATE, "--colour"], "--colour"),
    (["trace", "dice-fever", "race", "race", "--rotation", "2"], "from 0 to 1, not 2"),
    (["trace", "dice-fever", "race", "race", "--deal", "-1"], "-1"),
    (["trace", "dice-fever", "race", "rase"], "did you mean race?"),
    (["stop"], "--track"),
    (["stop", "--track", "1,4,x"], "'1,4,x'"),
    (["stop", "--track", "1,4,4"], "1,4,4"),
    (["stop", "--track", "7"], "not 7"),
    ([*STOP, "--shields", "4"], "from 0 to 3"),
    ([*STOP, "--bonus", "x4"], "choose from none, plus5"),
    ([*STOP, "--bonus", "x3"], "needs 4 values on the track"),
    (["stop", "--track", "1,2,3,4"], "choose its bonus from plus5"),
    (["stop", "--track", "1,2,3,4,5", "--bonus", "x3-used", "--tripled", "6"], "tripled value 6"),
    ([*STOP, "--variant", "plain", "--double-score"], "Score x2 cannot happen"),
    (["solve"], "RULESET"),
    (["solve", "pog"], "did you mean pig?"),
    (["solve", "pig", "--variant", "plain"], "choose from standard"),
    (["solve", "pig", "--set", "gaol=5"], "did you mean goal?"),
    (["solve", "pig", "--set", "goal=0"], "from 1 to 10000, not '0'"),
    (["solve", "pig", "hold_at"], "hold_at"),
    (["report", "--reports", "no/such/folder"], "no/such/folder"),
    (["report", "--jobs", "0"], "jobs must not be 0"),
    (["report", "--games", "0"], "0 is not in the range"),
]


@pytest.mark.parametrize("args, part", BAD, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_bad_input_is_one_line_and_status_2(args, part, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(args)
    captured = capsys.readouterr()
    assert exit_.value.code == 2
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert part in captured.err


def test_too_many_positions_are_one_line_and_status_2(capsys, monkeypatch):
    monkeypatch.setattr(exact.solve, "__defaults__", (None, 2, 100))
    with pytest.raises(SystemExit) as exit_:
        main(SOLVE)
    captured = capsys.readouterr()
    assert (exit_.value.code, captured.out) == (2, "")
    assert captured.err.count("\n") == 1
    assert "pig standard,goal=5 has more than 100 positions" in captured.err


def test_rows_folder_must_be_empty_and_writable(tmp_path, capsys):
    main([*SIMULATE, "--rows", str(tmp_path / "rows")])
    assert list((tmp_path / "rows").glob("*.parquet"))
    (tmp_path / "file").touch()
    for folder in (tmp_path / "rows", tmp_path / "file"):
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main([*SIMULATE, "--rows", str(folder)])
        assert exit_.value.code == 2
        assert str(folder) in capsys.readouterr().err


def test_illegal_action_is_status_1(tmp_path, capsys):
    (tmp_path / "mine.py").write_text("def bold(view, actions, n, params, rng):\n    return 99\n")
    with pytest.raises(SystemExit) as exit_:
        main(["simulate", "pig", f"{tmp_path}/mine.py:bold", "hold_at", "--games", "2"])
    assert exit_.value.code == 1
    assert "action 99" in capsys.readouterr().err


def test_help_does_not_load_numba():
    code = "import sys, analysis.cli as c\ntry: c.main(['--help'])\nfinally: print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "simulate" in done.stdout
    assert done.stdout.rstrip().endswith("False")


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_command_has_an_example_that_can_be_typed(name):
    command = cli.commands[name]
    words = shlex.split(command.epilog.removeprefix("Example: "))
    assert words[:2] == ["dicelab", name]
    command.make_context(name, words[2:])


@pytest.mark.parametrize(
    "words, answers",
    [
        ("dicelab simu", {"simulate"}),
        ("dicelab simulate dice-f", {"dice-fever", "dice-forge"}),
        ("dicelab simulate pig hold_at:20 hold", {"hold_at"}),
        ("dicelab regret dice-fever rac", {"race"}),
        ("dicelab regret dice-never rac", set()),
    ],
)
def test_the_shell_completes(words, answers):
    words = words.split()
    found = ShellComplete(cli, {}, "dicelab", "_DICELAB_COMPLETE").get_completions(words[1:-1], words[-1])
    assert {each.value for each in found} == answers
