"""Pools of workers that do independent tasks: nobody else, or threads of this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, TypeVar

Thing = TypeVar("Thing")
LOOK = 0.2  # seconds, after which somebody asks whether there are workers left


class Pool:
    """Workers that do tasks. At the end of a ``with`` block tasks that aren't done are dropped.

    Attributes
    ----------
    width : int
        How many tasks are done at the same time.
    """

    width: int

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Give a task to the workers. A worker that dies doesn't end it: another one does it."""
        raise NotImplementedError

    def share(self, thing: Thing) -> Thing:
        """What stands for a thing among the arguments of tasks, so that it travels once."""
        return thing

    def check(self) -> None:
        """Make sure that there is somebody who works.

        Raises
        ------
        ClusterError
        """

    def close(self) -> None:
        """Let the workers go."""

    def wait(self, futures: Collection[Future[Any]]) -> set[Future[Any]]:
        """Wait until some of the tasks are done; which.

        Raises
        ------
        ClusterError
            Nobody is left who could do them.
        """
        while not (done := wait(futures, LOOK, FIRST_COMPLETED).done):
            self.check()
        return done

    def result(self, future: Future[Any]) -> Any:
        """What came of a task. What it raised is raised here.

        Raises
        ------
        ClusterError
            Nobody is left who could do it, or workers die of it.
        """
        self.wait([future])
        return future.result()

    def in_order(
        self, function: Callable[..., Any], pieces: Iterable[tuple[Any, ...]]
    ) -> Iterator[Any]:
        """What a function gives for each piece, in the order of the pieces.

        Parameters
        ----------
        pieces : iterable of tuple
            The arguments of each task. They are asked for as workers become free.
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
    """Nobody else: each task is done where it is given."""

    width = 0

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Do a task at once. What it raises is raised here."""
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
        """Wait for what is being done."""
        self._threads.shutdown(cancel_futures=True)
