"""The strategy: ``rollwise table``, row by row, and ``advise``, in one position."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    read_game,
    read_state,
    read_throw,
    refuse,
    solve_or_open,
    start_text,
    tell_of_cycles,
)
from rollwise.cli.options import (
    GameArgument,
    LoadOption,
    MaybeMethodOption,
    ParametersArgument,
    SetOption,
    answered_apart,
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
    print_rows,
    render,
    tell_rows,
)
from rollwise.cli.streams import ASKED
from rollwise.documents.answers import advice_document, grid_document, strategy_rows, table_json
from rollwise.documents.model import undecided_lines
from rollwise.errors import UsageError
from rollwise.methods import DEFAULT, find_method
from rollwise.words import in_words

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution


@app.command("table")
def table(
    game: GameArgument,
    parameters: ParametersArgument = None,
    where: WhereOption = None,
    throws: bool = False,
    each_action: bool = False,
    grid: bool = False,
    limit: LimitOption = None,
    out: OutOption = None,
    csv: CsvOption = False,
    load: LoadOption = None,
    method: MaybeMethodOption = None,
    settings: SetOption = None,
) -> None:
    """Print the best action and the value of each position.

    --throws       A row for each throw in each position.
    --each-action  A column for each action, with its value.
    --grid         Two matrices by two fields instead of rows: the best actions, and their values.
    """
    if grid:
        refuse("is for rows, and --grid prints matrices", limit=limit, out=out, csv=csv)
        refuse("adds columns to rows, and --grid prints matrices", each_action=each_action)
    form = form_of(out, csv=csv)
    options = method_options(method or DEFAULT, settings)
    chosen = read_game(game, parameters, any_target=True)
    own = {"throws": throws, "each_action": each_action, "grid": grid, "method": method}
    if answered_apart(chosen, "table", where, limit, form, out, load, **own, set=settings):
        return
    if limit is None and form is None:
        limit = SHOWN
    tell_of_cycles(chosen)
    found = solve_or_open(chosen, load, method=method, options=options)
    if grid:
        solution = found.part_where(where)
        render(grid_document(solution, solution.grid(where, throws=throws)))
        return _tell_unfinished(solution)
    solution = found.part_where(where) if throws or each_action else found
    states = solution.states_where(where, throws=throws)
    how = {"throws": throws, "each_action": each_action}
    shown = states[:limit]
    if form is not None:
        rows = solution.rows_of(shown, **how)
        tell_rows(rows, form, out, lambda rows: table_json(solution, rows))
    else:
        cells = in_words(solution.game, solution.cells_of(shown, **how))
        bounds = solution.action_bounds if each_action else {}
        print_rows(strategy_rows(cells, bounds), len(states))
        for line in undecided_lines(solution.n_undecided(shown)):
            typer.echo(line)
    _tell_unfinished(solution)


def _tell_unfinished(solution: Solution) -> None:
    if solution.gave_up:
        tell_unfinished(solution.part_where(None))
        raise typer.Exit(1)


@app.command("advise")
def advise(
    game: GameArgument,
    parameters: ParametersArgument = None,
    state: str | None = None,
    throw: str | None = None,
    rolls_left: int | None = None,
    load: LoadOption = None,
    method: MaybeMethodOption = None,
    settings: SetOption = None,
) -> None:
    """Compare the actions in a position: value and cost of each.

    --state FIELD=N,...  The position, as in banked=50,rival=50,turn=20; a set is open={1 2 9}. The
                         start unless given.
    --throw N,...        The throw; without it, each possible throw is shown.
    --rolls-left N       How often dice may still be thrown again.
    """
    options = method_options(method or DEFAULT, settings)
    if find_method(method or DEFAULT).estimates:
        raise UsageError(f"--method {method} estimates; `rollwise table` has its estimates")
    chosen = read_game(game, parameters, any_target=True)
    own = {"throw": throw, "rolls_left": rolls_left, "method": method, "set": settings}
    if answered_apart(chosen, "advise", state, load, **own):
        return
    start = start_text(chosen) if state is None else ""
    position, thrown = read_state(state or start, chosen), read_throw(throw)
    tell_of_cycles(chosen)
    found = solve_or_open(chosen, load, method=method, options=options)
    solution = found.part(position)
    advice = solution.advise(position, thrown, rolls_left)
    if solution.gave_up:
        tell_unfinished(solution, solution.find(position, thrown, rolls_left))
        raise typer.Exit(1)
    if start and not ASKED.json:
        typer.echo(f"at the start ({start}):")
    render(advice_document(solution, advice))
