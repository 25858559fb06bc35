"""Large games with throws, solved by layers of packed arrays: see `rollwise.kernels.intervals`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.arrays import Arrays, lotteries_of
from rollwise.errors import EndlessPlay
from rollwise.kernels.intervals import Weights, sweep_intervals
from rollwise.machine import large_pages
from rollwise.machine.pipeline import Source, Stage, pipeline

if TYPE_CHECKING:
    from rollwise.builders.by_layer import Layers, PackedLayer
    from rollwise.builders.rules import Rules

WORTHWHILE = 20_000_000  # outcomes: fewer are solved as graphs, which bounds less widely
GOAL = 4e-12  # how far bounds may be apart, for each point that is played for
ELIMINATING = 8  # sweeps after which actions are left out that are worse for certain
MOST_SWEEPS = 100_000
FAR_APART = 1000  # times the goal: bounds that stay so are no answer
STALLED = 200  # sweeps in which bounds come no closer

Progress = Callable[[str, int, int | None], None]


def can_be_packed(rules: Rules) -> bool:
    """Whether all values lie within the payoffs, so that bounds are known to begin with."""
    return (
        rules.has_throws
        and rules.pool is None
        and rules.game.objective == "win"
        and not rules.has_reward
    )


class Packed:
    """A game on its way from packed layers to values.

    Attributes
    ----------
    bounds : (n_positions, 2) float64
        What each position is worth at least, and at most.
    n_actions, n_outcomes, most_bytes : int
    has_draws, has_stakes : bool
    seconds : dict of float
    """

    def __init__(self, layers: Layers, progress: Progress | None) -> None:
        self._layers, self._progress = layers, progress
        self.bounds = large_pages.empty((len(layers.states), 2))
        self.n_actions = self.n_outcomes = self.most_bytes = 0
        self.has_draws = self.has_stakes = False
        self.seconds = {"build": 0.0, "solve": 0.0}
        self._most = 0.0  # payoff of the layers so far

    def run(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The values of all positions, and bounds of their errors."""
        pipeline(Source(self._built(), first=0), [Stage(self._solve, second=0)], most_at_once=2)
        low, high = self.bounds.T
        values = 0.5 * (low + high)
        off = np.maximum(high - values, values - low)
        return values, np.nextafter(off, np.inf)

    def _built(self) -> Iterator[PackedLayer]:
        last_first = self._layers.packed_last_first()
        while True:
            began = time.perf_counter()
            layer = next(last_first, None)
            self.seconds["build"] += time.perf_counter() - began
            if layer is None:
                return
            yield layer

    def _solve(self, layer: PackedLayer) -> None:
        began = time.perf_counter()
        lotteries = lotteries_of(layer.arrays)
        self._most = max(self._most, np.abs(lotteries.payoff[lotteries.over]).max(initial=0.0))
        self.has_draws |= lotteries.has_draws()
        self.has_stakes |= lotteries.has_stakes()
        self._count(layer)
        bounds = self.bounds
        bounds[layer.begin : layer.end] = -self._most, self._most
        lists, chances = _lists(layer.arrays), _weights(layer.arrays)
        scratch = np.empty(1 + max(int(block.count.max()) for _, block in layer.blocks))
        goal, best, stalled = GOAL * max(self._most, 1.0), np.inf, 0
        for sweep in range(1, MOST_SWEEPS):
            widest = 0.0
            for begin, block in reversed(layer.blocks):
                apart = sweep_intervals(
                    begin,
                    block,
                    lists,
                    chances,
                    goal / 4,
                    self._most,
                    sweep % ELIMINATING == 0,
                    bounds,
                    scratch,
                )
                widest = max(widest, apart)
            stalled = 0 if widest < best else stalled + 1
            best = min(best, widest)
            if widest <= goal or stalled > STALLED:
                break
        if widest > FAR_APART * goal:
            raise self._endless(layer, widest)
        self.seconds["solve"] += time.perf_counter() - began
        if self._progress is not None:
            n = len(self._layers.states)
            self._progress("solving layers", n - layer.begin, n)

    def _endless(self, layer: PackedLayer, widest: float) -> EndlessPlay:
        """The error for bounds that come no closer."""
        apart = np.diff(self.bounds[layer.begin : layer.end], axis=1)[:, 0]
        rules = self._layers.rules
        worst = self._layers.states[layer.begin + int(apart.argmax())].tolist()
        return EndlessPlay(
            f"{rules.game.name}: the bounds of the values stay {widest:.3g} apart, most in the "
            f"state {rules.state_text(rules.layout.state(worst))}; can players go round for ever? "
            "`rollwise check` says so of a smaller game"
        )

    def _count(self, layer: PackedLayer) -> None:
        size = 0
        for _, block in layer.blocks:
            self.n_actions += len(block.lottery)
            self.n_outcomes += len(block.next_state)
            size += sum(array.nbytes for array in block)
        self.most_bytes = max(self.most_bytes, size)


def _lists(arrays: Arrays) -> Weights:
    throws = arrays.throws
    assert throws is not None
    nothing = np.zeros(len(throws.weight))
    return _of(throws.indptr, throws.weight, nothing, nothing.astype(np.bool_))


def _weights(arrays: Arrays) -> Weights:
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
