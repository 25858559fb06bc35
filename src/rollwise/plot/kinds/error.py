"""How far the values of one method are off, position by position: maps in decades.

The relative error holds them against the certified ones, and the relative residual against the best
of their own actions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise.answer.solution import Solution
from rollwise.derive.larger import larger
from rollwise.errors import TooLargeForFractions, UsageError
from rollwise.graph import sign_of, win_probability
from rollwise.graph.choices import action_gaps, fold_actions, has_choice
from rollwise.methods import find_method, run_method
from rollwise.methods.result import MethodResult
from rollwise.methods.sweeping import ORDERS
from rollwise.plot import Choices
from rollwise.plot.boards import draw_boards
from rollwise.plot.fields import Hover, select, value_text, view, wants_boards
from rollwise.plot.lines import draw_numbers
from rollwise.plot.maps import Amounts, draw_maps
from rollwise.plot.style import AMOUNTS, ORANGE

USUAL = "linear-programming"
INSTEAD = "value-iteration"  # a method with values in any case
SECONDS = 20.0
FLOOR = 1e-10  # smaller amounts are as good as none


@dataclass(frozen=True)
class Measure:
    """A measure of a method's values.

    Attributes
    ----------
    name : str
        Such as ``relative error``.
    against : str
        The reference of the values, in words.
    reference : callable
        Computes the reference from the solution and the method's values: (n_states,) float64.
    """

    name: str
    against: str
    reference: Callable[[Solution, NDArray[np.float64]], NDArray[np.float64]]

    def of(self, solution: Solution, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The distance of values from the reference, relative to it: (n_states,) float64.

        Of win probabilities, or of expected scores.
        """
        truth = self.reference(solution, values)
        if not solution.is_score:
            truth, values = win_probability(truth), win_probability(values)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.abs(values - truth) / np.abs(truth)
        return np.where(truth == 0, np.abs(values), share)


def read_method(text: str) -> tuple[str, dict[str, Any]]:
    """A method and its options: ``linear-programming:whole=no``, ``value-iteration:sound``.

    An order of sweeps stands for itself: ``value-iteration:components``.

    Raises
    ------
    UsageError
        There is no such method, option or value.
    """
    name, *words = text.split(":")
    settings = find_method(name).settings()
    options: dict[str, Any] = {}
    for word in words:
        option, _, value = (f"order={word}" if word in ORDERS else word).partition("=")
        key = option.replace("-", "_")
        if key not in settings:
            raise UsageError(
                f"{text!r}: {name} has no option {option!r} (it has "
                f"{', '.join(settings) or 'none'})"
            )
        options[key] = settings[key].parse(name, value or "true")
    return name, options


def _run(solution: Solution, text: str) -> MethodResult:
    name, options = read_method(text)
    known = find_method(name).options()
    if "time_limit" in known:
        options = {"time_limit": SECONDS, **options}
    if "larger" in known and solution.game is not None:
        options["larger"] = partial(larger, solution.game, solution.graph)
    return run_method(solution.graph, name, **options)


def _first_with_values(solution: Solution, texts: list[str]) -> tuple[str, MethodResult, list[str]]:
    """The first method with values, and notes on the methods tried before it."""
    missing = []
    for text in texts:
        try:
            found = _run(solution, text)
        except TooLargeForFractions as error:
            missing.append(f"{text} did not run: {error}.")
            continue
        if np.all(np.isfinite(found.values)):
            return text, found, missing
        missing.append(
            f"{text} came to no values ({found.status} after {found.seconds:.0f} s), so that this "
            f"is {texts[-1]}."
        )
    raise UsageError(f"{solution.graph.title}: nothing to draw; {' '.join(missing)}")


def draw_measure(solution: Solution, choices: Choices, kind: str, measure: Measure) -> go.Figure:
    """Maps of a measure of the requested method, in decades."""
    names = choices.methods or (USUAL,)
    if len(names) != 1:
        raise UsageError(f"the picture {kind!r} draws one method; name only one")
    name, found, missing = _first_with_values(solution, [names[0], INSTEAD])
    return draw_result(solution, found, measure, choices, name, missing)


def draw_result(
    solution: Solution,
    found: MethodResult,
    measure: Measure,
    choices: Choices,
    name: str,
    missing: Sequence[str] = (),
) -> go.Figure:
    """Maps of a measure of a method's values, in decades.

    Parameters
    ----------
    name : str
        The name of the method.
    missing : sequence of str
        Notes on methods without values, tried before.
    """
    graph = solution.graph
    amount = measure.of(solution, found.values)
    choice = np.flatnonzero(has_choice(graph))
    states = select(solution, choice if len(choice) else graph.positions, choices.where)
    shown = np.maximum(amount, FLOOR)
    top = float(shown[states].max())
    if top <= FLOOR:
        raise UsageError(
            f"{graph.title}: {name} is right to {FLOOR:g} in each position, so the picture of its "
            f"{measure.name} would be empty; a method that stops early has errors, such as "
            "value-iteration:epsilon=1e-4"
        )
    title = f"{graph.title}: {measure.name} of {name}"
    far = 100 * float(np.mean(amount[states] > 1e-6))
    notes = [
        *missing,
        f"How far its values are from {measure.against}.",
        f"The method ended with the status: {found.status}. The largest {measure.name} is "
        f"{100 * float(amount[states].max()):.3g} %; {far:.3g} % of the positions drawn are off "
        "by more than one part in a million.",
    ]

    if wants_boards(solution, states, choices):
        return draw_boards(
            solution,
            states,
            lambda s: f"{measure.name} {100 * amount[s]:.3g} %",
            title=title,
            notes=notes,
            weights=amount[states],
        )
    layout = view(solution, states, np.log10(shown[states]), choices)
    hover = Hover(solution)

    def text(s: int) -> str:
        worth = f"worth {value_text(solution, float(solution.values[s]))}"
        said = f"{name} says {value_text(solution, float(found.values[s]))}"
        return hover(s, f"{worth}<br>{said}<br>{measure.name} {amount[s]:.2e}")

    if len(layout.axes) < 2:
        return draw_numbers(
            *(graph, states, shown, text),
            field=layout.axes[0] if layout.axes else 0,
            name=measure.name,
            colour=ORANGE,
            title=title,
            notes=[*notes, *layout.notes],
            y_title=measure.name,
            log=True,
        )
    low = round(math.log10(FLOOR))
    high = max(math.ceil(math.log10(max(top, FLOOR))), low + 2)  # at least two ticks
    ticks = list(range(low, high + 1, 2))
    texts = [f"10<sup>{t}</sup>" for t in ticks]
    texts[0] = f"≤ {texts[0]}"
    return draw_maps(
        solution,
        layout,
        lambda some: np.log10(shown[some]),
        text,
        Amounts(measure.name, AMOUNTS, low, high, ticks, texts),
        title=title,
        notes=notes,
    )


def best_worth(solution: Solution, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The value of each state's best action, from the successors' values: (n_states,) float64."""
    graph, sign = solution.graph, sign_of(solution.graph.objective)
    gaps = action_gaps(graph, values, np.empty(0))
    return np.asarray(values + sign * fold_actions(graph, np.maximum, sign * gaps))


ERROR = Measure("relative error", "the certified values", lambda solution, values: solution.values)
RESIDUAL = Measure(
    "relative residual", "the value of the best action by these same values", best_worth
)

draw_error = partial(draw_measure, kind="error", measure=ERROR)
draw_residual = partial(draw_measure, kind="residual", measure=RESIDUAL)
