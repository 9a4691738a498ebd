"""Every figure is drawn without a warning, has its words, and shows the numbers that it was given."""

import inspect

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from analysis import figures

SHARES = ("stop_share", "fever_share", "out_share")
RATES = pd.DataFrame({"variant": ["standard"] * 3, "threshold": [8.0, 6, 7], "estimate": [0.4, 0.5, 0.6]})
RATES = RATES.assign(low=RATES.estimate - 0.02, high=RATES.estimate + 0.01)
ODDS = pd.DataFrame({"track": ["1", "46", "123"], "dice": [1, 2, 3], "stop": [1.0, 10, 6], "throw": [5.03, 7.2, 5.9]})
ODDS = ODDS.assign(advice=["THROW", "STOP", "STOP"])
MATRIX = pd.DataFrame([[0.5, 0.61], [0.39, np.nan]], ["a", "b,x,y"], ["a", "b,x,y"])
ENDS = pd.DataFrame({"quantity": SHARES, "policy": "a", "estimate": [0.6, 0.1, 0.3]})
ENDS = ENDS.assign(low=ENDS.estimate - 0.01, high=ENDS.estimate + 0.01)
LENGTH = pd.DataFrame({"label": ["a", "a", "b", "b"], "value": [20, 21, 30, 31], "share": [0.4, 0.6, 0.5, 0.5]})
SEATS = pd.DataFrame({"seats": [2, 2], "seat": pd.array([0, 1], "Int64"), "estimate": [-0.02, 0.02]})
SEATS = SEATS.assign(low=SEATS.estimate - 0.01, high=SEATS.estimate + 0.02)
Z = pd.DataFrame({"expected": [-1.0, 0, 1], "z": [-1.2, 0.1, 0.9]})
CARDS = pd.DataFrame([(0, 0, 0.3), (0, 1, 0.4), (1, 0, 0.45), (1, 1, 0.5)], columns=["parade", "risk", "mean"])
BATTLES = pd.DataFrame([("2 v 1", 0, 0.8), ("2 v 1", 6, 1), ("1 v 1", 0, 0.4), ("1 v 1", 6, 0.8)])
BATTLES = BATTLES.set_axis(["battle", "die", "chance"], axis=1)
SIZES = RATES.assign(hexes=[8, 16, 36])
LEADS = pd.DataFrame({"variant": ["a", "a", "b"], "lead": [1, 2, 1], "estimate": [0.6, 0.7, 0.55]})
LEADS = LEADS.assign(low=LEADS.estimate - 0.02, high=LEADS.estimate + 0.01)
LOOKS = pd.DataFrame({"games": [200, 400, 900], "estimate": [0.1, -0.1, 0.02]})
LOOKS = LOOKS.assign(low=LOOKS.estimate - 0.2, high=LOOKS.estimate + 0.2)
CALLED = pd.DataFrame({"test": ["anytime", "anytime", "student_last_look"], "n": [100, 200, 200], "estimate": [0, 0.01, 0.05]})
CALLED = CALLED.assign(low=CALLED.estimate.sub(0.01).clip(0), high=CALLED.estimate + 0.02)
MASSES = pd.DataFrame([(q, p) for q in ("maximal_lottery", "alpha_rank") for p in ("a", "b")], columns=["quantity", "policy"])
MASSES = MASSES.assign(estimate=[0.7, 0.3, 0.6, 0.4], level=0.95)
MASSES = MASSES.assign(low=MASSES.estimate - 0.02, high=MASSES.estimate + 0.01)
RATED = pd.DataFrame({"quantity": ["rating", "rating", "first_seat"], "policy": ["a", "b", None], "estimate": [50.0, -50, 20]})
RATED = RATED.assign(low=RATED.estimate - 2, high=RATED.estimate + 1, level=0.95)
NAMED_ROWS = (
    "plot_win_rate_matrix",
    "plot_turn_ends",
    "plot_ratings",
    "plot_metagame",
    "plot_sources",
)  # they need no label of the y axis
SWEPT = pd.DataFrame({"points": [3, 1, 2] * 2, "faces": ["a"] * 3 + ["b"] * 3, "estimate": [0.4, 0.5, 0.6] * 2})
SWEPT = SWEPT.assign(quantity="win_rate", level=0.95, low=SWEPT.estimate - 0.02, high=SWEPT.estimate + 0.01)
SWEPT = SWEPT.assign(band_low=SWEPT.low - 0.01, band_high=SWEPT.high + 0.01)
SOURCES = pd.DataFrame({"label": ["a", "b"] * 2, "source": ["dice"] * 2 + ["feats"] * 2, "estimate": [30.0, 20, 60, 5]})
SOURCES = SOURCES.assign(low=SOURCES.estimate - 1, high=SOURCES.estimate + 2)
BALANCES = [("start_advantage", 0.03), ("turns_tail", 40.0), ("ladder_step", 0.7), ("ladder_step", 0.8), ("luck_share", 0.6)]
BALANCES = pd.concat([pd.DataFrame(BALANCES, columns=["quantity", "estimate"]).assign(ruleset=name) for name in ("one", "two")])
BALANCES = BALANCES.assign(
    matchup="a v b v b", low=BALANCES.estimate - 0.01, high=BALANCES.estimate.where(BALANCES.estimate < 1, np.inf) + 0.02
)
DRAWN = {
    "plot_gain": (ODDS,),
    "plot_hold_pot": (RATES, "hold_dice:3"),
    "plot_sweep": (SWEPT, "win_rate", "points", "faces", 0.5, SWEPT[:1]),
    "plot_win_rate_matrix": (MATRIX,),
    "plot_turn_ends": (ENDS,),
    "plot_length": (LENGTH, figures.colours(["a", "b"])),
    "plot_seat_advantage": (SEATS,),
    "plot_z_scores": (Z,),
    "plot_card_worth": (CARDS,),
    "plot_battle_odds": (BATTLES,),
    "plot_map_sizes": (SIZES, "Win rate"),
    "plot_lead": (LEADS, LEADS),
    "plot_looks": (LOOKS, 0.05),
    "plot_called_better": (CALLED, 0.05),
    "plot_ratings": (RATED,),
    "plot_metagame": (MASSES,),
    "plot_sources": (SOURCES,),
}
SCORES = pd.DataFrame([(mine, theirs) for mine in (0, 5, 10) for theirs in (0, 5)], columns=["mine", "theirs"])
THRESHOLDS = pd.concat([SCORES.assign(cards=cards, stop_from=range(7, 13)) for cards in ("all", "none")])
GAINS = [("16", -0.2), ("256", -0.2), ("3", 0.01)]  # the last one: always THROW
GAINS = pd.concat([SCORES.assign(track=track, gain=np.linspace(low, 0.1, 6)) for track, low in GAINS])
MOVED = pd.DataFrame({"assumption": ["usual", "other"], "first_seat_win": [0.46, 0.47], "one_parade": [0.08, 0.07]})
MOVED = MOVED.assign(one_risk=[0.04, 0.05], agree=[1.0, 0.995])
CARD = [("rule_1", 0.012, ["Shield: throw."]), ("rule_2", 0.0051, ["Shield: throw.", "At 7: STOP."])]
LINES = pd.DataFrame({"panel": ["a", "a", "b"], "line": ["one", "one", "two"], "x": [2, 1, 1], "estimate": [0.2, 0.1, 0.3]})
LINES = LINES.assign(low=LINES.estimate - 0.05, high=LINES.estimate + 0.02)
PLACED = pd.DataFrame([(v, p, left) for v in "ab" for p in ("near", "far") for left in ("low", "high")])
PLACED = PLACED.set_axis(["variant", "placement", "left"], axis=1).assign(estimate=np.linspace(0.4, 0.6, 8))
PLACED = PLACED.assign(low=PLACED.estimate - 0.02, high=PLACED.estimate + 0.01)
ATTACKS = pd.DataFrame([(panel, a, d) for panel in "ab" for a in ("6 + 1", "2") for d in (1, 2)])
ATTACKS = ATTACKS.set_axis(["panel", "attackers", "defender"], axis=1).assign(conquest=np.linspace(0, 1, 8))
ANSWERS = pd.DataFrame({"quantity": ["win", "win", "turns", "turns"], "reading": ["usual", "other"] * 2})
ANSWERS = ANSWERS.assign(estimate=[0.6, 0.5, 14, 13], low=[0.5, 0.4, 13, 12], high=[0.7, 0.6, 14.5, 15])
CAUSES = pd.DataFrame([(panel, name, kind) for panel in "ab" for name in ("OWL", "HIND") for kind in ("goes with", "causes")])
CAUSES = CAUSES.set_axis(["panel", "name", "kind"], axis=1).assign(estimate=np.linspace(0.4, 0.6, 8))
CAUSES = CAUSES.assign(low=CAUSES.estimate - 0.02, high=CAUSES.estimate + 0.01)
PANELS = {
    "plot_rule_card": (CARD, "Never STOP where that is OUT."),
    "plot_stop_chart": (ODDS, "STOP from 7."),
    "plot_thresholds": (THRESHOLDS,),
    "plot_stop_maps": (GAINS,),
    "plot_gap": (pd.concat([GAINS.assign(cards=cards) for cards in ("all", "none")]),),
    "plot_sensitivity": (MOVED,),
    "plot_estimates": (LINES, "x", "y", figures.colours(["one", "two"]), 1),
    "plot_placements": (PLACED, "greedy:3"),
    "plot_attack_odds": (ATTACKS,),
    "plot_readings": (ANSWERS,),
    "plot_cause": (CAUSES,),
    "plot_balance": (BALANCES,),
}


