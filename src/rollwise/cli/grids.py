"""Matrices as text, with the numbers of their rows and columns."""

from __future__ import annotations

from typing import Any

import typer


def print_grid(matrix: Any, origin: Any, form: str) -> None:
    """Print a matrix; -1 stands where there is nothing.

    Parameters
    ----------
    matrix : (n, m) array
    origin : (2,) array
        The numbers of the first row and of the first column.
    form : str
        How a number is written, as `format` takes it.
    """
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
