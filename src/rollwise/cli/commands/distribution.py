"""``rollwise distribution``: how likely each final score is, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rollwise.cli import streams
from rollwise.cli.app import app
from rollwise.cli.commands.optimal import ThenOption, WinTiesOption, read_ties, tell_loss
from rollwise.cli.common import (
    POLICIES,
    GameArgument,
    JsonOption,
    NoCacheOption,
    ParametersArgument,
    print_json,
    print_table,
    read_game,
    read_state,
    refuse,
    tell_ties,
)
from rollwise.cli.progress import Progress
from rollwise.documents.optimal_set import score_ranges_document
from rollwise.documents.scores import distribution_document, distributions_document
from rollwise.errors import UsageError
from rollwise.numbers.printed import certified, column, estimated, in_common

if TYPE_CHECKING:
    from rollwise.answer.references import Policies


PoliciesOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="POLICY",
        help=f"{POLICIES} optimal unless given; give it again for several side by side.",
    ),
]
CountOption = Annotated[
    str | None,
    typer.Option(metavar="ACTION", help="How often this action is taken, not the score."),
]
StateOption = Annotated[
    str | None,
    typer.Option("--state", metavar="STATE", help="What is still to come from this state."),
]
TargetOption = Annotated[
    int | None,
    typer.Option(
        "--target",
        metavar="SCORE",
        help="Also for who plays to reach this score, and not for the mean.",
    ),
]
RangeOption = Annotated[
    bool,
    typer.Option("--range", help="Also the least and the most over all optimal policies."),
]
AtMostOption = Annotated[
    int | None, typer.Option("--at-most", metavar="N", help="Also P(at most N).")
]
SimulateOption = Annotated[
    int, typer.Option(min=0, max=10**9, metavar="GAMES", help="Simulate games beside it.")
]
SeedOption = Annotated[
    int | None, typer.Option(min=0, help="Seed of the simulation; 1 unless given.")
]
ExactOption = Annotated[bool, typer.Option("--exact", help="Probabilities as fractions.")]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")]


@app.command("distribution")
def distribution(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policy: PoliciesOption = None,
    count: CountOption = None,
    state: StateOption = None,
    target: TargetOption = None,
    then: ThenOption = None,
    range_of_all: RangeOption = False,
    ties: WinTiesOption = None,
    at_most: AtMostOption = None,
    simulate: SimulateOption = 0,
    seed: SeedOption = None,
    exact: ExactOption = False,
    csv: CsvOption = False,
    json: JsonOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """The distribution of a solitaire game's final score under a policy, without simulating."""
    from rollwise.analysis.contest import distribution_of_chase
    from rollwise.analysis.distributions import distribution as distribution_of
    from rollwise.analysis.distributions import exact_distribution
    from rollwise.analysis.observed_scores import simulated_scores
    from rollwise.analysis.second_aims import score_ranges
    from rollwise.answer import kept
    from rollwise.derive.by_score import require_points
    from rollwise.graph.policies import ties_in_play

    if csv and json:
        raise UsageError("--csv and --json can't both be had")
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
        entries.append(
            distribution_document(
                reference, found, resting, at_most=at_most, fractions=fractions, simulated=played
            )
        )
    if target is not None:
        if count is not None or state is not None or simulate or exact:
            raise UsageError("--target goes with neither --count, --state, --simulate nor --exact")
        found, resting = distribution_of_chase(graph, target)
        entries.append(distribution_document(f"chase-{target}", found, resting, at_most=at_most))
    given = {"count": count, "state": state, "simulate": simulate or None, "exact": exact}
    wins = read_ties(ties, then or [])
    if then:
        refuse("doesn't go with --then, which is about final scores", **given)
        entries.append(_second_aims(policies, then, wins, at_most))
    document = distributions_document(graph, place, count, entries)
    if range_of_all:
        refuse("doesn't go with --range, which is about final scores", csv=csv, **given)
        document["ranges"] = score_ranges_document(score_ranges(policies))
    if json:
        print_json(document)
    elif csv:
        _write_csv(entries)
    else:
        _print(document, at_most)
        _print_ranges(document)


