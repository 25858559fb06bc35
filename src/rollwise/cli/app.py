"""The application object, which the commands hang on."""

from __future__ import annotations

from typing import Annotated

import typer

import rollwise
from rollwise.cli.commands_on_demand import CommandsOnDemand

app = typer.Typer(
    name="rollwise",
    cls=CommandsOnDemand,
    help="Solve turn-based dice games exactly, with a certified error.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"rollwise {rollwise.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass
