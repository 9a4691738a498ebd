"""Rates of the simulators as ratios to a C loop measured in the same run, and what else has a bar: memory, help.

Rates on one core are games per second of processor time, on both sides, so that a busy machine disturbs them little;
the time with two workers is wall time. Every ratio is the median of ratios of neighbours: C loop, simulation, C loop,
and so on. The rates of different days or machines say little; the ratios do.
"""

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click

# Nothing here imports `sims` before it is needed: a child's peak memory starts from its parent's, see `memory_rows`.

SOURCE = Path(__file__).with_name("plain.c")
FLAGS = ("-O3", "-march=native")
PLAIN = ("dice-fever", ("hold_pot:12", "hold_dice:3"), "plain")
STANDARD = ("dice-fever", ("hold_pot:12", "hold_dice:3"), "standard")
CARDS = ("dice-fever", ("hold_pot:12,cards=asap", "hold_dice:3,cards=asap"), "standard")
LAND = ("dice-land", ("greedy", "greedy"), "standard,hexes=16")
LAND_PUBLISHED = ("dice-land", ("greedy", "greedy"), "published,hexes=16")
LAND_AHEAD = ("dice-land", ("expectimax", "greedy"), "standard,hexes=16")
PIG = ("pig", ("hold_at:20", "hold_at:25"), "standard")
FOUR_SEATS = ("diceplomacy", ("threshold:0.6",) * 4, "standard")
EIGHT_SEATS = ("diceplomacy", ("threshold:0.6",) * 8, "standard")
FEST = ("dicefest", ("thrifty", "thrifty"), "standard")
FEST_UNIFORM = ("dicefest", ("uniform", "uniform"), "standard")
FEST_AHEAD = ("dicefest", ("lookahead:2", "lookahead:2"), "standard")
FORGE = ("dice-forge", ("greedy_feat", "greedy_feat"), "standard")
FORGE_PLANNED = ("dice-forge", ("planner", "planner"), "standard")
BELIEFS = ("diceplomacy", ("inference:0.6",) * 4, "standard")
Matchup = tuple[str, tuple[str, ...], str]

MAX_Z = 5.0
MEGABYTE = 1e6
INTERPRETED_GAMES = 300
HELP_RUNS = 5

CHILD = f"""
import json, resource, sys, time
from sims import simulate
def play(games, n_jobs):
    simulate({PLAIN[0]!r}, {PLAIN[1]!r}, games=games, variant={PLAIN[2]!r}, n_jobs=n_jobs, progress=False)
games, n_jobs = int(sys.argv[1]), int(sys.argv[2])
play(1, 1)
start = time.process_time()
play(games, n_jobs)
seconds = time.process_time() - start
print(json.dumps({{"seconds": seconds, "maxrss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}}))
"""


@dataclass(frozen=True)
class Bar:
    """What a value is held against: the bar and, if any, the aim beyond it."""

    bar: float
    aim: float | None = None
    at_most: bool = False

    def verdict(self, value: float | None) -> str:
        """Return ``aim met``, ``met``, ``not met``, or ``not measured``."""
        if value is None:
            return "not measured"
        sign = -1 if self.at_most else 1
        if self.aim is not None and sign * value >= sign * self.aim:
            return "aim met"
        return "met" if sign * value >= sign * self.bar else "not met"

    def __str__(self) -> str:
        aim = "" if self.aim is None else f" (aim {self.aim:g})"
        return f"{'<=' if self.at_most else '>='} {self.bar:g}{aim}"


@dataclass(frozen=True)
class Row:
    """One line of the result: a value, its range over the rounds, its bar; rates where it is about rates."""

    name: str
    value: float | None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    bar: Bar | None = None
    games_per_s: float | None = None
    decisions_per_s: float | None = None
    note: str = ""
    verdict: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", self.bar.verdict(self.value) if self.bar else "")


