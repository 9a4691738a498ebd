"""Win rates adjusted for luck: plain ones are those of the same games, and the rows say how much is saved."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from analysis.cli import cli
from analysis.estimates import ROW, win_rates
from analysis.luck import luck_adjusted
from sims import InputError, simulate
from sims.exact import evaluate
from sims.jit import INTERPRETED
from sims.simulate import adjusted_shares, set_table

VARIANT = "standard,goal=12,faces=4"
POLICIES = ["hold_at:3", "hold_at:6"]


def row(table, quantity, policy=POLICIES[0]):
    return table[(table.quantity == quantity) & (table.policy == policy)].iloc[0]


def test_rows_are_of_the_same_games():
    table = luck_adjusted("pig", POLICIES, 2_001, 3, VARIANT, n_jobs=1)
    assert list(table.columns) == ROW
    assert set(table.n) == {1_001}  # whole deals
    plain = win_rates(simulate("pig", POLICIES, 2_001, 3, VARIANT, 1, progress=False))
    for policy in POLICIES:
        same = plain[(plain.policy == policy) & plain.seat.isna()].iloc[0]
        assert row(table, "win_rate", policy)[["estimate", "low", "high"]].tolist() == pytest.approx(
            same[["estimate", "low", "high"]].tolist(), rel=1e-9
        )


def test_adjusted_win_rates_agree_with_exact_ones():
    table = luck_adjusted("pig", POLICIES, 400 if INTERPRETED else 4_000, 1, VARIANT, n_jobs=1)
    first, second = evaluate("pig", POLICIES, VARIANT), evaluate("pig", POLICIES[::-1], VARIANT)
    adjusted = row(table, "win_rate_adjusted")
    assert abs(adjusted.estimate - (first[0] + second[1]) / 2) < 5 * adjusted.stderr
    assert adjusted.stderr < row(table, "win_rate").stderr


def test_the_factor_is_the_ratio_of_variances():
    played = adjusted_shares(set_table("pig", POLICIES, VARIANT), 2, 0, 500, 1)
    factor = row(luck_adjusted("pig", POLICIES, 1_000, 2, VARIANT, n_jobs=1), "luck_factor")
    assert factor.estimate == pytest.approx(played.shares[:, 0].var() / played.adjusted[:, 0].var())
    assert factor.low < factor.estimate < factor.high
    # A jackknife of the same ratio.
    ratios = [
        np.delete(played.shares[:, 0], i).var() / np.delete(played.adjusted[:, 0], i).var() for i in range(len(played.shares))
    ]
    jackknife = np.sqrt((len(ratios) - 1) / len(ratios) * ((np.array(ratios) - np.mean(ratios)) ** 2).sum())
    assert factor.stderr == pytest.approx(jackknife, rel=0.05)


def test_a_policy_against_itself_has_no_factor():
    factor = row(luck_adjusted("pig", [POLICIES[0]] * 2, 100, 2, VARIANT, n_jobs=1), "luck_factor")
    assert np.isnan(factor.estimate)


def test_the_command_adds_the_rows():
    arguments = ["simulate", "pig", *POLICIES, "--games", "200", "--set", "goal=12", "--set", "faces=4", "--jobs", "1", "--json"]
    plain, adjusted = (
        json.loads(CliRunner().invoke(cli, [*arguments, *more], catch_exceptions=False).stdout)["estimates"]
        for more in ([], ["--luck"])
    )
    assert adjusted[: len(plain)] == plain
    assert [each["quantity"] for each in adjusted[len(plain) :]] == ["win_rate_adjusted", "luck_factor"] * 2


def test_a_game_without_values_is_refused():
    with pytest.raises(InputError, match="luck adjustment is not known for dicefest"):
        luck_adjusted("dicefest", ["uniform", "uniform"], 10)
