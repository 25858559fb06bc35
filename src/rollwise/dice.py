"""Dice inside rules: possible results and their numbers of equally likely ways.

Each helper yields ``(weight, result)`` with whole-number weights. The weights add up
to ``sides ** n``. The helpers work in interpreted and in compiled rules alike::

    for ways, total in dice.total(2, 6):
        yield ways, PASS, State(s.points + total)

The weights must fit 63 bits, true for 20 dice or fewer; larger ones raise a ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, wraps
from inspect import signature
from itertools import combinations
from math import comb, gcd, lcm, prod
from operator import index
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rollwise.game import spoken as spoken
from rollwise.then import interpreted_as, rule

Helper = TypeVar("Helper", bound=Callable[..., Iterator[tuple[int, Any]]])

# Cache for interpreted rules: number of lists, and largest number of results in a list.
MOST_LISTS, MOST_RESULTS = 64, 10_000

MOST_POOLED = 10  # dice of a pool
MOST_WEIGHT = 1_000  # of all faces of a die, in units


def _number_of(sides: Any) -> int:
    if isinstance(sides, Sequence):
        raise TypeError(
            "this takes the number of sides; loop over the faces of a die, as in `for face in "
            "die`; dice.sums(die, die) adds dice, and dice.pool(n, die) takes one"
        )
    return index(sides)


@rule
def _require(n: int, sides: int) -> None:
    if n < 0 or sides < 1:
        raise ValueError("dice need n >= 0 and sides >= 1")
    ways = 1
    for _ in range(n):
        if ways > (1 << 62) // sides:
            raise ValueError("too many dice: their ways don't fit 63 bits")
        ways *= sides


@rule
def _choose(n: int, k: int) -> int:
    ways = 1
    for i in range(1, k + 1):
        # ways * (n - k + i) / i, which is whole, without a product that overflows
        ways = ways // i * (n - k + i) + ways % i * (n - k + i) // i
    return ways


def _remembered(
    how_many: Callable[[int, int], int], fresh: Callable[[Any], Any] | None = None
) -> Callable[[Helper], Helper]:
    """Let interpreted rules read the results of a helper from a list; compiled rules run its code.

    Parameters
    ----------
    how_many : callable
        Number of results of the helper, as a function of dice and sides. Long lists aren't kept.
    fresh : callable, optional
        Copies a mutable result.
    """

    def decorate(function: Helper) -> Helper:
        @lru_cache(MOST_LISTS)
        def results(n: int, sides: int, *more: int) -> list[tuple[int, Any]]:
            yielded = function(n, sides, *more)
            if fresh is None:
                return list(yielded)
            return [(ways, fresh(fallen)) for ways, fallen in yielded]

        takes = signature(function)

        @wraps(function)
        def helper(n: int, sides: int, *more: int, **named: int) -> Iterator[tuple[int, Any]]:
            n, sides = index(n), _number_of(sides)
            if named:
                more = takes.bind(n, sides, *more, **named).args[2:]
            if not 0 <= n < 63 or sides < 1 or how_many(n, sides) > MOST_RESULTS:
                yield from function(n, sides, *more)
            elif fresh is None:
                yield from results(n, sides, *more)
            else:
                for ways, fallen in results(n, sides, *more):
                    yield ways, fresh(fallen)

        interpreted_as(function, helper)
        return helper  # type: ignore[return-value]

    return decorate


def _one(sides: int) -> Iterator[tuple[int, int]]:
    _require(1, sides)
    for face in range(1, sides + 1):
        yield 1, face


def one(sides: int) -> Iterator[tuple[int, int]]:
    """Yield ``(1, face)`` for each face, 1 to `sides`, of one die."""
    return _one(_number_of(sides))


interpreted_as(_one, one)


@_remembered(lambda n, sides: n * (sides - 1) + 1)
def total(n: int, sides: int) -> Iterator[tuple[int, int]]:
    """Yield ``(ways, sum)`` for the sum of `n` dice, smallest first.

    The ways are counted die by die: the ways to a sum with one more die are the total of the
    `sides` counts below it.
    """
    _require(n, sides)
    ways = np.zeros(n * sides + 1, np.int64)
    ways[0] = 1
    for die in range(1, n + 1):
        for points in range(die * sides, -1, -1):
            count = 0
            for face in range(1, min(sides, points) + 1):
                count += ways[points - face]
            ways[points] = count
    for points in range(n, n * sides + 1):
        yield int(ways[points]), points


@_remembered(lambda n, sides: comb(n + sides - 1, n), np.ndarray.copy)
def counts(n: int, sides: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield ``(ways, counts)``, an array of how often each face shows on `n` dice.

    ``counts[face]`` is the number of dice with this `face`, 1 to `sides`
    (``counts[0]`` is 0). The ways are the multinomial n! / prod(counts!). Copy the array
    to keep it: compiled rules reuse one array.
    """
    _require(n, sides)
    shown = np.zeros(sides + 1, np.int64)
    given = shown.copy()  # one for all: Numba never frees what a generator yields
    shown[1] = n
    while True:
        ways = 1
        left = n
        for face in range(1, sides + 1):
            ways *= _choose(left, int(shown[face]))
            left -= int(shown[face])
        for face in range(sides + 1):  # a slice takes Numba seconds to compile
            given[face] = shown[face]
        yield ways, given
        # the next composition of n into `sides` parts (Nijenhuis and Wilf 1978, NEXCOM)
        first = 1
        while first < sides and shown[first] == 0:
            first += 1
        if first == sides:
            return
        moved = shown[first]
        shown[first] = 0
        shown[1] = moved - 1
        shown[first + 1] += 1


