"""Which action is best where."""

from __future__ import annotations

import html

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise.answer.solution import Solution
from rollwise.errors import UsageError
from rollwise.graph.choices import has_ties
from rollwise.plot import Choices
from rollwise.plot.fields import (
    Hover,
    action_name,
    require_choice,
    select,
    shown_values,
    value_name,
    view,
)
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.maps import Classes, draw_maps
from rollwise.plot.style import action_colours

EITHER = "either"


def best_classes(
    solution: Solution, states: NDArray[np.int64]
) -> tuple[list[str], NDArray[np.int64]]:
    """The names of what is best somewhere, and which of them is best in each state.

    Where several actions are equally good, as far as the certified error can
    tell, it is none of them but "either".
    """
    graph = solution.graph
    labels = graph.action_label[solution.best_actions[states]].astype(np.int64)
    ties = has_ties(graph, solution.is_best)[states]
    known = sorted(set(graph.action_label[_actions_of(solution, states)].tolist()))
    named = [html.escape(action_name(solution, label)) for label in known]
    names = [*dict.fromkeys(named), EITHER]  # several numbers may have one name
    place = {name: k for k, name in enumerate(names)}
    classes = np.array([place[name] for name in named])[np.searchsorted(known, labels)]
    classes[ties] = place[EITHER]
    used, classes = np.unique(classes, return_inverse=True)
    return [names[k] for k in used.tolist()], classes


def _actions_of(solution: Solution, states: NDArray[np.int64]) -> NDArray[np.bool_]:
    mine = np.zeros(solution.graph.n_states, np.bool_)
    mine[states] = True
    return np.asarray(mine[solution.graph.action_state])


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Maps of the best action, or lines of what each is worth where one field varies."""
    graph = solution.graph
    states = select(solution, require_choice(solution, "policy"), choices.where)
    names, classes = best_classes(solution, states)
    layout = view(solution, states, classes.astype(np.float64), choices)
    hover = Hover(solution)
    title = f"{graph.title}: the best action"
    if len(layout.axes) == 0:
        raise UsageError(
            f"{graph.game}: there is only one position to draw, {graph.state_text(int(states[0]))};"
            " `rollwise advise` says all about it"
        )
    if len(layout.axes) == 1:
        return _lines(solution, layout.axes[0], states, hover, title, layout.notes)
    colours = action_colours(len(names))
    if EITHER in names:
        colours[-1] = "#BBBBBB"
    class_of = np.zeros(graph.n_states)
    class_of[states] = classes
    shown = shown_values(solution, solution.values)
    return draw_maps(
        solution,
        layout,
        lambda some: class_of[some],
        hover,
        Classes(names, colours),
        title=title,
        label=lambda s: f"{shown[s]:z.1f}" if solution.is_score else f"{shown[s]:z.0f}",
        label_note=f"The numbers are the {value_name(solution)}.",
    )


def _lines(
    solution: Solution,
    field: int,
    states: NDArray[np.int64],
    hover: Hover,
    title: str,
    notes: list[str],
) -> go.Figure:
    graph = solution.graph
    values = shown_values(solution, solution.action_values)
    mine = np.flatnonzero(_actions_of(solution, states))
    place = graph.rows[:, field]
    lines = []
    labels = np.unique(graph.action_label[mine]).tolist()
    symbols = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star")
    for i, (label, colour) in enumerate(zip(labels, action_colours(len(labels)), strict=True)):
        some = mine[graph.action_label[mine] == label]
        some = some[np.argsort(place[graph.action_state[some]], kind="stable")]
        of = graph.action_state[some]
        lines.append(
            Line(
                html.escape(action_name(solution, label)),
                place[of].tolist(),
                values[some].tolist(),
                colour,
                [hover(int(s)) for s in of],
                solution.is_best[some].tolist(),
                symbol=symbols[i % len(symbols)],
            )
        )
    return draw_lines(
        lines,
        title=title,
        notes=["What each action is worth; the large marks are the best ones.", *notes],
        x_title=graph.columns[field],
        y_title=value_name(solution),
    )
