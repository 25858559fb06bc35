"""Following one action a state through a whole recursion: values, and how often play comes by.

Both are linear: ``v = constant + C v`` and ``visits = start + transpose(C) visits``, C being the
coefficients of the chosen actions. Within a component with one feedback state both are found in
one pass, in which each state carries what it has apart from the feedback state, and how much of
the feedback state. Components with more are solved as in `rollwise.kernels.evaluating`.

Where only some positions are asked for, those that play doesn't come to are left out: often most.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.evaluating import (
    LEFT_OUT,
    accelerated_sweeps,
    condense,
    solve_small,
    spread,
)
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.kernels.recursion import MOST_FEEDBACK, carry_slopes

MOST_ROUNDS = 10_000  # sweeps over one component


@inner_kernel
def follow_plainly(low, high, arranged, values, chosen):
    """The values of positions from what they lead to, in place and in order."""
    outcome_indptr, target, lottery = arranged.outcome_indptr, arranged.target, arranged.lottery
    lottery_indptr, coefficient = arranged.lottery_indptr, arranged.coefficient
    constant = arranged.constant
    for i in range(index(low), index(high)):
        if chosen[i] == LEFT_OUT:
            continue
        a = index(chosen[i])
        q = constant[a]
        c = index(lottery_indptr[lottery[a]])
        for k in range(index(outcome_indptr[a]), index(outcome_indptr[a + ONE])):
            q += coefficient[c] * values[target[k]]
            c += ONE
        values[i] = q


@inner_kernel
def follow_one(low, high, arranged, values, chosen, slope):
    """The same, and how much each changes with that of the one feedback state."""
    outcome_indptr, target, lottery = arranged.outcome_indptr, arranged.target, arranged.lottery
    lottery_indptr, coefficient = arranged.lottery_indptr, arranged.coefficient
    constant = arranged.constant
    for i in range(index(low), index(high)):
        if chosen[i] == LEFT_OUT:
            continue
        a = index(chosen[i])
        q = constant[a]
        d = 0.0
        c = index(lottery_indptr[lottery[a]])
        for k in range(index(outcome_indptr[a]), index(outcome_indptr[a + ONE])):
            t = target[k]
            q += coefficient[c] * values[t]
            d += coefficient[c] * slope[t]
            c += ONE
        values[i] = q
        slope[i] = d


@kernel
def keep_to(starts, arranged, chosen, kept, waiting):
    """Leave out the positions that no play comes to.

    Parameters
    ----------
    starts : (n,) int64
        Positions in which play begins.
    chosen : (n_states,) uint32
        The action of each position.
    kept : (n_states,) uint32
        Filled: the same, but LEFT_OUT at positions that are left out.
    waiting : (n_states,) uint32
        Workspace.
    """
    target, outcome_indptr = arranged.target, arranged.outcome_indptr
    for i in range(kept.shape[0]):
        kept[i] = LEFT_OUT
    n = 0
    for k in range(starts.shape[0]):
        i = starts[k]
        if kept[i] == LEFT_OUT:
            kept[i] = chosen[i]
            waiting[n] = i
            n += 1
    while n > 0:
        n -= 1
        a = index(kept[waiting[n]])
        for k in range(index(outcome_indptr[a]), index(outcome_indptr[a + ONE])):
            t = target[k]
            if kept[t] == LEFT_OUT:
                kept[t] = chosen[t]
                waiting[n] = t
                n += 1


@kernel
def evaluate_chosen(
    component_indptr, arranged, chosen, kept, begin, accuracy, values, slope, slopes, condensed
):
    """What the chosen actions are worth at each position.

    Parameters
    ----------
    component_indptr : (n_components + 1,) int64
    arranged : rollwise.kernels.recursion.Arranged
    chosen : (n_states,) uint32
        An action of each position.
    kept : (n_states,) uint32
        The same, but LEFT_OUT at positions whose values aren't asked for, see `keep_to`.
    begin : (n_states,) float64
        Values with which sweeps begin, in components with many feedback states.
    accuracy : float
        Of the values that are found by sweeps.
    values : (n_states + n_border,) float64
        Filled, but for what is left out.
    slope : (n_states + n_border,) float64, all 0
        Workspace, left as it was found.
    slopes, condensed
        Workspace, see `rollwise.recursion.search.Workspace`.

    Returns
    -------
    bool
        Whether every component came to rest.
    """
    x = np.empty(MOST_FEEDBACK)
    for component in range(component_indptr.shape[0] - 1):
        low, high = component_indptr[component], component_indptr[component + 1]
        m = np.int64(arranged.n_feedback[component])
        if m == 0 or (m == 1 and kept[arranged.feedback[low]] == LEFT_OUT):
            follow_plainly(low, high, arranged, values, kept)
        elif m == 1:
            f = index(arranged.feedback[low])
            values[f] = 0.0
            slope[f] = 1.0
            follow_one(low, high, arranged, values, kept, slope)
            own = 1.0 - slope[f]
            step = values[f] / own if own != 0.0 else np.inf
            for i in range(index(low), index(high)):
                values[i] += slope[i] * step
                slope[i] = 0.0
            if not np.isfinite(step):
                return False
        elif m <= MOST_FEEDBACK and m * (high - low) <= slopes.shape[0]:
            feedback = arranged.feedback[low : low + m]
            for j in range(m):
                values[feedback[j]] = 0.0
            follow_plainly(low, high, arranged, values, kept)
            carry_slopes(low, high, m, arranged, chosen[low:high], slopes)
            matrix = np.zeros((m, m))
            for j in range(m):
                x[j] = values[feedback[j]]
                if kept[feedback[j]] != LEFT_OUT:
                    for k in range(m):
                        matrix[j, k] = -slopes[(feedback[j] - low) * m + k]
                matrix[j, j] += 1.0
            if not solve_small(matrix, x[:m]):
                return False
            for i in range(low, high):
                if kept[i] != LEFT_OUT:
                    for j in range(m):
                        values[i] += slopes[(i - low) * m + j] * x[j]
        else:
            for i in range(index(low), index(high)):
                values[i] = begin[i]
            taken = kept[low:high]
            rows, n_feedback = condense(low, high, arranged, values, taken, condensed)
            if accelerated_sweeps(rows, n_feedback, condensed, 0.0, accuracy, accuracy) < 0:
                return False
            spread(low, high, condensed, values)
    return True


@kernel
def count_visits(component_indptr, arranged, chosen, visits, enough):
    """How often play comes by each position under the chosen actions, roughly.

    Parameters
    ----------
    visits : (n_states + n_border,) float64
        How often play begins at each; filled.
    enough : float
        The share of what has come to a component that may be lost there.
    """
    n = chosen.shape[0]
    arrived = visits.copy()
    for i in range(n):
        visits[i] = 0.0
    for component in range(component_indptr.shape[0] - 2, -1, -1):
        low, high = component_indptr[component], component_indptr[component + 1]
        waiting = 0.0
        for i in range(low, high):
            waiting += arrived[i]
        left = enough * waiting
        rounds = 0
        while waiting > left and rounds < MOST_ROUNDS:
            for i in range(high - 1, low - 1, -1):
                amount = arrived[i]
                if amount == 0.0:
                    continue
                arrived[i] = 0.0
                visits[i] += amount
                a = chosen[i]
                c = arranged.lottery_indptr[arranged.lottery[a]]
                for k in range(arranged.outcome_indptr[a], arranged.outcome_indptr[a + 1]):
                    arrived[arranged.target[k]] += amount * abs(arranged.coefficient[c])
                    c += np.uint32(1)
            waiting = 0.0
            rounds += 1
            for i in range(low, high):
                waiting += arrived[i]


@kernel
def action_values(positions, arranged, values, worth):
    """What each action of some positions is worth at given values.

    Parameters
    ----------
    positions : (n,) int64
    worth : (n_actions,) float64
        Filled at the actions of these positions.
    """
    for p in range(positions.shape[0]):
        i = positions[p]
        for a in range(arranged.action_indptr[i], arranged.action_indptr[i + 1]):
            q = arranged.constant[a]
            c = arranged.lottery_indptr[arranged.lottery[a]]
            for k in range(arranged.outcome_indptr[a], arranged.outcome_indptr[a + 1]):
                q += arranged.coefficient[c] * values[arranged.target[k]]
                c += np.uint32(1)
            worth[a] = q


@kernel
def tally(values, gains, low, totals):
    """Add up the gains of states by the value of a form there.

    Parameters
    ----------
    values : (n,) int32
    gains : (n, n_changes) float64
    low : int
        The least value.
    totals : (n_bins, n_changes) float64, all 0
        Filled.
    """
    for s in range(values.shape[0]):
        b = values[s] - low
        for change in range(gains.shape[1]):
            totals[b, change] += gains[s, change]
