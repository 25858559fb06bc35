"""Linear programming: the smallest values of at least the value of each action.

For one player this is a theorem (d'Epenoux 1963; Puterman 1994, section 7.2.7). The
values are the least feasible point, in every state at once. So minimising their sum finds them.

With two players a PASS turns the sign, so a larger value here allows a smaller one
there, and there is no least point. The smallest sum may have values above the best of
their actions. The result is checked for that, and its status tells the outcome.

`net_visits` decides whether it is right nevertheless: let a play start once in each
state with a choice, with best play. The smallest sum is at the true values if every
state with a choice is visited at least as often by the first player as by the other.
(Let A be the rows of the best actions and b their right sides, c the costs. The true
values are x* with A x* = b, and y = c inv(A). If y >= 0 in the rows of choices, then
c x = y A x >= y b = c x* for every feasible x. If y < 0 in one, then x* is
not the smallest where its state has one best action: leave that row some slack.)

There are two ways to other visits: one program a component (`whole=False`), without plays from
outside; and a rim of positions around the game (`rim`), with more plays into it. The program is
then solved for a larger game with the wanted one as a part (`rollwise.derive.larger`), and its
values are read there. Neither helps in every game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.derive.larger import Larger
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.machine.interrupts import Clock
from rollwise.methods.programs import (
    FIXED_POINT,
    TOLERANCE,
    Model,
    Program,
    parts,
    solve_with_highs,
)
from rollwise.methods.result import MethodResult, Status
from rollwise.methods.value_iteration import farthest
from rollwise.proofs.endless_play import require_settled

ONE_PLAYER = (
    "the method is for one player; with two players the smallest sum of its values may miss the "
    "true ones"
)
NAME = "linear-programming"


def linear_programming(
    graph: StateGraph,
    *,
    whole: bool = True,
    pieces: Iterable[NDArray[np.int64]] | None = None,
    rim: int = 0,
    larger: Callable[[int], Larger] | None = None,
    time_limit: float | None = None,
) -> MethodResult:
    """Minimise the sum of the values of the states with a choice.

    Parameters
    ----------
    graph : StateGraph
        Without a border.
    whole : bool
        One program for the whole graph; otherwise one for each component, from the end of
        play, with all later values known.
    pieces : iterable of (m,) int64, optional
        Sets of states to solve instead, in this order.
    rim : int
        Width of the rim around the game: the program is that of a larger game.
    larger : callable, optional
        Returns the larger game.
    time_limit : float, optional
        It gives up after so many seconds.

    Returns
    -------
    MethodResult
        The column ``relative_residual`` has the excess of each state's value over the best of
        its actions, relative to that: of win probabilities, or of totals.

    Raises
    ------
    UsageError
        A rim was given, and there is no larger game.
    MissingExtra
    """
    if rim < 0:
        raise UsageError(f"rim is {rim}; it can't be less than 0")
    if rim and larger is None:
        raise UsageError(f"{graph.title}: a rim needs the rules of a game in which every play ends")
    clock = Clock(time_limit)
    wide, place = Larger(graph, np.arange(graph.n_states))
    if rim and larger is not None:
        wide, place = larger(rim)
    if pieces is None:
        pieces = (states for states, _ in parts(wide, whole))
    least = _least(wide, pieces, clock)
    details = {"solver": least.message, "sweeps": "simplex iterations", "whole": whole, "rim": rim}
    if least.status is not Status.CONVERGED:
        about = least.status, details, least.iterations
        return MethodResult.without_values(NAME, graph.n_states, *about)
    return _result(graph, least.values[place], least.iterations, details)


def net_visits(
    graph: StateGraph, actions: NDArray[np.int64], *, whole: bool = True
) -> NDArray[np.float64]:
    """Expected visits of each state by the first player of a play, minus visits by the other.

    A play starts once in each state with a choice. In the linear program this is the growth of
    the least sum per unit of slack in the row of a state's action.

    Parameters
    ----------
    graph : StateGraph
        Every play ends.
    actions : (n_states,) int64
        The action of each state.
    whole : bool
        Whether plays continue to other components, as in one program for all states.

    Returns
    -------
    (n_states,) float64
        Expected numbers, summed over the starts.
    """
    from scipy.sparse.linalg import spsolve

    model = _model(graph)
    into = model.matrix[actions].T.tocsr()
    starts = model.has_choice.astype(np.float64)
    visits = np.zeros(graph.n_states)
    for states, _ in reversed(list(parts(graph, whole=False))):  # in the order of play
        rows = into[states]
        from_outside = rows @ visits if whole else 0.0
        visits[states] = spsolve(rows[:, states].tocsc(), starts[states] - from_outside)
    return visits


class _Least(NamedTuple):
    values: NDArray[np.float64]
    status: Status
    message: str
    iterations: int


def linear_program(graph: StateGraph) -> tuple[Model, Program]:
    """The program of all states, and its model.

    Raises
    ------
    EndlessPlay
        Play for stakes may go on for ever: values have no bound.
    """
    model = _model(graph)
    return model, _program(model, _farthest(graph, Clock(None)))


def _farthest(graph: StateGraph, clock: Clock) -> NDArray[np.float64] | None:
    """How far from 0 each value can be, in a game for stakes; None in others."""
    if not graph.has_stakes:  # only there may the least sum have no bound of its own
        return None
    require_settled(graph, NAME)
    return farthest(graph, clock)


def _least(
    graph: StateGraph,
    pieces: Iterable[NDArray[np.int64]],
    clock: Clock,
) -> _Least:
    """The values at the smallest sum, and how the solver ended."""
    values, most = np.zeros(graph.n_states), _farthest(graph, clock)
    message, iterations = "no solver was needed", 0
    for states in pieces:
        model = Model.of_states(graph, states, values)
        # without unknown successors a value is the largest constant
        if model.looks_ahead:
            values[states] = model.to_values(model.right.max(keepdims=True))
            continue
        answer = solve_with_highs(_program(model, most), clock)
        message, iterations = answer.message, iterations + answer.nodes
        if answer.columns is None or answer.status is not Status.CONVERGED:
            return _Least(values, answer.status, message, iterations)
        values[states] = model.to_values(answer.columns)
    return _Least(values, Status.CONVERGED, message, iterations)


def _result(
    graph: StateGraph,
    values: NDArray[np.float64],
    iterations: int,
    details: dict[str, Any],
) -> MethodResult:
    """The result, with the excess over the best action of each state."""
    model = _model(graph)
    x = model.to_x(values)
    excess = model.excess(x)
    best = x - excess
    relative = excess / np.where(np.abs(best) > TOLERANCE, np.abs(best), 1.0)
    worst = float(np.max(np.abs(excess)))
    right = worst <= FIXED_POINT * max(1.0, float(np.max(np.abs(x))))
    if not right and graph.players == 2:
        details = details | {"note": ONE_PLAYER}
    return MethodResult(
        NAME,
        values,
        iterations,
        Status.CONVERGED if right else Status.NOT_A_FIXED_POINT,
        claimed_error=model.scale * TOLERANCE if right else None,
        columns={"relative_residual": relative},
        details={
            **details,
            "largest_excess": worst,
            "largest_relative_residual": float(np.max(np.abs(relative))),
        },
    )


def _model(graph: StateGraph) -> Model:
    """The rows of all states."""
    return Model.of_states(graph, np.arange(graph.n_states), np.zeros(graph.n_states))


def _program(model: Model, most: NDArray[np.float64] | None) -> Program:
    """The program, in a game for stakes with a bound on the size of each value."""
    n = len(model.states)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    if most is not None:
        low, high = -most[model.states], most[model.states]
    elif not model.graph.is_score:
        low, high = np.zeros(n), np.ones(n)
    return Program(
        model.matrix,
        model.right,
        np.where(model.has_choice[model.row_state], np.inf, model.right),
        low,
        high,
        model.has_choice.astype(np.float64),
        np.zeros(n, np.bool_),
    )
