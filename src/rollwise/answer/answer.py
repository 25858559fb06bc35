"""Every answer, whatever the size of its game: the worth of the start, and where callers ask."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from rollwise.graph import win_probability
from rollwise.graph.view import worth_name

if TYPE_CHECKING:
    import polars as pl

    from rollwise.answer.advice import Advice
    from rollwise.answer.rows import Cells
    from rollwise.answer.solution import Solution
    from rollwise.game import Game
    from rollwise.graph import StateGraph


class Answer(ABC):
    """The certified values of a game of any size.

    A question asks for the positions that it needs: `part` and `part_where` give them as a
    `Solution`, which has a graph. Of a game that was solved whole that is the answer itself.

    Attributes
    ----------
    is_whole : bool
        Whether there is one graph of all positions.
    values, error_bounds : (n_states,) float64
    objective : "win", "maximize" or "minimize"
    start : int
    kept_from : str or None
        When it was found, if that was in an earlier run.
    seconds : dict of float
        Time spent, by stages.
    """

    is_whole: ClassVar[bool]
    values: NDArray[np.float64]
    error_bounds: NDArray[np.float64]
    start: int
    kept_from: str | None
    seconds: Mapping[str, float]

    @property
    @abstractmethod
    def objective(self) -> str:
        """What the mover wants."""

    @property
    @abstractmethod
    def has_stakes(self) -> bool:
        """Whether it is played for payoffs or points, and not just to win."""

    @property
    @abstractmethod
    def status(self) -> str:
        """How it ended: ``certified`` where every bound is proved."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The game and its parameters, as typed on the command line."""

    @property
    @abstractmethod
    def subject(self) -> StateGraph | Game:
        """Whatever knows the name and the parameters of the game."""

    @abstractmethod
    def part(self, state: Sequence[int] | Mapping[str, int]) -> Solution:
        """The answer in one state and its turn, at least."""

    @abstractmethod
    def part_where(self, where: str | None) -> Solution:
        """The answer in the positions that a condition chooses, at least."""

    @abstractmethod
    def advise(
        self,
        state: Sequence[int] | Mapping[str, int],
        throw: int | Sequence[int] | None = None,
        rolls_left: int | None = None,
    ) -> Advice:
        """What a state is worth and what each action costs there."""

    @abstractmethod
    def states_where(self, where: str | None = None, *, throws: bool = False) -> NDArray[np.int64]:
        """The states that have a row in the table, in its order."""

    @abstractmethod
    def rows_of(
        self, states: NDArray[np.int64], *, throws: bool = False, each_action: bool = False
    ) -> pl.DataFrame:
        """The rows of some states in the table."""

    @abstractmethod
    def cells_of(
        self, states: NDArray[np.int64], *, throws: bool = False, each_action: bool = False
    ) -> Cells:
        """The same as lists, without Polars."""

    @property
    def action_bounds(self) -> dict[str, float]:
        """How far the columns of actions can be off, where there are any."""
        return {}

    @property
    def gave_up(self) -> bool:
        """Whether the method gave up, so that its values are no answer."""
        return False

    def n_undecided(self, states: NDArray[np.int64]) -> int:
        """In how many of some states the bounds are too wide to tell which action is best."""
        return 0

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
