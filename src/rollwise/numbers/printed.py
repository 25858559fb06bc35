"""Numbers as true text: no digit beyond the error bound, and a bound that includes rounding.

``N ± B`` is printed for a computed number ``x`` with error bound ``b``. Rounding
moves it by ``|x - N|``, and ``B`` is ``b + |x - N|`` rounded up, in exact decimals: every number
within ``b`` of ``x`` is within ``B`` of ``N``. The last digit stands for at most ``b / 3.55`` (the
rounding of the Review of Particle Physics, section 5.3 of its introduction), which increases ``B``
by 14 % at most.

Probabilities are percentages of six digits at most: ``53.0593 %``. A bound below these digits is
that of the number before its rounding, and is marked so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, localcontext
from typing import Any, NamedTuple

MINUS = re.compile(r"(?<![\w.,)=−-])-(?=[\d.])")
UNITS = {"": 1e9, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
MOST_DIGITS = 17  # enough to distinguish every double from its neighbours
PERCENT_DIGITS = 6  # of the largest percentage of a column
POINTS = "percentage points"  # of differences of percentages
ZERO_DIGITS = 15  # behind the point, of zeros; a bound below them is printed as one of the last
LONGEST = 24  # places before or behind the point; beyond them powers of ten are written
LARGEST_AMOUNT = 1e13  # written without a power of ten, with two digits behind the point
CHANCE_ROUNDING = 2.0**-51  # of a probability computed from doubles by four operations
EXACT = Context(prec=4000, Emax=10**6, Emin=-(10**6), rounding=ROUND_HALF_EVEN)

Number = float | Decimal
Known = Number | None  # None, as in documents, is infinite: nothing is proved
Bounds = Known | Iterable[Known]  # of each number, or one for all of them


def in_bytes(size: float) -> str:
    """A size in the largest unit with at least one of it, as in ``"38.3 MB"``."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6)):
        if size >= scale:
            return f"{size / scale:,.1f} {unit}"
    return f"{size / 1e3:,.1f} kB"


def bytes_of(text: str) -> int | None:
    """The bytes of ``8GB``, ``500 MB`` or ``2.5`` (GB); None for text that is no size."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in UNITS:
        return None
    return int(float(match[1]) * UNITS[match[2]])


class Printed(NamedTuple):
    """A number and its bound, or its standard error, as text.

    Attributes
    ----------
    is_rounded : bool
        Whether the number was rounded to less than its bound earns. The bound excludes that.
    """

    number: str
    bound: str
    is_rounded: bool = False

    def __str__(self) -> str:
        return f"{self.number} ± {self.error}"

    @property
    def error(self) -> str:
        """The words behind ±."""
        return f"{self.bound} before rounding" if self.is_rounded else self.bound

    @property
    def sure(self) -> str:
        """The proof in words: ``certified ± 6.8e-12 % before rounding``, or its lack."""
        if self.bound.startswith("inf"):
            return "not certified: no error bound was proved"
        return f"certified ± {self.error}"


def sure_text(bound: float, shown: Printed) -> str:
    """The proof of the results of several players, of which `shown` has the largest bound."""
    return shown.sure if math.isfinite(bound) else "not certified: no bound was proved"


def gain_text(gain: float, how: str = "") -> str:
    """The bound on the gain, in words: ``no player gains more than 2e-15 by another policy``."""
    if not math.isfinite(gain):
        return f"the gain of a player{how} is unknown: no bound was proved"
    return f"no player gains more than {rounded_up(gain)}{how}"


def how_many(n: int, one: str, many: str = "") -> str:
    """So many things: ``"1 state"`` and ``"6,897 states"``, ``"1 die"`` and ``"2 dice"``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def amount(number: float) -> str:
    """Points or a payoff of the rules: six digits, or more up to two behind the point."""
    whole = len(str(int(abs(number)))) if abs(number) < LARGEST_AMOUNT else 0
    return f"{number:.{max(6, whole + 2)}g}"


