"""Tables of a strategy or of policy values: rows as a Polars frame or as lists, and two matrices.

The import of Polars takes longer than the computation of a few rows. Rows for display are lists.

A matrix has a strategy by two fields. A slice has the positions on a map around one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph import NO_THROW, THROW, StateGraph, win_probability
from rollwise.graph.by_fields import grid
from rollwise.graph.choices import actions_of, first_actions, in_order
from rollwise.graph.naming import Vocabulary, free_name
from rollwise.hooks import InWords
from rollwise.numbers.printed import CHANCE_ROUNDING

if TYPE_CHECKING:
    import polars as pl

    from rollwise.answer.evaluation import Evaluation, Shares
    from rollwise.answer.solution import Solution
    from rollwise.graph.policies import Policy


Columns = Mapping[str, Any]  # arrays or lists, ``action`` of numbers; None where all is null
Cells = dict[str, list[Any]]


def cells_of(columns: Columns, n: int, vocabulary: Vocabulary) -> Cells:
    """`n` rows as a list for each column; actions are called by their names."""
    found = {}
    for name, column in columns.items():
        cells = [None] * n if column is None else np.asarray(column, object).tolist()
        found[name] = cells
        if name == "action" and column is not None:
            found[name] = list(map(vocabulary.text, cells))
    return found


def frame_of(columns: Columns, n: int, vocabulary: Vocabulary) -> pl.DataFrame:
    """`n` rows as a frame; actions are called by their names."""
    import polars as pl

    series = dict(columns)
    for name, column in columns.items():
        if column is None:
            kind = pl.String if name == "action" else pl.Float64
            series[name] = pl.Series(name, [None] * n, kind)
        elif name == "action":
            series[name] = vocabulary.column(column)
    return pl.DataFrame(series)


def fields_and_throws(graph: StateGraph, states: NDArray[np.int64]) -> dict[str, Any]:
    """A column for each field of some states and of their throws; None where no throw came."""
    columns = dict(zip(graph.columns, graph.rows_at(states).T, strict=True))
    return _with_gaps(columns, graph.throw_names)


def _with_gaps(columns: Columns, thrown: Sequence[str]) -> dict[str, Any]:
    """The columns with None in those of throws, where no throw came before a choice."""
    found = dict(columns)
    for name in thrown:
        if NO_THROW in columns[name]:
            found[name] = [None if n == NO_THROW else n for n in columns[name].tolist()]
    return found


def states_where(solution: Solution, where: str | None, *, throws: bool) -> NDArray[np.int64]:
    """The states with a row: see `rollwise.Solution.states_where`."""
    from rollwise.answer.filters import mentions, rows_where

    states = _states_shown(solution, throws)
    if where is not None:
        where = solution.condition(where)
        vocabulary, parts = solution.space.vocabulary, []
        # a part of the rows at a time, so that a large table needs little memory
        for begin in range(0, len(states), ROWS_SEARCHED):
            part = states[begin : begin + ROWS_SEARCHED]
            columns = columns_of(solution, part, throws=throws, best=mentions(where, "action"))
            frame = frame_of(columns, len(part), vocabulary)
            parts.append(part[rows_where(frame, where, vocabulary)])
        states = np.concatenate([states[:0], *parts])
    if solution.profile is not None:
        return states
    shown = solution.fields_of(states, throws)
    return states[in_order(np.column_stack(list(shown.values())))]


def _states_shown(solution: Solution, throws: bool) -> NDArray[np.int64]:
    """The states of all rows: positions, or their throws."""
    space = solution.space
    if not isinstance(space, StateGraph):
        if throws and not space.has_throws:
            raise UsageError(f"{solution.title} has no throws")
        if throws:
            raise UsageError(f"{solution.title}: part_where() gives the rows after throws")
        return np.arange(space.n_positions)
    if throws and not space.throw_names:
        raise UsageError(f"{space.game} has no throws")
    states = np.flatnonzero(space.thrown_in) if throws else space.positions
    if solution.profile is None:
        return states
    taken = solution.profile.taken
    return taken[np.isin(space.action_state[taken], states)]


def columns_of(
    solution: Solution,
    states: NDArray[np.int64],
    *,
    throws: bool,
    each_action: bool = False,
    best: bool = True,
) -> Columns:
    """The columns of some rows of an answer, with the numbers of actions.

    Parameters
    ----------
    states : (n,) int64
        From `states_where`.
    each_action : bool
        Whether a column for each action is added: see `worth_by_action`.
    best : bool
        Whether the actions are the best ones, rather than any.
    """
    if solution.profile is not None:
        graph, actions = solution.graph, states
        states = graph.action_state[actions].astype(np.int64)
        before = bool(graph.throw_names) and not throws
        columns = {
            **_fields_of(solution, states, throws),
            "action": None if before else graph.action_label[actions],
            "probability": None if before else solution.profile.policy.probability[actions],
            **solution.profile.state_columns(states),
        }
    else:
        columns = _columns_of_states(solution, states, throws, best)
    return columns | (solution.worth_by_action(states) if each_action else {})


def _fields_of(solution: Solution, states: NDArray[np.int64], throws: bool) -> dict[str, Any]:
    """The fields of rows, and on request their throws; None where no throw came."""
    thrown = solution.space.throw_names if throws else ()
    return _with_gaps(solution.fields_of(states, throws), thrown)


def _columns_of_states(
    solution: Solution, states: NDArray[np.int64], throws: bool, best: bool
) -> dict[str, Any]:
    values = solution.values[states]
    said = solution.run.state_columns(solution.is_score)
    return {
        **_fields_of(solution, states, throws),
        "action": _labels_in(solution, states, throws, best),
        "value": values,
        "win_probability": None if solution.is_score else win_probability(values),
        "error_bound": None if solution.estimated else solution.error_bounds[states],
        **{
            name: column[states]
            if isinstance(column, np.ndarray)
            else [column[s] for s in states.tolist()]
            for name, column in said.items()
        },
        **({} if solution.game is None else solution.game.verdicts(solution, states)),
    }


def _labels_in(
    solution: Solution, states: NDArray[np.int64], throws: bool, best: bool
) -> NDArray[np.int32] | None:
    """The numbers of the actions of rows; None before a throw."""
    space = solution.space
    if not isinstance(space, StateGraph):
        return None if space.has_throws else space.actions[states]
    if space.throw_names and not throws:
        return None
    actions = solution.best_actions_in(states) if best else first_actions(space)[states]
    return space.action_label[actions]


def worth_by_action(solution: Solution, states: NDArray[np.int64]) -> dict[str, list[float | None]]:
    """The value of each action in some states: see `rollwise.Solution.worth_by_action`."""
    part, states = solution.near(states)
    graph = part.graph
    if graph.throw_names and not graph.thrown_in[states].any():
        raise UsageError(
            f"{graph.title}: a position has no action before the throw; throws=True "
            "(--throws) has a row for each throw, with its actions"
        )
    chosen = part.choices_in(states)
    chances = graph.view.win_probability(chosen.values)
    worth = chosen.values if chances is None else chances
    rows = np.repeat(np.arange(len(states)), actions_of(graph, states)[1])
    labels = graph.action_label[chosen.actions]
    columns: dict[str, list[float | None]] = {}
    for label in np.unique(labels[labels != THROW]).tolist():
        column: list[float | None] = [None] * len(states)
        theirs = labels == label
        for row, number in zip(rows[theirs].tolist(), worth[theirs].tolist(), strict=True):
            column[row] = number
        columns[action_column(solution, label)] = column
    return columns


def action_column(solution: Solution, label: int) -> str:
    """The name of the column of an action in `worth_by_action`."""
    name = f"{'value' if solution.is_score else 'P'}_{solution.space.vocabulary.text(label)}"
    return free_name(name, solution.space.field_names)


SEAT = "seat"  # the column of the player to move, from 1


def evaluated_rows(
    graph: StateGraph,
    policies: Sequence[Policy],
    found: Evaluation | Shares,
    where: str | None = None,
) -> pl.DataFrame:
    """The value of a policy in every position in which it moves, in the order of the fields.

    Parameters
    ----------
    policies : sequence of Policy
        The evaluated policy; or with different policies of the seats those of all.
    found : Evaluation or Shares
        Of all states.
    where : str, optional
        A choice of rows, as in `rollwise.Solution.table`.

    Returns
    -------
    polars.DataFrame
        A column for each field, then ``action`` (null where the policy mixes, and before a
        throw), ``value``, ``win_probability`` (null for points or stakes) and ``error_bound``
        (null without a proof). Of `Shares` the result of each seat from the mover on instead of
        value and win probability. If the seats have different policies, the first column is the
        seat to move, and each position has a row for each of them.

    Raises
    ------
    ExpressionError
    """
    import polars as pl

    from rollwise.answer.filters import rows_where

    states = graph.positions
    states = states[in_order(graph.states[states])]
    fields = dict(zip(graph.field_names, graph.states[states].T, strict=True))
    fields = {name: column for name, column in fields.items() if name not in graph.throw_names}
    frames = []
    for seat, policy in enumerate(policies):
        sure = np.flatnonzero(policy.probability == 1.0)
        actions = np.full(graph.n_states, -1, np.int64)
        actions[graph.action_state[sure]] = sure
        chosen = actions[states]
        mover = {SEAT: np.full(len(states), seat + 1)} if len(policies) > 1 else {}
        columns = {**mover, **fields, "action": graph.action_label[chosen]}
        columns |= found.columns_of(states, seat)
        frame = frame_of(columns, len(states), graph.vocabulary)
        has_name = pl.Series((chosen >= 0) & (not graph.throw_names))
        frames.append(frame.with_columns(action=pl.when(has_name).then("action")))
    rows = pl.concat(frames)
    return rows if where is None else rows.filter(rows_where(rows, where, graph.vocabulary))


Ints = NDArray[np.int64]

MOST_CELLS = 400
MOST_ALONG, MOST_ALONE = 41, 2000  # numbers of fields near a position
ROWS_AT_ONCE = 1 << 20
ROWS_SEARCHED = 1 << 22  # of the table, at once


@dataclass(frozen=True, eq=False, repr=False)
class Grid(InWords):
    """The best actions and their worth, a row for each number of one field, a column of another.

    Attributes
    ----------
    row_field, column_field : str
    origin : (2,) int64
        The field's numbers of the first row and of the first column.
    actions : (n, m) int64
        The rules' numbers of the best actions; -1 without a position.
    seats : (k, n, m) float64
        The probability to win of each seat from the mover on, and -1 without a position. In a game
        for points or stakes the expected total, and NaN without a position. Of two players the
        mover's alone.
    error_bound : float
        Of `seats`, proved; infinite for estimates.
    chances : (n, m) float64 or None
        How likely an equilibrium takes the action of `actions`, its likeliest; -1 without a
        position.
    """

    row_field: str
    column_field: str
    origin: NDArray[np.int64]
    actions: NDArray[np.int64]
    seats: NDArray[np.float64]
    error_bound: float
    chances: NDArray[np.float64] | None = None

    @property
    def worth(self) -> NDArray[np.float64]:
        """The mover's: (n, m) float64."""
        return np.asarray(self.seats[0])


