"""A solitaire game with the points made so far in its states, for policies that look at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rollwise.derive.by_score import derived_graph, require_points, unroll, whole_points
from rollwise.derive.derived_game import DerivedGame, whole_graph
from rollwise.game import END
from rollwise.graph import StateGraph
from rollwise.parameters import ParameterSpec


@dataclass(frozen=True)
class WithScore(DerivedGame):
    """A solitaire game in which one may look at the points made so far.

    The best mean doesn't need them. Second aims among the optimal policies do.

    Attributes
    ----------
    inner : Game
        Any solitaire game whose rewards are whole numbers.

    Examples
    --------
    >>> from rollwise.games.threes import Threes
    >>> WithScore(Threes()).start().score
    0
    """

    added_fields: ClassVar[tuple[str, ...]] = ("score",)
    players: ClassVar[int] = 1

    def __post_init__(self) -> None:
        self.validate()
        require_points(self.inner_graph)

    @property
    def objective(self) -> str:  # type: ignore[override]
        """As in the inner game."""
        return self.inner.objective

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called: ``with-score-threes``."""
        return f"with-score-{self.inner.name}"

    @property
    def description(self) -> str:
        """The rules of the game, and what one may look at."""
        return f"{self.inner.description}\n\nThe points made so far are in the state."

    @property
    def form(self) -> dict[str, Any]:
        """The points are in the state."""
        return {"with-score": True}

    @property
    def own_specs(self) -> list[ParameterSpec]:
        """None."""
        return []

    @cached_property
    def inner_graph(self) -> StateGraph:
        """The graph of the game that is played."""
        return whole_graph(self.inner, "a score in the states")

    def start(self) -> Any:
        return self.state_type(*self.inner.start(), 0)

    def actions(self, s: Any, *throw: Any) -> Iterator[int]:
        yield from self.inner.actions(self.inner_state(s), *throw)

    def reward(self, s: Any, *choice: Any) -> float:
        return self.inner.reward(self.inner_state(s), *choice)

    def outcomes(self, s: Any, *choice: Any) -> Iterator[tuple[Any, int, Any]]:
        inner = self.inner_state(s)
        score = s.score + int(self.inner.reward(inner, *choice))
        for weight, then, next_state in self.inner.outcomes(inner, *choice):
            yield weight, then, s if then == END else type(s)(*next_state, score)

    def describe_added(self, s: Any) -> str:
        """The points made so far."""
        return f"{s.score} points so far"

    def derive(self) -> StateGraph:
        """The same graph as the rules above give, made from the game's own graph."""
        graph = self.inner_graph
        first = np.zeros(1, np.int64)
        found = unroll(graph, whole_points(graph), first, first)
        return derived_graph(
            graph,
            found,
            "score",
            found.score,
            action_reward=graph.action_reward[found.action],
            outcome_payoff=graph.outcome_payoff[found.outcome],
            objective=graph.objective,
            game=self.name,
            parameters=self.parameters,
        )
