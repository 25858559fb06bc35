"""The picture of docs/lesson.md: win probabilities of Piglet after each sweep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import plotly.graph_objects as go

import rollwise
from rollwise.games.pig import Piglet
from rollwise.methods.value_iteration import value_iteration
from rollwise.plot.pages import write_figure
from rollwise.plot.style import LINE_COLOURS, NARROW, WIDE, Picture, Sheet, axis

PICTURE = Path(__file__).resolve().parents[1] / "images" / "lesson.svg"
TITLE = "Piglet to 3: win probability after each sweep"
STATES = ((2, 2, 0), (0, 0, 2), (0, 0, 1), (1, 1, 0), (0, 0, 0))
SWEEPS = 30


def draw() -> None:
    """Draw the values of some states, sweep by sweep."""
    graph = rollwise.build(Piglet(target=3))
    rows = [np.zeros(graph.n_states)]
    value_iteration(graph, max_sweeps=SWEEPS, on_values=lambda values: rows.append(values.copy()))
    worth = (1 + np.array(rows)) / 2
    picture = Picture()
    for state, colour in zip(STATES, LINE_COLOURS, strict=False):
        y = worth[:, graph.view.find(state)]
        picture.add_trace(
            go.Scatter(y=y, name=str(state), mode="lines+markers", line={"color": colour})
        )
    sheet = Sheet(
        picture,
        TITLE,
        ["States: points of the mover, of the opponent, of the turn. Sweep 0 is the start: ½."],
        heights=(360, 360),
        key=[str(state) for state in STATES],
        x_title="sweep",
        y_title="win probability",
        seen="Five lines that approach their limits.",
    )
    layouts = [
        {"xaxis": axis(), "yaxis": axis(), "annotations": sheet.axis_titles(0, width)}
        for width in (WIDE, NARROW)
    ]
    write_figure(sheet.finish(*layouts), PICTURE, TITLE, 900)


if __name__ == "__main__":
    draw()
