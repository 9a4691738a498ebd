"""Estimates -> display tables: JSON records, plain text, HTML and CSV, with the same words and the same rounding."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.estimates import ROW

WIDTH = 100  # of a terminal


def records(estimates: pd.DataFrame, columns: Sequence[str] = ROW) -> list[dict[str, Any]]:
    """Return estimate rows as plain Python objects; what is missing or not finite is None."""
    rows = estimates[list(columns)].astype(object)
    return [{name: _plain(value) for name, value in row.items()} for row in rows.to_dict("records")]


def _plain(value: Any) -> Any:
    if pd.isna(value) or value in (float("inf"), float("-inf")):
        return None
    return value.item() if hasattr(value, "item") else value


def text_table(estimates: pd.DataFrame, keys: Sequence[str] = (), more: Sequence[str] = ()) -> str:
    """Return estimate rows as aligned text, the columns `keys` in front, `more` behind; with bands and what may be best."""
    table = pd.DataFrame(
        {
            **{key: estimates[key] for key in keys},
            "quantity": estimates.quantity,
            "policy": estimates.policy.fillna("all"),
            "seat": estimates.seat.astype(object).where(estimates.seat.notna(), "all"),
            "n": estimates.n.astype(object).where(estimates.n.notna(), "-"),
            "estimate": [f"{value:.5g}" for value in estimates.estimate],
            "interval": [interval(low, high) for low, high in zip(estimates.low, estimates.high, strict=True)],
            "method": estimates.method,
            **{name: estimates[name] for name in more},
        }
    )
    if "band_low" in estimates:
        bands = [interval(low, high) for low, high in zip(estimates.band_low, estimates.band_high, strict=True)]
        table.insert(table.columns.get_loc("interval") + 1, "band", bands)
    if "may_be_best" in estimates and estimates.may_be_best.notna().any():
        table["may be best"] = estimates.may_be_best.map({True: "yes", False: "no"}).fillna("")
    return table.to_string(index=False)


def interval(low: float, high: float) -> str:
    """Return ``[low, high]`` with five significant digits."""
    return f"[{low:.5g}, {high:.5g}]"


def listed(columns: Mapping[str, Iterable]) -> str:
    """Return columns as aligned text without an index."""
    return pd.DataFrame({name: list(values) for name, values in columns.items()}).to_string(index=False)


def wrapped(text: str) -> str:
    """Return text in lines of at most 100 columns."""
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, break_long_words=False)
