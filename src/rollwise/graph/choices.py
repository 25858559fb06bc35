"""Many states of a graph at once: what each of their actions costs, and which one is taken.

The rule of tolerance, stated here only: an action isn't one of the best if what it can be worth
at most is less than what another action of the state is worth at least. Both are found from the
error bounds of what the two actions lead to, and their roundings. So the true best action is
always one of the best.

Of the best actions the first is taken, in the order of the rules, that keeps to the state's own
bound: if all that follows is worse by its bound, it must be worth no less than the state at its
worst. A policy of such actions is worth what is certified, in each state, within its bound. If the
best actions could go round for ever, or nearly so, the first that leads out is taken.

For one state at a time see `rollwise.graph.view`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.graph.endings import WORTH, end_components, forced_ways_out, ways_out
from rollwise.graph.naming import THROW
from rollwise.graph.state_graph import StateGraph
from rollwise.graph.view import sign_of
from rollwise.kernels.chances import UNIT, are_whole, chances_of, residuals, scale

NOTHING: NDArray[np.float64] = np.empty(0)


class Ahead(NamedTuple):
    """What each action looks like from its state, and how sure that is.

    Attributes
    ----------
    gap : (n_actions,) float64
        What it is worth beyond the value of its state.
    blur : (n_actions,) float64
        How far its worth can be off by what follows it.
    rounding : (n_actions,) float64
        How far `gap` can be off besides, by roundings.
    values, bounds : (n_states,) float64
        What each state is worth, and how far that can be off.
    """

    gap: NDArray[np.float64]
    blur: NDArray[np.float64]
    rounding: NDArray[np.float64]
    values: NDArray[np.float64]
    bounds: NDArray[np.float64]


def look_ahead(
    graph: StateGraph,
    values: NDArray[np.float64],
    bounds: NDArray[np.float64],
    border_values: NDArray[np.float64] = NOTHING,
    border_bounds: NDArray[np.float64] | None = None,
) -> Ahead:
    """What each action is worth beyond the value of its state, and how far that can be off.

    Parameters
    ----------
    values, bounds : (n_states,) float64
        Where a bound is infinite, nothing is known: the value counts as if it were exact.
    border_values, border_bounds : (n_border,) float64
        The bounds are 0 unless given.
    """
    of_border = np.zeros(graph.n_border) if border_bounds is None else border_bounds
    known = np.concatenate([bounds, of_border])
    known[~np.isfinite(known)] = 0.0
    gap, rounding, blur = _residuals(graph, np.concatenate([values, border_values]), known)
    unknown = ~np.isfinite(values[graph.action_state])
    gap[unknown] = 0.0  # where play can't be ended all actions are alike
    rounding[~np.isfinite(rounding)] = 0.0
    return Ahead(gap, blur, rounding, values, known[: graph.n_states])


def action_gaps(
    graph: StateGraph, values: NDArray[np.float64], border_values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What each action is worth beyond the value of its state: (n_actions,) float64.

    Parameters
    ----------
    values : (n_states,) float64
    border_values : (n_border,) float64
    """
    return _residuals(graph, np.concatenate([values, border_values]), NOTHING)[0]


