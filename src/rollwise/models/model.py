"""Models of other tools as arrays: states, choices and branches.

A model has states, each with choices, and each choice has branches: a target and a chance. Chances
are fractions: decimals of a text as written, and a double as the simplest fraction that rounds to
it, if its denominator is at most a million, or else as the exact double. `rollwise.models.game`
asks a question about a model, which makes a game of it.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import ModelFileError
from rollwise.faults import one_line
from rollwise.graph.naming import OF_THROWS, RESERVED, free_name
from rollwise.parameters import WORD

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST = 2**31 - 2  # states, choices
SIMPLE = 10**6  # largest denominator of a fraction for a double
SUM_OFF = 1e-6  # of the chances of a choice
LEAST_TOTAL = re.compile(r'R\{"[^"]*"\}min=\? .*')  # a query, as rollwise writes it
OVER = -1  # the target of a branch that ends play
# Fields of rule sheets may not have these names; "paid" is a field that payments add.
TAKEN = (*RESERVED, *OF_THROWS, "paid")


def optimum_of(queries: Iterable[str]) -> str:
    """The optimum that the queries in a file of rollwise ask for."""
    return "min" if any(map(LEAST_TOTAL.fullmatch, queries)) else "max"


@dataclass(frozen=True, eq=False)
class Model:
    """A model: choices by state, branches by choice.

    Attributes
    ----------
    name : str
    n : int
        How many states. A state without choices is absorbing.
    choice_state : (n_choices,) int64, ascending
    choice_label : (n_choices,) int64
        The number of the action.
    branch_choice : (n_branches,) int64, ascending
    target : (n_branches,) int64
        `OVER` where play ends.
    chance : (n_branches,) int64
        Index into `chances`.
    chances : sequence of Fraction
    owner : (n,) int64
        The player of each state, 0 or 1.
    players : int
    start : int
    labels : mapping of str to (n,) bool
        Named sets of states.
    rewards : mapping of str to (n_branches,) float64
        To the first player.
    action_names : mapping of int to str
    fields : mapping of str to (n,) int64
        The numbers of each state, by name; distinct.
    texts : sequence of str
        A text of each state; empty without any.
    rounded : set of str
        The rewards with numbers that are no doubles.
    optimum : {"max", "min"}
        Sought by the first player, unless the question says otherwise.
    """

    name: str
    n: int
    choice_state: Ints
    choice_label: Ints
    branch_choice: Ints
    target: Ints
    chance: Ints
    chances: Sequence[Fraction]
    owner: Ints
    players: int
    start: int
    labels: Mapping[str, Mask]
    rewards: Mapping[str, Floats]
    action_names: Mapping[int, str]
    fields: Mapping[str, Ints]
    texts: Sequence[str] = ()
    rounded: Set[str] = frozenset()
    optimum: str = "max"

    @classmethod
    def of(
        cls,
        name: str,
        n: int,
        state: Any,
        choice: Any,
        target: Any,
        chance: tuple[Any, Sequence[Fraction]],
        *,
        action: Any = None,
        names: Sequence[str] = (),
        owner: Any = None,
        players: int = 1,
        start: int = 0,
        labels: Mapping[str, Mask] | None = None,
        rewards: Mapping[str, Any] | None = None,
        fields: Mapping[str, Any] | None = None,
        texts: Sequence[str] = (),
        optimum: str = "max",
    ) -> Model:
        """A model from its branches in any order.

        Parameters
        ----------
        state, choice, target : (n_branches,) int
            A choice is a number within its state.
        chance : ((n_branches,) int, sequence of Fraction)
            An index of each branch, and the chances.
        action : (n_branches,) int, optional
            The index of the name of the choice in `names`; -1 without a name.

        Raises
        ------
        ModelFileError
            The arrays are no model; the message names a state.
        """
        state, choice, target = (np.asarray(part, np.int64) for part in (state, choice, target))
        index, chances = np.asarray(chance[0], np.int64), list(chance[1])
        outside = (target < OVER) | (target >= n) | (state < 0) | (state >= n)
        if outside.any():
            b = int(np.argmax(outside))
            raise ModelFileError(
                f"{name}: a branch leads from the state {state[b]} to {target[b]}, and there are "
                f"{n:,} states"
            )
        if not 0 <= start < n:
            raise ModelFileError(f"{name}: its start is the state {start}, of {n:,} states")
        for k, part in enumerate(chances):
            if not 0 <= part <= 2:  # sums that are off by rounding are scaled
                where = f"a chance in the state {state[np.argmax(index == k)]}"
                raise ModelFileError(
                    f"{name}: {where} is {one_line(str(part))}; it must be from 0 to 1"
                )
        size = np.array([float(part) for part in chances])
        numbers: dict[str, Any] = {}
        for key, given in (rewards or {}).items():
            with suppress(OverflowError):  # a fraction too large for a double
                numbers[key] = np.asarray(given, np.float64)
            if not np.isfinite(numbers.get(key, np.inf)).all():
                raise ModelFileError(f"{name}: a number of the reward {key} isn't finite")
        # branches by state and choice; a choice begins where either changes
        order = np.lexsort((choice, state))
        new = np.ones(len(order), np.bool_)
        new[1:] = (np.diff(state[order]) != 0) | (np.diff(choice[order]) != 0)
        branch_choice = np.cumsum(new) - 1
        choice_state, index = state[order][new], index[order]
        total = np.bincount(branch_choice, size[index], minlength=len(choice_state))
        odd = np.flatnonzero(np.abs(total - 1) > SUM_OFF)
        if len(odd):
            raise ModelFileError(
                f"{name}: the chances of a choice in the state {choice_state[odd[0]]} add up to "
                f"{total[odd[0]]:.9g}, and not to 1"
            )
        named = np.full(len(order), -1) if action is None else np.asarray(action, np.int64)[order]
        label, action_names = _labels(choice_state, named[new], names)
        likely = size[index] > 0
        order = order[likely]
        words = dict(zip(numbers, _words(numbers), strict=True))
        return cls(
            name,
            n,
            choice_state,
            label,
            branch_choice[likely],
            target[order],
            index[likely],
            chances,
            np.zeros(n, np.int64) if owner is None else np.asarray(owner, np.int64),
            players,
            start,
            _words({key: mask for key, mask in (labels or {}).items() if mask.any()}),
            {words[key]: given[order] for key, given in numbers.items()},
            action_names,
            _fields(n, fields or {}),
            texts,
            {words[key] for key, given in (rewards or {}).items() if is_rounded(given)},
            optimum,
        )

    @cached_property
    def is_scaled(self) -> bool:
        """Whether the chances of some choice don't add up to 1 exactly."""
        total = [Fraction(0)] * len(self.choice_state)
        for choice, number in zip(self.branch_choice.tolist(), self.chance.tolist(), strict=True):
            total[choice] += self.chances[number]
        return any(part != 1 for part in total)

    @cached_property
    def absorbing(self) -> Mask:
        """The states that play never leaves, and where it brings no reward: (n,) bool."""
        source = self.choice_state[self.branch_choice]
        leaves = self.target != source
        for rewards in self.rewards.values():
            leaves |= rewards != 0
        found = np.ones(self.n, np.bool_)
        found[source[leaves]] = False
        return found


