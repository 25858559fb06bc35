"""``rollwise export``: a game in other people's formats."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from rollwise.atomic_files import check_place, write_atomically
from rollwise.cli.app import app
from rollwise.cli.commands.play import ContestOption, TiesOption, lay_table, named_policy
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    LoadOption,
    MaxStatesOption,
    ParametersArgument,
    print_json,
    read_game,
)
from rollwise.errors import UsageError

TEXT = ("prism", "drn", "json")


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
    contest: ContestOption = False,
    ties: TiesOption = "shared",
    json: JsonOption = False,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
) -> None:
    """Write a game for model checkers (prism, drn) or as data (parquet, json, npz)."""
    from rollwise.export import DATA, MODELS
    from rollwise.export import export as write

    if to not in (*MODELS, *DATA):
        raise UsageError(f"there is no format {to!r} ({', '.join([*MODELS, *DATA])})")
    if out is None and (json or to not in TEXT):
        raise UsageError(f"--to {to} needs --out FILE" + (" with --json" if json else ""))
    check_place(out)
    chosen = read_game(game, parameters)
    table = lay_table(chosen, ties if contest else None, load, max_states)
    policy = None if against is None else named_policy(table, against)
    if against is not None and policy is None:
        raise UsageError("a model can't hold a person; --against wants a policy")
    if out is None:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "model"
            write(table.solution, place, to, policy)
            sys.stdout.write(place.read_text(encoding="utf-8"))
        return
    write_atomically(out, lambda place: write(table.solution, place, to, policy))
    if json:
        graph = table.graph
        print_json(
            {
                "game": graph.game,
                "parameters": dict(graph.parameters),
                "format": to,
                "file": str(out),
                "states": graph.n_states,
                "actions": graph.n_actions,
                "outcomes": graph.n_outcomes,
            }
        )
