"""Reading a saved answer, with a proof of its bounds.

Folders of layers are opened in place; `rollwise.answer.verify` proves their bounds anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rollwise.answer import storage
from rollwise.answer.layer_folder import open_folder
from rollwise.answer.solution import Solution
from rollwise.builders import Mode, Progress
from rollwise.errors import SolutionFileError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.machine.atomic_files import path_of
from rollwise.methods.result import MethodResult, Status

if TYPE_CHECKING:
    from rollwise.answer.storage import Content


def load(
    path: str | Path,
    game: Game | None = None,
    *,
    prove: bool = True,
    mode: Mode = "auto",
    max_states: int | None = None,
    progress: Progress | None = None,
    proved: Content | None = None,
    build: Callable[..., StateGraph] | None = None,
) -> Solution:
    """Read a saved solution, make sure that it belongs to the rules, and prove its bounds anew.

    Parameters
    ----------
    path : path of a file made by `Solution.save`, or of a folder made by `solve_by_layers`
        A folder is read in place. The layers that are read are compared with their checksums;
        `verify` proves their bounds anew.
    game : Game, optional
        The expected rules. Without them the game must be installed: a file names no code to
        run.
    prove : bool
        Check the error bounds of the file, as `rollwise.solve` does its own. Otherwise the
        `Solution.status` is ``as saved``. The bounds of three or more players are always checked.
    mode, max_states, progress
        How to build the graph; see `rollwise.build`.
    proved : Content, optional
        The content of the file, from an earlier run that proved it.
    build : callable, optional
        Builds the graph, or takes that of an earlier run: as `rollwise.build`.

    Raises
    ------
    SolutionFileError
        The file is damaged, or was made for other rules, or its values are further off than
        it says; or it names a game that isn't installed.
    """
    path = path_of(path)
    if path.is_dir():
        game = storage.installed(path, open_folder(path).about) if game is None else game
        return Solution.open(path, game)
    facts = storage.read_facts(path) if proved is None else proved.facts
    if facts["method"] == storage.HIDDEN:
        raise of_hidden(path, "load")
    if facts["method"] == storage.EQUILIBRIUM:
        equilibrium, state = storage.read_equilibrium(
            path, facts, game, max_states=max_states, progress=progress
        )
        if state is not None:
            raise SolutionFileError(
                f"{path}: its bounds at {equilibrium.graph.state_text(state)} aren't proved; "
                "solve the game again and save it"
            )
        return replace(Solution.of_equilibrium(equilibrium), tolerance=facts["tolerance"])
    how: dict[str, Any] = {"mode": mode, "max_states": max_states, "progress": progress}
    game, graph, seconds = storage.build_saved(path, facts, game, build, **how)
    content = storage.read_content(path, facts, graph) if proved is None else proved
    if prove and proved is None:
        started = time.perf_counter()
        storage.prove(path, graph, content)
        seconds["certify"] = time.perf_counter() - started
    status = Status.CONVERGED if facts["converged"] else Status.STALLED
    run = MethodResult(facts["method"], content.values, facts["sweeps"], status)
    about = facts["tolerance"], seconds
    return Solution(graph, game, run, content.values, content.bounds, *about, proved=prove)


def of_hidden(path: Path, name: str) -> SolutionFileError:
    """The error for a file of a game with hidden dice or simultaneous choices."""
    return SolutionFileError(
        f"{path} is about hidden dice or simultaneous choices: rollwise.hidden.{name} is for it"
    )
