"""How states and throws, which rules see as tuples, lie in arrays of whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.faults import whole

LEAST, MOST = -(2**31), 2**31 - 1
MOST_NUMBERS = 16  # of a throw


@dataclass(frozen=True)
class StateLayout:
    """The columns of a state: one for each whole number in it.

    Attributes
    ----------
    kind : type
        The NamedTuple.
    sizes : tuple
        Of each field: None for a whole number, or the length of a tuple of them.
    """

    kind: type
    sizes: tuple[int | None, ...]

    @classmethod
    def of(cls, state: Any) -> StateLayout:
        """That of a state; what its fields hold is looked at elsewhere."""
        sizes = tuple(len(field) if type(field) is tuple else None for field in state)
        return cls(type(state), sizes)

    @cached_property
    def is_flat(self) -> bool:
        """Whether each field is a whole number."""
        return all(size is None for size in self.sizes)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: ``rival``, or ``board.0`` and ``board.1``."""
        names: tuple[str, ...] = self.kind._fields  # type: ignore[attr-defined]
        return tuple(
            column
            for name, size in zip(names, self.sizes, strict=True)
            for column in ([name] if size is None else [f"{name}.{k}" for k in range(size)])
        )

    @cached_property
    def state(self) -> Callable[[Sequence[int]], Any]:
        """Makes a state of its numbers."""
        kind: Any = self.kind
        if self.is_flat:
            return kind._make  # type: ignore[no-any-return]
        ends = np.cumsum([1 if size is None else size for size in self.sizes]).tolist()
        takes: list[Any] = [
            itemgetter(end - 1) if size is None else itemgetter(slice(end - size, end))
            for size, end in zip(self.sizes, ends, strict=True)
        ]
        return lambda numbers: kind._make(take(tuple(numbers)) for take in takes)

    def numbers(self, state: Any) -> Sequence[Any]:
        """The numbers of a state, in the order of the columns."""
        if self.is_flat:
            return state  # type: ignore[no-any-return]
        found: list[Any] = []
        for field, size in zip(state, self.sizes, strict=True):
            found += [field] if size is None else field
        return found

    def source(self, number: str) -> str:
        """The arguments of a state, as Python source; ``{}`` in `number` is the column."""
        place, items = 0, []
        for size in self.sizes:
            texts = [number.format(place + k) for k in range(1 if size is None else size)]
            items.append(texts[0] if size is None else f"({', '.join(texts)},)" if size else "()")
            place += len(texts)
        return ", ".join(items)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """How each column is read from a state, as Python source: ``.rival``, ``.board[1]``."""
        names: tuple[str, ...] = self.kind._fields  # type: ignore[attr-defined]
        return tuple(
            path
            for name, size in zip(names, self.sizes, strict=True)
            for path in ([f".{name}"] if size is None else [f".{name}[{k}]" for k in range(size)])
        )


@dataclass(frozen=True)
class ThrowLayout:
    """A throw as one whole number of 64 bits, its code, in which its numbers lie side by side.

    Attributes
    ----------
    size : int or None
        The length of the tuple; None for a throw that is a whole number.
    """

    size: int | None

    @property
    def width(self) -> int:
        """How many numbers a throw has."""
        return 1 if self.size is None else self.size

    @property
    def bits(self) -> int:
        """What each of them may take."""
        return min(32, 64 // self.width)

    @property
    def columns(self) -> tuple[str, ...]:
        """``throw``, or ``throw.0`` and so on."""
        return ("throw",) if self.size is None else tuple(f"throw.{k}" for k in range(self.size))

    def numbers(self, throw: Any) -> tuple[int, ...]:
        """The numbers of a throw.

        Raises
        ------
        TypeError, ValueError
            It isn't like the first one, or a number doesn't fit.
        """
        parts = (throw,) if self.size is None else tuple(throw)
        found = tuple(whole(part) for part in parts)
        most = 1 << (self.bits - 1)
        if len(found) != self.width or not all(-most <= number < most for number in found):
            raise ValueError
        return found

    def code(self, throw: Any) -> int:
        """The code of a throw (see `numbers`)."""
        code, mask = 0, (1 << self.bits) - 1
        for k, number in enumerate(self.numbers(throw)):
            code |= (number & mask) << (k * self.bits)
        return code - (1 << 64) if code >> 63 else code

    def rows(self, codes: NDArray[np.int64]) -> NDArray[np.int32]:
        """The numbers of throws: (n, width) int32."""
        left = 64 - self.bits
        shifts = left - np.arange(self.width) * self.bits
        return ((codes[:, None] << shifts) >> left).astype(np.int32)

    def throw(self, numbers: Sequence[int]) -> Any:
        """The throw of its numbers, as rules see it."""
        return numbers[0] if self.size is None else tuple(numbers)

    def source(self, code: str) -> str:
        """The throw of a code, as Python source."""
        left = 64 - self.bits
        numbers = [f"(({code} << {left - k * self.bits}) >> {left})" for k in range(self.width)]
        return numbers[0] if self.size is None else f"({', '.join(numbers)},)"
