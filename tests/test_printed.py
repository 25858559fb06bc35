"""Printed numbers are true: all that a bound allows is within the printed bound of them."""

import json
import math
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from cli_runner import output
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binomtest

from rollwise.graph import win_probability
from rollwise.numbers.intervals import of_chance, of_mean, of_share
from rollwise.numbers.printed import (
    POINTS,
    Printed,
    amount,
    certified,
    chance,
    chances,
    column,
    estimated,
    estimated_chance,
    in_common,
    in_runs,
    percents,
    rounded,
    rounded_up,
    scaled,
    with_minus,
)

VALUES = st.floats(allow_nan=False, allow_infinity=False)
BOUNDS = st.floats(min_value=0.0, allow_nan=False, allow_infinity=False)
ODD_VALUES = (0.0, -0.0, 1.0, -1.0, 1 / 3, 1e12, 1e22, 1e25, 5e-324, -3e-310,
    1.7976931348623157e308)  # fmt: skip
ODD_BOUNDS = (0.0, 5e-324, 3e-310, 2.0**-53, 6.0e-14, 9.99e-5, 0.3, 1.0, 2.2e-3, 1e300)


def reads(text: str) -> Fraction:
    return Fraction(Decimal(text))


def holds(shown: Printed, value: Fraction, bound: Fraction) -> bool:
    number, printed = reads(shown.number), reads(shown.bound)
    return all(abs(number - true) <= printed for true in (value - bound, value, value + bound))


@given(VALUES, BOUNDS)
def test_a_printed_number_is_within_its_printed_bound(value: float, bound: float) -> None:
    assert holds(certified(value, bound), Fraction(value), Fraction(bound))
    (signed,) = column([value], bound, sign=True)
    assert holds(signed, Fraction(value), Fraction(bound))


@pytest.mark.parametrize("value", ODD_VALUES)
@pytest.mark.parametrize("bound", ODD_BOUNDS)
def test_odd_numbers_and_odd_bounds(value: float, bound: float) -> None:
    shown = certified(value, bound)
    assert holds(shown, Fraction(value), Fraction(bound))
    assert len(shown.number) <= 50
    assert len(shown.bound) <= 9
    assert "inf" in str(certified(value, math.inf))


@given(st.lists(st.tuples(VALUES, BOUNDS), min_size=1, max_size=5))
@example([(0.0, 1.7e308), (1.4e308, 1.76e308)])  # their printed bounds are no doubles
def test_columns_and_what_they_have_in_common(pairs: list[tuple[float, float]]) -> None:
    values, bounds = zip(*pairs, strict=True)
    rows = column(values, bounds)
    numbers, worst = in_common(rows)
    for row, number, value, off in zip(rows, numbers, values, bounds, strict=True):
        assert holds(row, Fraction(value), Fraction(off))
        assert holds(Printed(number, worst.bound), Fraction(value), Fraction(off))


@given(st.lists(st.integers(-20, 20)))
@example([0, 6, 7, 8, 9, 3, 4])
def test_runs_of_whole_numbers_can_be_read_back(numbers: list[int]) -> None:
    read = []
    for part in filter(None, in_runs(numbers).split(", ")):
        low, _, high = part.partition("..")
        read += range(int(low), int(high or low) + 1)
    assert read == numbers
    assert in_runs([0, 6, 7, 8, 9, 3, 4]) == "0, 6..9, 3, 4"


@given(st.floats(-1.0, 1.0), st.floats(0.0, 1.0))
@example(1 / 3, 1e-17)
@example(1 - 2.0**-53, 0.0)
@example(2.0**-60, 0.0)
@example(5e-324, 5e-324)
def test_chances_lose_nothing_on_the_way(value: float, bound: float) -> None:
    (shown,) = chances([value], [bound])
    chance, off = 50 * (1 + Fraction(value)), 50 * Fraction(bound)
    number, told = (reads(text.removesuffix(" %")) for text in (shown.number, shown.bound))
    if shown.is_rounded:  # to six digits; the bound is that of the number before
        digits = Decimal(shown.number.removesuffix(" %")).as_tuple()
        assert len(digits.digits) <= 6 + (number == 100)  # rounded up to three digits
        rounded = Fraction(10) ** int(digits.exponent) / 2
        assert off <= told <= off * Fraction(11, 10)
        assert abs(number - chance) <= rounded
    else:
        assert all(abs(number - x) <= told for x in (chance - off, chance, chance + off))
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


