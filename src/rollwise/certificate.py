"""The certificate: how far the values of a graph can be from the true ones.

It reads only the graph and the values, whoever found them, and proves for each
state a bound b(s) with ``|v(s) - v*(s)| <= b(s)``. Two facts carry the proof.

1. *Every play ends, whatever the players do.* Checked on the graph without
   rounding (`require_ending`).
2. *v + b is a supersolution and v - b a subsolution* of the game's recursion:
   no action is worth more than v(s) + b(s) when all that follows is better by its
   bound, and some action is worth at least v(s) - b(s) when all that follows is
   worse by its own. Then no player can do better, since play that ends cannot
   escape a supersolution (Shapley 1953; Condon 1992).

With b(s) = r h(s), r the residual and h the expected number of moves left, this is
the textbook bound r h; but here h counts only play that is good enough to
matter, which makes the bound smaller. A candidate for b is found as the fixed
point of "residual and rounding here, plus the bounds of what follows"; it is not
trusted, but checked in one pass over the graph with every rounding accounted for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise import large_pages
from rollwise.errors import EndlessPlay
from rollwise.graph import Lotteries, StateGraph
from rollwise.kernels import certificate as kernels
from rollwise.kernels.reorder import scatter
from rollwise.recursion import Recursion, Search
from rollwise.second_core import second_core

# Each try asks for more room over the residual, or for a closer fixed point, which it takes
# where one state of a component is much further off than others. The first nearly always does.
WORTH_A_THREAD = 20_000  # states
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


def endless_states(graph: StateGraph, arranged: Recursion | None = None) -> NDArray[np.int64]:
    """The states in which the players can go round for ever, if they want to."""
    arranged = Recursion.of_values(graph) if arranged is None else arranged
    endless = _marked_as_endless(graph, arranged, 0, len(arranged.components))
    return np.sort(arranged.components.order[endless])


def play_may_not_end(graph: StateGraph, arranged: Recursion, first: int, stop: int) -> bool:
    """Whether the players can go round for ever in a component from `first` to below `stop`."""
    return bool(_marked_as_endless(graph, arranged, first, stop).any())


def _marked_as_endless(
    graph: StateGraph, arranged: Recursion, first: int, stop: int
) -> NDArray[np.bool_]:
    """The positions of some components where they can."""
    lotteries, indptr = graph.lotteries, arranged.components.indptr[first : stop + 1]
    ends = np.logical_or.reduceat(lotteries.over, lotteries.indptr[:-1])
    endless = np.empty(int(indptr[-1] - indptr[0]), np.bool_)
    kernels.find_endless(indptr, arranged.arranged, ends, endless)
    return endless


def endless_actions(graph: StateGraph, endless: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each of the endless states the first action that keeps play among them."""
    inside = np.zeros(graph.n_states + 1, np.bool_)
    inside[endless] = True  # the last place, index -1, stands for the end of the game
    actions = np.empty(len(endless), np.int64)
    for i, s in enumerate(endless):
        for a in range(graph.action_indptr[s], graph.action_indptr[s + 1]):
            targets = graph.outcome_state[graph.outcome_indptr[a] : graph.outcome_indptr[a + 1]]
            if np.all(targets < graph.n_states) and np.all(inside[targets]):
                actions[i] = a
                break
    return actions


def require_ending(graph: StateGraph, arranged: Recursion | None = None) -> None:
    """Make sure that every play ends, whatever the players do.

    Raises
    ------
    EndlessPlay
        Names states where they can go round for ever, and the actions that do it.
    """
    endless = endless_states(graph, arranged)
    if not len(endless):
        return
    shown = endless[:3]
    places = "; ".join(
        f"{graph.state_text(s)} with the action {graph.action_text(a)}"
        for s, a in zip(shown, endless_actions(graph, shown), strict=True)
    )
    more = f" and {len(endless) - 3:,} more states" if len(endless) > 3 else ""
    raise EndlessPlay(
        f"{graph.game}: the players can go round for ever, so the game has no certain value: "
        f"{places}{more}. Rules that always end have no such loop; take the action away "
        "there, or count the turns in the state"
    )


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
    require_ending(graph, arranged)
    bounding = Bounding(graph, arranged, border_values, border_bounds)
    in_order = large_pages.empty(graph.n_states)
    scatter(0, graph.n_states, values, arranged.components.position, in_order)
    return bounding.certified(bounding.with_border(in_order), values, progress)


