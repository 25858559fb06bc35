"""Value iteration: update every state from its successors until the changes are small.

It is the oldest method (Shapley 1953; Bellman 1957), and the one most often written
by hand. Synchronous sweeps read the values of the sweep before. Sweeps in place read
new values too, so a good order needs fewer of them.

A change of epsilon in the last sweep is a stopping threshold, not an error bound.
With ``sound=True`` two sequences run, one below the values and one above (interval
iteration, Haddad and Monmege 2018). At a PASS the sign changes, so there each reads
the other.

The first bounds are the largest payoff. Where points are counted, they come from the
expected number of moves h. If one more sweep of h adds at most d <= 1/4, then 2h bounds it,
since T(2h) + 1 <= 2h + 2d - 1 <= 2h. Where play may go round at a cost, h has no bound, and
the first bounds lie around certified values.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rollwise.engine.certificates import certify_settled
from rollwise.errors import UsageError
from rollwise.graph import StateGraph, sign_of
from rollwise.graph.choices import has_whole_weights, scaled
from rollwise.machine.interrupts import Clock
from rollwise.methods.result import MethodResult, Status
from rollwise.methods.strategy_iteration import strategy_iteration
from rollwise.methods.sweeping import (
    Sweeper,
    arrays_of,
    close_bounds,
    look_ahead,
    sweep_order,
    with_border,
)
from rollwise.proofs.endless_play import require_settled

NAME = "value-iteration"
OnSweep = Callable[[int, float], None]
OnValues = Callable[[NDArray[np.float64]], None]


def value_iteration(
    graph: StateGraph,
    *,
    epsilon: float = 1e-10,
    order: str = "synchronous",
    sound: bool = False,
    start: float = 0.0,
    max_sweeps: int = 1_000_000,
    time_limit: float | None = None,
    on_sweep: OnSweep | None = None,
    on_values: OnValues | None = None,
) -> MethodResult:
    """Find values by sweeps over all states.

    Parameters
    ----------
    graph : StateGraph
        Without a border.
    epsilon : float
        Stop when a sweep changes no value by more than this; with `sound`,
        when no value can be off by more.
    order : {"synchronous", "forward", "reversed", "breadth-first", "components"}
        ``synchronous`` sweeps read the values of the sweep before, others also new ones:
        ``forward`` or ``reversed`` by the fields of the states, ``breadth-first`` by their
        distance from the start, ``components`` from the end of play.
    sound : bool
        Close lower and upper bounds on the values.
    start : float
        The value of every state before the first sweep (not with `sound`).
    max_sweeps : int
        It gives up after so many sweeps.
    time_limit : float, optional
        It gives up after so many seconds.
    on_sweep : callable, optional
        Called after each sweep as ``on_sweep(sweep, change)``; with `sound` the
        second is half the width of the widest bounds.
    on_values : callable, optional
        Called after each sweep with the values so far, (n_states,) float64, reused
        afterwards; with `sound` they are the middles of the bounds.

    Returns
    -------
    MethodResult
        `history` has the second arguments of `on_sweep`.

    Raises
    ------
    EndlessPlay
        With `sound`, where the players can go round for ever.
    """
    if sound:
        return _interval_iteration(
            graph, epsilon, order, max_sweeps, time_limit, on_sweep, on_values
        )
    clock = Clock(time_limit)
    sweeper = Sweeper(graph, order, start=start)
    history: list[float] = []
    status = Status.SWEEP_LIMIT
    while len(history) < max_sweeps:
        change, _ = sweeper.sweep()
        history.append(change)
        if on_sweep is not None:
            on_sweep(len(history), change)
        if on_values is not None:
            on_values(sweeper.values[: graph.n_states])
        if change <= epsilon:
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
        claimed_error=max(history[-1], epsilon) if history else None,
        details={"history": "largest change of a value", "order": order, "epsilon": epsilon},
    )


def _interval_iteration(
    graph: StateGraph,
    epsilon: float,
    order: str,
    max_sweeps: int,
    time_limit: float | None,
    on_sweep: OnSweep | None,
    on_values: OnValues | None,
) -> MethodResult:
    bounds = Bounds(graph, order, Clock(time_limit))
    history: list[float] = []
    status = Status.SWEEP_LIMIT
    while len(history) < max_sweeps:
        if bounds.clock.is_up:
            status = Status.OUT_OF_TIME
            break
        width, change = bounds.sweep()
        history.append(width / 2)
        if on_sweep is not None:
            on_sweep(len(history), width / 2)
        if on_values is not None:
            on_values(((bounds.lower + bounds.upper) / 2)[: graph.n_states])
        if width / 2 <= epsilon:
            status = Status.CONVERGED
            break
        if change == 0:
            status = Status.STALLED  # the rest is rounding
            break
    n = graph.n_states
    lower, upper = bounds.lower[:n].copy(), bounds.upper[:n].copy()
    with np.errstate(invalid="ignore"):
        middle = lower + (upper - lower) / 2  # NaN where there are no bounds yet
    # one more rounding, of the middle itself
    claimed = float(np.max(np.maximum(upper - middle, middle - lower))) * (1 + 1e-15)
    return MethodResult(
        NAME,
        middle,
        len(history),
        status,
        history,
        lower,
        upper,
        claimed_error=claimed if np.isfinite(claimed) else None,
        claim_is_bound=True,
        details={"history": "half the widest bounds", "order": order, "epsilon": epsilon},
    )


class Bounds:
    """Lower and upper bounds on the values of a graph, closer with each sweep.

    Parameters
    ----------
    method : str
        The method that needs them, for messages.

    Attributes
    ----------
    clock : Clock
        Checked during the construction of the first bounds, and by the callers of `sweep`.
    lower, upper : (n_states + n_border,) float64
    """

    def __init__(
        self, graph: StateGraph, order: str, clock: Clock | None = None, method: str = NAME
    ) -> None:
        self.clock = Clock(None) if clock is None else clock
        may_go_round = require_settled(graph, method)
        weight, normal = scaled(graph)
        if not normal.all():
            raise UsageError(
                f"{graph.title}: some weights of one action are too far apart for bounds that "
                "count every rounding; other methods work, and report their proved bounds"
            )
        self._arrays = arrays_of(graph)._replace(weight=weight)
        self.graph = graph
        self.order = sweep_order(graph, order)
        self.lower = with_border(graph, 0.0, None)
        self.upper = with_border(graph, 0.0, None)
        n = graph.n_states
        if may_go_round:
            # the length of play has no bound
            values = strategy_iteration(graph).values
            off = certify_settled(graph, values).bounds + 1.0 + np.abs(values)
            self.lower[:n], self.upper[:n] = values - off, values + off
        else:
            most = farthest(graph, self.clock)
            self.lower[:n], self.upper[:n] = -most, most
        synchronous = order == "synchronous"
        self._spare_lower = self.lower.copy() if synchronous else self.lower
        self._spare_upper = self.upper.copy() if synchronous else self.upper

    def sweep(self) -> tuple[float, float]:
        """Sweep once. Return the largest remaining width and the largest change of a bound."""
        width, change = close_bounds(
            self.order,
            *self._arrays,
            sign_of(self.graph.objective),
            has_whole_weights(self.graph),
            self.lower,
            self.upper,
            self._spare_lower,
            self._spare_upper,
        )
        self.lower, self._spare_lower = self._spare_lower, self.lower
        self.upper, self._spare_upper = self._spare_upper, self.upper
        return float(width), float(change)


def farthest(graph: StateGraph, clock: Clock) -> NDArray[np.float64]:
    """An upper bound on the size of each value, kept by sweeps: (n_states,) float64.

    Infinite where the time is up before there is one.

    Parameters
    ----------
    graph : StateGraph
        Every play ends.
    """
    most = float(np.max(np.abs(graph.lotteries.payoff)))
    if graph.objective == "win" and not np.any(graph.lotteries.reward):
        return np.full(graph.n_states, max(most, 1.0))
    most += float(np.max(np.abs(graph.lotteries.reward)))
    counting = arrays_of(graph)._replace(  # the most moves that can be expected
        reward=np.ones(graph.n_actions),
        passes=np.zeros(graph.n_outcomes, np.bool_),
        payoff=np.zeros(graph.n_outcomes),
    )
    n, chosen = graph.n_states, graph.action_indptr[:-1].copy()
    old = with_border(graph, 0.0, None)
    new = old.copy()
    change = np.inf
    # sweeps from 0 raise the expected number of moves h; 2h bounds it once a sweep adds at most 1/4
    while change > 0.25:
        if clock.is_up:
            return np.full(graph.n_states, np.inf)
        change, _ = look_ahead(
            np.arange(n), *counting, 1, chosen, np.ones(n, np.bool_), 0.0, old, new
        )
        old, new = new, old
    # a little more than the proof asks for, as the sweeps round
    moves = 2.001 * old[: graph.n_states]
    return np.asarray(most * moves)
