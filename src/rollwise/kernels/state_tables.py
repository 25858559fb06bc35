"""The numbers of states: looked up in tables, and among the sorted states of layers.

The box of the fields determines the kind of table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.calls import HASH_FACTOR, HASH_START
from rollwise.kernels.indices import prefetch
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel

BLOCK = 256  # rows entered at once
GOES_ON = 0xFFFF01  # the bits of a `then` of a game that goes on
MOST_TAKEN = 5  # of 8 slots of a hash table
FREE = np.uint64(2**64 - 1)  # a slot; no state has the number of the last one


class Lookup(NamedTuple):
    """A table for the numbers of states.

    The place of a state is the sum of ``(field - low) * stride``, for fields from `low` to below
    ``low + span``. A dense table has room for every place. A hash table, with a power of two as its
    size, has slots found by linear probing. A slot is one number: the number of a state in
    its low bits, as many as the size needs, and above them as many bits of the place as fit. If
    all of them fit, no fields are compared. Where the places don't fit 63 bits (`stride` is 0
    then), hashes stand in for them.
    """

    table: Any  # (size,) int32, if it is dense: numbers of states, -1 where there is none
    slots: Any  # (size,) uint64, if it is hashed: FREE where there is none
    frame: Any  # (3, n_fields) int64: low, span and stride
    mask: Any  # int: 0 if the table is dense, else its size less 1
    exact: Any  # bool: no two states have equal slots but for their numbers


@inner_kernel
def room_in(slots):
    """How many states a hash table has room for."""
    return slots.shape[0] * MOST_TAKEN // 8


@inner_kernel
def slot_of(place, mask):
    """Where in the slots a place is looked for first.

    The rules' side asks for memory there: see `rollwise.builders.compiled.adapter_source`.
    """
    h = np.uint64(place)
    h ^= h >> np.uint64(32)
    h *= np.uint64(HASH_FACTOR)
    h ^= h >> np.uint64(32)
    return index(h) & index(mask)


def box_of(rows):
    """Smallest and largest value of each field: (2, n_fields) int64."""
    # NumPy reads one column after the other faster than all of them, row by row
    ends = [(column.min(), column.max()) for column in rows.T]
    return np.array(ends, np.int64).reshape(-1, 2).T.copy()


@kernel(never_interpreted=True)
def add_rows(rows, states, table, slots, frame, mask, exact):
    """Number the rows from 0, without repeats; returns their number.

    `states` may be `rows` itself, to enter states into another table. The other
    arguments are those of a `Lookup`. The hash function (MurmurHash3) is the same as
    on the side of the rules (see `rollwise.builders.compiled.adapter_source`).
    """
    n_rows, n_fields = rows.shape
    zero = np.int64(0)  # a literal has a type of its own, for which Numba would compile anew
    place, number = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int32)
    block = np.empty((BLOCK, n_fields), np.int64)
    placed = frame[2, n_fields - 1] > 0
    n = np.int64(0)
    for begin in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - begin)
        # All places of a block are prefetched before the first of its rows is entered.
        for i in range(size):
            spot = np.int64(0)
            h = np.uint64(HASH_START)
            for k in range(n_fields):
                field = np.int64(rows[begin + i, k])
                block[i, k] = field
                spot += (field - frame[0, k]) * frame[2, k]
                h = (h ^ np.uint64(field)) * np.uint64(HASH_FACTOR)
                h ^= h >> np.uint64(32)
            place[i] = spot if placed else np.int64(h >> np.uint64(1))
            if mask == 0:
                prefetch(table, index(spot))
            else:
                prefetch(slots, slot_of(place[i], mask))
        n = number_states(place, block, size, number, zero, states, n, table, slots, mask, exact)
    return n


@inner_kernel
def widen_box(then, next_state, n, box):
    """Let a box hold the next states; False where a field of one doesn't fit 32 bits."""
    for k in range(n):
        if (then[k] & ~GOES_ON) == 0:
            for j in range(box.shape[1]):
                field = next_state[k, j]
                if field < -2147483648 or field > 2147483647:
                    return False
                box[0, j] = min(box[0, j], field)
                box[1, j] = max(box[1, j], field)
    return True


