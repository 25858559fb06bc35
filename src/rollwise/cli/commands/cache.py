"""``rollwise cache``: the answers that are kept."""

from __future__ import annotations

import contextlib
from typing import Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import JsonOption, print_json, print_table
from rollwise.documents.games import kept_document
from rollwise.machine import user_cache
from rollwise.numbers.printed import in_bytes


@app.command("cache")
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all that is kept.")] = False,
    json: JsonOption = False,
) -> None:
    """Show the graphs and answers that are kept, so that a second question is instant."""
    user_cache.use(True)
    folder = user_cache.answers_folder()
    document = kept_document(folder, user_cache.MOST_BYTES, clear)
    if clear and folder is not None:
        for path in folder.iterdir():
            with contextlib.suppress(OSError):  # another process may have removed it
                path.unlink()
    if json:
        print_json(document)
        return
    rows, total = document["kept"], document["bytes"]
    if folder is None:
        typer.echo(
            "Nothing is kept: there is no private folder for it, or ROLLWISE_NO_CACHE is set"
        )
        return
    if clear:
        typer.echo(f"Removed {len(rows):,} files, {in_bytes(total)}, from {folder}")
        return
    if rows:
        _show(rows)
    typer.echo(
        f"{in_bytes(total)} of at most {in_bytes(user_cache.MOST_BYTES)} in {folder}; "
        "what was used longest ago goes first, --clear removes all"
    )


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("game", "kept", "size", "last used"):
        table.add_column(name, justify="right" if name == "size" else "left")
    for row in rows:
        table.add_row(row["game"], row["kept"], in_bytes(row["bytes"]), row["used"])
    print_table(table)
