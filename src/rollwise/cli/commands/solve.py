"""``rollwise solve``: the value of a game, certified."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    MaxStatesOption,
    ModeOption,
    ParametersArgument,
    Progress,
    number_or_none,
    print_json,
    read_game,
    read_mode,
)
from rollwise.cli.score_options import (
    ChaseOption,
    ChaseTiesOption,
    TargetOption,
    as_chase,
    no_chase,
)
from rollwise.errors import UsageError


@app.command("solve")
def solve(
    game: GameArgument,
    parameters: ParametersArgument = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help="The largest certified error that is good enough; fail beyond it."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the solution (Parquet).")
    ] = None,
    mode: ModeOption = "auto",
    max_states: MaxStatesOption = None,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: Annotated[
        int | None,
        typer.Option(
            "--contest", metavar="N", help="N players take one whole turn each; best score wins."
        ),
    ] = None,
    ties: ChaseTiesOption = None,
    json: JsonOption = False,
) -> None:
    """Solve a game: who has the edge, and how sure that is."""
    from rollwise.solution import solve as solve_game

    if tolerance is not None and not tolerance > 0:
        raise UsageError(f"--tolerance is {tolerance}; it must be positive")
    chosen = read_game(game, parameters)
    no_chase(chase, target)
    if contest is not None:
        if chase or save is not None:
            raise UsageError("--contest goes with neither --chase nor --save")
        from rollwise.cli.contest import print_contest

        print_contest(chosen, contest, "shared" if ties is None else ties, json=json)
        return
    if ties is not None and not chase:
        raise UsageError("--ties goes with --chase or --contest")
    if chase:
        chosen = as_chase(chosen, target, ties, need_target=True)
    with Progress() as progress:
        solution = solve_game(
            chosen,
            tolerance=tolerance,
            mode=read_mode(mode),
            max_states=max_states,
            progress=progress,
        )
    if save is not None:
        solution.save(save)
    document = summary(solution)
    if json:
        print_json(document)
    else:
        _print(document, solution.is_score)
        if save is not None:
            typer.echo(f"Saved to {save}.")
    if solution.status != "certified":
        typer.echo(
            f"rollwise: {solution.status}: the error bound is {solution.error_bound:.2g}", err=True
        )
        raise typer.Exit(1)


def summary(solution: Any) -> dict[str, Any]:
    """What ``solve --json`` prints of a solution."""
    graph = solution.graph
    return {
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
        "value": number_or_none(solution.value),
        "win_probability": number_or_none(solution.win_probability),
        "error_bound": number_or_none(solution.error_bound),
        "seconds": {name: round(spent, 6) for name, spent in solution.seconds.items()},
    }


def _print(document: dict[str, Any], is_score: bool) -> None:
    parameters = " ".join(f"{name}={value}" for name, value in document["parameters"].items())
    start = ", ".join(f"{name}={value}" for name, value in document["start"].items())
    bound = document["error_bound"]
    typer.echo(f"{document['game']} {parameters}".rstrip())
    if bound is None:
        typer.echo(f"  value of the start ({start}): {document['value']}, without an error bound")
    elif is_score:
        typer.echo(
            f"  expected score from the start ({start}): {document['value']:.12g} "
            f"(certified ± {bound:.1e})"
        )
    else:
        typer.echo(
            f"  the mover at the start ({start}) wins with probability "
            f"{document['win_probability']:.12f} (certified ± {bound / 2:.1e})"
        )
        typer.echo(f"  value {document['value']:.12f} (certified ± {bound:.1e} in every state)")
    typer.echo(
        f"  {document['states']:,} states, {document['actions']:,} actions, "
        f"{document['outcomes']:,} outcomes; {document['components']:,} components, the largest "
        f"of {document['largest_component']:,} states"
    )
    spent = ", ".join(f"{name} {spent:.2f} s" for name, spent in document["seconds"].items())
    typer.echo(f"  {document['method']}: {spent}")
