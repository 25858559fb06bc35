"""Lists of games, results of `check`, `verify` and `compare`, exports and kept answers."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rollwise.documents.parts import Document, game_head, number_or_none
from rollwise.parameters import KINDS, parameter_specs

if TYPE_CHECKING:
    from rollwise.analysis.compare_methods import MethodRun
    from rollwise.analysis.findings import Report
    from rollwise.answer.verify import Verification
    from rollwise.game import Game
    from rollwise.graph import StateGraph
    from rollwise.methods import Method


def games_document(games: Iterable[type[Game]]) -> Document:
    """Games with their parameters and policies."""
    return {"games": [_game_document(cls) for cls in games]}


def _game_document(cls: type[Game]) -> Document:
    policies = {
        name: (inspect.getdoc(function) or "").partition("\n")[0]
        for name, function in cls.policies().items()
    }
    return {
        "game": cls.name,
        "heading": cls.heading,
        "description": (inspect.getdoc(cls) or "").partition("\n")[0],
        "players": cls.players,
        "objective": cls().objective,  # can depend on the number of players
        "parameters": [
            {
                "name": spec.name,
                "type": spec.type.__name__ if spec.type in KINDS else "str",
                "default": spec.default,
                "range": spec.range_text,
                "among": list(spec.among),
                "about": spec.about,
            }
            for spec in parameter_specs(cls)
        ],
        "policies": policies,
    }


def methods_document(methods: Iterable[Method]) -> Document:
    """Methods with their options."""
    return {
        "methods": [
            {
                "method": method.name,
                "about": method.about,
                "kind": "estimated" if method.estimates else "certified",
                "options": [
                    {
                        "name": one.name,
                        "type": one.type.__name__,
                        "default": one.default,
                        "about": one.about,
                    }
                    for one in method.settings().values()
                ],
            }
            for method in methods
        ]
    }


def check_document(report: Report) -> Document:
    """The findings in the rules of a game."""
    return {
        "game": report.game,
        "passed": report.passed,
        "findings": [finding.__dict__ for finding in report.findings],
    }


def verification_document(found: Verification) -> Document:
    """The result of verifying a saved answer."""
    from rollwise.answer.verify import FolderVerification

    document = {"game": found.game, "parameters": dict(found.parameters)}
    ending = {"fault": found.fault, "state": found.state, "seconds": dict(found.seconds)}
    if isinstance(found, FolderVerification):
        return {
            **document,
            "verified": found.verified,
            "states": found.n_states,
            "layers": found.n_layers,
            "proved_layers": found.n_proved,
            "damaged_layers": list(found.damaged),
            "error_bound": number_or_none(found.error_bound),
            "difference": number_or_none(found.residual),
            **ending,
        }
    gain = {} if found.deviation_gain is None else {"deviation_gain": found.deviation_gain}
    return {
        **document,
        "verified": found.verified,
        "exact": found.exact,
        "states": found.n_states,
        "error_bound": found.error_bound,
        "residual": found.residual,
        **gain,
        **ending,
    }


def comparison_document(
    graph: StateGraph, rows: Sequence[MethodRun], error_bound: float, time_limit: float
) -> Document:
    """The methods side by side."""
    return {
        **game_head(graph),
        "states": graph.n_states,
        "error_bound": number_or_none(error_bound),
        "time_limit": time_limit,
        "rows": [
            {
                "method": row.method,
                "status": row.status,
                "sweeps": row.sweeps,
                "seconds": row.seconds,
                "error": number_or_none(row.error),
                "claimed_error": number_or_none(row.claimed_error),
                "optimal_policy": row.optimal_policy,
            }
            for row in rows
        ],
    }


def export_document(graph: StateGraph, form: str, file: Path) -> Document:
    """The file of an export, and its size."""
    return {
        **game_head(graph),
        "format": form,
        "file": str(file),
        "states": graph.n_states,
        "actions": graph.n_actions,
        "outcomes": graph.n_outcomes,
    }


def written_document(of: StateGraph | Game, file: Path) -> Document:
    """The file of a picture, a report or a page, and its size."""
    return {**game_head(of), "file": str(file), "bytes": file.stat().st_size}


def kept_document(folder: Path | None, most_bytes: int, cleared: bool) -> Document:
    """The cached graphs and answers.

    Parameters
    ----------
    folder : Path, optional
        The folder of the cache; None without a cache.
    most_bytes : int
        Largest size of the cache.
    cleared : bool
        Whether the files are removed now.
    """
    found = () if folder is None else _kept(folder)
    rows = sorted(found, key=lambda row: (row["game"], row["kept"]))
    return {
        "folder": None if folder is None else str(folder),
        "most_bytes": most_bytes,
        "bytes": sum(row["bytes"] for row in rows),
        "cleared": cleared,
        "kept": rows,
    }


def _kept(folder: Path) -> Iterator[Document]:
    for path in folder.glob("*.npz"):
        with contextlib.suppress(OSError):
            about = path.stat()
            used = time.strftime("%Y-%m-%d %H:%M", time.localtime(about.st_mtime))
            name, kind = path.name.split(".")[:2]
            game = name.rsplit("-", 2 if kind == "values" else 1)[0]
            yield {"game": game, "kept": kind, "bytes": about.st_size, "used": used}
