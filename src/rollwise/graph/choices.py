"""Many states of a graph at once: what each of their actions costs, and which one is taken.

The rule of tolerance, stated here only: an action is one of the best if it costs at most twice
the error bound of the values, the largest where they have several. The true best action is
always one of them: its worth, and the worth of the best action by these values, are each off by
at most the bound. Of the best actions the first is taken, in the order of the rules. If the best
actions could go round for ever, the first that leads out is taken.

For one state at a time see `rollwise.graph.view`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.graph.endings import end_components, ways_out
from rollwise.graph.naming import THROW
from rollwise.graph.state_graph import StateGraph
from rollwise.graph.view import sign_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def fold_actions(graph: StateGraph, ufunc: np.ufunc, numbers: NDArray[Any]) -> NDArray[Any]:
    """Numbers of actions, brought together for each state: (n_states,).

    Parameters
    ----------
    ufunc : such as ``np.add`` or ``np.maximum``
    numbers : (n_actions,)
    """
    return np.asarray(ufunc.reduceat(numbers, graph.action_indptr[:-1]))


def fold_outcomes(graph: StateGraph, ufunc: np.ufunc, numbers: NDArray[Any]) -> NDArray[Any]:
    """Numbers of outcomes, brought together for each action: (n_actions,)."""
    return np.asarray(ufunc.reduceat(numbers, graph.outcome_indptr[:-1]))


def is_throw(graph: StateGraph) -> Mask:
    """Which actions are the throw before a choice, and no move of a player: (n_actions,) bool."""
    if not graph.throw_names:
        return np.zeros(graph.n_actions, np.bool_)
    return np.asarray(graph.action_label == THROW)


def has_choice(graph: StateGraph) -> Mask:
    """In which states there is more than one action: (n_states,) bool."""
    return np.asarray(np.diff(graph.action_indptr) > 1)


def has_ties(graph: StateGraph, best: Mask) -> Mask:
    """In which states there are several best actions: (n_states,) bool.

    Parameters
    ----------
    best : (n_actions,) bool
    """
    return fold_actions(graph, np.add, best.astype(np.int64)) > 1


def first_actions(graph: StateGraph) -> Ints:
    """The first action of each state in the order of the rules: (n_states,) int64."""
    return graph.action_indptr[:-1]


def last_actions(graph: StateGraph) -> Ints:
    """The last action of each state: (n_states,) int64."""
    return graph.action_indptr[1:] - 1


def places_of(graph: StateGraph, actions: NDArray[Any]) -> Ints:
    """The places of actions among those of their states, from 0: (n,) int64."""
    return np.asarray(actions - first_actions(graph)[graph.action_state[actions]])


def outcome_action(graph: StateGraph) -> Ints:
    """The action that each outcome belongs to: (n_outcomes,) int64."""
    return np.repeat(np.arange(graph.n_actions), np.diff(graph.outcome_indptr))


def chances(graph: StateGraph) -> Floats:
    """How likely each outcome is: (n_outcomes,) float64."""
    weight, indptr = graph.lotteries.weight, graph.lotteries.indptr
    total = np.add.reduceat(weight, indptr[:-1])
    chance: Floats = weight / np.repeat(total, np.diff(indptr))
    return chance[graph.outcome_lottery]


def actions_of(graph: StateGraph, states: NDArray[Any]) -> tuple[Ints, Ints]:
    """The actions of some states, one state after the other.

    Parameters
    ----------
    states : (n,) int

    Returns
    -------
    actions : (n_found,) int64
    counts : (n,) int64
        How many of them are each state's.
    """
    begin = graph.action_indptr[states]
    counts = graph.action_indptr[states + 1] - begin
    return spans(begin, counts), counts


def outcomes_of(graph: StateGraph, actions: NDArray[Any]) -> tuple[Ints, Ints]:
    """The outcomes of some actions, one action after the other, and how many are each one's."""
    begin = graph.outcome_indptr[actions]
    counts = graph.outcome_indptr[actions + 1] - begin
    return spans(begin, counts), counts


def spans(begin: NDArray[Any], counts: NDArray[Any]) -> Ints:
    """``begin[i], begin[i] + 1, ...``, ``counts[i]`` of them, one after the other."""
    shift = begin - (np.cumsum(counts) - counts)
    return np.asarray(np.repeat(shift, counts) + np.arange(int(counts.sum())))


