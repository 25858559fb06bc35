"""For designers of games: ``rollwise balance``, ``diff``, ``handicap`` and ``tune``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.answer import kept
from rollwise.cli.app import app
from rollwise.cli.common import check_workers, processes_or, read_game, read_values
from rollwise.cli.options import (
    POLICIES,
    ClusterOption,
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    ProcessesOption,
)
from rollwise.cli.printing import end_if, place_line, print_table, show, show_table
from rollwise.cli.progress import Progress
from rollwise.documents.design import (
    SEATS,
    balance_document,
    difference_document,
    handicap_document,
)
from rollwise.errors import ParameterError, UsageError
from rollwise.games import create, find

if TYPE_CHECKING:
    from rollwise.analysis.balance import Balance
    from rollwise.analysis.difference import Difference
    from rollwise.analysis.handicap import Handicap
    from rollwise.analysis.played import Played
    from rollwise.analysis.tuning import Tuning
    from rollwise.answer.solution import Solution
    from rollwise.game import Game


SURE, RULES, SEED = 0.9, 300, 1


@app.command("balance")
def balance(
    game: GameArgument,
    parameters: ParametersArgument = None,
    sure: Annotated[
        float,
        typer.Option(metavar="P", help="Win probability from which on a game counts as decided."),
    ] = SURE,
    evaluations: Annotated[
        int, typer.Option(metavar="N", help="How many rules of thumb are scored; 0 for none.")
    ] = RULES,
    simulate: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Play N games twice and print their averages beside each figure."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the search and of the simulated games.", min=0)
    ] = SEED,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page for people, with pictures (.html, .pdf)."),
    ] = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Measure edge, turns, drama, decisions, luck and skill."""
    from rollwise.analysis.balance import balance as find_balance
    from rollwise.analysis.played import check_games, play_beside

    check_games(simulate)
    if out is not None:
        from rollwise.report.cheat_sheet import check_sheet

        check_sheet(out)
    chosen = read_game(game, parameters)
    with Progress() as progress:
        policies = kept.policies(chosen, max_states=max_states, progress=progress)
        found = find_balance(
            policies, sure=sure, evaluations=evaluations, seed=seed, progress=progress
        )
        played = None
        if simulate is not None:
            played = play_beside(policies, found, sure, simulate, seed, progress)
    if out is not None:
        from rollwise.report.balance import balance_page
        from rollwise.report.cheat_sheet import write_page

        write_page(balance_page(found, played, sure).html, out)
    show(
        json,
        lambda: balance_document(found, played),
        lambda: _print_balance(found, played, sure),
        *place_line("Written to", out),
    )
    for name in () if played is None else played.disagreements():
        typer.echo(f"rollwise: {name} is further off than chance explains", err=True)


def _print_balance(found: Balance, played: Played | None, sure: float) -> None:
    from rich.table import Table

    from rollwise.report import balance as words

    graph = found.solution.graph
    typer.echo(f"{graph.title}: {graph.n_positions:,} positions")
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for line in words.lines_of(found, sure):
        table.add_row(*line)
    print_table(table)
    typer.echo(words.certainty(found))
    tables = [words.options_table(found), *([] if played is None else [words.played_table(played)])]
    for listed in filter(None, tables):
        typer.echo()
        heads = listed.heads
        show_table(heads, listed.rows, left=heads[:1], fold=heads)
        typer.echo("\n".join(listed.notes), nl=bool(listed.notes))


LIMIT = 10


