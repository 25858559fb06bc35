"""One sweep that checks claimed bounds of the values of a packed layer.

The bounds are claimed: taken from estimates, and not known to enclose anything. They do if a sweep
finds none of them broken, and if every play leaves the layer (`mark_ending`): then the recursion
has one solution, and sweeps that begin at the claimed bounds close in on it from outside. The slack
of each rounding is taken outward. (Haddad and Monmege, Interval iteration algorithm for MDPs and
IMDPs, Theoretical Computer Science 735, 2018; Hartmanns and Kaminski, Optimistic value iteration,
CAV 2020.)

This is part of what is trusted (see `rollwise.proofs.check`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.jit import ONE, index, kernel


class Block(NamedTuple):
    """Some positions, one after the other, and what the rules say of them, packed.

    A situation is a position after one of its throws. Of each position it is held where its
    situations, actions and outcomes begin; everything else stands in their order.
    """

    first: Any  # (3, n) int32: situation, action, outcome
    of_state: Any  # (n,) uint8, uint16 or int32: the list of throws of each position
    count: Any  # (n_situations,) uint8 or uint16: actions
    lottery: Any  # (n_actions,) uint8, uint16 or int32
    next_state: Any  # (n_outcomes,) int32, from the first of the layer on; -1 where the game ends


class Weights(NamedTuple):
    """Lists of throws, or lotteries."""

    indptr: Any  # int64
    weight: Any  # float64
    total: Any  # float64, of each list
    error: Any  # float64, of each list: of a mean of numbers up to 1, rounded
    payoff: Any  # float64: of a lottery, where the game ends
    passes: Any  # bool


@kernel
def sweep_intervals(place, block, lists, lotteries, more, most, extra, bounds):
    """Check the claimed bounds of the positions of a block, from the last one on.

    Bounds that are broken are widened by as much as is needed, and by `extra`.

    Parameters
    ----------
    place : int
        The first position of the block, in the layer.
    block : Block
    lists, lotteries : Weights
    more : float
        What a turn brings, besides what it leads to.
    most : float
        No bound that is finite is further from 0, and no payoff.
    extra : float
    bounds : (at least n, 2) float64, changed
        Of the positions of the layer, and of those of its border.

    Returns
    -------
    widest : float
        How far the bounds are apart at most.
    n_broken : int
        Positions whose bounds were broken.
    """
    first, of_state, count, lottery, next_state = block
    list_indptr, list_weight, list_total = lists.indptr, lists.weight, lists.total
    indptr, weight, total = lotteries.indptr, lotteries.weight, lotteries.total
    payoff, passes = lotteries.payoff, lotteries.passes
    widest, n_broken = 0.0, 0
    for down in range(of_state.shape[0]):
        i = index(of_state.shape[0] - 1 - down)
        p = index(place) + i
        s, a, o = index(first[0, i]), index(first[1, i]), index(first[2, i])
        throws = of_state[i]
        slack = lists.error[throws] * most
        sum_low, sum_high = 0.0, 0.0
        for t in range(list_indptr[throws], list_indptr[throws + 1]):
            best_low, best_high = -np.inf, -np.inf
            for _ in range(count[s]):
                i_lottery = index(lottery[a])
                a += ONE
                j, after = index(indptr[i_lottery]), index(indptr[i_lottery + ONE])
                if after - j == ONE:
                    n = next_state[o]
                    o += ONE
                    if n < 0:
                        x_low, x_high = payoff[j], payoff[j]
                    elif passes[j]:
                        x_low, x_high = -bounds[n, 1], -bounds[n, 0]
                    else:
                        x_low, x_high = bounds[n, 0], bounds[n, 1]
                else:
                    x_low, x_high = 0.0, 0.0
                    loose = lotteries.error[i_lottery] * most
                    while j < after:
                        n = next_state[o]
                        o += ONE
                        if n < 0:
                            x_low += weight[j] * payoff[j]
                            x_high += weight[j] * payoff[j]
                        elif passes[j]:
                            x_low -= weight[j] * bounds[n, 1]
                            x_high -= weight[j] * bounds[n, 0]
                        else:
                            x_low += weight[j] * bounds[n, 0]
                            x_high += weight[j] * bounds[n, 1]
                        j += ONE
                    x_low = x_low / total[i_lottery] - loose
                    x_high = x_high / total[i_lottery] + loose
                best_low, best_high = max(best_low, x_low), max(best_high, x_high)
            sum_low += list_weight[t] * best_low
            sum_high += list_weight[t] * best_high
            s += ONE
        least = sum_low / list_total[throws] + more - slack
        greatest = sum_high / list_total[throws] + more + slack
        low, high = bounds[p, 0], bounds[p, 1]
        if not (low <= least and greatest <= high):
            n_broken += 1
            low, high = min(low, least - extra), max(high, greatest + extra)
            bounds[p, 0], bounds[p, 1] = low, high
        widest = max(widest, high - low)
    return widest, n_broken


@kernel
def mark_ending(place, block, list_indptr, lottery_indptr, ending):
    """Mark positions from which every play may leave the layer.

    After one of the throws each action may end the game, leave the layer or lead to a position
    that was marked before. So where all are marked, every play ends.

    Parameters
    ----------
    place : int
        The first position of the block, in the layer.
    block : Block
    list_indptr, lottery_indptr : int64
    ending : (n,) bool, changed
        Of the positions of the layer.

    Returns
    -------
    int
        How many were marked.
    """
    first, of_state, count, lottery, next_state = block
    n_marked = 0
    for down in range(of_state.shape[0]):
        i = index(of_state.shape[0] - 1 - down)
        p = index(place) + i
        if ending[p]:
            continue
        s, a, o = index(first[0, i]), index(first[1, i]), index(first[2, i])
        throws = of_state[i]
        for _ in range(list_indptr[throws + 1] - list_indptr[throws]):
            each = True
            for _ in range(count[s]):
                number = index(lottery[a])
                a += ONE
                some = False
                for _ in range(lottery_indptr[number + ONE] - lottery_indptr[number]):
                    n = np.int64(next_state[o])
                    o += ONE
                    if n < 0 or n >= ending.shape[0] or ending[index(n)]:
                        some = True
                each = each and some
            s += ONE
            if each:
                ending[p] = True
                n_marked += 1
                break
    return n_marked