def digits_of(stake: float, usual: int) -> int:
    """The digits behind the point of payoffs and their differences: three of a small stake."""
    return max(usual, 2 - math.floor(math.log10(stake))) if stake > 0 else usual


def with_minus(text: str) -> str:
    """A text for a page or a picture: its negative numbers have the mathematical sign.

    What may be typed keeps its hyphens: names (hold-at-20), powers (e-13), settings (low=-3).
    """
    return MINUS.sub("−", text)


def in_runs(numbers: Iterable[int]) -> str:
    """Whole numbers in their order, with runs of three or more in short: ``"0, 6..20"``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    short = [f"{run[0]}..{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return ", ".join(short)


def certified(value: Known, bound: Known) -> Printed:
    """A number with its proven error bound.

    Parameters
    ----------
    value, bound : float or Decimal
        If computed from doubles, as Decimals without rounding (see `scaled`).
    """
    return column([value], [bound])[0]


def _exactly(values: Iterable[Known], bounds: Bounds) -> tuple[list[Decimal], list[Decimal]]:
    """The numbers and bounds of a column, with no rounding."""
    exact = [Decimal("Infinity") if value is None else Decimal(value) for value in values]
    if bounds is None or isinstance(bounds, float | int | Decimal):
        bounds = [bounds] * len(exact)
    return exact, [Decimal("Infinity") if bound is None else Decimal(bound) for bound in bounds]


def column(values: Iterable[Known], bounds: Bounds, *, sign: bool = False) -> list[Printed]:
    """Certified numbers for a column, all ending at the same digit.

    Parameters
    ----------
    sign : bool
        Whether positive numbers get a sign too.
    """
    with localcontext(EXACT):
        exact, off = _exactly(values, bounds)
        finite = [bound for bound in off if bound.is_finite()]
        last_digit = _place(max(finite, default=Decimal("Infinity")))
        if last_digit is not None and not any(exact):  # zeros need no more digits than doubles
            last_digit = max(last_digit, -ZERO_DIGITS)
        return [_printed(x, b, last_digit, sign) for x, b in zip(exact, off, strict=True)]


def in_common(rows: Sequence[Printed]) -> tuple[list[str], Printed]:
    """The numbers of a column, and the row whose bound is valid for all of them."""
    worst = max(rows, key=lambda row: Decimal(row.bound.split()[0]))
    return [row.number for row in rows], worst


def percents(
    shares: Iterable[Known], bounds: Bounds, *, sign: bool = False, unit: str = "%"
) -> list[Printed]:
    """Certified probabilities as percentages for a column, all ending at the same digit.

    A number that would be rounded to zero, but is larger than its bound, has two digits of its own.
    """
    with localcontext(EXACT):
        exact, off = ([100 * number for number in all_] for all_ in _exactly(shares, bounds))
        earned = _place(max((b for b in off if b.is_finite()), default=Decimal("Infinity")))
        last_digit = max((x.adjusted() for x in exact if x.is_finite() and x), default=0)
        last_digit -= PERCENT_DIGITS - 1
        # the bounds decide the last digit if they are coarser than six digits
        if earned is not None and earned >= last_digit:
            rows = [_printed(x, b, earned, sign) for x, b in zip(exact, off, strict=True)]
        else:
            rows = [_rounded(x, b, last_digit, sign) for x, b in zip(exact, off, strict=True)]
            if not any(row.is_rounded for row in rows):  # as exact as 50 %
                rows = [_printed(x, b, None, sign) for x, b in zip(exact, off, strict=True)]
    return [
        Printed(f"{row.number} {unit}", f"{_plain(row.bound)} {unit}", row.is_rounded)
        for row in rows
    ]


def rounded(number: float) -> str:
    """A number without a bound, in six decimals; what is rounded to zero has no sign."""
    return f"{number:z.6f}"


def percent(share: float) -> str:
    """A probability without a bound, as a percentage in four decimals."""
    return f"{100 * share:z.4f} %"


def chances(values: Iterable[Known], bounds: Bounds) -> list[Printed]:
    """The chances to win of values between -1 and 1: ``(1 + value) / 2``, as percentages."""
    with localcontext(EXACT):
        exact, off = _exactly(values, bounds)
        # a value may be outside by its error
        ends = Decimal(-1), Decimal(1)
        inside = [sorted((*ends, value))[1] if value.is_finite() else value for value in exact]
        return percents([(1 + value) / 2 for value in inside], [bound / 2 for bound in off])


def chance(value: Known, bound: Known) -> Printed:
    """The chance to win of one value, and its bound."""
    return chances([value], [bound])[0]


def scaled(value: Number, factor: float) -> Decimal:
    """So many times a number, with no rounding: 100 for percent, 0.5 for a chance's bound."""
    with localcontext(EXACT):
        return Decimal(value) * Decimal(factor)


