"""What is known of the layers of a game while they are solved: in memory, or in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rollwise.answer.layer_folder import LayerFacts, LayerFolder, Rows
from rollwise.builders.progress import Numbers, behind

if TYPE_CHECKING:
    from rollwise.builders.by_layer import Layers


class LayerAnswers:
    """The values of the states, their bounds and the best actions, layer by layer.

    Parameters
    ----------
    layers : Layers
    folder : LayerFolder, optional
        Where they are kept. Layers that are proved there aren't solved again.
    rows : tuple of arrays, optional
        The values, bounds and actions, where they aren't those of the folder.

    Attributes
    ----------
    values, error_bounds : (n_states,) float64
    actions : (n_states,) int32
    folder : LayerFolder or None
    known : frozenset of int
        The layers that were proved before.
    names : dict of str
        What actions are called, by their numbers.
    """

    def __init__(
        self, layers: Layers, folder: LayerFolder | None = None, *, rows: Rows | None = None
    ) -> None:
        self._indptr, self.folder = layers.indptr, folder
        self._progress = layers.progress
        self._facts: dict[int, LayerFacts] = {}
        self.names: dict[int, str] = {}
        self.known: frozenset[int] = frozenset()
        if folder is None:
            n = len(layers.states)
            found = rows or (np.empty(n), np.empty(n), np.empty(n, np.int32))
            self.values, self.error_bounds, self.actions = found
            return
        self.values, self.error_bounds, self.actions = folder.rows
        self.known = frozenset(folder.proved)
        self._facts |= {layer: facts for layer, (_, facts) in folder.proved.items()}
        self.names |= folder.names

    @property
    def facts(self) -> LayerFacts:
        """What is counted of all layers so far."""
        return LayerFacts.of(self._facts.values())

    def most_behind(self, layer: int) -> float:
        """The largest payoff of the layers to which one may lead."""
        return most_behind(self._progress, layer, self._facts)

    def count(self, begin: int, facts: LayerFacts, names: Mapping[int, str]) -> None:
        """Count what is in the layer of a state, or in a part of it."""
        layer = self.layer_of(begin)
        self._facts[layer] = LayerFacts.of([self._facts.get(layer, LayerFacts()), facts])
        self.names |= names

    def prove(self, begin: int, end: int) -> None:
        """Note that these states, of one layer, have their proved values."""
        layer = self.layer_of(begin)
        if self.folder is not None and end == self._indptr[layer + 1]:
            self.folder.keep(layer, self._facts[layer], self.names)

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


def most_behind(progress: Numbers, layer: int, known: Mapping[int, LayerFacts]) -> float:
    """The largest payoff of the layers to which one may lead, by what is counted of them."""
    is_behind = behind(progress, layer)
    return max((facts.largest_payoff for i, facts in known.items() if is_behind[i]), default=0.0)