def grid_of(solution: Solution, where: str | None, *, throws: bool) -> Grid:
    """See `Solution.grid`."""
    graph, profile = solution.graph, solution.profile
    if graph.throw_names and not throws:
        raise UsageError(
            f"{graph.title}: a position has no action before the throw; throws=True (--throws) "
            "makes a grid of positions after throws"
        )
    states = solution.states_where(where, throws=throws)
    if not len(states):
        raise UsageError(f"{graph.title}: there is no position where {where}")
    if profile is not None:  # its rows are actions
        states = np.unique(graph.action_state[states]).astype(np.int64)
    fields = solution.fields_of(states, throws=throws)
    names = [name for name, numbers in fields.items() if np.any(numbers != numbers[0])]
    if len(fields) == 2:
        names = list(fields)
    if len(names) != 2:
        differ = ", ".join(names) or "no field"
        raise UsageError(
            f"{graph.title}: a grid has the positions by two fields, and {differ} "
            f"{'differs' if len(names) < 2 else 'differ'}; choose positions with where "
            f'(--where), as in "{next(iter(fields))} == {int(next(iter(fields.values()))[0])}"'
        )
    places = np.column_stack([fields[name] for name in names]).astype(np.int64)
    best, missing = solution.best_actions_in(states), np.nan if solution.is_score else -1.0
    worths, bound = _worths_of_seats(solution, states)
    return Grid(
        names[0],
        names[1],
        places.min(axis=0),
        grid(places, graph.action_label[best].astype(np.int64)),
        np.stack([grid(places, worth, missing) for worth in worths.T]),
        bound,
        None if profile is None else grid(places, profile.policy.probability[best], -1.0),
    )


