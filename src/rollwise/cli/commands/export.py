"""``rollwise export``: a game in other people's formats."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from rollwise.cli import streams
from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    LoadOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    print_json,
    read_game,
    solve_or_load,
)
from rollwise.cli.forms import (
    ChaseOption,
    ContestOption,
    Form,
    TargetOption,
    TiesOption,
    as_played,
)
from rollwise.documents.games import export_document
from rollwise.errors import UsageError
from rollwise.machine.atomic_files import check_place, write_atomically
from rollwise.numbers.sizes import in_bytes

TEXT = ("prism", "drn", "json")
MUCH = 200e6  # bytes of JSON that are written without being asked for twice


@app.command("export")
def export(
    game: GameArgument,
    parameters: ParametersArgument = None,
    to: Annotated[
        str, typer.Option("--to", metavar="FORMAT", help="prism, drn, parquet, json or npz.")
    ] = ...,  # type: ignore[assignment]
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to; text is printed otherwise.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="In a model: what the second player does."),
    ] = None,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    json: JsonOption = False,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    yes: Annotated[
        bool, typer.Option("--yes", help=f"Write JSON of over {in_bytes(MUCH)} too.")
    ] = False,
) -> None:
    """Write a game for model checkers (prism, drn) or as data (parquet, json, npz)."""
    from rollwise.export import DATA, MODELS
    from rollwise.export import export as write
    from rollwise.export.data import json_bytes

    if to not in (*MODELS, *DATA):
        raise UsageError(f"there is no format {to!r} ({', '.join([*MODELS, *DATA])})")
    if out is None and (json or to not in TEXT):
        raise UsageError(f"--to {to} needs --out FILE" + (" with --json" if json else ""))
    check_place(out)
    chosen = as_played(read_game(game, parameters), Form(chase, target, contest, ties))
    solution = solve_or_load(chosen, load, max_states)
    graph = solution.graph
    if to == "json" and not yes and (size := json_bytes(solution)) > MUCH:
        raise UsageError(
            f"{graph.title} makes about {in_bytes(size)} of JSON; --yes writes it, and "
            "--to parquet or --to npz hold the same in a small part of it"
        )
    if out is None:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "model"
            write(solution, place, to, against)
            streams.write(place.read_text(encoding="utf-8"))
        return
    write_atomically(out, lambda place: write(solution, place, to, against))
    if json:
        print_json(export_document(graph, to, out))
