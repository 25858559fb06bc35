"""Costs of the second-best actions, or losses of a policy, in each position."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.errors import UsageError
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
    require_choice,
    select,
    shown_costs,
    view,
    wants_boards,
)
from rollwise.plot.kinds.limit import turn_field
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.maps import Amounts, draw_maps
from rollwise.plot.style import AMOUNTS, BLUE

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


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Draw maps of a cost, in decades: of the second-best action, or of a policy."""
    graph = solution.graph
    states = select(solution, require_choice(solution, "regret"), choices.where)
    if choices.policy is None:
        costs = second_best_costs(solution)
        subject = "the second-best action costs"
        notes = ["Dark: a close decision. Bright: a mistake is dear."]
        near_0 = "Near 0 the choice hardly matters."
    else:
        policy = Policies.of(solution, any_players=True).find(choices.policy)
        costs = given_away(solution, policy)
        subject = f"{policy.name} gives away"
        notes = ["Dark: nothing is given away. Bright: a dear mistake."]
        near_0 = "At 0 nothing is given away."
    title = f"{graph.title}: what {subject}"
    if wants_boards(solution, states, choices):
        return draw_boards(
            solution,
            states,
            lambda s: f"{best_text(solution, s)}; {subject} {cost_text(solution, costs[s])}",
            title=title,
            weights=often_met(solution)[states] * costs[states],
        )
    turn = turn_field(solution, states)
    layout = view(solution, states, costs[states], choices, turn=turn)
    hover = Hover(solution)
    shown = shown_costs(solution, costs)
    if len(layout.axes) == 0:
        raise UsageError(
            f"{graph.game}: there is only one position to draw, {graph.state_text(int(states[0]))};"
            " `rollwise advise` says all about it"
        )
    if len(layout.axes) == 1:
        field = layout.axes[0]
        order = states[np.argsort(graph.rows[states, field], kind="stable")]
        return draw_lines(
            [
                Line(
                    "cost",
                    graph.rows[order, field].tolist(),
                    shown[order].tolist(),
                    BLUE,
                    [hover(int(s)) for s in order],
                )
            ],
            title=title,
            notes=[near_0, *layout.notes],
            x_title=graph.columns[field],
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
        notes=notes,
        label=lambda s: f"{shown[s]:.1f}",
        label_note=f"The numbers are the {cost_name(solution)}.",
    )