def rounded_up(bound: Number, digits: int = 2) -> str:
    """A bound rounded up to so many digits; without an exponent, if it has more than two."""
    with localcontext(EXACT):
        exact = Decimal(bound)
        if not exact.is_finite():
            return str(float(exact))
        if not exact:
            return "0"
        up = exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), ROUND_CEILING)
        return f"{up:f}" if digits > 2 else _with_exponent(f"{up:.1e}")


def as_text(
    cells: Mapping[str, list[Any]], others: Mapping[str, float] | None = None
) -> dict[str, list[str]]:
    """The columns of a strategy's table as text, without empty columns.

    `value`, `win_probability` and `error_bound` have the digits justified by the bounds of the
    rows. A row's bound is that of its printed value. Estimates end at the digit of their standard
    errors.

    Parameters
    ----------
    others : mapping, optional
        Other columns, by name: one bound for all numbers of a column, which sets their digits.
    """
    said = {
        name: column
        for name, column in cells.items()
        if not column or any(cell is not None for cell in column)
    }
    shown = {name: ["" if x is None else str(x) for x in column] for name, column in said.items()}
    for name, bound in (others or {}).items():
        if name in said:
            written = percents if name.startswith("P_") else column
            known = [x for x in said[name] if x is not None]
            numbers = iter(written(known, bound))
            shown[name] = ["" if x is None else next(numbers).number for x in said[name]]
    if "standard_error" in said:
        return shown | _estimates_as_text(said)
    if "value" not in said and "error_bound" in said:  # of several seats
        for name in said:
            if name.startswith(("win_probability.", "payoff.")):
                written = percents if name.startswith("win") else column
                shown[name] = [row.number for row in written(said[name], said["error_bound"])]
        for name in said.keys() & {"error_bound", "deviation_gain"}:
            shown[name] = list(map(rounded_up, said[name]))
        if "probability" in said:  # and the rows follow a throw
            shown["probability"] = list(map(percent, said["probability"]))
    elif "error_bound" in said:
        values, bounds = said["value"], said["error_bound"]
        rows = list(map(certified, values, bounds))
        shown["value"] = [row.number for row in rows]
        shown["error_bound"] = [row.bound for row in rows]
        if "win_probability" in said:
            shown["win_probability"] = [row.number for row in chances(values, bounds)]
    return shown


def _estimates_as_text(columns: Mapping[str, list[Any]]) -> dict[str, list[str]]:
    """The columns of estimates, their errors and the true values."""
    errors = columns["standard_error"]
    rows = list(map(estimated, columns["value"], errors))
    shown = {"value": [row.number for row in rows], "standard_error": [row.bound for row in rows]}
    if "win_probability" in columns:
        chances = zip(columns["win_probability"], errors, strict=True)
        shown["win_probability"] = [estimated_chance(p, e / 2).number for p, e in chances]
    for name in ("own_error", "inherited_error"):
        shown[name] = [estimated(0.0, error).bound for error in columns[name]]
    truth = list(map(certified, columns["true_value"], columns["true_bound"]))
    shown["true_value"] = [row.number for row in truth]
    shown["true_bound"] = [row.bound for row in truth]
    shown["true_error"] = [f"{error:+.1e}" if error else "0" for error in columns["true_error"]]
    return shown