@dataclass(frozen=True)
class Plan:
    """How much to measure."""

    games: int
    rounds: int
    memory: tuple[int, int]


@dataclass(frozen=True)
class CRun:
    """What one run of the C loop printed: wins and games of hold_pot per seat, and its rate."""

    wins: tuple[int, int]
    games: tuple[int, int]
    rate: float


CLoop = Callable[[int], CRun]


def say(message: str) -> None:
    """Tell the progress."""
    click.echo(f"bench: {message}", err=True)


# The C loop


@contextmanager
def c_loop() -> Iterator[tuple[CLoop | None, str]]:
    """Compile the C loop in a temporary folder; yield a function that runs it, or None, and a note how or why not."""
    compiler = shutil.which("cc")
    if compiler is None:
        yield None, "no C compiler (cc) here"
        return
    with tempfile.TemporaryDirectory(prefix="dicelab-bench-") as folder:
        program = Path(folder) / "plain"
        done = subprocess.run([compiler, *FLAGS, "-o", program, SOURCE], capture_output=True, text=True)
        if done.returncode:
            yield None, f"cc failed: {(done.stderr.strip().splitlines() or ['no reason given'])[0]}"
            return
        yield lambda games: run_c(program, games), f"cc {' '.join(FLAGS)}"


def run_c(program: Path, games: int) -> CRun:
    """Run the compiled C loop."""
    words = subprocess.run([program, str(games)], capture_output=True, text=True, check=True).stdout.split()
    wins0, games0, wins1, games1 = map(int, words[1:5])
    return CRun((wins0, wins1), (games0, games1), games / float(words[5]))


# One core


def play(matchup: Matchup, games: int, seed: int = 0, n_jobs: int = 1) -> Any:
    """Simulate and return the results table."""
    from sims import simulate

    ruleset, policies, variant = matchup
    return simulate(ruleset, policies, games=games, seed=seed, variant=variant, n_jobs=n_jobs, progress=False)


def plies_per_game(table: Any) -> float:
    """Return the mean number of decisions of a game."""
    row = table[table.policy.isna() & table.seat.isna() & (table.measure == "plies")].iloc[0]
    return row.total / (row.deals * row.per_deal)


def rate(matchup: Matchup, games: int, seed: int) -> tuple[float, float]:
    """Play on one core; return games and decisions per second of processor time."""
    start = time.process_time()
    table = play(matchup, games, seed)
    games_per_s = int(table.games.iloc[0]) / (time.process_time() - start)
    return games_per_s, games_per_s * plies_per_game(table)


