"""Modified policy iteration: a few sweeps in place of each linear system.

For one player: Puterman and Shin (1978). For two: the "value-oriented" method of
van der Wal (1978). MAX's policy is improved once, then held for a few sweeps with a
free MIN. It begins below every value, on two copies of the graph, so the values only
rise and converge. Simultaneous improvements of both policies may not converge.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rollwise.derive.seats import take_seats
from rollwise.graph import StateGraph
from rollwise.machine.interrupts import Clock
from rollwise.methods.result import MethodResult, Status
from rollwise.methods.sweeping import Sweeper
from rollwise.methods.value_iteration import farthest
from rollwise.proofs.endless_play import require_settled

NAME = "modified-policy-iteration"


def modified_policy_iteration(
    graph: StateGraph,
    *,
    epsilon: float = 1e-10,
    evaluation_sweeps: int = 10,
    order: str = "synchronous",
    max_sweeps: int = 1_000_000,
    time_limit: float | None = None,
    on_sweep: Callable[[int, float], None] | None = None,
    on_values: Callable[[NDArray[np.float64]], None] | None = None,
) -> MethodResult:
    """Find values by sweeps; few of them improve the policy.

    Parameters
    ----------
    graph : StateGraph
        Without a border.
    epsilon : float
        Stop when an improving sweep changes no value by more.
    evaluation_sweeps : int
        Sweeps between two improvements.
    order : {"synchronous", "forward", "reversed", "breadth-first", "components"}
        ``synchronous`` sweeps read the values of the sweep before, others also new ones:
        ``forward`` or ``reversed`` by the fields of the states, ``breadth-first`` by their
        distance from the start, ``components`` from the end of play.
    max_sweeps : int
        It gives up after so many sweeps.
    time_limit : float, optional
        It gives up after so many seconds.
    on_sweep : callable, optional
        Called as ``on_sweep(sweep, change)``.
    on_values : callable, optional
        Called after each sweep with the values so far, (n_states,) float64, reused
        afterwards.

    Returns
    -------
    MethodResult
        `history` has the largest change of a value in every sweep, improving or not.

    Raises
    ------
    EndlessPlay
    """
    clock = Clock(time_limit)
    require_settled(graph, NAME)
    seats = graph if graph.players == 1 else take_seats(graph, [None, None]).graph
    sweeper = Sweeper(seats, order)
    if graph.players == 2:
        most = farthest(graph, clock)
        sweeper.values[:] = np.append(-most, most)  # MAX loses the most, and MIN wins it
    may_choose = np.zeros(seats.n_states, np.bool_)
    # between improvements only MIN, on the second copy, chooses
    may_choose[graph.n_states :] = graph.players == 2
    history: list[float] = []
    status = Status.SWEEP_LIMIT
    change = np.inf
    while len(history) < max_sweeps:
        improving = len(history) % (evaluation_sweeps + 1) == 0
        change, _ = sweeper.sweep(None if improving else may_choose)
        history.append(change)
        if on_sweep is not None:
            on_sweep(len(history), change)
        if on_values is not None:
            on_values(sweeper.values[: graph.n_states])
        if improving and change <= epsilon:
            status = Status.CONVERGED
            break
        if clock.is_up:
            status = Status.OUT_OF_TIME
            break
    return MethodResult(
        NAME,
        sweeper.values[: graph.n_states].copy(),
        len(history),
        status,
        history,
        claimed_error=max(change, epsilon) if history else None,
        details={
            "history": "largest change of a value",
            "order": order,
            "epsilon": epsilon,
            "evaluation_sweeps": evaluation_sweeps,
        },
    )
