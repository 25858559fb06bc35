"""What ``rollwise solve --contest`` prints."""

from __future__ import annotations

import time
from typing import Any

import typer

from rollwise.cli.common import print_json, print_table, tell_ties
from rollwise.cli.progress import Progress
from rollwise.documents.scores import blind_contest_document, contest_document
from rollwise.game import Game
from rollwise.graph import title_of
from rollwise.numbers.printed import certified, column, in_common, rounded_up


def print_contest(game: Game, players: int, ties: str, *, json: bool) -> None:
    """Solve a contest and print it."""
    from rollwise.analysis.contest import Contest, solve_contest
    from rollwise.analysis.second_aims import first_share
    from rollwise.answer.optimal_set import OptimalSet
    from rollwise.answer.solve import solve

    contest = Contest(game, players, ties)
    started = time.perf_counter()
    with Progress() as progress:
        progress("solving the contest", 0, None)
        solved = solve_contest(contest)
    seconds = time.perf_counter() - started
    solution = solve(game)
    for_mean = solve_contest(contest, {0: solution.policy})
    shares = OptimalSet.of(solution).range(first_share(for_mean))
    document = contest_document(solved, for_mean, shares, seconds)
    if json:
        print_json(document)
    else:
        _print(document)


def print_blind_contest(game: Game, *, json: bool) -> None:
    """Solve a contest of two who don't see each other's score, and print it."""
    from rollwise.analysis.blind_contest import solve_blind_contest

    started = time.perf_counter()
    with Progress() as progress:
        progress("solving the contest", 0, None)
        solved = solve_blind_contest(game)
    document = blind_contest_document(solved, time.perf_counter() - started)
    if json:
        print_json(document)
    else:
        _print_blind(document)


def _print_blind(document: dict[str, Any]) -> None:
    from rich.table import Table

    title = title_of(document["game"], document["parameters"])
    typer.echo(f"{title}, a contest of two at the same time; both win half of it")
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("played with probability", "mean score", "standard deviation"):
        table.add_column(name, justify="right")
    for part in document["mixture"]:
        cells = (part["weight"], part["mean_score"], part["standard_deviation"])
        table.add_row(*(f"{number:.6f}" for number in cells))
    print_table(table)
    mean = document["best_mean"]
    typer.echo(
        f"  nobody gains more than {rounded_up(document['gain'])} against that by playing otherwise"
    )
    wins = certified(mean["wins_against_mixture"], mean["error_bound"])
    loses = certified(mean["best_response_wins"], mean["best_response_error_bound"])
    typer.echo(
        f"  who plays for the best mean ({mean['mean_score']:.6f}) wins {wins} against it, and "
        f"whoever knows that wins {loses}"
    )
    typer.echo(
        f"  {document['states']:,} states with the score, {document['rounds']} best responses, "
        f"{document['seconds']:.2f} s"
    )


def _print(document: dict[str, Any]) -> None:
    from rich.table import Table

    title = title_of(document["game"], document["parameters"])
    typer.echo(f"{title}, a contest of {document['players']}")
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("player", justify="right")
    table.add_column(f"wins (ties: {document['ties']})", justify="right")
    bound = document["error_bound"]
    found = document["probabilities"]
    chances, sure = in_common(column(found, [bound] * len(found)))
    for player, chance in enumerate(chances, start=1):
        table.add_row(str(player), chance)
    print_table(table)
    typer.echo(
        f"  certified ± {sure}; nobody can gain more than "
        f"{rounded_up(document['optimality_gap'])} by playing otherwise"
    )
    # the difference of two doubles below 1 is off by no more than 2^-53
    more = certified(document["last_minus_first"], 2 * bound + 2.0**-53, sign=True)
    typer.echo(f"  the last player wins {more} more often than the first")
    first = document["first_player"]
    shares = first["range_playing_for_the_mean"]
    gains = [first["probability"] - shares[end] for end in ("most", "least")]
    off = bound + shares["error_bound"] + 2.0**-53
    least, most = column(gains, [off] * 2, sign=True)
    gain = str(least) if least.number == most.number else f"from {least.number} to {most}"
    mean = certified(first["mean_score"], first["mean_score_bound"])
    instead = certified(
        first["mean_score_playing_for_the_mean"], first["mean_score_bound_playing_for_the_mean"]
    )
    typer.echo(
        f"  playing to win instead of for the best mean brings the first player {gain} "
        f"(mean score {mean} instead of {instead})"
    )
    tell_ties(document["equally_good"])
    typer.echo(
        f"  {document['states']:,} states with the score, {document['situations']} situations, "
        f"{document['seconds']:.2f} s"
    )
