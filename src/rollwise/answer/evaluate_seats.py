"""What each seat of a game gets by given policies, and by its best response to them: certified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rollwise.answer.certified import solve_and_certify
from rollwise.errors import UsageError
from rollwise.graph import StateGraph, win_probability
from rollwise.graph.policies import Policy
from rollwise.many.seats import Stakes, against_all, seen_from

ADVERSARIES = "adversaries"  # who want nothing but to keep a seat from winning
ALLIES = "allies"  # who want nothing but that it wins


@dataclass(frozen=True)
class Shares:
    """What each seat gets from the start, on average.

    Attributes
    ----------
    policies : tuple of str
    win_probabilities : tuple of float
        In a game for payoffs these, here and below.
    error_bound : float
        Of each of them; proved.
    """

    policies: tuple[str, ...]
    win_probabilities: tuple[float, ...]
    error_bound: float


@dataclass(frozen=True)
class Response:
    """What one seat can get where all others play one policy.

    Attributes
    ----------
    policy : str
    win_probabilities : tuple of float
        Of each seat from the start, with the same policy; empty where there is none.
    best : tuple of float
        The same with the best response to it.
    error_bound : float
        Of each of them; proved.
    """

    policy: str
    win_probabilities: tuple[float, ...]
    best: tuple[float, ...]
    error_bound: float


def evaluate_seats(graph: StateGraph, policies: Sequence[Policy]) -> Shares:
    """What each seat gets from the start, where each plays a policy of its own.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    policies : sequence of Policy
        One a seat, in the order of the moves; one alone is everybody's.
    """
    seated = one_each(graph, policies)
    profile = [policy.probability for policy in seated]
    found = [_certified(seen_from(graph, seat, profile)) for seat in range(graph.players)]
    return Shares(
        tuple(policy.name for policy in seated),
        tuple(value for value, _ in found),
        max(bound for _, bound in found),
    )


def respond_to(graph: StateGraph, policy: Policy) -> Response:
    """The best response of each seat where all others play one policy.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    """
    n, size = graph.players, graph.n_states
    others = [policy.probability] * n
    worth, best = (
        solve_and_certify(seen_from(graph, 0, [first, *others[1:]]))
        for first in (policy.probability, None)
    )
    starts = [-seat % n * size for seat in range(n)]  # the seat k is to move after n - k others
    return Response(
        policy.name,
        tuple(worth.found.values[starts].tolist()),
        tuple(best.found.values[starts].tolist()),
        float(max(x.certificate.bounds[starts].max() for x in (worth, best))),
    )


def respond_to_all(graph: StateGraph, others: str) -> Response:
    """What each seat has if all others want nothing but to keep it from winning, or that it wins.

    Against adversaries it is the value of a game for two, the seat and all others together:
    a lower bound of what the seat has in any equilibrium. With allies it is that of a game for one:
    an upper bound of what it has whatever anybody plays.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    others : {"adversaries", "allies"}
    """
    n, size = graph.players, graph.n_states
    starts = [-seat % n * size for seat in range(n)]
    if others == ALLIES:
        alone, certificate, _ = solve_and_certify(seen_from(graph, 0, [None] * n))
        best = alone.values[starts]
        return Response(ALLIES, (), tuple(best.tolist()), float(certificate.bounds[starts].max()))
    found, certificate, _ = solve_and_certify(against_all(graph))
    stakes = Stakes.of(graph)
    sign = np.where(np.arange(n) == 0, 1.0, -1.0)  # of the others' states, in their eyes
    return Response(
        ADVERSARIES,
        (),
        tuple(stakes.paid(win_probability(sign * found.values[starts])).tolist()),
        float(stakes.error(certificate.bounds[starts].max() / 2.0 + 2.0**-52)),
    )


def _certified(graph: StateGraph) -> tuple[float, float]:
    """The value of the start, and its error bound."""
    found, certificate, _ = solve_and_certify(graph)
    return float(found.values[0]), float(certificate.bounds[0])


def one_each(graph: StateGraph, policies: Sequence[Policy]) -> list[Policy]:
    """A policy for each seat: one alone is everybody's."""
    if len(policies) == 1:
        return [policies[0]] * graph.players
    if len(policies) != graph.players:
        raise UsageError(
            f"{graph.title} has {graph.players} seats, and {len(policies)} policies were given; "
            "give one for each, or one for all"
        )
    return list(policies)
