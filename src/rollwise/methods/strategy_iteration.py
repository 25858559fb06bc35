"""Strategy iteration, component by component: the exact solver.

The components of the graph are solved from the last to the first. One without a
cycle takes one look ahead. One with cycles takes strategy iteration (Howard 1960
for one player, Hoffman and Karp 1966 for two). Its unknowns are the values at a
feedback vertex set. See `rollwise.engine.components` for the method, and
`rollwise.proofs.layers` for the bounds of the rounding errors.

Where play may go on for ever and every round costs points, the choices within end components (see
`rollwise.graph.endings`) are made in rounds. Within a round they are fixed: every play ends, and
the rest is solved as usual. Then the choices are improved at these values (Howard 1960), as long as
possible. The first choices bring play to an end. Improved ones do too, since every round costs
(Bertsekas and Tsitsiklis 1991). Games of win or loss are solved by `rollwise.engine.enclosing`.
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
from rollwise.methods.result import MethodResult, error_at_rest
from rollwise.proofs.endless_play import staying_places

FIRST_SWEEPS = 100  # of value iteration, to choose a first policy
MOST_ROUNDS = 1_000
MARGIN = 16 * EPSILON  # relative; the least improvement for another action

Ints = NDArray[np.int64]
Solve = Callable[[StateGraph], NDArray[np.float64]]


def strategy_iteration(
    graph: StateGraph,
    *,
    border_values: NDArray[np.float64] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MethodResult:
    """Find the values of a game to the precision of doubles.

    Parameters
    ----------
    graph : StateGraph
    border_values : (n_border,) float64, optional
        Values known on the border of the graph.
    progress : callable, optional
        Called as ``progress(states done, states)``.

    Returns
    -------
    MethodResult
        Values by the numbers of the states.
    """
    layer = layer_of_graph(graph)
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
    return MethodResult.of_search(graph, search)


def _in_rounds(
    graph: StateGraph,
    border_values: NDArray[np.float64] | None,
    progress: Callable[[int, int], None] | None,
) -> MethodResult:
    """The same where play may be kept up for ever."""
    if graph.objective == "win":
        return _enclosed(graph, border_values, progress)
    last: list[MethodResult] = []

    def solve(standing: StateGraph) -> NDArray[np.float64]:
        layer = layer_of_graph(standing)
        last[:] = [solve_ending(standing, layer, border_values, progress)]
        return last[0].values

    values, rounds = solve_in_rounds(graph, border_values, solve)
    claimed = error_at_rest(values)
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
    # the first values of the enclosure need not be exact
    for _ in range(FIRST_SWEEPS):
        sweeper.sweep()
    first = sweeper.values[: graph.n_states]
    enclosure = enclose(graph, first, border_values, progress=progress)
    return MethodResult(
        DEFAULT,
        enclosure.values,
        enclosure.rounds,
        lower=enclosure.values - enclosure.bounds,
        upper=enclosure.values + enclosure.bounds,
        claimed_error=float(enclosure.bounds.max()),
        claim_is_bound=True,
        details={"rounds": enclosure.rounds},
    )


def solve_in_rounds(
    graph: StateGraph, border_values: NDArray[np.float64] | None, solve: Solve
) -> tuple[NDArray[np.float64], int]:
    """Find the values of a graph with end components and a cost of each round.

    Parameters
    ----------
    graph : StateGraph
        Settled by `rollwise.graph.endings.settle`.
    border_values : (n_border,) float64, optional
    solve : callable
        Finds the values of a graph where every play ends.

    Returns
    -------
    values : (n_states,) float64
    rounds : int
    """
    from rollwise.graph.endings import end_components, ways_out
    from rollwise.methods.sweeping import action_values, with_border

    choosing = (end_components(graph).number >= 0) & (np.diff(graph.action_indptr) > 1)
    chosen = ways_out(graph, np.ones(graph.n_actions, np.bool_))
    sign, border = sign_of(graph.objective), with_border(graph, 0.0, border_values)
    stood: set[bytes] = set()
    # choices that come back differ by rounding only: they would repeat for ever
    while len(stood) < MOST_ROUNDS and chosen[choosing].tobytes() not in stood:
        stood.add(chosen[choosing].tobytes())
        border[: graph.n_states] = solve(_with_choices(graph, choosing, chosen))
        worth = sign * action_values(graph, border)
        now = worth[chosen]
        best = np.maximum.reduceat(worth, graph.action_indptr[:-1])
        margin = MARGIN * np.maximum(np.abs(best), np.abs(now))
        better = choosing & (best > now + margin)
        if not better.any():
            break
        # of several best actions the first of the rules
        first = np.where(worth == best[graph.action_state], np.arange(graph.n_actions), len(worth))
        chosen[better] = np.minimum.reduceat(first, graph.action_indptr[:-1])[better]
    return border[: graph.n_states], len(stood)


def _with_choices(graph: StateGraph, choosing: NDArray[np.bool_], chosen: Ints) -> StateGraph:
    """The graph with some choices fixed."""
    from rollwise.graph.endings import regroup

    numbers = np.arange(graph.n_actions)
    kept = numbers[~choosing[graph.action_state] | (numbers == chosen[graph.action_state])]
    return regroup(graph, np.arange(graph.n_states), kept, graph.action_state[kept])
