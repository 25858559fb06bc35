"""Strategy iteration, component by component: the exact solver.

The components of the graph are solved from the last to the first. One without a
cycle takes one look ahead. One with cycles takes strategy iteration (Howard 1960
for one player, Hoffman and Karp 1966 for two). Its unknowns are the values at a
feedback vertex set. `rollwise.recursion.search` says how, and
`rollwise.proofs.check` bounds what rounding leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph
from rollwise.kernels.reorder import scatter
from rollwise.kernels.solving import EPSILON
from rollwise.methods import DEFAULT
from rollwise.methods.result import MethodResult, Status
from rollwise.recursion.endless import endless_states
from rollwise.recursion.order import Recursion
from rollwise.recursion.search import Search

FIRST_SWEEPS = 100  # of value iteration, to choose a first policy


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
    return Solver(graph, recursion, border_values, progress).run().result()


class Solver:
    """Strategy iteration on a graph in which every play ends, as far as it is told to go.

    Attributes
    ----------
    values : (n_states,) float64
        By the numbers of the states. Right as far as it has come.
    in_order : (n_states + n_border,) float64
        The same by position, and those of the border.

    Parameters
    ----------
    graph : StateGraph
    arranged : Recursion
        The graph in solving order, as far as it is told to go.
    border_values, progress
        As in `strategy_iteration`.
    """

    def __init__(
        self,
        graph: StateGraph,
        arranged: Recursion,
        border_values: NDArray[np.float64] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        border = np.zeros(graph.n_border) if border_values is None else border_values
        self._minimizes = graph.objective == "minimize"  # then it looks for the negatives
        self._search = Search(arranged, -border if self._minimizes else border)
        self._components, self._progress = arranged.components, progress
        self.values = np.empty(graph.n_states)
        self.in_order = self._search.values
        if self._minimizes:
            self.in_order = 0.0 - self._search.values  # unlike its negative, never -0.0

    def run(self, stop: int | None = None) -> Solver:
        """Go on to the component `stop`, or to the last."""
        stop = len(self._components) if stop is None else stop
        low, high = self._components.indptr[[self._search.done, stop]]
        self._search.run(stop, self._progress)
        if self._minimizes:
            self.in_order[low:high] = 0.0 - self._search.values[low:high]
        scatter(low, high, self.in_order, self._components.order, self.values)
        return self

    def result(self) -> MethodResult:
        """What it says when it has come to the end."""
        status = Status.CONVERGED if self._search.converged else Status.STALLED
        sweeps, claimed = self._search.sweeps, _claimed_error(self.values)
        return MethodResult(DEFAULT, self.values, sweeps, status, claimed_error=claimed)


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
        solver = Solver(standing, Recursion.of_values(standing), border_values, progress)
        last[:] = [solver.run().result()]
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
    from rollwise.methods.sweeping import Sweeper
    from rollwise.proofs.enclosing import enclose

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