def part_of(graph: StateGraph, states: NDArray[Any]) -> tuple[StateGraph, Ints]:
    """The graph of some states alone. All that they lead to is on its border.

    Parameters
    ----------
    states : (n,) int

    Returns
    -------
    part : StateGraph
        Its actions are those of `actions_of`.
    beyond : (part.n_border,) int64
        The state of the graph that each place of the border stands for.
    """
    actions, counts = actions_of(graph, states)
    outcomes, sizes = outcomes_of(graph, actions)
    used, lottery = np.unique(graph.action_lottery[actions], return_inverse=True)
    target = graph.outcome_state[outcomes]
    goes_on = target >= 0
    place = len(states) + np.cumsum(goes_on) - 1
    part = replace(
        graph,
        states=graph.rows_at(states),
        field_names=graph.columns,
        throws=None,
        action_indptr=np.concatenate([[0], np.cumsum(counts)]),
        action_label=graph.action_label[actions],
        action_lottery=lottery.astype(np.int32),
        outcome_indptr=np.concatenate([[0], np.cumsum(sizes)]),
        outcome_state=np.where(goes_on, place, -1).astype(np.int32),
        lotteries=graph.lotteries.only(used),
        n_roots=len(states),
        n_border=int(goes_on.sum()),
    )
    return part, target[goes_on].astype(np.int64)


def in_order(states: NDArray[Any]) -> Ints:
    """How states stand in the order of their fields: (n_states,) int64.

    Parameters
    ----------
    states : (n_states, n_fields) int
    """
    if not len(states):
        return np.empty(0, np.int64)
    low, high = states.min(axis=0).astype(np.int64), states.max(axis=0).astype(np.int64)
    if np.prod((high - low + 1).astype(np.float64)) >= 2.0**62:
        return np.lexsort(states.T[::-1])
    key = np.zeros(len(states), np.int64)  # one number for each state is sorted sooner
    for field, least, most in zip(states.T, low, high, strict=True):
        key = key * (most - least + 1) + (field - least)
    return np.argsort(key)


def costs(graph: StateGraph, action_values: Floats) -> Floats:
    """What each action costs against the best of its state: (n_actions,) float64, from 0.

    Parameters
    ----------
    action_values : (n_actions,) float64
        What each action is worth; or that less any number of its state.
    """
    worth = sign_of(graph.objective) * action_values
    best = fold_actions(graph, np.maximum, worth)[graph.action_state]
    cost: Floats = np.subtract(best, worth, out=np.zeros(len(worth)), where=best != worth)
    return cost


def are_best(cost: Any, bound: float) -> Any:
    """Whether a cost is no more than the values' error can be: bool, or (n_actions,) bool.

    Parameters
    ----------
    cost : float or (n_actions,) float64
        See `costs`.
    bound : float
        How far any of the values can be off; where nothing is known (infinity), as if they
        were exact.
    """
    return cost <= (2 * bound if np.isfinite(bound) else 0.0)


def first_of_each_state(graph: StateGraph, good: Mask) -> Ints:
    """The first good action of each state: (n_states,) int64.

    Parameters
    ----------
    good : (n_actions,) bool
        The first action counts as good where a state has none.
    """
    n, first = graph.n_actions, first_actions(graph)
    found = fold_actions(graph, np.minimum, np.where(good, np.arange(n), n))
    return np.where(found < n, found, first)


def may_stall(graph: StateGraph) -> bool:
    """Whether best actions could go round for ever."""
    return graph.endless != "forbidden" or graph.objective != "win"


def first_best(graph: StateGraph, best: Mask) -> Ints:
    """The action that is taken in each state: (n_states,) int64.

    The first of the best; where the best actions could go round for ever, one that leads out
    of there, if there is one: to wait is as good as to act, but not for ever.

    Parameters
    ----------
    best : (n_actions,) bool
        See `are_best`.
    """
    first = first_of_each_state(graph, best)
    if not may_stall(graph):
        return first
    tied = end_components(graph, best)
    if not len(tied):
        return first
    out = ways_out(graph, best)
    return np.where((tied.number >= 0) & (out >= 0), out, first)
