"""The recursion of a game in solving order, and sweeps over it.

Every kernel here works on the equation

    v[i] = max over actions a of  constant[a] + sum over k of coefficient[k] * v[target[k]]

whose states are numbered by position: component by component, those that end
every play first, and within a component so that a sweep from low to high
positions meets what a state leads to before the state, unless the two lie on a
cycle. What a sweep reads before it has written it is a cut of the cycles: given
the values on the cut, one sweep gives all others. A sweep is therefore a map F
from the values on the cut to themselves, and its derivative J is got by carrying
slopes along. Newton's step on F(x) = x is the policy that is best at x, evaluated
exactly: strategy iteration, at the price of one sweep a step.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel

EPSILON = 2.0**-52

# How `solve_components` treats a component.
MOST_CUT = 16  # cut states that Newton's method carries slopes for
SLOPES_ROOM = 1 << 22  # and slopes altogether
PATIENCE = 40  # plain sweeps before their rate of convergence is judged
WORTHWHILE = 400  # sweeps that it may then still take


@kernel
def arrange(
    order,
    position,
    action_indptr,
    action_reward,
    outcome_indptr,
    outcome_state,
    outcome_weight,
    outcome_passes,
    outcome_payoff,
    sign,
    pos_action_indptr,
    source_action,
    constant,
    pos_outcome_indptr,
    target,
    coefficient,
):
    """Write a graph in solving order; outcomes that end the game go into the constant.

    Parameters
    ----------
    order, position : (n_states,) int32
        The state at a position, and the position of a state.
    action_indptr, ..., outcome_payoff : arrays of a StateGraph
    sign : float
        1 to make the value as large as possible, -1 for small (values change sign).
    pos_action_indptr, ..., coefficient : arrays to fill
        `source_action` is the number of each action in the graph. What lies past
        ``n_states`` (the border) keeps its number.

    Returns
    -------
    int
        Number of outcomes written.
    """
    n = order.shape[0]
    n_actions = 0
    n_outcomes = 0
    pos_action_indptr[0] = 0
    pos_outcome_indptr[0] = 0
    for i in range(n):
        s = order[i]
        for a in range(action_indptr[s], action_indptr[s + 1]):
            begin, end = outcome_indptr[a], outcome_indptr[a + 1]
            total = outcome_weight[begin] * 0
            for k in range(begin, end):
                total += outcome_weight[k]
            over = 0.0
            for k in range(begin, end):
                t = outcome_state[k]
                if t < 0:
                    over += outcome_weight[k] * outcome_payoff[k]
                else:
                    p = outcome_weight[k] / total
                    target[n_outcomes] = position[t] if t < n else t
                    coefficient[n_outcomes] = -p if outcome_passes[k] else p
                    n_outcomes += 1
            constant[n_actions] = sign * (action_reward[a] + over / total)
            source_action[n_actions] = a
            n_actions += 1
            pos_outcome_indptr[n_actions] = n_outcomes
        pos_action_indptr[i + 1] = n_actions
    return n_outcomes


@kernel
def sweep(low, high, action_indptr, constant, outcome_indptr, target, coefficient, values, chosen):
    """Update the values at positions `low` to `high`, in place and in order.

    `chosen` receives the action taken at each position (the first of the best).

    Returns
    -------
    change, scale : float
        The largest change of a value, and the largest value in size.
    """
    change = 0.0
    scale = 0.0
    for i in range(low, high):
        best = -np.inf
        best_action = action_indptr[i]
        for a in range(action_indptr[i], action_indptr[i + 1]):
            q = constant[a]
            for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                q += coefficient[k] * values[target[k]]
            if q > best:
                best = q
                best_action = a
        chosen[i] = best_action
        change = max(change, abs(best - values[i]))
        scale = max(scale, abs(best))
        values[i] = best
    return change, scale


@kernel
def slope_sweep(low, high, chosen, outcome_indptr, target, coefficient, slope):
    """How a sweep answers to a change of the values that it reads before writing.

    `slope` holds the change at positions `low` to `high`, and is overwritten, in
    place and in order, by what follows from it under the `chosen` actions.
    """
    for i in range(low, high):
        a = chosen[i]
        d = 0.0
        for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
            t = target[k]
            if low <= t < high:
                d += coefficient[k] * slope[t]
        slope[i] = d


@kernel
def find_cut(low, high, action_indptr, outcome_indptr, target, cut_index):
    """Number the states of a component that are read before they are written.

    ``cut_index[i]`` becomes their number, or -1. Returns how many there are.
    """
    for i in range(low, high):
        cut_index[i] = -1
    n = 0
    for i in range(low, high):
        for k in range(outcome_indptr[action_indptr[i]], outcome_indptr[action_indptr[i + 1]]):
            t = target[k]
            if i <= t < high and cut_index[t] < 0:
                cut_index[t] = n
                n += 1
    return n


@kernel
def solve_small(matrix, right):
    """Solve a small linear system in place by elimination; False if it is singular."""
    n = right.shape[0]
    for j in range(n):
        pivot = j
        for i in range(j + 1, n):
            if abs(matrix[i, j]) > abs(matrix[pivot, j]):
                pivot = i
        if matrix[pivot, j] == 0.0:
            return False
        if pivot != j:
            for k in range(n):
                matrix[j, k], matrix[pivot, k] = matrix[pivot, k], matrix[j, k]
            right[j], right[pivot] = right[pivot], right[j]
        for i in range(j + 1, n):
            factor = matrix[i, j] / matrix[j, j]
            if factor != 0.0:
                for k in range(j, n):
                    matrix[i, k] -= factor * matrix[j, k]
                right[i] -= factor * right[j]
    for j in range(n - 1, -1, -1):
        for k in range(j + 1, n):
            right[j] -= matrix[j, k] * right[k]
        right[j] /= matrix[j, j]
    return True


@kernel
def newton(
    low,
    high,
    m,
    action_indptr,
    constant,
    outcome_indptr,
    target,
    coefficient,
    values,
    cut_index,
    slopes,
    tolerance,
):
    """Solve a component with `m` cut states by strategy iteration, slopes carried along.

    Choosing for both players at once can go round in circles where the textbook
    method (Hoffman and Karp 1966) can't. So a step must lessen the change of a
    sweep; when it doesn't, plain sweeps (value iteration, which always converges
    where every play ends) are done, twice as many each time, before the next.

    Returns
    -------
    int
        Number of sweeps, or minus that number where no answer was reached.
    """
    cut_state = np.empty(m, np.int64)
    for i in range(low, high):
        if cut_index[i] >= 0:
            cut_state[cut_index[i]] = i
    x = np.empty(m)
    step = np.empty(m)
    matrix = np.empty((m, m))
    slope = np.empty(m)
    best_change = np.inf
    last_change = np.inf
    plain = 0
    plain_next = 2
    sweeps = 0
    while sweeps < 100_000:
        for j in range(m):
            x[j] = values[cut_state[j]]
        scale = 0.0
        for i in range(low, high):
            best = -np.inf
            for a in range(action_indptr[i], action_indptr[i + 1]):
                q = constant[a]
                for j in range(m):
                    slope[j] = 0.0
                for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                    t = target[k]
                    c = coefficient[k]
                    q += c * values[t]
                    if t >= low and t < high:
                        if t >= i:
                            slope[cut_index[t]] += c
                        else:
                            for j in range(m):
                                slope[j] += c * slopes[(t - low) * m + j]
                if q > best:
                    best = q
                    for j in range(m):
                        slopes[(i - low) * m + j] = slope[j]
            values[i] = best
            scale = max(scale, abs(best))
        sweeps += 1
        change = 0.0
        for j in range(m):
            step[j] = values[cut_state[j]] - x[j]
            change = max(change, abs(step[j]))
        if not np.isfinite(change):
            return -sweeps
        if change <= tolerance * scale:
            return sweeps
        if change >= last_change and change <= 64 * tolerance * scale:
            return sweeps  # rounding alone moves it now
        last_change = change
        if plain > 0:
            plain -= 1
            continue
        if change >= best_change:
            plain = plain_next
            plain_next *= 2
            continue
        best_change = change
        for j in range(m):
            for k in range(m):
                matrix[j, k] = -slopes[(cut_state[j] - low) * m + k]
            matrix[j, j] += 1.0
        if solve_small(matrix, step):
            for j in range(m):
                values[cut_state[j]] = x[j] + step[j]
    return -sweeps


@kernel
def relax(
    low,
    high,
    action_indptr,
    constant,
    outcome_indptr,
    target,
    coefficient,
    values,
    chosen,
    tolerance,
):
    """Solve a component by plain sweeps (Gauss-Seidel), if they converge soon enough.

    Returns
    -------
    int
        Number of sweeps, or minus that number where they converge too slowly.
    """
    early = np.inf
    last = np.inf
    for sweeps in range(1, PATIENCE + WORTHWHILE + 1):
        change, scale = sweep(
            low,
            high,
            action_indptr,
            constant,
            outcome_indptr,
            target,
            coefficient,
            values,
            chosen,
        )
        if not np.isfinite(change):
            return -sweeps
        if change <= tolerance * scale or (change >= last and change <= 64 * tolerance * scale):
            return sweeps
        last = change
        if sweeps == PATIENCE // 2:
            early = change
        if sweeps >= PATIENCE and sweeps % (PATIENCE // 2) == 0:
            rate = (change / early) ** (2.0 / PATIENCE)
            early = change
            if rate >= 1.0:
                return -sweeps
            if np.log(tolerance * scale / change) / np.log(rate) > WORTHWHILE:
                return -sweeps
    return -(PATIENCE + WORTHWHILE)


@kernel
def solve_components(
    first,
    last,
    component_indptr,
    action_indptr,
    constant,
    outcome_indptr,
    target,
    coefficient,
    values,
    chosen,
    cut_index,
    slopes,
    tolerance,
    stop_after,
):
    """Solve components `first` to `last`, whose successors have their values.

    Components are solved by one look ahead (no cycle), by `newton` (few cut
    states) or by `relax` (many).

    Returns
    -------
    component : int
        The component where it stopped: `last`, or one that is too hard for these
        methods, or one that comes `stop_after` outcomes after the first.
    sweeps : int
        Sweeps made over components with cycles.
    hard : bool
        Whether the component where it stopped is left to the caller.
    """
    sweeps = 0
    begin = outcome_indptr[action_indptr[component_indptr[first]]]
    for component in range(first, last):
        low = component_indptr[component]
        high = component_indptr[component + 1]
        if outcome_indptr[action_indptr[low]] - begin > stop_after:
            return component, sweeps, False
        m = find_cut(low, high, action_indptr, outcome_indptr, target, cut_index)
        if m == 0:
            sweep(
                low,
                high,
                action_indptr,
                constant,
                outcome_indptr,
                target,
                coefficient,
                values,
                chosen,
            )
            continue
        used = -1
        if m <= MOST_CUT and m * (high - low) <= slopes.shape[0]:
            used = newton(
                low,
                high,
                m,
                action_indptr,
                constant,
                outcome_indptr,
                target,
                coefficient,
                values,
                cut_index,
                slopes,
                tolerance,
            )
        else:
            used = relax(
                low,
                high,
                action_indptr,
                constant,
                outcome_indptr,
                target,
                coefficient,
                values,
                chosen,
                tolerance,
            )
        sweeps += abs(used)
        if used < 0:
            return component, sweeps, True
    return last, sweeps, False
