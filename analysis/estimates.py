"""Results -> estimates: tidy tables, one row per estimate, each with n, standard error, interval, level, method and seed.

``n`` is the number of deals, the unit of every interval (see ``intervals.py``). A policy with ``seat`` missing is taken over all
its seats; a seat with ``policy`` missing over all policies; both missing, over the whole game.
"""

import numpy as np
import pandas as pd

from analysis.intervals import deviation_interval, mean_interval, quantile_interval, ratio_interval, wilson_interval

LEVEL = 0.95
KEYS = ["ruleset", "version", "variant", "matchup", "seed", "games", "truncated"]
ROW = ["quantity", "policy", "seat", "n", "estimate", "stderr", "low", "high", "level", "method"]
COLUMNS = [*KEYS, *ROW]
PER_TURN = {  # quantity: measure, each divided by the number of turns
    "points_per_turn": "points",
    "out_share": "outs",
    "stop_share": "stops",
    "fever_share": "fevers",
    "bust_share": "busts",
    "parries_per_turn": "parried",
}
SHARES = (
    *("win_rate", "hit_next", "out_share", "stop_share", "fever_share", "bust_share", "sudden_death_share", "truncated_share"),
    *("total_ends_share", "mini_ends_share", "deadlocks_share"),
    *("shared_share", "contested", "drama", "deficit", "comebacks", "choices"),
)
PER_GAME = ("eliminated_per_game", "pair_ends_per_game", "trio_ends_per_game", "draws_per_game", "lead_changes")
EVENTS = (*SHARES, *PER_GAME, "parries_per_turn")  # what counts happenings, so that the share of deals with none bounds it


def _rows(results: pd.DataFrame, measure: str, unit: str) -> pd.DataFrame:
    """Return the sums of one measure for one kind of unit: policy, cell (policy and seat), seat or game."""
    has_policy, has_seat = unit in ("policy", "cell"), unit in ("seat", "cell")
    chosen = (results.measure == measure) & (results.policy.notna() == has_policy) & (results.seat.notna() == has_seat)
    return results[chosen].reset_index(drop=True)


def _estimate(rows: pd.DataFrame, quantity: str, values: tuple, level: float, method: str) -> pd.DataFrame:
    estimate, stderr, low, high = (np.asarray(value, float).copy() for value in values)
    methods = np.full(len(rows), method, object)
    constant = ~(stderr > 0) & np.isin(estimate, (0, 1) if quantity in SHARES else (0,))
    if quantity in EVENTS and constant.any():
        low[constant], high[constant] = wilson_interval(estimate[constant], rows.deals[constant], level)
        methods[constant] = "wilson"
    elif method == "ratio":  # points that nobody made: nothing says how many one success would have been
        stderr[constant] = low[constant] = high[constant] = np.nan
    if quantity in SHARES:
        low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
    numbers = {"estimate": estimate, "stderr": stderr, "low": low, "high": high, "level": level, "method": methods}
    keys = [*KEYS, *(["group"] if "group" in rows else [])]
    return rows[keys].assign(quantity=quantity, policy=rows.policy, seat=rows.seat, n=rows.deals, **numbers)


def means(rows: pd.DataFrame, quantity: str, level: float = LEVEL, base: float = 0) -> pd.DataFrame:
    """Return the mean of a measure, less `base`, for every row of results."""
    estimate, stderr, low, high = mean_interval(rows.total, rows.squares, rows.deals, rows.per_deal, level)
    return _estimate(rows, quantity, (estimate - base, stderr, low - base, high - base), level, "student")


def _means(results: pd.DataFrame, quantity: str, measure: str, unit: str, level: float, base: float = 0) -> pd.DataFrame:
    return means(_rows(results, measure, unit), quantity, level, base)


