"""A game without an end, played for the best average: points per move, or per unit of `duration`.

Play returns to the start again and again. A cycle is the play from one visit of the start to the
next. At a given rate, each unit of duration costs the rate, and a cycle ends at the start. The best
average is the rate at which the best cycle brings 0 (Dinkelbach, "On nonlinear fractional
programming", Management Science 13, 1967).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import build
from rollwise.builders.rules import Rules
from rollwise.derive.derived_game import DerivedGame
from rollwise.errors import ParameterError, RulesError
from rollwise.faults import failing
from rollwise.game import AGAIN, END, Game
from rollwise.graph import StateGraph
from rollwise.graph.choices import is_throw
from rollwise.graph.view import Action
from rollwise.parameters import ParameterSpec


@dataclass(frozen=True)
class Average(DerivedGame):
    """Cycles of a game without an end, where each unit of duration costs a rate.

    The value of a position is the expected reward minus the cost, until play is at the start again.

    Attributes
    ----------
    inner : Game
        A solitaire game with ``objective = "average"``.
    rate : float, optional
        `rollwise.solve` finds the best average and gives it; without one a cycle has no cost.
    """

    rate: float | None = None
    form: ClassVar[str] = "average"
    form_specs: ClassVar[tuple[ParameterSpec, ...]] = (
        ParameterSpec(
            "rate", float, None, None, None, "the average that a position is compared to"
        ),
    )
    purpose: ClassVar[str] = "an average"
    players: ClassVar[int] = 1
    objective: ClassVar[str] = "maximize"

    def __new__(cls, inner: Game, rate: float | None = None) -> Average:
        thrown = type(inner).throws is not Game.throws
        return super().__new__(_AfterThrows if thrown else cls)

    def __post_init__(self) -> None:
        self.validate()
        name = self.inner.name
        if self.inner.objective != "average":
            raise ParameterError(
                f'{name}: as=average is for rules with objective = "average", where play has no '
                f"end; here it is {self.inner.objective!r}"
            )
        if self.inner.players != 1:
            raise RulesError(
                f"{name}: the objective 'average' is for solitaire games (players = 1)"
            )
        if self.inner.endless != "forbidden" or self.inner.discount != 1:
            raise RulesError(f"{name}: the objective 'average' goes without endless and discount")

    @property
    def own_specs(self) -> list[ParameterSpec]:
        """The rate, if there is one."""
        spec = self.form_specs[0]
        return [] if self.rate is None else [replace(spec, default=self.rate)]

    @property
    def description(self) -> str:
        """The rules of the game, with its aim."""
        return f"{self.inner.description}\n\nPlayed without an end, for the best average."

    def start(self) -> Any:
        return self.inner.start()

    def roots(self) -> Iterable[Any]:
        return self.inner.roots()

    def outcomes(self, s: Any, *choice: Any) -> Iterator[tuple[Any, int, Any]]:
        first = self.inner.start()
        for weight, then, after in self.inner.outcomes(s, *choice):
            if then != AGAIN:
                raise ValueError("play with an average has no end: go on with AGAIN, self.start()")
            yield weight, END if after == first else AGAIN, after

    def reward(self, s: Any, *choice: Any) -> float:
        rate = 0.0 if self.rate is None else self.rate
        return self.inner.reward(s, *choice) - rate * self.inner.duration(s, *choice)

    @property
    def state_type(self) -> Any:
        """The type of the inner game's states."""
        return type(self.inner.start())

    def inner_state(self, s: Any) -> Any:
        return s

    def describe(self, s: Any) -> str:
        return self.inner.describe(s)

    @cached_property
    def inner_graph(self) -> StateGraph:
        """The graph of a cycle without a cost."""
        return cycle_of(self.inner)[0]

    @property
    def durations(self) -> NDArray[np.float64]:
        """The duration of each action: (n_actions,) float64."""
        return cycle_of(self.inner)[1]

    def derive(self) -> StateGraph | None:
        """The graph of a cycle, with the cost of each action."""
        if self.rate is None:
            return None
        graph = self.inner_graph
        return graph.with_arrays(
            action_reward=graph.action_reward - self.rate * self.durations,
            parameters=self.parameters,
        )


class _AfterThrows(Average):
    """The form of a game in which a throw comes before each choice."""

    def throws(self, s: Any) -> Iterable[Any]:
        return self.inner.throws(s)


@lru_cache(4)
def cycle_of(inner: Game) -> tuple[StateGraph, NDArray[np.float64]]:
    """The graph of a cycle without a cost, and the duration of each action.

    Raises
    ------
    RulesError
        A duration isn't a number from 0.
    """
    cycle = Average(inner)
    graph = build(cycle)
    durations = (~is_throw(graph)).astype(np.float64)
    if type(inner).duration is Game.duration:
        return graph, durations
    rules = Rules(cycle)
    for action in map(graph.view.action, np.flatnonzero(durations).tolist()):
        durations[action.index] = 0.0 if action.keeps else _duration(rules, action)
    return graph, durations


def _duration(rules: Rules, action: Action) -> float:
    graph, state = action.graph, int(action.graph.action_state[action.index])
    at = rules.situation(graph.row(state))
    where = f"in the state {rules.where(at, action.label)}"
    with failing(RulesError, f"{rules.game.name}: duration() fails {where}"):
        given = float(rules.game.base_game.duration(at.state, *at.throw, action.label))
    if not 0 <= given < np.inf:
        raise RulesError(f"{rules.game.name}: duration() gives {given} {where}; it is at least 0")
    return given
