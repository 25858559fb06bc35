"""Threads of this process: for kernels, which let go of the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from rollwise.cluster.pool import Pool


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
