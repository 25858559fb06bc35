"""Mixed-integer programming: one binary variable for each choice.

`rollwise.methods.programs` has the rows for x[s] >= the value of each action. Each action a of a
state s with a choice gets a binary variable z[a] and a row

    x[s] <= worth[a] + M[a] (1 - z[a]).

Exactly one z of a state is 1. So x[s] is the largest of the worths, whatever the
objective: the rows alone decide, because the game has one solution.

M[a] must be at least x[s] - worth[a] for all possible values. A smaller M makes
a tighter program. M is taken from the bounds of interval iteration, after a few
sweeps (`tighten`). Where these bounds show that an action is worse than the state's
value, its z is fixed at 0. By default one component is solved at a time: terminal
components first, with all later values known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph import StateGraph, unit_of
from rollwise.machine.interrupts import Clock
from rollwise.methods import run_method
from rollwise.methods.programs import (
    FIXED_POINT,
    TOLERANCE,
    Model,
    OnProgress,
    Program,
    Solver,
    parts,
    solve_with_highs,
    solve_with_scip,
)
from rollwise.methods.result import MethodResult, Status
from rollwise.methods.value_iteration import Bounds

NAME = "mixed-integer"
SOLVERS: dict[str, Solver] = {"scip": solve_with_scip, "highs": solve_with_highs}
# Room around bounds: solvers with a tolerance for rows call a program without any
# room infeasible.
ROOM = 1e-6
OBJECTIVES = {"none": 0.0, "smallest": 1.0, "largest": -1.0}


def mixed_integer(
    graph: StateGraph,
    *,
    solver: str = "scip",
    whole: bool = False,
    pieces: Iterable[NDArray[np.int64]] | None = None,
    objective: str = "none",
    tighten: int = 50,
    start: NDArray[np.float64] | str | None = None,
    tolerance: float = TOLERANCE,
    time_limit: float | None = 600.0,
    on_progress: OnProgress | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MethodResult:
    """Find values by a program with a binary for each choice.

    Parameters
    ----------
    graph : StateGraph
        Without a border.
    solver : {"scip", "highs"}
    whole : bool
        One program for the whole graph instead of one for each component.
    pieces : iterable of (m,) int64, optional
        Sets of states to solve instead, in this order.
    objective : {"none", "smallest", "largest"}
        The sum of the values of states with a choice, if it is an objective.
    tighten : int
        Sweeps of interval iteration (over the states being solved) for a
        smaller M; 0 takes M from the bounds of all values.
    start : (n_states,) float64 or str, optional
        Values from another method to start from, or the name of that method.
    tolerance : float
        Largest violation of a row, and distance from a whole number. The solver may also
        choose an action worse by this amount.
    time_limit : float, optional
        It gives up after so many seconds, of all programs together.
    on_progress : callable, optional
        Called as ``on_progress(nodes, gap)`` when the solver reports progress.
    progress : callable, optional
        Called as ``progress(states done, states)`` after each component.

    Returns
    -------
    MethodResult
        `sweeps` counts branch-and-bound nodes; `chosen` has the actions of the binaries.
        In an unfinished result missing values are NaN and the bounds hold.

    Raises
    ------
    UsageError
        No such solver or objective, or `start` hasn't one value for each state.
    MissingExtra
    EndlessPlay
    """
    _require("solver", solver, SOLVERS)
    _require("objective", objective, OBJECTIVES)
    clock = Clock(time_limit)
    if isinstance(start, str):
        start = run_method(graph, start).values
    elif start is not None:
        start = np.asarray(start, np.float64)
        if start.shape != (graph.n_states,):
            raise UsageError(
                f"start has the shape {start.shape}; {graph.title} has {graph.n_states:,} states"
            )
    bounds = Bounds(graph, "components", clock, NAME)
    run = _Run(
        graph, bounds, SOLVERS[solver], OBJECTIVES[objective], start, clock, on_progress, tolerance
    )
    done, status = 0, Status.CONVERGED
    solved = parts(graph, whole) if pieces is None else ((piece, piece) for piece in pieces)
    for states, order in solved:
        status = run.solve(states, order, tighten)
        if status is not Status.CONVERGED:
            break
        done += len(states)
        if progress is not None:
            progress(done, graph.n_states)
    proved = None
    if status is not Status.CONVERGED:
        proved = _proved_bounds(graph, tighten, time_limit)
    settings = {"whole": whole, "objective": objective, "tighten": tighten}
    details = {"states_solved": done, **settings, "started_from_values": start is not None}
    return run.result(status, proved, details)


def integer_program(graph: StateGraph) -> tuple[Model, Program, NDArray[np.int64]]:
    """The program of all states, with M from the least and largest possible values.

    Returns
    -------
    model : Model
    program : Program
        Its objective is the smallest sum. Any feasible point has the values.
    rows : (n_binaries,) int64
        For each binary the model's row of its action.

    Raises
    ------
    EndlessPlay
    """
    bounds = Bounds(graph, "components", method=NAME)
    model = Model.of_states(graph, np.arange(graph.n_states), bounds.lower)
    low, high = sorted(
        (model.to_x(bounds.lower[: graph.n_states]), model.to_x(bounds.upper[: graph.n_states])),
        key=np.sum,
    )
    program, rows = _program(model, low, high, OBJECTIVES["smallest"])
    return model, program, rows


def _require(name: str, asked: str, choices: Collection[str]) -> None:
    if asked not in choices:
        raise UsageError(f"there is no {name} {asked!r} (there are {', '.join(choices)})")


def _proved_bounds(graph: StateGraph, tighten: int, time_limit: float | None) -> Bounds:
    """Bounds independent of the solver, for programs not solved in time."""
    grace = None if time_limit is None else max(0.1 * time_limit, 0.1)
    bounds = Bounds(graph, "components", Clock(grace), NAME)
    # bounds hold after every sweep, so the loop may end at any time
    for _ in range(max(tighten, 1)):
        if bounds.clock.is_up:
            break
        bounds.sweep()
    return bounds


@dataclass(eq=False)
class _Run:
    """Programs solved one after the other, and their results so far."""

    graph: StateGraph
    bounds: Bounds
    solver: Solver
    cost: float
    start: NDArray[np.float64] | None
    clock: Clock
    on_progress: OnProgress | None
    tolerance: float

    def __post_init__(self) -> None:
        self.values = np.full(self.graph.n_states, np.nan)
        self.known = self.bounds.lower.copy()  # read only where states were solved
        self.chosen = np.full(self.graph.n_states, -1)
        self.nodes = self.programs = self.binaries = self.fixed = 0
        self.gap = 0.0
        self.message = ""
        self.history: list[float] = []

    def solve(self, states: NDArray[np.int64], order: NDArray[np.int64], tighten: int) -> Status:
        """Solve some states, with all later values known, and enter the result."""
        if self.clock.is_up:
            return Status.OUT_OF_TIME
        self._tighten(order, tighten)
        status = self._find(Model.of_states(self.graph, states, self.known))
        if status is Status.CONVERGED:
            self.known[states] = self.values[states]
            # later programs take these values as given, within the tolerance
            lower, upper = self.bounds.lower, self.bounds.upper
            lower[states] = np.maximum(lower[states], self.known[states] - FIXED_POINT)
            upper[states] = np.minimum(upper[states], self.known[states] + FIXED_POINT)
        return status

    def result(
        self, status: Status, proved: Bounds | None, details: dict[str, Any]
    ) -> MethodResult:
        """All of it; `proved` has bounds, if the programs weren't all solved."""
        n = self.graph.n_states
        scale = 1.0 / unit_of(self.graph)
        return MethodResult(
            NAME,
            self.values,
            self.nodes,
            status,
            self.history,
            None if proved is None else proved.lower[:n].copy(),
            None if proved is None else proved.upper[:n].copy(),
            claimed_error=scale * self.tolerance if proved is None else None,
            chosen=self.chosen,
            details={
                "solver": self.message,
                "sweeps": "branch-and-bound nodes",
                "history": "relative gap",
                "gap": self.gap,
                "programs": self.programs,
                "binaries": self.binaries,
                "binaries_fixed_beforehand": self.fixed,
                **details,
            },
        )

    def _tighten(self, order: NDArray[np.int64], sweeps: int) -> None:
        self.bounds.order = order
        width = np.inf
        for _ in range(sweeps):
            if width <= ROOM:
                break
            width, change = self.bounds.sweep()
            if change == 0 or self.clock.is_up:
                break

    def _find(self, model: Model) -> Status:
        states = model.states
        if model.looks_ahead:
            best = int(np.argmax(model.right))
            self.values[states] = model.to_values(model.right[best : best + 1])
            self.chosen[states] = model.actions[best]
            return Status.CONVERGED
        low, high = model.to_x(self.bounds.lower[states]), model.to_x(self.bounds.upper[states])
        # x is the negated value where few points are good: the bounds change places
        if model.sign < 0:
            low, high = high, low
        program, rows = _program(model, low, high, self.cost)
        self.programs += 1
        self.binaries += int(program.whole.sum())
        self.fixed += int(np.sum(program.upper[program.whole] == program.lower[program.whole]))
        if self.clock.is_up:
            return Status.OUT_OF_TIME
        start = None if self.start is None else _point(model, program, rows, self.start)
        answer = self.solver(
            program, self.clock, start=start, on_progress=self.on_progress, tolerance=self.tolerance
        )
        self.nodes += answer.nodes
        self.history.extend(answer.history)
        self.gap = answer.gap
        self.message = answer.message or self.message
        if answer.status is not Status.CONVERGED or answer.columns is None:
            return answer.status
        x = answer.columns[: len(states)]
        # the solver's tolerances may hide a wrong binary: the game's recursion checks the values
        near = max(FIXED_POINT, 10 * self.tolerance) * max(1.0, float(np.max(np.abs(x))))
        if not np.max(np.abs(model.excess(x))) <= near:
            return Status.NOT_A_FIXED_POINT
        self.values[states] = model.to_values(x)
        self.chosen[states] = model.actions[_chosen_rows(model, rows, answer.columns)]
        return Status.CONVERGED