@app.command("diff")
def diff(
    game: GameArgument,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME] [NAME=OLD NAME=NEW] [NAME=VALUE]...",
            help="Another game; a parameter twice, as it was and as it is to be; others once.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", help="How many positions are listed, the dearest first.")
    ] = LIMIT,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw the losses of the old strategy (.html, .svg, .png)."
        ),
    ] = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Compare two versions of the rules."""
    from rollwise.analysis.difference import difference

    if limit < 0:
        raise UsageError(f"--limit is {limit}; it can't be less than 0")
    old, new = read_pair(game, words or [])
    if out is not None:
        from rollwise.plot import require_plotly
        from rollwise.plot.pages import check_target

        require_plotly()
        check_target(out)
    with Progress() as progress:
        answers = [kept.solve(one, max_states=max_states, progress=progress) for one in (old, new)]
        found = difference(*answers)
    if out is not None:
        from rollwise.plot import plot
        from rollwise.plot.pages import write_figure

        figure = plot(found.new, "regret", policy=found.carried)
        write_figure(figure, out, f"{found.new.graph.game}: losses of the old strategy")
    show(
        json,
        lambda: difference_document(found, limit),
        lambda: _print_diff(found, limit),
        *place_line("Written to", out),
    )


def read_pair(reference: str, words: list[str]) -> tuple[Game, Game]:
    """Both games of the command line.

    Raises
    ------
    ParameterError, UsageError
        There aren't two games, or a parameter has three values.
    """
    others = [word for word in words if "=" not in word]
    if len(others) > 1:
        raise ParameterError(f"{others[1]!r} isn't a parameter; write name=value")
    old, new = list[str](), list[str]()
    for word in words:
        name, equals, _ = word.partition("=")
        if not equals:
            continue
        given = [text for text in words if text.startswith(f"{name}=")]
        if len(given) > 2:
            raise ParameterError(f"the parameter {name!r} is given {len(given)} times, not twice")
        if word is given[0]:
            old.append(word)
        if word is given[-1]:
            new.append(word)
    kinds = find(reference), find(others[0] if others else reference)
    first, second = (
        create(kind, read_values(values)) for kind, values in zip(kinds, (old, new), strict=True)
    )
    if not others and len(old) == len({*old, *new}):
        raise UsageError(
            "no change given: give a parameter twice, as in `rollwise diff pig sides=6 sides=8`, "
            "or two games"
        )
    return first, second


def _print_diff(found: Difference, limit: int) -> None:
    from rollwise.analysis.losses import spread_words
    from rollwise.numbers.printed import POINTS, column, in_common, percents

    graph = found.new.graph
    scale, unit = (1.0, "points") if graph.is_score else (100.0, POINTS)
    typer.echo(f"from {_answer_text(found.old)}")
    typer.echo(f"to   {_answer_text(found.new)}")
    share = f" ({len(found.changed) / found.in_both:.1%})" if found.in_both else ""
    typer.echo(
        f"in {found.in_both:,} states both have a choice; the old best action no longer is best in "
        f"{len(found.changed):,}{share}, of which play comes to {found.in_play:,}"
    )
    spread = found.loss.spread
    ends: tuple[float, ...] = (found.loss.loss,)
    bound = found.loss.error_bound
    if spread is not None and spread.is_known:
        ends, bound = spread.mean, spread.error_bound
    bounds = [bound] * len(ends)
    rows = column(ends, bounds) if graph.is_score else percents(ends, bounds, unit=POINTS)
    lost, worst = in_common(rows)
    number = " to ".join(one.removesuffix(f" {POINTS}") for one in lost)
    seats = " on average over the seats" if graph.players == 2 else ""
    typer.echo(
        f"the old strategy loses {number} {unit}{seats} ({worst.sure}); "
        "with optimal play where the old game lacks the state or the action"
    )
    for line in spread_words([spread]):
        typer.echo(line)
    if not limit or not found.in_play:
        return
    listed = found.changed[: min(limit, found.in_play)]
    words = ("state", "was best", "is best")
    show_table(
        (*words, f"costs ({unit})"),
        (
            (
                graph.state_text(int(state)),
                found.old.graph.vocabulary.text(int(graph.action_label[before])),
                graph.vocabulary.text(int(graph.action_label[after])),
                f"{scale * cost:z.4f}",
            )
            for state, before, after, cost in zip(
                listed, found.before, found.after, found.costs, strict=False
            )
        ),
        left=words,
        fold=words,
    )


def _answer_text(solution: Solution) -> str:
    from rollwise.numbers.printed import certified, chance

    graph, value = solution.graph, float(solution.value)
    bound = float(solution.error_bounds[0])
    worth = certified(value, bound) if graph.is_score else chance(value, bound)
    name = graph.view.worth_name
    return f"{graph.title}: {name} {worth}, {graph.n_positions:,} positions"


@app.command("handicap")
def handicap(
    game: GameArgument,
    points: Annotated[
        str,
        typer.Option(
            metavar="FIELD=A..B",
            help="Field of the points given to the player, and their range: banked=0..40, "
            "or banked,rival=0..40 with the opponent's view of that field.",
        ),
    ],
    parameters: ParametersArgument = None,
    policy: Annotated[
        str, typer.Option(metavar="P", help=f"Policy of the player with the points. {POLICIES}")
    ] = "optimal",
    against: Annotated[
        str, typer.Option(metavar="P", help="Policy of the other player.")
    ] = "optimal",
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Find the head start that makes two players even."""
    from rollwise.analysis.handicap import handicap as find_handicap
    from rollwise.analysis.tuning import values_of

    field, said = values_of(points)
    try:
        numbers = [int(text) for text in said]
    except ValueError:
        raise UsageError(f"--points {points}: a head start is a whole number") from None
    chosen = read_game(game, parameters)
    with Progress() as progress:
        policies = kept.policies(chosen, max_states=max_states, progress=progress)
        found = find_handicap(policies, field, numbers, policy, against)
    graph = policies.graph
    show(json, lambda: handicap_document(graph, found), lambda: _print_handicap(graph.title, found))


