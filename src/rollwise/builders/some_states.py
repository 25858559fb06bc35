"""The graph of some states of a game, with their next states as its border."""

from __future__ import annotations

import contextlib
import math

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import limits
from rollwise.builders.arrays import Arrays, as_graph
from rollwise.builders.interpreter import Interpreter
from rollwise.builders.rules import Rules
from rollwise.graph import StateGraph
from rollwise.machine.switches import jit_disabled

FEW = 8  # so few states are interpreted: reading compiled rules would take longer
STATES_AT_ONCE = 200_000  # of a graph, about
THROWS = 50  # a typical number of throws of a position without a pool of dice


def positions_at_once(rules: Rules) -> int:
    """The number of positions that make a graph of at most some hundred thousand states."""
    each = 1 + (rules.turn_states or (THROWS if rules.has_throws else 0))
    return max(STATES_AT_ONCE // each, 1)


def some_states(
    rules: Rules, roots: NDArray[np.int32], *, closed: bool = False
) -> tuple[StateGraph, NDArray[np.int32]]:
    """Expand some states, and no others.

    Parameters
    ----------
    roots : (n, n_fields) int32
        Without duplicates.
    closed : bool
        Keep next states among the roots within the graph. Otherwise every next state
        is in the border, so that every play leaves the graph after one turn.

    Returns
    -------
    graph : StateGraph
        The states, in their order, with their throws.
    border : (graph.n_border, n_fields) int32
        The next states.

    Raises
    ------
    RulesError
    """
    arrays, rows = expanded(rules, np.ascontiguousarray(roots, np.int32))
    n, target = len(roots), arrays.outcome_state
    if closed:
        return as_graph(rules, arrays, len(rows) - n), rows[n:]
    outside = np.unique(target[target >= 0])
    number = np.full(len(rows) + 1, -1, np.int32)  # the last one stands for the end
    number[outside] = n + np.arange(len(outside), dtype=np.int32)
    arrays = arrays._replace(outcome_state=number[target])
    return as_graph(rules, arrays, len(outside)), rows[outside]


def compare_some(rules: Rules, roots: NDArray[np.int32]) -> str:
    """Compare compiled rules with Python's rules in some states.

    Parameters
    ----------
    roots : (n, n_fields) int32

    Returns
    -------
    str
        The reason why the comparison was impossible; empty otherwise.

    Raises
    ------
    RulesDiffer, RulesError
    """
    from rollwise.builders.compiled.cache_key import NotCompilable
    from rollwise.builders.compiled.spot_check import compare

    if jit_disabled():
        return "NUMBA_DISABLE_JIT is set, so the rules are interpreted"
    try:
        arrays, rows = _compiled(rules, roots)
    except NotCompilable as error:
        return f"the rules can't be compiled and are interpreted, which is slower: {error}"
    compare(rules, arrays, rows, np.arange(len(roots)), math.inf)
    return ""


def _compiled(rules: Rules, roots: NDArray[np.int32]) -> tuple[Arrays, NDArray[np.int32]]:
    """The arrays of some states by compiled rules, and the numbered next states."""
    from rollwise.builders.compiled.explorer import Explorer

    explorer = Explorer(rules, roots, limits.MOST_NUMBERED)
    explorer.run(len(roots))
    return explorer.arrays(), explorer.graph.states[: explorer.n_states]


def expanded(rules: Rules, roots: NDArray[np.int32]) -> tuple[Arrays, NDArray[np.int32]]:
    """The same by compiled rules or, if there are few states or compiling fails, by Python."""
    if len(roots) > FEW and not jit_disabled():
        from rollwise.builders.compiled.cache_key import NotCompilable

        with contextlib.suppress(NotCompilable):
            return _compiled(rules, roots)
    interpreter = Interpreter(rules, roots, limits.MOST_NUMBERED)
    for _ in roots:
        interpreter.expand_next()
    return interpreter.arrays(), interpreter.states
