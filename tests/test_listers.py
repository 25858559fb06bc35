"""Listers give what the generators that they are made of yield."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from rollwise.builders.compiled import listers
from rollwise.builders.compiled.listers import Writing, renamed, running, translated
from rollwise.games import available

ROOM = 100


def rewritten(generator: Any, writing: Writing) -> Any:
    copy = renamed(generator, "", None, None, translated(generator, {}, {}, is_rule=False))
    return listers.rewritten(copy, writing)


TO_LIST = Writing(
    "left_, right_",
    "if count_ >= room_: return count_ + 1\nsink_.append((left_, right_))\ncount_ += 1",
    {"room_": ROOM},
)


def listed(lister: Callable[..., int], *arguments: Any) -> tuple[list[Any], int]:
    found: list[Any] = []
    return found, lister(*arguments, found, 0)


def straight(n):
    """With a docstring."""
    yield n, 1
    yield (n, 2)


def looping(n: int, step: int = 1):
    for i in range(n):
        if i == 7:
            continue
        if i > 12:
            break
        yield i * step, i
    else:
        yield -1, -1


def returning(n):
    while True:
        if n == 0:
            return
        n -= 1
        yield n, n


def pairs(n):
    for pair in enumerate(range(n)):
        yield pair


def delegating(n):
    yield from pairs(n)
    yield from [(i, -i) for i in range(n)]
    if n > 3:
        yield from returning(n)
        return
    yield 0, 0


def with_inner(n):
    def inner(k):
        for i in range(k):
            yield i, i * n

    double = lambda x: 2 * x  # noqa: E731
    for left, right in inner(3):
        yield double(left), right


def trying(n):
    for k in range(n, -1, -1):
        try:
            yield 6 // k, k
        except ZeroDivisionError:
            yield 0, 0
        finally:
            n += 1


def with_cells(low: int, high: int) -> Callable[[int], Any]:
    def between(n):
        for i in range(low, high):
            yield n, i

    return between


class Owner:
    hidden = 5

    def method(self, n):
        # a comment that isn't indented as the code is
        text = """
not indented
"""
        yield len(text), self.hidden
        if n:
            yield n, ROOM


GENERATORS = [
    (straight, (3,)),
    (looping, (5, 2)),
    (looping, (20, 1)),
    (looping, (0, 1)),
    (returning, (4,)),
    (returning, (0,)),
    (pairs, (3,)),
    (delegating, (2,)),
    (delegating, (5,)),
    (with_inner, (4,)),
    (trying, (3,)),
    (with_cells(2, 6), (1,)),
    (Owner.method, (Owner(), 1)),
    (Owner.method, (Owner(), 0)),
]


@pytest.mark.parametrize(("generator", "arguments"), GENERATORS)
def test_a_lister_lists_what_its_generator_yields(generator, arguments):
    expected = list(generator(*arguments))
    own = rewritten(generator, TO_LIST)
    assert own is not None
    assert generator.__code__.co_flags & 0x20
    assert not own.__code__.co_flags & 0x20  # no generator itself
    for lister in (own, running(generator, TO_LIST)):
        assert listed(lister, *arguments) == (expected, len(expected))


def expression(n):
    got = yield n, 0
    yield got, 1


def bare(n):
    yield


def inside(n):
    print((yield n, 0))


def handing_on(n):
    x = yield from pairs(n)
    yield x, 0


def any_number(*n):
    yield n, 0


def same_names(sink_):
    yield sink_, 0


def same_names_inside(n):
    yield (lambda: count_)(), n  # noqa: F821


def no_generator(n):
    return [(n, 0)]


@functools.wraps(straight)
def wrapping(n):
    yield from straight(n + 1)


def without_a_file() -> Callable[..., Any]:
    scope: dict[str, Any] = {}
    exec("def unwritten(n):\n    yield n, 0", scope)
    return scope["unwritten"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "generator",
    [
        expression,
        bare,
        inside,
        handing_on,
        any_number,
        same_names,
        same_names_inside,
        no_generator,
        wrapping,
        without_a_file(),
    ],
)
def test_what_is_not_rewritten(generator):
    assert rewritten(generator, TO_LIST) is None


@pytest.mark.parametrize("cls", available().values(), ids=list(available()))
def test_the_rules_of_all_games_are_rewritten(cls):
    """Or they would be explored more slowly, and nobody would see why."""
    for name in ("actions", "outcomes"):
        generator = getattr(cls, name)
        if listers.inspect.isgeneratorfunction(generator):
            assert rewritten(generator, TO_LIST) is not None


# ---- patterns of tuples


def by_parts(numbers):
    match numbers:
        case (0, 1 | 2, n) if n > 1:
            return n
        case [n, m, _] if n == m:
            return 10 + n
        case (1 as one, *_, n):
            return 20 + one + n
        case (_, _, _) as whole:
            return 30 + whole[0]


def by_display(numbers):
    first, found = numbers[0], -1
    match first, numbers[1:]:
        case 0, (n, 0):
            found = n
        case 1 | 2, (_, (0 | 3)):
            found += 5
        case (_, _, _):
            found = 99
        case first, rest:
            found = first + rest[0]
    return found, first


def by_nested(numbers):
    match (numbers, numbers[0] + numbers[1]), numbers[2]:
        case ((0, *_), total), last if total > last:
            return total
        case ((*_, 2, _) | (3, *_), 3 | 4), _:
            return -1
        case (cells, total), 0:
            return total + len(cells)
    return -2


def by_few(numbers):
    match numbers[: numbers[0]]:
        case []:
            return 0
        case [n]:
            return n + 1
        case [n, *_]:
            return n + 2


class Spot(NamedTuple):
    x: int
    y: int
    z: int = 1


def by_fields(numbers):
    spot = Spot(*numbers)
    match spot:
        case Spot(0, 1 | 2):
            return spot.z
        case Spot(x, z=z) if x > z:
            return 10 + x
        case Spot(x=2) | Spot(y=3):
            return 20
        case Spot():
            return 30


@pytest.mark.parametrize("function", [by_parts, by_display, by_nested, by_few, by_fields])
def test_patterns_of_tuples_are_conditions(function):
    translation = translated(function, {}, {}, is_rule=False)
    assert translation.code is not function.__code__
    words = {"sliced_": lambda numbers, begin, end: numbers[begin:end]}
    words |= {"len": len, "made_Spot": Spot}
    copy = renamed(function, "", words, None, translation)
    for numbers in itertools.product(range(4), repeat=3):
        assert copy(numbers) == function(numbers)


def read_later(numbers):
    n = 7
    match numbers:
        case (0, n) if n > 2:
            return n
    return n


def with_a_list(numbers):
    match numbers:
        case (_, *rest):
            return rest


def of_a_number(numbers):
    match numbers:
        case (int(), _):
            return 1


def of_a_name(numbers):
    match numbers:
        case (None, _):
            return 1


@pytest.mark.parametrize("function", [read_later, with_a_list, of_a_number, of_a_name])
def test_other_patterns_are_left_to_python(function):
    """A guard that fails leaves its names with their values."""
    assert translated(function, {}, {}, is_rule=False).code is function.__code__
    assert read_later((0, 1)) == 1
