"""Threes: the rules, the source's tables, and the published mean without refusing."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from rollwise import solve
from rollwise.games.threes import Hand, Threes, points_of_lowest

# Seed 004, "The Value Function" (rolling first): simulated, right to about one decimal.
SEED_VALUES = {
    (1, 0): 3,
    (2, 1): 6,
    (2, 0): 4,
    (3, 1): 7,
    (3, 0): 4.8,
    (4, 1): 7,
    (4, 0): 5.3,
    (5, 1): 7,
    (5, 0): 5.6,
}


def before_roll(dice: int, take_two: int = 0) -> Hand:
    return Hand(dice, take_two, 0, 0, 0, 0, 0, 0)


@cache
def naive_value(dice: int, take_two: bool, skip: bool) -> Fraction:
    """Expected points of so many dice, whichever are taken: every roll, every subset."""
    if dice == 0:
        return Fraction(0)
    total = Fraction(0)
    for roll in product((0, 1, 2, 4, 5, 6), repeat=dice):
        worths = [
            sum(taken) + naive_value(dice - n, False, skip)
            for n in range(2 if take_two else 1, dice + 1)
            for taken in set(combinations(roll, n))
        ]
        if skip and not take_two and dice > 1:
            worths.append(naive_value(dice, True, skip))
        total += min(worths)
    return total / 6**dice


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("dice", [1, 2, 3, 4])
def test_taking_other_dice_than_the_lowest_is_never_better(dice, skip):
    # The naive value lets any subset be taken; the rule sheet only the lowest.
    solution = solve(Threes(dice=dice, skip=skip))
    for left in range(1, dice + 1):
        for take_two in (0, 1) if skip and left > 1 else (0,):
            s = solution.find(before_roll(left, take_two))
            exact = naive_value(left, bool(take_two), skip)
            assert abs(Fraction(float(solution.values[s])) - exact) <= solution.error_bounds[s]


def test_the_nine_rows_of_the_source():
    table = solve(Threes()).table("to_roll > 0")
    rows = {(row["to_roll"], row["take_two"]): row["value"] for row in table.to_dicts()}
    assert rows.keys() == SEED_VALUES.keys()
    for key, value in SEED_VALUES.items():
        assert abs(rows[key] - value) < 0.1
    assert 5.6 < rows[5, 0] < 5.7


def test_five_dice_without_refusing_give_the_published_mean():
    # icepool, notebooks/stack_exchange/game_of_threes.ipynb
    solution = solve(Threes(skip=False))
    published = Fraction(504205555, 80621568)
    assert float(published) == 6.253978525944819
    assert abs(Fraction(solution.value) - published) <= solution.error_bound < 1e-11


def test_points_of_the_lowest_dice():
    faces = np.array([0, 0, 1, 2, 2, 4, 5, 6, 6])
    s = Hand(0, 0, 2, 1, 2, 1, 1, 2)
    assert [points_of_lowest(s, n) for n in range(10)] == [0, *np.cumsum(faces).tolist()]
