"""Python's search for garbage in cycles, put off while a command runs.

A command imports modules and reads code from disk: a few hundred thousand objects that stay to
the end. By default Python searches them again and again for cycles to free, and once more at the
end. That takes half as long as solving a game of half a million states.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

from rollwise.machine import switches

NEW_OBJECTS = 300_000  # between two searches, instead of 700: some tens of megabytes


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Search seldom for the time of a ``with`` block, and not at all as Python ends.

    For programs of our own only: how a program that uses rollwise as a library looks
    after its memory is its own affair.
    """
    if not switches.is_on("garbage"):
        yield
        return
    before = gc.get_threshold()
    gc.set_threshold(NEW_OBJECTS, *before[1:])
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    try:
        yield
    finally:
        gc.set_threshold(*before)
