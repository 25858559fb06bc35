"""The limit of a decision: from where on, along one field, another action is best.

States that differ in that field alone are a column. Which field it is, and which action is best
from the limit on, `rollwise.plot.thresholds` finds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.solution import Solution
from rollwise.errors import UsageError
from rollwise.plot.fields import is_sparse
from rollwise.plot.thresholds import OFTEN, find_threshold

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Limits:
    """The limits of all columns of some states.

    Attributes
    ----------
    field : int
        Along which the columns are.
    action : int
        The label of the action that is best from the limit on.
    states : (n,) int64
        The lowest state of each column, which stands for it.
    limit : (n,) float64
        The least number in the field where the action is best; one more than the largest where
        it never is.
    never : (n,) bool
    again : int
        Columns in which another action is best again higher up.
    """

    field: int
    action: int
    states: Ints
    limit: Floats
    never: NDArray[np.bool_]
    again: int


def find_limits(solution: Solution, states: Ints, without: list[int]) -> Limits:
    """The limits of the decision in some states.

    Parameters
    ----------
    states : (n,) int64
    without : list of int
        Fields along which no limit is looked for.

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
            f"(in {OFTEN:.0%} of the positions or more); `policy` draws what there is"
        )
    others = [f for f in range(table.shape[1]) if f != found.field]
    order = np.lexsort(table[:, [found.field, *others]].T)
    rows = table[order][:, others]
    new = np.ones(len(order), np.bool_)
    new[1:] = np.any(rows[1:] != rows[:-1], axis=1)
    begin = np.flatnonzero(new)
    height = table[order, found.field].astype(np.float64)
    inside = label[order] == found.action
    first = np.minimum.reduceat(np.where(inside, height, np.inf), begin)
    never = np.isinf(first)
    limit = np.where(never, np.maximum.reduceat(height, begin) + 1.0, first)
    column = np.cumsum(new) - 1
    above = ~inside & (height > limit[column])
    again = len(np.unique(column[above]))
    return Limits(found.field, found.action, states[order][begin], limit, never, again)
