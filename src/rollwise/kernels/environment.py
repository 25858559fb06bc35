"""Stepping many environments at once: an agent's action, the dice, the opponent's turn.

Outcomes come from the alias tables of `rollwise.kernels.sampling`, and the
opponent is one action a state (or, where it mixes, probabilities).
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel
from rollwise.kernels.random import draw
from rollwise.kernels.sampling import DRAWN, WON, pick

FIRST, SECOND, EITHER = range(3)  # the agent's seat
_32 = np.uint64(32)
_11 = np.uint64(11)
_1 = np.uint64(1)


@kernel
def legal_actions(action_indptr, action_rank, action_of, mask):
    """Write which action of the graph each (state, rank) is, and whether there is one.

    Parameters
    ----------
    action_rank : (n_actions,) int64
        The place of each action among all the actions of the game.
    action_of : (n_states, n_ranks) int32
        To fill; -1 where the action isn't legal.
    mask : (n_states, n_ranks) int8
    """
    for s in range(action_of.shape[0]):
        for r in range(action_of.shape[1]):
            action_of[s, r] = -1
            mask[s, r] = 0
        for a in range(action_indptr[s], action_indptr[s + 1]):
            action_of[s, action_rank[a]] = a
            mask[s, action_rank[a]] = 1


@kernel
def _moves_first(seat, s0, s1, s2, s3):
    """Whether the agent moves first, and the state of the random numbers."""
    if seat == EITHER:
        bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
        return (bits >> _32) & _1 == 0, s0, s1, s2, s3
    return seat == FIRST, s0, s1, s2, s3


@kernel
def step_batch(chosen, reset, seat, illegal_reward, reward_sign, states, masks, action_of,
               action_indptr, action_reward, outcome_indptr, cells, opponent_action,
               opponent_probability, words, state, done, observation, mask, reward,
               terminated):  # fmt: skip
    """Step every environment; one that was done begins a new game instead.

    Parameters
    ----------
    chosen : (n,) int64
        Ranks of actions.
    reset : bool
        Begin new games everywhere.
    seat : FIRST, SECOND or EITHER
    illegal_reward : float
        For an action that isn't legal, which changes nothing else.
    opponent_action : (n_states,) int32
        The opponent's action in each state; -1 where it mixes.
    opponent_probability : (n_actions,) or (0,) float64
    words : (4,) uint64
        State of the random numbers, in place.
    state : (n,) int64
    done : (n,) bool
        In place.
    observation, mask, reward, terminated : to fill

    Returns
    -------
    int
        -1, or the first environment whose `chosen` is no rank at all.
    """
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    n_ranks = action_of.shape[1]
    n_fields = states.shape[1]
    for i in range(state.shape[0]):
        s = state[i]
        mine = True
        over = False
        payoff = 0.0
        a = -1
        begins = reset or done[i]
        if begins:
            s = 0
            mine, s0, s1, s2, s3 = _moves_first(seat, s0, s1, s2, s3)
        else:
            if chosen[i] < 0 or chosen[i] >= n_ranks:
                words[0], words[1], words[2], words[3] = s0, s1, s2, s3
                return i
            a = action_of[s, chosen[i]]
            if a < 0:
                reward[i] = illegal_reward
                terminated[i] = False
                continue
            payoff = reward_sign * action_reward[a]
        while a >= 0 or not mine:
            if a < 0:
                a = opponent_action[s]
                if a < 0:
                    bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
                    left = np.float64(bits >> _11) * 2.0**-53
                    a = action_indptr[s]
                    while (a + 1 < action_indptr[s + 1]
                           and (opponent_probability[a] <= left)):  # fmt: skip
                        left -= opponent_probability[a]
                        a += 1
                    while opponent_probability[a] == 0.0:  # rounding led past the last one
                        a -= 1
            begin = np.int64(outcome_indptr[a])
            count = np.int64(outcome_indptr[a + 1]) - begin
            bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            code = np.int64(pick(cells, begin, count, np.int64(bits >> _32)))
            a = -1
            if code < 0 and begins:  # the opponent has won before the agent could move
                s = 0
                mine = False
                continue
            if code < 0:
                over = True
                ending = 0.0 if code == DRAWN else (1.0 if code == WON else -1.0)
                payoff += ending if mine else -ending
                break
            s = code >> 1
            if code & 1:
                mine = not mine
            if mine:
                break
        reward[i] = payoff
        terminated[i] = over
        done[i] = over
        if not over:
            state[i] = s
            for j in range(n_fields):
                observation[i, j] = states[s, j]
            for j in range(n_ranks):
                mask[i, j] = masks[s, j]
    words[0], words[1], words[2], words[3] = s0, s1, s2, s3
    return -1
