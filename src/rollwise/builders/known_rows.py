"""The known states of a game by layers, in memory: as rows, or packed into a number each.

A frame packs the fields of a layer's states into 64 bits, if they fit. States of a layer are
sorted, and found by bisection.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rollwise.kernels import state_tables as kernels

Rows = NDArray[np.int32]
Numbers = NDArray[np.int64]
MORE = 8  # an array grows by this fraction of its length
LEAST_MORE = 1 << 12


class Frame(NamedTuple):
    """The packing of the fields of some states into one number.

    Attributes
    ----------
    low : (n_fields,) int64
        The smallest value of each field.
    shift, mask : (n_fields,) uint64
        The position of a field's bits, and their mask.
    """

    low: NDArray[np.int64]
    shift: NDArray[np.uint64]
    mask: NDArray[np.uint64]

    @classmethod
    def of(cls, rows: Rows) -> Frame | None:
        """The frame of some states; None if 64 bits are too few."""
        low, high = kernels.box_of(rows)
        bits = [int(span).bit_length() for span in high - low]
        if sum(bits) > 64:
            return None
        # a field before 64 bits of other fields would need a shift of 64
        shift = [min(sum(bits[k + 1 :]), 63) for k in range(len(bits))]
        mask = [(1 << width) - 1 for width in bits]
        return cls(low, np.array(shift, np.uint64), np.array(mask, np.uint64))

    def keys(self, rows: Rows) -> NDArray[np.uint64]:
        """The packed numbers of states within the frame."""
        keys = np.zeros(len(rows), np.uint64)
        for column, low, shift in zip(rows.T, self.low, self.shift, strict=True):
            keys |= (column - low).astype(np.uint64) << shift
        return keys

    def rows(self, keys: NDArray[np.uint64]) -> Rows:
        """The states of packed numbers."""
        rows = np.empty((len(keys), len(self.low)), np.int32)
        self.unpack(keys, rows)
        return rows

    def unpack(self, keys: NDArray[np.uint64], rows: Rows) -> None:
        """Write the states of packed numbers."""
        for k, (low, shift, mask) in enumerate(zip(*self, strict=True)):
            rows[:, k] = ((keys >> shift) & mask).astype(np.int64) + low


def ordered(rows: Rows) -> Rows:
    """States in the order of their fields, without duplicates."""
    if len(rows) < 2:
        return rows.copy()
    frame = Frame.of(rows)
    if frame is None:
        return np.unique(rows, axis=0)
    keys = frame.keys(rows)
    keys.sort()
    is_new = np.empty(len(keys), np.bool_)
    is_new[0] = True
    np.not_equal(keys[1:], keys[:-1], out=is_new[1:])
    return frame.rows(keys[is_new] if not is_new.all() else keys)


def places_in(states: NDArray[Any], rows: NDArray[Any]) -> Numbers:
    """The index of each row of whole numbers among sorted ones; -1 if absent."""
    indices = np.empty(len(rows), np.int64)
    whole = np.array([0, len(states)])
    kernels.find_rows(rows, np.zeros(len(rows), np.int64), whole, states, indices)
    return indices


class KnownRows(Protocol):
    """The states of a game, in the order of layers."""

    def append(self, rows: Rows) -> None:
        """Add a layer: its states in the order of their fields."""

    def part(self, begin: int, end: int) -> Rows:
        """Some states, by their numbers."""

    def find(self, rows: Rows, layer: Numbers) -> Numbers:
        """The numbers of states with known layers; -1 for unknown states."""

    def all(self) -> Rows:
        """All states: (n_states, n_fields)."""


class PlainRows:
    """States stored by their fields, in consecutive rows."""

    def __init__(self, states: Rows, indptr: Numbers) -> None:
        self._states, self._indptr = states, indptr

    def append(self, rows: Rows) -> None:
        """Add a layer."""
        n = int(self._indptr[-1])
        self._states = _with_room(self._states, n, n + len(rows))
        self._states[n : n + len(rows)] = rows
        self._indptr = np.append(self._indptr, n + len(rows))

    def part(self, begin: int, end: int) -> Rows:
        """Some states, by their numbers."""
        return self._states[begin:end]

    def find(self, rows: Rows, layer: Numbers) -> Numbers:
        """The numbers of states with known layers; -1 for unknown states."""
        indices = np.empty(len(rows), np.int64)
        kernels.find_rows(rows, layer, self._indptr, self._states, indices)
        return indices

    def all(self) -> Rows:
        """All states."""
        return self._states[: int(self._indptr[-1])]


class PackedRows:
    """States as 64-bit numbers, or by their fields once a layer does not fit."""

    def __init__(self, n_fields: int) -> None:
        self._n_fields = n_fields
        self._keys = np.empty(0, np.uint64)
        self._indptr = [0]
        self._frames: list[Frame] = []
        self._tables: tuple[Any, ...] | None = None  # the frames as arrays
        self._plain: PlainRows | None = None

    def append(self, rows: Rows) -> None:
        """Add a layer."""
        frame = None if self._plain is not None else Frame.of(rows)
        if frame is None:
            if self._plain is None:
                self._plain = PlainRows(self.all(), np.array(self._indptr))
                self._keys = np.empty(0, np.uint64)
            self._plain.append(rows)
            return
        n = self._indptr[-1]
        self._keys = _with_room(self._keys, n, n + len(rows))
        self._keys[n : n + len(rows)] = frame.keys(rows)
        self._frames.append(frame)
        self._indptr.append(n + len(rows))
        self._tables = None

    def part(self, begin: int, end: int) -> Rows:
        """Some states, by their numbers."""
        if self._plain is not None:
            return self._plain.part(begin, end)
        rows, indptr = np.empty((end - begin, self._n_fields), np.int32), self._known()[0]
        layer, first = int(np.searchsorted(indptr, begin, side="right")) - 1, begin
        # A layer at a time: each has a frame of its own.
        while first < end:
            last = min(int(indptr[layer + 1]), end)
            self._frames[layer].unpack(self._keys[first:last], rows[first - begin : last - begin])
            layer, first = layer + 1, last
        return rows

    def find(self, rows: Rows, layer: Numbers) -> Numbers:
        """The numbers of states with known layers; -1 for unknown states."""
        if self._plain is not None:
            return self._plain.find(rows, layer)
        indptr, low, shift, mask = self._known()
        indices = np.empty(len(rows), np.int64)
        kernels.find_keys(rows, layer, indptr, self._keys, low, shift, mask, indices)
        return indices

    def all(self) -> Rows:
        """All states."""
        if self._plain is not None:
            return self._plain.all()
        return self.part(0, self._indptr[-1])

    def _known(self) -> tuple[Any, ...]:
        if self._tables is None:
            parts = (np.array(part) for part in zip(*self._frames, strict=True))
            self._tables = (np.array(self._indptr), *parts)
        return self._tables


def _with_room(array: NDArray[Any], used: int, needed: int) -> NDArray[Any]:
    """An array with room for `needed` rows: itself, or a larger one."""
    if len(array) >= needed:
        return array
    rows = needed + max(needed // MORE, LEAST_MORE)
    if array.flags.owndata:  # the system moves pages faster than it copies them
        array.resize((rows, *array.shape[1:]), refcheck=False)
        return array
    grown = np.empty((rows, *array.shape[1:]), array.dtype)
    grown[:used] = array[:used]
    return grown
