"""The names of games, states and actions, and the action of a typed text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError, suggestion
from rollwise.parameters import typed

if TYPE_CHECKING:
    import polars as pl


THROW = -1  # the number of the action that throws, in a game with throws
LARGEST_SET = 62  # the members of `rollwise.bits` are below it
NO_THROW = -(2**31)  # in the columns of a throw, in a position before it
KEEP = 2**30  # the least number of an action that keeps dice of a pool; the code is added
ROLLS_LEFT = "rolls_left"  # the last column of a throw of a pool
# Columns of the strategy table and of policies, which are forbidden names of fields. In games with
# throws the columns of a throw are forbidden too.
RESERVED = (
    *("action", "probability", "value", "win_probability", "error_bound", "deviation_gain", "seat"),
    *("value_exact", "win_probability_exact", "relative_residual", "standard_error", "own_error"),
    *("inherited_error", "true_value", "true_bound", "true_error", "cube_action"),
)
OF_THROWS = ("throw", ROLLS_LEFT)
OF_SEATS = ("win_probability", "payoff")  # ``payoff.0`` and so on, with three players or more
ONLY_MOVE = "the only move"  # the name of action 0 without a name, where there is no choice


TRUTHS = {0: "false", 1: "true"}  # the words of a field that is declared as a bool
Words = Mapping[str, Mapping[int, str]]  # of numbers in fields, by the name of the field


def reserved_names(players: int, *, has_throws: bool) -> tuple[str, ...]:
    """The columns of tables and policies of a game, which are forbidden names of its fields."""
    seats = range(players if players > 2 else 0)
    return (
        *RESERVED,
        *(OF_THROWS if has_throws else ()),
        *(f"{word}.{seat}" for word in OF_SEATS for seat in seats),
    )


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, with as many ``_`` behind it as make it differ from all taken names."""
    while name in taken:
        name += "_"
    return name


class SetWords(dict[int, str]):
    """The words of the numbers in a field of sets (`rollwise.bits`): ``{1 4 9}`` for 530.

    Attributes
    ----------
    names : tuple of str
        The names of the members 0, 1, 2, ...: mostly their numbers.
    """

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__()
        self.names = tuple(names)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.names,)

    def get(self, number: Any, default: Any = None) -> Any:
        """The members of a set; the default for a number that is no set."""
        if not isinstance(number, int | np.integer) or not 0 <= number < 1 << len(self.names):
            return default
        number = int(number)
        inside = [name for k, name in enumerate(self.names) if number >> k & 1]
        return f"{{{self.separator.join(inside)}}}"

    @cached_property
    def separator(self) -> str:
        """The text between two members: names of several words need a comma."""
        return ", " if any(" " in name for name in self.names) else " "

    def number(self, text: str) -> int | None:
        """The set of typed members, ``1 4 9`` or ``1, 4, 9``; None where one is no member."""
        return set_number(text, self._members)

    @cached_property
    def _members(self) -> dict[str, int]:
        return {_squeezed(name): k for k, name in enumerate(self.names)}


def _squeezed(name: str) -> str:
    return "".join(name.split()).casefold()


def set_number(text: str, members: Mapping[str, int] | None = None) -> int | None:
    """The number of a set with these members, typed with commas or spaces between.

    Parameters
    ----------
    members : mapping, optional
        Members by their names, in small letters and without spaces. Others are numbers.

    Returns
    -------
    int or None
        None where something isn't a member.
    """
    known, found = members or {}, 0
    # a name may have several words; the digits of two numbers are no name
    for part in text.casefold().split(","):
        is_name = _squeezed(part) in known and not _squeezed(part).isdecimal()
        for word in [_squeezed(part)] if is_name else part.split():
            member = known.get(word, int(word) if word.isdecimal() else -1)
            if not 0 <= member < LARGEST_SET:
                return None
            found |= 1 << member
    return found


def acting(name: str) -> str:
    """An action in a sentence, by its name: "the action roll", or "the only move"."""
    return name if name == ONLY_MOVE else f"the action {name}"


def title_of(game: str, parameters: Mapping[str, Any]) -> str:
    """A game with its parameters, as typed on the command line."""
    return " ".join([game, *(f"{name}={typed(value)}" for name, value in parameters.items())])


