"""Solving a graph and certifying the answer at once, on two cores.

A component can be solved as soon as it is found, and its certificate asks only for the
values of what it leads to. So one core finds components, and the solver follows it; then it
follows the solver with the bounds. What proves these comes at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay
from rollwise.graph import StateGraph
from rollwise.graph.endings import describe, end_components, settle
from rollwise.kernels.reorder import scatter
from rollwise.machine import large_pages
from rollwise.machine.second_core import Stage, work_in_stages
from rollwise.methods import DEFAULT
from rollwise.methods.result import MethodResult
from rollwise.methods.strategy_iteration import as_result, begin, strategy_iteration
from rollwise.proofs.certificate import Bounding, Certificate, certify_settled
from rollwise.recursion.endless import play_may_not_end
from rollwise.recursion.order import Arranging
from rollwise.recursion.search import Search

# Pieces of the work: some of them, for two cores to share it, and none so small that handing
# it over takes longer than doing it.
PIECES, LEAST, MOST = 16, 1 << 13, 1 << 15  # the last two in states


class CertifiedResult(NamedTuple):
    """An answer with its certificate.

    Attributes
    ----------
    found : MethodResult
        With the seconds that it took, in which much was done for the certificate.
    certificate : Certificate
    seconds : float
        That the certificate took beyond these.
    """

    found: MethodResult
    certificate: Certificate
    seconds: float


def solve_and_certify(
    graph: StateGraph,
    *,
    border_values: NDArray[np.float64] | None = None,
    border_bounds: NDArray[np.float64] | None = None,
    arranged: Arranging | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> CertifiedResult:
    """Solve a graph by strategy iteration, and bound the error of every state.

    Parameters
    ----------
    border_values, border_bounds : (n_border,) float64, optional
        Values on the border of the graph and how far they can be off.
    arranged : Arranging, optional
        The graph in solving order, to be used again; it is written as far as it isn't yet.
    progress : callable, optional
        Called now and then as ``progress(stage, states done, states)``.

    Raises
    ------
    EndlessPlay
        The players can go round for ever.
    """
    started = time.perf_counter()
    arranged = Arranging(graph) if arranged is None else arranged
    work = _Work(graph, arranged, border_values, border_bounds, _stage(progress, "solving"))
    try:
        work.do()
    except _MayNotEnd:
        return _settle_and_certify(graph, border_values, border_bounds, progress)
    solved = time.perf_counter()
    found = replace(as_result(graph, work.search, work.values), seconds=solved - started)
    certificate = work.bounding.certified(
        work.in_order, work.values, _stage(progress, "certifying")
    )
    return CertifiedResult(found, certificate, time.perf_counter() - solved)


def _settle_and_certify(
    graph: StateGraph,
    border_values: NDArray[np.float64] | None,
    border_bounds: NDArray[np.float64] | None,
    progress: Callable[[str, int, int], None] | None,
) -> CertifiedResult:
    """The same where play may be kept up for ever, one after the other."""
    started = time.perf_counter()
    settled = settle(graph)
    if not settled.graph.n_states:
        lost = MethodResult(DEFAULT, settled.spread(np.empty(0)), 0)
        return CertifiedResult(lost, Certificate(np.zeros(graph.n_states), 0.0), 0.0)
    found = strategy_iteration(
        settled.graph, border_values=border_values, progress=_stage(progress, "solving")
    )
    solved = time.perf_counter()
    proof = certify_settled(
        settled.graph,
        found.values,
        border_values,
        border_bounds,
        progress=_stage(progress, "certifying"),
    )
    if settled.graph.endless == "lose" and not np.isfinite(proof.bound):
        found_endless = end_components(settled.graph)
        where = describe(settled.graph, found_endless.states, found_endless.stays)
        raise EndlessPlay(
            f"{graph.game}: it could not be shown that neither player gains by going round for "
            f"ever, which both would lose, so the game may have no value: {where}. "
            'Say endless = "draw", or take the action away there'
        )
    result = replace(found.spread(settled), seconds=solved - started)
    certificate = Certificate(settled.spread(proof.bounds, 0.0), proof.residual)
    return CertifiedResult(result, certificate, time.perf_counter() - solved)


class _MayNotEnd(Exception):
    """A component was met in which players can go round for ever."""


class _Work:
    """Finding all components, solving them and finding their bounds, piece by piece.

    Attributes
    ----------
    search : Search
    bounding : Bounding
    in_order : (n_states + n_border,) float64
        The values by position: those of the search itself, or their negatives.
    values : (n_states,) float64
        The same as the states are numbered.

    Parameters
    ----------
    graph, arranged, border_values, border_bounds
        See `solve_and_certify`.
    progress : callable, optional
        Called as ``progress(states done, states)``.
    """

    search: Search
    bounding: Bounding
    in_order: NDArray[np.float64]
    values: NDArray[np.float64]

    def __init__(
        self,
        graph: StateGraph,
        arranged: Arranging,
        border_values: NDArray[np.float64] | None,
        border_bounds: NDArray[np.float64] | None,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._graph, self._arranged, self._progress = graph, arranged, progress
        self._border = border_values, border_bounds
        n = graph.n_states
        step = min(max(n // PIECES, LEAST), MOST)
        self._ends = [*range(step, n, step), n]  # of the pieces, in states
        if len(self._ends) > 1:
            self._ends.insert(0, step // 4)  # a small one, so that nobody waits long for it
        self._stops = np.zeros(len(self._ends) + 1, np.int64)  # the same in components

    def do(self) -> None:
        """Do it all.

        Raises
        ------
        _MayNotEnd
        """
        find, arrange, solve = Stage(self._find), Stage(self._arrange), Stage(self._solve)
        measure, follow = Stage(self._measure), Stage(self._follow)
        work_in_stages(
            [find, arrange, solve, measure, follow],
            len(self._ends),
            first_core=[solve, arrange, measure, follow],  # which may be stopped by Ctrl-C
            second_core=[find, follow, measure, arrange],
            meanwhile=self._begin,
        )

    def _begin(self) -> None:
        values, bounds = self._border
        self.search = begin(self._graph, self._arranged, values)
        self.bounding = Bounding(self._graph, self._arranged, values, bounds)
        self.values = large_pages.empty(self._graph.n_states)
        self.in_order = self.search.values
        if self._graph.objective == "minimize":
            self.in_order = 0.0 - self.search.values  # unlike its negative, never -0.0

    def _find(self, piece: int) -> None:
        self._stops[piece + 1] = self._arranged.components.find(self._ends[piece])

    def _arrange(self, piece: int) -> None:
        self._arranged.write(int(self._stops[piece + 1]))

    def _solve(self, piece: int) -> None:
        first, stop = self._stops[piece : piece + 2]
        if play_may_not_end(self._graph, self._arranged, first, stop):
            raise _MayNotEnd
        self.search.run(int(stop), self._progress)
        if self.in_order is not self.search.values:
            low, high = self._arranged.components.indptr[[first, stop]]
            self.in_order[low:high] = 0.0 - self.search.values[low:high]

    def _measure(self, piece: int) -> None:
        components = self._arranged.components
        low, high = components.indptr[self._stops[piece : piece + 2]]
        scatter(low, high, self.in_order, components.order, self.values)
        self.bounding.measure(self.in_order, int(self._stops[piece + 1]))

    def _follow(self, piece: int) -> None:
        self.bounding.follow(int(self._stops[piece + 1]))


def _stage(
    progress: Callable[[str, int, int], None] | None, name: str
) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(name, done, total)