def between(low: Number, high: Number, digits: int = 10) -> tuple[str, str]:
    """An interval in some digits, rounded outwards."""
    down, up = (Context(prec=digits, rounding=way) for way in (ROUND_FLOOR, ROUND_CEILING))
    return tuple(  # type: ignore[return-value]
        f"{context.create_decimal(end).normalize():f}" if math.isfinite(end) else f"{end:g}"
        for context, end in ((down, low), (up, high))
    )


def estimated(mean: float, error: float) -> Printed:
    """An estimate and its standard error, in two digits; the estimate ends at the same digit."""
    if not math.isfinite(mean) or not math.isfinite(error):
        return Printed(f"{mean:g}", str(error))
    with localcontext(EXACT):
        shown = Decimal(f"{error:.1e}")
        exponent = shown.adjusted() - 1 if shown else -6
        number = Decimal(mean).quantize(Decimal(1).scaleb(exponent))
        return Printed(_text(number), _text(shown) if shown else "0")


def estimated_chance(mean: float, error: float) -> Printed:
    """An estimated probability and its standard error, as percentages."""
    shown = estimated(100 * mean, 100 * error)
    return Printed(f"{shown.number} %", f"{shown.bound} %")


def _place(bound: Decimal) -> int | None:
    """The exponent of the last digit justified by a bound; None if none is, or all are."""
    if not bound or not bound.is_finite():
        return None
    return (bound / Decimal("3.55")).adjusted()


def _printed(value: Decimal, bound: Decimal, place: int | None, sign: bool) -> Printed:
    if not value.is_finite() or not bound.is_finite():
        return Printed(f"{float(value):{'+' if sign else ''}.6g}", rounded_up(bound))
    if place is None:  # exact: the shortest text that reads back to the same double
        number = Decimal(repr(float(value))).normalize()
    else:
        finest = value.adjusted() - MOST_DIGITS + 1 if value else place
        number = value.quantize(Decimal(1).scaleb(max(place, finest)))
    return Printed(_text(number, sign), _bound_of(number, bound + abs(value - number)))


def _rounded(value: Decimal, bound: Decimal, place: int, sign: bool) -> Printed:
    """A number to a place above its bound, which excludes the rounding."""
    if not value.is_finite() or not bound.is_finite():
        return _printed(value, bound, place, sign)
    number = value.quantize(Decimal(1).scaleb(place))
    if not number and abs(value) > bound:
        return Printed(_with_exponent(f"{value:{'+' if sign else ''}.1e}"), rounded_up(bound), True)
    return Printed(_text(number, sign), _bound_of(number, bound), bool(bound) or number != value)


def _bound_of(number: Decimal, bound: Decimal) -> str:
    """The bound of a printed number; that of zero isn't below the digits of doubles near 1."""
    least = Decimal(1).scaleb(-ZERO_DIGITS) if bound and not number else Decimal(0)
    return rounded_up(max(bound, least))


def _plain(bound: str) -> str:
    """A bound of a percentage, without a power of ten where it is short without."""
    return f"{Decimal(bound):f}" if 1e-4 <= float(bound) < 1e6 else bound


def _text(number: Decimal, sign: bool = False) -> str:
    """The digits of a number, with a power of ten where it would have too many zeros."""
    if not number:
        number = abs(number)  # 0 has no sign
    plus = "+" if sign and number else ""
    last = int(number.as_tuple().exponent)
    if last >= -LONGEST and number.adjusted() < LONGEST:
        return f"{number:{plus}f}"
    return _with_exponent(f"{number:{plus}e}") if number else "0"


def _with_exponent(text: str) -> str:
    """The exponent in two digits, as `float` writes it."""
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent):+03d}" if exponent else mantissa
