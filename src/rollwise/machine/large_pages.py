"""Large arrays whose memory is ready: in large pages, and used again.

The first touch of a page takes the system some microseconds, and far longer on machines that
give unused memory away. Touching fresh memory can take longer than solving a game in it. NumPy
asks for large pages from 4 MB on, but gets them only for the aligned part of an array. Most
arrays of rollwise are hardly larger than their unaligned ends. So arrays are cut from aligned
blocks. A block that is no longer used is kept for the next array, stage or game.
"""

from __future__ import annotations

import os
import weakref
from math import prod
from typing import Any

import numpy as np

from rollwise.machine import switches

LARGE_PAGE = 1 << 21  # bytes
WORTHWHILE = 1 << 19  # bytes; below, small pages do
IN_USE = switches.is_on("large-pages")

# For tests: whatever is asked for empty is full of what can't be taken for an answer.
FILL_FRESH = bool(os.environ.get("ROLLWISE_FILL_FRESH"))


def memory_of_machine() -> int:
    """Bytes of memory that the machine has, or 0 where it doesn't say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


MOST_WAITING = max(1 << 28, memory_of_machine() // 16)  # bytes of blocks that wait, at most

# Blocks that nobody uses, by their identity; the last used last. Any thread may come here at
# any time, since an array may end anywhere: so each step is one that can't be interrupted.
_waiting: dict[int, np.ndarray] = {}


def empty(shape: int | tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """An array to be filled, as by ``numpy.empty``.

    It lies within a larger block, whose rest takes no memory until it is touched.
    """
    if FILL_FRESH:
        return fill_fresh(_empty(shape, dtype))
    return _empty(shape, dtype)


def fill_fresh(array: np.ndarray) -> np.ndarray:
    """Fill an array with NaN, or -1 (all bits set), as if its memory had been used before."""
    array.fill(np.nan if array.dtype.kind == "f" else True if array.dtype.kind == "b" else 0)
    if array.dtype.kind in "iu":
        np.invert(array, out=array)
    return array


def _empty(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    shape = (shape,) if isinstance(shape, int) else shape
    dtype = np.dtype(dtype)
    size = prod(shape) * dtype.itemsize
    if size < WORTHWHILE or not IN_USE:
        return np.empty(shape, dtype)
    block = _block(size)
    # Views of this array keep it alive, so that the block is free when it is gone. (Of an
    # array made from the block itself they would keep the block alive, and not the array.)
    begin = -block.ctypes.data % LARGE_PAGE
    array = np.frombuffer(block.data, dtype, prod(shape), begin)
    weakref.finalize(array, _give_back, block).atexit = False
    return array.reshape(shape)


def zeros(shape: int | tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """The same, filled with zeros."""
    return full(shape, 0, dtype)


def full(shape: int | tuple[int, ...], value: float, dtype: Any = np.float64) -> np.ndarray:
    """The same, filled with a value."""
    array = _empty(shape, dtype)
    array.fill(value)
    return array


def waiting_bytes() -> int:
    """How much memory waits to be used again."""
    return sum(block.nbytes for block in list(_waiting.values()))


def release() -> None:
    """Give back all memory that waits."""
    _waiting.clear()


def _block(size: int) -> np.ndarray:
    """A block with room for an aligned array: one that waits, unless it is far too large."""
    needed = size + 2 * LARGE_PAGE
    fitting = [
        (block.nbytes, key)
        for key, block in list(_waiting.items())
        if needed <= block.nbytes <= 2 * needed
    ]
    if fitting:
        found = _waiting.pop(min(fitting)[1], None)
        if found is not None and needed <= found.nbytes:  # nobody else was faster
            return found
    try:
        return np.empty(needed, np.uint8)
    except MemoryError:
        release()
        return np.empty(needed, np.uint8)


def _give_back(block: np.ndarray) -> None:
    _waiting[id(block)] = block
    while waiting_bytes() > MOST_WAITING:
        _waiting.pop(next(iter(list(_waiting)), 0), None)
