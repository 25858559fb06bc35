"""The errors of methods: position by position as maps, and sweep by sweep as lines.

A relative error of one method compares its values with the certified ones, a relative residual with
the best of their own actions. Both are drawn in decades.

Sweep by sweep, changes stand beside true errors: a small change does not prove a small error. The
sweeps are those of methods for optimal values, or of the iterative evaluation of a named policy.
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

from rollwise.answer.certified import run_settled
from rollwise.answer.evaluation import Evaluation, evaluate
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.derive.larger import larger
from rollwise.errors import TooLargeForFractions, UsageError
from rollwise.graph import sign_of, unit_of, win_probability
from rollwise.graph.choices import action_gaps, fold_actions, has_choice
from rollwise.graph.policies import Policy
from rollwise.methods import METHODS, find_method
from rollwise.methods.result import MethodResult, Status
from rollwise.methods.sweeping import ORDERS
from rollwise.numbers.printed import rounded_up
from rollwise.plot import Choices
from rollwise.plot.boards import draw_boards
from rollwise.plot.fields import Hover, select, value_text, view, wants_boards
from rollwise.plot.lines import Line, draw_lines, draw_numbers
from rollwise.plot.maps import Amounts, draw_maps
from rollwise.plot.style import AMOUNTS, GREY, LINE_COLOURS, ORANGE

USUAL = "linear-programming"
INSTEAD = "value-iteration"  # a method with values in any case
SECONDS = 20.0  # for each method
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
    accepted = find_method(name).options()
    if "time_limit" in accepted:
        options = {"time_limit": SECONDS, **options}
    if "larger" in accepted and solution.game is not None:
        options["larger"] = partial(larger, solution.game, solution.graph)
    return run_settled(solution.graph, name, **options)


def _first_with_values(solution: Solution, texts: list[str]) -> tuple[str, MethodResult, list[str]]:
    """The first method with values, and notes on the methods tried before it."""
    missing = []
    for text in texts:
        try:
            result = _run(solution, text)
        except TooLargeForFractions as error:
            missing.append(f"{text} did not run: {error}.")
            continue
        if np.all(np.isfinite(result.values)):
            return text, result, missing
        missing.append(
            f"{text} came to no values ({result.status} after {result.seconds:.0f} s), so that "
            f"this is {texts[-1]}."
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


USUAL_METHODS = ("value-iteration", "value-iteration:components")
USUAL_ORDERS = ("reversed", "forward")
MOST_SWEEPS = 400
MOST_MARKERS = 40
STOP = 1e-14
CHANGE = "largest change of a value"


def _two_lines(
    name: str, key: str, word: str, watched: Sequence[float], errors: Sequence[float], colour: str
) -> list[Line]:
    """A dotted line with rings for the watched amount, and a full one with dots for the errors."""
    sweeps = list(range(1, len(errors) + 1))
    return [
        Line(
            f"{name}: {words}",
            sweeps,
            [number if number > 0 else float("nan") for number in numbers],
            colour,
            dash=dash,
            symbol=symbol,
            key=key,
        )
        for words, numbers, dash, symbol in (
            (word, watched, "dot", "circle-open"),
            ("true error", errors, "solid", "circle"),
        )
    ]


def draw_convergence(solution: Solution, choices: Choices) -> go.Figure:
    """Draw a line for each method's stopping criterion, and one for its true error."""
    if choices.policy is not None:
        return _draw_evaluation(solution, choices.policy, choices.methods, choices.theta)
    if choices.theta is not None:
        raise UsageError("theta is for the evaluation of a policy: name the policy too")
    graph = solution.graph
    runs = [(name, *_read(name)) for name in choices.methods or USUAL_METHODS]
    # In win probabilities, half as far apart as values.
    scale = unit_of(solution)
    unit = "points" if solution.is_score else "win probability"
    lines, notes, counted = [], [], set()
    changes = bounds = False
    for (name, method, options), colour in zip(runs, LINE_COLOURS, strict=False):
        result, errors = trace(solution, method, **options)
        what = str(result.details["history"])
        changes |= what == CHANGE
        bounds |= what != CHANGE
        step = str(result.details.get("sweeps", "sweeps"))
        counted.add(step)
        key = name
        if not result.converged:
            done = f"{len(errors)} {step}"
            key += f" (stopped after {done})"
            notes.append(f"{name} had not come to rest after {done}: {result.status}.")
        word = "change" if what == CHANGE else what
        watched, off = ([scale * number for number in some] for some in (result.history, errors))
        lines += _two_lines(name, key, word, watched, off, colour)
    dotted, dashes = [], []
    if changes:
        dotted.append("the largest change of a sweep, which is no bound on the error")
        dashes.append("largest change of a sweep")
    if bounds:
        dotted.append("half the widest bounds, which is one")
        dashes.append("half the widest bounds")
    return draw_lines(
        lines,
        title=f"{graph.title}: sweep by sweep",
        notes=[
            f"Dotted lines or rings: {'; '.join(dotted)}. Full lines or dots: the largest true "
            f"error, against the certified values (± {rounded_up(scale * solution.error_bound)}).",
            *notes,
        ],
        x_title=" or ".join(sorted(counted, reverse=True)),
        y_title=f"largest over all positions ({unit})",
        log=True,
        most_markers=MOST_MARKERS,
        dashes=[(" or ".join(dashes), "dot"), ("largest true error", "solid")],
    )


