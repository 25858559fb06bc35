"""``rollwise solve --by-layer``: what it prints and writes."""

from __future__ import annotations

from pathlib import Path

import typer

from rollwise.cli.common import print_json, print_worth, sizes_text
from rollwise.cli.pools import processes_or
from rollwise.cli.progress import Progress
from rollwise.documents.answers import layers_document
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.numbers.printed import how_many, in_bytes


def print_layers(
    game: Game,
    max_states: int | None,
    save: Path | None,
    *,
    resume: bool = False,
    keep: str | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    json: bool = False,
) -> None:
    """Solve a game by layers; print what it is worth, and keep the answer if asked to."""
    from rollwise.answer import kept
    from rollwise.answer.layer_folder import ALL, START
    from rollwise.answer.solve_by_layers import solve_by_layers

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
                    keep=keep or ALL,
                )
    document = layers_document(solution)
    if json:
        print_json(document)
    else:
        place = ", ".join(f"{name}={value}" for name, value in document["start"].items())
        typer.echo(solution.title)
        print_worth(
            place,
            solution.value,
            solution.error_bound,
            name=solution.worth_name,
            draws=solution.has_draws,
        )
        typer.echo(
            f"  {sizes_text(document)} in {how_many(document['layers'], 'layer')}, the largest "
            f"of {in_bytes(solution.most_bytes)}"
        )
        if solution.keep == START:
            typer.echo("  kept: the answer of the start; --save FOLDER keeps all")
        elif solution.keep != ALL:
            typer.echo(
                f"  kept: {document['kept_states']:,} states, those that are entered from another "
                "layer; what lies between is solved again when it is asked for"
            )
        spent = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in solution.seconds.items())
        told = f"kept from {solution.kept_from}, " if solution.kept_from else ""
        typer.echo(f"  strategy-iteration by layers: {told}{spent}")
        if save is not None:
            typer.echo(f"Saved to {save}; --load {save} reads it.")
    if solution.status != "certified":
        raise typer.Exit(1)