def test_how_they_look() -> None:
    assert str(certified(244 / 495, 3.8e-15)) == "0.492929292929293 ± 3.9e-15"
    assert str(certified(1234567890123.5, 2.2e-3)) == "1234567890123.5000 ± 2.3e-03"
    assert str(certified(-1.0, 0.0)) == "-1 ± 0"
    assert str(certified(0.1, 0.0)) == "0.1 ± 5.6e-18"  # no double is 0.1
    assert str(certified(-1e-20, 1e-3)) == "0.0000 ± 1.1e-03"
    assert str(certified(1e300, 1e290)) == "1.00000000000e+300 ± 1.1e+290"
    assert str(certified(math.nan, math.inf)) == "nan ± inf"
    assert certified(0.5, math.inf).sure == "not certified: no error bound was proved"
    assert str(estimated(0.5433, 0.0123)) == "0.543 ± 0.012"
    assert str(estimated(17.25, 123.0)) == "20 ± 120"
    assert str(estimated(0.5, 0.0)) == "0.500000 ± 0"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (2, "2"),
        (-0.5, "-0.5"),
        (1 / 3, "0.333333"),
        (4000000028, "4000000028"),
        (-25000000175.25, "-25000000175.25"),
        (1e300, "1e+300"),
    ],
)
def test_amounts_of_the_rules_are_written_in_full(number: float, text: str) -> None:
    assert amount(number) == text


def test_only_numbers_get_the_mathematical_minus() -> None:
    told = "hold-at-20: -0.422 (-2 to -1), ± 1e-13, low=-3, 2-1, <b>-5</b>, --rules 5, -x"
    shown = "hold-at-20: −0.422 (−2 to −1), ± 1e-13, low=-3, 2-1, <b>−5</b>, --rules 5, -x"
    assert with_minus(told) == shown


def test_how_percentages_look() -> None:
    assert str(chance(0.0611854505474938, 6.8e-14)) == "53.0593 % ± 3.5e-12 % before rounding"
    assert chance(1 / 3, 1e-3).sure == "certified ± 0.054 %"
    assert str(chance(0.0, 0.0)) == "50 % ± 0 %"
    assert str(estimated_chance(0.4733, 0.0123)) == "47.3 % ± 1.2 %"
    tiny = percents([0.5, 1e-9, -1e-16, 0.25], [1e-15] * 4)
    assert [row.number for row in tiny] == ["50.0000 %", "1.0e-07 %", "0.0000 %", "25.0000 %"]
    gain = percents([0.0331], [1e-15], sign=True, unit=POINTS)
    assert gain[0].sure == "certified ± 1.1e-13 percentage points before rounding"
    assert gain[0].number == "+3.31000 percentage points"


EXAMPLE = Path(__file__).parent.parent / "examples" / "hit_the_mark.py"
NUMBER_AND_BOUND = re.compile(r"(-?[\d.]+)( %)? \(certified ± ([\d.e+-]+)")
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
    for name, (number, in_percent, bound) in zip(names, pairs, strict=True):
        scale, rounded = (100, Fraction("5e-5")) if in_percent else (1, Fraction(0))
        off = abs(reads(number) - scale * Fraction(exact[f"{name}_exact"]))
        assert off <= reads(bound) + rounded
    document = json.loads(output("solve", *game, "--json"))
    assert abs(Fraction(document["value"]) - value) <= Fraction(document["error_bound"])

    rows = json.loads(output("table", *game, "--method", "exact", "--json"))["rows"]
    told = [line.split() for line in output("table", *game, "--limit", "50").splitlines()]
    n_fields = len(document["start"])
    for row, words in zip(rows[:50], told[1:], strict=False):
        number, bound = words[-2 if len(names) == 1 else -4], words[-1]
        assert abs(reads(number) - Fraction(row["value_exact"])) <= reads(bound)
        assert [int(word) for word in words[:n_fields]] == list(row.values())[:n_fields]


# ---- confidence intervals hold for few games, rare wins and draws; no warning is for nothing


CASES = 4000  # simulated samples: a share of 0.95 of them is known to 0.0035


def share_covered(games, win, draw=0.0):
    drawn = np.random.default_rng(1).multinomial(games, (win, draw, 1 - win - draw), size=CASES)
    counts, times = np.unique(drawn, axis=0, return_counts=True)
    inside = 0
    for (wins, draws, _), n in zip(counts.tolist(), times.tolist(), strict=True):
        low, high = of_chance(wins, draws, games)
        inside += n * (low <= win + draw / 2 <= high)
    return inside / CASES


