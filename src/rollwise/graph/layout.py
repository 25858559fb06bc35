"""The layout of states and throws, tuples in the rules, as arrays of whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum, IntFlag
from functools import cache, cached_property, lru_cache, partial
from itertools import combinations
from operator import itemgetter
from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rollwise.faults import whole
from rollwise.graph.naming import TRUTHS, SetWords, Words
from rollwise.reach import attributes_given, functions_reached

LEAST, MOST = -(2**31), 2**31 - 1
MOST_NUMBERS = 16  # of a throw
MOST_FLAGS = 6  # of an IntFlag of which each set of several has a word
MOST_MEMBERS = 31  # of a set in a field: from 0 to 30
JOINED = "|"  # between the flags of a set, as Python writes them


@dataclass(frozen=True)
class StateLayout:
    """The columns of a state: one for each whole number used by the game.

    Attributes
    ----------
    kind : type
        The NamedTuple.
    sizes : tuple
        Of each field: None for a whole number, or the length of a tuple of them.
    unused : tuple
        Of each field: None, or its constant number if it isn't a column.
    columns : tuple of str
        The names of the columns: ``rival``, or ``board.0`` and ``board.1``.
    """

    kind: Any
    sizes: tuple[int | None, ...]
    unused: tuple[int | None, ...]
    columns: tuple[str, ...]

    @classmethod
    def of(cls, game: Any, start: Any = None) -> StateLayout:
        """The layout of a game's states, without a check of their fields.

        Parameters
        ----------
        game : Game
            Or any object with a `start` and, perhaps, `column_names`.
        start : NamedTuple, optional
            The result of `start`.
        """
        state = game.start() if start is None else start
        called: Mapping[str, str] = getattr(game, "column_names", {})
        sizes = tuple(len(field) if type(field) is tuple else None for field in state)
        names = type(state)._fields
        unused = tuple(
            field if called.get(name) == "" else None
            for name, field in zip(names, state, strict=True)
        )
        layout = cls(type(state), sizes, unused, ())
        columns = [path[1:].replace("[", ".").rstrip("]") for path in layout.paths]
        return replace(layout, columns=tuple(called.get(name, name) for name in columns))

    @cached_property
    def is_flat(self) -> bool:
        """Whether each field is a whole number, and a column."""
        return all(part is None for part in (*self.sizes, *self.unused))

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """How many columns each field has."""
        pairs = zip(self.sizes, self.unused, strict=True)
        return tuple(0 if kept is not None else 1 if size is None else size for size, kept in pairs)

    @cached_property
    def state(self) -> Callable[[Sequence[int]], Any]:
        """Makes a state of its numbers."""
        kind = self.kind
        if self.is_flat:
            return kind._make  # type: ignore[no-any-return]
        takes: list[Callable[[Sequence[int]], Any]] = []
        place = 0
        for size, width, kept in zip(self.sizes, self.widths, self.unused, strict=True):
            if kept is not None:
                takes.append(partial(_given, kept))
            else:
                takes.append(itemgetter(place if size is None else slice(place, place + width)))
            place += width
        return partial(_made, kind, takes)

    def fits(self, state: Any) -> bool:
        """Whether tuples have their lengths, and unused fields their constant number."""
        for field, size, kept in zip(state, self.sizes, self.unused, strict=True):
            if size is not None:
                if type(field) is not tuple or len(field) != size:
                    return False
            elif kept is not None and (type(field) is not int or field != kept):
                return False
        return True

    def numbers(self, state: Any) -> Sequence[Any]:
        """The numbers of a state, in the order of the columns."""
        if self.is_flat:
            return state  # type: ignore[no-any-return]
        found: list[Any] = []
        for field, size, kept in zip(state, self.sizes, self.unused, strict=True):
            if kept is None:
                found += [field] if size is None else field
        return found

    def source(self, number: str) -> str:
        """The arguments of a state, as Python source; ``{}`` in `number` is the column."""
        place, items = 0, []
        for size, width, kept in zip(self.sizes, self.widths, self.unused, strict=True):
            texts = [number.format(place + k) for k in range(width)]
            if kept is not None:
                items.append(f"int64({kept})")
            else:
                items.append(
                    texts[0] if size is None else f"({', '.join(texts)},)" if size else "()"
                )
            place += width
        return ", ".join(items)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """How each column is read from a state, as Python source: ``.rival``, ``.board[1]``."""
        return tuple(
            f".{name}" if size is None else f".{name}[{k}]"
            for name, size, width in zip(self.kind._fields, self.sizes, self.widths, strict=True)
            for k in range(width)
        )


FALSE_TRUE = {word: number for number, word in TRUTHS.items()}
# By field, the numbers of an enumeration by their words, or the words of sets.
Members = Mapping[str, Mapping[str, int] | SetWords]


def member_word(word: str) -> str:
    """A typed member of an enumeration, or several flags, in the form of the keys of `Members`."""
    return JOINED.join(sorted(word.lower().replace("-", "_").split(JOINED)))


def members_of(game: Any) -> Members:
    """The members of the enumerations and sets in the fields of a state, as people may type them.

    Parameters
    ----------
    game : Game
        A derived game has the fields of its inner game too.

    Returns
    -------
    mapping
        By the columns, and by fields that are tuples, the numbers of the members, or the words of
        the sets.
    """
    return {**set_words(game), **_members_of_enumerations(game)}


def _members_of_enumerations(game: Any) -> dict[str, dict[str, int]]:
    """The members of the enumerations and of bool alone, and the words that a form adds."""
    found: dict[str, dict[str, int]] = {}
    for one in {id(each): each for each in (game, game.made_from)}.values():
        state = one.start()
        layout = StateLayout.of(one, state)
        hints = annotations_of(layout.kind)
        words = {}
        for name, field in zip(layout.kind._fields, state, strict=True):
            parts = field if isinstance(field, tuple) else (field,)
            declared = list(_types_in(hints.get(name)))
            kinds = [*declared, *(type(part) for part in parts)]
            truths = FALSE_TRUE if bool in declared and int not in declared else {}
            words[name] = truths | {
                member_word(word): number
                for kind in kinds
                if _is_enumeration(kind)
                for word, number in _words_in(kind)
            }
        for path, column in zip(layout.paths, layout.columns, strict=True):
            field, _, _ = path[1:].partition("[")
            if words[field]:
                found[column] = found[field] = words[field]
        found |= getattr(one, "added_members", {})
    return found


def field_words(game: Any) -> Words:
    """The words of the numbers in fields: of enumerations (see `member_words`), and of sets."""
    kind: Any = type(game.start())
    return _words(game, kind)


@lru_cache(maxsize=8)
def _words(game: Any, kind: Any) -> Words:
    """The words of a game, whose class of states may have been defined again."""
    return {**set_words(game), **_member_words(game, kind)}


def member_words(game: Any) -> Words:
    """The words of the numbers in fields that are enumerations: the reverse of `members_of`."""
    kind: Any = type(game.start())
    return _member_words(game, kind)


@lru_cache(maxsize=8)
def _member_words(game: Any, kind: Any) -> Words:
    return {
        field: {number: word for word, number in words.items()}
        for field, words in _members_of_enumerations(game).items()
    }


def set_words(game: Any) -> dict[str, SetWords]:
    """The words of the fields that rules give to `rollwise.bits`, by column."""
    found = {}
    for one in {id(each): each for each in (game, game.made_from)}.values():
        sets = fields_of_sets(one)
        columns = StateLayout.of(one).columns if sets else ()
        for column in sets.intersection(columns):
            texts = (_member_text(one, column, k) for k in range(MOST_MEMBERS))
            found[column] = SetWords(texts)
    return found


def _member_text(game: Any, column: str, k: int) -> str:
    """The name of a member of a set: the meaning of the set with it alone."""
    text = ""
    with suppress(Exception):  # `rollwise check` reports a faulty `field_text`
        text = game.field_text(column, 1 << k)
    fits = isinstance(text, str) and not set(text) & set("{},")
    return " ".join(text.split()) if fits and text.split() else str(k)


def fields_of_sets(game: Any) -> frozenset[str]:
    """The attributes given to `rollwise.bits` by the rules of a game."""
    kind: Any = type(game)
    return _sets_of(kind)


@cache
def _sets_of(game: Any) -> frozenset[str]:
    functions = functions_reached([game], game)
    return frozenset(attributes_given(functions, "rollwise.bits"))


@lru_cache
def annotations_of(kind: type) -> dict[str, Any]:
    """The types of the fields of a state; none where the annotations can't be read."""
    with suppress(Exception):  # they are the author's code
        return get_type_hints(kind)
    return {}


