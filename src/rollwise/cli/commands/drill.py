"""``rollwise drill``: the positions that you got wrong, asked until you get them right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.commands.play import OptionalGameArgument, lay_table
from rollwise.cli.commands.review import FileArgument
from rollwise.cli.common import (
    JsonOption,
    LoadOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    print_json,
    split_words,
)
from rollwise.cli.forms import (
    ChaseOption,
    ContestOption,
    Form,
    TargetOption,
    TiesOption,
    as_played,
)
from rollwise.errors import UsageError

if TYPE_CHECKING:
    from rollwise.coach.drill import Drill
    from rollwise.coach.game_record import Record


@app.command("drill")
def drill(
    game: OptionalGameArgument = None,
    file: FileArgument = None,
    parameters: ParametersArgument = None,
    player: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whose mistakes; those of all people unless given."),
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, help="At most so many positions, the worst first.")
    ] = 20,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    json: JsonOption = False,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Be asked again what written games got wrong, until it is right; `--json` lists it."""
    from rollwise.coach.agreed_game import agreed_form, agreed_game
    from rollwise.coach.drill import Drill, questions
    from rollwise.coach.game_files import records_of
    from rollwise.coach.replay import replay
    from rollwise.documents.played import drill_document

    asked = split_words(game, file, *(parameters or ()), files=1)
    asked_for = Form(chase, target, contest, ties)
    records = records_of(asked.files[0], asked.kind, asked.values, **asked_for.said)
    chosen = agreed_game(records, asked.kind, asked.values)
    form = Form(**agreed_form(records, **asked_for.said))
    table = lay_table(as_played(chosen, form, need_target=True), load, max_states)
    sessions = [replay(record, table) for record in records]
    players = _people(records) if player is None else [player]
    if player is not None and not any(player in session.names for session in sessions):
        raise UsageError(f"nobody called {player!r} plays in {asked.files[0]}")
    found = questions(sessions, players)[:limit]
    if json:
        print_json(drill_document(table, found))
    elif not found:
        typer.echo("no mistakes: there is nothing to drill")
    else:
        _ask(Drill(table, found))


def _people(records: list[Record]) -> list[str]:
    """The players that no policy plays for, where the file says who does."""
    seats = [seat for record in records for seat in record.seats]
    return [name for name, policy in seats if policy in ("", "human")]


def _ask(drill: Drill) -> None:
    """Ask until all is right, or the player has had enough."""
    from rollwise.cli.figures import Figures

    table, figures = drill.table, Figures(drill.table.solution)
    typer.echo(f"{table.graph.title}: {len(drill.waiting)} positions; quit ends it")
    while not drill.is_over:
        state = drill.waiting[0].state
        board = table.board(state)
        typer.echo(f"\n{board}\n" if board else "")
        typer.echo(table.position(state))
        numbered = table.graph.vocabulary.menus_are_numbered
        for number, action in enumerate(table.actions(state), start=1):
            name = table.graph.view.action(action).distinct_name
            typer.echo(f"  {number:>2}  {name}" if numbered else f"  {name}")
        try:
            text = input("> ").strip()
        except EOFError:
            break
        if text in ("quit", "q"):
            break
        try:
            cost = drill.answer(table.action_at(state, text, in_menu=True))
        except UsageError as error:
            typer.echo(f"{error}, or quit")
            continue
        if cost:
            typer.echo(f"It costs {figures.cost_text(cost)}; better: {drill.best(state)}")
        else:
            typer.echo("Right.")
    typer.echo(f"{drill.right} right, {drill.wrong} wrong, {len(drill.waiting)} left")
