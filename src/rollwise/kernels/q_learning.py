"""Tabular Q-learning by self-play.

Watkins and Dayan (1992), "Q-learning", Machine Learning 8. For two players the
value of what follows a PASS is the opponent's, so it counts with the other sign:
minimax-Q of Littman (1994) for games in which the players take turns.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import inner_kernel, kernel
from rollwise.kernels.random import draw
from rollwise.kernels.sampling import pick

_11 = np.uint64(11)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@inner_kernel
def best_value(begin, end, value, sign):
    """The first of the actions with the best value."""
    best = begin
    for a in range(begin + 1, end):
        if sign * value[a] > sign * value[best]:
            best = a
    return best


@kernel(never_interpreted=True)
def learn_q(games, most_moves, action_indptr, action_reward, endings, outcome_indptr, cells, value,
            visits, seen, sign, explore, power, words):  # fmt: skip
    """Play games from state 0 and move the value of each action towards what came of it.

    The action is the best one, or with probability M / (M + T) any one, T being
    the visits of the state so far and M `explore`. The n-th visit of an action
    moves its value by ``n ** -power`` of the way.

    Parameters
    ----------
    endings : (n,) float64
        The payoffs of the codes that end a game.
    value : (n_actions,) float64
        Values in the mover's eyes, in place.
    visits, seen : (n_actions,) and (n_states,) int64
        How often each action was taken and each state met, in place.
    sign : float
        1 where large values are good for the mover, -1 where small ones are.
    words : (4,) uint64
        State of the random numbers, in place.

    Returns
    -------
    int
        Games played: fewer than `games` if one took more than `most_moves`.
    """
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    for game in range(games):
        s = np.int64(0)
        code = np.int64(0)
        moves = 0
        while code >= 0:
            if moves == most_moves:
                return game
            moves += 1
            begin, end = action_indptr[s], action_indptr[s + 1]
            a = begin
            if end - begin > 1:
                bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
                u = np.int64(bits >> _11) * 2.0**-53 * (explore + seen[s])
                if u < explore:  # u / explore is uniform again
                    a = begin + min(int(u / explore * (end - begin)), end - begin - 1)
                else:
                    a = best_value(begin, end, value, sign)
            bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            first = outcome_indptr[a]
            count = outcome_indptr[a + 1] - first
            code = np.int64(pick(cells, first, count, np.int64(bits & _LOW)))
            if code >= 0:
                t = code >> 1
                follows = value[best_value(action_indptr[t], action_indptr[t + 1], value, sign)]
                if code & 1:
                    follows = -follows
                s_next = t
            else:
                follows = endings[-1 - code]
                s_next = s
            visits[a] += 1
            seen[s] += 1
            step = float(visits[a]) ** -power
            value[a] += step * (action_reward[a] + follows - value[a])
            s = s_next
        words[0], words[1], words[2], words[3] = s0, s1, s2, s3
    return games
