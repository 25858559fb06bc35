"""Sweeps over a graph in any order: the parts of textbook methods.

Values are the graph's, for the mover. A sweep replaces the value of each state by one step of
the game's recursion. If ``old`` and ``new`` are the same array, the sweep is in place and later
states read the new values of earlier ones; otherwise it is synchronous.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError, no_such
from rollwise.graph import StateGraph, sign_of
from rollwise.graph.choices import action_gaps, first_of_each_state
from rollwise.kernels.chances import SMALLEST, UNIT
from rollwise.kernels.jit import kernel

_Array = NDArray[Any]


class GraphArrays(NamedTuple):
    """The arrays of a graph in the order of the kernels' arguments (see `StateGraph`)."""

    action_indptr: _Array
    reward: _Array
    outcome_indptr: _Array
    state: _Array
    weight: _Array
    passes: _Array
    payoff: _Array


ORDERS = ("synchronous", "forward", "reversed", "breadth-first", "components")


def sweep_order(graph: StateGraph, order: str) -> NDArray[np.int64]:
    """The states in the order of a sweep.

    Parameters
    ----------
    order : str
        ``forward``: by their fields, as nested loops over the fields run;
        ``reversed``: the opposite; ``breadth-first``: by their numbers;
        ``components``: terminal components first, as in the exact solver.
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
    raise UsageError(no_such("order of sweeping", order, ORDERS))


class Sweeper:
    """One graph, ready for sweeps.

    Parameters
    ----------
    graph : StateGraph
    order : str
        See `sweep_order`; ``synchronous`` sweeps read only values of the sweep before.
    border_values : (n_border,) float64, optional
    start : float
        The first value of every state.

    Attributes
    ----------
    values : (n_states + n_border,) float64
    chosen : (n_states,) int64
        The action of each state; at first its first one.
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
        change, switched = look_ahead(
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
    """The arrays of a graph in the order of the kernels' arguments."""
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
    """Initial values, followed by the values of the border."""
    values = np.full(graph.n_states + graph.n_border, start, np.float64)
    values[graph.n_states :] = 0.0 if border_values is None else border_values
    return values


def action_values(graph: StateGraph, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The value of each action, given the values of the next states: (n_actions,) float64.

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
    n = graph.n_states
    worth = sign_of(graph.objective) * action_gaps(graph, values[:n], values[n:])
    best = np.fmax.reduceat(worth, graph.action_indptr[:-1])
    return first_of_each_state(graph, worth == best[graph.action_state])


@kernel
def look_ahead(
    order,
    action_indptr,
    action_reward,
    outcome_indptr,
    outcome_state,
    outcome_weight,
    outcome_passes,
    outcome_payoff,
    sign,
    chosen,
    improve,
    margin,
    old,
    new,
):
    """Sweep once over the states in `order`.

    Parameters
    ----------
    order : (m,) int64
    sign : 1 to make values large, -1 for small
    chosen : (n_states,) int64
        The action of each state, as an index into the actions.
    improve : (n_states,) bool
        Whether a state takes the best action (and enters it into `chosen`, if it is
        better by more than `margin` than the present one) or keeps its chosen action.
    margin : float
    old, new : (n_states + n_border,) float64

    Returns
    -------
    change : float
        The largest change of a value.
    switched : int
        Number of states with a changed action.
    """
    change = 0.0
    switched = 0
    for i in range(order.shape[0]):
        s = order[i]
        first, last = action_indptr[s], action_indptr[s + 1]
        current = chosen[s]
        if not improve[s]:
            # a state that doesn't improve looks at its chosen action only
            first, last = current, current + 1
        best = -np.inf
        kept = -np.inf
        best_action = first
        for a in range(first, last):
            begin, end = outcome_indptr[a], outcome_indptr[a + 1]
            # a zero of the weights' type: whole weights add up without rounding
            weights = outcome_weight[begin] * 0
            total = 0.0
            for k in range(begin, end):
                w = outcome_weight[k]
                weights += w
                t = outcome_state[k]
                if t < 0:
                    total += w * outcome_payoff[k]
                elif outcome_passes[k]:
                    total -= w * old[t]
                else:
                    total += w * old[t]
            q = sign * (action_reward[a] + total / weights)
            if a == current:
                kept = q
            if q > best:
                best = q
                best_action = a
        # the margin keeps rounding from switching between equal actions
        if best > kept + margin and best_action != current:
            chosen[s] = best_action
            switched += 1
        change = max(change, abs(sign * best - old[s]))
        new[s] = sign * best
    return change, switched


@kernel
def close_bounds(
    order,
    action_indptr,
    action_reward,
    outcome_indptr,
    outcome_state,
    outcome_weight,
    outcome_passes,
    outcome_payoff,
    sign,
    whole_weights,
    lower,
    upper,
    new_lower,
    new_upper,
):
    """Sweep once over valid bounds; the new bounds are valid and no wider.

    After a PASS the other player's upper bound is the mover's lower bound with
    its sign changed. Roundings are counted as in `rollwise.kernels.chances`
    and widen the bounds.

    Parameters
    ----------
    outcome_weight : (n_outcomes,) float64
        As `rollwise.graph.choices.scaled` gives them.
    lower, upper, new_lower, new_upper : (n_states + n_border,) float64

    Returns
    -------
    width : float
        The largest distance between the bounds of a state of `order`.
    change : float
        The largest change of a bound.
    """
    width = 0.0
    change = 0.0
    for i in range(order.shape[0]):
        s = order[i]
        best_low = -np.inf
        best_high = -np.inf
        for a in range(action_indptr[s], action_indptr[s + 1]):
            begin, end = outcome_indptr[a], outcome_indptr[a + 1]
            # a zero of the weights' type: whole weights add up without rounding
            weights = outcome_weight[begin] * 0
            low = 0.0
            high = 0.0
            size = 0.0
            for k in range(begin, end):
                w = outcome_weight[k]
                weights += w
                t = outcome_state[k]
                if t < 0:
                    x_low = outcome_payoff[k]
                    x_high = x_low
                elif outcome_passes[k]:
                    x_low = -upper[t]
                    x_high = -lower[t]
                else:
                    x_low = lower[t]
                    x_high = upper[t]
                low += w * x_low
                high += w * x_high
                size += w * max(abs(x_low), abs(x_high))
            # roundings of products, sums, quotient and reward; fractional weights round their sum
            # too
            steps = (end - begin) + 5
            if not whole_weights:
                steps += end - begin + 4
            size = size / weights + abs(action_reward[a])
            room = steps * (1.0 + 1e-12) * UNIT * size + 4.0 * (steps + 2.0) * SMALLEST
            q_low = action_reward[a] + low / weights - room
            q_high = action_reward[a] + high / weights + room
            if sign < 0:
                # minimizing is maximizing of negated bounds, whose ends change places
                q_low, q_high = -q_high, -q_low
            best_low = max(best_low, q_low)
            best_high = max(best_high, q_high)
        if sign < 0:
            best_low, best_high = -best_high, -best_low
        # `room` may widen a bound, so the old one stays where it is closer
        new_low = max(lower[s], best_low)
        new_high = min(upper[s], best_high)
        change = max(change, new_low - lower[s], upper[s] - new_high)
        new_lower[s] = new_low
        new_upper[s] = new_high
        width = max(width, new_high - new_low)
    return width, change
