"""``rollwise report``: the whole answer as one page."""

from __future__ import annotations

from pathlib import Path
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
    file_stem,
    read_game,
    solve_or_open,
    tell_written,
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
from rollwise.errors import UsageError


@app.command("report")
def report(
    game: GameArgument,
    parameters: ParametersArgument = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A .html file; GAME-report.html unless given."),
    ] = None,
    rules: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Score so many rules of thumb, and put the best on it as a cheat sheet.",
        ),
    ] = 0,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Write a report for people: who has the edge, what to do, and how sure that is."""
    from rollwise.machine.atomic_files import check_place
    from rollwise.plot import require_plotly

    chosen = as_played(
        read_game(game, parameters), Form(chase, target, contest, ties), need_target=True
    )
    place = Path(f"{file_stem(chosen.name)}-report.html") if out is None else out
    if place.suffix not in (".html", ".htm"):
        raise UsageError(f"--out {place}: the name must end in .html")
    check_place(place)
    require_plotly()
    from rollwise.report import write_report

    solution = solve_or_open(chosen, load, max_states, in_all_states=True)
    with Progress() as progress:
        write_report(solution, place, progress, rules=rules)
    tell_written(solution.subject, place, json=json)
