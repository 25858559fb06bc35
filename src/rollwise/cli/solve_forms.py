"""``rollwise solve`` of games by layers, and of contests."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import typer

from rollwise.cli.common import Workers, refuse
from rollwise.cli.printing import certify, render
from rollwise.cli.progress import Progress
from rollwise.cli.streams import ASKED
from rollwise.documents.scores import blind_contest_document, contest_document
from rollwise.documents.solved import solved_document
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.games import create


def print_layers(
    game: Game,
    save: Path | None,
    workers: Workers,
    *,
    resume: bool = False,
    keep: str = "all",
    certificate: Path | None = None,
) -> None:
    """Solve a game by layers, print the value of the start, and save the answer if requested."""
    from rollwise.answer import kept
    from rollwise.answer.layer_folder import START
    from rollwise.answer.solve_by_layers import solve_by_layers

    if keep not in ("all", START):
        raise UsageError(f"--by-layer: keep is all or {START}, not {keep}")
    if keep == START:
        because = "needs all values, and --set keep=start keeps one"
        refuse(because, certificate=certificate, save=save)
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
            solution = solve_by_layers(
                game, max_states=ASKED.max_states, progress=progress, keep=keep
            )
        elif save is None:
            solution = kept.solve_by_layers(game, max_states=ASKED.max_states, progress=progress)
        else:
            with workers.processes() as pool:
                solution = solve_by_layers(
                    game,
                    max_states=ASKED.max_states,
                    save=save,
                    resume=resume,
                    progress=progress,
                    pool=pool,
                )
    saved = [] if save is None else [f"Saved to {save}; --load {save} reads it."]
    render(solved_document(solution), *saved)
    certify(solution, certificate)
    if solution.status != "certified":
        raise typer.Exit(1)


def print_contest(kind: type[Game], values: Mapping[str, str]) -> None:
    """Solve a contest and print it.

    Parameters
    ----------
    values : mapping
        Parameters as typed: those of the game, and ``as=contest`` with its own, or ``as=blind``.
    """
    from rollwise.analysis.contest import Contest, solve_contest
    from rollwise.analysis.second_aims import first_share
    from rollwise.answer.optimal_set import OptimalSet
    from rollwise.answer.solve import solve_whole
    from rollwise.derive.forms import BLIND, split_form

    inner, own = split_form(kind, values)
    game = create(kind, inner)
    if values["as"] == BLIND:
        return _print_blind_contest(game)
    contest = Contest(game, **own)
    started = time.perf_counter()
    with Progress() as progress:
        progress("solving the contest", 0, None)
        solved = solve_contest(contest)
    seconds = time.perf_counter() - started
    solution = solve_whole(game)
    for_mean = solve_contest(contest, {0: solution.policy})
    shares = OptimalSet.of(solution).range(first_share(for_mean))
    render(contest_document(solved, for_mean, shares, seconds))


def _print_blind_contest(game: Game) -> None:
    """Solve a contest of two with hidden scores, and print it."""
    from rollwise.analysis.blind_contest import solve_blind_contest

    started = time.perf_counter()
    with Progress() as progress:
        progress("solving the contest", 0, None)
        solved = solve_blind_contest(game)
    render(blind_contest_document(solved, time.perf_counter() - started))
