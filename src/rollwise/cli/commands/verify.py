"""``rollwise verify``: a saved solution, checked against the rules without a solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
from rollwise.errors import UsageError
from rollwise.game import Game


@app.command("verify")
def verify(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A solution kept by `solve --save`.")],
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
    from rollwise.answer.verify import verify as verify_file

    if Path(file).is_dir():
        raise UsageError(
            f"{file} is a folder of layers, each of which has a checksum; `rollwise solve GAME "
            "--by-layer --save FOLDER --resume` compares these, and solves anew what is damaged"
        )
    asked = split_words(file, game, *(parameters or ()), files=1)
    chosen = _game_of(asked)
    if chosen is not None:
        chosen = as_played(chosen, Form(chase, target, contest, ties), need_target=True)
    how = read_mode(mode)
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
    from rollwise.answer.storage import read_facts, typed_parameters
    from rollwise.games import create

    assert asked.kind is not None
    facts = read_facts(asked.files[0], damaged=True)
    return create(asked.kind, typed_parameters(facts) if facts["game"] == asked.kind.name else {})
