"""Pools of workers for independent tasks: the caller itself, or threads of this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, TypeVar

Thing = TypeVar("Thing")
LOOK = 0.2  # seconds between checks for remaining workers


class Pool:
    """Workers that do tasks. At the end of a ``with`` block unfinished tasks are dropped.

    Attributes
    ----------
    width : int
        Number of tasks done at the same time.
    """

    width: int

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Give a task to the workers. If a worker dies, another one repeats its task."""
        raise NotImplementedError

    def share(self, thing: Thing) -> Thing:
        """A stand-in for an object among the arguments of tasks; the object is sent once."""
        return thing

    def check(self) -> None:
        """Check that there are workers.

        Raises
        ------
        ClusterError
        """

    def close(self) -> None:
        """Let the workers go."""

    def wait(self, futures: Collection[Future[Any]]) -> set[Future[Any]]:
        """Wait until some of the tasks are done; returns them.

        Raises
        ------
        ClusterError
            No worker is left.
        """
        while not (done := wait(futures, LOOK, FIRST_COMPLETED).done):
            self.check()
        return done

    def result(self, future: Future[Any]) -> Any:
        """The result of a task. Its exceptions are raised here.

        Raises
        ------
        ClusterError
            No worker is left, or the task kills workers.
        """
        self.wait([future])
        return future.result()

    def in_order(
        self, function: Callable[..., Any], pieces: Iterable[tuple[Any, ...]]
    ) -> Iterator[Any]:
        """The results of a function for each piece, in the order of the pieces.

        Parameters
        ----------
        pieces : iterable of tuple
            The arguments of each task, read as workers become free.
        """
        waiting = deque[Future[Any]]()
        for piece in pieces:
            waiting.append(self.submit(function, *piece))
            if len(waiting) > self.width:
                yield self.result(waiting.popleft())
        while waiting:
            yield self.result(waiting.popleft())

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Here(Pool):
    """The calling process itself: each task is done at once."""

    width = 0

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Do a task at once. Its exceptions are raised here."""
        future = Future[Any]()
        future.set_result(function(*arguments))
        return future


class Threads(Pool):
    """So many threads."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._threads = ThreadPoolExecutor(width)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Give a task to a thread."""
        return self._threads.submit(function, *arguments)

    def close(self) -> None:
        """Wait for running tasks."""
        self._threads.shutdown(cancel_futures=True)
