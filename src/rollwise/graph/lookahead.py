"""One look ahead: what actions are worth at given values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.graph.state_graph import StateGraph
from rollwise.kernels import sweeps as kernels
from rollwise.kernels.chances import are_whole, chances_of, scale

NOTHING: NDArray[np.float64] = np.empty(0)


class Ahead(NamedTuple):
    """What each action looks like from its state, and how sure that is.

    Attributes
    ----------
    gap : (n_actions,) float64
        What it is worth beyond the value of its state.
    blur : (n_actions,) float64
        How far its worth can be off by what follows it.
    rounding : (n_actions,) float64
        How far `gap` can be off besides, by roundings.
    values, bounds : (n_states,) float64
        What each state is worth, and how far that can be off.
    """

    gap: NDArray[np.float64]
    blur: NDArray[np.float64]
    rounding: NDArray[np.float64]
    values: NDArray[np.float64]
    bounds: NDArray[np.float64]


def look_ahead(
    graph: StateGraph,
    values: NDArray[np.float64],
    bounds: NDArray[np.float64],
    border_values: NDArray[np.float64] = NOTHING,
    border_bounds: NDArray[np.float64] | None = None,
) -> Ahead:
    """What each action is worth beyond the value of its state, and how far that can be off.

    Parameters
    ----------
    values, bounds : (n_states,) float64
        Where a bound is infinite, nothing is known: the value counts as if it were exact.
    border_values, border_bounds : (n_border,) float64
        The bounds are 0 unless given.
    """
    of_border = np.zeros(graph.n_border) if border_bounds is None else border_bounds
    known = np.concatenate([bounds, of_border])
    known[~np.isfinite(known)] = 0.0
    gap, rounding, blur = _residuals(graph, np.concatenate([values, border_values]), known)
    unknown = ~np.isfinite(values[graph.action_state])
    gap[unknown] = 0.0  # where play can't be ended all actions are alike
    rounding[~np.isfinite(rounding)] = 0.0
    return Ahead(gap, blur, rounding, values, known[: graph.n_states])


def action_gaps(
    graph: StateGraph, values: NDArray[np.float64], border_values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What each action is worth beyond the value of its state: (n_actions,) float64.

    Parameters
    ----------
    values : (n_states,) float64
    border_values : (n_border,) float64
    """
    return _residuals(graph, np.concatenate([values, border_values]), NOTHING)[0]


def _residuals(
    graph: StateGraph, values: NDArray[np.float64], bounds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    found = np.empty(graph.n_actions), np.empty(graph.n_actions), np.empty(graph.n_actions)
    kernels.residuals(
        graph.action_indptr,
        graph.action_lottery,
        graph.outcome_indptr,
        graph.outcome_state,
        chances_of(graph.lotteries),
        values,
        bounds,
        1.0,
        *found,
    )
    return found


def has_whole_weights(graph: StateGraph) -> bool:
    """Whether all weights are whole numbers, whose sums fit 62 bits."""
    return are_whole(graph.lotteries)


def scaled(graph: StateGraph) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The weights of a graph's outcomes as `rollwise.kernels.chances.scale` makes doubles of them.

    Returns
    -------
    weight : (n_outcomes,) float64
    normal : (n_actions,) bool
        Which actions have only normal ones.
    """
    weight, normal = scale(graph.lotteries)
    return weight[graph.outcome_lottery], normal[graph.action_lottery]
