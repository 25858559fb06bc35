"""A game without an end, played for the best average: points per move, or per unit of `duration`.

Play returns to a position, its home, again and again: the start if it can. A cycle is the play from
one visit of the home to the next. At a given rate, each unit of duration costs the rate, and play
ends at home. The best average is the rate at which the best cycle brings 0 (Dinkelbach, "On
nonlinear fractional programming", Management Science 13, 1967).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import build
from rollwise.builders.remembered import remembered
from rollwise.builders.rules import Rules
from rollwise.derive.derived_game import DerivedGame, whole_graph, with_methods
from rollwise.errors import ParameterError, RulesError
from rollwise.game import Game, outcomes_rule
from rollwise.graph import StateGraph
from rollwise.graph.choices import (
    chances,
    first_of_each_state,
    fold_actions,
    fold_outcomes,
    is_throw,
    outcome_action,
)
from rollwise.graph.lotteries import share
from rollwise.graph.state_graph import Objective
from rollwise.graph.view import Action
from rollwise.machine.endless import running
from rollwise.parameters import ParameterSpec
from rollwise.then import END

ROUNDS, SWEEPS = 10, 300  # of value iteration, in the search for a home
VISITED = 1e-4  # the share of visits, of the largest, at which the start is the home


@dataclass(frozen=True)
class Average(DerivedGame):
    """Cycles of a game without an end, where each unit of duration costs a rate.

    The value of a position is the expected reward minus the cost, until play is at home again.

    Attributes
    ----------
    inner : Game
        A solitaire game with ``objective = "average"``.
    rate : float, optional
        `rollwise.solve` finds the best average and gives it; without one a cycle has no cost.
    home : int
        The number of the position in which a cycle begins; 0 is the start.
    """

    rate: float | None = None
    home: int = 0
    form: ClassVar[str] = "average"
    form_specs: ClassVar[tuple[ParameterSpec, ...]] = (
        ParameterSpec(
            "rate", float, None, None, None, "the average that a position is compared to"
        ),
        ParameterSpec("home", int, 0, 0, None, "the position to which play returns; 0: the start"),
    )
    purpose: ClassVar[str] = "an average"
    players: ClassVar[int] = 1
    objective: ClassVar[str] = "maximize"

    def __post_init__(self) -> None:
        self.validate()
        name = self.inner.name
        if self.inner.objective != "average":
            raise ParameterError(
                f'{name}: as=average is for rules with objective = "average", where play has no '
                f"end; here it is {self.inner.objective!r}"
            )
        if self.inner.discount != 1:
            raise ParameterError(f"{name}: the objective 'average' goes without a discount")

    @property
    def own_specs(self) -> list[ParameterSpec]:
        """The rate, if there is one, and a home other than the start."""
        rate, home = self.form_specs
        return [replace(rate, default=self.rate)] * (self.rate is not None) + [
            replace(home, default=self.home)
        ] * (self.home > 0)

    @property
    def rounds_because(self) -> str:  # type: ignore[override]
        """The cost of a move is a number that the rules don't name."""
        if self.rate is None:
            return ""
        return (
            f"each move costs the rate times its duration, and {self.rate} may be rounded; "
            "fractions are found at a rate that doubles hold, as in as=average rate=1/2. The other "
            "methods find the best average in doubles"
        )

    @property
    def description(self) -> str:
        """The rules of the game, with its aim."""
        return f"{self.inner_rules}Played without an end, for the best average."

    def start(self) -> Any:
        return self.inner.start()

    def roots(self) -> Iterable[Any]:
        return self.inner.roots()

    def outcomes(self, s: Any, *choice: Any) -> Iterator[tuple[Any, int, Any]]:
        home = self.home_state
        for weight, then, after in outcomes_rule(self.inner)(s, *choice):
            yield weight, END if after == home else then, after

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
        """The graph of the game without an end."""
        return timed_graph(self.inner)[0]

    @property
    def durations(self) -> NDArray[np.float64]:
        """The duration of each action: (n_actions,) float64."""
        return timed_graph(self.inner)[1]

    @cached_property
    def home_state(self) -> Any:
        """The position in which a cycle begins."""
        if not self.home:
            return self.inner.start()
        if self.home >= self.inner_graph.n_positions:
            raise ParameterError(f"{self.inner.name}: there is no position {self.home}; see home")
        return Rules(self.inner).situation(self.inner_graph.row(self.home)).state

    def cycle(self, reward: NDArray[np.float64], objective: Objective = "maximize") -> StateGraph:
        """The graph of a cycle, with a reward of each action: (n_actions,) float64."""
        graph = self.inner_graph
        target = np.where(graph.outcome_state == self.home, -1, graph.outcome_state)
        parts = graph.outcome_weight, graph.outcome_passes, graph.outcome_payoff
        action_lottery, lotteries = share(reward, graph.outcome_indptr, target, *parts)
        return replace(
            graph,
            outcome_state=target.astype(np.int32),
            action_lottery=action_lottery,
            lotteries=lotteries,
            objective=objective,
            parameters=self.parameters,
        )

    def derive(self) -> StateGraph:
        """The graph of a cycle, with the cost of each action."""
        return self.cycle(self.inner_graph.action_reward - (self.rate or 0.0) * self.durations)

    def with_likely_home(self) -> Average:
        """This game with a home that good play visits often; the start, if it is visited at all.

        A home other than the start was asked for, and stays.

        Value iteration finds a policy, and its frequencies give its average. This is the next rate.
        """
        if self.home_state != self.inner.start():
            return self
        graph, n = self.inner_graph, self.inner_graph.n_states
        chance, target = chances(graph), graph.outcome_state
        source = graph.action_state[outcome_action(graph)]
        stays = np.any((source == target) & (source != self.home))
        if not stays and len(self.derive().components) == n:
            return self  # every play returns to the start
        rate, share = 0.0, np.zeros(n)
        for _ in range(ROUNDS):
            reward, values = graph.action_reward - rate * self.durations, np.zeros(n)
            # Value iteration relative to the start, with half steps against periods.
            for _ in range(SWEEPS):
                ahead = reward + fold_outcomes(graph, np.add, chance * values[target])
                best = fold_actions(graph, np.maximum, ahead)
                values = (values + best) / 2
                values -= values[0]
            actions = first_of_each_state(graph, ahead == best[graph.action_state])
            chosen = np.zeros(graph.n_actions, np.bool_)
            chosen[actions] = True
            moved = np.where(chosen[outcome_action(graph)], chance, 0.0)
            share = np.zeros(n)
            share[0] = 1.0
            # The frequencies of the states under this policy, by half steps too.
            for _ in range(SWEEPS):
                share = (share + np.bincount(target, moved * share[source], n)) / 2
            time = float(share @ self.durations[actions])
            before, rate = rate, float(share @ graph.action_reward[actions]) / time if time else 0.0
            if rate <= before:
                break
        share = share[: graph.n_positions]
        home = 0 if share[0] > VISITED * share.max() else int(share.argmax())
        return replace(self, home=home)