def _worths_of_seats(
    solution: Solution, states: NDArray[np.int64]
) -> tuple[NDArray[np.float64], float]:
    """Chances to win, or values, of each seat from the mover on: (n, seats); and their bound.

    Of two players the mover's alone.
    """
    if solution.profile is not None:
        bounds = solution.profile.error_bounds[states]
        return solution.profile.values[states], float(bounds.max())
    values = solution.values[states]
    chances = solution.graph.view.win_probability(values)
    bound = np.inf if solution.estimated else float(solution.error_bounds[states].max())
    if chances is None:
        return values[:, None], bound
    return chances[:, None], bound / 2 + CHANCE_ROUNDING


class Slice(NamedTuple):
    """Positions that differ from one along the axes only.

    Attributes
    ----------
    axes : tuple of int
        The fields across and down; one or none if fewer vary.
    numbers : list of list of int
        Of each field: its possible numbers with all other fields fixed, ascending.
    positions : (n,) int64
        Their places in the table, in the order of their fields.
    left_out : int
        The number of omitted positions, farther away; -1 if it is unknown.
    """

    axes: tuple[int, ...]
    numbers: list[list[int]]
    positions: Ints
    left_out: int


def slice_around(
    table: NDArray[np.int32],
    at: Sequence[int],
    axes: Sequence[int] = (),
    most: int = MOST_CELLS,
    counts: NDArray[np.bool_] | None = None,
    sets: Sequence[int] = (),
) -> Slice:
    """The positions of a table that differ from one along two fields.

    Parameters
    ----------
    table : (n, n_fields) int32
    at : sequence of int
        The fields of that position.
    axes : sequence of int
        Two fields, or one. Without any, the two fields with the most positions along them.
    most : int
        The largest number of positions: the nearest along the axes, and all equally near.
    counts : (n,) bool, optional
        The positions that count in the choice of axes, such as those with a choice.
    sets : sequence of int
        The fields of sets, which are axes only where no other field varies.
    """
    here = np.asarray(at, table.dtype)
    parts = []
    # candidates differ from the position in two fields at most
    for begin in range(0, len(table), ROWS_AT_ONCE):
        differ = table[begin : begin + ROWS_AT_ONCE] != here
        parts.append(begin + np.flatnonzero(differ.sum(axis=1) <= 2))
    near = np.concatenate(parts)
    rows = np.asarray(table[near])
    differ = rows != here
    alone = differ.sum(axis=1) <= 1
    # the numbers of a field where all other fields are those of the position
    numbers = [
        np.unique(rows[alone & (differ[:, f] | ~differ.any(axis=1)), f]).tolist()
        for f in range(table.shape[1])
    ]
    counted = differ if counts is None else differ[counts[near]]
    counted = counted if counted.any() else differ
    plain = counted.copy()
    plain[:, list(sets)] = False
    chosen = tuple(axes) or _axes(plain if plain.any() else counted)
    others = [f for f in range(table.shape[1]) if f not in chosen]
    inside = ~differ[:, others].any(axis=1)
    near, rows = near[inside], rows[inside]
    # distance: the larger of the ranks along the two axes
    away = np.zeros(len(near), np.int64)
    for f in chosen:
        along, rank = np.unique(rows[:, f], return_inverse=True)
        away = np.maximum(away, np.abs(rank.reshape(-1) - np.searchsorted(along, here[f])))
    # whole rings around the position: the first ring beyond `most` is left out
    too_far = np.sort(away)[most] if len(away) > most else np.inf
    kept = np.flatnonzero(away < too_far)
    kept = kept[in_order(rows[kept])]
    return Slice(chosen, numbers, near[kept], len(near) - len(kept))


