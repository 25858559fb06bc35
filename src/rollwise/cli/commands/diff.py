"""``rollwise diff``: what a change of rules does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    in_one_graph,
    print_json,
    print_table,
    read_values,
)
from rollwise.cli.progress import Progress
from rollwise.documents.design import difference_document
from rollwise.errors import ParameterError, UsageError
from rollwise.games import create, find

if TYPE_CHECKING:
    from rollwise.analysis.difference import Difference
    from rollwise.answer.solution import Solution
    from rollwise.game import Game

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
            metavar="FILE", help="Draw what the old strategy gives away (.html, .svg, .png)."
        ),
    ] = None,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
    json: JsonOption = False,
) -> None:
    """Say what a change of rules does to the value, to the strategy, and to its old players."""
    from rollwise.analysis.difference import difference
    from rollwise.answer import kept

    if limit < 0:
        raise UsageError(f"--limit is {limit}; it can't be less than 0")
    old, new = read_pair(game, words or [])
    if out is not None:
        from rollwise.plot import require_plotly
        from rollwise.plot.pages import check_target

        require_plotly()
        check_target(out)
    with in_one_graph("diff"), Progress() as progress:
        answers = [kept.solve(one, max_states=max_states, progress=progress) for one in (old, new)]
        found = difference(*answers)
    if out is not None:
        from rollwise.plot import plot
        from rollwise.plot.pages import write_figure

        figure = plot(found.new, "regret", policy=found.carried)
        write_figure(figure, out, f"{found.new.graph.game}: what the old strategy gives away")
    if json:
        print_json(difference_document(found, limit))
        return
    _print(found, limit)
    if out is not None:
        typer.echo(f"Written to {out}.")


def read_pair(reference: str, words: list[str]) -> tuple[Game, Game]:
    """The two games that are asked for.

    Raises
    ------
    ParameterError, UsageError
        There aren't two, or a parameter is given three times.
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
            "what changes? Give a parameter twice, as in `rollwise diff pig sides=6 sides=8`, or "
            "two games"
        )
    return first, second


def _print(found: Difference, limit: int) -> None:
    from rich.table import Table

    from rollwise.analysis.losses import spread_words
    from rollwise.numbers.printed import column, in_common

    graph = found.new.graph
    scale, unit = (1.0, "points") if graph.is_score else (100.0, "percentage points")
    typer.echo(f"from {_answer(found.old)}")
    typer.echo(f"to   {_answer(found.new)}")
    share = f" ({len(found.changed) / found.in_both:.1%})" if found.in_both else ""
    typer.echo(
        f"in {found.in_both:,} states both have a choice; what was best no longer is in "
        f"{len(found.changed):,}{share}, of which play comes to {found.in_play:,}"
    )
    spread = found.loss.spread
    ends: tuple[float, ...] = (found.loss.loss,)
    bound = found.loss.error_bound
    if spread is not None and spread.is_known:
        ends, bound = spread.mean, spread.error_bound
    lost, sure = in_common(column([scale * end for end in ends], [scale * bound] * len(ends)))
    number = " to ".join(lost)
    seats = " on average over the seats" if graph.players == 2 else ""
    typer.echo(
        f"who goes on as before loses {number} {unit}{seats} (certified ± {sure}); "
        "where there was no such state or action, they play as is best now"
    )
    for words in spread_words([spread]):
        typer.echo(words)
    if not limit or not found.in_play:
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("state", "was best", "is best"):
        table.add_column(name, overflow="fold")
    table.add_column(f"costs ({unit})", justify="right")
    rows = zip(
        found.changed[: min(limit, found.in_play)],
        found.before,
        found.after,
        found.costs,
        strict=False,
    )
    for state, before, after, cost in rows:
        names = (
            of.vocabulary.text(int(graph.action_label[a]))
            for of, a in ((found.old.graph, before), (graph, after))
        )
        table.add_row(graph.state_text(int(state)), *names, f"{scale * cost:z.4f}")
    print_table(table)


def _answer(solution: Solution) -> str:
    from rollwise.numbers.printed import certified, chance

    graph, value = solution.graph, float(solution.value)
    bound = float(solution.error_bounds[0])
    worth = certified(value, bound) if graph.is_score else chance(value, bound)
    name = graph.view.worth_name
    return f"{graph.title}: {name} {worth.number} ± {worth.bound}, {graph.n_positions:,} positions"
