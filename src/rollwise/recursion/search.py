"""Finding the fixed point of a game's recursion, component by component.

Nothing that is found here is taken on trust: the proof checks the result against the graph.

Components with a small feedback vertex set, or in which sweeps converge fast, are solved in
compiled code. The rest are left to SciPy: Newton's method, whose linear systems
are solved by GMRES on sweeps (Saad and Schultz 1986) or, where that stalls, by a
sparse LU decomposition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.kernels import recursion as kernels
from rollwise.kernels import solving
from rollwise.kernels.evaluating import Condensed
from rollwise.machine.deadlines import Clock, OutOfTime
from rollwise.machine.second_process import wait_until_done
from rollwise.recursion.order import Recursion

CHUNK = 250_000  # outcomes between reports of progress
LU_FIRST = 5_000  # states below which a sparse LU is cheap enough to come first
LU_SECONDS = 20.0  # for one; what takes longer, or can't be stopped, is done by sweeps
MOST_NEWTON_STEPS = 60
MOST_PLAIN_SWEEPS = 4_096  # between two steps; where that many don't help, nothing will


class Search:
    """The search for the fixed point, component by component.

    Attributes
    ----------
    values : (n_states + n_border,) float64
        By position; the border's values at the end. Right as far as the search has come.
    done : int
        Number of components that have their values.
    chosen : (n_states,) uint32
        The action taken at each position.
    sweeps : int
        Sweeps over components with cycles.
    converged : bool
        Whether every component came to rest.

    Parameters
    ----------
    border : (n_border,) float64
        Values known from elsewhere.
    tolerance : float
        A component is done when a sweep changes none of its values by more than
        this, relative to the largest of them.
    chosen : (n_states,) uint32, optional
        Good actions, known for each component when the search comes to it. They are
        written over.
    """

    def __init__(
        self,
        recursion: Recursion,
        border: NDArray[np.float64],
        tolerance: float = 4 * solving.EPSILON,
        chosen: NDArray[np.uint32] | None = None,
    ) -> None:
        n = recursion.n_states
        self.recursion, self.tolerance = recursion, tolerance
        self.values = np.zeros(n + len(border))
        self.values[n:] = border
        self.done = self.sweeps = 0
        self.converged = True
        self._known = chosen is not None
        self._large_feedback = False  # of a component that was met
        self.chosen = np.zeros(n, np.uint32) if chosen is None else chosen
        self._workspace = workspace_for(0, 0)

    def run(
        self, stop: int | None = None, progress: Callable[[int, int], None] | None = None
    ) -> Search:
        """Go on to the component `stop`, or to the last.

        Parameters
        ----------
        progress : callable, optional
            Called now and then as ``progress(positions done, positions)``.
        """
        indptr, n = self.recursion.components.indptr, self.recursion.n_states
        stop = len(self.recursion.components) if stop is None else stop
        self._fit_workspace(stop)
        while self.done < stop:
            self.done, used, ending = self._solve(stop)
            self.sweeps += used
            if ending == solving.MANY:
                wait_until_done()  # of what is compiled for the first time on this machine
                self._large_feedback = True
                continue
            if ending == solving.HARD:
                low, high = int(indptr[self.done]), int(indptr[self.done + 1])
                found = (self.values, self.chosen[low:high], self.tolerance, progress)
                used, converged = newton_krylov(self.recursion, low, high, *found)
                self.sweeps += used
                self.converged &= converged
                self.done += 1
            if progress is not None:
                progress(int(indptr[self.done]), n)
        return self

    def _solve(self, stop: int) -> tuple[int, int, int]:
        """As far as compiled code comes: see `rollwise.kernels.solving.solve_components`."""
        arguments = (
            self.done,
            stop,
            self.recursion.components.indptr,
            self.recursion.arranged,
            self.values,
            self.chosen,
            self._workspace.slopes,
            self.tolerance,
            CHUNK,
        )
        if self._large_feedback:
            more = (self._workspace.condensed, self._known)
            return solving.solve_all_components(*arguments, *more)  # type: ignore[no-any-return]
        return solving.solve_components(*arguments)  # type: ignore[no-any-return]

    def _fit_workspace(self, stop: int) -> None:
        """Have a workspace for each of the components up to `stop`."""
        arranged, indptr = self.recursion.arranged, self.recursion.components.indptr
        ends = indptr[self.done : stop + 1]
        begin = arranged.outcome_indptr[arranged.action_indptr[ends]].astype(np.int64)
        condensed = self._workspace.condensed
        states = int(np.diff(ends).max(initial=len(condensed.row)))
        outcomes = int(np.diff(begin).max(initial=len(condensed.column)))
        if states > len(condensed.row) or outcomes > len(condensed.column):
            self._workspace = workspace_for(states, outcomes)


class Workspace(NamedTuple):
    """Memory for one component at a time; what isn't used takes none."""

    slopes: NDArray[np.float64]
    condensed: Condensed


