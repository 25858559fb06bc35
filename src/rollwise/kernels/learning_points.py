"""Learning a game for points or stakes: as `rollwise.kernels.learning`, with scores.

What is kept of an action is how often it was taken and the points that followed it for the
player who took it (its own included, the other player's with the other sign). The rate that
the choice needs lies between 0 and 1: the mean of an action on a scale from the worst to the
best that was ever seen from its state.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import inner_kernel, kernel
from rollwise.kernels.learning import choose, set_thresholds
from rollwise.kernels.random import draw
from rollwise.kernels.sampling import pick

_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@inner_kernel
def set_rates(begin, end, visits, total, low, high, sign, rate):
    """Write the rates of a state's actions; 0.5 where nothing was seen."""
    for a in range(begin, end):
        if visits[a] == 0 or high <= low:
            rate[a] = 0.5
        else:
            place = (total[a] / visits[a] - low) / (high - low)
            rate[a] = place if sign > 0 else 1.0 - place


@kernel
def refresh_points(action_indptr, visits, total, low, high, sign, seen, rate, threshold, explore,
                   rule):  # fmt: skip
    """Work out what the choices need from what is known of all actions."""
    for s in range(action_indptr.shape[0] - 1):
        begin, end = action_indptr[s], action_indptr[s + 1]
        seen[s] = 0
        for a in range(begin, end):
            seen[s] += visits[a]
        set_rates(begin, end, visits, total, low[s], high[s], sign, rate)
        set_thresholds(begin, end, seen[s], rate, explore, rule, threshold)


@kernel
def count_points(path, length, payoff, action_indptr, action_state, action_reward, visits, total,
                 squares, low, high, sign, seen, rate, threshold, explore, rule):  # fmt: skip
    """Count a game: each action with the points from it on.

    Parameters
    ----------
    path : (m,) int64
        Twice the action of each move, plus 1 where the second player moved.
    payoff : float
        At the end of the game, for who made the last move.
    """
    points = payoff
    mover = path[length - 1] & 1
    for i in range(length - 1, -1, -1):
        if path[i] & 1 != mover:
            mover = path[i] & 1
            points = -points
        a = path[i] >> 1
        s = action_state[a]
        begin, end = action_indptr[s], action_indptr[s + 1]
        points += action_reward[a]
        visits[a] += 1
        total[a] += points
        squares[a] += points * points
        low[s] = min(low[s], points)
        high[s] = max(high[s], points)
        seen[s] += 1
        set_rates(begin, end, visits, total, low[s], high[s], sign, rate)
        set_thresholds(begin, end, seen[s], rate, explore, rule, threshold)


@kernel(never_interpreted=True)
def learn_points(games, action_indptr, action_state, action_reward, endings, outcome_indptr, cells,
                 visits, total, squares, low, high, sign, seen, rate, threshold, explore, rule,
                 words, path):  # fmt: skip
    """Play games from state 0 and count them.

    As `rollwise.kernels.learning.learn_wins`, but for

    Parameters
    ----------
    endings : (n,) float64
        The payoffs of the codes that end a game.
    visits : (n_actions,) int64
    total, squares : (n_actions,) float64
        Sums of the points that followed, and of their squares.
    low, high : (n_states,) float64
        The least and most points that were ever made from a state on.
    sign : float
        1 where many points are good, -1 where few are.
    """
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    room = path.shape[0]
    for game in range(games):
        s = np.int64(0)
        seat = np.int64(0)
        length = 0
        code = np.int64(0)
        while length < room:
            bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            a = choose(action_indptr[s], action_indptr[s + 1], threshold, np.int64(bits >> _32))
            path[length] = 2 * a + seat
            length += 1
            begin = outcome_indptr[a]
            count = outcome_indptr[a + 1] - begin
            code = np.int64(pick(cells, begin, count, np.int64(bits & _LOW)))
            if code < 0:
                break
            s = code >> 1
            seat ^= code & 1
        if code >= 0:
            return game
        count_points(path, length, endings[-1 - code], action_indptr, action_state, action_reward,
                     visits, total, squares, low, high, sign, seen, rate, threshold, explore,
                     rule)  # fmt: skip
        words[0], words[1], words[2], words[3] = s0, s1, s2, s3
    return games
