"""``rollwise tournament``: every policy against every other."""

from __future__ import annotations

from typing import Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    Workers,
    policies_of,
    read_game,
    refuse,
    refuse_with_seats,
)
from rollwise.cli.options import (
    GameArgument,
    ParametersArgument,
    WorkersOption,
)
from rollwise.cli.printing import render
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.policies import seats_tournament_document, tournament_document
from rollwise.errors import UsageError
from rollwise.game import Game, has_many

GAMES, OF_SEATING = 1_000_000, 10_000


@app.command("tournament")
def tournament(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policies: Annotated[
        str,
        typer.Option(
            metavar="A,B,...", help="At least two policies, as `rollwise simulate` takes them."
        ),
    ] = ...,  # type: ignore[assignment]
    games: Annotated[
        int | None,
        typer.Option(metavar="N", help="Games of each pair, where simulated; 1,000,000."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of the random numbers; else a new one.")] = None,
    workers: WorkersOption = None,
    exact: Annotated[
        bool, typer.Option("--exact/--no-exact", help="Exact results, or simulated ones.")
    ] = True,
) -> None:
    """Let policies play each other from every seat."""
    from rollwise.answer import kept
    from rollwise.answer.references import names_in
    from rollwise.graph.policies import ties_in_play
    from rollwise.simulate import tournament as play

    if games is not None and games < 2:
        raise UsageError(f"--games is {games}; it must be at least 2")
    team = Workers.read(workers)
    names = list(filter(None, names_in(policies)))
    if len(names) < 2:
        raise UsageError("--policies needs at least two, as in optimal,random")
    chosen = read_game(game, parameters)
    if has_many(chosen):
        refuse_with_seats(chosen, workers=workers)
        _play_seatings(chosen, names, games, seed, exact=exact)
        return
    with Progress() as progress:
        known = kept.policies(chosen, max_states=ASKED.max_states, progress=progress)
        graph = known.graph
        entered = [known.find(name) for name in names]
        with team.cluster_pool() as pool:
            found = play(
                graph,
                entered,
                games=GAMES if games is None else games,
                seed=seed,
                workers=team.number or 1,
                exact=exact,
                progress=progress,
                pool=pool,
            )
    if found.exact and (games, team.number, seed) != (None, None, None):
        typer.echo(
            "rollwise: no game was simulated, so --games, --seed and --workers have no effect; "
            "--no-exact simulates",
            err=True,
        )
    resting = ties_in_play(graph, *entered)
    render(tournament_document(graph, found, resting))


def _play_seatings(
    game: Game,
    names: list[str],
    games: int | None,
    seed: int | None,
    *,
    exact: bool,
) -> None:
    """Let policies play in every seating, and print their results."""
    from rollwise.simulate.seats import simulated_tournament, tournament_of_many

    if exact:
        refuse("goes with --no-exact: the default simulates no games", games=games, seed=seed)
    with Progress() as progress:
        known = policies_of(game, progress)
        graph, entered = known.graph, [known.find(name) for name in names]
        if exact:
            found = tournament_of_many(graph, entered, progress.listener)
        else:
            found = simulated_tournament(
                graph,
                entered,
                OF_SEATING if games is None else games,
                seed=seed,
                progress=progress.listener,
            )
    render(seats_tournament_document(graph, found))
