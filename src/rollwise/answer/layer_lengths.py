"""Shortest and longest expected lengths of a large game, by layers.

Each turn counts one move, and all players have the same aim. A layer that play rarely leaves is a
slow chain: if play lasts 100,000 moves there, a sweep removes a hundred-thousandth of the error.
The engine therefore finds the lengths by strategy iteration: a sweep chooses the best actions, and
BiCGSTAB on sweeps evaluates them (`rollwise.engine.search`). Only few modes are slow, about one for
each way of staying in the layer, and BiCGSTAB finds few modes fast.

Any lengths v, settled or not, prove bounds. Let T v be the result of a sweep from v. T is monotone,
and a move counts 1, so ``T (c v) = c T v + 1 - c`` for c > 0. In a sweep from v let f be a bound on
the largest decrease, and r a bound on the largest increase.

- With c = 1 / (1 + f): ``T (c v) >= c (v - f) + 1 - c = c v``. The lengths c v don't shrink in any
  number of sweeps. If players aim at a long game, every play ends, and the best actions for c v
  last at least as long. If they aim at a short one, every policy that ends lasts at least as long.
  Hence c v is at most the longest length, or at most the shortest.
- With c = 1 / (1 - r), if r < 1: ``T (c v) <= c (v + r) + 1 - c = c v``. The lengths c v don't
  grow. They are at least 0, and so at least the result of any number of sweeps from 0: the longest
  length of play cut off after so many moves, and in the limit the longest length. If players aim at
  a short game, the best actions for c v last no longer.

The lower bound needs no condition. The upper bound needs r < 1. (Bertsekas and Tsitsiklis, An
analysis of stochastic shortest path problems, Mathematics of Operations Research 16, 1991.) The
lengths of later layers have relative errors of their own. If c allows for these too, it proves this
layer. The relative error of all layers is the largest of them. `rollwise.proofs.layers` checks
such bounds, rounding included. Without a proved upper bound, the lower bounds replace the lengths,
and earlier layers build on them.

Rounding is the limit: a sweep of lengths up to L has a rounding error of about 1.6e-15 L, in moves.
Settled lengths of 1e8 moves have a relative error of about 1e-6 at best, and lengths above about
1e14 have no upper bound.

The second moments q of plays with the chosen actions satisfy ``q = 2 v - 1 + q'`` (Sobel, The
variance of discounted Markov decision processes, Journal of Applied Probability 19, 1982). If a
step of these actions changes no moment by more than r, the error of a moment is at most r times the
remaining length. The same holds for the lengths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.by_layers import held_at_once, report_up_to
from rollwise.builders import Progress
from rollwise.engine import sweeps
from rollwise.engine.search import Moved, Search
from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph.endings import go_round
from rollwise.layers import Layer, in_solving_order
from rollwise.machine import memory_limits
from rollwise.machine.interrupts import Clock
from rollwise.machine.pipeline import Source, Stage, pipeline
from rollwise.proofs import layers as proof
from rollwise.proofs.endless_play import staying_places

if TYPE_CHECKING:
    from rollwise.builders.by_layer import Layers, Piece
    from rollwise.builders.rules import Rules

FIRST_SWEEPS = 16  # of lengths that didn't settle
MOST_STEPS = 400  # of moments
LEFT = 1e-6  # of the change of a sweep, by a step
SETTLED = 2e-15  # change of a sweep that is rounding, for each move of the length
NEAR = 1e5  # times this is accepted where further steps don't help
OTHER_WORK = 100_000  # the fixed work of a layer, in positions
MOST_CLAIMS = 60  # of a bound, each twice as wide
OUTCOME_BYTES, STATE_BYTES, ANSWER_BYTES = 17, 200, 16  # of a layer, and of kept answers

ORDERED = 20_000_000  # outcomes: a layer with more is swept in the order of its fields
UNIT = 2.0**-53

IsOver = Callable[[], bool]
Floats = NDArray[np.float64]


def require_no_pool(rules: Rules) -> None:
    """Refuse a game with a pool of dice.

    Raises
    ------
    UsageError
    """
    if rules.pool is not None:
        raise UsageError(
            f"{rules.game.name}: lengths by layers are of games without a pool of dice; without "
            "--by-layer any game will do"
        )


class Bracket(NamedTuple):
    """Proved bounds of a length, in moves."""

    low: float
    high: float  # infinite without a proof


class LayerLengths:
    """Expected moves if all players aim at a short game, or all at a long one.

    Parameters
    ----------
    layers : Layers
        Of a game with throws.
    longest : bool
    progress : callable, optional
    clock : Clock, optional
        After its time the remaining layers are swept a few times, and proved in this state.
    is_asked : callable, optional
        Whether the user asked for the end, with the effect of the clock.

    Attributes
    ----------
    lengths, moments : (n_states,) float64
        Expected moves from each position on, and the expected square of their number.
    below, above : float
        Relative error bounds: lengths are too large by at most the share `below`, and too small
        by at most the share `above`. The latter is infinite without a proved upper bound; then
        the lengths are lower bounds.
    n_unsettled : int
        Number of positions in layers with unsettled lengths or moments.
    timed_out : bool
        Whether such a layer ran out of time.
    apart : float
        The largest change of a length by a step of the chosen actions.
    moment_off : float
        The largest change of a moment by such a step, for exact lengths.

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
        clock: Clock | None = None,
        is_asked: Callable[[], bool] = lambda: False,
    ) -> None:
        n = layers.n_states
        each = OUTCOME_BYTES * layers.n_outcomes / n + STATE_BYTES
        held = int(np.sort(np.diff(layers.indptr))[-held_at_once(layers) :].sum())
        memory_limits.require(
            int(held * each) + ANSWER_BYTES * n, f"lengths of {layers.rules.game.name}"
        )
        self._layers, self._progress = layers, progress
        self._clock, self._is_asked = Clock(None) if clock is None else clock, is_asked
        self._sign = 1.0 if longest else -1.0
        self.lengths, self.below, self.above = np.zeros(n), 0.0, 0.0
        self.moments, self.moment_off, self.apart = np.zeros(n), 0.0, 0.0
        self.n_unsettled, self.timed_out = 0, False
        self._builds = False

    def run(self) -> None:
        """Find the lengths, and prove them.

        Raises
        ------
        EndlessPlay
            The players want it long, and can go round for ever.
        """
        stages = [Stage(self._solve, second=0)]
        pipeline(Source(self._built(), first=0), stages, most_at_once=held_at_once(self._layers))

    def bracket(self, position: int) -> Bracket:
        """Proved bounds of the expected length from a position on."""
        length = float(self.lengths[position])
        high = math.inf
        if math.isfinite(self.above):
            high = math.nextafter(length * (1.0 + self.above), math.inf)
        return Bracket(max(0.0, math.nextafter(length * (1.0 - self.below), -math.inf)), high)

    def spread(self, position: int) -> tuple[tuple[float, float], tuple[float, float]]:
        """The expected length from a position on, and its variance, with error bounds."""
        mean, moment = float(self.lengths[position]), float(self.moments[position])
        low, high = self.bracket(position)
        off = math.nextafter(max(mean - low, high - mean), math.inf)
        if not self.apart < 0.5:
            return (mean, off), (0.0, math.inf)
        share = self.apart / (1.0 - self.apart)  # the length of the chosen actions is off by
        far = self.moment_off * mean * (1.0 + share) + share * (2.0 + share) * mean**2
        far += 8.0 * UNIT * (moment + mean**2)
        return (mean, off), (max(moment - mean**2, 0.0), far)

    def _built(self) -> Iterator[Piece]:
        last_first = self._layers.last_first()
        while True:
            self._builds = True
            piece = next(last_first, None)
            self._builds = False
            if piece is None:
                return
            yield piece
            del piece  # before the next one is built

    def _solve(self, piece: Piece) -> None:
        begin, end = piece.begin, piece.end
        layer = _of_moves(piece.layer, self._sign)
        if layer.n_outcomes <= ORDERED:
            layer = in_solving_order(layer)
        if self._sign > 0:
            self._require_ending(layer, begin)
        values = sweeps.values_for(layer, self._sign * self.lengths[piece.border])
        # a layer gets its share of the remaining time, with the fixed work of a layer included
        clock = Clock(self._clock.left * (end - begin + OTHER_WORK) / (end + OTHER_WORK))

        def is_over() -> bool:
            return self._is_asked() or clock.is_up

        search = Search(
            replace(layer, parts=None),
            values,
            is_free=lambda: not self._builds,
            is_over=is_over,
        )
        moved, settled = self._find(search)
        found = search.found[: layer.n + layer.n_border].copy()
        self.lengths[begin:end] = self._sign * layer.in_reading_order(found)
        settled = settled and not self.n_unsettled
        if not (settled and self._find_moments(search, begin, piece.border, is_over)):
            self.n_unsettled += end - begin
            self.timed_out |= clock.is_up
        del search
        self._prove(layer, begin, found, moved)
        report_up_to(self._progress, "solving", self._layers, end)

    def _require_ending(self, layer: Layer, begin: int) -> None:
        """Make sure that players can't stay in a layer for ever."""
        staying = layer.positions_at(staying_places(layer))
        if not len(staying):
            return
        rules, state = self._layers.rules, self._layers.state(begin + int(staying[0]))
        raise EndlessPlay(
            f"{rules.game.name}: {go_round(rules.game.players)}, as from the state "
            f"{rules.state_text(state)}"
        )

    def _find(self, search: Search) -> tuple[Moved, bool]:
        """The lengths of a layer: the change in a last sweep, and whether they have settled."""
        values = search.found[: search.layer.n]
        search.run()
        moved = search.choose()
        if moved.change <= NEAR * SETTLED * float(np.abs(values).max()):
            return moved, True
        if not np.all(self._sign * values > 0.5):  # by a step to a policy that never ends play
            values[:] = 0.0
        for _ in range(FIRST_SWEEPS):  # afterwards lengths change slowly
            moved = search.choose()
        return moved, False

    def _find_moments(
        self, search: Search, begin: int, border: NDArray[np.int32], is_over: IsOver
    ) -> bool:
        """The second moments of a layer, with its chosen actions.

        Returns
        -------
        bool
            Whether the time sufficed.
        """
        layer, n = search.layer, search.layer.n
        plain = layer.tables._replace(reward=np.zeros(len(layer.tables.reward)))
        lengths, moments, brought = (np.zeros(layer.n_places) for _ in range(3))
        lengths[:n] = self._sign * search.found[:n]
        lengths[n : n + len(border)] = self.lengths[border]
        moments[n : n + len(border)] = self.moments[border]
        # the second moment is 1 + 2 E[L'] + E[M'], and the length is L = 1 + E[L']
        brought[:n] = 2.0 * lengths[:n] - 1.0
        last = np.inf
        # BiCGSTAB on the moments with fixed actions, until a step changes rounding only
        for _ in range(MOST_STEPS):
            before = moments[:n].copy()
            change = search.evaluate(moments, brought, tables=plain)
            rounding = SETTLED * float(moments[:n].max())
            if not math.isfinite(change):
                break
            if change <= rounding or (change >= last and change <= NEAR * rounding):
                break
            if is_over():
                return False
            last = change
            step, _ = search.stepped(moments[:n] - before, LEFT)
            moments[:n] = before + step
        self.moments[begin : begin + n] = layer.in_reading_order(moments)
        # the lengths have a relative error, and the moments brought by a move twice as much
        self.apart = max(self.apart, residual(search, lengths, np.ones(layer.n_places)))
        share = self.apart / (1.0 - self.apart) if self.apart < 1.0 else np.inf
        wrong = residual(search, moments, brought) + 2.0 * share * float(lengths.max())
        self.moment_off = max(self.moment_off, wrong)
        return True

    def _prove(self, layer: Layer, begin: int, found: Floats, moved: Moved) -> None:
        """Prove bounds around the lengths of a layer. The relative errors of all may grow."""
        fall, rise = (moved.fall, moved.rise)[:: int(self._sign)]
        claims = _Claims(layer, found, self._sign)
        self.below = claims.below(self.below, fall)
        self.above = claims.above(self.above, rise)
        # the lengths become lower bounds, which are never too large
        if math.isinf(self.above):
            lengths = self.lengths[begin:]
            lengths *= 1.0 - self.below
            np.maximum(np.nextafter(lengths, -np.inf), 0.0, out=lengths)
            self.below = 0.0


