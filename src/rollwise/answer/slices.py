"""The positions around one, as a map shows them: those that differ from it in two fields."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.graph.choices import in_order

Ints = NDArray[np.int64]

MOST_CELLS = 400
ROWS_AT_ONCE = 1 << 20


class Slice(NamedTuple):
    """Positions that differ from one along the axes only.

    Attributes
    ----------
    axes : tuple of int
        The fields across and down; only one, or none, where no more vary.
    numbers : list of list of int
        Of each field: what it may be where all others stay as they are, ascending.
    positions : (n,) int64
        Their places in the table, in the order of their fields.
    left_out : int
        How many more there are, farther away.
    """

    axes: tuple[int, ...]
    numbers: list[list[int]]
    positions: Ints
    left_out: int


def slice_around(
    table: NDArray[np.int32],
    at: Sequence[int],
    axes: Sequence[int] = (),
    most: int = MOST_CELLS,
    counts: NDArray[np.bool_] | None = None,
) -> Slice:
    """The positions of a table that differ from one along two fields.

    Parameters
    ----------
    table : (n, n_fields) int32
    at : sequence of int
        The fields of that position.
    axes : sequence of int
        Two fields, or one. Without any the two are taken along which most positions lie.
    most : int
        How many positions are taken at most: those nearest along the axes, all that are as near.
    counts : (n,) bool, optional
        Which positions count where axes are looked for, as those in which there is a choice.
    """
    here = np.asarray(at, table.dtype)
    parts = []
    for begin in range(0, len(table), ROWS_AT_ONCE):
        differ = table[begin : begin + ROWS_AT_ONCE] != here
        parts.append(begin + np.flatnonzero(differ.sum(axis=1) <= 2))
    near = np.concatenate(parts)
    rows = np.asarray(table[near])
    differ = rows != here
    alone = differ.sum(axis=1) <= 1
    numbers = [
        np.unique(rows[alone & (differ[:, f] | ~differ.any(axis=1)), f]).tolist()
        for f in range(table.shape[1])
    ]
    counted = differ if counts is None else differ[counts[near]]
    chosen = tuple(axes) or _axes(counted if counted.any() else differ)
    others = [f for f in range(table.shape[1]) if f not in chosen]
    inside = ~differ[:, others].any(axis=1)
    near, rows = near[inside], rows[inside]
    away = np.zeros(len(near), np.int64)
    for f in chosen:
        along, rank = np.unique(rows[:, f], return_inverse=True)
        away = np.maximum(away, np.abs(rank.reshape(-1) - np.searchsorted(along, here[f])))
    too_far = np.sort(away)[most] if len(away) > most else np.inf
    kept = np.flatnonzero(away < too_far)
    kept = kept[in_order(rows[kept])]
    return Slice(chosen, numbers, near[kept], len(near) - len(kept))


def _axes(differ: NDArray[np.bool_]) -> tuple[int, ...]:
    """The two fields along which most positions lie."""
    varying = np.flatnonzero(differ.any(axis=0)).tolist()
    many = differ.sum(axis=1)
    return max(
        combinations(varying, 2),
        key=lambda pair: int((differ[:, list(pair)].sum(axis=1) == many).sum()),
        default=tuple(varying),
    )
