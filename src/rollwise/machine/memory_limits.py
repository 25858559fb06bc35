"""Memory: of the machine, the limits of this process (``ulimit -v``, ``ulimit -d``), and the heap.

LLVM, Numba's compiler, ends the process without a message if it gets no memory. The remaining
memory is therefore checked before use.

The heap of the C library returns freed memory to the system, and gets it back page by page: a sixth
of the time of solving a game of half a million states. It therefore keeps some. But it keeps it in
holes between arrays that stay: with a large layer they were a quarter of all memory.

Python searches for garbage in cycles. A command imports modules and reads code from disk: a few
hundred thousand objects that stay to the end. By default Python searches them again and again, and
once more at the end. This takes half as long as solving a game of half a million states.
Commands therefore postpone it.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from typing import Any

from rollwise.errors import TooLittleMemory
from rollwise.machine import switches

resource: Any
try:
    import resource
except ImportError:  # on Windows, which has no such limits
    resource = None

# As was measured, and some more: address space that Numba takes as it is loaded, and the first
# compiling of rules and kernels.
TO_LOAD_NUMBA = 250_000_000
TO_COMPILE = 420_000_000
# Memory of its own that Polars takes, and address space that its threads reserve.
POLARS_OWN, POLARS_SPACE = 150_000_000, 1_100_000_000

# Bytes: arrays mapped separately, of usual games and of large layers, and memory to keep.
MAP_FROM, MAP_LARGE_FROM, KEEP = 1 << 25, 1 << 20, 1 << 27
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of <malloc.h>

most_states: int | None = None  # of a game from which another one is made, see `states_at_most`


@contextmanager
def states_at_most(n: int | None) -> Iterator[None]:
    """Limit the states of games from which others are made, meanwhile."""
    global most_states
    most_states = n
    try:
        yield
    finally:
        most_states = None


def peak_memory() -> int:
    """The most memory of this process so far, in bytes."""
    size = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return size if sys.platform == "darwin" else 1024 * size


def memory_of_machine() -> int:
    """Bytes of memory of the machine, or 0 if unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


def keep_freed_memory() -> None:
    """Let the heap keep freed memory for the next arrays, as long as the process lasts."""
    if switches.is_on("freed-memory"):
        _set_heap(M_MMAP_THRESHOLD, MAP_FROM)
        _set_heap(M_TRIM_THRESHOLD, KEEP)


def map_large_arrays() -> None:
    """Map arrays from a megabyte on separately, to return their memory when freed.

    It lasts as long as the process.
    """
    _set_heap(M_MMAP_THRESHOLD, MAP_LARGE_FROM)


def _set_heap(option: int, number: int) -> None:
    """Set an option of the heap. Without glibc as the C library, nothing changes."""
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "gnu_get_libc_version"):
        library.mallopt(option, number)


def limit(most_bytes: int) -> None:
    """Limit the memory of this process; mapped files don't count.

    Larger requests raise a MemoryError. On Windows, which has no such limit, it does nothing.
    """
    if resource is None:
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    if most != resource.RLIM_INFINITY:
        most_bytes = min(most_bytes, most)
    resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most))


@contextmanager
def kept() -> Iterator[None]:
    """Put the limit back after a ``with`` block, whatever `limit` made of it."""
    if resource is None:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_DATA)
    try:
        yield
    finally:
        if resource.getrlimit(resource.RLIMIT_DATA) != before:
            resource.setrlimit(resource.RLIMIT_DATA, before)


def left() -> float:
    """Bytes that this process may still take under its limits; infinity without limits.

    The memory in use is known only with a ``/proc``; elsewhere the result is infinity.
    """
    return min(_rooms())


def _rooms() -> tuple[float, float]:
    """Bytes left of the address space, and of the memory of its own."""
    if resource is None:
        return math.inf, math.inf
    space, own = (
        resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    )
    if space == own == resource.RLIM_INFINITY:
        return math.inf, math.inf
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = file.read().split()
    except OSError:
        return math.inf, math.inf
    taken = [int(pages[place]) * resource.getpagesize() for place in (0, 5)]
    return (
        math.inf if space == resource.RLIM_INFINITY else space - taken[0],
        math.inf if own == resource.RLIM_INFINITY else own - taken[1],
    )


def require(needed: int, purpose: str, space: int = 0) -> None:
    """Raise an error unless there is memory enough for a purpose.

    Parameters
    ----------
    needed : int
        Bytes.
    space : int, optional
        Bytes of address space, where more of it are reserved.

    Raises
    ------
    TooLittleMemory
    """
    for room, wanted in zip(_rooms(), (max(needed, space), needed), strict=True):
        if room < wanted:
            raise TooLittleMemory(
                f"{purpose} takes {wanted / 1e6:.0f} MB of memory, and this process may take only "
                f"{max(room, 0) / 1e6:.0f} MB more; raise its limit (ulimit -v, ulimit -d, "
                "--memory; of a server --game-memory)"
            )


class _PolarsWatch(MetaPathFinder):
    """Checks for room before Polars is loaded: its threads end the process without memory."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        if name == "polars":
            require(POLARS_OWN, "loading Polars", POLARS_SPACE)


@contextmanager
def watched_polars() -> Iterator[None]:
    """Refuse to load Polars with too little memory, in a ``with`` block.

    Raises
    ------
    TooLittleMemory
        By ``import polars``.
    """
    watch = _PolarsWatch()
    sys.meta_path.insert(0, watch)
    try:
        yield
    finally:
        sys.meta_path.remove(watch)


NEW_OBJECTS = 300_000  # between two searches, instead of 700: some tens of megabytes


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Collect garbage rarely during a ``with`` block, and not at all at the end of Python.

    Only for programs of our own: memory management of other programs that use
    rollwise as a library is their decision.
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
