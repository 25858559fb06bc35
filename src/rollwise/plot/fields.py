"""The choice of the fields of a state along the axes, and of the fields with a panel each.

The rule works for every game. Fields with a single value in all drawn states are only mentioned.
Fields with many values (at least three quarters as many as the largest field) are candidates for
the axes. The axes are the two candidates with the most changes of the answer. The field of the
decision within a turn, such as Pig's turn total, goes upwards.

Each combination of the other fields is a panel. Where there are too many, one field is shown at
evenly spread values; several fields are shown in the combinations most frequent in good play.

This module also names positions, values and costs, for axes and under the pointer.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.lengths import lengths
from rollwise.answer.rows import frame_of
from rollwise.answer.solution import Solution
from rollwise.boards import has_kind
from rollwise.errors import EndlessPlay, UsageError
from rollwise.game import MOST_NAMED, is_set
from rollwise.graph import NO_THROW, win_probability
from rollwise.graph.choices import has_choice
from rollwise.graph.naming import field_label
from rollwise.plot import Choices
from rollwise.words import Narrator, Words

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PANELS = 12
PANELS_OF_MANY = 6  # where each has many cells
MANY_CELLS = 1200
MOST_TIED = 4  # names in "either"
MOST_IN_MAPS = 3  # varying fields of positions with places of pieces


def shown_values(solution: Solution, values: Floats) -> Floats:
    """Values as people read them: chances to win in percent, or scores."""
    return values if solution.is_score else 100 * win_probability(values)


def shown_costs(solution: Solution, costs: Floats) -> Floats:
    """Costs as people read them: points of a hundred of the chance to win, or of the score."""
    return costs if solution.is_score else 50 * costs


def value_name(solution: Solution) -> str:
    """The name of a value on an axis."""
    return solution.worth_name if solution.is_score else "mover's chance to win (%)"


def cost_name(solution: Solution) -> str:
    """The name of a cost on an axis."""
    return "cost in points" if solution.is_score else "cost in chance to win (percentage points)"


def action_name(solution: Solution, label: int) -> str:
    """The name of an action in a legend, with the unit of a mere number: "1 die"."""
    vocabulary = solution.graph.vocabulary
    if label in vocabulary.names:
        return vocabulary.text(label)
    unit = () if solution.game is None else solution.game.action_unit
    return f"{label} {unit[label != 1]}" if unit else f"action {label}"


def action_verb(solution: Solution, label: int) -> str:
    """An action after "to": its name, which is mostly a verb, or "take 1 die"."""
    name = action_name(solution, label)
    return name if label in solution.graph.vocabulary.names else f"take {name}"


def field_text(solution: Solution, name: str, number: int) -> str:
    """A number in a field as people read it: ``{1 4 9}`` for a set, or the number."""
    if number == NO_THROW:
        return "no throw"
    if solution.game is None or name in solution.graph.throw_names:
        return str(number)
    return Words(solution.game).field_text(name, number) or str(number)


def field_equals(solution: Solution, field: int, number: int) -> str:
    """A field with a number: ``sticks = 3``."""
    name = solution.graph.columns[field]
    return f"{name} = {field_text(solution, name, int(number))}"


def escaped(text: str) -> str:
    """A text that Plotly shows unchanged: it decodes ``&lt;`` and ``&amp;``, but no ``&quot;``."""
    return html.escape(text, quote=False)


def set_fields(solution: Solution, states: Ints) -> list[int]:
    """The fields without a place on an axis: sets, and the faces of several dice."""
    graph = solution.graph
    faces = graph.throw_columns[:-1] if graph.has_pool else graph.throw_columns
    several = faces if len(faces) > 1 else []
    if len(np.unique(graph.rows[states][:, several], axis=0)) <= MOST_NAMED:
        several = []
    return [
        f
        for f, name in enumerate(graph.columns)
        if f in several
        or (
            name not in graph.throw_names
            and is_set(solution.game, name, np.unique(graph.rows[states, f]).tolist())
        )
    ]


def two_dice(solution: Solution, states: Ints) -> list[int]:
    """The columns of the throw, if the throws before a choice are those of two dice."""
    graph = solution.graph
    faces = graph.rows[states][:, graph.throw_columns]
    faces = faces[(faces != NO_THROW).all(axis=1)]
    is_pair = faces.shape[1] == 2 and not graph.has_pool and len(faces)
    most = 2 * MOST_NAMED
    return list(graph.throw_columns) if is_pair and faces.min() > 0 and faces.max() < most else []


def wants_boards(solution: Solution, states: Ints, choices: Choices) -> bool:
    """Whether positions are drawn as boards, where x and y don't say which map.

    They are if a set varies, or if places of pieces are in more fields than maps can show.
    """
    if choices.x is not None and choices.y is not None:
        return False
    sets = set_fields(solution, states)
    if sets and sets != two_dice(solution, states):
        return True
    rows = solution.graph.fields[states]
    n_varying = int((np.ptp(rows, axis=0) > 0).sum()) if len(rows) else 0
    board = Narrator(solution.graph, solution.game).cells(0)
    return n_varying > MOST_IN_MAPS and has_kind(board, "square", "point")


def best_names(solution: Solution, state: int) -> tuple[str, ...]:
    """The names of all best actions of a state."""
    actions = solution.graph.view[state].actions
    best = [action_name(solution, a.label) for a in actions if solution.is_best[a]]
    return tuple(dict.fromkeys(best))


def best_text(solution: Solution, state: int) -> str:
    """All best actions of a state in words: ``roll or hold``."""
    return any_of(best_names(solution, state))


def any_of(names: Sequence[str]) -> str:
    """Some names, each as good as the others: ``roll or hold``; of many names the first ones."""
    if len(names) > MOST_TIED:
        names = [*names[: MOST_TIED - 1], f"{len(names) - MOST_TIED + 1} others"]
    return " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def often_met(solution: Solution) -> Floats:
    """The visits of each state in a game played best; zero where such a game may never end."""
    with suppress(EndlessPlay):
        return lengths(solution.graph, solution.policy).visits
    return np.zeros(solution.graph.n_states)


def value_text(solution: Solution, value: float) -> str:
    """One value in words."""
    return f"{value:z.4f}" if solution.is_score else f"{100 * win_probability(value):.3f} %"


def cost_text(solution: Solution, cost: float) -> str:
    """One cost in words."""
    return f"{cost:z.4f} points" if solution.is_score else f"{50 * cost:.3f} percentage points"


MOST_ACTIONS = 12  # under the pointer
MOST_LINES = 40_000  # under the pointer in a game, with two actions a position at least


class Hover:
    """The text under the pointer for each state: its fields, and its actions with their costs.

    Of many actions the cheapest are shown, and their number is given.
    """

    def __init__(self, solution: Solution) -> None:
        graph = solution.graph
        self.solution = solution
        self.labels = {
            label: escaped(graph.vocabulary.text(label)) for label in graph.vocabulary.labels
        }
        self.most = min(MOST_ACTIONS, max(2, MOST_LINES // graph.n_states))
        self.narrator = Narrator(graph, solution.game)
        self.unit = "" if solution.is_score else " %"
        self.cost_unit = "points" if solution.is_score else "percentage points"
        self.values = shown_values(solution, solution.action_values)
        self.costs = shown_costs(solution, solution.regret)
        self._fields = lru_cache(None)(partial(field_text, solution))

    def __call__(self, state: int, extra: str = "") -> str:
        """The text for one state."""
        graph = self.solution.graph
        here = graph.view[state]
        thrown = graph.throw_names[: len(here.throw)]
        fields = [pair for pair in here.named.items() if pair[0] not in thrown]
        many = len(fields) > 4  # many fields are mostly zero
        parts = [
            f"{escaped(field_label(name))} {escaped(self._fields(name, v))}"
            for name, v in fields
            if v or not many
        ]
        lines = [", ".join(parts) or "all fields 0"]
        if here.throw:
            lines.append(escaped(self.narrator.thrown(here)))
        actions = list(here.actions)
        if len(actions) > self.most:
            cheapest = sorted(actions, key=lambda action: float(self.costs[action]))[: self.most]
            actions = [action for action in actions if action in cheapest]
        for action in actions:
            text = f"{self.labels[action.label]}: {self.values[action]:z.2f}{self.unit}"
            if self.solution.is_best[action]:
                text = f"<b>{text}</b>"
            else:
                text += f", costs {self.costs[action]:.2g} {self.cost_unit}"
            lines.append(text)
        if len(here.actions) > len(actions):
            lines.append(f"the {len(actions)} best of {len(here.actions)} actions")
        lines += map(escaped, self.solution.said_of(state))
        if extra:
            lines.append(extra)
        return "<br>".join(lines)


@dataclass(frozen=True)
class Panel:
    """Some of the states, drawn together.

    Attributes
    ----------
    title : str
        The fields with a common value.
    states : (n,) int64
    """

    title: str
    states: Ints


@dataclass(frozen=True)
class View:
    """A layout of states.

    Attributes
    ----------
    axes : tuple of int
        The fields along x and y; only one, or none, where no more vary.
    panels : list of Panel
    notes : list of str
        Notes on the choice: constant fields, omitted panels.
    """

    axes: tuple[int, ...]
    panels: list[Panel]
    notes: list[str]


def field_index(solution: Solution, name: str) -> int:
    """The number of a field.

    Raises
    ------
    UsageError
        The states have no such field.
    """
    names = solution.graph.columns
    if name not in names:
        raise UsageError(
            f"{solution.graph.game} has no field {name!r} (its fields: {', '.join(names)})"
        )
    return names.index(name)


def asked_fields(solution: Solution, choices: Choices) -> list[int]:
    """The numbers of the fields that the choices put along x and y.

    Raises
    ------
    UsageError
        The states have no such field, or both are the same one.
    """
    asked = [field_index(solution, name) for name in (choices.x, choices.y) if name is not None]
    if len(set(asked)) < len(asked):
        raise UsageError(f"x and y are both {choices.x}; choose two different fields")
    return asked


def require_choice(solution: Solution, kind: str) -> Ints:
    """The states with a choice.

    Raises
    ------
    UsageError
        There are none, so that the picture would be empty.
    """
    states = np.flatnonzero(has_choice(solution.graph))
    if not len(states):
        shown = "`value` and `turns`" if solution.profile else "`value`, `turns` and `graph`"
        raise UsageError(
            f"{solution.graph.title}: no state has a choice, so there is no {kind} to "
            f"draw ({shown} show what there is)"
        )
    return states


def without_choice(solution: Solution) -> list[str]:
    """A note for pictures of `require_choice` about the other positions, if there are any."""
    left = not has_choice(solution.graph).all()
    return ["Positions without a choice are left out."] if left else []


def require_choices(solution: Solution, choices: Choices, kind: str) -> Ints:
    """The states with a choice, of which there are several, or boards to draw.

    Raises
    ------
    UsageError
        There is only one, so that no field varies, or none.
    """
    graph = solution.graph
    states = select(solution, require_choice(solution, kind), choices.where)
    varies = np.ptp(graph.rows[states], axis=0).any()
    if not varies and not wants_boards(solution, states, choices):
        raise UsageError(
            f"{graph.game}: there is only one position to draw, {graph.state_text(int(states[0]))};"
            " `rollwise advise` says all about it"
        )
    return states


def select(solution: Solution, states: Ints, where: str | None) -> Ints:
    """The subset of the states with a condition.

    Raises
    ------
    ExpressionError
        The condition has an error.
    UsageError
        No state fulfils it.
    """
    if where is None:
        return states
    from rollwise.answer.filters import rows_where

    # `Solution.table` sorts its rows, so the same columns are made here in the order of states.
    graph, values = solution.graph, solution.values[states]
    columns = {
        **dict(zip(graph.columns, graph.rows_at(states).T, strict=True)),
        "action": graph.action_label[solution.best_actions[states]],
        "value": values,
        "win_probability": graph.view.win_probability(values),
        "error_bound": solution.error_bounds[states],
    }
    frame = frame_of(columns, len(states), graph.vocabulary)
    kept = rows_where(frame, solution.condition(where), graph.vocabulary)
    if not kept.any():
        raise UsageError(f"{graph.game}: no state to draw is left by the condition {where!r}")
    return np.asarray(states[kept])


def columns_along(table: NDArray[np.int32], field: int) -> tuple[Ints, Ints]:
    """States in columns along a field: their order, and where in it each column begins."""
    others = [f for f in range(table.shape[1]) if f != field]
    order = np.lexsort(table[:, [field, *others]].T)
    rows = table[order][:, others]
    return order, np.flatnonzero(np.append(True, np.any(rows[1:] != rows[:-1], axis=1)))


def changes_along(table: NDArray[np.int32], answer: NDArray[np.float64]) -> NDArray[np.float64]:
    """The changes of the answer between neighbouring states, along each field.

    Parameters
    ----------
    table : (n, n_fields) int
    answer : (n,) float64

    Returns
    -------
    (n_fields,) float64
        The share of steps with a change, each weighted by the amount of the change.
    """
    found = np.zeros(table.shape[1])
    for field in np.flatnonzero(np.ptp(table, axis=0)).tolist():
        order, begin = columns_along(table, field)
        steps = np.abs(np.diff(answer[order]))
        found[field] = np.delete(steps, begin[1:] - 1).sum()  # not from one column to the next
    return found


def view(
    solution: Solution,
    states: Ints,
    answer: NDArray[np.float64],
    choices: Choices,
    *,
    along: int | None = None,
    turn: int | None = None,
    limited: NDArray[np.bool_] | None = None,
) -> View:
    """Lay states out.

    Parameters
    ----------
    states : (n,) int64
    answer : (n,) float64
        The drawn number of each state; its changes determine the axes.
    choices : Choices
        ``x`` and ``y`` where the user says.
    along : int, optional
        A field with one state for each whole column.
    turn : int, optional
        The field of the decision within a turn: it goes upwards.
    limited : (n,) bool, optional
        The states with a limit. Panels without one are drawn last.

    Raises
    ------
    UsageError
        There is no such field.
    """
    names = solution.graph.columns
    table = solution.graph.rows[states]
    asked = asked_fields(solution, choices)
    if not asked and set_fields(solution, states) == (pair := two_dice(solution, states)):
        asked = pair
    faces_asked = {*asked} & {*solution.graph.throw_columns}
    sets = [f for f in set_fields(solution, states) if f not in faces_asked]
    for f in asked:
        if f in sets:
            raise UsageError(f"{names[f]} holds sets, which have no place along an axis")
    counts = np.array([len(np.unique(table[:, f])) for f in range(table.shape[1])])
    varying = [f for f in range(len(names)) if counts[f] > 1 and f != along]
    free = [f for f in varying if f not in sets]
    given = asked
    if turn in free and turn not in asked and len(free) > 2 and not asked[1:]:
        given = [*asked, turn]
    axes = _axes(table, answer, counts, free, given)
    # the field of the decision goes upwards
    if given is not asked and axes[0] == turn:
        axes = axes[::-1]
    if len(asked) == 1 and len(axes) == 2 and axes[choices.x is None] != asked[0]:
        axes = axes[::-1]
    alike = [f for f in range(len(names)) if counts[f] == 1 and table[0, f] != NO_THROW]
    alike = [f for f in alike if f != along]
    fixed = [field_equals(solution, f, table[0, f]) for f in alike]
    notes = [f"Everywhere here {' and '.join(fixed)}."] if fixed and len(fixed) <= 3 else []
    rest = [f for f in varying if f not in axes]
    if not rest:
        panels = [Panel("", states)]
        return View(axes, panels, notes + empty_cells(solution, axes, panels, along))
    # one panel for each combination of the other fields
    combinations, belongs, sizes = np.unique(
        table[:, rest], axis=0, return_inverse=True, return_counts=True
    )
    most = PANELS_OF_MANY if sizes.max() > MANY_CELLS else PANELS
    chosen = np.arange(len(combinations))
    if len(chosen) > most:
        if len(rest) == 1:
            chosen = np.unique(np.linspace(0, len(chosen) - 1, most).round().astype(int))
        else:
            often = np.bincount(belongs, often_met(solution)[states], len(combinations))
            empty = np.zeros(len(combinations), np.bool_)
            if limited is not None:
                empty = np.bincount(belongs, limited, len(combinations)) == 0
            chosen = np.sort(np.lexsort((-sizes, -often, empty))[:most])
        with_limits = " with limits" if limited is not None else ""
        left = (
            f"{len(chosen)} of {len(combinations):,} combinations of the other fields are shown, "
            f"those{with_limits} that come up most often"
        )
        if len(rest) == 1:
            left = f"{len(chosen)} of {len(combinations):,} values of {names[rest[0]]} are shown"
        notes.append(f"{left}.")
    columns = solution.graph.throw_columns
    faces = set(columns[:-1] if solution.graph.has_pool else columns)  # without the rolls left
    thrown = set() if faces & set(axes) else faces & set(rest)
    notes += ["Fields that the title of a map doesn't name are 0."] * _is_short(rest, thrown)
    panels = []
    for c in chosen.tolist():
        some = states[belongs == c]
        title = _title(solution, rest, combinations[c], int(some[0]), thrown)
        panels.append(Panel(title, some))
    return View(axes, panels, notes + empty_cells(solution, axes, panels, along))


def _is_short(rest: list[int], thrown: set[int]) -> bool:
    """Whether titles omit zeros: of many fields most are zero."""
    return len({*rest} - thrown) + bool(thrown) > 3


def _title(
    solution: Solution, rest: list[int], shared: NDArray[np.int32], state: int, thrown: set[int]
) -> str:
    """The title of a panel: the common fields of its states, and the common throw."""
    graph = solution.graph
    pairs = zip(rest, shared, strict=True)
    told = [field_equals(solution, f, number) for f, number in pairs if f not in thrown]
    if _is_short(rest, thrown):
        told = [text for text in told if not text.endswith(" = 0")]
    if thrown:
        narrator = Narrator(graph, solution.game)
        told.append(narrator.thrown(graph.view[state]) or "no throw yet")
    return ", ".join(told) or "others = 0"


def is_sparse(values: NDArray[np.int32]) -> bool:
    """Whether few of the whole numbers between are used, as where a number stands for a set."""
    return isinstance(places(values)[0], str)


def places(values: NDArray[np.int32]) -> list[int] | list[str]:
    """The places along an axis: all whole numbers between, or, where few are used, those."""
    used = np.unique(values)
    low, high = int(used[0]), int(used[-1])
    if high - low + 1 <= 2 * len(used) + 2:
        return list(range(low, high + 1))
    return [str(v) for v in used.tolist()]


def empty_cells(
    solution: Solution, axes: tuple[int, ...], panels: list[Panel], column: int | None = None
) -> list[str]:
    """A note about the reason of empty cells in maps.

    A position in such a cell is unreachable, or omitted from the picture. Whole columns and rows of
    unreachable positions are named: in Pig no player banks a single point, and this leaves a white
    cross. With a field `column`, a cell is for all positions that differ in this field only.
    """
    if len(axes) < 2:
        return []
    graph = solution.graph
    table = graph.rows
    drawn = np.concatenate([panel.states for panel in panels])
    along = [np.array(places(table[drawn, axis])).astype(np.int64) for axis in axes]
    others = [f for f in range(table.shape[1]) if f not in axes and f != column]
    inside = np.isin(table[:, axes[0]], along[0]) & np.isin(table[:, axes[1]], along[1])
    missing = np.zeros((len(along[0]), len(along[1])), np.int64)  # in how many panels
    left_out = np.zeros(len(table), np.bool_)

    def cells(states: Ints) -> tuple[Ints, Ints]:
        x, y = (np.searchsorted(along[d], table[states, axes[d]]) for d in (0, 1))
        return x, y

    # a cell is missing if no position of the game lies there, with the panel's other fields
    for panel in panels:
        alike = np.all(table[:, others] == table[panel.states[0], others], axis=1)
        here = np.flatnonzero(inside & alike)
        empty, known = np.ones(missing.shape, np.bool_), np.zeros(missing.shape, np.bool_)
        empty[cells(panel.states)] = False
        known[cells(here)] = True
        missing += ~known
        left_out[here] |= empty[cells(here)]
    reasons = []
    if missing.any():
        gone = [
            field_equals(solution, axes[d], along[d][place])
            for d in (0, 1)
            for place in np.flatnonzero((missing == len(panels)).all(axis=1 - d)).tolist()
        ]
        such = f" (so with {' or '.join(gone)})" if 0 < len(gone) <= 2 else ""
        reasons.append(f"no play comes to the position{such}")
    if left_out.any():
        choice = has_choice(graph)
        forced = choice[drawn].all() and not choice[left_out].any()
        reasons.append("there is no choice" if forced else "the position is left out")
    return [f"Empty cells: {', or '.join(reasons)}."] if reasons else []


def _axes(
    table: NDArray[np.int32],
    answer: NDArray[np.float64],
    counts: Ints,
    varying: list[int],
    asked: list[int],
) -> tuple[int, ...]:
    if len(asked) == 2:
        return tuple(asked)
    free = [f for f in varying if f not in asked]
    if len(free) + len(asked) > 2:
        # fields with nearly as many values as the largest; of too many those with the most changes
        candidates = [f for f in free if 4 * counts[f] >= 3 * max(counts[g] for g in free)]
        needed = 2 - len(asked)
        if len(candidates) < needed:
            others = sorted((f for f in free if f not in candidates), key=lambda f: -counts[f])
            candidates += others[: needed - len(candidates)]
        elif len(candidates) > needed:
            changes = changes_along(table, answer)
            candidates = sorted(candidates, key=lambda f: (-changes[f], f))[:needed]
        free = candidates
    return tuple(sorted([*asked, *free]))
