"""The scorecards of all games side by side, kept as a table: the report's front page draws it, the README shows its headlines.

To measure them takes minutes and a second compilation of every game, so they are published numbers:
``reports/tables/balance.csv`` holds them with version, seed and n. A test fails when a game's rules have another version, or
the README another table.
"""

import re
from pathlib import Path

import pandas as pd

from analysis.balance import GAMES, balance
from sims.errors import InputError
from sims.files import make_folder, whole_file
from sims.rulesets import RULESETS

TABLE = Path("tables") / "balance.csv"
BLOCK = re.compile(r"(?<=<!-- scorecard -->\n).*?(?=<!-- /scorecard -->)", re.DOTALL)
HEADLINES = {  # heading: quantity, what its numbers are multiplied with, digits
    "who begins wins, above a fair share": ("start_advantage", 100, 1),
    "turns": ("turns_per_game", 1, 1),
    "settled after": ("contested", 100, 0),
    "comebacks": ("comebacks", 100, 0),
    "unfinished": ("truncated_share", 100, 1),
    "luck": ("luck_share", 100, 0),
}


def publish(folder: Path, games: int = GAMES, seed: int = 0, n_jobs: int = -1) -> pd.DataFrame:
    """Measure the balance of every ruleset; write ``tables/balance.csv`` and the table of the README beside the folder.

    Parameters
    ----------
    folder : Path
        The project's ``reports`` folder.
    games, seed, n_jobs
        See :func:`analysis.balance.balance`.

    Returns
    -------
    DataFrame
        The scorecards, one below the other.
    """
    make_folder((folder / TABLE).parent, "the scorecard")
    readme = folder.resolve().parent / "README.md"
    text = readme.read_text() if readme.is_file() else ""
    if not BLOCK.search(text):
        raise InputError(f"{str(readme)!r} has no place for the scorecard; name the project's reports folder with --reports")
    balances = pd.concat([balance(name, games=games, seed=seed, n_jobs=n_jobs) for name in RULESETS], ignore_index=True)
    with whole_file(folder / TABLE) as partial:
        balances.to_csv(partial, index=False, lineterminator="\n", float_format="%.6g")
    balances = published(folder)  # as they are kept: rounded
    with whole_file(readme) as partial:
        partial.write_text(BLOCK.sub(lambda found: headlines(balances), text))
    return balances


def published(folder: Path) -> pd.DataFrame:
    """Return the scorecards that a reports folder holds; raises InputError if it has none."""
    try:
        return pd.read_csv(folder / TABLE)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {str(folder / TABLE)!r}: {error}; `dicelab scorecard` writes it") from error


def headlines(balances: pd.DataFrame) -> str:
    """Return the headline numbers of scorecards as a table in Markdown, each with its interval."""
    lines = [f"| game, players | policy in all seats | {' | '.join(HEADLINES)} |", "| --- " * (2 + len(HEADLINES)) + "|"]
    for name, rows in balances.groupby("ruleset", sort=False):
        watched = rows[rows.quantity == "start_advantage"].iloc[0]
        specs = watched.matchup.split(" v ")
        cells = [_cell(rows[rows.quantity == quantity].iloc[0], *shown) for quantity, *shown in HEADLINES.values()]
        lines.append(f"| {RULESETS[str(name)].title}, {len(specs)} | `{specs[0]}` | {' | '.join(cells)} |")
    first = balances.iloc[0]
    return "\n".join([*lines, "", f"Simulated, seed {first.seed}, 95 % intervals, {first.games:,} games watched of each.", ""])


def _cell(row: pd.Series, scale: float, digits: int) -> str:
    """Return an estimate with its interval."""
    estimate, low, high = (f"{scale * row[name]:.{digits}f}" for name in ("estimate", "low", "high"))
    return f"{estimate}{' %' if scale == 100 else ''} [{low}, {high}]"
