"""What several parts of a report need, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.lengths import Lengths, lengths
from rollwise.answer.solution import Solution
from rollwise.errors import UsageError
from rollwise.graph.choices import has_choice
from rollwise.plot.kinds.regret import second_best_costs
from rollwise.plot.words import shown_costs

if TYPE_CHECKING:
    from rollwise.answer.layered_solution import LayeredSolution
    from rollwise.report.sample import Sample


@dataclass(frozen=True, eq=False)
class Facts:
    """A solution, and what is worked out from it.

    Attributes
    ----------
    solution : Solution
    sample : Sample or None
    rules : int
        How many rules of thumb are scored; 0 for none.
    """

    solution: Solution
    sample: Sample | None = None
    rules: int = 0

    @classmethod
    def of(cls, answer: Solution | LayeredSolution, rules: int = 0) -> Facts:
        """The facts of an answer; where it is one by layers, those of a sample of it.

        Raises
        ------
        UsageError
            Rules of thumb are asked for, and the answer is one by layers.
        """
        if isinstance(answer, Solution):
            return cls(answer, rules=rules)
        if rules:
            raise UsageError(
                f"{answer.title} is too large for rules of thumb, which are scored on the whole "
                "game: write the report without them"
            )
        from rollwise.report.sample import Sample

        sample = Sample(answer)
        return cls(sample.solution, sample)

    @property
    def answer(self) -> Solution | LayeredSolution:
        """The whole answer."""
        return self.solution if self.sample is None else self.sample.answer

    @property
    def name(self) -> str:
        """The game's name as a title."""
        return self.solution.heading

    @cached_property
    def lengths(self) -> Lengths:
        """How long games last when played best, and which positions they come to."""
        if self.sample is not None:
            return self.sample.lengths
        return lengths(self.solution.graph, self.solution.policy)

    @cached_property
    def choice(self) -> NDArray[np.bool_]:
        """In which states there is a choice."""
        return has_choice(self.solution.graph)

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """What the second-best action of each state costs, in shown units; NaN without one."""
        return shown_costs(self.solution, second_best_costs(self.solution))

    @property
    def unit(self) -> str:
        """What costs are counted in."""
        return "points" if self.solution.is_score else "percentage points"
