"""``rollwise judge``: a play that was written down, move by move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    NoCacheOption,
    ParametersArgument,
    print_json,
    print_table,
    split_words,
    tell_ties,
)
from rollwise.cli.forms import ContestTiesOption
from rollwise.documents.parts import ties_document
from rollwise.documents.scores import judged_document

if TYPE_CHECKING:
    from rollwise.analysis.judge import Judgement, Play


@app.command("judge")
def judge(
    game: GameArgument,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A CSV file, a row a choice: player, and the fields of the state and action "
            "(for Threes also rolled and taken).",
        ),
    ],
    parameters: ParametersArgument = None,
    ties: ContestTiesOption = "shared",
    json: JsonOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """Judge the moves of a play: which choices lost how many points, and chances to win."""
    from rollwise.analysis.judge import judge as judge_plays
    from rollwise.analysis.judge import read_plays
    from rollwise.answer.kept import solve
    from rollwise.graph.policies import ties_in_play

    asked = split_words(game, file, *(parameters or ()), files=1)
    chosen = asked.make_game()
    solution = solve(chosen)
    plays = read_plays(chosen, solution.graph, asked.files[0])
    rows = judge_plays(solution, plays, ties)
    ties_here = ties_in_play(solution.graph, solution.policy)
    if json:
        print_json(judged_document(solution.graph, ties, plays, rows, ties_here))
        return
    _print(plays, rows)
    tell_ties(ties_document(ties_here), "")


def _print(plays: list[Play], rows: list[Judgement]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    heads = ("player", "line", "state", "action", "best", "points lost")
    for head in (*heads, "chance", "best for it", "chance lost"):
        table.add_column(head, justify="right" if "lost" in head or head == "chance" else "left")
    for row in rows:
        chance = (
            ("", "", "")
            if row.chance is None
            else (f"{row.chance:.4f}", row.best_chance or "", f"{row.chance_lost:z.4f}")
        )
        shown = " ".join(
            part.strip() for part in row.state.split(",") if not part.strip().endswith("=0")
        )
        table.add_row(
            row.player,
            str(row.line),
            shown,
            row.action,
            row.best,
            f"{row.points_lost:z.4f}",
            *chance,
        )
    print_table(table)
    for play in plays:
        mine = [row for row in rows if row.player == play.player]
        lost = sum(row.points_lost for row in mine)
        line = f"player {play.player}: score {play.score}, {lost:.4f} points lost by choice"
        if len(plays) > 1:
            line += f", {sum(row.chance_lost or 0.0 for row in mine):.4f} of the chance to win"
        typer.echo(line)