def _print_handicap(title: str, found: Handicap) -> None:
    from rollwise.numbers.printed import rounded_up

    typer.echo(
        f"{title}: {found.policy} begins with points ({found.field}), {found.against} with none"
    )
    chances = found.even == 0.5
    scale = 100 if chances else 1
    heads = ("moving first", "moving second", "on average")
    best = {which: found.nearest(which) for which in SEATS}
    amounts = [[getattr(head, which) for which in SEATS] for head in found.heads]
    worst = max([0.0, *(one.bound for row in amounts for one in row if one is not None)])
    rows = (
        (
            str(head.points),
            *("-" if one is None else f"{scale * one.value:z.4f}" for one in row),
            "nearest to even" if head is best["mean"] else "",
        )
        for head, row in zip(found.heads, amounts, strict=True)
    )
    show_table((found.field, *heads, ""), rows, left=("",))
    unit = "% of the games are won" if chances else "points are gained"
    typer.echo(f"{unit} with that head start (certified ± {rounded_up(scale * worst)})")
    for which, name in zip(SEATS, heads, strict=True):
        near = best[which]
        if near is not None:
            out = "" if found.is_within(which) else ", and all are on one side of it"
            typer.echo(f"{name}, {found.field}={near.points} is nearest to even{out}")
    if any(None in (head.first, head.second) for head in found.heads):
        typer.echo("-: no play comes to that position")


@app.command("tune")
def tune(
    game: GameArgument,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=A..B", help="A parameter and its values: 20..120, 20..120..10 or 4,6,8."
        ),
    ],
    aim: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="AIM",
            help="Quantity and goal: first_player = 0.5, min turns, max skill; also value, "
            "luck, draws.",
        ),
    ],
    parameters: ParametersArgument = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the curve (.html, .svg, .png)."),
    ] = None,
    workers: ProcessesOption = None,
    cluster: ClusterOption = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Solve a game for a range of parameters."""
    from rollwise.analysis import tuning
    from rollwise.documents.design import tuning_document
    from rollwise.games import find

    wanted = tuning.Aim.read(aim)
    values = dict(tuning.values_of(text) for text in vary)
    if len(values) < len(vary):
        raise UsageError("a parameter varies twice; give all its values at once")
    if out is not None:
        from rollwise.plot.lines import check_curve

        check_curve(values, out)
    check_workers(workers, cluster)
    kind, fixed = find(game), read_values(parameters or ())
    found_by = kept.answer if wanted.measure in tuning.OF_THE_START else kept.solve
    with Progress() as progress, processes_or(cluster, workers) as pool:
        found = tuning.tune(
            kind,
            fixed,
            values,
            wanted,
            partial(found_by, max_states=max_states),
            progress,
            pool,
        )
    if out is not None:
        from rollwise.plot.lines import draw_curve
        from rollwise.plot.pages import write_figure

        write_figure(draw_curve(kind.name, values, found), out, f"{kind.name} tuned")
    show(
        json,
        lambda: tuning_document(kind.name, fixed, found),
        lambda: _print_tuning(found),
        *place_line("Written to", out),
    )
    end_if(found.stopped, "stopped; these are the games solved so far", 130)


def _print_tuning(found: Tuning) -> None:
    from rollwise.analysis.tuning import CHANCES
    from rollwise.numbers.printed import column, percents

    points, measure, goal = found.points, found.aim.measure, found.aim.goal
    is_chance = measure in CHANCES
    shown = (percents if is_chance else column)(
        [point.amount for point in points], [point.error_bound for point in points]
    )
    rows = (
        (
            *point.parameters.values(),
            text.number,
            text.bound,
            "nearest" if point is found.best else "",
        )
        for point, text in zip(points, shown, strict=True)
    )
    heads = (*points[0].parameters, found.aim.measure, "certified ±", "")
    show_table(heads, rows, left=("",))
    best = " ".join(f"{name}={value}" for name, value in found.best.parameters.items())
    if isinstance(goal, str):
        typer.echo(f"the {'least' if goal == 'min' else 'largest'} {measure}: {best}")
    else:
        wanted = f"{100 * goal:g} %" if is_chance else f"{goal:g}"
        if not found.reached:
            side = "above" if found.best.amount > goal else "below"
            typer.echo(f"no game of these has {measure} = {wanted}: all are {side} it")
        typer.echo(f"nearest to {wanted}: {best}")
    if found.at_the_end and (isinstance(goal, str) or not found.reached):
        names = " and of ".join(found.at_the_end)
        typer.echo(f"that is at the end of the range of {names}: a wider one may go further")
