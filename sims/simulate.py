"""From a matchup to results: the games in batches, the batches to joblib workers, their sums to one table.

A batch is a range of deals, and a deal's streams depend on its number alone, so the results are the same for any number
of workers, whether threads, processes or those of a cluster (:mod:`sims.workers`), and any batch size. Batches are taken in
order, so that a run stopped by Ctrl-C equals a shorter run, and one that is killed can go on later (:mod:`sims.checkpoints`).
"""

import re
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from tqdm import tqdm

from sims import jit, playouts
from sims.checkpoints import Checkpoint, claim_folder, is_claimed
from sims.digest import Untold
from sims.errors import InputError, check_int, choose
from sims.files import make_folder, whole_file
from sims.luck import Luck, is_exact, mean_book
from sims.playouts import ILLEGAL
from sims.policy import Policy, load_policy
from sims.results import Matchup, Sums, payoffs_of, policy_shares, reduce_rows, results_table, rows_table
from sims.ruleset import MAX_ACTIONS, Ruleset, Variant, copied
from sims.rulesets import RULESETS
from sims.trajectories import Tape, new_tape
from sims.workers import Parcel

BATCH = 10_000  # games per kernel call, unless a run asks for fewer
RESULTS = "results.parquet"
MAX_INT = 2**63 - 1
PILOT, PILOT_DEALS = 2**62, 500  # deals for choosing values to adjust by, which no run reaches
TINY = 1e-12  # variance of what is exact but for rounding


class IllegalAction(RuntimeError):
    """A policy returned an action that is not legal; the message says how to see it."""


