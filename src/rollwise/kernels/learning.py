"""Learning from games won and lost: play against yourself, and count.

How often each action was followed by a win, a loss or a draw is counted, and the
next game chooses by these counts. Every visit of a position counts, so a position
met twice in a game counts twice. The chances of a state's actions are kept as
thresholds, with which 32 random bits are compared. A visit changes the counts of one state and
updates its thresholds. Thresholds are written as often as they are read, but no move waits for it.

Indices are unsigned, because compiled code tests signed ones for negative values.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import inner_kernel, kernel
from rollwise.kernels.random import draw
from rollwise.kernels.sampling import DRAWN, WON, pick

# How an action is chosen: by the chances of `set_by_rates`, or by `set_by_epsilon`.
BY_RATES, BY_EPSILON = 0, 1
WINS, LOSSES, DRAWS = 0, 1, 2
SCALE = 2.0**32
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_1 = np.uint64(1)


@inner_kernel
def best_action(begin, end, rate):
    """The first of the actions `begin` to `end` with the highest rate."""
    best = begin
    for a in range(begin + 1, end):
        if rate[a] > rate[best]:
            best = a
    return best


@inner_kernel
def set_by_rates(begin, end, seen, rate, explore, threshold):
    """Thresholds for p_B = (T f_B + M) / (T f_B + K M), and p_J for the other actions J.

    p_J = (1 - p_B) (T f_J + M) / (g T + (K - 1) M), with f the rates, B the first
    of the best, T the times `seen`, M `explore`, K the number of actions and g the
    sum of f over all J. The thresholds are the sums of p so far, times 2**32.
    """
    best = best_action(begin, end, rate)
    others = 0.0
    for a in range(begin, end):
        others += 0.0 if a == best else rate[a]
    k = end - begin
    gain = seen * rate[best]
    p_best = (gain + explore) / (gain + k * explore)
    share = (1.0 - p_best) / (others * seen + (k - 1) * explore)
    total = 0.0
    for a in range(begin, end - 1):
        total += p_best if a == best else share * (seen * rate[a] + explore)
        threshold[a] = int(total * SCALE)


@inner_kernel
def set_by_epsilon(begin, end, seen, rate, explore, threshold):
    """Thresholds for the best action, or with probability M / (M + T) any one."""
    best = best_action(begin, end, rate)
    epsilon = explore / (explore + seen)
    total = 0.0
    for a in range(begin, end - 1):
        total += epsilon / (end - begin)
        if a == best:
            total += 1.0 - epsilon
        threshold[a] = int(total * SCALE)


@inner_kernel
def split_in_two(seen, first, second, explore, rule):
    """The threshold of a state with two actions, from their rates.

    The same chances: where there is only one other action, it has what is left.
    """
    if rule == BY_RATES:
        gain = seen * max(first, second) + explore
        p_best = gain / (gain + explore)
    else:
        p_best = 1.0 - 0.5 * explore / (explore + seen)
    is_first = 1.0 if first >= second else 0.0
    return int(SCALE * (is_first * p_best + (1.0 - is_first) * (1.0 - p_best)))


@inner_kernel
def set_thresholds(begin, end, seen, rate, explore, rule, threshold):
    """Write the thresholds of a state with the actions `begin` to `end`."""
    if end - begin == 2:
        threshold[begin] = split_in_two(seen, rate[begin], rate[begin + 1], explore, rule)
    elif end - begin > 2 and rule == BY_RATES:
        set_by_rates(begin, end, seen, rate, explore, threshold)
    elif end - begin > 2:
        set_by_epsilon(begin, end, seen, rate, explore, threshold)


@kernel
def choose(begin, end, threshold, bits):
    """The action that 32 random bits (an int64) fall on."""
    a = begin
    for j in range(begin, end - 1):
        a += bits >= threshold[j]
    return a


@kernel
def win_rate(counts, a):
    """Wins out of the games through an action, a draw being half a win; 0.5 if unseen."""
    n = counts[a, WINS] + counts[a, LOSSES] + counts[a, DRAWS]
    if n == 0:
        return 0.5
    return (counts[a, WINS] + 0.5 * counts[a, DRAWS]) / n


@kernel
def refresh(action_indptr, counts, seen, rate, threshold, explore, rule):
    """Work out what the choices need from the counts of all actions."""
    for s in range(action_indptr.shape[0] - 1):
        begin, end = action_indptr[s], action_indptr[s + 1]
        seen[s] = 0
        for a in range(begin, end):
            rate[a] = win_rate(counts, a)
            seen[s] += counts[a, WINS] + counts[a, LOSSES] + counts[a, DRAWS]
        set_thresholds(begin, end, seen[s], rate, explore, rule, threshold)


@kernel
def count_game(path, length, code, action_indptr, action_state, counts, seen, rate, threshold,
               explore, rule):  # fmt: skip
    """Count a game for both players.

    Parameters
    ----------
    path : (m,) int64
        Twice the action of each move, plus 1 where the second player moved.
    code : int
        How the game ended for the player who made the last move.
    """
    last = path[length - 1] & 1
    winner = last if code == WON else 1 - last
    for i in range(length):
        a = np.uint64(path[i] >> 1)
        s = np.uint64(action_state[a])
        column = DRAWS if code == DRAWN else (path[i] & 1) ^ winner
        counts[a, column] += 1
        seen[s] += 1
        rate[a] = win_rate(counts, a)
        begin, end = np.uint64(action_indptr[s]), np.uint64(action_indptr[s + _1])
        if end - begin == 2:  # here, since a call that passes arrays takes longer than the work
            first, second = rate[begin], rate[begin + _1]
            threshold[begin] = split_in_two(seen[s], first, second, explore, rule)
        elif end - begin > 2:
            set_thresholds(np.int64(begin), np.int64(end), seen[s], rate, explore, rule, threshold)


@kernel(never_interpreted=True)
def learn_wins(games, action_indptr, action_state, outcome_indptr, cells, counts, seen, rate,
               threshold, explore, rule, words, path):  # fmt: skip
    """Play games from state 0 against oneself and count them.

    Parameters
    ----------
    games : int
        How many games.
    action_indptr, outcome_indptr : arrays of a StateGraph
    action_state : (n_actions,) int32
    cells : (n_outcomes, 4) int32
        From `alias_tables`.
    counts : (n_actions, 4) int64
        Wins, losses and draws, in place. The fourth column is padding.
    seen : (n_states,) int64
    rate : (n_actions,) float64
    threshold : (n_actions,) int64
        As `refresh` leaves them; in place.
    words : (4,) uint64
        State of the random numbers, in place.
    path : (m,) int64
        Room for the moves of a game.

    Returns
    -------
    int
        Games played: fewer than `games` if one needs more room than `path` has. That
        one is not begun: called again with more room, the kernel plays it.
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
            here = np.uint64(s)
            begin, end = action_indptr[here], action_indptr[here + _1]
            roll = np.int64(bits >> _32)
            a = begin
            if end - begin == 2:
                a += roll >= threshold[np.uint64(begin)]
            elif end - begin > 2:
                a = choose(begin, end, threshold, roll)
            path[np.uint64(length)] = 2 * a + seat
            length += 1
            action = np.uint64(a)
            begin = outcome_indptr[action]
            count = outcome_indptr[action + _1] - begin
            code = np.int64(pick(cells, begin, count, np.int64(bits & _LOW)))
            if code < 0:
                break
            s = code >> 1
            seat ^= code & 1
        if code >= 0:
            return game
        count_game(path, length, code, action_indptr, action_state, counts, seen, rate,
                   threshold, explore, rule)  # fmt: skip
        words[0], words[1], words[2], words[3] = s0, s1, s2, s3
    return games
