"""Estimates -> display tables: JSON records, plain text, HTML and CSV, with the same words and the same rounding."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis.estimates import ROW


def records(estimates: pd.DataFrame, more: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return estimate rows as plain Python objects, with `more` columns; what is missing or not finite is None."""
    rows = estimates[[*more, *ROW]].astype(object)
    return [{name: _plain(value) for name, value in row.items()} for row in rows.to_dict("records")]


def _plain(value: Any) -> Any:
    if pd.isna(value) or value in (float("inf"), float("-inf")):
        return None
    return value.item() if hasattr(value, "item") else value


def text_table(estimates: pd.DataFrame, more: Sequence[str] = ()) -> str:
    """Return estimate rows as aligned text, with `more` columns."""
    table = pd.DataFrame(
        {
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
    return table.to_string(index=False)


def interval(low: float, high: float) -> str:
    """Return ``[low, high]`` with five significant digits."""
    return f"[{low:.5g}, {high:.5g}]"
