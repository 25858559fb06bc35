"""Arrays that come in large pages of memory.

The first touch of a page takes the system some microseconds, so that an array of a few
megabytes in pages of 4 KB takes milliseconds before any work is done. NumPy asks for
large pages from 4 MB on, and gets them where they are aligned: not at the ends. Most
arrays of rollwise are hardly larger than these ends.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

LARGE_PAGE = 1 << 21  # bytes
WORTHWHILE = 1 << 19  # bytes; below, small pages do


def empty(shape: int | tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """An array to be filled, as by ``numpy.empty``.

    It lies within a larger block, whose rest is never touched and so takes no memory.
    """
    shape = (shape,) if isinstance(shape, int) else shape
    dtype = np.dtype(dtype)
    size = prod(shape) * dtype.itemsize
    if size < WORTHWHILE:
        return np.empty(shape, dtype)
    block = np.empty(size + 2 * LARGE_PAGE, np.uint8)
    begin = -block.ctypes.data % LARGE_PAGE
    return np.ndarray(shape, dtype, block, begin)


def zeros(shape: int | tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """The same, filled with zeros."""
    array = empty(shape, dtype)
    array.fill(0)
    return array
