"""What a policy does and is worth in every position, as rows."""

from __future__ import annotations

import numpy as np
import polars as pl

from rollwise.answer.evaluation import Evaluation
from rollwise.answer.filters import rows_where
from rollwise.answer.rows import frame_of
from rollwise.graph import StateGraph
from rollwise.graph.choices import in_order
from rollwise.graph.policies import Policy


def evaluated_rows(
    graph: StateGraph, policy: Policy, found: Evaluation, where: str | None = None
) -> pl.DataFrame:
    """The value of a policy in every position in which it moves, in the order of the fields.

    Parameters
    ----------
    policy : Policy
        The one that was evaluated.
    found : Evaluation
        Of all states.
    where : str, optional
        Which rows, as in `rollwise.Solution.table`.

    Returns
    -------
    polars.DataFrame
        A column for each field, then ``action`` (null where the policy mixes, and before a
        throw), ``value``, ``win_probability`` (null for points or stakes) and ``error_bound``
        (null where nothing is proved).

    Raises
    ------
    ExpressionError
    """
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
    known = pl.Series((chosen >= 0) & (not graph.throw_names))
    frame = frame.with_columns(action=pl.when(known).then("action"))
    return frame if where is None else frame.filter(rows_where(frame, where, graph.vocabulary))
