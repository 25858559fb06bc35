"""External ends of a run: Ctrl-C and time limits, also while compiled code runs."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from rollwise.machine import memory_limits

Result = TypeVar("Result")

LOOK = 0.2  # seconds
TO_END = 1.0  # seconds
AGAIN_AFTER = 0.02  # seconds after which a Ctrl-C that was dropped is asked for again
TO_START = 20_000_000  # bytes of a thread: its stack, and some more


def heard(
    function: Callable[..., Result],
    *arguments: Any,
    watch: Callable[[], None] | None = None,
    stop: Callable[[], None] | None = None,
) -> Result:
    """Call compiled code that releases the interpreter's lock, and notice Ctrl-C meanwhile.

    Python notices Ctrl-C only between its own instructions. The call is therefore made on another
    thread, and this one waits for it. After Ctrl-C that thread is abandoned: it ends with the
    code, or with the process. All memory used by the code must be reachable from the arguments,
    which live as long. Outside the main thread, the only one to get signals, nothing changes.

    Parameters
    ----------
    watch : callable, optional
        Called every `LOOK` seconds meanwhile. If it raises, the other thread is abandoned too.
    stop : callable, optional
        Asks the code to end. The code then has `TO_END` seconds to do so.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)

    def look() -> float:
        if watch is not None:
            watch()
        return LOOK

    return _elsewhere(lambda: function(*arguments), look, stop)


def _elsewhere(
    call: Callable[[], Result],
    look: Callable[[], float],
    stop: Callable[[], None] | None = None,
) -> Result:
    """Make a call on another thread. This one looks meanwhile, and so it hears Ctrl-C.

    Parameters
    ----------
    look : callable
        Called before, and each time that the seconds which it returns are over. If it raises, the
        other thread is abandoned.
    stop : callable, optional
        As in `heard`.
    """
    seconds = look()
    try:
        helper = _idle.pop()
    except IndexError:
        helper = _Helper()
    helper.take(call)
    try:
        # On Windows a wait without end doesn't hear.
        while not helper.done.acquire(timeout=seconds):
            seconds = look()
    except BaseException:
        helper.is_left = True
        if stop is not None:
            stop()
        leave(helper.done, TO_END if stop is not None else 0.0)
        raise
    failure, result = helper.failure, helper.result
    helper.failure = helper.result = None
    _idle.append(helper)
    if failure is not None:
        raise failure
    found: Result = result
    return found


class _Helper:
    """A thread that makes calls for others: starting a new thread for each takes longer.

    An abandoned one ends with its call.
    """

    def __init__(self) -> None:
        self._given, self.done = threading.Lock(), threading.Lock()
        self._given.acquire()
        self.done.acquire()
        self._call: Callable[[], Any] | None = None
        self.result: Any = None
        self.failure: BaseException | None = None
        self.is_left = False
        start(threading.Thread(target=self._work, daemon=True))

    def take(self, call: Callable[[], Any]) -> None:
        """Begin with a call."""
        self._call = call
        self._given.release()

    def _work(self) -> None:
        while not self.is_left:
            self._given.acquire()
            call, self._call = self._call, None
            try:
                self.result = call() if call is not None else None
            except BaseException as error:
                self.failure = error
            del call  # and its arguments
            self.done.release()


_idle: list[_Helper] = []  # idle helpers
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads stay with the parent


_left: list[threading.Lock] = []


def leave(working: threading.Lock, seconds: float = 0.0) -> None:
    """Wait so long for a daemon thread at most, and then leave it to come to its end by itself.

    Parameters
    ----------
    working : Lock
        The thread releases it as it ends. (Python 3.11 takes a thread for dead when Ctrl-C
        interrupts the wait for it.)
    """
    if not working.acquire(timeout=seconds):
        _left.append(working)


def any_is_left() -> bool:
    """Whether an abandoned thread still runs.

    Python must not end beside it: a library that then calls Python crashes.
    """
    _left[:] = [working for working in _left if working.locked()]
    return bool(_left)


def hear_in_callbacks() -> None:
    """Notice Ctrl-C while LLVM, during compilation, calls Python.

    An exception can't pass through LLVM, and Python drops it after a message on stderr. Instead
    Ctrl-C is raised again a moment later.
    """
    before = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is KeyboardInterrupt:
            again = threading.Timer(AGAIN_AFTER, _thread.interrupt_main)
            again.daemon = True
            again.start()
        else:
            before(unraisable)

    sys.unraisablehook = hook


def start(thread: threading.Thread) -> None:
    """Start a thread; lack of room for its stack becomes a MemoryError.

    Under a memory limit its room is checked first, because Python waits for ever for a thread that
    can't start.

    Raises
    ------
    MemoryError
    """
    memory_limits.require(TO_START, "a thread")
    try:
        thread.start()
    except RuntimeError as error:
        raise MemoryError("there is no room for a thread") from error


class Interrupt:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.asked = False


@contextmanager
def _handled(handler: Callable[[int, Any], None], *numbers: int) -> Iterator[None]:
    """Let a function handle some signals in a ``with`` block.

    Outside the main thread, the only one to get signals, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


@contextmanager
def held_back() -> Iterator[Interrupt]:
    """Hold Ctrl-C back during a ``with`` block; raise KeyboardInterrupt after it.

    The block reads ``asked`` now and then and ends early.
    """
    interrupt = Interrupt()

    def note(number: int, frame: Any) -> None:
        interrupt.asked = True

    with _handled(note, signal.SIGINT):
        yield interrupt
    if interrupt.asked:
        raise KeyboardInterrupt


@contextmanager
def asked_first() -> Iterator[Interrupt]:
    """Turn the first Ctrl-C in a ``with`` block into a request to end; a second one interrupts.

    The block reads ``asked`` now and then, and ends early.
    """
    interrupt = Interrupt()

    def ask(number: int, frame: Any) -> None:
        if interrupt.asked:
            raise KeyboardInterrupt
        interrupt.asked = True

    with _handled(ask, signal.SIGINT):
        yield interrupt


@contextmanager
def endings_interrupt() -> Iterator[None]:
    """Treat the end of the terminal, and ``kill``, as Ctrl-C during a ``with`` block.

    A signal that was ignored before, as under ``nohup``, stays ignored.
    """
    numbers = [getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
    caught = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    with _handled(signal.default_int_handler, *caught):
        yield


PATIENCE = 0.05  # seconds between two looks at the clock, and at Ctrl-C


class OutOfTime(Exception):
    """The time limit was exceeded."""


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

    def within(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a library that lets other threads run meanwhile, but has no time limit.

        The call is made on a thread of its own. When the time is up, or after Ctrl-C, the thread is
        abandoned and ends by itself.

        Raises
        ------
        OutOfTime
        """
        if self.limit is None:
            return function(*arguments)

        def look() -> float:
            self.look()
            return max(min(PATIENCE, self.left), 0.0)

        return _elsewhere(lambda: function(*arguments), look)
