"""What came of simulated games: estimates, and the exact figures beside them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rollwise.printed import CHANCE_ROUNDING
from rollwise.simulate.table import Games

Z95 = 1.959963984540054  # 95 % of a normal distribution lie within so many deviations
SUSPICIOUS = 5.0  # standard errors: chance alone goes beyond once in 1.7 million times
MOST_SCORES = 100_000  # different scores that are counted one by one


class Disagreement(UserWarning):
    """Simulated and exact figures further apart than chance explains."""


@dataclass(frozen=True)
class Estimate:
    """A mean over games, beside its exact value.

    Attributes
    ----------
    mean, standard_error : float
    games : int
    exact, exact_bound : float or None
        The certified value and how far it can be off; None where it isn't known.
    """

    mean: float
    standard_error: float
    games: int
    exact: float | None = None
    exact_bound: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval: the mean and 1.96 standard errors to each side."""
        reach = Z95 * self.standard_error
        return self.mean - reach, self.mean + reach

    @property
    def deviation(self) -> float | None:
        """Distance from the exact value beyond its bound, in standard errors."""
        if self.exact is None or self.exact_bound is None or not math.isfinite(self.exact_bound):
            return None
        excess = abs(self.mean - self.exact) - self.exact_bound
        if excess <= 1e-12 * max(1.0, abs(self.exact)):
            return 0.0
        return excess / self.standard_error if self.standard_error > 0 else math.inf


@dataclass(frozen=True)
class Length:
    """How long games took.

    Attributes
    ----------
    estimate : Estimate
    deviation : float
        Standard deviation.
    shortest, median, longest : int
    """

    estimate: Estimate
    deviation: float
    shortest: int
    median: int
    longest: int


@dataclass(frozen=True)
class Side:
    """The games in which one of the policies moved first.

    Attributes
    ----------
    first, second : str
        Names of the policies; `second` is empty in a game for one.
    games, wins, draws, losses : int
        Wins and losses are those of who moved first.
    win_rate : Estimate or None
        Of who moved first, a draw being half a win; None in a game for points.
    score : Estimate or None
    scores : dict or None
        How many games ended with each score; None where there are too many.
    turns, moves : Length
    """

    first: str
    second: str
    games: int
    wins: int
    draws: int
    losses: int
    win_rate: Estimate | None
    score: Estimate | None
    scores: dict[float, int] | None
    turns: Length
    moves: Length

    def estimates(self) -> Iterator[tuple[str, Estimate]]:
        """All figures that have an exact value to be held against."""
        if self.win_rate is not None:
            yield "win rate", self.win_rate
        if self.score is not None:
            yield "score", self.score
        yield "turns", self.turns.estimate
        yield "moves", self.moves.estimate


@dataclass(frozen=True)
class Match:
    """What came of simulating a policy, against another or itself.

    Attributes
    ----------
    policy, against : str
        Names; `against` is the same where a policy plays itself.
    games : int
        All games.
    asked : int
        How many were asked for; more than `games` where Ctrl-C came between.
    seed : int
    sides : tuple of Side
        One if the policy plays itself or alone; else that in which it moved
        first, and that in which the other did.
    notes : tuple of str
        Why exact figures are missing.
    """

    policy: str
    against: str
    games: int
    asked: int
    seed: int
    sides: tuple[Side, ...]
    notes: tuple[str, ...] = ()

    @property
    def win_rate(self) -> Estimate | None:
        """Of the policy over both seats, each counting half."""
        if len(self.sides) != 2:
            return None
        first, second = self.sides[0].win_rate, self.sides[1].win_rate
        if first is None or second is None:
            return None
        exact = bound = None
        if first.exact is not None and second.exact is not None:
            exact = (first.exact + 1 - second.exact) / 2
            bound = ((first.exact_bound or 0.0) + (second.exact_bound or 0.0)) / 2
            bound += CHANCE_ROUNDING
        return Estimate(
            (first.mean + 1 - second.mean) / 2,
            math.hypot(first.standard_error, second.standard_error) / 2,
            first.games + second.games,
            exact,
            bound,
        )

    def disagreements(self) -> list[str]:
        """Figures that are further from the exact ones than chance explains."""
        found = []
        for side in self.sides:
            pair = f"{side.first} against {side.second}" if side.second else side.first
            for name, estimate in side.estimates():
                off = estimate.deviation
                if off is not None and off > SUSPICIOUS:
                    found.append(
                        f"{pair}: {name} {estimate.mean:.6g} ± {estimate.standard_error:.2g} "
                        f"(standard error) is {off:.1f} standard errors from the exact "
                        f"{estimate.exact:.8g}"
                    )
        return found


