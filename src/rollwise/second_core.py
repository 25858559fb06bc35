"""Work for a second core: kernels let go of the interpreter's lock while they run."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager


@contextmanager
def second_core() -> Iterator[ThreadPoolExecutor]:
    """A thread that works off what is submitted, in order; an exception here drops what waits."""
    thread = ThreadPoolExecutor(1)
    try:
        yield thread
    except BaseException:
        thread.shutdown(cancel_futures=True)
        raise
    thread.shutdown()