@pytest.fixture(autouse=True)
def style():
    with plt.rc_context(figures.STYLE):
        yield
    plt.close("all")


def test_no_figure_is_forgotten():
    plots = {name for name, each in vars(figures).items() if name.startswith("plot_") and inspect.isfunction(each)}
    assert plots == {*DRAWN, *PANELS}


@pytest.mark.parametrize("name", DRAWN)
def test_axes_with_title_and_labels(name):
    figure, axes = plt.subplots(1, 2, figsize=(12, 5))
    given = getattr(figures, name)(*DRAWN[name], ax=axes[1])
    assert given is axes[1]
    assert not axes[0].has_data()
    ax = getattr(figures, name)(*DRAWN[name])
    assert isinstance(ax, Axes)
    assert ax.get_title(loc="left")
    assert ax.get_xlabel() or name == "plot_win_rate_matrix"
    assert ax.get_ylabel() or name in NAMED_ROWS
    for each in (figure, ax.figure):
        each.canvas.draw()


def test_the_stop_chart_shows_every_track_and_both_values():
    figure = figures.plot_stop_chart(ODDS, "STOP from 7.")
    figure.canvas.draw()
    shown = [text.get_text() for text in figure.findobj(plt.Text)]
    assert "STOP from 7." in shown
    for row in ODDS.itertuples():
        assert {" ".join(row.track), f"{row.stop:.4g} v {row.throw:.3g}"} <= set(shown)
    boxes = [patch.get_facecolor()[:3] for patch in figure.axes[0].patches]
    assert boxes.count(plt.matplotlib.colors.to_rgb(figures.STOP_COLOUR)) == 2 + 1  # and the key


