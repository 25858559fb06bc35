"""Evaluating the chosen actions of one component: a condensed system, and Anderson acceleration.

Under one action for each situation, a position is one equation. An equation with a single unknown,
found before it in solving order, is substituted into the others: its value is the unknown times
a factor plus an offset. Known values outside the component are substituted too. The remaining
equations are the *condensed* system, compact in memory. It is solved by Gauss-Seidel sweeps
with Anderson acceleration: "Iterative procedures for nonlinear integral equations" (J. ACM 12,
1965), as given by Walker and Ni (SIAM J. Numer. Anal. 49, 2011).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.engine.sweeps import NOT_CHOSEN
from rollwise.kernels.jit import ONE, index, inner_kernel
from rollwise.layers.layer import MOST_FEEDBACK, Layer

MEMORY = 4  # sweeps that the acceleration remembers; written out below
FARTHEST = 1e6  # largest weight of a sweep in a mixture; larger weights are rounding errors
PATIENCE = 40  # sweeps before the rate of convergence is estimated
WORTHWHILE = 400  # further sweeps allowed by that estimate


class Condensed(NamedTuple):
    """The condensed system of a component and the map back to its positions.

    Position i of the component, counted from its last one, is
    ``factor[i] * x[row[i]] + offset[i]``. Row r is ``x[r] = constant[r] + sum of
    coefficient[k] * x[column[k]]`` over k from ``indptr[r]`` to below ``indptr[r + 1]``.
    """

    row: Any  # (positions of the largest component,) uint32
    factor: Any  # (positions of the largest component,) float64
    offset: Any  # (positions of the largest component,) float64
    kept: Any  # (positions of the largest component,) uint32: a row's position
    x: Any  # (positions of the largest component,) float64
    constant: Any  # (positions of the largest component,) float64
    indptr: Any  # (positions of the largest component + 1,) uint32
    column: Any  # (outcomes of the largest component,) uint32
    coefficient: Any  # (outcomes of the largest component,) float64
    feedback: Any  # (positions of the largest component,) uint32: rows read before they are written
    is_feedback: Any  # (positions of the largest component,) bool


class Workspace(NamedTuple):
    """Memory for one component at a time; unused parts are empty."""

    slope: NDArray[np.float64]
    condensed: Condensed

    @classmethod
    def of(cls, layer: Layer, begin: int = 0, stop: int | None = None) -> Workspace:
        """For the largest component from `begin` to below `stop`, in solving order."""
        assert layer.parts is not None
        n, first = layer.n, layer.blocks[0][1].first[:, 2]
        n_feedback = layer.parts.n_feedback[begin:stop]
        ends = layer.parts.ends[begin : begin + len(n_feedback) + 1]
        many = n_feedback > MOST_FEEDBACK
        sizes = np.diff(ends)
        # The places fall as the ends rise, so the differences are negative.
        outcomes = -np.diff(first[n - ends].astype(np.int64))
        few = (n_feedback > 0) & ~many
        n_states, n_outcomes = int(sizes[many].max(initial=0)), int(outcomes[many].max(initial=0))
        return cls(
            np.empty(int(sizes[few].max(initial=0)) + 1),
            Condensed(
                row=np.empty(n_states, np.uint32),
                factor=np.empty(n_states),
                offset=np.empty(n_states),
                kept=np.empty(n_states, np.uint32),
                x=np.zeros(n_states),
                constant=np.empty(n_states),
                indptr=np.empty(n_states + 1, np.uint32),
                column=np.empty(n_outcomes, np.uint32),
                coefficient=np.empty(n_outcomes),
                feedback=np.empty(n_states, np.uint32),
                is_feedback=np.empty(n_states, np.bool_),
            ),
        )


@inner_kernel
def condense(low, high, block, tables, values, errors, choice, condensed):
    """Fill in the condensed system of the chosen actions of a component.

    Rows are counted from the last position of the component on. Positions without a chosen action
    keep their values. No other position may read them.

    Returns
    -------
    rows, n_feedback : int
        Number of unknowns, and of unknowns read before they are written.
    """
    first, throws, target = block.first, block.throws, block.target
    lists, throw, indptr = tables.lists, tables.throw, tables.indptr
    coefficient, reward, off = tables.coefficient, tables.reward, errors.off
    outcome, lottery = choice.outcome, choice.lottery
    row, factor, offset = condensed.row, condensed.factor, condensed.offset
    kept, constant, x = condensed.kept, condensed.constant, condensed.x
    is_feedback = condensed.is_feedback
    low, high = index(low), index(high)
    rows = 0
    i = high
    while i > low:
        i -= ONE
        here = high - ONE - i
        s = index(first[i, 0])
        if outcome[s] == NOT_CHOSEN:
            row[here], factor[here], offset[here] = 0, 0.0, values[i]
            continue
        inside, only, weight = 0, i, 0.0
        known = off[i] if off.shape[0] > 0 else 0.0
        for t in range(index(lists[throws[i]]), index(lists[throws[i] + ONE])):
            number, o = index(lottery[s]), index(outcome[s])
            s += ONE
            known += throw[t] * reward[number]
            for k in range(index(indptr[number]), index(indptr[number + ONE])):
                to = index(target[o])
                o += ONE
                c = throw[t] * coefficient[k]
                if low <= to and to < high:
                    inside += 1
                    only, weight = to, c
                else:
                    known += c * values[to]
        if inside == 0:
            # Without an unknown the position is known.
            row[here], factor[here], offset[here] = 0, 0.0, known
        elif inside == 1 and only > i:
            # The single unknown has a higher place, so it is expressed already.
            there = high - ONE - only
            row[here] = row[there]
            factor[here] = weight * factor[there]
            offset[here] = known + weight * offset[there]
        else:
            # The position becomes an unknown.
            row[here], factor[here], offset[here] = rows, 1.0, 0.0
            kept[rows] = here
            constant[rows] = known
            x[rows] = values[i]
            is_feedback[rows] = False
            rows += 1
    return rows, fill_rows(rows, low, high, block, tables, choice, condensed)


@inner_kernel
def fill_rows(rows, low, high, block, tables, choice, condensed):
    """Fill in the coefficients; return the number of unknowns read before written."""
    first, throws, target = block.first, block.throws, block.target
    lists, throw, indptr = tables.lists, tables.throw, tables.indptr
    coefficient, outcome, lottery = tables.coefficient, choice.outcome, choice.lottery
    row, factor, offset = condensed.row, condensed.factor, condensed.offset
    kept, constant, begins = condensed.kept, condensed.constant, condensed.indptr
    columns, coefficients = condensed.column, condensed.coefficient
    feedback, is_feedback = condensed.feedback, condensed.is_feedback
    entries, n_feedback = index(0), 0
    begins[0] = 0
    for r in range(rows):
        i = high - ONE - index(kept[r])
        s = index(first[i, 0])
        total, itself, begin = constant[r], 0.0, entries
        for t in range(index(lists[throws[i]]), index(lists[throws[i] + ONE])):
            number, o = index(lottery[s]), index(outcome[s])
            s += ONE
            for k in range(index(indptr[number]), index(indptr[number + ONE])):
                to = index(target[o])
                o += ONE
                if to < low or to >= high:
                    continue
                c = throw[t] * coefficient[k]
                there = high - ONE - to
                total += c * offset[there]
                # The target is factor * x[column] + offset; with the factor 0 it is known.
                weight, column = c * factor[there], row[there]
                if weight != 0.0 and column == r:
                    itself += weight
                elif weight != 0.0:
                    columns[entries] = column
                    coefficients[entries] = weight
                    entries += ONE
                    # A sweep reads this unknown here, and writes it later.
                    if column > r and not is_feedback[column]:
                        is_feedback[column] = True
                        feedback[n_feedback] = column
                        n_feedback += 1
        # The row reads its own unknown, and is solved for it.
        if itself != 0.0:
            total /= 1.0 - itself
            for k in range(begin, entries):
                coefficients[k] /= 1.0 - itself
        constant[r] = total
        begins[r + 1] = entries
    return n_feedback


@inner_kernel
def sweep_rows(rows, condensed):
    """One sweep over the unknowns, in place and in order."""
    x, constant, begins = condensed.x, condensed.constant, condensed.indptr
    columns, coefficients = condensed.column, condensed.coefficient
    for r in range(rows):
        total = constant[r]
        for k in range(begins[r], begins[r + 1]):
            total += coefficients[k] * x[columns[k]]
        x[r] = total


@inner_kernel
def spread(low, high, condensed, values):
    """Compute all positions of the component from the unknowns."""
    row, factor, offset, x = condensed.row, condensed.factor, condensed.offset, condensed.x
    n = index(high) - index(low)
    for here in range(n):
        value = factor[here] * x[row[here]] + offset[here]
        values[index(high) - ONE - here] = value


@inner_kernel
def solve_small(matrix, right):
    """Solve a small linear system in place by elimination; False if it is singular."""
    n = right.shape[0]
    for j in range(n):
        # The largest number of the column is the pivot.
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

    A sweep takes x, the values of the feedback vertex set, to g(x). The next x is a mixture of
    the last few g. Its weights minimize the same mixture of the changes g(x) - x
    (Anderson). If a change grows, the memory is cleared and the sweep is accepted.

    Parameters
    ----------
    enough, share : float
        The sweeps stop when one changes no value by more than `enough` plus `share` of the
        largest value.
    rounding : float
        They also stop if changes below this no longer decrease.

    Returns
    -------
    int
        Number of sweeps; negative if they converge too slowly.
    """
    feedback, x = condensed.feedback, condensed.x
    before = np.empty(n_feedback)
    change_before = np.empty(n_feedback)  # g(x) - x of the last sweep
    after_before = np.empty(n_feedback)  # g(x) of the last sweep
    # Differences of both from sweep to sweep, in columns because their products are
    # computed side by side. A column of zeros is unused.
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
        # The rate of a sweep follows from changes PATIENCE // 2 sweeps apart; the logarithms give
        # the number of further sweeps.
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
        # The oldest column is overwritten, so only products with the newest one are new.
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
        # The normal equations of least squares: the weights that bring `moved` nearest to a sum of
        # columns. An unused column has a 1 here, and so the weight 0.
        for i in range(MEMORY):
            for k in range(MEMORY):
                matrix[i, k] = products[i, k]
            matrix[i, i] = matrix[i, i] * (1.0 + 1e-12) if matrix[i, i] > 0.0 else 1.0
        usable = solve_small(matrix, mixture)
        for i in range(MEMORY):
            usable &= abs(mixture[i]) <= FARTHEST  # false for NaN
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
