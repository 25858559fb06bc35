"""Learning a game of three or more by self-play, and how far from an equilibrium it ends.

Every seat learns the same policy, in its own eyes, by Monte-Carlo control (Sutton and Barto 2020,
section 5.4). Nothing says that this comes to an equilibrium. What it came to is measured exactly:
the best response of each seat to all others who play what was learned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.policies import Policy
from rollwise.kernels.learning_seats import learn_games
from rollwise.learn.rule import check_explore
from rollwise.many.proving import ranks_of_end
from rollwise.many.seats import unit_payoffs
from rollwise.many.table import Response, respond_to
from rollwise.numbers.randomness import check_seed, fresh_seed, stream

PIECE = 20_000  # games between two reports


@dataclass(frozen=True)
class LearnedSeats:
    """What was learned, and what it is worth.

    Attributes
    ----------
    policy : Policy
        The action with the largest mean in each state.
    games, seed : int
    explore : float
    seen : int
        States with a choice that were seen.
    response : Response
        What each seat has with it, and what its best response has: certified.
    """

    policy: Policy
    games: int
    seed: int
    explore: float
    seen: int
    response: Response

    @property
    def gains(self) -> tuple[float, ...]:
        """What each seat gains by its best response, from the start."""
        both = zip(self.response.best, self.response.win_probabilities, strict=True)
        return tuple(best - got for best, got in both)


def learn_seats(
    graph: StateGraph,
    games: int,
    *,
    explore: float = 100.0,
    seed: int | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> LearnedSeats:
    """Learn by playing so many games against oneself.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    explore : float
        The larger, the longer it explores.
    """
    if games < 1:
        raise UsageError(f"games is {games}; it must be at least 1")
    explore = check_explore(explore)
    ranks_of_end(graph)
    drawn = fresh_seed() if seed is None else check_seed(seed)
    words, lotteries = stream(drawn, 0), graph.lotteries
    totals, visits = np.zeros(graph.n_actions), np.zeros(graph.n_actions)
    for begin in range(0, games, PIECE):
        learn_games(
            min(PIECE, games - begin),
            words,
            explore,
            graph.action_indptr,
            graph.action_lottery,
            graph.outcome_indptr,
            graph.outcome_state,
            lotteries.indptr,
            lotteries.chances(),
            lotteries.over,
            lotteries.passes,
            unit_payoffs(graph),
            totals,
            visits,
        )
        if progress is not None:
            progress("learning", min(begin + PIECE, games), games)
    even = np.full(graph.n_actions, 1.0 / graph.players)
    means = np.divide(totals, visits, out=even, where=visits > 0)
    begins = graph.action_indptr[:-1]
    best = np.maximum.reduceat(means, begins)[graph.action_state]
    places = np.where(means == best, np.arange(graph.n_actions), graph.n_actions)
    probability = np.zeros(graph.n_actions)
    probability[np.minimum.reduceat(places, begins)] = 1.0
    policy = Policy("learned", probability)
    sizes = np.diff(graph.action_indptr)
    seen = np.count_nonzero((np.add.reduceat(visits, begins) > 0) & (sizes > 1))
    return LearnedSeats(policy, games, drawn, explore, int(seen), respond_to(graph, policy))
