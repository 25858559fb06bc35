"""A strategy as two matrices: the best action, and what it is worth, by two fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph.by_fields import grid
from rollwise.numbers.printed import CHANCE_ROUNDING

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution


@dataclass(frozen=True, eq=False)
class Grid:
    """The best actions and their worth, a row for each number of one field, a column of another.

    Attributes
    ----------
    row_field, column_field : str
    origin : (2,) int64
        The field's numbers of the first row and of the first column.
    actions : (n, m) int64
        The rules' numbers of the best actions; -1 where there is no position.
    worth : (n, m) float64
        The mover's probability to win, and -1 where there is no position; of a game for points or
        stakes the expected total, and NaN there.
    error_bound : float
        How far `worth` can be off, proved; infinite for estimates.
    """

    row_field: str
    column_field: str
    origin: NDArray[np.int64]
    actions: NDArray[np.int64]
    worth: NDArray[np.float64]
    error_bound: float


def grid_of(solution: Solution, where: str | None, *, throws: bool) -> Grid:
    """See `Solution.grid`."""
    graph = solution.graph
    if graph.throw_names and not throws:
        raise UsageError(
            f"{graph.title}: a position has no action before the throw; throws=True (--throws) "
            "makes a grid of positions after throws"
        )
    states = solution.states_where(where, throws=throws)
    if not len(states):
        raise UsageError(f"{graph.title}: there is no position where {where}")
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
    chances = graph.view.win_probability(solution.values[states])
    worth, missing = (solution.values[states], np.nan) if chances is None else (chances, -1.0)
    labels = graph.action_label[solution.best_actions_in(states)].astype(np.int64)
    bound = np.inf if solution.estimated else float(solution.error_bounds[states].max())
    return Grid(
        names[0],
        names[1],
        places.min(axis=0),
        grid(places, labels),
        grid(places, worth, missing),
        bound if chances is None else bound / 2 + CHANCE_ROUNDING,
    )
