"""Limits of memory that a process was given (``ulimit -v``, ``ulimit -d``).

LLVM, with which Numba compiles, ends the process where it gets no memory, and says nothing. So
what is left is looked at before it is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from rollwise.errors import TooLittleMemory

# As was measured, and some more: address space that Numba takes as it is loaded, and the first
# compiling of rules and kernels.
TO_LOAD_NUMBA = 250_000_000
TO_COMPILE = 420_000_000


def limit(most_bytes: int) -> None:
    """Let this process take no more memory of its own than that; files that are mapped are none.

    More raises a MemoryError. On Windows, where there is no such limit, it does nothing.
    """
    try:
        import resource
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    if most != resource.RLIM_INFINITY:
        most_bytes = min(most_bytes, most)
    resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most))


@contextmanager
def kept() -> Iterator[None]:
    """Put the limit back after a ``with`` block, whatever `limit` made of it."""
    try:
        import resource
    except ImportError:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_DATA)
    try:
        yield
    finally:
        if resource.getrlimit(resource.RLIMIT_DATA) != before:
            resource.setrlimit(resource.RLIMIT_DATA, before)


def left() -> float:
    """Bytes that this process may still take under its limits; infinity where there are none.

    What it has taken is known where there is a ``/proc``; elsewhere nothing is said.
    """
    try:
        import resource
    except ImportError:  # on Windows, where there are no such limits
        return math.inf
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    if all(limit == resource.RLIM_INFINITY for limit in limits):
        return math.inf
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = file.read().split()
    except OSError:
        return math.inf
    taken = [int(pages[place]) * resource.getpagesize() for place in (0, 5)]
    pairs = zip(limits, taken, strict=True)
    return min(limit - used for limit, used in pairs if limit != resource.RLIM_INFINITY)


def require(needed: int, purpose: str) -> None:
    """Raise an error unless there is memory enough for a purpose.

    Raises
    ------
    TooLittleMemory
    """
    room = left()
    if room < needed:
        raise TooLittleMemory(
            f"{purpose} takes {needed / 1e6:.0f} MB of memory, and this process may take only "
            f"{max(room, 0) / 1e6:.0f} MB more; raise its limit (ulimit -v, ulimit -d, --memory)"
        )
