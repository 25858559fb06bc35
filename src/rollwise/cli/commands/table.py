"""``rollwise table``: the strategy, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    also_for_many,
    in_all_states,
    print_table,
    read_game,
    solve_or_open,
)
from rollwise.cli.forms import (
    ChaseOption,
    ContestOption,
    Form,
    TargetOption,
    TiesOption,
    as_played,
)
from rollwise.cli.method_options import (
    DEFAULT,
    EpsilonOption,
    MaybeMethodOption,
    OrderOption,
    RimOption,
    SampleSeedOption,
    SamplesOption,
    SolverOption,
    SoundOption,
    TimeLimitOption,
    WholeOption,
    method_options,
    tell_unfinished,
)
from rollwise.documents.answers import table_json
from rollwise.errors import UsageError
from rollwise.machine.atomic_files import check_place, write_atomically
from rollwise.machine.parquet_files import write_parquet
from rollwise.numbers.printed import as_text

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from rollwise.answer.layered_solution import LayeredSolution
    from rollwise.answer.rows import Cells
    from rollwise.answer.solution import Solution

SHOWN = 40  # rows shown where nothing else is asked for


@app.command("table")
@also_for_many("where", "limit", "out", "csv", "load", "max_states", "json")
def table(
    game: GameArgument,
    parameters: ParametersArgument = None,
    where: Annotated[
        str | None,
        typer.Option(metavar="EXPR", help='Which rows, as in "lid >= 3 and forced == 0".'),
    ] = None,
    throws: Annotated[
        bool, typer.Option("--throws", help="A row for each throw in each position.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=0, help="At most this many rows.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write to a .csv, .json or .parquet file."),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    json: JsonOption = False,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    load: LoadOption = None,
    method: MaybeMethodOption = None,
    epsilon: EpsilonOption = None,
    order: OrderOption = None,
    sound: SoundOption = None,
    time_limit: TimeLimitOption = None,
    solver: SolverOption = None,
    rim: RimOption = None,
    whole: WholeOption = None,
    samples: SamplesOption = None,
    seed: SampleSeedOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Print the strategy: what to do in each state, its value and error bound."""
    if csv and json:
        raise UsageError("--csv and --json can't both be had")
    form = "csv" if csv else "json" if json else None
    if out is not None and form is None:
        form = out.suffix.lstrip(".")
        if form not in ("csv", "json", "parquet"):
            raise UsageError(f"--out {out}: the name must end in .csv, .json or .parquet")
    check_place(out)
    options = method_options(
        method or DEFAULT,
        epsilon=epsilon,
        order=order,
        sound=sound,
        time_limit=time_limit,
        solver=solver,
        rim=rim,
        whole=whole,
        samples=samples,
        seed=seed,
    )
    chosen = as_played(read_game(game, parameters), Form(chase, target, contest, ties))
    if limit is None and out is None and form is None:
        limit = SHOWN
    found = in_all_states(solve_or_open(chosen, load, max_states, method=method, options=options))
    solution, states, how = _found(found, where, throws)
    shown = states[:limit]
    if out is not None:
        rows = solution.rows_of(shown, **how)

        def write(place: Path) -> None:
            if form == "parquet":
                write_parquet(rows, place)
            else:
                place.write_text(_text(solution, rows, form), encoding="utf-8", newline="\n")

        write_atomically(out, write)
    elif form is not None:
        write_text = streams.write_json if form == "json" else streams.write
        write_text(_text(solution, solution.rows_of(shown, **how), form))
    else:
        _show(solution.cells_of(shown, **how), len(shown), len(states))
    _tell_unfinished(solution)


def _found(
    found: Solution | LayeredSolution, where: str | None, throws: bool
) -> tuple[Any, NDArray[np.int64], dict[str, bool]]:
    """The answer that has the rows, their states, and how it is asked for them."""
    from rollwise.answer.solution import Solution

    solution = found.part_where(where) if throws and not isinstance(found, Solution) else found
    how = {"throws": throws} if isinstance(solution, Solution) else {}
    return solution, solution.states_where(where, **how), how


def _tell_unfinished(solution: Solution | LayeredSolution) -> None:
    from rollwise.answer.solution import Solution

    if isinstance(solution, Solution) and solution.gave_up:
        tell_unfinished(solution)
        raise typer.Exit(1)


def _text(solution: Solution | LayeredSolution, rows: pl.DataFrame, form: str | None) -> str:
    if form == "csv":
        return rows.write_csv()
    return table_json(solution, rows) + "\n"


def _show(cells: Cells, n: int, total: int) -> None:
    from rich.table import Table

    shown = Table(box=None, padding=(0, 2, 0, 0))
    text = as_text(cells)
    for name in text:
        shown.add_column(name, justify="left" if name in ("action", "exact") else "right")
    for row in zip(*text.values(), strict=True):
        shown.add_row(*row)
    print_table(shown)
    if total > n:
        typer.echo(f"{n} of {total:,} rows (--limit N for more, --csv, --json or --out for all)")
