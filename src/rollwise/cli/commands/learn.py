"""``rollwise learn``: learn a game by self-play, and see what was learned and what wasn't."""

from __future__ import annotations

import json as json_module
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli import streams
from rollwise.cli.app import app
from rollwise.cli.common import (
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    number_or_none,
    print_json,
    print_table,
    read_game,
    refuse,
)
from rollwise.cli.progress import Progress
from rollwise.cli.score_options import (
    ChaseOption,
    ContestOption,
    TargetOption,
    TiesOption,
    as_played,
)
from rollwise.errors import UsageError
from rollwise.machine.atomic_files import check_place
from rollwise.numbers.printed import certified, estimated

if TYPE_CHECKING:
    from rollwise.analysis.learning import Assessment, Reference
    from rollwise.learn import Learned, Learner

SHOWN = 40  # rows shown of a table


@app.command("learn")
def learn(
    game: GameArgument,
    parameters: ParametersArgument = None,
    games: Annotated[
        int | None,
        typer.Option(metavar="N", help="Games to play; with --resume, all of them together."),
    ] = None,
    explore: Annotated[
        float | None,
        typer.Option(metavar="M", help="The larger, the longer it explores (100)."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of the random numbers; else a new one.")] = None,
    method: Annotated[
        str | None, typer.Option(help="counts (the default), monte-carlo or q-learning.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Threads that play at the same time (1).")
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Hold what was learned against the exact solution.")
    ] = False,
    checkpoints: Annotated[
        int | None,
        typer.Option(metavar="K", help="Compare K times along the way, at doubling numbers."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep all that was learned, also after Ctrl-C (.npz)."),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Go on from what --save kept.")
    ] = None,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print the table as CSV.")] = False,
    json: JsonOption = False,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Learn a game by playing it against oneself, and counting wins and losses.

    The counts decide how likely each action is in the next game: at first all
    nearly alike, then more and more the best one. What is learned is an estimate.
    """
    if csv and json:
        raise UsageError("--csv and --json can't both be had")
    if csv:
        refuse(
            "doesn't go with --csv, which has a line for each action",
            compare=compare,
            checkpoints=checkpoints,
        )
    if games is None:
        raise UsageError("how many games? Give --games N")
    if games < 1:
        raise UsageError(f"--games is {games}; it must be at least 1")
    if checkpoints is not None and checkpoints < 1:
        raise UsageError(f"--checkpoints is {checkpoints}; it must be at least 1")
    check_place(save)
    chosen = as_played(
        read_game(game, parameters),
        chase=chase,
        contest=contest,
        target=target,
        ties=ties,
        need_target=True,
    )
    with Progress() as progress:
        from rollwise.answer import kept
        from rollwise.learn import Learner

        settings: dict[str, Any] = {
            "explore": explore,
            "seed": seed,
            "method": method,
            "workers": workers,
        }
        given = {name: value for name, value in settings.items() if value is not None}
        policies = kept.policies(chosen, max_states=max_states, progress=progress)
        graph = policies.graph
        if resume is None:
            learner = Learner(graph, **given)
        else:
            learner = Learner.load(resume, graph)
            _check_resumed(learner, given, games, resume)
        reference = None
        if compare or checkpoints is not None:
            from rollwise.analysis.learning import Reference

            progress("solving", 0, None)
            reference = Reference.of(policies.solution)
        try:
            comparisons = _run(learner, games, checkpoints or 0, reference, progress)
        except KeyboardInterrupt:
            _stopped(learner, save)
            raise
    if save is not None:
        learner.save(save)
    learned = learner.result()
    final = comparisons[-1] if comparisons else None
    if csv:
        streams.write(learned.table().write_csv())
    elif json:
        document = _document(learned, final)
        if checkpoints is not None:
            document["checkpoints"] = [_figures(point) for point in comparisons]
        print_json(document)
    else:
        _print(learned, final, comparisons if checkpoints is not None else [])
        if save is not None:
            typer.echo(f"Saved to {save}.")


def _check_resumed(learner: Learner, given: dict[str, Any], games: int, path: Path) -> None:
    for name, value in given.items():
        kept = getattr(learner, name)
        if kept != value:
            raise UsageError(f"{path} was learned with --{name} {kept}, not {value}")
    if games <= learner.games:
        raise UsageError(
            f"{path} holds {learner.games:,} games already; --games is how many it shall hold"
        )


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


def _run(
    learner: Learner,
    games: int,
    checkpoints: int,
    reference: Reference | None,
    progress: Progress,
) -> list[Assessment]:
    """Play, and compare at checkpoints that double up to the end.

    Comparisons look at the later half of the games alone too, so what was known
    half-way is kept.
    """
    if reference is None:
        learner.play(games - learner.games, progress=progress)
        return []
    from rollwise.analysis.learning import assess

    points = {games >> i for i in range(min(max(checkpoints, 1), games.bit_length()))}
    points = {point for point in points if point > learner.games}
    known: dict[int, Learned] = {}
    comparisons = []
    for point in sorted(points | {point // 2 for point in points}):
        if point < max(learner.games, 1):
            continue
        learner.play(point - learner.games, progress=progress)
        known[point] = learner.result()
        if point in points:
            earlier = known.get(point // 2)
            comparisons.append(assess(known[point], reference, earlier))
            known.pop(point // 4, None)
    return comparisons


def _figures(comparison: Assessment) -> dict[str, Any]:
    """What --json prints of a comparison."""
    learned = comparison.learned
    document: dict[str, Any] = {
        "games": learned.games,
        "weighted_error": number_or_none(comparison.weighted_error),
        "optimal_share": comparison.optimal_share,
        "weighted_optimal_share": comparison.weighted_optimal_share,
        "loss": comparison.loss,
        "loss_bound": number_or_none(comparison.loss_bound),
        "reasons": comparison.reason_counts(),
        "frequent_positions": int(comparison.frequent.sum()),
    }
    for name, recent in (("within_3_errors", False), ("recent_within_3_errors", True)):
        found = comparison.deviations(recent)
        document[name] = float((found <= 3).mean()) if len(found) else None
    return document


def _document(learned: Learned, comparison: Assessment | None) -> dict[str, Any]:
    graph = learned.graph
    document: dict[str, Any] = {
        "game": graph.game,
        "parameters": dict(graph.parameters),
        "method": learned.method,
        "kind": "estimated",
        "games": learned.games,
        "explore": learned.explore,
        "seed": learned.seed,
        "workers": learned.workers,
        "states": graph.n_states,
        "states_seen": int((learned.seen > 0).sum()),
        "rows": json_module.loads(learned.table().write_json()),
    }
    actions = learned.grid(learned.labels)
    if actions is not None:
        document["action_grid"] = actions.tolist()
        rates = learned.grid(learned.estimates)
        assert rates is not None
        document["estimate_grid"] = [[number_or_none(v) for v in row] for row in rates.tolist()]
    if comparison is not None:
        document["compare"] = _figures(comparison)
        document["compare"]["positions"] = _bad_positions(comparison)
    return document


def _bad_positions(comparison: Assessment) -> list[dict[str, Any]]:
    """Every position where what was learned isn't right, those of good play first."""
    from rollwise.analysis.learning import REASONS

    learned = comparison.learned
    graph = learned.graph
    import numpy as np

    bad = np.flatnonzero(comparison.reasons >= 0)
    bad = bad[np.argsort(-comparison.reference.visits[bad], kind="stable")]
    best = comparison.reference.solution.best_actions
    rows = []
    for s in bad.tolist():
        learned_action = int(learned.best_actions[s])
        rows.append(
            {
                "state": dict(zip(graph.field_names, graph.states[s].tolist(), strict=True)),
                "reason": REASONS[comparison.reasons[s]],
                "learned": None if learned_action < 0 else graph.action_text(learned_action),
                "best": graph.action_text(int(best[s])),
                "cost": number_or_none(float(comparison.costs[s])),
                "visits": int(learned.seen[s]),
                "visits_a_game": float(comparison.reference.visits[s]),
            }
        )
    return rows


def _print(learned: Learned, final: Assessment | None, curve: list[Assessment]) -> None:
    graph = learned.graph
    typer.echo(
        f"{graph.title}: {learned.games:,} games learned by {learned.method} "
        f"(M {learned.explore:g}, seed {learned.seed}, workers {learned.workers})"
    )
    seen = int((learned.seen > 0).sum())
    what = "score" if learned.is_score else "win rate"
    typer.echo(f"  {seen:,} of {graph.n_states:,} positions were seen")
    if not learned.is_score or not math.isnan(learned.estimates[0]):
        typer.echo(
            f"  start: {graph.action_names.get(int(learned.labels[0]), str(learned.labels[0]))}, "
            f"{what} {_estimate(learned)}"
        )
    actions, rates = learned.grid(learned.labels), learned.grid(learned.estimates)
    if actions is not None and rates is not None:
        rows, columns = graph.field_names
        typer.echo(f"\nAction learned (rows: {rows}, columns: {columns}; -1: never seen)")
        _print_grid(actions, graph.states.min(axis=0), "d")
        typer.echo(f"\n{what.capitalize()} of that action (-1: never seen)")
        _print_grid(rates, graph.states.min(axis=0), ".3f")
    else:
        _print_rows(learned)
    if curve:
        _print_curve(curve)
    if final is not None:
        _print_comparison(final)


def _estimate(learned: Learned) -> str:
    """What the start seems to be worth."""
    value, error = float(learned.estimates[0]), float(learned.estimate_errors[0])
    if math.isnan(error):
        return f"{value:z.5f}"
    number, shown = estimated(value, error)
    return f"{number} (estimated, standard error {shown})"


def _print_grid(matrix: Any, origin: Any, form: str) -> None:
    text = [
        ["-1" if value == -1 else format(value, form) for value in row] for row in matrix.tolist()
    ]
    width = max(len(cell) for row in text for cell in row)
    width = max(width, len(str(int(origin[1]) + len(text[0]) - 1)))
    side = len(str(int(origin[0]) + len(text) - 1))
    head = " ".join(f"{int(origin[1]) + j:>{width}}" for j in range(len(text[0])))
    typer.echo(f"{'':>{side}}   {head}")
    for i, row in enumerate(text):
        cells = " ".join(f"{cell:>{width}}" for cell in row)
        typer.echo(f"{int(origin[0]) + i:>{side}} | {cells}")


def _print_rows(learned: Learned) -> None:
    from rich.table import Table

    frame = learned.table()
    rows = frame.sort("visits", descending=True, maintain_order=True).head(SHOWN)
    shown = Table(box=None, padding=(0, 2, 0, 0))
    for name in rows.columns:
        shown.add_column(name, justify="left" if name == "action" else "right")
    for row in rows.iter_rows():
        shown.add_row(*(f"{v:z.5f}" if isinstance(v, float) else str(v) for v in row))
    typer.echo("")
    print_table(shown)
    if len(frame) > len(rows):
        typer.echo(f"the {len(rows)} most visited of {len(frame):,} rows (--csv or --json for all)")


def _print_curve(curve: list[Assessment]) -> None:
    from rich.table import Table

    shown = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("games", "weighted error", "optimal", "optimal, weighted", "loss"):
        shown.add_column(name, justify="right")
    for point in curve:
        shown.add_row(
            f"{point.learned.games:,}",
            f"{point.weighted_error:.5f}",
            f"{point.optimal_share:.1%}",
            f"{point.weighted_optimal_share:.2%}",
            f"{point.loss:z.6f}",
        )
    typer.echo("\nLearning curve")
    print_table(shown)


def _print_comparison(comparison: Assessment) -> None:
    learned = comparison.learned
    unit = "points" if learned.is_score else "win probability"
    typer.echo("\nAgainst the exact solution (certified), positions weighted by good play")
    typer.echo(f"  mean error of the estimates: {comparison.weighted_error:.5f} ({unit})")
    typer.echo(
        f"  learned action optimal: {comparison.weighted_optimal_share:.2%} weighted, "
        f"{comparison.optimal_share:.2%} of the reachable positions with a choice"
    )
    loss = certified(max(comparison.loss, 0.0), comparison.loss_bound)
    against = "a best response, both seats" if learned.graph.players == 2 else "the best play"
    typer.echo(
        f"  loss of the learned policy against {against}: {loss.number} {unit} "
        f"(certified ± {loss.bound})"
    )
    for recent, games in ((False, "all games"), (True, "the later half of the games")):
        found = comparison.deviations(recent)
        if len(found):
            typer.echo(
                f"  estimates from {games}: {(found <= 2).mean():.0%} of {len(found)} frequent "
                f"positions within 2 standard errors, {(found <= 3).mean():.0%} within 3"
            )
    typer.echo("  positions without a right answer, by what explains them:")
    for reason, count in comparison.reason_counts().items():
        typer.echo(f"    {reason:<12} {count:>9,}")
    worst = [row for row in _bad_positions(comparison) if row["visits_a_game"] > 0][:5]
    for row in worst:
        where = ", ".join(f"{name}={value}" for name, value in row["state"].items())
        cost = "" if row["cost"] is None else f", costs {row['cost']:z.4f}"
        typer.echo(
            f"    {where}: learned {row['learned'] or 'nothing'}, best is {row['best']}{cost} "
            f"({row['reason']}; {row['visits']:,} visits)"
        )
