"""Reference: ``rollwise help`` and ``rollwise schema``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rollwise.cli.app import ALL_OPTIONS, app, write_commands
from rollwise.cli.streams import write_json
from rollwise.errors import UsageError


@app.command("help")
def help_(
    ctx: typer.Context,
    command: Annotated[
        str | None, typer.Argument(metavar="[COMMAND]", help="A command's name.")
    ] = None,
) -> None:
    """List all commands, or all options of one."""
    parent: Any = ctx.parent
    if command is None:
        formatter = parent.make_formatter()
        write_commands(formatter, every=True)
        typer.echo(formatter.getvalue().strip())
        return
    chosen: Any = parent.command.resolve_command(parent, [command])[1]
    with chosen.make_context(command, [], parent=parent, resilient_parsing=True) as inner:
        inner.obj = ALL_OPTIONS
        typer.echo(chosen.get_help(inner))


@app.command("schema")
def schema(
    command: Annotated[str, typer.Argument(metavar="COMMAND", help="A command with --json.")],
) -> None:
    """Print the JSON schema of a command's --json."""
    from rollwise.documents.model import documents_of, encode, schema_of

    documents = documents_of(command)
    if not documents:
        raise UsageError(f"{command!r} prints no JSON document: see docs/json.md")
    write_json(encode(schema_of(documents)) + "\n")
