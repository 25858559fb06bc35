"""``rollwise tournament``: every policy against every other."""

from __future__ import annotations

from typing import Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    check_workers,
    policies_of,
    read_game,
    refuse,
    refuse_with_seats,
    workers_of,
)
from rollwise.cli.options import (
    ClusterOption,
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
)
from rollwise.cli.printing import render
from rollwise.cli.progress import Progress
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
    workers: Annotated[
        int | None, typer.Option(help="Threads that play in parallel; 1 unless given.")
    ] = None,
    cluster: ClusterOption = None,
    exact: Annotated[
        bool, typer.Option("--exact/--no-exact", help="Exact results, or simulated ones.")
    ] = True,
    json: JsonOption = False,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Let policies play each other from every seat."""
    from rollwise.answer import kept
    from rollwise.answer.references import names_in
    from rollwise.graph.policies import ties_in_play
    from rollwise.simulate import tournament as play

    if games is not None and games < 2:
        raise UsageError(f"--games is {games}; it must be at least 2")
    check_workers(workers, cluster)
    names = list(filter(None, names_in(policies)))
    if len(names) < 2:
        raise UsageError("--policies needs at least two, as in optimal,random")
    chosen = read_game(game, parameters)
    if has_many(chosen):
        refuse_with_seats(chosen, workers=workers, cluster=cluster)
        _play_seatings(chosen, names, games, seed, max_states, exact=exact, json=json)
        return
    with Progress() as progress:
        known = kept.policies(chosen, max_states=max_states, progress=progress)
        graph = known.graph
        entered = [known.find(name) for name in names]
        with workers_of(cluster) as pool:
            found = play(
                graph,
                entered,
                games=GAMES if games is None else games,
                seed=seed,
                workers=workers or 1,
                exact=exact,
                progress=progress,
                pool=pool,
            )
    if found.exact and (games, workers, seed) != (None, None, None):
        typer.echo(
            "rollwise: nothing was simulated, so --games, --seed and --workers have no effect; "
            "--no-exact simulates",
            err=True,
        )
    resting = ties_in_play(graph, *entered)
    render(tournament_document(graph, found, resting), json)


def _play_seatings(
    game: Game,
    names: list[str],
    games: int | None,
    seed: int | None,
    max_states: int | None,
    *,
    exact: bool,
    json: bool,
) -> None:
    """Let policies play in every seating, and print their results."""
    from rollwise.simulate.seats import simulated_tournament, tournament_of_many

    if exact:
        refuse("goes with --no-exact: the default simulates no games", games=games, seed=seed)
    with Progress() as progress:
        known = policies_of(game, max_states, progress)
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
    render(seats_tournament_document(graph, found), json)
