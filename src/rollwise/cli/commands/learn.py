"""``rollwise learn``: learn a game by self-play, and compare the result with the solution."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli import streams
from rollwise.cli.app import app
from rollwise.cli.common import read_game, refuse, refuse_with_seats
from rollwise.cli.options import (
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
)
from rollwise.cli.printing import (
    check_file,
    gets,
    print_grid,
    print_json,
    print_table,
    write_policy,
)
from rollwise.cli.progress import Progress
from rollwise.documents.model import as_number
from rollwise.documents.policies import (
    learned_document,
    learned_seats_document,
    wrong_positions,
)
from rollwise.errors import UsageError
from rollwise.game import Game, has_many
from rollwise.machine.atomic_files import check_place
from rollwise.numbers.printed import (
    POINTS,
    column,
    estimated,
    estimated_chance,
    in_common,
    percent,
    percents,
)

if TYPE_CHECKING:
    from rollwise.analysis.learning import Assessment, LearnedAgainst
    from rollwise.answer.references import Policies
    from rollwise.graph import StateGraph
    from rollwise.learn import Learned, Learner

SHOWN = 40  # rows shown of a table


GamesOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="Games to play; with --resume, all of them together."),
]
ExploreOption = Annotated[
    float | None,
    typer.Option(metavar="M", help="The larger, the longer it explores (100)."),
]
SeedOption = Annotated[int | None, typer.Option(help="Of the random numbers; else a new one.")]
LearningOption = Annotated[
    str | None, typer.Option(help="counts (the default), monte-carlo or q-learning.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Threads that play in parallel (1).",
    ),
]
CompareOption = Annotated[
    bool, typer.Option("--compare", help="Compare the learned policy with the exact solution.")
]
CheckpointsOption = Annotated[
    int | None,
    typer.Option(metavar="K", help="Compare K times along the way, at doubling numbers."),
]
AgainstOption = Annotated[
    str | None,
    typer.Option(
        metavar="P",
        help="Learn to beat a policy, moving first in one game of two, instead of by self-play.",
    ),
]
SaveOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Save the learner's counts, also after Ctrl-C (.npz); with --against the policy "
        "(.csv, .parquet).",
    ),
]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print the table as CSV.")]
ResumeOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Continue from a file of --save.")
]


@app.command("learn")
def learn(
    game: GameArgument,
    parameters: ParametersArgument = None,
    games: GamesOption = None,
    explore: ExploreOption = None,
    seed: SeedOption = None,
    method: LearningOption = None,
    workers: WorkersOption = None,
    compare: CompareOption = False,
    checkpoints: CheckpointsOption = None,
    against: AgainstOption = None,
    save: SaveOption = None,
    resume: ResumeOption = None,
    csv: CsvOption = False,
    json: JsonOption = False,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Learn a game by self-play.

    Counts of past games set the probability of each action in the next game: at first nearly
    equal, later mostly the best action. The learned values are estimates.

    In the assignment behind this learner, NGames is --games and M is --explore. NSides,
    LTarget, UTarget and NDice are the parameters sides, low, high and dice of the game
    dice-blackjack.
    """
    if csv and json:
        raise UsageError("--csv and --json can't both be had")
    held = {"compare": compare, "checkpoints": checkpoints}
    if csv:
        refuse("doesn't go with --csv, which has a line for each action", **held)
    if against is not None:
        refuse("is for self-play, which --against isn't", **held, resume=resume)
        check_file("--save", save, ".csv", ".parquet")
    games = _check_numbers(games, checkpoints=checkpoints)
    check_place(save)
    chosen = read_game(game, parameters)
    if has_many(chosen):
        again = "begin anew with the same --seed and more --games: the first games are the same"
        refuse_with_seats(chosen, again, resume=resume)
        refuse_with_seats(chosen, **held, method=method, workers=workers, against=against, csv=csv)
        _learn_seats(chosen, games, explore, seed, save, max_states, json=json)
        return
    settings = {"explore": explore, "seed": seed, "method": method, "workers": workers}
    with Progress() as progress:
        from rollwise.analysis.learning import learn_against
        from rollwise.answer import kept

        policies = kept.policies(chosen, max_states=max_states, progress=progress)
        if against is not None:
            beside = learn_against(policies, against, games, settings, progress)
            _tell_against(policies, beside, save, csv=csv, json=json)
            return
        learner = _learner(policies.graph, games, resume, **settings)
        comparisons = _played(
            learner, games, policies, progress, save, compare=compare, checkpoints=checkpoints
        )
    if save is not None:
        learner.save(save)
    curve = None if checkpoints is None else comparisons
    _show(learner.result(), comparisons[-1:], curve, csv=csv, json=json)
    if save is not None and not (csv or json):
        typer.echo(f"Saved to {save}.")


