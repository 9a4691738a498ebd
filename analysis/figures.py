"""One function per figure: a tidy table in, an Axes (or, for charts of several panels, a Figure) out; nothing is computed here.

A policy has the same colour in every figure: :func:`colours` deals them out once, in the order of the study.
"""

import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, NullFormatter, PercentFormatter, StrMethodFormatter

STOP_COLOUR, THROW_COLOUR = "#c8553d", "#2a7f62"
INK, FAINT = "#222222", "#bbbbbb"
PALETTE = ["#3366aa", "#dd8833", "#2a9d8f", "#b5476f", "#7a5fb0", "#8c6d31", "#5b8c3a", "#555555", "#20a0c0", "#cc5555"]
STOP_TO_THROW = LinearSegmentedColormap.from_list("stop_to_throw", [STOP_COLOUR, "white", THROW_COLOUR])
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "font.family": "sans-serif",  # DejaVu Sans, which comes with matplotlib; a browser without it takes the next of the list
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "legend.frameon": False,
    "svg.hashsalt": "dicelab",
    "svg.fonttype": "none",  # text that can be searched, selected and read aloud
    "figure.constrained_layout.use": True,
}


def colours(policies: Sequence[str]) -> dict[str, str]:
    """Return a colour per policy, by its place in the list."""
    return {policy: PALETTE[i % len(PALETTE)] for i, policy in enumerate(policies)}


def _axes(ax: Axes | None, width: float = 7.5, height: float = 4.2) -> Axes:
    return ax if ax is not None else plt.subplots(figsize=(width, height))[1]


def _hollow(i: int) -> dict[str, Any]:
    """Look of exact values of the kind number `i`, for a scatter."""
    return {"facecolors": "none", "edgecolors": PALETTE[i % len(PALETTE)], "linewidths": 1.5}


def _points(i: int, label: str = "") -> dict[str, Any]:
    """Look of estimates with their intervals, of the kind number `i`: colour and shape tell the kinds apart."""
    return {"fmt": "osD^v"[i], "markersize": 4, "capsize": 2, "color": PALETTE[i], "label": label}


def _errors(table: pd.DataFrame) -> np.ndarray:
    return np.array([table.estimate - table.low, table.high - table.estimate]).clip(0)


BALANCE = {  # the panels of a comparison of games
    "start_advantage": "wins of who begins, over a fair share",
    "ladder_step": "wins of each policy over the next weaker (hollow: fair share)",
    "luck_share": "luck in who wins",
    "options": "options of a decision",
    "turns_per_game": "turns of a game, all seats",
    "turns_tail": "turns that 95 % of games do not exceed",
    "shared_share": "games with several winners",
    "truncated_share": "games without an end",
    "lead_changes": "changes of the lead",
    "contested": "share of a game before it is settled",
    "comebacks": "winners behind at half-time",
    "drama": "drama of the winner's way",
}
SHARES = ("ladder_step", "luck_share", "shared_share", "truncated_share", "contested", "comebacks", "drama")  # from 0 to 1


