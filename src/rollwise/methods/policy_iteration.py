"""Policy iteration on the whole graph, as in textbooks.

One player (Howard 1960): evaluate the policy by one linear system, improve the action
of every state, repeat. Two players (Hoffman and Karp 1966): the game is one
between MAX and MIN on two copies of the graph. MAX's policy is fixed while MIN's is
improved to a best response. Then MAX's is improved once. Improving both at once can
go round in circles; this can't.

It is here for comparison: `rollwise.methods.strategy_iteration` solves the same
systems component by component, with a few unknowns each.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rollwise.derive.seats import take_seats
from rollwise.graph import StateGraph
from rollwise.graph.choices import slopes_of
from rollwise.graph.endings import ways_out
from rollwise.machine.interrupts import Clock
from rollwise.methods.result import MethodResult, Status
from rollwise.methods.sweeping import Sweeper
from rollwise.proofs.endless_play import require_settled

NAME = "policy-iteration"
# The least improvement for another action, relative to the largest value.
MARGIN = 1e-12
MAX, MIN = range(2)  # the seats, and their copies of the graph


def policy_iteration(
    graph: StateGraph,
    *,
    max_rounds: int = 10_000,
    time_limit: float | None = None,
    on_sweep: Callable[[int, float], None] | None = None,
    on_values: Callable[[NDArray[np.float64]], None] | None = None,
) -> MethodResult:
    """Find values by improving policies, with their values from linear systems.

    Parameters
    ----------
    graph : StateGraph
        Without a border.
    max_rounds : int
        Largest number of linear systems.
    time_limit : float, optional
        It gives up after so many seconds.
    on_sweep : callable, optional
        Called as ``on_sweep(systems solved, largest change of a value)``.
    on_values : callable, optional
        Called after each system with its values, (n_states,) float64, reused afterwards.

    Returns
    -------
    MethodResult
        `sweeps` counts the linear systems; `history` has the largest change of a value from
        each to the next, and `claimed_error` is the change by one more look ahead.

    Raises
    ------
    EndlessPlay
        The players can go round for ever, so that a system could be singular.
    """
    clock = Clock(time_limit)
    may_go_round = require_settled(graph, NAME)
    seats = graph if graph.players == 1 else take_seats(graph, [None, None]).graph
    n = graph.n_states
    sweeper = Sweeper(seats, "synchronous")
    if may_go_round:  # the first policy ends every play
        sweeper.chosen[:] = ways_out(graph, np.ones(graph.n_actions, np.bool_))
    history: list[float] = []
    status = Status.SWEEP_LIMIT
    values = np.zeros(seats.n_states)
    improvements = 0
    change = np.inf
    # evaluate by a linear system, improve one player, until neither has a better action
    while len(history) < max_rounds:
        before = values
        values = policy_values(seats, sweeper.chosen)
        history.append(float(np.max(np.abs(values - before))))
        if on_sweep is not None:
            on_sweep(len(history), history[-1])
        if on_values is not None:
            on_values(values[:n])
        if not np.all(np.isfinite(values)):
            status = Status.SOLVER_FAILED
            break
        seat, change = _improve(sweeper, values, n)
        improvements += int(seat == MAX)
        if seat is None:
            status = Status.CONVERGED
            break
        if clock.is_up:
            status = Status.OUT_OF_TIME
            break
    return MethodResult(
        NAME,
        values[:n].copy(),
        len(history),
        status,
        history,
        claimed_error=change if np.isfinite(change) else None,
        chosen=sweeper.chosen[:n].copy(),
        details={
            "history": "largest change of a value",
            "sweeps": "linear systems",
            "unknowns": seats.n_states,
            "improvements": improvements,
        },
    )


def _improve(sweeper: Sweeper, values: NDArray[np.float64], n: int) -> tuple[int | None, float]:
    """Improve one player's actions: MIN's, on the second copy, until they are best; then MAX's.

    Returns
    -------
    seat : int or None
        The player with a changed action; None without an improvement.
    change : float
        The largest change of a value in the last sweep.
    """
    margin = MARGIN * max(1.0, float(np.max(np.abs(values))))
    is_max = np.arange(len(values)) < n
    change = np.inf
    # MAX changes only when MIN plays a best response
    for seat, movers in ((MIN, ~is_max), (MAX, is_max)):
        if movers.any():
            sweeper.values[:] = values
            change, switched = sweeper.sweep(movers, margin)
            if switched:
                return seat, change
    return None, change


def policy_values(graph: StateGraph, actions: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values under one action a state, by one sparse linear system.

    In solving order the matrix is triangular but for the cycles. Its rows are dominated by
    their diagonal, so elimination in that order is stable without pivoting.

    Parameters
    ----------
    actions : (n_states,) int64
        Indices into the actions.

    Returns
    -------
    (n_states,) float64
        NaN where the system is singular.
    """
    from scipy.sparse import csc_matrix, identity
    from scipy.sparse.linalg import splu

    n = graph.n_states
    order = graph.components.order
    position = np.empty(n, np.int64)
    position[order] = np.arange(n)
    # rows of I - P under the chosen actions; endings go to the right side
    after = slopes_of(graph, actions)
    matrix = identity(n, format="csc") - csc_matrix(
        (after.slope, (position[after.action], position[after.state])), shape=(n, n)
    )
    try:
        factors = splu(
            matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:  # exactly singular
        return np.full(n, np.nan)
    solved = np.empty(n)
    solved[order] = factors.solve(after.constant[order])
    return solved
