"""Changes and true errors, sweep by sweep: how little a stopping threshold says."""

from __future__ import annotations

import time

import numpy as np
import plotly.graph_objects as go

from rollwise.errors import UsageError
from rollwise.methods.sweeping import ORDERS, Sweeper
from rollwise.plot import Choices
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.style import COLOURS
from rollwise.solution import Solution

USUAL = ("synchronous", "components")
MOST_SWEEPS = 400
SECONDS = 20.0  # for each order
STOP = 1e-14


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """A line for the changes and one for the true errors of each order of sweeping."""
    graph = solution.graph
    orders = choices.methods or USUAL
    for order in orders:
        if order not in ORDERS:
            raise UsageError(
                f"the picture 'convergence' draws value iteration in some order of sweeping, and "
                f"there is no order {order!r} (orders: {', '.join(ORDERS)})"
            )
    # Of win probabilities, which are half as far apart as values are.
    scale = 1.0 if solution.is_score else 0.5
    unit = "points" if solution.is_score else "win probability"
    lines = []
    for order, colour in zip(orders, COLOURS, strict=False):
        changes, errors = trace(solution, order)
        sweeps = list(range(1, len(changes) + 1))
        for name, numbers, dash in (("change", changes, "dot"), ("true error", errors, "solid")):
            shown = [scale * number if number > 0 else float("nan") for number in numbers]
            lines.append(Line(f"{order}: {name}", sweeps, shown, colour, dash=dash))
    bound = scale * solution.error_bound
    return draw_lines(
        lines,
        title=f"{graph.title}: value iteration, sweep by sweep",
        notes=[
            "Dotted: the largest change of a sweep, which is what a stopping threshold looks at. "
            "Full: the largest true error, against the certified values "
            f"(± {bound:.1e}). The change is no bound on the error."
        ],
        x_title="sweep",
        y_title=f"largest over all positions ({unit})",
        log=True,
        markers=False,
    )


def trace(solution: Solution, order: str) -> tuple[list[float], list[float]]:
    """The largest change and the largest true error of each sweep, in values."""
    graph = solution.graph
    sweeper = Sweeper(graph, order)
    changes: list[float] = []
    errors: list[float] = []
    started = time.monotonic()
    while len(changes) < MOST_SWEEPS and time.monotonic() - started < SECONDS:
        change, _ = sweeper.sweep()
        changes.append(change)
        errors.append(float(np.max(np.abs(sweeper.values[: graph.n_states] - solution.values))))
        if change <= STOP:
            break
    return changes, errors
