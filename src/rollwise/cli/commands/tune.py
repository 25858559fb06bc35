"""``rollwise tune``: for which parameters a game is as one wants it."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    in_one_graph,
    print_json,
    print_table,
    read_values,
)
from rollwise.cli.pools import ClusterOption, ProcessesOption, check_workers, processes_or
from rollwise.cli.progress import Progress
from rollwise.errors import UsageError

if TYPE_CHECKING:
    from rollwise.analysis.tuning import Tuning

VaryOption = Annotated[
    list[str],
    typer.Option(
        metavar="NAME=A..B", help="A parameter and its values: 20..120, 20..120..10 or 4,6,8."
    ),
]
ForOption = Annotated[
    str,
    typer.Option(
        "--for",
        metavar="AIM",
        help="What is measured, and the goal: first_player = 0.5, min length, max skill; also "
        "value, luck, draws.",
    ),
]


@app.command("tune")
def tune(
    game: GameArgument,
    vary: VaryOption,
    aim: ForOption,
    parameters: ParametersArgument = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the curve (.html, .svg, .png)."),
    ] = None,
    workers: ProcessesOption = None,
    cluster: ClusterOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Solve a game for a range of parameters, each certified, and find the nearest to an aim."""
    from rollwise.analysis import tuning
    from rollwise.answer import kept
    from rollwise.documents.design import tuning_document
    from rollwise.games import find

    wanted = tuning.Aim.read(aim)
    values = dict(tuning.values_of(text) for text in vary)
    if len(values) < len(vary):
        raise UsageError("a parameter varies twice; give all its values at once")
    if out is not None:
        from rollwise.plot.lines import check_curve

        check_curve(values, out)
    check_workers(workers, cluster)
    kind, fixed = find(game), read_values(parameters or ())
    in_layers_too = wanted.measure in tuning.OF_THE_START
    found_by = kept.answer if in_layers_too else kept.solve
    needed = nullcontext() if in_layers_too else in_one_graph(f"tune for {wanted.measure}")
    with needed, Progress() as progress, processes_or(cluster, workers) as pool:
        found = tuning.tune(
            kind,
            fixed,
            values,
            wanted,
            partial(found_by, max_states=max_states),
            progress,
            pool,
        )
    if out is not None:
        from rollwise.plot.lines import draw_curve
        from rollwise.plot.pages import write_figure

        write_figure(draw_curve(kind.name, values, found), out, f"{kind.name} tuned")
    if json:
        print_json(tuning_document(kind.name, fixed, found))
    else:
        _print(found)
        if out is not None:
            typer.echo(f"Written to {out}.")
    if found.stopped:
        typer.echo("rollwise: stopped; these are the games solved so far", err=True)
        raise typer.Exit(130)


def _print(found: Tuning) -> None:
    from rich.table import Table

    from rollwise.numbers.printed import column

    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in found.points[0].parameters:
        table.add_column(name, justify="right")
    table.add_column(found.aim.measure, justify="right")
    table.add_column("certified ±", justify="right")
    table.add_column("")
    shown = column(
        [point.amount for point in found.points], [point.error_bound for point in found.points]
    )
    for point, text in zip(found.points, shown, strict=True):
        mark = "nearest" if point is found.best else ""
        table.add_row(*point.parameters.values(), text.number, text.bound, mark)
    print_table(table)
    best = " ".join(f"{name}={value}" for name, value in found.best.parameters.items())
    measure, goal = found.aim.measure, found.aim.goal
    if isinstance(goal, str):
        typer.echo(f"the {'least' if goal == 'min' else 'largest'} {measure}: {best}")
    else:
        if not found.reached:
            side = "above" if found.best.amount > goal else "below"
            typer.echo(f"no game of these has {measure} = {goal:g}: all are {side} it")
        typer.echo(f"nearest to {goal:g}: {best}")
    if found.at_the_end and (isinstance(goal, str) or not found.reached):
        names = " and of ".join(found.at_the_end)
        typer.echo(f"that is at the end of the range of {names}: a wider one may go further")
