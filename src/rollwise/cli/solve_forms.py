"""``rollwise solve`` of games by layers, and of contests."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from rollwise.cli.common import processes_or, refuse
from rollwise.cli.printing import certify, render, show, show_table, tell_ties
from rollwise.cli.progress import Progress
from rollwise.documents.scores import blind_contest_document, contest_document
from rollwise.documents.solved import solved_document
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.games import create
from rollwise.graph import title_of
from rollwise.numbers.printed import POINTS, certified, in_common, percent, percents, rounded_up


def print_layers(
    game: Game,
    max_states: int | None,
    save: Path | None,
    *,
    resume: bool = False,
    keep: str | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    certificate: Path | None = None,
    json: bool = False,
) -> None:
    """Solve a game by layers, print the value of the start, and save the answer if requested."""
    from rollwise.answer import kept
    from rollwise.answer.layer_folder import START
    from rollwise.answer.solve_by_layers import solve_by_layers

    if keep == START:
        refuse("needs all values, and --keep start has one", certificate=certificate)
    if save is not None:  # before the work, so that it isn't lost
        try:
            save.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"--save: no folder {save} can be made: {error.strerror}; with --by-layer it "
                "is a folder, where each layer is kept when it is proved"
            ) from None
    with Progress() as progress:
        if keep == START:
            solution = solve_by_layers(game, max_states=max_states, progress=progress, keep=keep)
        elif save is None:
            solution = kept.solve_by_layers(game, max_states=max_states, progress=progress)
        else:
            with processes_or(cluster, workers) as pool:
                solution = solve_by_layers(
                    game,
                    max_states=max_states,
                    save=save,
                    resume=resume,
                    progress=progress,
                    pool=pool,
                )
    saved = [] if save is None else [f"Saved to {save}; --load {save} reads it."]
    render(solved_document(solution), json, *saved, *certify(solution, certificate))
    if solution.status != "certified":
        raise typer.Exit(1)


def print_contest(kind: type[Game], values: Mapping[str, str], *, json: bool) -> None:
    """Solve a contest and print it.

    Parameters
    ----------
    values : mapping
        Parameters as typed: those of the game, and ``as=contest`` with its own, or ``as=blind``.
    """
    from rollwise.analysis.contest import Contest, solve_contest
    from rollwise.analysis.second_aims import first_share
    from rollwise.answer.optimal_set import OptimalSet
    from rollwise.answer.solve import solve
    from rollwise.derive.forms import BLIND, split_form

    inner, own = split_form(kind, values)
    game = create(kind, inner)
    if values["as"] == BLIND:
        return _print_blind_contest(game, json=json)
    contest = Contest(game, **own)
    started = time.perf_counter()
    with Progress() as progress:
        progress("solving the contest", 0, None)
        solved = solve_contest(contest)
    seconds = time.perf_counter() - started
    solution = solve(game)
    for_mean = solve_contest(contest, {0: solution.policy})
    shares = OptimalSet.of(solution).range(first_share(for_mean))
    document = contest_document(solved, for_mean, shares, seconds)
    show(json, lambda: document, lambda: _print_contest(document))


def _print_blind_contest(game: Game, *, json: bool) -> None:
    """Solve a contest of two with hidden scores, and print it."""
    from rollwise.analysis.blind_contest import solve_blind_contest

    started = time.perf_counter()
    with Progress() as progress:
        progress("solving the contest", 0, None)
        solved = solve_blind_contest(game)
    document = blind_contest_document(solved, time.perf_counter() - started)
    show(json, lambda: document, lambda: _print_blind(document))


def _print_blind(document: dict[str, Any]) -> None:
    title = title_of(document["game"], document["parameters"])
    typer.echo(f"{title}, a contest of two at the same time; both win half of it")
    show_table(
        ("played", "mean score", "standard deviation"),
        (
            (
                percent(part["weight"]),
                f"{part['mean_score']:.6f}",
                f"{part['standard_deviation']:.6f}",
            )
            for part in document["mixture"]
        ),
    )
    mean = document["best_mean"]
    typer.echo(f"  no policy gains more than {rounded_up(document['gain'])} against this mixture")
    (wins,) = percents([mean["wins_against_mixture"]], [mean["error_bound"]])
    (loses,) = percents([mean["best_response_wins"]], [mean["best_response_error_bound"]])
    typer.echo(
        f"  the policy of the best mean ({mean['mean_score']:.6f}) wins {wins.number} against it "
        f"({wins.sure}), and the best response to that wins {loses.number} ({loses.sure})"
    )
    typer.echo(
        f"  {document['states']:,} states with the score, {document['rounds']} best responses, "
        f"{document['seconds']:.2f} s"
    )


def _print_contest(document: dict[str, Any]) -> None:
    title = title_of(document["game"], document["parameters"])
    typer.echo(f"{title}, a contest of {document['players']}")
    bound, found = document["error_bound"], document["probabilities"]
    chances, worst = in_common(percents(found, [bound] * len(found)))
    rows = ((str(player), chance) for player, chance in enumerate(chances, start=1))
    show_table(("player", f"wins (ties: {document['ties']})"), rows)
    typer.echo(
        f"  {worst.sure}; no player can gain more than "
        f"{rounded_up(document['optimality_gap'])} by another policy"
    )
    # the difference of two doubles below 1 is off by no more than 2^-53
    off = 2 * bound + 2.0**-53
    (more,) = percents([document["last_minus_first"]], [off], sign=True, unit=POINTS)
    typer.echo(f"  the last player wins {more.number} more than the first ({more.sure})")
    first = document["first_player"]
    shares = first["range_playing_for_the_mean"]
    gains = [first["probability"] - shares[end] for end in ("most", "least")]
    off = bound + shares["error_bound"] + 2.0**-53
    least, most = percents(gains, [off] * 2, sign=True, unit=POINTS)
    gain = most.number if least.number == most.number else f"{least.number} to {most.number}"
    mean = certified(first["mean_score"], first["mean_score_bound"])
    instead = certified(
        first["mean_score_playing_for_the_mean"], first["mean_score_bound_playing_for_the_mean"]
    )
    typer.echo(
        f"  playing to win instead of for the best mean brings the first player {gain} "
        f"({most.sure}; mean score {mean} instead of {instead})"
    )
    tell_ties(document["equally_good"])
    typer.echo(
        f"  {document['states']:,} states with the score, {document['situations']} situations, "
        f"{document['seconds']:.2f} s"
    )
