"""Self-play: games against oneself, for estimates of each action's value.

One loop plays the games of every learner, for any number of seats. Two kinds of estimates:

- Sums. Each visit of an action adds the later points of its seat, and their square: a payoff of 1
  or -1 in a game of win or loss. A position met twice in a game
  counts twice. The *rate* of an action is its mean on a scale from the worst (0) to the best (1):
  the range of the payoffs, or, where points count, the range observed from its state. The next
  game chooses by these rates. The probabilities of a state's actions are stored as thresholds for
  comparison with 32 random bits. A visit changes the rates of one state and updates its
  thresholds. Thresholds are written as often as they are read, but no move waits for it.
- Values: tabular Q-learning (Watkins and Dayan 1992, "Q-learning", Machine Learning 8). For two
  players the value after a PASS is the opponent's, so it counts with the other sign:
  minimax-Q of Littman (1994) for games with alternating moves.

Indices are unsigned, because compiled code tests signed ones for negative values.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rollwise.kernels.jit import inlined, kernel
from rollwise.kernels.sampling import draw, pick

# How an action is chosen: by the chances of `set_by_rates`, by `set_by_epsilon`, or by values.
BY_RATES, BY_EPSILON, BY_VALUES = range(3)
VISITS, TOTAL, SQUARES, RATE = range(4)  # columns of a table of actions
HERE, POINTS, GAMES = range(3)  # the first columns of the table by games
POWER = 2.0 / 3.0  # Q-learning: the n-th visit moves a value by n ** -POWER of the way
SCALE = 2.0**32
Floats: TypeAlias = NDArray[np.float64]
_11 = np.uint64(11)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_1 = np.uint64(1)


class Rules(NamedTuple):
    """Inputs of the loop from the game, and constants of a run.

    Attributes
    ----------
    action_indptr, action_state, outcome_indptr : arrays of a StateGraph
    cells : (n_outcomes, 4) int32
        From `rollwise.kernels.sampling.alias_tables`.
    payoffs : (n_endings, players) float64
        The payoff of each ending to the seats, from the mover on.
    low, high : float
        The scale of the rates, unless states have scales of their own.
    bits : int
        Bits of a code for the seats moved at a PASS.
    sign : float
        1 where many points are good, -1 where few are.
    rule : BY_RATES, BY_EPSILON or BY_VALUES
    explore : float
        M: the larger, the longer the learner explores.
    """

    action_indptr: Any
    action_state: Any
    outcome_indptr: Any
    cells: NDArray[np.int32]
    payoffs: Floats
    low: float
    high: float
    bits: int
    sign: float
    rule: int
    explore: float


class Known(NamedTuple):
    """Results of the games so far, changed by the loop.

    Attributes
    ----------
    table : (n_actions, 4) float64
        Visits of each action; the sum of the later points, or with BY_VALUES
        the value; the sum of their squares; and the rate.
    threshold : (n_actions,) int64
        See `set_by_rates`.
    by_game : (n_actions, 5) float64 or None
        Visits of each action in the present game, and the sum of the later points; then three sums
        over all games: of the squared visits, of visits times points, and of the squared points.
        None where a game meets each position once: the table has these sums.
    """

    table: Floats
    threshold: NDArray[np.int64]
    by_game: Floats | None = None


@inlined
def best_action(begin, end, table, column, sign):
    """The first of the actions `begin` to `end` with the best number in a column."""
    best = begin
    for a in range(begin + 1, end):
        if sign * table[a, column] > sign * table[best, column]:
            best = a
    return best


@inlined
def set_by_rates(begin, end, seen, table, explore, threshold):
    """Thresholds for p_B = (T f_B + M) / (T f_B + K M), and p_J for the other actions J.

    p_J = (1 - p_B) (T f_J + M) / (g T + (K - 1) M), with f the rates, B the first
    of the best, T the times `seen`, M `explore`, K the number of actions and g the
    sum of f over all J. The thresholds are the sums of p so far, times 2**32.
    """
    best = best_action(begin, end, table, RATE, 1.0)
    others = 0.0
    for a in range(begin, end):
        others += 0.0 if a == best else table[a, RATE]
    k = end - begin
    gain = seen * table[best, RATE]
    p_best = (gain + explore) / (gain + k * explore)
    share = (1.0 - p_best) / (others * seen + (k - 1) * explore)
    total = 0.0
    # The last action needs no threshold: it has the rest.
    for a in range(begin, end - 1):
        total += p_best if a == best else share * (seen * table[a, RATE] + explore)
        threshold[a] = int(total * SCALE)


@inlined
def set_by_epsilon(begin, end, seen, table, explore, threshold):
    """Thresholds for the best action, or with probability M / (M + T) any one."""
    best = best_action(begin, end, table, RATE, 1.0)
    epsilon = explore / (explore + seen)
    total = 0.0
    for a in range(begin, end - 1):
        total += epsilon / (end - begin)
        if a == best:
            total += 1.0 - epsilon
        threshold[a] = int(total * SCALE)


@inlined
def split_in_two(seen, first, second, explore, rule):
    """The threshold of a state with two actions, from their rates.

    The probabilities are the same: a single other action has the rest.
    """
    if rule == BY_RATES:
        gain = seen * max(first, second) + explore
        p_best = gain / (gain + explore)
    else:
        p_best = 1.0 - 0.5 * explore / (explore + seen)
    # Products in place of a branch that no processor could predict.
    is_first = 1.0 if first >= second else 0.0
    return int(SCALE * (is_first * p_best + (1.0 - is_first) * (1.0 - p_best)))


@inlined
def set_thresholds(begin, end, table, threshold, rule, explore):
    """Write the thresholds of a state with the actions `begin` to `end`."""
    if end - begin == 2:
        seen = table[begin, VISITS] + table[begin + _1, VISITS]
        first, second = table[begin, RATE], table[begin + _1, RATE]
        threshold[begin] = split_in_two(seen, first, second, explore, rule)
    elif end - begin > 2:
        seen = 0.0
        for a in range(begin, end):
            seen += table[a, VISITS]
        if rule == BY_RATES:
            set_by_rates(np.int64(begin), np.int64(end), seen, table, explore, threshold)
        else:
            set_by_epsilon(np.int64(begin), np.int64(end), seen, table, explore, threshold)


@inlined
def set_rate(a, table, low, high, players, sign):
    """Write the rate of an action; an even share, of two at least, for an unseen one."""
    visits = table[a, VISITS]
    if visits == 0.0 or high <= low:
        table[a, RATE] = 1.0 / max(players, 2)
    else:
        place = (table[a, TOTAL] - low * visits) / ((high - low) * visits)
        table[a, RATE] = place if sign > 0 else 1.0 - place


@kernel
def refresh(rules, known, scales):
    """Work out rates and thresholds from the sums of all actions."""
    table, threshold, _ = known
    low, high, players = rules.low, rules.high, rules.payoffs.shape[1]
    for s in range(rules.action_indptr.shape[0] - 1):
        begin, end = np.uint64(rules.action_indptr[s]), np.uint64(rules.action_indptr[s + 1])
        if scales is not None:
            low, high = scales[s, 0], scales[s, 1]
        for a in range(begin, end):
            set_rate(a, table, low, high, players, rules.sign)
        set_thresholds(begin, end, table, threshold, rules.rule, rules.explore)


@inlined
def count_moves(path, length, code, numbers, action_indptr, action_state, payoffs, table, threshold,
                by_game, scales, rewards, gained):  # fmt: skip
    """Count a game, last move first: each action with the later points of its seat.

    With two players one gets the points paid by the other. With more, each has its own payoff.

    Parameters
    ----------
    path : (m,) int64
        The action of each move and its seat, ``action << bits | seat``.
    code : int
        The ending for the seat of the last move.
    numbers : tuple
        The last six of `Rules`.
    scales, rewards, gained
        See `learn_games`.
    """
    low, high, bits, sign, rule, explore = numbers
    players, mask = payoffs.shape[1], (1 << bits) - 1
    width = high - low
    seat = path[length - 1] & mask
    # The payoffs of an ending are stored from the last mover on; `gained` is by seats.
    for k in range(players):
        gained[seat] = payoffs[-1 - code, k]
        seat = seat + 1 if seat + 1 < players else 0
    # From here on `gained` has the points of each seat from move i to the end.
    for i in range(length - 1, -1, -1):
        a, mover = np.uint64(path[i] >> bits), path[i] & mask
        s = np.uint64(action_state[a])
        begin, end = np.uint64(action_indptr[s]), np.uint64(action_indptr[s + _1])
        if rewards is not None:
            for k in range(players):
                gained[k] += rewards[a] if k == mover else -rewards[a]
        points = gained[np.uint64(mover)]
        visits, total = table[a, VISITS] + 1.0, table[a, TOTAL] + points
        table[a, VISITS], table[a, TOTAL] = visits, total
        table[a, SQUARES] += points * points
        if by_game is not None:
            by_game[a, HERE] += 1.0
            by_game[a, POINTS] += points
        if scales is not None:
            scales[s, 0] = low = min(scales[s, 0], points)
            scales[s, 1] = high = max(scales[s, 1], points)
            for b in range(begin, end):
                set_rate(b, table, low, high, players, sign)
        else:
            table[a, RATE] = (total - low * visits) / (width * visits)
        set_thresholds(begin, end, table, threshold, rule, explore)
    if by_game is not None:
        # An action taken twice is counted once: its numbers of this game are 0 afterwards.
        for i in range(length):
            a = np.uint64(path[i] >> bits)
            visits, points = by_game[a, HERE], by_game[a, POINTS]
            by_game[a, GAMES] += visits * visits
            by_game[a, GAMES + 1] += visits * points
            by_game[a, GAMES + 2] += points * points
            by_game[a, HERE] = by_game[a, POINTS] = 0.0


@kernel
def count_game(path, length, code, rules, known, scales, rewards, gained):
    """Count a game played elsewhere, see `count_moves`."""
    action_indptr, action_state, _, _, payoffs = rules[:5]
    count_moves(path, length, code, rules[5:], action_indptr, action_state, payoffs, known.table,
                known.threshold, known.by_game, scales, rewards, gained)  # fmt: skip


@inlined
def move_value(a, code, bits, sign, action_indptr, payoffs, table, rewards):
    """Move the value of an action towards the observed one: Q-learning."""
    if code >= 0:
        t = code >> bits
        follows = table[
            best_action(action_indptr[t], action_indptr[t + 1], table, TOTAL, sign), TOTAL
        ]
        if code & 1:
            follows = -follows
    else:
        follows = payoffs[-1 - code, 0]
    if rewards is not None:
        follows += rewards[a]
    table[a, VISITS] += 1.0
    table[a, TOTAL] += table[a, VISITS] ** -POWER * (follows - table[a, TOTAL])


@kernel(never_interpreted=True)
def learn_games(games, most_moves, rules, known, scales, rewards, path, gained, words):
    """Play games from state 0 against oneself, and learn from each.

    Numba compiles the loop for arrays and None apart, so None arguments take no time.

    Parameters
    ----------
    games : int
        Number of games.
    most_moves : int
        Moves before a game is given up, at most m.
    rules : Rules
        With BY_VALUES the best action is taken, or with probability M / (M + T) any one, T being
        the visits of the state.
    known : Known
        As `refresh` leaves it; in place.
    scales : (n_states, 2) float64 or None
        The least and most points observed from a state on; in place.
    rewards : (n_actions,) float64 or None
        None where only the ending counts.
    path : (m,) int64 or None
        Room for the moves of a game; None with BY_VALUES, without counts of games.
    gained : (players,) float64
        Room to work in.
    words : (4,) uint64
        State of the random numbers, in place.

    Returns
    -------
    int
        Games played: fewer than `games` if one takes more than `most_moves`. That one is not
        begun, unless values were learned from its moves: called again with more room, the kernel
        plays it.
    """
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    # taken out of the tuples once: the loop would count references
    action_indptr, action_state, outcome_indptr, cells, payoffs = rules[:5]
    table, threshold, by_game = known
    numbers, bits, sign, explore = rules[5:], rules.bits, rules.sign, rules.explore
    mask, players = (1 << bits) - 1, payoffs.shape[1]
    for game in range(games):
        s = np.int64(0)
        seat = np.int64(0)
        length = 0
        code = np.int64(0)
        # A code is negative when the game is over; otherwise it has the next state and the seats
        # on.
        while length < most_moves:
            here = np.uint64(s)
            begin, end = action_indptr[here], action_indptr[here + _1]
            a = begin
            if path is None:
                if end - begin > 1:
                    seen = 0.0
                    for b in range(begin, end):
                        seen += table[b, VISITS]
                    drawn, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
                    u = np.int64(drawn >> _11) * 2.0**-53 * (explore + seen)
                    if u < explore:  # u / explore is uniform again
                        a = begin + min(int(u / explore * (end - begin)), end - begin - 1)
                    else:
                        a = best_action(begin, end, table, TOTAL, sign)
                drawn, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            else:
                drawn, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
                roll = np.int64(drawn >> _32)
                # Thresholds ascend: the drawn action stands behind all that the roll reaches. No
                # branch depends on the roll.
                if end - begin == 2:
                    a += roll >= threshold[np.uint64(begin)]
                elif end - begin > 2:
                    for j in range(begin, end - 1):
                        a += roll >= threshold[j]
                path[np.uint64(length)] = (a << bits) | seat
            length += 1
            action = np.uint64(a)
            first = outcome_indptr[action]
            count = outcome_indptr[action + _1] - first
            code = np.int64(pick(cells, first, count, np.int64(drawn & _LOW)))
            if path is None:
                move_value(a, code, bits, sign, action_indptr, payoffs, table, rewards)
            if code < 0:
                break
            s = code >> bits
            seat += code & mask
            if seat >= players:
                seat -= players
        # The words are still those before this game.
        if code >= 0:
            return game
        if path is not None:
            count_moves(path, length, code, numbers, action_indptr, action_state, payoffs, table,
                        threshold, by_game, scales, rewards, gained)  # fmt: skip
        words[0], words[1], words[2], words[3] = s0, s1, s2, s3
    return games
