"""Two graphs of one game side by side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rollwise.graph import Lotteries, StateGraph


def joined(one: StateGraph, other: StateGraph) -> StateGraph:
    """A graph with the states of both, those of the first one first; none has a border."""
    a, b = one.flat, other.flat
    s, n = a.n_states, len(a.lotteries.reward)
    first, second = a.lotteries, b.lotteries
    target = b.outcome_state
    return replace(
        a,
        action_names={**a.action_names, **b.action_names},
        states=np.concatenate([a.states, b.states]),
        action_indptr=np.concatenate([a.action_indptr, a.n_actions + b.action_indptr[1:]]),
        action_label=np.concatenate([a.action_label, b.action_label]),
        action_lottery=np.concatenate([a.action_lottery, n + b.action_lottery]).astype(np.int32),
        outcome_indptr=np.concatenate([a.outcome_indptr, a.n_outcomes + b.outcome_indptr[1:]]),
        outcome_state=np.concatenate(
            [a.outcome_state, np.where(target < 0, target, target + s)]
        ).astype(np.int32),
        lotteries=Lotteries(
            np.concatenate([first.indptr, first.indptr[-1] + second.indptr[1:]]),
            *(np.concatenate(pair) for pair in list(zip(first, second, strict=True))[1:]),
        ),
    )
