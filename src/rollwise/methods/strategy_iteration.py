"""Strategy iteration, component by component: the exact solver.

The components of the graph are solved from the last to the first. One without a
cycle takes one look ahead; one with cycles takes strategy iteration (Howard 1960
for one player, Hoffman and Karp 1966 for two), whose unknowns are the few values
that cut its cycles. See `rollwise.recursion.search` for how, and `rollwise.proofs.certificate`
for the bound on what rounding leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph
from rollwise.kernels.reorder import scatter
from rollwise.kernels.solving import EPSILON
from rollwise.machine import large_pages
from rollwise.methods.result import MethodResult, Status
from rollwise.recursion.endless import endless_states
from rollwise.recursion.order import Recursion
from rollwise.recursion.search import Search


def strategy_iteration(
    graph: StateGraph,
    *,
    border_values: NDArray[np.float64] | None = None,
    arranged: Recursion | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MethodResult:
    """Find the values of a game to the last digits that doubles hold.

    Parameters
    ----------
    graph : StateGraph
    border_values : (n_border,) float64, optional
        Values known on the border of the graph.
    arranged : Recursion, optional
        The graph in solving order, if it is at hand.
    progress : callable, optional
        Called as ``progress(states done, states)``.

    Returns
    -------
    MethodResult
        Values by the numbers of the states.
    """
    recursion = Recursion.of_values(graph) if arranged is None else arranged
    if len(endless_states(graph, recursion)):
        return _in_rounds(graph, border_values, progress)
    return solve_ending(graph, recursion, border_values, progress)


def solve_ending(
    graph: StateGraph,
    arranged: Recursion,
    border_values: NDArray[np.float64] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MethodResult:
    """The same for a graph in which every play is known to end."""
    search = begin(graph, arranged, border_values).run(progress=progress)
    return as_result(graph, search, _values(graph, search))


def _in_rounds(
    graph: StateGraph,
    border_values: NDArray[np.float64] | None,
    progress: Callable[[int, int], None] | None,
) -> MethodResult:
    """The same where play may be kept up for ever."""
    from rollwise.methods.stalling import solve_in_rounds

    last: list[Search] = []

    def solve(standing: StateGraph) -> NDArray[np.float64]:
        recursion = Recursion.of_values(standing)
        last[:] = [begin(standing, recursion, border_values).run(progress=progress)]
        return _values(standing, last[0])

    values, rounds = solve_in_rounds(graph, border_values, solve)
    return replace(as_result(graph, last[0], values), details={"rounds": rounds})


def _values(graph: StateGraph, search: Search) -> NDArray[np.float64]:
    """What a search found, as the states are numbered."""
    values = large_pages.empty(graph.n_states)
    scatter(0, graph.n_states, search.values, search.recursion.components.order, values)
    return 0.0 - values if graph.objective == "minimize" else values


def begin(
    graph: StateGraph, arranged: Recursion, border_values: NDArray[np.float64] | None
) -> Search:
    """The search for the values of a graph; for their negatives, to minimize."""
    border = np.zeros(graph.n_border) if border_values is None else border_values
    return Search(arranged, -border if graph.objective == "minimize" else border)


def as_result(graph: StateGraph, search: Search, values: NDArray[np.float64]) -> MethodResult:
    """What a search that has come to its end says of the graph.

    Parameters
    ----------
    values : (n_states,) float64
        What it found, as the states are numbered.
    """
    status = Status.CONVERGED if search.converged else Status.STALLED
    # each component came to rest within this of its largest value
    claimed = 4 * EPSILON * float(max(values.max(), -values.min()))
    return MethodResult("strategy-iteration", values, search.sweeps, status, claimed_error=claimed)
