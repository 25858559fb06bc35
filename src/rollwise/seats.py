"""Graphs in which a seat plays a given policy.

Two players with different policies, or one who is free against one who isn't,
are two copies of the graph, one a seat, with every PASS leading to the other
copy. What a policy does is averaged into chance: each of its states has one
action. The result is a `StateGraph`, which every method solves and the ordinary
certificate certifies, unaware of what it stands for.

A fixed policy makes the max over actions vanish, so these graphs are those of
the policy's own recursion; two free seats are the textbook's game between MAX and
MIN, each in their own eyes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph import Lotteries, StateGraph
from rollwise.kernels.seats import take_actions
from rollwise.policies import Policy


def with_policy(graph: StateGraph, policy: Policy) -> StateGraph:
    """The graph of a game that is played by one policy, in whatever seat.

    Parameters
    ----------
    graph : StateGraph
    policy : Policy
        On this graph.

    Returns
    -------
    StateGraph
        The same states, each with one action.
    """
    return _joined(graph, [_played(graph, policy, 0, 0)])


def two_seats(graph: StateGraph, first: Policy | None, second: Policy | None) -> StateGraph:
    """Two copies of a graph, one a seat.

    Parameters
    ----------
    graph : StateGraph
        Of a game of two players, without a border.
    first, second : Policy or None
        What each seat plays; None leaves it free to choose.

    Returns
    -------
    StateGraph
        State s with the first seat to move is state s, with the second seat
        ``n_states + s``; a field ``seat`` (0 or 1) says so. Values are in the
        eyes of the mover.

    Raises
    ------
    UsageError
        The game has one player.
    """
    if graph.players != 2:
        raise UsageError(f"{graph.game} is a game for one: there is no second seat")
    if graph.n_border:
        raise ValueError("two seats need a whole graph, not one with a border")
    n = graph.n_states
    parts = []
    for seat, policy in enumerate((first, second)):
        stay, cross = seat * n, (1 - seat) * n
        if policy is None:
            parts.append(
                _taken(graph, np.arange(graph.n_actions), graph.action_indptr, stay, cross)
            )
        else:
            parts.append(_played(graph, policy, stay, cross))
    seats = np.repeat(np.arange(2, dtype=np.int32), n)
    return _joined(
        graph,
        parts,
        states=np.column_stack([np.tile(graph.states, (2, 1)), seats]),
        field_names=(*graph.field_names, "seat"),
    )


class _Part(NamedTuple):
    """The arrays of one seat."""

    action_indptr: NDArray[np.int64]
    action_label: NDArray[np.int32]
    action_lottery: NDArray[np.int32]
    outcome_indptr: NDArray[np.int64]
    outcome_state: NDArray[Any]
    lotteries: Lotteries


def _joined(graph: StateGraph, parts: Sequence[_Part], **changed: Any) -> StateGraph:
    """The graph of one seat or of two, one behind the other; the rest is as in `graph`."""
    kept = {name: value for name, value in vars(graph).items() if name in _KEPT}
    lotteries, shift = parts[0].lotteries, 0
    if parts[-1].lotteries is not lotteries:
        shift = len(lotteries.reward)
        indptr = _stack(lotteries.indptr, parts[1].lotteries.indptr)
        pairs = zip(lotteries[1:], parts[1].lotteries[1:], strict=True)
        lotteries = Lotteries(indptr, *(np.concatenate(pair) for pair in pairs))
    first, *second = parts
    if not second:
        arrays = first._asdict()
    else:
        (other,) = second
        arrays = {
            "action_indptr": _stack(first.action_indptr, other.action_indptr),
            "action_label": np.concatenate([first.action_label, other.action_label]),
            "action_lottery": np.concatenate([first.action_lottery, other.action_lottery + shift]),
            "outcome_indptr": _stack(first.outcome_indptr, other.outcome_indptr),
            "outcome_state": np.concatenate([first.outcome_state, other.outcome_state]),
        }
    arrays["lotteries"] = lotteries
    return StateGraph.of_lotteries(**(kept | arrays | changed))


# What isn't about actions and outcomes.
_KEPT = {
    "states",
    "field_names",
    "action_names",
    "game",
    "parameters",
    "players",
    "objective",
    "n_roots",
    "n_border",
}


def _taken(
    graph: StateGraph,
    actions: NDArray[np.int64],
    action_indptr: NDArray[np.int64],
    stay: int,
    cross: int,
) -> _Part:
    """Some actions of a graph, with the numbers of states shifted."""
    sizes = np.diff(graph.lotteries.indptr)[graph.action_lottery[actions]]
    outcome_indptr = np.empty(len(actions) + 1, np.int64)
    outcome_state = np.empty(int(sizes.sum()), graph.outcome_state.dtype)
    take_actions(
        actions,
        graph.action_lottery,
        graph.outcome_indptr,
        graph.outcome_state,
        graph.lotteries.indptr,
        graph.lotteries.passes,
        stay,
        cross,
        outcome_indptr,
        outcome_state,
    )
    return _Part(
        action_indptr,
        graph.action_label[actions],
        graph.action_lottery[actions],
        outcome_indptr,
        outcome_state,
        graph.lotteries,
    )


def _played(graph: StateGraph, policy: Policy, stay: int, cross: int) -> _Part:
    """One action a state: the policy's, or the mixture that it makes of several."""
    n = graph.n_states
    probability = policy.probability
    if len(probability) != graph.n_actions:
        raise ValueError(
            f"the policy has {len(probability)} probabilities, the graph {graph.n_actions} actions"
        )
    actions = np.flatnonzero(probability > 0)
    one_each = np.arange(n + 1, dtype=np.int64)
    if len(actions) == n:
        return _taken(graph, actions, one_each, stay, cross)
    mixed = _mixed(graph, probability)
    return _taken(mixed, one_each[:-1], one_each, stay, cross)


