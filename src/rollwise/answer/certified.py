"""Solving a graph and certifying the answer: order, method, bounds, proof.

The default method and the bounds work on the graph as a layer in solving order. Each component goes
through three stages: order, with a check that play leaves it; values; bounds. Pieces of the layer
go through these stages on two cores. Other methods solve the graph as it is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.engine.bounds import BoundsSearch
from rollwise.engine.bounds import solved as solved_layer
from rollwise.engine.certificates import Certificate, certify_ending, certify_settled
from rollwise.engine.search import Search
from rollwise.graph import StateGraph, sign_of, win_probability
from rollwise.layers import Layer, ordering_of
from rollwise.machine.interrupts import Clock, OutOfTime
from rollwise.methods import DEFAULT, known_options, run_method
from rollwise.methods.result import MethodResult
from rollwise.numbers.printed import CHANCE_ROUNDING
from rollwise.proofs.endless_play import Leaving, PlayMayNotEnd, settled, staying_places

if TYPE_CHECKING:
    from rollwise.answer.layered_states import LayeredStates
    from rollwise.derive.larger import Larger
    from rollwise.graph.endings import Settled
    from rollwise.proofs.check_rules import Claims

LEAST_SECONDS = 0.5  # for a certificate, where a method has a time limit
NO_OPTIONS: Mapping[str, Any] = {}
NO_VALUE = 1e-4  # beyond this error bound the loser of endless play may matter

Progress = Callable[[str, int, int], None]
Searched = tuple[Search, BoundsSearch]


class Certified(NamedTuple):
    """A number and its proved error bound."""

    value: float
    bound: float

    def shown(self, *, is_score: bool) -> Certified:
        """The value of a position as people read it: points or a payoff, or the chance to win."""
        if is_score:
            return self
        return Certified(win_probability(self.value), self.bound / 2 + CHANCE_ROUNDING)

    @property
    def root(self) -> Certified:
        """The square root, such as the standard deviation of a variance."""
        ends = self.value, self.value - self.bound, self.value + self.bound
        value, low, high = (math.sqrt(max(x, 0.0)) for x in ends)
        return Certified(value, max(high - value, value - low) + 2.0**-52 * high)


class CertifiedResult(NamedTuple):
    """An answer with its certificate.

    Attributes
    ----------
    found : MethodResult
        With its seconds, which for strategy iteration include much work for the certificate.
    certificate : Certificate
    seconds : float
        The further time of the certificate.
    """

    found: MethodResult
    certificate: Certificate
    seconds: float

    def at(self, state: int = 0, sign: float = 1.0) -> Certified:
        """The value of a state, times a sign."""
        value = 0.0 + sign * float(self.found.values[state])  # adding 0 takes the sign off a zero
        return Certified(value, float(self.certificate.bounds[state]))


def claims_on(
    space: StateGraph | LayeredStates, values: NDArray[np.float64], bounds: NDArray[np.float64]
) -> Claims:
    """The claims of values and bounds about the positions of a game of one player or two."""
    from rollwise.proofs.check_rules import Claims

    index = space.positions
    plain = [k for k, name in enumerate(space.field_names) if name not in space.throw_names]
    places = list(map(tuple, space.states[index][:, plain].tolist()))

    def claimed(numbers: NDArray[np.float64]) -> dict[Any, tuple[float]]:
        return dict(zip(places, zip(numbers[index].tolist(), strict=True), strict=True))

    return Claims(claimed(values), claimed(bounds))


def solve_and_certify(
    graph: StateGraph,
    *,
    border_values: NDArray[np.float64] | None = None,
    border_bounds: NDArray[np.float64] | None = None,
    layer: Layer | None = None,
    method: str = DEFAULT,
    options: Mapping[str, Any] | None = None,
    larger: Callable[[int], Larger] | None = None,
    progress: Progress | None = None,
) -> CertifiedResult:
    """Solve a graph, and bound the error of every state.

    Parameters
    ----------
    border_values, border_bounds : (n_border,) float64, optional
        Values on the border of the graph, with error bounds.
    layer : Layer, optional
        The graph in solving order, if known already.
    method, options
        One of `rollwise.methods.METHODS`, and its keyword arguments.
    larger : callable, optional
        Returns the same game with a larger parameter (`rollwise.derive.larger`).
    progress : callable, optional
        Called now and then as ``progress(stage, states done, states)``.

    Raises
    ------
    EndlessPlay
        The players can go round for ever.
    """
    started, options = time.perf_counter(), options or {}
    border, solving = (border_values, border_bounds), _stage(progress, "solving")
    solve, searched = None, None
    if method == DEFAULT and not options:
        n, nothing = graph.n_states, np.zeros(graph.n_border)
        known = nothing if border_values is None else sign_of(graph.objective) * border_values
        sure = nothing if border_bounds is None else border_bounds
        report = None if solving is None else lambda done: solving(done, n)
        solve = partial(solved_layer, border_values=known, border_bounds=sure, progress=report)
    if layer is None:
        layer, searched = _ordered(graph, solve)
    if searched is None and len(staying_places(layer)):
        return _settle_and_certify(graph, *border, method, options, progress)
    begun: BoundsSearch | None = None
    if solve is not None:
        search, begun = searched or solve(layer)
        result = MethodResult.of_search(graph, search)
    else:
        at_hand = {"border_values": border_values, "larger": larger, "progress": solving}
        result = run_method(graph, method, **known_options(method, at_hand), **options)
    ended = time.perf_counter()
    prove = partial(certify_ending, graph, layer, result.values, *border, begun=begun)
    certificate = _in_time(prove, result, options, progress)
    result = replace(result, seconds=ended - started)
    return CertifiedResult(result, certificate, time.perf_counter() - ended)


def _ordered(
    graph: StateGraph, solve: Callable[..., Searched] | None
) -> tuple[Layer, Searched | None]:
    """A graph in solving order; also its solution, with `solve` and if every play ends."""
    search = None if solve is None or "components" in vars(graph) else graph.component_search()
    ordering, searched = ordering_of(graph, search), None
    leaving = Leaving(ordering.layer)

    # the order and the check that play leaves go a piece ahead of the solver
    def prepare(stop: int) -> None:
        ordering.advance(stop)
        leaving.advance(stop)

    if solve is not None:
        with suppress(PlayMayNotEnd):
            searched = solve(ordering.layer, prepare=prepare, find=ordering.find)
    layer = ordering.run()
    if search is not None:  # documents and the cache ask the graph for its components
        vars(graph)["components"] = search.run()
    return layer, searched


def _settle_and_certify(
    graph: StateGraph,
    border_values: NDArray[np.float64] | None,
    border_bounds: NDArray[np.float64] | None,
    method: str,
    options: Mapping[str, Any],
    progress: Progress | None,
) -> CertifiedResult:
    """Settle endless play, solve and certify, one after the other."""
    from rollwise.graph.endings import settle  # few games have endless play

    started, settled = time.perf_counter(), settle(graph, border_values)
    found = solve_settled(settled, border_values, method, options, progress)
    solved = time.perf_counter()
    proof = prove_settled(settled, found, border_values, border_bounds, options, progress)
    bounds = proof.bounds
    if found.converged and proof.enclosed is not None:  # a file of these can be verified
        values, bounds = proof.enclosed
        found = replace(found, values=values)
    result = replace(found.spread(settled), seconds=solved - started)
    certificate = Certificate(settled.spread(bounds, 0.0), proof.residual)
    return CertifiedResult(result, certificate, time.perf_counter() - solved)


def run_settled(graph: StateGraph, method: str, **options: Any) -> MethodResult:
    """Run a method on a graph, in which endless play gets its worth first.

    Parameters
    ----------
    **options
        Of the method. `on_values` gets the values of all states.

    Raises
    ------
    EndlessPlay
        Endless play has no worth.
    """
    if (settling := settled(graph)) is None:
        return run_method(graph, method, **options)
    if (follow := options.get("on_values")) is not None:
        options["on_values"] = lambda values: follow(settling.spread(values))
    return solve_settled(settling, None, method, options).spread(settling)


def solve_settled(
    settled: Settled,
    border_values: NDArray[np.float64] | None = None,
    method: str = DEFAULT,
    options: Mapping[str, Any] = NO_OPTIONS,
    progress: Progress | None = None,
) -> MethodResult:
    """The values of a settled graph; empty if no player can end play in any state."""
    if not settled.graph.n_states:
        return MethodResult(method, np.empty(0), 0)
    at_hand = {"border_values": border_values, "progress": _stage(progress, "solving")}
    return run_method(settled.graph, method, **known_options(method, at_hand), **options)


def prove_settled(
    settled: Settled,
    result: MethodResult,
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
    from rollwise.graph.endings import end_components, no_value

    if not settled.graph.n_states:
        return Certificate(np.empty(0), 0.0)
    prove = partial(certify_settled, settled.graph, result.values, border_values, border_bounds)
    if result.upper is not None:
        prove = partial(prove, claimed=result.upper - result.values)
    proof = _in_time(prove, result, options, progress)
    lost = settled.graph.endless == "lose" and result.converged and not proof.bound <= NO_VALUE
    if lost and len(end_components(settled.graph)):  # without one, play is slow and ends
        raise no_value(settled.graph)
    return proof


def _in_time(
    prove: Callable[..., Certificate],
    result: MethodResult,
    options: Mapping[str, Any],
    progress: Progress | None,
) -> Certificate:
    """Bounds on a method's values, within the method's own time limit.

    The values of a method that gave up are no answer, and get a tenth of its time. Estimates get no
    proof.
    """
    if result.estimated:
        return Certificate(np.full(len(result.values), np.inf), np.inf)
    limit = options.get("time_limit")
    share = 1.0 if result.converged else 0.1
    clock = Clock(None if limit is None else max(share * limit, LEAST_SECONDS))
    certifying = _stage(progress, "certifying")

    def told(done: int, total: int) -> None:
        clock.look()
        if certifying is not None:
            certifying(done, total)

    try:
        return prove(progress=told)
    except OutOfTime:
        return Certificate(np.full(len(result.values), np.inf), np.inf)


def _stage(progress: Progress | None, name: str) -> Callable[[int, int], None] | None:
    return None if progress is None else partial(progress, name)