@remembered(4, "duration")
def timed_graph(inner: Game) -> tuple[StateGraph, NDArray[np.float64]]:
    """The graph of a game without an end, and the duration of each action.

    Raises
    ------
    RulesError
        A duration isn't a number from 0.
    """
    graph = whole_graph(inner, Average.purpose)
    durations = (~is_throw(graph)).astype(np.float64)
    if type(inner).duration is not Game.duration:
        try:
            timed = with_methods(inner, reward=type(inner).duration)
            durations = build(timed).action_reward
        except RulesError:
            durations = np.full(graph.n_actions, np.nan)
        if not np.all((durations >= 0) & (durations < np.inf)):
            for action in map(graph.view.action, np.flatnonzero(~is_throw(graph)).tolist()):
                if not action.keeps:
                    _check_duration(Rules(inner), action)
    return graph, durations


def _check_duration(rules: Rules, action: Action) -> None:
    graph, state = action.graph, int(action.graph.action_state[action.index])
    at = rules.situation(graph.row(state))
    where = f"in the state {rules.where(at, action.label)}"
    with running(RulesError, f"{rules.game.name}: duration() fails {where}"):
        given = float(rules.game.duration(at.state, *at.throw, action.label))
    if not 0 <= given < np.inf:
        raise RulesError(f"{rules.game.name}: duration() gives {given} {where}; it is at least 0")
