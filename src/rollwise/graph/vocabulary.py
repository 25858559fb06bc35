"""What actions are called, and which action a text means: the only place that says so.

An action is called by its name or, where the rules give it none, by its number. A typed
number could be an action's number, its name, or its place in a menu. These rules decide:

- in data (files, queries, calls) a text is a name first, and a number next. In a
  game that has a number for a name, a number is only ever a name;
- in play a text is a name or the beginning of one. Where all actions have names and
  none begins with a digit, menus are numbered and a number is a place in the menu.
  Elsewhere menus have no numbers of their own.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph.naming import THROW

if TYPE_CHECKING:
    import polars as pl

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
        The actions' numbers, as the rules give them, each once.
    names : mapping
        The names of those that have one.
    """

    def __init__(self, labels: Sequence[int], names: Mapping[int, str]) -> None:
        self.labels = tuple(labels)
        self.names = {label: name for label, name in names.items() if name.strip()}
        if THROW in self.labels:
            self.names[THROW] = "throw"

    def text(self, label: int) -> str:
        """The name of an action, or its number in words."""
        return self.names.get(label, str(label))

    @cached_property
    def all_texts(self) -> tuple[str, ...]:
        """What the actions are called, each once, in the order of their numbers."""
        return tuple(dict.fromkeys(map(self.text, self.labels)))

    @cached_property
    def menus_are_numbered(self) -> bool:
        """Whether a number that is typed in play is a place in the menu."""
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
        """What the actions of one state are called there.

        Actions of one name are told apart by their numbers: ``left [2]``.
        """
        texts = [self.text(label) for label in labels]
        plain = [_plain(text) for text in texts]
        return [
            text if plain.count(name) == 1 else f"{text} [{label}]"
            for text, name, label in zip(texts, plain, labels, strict=True)
        ]

    def column(self, labels: NDArray[Any]) -> pl.Series:
        """What many actions are called: a column ``action``.

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
        """The actions that a text or a number in data can mean: most often one, or none."""
        if not isinstance(action, str):
            try:
                return (index(action),)
            except TypeError:
                return ()
        text = action.strip()
        if text in self._called:
            return self._called[text]
        if _NUMBER.fullmatch(text) and not self._names_numbers:
            return (int(text),)
        return [label for label in self.labels if f"{self.text(label)} [{label}]" == text]

    def find(self, labels: Sequence[int], action: Any) -> int:
        """Which of a state's actions a text or a number in data means: its place among them.

        Raises
        ------
        UsageError
            None of them, or more than one; says what may be done.
        """
        meant = self.meaning(action)
        hits = [place for place, label in enumerate(labels) if label in meant]
        if len(hits) == 1:
            return hits[0]
        raise self._refusal(labels, action, bool(hits))

    def find_typed(self, labels: Sequence[int], typed: str, *, in_menu: bool = False) -> int:
        """Which of a state's actions somebody means in play: its place among them.

        Parameters
        ----------
        in_menu : bool
            The actions stand in a menu before the player, numbered if `menus_are_numbered`.

        Raises
        ------
        UsageError
            None of them, or more than one; says what may be done.
        """
        text = _plain(typed)
        if in_menu and self.menus_are_numbered and re.fullmatch("[0-9]+", text):
            if 1 <= int(text) <= len(labels):
                return int(text) - 1
            raise self._refusal(labels, typed, several=False)
        texts = [_plain(known) for known in self.texts(labels)]
        hits = [place for place, known in enumerate(texts) if known == text]
        hits = hits or [place for place, known in enumerate(texts) if _begins(known, text)]
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
        """What to say of a text that means no action of the game."""
        return no_such("action", text, self.all_texts)

    def _refusal(self, labels: Sequence[int], typed: Any, several: bool) -> UsageError:
        fault = "could mean several things" if several else "can't be done here"
        return UsageError(f"{typed!r} {fault}; the choices are {listed(self.texts(labels))}")


def _plain(text: str) -> str:
    """A text as it is compared in play: how it is spaced and capitals don't matter."""
    return " ".join(text.split()).casefold()


def _begins(name: str, text: str) -> bool:
    """Whether a name begins with a text; but 12 doesn't begin with 1."""
    cut_number = text[-1:].isdigit() and name[len(text) :][:1].isdigit()
    return bool(text) and name.startswith(text) and not cut_number


def no_such(kind: str, text: str, known: Collection[str]) -> str:
    """What to say where nothing is called so."""
    close = difflib.get_close_matches(text, known, 1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"no {kind} is called {text!r}{hint} ({kind}s: {listed(list(known))})"
