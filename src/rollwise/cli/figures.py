"""Values as people read them: chances in per cent, or points."""

from __future__ import annotations

from rollwise.answer.solution import Solution
from rollwise.graph import win_probability
from rollwise.numbers.printed import rounded_up, scaled


class Figures:
    """How the values of a game are written.

    Values of a game that is won or lost run from -1 to 1; people think in chances.
    What differs by 1 % of all games differs by a percentage point.

    Attributes
    ----------
    has_stakes : bool
        Whether values are expected payoffs.
    unit : str
        Of values.
    points : str
        Of differences of values.
    wanted : str
        What is said behind `points` where few of them are wanted.
    certainty : str
        How sure they are.
    """

    def __init__(self, solution: Solution) -> None:
        self.is_score, self.has_stakes = solution.is_score, solution.has_stakes
        self.unit = solution.worth_name if solution.is_score else "chance to win"
        self.wanted = "; few are good" if solution.graph.objective == "minimize" else ""
        self.points = "points" if solution.is_score else "percentage points"
        self._scale, self._digits = (1, 3) if solution.is_score else (50, 2)
        bound = rounded_up(scaled(solution.error_bound, self._scale))
        rounding = f"{10**-self._digits:.{self._digits}f}"
        self.certainty = f"certified ± {bound} {self.points}, and shown rounded to {rounding}"

    def level(self, value: float) -> str:
        """A value."""
        return f"{value:z.3f}" if self.is_score else f"{100 * win_probability(value):.2f} %"

    def change(self, value: float) -> str:
        """A difference of values, with its sign, in `points`."""
        return f"{self._scale * value:+z.{self._digits}f}"

    def cost(self, value: float) -> str:
        """What a choice took, in `points`."""
        shown = f"{self._scale * value:z.{self._digits}f}"
        least = f"{10**-self._digits:.{self._digits}f}"
        return f"<{least}" if value > 0 and float(shown) == 0 else shown

    def cost_text(self, value: float) -> str:
        """What a choice took, with its unit."""
        return f"{self.cost(value)} {self.points}"

    def spread(self, value: float) -> str:
        """A standard error, in `points`."""
        return f"{self._scale * value:.{self._digits}f}"
