"""What a policy is worth: against itself, against another, against the best response.

A policy's values obey the game's recursion without the max (Bellman's expectation
equation; Sutton and Barto 2020, section 4.1). Exactly: its graph (see
`rollwise.seats`) is solved and certified like any other. Iteratively, as textbooks
do it: sweeps over all states until none changes by more than theta, which is a
stopping threshold and no bound.

A best response to a policy is an optimal policy of the game in which one seat
plays it, and its exploitability is what that response wins against it, on average
over the two seats, with +1 for a win and -1 for a loss (half the NashConv of
Lanctot et al. 2017).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rollwise.certificate import Certificate, certify
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.methods.result import MethodResult, Status
from rollwise.methods.strategy_iteration import strategy_iteration
from rollwise.methods.sweeping import greedy_actions
from rollwise.methods.value_iteration import value_iteration
from rollwise.policies import Policy
from rollwise.recursion import Recursion
from rollwise.seats import two_seats, with_policy

METHODS = ("exact", "iterative")


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a policy is worth in every state.

    Attributes
    ----------
    policy, against : str
        Names; of a policy evaluated against itself they are the same.
    values : (n_states,) float64
        In the policy's eyes, where it is the one to move.
    values_second : (n_states,) float64
        In the policy's eyes, where the opponent is the one to move.
    bounds, bounds_second : (n_states,) float64, optional
        Certified: how far the values can be off. None for the iterative method,
        which proves nothing.
    method : {"exact", "iterative"}
    status : Status
    sweeps : int
    history : sequence of float
        The largest change in each sweep: of a win probability, or of the points.
    theta : float, optional
        The stopping threshold of the iterative method.
    """

    policy: str
    against: str
    values: NDArray[np.float64]
    values_second: NDArray[np.float64]
    bounds: NDArray[np.float64] | None
    bounds_second: NDArray[np.float64] | None
    method: str
    status: Status
    sweeps: int
    history: Sequence[float] = ()
    theta: float | None = None

    @property
    def win_probability(self) -> NDArray[np.float64]:
        """Of the policy where it is to move; a draw counts half: (n_states,) float64."""
        return np.asarray((1 + self.values) / 2)

    @property
    def win_probability_second(self) -> NDArray[np.float64]:
        """Of the policy where its opponent is to move: (n_states,) float64."""
        return np.asarray((1 + self.values_second) / 2)


@dataclass(frozen=True, eq=False)
class BestResponse(Evaluation):
    """A best response to a policy, and what it is worth against it.

    Attributes
    ----------
    response : Policy
        What it does where it is to move (the first of the best actions).
    """

    response: Policy | None = None

    def exploitability(self, state: int = 0) -> float:
        """Mean payoff of the response against the policy, over the two seats."""
        return float(self.values[state] + self.values_second[state]) / 2

    def exploitability_bound(self, state: int = 0) -> float:
        """How far `exploitability` can be off."""
        if self.bounds is None or self.bounds_second is None:
            return float("inf")
        return float(self.bounds[state] + self.bounds_second[state]) / 2 + 2.0**-52


def evaluate(
    graph: StateGraph,
    policy: Policy,
    against: Policy | None = None,
    *,
    method: str = "exact",
    theta: float = 1e-10,
    order: str = "reversed",
    max_sweeps: int = 1_000_000,
    time_limit: float | None = None,
    on_sweep: Callable[[int, float], None] | None = None,
) -> Evaluation:
    """Evaluate a policy, against itself or another.

    Parameters
    ----------
    graph : StateGraph
    policy : Policy
    against : Policy, optional
        What the opponent plays; the same policy unless given.
    method : {"exact", "iterative"}
        Exact: linear systems, certified. Iterative: sweeps from a win probability
        (or a value) of 0 everywhere.
    theta : float
        The iterative method stops after a sweep that changes no win probability
        (or value) by more.
    order : str
        Of its sweeps; see `rollwise.methods.sweeping.sweep_order`.
    max_sweeps, time_limit
        Where the iterative method gives up.
    on_sweep : callable, optional
        Called as ``on_sweep(sweep, change)``.

    Returns
    -------
    Evaluation

    Raises
    ------
    UsageError
        No such method; an opponent in a solitaire game.
    EndlessPlay
        The policies can go round for ever (exact only).
    """
    if method not in METHODS:
        raise UsageError(f"there is no method {method!r} of evaluation (exact, iterative)")
    if against is not None and graph.players != 2:
        raise UsageError(f"{graph.game} is a game for one: there is no opponent")
    alone = against is None
    played = with_policy(graph, policy) if alone else two_seats(graph, policy, against)
    if method == "exact":
        found, certificate = _solved(played)
        bounds: NDArray[np.float64] | None = certificate.bounds
        history: list[float] = []
    else:
        # The chance to win is (1 + value) / 2: its 0 is -1, its changes are half as large.
        scale = 2.0 if graph.objective == "win" else 1.0

        def report(sweep: int, change: float) -> None:
            if on_sweep is not None:
                on_sweep(sweep, change / scale)

        found = value_iteration(
            played,
            epsilon=scale * theta,
            order=order,
            start=1.0 - scale,
            max_sweeps=max_sweeps,
            time_limit=time_limit,
            on_sweep=report,
        )
        bounds = None
        history = [change / scale for change in found.history]
    mine, theirs = _seats(graph, found.values, alone)
    bounds_mine, bounds_theirs = (None, None) if bounds is None else _seats(graph, bounds, alone)
    return Evaluation(
        policy.name,
        policy.name if against is None else against.name,
        mine,
        theirs if graph.players == 1 else -theirs,
        bounds_mine,
        bounds_theirs,
        method,
        found.status,
        found.sweeps,
        history,
        None if method == "exact" else theta,
    )


def best_response(graph: StateGraph, policy: Policy) -> BestResponse:
    """The best that an opponent who knows the policy can do, certified.

    Parameters
    ----------
    graph : StateGraph
        Of a game for two.
    policy : Policy

    Returns
    -------
    BestResponse
        Its values are the response's; ``against`` is the policy.

    Raises
    ------
    UsageError
        The game has one player.
    EndlessPlay
        The response can make play go round for ever.
    """
    seats = two_seats(graph, None, policy)
    found, certificate = _solved(seats)
    mine, theirs = _seats(graph, found.values, alone=False)
    bounds, bounds_second = _seats(graph, certificate.bounds, alone=False)
    best = greedy_actions(seats, found.values)[: graph.n_states]
    return BestResponse(
        f"best response to {policy.name}",
        policy.name,
        mine,
        -theirs,
        bounds,
        bounds_second,
        "exact",
        found.status,
        found.sweeps,
        response=Policy.of_actions(graph, f"best response to {policy.name}", best),
    )


def _solved(graph: StateGraph) -> tuple[MethodResult, Certificate]:
    arranged = Recursion.of_values(graph)
    found = strategy_iteration(graph, arranged=arranged)
    return found, certify(graph, found.values, arranged=arranged)


def _seats(
    graph: StateGraph, values: NDArray[np.float64], alone: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What belongs to the states where the policy moves, and where its opponent does."""
    n = graph.n_states
    return (values, values) if alone else (values[:n], values[n:])
