"""Whole numbers that are indices in kernels."""

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
