"""``rollwise thumb``: short rules of thumb for people, and their losses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import Workers, read_game, refuse, refuse_with_seats
from rollwise.cli.options import GameArgument, ParametersArgument, WorkersOption
from rollwise.cli.printing import SECONDS, render, write_rule
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.policies import seats_thumb_document, thumb_document
from rollwise.errors import UsageError
from rollwise.game import Game, has_many

if TYPE_CHECKING:
    from rollwise.analysis.thumb.frontier import Frontier
    from rollwise.answer.references import Policies

NUMBERS, SEED = 4, 1
EvaluationsOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Look until so many rules are scored: the same rules every time; else for "
        f"{SECONDS:g} seconds in each search.",
    ),
]


@app.command("thumb")
def thumb(
    game: GameArgument,
    parameters: ParametersArgument = None,
    numbers: int = NUMBERS,
    within: float | None = None,
    evaluations: EvaluationsOption = None,
    seed: int = SEED,
    searches: int | None = None,
    workers: WorkersOption = None,
    save: Path | None = None,
    python: bool = False,
    out: Path | None = None,
) -> None:
    """Find rules of thumb, each with its certified cost.

    --numbers N    The most integers to remember.
    --within LOSS  Look for no more integers than this loss takes: win probability (0.01 is a
                   percentage point), or points.
    --seed N       Of the random numbers.
    --searches K   Search K times, each from a seed of its own; the best rules of all.
    --save FILE    Keep the last of the rules (.json), to be given as a policy to other commands.
    --python       Print the last of the rules as Python, and no table.
    --out FILE     Write a sheet to keep beside the table (.html, .pdf).
    """
    from rollwise.analysis.thumb.frontier import find_rules
    from rollwise.analysis.thumb.turn_search import find_turn_rules
    from rollwise.analysis.thumb.turns import has_turns
    from rollwise.answer import kept
    from rollwise.thumb.sentences import python_source

    _check(seed, save, out, python=python)
    team = check_searchers(searches, workers)
    chosen = read_game(game, parameters)
    if has_many(chosen):
        page = "`rollwise report GAME --rules N` writes a page with the best of N rules"
        refuse_with_seats(chosen, page, out=out)
        _find_seats(
            chosen,
            numbers=numbers,
            within=within,
            evaluations=evaluations,
            seed=seed,
            searches=searches,
            workers=team,
            save=save,
            python=python,
        )
        return
    limits: dict[str, Any] = {
        "within": within,
        "seconds": SECONDS,
        "evaluations": evaluations,
        "seed": seed,
        "searches": searches or 1,
    }
    searchers = team.processes()
    with Progress() as progress, searchers as limits["pool"]:
        policies = kept.policies_in_one_graph(
            chosen, other_way=has_turns(chosen), max_states=ASKED.max_states, progress=progress
        )
        if policies is None:
            refuse("needs all positions at once, and these are too many", out=out)
            answer = kept.solve_by_layers(chosen, progress=progress)
            found, graph = find_turn_rules(chosen, answer, numbers, progress=progress, **limits)
        else:
            graph = policies.graph
            found = find_rules(policies, numbers, progress=progress, **limits)
    written = [*write_rule(graph, found.rules, save), *_write(policies, found, out)]
    if not ASKED.json and python and found.rules:
        last = found.rules[-1]
        typer.echo(python_source(last.rule, graph, chosen, last.text))
    else:
        render(thumb_document(graph, found), *written)
    if found.stopped:
        typer.echo("rollwise: stopped; these are the rules found so far", err=True)
        raise typer.Exit(130)


def _check(seed: int, save: Path | None, out: Path | None, *, python: bool) -> None:
    """Refuse impossible combinations of options, before any work."""
    from rollwise.machine.atomic_files import check_place

    if python and ASKED.json:
        raise UsageError("--python prints Python, and --json a document: ask for one of them")
    if seed < 0:
        raise UsageError(f"--seed is {seed}; it can't be less than 0")
    if save is not None and save.suffix != ".json":
        raise UsageError(f"--save {save}: a rule of thumb is kept in a .json file")
    check_place(save)
    if out is not None:
        from rollwise.report.cheat_sheet import check_sheet

        check_sheet(out)


def check_searchers(searches: int | None, workers: str | None) -> Workers:
    """Refuse, before any work, workers without several searches."""
    if searches is None:
        because = "goes with --searches K: a search is the work of one, and K are that of several"
        refuse(because, workers=workers)
    elif searches < 1:
        raise UsageError(f"--searches is {searches}; it must be at least 1")
    return Workers.read(workers)


def _write(policies: Policies | None, found: Frontier, out: Path | None) -> list[str]:
    """Write the requested cheat sheet. Return the lines to print about it."""
    if out is None or policies is None or not found.rules:
        return []
    from rollwise.report.cheat_sheet import cheat_sheet, write_page

    write_page(cheat_sheet(policies, found).html, out)
    return [f"Written to {out}."]


def _find_seats(
    game: Game,
    *,
    numbers: int,
    within: float | None,
    evaluations: int | None,
    seed: int,
    searches: int | None,
    workers: Workers,
    save: Path | None,
    python: bool,
) -> None:
    """Find rules of thumb, and print the loss of each among equilibrium players."""
    from rollwise.analysis.thumb.seats import find_seats_rules
    from rollwise.answer import kept
    from rollwise.thumb.sentences import python_source

    with Progress() as progress, workers.processes() as pool:
        found = kept.answer(game, max_states=ASKED.max_states, progress=progress).equilibrium
        rules = find_seats_rules(
            found,
            numbers,
            within=within,
            seconds=SECONDS,
            evaluations=evaluations,
            seed=seed,
            searches=searches or 1,
            progress=progress,
            pool=pool,
        )
    written = write_rule(found.graph, rules.search.rules, save)
    if not ASKED.json and python and rules.rules:
        last = rules.rules[-1]
        typer.echo(python_source(last.of_search.rule, found.graph, game, last.text))
    else:
        render(seats_thumb_document(found.graph, rules), *written)
    if rules.search.stopped:
        typer.echo("rollwise: stopped; these are the rules found so far", err=True)
        raise typer.Exit(130)
