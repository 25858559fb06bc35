"""The best action of each position: in maps, or in a box for every position.

Boxes stand in some lines for each number of one field.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise.answer.solution import Solution
from rollwise.errors import UsageError
from rollwise.graph import win_probability
from rollwise.graph.choices import actions_of, has_ties
from rollwise.plot import Choices
from rollwise.plot.boards import draw_boards
from rollwise.plot.fields import (
    Hover,
    action_name,
    any_of,
    best_names,
    best_text,
    escaped,
    field_text,
    require_choice,
    require_choices,
    select,
    shown_values,
    value_name,
    view,
    wants_boards,
    without_choice,
)
from rollwise.plot.kinds.limit import turn_field
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.maps import Classes, add_scale, cell_texts, draw_maps
from rollwise.plot.style import (
    BLUE,
    GREY,
    NARROW,
    WIDE,
    Picture,
    Sheet,
    action_colours,
    axis,
    rgb,
    room_beside,
)

TIED = "#BBBBBB"
PALE = (0.35, 0.8)  # shares of white in the mixtures of colours
MOST_BOXES = 300
MOST_CURVES = 8  # actions with a line each
ACROSS = 7  # boxes in a line: as many as a narrow screen has room for
LINE = 38  # pixels
LETTERS = 38  # of a line of the legend, for which a narrow screen has room


@dataclass(frozen=True)
class BestActions:
    """Sets of actions that are equally good in some states.

    Several actions, equally good within the certified error, share a class: ``roll or hold``. Such
    classes come last.

    Attributes
    ----------
    parts : list of tuple of str
        The names of the actions of each class.
    classes : (n,) int64
        The class of each state.
    colour_of : dict of str to str
        The colour of each action by its name.
    """

    parts: list[tuple[str, ...]]
    classes: NDArray[np.int64]
    colour_of: dict[str, str]

    @property
    def names(self) -> list[str]:
        """The classes in words."""
        return [any_of(part) for part in self.parts]

    @property
    def colours(self) -> list[str]:
        """A colour for each class; several ties have pale mixtures of their actions' colours.

        The first of these mixtures is the darkest, and the last the palest, so that they differ
        also where their actions have similar colours.
        """
        single = [part[0] for part in self.parts if len(part) == 1]
        colours = self.colour_of
        tied = self.parts[len(single) :]
        if len(tied) == 1:
            return [*(colours[name] for name in single), TIED]
        pale = np.linspace(*PALE, len(tied)).tolist()
        mixed = [_mixed([colours[n] for n in part], p) for part, p in zip(tied, pale, strict=True)]
        return [*(colours[name] for name in single), *mixed]

    def legend(self) -> Classes:
        """The legend of a picture."""
        lines = (textwrap.wrap(name, LETTERS) or [""] for name in self.names)
        return Classes(["<br>".join(map(escaped, parts)) for parts in lines], self.colours)


def best_classes(solution: Solution, states: NDArray[np.int64]) -> BestActions:
    """The best actions of some states."""
    graph = solution.graph
    labels = graph.action_label[solution.best_actions[states]].astype(np.int64)
    ties = has_ties(graph, solution.is_best)[states]
    known = np.unique(graph.action_label[actions_of(graph, states)[0]]).tolist()
    named = [(action_name(solution, label),) for label in known]
    tied = [best_names(solution, s) for s in states[ties].tolist()]
    parts: dict[str, tuple[str, ...]] = {any_of(part): part for part in named}
    for part in sorted(set(tied), key=any_of):
        parts.setdefault(any_of(part), part)
    place = {text: k for k, text in enumerate(parts)}
    classes = np.array([place[any_of(part)] for part in named])[np.searchsorted(known, labels)]
    classes[ties] = [place[any_of(part)] for part in tied]
    used, classes = np.unique(classes, return_inverse=True)
    every = list(parts.values())
    shown = [every[k] for k in used.tolist()]
    names = list(dict.fromkeys(chain(*sorted(shown, key=len))))  # single actions come first
    label_of = {name: label for (name,), label in zip(named, known, strict=True)}
    colours = action_colours(graph, [label_of[name] for name in names])
    return BestActions(shown, classes, dict(zip(names, colours, strict=True)))


def _mixed(colours: Sequence[str], white: float) -> str:
    """The mixture of some colours, with a share of white."""
    parts = np.array([rgb(colour) for colour in colours]).mean(axis=0)
    return "#" + "".join(f"{round(p + (255 - p) * white):02X}" for p in parts.tolist())


fit_policy = partial(require_choices, kind="policy")


def draw_policy(solution: Solution, choices: Choices) -> go.Figure:
    """Draw maps of the best action, or lines of the actions' values where one field varies."""
    graph = solution.graph
    states = fit_policy(solution, choices)
    title = f"{graph.title}: the best action"
    if wants_boards(solution, states, choices):
        return draw_boards(solution, states, partial(best_and_worth, solution), title=title)
    best = best_classes(solution, states)
    turn = turn_field(solution, states)
    layout = view(solution, states, best.classes.astype(np.float64), choices, turn=turn)
    hover = Hover(solution)
    if len(layout.axes) == 1:
        notes = [*layout.notes, *without_choice(solution)]
        return _action_lines(solution, layout.axes[0], states, hover, title, notes)
    class_of = np.zeros(graph.n_states)
    class_of[states] = best.classes
    shown = shown_values(solution, solution.values)
    return draw_maps(
        solution,
        layout,
        lambda some: class_of[some],
        hover,
        best.legend(),
        title=title,
        notes=without_choice(solution),
        label=lambda s: f"{shown[s]:z.1f}" if solution.is_score else f"{shown[s]:z.0f}",
        label_note=f"The numbers are the {value_name(solution)}.",
    )


