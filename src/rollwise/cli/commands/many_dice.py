"""``rollwise many-dice``: expected scores for any number of dice up to thousands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli import streams
from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    ParametersArgument,
    print_json,
    print_table,
    read_game,
)
from rollwise.documents.scores import many_dice_document
from rollwise.errors import UsageError
from rollwise.machine.atomic_files import check_place, write_text
from rollwise.numbers.printed import certified

if TYPE_CHECKING:
    from rollwise.analysis.many_dice import ManyDice


@app.command("many-dice")
def many_dice(
    game: GameArgument,
    parameters: ParametersArgument = None,
    most: Annotated[int, typer.Option(metavar="N", help="Up to so many dice.")] = 5000,
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the table to a .csv file.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Expected score against the number of dice, certified, for games of taking the lowest."""
    from rollwise.analysis.many_dice import many_dice as solve_many

    if csv and json:
        raise UsageError("--csv and --json can't both be had")
    if out is not None and out.suffix != ".csv":
        raise UsageError(f"--out {out}: the name must end in .csv")
    check_place(out)
    chosen = read_game(game, parameters)
    found = solve_many(chosen, most)
    rows = found.table()
    if out is not None:
        write_text(out, rows.write_csv())
    if json:
        print_json(many_dice_document(chosen, found))
    elif csv:
        streams.write(rows.write_csv())
    else:
        _print(found)


def _print(found: ManyDice) -> None:
    """Rows for few dice and for round numbers of them."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("dice", "expected score", "error bound", "two to take", "refuse from"):
        table.add_column(name, justify="right")
    landmarks = {n for ten in (1, 10, 100, 1000, 10_000) for n in (ten, 2 * ten, 5 * ten)}
    shown = [
        row
        for row in found.table().iter_rows(named=True)
        if row["dice"] <= 12 or row["dice"] in landmarks or row["dice"] == found.most
    ]
    bounds = [row["error_bound"] for row in shown]
    scores = map(certified, [row["expected_score"] for row in shown], bounds)
    for row, score in zip(shown, scores, strict=True):
        refuse = row["refuse_from"]
        two = "" if row["take_two"] is None else found.value(row["dice"], take_two=True)
        table.add_row(
            str(row["dice"]),
            score.number,
            score.bound,
            certified(*two).number if two else "",
            "" if refuse is None else str(refuse),
        )
    print_table(table)
    worth = certified(*found.value(found.most))
    typer.echo(
        f"{found.most:,} dice: expected score {worth.number} (certified ± {worth.bound}), found in "
        f"{found.seconds:.1f} s; --csv, --json or --out for every number of dice"
    )
