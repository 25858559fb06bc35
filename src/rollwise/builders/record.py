"""The record that stands for ``self`` in compiled code: what functions read from a game."""

from __future__ import annotations

import types as python_types
from collections.abc import Callable, Iterable
from typing import Any

import numba
import numpy as np
from numba import types

from rollwise.game import Game
from rollwise.kernels import explore


def what_is_read(
    game: Game, functions: Iterable[Callable[..., Any]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Attributes and further methods that functions reach through ``self``."""
    pending = list(functions)
    values: dict[str, Any] = {}
    methods: dict[str, Any] = {}
    while pending:
        function = pending.pop()
        for name in sorted(_names_read(function.__code__)):
            value = getattr(game, name, None)
            if isinstance(value, int | float | np.integer | np.floating | np.ndarray | np.bool_):
                values[name] = value
            elif isinstance(value, python_types.MethodType) and name not in methods:
                methods[name] = value.__func__
                pending.append(value.__func__)
    return dict(sorted(values.items())), methods


def _names_read(code: python_types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, python_types.CodeType):
            names |= _names_read(constant)
    return names


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
