"""The ties of an equilibrium as a part of documents: their number, and their effect."""

from __future__ import annotations

import math
from typing import Annotated

from rollwise.numbers.meanings import Bound, Record, about
from rollwise.numbers.printed import how_many, percent, rounded, rounded_up

ROUNDING = 1e-12  # a range that is no wider is none


class SeatTies(Record, frozen=True):
    """Equally good actions in an equilibrium, and their effect."""

    positions: int
    mattering: Annotated[int, about("positions where another seat cares")]
    largest: Annotated[float, about("largest effect on a seat in one position")]
    lowest: Annotated[tuple[float, ...], about("of each seat from the start")]
    highest: Annotated[tuple[float, ...], about("of each seat from the start")]
    error_bound: Bound

    @property
    def bound(self) -> float:
        """The error bound; infinite without a proof."""
        return math.inf if self.error_bound is None else self.error_bound

    @property
    def width(self) -> float:
        """Largest change in the value of any seat from the start."""
        pairs = zip(self.lowest, self.highest, strict=True)
        return max(high - low for low, high in pairs) + 2.0 * self.bound

    @property
    def matters(self) -> bool:
        """Whether they change the value of any seat from the start."""
        return self.width - 4.0 * self.bound > ROUNDING

    def text(self, *, payoffs: bool) -> str:
        """The ties and their effect from the start, in words; empty without ties."""
        if not self.positions:
            return ""
        shown, scale, unit = (rounded, 1, "") if payoffs else (percent, 100, " %")
        count = how_many(self.positions, "position")
        text = f"in {count} several actions are equally good to the mover"
        if self.mattering:
            text += f"; in {self.mattering:,} another seat cares, by up to {shown(self.largest)}"
        else:
            text += ", and to all others"
        if not math.isfinite(self.bound):
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
            f"(certified ± {rounded_up(scale * self.bound)}{unit} before rounding)"
        )