def workspace_for(states: int, outcomes: int) -> Workspace:
    """A workspace for components of so many states and outcomes."""
    return Workspace(
        np.empty(min(kernels.MOST_FEEDBACK * states, solving.MOST_SLOPES)),
        Condensed(
            row=np.empty(states, np.uint32),
            factor=np.empty(states),
            offset=np.empty(states),
            kept=np.empty(states, np.uint32),
            x=np.zeros(states),
            constant=np.empty(states),
            indptr=np.empty(states + 1, np.uint32),
            column=np.empty(outcomes, np.uint32),
            coefficient=np.empty(outcomes),
            feedback=np.empty(states, np.uint32),
            is_feedback=np.empty(states, np.bool_),
        ),
    )


def newton_krylov(
    recursion: Recursion,
    low: int,
    high: int,
    values: NDArray[np.float64],
    chosen: NDArray[np.uint32],
    tolerance: float,
    progress: Callable[[int, int], None] | None,
) -> tuple[int, bool]:
    """Strategy iteration on one component: a sweep to improve, a linear solve to evaluate.

    A step that doesn't lessen the change of a sweep is followed by plain sweeps,
    twice as many each time, as in `rollwise.kernels.solving.newton`.

    Returns
    -------
    sweeps : int
    converged : bool
    """
    direct, may_be_direct = high - low <= LU_FIRST, high - low <= 10 * LU_FIRST
    best = last = np.inf
    plain_next = 2
    sweeps = 0
    for _ in range(MOST_NEWTON_STEPS):
        before = values[low:high].copy()
        change, scale, _ = kernels.sweep(low, high, recursion.arranged, values, chosen)
        sweeps += 1
        if progress is not None:
            progress(low, recursion.n_states)
        if not np.isfinite(change):
            return sweeps, False
        if change <= tolerance * scale or (change >= last and change <= 64 * tolerance * scale):
            return sweeps, True
        last = change
        if change >= best:
            if plain_next > MOST_PLAIN_SWEEPS:
                return sweeps, False
            for _plain in range(plain_next):
                kernels.sweep(low, high, recursion.arranged, values, chosen)
                sweeps += 1
            plain_next *= 2
            continue
        best = change
        if direct:
            try:
                evaluated = evaluate_by_lu(recursion, low, high, values, chosen)
            except OutOfTime:
                direct, may_be_direct = False, False
                evaluated = None
            if evaluated is not None:
                values[low:high] = evaluated
        else:
            # Newton's step on the map of one sweep: (1 - J) step = F(x) - x.
            moved = values[low:high] - before
            move, used, solved = gmres_step(recursion, low, high, chosen, moved, tolerance)
            sweeps += used
            values[low:high] = before + move
            direct = not solved and may_be_direct
    return sweeps, False


def gmres_step(
    recursion: Recursion,
    low: int,
    high: int,
    chosen: NDArray[np.uint32],
    moved: NDArray[np.float64],
    tolerance: float,
) -> tuple[NDArray[np.float64], int, bool]:
    """Solve ``(1 - J) step = moved`` by GMRES, J being the slope of a sweep."""
    from scipy.sparse.linalg import LinearOperator, gmres

    slope = np.empty(high - low)
    sweeps = 0

    def apply(step: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal sweeps
        sweeps += 1
        slope[:] = step.reshape(-1)
        kernels.slope_sweep(low, high, recursion.arranged, chosen, slope)
        return step.reshape(-1) - slope

    size = high - low
    operator = LinearOperator((size, size), matvec=apply, dtype=np.float64)
    step, info = gmres(operator, moved, rtol=1e-6, restart=40, maxiter=10)
    return step, sweeps, info == 0


def evaluate_by_lu(
    recursion: Recursion,
    low: int,
    high: int,
    values: NDArray[np.float64],
    chosen: NDArray[np.uint32],
) -> NDArray[np.float64] | None:
    """Values of the component under the chosen actions, by sparse LU; None if singular.

    Raises
    ------
    OutOfTime
        The factors are so full that they would take more than `LU_SECONDS`.
    """
    from scipy.sparse import csc_matrix, identity
    from scipy.sparse.linalg import splu

    arranged = recursion.arranged
    actions = chosen[: high - low]
    begin = arranged.outcome_indptr[actions].astype(np.int64)
    counts = arranged.outcome_indptr[actions + 1] - begin
    rows = np.repeat(np.arange(high - low), counts)
    first = np.cumsum(counts) - counts
    along = np.arange(int(counts.sum())) - np.repeat(first, counts)
    target = arranged.target[np.repeat(begin, counts) + along].astype(np.int64)
    lottery = arranged.lottery_indptr[arranged.lottery[actions]].astype(np.int64)
    coefficient = arranged.coefficient[np.repeat(lottery, counts) + along]
    inside = (target >= low) & (target < high)
    right = arranged.constant[actions] + np.bincount(
        rows[~inside], coefficient[~inside] * values[target[~inside]], minlength=high - low
    )
    matrix = identity(high - low, format="csc") - csc_matrix(
        (coefficient[inside], (rows[inside], target[inside] - low)), shape=(high - low, high - low)
    )
    try:
        solved = Clock(LU_SECONDS).within(lambda: splu(matrix).solve(right))
    except RuntimeError:  # exactly singular
        return None
    return solved if np.all(np.isfinite(solved)) else None
