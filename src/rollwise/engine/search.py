"""The search for the fixed point of a layer: its values, or bounds of their errors.

A layer in solving order is solved component by component (`rollwise.engine.components`). A large
layer without a solving order is swept as a whole: one sweep chooses actions, and a few more
evaluate them. If either fails to converge, Newton's method follows. Its linear systems are
solved by BiCGSTAB on sweeps (van der Vorst, "Bi-CGSTAB", SIAM Journal on Scientific and Statistical
Computing 13, 1992). If that stalls and there are few positions, a sparse LU decomposition solves
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rollwise.engine import components, sweeps
from rollwise.engine.components import EPSILON, solve_all_components, solve_components
from rollwise.engine.condensed import Workspace
from rollwise.engine.sweeps import NO_ERRORS, Choice, Errors
from rollwise.graph.lotteries import spans
from rollwise.layers.layer import Block, Layer, Tables
from rollwise.machine.interrupts import Clock, OutOfTime, heard
from rollwise.machine.pipeline import on_both_cores

CHUNK = 1_000_000  # outcomes between reports of progress
LU_FIRST = 5_000  # with fewer positions, a sparse LU is cheap enough to come first
LU_SECONDS = 20.0
WORTH_HALVING = 200_000  # outcomes of a layer that makes a second core worthwhile
GROUP = 1_000_000  # outcomes of a group of blocks, which one core sweeps
MOST_GROUPS = 16
MOST_NEWTON_STEPS = 60
MOST_PLAIN_SWEEPS = 4_096  # between two steps; more would not help either
MOST_SWEEPS = 1000  # of a whole layer before Newton's method takes over
TRIED = 100  # sweeps before the number of further sweeps is estimated
COARSE = 0.01  # larger changes are likely to change choices
LEFT = {True: 0.3, False: 0.01}  # share of a change, coarse or not, left before the next choice
SETTLED = 2e-15  # a change of a sweep that is rounding, relative to the largest value
MOST_ITERATIONS = 1000  # of BiCGSTAB: its residual may rise for hundreds of them before it falls
HARDLY = 1e-3  # ratio of fall to rise below which a sweep counts as rising only
MOST_RISES = 4  # steps in a row from sweeps that rise only, without a smaller change
DIVERGED = 1e6  # multiple of the first residual that counts as divergence

Floats = NDArray[np.float64]
Found = TypeVar("Found")


def inner(one: Floats, other: Floats) -> float:
    """The inner product, summed in one order: BLAS would sum by the number of its threads."""
    return float(np.einsum("i,i", one, other))


class _Part(NamedTuple):
    """Some positions of a block: from `begin` to below `end`."""

    place: int
    begin: int
    end: int
    block: Block
    choice: Choice
    errors: Errors


class Moved(NamedTuple):
    """The largest fall and rise of a number in one sweep, and the largest absolute value."""

    fall: float
    rise: float
    scale: float

    @property
    def change(self) -> float:
        return max(self.fall, self.rise)


class LinearSystem(NamedTuple):
    """The equations of some positions under their chosen actions.

    Attributes
    ----------
    row, column : (n_entries,) int64
        A position, counted from the first of them, and the place of a target.
    coefficient : (n_entries,) float64
    constant : (n,) float64
        The constant term of each equation.
    """

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    coefficient: Floats
    constant: Floats


class Search:
    """The search for the values of a layer, or for error bounds of such values.

    Parameters
    ----------
    layer : Layer
        For bounds, with the tables of `rollwise.engine.sweeps.tables_of_errors`.
    found : (n_places,) float64, changed
        The border and the endings must be filled.
    errors : list of Errors, optional
        One for each block, if the search is for bounds.
    tolerance : float
        A component is done when a sweep changes none of its numbers by more than this, relative
        to the largest of them.
    is_free : callable, optional
        Whether another core is free.
    is_over : callable, optional
        Whether the time is over. The search then stops with its current numbers.

    Attributes
    ----------
    choices : list of Choice
        One for each block.
    sweeps : int
        Over components with cycles.
    converged : bool
    """

    def __init__(
        self,
        layer: Layer,
        found: Floats,
        errors: Sequence[Errors] | None = None,
        tolerance: float = 4 * EPSILON,
        is_free: Callable[[], bool] = lambda: True,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self.layer, self.found = layer, found
        self._errors = errors or [NO_ERRORS] * len(layer.blocks)
        self._brought = errors[0].off if errors else np.zeros(1)
        self.choices = sweeps.choices_for(layer, targets=layer.parts is None)
        self._tolerance = tolerance
        self.sweeps, self.converged = 0, True
        self._is_free, self._is_over = is_free, is_over
        self._pairs = self._grouped()
        self._copy = np.empty(layer.n_places if self._pairs else 0)
        self._copied: Floats | None = None  # has the numbers of the copy
        self._keeps_copy = False  # while only sweeps change numbers
        self._thread: ThreadPoolExecutor | None = None  # of the second core
        self._done = 0

    def _grouped(self) -> list[list[slice]]:
        """The blocks of a large layer in pairs of groups to sweep at a time, the first pair first.

        The groups of a pair are far apart: their positions rarely lead to each other directly.
        """
        sizes = np.cumsum([len(block.target) for _, block in self.layer.blocks])
        last = len(sizes) - 1
        if sizes[-1] <= WORTH_HALVING or last == 0:
            return []
        n_groups = min(max(int(sizes[-1]) // GROUP, 2), MOST_GROUPS)
        ends = np.searchsorted(sizes, sizes[-1] * np.arange(1, n_groups) / n_groups)
        cuts = np.unique([0, *np.minimum(ends + 1, last), last + 1]).tolist()
        groups = [slice(*cut) for cut in pairwise(cuts)][::-1]
        half = (len(groups) + 1) // 2
        return [groups[k::half] for k in range(half)]

    def run(self, progress: Callable[[int], None] | None = None) -> Search:
        """Run the whole search.

        Parameters
        ----------
        progress : callable, optional
            Called at intervals with the number of finished positions.
        """
        parts = self.layer.parts
        if parts is None:
            with ThreadPoolExecutor(1) as thread:
                self._thread, self._keeps_copy = thread, True
                has_settled = self._sweep_all()
                self._keeps_copy, self._copied = False, None
                if not has_settled:
                    self.converged &= self._newton(0, self.layer.n)
            self._thread = None
        else:
            self.advance(len(parts.n_feedback), progress)
        return self

    def choose(self, low: int = 0, high: int | None = None) -> Moved:
        """Sweep positions by their best actions, and choose these."""
        tables = self.layer.tables

        def sweep(part: _Part, numbers: Floats) -> tuple[float, float, float, int]:
            place, begin, end, block, choice, errors = part
            found = sweeps.choose(place, begin, end, block, tables, numbers, errors, choice)
            return found  # type: ignore[no-any-return]

        moved = self._sweep(sweep, self.found, low, high)
        return Moved(*(max(part[k] for part in moved) for k in range(3)))

    def evaluate(
        self,
        numbers: Floats,
        brought: Floats,
        low: int = 0,
        high: int | None = None,
        tables: Tables | None = None,
    ) -> float:
        """Sweep positions by the chosen actions; return the largest change of a number.

        Parameters
        ----------
        numbers : (n_places,) float64, changed
        brought : (1,) or (n,) float64
            The constant term of each position.
        tables : Tables, optional
            By default the tables of the layer.
        """
        tables = self.layer.tables if tables is None else tables

        def sweep(part: _Part, known: Floats) -> float:
            place, begin, end, block, choice, _ = part
            rest = choice, brought, known, sweeps.NO_SLOPE
            return float(sweeps.evaluate(place, begin, end, block, tables, *rest))

        return max(self._sweep(sweep, numbers, low, high))

    def _sweep(
        self,
        sweep: Callable[[_Part, Floats], Found],
        numbers: Floats,
        low: int,
        high: int | None,
    ) -> list[Found]:
        """Sweep positions block by block, the last one first.

        Two cores sweep two groups of blocks of a large layer at a time. Each of them sees the
        numbers of the other group from before, and those of all earlier groups. The numbers
        therefore do not depend on the cores.
        """
        self.sweeps += 1
        parts = []
        each = zip(self.layer.blocks, self.choices, self._errors, strict=True)
        for (place, block), choice, errors in each:
            begin = max(low - place, 0)
            end = min((self.layer.n if high is None else high) - place, len(block.throws))
            if begin < end:
                parts.append(_Part(place, begin, end, block, choice, errors))

        def work(group: tuple[list[_Part], Floats]) -> list[Found]:
            return [sweep(part, group[1]) for part in reversed(group[0])]

        if not self._pairs or len(parts) < len(self.layer.blocks):
            return work((parts, numbers))
        copy = self._copy
        if self._copied is not numbers:
            copy[:] = numbers
        if self._keeps_copy:
            self._copied = numbers
        found: list[Found] = []
        for pair in self._pairs:
            groups = [parts[group] for group in pair]
            both = list(zip(groups, (numbers, copy), strict=False))
            if self._is_free():
                moved = on_both_cores(work, both, self._thread)
            else:
                moved = list(map(work, both))
            found += [one for of_group in moved for one in of_group]
            # each array gets the new numbers of the other group
            for group, source, other in zip(groups, (numbers, copy), (copy, numbers), strict=False):
                here = slice(group[0].place, group[-1].place + group[-1].end)
                other[here] = source[here]
        return found

    def advance(self, stop: int, progress: Callable[[int], None] | None = None) -> None:
        """Search up to the component `stop` of a layer in solving order."""
        layer, parts = self.layer, self.layer.parts
        assert parts is not None
        workspace = Workspace.of(layer, self._done, stop)
        (_, block), n = layer.blocks[0], layer.n
        known = layer.tables, self.found, self._errors[0], self.choices[0]
        has_many = len(workspace.condensed.row) > 0
        kernel = solve_all_components if has_many else solve_components
        more = (workspace.condensed,) if has_many else ()
        while self._done < stop:
            done, used, ending = heard(
                kernel,
                self._done,
                stop,
                n,
                parts,
                block,
                *known,
                workspace.slope,
                self._tolerance,
                CHUNK,
                *more,
            )
            self.sweeps += used
            if ending == components.HARD:
                low, high = n - int(parts.ends[done + 1]), n - int(parts.ends[done])
                self.converged &= self._newton(low, high)
                done += 1
            self._done = done
            if progress is not None:
                progress(int(parts.ends[done]))

    def _sweep_all(self) -> bool:
        """Modified policy iteration over the whole layer; False if it is too slow."""
        first, swept, change = 0.0, 0, np.inf
        while swept < MOST_SWEEPS and not self._is_over():
            moved = self.choose()
            before, change = change, moved.change
            settled = max(SETTLED, self._tolerance) * moved.scale
            swept += 1
            if change <= settled or (change >= before and before <= 100 * settled):
                return True
            first = max(first, change)
            # The way from the first change to a settled one, on a scale of logarithms. At too slow
            # a pace Newton's method takes over.
            share = math.log(first / change) / math.log(first / settled)
            if swept > TRIED and share * MOST_SWEEPS < swept:
                break
            left = LEFT[change > COARSE * moved.scale]
            aim = max(left * change, settled / 2)
            for _ in range(TRIED):
                swept += 1
                if self.evaluate(self.found, self._brought) <= aim:
                    break
        return False

    def _newton(self, low: int, high: int) -> bool:
        """Strategy iteration on some positions; return whether it converged."""
        direct, may_be_direct = high - low <= LU_FIRST, high - low <= 10 * LU_FIRST
        best = last = np.inf
        plain_next, rises, here = 2, 0, slice(low, high)
        for _ in range(MOST_NEWTON_STEPS):
            before = self.found[here].copy()
            moved = self.choose(low, high)
            change, enough = moved.change, self._tolerance * moved.scale
            if not np.isfinite(change) or self._is_over():
                return False
            if change <= enough or (change >= last and change <= 64 * enough):
                return True
            last = change
            # Plain sweeps follow a step that doesn't reduce the change, twice as many each time.
            # Sweeps that only raise numbers improve a policy (Howard 1960) and are followed by a
            # step, a few times in a row: two players can improve in a circle.
            rises = rises + 1 if change >= best else 0
            if rises and (moved.fall > HARDLY * moved.rise or rises > MOST_RISES):
                rises = 0
                if plain_next > MOST_PLAIN_SWEEPS:
                    return False
                for _plain in range(plain_next):
                    self.choose(low, high)
                plain_next *= 2
                continue
            best = min(best, change)
            if direct:
                try:
                    evaluated = self._evaluated_by_lu(low, high)
                except OutOfTime:
                    direct, may_be_direct, evaluated = False, False, None
                if evaluated is not None:
                    self.found[here] = evaluated
            else:
                # Newton's step on the map of one sweep: (1 - J) step = F(x) - x
                residual = self.found[here] - before
                step, solved = self.stepped(residual, 1e-6, low=low)
                self.found[here] = before + step
                direct = not solved and may_be_direct
        return False

    def stepped(
        self,
        moved: Floats,
        left: float,
        low: int = 0,
    ) -> tuple[Floats, bool]:
        """Newton's step from the residual of a sweep, and whether it was found.

        Parameters
        ----------
        moved : (n,) float64
            The change of each position from `low` on in the sweep. It is overwritten.
        left : float
            The share of it, in the Euclidean norm, that may remain.
        """
        n, residual, shadow = len(moved), moved, moved.copy()
        solution, direction, image = (np.zeros(n) for _ in range(3))
        slope, nothing = np.zeros(self.layer.n_places), np.zeros(1)
        reward = np.zeros(len(self.layer.tables.reward))
        tables = self.layer.tables._replace(reward=reward)

        def product(vector: Floats) -> Floats:
            # A sweep without rewards multiplies by J, the derivative of a sweep.
            slope[low : low + n] = vector
            self.evaluate(slope, nothing, low, low + n, tables)
            return vector - slope[low : low + n]

        # the names are those of van der Vorst's algorithm: image A p, shadow r̂
        rho = inner(residual, residual)
        first, beta, omega = math.sqrt(rho), 0.0, 0.0
        for _ in range(MOST_ITERATIONS):
            if self._is_over() or not math.isfinite(rho) or rho == 0.0:
                break
            direction = residual + beta * (direction - omega * image)
            image = product(direction)
            along = inner(image, shadow)
            if along == 0.0:
                break
            alpha = rho / along
            solution += alpha * direction
            residual -= alpha * image
            turned = product(residual)
            squared = inner(turned, turned)
            if squared == 0.0:
                return solution, True
            omega = inner(turned, residual) / squared
            solution += omega * residual
            residual -= omega * turned
            norm = math.sqrt(inner(residual, residual))
            if norm <= left * first:
                return solution, True
            if norm > DIVERGED * first or omega == 0.0:
                break
            before, rho = rho, inner(residual, shadow)
            beta = rho / before * (alpha / omega)
        return solution, False

    def _evaluated_by_lu(self, low: int, high: int) -> Floats | None:
        """Numbers of some positions under the chosen actions, by sparse LU; None if singular.

        Raises
        ------
        OutOfTime
            The factors are so dense that they would take more than `LU_SECONDS`.
        """
        from scipy.sparse import csc_matrix, identity
        from scipy.sparse.linalg import splu

        row, column, coefficient, right = self.linear_system(low, high)
        n = high - low
        inside = (column >= low) & (column < high)
        right += np.bincount(
            row[~inside], coefficient[~inside] * self.found[column[~inside]], minlength=n
        )
        matrix = identity(n, format="csc") - csc_matrix(
            (coefficient[inside], (row[inside], column[inside] - low)), shape=(n, n)
        )
        try:
            solved = Clock(LU_SECONDS).within(lambda: splu(matrix).solve(right))
        except RuntimeError:  # exactly singular
            return None
        return solved if np.all(np.isfinite(solved)) else None

    def linear_system(self, low: int, high: int) -> LinearSystem:
        """The equations of the positions from `low` to below `high` under the chosen actions."""
        tables, parts = self.layer.tables, []
        lists, indptr = tables.lists.astype(np.int64), tables.indptr.astype(np.int64)
        constant = np.zeros(high - low)
        constant += self._brought[low:high] if len(self._brought) > 1 else self._brought
        for (place, block), choice in zip(self.layer.blocks, self.choices, strict=True):
            begin, end = max(low - place, 0), min(high - place, len(block.throws))
            if begin >= end:
                continue
            throws = block.throws[begin:end].astype(np.int64)
            # All throws of the positions stand one after the other, and then all of their outcomes.
            sizes = np.diff(lists)[throws]
            situations = np.arange(int(block.first[begin, 0]), int(block.first[end, 0]))
            owner = np.repeat(np.arange(begin, end) + place - low, sizes)
            chance = tables.throw[spans(lists[throws], sizes)]
            lottery = choice.lottery[situations].astype(np.int64)
            n_outcomes = np.diff(indptr)[lottery]
            if len(choice.target):
                target = choice.target[situations]
            else:
                target = block.target[spans(choice.outcome[situations], n_outcomes)]
            coefficient = tables.coefficient[spans(indptr[lottery], n_outcomes)]
            constant += np.bincount(owner, chance * tables.reward[lottery], minlength=high - low)
            parts.append(
                (
                    np.repeat(owner, n_outcomes),
                    target.astype(np.int64),
                    np.repeat(chance, n_outcomes) * coefficient,
                )
            )
        row, column, coefficient = map(np.concatenate, zip(*parts, strict=True))
        return LinearSystem(row, column, coefficient, constant)
