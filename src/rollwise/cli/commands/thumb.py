"""``rollwise thumb``: short rules of thumb for people, and their losses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    check_workers,
    processes_or,
    read_game,
    refuse,
    refuse_with_seats,
)
from rollwise.cli.options import (
    ClusterOption,
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    ProcessesOption,
)
from rollwise.cli.printing import (
    SECONDS,
    print_json,
    print_table,
    seeds_text,
    tell_time,
    write_rule,
)
from rollwise.cli.progress import Progress
from rollwise.documents.policies import seats_thumb_document, thumb_document
from rollwise.errors import UsageError
from rollwise.game import Game, has_many
from rollwise.numbers.printed import rounded_up

if TYPE_CHECKING:
    from rollwise.analysis.thumb.frontier import Frontier
    from rollwise.analysis.thumb.seats import SeatsFrontier
    from rollwise.answer.references import Policies
    from rollwise.graph import StateGraph
    from rollwise.many.equilibrium import Equilibrium

NUMBERS, SEED = 4, 1
NumbersOption = Annotated[int, typer.Option(metavar="N", help="The most integers to remember.")]
WithinOption = Annotated[
    float | None,
    typer.Option(
        metavar="LOSS",
        help="Look for no more integers than this loss takes: win probability (0.01 is a "
        "percentage point), or points.",
    ),
]
SecondsOption = Annotated[
    float | None,
    typer.Option(metavar="T", help=f"How long to look, in each search; {SECONDS:g}."),
]
EvaluationsOption = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Look until so many rules are scored: the same rules every time."
    ),
]
SearchesOption = Annotated[
    int | None,
    typer.Option(
        metavar="K", help="Search K times, each from a seed of its own; the best rules of all."
    ),
]
PythonOption = Annotated[
    bool, typer.Option("--python", help="Print the last of the rules as Python, and no table.")
]
OutOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a sheet to keep beside the table (.html, .pdf)."),
]
SaveOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keep the last of the rules (.json), to be given as a policy to other commands.",
    ),
]


@app.command("thumb")
def thumb(
    game: GameArgument,
    parameters: ParametersArgument = None,
    numbers: NumbersOption = NUMBERS,
    within: WithinOption = None,
    seconds: SecondsOption = None,
    evaluations: EvaluationsOption = None,
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = SEED,
    searches: SearchesOption = None,
    workers: ProcessesOption = None,
    cluster: ClusterOption = None,
    save: SaveOption = None,
    python: PythonOption = False,
    out: OutOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Find rules of thumb, each with its certified cost."""
    from rollwise.analysis.thumb.frontier import find_rules
    from rollwise.analysis.thumb.turn_search import find_turn_rules
    from rollwise.analysis.thumb.turns import has_turns
    from rollwise.answer import kept
    from rollwise.thumb.sentences import python_source

    if evaluations is not None:
        refuse("can't be had with --evaluations", seconds=seconds)
    _check(seed, save, out, python=python, json=json)
    check_searchers(searches, workers, cluster)
    chosen = read_game(game, parameters)
    if has_many(chosen):
        page = "`rollwise report GAME --rules N` writes a page with the best of N rules"
        refuse_with_seats(chosen, page, out=out)
        _find_seats(
            chosen,
            numbers=numbers,
            within=within,
            seconds=seconds,
            evaluations=evaluations,
            seed=seed,
            searches=searches,
            workers=workers,
            cluster=cluster,
            save=save,
            python=python,
            max_states=max_states,
            json=json,
        )
        return
    limits: dict[str, Any] = {
        "within": within,
        "seconds": SECONDS if seconds is None else seconds,
        "evaluations": evaluations,
        "seed": seed,
        "searches": searches or 1,
    }
    searchers = processes_or(cluster, workers)
    with Progress() as progress, searchers as limits["pool"]:
        policies = kept.policies_in_one_graph(
            chosen, other_way=has_turns(chosen), max_states=max_states, progress=progress
        )
        if policies is None:
            refuse("needs all positions at once, and these are too many", out=out)
            answer = kept.solve_by_layers(chosen, progress=progress)
            found, graph = find_turn_rules(chosen, answer, numbers, progress=progress, **limits)
        else:
            graph = policies.graph
            found = find_rules(policies, numbers, progress=progress, **limits)
    written = [*write_rule(graph, found.rules, save), *_write(policies, found, out)]
    if json:
        print_json(thumb_document(graph, found))
    elif python and found.rules:
        last = found.rules[-1]
        typer.echo(python_source(last.rule, graph, chosen, last.text))
    else:
        _print(graph, found)
        for line in written:
            typer.echo(line)
    if found.stopped:
        typer.echo("rollwise: stopped; these are the rules found so far", err=True)
        raise typer.Exit(130)


def _check(seed: int, save: Path | None, out: Path | None, *, python: bool, json: bool) -> None:
    """Refuse impossible combinations of options, before any work."""
    from rollwise.machine.atomic_files import check_place

    if python and json:
        raise UsageError("--python prints Python, and --json a document: ask for one of them")
    if seed < 0:
        raise UsageError(f"--seed is {seed}; it can't be less than 0")
    if save is not None and save.suffix != ".json":
        raise UsageError(f"--save {save}: a rule of thumb is kept in a .json file")
    check_place(save)
    if out is not None:
        from rollwise.report.cheat_sheet import check_sheet

        check_sheet(out)


