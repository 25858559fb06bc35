"""Changes and true errors, sweep by sweep: a small change doesn't prove a small error.

The sweeps are those of methods for optimal values, or of the iterative evaluation of a named
policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise.answer.evaluation import Evaluation, evaluate
from rollwise.answer.references import Policies
from rollwise.answer.solution import Solution
from rollwise.errors import UsageError
from rollwise.graph.policies import Policy
from rollwise.methods import METHODS, find_method, run_method
from rollwise.methods.result import MethodResult, Status
from rollwise.methods.sweeping import ORDERS
from rollwise.numbers.printed import rounded_up
from rollwise.plot import Choices
from rollwise.plot.kinds.error import read_method
from rollwise.plot.lines import Line, draw_lines
from rollwise.plot.style import GREY, LINE_COLOURS

USUAL = ("value-iteration", "value-iteration:components")
USUAL_ORDERS = ("reversed", "forward")
MOST_SWEEPS = 400
SECONDS = 20.0  # for each method
STOP = 1e-14
CHANGE = "largest change of a value"


@dataclass(frozen=True)
class Trace:
    """The course of a method.

    Attributes
    ----------
    watched : list of float
        The method's own `history`.
    errors : list of float
        The largest distance of a value from the certified ones, after each sweep.
    result : MethodResult
    """

    watched: list[float]
    errors: list[float]
    result: MethodResult


def draw(solution: Solution, choices: Choices) -> go.Figure:
    """Draw a line for each method's stopping criterion, and one for its true error."""
    if choices.policy is not None:
        return _draw_evaluation(solution, choices.policy, choices.methods, choices.theta)
    if choices.theta is not None:
        raise UsageError("theta is for the evaluation of a policy: name the policy too")
    graph = solution.graph
    runs = [(name, *_read(name)) for name in choices.methods or USUAL]
    # In win probabilities, half as far apart as values.
    scale = 1.0 if solution.is_score else 0.5
    unit = "points" if solution.is_score else "win probability"
    lines, notes, counted = [], [], set()
    changes = bounds = False
    for (name, method, options), colour in zip(runs, LINE_COLOURS, strict=False):
        found = trace(solution, method, **options)
        sweeps = list(range(1, len(found.errors) + 1))
        what = str(found.result.details["history"])
        changes |= what == CHANGE
        bounds |= what != CHANGE
        step = str(found.result.details.get("sweeps", "sweeps"))
        counted.add(step)
        key = name
        if not found.result.converged:
            done = f"{len(sweeps)} {step}"
            key += f" (stopped after {done})"
            notes.append(f"{name} had not come to rest after {done}: {found.result.status}.")
        for words, numbers, dash in (
            ("change" if what == CHANGE else what, found.watched, "dot"),
            ("true error", found.errors, "solid"),
        ):
            shown = [scale * number if number > 0 else float("nan") for number in numbers]
            lines.append(Line(f"{name}: {words}", sweeps, shown, colour, dash=dash, key=key))
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
            f"Dotted: {'; '.join(dotted)}. Full: the largest true error, against the certified "
            f"values (± {rounded_up(scale * solution.error_bound)}).",
            *notes,
        ],
        x_title=" or ".join(sorted(counted, reverse=True)),
        y_title=f"largest over all positions ({unit})",
        log=True,
        markers=max(len(line.x) for line in lines) <= 40,
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
    scale = 1.0 if solution.is_score else 0.5
    lines, notes, most = [], [], 1
    for order, colour in zip(orders or USUAL_ORDERS, LINE_COLOURS, strict=False):
        found, errors = trace_evaluation(solution, policy, exact, order, theta)
        sweeps = list(range(1, len(errors) + 1))
        most = max(most, len(sweeps))
        for words, numbers, dash in (
            ("change", found.history, "dot"),
            ("true error", errors, "solid"),
        ):
            shown = [number if number > 0 else float("nan") for number in numbers]
            lines.append(Line(f"{order}: {words}", sweeps, shown, colour, dash=dash, key=order))
        ended = "stopped" if found.status is Status.CONVERGED else str(found.status)
        notes.append(
            f"{order}: {ended} after {len(sweeps)} sweeps, the last change {found.history[-1]:.2g} "
            f"and the error {errors[-1]:.2g}."
        )
    if theta:
        lines.append(Line(f"θ = {theta:g}", [1, most], [theta, theta], GREY, dash="dash"))
    bound = rounded_up(scale * float(np.nanmax(exact.bounds)))
    return draw_lines(
        lines,
        title=f"{graph.title}: evaluation of {policy.name}, sweep by sweep",
        notes=[
            "Dotted: the largest change of a sweep, at which the evaluation stops; it is no bound "
            f"on the error. Full: the largest true error, against certified values (± {bound}).",
            *notes,
        ],
        x_title="sweeps",
        y_title=f"largest over all positions ({unit})",
        log=True,
        markers=most <= 40,
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

    found = evaluate(
        solution,
        policy,
        method="iterative",
        theta=STOP if theta is None else theta,
        order=order,
        max_sweeps=MOST_SWEEPS,
        time_limit=SECONDS,
        on_values=keep,
    )
    return found, errors


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


def trace(solution: Solution, method: str, **options: Any) -> Trace:
    """Run a method and keep its true error after each sweep, in values."""
    errors: list[float] = []

    def keep(values: NDArray[np.float64]) -> None:
        errors.append(float(np.max(np.abs(values - solution.values))))

    limits = {"epsilon": STOP, "max_sweeps": MOST_SWEEPS, "max_rounds": MOST_SWEEPS}
    known = find_method(method).options()
    given = {name: value for name, value in limits.items() if name in known}
    found = run_method(
        solution.graph, method, on_values=keep, time_limit=SECONDS, **given, **options
    )
    return Trace(list(found.history), errors, found)
