"""The search for bounds of the errors of a layer's values: see `rollwise.engine.sweeps`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rollwise.engine import sweeps
from rollwise.engine.search import Search
from rollwise.layers import Block, Layer

# How much room there is over e, and how close the fixed point is: the first nearly always does.
TRIES = ((0.25, 1e-9), (0.25, 1e-12), (1.0, 1e-14), (16.0, 1e-15))
ROOM = 4.0  # times the distance from the fixed point
SMALL = 1e-9  # bounds, in relation to the largest value

Floats = NDArray[np.float64]


class BoundsSearch:
    """The search for bounds that are likely to hold.

    Parameters
    ----------
    values : (n_places,) float64
        From any method; they may be found while the search goes on, ahead of it.
    border_bounds : (n_border,) float64
    number : int
        Which try this is, of `TRIES`.
    before : float
        The largest bound of the try before. The search ends a little beside the fixed point; this
        may break the bound of a position that brings no error of its own, so each brings that much.
    is_free : callable
        Whether a core is free, besides this one.

    Attributes
    ----------
    bounds : (n,) float64
        By place.
    residual : float
        The largest distance of a value from its own look ahead.
    """

    def __init__(
        self,
        layer: Layer,
        values: Floats,
        border_bounds: Floats,
        number: int = 0,
        before: float = 0.0,
        is_free: Callable[[], bool] = lambda: True,
    ) -> None:
        self._slack, tolerance = TRIES[number]
        self._layer, self._values = layer, values
        self._errors = sweeps.errors_for(layer, border_bounds)
        self.bounds: Floats = self._errors.bound[: layer.n]
        self.residual, self._least = 0.0, self._size(slice(layer.n, None))
        self._extra = ROOM * tolerance * before
        self._search = Search(layer, values, self._errors, tolerance, is_free)
        self._done = 0

    def run(self, progress: Callable[[int], None] | None = None) -> BoundsSearch:
        """Search until all is found: see `Search.run`."""
        self._least = max(self._least, self._size(slice(0, self._layer.n)))
        for place, block in self._layer.blocks:
            self._measure(place, block, 0, len(block.throws))
        self._search.run(progress)
        return self

    def advance(self, stop: int) -> None:
        """Go on to the component `stop`, in whose positions the values are known."""
        parts, n, (_, block) = self._layer.parts, self._layer.n, self._layer.blocks[0]
        assert parts is not None
        low, high = n - int(parts.ends[stop]), n - int(parts.ends[self._done])
        self._least = max(self._least, self._size(slice(low, high)))
        self._measure(0, block, low, high)
        self._search.advance(stop)
        self._done = stop

    def _size(self, places: slice) -> float:
        """The largest value of some places, in size."""
        sizes = np.abs(self._values[places])
        return SMALL * float(sizes[np.isfinite(sizes)].max(initial=0.0))

    def _measure(self, place: int, block: Block, low: int, high: int) -> None:
        rest = self._slack, self._least, self._values, self._errors.off
        off = sweeps.measure(place, low, high, block, self._layer.tables, *rest)
        self.residual = max(self.residual, off)
        self._errors.off[place + low : place + high] += self._extra
