"""Solving a layer in solving order, one component after the other.

Strategy iteration: a sweep takes the best actions, and these are evaluated exactly. (Hoffman and
Karp, "On nonterminating stochastic games", Management Science 12, 1966.) Three ways to evaluate, by
the size of the feedback set of a component (`rollwise.layers.layer.Components`):

- none: one look ahead is enough;
- few positions: a sweep is a map F of their values to themselves. One sweep for each of them gives
  its derivative J, and Newton's step on F(x) = x evaluates the chosen actions
  (Glenn, Fang and Kruskal used this for Can't Stop, "A retrograde approximation
  algorithm for one-player Can't Stop", 2006);
- many: the chosen actions are a linear system, which is condensed and solved by sweeps with
  Anderson acceleration (`rollwise.engine.condensed`).

Choosing for both players at once can cycle. Each step must therefore reduce the change of a sweep.
After a step that does not, plain sweeps follow. They always converge if every play ends.
"""

from __future__ import annotations

import numpy as np

from rollwise.engine.condensed import accelerated_sweeps, condense, solve_small, spread
from rollwise.engine.sweeps import choose
from rollwise.kernels.jit import ONE, index, inner_kernel, kernel
from rollwise.layers.layer import MOST_FEEDBACK

EPSILON = 2.0**-52
MOST_PLAIN = 256  # unsuccessful plain sweeps in a row: the component is too hard
ROUGHLY = 1e-3  # share of a change that may remain while choices may still change
DONE, HARD, MANY = range(3)  # outcomes of solving components


@inner_kernel
def carry_slope(low, high, block, tables, choice, slope):
    """The derivatives of a component's numbers with respect to one of its feedback positions.

    Parameters
    ----------
    slope : (at least high - low + 1,) float64, changed
        By place, counted from `low`. Initially 1 at this feedback position, 0 at the others
        and 0 behind the last place.
    """
    first, throws, target = block.first, block.throws, block.target
    lists, throw = tables.lists, tables.throw
    indptr, coefficient = tables.indptr, tables.coefficient
    outcome, lottery = choice.outcome, choice.lottery
    low, high = index(low), index(high)
    i = high
    while i > low:
        i -= ONE
        s, d = index(first[i, 0]), 0.0
        for t in range(index(lists[throws[i]]), index(lists[throws[i] + ONE])):
            number, o = index(lottery[s]), index(outcome[s])
            s += ONE
            part = 0.0
            for k in range(index(indptr[number]), index(indptr[number + ONE])):
                to = index(target[o])
                # Targets outside the component don't depend on its positions: they read the 0 at
                # the end.
                part += coefficient[k] * slope[to - low if low <= to and to < high else high - low]
                o += ONE
            d += throw[t] * part
        slope[i - low] = d


@inner_kernel
def feedback_system(low, high, feedback, block, tables, choice, slope, matrix):
    """The identity minus the derivatives of a sweep, for the feedback positions.

    Parameters
    ----------
    feedback : (m,) uint32
    slope : (at least high - low + 1,) float64, scratch
    matrix : (m, m) float64, filled
    """
    m = feedback.shape[0]
    slope[high - low] = 0.0
    # Column j is the derivative of a sweep by position j: one sweep of slopes.
    for j in range(m):
        for k in range(m):
            slope[index(feedback[k]) - index(low)] = 0.0
        slope[index(feedback[j]) - index(low)] = 1.0
        carry_slope(low, high, block, tables, choice, slope)
        for k in range(m):
            matrix[k, j] = -slope[index(feedback[k]) - index(low)]
        matrix[j, j] += 1.0


@inner_kernel
def newton(low, high, feedback, block, tables, values, errors, choice, slope, tolerance):
    """Solve a component with few feedback positions by strategy iteration.

    Returns
    -------
    int
        Number of sweeps; negative if they did not converge.
    """
    m = feedback.shape[0]
    x, step, matrix = np.empty(m), np.empty(m), np.empty((m, m))
    best_change, last_change = np.inf, np.inf
    plain, plain_next, sweeps = 0, 2, 0
    while sweeps < 100_000:
        # x before the sweep, F(x) after it, and their difference.
        for j in range(m):
            x[j] = values[feedback[j]]
        _, _, scale, _ = choose(0, low, high, block, tables, values, errors, choice)
        sweeps += 1
        change = 0.0
        for j in range(m):
            step[j] = values[feedback[j]] - x[j]
            change = max(change, abs(step[j]))
        if not np.isfinite(change):
            return -sweeps
        if change <= tolerance * scale:
            return sweeps
        if change >= last_change and change <= 64 * tolerance * scale:
            return sweeps  # the remaining change is rounding
        last_change = change
        if plain > 0:
            plain -= 1
            continue
        # The last step didn't help: plain sweeps follow, twice as many each time.
        if change >= best_change:
            plain = plain_next
            plain_next *= 2
            continue
        best_change = change
        # Newton's step: (1 - J) step = F(x) - x. The next sweep writes the other positions.
        feedback_system(low, high, feedback, block, tables, choice, slope, matrix)
        if solve_small(matrix, step):
            for j in range(m):
                values[feedback[j]] = x[j] + step[j]
    return -sweeps


