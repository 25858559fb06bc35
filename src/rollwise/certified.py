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

from rollwise import large_pages
from rollwise.certificate import Bounding, Certificate, play_may_not_end, require_ending
from rollwise.errors import EndlessPlay
from rollwise.graph import StateGraph
from rollwise.kernels.reorder import scatter
from rollwise.methods.result import MethodResult
from rollwise.methods.strategy_iteration import as_result, begin
from rollwise.recursion import Arranging, Search
from rollwise.second_core import Stage, work_in_stages

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
    search = begin(graph, arranged, border_values)
    bounding = Bounding(graph, arranged, border_values, border_bounds)
    in_order = search.values if graph.objective != "minimize" else -search.values
    values = large_pages.empty(graph.n_states)
    _work_through(graph, arranged, search, bounding, in_order, values, _stage(progress, "solving"))
    solved = time.perf_counter()
    found = replace(as_result(graph, search, values), seconds=solved - started)
    certificate = bounding.certified(in_order, values, _stage(progress, "certifying"))
    return CertifiedResult(found, certificate, time.perf_counter() - solved)


def _work_through(
    graph: StateGraph,
    arranged: Arranging,
    search: Search,
    bounding: Bounding,
    in_order: NDArray[np.float64],
    values: NDArray[np.float64],
    progress: Callable[[int, int], None] | None,
) -> None:
    """Find all components, solve them and find their bounds.

    Parameters
    ----------
    in_order : (n_states + n_border,) float64
        By position: the values of the search itself, or room for their negatives.
    values : (n_states,) float64
        The same as the states are numbered; filled.

    Raises
    ------
    EndlessPlay
    """
    n = graph.n_states
    step = min(max(n // PIECES, LEAST), MOST)
    ends = [*range(step, n, step), n]  # of the pieces, in states
    stops = np.zeros(len(ends) + 1, np.int64)  # the same in components

    def find_piece(piece: int) -> None:
        stops[piece + 1] = arranged.components.find(ends[piece])

    def arrange_piece(piece: int) -> None:
        arranged.write(int(stops[piece + 1]))

    def solve_piece(piece: int) -> None:
        first, stop = stops[piece : piece + 2]
        if play_may_not_end(graph, arranged, first, stop):
            raise EndlessPlay
        search.run(int(stop), progress)
        if in_order is not search.values:
            low, high = arranged.components.indptr[[first, stop]]
            in_order[low:high] = -search.values[low:high]

    def measure_piece(piece: int) -> None:
        low, high = arranged.components.indptr[stops[piece : piece + 2]]
        scatter(low, high, in_order, arranged.components.order, values)
        bounding.measure(in_order, int(stops[piece + 1]))

    def follow_piece(piece: int) -> None:
        bounding.follow(int(stops[piece + 1]))

    find, arrange, solve = Stage(find_piece), Stage(arrange_piece), Stage(solve_piece)
    measure, follow = Stage(measure_piece), Stage(follow_piece)
    try:
        work_in_stages(
            [find, arrange, solve, measure, follow],
            len(ends),
            first_core=[solve, arrange, measure, follow],  # which may be stopped by Ctrl-C
            second_core=[find, follow, measure, arrange],
        )
    except EndlessPlay:
        require_ending(graph)  # says where
        raise


def _stage(
    progress: Callable[[str, int, int], None] | None, name: str
) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(name, done, total)
