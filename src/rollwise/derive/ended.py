"""A graph whose border is a part of it: states where play ends with what they are worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import NO_THROW, THROW, Lotteries, StateGraph, win_probability

ROUNDED = 2.0**-50  # more than a value of -1 to 1 changes where it is made of two weights


def with_ends(
    graph: StateGraph, rows: NDArray[np.int32], values: NDArray[np.float64], stakes: bool
) -> StateGraph:
    """The graph with its border as states; the one action there ends play.

    Parameters
    ----------
    graph : StateGraph
    rows : (n_border, n_fields) int32
        The fields of the border.
    values : (n_border,) float64
        What they are worth to the mover there. In a game that is won or lost their chance to
        win is held by two weights, which changes them by less than `ROUNDED`.
    stakes : bool
        The game is played for more than a win.
    """
    flat, n_border = graph.flat, graph.n_border
    blank = np.full((n_border, len(flat.field_names) - rows.shape[1]), NO_THROW, np.int32)
    chance = np.clip(win_probability(values), 0.0, 1.0)
    split = (chance > 0) & (chance < 1) & (graph.objective == "win") & (not stakes)
    sizes = np.where(split, 2, 1)
    ends = np.cumsum(sizes)
    weight, payoff = np.ones(ends[-1] if n_border else 0), np.zeros(ends[-1] if n_border else 0)
    first = ends - sizes
    if graph.objective == "win":
        payoff[first] = np.where(split, 1.0, values)
        weight[first[split]] = chance[split]
        payoff[first[split] + 1], weight[first[split] + 1] = -1.0, 1 - chance[split]
    reward = np.zeros(n_border) if graph.objective == "win" else values
    old, n_old = graph.lotteries, len(graph.lotteries.reward)
    return replace(
        flat,
        states=np.concatenate([flat.states, np.hstack([rows, blank])]),
        action_indptr=np.concatenate(
            [flat.action_indptr, flat.n_actions + 1 + np.arange(n_border)]
        ),
        action_label=np.concatenate([flat.action_label, np.full(n_border, THROW, np.int32)]),
        action_lottery=np.concatenate(
            [flat.action_lottery, n_old + np.arange(n_border, dtype=np.int32)]
        ),
        outcome_indptr=np.concatenate([flat.outcome_indptr, flat.n_outcomes + ends]),
        outcome_state=np.concatenate([flat.outcome_state, np.full(len(weight), -1, np.int32)]),
        lotteries=Lotteries(
            np.concatenate([old.indptr, old.indptr[-1] + ends]),
            np.concatenate([old.reward, reward]),
            np.concatenate(
                [old.weight, weight if split.any() else weight.astype(old.weight.dtype)]
            ),
            np.concatenate([old.over, np.ones(len(weight), np.bool_)]),
            np.concatenate([old.passes, np.zeros(len(weight), np.bool_)]),
            np.concatenate([old.payoff, payoff]),
        ),
        n_border=0,
    )
