"""Solving a graph and certifying the answer at once, on two cores.

The certificate of a component asks only for the values of what it leads to, so that it
follows the solver component by component. What proves it comes at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.certificate import Bounding, Certificate, require_ending
from rollwise.graph import StateGraph
from rollwise.methods.result import MethodResult
from rollwise.methods.strategy_iteration import as_result, begin
from rollwise.recursion import Recursion
from rollwise.second_core import second_core


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
    arranged: Recursion | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> CertifiedResult:
    """Solve a graph by strategy iteration, and bound the error of every state.

    Parameters
    ----------
    border_values, border_bounds : (n_border,) float64, optional
        Values on the border of the graph and how far they can be off.
    arranged : Recursion, optional
        The graph in solving order, if it is at hand.
    progress : callable, optional
        Called now and then as ``progress(stage, states done, states)``.

    Raises
    ------
    EndlessPlay
        The players can go round for ever.
    """
    started = time.perf_counter()
    arranged = Recursion.of_values(graph) if arranged is None else arranged
    require_ending(graph, arranged)
    sign = -1.0 if graph.objective == "minimize" else 1.0
    indptr = arranged.components.indptr
    search = begin(graph, arranged, border_values)
    bounding = Bounding(graph, arranged, border_values, border_bounds)
    values = search.values if sign > 0 else -search.values
    before = 0
    with second_core() as thread:
        following: list[Future[None]] = []
        for done in search.steps(progress=_stage(progress, "solving")):
            if sign < 0:
                low, high = indptr[before], indptr[done]
                values[low:high] = -search.values[low:high]
            if done < len(arranged.components):
                following.append(thread.submit(bounding.follow, values, done))
            before = done
        solved = time.perf_counter()
        for future in following:
            future.result()
    found = replace(as_result(graph, search), seconds=solved - started)
    certificate = bounding.certified(values, found.values, _stage(progress, "certifying"))
    return CertifiedResult(found, certificate, time.perf_counter() - solved)


def _stage(
    progress: Callable[[str, int, int], None] | None, name: str
) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(name, done, total)
