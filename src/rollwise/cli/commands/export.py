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
    refuse,
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
from rollwise.numbers.printed import in_bytes

TEXT = ("prism", "drn", "json", "lp", "mps")
MUCH = 200e6  # bytes of JSON that are written without being asked for twice


@app.command("export")
def export(
    game: GameArgument,
    parameters: ParametersArgument = None,
    to: Annotated[
        str,
        typer.Option("--to", metavar="FORMAT", help="prism, drn, parquet, json, npz, lp or mps."),
    ] = ...,  # type: ignore[assignment]
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to; text is printed otherwise.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="In a model: what the second player does."),
    ] = None,
    program: Annotated[
        str | None,
        typer.Option(help="In lp and mps: linear-programming (the default) or mixed-integer."),
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
    """Write a game for model checkers (prism, drn), solvers (lp, mps), or as data."""
    from rollwise.export import DATA, MODELS, PROGRAM_FILES
    from rollwise.export import export as write
    from rollwise.export.data import json_bytes

    formats = (*MODELS, *DATA, *PROGRAM_FILES)
    if to not in formats:
        raise UsageError(f"there is no format {to!r} ({', '.join(formats)})")
    if to not in PROGRAM_FILES:
        refuse("goes with --to lp and --to mps", program=program)
    if out is None and (json or to not in TEXT):
        raise UsageError(f"--to {to} needs --out FILE" + (" with --json" if json else ""))
    check_place(out)
    chosen = as_played(read_game(game, parameters), Form(chase, target, contest, ties))
    solution = solve_or_load(chosen, load, max_states)
    graph, kind = solution.graph, {"program": program} if program else {}
    if to == "json" and not yes and (size := json_bytes(solution)) > MUCH:
        raise UsageError(
            f"{graph.title} makes about {in_bytes(size)} of JSON; --yes writes it, and "
            "--to parquet or --to npz hold the same in a small part of it"
        )
    if out is None:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "model"
            write(solution, place, to, against, **kind)
            streams.write(place.read_text(encoding="utf-8"))
        return
    write_atomically(out, lambda place: write(solution, place, to, against, **kind))
    if json:
        print_json(export_document(graph, to, out))
