"""Where batches are played: threads of this process, processes of this machine, or the workers of a Dask cluster.

A batch is a pure function of its deals, so the results are the same everywhere, and what a lost worker had in hand is played
again by another one. Policies travel with their code (:mod:`sims.policy`), games by name: every worker has this package.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cached_property, lru_cache, partial
from importlib.util import find_spec
from typing import Any

import cloudpickle
from joblib import parallel_config

from sims.errors import InputError, choose

ENGINES = ("threads", "processes", "dask")
SECONDS = 10  # to wait for a scheduler, and then for its first worker


@contextmanager
def workers(engine: str = "threads", scheduler: str | None = None) -> Iterator[None]:
    """Play all that is played in this block by workers of a kind: ``with workers("dask", "tcp://host:8786"): simulate(...)``.

    Parameters
    ----------
    engine : str
        ``"threads"``, ``"processes"`` (each with its own interpreter; for interpreted policies) or ``"dask"``.
    scheduler : str, optional
        The address of a Dask scheduler, for ``"dask"`` only.

    Raises
    ------
    InputError
        For an unknown engine, a scheduler that is missing, not needed, silent or without workers, or if Dask is not installed.
    LostBatch
        If the cluster fails. A lost worker is none of that: others play its batches.
    """
    if choose(engine, ENGINES, "engine") == "dask" and scheduler is None:
        raise InputError("the engine 'dask' needs the address of a scheduler, which `dask scheduler` prints: --scheduler ADDRESS")
    if engine != "dask" and scheduler is not None:
        raise InputError(f"the scheduler {scheduler!r} is for the engine 'dask', not for {engine!r}")
    if scheduler is not None:
        with _cluster(scheduler):
            yield
    elif engine == "processes":
        with parallel_config(backend="loky"):
            yield
    else:
        yield


class LostBatch(RuntimeError):
    """A cluster has given up a batch, because each worker that had it was lost, or because the cluster itself is."""


class Parcel:
    """A function for workers: a thread calls it as it is; another process gets bytes, and unpacks them once, in its first task.

    A task that fails there raises its error here; what fails while a message is read would end a worker of Dask instead.
    """

    def __init__(self, function: Callable) -> None:
        self.function = function
        self.__name__ = "games"  # what a cluster calls its tasks

    def __call__(self, *args: Any) -> Any:
        """Call the function."""
        return self.function(*args)

    def __reduce__(self) -> tuple:
        return partial, (_call, self._packed)

    @cached_property
    def _packed(self) -> bytes:
        return cloudpickle.dumps(self.function)


def _call(packed: bytes, *args: Any) -> Any:
    return _unpacked(packed)(*args)


@lru_cache
def _unpacked(packed: bytes) -> Callable:
    return cloudpickle.loads(packed)


@contextmanager
def _cluster(scheduler: str) -> Iterator[None]:
    try:
        import distributed
        from distributed.comm import get_address_host_port
        from joblib._dask import DaskDistributedBackend
    except ImportError as error:
        raise InputError("the engine 'dask' needs the package distributed; install it: pip install 'dicelab[dask]'") from error

    class Cluster(DaskDistributedBackend):
        """joblib's own backend waits for ever for a batch that Dask has given up: here its error is raised."""

        def effective_n_jobs(self, n_jobs: int) -> int:
            return max(2, super().effective_n_jobs(n_jobs))  # for one, joblib would play here

        def submit(self, func: Any, callback: Any = None) -> Future:
            future = super().submit(func, callback)
            future.add_done_callback(lambda done: done.exception() and callback(done))
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            try:
                return super().retrieve_result_callback(out.exception() if isinstance(out, Future) else out)
            except (distributed.KilledWorker, distributed.CancelledError) as error:
                raise LostBatch(f"the Dask cluster at {scheduler!r} gave up a batch: {error}") from error

    try:
        get_address_host_port(scheduler)
        client = distributed.Client(scheduler, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {scheduler!r} ({error}); name the address that `dask scheduler` prints"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=SECONDS)
        except TimeoutError as error:
            raise InputError(
                f"the Dask scheduler at {scheduler!r} has no workers; start some: dask worker {scheduler}"
            ) from error
        bare = [worker for worker, found in client.run(find_spec, "sims").items() if found is None]
        if bare:
            raise InputError(f"dicelab is not installed on the Dask worker {bare[0]}; every worker needs it, in the same version")
        with parallel_config(backend=Cluster(client=client)):
            yield
