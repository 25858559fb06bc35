"""A graph in several copies, so that play remembers something: which copy it is in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph


def copied(graph: StateGraph, leads: Sequence[NDArray[Any]], begin: int = 0) -> StateGraph:
    """Copies of a graph, and outcomes that lead from one to another.

    Parameters
    ----------
    graph : StateGraph
        Without a border.
    leads : sequence of (n_outcomes,) int
        For each copy the one that each of its outcomes leads to.
    begin : int
        The copy that play begins in.

    Returns
    -------
    StateGraph
        State s of the copy c is the state ``n_states * ((c - begin) % n_copies) + s``; a field
        ``copy`` says which it is.
    """
    n, many = graph.n_states, len(leads)
    order = [(begin + k) % many for k in range(many)]
    target = [
        np.where(graph.outcome_state < 0, -1, graph.outcome_state + n * ((leads[c] - begin) % many))
        for c in order
    ]
    states = np.column_stack([np.tile(graph.rows, (many, 1)), np.repeat(order, n)])
    return graph.with_arrays(
        states=states.astype(np.int32),
        field_names=(*graph.columns, "copy"),
        action_indptr=_repeated(graph.action_indptr, many),
        action_label=np.tile(graph.action_label, many),
        action_reward=np.tile(graph.action_reward, many),
        outcome_indptr=_repeated(graph.outcome_indptr, many),
        outcome_state=np.concatenate(target).astype(np.int32),
        outcome_weight=np.tile(graph.outcome_weight, many),
        outcome_passes=np.tile(graph.outcome_passes, many),
        outcome_payoff=np.tile(graph.outcome_payoff, many),
        n_roots=1,
    )


def _repeated(pointers: NDArray[Any], times: int) -> NDArray[np.int64]:
    """The CSR pointers of so many copies, one after the other."""
    sizes = np.tile(np.diff(pointers), times)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
