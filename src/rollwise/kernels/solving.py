"""Solving a recursion in solving order, one component after the other.

Three ways, by the number of cut states of a component (see
`rollwise.kernels.recursion`): none, and one look ahead is enough; few, and Newton's
method carries slopes along; many, and sweeps are accelerated by Anderson's method,
"Iterative procedures for nonlinear integral equations" (J. ACM 12, 1965), as given by
Walker and Ni (SIAM J. Numer. Anal. 49, 2011). None of them is trusted: each has a
check that it gets nearer, and falls back on plain sweeps, which always converge where
every play ends.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel
from rollwise.kernels.recursion import find_cut, sweep, sweep_with_slope, sweep_with_slopes

EPSILON = 2.0**-52

MOST_CUT = 16  # cut states that Newton's method carries slopes for
SLOPES_ROOM = 1 << 22  # and slopes altogether
PLAIN_FIRST = 3  # sweeps before they are accelerated: choices change most in these
MEMORY = 4  # sweeps that the acceleration looks back on
FARTHEST = 1e6  # what a mixture may weigh a sweep with: more is rounding
PATIENCE = 40  # sweeps before their rate of convergence is judged
WORTHWHILE = 400  # sweeps that it may then still take


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
def newton(low, high, m, arranged, values, cut_index, cut_state, slope, slopes, tolerance):
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
    x = np.empty(m)
    step = np.empty(m)
    matrix = np.empty((m, m))
    best_change = np.inf
    last_change = np.inf
    plain = 0
    plain_next = 2
    sweeps = 0
    while sweeps < 100_000:
        for j in range(m):
            x[j] = values[cut_state[low + j]]
        if m == 1:
            scale = sweep_with_slope(low, high, cut_state[low], arranged, values, slope)
        else:
            scale = sweep_with_slopes(low, high, m, arranged, values, cut_index, slopes)
        sweeps += 1
        change = 0.0
        for j in range(m):
            step[j] = values[cut_state[low + j]] - x[j]
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
                if m == 1:
                    matrix[j, k] = -slope[cut_state[low]]
                else:
                    matrix[j, k] = -slopes[(cut_state[low + j] - low) * m + k]
            matrix[j, j] += 1.0
        if solve_small(matrix, step):
            for j in range(m):
                values[cut_state[low + j]] = x[j] + step[j]
    return -sweeps


@kernel
def relax(low, high, m, arranged, values, chosen, cut_state, tolerance):
    """Solve a component by sweeps (Gauss-Seidel), accelerated, if they converge soon enough.

    A sweep takes x, the values on the cut, to g(x). After each, the next x is the
    mixture of the last few g whose changes g(x) - x, mixed likewise, are least
    (Anderson). Where a change grows, the memory is dropped and the sweep stands.

    Returns
    -------
    int
        Number of sweeps, or minus that number where they converge too slowly.
    """
    x = np.empty(m)
    change_before = np.empty(m)  # g(x) - x of the last sweep
    after_before = np.empty(m)  # g(x) of the last sweep
    changes = np.empty((MEMORY, m))  # differences of g(x) - x from sweep to sweep
    afters = np.empty((MEMORY, m))  # differences of g(x)
    products = np.empty((MEMORY, MEMORY))
    known = 0
    newest = -1
    early = np.inf
    last = np.inf
    for sweeps in range(1, PATIENCE + WORTHWHILE + 1):
        for j in range(m):
            x[j] = values[cut_state[low + j]]
        _, scale = sweep(low, high, arranged, values, chosen)
        change = 0.0  # on the cut; that of other states follows from it
        for j in range(m):
            change = max(change, abs(values[cut_state[low + j]] - x[j]))
        if not np.isfinite(change):
            return -sweeps
        if change <= tolerance * scale or (change >= last and change <= 64 * tolerance * scale):
            return sweeps
        if sweeps == PATIENCE // 2:
            early = change
        if sweeps >= PATIENCE and sweeps % (PATIENCE // 2) == 0:
            rate = (change / early) ** (2.0 / PATIENCE)
            early = change
            if rate >= 1.0:
                return -sweeps
            if np.log(tolerance * scale / change) / np.log(rate) > WORTHWHILE:
                return -sweeps
        remembers = sweeps > PLAIN_FIRST and change < last
        last = change
        if not remembers:
            known = 0
            newest = -1
        else:
            newest = (newest + 1) % MEMORY
            known = min(known + 1, MEMORY)
            for j in range(m):
                after = values[cut_state[low + j]]
                changes[newest, j] = after - x[j] - change_before[j]
                afters[newest, j] = after - after_before[j]
        for j in range(m):
            after = values[cut_state[low + j]]
            change_before[j] = after - x[j]
            after_before[j] = after
        if known == 0:
            continue
        for i in range(known):
            product = 0.0
            for j in range(m):
                product += changes[newest, j] * changes[i, j]
            products[newest, i] = product
            products[i, newest] = product
        matrix = products[:known, :known].copy()
        mixture = np.empty(known)
        for i in range(known):
            matrix[i, i] *= 1.0 + 1e-12
            mixture[i] = 0.0
            for j in range(m):
                mixture[i] += changes[i, j] * change_before[j]
        usable = solve_small(matrix, mixture)
        for i in range(known):
            usable &= abs(mixture[i]) <= FARTHEST  # false where it is no number
        if not usable:
            known = 0
            newest = -1
            continue
        for i in range(known):
            for j in range(m):
                values[cut_state[low + j]] -= mixture[i] * afters[i, j]
    return -(PATIENCE + WORTHWHILE)


@kernel
def solve_components(
    first,
    last,
    component_indptr,
    arranged,
    values,
    chosen,
    cut_index,
    cut_state,
    slope,
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
    begin = np.int64(arranged.outcome_indptr[arranged.action_indptr[component_indptr[first]]])
    for component in range(first, last):
        low = component_indptr[component]
        high = component_indptr[component + 1]
        if np.int64(arranged.outcome_indptr[arranged.action_indptr[low]]) - begin > stop_after:
            return component, sweeps, False
        m = find_cut(low, high, arranged, cut_index, cut_state)
        if m == 0:
            sweep(low, high, arranged, values, chosen)
            continue
        if m <= MOST_CUT and m * (high - low) <= slopes.shape[0]:
            used = newton(
                low,
                high,
                m,
                arranged,
                values,
                cut_index,
                cut_state,
                slope,
                slopes,
                tolerance,
            )
            if m == 1:
                slope[low:high] = 0.0
        else:
            used = relax(low, high, m, arranged, values, chosen, cut_state, tolerance)
        sweeps += abs(used)
        if used < 0:
            return component, sweeps, True
    return last, sweeps, False
