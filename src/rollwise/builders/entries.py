"""Which states of a game are entered from another layer, found while all states are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.arrays import Arrays
from rollwise.builders.compiled.explorer import Explorer
from rollwise.builders.progress import asked
from rollwise.builders.rules import Rules


class Entries:
    """Marks the start, and every state to which an outcome leads from another layer.

    Attributes
    ----------
    marks : (at least n_states,) bool
        By the numbers of the explorer.
    """

    def __init__(self, rules: Rules, n_roots: int) -> None:
        size = rules.progress_size
        self._rules, self._parts = rules, [None] if size is None else list(range(size))
        self._n = 0  # states whose progress is known
        self._reached = [np.empty(n_roots, np.int64) for _ in self._parts]
        self.marks = np.arange(n_roots) == 0

    def look(self, explorer: Explorer) -> None:
        """Mark what is entered by the outcomes that the explorer holds."""
        self._ask(explorer.graph.states, explorer.n_states)
        arrays = explorer.arrays()
        counts = _outcomes_of_states(arrays)
        last = explorer.place
        source = np.repeat(np.arange(last - len(counts), last, dtype=np.int32), counts)
        inside = np.flatnonzero(arrays.outcome_state >= 0)
        source, target = source[inside], arrays.outcome_state[inside]
        for reached in self._reached:
            self.marks[target[reached[source] != reached[target]]] = True

    def _ask(self, states: NDArray[np.int32], n: int) -> None:
        """Ask for the progress of the states that are new."""
        room = len(self.marks)
        if n > room:
            more = max(2 * room, n) - room
            self._reached = [np.append(old, np.empty(more, np.int64)) for old in self._reached]
            self.marks = np.append(self.marks, np.zeros(more, np.bool_))
        if n > self._n:
            for reached, part in zip(self._reached, self._parts, strict=True):
                reached[self._n : n] = asked(self._rules, states[self._n : n], part)
        self._n = n


def _outcomes_of_states(arrays: Arrays) -> NDArray[np.int64]:
    """How many outcomes each state has: (n_states,) int64."""
    ends = arrays.outcome_indptr[arrays.action_indptr]
    if arrays.throws is not None:
        ends = ends[arrays.throws.situation_indptr]
    counts: NDArray[np.int64] = np.diff(ends)
    return counts
