"""The workers of a cluster, by Dask (https://distributed.dask.org)."""

from __future__ import annotations

import pickle
import pydoc
import re
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

import rollwise
from rollwise.cluster.pool import Pool, Ways, check_version, done
from rollwise.errors import ClusterError, MissingExtra, UsageError

Thing = TypeVar("Thing")
CONNECTING = 10.0  # seconds of waiting for an answer of a scheduler
PATIENCE = 60.0  # seconds without any worker before giving up
BETWEEN = 1.0  # seconds between checks for workers
QUIET = ("distributed", "distributed.client", "distributed.core", "tornado", "tornado.application")
VERSION = "rollwise.__version__"
_ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://[^/\s]+:\d+/?")


def check_address(address: str | None) -> None:
    """Check the form of the address of a scheduler.

    Raises
    ------
    UsageError
    """
    if address is not None and _ADDRESS.fullmatch(address) is None:
        raise UsageError(
            f"--workers is {address!r}; it is the address of a Dask scheduler, as in "
            "tcp://10.0.0.1:8786"
        )


class DaskWorkers(Pool):
    """The workers registered with a scheduler.

    Parameters
    ----------
    address : str
        Of the scheduler, as in ``tcp://10.0.0.1:8786``.

    Raises
    ------
    MissingExtra
    ClusterError
        No scheduler answers there, or it has no workers.
    """

    def __init__(self, address: str) -> None:
        check_address(address)
        distributed = _distributed()
        self.address = address
        try:
            self._client = distributed.Client(
                address, timeout=CONNECTING, set_as_default=False, name="rollwise"
            )
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no scheduler answers at {address}; `dask scheduler` begins one"
            ) from error
        self._tasks = self._client.get_executor(pure=False)
        try:
            self._client.wait_for_workers(1, timeout=CONNECTING)
        except (OSError, CancelledError) as error:
            self.close()
            raise ClusterError(
                f"the scheduler at {address} has no workers; `dask worker {address}` begins one"
            ) from error
        self._looked = self._seen = time.monotonic()
        try:
            self._check_versions()
        except ClusterError:
            self.close()
            raise

    def _check_versions(self) -> None:
        """Check all workers' version of rollwise: a task would kill a worker without rollwise.

        Raises
        ------
        ClusterError
        """
        try:  # by a function that they have all the same
            versions = self._client.run(pydoc.locate, VERSION, on_error="return")
        except Exception as error:
            raise self._gone() from error
        for place, version in versions.items():
            if version is None or isinstance(version, pydoc.ErrorDuringImport):
                raise ClusterError(
                    f"the worker {place} has no rollwise; install {rollwise.__version__} on all "
                    "machines"
                )
            if isinstance(version, str):  # another error is of a worker that left meanwhile
                check_version(version)

    @property
    def width(self) -> int:  # type: ignore[override]
        """Number of threads of all present workers."""
        return max(sum(self._threads().values()), 1)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Give a task to the scheduler."""
        try:
            future: Future[Any] = self._tasks.submit(done, Ways.here(), function, *arguments)
        except Exception as error:  # as Dask says that its client is closed: in many ways
            raise self._gone() from error
        return future

    def share(self, thing: Thing) -> Thing:
        """Give an object to the scheduler; returns its stand-in for arguments.

        It is a task that unpacks the object. If the workers that hold it die, others repeat the
        task. Data stored by Dask's own ``scatter`` would be lost with them.
        """
        packed = pickle.dumps(thing, pickle.HIGHEST_PROTOCOL)
        try:
            future: Thing = self._client.submit(done, Ways.here(), pickle.loads, packed, pure=False)
        except Exception as error:
            raise self._gone() from error
        return future

    def result(self, future: Future[Any]) -> Any:
        """The result of a task."""
        try:
            return super().result(future)
        except CancelledError as error:
            if self._client.status != "running":
                raise self._gone() from error
            raise ClusterError(f"the scheduler at {self.address} dropped a task") from error
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise ClusterError(
                    "workers die of the same task again and again; have they too little memory?"
                ) from error
            raise

    def check(self) -> None:
        """Check that the scheduler answers, and that workers come back soon if all are gone."""
        now = time.monotonic()
        if now < self._looked + BETWEEN:
            return
        if self._threads():
            self._seen = time.monotonic()
        elif now > self._seen + PATIENCE:
            raise ClusterError(
                f"the scheduler at {self.address} has had no workers for {PATIENCE:.0f} seconds"
            )
        self._looked = time.monotonic()

    def _threads(self) -> dict[str, int]:
        """How many threads each worker has."""
        if self._client.status != "running":
            raise self._gone()
        try:
            return dict(self._client.nthreads())
        except Exception as error:
            raise self._gone() from error

    def _gone(self) -> ClusterError:
        return ClusterError(f"the scheduler at {self.address} is gone")

    def close(self) -> None:
        """Disconnect from the scheduler, which drops unfinished tasks."""
        self._client.close(timeout=2)


def _distributed() -> Any:
    """Dask's library, with its own messages silenced."""
    try:
        import dask

        dask.config.set({"logging": dict.fromkeys(QUIET, "critical")})
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})  # by `share`
        import distributed
    except ImportError as error:
        raise MissingExtra('a cluster needs Dask: pip install "rollwise[cluster]"') from error
    return distributed
