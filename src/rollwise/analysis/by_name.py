"""The front door's questions about policies, which takes games and policies by name.

`rollwise.answer.evaluation` and `rollwise.analysis.distributions` ask them of a graph and a
`Policy`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rollwise.analysis import distributions as analysis
from rollwise.analysis import one_distribution
from rollwise.answer import evaluation
from rollwise.answer.evaluation import BestResponse, Evaluation
from rollwise.answer.references import resolve_policy
from rollwise.answer.solution import Solution
from rollwise.builders import build
from rollwise.errors import PolicyError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.policies import Policy

Subject = Game | StateGraph | Solution
AnyPolicy = Policy | str | Callable[[Any], Any]


def evaluate(
    game: Subject, policy: AnyPolicy, against: AnyPolicy | None = None, **options: Any
) -> Evaluation:
    """What a policy is worth, against itself or another: see `rollwise.answer.evaluation.evaluate`.

    Parameters
    ----------
    game : Game, Solution or StateGraph
    policy, against : Policy, str or callable
        A name and what else `rollwise.answer.references.resolve_policy` reads, such as
        ``"hold-at-20"`` or ``"0.9*optimal+0.1*random"``; or a function of the state that
        gives an action. A graph alone has no rules, and so no policies by name but
        ``random`` and ``optimal``.
    **options
        Those of `rollwise.answer.evaluation.evaluate`.

    Examples
    --------
    >>> from rollwise.games.pig import Pig
    >>> evaluate(Pig(target=20), "hold-at-20", "optimal").win_probability[0].round(4)
    np.float64(0.6156)
    """
    graph, named = _opened(game)
    theirs = None if against is None else named(against)
    return evaluation.evaluate(graph, named(policy), theirs, **options)


def best_response(game: Subject, policy: AnyPolicy, **options: Any) -> BestResponse:
    """The best response to a policy: see `rollwise.answer.evaluation.best_response`.

    Parameters
    ----------
    game, policy
        As `evaluate` takes them.
    **options
        Those of `rollwise.answer.evaluation.best_response`.
    """
    graph, named = _opened(game)
    return evaluation.best_response(graph, named(policy), **options)


def distributions(
    game: Subject, policy: AnyPolicy = "optimal", **options: Any
) -> analysis.Distributions:
    """How final scores are distributed: see `rollwise.analysis.distributions.distributions`.

    Parameters
    ----------
    game, policy
        As `evaluate` takes them.
    **options
        Those of `rollwise.analysis.distributions.distributions`.
    """
    graph, named = _opened(game)
    return analysis.distributions(graph, named(policy), **options)


def distribution(
    game: Subject, policy: AnyPolicy = "optimal", **options: Any
) -> analysis.Distribution:
    """How final scores are distributed from one state: see `one_distribution.distribution`.

    Parameters
    ----------
    game, policy
        As `evaluate` takes them.
    **options
        Those of `rollwise.analysis.one_distribution.distribution`.
    """
    graph, named = _opened(game)
    return one_distribution.distribution(graph, named(policy), **options)


def _opened(subject: Subject) -> tuple[StateGraph, Callable[[AnyPolicy], Policy]]:
    """The graph, and what finds policies on it."""
    solution = subject if isinstance(subject, Solution) else None
    game = subject if isinstance(subject, Game) else solution.game if solution else None
    if isinstance(subject, StateGraph):
        graph = subject
    else:
        graph = build(subject) if isinstance(subject, Game) else subject.graph

    def named(policy: AnyPolicy) -> Policy:
        if isinstance(policy, Policy):
            return policy
        if policy == "optimal" and solution is not None:
            return solution.policy
        if game is None:
            if policy == "random":
                return Policy.uniform(graph)
            raise PolicyError(
                f"{graph.title} is a graph without its rules, which know the policies by name: "
                f"give the game instead, or a Policy in the place of {policy!r}"
            )
        if isinstance(policy, str):
            return resolve_policy(graph, game, policy)
        name = getattr(policy, "__name__", "policy")
        return Policy.of_function(graph, game, name, policy)

    return graph, named
