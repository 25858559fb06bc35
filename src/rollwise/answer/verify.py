"""Verifying a saved solution: no solver is run, and no bound is looked for.

The graph is built from the rules, and every value of the file is held against its bound by
`rollwise.proofs.check`. So a file need not be trusted, whoever wrote it. Its checksums are no
proof, and against accidents only: they say which row was damaged where the proof alone couldn't,
since a value that changed by less than its bound may still be within it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer import storage
from rollwise.builders import Mode, Progress
from rollwise.errors import RefusedFile, SolutionFileError, UsageError
from rollwise.game import Game
from rollwise.graph import StateGraph, title_of
from rollwise.machine.parquet_files import is_whole, read_parquet
from rollwise.numbers.printed import rounded_up
from rollwise.proofs.check_rules import Claims, check_rules

if TYPE_CHECKING:
    import polars as pl

MOST_EXACT = 1_000_000  # outcomes that are checked in exact arithmetic: some two minutes


@dataclass(frozen=True)
class Verification:
    """What became of verifying a file.

    Attributes
    ----------
    game : str
    parameters : mapping
    n_states : int
        States whose bounds were checked.
    exact : bool
        On the rule sheet too, in exact arithmetic, and not only in doubles on the graph.
    error_bound, residual : float
        The largest bound, and the largest distance of a value from what one look ahead makes
        of it.
    fault : str
        Why the file is refused; empty where every bound is proved.
    state : dict, optional
        The fields of the state at fault.
    seconds : dict
        For the ``build`` of the graph, and the ``check``.
    """

    game: str
    parameters: Mapping[str, Any]
    n_states: int
    exact: bool
    error_bound: float
    residual: float
    fault: str
    state: dict[str, int] | None
    seconds: dict[str, float]

    @property
    def verified(self) -> bool:
        """Whether every value of the file is proved to be within its bound."""
        return not self.fault

    @property
    def title(self) -> str:
        """The game and its parameters, as typed on the command line."""
        return title_of(self.game, self.parameters)

    def __str__(self) -> str:
        if self.fault:
            return f"{self.title} is refused: {self.fault}"
        how = "doubles, with every rounding counted"
        how += "; and on the rule sheet itself, in exact arithmetic" if self.exact else ""
        return (
            f"{self.title}: verified, without a solver\n"
            f"  {self.n_states:,} states: every value is within its bound of the true one "
            f"(the largest ± {rounded_up(self.error_bound)}, residual {self.residual:.1e})\n"
            f"  checked in {self.seconds['check']:.3f} s, in {how}; "
            f"the graph was built from the rules in {self.seconds['build']:.3f} s"
        )


def verify(
    path: str | Path,
    game: Game | None = None,
    *,
    exact: bool = False,
    mode: Mode = "auto",
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Check every value of a saved solution against its bound, without a solver.

    Parameters
    ----------
    path : path of a file made by `Solution.save`
    game : Game, optional
        The rules. Without, the game must be one that is installed.
    exact : bool
        Prove the bounds of all positions on the rule sheet too, in exact arithmetic
        (`rollwise.proofs.check_rules`), so that neither the builder nor rounding has to be trusted.
    mode, max_states, progress
        How to build the graph; see `rollwise.build`.

    Returns
    -------
    Verification
        Whose `fault` says what is wrong with the file, if something is.

    Raises
    ------
    RefusedFile
        It can't be read as a saved solution.
    SolutionFileError
        There is no such file; or it was saved for another game, for other rules of this one, or
        for one that isn't installed.
    UsageError
        The graph is too large for exact arithmetic.
    """
    path = Path(path)
    try:
        facts = storage.read_facts(path, damaged=True)
    except SolutionFileError as error:
        raise RefusedFile(str(error)) if path.is_file() else error from None
    how: dict[str, Any] = {"mode": mode, "max_states": max_states, "progress": progress}
    game, graph, seconds = storage.build_saved(path, facts, game, **how)
    if exact and graph.n_outcomes > MOST_EXACT:
        raise UsageError(
            f"{graph.title} has {graph.n_outcomes:,} outcomes, and exact arithmetic is for up to "
            f"{MOST_EXACT:,}; leave out --exact"
        )
    if progress is not None:
        progress("checking", 0, None)
    started = time.perf_counter()
    fault, state, bound, residual = _examine(path, facts, graph)
    if exact and not fault:
        fault = check_rules(game, claims_in(path, graph))
    return Verification(
        graph.game,
        graph.parameters,
        graph.n_positions,
        exact,
        bound,
        residual,
        fault,
        None if state is None else graph.view[state].named,
        {"build": sum(seconds.values()), "check": time.perf_counter() - started},
    )