class Bounding:
    """The making of a certificate, as far as a solver has come.

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
        self._sign = -1.0 if graph.objective == "minimize" else 1.0
        self._chances = chances_of(graph.lotteries)
        # A little more than the bounds of what follows: for the roundings of the check, and for
        # states that add next to nothing of their own in a component where others add much.
        most_outcomes = int(np.diff(graph.lotteries.indptr).max())
        larger = 1 + 1e-9 + 16 * most_outcomes * kernels.UNIT
        self._terms = large_pages.empty(graph.n_actions)
        self._errors = arranged.with_terms(
            self._terms, larger * np.abs(arranged.arranged.coefficient)
        )
        self._chosen = large_pages.empty(graph.n_states, np.uint32)
        self._bounds = large_pages.empty(graph.n_states + graph.n_border)  # as states are numbered
        self._bounds[graph.n_states :] = self._border_bounds
        self._begin(0)

    def _begin(self, number: int) -> None:
        self._slack, tolerance = TRIES[number]
        self._measured = 0
        # errors add up along good play
        self._search = Search(self._errors, self._border_bounds, tolerance, self._chosen)

    def measure(self, values: NDArray[np.float64], stop: int) -> None:
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
        least = kernels.UNIT * float(np.abs(values[low:high]).max())
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

    def follow(self, stop: int, progress: Callable[[int, int], None] | None = None) -> None:
        """Find bounds for the components up to `stop`, which have been measured."""
        components = self._arranged.components
        low, high = (int(components.indptr[c]) for c in (self._search.done, stop))
        self._search.run(stop, progress)
        found = self._search.values
        np.maximum(found[low:high], 0.0, out=found[low:high])
        scatter(low, high, found, components.order, self._bounds)

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
        residual = np.inf
        if not np.all(np.isfinite(values)):
            return Certificate(np.full(n, np.inf), residual)
        known = self.with_border(values)
        for number in range(len(TRIES)):
            if number:
                self._begin(number)
            self.measure(in_order, last)
            self.follow(last, progress)
            unproven, residual = self.count_unproven(known, self._bounds)
            if progress is not None:
                progress(n, n)
            if unproven == 0:
                return Certificate(self._bounds[:n], residual)
        return Certificate(np.full(n, np.inf), residual)

    def count_unproven(
        self, values: NDArray[np.float64], bounds: NDArray[np.float64]
    ) -> tuple[int, float]:
        """How many states don't prove their bounds, and the residual.

        A half of them is looked at on each core.

        Parameters
        ----------
        values, bounds : (n_states + n_border,) float64
        """

        def count(low: int, high: int) -> tuple[int, float]:
            graph = _read_by_kernels(self._graph)
            return kernels.count_unproven(  # type: ignore[no-any-return]
                low, high, *graph, self._chances, values, self._sign, bounds
            )

        n = self._graph.n_states
        if n < WORTH_A_THREAD:
            return count(0, n)
        with second_core() as thread:
            other = thread.submit(count, n // 2, n)
            (unproven, residual), (more, largest) = count(0, n // 2), other.result()
        return unproven + more, max(residual, largest)


def action_gaps(
    graph: StateGraph, values: NDArray[np.float64], border_values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What each action is worth beyond the value of its state: (n_actions,) float64.

    Parameters
    ----------
    values : (n_states,) float64
    border_values : (n_border,) float64
    """
    gap, rounding = np.empty(graph.n_actions), np.empty(graph.n_actions)
    known = np.concatenate([values, border_values])
    chances = chances_of(graph.lotteries)
    kernels.residuals(*_read_by_kernels(graph), chances, known, 1.0, gap, rounding)
    return gap


def chances_of(lotteries: Lotteries) -> kernels.Chances:
    """Lotteries in the form in which errors are counted."""
    begin, sizes = lotteries.indptr[:-1], np.diff(lotteries.indptr)
    goes_on = ~lotteries.over
    weight = lotteries.weight.astype(np.float64)
    signed = np.where(lotteries.passes, -weight, weight)
    ended = np.where(lotteries.over, weight * lotteries.payoff, 0.0)
    offset = np.arange(len(weight)) - np.repeat(begin, sizes)
    steps = sizes + 5 if lotteries.weight.dtype.kind == "i" else 2 * sizes + 9
    return kernels.Chances(
        np.concatenate([[0], np.cumsum(goes_on)])[lotteries.indptr].astype(np.uint32),
        weight[goes_on],
        signed[goes_on],
        offset[goes_on].astype(np.uint32),
        np.add.reduceat(lotteries.weight, begin).astype(np.float64),
        np.add.reduceat(ended, begin),
        np.add.reduceat(np.abs(ended), begin),
        lotteries.reward,
        steps * (1.0 + 1e-12) * kernels.UNIT,
    )


def _read_by_kernels(
    graph: StateGraph,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    return graph.action_indptr, graph.action_lottery, graph.outcome_indptr, graph.outcome_state
