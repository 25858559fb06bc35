"""``rollwise handicap``: how many points, or a first move, make two players even."""

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
    in_one_graph,
    print_json,
    print_table,
    read_game,
)
from rollwise.cli.progress import Progress
from rollwise.documents.design import SEATS, handicap_document
from rollwise.errors import UsageError

if TYPE_CHECKING:
    from rollwise.analysis.handicap import Handicap


@app.command("handicap")
def handicap(
    game: GameArgument,
    points: Annotated[
        str,
        typer.Option(
            metavar="FIELD=A..B",
            help="The field of the points that the player is given, and how many: banked=0..40, "
            "or banked,rival=0..40 with the field in which the other's are seen.",
        ),
    ],
    parameters: ParametersArgument = None,
    policy: Annotated[
        str, typer.Option(metavar="P", help=f"What the player with the points plays. {POLICIES}")
    ] = "optimal",
    against: Annotated[
        str, typer.Option(metavar="P", help="What the other player plays.")
    ] = "optimal",
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Say how many points, or a first move, make one player even with another."""
    from rollwise.analysis.handicap import handicap as find_handicap
    from rollwise.analysis.tuning import values_of
    from rollwise.answer import kept

    field, said = values_of(points)
    try:
        numbers = [int(text) for text in said]
    except ValueError:
        raise UsageError(f"--points {points}: a head start is a whole number") from None
    chosen = read_game(game, parameters)
    with in_one_graph("handicap"), Progress() as progress:
        policies = kept.policies(chosen, max_states=max_states, progress=progress)
        found = find_handicap(policies, field, numbers, policy, against)
    if json:
        print_json(handicap_document(policies.graph, found))
    else:
        typer.echo(
            f"{policies.graph.title}: {found.policy} begins with points ({found.field}), "
            f"{found.against} with none"
        )
        _print(found)


def _print(found: Handicap) -> None:
    from rich.table import Table

    from rollwise.numbers.printed import rounded_up

    chances = found.even == 0.5
    scale = 100 if chances else 1
    table = Table(box=None, padding=(0, 2, 0, 0))
    heads = ("moving first", "moving second", "on average")
    for name in (found.field, *heads):
        table.add_column(name, justify="right")
    table.add_column("")
    best = {which: found.nearest(which) for which in SEATS}
    worst = 0.0
    for head in found.heads:
        amounts = [getattr(head, which) for which in SEATS]
        worst = max([worst, *(amount.bound for amount in amounts if amount is not None)])
        cells = ["-" if a is None else f"{scale * a.value:z.4f}" for a in amounts]
        mark = "nearest to even" if head is best["mean"] else ""
        table.add_row(str(head.points), *cells, mark)
    print_table(table)
    unit = "% of the games are won" if chances else "points are gained"
    typer.echo(f"{unit} with that head start (certified ± {rounded_up(scale * worst)})")
    for which, name in zip(SEATS, heads, strict=True):
        near = best[which]
        if near is not None:
            out = "" if found.is_within(which) else ", and all are on one side of it"
            typer.echo(f"{name}, {found.field}={near.points} is nearest to even{out}")
    if any(None in (head.first, head.second) for head in found.heads):
        typer.echo("-: no play comes to that position")
