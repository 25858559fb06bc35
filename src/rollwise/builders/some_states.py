"""The graph of some states of a game, whose next states are its border."""

from __future__ import annotations

import contextlib
import math

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import limits
from rollwise.builders.arrays import Arrays, as_graph
from rollwise.builders.interpreted import Interpreter
from rollwise.builders.rules import Rules
from rollwise.graph import StateGraph
from rollwise.machine.switches import jit_disabled

FEW = 8  # states that are interpreted sooner than compiled rules are read
STATES_AT_ONCE = 200_000  # of a graph, about
THROWS = 50  # about as many has a position without a pool of dice


def positions_at_once(rules: Rules) -> int:
    """How many positions of a game make a graph of some hundred thousand states at most."""
    each = 1 + (rules.turn_states or (THROWS if rules.has_throws else 0))
    return max(STATES_AT_ONCE // each, 1)


def some_states(
    rules: Rules, roots: NDArray[np.int32], *, closed: bool = False
) -> tuple[StateGraph, NDArray[np.int32]]:
    """Expand some states, and no others.

    Parameters
    ----------
    roots : (n, n_fields) int32
        Each once.
    closed : bool
        Keep next states that are among the roots within the graph. Otherwise each next state
        is one of the border, so that every play leaves the graph after one turn.

    Returns
    -------
    graph : StateGraph
        The states, in their order, with what is thrown there.
    border : (graph.n_border, n_fields) int32
        The states that it leads to.

    Raises
    ------
    RulesError
    """
    arrays, known = expanded(rules, np.ascontiguousarray(roots, np.int32))
    n, target = len(roots), arrays.outcome_state
    if closed:
        return as_graph(rules, arrays, len(known) - n), known[n:]
    outside = np.unique(target[target >= 0])
    number = np.full(len(known) + 1, -1, np.int32)  # the last one stands for the end
    number[outside] = n + np.arange(len(outside), dtype=np.int32)
    arrays = arrays._replace(outcome_state=number[target])
    return as_graph(rules, arrays, len(outside)), known[outside]


def compare_some(rules: Rules, roots: NDArray[np.int32]) -> str:
    """Hold compiled rules against Python's in some states.

    Parameters
    ----------
    roots : (n, n_fields) int32

    Returns
    -------
    str
        Why that couldn't be done; empty where it was.

    Raises
    ------
    RulesDiffer, RulesError
    """
    from rollwise.builders.compiled.cache_key import NotCompilable
    from rollwise.builders.compiled.spot_check import compare

    if jit_disabled():
        return "NUMBA_DISABLE_JIT is set, so the rules are interpreted"
    try:
        arrays, known = _compiled(rules, roots)
    except NotCompilable as error:
        return f"the rules can't be compiled and are interpreted, which is slower: {error}"
    compare(rules, arrays, known, np.arange(len(roots)), math.inf)
    return ""


def _compiled(rules: Rules, roots: NDArray[np.int32]) -> tuple[Arrays, NDArray[np.int32]]:
    """What the compiled rules say of some states, and what next states are numbers of."""
    from rollwise.builders.compiled.explorer import Explorer

    explorer = Explorer(rules, roots, limits.MOST_NUMBERED)
    explorer.run(len(roots))
    return explorer.arrays(), explorer.graph.states[: explorer.n_states]


def expanded(rules: Rules, roots: NDArray[np.int32]) -> tuple[Arrays, NDArray[np.int32]]:
    """The same by whoever can run the rules."""
    if len(roots) > FEW and not jit_disabled():
        from rollwise.builders.compiled.cache_key import NotCompilable

        with contextlib.suppress(NotCompilable):
            return _compiled(rules, roots)
    interpreter = Interpreter(rules, roots, limits.MOST_NUMBERED)
    for _ in roots:
        interpreter.expand_next()
    return interpreter.arrays(), interpreter.states