def plot_balance(balances: pd.DataFrame) -> Figure:
    """Games side by side: a panel per quantity of the scorecard, a line per game. Intervals without an end go to the edge.

    Parameters
    ----------
    balances : DataFrame
        Scorecards of several rulesets (``analysis.balance.balance``), one below the other.
    """
    games = list(dict.fromkeys(balances.ruleset))
    shown = [quantity for quantity in BALANCE if (balances.quantity == quantity).any()]
    lines = -(-len(shown) // 4)
    figure, panels = plt.subplots(lines, 4, figsize=(11, lines * (0.75 + 0.27 * len(games))), sharey=True, squeeze=False)
    for ax, quantity in zip(panels.flat, shown, strict=False):
        rows = balances[balances.quantity == quantity].replace(np.inf, np.nan)
        edge = 1.0 if quantity in SHARES else 1.1 * rows[["estimate", "high"]].max(axis=None)
        for line, game in enumerate(games):
            own = rows[rows.ruleset == game].fillna({"high": edge})
            style: dict[str, Any] = {"fmt": "o", "markersize": 4, "capsize": 2, "color": PALETTE[line % len(PALETTE)]}
            ax.errorbar(own.estimate, [line] * len(own), xerr=_errors(own), **style)
            if quantity == "ladder_step":
                fair = 1 / (own.matchup.str.count(" v ").head(1) + 1)
                ax.plot(fair, [line] * len(fair), "o", markersize=5, color=style["color"], markerfacecolor="white")
        if quantity == "start_advantage":
            ax.axvline(0, color=INK, linewidth=0.8)
        else:
            ax.set_xlim(-0.03 * edge, 1.03 * edge if quantity in SHARES else edge)
        ax.set_title("\n".join(textwrap.wrap(BALANCE[quantity], 32)), fontsize=9)
        ax.set_ylim(len(games) - 0.5, -0.5)
        ax.set_yticks(range(len(games)), games)
        ax.tick_params(labelsize=8)
        ax.locator_params(axis="x", nbins=4)
    for ax in panels.flat[len(shown) :]:
        ax.set_axis_off()
    return figure


def plot_stop_chart(odds: pd.DataFrame, rule: str) -> Figure:
    """The chart to print: every track without a shield, in a column per number of dice, STOP or THROW and both values.

    Parameters
    ----------
    odds : DataFrame
        Columns track, dice, stop, throw, advice: one row per track, no shield left.
    rule : str
        The sentence at the top.
    """
    figure, ax = plt.subplots(figsize=(11, 8.2))
    ax.set_axis_off()
    ax.set_xlim(0, 5.0)
    ax.set_ylim(23.4, -2.3)
    ax.text(0, -1.6, rule, fontsize=13, weight="bold", va="center")
    for column, (dice, tracks) in enumerate(odds.groupby("dice")):
        ax.text(column + 0.46, -0.6, f"{dice} dice" if dice > 1 else "1 die", ha="center", va="center", weight="bold")
        for line, row in enumerate(tracks.sort_values(["stop", "track"]).itertuples()):
            colour = STOP_COLOUR if row.advice == "STOP" else THROW_COLOUR
            ax.add_patch(Rectangle((column, line), 0.94, 0.9, facecolor=colour, alpha=0.9, linewidth=0))
            values = f"{row.stop:.4g} v {row.throw:.3g}"
            style: dict[str, Any] = {"va": "center", "color": "white", "fontsize": 9.5}
            ax.text(column + 0.03, line + 0.46, " ".join(row.track), weight="bold", **style)
            ax.text(column + 0.91, line + 0.46, values, ha="right", **style)
    note = "Each box: values laid, points of STOP v expected points of throwing on. With a shield left: always throw."
    ax.text(0, 21.2, note, fontsize=9.5)
    for i, (word, colour) in enumerate((("STOP", STOP_COLOUR), ("THROW", THROW_COLOUR))):
        ax.add_patch(Rectangle((i * 0.5, 22.2), 0.12, 0.7, facecolor=colour, linewidth=0))
        ax.text(i * 0.5 + 0.15, 22.55, word, va="center", fontsize=9.5)
    return figure


def plot_rule_card(rules: Sequence[tuple[str, float, Sequence[str]]], note: str) -> Figure:
    """The card to print: rules as numbered sentences, each with what it costs.

    Parameters
    ----------
    rules : sequence of (str, float, sequence of str)
        Name, win probability given away per game against best play, lines.
    note : str
        What goes without saying.
    """
    n_lines = sum(len(lines) + 2 for _, _, lines in rules)
    figure, ax = plt.subplots(figsize=(8.3, 1.6 + 0.3 * n_lines))
    ax.set_axis_off()
    ax.set_xlim(0, 1)
    ax.set_ylim(n_lines + 2.6, -1.2)
    ax.text(0, -0.6, "Dice Fever on a card", fontsize=15, weight="bold", va="center")
    y = 0.8
    for name, cost, lines in rules:
        n = f"{len(lines)} lines" if len(lines) > 1 else "One line"
        ax.text(0, y, n, fontsize=12, weight="bold", color=THROW_COLOUR, va="center")
        ax.text(1, y, f"{name}: gives away {cost:.1%} of the games", ha="right", va="center", color=INK)
        for i, line in enumerate(lines, 1):
            ax.text(0.02, y + i, f"{i}.  {line}", fontsize=11, va="center")
        y += len(lines) + 2
    ax.text(0, y - 0.4, textwrap.fill(note, 100), fontsize=9.5, va="top", color=INK)
    return figure


def plot_gain(odds: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """What throwing on is worth over STOP against the points at stake, for tracks without a shield (exact)."""
    ax = _axes(ax)
    for dice, tracks in odds.groupby("dice"):
        label = f"{dice} dice" if dice > 1 else "1 die"
        ax.scatter(tracks.stop, tracks.throw - tracks.stop, s=36, label=label, **_hollow(dice - 1))
    ax.axhline(0, color=INK, linewidth=1)
    ax.set_xlabel("points that STOP would give")
    ax.set_ylabel("points gained by throwing on")
    ax.set_title("Above the line: throw. Below it: STOP. (exact, no shield)")
    ax.legend(title="on the track")
    return ax


def plot_hold_pot(win_rates: pd.DataFrame, opponent: str, ax: Axes | None = None) -> Axes:
    """Win rate of a threshold against one opponent, a line per variant; columns threshold, variant, estimate, low, high."""
    ax = _axes(ax)
    _lines(ax, win_rates, "threshold")
    ax.set_xlabel("STOP from this many points on")
    ax.set_ylabel("win rate")
    ax.set_title(f"Win rate of hold_pot against {opponent} (95 % intervals)")
    return ax


def plot_sweep(
    table: pd.DataFrame,
    quantity: str,
    x: str,
    line: str | None = None,
    line_at: float | None = None,
    exact: pd.DataFrame | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Estimates over what is swept, with their intervals, and shaded the band that holds at all points at the same time.

    Parameters
    ----------
    table : DataFrame
        From :func:`analysis.sweeps.sweep`: columns quantity, estimate, low, high, level, band_low, band_high, and `x`.
    quantity : str
        Which rows to draw.
    x : str
        The column to go along: numbers, or words.
    line : str, optional
        A column with a line, and a colour, for each of its values.
    line_at : float, optional
        A value to compare with, drawn dotted.
    exact : DataFrame, optional
        Exact values, drawn as hollow markers: columns estimate and `x`.
    """
    ax, table = _axes(ax), table[table.quantity == quantity]
    table = table.sort_values(x) if pd.api.types.is_numeric_dtype(table[x]) else table.assign(**{x: table[x].astype(str)})
    for i, (value, rows) in enumerate(table.groupby(line, sort=False) if line else [("", table)]):
        colour = PALETTE[i % len(PALETTE)]
        style: dict[str, Any] = {"marker": "o", "markersize": 4, "capsize": 2, "color": colour}
        ax.fill_between(rows[x], rows.band_low, rows.band_high, color=colour, alpha=0.2, linewidth=0)
        ax.errorbar(rows[x], rows.estimate, _errors(rows), label=f"{line} {value}" if line else "simulated", **style)
    if exact is not None:
        ax.scatter(exact[x], exact.estimate, s=60, facecolors="none", edgecolors=INK, zorder=3, label="exact")
    if line_at is not None:
        ax.axhline(line_at, color=INK, linewidth=1, linestyle=":")
    if line or exact is not None:
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.set_xlabel(x)
    ax.set_ylabel(quantity.replace("_", " "))
    ax.set_title(f"Bars: {100 * table.level.iloc[0]:g} % intervals. Shaded: all points together.")
    return ax


def _lines(ax: Axes, win_rates: pd.DataFrame, x: str) -> None:
    """Draw win rates with their intervals over the column `x`, a line per variant."""
    for i, (variant, rows) in enumerate(win_rates.groupby("variant", sort=False)):
        rows = rows.sort_values(x)
        ax.errorbar(
            rows[x],
            rows.estimate,
            _errors(rows),
            marker="o",
            markersize=4,
            capsize=3,
            color=PALETTE[i],
            label=variant,
        )
    ax.axhline(0.5, color=INK, linewidth=1, linestyle=":")
    ax.legend(title="variant")


def plot_map_sizes(win_rates: pd.DataFrame, title: str, ax: Axes | None = None) -> Axes:
    """Win rate by the size of the map, a line per variant; columns hexes, variant, estimate, low, high."""
    ax = _axes(ax)
    _lines(ax, win_rates, "hexes")
    ax.set_xticks(sorted(win_rates.hexes.unique()))
    ax.set_xlabel("hexes of the map")
    ax.set_ylabel("win rate")
    ax.set_title(title)
    return ax


def plot_lead(shares: pd.DataFrame, curves: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Win share by the lead in pips: what was counted, with intervals, and a fitted curve with its band, a colour per variant.

    Parameters
    ----------
    shares, curves : DataFrame
        Columns variant, lead, estimate, low, high.
    """
    ax = _axes(ax)
    for i, (variant, rows) in enumerate(shares.groupby("variant", sort=False)):
        curve = curves[curves.variant == variant]
        ax.fill_between(curve.lead, curve.low, curve.high, color=PALETTE[i], alpha=0.25, linewidth=0)
        ax.plot(curve.lead, curve.estimate, color=PALETTE[i], linewidth=1)
        ax.errorbar(rows.lead, rows.estimate, _errors(rows), **_points(i, variant))
    ax.axhline(0.5, color=INK, linewidth=1, linestyle=":")
    ax.set_ylim(0.48, 1.01)
    ax.locator_params(axis="x", integer=True)
    ax.set_xlabel("pips on the full map more than the other seat")
    ax.set_ylabel("win share")
    ax.set_title("Points: as counted. Lines: fitted logistic curves. (95 % intervals)")
    ax.legend(title="variant", loc="lower right")
    return ax


def plot_placements(win_rates: pd.DataFrame, opponent: str) -> Figure:
    """Win rate by placement, a colour per kind of dice kept; columns variant (a panel), placement, left, estimate, low, high."""
    panels = list(win_rates.groupby("variant", sort=False))
    figure, axes = plt.subplots(1, len(panels), figsize=(9, 3.6), sharex=True, sharey=True, squeeze=False)
    placements, kept = list(dict.fromkeys(win_rates.placement)), list(dict.fromkeys(win_rates.left))
    for ax, (variant, table) in zip(axes.flat, panels, strict=True):
        for i, left in enumerate(kept):
            rows = table[table.left == left]
            y = [placements.index(name) + 0.2 * (i - (len(kept) - 1) / 2) for name in rows.placement]
            ax.errorbar(rows.estimate, y, xerr=_errors(rows), **_points(i, left))
        ax.axvline(0.5, color=INK, linewidth=1, linestyle=":")
        ax.set_yticks(range(len(placements)), placements)
        ax.set_xlabel(f"win rate against {opponent}")
        ax.set_title(f"{variant} (95 % intervals)")
    axes[0, 0].invert_yaxis()
    figure.legend(*axes[0, 0].get_legend_handles_labels(), title="dice kept", loc="outside right center")
    return figure


def plot_cause(shares: pd.DataFrame) -> Figure:
    """What goes with winning beside what makes win; columns panel, name (a line), kind (a colour), estimate, low, high."""
    panels, kinds = list(shares.groupby("panel", sort=False)), list(dict.fromkeys(shares.kind))
    height = 1.6 + 0.34 * max(rows.name.nunique() for _, rows in panels)
    figure, axes = plt.subplots(1, len(panels), figsize=(9, height), sharex=True, squeeze=False)
    for ax, (panel, table) in zip(axes.flat, panels, strict=True):
        names = list(dict.fromkeys(table["name"]))
        for i, kind in enumerate(kinds):
            rows = table[table.kind == kind]
            y = [names.index(name) + 0.3 * (i - (len(kinds) - 1) / 2) for name in rows["name"]]
            ax.errorbar(rows.estimate, y, xerr=_errors(rows), **_points(i, kind))
        ax.axvline(0.5, color=INK, linewidth=1, linestyle=":")
        ax.set_yticks(range(len(names)), names)
        ax.invert_yaxis()
        ax.set_xlabel("win share")
        ax.set_title(panel)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center")
    return figure


def plot_sources(points: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Points by where they come from, a bar per label; columns label, source, estimate, low, high."""
    labels = list(dict.fromkeys(points.label))
    ax, left = _axes(ax, height=1.6 + 0.42 * len(labels)), np.zeros(len(labels))
    for i, (source, rows) in enumerate(points.groupby("source", sort=False)):
        rows = rows.set_index("label").loc[labels]
        ax.barh(labels, rows.estimate, left=left, color=PALETTE[i], label=source, height=0.7)
        for y, (start, value) in enumerate(zip(left, rows.estimate, strict=True)):
            if value > 6:
                ax.text(start + value / 2, y, f"{value:.0f}", ha="center", va="center", color="white", fontsize=9)
        left = left + rows.estimate.to_numpy()
        ax.errorbar(left, labels, xerr=_errors(rows), fmt="none", ecolor=INK, capsize=3, linewidth=1)
    ax.invert_yaxis()
    ax.set_xlabel("points per player")
    ax.set_title("Where points come from", pad=26)  # the legend lies between title and bars
    ax.legend(ncols=points.source.nunique(), loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0)
    return ax


def plot_attack_odds(odds: pd.DataFrame) -> Figure:
    """Chance that an attack removes its target; columns panel, attackers, defender, conquest."""
    panels = list(odds.groupby("panel", sort=False))
    rows = max(table.attackers.nunique() for _, table in panels)
    figure, axes = plt.subplots(1, len(panels), figsize=(9, 1.4 + 0.27 * rows), squeeze=False)
    for ax, (panel, table) in zip(axes.flat, panels, strict=True):
        grid = table.pivot(index="attackers", columns="defender", values="conquest").loc[list(dict.fromkeys(table.attackers))]
        _numbers(ax, 100 * grid, (0, 100), "{:.0f}")
        ax.set_xlabel("value of the target")
        ax.set_title(panel)
    axes[0, 0].set_ylabel("attackers")
    return figure


def plot_readings(answers: pd.DataFrame, line_at: float | None = None, xlabel: str = "") -> Figure:
    """Estimates under several readings of the rules; columns quantity (a panel), reading (a line), estimate, low, high.

    The dotted line is a value to compare with; if left out, the estimate under the first reading.
    """
    panels = list(answers.groupby("quantity", sort=False))
    figure, axes = plt.subplots(1, len(panels), figsize=(10, 1.2 + 0.3 * answers.reading.nunique()), sharey=True, squeeze=False)
    for ax, (quantity, rows) in zip(axes.flat, panels, strict=True):
        ax.errorbar(rows.estimate, rows.reading, xerr=_errors(rows), **_points(0))
        ax.axvline(rows.estimate.iloc[0] if line_at is None else line_at, color=INK, linewidth=1, linestyle=":")
        ax.set_title(quantity)
        ax.set_xlabel(xlabel)
        ax.margins(x=0.12)
    axes[0, 0].invert_yaxis()
    return figure


def plot_win_rate_matrix(matrix: pd.DataFrame, ax: Axes | None = None, half: pd.DataFrame | None = None) -> Axes:
    """Win rate of the row's policy against the column's, with half the width of its interval if that is given."""
    size = 2.6 + 0.95 * len(matrix)
    ax = _axes(ax, size + 1.6, size * 0.72)
    image = ax.imshow(matrix, cmap="RdBu", vmin=0.2, vmax=0.8)
    for (i, j), value in np.ndenumerate(matrix.to_numpy()):
        if np.isfinite(value):
            colour = "white" if abs(value - 0.5) > 0.17 else INK
            text = f"{value:.3f}" if half is None else f"{value:.3f}\n±{half.iat[i, j]:.3f}"
            ax.text(j, i, text, ha="center", va="center", color=colour, fontsize=9)
    names = [name.replace(",", ",\n", 1) for name in matrix.index]
    ax.set_xticks(range(len(matrix)), names, rotation=35, ha="right")
    ax.set_yticks(range(len(matrix)), names)
    ax.grid(False)
    ax.set_title("Win rate of the row against the column")
    plt.colorbar(image, ax=ax, shrink=0.8)
    return ax


def plot_ratings(ratings: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Ratings of policies with their intervals, the highest on top; columns quantity, policy, estimate, low, high, level."""
    rows = ratings[ratings.quantity == "rating"].sort_values("estimate")
    ax = _axes(ax, height=1.4 + 0.32 * len(rows))
    ax.errorbar(rows.estimate, rows.policy, xerr=_errors(rows), **_points(0))
    ax.axvline(0, color=INK, linewidth=1, linestyle=":")
    ax.set_xlabel("rating: 400 points are odds of 10 to 1, their mean is 0")
    ax.set_title(f"Bradley-Terry ratings ({100 * rows.level.iloc[0]:.4g} % intervals)")
    return ax


def plot_metagame(metagame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Masses of policies in the maximal lottery and in alpha-rank; columns quantity, policy, estimate, low, high, level."""
    names = list(dict.fromkeys(metagame.policy))[::-1]
    ax = _axes(ax, height=1.9 + 0.4 * len(names))
    for i, (quantity, label) in enumerate({"maximal_lottery": "maximal lottery", "alpha_rank": "alpha-rank"}.items()):
        rows = metagame[metagame.quantity == quantity]
        y = np.array([names.index(name) for name in rows.policy]) + 0.12 - 0.24 * i
        ax.errorbar(rows.estimate, y, xerr=_errors(rows), **_points(i, label))
    ax.set_yticks(range(len(names)), names)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("mass")
    ax.set_title(f"What survives ({100 * metagame.level.iloc[0]:.4g} % bootstrap intervals)", pad=26)
    ax.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0)  # between title and points
    return ax


def plot_turn_ends(shares: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """How turns end, a bar per policy; columns policy and the shares stop_share, fever_share, out_share with intervals."""
    ax = _axes(ax, height=1.4 + 0.45 * shares.policy.nunique())
    left, names = np.zeros(shares.policy.nunique()), list(dict.fromkeys(shares.policy))
    kinds = {
        "stop_share": ("STOP", THROW_COLOUR),
        "fever_share": ("DICE FEVER", "#e0b030"),
        "out_share": ("OUT", STOP_COLOUR),
    }
    for quantity, (label, colour) in kinds.items():
        rows = shares[shares.quantity == quantity].set_index("policy").loc[names]
        ax.barh(names, rows.estimate, left=left, color=colour, label=label, height=0.7)
        edge = left + rows.estimate.to_numpy()
        if quantity != "out_share":
            ax.errorbar(edge, names, xerr=_errors(rows), fmt="none", ecolor=INK, capsize=3, linewidth=1)
        for y, (start, share) in enumerate(zip(left, rows.estimate, strict=True)):
            if share > 0.05:
                ax.text(start + share / 2, y, f"{share:.1%}", ha="center", va="center", color="white", fontsize=9)
        left = edge
    ax.set_xlim(0, 1)
    ax.invert_yaxis()
    ax.set_xlabel("share of turns")
    ax.set_title("How turns end", pad=26)  # the legend lies between title and bars
    ax.legend(ncols=3, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0)
    return ax


def plot_length(histogram: pd.DataFrame, colour_of: dict[str, str], longest: int = 80, ax: Axes | None = None) -> Axes:
    """Share of games by number of turns; columns label (a line for each), value (turns of the whole game), share."""
    ax = _axes(ax)
    for label, rows in histogram.groupby("label", sort=False):
        ax.step(rows.value, rows.share, where="mid", color=colour_of[label], label=label)
    ax.set_xlim(0, longest)
    ax.set_ylim(0)
    ax.set_xlabel("turns in the game, both seats together")
    ax.set_ylabel("share of games")
    ax.set_title("Game length")
    ax.legend()
    return ax


def plot_seat_advantage(advantage: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Win rate over the fair share by seat; columns seats, seat, estimate, low, high."""
    ax = _axes(ax)
    groups = list(advantage.groupby("seats"))
    for i, (seats, rows) in enumerate(groups):
        x = rows.seat.astype(float) + 1 + (i - (len(groups) - 1) / 2) * 0.1
        ax.errorbar(x, rows.estimate, _errors(rows), fmt="o", capsize=3, color=PALETTE[i], label=f"{seats} players")
    ax.axhline(0, color=INK, linewidth=1)
    ax.set_xticks(range(1, int(advantage.seat.max()) + 2))
    ax.set_xlabel("place in the turn order")
    ax.set_ylabel("win rate minus fair share")
    ax.set_title("Is it better to start? (95 % intervals)")
    ax.legend()
    return ax


def plot_z_scores(z: pd.Series, ax: Axes | None = None) -> Axes:
    """Sorted z-scores against the quantiles of a normal distribution; columns expected, z."""
    ax = _axes(ax, 5.5, 4.2)
    ax.plot([-4, 4], [-4, 4], color=FAINT)
    ax.scatter(z.expected, z.z, s=8, color=PALETTE[0])
    ax.set_xlabel("expected z-score")
    ax.set_ylabel("observed z-score")
    ax.set_title("Simulation against the exact odds")
    return ax


def plot_thresholds(thresholds: pd.DataFrame) -> Figure:
    """STOP from how many points, at every pair of scores; columns cards (a panel for each), mine, theirs, stop_from."""
    panels = list(thresholds.groupby("cards", sort=False))
    figure, axes = plt.subplots(len(panels), 1, figsize=(7.5, 5.6 * len(panels)), squeeze=False)
    for ax, (cards, rows) in zip(axes.flat, panels, strict=True):
        _numbers(ax, rows.pivot(index="theirs", columns="mine", values="stop_from"), (4, 12), "{:.0f}")
        ax.set_xlabel("my score")
        ax.set_ylabel("their score")
        ax.set_title(f"STOP from this many points on: {cards} (exact, no shield)")
    return figure


def _numbers(ax: Axes, grid: pd.DataFrame, limits: tuple[float, float], text: str) -> None:
    """Draw a grid of numbers, coloured from the low limit (STOP) to the high one (THROW)."""
    ax.imshow(grid, cmap=STOP_TO_THROW, vmin=limits[0], vmax=limits[1], origin="lower", aspect="auto")
    for (i, j), value in np.ndenumerate(grid.to_numpy()):
        share = (value - limits[0]) / (limits[1] - limits[0])
        ax.text(j, i, text.format(value), ha="center", va="center", color=INK if 0.15 < share < 0.85 else "white")
    ax.set_xticks(range(grid.shape[1]), grid.columns)
    ax.set_yticks(range(grid.shape[0]), grid.index)
    ax.grid(False)


def plot_stop_maps(decisions: pd.DataFrame) -> Figure:
    """STOP or THROW by the scores, and what the other choice costs; columns track (a panel for each), mine, theirs, gain."""
    tracks = list(decisions.groupby("track", sort=False))
    rows = (len(tracks) + 1) // 2
    figure, axes = plt.subplots(rows, 2, figsize=(7.5, 1.2 + 2.8 * rows), sharex=True, sharey=True, squeeze=False)
    for ax, (track, table) in zip(axes.flat, tracks, strict=False):
        grid = 100 * table.pivot(index="theirs", columns="mine", values="gain")
        image = ax.imshow(grid, STOP_TO_THROW, vmin=-10, vmax=10, origin="lower", interpolation="nearest", aspect="auto")
        if grid.min(axis=None) < 0 < grid.max(axis=None):
            ax.contour(grid, levels=[0], colors=INK, linewidths=0.7)
        ax.grid(False)
        ax.set_title(_worth(track))
    for ax in axes.flat[len(tracks) :]:
        ax.set_axis_off()
    for ax in axes[-1]:
        ax.set_xlabel("my score")
    for ax in axes[:, 0]:
        ax.set_ylabel("their score")
    label = "percentage points by which THROW (green) or STOP (red, below 0) is better"
    figure.colorbar(image, ax=axes, aspect=40, location="bottom", label=label, extend="both")
    return figure


def _worth(track: str) -> str:
    return f"{' '.join(track)}   ({sum(map(int, track))} points)"


def plot_gap(decisions: pd.DataFrame) -> Figure:
    """What throwing on gains against the lead, a line per track; columns cards (a panel for each), track, mine, theirs, gain."""
    panels = list(decisions.groupby("cards", sort=False))
    figure, axes = plt.subplots(1, len(panels), figsize=(9, 4.4), sharey=True, squeeze=False)
    for ax, (cards, table) in zip(axes.flat, panels, strict=True):
        for i, (track, rows) in enumerate(table.groupby("track", sort=False)):
            ax.plot(rows.mine - rows.theirs, 100 * rows.gain, color=PALETTE[i], label=_worth(track))
        ax.axhline(0, color=INK, linewidth=1)
        ax.axvline(0, color=INK, linewidth=1, linestyle=":")
        ax.set_xlabel("my lead in points")
        ax.set_title(f"{cards} (exact, no shield)")
    axes[0, 0].set_ylabel("percentage points gained by throwing")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), title="on the track", loc="outside right center")
    return figure


def plot_card_worth(worth: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Win probability by cards left, against all cards; columns parade, risk, mean."""
    ax = _axes(ax, 5.5, 4.2)
    _numbers(ax, worth.pivot(index="parade", columns="risk", values="mean"), (0, 1), "{:.1%}")
    ax.set_xlabel("RISK cards in my hand")
    ax.set_ylabel("PARADE cards in my hand")
    ax.set_title("Win probability against all cards (exact)")
    return ax


def plot_sensitivity(sensitivity: pd.DataFrame) -> Figure:
    """How the answers move under each assumption, a row per assumption; the first row is what the others are compared with.

    Parameters
    ----------
    sensitivity : DataFrame
        Columns assumption, first_seat_win, one_parade, one_risk, agree.
    """
    panels = {
        "first_seat_win": ("who starts wins", "%"),
        "one_parade": ("last PARADE", "percentage points"),
        "one_risk": ("last RISK card", "percentage points"),
        "agree": ("same advice", "% of positions"),
    }
    figure, axes = plt.subplots(1, 4, figsize=(10, 1.2 + 0.3 * len(sensitivity)), sharey=True)
    for ax, (column, (title, unit)) in zip(axes, panels.items(), strict=True):
        ax.scatter(100 * sensitivity[column], sensitivity.assumption, s=30, **_hollow(0))
        ax.axvline(100 * sensitivity[column].iloc[0], color=INK, linewidth=1, linestyle=":")
        ax.set_title(title)
        ax.set_xlabel(unit)
        ax.margins(x=0.12)
    axes[0].invert_yaxis()
    return figure


def plot_battle_odds(odds: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Chance of the attackers by the leader's own die (0: unknown) and the number of fighters; columns battle, die, chance."""
    ax = _axes(ax, 6.5, 4.2)
    grid = odds.pivot(index="die", columns="battle", values="chance")[list(dict.fromkeys(odds.battle))]
    _numbers(ax, grid.rename(index={0: "unknown"}), (0, 1), "{:.1%}")
    ax.set_xlabel("attackers v defenders")
    ax.set_ylabel("die of who declares the war")
    ax.set_title("The attackers win with a chance of (exact)")
    return ax


def plot_estimates(
    table: pd.DataFrame, x_label: str, y_label: str, colour_of: dict[str, str], line_at: float | None = None
) -> Figure:
    """Estimates with their intervals, joined by lines.

    Parameters
    ----------
    table : DataFrame
        Columns panel, line (a colour for each), x, estimate, low, high.
    x_label, y_label : str
    colour_of : dict of str to str
        Colour of each line.
    line_at : float, optional
        A value to compare with, drawn dotted.
    """
    panels = list(table.groupby("panel", sort=False))
    figure, axes = plt.subplots(1, len(panels), figsize=(max(7.5, 2.2 + 3.6 * len(panels)), 4.4), sharey=True, squeeze=False)
    for ax, (panel, rows) in zip(axes.flat, panels, strict=True):
        for line, each in rows.groupby("line", sort=False):
            style: dict[str, Any] = {"marker": "o", "markersize": 4, "capsize": 3, "color": colour_of[line], "label": line}
            each = each.sort_values("x")
            ax.errorbar(each.x, each.estimate, _errors(each), **style)
        if line_at is not None:
            ax.axhline(line_at, color=INK, linewidth=1, linestyle=":")
        ax.set_xticks(sorted(set(rows.x)))
        ax.set_xlabel(x_label)
        ax.set_title(panel)
    axes[0, 0].set_ylabel(y_label)
    handles = {label: each for ax in axes.flat for each, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    fit = int(13 * figure.get_figwidth() / (max(map(len, handles)) + 7))  # so many labels go side by side
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=min(len(handles), max(fit, 1)))
    return figure


def plot_looks(looks: pd.DataFrame, margin: float, ax: Axes | None = None) -> Axes:
    """The difference between two policies as the games go by, with its confidence sequence; the margin is shaded.

    Parameters
    ----------
    looks : DataFrame
        Columns games, estimate, low, high: one row per look.
    margin : float
    """
    ax = _axes(ax)
    ax.axhspan(-margin, margin, color="#eeeeee", label=f"within the margin of {margin:g}")
    ax.axhline(0, color=INK, linewidth=1)
    ax.fill_between(looks.games, looks.low, looks.high, color=PALETTE[0], alpha=0.25, label="anytime-valid interval")
    ax.plot(looks.games, looks.estimate, color=PALETTE[0], marker="o", markersize=3, label="estimate")
    for edge in (-margin, margin):
        ax.axhline(edge, color=INK, linewidth=0.8, linestyle=":")
    _count_axis(ax)
    ax.set_xlabel("games played")
    ax.set_ylabel("what A wins more than B")
    widest = 1.6 * max(abs(looks.low).median(), abs(looks.high).median())
    ax.set_ylim(-widest, widest)
    ax.set_title("A v B: until the interval leaves out 0, or lies within the margin")
    ax.legend()
    return ax


def plot_called_better(rates: pd.DataFrame, nominal: float, ax: Axes | None = None) -> Axes:
    """How often each test has called one of two policies better by then; columns test, n (deals), estimate, low, high."""
    ax = _axes(ax)
    for i, (test, rows) in enumerate(rates.groupby("test", sort=False)):
        label = str(test).replace("_", " ")
        if len(rows) == 1:
            ax.errorbar(rows.n, rows.estimate, _errors(rows), **_points(i, label))
            continue
        ax.fill_between(rows.n, rows.low, rows.high, color=PALETTE[i], alpha=0.25, linewidth=0)
        ax.plot(rows.n, rows.estimate, color=PALETTE[i], label=label)
    ax.axhline(nominal, color=INK, linewidth=1, linestyle=":", label=f"nominal, {nominal:.0%}")
    _count_axis(ax)
    ax.set_ylim(bottom=-0.01)
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_xlabel("deals so far, a look after each batch")
    ax.set_ylabel("comparisons with a better one")
    ax.set_title("How often one policy was called better so far (with intervals)")
    ax.legend(loc="upper left")
    return ax


def _count_axis(ax: Axes) -> None:
    """Numbers on a logarithmic axis, written out: 100, 200, 500, 1,000."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
