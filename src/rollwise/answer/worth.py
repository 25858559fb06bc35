"""What every answer says of the start and of its error, whoever found it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import win_probability
from rollwise.graph.view import worth_name


class Worth(ABC):
    """The part of an answer that its values, bounds and start decide.

    Attributes
    ----------
    values, error_bounds : (n_states,) float64
    objective : "win", "maximize" or "minimize"
    start : int
    """

    values: NDArray[np.float64]
    error_bounds: NDArray[np.float64]
    start: int

    @property
    @abstractmethod
    def objective(self) -> str:
        """What the mover wants."""

    @property
    @abstractmethod
    def has_stakes(self) -> bool:
        """Whether it is played for payoffs or points, and not just to win."""

    @property
    def is_score(self) -> bool:
        """Whether values are expected scores or payoffs, and not chances to win."""
        return self.objective != "win" or self.has_stakes

    @property
    def worth_name(self) -> str:
        """What a value is called; see `rollwise.graph.view.worth_name`."""
        return worth_name(self.objective, self.has_stakes)

    @property
    def value(self) -> float:
        """The value of the start."""
        return float(self.values[self.start])

    @property
    def win_probability(self) -> float | None:
        """The probability that who moves first wins (a draw is half a win); None for a score."""
        return None if self.is_score else win_probability(self.value)

    @cached_property
    def error_bound(self) -> float:
        """The largest error of any value, proved."""
        return float(self.error_bounds.max())
