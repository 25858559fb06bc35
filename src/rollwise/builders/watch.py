"""A watch over rules that come to no end: loops that yield nothing.

What yields for ever is counted (`rollwise.builders.limits.MOST_YIELDED`). A loop that yields
nothing gives nothing to count, so a second thread looks at the clock.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from rollwise.machine.interrupts import start

LOOKS, SECONDS_BETWEEN = 10, 1.0  # a rule may take so many looks at the clock


class TakesTooLong(BaseException):
    """Raised in a rule that comes to no end; as a BaseException, so that no rule handles it."""

    def __str__(self) -> str:
        return f"no end after {LOOKS * SECONDS_BETWEEN:g} seconds; does a loop in it never end?"


@dataclass
class Calls:
    """How many calls of rules were begun in this process."""

    begun: int = 0


CALLS = Calls()


class Stall:
    """Counts the looks in a row at which nothing was new.

    Looks are counted, and not seconds: a process that is stopped for a while doesn't look.
    """

    def __init__(self, most: float) -> None:
        self._most, self._looks, self._last = most, 0, object()

    def seen(self, sign: object) -> bool:
        """Whether the sign of life has been the same for too long."""
        self._looks = self._looks + 1 if sign == self._last else 0
        self._last = sign
        return self._looks >= self._most


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Within this, a rule that takes too long is ended by `TakesTooLong`."""
    done = threading.Event()
    caller = ctypes.c_ulong(threading.get_ident())

    def look() -> None:
        stall = Stall(LOOKS)
        while not done.wait(SECONDS_BETWEEN):
            if stall.seen(CALLS.begun):
                raise_there = ctypes.pythonapi.PyThreadState_SetAsyncExc
                raise_there(caller, ctypes.py_object(TakesTooLong))
                return

    start(threading.Thread(target=look, daemon=True))
    try:
        yield
    finally:
        done.set()
