"""How games and states are written, and which state is meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import index
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UnknownState
from rollwise.faults import one_line
from rollwise.parameters import TRUTHS, typed

THROW = -1  # the number of the action that throws, in a game with throws
NO_THROW = -(2**31)  # what stands in the columns of a throw before it
KEEP = 2**30  # the least number of an action that keeps dice of a pool; the code is added
ROLLS_LEFT = "rolls_left"  # the last column of a throw of a pool


def title_of(game: str, parameters: Mapping[str, Any]) -> str:
    """A game with its parameters, as typed on the command line."""
    return " ".join([game, *(f"{name}={typed(value)}" for name, value in parameters.items())])


def state_text(field_names: Sequence[str], fields: Iterable[int]) -> str:
    """A state in words: ``banked=0, rival=0, turn=5``, or ``board=(0, 2, 1), rival=0``."""
    return ", ".join(f"{name}={field}" for name, field in grouped(field_names, fields).items())


def typed_state(text: str, example: Callable[[], str]) -> dict[str, Any]:
    """A state as typed: ``banked=50,rival=50``, or ``board=(0,2,1),thrown=true``.

    Parameters
    ----------
    example : callable
        Gives what the error says of how a state is written: "as in banked=0,rival=0".

    Raises
    ------
    UnknownState
    """
    state: dict[str, Any] = {}
    for part in re.split(r",(?![^(]*\))", text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        several = value[:1] == "(" and value[-1:] == ")"
        truth = TRUTHS.get(value.lower())
        field = read_numbers(value[1:-1] if several else value)
        if truth is not None:
            field = (int(truth),)
        is_number = field is not None and (several or len(field) == 1)
        if not equals or not name or name in state or field is None or not is_number:
            raise UnknownState(
                f"{one_line(text[:80])!r} isn't a state; write every field once, {example()}"
            )
        state[name] = field if several else field[0]
    return state


def read_numbers(text: str) -> tuple[int, ...] | None:
    """Whole numbers with commas or spaces between: ``3,5``; None where it is something else."""
    try:
        return tuple(int(part) for part in text.replace(",", " ").split())
    except ValueError:
        return None


def grouped(names: Iterable[str], fields: Iterable[Any]) -> dict[str, Any]:
    """Fields by name, those of a tuple (``board.0``, ``board.1``) as one."""
    found: dict[str, Any] = {}
    for name, field in zip(names, fields, strict=True):
        whole, dot, _ = name.rpartition(".")
        if dot:
            found[whole] = (*found.get(whole, ()), field)
        else:
            found[name] = field
    return found


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
        Its fields, in their order or by name: whole numbers, or tuples of them.
    title : str
        What messages say of where it is looked for.

    Raises
    ------
    UnknownState
        It isn't a state.
    """

    def refuse(fault: str) -> NoReturn:
        raise UnknownState(f"{title}: {fault}; a state is {', '.join(field_names)}, each once")

    if hasattr(state, "_asdict") and len(spread(state)) > len(field_names):
        fields: Any = spread(state._asdict())  # of a state of the rules some may be no columns
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
        refuse(f"{state!r} isn't one")
    if len(state) != len(field_names):
        refuse(f"a state has {len(field_names)} fields, and not {len(state)}")
    try:
        return [index(field) for field in state]
    except TypeError:
        refuse(f"{tuple(state)} aren't whole numbers")


def find_state(
    states: NDArray[np.int32],
    field_names: Sequence[str],
    state: Sequence[Any] | Mapping[str, Any],
    title: str,
) -> int:
    """The row of a state in an array of them.

    Parameters
    ----------
    states : (n_states, n_fields) int32
    state, title
        As `row_of` takes them.

    Raises
    ------
    UnknownState
    """
    fields = row_of(field_names, state, title)
    hits = np.arange(len(states))
    for column, field in zip(states.T, fields, strict=True):
        hits = hits[column[hits] == field]
    if not len(hits):
        raise UnknownState(
            f"{title}: no play comes to the state {state_text(field_names, fields)} (the fields "
            f"are {', '.join(field_names)}; `roots()` can add positions that no play reaches)"
        )
    return int(hits[0])
