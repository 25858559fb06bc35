"""A game with throws as one without: what was thrown is in the state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rollwise.graph import NO_THROW, THROW, StateGraph


def throws_as_fields(graph: StateGraph) -> StateGraph:
    """The same states, actions and outcomes, for tools that know no throws.

    What was thrown is the last fields of each state. Before a throw stands there what is less by 1
    than any throw. To throw is an action with a number of its own, greater than the others.
    Without throws it is the graph itself.
    """
    if not graph.throw_names:
        return graph
    rows = graph.rows.copy()
    for column in graph.throw_columns:
        blank = rows[:, column] == NO_THROW
        rows[blank, column] = rows[~blank, column].min() - 1
    label = graph.action_label
    number = max(int(label.max()), *graph.action_names, -1) + 1
    return replace(
        graph,
        states=rows,
        field_names=graph.columns,
        throws=None,
        throw_names=(),
        action_label=np.where(label == THROW, number, label).astype(np.int32),
        action_names={**graph.action_names, number: "throw"},
    )
