"""The strongly connected components of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Components:
    """Strongly connected components, those that end every play first.

    Attributes
    ----------
    order : (n_states,) int32
        States, component by component; within one, a state stands after what it
        leads to wherever the cycles allow.
    indptr : (n_components + 1,) int64
        Component c is ``order[indptr[c]:indptr[c + 1]]``.
    position : (n_states,) int32
        Where each state stands in `order`.
    """

    order: NDArray[np.int32]
    indptr: NDArray[np.int64]
    position: NDArray[np.int32]

    @classmethod
    def of(cls, first_edge: NDArray[Any], outcome_state: NDArray[np.int32]) -> Components:
        """Those of a graph.

        Parameters
        ----------
        first_edge : (n_states + 1,) integers
            Where the outcomes of a state begin.
        outcome_state : (n_outcomes,) int32
            Next states; what is negative or at least ``n_states`` is outside.
        """
        from rollwise.kernels.components import NOT_MET, find_components

        n, edges = len(first_edge) - 1, np.uint32 if len(outcome_state) < 2**32 else np.uint64
        order, indptr = np.empty(n, np.int32), np.zeros(n + 1, np.int64)
        position = np.full(n, NOT_MET, np.int32)
        first_edge = np.ascontiguousarray(first_edge, edges)
        found = find_components(first_edge, outcome_state, order, indptr, position)
        return cls(order, indptr[: found + 1].copy(), position)

    @classmethod
    def of_order(cls, order: NDArray[np.int32], indptr: NDArray[np.int64]) -> Components:
        """Those that were found earlier, by their states and where each begins."""
        position = np.empty_like(order)
        position[order] = np.arange(len(order), dtype=order.dtype)
        return cls(order, indptr, position)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def largest(self) -> int:
        """Number of states of the largest component."""
        return int(np.diff(self.indptr).max())
