"""Unknown whole numbers: the rules of a game are run once for all larger numbers of a field.

An `Unknown` is a polynomial in unknown whole numbers from 0, with exact coefficients. A comparison
is answered if the answer is the same for all of them. Otherwise it raises `Undecided`, and its
caller tells the cases apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

Powers = tuple[int, ...]  # the unknowns of a product, ascending; empty for the constant
NUMBERS = (int, Fraction)


class Undecided(Exception):
    """An answer depends on an unknown: on its size, or on its remainder by `period`."""

    def __init__(self, unknown: int, period: int = 1) -> None:
        super().__init__(unknown, period)
        self.unknown, self.period = unknown, period


class Unfollowed(Exception):
    """Rules do more with an unknown number than to add, multiply and compare it."""


class Unknown:
    """A polynomial in unknown whole numbers from 0.

    Attributes
    ----------
    parts : mapping of tuple of int to Fraction
        The coefficient of each product of unknowns, without zeros.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: Mapping[Powers, Fraction | int]) -> None:
        self.parts = {powers: part for powers, part in parts.items() if part}

    @classmethod
    def named(cls, number: int) -> Unknown:
        """The unknown of this number."""
        return cls({(number,): 1})

    @property
    def least(self) -> Fraction | int | None:
        """The least possible number, if it is the one where all unknowns are 0; else None."""
        grows = all(part > 0 for powers, part in self.parts.items() if powers)
        return self.parts.get((), 0) if grows else None

    def __add__(self, other: Any) -> Any:
        terms = _parts(other)
        if terms is None:
            return NotImplemented
        added: dict[Powers, Fraction | int] = dict(self.parts)
        for powers, part in terms.items():
            added[powers] = added.get(powers, 0) + part
        return _plain(added)

    def __mul__(self, other: Any) -> Any:
        terms = _parts(other)
        if terms is None:
            return NotImplemented
        product: dict[Powers, Fraction | int] = {}
        for a, x in self.parts.items():
            for b, y in terms.items():
                powers = tuple(sorted(a + b))
                product[powers] = product.get(powers, 0) + x * y
        return _plain(product)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Any:
        return self

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __pow__(self, times: int) -> Any:
        power: Any = 1
        for _ in range(times):
            power = self * power
        return power

    def __mod__(self, by: Any) -> int:
        if (
            not isinstance(by, int)
            or by <= 0
            or any(x.denominator > 1 for x in self.parts.values())
        ):
            raise Unfollowed("a remainder")
        for powers, part in self.parts.items():
            if powers and part % by:
                raise Undecided(powers[0], by)
        return int(self.parts.get((), 0)) % by

    def __floordiv__(self, by: Any) -> Any:
        return (self - self % by) * Fraction(1, by)

    def __divmod__(self, by: Any) -> tuple[Any, int]:
        return self // by, self % by

    def __lt__(self, other: Any) -> bool:
        return is_positive(other - self)

    def __gt__(self, other: Any) -> bool:
        return is_positive(self - other)

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        if _parts(other) is None:
            return False
        return not (self > other or self < other)

    def __bool__(self) -> bool:
        return self != 0

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __hash__(self) -> int:
        return hash(frozenset(self.parts.items()))

    def __repr__(self) -> str:
        names = ("*".join([str(part)] + ["n"] * len(powers)) for powers, part in self.parts.items())
        return " + ".join(names)

    def _unfollowed(self, *_: Any) -> Any:
        raise Unfollowed("a division, a range or an index")

    __truediv__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _unfollowed
    __index__ = __int__ = __float__ = __and__ = __or__ = __rshift__ = __lshift__ = _unfollowed
    __rand__ = __ror__ = __rrshift__ = __rlshift__ = __xor__ = __rxor__ = _unfollowed


class UnknownPayoff:
    """The `then` of an outcome that ends the game with an unknown payoff."""

    def __init__(self, points: Unknown) -> None:
        self.points = points


def is_positive(number: Any) -> bool:
    """Whether a number, or each possible number of an unknown, is positive.

    Raises
    ------
    Undecided
        Some are, and others may not be.
    """
    if not isinstance(number, Unknown):
        return bool(number > 0)
    constant = number.parts.get((), 0)
    rises = {powers[0] for powers, part in number.parts.items() if powers and part > 0}
    falls = {powers[0] for powers, part in number.parts.items() if powers and part < 0}
    if constant > 0 and not falls:
        return True
    if constant <= 0 and not rises:
        return False
    raise Undecided(min(falls if constant > 0 else rises))


def replace_unknown(number: Any, unknown: int, by: Any) -> Any:
    """The number with something else in the place of an unknown."""
    if not isinstance(number, Unknown):
        return number
    total: Any = 0
    for powers, part in number.parts.items():
        others = tuple(p for p in powers if p != unknown)
        total += Unknown({others: part}) * by ** (len(powers) - len(others))
    return total


def _parts(number: Any) -> Mapping[Powers, Fraction | int] | None:
    if isinstance(number, Unknown):
        return number.parts
    if isinstance(number, float):
        raise Unfollowed("a product or a sum with a float; write a Fraction, as in Fraction(1, 2)")
    return {(): number} if isinstance(number, NUMBERS) else None


def _plain(parts: Mapping[Powers, Fraction | int]) -> Any:
    """A polynomial, or a plain number where it is constant."""
    made = Unknown(parts)
    if any(made.parts):
        return made
    constant = made.parts.get((), 0)
    return int(constant) if constant == int(constant) else constant
