"""The answer of a layer: values from the engine, and bounds that the proof believes.

Bounds are searched as the values are, and proved by one sweep. A layer without cycles needs no
search for bounds: one sweep of the proof encloses its values.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rollwise.engine import sweeps
from rollwise.engine.bounds import TRIES, likely_bounds
from rollwise.engine.search import Search
from rollwise.layers import Layer, has_no_cycle
from rollwise.proofs import layers as proof

Floats = NDArray[np.float64]


def values_of(layer: Layer, border_values: Floats, is_free: Callable[[], bool]) -> Floats:
    """The values of the positions of a layer, which every play must leave: (n,) by place.

    Parameters
    ----------
    border_values : (n_border,) float64
    is_free : callable
        Whether a core is free, besides this one.
    """
    values = sweeps.values_for(layer, border_values)
    if not has_no_cycle(layer):
        Search(layer, values, is_free=is_free).run()
        return values[: layer.n]
    choices = sweeps.choices_for(layer)
    for (place, block), choice in reversed(list(zip(layer.blocks, choices, strict=True))):
        known = layer.tables, values, sweeps.NO_ERRORS
        sweeps.choose(place, 0, len(block.throws), block, *known, choice)
    return values[: layer.n]


def bounds_of(
    layer: Layer,
    values: Floats,
    border_values: Floats,
    border_bounds: Floats,
    is_free: Callable[[], bool],
) -> Floats | None:
    """Proved bounds of the errors of values: (n,) by place. None where none could be proved.

    Every play must leave the layer (`rollwise.proofs.layers.every_play_ends`).

    Parameters
    ----------
    values : (n,) float64
        By place, from any method.
    border_values, border_bounds : (n_border,) float64
    is_free : callable
        Whether a core is free, besides this one.
    """
    intervals = np.empty((layer.n_places, 2))
    around_border(layer, border_values, border_bounds, intervals)
    here = intervals[: layer.n]
    if has_no_cycle(layer):
        for place, block in reversed(layer.blocks):
            proof.sweep(place, block, layer.tables, intervals, True)
        off = np.maximum(values - here[:, 0], here[:, 1] - values)
        return np.where(off == 0.0, 0.0, np.nextafter(off, np.inf))
    if not np.all(np.isfinite(values)):
        return None
    nothing = np.zeros(layer.n)
    if not values.any() and is_proved(layer, values, nothing, border_values, border_bounds):
        return nothing  # where nothing is at stake
    known = sweeps.values_for(layer, border_values)
    known[: layer.n] = values
    for number in range(len(TRIES)):
        bounds = likely_bounds(layer, known, border_bounds, number, is_free)
        proof.intervals(values, bounds, here, known=False)
        if np.all(np.isfinite(bounds)) and proof.holds(layer, intervals):
            return bounds
    return None


def is_proved(
    layer: Layer, values: Floats, bounds: Floats, border_values: Floats, border_bounds: Floats
) -> bool:
    """Whether the proof believes values and bounds of their errors: (n,) float64, by place."""
    intervals = np.empty((layer.n_places, 2))
    around_border(layer, border_values, border_bounds, intervals)
    proof.intervals(values, bounds, intervals[: layer.n], known=False)
    return proof.holds(layer, intervals)


def around_border(
    layer: Layer, border_values: Floats, border_bounds: Floats, intervals: Floats
) -> None:
    """Fill in the intervals of the border and of the endings."""
    begin, end = layer.n, layer.n + layer.n_border
    proof.intervals(border_values, border_bounds, intervals[begin:end], known=True)
    intervals[end:] = layer.endings[:, None]
