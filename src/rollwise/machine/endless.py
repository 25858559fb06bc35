"""Rules that never end: a loop in them without a yield ends with an error.

Such a loop cannot be counted. One thread therefore looks at the clock, for all that run rules.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rollwise.faults import PASSED_ON, fault_text
from rollwise.machine.interrupts import start

LOOKS, SECONDS_BETWEEN = 10, 1.0  # the longest time of a rule, in looks at the clock


class TakesTooLong(BaseException):
    """Raised in an endless rule. It is a BaseException, so that no rule handles it."""

    def __str__(self) -> str:
        return f"no end after {LOOKS * SECONDS_BETWEEN:g} seconds; does a loop in it never end?"


@dataclass
class Calls:
    """The number of rule calls begun in this process."""

    begun: int = 0


CALLS = Calls()


class Stall:
    """Counts successive looks without any progress.

    It counts looks rather than seconds: a suspended process does not look.
    """

    def __init__(self, most: float) -> None:
        self._most, self._looks, self._last = most, 0, object()

    def seen(self, sign: object) -> bool:
        """Whether the sign of life has not changed for too long."""
        self._looks = self._looks + 1 if sign == self._last else 0
        self._last = sign
        return self._looks >= self._most


class _Clock:
    """Looks at the calls of threads that run rules, while there are any."""

    def __init__(self) -> None:
        self._stalls: dict[int, Stall] = {}  # by the thread
        self._lock, self._looks = threading.Lock(), False

    def enter(self, caller: int) -> bool:
        """Watch a thread; return whether it was watched before."""
        if caller in self._stalls:  # only the thread itself changes this
            return True
        with self._lock:
            if not self._looks:
                start(threading.Thread(target=self._look, daemon=True))
                self._looks = True
            self._stalls[caller] = Stall(LOOKS)
            return False

    def leave(self, caller: int) -> None:
        with self._lock:  # not between a look and its exception, which would come too late
            self._stalls.pop(caller, None)

    def _look(self) -> None:
        while True:
            time.sleep(SECONDS_BETWEEN)
            with self._lock:
                for caller, stall in list(self._stalls.items()):
                    # No rule has begun since these looks: the present one takes too long.
                    if stall.seen(CALLS.begun):
                        raise_there = ctypes.pythonapi.PyThreadState_SetAsyncExc
                        raise_there(ctypes.c_ulong(caller), ctypes.py_object(TakesTooLong))
                        self._stalls[caller] = Stall(LOOKS)
                if not self._stalls:
                    self._looks = False
                    return


_CLOCK = _Clock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_CLOCK.__init__)  # type: ignore[misc]


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """A context in which `TakesTooLong` ends an endless rule."""
    CALLS.begun += 1
    caller = threading.get_ident()
    within = _CLOCK.enter(caller)
    try:
        yield
    finally:
        if not within:
            _CLOCK.leave(caller)


def is_endless(error: BaseException) -> bool:
    """Whether an error of rules says that they came to no end. To ask them again takes as long."""
    return isinstance(error.__cause__, TakesTooLong)


@contextlib.contextmanager
def running(kind: type[Exception], what: str | Callable[[], str]) -> Iterator[None]:
    """Turn an exception of users' code into one of a kind that names part and cause.

    An exception of this kind names them already. Code without an end is stopped.

    Parameters
    ----------
    kind : type of Exception
    what : str or callable
        The part; a callable makes the text if it is needed.
    """
    try:
        with watched():
            yield
    except (*PASSED_ON, kind):
        raise
    except BaseException as error:
        named = what if isinstance(what, str) else what()
        raise kind(f"{named}: {fault_text(error)}") from error
