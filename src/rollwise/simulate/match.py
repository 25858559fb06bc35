"""Many simulated games between policies, with their exact expectations.

Games are played in blocks, each from its own stream of random numbers. The
result depends on the seed alone and not on the number of workers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import Certified
from rollwise.answer.evaluation import evaluate
from rollwise.answer.references import AnyPolicy, Policies, Subject
from rollwise.cluster.pool import Pool, Threads
from rollwise.derive.seats import take_seats
from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph import StateGraph
from rollwise.graph.policies import Policy
from rollwise.machine.interrupts import held_back
from rollwise.numbers.randomness import check_seed, fresh_seed, stream
from rollwise.play.games import Games, PlayTable
from rollwise.simulate.exact import certified_at, expected_lengths, require_end
from rollwise.simulate.results import Counts, Length, Match, Side, side_of, warn_of_disagreements

BLOCK = 1 << 16  # games from one stream
MOST_GAMES = 10**15
MOST_WORKERS = 256
SECOND_SEAT = 1 << 32  # streams of the games that the opponent begins count from here
MOST_EXACT = 30_000_000  # outcomes of a graph up to which exact figures are computed


def simulate(
    game: Subject,
    policy: AnyPolicy,
    against: AnyPolicy | None = None,
    *,
    games: int,
    seed: int | None = None,
    workers: int = 1,
    exact: bool = True,
    progress: Callable[[str, int, int | None], None] | None = None,
    pool: Pool | None = None,
) -> Match:
    """Play games between policies and compare them with the exact figures.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
    policy : str, callable or Policy
        As in `rollwise.evaluate`.
    against : optional
        The opponent's policy, by default the same one. Each of the two moves
        first in half of the games, the first one in one more if the number is odd.
    games : int
        At least 1, or 2 between two policies.
    seed : int, optional
        By default a new one, stored in the result. The result depends only on it.
    workers : int
        Number of threads.
    exact : bool
        Whether to compute the exact figures too.
    progress : callable, optional
        Called now and then as ``progress("playing", games, total)``.
    pool : Pool, optional
        Its workers play instead of threads.

    Returns
    -------
    Match
        After Ctrl-C, of the games finished by then.

    Raises
    ------
    UsageError, ClusterError
        Too few games; a policy that doesn't fit; an opponent in a solitaire game. No workers.
    EndlessPlay
        These policies may reach a state where neither ends the play, or a game goes on for more
        than a million moves.

    Warns
    -----
    Disagreement
        A simulated figure differs from the exact one by more than chance explains.
    """
    policies = Policies.of(game)
    graph, mine = policies.graph, policies.find(policy)
    theirs = None if against is None else policies.find(against)
    if theirs is not None and graph.players != 2:
        raise UsageError(f"{graph.game} is a game for one: there is no opponent")
    if theirs is not None and np.array_equal(theirs.probability, mine.probability):
        theirs = None
    plans = [mine] if theirs is None else [mine, theirs]
    if graph.objective != "win" or graph.endless != "forbidden":
        require_end(take_seats(graph, plans, [0]).graph)
    table = PlayTable.of(graph, *plans)
    seats = 1 if theirs is None else 2
    _check(games, seats, workers)
    seed = fresh_seed() if seed is None else check_seed(seed)
    counts = [Counts(graph.is_score) for _ in range(seats)]
    with nullcontext(pool) if pool is not None else Threads(workers) as players:
        _play(table, counts, games, seed, players, progress)

    other = mine if theirs is None else theirs
    names = (mine.name, other.name if graph.players == 2 else "")
    played = zip(counts, (names, names[::-1]), strict=False)
    sides = [side_of(part, *pair, graph.is_score) for part, pair in played if part.games]
    notes: list[str] = []
    if exact and len(sides) == seats:
        sides, notes = _with_exact(graph, mine, theirs, sides)
    n = sum(side.games for side in sides)
    match = Match(mine.name, other.name, n, games, seed, tuple(sides), tuple(notes))
    warn_of_disagreements(match)
    return match


def _check(games: int, seats: int, workers: int) -> None:
    if not seats <= games <= MOST_GAMES:
        raise UsageError(f"games is {games}; it must be from {seats} to {MOST_GAMES:,}")
    if not 1 <= workers <= MOST_WORKERS:
        raise UsageError(f"workers is {workers}; it must be from 1 to {MOST_WORKERS}")


def _play(
    table: PlayTable,
    counts: list[Counts],
    games: int,
    seed: int,
    pool: Pool,
    progress: Callable[[str, int, int | None], None] | None,
) -> None:
    """Play the blocks of all seats in order, some at the same time, and add them up."""
    # the first seat has one game more if the number is odd
    seats = len(counts)
    shares = [(games + seats - 1 - first) // seats for first in range(seats)]
    plan = (  # in this order, so that both seats have played alike when Ctrl-C comes
        (number, first, min(BLOCK, share - number * BLOCK))
        for number in range((shares[0] + BLOCK - 1) // BLOCK)
        for first, share in enumerate(shares)
        if number * BLOCK < share
    )
    shared, done = pool.share(table), 0
    waiting = deque[tuple[int, Future[Games]]]()

    def count_first() -> None:
        nonlocal done
        first, future = waiting.popleft()
        block = pool.result(future)
        counts[first].add(block)
        done += len(block.payoff)
        if progress is not None:
            progress("playing", done, games)

    with held_back() as interrupt:
        # futures are counted in the order of the blocks, so sums don't depend on the workers
        for number, first, size in plan:
            if interrupt.asked:
                break
            words = stream(seed, number + first * SECOND_SEAT)
            waiting.append((first, pool.submit(_block, shared, size, words, first)))
            if len(waiting) > pool.width:
                count_first()
        while waiting:
            count_first()
        if interrupt.asked and all(part.games for part in counts):
            interrupt.asked = False  # the finished games are the answer


def _block(table: PlayTable, size: int, words: NDArray[np.uint64], first: int) -> Games:
    """Games from one stream of random numbers."""
    return table.play(size, words.copy(), first)


def _with_exact(
    graph: StateGraph, policy: Policy, against: Policy | None, sides: list[Side]
) -> tuple[list[Side], list[str]]:
    """Put the exact figures beside the simulated ones."""
    if graph.n_outcomes > MOST_EXACT:
        return sides, [f"no exact figures: the game has over {MOST_EXACT:,} outcomes"]
    try:
        first, second = certified_at(evaluate(graph, policy, against, starts=[0]))
        lengths = expected_lengths(graph, policy, against)
    except EndlessPlay as error:
        return sides, [f"no exact figures: {error}"]
    # The second side has the figures of the opponent, who moves first there.
    values = (first, Certified(-second.value, second.bound))
    return [
        replace(
            side.beside(value),
            turns=_with_length(side.turns, turns),
            moves=_with_length(side.moves, moves),
        )
        for side, value, (turns, moves) in zip(sides, values, lengths, strict=False)
    ], []


def _with_length(simulated: Length, exact: Certified) -> Length:
    return replace(simulated, estimate=simulated.estimate.beside(exact))
