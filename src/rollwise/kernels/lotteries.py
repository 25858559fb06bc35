"""Common lotteries of actions, found by hashing, and equal outcomes of an action.

`share_lotteries` numbers the lotteries of a whole graph. The explorer enters new lotteries
into a `LotteryTable` (see `rollwise.graph.lotteries`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.calls import HASH_FACTOR, HASH_START
from rollwise.kernels.jit import inlined, inner_kernel, kernel

MAX_TOTAL_WEIGHT = 1 << 62
SKIPS = 0xFFFF00  # the bits of a `then` with a number of seats
MOST_PAYOFF = 1e300  # the largest payoff with its bits as a `then`


@inlined
def mixed(key):
    """A key in which every bit depends on every bit of another: the end of MurmurHash3.

    Doubles of successive whole numbers differ little, and in their upper bits only. Without
    mixing they would stand in one row of a table.
    """
    key ^= key >> np.uint64(33)
    key *= np.uint64(0xFF51AFD7ED558CCD)
    key ^= key >> np.uint64(33)
    key *= np.uint64(0xC4CEB9FE1A85EC53)
    return key ^ (key >> np.uint64(33))


@kernel
def share_lotteries(
    reward, outcome_indptr, outcome_state, weight, passes, payoff, action_lottery, first_action
):
    """Number the lotteries of a graph in the order of their first action.

    Two actions have the same lottery if they have the same reward, and their
    outcomes, one by one, have the same weight, end the game or don't, pass the
    turn or don't, and pay the same.

    Parameters
    ----------
    reward : (n_actions,) int64
        The bits of the rewards.
    outcome_indptr : (n_actions + 1,) int64
    outcome_state : (n_outcomes,) int32
    weight, payoff : (n_outcomes,) int64
        Their bits, if they are doubles.
    passes : (n_outcomes,) bool or uint8
    action_lottery : (n_actions,) int32, filled
    first_action : (n_actions,) int64, filled as far as there are lotteries
        The first action of each lottery.

    Returns
    -------
    int
        Number of lotteries.
    """
    n_actions = reward.shape[0]
    keys = np.empty(n_actions, np.uint64)
    table = np.full(1 << 10, -1, np.int32)
    n = 0
    for a in range(n_actions):
        begin, end = outcome_indptr[a], outcome_indptr[a + 1]
        key = np.uint64(reward[a]) ^ np.uint64(0x9E3779B97F4A7C15)
        for k in range(begin, end):
            how = 2 * (outcome_state[k] < 0) + passes[k]
            key = (key ^ np.uint64(weight[k])) * np.uint64(0xFF51AFD7ED558CCD)
            key = (key ^ (key >> np.uint64(32)) ^ np.uint64(how)) * np.uint64(0xC4CEB9FE1A85EC53)
            key ^= np.uint64(payoff[k])
        key = mixed(key)
        mask = np.uint64(table.shape[0] - 1)
        place = key & mask
        # Linear probing ends at an equal lottery or at a free place.
        while True:
            i = table[place]
            if i < 0:
                break
            if keys[i] == key:
                b = first_action[i]
                other = outcome_indptr[b]
                same = reward[a] == reward[b] and outcome_indptr[b + 1] - other == end - begin
                for k in range(begin, end):
                    if not same:
                        break
                    same = (
                        weight[k] == weight[other]
                        and passes[k] == passes[other]
                        and payoff[k] == payoff[other]
                        and (outcome_state[k] < 0) == (outcome_state[other] < 0)
                    )
                    other += 1
                if same:
                    break
            place = (place + np.uint64(1)) & mask
        if table[place] < 0:
            table[place] = n
            keys[n] = key
            first_action[n] = a
            n += 1
        action_lottery[a] = table[place]
        # At most half of the places are taken, so that walks stay short and end.
        if 2 * n > table.shape[0]:
            table = np.full(4 * table.shape[0], -1, np.int32)
            mask = np.uint64(table.shape[0] - 1)
            for i in range(n):
                place = keys[i] & mask
                while table[place] >= 0:
                    place = (place + np.uint64(1)) & mask
                table[place] = i
    return n


class LotteryTable(NamedTuple):
    """The lotteries found so far, with room at the end, and a hash table of them."""

    indptr: Any  # (rows + 1,) int64
    reward: Any  # (rows,) float64
    key: Any  # (rows,) uint64
    weight: Any  # int64, or the bits of float64
    then: Any  # int64
    table: Any  # (size,) int32: numbers of lotteries, -1 where free; at least half is


@kernel
def enter_lotteries(lotteries, n):
    """Enter the first `n` lotteries into their empty table."""
    mask = np.uint64(lotteries.table.shape[0] - 1)
    for i in range(n):
        place = lotteries.key[i] & mask
        while lotteries.table[place] >= 0:
            place = (place + np.uint64(1)) & mask
        lotteries.table[place] = i


@inner_kernel
def find_lottery(reward, reward_bits, weight, then, begin, end, lotteries):
    """The number of a lottery; -1 minus the place where to enter it, and its key, if it is new."""
    key = np.uint64(reward_bits) + np.uint64(end - begin)
    power = np.uint64(HASH_FACTOR)
    for k in range(begin, end):
        how = np.uint64(weight[k]) * np.uint64(HASH_START) + np.uint64(then[k])
        key += (how ^ (how >> np.uint64(32))) * power
        power *= np.uint64(HASH_FACTOR)
    key = mixed(key)
    mask = np.uint64(lotteries.table.shape[0] - 1)
    place = key & mask
    lottery = np.int64(lotteries.table[place])
    while lottery >= 0:
        # An offset: outcome k is compared with entry first + k. Unsigned numbers may wrap around.
        first = np.uint64(lotteries.indptr[lottery]) - begin
        same = (
            lotteries.key[lottery] == key
            and lotteries.reward[lottery] == reward
            and np.uint64(lotteries.indptr[lottery + 1]) - first == end
        )
        if same:
            for k in range(begin, end):
                same &= weight[k] == lotteries.weight[first + k]
                same &= then[k] == lotteries.then[first + k]
            if same:
                return lottery, key
        place = (place + np.uint64(1)) & mask
        lottery = np.int64(lotteries.table[place])
    return -1 - np.int64(place), key


@inner_kernel
def write_lottery(place, key, reward, weight, then, begin, end, lotteries, number, used):
    """Write a lottery of a number at a place of the table; how many there are, and outcomes.

    Parameters
    ----------
    used : int
        The outcomes of the others together.
    """
    lotteries.table[place] = number
    lotteries.key[number] = key
    lotteries.reward[number] = reward
    for k in range(begin, end):
        lotteries.weight[used] = weight[k]
        lotteries.then[used] = then[k]
        used += 1
    lotteries.indptr[number + 1] = used
    return number + 1, used


@inner_kernel
def is_odd(reward, buffers, begin, end, real, contract):
    """Whether a lottery breaks a rule."""
    if not np.isfinite(reward) or (reward != 0.0 and not contract.rewards_allowed):
        return True
    then, payoff = buffers.then, buffers.payoff
    for k in range(begin, end):
        if then[k] >= 0 and then[k] <= 5:
            if not contract.allowed[then[k]]:
                return True
        elif (then[k] & ~SKIPS) == 0:
            if not contract.allowed[1]:  # PASS
                return True
        # the bits of a double
        elif not contract.payoffs_allowed or not (
            contract.least_payoff <= abs(payoff[k]) <= MOST_PAYOFF
        ):
            return True
    return has_odd_weights(buffers.weight, buffers.real_weight, begin, end, real)


@inner_kernel
def has_odd_weights(weight, real_weight, begin, end, real):
    """Whether weights break a rule: each and their sum are positive, and not too large."""
    total = 0.0
    whole_total = np.int64(0)
    for k in range(begin, end):
        size = real_weight[k] if real else np.float64(weight[k])
        # Written so that a NaN is odd, too.
        if not size > 0.0 or size > MAX_TOTAL_WEIGHT:
            return True
        total += size
        if not real:  # exactly; the floating-point total detects an overflow
            whole_total += weight[k]
            if whole_total > MAX_TOTAL_WEIGHT:
                return True
    return not total > 0.0 or total > MAX_TOTAL_WEIGHT


@inner_kernel
def merge_equal(buffers, begin, end, real, look):
    """Merge the equal outcomes of an action: the first of them gets the sum of their weights.

    A weight whose sum with it would be rounded stays where it is.

    Parameters
    ----------
    buffers : see `rollwise.kernels.explore.Buffers`
        Its `slots` are zero before their first use. Their entries count from the last one on,
        so that they needn't be cleared.
    begin, end : int
        The outcomes of the action.
    real : bool
        Weights are the bits of floats.
    look : bool
        Only test whether equal outcomes lead on, without merging.

    Returns
    -------
    left : int
        The new end of the outcomes; less than `end` if some are equal. 0 where a weight breaks
        a rule.
    """
    weight, real_weight, slots = buffers.weight, buffers.real_weight, buffers.slots
    then, next_state, place = buffers.then, buffers.next_state, buffers.place
    size = np.uint64(2)
    while size < np.uint64(2) * (end - begin):
        size *= np.uint64(2)
    mask = size - np.uint64(1)
    # The last slot has the largest entry so far: smaller entries than `base` are of earlier
    # actions, and such slots are free.
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
        # Linear probing, from a hash of the next state's place and of `then`.
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
            if not real:
                weight[other] += weight[k]
                # The sum passed 2**63 and wrapped around.
                if weight[other] < 0:
                    return np.uint64(0)
                continue
            # Two-sum: the weights are merged if the error of their sum is 0.
            total = real_weight[other] + real_weight[k]
            rounded = total - real_weight[other]
            if real_weight[other] - (total - rounded) == rounded - real_weight[k]:
                real_weight[other] = total
                continue
        elif look:
            slots[spot] = base + np.int64(k)
        else:
            slots[spot] = base + np.int64(left)
        if not look:
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