def check_searchers(searches: int | None, workers: int | None, cluster: str | None) -> None:
    """Refuse, before any work, workers without several searches."""
    if searches is None:
        because = "goes with --searches K: a search is the work of one, and K are that of several"
        refuse(because, workers=workers, cluster=cluster)
    elif searches < 1:
        raise UsageError(f"--searches is {searches}; it must be at least 1")
    check_workers(workers, cluster)


def _write(policies: Policies | None, found: Frontier, out: Path | None) -> list[str]:
    """Write the requested cheat sheet. Return the lines to print about it."""
    if out is None or policies is None or not found.rules:
        return []
    from rollwise.report.cheat_sheet import cheat_sheet, write_page

    write_page(cheat_sheet(policies, found).html, out)
    return [f"Written to {out}."]


def _print(graph: StateGraph, found: Frontier) -> None:
    from rich.table import Table

    from rollwise.analysis.losses import loss_text, spread_words

    scale, unit = (1.0, "points") if graph.is_score else (100.0, "percentage points")
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("integers", justify="right")
    table.add_column("loss", justify="right")
    if graph.players == 2:
        table.add_column("first", justify="right")
        table.add_column("second", justify="right")
        table.add_column("exploitability", justify="right")
    table.add_column("rule", overflow="fold")
    for rule in found.rules:
        cells = [loss_text(rule.loss, rule.spread, scale)]
        if rule.loss_second is not None:
            cells += [
                loss_text(rule.loss_first, rule.spread, scale, "first"),
                loss_text(rule.loss_second, rule.spread, scale, "second"),
                f"{rule.exploitability:z.4f}",
            ]
        table.add_row(str(rule.numbers), *cells, rule.text)
    print_table(table)
    if not found.rules:
        typer.echo(f"none of the {found.scored:,} scored rules ends every play")
        return
    worst = max(rule.error_bound for rule in found.rules)
    seats = ", on average over the seats" if graph.players == 2 else ""
    typer.echo(
        f"losses against optimal play in {unit}{seats} (certified ± {rounded_up(scale * worst)}); "
        f"the best of {found.scored:,} scored rules ({seeds_text(found)}), and perhaps "
        "not the best there are"
    )
    for words in spread_words(rule.spread for rule in found.rules):
        typer.echo(words)
    tell_time(found)


def _find_seats(
    game: Game,
    *,
    numbers: int,
    within: float | None,
    seconds: float | None,
    evaluations: int | None,
    seed: int,
    searches: int | None,
    workers: int | None,
    cluster: str | None,
    save: Path | None,
    python: bool,
    max_states: int | None,
    json: bool,
) -> None:
    """Find rules of thumb, and print the loss of each among equilibrium players."""
    from rollwise.analysis.thumb.seats import find_seats_rules
    from rollwise.answer import kept
    from rollwise.thumb.sentences import python_source

    with Progress() as progress, processes_or(cluster, workers) as pool:
        found = kept.answer(game, max_states=max_states, progress=progress).equilibrium
        rules = find_seats_rules(
            found,
            numbers,
            within=within,
            seconds=SECONDS if seconds is None else seconds,
            evaluations=evaluations,
            seed=seed,
            searches=searches or 1,
            progress=progress,
            pool=pool,
        )
    written = write_rule(found.graph, rules.search.rules, save)
    if json:
        print_json(seats_thumb_document(found.graph, rules))
    elif python and rules.rules:
        last = rules.rules[-1]
        typer.echo(python_source(last.of_search.rule, found.graph, game, last.text))
    else:
        _print_seats(found, rules)
        tell_time(rules.search)
        for line in written:
            typer.echo(line)
    if rules.search.stopped:
        typer.echo("rollwise: stopped; these are the rules found so far", err=True)
        raise typer.Exit(130)


def _print_seats(found: Equilibrium, rules: SeatsFrontier) -> None:
    from rich.table import Table

    from rollwise.many.seats import has_payoffs

    if not rules.rules:
        typer.echo("no rule was found with which every play ends")
        return
    scale, unit = (1.0, "points") if has_payoffs(found.graph) else (100.0, "percentage points")
    shown = Table(box=None, padding=(0, 2, 0, 0))
    seats = [f"seat {seat}" for seat in range(1, found.graph.players + 1)]
    for name in ("integers", "loss", *seats, "gain against it"):
        shown.add_column(name, justify="right")
    shown.add_column("rule", overflow="fold")
    for rule in rules.rules:
        cells = [f"{scale * x:z.4f}" for x in (rule.loss, *rule.losses, rule.gain)]
        shown.add_row(str(rule.of_search.numbers), *cells, rule.text)
    print_table(shown)
    worst = max(max(rule.error_bound, rule.gain_bound) for rule in rules.rules)
    typer.echo(
        f"losses in {unit} (certified ± {rounded_up(scale * worst)}) where all others play the "
        "equilibrium: on average over the seats, and in each; the gain is that of a best response "
        f"where all play the rule. These are the best of {rules.search.scored:,} scored rules "
        f"({seeds_text(rules.search)}), and perhaps not the best there are"
    )
