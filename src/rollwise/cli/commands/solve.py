"""``rollwise solve``: the value of a game, certified."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    check_workers,
    read_game,
    read_mode,
    read_values,
    refuse,
    refuse_with_seats,
)
from rollwise.cli.options import (
    DEFAULT,
    ClusterOption,
    GameArgument,
    HistoryOption,
    JsonOption,
    MaxStatesOption,
    MemoryOption,
    MethodOption,
    ModeOption,
    NoCacheOption,
    ParametersArgument,
    PrintSweepsOption,
    ProcessesOption,
    SampleSeedOption,
    SetOption,
    TimeLimitOption,
    check_history_path,
    method_options,
    printing_sweeps,
    tell_unfinished,
    write_history,
)
from rollwise.cli.printing import certify, place_line, render
from rollwise.cli.progress import Progress
from rollwise.cli.streams import say
from rollwise.documents.model import UNSET, UnsetType
from rollwise.documents.solved import solved_document
from rollwise.errors import UsageError
from rollwise.game import has_many
from rollwise.games import find
from rollwise.machine.atomic_files import check_place
from rollwise.methods import find_method
from rollwise.numbers.printed import rounded_up

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution
    from rollwise.game import Game
    from rollwise.many.others import OtherEquilibria

ToleranceOption = Annotated[
    float | None,
    typer.Option(help="Largest acceptable certified error; fail beyond it."),
]
SaveOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Keep the solution (Parquet).")
]
CertificateOption = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        metavar="FILE",
        help="Write game, values and bounds for other programs to check (docs/certificates.md).",
    ),
]
ByLayerOption = Annotated[
    bool,
    typer.Option(
        "--by-layer",
        help="The graph of one layer at a time, where the rules have a "
        "progress(s); --save then names a folder, where each layer is kept when it is proved.",
    ),
]
ResumeOption = Annotated[
    bool,
    typer.Option(
        "--resume", help="Continue from the proved layers of a run with --by-layer --save."
    ),
]
StartsOption = Annotated[
    int | None,
    typer.Option(
        "--starts",
        metavar="N",
        min=1,
        help="With three players or more: look for other equilibria, from N other starts (--seed).",
    ),
]


KeepOption = Annotated[
    str | None,
    typer.Option(
        "--keep",
        metavar="WHAT",
        help="With --by-layer, without --save: start, the value of the start alone, with the "
        "least memory.",
    ),
]
# Graphs of fewer outcomes are examined within milliseconds.
QUICKLY_SEEN = 500_000
ONLY_BY_LAYER = (
    "doesn't go with --by-layer, which goes with --save, --resume, --keep, --workers, "
    "--cluster, --max-states and --json only"
)


@app.command("solve")
def solve(
    game: GameArgument,
    parameters: ParametersArgument = None,
    method: MethodOption = DEFAULT,
    settings: SetOption = None,
    tolerance: ToleranceOption = None,
    save: SaveOption = None,
    certificate: CertificateOption = None,
    history: HistoryOption = None,
    print_sweeps: PrintSweepsOption = False,
    time_limit: TimeLimitOption = None,
    seed: SampleSeedOption = None,
    mode: ModeOption = "auto",
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    by_layer: ByLayerOption = False,
    resume: ResumeOption = False,
    keep: KeepOption = None,
    memory: MemoryOption = None,
    workers: ProcessesOption = None,
    cluster: ClusterOption = None,
    starts: StartsOption = None,
    json: JsonOption = False,
) -> None:
    """Solve a game: the first player's edge, certified."""
    values = read_values(parameters or ())
    apart: dict[str, Any] = {"resume": resume, "workers": workers, "cluster": cluster}
    _check_places(history, save, by_layer, keep=keep, **apart)
    sweeps = printing_sweeps(json) if print_sweeps else None
    check_place(certificate)
    proved = {"save": save, "certificate": certificate, "tolerance": tolerance}
    _check_estimate(method, history=history, **proved)
    elsewhere = _unusual(method, mode) | {"print_sweeps": print_sweeps, "set": settings}
    elsewhere |= {"tolerance": tolerance, "history": history}
    if values.get("as") in ("contest", "blind"):
        others: dict[str, Any] = {"save": save, "max_states": max_states, "by_layer": by_layer}
        others |= {"seed": seed, "starts": starts, "time_limit": time_limit}
        others["certificate"] = certificate
        refuse(f"doesn't go with as={values['as']}", **others, **elsewhere)
        from rollwise.cli.solve_forms import print_contest

        print_contest(find(game), values, json=json)
        return
    chosen = read_game(game, parameters)
    if has_many(chosen):
        refuse_with_seats(chosen, by_layer=by_layer, keep=keep, memory=memory, **apart, **elsewhere)
        if starts is None:
            refuse("goes with --starts N: it is that of the first of them", seed=seed)
        options = {} if time_limit is None else {"time_limit": time_limit}
    else:
        refuse("is for games of three or more players", starts=starts)
        elsewhere |= {"time_limit": time_limit, "seed": seed}
        limits = {"time_limit": time_limit, "seed": seed, "on_sweep": sweeps}
        options = method_options(method, settings, **limits)
    if by_layer:
        refuse(ONLY_BY_LAYER, **elsewhere)
        apart["certificate"] = certificate
        _print_layers(chosen, max_states, save, keep=keep, json=json, **apart)
        return
    if tolerance is not None and not tolerance > 0:
        raise UsageError(f"--tolerance is {tolerance}; it must be positive")
    from rollwise.answer import kept

    how = _unusual(method, read_mode(mode)) | {"options": options, "tolerance": tolerance}
    # a file, and the history of a run, are those of one graph
    how |= {"max_states": max_states, "by_layers": save is history is None}
    more = None
    with Progress() as progress:
        solution = kept.answer(chosen, progress=progress, **how)
        if starts is not None:
            seed = 1 if seed is None else seed
            more = solution.equilibrium.others(starts, seed=seed, progress=progress.listener)
    _tell(solution, game, (save, certificate), history, more, json=json)