def best_and_worth(solution: Solution, state: int) -> str:
    """All best actions of a state, and its value."""
    value = float(solution.values[state])
    worth = f"{value:z.2f} points" if solution.is_score else f"{100 * win_probability(value):.1f} %"
    return f"{best_text(solution, state)}: {worth}"


def _action_lines(
    solution: Solution,
    field: int,
    states: NDArray[np.int64],
    hover: Hover,
    title: str,
    notes: list[str],
) -> go.Figure:
    graph = solution.graph
    values = shown_values(solution, solution.action_values)
    mine = actions_of(graph, states)[0]
    place = graph.rows[:, field]
    lines = []
    every = np.unique(graph.action_label[mine])
    often = np.bincount(graph.action_label[mine], solution.is_best[mine] + 0.0)[every]
    labels = sorted(every[np.argsort(-often, kind="stable")[:MOST_CURVES]].tolist())
    if len(every) > len(labels) and not set(every.tolist()) & graph.vocabulary.names.keys():
        return _best_numbers(solution, field, mine[solution.is_best[mine]], hover, title, notes)
    if len(every) > len(labels):
        notes = [f"The {len(labels)} of {len(every):,} actions that are best most often.", *notes]
    symbols = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star")
    for i, (label, colour) in enumerate(zip(labels, action_colours(graph, labels), strict=True)):
        some = mine[graph.action_label[mine] == label]
        some = some[np.argsort(place[graph.action_state[some]], kind="stable")]
        of = graph.action_state[some]
        lines.append(
            Line(
                escaped(action_name(solution, label)),
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


def _best_numbers(
    solution: Solution,
    field: int,
    best: NDArray[np.int64],
    hover: Hover,
    title: str,
    notes: Sequence[str],
) -> go.Figure:
    """Points of the best actions of many whose names are numbers, such as bets."""
    graph = solution.graph
    states = graph.action_state[best]
    unit = () if solution.game is None else solution.game.action_unit
    name = f"best number of {unit[1]}" if unit else "best action"
    points = Line(
        name,
        graph.rows[states, field].tolist(),
        graph.action_label[best].tolist(),
        BLUE,
        [hover(s) for s in states.tolist()],
        dash="",
    )
    return draw_lines(
        [points],
        title=title,
        notes=["Each point is a best action. Points above each other are equally good.", *notes],
        x_title=graph.columns[field],
        y_title=name,
        baseline=True,
    )


def draw_boxes(solution: Solution, choices: Choices) -> go.Figure:
    """Boxes with the other fields and the value in them, in the colour of the best action."""
    graph = solution.graph
    states = select(solution, require_choice(solution, "picture"), choices.where)
    if len(states) > MOST_BOXES:
        raise UsageError(
            f"{graph.title}: {len(states):,} positions are more boxes than one figure has room for "
            f"({MOST_BOXES}); choose some with where (--where), or draw maps (policy)"
        )
    fields = graph.rows[states]
    differ = np.flatnonzero((fields != fields[0]).any(axis=0)).tolist() or [0]
    if choices.y is not None and choices.y not in graph.columns:
        known = ", ".join(graph.columns)
        raise UsageError(f"{graph.game}: there is no field {choices.y!r} ({known})")
    upward = differ[0] if choices.y is None else graph.columns.index(choices.y)
    others = [field for field in differ if field != upward]
    best = best_classes(solution, states)
    shown, hover = shown_values(solution, solution.values), Hover(solution)

    def told(field: int, number: int) -> str:
        return escaped(field_text(solution, graph.columns[field], int(number)))

    lines: list[list[int]] = []  # of places in `states`, from below
    groups: list[tuple[int, int, str]] = []
    # some lines of boxes for each number of the upward field
    for number in np.unique(fields[:, upward]).tolist():
        row = np.flatnonzero(fields[:, upward] == number)
        row = row[np.lexsort(fields[row][:, others[::-1]].T)] if others else row
        parts = [row[k : k + ACROSS].tolist() for k in range(0, len(row), ACROSS)]
        groups.append((len(lines), len(lines) + len(parts), told(upward, number)))
        lines += reversed(parts)  # one reads them from above
    z = np.full((len(lines), ACROSS), np.nan)
    texts, hovers = np.full(z.shape, "", object), np.full(z.shape, "", object)
    for y, line in enumerate(lines):
        for x, place in enumerate(line):
            s = int(states[place])
            value = f"{shown[s]:z.2f}" if solution.is_score else f"{shown[s]:z.0f}"
            z[y, x] = best.classes[place]
            above = "/".join(told(f, fields[place, f]) for f in others)
            texts[y, x] = f"{above}<br>{value}" if above else value
            hovers[y, x] = hover(s)
    other = "/".join(graph.columns[field] for field in others)
    note = f"In each box: {other}{', and beneath it ' if other else ''}the {value_name(solution)}."
    return _boxed(
        f"{graph.title}: the best action, a box for each position",
        [note, *without_choice(solution)],
        graph.columns[upward],
        best.legend(),
        (z, texts, hovers),
        groups,
    )


def _boxed(
    title: str,
    notes: list[str],
    field: str,
    scale: Classes,
    boxes: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    groups: list[tuple[int, int, str]],
) -> go.Figure:
    """Boxes by line and place: their classes, texts and texts under the pointer.

    Parameters
    ----------
    groups : list of (int, int, str)
        The first line of each number of the field, the line after its last one, and its text.
    """
    figure, (classes, texts, hovers), n = Picture(), boxes, len(boxes[0])
    cells = go.Heatmap(
        x=list(range(ACROSS)),
        y=list(range(n)),
        z=classes,
        hovertext=hovers,
        hoverinfo="text",
        coloraxis="coloraxis",
        xgap=2,
        ygap=2,
    )
    figure.add_traces([cells, cell_texts(cells, texts, scale)])
    add_scale(figure, scale)
    counts = np.isfinite(classes).sum(axis=1)
    sheet = Sheet(
        figure,
        title,
        notes,
        heights=(LINE * n, LINE * n),
        key=list(scale.key),
        y_title=field,
        left=room_beside(text for _, _, text in groups),
        bottom=16,
        seen=f"{int(counts.sum())} boxes, {field} upwards. Colours: {'; '.join(scale.key)}.",
    )
    rules = [
        {
            "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": end - 0.5, "y1": end - 0.5,
            "line": {"color": GREY, "width": 1},
        }
        for _, end, _ in groups[:-1]
    ]  # fmt: skip
    layout = {
        "xaxis": axis(visible=False),
        "yaxis": axis(
            range=[-0.5, n - 0.5],
            tickvals=[(begin + end - 1) / 2 for begin, end, _ in groups],
            ticktext=[text for _, _, text in groups],
            showgrid=False,
        ),
        "shapes": rules,
    }
    finished = sheet.finish(
        *({**layout, "annotations": sheet.axis_titles(LINE * n, width)} for width in (WIDE, NARROW))
    )
    finished.layout.meta["narrow_labels"] = True
    return finished
