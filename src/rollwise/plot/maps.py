"""Small maps: a number or a class for each state, over two of its fields, in panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.colors import sample_colorscale

from rollwise.answer.solution import Solution
from rollwise.plot.fields import Panel, View, escaped, field_text, places
from rollwise.plot.style import (
    LINE,
    NARROW,
    SWITCH,
    WIDE,
    Picture,
    Sheet,
    axis,
    ink_on,
    lettering,
    room_beside,
    step,
    step_scale,
)

Floats = NDArray[np.float64]
GAP_ABOVE, GAP_BESIDE = 54, 26
MOST_LINES = 6  # of the title of a panel
MOST_NAMED = 24  # classes in a legend


@dataclass(frozen=True)
class Classes:
    """The classes of a map: their names and colours, for the legend."""

    names: Sequence[str]
    colours: Sequence[str]

    @property
    def key(self) -> dict[str, str]:
        """The colours in the legend: all, or some evenly spread and the last one."""
        count = len(self.names)
        some = list(range(count))
        if count > MOST_NAMED:
            some = [k * (count - 1) // (MOST_NAMED - 1) for k in range(MOST_NAMED)]
        return {self.names[k]: self.colours[k] for k in some}

    def at(self, classes: Floats) -> list[str]:
        """The colours of some classes."""
        return [self.colours[int(k)] for k in classes.tolist()]

    @property
    def notes(self) -> list[str]:
        """Notes on the legend."""
        left = len(self.names) - len(self.key)
        return [f"{left:,} more kinds of action have colours between these."] if left else []


@dataclass(frozen=True)
class Amounts:
    """The scale of a map of amounts."""

    title: str
    scale: str | list[tuple[float, str]]
    low: float
    high: float
    ticks: Sequence[float] | None = None
    tick_texts: Sequence[str] | None = None
    key: ClassVar[dict[str, str]] = {}
    notes: ClassVar[list[str]] = []

    def at(self, amounts: Floats) -> list[str]:
        """The colours of some amounts."""
        share = np.clip((amounts - self.low) / (self.high - self.low), 0.0, 1.0)
        scale = self.scale if isinstance(self.scale, str) else [colour for _, colour in self.scale]
        return list(sample_colorscale(scale, share.tolist()))


def draw_maps(
    solution: Solution,
    view: View,
    answer: Callable[[NDArray[np.int64]], Floats],
    hover: Callable[[int], str],
    scale: Classes | Amounts,
    *,
    title: str,
    notes: Sequence[str] = (),
    label: Callable[[int], str] | None = None,
    label_note: str = "",
    hatched: str = "",
) -> go.Figure:
    """Draw maps of states.

    Parameters
    ----------
    answer : callable
        The number (or class) of each of some states.
    hover, label : callable
        The text of a state under the pointer, and in its cell where there's room.
    label_note : str
        A note on the labels, where they are shown.
    hatched : str
        The meaning of states whose answer is NaN, for the legend; without it they stay empty.
    """
    names, table = solution.graph.columns, solution.graph.rows
    x_field, y_field = view.axes
    every = np.concatenate([panel.states for panel in view.panels])
    xs = places(table[every, x_field])
    ys = places(table[every, y_field])
    count = len(view.panels)
    wide, narrow = (grid(count, len(xs), len(ys)) for grid in (_Grid.wide, _Grid.narrow))
    grids = wide.titled(view.panels), narrow.titled(view.panels)
    labels_fit, labels_fit_narrow = _labels_fit(grids, len(xs), len(ys), label, every)

    figure, key = Picture(), list[str]()
    for number, panel in enumerate(view.panels):
        z, hovers, texts = _matrices(
            table, view, panel, xs, ys, answer, hover, label if labels_fit else None
        )
        trace = go.Heatmap(
            x=xs,
            y=ys,
            z=z,
            hovertext=hovers,
            hoverinfo="text",
            coloraxis="coloraxis",
            name=panel.title,
            xaxis=_name("x", number),
            yaxis=_name("y", number),
            xgap=1 if len(xs) <= 40 else 0,
            ygap=1 if len(ys) <= 40 else 0,
        )
        figure.add_trace(trace)
        if texts is not None:
            figure.add_trace(cell_texts(trace, texts, scale))
        gaps = panel.states[np.isnan(answer(panel.states))] if hatched else panel.states[:0]
        if len(gaps):
            trace = _hatched(table, view, gaps, hover, hatched, number)
            trace.showlegend = hatched not in key  # the first of them stands for all
            key = [hatched]
            figure.add_trace(trace)
    add_scale(figure, scale)
    key = [*scale.key, *key]
    shown_notes = [*notes, *view.notes, *scale.notes]
    about_labels = [label_note] if labels_fit and label_note else []
    if labels_fit_narrow:
        shown_notes += about_labels
    named = [
        _texts(solution, names[field], ticks, table[every, field])
        for field, ticks in ((x_field, xs), (y_field, ys))
    ]
    sheet = Sheet(
        figure,
        title,
        shown_notes,
        heights=(grids[0].height, grids[1].height),
        key=key,
        bar=scale.title if isinstance(scale, Amounts) else None,
        x_title=names[x_field],
        y_title=names[y_field],
        title_lines=(grids[0].title_lines, grids[1].title_lines),
        wide_notes=[] if labels_fit_narrow else about_labels,
        seen=_seen(view, names, scale),
        left=room_beside(named[1].values()),
    )
    layouts = []
    for grid, width in zip(grids, (WIDE, NARROW), strict=True):
        layout = grid.axes(xs, ys, *named)
        layout["annotations"] = grid.titles(view.panels) + sheet.axis_titles(grid.height, width)
        layouts.append(layout)
    finished = sheet.finish(*layouts)
    finished.layout.meta["narrow_labels"] = labels_fit_narrow
    return finished


def cell_texts(cells: go.Heatmap, texts: NDArray[Any], scale: Classes | Amounts) -> go.Scatter:
    """Texts in the cells of a heatmap, black or white: a contrast of 4.5 to any colour at least."""
    rows, columns = np.nonzero(texts != "")
    z = np.asarray(cells.z, float)[rows, columns]
    return go.Scatter(
        x=[cells.x[k] for k in columns.tolist()],
        y=[cells.y[k] for k in rows.tolist()],
        mode="text",
        text=texts[rows, columns].tolist(),
        textfont={"size": 11, "color": [ink_on(colour) for colour in scale.at(z)]},
        hoverinfo="skip",
        showlegend=False,
        xaxis=cells.xaxis,
        yaxis=cells.yaxis,
    )


def _hatched(
    table: NDArray[np.int32],
    view: View,
    states: NDArray[np.int64],
    hover: Callable[[int], str],
    name: str,
    number: int,
) -> go.Bar:
    """Hatched cells for states without an answer, in the panel of this number."""
    x, y = (table[states, axis] for axis in view.axes)
    return go.Bar(
        x=x.tolist(),
        y=[1] * len(states),
        base=(y - 0.5).tolist(),
        width=1,
        marker={
            "color": "#F3F3F3",
            "line": {"width": 0},
            "pattern": {"shape": "/", "fgcolor": "#777777", "size": 6, "solidity": 0.25},
        },
        hovertext=[hover(s) for s in states.tolist()],
        hoverinfo="text",
        name=name,
        xaxis=_name("x", number),
        yaxis=_name("y", number),
    )


def _texts(
    solution: Solution, name: str, ticks: list[Any], numbers: NDArray[np.int32]
) -> dict[Any, str]:
    """The texts of the ticks of a field, at the numbers that states have."""
    used = set(numbers.tolist())
    return {t: escaped(field_text(solution, name, int(t))) for t in ticks if int(t) in used}


def _labels_fit(
    grids: tuple[_Grid, _Grid],
    nx: int,
    ny: int,
    label: Callable[[int], str] | None,
    states: NDArray[np.int64],
) -> tuple[bool, bool]:
    """Whether the cells have room for their labels, on a wide and on a narrow screen."""
    if label is None or not grids[0].cell_fits(nx, ny, 1):
        return False, False
    letters = max(len(label(s)) for s in states.tolist())
    wide = grids[0].cell_fits(nx, ny, letters)
    return wide, wide and grids[1].cell_fits(nx, ny, letters)


def _seen(view: View, names: Sequence[str], scale: Classes | Amounts) -> str:
    """The alternative text: the axes, the panels and the colours."""
    x_field, y_field = view.axes
    titles = [panel.title for panel in view.panels if panel.title]
    maps = f"{len(titles)} maps" if len(titles) > 1 else "A map"
    words = [f"{maps} of {names[y_field]} (upwards) by {names[x_field]} (across)."]
    if titles:
        words.append(f"{'One each for' if len(titles) > 1 else 'For'} {'; '.join(titles)}.")
    if isinstance(scale, Classes):
        words.append(f"Colours: {'; '.join(scale.key)}.")
    else:
        words.append(f"Colours: {scale.title}.")
    return " ".join(words)


def _name(letter: str, number: int) -> str:
    return letter if number == 0 else f"{letter}{number + 1}"


def _matrices(
    table: NDArray[np.int32],
    view: View,
    panel: Panel,
    xs: list[Any],
    ys: list[Any],
    answer: Callable[[NDArray[np.int64]], Floats],
    hover: Callable[[int], str],
    label: Callable[[int], str] | None,
) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any] | None]:
    x_field, y_field = view.axes
    columns, rows = (
        np.searchsorted(np.array(ticks).astype(np.int64), table[panel.states, field])
        for ticks, field in ((xs, x_field), (ys, y_field))
    )
    z = np.full((len(ys), len(xs)), np.nan, np.float32)
    z[rows, columns] = answer(panel.states)
    hovers = np.full(z.shape, "", object)
    hovers[rows, columns] = [hover(s) for s in panel.states.tolist()]
    texts = None
    if label is not None:
        texts = np.full(z.shape, "", object)
        texts[rows, columns] = [label(s) for s in panel.states.tolist()]
    return z, hovers, texts


def add_scale(figure: go.Figure, scale: Classes | Amounts) -> None:
    if isinstance(scale, Classes):
        figure.update_layout(
            coloraxis={
                "colorscale": step_scale(list(scale.colours)),
                "cmin": -0.5,
                "cmax": len(scale.colours) - 0.5,
                "showscale": False,
            }
        )
        for name, colour in scale.key.items():
            marker = {"symbol": "square", "size": 12, "color": colour}
            marker["line"] = {"width": 1, "color": "#777777"}
            figure.add_trace(
                go.Scatter(x=[None], y=[None], mode="markers", name=name, marker=marker)
            )
        return
    bar: dict[str, Any] = {}
    if scale.ticks is not None:
        bar = {"tickvals": list(scale.ticks), "ticktext": list(scale.tick_texts or ())}
    figure.update_layout(
        coloraxis={
            "colorscale": scale.scale,
            "cmin": scale.low,
            "cmax": scale.high,
            "colorbar": bar,
        }
    )


def _shortened(text: str, most: int) -> str:
    """A field and its number, such as ``sticks = 3``, in so many letters: the name is cut."""
    if len(text) <= most:
        return text
    name, sign, number = text.rpartition(" = ")
    room = most - len(sign + number) - 1
    return f"{name[:room]}…{sign}{number}" if sign and room > 0 else text[: most - 1] + "…"


@dataclass(frozen=True)
class _Grid:
    """Panels in rows and columns, in pixels of the plotting area."""

    count: int
    columns: int
    panel_height: int
    width: int
    least_width: int  # of the narrowest screen for the layout
    most_ticks: int
    title_lines: int = 0

    @classmethod
    def wide(cls, count: int, nx: int, ny: int) -> _Grid:
        columns = {1: 1, 2: 2, 3: 3, 4: 4, 5: 3, 6: 3, 7: 4, 8: 4, 9: 3}.get(count, 4)
        tall = {1: 500, 2: 420, 3: 320}.get(columns, 240)
        tall = min(tall, max(34 * ny, 90))
        return cls(count, columns, tall, WIDE - 88, SWITCH - 88, 40 // columns)

    @classmethod
    def narrow(cls, count: int, nx: int, ny: int) -> _Grid:
        columns = 1 if count <= 2 else 2
        tall = 300 if columns == 1 else 150
        tall = min(tall, max(30 * ny, 80))
        return cls(count, columns, tall, NARROW - 68, NARROW - 68, 12 // columns)

    @property
    def rows(self) -> int:
        return -(-self.count // self.columns)

    @property
    def height(self) -> int:
        return self.rows * self.panel_height + (self.rows - 1) * self.gap_above

    @property
    def gap_above(self) -> int:
        return GAP_ABOVE + LINE * max(self.title_lines - 1, 0)

    @property
    def panel_width(self) -> float:
        return (self.width - (self.columns - 1) * GAP_BESIDE) / self.columns

    @property
    def least_panel_width(self) -> float:
        return (self.least_width - (self.columns - 1) * GAP_BESIDE) / self.columns

    def titled(self, panels: list[Panel]) -> _Grid:
        """With room for the titles of some panels."""
        lines = [len(self._lines(panel.title)) for panel in panels if panel.title]
        return replace(self, title_lines=max(lines, default=0))

    @property
    def _title_size(self) -> int:
        return 12 if self.width > NARROW else 11

    def _lines(self, title: str) -> list[str]:
        """A title in lines that fit above a panel, broken between its fields."""
        most = int(self.least_panel_width / (self._title_size * 0.56))
        lines = [""]
        # a line is filled with whole fields as long as it has room
        for part in title.split(", "):
            shown = _shortened(part, most - 1)  # a comma may follow
            longer = f"{lines[-1]}, {shown}" if lines[-1] else shown
            if len(longer) < most or not lines[-1]:
                lines[-1] = longer
            else:
                lines[-1] += ","
                lines.append(shown)
        if len(lines) > MOST_LINES:
            lines = [*lines[: MOST_LINES - 1], " ".join(lines[MOST_LINES - 1 :])]
        return [_shortened(line, most) for line in lines]

    def cell_fits(self, nx: int, ny: int, letters: int) -> bool:
        across = self.least_panel_width / nx
        return across >= 6.4 * letters + 3 and self.panel_height / ny >= 15

    def corner(self, number: int) -> tuple[float, float]:
        """Left and top of a panel as shares of the plotting area."""
        row, column = divmod(number, self.columns)
        left = column * (self.panel_width + GAP_BESIDE) / self.width
        top = 1 - row * (self.panel_height + self.gap_above) / self.height
        return left, top

    def axes(
        self, xs: list[Any], ys: list[Any], x_texts: dict[Any, str], y_texts: dict[Any, str]
    ) -> dict[str, Any]:
        layout: dict[str, Any] = {}
        for number in range(self.count):
            left, top = self.corner(number)
            across = [left, min(1.0, left + self.panel_width / self.width)]
            down = [max(0.0, top - self.panel_height / self.height), top]
            first_column = number % self.columns == 0
            for letter, ticks, domain, shown, room in (
                ("x", xs, across, True, self.most_ticks),
                ("y", ys, down, first_column, max(2, self.panel_height // 26)),
            ):
                other = "y" if letter == "x" else "x"
                spec = axis(
                    domain=domain,
                    anchor=_name(other, number),
                    showticklabels=shown,
                    ticks="outside" if shown else "",
                    showgrid=False,
                    tickfont={"size": 11},
                    tickangle=0,
                )
                if number:
                    spec["matches"] = letter
                texts = x_texts if letter == "x" else y_texts
                letters = max(map(len, texts.values()))
                beside = max(2, int(self.panel_width / (6.6 * letters + 8)))
                most = beside if letter == "x" else room
                if isinstance(ticks[0], str):
                    spec["type"] = "category"
                    spec["categoryarray"] = ticks
                    spec["range"] = [-0.5, len(ticks) - 0.5]
                else:
                    spec["range"] = [ticks[0] - 0.5, ticks[-1] + 0.5]
                    spec["dtick"] = step(ticks[0], ticks[-1], min(most, room))
                    spec["tick0"] = 0
                named = [t for t in ticks if t in texts]
                if any(isinstance(t, str) or texts[t] != str(t) for t in named):
                    spec["tickvals"] = named[:: -(-len(named) // most)]
                    spec["ticktext"] = [texts[tick] for tick in spec["tickvals"]]
                layout[f"{letter}axis{number + 1 if number else ''}"] = spec
        return layout

    def titles(self, panels: list[Panel]) -> list[dict[str, Any]]:
        return [
            lettering(
                "<br>".join(map(escaped, self._lines(panel.title))),
                *self.corner(number),
                xanchor="left",
                yanchor="bottom",
                align="left",
                font={"size": self._title_size},
            )
            for number, panel in enumerate(panels)
            if panel.title
        ]
