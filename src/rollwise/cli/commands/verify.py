"""``rollwise verify``: a saved solution, checked against the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    JsonOption,
    MaxStatesOption,
    ModeOption,
    ParametersArgument,
    Words,
    print_json,
    read_mode,
    refuse,
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
from rollwise.cli.progress import Progress
from rollwise.documents.games import verification_document
from rollwise.game import Game

if TYPE_CHECKING:
    from rollwise.answer.verify import Verification


@app.command("verify")
def verify(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="What `solve --save` kept: a file or folder.")
    ],
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="[GAME]",
            help="Whose rules: the file says it itself, unless they are in a file of yours.",
        ),
    ] = None,
    parameters: ParametersArgument = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Exact arithmetic: no rounding has to be trusted.")
    ] = False,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    max_states: MaxStatesOption = None,
    mode: ModeOption = "auto",
    json: JsonOption = False,
) -> None:
    """Check every value of a saved solution against its error bound, without a solver."""
    asked = split_words(file, game, *(parameters or ()), files=1)
    chosen = _game_of(asked)
    how = read_mode(mode)
    found: Verification
    if asked.files[0].is_dir():
        from rollwise.answer.verify import verify_layers

        said = {"exact": exact, "chase": chase, "target": target, "contest": contest, "ties": ties}
        said["mode"] = None if how == "auto" else how
        refuse("goes with a file, and not with a folder of layers", **said)
        with Progress() as progress:
            found = verify_layers(asked.files[0], chosen, max_states=max_states, progress=progress)
    else:
        from rollwise.answer.storage import installed, read_facts
        from rollwise.answer.verify import verify as verify_file

        form = Form(chase, target, contest, ties)
        if chosen is None and form.said:  # it is to be what the options say
            chosen = installed(asked.files[0], read_facts(asked.files[0], damaged=True))
        if chosen is not None:
            chosen = as_played(chosen, form, need_target=True)
        with Progress() as progress:
            found = verify_file(
                asked.files[0],
                chosen,
                exact=exact,
                mode=how,
                max_states=max_states,
                progress=progress,
            )
    if json:
        print_json(verification_document(found))
    elif found.verified:
        typer.echo(str(found))
    else:
        typer.echo(f"rollwise: {asked.files[0]} is refused: {found.fault}", err=True)
    if not found.verified:
        raise typer.Exit(1)


def _game_of(asked: Words) -> Game | None:
    """The game that was typed; with the parameters of the file where none were."""
    if asked.kind is None and not asked.values:
        return None
    if asked.values:
        return asked.make_game()
    from rollwise.answer.layer_folder import read_manifest
    from rollwise.answer.storage import read_facts, typed_parameters
    from rollwise.games import create

    assert asked.kind is not None
    place = asked.files[0]
    facts = read_manifest(place) if place.is_dir() else read_facts(place, damaged=True)
    return create(asked.kind, typed_parameters(facts) if facts["game"] == asked.kind.name else {})
