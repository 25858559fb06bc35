"""``rollwise advise``: what to do in one position."""

from __future__ import annotations

from typing import Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    LoadOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    print_json,
    print_table,
    read_game,
    read_state,
    read_throw,
    solve_or_open,
)
from rollwise.cli.forms import (
    ChaseOption,
    ContestOption,
    Form,
    TiesOption,
    as_played,
)
from rollwise.cli.method_options import (
    DEFAULT,
    EpsilonOption,
    MaybeMethodOption,
    RimOption,
    SolverOption,
    TimeLimitOption,
    method_options,
    tell_unfinished,
)
from rollwise.documents.answers import advice_document
from rollwise.errors import UsageError
from rollwise.methods import find_method


@app.command("advise")
def advise(
    game: GameArgument,
    parameters: ParametersArgument = None,
    state: Annotated[
        str,
        typer.Option(metavar="FIELD=N,...", help="The position, as in banked=50,rival=50,turn=20."),
    ] = ...,  # type: ignore[assignment]
    throw: Annotated[
        str | None,
        typer.Option(metavar="N,...", help="What was thrown; without it, each throw is shown."),
    ] = None,
    rolls_left: Annotated[
        int | None,
        typer.Option(metavar="N", help="How often dice may still be thrown again."),
    ] = None,
    chase: ChaseOption = False,
    contest: ContestOption = False,
    ties: TiesOption = None,
    json: JsonOption = False,
    load: LoadOption = None,
    method: MaybeMethodOption = None,
    epsilon: EpsilonOption = None,
    time_limit: TimeLimitOption = None,
    solver: SolverOption = None,
    rim: RimOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Say what each action is worth in a position, and what a wrong one costs."""
    options = method_options(
        method or DEFAULT, epsilon=epsilon, time_limit=time_limit, solver=solver, rim=rim
    )
    if find_method(method or DEFAULT).estimates:
        raise UsageError(f"--method {method} estimates; `rollwise table` has its estimates")
    chosen = as_played(read_game(game, parameters), Form(chase, None, contest, ties))
    position, thrown = read_state(state, chosen), read_throw(throw)
    found = solve_or_open(chosen, load, max_states, method=method, options=options)
    solution = found.part(position)
    advice = solution.advise(position, thrown, rolls_left)
    if solution.gave_up:
        tell_unfinished(solution, solution.find(position, thrown, rolls_left))
        raise typer.Exit(1)
    document = advice_document(solution, advice)
    if json:
        print_json(document)
        return
    from rich.table import Table

    shown = Table(box=None, padding=(0, 2, 0, 0))
    columns, rows, sure = advice.as_rows()
    for name in columns:
        shown.add_column(name, justify="left" if name in ("", "action", "throw") else "right")
    for cells in rows:
        shown.add_row(*cells)
    print_table(shown)
    for name in ("value_exact", "win_probability_exact"):
        if name in document:
            what = name.removesuffix("_exact").replace("_", " ")
            typer.echo(f"{what} exactly: {document[name]}")
    typer.echo(sure)
