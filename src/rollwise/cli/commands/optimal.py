"""Figures under optimal policies: ``rollwise optimal``, ``distribution`` and ``frontier``."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from rollwise.answer import kept
from rollwise.cli import streams
from rollwise.cli.app import app
from rollwise.cli.common import read_game, read_state, refuse
from rollwise.cli.options import (
    POLICIES,
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
)
from rollwise.cli.printing import (
    check_file,
    end_if,
    form_of,
    show,
    show_table,
    tell_ties,
    write_rows,
)
from rollwise.cli.progress import Progress
from rollwise.documents.parts import about_draws, worth_lines
from rollwise.documents.scores import (
    distribution_document,
    distributions_document,
    frontier_document,
    optimal_against_document,
    optimal_document,
    score_ranges_document,
)
from rollwise.errors import UsageError
from rollwise.numbers.printed import (
    Printed,
    certified,
    chances,
    column,
    estimated,
    in_common,
    percent,
    percents,
    rounded_up,
    scaled,
)

UNPROVED = "unknown, without a proved bound"
AIMS = "score<=N, variance, win, draw, moves, rolls, or an action."
ThenOption = Annotated[
    list[str] | None,
    typer.Option(
        "--then",
        metavar="AIM",
        help=f"A second aim among optimal policies: {AIMS} least:AIM asks for the least; give it "
        "again for a third aim.",
    ),
]
WinTiesOption = Annotated[
    str | None,
    typer.Option("--ties", help="Of the aim win: shared (the default), first or win-or-tie."),
]


@app.command("optimal")
def optimal(
    game: GameArgument,
    parameters: ParametersArgument = None,
    then: ThenOption = None,
    range_of: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="QUANTITY",
            help=f"The least and the most of this under optimal policies: {AIMS}",
        ),
    ] = None,
    ties: WinTiesOption = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="POLICY",
            help="The range of optimal policies' values against this opponent.",
        ),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Decide ties between actions in fractions.")
    ] = False,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the policy chosen by --then to a .csv or .parquet file, for use as a "
            "policy. A policy that depends on the points made so far is for the game with "
            "as=score.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show where optimal policies differ: ranges and second aims."""
    from rollwise.analysis.second_aims import ranges_in, second_aims
    from rollwise.answer.optimal_set import OptimalSet, ranges_against
    from rollwise.answer.references import Policies

    if save is not None:
        if not then:
            raise UsageError("--save goes with --then, which picks a policy")
        check_file("--save", save, ".csv", ".parquet")
    chosen = read_game(game, parameters)
    read = read_ties(ties, [*(then or ()), *(range_of or ())])
    with Progress() as progress:
        solution = kept.solve(
            chosen,
            method="exact" if exact else "strategy-iteration",
            max_states=max_states,
            progress=progress.listener,
        )
        progress("the optimal policies", 0, None)
        every = OptimalSet.of(solution)
        aims = second_aims(solution, then or (), ties=read)
        left = aims.policies if then else every
        found = ranges_in(left, solution, range_of or (), ties=read)
        worth = None
        if against is not None:
            worth = ranges_against(solution, Policies.of(solution).find(against))
    if save is not None:
        write_rows(aims.table(solution), save.suffix.lstrip("."), save)
    document = optimal_document(solution, every, aims, found)
    if against is not None and worth is not None:
        document["against"] = optimal_against_document(against, worth)
    needs = " (a policy with as=score)" if aims.policies.scores is not None else ""
    said = [] if save is None else [f"Saved to {save}{needs}."]
    show(json, lambda: document, lambda: _print_optimal(document, solution.graph), *said)
    against_seats = [seat for seat in document.get("against", {}).values() if seat != against]
    told = [document, *document["then"], *document["ranges"], *against_seats]
    unproved = any(one["error_bound"] is None for one in told)
    end_if(unproved, "not certified: not every bound was proved")


def read_ties(ties: str | None, aims: list[str]) -> str:
    """The value of --ties, an option of the aim ``win``."""
    from rollwise.analysis.contest import TIES

    if ties is None:
        return "shared"
    if ties not in TIES:
        raise UsageError(f"--ties is {ties!r}; it must be {', '.join(TIES)}")
    if not any(aim.split(":")[-1].strip() == "win" for aim in aims):
        raise UsageError("--ties goes with the aim win")
    return ties


