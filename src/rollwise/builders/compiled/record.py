"""The record that stands for ``self`` in compiled rules, and calls with it."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

import numpy as np

from rollwise.game import Game


def array_dtype(array: np.ndarray) -> np.dtype[Any]:
    """The type that rules see an array in: short whole numbers are widened to 64 bits.

    To Numba a state with a field of 32 bits isn't of the type of one with 64.
    """
    short = array.dtype.kind in "iu" and array.dtype.itemsize < 8
    return np.dtype(np.int64) if short else array.dtype


def is_constant(value: Any) -> bool:
    """Whether compiled rules hold a value themselves, so that another one is compiled anew."""
    return isinstance(value, str | enum.Enum)


def record_source(values: dict[str, Any]) -> tuple[str, int, int]:
    """The record of a game, read from ``whole`` and ``real``, as Python source.

    It reads what `new_call` writes.

    Returns
    -------
    source : str
        A tuple of what the rules read from the game, without constants.
    n_whole, n_real : int
        Numbers that it takes from ``whole`` and from ``real``.
    """
    n_whole = n_real = 0
    items = []
    for name, value in values.items():
        if is_constant(value):
            continue
        if isinstance(value, np.ndarray):
            shape = "".join(f"whole[{n_whole + 1 + k}], " for k in range(value.ndim))
            items.append(f"carray(pointer(whole[{n_whole}]), ({shape}), dtype_{name})")
            n_whole += 1 + value.ndim
        elif isinstance(value, float | np.floating):
            items.append(f"real[{n_real}]")
            n_real += 1
        else:
            truth = " != 0" if isinstance(value, bool | np.bool_) else ""
            items.append(f"whole[{n_whole}]{truth}")
            n_whole += 1
    return f"({', '.join(items or ['whole[0]'])},)", max(n_whole, 1), max(n_real, 1)


def new_call(
    kind: np.dtype[np.void], game: Game, attributes: Iterable[str]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """A call of compiled rules with what they read from a game.

    Parameters
    ----------
    kind : dtype
        One of the records of `rollwise.kernels.calls`.
    attributes : iterable of str
        See `rollwise.builders.compiled.reads.Reads.values`.

    Returns
    -------
    call : (1,) array of the record
    alive : arrays whose addresses are in it; keep them while it is used
    """
    whole: list[int] = []
    real: list[float] = []
    alive: list[np.ndarray] = []
    for name in attributes:
        value = getattr(game, name)
        if is_constant(value):
            continue
        if isinstance(value, np.ndarray):
            value = np.ascontiguousarray(value, array_dtype(value))
            alive.append(value)
            whole += [value.ctypes.data, *value.shape]
        elif isinstance(value, float | np.floating):
            real.append(float(value))
        else:
            whole.append(int(value))
    alive += [np.array(whole or [0], np.int64), np.array(real or [0.0])]
    call = np.zeros(1, kind)
    call["whole"], call["real"] = alive[-2].ctypes.data, alive[-1].ctypes.data
    return call, alive
