"""Pools of workers for independent tasks: the caller itself, threads, or processes."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Future,
    InvalidStateError,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context, parent_process
from typing import Any, NamedTuple, TypeVar

import rollwise
from rollwise.errors import ClusterError, on_command_line, words_of_the_command_line
from rollwise.machine import user_cache
from rollwise.machine.switches import VARIABLE

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
            # one task more than workers waits, so that none is idle while a result is taken
            if len(waiting) > self.width:
                yield self.result(waiting.popleft())
        while waiting:
            yield self.result(waiting.popleft())

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
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


class Ways(NamedTuple):
    """Settings of this process for another one that works for it.

    Attributes
    ----------
    version : str
        Of rollwise.
    on_command_line : bool
        Whether messages name options.
    keeps : bool
        Whether answers are read from the user's cache and stored there.
    """

    version: str
    on_command_line: bool
    keeps: bool

    @classmethod
    def here(cls) -> Ways:
        """Those of this process."""
        return cls(rollwise.__version__, on_command_line(), user_cache.in_use())


def done(ways: Ways, function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a function in this process, on behalf of another one.

    Raises
    ------
    ClusterError
        This process has another version of rollwise.
    """
    check_version(rollwise.__version__, ways.version)
    user_cache.use(ways.keeps)
    with words_of_the_command_line() if ways.on_command_line else contextlib.nullcontext():
        return function(*arguments)


def check_version(there: str, here: str = rollwise.__version__) -> None:
    """Check that a worker has the same version of rollwise as the tasks.

    Raises
    ------
    ClusterError
    """
    if there != here:
        raise ClusterError(
            f"a worker has rollwise {there}, and not {here}; install the same on all machines"
        )


MOST_DEATHS = 3  # of workers at one task


class Processes(Pool):
    """This number of processes, each on a core of its own.

    If one of them dies, all are restarted, and repeat unfinished tasks.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self._lock, self._closed = threading.Lock(), False
        self._pool = self._new()

    def _new(self) -> ProcessPoolExecutor:
        alone = self.width > 1
        return ProcessPoolExecutor(self.width, get_context("spawn"), _begin, (alone,))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Give a task to a process."""
        future = Future[Any]()
        self._try(future, (Ways.here(), function, *arguments), 0)
        return future

    def _try(self, future: Future[Any], task: tuple[Any, ...], deaths: int) -> None:
        # a broken pool takes no tasks: a new one takes its place
        while True:
            pool = self._pool
            try:
                inner = pool.submit(done, *task)
                break
            except BrokenProcessPool:
                self._replace(pool)
        inner.add_done_callback(lambda inner: self._ended(pool, inner, future, task, deaths))

    def _ended(
        self,
        pool: ProcessPoolExecutor,
        inner: Future[Any],
        future: Future[Any],
        task: tuple[Any, ...],
        deaths: int,
    ) -> None:
        """Report the result of a task, or repeat it if its worker died."""
        if inner.cancelled() or self._closed:
            future.cancel()
            return
        error = inner.exception()
        # all tasks of a broken pool fail, also those whose own process was well: each is repeated
        if isinstance(error, BrokenProcessPool) and deaths < MOST_DEATHS:
            self._replace(pool)
            self._try(future, task, deaths + 1)
            return
        if isinstance(error, BrokenProcessPool):
            error = ClusterError(
                f"a process died {MOST_DEATHS + 1} times while it did the same; is there too "
                "little memory? Fewer --workers take less"
            )
        with suppress(InvalidStateError, CancelledError):
            if error is None:
                future.set_result(inner.result())
            else:
                future.set_exception(error)

    def _replace(self, pool: ProcessPoolExecutor) -> None:
        """Start new processes in place of dead ones."""
        with self._lock:
            if self._pool is pool and not self._closed:
                self._pool = self._new()

    def close(self) -> None:
        """End the processes, whatever they are at."""
        self._closed = True
        pool = self._pool
        running = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in running:
            process.terminate()


def _begin(alone: bool) -> None:
    """Prepare a process: it ends with its parent, and leaves other cores to the others.

    Output of rules goes to stderr, since stdout is the parent's.
    """
    import signal

    os.dup2(2, 1)
    sys.stdout = sys.stderr  # unbuffered: no output is lost at the end
    warnings.showwarning = _show_warning
    if alone:
        off = os.environ.get(VARIABLE, "")
        os.environ[VARIABLE] = ",".join(filter(None, (off, "second-core")))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C, and ends this one
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _show_warning(message: Warning | str, *args: Any, **kwargs: Any) -> None:
    print(f"rollwise: warning: {message}", file=sys.stderr)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