@dataclass(frozen=True)
class Table:
    """A ruleset and the policies around it: all that is needed to play any game of a run."""

    ruleset: Ruleset
    policies: tuple[Policy, ...]
    variant: Variant
    interpreted: bool = False
    # If games are watched (``trajectories.py``): the ruleset's table of chances to win, empty where standings go by the rules.
    chances: np.ndarray | None = field(default=None, compare=False, repr=False)

    def matchup(self, seed: int) -> Matchup:
        """Return what is counted of a run of this table from a seed."""
        return Matchup(
            self.ruleset, self.variant.name, tuple(policy.spec for policy in self.policies), seed, self.chances is not None
        )

    def identity(self, seed: int) -> dict[str, Any]:
        """Return all that the games of a run from a seed depend on; raises Untold if that cannot be told."""
        if RULESETS.get(self.ruleset.name) is not self.ruleset:
            raise Untold(
                f"{self.ruleset.name} is no game of this package: what its rules do cannot be told, so nothing can be kept"
            )
        digests = {policy.spec: policy.digest for policy in self.policies}
        for spec, digest in digests.items():
            if digest is None:
                raise Untold(
                    f"what the policy {spec} does cannot be told from its code, so its games cannot be kept to go on with later; "
                    "play them without a folder to keep them in: out=None, on the command line no --out"
                )
        return {
            "ruleset": self.ruleset.name,
            "version": self.ruleset.version,
            "variant": self.variant.name,
            "policies": [policy.spec for policy in self.policies],
            "seed": seed,
            "digests": digests,
            "watched": self.chances is not None,
            "sources": jit.SOURCES,
        }

    def kernels(self) -> tuple[Callable, Callable]:
        """Return ``play_game`` and ``play_deals``, compiled or interpreted."""
        if not self.interpreted or jit.INTERPRETED:
            return playouts.play_game, playouts.play_deals
        scope = dict(vars(playouts))
        for name, kernel in vars(playouts).items():  # they call each other, so all of them
            if getattr(kernel, "__module__", None) == playouts.__name__ and hasattr(kernel, "py_func"):
                scope[name] = FunctionType(kernel.py_func.__code__, scope)
        return scope["play_game"], scope["play_deals"]

    def arguments(self) -> tuple[Any, ...]:
        """Return the first arguments of the kernels: state, view, players, and room for streams and legal actions."""
        seats, interpreted = len(self.policies), self.interpreted or jit.INTERPRETED
        dice, minds = np.zeros((seats + 1, 4), np.uint64), np.zeros((seats, 4), np.uint64)
        actions = np.zeros(MAX_ACTIONS, np.int32)
        for policy in () if interpreted else self.policies:
            self._compile(policy)
        players = jit.players(self.policies, self.ruleset.state, actions, minds, interpreted)
        return copied(self._first), copied(self._first), players, dice, minds, actions

    @cached_property
    def _first(self) -> Any:
        return self.ruleset.new_state(len(self.policies), self.variant)

    def tape(self) -> Tape | None:
        """Return room for the standings of a game, if games are watched."""
        return None if self.chances is None else new_tape(len(self.policies), self.chances)

    @property
    def book(self) -> Any:
        """The values by which games are adjusted for luck: of those that the ruleset offers, best play's, those of its own
        policies at this table and the mean of these, the ones that leave the least variance in a pilot of other deals than any
        run's.

        Raises
        ------
        InputError
            Where the ruleset offers none.
        """
        return self._pilot[0]

    @property
    def luck_pays(self) -> bool:
        """Does adjusting save more games than it costs, by the pilot and how much longer an adjusted game takes?"""
        module = self.ruleset.luck
        if module is None or (is_exact(self.ruleset) and len(self.policies) != 2):
            return False
        book, factor = self._pilot
        return factor > module.cost(book)

    @cached_property
    def _pilot(self) -> tuple[Any, float]:
        """The values that leave the least variance, and by what factor it is less than without an adjustment."""
        matchup = self.matchup(0)
        found: tuple[Any, float] = None, -1.0
        for book in self._books():
            batch = _play_batch(self, matchup, PILOT, PILOT_DEALS, True, book)
            if batch.rows is None or batch.adjusted is None or batch.fault is not None:
                return book, 0.0  # an illegal action: the run itself says which
            plain, left = (_first_shares(matchup, each).var() for each in (payoffs_of(matchup, batch.rows), batch.adjusted))
            factor = float(plain / max(left, TINY))
            if factor > found[1]:
                found = book, factor
        return found

    def _books(self) -> list[Any]:
        module, seats = self.ruleset.luck, len(self.policies)
        if module is None:
            known = ", ".join(name for name, each in RULESETS.items() if each.luck is not None)
            raise InputError(f"luck adjustment is not known for {self.ruleset.name}; choose from {known}")
        if is_exact(self.ruleset) and seats != 2:
            raise InputError(f"luck adjustment of {self.ruleset.name} is for 2 seats, not {seats}")
        ours = {policy.function for policy in self.ruleset.policies.values()}
        own = {policy.spec: policy for policy in self.policies if policy.function in ours}
        tables = [Table(self.ruleset, (policy,) * seats, self.variant) for policy in own.values()]
        references = [None, *(table.arguments() for table in tables)]
        with np.errstate(over="ignore"):  # as for the games: a policy may draw
            books = [module.book(self.ruleset, self.variant, reference) for reference in references]
        best, *of_own = [book for book in books if book is not None]
        return [best, *of_own, *([mean_book(of_own)] if len(of_own) > 1 else [])]

    def luck(self, book: Any) -> Luck:
        """Return what the loop needs to adjust games by these values."""
        spare = np.zeros(2, self.ruleset.state).view(np.recarray)
        spare[:] = self._first
        module: Any = self.ruleset.luck
        return Luck(book, np.zeros(module.room(book)), spare, np.zeros(len(self.policies)), np.zeros(1, bool))

    def _compile(self, policy: Policy) -> None:
        try:
            jit.compile_policy(policy.function, self.ruleset.state)
        except Exception as error:  # numba's own errors, and what it stumbles over (KeyError for an unknown field)
            raise InputError(_uncompilable(policy, error)) from error


def _first_shares(matchup: Matchup, shares: np.ndarray) -> np.ndarray:
    """Return what the first policy wins in each deal; if all seats have it, what the first seat wins."""
    return policy_shares(matchup, shares)[:, 0] if len(matchup.policies) > 1 else shares[..., 0].mean(axis=1)


def _uncompilable(policy: Policy, error: Exception) -> str:
    code = policy.function.__code__
    text = str(error)
    lines = [int(number) for number in re.findall(r"\((\d+)\)|line (\d+)", text) for number in number if number]
    inside = [line for line in lines if code.co_firstlineno <= line <= max(n for *_, n in code.co_lines() if n)]
    line = inside[-1] if inside else code.co_firstlineno
    reasons = [each.strip() for each in text.splitlines() if each.strip() and not each.startswith("Failed in nopython")]
    return (
        f"numba cannot compile the policy {policy.spec} (line {line} of {code.co_filename}): {' '.join(reasons[:3])}; "
        "run it interpreted instead (slower, same games): interpreted=True, on the command line --interpreted"
    )


def find_ruleset(ruleset: str | Ruleset) -> Ruleset:
    """Look up a ruleset by its name; raises InputError if there is none."""
    return ruleset if isinstance(ruleset, Ruleset) else RULESETS[choose(str(ruleset), RULESETS, "ruleset")]


