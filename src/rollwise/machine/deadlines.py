"""Time limits, also for calls into libraries that look at no clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from rollwise.machine.interrupts import leave, start

Found = TypeVar("Found")

PATIENCE = 0.05  # seconds between two looks at the clock, and at Ctrl-C


class OutOfTime(Exception):
    """A clock that was looked at was up."""


class Clock:
    """Says when the time is up.

    Parameters
    ----------
    limit : float, optional
        Seconds from now.
    """

    def __init__(self, limit: float | None) -> None:
        self.started = time.monotonic()
        self.limit = limit

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        return float("inf") if self.limit is None else self.limit - self.seconds

    @property
    def is_up(self) -> bool:
        return self.left <= 0

    def look(self, *done: Any) -> None:
        """Raise `OutOfTime` if the time is up; fits where progress is reported to."""
        if self.is_up:
            raise OutOfTime

    def within(self, function: Callable[..., Found], *arguments: Any) -> Found:
        """Call a library that lets other threads run meanwhile, but looks at no clock.

        The call is made on a thread of its own. When the time is up, or Ctrl-C is
        pressed, it is left to come to its end by itself, which nobody waits for.

        Raises
        ------
        OutOfTime
        """
        if self.limit is None:
            return function(*arguments)
        self.look()
        found: list[Found] = []
        failed: list[BaseException] = []
        working = threading.Lock()
        working.acquire()

        def run() -> None:
            try:
                found.append(function(*arguments))
            except BaseException as error:
                failed.append(error)
            finally:
                working.release()

        start(threading.Thread(target=run, daemon=True))
        try:
            while not working.acquire(timeout=min(PATIENCE, max(self.left, 0.0))):
                self.look()
        except BaseException:
            leave(working)
            raise
        if failed:
            raise failed[0]
        return found[0]
