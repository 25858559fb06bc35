"""The tables of a layer, from lotteries; and a whole graph as a layer in solving order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.graph.lotteries import Lotteries
from rollwise.graph.state_graph import StateGraph
from rollwise.graph.view import sign_of
from rollwise.kernels.chances import means_of
from rollwise.layers.layer import NO_POOL, Layer, Pool, Tables, block_of
from rollwise.layers.order import Ordering

Floats = NDArray[np.float64]


def layer_of_graph(graph: StateGraph) -> Layer:
    """A graph as a layer in solving order, with its states as positions.

    A throw is an action of its own.
    """
    return ordering_of(graph).run()


def ordering_of(graph: StateGraph) -> Ordering:
    """A graph as a layer before it is put in solving order."""
    sign = float(sign_of(graph.objective))
    n, inside = graph.n_states, graph.n_states + graph.n_border
    endings, ending = endings_of(graph.lotteries, sign, inside)
    tables = tables_of(graph.lotteries, sign)
    action, found = graph.action_indptr, graph.components
    first = np.empty((n + 1, 3), np.uint32)
    first[:, 0], first[:, 1] = np.arange(n + 1), action
    first[:, 2] = graph.outcome_indptr[action]
    lists, count, target = np.zeros(n, np.uint8), np.diff(first[:, 1]), graph.outcome_state
    block = block_of(first, lists, count, graph.action_lottery, target.view(np.uint32))
    layer = Layer([(0, block)], tables, n, graph.n_border, endings)
    return Ordering(layer, found, ending.astype(np.uint32))


def endings_of(lotteries: Lotteries, sign: float, first: int) -> tuple[Floats, NDArray[np.int64]]:
    """The payoffs of the endings, and the place of each outcome that ends play.

    Parameters
    ----------
    sign : float
        The sign of the objective.
    first : int
        The place of the first ending.

    Returns
    -------
    endings : (n_endings,) float64
    place : (n_lottery_outcomes,) int64
    """
    payoffs = sign * lotteries.payoff
    endings, ending = np.unique(payoffs[lotteries.over], return_inverse=True)
    place = np.zeros(len(payoffs), np.int64)
    place[lotteries.over] = first + ending.reshape(-1)
    return endings, place


def tables_of(
    lotteries: Lotteries,
    sign: float,
    throws: tuple[NDArray[np.int64], NDArray[Any]] | None = None,
    pool: Pool = NO_POOL,
) -> Tables:
    """The lists of throws and the lotteries of a layer.

    Parameters
    ----------
    sign : float
        The sign of the objective, for rewards.
    throws : (indptr, weight), optional
        The lists of throws.
    """
    weight, total, error = means_of(lotteries)
    signs = np.where(lotteries.passes, -1.0, 1.0)
    lists: tuple[Any, Any, Any, Any, Any]
    lists = (np.array([0, 1], np.uint32), np.ones(1), np.ones(1), np.ones(1), np.zeros(1))
    if throws is not None:
        indptr, ways = throws
        no = np.zeros(len(ways), np.bool_)
        nothing = np.zeros(len(indptr) - 1), np.zeros(len(ways))
        thrown, totals, errors = means_of(Lotteries(indptr, nothing[0], ways, no, no, nothing[1]))
        chance = thrown / np.repeat(totals, np.diff(indptr))
        lists = indptr.astype(np.uint32), chance, thrown, totals, errors
    return Tables(
        *lists,
        lotteries.indptr.astype(np.uint32),
        signs * weight / np.repeat(total, np.diff(lotteries.indptr)),
        signs * weight,
        total,
        error,
        sign * lotteries.reward,
        pool,
    )
