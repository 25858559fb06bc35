"""Stepping many environments at once: `rollwise.kernels.play` plays to the agent's next choice."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel
from rollwise.kernels.play import play_games
from rollwise.kernels.sampling import draw

FIRST, SECOND, EITHER = range(3)  # the agent's seat
_32 = np.uint64(32)
_1 = np.uint64(1)


@kernel
def step_batch(chosen, reset, seat, illegal_reward, reward_sign, observations, masks, action_of,
               early_payoffs, early_state, endings, action_indptr, first_node, starts, most_moves,
               play, words, state, done, owed, begin, mover, ends, observation, mask, reward,
               terminated):  # fmt: skip
    """Step every environment; finished ones begin a new game instead.

    Parameters
    ----------
    chosen : (n,) int64
        Ranks of actions.
    reset : bool
        Begin new games everywhere.
    seat : FIRST, SECOND or EITHER
    illegal_reward : float
        For an illegal action, without any other effect.
    observations, masks, action_of, early_payoffs
        See `rollwise.environments.arena.Arena`.
    early_state : (n_endings,) int64
        The state of a game ended by the opponent before the agent's first move.
    endings : (n_endings,) float64
        The payoffs of endings to the last mover.
    first_node : (n_states,) int32
        The node of the first action of each state of the agent.
    starts : (2,) int64
        The first nodes of games begun by the agent and by the opponent; -1 where the agent
        chooses at once.
    play : tuple
        The bits, nodes and cells of a `rollwise.play.games.PlayTable` with the agent's seat open.
    words : (4,) uint64
        State of the random numbers, in place.
    state : (n,) int64
        In place.
    done : (n,) bool
        In place.
    owed : (n,) float64
        The agent's points from an opponent's moves before its own first move; they belong to the
        reward of that move. In place.
    begin : (n,) int64
    mover : (n,) int64
    ends : `rollwise.play.games.Ends`
        Room to work in.
    observation, mask, reward, terminated : to fill

    Returns
    -------
    wrong : int
        -1, or the first environment with an invalid rank in `chosen`; no environment
        is changed then.
    stuck : int
        -1, or the node of an opponent's endless play.
    """
    n, n_ranks, n_fields = state.shape[0], action_of.shape[1], observations.shape[1]
    n_actions, n_endings = action_indptr[-1], endings.shape[0]
    if not reset:
        for i in range(n):
            if not done[i] and (chosen[i] < 0 or chosen[i] >= n_ranks):
                return i, -1
    playing = 0  # environment i plays as ``2 * i``, or as ``2 * i + 1`` where the opponent begins
    for i in range(n):
        terminated[i] = False
        reward[i] = 0.0
        if reset or done[i]:
            state[i] = 0
            done[i] = False
            owed[i] = 0.0
            second = np.int64(seat == SECOND)
            if seat == EITHER:
                drawn, s0, s1, s2, s3 = draw(words[0], words[1], words[2], words[3])
                words[0], words[1], words[2], words[3] = s0, s1, s2, s3
                second = np.int64((drawn >> _32) & _1)
            chosen[i] = -1
            node = starts[second]
        else:
            a = action_of[state[i], chosen[i]]
            second, node = np.int64(0), np.int64(-1)
            if a < 0:
                reward[i] = illegal_reward
            # The opponent has ended the game before the agent's first move: the only action
            # collects the payoff.
            elif a >= n_actions:
                done[i] = True
                terminated[i] = True
                reward[i] = owed[i] + early_payoffs[a - n_actions]
            else:
                node = first_node[state[i]] + a - action_indptr[state[i]]
        if node >= 0:
            begin[playing] = node
            mover[playing] = 2 * i + second
            playing += 1
    ended, passes, moves, points = ends
    bits, nodes, gain, code, threshold, other = play
    stuck = play_games(begin[:playing], most_moves, bits, nodes, gain, code, threshold, other,
                       words, ended, passes, moves, points)  # fmt: skip
    for k in range(playing):
        # Points are those of the first mover, with the other sign if that was the opponent.
        i, sign = mover[k] >> 1, 1.0 - 2.0 * (mover[k] & 1)
        gained = sign * points[k] if points.shape[0] > 0 else 0.0
        is_over = ended[k] < n_endings
        if chosen[i] < 0:  # a new game
            owed[i] = gained
            state[i] = early_state[ended[k]] if is_over else ended[k] - n_endings
            continue
        reward[i] = owed[i] + reward_sign * gained
        owed[i] = 0.0
        if is_over:  # the last state stays to be observed
            # The payoff is the last mover's: after an odd number of passes the opponent's.
            reward[i] += endings[ended[k]] * (1.0 - 2.0 * (passes[k] & 1))
            done[i] = True
            terminated[i] = True
        else:
            state[i] = ended[k] - n_endings
    for i in range(n):
        s = state[i]
        for j in range(n_fields):
            observation[i, j] = observations[s, j]
        for j in range(n_ranks):
            mask[i, j] = 0 if done[i] else masks[s, j]
    return -1, stuck
