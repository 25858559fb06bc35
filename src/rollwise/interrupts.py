"""Ctrl-C that waits until what is being changed is whole again."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupt:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.asked = False


@contextmanager
def held_back() -> Iterator[Interrupt]:
    """Hold Ctrl-C back for the time of a ``with`` block; raise KeyboardInterrupt after it.

    The block looks at ``asked`` now and then and ends early. Outside the main
    thread, which alone gets signals, nothing changes.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return

    def note(number: int, frame: Any) -> None:
        interrupt.asked = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupt.asked:
        raise KeyboardInterrupt
