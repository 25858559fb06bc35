"""Lines: where only one field varies, sweep by sweep, and over the parameters of a game."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise.analysis.tuning import CHANCES, MEASURES, Tuning
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.plot.pages import check_target
from rollwise.plot.style import BLUE, GREY, LINE_COLOURS, Picture, Sheet, axis

Floats = NDArray[np.float64]


@dataclass
class Line:
    """One line: its points, its name and colour, and the text of each point.

    Without a dash it is points only.
    Lines with the same ``key`` have one entry in the legend, under that name.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    hovers: Sequence[str] | None = None
    filled: Sequence[bool] | None = None
    dash: str = "solid"
    symbol: str = "circle"
    key: str = ""

    def __post_init__(self) -> None:
        self.x, self.y, self.key = list(self.x), list(self.y), self.key or self.name


def draw_lines(
    lines: Sequence[Line],
    *,
    title: str,
    notes: Sequence[str],
    x_title: str,
    y_title: str,
    log: bool = False,
    most_markers: int = 120,
    baseline: bool = False,
    dashes: Sequence[tuple[str, str]] = (),
) -> go.Figure:
    """Draw lines over one axis of whole numbers.

    Parameters
    ----------
    most_markers : int
        A line of more points has no markers.
    dashes : sequence of (str, str)
        The meaning of a kind of line, and its dash: entries of the legend, in grey.
    """
    figure = Picture()
    keys = list(dict.fromkeys(line.key for line in lines))
    for line in lines:
        few = len(line.x) <= most_markers
        size: Any = 9
        if line.filled is not None:
            size = [11 if best else 5 for best in line.filled]
        figure.add_trace(
            go.Scatter(
                x=line.x,
                y=line.y,
                name=line.name,
                mode="markers" if not line.dash else "lines+markers" if few else "lines",
                line={"color": line.colour, "width": 2, "dash": line.dash or None},
                marker={"color": line.colour, "size": size, "symbol": line.symbol},
                hovertext=line.hovers,
                hoverinfo="text" if line.hovers is not None else "x+y+name",
                legendgroup=line.key,
                showlegend=line.key == line.name,
            )
        )
    samples = []
    # lines that share a key have one entry in the legend: a sample without points
    for line in {line.key: line for line in lines if line.key != line.name}.values():
        alike = {other.dash for other in lines if other.key == line.key}
        samples.append((line.key, line.colour, line.dash if len(alike) == 1 else "solid"))
    for name, colour, dash in [*samples, *((name, GREY, dash) for name, dash in dashes)]:
        figure.add_trace(
            go.Scatter(
                x=[None],
                y=[None],
                mode="lines",
                line={"color": colour, "width": 2, "dash": dash},
                name=name,
                legendgroup=name,
            )
        )
    low = min((min(line.x) for line in lines if line.x), default=0)
    high = max((max(line.x) for line in lines if line.x), default=1)
    y_axis = axis(type="log", exponentformat="power", tickfont={"size": 11}) if log else axis()
    if baseline:
        y_axis["rangemode"] = "tozero"
    key = [*keys, *(name for name, _ in dashes)] if len(keys) > 1 or dashes else []
    figure.update_layout(yaxis=y_axis, showlegend=bool(key))
    sheet = Sheet(
        figure,
        title,
        list(notes),
        key=key,
        x_title=x_title,
        y_title=y_title,
        left=82,
        seen=_seen(lines, dashes, x_title, y_title, log),
    )
    return sheet.finish_over(low, high, 0.04 * max(high - low, 1), (20, 7))


def draw_numbers(
    graph: StateGraph,
    states: NDArray[np.int64],
    numbers: Floats,
    hover: Callable[[int], str],
    *,
    field: int,
    name: str,
    colour: str = BLUE,
    **how: Any,
) -> go.Figure:
    """Draw a number of each of some states over one field: a single line; see `draw_lines`."""
    order = states[np.argsort(graph.rows[states, field], kind="stable")]
    places, texts = graph.rows[order, field].tolist(), [hover(s) for s in order.tolist()]
    line = Line(name, places, numbers[order].tolist(), colour, texts)
    return draw_lines([line], x_title=graph.columns[field], **how)


def _seen(
    lines: Sequence[Line],
    dashes: Sequence[tuple[str, str]],
    x_title: str,
    y_title: str,
    log: bool,
) -> str:
    """The alternative text: the axes, and both ends of each line."""
    scale = ", on a logarithmic scale" if log else ""
    words = [f"Lines: {y_title} (upwards{scale}) over {x_title} (across)."]
    words += [f"{name}: {dash} lines." for name, dash in dashes]
    for line in lines:
        points = [(x, y) for x, y in zip(line.x, line.y, strict=True) if math.isfinite(y)]
        if not points:
            continue
        name = "" if len(lines) == 1 else f"{line.name}: "
        ends = [f"{y:.3g} at {x:g}" for x, y in (points[0], points[-1])]
        words.append(f"{name}{' to '.join(dict.fromkeys(ends))}.")
    return " ".join(words)


def check_curve(vary: Mapping[str, Sequence[str]], path: Path) -> None:
    """Raise, before any work, if a curve can't be drawn.

    Raises
    ------
    UsageError
        The first parameter isn't a number, more than two vary, or the file has another ending.
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
        float(Fraction(text))
    except (ValueError, ZeroDivisionError, OverflowError):
        return False
    return True


def draw_curve(game: str, vary: Mapping[str, Sequence[str]], found: Tuning) -> go.Figure:
    """A measure over the values of a parameter; a line for each value of a second one."""
    first, *others = vary
    second = others[0] if others else None
    scale, unit = (100, " %") if found.aim.measure in CHANCES else (1, "")
    label = found.aim.measure.replace("_", " ")
    lines = []
    for place, value in enumerate(vary[second] if second else [""]):
        points = [p for p in found.points if second is None or p.parameters[second] == value]
        if points:
            lines.append(
                Line(
                    f"{second}={value}" if second else label,
                    [float(Fraction(point.parameters[first])) for point in points],
                    [scale * point.amount for point in points],
                    LINE_COLOURS[place],
                )
            )
    bound = scale * max(point.error_bound for point in found.points)
    notes = [f"Certified ± {bound:.1e}{unit}."]
    if isinstance(found.aim.goal, float):
        ends = [min(line.x[0] for line in lines), max(line.x[-1] for line in lines)]
        lines.append(Line("goal", ends, [scale * found.aim.goal] * 2, GREY, dash="dash"))
    return draw_lines(
        lines,
        title=f"{game}: {MEASURES[found.aim.measure].partition(' (')[0]}",
        notes=notes,
        x_title=first,
        y_title=label + (unit and " (%)"),
    )
