"""What a policy loses against optimal play, certified."""

from __future__ import annotations

from typing import NamedTuple

from rollwise.answer.evaluation import best_response, evaluate
from rollwise.answer.references import Policies
from rollwise.graph.policies import Policy
from rollwise.graph.view import sign_of


class Loss(NamedTuple):
    """What a policy loses from the start: win probability, or points.

    Attributes
    ----------
    loss : float
        Of a game for two the mean over the seats.
    first, second : float
        Moving first and second; `second` is None in a game for one.
    exploitability : float or None
        What a best response wins against it, see `rollwise.answer.evaluation`.
    error_bound : float
        How far the losses can be off.
    exploitability_bound : float or None
    """

    loss: float
    first: float
    second: float | None
    exploitability: float | None
    error_bound: float
    exploitability_bound: float | None


def loss_of(policies: Policies, policy: Policy) -> Loss:
    """What a policy of a game loses against optimal play."""
    graph, solution = policies.graph, policies.solution
    two = graph.players == 2
    found = evaluate(policies, policy, "optimal" if two else None, starts=[0])
    best, sure = solution.value, float(solution.error_bounds[0])
    assert found.bounds is not None
    assert found.bounds_second is not None
    scale = 1.0 if graph.is_score else 0.5
    first = scale * sign_of(graph.objective) * (best - float(found.values[0]))
    bound = scale * (sure + float(max(found.bounds[0], found.bounds_second[0])))
    second = scale * (-best - float(found.values_second[0])) if two else None
    response = best_response(policies, policy, starts=[0]) if two else None
    return Loss(
        first if second is None else (first + second) / 2,
        first,
        second,
        None if response is None else response.exploitability(),
        bound,
        None if response is None else response.exploitability_bound(),
    )
