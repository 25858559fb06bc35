"""The graph of one state of a game, whose next states are its border."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise.builders.arrays import as_graph
from rollwise.builders.interpreted import Interpreter
from rollwise.builders.rules import Rules
from rollwise.graph import StateGraph


def one_state(rules: Rules, fields: NDArray[np.int32]) -> tuple[StateGraph, NDArray[np.int32]]:
    """Expand one state, and no other.

    Parameters
    ----------
    fields : (n_fields,) int32

    Returns
    -------
    graph : StateGraph
        The state, with what is thrown there.
    border : (graph.n_border, n_fields) int32
        The states that it leads to.
    """
    interpreter = Interpreter(rules, fields[None, :], 2)
    interpreter.expand_next()
    rows = interpreter.states[1:]
    return as_graph(rules, interpreter.arrays(), len(rows)), rows