class Member(int):
    """A number of a field, printed as the member of an enumeration, or as true or false."""

    word: str

    def __new__(cls, number: int, word: str) -> Member:
        made = super().__new__(cls, number)
        made.word = word
        return made

    def __getnewargs__(self) -> tuple[int, str]:  # type: ignore[override]
        return int(self), self.word

    def __repr__(self) -> str:
        return self.word

    def tolist(self) -> int | bool:
        """The number, as of a number of NumPy; or a truth value."""
        return bool(self) if TRUTHS.get(int(self)) == self.word else int(self)


def in_fields(names: Iterable[str], fields: Iterable[Any], words: Words) -> dict[str, Any]:
    """Fields by name, with members of enumerations as such.

    Parameters
    ----------
    words : mapping
        See `rollwise.graph.layout.field_words`.
    """

    def named(name: str, field: Any) -> Any:
        if isinstance(field, tuple):
            return tuple(named(name, part) for part in field)
        word = words[name].get(field)
        return field if word is None else Member(field, word)

    pairs = zip(names, fields, strict=True)
    return {name: named(name, field) if name in words else field for name, field in pairs}


def field_label(name: str) -> str:
    """A field in a sentence or on a board: ``next lit`` of next_lit, and ``mine 2`` of mine.1."""
    whole, dot, part = name.rpartition(".")
    counted = f"{whole} {int(part) + 1}" if dot and part.isdecimal() else name
    return counted.replace("_", " ")


def faces_thrown(faces: Sequence[int]) -> Sequence[int]:
    """The faces of a throw without the zeros at its end, which stand for dice left unthrown."""
    n = len(faces)
    while n > 1 and faces[n - 1] == 0 and any(faces):
        n -= 1
    return faces[:n]


def state_text(fields: Mapping[str, Any]) -> str:
    """A state in words: ``banked=0, rival=0, turn=5``, or ``board=(0, 2, 1), rival=0``."""
    found: dict[str, Any] = {}  # the fields of a tuple (``board.0``, ``board.1``) as one
    for name, given in fields.items():
        field = +given if isinstance(given, bool) else given
        whole, dot, _ = name.rpartition(".")
        if dot:
            found[whole] = (*found.get(whole, ()), field)
        else:
            found[name] = field
    return ", ".join(f"{name}={field}" for name, field in found.items())


MOST_SHOWN = 24
_NUMBER = re.compile(r"[+-]?[0-9]+")


def listed(texts: Sequence[str]) -> str:
    """Texts with commas between, but not too many of them."""
    more = f" and {len(texts) - MOST_SHOWN} more" if len(texts) > MOST_SHOWN else ""
    return ", ".join(texts[:MOST_SHOWN]) + more


