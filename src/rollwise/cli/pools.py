"""``--workers`` and ``--cluster``, who do independent tasks, and ``--memory``, their limit."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.errors import UsageError
from rollwise.machine import memory_limits
from rollwise.numbers.printed import bytes_of

if TYPE_CHECKING:
    from rollwise.cluster.pool import Pool

LEAST_MEMORY = 500_000_000  # bytes, of which Numba takes a half

ClusterOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let the workers of a Dask scheduler do it, as in tcp://10.0.0.1:8786.",
    ),
]
ProcessesOption = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", help="Processes that work at the same time; 1."),
]


def check_workers(workers: int | None, cluster: str | None) -> None:
    """Refuse, before any work, what can't be.

    Raises
    ------
    UsageError
    """
    if workers is not None and workers < 1:
        raise UsageError(f"--workers is {workers}; it must be at least 1")
    if workers is not None and cluster is not None:
        raise UsageError("--workers are of this machine, and --cluster has its own: give one")
    if cluster is not None:
        from rollwise.cluster.dask_workers import check_address

        check_address(cluster)


def workers_of(cluster: str | None) -> AbstractContextManager[Pool | None]:
    """The workers of a cluster, if it is given."""
    if cluster is None:
        return nullcontext()
    from rollwise.cluster.dask_workers import DaskWorkers

    return DaskWorkers(cluster)


def processes_or(cluster: str | None, workers: int | None) -> AbstractContextManager[Pool | None]:
    """The workers of a cluster, or processes of this machine where there are to be several."""
    if cluster is not None or workers is None or workers == 1:
        return workers_of(cluster)
    from rollwise.cluster.processes import Processes

    return Processes(workers)


def _limit_memory(text: str | None) -> str | None:
    """Take no more memory than --memory says."""
    if text is not None:
        size = bytes_of(text)
        if size is None or size < LEAST_MEMORY:
            raise UsageError(f"--memory is {text}; it is an amount such as 8GB, at least 500MB")
        memory_limits.limit(size)
    return text


MemoryOption = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        callback=_limit_memory,
        help="Take no more memory, as in 8GB; what doesn't fit is refused.",
    ),
]
