"""Mixing the bits of keys, so that any keys spread evenly over a hash table."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import inner_kernel


@inner_kernel
def mixed(key):
    """A key in which every bit depends on every bit of another: the end of MurmurHash3.

    Doubles that are whole numbers differ in their upper bits only, and by little from one to the
    next. Without this they would stand in one row of a table.
    """
    key ^= key >> np.uint64(33)
    key *= np.uint64(0xFF51AFD7ED558CCD)
    key ^= key >> np.uint64(33)
    key *= np.uint64(0xC4CEB9FE1A85EC53)
    return key ^ (key >> np.uint64(33))