def _second_aims(policies: Policies, then: list[str], ties: str, at_most: int | None) -> Any:
    """The distribution under an optimal policy that is best for second aims."""
    from rollwise.analysis.second_aims import second_aims

    found = second_aims(policies, then, ties=ties)
    return distribution_document(found.name, found.distribution(), None, at_most=at_most)


class Column(NamedTuple):
    """What stands below each other: a policy's probabilities, or how often it was so in games."""

    head: str
    cells: list[float | str]
    bound: float  # of probabilities
    games: int  # where they were simulated


def _side_by_side(shown: list[dict[str, Any]]) -> tuple[list[int], list[Column]]:
    """The numbers that any policy gives, and columns with a cell for each."""
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


def _probabilities(entry: dict[str, Any]) -> tuple[list[float], list[float]]:
    found = [row["probability"] for row in entry["rows"]]
    return found, [entry["error_bound"]] * len(found)


def _cells(one: Column) -> list[str]:
    """A column as text: as many digits as the bound earns, or as the games tell."""
    if one.games:
        digits = len(str(one.games))
        return [f"{cell:.{digits}f}" for cell in one.cells]
    if any(isinstance(cell, str) for cell in one.cells):
        return [str(cell) for cell in one.cells]
    numbers = [float(cell) for cell in one.cells]
    return [row.number for row in column(numbers, [one.bound] * len(numbers))]


def _print(document: dict[str, Any], at_most: int | None) -> None:
    from rich.table import Table

    shown = document["policies"]
    values, columns = _side_by_side(shown)
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("value", *(one.head for one in columns)):
        table.add_column(head, justify="right")
    for row in zip(map(str, values), *(_cells(one) for one in columns), strict=True):
        table.add_row(*row)
    print_table(table)
    for entry in shown:
        quantiles = ", ".join(f"{share}: {value}" for share, value in entry["quantiles"].items())
        mean = certified(entry["mean"], entry["mean_bound"])
        sd = certified(entry["sd"], entry["sd_bound"])
        _, bound = in_common(column(*_probabilities(entry)))
        typer.echo(
            f"{entry['policy']}: mean {mean}, standard deviation {sd} "
            f"(certified, probabilities ± {bound}); quantiles {quantiles}"
        )
        tell_ties(entry["equally_good"])
        if "mean_fraction" in entry:
            typer.echo(f"  mean {entry['mean_fraction']} (exact)")
        if at_most is not None:
            told = entry["at_most"]
            typer.echo(
                f"  P(at most {at_most}) = {certified(told['probability'], told['error_bound'])}"
            )
        if "simulated" in entry:
            told = entry["simulated"]
            p_value = "" if told["p_value"] is None else f", chi-square p = {told['p_value']:.3f}"
            typer.echo(
                f"  {told['games']:,} simulated games (seed {told['seed']}): mean "
                f"{estimated(told['mean'], told['standard_error'])} (standard error){p_value}"
            )


def _print_ranges(document: dict[str, Any]) -> None:
    """The least and the most of each probability over all optimal policies."""
    from rich.table import Table

    ranges = document.get("ranges")
    if ranges is None:
        return
    names = ("least", "most", "at_most_least", "at_most_most")
    rows = ranges["rows"]
    cells = []
    for name in names:
        bounds = [ranges["error_bound"]] * len(rows)
        cells.append(column([row[name] for row in rows], bounds))
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("value", "at least", "at most", "or less: at least", "at most"):
        table.add_column(head, justify="right")
    for row, *found in zip(rows, *cells, strict=True):
        table.add_row(str(row["value"]), *(cell.number for cell in found))
    typer.echo("\nover all optimal policies, which may look at the points made so far:")
    print_table(table)
    bound = max((in_common(one)[1] for one in cells), key=float)
    spread = ranges["variance"]
    ends = column([spread["least"], spread["most"]], [spread["error_bound"]] * 2)
    typer.echo(
        f"  certified ± {bound}; variance from {ends[0].number} to {ends[1].number} "
        f"(certified ± {in_common(ends)[1]})"
    )
    typer.echo(tell_loss(ranges["loss_bound"]))
