"""How long a large game can last, by layers of packed arrays.

Each turn is worth a move, and all players want the same. A layer that play hardly ever leaves
is a slow chain: where it lasts 100,000 moves, a sweep takes a hundred-thousandth of the error
away. So Newton's steps find the lengths: a sweep chooses the best actions, and BiCGSTAB on
sweeps evaluates them (van der Vorst, Bi-CGSTAB, SIAM Journal on Scientific and Statistical
Computing 13, 1992). Only few modes are slow, about one for each way in which play can stay, and
such a method finds these few.

What proves lengths v: a move is worth 1, so a sweep of c v is c times a sweep of v, and 1 - c. If
a sweep changes no length by more than r < 1, then v (1 + r / (1 - r)) doesn't grow in a sweep, and
v (1 - r) doesn't shrink. So they enclose the longest expected length, and the shortest as well
(Bertsekas and Tsitsiklis, An analysis of stochastic shortest path problems, Mathematics of
Operations Research 16, 1991). The relative error is about the change of a sweep in moves.
`rollwise.kernels.intervals` checks such bounds, with every rounding. That some v doesn't grow
proves as well that play ends.

The second moments q of the plays with the chosen actions follow from ``q = 2 v - 1 + q'`` (Sobel,
The variance of discounted Markov decision processes, Journal of Applied Probability 19, 1982).
Where a step of these actions changes no moment by more than r, the moments are off by at most r
times the length that is left. So it is with their lengths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.layer_answers import report_up_to
from rollwise.answer.packed import BoundSweeps, held_at_once, lists_of, weights_of
from rollwise.answer.packed_sweeps import PackedSweeps
from rollwise.errors import EndlessPlay, UsageError
from rollwise.kernels.chosen import Rows, walk
from rollwise.kernels.intervals import ROUNDING, Weights
from rollwise.machine import large_pages, memory_limits
from rollwise.machine.pipeline import Source, Stage, pipeline
from rollwise.numbers.randomness import stream

if TYPE_CHECKING:
    from rollwise.builders.by_layer import Layers, PackedLayer
    from rollwise.builders.rules import Rules

FIRST_SWEEPS = 16  # before the first step
MOST_STEPS = 80
MOST_ITERATIONS = 400  # of BiCGSTAB, in a step
COARSE = 1e-2  # moves: while a sweep changes more than that, other actions are chosen
LEFT = {True: 1e-3, False: 1e-6}  # of the change of a sweep, by a step, coarse or not
SETTLED = 2e-15  # change of a sweep that is rounding, for each move of the length
NEAR = 1e5  # times this: where steps don't help any more, that will do
WIDER = 1.5  # claimed bounds, against what is expected of them
OUTCOME_BYTES, STATE_BYTES, ANSWER_BYTES = 17, 200, 16  # of a layer, and of what is kept

Progress = Callable[[str, int, int | None], None]
Floats = NDArray[np.float64]


def require_throws(rules: Rules) -> None:
    """Make sure that the lengths of a game can be found by layers.

    Raises
    ------
    UsageError
    """
    if not rules.has_throws or rules.pool is not None:
        raise UsageError(
            f"{rules.game.name}: lengths by layers need a game whose rules have throws(s), and no "
            "pool of dice; without --by-layer any game will do"
        )


class _Chosen(NamedTuple):
    """What was chosen in a layer."""

    rows: Rows
    coefficient: Floats
    n_known: int
    border: NDArray[np.int32]


class PackedLengths:
    """The expected moves of plays that all want short, or all want long.

    Parameters
    ----------
    layers : Layers
        Of a game with throws.
    longest : bool
    progress : callable, optional
    keep_policy : bool
        Whether games are to be played: this takes some 30 bytes a position with five throws.

    Attributes
    ----------
    lengths, moments : (n_states,) float64
        Expected moves from each position on, and the expected square of their number.
    off : float
        By which share of itself each length can be off. Infinite: nothing is proved.
    apart : float
        By how much a step of the chosen actions changes a length at most.
    moment_off : float
        By how much a step of them changes a moment at most, if the lengths were right.

    Raises
    ------
    TooLittleMemory
    """

    def __init__(
        self,
        layers: Layers,
        longest: bool,
        progress: Progress | None = None,
        *,
        keep_policy: bool = False,
    ) -> None:
        n = layers.n_states
        each = OUTCOME_BYTES * layers.n_outcomes / n + STATE_BYTES
        held = int(np.sort(np.diff(layers.indptr))[-held_at_once(layers) :].sum())
        memory_limits.require(
            int(held * each) + ANSWER_BYTES * n, f"lengths of {layers.rules.game.name}"
        )
        self._layers, self._progress = layers, progress
        self._sign = 1.0 if longest else -1.0
        self.lengths, self.off = np.zeros(n), 0.0
        self.moments, self.moment_off, self.apart = np.zeros(n), 0.0, 0.0
        self._building = False
        self._kept: dict[int, _Chosen] | None = {} if keep_policy else None

    def run(self) -> None:
        """Find the lengths, and prove them.

        Raises
        ------
        EndlessPlay
            The players want it long, and can go round for ever.
        """
        stages = [Stage(self._solve, second=0)]
        pipeline(Source(self._built(), first=0), stages, most_at_once=held_at_once(self._layers))

    def spread(self, position: int) -> tuple[tuple[float, float], tuple[float, float]]:
        """The expected length from a position on, and its variance: each with how far it is off."""
        mean, moment = float(self.lengths[position]), float(self.moments[position])
        off = math.nextafter(self.off * mean, math.inf)
        if not self.apart < 0.5:
            return (mean, off), (0.0, math.inf)
        share = self.apart / (1.0 - self.apart)  # the length of the chosen actions is off by
        far = self.moment_off * mean * (1.0 + share) + share * (2.0 + share) * mean**2
        far += 8.0 * ROUNDING * (moment + mean**2)
        return (mean, off), (max(moment - mean**2, 0.0), far)

    def played(self, games: int, seed: int) -> NDArray[np.int64]:
        """How many moves so many games from the start took, by the policy that was kept."""
        assert self._kept is not None
        words, moves = stream(seed, 0), np.zeros(games, np.int64)
        places = np.full(games, self._layers.start)
        for begin in sorted(self._kept):  # play comes by layers in this order
            rows, coefficient, n_known, border = self._kept[begin]
            n = len(rows.indptr) - 1
            here = np.flatnonzero((places >= begin) & (places < begin + n))
            at, made = places[here] - begin, moves[here]
            walk(rows, coefficient, n_known, words, at, made)
            gone = at >= n
            at[gone] = border[at[gone] - n] - begin
            places[here], moves[here] = np.where(at < 0, -1, at + begin), made
        return moves

    def _built(self) -> Iterator[PackedLayer]:
        last_first = self._layers.packed_last_first()
        while True:
            self._building = True
            layer = next(last_first, None)
            self._building = False
            if layer is None:
                return
            yield layer
            del layer  # before the next one is built

    def _is_free(self) -> bool:
        return not self._building

    def _solve(self, layer: PackedLayer) -> None:
        lists, lotteries = lists_of(layer.arrays), weights_of(layer.arrays)
        nothing = np.zeros(len(lotteries.payoff))
        lotteries = lotteries._replace(payoff=nothing, passes=nothing.astype(np.bool_))
        begin, end = layer.begin, layer.end
        known = self._sign * self.lengths[layer.border]
        sweeps = PackedSweeps(layer, lists, lotteries, known, self._sign, self._is_free)
        if not sweeps.can_be_swept:
            raise UsageError(
                f"{self._layers.rules.game.name}: its throws have too many different chances for "
                "lengths by layers"
            )
        if self._sign > 0:
            self._require_ending(layer, lists, lotteries)
        change = self._find(sweeps)
        found = sweeps.values[0][: sweeps.n_known].copy()
        self.lengths[begin:end] = self._sign * found[: end - begin]
        self._find_moments(sweeps, begin, layer.border)
        if self._kept is not None:
            coefficient = sweeps.chances.coefficient
            kept = _Chosen(sweeps.all_rows(), coefficient, sweeps.n_known, layer.border)
            self._kept[begin] = kept
        del sweeps
        self._prove(layer, lists, lotteries, found, change)
        large_pages.release()
        report_up_to(self._progress, "solving", self._layers, end)

    def _require_ending(self, layer: PackedLayer, lists: Weights, lotteries: Weights) -> None:
        """Make sure that players can't stay in a layer for ever."""
        sweeps = BoundSweeps(layer, lists, lotteries, 0.0)
        staying = sweeps.staying()
        if not len(staying):
            return
        rules = self._layers.rules
        state = self._layers.state(layer.begin + int(staying[0]))
        raise EndlessPlay(
            f"{rules.game.name}: the players can go round for ever, as from the state "
            f"{rules.state_text(state)}"
        )

    def _find(self, sweeps: PackedSweeps) -> float:
        """Newton's steps; the change of the last sweep."""
        values, n = sweeps.values, sweeps.n
        for _ in range(FIRST_SWEEPS):
            sweeps.choose()
        last, plain = np.inf, FIRST_SWEEPS
        for _ in range(MOST_STEPS):
            before = values[0][:n].copy()
            change = sweeps.choose()
            rounding = SETTLED * float(np.abs(values[0][:n]).max())
            if change <= rounding or (change >= last and change <= NEAR * rounding):
                break
            last = change
            moved = values[0][:n] - before
            step = before + stepped(sweeps, moved, LEFT[change > COARSE])
            if not np.all(self._sign * step > 0.5):  # no policy that ends play: a bad step
                for _plain in range(plain):
                    sweeps.choose()
                plain *= 2
                continue
            for part in values:
                part[:n] = step
        return change

    def _find_moments(self, sweeps: PackedSweeps, begin: int, border: NDArray[np.int32]) -> None:
        """The second moments of a layer, with the actions that were chosen in it."""
        n = sweeps.n
        lengths = np.zeros(len(sweeps.values[0]))
        lengths[:n], lengths[n : sweeps.n_known] = (
            self.lengths[begin : begin + n],
            self.lengths[border],
        )
        brought = 2.0 * lengths[:n] - 1.0
        moments = [np.zeros(len(lengths)) for _ in sweeps.values]
        for part in moments:
            part[n : sweeps.n_known] = self.moments[border]
        last = np.inf
        for _ in range(MOST_STEPS):
            before = moments[0][:n].copy()
            change = sweeps.evaluate(moments, brought)
            rounding = SETTLED * float(moments[0][:n].max())
            if not math.isfinite(change):
                break
            if change <= rounding or (change >= last and change <= NEAR * rounding):
                break
            last = change
            step = before + stepped(sweeps, moments[0][:n] - before, LEFT[False])
            for part in moments:
                part[:n] = step
        self.moments[begin : begin + n] = moments[0][:n]
        # the lengths of these actions are off by a share, and what a move brings by twice as much
        self.apart = max(self.apart, sweeps.residual(lengths, 1.0))
        share = self.apart / (1.0 - self.apart) if self.apart < 1.0 else np.inf
        wrong = sweeps.residual(moments[0], brought) + 2.0 * share * float(lengths.max())
        self.moment_off = max(self.moment_off, wrong)

    def _prove(
        self,
        layer: PackedLayer,
        lists: Weights,
        lotteries: Weights,
        found: Floats,
        change: float,
    ) -> None:
        """Prove bounds around the lengths of a layer. The share by which all are off may grow."""
        bounds = large_pages.empty((len(found), 2))
        most = 2.0 * float(np.abs(found).max())
        sweeps = BoundSweeps(layer, lists, lotteries, most, more=self._sign)
        sweeps.bounds = bounds
        self.off = max(self.off, WIDER * (change + sweeps.rounding()))
        while self.off < 1.0:
            np.multiply(found, 1.0 - self._sign * self.off, out=bounds[:, 0])
            np.multiply(found, 1.0 + self._sign * self.off, out=bounds[:, 1])
            if not sweeps.sweep(-1.0, False, 0.0)[1]:
                return
            self.off *= 2.0
        self.off = np.inf


def stepped(sweeps: PackedSweeps, moved: Floats, left: float) -> Floats:
    """Newton's step: the solution of ``(1 - J) step = moved``, J being the slope of a sweep."""
    from scipy.sparse.linalg import LinearOperator, bicgstab

    n = sweeps.n
    slopes = [np.zeros(len(values)) for values in sweeps.values]

    def apply(step: Floats) -> Floats:
        for slope in slopes:
            slope[:n] = step.reshape(-1)
        sweeps.evaluate(slopes, 0.0)
        return step.reshape(-1) - slopes[0][:n]

    operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    step, _ = bicgstab(operator, moved, rtol=left, atol=0.0, maxiter=MOST_ITERATIONS)
    return step  # type: ignore[no-any-return]
