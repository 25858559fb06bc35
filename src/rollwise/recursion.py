"""Finding the fixed point of a game's recursion, component by component.

Everything that rollwise computes about a game is one recursion over its graph
(see `rollwise.kernels.recursion`): values are the fixed point of one, and bounds on
their errors the fixed point of another. This room puts a recursion in solving
order and finds its fixed point; nothing that it finds is taken on trust, since
the certificate is a separate check of the result against the graph.

Components with few cut states, or in which sweeps converge fast, are solved in
compiled code. The rest are left to SciPy: Newton's method, whose linear systems
are solved by GMRES on sweeps (Saad and Schultz 1986) or, where that stalls, by a
sparse LU decomposition.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import Components, StateGraph
from rollwise.kernels import recursion as kernels

CHUNK = 2_000_000  # outcomes between reports of progress
LU_FIRST = 5_000  # states below which a sparse LU is cheap enough to come first
MOST_NEWTON_STEPS = 60
MOST_PLAIN_SWEEPS = 4_096  # between two steps; where that many don't help, nothing will


@dataclass(frozen=True, eq=False)
class Recursion:
    """``v[i] = max over a of constant[a] + sum of coefficient[k] * v[target[k]]``.

    Attributes
    ----------
    components : Components
        ``components.order[i]`` is the state at position i.
    action_indptr : (n_states + 1,) int64
    source_action : (n_actions,) int64
        The number of each action in the graph.
    constant : (n_actions,) float64
    outcome_indptr : (n_actions + 1,) int64
    target : (n_outcomes,) int32
        Positions; from ``n_states`` on, places on the border.
    coefficient : (n_outcomes,) float64
    """

    components: Components
    action_indptr: NDArray[np.int64]
    source_action: NDArray[np.int64]
    constant: NDArray[np.float64]
    outcome_indptr: NDArray[np.int64]
    target: NDArray[np.int32]
    coefficient: NDArray[np.float64]

    @property
    def n_states(self) -> int:
        return len(self.components.order)

    @classmethod
    def of_values(cls, graph: StateGraph) -> Recursion:
        """The recursion of the values of a game; of their negatives, to minimize."""
        components = graph.components
        n, n_actions = graph.n_states, graph.n_actions
        position = np.empty(n, np.int32)
        position[components.order] = np.arange(n, dtype=np.int32)
        action_indptr = np.empty(n + 1, np.int64)
        source_action = np.empty(n_actions, np.int64)
        constant = np.empty(n_actions)
        outcome_indptr = np.empty(n_actions + 1, np.int64)
        target = np.empty(graph.n_outcomes, np.int32)
        coefficient = np.empty(graph.n_outcomes)
        n_outcomes = kernels.arrange(
            components.order,
            position,
            graph.action_indptr,
            graph.action_reward,
            graph.outcome_indptr,
            graph.outcome_state,
            graph.outcome_weight,
            graph.outcome_passes,
            graph.outcome_payoff,
            -1.0 if graph.objective == "minimize" else 1.0,
            action_indptr,
            source_action,
            constant,
            outcome_indptr,
            target,
            coefficient,
        )
        return cls(
            components,
            action_indptr,
            source_action,
            constant,
            outcome_indptr,
            target[:n_outcomes],
            coefficient[:n_outcomes],
        )


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """What `solve_recursion` found.

    Attributes
    ----------
    values : (n_states + n_border,) float64
        By position; the border's values at the end.
    sweeps : int
        Sweeps over components with cycles.
    converged : bool
        Whether every component came to rest.
    """

    values: NDArray[np.float64]
    sweeps: int
    converged: bool


def solve_recursion(
    recursion: Recursion,
    border: NDArray[np.float64],
    *,
    tolerance: float = 4 * kernels.EPSILON,
    progress: Callable[[int, int], None] | None = None,
) -> FixedPoint:
    """Find the fixed point, the components in their order.

    Parameters
    ----------
    border : (n_border,) float64
        Values known from elsewhere.
    tolerance : float
        A component is done when a sweep changes none of its values by more than
        this, relative to the largest of them.
    progress : callable, optional
        Called as ``progress(positions done, positions)``.
    """
    n = recursion.n_states
    indptr = recursion.components.indptr
    values = np.zeros(n + len(border))
    values[n:] = border
    chosen = np.zeros(n, np.int64)
    arrays = (
        recursion.action_indptr,
        recursion.constant,
        recursion.outcome_indptr,
        recursion.target,
        recursion.coefficient,
    )
    cut_index = np.empty(n, np.int32)
    slopes = np.empty(min(kernels.MOST_CUT * recursion.components.largest, kernels.SLOPES_ROOM))
    component = sweeps = 0
    converged = True
    while component < len(recursion.components):
        component, used, hard = kernels.solve_components(
            component,
            len(recursion.components),
            indptr,
            *arrays,
            values,
            chosen,
            cut_index,
            slopes,
            tolerance,
            CHUNK,
        )
        sweeps += used
        if hard:
            low, high = int(indptr[component]), int(indptr[component + 1])
            used, done = _solve_hard(recursion, low, high, values, chosen, tolerance, progress)
            sweeps += used
            converged &= done
            component += 1
        if progress is not None:
            progress(int(indptr[component]), n)
    return FixedPoint(values, sweeps, converged)


def _solve_hard(
    recursion: Recursion,
    low: int,
    high: int,
    values: NDArray[np.float64],
    chosen: NDArray[np.int64],
    tolerance: float,
    progress: Callable[[int, int], None] | None,
) -> tuple[int, bool]:
    """Strategy iteration on one component: a sweep to improve, a linear solve to evaluate.

    A step that doesn't lessen the change of a sweep is followed by plain sweeps,
    twice as many each time, as in `rollwise.kernels.recursion.newton`.

    Returns
    -------
    sweeps : int
    converged : bool
    """
    arrays = (
        recursion.action_indptr,
        recursion.constant,
        recursion.outcome_indptr,
        recursion.target,
        recursion.coefficient,
    )
    direct = high - low <= LU_FIRST
    best = last = np.inf
    plain_next = 2
    sweeps = 0
    for _ in range(MOST_NEWTON_STEPS):
        before = values[low:high].copy()
        change, scale = kernels.sweep(low, high, *arrays, values, chosen)
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
                kernels.sweep(low, high, *arrays, values, chosen)
                sweeps += 1
            plain_next *= 2
            continue
        best = change
        if direct:
            evaluated = _evaluate_directly(recursion, low, high, values, chosen)
            if evaluated is not None:
                values[low:high] = evaluated
        else:
            # Newton's step on the map of one sweep: (1 - J) step = F(x) - x.
            moved = values[low:high] - before
            move, used, solved = _krylov(recursion, low, high, chosen, moved, tolerance)
            sweeps += used
            values[low:high] = before + move
            direct = not solved and high - low <= 10 * LU_FIRST
    return sweeps, False


def _krylov(
    recursion: Recursion,
    low: int,
    high: int,
    chosen: NDArray[np.int64],
    moved: NDArray[np.float64],
    tolerance: float,
) -> tuple[NDArray[np.float64], int, bool]:
    """Solve ``(1 - J) step = moved`` by GMRES, J being the slope of a sweep."""
    from scipy.sparse.linalg import LinearOperator, gmres

    slope = np.zeros(recursion.n_states)
    sweeps = 0

    def apply(step: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal sweeps
        sweeps += 1
        slope[low:high] = step.reshape(-1)
        kernels.slope_sweep(
            low,
            high,
            chosen,
            recursion.outcome_indptr,
            recursion.target,
            recursion.coefficient,
            slope,
        )
        return step.reshape(-1) - slope[low:high]

    size = high - low
    operator = LinearOperator((size, size), matvec=apply, dtype=np.float64)
    step, info = gmres(operator, moved, rtol=1e-6, restart=40, maxiter=10)
    return step, sweeps, info == 0


def _evaluate_directly(
    recursion: Recursion,
    low: int,
    high: int,
    values: NDArray[np.float64],
    chosen: NDArray[np.int64],
) -> NDArray[np.float64] | None:
    """Values of the component under the chosen actions, by sparse LU; None if singular."""
    from scipy.sparse import csc_matrix, identity
    from scipy.sparse.linalg import MatrixRankWarning, spsolve

    actions = chosen[low:high]
    begin = recursion.outcome_indptr[actions]
    counts = recursion.outcome_indptr[actions + 1] - begin
    rows = np.repeat(np.arange(high - low), counts)
    first = np.cumsum(counts) - counts
    edges = np.repeat(begin - first, counts) + np.arange(int(counts.sum()))
    target = recursion.target[edges]
    coefficient = recursion.coefficient[edges]
    inside = (target >= low) & (target < high)
    right = recursion.constant[actions] + np.bincount(
        rows[~inside], coefficient[~inside] * values[target[~inside]], minlength=high - low
    )
    matrix = identity(high - low, format="csc") - csc_matrix(
        (coefficient[inside], (rows[inside], target[inside] - low)), shape=(high - low, high - low)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MatrixRankWarning)
        solved = spsolve(matrix, right)
    return solved if np.all(np.isfinite(solved)) else None
