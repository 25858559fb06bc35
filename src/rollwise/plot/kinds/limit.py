"""The limit of a decision: the number in one field from which another action is best.

A column is a set of states with different numbers in that field only. A threshold along a field,
one for each combination of the other fields, gets some positions right and a constant doesn't.
This share is the part explained by the field. A threshold is also a rule of when to stop, so the
share is multiplied by another one: of the moves within a turn, those with a change of the field.
The points of the present turn change with them, and the rival's banked points don't.

With three or more players the order of the others matters. The limit is then compared with the
limit after a swap of the next player and the one after, for the same fields of the mover.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from rollwise.answer.solution import Solution
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import has_ties, outcome_action
from rollwise.graph.naming import field_label
from rollwise.numbers.printed import how_many
from rollwise.plot import Choices
from rollwise.plot.fields import (
    action_name,
    action_verb,
    asked_fields,
    columns_along,
    escaped,
    field_text,
    is_sparse,
    require_choice,
    select,
    set_fields,
    view,
)
from rollwise.plot.maps import Amounts, draw_maps
from rollwise.plot.style import AMOUNTS, BLUE, RED, step

Ints = NDArray[np.int64]

OFTEN = 0.02  # smallest share of positions where the drawn action is best
Floats = NDArray[np.float64]
LIKE = "#EFEFEF"


@dataclass(frozen=True)
class Threshold:
    """A field, and the action that is best from some number upwards.

    Attributes
    ----------
    field : int
    action : int
        A label.
    gain : float
        The share of positions right by thresholds and wrong by constants, times the
        share of the moves within a turn that change the field.
    """

    field: int
    action: int
    gain: float


def find_threshold(
    graph: StateGraph, states: Ints, label: NDArray[np.int32], fields: list[int]
) -> Threshold | None:
    """The best threshold along one of some fields; None where no action is best often enough.

    Parameters
    ----------
    states : (n,) int64
    label : (n,) int32
        The best action of each of them.
    fields : list of int
        The candidates.
    """
    moved = moved_within_turn(graph, states)
    if not moved[fields].any():  # turns of one move: any field will do
        moved[:] = 1.0
    known, counts = np.unique(label, return_counts=True)
    often = known[counts >= OFTEN * counts.sum()]
    table = graph.rows[states]
    found = [
        Threshold(field, int(action), moved[field] * gain)
        for field in fields
        if moved[field] > 0
        for action, gain in zip(often, _gains(table, field, label, often), strict=True)
    ]
    return max(found, key=lambda threshold: threshold.gain, default=None)


def moved_within_turn(graph: StateGraph, states: Ints) -> NDArray[np.float64]:
    """For each field, the share of outcomes within a turn with a change of it."""
    mine = np.zeros(graph.n_states, np.bool_)
    mine[states] = True
    goes_on = (graph.outcome_state >= 0) & (graph.outcome_passes == 0)
    goes_on &= graph.outcome_state < graph.n_states
    source = graph.action_state[outcome_action(graph)]
    goes_on &= mine[source]
    before, after = graph.rows[source[goes_on]], graph.rows[graph.outcome_state[goes_on]]
    return np.asarray((before != after).mean(axis=0)) if len(before) else np.zeros(before.shape[1])


def turn_field(solution: Solution, states: Ints) -> int | None:
    """The field of the threshold within a turn, or else the one that changes most there."""
    graph = solution.graph
    sets = set_fields(solution, states)
    table = graph.rows[states]
    fields = [
        f for f in range(table.shape[1]) if f not in sets and len(np.unique(table[:, f])) >= 3
    ]
    if graph.players == 1 or not fields:
        return None
    moved = moved_within_turn(graph, states)[fields]
    if not moved.any():
        return None
    label = graph.action_label[solution.best_actions[states]]
    found = find_threshold(graph, states, label, fields)
    return found.field if found is not None and found.gain else fields[int(moved.argmax())]


def _gains(
    table: NDArray[np.int32], field: int, label: NDArray[np.int32], actions: NDArray[np.int32]
) -> list[float]:
    """How much thresholds along a field say of where each of some actions is best."""
    order, begin = columns_along(table, field)
    size = np.diff(np.append(begin, len(order)))
    # states in columns, each from the lowest height up: `place` is the index within its column
    column = np.repeat(np.arange(len(begin)), size)
    place = np.arange(len(order)) - begin[column]
    gains = []
    # for every action, each place of each column is tried as the threshold
    for action in actions:
        inside = (label[order] == action).astype(np.int64)
        total = np.add.reduceat(inside, begin)
        so_far = np.cumsum(inside) - inside
        below = so_far - so_far[begin][column]
        # Wrong with a threshold here: those inside below it, and those outside from it on.
        wrong = below + (size[column] - place) - (total[column] - below)
        # `total` errors are those of a threshold above the column: the action nowhere
        with_threshold = np.minimum(np.minimum.reduceat(wrong, begin), total)
        # the best constant: the action everywhere, or nowhere
        with_constant = np.minimum(total, size - total)
        gains.append(float((with_constant - with_threshold).sum() / len(order)))
    return gains


@dataclass(frozen=True)
class Limits:
    """The limits of all columns of some states.

    Attributes
    ----------
    field : int
        The field along the columns.
    action : int
        The label of the best action from the limit on.
    states : (n,) int64
        The lowest state of each column, its representative.
    limit : (n,) float64
        The least number in the field where the action is best; NaN where it never is.
    again : int
        Columns with another best action again higher up.
    actions : int
        Number of actions that are best somewhere.
    """

    field: int
    action: int
    states: Ints
    limit: Floats
    again: int
    actions: int

    @property
    def tells_all(self) -> bool:
        """Whether the limits describe the whole decision between two actions."""
        return self.actions == 2

    @property
    def never(self) -> NDArray[np.bool_]:
        """The columns where the action is never best: (n,) bool."""
        return np.isnan(self.limit)


def find_limits(solution: Solution, states: Ints, without: list[int]) -> Limits:
    """The limits of the decision in some states.

    Parameters
    ----------
    states : (n,) int64
    without : list of int
        Excluded fields.

    Raises
    ------
    UsageError
        There is no such decision.
    """
    graph = solution.graph
    table = graph.rows[states]
    label = graph.action_label[solution.best_actions[states]]
    solid = [
        f
        for f in range(table.shape[1])
        if f not in without and len(np.unique(table[:, f])) >= 3 and not is_sparse(table[:, f])
    ]
    found = find_threshold(graph, states, label, solid) if solid else None
    if found is None or not found.gain:
        raise UsageError(
            f"{graph.title}: along no field is there a limit from which another action is best "
            f"(in {100 * OFTEN:g} % of the positions or more); draw `policy` instead"
        )
    columns, limit, again = limits_along(solution, states, found.field, found.action)
    return Limits(found.field, found.action, columns, limit, again, len(np.unique(label)))


def limits_along(
    solution: Solution, states: Ints, field: int, action: int
) -> tuple[Ints, Floats, int]:
    """The limit of an action in each column along a field.

    An action that is as good as another counts as best, from the limit on and right below it.

    Returns
    -------
    columns : (n,) int64
        The lowest state of each column.
    limit : (n,) float64
        The least number in the field where the action is best; NaN where it never is.
    again : int
        Columns with states above the limit where the action isn't best.
    """
    graph = solution.graph
    order, begin = columns_along(graph.rows[states], field)
    states = states[order]
    height = graph.rows[states, field].astype(np.float64)
    column = np.repeat(np.arange(len(begin)), np.diff(np.append(begin, len(order))))
    good = where_best(solution, action)[states]
    limit = _first(good & ~has_ties(graph, solution.is_best)[states], height, begin)
    tied = _tied_below(good, column, height, limit)
    limit = np.fmin(np.where(np.isnan(limit), _first(good, height, begin), limit), tied)
    above = ~good & (height > limit[column])  # false where the limit is NaN
    return states[begin], limit, len(np.unique(column[above]))


def where_best(solution: Solution, action: int) -> NDArray[np.bool_]:
    """The states where an action is best, alone or with others: (n_states,) bool."""
    graph = solution.graph
    best = np.zeros(graph.n_states, np.bool_)
    best[graph.action_state[solution.is_best & (graph.action_label == action)]] = True
    return best


def _first(inside: NDArray[np.bool_], height: Floats, begin: Ints) -> Floats:
    """The least height inside in each column; NaN without one."""
    first = np.minimum.reduceat(np.where(inside, height, np.inf), begin)
    return np.where(np.isinf(first), np.nan, first)


def _tied_below(good: NDArray[np.bool_], column: Ints, height: Floats, limit: Floats) -> Floats:
    """The lowest of the good states right below each limit, of columns from the lowest state up."""
    # the first state of each run of good ones within a column
    starts = good & ~np.append(False, good[:-1] & (column[1:] == column[:-1]))
    # for each state the start of the last run before it
    start = np.maximum.accumulate(np.where(starts, np.arange(len(good)), 0))
    at = np.flatnonzero(height == limit[column])
    lowest = np.full(len(limit), np.nan)
    lowest[column[at]] = height[start[at]]
    return lowest


def draw_limit(solution: Solution, choices: Choices) -> go.Figure:
    """Maps of the limit from which an action is best."""
    graph = solution.graph
    states = select(solution, require_choice(solution, "limit"), choices.where)
    if set_fields(solution, states):
        raise UsageError(
            f"{graph.title}: sets and throws of several dice vary, so there is no map of limits; "
            "`policy` draws boards, or maps of two dice"
        )
    limits = find_limits(solution, states, asked_fields(solution, choices))
    limit = np.zeros(graph.n_states)
    limit[limits.states] = limits.limit
    beyond = np.nanmax(limits.limit) + 1  # orders the panels, and isn't shown
    answer = np.where(limits.never, beyond, limits.limit)
    layout = view(
        solution,
        limits.states,
        answer,
        choices,
        along=limits.field,
        limited=~limits.never,
    )
    if len(layout.axes) < 2:
        raise UsageError(
            f"{graph.game}: besides {graph.columns[limits.field]} fewer than two fields vary, so "
            "there is no map of limits; draw `policy` instead"
        )
    drawn = np.concatenate([panel.states for panel in layout.panels])
    name, verb = (escaped(say(solution, limits.action)) for say in (action_name, action_verb))
    field = graph.columns[limits.field]
    shown = limit[drawn][~np.isnan(limit[drawn])]
    low, high = (float(shown.min()), float(shown.max())) if len(shown) else (0.0, 1.0)

    apart = step(low, max(high, low + 1), 8)
    ticks = [tick for tick in range(int(low), int(high) + 1) if tick % apart == 0] or [int(low)]
    named = {n: field_text(solution, field, n) for n in {*ticks, *shown.astype(int).tolist()}}

    def label(s: int) -> str:
        return "" if np.isnan(limit[s]) else escaped(named[int(limit[s])])

    def text(s: int) -> str:
        said = f"{name} from {field} {label(s)}" if label(s) else f"never {name}"
        return hover_text(solution, limits, s, said)

    return draw_maps(
        solution,
        layout,
        lambda some: limit[some],
        text,
        Amounts(
            f"{field} from which to {verb}",
            AMOUNTS,
            low,
            max(high, low + 1),
            ticks,
            [escaped(named[tick]) for tick in ticks],
        ),
        title=f"{graph.title}: from which {field} to {verb}",
        notes=limit_notes(limits),
        label=label,
        label_note="The numbers are these limits.",
        hatched=f"never {name}",
    )


def limit_notes(limits: Limits) -> list[str]:
    """Notes on the limits for the reader."""
    notes = []
    if limits.again:
        share = 100 * limits.again / len(limits.states)
        notes.append(f"In {share:.2g} % of the columns another action is best again higher up.")
    return notes


def hover_text(solution: Solution, limits: Limits, state: int, said: str) -> str:
    """The text of a column under the pointer."""
    fields = zip(solution.graph.columns, solution.graph.row(state), strict=True)
    along = solution.graph.columns[limits.field]
    told = [f"{field_label(n)} {field_text(solution, n, v)}" for n, v in fields if n != along]
    shown = escaped(", ".join(told))
    return f"{shown}<br>{said}"


def rival_fields(solution: Solution) -> list[tuple[int, int]]:
    """The fields of the next player, each with the same field of the one after.

    These are the first two numbers of a field with a number for each rival, or the second and
    third of a field with a number for each player.

    Raises
    ------
    UsageError
        There is none.
    """
    graph = solution.graph
    names, n = list(graph.columns), graph.players
    found = []
    for prefix in dict.fromkeys(name.rpartition(".")[0] for name in names):
        size = sum(name.rpartition(".")[0] == prefix for name in names)
        if prefix and n >= 3 and size in (n - 1, n):
            first = size - n + 1
            found.append(tuple(names.index(f"{prefix}.{first + k}") for k in (0, 1)))
    if not found:
        raise UsageError(
            f"{graph.title}: the picture `rivals` is for three players or more, with a field of "
            "a number for each rival, as rivals=(3, 5) has"
        )
    return found  # type: ignore[return-value]


def both_orders(
    solution: Solution, limits: Limits, pairs: list[tuple[int, int]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Columns with a counterpart under a swap of the two rivals.

    Returns
    -------
    place : (n,) int64
        Indices of limits.
    other : (n,) int64
        The indices of the same columns with the rivals swapped.
    """
    table = solution.graph.rows[limits.states]
    swapped = table.copy()
    for one, two in pairs:
        swapped[:, [one, two]] = table[:, [two, one]]
    own, others = (np.delete(rows, limits.field, axis=1).tolist() for rows in (table, swapped))
    place = {tuple(row): k for k, row in enumerate(own)}
    other = np.array([place.get(tuple(row), -1) for row in others])
    both = np.flatnonzero(other >= 0)
    return both, other[both]


