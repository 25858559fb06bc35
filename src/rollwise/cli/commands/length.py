"""``rollwise length``: how long a game can last, whatever its players want."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    POLICIES,
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    print_json,
    print_table,
    read_game,
)
from rollwise.cli.progress import Progress
from rollwise.documents.lengths import length_document

if TYPE_CHECKING:
    from rollwise.analysis.length_range import LengthRange


@app.command("length")
def length(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policy: Annotated[
        str, typer.Option(metavar="P", help=f"What all play, between the extremes. {POLICIES}")
    ] = "optimal",
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Say how long a game can last, if its players want it short or long, and how far it spreads.

    A length is an expected number of moves from the start; a throw before a choice is no move.
    """
    from rollwise.analysis.length_range import length_range
    from rollwise.answer import kept

    chosen = read_game(game, parameters)
    with Progress() as progress:
        policies = kept.policies(chosen, max_states=max_states, progress=progress)
        found = length_range(policies, policy, progress=progress)
    if json:
        print_json(length_document(policies.graph, found))
        return
    typer.echo(f"{policies.graph.title}: expected moves of a game from the start")
    _print(found)


def _print(found: LengthRange) -> None:
    from rich.table import Table

    from rollwise.analysis.length_range import OPPOSED
    from rollwise.numbers.printed import certified

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("")
    table.add_column("moves", justify="right")
    table.add_column("standard deviation", justify="right")
    for length in found.lengths:
        if length.moves is None:
            table.add_row(found.words(length), "-" if length.aim in OPPOSED else "no end", "")
        else:
            table.add_row(
                found.words(length),
                str(certified(*length.moves.mean)),
                str(certified(*length.moves.deviation)),
            )
    if found.score is not None:
        mean, spread = certified(*found.score.mean), certified(*found.score.deviation)
        table.add_row(f"points of {found.policy}", str(mean), str(spread))
    print_table(table)
    typer.echo("all figures are certified")
    for length in found.lengths:
        if length.endless:
            typer.echo(f"{found.words(length)}: {length.endless}")
