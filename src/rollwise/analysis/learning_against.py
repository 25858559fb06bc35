"""Learning to beat a policy: games against it, in which the first move is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rollwise.answer.evaluation import Evaluation, best_response, evaluate
from rollwise.answer.references import AnyPolicy, Policies, Subject
from rollwise.derive.opponent import Against
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.learn import Learned, Learner
from rollwise.simulate.lengths import Certified


class LearnedAgainst(NamedTuple):
    """What games against a policy taught, and what that gets from it.

    Attributes
    ----------
    learned : Learned
        On the graph of the game. What play against the policy doesn't come to is never seen.
    against : str
        The name of the policy.
    gets, best : Certified
        What the learned policy gets from it, and what a best response gets: a win probability or
        a payoff, mean over the seats.
    """

    learned: Learned
    against: str
    gets: Certified
    best: Certified


def learn_against(
    game: Subject,
    policy: AnyPolicy,
    games: int,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> LearnedAgainst:
    """Play so many games against a policy, and learn from them.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        For two.
    policy : str, callable or Policy
    games : int
    settings : mapping
        Of the learner, see `rollwise.learn.Learner`; None where it is to choose.

    Raises
    ------
    UsageError
        The game is for one; there is no such policy; a number is out of range.
    """
    policies = Policies.of(game)
    graph = policies.graph
    if graph.players != 2:
        raise UsageError(f"{graph.title} is a game for one: there is nobody to learn against")
    if games < 1:
        raise UsageError(f"games is {games}; it must be at least 1")
    opponent = policies.find(policy)
    against = Against.of(graph, opponent)
    given = {name: value for name, value in (settings or {}).items() if value is not None}
    learner = Learner(against.graph, **given)
    learner.play(games, progress=progress)
    seen = learner.result()
    errors = seen.standard_errors
    learned = replace(
        seen,
        graph=graph,
        visits=against.as_before(seen.visits, 0),
        values=against.as_before(seen.values, np.nan),
        standard_errors=None if errors is None else against.as_before(errors, np.nan),
    )
    found = evaluate(policies, learned.policy, opponent, starts=[0])
    best = best_response(policies, opponent, starts=[0])
    return LearnedAgainst(
        learned, opponent.name, _over_the_seats(found, graph), _over_the_seats(best, graph)
    )


def _over_the_seats(found: Evaluation, graph: StateGraph) -> Certified:
    """What a policy gets from the start, mean over the seats."""
    first, second = (
        (found.values, found.values_second)
        if graph.is_score
        else (found.win_probability, found.win_probability_second)
    )
    assert found.bounds is not None
    assert found.bounds_second is not None
    bound = float(max(found.bounds[0], found.bounds_second[0]))
    value = (float(first[0]) + float(second[0])) / 2
    return Certified(value, bound if graph.is_score else bound / 2 + 2.0**-52)
