"""Tables in which the number of a state is looked up, and the box of their fields."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.calls import HASH_FACTOR, HASH_START
from rollwise.kernels.jit import index, inner_kernel, kernel


class Lookup(NamedTuple):
    """A table in which the number of a state is looked up.

    In a dense table a state has a place of its own, the sum of
    ``(field - low) * stride``; it has room for fields from `low` to below
    ``low + span``. In a hash table, whose size is a power of two, states are found
    by linear probing.
    """

    table: Any  # (size,) int32: numbers of states, -1 where free
    frame: Any  # (3, n_fields) int64: low, span and stride
    mask: Any  # int: 0 if the table is dense, else its size less 1


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
def extreme_rows(rows):
    """The first rows with the smallest and the largest value of each field: (2 * n_fields,)."""
    n_fields = rows.shape[1]
    found = np.zeros(2 * n_fields, np.int64)
    for k in range(n_fields):
        least = most = rows[0, k]
        for i in range(rows.shape[0]):
            field = rows[i, k]
            if field < least:
                least, found[k] = field, i
            if field > most:
                most, found[n_fields + k] = field, i
    return found


@kernel
def add_rows(rows, states, table, frame, mask):
    """Number the rows from 0, leaving out repeats; returns how many there are.

    `states` may be `rows` itself, to enter states into another table. The other
    arguments are those of a `Lookup`. What hashes here, as in MurmurHash3, hashes in
    the same way on the side of the rules (see `rollwise.builders.compiled.adapter_source`).
    """
    n_fields = rows.shape[1]
    n = np.int64(0)
    for i in range(rows.shape[0]):
        if mask == 0:
            place = np.int64(0)
            for k in range(n_fields):
                place += (rows[i, k] - frame[0, k]) * frame[2, k]
        else:
            h = np.uint64(HASH_START)
            for k in range(n_fields):
                h = (h ^ np.uint64(rows[i, k])) * np.uint64(HASH_FACTOR)
                h ^= h >> np.uint64(32)
            place = np.int64(h & np.uint64(mask))
        spot = np.uint64(place)
        number = table[spot]
        while number >= 0:
            same = True
            for k in range(n_fields):
                same &= states[number, k] == rows[i, k]
            if same:
                break
            spot = (spot + np.uint64(1)) & np.uint64(mask)
            number = table[spot]
        if number < 0:
            table[spot] = n
            for k in range(n_fields):
                states[n, k] = rows[i, k]
            n += 1
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

    Parameters
    ----------
    place, next_state : see `rollwise.kernels.explore.Buffers`
    outcome_state, states : see `rollwise.kernels.explore.GraphArrays`
    table, mask : see `Lookup`
    """
    first = index(n_outcomes)
    mask = np.uint64(mask)
    for k in range(index(n)):
        number = np.int64(-1)
        if place[k] >= 0:
            spot = np.uint64(place[k])
            number = np.int64(table[spot])
            while number >= 0 and mask > 0:
                same = True
                for j in range(states.shape[1]):
                    same &= states[number, j] == next_state[k, j]
                if same:
                    break
                spot = (spot + np.uint64(1)) & mask
                number = np.int64(table[spot])
            if number < 0:
                number = n_states
                table[spot] = number
                for j in range(states.shape[1]):
                    states[number, j] = next_state[k, j]
                n_states += 1
        outcome_state[first + k] = number
    return n_states