def _types_in(hint: Any) -> Iterator[Any]:
    """The types in an annotation, those within a tuple too."""
    yield hint
    for part in get_args(hint):
        yield from _types_in(part)


def _is_enumeration(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, IntEnum | IntFlag)


def _words_in(kind: Any) -> Iterator[tuple[str, int]]:
    """The words of an enumeration's numbers; of flags also those of sets: ``red|blue``."""
    if issubclass(kind, IntEnum):
        yield from ((member.name, int(member)) for member in kind)
        return
    yield from ((name, int(member)) for name, member in kind.__members__.items())
    flags = list(kind)
    for size in range(2, len(flags) + 1) if len(flags) <= MOST_FLAGS else ():
        for several in combinations(flags, size):
            yield JOINED.join(flag.name for flag in several), sum(several)


def _made(kind: Any, takes: Sequence[Callable[[Sequence[int]], Any]], numbers: Any) -> Any:
    """A state by functions that take its fields out of the numbers."""
    given = tuple(numbers)
    return kind._make([take(given) for take in takes])


def _given(number: int, _: Any) -> int:
    """A constant number without a column."""
    return number


@dataclass(frozen=True)
class ThrowLayout:
    """A throw as one whole number of 64 bits, its code, with its numbers side by side.

    Attributes
    ----------
    size : int or None
        The length of the tuple; None for a throw that is a whole number.
    counts_rolls : bool
        The last number of a throw is the number of rolls left, for rules that read it.
    """

    size: int | None
    counts_rolls: bool = False

    @property
    def width(self) -> int:
        """How many numbers a throw has."""
        return 1 if self.size is None else self.size

    @property
    def bits(self) -> int:
        """The bits of each number."""
        return min(32, 64 // self.width)

    @property
    def columns(self) -> tuple[str, ...]:
        """``throw``, or ``throw.0`` and so on."""
        return ("throw",) if self.size is None else tuple(f"throw.{k}" for k in range(self.size))

    def numbers(self, throw: Any) -> tuple[int, ...]:
        """The numbers of a throw.

        Raises
        ------
        TypeError, ValueError
            It isn't like the first one, or a number doesn't fit.
        """
        parts = (throw,) if self.size is None else tuple(throw)
        found = tuple(whole(part) for part in parts)
        most = 1 << (self.bits - 1)
        if len(found) != self.width or not all(-most <= number < most for number in found):
            raise ValueError
        return found

    def code(self, throw: Any) -> int:
        """The code of a throw (see `numbers`)."""
        code, mask = 0, (1 << self.bits) - 1
        for k, number in enumerate(self.numbers(throw)):
            code |= (number & mask) << (k * self.bits)
        # As a signed number of 64 bits.
        return code - (1 << 64) if code >> 63 else code

    def rows(self, codes: NDArray[np.int64]) -> NDArray[np.int32]:
        """The numbers of throws: (n, width) int32."""
        # Each number is shifted to the upper end and back, which fills in its sign.
        left = 64 - self.bits
        shifts = left - np.arange(self.width) * self.bits
        return ((codes[:, None] << shifts) >> left).astype(np.int32)

    def throw(self, numbers: Sequence[int]) -> Any:
        """The throw of its numbers, as rules see it."""
        return numbers[0] if self.size is None else tuple(numbers)

    def arguments(self, throw: Any) -> tuple[Any, ...]:
        """The arguments of rules for a throw: itself, or its faces and the rolls left."""
        return (throw[:-1], throw[-1]) if self.counts_rolls else (throw,)

    def source(self, number: str) -> str:
        """The arguments of rules for a throw, as Python source; ``{}`` in `number` is its index."""
        numbers = [number.format(k) for k in range(self.width)]
        if self.size is None:
            return numbers[0]
        more = numbers[-1:] if self.counts_rolls else []
        return ", ".join([f"({', '.join(numbers[: self.size - len(more)])},)", *more])

    def number_in(self, code: str) -> str:
        """A number of the throw of a code, as Python source; ``{}`` is its index."""
        left = 64 - self.bits
        return f"(({code} << ({left} - {{}} * {self.bits})) >> {left})"