def set_table(
    ruleset: str | Ruleset,
    policies: Sequence[str | Policy | Callable],
    variant: Any = None,
    interpreted: bool = False,
) -> Table:
    """Look up a ruleset, its variant and a policy per seat; raises InputError for what does not exist."""
    ruleset = find_ruleset(ruleset)
    if isinstance(policies, str) or not isinstance(policies, Sequence):
        raise InputError(f"policies must be a list with one policy per seat, not {policies!r}")
    ruleset.check_seats(len(policies))
    variant = variant if isinstance(variant, Variant) else ruleset.variant(variant)
    # A file is run once, and may face itself; a solution is loaded once.
    known = {p: load_policy(ruleset, p).solved_for(ruleset, variant) for p in policies if isinstance(p, str)}
    loaded = tuple(known[p] if isinstance(p, str) else load_policy(ruleset, p).solved_for(ruleset, variant) for p in policies)
    for each in loaded:
        each.check(variant.values)
    for spec, functions in _functions_by_spec(loaded).items():
        if len(functions) > 1:
            raise InputError(f"{len(functions)} different policies are called {spec}; give them different names")
    return Table(ruleset, loaded, variant, interpreted)


def watched(table: Table) -> Table:
    """Return a table whose games are watched: by exact chances to win between two, where the ruleset knows them."""
    solved = table.ruleset.win_table
    if solved is None or len(table.policies) != 2:
        return replace(table, chances=np.zeros(0))
    return replace(table, chances=solved(table.ruleset, table.variant))


def _functions_by_spec(policies: Sequence[Policy]) -> dict[str, set[Callable]]:
    found: dict[str, set[Callable]] = {}
    for each in policies:
        found.setdefault(each.spec, set()).add(each.function)
    return found


@dataclass(frozen=True)
class Batch:
    """What a worker hands back: sums, raw rows and adjusted win shares if wanted, (deal, rotation, seat) of an illegal action."""

    sums: Sums
    rows: np.ndarray | None
    adjusted: np.ndarray | None
    fault: np.ndarray | None


def _play_batch(table: Table, matchup: Matchup, first_deal: int, deals: int, keep_rows: bool, book: Any = None) -> Batch:
    seats = len(table.policies)
    rows = np.zeros((deals, matchup.rotations, seats, len(matchup.measures)), np.int32)
    shares, fault, tape = np.zeros(seats), np.zeros(3, np.int64), table.tape()
    adjusted = None if book is None else np.zeros(rows.shape[:3])
    _, play = table.kernels()
    luck = None if book is None else table.luck(book)
    with np.errstate(over="ignore"):  # interpreted, the streams' 64-bit words overflow as they should
        status = play(*table.arguments(), np.uint64(matchup.seed), first_deal, shares, rows, fault, tape, luck, adjusted)
        fault_found = fault if status == ILLEGAL else None
        return Batch(reduce_rows(matchup, rows), rows if keep_rows else None, adjusted, fault_found)


def accusation(table: Table, seed: int, deal: int, rotation: int, seat: int) -> str:
    """Say which illegal action a seat took in a game, and how to see it."""
    from sims.trace import replay

    game = replay(table, seed, deal, rotation)
    policy = table.policies[(seat + rotation) % len(table.policies)]
    legal = ", ".join(f"{a} ({table.ruleset.describe(game.state, a)})" for a in table.ruleset.legal(game.state))
    return (
        f"policy {policy.spec} in seat {seat} returned action {game.codes[-1]}, which is not legal; seed {seed}, deal {deal}, "
        f"rotation {rotation}; position: {table.ruleset.render(game.state)}; legal: {legal}"
    )


def _rows_folder(rows: Any, is_begun: bool) -> Path | None:
    if rows is False or rows is None:
        return None
    if not isinstance(rows, (str, Path)) or not str(rows):
        raise InputError(f"rows must name a folder, not {rows!r}")
    folder = make_folder(rows, "rows")
    if not is_begun and any(folder.iterdir()):
        raise InputError(f"the folder for rows {str(folder)!r} is not empty; name an empty one, or a new one")
    return folder