def is_rounded(numbers: Any) -> bool:
    """Whether some numbers are fractions and no doubles."""
    given = np.asarray(numbers)
    return given.dtype.kind == "O" and any(float(x) != x for x in given.tolist())


def simplest(doubles: Any) -> tuple[Ints, list[Fraction]]:
    """Doubles as indices into a list of fractions: each the simplest that rounds to it.

    A fraction with a denominator above `SIMPLE` is the exact value of the double.
    """
    values, index = np.unique(np.asarray(doubles, np.float64), return_inverse=True)
    return index, [simple_fraction(value) for value in values.tolist()]


def simple_fraction(value: float) -> Fraction:
    """A double as a fraction (see `simplest`).

    Raises
    ------
    ModelFileError
    """
    if not isfinite(value):
        raise ModelFileError(f"a chance is {value}; it must be from 0 to 1")
    simple = Fraction(value).limit_denominator(SIMPLE)
    return simple if float(simple) == value else Fraction(value)


def _labels(state: Ints, named: Ints, names: Sequence[str]) -> tuple[Ints, dict[int, str]]:
    """The numbers of the choices as actions, distinct in each state, and the actions' names."""
    first = np.searchsorted(state, state)
    along = np.arange(len(state)) - first
    if not len(named) or named.max() < 0:
        return along, {}
    if named.min() >= 0 and all(name.isdecimal() and int(name) < MOST for name in names):
        return np.array([int(name) for name in names])[named], {}
    number: dict[str, int] = {}
    label, met = [], set()
    for s, k, which in zip(state.tolist(), along.tolist(), named.tolist(), strict=True):
        word = " ".join(names[which].split()) if which >= 0 else ""
        text = word = word or f"choice {k}"
        copies = 1
        # two choices of a state with one name are told apart by a number
        while (s, text) in met:
            copies += 1
            text = f"{word} ({copies})"
        met.add((s, text))
        label.append(number.setdefault(text, len(number)))
    return np.array(label, np.int64), {i: text for text, i in number.items()}


def _words(named: Mapping[str, Any]) -> dict[str, Any]:
    """The same items under different names that can be typed as values of parameters."""
    found: dict[str, Any] = {}
    for name, item in named.items():
        word = name
        if not re.fullmatch(WORD, name):
            word = re.sub(r"[^\w.-]+", "_", name).strip("_") or f"unnamed-{len(found)}"
            word = free_name(word, {**named, **found})
        found[word] = item
    return found


def _fields(n: int, fields: Mapping[str, Any]) -> dict[str, Ints]:
    """The fields of a model, or only ``state`` where they don't tell its states apart.

    A name that the fields of rules may not have gets an underscore: ``seat_``.
    """
    columns: dict[str, Ints] = {}
    for name, column in fields.items():
        columns[free_name(name, {*TAKEN, *columns})] = np.asarray(column, np.int64)
    usable = bool(columns) and all(
        name.isidentifier()
        and not (name[0] == "_" or keyword.iskeyword(name))
        and bool(np.all(np.abs(column) < MOST))
        for name, column in columns.items()
    )
    if not usable or len(np.unique(np.column_stack(list(columns.values())), axis=0)) < n:
        return {"state": np.arange(n)}
    return columns