def _print_layers(
    game: Game, max_states: int | None, save: Path | None, *, json: bool, **how: Any
) -> None:
    from rollwise.cli.solve_forms import print_layers

    print_layers(game, max_states, save, json=json, **how)


def _unusual(method: str, mode: str) -> dict[str, Any]:
    """The method and the mode; None for each default."""
    return {
        "method": None if method == DEFAULT else method,
        "mode": None if mode == "auto" else mode,
    }


def _check_places(
    history: Path | None,
    save: Path | None,
    by_layer: bool,
    *,
    resume: bool,
    keep: str | None,
    workers: int | None,
    cluster: str | None,
) -> None:
    """Refuse unwritable files, and options that need a folder, before the work."""
    check_workers(workers, cluster)
    if keep not in (None, "all", "start"):
        raise UsageError(f"--keep is all or start, not {keep}")
    if not (by_layer and save):
        if resume:
            raise UsageError(
                "--resume goes on with a folder: it goes with --by-layer --save FOLDER"
            )
        if not by_layer:
            refuse("goes with --by-layer", keep=keep)
        because = "solves layers in a folder that is shared: it goes with --by-layer --save FOLDER"
        refuse(because, workers=workers, cluster=cluster)
    if keep == "start" and save:
        raise UsageError("--keep start keeps the answer of the start alone, and no folder")
    check_history_path(history)
    check_place(None if by_layer else save)


def _check_estimate(method: str, **proved: Any) -> None:
    """Refuse options about proofs for a method of estimates."""
    if find_method(method).estimates:
        refuse("is for answers that are proved, and not for estimates", **proved)


def _tell(
    solution: Solution,
    game: str,
    files: tuple[Path | None, Path | None],
    history: Path | None,
    others: OtherEquilibria | None,
    *,
    json: bool,
) -> None:
    """Print and save a solution, with oddities of the game's rules.

    Parameters
    ----------
    files : tuple of path or None
        For the solution, and for its certificate.
    """
    save, certificate = files
    if history is not None:
        write_history(history, solution.run.history if solution.run is not None else ())
    if save is not None and not solution.gave_up:
        solution.save(save)
    odd = _oddities(solution)
    document = solved_document(solution, odd, others)
    if json or not solution.gave_up:
        render(document, json, *place_line("Saved to", save))
    if solution.gave_up:
        tell_unfinished(solution)
        raise typer.Exit(1)
    certify(solution, certificate, json)
    if odd:
        say(f"check has something to say: {odd[0]} (rollwise check {game})")
    if solution.profile is not None:
        faults = solution.profile.faults
    elif solution.status not in ("certified", "estimated"):
        faults = [f"{solution.status}: the error bound is {rounded_up(solution.error_bound)}"]
    else:
        return
    for fault in faults:
        typer.echo(f"rollwise: {fault}", err=True)
    if faults:
        raise typer.Exit(1)


def _oddities(solution: Solution) -> list[str] | UnsetType:
    """Findings of `check` for graphs small enough to examine at once; UNSET without a graph."""
    if not solution.is_whole or solution.profile is not None:
        return UNSET
    graph = solution.graph
    if graph.n_outcomes > QUICKLY_SEEN:
        return []
    from rollwise.analysis.findings import nothing_at_stake, oddities

    told = nothing_at_stake(graph)
    return [*oddities(graph), *([told] if told else [])]
