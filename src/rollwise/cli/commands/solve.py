"""``rollwise solve``: the value of a game, certified."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    MaxStatesOption,
    ModeOption,
    NoCacheOption,
    ParametersArgument,
    number_or_none,
    print_json,
    print_worth,
    read_game,
    read_mode,
    refuse,
)
from rollwise.cli.methods import (
    DEFAULT,
    EpsilonOption,
    HistoryOption,
    MaxSweepsOption,
    MethodOption,
    ObjectiveOption,
    OrderOption,
    PrintSweepsOption,
    SolverOption,
    SoundOption,
    StartOption,
    TightenOption,
    TimeLimitOption,
    WholeOption,
    check_history_path,
    method_options,
    printing_sweeps,
    tell_unfinished,
    unfinished,
    write_history,
)
from rollwise.cli.progress import Progress
from rollwise.cli.score_options import ChaseOption, TargetOption, TiesOption, as_played
from rollwise.cli.streams import say
from rollwise.errors import UsageError
from rollwise.machine.atomic_files import check_place
from rollwise.numbers.printed import rounded_up

if TYPE_CHECKING:
    from rollwise.graph import StateGraph


# Outcomes that are looked at within some milliseconds.
QUICKLY_SEEN = 500_000


@app.command("solve")
def solve(
    game: GameArgument,
    parameters: ParametersArgument = None,
    method: MethodOption = DEFAULT,
    tolerance: Annotated[
        float | None,
        typer.Option(help="The largest certified error that is good enough; fail beyond it."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the solution (Parquet).")
    ] = None,
    history: HistoryOption = None,
    print_sweeps: PrintSweepsOption = False,
    epsilon: EpsilonOption = None,
    order: OrderOption = None,
    sound: SoundOption = None,
    max_sweeps: MaxSweepsOption = None,
    time_limit: TimeLimitOption = None,
    solver: SolverOption = None,
    whole: WholeOption = None,
    objective: ObjectiveOption = None,
    tighten: TightenOption = None,
    start_from: StartOption = None,
    mode: ModeOption = "auto",
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: Annotated[
        int | None,
        typer.Option(
            "--contest", metavar="N", help="N players take one whole turn each; best score wins."
        ),
    ] = None,
    ties: TiesOption = None,
    by_layer: Annotated[
        bool,
        typer.Option(
            "--by-layer",
            help="The graph of one layer at a time, where the rules have a "
            "progress(s); --save then names a folder, for a file a layer.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Solve a game: who has the edge, and how sure that is."""
    from rollwise.answer.kept import solve as solve_game

    if tolerance is not None and not tolerance > 0:
        raise UsageError(f"--tolerance is {tolerance}; it must be positive")
    check_history_path(history)
    if not by_layer:
        check_place(save)
    options = method_options(
        method,
        epsilon=epsilon,
        order=order,
        sound=sound,
        max_sweeps=max_sweeps,
        time_limit=time_limit,
        solver=solver,
        whole=whole,
        objective=objective,
        tighten=tighten,
        start=start_from,
        on_sweep=printing_sweeps(json) if print_sweeps else None,
    )
    chosen = read_game(game, parameters)
    if contest is not None:
        refuse(
            "doesn't go with --contest N",
            chase=chase,
            target=target,
            save=save,
            method=None if method == DEFAULT else method,
            tolerance=tolerance,
            history=history,
            print_sweeps=print_sweeps,
            mode=None if mode == "auto" else mode,
            max_states=max_states,
            by_layer=by_layer,
            **options,
        )
        from rollwise.cli.contest import print_contest

        print_contest(chosen, contest, "shared" if ties is None else ties, json=json)
        return
    chosen = as_played(chosen, chase=chase, target=target, ties=ties, need_target=True)
    if by_layer:
        refuse(
            "doesn't go with --by-layer, which goes with --save, --max-states and --json only",
            chase=chase,
            method=None if method == DEFAULT else method,
            tolerance=tolerance,
            history=history,
            print_sweeps=print_sweeps,
            mode=None if mode == "auto" else mode,
            **options,
        )
        from rollwise.cli.solve_by_layer import print_layers

        print_layers(chosen, max_states, save, json=json)
        return
    with Progress() as progress:
        solution = solve_game(
            chosen,
            method=method,
            options=options,
            tolerance=tolerance,
            mode=read_mode(mode),
            max_states=max_states,
            progress=progress,
        )
    if history is not None:
        write_history(history, solution.run.history if solution.run is not None else ())
    gave_up = unfinished(solution)
    if save is not None and not gave_up:
        solution.save(save)
    document = summary(solution)
    odd = _oddities(solution.graph)
    if json:
        print_json({**document, "check": odd})
    elif not gave_up:
        _print(document, solution.graph)
        if save is not None:
            typer.echo(f"Saved to {save}.")
    if gave_up:
        tell_unfinished(solution)
        raise typer.Exit(1)
    if odd:
        say(f"check has something to say: {odd[0]} (rollwise check {game})")
    if solution.status != "certified":
        typer.echo(
            f"rollwise: {solution.status}: the error bound is {rounded_up(solution.error_bound)}",
            err=True,
        )
        raise typer.Exit(1)


