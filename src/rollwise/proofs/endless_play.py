"""Whether every play of a layer or of a graph ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph import StateGraph
from rollwise.layers import Layer, layer_of_graph
from rollwise.proofs.layers import NO_ORDER, mark, staying

if TYPE_CHECKING:
    from rollwise.graph.endings import Settled

FEW_SWEEPS = 64  # to mark positions, before a better order is computed


def staying_places(layer: Layer) -> NDArray[np.int64]:
    """The places of the positions with possible endless play, ascending."""
    found = staying(layer, FEW_SWEEPS)
    if not len(found):
        return found
    # A few sweeps mark most layers. In the others an order of leaving saves sweeps.
    from rollwise.layers.leaving import leaving_order

    return staying(layer, order=leaving_order(layer) if len(layer.blocks) == 1 else NO_ORDER)


class PlayMayNotEnd(Exception):
    """The sweeps did not mark all positions as leaving their layer."""


class Leaving:
    """Checks whether play leaves a layer in solving order, component by component."""

    def __init__(self, layer: Layer) -> None:
        self._layer, self._leaves, self._done = layer, np.zeros(layer.n, np.bool_), 0

    def advance(self, stop: int) -> None:
        """Check up to the component `stop`.

        Raises
        ------
        PlayMayNotEnd
        """
        layer = self._layer
        assert layer.parts is not None
        low, high = (layer.n - layer.parts.ends[[stop, self._done]]).tolist()
        part, self._done = layer.blocks[0][1].part(low, high), stop
        # Finished components are marked; sweeps repeat for the cycles in these.
        for _ in range(FEW_SWEEPS):
            mark(low, part, layer.tables, self._leaves, NO_ORDER)
            if self._leaves[low:high].all():
                return
        raise PlayMayNotEnd


def endless_states(graph: StateGraph, layer: Layer | None = None) -> NDArray[np.int64]:
    """The states in which the players can prolong play forever if all want to."""
    layer = layer_of_graph(graph) if layer is None else layer
    return layer.positions_at(staying_places(layer))


def require_ending(graph: StateGraph) -> None:
    """Require that every play ends, whatever the players do.

    Raises
    ------
    EndlessPlay
        Names states and actions by which play can continue forever.
    """
    if len(endless_states(graph)):
        from rollwise.graph.endings import describe, end_components, go_round, remedy_of

        found = end_components(graph)
        places = describe(graph, found.states, found.stays)
        raise EndlessPlay(
            f"{graph.title}: {go_round(graph.players)}: {places}. This needs rules in which "
            f"every play ends. {remedy_of(graph, 'count the turns in the state')}"
        )


def settled(
    graph: StateGraph,
    layer: Layer | None = None,
    border_values: NDArray[np.float64] | None = None,
) -> Settled | None:
    """The graph with the worth of endless play; None if play cannot be endless.

    Parameters
    ----------
    layer : Layer, optional
        The graph in solving order, if available.
    border_values : (n_border,) float64, optional
        Infinite at border states where no player is certain to end the play.

    Raises
    ------
    EndlessPlay
        Endless play has no worth.
    """
    may_be_endless = border_values is not None and bool(np.isinf(border_values).any())
    if may_be_endless or len(endless_states(graph, layer)):
        from rollwise.graph.endings import settle

        return settle(graph, border_values)
    return None


def require_settled(graph: StateGraph, method: str) -> bool:
    """Require that a method can find the values: play ends, or every round costs points.

    Returns
    -------
    bool
        Whether players can prolong play, at a cost.

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
            f"{graph.title}: in some states no player can bring play to an end, or a player can "
            "stay for ever; settle the graph first (rollwise.solve does)"
        )
    if graph.objective == "win":
        raise UsageError(
            f"{graph.title}: both players can keep the turn passing for ever, which the method "
            f"{method} can't deal with; strategy-iteration can"
        )
    return True