def win_rates(results: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return the win rate of each policy over all its seats, and in each seat; ties count as shares of a win."""
    return _concat([_means(results, "win_rate", "payoff", unit, level) for unit in ("policy", "cell")])


def of_first(rates: pd.DataFrame) -> pd.DataFrame:
    """Return those win rates that are over all seats of the policy that a matchup names first."""
    return rates[rates.seat.isna() & (rates.policy == rates.matchup.str.split(" v ").str[0])]


def seat_advantage(results: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return how much more often than 1 / seats each seat wins, over all policies of its matchup."""
    tables = []
    for _, matchup in results.groupby(_keys(results), sort=False, dropna=False):
        seats = matchup.seat.max() + 1
        tables.append(_means(matchup, "seat_advantage", "payoff", "seat", level, 1 / seats))
    return _concat(tables)


def seat_gap(results: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return how far the best place at the table is ahead of the worst, in fair shares of the wins: 0 if all win as often.

    The interval holds whichever two places these are: it is made of the places' own at the level that Bonferroni's inequality
    asks for, so it is rather too wide. No standard error is known.
    """
    rows = []
    for _, matchup in results.groupby(_keys(results), sort=False, dropna=False):
        seats = int(matchup.seat.max()) + 1
        places = seats * seat_advantage(matchup, 1 - (1 - level) / seats)[["estimate", "low", "high"]]
        gap = places.estimate.max() - places.estimate.min()
        low, high = places.low.max() - places.high.min(), places.high.max() - places.low.min()
        row = _rows(matchup, "payoff", "game")
        rows.append(_estimate(row, "seat_gap", ([gap], [np.nan], [max(low, 0)], [high]), level, "bonferroni"))
    return _concat(rows)


def seat_shares(results: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return, with a column ``seats``, what each seat wins of the finished games, in fair shares: 1 if all seats win as often.

    Matchups of a policy with itself: a deal is then one game, and who wins it has finished it, which gives the ratio's product.
    """
    x, stopped = _rows(results, "payoff", "seat"), _rows(results, "truncated", "seat")
    finished, seats = x.deals - stopped.total, x.matchup.str.count(" v ") + 1
    values = ratio_interval(x.total, x.squares, finished, finished, x.total, x.deals, level)
    return _estimate(x, "seat_shares", tuple(value * seats for value in values), level, "ratio").assign(seats=seats)


def fair_shares(results: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return, with a column ``seats``, the win rate of each matchup's first policy divided by 1 / seats, its fair share.

    The others at the table all have one policy. Against copies of itself a policy wins its fair share.
    """
    rates = win_rates(results, level)
    rows = rates[rates.seat.isna() & (rates.policy == rates.matchup.str.split(" v ").str[0])]
    seats = rows.matchup.str.count(" v ") + 1
    scaled = {name: rows[name] * seats for name in ("estimate", "stderr", "low", "high")}
    return rows.assign(quantity="fair_shares", seats=seats, **scaled)


def per_game(results: pd.DataFrame, measure: str, level: float = LEVEL) -> pd.DataFrame:
    """Return the mean of a measure per game, all seats together; it is of kind ``<measure>_per_game``."""
    rows = _rows(results, measure, "game")
    seats = (rows.matchup.str.count(" v ") + 1).to_numpy()
    estimate, stderr, low, high = mean_interval(rows.total, rows.squares, rows.deals, rows.per_deal, level)
    values = tuple(value * seats for value in (estimate, stderr, low.clip(lower=0), high))
    return _estimate(rows, f"{measure}_per_game", values, level, "student")


def per_seat(results: pd.DataFrame, measure: str, level: float = LEVEL) -> pd.DataFrame:
    """Return the mean of a measure per game and seat that a policy has; it is of kind ``<measure>_per_seat``."""
    return _means(results, f"{measure}_per_seat", measure, "policy", level)


def turns_per(results: pd.DataFrame, measure: str, level: float = LEVEL) -> pd.DataFrame:
    """Return how many turns, of all seats, go to one of what is counted; it is of kind ``turns_per_<measure>``."""
    x, t = _rows(results, "turns", "game"), _rows(results, measure, "game")
    values = ratio_interval(x.total, x.squares, t.total, t.squares, t.by_turns, x.deals, level)
    return _estimate(x, f"turns_per_{measure}", values, level, "ratio")


def share_of_games(results: pd.DataFrame, measure: str, level: float = LEVEL) -> pd.DataFrame:
    """Return in which share of the games something happened that is counted for every seat; it is of kind ``<measure>_share``."""
    return _means(results, f"{measure}_share", measure, "game", level)


def game_mean(results: pd.DataFrame, measure: str, level: float = LEVEL) -> pd.DataFrame:
    """Return the mean over the games of what is counted for every seat; it is of kind ``<measure>``."""
    return _means(results, measure, measure, "game", level)


def share_of(results: pd.DataFrame, part: str, rest: str, whole: str, level: float = LEVEL) -> pd.DataFrame:
    """Return which share of a measure another one is, over the whole game; it is of kind ``<part>``.

    Parameters
    ----------
    part, rest, whole : str
        Measures with part + rest = whole, so that 2 sum(part whole) = sum(part^2) + sum(whole^2) - sum(rest^2): the product
        that a ratio's interval needs, and that no result holds.
    """
    x, y, t = (_rows(results, measure, "game") for measure in (part, rest, whole))
    product = (x.squares + t.squares - y.squares) / 2
    values = ratio_interval(x.total, x.squares, t.total, t.squares, product, x.deals, level)
    return _estimate(x, part, values, level, "ratio")


def turn_ends(results: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return, per policy, points per turn and the shares of turns ended by OUT, STOP and Dice Fever (what the game counts)."""
    tables = []
    for quantity, measure in PER_TURN.items():
        x, t = _rows(results, measure, "policy"), _rows(results, "turns", "policy")
        if x.empty:
            continue
        keys = [*_keys(results), "policy"]
        x = x.merge(t[[*keys, "total", "squares"]], on=keys, suffixes=("", "_turns"))
        values = ratio_interval(x.total, x.squares, x.total_turns, x.squares_turns, x.by_turns, x.deals, level)
        tables.append(_estimate(x, quantity, values, level, "ratio"))
    return _concat(tables)


def game_length(results: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return turns per seat, decisions per game, and the shares of games truncated and decided by sudden death."""
    quantities = {"turns_per_seat": "turns", "plies": "plies", "truncated_share": "truncated"}
    quantities["sudden_death_share"] = "sudden_death"
    return _concat([_means(results, quantity, measure, "game", level) for quantity, measure in quantities.items()])


def length_spread(results: pd.DataFrame, longest: int, tail: float = 0.95, level: float = LEVEL) -> pd.DataFrame:
    """Return the standard deviation of the number of turns of a game, all seats together, and the quantile `tail` of it.

    Lengths of `longest` and more are counted as one: no interval that reaches them has an upper end.
    """
    tables = []
    for _, matchup in results.groupby(_keys(results), sort=False, dropna=False):
        row, lengths = _rows(matchup, "payoff", "game"), matchup[matchup.measure == "length"]
        deals = int(row.deals.iloc[0])
        estimate, stderr, low, high = deviation_interval(lengths.value, lengths.total, deals, level)
        ends = ([low], [np.inf if lengths.value.max() >= longest else high])
        tables.append(_estimate(row, "turns_deviation", ([estimate], [stderr], *ends), level, "delta"))
        estimate, low, high = quantile_interval(lengths.value, lengths.total, tail, deals, level)
        ends = ([low], [np.inf if high >= longest else high])
        tables.append(_estimate(row, "turns_tail", ([estimate], [np.nan], *ends), level, "order statistics"))
    return _concat(tables)


def estimates(results: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return every estimate that the results hold."""
    return _concat([f(results, level) for f in (win_rates, seat_advantage, turn_ends, game_length)])


def length_histogram(results: pd.DataFrame) -> pd.DataFrame:
    """Return, per matchup, the share of games by number of turns (``value``); with n games, Wilson's interval is implied."""
    rows = results[results.measure == "length"]
    return rows.assign(share=rows.total / rows.games)[[*_keys(results), "value", "total", "share"]]


def win_rate_matrix(win_rates: pd.DataFrame) -> pd.DataFrame:
    """Return the win rate of each policy (rows) against each (columns), from matchups of two; 1/2 against itself."""
    rows = win_rates[win_rates.seat.isna() & (win_rates.quantity == "win_rate")]
    opponents = [_opponent(matchup, policy) for matchup, policy in zip(rows.matchup, rows.policy, strict=True)]
    names = list(dict.fromkeys([*rows.policy, *opponents]))
    matrix = rows.assign(opponent=opponents).pivot_table("estimate", "policy", "opponent")
    return matrix.reindex(index=names, columns=names)


def _opponent(matchup: str, policy: str) -> str:
    specs = matchup.split(" v ")
    specs.remove(policy)
    return specs[0]


def _keys(results: pd.DataFrame) -> list[str]:
    return [*KEYS, *(["group"] if "group" in results else [])]


def _concat(tables: list[pd.DataFrame]) -> pd.DataFrame:
    tables = [table for table in tables if not table.empty]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)