def test_numbers_are_drawn_as_given():
    points = np.concatenate([each.get_offsets() for each in figures.plot_gain(ODDS).collections])
    np.testing.assert_allclose(sorted(points[:, 1]), sorted(ODDS.throw - ODDS.stop))
    line = figures.plot_hold_pot(RATES, "hold_dice:3").containers[0][0]
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([6, 7, 8], [0.5, 0.6, 0.4])
    bars = [np.array(each.lines[2][0].get_segments())[:, :, 1] for each in figures.plot_seat_advantage(SEATS).containers]
    np.testing.assert_allclose(np.concatenate(bars), SEATS[["low", "high"]])
    assert sorted(text.get_text() for text in figures.plot_win_rate_matrix(MATRIX).texts) == ["0.390", "0.500", "0.610"]
    half = figures.plot_win_rate_matrix(MATRIX, half=MATRIX / 100)
    assert sorted(text.get_text() for text in half.texts) == ["0.390\n±0.004", "0.500\n±0.005", "0.610\n±0.006"]
    np.testing.assert_allclose(figures.plot_z_scores(Z).collections[0].get_offsets(), Z)
    ends = [bar for each in figures.plot_turn_ends(ENDS).containers if hasattr(each, "patches") for bar in each.patches]
    assert [bar.get_width() for bar in ends] == pytest.approx([0.6, 0.1, 0.3])
    assert ends[-1].get_x() + ends[-1].get_width() == pytest.approx(1)


def test_the_best_policy_stands_on_top():
    ratings, masses = figures.plot_ratings(RATED), figures.plot_metagame(MASSES)
    for ax in (ratings, masses):
        assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "a"]
    (points,) = ratings.containers
    np.testing.assert_allclose(points[2][0].get_segments(), [[[-52, 0], [-49, 0]], [[48, 1], [51, 1]]])
    lottery, chain = (each[0].get_xdata() for each in masses.containers)
    assert (list(lottery), list(chain)) == ([0.7, 0.3], [0.6, 0.4])


@pytest.mark.parametrize("name", PANELS)
def test_panels_are_drawn(name):
    figure = getattr(figures, name)(*PANELS[name])
    figure.canvas.draw()
    shown = [ax for ax in figure.axes if ax.axison and ax.get_label() != "<colorbar>"]
    assert all(ax.get_title(loc="left") for ax in shown)


