"""Games and their rules: ``rollwise games``, ``check``, ``compare``, ``verify`` and ``cache``."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import Words, read_game, read_mode, refuse, split_words
from rollwise.cli.options import (
    GameArgument,
    JsonOption,
    MaxStatesOption,
    ModeOption,
    NoCacheOption,
    ParametersArgument,
)
from rollwise.cli.printing import print_json, render, show, show_table
from rollwise.cli.progress import Progress
from rollwise.documents.games import (
    check_document,
    comparison_document,
    games_document,
    kept_document,
    methods_document,
    verification_document,
)
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.games import available
from rollwise.machine import user_cache
from rollwise.methods import METHODS, find_method
from rollwise.numbers.printed import in_bytes, rounded_up

if TYPE_CHECKING:
    from rollwise.analysis.compare_methods import MethodRun


@app.command("games")
def games(json: JsonOption = False) -> None:
    """List the games with their parameters and policies."""
    render(games_document(available().values()), json)


@app.command("methods")
def methods(
    method: Annotated[str | None, typer.Argument(metavar="[METHOD]", help="One of them.")] = None,
    json: JsonOption = False,
) -> None:
    """List the methods of solving and their options."""
    names = METHODS if method is None else [find_method(method).name]
    render(methods_document([METHODS[name] for name in names]), json)


@app.command("check")
def check(
    game: GameArgument,
    parameters: ParametersArgument = None,
    max_states: MaxStatesOption = None,
    json: JsonOption = False,
) -> None:
    """Check the rules of a game for errors and oddities."""
    from rollwise.analysis.check import check as check_game

    chosen = read_game(game, parameters, any_target=True)
    with Progress() as progress:
        report = check_game(chosen, max_states=max_states, progress=progress)
    show(json, lambda: check_document(report), lambda: typer.echo(str(report)))
    if not report.passed:
        raise typer.Exit(1)


TIME_LIMIT = 20.0

COLUMNS = ("method", "status", "sweeps", "seconds", "error", "claimed error", "optimal policy")


@app.command("compare")
def compare(
    game: GameArgument,
    parameters: ParametersArgument = None,
    methods: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Methods to compare; all unless given.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="Time limit of each method, in seconds.")
    ] = TIME_LIMIT,
    samples: Annotated[
        int | None, typer.Option(metavar="N", help="Sampled: draws of each chance (300,000).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Sampled: of the draws; 1 unless given.")
    ] = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Run several methods and measure their errors."""
    from rollwise.analysis.compare_methods import SEED, compare_methods
    from rollwise.answer.kept import build

    if not time_limit > 0:
        raise UsageError(f"--time-limit is {time_limit}; it must be positive")
    names = None if methods is None else [name.strip() for name in methods.split(",")]
    for name in names or ():
        find_method(name)
    if names is not None and not any(find_method(name).estimates for name in names):
        refuse("goes with the method sampled", samples=samples, seed=seed)
    chosen = read_game(game, parameters, any_target=True)
    with Progress() as progress:
        graph = build(chosen, max_states=max_states, progress=progress)
        rows, bound = compare_methods(
            graph,
            names,
            time_limit=time_limit,
            samples=samples,
            seed=SEED if seed is None else seed,
            progress=progress,
        )
    show(
        json,
        lambda: comparison_document(graph, rows, bound, time_limit),
        lambda: _print_comparison(rows, graph.n_states, bound, time_limit),
    )


def _print_comparison(
    rows: list[MethodRun], n_states: int, bound: float, time_limit: float
) -> None:
    cells = (
        (
            row.method,
            row.status.partition(": ")[0],
            "" if row.sweeps is None else f"{row.sweeps:,}",
            "" if row.seconds is None else f"{row.seconds:.3f}",
            "" if row.error is None else rounded_up(row.error),
            "" if row.claimed_error is None else rounded_up(row.claimed_error),
            "" if row.optimal_policy is None else ("yes" if row.optimal_policy else "no"),
        )
        for row in rows
    )
    show_table(COLUMNS, cells, left=("method",))
    for row in rows:
        if ": " in row.status:
            typer.echo(f"{row.method}: {row.status}")
    if any(row.status == "out of time" for row in rows):
        typer.echo(f"out of time: each method had {time_limit:g} s (--time-limit)")
    typer.echo(
        f"error: the largest of any of {n_states:,} states, from values certified "
        f"± {rounded_up(bound)}; claimed error: the method's own bound"
    )


@app.command("verify")
def verify(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="An answer saved by `solve --save`: file or folder."),
    ],
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="[GAME]",
            help="The game, needed only where its rules are in a file of yours.",
        ),
    ] = None,
    parameters: ParametersArgument = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Exact arithmetic: no rounding has to be trusted.")
    ] = False,
    max_states: MaxStatesOption = None,
    mode: ModeOption = "auto",
    json: JsonOption = False,
) -> None:
    """Check a saved solution against its error bounds."""
    asked = split_words(file, game, *(parameters or ()), files=1)
    chosen = _game_of(asked)
    how = read_mode(mode)
    if asked.files[0].is_dir():
        said = {"exact": exact, "mode": None if how == "auto" else how}
        refuse("goes with a file, and not with a folder of layers", **said)
    from rollwise.answer.verify import verify as verify_saved

    with Progress() as progress:
        found = verify_saved(
            asked.files[0],
            chosen,
            exact=exact,
            mode=how,
            max_states=max_states,
            progress=progress,
        )
    if json:
        print_json(verification_document(found))
    elif found.verified:
        typer.echo(str(found))
    else:
        typer.echo(f"rollwise: {asked.files[0]} is refused: {found.fault}", err=True)
    if not found.verified:
        raise typer.Exit(1)


def _game_of(asked: Words) -> Game | None:
    """The typed game; its parameters default to those of the file."""
    if asked.kind is None and not asked.values:
        return None
    if asked.values:
        return asked.make_game()
    from rollwise.answer.layer_folder import read_manifest
    from rollwise.answer.storage import read_facts, typed_parameters
    from rollwise.games import create

    assert asked.kind is not None
    place = asked.files[0]
    facts = read_manifest(place) if place.is_dir() else read_facts(place, damaged=True)
    return create(asked.kind, typed_parameters(facts) if facts["game"] == asked.kind.name else {})


@app.command("cache")
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all cached answers.")] = False,
    json: JsonOption = False,
) -> None:
    """Show or remove the cached answers."""
    user_cache.use(True)
    folder = user_cache.answers_folder()
    document = kept_document(folder, user_cache.MOST_BYTES, clear)
    if clear and folder is not None:
        for path in folder.iterdir():
            with contextlib.suppress(OSError):  # another process may have removed it
                path.unlink()
    show(json, lambda: document, lambda: _print_kept(document))


def _print_kept(document: dict[str, Any]) -> None:
    rows, size, folder = document["kept"], in_bytes(document["bytes"]), document["folder"]
    if folder is None:
        line = "No answers are kept: there is no private folder, or ROLLWISE_NO_CACHE is set"
    elif document["cleared"]:
        line = f"Removed {len(rows):,} files, {size}, from {folder}"
    else:
        line = (
            f"{size} of at most {in_bytes(document['most_bytes'])} in {folder}; the files that "
            "were used longest ago go first, --clear removes all"
        )
        if rows:
            cells = ((r["game"], r["kept"], in_bytes(r["bytes"]), r["used"]) for r in rows)
            heads = ("game", "kept", "size", "last used")
            show_table(heads, cells, left=("game", "kept", "last used"))
    typer.echo(line)