def _residuals(
    graph: StateGraph, values: NDArray[np.float64], bounds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    found = np.empty(graph.n_actions), np.empty(graph.n_actions), np.empty(graph.n_actions)
    residuals(
        graph.action_indptr,
        graph.action_lottery,
        graph.outcome_indptr,
        graph.outcome_state,
        chances_of(graph.lotteries),
        values,
        bounds,
        1.0,
        *found,
    )
    return found


def has_whole_weights(graph: StateGraph) -> bool:
    """Whether all weights are whole numbers, whose sums fit 62 bits."""
    return are_whole(graph.lotteries)


def scaled(graph: StateGraph) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The weights of a graph's outcomes as `rollwise.kernels.chances.scale` makes doubles of them.

    Returns
    -------
    weight : (n_outcomes,) float64
    normal : (n_actions,) bool
        Which actions have only normal ones.
    """
    weight, normal = scale(graph.lotteries)
    return weight[graph.outcome_lottery], normal[graph.action_lottery]


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROUNDINGS = 4  # of a look ahead, by which actions that are equally good may differ
TIED = 1e-9  # worths that are known to be closer are a tie
RARE = 2.0**-20  # outcomes are very rare: what is lost in a million moves is more than a rounding


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


def are_best(graph: StateGraph, ahead: Ahead) -> Mask:
    """Which actions can't be told from the best of their state: (n_actions,) bool."""
    low, high = _limits(graph, ahead)
    return np.asarray(high >= fold_actions(graph, np.maximum, low)[graph.action_state])


def most_costs(graph: StateGraph, ahead: Ahead) -> Floats:
    """What each action may cost at most against the best of its state: (n_actions,) float64."""
    low, high = _limits(graph, ahead)
    with np.errstate(invalid="ignore"):
        return np.asarray(fold_actions(graph, np.maximum, high)[graph.action_state] - low)


def _limits(graph: StateGraph, ahead: Ahead) -> tuple[Floats, Floats]:
    """What each action is worth at least and at most beyond its state: to make that large."""
    worth, off = sign_of(graph.objective) * ahead.gap, ahead.blur + 2 * ahead.rounding
    return worth - off, worth + off


def keep_bounds(graph: StateGraph, ahead: Ahead, best: Mask) -> Mask:
    """Which of the best actions may be taken again and again: (n_actions,) bool.

    Those that keep to the bound of their state; where none does, those of the largest worth.
    Each loses no more than its rounding.

    Parameters
    ----------
    best : (n_actions,) bool
        See `are_best`.
    """
    worth = sign_of(graph.objective) * ahead.gap
    short = ahead.blur - worth - ahead.bounds[graph.action_state]
    slack = ROUNDINGS * (ahead.rounding + (UNIT if graph.objective == "win" else 0.0))
    keeps = best & (short <= slack)
    none = ~fold_actions(graph, np.logical_or, keeps)[graph.action_state]
    if none.any():
        most = fold_actions(graph, np.maximum, worth)[graph.action_state]
        keeps |= none & (worth >= most - slack)
    return keeps


def undecided(graph: StateGraph, ahead: Ahead, best: Mask) -> Mask:
    """In which states the bounds don't tell what is best: (n_states,) bool.

    There are several best actions, and one of them may cost more than `TIED`, relative to the
    value of the state where that is larger than 1.

    Parameters
    ----------
    best : (n_actions,) bool
        See `are_best`.
    """
    cost = np.where(best, most_costs(graph, ahead), 0.0)
    cost = fold_actions(graph, np.maximum, cost)
    return has_ties(graph, best) & (cost > TIED * np.maximum(1.0, np.abs(ahead.values)))


def taken(graph: StateGraph, ahead: Ahead) -> Ints:
    """The action that is taken in each state: (n_states,) int64 (see `first_best`)."""
    best = are_best(graph, ahead)
    return first_best(graph, keep_bounds(graph, ahead, best), best, ahead.values)


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


def may_wait(graph: StateGraph, best: Mask) -> bool:
    """Whether ties may let play go round for ever, or nearly so."""
    tied = has_ties(graph, best)
    return bool(tied.any()) and (
        _may_stall(graph) or _likely(graph, tied[graph.action_state] & best) is not None
    )


def _may_stall(graph: StateGraph) -> bool:
    return graph.endless != "forbidden" or graph.objective != "win"


def first_best(
    graph: StateGraph, good: Mask, best: Mask | None = None, values: Floats | None = None
) -> Ints:
    """The action that is taken in each state: (n_states,) int64.

    The first of the good ones; where these could go round for ever, or could for longer than
    roundings allow, one that leads out of there, if there is one: to wait is as good as to act,
    but not for ever. Where the other player may keep play from leading out, one that forces it.

    Parameters
    ----------
    good : (n_actions,) bool
        See `keep_bounds`.
    best : (n_actions,) bool, optional
        Actions that may lead out where no good ones do.
    values : (n_states,) float64, optional
        Where endless play is worth as much, nothing has to be forced.
    """
    first = first_of_each_state(graph, good)
    likely = _likely(graph, has_ties(graph, good)[graph.action_state] & good)
    if likely is None and not _may_stall(graph):
        return first
    tied = end_components(graph, good, likely)
    if not len(tied):
        return first
    out = np.where(tied.number >= 0, -1, first)
    for usable, counted in ((good, likely), (good, None), (best, None)):
        if usable is not None and np.any(out < 0):
            out = np.where(out < 0, ways_out(graph, usable, counted), out)
    out = np.where(out < 0, first, out)
    if graph.endless == "forbidden" or graph.players == 1 or values is None:
        return out
    settled = np.append(values, -values) <= WORTH[graph.endless]
    forced = forced_ways_out(graph, good, tied.number, settled)
    return np.where((tied.number >= 0) & (forced >= 0), forced, out)


def _likely(graph: StateGraph, actions: Mask) -> Mask | None:
    """Which outcomes aren't very rare: (n_outcomes,) bool; None where none of some actions are."""
    lotteries = graph.lotteries
    weight, begin = lotteries.weight, lotteries.indptr[:-1]
    total = np.add.reduceat(weight, begin, dtype=np.float64)
    likely = weight >= RARE * np.repeat(total, np.diff(lotteries.indptr))
    rare = ~np.logical_and.reduceat(likely, begin)
    if not rare.any() or not np.any(rare[graph.action_lottery] & actions):
        return None
    return np.asarray(likely[graph.outcome_lottery])
