"""Values as people read them: chances in per cent, or points."""

from __future__ import annotations

from rollwise.solution import Solution


class Figures:
    """How the values of a game are written.

    Values of a game that is won or lost run from -1 to 1; people think in chances.
    """

    def __init__(self, solution: Solution) -> None:
        self.is_score = solution.is_score
        self.unit = "expected score" if solution.is_score else "chance to win"

    def level(self, value: float) -> str:
        """A value."""
        return f"{value:z.3f}" if self.is_score else f"{50 * (1 + value):.2f} %"

    def change(self, value: float) -> str:
        """A difference of values, with its sign."""
        return f"{value:+z.3f}" if self.is_score else f"{50 * value:+z.2f} %"

    def cost(self, value: float) -> str:
        """What a choice took."""
        return f"{value:z.3f} points" if self.is_score else f"{50 * value:z.2f} %"