@_remembered(lambda n, sides: comb(n + sides - 1, n), np.ndarray.copy)
def faces(n: int, sides: int, of: int = 0) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield ``(ways, faces)``, an array of the faces of `n` dice, ascending: ``[2, 2, 5]``.

    The array can be a throw of `Game.throws`. Ways and order are those of `counts`. Copy the array
    to keep it, as with `counts`.

    All throws of a game have one length. If the number of dice depends on the state, give
    the largest as `of`. Each die left out is a 0 at the end: ``dice.faces(2, 6, of=3)`` has the
    result ``(2, [2, 5, 0])``.
    """
    if 0 < of < n:
        raise ValueError("faces() throws more dice than its argument of says")
    ascending = np.zeros(max(n, of), np.int64)
    for ways, shown in counts(n, sides):
        k = 0
        for face in range(1, sides + 1):
            for _ in range(shown[face]):
                ascending[k] = face
                k += 1
        yield ways, ascending


def _of_its_own(function: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    """Give interpreted rules a new array for each result."""

    @wraps(function)
    def helper(shown: Any) -> Iterator[Any]:
        for part in function(shown):
            yield part.copy()

    interpreted_as(function, helper)
    return helper


@_of_its_own
def parts(shown: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield all selections of some dice, from no die to all of them.

    Parameters
    ----------
    shown : (sides + 1,) int64
        How often each face shows, as `counts` gives it.

    Yields
    ------
    (sides + 1,) int64
        How often each face is selected. The counts of the last face change slowest. Copy the
        array to keep it, as with `counts`.
    """
    aside = np.zeros(len(shown), np.int64)
    given = aside.copy()
    while True:
        for k in range(len(shown)):  # as in `counts`
            given[k] = aside[k]
        yield given
        face = 0
        while face < len(shown) and aside[face] == shown[face]:
            aside[face] = 0
            face += 1
        if face == len(shown):
            return
        aside[face] += 1


@rule
def how_often(thrown: Any, face: int) -> int:
    """Number of dice with this face in a throw, a tuple or an array."""
    number = 0
    for shown in thrown:
        if shown == face:
            number += 1
    return number


@rule
def most_alike(thrown: Any) -> int:
    """Largest number of dice with equal faces in a throw; 0 for an empty throw."""
    most = 0
    for face in thrown:
        most = max(most, how_often(thrown, face))
    return most


@rule
def longest_run(thrown: Any) -> int:
    """Length of the longest run of faces in a throw: 3 for 1 3 4 4 5. Faces are 1 to 61."""
    shown, longest = 0, 0
    for face in thrown:
        if face < 1 or face > 61:
            raise ValueError("a run is looked for among the faces 1 to 61")
        shown |= 1 << face
    while shown > 0:
        shown &= shown >> 1
        longest += 1
    return longest


@rule
def code(shown: NDArray[np.int64]) -> int:
    """Counts of faces as one whole number, four bits each: for the number of an action.

    Raises
    ------
    ValueError
        There are more than 7 faces, or more than 15 dice of one: an action has 31 bits.
    """
    number = 0
    for face in range(1, len(shown)):
        if shown[face] < 0 or shown[face] > 15 or face > 7 or (face > 6 and shown[face] > 7):
            raise ValueError("a code has room for 15 dice of each of 7 faces")
        number |= int(shown[face]) << (4 * (face - 1))
    return number


