"""``rollwise optimal``: second aims, and what figures can be under any optimal policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    about_draws,
    print_json,
    print_worth,
    read_game,
)
from rollwise.cli.forms import ChaseOption, Form, TargetOption, as_played
from rollwise.cli.progress import Progress
from rollwise.documents.optimal_set import against_document, optimal_document
from rollwise.errors import UsageError
from rollwise.machine.atomic_files import check_place, write_atomically, write_text
from rollwise.numbers.printed import certified, chances, column, in_common, rounded_up

if TYPE_CHECKING:
    import polars as pl

UNPROVED = "no bound was proved, so it isn't known"
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
RangeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--range",
        metavar="QUANTITY",
        help=f"The least and the most of this under optimal policies: {AIMS}",
    ),
]
AgainstOption = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="POLICY",
        help="The least and the most that optimal policies are worth against this one.",
    ),
]
WinTiesOption = Annotated[
    str | None,
    typer.Option("--ties", help="Of the aim win: shared (the default), first or win-or-tie."),
]
ExactTiesOption = Annotated[
    bool, typer.Option("--exact", help="Tell in fractions which actions are equally good.")
]
SaveOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the policy that --then picks to a .csv or .parquet file, which is then a "
        "policy like others. Where it looks at the points made so far, they go with --with-score.",
    ),
]


@app.command("optimal")
def optimal(
    game: GameArgument,
    parameters: ParametersArgument = None,
    then: ThenOption = None,
    range_of: RangeOption = None,
    ties: WinTiesOption = None,
    against: AgainstOption = None,
    exact: ExactTiesOption = False,
    chase: ChaseOption = False,
    target: TargetOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    save: SaveOption = None,
    json: JsonOption = False,
) -> None:
    """Where optimal policies differ: second aims, and the range of a figure over all of them."""
    from rollwise.analysis.second_aims import ranges_in, second_aims
    from rollwise.answer import kept
    from rollwise.answer.optimal_set import OptimalSet, ranges_against
    from rollwise.answer.references import Policies

    if save is not None:
        if not then:
            raise UsageError("--save goes with --then, which picks a policy")
        if save.suffix not in (".csv", ".parquet"):
            raise UsageError(f"--save {save}: the name must end in .csv or .parquet")
        check_place(save)
    chosen = as_played(read_game(game, parameters), Form(chase, target), need_target=True)
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
        _save(aims.table(solution), save)
    document = optimal_document(solution, every, aims, found)
    if against is not None and worth is not None:
        document["against"] = against_document(against, worth)
    if json:
        print_json(document)
    else:
        _print(document, solution.graph)
        if save is not None:
            needs = " (a policy with --with-score)" if aims.policies.scores is not None else ""
            typer.echo(f"Saved to {save}{needs}.")
    against_seats = [seat for seat in document.get("against", {}).values() if seat != against]
    told = [document, *document["then"], *document["ranges"], *against_seats]
    if any(one["error_bound"] is None for one in told):
        typer.echo("rollwise: not certified: not every bound was proved", err=True)
        raise typer.Exit(1)


def _save(rows: pl.DataFrame, path: Path) -> None:
    if path.suffix == ".csv":
        write_text(path, rows.write_csv())
    else:
        from rollwise.machine.parquet_files import write_parquet

        write_atomically(path, lambda place: write_parquet(rows, place))


def read_ties(ties: str | None, aims: list[str]) -> str:
    """What --ties asks for, which only the aim ``win`` needs."""
    from rollwise.analysis.contest import TIES

    if ties is None:
        return "shared"
    if ties not in TIES:
        raise UsageError(f"--ties is {ties!r}; it must be {', '.join(TIES)}")
    if not any(aim.split(":")[-1].strip() == "win" for aim in aims):
        raise UsageError("--ties goes with the aim win")
    return ties


def _print(document: dict[str, Any], graph: Any) -> None:
    start = ", ".join(f"{name}={value}" for name, value in document["start"].items())
    typer.echo(graph.title)
    name = graph.view.worth_name
    print_worth(start, document["value"], document["error_bound"], name=name, draws=graph.has_draws)
    typer.echo(
        f"  several actions are equally good in {document['tied_states']:,} of the "
        f"{document['reached_states']:,} states that optimal play comes to"
    )
    if document["tied_states"]:
        typer.echo(tell_loss(document["loss_bound"]))
    for aim in document["then"]:
        worth = certified(aim["value"], aim["error_bound"])
        told = f"{worth.number} (certified ± {worth.bound})"
        typer.echo(f"  then {aim['aim']}: {told if aim['error_bound'] is not None else UNPROVED}")
    print_ranges(document["ranges"], bool(document["then"]), document["loss_bound"])
    if "against" in document:
        _print_against(document["against"], graph)


def _print_against(told: dict[str, Any], graph: Any) -> None:
    """What optimal policies win against another, from each seat."""
    written = column if graph.is_score else chances
    wins = graph.view.worth_name if graph.is_score else "wins with probability"
    for seat in ("first", "second"):
        one = told[seat]
        ends = written([one["least"], one["most"]], [one["error_bound"]] * 2)
        least, most = in_common(ends)[0]
        worth = (
            f"{wins} from {least} to {most} "
            f"(certified ± {in_common(ends)[1]}{about_draws(graph.has_draws)})"
        )
        worth = UNPROVED if one["error_bound"] is None else worth
        typer.echo(f"  against {told['policy']}: moving {seat}, {worth}")


def tell_loss(loss: float | None) -> str:
    """How far the policies that are counted as optimal can be off the best."""
    if loss is None:
        return "  nothing is proved of what these policies can lose"
    if not loss:
        return "  all policies that take such actions are optimal (exact)"
    return (
        f"  a policy that takes any of these actions loses at most {rounded_up(loss)} (certified)"
    )


def print_ranges(ranges: list[dict[str, Any]], after_aims: bool, loss: float | None = 0.0) -> None:
    """The least and the most of each quantity, a line each."""
    if ranges:
        which = "all optimal policies" if loss is not None else "policies of such actions"
        which = "the policies that are left" if after_aims else which
        typer.echo(f"  over {which}:")
    for one in ranges:
        ends, bound = in_common(column([one["least"], one["most"]], [one["error_bound"]] * 2))
        told = f"from {ends[0]} to {ends[1]} (certified ± {bound})"
        typer.echo(f"    {one['name']}: {told if one['error_bound'] is not None else UNPROVED}")
