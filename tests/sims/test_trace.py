"""Transcripts. A committed one says in its heading which game it is, so playthroughs/*.txt need no list beside them.

To add one, write the heading (title, variant; seed, deal, rotation; the policies) and run
``DICELAB_REWRITE=1 pytest tests/sims/test_trace.py``, which plays every committed game again and overwrites its file.
"""

import importlib
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sims import RULESETS, InputError, policy, simulate, trace
from sims.jit import INTERPRETED
from sims.ruleset import OVER
from sims.simulate import set_table

MODULE = importlib.import_module("sims.trace")  # `sims.trace` is the function
PLAYTHROUGHS = sorted((Path(__file__).parent / "playthroughs").glob("*.txt"))
HEADING = re.compile(r".*, variant (?P<variant>.+)\nseed (?P<seed>\d+), deal (?P<deal>\d+), rotation (?P<rotation>\d+)\n")
each_playthrough = pytest.mark.parametrize("path", PLAYTHROUGHS, ids=lambda path: path.stem)


def game_of(path):
    """Ruleset, policies and keys of the game that a transcript tells of."""
    text = path.read_text("utf-8")
    keys = HEADING.match(text).groupdict()
    seated = re.findall(r"^seat \d+: (\S+)$", text, re.MULTILINE)
    rotation = int(keys["rotation"])
    specs = [seated[(entry - rotation) % len(seated)] for entry in range(len(seated))]
    numbers = {name: int(keys[name]) for name in ("seed", "deal", "rotation")}
    return path.stem.rpartition("-")[0], specs, {"variant": keys["variant"], **numbers}


def script_of(text):
    """The words of a transcript, without whose they are."""
    lines = [line for line in text.splitlines() if "  -> " in line]
    return " ".join(re.sub(r"\[seat \d+: (\S+)\]", r"\1", line.partition(": ")[2].partition("  -> ")[0]) for line in lines)


def final_state(ruleset, specs, variant, seed, deal, rotation):
    return MODULE.replay(set_table(ruleset, specs, variant), seed, deal, rotation).state


@each_playthrough
def test_committed_transcripts(path):
    ruleset, specs, keys = game_of(path)
    text = trace(ruleset, specs, **keys)
    if os.environ.get("DICELAB_REWRITE"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


@each_playthrough
def test_interpreted_transcripts_are_the_same(path):
    ruleset, specs, keys = game_of(path)
    assert trace(ruleset, specs, **keys, interpreted=True) == path.read_text("utf-8")


@each_playthrough
def test_transcript_agrees_with_the_rows(path, tmp_path):
    ruleset, specs, keys = game_of(path)
    deal, rotation = keys.pop("deal"), keys.pop("rotation")
    text = path.read_text("utf-8")
    simulate(ruleset, specs, (deal + 1) * len(specs), n_jobs=1, rows=tmp_path, progress=False, **keys)
    rows = pd.read_parquet(tmp_path)
    rows = rows[(rows.deal == deal) & (rows.rotation == rotation)].sort_values("seat")
    assert rows.policy.tolist() == re.findall(r"^seat \d+: (\S+)$", text, re.MULTILINE)
    turns = [line for line in text.splitlines() if "  -> " in line]
    assert rows.score.tolist() == [int(score) for score in turns[-1].partition("  -> ")[2].split()]
    ending = text.splitlines()[-1]
    winners = [int(seat) for seat in re.findall(r"seat (\d+)", ending)]
    shares = np.zeros(len(specs))
    shares[winners] = 1 / max(1, len(winners))
    np.testing.assert_allclose(rows.payoff, shares)
    assert rows.truncated.eq("truncated" in ending).all()
    if set(script_of(text).split()) <= {*"123456789", "10", "HOLD", "ROLL", "STOP", "THROW"}:  # every decision is a word
        assert rows.plies.eq(len(re.findall("HOLD|ROLL|STOP|THROW", text))).all()


@each_playthrough
def test_words_of_a_transcript_play_the_game_again(path):
    ruleset, specs, keys = game_of(path)
    state = RULESETS[ruleset].new_state(len(specs), keys["variant"])
    script = script_of(path.read_text("utf-8"))
    assert MODULE.follow(RULESETS[ruleset], state, script) is state
    assert state.tobytes() == final_state(ruleset, specs, **keys).tobytes()
    shorter = re.sub(r"\b(THROW|ROLL) (?=\d)", "", script)  # those before a die may be left out
    again = RULESETS[ruleset].new_state(len(specs), keys["variant"])
    assert MODULE.follow(RULESETS[ruleset], again, shorter.split()).tobytes() == state.tobytes()


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=RULESETS)
def test_words_play_random_games_again(ruleset):
    """Uniform play visits what sensible play does not."""
    for preset in ruleset.presets:
        for seats in (ruleset.seats[0], ruleset.seats[1]):
            for deal in range(2 if INTERPRETED else 8):
                keys = {"variant": f"{preset},ply_limit=60", "seed": 9, "deal": deal, "rotation": 0}
                text = trace(ruleset, ["uniform"] * seats, **keys)
                state = MODULE.follow(ruleset, ruleset.new_state(seats, keys["variant"]), script_of(text))
                assert state.tobytes() == final_state(ruleset, ["uniform"] * seats, **keys).tobytes()
                assert ("truncated after 60 decisions: nobody wins" in text) == (ruleset.rules.actor(state) != OVER)


