"""Many states of a graph at once: the costs of their actions, and the choice among them.

The rule of tolerance, stated here only: an action isn't one of the best if its value is at most
less than another action of the state is worth at least. Both ends follow from the error bounds of
the next values, and from the roundings. So the true best action is always one of the best.

Of the best actions, in the order of the rules, the policy takes the first one that keeps the
state's own bound: if all next values are worse by their bounds, it must be worth no less than the
state at its worst. The value of such a policy is the certified one, within its bound. If the
best actions could go round for ever, or nearly so, it takes the first one that leads out.

For one state at a time see `rollwise.graph.view`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.graph.lotteries import pointers, spans
from rollwise.graph.naming import THROW
from rollwise.graph.state_graph import StateGraph
from rollwise.graph.view import TIED, sign_of
from rollwise.kernels.chances import UNIT, are_whole, means_of, residuals, scale

NOTHING: NDArray[np.float64] = np.empty(0)


class Ahead(NamedTuple):
    """The values of all actions relative to their states, with error bounds.

    Attributes
    ----------
    gap : (n_actions,) float64
        Its value minus the value of its state.
    blur : (n_actions,) float64
        Error bound of its value from the bounds of the next values.
    rounding : (n_actions,) float64
        Rounding error bound of `gap`.
    values, bounds : (n_states,) float64
        The value of each state, and its error bound.
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
    """The value of each action minus the value of its state, with error bounds.

    Parameters
    ----------
    values, bounds : (n_states,) float64
        A value with an infinite bound counts as exact.
    border_values, border_bounds : (n_border,) float64
        The bounds are 0 unless given.
    """
    of_border = np.zeros(graph.n_border) if border_bounds is None else border_bounds
    known = np.concatenate([bounds, of_border])
    known[~np.isfinite(known)] = 0.0
    gap, rounding, blur = _residuals(graph, np.concatenate([values, border_values]), known)
    unknown = ~np.isfinite(values[graph.action_state])
    gap[unknown] = 0.0  # where play can't be ended all actions are equal
    rounding[~np.isfinite(rounding)] = 0.0
    return Ahead(gap, blur, rounding, values, known[: graph.n_states])


