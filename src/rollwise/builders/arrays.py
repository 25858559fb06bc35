"""What a builder finds: the arrays that a graph is made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rollwise.builders.rules import Rules
from rollwise.game import AGAIN, DRAW, END, LOSE, PASS, WIN
from rollwise.graph import Lotteries, StateGraph

# The payoff of each `then` that has a name, in its order.
PAYOFF = np.array([0.0, 0.0, 1.0, -1.0, 0.0, 0.0])


class Arrays(NamedTuple):
    """The arrays of a graph, as both builders return them (see `StateGraph`)."""

    n_roots: int

    states: np.ndarray
    action_indptr: np.ndarray
    action_label: np.ndarray
    action_lottery: np.ndarray
    outcome_indptr: np.ndarray
    outcome_state: np.ndarray
    lottery_indptr: np.ndarray
    lottery_reward: np.ndarray
    lottery_weight: np.ndarray
    lottery_then: np.ndarray


def as_graph(rules: Rules, arrays: Arrays, n_border: int = 0) -> StateGraph:
    """The arrays that a builder found, as a graph."""
    weight, then = arrays.lottery_weight, arrays.lottery_then
    named = then.view(np.uint64) <= END  # the others are the bits of payoffs
    if weight.dtype == np.float64 and np.all(weight == np.floor(weight)) and weight.max() < 2.0**53:
        weight = weight.astype(np.int64)  # whole numbers, written as floats
    return StateGraph(
        states=arrays.states,
        action_indptr=arrays.action_indptr,
        action_label=arrays.action_label,
        action_lottery=arrays.action_lottery,
        outcome_indptr=arrays.outcome_indptr,
        outcome_state=arrays.outcome_state,
        lotteries=Lotteries(
            arrays.lottery_indptr,
            arrays.lottery_reward,
            weight,
            ~named | (then > PASS),
            then == PASS,
            np.where(named, PAYOFF[np.where(named, then, AGAIN)], then.view(np.float64)),
        ),
        field_names=rules.field_names,
        action_names=rules.action_names,
        game=rules.game.name,
        parameters=rules.game.parameters,
        players=rules.game.players,
        objective=rules.game.objective,  # type: ignore[arg-type]  # `Rules` has looked at both
        n_roots=arrays.n_roots,
        n_border=n_border,
        endless=rules.game.endless,  # type: ignore[arg-type]
    )


def as_arrays(graph: StateGraph) -> Arrays:
    """The arrays that a builder found, of its graph."""
    lotteries = graph.lotteries
    then = np.where(lotteries.over, lotteries.payoff.view(np.int64), AGAIN)
    then[lotteries.passes] = PASS
    ends = (WIN, LOSE, DRAW) if graph.objective == "win" else (END,)
    for code in ends:
        then[lotteries.over & (lotteries.payoff == PAYOFF[code])] = code
    return Arrays(
        graph.n_roots,
        graph.states,
        graph.action_indptr,
        graph.action_label,
        graph.action_lottery,
        graph.outcome_indptr,
        graph.outcome_state,
        lotteries.indptr,
        lotteries.reward,
        lotteries.weight,
        then,
    )
