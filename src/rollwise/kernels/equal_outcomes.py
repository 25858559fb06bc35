"""Merging the equal outcomes of an action: those that lead to the same state in the same way."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.calls import HASH_FACTOR
from rollwise.kernels.jit import inner_kernel
from rollwise.kernels.lottery_tables import MAX_TOTAL_WEIGHT
from rollwise.kernels.mixing import mixed


@inner_kernel
def merge_equal(buffers, begin, end, real, look):
    """Merge the equal outcomes of an action: where the first of them is, of their weights' sum.

    Parameters
    ----------
    buffers : see `rollwise.kernels.explore.Buffers`
        Its `slots` are zero before their first use. What is there counts from the last one on,
        so that they needn't be cleared.
    begin, end : int
        The outcomes of the action.
    real : bool
        Weights are the bits of floats.
    look : bool
        Merge nothing, and look only at outcomes that lead on.

    Returns
    -------
    left : int
        Where the outcomes end now; less than `end` if some are equal. 0 where a weight breaks
        a rule.
    """
    weight, real_weight, slots = buffers.weight, buffers.real_weight, buffers.slots
    then, next_state, place = buffers.then, buffers.next_state, buffers.place
    size = np.uint64(2)
    while size < np.uint64(2) * (end - begin):
        size *= np.uint64(2)
    mask = size - np.uint64(1)
    base = slots[slots.shape[0] - 1] + 1
    slots[slots.shape[0] - 1] = base + np.int64(end)
    left = begin
    for k in range(begin, end):
        if look and place[k] < 0:
            continue
        if real:
            if not (real_weight[k] > 0.0 and real_weight[k] <= MAX_TOTAL_WEIGHT):
                return np.uint64(0)
        elif weight[k] <= 0 or weight[k] > MAX_TOTAL_WEIGHT:
            return np.uint64(0)
        spot = mixed(np.uint64(place[k]) * np.uint64(HASH_FACTOR) + np.uint64(then[k])) & mask
        while slots[spot] >= base:
            other = np.uint64(slots[spot] - base)
            same = place[other] == place[k] and then[other] == then[k]
            if same and place[k] >= 0:
                for j in range(next_state.shape[1]):
                    same &= next_state[other, j] == next_state[k, j]
            if same:
                break
            spot = (spot + np.uint64(1)) & mask
        if slots[spot] >= base:
            if look:
                return left
            other = np.uint64(slots[spot] - base)
            if real:
                real_weight[other] += real_weight[k]
            else:
                weight[other] += weight[k]
                if weight[other] < 0:
                    return np.uint64(0)
            continue
        if look:
            slots[spot] = base + np.int64(k)
        else:
            slots[spot] = base + np.int64(left)
            move_outcomes(weight, then, next_state, place, k, k + np.uint64(1), left)
            left += np.uint64(1)
    return end if look else left


@inner_kernel
def move_outcomes(weight, then, next_state, place, begin, end, to):
    """Move outcomes to an earlier place of the buffers."""
    if begin == to:
        return
    for k in range(begin, end):
        weight[to], then[to], place[to] = weight[k], then[k], place[k]
        for j in range(next_state.shape[1]):
            next_state[to, j] = next_state[k, j]
        to += np.uint64(1)
