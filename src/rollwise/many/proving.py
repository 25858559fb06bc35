"""The proof of a profile: what it is worth, and what nobody can gain more than.

The bounds and the argument are those of `rollwise.kernels.deviations`. They stand on two facts, as
those of `rollwise.proofs.check` do: all play ends, and values with their bounds are a
supersolution, or enclose the values of a Markov chain. With fixed others a seat faces a Markov
decision process, in which no policy, whatever it remembers, is worth more than a supersolution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay
from rollwise.graph import StateGraph
from rollwise.kernels.chances import UNIT, keeps_small_numbers
from rollwise.kernels.deviations import bound_components, check_bounds
from rollwise.many.component import Component
from rollwise.many.direct import ROOM, Steps, bound_directly, bound_profile, in_turn
from rollwise.many.finding import pieces
from rollwise.many.seats import tables_of
from rollwise.proofs.check import ranks_of

Floats = NDArray[np.float64]


def prove_profile(
    graph: StateGraph,
    values: Floats,
    probability: Floats,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Floats, Floats]:
    """Bound the error of a profile's values, and what any seat can gain by leaving it.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    values : (n_states, players) float64
        What the profile is thought to be worth.
    probability : (n_actions,) float64
        The profile.
    progress : callable, optional
        Called now and then as ``progress(states done, states)``.

    Returns
    -------
    bounds, gains : (n_states, players) float64
        Infinite where nothing could be proved: in components that play leaves too slowly, and in
        positions that lead there.

    Raises
    ------
    EndlessPlay
        Players can go round for ever.
    """
    ranks = ranks_of_end(graph)
    gains, bounds = np.zeros_like(values), np.zeros_like(values)
    indptr, begins, after = graph.action_indptr, graph.outcome_indptr, graph.outcome_state
    order, ends, tables = graph.components.order, graph.components.indptr, tables_of(graph)
    known = probability, values, gains, bounds

    def sweep(first: int, stop: int, most: int, room: float = ROOM) -> int:
        lists = order, ends, indptr, begins, after, tables
        return int(bound_components(first, stop, *lists, *known, room, most))

    def directly(number: int) -> None:
        component = Component.of(number, graph, tables, values)

        def put(steps: Steps, wider: float) -> None:
            bound_profile(steps, gains, bounds, wider)

        def holds(room: float, most: int) -> bool:
            return sweep(number, number + 1, most, room) > number

        if not bound_directly(component, probability, values, put, holds):
            gains[component.states] = bounds[component.states] = np.inf

    for first, stop in pieces(graph, progress):
        in_turn(first, stop, sweep, directly)
    unproved = check_bounds(ranks, indptr, begins, after, tables, *known)
    if unproved or not keeps_small_numbers(1.0):
        return np.full_like(values, np.inf), np.full_like(values, np.inf)
    # what can be had by leaving, less what the profile has for certain
    gains += bounds
    gains *= 1.0 + 4.0 * UNIT
    return bounds, gains


def ranks_of_end(graph: StateGraph) -> NDArray[np.int32]:
    """The ranks of `rollwise.proofs.check.ranks_of`, which prove that every play ends.

    Raises
    ------
    EndlessPlay
        Players can go round for ever.
    """
    ranks = ranks_of(graph, graph.components.order)
    endless = np.flatnonzero(ranks == graph.n_states)
    if len(endless):
        raise EndlessPlay(
            f"{graph.title}: the players can go round for ever, as from "
            f"{graph.state_text(int(endless[0]))}; a game for {graph.players} has to end"
        )
    return ranks