def draw_rivals(solution: Solution, choices: Choices) -> go.Figure:
    """Maps of the difference, by the two rivals' fields."""
    graph = solution.graph
    pairs = rival_fields(solution)
    states = select(solution, require_choice(solution, "rivals"), choices.where)
    limits = find_limits(solution, states, [f for pair in pairs for f in pair])
    places, others = both_orders(solution, limits, pairs)
    both = ~limits.never[places] & ~limits.never[others]
    never, places, others = int((~both).sum()), places[both], others[both]
    gap, there = np.zeros(graph.n_states), np.zeros(graph.n_states)
    drawn = limits.states[places]
    if not len(drawn):
        raise UsageError(
            f"{graph.title}: {action_name(solution, limits.action)} has no limit both here "
            "and with the two rivals exchanged; draw `limit` instead"
        )
    gap[drawn] = limits.limit[places] - limits.limit[others]
    here = np.zeros(graph.n_states)
    here[drawn], there[drawn] = limits.limit[places], limits.limit[others]
    one, two = (graph.columns[f] for f in pairs[0])
    choices = replace(choices, x=choices.x or one, y=choices.y or two)
    layout = view(solution, drawn, gap[drawn], choices, along=limits.field)
    if len(layout.axes) < 2:
        raise UsageError(f"{graph.game}: {one} and {two} don't both vary in the states to draw")
    name, verb = (escaped(say(solution, limits.action)) for say in (action_name, action_verb))
    field = graph.columns[limits.field]
    most = max(float(np.abs(gap[drawn]).max()), 1.0)

    def text(s: int) -> str:
        said = f"{name} from {field} {here[s]:.0f}, with the two exchanged from {there[s]:.0f}"
        return hover_text(solution, limits, s, said)

    left_out = how_many(never, "place")
    return draw_maps(
        solution,
        layout,
        lambda some: gap[some],
        text,
        Amounts(
            f"{field} from which to {verb}: how much higher than with the two rivals exchanged",
            [(0.0, BLUE), (0.5, LIKE), (1.0, RED)],
            -most,
            most,
        ),
        title=f"{graph.title}: two rivals exchanged",
        notes=[
            *_summary(graph.rows[drawn], pairs[0], gap[drawn], (one, two)),
            *([f"Left out: {left_out} where {name} is never best."] if never else []),
            *limit_notes(limits),
        ],
        label=lambda s: f"{gap[s]:+.0f}" if gap[s] else "0",
        label_note="The numbers are these differences.",
    )


def _summary(
    rows: NDArray[np.int32],
    pair: tuple[int, int],
    gap: NDArray[np.float64],
    fields: tuple[str, str],
) -> list[str]:
    """In how much of the positions the limit is higher or lower, with the next player ahead."""
    ahead = rows[:, pair[0]] > rows[:, pair[1]]
    if not ahead.any():
        return []
    later, sooner = (100 * float(np.mean(gap[ahead] * sign > 0)) for sign in (1, -1))
    return [
        f"{fields[0]} is the next player's, {fields[1]} that of the one after. Where the next has "
        f"more, the limit is higher than with the two exchanged in {later:.3g} % of the places, "
        f"and lower in {sooner:.3g} %; the mean difference is {float(gap[ahead].mean()):+z.3f}."
    ]
