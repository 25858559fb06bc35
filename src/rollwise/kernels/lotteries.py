"""Finding the actions of a graph that have the same lottery."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel
from rollwise.kernels.mixing import mixed


@kernel
def share_lotteries(
    reward, outcome_indptr, outcome_state, weight, passes, payoff, action_lottery, first_action
):
    """Number the lotteries of a graph in the order in which its actions come to them.

    Two actions have the same lottery if they bring the same reward, and their
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
        The first action that has each lottery.

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
        if 2 * n > table.shape[0]:
            table = np.full(4 * table.shape[0], -1, np.int32)
            mask = np.uint64(table.shape[0] - 1)
            for i in range(n):
                place = keys[i] & mask
                while table[place] >= 0:
                    place = (place + np.uint64(1)) & mask
                table[place] = i
    return n
