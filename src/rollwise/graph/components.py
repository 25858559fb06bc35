"""The strongly connected components of a graph, found as far as they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rollwise.kernels.components import Walk

_finding = Lock()  # two threads may want the components of the same graph


class Components:
    """Strongly connected components, those that end every play first.

    They can be found by and by: the first of them stay as they are while the rest are
    looked for.

    Attributes
    ----------
    order : (n_states,) int32
        States, component by component; within one, a state stands after what it
        leads to wherever the cycles allow.
    indptr : (n_components + 1,) int64
        Component c is ``order[indptr[c]:indptr[c + 1]]``.
    position : (n_states,) int32
        Where each state stands in `order`; negative where that isn't known yet.
    """

    def __init__(
        self, order: NDArray[np.int32], indptr: NDArray[np.int64], position: NDArray[np.int32]
    ) -> None:
        self.order, self.indptr, self.position = order, indptr, position
        self._indptr = indptr  # as long as there may be components
        self._begin: Callable[[], Walk] | None = None  # by whoever looks for the first of them
        self._walk: Walk | None = None

    @classmethod
    def to_be_found(
        cls,
        action_indptr: NDArray[np.int64],
        outcome_indptr: NDArray[np.int64],
        outcome_state: NDArray[np.int32],
    ) -> Components:
        """Those of a graph given as two stacked CSR levels, of which none is found yet.

        Parameters
        ----------
        action_indptr : (n_states + 1,) int64
        outcome_indptr : (n_actions + 1,) int64
        outcome_state : (n_outcomes,) int32
            Next states; what is negative or at least ``n_states`` is outside.
        """
        from rollwise.kernels import components as kernels

        n = len(action_indptr) - 1
        order = np.empty(n, np.int32)
        position = np.full(n, kernels.NOT_MET, np.int32)
        components = cls(order, np.zeros(n + 1, np.int64), position)
        components.indptr = components._indptr[:1]

        def walk() -> Walk:
            edges = np.uint32 if len(outcome_state) < 2**32 else np.uint64
            first_edge = np.empty(n + 1, edges)
            first_edge[:] = outcome_indptr[action_indptr]
            return kernels.Walk(
                outcome_state=outcome_state,
                first_edge=first_edge,
                waiting=np.empty(n, np.uint32),
                path=np.empty(n, np.uint32),
                path_number=np.empty(n, np.int32),
                path_edge=np.empty(n, edges),
                counters=np.zeros(kernels.COUNTERS, np.int64),
            )

        components._begin = walk
        return components

    @classmethod
    def of_order(cls, order: NDArray[np.int32], indptr: NDArray[np.int64]) -> Components:
        """Those that were found earlier, by their states and where each begins."""
        position = np.empty_like(order)
        position[order] = np.arange(len(order), dtype=order.dtype)
        return cls(order, indptr, position)

    @property
    def all_found(self) -> bool:
        """Whether nothing is left to be looked for."""
        return self._begin is None and self._walk is None

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def largest(self) -> int:
        """Number of states of the largest component."""
        return int(np.diff(self.indptr).max())

    def find(self, n_states: int) -> int:
        """Go on until this many states have their component; the number of their components."""
        with _finding:
            if self._begin is not None:
                self._walk, self._begin = self._begin(), None
            if self._walk is not None:
                from rollwise.kernels.components import find_components

                rest = (self.order, self._indptr, self.position)
                found = find_components(n_states, self._walk, *rest)
                self.indptr = self._indptr[: found + 1]
                if self.indptr[-1] == len(self.order):
                    self._walk = None
        return int(np.searchsorted(self.indptr, n_states))