def _draw_evaluation(
    solution: Solution, name: str, orders: tuple[str, ...] | None, theta: float | None
) -> go.Figure:
    """A line for the changes of each order of sweeping, and one for its true error."""
    graph = solution.graph
    for order in orders or ():
        if order not in ORDERS:
            raise UsageError(
                f"with a policy, the methods are orders of sweeping ({', '.join(ORDERS)}), and "
                f"{order!r} is none"
            )
    if theta is not None and not theta >= 0:
        raise UsageError(f"theta is {theta}; it can't be less than 0")
    policy = Policies.of(solution).find(name)
    exact = evaluate(solution, policy)
    assert exact.bounds is not None
    unit = "points" if solution.is_score else "win probability"
    scale = unit_of(solution)
    lines, notes, most = [], [], 1
    for order, colour in zip(orders or USUAL_ORDERS, LINE_COLOURS, strict=False):
        evaluation, errors = trace_evaluation(solution, policy, exact, order, theta)
        most = max(most, len(errors))
        lines += _two_lines(order, order, "change", evaluation.history, errors, colour)
        ended = "stopped" if evaluation.status is Status.CONVERGED else str(evaluation.status)
        notes.append(
            f"{order}: {ended} after {len(errors)} sweeps, the last change "
            f"{evaluation.history[-1]:.2g} and the error {errors[-1]:.2g}."
        )
    if theta:
        lines.append(Line(f"θ = {theta:g}", [1, most], [theta, theta], GREY, dash="dash"))
    bound = rounded_up(scale * float(np.nanmax(exact.bounds)))
    return draw_lines(
        lines,
        title=f"{graph.title}: evaluation of {policy.name}, sweep by sweep",
        notes=[
            "Dotted lines or rings: the largest change of a sweep, at which the evaluation stops; "
            "it is no bound on the error. Full lines or dots: the largest true error, against "
            f"certified values (± {bound}).",
            *notes,
        ],
        x_title="sweeps",
        y_title=f"largest over all positions ({unit})",
        log=True,
        most_markers=MOST_MARKERS,
        dashes=[("largest change of a sweep", "dot"), ("largest true error", "solid")],
    )


def trace_evaluation(
    solution: Solution, policy: Policy, exact: Evaluation, order: str, theta: float | None
) -> tuple[Evaluation, list[float]]:
    """Evaluate a policy by sweeps, and keep the true error after each of them.

    Returns
    -------
    found : Evaluation
        After sweeps to `theta`; unless given, as far as doubles carry.
    errors : list of float
        The largest distance of a win probability (or value) from the exact ones, by sweep.
    """
    truth = exact.values if solution.is_score else exact.win_probability
    errors: list[float] = []

    def keep(worth: NDArray[np.float64]) -> None:
        with np.errstate(invalid="ignore"):  # where play never ends, both are infinite
            errors.append(float(np.nanmax(np.abs(worth - truth))))

    evaluation = evaluate(
        solution,
        policy,
        method="iterative",
        theta=STOP if theta is None else theta,
        order=order,
        max_sweeps=MOST_SWEEPS,
        time_limit=SECONDS,
        on_values=keep,
    )
    return evaluation, errors


def _read(text: str) -> tuple[str, dict[str, Any]]:
    """A method with values after each sweep, and its options; or an order of value iteration.

    Raises
    ------
    UsageError
        There is no such method, option or value; or the method has no values to follow.
    """
    name, options = read_method(f"value-iteration:{text}" if text in ORDERS else text)
    if "on_values" not in find_method(name).options():
        able = [other for other in METHODS if "on_values" in find_method(other).options()]
        raise UsageError(
            f"{name} ({find_method(name).about}) has no values of all positions before it ends, so "
            f"there is nothing to draw sweep by sweep (methods that have: {', '.join(able)})"
        )
    return name, options


def trace(solution: Solution, method: str, **options: Any) -> tuple[MethodResult, list[float]]:
    """Run a method and keep its true error after each sweep, in values."""
    errors: list[float] = []

    def keep(values: NDArray[np.float64]) -> None:
        errors.append(float(np.max(np.abs(values - solution.values))))

    limits = {"epsilon": STOP, "max_sweeps": MOST_SWEEPS, "max_rounds": MOST_SWEEPS}
    accepted = find_method(method).options()
    given = {name: value for name, value in limits.items() if name in accepted}
    result = run_settled(
        solution.graph, method, on_values=keep, time_limit=SECONDS, **given, **options
    )
    return result, errors
