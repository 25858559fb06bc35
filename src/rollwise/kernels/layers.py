"""Loops over the layers of a game whose rules measure its progress."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import inner_kernel, kernel


@kernel(never_interpreted=True)  # rules of layers are compiled anyhow
def pack_rows(states, low, shift, keys):
    """The fields of each state in one number: (n_states,) uint64, filled.

    Numbers are in the order of the fields, if the first field is shifted the farthest.

    Parameters
    ----------
    states : (n_states, n_fields) int32
    low : (n_fields,) int64
        The smallest value of each field.
    shift : (n_fields,) uint64
        How far each field is shifted to the left.
    keys : (n_states,) uint64, filled
    """
    for s in range(states.shape[0]):
        key = np.uint64(0)
        for k in range(states.shape[1]):
            key |= np.uint64(states[s, k] - low[k]) << shift[k]
        keys[s] = key


@kernel(never_interpreted=True)
def unpack_rows(keys, low, shift, mask, states):
    """The states of keys: see `pack_rows`.

    Parameters
    ----------
    mask : (n_fields,) uint64
        The bits of each field.
    states : (n_states, n_fields) int32, filled
    """
    for s in range(keys.shape[0]):
        for k in range(states.shape[1]):
            states[s, k] = np.int64((keys[s] >> shift[k]) & mask[k]) + low[k]


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
        Of each layer: see `pack_rows` and `unpack_rows`.
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
            if over < 0 or np.uint64(over) > mask[i, k]:
                inside = False
                break
            key |= np.uint64(over) << shift[i, k]
        if not inside:
            continue
        begin, end = indptr[i], indptr[i + 1]
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
