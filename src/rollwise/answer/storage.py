"""Solutions on disk: a Parquet file that any data tool reads, and only its own rules load.

A row is a state, in the order of the graph: the fields, the best action, the
value and its error bound. The file's metadata holds what is needed to tell
whether it fits: the game and its parameters, the hash of its graph, a checksum of
the values, the method, and the versions that wrote it. Whoever wrote it isn't trusted: a
file names no code to be run, and its error bounds are proved anew.
"""

from __future__ import annotations

import hashlib
import json
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise import __version__
from rollwise.answer.solution import Solution
from rollwise.builders import Mode, Progress, build_with_report
from rollwise.errors import SolutionFileError, UnknownGame
from rollwise.game import Game
from rollwise.games import create, find_installed
from rollwise.graph import StateGraph, title_of
from rollwise.machine.atomic_files import write_atomically
from rollwise.machine.parquet_files import read_metadata, read_parquet, write_parquet
from rollwise.proofs.bounds import certify

FORMAT = "1"
# What a file says of itself, and in which types.
FACTS: dict[str, Any] = {
    "game": str,
    "parameters": dict,
    "graph_hash": str,
    "checksum": str,
    "method": str,
    "tolerance": int | float | None,
    "sweeps": int,
    "converged": bool,
}


def _checksum(values: np.ndarray, bounds: np.ndarray) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for array in (values, bounds):
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()


def save(solution: Solution, path: Path) -> None:
    """Write a solution to a Parquet file, all at once or not at all."""
    import polars as pl

    graph = solution.graph
    columns: dict[str, Any] = {name: graph.states[:, i] for i, name in enumerate(graph.field_names)}
    frame = pl.DataFrame(columns).with_columns(
        solution.action_column(solution.best_actions),
        pl.Series("value", solution.values),
        pl.Series("error_bound", solution.error_bounds),
    )
    facts = {
        "format": FORMAT,
        "game": graph.game,
        "parameters": dict(graph.parameters),
        "graph_hash": graph.content_hash,
        "checksum": _checksum(solution.values, solution.error_bounds),
        "method": solution.method,
        "error_bound": solution.error_bound,
        "tolerance": solution.tolerance,
        "sweeps": solution.sweeps,
        "converged": solution.converged,
        "seconds": dict(solution.seconds),
        "versions": {
            "rollwise": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "polars": pl.__version__,
        },
    }
    metadata = {"rollwise": json.dumps(facts)}
    write_atomically(path, lambda place: write_parquet(frame, place, metadata))


def read_facts(path: Path) -> dict[str, Any]:
    """What a saved solution says of itself: game, parameters, error bound, versions.

    Raises
    ------
    SolutionFileError
        There is no such file, or it isn't a solution.
    """
    if not path.is_file():
        raise SolutionFileError(f"there is no file {path}")
    try:
        facts = json.loads(read_metadata(path)["rollwise"])
    except KeyError:
        raise SolutionFileError(
            f"{path} is a Parquet file, but not a solution saved by rollwise"
        ) from None
    except (OSError, ValueError) as error:
        raise SolutionFileError(
            f"{path} is damaged or isn't a saved solution (it can't be read as Parquet); "
            "solve the game again and save it"
        ) from error
    if not isinstance(facts, dict):
        raise _damaged(path, "its description isn't one")
    if facts.get("format") != FORMAT:
        raise SolutionFileError(
            f"{path} has the format {facts.get('format')}; this version of rollwise reads {FORMAT}"
        )
    for name, kinds in FACTS.items():
        if name not in facts or not isinstance(facts[name], kinds):
            raise _damaged(path, f"its description has no {name}")
    return facts


def _damaged(path: Path, why: str) -> SolutionFileError:
    return SolutionFileError(f"{path} is damaged: {why}; solve the game again and save it")


def load(
    path: str | Path,
    game: Game | None = None,
    *,
    prove: bool = True,
    mode: Mode = "auto",
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Read a saved solution, make sure that it belongs to the rules, and prove its bounds anew.

    Parameters
    ----------
    path : path of a file made by `Solution.save`
    game : Game, optional
        The rules that it must fit. Without, the game must be one that is installed: a file
        names no code to be run.
    prove : bool
        Certify the values, as `rollwise.solve` does. Otherwise the error bounds are those of
        the file, and the `Solution.status` is ``as saved``.
    mode, max_states, progress
        How to build the graph; see `rollwise.build`.

    Raises
    ------
    SolutionFileError
        The file is damaged, or was made for other rules, or its values are further off than
        it says; or it names a game that isn't installed.
    """
    path = Path(path)
    facts = read_facts(path)
    if game is None:
        game = _installed(path, facts)
    if facts["game"] != game.name or facts["parameters"] != game.parameters:
        saved = title_of(facts["game"], facts["parameters"])
        asked = title_of(game.name, game.parameters)
        raise SolutionFileError(f"{path} was saved for {saved}, not for {asked}")
    graph, report = build_with_report(game, mode=mode, max_states=max_states, progress=progress)
    if graph.content_hash != facts["graph_hash"]:
        raise SolutionFileError(
            f"{path} was made for other rules of {game.name}: they have changed since; "
            "solve the game again"
        )
    values, bounds = _numbers(path, facts, graph.n_states)
    seconds = {"compile": report.compile_seconds, "build": report.build_seconds}
    if prove:
        started = time.perf_counter()
        bounds = _proved(path, graph, values, bounds)
        seconds["certify"] = time.perf_counter() - started
    return Solution(
        graph,
        game,
        facts["method"],
        values,
        bounds,
        facts["tolerance"],
        facts["sweeps"],
        facts["converged"],
        seconds,
        proved=prove,
    )


def _installed(path: Path, facts: dict[str, Any]) -> Game:
    """The game of this name, if it is installed: rules come from nowhere else."""
    try:
        kind = find_installed(facts["game"])
    except UnknownGame:
        raise SolutionFileError(
            f"{path} was saved for the game {facts['game']!r}, which isn't installed; give its "
            "rules: rollwise.load(path, game)"
        ) from None
    return create(kind, {name: str(value) for name, value in facts["parameters"].items()})


def _numbers(
    path: Path, facts: dict[str, Any], n_states: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The values and the error bounds of a file, if they can be such."""
    import polars as pl

    try:
        frame = read_parquet(path, ["value", "error_bound"])
    except (OSError, ValueError) as error:
        raise _damaged(path, "its columns can't be read") from error
    if frame.dtypes != [pl.Float64, pl.Float64] or frame.null_count().sum_horizontal().item():
        raise _damaged(path, "its values aren't numbers")
    values, bounds = (frame[name].to_numpy().copy() for name in frame.columns)
    if len(values) != n_states:
        raise _damaged(path, f"it has {len(values):,} rows, and the game {n_states:,} states")
    if _checksum(values, bounds) != facts["checksum"]:
        raise _damaged(path, "its values don't match their checksum")
    if not np.all(np.isfinite(values)) or not np.all(bounds >= 0):
        raise _damaged(path, "its values or error bounds can't be such")
    return values, bounds


def _proved(
    path: Path, graph: StateGraph, values: NDArray[np.float64], said: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The error bounds that can be proved of the values, if they are about those of the file."""
    certificate = certify(graph, values)
    allowed = 2 * float(said.max()) + 1e-12 * max(1.0, float(np.abs(values).max()))
    if certificate.bound > allowed:
        raise SolutionFileError(
            f"{path} says that its values are ± {said.max():.1e}, which isn't so: what can be "
            f"proved is ± {certificate.bound:.1e}; solve the game again and save it"
        )
    return certificate.bounds