def _examine(
    path: Path, facts: dict[str, Any], graph: StateGraph
) -> tuple[str, int | None, float, float]:
    """What is wrong with a file and in which state, its largest bound, and the residual."""
    try:
        frame = read_parquet(path, damaged=True)
    except ValueError as error:
        return f"it is damaged, so that it can't be read ({error})", None, np.inf, np.inf
    fault = _columns_fault(frame, graph)
    if fault:
        return fault, None, np.inf, np.inf
    try:
        values, bounds = storage.numbers_in(frame, graph)
    except ValueError as error:
        return str(error), None, np.inf, np.inf
    verdict, unproved = storage.find_unproved(graph, values, bounds)
    state, fault = _damaged_row(frame, graph, values, bounds)
    if fault:
        return fault, state, float(bounds.max()), verdict.residual
    if unproved is not None:
        state = unproved
        fault = f"{storage.claim(graph, values, bounds, state)}, which can't be proved"
    elif not np.all(np.isfinite(bounds)):
        state = int(np.argmax(bounds))
        fault = f"it claims no bound on the value of {graph.state_text(state)}"
    elif storage.checksum_of(values, bounds) != facts["checksum"] or not is_whole(path):
        fault = "its bytes don't match their hash"
    return fault, state, float(bounds.max()), verdict.residual


def claims_in(path: Path, graph: StateGraph) -> Claims:
    """The claims of a file about its positions."""
    frame = read_parquet(path, [*graph.field_names, "value", "error_bound"])
    *fields, values, bounds = (frame[name].to_list() for name in frame.columns)
    places = list(zip(*fields, strict=True))
    return Claims(
        dict(zip(places, zip(values, strict=True), strict=True)),
        dict(zip(places, zip(bounds, strict=True), strict=True)),
    )


def _columns_fault(frame: pl.DataFrame, graph: StateGraph) -> str:
    import polars as pl

    numbers = {"value": pl.Float64, "error_bound": pl.Float64}
    for name, kind in {**dict.fromkeys(graph.field_names, pl.Int32), **numbers}.items():
        if frame.schema.get(name) != kind or frame[name].null_count():
            return f"its column {name} isn't one of numbers"
    if len(frame) != len(graph.states):
        return f"it has {len(frame):,} rows, and the game {len(graph.states):,} states"
    return ""


def _damaged_row(
    frame: pl.DataFrame,
    graph: StateGraph,
    values: NDArray[np.float64],
    bounds: NDArray[np.float64],
) -> tuple[int | None, str]:
    """The first row that isn't what was saved, as far as its fields and its checksum tell."""
    rows = np.column_stack([frame[name].to_numpy() for name in graph.field_names])
    wrong = np.flatnonzero(np.any(rows != graph.states, axis=1))
    if len(wrong):
        told = ", ".join(
            f"{n}={x}" for n, x in zip(graph.field_names, rows[wrong[0]].tolist(), strict=True)
        )
        return int(wrong[0]), f"the row of {graph.state_text(int(wrong[0]))} is that of {told}"
    name = storage.own_column(graph, "checksum")
    if name not in frame.columns:
        return None, ""
    sums = storage.row_checksums(values[: len(frame)], bounds[: len(frame)])
    wrong = np.flatnonzero(frame[name].cast(int, strict=False).to_numpy() != sums)
    if not len(wrong):
        return None, ""
    claim = storage.claim(graph, values, bounds, int(wrong[0]))
    return int(wrong[0]), f"{claim}, which isn't what was saved: it doesn't match its checksum"


def _fields(graph: StateGraph, row: list[int]) -> dict[str, int]:
    return dict(zip(graph.field_names, row, strict=True))
