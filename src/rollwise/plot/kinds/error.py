"""The relative error of one method: how far its values are from the certified ones."""

from __future__ import annotations

import plotly.graph_objects as go

from rollwise.answer.solution import Solution
from rollwise.plot import Choices
from rollwise.plot.method_maps import Measure, draw_measure

ERROR = Measure("relative error", "the certified values", lambda solution, values: solution.values)


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Maps of the relative error, in decades."""
    return draw_measure(solution, choices, "error", ERROR)
