"""What happened between two positions, where the rules have no words of their own for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph

SAMPLE = 4096  # passes that are looked at
MOST_CHANGES = 8  # that are told


def as_other_sees(graph: StateGraph) -> tuple[int, ...]:
    """Where the other player sees each field: what is my score is there the rival's.

    Rules don't say which fields are exchanged at a PASS. But most fields keep their
    value in a turn, so that two that are exchanged agree more often than others.

    Returns
    -------
    tuple of int
        The field of the state after a PASS that holds what field i held before it,
        unless that has changed; -1 where the field only says whose turn it is.
    """
    passes = np.flatnonzero(graph.outcome_passes & (graph.outcome_state >= 0))
    passes = passes[graph.outcome_state[passes] < graph.n_states]
    n = len(graph.field_names)
    if not len(passes):
        return tuple(range(n))
    passes = passes[:: max(1, len(passes) // SAMPLE)]
    actions = np.searchsorted(graph.outcome_indptr, passes, side="right") - 1
    before: NDArray[np.int32] = graph.fields[graph.action_state[actions]]
    after: NDArray[np.int32] = graph.fields[graph.outcome_state[passes]]
    agree = (before[:, :, None] == after[:, None, :]).mean(axis=0)
    agree = agree + agree.T
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    seen = list(range(n))
    free = set(range(n))
    for i, j in sorted(pairs, key=lambda pair: -agree[pair]):
        if i in free and j in free:
            seen[i], seen[j] = j, i
            free -= {i, j}
    for i in range(n):
        if seen[i] == i and agree[i, i] == 0 and len(np.unique(before[:, i])) <= 2:
            seen[i] = -1
    return tuple(seen)


def changes(
    graph: StateGraph, state: int, following: int, seen: tuple[int, ...] | None = None
) -> str:
    """Which fields changed, by name, as the player saw them who made the move.

    Parameters
    ----------
    seen : tuple of int, optional
        `as_other_sees`, where the turn has passed.
    """
    before, after = graph.fields[state].tolist(), graph.fields[following].tolist()
    if seen is not None:
        places = zip(before, seen, strict=True)
        after = [old if place < 0 else after[place] for old, place in places]
    rows = zip(graph.field_names, before, after, strict=True)
    told = [f"{name} {old} → {new}" for name, old, new in rows if old != new]
    if len(told) > MOST_CHANGES:
        told[MOST_CHANGES - 1 :] = [f"and {len(told) - MOST_CHANGES + 1} fields more"]
    return ", ".join(told)
