"""Along which field a decision is most nearly a threshold: do this below, that from here on.

A threshold along a field, one for each combination of the other fields, gets some
positions right that a constant would not. That share is what the field explains. A
threshold is also a rule of when to stop, so that share is multiplied by another: of the
moves within a turn, those that change the field. What a player has thrown so far changes
with them, and what the rival has banked doesn't.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph
from rollwise.graph.choices import outcome_action

Ints = NDArray[np.int64]

OFTEN = 0.02  # an action that is best more rarely isn't what a picture is about


@dataclass(frozen=True)
class Threshold:
    """A field, and the action that is best from somewhere on upwards.

    Attributes
    ----------
    field : int
    action : int
        A label.
    gain : float
        The share of the positions that thresholds get right and constants don't, times the
        share of the moves within a turn that change the field.
    """

    field: int
    action: int
    gain: float


def find_threshold(
    graph: StateGraph, states: Ints, label: NDArray[np.int32], fields: list[int]
) -> Threshold | None:
    """The best threshold along one of some fields; None where no action is best often enough.

    Parameters
    ----------
    states : (n,) int64
    label : (n,) int32
        What is best in each of them.
    fields : list of int
        The candidates.
    """
    moved = moved_within_turn(graph, states)
    if not moved[fields].any():  # turns of one move: any field will do
        moved[:] = 1.0
    known, counts = np.unique(label, return_counts=True)
    often = known[counts >= OFTEN * counts.sum()]
    table = graph.rows[states]
    found = [
        Threshold(field, int(action), moved[field] * gain)
        for field in fields
        if moved[field] > 0
        for action, gain in zip(often, _gains(table, field, label, often), strict=True)
    ]
    return max(found, key=lambda threshold: threshold.gain, default=None)


def moved_within_turn(graph: StateGraph, states: Ints) -> NDArray[np.float64]:
    """The share of the outcomes after which the mover goes on that change each field."""
    mine = np.zeros(graph.n_states, np.bool_)
    mine[states] = True
    goes_on = (graph.outcome_state >= 0) & (graph.outcome_passes == 0)
    goes_on &= graph.outcome_state < graph.n_states
    source = graph.action_state[outcome_action(graph)]
    goes_on &= mine[source]
    before, after = graph.rows[source[goes_on]], graph.rows[graph.outcome_state[goes_on]]
    return np.asarray((before != after).mean(axis=0)) if len(before) else np.zeros(before.shape[1])


def _gains(
    table: NDArray[np.int32], field: int, label: NDArray[np.int32], actions: NDArray[np.int32]
) -> list[float]:
    """How much thresholds along a field say of where each of some actions is best."""
    others = [f for f in range(table.shape[1]) if f != field]
    order = np.lexsort(table[:, [field, *others]].T)
    rows = table[order][:, others]
    new = np.ones(len(order), np.bool_)
    new[1:] = np.any(rows[1:] != rows[:-1], axis=1)
    begin = np.flatnonzero(new)
    size = np.diff(np.append(begin, len(order)))
    column = np.repeat(np.arange(len(begin)), size)
    place = np.arange(len(order)) - begin[column]
    gains = []
    for action in actions:
        inside = (label[order] == action).astype(np.int64)
        total = np.add.reduceat(inside, begin)
        so_far = np.cumsum(inside) - inside
        below = so_far - so_far[begin][column]
        # Wrong with a threshold here: those inside below it, and those outside from it on.
        wrong = below + (size[column] - place) - (total[column] - below)
        with_threshold = np.minimum(np.minimum.reduceat(wrong, begin), total)
        with_constant = np.minimum(total, size - total)
        gains.append(float((with_constant - with_threshold).sum() / len(order)))
    return gains
