"""The search for bounds of the errors of a layer's values: see `rollwise.engine.sweeps`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rollwise.engine import sweeps
from rollwise.engine.search import Search
from rollwise.layers import Layer

# How much room there is over e, and how close the fixed point is: the first nearly always does.
TRIES = ((0.25, 1e-3), (0.25, 1e-9), (1.0, 1e-14), (16.0, 1e-15))
SMALL = 1e-9  # bounds, in relation to the largest value

Floats = NDArray[np.float64]


def likely_bounds(
    layer: Layer,
    values: Floats,
    border_bounds: Floats,
    number: int,
    is_free: Callable[[], bool] = lambda: True,
) -> Floats:
    """Bounds that are likely to hold: (n,) by place.

    Parameters
    ----------
    values : (n_places,) float64
        From any method.
    border_bounds : (n_border,) float64
    number : int
        Which try this is, of `TRIES`.
    """
    slack, tolerance = TRIES[number]
    errors = sweeps.errors_for(layer, border_bounds)
    least = SMALL * float(np.abs(values).max())
    for place, block in layer.blocks:
        rows = len(block.throws)
        sweeps.measure(place, 0, rows, block, layer.tables, slack, least, values, errors.off)
    Search(layer, values, errors, tolerance, is_free).run()
    bounds: Floats = errors.bound[: layer.n]
    return bounds
