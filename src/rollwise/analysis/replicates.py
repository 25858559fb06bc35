"""Replicates of learning: independent learners of one game, and how far they differ.

What one learner comes to depends on chance. Several that share nothing but the game say how much:
each figure has a mean over the replicates, and a standard error from their spread. The seed of
replicate k is derived from the seed of all and k, so no figure depends on who learned, or when.

Each replicate is a learner that plays alone (one worker), and it is measured against the exact
solution as one learner is (see `rollwise.analysis.learning`). With three players or more there
is no such solution. The replicates then say how much each seat gets, and how much it could get.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from rollwise.analysis.learn_seats import learn_seats
from rollwise.analysis.learning import Reference, play_and_assess
from rollwise.answer.solution import Solution
from rollwise.cluster.pool import Here, Pool
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.learn.learner import METHODS, Learner
from rollwise.learn.rule import check_explore
from rollwise.numbers.randomness import check_seed, derived_seed, fresh_seed
from rollwise.proofs.endless_play import require_ending

FEWEST, MOST_REPLICATES = 2, 100_000
SEEN, START, ERROR = "states_seen", "start", "weighted_error"
OPTIMAL, WEIGHTED, LOSS = "optimal_share", "weighted_optimal_share", "loss"
GAIN = "gain"

Progress = Callable[[str, int, "int | None"], None]
Figures = Mapping[str, float]


class Spread(NamedTuple):
    """A figure over the replicates.

    Attributes
    ----------
    mean, standard_error : float
        The error is that of the mean, from the spread of the replicates.
    least, most : float
        Of one replicate.
    """

    mean: float
    standard_error: float
    least: float
    most: float


class Point(NamedTuple):
    """A learner after some games.

    Attributes
    ----------
    games : int
    figures : mapping of str to float
    bound : float
        How far those figures can be off that are computed exactly; certified.
    """

    games: int
    figures: Figures
    bound: float


class Replicate(NamedTuple):
    """One of the learners.

    Attributes
    ----------
    seed : int
        The same learner is had by this seed alone.
    points : tuple of Point
        Along the way, the end last.
    """

    seed: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Replicates:
    """Learners of one game, and what they have in common.

    Attributes
    ----------
    graph : StateGraph
    method : str
    explore : float
    seed : int
        From which those of the replicates are derived.
    asked : int
        How many there were to be.
    each : tuple of Replicate
        In the order of their numbers.
    stopped : bool
        Whether Ctrl-C ended it: then these are the first ones.
    solution : Solution or None
        Against which they were measured; none with three players or more.
    """

    graph: StateGraph
    method: str
    explore: float
    seed: int
    asked: int
    each: tuple[Replicate, ...]
    stopped: bool
    solution: Solution | None = None

    @property
    def games(self) -> tuple[int, ...]:
        """After how many games each was measured."""
        return tuple(point.games for point in self.each[0].points)

    @property
    def bound(self) -> float:
        """How far the exact figures of any replicate can be off."""
        return max(point.bound for one in self.each for point in one.points)

    def spreads(self, point: int = -1) -> dict[str, Spread]:
        """Every figure over the replicates, at one of the numbers of games."""
        rows = [one.points[point].figures for one in self.each]
        return {name: spread([row[name] for row in rows]) for name in rows[0]}


def spread(numbers: Sequence[float]) -> Spread:
    """The mean of at least two numbers, its standard error, and the range."""
    deviation = float(np.std(numbers, ddof=1))
    error = deviation / math.sqrt(len(numbers))
    return Spread(float(np.mean(numbers)), error, min(numbers), max(numbers))


def check_replicates(games: int, replicates: int) -> None:
    """Refuse numbers that are out of range.

    Raises
    ------
    UsageError
    """
    if games < 1:
        raise UsageError(f"games is {games}; it must be at least 1")
    if not FEWEST <= replicates <= MOST_REPLICATES:
        raise UsageError(
            f"replicates is {replicates}; it must be from {FEWEST} to {MOST_REPLICATES:,}"
        )


def learn_replicates(
    solution: Solution,
    games: int,
    replicates: int,
    *,
    explore: float = 100.0,
    seed: int | None = None,
    method: str = "counts",
    checkpoints: int = 1,
    progress: Progress | None = None,
    pool: Pool | None = None,
) -> Replicates:
    """Let several learners play a game for one or two, each by itself.

    Parameters
    ----------
    solution : Solution
        Against which they are measured.
    games : int
        Of each.
    replicates : int
        At least 2.
    explore, method
        As `rollwise.learn.Learner` takes them.
    seed : int, optional
        A new one unless given.
    checkpoints : int
        How often each is measured, at numbers of games that double, the end counted.
    progress : callable, optional
    pool : Pool, optional
        Whose workers each take a replicate; see `rollwise.cluster`.

    Raises
    ------
    UsageError
        A number is out of range.
    EndlessPlay
        The players can go round for ever.
    ClusterError
        The workers are gone.
    """
    check_replicates(games, replicates)
    if method not in METHODS:
        raise UsageError(f"there is no learner {method!r} (learners: {', '.join(METHODS)})")
    if checkpoints < 1:
        raise UsageError(f"checkpoints is {checkpoints}; it must be at least 1")
    explore = check_explore(explore)
    require_ending(solution.graph)
    data = replace(solution, game=None, run=None)  # rules are no data
    asked = (Reference.of(data), explore, method, games, checkpoints)
    own, each, stopped = _each(_learned, asked, replicates, seed, progress, pool)
    return Replicates(solution.graph, method, explore, own, replicates, each, stopped, solution)


def learn_seats_replicates(
    graph: StateGraph,
    games: int,
    replicates: int,
    *,
    explore: float = 100.0,
    seed: int | None = None,
    progress: Progress | None = None,
    pool: Pool | None = None,
) -> Replicates:
    """Let several learners play a game for three or more, each by itself.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    games, replicates, explore, seed, progress, pool
        As `learn_replicates` takes them.
    """
    check_replicates(games, replicates)
    explore = check_explore(explore)
    asked = (graph, explore, games)
    own, each, stopped = _each(_seats_learned, asked, replicates, seed, progress, pool)
    return Replicates(graph, "monte-carlo", explore, own, replicates, each, stopped)


def _each(
    learned: Callable[..., tuple[Point, ...]],
    asked: tuple[Any, ...],
    replicates: int,
    seed: int | None,
    progress: Progress | None,
    pool: Pool | None,
) -> tuple[int, tuple[Replicate, ...], bool]:
    """The seed of all, the replicates, and whether Ctrl-C ended them.

    Parameters
    ----------
    learned : callable
        ``learned(*asked, seed)``, which workers can import.
    asked : tuple
        Its first part, which is large, travels once.
    """
    own = fresh_seed() if seed is None else check_seed(seed)
    workers = pool or Here()
    sent, *rest = workers.share(asked[0]), *asked[1:]
    seeds = [derived_seed(own, number) for number in range(replicates)]
    found: Iterator[tuple[Point, ...]] = workers.in_order(
        learned, ((sent, *rest, drawn) for drawn in seeds)
    )
    each, stopped = list[Replicate](), False
    try:
        for drawn in seeds:
            if progress is not None:
                progress("replicates", len(each), replicates)
            each.append(Replicate(drawn, next(found)))
    except KeyboardInterrupt:
        if len(each) < FEWEST:
            raise
        stopped = True
    return own, tuple(each), stopped


def _learned(
    reference: Reference, explore: float, method: str, games: int, checkpoints: int, seed: int
) -> tuple[Point, ...]:
    """One learner, as it is measured along the way."""
    learner = Learner(reference.solution.graph, explore=explore, seed=seed, method=method)
    points = []
    for assessed in play_and_assess(learner, games, checkpoints, reference):
        learned = assessed.learned
        figures = {
            SEEN: float(np.count_nonzero(learned.seen)),
            START: float(learned.estimates[0]),
            ERROR: assessed.weighted_error,
            OPTIMAL: assessed.optimal_share,
            WEIGHTED: assessed.weighted_optimal_share,
            LOSS: assessed.loss,
        }
        points.append(Point(learned.games, figures, assessed.loss_bound))
    return tuple(points)


def _seats_learned(graph: StateGraph, explore: float, games: int, seed: int) -> tuple[Point, ...]:
    """One learner, measured at the end."""
    found = learn_seats(graph, games, explore=explore, seed=seed)
    response = found.response
    figures = {SEEN: float(found.seen)}
    for kind, numbers in (("seat", response.win_probabilities), ("best", response.best)):
        figures |= {f"{kind}_{k}": number for k, number in zip(count(1), numbers)}
    figures[GAIN] = max(found.gains)
    return (Point(found.games, figures, response.error_bound),)
