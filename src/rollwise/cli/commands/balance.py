"""``rollwise balance``: what a game does to its players."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
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
from rollwise.cli.forms import (
    ChaseOption,
    ContestOption,
    Form,
    TargetOption,
    TiesOption,
    as_played,
)
from rollwise.cli.progress import Progress
from rollwise.documents.design import balance_document

if TYPE_CHECKING:
    from rollwise.analysis.balance import Balance
    from rollwise.analysis.played import Played
    from rollwise.report.balance import Listed

SURE, RULES, SEED = 0.9, 300, 1


@app.command("balance")
def balance(
    game: GameArgument,
    parameters: ParametersArgument = None,
    sure: Annotated[
        float,
        typer.Option(metavar="P", help="The chance with which a game counts as decided."),
    ] = SURE,
    evaluations: Annotated[
        int, typer.Option(metavar="N", help="How many rules of thumb are scored; 0 for none.")
    ] = RULES,
    simulate: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Play N games twice, and put what they come to beside each figure."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Of that search; of the games, and the next one.", min=0)
    ] = SEED,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page for people, with pictures (.html, .pdf)."),
    ] = None,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Say what a game does to its players: edge, length, drama, decisions, luck and skill."""
    from rollwise.analysis.balance import balance as find_balance
    from rollwise.analysis.played import check_games, play_beside
    from rollwise.answer import kept

    check_games(simulate)
    if out is not None:
        from rollwise.report.cheat_sheet import check_sheet

        check_sheet(out)
    chosen = as_played(
        read_game(game, parameters), Form(chase, target, contest, ties), need_target=True
    )
    with in_one_graph("balance"), Progress() as progress:
        policies = kept.policies(chosen, max_states=max_states, progress=progress)
        found = find_balance(
            policies, sure=sure, evaluations=evaluations, seed=seed, progress=progress
        )
        played = None
        if simulate is not None:
            played = play_beside(policies, found, sure, simulate, seed, progress)
    if out is not None:
        from rollwise.report.balance import write_balance

        write_balance(found, played, sure, out)
    if json:
        print_json(balance_document(found, played))
    else:
        _print(found, played, sure)
        if out is not None:
            typer.echo(f"Written to {out}.")
    for name in () if played is None else played.disagreements():
        typer.echo(f"rollwise: {name} is further off than chance explains", err=True)


def _print(found: Balance, played: Played | None, sure: float) -> None:
    from rich.table import Table

    from rollwise.report import balance as words

    graph = found.solution.graph
    typer.echo(f"{graph.title}: {graph.n_positions:,} positions")
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in words.lines_of(found, sure):
        table.add_row(name, text)
    print_table(table)
    typer.echo(words.certainty(found))
    for listed in (
        words.options_table(found),
        None if played is None else words.played_table(played),
    ):
        if listed is not None:
            typer.echo()
            _print_listed(listed)


def _print_listed(listed: Listed) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for k, head in enumerate(listed.heads):
        table.add_column(head, overflow="fold", justify="right" if k else "left")
    for row in listed.rows:
        table.add_row(*row)
    print_table(table)
    for note in listed.notes:
        typer.echo(note)
