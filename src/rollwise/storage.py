"""Solutions on disk: a Parquet file that any data tool reads, and only its own rules load.

A row is a state, in the order of the graph: the fields, the best action, the
value and its error bound. The file's metadata holds what is needed to tell
whether it fits: the game and its parameters, the hash of its graph, a checksum of
the values, the method, and the versions that wrote it.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

from rollwise import __version__
from rollwise.atomic_files import write_atomically
from rollwise.builders import Mode, Progress, build_with_report
from rollwise.errors import SolutionFileError
from rollwise.game import Game
from rollwise.games import create, find
from rollwise.solution import Solution

FORMAT = "1"


def _reference(game: Game) -> str:
    """How the game is named on the command line."""
    cls = type(game)
    if cls.__module__.startswith("rollwise.games."):
        return cls.name
    file = inspect.getsourcefile(cls)
    return f"{os.path.relpath(file)}:{cls.__qualname__}" if file else cls.name


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
        solution._action_names(solution.best_actions),
        pl.Series("value", solution.values),
        pl.Series("error_bound", solution.error_bounds),
    )
    facts = {
        "format": FORMAT,
        "game": graph.game,
        "reference": graph.game if solution.game is None else _reference(solution.game),
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
    write_atomically(path, lambda place: frame.write_parquet(place, metadata=metadata))


def read_facts(path: Path) -> dict[str, Any]:
    """What a saved solution says of itself: game, parameters, error bound, versions.

    Raises
    ------
    SolutionFileError
        There is no such file, or it isn't a solution.
    """
    import polars as pl

    if not path.is_file():
        raise SolutionFileError(f"there is no file {path}")
    try:
        metadata = pl.read_parquet_metadata(path)
        facts = json.loads(metadata["rollwise"])
    except KeyError:
        raise SolutionFileError(
            f"{path} is a Parquet file, but not a solution saved by rollwise"
        ) from None
    except Exception as error:
        raise SolutionFileError(
            f"{path} is damaged or isn't a saved solution (it can't be read as Parquet); "
            "solve the game again with --save"
        ) from error
    if facts.get("format") != FORMAT:
        raise SolutionFileError(
            f"{path} has the format {facts.get('format')}; this version of rollwise reads {FORMAT}"
        )
    return dict(facts)


def load(
    path: str | Path,
    game: Game | None = None,
    *,
    mode: Mode = "auto",
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Read a saved solution and make sure that it belongs to the rules.

    Parameters
    ----------
    path : path of a file made by `Solution.save`
    game : Game, optional
        The rules it must fit; by default the game that the file names.

    Raises
    ------
    SolutionFileError
        The file is damaged, or was made for other rules.
    """
    import polars as pl

    path = Path(path)
    facts = read_facts(path)
    if game is None:
        texts = {name: str(value) for name, value in facts["parameters"].items()}
        game = create(find(facts["reference"]), texts)
    if facts["game"] != game.name or facts["parameters"] != game.parameters:
        saved = " ".join(f"{k}={v}" for k, v in facts["parameters"].items())
        asked = " ".join(f"{k}={v}" for k, v in game.parameters.items())
        raise SolutionFileError(
            f"{path} was saved for {facts['game']} {saved}, not for {game.name} {asked}"
        )
    graph, report = build_with_report(game, mode=mode, max_states=max_states, progress=progress)
    if graph.content_hash != facts["graph_hash"]:
        raise SolutionFileError(
            f"{path} was made for other rules of {game.name}: they have changed since; "
            "solve the game again"
        )
    try:
        frame = pl.read_parquet(path, columns=["value", "error_bound"])
        values = frame["value"].to_numpy().copy()
        bounds = frame["error_bound"].to_numpy().copy()
    except Exception as error:
        raise SolutionFileError(f"{path} is damaged: its columns can't be read") from error
    if len(values) != graph.n_states or _checksum(values, bounds) != facts["checksum"]:
        raise SolutionFileError(f"{path} is damaged: its values don't match their checksum")
    seconds = {"compile": report.compile_seconds, "build": report.build_seconds}
    return Solution(
        graph,
        game,
        facts["method"],
        values,
        bounds,
        facts["tolerance"],
        facts["sweeps"],
        facts["converged"],
        {**seconds, "solve": 0.0, "certify": 0.0},
    )