class Counts:
    """Sums over blocks of games.

    Attributes
    ----------
    payoffs : (3,) int64
        How often who moved first has lost, drawn and won.
    turns, moves : (m,) int64
        How many games took so many.
    scores : dict or None
        How many games ended with each score.
    points, squares : float
        Sums of the scores and of their squares.
    """

    def __init__(self, for_points: bool) -> None:
        self.payoffs = np.zeros(3, np.int64)  # losses, draws, wins of who moved first
        self.turns = np.zeros(1, np.int64)
        self.moves = np.zeros(1, np.int64)
        self.scores: dict[float, int] | None = {} if for_points else None
        self.points = 0.0
        self.squares = 0.0

    @property
    def games(self) -> int:
        """How many games were counted."""
        return int(self.payoffs.sum())

    def add(self, block: Games) -> None:
        """Count a block of games."""
        self.payoffs += np.bincount(block.payoff.astype(np.int64) + 1, minlength=3)
        self.turns = _added(self.turns, np.bincount(block.turns))
        self.moves = _added(self.moves, np.bincount(block.moves))
        if not len(block.points):
            return
        self.points += float(block.points.sum())
        self.squares += float((block.points**2).sum())
        if self.scores is not None:
            for score, count in zip(*np.unique(block.points, return_counts=True), strict=True):
                self.scores[float(score)] = self.scores.get(float(score), 0) + int(count)
            if len(self.scores) > MOST_SCORES:
                self.scores = None


def _added(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    total = longer.copy()
    total[: len(shorter)] += shorter
    return total


def _mean(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[float, float]:
    """Mean and standard deviation of values that occurred so often."""
    n = int(counts.sum())
    mean = float(values @ counts) / n
    return mean, math.sqrt(float((values - mean) ** 2 @ counts) / max(n - 1, 1))


def _length(counts: NDArray[np.int64]) -> Length:
    values = np.arange(len(counts), dtype=np.float64)
    n = int(counts.sum())
    mean, deviation = _mean(values, counts)
    seen = np.flatnonzero(counts)
    median = int(np.searchsorted(np.cumsum(counts), (n + 1) // 2))
    estimate = Estimate(mean, deviation / math.sqrt(n), n)
    return Length(estimate, deviation, int(seen[0]), median, int(seen[-1]))


def side_of(counts: Counts, first: str, second: str, for_points: bool) -> Side:
    """The figures of the games that were counted."""
    n = counts.games
    losses, draws, wins = counts.payoffs.tolist()
    rate = score = None
    if for_points:
        mean = counts.points / n
        spread = max(counts.squares / n - mean * mean, 0.0) * n / max(n - 1, 1)
        score = Estimate(mean, math.sqrt(spread / n), n)
    else:
        mean, deviation = _mean(np.array([0.0, 0.5, 1.0]), counts.payoffs)
        # Where all games ended alike, their spread says nothing of how sure that is.
        rate = Estimate(mean, max(deviation, 1 / math.sqrt(n)) / math.sqrt(n), n)
    return Side(
        first,
        second,
        n,
        wins,
        draws,
        losses,
        rate,
        score,
        None if counts.scores is None else dict(sorted(counts.scores.items())),
        _length(counts.turns),
        _length(counts.moves),
    )
