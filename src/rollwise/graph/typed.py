"""States as people and programs write them: typed texts, mappings and sequences; and their rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UnknownState
from rollwise.faults import one_line
from rollwise.graph.layout import JOINED, Members, member_word
from rollwise.graph.naming import NO_THROW, SetWords, Words, in_fields, set_number, state_text
from rollwise.parameters import TRUTHS, either

MOST_WORDS = 12  # of an enumeration, in an error


def typed_state(
    text: str, example: Callable[[], str], members: Members | None = None
) -> dict[str, Any]:
    """A state as typed: ``banked=50,rival=50``, or ``board=(0,2,1),thrown=true,open={1 2 9}``.

    Parameters
    ----------
    example : callable
        Returns an example for the error message: "as in banked=0,rival=0".
    members : mapping, optional
        See `rollwise.graph.layout.members_of`: their names may be typed for their numbers.

    Raises
    ------
    UnknownState
    """
    state: dict[str, Any] = {}
    # Fields end at commas outside of brackets and braces.
    for part in re.split(r",(?![^({]*[)}])", text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        several = value[:1] == "(" and value[-1:] == ")"
        field: tuple[int, ...] | None
        words = (members or {}).get(name, {})
        if value[:1] == "{" and value[-1:] == "}":  # a set, as in `rollwise.bits`
            of_set = words.number if isinstance(words, SetWords) else set_number
            number = of_set(value[1:-1])
            field = None if number is None else (number,)
        else:
            words = {} if isinstance(words, SetWords) else words
            field = _numbers_of(name, value[1:-1] if several else value, words)
        is_number = field is not None and (several or len(field) == 1)
        if not equals or not name or name in state or field is None or not is_number:
            raise UnknownState(
                f"{one_line(text[:80])!r} isn't a state; write every field once, {example()}"
            )
        state[name] = field if several else field[0]
    return state


def _numbers_of(name: str, text: str, words: Mapping[str, int]) -> tuple[int, ...] | None:
    """The numbers of a field; some may be typed as members of an enumeration, or as true or false.

    None where one is none of these.
    """
    known = {**TRUTHS, **words}
    found: list[int] = []
    for word in text.replace(",", " ").split():
        if (number := known.get(member_word(word))) is not None:
            found.append(int(number))
        elif plain := read_numbers(word):
            found += plain
        elif words:
            raise UnknownState(no_member(name, word, words))
        else:
            return None
    return tuple(found)


def no_member(field: str, word: str, words: Mapping[str, int]) -> str:
    """The fault of a word that is no member of a field's enumeration."""
    single = [one for one in words if JOINED not in one]
    several = "" if len(single) == len(words) else f", or several as in {list(words)[-1]}"
    more = len(single) - MOST_WORDS
    shown = [*single[:MOST_WORDS], f"{more} other words"] if more > 1 else single
    return f"{field} is a number or {either(shown)}{several}, not {one_line(word[:80])!r}"


def read_numbers(text: str) -> tuple[int, ...] | None:
    """Whole numbers with commas or spaces between: ``3,5``; None where it is something else."""
    try:
        return tuple(int(part) for part in text.replace(",", " ").split())
    except ValueError:
        return None


def spread(state: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any] | list[Any]:
    """A state with a field for each number: tuples are taken apart (see `grouped`)."""
    if isinstance(state, Mapping):
        parts: dict[str, Any] = {}
        for name, field in state.items():
            several = isinstance(field, tuple | list)
            parts |= {f"{name}.{k}": x for k, x in enumerate(field)} if several else {name: field}
        return parts
    numbers: list[Any] = []
    for field in state:
        numbers += field if isinstance(field, tuple | list) else [field]
    return numbers


def row_of(
    field_names: Sequence[str], state: Sequence[Any] | Mapping[str, Any], title: str
) -> list[int]:
    """The fields of a state in order, one number each.

    Parameters
    ----------
    state : sequence or mapping
        Its fields, in their order or by name: whole numbers, tuples of them, or Python's sets.
    title : str
        The name of the graph in messages.

    Raises
    ------
    UnknownState
        It isn't a state.
    """

    def refuse(fault: str) -> NoReturn:
        raise UnknownState(f"{title}: {fault}; a state is {', '.join(field_names)}, each once")

    if hasattr(state, "_asdict") and len(spread(state)) > len(field_names):
        fields: Any = spread(state._asdict())  # some fields of the rules have no columns
        state = {name: fields[name] for name in fields if name in field_names}
    if isinstance(state, Mapping | Sequence) and not isinstance(state, str):
        state = spread(state)
    if isinstance(state, Mapping):
        for name in state:
            if name not in field_names:
                refuse(f"there is no field {name!r}")
        for name in field_names:
            if name not in state:
                refuse(f"{name} is missing")
        state = [state[name] for name in field_names]
    if not isinstance(state, Sequence | np.ndarray) or isinstance(state, str):
        refuse(f"{state!r} isn't a state of this game: write its fields as a tuple or a dictionary")
    if len(state) != len(field_names):
        refuse(f"a state has {len(field_names)} fields, and not {len(state)}")
    try:
        return [_number_of(field) for field in state]
    except (TypeError, ValueError):
        refuse(f"{tuple(state)} aren't whole numbers")


def _number_of(field: Any) -> int:
    """A field as a number; a set of members as in `rollwise.bits`."""
    if isinstance(field, set | frozenset):
        return sum(1 << index(member) for member in field)
    return index(field)


def find_state(
    states: NDArray[np.int32],
    field_names: Sequence[str],
    state: Sequence[Any] | Mapping[str, Any],
    title: str,
    words: Words,
) -> int:
    """The row of a state in an array of them.

    Parameters
    ----------
    states : (n_states, n_fields) int32
    state, title
        As `row_of` takes them.
    words : mapping
        See `rollwise.graph.layout.field_words`.

    Raises
    ------
    UnknownState
    """
    fields = row_of(field_names, state, title)
    hits = np.arange(len(states))
    for column, field in zip(states.T, fields, strict=True):
        hits = hits[column[hits] == field]
    if not len(hits):
        pairs = zip(field_names, fields, strict=True)
        given = {name: field for name, field in pairs if field != NO_THROW}
        text = state_text(in_fields(list(given), list(given.values()), words))
        raise UnknownState(
            f"{title}: no play comes to the state {text} (the fields "
            f"are {', '.join(given)}; `roots()` can add positions that no play reaches)"
        )
    return int(hits[0])
