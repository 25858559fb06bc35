"""A game as a linear program: one variable for each state, one row for each action.

The maximum of two numbers is the smallest upper bound of both. So the value of each state is at
least the value of each of its actions,

    x[s] >= constant[a] + sum of c[k] x[t(k)]     for every action a of s,

with equality for a single action. The rows alone don't make x[s] the largest of
them. An objective does (linear programming), or one binary variable for
each choice (mixed-integer programming).

A variable is the mover's win probability, or the expected payoff or total where payoffs
differ or points are counted (negated where few points are better).

Programs are solved by HiGHS (Huangfu and Hall 2018) or SCIP (Bolusani and others 2024).
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import MissingExtra
from rollwise.graph import StateGraph, sign_of, unit_of
from rollwise.graph.choices import actions_of, slopes_of
from rollwise.machine.atomic_files import muted
from rollwise.machine.interrupts import Clock, OutOfTime, heard, held_back
from rollwise.methods.result import Status

TOLERANCE = 1e-9  # the solvers' tolerance for rows and whole numbers
FIXED_POINT = 1e-6  # largest violation of the game's recursion in an accepted answer


@dataclass(frozen=True, eq=False)
class Program:
    """A linear program in rows, possibly with whole variables.

    Attributes
    ----------
    matrix : scipy.sparse.csr_matrix, (n_rows, n_columns)
    row_lower, row_upper : (n_rows,) float64
    lower, upper : (n_columns,) float64
    cost : (n_columns,) float64
        To be minimised.
    whole : (n_columns,) bool
    any_point : bool
        Whether the first feasible point suffices: the cost only guides the search.
    """

    matrix: Any
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    cost: NDArray[np.float64]
    whole: NDArray[np.bool_]
    any_point: bool = False


@dataclass(frozen=True, eq=False)
class Answer:
    """A solver's answer to a program.

    Attributes
    ----------
    columns : (n_columns,) float64 or None
        The best point found.
    status : Status
    message : str
        In the solver's words.
    gap : float
        The reported relative gap; infinite without a point.
    nodes : int
        Branch-and-bound nodes, or iterations of the simplex method.
    history : list of float
        The gap at each report of progress.
    """

    columns: NDArray[np.float64] | None
    status: Status
    message: str
    gap: float
    nodes: int
    history: list[float]


OnProgress = Callable[[int, float], None]


Solver = Callable[..., Answer]  # with the parameters of `solve_with_highs`


def imported(library: str) -> Any:
    """A library of the extra `programming`.

    Raises
    ------
    MissingExtra
    """
    try:
        return importlib.import_module(library)
    except ImportError:
        raise MissingExtra('pip install "rollwise[programming]"') from None


@dataclass(frozen=True, eq=False)
class Model:
    """The rows of some states of a graph, with known values of all others.

    Attributes
    ----------
    graph : StateGraph
    states : (m,) int64
        Variable i is the value of state ``states[i]``.
    actions : (n_rows,) int64
        Row j belongs to the action ``actions[j]``.
    row_state : (n_rows,) int64
        The variable of the state of the row's action.
    matrix : scipy.sparse.csr_matrix, (n_rows, m)
        ``matrix @ x >= right`` in every row, and equal in the rows of states without
        a choice.
    right : (n_rows,) float64
    has_choice : (m,) bool
    """

    graph: StateGraph
    states: NDArray[np.int64]
    actions: NDArray[np.int64]
    row_state: NDArray[np.int64]
    matrix: Any
    right: NDArray[np.float64]
    has_choice: NDArray[np.bool_]

    @property
    def sign(self) -> float:
        return sign_of(self.graph.objective)

    @property
    def scale(self) -> float:
        """Units of value in a unit of x."""
        return 1.0 / unit_of(self.graph)

    def to_x(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of states as variables."""
        return np.asarray((self.sign * values + (self.scale - 1)) / self.scale)

    def to_values(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Variables as values of states."""
        return np.asarray(self.sign * (self.scale * x - (self.scale - 1)) + 0.0)  # one kind of zero

    def worth(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value of each row's action, in units of x: (n_rows,) float64."""
        return np.asarray(x[self.row_state] - (self.matrix @ x - self.right))

    def excess(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far each variable is above the best of its actions: (m,) float64."""
        best = np.full(len(self.states), -np.inf)
        np.maximum.at(best, self.row_state, self.worth(x))
        return np.asarray(x - best)

    @property
    def looks_ahead(self) -> bool:
        """Whether it is one state with known outcomes only, so that no solver is needed."""
        return len(self.states) == 1 and bool(np.all(self.matrix.data == 1.0))

    @classmethod
    def of_states(
        cls, graph: StateGraph, states: NDArray[np.int64], values: NDArray[np.float64]
    ) -> Model:
        """The model of some states.

        Parameters
        ----------
        states : (m,) int64
        values : (n_states,) float64
            Read where a state outside `states` follows.
        """
        from scipy.sparse import csr_matrix

        m = len(states)
        index = np.full(len(values), -1, np.int64)
        index[states] = np.arange(m)
        actions, n_choices = actions_of(graph, states)
        row_state = np.repeat(np.arange(m), n_choices)
        after, n_rows = slopes_of(graph, actions), len(actions)
        sign = sign_of(graph.objective)
        scale = 1.0 / unit_of(graph)
        # successors outside the model have known values and belong to the constant
        unknown = index[after.state] >= 0
        known = np.where(unknown, 0.0, after.slope * values[after.state])
        constant = after.constant + np.bincount(after.action, known, n_rows)
        row, slope = after.action[unknown], after.slope[unknown]
        slopes = np.bincount(row, slope, n_rows)
        # a row for each action: x of its state, less the slopes times x of the unknown successors
        matrix = csr_matrix(
            (
                np.concatenate([np.ones(n_rows), -slope]),
                (
                    np.concatenate([np.arange(n_rows), row]),
                    np.concatenate([row_state, index[after.state[unknown]]]),
                ),
            ),
            shape=(n_rows, m),
        )
        # x = (v + 1) / 2 in a game of win or loss: the change of variables moves the right side
        right = (sign * constant + (scale - 1) * (1 - slopes)) / scale
        return cls(graph, states, actions, row_state, matrix, right, n_choices > 1)


def parts(graph: StateGraph, whole: bool) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The sets of states to solve, each with the order of its sweeps.

    One set of all states, or one component after the other, terminal components first.
    """
    order = graph.components.order.astype(np.int64)
    if whole:
        yield np.sort(order), order
    else:
        for low, high in pairwise(graph.components.indptr.tolist()):
            yield order[low:high], order[low:high]


def solve_with_highs(
    program: Program,
    clock: Clock,
    *,
    start: NDArray[np.float64] | None = None,
    on_progress: OnProgress | None = None,
    tolerance: float = TOLERANCE,
) -> Answer:
    """Solve a program by HiGHS.

    Parameters
    ----------
    clock : Clock
        Looked at while the program is handed over, and by the solver.
    start : (n_columns,) float64, optional
        A point to start from.
    on_progress : callable, optional
        Called as ``on_progress(nodes, gap)`` when the solver tells of progress.
    tolerance : float
        By how much the answer may break a row, and miss a whole number.

    Raises
    ------
    MissingExtra
    """
    highspy = imported("highspy")
    with muted():  # since 1.16 it prints its name before its output can be disabled
        solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    for option in (
        "primal_feasibility_tolerance",
        "dual_feasibility_tolerance",
        "mip_feasibility_tolerance",
    ):
        solver.setOptionValue(option, tolerance)
    solver.passModel(_model(highspy, program))
    if start is not None:
        point = highspy.HighsSolution()
        point.col_value = start.tolist()
        solver.setSolution(point)
    history: list[float] = []
    if program.whole.any():

        def tell(event: Any) -> None:
            history.append(float(event.data_out.mip_gap))
            if on_progress is not None:
                on_progress(int(event.data_out.mip_node_count), history[-1])

        solver.cbMipImprovingSolution.subscribe(tell)
        solver.cbMipLogging.subscribe(tell)
    if program.any_point:
        solver.setOptionValue("mip_max_improving_sols", 1)
    if clock.limit is not None:
        solver.setOptionValue("time_limit", max(clock.left, 0.01))
    _run(solver)
    status = solver.getModelStatus()
    info = solver.getInfo()
    solution = solver.getSolution()
    mixed = bool(program.whole.any())
    has_point = bool(solution.value_valid) and len(solution.col_value) == len(program.cost)
    if mixed:
        has_point = has_point and np.isfinite(info.mip_gap)
    ended = {
        highspy.HighsModelStatus.kOptimal: Status.CONVERGED,
        highspy.HighsModelStatus.kSolutionLimit: Status.CONVERGED,
        highspy.HighsModelStatus.kTimeLimit: Status.OUT_OF_TIME,
    }.get(status, Status.SOLVER_FAILED)
    return Answer(
        np.array(solution.col_value) if has_point else None,
        ended,
        f"HiGHS {solver.version()}: {solver.modelStatusToString(status)}",
        float(info.mip_gap) if mixed and has_point else (0.0 if has_point else np.inf),
        int(info.mip_node_count) if mixed else int(info.simplex_iteration_count),
        history,
    )


def _run(solver: Any) -> None:
    """Run it; Ctrl-C ends it at its next step, or leaves it alone where the step is long."""
    stopped = threading.Event()

    def look(event: Any) -> None:
        if stopped.is_set():
            event.interrupt()

    for callback in (solver.cbSimplexInterrupt, solver.cbIpmInterrupt, solver.cbMipInterrupt):
        callback.subscribe(look)
    heard(solver.run, stop=stopped.set)


def _model(highspy: Any, program: Program) -> Any:
    n_rows, n_columns = program.matrix.shape
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = n_columns, n_rows
    model.col_cost_ = program.cost
    model.col_lower_, model.col_upper_ = program.lower, program.upper
    model.row_lower_, model.row_upper_ = program.row_lower, program.row_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.num_col_, model.a_matrix_.num_row_ = n_columns, n_rows
    model.a_matrix_.start_ = program.matrix.indptr
    model.a_matrix_.index_ = program.matrix.indices
    model.a_matrix_.value_ = program.matrix.data
    if program.whole.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        model.integrality_ = [kinds[int(whole)] for whole in program.whole]
    return model


INFINITY = 1e20  # SCIP's


def solve_with_scip(
    program: Program,
    clock: Clock,
    *,
    start: NDArray[np.float64] | None = None,
    on_progress: OnProgress | None = None,
    tolerance: float = TOLERANCE,
) -> Answer:
    """Solve a program by SCIP (see `solve_with_highs`)."""
    pyscipopt = imported("pyscipopt")
    solver = pyscipopt.Model()
    solver.hideOutput()
    solver.setParam("misc/catchctrlc", False)  # Ctrl-C is Python's
    solver.setParam("numerics/feastol", tolerance)
    solver.setParam("numerics/dualfeastol", tolerance)
    # Numbers closer than epsilon count as equal; at its default of 1e-9, next to a tolerance
    # of 1e-9, SCIP called the feasible program of Piglet infeasible.
    solver.setParam("numerics/epsilon", min(tolerance / 10, 1e-9))
    variables = [
        solver.addVar(
            vtype="B" if whole else "C",
            lb=None if np.isinf(low) else float(low),
            ub=None if np.isinf(high) else float(high),
            obj=float(cost),
        )
        for low, high, cost, whole in zip(
            program.lower, program.upper, program.cost, program.whole, strict=True
        )
    ]
    try:
        _add_rows(pyscipopt, solver, program, variables, clock)
    except OutOfTime:
        return Answer(None, Status.OUT_OF_TIME, "the program took all the time", np.inf, 0, [])
    if program.any_point:
        solver.setParam("limits/solutions", 1)
    if clock.limit is not None:
        solver.setParam("limits/time", min(max(clock.left, 0.01), INFINITY))
    if start is not None:
        point = solver.createSol()
        for variable, value in zip(variables, start.tolist(), strict=True):
            solver.setSolVal(point, variable, value)
        solver.addSol(point)
    history: list[float] = []
    solver.includeEventhdlr(
        _watcher(pyscipopt, history, on_progress), "progress", "tells of the gap"
    )
    heard(solver.optimizeNogil, stop=solver.interruptSolve)
    has_point = solver.getNSols() > 0
    status = solver.getStatus()
    ended = {
        "optimal": Status.CONVERGED,
        "sollimit": Status.CONVERGED,
        "timelimit": Status.OUT_OF_TIME,
    }.get(status, Status.SOLVER_FAILED)
    columns = None
    if has_point:
        best = solver.getBestSol()
        columns = np.array([solver.getSolVal(best, variable) for variable in variables])
    version = f"{solver.getMajorVersion()}.{solver.getMinorVersion()}.{solver.getTechVersion()}"
    answer = Answer(
        columns,
        ended,
        f"SCIP {version}: {status}",
        _gap(solver) if has_point else np.inf,
        int(solver.getNTotalNodes()),
        history,
    )
    with held_back():  # the watcher is called here, and Ctrl-C in it would be SCIP's error
        solver.freeTransform()
    return answer


def _gap(solver: Any) -> float:
    """The relative gap; infinite while there is none."""
    gap = float(solver.getGap())
    return gap if gap < INFINITY else np.inf


def _add_rows(
    pyscipopt: Any, solver: Any, program: Program, variables: list[Any], clock: Clock
) -> None:
    matrix = program.matrix
    for row in range(matrix.shape[0]):
        # SCIP's own limit doesn't cover the time of handing over rows
        if row % 1000 == 0:
            clock.look()
        begin, end = matrix.indptr[row], matrix.indptr[row + 1]
        columns, values = matrix.indices[begin:end].tolist(), matrix.data[begin:end].tolist()
        left = pyscipopt.quicksum(
            value * variables[column] for column, value in zip(columns, values, strict=True)
        )
        low, high = float(program.row_lower[row]), float(program.row_upper[row])
        if low == high:
            solver.addCons(left == low)
        elif np.isinf(high):
            solver.addCons(left >= low)
        else:
            solver.addCons(left <= high)


def _watcher(pyscipopt: Any, history: list[float], on_progress: OnProgress | None) -> Any:
    events = (pyscipopt.SCIP_EVENTTYPE.BESTSOLFOUND, pyscipopt.SCIP_EVENTTYPE.NODESOLVED)

    class Watcher(pyscipopt.Eventhdlr):  # type: ignore[misc]
        def eventinit(self) -> None:
            for event in events:
                self.model.catchEvent(event, self)

        def eventexit(self) -> None:
            for event in events:
                self.model.dropEvent(event, self)

        def eventexec(self, event: Any) -> dict[str, Any]:
            history.append(_gap(self.model))
            if on_progress is not None:
                on_progress(int(self.model.getNTotalNodes()), history[-1])
            return {}

    return Watcher()
