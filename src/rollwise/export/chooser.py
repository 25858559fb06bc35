"""Graphs as models see them: who moves is part of the state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.derive.seats import two_seats
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import outcome_action
from rollwise.graph.policies import Policy


class Endings(NamedTuple):
    """How games end, in the first player's eyes, the best ending first.

    Attributes
    ----------
    names : tuple of str
        Such as ``won``, or ``payoff_3`` in a game for stakes.
    payoffs : tuple of float
    of_outcome : (n_outcomes,) int64
        The place of the ending of each outcome; -1 where the game goes on.
    """

    names: tuple[str, ...]
    payoffs: tuple[float, ...]
    of_outcome: NDArray[np.int64]


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
        return graph.rows[:, -1].astype(np.int64)
    return np.zeros(graph.n_states, np.int64)


def endings(graph: StateGraph) -> Endings:
    """How the game of a graph from `one_chooser` ends."""
    seat = seats(graph)[graph.action_state][outcome_action(graph)]
    payoff = np.where(seat == 0, graph.outcome_payoff, -graph.outcome_payoff) + 0.0
    over = graph.outcome_state < 0
    named = {1.0: "won", 0.0: "drawn", -1.0: "lost"}
    payoffs = np.unique(payoff[over]) if graph.has_stakes else np.array(sorted(named))
    if graph.has_stakes:
        named = {x: f"payoff_{_as_word(x)}" for x in payoffs.tolist()}
    place = len(payoffs) - 1 - np.searchsorted(payoffs, payoff)
    given = tuple(payoffs[::-1].tolist())
    return Endings(tuple(named[x] for x in given), given, np.where(over, place, -1))


def _as_word(number: float) -> str:
    """A number as part of a name: ``minus_0_5``."""
    text = str(int(number) if number.is_integer() else number)
    return text.replace("-", "minus_").replace(".", "_").replace("+", "")


def require_rewards(graph: StateGraph, form: str) -> None:
    """Model checkers know no negative rewards.

    Raises
    ------
    UsageError
    """
    if graph.has_stakes and graph.players == 2 and bool(graph.lotteries.reward.any()):
        raise UsageError(
            f"{graph.title}: its players gain points from each other, and {form} models have no "
            "negative rewards"
        )
    if graph.objective != "win" and bool((graph.action_reward < 0).any()):
        a = int(np.flatnonzero(graph.action_reward < 0)[0])
        raise UsageError(
            f"{graph.title}: {graph.view.action(a)} brings {graph.action_reward[a]:g} points, and "
            f"{form} models have no negative rewards"
        )
