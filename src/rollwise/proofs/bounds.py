"""How error bounds are found, which then prove themselves: `certify`.

With b(s) = r h(s), r the residual and h the expected number of moves left, a state has the
textbook bound r h; but here h counts only play that is good enough to matter, which makes the
bound smaller. A candidate for b is the fixed point of "residual and rounding here, plus the bounds
of what follows". It is found by the search that finds values, and nothing here is trusted: what
proves the bounds is `rollwise.proofs.check`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph, sign_of
from rollwise.graph.endings import end_components
from rollwise.kernels import bounds as kernels
from rollwise.kernels.chances import UNIT, chances_of
from rollwise.kernels.reorder import scatter
from rollwise.machine.pipeline import on_both_cores
from rollwise.proofs.check import Verdict, check
from rollwise.proofs.check_endless import check_settled
from rollwise.proofs.enclosing import enclose
from rollwise.recursion.endless import settled
from rollwise.recursion.order import Recursion
from rollwise.recursion.search import Search

# Each try asks for more room over the residual, or for a closer fixed point, which it takes
# where one state of a component is much further off than others. The first nearly always does.
LEAST_ROOM = 1e-300  # in a bound, for what underflows
TRIES = ((0.25, 1e-5), (0.25, 1e-8), (0.25, 1e-15), (1.0, 1e-15), (16.0, 1e-15))


@dataclass(frozen=True, eq=False)
class Certificate:
    """What was proved about the values of a graph.

    Attributes
    ----------
    bounds : (n_states,) float64
        ``|v(s) - v*(s)| <= bounds[s]``; infinite where nothing could be proved.
    residual : float
        The largest distance of a value from what one look ahead makes of it.
    """

    bounds: NDArray[np.float64]
    residual: float

    @property
    def bound(self) -> float:
        """The largest of the bounds."""
        return float(self.bounds.max())

    def __repr__(self) -> str:
        return f"<Certificate: values ± {self.bound}, residual {self.residual}>"


def certify(
    graph: StateGraph,
    values: NDArray[np.float64],
    *,
    border_values: NDArray[np.float64] | None = None,
    border_bounds: NDArray[np.float64] | None = None,
    arranged: Recursion | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Certificate:
    """Bound the error of the values of every state.

    Parameters
    ----------
    graph : StateGraph
    values : (n_states,) float64
        From any method.
    border_values, border_bounds : (n_border,) float64, optional
        Values on the border of the graph and how far they can be off.
    arranged : Recursion, optional
        The graph in solving order, if it is at hand. It only helps to find the
        bounds; what proves them reads the graph.

    Raises
    ------
    EndlessPlay
        The players can go round for ever.
    """
    arranged = Recursion.of_values(graph) if arranged is None else arranged
    border = border_values, border_bounds
    settling = settled(graph, arranged)
    if settling is None:
        return certify_ending(graph, arranged, values, *border, progress=progress)
    standing = settling.gather(values)
    proof = certify_settled(settling.graph, standing, *border, progress=progress)
    same = values == settling.spread(standing)
    with np.errstate(invalid="ignore"):
        off = np.abs(values - settling.spread(standing))
        bounds = settling.spread(proof.bounds, np.inf)
        bounds = np.nextafter((bounds + off) * (1 + 4 * UNIT), np.inf)
    bounds[same] = settling.spread(proof.bounds, 0.0)[same]
    bounds[np.isnan(bounds)] = np.inf
    return Certificate(bounds, proof.residual)


def certify_ending(
    graph: StateGraph,
    arranged: Recursion,
    values: NDArray[np.float64],
    border_values: NDArray[np.float64] | None = None,
    border_bounds: NDArray[np.float64] | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Certificate:
    """The same for a graph in which every play ends (`settled` gave None)."""
    return _certified(Bounding(graph, arranged, border_values, border_bounds), values, progress)


def certify_settled(
    graph: StateGraph,
    values: NDArray[np.float64],
    border_values: NDArray[np.float64] | None = None,
    border_bounds: NDArray[np.float64] | None = None,
    *,
    claimed: NDArray[np.float64] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Certificate:
    """The same for a graph that `rollwise.graph.endings.settle` gave.

    Parameters
    ----------
    claimed : (n_states,) float64, optional
        Bounds to try first.
    """
    border = border_values, border_bounds
    if graph.objective != "win" or not len(end_components(graph)):
        bounding = SettledBounding(graph, Recursion.of_values(graph), *border)
        return _certified(bounding, values, progress)
    if claimed is not None:
        verdict = check_settled(graph, values, claimed, *border)
        if verdict.holds:
            return Certificate(claimed, verdict.residual)
    if not np.all(np.isfinite(values)):
        return Certificate(np.full(len(values), np.inf), np.inf)
    found = enclose(graph, values, *border, progress=progress)
    off = np.abs(values - found.values)
    farther = np.nextafter((found.bounds + off) * (1 + 4 * UNIT), np.inf)
    bounds = np.where(off > 0, farther, found.bounds)
    return Certificate(bounds, found.residual)


def _certified(
    bounding: Bounding,
    values: NDArray[np.float64],
    progress: Callable[[int, int], None] | None,
) -> Certificate:
    return bounding.certified(bounding.in_order(values), values, progress)


class Bounding:
    """Incremental bounds: found for the components that a solver has come to.

    Parameters
    ----------
    graph : StateGraph
        In which every play ends.
    arranged : Recursion
        The same in solving order.
    border_values, border_bounds : (n_border,) float64, optional
    """

    def __init__(
        self,
        graph: StateGraph,
        arranged: Recursion,
        border_values: NDArray[np.float64] | None = None,
        border_bounds: NDArray[np.float64] | None = None,
    ) -> None:
        empty = np.zeros(graph.n_border)
        self._border_values = empty if border_values is None else border_values
        self._border_bounds = empty if border_bounds is None else border_bounds
        self._graph, self._arranged = graph, arranged
        self._sign = sign_of(graph.objective)
        self._chances = chances_of(graph.lotteries)
        # A little more than the bounds of what follows: for the roundings of the check, and for
        # states that add next to nothing of their own in a component where others add much.
        most_outcomes = int(np.diff(graph.lotteries.indptr).max())
        larger = 1 + 1e-9 + 16 * most_outcomes * UNIT
        self._terms = np.empty(graph.n_actions)
        self._errors = arranged.with_terms(
            self._terms, larger * np.abs(arranged.arranged.coefficient)
        )
        self._chosen = np.empty(graph.n_states, np.uint32)
        self._bounds = np.empty(graph.n_states + graph.n_border)  # as states are numbered
        self._bounds[graph.n_states :] = self._border_bounds
        self._ranks = np.empty(graph.n_states + graph.n_border, np.int32)
        self._ranks[graph.n_states :] = -1
        self._begin(0)

    def _begin(self, number: int) -> None:
        self._slack, tolerance = TRIES[number]
        self._measured = 0
        # errors add up along good play
        self._search = Search(self._errors, self._border_bounds, tolerance, self._chosen)

    def extend(
        self,
        values: NDArray[np.float64],
        stop: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Find the bounds of the components up to `stop`, whose values are known.

        Parameters
        ----------
        values : (n_states + n_border,) float64
            By position.
        """
        self._measure(values, stop)
        self._find(stop, progress)

    def _measure(self, values: NDArray[np.float64], stop: int) -> None:
        """Look ahead from the components up to `stop`, whose values are known.

        Parameters
        ----------
        values : (n_states + n_border,) float64
            By position.
        """
        indptr = self._arranged.components.indptr
        low, high = int(indptr[self._measured]), int(indptr[stop])
        if low == high:
            return
        self._measured = stop
        # Where value and rounding are exactly zero, there is still room to be had.
        least = max(UNIT * float(np.abs(values[low:high]).max()), LEAST_ROOM)
        kernels.error_terms(
            low,
            high,
            self._arranged.arranged,
            self._chances,
            values,
            self._sign,
            self._slack,
            least,
            self._terms,
            self._chosen,
        )

    def _find(self, stop: int, progress: Callable[[int, int], None] | None = None) -> None:
        """Find bounds for the components up to `stop`, which have been measured."""
        components = self._arranged.components
        low, high = (int(components.indptr[c]) for c in (self._search.done, stop))
        self._search.run(stop, progress)
        found = self._search.values
        np.maximum(found[low:high], 0.0, out=found[low:high])
        scatter(low, high, found, components.order, self._bounds)
        scatter(low, high, self._arranged.ranks, components.order, self._ranks)

    def in_order(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of states by position, and those of the border behind them."""
        placed = np.empty(self._graph.n_states)
        scatter(0, self._graph.n_states, values, self._arranged.components.position, placed)
        return self.with_border(placed)

    def with_border(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of states, and those of the border behind them."""
        return np.concatenate([values, self._border_values]) if self._graph.n_border else values

    def certified(
        self,
        in_order: NDArray[np.float64],
        values: NDArray[np.float64],
        progress: Callable[[int, int], None] | None = None,
    ) -> Certificate:
        """Find the bounds that are still missing, and prove them all.

        Parameters
        ----------
        in_order : (n_states + n_border,) float64
            The values by position.
        values : (n_states,) float64
            The same as the states are numbered.
        """
        n, last = self._graph.n_states, len(self._arranged.components)
        if not np.all(np.isfinite(values)):
            return Certificate(np.full(n, np.inf), np.inf)
        self.extend(in_order, last, progress)
        if not np.any(values):  # may be exact, and then no bound is smaller
            certificate = self._proved(values, np.zeros(n))
            if certificate.bound == 0:
                return certificate
        for number in range(len(TRIES)):
            if number:
                self._begin(number)
                self.extend(in_order, last, progress)
            certificate = self._proved(values, self._bounds[:n])
            if progress is not None:
                progress(n, n)
            if np.isfinite(certificate.bound):
                break
        return certificate

    def _proved(self, values: NDArray[np.float64], bounds: NDArray[np.float64]) -> Certificate:
        """The bounds if they hold, and else none."""
        verdict = self.check(values, bounds)
        proved = bounds if verdict.holds else np.full(len(bounds), np.inf)
        return Certificate(proved, verdict.residual)

    def check(self, values: NDArray[np.float64], bounds: NDArray[np.float64]) -> Verdict:
        """Prove bounds, a half of them on each core.

        Parameters
        ----------
        values, bounds : (n_states,) float64
        """
        known = values, bounds, self._border_values, self._border_bounds
        return check(self._graph, *known, ranks=self._ranks, apply=on_both_cores)


class SettledBounding(Bounding):
    """The same where play may go on for ever, and has its worth (`rollwise.graph.endings`)."""

    def check(self, values: NDArray[np.float64], bounds: NDArray[np.float64]) -> Verdict:
        known = values, bounds, self._border_values, self._border_bounds
        return check_settled(self._graph, *known)
