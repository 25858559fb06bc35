"""``rollwise frontier``: the mean score against the chance to win, or to reach a score."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.commands.optimal import WinTiesOption, read_ties
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    NoCacheOption,
    ParametersArgument,
    print_json,
    print_table,
    read_game,
)
from rollwise.cli.progress import Progress
from rollwise.documents.optimal_set import frontier_document
from rollwise.numbers.printed import column, in_common, rounded_up

AimOption = Annotated[
    str,
    typer.Option(
        "--aim",
        metavar="AIM",
        help="What the mean is held against: win (a contest, against one who plays next and knows "
        "the score) or score<=N.",
    ),
]
ToleranceOption = Annotated[
    float, typer.Option(min=0.0, help="How far the frontier may lie beyond what is shown.")
]


@app.command("frontier")
def frontier(
    game: GameArgument,
    parameters: ParametersArgument = None,
    aim: AimOption = "win",
    ties: WinTiesOption = None,
    tolerance: ToleranceOption = 1e-4,
    json: JsonOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """The best chance for every mean score of a solitaire game, and what it costs."""
    from rollwise.analysis.frontier import frontier as find_frontier
    from rollwise.answer import kept

    chosen = read_game(game, parameters)
    with Progress() as progress:
        solution = kept.policies(chosen).solution
        progress("the frontier", 0, None)
        found = find_frontier(solution, aim, ties=read_ties(ties, [aim]), tolerance=tolerance)
    document = frontier_document(solution.graph, found)
    if json:
        print_json(document)
    else:
        _print(document)


def _print(document: dict[str, Any]) -> None:
    from rich.table import Table

    corners = document["corners"]
    means = column([c["mean"] for c in corners], [c["mean_bound"] for c in corners])
    values = column([c["value"] for c in corners], [c["error_bound"] for c in corners])
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("mean score", document["aim"], "gained a point of the mean"):
        table.add_column(head, justify="right")
    for i, (mean, value) in enumerate(zip(means, values, strict=True)):
        table.add_row(mean.number, value.number, _rate(corners[i - 1], corners[i]) if i else "")
    print_table(table)
    typer.echo(
        f"certified ± {in_common(means)[1]} and ± {in_common(values)[1]}; no policy lies more "
        f"than {rounded_up(document['gap'])} beyond the line between two neighbours (certified)"
    )


def _rate(near: dict[str, float], far: dict[str, float]) -> str:
    """What the aim gains for a point of the mean on the line between two corners."""
    return f"{abs(far['value'] - near['value']) / abs(far['mean'] - near['mean']):.4f}"
