"""Printed numbers are true: all that a bound allows is within the printed bound of them."""

import json
import math
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from cli_runner import output
from hypothesis import example, given
from hypothesis import strategies as st

import rollwise
from rollwise.games.craps import Craps
from rollwise.numbers.printed import (
    Printed,
    between,
    certified,
    chances,
    column,
    estimated,
    in_common,
    rounded_up,
    scaled,
)

pytestmark = pytest.mark.kernels

VALUES = st.floats(allow_nan=False, allow_infinity=False)
BOUNDS = st.floats(min_value=0.0, allow_nan=False, allow_infinity=False)
ODD_VALUES = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    1 / 3,
    1e12,
    1e22,
    1e25,
    5e-324,
    -3e-310,
    1.7976931348623157e308,
)
ODD_BOUNDS = (0.0, 5e-324, 3e-310, 2.0**-53, 6.0e-14, 9.99e-5, 0.3, 1.0, 2.2e-3, 1e300)


def reads(text: str) -> Fraction:
    return Fraction(Decimal(text))


def holds(shown: Printed, value: Fraction, bound: Fraction) -> bool:
    number, printed = reads(shown.number), reads(shown.bound)
    return all(abs(number - true) <= printed for true in (value - bound, value, value + bound))


@given(VALUES, BOUNDS)
def test_a_printed_number_is_within_its_printed_bound(value: float, bound: float) -> None:
    assert holds(certified(value, bound), Fraction(value), Fraction(bound))
    assert holds(certified(value, bound, sign=True), Fraction(value), Fraction(bound))


@pytest.mark.parametrize("value", ODD_VALUES)
@pytest.mark.parametrize("bound", ODD_BOUNDS)
def test_odd_numbers_and_odd_bounds(value: float, bound: float) -> None:
    shown = certified(value, bound)
    assert holds(shown, Fraction(value), Fraction(bound))
    assert len(shown.number) <= 50
    assert len(shown.bound) <= 9
    assert "inf" in str(certified(value, math.inf))


@given(st.lists(st.tuples(VALUES, BOUNDS), min_size=1, max_size=5))
def test_columns_and_what_they_have_in_common(pairs: list[tuple[float, float]]) -> None:
    values, bounds = zip(*pairs, strict=True)
    rows = column(values, bounds)
    numbers, bound = in_common(rows)
    for row, number, value, off in zip(rows, numbers, values, bounds, strict=True):
        assert holds(row, Fraction(value), Fraction(off))
        assert holds(Printed(number, bound), Fraction(value), Fraction(off))


@given(st.floats(-1.0, 1.0), st.floats(0.0, 1.0))
@example(1 / 3, 1e-17)
@example(2.0**-60, 0.0)
@example(5e-324, 5e-324)
def test_chances_lose_nothing_on_the_way(value: float, bound: float) -> None:
    (shown,) = chances([value], [bound])
    assert holds(shown, (1 + Fraction(value)) / 2, Fraction(bound) / 2)
    percent = certified(scaled(value, 100), scaled(bound, 100))
    assert holds(percent, 100 * Fraction(value), 100 * Fraction(bound))


@given(VALUES, BOUNDS)
def test_a_bound_gains_little_and_no_digit_is_beyond_it(value: float, bound: float) -> None:
    shown = certified(value, bound)
    last = Decimal(shown.number).as_tuple().exponent
    assert isinstance(last, int)
    if bound and reads(shown.number):  # 0 is 0 in any number of digits
        assert Fraction(10) ** last <= max(Fraction(bound), 10 * Fraction(math.ulp(value)))
        # up to half a last digit, and the second digit of the bound rounded up
        unit = max(Fraction(bound) / 2, Fraction(math.ulp(value)) * 5)
        assert reads(shown.bound) <= (Fraction(bound) + unit) * Fraction(11, 10)


@given(BOUNDS)
def test_bounds_are_rounded_up(bound: float) -> None:
    up = reads(rounded_up(bound))
    assert Fraction(bound) <= up <= Fraction(bound) * Fraction(11, 10)


@given(VALUES, VALUES)
def test_intervals_are_rounded_outwards(one: float, other: float) -> None:
    low, high = between(min(one, other), max(one, other))
    assert reads(low) <= Fraction(min(one, other))
    assert Fraction(max(one, other)) <= reads(high)


