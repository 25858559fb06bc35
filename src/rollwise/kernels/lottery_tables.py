"""The lotteries found while exploring (see `rollwise.graph.lotteries`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.calls import HASH_FACTOR, HASH_START
from rollwise.kernels.jit import inner_kernel, kernel
from rollwise.kernels.mixing import mixed

MAX_TOTAL_WEIGHT = 1 << 62
SKIPS = 0xFFFF00  # the bits of a `then` that is a number of seats
MOST_PAYOFF = 1e300  # whose bits may be a `then`


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
    """Enter the first `n` lotteries into their table, which is free."""
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
def enter_lottery(place, key, reward, weight, then, begin, end, lotteries, counts):
    """Enter a new lottery at a place of the table (see `find_lottery`); its number."""
    count = counts[0]
    number = count.lotteries
    count.lotteries, count.lottery_outcomes = write_lottery(
        place, key, reward, weight, then, begin, end, lotteries, number, count.lottery_outcomes
    )
    return number


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
        elif not contract.payoffs_allowed or is_no_payoff(payoff[k], contract):
            return True
    return has_odd_weights(buffers.weight, buffers.real_weight, begin, end, real)


@inner_kernel
def is_no_payoff(amount, contract):
    """Whether the bits of a double are none that rules may yield."""
    return not contract.least_payoff <= abs(amount) <= MOST_PAYOFF


@inner_kernel
def has_odd_weights(weight, real_weight, begin, end, real):
    """Whether weights break a rule: each and their sum are positive, and not too large."""
    total = 0.0
    whole_total = np.int64(0)
    for k in range(begin, end):
        size = real_weight[k] if real else np.float64(weight[k])
        if not size > 0.0 or size > MAX_TOTAL_WEIGHT:
            return True
        total += size
        if not real:  # exactly; the floating-point total catches what overflows
            whole_total += weight[k]
            if whole_total > MAX_TOTAL_WEIGHT:
                return True
    return not total > 0.0 or total > MAX_TOTAL_WEIGHT
