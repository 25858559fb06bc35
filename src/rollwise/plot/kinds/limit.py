"""From where on another action is best: a map of the limits of one decision."""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go

from rollwise.answer.solution import Solution
from rollwise.errors import UsageError
from rollwise.plot import Choices
from rollwise.plot.fields import field_index, require_choice, select, view
from rollwise.plot.limits import Limits, find_limits
from rollwise.plot.maps import Amounts, draw_maps
from rollwise.plot.style import AMOUNTS
from rollwise.plot.words import action_name


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Maps of the limit from which an action is best."""
    graph = solution.graph
    states = select(solution, require_choice(solution, "limit"), choices.where)
    asked = [field_index(solution, name) for name in (choices.x, choices.y) if name is not None]
    limits = find_limits(solution, states, asked)
    limit = np.zeros(graph.n_states)
    limit[limits.states] = limits.limit
    layout = view(solution, limits.states, limits.limit, choices, along=limits.field)
    if len(layout.axes) < 2:
        raise UsageError(
            f"{graph.game}: besides {graph.columns[limits.field]} fewer than two fields vary, so "
            "there is no map of limits; `policy` draws what there is"
        )
    drawn = np.concatenate([panel.states for panel in layout.panels])
    name, field = action_words(solution, limits), graph.columns[limits.field]
    low, high = float(limit[drawn].min()), float(limit[drawn].max())
    return draw_maps(
        solution,
        layout,
        lambda some: limit[some],
        lambda s: hover_text(solution, limits, s, f"{name} from {field} {limit[s]:.0f}"),
        Amounts(f"{field} from which to {name}", AMOUNTS, low, max(high, low + 1)),
        title=f"{graph.title}: from which {field} to {name}",
        notes=limit_notes(limits, name, field),
        label=lambda s: f"{limit[s]:.0f}",
        label_note="The numbers are these limits.",
    )


def action_words(solution: Solution, limits: Limits) -> str:
    """What the action above the limit is called."""
    return html.escape(action_name(solution, limits.action))


def limit_notes(limits: Limits, name: str, field: str) -> list[str]:
    """What a reader should know of the limits."""
    notes = []
    if limits.never.any():
        notes.append(f"Where {name} is never best, the limit is one above the largest {field}.")
    if limits.again:
        share = 100 * limits.again / len(limits.states)
        notes.append(f"In {share:.2g} % of the columns another action is best again higher up.")
    return notes


def hover_text(solution: Solution, limits: Limits, state: int, said: str) -> str:
    """The text of a column under the pointer."""
    fields = zip(solution.graph.columns, solution.graph.row(state), strict=True)
    along = solution.graph.columns[limits.field]
    shown = ", ".join(f"{html.escape(name)} {v}" for name, v in fields if name != along)
    return f"{shown}<br>{said}"
