"""Solving a recursion in solving order, one component after the other.

Three ways, by the size of the feedback vertex set of a component (see
`rollwise.kernels.recursion`): none, and one look ahead is enough; few, and Newton's
method carries slopes along; many, and the chosen actions are evaluated by sweeps (see
`rollwise.kernels.evaluating`). None of them is trusted: each has a check that it gets
nearer, and falls back on plain sweeps, which always converge where every play ends.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.evaluating import accelerated_sweeps, condense, solve_small, spread
from rollwise.kernels.jit import ONE, inner_kernel, kernel
from rollwise.kernels.recursion import MOST_FEEDBACK, carry_slopes, sweep

EPSILON = 2.0**-52

MOST_SLOPES = 1 << 22  # slopes that Newton's method carries along at most
LEAVES = 1e-3  # the least chance to leave a component that a guess is made of
MOST_PLAIN = 256  # plain sweeps in a row, and none of them helped: too hard
DONE, MANY, HARD = range(3)  # how the solving of components ends
ROUGHLY = 1e-3  # what is left of a change when choices that may not last are evaluated


@inner_kernel
def newton(low, high, m, arranged, values, chosen, slopes, tolerance):
    """Solve a component with `m` feedback states by strategy iteration, slopes carried along.

    Choosing for both players at once can go round in circles where the textbook
    method (Hoffman and Karp 1966) can't. So a step must lessen the change of a
    sweep; when it doesn't, plain sweeps (value iteration, which always converges
    where every play ends) are done, twice as many each time, before the next.

    Returns
    -------
    int
        Number of sweeps, or minus that number where no answer was reached.
    """
    feedback = arranged.feedback[low : low + m]
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
            x[j] = values[feedback[j]]
        _, scale, _ = sweep(low, high, arranged, values, chosen)
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
        carry_slopes(low, high, m, arranged, chosen, slopes)
        for j in range(m):
            for k in range(m):
                matrix[j, k] = -slopes[(feedback[j] - low) * m + k]
            matrix[j, j] += 1.0
        if solve_small(matrix, step):
            for j in range(m):
                values[feedback[j]] = x[j] + step[j]
    return -sweeps


@inner_kernel
def guess_feedback(low, high, m, arranged, values):
    """Initial guess for the feedback states.

    Each gets a known value that the same player could reach instead.
    """
    for j in range(low, low + m):
        state = np.int64(arranged.feedback[j])
        known = (state, state)  # of the one player, and of the other
        passed = False
        i = arranged.reader[j]
        for a in range(arranged.action_indptr[i], arranged.action_indptr[i + ONE]):
            c = arranged.lottery_indptr[arranged.lottery[a]]
            for k in range(arranged.outcome_indptr[a], arranged.outcome_indptr[a + 1]):
                t = np.int64(arranged.target[k])
                passes = arranged.coefficient[c] < 0.0
                if t == state:
                    passed = passes
                elif t < low or t >= high:
                    known = (known[0], t) if passes else (t, known[1])
                c += np.uint32(1)
        values[state] = values[known[1] if passed else known[0]]


@inner_kernel
def guess(low, high, arranged, values):
    """Begin the values of a component with those of what it leads to.

    A state gets what it would be worth if play that stays in the component came back to
    it: that is near, and like states get like values, so that good actions are chosen.
    """
    for i in range(low, high):
        best = -np.inf
        for a in range(arranged.action_indptr[i], arranged.action_indptr[i + 1]):
            q = arranged.constant[a]
            leaves = 1.0
            c = arranged.lottery_indptr[arranged.lottery[a]]
            for k in range(arranged.outcome_indptr[a], arranged.outcome_indptr[a + 1]):
                t = arranged.target[k]
                if low <= t < high:
                    leaves -= abs(arranged.coefficient[c])
                else:
                    q += arranged.coefficient[c] * values[t]
                c += np.uint32(1)
            if leaves > LEAVES:
                best = max(best, q / leaves)
        values[i] = best if best > -np.inf else 0.0


@inner_kernel
def improve(low, high, arranged, values, chosen, condensed, known, tolerance):
    """Solve a component by strategy iteration whose evaluations are sweeps.

    A sweep chooses the best actions, and these are evaluated (see
    `rollwise.kernels.evaluating`): roughly, as long as choices still change. As in
    `newton`, an evaluation that doesn't lessen the change of a sweep is followed by plain
    sweeps, twice as many each time. Where good choices are `known`, their evaluation comes
    first, in the place of a `guess`.

    Returns
    -------
    int
        Number of sweeps, or minus that number where they converge too slowly.
    """
    best = np.inf
    last = np.inf
    plain = 0
    plain_next = 2
    sweeps = 0
    rows, n_feedback = 0, 0
    enough, share, rounding = 0.0, max(0.5 * tolerance, ROUGHLY), 0.0
    switched = 0
    choose = not known
    if choose:
        guess(low, high, arranged, values)
    while plain_next <= MOST_PLAIN:
        if choose:
            change, scale, switched = sweep(low, high, arranged, values, chosen)
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
            if change >= best:
                plain = plain_next
                plain_next *= 2
                continue
            best = change
            enough, share = 0.5 * tolerance * scale, 0.0
            if switched > 0:
                enough = max(enough, ROUGHLY * change)
        if switched > 0 or rows == 0:
            rows, n_feedback = condense(low, high, arranged, values, chosen, condensed)
        used = accelerated_sweeps(rows, n_feedback, condensed, enough, share, rounding)
        sweeps += abs(used)
        if used > 0:
            spread(low, high, condensed, values)
        elif choose:
            return -sweeps
        choose = True
    return -sweeps


@inner_kernel
def solve_few(low, high, m, arranged, values, chosen, slopes, tolerance):
    """Solve a component with few feedback states, or none; returns as `newton` does."""
    if m == 0:
        sweep(low, high, arranged, values, chosen)
        return 0
    guess_feedback(low, high, m, arranged, values)
    return newton(low, high, m, arranged, values, chosen, slopes, tolerance)


@kernel
def solve_components(
    first, last, component_indptr, arranged, values, chosen, slopes, tolerance, stop_after
):
    """Solve components `first` to `last`, whose successors have their values.

    Components are solved by one look ahead (no cycle) or by `newton` (few feedback states).
    ``chosen[i]`` is the action taken at the position i.

    Returns
    -------
    component : int
        The component where it stopped: `last`, or one that comes `stop_after` outcomes
        after the first, or one that isn't for it to solve.
    sweeps : int
        Sweeps made over components with cycles.
    ending : int
        DONE, or HARD: the component where it stopped is too hard for these methods; or
        MANY: it has many feedback states, and is for `solve_all_components`.
    """
    sweeps = 0
    begin = np.int64(arranged.outcome_indptr[arranged.action_indptr[component_indptr[first]]])
    for component in range(first, last):
        low = component_indptr[component]
        high = component_indptr[component + 1]
        if np.int64(arranged.outcome_indptr[arranged.action_indptr[low]]) - begin > stop_after:
            return component, sweeps, DONE
        m = np.int64(arranged.n_feedback[component])
        if m > MOST_FEEDBACK or m * (high - low) > slopes.shape[0]:
            return component, sweeps, MANY
        used = solve_few(low, high, m, arranged, values, chosen[low:high], slopes, tolerance)
        sweeps += abs(used)
        if used < 0:
            return component, sweeps, HARD
    return last, sweeps, DONE


@kernel
def solve_all_components(
    first,
    last,
    component_indptr,
    arranged,
    values,
    chosen,
    slopes,
    tolerance,
    stop_after,
    condensed,
    known,
):
    """The same, with `improve` for components with many feedback states.

    That takes long to compile, and many games don't need it.

    Parameters
    ----------
    condensed : see `improve`
    known : bool
        Whether `chosen` has good actions for it to begin with.
    """
    sweeps = 0
    begin = np.int64(arranged.outcome_indptr[arranged.action_indptr[component_indptr[first]]])
    for component in range(first, last):
        low = component_indptr[component]
        high = component_indptr[component + 1]
        if np.int64(arranged.outcome_indptr[arranged.action_indptr[low]]) - begin > stop_after:
            return component, sweeps, DONE
        taken = chosen[low:high]
        m = np.int64(arranged.n_feedback[component])
        if m > MOST_FEEDBACK or m * (high - low) > slopes.shape[0]:
            used = improve(low, high, arranged, values, taken, condensed, known, tolerance)
        else:
            used = solve_few(low, high, m, arranged, values, taken, slopes, tolerance)
        sweeps += abs(used)
        if used < 0:
            return component, sweeps, HARD
    return last, sweeps, DONE
