"""Printing for several commands: documents or texts, tables and rows, values with their bounds."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli import streams
from rollwise.cli.streams import ASKED
from rollwise.documents import model
from rollwise.errors import UsageError
from rollwise.machine.atomic_files import check_place, write_atomically, write_text
from rollwise.numbers.printed import how_many

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console
    from rich.table import Table

    from rollwise.analysis.thumb.frontier import RuleOfThumb
    from rollwise.answer.solution import Solution
    from rollwise.graph import StateGraph
    from rollwise.graph.policies import Policy


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    streams.write_json(model.encode(document) + "\n")


def render(document: model.Document, *lines: str) -> None:
    """Print a document as one line of JSON, or as text, with other lines behind it."""
    if ASKED.json:
        return print_json(document)
    for block in (*document.told(), *lines):
        if isinstance(block, str):
            typer.echo(block)
        else:
            show_table(block)


def certify(solution: Solution, place: Path | None) -> None:
    """Write the certificate of a solution, if there is a place for it, and tell of the file."""
    if place is None:
        return
    from rollwise.answer.verify import save_certificate
    from rollwise.cli.progress import Progress

    sys.stdout.flush()  # the answer doesn't wait for its certificate
    try:
        with Progress() as progress:
            summary = save_certificate(solution, place, progress.listener)
    except KeyboardInterrupt as stop:
        stop.add_note(f"while the certificate was written: {place} is left as it was")
        raise
    if not ASKED.json:
        size = f"{how_many(summary.positions, 'position')}, {summary.n_bytes / 1e3:,.0f} kB"
        typer.echo(f"Certificate: {place} ({size}); `rollwise verify {place}` checks it.")


def place_line(verb: str, place: Path | None) -> list[str]:
    """The line about a written file, if there is one."""
    return [] if place is None else [f"{verb} {place}."]


def end_if(failed: object, message: str, code: int = 1) -> None:
    """End the command with a line on stderr and an exit code, if it failed or was stopped."""
    if failed:
        typer.echo(f"rollwise: {message}", err=True)
        raise typer.Exit(code)


WIDE = 200  # columns of output that goes to a file or to another program
READABLE = 24  # columns of a text that is broken into lines


def _needed(table: Table) -> int:
    """The least width of a table without a cut cell or head."""
    from rich.cells import cell_len

    needed = 0 if table.pad_edge else -table.padding[1]
    for column in table.columns:
        texts = [str(cell) for cell in (column.header, *column.cells)]
        natural = max(cell_len(line) for text in texts for line in text.split("\n"))
        needed += min(natural, READABLE) if column.overflow == "fold" else natural
        needed += table.padding[1]
    return needed


def show_table(rows: model.Rows, console: Console | None = None) -> None:
    """Print a table without cutting a figure, a name or a head.

    Where a table is wider than the terminal, columns of text (``fold``) and then heads are
    broken into lines. A table still wider is printed as records, a line for each cell. A file or
    another program gets wide lines, unless the variable COLUMNS says how wide.
    """
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if console is None:
        width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDE
        console = Console(width=width, highlight=False, markup=False)
    has_heads = any(map(str.strip, rows.heads))
    table = Table(box=None, padding=(0, 2, 0, rows.indent), show_header=has_heads)
    if not rows.indent:  # no spaces before the first column, and none behind the last
        table.pad_edge = False
    for head in rows.heads:
        justify: Any = "left" if head in rows.left else "right"
        table.add_column(
            head,
            justify=justify,
            overflow="fold" if head in rows.fold else "ellipsis",
            no_wrap=head not in rows.fold,
        )
    for cells in rows.cells:
        table.add_row(*map(Text, cells))
    if _needed(table) > console.width:
        for column, head in zip(table.columns, rows.heads, strict=True):
            column.vertical = "bottom"
            if cell_len(head) > max(map(cell_len, map(str, column.cells)), default=0):
                column.header = head.replace(" ", "\n").replace("_", "_\n")
    if _needed(table) <= console.width:
        console.print(table)
        return
    records = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    records.add_column(no_wrap=True)
    records.add_column(overflow="fold")
    for number, row in enumerate(zip(*(column.cells for column in table.columns), strict=True)):
        if number:
            records.add_row("", "")
        for head, cell in zip(rows.heads, row, strict=True):
            if str(cell):
                records.add_row(head, cell)
    console.print(records)


SHOWN = 40  # rows shown by default
WhereOption = Annotated[
    str | None,
    typer.Option(metavar="EXPR", help='A condition on rows: "lid >= 3 and forced == 0".'),
]
LimitOption = Annotated[int | None, typer.Option(min=0, help="At most this many rows.")]
OutOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write to a .csv, .json or .parquet file."),
]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")]


def form_of(out: Path | None, *, csv: bool) -> str | None:
    """The form of written rows: csv, json or parquet; None for printed rows.

    The ending of a file's name is its form. A file without an ending, such as a pipe, has the form
    of --csv or --json.

    Raises
    ------
    UsageError, OutputError
        Two forms, an unknown ending, or an unwritable place.
    """
    if csv and ASKED.json:
        raise UsageError("--csv and --json can't both be had")
    form = "csv" if csv else "json" if ASKED.json else None
    if out is None or (form is not None and not out.suffix):
        check_place(out)
        return form
    check_file("--out", out, *([".csv"] if csv else [".csv", ".json", ".parquet"]))
    return out.suffix.lstrip(".")


def write_rows(
    rows: pl.DataFrame, form: str, out: Path | None, as_json: Callable[[pl.DataFrame], str] = str
) -> None:
    """Write rows to a file, or to stdout; `as_json` makes a line of JSON of them."""

    def text() -> str:
        return rows.write_csv() if form == "csv" else as_json(rows) + "\n"

    def write(place: Path) -> None:
        if form == "parquet":
            from rollwise.machine.parquet_files import write_parquet

            write_parquet(rows, place)
        else:
            place.write_text(text(), encoding="utf-8", newline="\n")

    if out is not None:
        write_atomically(out, write)
    else:
        (streams.write_json if form == "json" else streams.write)(text())


def tell_rows(
    rows: pl.DataFrame, form: str, out: Path | None, as_json: Callable[[pl.DataFrame], str]
) -> None:
    """Write rows to stdout, or to a file; print a line about the file, or a document for --json."""
    write_rows(rows, form, out, as_json)
    if out is not None and ASKED.json:
        write_rows(rows, "json", None, as_json)
    elif out is not None:
        typer.echo(f"wrote {out} ({how_many(len(rows), 'row')})")


def print_rows(rows: model.Rows, total: int) -> None:
    """Print some of so many rows."""
    show_table(rows)
    n = len([*rows.cells])
    if total > n:
        typer.echo(f"{n} of {total:,} rows (--limit N for more, --csv, --json or --out for all)")


def check_file(option: str, path: Path | None, *endings: str, silent: str = "") -> None:
    """Raise, before any work, if a file can't be written. None passes.

    Parameters
    ----------
    *endings : str
        Accepted endings of the name.
    silent : str
        Another accepted ending, absent from messages.

    Raises
    ------
    UsageError, OutputError
    """
    if path is not None and path.suffix not in (*endings, silent or endings[0]):
        *others, last = endings
        either = f"{', '.join(others)} or {last}" if others else last
        raise UsageError(f"{option} {path}: the name must end in {either}")
    check_place(path)


def write_policy(graph: StateGraph, policy: Policy, path: Path) -> None:
    """Write a policy as a table, all at once or not at all."""
    from rollwise.answer.references import policy_table

    write_rows(policy_table(graph, policy), path.suffix.lstrip("."), path)


def write_rule(graph: StateGraph, rules: Sequence[RuleOfThumb], save: Path | None) -> list[str]:
    """Save the last of the rules, if requested. Return the lines to print about it."""
    if save is None or not rules:
        return []
    write_text(save, model.encode(rules[-1].rule.document(graph)) + "\n")
    return [f"Saved to {save}."]
