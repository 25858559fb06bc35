"""Strategy iteration, component by component: the exact solver.

The components of the graph are solved from the last to the first. One without a
cycle takes one look ahead. One with cycles takes strategy iteration (Howard 1960
for one player, Hoffman and Karp 1966 for two). Its unknowns are the values at a
feedback vertex set. `rollwise.engine.components` says how, and
`rollwise.proofs.layers` bounds what rounding leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rollwise.engine.components import EPSILON
from rollwise.engine.search import Search
from rollwise.engine.sweeps import values_for
from rollwise.graph import StateGraph, sign_of
from rollwise.layers import Layer, layer_of_graph
from rollwise.methods import DEFAULT
from rollwise.methods.result import MethodResult, Status
from rollwise.proofs.endless_play import staying_places

FIRST_SWEEPS = 100  # of value iteration, to choose a first policy


def strategy_iteration(
    graph: StateGraph,
    *,
    border_values: NDArray[np.float64] | None = None,
    layer: Layer | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MethodResult:
    """Find the values of a game to the last digits that doubles hold.

    Parameters
    ----------
    graph : StateGraph
    border_values : (n_border,) float64, optional
        Values known on the border of the graph.
    layer : Layer, optional
        The graph in solving order, if it is at hand.
    progress : callable, optional
        Called as ``progress(states done, states)``.

    Returns
    -------
    MethodResult
        Values by the numbers of the states.
    """
    layer = layer_of_graph(graph) if layer is None else layer
    if len(staying_places(layer)):
        return _in_rounds(graph, border_values, progress)
    return solve_ending(graph, layer, border_values, progress)


def solve_ending(
    graph: StateGraph,
    layer: Layer,
    border_values: NDArray[np.float64] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MethodResult:
    """The same where every play ends, from the graph in solving order."""
    border = np.zeros(graph.n_border) if border_values is None else border_values
    sign, n = sign_of(graph.objective), graph.n_states
    search = Search(layer, values_for(layer, sign * border))
    search.run(None if progress is None else lambda done: progress(done, n))
    return result_of(graph, search)


def result_of(graph: StateGraph, search: Search) -> MethodResult:
    """What a search of the values of a graph found."""
    values = 0.0 + sign_of(graph.objective) * search.layer.in_reading_order(search.found)
    status = Status.CONVERGED if search.converged else Status.STALLED
    claimed = _claimed_error(values)  # adding 0 took the sign off a zero
    return MethodResult(DEFAULT, values, search.sweeps, status, claimed_error=claimed)


def _claimed_error(values: NDArray[np.float64]) -> float:
    """Each component came to rest within this of its largest value."""
    return 4 * EPSILON * float(max(values.max(), -values.min()))


def _in_rounds(
    graph: StateGraph,
    border_values: NDArray[np.float64] | None,
    progress: Callable[[int, int], None] | None,
) -> MethodResult:
    """The same where play may be kept up for ever."""
    if graph.objective == "win":
        return _enclosed(graph, border_values, progress)
    from rollwise.methods.stalling import solve_in_rounds

    last: list[MethodResult] = []

    def solve(standing: StateGraph) -> NDArray[np.float64]:
        layer = layer_of_graph(standing)
        last[:] = [solve_ending(standing, layer, border_values, progress)]
        return last[0].values

    values, rounds = solve_in_rounds(graph, border_values, solve)
    claimed = _claimed_error(values)
    return replace(last[0], values=values, claimed_error=claimed, details={"rounds": rounds})


def _enclosed(
    graph: StateGraph,
    border_values: NDArray[np.float64] | None,
    progress: Callable[[int, int], None] | None,
) -> MethodResult:
    """The same in a game to win, where both players can keep the turn passing."""
    from rollwise.engine.enclosing import enclose
    from rollwise.methods.sweeping import Sweeper

    sweeper = Sweeper(graph, "components", border_values)
    for _ in range(FIRST_SWEEPS):
        sweeper.sweep()
    first = sweeper.values[: graph.n_states]
    found = enclose(graph, first, border_values, progress=progress)
    return MethodResult(
        DEFAULT,
        found.values,
        found.rounds,
        lower=found.values - found.bounds,
        upper=found.values + found.bounds,
        claimed_error=float(found.bounds.max()),
        claim_is_bound=True,
        details={"rounds": found.rounds},
    )
