"""``rollwise check``: a linter for rules."""

from __future__ import annotations

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    MaxStatesOption,
    ParametersArgument,
    print_json,
    read_game,
)
from rollwise.cli.forms import (
    ChaseOption,
    ContestOption,
    Form,
    TargetOption,
    TiesOption,
    as_played,
)
from rollwise.cli.progress import Progress
from rollwise.documents.games import check_document


@app.command("check")
def check(
    game: GameArgument,
    parameters: ParametersArgument = None,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    max_states: MaxStatesOption = None,
    json: JsonOption = False,
) -> None:
    """Look for faults in the rules of a game, and say what was looked at."""
    from rollwise.analysis.check import check as check_game

    chosen = as_played(read_game(game, parameters), Form(chase, target, contest, ties))
    with Progress() as progress:
        report = check_game(chosen, max_states=max_states, progress=progress)
    if json:
        print_json(check_document(report))
    else:
        typer.echo(str(report))
    if not report.passed:
        raise typer.Exit(1)
