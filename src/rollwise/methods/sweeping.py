"""Orders of sweeping, clocks, and sweeps over a graph as plain calls."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph import StateGraph, sign_of
from rollwise.kernels import sweeps as kernels
from rollwise.kernels.chances import chances_of

Order = Literal["synchronous", "forward", "reversed", "breadth-first", "components"]
_Array = NDArray[Any]


class GraphArrays(NamedTuple):
    """The arrays of a graph that kernels read, in their order (see `StateGraph`)."""

    action_indptr: _Array
    reward: _Array
    outcome_indptr: _Array
    state: _Array
    weight: _Array
    passes: _Array
    payoff: _Array


ORDERS: tuple[str, ...] = get_args(Order)


def sweep_order(graph: StateGraph, order: str) -> NDArray[np.int64]:
    """The states in the order of a sweep.

    Parameters
    ----------
    order : str
        ``forward``: by their fields, as nested loops over the fields run;
        ``reversed``: that backwards; ``breadth-first``: as they are numbered;
        ``components``: those that end every play first, as the exact solver does.
        ``synchronous`` sweeps don't depend on an order.

    Raises
    ------
    UsageError
        There is no such order.
    """
    if order in ("forward", "reversed"):
        by_fields = np.lexsort(graph.rows.T[::-1])
        return np.ascontiguousarray(by_fields if order == "forward" else by_fields[::-1])
    if order == "components":
        return graph.components.order.astype(np.int64)
    if order in ("breadth-first", "synchronous"):
        return np.arange(graph.n_states)
    raise UsageError(f"there is no order {order!r} of sweeping (there are {', '.join(ORDERS)})")


class Sweeper:
    """One graph, ready to be swept.

    Parameters
    ----------
    graph : StateGraph
    order : str
        See `sweep_order`; ``synchronous`` sweeps read only what the last one wrote.
    border_values : (n_border,) float64, optional
    start : float
        The value that every state starts from.

    Attributes
    ----------
    values : (n_states + n_border,) float64
    chosen : (n_states,) int64
        The action of each state; the first one to begin with.
    """

    def __init__(
        self,
        graph: StateGraph,
        order: str,
        border_values: NDArray[np.float64] | None = None,
        start: float = 0.0,
    ) -> None:
        self.graph = graph
        self.order = sweep_order(graph, order)
        self.synchronous = order == "synchronous"
        self.sign = sign_of(graph.objective)
        self.values = with_border(graph, start, border_values)
        self._spare = self.values.copy() if self.synchronous else self.values
        self.chosen = graph.action_indptr[:-1].copy()
        self._everywhere = np.ones(graph.n_states, np.bool_)

    def sweep(
        self, improve: NDArray[np.bool_] | None = None, margin: float = 0.0
    ) -> tuple[float, int]:
        """Sweep once; states with ``improve[s]`` (default: all) choose anew.

        Returns
        -------
        change : float
            The largest change of a value.
        switched : int
            States that changed their action.
        """
        change, switched = kernels.look_ahead(
            self.order,
            *arrays_of(self.graph),
            self.sign,
            self.chosen,
            self._everywhere if improve is None else improve,
            margin,
            self.values,
            self._spare,
        )
        self.values, self._spare = self._spare, self.values
        return float(change), int(switched)


def arrays_of(graph: StateGraph) -> GraphArrays:
    """The arrays of a graph that kernels read, in their order."""
    return GraphArrays(
        graph.action_indptr,
        graph.action_reward,
        graph.outcome_indptr,
        graph.outcome_state,
        graph.outcome_weight,
        graph.outcome_passes,
        graph.outcome_payoff,
    )


def with_border(
    graph: StateGraph, start: float, border_values: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Values to start from, with what is known of the border behind them."""
    values = np.full(graph.n_states + graph.n_border, start)
    values[graph.n_states :] = 0.0 if border_values is None else border_values
    return values


def action_values(graph: StateGraph, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each action is worth when `values` follow: (n_actions,) float64.

    Parameters
    ----------
    values : (n_states + n_border,) float64
    """
    state = graph.outcome_state
    ahead = np.where(state < 0, graph.outcome_payoff, values[state])
    ahead = np.where(graph.outcome_passes & (state >= 0), -ahead, ahead)
    begin = graph.outcome_indptr[:-1]
    total = np.add.reduceat(graph.outcome_weight * ahead, begin)
    return np.asarray(graph.action_reward + total / np.add.reduceat(graph.outcome_weight, begin))


def greedy_actions(graph: StateGraph, values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The first best action of each state, one look ahead: (n_states,) int64.

    Parameters
    ----------
    values : (n_states + n_border,) float64
    """
    sign = sign_of(graph.objective)
    chosen = np.empty(graph.n_states, np.int64)
    kernels.first_best(
        graph.action_indptr,
        graph.action_lottery,
        graph.outcome_indptr,
        graph.outcome_state,
        chances_of(graph.lotteries),
        values,
        sign,
        chosen,
    )
    return chosen


def residual(graph: StateGraph, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each value is above what one look ahead makes of it: (n_states,) float64.

    Parameters
    ----------
    values : (n_states + n_border,) float64
    """
    best = action_values(graph, values)[greedy_actions(graph, values)]
    return np.asarray(values[: graph.n_states] - best)
