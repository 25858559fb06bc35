"""One look ahead: what actions are worth at given values, with the rounding counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.graph.lotteries import Lotteries
from rollwise.graph.state_graph import StateGraph
from rollwise.kernels import certificate as kernels


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
    kernels.residuals(*read_by_kernels(graph), chances, known, 1.0, gap, rounding)
    return gap


def chances_of(lotteries: Lotteries) -> kernels.Chances:
    """Lotteries in the form in which errors are counted."""
    begin, sizes = lotteries.indptr[:-1], np.diff(lotteries.indptr)
    goes_on = ~lotteries.over
    weight, normal = _scaled(lotteries)
    signed = np.where(lotteries.passes, -weight, weight)
    ended = np.where(lotteries.over, weight * lotteries.payoff, 0.0)
    offset = np.arange(len(weight)) - np.repeat(begin, sizes)
    whole = _is_whole(lotteries)
    steps = sizes + 5 if whole else 2 * sizes + 9
    sound = normal & np.isfinite(lotteries.reward) & bool(kernels.keeps_small_numbers(1.0))
    fit = (lotteries.weight > 0) & np.isfinite(lotteries.weight) & np.isfinite(lotteries.payoff)
    sound &= np.logical_and.reduceat(fit, begin)
    return kernels.Chances(
        np.concatenate([[0], np.cumsum(goes_on)])[lotteries.indptr].astype(np.uint32),
        weight[goes_on],
        signed[goes_on],
        offset[goes_on].astype(np.uint32),
        np.add.reduceat(lotteries.weight if whole else weight, begin).astype(np.float64),
        np.add.reduceat(ended, begin),
        np.add.reduceat(np.abs(ended), begin),
        lotteries.reward,
        np.where(sound, steps * (1.0 + 1e-12) * kernels.UNIT, np.inf),
        4.0 * (sizes + 2) * kernels.SMALLEST,
    )


def has_whole_weights(graph: StateGraph) -> bool:
    """Whether all weights are whole numbers, whose sums fit 62 bits."""
    return _is_whole(graph.lotteries)


def scaled(graph: StateGraph) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The weights of a graph's outcomes as doubles, and which actions have only normal ones.

    Weights that aren't whole are divided by a power of two, so that the largest of an
    action is at least 1/2 and below 1. That rounds nothing, as long as all stay normal.

    Returns
    -------
    weight : (n_outcomes,) float64
    normal : (n_actions,) bool
    """
    weight, normal = _scaled(graph.lotteries)
    return weight[graph.outcome_lottery], normal[graph.action_lottery]


def _is_whole(lotteries: Lotteries) -> bool:
    weight, begin = lotteries.weight, lotteries.indptr[:-1]
    if weight.dtype.kind != "i":
        return False
    return bool(np.add.reduceat(weight.astype(np.float64), begin).max() < 2.0**62)


def _scaled(lotteries: Lotteries) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    weight = lotteries.weight.astype(np.float64)
    if _is_whole(lotteries):
        return weight, np.ones(len(lotteries.reward), np.bool_)
    begin = lotteries.indptr[:-1]
    power = np.frexp(np.maximum.reduceat(weight, begin))[1]
    weight = np.ldexp(weight, -np.repeat(power, np.diff(lotteries.indptr)))
    return weight, np.minimum.reduceat(weight, begin) >= np.finfo(np.float64).tiny


def read_by_kernels(
    graph: StateGraph,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    return graph.action_indptr, graph.action_lottery, graph.outcome_indptr, graph.outcome_state
