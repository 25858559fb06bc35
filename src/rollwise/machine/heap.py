"""The heap of the C library, where it can be told what to keep.

It keeps what is freed in holes between what isn't. Where arrays of some megabytes come and go
between others that stay, these holes were a quarter of what a large layer took.
"""

from __future__ import annotations

import ctypes
import sys

MAP_FROM = 1 << 20  # bytes
M_MMAP_THRESHOLD = -3  # of <malloc.h>


def map_large_arrays() -> None:
    """Have arrays from a megabyte on mapped by themselves, so that they are gone when freed.

    It lasts as long as the process. Where the C library isn't glibc, nothing changes.
    """
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "gnu_get_libc_version"):
        library.mallopt(M_MMAP_THRESHOLD, MAP_FROM)
