"""What a policy is worth: against itself, against another, against the best response.

A policy's values obey the game's recursion without the max (Bellman's expectation
equation; Sutton and Barto 2020, section 4.1). Exactly: its graph (see
`rollwise.derive.seats`) is solved and certified like any other. Iteratively, as textbooks
do it: sweeps over all states until none changes by more than theta, which is a
stopping threshold and no bound.

A best response to a policy is an optimal policy of the game in which one seat
plays it, and its exploitability is what that response wins against it, on average
over the two seats, with +1 for a win and -1 for a loss (half the NashConv of
Lanctot et al. 2017).

Whoever asks about one position, or the start, says so (`starts`): then only what play
between the two comes to from there is solved, which may be much less than the game.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import solve_and_certify
from rollwise.derive.seats import take_seats
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.endings import first_that_end
from rollwise.graph.policies import Policy
from rollwise.methods.result import Status
from rollwise.methods.sweeping import action_values, greedy_actions
from rollwise.methods.value_iteration import value_iteration
from rollwise.proofs.certificate import Certificate
from rollwise.recursion.endless import settled

METHODS = ("exact", "iterative")


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a policy is worth in every state, or in those that play comes to.

    Values and bounds are NaN where play from the `starts` that were asked for doesn't
    come.

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
    n_solved : int
        Number of positions that were solved for this, the seats counted apart.
    """

    policy: str
    against: str
    values: NDArray[np.float64] = field(repr=False)
    values_second: NDArray[np.float64] = field(repr=False)
    bounds: NDArray[np.float64] | None = field(repr=False)
    bounds_second: NDArray[np.float64] | None = field(repr=False)
    method: str
    status: Status
    sweeps: int
    history: Sequence[float] = field(default=(), repr=False)
    theta: float | None = None
    n_solved: int = 0

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
    find_response : callable
        Makes `response`.
    """

    find_response: Callable[[], Policy] = field(kw_only=True, repr=False)

    @cached_property
    def response(self) -> Policy:
        """What it does where it is to move: the first of the best actions.

        Where play from the `starts` doesn't come, it does as the policy does.
        """
        return self.find_response()

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
    starts: Sequence[int] | None = None,
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
    starts : sequence of int, optional
        States that play begins in, with either player to move. Only what play comes to
        from there is evaluated, which is faster; all states unless given.
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
        No such method; an opponent in a solitaire game; no such start.
    EndlessPlay
        The policies can go round for ever, from the starts (exact only).
    """
    if method not in METHODS:
        raise UsageError(f"there is no method {method!r} of evaluation (exact, iterative)")
    if against is not None and graph.players != 2:
        raise UsageError(f"{graph.game} is a game for one: there is no opponent")
    seats = take_seats(graph, [policy] if against is None else [policy, against], starts)
    if method == "exact":
        found, certificate, _ = solve_and_certify(seats.graph)
        history: list[float] = []
    else:
        # The chance to win is (1 + value) / 2: its 0 is -1, its changes are half as large.
        scale = 2.0 if graph.objective == "win" else 1.0

        def report(sweep: int, change: float) -> None:
            if on_sweep is not None:
                on_sweep(sweep, change / scale)

        # where the rules forbid endless play, sweeps go on to their limit, as in the textbooks
        worthless = graph.objective == "win" and graph.endless == "forbidden"
        settling = None if worthless else settled(seats.graph)
        found = value_iteration(
            seats.graph if settling is None else settling.graph,
            epsilon=scale * theta,
            order=order,
            start=1.0 - scale,
            max_sweeps=max_sweeps,
            time_limit=time_limit,
            on_sweep=report,
        )
        found = found if settling is None else found.spread(settling)
        certificate = None
        history = [change / scale for change in found.history]
    values = seats.spread(found.values)
    spread = [None] if certificate is None else seats.spread(certificate.bounds)
    # one seat is both: who moves next plays the same policy
    return Evaluation(
        policy.name,
        policy.name if against is None else against.name,
        values[0],
        values[-1] if graph.players == 1 else -values[-1],
        spread[0],
        spread[-1],
        method,
        found.status,
        found.sweeps,
        history,
        None if method == "exact" else theta,
        seats.graph.n_states,
    )


def best_response(
    graph: StateGraph, policy: Policy, *, starts: Sequence[int] | None = None
) -> BestResponse:
    """The best that an opponent who knows the policy can do, certified.

    Parameters
    ----------
    graph : StateGraph
        Of a game for two.
    policy : Policy
    starts : sequence of int, optional
        States that play begins in, with either player to move. Only what play against
        the policy comes to from there is solved, which is faster; all states unless
        given. ``starts=[0]`` is enough for the policy's exploitability.

    Returns
    -------
    BestResponse
        Its values are the response's; ``against`` is the policy.

    Raises
    ------
    UsageError
        The game has one player; no such start.
    EndlessPlay
        The response can make play go round for ever, from the starts.
    """
    seats = take_seats(graph, [None, policy], starts)
    found, certificate, _ = solve_and_certify(seats.graph)
    mine, theirs = seats.spread(found.values)
    bounds, bounds_second = seats.spread(certificate.bounds)
    name = f"best response to {policy.name}"

    def find_response() -> Policy:
        return seats.respond(policy, name, _first_best(seats.graph, found.values, certificate))

    return BestResponse(
        name,
        policy.name,
        mine,
        -theirs,
        bounds,
        bounds_second,
        "exact",
        found.status,
        found.sweeps,
        n_solved=seats.graph.n_states,
        find_response=find_response,
    )


def _first_best(
    graph: StateGraph, values: NDArray[np.float64], certificate: Certificate
) -> NDArray[np.int64]:
    """The first best action of each state; one that ends play, where ties could go on for ever."""
    if graph.endless == "forbidden":
        return greedy_actions(graph, values)
    worth = action_values(graph, values)
    best = np.maximum.reduceat(worth, graph.action_indptr[:-1])
    return first_that_end(graph, worth >= (best - 2 * certificate.bound)[graph.action_state])
