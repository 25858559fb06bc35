"""Learning a game of three or more by self-play, and how far from an equilibrium it ends.

Every seat learns the same policy, in its own eyes, by Monte-Carlo control (Sutton and Barto 2020,
section 5.4). Nothing says that this comes to an equilibrium. What it came to is measured exactly:
the best response of each seat to all others who play what was learned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rollwise.answer.evaluate_seats import Response, respond_to
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import has_choice
from rollwise.graph.policies import Policy
from rollwise.learn import Learner
from rollwise.many.proving import ranks_of_end


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
    ranks_of_end(graph)
    learner = Learner(graph, explore=explore, seed=seed, method="monte-carlo")
    learner.play(games, progress=progress)
    found = learner.result()
    seen = np.count_nonzero((found.seen > 0) & has_choice(graph))
    own = learner.seed
    response = respond_to(graph, found.policy)
    return LearnedSeats(found.policy, games, own, learner.explore, int(seen), response)