@inner_kernel
def improve(low, high, block, tables, values, errors, choice, condensed, tolerance):
    """Solve a component with many feedback positions.

    Returns
    -------
    int
        Number of sweeps; negative if they converge too slowly.
    """
    finds_bounds = errors.off.shape[0] > 0
    best, last = np.inf, np.inf
    plain, plain_next, sweeps = 0, 2, 0
    rows, n_feedback = 0, 0
    while plain_next <= MOST_PLAIN:
        fall, rise, scale, switched = choose(0, low, high, block, tables, values, errors, choice)
        change = max(fall, rise)
        sweeps += 1
        if not np.isfinite(change):
            return -sweeps
        rounding = 64 * tolerance * scale
        if change <= tolerance * scale or (change >= last and change <= rounding):
            return sweeps
        last = change
        if plain > 0:
            plain -= 1
            continue
        # The last evaluation didn't help: plain sweeps follow, twice as many each time.
        if change >= best:
            plain = plain_next
            plain_next *= 2
            continue
        best = change
        # While choices may change, and for bounds, a rough solution is enough. Without a switch the
        # system is the same as before.
        enough = 0.5 * tolerance * scale
        if switched > 0 or finds_bounds:
            enough = max(enough, ROUGHLY * change)
        if switched > 0 or rows == 0:
            rows, n_feedback = condense(low, high, block, tables, values, errors, choice, condensed)
        used = accelerated_sweeps(rows, n_feedback, condensed, enough, 0.0, rounding)
        sweeps += abs(used)
        if used < 0:
            return -sweeps
        spread(low, high, condensed, values)
    return -sweeps


@kernel
def solve_components(
    begin, end, n, parts, block, tables, values, errors, choice, slope, tolerance, stop_after
):
    """Solve components `begin` to `end`. Their targets elsewhere must be solved.

    Parameters
    ----------
    n : int
        Positions of the layer.
    parts : Components
    slope
        Workspace for the largest component.
    stop_after : int
        Outcomes after which to return to the caller.

    Returns
    -------
    component : int
        The first unsolved component.
    sweeps : int
        Over components with cycles.
    ending : int
        DONE, HARD (this component is too hard) or MANY (it has many feedback positions and
        needs `solve_all_components`).
    """
    first, sweeps = block.first, 0
    top = np.int64(first[n - parts.ends[begin], 2])
    component = begin
    while component < end:
        low, high = n - parts.ends[component + 1], n - parts.ends[component]
        if top - np.int64(first[low, 2]) > stop_after and component > begin:
            return component, sweeps, DONE
        m = np.int64(parts.n_feedback[component])
        if m > MOST_FEEDBACK:
            return component, sweeps, MANY
        component += 1
        if m == 0:  # and likewise the components directly after it
            while component < end and parts.n_feedback[component] == 0:
                component += 1
                low = n - parts.ends[component]
                if top - np.int64(first[low, 2]) > stop_after:
                    break
            # These components lie one below the other, and one sweep solves all.
            choose(0, low, high, block, tables, values, errors, choice)
            continue
        feedback = parts.feedback[low : low + m]
        used = newton(low, high, feedback, block, tables, values, errors, choice, slope, tolerance)
        sweeps += abs(used)
        if used < 0:
            return component - 1, sweeps, HARD
    return end, sweeps, DONE


@kernel
def solve_all_components(
    begin,
    end,
    n,
    parts,
    block,
    tables,
    values,
    errors,
    choice,
    slope,
    tolerance,
    stop_after,
    condensed,
):
    """Like `solve_components`, but with many feedback positions too. It takes long to compile.

    Parameters
    ----------
    condensed
        Workspace for the largest component.
    """
    top, sweeps, ending = np.int64(block.first[n - parts.ends[begin], 2]), 0, MANY
    while ending == MANY and begin < end:
        begin, used, ending = solve_components(
            begin,
            end,
            n,
            parts,
            block,
            tables,
            values,
            errors,
            choice,
            slope,
            tolerance,
            stop_after,
        )
        sweeps += used
        if ending == MANY:
            low, high = n - parts.ends[begin + 1], n - parts.ends[begin]
            used = improve(low, high, block, tables, values, errors, choice, condensed, tolerance)
            sweeps += abs(used)
            if used < 0:
                return begin, sweeps, HARD
            begin += 1
            if top - np.int64(block.first[low, 2]) > stop_after:
                return begin, sweeps, DONE
    return begin, sweeps, ending if ending == HARD else DONE
