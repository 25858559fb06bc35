"""Ties: equally good actions for the mover, and their effect on the other seats.

The others may prefer one of them. The result is the range of the value of each seat
from the start, over all ways to break all ties: in each position with a tie the mover takes any
of the equally good actions in this equilibrium, and elsewhere all keep to it.
The ends of the range are those of a game in which the seat itself, or an adversary of the seat,
breaks every tie. They are certified (`rollwise.kernels.ties`): no way to break ties, even
a varying one, leaves the range, and some way reaches each end, within the error bound.

Values are known within their bounds. Actions count as tied if the bounds of their
outcomes don't separate them. This includes all equally good ones, and possibly some that are worse
by less than some 1e-12.

Not every way to break ties is an equilibrium in itself. If a player is hurt, an
earlier action of this player may be better than that of the equilibrium. The range bounds the
effect of ties while no other choice changes. It makes no claim about other equilibria. Movers who
mix are indifferent too, but the equilibrium needs their probabilities, and these aren't called
ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.kernels.deviations import Table
from rollwise.kernels.ties import bound_ties, check_ties, mark_ties, sweep_ties
from rollwise.many.component import Component
from rollwise.many.proving import (
    MOST_UNKNOWNS,
    ROOM,
    Steps,
    bound_directly,
    bound_end,
    in_turn,
    put_ties,
)
from rollwise.many.seats import Stakes, table_of
from rollwise.numbers.printed import how_many, percent, rounded_up

if TYPE_CHECKING:
    from rollwise.many.equilibrium import Equilibrium

TOLERANCE = 1e-15
ROUNDING = 1e-12  # a range that is no wider is none


@dataclass(frozen=True)
class Ties:
    """The ties of an equilibrium.

    Attributes
    ----------
    positions : int
        With several equally good actions for the mover.
    mattering : int
        Those of them with an effect on another seat.
    largest : float
        The largest change in the value of any seat by the choice in one of them.
    lowest, highest : tuple of float
        Value of each seat from the start over all ways to break them.
    error_bound : float
        Of each of these; proved.
    """

    positions: int
    mattering: int
    largest: float
    lowest: tuple[float, ...]
    highest: tuple[float, ...]
    error_bound: float

    @property
    def width(self) -> float:
        """Largest change in the value of any seat from the start."""
        pairs = zip(self.lowest, self.highest, strict=True)
        return max(high - low for low, high in pairs) + 2.0 * self.error_bound

    @property
    def matters(self) -> bool:
        """Whether they change the value of any seat from the start."""
        return self.width - 4.0 * self.error_bound > ROUNDING

    def text(self, *, payoffs: bool) -> str:
        """The ties and their effect from the start, in words."""
        shown, scale, unit = ("{:.6f}".format, 1, "") if payoffs else (percent, 100, " %")
        count = how_many(self.positions, "position")
        text = f"in {count} several actions are equally good to the mover"
        if self.mattering:
            text += f"; in {self.mattering:,} another seat cares, by up to {shown(self.largest)}"
        else:
            text += ", and to all others"
        if not math.isfinite(self.error_bound):
            return f"{text}; their effect from the start is unknown: no bound was proved"
        if not self.matters:
            most = f"{rounded_up(scale * self.width)}{unit}"
            return f"{text}; from the start they change at most {most} (proved)"
        ranges = ", ".join(
            f"seat {seat} {shown(low)} to {shown(high)}"
            for seat, (low, high) in enumerate(zip(self.lowest, self.highest, strict=True), 1)
        )
        return (
            f"{text}; over all ways to choose there each seat has from the start: {ranges} "
            f"(certified ± {rounded_up(scale * self.error_bound)}{unit} before rounding)"
        )


def find_ties(equilibrium: Equilibrium) -> Ties:
    """The ties of an equilibrium, and their effect."""
    graph, stakes = equilibrium.graph, Stakes.of(equilibrium.graph)
    values = stakes.units(equilibrium.values)
    probability = equilibrium.policy.probability
    table = table_of(graph)
    tied, spread = np.zeros(graph.n_actions, np.bool_), np.zeros(graph.n_states)
    most = int(np.diff(graph.action_indptr).max())
    room = np.empty((most, equilibrium.players))
    mark_ties(table, values[None], probability, equilibrium.action_errors, room, tied, spread)
    positions = len(np.unique(graph.action_state[tied]))
    if not positions:
        own = equilibrium.worth
        return Ties(0, 0, 0.0, own, own, equilibrium.error_bound)
    low, high = np.clip(values, 0.0, 1.0), np.clip(values, 0.0, 1.0)

    def sweep(first: int, stop: int, most: int) -> int:
        arrays = table, probability, tied, low[None], high[None]
        return int(sweep_ties(first, stop, *arrays, TOLERANCE, most))

    def directly(number: int) -> None:
        component = Component.of(number, graph, table, values)
        if len(component.states) * equilibrium.players <= MOST_UNKNOWNS:
            steps = Steps(component, probability, values)
            for sign, side in ((-1.0, low), (1.0, high)):
                put_ties(steps, tied, sign, side)

    in_turn(0, len(graph.components), sweep, directly)
    bounds = [
        _proved(equilibrium, table, tied, sign, side) for sign, side in ((-1.0, low), (1.0, high))
    ]
    mattering = int(np.count_nonzero(spread > ROUNDING))
    return Ties(
        positions,
        mattering,
        float(stakes.span) * float(spread.max()) if mattering else 0.0,
        tuple(stakes.paid(low[0]).tolist()),
        tuple(stakes.paid(high[0]).tolist()),
        float(stakes.error(max(bounds))),
    )


def _proved(
    equilibrium: Equilibrium,
    table: Table,
    tied: NDArray[np.bool_],
    sign: float,
    values: NDArray[np.float64],
) -> float:
    """The error of one end of the range at the start; infinite without a proof."""
    graph, probability = equilibrium.graph, equilibrium.policy.probability
    numbers = np.stack([values, np.zeros_like(values)])
    arrays, errors = (table, probability, tied, sign, numbers), numbers[1]

    def sweep(first: int, stop: int, most: int, room: float = ROOM) -> int:
        return int(bound_ties(first, stop, *arrays, room, most))

    def directly(number: int) -> None:
        component = Component.of(number, graph, table, values)

        def put(steps: Steps, wider: float) -> None:
            bound_end(steps, tied, sign, errors, wider)

        def holds(room: float, most: int) -> bool:
            return sweep(number, number + 1, most, room) > number

        if not bound_directly(component, probability, values, put, holds):
            errors[component.states] = np.inf

    in_turn(0, len(graph.components), sweep, directly)
    return float("inf") if check_ties(*arrays) else float(errors[0].max())
