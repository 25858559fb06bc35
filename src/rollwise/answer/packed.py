"""Large games with throws, solved by layers of packed arrays: see `rollwise.kernels.intervals`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.layer_answers import report_up_to
from rollwise.answer.layer_folder import LayerFacts
from rollwise.answer.packed_values import PackedValues
from rollwise.builders.arrays import Arrays, lotteries_of
from rollwise.errors import EndlessPlay
from rollwise.graph import THROW
from rollwise.kernels.intervals import ROUNDING, Weights, mark_ending, sweep_intervals
from rollwise.machine import large_pages
from rollwise.machine.pipeline import Source, Stage, pipeline

if TYPE_CHECKING:
    from rollwise.answer.layer_answers import LayerAnswers
    from rollwise.builders.by_layer import Layers, PackedLayer
    from rollwise.builders.rules import Rules

WORTHWHILE = 20_000_000  # outcomes: fewer are solved as graphs, which bounds less widely
GOAL = 4e-12  # how far bounds may be apart, for each point that is played for
ELIMINATING = 8  # sweeps after which actions are left out that are worse for certain
MOST_SWEEPS = 100_000
FAR_APART = 1000  # times the goal: bounds that stay so are no answer
NEAR = 10  # times the goal: proved estimates that are so close are an answer
MOST_CLAIMS = 50  # sweeps in which claimed bounds are widened until they hold
STALLED = 200  # sweeps in which bounds come no closer
LARGE = 10_000_000  # positions: while such a layer is solved, the next one isn't built
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
        self.seconds = {"build": 0.0, "solve": 0.0}
        self._most = 0.0  # that play can end with, from the layer on
        self._building = False

    def run(self) -> None:
        """Find the values of all positions, and bounds of their errors."""
        stages = [Stage(self._solve, second=0)]
        pipeline(Source(self._built(), first=0), stages, most_at_once=held_at_once(self._layers))

    def _built(self) -> Iterator[PackedLayer]:
        last_first = self._layers.packed_last_first(self._answers.known)
        while True:
            began, self._building = time.perf_counter(), True
            layer = next(last_first, None)
            self._building = False
            self.seconds["build"] += time.perf_counter() - began
            if layer is None:
                return
            yield layer
            del layer  # before the next one is built

    def _solve(self, layer: PackedLayer) -> None:
        began = time.perf_counter()
        answers = self._answers
        facts = _facts(layer)
        later = answers.most_behind(answers.layer_of(layer.begin))
        self._most = max(later, facts.largest_payoff)
        lists, chances = lists_of(layer.arrays), weights_of(layer.arrays)
        sweeps = BoundSweeps(layer, lists, chances, self._most)
        self._narrow(sweeps)
        begin, end = layer.begin, layer.end
        low, high = sweeps.bounds[: end - begin].T
        values = 0.5 * (low + high)
        off = np.nextafter(np.maximum(high - values, values - low), np.inf)
        at = answers.at(begin, end)
        answers.values[at], answers.error_bounds[at], answers.actions[at] = values, off, THROW
        answers.count(begin, facts, {})
        answers.prove(begin, end)
        del sweeps, low, high, values, off
        large_pages.release()  # the next layer may need far less
        self.seconds["solve"] += time.perf_counter() - began
        report_up_to(self._progress, "solving", self._layers, end)

    def _widest(self, layer: PackedLayer) -> NDArray[np.float64]:
        """What positions are worth at least and at most, as far as is known: (n, 2).

        Nothing is known of those of the layer. Behind them are those of the border: of each it is
        known what the answer says, its value and by how much that can be off.
        """
        n = layer.end - layer.begin
        bounds = large_pages.empty((n + len(layer.border), 2))
        bounds[:n] = -self._most, self._most
        values, off = self._answers.values_of(layer.border), self._answers.bounds_of(layer.border)
        low, high = bounds[n:].T
        np.nextafter(np.subtract(values, off, out=low), -np.inf, out=low)
        np.nextafter(np.add(values, off, out=high), np.inf, out=high)
        return bounds

    def _narrow(self, sweeps: BoundSweeps) -> None:
        """Find close bounds of a layer: from estimates, or by sweeps from the widest ones.

        Estimates can be proved as soon as every play ends with the actions that are left.
        """
        goal, best, stalled, tried = GOAL * max(self._most, 1.0), np.inf, 0, False
        for sweep in range(MOST_SWEEPS):
            if not tried and sweep % ELIMINATING == 0 and sweeps.every_play_ends():
                tried = True
                if self._claim(sweeps) <= NEAR * goal:
                    return
            if not len(sweeps.bounds):
                sweeps.bounds = self._widest(sweeps.layer)
            widest = sweeps.narrow(goal / 4, sweep % ELIMINATING == ELIMINATING - 1)
            stalled = 0 if widest < best else stalled + 1
            best = min(best, widest)
            if widest <= goal or stalled > STALLED:
                break
        if widest > FAR_APART * goal:
            raise self._endless(sweeps, widest)

    def _claim(self, sweeps: BoundSweeps) -> float:
        """Find values, claim bounds around them and prove these; how far they are then apart.

        The values are found with no bounds in memory. Where no claim holds, none are left.
        """
        layer, answers, n = sweeps.layer, self._answers, sweeps.n
        sweeps.bounds = NO_BOUNDS
        found = PackedValues(
            layer,
            sweeps.lists,
            sweeps.lotteries,
            answers.values_of(layer.border),
            self._most,
            lambda: not self._building,
        )
        if not found.can_be_found or not found.find():
            return np.inf
        rounding = sweeps.rounding()
        values, off = found.likely_errors(rounding, answers.bounds_of(layer.border))
        del found
        large_pages.release()
        sweeps.bounds = self._widest(layer)
        np.subtract(values, off, out=sweeps.bounds[:n, 0])
        np.add(values, off, out=sweeps.bounds[:n, 1])
        del values, off
        for _ in range(MOST_CLAIMS):
            apart, n_broken = sweeps.sweep(-1.0, False, 0.25 * rounding)
            if not n_broken:
                return apart
        sweeps.bounds = NO_BOUNDS
        return np.inf

    def _endless(self, sweeps: BoundSweeps, widest: float) -> EndlessPlay:
        """The error for bounds that come no closer."""
        apart = np.diff(sweeps.bounds[: sweeps.n], axis=1)[:, 0]
        rules = self._layers.rules
        worst = self._layers.state(sweeps.layer.begin + int(apart.argmax()))
        return EndlessPlay(
            f"{rules.game.name}: the bounds of the values stay {widest:.3g} apart, most in the "
            f"state {rules.state_text(worst)}; can players go round for ever? "
            "`rollwise check` says so of a smaller game"
        )


def _facts(layer: PackedLayer) -> LayerFacts:
    """What is counted of a layer."""
    lotteries = lotteries_of(layer.arrays)
    blocks = [block for _, block in layer.blocks]
    return LayerFacts(
        sum(len(block.lottery) for block in blocks),
        sum(len(block.next_state) for block in blocks),
        sum(array.nbytes for block in blocks for array in block),
        float(np.abs(lotteries.payoff[lotteries.over]).max(initial=0.0)),
        lotteries.has_draws(),
        lotteries.has_stakes(),
    )


class BoundSweeps:
    """Sweeps of the bounds of a layer, the last block first.

    Parameters
    ----------
    layer : PackedLayer
    lists, lotteries : Weights
    most : float
        No value is further from 0.
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
        actions = max(int(block.count.max()) for _, block in layer.blocks)
        self._scratch = np.empty(1 + actions)

    def narrow(self, goal: float, eliminate: bool) -> float:
        """One sweep of bounds that enclose the values; how far they are apart at most."""
        return self.sweep(goal, eliminate, -1.0)[0]

    def every_play_ends(self) -> bool:
        """Whether every play leaves the layer, with the actions that are left."""
        return not len(self.staying())

    def staying(self) -> NDArray[np.int64]:
        """The positions of the layer from which players can stay in it for ever."""
        ending = np.zeros(self.n, np.bool_)
        lists, lotteries = self.lists.indptr, self.lotteries.indptr
        left, marked = self.n, 1
        while left and marked:
            marked = sum(
                mark_ending(place, block, lists, lotteries, ending)
                for place, block in reversed(self.layer.blocks)
            )
            left -= marked
        return np.flatnonzero(~ending)

    def rounding(self) -> float:
        """By how much a bound is moved outward in a sweep, at most."""
        longest = sum(
            int(np.diff(weights.indptr).max()) + 4 for weights in (self.lists, self.lotteries)
        )
        return longest * ROUNDING * self._most

    def sweep(self, goal: float, eliminate: bool, extra: float) -> tuple[float, int]:
        """One sweep: how far bounds are apart at most, and how many are broken."""
        widest, n_broken = 0.0, 0
        for begin, block in reversed(self.layer.blocks):
            apart, broken = sweep_intervals(
                begin,
                block,
                self.lists,
                self.lotteries,
                self._more,
                goal,
                self._most,
                eliminate,
                extra,
                self.bounds,
                self._scratch,
            )
            widest, n_broken = max(widest, apart), n_broken + broken
        return widest, n_broken


def lists_of(arrays: Arrays) -> Weights:
    """The lists of throws of a layer."""
    throws = arrays.throws
    assert throws is not None
    nothing = np.zeros(len(throws.weight))
    return _of(throws.indptr, throws.weight, nothing, nothing.astype(np.bool_))


def weights_of(arrays: Arrays) -> Weights:
    """The lotteries of a layer."""
    lotteries = lotteries_of(arrays)
    return _of(lotteries.indptr, lotteries.weight, lotteries.payoff, lotteries.passes)


def _of(
    indptr: NDArray[np.int64],
    weight: NDArray[np.int64],
    payoff: NDArray[np.float64],
    passes: NDArray[np.bool_],
) -> Weights:
    plain = weight.astype(np.float64)
    return Weights(indptr.copy(), plain, np.add.reduceat(plain, indptr[:-1]), payoff, passes)
