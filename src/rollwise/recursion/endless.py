"""Whether every play ends, asked of a graph in solving order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph import StateGraph
from rollwise.graph.endings import Settled, describe, settle, staying_actions
from rollwise.kernels import endless as kernels
from rollwise.recursion.order import Recursion


def endless_states(graph: StateGraph, arranged: Recursion | None = None) -> NDArray[np.int64]:
    """The states in which the players can go round for ever, if they want to."""
    arranged = Recursion.of_values(graph) if arranged is None else arranged
    _may_not_end(graph, arranged, 0, len(arranged.components))
    return np.sort(arranged.components.order[arranged.ranks < 0])


class PlayMayNotEnd(Exception):
    """A component was met in which players can go round for ever."""


class Endings:
    """Whether every play ends, asked component by component behind the arranging of a graph.

    Parameters
    ----------
    graph : StateGraph
    arranged : Recursion
        The same in solving order.
    """

    def __init__(self, graph: StateGraph, arranged: Recursion) -> None:
        self._graph, self._arranged = graph, arranged
        self._checked = 0

    def check(self, stop: int) -> None:
        """Go on to the component `stop`.

        Raises
        ------
        PlayMayNotEnd
        """
        if _may_not_end(self._graph, self._arranged, self._checked, stop):
            raise PlayMayNotEnd
        self._checked = stop


def _may_not_end(graph: StateGraph, arranged: Recursion, first: int, stop: int) -> bool:
    """Whether the players can go round for ever in a component from `first` to below `stop`.

    The ranks of these components are written.
    """
    lotteries, indptr = graph.lotteries, arranged.components.indptr[first : stop + 1]
    ends = np.logical_or.reduceat(lotteries.over, lotteries.indptr[:-1])
    kernels.find_endless(indptr, arranged.arranged, ends, arranged.ranks)
    return bool((arranged.ranks[indptr[0] : indptr[-1]] < 0).any())


def require_ending(graph: StateGraph, arranged: Recursion | None = None) -> None:
    """Make sure that every play ends, whatever the players do.

    Raises
    ------
    EndlessPlay
        Names states where they can go round for ever, and the actions that do it.
    """
    endless = endless_states(graph, arranged)
    if len(endless):
        places = describe(graph, endless, staying_actions(graph, endless))
        raise EndlessPlay(
            f"{graph.game}: the players can go round for ever: {places}. This needs rules "
            "in which every play ends; take the action away there, or count the turns in the state"
        )


def settled(
    graph: StateGraph,
    arranged: Recursion | None = None,
    border_values: NDArray[np.float64] | None = None,
) -> Settled | None:
    """The graph with the worth of endless play; None where play can't be endless.

    Parameters
    ----------
    border_values : (n_border,) float64, optional
        Infinite where nobody can be sure to end the play.

    Raises
    ------
    EndlessPlay
        Endless play has no worth.
    """
    may_be_endless = border_values is not None and bool(np.isinf(border_values).any())
    if may_be_endless or len(endless_states(graph, arranged)):
        return settle(graph, border_values)
    return None


def require_settled(graph: StateGraph, method: str) -> bool:
    """Make sure that a method can look for values: play ends, or every round costs points.

    Returns
    -------
    bool
        Whether players can go round, at a cost.

    Raises
    ------
    EndlessPlay
        Endless play has no worth, or only after `rollwise.graph.endings.settle`.
    UsageError
        Both players can keep the turn passing.
    """
    found = settled(graph)
    if found is None:
        return False
    if found.graph.n_states < graph.n_states:
        raise EndlessPlay(
            f"{graph.game}: in some states nobody can bring play to an end, or a player can stay "
            "for ever; settle the graph first (rollwise.solve does)"
        )
    if graph.objective == "win":
        raise UsageError(
            f"{graph.title}: both players can keep the turn passing for ever, which the method "
            f"{method} can't deal with; strategy-iteration can"
        )
    return True
