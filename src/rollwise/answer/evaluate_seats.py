"""Certified results of each seat, by given policies and by best responses to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rollwise.answer.certified import solve_and_certify
from rollwise.errors import UsageError
from rollwise.graph import StateGraph, win_probability
from rollwise.graph.policies import Policy
from rollwise.many.seats import Stakes, against_all, seen_from

ADVERSARIES = "adversaries"  # all others minimise a seat's chance to win
ALLIES = "allies"  # all others maximise it


@dataclass(frozen=True)
class Shares:
    """The expected result of each seat from the start.

    Attributes
    ----------
    policies : tuple of str
    win_probabilities : tuple of float
        Expected payoffs in a game with stakes, here and below.
    error_bound : float
        Of each of them; proved.
    """

    policies: tuple[str, ...]
    win_probabilities: tuple[float, ...]
    error_bound: float


@dataclass(frozen=True)
class Response:
    """The best result of each seat where all others play one policy.

    Attributes
    ----------
    policy : str
    win_probabilities : tuple of float
        Of each seat from the start, with the same policy; empty without a policy.
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
    """The result of each seat from the start, with a policy for each seat.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    policies : sequence of Policy
        One for each seat, in the order of the moves; a single one is for all seats.
    """
    seated = one_each(graph, policies)
    profile = [policy.probability for policy in seated]
    runs = [solve_and_certify(seen_from(graph, seat, profile)) for seat in range(graph.players)]
    return Shares(
        tuple(policy.name for policy in seated),
        tuple(float(run.found.values[0]) for run in runs),
        max(float(run.certificate.bounds[0]) for run in runs),
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
    """The best result of each seat if all others minimise it, or if all others maximise it.

    Against adversaries it is the value of a game for two, the seat against all others together:
    a lower bound of the seat's result in any equilibrium. With allies it is the value of a game
    for one: an upper bound of the seat's result under any policies.

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
    result, certificate, _ = solve_and_certify(against_all(graph))
    stakes = Stakes.of(graph)
    sign = np.where(np.arange(n) == 0, 1.0, -1.0)  # of the others' states, in their eyes
    return Response(
        ADVERSARIES,
        (),
        tuple(stakes.paid(win_probability(sign * result.values[starts])).tolist()),
        float(stakes.error(certificate.bounds[starts].max() / 2.0 + 2.0**-52)),
    )


def one_each(graph: StateGraph, policies: Sequence[Policy]) -> list[Policy]:
    """A policy for each seat; a single policy is for all seats."""
    if len(policies) == 1:
        return [policies[0]] * graph.players
    if len(policies) != graph.players:
        raise UsageError(
            f"{graph.title} has {graph.players} seats, and {len(policies)} policies were given; "
            "give one for each, or one for all"
        )
    return list(policies)
