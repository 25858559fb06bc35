"""``rollwise help``: all commands, or all options of one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rollwise.cli.app import ALL_OPTIONS, app, write_commands


@app.command("help")
def help_(
    ctx: typer.Context,
    command: Annotated[str | None, typer.Argument(metavar="[COMMAND]", help="One of them.")] = None,
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