def test_how_they_look() -> None:
    assert str(certified(244 / 495, 3.8e-15)) == "0.492929292929293 ± 3.9e-15"
    assert str(certified(1234567890123.5, 2.2e-3)) == "1234567890123.5000 ± 2.3e-03"
    assert str(certified(-1.0, 0.0)) == "-1 ± 0"
    assert str(certified(0.1, 0.0)) == "0.1 ± 5.6e-18"  # no double is 0.1
    assert str(certified(-1e-20, 1e-3)) == "0.0000 ± 1.1e-03"
    assert str(certified(1e300, 1e290)) == "1.00000000000e+300 ± 1.1e+290"
    assert str(certified(math.nan, math.inf)) == "nan ± inf"
    assert str(estimated(0.5433, 0.0123)) == "0.543 ± 0.012"
    assert str(estimated(17.25, 123.0)) == "20 ± 120"
    assert str(estimated(0.5, 0.0)) == "0.500000 ± 0"


EXAMPLE = Path(__file__).parent.parent / "examples" / "hit_the_mark.py"
NUMBER_AND_BOUND = re.compile(r"(-?[\d.]+) \(certified ± ([\d.e+-]+)")
GAMES = (
    ["craps"],
    ["super-six", "sticks=5"],
    ["threes", "dice=2"],
    [f"{EXAMPLE}:HitTheMark", "mark=9"],
)


@pytest.mark.parametrize("game", GAMES, ids=lambda words: words[0].rpartition(":")[2])
def test_what_commands_print_is_within_its_bound_of_the_exact_answer(game) -> None:
    exact = json.loads(output("solve", *game, "--method", "exact", "--json"))
    value = Fraction(exact["value_exact"])
    names = ["value"] if "win_probability_exact" not in exact else ["win_probability", "value"]
    text = output("solve", *game)
    pairs = NUMBER_AND_BOUND.findall(text)
    assert len(pairs) == len(names)
    for name, (number, bound) in zip(names, pairs, strict=True):
        assert abs(reads(number) - Fraction(exact[f"{name}_exact"])) <= reads(bound)
    document = json.loads(output("solve", *game, "--json"))
    assert abs(Fraction(document["value"]) - value) <= Fraction(document["error_bound"])

    rows = json.loads(output("table", *game, "--method", "exact", "--json"))["rows"]
    told = [line.split() for line in output("table", *game, "--limit", "50").splitlines()]
    n_fields = len(document["start"])
    for row, words in zip(rows[:50], told[1:], strict=False):
        number, bound = words[-2 if len(names) == 1 else -3], words[-1]
        assert abs(reads(number) - Fraction(row["value_exact"])) <= reads(bound)
        assert [int(word) for word in words[:n_fields]] == list(row.values())[:n_fields]


def test_an_action_is_within_its_bound_of_the_exact_answer() -> None:
    words = ("super-six", "sticks=5", "--state", "lid=2,mine=2,theirs=1,forced=0")
    exact = json.loads(output("advise", *words, "--method", "exact", "--json"))
    document = json.loads(output("advise", *words, "--json"))
    lines = output("advise", *words).splitlines()
    bound = reads(re.findall(r"± ([\d.e+-]+)", lines[-1])[0])
    for line, action, row in zip(lines[1:], exact["actions"], document["actions"], strict=False):
        number = next(word for word in line.split() if "." in word)
        assert abs(reads(number) - Fraction(action["win_probability_exact"])) <= bound
        off = abs(Fraction(row["value"]) - Fraction(action["value_exact"]))
        assert off <= Fraction(row["error_bound"])


def test_json_and_csv_give_the_shortest_text_that_reads_back() -> None:
    text = output("solve", "craps", "--json")
    document = json.loads(text)
    assert f'"value": {document["value"]!r}' in text
    table = json.loads(output("table", "craps", "--json"))["rows"]
    csv = output("table", "craps", "--csv").splitlines()
    for row, line in zip(table, csv[1:], strict=True):
        assert [float(cell) for cell in line.split(",")[-3:]] == list(row.values())[-3:]
        assert max(len(cell) for cell in line.split(",")[-3:]) <= 24


def test_a_notebook_shows_digits_that_the_bound_earns() -> None:
    page = rollwise.solve(Craps())._repr_html_()
    cells = re.findall(r"<td>(-?[\d.e+-]+)</td>", page)
    value, _, bound = cells[1:4]
    assert abs(reads(value) - Fraction(-7, 495)) <= reads(bound)
