"""Stepping many environments at once: an agent's action, the dice, the opponent's turn.

Outcomes come from the alias tables of `rollwise.kernels.sampling`, and the
opponent is one action a state (or, where it mixes, probabilities).
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import inner_kernel, kernel
from rollwise.kernels.random import draw
from rollwise.kernels.sampling import pick

FIRST, SECOND, EITHER = range(3)  # the agent's seat
COUNT_BITS = 24  # of a packed action
MOST_CELLS = (1 << COUNT_BITS) - 1
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
def pack_actions(outcome_indptr, packed):
    """Write where the cells of each action begin and how many there are, in one number.

    Parameters
    ----------
    packed : (n_actions,) int64
        To fill: first cell << COUNT_BITS | number of cells.
    """
    for a in range(packed.shape[0]):
        begin = np.int64(outcome_indptr[a])
        packed[a] = (begin << COUNT_BITS) | (np.int64(outcome_indptr[a + 1]) - begin)


@inner_kernel
def choose_mixed(s, bits, action_indptr, probability):
    """The action that a mixing policy takes in a state, drawn with 64 random bits."""
    left = np.float64(bits >> _11) * 2.0**-53
    a = action_indptr[s]
    while a + 1 < action_indptr[s + 1] and probability[a] <= left:
        left -= probability[a]
        a += 1
    while probability[a] == 0.0:  # rounding led past the last one
        a -= 1
    return a


@inner_kernel
def throw_first(s, throws, packed, cells, s0, s1, s2, s3):
    """The state after the throw before the choice in s, and the random numbers after that.

    The state itself where nothing is thrown; see `rollwise.environments.arena.Arena.throws`.
    """
    if throws.shape[0] > 0 and throws[s] >= 0:
        place = packed[throws[s]]
        bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
        s = np.int64(pick(cells, place >> COUNT_BITS, place & MOST_CELLS,
                          np.int64(bits >> _32))) >> 1  # fmt: skip
    return s, s0, s1, s2, s3


@kernel
def step_batch(chosen, reset, seat, illegal_reward, reward_sign, endings, observations, masks,
               action_of, throws, early_payoffs, early_state, packed, action_indptr,
               action_reward, cells, opponent_action, opponent_probability, words,
               state, done, waiting, fresh, owed, observation, mask, reward,
               terminated):  # fmt: skip
    """Step every environment; one that was done begins a new game instead.

    What a move waits for is memory. So all agents move first, then in rounds one
    move of every opponent whose turn it is: the moves of a round don't depend on
    each other, and their look-ups are under way at the same time.

    Parameters
    ----------
    chosen : (n,) int64
        Ranks of actions.
    reset : bool
        Begin new games everywhere.
    seat : FIRST, SECOND or EITHER
    illegal_reward : float
        For an action that isn't legal, which changes nothing else.
    endings : (n,) float64
        The payoffs of the codes that end a game.
    observations, masks, action_of, throws, early_payoffs
        See `rollwise.environments.arena.Arena`.
    early_state : (n,) int64
        The state of a game that the opponent ended before the agent has moved, by
        -1 - the code of its last move.
    packed : (n_actions,) int64
        See `pack_actions`.
    opponent_action : (n_states,) int32
        The opponent's action in each state; -1 where it mixes.
    opponent_probability : (n_actions,) or (0,) float64
    words : (4,) uint64
        State of the random numbers, in place.
    state : (n,) int64
        In place.
    done : (n,) bool
        In place.
    waiting : (n,) int64
        Room to work in.
    fresh : (n,) bool
        Room to work in.
    owed : (n,) float64
        What an opponent who moved first has brought the agent before its first move, which
        that move is rewarded with. In place.
    observation, mask, reward, terminated : to fill

    Returns
    -------
    int
        -1, or the first environment whose `chosen` is no rank at all; nothing is
        changed then.
    """
    n, n_ranks, n_fields = state.shape[0], action_of.shape[1], observations.shape[1]
    if not reset:
        for i in range(n):
            if not done[i] and (chosen[i] < 0 or chosen[i] >= n_ranks):
                return i
    n_actions = packed.shape[0]
    s0, s1, s2, s3 = words[0], words[1], words[2], words[3]
    opponents = 0
    for i in range(n):
        terminated[i] = False
        reward[i] = 0.0
        fresh[i] = False
        if reset or done[i]:
            state[i] = 0
            done[i] = False
            fresh[i] = True
            owed[i] = 0.0
            first = seat == FIRST
            if seat == EITHER:
                bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
                first = (bits >> _32) & _1 == 0
            if first:
                state[i], s0, s1, s2, s3 = throw_first(0, throws, packed, cells, s0, s1, s2, s3)
            else:
                waiting[opponents] = i
                opponents += 1
            continue
        a = action_of[state[i], chosen[i]]
        if a < 0:
            reward[i] = illegal_reward
            continue
        if a >= n_actions:
            done[i] = True
            terminated[i] = True
            reward[i] = owed[i] + early_payoffs[a - n_actions]
            continue
        place = packed[a]
        bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
        code = np.int64(pick(cells, place >> COUNT_BITS, place & MOST_CELLS,
                             np.int64(bits >> _32)))  # fmt: skip
        points = owed[i] + reward_sign * action_reward[a]
        owed[i] = 0.0
        if code < 0:
            done[i] = True
            terminated[i] = True
            reward[i] = points + endings[-1 - code]
        else:
            reward[i] = points
            state_after = code >> 1
            # the last state stays to be observed should the opponent end the game
            if code & 1:
                waiting[opponents] = i
                opponents += 1
                chosen[i] = state_after
            else:
                state[i], s0, s1, s2, s3 = throw_first(state_after, throws, packed, cells,
                                                       s0, s1, s2, s3)  # fmt: skip
    for k in range(opponents):
        if fresh[waiting[k]]:
            chosen[waiting[k]] = 0
    while opponents > 0:
        left = 0
        for k in range(opponents):
            i = waiting[k]
            s = chosen[i]  # what was chosen is no longer needed: here the opponent stands
            a = np.int64(opponent_action[s])
            if a < 0:
                bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
                a = choose_mixed(s, bits, action_indptr, opponent_probability)
            place = packed[a]
            bits, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            code = np.int64(pick(cells, place >> COUNT_BITS, place & MOST_CELLS,
                                 np.int64(bits >> _32)))  # fmt: skip
            if fresh[i]:
                owed[i] -= action_reward[a]
            else:
                reward[i] -= action_reward[a]
            if code >= 0:
                chosen[i] = code >> 1
                if code & 1:
                    state[i], s0, s1, s2, s3 = throw_first(code >> 1, throws, packed, cells,
                                                           s0, s1, s2, s3)  # fmt: skip
                    continue
            elif fresh[i]:
                state[i] = early_state[-1 - code]
                continue
            else:
                done[i] = True
                terminated[i] = True
                reward[i] -= endings[-1 - code]
                continue
            waiting[left] = i
            left += 1
        opponents = left
    for i in range(n):
        s = state[i]
        for j in range(n_fields):
            observation[i, j] = observations[s, j]
        for j in range(n_ranks):
            mask[i, j] = 0 if done[i] else masks[s, j]
    words[0], words[1], words[2], words[3] = s0, s1, s2, s3
    return -1