def _print_optimal(document: dict[str, Any], graph: Any) -> None:
    start = ", ".join(f"{name}={value}" for name, value in document["start"].items())
    typer.echo(graph.title)
    name = graph.view.worth_name
    bound, draws = document["error_bound"], graph.has_draws
    for line in worth_lines(start, document["value"], bound, name=name, draws=draws):
        typer.echo(line)
    typer.echo(
        f"  several actions are equally good in {document['tied_states']:,} of the "
        f"{document['reached_states']:,} states reached by optimal play"
    )
    if document["tied_states"]:
        typer.echo(tell_loss(document["loss_bound"]))
    for aim in document["then"]:
        (worth,) = _written(aim["aim"])([aim["value"]], [aim["error_bound"]])
        told = f"{worth.number} ({worth.sure})"
        typer.echo(f"  then {aim['aim']}: {told if aim['error_bound'] is not None else UNPROVED}")
    print_ranges(document["ranges"], bool(document["then"]), document["loss_bound"])
    if "against" in document:
        _print_against(document["against"], graph)


def _written(quantity: str) -> Callable[..., list[Printed]]:
    """How the amounts of a quantity are written: ``win``, ``draw`` and ``score<=5`` in percent."""
    return percents if re.fullmatch(r"(\w+ )?(win|draw|score\W+\d+)", quantity) else column


def _print_against(told: dict[str, Any], graph: Any) -> None:
    """Print the worth of optimal policies against another one, from each seat."""
    written = column if graph.is_score else chances
    wins = graph.view.worth_name if graph.is_score else "wins"
    for seat in ("first", "second"):
        one = told[seat]
        ends = written([one["least"], one["most"]], [one["error_bound"]] * 2)
        (least, most), worst = in_common(ends)
        worth = f"{wins} from {least} to {most} ({worst.sure}{about_draws(graph.has_draws)})"
        worth = UNPROVED if one["error_bound"] is None else worth
        typer.echo(f"  against {told['policy']}: moving {seat}, {worth}")


def tell_loss(loss: float | None) -> str:
    """The line about the largest possible loss of policies counted as optimal."""
    if loss is None:
        return "  no bound on the loss of these policies was proved"
    if not loss:
        return "  all policies of such actions are optimal (exact)"
    return (
        f"  a policy that takes any of these actions loses at most {rounded_up(loss)} (certified)"
    )


