"""One look ahead: what actions are worth at given values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise.graph.state_graph import StateGraph
from rollwise.kernels import sweeps as kernels
from rollwise.kernels.chances import are_whole, chances_of, scale


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
    kernels.residuals(
        graph.action_indptr,
        graph.action_lottery,
        graph.outcome_indptr,
        graph.outcome_state,
        chances_of(graph.lotteries),
        known,
        1.0,
        gap,
        rounding,
    )
    return gap


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