def _oddities(graph: StateGraph) -> list[str]:
    """What `check` would say, where it takes next to no time to see."""
    if graph.n_outcomes > QUICKLY_SEEN:
        return []
    from rollwise.analysis.oddities import oddities

    return oddities(graph)


def summary(solution: Any) -> dict[str, Any]:
    """What ``solve --json`` prints of a solution."""
    graph = solution.graph
    gave_up = unfinished(solution)
    document = {
        "game": graph.game,
        "parameters": dict(graph.parameters),
        "method": solution.method,
        "status": solution.status,
        "states": graph.n_states,
        "actions": graph.n_actions,
        "outcomes": graph.n_outcomes,
        "components": len(graph.components),
        "largest_component": graph.components.largest,
        "start": dict(zip(graph.field_names, graph.states[0].tolist(), strict=True)),
        "value": None if gave_up else number_or_none(solution.value),
        "win_probability": None if gave_up else number_or_none(solution.win_probability),
        "error_bound": number_or_none(solution.error_bound),
        "seconds": {name: round(spent, 6) for name, spent in solution.seconds.items()},
    }
    if solution.kept_from is not None:
        document["kept_from"] = solution.kept_from
    run = solution.run
    if run is None or not run.details:
        return document
    document["sweeps"] = run.sweeps
    document["claimed_error"] = None if run.claimed_error is None else float(run.claimed_error)
    document["details"] = {name: _plain(said) for name, said in run.details.items()}
    if gave_up or run.lower is not None:
        low, high = (number_or_none(float(bound[0])) for bound in solution.bounds)
        document["value_bounds"] = [low, high]
        if not solution.is_score:
            document["win_probability_bounds"] = [
                None if x is None else (1 + x) / 2 for x in (low, high)
            ]
    if run.fractions is not None:
        from rollwise.methods.exact import fraction_text

        document["value_exact"] = fraction_text(run.fractions[0])
        if not solution.is_score:
            document["win_probability_exact"] = fraction_text((1 + run.fractions[0]) / 2)
    return document


def _plain(said: Any) -> Any:
    """What a method says of its run, as JSON knows it."""
    return number_or_none(said) if isinstance(said, float) else said


def _print(document: dict[str, Any], graph: StateGraph) -> None:
    start = ", ".join(f"{name}={value}" for name, value in document["start"].items())
    bound = document["error_bound"]
    typer.echo(graph.title)
    if bound is None:
        typer.echo(f"  value of the start ({start}): {document['value']}, without an error bound")
    else:
        is_score = graph.objective != "win"
        value = document["value"]
        print_worth(start, value, bound, is_score=is_score, draws=graph.has_draws)
    for name in ("win_probability_exact", "value_exact"):
        if name in document:
            exact = document[name]
            shown = exact if len(exact) <= 200 else f"{exact[:90]}... ({len(exact):,} characters)"
            typer.echo(f"  {name.removesuffix('_exact').replace('_', ' ')} exactly: {shown}")
    if document["components"] == 1:
        components = "one component"
    elif document["largest_component"] == 1:
        components = "each state a component"
    else:
        components = (
            f"{document['components']:,} components, the largest of "
            f"{document['largest_component']:,} states"
        )
    typer.echo(
        f"  {document['states']:,} states, {document['actions']:,} actions, "
        f"{document['outcomes']:,} outcomes; {components}"
    )
    spent = ", ".join(f"{name} {spent:.2f} s" for name, spent in document["seconds"].items())
    kept = f"kept from {document['kept_from']}, " if "kept_from" in document else ""
    typer.echo(f"  {document['method']}: {kept}{spent}")
