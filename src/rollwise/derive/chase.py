"""Solitaire games with points in their states: to beat a score, or to look at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rollwise.derive.by_score import (
    Ints,
    Unrolled,
    derived_graph,
    least_cost,
    only_cost,
    points_of,
    points_to_come,
    require_points,
    unroll,
    whole_points,
)
from rollwise.derive.derived_game import SMALLER, DerivedGame, as_inner
from rollwise.errors import ParameterError, RulesError
from rollwise.game import outcomes_rule
from rollwise.graph import StateGraph, sign_of
from rollwise.kernels.by_score import NOT_REACHED
from rollwise.numbers.printed import how_many
from rollwise.parameters import ParameterSpec
from rollwise.then import AGAIN, DRAW, LOSE, WIN, ending_points, is_over

# Result of an exact hit of the target.
TIES = {"win": WIN, "draw": DRAW, "lose": LOSE}


@dataclass(frozen=True)
class WithScore(DerivedGame):
    """A solitaire game with the points made so far in its states.

    The best mean doesn't need them. Second aims among the optimal policies do.

    Attributes
    ----------
    inner : Game
        Any game for one player with whole-number rewards or payoffs.

    Examples
    --------
    >>> from rollwise.games.threes import Threes
    >>> WithScore(Threes()).start().score
    0
    """

    added_fields: ClassVar[tuple[str, ...]] = ("score",)
    form: ClassVar[str] = "score"
    purpose: ClassVar[str] = "a score in the states"
    players: ClassVar[int] = 1
    objective = as_inner("objective")

    def __post_init__(self) -> None:
        self.validate()
        require_points(self.inner_graph)

    @property
    def description(self) -> str:
        """The rules of the game, with a sentence about the points."""
        return f"{self.inner_rules}The points made so far are in the state."

    def start(self) -> Any:
        return self.state_type(*self.inner.start(), 0)

    def reward(self, s: Any, *choice: Any) -> float:
        return self.inner.reward(self.inner_state(s), *choice)

    def outcomes(self, s: Any, *choice: Any) -> Iterator[tuple[Any, int, Any]]:
        inner = self.inner_state(s)
        score = s.score + int(self.inner.reward(inner, *choice))
        for weight, then, next_state in outcomes_rule(self.inner)(inner, *choice):
            yield weight, then, s if is_over(then) else type(s)(*next_state, score)

    def describe_added(self, s: Any) -> str:
        """The points made so far."""
        return f"{how_many(s.score, 'point')} so far"

    def derive(self) -> StateGraph:
        """The same graph as the rules above give, made from the game's own graph."""
        graph = self.inner_graph
        first = np.zeros(1, np.int64)
        pairs = unroll(graph, whole_points(graph), first, first)
        return derived_graph(
            graph,
            pairs,
            "score",
            pairs.score,
            action_reward=graph.action_reward[pairs.action],
            outcome_payoff=graph.outcome_payoff[pairs.outcome],
            objective=graph.objective,
            game=self.name,
            parameters=self.parameters,
        )


