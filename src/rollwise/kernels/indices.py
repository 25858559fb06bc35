"""Words of kernels that Numba compiles otherwise: indices, and memory asked for ahead."""

from __future__ import annotations

from typing import Any


class Index(int):
    """A whole number that is an index in a kernel, in compiled code one without a sign.

    Python counts negative indices from the end, so compiled code asks of every signed one
    whether it is negative.
    """

    __slots__ = ()


index: Any = Index
ONE = index(1)


def prefetch(array: Any, index: Any) -> None:
    """Ask for the line of memory that holds ``array[index]``; nothing else happens.

    The index has to lie in the array, which has one dimension. Interpreted code has no use for
    it; what it is in compiled code says `rollwise.kernels.compiling`.
    """
