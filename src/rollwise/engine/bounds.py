"""Error bounds of a layer's values: a search finds candidates, and one sweep proves them.

`rollwise.engine.sweeps` gives the recursion of the bounds. A layer without cycles needs no search:
one sweep of the proof encloses its values. Only `rollwise.proofs.layers` has to be right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.engine import sweeps
from rollwise.engine.search import Search
from rollwise.layers import Layer, has_no_cycle
from rollwise.machine.pipeline import Source, Stage, on_both_cores, pipeline
from rollwise.proofs import layers as proof

# room over e and closeness to the fixed point; the first try nearly always succeeds
TRIES = ((0.25, 1e-6), (0.25, 1e-9), (0.25, 1e-12), (1.0, 1e-14), (16.0, 1e-15))
ROOM = 4.0  # times the distance from the fixed point
SMALL = 1e-9  # bounds, in relation to the largest value
MORE = 0.125  # of its local error, for a bound without a proof
FEW, MOST_MENDS = 1e-3, 8  # share of such bounds, and proofs after which the search is repeated

PIECES = 16  # of the positions, for two cores
WORTHWHILE = 100_000  # outcomes, for two of them

Floats = NDArray[np.float64]
Border = tuple[Floats, Floats]  # values and bounds of their errors: (n_border,) each


class BoundsSearch:
    """The search for candidate bounds.

    Parameters
    ----------
    values : (n_places,) float64
        From any method. They may be filled in during the search, ahead of it.
    border_bounds : (n_border,) float64
    number : int
        The index of the try in `TRIES`.
    before : float
        The largest bound of the previous try. The search ends slightly beside the fixed point.
        This may violate the bound of a position that adds no error of its own, so each position
        adds this amount.
    is_free : callable
        Whether another core is free.

    Attributes
    ----------
    values : (n_places,) float64
    bounds : (n,) float64
        By place.
    off : (n,) float64
        The local error of each value.
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
        self._layer, self.values = layer, values
        found = np.zeros(layer.n_places)
        found[layer.n : layer.n + layer.n_border] = border_bounds
        self.residual, self._largest = 0.0, self._size(slice(layer.n, None))
        size = max(self._largest, float(np.abs(layer.tables.reward).max(initial=0.0)))
        self._errors = sweeps.errors_for(layer, size)
        self.bounds: Floats = found[: layer.n]
        self.off: Floats = self._errors[0].off
        self._extra = ROOM * tolerance * before
        spreading = replace(layer, tables=sweeps.tables_of_errors(layer.tables))
        self._search = Search(spreading, found, self._errors, tolerance, is_free)
        self._done = 0

    def run(self, progress: Callable[[int], None] | None = None) -> BoundsSearch:
        """Run the whole search: see `Search.run`."""
        self._largest = max(self._largest, self._size(slice(0, self._layer.n)))
        for number, (_, block) in enumerate(self._layer.blocks):
            self._measure(number, 0, len(block.throws))
        self._search.run(progress)
        return self

    def advance(self, stop: int) -> None:
        """Search up to the component `stop`. The values up to there must be known."""
        parts, n = self._layer.parts, self._layer.n
        assert parts is not None
        low, high = n - int(parts.ends[stop]), n - int(parts.ends[self._done])
        self._largest = max(self._largest, self._size(slice(low, high)))
        self._measure(0, low, high)
        self._search.advance(stop)
        self._done = stop

    def _size(self, places: slice) -> float:
        """The largest absolute value of some places."""
        sizes = np.abs(self.values[places])
        return float(sizes[np.isfinite(sizes)].max(initial=0.0))

    def _measure(self, number: int, low: int, high: int) -> None:
        (place, block), errors = self._layer.blocks[number], self._errors[number]
        rest = self._slack, SMALL * self._largest, self.values, errors
        residual = sweeps.measure(place, low, high, block, self._layer.tables, *rest)
        self.residual = max(self.residual, residual)
        errors.off[place + low : place + high] += self._extra


class Proved(NamedTuple):
    """Proved bounds.

    Attributes
    ----------
    bounds : (n,) float64
        Error bounds of the values, by place.
    residual : float
        The largest distance of a value from its own look ahead; NaN if it was not measured.
    """

    bounds: Floats
    residual: float


