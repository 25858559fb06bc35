"""``rollwise distribution``: how likely each final score is, exactly."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    POLICIES,
    GameArgument,
    JsonOption,
    ParametersArgument,
    print_json,
    print_table,
    read_game,
    read_state,
    refuse,
)
from rollwise.errors import UsageError

if TYPE_CHECKING:
    from rollwise.analysis.distributions import Distribution
    from rollwise.graph import StateGraph
    from rollwise.policies import Policy

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@app.command("distribution")
def distribution(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICY",
            help=f"{POLICIES} optimal unless given; give it again for several side by side.",
        ),
    ] = None,
    count: Annotated[
        str | None,
        typer.Option(metavar="ACTION", help="How often this action is taken, not the score."),
    ] = None,
    state: Annotated[
        str | None,
        typer.Option("--state", metavar="STATE", help="What is still to come from this state."),
    ] = None,
    target: Annotated[
        int | None,
        typer.Option(
            "--target",
            metavar="SCORE",
            help="Also for who plays to reach this score, and not for the mean.",
        ),
    ] = None,
    at_most: Annotated[
        int | None, typer.Option("--at-most", metavar="N", help="Also P(at most N).")
    ] = None,
    simulate: Annotated[
        int, typer.Option(min=0, metavar="GAMES", help="Simulate games beside it.")
    ] = 0,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the simulation; 1 unless given.")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Probabilities as fractions.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    json: JsonOption = False,
) -> None:
    """The distribution of a solitaire game's final score under a policy, without simulating."""
    from rollwise.analysis.distributions import counted_actions, distributions, exact_distribution
    from rollwise.builders import build
    from rollwise.policy_references import resolve_policy
    from rollwise.scores import whole_points

    if csv and json:
        raise UsageError("--csv and --json can't both be had")
    if csv:
        refuse("doesn't go with --csv, which has a line for each score", at_most=at_most)
    if not simulate:
        refuse("goes with --simulate GAMES", seed=seed)
    seed = 1 if seed is None else seed
    chosen = read_game(game, parameters)
    graph = build(chosen)
    counted = whole_points(graph) if count is None else counted_actions(graph, count)
    place = 0
    if state is not None:
        fields = read_state(state)
        missing = [name for name in graph.field_names if name not in fields]
        if missing or len(fields) != len(graph.field_names):
            raise UsageError(f"a state of {chosen.name} is {', '.join(graph.field_names)}")
        place = graph.find([fields[name] for name in graph.field_names])
    shown = []
    for reference in policy or ["optimal"]:
        plan = resolve_policy(graph, chosen, reference)
        found = distributions(graph, plan, count=count).of(place).trimmed()
        entry = _described(reference, found, at_most)
        if exact:
            fractions = exact_distribution(graph, plan, count=count, state=place)
            for row in entry["rows"]:
                row["fraction"] = str(fractions.get(row["value"], 0))
            entry["mean_fraction"] = str(sum(value * share for value, share in fractions.items()))
        if simulate:
            _simulate(entry, graph, plan, counted, simulate, seed, place, found)
        shown.append(entry)
    if target is not None:
        if count is not None or state is not None or simulate or exact:
            raise UsageError("--target goes with neither --count, --state, --simulate nor --exact")
        shown.append(_described(f"chase-{target}", _chasing(graph, target), at_most))
    document = {
        "game": graph.game,
        "parameters": dict(graph.parameters),
        "state": dict(zip(graph.field_names, graph.states[place].tolist(), strict=True)),
        "counted": "points" if count is None else count,
        "policies": shown,
    }
    if json:
        print_json(document)
    elif csv:
        _write_csv(shown)
    else:
        _print(document, at_most)


def _chasing(graph: StateGraph, target: int) -> Distribution:
    """The final score of a player who does what makes reaching the target most likely."""
    from rollwise.analysis.aims import Aims
    from rollwise.scores import by_score

    scored = by_score(graph)
    scored.index(target)
    aims = Aims(scored)
    plan = aims.policy(aims.solve(aims.reaching(target)))
    return aims.distributions(plan).of(0).trimmed()


def _described(reference: str, found: Distribution, at_most: int | None) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "policy": reference,
        "mean": found.mean,
        "sd": found.sd,
        "quantiles": {str(share): found.quantile(share) for share in QUANTILES},
        "error_bound": found.error_bound,
        "rows": [
            {"value": value, "probability": probability, "at_most": min(below, 1.0)}
            for value, probability, below in zip(
                found.values.tolist(),
                found.probabilities.tolist(),
                found.probabilities.cumsum().tolist(),
                strict=True,
            )
        ],
    }
    if at_most is not None:
        entry["at_most"] = {"value": at_most, "probability": found.at_most(at_most)}
    return entry


def _simulate(
    entry: dict[str, Any],
    graph: Any,
    plan: Policy,
    counted: Any,
    games: int,
    seed: int,
    place: int,
    found: Distribution,
) -> None:
    from rollwise.analysis.records import compare, sample_totals

    totals = sample_totals(graph, plan, counted, games, seed, place)
    tested = compare(totals, found)
    for row in entry["rows"]:
        row["simulated"] = float((totals == row["value"]).mean())
    entry["simulated"] = {
        "games": games,
        "seed": seed,
        "mean": tested.mean,
        "standard_error": tested.standard_error,
        "chi_square": tested.chi_square if tested.cells > 1 else None,
        "cells": tested.cells,
        "p_value": tested.p_shape if tested.cells > 1 else None,
    }


def _side_by_side(shown: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Headings and rows, a line for each number that any policy gives."""
    values = sorted({row["value"] for entry in shown for row in entry["rows"]})
    heads = ["value"]
    columns = []
    for entry in shown:
        for name in ("probability", "simulated", "fraction"):
            if entry["rows"] and name in entry["rows"][0]:
                heads.append(
                    f"{entry['policy']} {name}" if name != "probability" else entry["policy"]
                )
                columns.append({row["value"]: row[name] for row in entry["rows"]})
    rows = []
    for value in values:
        cells = [column.get(value, 0.0) for column in columns]
        rows.append([str(value), *(c if isinstance(c, str) else f"{c:.10f}" for c in cells)])
    return heads, rows


def _write_csv(shown: list[dict[str, Any]]) -> None:
    heads, rows = _side_by_side(shown)
    sys.stdout.write("\n".join(",".join(row) for row in [heads, *rows]) + "\n")


def _print(document: dict[str, Any], at_most: int | None) -> None:
    from rich.table import Table

    shown = document["policies"]
    heads, rows = _side_by_side(shown)
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in heads:
        table.add_column(head, justify="right")
    for row in rows:
        table.add_row(*row)
    print_table(table)
    for entry in shown:
        quantiles = ", ".join(f"{share}: {value}" for share, value in entry["quantiles"].items())
        typer.echo(
            f"{entry['policy']}: mean {entry['mean']:.10f}, standard deviation {entry['sd']:.10f} "
            f"(probabilities certified ± {entry['error_bound']:.1e}); quantiles {quantiles}"
        )
        if "mean_fraction" in entry:
            typer.echo(f"  mean {entry['mean_fraction']} (exact)")
        if at_most is not None:
            typer.echo(f"  P(at most {at_most}) = {entry['at_most']['probability']:.10f}")
        if "simulated" in entry:
            told = entry["simulated"]
            p_value = "" if told["p_value"] is None else f", chi-square p = {told['p_value']:.3f}"
            typer.echo(
                f"  {told['games']:,} simulated games (seed {told['seed']}): mean "
                f"{told['mean']:.5f} (estimated ± {told['standard_error']:.5f}){p_value}"
            )