@dataclass(frozen=True)
class Chase(DerivedGame):
    """A solitaire game played to reach a target score.

    The state adds the gap: the target minus the points made so far. The play is won if it ends with
    a gap on the good side of 0 (above if few points are good, below if many are). The value is the
    probability of winning.

    Attributes
    ----------
    inner : Game
        Any game for one player with whole-number rewards or payoffs.
    target : int, optional
        The score to reach: a possible final score, or a number between two of them. By default
        the start has the hardest target. In either case a table covers every target.
    ties : {"win", "draw", "lose"}
        The result of reaching the target exactly. A draw is worth half a win.

    If points only cost and have no bound, a play is lost as soon as its cost exceeds the target.

    Examples
    --------
    >>> from rollwise.games.threes import Threes
    >>> Chase(Threes(), 5).start().gap
    5
    """

    target: int | None = None
    ties: str = "win"
    added_fields: ClassVar[tuple[str, ...]] = ("gap",)
    form: ClassVar[str] = "chase"
    form_specs: ClassVar[tuple[ParameterSpec, ...]] = (
        ParameterSpec("target", int, None, None, None, "the score to reach"),
        ParameterSpec(
            "ties", str, "win", None, None, "the result of exactly that score", tuple(TIES)
        ),
    )
    purpose: ClassVar[str] = "a chase"
    remedy: ClassVar[str] = f"{SMALLER}; `rollwise distribution GAME --reach N` needs none"
    players: ClassVar[int] = 1
    objective: ClassVar[str] = "win"

    def __post_init__(self) -> None:
        self.validate()
        require_points(self.inner_graph)
        low, high = self.target_range
        if self.target is not None and not low <= self.target <= high:
            allowed = f"from {low} to {high}"
            if self.has_limit:
                few = self.inner.objective == "minimize"
                allowed = f"of at least {low}" if few else f"of at most {high}"
            raise ParameterError(
                f"a chase of {self.inner_graph.title} needs a target {allowed}, not {self.target}"
            )

    @property
    def description(self) -> str:
        """The rules of the game, with its target."""
        better = "Fewer" if self.inner.objective == "minimize" else "More"
        tie = {"win": "wins too", "draw": "is half a win", "lose": "loses"}[self.ties]
        return (
            f"{self.inner_rules}Played to reach {self.start().gap} points. "
            f"{better} points win; exactly as many {tie}."
        )

    @property
    def own_specs(self) -> list[ParameterSpec]:
        """The target of the start, and the result of ties."""
        target, ties = self.form_specs
        low, high = self.target_range
        return [
            replace(target, default=self.start().gap, at_least=low, at_most=high),
            replace(ties, default=self.ties),
        ]

    @cached_property
    def points(self) -> Ints:
        """The points of the game's outcomes: (n_outcomes,) int64."""
        points = points_of(self.inner_graph)
        return points if self.has_limit else whole_points(self.inner_graph)

    @cached_property
    def has_limit(self) -> bool:
        """Whether a play is over as soon as it has cost more than the target."""
        graph = self.inner_graph
        if not only_cost(graph, points_of(graph)):
            return False
        try:
            whole_points(graph)
        except RulesError:
            return True
        return False

    @cached_property
    def target_range(self) -> tuple[int, int]:
        """The least and the largest possible final score.

        If points have no bound, from the best score to the target.
        """
        graph = self.inner_graph
        if not self.has_limit:
            low, high = points_to_come(graph, self.points)
            return int(low[0]), int(high[0])
        sign, cost = -int(sign_of(graph.objective)), int(least_cost(graph, self.points)[0])
        if cost == NOT_REACHED:
            raise RulesError(f"{graph.game}: no play ever ends, so there is no score to reach")
        best = sign * cost
        worst = best if self.target is None else sign * max(sign * best, sign * self.target)
        return min(best, worst), max(best, worst)

    def start(self) -> Any:
        inner = self.inner.start()
        target = self.target
        if target is None:
            target = self.target_range[0 if self.inner.objective == "minimize" else 1]
        return self.state_type(*inner, target)

    def roots(self) -> Iterator[Any]:
        """The start with every target."""
        inner = self.inner.start()
        for target in range(self.target_range[0], self.target_range[1] + 1):
            yield self.state_type(*inner, target)

    def outcomes(self, s: Any, *choice: Any) -> Iterator[tuple[Any, int, Any]]:
        inner = self.inner_state(s)
        gap = s.gap - int(self.inner.reward(inner, *choice))
        for weight, then, next_state in outcomes_rule(self.inner)(inner, *choice):
            if is_over(then):
                yield weight, self._ending(gap - int(ending_points(then))), s
            elif self.has_limit and gap != 0 and self._ending(gap) == LOSE:
                yield weight, LOSE, s
            else:
                yield weight, AGAIN, type(s)(*next_state, gap)

    def _ending(self, gap: int) -> int:
        if gap == 0:
            return TIES[self.ties]
        return WIN if (gap > 0) == (self.inner.objective == "minimize") else LOSE

    def describe_added(self, s: Any) -> str:
        """How far the target is away."""
        return f"gap {s.gap}"

    def derive(self) -> StateGraph:
        """The same graph as the rules above give, made from the game's own graph."""
        graph = self.inner_graph
        low, high = self.target_range
        targets = np.concatenate([[self.start().gap], np.arange(low, high + 1)])
        n_roots = len(targets)
        # A play begins with minus its target, so it ends with the distance from the target.
        pairs = self._unrolled(graph, np.zeros(n_roots, np.int64), -targets)
        over = pairs.outcome_state < 0
        good = sign_of(graph.objective)
        payoff = np.where(over, np.sign(pairs.final_score) * good, 0).astype(np.float64)
        tied = {"win": 1.0, "draw": 0.0, "lose": -1.0}[self.ties]
        payoff[over & (pairs.final_score == 0)] = tied
        return derived_graph(
            graph,
            pairs,
            "gap",
            -pairs.score,
            outcome_payoff=payoff,
            objective="win",
            game=self.name,
            parameters=self.parameters,
        )

    def _unrolled(self, graph: StateGraph, states: Ints, scores: Ints) -> Unrolled:
        """The pairs of a state and a score, minus the target."""
        if not self.has_limit:
            return unroll(graph, self.points, states, scores)
        if graph.objective == "minimize":
            return unroll(graph, self.points, states, scores, limit=0)
        # Costs are negative points here: with other signs they rise to the limit.
        turned = unroll(graph, -self.points, states, -scores, limit=0)
        return replace(turned, score=-turned.score, final_score=-turned.final_score)
