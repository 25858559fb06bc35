"""The relative error of one method against the certified values, position by position."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go

from rollwise.answer.solution import Solution
from rollwise.errors import TooLargeForFractions, UsageError
from rollwise.graph import StateGraph, win_probability
from rollwise.graph.choices import has_choice
from rollwise.methods import find_method, run_method
from rollwise.methods.result import MethodResult
from rollwise.plot import Choices
from rollwise.plot.fields import select, view
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.maps import Amounts, draw_maps
from rollwise.plot.style import AMOUNTS, ORANGE
from rollwise.plot.words import Hover, value_text

USUAL = "linear-programming"
INSTEAD = "value-iteration"  # which always has values
SECONDS = 20.0
FLOOR = 1e-10  # smaller errors are as good as none


def _first_with_values(graph: StateGraph, names: list[str]) -> tuple[MethodResult, list[str]]:
    """The first of some methods that comes to values, and what is said of those before it."""
    missing = []
    for name in names:
        try:
            options = {"time_limit": SECONDS} if "time_limit" in find_method(name).options() else {}
            found = run_method(graph, name, **options)
        except TooLargeForFractions as error:
            missing.append(f"{name} did not run: {error}.")
            continue
        if np.all(np.isfinite(found.values)):
            return found, missing
        missing.append(
            f"{name} came to no values ({found.status} after {found.seconds:.0f} s), so that this "
            f"is {names[-1]}."
        )
    raise UsageError(f"{graph.title}: nothing to draw; {' '.join(missing)}")


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Maps of the relative error, in decades."""
    graph = solution.graph
    names = choices.methods or (USUAL,)
    if len(names) != 1:
        raise UsageError("the picture 'error' draws one method; name only one")
    found, missing = _first_with_values(graph, [names[0], INSTEAD])
    name = found.method
    if solution.is_score:
        truth, given = solution.values, found.values
    else:
        truth, given = win_probability(solution.values), win_probability(found.values)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.abs(given - truth) / np.abs(truth)
    error = np.where(truth == 0, np.abs(given), error)
    choice = np.flatnonzero(has_choice(graph))
    states = select(solution, choice if len(choice) else np.arange(graph.n_states), choices.where)
    shown = np.maximum(error, FLOOR)
    top = float(shown[states].max())
    layout = view(solution, states, np.log10(shown[states]), choices)
    hover = Hover(solution)
    title = f"{graph.title}: relative error of {name}"
    wrong = 100 * float(np.mean(error[states] > 1e-6))
    notes = [
        *missing,
        f"The method ended with the status: {found.status}. The largest relative error is "
        f"{100 * float(error[states].max()):.3g} %; {wrong:.3g} % of the positions drawn are off "
        "by more than one part in a million.",
    ]

    def text(s: int) -> str:
        worth = f"worth {value_text(solution, float(solution.values[s]))}"
        said = f"{name} says {value_text(solution, float(found.values[s]))}"
        return hover(s, f"{worth}<br>{said}<br>relative error {error[s]:.2e}")

    if len(layout.axes) < 2:
        field = layout.axes[0] if layout.axes else 0
        order = states[np.argsort(graph.states[states, field], kind="stable")]
        place = graph.states[order, field].tolist()
        hovers = [text(int(s)) for s in order]
        return draw_lines(
            [Line("error", place, shown[order].tolist(), ORANGE, hovers)],
            title=title,
            notes=[*notes, *layout.notes],
            x_title=graph.field_names[field],
            y_title="relative error",
            log=True,
        )
    high = math.ceil(math.log10(top)) if top > FLOOR else -9
    low = math.log10(FLOOR)
    ticks = list(range(round(low), high + 1, 2))
    texts = [f"10<sup>{t}</sup>" for t in ticks]
    texts[0] = f"≤ {texts[0]}"
    return draw_maps(
        solution,
        layout,
        lambda some: np.log10(shown[some]),
        text,
        Amounts("relative error", AMOUNTS, low, high, ticks, texts),
        title=title,
        notes=notes,
    )