def rate_row(name: str, matchup: Matchup, plan: Plan, c: CLoop | None, bar: Bar | None) -> Row:
    """Measure one matchup, interleaved with the C loop."""
    say(name)
    play(matchup, plan.games // 10)
    rates, ratios = [], []
    for seed in range(plan.rounds):
        c_rate = c(plan.games).rate if c else None
        rates.append(rate(matchup, plan.games, seed))
        ratios += [rates[-1][0] / c_rate] if c_rate else []
    games, decisions = (statistics.median(each) for each in zip(*rates, strict=True))
    return Row(name, *spread(ratios), bar=bar, games_per_s=games, decisions_per_s=decisions)


def speed_row(name: str, matchup: Matchup, plan: Plan, bar: Bar | None) -> Row:
    """Measure one matchup in games per second: where the bar is a rate and not a ratio."""
    say(name)
    play(matchup, plan.games // 10)
    rates = [rate(matchup, plan.games, seed) for seed in range(plan.rounds)]
    games, decisions = ([each[i] for each in rates] for i in range(2))
    value, _, low, high = spread(games)
    return Row(name, value, "games/s", low, high, bar, value, statistics.median(decisions))


def spread(values: list[float]) -> tuple[float | None, str, float | None, float | None]:
    """Return the median of ratios, their unit, the lowest and the highest."""
    return (statistics.median(values), "x", min(values), max(values)) if values else (None, "x", None, None)


def c_row(c: CLoop | None, note: str, plan: Plan) -> Row:
    """Measure the C loop alone."""
    say("C loop")
    if c is None:
        return Row("C loop, plain", None, "x", note=note)
    rates = [c(plan.games).rate for _ in range(plan.rounds)]
    return Row("C loop, plain", 1.0, "x", games_per_s=statistics.median(rates), note=note)


def core_rows(c: CLoop | None, plan: Plan) -> list[Row]:
    """Measure the rates on one core."""
    return [
        rate_row("pig, to C plain", PIG, plan, c, None),
        rate_row("plain, to C", PLAIN, plan, c, Bar(0.3, 0.5)),
        rate_row("standard, to C plain", STANDARD, plan, c, Bar(0.1, 0.2)),
        rate_row("standard cards=asap, to C plain", CARDS, plan, c, Bar(0.1, 0.2)),
        speed_row("diceplomacy threshold, 4 seats", FOUR_SEATS, plan, Bar(200_000)),
        speed_row("diceplomacy threshold, 8 seats", EIGHT_SEATS, plan, None),
        speed_row("diceplomacy inference, 4 seats", BELIEFS, plan, None),
    ]


def land_rows(plan: Plan) -> list[Row]:
    """Measure the rates of Dice Land on one core, in games per second: it has no C loop to be held against."""
    return [
        count_row("dice-land standard, greedy", LAND, plan.games // 10, plan.rounds, Bar(20_000)),
        count_row("dice-land published, greedy", LAND_PUBLISHED, plan.games // 10, plan.rounds, Bar(20_000)),
        count_row("dice-land standard, expectimax v greedy", LAND_AHEAD, plan.games // 200, plan.rounds, None),
    ]


def fest_rows(plan: Plan) -> list[Row]:
    """Measure the rates of Dicefest on one core; of random play the bar is 5 million decisions a second, its games being long."""
    uniform = count_row("dicefest uniform", FEST_UNIFORM, plan.games // 50, plan.rounds, None)
    bar, decisions = Bar(5), uniform.decisions_per_s
    return [
        count_row("dicefest thrifty", FEST, plan.games // 10, plan.rounds, Bar(10_000)),
        uniform,
        Row("dicefest uniform, decisions", decisions / 1e6 if decisions else None, "M/s", bar=bar, decisions_per_s=decisions),
        count_row("dicefest lookahead:2", FEST_AHEAD, plan.games // 200, plan.rounds, Bar(50)),
    ]


def forge_rows(plan: Plan) -> list[Row]:
    """Measure the rates of Dice Forge on one core."""
    return [
        count_row("dice-forge greedy_feat", FORGE, plan.games // 10, plan.rounds, Bar(20_000)),
        count_row("dice-forge planner", FORGE_PLANNED, plan.games // 50, plan.rounds, Bar(3_000)),
    ]


def count_row(name: str, matchup: Matchup, games: int, rounds: int, bar: Bar | None) -> Row:
    """Measure the games per second of one matchup."""
    say(name)
    play(matchup, 2)
    rates = [rate(matchup, games, seed) for seed in range(rounds)]
    per_s, decisions = (statistics.median(each) for each in zip(*rates, strict=True))
    low, high = min(games for games, _ in rates), max(games for games, _ in rates)
    return Row(name, per_s, "games/s", low, high, bar, games_per_s=per_s, decisions_per_s=decisions, note="one core")


# Correctness


def z_rows(c: CLoop | None, plan: Plan) -> list[Row]:
    """Compare the win rates of hold_pot in each seat in the C loop with those of the simulation, in standard errors."""
    say("win rates")
    bar = Bar(MAX_Z, at_most=True)
    if c is None:
        return [Row(f"win rate in seat {seat}, |z|", None, bar=bar) for seat in range(2)]
    games = plan.games * plan.rounds
    return [z_row(seat, c(games), play(PLAIN, games), bar) for seat in range(2)]


def z_row(seat: int, c: CRun, table: Any, bar: Bar) -> Row:
    """Compare one seat."""
    row = table[(table.policy == PLAIN[1][0]) & (table.seat == seat) & (table.measure == "payoff")].iloc[0]
    n, p, q = row.deals * row.per_deal, row.total / (row.deals * row.per_deal), c.wins[seat] / c.games[seat]
    error = ((row.squares / n - p * p) / n + q * (1 - q) / c.games[seat]) ** 0.5
    note = f"simulation {p:.4f} in {n:,} games, C {q:.4f} in {c.games[seat]:,}"
    return Row(f"win rate in seat {seat}, |z|", float(abs(p - q) / error), bar=bar, note=note)


# Interpreted, workers


def child(games: int, n_jobs: int, **environment: str) -> dict[str, float]:
    """Play plain in a process of its own; return processor seconds and peak memory in bytes."""
    command = [sys.executable, "-c", CHILD, str(games), str(n_jobs)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **environment})
    data = json.loads(done.stdout)
    return {**data, "maxrss": data["maxrss"] * (1 if sys.platform == "darwin" else 1024)}


def interpreted_row(games: int, compiled: float | None) -> Row:
    """Measure the interpreted run of plain, and how many times faster the compiled one is."""
    say("interpreted")
    name = "plain compiled, to interpreted"
    try:
        interpreted = games / child(games, 1, NUMBA_DISABLE_JIT="1")["seconds"]
    except subprocess.CalledProcessError:  # its traceback is on stderr; the other measurements are worth keeping
        return Row(name, None, "x", note="FAILED: plain does not run with NUMBA_DISABLE_JIT=1, see stderr")
    ratio = compiled / interpreted if compiled else None
    return Row(name, ratio, "x", games_per_s=interpreted, note="games/s: interpreted")


def wall(action: Callable[[], Any]) -> float:
    """Return the seconds an action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def pair_of(c: CLoop, games: int) -> None:
    """Run the C loop twice at the same time."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(c, (games, games)))


def worker_rows(c: CLoop | None, plan: Plan) -> list[Row]:
    """Measure two workers against one; and two C loops against one, the most that this machine gives at this time."""
    name, bar = "plain, two workers to one", Bar(1.7)
    if (os.cpu_count() or 1) < 2:
        return [Row(name, None, "x", bar=bar, note="one processor only")]
    say("two workers")
    games, seeds = 2 * plan.games, range(plan.rounds)
    play(PLAIN, games // 10, n_jobs=2)
    once, twice = [], []
    for seed in seeds:
        once.append(wall(lambda s=seed: play(PLAIN, games, s, 1)))
        twice.append(wall(lambda s=seed: play(PLAIN, games, s, 2)))
    gains = [one / two for one, two in zip(once, twice, strict=True)]
    row = Row(name, *spread(gains), bar=bar, games_per_s=games / statistics.median(twice), note="wall time")
    return [row, *([ceiling_row(c, games, plan.rounds)] if c else [])]


def ceiling_row(c: CLoop, games: int, rounds: int) -> Row:
    """Measure two C loops at the same time against one."""
    gains = [2 * wall(lambda: c(games)) / wall(lambda: pair_of(c, games)) for _ in range(rounds)]
    return Row("C loop, two at a time to one", *spread(gains), note="what the machine gives two processes; wall time")


# Memory, help


def memory_rows(sizes: tuple[int, int]) -> list[Row]:
    """Measure the peak memory of a small and a large run, each in its own process.

    On Linux ``ru_maxrss`` of a new process is at least the memory of the process that started it: this must run while
    this process is small, before anything imports numba. The first child only fills the cache of compiled kernels, as
    compiling takes more memory than playing.
    """
    say("peak memory: " + " and ".join(f"{size:,} games" for size in sizes))
    child(1, 2)
    small, large = (child(size, 2)["maxrss"] / MEGABYTE for size in sizes)
    names = [f"{size / 1e6:g} M" for size in sizes]
    note = f"{names[0]}: {small:.0f} MB, {names[1]}: {large:.0f} MB"
    return [
        Row(f"peak memory, {names[1]} games to {names[0]}", large / small, "x", bar=Bar(1.1, at_most=True), note=note),
        Row(f"peak memory, {names[1]} games", large, "MB", bar=Bar(600, at_most=True), note="two workers"),
    ]


def help_row() -> Row:
    """Measure how long ``dicelab --help`` takes."""
    say("dicelab --help")
    script = Path(sys.executable).with_name("dicelab")
    run = [str(script)] if script.exists() else [sys.executable, "-c", "from analysis.cli import main; main()"]
    times = [wall(lambda: subprocess.run([*run, "--help"], capture_output=True, check=True)) for _ in range(HELP_RUNS)]
    median, _, low, high = spread(times)
    return Row("dicelab --help", median, "s", low, high, Bar(1, at_most=True), note=f"median of {HELP_RUNS}")


# All of it


def measure(plan: Plan) -> list[Row]:
    """Measure everything; memory first, see there."""
    memory = memory_rows(plan.memory)
    with c_loop() as (c, note):
        if c is None:
            say(f"no ratios to C: {note}")
        rows = [c_row(c, note, plan), *core_rows(c, plan), *land_rows(plan), *fest_rows(plan), *forge_rows(plan)]
        compiled = next(row.games_per_s for row in rows if row.name == "plain, to C")
        rows.append(interpreted_row(min(INTERPRETED_GAMES, plan.games), compiled))
        return [*rows, *worker_rows(c, plan), *memory, help_row(), *z_rows(c, plan)]


def machine() -> dict[str, Any]:
    """Say where this was measured."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "load": load,
    }


def number(value: float | None, form: str = ",.0f") -> str:
    """Format a value for the table."""
    return "-" if value is None else format(value, form)


def cells(row: Row) -> list[str]:
    """Format a row for the table."""
    form = ",.0f" if (row.value or 0) >= 100 else ".3g" if row.unit == "s" else ".2f"
    value = f"{number(row.value, form)} {row.unit}".strip()
    ranged = "" if row.low is None or row.high is None else f"{row.low:{form}}-{row.high:{form}}"
    rates = [number(row.games_per_s), number(row.decisions_per_s)]
    return [row.name, *rates, value, ranged, str(row.bar or ""), row.verdict, row.note]


def text_table(rows: list[Row]) -> str:
    """Lay the rows out as plain text."""
    heads = ["measured", "games/s", "decisions/s", "value", "range", "bar", "verdict", "note"]
    lines = [heads, *map(cells, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    numeric = {"games/s", "decisions/s", "value"}
    aligns = [">" if head in numeric else "<" for head in heads]
    return "\n".join(
        "  ".join(f"{cell:{a}{w}}" for cell, a, w in zip(line, aligns, widths, strict=True)).rstrip() for line in lines
    )


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.option("--games", type=click.IntRange(min=100), help="Games per round.  [default: 300000; with --quick 50000]")
@click.option("--quick", is_flag=True, help="Fewer rounds, and memory of fewer games.")
def main(as_json: bool, games: int | None, quick: bool) -> None:
    """Measure rates as ratios to a C loop, memory and help, each against its bar.

    The exit status is 0 whether the bars are met or not.
    """
    default, rounds, memory = (50_000, 3, (200_000, 2_000_000)) if quick else (300_000, 5, (2_000_000, 20_000_000))
    plan = Plan(games or default, rounds, memory)
    where = machine()
    rows = measure(plan)
    if as_json:
        data = {**where, **asdict(plan), "rows": [asdict(row) for row in rows]}
        click.echo(json.dumps(data, indent=2, allow_nan=False))
    else:
        click.echo(text_table(rows))


if __name__ == "__main__":
    main()
