"""``rollwise page``: a game to play, with its coach, as one page that can be mailed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    POLICIES,
    GameArgument,
    JsonOption,
    LoadOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    file_stem,
    read_game,
    solve_or_load,
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
from rollwise.errors import TooManyStates, UsageError
from rollwise.graph.naming import title_of


@app.command("page")
def page(
    game: GameArgument,
    parameters: ParametersArgument = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A .html file; GAME.html unless given."),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="P", help=f"Also play against it; may be repeated. {POLICIES}"),
    ] = None,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Write a page that plays the game, coaches and shows the strategy, with no network."""
    from rollwise.machine.atomic_files import check_place

    chosen = as_played(
        read_game(game, parameters), Form(chase, target, contest, ties), need_target=True
    )
    place = Path(f"{file_stem(chosen.name)}.html") if out is None else out
    if place.suffix not in (".html", ".htm"):
        raise UsageError(f"--out {place}: the name must end in .html")
    check_place(place)
    from rollwise.page import too_large, write_page

    try:
        solution = solve_or_load(chosen, load, max_states)
    except TooManyStates as error:
        if max_states is not None:
            raise
        served = game if chosen.base_game is chosen else None
        title = title_of(chosen.name, chosen.parameters)
        raise too_large(title, served, "is too large for one graph") from error
    with Progress() as progress:
        write_page(solution, place, progress, policy or ())
    tell_written(solution.graph, place, json=json, size=True)
