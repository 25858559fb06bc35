"""``rollwise review``: games that were written down, their luck and skill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.commands.play import OptionalGameArgument, lay_table
from rollwise.cli.common import (
    JsonOption,
    LoadOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    print_json,
    print_table,
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

if TYPE_CHECKING:
    from rollwise.cli.figures import Figures
    from rollwise.coach.review import PlayerReview
    from rollwise.coach.session import Session


FileArgument = Annotated[
    str | None,
    typer.Argument(metavar="FILE", help="Games; docs/records.md says how they are written."),
]


@app.command("review")
def review(
    game: OptionalGameArgument = None,
    file: FileArgument = None,
    parameters: ParametersArgument = None,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    json: JsonOption = False,
    load: LoadOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Review written games: what was luck, what was skill, which mistakes cost most."""
    from rollwise.cli.figures import Figures
    from rollwise.coach.agreed_game import agreed_form, agreed_game
    from rollwise.coach.game_files import records_of
    from rollwise.coach.replay import replay
    from rollwise.coach.review import review as review_games
    from rollwise.documents.played import review_document

    asked = split_words(game, file, *(parameters or ()), files=1)
    asked_for = Form(chase, target, contest, ties)
    records = records_of(asked.files[0], asked.kind, asked.values, **asked_for.said)
    chosen = agreed_game(records, asked.kind, asked.values)
    form = Form(**agreed_form(records, **asked_for.said))
    table = lay_table(as_played(chosen, form, need_target=True), load, max_states)
    sessions = [replay(record, table) for record in records]
    players = review_games(sessions)
    if json:
        print_json(review_document(table, sessions, players))
        return
    figures = Figures(table.solution)
    typer.echo(
        f"{table.graph.title}: costs, luck and skill in {figures.points}{figures.wanted}\n"
        f"values are {figures.certainty}"
    )
    _print_players(players, figures)
    for one in players:
        _print_mistakes(one, figures)
    if len(sessions) == 1:
        _print_decisions(sessions[0], figures)


def _print_players(players: list[PlayerReview], figures: Figures) -> None:
    from rich.table import Table

    grid = Table(box=None, padding=(0, 2, 0, 0))
    grades = list(players[0].grades)
    heads = ("player", "games", "decisions", *grades, "cost a decision")
    heads += ("luck a game", "skill a game")
    for head in (*heads, f"against the optimal player ({figures.unit})"):
        grid.add_column(head, justify="left" if head == "player" else "right")
    for one in players:
        score = figures.level(one.score)
        if one.standard_error is not None:
            score += f" ± {figures.spread(one.standard_error)}"
        grid.add_row(
            one.player,
            str(one.games),
            str(one.decisions),
            *map(str, one.grades.values()),
            figures.cost(one.cost_per_decision),
            figures.change(one.luck),
            figures.change(one.own_skill),
            score,
        )
    print_table(grid)
    if any(one.standard_error is not None for one in players):
        typer.echo("± one standard error over the games (estimated)")


def _print_mistakes(one: PlayerReview, figures: Figures) -> None:
    from rich.table import Table

    if not one.mistakes:
        typer.echo(f"{one.player}: no mistakes")
        return
    typer.echo(f"{one.player}: mistakes, the most frequent first")
    grid = Table(box=None, padding=(0, 2, 0, 2))
    for head in ("times", "did", "better", "cost in all", "at worst", "at"):
        grid.add_column(head, justify="left" if head in ("did", "better", "at") else "right")
    for mistake in one.mistakes:
        grid.add_row(
            str(mistake.times),
            mistake.action,
            mistake.best,
            figures.cost(mistake.cost),
            figures.cost(mistake.worst_cost),
            f"{mistake.worst_at} (line {mistake.line})",
        )
    print_table(grid)


def _print_decisions(session: Session, figures: Figures) -> None:
    from rich.table import Table

    from rollwise.documents.played import ledger_document

    document: dict[str, Any] = ledger_document(session)
    typer.echo(f"The game, in the eyes of {document['player']}")
    grid = Table(box=None, padding=(0, 2, 0, 2))
    for head in ("line", "player", "position", "did", "what came", "cost", "skill", "luck"):
        left = head in ("player", "position", "did", "what came")
        grid.add_column(head, justify="left" if left else "right")
    for move in document["moves"]:
        dice = " ".join(map(str, move["dice"]))
        grid.add_row(
            str(move["line"]),
            move["player"],
            move["position"],
            f"{move['action']} {dice}".strip(),
            move["outcome"],
            figures.cost(move["cost"]) if move["mistake"] else "",
            figures.change(move["skill"]),
            figures.change(move["luck"]),
        )
    print_table(grid)
    typer.echo(
        f"start {figures.level(document['start'])}, luck {figures.change(document['luck'])}, "
        f"skill {figures.change(document['skill'])}, "
        f"{'result' if document['over'] else 'now'} {figures.level(document['result'])}"
    )
