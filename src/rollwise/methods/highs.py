"""HiGHS (Huangfu and Hall 2018) as a solver of programs."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.machine.deadlines import Clock
from rollwise.machine.descriptors import muted
from rollwise.machine.interrupts import heard
from rollwise.methods.programs import TOLERANCE, Answer, OnProgress, Program, imported
from rollwise.methods.result import Status


def solve_with_highs(
    program: Program,
    clock: Clock,
    *,
    start: NDArray[np.float64] | None = None,
    on_progress: OnProgress | None = None,
    tolerance: float = TOLERANCE,
) -> Answer:
    """Solve a program (see `rollwise.methods.programs.Solver`)."""
    highspy = imported("highspy")
    with muted():  # since 1.16 it prints who it is before it can be told not to
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
    found = solver.getSolution()
    mixed = bool(program.whole.any())
    has_point = bool(found.value_valid) and len(found.col_value) == len(program.cost)
    if mixed:
        has_point = has_point and np.isfinite(info.mip_gap)
    ended = {
        highspy.HighsModelStatus.kOptimal: Status.CONVERGED,
        highspy.HighsModelStatus.kSolutionLimit: Status.CONVERGED,
        highspy.HighsModelStatus.kTimeLimit: Status.OUT_OF_TIME,
    }.get(status, Status.SOLVER_FAILED)
    return Answer(
        np.array(found.col_value) if has_point else None,
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