def print_ranges(ranges: list[dict[str, Any]], after_aims: bool, loss: float | None = 0.0) -> None:
    """The least and the most of each quantity, a line each."""
    if ranges:
        which = "all optimal policies" if loss is not None else "policies of such actions"
        which = "the remaining policies" if after_aims else which
        typer.echo(f"  over {which}:")
    for one in ranges:
        ends = [one["least"], one["most"]]
        ends, worst = in_common(_written(one["name"])(ends, [one["error_bound"]] * 2))
        told = f"from {ends[0]} to {ends[1]} ({worst.sure})"
        typer.echo(f"    {one['name']}: {told if one['error_bound'] is not None else UNPROVED}")


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
        typer.Option("--state", metavar="STATE", help="The score still to come from this state."),
    ] = None,
    target: Annotated[
        int | None,
        typer.Option(
            "--target",
            metavar="SCORE",
            help="Also for a player who maximises the chance of this score, not the mean.",
        ),
    ] = None,
    then: ThenOption = None,
    range_of_all: Annotated[
        bool,
        typer.Option("--range", help="Also the least and the most over all optimal policies."),
    ] = False,
    ties: WinTiesOption = None,
    at_most: Annotated[
        int | None, typer.Option("--at-most", metavar="N", help="Also P(at most N).")
    ] = None,
    simulate: Annotated[
        int, typer.Option(min=0, max=10**9, metavar="GAMES", help="Simulate games beside it.")
    ] = 0,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the simulation; 1 unless given.")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Probabilities as fractions.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    json: JsonOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """Compute the distribution of the final score."""
    from rollwise.analysis.contest import distribution_of_chase
    from rollwise.analysis.distributions import distribution as distribution_of
    from rollwise.analysis.distributions import exact_distribution
    from rollwise.analysis.observed_scores import simulated_scores
    from rollwise.analysis.second_aims import score_ranges, second_aims
    from rollwise.derive.by_score import require_points
    from rollwise.graph.policies import ties_in_play

    form_of(None, csv=csv, json=json)
    if csv:
        refuse("doesn't go with --csv, which has a line for each score", at_most=at_most)
    if not simulate:
        refuse("goes with --simulate GAMES", seed=seed)
    seed = 1 if seed is None else seed
    chosen = read_game(game, parameters)
    policies = kept.policies(chosen)
    graph = policies.graph
    if count is None or graph.players != 1:
        require_points(graph)
    place = 0 if state is None else graph.find(read_state(state, chosen))
    told = partial(distribution_document, at_most=at_most)
    entries = []
    for reference in policy or ["optimal"]:
        with Progress() as progress:
            progress(f"the distribution under {reference}", 0, None)
            plan = policies.find(reference)
            found = distribution_of(graph, plan, state=place, count=count).trimmed()
        resting = ties_in_play(graph, plan, start=place)
        fractions = exact_distribution(graph, plan, count=count, state=place) if exact else None
        played = None
        if simulate:
            played = simulated_scores(
                graph, plan, found, count=count, games=simulate, seed=seed, state=place
            )
        entries.append(told(reference, found, resting, fractions=fractions, simulated=played))
    if target is not None:
        if count is not None or state is not None or simulate or exact:
            raise UsageError("--target goes with neither --count, --state, --simulate nor --exact")
        found, resting = distribution_of_chase(graph, target)
        entries.append(told(f"chase-{target}", found, resting))
    given = {"count": count, "state": state, "simulate": simulate or None, "exact": exact}
    wins = read_ties(ties, then or [])
    if then:
        refuse("doesn't go with --then, which is about final scores", **given)
        best = second_aims(policies, then, ties=wins)
        entries.append(told(best.name, best.distribution(), None))
    document = distributions_document(graph, place, count, entries)
    if range_of_all:
        refuse("doesn't go with --range, which is about final scores", csv=csv, **given)
        document["ranges"] = score_ranges_document(score_ranges(policies))
    if csv:
        _write_csv(entries)
    else:
        show(json, lambda: document, lambda: _print_distributions(document, at_most))


class Column(NamedTuple):
    """A column of the table: a policy's probabilities, or its frequencies in games."""

    head: str
    cells: list[float | str]
    bound: float  # of probabilities
    games: int  # where they were simulated


def _side_by_side(shown: list[dict[str, Any]]) -> tuple[list[int], list[Column]]:
    """The scores of all policies, and columns with a cell for each."""
    values = sorted({row["value"] for entry in shown for row in entry["rows"]})
    columns = []
    for entry in shown:
        for name in ("probability", "simulated", "fraction"):
            if not entry["rows"] or name not in entry["rows"][0]:
                continue
            head = entry["policy"] if name == "probability" else f"{entry['policy']} {name}"
            found = {row["value"]: row[name] for row in entry["rows"]}
            games = entry["simulated"]["games"] if name == "simulated" else 0
            cells = [found.get(value, 0.0) for value in values]
            columns.append(Column(head, cells, entry["error_bound"], games))
    return values, columns


def _write_csv(shown: list[dict[str, Any]]) -> None:
    values, columns = _side_by_side(shown)
    rows = zip(values, *(one.cells for one in columns), strict=True)
    lines = [["value", *(one.head for one in columns)], *([str(x) for x in row] for row in rows)]
    streams.write("\n".join(",".join(line) for line in lines) + "\n")


def _cells(one: Column) -> list[str]:
    """A column as text: as many digits as the bound earns, or as the games tell."""
    if one.games:
        digits = max(len(str(one.games)) - 2, 0)
        return [f"{100 * float(cell):.{digits}f} %" for cell in one.cells]
    if any(isinstance(cell, str) for cell in one.cells):
        return [str(cell) for cell in one.cells]
    numbers = [float(cell) for cell in one.cells]
    return [row.number for row in percents(numbers, [one.bound] * len(numbers))]


