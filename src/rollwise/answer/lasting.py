"""The policies for the longest and the shortest game.

Players with a common aim are one player, and each move counts a point; the throw before a choice is
no move. Their policy is the optimal policy of this game.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import solve_and_certify
from rollwise.errors import EndlessPlay
from rollwise.graph import StateGraph
from rollwise.graph.choices import are_best, is_throw, look_ahead, summed, taken
from rollwise.graph.endings import describe, end_components
from rollwise.graph.policies import Policy

LASTING = {"shortest": "minimize", "longest": "maximize"}


def moves_of(graph: StateGraph) -> NDArray[np.float64]:
    """A point for each move: (n_actions,) float64."""
    return (~is_throw(graph)).astype(np.float64)


def together(graph: StateGraph, aim: str) -> StateGraph:
    """The game of all players as one, with a point for each move.

    Parameters
    ----------
    graph : StateGraph
    aim : str
        A key of `LASTING`.
    """
    return summed(graph, moves_of(graph), objective=LASTING[aim])


def first_chosen(
    graph: StateGraph, values: NDArray[np.float64], bounds: NDArray[np.float64], name: str = ""
) -> Policy:
    """The first of the best actions in each state, with the ties among them."""
    ahead = look_ahead(graph, values, bounds)
    return Policy.of_actions(graph, name, taken(graph, ahead), are_best(graph, ahead))


def lasting_policy(graph: StateGraph, aim: str) -> Policy:
    """The common policy for a short game, or for a long one.

    Parameters
    ----------
    graph : StateGraph
    aim : str
        A key of `LASTING`, and the name of the policy.

    Raises
    ------
    EndlessPlay
        The players can go round for ever; there is no longest game.
    """
    of_moves = together(graph, aim)
    with suppress(EndlessPlay):
        found, certificate, _ = solve_and_certify(of_moves)
        if np.isfinite(certificate.bound):
            return first_chosen(of_moves, found.values, certificate.bounds, aim)
    endless = end_components(of_moves)
    places = describe(of_moves, endless.states, endless.stays)
    raise EndlessPlay(
        f"{graph.title} has no policy {aim!r}: the players can go round for ever: {places}"
    )
