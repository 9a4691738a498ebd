"""``dicelab stop`` to win and at the table: the same numbers as the solved game, every position of a game accepted, no other."""

import json
from itertools import islice

import numpy as np
import pytest
from click.testing import CliRunner

from analysis.at_table import Record
from analysis.cli import cli, main
from sims.errors import InputError
from sims.jit import INTERPRETED
from sims.ruleset import CHANCE, OVER
from sims.rulesets import RULESETS
from sims.rulesets.dice_fever import exact, rules, solver, values_of
from sims.rulesets.dice_fever.adviser import Adviser, Table
from sims.trace import follow

DICE_FEVER = RULESETS["dice-fever"]
PLAIN = "plain,target=20"
CARDS = "plain,target=20,parade_cards=1,risk_cards=1,risk_faces=DUEL/RELANCE/X2"
BONUS = "standard,target=20,parade_cards=1,risk_cards=1"
OPTIONS = ["--variant", "plain", "--set", "target=20"]
CARD_OPTIONS = [*OPTIONS, "--set", "parade_cards=1", "--set", "risk_cards=1", "--set", "risk_faces=DUEL/RELANCE/X2"]
compiled = pytest.mark.skipif(INTERPRETED, reason="solving takes minutes in plain Python")


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    """A cache folder of this module's own, so that each variant is solved once."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sims.rulesets.dice_fever.exact.user_cache_path", lambda name: folder)
        yield


def printed(capsys, args):
    main(["stop", *args])
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def refused(capsys, args):
    with pytest.raises(SystemExit) as caught:
        main(["stop", *args])
    captured = capsys.readouterr()
    assert caught.value.code == 2
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def position(variant, scores, script, seat=0):
    """A position by the rules: these scores (by seat), then the words of a turn."""
    state = DICE_FEVER.new_state(2, variant)
    state.score[:2] = scores
    rules.start_turn(state, seat)
    return follow(DICE_FEVER, state, script)


# --- to win -----------------------------------------------------------------------------------------------------------------


def asked(state):
    """What a player at the table would say of a position."""
    me, they = int(state.turn), 1 - int(state.turn)
    bonus = "none" if state.bonus_face == rules.NO_FACE else rules.BONUS_FACES[state.bonus_face].lower()
    if (bonus == "double" and not state.double) or (bonus == "x3" and not state.next3):
        bonus += "-used"
    hands = [(int(state.parade[seat]), int(state.risk[seat])) for seat in (me, they)]
    scores = int(state.score[me]), int(state.score[they])
    tokens = bool(state.tokens[me]), bool(state.tokens[they])
    table = Table(scores, *hands, me + 1, bool(state.last_round), *tokens)
    turn = tuple(values_of(int(state.track))), int(state.shields), bonus, int(state.tripled_value), bool(state.mult == 2)
    return table, turn


def decisions(variant):
    """Positions of STOP or throw, in games of chance without an end."""
    rng = np.random.default_rng(1)
    while True:
        state = DICE_FEVER.new_state(2, variant)
        while (who := rules.actor(state)) != OVER:
            if state.phase == rules.DECIDE:
                yield state.copy()
            codes = range(rules.chance(state)) if who == CHANCE else DICE_FEVER.legal(state)
            DICE_FEVER.advance(state, int(rng.choice(list(codes))))


@pytest.mark.parametrize(
    "variant, n",
    [(PLAIN, 60), pytest.param(CARDS, 150, marks=compiled), pytest.param(BONUS, 20, marks=[compiled, pytest.mark.long])],
)
def test_every_position_of_a_game_has_the_advice_of_its_solution(variant, n):
    adviser, seen = Adviser(DICE_FEVER, variant), set()
    for state in islice(decisions(variant), n):
        table, turn = asked(state)
        advice = adviser.advise(table, *turn)
        options = adviser.solution.options(state)
        assert advice.stop == pytest.approx(options[rules.STOP], abs=1e-12)
        assert advice.throw == pytest.approx(options[rules.THROW], abs=1e-12)
        assert advice.table == table
        if not (table.relance or advice.stop_is_out):
            assert advice.p_out == pytest.approx(advice.odds.p_out)
        seen |= {("last", table.last_turn), ("relance", table.relance), ("mine", table.my_relance), ("x2", turn[4])}
        seen |= {("out", advice.stop_is_out)}
    names = {PLAIN: ("last", "out"), CARDS: ("last", "out", "relance", "mine", "x2"), BONUS: ()}[variant]
    assert seen >= {(name, value) for name in names for value in (True, False)}


def test_json_and_text(capsys):
    args = ["--track", "1,4,5", "--scores", "3,12", *OPTIONS]
    data = json.loads(printed(capsys, [*args, "--json"]))
    state = position(PLAIN, (3, 12), "1 4 5")
    options = exact.solution(DICE_FEVER, PLAIN).options(state)
    assert data["stop"] == {"points": 10, "win": pytest.approx(options[rules.STOP]), "out": False}
    assert data["throw"]["win"] == pytest.approx(options[rules.THROW])
    assert data["regret_win"] == pytest.approx(abs(data["stop"]["win"] - data["throw"]["win"]))
    assert data["regret"] == pytest.approx(abs(data["stop"]["points"] - data["throw"]["points"]))
    assert (data["p_out"], data["for_points"]) == (0.5, "STOP")
    assert data["rules"] == {"rule_1": "STOP", "rule_3": "STOP", "rule_7": "STOP"}
    assert data["inputs"] == {
        "track": [1, 4, 5],
        "shields": 0,
        "bonus": "none",
        "tripled": 0,
        "double_score": False,
        "scores": [3, 12],
        "cards": [0, 0],
        "their_cards": [0, 0],
        "seat": 1,
        "last_turn": False,
        "relance": False,
        "my_relance": False,
    }
    text = printed(capsys, args)
    assert text.startswith(data["advice"])
    for part in (f"{data['stop']['win']:.2%}", f"{data['throw']['win']:.2%}", "50.0%", "1, 4, 5: OUT", "for points  STOP"):
        assert part in text


def test_what_comes_after_a_throw_is_best_play():
    adviser = Adviser(DICE_FEVER, PLAIN)
    advice = adviser.advise(Table((3, 12)), (1, 4, 5))
    words = {path: move for move, paths in advice.next.items() for path in paths}
    assert sorted(words) == list("123456")
    for value in (2, 3, 6):
        options = adviser.solution.options(position(PLAIN, (3, 12), f"1 4 5 {value}"))
        assert words[str(value)] == ("THROW" if options[rules.THROW] > options[rules.STOP] else "STOP")


def test_needed_six_is_said(capsys):
    args = ["--track", "1,4", "--scores", "15,3", *OPTIONS]
    assert "it would be OUT: 15 + 5 points reach 20 without a 6" in printed(capsys, args)
    data = json.loads(printed(capsys, [*args, "--json"]))
    assert data["stop"]["out"]
    assert data["advice"] == "THROW"


def test_last_turn_needs_more_than_theirs(capsys):
    args = ["--track", "5,6", "--scores", "12,23", "--seat", "2", "--last-turn", *OPTIONS, "--json"]
    data = json.loads(printed(capsys, args))
    assert data["stop"]["win"] == pytest.approx(solver.tie_value(DICE_FEVER, DICE_FEVER.variant(PLAIN)))
    args[3] = "13,23"
    assert json.loads(printed(capsys, args))["stop"]["win"] == 1


@compiled
def test_hands_by_default_are_what_the_turn_leaves():
    adviser = Adviser(DICE_FEVER, CARDS)
    for table, turn, mine, theirs in (
        ({}, {}, (1, 1), (1, 1)),
        ({}, {"shields": 1}, (0, 1), (1, 1)),
        ({}, {"double_score": True}, (1, 0), (1, 1)),
        ({"relance": True, "my_relance": True}, {}, (1, 0), (1, 0)),
        ({"cards": (0, 0), "their_cards": (0, 1)}, {}, (0, 0), (0, 1)),
    ):
        asked_of = adviser.advise(Table((3, 12), **table), (1, 4), **turn).table
        assert (asked_of.cards, asked_of.their_cards) == (mine, theirs)


GAME = ["--track", "1,2,6", "--scores"]


@pytest.mark.parametrize(
    "args, words",
    [
        ([*GAME, "40"], ["'40'", "40,52"]),
        ([*GAME, "40,x"], ["'40,x'", "40,52"]),
        ([*GAME, "80,10"], ["80", "0 to 75"]),
        ([*GAME, "-1,10"], ["-1", "0 to 75"]),
        ([*GAME, "10,-5"], ["-5", "0 to 75"]),
        ([*GAME, "81,10", "--cards", "3,1"], ["81", "-5 to 80"]),
        ([*GAME, "10,81", "--their-cards", "3,1", "--seat", "2"], ["81", "-5 to 80", "last-turn"]),
        ([*GAME, "10,80", "--their-cards", "3,1", "--relance"], ["80", "0 to 75"]),
        ([*GAME, "10,75", "--seat", "2", "--last-turn"], ["75", "76 or more"]),
        ([*GAME, "10,70", "--seat", "2", "--last-turn", "--cards", "3,1"], ["70", "71 or more"]),
        ([*GAME, "10,80", "--last-turn"], ["last-turn", "seat 2"]),
        ([*GAME, "10,20", "--seat", "3"], ["3", "1 (I start"]),
        ([*GAME, "10,20", "--cards", "4,0"], ["4,0", "0,0 to 3,2"]),
        ([*GAME, "10,20", "--cards", "1"], ["'1'", "2,1"]),
        ([*GAME, "10,20", "--cards", "2,0", "--shields", "2"], ["2,0", "0,0 to 1,2"]),
        ([*GAME, "10,20", "--cards", "2,2", "--double-score"], ["2,2", "0,0 to 3,1"]),
        ([*GAME, "10,20", "--their-cards", "3,3"], ["3,3", "0,0 to 3,2"]),
        ([*GAME, "10,20", "--their-cards", "3,2", "--relance"], ["3,2", "0,0 to 3,1"]),
        ([*GAME, "10,20", "--relance", "--set", "risk_faces=X2"], ["relance", "no such face"]),
        ([*GAME, "10,20", "--relance", "--set", "risk_cards=0"], ["relance", "no RISK card"]),
        ([*GAME, "10,20", "--my-relance", "--double-score"], ["my-relance", "another face"]),
        (["--track", "1,2,3,4,5,6", "--bonus", "suite", "--scores", "1,2"], ["1,2,3,4,5,6", "over"]),
        (["--track", "1,2,6", "--cards", "1,1"], ["--cards", "--scores"]),
        (["--track", "1,2,6", "--last-turn"], ["--last-turn", "--scores"]),
        (["--interactive", "--track", "1"], ["--track", "--interactive"]),
        (["--interactive", "--scores", "1,2"], ["--scores", "--interactive"]),
        (["--interactive", "--set", "target=x"], ["'x'", "target"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_bad_input_is_refused_before_the_game_is_solved(capsys, monkeypatch, args, words):
    monkeypatch.setattr("sims.rulesets.dice_fever.adviser.solution", None)
    line = refused(capsys, args)
    for word in words:
        assert word in line


def test_validated_score_out_of_reach_is_refused(capsys):
    args = ["--track", "1", "--scores", "3,51", "--seat", "2", "--last-turn", *OPTIONS]
    assert "50 or less" in refused(capsys, args)


@compiled
def test_forced_relance_is_over_after_the_fourth_value(capsys):
    args = ["--track", "1,2,3,4", "--scores", "3,5", "--relance", *CARD_OPTIONS, "--set", "relance_mode=forced"]
    assert "under a Relance" in refused(capsys, args)


# --- at the table -----------------------------------------------------------------------------------------------------------


def at_table(script, *options):
    return CliRunner().invoke(cli, ["stop", "--interactive", *options], input="\n".join(script.split()) + "\n")


def replayed(variant, record):
    return follow(DICE_FEVER, DICE_FEVER.new_state(2, variant), record)


def test_game_with_undo_and_a_bad_word():
    result = at_table("3 THROW 5 fly throw undo undo 6 THROW 4 STOP 2 help quit", *OPTIONS)
    assert result.exit_code == 0
    assert result.stdout == "3 THROW 6 THROW 4 STOP\n2\n"
    assert "'FLY' is not possible here; choose from STOP, THROW; or undo, help, quit" in result.stderr
    assert "valid now: STOP, THROW, undo, help, quit" in result.stderr
    assert list(replayed(PLAIN, result.stdout).score[:2]) == [13, 0]
    state = position(PLAIN, (0, 0), "3 6")
    stop, throw = exact.solution(DICE_FEVER, PLAIN).options(state).values()
    assert f"player 1 to win: STOP {stop:.2%}  THROW {throw:.2%}  best {'THROW' if throw > stop else 'STOP'}" in result.stderr


def test_game_to_its_end():
    words = "6 5 4 STOP 1 1 6 5 STOP 2 2"
    result = at_table(f"{words} quit", *OPTIONS, "--json")
    data = json.loads(result.stdout)
    assert (data["words"], data["scores"], data["winner"]) == (words.split(), [26, 0], 1)
    assert "scores 26 0: player 1 wins" in result.stderr


def test_end_of_input_keeps_the_record():
    result = at_table("3", *OPTIONS)
    assert (result.exit_code, result.stdout) == (0, "3\n")
    assert result.stderr.endswith("scores 0 0  turn of player 1  track 3  shields 0  points 3\n")
    assert at_table("undo", *OPTIONS).stdout == "\n"
    assert "nothing to undo" in at_table("undo", *OPTIONS).stderr


@compiled
def test_cards_duel_and_relance():
    result = at_table("P1R DUEL 2 5 4 3 STOP P0R RELANCE 3 STOP P0 5 KEEP 1 USE1 2 STOP", *CARD_OPTIONS)
    assert result.stdout.splitlines() == ["P1R DUEL 2 5 4 3 STOP", "P0R RELANCE 3 STOP", "5 KEEP 1 USE1 2 STOP"]
    assert "'P0' is not possible here" in result.stderr  # player 1 has no card left, so the turn begins with a die
    assert "player 2, die in the Duel:" in result.stderr
    assert "player 2, Relance used on which die (KEEP USE5):" in result.stderr
    assert "player 2 to win: KEEP" in result.stderr


def test_record_takes_back_word_by_word():
    record = Record(DICE_FEVER, DICE_FEVER.variant(CARDS))
    states = []
    for word in ("P1", "3", "THROW", "3", "5", "STOP", "P0R", "X2", "6", "STOP"):
        states.append(record.state.tobytes())
        record.play(word)
    with pytest.raises(InputError, match="P9"):
        record.play("P9")
    assert record.lines() == ["P1 3 THROW 3 5 STOP", "P0R X2 6 STOP"]
    for state in reversed(states):
        record.undo()
        assert record.state.tobytes() == state
