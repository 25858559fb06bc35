"""Ties: where a mover has several actions that are equally good to him, and what the others have.

The others may care which of them is taken. What is looked for is the range of what each seat has
from the start, over all ways to break all ties: in each position with a tie the mover takes any
of the actions that are equally good to him in this equilibrium, and elsewhere all keep to it.
The ends of the range are those of a game in which the seat itself, or somebody who wishes it the
worst, breaks every tie. They are found by sweeps, in floating point, and not proved.

Not every such way is an equilibrium in itself: where ties are broken so that a player is hurt, an
earlier one may have a better action than that of the equilibrium. Where movers mix they are
indifferent too; but their chances are what the equilibrium needs, so these aren't called ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rollwise.kernels.many import mark_ties, sweep_ties
from rollwise.many.component import MARGIN
from rollwise.many.seats import Stakes, tables_of

if TYPE_CHECKING:
    from rollwise.many.equilibrium import Equilibrium

MOST_SWEEPS, TOLERANCE = 2_000, 1e-15
ROUNDING = 1e-12  # a range that is no wider is none


@dataclass(frozen=True)
class Ties:
    """The ties of an equilibrium.

    Attributes
    ----------
    positions : int
        In which several actions are equally good to the mover.
    mattering : int
        Those of them in which they aren't equally good to another seat.
    largest : float
        The most that what any seat has changes by the choice in one of them.
    lowest, highest : tuple of float
        What each seat has from the start over all ways to break them, computed.
    """

    positions: int
    mattering: int
    largest: float
    lowest: tuple[float, ...]
    highest: tuple[float, ...]

    @property
    def matters(self) -> bool:
        """Whether they change what anybody has from the start."""
        pairs = zip(self.lowest, self.highest, strict=True)
        return any(high - low > ROUNDING for low, high in pairs)

    @property
    def text(self) -> str:
        """What they are and come to from the start, in words."""
        count = f"{self.positions:,} position{'s' if self.positions > 1 else ''}"
        begin = f"in {count} several actions are equally good to the mover"
        if not self.mattering:
            return f"{begin}, and to all others"
        cared = f"{begin}; in {self.mattering:,} another seat cares, by up to {self.largest:.6f}"
        if not self.matters:
            return f"{cared}; from the start they change nothing (computed)"
        ranges = ", ".join(
            f"seat {seat} {low:.6f} to {high:.6f}"
            for seat, (low, high) in enumerate(zip(self.lowest, self.highest, strict=True), 1)
        )
        return (
            f"{cared}; over all ways to choose there each seat has from the start: {ranges} "
            "(computed by sweeps, not proved)"
        )


def find_ties(found: Equilibrium) -> Ties:
    """The ties of an equilibrium, and what they change."""
    graph, stakes = found.graph, Stakes.of(found.graph)
    values = stakes.units(found.values)
    probability = found.policy.probability
    lists = graph.action_indptr, graph.outcome_indptr, graph.outcome_state
    tables = tables_of(graph)
    tied, spread = np.zeros(graph.n_actions, np.bool_), np.zeros(graph.n_states)
    room = np.empty((int(np.diff(graph.action_indptr).max()), found.players))
    tolerance = 2.0 * (found.error_bound / float(stakes.span) + MARGIN)
    mark_ties(*lists, tables, values, probability, tolerance, room, tied, spread)
    positions = len(np.unique(graph.action_state[tied]))
    mattering = int(np.count_nonzero(spread > ROUNDING))
    low = high = values
    if mattering:
        low, high = values.copy(), values.copy()
        order, ends = graph.components.order, graph.components.indptr
        sweep_ties(
            order, ends, *lists, tables, probability, tied, low, high, TOLERANCE, MOST_SWEEPS
        )
    return Ties(
        positions,
        mattering,
        float(stakes.span) * float(spread.max()) if mattering else 0.0,
        tuple(stakes.paid(low[0]).tolist()),
        tuple(stakes.paid(high[0]).tolist()),
    )
