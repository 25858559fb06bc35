"""The answers of a game by layers, as they are found: values, error bounds and actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from rollwise.graph import THROW

Rows = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]


@dataclass(frozen=True)
class LayerFacts:
    """The counts of a layer.

    Attributes
    ----------
    n_actions, n_outcomes : int
    has_draws, has_stakes : bool
    """

    n_actions: int = 0
    n_outcomes: int = 0
    has_draws: bool = False
    has_stakes: bool = False

    @classmethod
    def of(cls, parts: Iterable[LayerFacts]) -> LayerFacts:
        """The counts of all parts together."""
        every = list(parts)
        return cls(
            sum(part.n_actions for part in every),
            sum(part.n_outcomes for part in every),
            any(part.has_draws for part in every),
            any(part.has_stakes for part in every),
        )


class LayerAnswers:
    """The values of the states, their bounds and the best actions, layer by layer.

    Parameters
    ----------
    indptr : (n_layers + 1,) int64
        Layer i has the states from ``indptr[i]`` to ``indptr[i + 1]``.
    start : int
        The number of the start.
    rows : tuple of arrays
        The values, bounds and actions. They have room for all states, or only for those needed at
        once: the state s is at ``s % room``.

    Attributes
    ----------
    values, error_bounds : (room,) float64
    actions : (room,) int32
    at_start : tuple, optional
        The value, bound and action of the start, once it is proved.
    counted : dict of LayerFacts
        The counts of each layer so far, by its number.
    first_rows : dict of list of int
        States with actions for `action_text` to name (`rollwise.builders.arrays.first_rows`).
    known : frozenset of int
        The layers proved before.
    """

    def __init__(self, indptr: NDArray[np.int64], start: int, rows: Rows) -> None:
        self.indptr, self.start = indptr, start
        self.values, self.error_bounds, self.actions = rows
        self.at_start: tuple[float, float, int] | None = None
        self.counted: dict[int, LayerFacts] = {}
        self.first_rows: dict[int, list[int]] = {}
        self.known: frozenset[int] = frozenset()

    @classmethod
    def in_memory(
        cls, indptr: NDArray[np.int64], start: int, room: int, *, has_throws: bool
    ) -> LayerAnswers:
        """Room for the answers of some states."""
        if has_throws:  # one number is the action of all positions
            actions = as_strided(np.full(1, THROW, np.int32), (room,), (0,))
        else:
            actions = np.empty(room, np.int32)
        return cls(indptr, start, (np.empty(room), np.empty(room), actions))

    @property
    def has_all(self) -> bool:
        """Whether the answers of all layers are in memory, so that their proofs can wait."""
        return len(self.values) == int(self.indptr[-1])

    def values_of(self, states: NDArray[np.int32]) -> NDArray[np.float64]:
        """The values of states, by their numbers."""
        values: NDArray[np.float64] = self.values[states % len(self.values)]
        return values

    def bounds_of(self, states: NDArray[np.int32]) -> NDArray[np.float64]:
        """The error bounds of states, by their numbers."""
        bounds: NDArray[np.float64] = self.error_bounds[states % len(self.values)]
        return bounds

    def at(self, begin: int, end: int) -> Any:
        """The places of the answers of some consecutive states."""
        room = len(self.values)
        # answers of states lie in a ring: the range may go round its end
        first = begin % room
        if first + end - begin <= room:
            return slice(first, first + end - begin)
        return np.arange(begin, end) % room

    @property
    def facts(self) -> LayerFacts:
        """The counts of all layers so far."""
        return LayerFacts.of(self.counted.values())

    def count(self, begin: int, facts: LayerFacts, first: Mapping[int, list[int]]) -> None:
        """Add the counts of a layer, or of a part of it; `begin` is one of its states."""
        layer = self.layer_of(begin)
        self.counted[layer] = LayerFacts.of([self.counted.get(layer, LayerFacts()), facts])
        self.first_rows = {**first, **self.first_rows}

    def prove(self, begin: int, end: int) -> None:
        """Record that these states of one layer are proved."""
        if begin <= self.start < end:
            at = self.start % len(self.values)
            value, bound = float(self.values[at]), float(self.error_bounds[at])
            self.at_start = value, bound, int(self.actions[at])

    def close(self) -> None:
        """Bring all proved layers to the disk, if they have a folder."""

    def layer_of(self, state: int) -> int:
        """The layer of a state."""
        return int(np.searchsorted(self.indptr, state, side="right")) - 1
