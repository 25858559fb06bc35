"""``rollwise compare``: the methods side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    print_json,
    print_table,
    read_game,
    refuse,
)
from rollwise.cli.forms import (
    ChaseOption,
    ContestOption,
    Form,
    TargetOption,
    TiesOption,
    as_played,
)
from rollwise.cli.method_options import SamplesOption
from rollwise.cli.progress import Progress
from rollwise.documents.games import methods_document
from rollwise.errors import UsageError
from rollwise.methods import find_method
from rollwise.numbers.printed import rounded_up

TIME_LIMIT = 20.0
if TYPE_CHECKING:
    from rollwise.analysis.compare_methods import MethodRun

SeedOption = Annotated[
    int | None, typer.Option("--seed", help="Sampled: of the draws; 1 unless given.")
]
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
    samples: SamplesOption = None,
    seed: SeedOption = None,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Run the methods on a game and measure their errors against the certified answer."""
    from rollwise.analysis.compare_methods import SEED, compare_methods
    from rollwise.answer.kept import build

    if not time_limit > 0:
        raise UsageError(f"--time-limit is {time_limit}; it must be positive")
    names = None if methods is None else [name.strip() for name in methods.split(",")]
    for name in names or ():
        find_method(name)
    if names is not None and not any(find_method(name).estimates for name in names):
        refuse("goes with the method sampled", samples=samples, seed=seed)
    chosen = as_played(read_game(game, parameters), Form(chase, target, contest, ties))
    with Progress() as progress:
        graph = build(chosen, max_states=max_states, progress=progress)
        rows, bound = compare_methods(
            graph,
            names,
            time_limit=time_limit,
            samples=samples,
            seed=SEED if seed is None else seed,
            progress=progress,
        )
    if json:
        print_json(methods_document(graph, rows, bound, time_limit))
    else:
        _print(rows, graph.n_states, bound, time_limit)


def _print(rows: list[MethodRun], n_states: int, bound: float, time_limit: float) -> None:
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
        f"error: the largest of any of {n_states:,} states, from values certified "
        f"± {rounded_up(bound)}; claimed error: what the method itself says"
    )
