"""Self-play of three or more: Monte-Carlo control, each seat counting what it got itself."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import ONE, index, kernel
from rollwise.kernels.random import draw

_11, SCALE = np.uint64(11), 2.0**-53


@kernel
def learn_games(
    n_games,
    words,
    explore,
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
    visits,
):
    """Play games from state 0, and enter what each action brought its mover.

    The action with the largest mean so far is taken, or, with probability
    explore / (explore + visits of the state), any. One that was never taken counts an even share.

    Parameters
    ----------
    words : (4,) uint64
        The state of the generator; changed.
    payoff : (n_lottery_outcomes, n_seats) float64
    totals, visits : (n_actions,) float64, changed
        The sum of what followed for the mover, and how often the action was taken.
    """
    n_seats = payoff.shape[1]
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    path, movers = np.empty(1024, np.int64), np.empty(1024, np.int64)
    for _ in range(n_games):
        s, mover, going, moves = index(0), 0, True, 0
        while going:
            first, stop = index(action_indptr[s]), index(action_indptr[s + ONE])
            seen, taken, best = 0.0, first, -1.0
            for a in range(first, stop):
                seen += visits[a]
                mean = totals[a] / visits[a] if visits[a] > 0.0 else 1.0 / n_seats
                if mean > best:
                    taken, best = index(a), mean
            bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            if float(bits >> _11) * SCALE * (explore + seen) < explore:
                bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
                taken = first + index(int(float(bits >> _11) * SCALE * float(stop - first)))
            if moves == path.shape[0]:
                longer, others = np.empty(2 * moves, np.int64), np.empty(2 * moves, np.int64)
                longer[:moves] = path
                others[:moves] = movers
                path, movers = longer, others
            path[moves], movers[moves] = taken, mover
            moves += 1
            bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            left = float(bits >> _11) * SCALE
            i = index(action_lottery[taken])
            j, last = index(lottery_indptr[i]), index(lottery_indptr[i + ONE]) - ONE
            left -= chance[j]
            while left >= 0.0 and j < last:
                j += ONE
                left -= chance[j]
            if over[j]:
                for k in range(moves):
                    a = index(path[k])
                    totals[a] += payoff[j, (movers[k] - mover) % n_seats]
                    visits[a] += 1.0
                going = False
            else:
                s = index(outcome_state[index(outcome_indptr[taken]) + j - lottery_indptr[i]])
                mover = (mover + np.int64(passes[j])) % n_seats
    words[0], words[1], words[2], words[3] = s0, s1, s2, s3