def _played(
    learner: Learner,
    games: int,
    policies: Policies,
    progress: Progress,
    save: Path | None,
    *,
    compare: bool,
    checkpoints: int | None,
) -> list[Assessment]:
    """Have a learner play. Return its assessments along the way and at the end, if requested."""
    from rollwise.analysis.learning import Reference, play_and_assess

    try:
        if not compare and checkpoints is None:
            learner.play(games - learner.games, progress=progress)
            return []
        progress("solving", 0, None)
        reference = Reference.of(policies.solution)
        return play_and_assess(learner, games, checkpoints or 1, reference, progress=progress)
    except KeyboardInterrupt:
        _stopped(learner, save)
        raise


def _show(
    learned: Learned,
    final: list[Assessment],
    curve: list[Assessment] | None,
    *,
    csv: bool,
    json: bool,
) -> None:
    """Print the learned table, the final comparison and the learning curve, as requested."""
    compared = final[0] if final else None
    if csv:
        streams.write(learned.table().write_csv())
    elif json:
        print_json(learned_document(learned, compared, curve))
    else:
        _print(learned, compared, curve or [])


def _tell_against(
    policies: Policies, found: LearnedAgainst, save: Path | None, *, csv: bool, json: bool
) -> None:
    """Print the response learned against a policy, and its result against that policy."""
    learned, graph = found.learned, policies.graph
    if save is not None:
        write_policy(policies.graph, learned.policy, save)
    if csv:
        streams.write(learned.table().write_csv())
        return
    document = learned_document(learned, against=found)
    if json:
        print_json(document)
        return
    _print(learned, None, [])
    what, written = ("payoff", column) if graph.is_score else ("win probability", percents)
    (gets, best), worst = in_common(written(*zip(found.gets, found.best, strict=True)))
    typer.echo(
        f"\nAgainst {found.against}, on average over the seats: {what} {gets}; a best response "
        f"has {best} ({worst.sure})"
    )
    if save is not None:
        typer.echo(f"Saved to {save}.")


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


def _print(learned: Learned, final: Assessment | None, curve: list[Assessment]) -> None:
    graph = learned.graph
    typer.echo(
        f"{graph.title}: {learned.games:,} games learned by {learned.method} "
        f"(M {learned.explore:g}, seed {learned.seed}, workers {learned.workers})"
    )
    seen = int((learned.seen > 0).sum())
    what = learned.estimate_name.replace("_", " ")
    typer.echo(f"  {seen:,} of {graph.n_states:,} positions were seen")
    if not learned.is_score or not math.isnan(learned.estimates[0]):
        typer.echo(
            f"  start: {graph.vocabulary.text(int(learned.labels[0]))}, {what} {_estimate(learned)}"
        )
    actions, rates = learned.grid(learned.labels), learned.grid(learned.estimates)
    if actions is not None and rates is not None:
        rows, columns = graph.field_names
        typer.echo(f"\nAction learned (rows: {rows}, columns: {columns}; -1: never seen)")
        print_grid(actions, graph.states.min(axis=0), "d")
        typer.echo(f"\n{what.capitalize()} of that action (-1: never seen)")
        print_grid(rates, graph.states.min(axis=0), ".3f")
    else:
        _print_rows(learned)
    if curve:
        _print_curve(curve)
    if final is not None:
        _print_comparison(final)


