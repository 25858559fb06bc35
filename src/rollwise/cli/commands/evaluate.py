"""``rollwise evaluate``: what a policy is worth."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    POLICIES,
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    about_draws,
    number_or_none,
    print_json,
    read_game,
    read_state,
)
from rollwise.cli.methods import (
    HistoryOption,
    MaxSweepsOption,
    PrintSweepsOption,
    TimeLimitOption,
    check_history_path,
    printing_sweeps,
    write_history,
)
from rollwise.cli.progress import Progress
from rollwise.cli.score_options import (
    ChaseOption,
    ContestOption,
    TargetOption,
    TiesOption,
    as_played,
    tell_ties,
    ties_document,
)
from rollwise.errors import UsageError
from rollwise.numbers.printed import chances, column, in_common

if TYPE_CHECKING:
    from rollwise.answer.evaluation import Evaluation
    from rollwise.graph import StateGraph

THETA = 1e-10


@app.command("evaluate")
def evaluate(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policy: Annotated[
        str,
        typer.Option(metavar="P", help=POLICIES),
    ] = ...,  # type: ignore[assignment]
    against: Annotated[
        str | None, typer.Option(metavar="Q", help="What the opponent plays; P unless given.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="exact (linear systems, certified) or iterative (sweeps).")
    ] = "exact",
    theta: Annotated[
        float | None,
        typer.Option(
            help="Iterative: stop after a sweep that changes no win probability by more "
            f"({THETA:g})."
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            help="Iterative: reversed (default), forward, breadth-first, components, or "
            "synchronous."
        ),
    ] = None,
    max_sweeps: MaxSweepsOption = None,
    time_limit: TimeLimitOption = None,
    history: HistoryOption = None,
    print_sweeps: PrintSweepsOption = False,
    state: Annotated[
        str | None,
        typer.Option(metavar="FIELD=N,...", help="A position, and not the start."),
    ] = None,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Evaluate a policy, moving first and second, against itself or another."""
    from rollwise.answer import kept
    from rollwise.answer.evaluation import METHODS
    from rollwise.answer.evaluation import evaluate as evaluate_policy
    from rollwise.graph.policies import ties_in_play

    if method not in METHODS:
        raise UsageError(f"--method is {method!r}; it must be {' or '.join(METHODS)}")
    if theta is not None and not theta >= 0:
        raise UsageError(f"--theta is {theta}; it can't be less than 0")
    if time_limit is not None and not time_limit >= 0:
        raise UsageError(f"--time-limit is {time_limit}; it can't be less than 0")
    iterative = {"theta": theta, "order": order, "max-sweeps": max_sweeps, "time-limit": time_limit}
    options: dict[str, Any] = {
        name.replace("-", "_"): value for name, value in iterative.items() if value is not None
    }
    if method == "exact" and (options or history is not None or print_sweeps):
        named = next(
            iter([*options, *(["history"] if history is not None else [])]), "print-sweeps"
        )
        raise UsageError(f"--{named.replace('_', '-')} is for --method iterative")
    if print_sweeps:
        options["on_sweep"] = printing_sweeps(json)
    check_history_path(history)
    chosen = as_played(
        read_game(game, parameters),
        chase=chase,
        contest=contest,
        target=target,
        ties=ties,
        need_target=True,
    )
    position = None if state is None else read_state(state)
    with Progress() as progress:
        policies = kept.policies(chosen, max_states=max_states, progress=progress)
        graph = policies.graph
        s = 0 if position is None else graph.find(position)
        mine = policies.find(policy)
        theirs = None if against is None else policies.find(against)
        progress("evaluating", 0, None)
        found = evaluate_policy(
            graph,
            mine,
            theirs,
            method=method,
            # sweeps are counted as the textbooks do it: over the whole game
            starts=[s] if method == "exact" else None,
            **options,
        )
    if history is not None:
        write_history(history, found.history)
    finished = found.status == "converged"
    document = describe(graph, found, s)
    # against itself an optimal policy has the value of the game, whichever it is
    resting = None if theirs is None else ties_in_play(graph, mine, theirs, start=s)
    document["equally_good"] = ties_document(resting)
    if not finished:
        names = ("value", "value_second", "win_probability", "win_probability_second")
        document.update({name: None for name in names if name in document})
    if json:
        print_json(document)
    elif finished:
        _print(document, graph.has_draws)
        tell_ties(document["equally_good"])
    if not finished:
        typer.echo(
            f"rollwise: the evaluation ended without an answer: {found.status} after "
            f"{found.sweeps:,} sweeps, the last of which changed something by "
            f"{found.history[-1] if found.history else float('nan'):.3g}",
            err=True,
        )
        raise typer.Exit(1)


def describe(graph: StateGraph, found: Evaluation, s: int) -> dict[str, Any]:
    """What ``--json`` prints of an evaluation at a state."""
    document: dict[str, Any] = {
        "game": graph.game,
        "parameters": dict(graph.parameters),
        "policy": found.policy,
        "against": found.against if graph.players == 2 else None,
        "method": found.method,
        "status": str(found.status),
        "sweeps": found.sweeps,
        "theta": found.theta,
        "state": dict(zip(graph.field_names, graph.states[s].tolist(), strict=True)),
        "value": number_or_none(float(found.values[s])),
    }
    if isinf(found.values[s]):
        document["never_ends"] = True  # with positive probability, and loses without bound
    two = graph.players == 2
    if two:
        document["value_second"] = number_or_none(float(found.values_second[s]))
    if graph.objective == "win":
        document["win_probability"] = number_or_none(float(found.win_probability[s]))
    if two:
        document["win_probability_second"] = number_or_none(float(found.win_probability_second[s]))
    if found.bounds is not None and found.bounds_second is not None:
        worst = max(float(found.bounds[s]), float(found.bounds_second[s]))
        document["error_bound"] = number_or_none(worst)
    else:
        document["error_bound"] = None
    return document


def _print(document: dict[str, Any], has_draws: bool) -> None:
    rival = document["against"]
    versus = "" if rival is None else f" against {rival}"
    where = ", ".join(f"{name}={value}" for name, value in document["state"].items())
    typer.echo(f"{document['policy']}{versus}, at {where}")
    print_worth(document, has_draws)


def print_worth(document: dict[str, Any], has_draws: bool) -> None:
    """What a policy is worth from each seat, and how sure that is."""
    if "never_ends" in document:
        typer.echo("  expected score infinite: play may never end, and costs without bound (exact)")
        return
    for_chances = "win_probability" in document
    names = ("win_probability", "win_probability_second") if for_chances else ("value",)
    numbers = [document[name] for name in names if name in document]
    bound = document["error_bound"]
    if bound is not None:
        values = [document[name] for name in ("value", "value_second") if name in document]
        off = [bound] * len(values)
        worth = chances(values, off) if for_chances else column(values, off)
        shown, sure = in_common(worth)
        sure = f"certified ± {sure}"
    else:
        shown = [f"{number:.12f}" if for_chances else f"{number:.12g}" for number in numbers]
        sure = "not certified"
        if document["method"] == "iterative":
            sweeps, theta = document["sweeps"], document["theta"]
            sure = f"estimated: {sweeps} sweeps until none changed by {theta:g}"
    if not for_chances:
        typer.echo(f"  expected score {shown[0]}")
    else:
        typer.echo(f"  wins with probability {shown[0]} moving first")
        if len(shown) > 1:
            typer.echo(f"  and {shown[1]} moving second")
    typer.echo(f"  {sure}{about_draws(has_draws)}")