def action_gaps(
    graph: StateGraph, values: NDArray[np.float64], border_values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The value of each action minus the value of its state: (n_actions,) float64.

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
    weight, *means = means_of(graph.lotteries)
    residuals(
        graph.action_indptr,
        graph.action_lottery,
        graph.outcome_indptr,
        graph.outcome_state,
        graph.lotteries,
        (np.where(graph.lotteries.passes, -weight, weight), *means),
        values,
        bounds,
        *found,
    )
    return found


def has_whole_weights(graph: StateGraph) -> bool:
    """Whether all weights are whole numbers with sums of at most 62 bits."""
    return are_whole(graph.lotteries)


def scaled(graph: StateGraph) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The weights of a graph's outcomes as doubles from `rollwise.kernels.chances.scale`.

    Returns
    -------
    weight : (n_outcomes,) float64
    normal : (n_actions,) bool
        Whether an action has only normal ones.
    """
    weight, normal = scale(graph.lotteries)
    return weight[graph.outcome_lottery], normal[graph.action_lottery]


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

ROUNDINGS = 4  # tolerated differences of equally good actions, in roundings of a look ahead
COUNTS = 64  # times the uncertainty of an action: a move with more points is no waiting
RARE = 2.0**-20  # for very rare outcomes: the loss over a million moves exceeds a rounding


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
    """Whether each action is the throw before a choice, and no move: (n_actions,) bool."""
    if not graph.throw_names:
        return np.zeros(graph.n_actions, np.bool_)
    return np.asarray(graph.action_label == THROW)


def chance_to_pass(graph: StateGraph) -> Floats:
    """The probability of each action to pass the turn, rounded once: (n_actions,) float64."""
    passing = np.where(graph.outcome_passes, graph.outcome_weight, 0)
    passing, total = (fold_outcomes(graph, np.add, x) for x in (passing, graph.outcome_weight))
    return np.asarray(passing / total)


def summed(
    graph: StateGraph, actions: Floats | None = None, endings: Floats | None = None, **changes: Any
) -> StateGraph:
    """The same play of a single player, who maximizes the sum of other amounts.

    Parameters
    ----------
    actions : (n_actions,) float64, optional
        The amount of each action; 0 unless given.
    endings : (n_outcomes,) float64, optional
        The amount of each outcome that ends play; 0 unless given.
    **changes
        Further differences from the graph.
    """
    amounts: dict[str, Any] = {
        "action_reward": np.zeros(graph.n_actions) if actions is None else actions,
        "outcome_payoff": np.zeros(graph.n_outcomes) if endings is None else endings,
        "outcome_passes": np.zeros(graph.n_outcomes, np.bool_),
        "players": 1,
        "objective": "maximize",
        "endless": "forbidden",
    }
    return graph.with_arrays(**(amounts | changes))


def is_roll(graph: StateGraph) -> Mask:
    """Whether each action has more than one possible outcome: (n_actions,) bool.

    Equal outcomes are one, merged in the graph or not.
    """
    first = graph.outcome_indptr[:-1][outcome_action(graph)]
    differs = np.zeros(graph.n_outcomes, np.bool_)
    for of_outcomes in (graph.outcome_state, graph.outcome_passes, graph.outcome_payoff):
        differs |= of_outcomes != of_outcomes[first]
    return fold_outcomes(graph, np.logical_or, differs)


def has_choice(graph: StateGraph) -> Mask:
    """Whether each state has more than one action: (n_states,) bool."""
    return np.asarray(np.diff(graph.action_indptr) > 1)


def has_ties(graph: StateGraph, best: Mask) -> Mask:
    """Whether each state has several best actions: (n_states,) bool.

    Parameters
    ----------
    best : (n_actions,) bool
    """
    return fold_actions(graph, np.add, best.astype(np.int64)) > 1


def first_actions(graph: StateGraph) -> Ints:
    """The first action of each state in the order of the rules: (n_states,) int64."""
    return graph.action_indptr[:-1]


def places_of(graph: StateGraph, actions: NDArray[Any]) -> Ints:
    """The places of actions among those of their states, from 0: (n,) int64."""
    return np.asarray(actions - first_actions(graph)[graph.action_state[actions]])


def outcome_action(graph: StateGraph) -> Ints:
    """The action of each outcome: (n_outcomes,) int64."""
    return np.repeat(np.arange(graph.n_actions), np.diff(graph.outcome_indptr))


def chances(graph: StateGraph) -> Floats:
    """How likely each outcome is: (n_outcomes,) float64."""
    return graph.lotteries.chances()[graph.outcome_lottery]


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


class Slopes(NamedTuple):
    """The values of some actions as linear functions of the values of the next states.

    Attributes
    ----------
    action : (n,) int64
        The place among the actions of each outcome that goes on.
    state : (n,) int64
        The next state.
    slope : (n,) float64
        How likely the outcome is; negative if the turn passes.
    constant : (n_actions,) float64
        The reward, and the mean payoff of the endings.
    """

    action: Ints
    state: Ints
    slope: Floats
    constant: Floats


def slopes_of(graph: StateGraph, actions: Ints) -> Slopes:
    """The values of some actions: the constant, plus the slopes times the values of the states."""
    outcomes, counts = outcomes_of(graph, actions)
    action, n = np.repeat(np.arange(len(actions)), counts), len(actions)
    weight = graph.outcome_weight[outcomes].astype(np.float64)
    chance = weight / np.bincount(action, weight, n)[action]
    state = graph.outcome_state[outcomes].astype(np.int64)
    on = state >= 0
    paid = np.where(on, 0.0, chance * graph.outcome_payoff[outcomes])
    slope = np.where(graph.outcome_passes[outcomes], -chance, chance)
    constant = graph.action_reward[actions] + np.bincount(action, paid, n)
    return Slopes(action[on], state[on], slope[on], constant)


def part_of(graph: StateGraph, states: NDArray[Any]) -> tuple[StateGraph, Ints]:
    """The graph of some states alone, with all their next states on its border.

    Parameters
    ----------
    states : (n,) int

    Returns
    -------
    part : StateGraph
        Its actions are those of `actions_of`.
    beyond : (part.n_border,) int64
        The state of the graph for each place of the border.
    """
    actions, counts = actions_of(graph, states)
    outcomes, sizes = outcomes_of(graph, actions)
    used, lottery = np.unique(graph.action_lottery[actions], return_inverse=True)
    target = graph.outcome_state[outcomes]
    goes_on = target >= 0
    # Each outcome that goes on has a place of the border to itself.
    place = len(states) + np.cumsum(goes_on) - 1
    part = replace(
        graph,
        states=graph.rows_at(states),
        field_names=graph.columns,
        throws=None,
        action_indptr=pointers(counts),
        action_label=graph.action_label[actions],
        action_lottery=lottery.astype(np.int32),
        outcome_indptr=pointers(sizes),
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
    n, n_fields = states.shape
    return np.lexsort(states.T[::-1]) if n_fields else np.arange(n)


def costs(graph: StateGraph, action_values: Floats) -> Floats:
    """The cost of each action against the best of its state: (n_actions,) float64, from 0.

    Parameters
    ----------
    action_values : (n_actions,) float64
        The value of each action, possibly minus a number of its state.
    """
    worth = sign_of(graph.objective) * action_values
    best = fold_actions(graph, np.maximum, worth)[graph.action_state]
    # Equal numbers cost 0, infinite ones too.
    cost: Floats = np.subtract(best, worth, out=np.zeros(len(worth)), where=best != worth)
    return cost


def are_best(graph: StateGraph, ahead: Ahead) -> Mask:
    """Whether an action may be the best of its state, within the bounds: (n_actions,) bool."""
    low, high = _limits(graph, ahead)
    return np.asarray(high >= fold_actions(graph, np.maximum, low)[graph.action_state])


def most_costs(graph: StateGraph, ahead: Ahead) -> Floats:
    """Upper bound on each action's cost against the best of its state: (n_actions,) float64."""
    low, high = _limits(graph, ahead)
    with np.errstate(invalid="ignore"):
        return np.asarray(fold_actions(graph, np.maximum, high)[graph.action_state] - low)


def _limits(graph: StateGraph, ahead: Ahead) -> tuple[Floats, Floats]:
    """Bounds of each action's value minus its state's, oriented so that more is better."""
    worth, off = sign_of(graph.objective) * ahead.gap, ahead.blur + 2 * ahead.rounding
    return worth - off, worth + off


def keep_bounds(graph: StateGraph, ahead: Ahead, best: Mask) -> Mask:
    """Whether a best action can be repeated without loss: (n_actions,) bool.

    These actions keep the bound of their state. In states without any, the actions of the largest
    value count. Each loses no more than its rounding.

    Parameters
    ----------
    best : (n_actions,) bool
        See `are_best`.
    """
    worth = sign_of(graph.objective) * ahead.gap
    # Relative to the state's value, the action is worth at least worth - blur if all next values
    # are at their worst, and the state at its worst is -bounds.
    short = ahead.blur - worth - ahead.bounds[graph.action_state]
    slack = ROUNDINGS * (ahead.rounding + (UNIT if graph.objective == "win" else 0.0))
    keeps = best & (short <= slack)
    none = ~fold_actions(graph, np.logical_or, keeps)[graph.action_state]
    if none.any():
        most = fold_actions(graph, np.maximum, worth)[graph.action_state]
        keeps |= none & (worth >= most - slack)
    return keeps


def undecided(graph: StateGraph, ahead: Ahead, best: Mask) -> Mask:
    """Whether the bounds leave the best action of a state open: (n_states,) bool.

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
    """The policy's action in each state: (n_states,) int64 (see `first_best`)."""
    best = are_best(graph, ahead)
    good = keep_bounds(graph, ahead, best)
    if _each_move_counts(graph, ahead):
        return first_of_each_state(graph, good)
    return first_best(graph, good, best, ahead.values)


def _each_move_counts(graph: StateGraph, ahead: Ahead) -> bool:
    """Whether every move of a single player brings points of one sign, far more than the bounds.

    Then best actions cannot go round for long: each round would be worth points. Points of two
    players could cancel.
    """
    rewards = graph.lotteries.reward[graph.action_lottery[~is_throw(graph)]]
    if graph.players > 1 or graph.objective == "win" or not len(rewards):
        return False
    least = max(float(rewards.min()), -float(rewards.max()))
    return least > COUNTS * float((ahead.blur + 2 * ahead.rounding).max())


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
    """The policy's action in each state: (n_states,) int64.

    It is the first of the good ones. Where these could go round for ever, or for longer than
    roundings allow, it is one that leads out, if there is one: waiting is as good as acting,
    but not for ever. Where the other player may prevent an exit, it is one that forces it.

    Parameters
    ----------
    good : (n_actions,) bool
        See `keep_bounds`.
    best : (n_actions,) bool, optional
        Actions that may lead out where no good ones do.
    values : (n_states,) float64, optional
        Where endless play has the same value, no exit has to be forced.
    """
    first = first_of_each_state(graph, good)
    likely = _likely(graph, has_ties(graph, good)[graph.action_state] & good)
    if likely is None and not _may_stall(graph):
        return first
    from rollwise.graph.endings import WORTH, end_components, forced_ways_out

    # Play by usable actions goes round for ever only in their end components, and leaves those by
    # ways out: by good actions, and where they have none by best ones too, there or all around.
    usable = good
    tied = end_components(graph, good, likely)
    if not len(tied):
        return first
    out = _out(graph, usable, tied.number, first, likely)
    for all_around in (False, True):
        stuck = out < 0
        if best is None or not stuck.any():
            break
        ways = usable | (best & stuck[graph.action_state])
        if all_around:
            ways = usable | best
            number = end_components(graph, ways, likely).number
            stuck = np.isin(number, number[stuck & (number >= 0)])
        usable = usable | (best & stuck[graph.action_state])
        tied = end_components(graph, usable, likely)
        here = np.isin(tied.number, tied.number[stuck & (tied.number >= 0)])
        out = np.where(here, _out(graph, ways, tied.number, first, likely), out)
    out = np.where(out < 0, first, out)
    if graph.endless == "forbidden" or graph.players == 1 or values is None:
        return out
    # Of each state as its mover, then as the other player: a player whose value is at most that of
    # endless play needn't force a way out.
    settled = np.append(values, -values) <= WORTH[graph.endless]
    forced = forced_ways_out(graph, usable, tied.number, settled)
    return np.where((tied.number >= 0) & (forced >= 0), forced, out)


def _out(graph: StateGraph, usable: Mask, number: Ints, first: Ints, likely: Mask | None) -> Ints:
    """The way out of each end component, a likely one first; -1 where there is none."""
    from rollwise.graph.endings import ways_out

    out = np.where(number >= 0, -1, first)
    for counted in (None,) if likely is None else (likely, None):
        if np.any(out < 0):
            out = np.where(out < 0, ways_out(graph, usable, counted), out)
    return out


def _likely(graph: StateGraph, actions: Mask) -> Mask | None:
    """Whether each outcome isn't very rare: (n_outcomes,) bool; None if all outcomes are likely."""
    lotteries = graph.lotteries
    weight, begin = lotteries.weight, lotteries.indptr[:-1]
    total = np.add.reduceat(weight, begin, dtype=np.float64)
    likely = weight >= RARE * np.repeat(total, np.diff(lotteries.indptr))
    rare = ~np.logical_and.reduceat(likely, begin)
    if not rare.any() or not np.any(rare[graph.action_lottery] & actions):
        return None
    return np.asarray(likely[graph.outcome_lottery])
