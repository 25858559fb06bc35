"""Shared by all pictures: colours, lettering, and a layout for wide and for narrow screens.

Colours are those of Okabe and Ito (2008), distinct for any colour vision, and cividis (Nuñez,
Anderton and Renslow 2018) for amounts; both keep their order in grey print. Plotly breaks no lines
and moves no panels by itself, so each figure has two layouts: the wide one, and the changes for a
screen of 400 pixels in ``layout.meta["narrow"]``. ``layout.meta["alt"]`` is the alternative text
for people without sight.

Plotly's output in a notebook needs a running notebook, so an exported page (nbconvert) would show
an empty cell. A `Picture` adds a page to its output.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go

from rollwise.graph import StateGraph
from rollwise.graph.naming import THROW
from rollwise.numbers.printed import with_minus
from rollwise.plot.pages import page

WIDE, NARROW = 1100, 400
SWITCH = 760  # least width of the wide layout in pixels; its lines are broken for this width
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
# In this order neighbours also differ in lightness.
COLOURS = (BLUE, ORANGE, GREEN, "#F0E442", RED, "#56B4E9", "#CC79A7", "#000000")
LINE_COLOURS = tuple(c for c in COLOURS if c not in ("#F0E442", "#000000"))  # on white and black
AMOUNTS = "cividis"
GREY = "#8a8a8a"
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
GRID = "rgba(128,128,128,0.25)"

SHOWN = ("text", "hovertext", "ticktext", "customdata", "alt")  # parts of a figure with words
TITLE_SIZE, NOTE_SIZE = 17, 12
LEFT = 64  # least width of the left margin, in pixels


def action_colours(graph: StateGraph, labels: Sequence[int]) -> list[str]:
    """The colours of some actions, grey for a throw.

    If all actions of the game have colours, an action has the same one in every picture. Otherwise
    the actions of a picture share them.
    """
    moves = [label for label in labels if label != THROW]
    every = np.unique(graph.action_label[graph.action_label != THROW]).tolist()
    if len(every) > len(COLOURS):
        every = moves
    colours = dict(zip(every, different_colours(len(every)), strict=True))
    return [colours.get(label, GREY) for label in labels]


def different_colours(n: int) -> list[str]:
    """So many colours: those of `COLOURS` while they last, then a ramp."""
    if n <= len(COLOURS):
        return list(COLOURS[:n])
    from plotly.colors import sample_colorscale

    return [str(c) for c in sample_colorscale("viridis", [i / (n - 1) for i in range(n)])]


def step_scale(colours: list[str]) -> list[tuple[float, str]]:
    """A colour scale with one colour for each whole number from 0."""
    n = len(colours)
    return [(at / n, colour) for i, colour in enumerate(colours) for at in (i, i + 1)]


def rgb(colour: str) -> list[int]:
    """The parts of a colour: ``#0072B2`` or ``rgb(1, 2, 3)``."""
    if colour.startswith("#"):
        return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return [round(float(part)) for part in colour[4:-1].split(",")]


def ink_on(colour: str) -> str:
    """Black or white, whichever has the higher contrast to a colour (luminance of WCAG 2)."""
    shares = [part / 255 for part in rgb(colour)]
    light = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
    return "#000000" if luminance > 0.179 else "#ffffff"


LINE = 15  # the height of a line above a panel, in pixels


