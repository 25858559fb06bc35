"""``rollwise thumb``: short rules of thumb for people, and their losses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import Workers, read_game, refuse, refuse_with_seats, tell_of_cycles
from rollwise.cli.options import GameArgument, ParametersArgument, WorkersOption
from rollwise.cli.printing import end_if, render, write_rule
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.learned import seats_thumb_document, thumb_document
from rollwise.errors import UsageError
from rollwise.game import Game, has_many

if TYPE_CHECKING:
    from rollwise.analysis.thumb.frontier import Frontier
    from rollwise.answer.references import Policies
    from rollwise.graph import StateGraph

NUMBERS, SECONDS, SEED = 4, 30.0, 1


@app.command("thumb")
def thumb(
    game: GameArgument,
    parameters: ParametersArgument = None,
    numbers: int = NUMBERS,
    within: float | None = None,
    evaluations: int | None = None,
    seed: int = SEED,
    searches: int | None = None,
    workers: WorkersOption = None,
    save: Path | None = None,
    python: bool = False,
    out: Path | None = None,
) -> None:
    """Find rules of thumb, each with its certified cost.

    --numbers N      The most integers to remember.
    --within LOSS    Look for no more integers than this loss takes: win probability (0.01 is a
                     percentage point), or points.
    --evaluations N  Look until so many rules are scored: the same rules every time; else for 30
                     seconds in each search.
    --seed N         Of the random numbers.
    --searches K     Search K times, each from a seed of its own; the best rules of all.
    --save FILE      Keep the last of the rules (.json), to be given as a policy to other commands.
    --python         Print the last of the rules as Python, and no table.
    --out FILE       Write a sheet to keep beside the table (.html, .pdf).
    """
    from rollwise.thumb.sentences import python_source

    _check(seed, save, out, python=python)
    team = check_searchers(searches, workers)
    chosen = read_game(game, parameters)
    tell_of_cycles(chosen)
    if has_many(chosen):
        page = "`rollwise report GAME --rules N` writes a page with the best of N rules"
        refuse_with_seats(chosen, page, out=out)
    limits: dict[str, Any] = {
        "within": within,
        "seconds": SECONDS,
        "evaluations": evaluations,
        "seed": seed,
        "searches": searches or 1,
    }
    with Progress() as progress, team.processes() as limits["pool"]:
        policies, graph, found, search = _found(chosen, numbers, out, progress, **limits)
    written = [*write_rule(graph, search.rules, save), *_write(policies, search, out)]
    if not ASKED.json and python and search.rules:
        rule, text = search.rules[-1].rule, found.rules[-1].text
        typer.echo(python_source(rule, graph, chosen, text))
    else:
        if has_many(chosen):
            document = seats_thumb_document(graph, found)
        else:
            is_average = chosen.made_from.objective == "average"
            document = thumb_document(graph, found, is_average=is_average)
        render(document, *written)
    end_if(search.stopped, "stopped; these are the rules found so far", 130)


def _found(
    game: Game, numbers: int, out: Path | None, progress: Progress, **limits: Any
) -> tuple[Policies | None, StateGraph, Any, Frontier]:
    """The policies where one graph holds the game, a graph, the found rules, and their search."""
    from rollwise.analysis.thumb.frontier import find_rules
    from rollwise.analysis.thumb.turns import has_turns
    from rollwise.answer import kept

    if has_many(game):
        from rollwise.analysis.thumb.frontier import find_seats_rules

        profile = kept.answer(game, max_states=ASKED.max_states, progress=progress).equilibrium
        rules = find_seats_rules(profile, numbers, progress=progress, **limits)
        return None, profile.graph, rules, rules.search
    policies = kept.policies_in_one_graph(
        game, other_way=has_turns(game), max_states=ASKED.max_states, progress=progress
    )
    if policies is not None:
        found = find_rules(policies, numbers, progress=progress, **limits)
        return policies, policies.graph, found, found
    from rollwise.analysis.thumb.turn_search import find_turn_rules

    refuse("needs all positions at once, and these are too many", out=out)
    answer = kept.solve_by_layers(game, progress=progress)
    found, graph = find_turn_rules(game, answer, numbers, progress=progress, **limits)
    return None, graph, found, found


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
