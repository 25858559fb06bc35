"""Rows of a table: printed, written to a file, or as CSV and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli import streams
from rollwise.cli.common import print_table
from rollwise.errors import UsageError
from rollwise.machine.atomic_files import check_place, write_atomically
from rollwise.machine.parquet_files import write_parquet

if TYPE_CHECKING:
    import polars as pl

SHOWN = 40  # rows shown where nothing else is asked for
WhereOption = Annotated[
    str | None,
    typer.Option(metavar="EXPR", help='Which rows, as in "lid >= 3 and forced == 0".'),
]
LimitOption = Annotated[int | None, typer.Option(min=0, help="At most this many rows.")]
OutOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write to a .csv, .json or .parquet file."),
]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")]


def form_of(out: Path | None, *, csv: bool, json: bool) -> str | None:
    """How rows are written: csv, json or parquet; None where they are printed for people.

    Raises
    ------
    UsageError, OutputError
        Two forms, no known ending, or a place that can't be written to.
    """
    if csv and json:
        raise UsageError("--csv and --json can't both be had")
    form = "csv" if csv else "json" if json else None
    if out is not None and form is None:
        form = out.suffix.lstrip(".")
        if form not in ("csv", "json", "parquet"):
            raise UsageError(f"--out {out}: the name must end in .csv, .json or .parquet")
    check_place(out)
    return form


def write_rows(
    rows: pl.DataFrame, form: str, out: Path | None, as_json: Callable[[pl.DataFrame], str]
) -> None:
    """Write rows to a file, or to stdout; `as_json` makes a line of JSON of them."""

    def text() -> str:
        return rows.write_csv() if form == "csv" else as_json(rows) + "\n"

    def write(place: Path) -> None:
        if form == "parquet":
            write_parquet(rows, place)
        else:
            place.write_text(text(), encoding="utf-8", newline="\n")

    if out is not None:
        write_atomically(out, write)
    else:
        (streams.write_json if form == "json" else streams.write)(text())


def print_rows(text: Mapping[str, list[str]], n: int, total: int) -> None:
    """Print the columns of `n` of so many rows."""
    from rich.table import Table

    shown = Table(box=None, padding=(0, 2, 0, 0))
    for name in text:
        shown.add_column(name, justify="left" if name in ("action", "exact") else "right")
    for row in zip(*text.values(), strict=True):
        shown.add_row(*row)
    print_table(shown)
    if total > n:
        typer.echo(f"{n} of {total:,} rows (--limit N for more, --csv, --json or --out for all)")
