"""Standard output by its descriptor, to which compiled libraries print past Python's streams."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Iterator

OUTPUT, ERROR = 1, 2
_muting = threading.Lock()


@contextlib.contextmanager
def pointed(descriptor: int, target: int) -> Iterator[int]:
    """Let a descriptor lead to the target of another one for the time of a ``with`` block.

    Child processes inherit it so. A block may stand within another.

    Yields
    ------
    int
        A descriptor of the earlier target, open until the block ends.

    Raises
    ------
    OSError
        One of the two is closed.
    """
    before = os.dup(descriptor)
    try:
        _flush()
        os.dup2(target, descriptor)
        try:
            yield before
        finally:
            _flush()
            os.dup2(before, descriptor)
    finally:
        os.close(before)


@contextlib.contextmanager
def muted() -> Iterator[None]:
    """Drop all that is printed on standard output in a ``with`` block, which should be short."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # of a process whose standard output is closed
            stack.enter_context(_muting)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            stack.callback(os.close, nowhere)
            stack.enter_context(pointed(OUTPUT, nowhere))
        yield


def _flush() -> None:
    """Have the streams of C written, which keep text back when they lead to a file or a pipe."""
    with contextlib.suppress(OSError, TypeError, AttributeError):  # on Windows
        ctypes.CDLL(None).fflush(None)
