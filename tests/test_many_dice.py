"""Very many dice: against the general solver, exact fractions and naive sums."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, factorial
from typing import ClassVar

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from rollwise import solve
from rollwise.analysis.many_dice import binomial, enclose_values, many_dice
from rollwise.errors import NotConverged, ParameterError, UsageError
from rollwise.games.pig import Pig
from rollwise.games.threes import Threes

pytestmark = pytest.mark.kernels

POINTS = np.array([0.0, 1, 2, 4, 5, 6])


def enclose(most, looked_at, points=POINTS, skip=True):
    choose = np.array(
        [[comb(n, k) for k in range(looked_at + 1)] for n in range(looked_at + 1)], float
    )
    bounds = np.zeros((2, 2, most + 1))
    failed = enclose_values(most, points, skip, looked_at, choose, bounds)
    return failed, *bounds


def naive_values(most: int, points, skip: bool) -> list[list[Fraction | None]]:
    """V and W in fractions: every kind of roll, every number of dice taken."""
    values: list[list[Fraction | None]] = [[Fraction(0)], [None]]
    for n in range(1, most + 1):
        both: list[Fraction | None] = [None, None]
        for level in (1, 0):
            if n <= level or (level == 1 and not skip):
                continue
            total = Fraction(0)
            for roll in combinations_with_replacement(range(len(points)), n):
                ways = factorial(n)
                for shown in Counter(roll).values():
                    ways //= factorial(shown)
                cost = np.cumsum([0, *(int(points[face]) for face in roll)])
                worths = [int(cost[k]) + values[0][n - k] for k in range(1 + level, n + 1)]
                if level == 0 and both[1] is not None:
                    worths.append(both[1])
                total += ways * min(worths)
            both[level] = total / len(points) ** n
        values[0].append(both[0])
        values[1].append(both[1])
    return values


@pytest.mark.parametrize("skip", [True, False])
def test_against_fractions(skip):
    _, low, high = enclose(6, 30, skip=skip)
    for level, row in enumerate(naive_values(6, POINTS, skip)):
        for n, exact in enumerate(row):
            if exact is not None:
                assert Fraction(low[level, n]) <= exact <= Fraction(high[level, n])


@given(st.lists(st.integers(1, 6), min_size=2, max_size=4).map(sorted), st.booleans())
@settings(max_examples=examples(15))
def test_any_faces_against_fractions(others, skip):
    points = np.array([0.0, *others])
    failed, low, high = enclose(4, 30, points, skip)
    assert failed == 0
    for level, row in enumerate(naive_values(4, points, skip)):
        for n, exact in enumerate(row):
            if exact is not None:
                assert Fraction(low[level, n]) <= exact <= Fraction(high[level, n])


@given(st.integers(1, 60), st.integers(2, 8))
def test_binomial_against_fractions(n, faces):
    chance = np.zeros(n + 1)
    mode, spread = binomial(n, faces, chance)
    for z, p in enumerate(chance):
        exact = Fraction(comb(n, z) * (faces - 1) ** (n - z), faces**n)
        units = 2 * abs(z - mode) + 2 * spread + 8
        assert abs(Fraction(float(p)) - exact) <= exact * Fraction(units) / 2**53


@pytest.mark.needs_jit
@pytest.mark.slow
@pytest.mark.parametrize("skip", [True, False])
def test_against_the_general_solver(skip):
    found = many_dice(Threes(skip=skip), 11)
    for dice in (7, 11):
        solution = solve(Threes(dice=dice, skip=skip))
        value, bound = found.value(dice)
        assert abs(solution.value - value) <= bound + solution.error_bound
        if skip:
            two = solution.find((dice, 1, 0, 0, 0, 0, 0, 0))
            value, bound = found.value(dice, take_two=True)
            assert abs(solution.values[two] - value) <= bound + solution.error_bound


@dataclass(frozen=True)
class Misdeclared(Threes):
    """Says that a one counts two."""

    face_points: ClassVar = (0, 2, 2, 4, 5, 6)


@dataclass(frozen=True)
class Crooked(Threes):
    face_points: ClassVar = (1, 2, 3)


def test_what_the_method_is_not_for():
    with pytest.raises(UsageError, match="isn't a game of taking the lowest dice"):
        many_dice(Pig(), 10)
    with pytest.raises(NotConverged, match="differ from face_points"):
        many_dice(Misdeclared(), 10)
    with pytest.raises(UsageError, match="must ascend from a"):
        many_dice(Crooked(), 10)
    with pytest.raises(ParameterError, match="from 1 to"):
        many_dice(replace(Threes(), dice=3), 0)
    with pytest.raises(UsageError, match="from 0 to 10 dice"):
        many_dice(Threes(), 10).value(11)
