"""The answer of a layer: values from the engine, and bounds that the proof believes.

Bounds are searched as the values are, and proved by one sweep. A layer without cycles needs no
search for bounds: one sweep of the proof encloses its values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.engine import sweeps
from rollwise.engine.bounds import TRIES, BoundsSearch
from rollwise.engine.search import Search
from rollwise.layers import Layer, has_no_cycle
from rollwise.machine.pipeline import Source, Stage, pipeline
from rollwise.proofs import layers as proof

PIECES = 16  # of the work of two cores
WORTHWHILE = 100_000  # outcomes, for two of them

Floats = NDArray[np.float64]


class Proved(NamedTuple):
    """Proved bounds.

    Attributes
    ----------
    bounds : (n,) float64
        Of the errors of values, by place.
    residual : float
        The largest distance of a value from its own look ahead; NaN where nobody measured it.
    """

    bounds: Floats
    residual: float


def values_of(
    layer: Layer, border_values: Floats, is_free: Callable[[], bool] = lambda: True
) -> Floats:
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


def solved(
    layer: Layer,
    border_values: Floats,
    border_bounds: Floats,
    progress: Callable[[int], None] | None = None,
) -> tuple[Search, BoundsSearch]:
    """Solve a layer in solving order; bounds follow behind the values, on the second core.

    Parameters
    ----------
    border_values, border_bounds : (n_border,) float64
    progress : callable, optional
        Called now and then with the number of positions that have their values.
    """
    values = sweeps.values_for(layer, border_values)
    search, bounding = Search(layer, values), BoundsSearch(layer, values, border_bounds)
    parts, first = layer.parts, layer.blocks[0][1].first[:, 2]
    assert parts is not None
    outcomes = layer.n_outcomes - first[layer.n - parts.ends].astype(np.int64)  # up to each
    pieces = np.linspace(0, layer.n_outcomes, PIECES + 1)[1:]
    stops = np.unique(np.minimum(np.searchsorted(outcomes, pieces), len(parts.n_feedback)))
    pipeline(
        Source(iter(stops.tolist()), first=1),
        [
            Stage(lambda stop: search.advance(stop, progress), first=0),
            Stage(bounding.advance, second=0),
        ],
        on_two_cores=layer.n_outcomes > WORTHWHILE,
    )
    return search, bounding


def bounds_of(
    layer: Layer,
    values: Floats,
    border_values: Floats,
    border_bounds: Floats,
    is_free: Callable[[], bool] = lambda: True,
    believes: Callable[[Floats], bool] | None = None,
    progress: Callable[[int], None] | None = None,
    begun: BoundsSearch | None = None,
) -> Proved | None:
    """Proved bounds of the errors of values. None where none could be proved.

    Every play must leave the layer (`rollwise.proofs.layers.staying`), unless somebody
    else proves the bounds.

    Parameters
    ----------
    values : (n,) float64
        By place, from any method.
    border_values, border_bounds : (n_border,) float64
    is_free : callable
        Whether a core is free, besides this one.
    believes : callable, optional
        Whether bounds, by place, are proved; by default `is_proved`.
    progress : callable, optional
        Called now and then with the number of positions that are done.
    begun : BoundsSearch, optional
        The first try, if it was run.
    """
    border = border_values, border_bounds
    if believes is None:
        if has_no_cycle(layer):
            return Proved(enclosed(layer, values, *border), np.nan)

        def believes(bounds: Floats) -> bool:
            return is_proved(layer, values, bounds, *border)

    if not np.all(np.isfinite(values)):
        return None
    nothing = np.zeros(layer.n)
    if not values.any() and believes(nothing):
        return Proved(nothing, 0.0)  # where nothing is at stake
    before = 0.0
    for number in range(len(TRIES)):
        if begun is None or number:
            known = sweeps.values_for(layer, border_values)
            known[: layer.n] = values
            search = BoundsSearch(layer, known, border_bounds, number, before, is_free)
            begun = search.run(progress)
        bounds = begun.bounds
        if np.all(np.isfinite(bounds)):
            if believes(bounds):
                return Proved(bounds, begun.residual)
            before = float(bounds.max())
    return None


def enclosed(layer: Layer, values: Floats, border_values: Floats, border_bounds: Floats) -> Floats:
    """Proved bounds of values of a layer without cycles, by one sweep: (n,) by place."""
    nothing = np.zeros(layer.n)
    intervals = proof.claims(layer, nothing, nothing, border_values, border_bounds)
    for place, block in reversed(layer.blocks):
        proof.sweep(place, block, layer.tables, intervals, True, proof.NOBODY)
    low, high = intervals[: layer.n].T
    off = np.maximum(values - low, high - values)
    return np.where(off == 0.0, 0.0, np.nextafter(off, np.inf))


def is_proved(
    layer: Layer, values: Floats, bounds: Floats, border_values: Floats, border_bounds: Floats
) -> bool:
    """Whether the proof believes values and bounds of their errors: (n,) float64, by place."""
    return proof.holds(layer, proof.claims(layer, values, bounds, border_values, border_bounds))
