"""``rollwise bet``: fair odds, doubles and edges in a contest."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    ParametersArgument,
    print_json,
    print_table,
    read_game,
    read_state,
    tell_ties,
)
from rollwise.cli.forms import ContestTiesOption
from rollwise.cli.progress import Progress
from rollwise.documents.scores import bet_document
from rollwise.errors import UsageError
from rollwise.numbers.printed import column, in_common


@app.command("bet")
def bet(
    game: GameArgument,
    parameters: ParametersArgument = None,
    players: Annotated[
        int, typer.Option("--players", metavar="N", help="How many take a turn each.")
    ] = 2,
    ties: ContestTiesOption = "shared",
    scores: Annotated[
        str | None,
        typer.Option(metavar="S,S,...", help="Final scores of those who had their turns."),
    ] = None,
    state: Annotated[
        str | None,
        typer.Option(
            metavar="STATE",
            help="Where the next player's turn stands, his score so far included: "
            "to_roll=2,...,score=3.",
        ),
    ] = None,
    pot: Annotated[float, typer.Option(min=0, help="The pot that fair stakes add up to.")] = 1.0,
    against: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="The edge over an opponent who plays this policy."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Fair odds and stakes at any moment of a contest; with two players, what a double is worth."""
    from rollwise.analysis.betting import edge_against, solve_doubling
    from rollwise.analysis.contest import Contest, solve_contest
    from rollwise.answer.references import Policies

    contest = Contest(read_game(game, parameters), players, ties)
    finished = _read_scores(scores)
    with Progress() as progress:
        progress("solving the contest", 0, None)
        doubling = solve_doubling(contest) if players == 2 else None
        solution = solve_contest(contest) if doubling is None else doubling.plain
    graph = solution.scored.graph
    place = None
    if state is not None:
        fields = read_state(state, contest.game)
        unknown = [name for name in fields if name not in graph.field_names]
        if unknown:
            raise UsageError(f"a state here has the fields {', '.join(graph.field_names)}")
        place = tuple(fields.get(name, 0) for name in graph.field_names)
    edge = None
    if against is not None:
        policies = Policies(solution.scored.source, contest.game)
        edge = against, edge_against(contest, policies.find(against))
    document = bet_document(solution, finished, place, pot, doubling=doubling, edge=edge)
    if json:
        print_json(document)
    else:
        _print(document)
        tell_ties(document["equally_good"], "")


def _read_scores(text: str | None) -> tuple[int, ...]:
    """Scores as typed: ``7,5``."""
    if text is None or not text.strip():
        return ()
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"{text!r} isn't a list of scores such as 7,5") from None


def _print(document: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("player", "chance", "fair odds against", f"fair stake of {document['pot']:g}"):
        table.add_column(head, justify="right")
    bound = document["error_bound"]
    found = [stake["probability"] for stake in document["stakes"]]
    chances, sure = in_common(column(found, [bound] * len(found)))
    for stake, chance in zip(document["stakes"], chances, strict=True):
        odds = "none" if stake["odds_against"] is None else f"{stake['odds_against']:.4f} to 1"
        table.add_row(str(stake["player"]), chance, odds, f"{stake['stake']:.6f}")
    print_table(table)
    typer.echo(
        f"(chances certified ± {sure}, odds and stakes rounded from them; player "
        f"{document['to_move']} to move)"
    )
    if "double" in document:
        told = document["double"]
        (waiting, accepted, declined), sure = _certified(told, "no_offer", "accepted", "declined")
        typer.echo(
            f"double: player {document['to_move']} should "
            f"{'offer now' if told['offer'] else 'not offer now'}, the other "
            f"{'accept' if told['accept'] else 'decline'}; equity per unit staked "
            f"{waiting} without an offer now, {accepted} if it is accepted, {declined} if it is "
            f"declined (certified ± {sure})"
        )
    if "edge" in document:
        told = document["edge"]
        (first, fair_first, second, fair_second), sure = _certified(
            told, "going_first", "fair_first", "going_second", "fair_second"
        )
        typer.echo(
            f"edge over {told['against']}, per unit staked: {first} going first (fair "
            f"{fair_first}), {second} going second (fair {fair_second}; certified ± {sure})"
        )


def _certified(told: dict[str, Any], *names: str) -> tuple[list[str], str]:
    """Numbers of a document with their signs, and the bound that they share."""
    bounds = [told["error_bound"]] * len(names)
    return in_common(column([told[name] for name in names], bounds, sign=True))
