"""The strategy: ``rollwise table``, row by row, and ``advise``, in one position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    read_game,
    read_state,
    read_throw,
    refuse,
    solve_or_open,
)
from rollwise.cli.options import (
    DEFAULT,
    GameArgument,
    JsonOption,
    LoadOption,
    MaxStatesOption,
    MaybeMethodOption,
    NoCacheOption,
    ParametersArgument,
    SampleSeedOption,
    SetOption,
    TimeLimitOption,
    method_options,
    tell_unfinished,
)
from rollwise.cli.printing import (
    SHOWN,
    CsvOption,
    LimitOption,
    OutOption,
    WhereOption,
    form_of,
    print_grid,
    print_json,
    print_rows,
    show_table,
    write_rows,
)
from rollwise.documents.answers import advice_document, grid_document, table_json
from rollwise.documents.parts import undecided_lines
from rollwise.errors import UsageError
from rollwise.methods import find_method
from rollwise.numbers.printed import as_text, rounded_up, scaled
from rollwise.words import in_words

if TYPE_CHECKING:
    from rollwise.answer.grids import Grid
    from rollwise.answer.solution import Solution


@app.command("table")
def table(
    game: GameArgument,
    parameters: ParametersArgument = None,
    where: WhereOption = None,
    throws: Annotated[
        bool, typer.Option("--throws", help="A row for each throw in each position.")
    ] = False,
    each_action: Annotated[
        bool,
        typer.Option("--each-action", help="A column for each action, with its value."),
    ] = False,
    grid: Annotated[
        bool,
        typer.Option(
            "--grid",
            help="Two matrices by two fields instead of rows: the best actions, and their values.",
        ),
    ] = False,
    limit: LimitOption = None,
    out: OutOption = None,
    csv: CsvOption = False,
    json: JsonOption = False,
    load: LoadOption = None,
    method: MaybeMethodOption = None,
    settings: SetOption = None,
    time_limit: TimeLimitOption = None,
    seed: SampleSeedOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Print the best action and the value of each position."""
    if grid:
        refuse("is for rows, and --grid prints matrices", limit=limit, out=out, csv=csv)
        refuse("adds columns to rows, and --grid prints matrices", each_action=each_action)
    form = form_of(out, csv=csv, json=json)
    options = method_options(method or DEFAULT, settings, time_limit=time_limit, seed=seed)
    chosen = read_game(game, parameters, any_target=True)
    if limit is None and form is None:
        limit = SHOWN
    found = solve_or_open(chosen, load, max_states, method=method, options=options)
    if grid:
        _tell_grid(found.part_where(where), where, throws=throws, json=json)
        return
    solution = found.part_where(where) if throws or each_action else found
    states = solution.states_where(where, throws=throws)
    how = {"throws": throws, "each_action": each_action}
    shown = states[:limit]
    if form is not None:
        rows = solution.rows_of(shown, **how)
        write_rows(rows, form, out, lambda rows: table_json(solution, rows))
    else:
        cells = in_words(solution.game, solution.cells_of(shown, **how))
        bounds = solution.action_bounds if each_action else {}
        print_rows(as_text(cells, bounds), len(shown), len(states))
        for line in undecided_lines(solution.n_undecided(shown)):
            typer.echo(line)
    _tell_unfinished(solution)


def _tell_grid(solution: Solution, where: str | None, *, throws: bool, json: bool) -> None:
    """Print the strategy as two matrices."""
    import numpy as np

    found = solution.grid(where, throws=throws)
    if json:
        print_json(grid_document(solution, found))
    else:
        typer.echo(
            f"{solution.graph.title}: the best action (rows: {found.row_field}, columns: "
            f"{found.column_field}; {_legend(solution, found)}-1: no position)"
        )
        print_grid(found.actions, found.origin, "d")
        what, missing, worth, scale = solution.worth_name, "nan", found.worth, 1
        if not solution.is_score:
            what, missing, scale = "win probability in %", "-1", 100
            worth = worth * np.where(worth < 0, 1, scale)
        bound = rounded_up(scaled(found.error_bound, scale))
        sure = "estimated" if solution.estimated else f"certified ± {bound}"
        typer.echo(
            f"\n{what.capitalize()} with that action ({sure} before it was rounded; {missing}: no "
            "position)"
        )
        print_grid(worth, found.origin, ".6f" if solution.is_score else ".4f")
    _tell_unfinished(solution)


def _legend(solution: Solution, found: Grid) -> str:
    """The names of the actions by their numbers, unless these are the names."""
    labels = sorted({label for row in found.actions.tolist() for label in row if label >= 0})
    names = [f"{label}: {solution.graph.vocabulary.text(label)}" for label in labels]
    if names == [f"{label}: {label}" for label in labels]:
        return ""
    return f"{', '.join(names)}, "


def _tell_unfinished(solution: Solution) -> None:
    if solution.gave_up:
        tell_unfinished(solution.part_where(None))
        raise typer.Exit(1)


@app.command("advise")
def advise(
    game: GameArgument,
    parameters: ParametersArgument = None,
    state: Annotated[
        str,
        typer.Option(
            metavar="FIELD=N,...",
            help="The position, as in banked=50,rival=50,turn=20; a set is open={1 2 9}.",
        ),
    ] = ...,  # type: ignore[assignment]
    throw: Annotated[
        str | None,
        typer.Option(metavar="N,...", help="The throw; without it, each possible throw is shown."),
    ] = None,
    rolls_left: Annotated[
        int | None,
        typer.Option(metavar="N", help="How often dice may still be thrown again."),
    ] = None,
    json: JsonOption = False,
    load: LoadOption = None,
    method: MaybeMethodOption = None,
    settings: SetOption = None,
    time_limit: TimeLimitOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Compare the actions in a position: value and cost of each."""
    options = method_options(method or DEFAULT, settings, time_limit=time_limit)
    if find_method(method or DEFAULT).estimates:
        raise UsageError(f"--method {method} estimates; `rollwise table` has its estimates")
    chosen = read_game(game, parameters, any_target=True)
    position, thrown = read_state(state, chosen), read_throw(throw)
    found = solve_or_open(chosen, load, max_states, method=method, options=options)
    solution = found.part(position)
    advice = solution.advise(position, thrown, rolls_left)
    if solution.gave_up:
        tell_unfinished(solution, solution.find(position, thrown, rolls_left))
        raise typer.Exit(1)
    document = advice_document(solution, advice)
    if json:
        return print_json(document)
    columns, rows, sure = advice.as_rows()
    show_table(columns, rows, left=("", "action", "throw"))
    exact = {"value": document.value_exact, "win probability": document.win_probability_exact}
    for name, fraction in exact.items():
        if fraction:
            typer.echo(f"{name} exactly: {fraction}")
    typer.echo(sure)
