"""Large games with throws, solved by layers of packed arrays: see `rollwise.kernels.intervals`.

A layer is solved so if every play leaves it, whatever the players do, and if sweeps find its values
soon. Any other layer is solved as a graph: there endless play has the worth that the rules give it,
and chains that are left slowly are solved directly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.layer_answers import report_up_to
from rollwise.answer.layer_folder import LayerFacts
from rollwise.answer.layer_graphs import ByLayer, bytes_of_graph
from rollwise.answer.packed_values import MOST_SWEEPS, PackedValues
from rollwise.builders.arrays import Arrays, lotteries_of, whole
from rollwise.graph import THROW, title_of
from rollwise.graph.lotteries import Lotteries
from rollwise.kernels.chances import UNIT, are_whole, scale
from rollwise.kernels.intervals import Weights, mark_ending, sweep_intervals
from rollwise.machine import memory_limits
from rollwise.machine.pipeline import Source, Stage, pipeline

if TYPE_CHECKING:
    from rollwise.answer.layer_answers import LayerAnswers
    from rollwise.builders.by_layer import Layers, PackedLayer
    from rollwise.builders.rules import Rules

WORTHWHILE = 20_000_000  # outcomes: fewer are solved as graphs, which bounds less widely
NEAR = 4e-11  # how far bounds may be apart, for each point that is played for
MOST_CLAIMS = 50  # sweeps in which claimed bounds are widened until they hold
LARGE = 10_000_000  # positions: while such a layer is solved, the next one isn't built
SMALL = 2.0**-900  # points that are played for: products of fewer are too small for doubles
SPARE = 1.01  # times a limit: claimed bounds may exceed the values that they enclose
NO_BOUNDS = np.empty((0, 2))

Progress = Callable[[str, int, int | None], None]


def can_be_packed(rules: Rules) -> bool:
    """Whether all values lie within the payoffs, so that bounds are known to begin with."""
    return (
        rules.has_throws
        and rules.pool is None
        and rules.game.objective == "win"
        and not rules.has_reward
    )


def are_packed(layers: Layers) -> bool:
    """Whether layers are solved as packed arrays, and not as graphs."""
    return can_be_packed(layers.rules) and layers.n_outcomes > WORTHWHILE


def held_at_once(layers: Layers) -> int:
    """How many packed layers are in memory: the one that is solved and, unless large, the next."""
    return 1 if np.diff(layers.indptr).max() > LARGE else 2


class Packed:
    """A game on its way from packed layers to values.

    Attributes
    ----------
    seconds : dict of float
    """

    def __init__(self, layers: Layers, answers: LayerAnswers, progress: Progress | None) -> None:
        self._layers, self._answers, self._progress = layers, answers, progress
        self._graphs = ByLayer(layers, answers, progress, iter(()))
        self._seconds = {"build": 0.0, "solve": 0.0}
        self._bench = Lock()  # packed layers and graphs are built in the same place

    @property
    def seconds(self) -> dict[str, float]:
        """What was spent so far."""
        by_graphs = {stage: spent for stage, spent in self._graphs.seconds.items() if spent}
        return {
            stage: self._seconds.get(stage, 0.0) + by_graphs.get(stage, 0.0)
            for stage in {**self._seconds, **by_graphs}
        }

    def run(self) -> None:
        """Find the values of all positions, and bounds of their errors."""
        stages = [Stage(self._solve, second=0)]
        pipeline(Source(self._built(), first=0), stages, most_at_once=held_at_once(self._layers))

    def _built(self) -> Iterator[PackedLayer]:
        last_first = self._layers.packed_last_first(self._answers.known)
        while True:
            with self._bench:
                began = time.perf_counter()
                layer = next(last_first, None)
                self._seconds["build"] += time.perf_counter() - began
            if layer is None:
                return
            yield layer
            del layer  # before the next one is built

    def _solve(self, layer: PackedLayer) -> None:
        began = time.perf_counter()
        bounds = self._proved(layer)
        begin, end = layer.begin, layer.end
        if bounds is None:
            self._seconds["solve"] += time.perf_counter() - began
            layer.blocks.clear()
            self._solve_as_graph(begin, end)
            return
        low, high = bounds.T
        values = 0.5 * (low + high)
        off = np.nextafter(np.maximum(high - values, values - low), np.inf)
        at, answers = self._answers.at(begin, end), self._answers
        answers.values[at], answers.error_bounds[at], answers.actions[at] = values, off, THROW
        answers.count(begin, _facts(layer), {})
        answers.prove(begin, end)
        del bounds, low, high, values, off
        self._seconds["solve"] += time.perf_counter() - began
        report_up_to(self._progress, "solving", self._layers, end)

    def _proved(self, layer: PackedLayer) -> NDArray[np.float64] | None:
        """Close bounds of the positions of a layer: (n, 2). None if it needs a graph."""
        lotteries, off = lotteries_of(layer.arrays), self._answers.bounds_of(layer.border)
        most = max(
            float(np.abs(lotteries.payoff[lotteries.over]).max(initial=0.0)),
            float((np.abs(self._answers.values_of(layer.border)) + off).max(initial=0.0)),
        )
        sweeps = BoundSweeps(layer, lists_of(layer.arrays), weights_of(layer.arrays), SPARE * most)
        if not (most == 0.0 or most >= SMALL) or not sweeps.every_play_ends():
            return None
        near = NEAR * most + 2.0 * float(off.max(initial=0.0))
        del off
        return sweeps.bounds[: sweeps.n] if self._claim(sweeps, most) <= near else None

    def _claim(self, sweeps: BoundSweeps, most: float) -> float:
        """Find values, claim bounds around them and prove these; how far they are then apart.

        The values are found with no bounds in memory.
        """
        layer, answers, n = sweeps.layer, self._answers, sweeps.n
        found = PackedValues(
            layer,
            sweeps.lists,
            sweeps.lotteries,
            answers.values_of(layer.border),
            most,
            lambda: not self._bench.locked(),
        )
        if not found.can_be_found or not found.find():
            return np.inf
        rounding = sweeps.rounding()
        values, off = found.likely_errors(rounding, answers.bounds_of(layer.border))
        del found
        sweeps.bounds = self._bounds(layer)
        np.subtract(values, off, out=sweeps.bounds[:n, 0])
        np.add(values, off, out=sweeps.bounds[:n, 1])
        del values, off
        for _ in range(MOST_CLAIMS):
            apart, n_broken = sweeps.sweep(0.25 * rounding)
            if not n_broken:
                return apart if sweeps.are_within_limits() else np.inf
        return np.inf

    def _bounds(self, layer: PackedLayer) -> NDArray[np.float64]:
        """Room for the bounds of a layer, and behind it those of the border: (n, 2)."""
        n = layer.end - layer.begin
        bounds = np.empty((n + len(layer.border), 2))
        values, off = self._answers.values_of(layer.border), self._answers.bounds_of(layer.border)
        low, high = bounds[n:].T
        np.nextafter(np.subtract(values, off, out=low), -np.inf, out=low)
        np.nextafter(np.add(values, off, out=high), np.inf, out=high)
        return bounds

    def _solve_as_graph(self, begin: int, end: int) -> None:
        """Solve and prove a layer as a graph.

        Raises
        ------
        EndlessPlay
            The players can go round for ever, and the rules say no worth of that.
        TooLittleMemory
        """
        layers, game = self._layers, self._layers.rules.game
        memory_limits.require(
            bytes_of_graph(layers, end - begin),
            f"a layer of {title_of(game.name, game.parameters)} with {end - begin:,} positions, "
            "which play leaves slowly, or need not leave,",
        )
        pieces = layers.pieces(self._answers.layer_of(begin), begin, end)
        while True:
            with self._bench:
                piece = next(pieces, None)
            if piece is None:
                return
            self._graphs.solve(piece)
            self._graphs.prove(piece)


def _facts(layer: PackedLayer) -> LayerFacts:
    """What is counted of a layer."""
    lotteries = lotteries_of(layer.arrays)
    blocks = [block for _, block in layer.blocks]
    return LayerFacts(
        sum(len(block.lottery) for block in blocks),
        sum(len(block.next_state) for block in blocks),
        sum(array.nbytes for block in blocks for array in block),
        lotteries.has_draws(),
        lotteries.has_stakes(),
    )


class BoundSweeps:
    """Sweeps that check the bounds of a layer, the last block first.

    Parameters
    ----------
    layer : PackedLayer
    lists, lotteries : Weights
    most : float
        No bound that is finite is further from 0, and no payoff.
    more : float
        What a turn brings, besides what it leads to.

    Attributes
    ----------
    n : int
        Positions of the layer.
    bounds : (at least n, 2) float64
        See `rollwise.kernels.intervals.sweep_intervals`. There are none until they are set.
    """

    def __init__(
        self,
        layer: PackedLayer,
        lists: Weights,
        lotteries: Weights,
        most: float,
        more: float = 0.0,
    ) -> None:
        self.layer, self.n, self.bounds = layer, layer.end - layer.begin, NO_BOUNDS
        self.lists, self.lotteries = lists, lotteries
        self._most, self._more = most, more

    def every_play_ends(self) -> bool:
        """Whether every play leaves the layer, whatever the players do, as far as is soon seen."""
        return not len(self.staying(MOST_SWEEPS))

    def staying(self, most_sweeps: float = np.inf) -> NDArray[np.int64]:
        """The positions of the layer from which players can stay in it for ever.

        After so many sweeps, all from which play wasn't seen to leave.
        """
        ending = np.zeros(self.n, np.bool_)
        lists, lotteries = self.lists.indptr, self.lotteries.indptr
        left, marked, sweep = self.n, 1, 0
        while left and marked and sweep < most_sweeps:
            sweep += 1
            marked = sum(
                mark_ending(place, block, lists, lotteries, ending)
                for place, block in reversed(self.layer.blocks)
            )
            left -= marked
        return np.flatnonzero(~ending)

    def are_within_limits(self) -> bool:
        """Whether no bound is further from 0 than was said."""
        return float(max(self.bounds.max(), -self.bounds.min())) <= self._most

    def rounding(self) -> float:
        """By how much a bound is moved outward in a sweep, at most."""
        return self._most * float(self.lists.error.max() + self.lotteries.error.max())

    def sweep(self, extra: float) -> tuple[float, int]:
        """One sweep: how far bounds are apart at most, and how many were broken."""
        widest, n_broken = 0.0, 0
        for begin, block in reversed(self.layer.blocks):
            apart, broken = sweep_intervals(
                begin,
                block,
                self.lists,
                self.lotteries,
                self._more,
                self._most,
                extra,
                self.bounds,
            )
            widest, n_broken = max(widest, apart), n_broken + broken
        return widest, n_broken


def lists_of(arrays: Arrays) -> Weights:
    """The lists of throws of a layer."""
    throws = arrays.throws
    assert throws is not None
    nothing = np.zeros(len(throws.weight))
    no, reward = nothing.astype(np.bool_), np.zeros(len(throws.indptr) - 1)
    return _of(Lotteries(throws.indptr, reward, whole(throws.weight), no, no, nothing))


def weights_of(arrays: Arrays) -> Weights:
    """The lotteries of a layer."""
    return _of(lotteries_of(arrays))


def _of(lotteries: Lotteries) -> Weights:
    """Lotteries with the errors of their means, as `rollwise.kernels.chances` counts them."""
    indptr, sizes = lotteries.indptr.copy(), np.diff(lotteries.indptr)
    weight, normal = scale(lotteries)
    are_exact = are_whole(lotteries)
    total = np.add.reduceat(lotteries.weight if are_exact else weight, indptr[:-1])
    steps = np.where(normal, sizes + 5 if are_exact else 2 * sizes + 9, np.inf)
    return Weights(
        indptr,
        weight,
        total.astype(np.float64),
        steps * (1.0 + 1e-12) * UNIT,
        lotteries.payoff,
        lotteries.passes,
    )
