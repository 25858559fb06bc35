"""``rollwise simulate``: policies at play, many games or one told move by move."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollwise.cli.app import app
from rollwise.cli.common import (
    POLICIES,
    GameArgument,
    JsonOption,
    MaxStatesOption,
    NoCacheOption,
    ParametersArgument,
    about_draws,
    number_or_none,
    print_json,
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
    tell_ties,
    ties_document,
)
from rollwise.errors import UsageError
from rollwise.numbers.printed import certified, estimated

if TYPE_CHECKING:
    from rollwise.simulate import Estimate, Length, Match, Side

GAMES = 100_000
SCORES_SHOWN = 30


@app.command("simulate")
def simulate(
    game: GameArgument,
    parameters: ParametersArgument = None,
    policy: Annotated[
        str,
        typer.Option(
            metavar="P",
            help=POLICIES,
        ),
    ] = ...,  # type: ignore[assignment]
    against: Annotated[
        str | None,
        typer.Option(metavar="Q", help="What the opponent plays; else the same policy."),
    ] = None,
    games: Annotated[
        int | None, typer.Option(metavar="N", help="Games to play; 100,000 unless given.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of the random numbers; else a new one.")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Threads that play at the same time; 1 unless given.")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact/--no-exact", help="Compute the exact figures too.")
    ] = True,
    tell: Annotated[
        bool, typer.Option("--tell", help="Tell one game move by move instead.")
    ] = False,
    chase: ChaseOption = False,
    target: TargetOption = None,
    contest: ContestOption = False,
    ties: TiesOption = None,
    json: JsonOption = False,
    max_states: MaxStatesOption = None,
    no_cache: NoCacheOption = False,
) -> None:
    """Play games between policies: who wins, how long it takes, how it scores.

    Simulated figures come with their standard errors and the exact ones beside them.
    Ctrl-C ends early with the games played so far.
    """
    from rollwise.answer import kept
    from rollwise.graph.policies import ties_in_play
    from rollwise.simulate import Disagreement
    from rollwise.simulate import simulate as play
    from rollwise.simulate import tell as tell_game

    if tell:
        refuse("doesn't go with --tell, which tells one game", games=games, workers=workers)
        refuse("doesn't go with --tell, which tells one game", no_exact=not exact)
    games = GAMES if games is None else games
    workers = 1 if workers is None else workers
    if games < 1:
        raise UsageError(f"--games is {games}; it must be at least 1")
    if workers < 1:
        raise UsageError(f"--workers is {workers}; it must be at least 1")
    chosen = as_played(
        read_game(game, parameters),
        chase=chase,
        contest=contest,
        target=target,
        ties=ties,
        need_target=True,
    )
    with Progress() as progress:
        policies = kept.policies(chosen, max_states=max_states, progress=progress)
        graph = policies.graph
        if against is not None and graph.players != 2:
            raise UsageError(f"{graph.game} is a game for one: there is no opponent")
        first = policies.find(policy)
        second = None if against is None else policies.find(against)
        if tell:
            from rollwise.numbers.randomness import fresh_seed

            number = fresh_seed() if seed is None else seed
            moves = tell_game(graph, first, second, seed=number)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("always", Disagreement)
                match = play(
                    graph,
                    first,
                    second,
                    games=games,
                    seed=seed,
                    workers=workers,
                    exact=exact,
                    progress=progress,
                )
    ties_here = ties_document(ties_in_play(graph, first, second))
    head = {"game": graph.game, "parameters": dict(graph.parameters)}
    if tell and json:
        print_json({**head, "seed": number, "moves": [asdict(move) for move in moves]})
    elif tell:
        typer.echo(f"{graph.title}, seed {number}")
        for move in moves:
            typer.echo(move.text)
    elif json:
        print_json({**head, **describe(match), "equally_good": ties_here})
    else:
        typer.echo(graph.title)
        _print(match)
        tell_ties(ties_here)


def describe(match: Match) -> dict[str, Any]:
    """What --json prints of a match."""
    return {
        "kind": "estimated",
        "policy": match.policy,
        "against": match.against,
        "games": match.games,
        "games_asked": match.asked,
        "seed": match.seed,
        "win_rate": _estimate(match.win_rate),
        "sides": [_side(side) for side in match.sides],
        "disagreements": match.disagreements(),
        "notes": list(match.notes),
    }


def _estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    low, high = estimate.interval
    return {
        "mean": estimate.mean,
        "standard_error": number_or_none(estimate.standard_error),
        "interval_95": [number_or_none(low), number_or_none(high)],
        "games": estimate.games,
        "exact": number_or_none(estimate.exact),
        "exact_bound": number_or_none(estimate.exact_bound),
    }


def _length(length: Length) -> dict[str, Any]:
    return {
        **(_estimate(length.estimate) or {}),
        "standard_deviation": length.deviation,
        "shortest": length.shortest,
        "median": length.median,
        "longest": length.longest,
    }


def _side(side: Side) -> dict[str, Any]:
    scores = side.scores
    return {
        "first": side.first,
        "second": side.second or None,
        "games": side.games,
        "wins": side.wins,
        "draws": side.draws,
        "losses": side.losses,
        "win_rate": _estimate(side.win_rate),
        "score": _estimate(side.score),
        "scores": None if scores is None else [[score, n] for score, n in scores.items()],
        "turns": _length(side.turns),
        "moves": _length(side.moves),
    }


def _print(match: Match) -> None:
    stopped = f" of the {match.asked:,} asked for" if match.games < match.asked else ""
    draws = about_draws(any(side.draws for side in match.sides if side.win_rate is not None))
    typer.echo(
        f"{match.games:,} games{stopped}, seed {match.seed} (estimated ± standard error{draws})"
    )
    if match.win_rate is not None:
        typer.echo(f"  {match.policy} wins {_text(match.win_rate)} over both seats")
    for side in match.sides:
        pair = f"{side.first} first, {side.second} second" if side.second else side.first
        typer.echo(f"{pair}: {side.games:,} games")
        if side.win_rate is not None:
            who = "the first player wins" if side.second else "wins"
            typer.echo(f"  {who} {_text(side.win_rate)}")
            typer.echo(f"    95 % confidence interval {_interval(side.win_rate)}")
            draws = f", {side.draws:,} draws" if side.draws else ""
            typer.echo(f"    {side.wins:,} won, {side.losses:,} lost{draws}")
        if side.score is not None:
            typer.echo(f"  score {_text(side.score)}")
            typer.echo(f"    95 % confidence interval {_interval(side.score)}")
            _print_scores(side)
        for name, length in (("turns", side.turns), ("moves", side.moves)):
            typer.echo(
                f"  {name} {_text(length.estimate)}; "
                f"{length.shortest} to {length.longest}, median {length.median}"
            )
    for note in match.notes:
        typer.echo(f"  {note}")


def _text(estimate: Estimate) -> str:
    text = str(estimated(estimate.mean, estimate.standard_error))
    if estimate.exact is not None and estimate.exact_bound is not None:
        exact = certified(estimate.exact, estimate.exact_bound)
        text += f" (exact {exact.number}, certified ± {exact.bound})"
    return text


def _interval(estimate: Estimate) -> str:
    low, high = (estimated(end, estimate.standard_error).number for end in estimate.interval)
    return f"{low} to {high}"


def _print_scores(side: Side) -> None:
    if side.scores is None:
        typer.echo("    too many different scores to count one by one")
        return
    likely = sorted(side.scores.items(), key=lambda item: -item[1])[:SCORES_SHOWN]
    for score, count in sorted(likely):
        share = count / side.games
        typer.echo(f"    {score:>8g}  {share:>8.4%}  {'#' * round(60 * share)}")
    if len(side.scores) > len(likely):
        rest = len(side.scores) - len(likely)
        typer.echo(f"    and {rest:,} rarer scores (--json for all)")
