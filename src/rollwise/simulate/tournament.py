"""Round-robin tournaments: every policy against every other, from both seats."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.average import average_of_policy
from rollwise.answer.certified import Certified
from rollwise.answer.evaluation import certified_at, evaluate
from rollwise.answer.references import AnyPolicy, Policies, Subject
from rollwise.cluster.pool import Here, Pool
from rollwise.derive.average import Average
from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph import StateGraph, sign_of
from rollwise.graph.policies import Policy, Ties, ties_in_play
from rollwise.hooks import InWords
from rollwise.numbers.printed import CHANCE_ROUNDING
from rollwise.numbers.randomness import derived_seed, seed_of
from rollwise.simulate.match import MOST_EXACT, simulate
from rollwise.simulate.seats import SeatsTournament, tournament_of_many

OF_PAIR, OF_SEATING = 1_000_000, 10_000  # simulated games, unless given


@dataclass(frozen=True)
class Entry:
    """A policy and how it did.

    Attributes
    ----------
    policy : str
    result : float
        Win rate against all others, both seats and all opponents counting alike, or the
        expected payoff in a game for stakes; in a game for one, the win rate, the expected
        score or the exact average of endless play alone.
    error : float
        A certified bound where the tournament is exact, a standard error elsewhere.
    """

    policy: str
    result: float
    error: float


@dataclass(frozen=True, eq=False, repr=False)
class Tournament(InWords):
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
    subject : StateGraph
        The game.
    is_average : bool
        Whether results are averages of endless play.
    ties : Ties or None
        The ties of optimal policies; other choices in them may give other figures.
    """

    policies: tuple[str, ...]
    standings: tuple[Entry, ...]
    first: NDArray[np.float64] | None = field(repr=False)
    both: NDArray[np.float64] | None = field(repr=False)
    errors: NDArray[np.float64] | None = field(repr=False)
    exact: bool
    games: int
    seed: int | None
    subject: StateGraph | None = field(default=None, repr=False)
    is_average: bool = False
    ties: Ties | None = None


def tournament(
    game: Subject,
    policies: Sequence[AnyPolicy],
    *,
    games: int | None = None,
    seed: int | None = None,
    workers: int = 1,
    exact: bool = True,
    progress: Callable[[str, int, int | None], None] | None = None,
    pool: Pool | None = None,
) -> Tournament | SeatsTournament:
    """Let every policy play every other, or with three or more players in every seating.

    The results are exact and certified. They are simulated if `exact` is false, or, of up to two
    players, if no exact result is possible (a game too large, or policies that go round for ever in
    unreachable states).

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
    policies : sequence of str, callable or Policy
        At least two, as in `rollwise.evaluate`, with different names.
    games, seed, workers
        Of each simulated pair (1,000,000 games unless given) or seating (10,000); see
        `rollwise.simulate.simulate`. Exact results need none of them.
    exact : bool
    progress : callable, optional
        Called as ``progress("pairs", done, pairs)``.
    pool : Pool, optional
        Its workers each take a pair; see `rollwise.cluster`. Like `workers` for up to two players.

    Raises
    ------
    UsageError
    ClusterError
        The workers are gone.
    KeyboardInterrupt
        After Ctrl-C, also while games are simulated.
    """
    available = Policies.of(game, any_players=True)
    graph, entered = available.graph, [available.find(policy) for policy in policies]
    if graph.players > 2:
        if workers != 1 or pool is not None:
            raise UsageError(f"{graph.title}: workers and pool are for up to two players")
        played = None if exact else OF_SEATING if games is None else games
        return tournament_of_many(graph, entered, played, seed=seed, progress=progress)
    games = OF_PAIR if games is None else games
    names = tuple(policy.name for policy in entered)
    if len(names) < 2:
        raise UsageError("a tournament needs at least two policies")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"the policy {twice!r} is entered twice")
    if exact and graph.n_outcomes <= MOST_EXACT:
        try:
            if isinstance(available.game, Average):
                found = [average_of_policy(available.game, policy) for policy in entered]
                entries = [Entry(name, *one) for name, one in zip(names, found, strict=True)]
                # the average doesn't depend on the choice among optimal policies
                ties = ties_in_play(graph, *(policy for policy in entered if policy.mixes))
                return replace(_alone(graph, entries, None, 0), is_average=True, ties=ties)
            results = _run(graph, entered, names, None, 0, 1, progress, pool or Here())
            return replace(results, ties=ties_in_play(graph, *entered))
        except EndlessPlay:
            pass
    seed = seed_of(seed)
    results = _run(graph, entered, names, seed, games, workers, progress, pool or Here())
    return replace(results, ties=ties_in_play(graph, *entered))


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
    n, alone = len(policies), graph.players == 1
    shared, sent = pool.share(graph), [pool.share(policy) for policy in policies]
    # i against j, from both seats; i against itself for the first mover's advantage
    pairs = [(i, j) for i in range(n) for j in range(i, i + 1 if alone else n)]
    pieces = [
        (
            shared,
            sent[i],
            None if i == j else sent[j],
            None if seed is None else derived_seed(seed, number),
            games,
            workers,
        )
        for number, (i, j) in enumerate(pairs, start=0 if alone else 1)
    ]
    first = np.full((n, n), np.nan)
    errors = np.full((n, n), np.nan)
    stage = "policies" if alone else "pairs"
    if progress is not None:
        progress(stage, 0, len(pairs))
    played = pool.in_order(_pair, pieces)
    for done, ((i, j), found) in enumerate(zip(pairs, played, strict=True), start=1):
        # `found` has a result for each policy of the pair that moves first
        (first[i, j], errors[i, j]), (first[j, i], errors[j, i]) = found[0], found[-1]
        if progress is not None:
            progress(stage, done, len(pairs))
    if alone:
        entries = [
            Entry(name, float(first[i, i]), float(errors[i, i])) for i, name in enumerate(names)
        ]
        return _alone(graph, entries, seed, games)
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
    return Tournament(
        names, tuple(standings), first, both, both_errors, seed is None, games, seed, graph
    )


def _alone(graph: StateGraph, entries: list[Entry], seed: int | None, games: int) -> Tournament:
    """The tournament of a game for one, by the results in the order of the policies."""
    names = tuple(entry.policy for entry in entries)
    standings = sorted(entries, key=lambda entry: -sign_of(graph.objective) * entry.result)
    return Tournament(names, tuple(standings), None, None, None, seed is None, games, seed, graph)


def _pair(
    graph: StateGraph,
    one: Policy,
    other: Policy | None,
    seed: int | None,
    games: int,
    workers: int,
) -> list[Certified]:
    """The result of each policy when it moves first, with its bound or its standard error."""
    if seed is None:
        mine, theirs = certified_at(evaluate(graph, one, other, starts=[0]))
        results = [mine]
        if other is not None:
            results.append(Certified(-theirs.value, theirs.bound))
        return [value.shown(is_score=graph.is_score) for value in results]
    match = simulate(graph, one, other, games=games, seed=seed, workers=workers, exact=False)
    if match.games < games:  # after Ctrl-C
        raise KeyboardInterrupt
    estimates = [side.win_rate or side.score for side in match.sides]
    # equal results have no error of their own beside those of the other seat
    return [
        Certified(each.mean, 0.0 if math.isnan(each.standard_error) else each.standard_error)
        for each in estimates
        if each is not None
    ]
