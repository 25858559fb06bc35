"""Tables in which the number of a state is looked up, and the box of their fields."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.calls import HASH_FACTOR, HASH_START
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.kernels.prefetch import prefetch

BLOCK = 256  # rows that are entered at once
MOST_TAKEN = 5  # of 8 slots of a hash table
LOWER = 0xFFFFFFFF  # half of a hash


class Lookup(NamedTuple):
    """A table in which the number of a state is looked up.

    In a dense table a state has a place of its own, the sum of
    ``(field - low) * stride``; it has room for fields from `low` to below
    ``low + span``. In a hash table, whose size is a power of two, states are found
    by linear probing. Each of its slots has two numbers: that of a state, and the upper half
    of its hash. So the fields of another state are hardly ever read to be compared.
    """

    table: Any  # (size,) int32, of a hash table (2 * size,): numbers of states, -1 where free
    frame: Any  # (3, n_fields) int64: low, span and stride
    mask: Any  # int: 0 if the table is dense, else its size less 1


@inner_kernel
def room_in(table):
    """How many states a hash table has room for."""
    return table.shape[0] * MOST_TAKEN // 16


@kernel
def box_of(rows):
    """Smallest and largest value of each field: (2, n_fields) int64."""
    box = np.empty((2, rows.shape[1]), np.int64)
    for k in range(rows.shape[1]):
        box[0, k] = box[1, k] = rows[0, k]
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            box[0, k] = min(box[0, k], rows[i, k])
            box[1, k] = max(box[1, k], rows[i, k])
    return box


@kernel
def add_rows(rows, states, table, frame, mask):
    """Number the rows from 0, leaving out repeats; returns how many there are.

    `states` may be `rows` itself, to enter states into another table. The other
    arguments are those of a `Lookup`. What hashes here, as in MurmurHash3, hashes in
    the same way on the side of the rules (see `rollwise.builders.compiled.adapter_source`).
    """
    n_rows, n_fields = rows.shape
    zero = np.int64(0)  # a literal has a type of its own, for which Numba would compile anew
    place, number = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int32)
    block = np.empty((BLOCK, n_fields), np.int64)
    n = np.int64(0)
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        for i in range(size):
            spot = np.int64(0)
            h = np.uint64(HASH_START)
            for k in range(n_fields):
                field = np.int64(rows[begin + i, k])
                block[i, k] = field
                spot += (field - frame[0, k]) * frame[2, k]
                h = (h ^ np.uint64(field)) * np.uint64(HASH_FACTOR)
                h ^= h >> np.uint64(32)
            if mask == 0:
                place[i] = spot
                prefetch(table, index(spot))
            else:
                place[i] = np.int64(h >> np.uint64(1))
                prefetch(table, (index(place[i]) & index(mask)) * index(2))
        n = number_states(place, block, size, number, zero, states, n, table, mask)
    return n


@inner_kernel
def widen_box(then, next_state, n, box):
    """Let a box hold the next states; False where a field of one doesn't fit 32 bits."""
    for k in range(n):
        if then[k] == 0 or then[k] == 1:
            for j in range(box.shape[1]):
                field = next_state[k, j]
                if field < -2147483648 or field > 2147483647:
                    return False
                box[0, j] = min(box[0, j], field)
                box[1, j] = max(box[1, j], field)
    return True


@inner_kernel
def number_states(place, next_state, n, outcome_state, n_outcomes, states, n_states, table, mask):
    """Append `n` outcomes, and the states that are new; how many states there are then.

    A hash table is looked at twice: at first to ask for the fields of the states that are likely
    to be found, then to compare them.

    Parameters
    ----------
    place, next_state : see `rollwise.kernels.explore.Buffers`
        In a hash table, slots are written into `place`.
    outcome_state, states : see `rollwise.kernels.explore.GraphArrays`
    table, mask : see `Lookup`
    """
    first = index(n_outcomes)
    mask = index(mask)
    n_fields = index(states.shape[1])
    if mask > 0:
        fields = states.reshape(states.size)
        for k in range(index(n)):
            if place[k] >= 0:
                half = place[k] >> 32
                slot = index(place[k]) & mask
                while table[slot + slot] >= 0 and table[slot + slot + ONE] != half:
                    slot = (slot + ONE) & mask
                if table[slot + slot] >= 0:
                    prefetch(fields, index(table[slot + slot]) * n_fields)
                place[k] = (half << 32) | np.int64(slot)
    for k in range(index(n)):
        number = np.int64(-1)
        if place[k] >= 0:
            slot = index(place[k])
            half = place[k] >> 32
            if mask > 0:
                slot = (slot & index(LOWER)) * index(2)
            number = np.int64(table[slot])
            while number >= 0 and mask > 0:
                same = table[slot + ONE] == half
                if same:
                    for j in range(n_fields):
                        same &= states[index(number), j] == next_state[k, j]
                if same:
                    break
                slot = (slot + index(2)) & (mask + mask + ONE)
                number = np.int64(table[slot])
            if number < 0:
                number = n_states
                table[slot] = number
                if mask > 0:
                    table[slot + ONE] = half
                for j in range(n_fields):
                    states[index(number), j] = next_state[k, j]
                n_states += 1
        outcome_state[first + k] = number
    return n_states