def test_the_rule_card_has_every_line_and_what_it_costs():
    shown = [text.get_text() for text in figures.plot_rule_card(*PANELS["plot_rule_card"]).axes[0].texts]
    assert {"rule_1: gives away 1.2% of the games", "rule_2: gives away 0.5% of the games"} <= set(shown)
    assert [text for text in shown if ".  " in text] == ["1.  Shield: throw.", "1.  Shield: throw.", "2.  At 7: STOP."]
    assert shown[-1] == "Never STOP where that is OUT."


def test_thresholds_stand_where_the_scores_are():
    for ax, cards in zip(figures.plot_thresholds(THRESHOLDS).axes, ("all", "none"), strict=True):
        assert cards in ax.get_title(loc="left")
        ticks = [label.get_text() for label in ax.get_xticklabels()], [label.get_text() for label in ax.get_yticklabels()]
        assert ticks == (["0", "5", "10"], ["0", "5"])
        assert [text.get_text() for text in ax.texts] == [
            "7",
            "9",
            "11",
            "8",
            "10",
            "12",
        ]  # their score upwards, mine to the right


def test_stop_maps_show_gains_in_percentage_points():
    axes = figures.plot_stop_maps(GAINS).axes
    assert [ax.get_title(loc="left").replace("   ", " ") for ax in axes[:3]] == [
        "1 6 (7 points)",
        "2 5 6 (13 points)",
        "3 (3 points)",
    ]
    expected = 100 * GAINS[GAINS.track == "16"].pivot(index="theirs", columns="mine", values="gain")
    np.testing.assert_allclose(axes[0].images[0].get_array(), expected)


def test_gaps_are_leads():
    figure = figures.plot_gap(PANELS["plot_gap"][0])
    assert figure.legends[0].get_texts()[0].get_text() == "1 6   (7 points)"
    line = figure.axes[1].lines[0]
    np.testing.assert_allclose(line.get_xdata(), SCORES.mine - SCORES.theirs)
    np.testing.assert_allclose(line.get_ydata(), np.linspace(-20, 10, 6))


def test_cards_and_sensitivity():
    assert [text.get_text() for text in figures.plot_card_worth(CARDS).texts] == ["30.0%", "40.0%", "45.0%", "50.0%"]
    for ax, column in zip(figures.plot_sensitivity(MOVED).axes, MOVED.columns[1:], strict=True):
        np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 0], 100 * MOVED[column])
        assert ax.lines[0].get_xdata()[0] == pytest.approx(100 * MOVED[column][0])


def test_battles_stand_in_the_order_given():
    ax = figures.plot_battle_odds(BATTLES)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2 v 1", "1 v 1"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["unknown", "6"]
    assert [text.get_text() for text in ax.texts] == ["80.0%", "40.0%", "100.0%", "80.0%"]


def test_estimates_are_drawn_with_their_intervals_and_every_line_has_a_name():
    figure = figures.plot_estimates(*PANELS["plot_estimates"])
    (left,) = figure.axes[0].containers
    assert (left[0].get_xdata().tolist(), left[0].get_ydata().tolist()) == ([1, 2], [0.1, 0.2])
    np.testing.assert_allclose(np.array(left.lines[2][0].get_segments())[:, :, 1], [[0.05, 0.12], [0.15, 0.22]])
    assert [text.get_text() for text in figure.legends[0].texts] == ["one", "two"]


def intervals(ax, axis):
    """What the error bars of a figure span, lowest and highest, in the order of drawing."""
    return np.concatenate([np.array(each.lines[2][0].get_segments())[:, :, axis] for each in ax.containers])


def test_leads_and_map_sizes():
    ax = figures.plot_lead(LEADS, LEADS)
    np.testing.assert_allclose(intervals(ax, 1), LEADS[["low", "high"]])
    assert [list(each.lines[0].get_ydata()) for each in ax.containers] == [[0.6, 0.7], [0.55]]
    ax = figures.plot_map_sizes(SIZES, "Win rate")
    np.testing.assert_allclose(intervals(ax, 1), SIZES[["low", "high"]])
    assert list(ax.get_xticks()) == [8, 16, 36]


def test_sources_are_stacked_and_end_in_their_intervals():
    ax = figures.plot_sources(SOURCES)
    bars = [patch for each in ax.containers if hasattr(each, "patches") for patch in each.patches]
    assert [(bar.get_x(), bar.get_width()) for bar in bars] == [(0, 30), (0, 20), (30, 60), (20, 5)]
    ends = np.concatenate(
        [np.array(each.lines[2][0].get_segments())[:, :, 0] for each in ax.containers if hasattr(each, "lines")]
    )
    np.testing.assert_allclose(ends, [(29, 32), (19, 22), (89, 92), (24, 27)])
    assert [text.get_text() for text in ax.texts] == ["30", "20", "60"]  # no room for 5