class _Claims:
    """Claimed bounds of the lengths of a layer, proved by one sweep.

    Parameters
    ----------
    layer : Layer
    found : (n + n_border,) float64
        The lengths of the layer, and of its border, times the sign.
    sign : float
        -1 for the shortest lengths.
    """

    def __init__(self, layer: Layer, found: Floats, sign: float) -> None:
        self._layer, self._found, self._sign = layer, found, sign
        self._longest = float(np.abs(found).max())
        self._bounds = np.zeros((layer.n_places, 2))

    def below(self, later: float, fall: float) -> float:
        """A proved bound on the share by which lengths are too large.

        Parameters
        ----------
        later : float
            The bound of later layers.
        fall : float
            The largest decrease of a length in a sweep, in moves.
        """
        # c = 1 - share; the claim grows until it has room for rounding
        for fallen in self._growing(fall):
            share = max(later, fallen / (1.0 + fallen))
            if self._holds(1.0 - share, upper=False):
                return share
        return 1.0  # no length is less than 0

    def above(self, later: float, rise: float) -> float:
        """A bound on the share by which lengths are too small; infinite without a proof."""
        if math.isinf(later) or not np.all(self._sign * self._found >= 0.0):
            return math.inf
        # c = 1 + share
        for risen in self._growing(rise):
            if not risen < 1.0:
                break
            share = max(later, risen / (1.0 - risen))
            if self._holds(1.0 + share, upper=True):
                return share
        return math.inf

    def _growing(self, moves: float) -> Iterator[float]:
        """Candidate bounds on the change in a sweep: the change plus rounding, ever larger."""
        tables = self._layer.tables
        rounded = 1.5 * self._longest * float(tables.throw_error.max() + tables.error.max())
        for k in range(MOST_CLAIMS):
            yield moves * (1.0 + 1e-9) + rounded * 2.0**k

    def _holds(self, factor: float, *, upper: bool) -> bool:
        """Whether the lengths times a factor are bounds."""
        np.multiply(self._found[:, None], factor, out=self._bounds[: len(self._found)])
        low, high = proof.broken(self._layer, self._bounds)
        larger = upper == (self._sign > 0)  # a bound from above, of lengths with their sign
        return not (high if larger else low)


def _of_moves(layer: Layer, sign: float) -> Layer:
    """The layer with a point for each move, no other rewards, and a single player."""
    tables = layer.tables
    tables = tables._replace(
        coefficient=np.abs(tables.coefficient),
        weight=np.abs(tables.weight),
        reward=np.full(len(tables.reward), sign),
    )
    return replace(layer, tables=tables, endings=np.zeros(len(layer.endings)))


def residual(search: Search, numbers: Floats, brought: Floats) -> float:
    """The largest change of a number by a step of the chosen actions, rounding included."""
    layer, most, longest = search.layer, 0.0, 0
    # one row for each position: the mean over the outcomes of its chosen action
    for place, block in layer.blocks:
        rows = search.linear_system(place, place + len(block.throws))
        here = slice(place, place + len(block.throws))
        after = brought[here] + np.bincount(
            rows.row, rows.coefficient * numbers[rows.column], len(block.throws)
        )
        most = max(most, float(np.abs(after - numbers[here]).max()))
        longest = max(longest, int(np.bincount(rows.row).max()))
    largest = float(np.abs(numbers).max()) + float(np.abs(brought).max())
    return most + (longest + 8) * UNIT * largest