def rows_near(
    columns: Sequence[NDArray[np.int32]], at: Sequence[int], axes: Sequence[int] = ()
) -> NDArray[np.int32]:
    """Rows that differ from one along one field, or along two: candidates for `slice_around`.

    A table too large to be read is asked for these rows.

    Parameters
    ----------
    columns : (n_fields,) of int32
        Numbers of each field in a sample of positions. Along one field the nearest `MOST_ALONE` are
        taken, along two fields the nearest `MOST_ALONG` of each.
    at, axes
        As in `slice_around`.

    Returns
    -------
    (n, n_fields) int32
        Distinct, with the row itself.
    """
    near = []
    # the numbers of a field by their distance in rank from that of the position
    for column, number in zip(columns, at, strict=True):
        some = np.unique(np.append(column, number).astype(np.int32))
        away = np.abs(np.searchsorted(some, number) - np.arange(len(some)))
        near.append(some[np.argsort(away, kind="stable")])
    pairs = [tuple(axes)] if len(axes) == 2 else [*combinations(range(len(near)), 2)]
    grids = [(pair, [near[f][:MOST_ALONG] for f in pair]) for pair in pairs]
    grids += [((f,), [numbers[:MOST_ALONE]]) for f, numbers in enumerate(near)]
    parts = []
    for fields, along in grids:
        places = np.stack(np.meshgrid(*along), axis=-1).reshape(-1, len(fields))
        rows = np.tile(np.asarray(at, np.int32), (len(places), 1))
        rows[:, list(fields)] = places
        parts.append(rows)
    return np.unique(np.concatenate(parts), axis=0)


def _axes(differ: NDArray[np.bool_]) -> tuple[int, ...]:
    """The two fields with the most positions along them."""
    varying = np.flatnonzero(differ.any(axis=0)).tolist()
    many = differ.sum(axis=1)
    return max(
        combinations(varying, 2),
        key=lambda pair: int((differ[:, list(pair)].sum(axis=1) == many).sum()),
        default=tuple(varying),
    )
