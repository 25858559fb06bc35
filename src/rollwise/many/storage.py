"""Equilibria on disk: a Parquet file with a row for each action that is taken.

The file names the game, its parameters and the hash of its graph. Nothing else that it says is
believed: the graph is built from the rules, and the values and gains are proved anew.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rollwise.errors import SolutionFileError
from rollwise.machine.atomic_files import write_atomically
from rollwise.machine.parquet_files import read_metadata, read_parquet, write_parquet
from rollwise.many.finding import Found
from rollwise.many.seats import Stakes, build_seats

if TYPE_CHECKING:
    from rollwise.game import Game
    from rollwise.many.equilibrium import Equilibrium, Progress

FORMAT = 1
KEY = "rollwise.equilibrium"  # of the metadata
PLACE = "place"  # a column: the number of the action in the graph


def save(found: Equilibrium, path: Path) -> None:
    """Write an equilibrium to a file, all at once or not at all."""
    import polars as pl

    graph = found.graph
    taken = np.flatnonzero(found.policy.probability > 0)
    frame = found.rows(throws=True).with_columns(pl.Series(PLACE, taken))
    facts = {
        "format": FORMAT,
        "game": graph.game,
        "parameters": dict(graph.parameters),
        "graph_hash": graph.content_hash,
        "unsettled": list(found.unsettled),
        "deviation_gain": found.deviation_gain,
        "error_bound": found.error_bound,
    }
    write_atomically(path, lambda place: write_parquet(frame, place, {KEY: json.dumps(facts)}))


def load_equilibrium(
    path: str | Path,
    game: Game | None = None,
    *,
    max_states: int | None = None,
    progress: Progress | None = None,
) -> Equilibrium:
    """Read an equilibrium that `Equilibrium.save` wrote, and prove anew how good it is.

    Parameters
    ----------
    path : path
    game : Game, optional
        The rules that it must fit. Without, the game must be one that is installed: a file
        names no code to be run.
    max_states, progress
        As `rollwise.equilibrium` takes them.

    Raises
    ------
    SolutionFileError
        The file is damaged, or was made for other rules, or names a game that isn't installed.
    """
    from rollwise.answer.storage import require_rules
    from rollwise.many.equilibrium import proved, worth_column

    path = Path(path)
    facts = _read_facts(path)
    game = require_rules(path, facts, game)
    began = time.perf_counter()
    graph = build_seats(game, max_states=max_states, progress=progress)
    spent = {"build": time.perf_counter() - began}
    if graph.content_hash != facts["graph_hash"]:
        raise SolutionFileError(
            f"{path} was made for other rules of {game.name}: they have changed since; "
            "solve the game again"
        )
    n = graph.players
    columns = [PLACE, "probability", *(f"{worth_column(graph)}.{seat}" for seat in range(n))]
    try:
        frame = read_parquet(path, columns)
        place, chance, *shares = (frame[name].to_numpy() for name in columns)
        probability, values = np.zeros(graph.n_actions), np.full((graph.n_states, n), np.nan)
        probability[place] = chance
        values[graph.action_state[place]] = np.column_stack(shares)
    except (OSError, ValueError, TypeError, IndexError, KeyError) as error:
        raise _damaged(path, "its columns can't be read") from error
    total = np.add.reduceat(probability, graph.action_indptr[:-1])
    if not (np.isfinite(values).all() and np.all(np.abs(total - 1.0) < 1e-9)):
        raise _damaged(path, "it doesn't say of each state what is done there")
    unsettled = tuple(facts["unsettled"])
    if not all(type(c) is int and 0 <= c < len(graph.components) for c in unsettled):
        raise _damaged(path, "its description names components that aren't there")
    units = np.clip(Stakes.of(graph).units(values), 0.0, None)
    return proved(graph, game, Found(units, probability, list(unsettled)), spent, progress)


def _read_facts(path: Path) -> dict[str, Any]:
    """What a file says of itself."""
    if not path.is_file():
        raise SolutionFileError(f"there is no file {path}")
    try:
        facts = json.loads(read_metadata(path)[KEY])
    except KeyError:
        raise SolutionFileError(
            f"{path} is a Parquet file, but no equilibrium of a game for three or more"
        ) from None
    except (OSError, ValueError) as error:
        raise _damaged(path, "it can't be read as Parquet") from error
    wanted = {"game": str, "parameters": dict, "graph_hash": str, "unsettled": list}
    if not isinstance(facts, dict) or not all(
        isinstance(facts.get(name), kind) for name, kind in wanted.items()
    ):
        raise _damaged(path, "its description isn't one")
    if facts.get("format") != FORMAT:
        raise SolutionFileError(
            f"{path} has the format {facts.get('format')}; this version of rollwise reads {FORMAT}"
        )
    return facts


def _damaged(path: Path, why: str) -> SolutionFileError:
    return SolutionFileError(f"{path} is damaged: {why}; solve the game again and save it")