def simulate(
    ruleset: str | Ruleset,
    policies: Sequence[str | Policy | Callable],
    games: int = 100_000,
    seed: int = 0,
    variant: Any = None,
    n_jobs: int = -1,
    rows: str | Path | bool = False,
    interpreted: bool = False,
    progress: bool = True,
    out: str | Path | None = None,
    batch: int | None = None,
    watch: bool = False,
) -> pd.DataFrame:
    """Play a matchup and return its results.

    Every deal is played in all its rotations (each policy in each seat), so the number of games is rounded up to whole
    deals. Ctrl-C keeps what is done: the results then say how many games they hold.

    Parameters
    ----------
    ruleset : str or Ruleset
        A name of ``RULESETS``.
    policies : sequence
        One per seat: specs (:func:`sims.policy.load_policy`), policies or functions.
    games, seed : int
        At least 1; 0 to 2**63 - 1.
    variant : str, mapping or Variant, optional
        ``"plain"``, ``"standard,target=50"``, ``{"target": 50}``.
    n_jobs : int
        joblib workers, threads unless :func:`sims.workers.workers` says otherwise; -1 for all cores.
    rows : path or False
        An empty folder to which raw rows are streamed, a parquet file per batch.
    interpreted : bool
        Do not compile the policies nor the loop: slow, same games.
    progress : bool
        Show a progress bar on stderr if that is a terminal.
    out : path, optional
        A folder for this run alone. A run that was stopped, even killed, goes on where its last checkpoint is, a finished one
        when more games are asked for; the results are those of a run in one go, and at the end also in ``results.parquet``.
    batch : int, optional
        Games that a worker plays at a time, 10,000 if left out; fewer where a game takes long, as progress, checkpoints and what
        a lost worker costs are counted in batches. The results are the same.
    watch : bool
        Also measure how the lead went (:mod:`sims.trajectories`). The loop is then compiled a second time.

    Returns
    -------
    DataFrame
        Sums per policy, seat and measure; see :mod:`sims.results`.

    Raises
    ------
    InputError
        For an unknown ruleset, policy, variant or field, a bad number, or a policy that numba cannot compile; for a folder of
        another run, or one that holds more games already.
    IllegalAction
        If a policy returns an action that is not legal.
    """
    games, seed = check_int(games, "games", 1, MAX_INT), check_int(seed, "seed", 0, MAX_INT)
    if check_int(n_jobs, "n_jobs", -1024, 1024) == 0:
        raise InputError("n_jobs must not be 0; choose a number of workers, or -1 for all cores")
    batch = check_int(BATCH if batch is None else batch, "batch", 1, MAX_INT)
    table = set_table(ruleset, policies, variant, interpreted)
    table = watched(table) if watch else table
    matchup = table.matchup(seed)
    rows_folder = _rows_folder(rows, is_claimed(out))
    folder = None
    if out is not None:
        kept_rows = rows_folder and {"folder": str(rows_folder.resolve()), "batch": batch}
        folder = claim_folder(out, {**table.identity(seed), "rows": kept_rows})
    checkpoint = Checkpoint(folder and folder / "checkpoint.npz")
    kept = checkpoint.load()
    sums = Sums(**kept) if kept else Sums.zero(matchup)
    deals = -(-games // matchup.rotations)
    if sums.deals > deals:
        raise InputError(
            f"{str(out)!r} holds {sums.deals * matchup.rotations} games of this run already; ask for as many or more"
        )
    if sums.deals < deals:
        table.arguments()  # a policy that does not compile is refused before any worker starts
        batches = _batches(table, matchup, sums.deals, deals - sums.deals, n_jobs, rows_folder is not None, batch)
        with _progress_bar(matchup, sums.deals, deals, progress) as bar:
            _count(batches, matchup, sums, checkpoint, rows_folder, bar)
    results = results_table(matchup, sums)
    if folder is not None and sums.deals == deals:
        with whole_file(folder / RESULTS) as partial:
            results.to_parquet(partial, index=False)
    return results


def _progress_bar(matchup: Matchup, first_deal: int, deals: int, is_shown: bool) -> tqdm:
    k, name = matchup.rotations, f"{matchup.ruleset.name} {matchup.name}"[:60]
    options: dict[str, Any] = {"unit": " games", "unit_scale": True, "disable": None if is_shown else True}
    return tqdm(total=deals * k, initial=first_deal * k, desc=name, **options)


def _count(batches: Generator[Batch], matchup: Matchup, sums: Sums, checkpoint: Checkpoint, rows: Path | None, bar: tqdm) -> None:
    """Add batches to the sums, and keep them; after Ctrl-C the sums hold those that have come."""
    try:
        for batch in batches:
            path = rows and rows / f"deals-{sums.deals:012d}.parquet"
            with whole_file(path) if path else nullcontext() as partial:  # Ctrl-C: neither the rows nor the sums have it
                if partial is not None and batch.rows is not None:
                    rows_table(matchup, sums.deals, batch.rows).to_parquet(partial, index=False)
                sums += batch.sums
            bar.update(batch.sums.deals * matchup.rotations)
            if checkpoint.is_due:
                checkpoint.save(vars(sums))
    except KeyboardInterrupt:
        if not sums.deals:
            raise
        later = "" if checkpoint.path is None else "; the same call goes on from there"
        print(f"interrupted: keeping {sums.deals * matchup.rotations:,} games{later}", file=sys.stderr)
    finally:
        batches.close()
        checkpoint.save(vars(sums))


def _batches(
    table: Table,
    matchup: Matchup,
    first_deal: int,
    deals: int,
    n_jobs: int,
    keep_rows: bool,
    games: int | None = None,
    book: Any = None,
) -> Generator[Batch]:
    """Yield the batches of consecutive deals, of so many games each, in their order; raises IllegalAction."""
    size, end = max(1, (games or BATCH) // matchup.rotations), first_deal + deals
    play = Parcel(partial(_play_batch, table, matchup, book=book))
    jobs = (delayed(play)(at, min(size, end - at), keep_rows) for at in range(first_deal, end, size))
    played = (
        (function(*args, **named) for function, args, named in jobs)
        if deals <= size
        else Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator", batch_size=1)(jobs)
    )
    try:
        for batch in played:
            if batch.fault is not None:
                raise IllegalAction(accusation(table, matchup.seed, *map(int, batch.fault)))
            yield batch
    finally:
        with warnings.catch_warnings():  # joblib warns of the batches that are given up
            warnings.simplefilter("ignore")
            played.close()


class DealShares(NamedTuple):
    """Consecutive deals, the units of statistics.

    Attributes
    ----------
    shares : float array (deals, different policies)
        Win share of each of :attr:`Matchup.policies`, the mean over its seats and the deal's rotations.
    truncated : int array (deals,)
        Games of the deal that were stopped; their win shares are 0.
    """

    shares: np.ndarray
    truncated: np.ndarray


def deal_rows(table: Table, seed: int, first_deal: int, deals: int, n_jobs: int = -1) -> Iterator[np.ndarray]:
    """Play consecutive deals of a run and yield their rows batch by batch: int32 (deals, rotations, seats, measures).

    Raises
    ------
    IllegalAction
        If a policy returns an action that is not legal.
    """
    for batch in _batches(table, table.matchup(seed), first_deal, deals, n_jobs, True):
        if batch.rows is not None:
            yield batch.rows


class AdjustedShares(NamedTuple):
    """Consecutive deals, with luck and without: ``shares`` and ``truncated`` as in :class:`DealShares`.

    Attributes
    ----------
    adjusted : float array (deals, different policies)
        The win shares adjusted for luck: other numbers with the same mean and less variance.
    """

    shares: np.ndarray
    truncated: np.ndarray
    adjusted: np.ndarray


def deal_shares(table: Table, seed: int, first_deal: int, deals: int, n_jobs: int = -1) -> DealShares:
    """Play consecutive deals of a run and return what each policy won in each: for comparisons of deal with deal.

    Raises
    ------
    IllegalAction
        If a policy returns an action that is not legal.
    """
    return DealShares(*_deals(table, seed, first_deal, deals, n_jobs, None)[:2])


def adjusted_shares(table: Table, seed: int, first_deal: int, deals: int, n_jobs: int = -1) -> AdjustedShares:
    """Play the same games as :func:`deal_shares`, and adjust their win shares for luck as well (:mod:`sims.luck`).

    Raises
    ------
    InputError
        If the games cannot be adjusted: the ruleset offers no values, or not for so many seats.
    IllegalAction
        If a policy returns an action that is not legal.
    """
    return AdjustedShares(*_deals(table, seed, first_deal, deals, n_jobs, table.book))


def _deals(table: Table, seed: int, first_deal: int, deals: int, n_jobs: int, book: Any) -> list[np.ndarray]:
    """Return win shares by policy, games stopped and, if there is a book, adjusted win shares, each deal by deal."""
    matchup = table.matchup(seed)
    seats, truncated = len(matchup.specs), matchup.measures.index("truncated")
    played = []
    for batch in _batches(table, matchup, first_deal, deals, n_jobs, True, book=book):
        if batch.rows is not None:
            stopped = batch.rows[..., truncated].sum(axis=(1, 2)) // seats
            adjusted = [] if batch.adjusted is None else [policy_shares(matchup, batch.adjusted)]
            played.append([policy_shares(matchup, payoffs_of(matchup, batch.rows)), stopped, *adjusted])
    return [np.concatenate(each) for each in zip(*played, strict=True)]
