"""Sets of small numbers as one whole number, for the rules of games with boards.

The number k is in a set if bit k is 1. A board of 60 squares is one field of a state. The
helpers work in interpreted and in compiled rules alike::

    if bits.has(s.open, tile):
        yield 1, AGAIN, Box(bits.without(s.open, tile))

Members go from 0 to 61. A field of a state has room for members up to 30.
"""

from __future__ import annotations

from collections.abc import Iterator

from rollwise.then import rule

MOST = 61


@rule
def _require(k: int) -> None:
    if k < 0 or k > MOST:
        raise ValueError("a set of bits has members from 0 to 61")


@rule
def has(members: int, k: int) -> bool:
    """Whether `k` is in a set."""
    _require(k)
    return (members >> k) & 1 == 1


@rule
def with_member(members: int, k: int) -> int:
    """The set with `k` in it."""
    _require(k)
    return members | (1 << k)


@rule
def without(members: int, k: int) -> int:
    """The set without `k`."""
    _require(k)
    return members & ~(1 << k)


@rule
def size(members: int) -> int:
    """Number of members of a set."""
    if members < 0:
        raise ValueError("a set of bits is a whole number from 0")
    count = 0
    while members:
        members &= members - 1
        count += 1
    return count


@rule
def upto(n: int) -> int:
    """The set of the numbers from 0 to below `n`."""
    if n < 0 or n > MOST + 1:
        raise ValueError("a set of bits has members from 0 to 61")
    return (1 << n) - 1


@rule
def members(found: int) -> Iterator[int]:
    """Yield the members of a set, the smallest first."""
    if found < 0:
        raise ValueError("a set of bits is a whole number from 0")
    k = 0
    while found:
        if found & 1:
            yield k
        found >>= 1
        k += 1