def _program(
    model: Model, low: NDArray[np.float64], high: NDArray[np.float64], cost: float
) -> tuple[Program, NDArray[np.int64]]:
    """The program, and the row of each binary's action."""
    from scipy.sparse import bmat, csr_matrix

    n = len(model.states)
    rows = np.flatnonzero(model.has_choice[model.row_state])
    m = len(rows)
    binary = np.arange(m)
    state = model.row_state[rows]
    # worth of an action = x[s] - matrix x + right, at its smallest and largest
    slope = -model.matrix[rows]
    up, down = slope.maximum(0), slope.minimum(0)
    own = csr_matrix((np.ones(m), (binary, state)), shape=(m, n))
    worth = slope + own
    least = model.right[rows] + worth.maximum(0) @ low + worth.minimum(0) @ high
    most = model.right[rows] + worth.maximum(0) @ high + worth.minimum(0) @ low
    # x[s] - worth = matrix x - right is largest here: a bound for M from both sides
    # the smaller of the two bounds of x[s] - worth, with ROOM for the solver's tolerance
    big = np.minimum(high[state] - least, -(up @ low + down @ high) - model.right[rows])
    big = np.maximum(big, 0.0) + ROOM
    # an action below the state's lower bound is never best: its binary stays 0
    never = most < low[state] - ROOM
    one_each = csr_matrix((np.ones(m), (state, binary)), shape=(n, m))[model.has_choice]
    matrix = bmat(
        [
            [model.matrix, None],
            [model.matrix[rows], csr_matrix((big, (binary, binary)), shape=(m, m))],
            [None, one_each],
        ],
        format="csr",
    )
    program = Program(
        matrix,
        np.concatenate([model.right, np.full(m, -np.inf), np.ones(one_each.shape[0])]),
        np.concatenate(
            [
                np.where(model.has_choice[model.row_state], np.inf, model.right),
                model.right[rows] + big,
                np.ones(one_each.shape[0]),
            ]
        ),
        np.concatenate([low - ROOM, np.zeros(m)]),
        np.concatenate([high + ROOM, np.where(never, 0.0, 1.0)]),
        np.concatenate([cost * model.has_choice, np.zeros(m)]),
        np.arange(n + m) >= n,
        any_point=True,
    )
    return program, rows


def _chosen_rows(
    model: Model, rows: NDArray[np.int64], columns: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The row of each state's action, by the binaries where it has a choice."""
    chosen = np.searchsorted(model.row_state, np.arange(len(model.states)))
    is_one = columns[len(model.states) :] > 0.5
    chosen[model.row_state[rows[is_one]]] = rows[is_one]
    return chosen


def _point(
    model: Model, program: Program, rows: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Values from elsewhere as a point of the program."""
    x = model.to_x(values[model.states])
    worth = model.worth(x)
    best = np.full(len(x), -1)
    # worths ascend, so the last row written to a state is its best action
    for row in rows[np.argsort(worth[rows], kind="stable")]:
        best[model.row_state[row]] = row
    point = np.concatenate([x, best[model.row_state[rows]] == rows]).astype(np.float64)
    return np.clip(point, program.lower, program.upper)
