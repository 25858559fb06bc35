"""Looking for an equilibrium, component by component: sweeps of best choices, then mixtures.

Strongly connected components are taken last ones first, so that what follows one is known.
Within it, sweeps of best choices settle nearly everywhere. Where they go round for ever, best
choices depend on each other, and `rollwise.many.mixing` looks for mixtures. Nothing here is
trusted: what was found is proved, or not, by `rollwise.many.equilibrium`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import StateGraph
from rollwise.kernels.many import sweep_components
from rollwise.many.mixing import MARGIN, Component, settle_component
from rollwise.many.seats import tables_of
from rollwise.numbers.randomness import check_seed

Floats = NDArray[np.float64]
MOST_SWEEPS, TOLERANCE = 2_000, 4e-16
PIECE = 300_000  # states between two reports


class Found(NamedTuple):
    """A profile, and where it may be none.

    Attributes
    ----------
    values : (n_states, players) float64
    probability : (n_actions,) float64
        What the mover does in each state, whoever it is.
    unsettled : list of int
        Components in which no equilibrium was found.
    """

    values: Floats
    probability: Floats
    unsettled: list[int]


def find_profile(
    graph: StateGraph,
    progress: Callable[[int, int], None] | None = None,
    *,
    seed: int | None = None,
) -> Found:
    """Look for a stationary equilibrium.

    The search begins with the first action everywhere, or with actions that are drawn at random.
    Where actions are equally good to the mover, within 1e-13, sweeps keep the first one of the
    rules that they came to.
    """
    n = graph.n_states
    tables = tables_of(graph)
    values = np.full((n, graph.players), 1.0 / graph.players)
    chosen = graph.action_indptr[:-1].astype(np.int64)
    if seed is not None:
        random = np.random.default_rng(check_seed(seed))
        chosen += random.integers(np.diff(graph.action_indptr))
    components = graph.components
    mixed: list[tuple[NDArray[np.int64], Floats]] = []
    unsettled: list[int] = []
    arrays = graph.action_indptr, graph.outcome_indptr, graph.outcome_state, tables
    for begin, stop in pieces(graph, progress):
        component = begin
        while component < stop:
            component = sweep_components(
                component,
                stop,
                components.order,
                components.indptr,
                *arrays,
                values,
                chosen,
                MARGIN,
                TOLERANCE,
                MOST_SWEEPS,
            )
            if component < stop:
                first, last = components.indptr[component : component + 2].tolist()
                at_hand = Component(graph, first, last, tables, values)
                settled, chances = settle_component(at_hand, chosen)
                mixed.append((at_hand.actions, chances))
                if not settled:
                    unsettled.append(component)
                component += 1
    probability = np.zeros(graph.n_actions)
    probability[chosen] = 1.0
    for actions, chances in mixed:
        probability[actions] = chances
    return Found(values, probability, unsettled)


def pieces(
    graph: StateGraph, progress: Callable[[int, int], None] | None = None
) -> Iterator[tuple[int, int]]:
    """Components from and to, some hundred thousand states at a time; tells how far it has come."""
    indptr, component = graph.components.indptr, 0
    while component < len(graph.components):
        if progress is not None:
            progress(int(indptr[component]), graph.n_states)
        stop = int(np.searchsorted(indptr, indptr[component] + PIECE))
        stop = min(max(stop, component + 1), len(graph.components))
        yield component, stop
        component = stop
