"""``rollwise learn --replicates``: what it prints."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import typer

from rollwise.cli import streams
from rollwise.cli.printing import end_if, show, show_table
from rollwise.cli.progress import Progress
from rollwise.documents.played import replicates_document, start_worth
from rollwise.numbers.printed import certified, estimated, how_many, rounded_up

if TYPE_CHECKING:
    from rollwise.analysis.replicates import Replicates, Spread
    from rollwise.cluster.pool import Pool
    from rollwise.game import Game


def learn_apart(
    game: Game,
    games: int,
    replicates: int,
    settings: Mapping[str, Any],
    workers: AbstractContextManager[Pool | None],
    *,
    max_states: int | None,
    as_csv: bool,
    json: bool,
) -> None:
    """Let several learners play a game for one or two, and print what they came to.

    Parameters
    ----------
    settings : mapping
        What `rollwise.analysis.replicates.learn_replicates` takes; None where nothing was typed.
    """
    from rollwise.analysis.replicates import check_replicates, learn_replicates
    from rollwise.answer import kept

    check_replicates(games, replicates)
    given = {name: value for name, value in settings.items() if value is not None}
    with Progress() as progress:
        policies = kept.policies(game, max_states=max_states, progress=progress)
        progress("solving", 0, None)
        solution = policies.solution
        with workers as pool:
            found = learn_replicates(
                solution, games, replicates, progress=progress, pool=pool, **given
            )
    print_replicates(found, as_csv=as_csv, json=json, curve="checkpoints" in given)


def learn_seats_apart(
    game: Game,
    games: int,
    replicates: int,
    settings: Mapping[str, Any],
    workers: AbstractContextManager[Pool | None],
    *,
    max_states: int | None,
    as_csv: bool,
    json: bool,
) -> None:
    """The same in a game for three or more."""
    from rollwise.analysis.replicates import check_replicates, learn_seats_replicates
    from rollwise.many.seats import build_seats

    check_replicates(games, replicates)
    given = {name: value for name, value in settings.items() if value is not None}
    with Progress() as progress:
        graph = build_seats(game, max_states=max_states, progress=progress.listener)
        with workers as pool:
            found = learn_seats_replicates(
                graph, games, replicates, progress=progress, pool=pool, **given
            )
    print_replicates(found, as_csv=as_csv, json=json, curve=False)


def print_replicates(found: Replicates, *, as_csv: bool, json: bool, curve: bool) -> None:
    """Print what independent learners came to.

    Parameters
    ----------
    curve : bool
        Whether what they came to along the way was asked for.
    """
    if as_csv:
        streams.write(_csv(found))
    else:
        show(json, lambda: replicates_document(found), lambda: _print(found, curve=curve))
    told = f"stopped; these are the first {len(found.each):,} of {found.asked:,} replicates"
    end_if(found.stopped, told, 130)


def _csv(found: Replicates) -> str:
    """A line for each replicate and number of games."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    names = list(found.spreads())
    lines.writerow(["seed", "games", *names, "error_bound"])
    for one in found.each:
        for point in one.points:
            figures = [point.figures[name] for name in names]
            lines.writerow([one.seed, point.games, *figures, point.bound])
    return text.getvalue()


def _print(found: Replicates, *, curve: bool) -> None:
    graph = found.graph
    typer.echo(
        f"{graph.title}: {len(found.each):,} learners, each by itself, with "
        f"{how_many(found.games[-1], 'game')} each by {found.method} "
        f"(M {found.explore:g}, seed {found.seed})"
    )
    heads = ("over the replicates", "mean", "standard error", "least", "most")
    rows = ((_name(found, name), *_cells(name, one)) for name, one in found.spreads().items())
    show_table(heads, rows, left=heads[:1])
    if graph.players > 2:
        from rollwise.many.seats import has_payoffs

        unit = "payoffs" if has_payoffs(graph) else "win probabilities"
        typer.echo(
            f"{unit} of each seat where all play what was learned, and with a best response "
            f"(of each replicate, certified ± {rounded_up(found.bound)}); in an equilibrium nobody "
            "gains anything"
        )
    else:
        assert found.solution is not None
        unit = "points" if graph.is_score else "win probability"
        against = "a best response, both seats" if graph.players == 2 else "the best play"
        start = certified(*start_worth(found.solution))
        typer.echo(
            f"the start is worth {start.number} (certified ± {start.bound}); positions weighted by "
            f"good play; losses against {against}, in {unit} (of each replicate, certified "
            f"± {rounded_up(found.bound)})"
        )
    if curve:
        _print_curve(found)


def _name(found: Replicates, name: str) -> str:
    """The name of a figure, for people."""
    from rollwise.analysis import replicates

    graph = found.graph
    estimate = "payoff" if graph.has_stakes else "score" if graph.is_score else "win rate"
    names = {
        replicates.SEEN: f"positions seen, of {graph.n_states:,}",
        replicates.START: f"{estimate} of the start, as learned",
        replicates.ERROR: "mean error of the estimates",
        replicates.OPTIMAL: "learned action optimal, %",
        replicates.WEIGHTED: "the same, weighted, %",
        replicates.LOSS: "loss of the learned policy",
        replicates.GAIN: "the most that a seat gains",
    }
    if graph.players > 2:
        names[replicates.SEEN] = "positions with a choice that were seen"
    kind, _, seat = name.partition("_")
    return names.get(name) or f"seat {seat}" + (", best response" if kind == "best" else "")


def _cells(name: str, figure: Spread) -> list[str]:
    """A figure in four columns; all end where the standard error does, if there is one."""
    scale = 100.0 if name.endswith("_share") else 1.0
    mean, error, least, most = (scale * number for number in figure)
    if not error:
        return [f"{number:z.9g}" for number in (mean, error, least, most)]
    shown = estimated(mean, error)
    return [*shown, *(estimated(number, error).number for number in (least, most))]


def _print_curve(found: Replicates) -> None:
    from rollwise.analysis.replicates import ERROR, LOSS, OPTIMAL, WEIGHTED

    rows = []
    for number, games in enumerate(found.games):
        figures = found.spreads(number)
        cells = [_cells(name, figures[name]) for name in (ERROR, OPTIMAL, WEIGHTED, LOSS)]
        rows.append([f"{games:,}", *(f"{mean} ± {error}" for mean, error, *_ in cells)])
    typer.echo("\nLearning curve (mean ± standard error)")
    heads = ("games", "weighted error", "optimal, %", "optimal, weighted, %", "loss")
    show_table(heads, rows)