def _print_distributions(document: dict[str, Any], at_most: int | None) -> None:
    shown = document["policies"]
    values, columns = _side_by_side(shown)
    rows = zip(map(str, values), *(_cells(one) for one in columns), strict=True)
    show_table(("value", *(one.head for one in columns)), rows)
    for entry in shown:
        quantiles = ", ".join(f"{share}: {value}" for share, value in entry["quantiles"].items())
        mean = certified(entry["mean"], entry["mean_bound"])
        sd = certified(entry["sd"], entry["sd_bound"])
        found = [row["probability"] for row in entry["rows"]]
        _, worst = in_common(percents(found, [entry["error_bound"]] * len(found)))
        typer.echo(
            f"{entry['policy']}: mean {mean}, standard deviation {sd} "
            f"(certified, probabilities ± {worst.error}); quantiles {quantiles}"
        )
        tell_ties(entry["equally_good"])
        if "mean_fraction" in entry:
            typer.echo(f"  mean {entry['mean_fraction']} (exact)")
        if at_most is not None:
            told = entry["at_most"]
            (chance,) = percents([told["probability"]], [told["error_bound"]])
            typer.echo(f"  P(at most {at_most}) = {chance.number} ({chance.sure})")
        if "simulated" in entry:
            told = entry["simulated"]
            p_value = "" if told["p_value"] is None else f", chi-square p = {told['p_value']:.3f}"
            typer.echo(
                f"  {told['games']:,} simulated games (seed {told['seed']}): mean "
                f"{estimated(told['mean'], told['standard_error'])} (standard error){p_value}"
            )
    if "ranges" in document:
        _print_score_ranges(document["ranges"])


def _print_score_ranges(ranges: dict[str, Any]) -> None:
    """The least and the most of each probability over all optimal policies."""
    names, rows = ("least", "most", "at_most_least", "at_most_most"), ranges["rows"]
    bounds = [ranges["error_bound"]] * len(rows)
    cells = [in_common(percents([row[name] for row in rows], bounds)) for name in names]
    typer.echo("\nover all optimal policies, which may look at the points made so far:")
    values = (str(row["value"]) for row in rows)
    show_table(
        ("value", "at least", "at most", "or less: at least", "at most"),
        zip(values, *(numbers for numbers, _ in cells), strict=True),
    )
    _, worst = in_common([worst for _, worst in cells])
    spread = ranges["variance"]
    ends, off = in_common(column([spread["least"], spread["most"]], [spread["error_bound"]] * 2))
    typer.echo(f"  {worst.sure}; variance from {ends[0]} to {ends[1]} ({off.sure})")
    typer.echo(tell_loss(ranges["loss_bound"]))


@app.command("frontier")
def frontier(
    game: GameArgument,
    parameters: ParametersArgument = None,
    aim: Annotated[
        str,
        typer.Option(
            "--aim",
            metavar="AIM",
            help="The aim compared with the mean: win (a contest with an opponent who plays next "
            "and knows the score) or score<=N.",
        ),
    ] = "win",
    ties: WinTiesOption = None,
    tolerance: Annotated[
        float,
        typer.Option(min=0.0, help="Largest distance of the true frontier from the drawn one."),
    ] = 1e-4,
    json: JsonOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """Compute the best chance to win for each mean score."""
    from rollwise.analysis.frontier import frontier as find_frontier

    chosen = read_game(game, parameters)
    with Progress() as progress:
        solution = kept.policies(chosen).solution
        progress("the frontier", 0, None)
        found = find_frontier(solution, aim, ties=read_ties(ties, [aim]), tolerance=tolerance)
    document = frontier_document(solution.graph, found)
    show(json, lambda: document, lambda: _print_frontier(document))


def _print_frontier(document: dict[str, Any]) -> None:
    corners = document["corners"]
    means = column([c["mean"] for c in corners], [c["mean_bound"] for c in corners])
    values = percents([c["value"] for c in corners], [c["error_bound"] for c in corners])
    gained = [
        percent(abs(far["value"] - near["value"]) / abs(far["mean"] - near["mean"]))
        for near, far in pairwise(corners)
    ]
    rows = zip(
        [one.number for one in means], [one.number for one in values], ["", *gained], strict=False
    )
    show_table(("mean score", document["aim"], "gained a point of the mean"), rows)
    gap = f"{rounded_up(scaled(document['gap'], 100))} %"
    typer.echo(
        f"certified ± {in_common(means)[1].error} and ± {in_common(values)[1].error}; no policy "
        f"lies more than {gap} beyond the line between two neighbours (certified)"
    )