@rule
def of_code(found: int, face: int) -> int:
    """How often a face shows by a `code`."""
    return (found >> (4 * (face - 1))) & 15


def die(*faces: int, weights: Sequence[int | float | Fraction] = ()) -> tuple[int, ...]:
    """A die as the tuple of its equally likely faces; a face with a weight stands there so often.

    ``die(1, 2, 3, 4, 5, 6, weights=(1, 1, 1, 1, 1, 3))`` is ``(1, 2, 3, 4, 5, 6, 6, 6)``. Call it
    outside of rules and loop over the tuple in them: ``for face in LOADED: yield 1, ...``. For
    different dice in one throw write a loop for each. `sums` adds them, and `pool` takes a die.

    Parameters
    ----------
    *faces : int
    weights : sequence of number, optional
        A weight of at least 0 for each face; a float stands for its decimal digits. Together they
        are at most 1,000 times the smallest unit.

    Raises
    ------
    ValueError
        There is no face, or a weight is missing, negative or no number.
    """
    if not faces or not all(isinstance(face, int) for face in faces):
        raise ValueError("a die has at least one face, and its faces are whole numbers")
    if not weights:
        return tuple(faces)
    try:
        exact = [Fraction(str(w) if isinstance(w, float) else w) for w in weights]
    except (TypeError, ValueError):
        exact = [Fraction(-1)]
    if len(exact) != len(faces) or min(exact) < 0 or not any(exact):
        raise ValueError(
            f"a die of {len(faces)} faces has as many weights, numbers from 0 and not all 0"
        )
    unit = lcm(*(weight.denominator for weight in exact))
    times = [int(weight * unit) for weight in exact]
    times = [number // gcd(*times) for number in times]
    if sum(times) > MOST_WEIGHT:
        raise ValueError(f"the weights of a die add up to at most {MOST_WEIGHT:,} units")
    return tuple(face for face, number in zip(faces, times, strict=True) for _ in range(number))


def d(sides: int) -> tuple[int, ...]:
    """A fair die with the faces 1 to `sides`, as `die` gives it."""
    _require(1, sides)
    return tuple(range(1, sides + 1))


def sums(*dice: Sequence[int] | int) -> tuple[tuple[int, int], ...]:
    """The pairs ``(ways, sum)`` of different dice thrown together, smallest sum first.

    A number is a fair die with so many sides. Call it outside of rules, as in
    ``TWO = dice.sums(dice.d(6), dice.d(8))``, and loop over it in them: ``for ways, total in TWO``.
    """
    ways = {0: 1}
    for faces in dice:
        added: dict[int, int] = {}
        for total, number in ways.items():
            for face in d(faces) if isinstance(faces, int) else faces:
                added[total + face] = added.get(total + face, 0) + number
        ways = added
    return tuple((ways[total], total) for total in sorted(ways))


@dataclass(frozen=True)
class Pool:
    """A turn with rerolls: dice are thrown, some are kept, and the others are thrown again.

    Attributes
    ----------
    n : int
        Number of dice.
    sides : int or tuple of int
        Sides of each die, or its equally likely faces (`die`).
    rerolls : int
        Largest number of further throws after the first. The turn ends early if all dice are kept.
    """

    n: int
    sides: int | tuple[int, ...]
    rerolls: int

    def __post_init__(self) -> None:
        n, rerolls = self.n, self.rerolls
        whole = isinstance(self.sides, int) or all(isinstance(face, int) for face in self.sides)
        if not (isinstance(n, int) and whole and isinstance(rerolls, int)):
            raise TypeError(
                "a pool has a whole number of equal dice, of sides and of rerolls, as in "
                "pool(5, 6, rerolls=2); for different dice write each throw as a move, with the "
                "dice in fields"
            )
        if not (1 <= n <= MOST_POOLED and len(self.faces) >= 2 and rerolls >= 0):
            raise ValueError(
                f"a pool has 1 to {MOST_POOLED} dice of at least 2 sides, and rerolls from 0"
            )
        if self.faces[0] < 1:
            raise ValueError("the faces of a pool's dice are numbers from 1; 0 is a die not thrown")
        if (self.faces[-1] + 1) ** n > 1 << 30 or len(self.die) ** n > 1 << 62:
            raise ValueError(f"a pool of {n} dice of {self.faces[-1]} sides is too large")

    def __iter__(self) -> Iterator[Pool]:
        """Itself: `Game.throws` may return a pool, yield it or yield from it."""
        yield self

    @cached_property
    def die(self) -> tuple[int, ...]:
        """The equally likely faces of a die, ascending."""
        return d(self.sides) if isinstance(self.sides, int) else tuple(sorted(self.sides))

    @cached_property
    def faces(self) -> tuple[int, ...]:
        """The different faces, ascending."""
        return tuple(sorted(set(self.die)))

    def _fallen(self, n: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The throws of n dice with their ways, in the order of `faces`."""
        weight = [self.die.count(face) for face in self.faces]
        for ways, shown in counts(n, len(self.faces)):
            often = shown[1:].tolist()
            factor = prod(w**k for w, k in zip(weight, often, strict=True))
            thrown = (face for face, k in zip(self.faces, often, strict=True) for _ in range(k))
            yield ways * factor, tuple(thrown)

    @cached_property
    def throws(self) -> list[tuple[int, tuple[int, ...]]]:
        """Each throw of all dice with its ways, as `faces` yields them."""
        return list(self._fallen(self.n))

    @cached_property
    def keeps(self) -> list[tuple[int, ...]]:
        """Every selection that leaves dice to throw: faces ascending, the empty tuple first."""
        return [shown for m in range(self.n) for _, shown in self._fallen(m)]

    @property
    def n_states(self) -> int:
        """Number of graph states of a turn: one for each throw and for each selection."""
        sides = len(self.faces)
        n, m = comb(self.n + sides - 1, self.n), comb(self.n + sides - 1, self.n - 1)
        return n + self.rerolls * (n + m)

    def after(self, kept: tuple[int, ...]) -> list[tuple[int, tuple[int, ...]]]:
        """Each throw possible after keeping these dice, with its ways."""
        return [
            (ways, tuple(sorted((*kept, *shown))))
            for ways, shown in self._fallen(self.n - len(kept))
        ]

    def kept_from(self, throw: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Every selection from a throw: all dice first, then ever fewer, no dice last."""
        selections = {part for m in range(self.n + 1) for part in combinations(throw, m)}
        return sorted(selections, key=lambda part: (-len(part), part))

    def code(self, kept: Sequence[int]) -> int:
        """The kept dice as one number: faces as digits in base largest face + 1, ascending."""
        number = 0
        for face in sorted(kept):
            number = number * (self.faces[-1] + 1) + face
        return number


def pool(n: int, sides: int | Sequence[int] = 6, rerolls: int = 2) -> Pool:
    """A turn of dice with rerolls, for `Game.throws`: as in Yahtzee, ``pool(5)``.

    All dice are thrown. Then, up to `rerolls` times, the mover keeps some of them and throws the
    others again. `Game.actions`, `Game.outcomes` and `Game.reward` receive the final throw: the
    faces, ascending. If they take `rolls_left` after the throw, they receive each throw, and an
    action ends the turn early. The pool is the same in every state of a game; its rerolls may
    differ if rules take `rolls_left`.

    Parameters
    ----------
    n : int
        Number of dice, at most 10.
    sides : int, or a die
        Sides of each die, or the die itself: ``pool(5, dice.die(1, 2, 3, weights=(1, 1, 2)))``.
    rerolls : int

    Raises
    ------
    TypeError, ValueError
    """
    try:
        made = tuple(map(index, sides)) if isinstance(sides, Sequence) else index(sides)
        return Pool(index(n), made, index(rerolls))
    except TypeError:
        return Pool(n, sides, rerolls)  # type: ignore[arg-type]  # raises an error with the valid types


def _rerolls(n: int, sides: Any = 6, rerolls: int = 2) -> int:
    """The part of a pool that may depend on the state, for compiled rules."""
    return rerolls


interpreted_as(_rerolls, pool)


def place_in_counts(faces: Sequence[int], sides: int) -> int:
    """The index, from 0, of these faces in the order of `counts`. For `Game.fallen`.

    `counts` yields colexicographic order. Let f be the last face in which an earlier result
    differs from this one, r the number of dice with face f or less, and q the number with less
    than f. The number of such results is C(r + f - 1, f - 1) - C(q + f - 1, f - 1).

    Raises
    ------
    ValueError
        The dice have no such face.
    """
    if wrong := [face for face in faces if face not in range(1, sides + 1)]:
        raise ValueError(f"the faces of {sides}-sided dice are 1 to {sides}, not {wrong[0]}")
    below, index_in_order = list(faces).count(1), 0
    for face in range(2, sides + 1):
        upto = below + list(faces).count(face)
        index_in_order += comb(upto + face - 1, face - 1) - comb(below + face - 1, face - 1)
        below = upto
    return index_in_order
