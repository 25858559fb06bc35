"""Games of three or more at a table, and tournaments: every seating of some policies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.evaluation import Shares, from_each_seat, one_each
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.policies import Policy, seat_payoffs
from rollwise.hooks import InWords
from rollwise.many.seats import ending_payoffs
from rollwise.numbers.given import whole_number
from rollwise.numbers.randomness import derived_seed, seed_of, stream
from rollwise.play.games import PlayTable

Floats = NDArray[np.float64]
MOST_SEATINGS = 1024
BLOCK = 1 << 16  # games played before they are counted


@dataclass(frozen=True, repr=False)
class Played(InWords):
    """Results of each seat in many games.

    Attributes
    ----------
    win_rates, standard_errors : tuple of float
        Mean payoffs in a game with stakes. Their error is NaN if all games had the same.
    moves, moves_standard_error : float
        Actions in a game, on average, and the error of this mean: NaN if all games had as many.
    exact : Shares or None
        The exact results of the seats.
    subject : StateGraph
        The game.
    """

    policies: tuple[str, ...]
    games: int
    seed: int
    win_rates: tuple[float, ...]
    standard_errors: tuple[float, ...]
    moves: float
    moves_standard_error: float = math.nan
    exact: Shares | None = field(default=None, repr=False)
    subject: StateGraph | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, eq=False, repr=False)
class SeatsTournament(InWords):
    """Results of each policy in all seatings.

    Attributes
    ----------
    policies : tuple of str
    seatings : int
        Number of seatings.
    results : (n,) float64
        Share of a win of each policy in a seat, averaged over all seatings in which not
        all seats play alike.
    among : (n, n) float64
        Share of the row's policy alone among the column's, averaged over its seats; on
        the diagonal an even share.
    error_bound : float or None
        Of each of them; proved. None for simulated results.
    standard_errors : (n,) float64 or None
        Of simulated results.
    games, seed : int or None
        Games of each seating, and the seed.
    subject : StateGraph
        The game.
    """

    policies: tuple[str, ...]
    seatings: int
    results: Floats
    among: Floats = field(repr=False)
    error_bound: float | None
    standard_errors: Floats | None = field(default=None, repr=False)
    games: int | None = None
    seed: int | None = None
    subject: StateGraph | None = field(default=None, repr=False)

    @property
    def exact(self) -> bool:
        """Whether the results are exact, and not simulated."""
        return self.error_bound is not None


def simulate_seats(
    graph: StateGraph, policies: Sequence[Policy], *, games: int, seed: int | None = None
) -> Played:
    """Play games from the start, each seat by a policy of its own.

    Parameters
    ----------
    games : int
        At least 2.
    """
    games = whole_number("games", games, 2)
    if graph.players == 1:
        raise UsageError(f"{graph.title} is a game for one: give its policy, and not a list")
    seated = one_each(graph, policies)
    drawn = seed_of(seed)
    table, words, n = (
        PlayTable.of(graph, *(seated if len(set(seated)) > 1 else seated[:1])),
        stream(drawn, 0),
        graph.players,
    )
    totals, moves, squares, origin = np.zeros((2, n)), 0, 0.0, np.zeros(n)
    # of two players there may be stakes, and payments on the way
    paid = n == 2 and graph.is_score
    payoffs, seats = seat_payoffs(graph) if paid else ending_payoffs(graph), np.arange(n)
    for begin in range(0, games, BLOCK):
        ends = table.run(np.full(min(BLOCK, games - begin), table.starts[0]), words)
        # the mover is the first of an ending's payoffs
        got = payoffs[ends.ended[:, None], (seats - ends.passes[:, None]) % n]
        if paid:
            got += np.column_stack([ends.points, -ends.points])
        if graph.is_score:  # payoffs far from 0 leave no digits of their spread in squares
            origin = origin if begin else got[0]
            got = got - origin
        totals += got.sum(axis=0), (got**2).sum(axis=0)
        moves += int(ends.moves.sum())
        squares += float((ends.moves.astype(np.float64) ** 2).sum())
    means = totals[0] / games
    spread = np.maximum(totals[1] / games - means**2, 0.0) * games / (games - 1)
    # results that are all equal give no spread: another game may differ
    unknown = np.where(spread > 0, spread, np.nan)
    spread = unknown if graph.is_score else np.maximum(spread, 1 / games)
    uneven = max(squares / games - (moves / games) ** 2, 0.0) / (games - 1)
    return Played(
        tuple(policy.name for policy in seated),
        games,
        drawn,
        tuple((origin + means).tolist()),
        tuple(math.sqrt(x / games) for x in spread.tolist()),
        moves / games,
        math.sqrt(uneven) if squares * games != float(moves) ** 2 else math.nan,
        subject=graph,
    )


def tournament_of_many(
    graph: StateGraph,
    policies: Sequence[Policy],
    games: int | None = None,
    *,
    seed: int | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> SeatsTournament:
    """Let policies play in every seating.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    policies : sequence of Policy
        At least two, with different names.
    games : int, optional
        Simulate so many games of each seating, in equal parts with each of its seats first to
        move. The results are exact without it.
    """
    names = _check(graph, policies)
    n, m = graph.players, len(policies)
    if games is not None and games < 2 * n:
        raise UsageError(f"games is {games}; it must be at least {2 * n}, two for each first mover")
    drawn = None
    if games is not None:
        drawn = seed_of(seed)
    totals, counts, among = np.zeros(m), np.zeros(m), np.zeros((m, m))
    bound, spread = 0.0, np.zeros(m)
    # the first policy of a seating is measured, in each seat in turn
    for done, seating in enumerate(product(range(m), repeat=n)):
        if progress is not None:
            progress("seatings", done, m**n)
        seated = [policies[i] for i in seating]
        if games is None or drawn is None:
            shares, off = from_each_seat(graph, [policy.probability for policy in seated])
            share, bound = float(np.mean(shares)), max(bound, off)
        else:
            share, off = _simulated_share(graph, seated, games // n, derived_seed(drawn, done))
        mine, others = seating[0], set(seating[1:])
        if len(others) == 1:
            among[mine, min(others)] = share
        if others != {mine}:  # it counts, unless all play alike
            totals[mine] += share
            counts[mine] += 1
            spread[mine] += off
    results = names, m**n, totals / counts, among
    if games is None:
        return SeatsTournament(*results, bound + 2.0**-50, subject=graph)
    errors = np.sqrt(spread) / counts
    return SeatsTournament(*results, None, errors, games // n * n, drawn, subject=graph)


def _simulated_share(
    graph: StateGraph, seated: Sequence[Policy], games: int, seed: int
) -> tuple[float, float]:
    """The result of the first policy, mean over the beginning seat, and its variance."""
    share, variance, n = 0.0, 0.0, graph.players
    for first in range(n):  # the policy that counts has the seat that is so far behind
        turned = [seated[(k - first) % n] for k in range(n)]
        played = simulate_seats(graph, turned, games=games, seed=derived_seed(seed, first))
        share += played.win_rates[first] / n
        # equal results have no error of their own beside those of the other seats
        variance += float(np.nan_to_num(played.standard_errors[first]) / n) ** 2
    return share, variance


def _check(graph: StateGraph, policies: Sequence[Policy]) -> tuple[str, ...]:
    """The names of the policies, if they can be in a tournament."""
    names = tuple(policy.name for policy in policies)
    n, m = graph.players, len(policies)
    if m < 2 or len(set(names)) < m:
        raise UsageError("a tournament needs at least two policies, each entered once")
    if m**n > MOST_SEATINGS:
        raise UsageError(
            f"{m} policies can take {n} seats in {m**n:,} ways; a tournament has at most "
            f"{MOST_SEATINGS:,}: enter fewer"
        )
    return names
