"""The relative residual: how far values are from the best of their own actions."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise.answer.solution import Solution
from rollwise.graph import sign_of
from rollwise.graph.choices import fold_actions
from rollwise.graph.lookahead import action_gaps
from rollwise.plot import Choices
from rollwise.plot.method_maps import Measure, draw_measure


def best_worth(solution: Solution, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the best action of each state is worth, if values follow: (n_states,) float64."""
    graph, sign = solution.graph, sign_of(solution.graph.objective)
    gaps = action_gaps(graph, values, np.empty(0))
    return np.asarray(values + sign * fold_actions(graph, np.maximum, sign * gaps))


RESIDUAL = Measure(
    "relative residual", "what the best action is worth by these same values", best_worth
)


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Maps of the relative residual, in decades."""
    return draw_measure(solution, choices, "residual", RESIDUAL)
