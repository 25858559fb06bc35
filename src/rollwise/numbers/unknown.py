"""Unknown whole numbers: the rules of a game are run once for all larger numbers of a field.

An `Unknown` is a polynomial in unknown whole numbers from 0, with exact coefficients. A comparison
is answered if the answer is the same for all of them. Otherwise it raises `Undecided`, and its
caller tells the cases apart.

A question with another answer for an `Unknown` than for a whole number would make a proof wrong. As
a key of a dictionary, a member of a set, a text or an argument of ``isinstance`` an `Unknown`
therefore raises `Unfollowed`. No object notices ``type(x)``: `question_of_type` finds it in the
rules. `Doubt.raised` counts the exceptions, to notice rules that catch them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from fractions import Fraction
from numbers import Number
from types import FrameType
from typing import Any, ClassVar

import numpy as np

from rollwise.numbers.shares import UnknownNumber
from rollwise.reach import built_in_read, functions_reached

Powers = tuple[int, ...]  # the unknowns of a product, ascending; empty for the constant
NUMBERS = (int, Fraction)
# Rules of the gallery, and helpers of rules, ask as users' rules do.
SHEETS = ("rollwise.games.", "rollwise.dice", "rollwise.bits")


class Doubt(Exception):
    """A question about an unknown number has no answer.

    Attributes
    ----------
    raised : int
        The number of these exceptions so far.
    """

    raised: ClassVar[int] = 0

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        Doubt.raised += 1


class Undecided(Doubt):
    """An answer depends on an unknown: on its size, or on its remainder by `period`."""

    def __init__(self, unknown: int, period: int = 1) -> None:
        super().__init__(unknown, period)
        self.unknown, self.period = unknown, period


class Unfollowed(Doubt):
    """Rules do more with an unknown number than to add, multiply and compare it."""


class Unknown(UnknownNumber):
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
        # each product of two terms has the unknowns of both
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
        if not isinstance(times, int) or times < 0:
            raise Unfollowed("a power with another exponent than a whole number from 0")
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
        # a term that isn't a multiple of `by` gives different remainders
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
            if isinstance(other, Number | np.ndarray):
                raise Unfollowed("a comparison with other numbers than whole ones")
            return False
        return not (self > other or self < other)

    def __bool__(self) -> bool:
        return self != 0

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __hash__(self) -> int:
        raise Unfollowed("a dictionary, a set or a cache")

    def _as_text(self, *_: Any) -> str:
        raise Unfollowed("a text")

    __repr__ = __str__ = __format__ = _as_text

    __array_ufunc__ = None  # NumPy leaves sums and comparisons to this class

    @property  # type: ignore[misc]  # read only
    def __class__(self) -> type:
        """The class, which ``isinstance`` and patterns read: for this package and fractions."""
        asker: FrameType | None = sys._getframe(1)
        # `isinstance` of an abstract class asks from within the module `abc`
        while asker is not None and asker.f_globals.get("__name__") == "abc":
            asker = asker.f_back
        name = asker.f_globals.get("__name__", "") if asker is not None else ""
        if name == "fractions" or (name.startswith("rollwise.") and not name.startswith(SHEETS)):
            return Unknown
        raise Unfollowed("a question of its type")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python asks for these itself
            raise AttributeError(name)
        raise Unfollowed(f"its {name}")

    def _unfollowed(self, *_: Any) -> Any:
        raise Unfollowed("a division, a range or an index")

    def __float__(self) -> float:
        raise Unfollowed("float(), which whole numbers and fractions do not need")

    def __int__(self) -> int:
        raise Unfollowed("int(), which whole numbers do not need")

    __truediv__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _unfollowed
    __index__ = __and__ = __or__ = __rshift__ = __lshift__ = _unfollowed
    __rand__ = __ror__ = __rrshift__ = __rlshift__ = __xor__ = __rxor__ = _unfollowed


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
    # without falls the constant is the least value, and without rises the largest one
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
    if isinstance(number, float | np.floating):
        raise Unfollowed("a product or a sum with a float; write a Fraction, as in Fraction(1, 2)")
    if isinstance(number, np.integer | np.bool_):
        return {(): int(number)}
    return {(): number} if isinstance(number, NUMBERS) else None


def _plain(parts: Mapping[Powers, Fraction | int]) -> Any:
    """A polynomial, or a plain number where it is constant."""
    made = Unknown(parts)
    if any(made.parts):
        return made
    constant = made.parts.get((), 0)
    return int(constant) if constant == int(constant) else constant


def question_of_type(kind: type) -> str:
    """``type`` or ``id`` if the rules of a class name one of them; else empty.

    All functions of the class are read, with the functions, classes and modules that they name.
    """
    for function in functions_reached([kind], kind):
        for name in built_in_read(function) & {"type", "id"}:
            return name
    return ""
