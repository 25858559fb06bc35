"""The value of each position."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from rollwise.answer.solution import Solution
from rollwise.plot import Choices
from rollwise.plot.boards import draw_boards
from rollwise.plot.fields import (
    Hover,
    select,
    shown_values,
    value_name,
    value_text,
    view,
    wants_boards,
)
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.maps import Amounts, draw_maps
from rollwise.plot.style import AMOUNTS, BLUE


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Maps of the value, or a line where one field varies."""
    graph = solution.graph
    states = select(solution, graph.positions, choices.where)
    title = f"{graph.title}: {value_name(solution)} in each position"
    if wants_boards(solution, states, choices):
        return draw_boards(
            solution,
            states,
            lambda s: value_text(solution, float(solution.values[s])),
            title=title,
        )
    layout = view(solution, states, solution.values[states], choices)
    shown = shown_values(solution, solution.values)
    hover = Hover(solution)

    def text(s: int) -> str:
        return hover(s, f"worth {value_text(solution, float(solution.values[s]))}")

    if len(layout.axes) < 2:
        field = layout.axes[0] if layout.axes else 0
        place = graph.rows[states, field]
        order = states[np.argsort(place, kind="stable")]
        return draw_lines(
            [
                Line(
                    "value",
                    graph.rows[order, field].tolist(),
                    shown[order].tolist(),
                    BLUE,
                    [text(int(s)) for s in order],
                )
            ],
            title=title,
            notes=layout.notes,
            x_title=graph.columns[field],
            y_title=value_name(solution),
        )
    drawn = np.concatenate([panel.states for panel in layout.panels])
    low, high = float(shown[drawn].min()), float(shown[drawn].max())
    if not solution.is_score and high - low > 40:
        low, high = 0.0, 100.0
    return draw_maps(
        solution,
        layout,
        lambda some: shown[some],
        text,
        Amounts(value_name(solution), AMOUNTS, low, high if high > low else low + 1),
        title=title,
        label=lambda s: f"{shown[s]:z.1f}" if solution.is_score else f"{shown[s]:.0f}",
        label_note=f"The numbers are the {value_name(solution)}.",
    )