@inner_kernel
def number_states(
    place, next_state, n, outcome_state, n_outcomes, states, n_states, table, slots, mask, exact
):
    """Append `n` outcomes, and their new states; returns the new number of states.

    Parameters
    ----------
    place, next_state : see `rollwise.kernels.explore.Buffers`
    outcome_state, states : see `rollwise.kernels.explore.GraphArrays`
    table, slots, mask, exact : see `Lookup`
    """
    first = index(n_outcomes)
    n_fields = index(states.shape[1])
    if not exact:
        prefetch_fields(place, n, states, slots, mask)
    last, size = np.uint64(mask), np.uint64(mask + 1)
    for k in range(index(n)):
        number = np.int64(-1)
        if place[k] >= 0:
            if mask == 0:
                slot = index(place[k])
                number = np.int64(table[slot])
            else:
                slot = slot_of(place[k], mask)
                place_bits = np.uint64(place[k]) * size
                while slots[slot] != FREE:
                    # If the bits of the place agree, only the number is left, which is at most
                    # `last`.
                    found = slots[slot] ^ place_bits
                    same = found <= last
                    if same and not exact:
                        for j in range(n_fields):
                            same &= states[index(found), j] == next_state[k, j]
                    if same:
                        number = np.int64(found)
                        break
                    slot = (slot + ONE) & index(last)
            if number < 0:
                number = n_states
                if mask == 0:
                    table[slot] = number
                else:
                    slots[slot] = place_bits | np.uint64(number)
                for j in range(n_fields):
                    states[index(number), j] = next_state[k, j]
                n_states += 1
        outcome_state[first + k] = number
    return n_states


@inner_kernel
def prefetch_fields(place, n, states, slots, mask):
    """Prefetch the fields of the states likely to be found, for comparison."""
    if mask == 0:
        return
    last, size = np.uint64(mask), np.uint64(mask + 1)
    for k in range(index(n)):
        if place[k] >= 0:
            slot = slot_of(place[k], mask)
            place_bits = np.uint64(place[k]) * size
            while slots[slot] != FREE and slots[slot] ^ place_bits > last:
                slot = (slot + ONE) & index(last)
            if slots[slot] != FREE:
                prefetch(states, index(slots[slot] ^ place_bits))


@kernel(never_interpreted=True)
def find_keys(rows, layer, indptr, keys, low, shift, mask, found):
    """The numbers of states, by bisection among the keys of their layers.

    Parameters
    ----------
    rows : (n, n_fields) int32
    layer : (n,) int64
        Of each; -1 for none.
    indptr : (n_layers + 1,) int64
    keys : (n_states,) uint64
        Of the states, ascending in each layer.
    low, shift, mask : (n_layers, n_fields)
        Of each layer: see `rollwise.builders.known_rows.Frame`.
    found : (n,) int64, filled
        -1 where there is no such state.
    """
    for s in range(rows.shape[0]):
        found[s] = -1
        i = layer[s]
        if i < 0:
            continue
        key = np.uint64(0)
        inside = True
        for k in range(rows.shape[1]):
            over = np.int64(rows[s, k]) - low[i, k]
            # The field lies outside the range of the layer.
            if over < 0 or np.uint64(over) > mask[i, k]:
                inside = False
                break
            key |= np.uint64(over) << shift[i, k]
        if not inside:
            continue
        begin, end = indptr[i], indptr[i + 1]
        # The first key that isn't less.
        while begin < end:
            middle = (begin + end) // 2
            if keys[middle] < key:
                begin = middle + 1
            else:
                end = middle
        if begin < indptr[i + 1] and keys[begin] == key:
            found[s] = begin


@inner_kernel
def side_of(states, number, rows, s):
    """-1, 0 or 1: a state stands before a row, is the same, or stands behind it."""
    for k in range(rows.shape[1]):
        if states[number, k] != rows[s, k]:
            return -1 if states[number, k] < rows[s, k] else 1
    return 0


@kernel(never_interpreted=True)
def find_rows(rows, layer, indptr, states, found):
    """The numbers of states, by bisection among the rows of their layers: see `find_keys`.

    Parameters
    ----------
    states : (n_states, n_fields) int32
        In the order of their fields in each layer.
    """
    for s in range(rows.shape[0]):
        found[s] = -1
        i = layer[s]
        if i < 0:
            continue
        begin, end = indptr[i], indptr[i + 1]
        while begin < end:
            middle = (begin + end) // 2
            if side_of(states, middle, rows, s) < 0:
                begin = middle + 1
            else:
                end = middle
        if begin < indptr[i + 1] and side_of(states, begin, rows, s) == 0:
            found[s] = begin
