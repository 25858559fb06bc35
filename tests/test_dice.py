"""Dice against every way that they can fall."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollwise import bits, dice

CASES = [(n, sides) for n in range(6) for sides in range(1, 7) if sides**n < 8000]


def throws(n, sides):
    return product(range(1, sides + 1), repeat=n)


@pytest.mark.parametrize(("n", "sides"), CASES)
def test_total_counts_every_throw(n, sides):
    counted = Counter(sum(throw) for throw in throws(n, sides))
    assert list(dice.total(n, sides)) == [(counted[points], points) for points in sorted(counted)]


@pytest.mark.parametrize(("n", "sides"), CASES)
def test_counts_count_every_throw(n, sides):
    counted = Counter(
        tuple(throw.count(face) for face in range(sides + 1)) for throw in throws(n, sides)
    )
    found = [(ways, tuple(counts.tolist())) for ways, counts in dice.counts(n, sides)]
    assert len(found) == len(counted)
    assert {counts: ways for ways, counts in found} == counted


@pytest.mark.parametrize(("n", "sides"), [(20, 6), (20, 8), (62, 2), (5, 60)])
def test_many_dice(n, sides):
    assert sum(ways for ways, _ in dice.total(n, sides)) == sides**n
    if sides < 10:
        for ways, counts in dice.counts(n, min(sides, 3)):
            assert ways == factorial(n) // prod(factorial(c) for c in counts.tolist())


@pytest.mark.parametrize("helper", [dice.total, dice.counts])
def test_dice_and_sides_are_whole_numbers(helper):
    wanted = [(ways, str(fallen)) for ways, fallen in helper(2, 3)]
    assert [(ways, str(fallen)) for ways, fallen in helper(np.int8(2), np.int64(3))] == wanted
    with pytest.raises(TypeError):
        list(helper(2.0, 3))
    with pytest.raises(ValueError, match="dice need"):
        list(helper(-1, 3))
    with pytest.raises(ValueError, match="too many dice"):
        list(helper(100, 6))


@pytest.mark.parametrize("helper", [lambda die: dice.total(2, die), dice.one])
def test_a_die_in_place_of_its_sides_is_refused_with_the_remedy(helper):
    with pytest.raises(TypeError, match="loop over the faces of a die"):
        list(helper(dice.die(1, 1, 2)))
    assert dice.sums(4, dice.die(1, 1)) == dice.sums(dice.d(4), (1, 1))


@pytest.mark.parametrize("helper", [dice.total, dice.counts])
@pytest.mark.parametrize(
    ("n", "sides", "said"),
    [
        (25, 6, "too many dice: their ways don't fit 63 bits"),
        (63, 2, "63 bits"),
        (-1, 6, "n >= 0"),
        (2, 0, "sides >= 1"),
    ],
)
def test_what_dice_cannot_do(helper, n, sides, said):
    with pytest.raises(ValueError, match=said):
        list(helper(n, sides))


@pytest.mark.parametrize(("n", "sides"), CASES)
def test_faces_are_the_throws_in_order(n, sides):
    found = {tuple(faces.tolist()): ways for ways, faces in dice.faces(n, sides)}
    assert found == Counter(tuple(sorted(throw)) for throw in throws(n, sides))
    assert [ways for ways, _ in dice.faces(n, sides)] == [ways for ways, _ in dice.counts(n, sides)]


@pytest.mark.parametrize(("n", "of"), [(2, 3), (0, 2), (3, 3)])
def test_dice_left_out_are_zeros_at_the_end(n, of):
    found = [(ways, shown.tolist()) for ways, shown in dice.faces(n, 6, of)]
    assert found == [(ways, shown.tolist()) for ways, shown in dice.faces(n, 6, of=of)]
    plain = [(ways, [*shown.tolist(), *(of - n) * [0]]) for ways, shown in dice.faces(n, 6)]
    assert found == plain


@pytest.mark.parametrize("given", [{"off": 3}, {"sides": 6, "of": 1}])
def test_faces_refuse_other_arguments(given):
    with pytest.raises((TypeError, ValueError)):
        list(dice.faces(2, **({"sides": 6} | given)))


@pytest.mark.parametrize("thrown", [(), (3,), (2, 2), (1, 1, 2, 3), (4, 4, 4, 1)])
def test_parts_are_the_sub_multisets(thrown):
    counts = np.array([thrown.count(face) for face in range(5)])
    found = [tuple(part.tolist()) for part in dice.parts(counts)]
    picked = {
        tuple(picked.count(face) for face in range(5))
        for k in range(len(thrown) + 1)
        for picked in combinations(thrown, k)
    }
    assert set(found) == picked
    assert len(found) == len(picked)
    for part in found:
        code = dice.code(np.array(part))
        assert 0 <= code < 2**31
        assert [dice.of_code(code, face) for face in range(1, 5)] == list(part[1:])
    assert [dice.how_often(thrown, face) for face in range(5)] == counts.tolist()


@pytest.mark.parametrize(("n", "sides"), CASES)
def test_most_alike_and_the_longest_run(n, sides):
    for throw in throws(n, sides):
        assert dice.most_alike(throw) == max(Counter(throw).values(), default=0)
        runs = [k for k in range(1, n + 1) for f in throw if {*range(f, f + k)} <= {*throw}]
        assert dice.longest_run(throw) == max(runs, default=0)


@pytest.mark.parametrize("faces", [(7, 1), (0, 1), (1, 2.5)])
def test_faces_that_dice_lack_have_no_place_in_counts(faces):
    with pytest.raises(ValueError, match="the faces of 6-sided dice are 1 to 6"):
        dice.place_in_counts(faces, 6)


@given(st.sets(st.integers(0, 61)), st.integers(0, 61))
def test_bits_are_sets(known, k):
    packed = sum(1 << member for member in known)
    assert list(bits.members(packed)) == sorted(known)
    assert bits.size(packed) == len(known)
    assert bits.has(packed, k) == (k in known)
    assert set(bits.members(bits.with_member(packed, k))) == known | {k}
    assert set(bits.members(bits.without(packed, k))) == known - {k}
    assert set(bits.members(bits.upto(k))) == set(range(k))


def test_a_die_is_the_tuple_of_its_equally_likely_faces() -> None:
    assert dice.d(4) == dice.die(1, 2, 3, 4) == (1, 2, 3, 4)
    third, two_thirds = Fraction(1, 3), Fraction(2, 3)
    for weights in ((1, 2), (0.5, 1.0), (0.1, 0.2), (third, two_thirds), (10, 20)):
        assert dice.die(3, 7, weights=weights) == (3, 7, 7)
    assert dice.die(1, 2, weights=(0, 1)) == (2,)
    for faces, weights in (
        ((), ()),
        ((1.5,), ()),
        ((1, 2), (1,)),
        ((1, 2), (1, -1)),
        ((1, 2), (0, 0)),
        ((1, 2), ("many", 1)),
        ((1, 2), (1, float("nan"))),
        ((1, 2), (1, 1000)),
    ):
        with pytest.raises(ValueError, match=r"a die (of|has)|weights of a die"):
            dice.die(*faces, weights=weights)


def test_sums_of_different_dice_count_every_throw() -> None:
    three = dice.die(1, 2, 3, weights=(1, 1, 2)), dice.d(4), (0, 5)
    counted = Counter(map(sum, product(*three)))
    assert dice.sums(*three) == tuple((counted[total], total) for total in sorted(counted))


def test_a_pool_of_loaded_dice_counts_every_throw() -> None:
    loaded = dice.die(2, 3, 5, weights=(1, 3, 2))
    pool = dice.pool(3, loaded, rerolls=1)
    counted = Counter(tuple(sorted(throw)) for throw in product(loaded, repeat=3))
    assert {throw: ways for ways, throw in pool.throws} == counted
    again = Counter(tuple(sorted((3, *throw))) for throw in product(loaded, repeat=2))
    assert {throw: ways for ways, throw in pool.after((3,))} == again
    for wrong in (dice.die(0, 1), (3,), (4.5, 2)):
        with pytest.raises((ValueError, TypeError)):
            dice.pool(3, wrong)  # type: ignore[arg-type]
