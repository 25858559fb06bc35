"""What functions read, and the record that stands for ``self`` in compiled code."""

from __future__ import annotations

import types as python_types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numba import types

from rollwise.builders.compiled.cache_key import Key, key_of, names_in
from rollwise.builders.compiled.disk import versions
from rollwise.builders.rules import Rules
from rollwise.game import Game
from rollwise.kernels import explore

Function = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Reads:
    """What functions read from a game.

    Attributes
    ----------
    functions : dict
        By the part that they play.
    values : dict
        Attributes that they reach through ``self``, for the record.
    methods : dict
        Further functions that they reach through ``self``.
    field_names, has_reward
        Of the rules.
    """

    functions: dict[str, Function]
    values: dict[str, Any]
    methods: dict[str, Function]
    field_names: tuple[str, ...]
    has_reward: bool

    @cached_property
    def key(self) -> Key:
        """What the functions are known by, compiled: it doesn't depend on the `values`."""
        kinds = tuple((name, str(numba_type(value))) for name, value in self.values.items())
        of_self = {f"self.{name}": function for name, function in self.methods.items()}
        facts = (versions(), kinds, self.field_names, self.has_reward)
        return key_of({**of_self, **self.functions}, *facts)


def what_is_read(rules: Rules, functions: dict[str, Function], unread: Iterable[str] = ()) -> Reads:
    """What functions of a game read now, leaving out those that won't be called (`unread`)."""
    pending = [function for name, function in functions.items() if name not in unread]
    values: dict[str, Any] = {}
    methods: dict[str, Any] = {}
    while pending:
        function = pending.pop()
        for name in sorted(names_in(function.__code__)):
            value = getattr(rules.game, name, None)
            if isinstance(value, int | float | np.integer | np.floating | np.ndarray | np.bool_):
                values[name] = value
            elif isinstance(value, python_types.MethodType) and name not in methods:
                methods[name] = value.__func__
                pending.append(value.__func__)
    values = dict(sorted(values.items()))
    return Reads(functions, values, methods, rules.field_names, rules.has_reward)


def array_dtype(array: np.ndarray) -> np.dtype[Any]:
    """The type that rules see an array in: short whole numbers are widened to 64 bits.

    To Numba a state with a field of 32 bits isn't of the type of one with 64.
    """
    short = array.dtype.kind in "iu" and array.dtype.itemsize < 8
    return np.dtype(np.int64) if short else array.dtype


def numba_type(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return types.Array(numba.from_dtype(array_dtype(value)), value.ndim, "C")
    if isinstance(value, bool | np.bool_):
        return types.boolean
    return types.float64 if isinstance(value, float | np.floating) else types.int64


def context_of(game: Game, attributes: Iterable[str]) -> tuple[np.ndarray, list[np.ndarray]]:
    """A context with the record of a game: what compiled rules read from it.

    Returns
    -------
    context : (explore.CONTEXT_SLOTS,) int64
    alive : arrays whose addresses are in it; keep them while it is used
    """
    whole: list[int] = []
    real: list[float] = []
    alive: list[np.ndarray] = []
    for name in attributes:
        value = getattr(game, name)
        if isinstance(value, np.ndarray):
            value = np.ascontiguousarray(value, array_dtype(value))
            alive.append(value)
            whole += [value.ctypes.data, *value.shape]
        elif isinstance(value, float | np.floating):
            real.append(float(value))
        else:
            whole.append(int(value))
    alive += [np.array(whole or [0], np.int64), np.array(real or [0.0])]
    context = np.zeros(explore.CONTEXT_SLOTS, np.int64)
    context[explore.CONTEXT_INTS] = alive[-2].ctypes.data
    context[explore.CONTEXT_REALS] = alive[-1].ctypes.data
    return context, alive
