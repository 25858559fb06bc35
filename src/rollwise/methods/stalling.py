"""Strategy iteration where play may go on for ever, and every round costs points.

The choices within end components (see `rollwise.graph.endings`) are made in rounds.
Within a round they stand: every play ends, and the rest is solved as usual. Then the choices are
improved at these values (Howard 1960), until none can be. The first choices bring play to an end.
Improved ones do too, since every round costs (Bertsekas and Tsitsiklis 1991).

Games that are won or lost are solved by `rollwise.engine.enclosing`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rollwise.engine.components import EPSILON
from rollwise.graph import StateGraph, sign_of
from rollwise.graph.endings import end_components, regroup, ways_out
from rollwise.methods.sweeping import action_values, with_border

MOST_ROUNDS = 1_000
MARGIN = 16 * EPSILON  # relative; what an action must be better by, to be taken instead

Ints = NDArray[np.int64]
Solve = Callable[[StateGraph], NDArray[np.float64]]


def solve_in_rounds(
    graph: StateGraph, border_values: NDArray[np.float64] | None, solve: Solve
) -> tuple[NDArray[np.float64], int]:
    """Find the values of a graph with end components, in which rounds cost points.

    Parameters
    ----------
    graph : StateGraph
        As `rollwise.graph.endings.settle` gives it.
    border_values : (n_border,) float64, optional
    solve : callable
        Finds the values of a graph in which every play ends.

    Returns
    -------
    values : (n_states,) float64
    rounds : int
    """
    choosing = (end_components(graph).number >= 0) & (np.diff(graph.action_indptr) > 1)
    chosen = ways_out(graph, np.ones(graph.n_actions, np.bool_))
    sign, known = sign_of(graph.objective), with_border(graph, 0.0, border_values)
    stood: set[bytes] = set()
    while len(stood) < MOST_ROUNDS and chosen[choosing].tobytes() not in stood:
        stood.add(chosen[choosing].tobytes())
        known[: graph.n_states] = solve(_with_choices(graph, choosing, chosen))
        worth = sign * action_values(graph, known)
        now = worth[chosen]
        best = np.maximum.reduceat(worth, graph.action_indptr[:-1])
        margin = MARGIN * np.maximum(np.abs(best), np.abs(now))
        better = choosing & (best > now + margin)
        if not better.any():
            break
        first = np.where(worth == best[graph.action_state], np.arange(graph.n_actions), len(worth))
        chosen[better] = np.minimum.reduceat(first, graph.action_indptr[:-1])[better]
    return known[: graph.n_states], len(stood)


def _with_choices(graph: StateGraph, choosing: NDArray[np.bool_], chosen: Ints) -> StateGraph:
    """The graph in which some choices stand."""
    numbers = np.arange(graph.n_actions)
    kept = numbers[~choosing[graph.action_state] | (numbers == chosen[graph.action_state])]
    return regroup(graph, np.arange(graph.n_states), kept, graph.action_state[kept])
