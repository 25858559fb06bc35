"""What ``rollwise solve --contest`` prints."""

from __future__ import annotations

import time
from typing import Any

import typer

from rollwise.cli.common import print_json, print_table
from rollwise.game import Game
from rollwise.graph import title_of


def print_contest(game: Game, players: int, ties: str, *, json: bool) -> None:
    """Solve a contest and print it."""
    document = contest_document(game, players, ties)
    if json:
        print_json(document)
    else:
        _print(document)


def contest_document(game: Game, players: int, ties: str) -> dict[str, Any]:
    """Each player's chances, with best play and with the best mean for an aim.

    Playing for the mean is tried by the first player alone, against others who
    know it and play their best.
    """
    from rollwise.analysis.contest import Contest, solve_contest
    from rollwise.solution import solve

    contest = Contest(game, players, ties)
    started = time.perf_counter()
    solved = solve_contest(contest)
    seconds = time.perf_counter() - started
    for_mean = solve_contest(contest, {0: solve(game).policy})
    scored = solved.scored
    first = solved.turns[solved.opening]
    mean = float(first.final @ scored.scores)
    chances = solved.probabilities
    return {
        "game": scored.source.game,
        "parameters": dict(scored.source.parameters),
        "players": players,
        "ties": ties,
        "states": scored.graph.n_states,
        "situations": len(solved.turns),
        "probabilities": [float(chance) for chance in chances],
        "error_bound": solved.error_bound,
        "optimality_gap": solved.optimality_gap,
        "last_minus_first": float(chances[-1] - chances[0]),
        "first_player": {
            "probability": float(chances[0]),
            "mean_score": mean,
            "probability_playing_for_the_mean": float(for_mean.probabilities[0]),
            "mean_score_playing_for_the_mean": float(
                for_mean.turns[for_mean.opening].final @ scored.scores
            ),
        },
        "scores": scored.scores.tolist(),
        "final_score_of_first": [float(p) for p in first.final],
        "worth_of_first_score": [float(p) for p in first.payoffs],
        "seconds": round(seconds, 3),
    }


def _print(document: dict[str, Any]) -> None:
    from rich.table import Table

    title = title_of(document["game"], document["parameters"])
    typer.echo(f"{title}, a contest of {document['players']}")
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("player", justify="right")
    table.add_column(f"wins (ties: {document['ties']})", justify="right")
    for player, chance in enumerate(document["probabilities"], start=1):
        table.add_row(str(player), f"{chance:.12f}")
    print_table(table)
    first = document["first_player"]
    gain = first["probability"] - first["probability_playing_for_the_mean"]
    typer.echo(
        f"  certified ± {document['error_bound']:.1e}; nobody can gain more than "
        f"{document['optimality_gap']:.1e} by playing otherwise"
    )
    typer.echo(
        f"  the last player wins {document['last_minus_first']:+z.6f} more often than the first"
    )
    typer.echo(
        f"  playing to win instead of for the best mean brings the first player {gain:+z.6f} "
        f"(mean score {first['mean_score']:.6f} instead of "
        f"{first['mean_score_playing_for_the_mean']:.6f})"
    )
    typer.echo(
        f"  {document['states']:,} states with the score, {document['situations']} situations, "
        f"{document['seconds']:.2f} s"
    )
