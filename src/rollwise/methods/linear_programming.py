"""Linear programming: the smallest values that are at least what each action is worth.

For one player it is a theorem (d'Epenoux 1963; Puterman 1994, section 7.2.7). The
values are the least point that obeys the rows, in every state at once. So minimising
their sum finds them.

With two players a PASS turns the sign, so a larger value here allows a smaller one
there, and there is no least point. The smallest sum has values that are above the
best of their actions. The result is checked for that, and its status says so.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph
from rollwise.machine.deadlines import Clock
from rollwise.methods.highs import solve_with_highs
from rollwise.methods.programs import FIXED_POINT, TOLERANCE, Model, Program
from rollwise.methods.result import MethodResult, Status
from rollwise.methods.sweeping import with_border

NAME = "linear-programming"


def linear_programming(
    graph: StateGraph,
    *,
    time_limit: float | None = None,
    border_values: NDArray[np.float64] | None = None,
    on_sweep: Callable[[int, float], None] | None = None,
) -> MethodResult:
    """Minimise the sum of the values of the states with a choice.

    Parameters
    ----------
    graph : StateGraph
    time_limit : float, optional
        Seconds.
    border_values : (n_border,) float64, optional
    on_sweep : callable, optional
        Called once, with the iterations of the simplex method and the largest
        excess of a value.

    Returns
    -------
    MethodResult
        The column ``relative_error`` has, for each state, how far its value is
        above the best of its actions, relative to that: of win probabilities, or
        of totals.

    Raises
    ------
    MissingExtra
    """
    clock = Clock(time_limit)
    states = np.arange(graph.n_states)
    model = Model.of_states(graph, states, with_border(graph, 0.0, border_values))
    bound = 1.0 if graph.objective == "win" else np.inf
    program = Program(
        model.matrix,
        model.right,
        np.where(model.has_choice[model.row_state], np.inf, model.right),
        np.full(len(states), 0.0 if graph.objective == "win" else -np.inf),
        np.full(len(states), bound),
        model.has_choice.astype(np.float64),
        np.zeros(len(states), np.bool_),
    )
    answer = solve_with_highs(program, clock)
    status = answer.status
    if answer.columns is None or status is not Status.CONVERGED:
        unknown = np.full(graph.n_states, np.nan)
        return MethodResult(NAME, unknown, answer.nodes, status, details={"solver": answer.message})
    excess = model.excess(answer.columns)
    best = answer.columns - excess
    relative = excess / np.where(np.abs(best) > TOLERANCE, np.abs(best), 1.0)
    worst = float(np.max(np.abs(excess)))
    if not worst <= FIXED_POINT * max(1.0, float(np.max(np.abs(answer.columns)))):
        status = Status.NOT_A_FIXED_POINT
    if on_sweep is not None:
        on_sweep(answer.nodes, worst)
    return MethodResult(
        NAME,
        model.to_values(answer.columns),
        answer.nodes,
        status,
        claimed_error=model.scale * TOLERANCE,
        columns={"relative_error": relative},
        details={
            "solver": answer.message,
            "sweeps": "simplex iterations",
            "largest_excess": worst,
            "largest_relative_error": float(np.max(np.abs(relative))),
        },
    )
