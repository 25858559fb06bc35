"""The recursion of a game in solving order, and sweeps over it.

Every kernel here works on the equation

    v[i] = max over actions a of  constant[a] + sum over k of c[k] * v[target[k]]

States are numbered by position. Components that end every play come first. Within a component
a sweep from low to high positions meets what a state leads to before the state, unless the two
lie on a cycle. What a sweep reads before it has written it is a feedback vertex set: every
cycle goes through it, and given its values, one sweep gives all others. A sweep is
therefore a map F from these values to themselves, and its derivative J is found by
carrying slopes along. Newton's step on F(x) = x is the policy that is best at x, evaluated
exactly: strategy iteration, at the price of one sweep a step.

The coefficients c are those of the action's lottery (see `rollwise.graph`), so that
a sweep reads little more than where outcomes lead. `Arranged` is what they all read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.kernels.prefetch import prefetch

TWO = index(2)
AHEAD = index(8)  # states between a line's being asked for and its being read
LINE = index(16)  # outcomes in a line of memory
MOST_FEEDBACK = 16  # states of a feedback vertex set that are found one by one


class Arranged(NamedTuple):
    """A recursion in solving order.

    Action a, at ``action_indptr[i] <= a < action_indptr[i + 1]`` for the position i,
    leads to ``target[outcome_indptr[a]:outcome_indptr[a + 1]]`` with the
    coefficients that begin at ``coefficient[lottery_indptr[lottery[a]]]``. The feedback vertex
    set of a component is what a sweep reads before it writes it. The `reader` of such a state is
    one that reads it; if possible one that also leads out of the component, and reads no other
    later.
    """

    action_indptr: Any  # (n_states + 1,) uint32
    constant: Any  # (n_actions,) float64
    lottery: Any  # (n_actions,) uint32
    outcome_indptr: Any  # (n_actions + 1,) uint32
    target: Any  # (n_outcomes,) uint32: positions; from n_states on, the border
    lottery_indptr: Any  # (n_lotteries + 1,) uint32
    coefficient: Any  # (n_lottery_outcomes,) float64
    n_feedback: Any  # (n_states,) uint8: size of each component's set; MOST_FEEDBACK + 1 if larger
    feedback: Any  # (n_states,) uint32: its positions, from that of the component's first state
    reader: Any  # (n_states,) uint32: of each of them, in the same places


@kernel
def arrange(
    first,
    stop,
    component_indptr,
    order,
    position,
    action_indptr,
    action_lottery,
    outcome_indptr,
    outcome_state,
    lottery_constant,
    arranged,
):
    """Write some of a graph in solving order; outcomes that end the game are left out.

    Parameters
    ----------
    first, stop : int
        Which components: from `first` to below `stop`. Those before are written already.
    component_indptr, order, position
        See `rollwise.graph.components.Components`; as far as what these lead to.
    action_indptr, action_lottery, outcome_indptr, outcome_state : as in a StateGraph
    lottery_constant : (n_lotteries,) float64
        What the outcomes that end the game and the reward of a lottery bring.
    arranged : Arranged
        All is filled but what belongs to lotteries; both `indptr` begin with 0. What lies
        past ``n_states`` (the border) keeps its number.
    """
    n = order.shape[0]
    last_outcome = index(outcome_state.shape[0]) - ONE
    # taken out of the tuple once: the loop would count their references
    to_action, to_outcome, to_target = (
        arranged.action_indptr,
        arranged.outcome_indptr,
        arranged.target,
    )
    to_constant, to_lottery = arranged.constant, arranged.lottery
    feedback, reader, most = arranged.feedback, arranged.reader, index(MOST_FEEDBACK)
    end = index(component_indptr[stop])
    n_actions = index(to_action[component_indptr[first]])
    n_outcomes = index(to_outcome[n_actions])
    for component in range(first, stop):
        low, high = index(component_indptr[component]), index(component_indptr[component + 1])
        n_feedback = index(0)
        for i in range(low, high):
            # ask for what comes soon, each line with the help of one asked for before it
            soon = i + AHEAD
            if soon + AHEAD + AHEAD < end:
                prefetch(action_indptr, order[soon + AHEAD + AHEAD])
                a = index(action_indptr[np.uint32(order[soon + AHEAD])])
                prefetch(outcome_indptr, a)
                prefetch(action_lottery, a)
                k = index(outcome_indptr[action_indptr[np.uint32(order[soon])]])
                prefetch(outcome_state, k)
                prefetch(outcome_state, min(k + LINE, last_outcome))
            s = np.uint32(order[i])
            a = index(action_indptr[s])
            k = index(outcome_indptr[a])
            leads_out = False
            place = most  # none
            while a < index(action_indptr[s + ONE]):
                lottery = np.uint32(action_lottery[a])
                a += ONE
                while k < index(outcome_indptr[a]):
                    t = outcome_state[k]
                    k += ONE
                    if t < 0:
                        continue
                    target = index(position[t] if t < n else t)
                    to_target[n_outcomes] = target
                    n_outcomes += ONE
                    if target < low or target >= high:
                        leads_out = True
                    elif target >= i and n_feedback <= most:
                        place = index(0)
                        while place < n_feedback and feedback[low + place] != target:
                            place += ONE
                        if place == n_feedback:
                            if place < most:
                                feedback[low + place] = target
                                reader[low + place] = i
                            n_feedback += ONE
                to_constant[n_actions] = lottery_constant[lottery]
                to_lottery[n_actions] = lottery
                n_actions += ONE
                to_outcome[n_actions] = n_outcomes
            to_action[i + ONE] = n_actions
            if leads_out and place < most:
                reader[low + place] = i
        arranged.n_feedback[component] = n_feedback


@kernel
def sweep(low, high, arranged, values, chosen):
    """Update the values at positions `low` to `high`, in place and in order.

    ``chosen[i - low]`` receives the action taken at the position i (the first of the best).

    Returns
    -------
    change, scale : float
        The largest change of a value, and the largest value in size.
    switched : int
        Number of positions whose action is another than it was.
    """
    action_indptr, outcome_indptr = arranged.action_indptr, arranged.outcome_indptr
    constant, lottery, target = arranged.constant, arranged.lottery, arranged.target
    lottery_indptr, coefficient = arranged.lottery_indptr, arranged.coefficient
    switched = 0
    change = 0.0
    scale = 0.0
    low = index(low)
    a = index(action_indptr[low])
    k = index(outcome_indptr[a])
    for i in range(low, index(high)):
        best = -np.inf
        best_action = a
        while a < index(action_indptr[i + ONE]):
            q = constant[a]
            c = index(lottery_indptr[lottery[a]])
            end = index(outcome_indptr[a + ONE])
            rest = 0.0
            while k + ONE < end:  # two sums: neither addition waits for the other
                q += coefficient[c] * values[target[k]]
                rest += coefficient[c + ONE] * values[target[k + ONE]]
                c += TWO
                k += TWO
            if k < end:
                q += coefficient[c] * values[target[k]]
                k += ONE
            q += rest
            if q > best:
                best = q
                best_action = a
            a += ONE
        switched += chosen[i - low] != best_action
        chosen[i - low] = best_action
        change = max(change, abs(best - values[i]))
        scale = max(scale, abs(best))
        values[i] = best
    return change, scale, switched


@kernel
def slope_sweep(low, high, arranged, chosen, slope):
    """How a sweep answers to a change of the values that it reads before writing.

    ``slope[i - low]`` holds the change at the position i, and is overwritten, in
    place and in order, by what follows from it under the `chosen` actions.
    """
    for i in range(low, high):
        a = chosen[i - low]
        d = 0.0
        c = arranged.lottery_indptr[arranged.lottery[a]]
        for k in range(arranged.outcome_indptr[a], arranged.outcome_indptr[a + 1]):
            t = arranged.target[k]
            if low <= t < high:
                d += arranged.coefficient[c] * slope[t - low]
            c += np.uint32(1)
        slope[i - low] = d


@inner_kernel
def carry_slopes(low, high, m, arranged, chosen, slopes):
    """The derivatives of a component's values, by those of its `m` feedback states.

    Parameters
    ----------
    slopes : (at least m * (high - low),) float64
        State by state; filled.
    """
    outcome_indptr, target, lottery = arranged.outcome_indptr, arranged.target, arranged.lottery
    lottery_indptr, coefficient = arranged.lottery_indptr, arranged.coefficient
    low, high, m = index(low), index(high), index(m)
    feedback = arranged.feedback
    here = index(0)
    if m <= 2:  # in registers, for two of them
        for i in range(low, high):
            a = index(chosen[i - low])
            first, second = 0.0, 0.0
            c = index(lottery_indptr[lottery[a]])
            for k in range(outcome_indptr[a], outcome_indptr[a + ONE]):
                t = index(target[k])
                if low <= t < high:
                    if t < i:
                        there = (t - low) * m
                        first += coefficient[c] * slopes[there]
                        second += coefficient[c] * slopes[there + m - ONE]
                    elif t == feedback[low]:
                        first += coefficient[c]
                    else:
                        second += coefficient[c]
                c += ONE
            slopes[here + m - ONE] = second
            slopes[here] = first
            here += m
        return
    for i in range(low, high):
        a = index(chosen[i - low])
        for j in range(m):
            slopes[here + j] = 0.0
        c = index(lottery_indptr[lottery[a]])
        for k in range(outcome_indptr[a], outcome_indptr[a + ONE]):
            t = index(target[k])
            if low <= t < high:
                if t >= i:
                    j = index(0)
                    while feedback[low + j] != t:
                        j += ONE
                    slopes[here + j] += coefficient[c]
                else:
                    there = (t - low) * m
                    for j in range(m):
                        slopes[here + j] += coefficient[c] * slopes[there + j]
            c += ONE
        here += m
