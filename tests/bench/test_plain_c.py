"""The C loop, written apart from the rules, and the simulation play the same game: plain Dice Fever."""

import shutil
import subprocess
from pathlib import Path

import pytest

from sims import simulate
from sims.jit import INTERPRETED

SOURCE = Path(__file__).with_name("plain.c")
GAMES = 400_000
POLICIES = ("hold_pot:12", "hold_dice:3")


@pytest.fixture(scope="module")
def c_rates(tmp_path_factory):
    """(win rate, games) of hold_pot per seat in the C loop."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    program = tmp_path_factory.mktemp("plain") / "plain"
    subprocess.run([compiler, "-O2", "-o", program, SOURCE], check=True)
    done = subprocess.run([program, str(GAMES)], capture_output=True, text=True, check=True)
    wins0, games0, wins1, games1 = map(int, done.stdout.split()[1:5])
    return (wins0 / games0, games0), (wins1 / games1, games1)


@pytest.fixture(scope="module")
def results():
    """The same games simulated."""
    return simulate("dice-fever", POLICIES, games=GAMES, seed=0, variant="plain", progress=False)


@pytest.mark.skipif(INTERPRETED, reason="too many games to interpret")
@pytest.mark.parametrize("seat", [0, 1])
def test_win_rate_is_that_of_the_c_loop(c_rates, results, seat):
    expected, games = c_rates[seat]
    row = results[(results.policy == POLICIES[0]) & (results.seat == seat) & (results.measure == "payoff")].iloc[0]
    n = row.deals * row.per_deal
    assert n == games == GAMES // 2
    rate = row.total / n
    error = (rate * (1 - rate) / n + expected * (1 - expected) / games) ** 0.5
    assert abs(rate - expected) < 5 * error, f"seat {seat}: {rate:.4f} simulated, {expected:.4f} in C"
