"""``rollwise compare``: the methods side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    number_or_none,
    print_json,
    print_table,
    read_game,
)
from rollwise.cli.progress import Progress
from rollwise.cli.score_options import (
    ChaseOption,
    ContestOption,
    TargetOption,
    TiesOption,
    as_played,
)
from rollwise.errors import UsageError
from rollwise.methods import find_method
from rollwise.numbers.printed import rounded_up

TIME_LIMIT = 20.0
COLUMNS = ("method", "status", "sweeps", "seconds", "error", "claimed_error", "optimal_policy")


@app.command("compare")
def compare(
    game: GameArgument,
    parameters: ParametersArgument = None,
    methods: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Which methods; all unless given.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="Seconds that each method may take.")
    ] = TIME_LIMIT,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Run the methods on a game and measure their errors against the certified answer."""
    from rollwise.analysis.compare_methods import compare_methods
    from rollwise.answer.kept import build

    if not time_limit > 0:
        raise UsageError(f"--time-limit is {time_limit}; it must be positive")
    names = None if methods is None else [name.strip() for name in methods.split(",")]
    for name in names or ():
        find_method(name)
    chosen = as_played(
        read_game(game, parameters),
        chase=chase,
        contest=contest,
        target=target,
        ties=ties,
        need_target=False,
    )
    with Progress() as progress:
        graph = build(chosen, max_states=max_states, progress=progress)
        rows, bound = compare_methods(
            graph,
            names,
            time_limit=time_limit,
            progress=progress,
        )
    if json:
        print_json(
            {
                "game": graph.game,
                "parameters": dict(graph.parameters),
                "states": graph.n_states,
                "error_bound": number_or_none(bound),
                "time_limit": time_limit,
                "rows": [
                    {
                        "method": row.method,
                        "status": row.status,
                        "sweeps": row.sweeps,
                        "seconds": row.seconds,
                        "error": number_or_none(row.error),
                        "claimed_error": number_or_none(row.claimed_error),
                        "optimal_policy": row.optimal_policy,
                    }
                    for row in rows
                ],
            }
        )
        return
    from rich.table import Table

    shown = Table(box=None, padding=(0, 2, 0, 0))
    for name in COLUMNS:
        shown.add_column(name.replace("_", " "), justify="left" if name == "method" else "right")
    notes = []
    for row in rows:
        status, _, why = row.status.partition(": ")
        if why:
            notes.append(f"{row.method}: {row.status}")
        shown.add_row(
            row.method,
            status,
            "" if row.sweeps is None else f"{row.sweeps:,}",
            "" if row.seconds is None else f"{row.seconds:.3f}",
            "" if row.error is None else rounded_up(row.error),
            "" if row.claimed_error is None else rounded_up(row.claimed_error),
            "" if row.optimal_policy is None else ("yes" if row.optimal_policy else "no"),
        )
    print_table(shown)
    for note in notes:
        typer.echo(note)
    if any(row.status == "out of time" for row in rows):
        typer.echo(f"out of time: each method had {time_limit:g} s (--time-limit)")
    typer.echo(
        f"error: the largest of any of {graph.n_states:,} states, from values certified "
        f"± {rounded_up(bound)}; claimed error: what the method itself says"
    )
