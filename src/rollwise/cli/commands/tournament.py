"""``rollwise tournament``: every policy against every other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import check_workers, read_game, workers_of
from rollwise.cli.options import (
    ClusterOption,
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    also_for_many,
)
from rollwise.cli.printing import print_json, print_table, tell_ties
from rollwise.cli.progress import Progress
from rollwise.documents.parts import ties_document
from rollwise.documents.played import tournament_document
from rollwise.errors import UsageError
from rollwise.numbers.printed import column, estimated

if TYPE_CHECKING:
    from rollwise.simulate import Tournament


GAMES = 1_000_000


@app.command("tournament")
@also_for_many("policies", "games", "seed", "exact", "max_states", "json")
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
        typer.echo("exact, certified ± the error")
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
    written = column if found.exact else (lambda *both: list(map(estimated, *both)))
    for entry, result in zip(found.standings, written(results, errors), strict=True):
        row = [entry.policy, *result]
        if found.both is not None:
            i = found.policies.index(entry.policy)
            row += [f"{rate:.6f}" for rate in found.both[i].tolist()]
        shown.add_row(*row)
    print_table(shown)
    if found.both is not None:
        rates = "payoffs" if is_score else "win rates"
        draws = "" if is_score else " (a draw is half a win)"
        typer.echo(f"{rates} over both seats{draws}, rounded to six decimals")
