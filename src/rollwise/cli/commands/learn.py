"""Policies found by search: ``rollwise learn``, by self-play, and ``thumb``, rules for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rollwise.cli import streams
from rollwise.cli.app import app
from rollwise.cli.common import (
    Workers,
    policies_of,
    read_game,
    refuse,
    refuse_with_seats,
    tell_of_cycles,
)
from rollwise.cli.options import GameArgument, ParametersArgument, WorkersOption, answered_apart
from rollwise.cli.printing import check_file, end_if, place_line, render, write_policy, write_rule
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.learned import (
    learned_document,
    learned_seats_document,
    thumb_document,
)
from rollwise.errors import UsageError
from rollwise.game import Game, has_many
from rollwise.machine.atomic_files import check_place

if TYPE_CHECKING:
    from rollwise.analysis.learning import Assessment
    from rollwise.analysis.thumb.frontier import Frontier
    from rollwise.answer.references import Policies
    from rollwise.graph import StateGraph
    from rollwise.learn import Learned, Learner


@app.command("learn")
def learn(
    game: GameArgument,
    parameters: ParametersArgument = None,
    games: int | None = None,
    explore: float | None = None,
    seed: int | None = None,
    method: str | None = None,
    workers: int | None = None,
    compare: int | None = None,
    against: str | None = None,
    save: Path | None = None,
    resume: Path | None = None,
    csv: bool = False,
) -> None:
    """Learn a game by self-play.

    Counts of past games set the probability of each action in the next game: at first nearly
    equal, later mostly the best action. The learned values are estimates.

    --games N      Games to play (needed); with --resume, all of them together.
    --explore M    A larger M explores longer; 100 unless given.
    --seed N       Random seed; a new one unless given.
    --method TEXT  counts (the default), monte-carlo or q-learning.
    --workers N    Threads that play in parallel; 1 unless given.
    --compare [K]  Compare the learned policy with the exact solution; K times along the way, at
                   doubling numbers of games.
    --against P    Learn to beat a policy, moving first in one game of two, instead of by self-play.
    --save FILE    Save the learner's counts, also after Ctrl-C (.npz); with --against, and of three
                   players or more, the policy (.csv, .parquet); of a game with hidden dice the
                   strategies, as `solve --save` does.
    --resume FILE  Continue from a file of --save.
    --csv          Print the table as CSV.
    """
    if csv and ASKED.json:
        raise UsageError("--csv and --json can't both be had")
    if csv:
        refuse("doesn't go with --csv, which has a line for each action", compare=compare)
    if against is not None:
        refuse("is for self-play, which --against isn't", compare=compare, resume=resume)
        check_file("--save", save, ".csv", ".parquet")
    games = _check_numbers(games, compare=compare)
    check_place(save)
    chosen = read_game(game, parameters)
    tell_of_cycles(chosen)
    others = {"explore": explore, "method": method, "workers": workers, "against": against}
    own = (games, seed, compare, save)
    if answered_apart(chosen, "learn", *own, **others, resume=resume, csv=csv):
        return
    if has_many(chosen):
        again = "begin anew with the same --seed and more --games: the first games are the same"
        refuse_with_seats(chosen, again, resume=resume)
        refuse_with_seats(
            chosen, compare=compare, method=method, workers=workers, against=against, csv=csv
        )
        _learn_seats(chosen, games, explore, seed, save)
        return
    if against is None:
        check_file("--save", save, ".npz")
    settings = {"explore": explore, "seed": seed, "method": method, "workers": workers}
    with Progress() as progress:
        from rollwise.analysis.learning import learn_against

        policies = policies_of(chosen, progress)
        if against is not None:
            beside = learn_against(policies, against, games, settings, progress)
            if save is not None:
                write_policy(policies.graph, beside.learned.policy, save)
            _tell(beside.learned, save, csv=csv, against=beside)
            return
        learner = _learner(policies.graph, games, resume, **settings)
        comparisons = _played(learner, games, policies, progress, save, compare)
    if save is not None:
        learner.save(save)
    curve = comparisons if compare is not None and compare > 1 else None
    final = comparisons[-1] if comparisons else None
    _tell(learner.result(), save, csv=csv, assessed=final, checkpoints=curve)


def _tell(learned: Learned, save: Path | None, *, csv: bool, **found: Any) -> None:
    """Print the learned table, and the other findings: see `learned_document`."""
    if csv:
        streams.write(learned.table().write_csv())
    else:
        render(learned_document(learned, **found), *place_line("Saved to", save))


def _played(
    learner: Learner,
    games: int,
    policies: Policies,
    progress: Progress,
    save: Path | None,
    compare: int | None,
) -> list[Assessment]:
    """Have a learner play. Return its assessments along the way and at the end, if requested."""
    from rollwise.analysis.learning import Reference, play_and_assess

    try:
        if compare is None:
            learner.play(games - learner.games, progress=progress)
            return []
        progress("solving", 0, None)
        reference = Reference.of(policies.solution)
        return play_and_assess(learner, games, compare, reference, progress=progress)
    except KeyboardInterrupt:
        _stopped(learner, save)
        raise


def _check_numbers(games: int | None, **others: int | None) -> int:
    """The requested number of games."""
    if games is None:
        raise UsageError("how many games? Give --games N")
    for name, number in {"games": games, **others}.items():
        if number is not None and number < 1:
            raise UsageError(f"--{name} is {number}; it must be at least 1")
    return games


def _learner(graph: StateGraph, games: int, resume: Path | None, **settings: Any) -> Learner:
    """A new learner, or the learner of a file."""
    from rollwise.learn import Learner

    given = {name: value for name, value in settings.items() if value is not None}
    if resume is None:
        return Learner(graph, **given)
    learner = Learner.load(resume, graph)
    for name, value in given.items():
        kept = getattr(learner, name)
        if kept != value:
            raise UsageError(f"{resume} was learned with --{name} {kept}, not {value}")
    if games <= learner.games:
        raise UsageError(
            f"{resume} holds {learner.games:,} games already; --games is how many it shall hold"
        )
    return learner


def _stopped(learner: Learner, save: Path | None) -> None:
    if save is None:
        typer.echo(
            f"rollwise: {learner.games:,} games were played and none kept (--save FILE keeps them)",
            err=True,
        )
    else:
        learner.save(save)
        typer.echo(
            f"rollwise: {save} holds {learner.games:,} games; --resume {save} goes on", err=True
        )


def _learn_seats(
    game: Game,
    games: int,
    explore: float | None,
    seed: int | None,
    save: Path | None,
) -> None:
    """Learn by self-play, and print the gain of each seat's best response to the learned policy.

    Every seat learns the same policy, as the mover sees the game, by Monte-Carlo control (Sutton
    and Barto 2020, section 5.4). Convergence to an equilibrium isn't guaranteed.
    """
    from rollwise.answer.evaluation import respond_to
    from rollwise.learn import Learner
    from rollwise.many.seats import build_seats

    if save is not None and save.suffix not in (".csv", ".parquet"):
        raise UsageError(
            f"--save {save}: with three players or more it is a table, in a .csv or .parquet file, "
            "and a policy for other commands"
        )
    check_place(save)
    with Progress() as progress:
        graph = build_seats(game, max_states=ASKED.max_states, progress=progress.listener)
        explore = 100.0 if explore is None else explore
        learner = Learner(graph, explore=explore, seed=seed, method="monte-carlo")
        learner.play(games, progress=progress.listener)
        learned = learner.result()
        response = respond_to(graph, learned.policy)
    if save is not None:
        write_policy(graph, learned.policy, save)
    render(learned_seats_document(learned, response), *place_line("Saved to", save))


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
    --evaluations N  Look until so many rules are scored; unless given, as many as typically take 30
                     seconds in each search, estimated from the size of the game.
    --seed N         Random seed.
    --searches K     Search K times with other seeds; print the best of all rules.
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
        policies, graph, found = _found(chosen, numbers, out, progress, **limits)
    written = [*write_rule(graph, found.rules, save), *_write(policies, found, out)]
    if not ASKED.json and python and found.rules:
        last = found.rules[-1]
        typer.echo(python_source(last.rule, graph, chosen, last.text))
    else:
        is_average = chosen.made_from.objective == "average"
        render(thumb_document(graph, found, is_average=is_average), *written)
    end_if(found.stopped, "stopped; these are the rules found so far", 130)


def _found(
    game: Game, numbers: int, out: Path | None, progress: Progress, **limits: Any
) -> tuple[Policies | None, StateGraph, Frontier]:
    """The policies where one graph holds the game, a graph, and the found rules."""
    from rollwise.analysis.thumb.frontier import find_rules
    from rollwise.analysis.thumb.turns import has_turns
    from rollwise.answer import kept

    policies = kept.policies_in_one_graph(
        game,
        other_way=has_turns(game),
        any_players=True,
        max_states=ASKED.max_states,
        progress=progress,
    )
    if policies is not None:
        found = find_rules(policies, numbers, progress=progress, **limits)
        return policies, policies.graph, found
    from rollwise.analysis.thumb.turn_search import find_turn_rules

    refuse("needs all positions at once, and these are too many", out=out)
    answer = kept.solve_by_layers(game, progress=progress)
    found, graph = find_turn_rules(game, answer, numbers, progress=progress, **limits)
    return None, graph, found


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
