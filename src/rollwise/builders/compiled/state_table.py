"""Where compiled rules and kernels look up the number of a state."""

from __future__ import annotations

import math

import numpy as np

from rollwise.builders.rules import Rules
from rollwise.graph.layout import LEAST, MOST
from rollwise.kernels import state_tables as kernels

# A dense table takes a place for every state in the box of the fields; it is used
# while the box is at most this many places, or this many for each state found.
DENSE_PLACES = 1 << 22
DENSE_PLACES_PER_STATE = 16
MOST_PLACES = 1 << 62  # of a box whose places are the keys of a hash table
LEAST_NEW = 1 << 17  # states that a hash table has room for, beside those that it begins with
FEW_AT_ONCE = 1 << 4  # all this by so much less, where many small tables are made


NO_LOOKUP = kernels.Lookup(np.empty(0, np.int32), np.empty(0, np.uint64), None, 0, True)


def likely_ends(rules: Rules) -> np.ndarray:
    """Where fields may end, in order: at 0, or at a parameter of the game."""
    found = [p for p in rules.game.parameters.values() if type(p) is int and LEAST < p < MOST]
    return np.unique(np.array([LEAST, 0, *found, MOST], np.int64))


class StateTable:
    """Where the kernel looks up the number of a state: dense if it can be, else hashed.

    Parameters
    ----------
    roots : (n_roots, n_fields) int32
    call : (1,) EXPAND
        Where the rules are told where to look up states.
    likely : int64
        Where fields may end, from LEAST to MOST.
    few_at_once : bool
        Tables are made for one small set of states after the other.
    """

    def __init__(
        self, roots: np.ndarray, call: np.ndarray, likely: np.ndarray, *, few_at_once: bool = False
    ) -> None:
        self._call, self._likely = call, likely
        self._less = FEW_AT_ONCE if few_at_once else 1
        self.box = kernels.box_of(roots)
        self.dense = True
        self._considered = 0  # states, when it was last asked whether it could be dense again
        self.lookup = NO_LOOKUP

    def _few_places(self, box: np.ndarray, n_states: int = 0) -> bool:
        """Whether a dense table is worth its places."""
        places = math.prod((box[1] - box[0] + 1).tolist())
        return bool(places <= max(DENSE_PLACES // self._less, DENSE_PLACES_PER_STATE * n_states))

    def make(self, rows: np.ndarray, states: np.ndarray, expected: int = 0) -> int:
        """Enter the rows without repeats, as the first of `states`; how many there are.

        A dense table gets room for the box, a hash table for half as many states again, and more;
        and for as many as are expected.
        """
        n_fields = rows.shape[1]
        low, span = self.box[0].copy(), self.box[1] - self.box[0] + 1
        spans = span.tolist()
        places = math.prod(spans)
        self.dense &= self._few_places(self.box, len(rows))
        placed = places < MOST_PLACES
        if placed:
            stride = np.array([math.prod(spans[k + 1 :]) for k in range(n_fields)], np.int64)
        else:
            low, span = np.full(n_fields, LEAST), np.full(n_fields, MOST - LEAST + 1)
            stride = np.zeros(n_fields, np.int64)
        frame, mask = np.array([low, span, stride], np.int64), 0
        if self.dense:
            table, slots = self._free("table", places), NO_LOOKUP.slots
        else:
            most = max(len(rows) * 3 // 2, expected)
            most += max(LEAST_NEW // self._less, int(self._call["most_outcomes"][0]))
            size = 1 << (8 * most // kernels.MOST_TAKEN).bit_length()
            table, slots, mask = NO_LOOKUP.table, self._free("slots", size), size - 1
        exact = self.dense or (placed and places * (mask + 1) <= 1 << 64)
        self.lookup = kernels.Lookup(table, slots, frame, mask, exact)
        self._call["table"], self._call["slots"] = table.ctypes.data, slots.ctypes.data
        self._call["frame"] = frame.ctypes.data
        self._call["mask"], self._call["placed"] = mask, placed
        return int(kernels.add_rows(rows, states, *self.lookup))

    def _free(self, name: str, size: int) -> np.ndarray:
        """An array with all bits set: that of the last table, if it has this size."""
        array: np.ndarray = getattr(self.lookup, name)
        if len(array) != size:
            dtype = array.dtype
            del array
            self.lookup = NO_LOOKUP  # so the old one is gone before there is another
            array = np.empty(size, dtype)
        array.view(np.int8).fill(-1)
        return array

    def is_full(self, n: int) -> bool:
        """Whether a hash table of `n` states may have too little room for one call of the rules."""
        if self.dense:
            return False
        return bool(n + int(self._call["most_outcomes"][0]) > kernels.room_in(self.lookup.slots))

    def reconsider(self, states: np.ndarray, n: int) -> None:
        """Make a hash table dense again, if by now the first `n` states are enough for that.

        It looks at all of them, so only where they are half as many again as the last time. Where
        small tables are made one after the other, the box stays as wide as it was.
        """
        if self.dense or self._less > 1 or 2 * n < 3 * self._considered:
            return
        self._considered = n
        box = kernels.box_of(states[:n])
        if self._few_places(box, n):
            self.box, self.dense = box, True
            self.make(states[:n], states)

    def fit_also(self, rows: np.ndarray) -> None:
        """Widen the box for other states, with which a table begins anew."""
        box = kernels.box_of(rows)
        self.box = np.array([np.minimum(self.box[0], box[0]), np.maximum(self.box[1], box[1])])
        self.dense = True

    def widen(self, before: np.ndarray) -> None:
        """Grow the box where it had to grow: to a likely end, or by a quarter.

        A small table is a fast one, but each growth takes time. The size of a hash table has
        nothing to do with the box, which doubles.
        """
        lower, higher = self.box[0] < before[0], self.box[1] > before[1]
        likely = self._likely
        below = likely[np.searchsorted(likely, self.box[0], "right") - 1]
        above = likely[np.searchsorted(likely, self.box[1])]
        ends = np.array([np.where(lower, below, self.box[0]), np.where(higher, above, self.box[1])])
        if self._few_places(ends):
            self.box = ends
            return
        more = (self.box[1] - self.box[0]) // (4 if self.dense else 1) + 2
        self.box[0] -= np.where(lower, more, 0)
        self.box[1] += np.where(higher, more, 0)
        np.clip(self.box, LEAST, MOST, out=self.box)
