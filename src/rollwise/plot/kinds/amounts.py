"""The value of each position, and the costs of second-best actions or of a policy."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.graph.choices import fold_actions
from rollwise.graph.policies import Policy
from rollwise.plot import Choices
from rollwise.plot.boards import draw_boards
from rollwise.plot.fields import (
    Hover,
    best_text,
    cost_name,
    cost_text,
    often_met,
    require_choices,
    select,
    shown_costs,
    shown_values,
    value_name,
    value_text,
    view,
    wants_boards,
    without_choice,
)
from rollwise.plot.kinds.limit import turn_field
from rollwise.plot.lines import draw_numbers
from rollwise.plot.maps import Amounts, draw_maps
from rollwise.plot.style import AMOUNTS


def fit_value(solution: Solution, choices: Choices) -> None:
    """Every game has values."""


def draw_value(solution: Solution, choices: Choices) -> go.Figure:
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
        return draw_numbers(
            *(graph, states, shown, text),
            field=layout.axes[0] if layout.axes else 0,
            name="value",
            title=title,
            notes=layout.notes,
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


DECADES = 4  # how far down the colours go


def second_best_costs(solution: Solution) -> NDArray[np.float64]:
    """The cost of the second-best action of each state: (n_states,) float64, NaN without one."""
    graph = solution.graph
    regret = solution.regret.copy()
    regret[solution.best_actions] = np.inf
    second = fold_actions(graph, np.minimum, regret)
    return np.where(np.isfinite(second), second, np.nan)


def given_away(solution: Solution, policy: Policy) -> NDArray[np.float64]:
    """The average cost of a policy's actions in each state: (n_states,) float64."""
    return fold_actions(solution.graph, np.add, policy.probability * solution.regret)


fit_regret = partial(require_choices, kind="regret")


def draw_regret(solution: Solution, choices: Choices) -> go.Figure:
    """Draw maps of a cost, in decades: of the second-best action, or of a policy."""
    graph = solution.graph
    states = fit_regret(solution, choices)
    if choices.policy is None:
        costs = second_best_costs(solution)
        subject = "cost of the second-best action"
        notes = ["Dark: a close decision. Bright: a mistake is dear."]
        near_0 = "Near 0 the choice hardly matters."
    else:
        policy = Policies.of(solution, any_players=True).find(choices.policy)
        costs = given_away(solution, policy)
        subject = f"loss of {policy.name}"
        notes = ["Dark: nothing is given away. Bright: a dear mistake."]
        near_0 = "At 0 nothing is given away."
    left_out = without_choice(solution)
    title = f"{graph.title}: {subject}"
    if wants_boards(solution, states, choices):
        return draw_boards(
            solution,
            states,
            lambda s: f"{best_text(solution, s)}; {subject}: {cost_text(solution, costs[s])}",
            title=title,
            weights=often_met(solution)[states] * costs[states],
        )
    turn = turn_field(solution, states)
    layout = view(solution, states, costs[states], choices, turn=turn)
    hover = Hover(solution)
    shown = shown_costs(solution, costs)
    if len(layout.axes) == 1:
        return draw_numbers(
            *(graph, states, shown, hover),
            field=layout.axes[0],
            name="cost",
            title=title,
            notes=[near_0, *layout.notes, *left_out],
            y_title=cost_name(solution),
            baseline=True,
        )
    top = float(shown[states].max())
    high = math.ceil(math.log10(top)) if top > 0 else 0
    low = high - DECADES
    ticks = list(range(low, high + 1))
    texts = [f"{10.0**t:g}" for t in ticks]
    texts[0] = f"≤ {texts[0]}"
    return draw_maps(
        solution,
        layout,
        lambda some: np.log10(np.maximum(shown[some], 10.0**low)),
        hover,
        Amounts(cost_name(solution), AMOUNTS, low, high, ticks, texts),
        title=title,
        notes=[*notes, *left_out],
        label=lambda s: f"{shown[s]:.1f}",
        label_note=f"The numbers are the {cost_name(solution)}.",
    )
