"""Evaluating the chosen actions of one component: a condensed system, and Anderson acceleration.

Under one action for each state, a state is one equation. An equation with a single unknown,
found before it in solving order, is substituted into the others: its value is the unknown times
a factor plus an offset. Known values outside the component are substituted too. What is left is
the *condensed* system, which lies close together in memory. It is solved by Gauss-Seidel sweeps
with Anderson acceleration: "Iterative procedures for nonlinear integral equations" (J. ACM 12,
1965), as given by Walker and Ni (SIAM J. Numer. Anal. 49, 2011). On a linear system it is as
good as GMRES with as many steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rollwise.kernels.jit import inner_kernel

MEMORY = 4  # sweeps that the acceleration looks back on; written out below
FARTHEST = 1e6  # what a mixture may weigh a sweep with: more is rounding
PATIENCE = 40  # sweeps before their rate of convergence is judged
WORTHWHILE = 400  # sweeps that it may then still take
LEFT_OUT = 2**32 - 1  # in the place of an action: a position that keeps its value


class Condensed(NamedTuple):
    """The workspace of a condensed component, and what it was made from.

    State i of the component, counted from its first position, is
    ``factor[i] * x[row[i]] + offset[i]``. Row r is ``x[r] = constant[r] + sum of
    coefficient[k] * x[column[k]]`` over k from ``indptr[r]`` to below ``indptr[r + 1]``.
    """

    row: Any  # (n_states of the largest component,) uint32
    factor: Any  # (n_states of the largest component,) float64
    offset: Any  # (n_states of the largest component,) float64
    kept: Any  # (n_states of the largest component,) uint32: a row's state
    x: Any  # (n_states of the largest component,) float64
    constant: Any  # (n_states of the largest component,) float64
    indptr: Any  # (n_states of the largest component + 1,) uint32
    column: Any  # (n_outcomes of the largest component,) uint32
    coefficient: Any  # (n_outcomes of the largest component,) float64
    feedback: Any  # (n_states of the largest component,) uint32: rows read before they are written
    is_feedback: Any  # (n_states of the largest component,) bool


@inner_kernel
def condense(low, high, arranged, values, chosen, condensed):
    """Fill in the condensed system of the chosen actions of a component.

    Positions whose action is `LEFT_OUT` keep their values. No others may read them.

    Returns
    -------
    rows, n_feedback : int
        Number of unknowns, and of those among them that are read before they are written.
    """
    row, factor, offset = condensed.row, condensed.factor, condensed.offset
    target, coefficient = arranged.target, arranged.coefficient
    rows = 0
    for i in range(low, high):
        a = chosen[i - low]
        here = i - low
        if a == LEFT_OUT:
            row[here] = 0
            factor[here] = 0.0
            offset[here] = values[i]
            continue
        c = arranged.lottery_indptr[arranged.lottery[a]]
        inside = 0
        only = np.uint32(0)
        weight = 0.0
        known = arranged.constant[a]
        for k in range(arranged.outcome_indptr[a], arranged.outcome_indptr[a + 1]):
            t = target[k]
            if low <= t < high:
                inside += 1
                only = t
                weight = coefficient[c]
            else:
                known += coefficient[c] * values[t]
            c += np.uint32(1)
        if inside == 0:
            row[here] = 0
            factor[here] = 0.0
            offset[here] = known
        elif inside == 1 and only < i:
            there = only - low
            row[here] = row[there]
            factor[here] = weight * factor[there]
            offset[here] = known + weight * offset[there]
        else:
            row[here] = rows
            factor[here] = 1.0
            offset[here] = 0.0
            condensed.kept[rows] = here
            condensed.constant[rows] = known
            condensed.x[rows] = values[i]
            condensed.is_feedback[rows] = False
            rows += 1
    entries = np.uint32(0)
    n_feedback = 0
    condensed.indptr[0] = 0
    for r in range(rows):
        a = chosen[condensed.kept[r]]
        c = arranged.lottery_indptr[arranged.lottery[a]]
        total = condensed.constant[r]
        itself = 0.0
        first = entries
        for k in range(arranged.outcome_indptr[a], arranged.outcome_indptr[a + 1]):
            t = target[k]
            if low <= t < high:
                there = t - low
                total += coefficient[c] * offset[there]
                weight = coefficient[c] * factor[there]
                column = row[there]
                if weight != 0.0 and column == r:
                    itself += weight
                elif weight != 0.0:
                    condensed.column[entries] = column
                    condensed.coefficient[entries] = weight
                    entries += np.uint32(1)
                    if column > r and not condensed.is_feedback[column]:
                        condensed.is_feedback[column] = True
                        condensed.feedback[n_feedback] = column
                        n_feedback += 1
            c += np.uint32(1)
        if itself != 0.0:
            total /= 1.0 - itself
            for k in range(first, entries):
                condensed.coefficient[k] /= 1.0 - itself
        condensed.constant[r] = total
        condensed.indptr[r + 1] = entries
    return rows, n_feedback


@inner_kernel
def sweep_rows(rows, condensed):
    """One sweep over the unknowns, in place and in order."""
    x = condensed.x
    for r in range(rows):
        total = condensed.constant[r]
        for k in range(condensed.indptr[r], condensed.indptr[r + 1]):
            total += condensed.coefficient[k] * x[condensed.column[k]]
        x[r] = total


@inner_kernel
def spread(low, high, condensed, values):
    """Give all states of the component their values."""
    for i in range(high - low):
        values[low + i] = condensed.factor[i] * condensed.x[condensed.row[i]] + condensed.offset[i]


@inner_kernel
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


@inner_kernel
def forget(changes, products):
    """Drop the memory of the acceleration."""
    for j in range(changes.shape[0]):
        for i in range(MEMORY):
            changes[j, i] = 0.0
    for i in range(MEMORY):
        for j in range(MEMORY):
            products[i, j] = 0.0


@inner_kernel
def accelerated_sweeps(rows, n_feedback, condensed, enough, share, rounding):
    """Solve a condensed system by sweeps with Anderson acceleration, if they converge soon enough.

    A sweep takes x, the values of the feedback vertex set, to g(x). After each, the next x is the
    mixture of the last few g whose changes g(x) - x, mixed likewise, are least
    (Anderson). Where a change grows, the memory is dropped and the sweep stands.

    Parameters
    ----------
    enough, share : float
        It is done when a sweep changes none of these values by more than `enough`, and that
        `share` of the largest of them.
    rounding : float
        Nor does it go on where no sweep gets below that.

    Returns
    -------
    int
        Number of sweeps, or minus that number where they converge too slowly.
    """
    feedback, x = condensed.feedback, condensed.x
    before = np.empty(n_feedback)
    change_before = np.empty(n_feedback)  # g(x) - x of the last sweep
    after_before = np.empty(n_feedback)  # g(x) of the last sweep
    # Differences of both from sweep to sweep; in columns, since their products are
    # taken side by side. A column of zeros is no memory.
    changes = np.zeros((n_feedback, MEMORY))
    afters = np.zeros((n_feedback, MEMORY))
    products = np.zeros((MEMORY, MEMORY))
    matrix = np.empty((MEMORY, MEMORY))
    row = np.empty(MEMORY)
    mixture = np.empty(MEMORY)
    newest = -1
    early = np.inf
    last = np.inf
    for j in range(n_feedback):
        before[j] = x[feedback[j]]
    for sweeps in range(1, PATIENCE + WORTHWHILE + 1):
        sweep_rows(rows, condensed)
        change = 0.0
        scale = 0.0
        for j in range(n_feedback):
            change = max(change, abs(x[feedback[j]] - before[j]))
            scale = max(scale, abs(x[feedback[j]]))
        aim = enough + share * scale
        if not np.isfinite(change):
            return -sweeps
        if change <= aim or (change >= last and change <= rounding):
            return sweeps
        if sweeps == PATIENCE // 2:
            early = change
        if sweeps >= PATIENCE and sweeps % (PATIENCE // 2) == 0:
            rate = (change / early) ** (2.0 / PATIENCE)
            early = change
            if rate >= 1.0:
                return -sweeps
            if np.log(aim / change) / np.log(rate) > WORTHWHILE:
                return -sweeps
        remembers = sweeps > 1 and change < last
        last = change
        if not remembers:
            if newest >= 0:
                forget(changes, products)
                newest = -1
            for j in range(n_feedback):
                after = x[feedback[j]]
                change_before[j] = after - before[j]
                after_before[j] = after
                before[j] = after
            continue
        newest = (newest + 1) % MEMORY
        p0 = p1 = p2 = p3 = q0 = q1 = q2 = q3 = 0.0
        for j in range(n_feedback):
            after = x[feedback[j]]
            moved = after - before[j]
            new = moved - change_before[j]
            changes[j, newest] = new
            afters[j, newest] = after - after_before[j]
            change_before[j] = moved
            after_before[j] = after
            c0, c1, c2, c3 = changes[j, 0], changes[j, 1], changes[j, 2], changes[j, 3]
            p0 += new * c0
            p1 += new * c1
            p2 += new * c2
            p3 += new * c3
            q0 += moved * c0
            q1 += moved * c1
            q2 += moved * c2
            q3 += moved * c3
        row[0], row[1], row[2], row[3] = p0, p1, p2, p3
        mixture[0], mixture[1], mixture[2], mixture[3] = q0, q1, q2, q3
        for i in range(MEMORY):
            products[newest, i] = products[i, newest] = row[i]
        for i in range(MEMORY):
            for k in range(MEMORY):
                matrix[i, k] = products[i, k]
            matrix[i, i] = matrix[i, i] * (1.0 + 1e-12) if matrix[i, i] > 0.0 else 1.0
        usable = solve_small(matrix, mixture)
        for i in range(MEMORY):
            usable &= abs(mixture[i]) <= FARTHEST  # false where it is no number
        if not usable:
            forget(changes, products)
            newest = -1
            for i in range(MEMORY):
                mixture[i] = 0.0
        m0, m1, m2, m3 = mixture[0], mixture[1], mixture[2], mixture[3]
        for j in range(n_feedback):
            next_x = after_before[j] - (
                m0 * afters[j, 0] + m1 * afters[j, 1] + m2 * afters[j, 2] + m3 * afters[j, 3]
            )
            x[feedback[j]] = next_x
            before[j] = next_x
    return -(PATIENCE + WORTHWHILE)