@pytest.mark.parametrize("games", [20, 100])
@pytest.mark.parametrize("win", [0.003, 0.02, 0.1, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("draw", [0.0, 0.02, 0.5])
def test_intervals_of_chances_cover_what_they_promise(games, win, draw):
    if win + draw <= 1:
        assert share_covered(games, win, draw) >= 0.94


@pytest.mark.parametrize("games", [20, 100])
@pytest.mark.parametrize(
    ("draw_one", "mean", "least"),
    [
        (lambda rng, shape: rng.normal(3.0, 2.0, shape), 3.0, 0.94),
        (lambda rng, shape: rng.integers(1, 7, (*shape, 3)).sum(axis=-1), 10.5, 0.94),
        (lambda rng, shape: rng.geometric(0.3, shape), 1 / 0.3, 0.91),  # skew, as lengths are
    ],
)
def test_intervals_of_means_cover_what_they_promise(games, draw_one, mean, least):
    samples = draw_one(np.random.default_rng(2), (CASES, games))
    errors = samples.std(axis=1, ddof=1) / np.sqrt(games)
    ends = [of_mean(m, e, games) for m, e in zip(samples.mean(axis=1), errors, strict=True)]
    assert np.mean([low <= mean <= high for low, high in ends]) >= least


@pytest.mark.parametrize(("count", "games"), [(0, 1), (1, 1), (0, 20), (3, 20), (20, 20)])
def test_shares_are_those_of_clopper_and_pearson(count, games):
    expected = binomtest(count, games).proportion_ci(0.95, "exact")
    assert of_share(count, games) == pytest.approx((expected.low, expected.high), abs=1e-12)
    low, high = of_share(np.array([count]), games)
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_zeros_have_no_more_digits_than_doubles():
    """However small their bounds are."""
    assert [row.number for row in column([0.0, 0.0], [3.7e-23, 0.0])] == ["0.000000000000000"] * 2
    assert column([0.0, 1e-20], [3.7e-23, 0.0])[1].number == "0.00000000000000000001000"
    assert str(certified(0.0, 1e-290)) == "0.000000000000000 ± 1.0e-15"
    assert str(certified(-1e-300, 1e-290)) == "0 ± 1.0e-15"
    assert percents([0.0], [1e-290])[0].sure == "certified ± 1.0e-15 % before rounding"
    assert str(certified(1e-20, 1e-30)) == "1.00000000000e-20 ± 1.1e-30"


def test_a_number_rounded_to_zero_has_no_sign():
    assert [rounded(number) for number in (-1e-9, 0.5, -0.5)] == [
        "0.000000",
        "0.500000",
        "-0.500000",
    ]


def test_a_value_beyond_a_certain_win_or_loss_has_a_chance_from_0_to_1() -> None:
    """An error of the value takes no chance out of the range."""
    for value, share in {-1 - 4e-16: 0.0, 1 + 4e-16: 1.0, -1.0: 0.0, 0.5: 0.75}.items():
        assert win_probability(value) == win_probability(np.array([value])) == share
        (shown,) = chances([value], [5e-16])
        assert reads(shown.number.removesuffix(" %")) == 100 * Fraction(share)
    assert math.copysign(1.0, win_probability(-1 - 4e-16)) == 1.0
    assert win_probability(Fraction(1, 3)) == Fraction(2, 3)
    assert math.isnan(win_probability(math.nan))


def test_a_saved_answer_is_told_to_have_no_fractions(tmp_path):
    saved = ("--save", str(tmp_path / "answer.parquet"))
    assert "Saved, without the fractions, to" in output(
        "solve", "pig", "target=5", "--method", "exact", *saved
    )
    assert "Saved to" in output("solve", "pig", "target=5", *saved)


def test_a_bound_is_rounded_up_to_its_digits():
    assert [rounded_up(number) for number in (0, 2.5, 0.72, 1.21e-5)] == [
        "0",
        "2.5e+00",
        "7.2e-01",
        "1.3e-05",
    ]
    numbers = (2.5, 2.5000000000000004, 0.712112812, 12345678.9, 999999.96)
    assert [rounded_up(number, digits=6) for number in numbers] == [
        "2.50000",
        "2.50001",
        "0.712113",
        "12345700",
        "1000000",
    ]