def _estimate(learned: Learned) -> str:
    """The estimated value of the start."""
    value, error = float(learned.estimates[0]), float(learned.estimate_errors[0])
    if math.isnan(error):
        return f"{value:z.5f}" if learned.is_score else percent(value)
    shown = (estimated if learned.is_score else estimated_chance)(value, error)
    return f"{shown.number} (estimated, standard error {shown.bound})"


def _print_rows(learned: Learned) -> None:
    from rich.table import Table

    frame = learned.table()
    rows = frame.sort("visits", descending=True, maintain_order=True).head(SHOWN)
    shown = Table(box=None, padding=(0, 2, 0, 0))
    for name in rows.columns:
        shown.add_column(name, justify="left" if name == "action" else "right")
    for row in rows.iter_rows():
        cells = ("" if v is None else f"{v:z.5f}" if isinstance(v, float) else str(v) for v in row)
        shown.add_row(*cells)
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
    scale, unit = (1, "points") if learned.is_score else (100, POINTS)
    typer.echo("\nAgainst the exact solution (certified), positions weighted by good play")
    typer.echo(f"  mean error of the estimates: {scale * comparison.weighted_error:.5f} {unit}")
    typer.echo(
        f"  learned action optimal: {comparison.weighted_optimal_share:.2%} weighted, "
        f"{comparison.optimal_share:.2%} of the reachable positions with a choice"
    )
    lost, bound = [max(comparison.loss, 0.0)], [comparison.loss_bound]
    (loss,) = column(lost, bound) if learned.is_score else percents(lost, bound, unit=POINTS)
    against = "a best response, both seats" if learned.graph.players == 2 else "the best play"
    typer.echo(f"  loss of the learned policy against {against}: {loss.number} ({loss.sure})")
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
    worst = [row for row in wrong_positions(comparison) if row.visits_a_game > 0][:5]
    for row in worst:
        where = ", ".join(f"{name}={value}" for name, value in row.state.items())
        cost = f", costs {row.cost:z.4f}" if math.isfinite(as_number(row.cost)) else ""
        typer.echo(
            f"    {where}: learned {row.learned or 'nothing'}, best is {row.best}{cost} "
            f"({row.reason}; {row.visits:,} visits)"
        )


def _learn_seats(
    game: Game,
    games: int,
    explore: float | None,
    seed: int | None,
    save: Path | None,
    max_states: int | None,
    *,
    json: bool,
) -> None:
    """Learn by self-play, and print the gain of each seat's best response to the learned policy."""
    from rollwise.analysis.learning import learn_seats
    from rollwise.many.seats import build_seats, has_payoffs

    if save is not None and save.suffix not in (".csv", ".parquet"):
        raise UsageError(
            f"--save {save}: with three players or more what was learned is kept as a table, in a "
            ".csv or .parquet file, which is a policy for other commands"
        )
    check_place(save)
    with Progress() as progress:
        graph = build_seats(game, max_states=max_states, progress=progress.listener)
        found = learn_seats(
            graph,
            games,
            explore=100.0 if explore is None else explore,
            seed=seed,
            progress=progress.listener,
        )
    if save is not None:
        write_policy(graph, found.policy, save)
    document = learned_seats_document(graph, found)
    if json:
        print_json(document)
        return
    typer.echo(
        f"{graph.title}: {found.games:,} games of self-play, M {found.explore:g}, "
        f"seed {found.seed}; {found.seen:,} states with a choice were seen"
    )
    bounds = [found.response.error_bound] * graph.players
    verb, written = ("get", column) if has_payoffs(graph) else ("win", percents)
    has, worst = in_common(written(found.response.win_probabilities, bounds))
    could, _ = in_common(written(found.response.best, bounds))
    for seat, (number, best) in enumerate(zip(has, could, strict=True), 1):
        typer.echo(f"  seat {seat} {gets(graph)} {number}, and could {verb} {best}")
    typer.echo(
        f"  ({worst.sure}) of what was learned, played by all; the best response of a seat "
        f"gains at most {max(found.gains):.6f} from the start (0 in an equilibrium)"
    )
    if save is not None:
        typer.echo(f"Saved to {save}.")