def test_playthroughs_show_the_windows_of_dice_fever():
    """Otherwise a change there would leave every transcript as it is."""
    text = "\n".join(path.read_text("utf-8") for path in PLAYTHROUGHS if path.stem.startswith("dice-fever"))
    for word in ("DUEL", "RELANCE", "SIX", "X2", "[seat", "SEAT", "P0R", "P1", "X3", "DOUBLE", "PLUS5", "SUITE"):
        assert word in text
    for variant in ("standard", "plain", "even_faces"):
        assert f"variant {variant}" in text


def test_deals_and_rotations_are_different_games():
    keys = [(seed, deal, rotation) for seed in (0, 1) for deal in (0, 1) for rotation in (0, 1)]
    texts = {trace("pig", ["hold_at:20", "hold_at:25"], *key).partition("seat 0")[2] for key in keys}
    assert len(texts) == len(keys)


def test_truncated_game_says_so():
    text = trace("pig", ["hold_at:20", "hold_at:25"], variant="standard,ply_limit=5")
    assert text.endswith("truncated after 5 decisions: nobody wins\n")
    assert len(re.findall("HOLD|ROLL", text)) == 5


def test_shared_win_says_so(tmp_path):
    game = {"ruleset": "dice-fever", "policies": ["hold_dice:1"] * 6, "variant": "target=6,sudden_death=share_win"}
    game["variant"] = f"standard,{game['variant']}"
    simulate(**game, games=300 if INTERPRETED else 3_000, n_jobs=1, rows=tmp_path, progress=False)
    rows = pd.read_parquet(tmp_path)
    shared = rows[(rows.payoff > 0) & (rows.payoff < 1)]
    assert len(shared)
    deal, share = shared.deal.iloc[0], shared.payoff.iloc[0]
    winners = shared[shared.deal == deal].seat
    names = " and ".join(f"seat {seat}" for seat in sorted(winners))
    ending = trace(**game, deal=int(deal)).splitlines()[-1]
    assert ending == f"{names} share the win ({round(share * 2520)}/2520 each)"


def test_illegal_action_ends_a_transcript():
    def cheat(view, actions, n, params, rng):
        return 7

    text = trace("pig", ["hold_at:20", policy(cheat)], rotation=1)
    assert re.search(r"seat 0: \d illegal action 7 ", text)
    assert text.endswith("stopped by the illegal action\n")


@pytest.mark.parametrize(
    "script, wrong, choices",
    [
        ("4 HOLD 7", "'7'", "1, 2, 3, 4, 5, 6"),
        ("HOLD", "'HOLD'", "1, 2, 3, 4, 5, 6"),
        ("4 STOP", "'STOP'", "HOLD, ROLL"),
        ("4 hold", "'hold'", "HOLD, ROLL"),
        ("4 ROLL HOLD", "'HOLD'", "1, 2, 3, 4, 5, 6"),
        (["4", "ROLL", "8"], "'8'", "1, 2, 3, 4, 5, 6"),
    ],
)
def test_wrong_word_is_refused(script, wrong, choices):
    state = RULESETS["pig"].new_state(2)
    with pytest.raises(InputError) as caught:
        MODULE.follow(RULESETS["pig"], state, script)
    assert wrong in str(caught.value)
    assert choices in str(caught.value)


def test_last_positions_are_those_of_the_games():
    table = set_table("dice-forge", ["greedy_feat", "gold_engine:2"])
    for deal, state in enumerate(MODULE.last_positions(table, 5, 4)):
        assert state.tobytes() == MODULE.replay(table, 5, deal, 0).state.tobytes()
        assert state.winner.sum() > 0


def test_refused_word_leaves_the_position():
    """Not even the ROLL that was understood before it."""
    state = MODULE.follow(RULESETS["pig"], RULESETS["pig"].new_state(2), "4")
    before = state.tobytes()
    with pytest.raises(InputError, match="HOLD, ROLL"):
        MODULE.follow(RULESETS["pig"], state, "7")
    assert state.tobytes() == before


def test_word_after_the_end_is_refused():
    state = MODULE.follow(RULESETS["pig"], RULESETS["pig"].new_state(2, "standard,goal=6"), "6 HOLD")
    with pytest.raises(InputError, match="the game is over"):
        MODULE.follow(RULESETS["pig"], state, "6")


@pytest.mark.parametrize(
    "options, part",
    [
        ({"rotation": 2}, "rotation must be a whole number from 0 to 1, not 2"),
        ({"rotation": -1}, "not -1"),
        ({"deal": -1}, "-1"),
        ({"seed": -3}, "-3"),
        ({"seed": 2**64}, str(2**64)),
        ({"deal": 2**64}, str(2**64)),
        ({"seed": "x"}, "'x'"),
        ({"deal": 1.5}, "1.5"),
        ({"variant": "plane"}, "'plane'"),
        ({"policies": ["hold_at:20", "hold"]}, "'hold'"),
        ({"policies": ["hold_at:20"]}, "not 1"),
        ({"ruleset": "pigg"}, "did you mean pig?"),
    ],
    ids=str,
)
def test_bad_input_is_refused(options, part):
    with pytest.raises(InputError) as caught:
        trace(**{"ruleset": "pig", "policies": ["hold_at:20"] * 2, **options})
    assert part in str(caught.value)
