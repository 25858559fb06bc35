"""Graphs as models see them: who moves is part of the state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise.derive.seats import two_seats
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import outcome_action
from rollwise.graph.policies import Policy

WON, DRAWN, LOST = range(3)  # how a game ended, in the first player's eyes


def one_chooser(graph: StateGraph, against: Policy | None = None) -> StateGraph:
    """A game of two as two copies with a field ``seat``; a game for one as it is.

    With a policy `against`, which the second player follows, only one is left to
    choose.

    Raises
    ------
    UsageError
        A policy to play against in a game for one.
    """
    if graph.players == 2:
        return two_seats(graph, None, against)
    if against is not None:
        raise UsageError(f"{graph.game} is a game for one: there is no opponent")
    return graph


def seats(graph: StateGraph) -> NDArray[np.int64]:
    """Who moves in each state of a graph from `one_chooser`: (n_states,)."""
    if graph.players == 2:
        return graph.states[:, -1].astype(np.int64)
    return np.zeros(graph.n_states, np.int64)


def endings(graph: StateGraph) -> NDArray[np.int64]:
    """How each outcome ends the game for the first player, -1 where it goes on: (n_outcomes,)."""
    seat = seats(graph)[graph.action_state][outcome_action(graph)]
    payoff = np.where(seat == 0, graph.outcome_payoff, -graph.outcome_payoff)
    ending = np.where(payoff > 0, WON, np.where(payoff < 0, LOST, DRAWN))
    return np.where(graph.outcome_state < 0, ending, -1)


def require_rewards(graph: StateGraph, form: str) -> None:
    """Model checkers know no negative rewards.

    Raises
    ------
    UsageError
    """
    if graph.objective != "win" and bool((graph.action_reward < 0).any()):
        a = int(np.flatnonzero(graph.action_reward < 0)[0])
        raise UsageError(
            f"{graph.title}: {graph.view.action(a)} brings {graph.action_reward[a]:g} points, and "
            f"{form} models have no negative rewards"
        )
