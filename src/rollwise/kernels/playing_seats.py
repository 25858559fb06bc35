"""Games of three or more players, each seat with a policy of its own, played out."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import ONE, index, kernel
from rollwise.kernels.random import draw

_11, SCALE = np.uint64(11), 2.0**-53


@kernel
def play_games(
    n_games,
    words,
    probability,
    action_indptr,
    action_lottery,
    outcome_indptr,
    outcome_state,
    lottery_indptr,
    chance,
    over,
    passes,
    payoff,
    totals,
):
    """Play games from state 0, the first seat to move.

    Parameters
    ----------
    words : (4,) uint64
        The state of the generator.
    probability : (n_seats, n_actions) float64
    lottery_indptr, ..., payoff : of the lotteries; payoff is (n_lottery_outcomes, n_seats)
    totals : (2, n_seats) float64, filled
        The sum of what each seat got, and of its square.

    Returns
    -------
    int
        How many actions were taken in all.
    """
    n_seats = probability.shape[0]
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    moves = 0
    for _ in range(n_games):
        s, mover, going = index(0), 0, True
        while going:
            moves += 1
            bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            left = float(bits >> _11) * SCALE
            a = index(action_indptr[s])
            taken = a
            while a < index(action_indptr[s + ONE]):
                if probability[mover, a] > 0.0:
                    taken = a
                    left -= probability[mover, a]
                    if left < 0.0:
                        break
                a += ONE
            bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            left = float(bits >> _11) * SCALE
            i = index(action_lottery[taken])
            j, last = index(lottery_indptr[i]), index(lottery_indptr[i + ONE]) - ONE
            left -= chance[j]
            while left >= 0.0 and j < last:
                j += ONE
                left -= chance[j]
            if over[j]:
                for k in range(n_seats):
                    got = payoff[j, k]
                    seat = (mover + k) % n_seats
                    totals[0, seat] += got
                    totals[1, seat] += got * got
                going = False
            else:
                s = index(outcome_state[index(outcome_indptr[taken]) + j - lottery_indptr[i]])
                mover = (mover + np.int64(passes[j])) % n_seats
    return moves
