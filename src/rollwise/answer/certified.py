"""Solving a graph and certifying the answer: order, endings, method, proof.

Strategy iteration goes on component by component, and so do the rest: a component can be
arranged as soon as it is found, solved as soon as it is arranged, and its error bounds are
found as soon as its values are. So pieces of the graph go through these stages on two cores.
Other methods solve the graph in one go. The bounds are proved at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph
from rollwise.graph.endings import Settled, no_value, settle
from rollwise.machine.deadlines import Clock, OutOfTime
from rollwise.machine.pipeline import Source, Stage, pipeline
from rollwise.methods import DEFAULT, InOneGo, begin_method
from rollwise.methods.result import MethodResult
from rollwise.proofs.bounds import Bounding, Certificate, certify_settled
from rollwise.recursion.endless import Endings, PlayMayNotEnd
from rollwise.recursion.order import Arranging

if TYPE_CHECKING:
    from rollwise.derive.larger import Larger

LEAST_SECONDS = 0.5  # for a certificate, where a method has a time limit
NO_OPTIONS: Mapping[str, Any] = {}
NO_VALUE = 1e-6  # the error bound beyond which it may matter whose loss endless play is

Progress = Callable[[str, int, int], None]


class CertifiedResult(NamedTuple):
    """An answer with its certificate.

    Attributes
    ----------
    found : MethodResult
        With the seconds that it took; of strategy iteration, in which much was done for the
        certificate.
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
    method: str = DEFAULT,
    options: Mapping[str, Any] | None = None,
    larger: Callable[[int], Larger] | None = None,
    progress: Progress | None = None,
) -> CertifiedResult:
    """Solve a graph, and bound the error of every state.

    Parameters
    ----------
    border_values, border_bounds : (n_border,) float64, optional
        Values on the border of the graph and how far they can be off.
    arranged : Arranging, optional
        The graph in solving order, to be used again; it is written as far as it isn't yet.
    method, options
        One of `rollwise.methods.METHODS`, and its keyword arguments.
    larger : callable, optional
        Gives the same game with a parameter larger by so much (`rollwise.derive.larger`).
    progress : callable, optional
        Called now and then as ``progress(stage, states done, states)``.

    Raises
    ------
    EndlessPlay
        The players can go round for ever.
    """
    started, options = time.perf_counter(), options or {}
    order = Arranging(graph) if arranged is None else arranged
    endings = Endings(graph, order)
    at_hand: dict[str, Any] = {
        "border_values": border_values,
        "larger": larger,
        "progress": _stage(progress, "solving"),
    }
    solver = begin_method(method, graph, options, arranged=order, **at_hand)
    proof = Bounding(graph, order, border_values, border_bounds)
    stages: list[Stage[int]] = [
        Stage(order.write, first=1, second=2),
        Stage(endings.check, first=2, second=3),
        Stage(solver.run, first=0),  # on the first core alone, which hears Ctrl-C
    ]
    if isinstance(solver, InOneGo):
        pieces, on_two_cores = iter((len(graph.components),)), False
    else:
        pieces, on_two_cores = order.pieces(), order.piece < graph.n_states
        stages.append(Stage(partial(proof.extend, solver.in_order), first=3, second=1))
    try:
        pipeline(Source(pieces, second=0), stages, on_two_cores=on_two_cores)
    except PlayMayNotEnd:
        return _settle_and_certify(graph, border_values, border_bounds, method, options, progress)
    found, solved = solver.result(), time.perf_counter()
    values = found.values
    in_order = proof.in_order(values) if isinstance(solver, InOneGo) else solver.in_order
    certificate = _in_time(partial(proof.certified, in_order, values), found, options, progress)
    found = replace(found, seconds=solved - started)
    return CertifiedResult(found, certificate, time.perf_counter() - solved)


def _settle_and_certify(
    graph: StateGraph,
    border_values: NDArray[np.float64] | None,
    border_bounds: NDArray[np.float64] | None,
    method: str,
    options: Mapping[str, Any],
    progress: Progress | None,
) -> CertifiedResult:
    """The same where play may be kept up for ever, one after the other."""
    started, settled = time.perf_counter(), settle(graph, border_values)
    found = solve_settled(settled, border_values, method, options, progress)
    solved = time.perf_counter()
    proof = prove_settled(settled, found, border_values, border_bounds, options, progress)
    result = replace(found.spread(settled), seconds=solved - started)
    certificate = Certificate(settled.spread(proof.bounds, 0.0), proof.residual)
    return CertifiedResult(result, certificate, time.perf_counter() - solved)


def solve_settled(
    settled: Settled,
    border_values: NDArray[np.float64] | None = None,
    method: str = DEFAULT,
    options: Mapping[str, Any] = NO_OPTIONS,
    progress: Progress | None = None,
) -> MethodResult:
    """The values of a settled graph; of no states, where nobody can end the play anywhere."""
    if not settled.graph.n_states:
        return MethodResult(method, np.empty(0), 0)
    at_hand = {"border_values": border_values, "progress": _stage(progress, "solving")}
    return InOneGo(method, settled.graph, options, **at_hand).run().result()


def prove_settled(
    settled: Settled,
    found: MethodResult,
    border_values: NDArray[np.float64] | None = None,
    border_bounds: NDArray[np.float64] | None = None,
    options: Mapping[str, Any] = NO_OPTIONS,
    progress: Progress | None = None,
) -> Certificate:
    """Bounds on the values of a settled graph.

    Raises
    ------
    EndlessPlay
        Both players lose by going round for ever, and may gain by it.
    """
    if not settled.graph.n_states:
        return Certificate(np.empty(0), 0.0)
    prove = partial(certify_settled, settled.graph, found.values, border_values, border_bounds)
    if found.upper is not None:
        prove = partial(prove, claimed=found.upper - found.values)
    proof = _in_time(prove, found, options, progress)
    if settled.graph.endless == "lose" and found.converged and not proof.bound <= NO_VALUE:
        raise no_value(settled.graph)
    return proof


def _in_time(
    prove: Callable[..., Certificate],
    found: MethodResult,
    options: Mapping[str, Any],
    progress: Progress | None,
) -> Certificate:
    """Bounds on what a method found, in as much time again as it was given.

    A method that gave up leaves values that are no answer: a tenth of its time must do.
    Of estimates nothing is proved.
    """
    if found.estimated:
        return Certificate(np.full(len(found.values), np.inf), np.inf)
    limit = options.get("time_limit")
    share = 1.0 if found.converged else 0.1
    clock = Clock(None if limit is None else max(share * limit, LEAST_SECONDS))
    certifying = _stage(progress, "certifying")

    def told(done: int, total: int) -> None:
        clock.look()
        if certifying is not None:
            certifying(done, total)

    try:
        return prove(progress=told)
    except OutOfTime:
        return Certificate(np.full(len(found.values), np.inf), np.inf)


def _stage(progress: Progress | None, name: str) -> Callable[[int, int], None] | None:
    return None if progress is None else partial(progress, name)
