"""Policy against policy: many games, what came of them, and what should have.

Games are played in blocks, each from its own stream of random numbers, so that the
result depends on the seed alone and not on how many workers there are.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay, UsageError
from rollwise.evaluation import evaluate
from rollwise.graph import StateGraph
from rollwise.interrupts import held_back
from rollwise.policies import Policy
from rollwise.randomness import check_seed, fresh_seed, stream
from rollwise.simulate.lengths import expected_lengths
from rollwise.simulate.table import Games, PlayTable

BLOCK = 1 << 16  # games from one stream
SECOND_SEAT = 1 << 32  # streams of the games that the opponent begins count from here
Z95 = 1.959963984540054  # 95 % of a normal distribution lie within so many deviations
SUSPICIOUS = 5.0  # standard errors: chance alone goes beyond once in 1.7 million times
MOST_SCORES = 100_000  # different scores that are counted one by one
MOST_EXACT = 30_000_000  # outcomes of a graph up to which exact figures are computed


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
        rates = [side.win_rate for side in self.sides]
        if len(rates) != 2 or rates[0] is None or rates[1] is None:
            return None
        first, second = rates
        known = first.exact is not None and second.exact is not None
        return Estimate(
            (first.mean + 1 - second.mean) / 2,
            math.hypot(first.standard_error, second.standard_error) / 2,
            first.games + second.games,
            (first.exact + 1 - second.exact) / 2 if known else None,  # type: ignore[operator]
            (first.exact_bound + second.exact_bound) / 2 if known else None,  # type: ignore[operator]
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


class _Counts:
    """Sums over blocks of games."""

    def __init__(self, for_points: bool) -> None:
        self.payoffs = np.zeros(3, np.int64)  # losses, draws, wins of who moved first
        self.turns = np.zeros(1, np.int64)
        self.moves = np.zeros(1, np.int64)
        self.scores: dict[float, int] | None = {} if for_points else None
        self.points = 0.0
        self.squares = 0.0

    @property
    def games(self) -> int:
        return int(self.payoffs.sum())

    def add(self, block: Games) -> None:
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


def _side(counts: _Counts, first: str, second: str, for_points: bool) -> Side:
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


def simulate(
    graph: StateGraph,
    policy: Policy,
    against: Policy | None = None,
    *,
    games: int,
    seed: int | None = None,
    workers: int = 1,
    exact: bool = True,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Match:
    """Play games between policies and hold them against the exact figures.

    Parameters
    ----------
    graph : StateGraph
    policy : Policy
    against : Policy, optional
        What the opponent plays; the same policy unless given. Each of the two moves
        first in half of the games, the first one in one more if they are odd.
    games : int
        At least 1, or 2 between two policies.
    seed : int, optional
        A new one unless given; the result says which. The result depends on it and
        on nothing else.
    workers : int
        Threads that play at the same time.
    exact : bool
        Whether to compute the exact figures too.
    progress : callable, optional
        Called now and then as ``progress("playing", games, total)``.

    Returns
    -------
    Match
        After Ctrl-C, of the games that were played by then.

    Raises
    ------
    UsageError
        Too few games; a policy that doesn't fit; an opponent in a game for one.
    EndlessPlay
        A game between these policies goes on for more than a million moves.

    Warns
    -----
    Disagreement
        A simulated figure is more than 5 standard errors from the exact one.
    """
    if against is not None and np.array_equal(against.probability, policy.probability):
        table = PlayTable.of(graph, policy)
        if graph.players != 2:
            raise UsageError(f"{graph.game} is a game for one: there is no opponent")
        against = None
    else:
        table = PlayTable.of(graph, policy, against)
    seats = 1 if against is None else 2
    if games < seats:
        raise UsageError(f"games is {games}; it must be at least {seats}")
    if workers < 1:
        raise UsageError(f"workers is {workers}; it must be at least 1")
    seed = fresh_seed() if seed is None else check_seed(seed)
    for_points = graph.objective != "win"
    counts = [_Counts(for_points) for _ in range(seats)]
    _play(table, counts, games, seed, workers, progress)

    other = policy if against is None else against
    names = (policy.name, other.name if graph.players == 2 else "")
    pairs = (names, names[::-1])
    sides = [
        _side(part, *pair, for_points)
        for part, pair in zip(counts, pairs, strict=False)
        if part.games
    ]
    notes: list[str] = []
    if exact and len(sides) == seats:
        sides, notes = _with_exact(graph, policy, against, sides)
    match = Match(
        policy.name,
        other.name,
        sum(side.games for side in sides),
        games,
        seed,
        tuple(sides),
        tuple(notes),
    )
    for text in match.disagreements():
        warnings.warn(text, Disagreement, stacklevel=2)
    return match


def _play(
    table: PlayTable,
    counts: list[_Counts],
    games: int,
    seed: int,
    workers: int,
    progress: Callable[[str, int, int | None], None] | None,
) -> None:
    """Play the blocks of all seats in order, some at the same time, and add them up."""
    seats = len(counts)
    plan = []
    for first in range(seats):
        share = (games + seats - 1 - first) // seats
        for number in range((share + BLOCK - 1) // BLOCK):
            plan.append((number, first, min(BLOCK, share - number * BLOCK)))
    plan.sort()  # so that both seats have played alike when Ctrl-C comes

    def play(number: int, first: int, size: int) -> Games:
        return table.play(size, stream(seed, number + first * SECOND_SEAT), first)

    done = 0
    with held_back() as interrupt, ThreadPoolExecutor(workers) as pool:
        waiting: list[tuple[int, Future[Games]]] = []
        for job in [*plan, *[None] * workers]:
            if job is not None and not interrupt.asked:
                waiting.append((job[1], pool.submit(play, *job)))
            if waiting and (job is None or len(waiting) > workers):
                first, future = waiting.pop(0)
                block = future.result()
                counts[first].add(block)
                done += len(block.payoff)
                if progress is not None:
                    progress("playing", done, games)
        while waiting:
            first, future = waiting.pop(0)
            counts[first].add(future.result())
        if interrupt.asked and all(part.games for part in counts):
            interrupt.asked = False  # what was played is the answer


def _with_exact(
    graph: StateGraph, policy: Policy, against: Policy | None, sides: list[Side]
) -> tuple[list[Side], list[str]]:
    """Put the exact figures beside the simulated ones."""
    if graph.n_outcomes > MOST_EXACT:
        return sides, [f"no exact figures: the game has over {MOST_EXACT:,} outcomes"]
    try:
        found = evaluate(graph, policy, against)
        lengths = expected_lengths(graph, policy, against)
    except EndlessPlay as error:
        return sides, [f"no exact figures: {error}"]
    if found.bounds is None or found.bounds_second is None:
        return sides, ["no exact figures: the evaluation isn't certified"]
    # The second side is seen by the opponent, who moves first there.
    values = (float(found.values[0]), -float(found.values_second[0]))
    bounds = (float(found.bounds[0]), float(found.bounds_second[0]))
    done = []
    for i, side in enumerate(sides):
        rate, score = side.win_rate, side.score
        if rate is not None:
            rate = replace(rate, exact=(1 + values[i]) / 2, exact_bound=bounds[i] / 2)
        if score is not None:
            score = replace(score, exact=values[i], exact_bound=bounds[i])
        turns, moves = lengths[i]
        done.append(
            replace(
                side,
                win_rate=rate,
                score=score,
                turns=replace(
                    side.turns,
                    estimate=replace(
                        side.turns.estimate, exact=turns.value, exact_bound=turns.bound
                    ),
                ),
                moves=replace(
                    side.moves,
                    estimate=replace(
                        side.moves.estimate, exact=moves.value, exact_bound=moves.bound
                    ),
                ),
            )
        )
    return done, []
