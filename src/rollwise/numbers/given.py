"""Numbers given as arguments."""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from decimal import Decimal
from numbers import Real

from rollwise.errors import UsageError, argument


def whole_number(name: str, given: object, low: int, high: int | None = None) -> int:
    """The number as an int, if it is a whole one from `low` to `high`; 1e6 is one too.

    Raises
    ------
    UsageError
    """
    kind = ""
    try:
        number = int(given) if isinstance(given, float) and given.is_integer() else given
        number = operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        kind, number = "a whole number ", low - 1
    if number < low or (high is not None and number > high):
        span = f"at least {low}" if high is None else f"from {low} to {high:,}"
        shown = given if isinstance(given, int | float) else repr(given)
        raise UsageError(f"{argument(name)} is {shown}; it must be {kind}{span}")
    return number


def positive_number(name: str, given: object) -> float:
    """The number as a float, if it is finite and more than 0.

    Raises
    ------
    UsageError
    """
    if not isinstance(given, Real | Decimal) or isinstance(given, bool):
        raise UsageError(f"{argument(name)} is {given!r}; it must be a positive number")
    if not given > 0:  # type: ignore[operator]
        raise UsageError(f"{argument(name)} is {given}; it must be positive")
    try:
        number = float(given)
    except OverflowError:
        raise UsageError(f"{argument(name)} is more than the largest float") from None
    if math.isinf(number):
        raise UsageError(f"{argument(name)} is {given}; it must be finite")
    return number


def finite_number(name: str, given: object) -> float:
    """The number as a float, if it is finite.

    Raises
    ------
    UsageError
    """
    number = math.nan
    if isinstance(given, Real | Decimal) and not isinstance(given, bool):
        with suppress(OverflowError):
            number = float(given)
    if not math.isfinite(number):
        raise UsageError(f"{argument(name)} is {given!r}; it must be a finite number")
    return number
