"""``rollwise tournament``: every policy against every other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
from rollwise.cli.printing import print_json, print_table, tell_ties
from rollwise.cli.progress import Progress
from rollwise.documents.parts import ties_document
from rollwise.documents.policies import seats_tournament_document, tournament_document
from rollwise.errors import UsageError
from rollwise.game import Game, has_many
from rollwise.numbers.printed import (
    column,
    estimated,
    estimated_chance,
    in_common,
    percent,
    percents,
)

if TYPE_CHECKING:
    from rollwise.graph import StateGraph
    from rollwise.simulate import Tournament
    from rollwise.simulate.seats import SeatsTournament


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
    from rollwise.graph.policies import ties_in_play
    from rollwise.simulate import tournament as play

    if games is not None and games < 2:
        raise UsageError(f"--games is {games}; it must be at least 2")
    check_workers(workers, cluster)
    names = [name.strip() for name in policies.split(",") if name.strip()]
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
    if json:
        print_json(tournament_document(graph, found, resting))
    else:
        typer.echo(graph.title)
        _print(found, graph.is_score)
        tell_ties(ties_document(resting), "")


def _print(found: Tournament, is_score: bool) -> None:
    from rich.table import Table

    if found.exact:
        typer.echo("exact, certified ± the error before rounding")
    else:
        typer.echo(f"{found.games:,} games a pair, seed {found.seed}, ± the standard error")
    shown = Table(box=None, padding=(0, 2, 0, 0))
    shown.add_column("policy")
    shown.add_column("result", justify="right")
    shown.add_column("error", justify="right")
    for name in found.policies if found.both is not None else ():
        shown.add_column(f"vs {name}", justify="right")
    results = [entry.result for entry in found.standings]
    errors = [entry.error for entry in found.standings]
    exactly, roughly = (column, estimated) if is_score else (percents, estimated_chance)
    written = exactly if found.exact else (lambda *both: list(map(roughly, *both)))
    for entry, result in zip(found.standings, written(results, errors), strict=True):
        row = [entry.policy, result.number, result.bound]
        if found.both is not None:
            i = found.policies.index(entry.policy)
            row += map("{:.6f}".format if is_score else percent, found.both[i].tolist())
        shown.add_row(*row)
    print_table(shown)
    if found.both is not None:
        rates = "payoffs" if is_score else "wins"
        draws = "" if is_score else " (a draw is half a win)"
        typer.echo(f"{rates} over both seats{draws}, rounded")


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
    if json:
        print_json(seats_tournament_document(graph, found))
        return
    _print_seatings(graph, found)


def _print_seatings(graph: StateGraph, found: SeatsTournament) -> None:
    from rich.table import Table

    from rollwise.many.seats import has_payoffs

    m, payoffs = len(found.policies), has_payoffs(graph)
    shown = Table(box=None, padding=(0, 2, 0, 0))
    shown.add_column("policy")
    for head in ("in a seat", *(f"among {name}" for name in found.policies)):
        shown.add_column(head, justify="right")
    errors = found.standard_errors
    if errors is None:
        assert found.error_bound is not None
        exactly = column if payoffs else percents
        numbers, worst = in_common(exactly(found.results.tolist(), [found.error_bound] * m))
        head, said = "", worst.sure
    else:
        pairs = zip(found.results.tolist(), errors.tolist(), strict=True)
        roughly = estimated if payoffs else estimated_chance
        numbers = [str(roughly(*pair)) for pair in pairs]
        head = f" of {found.games:,} games each, seed {found.seed}"
        said = "estimated ± the standard error"
    typer.echo(f"{graph.title}: {found.seatings:,} seatings{head}")
    for i in sorted(range(m), key=lambda i: -found.results[i]):
        cells = map("{:.6f}".format if payoffs else percent, found.among[i].tolist())
        shown.add_row(found.policies[i], numbers[i], *cells)
    print_table(shown)
    what = "expected payoff" if payoffs else "wins"
    typer.echo(
        f"{what} of a seat ({said}), over all seatings with different policies; "
        "and of one policy among others that are all alike, rounded"
    )
