"""``rollwise new``: a rule sheet to begin with."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from rollwise.cli.app import app
from rollwise.errors import UsageError
from rollwise.machine.atomic_files import write_text

SHAPES = {
    "choose": "two players, who choose before they roll",
    "throw": "two players, who throw first and then choose a move",
    "pool": "dice that are kept or thrown again",
    "solitaire": "one player, for points",
    "seats": "any number of players",
}


@app.command("new")
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, as mygame.py.")],
    shape: Annotated[
        str,
        typer.Option(
            "--shape",
            metavar="SHAPE",
            help=f"{'; '.join(f'{name}: {text}' for name, text in SHAPES.items())}.",
        ),
    ] = "choose",
) -> None:
    """Write the rule sheet of a small game, to be changed into yours."""
    if shape not in SHAPES:
        raise UsageError(f"--shape is {shape!r}; it must be {', '.join(SHAPES)}")
    words = re.findall(r"[A-Za-z0-9]+", file.stem)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    if file.suffix != ".py" or not name.isidentifier():
        raise UsageError(f"{file} can't be a rule sheet: take a name such as mygame.py")
    if file.exists():
        raise UsageError(f"{file} exists already; take another name")
    text = files("rollwise.cli").joinpath("starters", f"{shape}.txt").read_text(encoding="utf-8")
    write_text(file, text.replace("NAME", name))
    typer.echo(f"Wrote {file}: {SHAPES[shape]}. Next:")
    for command in ("check", "solve", "play"):
        typer.echo(f"  rollwise {command} {file}")
