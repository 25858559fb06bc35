"""Games of taking the lowest dice, for numbers of dice far beyond any graph.

All dice are rolled together, some are taken, at least one, and the rest are rolled
again until none is left. The lowest are the best to take, and the aim is a small
sum. A game says so by `face_points`, which ascend from a single 0. Its parameter
``dice`` is how many there are. With ``skip``, none may be taken, and then at least
two of the next roll; never of the last die.

The value of n dice depends only on the values of fewer dice, and nearly all rolls
need not be told apart (see `rollwise.kernels.many_dice`). Nothing is taken on trust:
the facts that this needs are checked for every number of dice as it runs, every
value has proved bounds, and the first few are held against the general solver.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.solve import solve
from rollwise.errors import NotConverged, ParameterError, UsageError
from rollwise.game import Game, require_game
from rollwise.kernels import many_dice as kernels

if TYPE_CHECKING:
    import polars as pl

MOST = 20_000
LOOKED_AT = 30  # up to this many dice every roll is looked at; 6 ** 30 rolls, 324,632 kinds
HELD_AGAINST = 6  # dice up to which the general solver is asked as well


@dataclass(frozen=True, eq=False)
class ManyDice:
    """Expected scores for every number of dice up to some.

    Attributes
    ----------
    low, high : (2, most + 1) float64
        Proved bounds on the expected score of n dice: row 0 where at least one must
        be taken, row 1 where at least two must (infinite where there is no such).
    steep : int
        From this number of dice on, another die costs less than the second lowest
        face: so no die with points is taken that needn't be, unless few are left.
    face_points : (faces,) float64
    skip : bool
    seconds : float
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    steep: int
    face_points: NDArray[np.float64]
    skip: bool
    seconds: float

    @property
    def most(self) -> int:
        """The largest number of dice."""
        return int(self.low.shape[1]) - 1

    @property
    def rising_to(self) -> int:
        """Up to so many dice another one is proved to cost something.

        So far, all free dice of a roll are taken. Beyond, it makes less of a
        difference than the error bound how many of them are, as long as one is.
        """
        certain = self.low[0, 1:] > self.high[0, :-1]
        return self.most if certain.all() else int(np.argmin(certain))

    def value(self, dice: int, *, take_two: bool = False) -> tuple[float, float]:
        """The expected score of so many dice, and how far it can be off."""
        if not 0 <= dice <= self.most:
            raise UsageError(f"from 0 to {self.most} dice, not {dice}")
        low, high = float(self.low[int(take_two), dice]), float(self.high[int(take_two), dice])
        return (low + high) / 2, float(np.nextafter((high - low) / 2, np.inf))

    def best(self, roll: Sequence[int], *, take_two: bool = False) -> list[tuple[int, float]]:
        """What to do with a roll: how many of the lowest dice to take, and its worth.

        Parameters
        ----------
        roll : (faces,) int
            How many dice show each face, in the order of `face_points`.

        Returns
        -------
        list of (taken, expected score)
            The best first; 0 taken refuses the roll.
        """
        dice = int(sum(roll))
        points = np.repeat(self.face_points, roll)
        cost = np.concatenate([[0.0], np.cumsum(points)])
        finite = np.isfinite(self.low)
        middle = np.where(finite, (np.where(finite, self.low, 0) + self.high) / 2, np.inf)
        rows = [(k, float(cost[k] + middle[0, dice - k])) for k in range(1 + take_two, dice + 1)]
        if self.skip and not take_two and dice > 1:
            rows.append((0, float(middle[1, dice])))
        return sorted(rows, key=lambda row: row[1])

    def table(self) -> pl.DataFrame:
        """A row for each number of dice, ready to plot.

        Returns
        -------
        polars.DataFrame
            ``dice``, ``expected_score``, ``error_bound`` (proved), ``take_two`` (the
            expected score where at least two must be taken; null where there is no
            such) and ``refuse_from`` (without a free die, refuse a roll whose lowest
            die has at least so many points; null where none is refused).
        """
        import polars as pl

        finite = np.isfinite(self.low[1])
        two = (np.where(finite, self.low[1], 0) + np.where(finite, self.high[1], 0)) / 2
        first = (self.low[0] + self.high[0]) / 2
        refuse: list[int | None] = [None] * (self.most + 1)
        for n in range(2, self.most + 1):
            worse = [p for p in self.face_points[1:] if finite[n] and p + first[n - 1] > two[n]]
            refuse[n] = int(worse[0]) if worse else None
        frame = pl.DataFrame(
            {
                "dice": np.arange(self.most + 1),
                "expected_score": first,
                "error_bound": np.nextafter((self.high[0] - self.low[0]) / 2, np.inf),
                "take_two": pl.Series(
                    [float(x) if ok else None for x, ok in zip(two, finite, strict=True)],
                    dtype=pl.Float64,
                ),
                "refuse_from": pl.Series(refuse, dtype=pl.Int64),
            }
        )
        return frame.filter(pl.col("dice") > 0)


def many_dice(game: Game, most: int, *, held_against: int = HELD_AGAINST) -> ManyDice:
    """Expected scores and best play for every number of dice up to `most`, certified.

    Parameters
    ----------
    game : Game
        One with `face_points`; its own number of dice doesn't matter.
    most : int
        From 1 to 20,000. Time grows with its square: 5,000 take about a second.
    held_against : int
        Up to so many dice the general solver's certified values must agree.

    Raises
    ------
    UsageError, ParameterError
        The game isn't one of taking the lowest dice, or `most` is out of range.
    NotConverged
        A fact that the method leans on doesn't hold for some number of dice, or
        the general solver gives something else.
    """
    if not require_game(game).face_points:
        raise UsageError(
            f"{game.name} isn't a game of taking the lowest dice (it has no face_points), so "
            "there is no method for very many"
        )
    if not 1 <= most <= MOST:
        raise ParameterError(f"{game.name}: many dice are from 1 to {MOST:,}, not {most}")
    points = np.array(game.face_points, np.float64)
    if len(points) < 3 or points[0] != 0 or points[1] <= 0 or np.any(np.diff(points) < 0):
        raise UsageError(
            f"{game.name}: face_points is {tuple(game.face_points)}; it must ascend from a "
            "single 0 over at least three faces"
        )
    skip = bool(getattr(game, "skip", False))
    started = time.perf_counter()
    choose = np.array(
        [[comb(n, k) for k in range(LOOKED_AT + 1)] for n in range(LOOKED_AT + 1)], np.float64
    )
    low, high = np.zeros((2, most + 1)), np.zeros((2, most + 1))
    failed, steep = kernels.many_dice(most, points, skip, LOOKED_AT, choose, low, high)
    if failed:
        raise NotConverged(
            f"{game.name}: the method for many dice can't tell which dice to take from "
            f"{failed} dice on (another die there costs as much as a face)"
        )
    seconds = time.perf_counter() - started
    found = ManyDice(low, high, steep, points, skip, seconds)
    for dice in range(1, min(most, held_against) + 1):
        solution = solve(replace(game, dice=dice))  # type: ignore[call-arg]
        value, bound = found.value(dice)
        if not abs(solution.value - value) <= bound + solution.error_bound:
            raise NotConverged(
                f"{game.name}: with {dice} dice the rules give {solution.value} and the method "
                f"for many dice {value}: the game isn't what its face_points and skip say"
            )
    return found
