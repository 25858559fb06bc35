"""SCIP (Bolusani and others 2024) as a solver of programs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.machine.deadlines import Clock, OutOfTime
from rollwise.machine.interrupts import heard, held_back
from rollwise.methods.programs import TOLERANCE, Answer, OnProgress, Program, imported
from rollwise.methods.result import Status

INFINITY = 1e20  # SCIP's


def solve_with_scip(
    program: Program,
    clock: Clock,
    *,
    start: NDArray[np.float64] | None = None,
    on_progress: OnProgress | None = None,
    tolerance: float = TOLERANCE,
) -> Answer:
    """Solve a program (see `rollwise.methods.programs.Solver`)."""
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
    said = solver.getStatus()
    ended = {
        "optimal": Status.CONVERGED,
        "sollimit": Status.CONVERGED,
        "timelimit": Status.OUT_OF_TIME,
    }.get(said, Status.SOLVER_FAILED)
    columns = None
    if has_point:
        best = solver.getBestSol()
        columns = np.array([solver.getSolVal(best, variable) for variable in variables])
    version = f"{solver.getMajorVersion()}.{solver.getMinorVersion()}.{solver.getTechVersion()}"
    answer = Answer(
        columns,
        ended,
        f"SCIP {version}: {said}",
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
