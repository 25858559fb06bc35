"""How a measure of a game depends on one parameter, or on two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import plotly.graph_objects as go

from rollwise.analysis.tuning import MEASURES, Tuning
from rollwise.errors import UsageError
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.pages import check_target
from rollwise.plot.style import GREY, LINE_COLOURS


def check_curve(vary: Mapping[str, Sequence[str]], path: Path) -> None:
    """Make sure, before any work, that a curve can be drawn.

    Raises
    ------
    UsageError
        The first parameter isn't a number, more than two vary, or the file is of no such kind.
    OutputError
        The file can't be written.
    """
    first = next(iter(vary))
    if not all(_is_number(value) for value in vary[first]):
        raise UsageError(f"--out draws numbers from left to right, and {first} isn't one")
    if len(vary) > 2:
        raise UsageError("--out draws one parameter from left to right, and a line for another")
    if len(vary) == 2 and max(len(values) for values in list(vary.values())[1:]) > len(
        LINE_COLOURS
    ):
        raise UsageError(f"--out draws at most {len(LINE_COLOURS)} lines")
    check_target(path)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def draw_curve(game: str, vary: Mapping[str, Sequence[str]], found: Tuning) -> go.Figure:
    """A measure over the values of a parameter; a line for each value of a second one."""
    first, *others = vary
    second = others[0] if others else None
    lines = []
    for place, value in enumerate(vary[second] if second else [""]):
        points = [p for p in found.points if second is None or p.parameters[second] == value]
        if points:
            lines.append(
                Line(
                    f"{second}={value}" if second else found.aim.measure,
                    [float(point.parameters[first]) for point in points],
                    [point.amount for point in points],
                    LINE_COLOURS[place],
                )
            )
    notes = [f"Certified ± {max(point.error_bound for point in found.points):.1e}."]
    if not isinstance(found.aim.goal, str):
        ends = [min(line.x[0] for line in lines), max(line.x[-1] for line in lines)]
        lines.append(Line("goal", ends, [found.aim.goal] * 2, GREY, dash="dash"))
    return draw_lines(
        lines,
        title=f"{game}: {MEASURES[found.aim.measure].partition(' (')[0]}",
        notes=notes,
        x_title=first,
        y_title=found.aim.measure,
    )
