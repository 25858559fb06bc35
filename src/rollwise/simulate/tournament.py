"""Round-robin tournaments: every policy against every other, from both seats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.evaluation import evaluate
from rollwise.answer.references import AnyPolicy, Policies, Subject
from rollwise.cluster.pool import Here, Pool
from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph import StateGraph, sign_of, win_probability
from rollwise.graph.policies import Policy
from rollwise.numbers.printed import CHANCE_ROUNDING
from rollwise.numbers.randomness import check_seed, derived_seed, fresh_seed
from rollwise.simulate.match import MOST_EXACT, simulate


@dataclass(frozen=True)
class Entry:
    """A policy and how it did.

    Attributes
    ----------
    policy : str
    result : float
        Win rate against all others, both seats and all opponents counting alike, or the
        expected payoff in a game for stakes; in a game for one, the win rate or the expected
        score alone.
    error : float
        A certified bound where the tournament is exact, a standard error elsewhere.
    """

    policy: str
    result: float
    error: float


@dataclass(frozen=True, eq=False)
class Tournament:
    """The results of a tournament.

    Attributes
    ----------
    policies : tuple of str
    standings : tuple of Entry
        The best first.
    first : (n, n) float64 or None
        How often the row's policy wins against the column's when it moves first (a
        draw is half a win), itself included; in a game for stakes its expected payoff.
        None in a game for one.
    both : (n, n) float64 or None
        The same over both seats.
    errors : (n, n) float64 or None
        Of `both`: certified bounds where exact, standard errors elsewhere.
    exact : bool
    games : int
        Of each pair, where simulated; 0 where exact.
    seed : int or None
    """

    policies: tuple[str, ...]
    standings: tuple[Entry, ...]
    first: NDArray[np.float64] | None = field(repr=False)
    both: NDArray[np.float64] | None = field(repr=False)
    errors: NDArray[np.float64] | None = field(repr=False)
    exact: bool
    games: int
    seed: int | None


def tournament(
    game: Subject,
    policies: Sequence[AnyPolicy],
    *,
    games: int = 1_000_000,
    seed: int | None = None,
    workers: int = 1,
    exact: bool = True,
    progress: Callable[[str, int, int | None], None] | None = None,
    pool: Pool | None = None,
) -> Tournament:
    """Let every policy play every other.

    The results are exact and certified. They are simulated if `exact` is false, or if no exact
    result is possible (a game too large, or policies that go round for ever in unreachable
    states).

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
    policies : sequence of str, callable or Policy
        At least two, as in `rollwise.evaluate`, with different names.
    games, seed, workers
        Of each simulated pair; see `rollwise.simulate.simulate`.
    exact : bool
    progress : callable, optional
        Called as ``progress("pairs", done, pairs)``.
    pool : Pool, optional
        Its workers each take a pair; see `rollwise.cluster`.

    Raises
    ------
    UsageError
    ClusterError
        The workers are gone.
    """
    available = Policies.of(game)
    graph, entered = available.graph, [available.find(policy) for policy in policies]
    names = tuple(policy.name for policy in entered)
    if len(names) < 2:
        raise UsageError("a tournament needs at least two policies")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"the policy {twice!r} is entered twice")
    if exact and graph.n_outcomes <= MOST_EXACT:
        try:
            return _run(graph, entered, names, None, 0, 1, progress, pool or Here())
        except EndlessPlay:
            pass
    seed = fresh_seed() if seed is None else check_seed(seed)
    return _run(graph, entered, names, seed, games, workers, progress, pool or Here())


def _run(
    graph: StateGraph,
    policies: Sequence[Policy],
    names: tuple[str, ...],
    seed: int | None,
    games: int,
    workers: int,
    progress: Callable[[str, int, int | None], None] | None,
    pool: Pool,
) -> Tournament:
    n = len(policies)
    shared, sent = pool.share(graph), [pool.share(policy) for policy in policies]
    if graph.players == 1:
        entries = []
        own = [None if seed is None else derived_seed(seed, i) for i in range(n)]
        each = [(shared, sent[i], own[i], games, workers) for i in range(n)]
        for entry in pool.in_order(_alone, each):
            entries.append(entry)
            if progress is not None:
                progress("policies", len(entries), n)
        sign = sign_of(graph.objective)
        entries.sort(key=lambda entry: -sign * entry.result)
        return Tournament(names, tuple(entries), None, None, None, seed is None, games, seed)
    first = np.full((n, n), np.nan)
    errors = np.full((n, n), np.nan)
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    own = [None if seed is None else derived_seed(seed, done + 1) for done in range(len(pairs))]
    pieces = [
        (shared, sent[i], sent[j], i == j, random_seed, games, workers)
        for (i, j), random_seed in zip(pairs, own, strict=True)
    ]
    played = pool.in_order(_pair, pieces)
    for done, ((i, j), (rates, bounds)) in enumerate(zip(pairs, played, strict=True), start=1):
        first[i, j], first[j, i] = rates
        errors[i, j], errors[j, i] = bounds
        if progress is not None:
            progress("pairs", done, len(pairs))
    whole = 0.0 if graph.is_score else 1.0  # the sum of both players' shares
    both = (first + whole - first.T) / 2
    if seed is None:
        both_errors = (errors + errors.T) / 2 + CHANCE_ROUNDING
    else:
        both_errors = np.hypot(errors, errors.T) / 2
    np.fill_diagonal(both, whole / 2)
    np.fill_diagonal(both_errors, 0.0)
    others = ~np.eye(n, dtype=np.bool_)
    standings = [
        Entry(
            name,
            float(both[i][others[i]].mean()),
            float(both_errors[i][others[i]].mean()) + n * CHANCE_ROUNDING
            if seed is None
            else float(np.sqrt((both_errors[i][others[i]] ** 2).sum()) / (n - 1)),
        )
        for i, name in enumerate(names)
    ]
    standings.sort(key=lambda entry: -entry.result)
    return Tournament(names, tuple(standings), first, both, both_errors, seed is None, games, seed)


def _pair(
    graph: StateGraph,
    one: Policy,
    other: Policy,
    alone: bool,
    seed: int | None,
    games: int,
    workers: int,
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Win rates, or gains, of each policy when it moves first, and their errors."""
    if seed is None:
        evaluation = evaluate(graph, one, None if alone else other, starts=[0])
        if evaluation.bounds is None or evaluation.bounds_second is None:
            raise EndlessPlay(f"{graph.game}: the evaluation isn't certified")
        rates = float(evaluation.values[0]), -float(evaluation.values_second[0])
        exact = (evaluation.bounds[0], evaluation.bounds_second[0])
        if graph.is_score:
            return rates, (float(exact[0]), float(exact[1]))
        rates = win_probability(rates[0]), win_probability(rates[1])
        bounds = (float(exact[0]) / 2 + CHANCE_ROUNDING, float(exact[1]) / 2 + CHANCE_ROUNDING)
        return rates, bounds
    match = simulate(
        graph,
        one,
        None if alone else other,
        games=games,
        seed=seed,
        workers=workers,
        exact=False,
    )
    sides = match.sides * 2 if len(match.sides) == 1 else match.sides
    means, deviations = [], []
    for side in sides:
        estimate = side.win_rate or side.score
        assert estimate is not None
        means.append(estimate.mean)
        deviations.append(estimate.standard_error)
    return (means[0], means[1]), (deviations[0], deviations[1])


def _alone(graph: StateGraph, policy: Policy, seed: int | None, games: int, workers: int) -> Entry:
    for_points = graph.is_score
    if seed is None:
        evaluation = evaluate(graph, policy, starts=[0])
        if evaluation.bounds is None:
            raise EndlessPlay(f"{graph.game}: the evaluation isn't certified")
        value, bound = float(evaluation.values[0]), float(evaluation.bounds[0])
        if for_points:
            return Entry(policy.name, value, bound)
        return Entry(policy.name, win_probability(value), bound / 2 + CHANCE_ROUNDING)
    match = simulate(graph, policy, games=games, seed=seed, workers=workers, exact=False)
    estimate = match.sides[0].score if for_points else match.sides[0].win_rate
    assert estimate is not None
    return Entry(policy.name, estimate.mean, estimate.standard_error)
