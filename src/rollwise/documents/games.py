"""Lists of games, results of `check`, `verify` and `compare`, exports and kept answers."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rollwise.documents.model import Document, Kind, Part, Rows, about
from rollwise.documents.parts import game_head, number_or_none
from rollwise.parameters import KINDS, parameter_specs, typed

if TYPE_CHECKING:
    from rollwise.analysis.compare_methods import MethodRun
    from rollwise.analysis.findings import Report
    from rollwise.answer.verify import Verification
    from rollwise.game import Game
    from rollwise.graph import StateGraph
    from rollwise.methods import Method


class Parameter(Part, frozen=True):
    """A parameter of a game."""

    name: str
    type: str
    default: Any
    range: Annotated[str, about("the allowed values, in words")]
    among: Annotated[list[Any], about("the allowed values, where they are a list")]
    about: str


class ListedGame(Part, frozen=True):
    """A game with its parameters and policies."""

    game: str
    heading: str
    description: str
    players: int
    objective: Annotated[str, about("win, maximize or minimize")]
    parameters: list[Parameter]
    policies: Annotated[dict[str, str], about("descriptions by name")]


class Games(Document, frozen=True, tag="rollwise/games/1"):
    """The games."""

    games: list[ListedGame]

    def blocks(self) -> Iterator[str | Rows]:
        """A row for each game."""
        heads = ("game", "parameters", "policies", "description")
        cells = (
            (
                game.game,
                " ".join(f"{one.name}={typed(one.default)}" for one in game.parameters),
                ", ".join(game.policies),
                game.description,
            )
            for game in self.games
        )
        yield Rows(heads, cells, left=heads, fold=heads)


def games_document(games: Iterable[type[Game]]) -> Games:
    """Games with their parameters and policies."""
    return Games([_listed(cls) for cls in games])


def _listed(cls: type[Game]) -> ListedGame:
    def first_line(of: object) -> str:
        return (inspect.getdoc(of) or "").partition("\n")[0]

    return ListedGame(
        cls.name,
        cls.heading,
        first_line(cls),
        cls.players,
        cls().objective,  # can depend on the number of players
        [
            Parameter.of(
                spec,
                type=spec.type.__name__ if spec.type in KINDS else "str",
                range=spec.range_text,
            )
            for spec in parameter_specs(cls)
        ],
        {name: first_line(function) for name, function in cls.policies().items()},
    )


class Option(Part, frozen=True):
    """An option of a method."""

    name: str
    type: str
    default: Any
    about: str


class ListedMethod(Part, frozen=True):
    """A method with its options."""

    method: str
    about: str
    kind: Kind
    options: list[Option]


class Methods(Document, frozen=True, tag="rollwise/methods/1"):
    """The methods of solving."""

    methods: list[ListedMethod]

    def blocks(self) -> Iterator[str | Rows]:
        """Each method with a table of its options."""
        heads = ("option", "default", "meaning")
        for i, method in enumerate(self.methods):
            yield f"{chr(10) if i else ''}{method.method}: {method.about}"
            rows = [
                (one.name, "" if one.default is None else typed(one.default), one.about)
                for one in method.options
            ]
            if rows:
                yield Rows(heads, rows, left=heads, fold=("meaning",), indent=2)


def methods_document(methods: Iterable[Method]) -> Methods:
    """Methods with their options."""
    return Methods(
        [
            ListedMethod(
                method.name,
                method.about,
                "estimated" if method.estimates else "certified",
                [Option.of(one, type=one.type.__name__) for one in method.settings().values()],
            )
            for method in methods
        ]
    )


def check_document(report: Report) -> dict[str, Any]:
    """The findings in the rules of a game."""
    return {
        "game": report.game,
        "passed": report.passed,
        "findings": [finding.__dict__ for finding in report.findings],
    }


def verification_document(found: Verification) -> dict[str, Any]:
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
) -> dict[str, Any]:
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


def export_document(graph: StateGraph, form: str, file: Path) -> dict[str, Any]:
    """The file of an export, and its size."""
    return {
        **game_head(graph),
        "format": form,
        "file": str(file),
        "states": graph.n_states,
        "actions": graph.n_actions,
        "outcomes": graph.n_outcomes,
    }


def written_document(of: StateGraph | Game, file: Path) -> dict[str, Any]:
    """The file of a picture, a report or a page, and its size."""
    return {**game_head(of), "file": str(file), "bytes": file.stat().st_size}


def kept_document(folder: Path | None, most_bytes: int, cleared: bool) -> dict[str, Any]:
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


def _kept(folder: Path) -> Iterator[dict[str, Any]]:
    for path in folder.glob("*.npz"):
        with contextlib.suppress(OSError):
            about = path.stat()
            used = time.strftime("%Y-%m-%d %H:%M", time.localtime(about.st_mtime))
            name, kind = path.name.split(".")[:2]
            game = name.rsplit("-", 2 if kind == "values" else 1)[0]
            yield {"game": game, "kept": kind, "bytes": about.st_size, "used": used}