class Vocabulary:
    """The actions of a game in words.

    Parameters
    ----------
    labels : sequence of int
        The actions' numbers in the rules, each once.
    names : mapping
        The names of labels that have one.
    """

    def __init__(self, labels: Sequence[int], names: Mapping[int, str]) -> None:
        self.labels = tuple(labels)
        self.names = {label: name for label, name in names.items() if name.strip()}
        if not {*self.labels} - {0, THROW}:
            self.names.setdefault(0, ONLY_MOVE)
        if THROW in self.labels:
            self.names[THROW] = "throw"

    def text(self, label: int) -> str:
        """The name of an action, or its number in words."""
        return self.names.get(label, str(label))

    @cached_property
    def all_texts(self) -> tuple[str, ...]:
        """The texts of the actions, each once, in the order of their numbers."""
        return tuple(dict.fromkeys(map(self.text, self.labels)))

    @cached_property
    def menus_are_numbered(self) -> bool:
        """Whether a typed number is a place in the menu."""
        named = all(label in self.names for label in self.labels)
        return named and not any(_NUMBER.match(_plain(text)) for text in self.all_texts)

    @cached_property
    def _names_numbers(self) -> bool:
        return any(_NUMBER.fullmatch(_plain(self.names.get(label, ""))) for label in self.labels)

    @cached_property
    def _called(self) -> dict[str, list[int]]:
        called: dict[str, list[int]] = {}
        for label in self.labels:
            called.setdefault(self.text(label), []).append(label)
        return called

    def texts(self, labels: Sequence[int]) -> list[str]:
        """The texts of the actions of one state.

        Actions of one name have their numbers as well: ``left [2]``.
        """
        if list(labels) == [0]:
            return [self.names.get(0, ONLY_MOVE)]
        texts = [self.text(label) for label in labels]
        plain = [_plain(text) for text in texts]
        return [
            text if plain.count(name) == 1 else f"{text} [{label}]"
            for text, name, label in zip(texts, plain, labels, strict=True)
        ]

    def column(self, labels: NDArray[Any]) -> pl.Series:
        """The texts of many actions, as a column ``action``.

        Parameters
        ----------
        labels : (n,) int
            The actions' numbers.
        """
        import polars as pl

        known = np.unique(labels)
        texts = pl.Series("action", [self.text(label) for label in known.tolist()], pl.String)
        return texts.gather(np.searchsorted(known, labels))

    def meaning(self, action: Any) -> Sequence[int]:
        """The possible actions for a text or a number in data: mostly one, or none."""
        if not isinstance(action, str):
            try:
                return (index(action),)
            except TypeError:
                return ()
        text = action.strip()
        if text in self._called:
            return self._called[text]
        if text == ONLY_MOVE:
            return (0,)
        if _NUMBER.fullmatch(text) and not self._names_numbers:
            return (int(text),)
        return [label for label in self.labels if f"{self.text(label)} [{label}]" == text]

    def find(self, labels: Sequence[int], action: Any) -> int:
        """The action of a state for a text or a number in data, as its index in the state.

        Raises
        ------
        UsageError
            None of them, or more than one; the message lists the actions.
        """
        meant = self.meaning(action)
        hits = [place for place, label in enumerate(labels) if label in meant]
        if len(hits) == 1:
            return hits[0]
        raise self._refusal(labels, action, bool(hits))

    def find_typed(self, labels: Sequence[int], typed: str, *, in_menu: bool = False) -> int:
        """The action of a state for a text typed in play, as its index in the state.

        Parameters
        ----------
        in_menu : bool
            The actions stand in a menu before the player, numbered if `menus_are_numbered`.

        Raises
        ------
        UsageError
            None of them, or more than one; the message lists the actions.
        """
        text = _plain(typed)
        if in_menu and self.menus_are_numbered and re.fullmatch("[0-9]+", text):
            if 1 <= int(text) <= len(labels):
                return int(text) - 1
            raise self._refusal(labels, typed, several=False)
        texts = [_plain(known) for known in self.texts(labels)]
        hits = [place for place, known in enumerate(texts) if known == text]
        # A whole name comes before the beginning of another one, and that before the rest of a name
        # after its first word: "6 6" means "keep 6 6".
        hits = hits or [place for place, known in enumerate(texts) if _begins(known, text)]
        hits = hits or [k for k, known in enumerate(texts) if text and _rest(known) == text]
        hits = hits or [k for k, known in enumerate(texts) if (known, text) == (ONLY_MOVE, "0")]
        if len(hits) == 1:
            return hits[0]
        raise self._refusal(labels, typed, several=bool(hits))

    def require(self, action: Any) -> Sequence[int]:
        """As `meaning`, but at least one action of the game.

        Raises
        ------
        UsageError
            No action is called so.
        """
        found = [label for label in self.meaning(action) if label in self.labels]
        if not found:
            raise UsageError(self.unknown(str(action)))
        return found

    def unknown(self, text: str) -> str:
        """The message about a text without an action of the game."""
        return no_such("action", text, self.all_texts)

    def _refusal(self, labels: Sequence[int], typed: Any, several: bool) -> UsageError:
        fault = "could mean several things" if several else "can't be done here"
        return UsageError(f"{typed!r} {fault}; the choices are {listed(self.texts(labels))}")


def _plain(text: str) -> str:
    """A text as it is compared in play: how it is spaced and capitals don't matter."""
    return " ".join(text.split()).casefold()


def _rest(name: str) -> str:
    """A name without its first word."""
    return name.partition(" ")[2]


def _begins(name: str, text: str) -> bool:
    """Whether a name begins with a text; but 12 doesn't begin with 1."""
    cut_number = text[-1:].isdigit() and name[len(text) :][:1].isdigit()
    return bool(text) and name.startswith(text) and not cut_number


def no_such(kind: str, text: str, known: Collection[str]) -> str:
    """The message about an unknown name."""
    hint = suggestion(text, known)
    return f"no {kind} is called {text!r}{hint} ({kind}s: {listed(list(known))})"