@dataclass
class Sheet:
    """A figure with its lettering, laid out twice.

    Attributes
    ----------
    title : str
    notes, wide_notes : list of str
        Sentences beneath the title; the second ones in the wide layout only.
    heights : (wide, narrow)
        Of the plotting area, in pixels.
    key : list of str
        Entries of the legend, for its height; `bar` is the height of a colour bar.
    x_title, y_title : str
        Of all panels together.
    seen : str
        The content in a sentence: with title and notes the alternative text of the figure.
    title_lines : (wide, narrow)
        Number of lines of lettering just above the plotting area.
    """

    figure: go.Figure
    title: str
    notes: list[str] = field(default_factory=list)
    heights: tuple[float, float] = (420, 320)
    wide_notes: list[str] = field(default_factory=list)
    key: list[str] = field(default_factory=list)
    bar: str | None = None
    x_title: str = ""
    y_title: str = ""
    title_lines: tuple[int, int] = (0, 0)
    left: int = LEFT
    bottom: int = 56
    seen: str = ""

    def finish(
        self, wide: dict[str, Any] | None = None, narrow: dict[str, Any] | None = None
    ) -> go.Figure:
        """Lay the figure out; the arguments are further layout for each width."""
        layouts = []
        for width, height, more in zip((WIDE, NARROW), self.heights, (wide, narrow), strict=True):
            layout = {**self._layout(width, height)}
            lettering = layout["annotations"] + (more or {}).get("annotations", [])
            layouts.append({**layout, **(more or {}), "annotations": lettering})
        self.figure.update_layout(layouts[0])
        self.figure.update_layout(
            meta={
                "narrow": layouts[1],
                "wide": layouts[0],
                "title": plain(self.title),
                "alt": plain(
                    " ".join([f"{self.title}.", self.seen, *self.notes, *self.wide_notes])
                ),
            },
            font={"family": FONT, "size": 13, "color": "#222222"},
            paper_bgcolor="white",
            plot_bgcolor="white",
            hoverlabel={"align": "left"},
        )
        return self.figure

    def finish_over(
        self, low: float, high: float, room: float, ticks: tuple[int, int], **more: Any
    ) -> go.Figure:
        """Lay the figure out over an axis of whole numbers, with room beyond both ends.

        Parameters
        ----------
        ticks : (wide, narrow)
            Largest numbers of ticks.
        more : other settings of the axis
        """
        layouts = []
        for width, most in zip((WIDE, NARROW), ticks, strict=True):
            across = axis(
                range=[low - room, high + room], dtick=step(low, high, most), tick0=0, **more
            )
            layouts.append({"xaxis": across, "annotations": self.axis_titles(0, width)})
        return self.finish(*layouts)

    def _layout(self, width: int, height: float) -> dict[str, Any]:
        small = width == NARROW
        left = self.left - 10 if small else self.left
        right = 14 if small else 24
        text_width = NARROW if small else SWITCH
        title = textwrap.wrap(self.title, int((text_width - 32) / 10)) or [""]
        said = self.notes if small else self.notes + self.wide_notes
        notes = [line for n in said for line in textwrap.wrap(n, int((text_width - 36) / 6.4))]
        text = f"<b>{'<br>'.join(title)}</b>"
        if notes:
            text += f'<br><span style="font-size:{NOTE_SIZE}px">{"<br>".join(notes)}</span>'
        above = LINE * self.title_lines[small] + 5 if self.title_lines[small] else 4
        key_height = 0.0
        layout: dict[str, Any] = {}
        if self.key:
            room = text_width - left - right
            lines = [[len(line) for line in name.split("<br>")] for name in self.key]
            widths = [max(letters) * 7.4 + 46 for letters in lines]
            # entries share one line if they have room, or stand in columns of the widest
            columns = len(widths) if sum(widths) <= room else max(int(room // max(widths)), 1)
            rows = [lines[k : k + columns] for k in range(0, len(lines), columns)]
            key_height = 6 + sum(7 + 17 * max(map(len, row)) for row in rows)
            layout["showlegend"] = True  # Plotly leaves out the legend of a single entry
            layout["legend"] = {
                "orientation": "h",
                "x": 0,
                "y": 1 + above / height,
                "xanchor": "left",
                "yanchor": "bottom",
                "itemsizing": "constant",
                "traceorder": "normal",
                "bgcolor": "rgba(0,0,0,0)",
            }
        if self.bar is not None:
            key_height += 58
            layout["coloraxis.colorbar"] = {
                "orientation": "h",
                "title": {"text": self.bar, "side": "top", "font": {"size": 12}},
                "x": 0.5,
                "y": 1 + (above + (24 if self.key else 0)) / height,
                "xanchor": "center",
                "yanchor": "bottom",
                "len": 1.0 if small else 0.6,
                "thickness": 12,
                "xpad": 4,
                "ypad": 4,
                "tickfont": {"size": 11},
            }
        top = 24 + 22.1 * (len(title) + len(notes)) + key_height + above + 6
        layout |= {
            "margin": {"l": left, "r": right, "t": top, "b": self.bottom, "pad": 0},
            "height": top + height + self.bottom,
            # Plotly's own titles move up with every line, so this is an annotation.
            "annotations": [
                lettering(
                    text,
                    0,
                    1,
                    xanchor="left",
                    yanchor="top",
                    align="left",
                    xshift=14 - left,
                    yshift=top - 10,
                    font={"size": TITLE_SIZE},
                )
            ],
        }
        return layout

    def axis_titles(self, height: float, width: int) -> list[dict[str, Any]]:
        """The titles of the axes, once for all panels, as annotations."""
        small = width == NARROW
        found = []
        if self.x_title:
            found.append(
                lettering(self.x_title, 0.5, 0, yshift=-(self.bottom - 4), yanchor="bottom")
            )
        if self.y_title:
            found.append(
                lettering(
                    self.y_title,
                    0,
                    0.5,
                    xshift=-(self.left - (12 if small else 4)),
                    xanchor="left",
                    textangle=-90,
                )
            )
        return found


def room_beside(texts: Iterable[str]) -> int:
    """The width of the left margin for these ticks, in pixels."""
    return max(LEFT, 36 + int(6.4 * max(map(len, texts), default=0)))


def plain(markup: str) -> str:
    """A text without Plotly's markup: bold, raised and broken lines."""
    text = re.sub("<sup>", "^", markup.replace("<br>", " "))
    return " ".join(html.unescape(re.sub("<[^>]*>", "", text)).split())


def lettering(text: str, x: float, y: float, **more: Any) -> dict[str, Any]:
    """An annotation at a place in shares of the plotting area."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        **{"font": {"size": 13}, **more},
    }


def axis(**more: Any) -> dict[str, Any]:
    """A plain axis, with thin lines visible on white and on black."""
    return {
        "gridcolor": GRID,
        "linecolor": GREY,
        "showline": True,
        "zeroline": False,
        "ticks": "outside",
        "tickcolor": GREY,
        "ticklen": 4,
        "automargin": False,
        **more,
    }


def step(low: float, high: float, most: int) -> int:
    """Whole steps between the ticks of an axis, for at most `most` ticks."""
    wanted = (high - low) / max(most, 1)
    for size in (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000):
        if size >= wanted:
            return size
    return max(1, int(wanted / 1000 + 1) * 1000)


def _with_minus(part: Any, *, is_shown: bool) -> Any:
    """A part of a figure, with the mathematical sign in all shown texts."""
    if isinstance(part, dict):
        return {
            name: _with_minus(one, is_shown=is_shown or name in SHOWN) for name, one in part.items()
        }
    if isinstance(part, np.ndarray) and part.dtype.kind in "OU" and is_shown:
        shown = [_with_minus(one, is_shown=True) for one in part.ravel().tolist()]
        return np.array(shown, object).reshape(part.shape)
    if isinstance(part, list | tuple):
        return type(part)(_with_minus(one, is_shown=is_shown) for one in part)
    return with_minus(part) if isinstance(part, str) and is_shown else part


class Picture(go.Figure):  # type: ignore[misc]
    """A Plotly figure, visible in an exported notebook as well."""

    _ipython_display_ = None  # Plotly's; IPython would prefer it to the bundle

    def to_dict(self) -> dict[str, Any]:
        """The figure as it is shown and written."""
        return dict(_with_minus(super().to_dict(), is_shown=False))

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        bundle = dict(super()._repr_mimebundle_(*args, **kwargs) or {})
        return {**bundle, "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        """The figure in a frame, independent of a network and of the notebook's scripts."""
        meta = self.layout.meta
        if not meta or "wide" not in meta:  # a figure from elsewhere
            return str(self.to_html(full_html=False))
        title = meta["title"]
        height = meta["wide"]["height"] + 20
        return (
            f'<iframe srcdoc="{html.escape(page(self, title))}" title="{html.escape(title)}" '
            f'style="width:100%;height:{height:.0f}px;border:0"></iframe>'
        )
