"""Asking the processor for memory before it is needed.

Loops with random access prefetch: they ask for a cache line some rounds before they read it.
"""

from __future__ import annotations

from typing import Any


def prefetch(array: Any, index: Any) -> None:
    """Ask for the line of memory that holds ``array[index]``; nothing else happens.

    The index has to lie in the array, which has one dimension. Interpreted code has no use for
    it; what it is in compiled code says `rollwise.kernels.compiling`.
    """