def test_cause_stands_beside_what_goes_with_winning():
    for ax, (_, rows) in zip(figures.plot_cause(CAUSES).axes, CAUSES.groupby("panel"), strict=True):
        np.testing.assert_allclose(sorted(intervals(ax, 0)[:, 0]), sorted(rows.low))
        assert [label.get_text() for label in ax.get_yticklabels()] == ["OWL", "HIND"]
        assert [[round(y) for y in each.lines[0].get_ydata()] for each in ax.containers] == [[0, 1], [0, 1]]


def test_panels_of_dice_land_show_their_numbers():
    for ax, (_, rows) in zip(figures.plot_placements(PLACED, "x").axes, PLACED.groupby("variant"), strict=True):
        np.testing.assert_allclose(sorted(intervals(ax, 0)[:, 0]), sorted(rows.low))
    for ax, (_, rows) in zip(figures.plot_attack_odds(ATTACKS).axes, ATTACKS.groupby("panel"), strict=True):
        assert [text.get_text() for text in ax.texts] == [f"{100 * value:.0f}" for value in rows.conquest]
        assert [label.get_text() for label in ax.get_yticklabels()] == ["6 + 1", "2"]
    for ax, (_, rows) in zip(figures.plot_readings(ANSWERS).axes, ANSWERS.groupby("quantity", sort=False), strict=True):
        np.testing.assert_allclose(intervals(ax, 0), rows[["low", "high"]])
        assert ax.lines[-1].get_xdata()[0] == rows.estimate.iloc[0]


def test_looks_and_false_positives():
    ax = figures.plot_looks(LOOKS, 0.05)
    (band,) = ax.collections
    corners = {tuple(point) for point in band.get_paths()[0].vertices.round(9)}
    assert corners == {(n, round(y, 9)) for name in ("low", "high") for n, y in zip(LOOKS.games, LOOKS[name], strict=True)}
    assert [list(line.get_ydata()) for line in ax.lines if len(line.get_ydata()) == 3] == [[0.1, -0.1, 0.02]]
    assert {line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == ":"} == {-0.05, 0.05}
    ax = figures.plot_called_better(CALLED, 0.05)
    np.testing.assert_allclose(intervals(ax, 1), [[0.04, 0.07]])
    assert {text.get_text() for text in ax.get_legend().texts} == {"anytime", "student last look", "nominal, 5%"}


def test_a_sweep_has_its_intervals_its_band_and_exact_values():
    other = SWEPT.assign(quantity="turns_per_game", estimate=9)
    ax = figures.plot_sweep(pd.concat([SWEPT, other]), "win_rate", "points", "faces", exact=SWEPT[:1])
    line, _, (bars,) = ax.containers[0].lines
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1, 2, 3], [0.5, 0.6, 0.4])
    np.testing.assert_allclose(np.array(bars.get_segments())[0, :, 1], [0.48, 0.51])
    band, _, _, _, exact = ax.collections
    assert {(round(x), round(y, 2)) for x, y in band.get_paths()[0].vertices} >= {(1, 0.47), (1, 0.52), (3, 0.37), (3, 0.42)}
    np.testing.assert_allclose(exact.get_offsets(), [[3, 0.4]])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["exact", "faces a", "faces b"]
    words = figures.plot_sweep(SWEPT[:3].assign(points=["no", 5, "late"]), "win_rate", "points")
    words.figure.canvas.draw()
    assert [text.get_text() for text in words.get_xticklabels()] == ["no", "5", "late"]
    assert words.get_legend() is None


def test_a_comparison_of_games_shows_every_number_and_an_interval_without_end():
    figure = figures.plot_balance(BALANCES)
    figure.canvas.draw()
    start, steps, luck, tail = (ax for ax in figure.axes if ax.axison)
    assert [bar.lines[0].get_xdata().tolist() for bar in steps.containers] == [[0.7, 0.8]] * 2
    assert [line.get_xdata().tolist() for line in steps.lines if line.get_markerfacecolor() == "white"] == [[1 / 3]] * 2
    assert [list(bar.lines[0].get_ydata()) for bar in luck.containers] == [[0], [1]]
    segment = tail.containers[0].lines[2][0].get_segments()[0]
    assert segment[0, 0] == pytest.approx(39.99)
    assert segment[1, 0] == pytest.approx(tail.get_xlim()[1])  # to the edge
    assert [label.get_text() for label in start.get_yticklabels()] == ["one", "two"]
