"""What is known of the layers of a game while they are solved: in memory, or in a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.layer_folder import LayerFacts, LayerFolder, Rows

if TYPE_CHECKING:
    from rollwise.builders.by_layer import Layers

Report = Callable[[str, int, "int | None"], None]
MOST_AT_ONCE = 3  # pieces of layers that are built and not yet proved


class LayerAnswers:
    """The values of the states, their bounds and the best actions, layer by layer.

    Parameters
    ----------
    layers : Layers
    folder : LayerFolder, optional
        Where they are kept. Layers that are proved there aren't solved again.
    rows : tuple of arrays, optional
        The values, bounds and actions, where they aren't those of the folder.
    only_start : bool
        Nothing is kept but the answer of the start, and what layers need that aren't solved yet.

    Attributes
    ----------
    values, error_bounds : (room,) float64
        Of all states. Where only the start is kept, of as many as are needed at once: the state s
        is at ``s % room``.
    actions : (room,) int32
    folder : LayerFolder or None
    known : frozenset of int
        The layers that were proved before.
    first_rows : dict of list of int
        Where actions come up that `action_text` may name (`rollwise.builders.arrays.first_rows`).
    """

    def __init__(
        self,
        layers: Layers,
        folder: LayerFolder | None = None,
        *,
        rows: Rows | None = None,
        only_start: bool = False,
    ) -> None:
        self._indptr, self.folder = layers.indptr, folder
        self._start = layers.start
        self.at_start: tuple[float, float, int] | None = None
        self._facts: dict[int, LayerFacts] = {}
        self.first_rows: dict[int, list[int]] = {}
        self.known: frozenset[int] = frozenset()
        if folder is None:
            n = needed_at_once(layers) if only_start else layers.n_states
            found = rows or (np.empty(n), np.empty(n), np.empty(n, np.int32))
            self.values, self.error_bounds, self.actions = found
            return
        self.values, self.error_bounds, self.actions = folder.rows
        self.known = frozenset(folder.proved)
        self._facts |= {layer: facts for layer, (_, facts) in folder.proved.items()}
        self.first_rows |= folder.first_rows

    def values_of(self, states: NDArray[np.int32]) -> NDArray[np.float64]:
        """The values of states, by their numbers."""
        found: NDArray[np.float64] = self.values[states % len(self.values)]
        return found

    def bounds_of(self, states: NDArray[np.int32]) -> NDArray[np.float64]:
        """The error bounds of states, by their numbers."""
        found: NDArray[np.float64] = self.error_bounds[states % len(self.values)]
        return found

    def at(self, begin: int, end: int) -> Any:
        """Where the answers of some states are, one after the other."""
        room = len(self.values)
        first = begin % room
        if first + end - begin <= room:
            return slice(first, first + end - begin)
        return np.arange(begin, end) % room

    @property
    def facts(self) -> LayerFacts:
        """What is counted of all layers so far."""
        return LayerFacts.of(self._facts.values())

    def count(self, begin: int, facts: LayerFacts, first: Mapping[int, list[int]]) -> None:
        """Count what is in the layer of a state, or in a part of it."""
        layer = self.layer_of(begin)
        self._facts[layer] = LayerFacts.of([self._facts.get(layer, LayerFacts()), facts])
        self.first_rows = {**first, **self.first_rows}

    def prove(self, begin: int, end: int) -> None:
        """Note that these states, of one layer, have their proved values."""
        layer = self.layer_of(begin)
        if begin <= self._start < end:
            at = self._start % len(self.values)
            value, bound = float(self.values[at]), float(self.error_bounds[at])
            self.at_start = value, bound, int(self.actions[at])
        if self.folder is not None and end == self._indptr[layer + 1]:
            self.folder.keep(layer, self._facts[layer], self.first_rows)

    def read_again(self) -> None:
        """See the rows that others have written into the folder."""
        if self.folder is not None:
            self.folder.map_again()
            self.values, self.error_bounds, self.actions = self.folder.rows

    def close(self) -> None:
        """Write down in the folder what was proved since it was last done."""
        if self.folder is not None and not self.folder.is_written:
            self.folder.write()

    def layer_of(self, state: int) -> int:
        """The layer that a state is in."""
        return int(np.searchsorted(self._indptr, state, side="right")) - 1


def needed_at_once(layers: Layers) -> int:
    """How many states have answers that are needed at once: to solve layers, and to prove them.

    Layers are solved before those behind them are proved, but not by more than a few.
    """
    assert layers.farthest is not None
    n = len(layers)
    most = 0
    for i in range(n):
        last = int(layers.farthest[: min(i + MOST_AT_ONCE, n - 1) + 1].max())
        most = max(most, int(layers.indptr[last + 1] - layers.indptr[i]))
    return most


def report_done(
    progress: Report | None, stage: str, layers: Layers, n_layers: int, n_states: int
) -> None:
    """Tell how many layers are done, and so which is next, and how many of all positions are."""
    if progress is not None:
        n = len(layers)
        progress(
            f"{stage} layer {min(n_layers + 1, n)} of {n}, positions", n_states, layers.n_states
        )


def report_up_to(progress: Report | None, stage: str, layers: Layers, end: int) -> None:
    """Tell that a layer is done up to a state, and that all layers behind it are."""
    begin, whole = layers.indptr, layers.n_states
    layer = int(np.searchsorted(begin, end)) - 1
    n_layers = len(layers) - layer - (0 if end == begin[layer + 1] else 1)
    n_states = whole - int(begin[layer + 1]) + end - int(begin[layer])
    report_done(progress, stage, layers, n_layers, n_states)
