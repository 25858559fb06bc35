"""The rows of a table, of a strategy or of policy values: as a Polars frame or as lists.

The import of Polars takes longer than the computation of a few rows. Rows for display are lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rollwise.graph import StateGraph
from rollwise.graph.choices import in_order
from rollwise.graph.naming import Vocabulary

if TYPE_CHECKING:
    import polars as pl

    from rollwise.answer.evaluation import Evaluation
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


def evaluated_rows(
    graph: StateGraph, policy: Policy, found: Evaluation, where: str | None = None
) -> pl.DataFrame:
    """The value of a policy in every position in which it moves, in the order of the fields.

    Parameters
    ----------
    policy : Policy
        The evaluated policy.
    found : Evaluation
        Of all states.
    where : str, optional
        A choice of rows, as in `rollwise.Solution.table`.

    Returns
    -------
    polars.DataFrame
        A column for each field, then ``action`` (null where the policy mixes, and before a
        throw), ``value``, ``win_probability`` (null for points or stakes) and ``error_bound``
        (null without a proof).

    Raises
    ------
    ExpressionError
    """
    import polars as pl

    from rollwise.answer.filters import rows_where

    states = graph.positions
    states = states[in_order(graph.states[states])]
    values = found.values[states]
    sure = np.flatnonzero(policy.probability == 1.0)
    actions = np.full(graph.n_states, -1, np.int64)
    actions[graph.action_state[sure]] = sure
    chosen = actions[states]
    bounds = None if found.bounds is None else found.bounds[states]
    columns = {
        **dict(zip(graph.field_names, graph.states[states].T, strict=True)),
        "action": graph.action_label[chosen],
        "value": values,
        "win_probability": graph.view.win_probability(values),
        "error_bound": bounds,
    }
    frame = frame_of(columns, len(states), graph.vocabulary)
    has_name = pl.Series((chosen >= 0) & (not graph.throw_names))
    frame = frame.with_columns(action=pl.when(has_name).then("action"))
    return frame if where is None else frame.filter(rows_where(frame, where, graph.vocabulary))
