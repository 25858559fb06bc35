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

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph import StateGraph
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
    part = _played(graph, policy)
    return replace(
        graph,
        action_indptr=part.action_indptr,
        action_label=part.action_label,
        action_reward=part.action_reward,
        outcome_indptr=part.outcome_indptr,
        outcome_state=part.outcome_state,
        outcome_weight=part.outcome_weight,
        outcome_passes=part.outcome_passes,
        outcome_payoff=part.outcome_payoff,
    )


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
        part = _whole(graph) if policy is None else _played(graph, policy)
        mine, theirs = seat * n, (1 - seat) * n
        state = part.outcome_state.astype(np.int64)
        moved = np.where(part.outcome_passes, theirs, mine)
        parts.append(part._replace(outcome_state=np.where(state < 0, -1, state + moved)))
    states = np.repeat(np.arange(2, dtype=np.int32), n)
    joined = [np.concatenate(pair) for pair in zip(*parts, strict=True)]
    together = _Part(*joined)
    return replace(
        graph,
        states=np.column_stack([np.tile(graph.states, (2, 1)), states]),
        field_names=(*graph.field_names, "seat"),
        action_indptr=_stack(parts[0].action_indptr, parts[1].action_indptr),
        action_label=together.action_label,
        action_reward=together.action_reward,
        outcome_indptr=_stack(parts[0].outcome_indptr, parts[1].outcome_indptr),
        outcome_state=together.outcome_state.astype(graph.outcome_state.dtype),
        outcome_weight=together.outcome_weight,
        outcome_passes=together.outcome_passes,
        outcome_payoff=together.outcome_payoff,
    )


class _Part(NamedTuple):
    """The arrays of one seat."""

    action_indptr: NDArray[np.int64]
    action_label: NDArray[np.int32]
    action_reward: NDArray[np.float64]
    outcome_indptr: NDArray[np.int64]
    outcome_state: NDArray[Any]
    outcome_weight: NDArray[Any]
    outcome_passes: NDArray[np.bool_]
    outcome_payoff: NDArray[np.float64]


def _whole(graph: StateGraph) -> _Part:
    return _Part(*(getattr(graph, name) for name in _Part._fields))


def _played(graph: StateGraph, policy: Policy) -> _Part:
    """One action a state: the policy's, or the mixture that it makes of several.

    Outcomes of a mixture weigh probability times weight over the action's total,
    each rounded twice, which the certificate allows real weights.
    """
    n = graph.n_states
    probability = policy.probability
    if len(probability) != graph.n_actions:
        raise ValueError(
            f"the policy has {len(probability)} probabilities, the graph {graph.n_actions} actions"
        )
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
    for s in np.flatnonzero(counts > 1):
        begin, end = graph.action_indptr[s], graph.action_indptr[s + 1]
        points = graph.action_reward[begin:end]
        if np.any(points != points[0]):
            chances = [Fraction(p) for p in probability[begin:end].tolist()]
            total_points = sum(p * Fraction(r) for p, r in zip(chances, points, strict=True))
            reward[s] = float(total_points / sum(chances))
    return _Part(
        np.arange(n + 1, dtype=np.int64),
        graph.action_label[first],
        reward,
        np.concatenate([[0], np.cumsum(outcomes)]).astype(np.int64),
        graph.outcome_state[kept],
        weight,
        graph.outcome_passes[kept],
        graph.outcome_payoff[kept],
    )


def _stack(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([first, first[-1] + second[1:]])