def _mixed(graph: StateGraph, probability: NDArray[np.float64]) -> StateGraph:
    """The graph whose only action in each state is a mixture of several.

    Outcomes of a mixture weigh probability times weight over the action's total,
    each rounded twice, which the certificate allows real weights.
    """
    n = graph.n_states
    taken = probability > 0
    first = np.full(n, -1, np.int64)
    actions = np.flatnonzero(taken)[::-1]
    first[graph.action_state[actions]] = actions  # the lowest action is written last
    action_of = np.repeat(np.arange(graph.n_actions), np.diff(graph.outcome_indptr))
    kept = taken[action_of]
    weight = graph.outcome_weight[kept]
    counts = np.bincount(graph.action_state[actions], minlength=n)
    if np.any(counts > 1):
        total = np.add.reduceat(graph.outcome_weight, graph.outcome_indptr[:-1])
        mixed = action_of[kept]
        weight = probability[mixed] * weight / total[mixed]
    outcomes = np.bincount(graph.action_state[action_of[kept]], minlength=n)
    reward = graph.action_reward[first]
    lowest = np.minimum.reduceat(graph.action_reward, graph.action_indptr[:-1])
    highest = np.maximum.reduceat(graph.action_reward, graph.action_indptr[:-1])
    for s in np.flatnonzero((counts > 1) & (lowest != highest)):
        begin, end = graph.action_indptr[s], graph.action_indptr[s + 1]
        points = graph.action_reward[begin:end]
        chances = [Fraction(p) for p in probability[begin:end].tolist()]
        total_points = sum(p * Fraction(r) for p, r in zip(chances, points, strict=True))
        reward[s] = float(total_points / sum(chances))
    return replace(
        graph,
        action_indptr=np.arange(n + 1, dtype=np.int64),
        action_label=graph.action_label[first],
        action_reward=reward,
        outcome_indptr=np.concatenate([[0], np.cumsum(outcomes)]).astype(np.int64),
        outcome_state=graph.outcome_state[kept],
        outcome_weight=weight,
        outcome_passes=graph.outcome_passes[kept],
        outcome_payoff=graph.outcome_payoff[kept],
    )


def _stack(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([first, first[-1] + second[1:]])
