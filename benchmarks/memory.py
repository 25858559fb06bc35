"""How much memory a process took, how much it may take, and how fast memory is."""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path


def peak_bytes() -> int:
    """The largest resident set of this process.

    From /proc where there is one: elsewhere a process begins with its parent's peak.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def physical_memory() -> int:
    """Bytes of memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def limit_memory(most: int) -> None:
    """Let this process have no more than so many bytes of addresses."""
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def bandwidth(runs: int = 7, size: int = 2**24) -> float:
    """Bytes a second that one core moves: ``a = b + s * c`` in NumPy (the triad of STREAM).

    NumPy does it in two steps, which read three arrays and write two; those written are
    counted once, as STREAM does. The best of several runs: other work only takes away.
    """
    import numpy as np

    a, b, c = np.zeros(size), np.ones(size), np.ones(size)
    best = float("inf")
    for _ in range(runs):
        started = time.perf_counter()
        np.multiply(c, 3.0, out=a)
        np.add(a, b, out=a)
        best = min(best, time.perf_counter() - started)
    return 5 * 8 * size / best