def values_of(
    layer: Layer, border_values: Floats, is_free: Callable[[], bool] = lambda: True
) -> Floats:
    """The values of a layer in which play cannot stay forever: (n,) by place.

    Parameters
    ----------
    border_values : (n_border,) float64
    is_free : callable
        Whether another core is free.
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
    prepare: Callable[[int], object] = int,
    find: Callable[[int], int] | None = None,
) -> tuple[Search, BoundsSearch]:
    """Solve a layer in solving order. The bounds follow behind the values, on two cores.

    Parameters
    ----------
    border_values, border_bounds : (n_border,) float64
    progress : callable, optional
        Called at intervals with the number of solved positions.
    prepare : callable, optional
        Called before components are solved, with the first unsolved component.
    find : callable, optional
        Finds the components of the layer (`rollwise.layers.Ordering.find`), if they are not known.
    """
    values = sweeps.values_for(layer, border_values)
    search, bounding = Search(layer, values), BoundsSearch(layer, values, border_bounds)
    assert layer.parts is not None
    is_large = layer.n_outcomes > WORTHWHILE
    pieces = np.linspace(0, layer.n, PIECES + 1 if is_large else 2)[1:]
    ends = layer.parts.ends
    find = find or (lambda n: int(np.searchsorted(ends, n)))
    # While values of one piece are found, bounds of earlier ones follow.
    pipeline(
        Source(map(find, pieces.astype(np.int64).tolist()), first=0, second=0),
        [
            Stage(prepare, first=2, second=1),
            Stage(lambda stop: search.advance(stop, progress), first=1),
            Stage(bounding.advance, first=3, second=2),
        ],
        on_two_cores=is_large,
    )
    return search, bounding


def bounds_of(
    layer: Layer,
    values: Floats,
    border: Border,
    is_free: Callable[[], bool] = lambda: True,
    believes: Callable[[Floats], bool] | None = None,
    progress: Callable[[int], None] | None = None,
    begun: BoundsSearch | None = None,
    encloses: bool = True,
) -> Proved | None:
    """Proved error bounds of values; None if the proof fails.

    Every play must leave the layer (`rollwise.proofs.layers.staying`), unless `believes` proves
    the bounds.

    Parameters
    ----------
    values : (n,) float64
        By place, from any method.
    border : Border
    is_free : callable
        Whether another core is free.
    believes : callable, optional
        Whether bounds, by place, are proved. The default is `rollwise.proofs.layers`.
    progress : callable, optional
        Called at intervals with the number of finished positions.
    begun : BoundsSearch, optional
        The first try, if it has been run.
    encloses : bool
        Whether values of a layer without cycles are enclosed by one sweep.
    """
    if believes is None and encloses and has_no_cycle(layer):
        return Proved(enclosed(layer, values, border), np.nan)

    def holds(bounds: Floats, off: Floats) -> bool:
        if believes is not None:
            return believes(bounds)
        return mended(layer, values, bounds, border, off, is_free)

    if not np.all(np.isfinite(values)):
        return None
    if not values.any():
        nothing = np.zeros(layer.n)
        if holds(nothing, nothing):
            return Proved(nothing, 0.0)  # all values are zero
    before = 0.0
    # After a failed proof the next try comes closer to the fixed point, or has more room.
    for number in range(len(TRIES)):
        if begun is None:
            known = sweeps.values_for(layer, border[0])
            known[: layer.n] = values
            begun = BoundsSearch(layer, known, border[1], number, before, is_free).run(progress)
            del known
        bounds, off, residual = begun.bounds, begun.off, begun.residual
        begun = None  # frees its gaps and choices before the proof
        if np.all(np.isfinite(bounds)):
            if holds(bounds, off):
                return Proved(bounds, residual)
            before = float(bounds.max())
    return None


def enclosed(layer: Layer, values: Floats, border: Border) -> Floats:
    """Proved bounds of values of a layer without cycles, by one sweep: (n,) by place."""
    nothing = np.zeros(layer.n)
    intervals = proof.claims(layer, nothing, nothing, *border)
    # A sweep replaces each interval by the one that its targets imply; the targets come first.
    for place, block in reversed(layer.blocks):
        proof.sweep(place, block, layer.tables, intervals, True, proof.NOBODY)
    # The distance from the farther end, rounded up. An exact value has the bound 0.
    low, high = intervals[: layer.n].T
    off = np.maximum(values - low, high - values)
    return np.where(off == 0.0, 0.0, np.nextafter(off, np.inf))


def mended(
    layer: Layer,
    values: Floats,
    bounds: Floats,
    border: Border,
    off: Floats,
    is_free: Callable[[], bool] = lambda: True,
) -> bool:
    """Whether the proof accepts values and bounds, where a few bounds may grow.

    In a layer of millions of positions rounding may exceed its usual share in one of them. A small
    growth of this bound is cheaper than another search. The bounds of the positions that lead
    there have room for it.

    Parameters
    ----------
    values : (n,) float64
        By place.
    bounds : (n,) float64, changed
    off : (n,) float64
        The local errors.
    is_free : callable
        Whether another core is free.
    """
    cut, each = layer.cut(), on_both_cores if is_free() else map
    for _ in range(MOST_MENDS):
        claimed = proof.claims(layer, values, bounds, *border)
        weak = proof.unproved(cut, claimed, each)
        if not len(weak):
            return True
        if len(weak) > 1 + FEW * layer.n or not off[weak].all():
            return False
        bounds[weak] += MORE * off[weak]
    return False
