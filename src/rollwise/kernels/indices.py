"""Words of kernels with another meaning in compiled code: indices, and prefetching."""

from __future__ import annotations

from typing import Any


class Index(int):
    """An index in a kernel, an unsigned number in compiled code.

    Python counts negative indices from the end, so compiled code tests every signed index for a
    negative value.
    """

    __slots__ = ()


index: Any = Index
ONE = index(1)


def prefetch(array: Any, index: Any) -> None:
    """Prefetch the line of memory with ``array[index]``, without any other effect.

    The index has to lie in the array; of several dimensions, it is one of the first. Interpreted
    code ignores it; `rollwise.kernels.compiling` defines it for compiled code.
    """
