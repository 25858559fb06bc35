"""The result of learning: an estimated value of each action, and the policy it suggests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.graph import StateGraph, sign_of, win_probability
from rollwise.graph.by_fields import grid
from rollwise.graph.choices import costs, first_actions, first_of_each_state, fold_actions
from rollwise.graph.policies import Policy

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Learned:
    """The estimates of a learner after some games.

    Attributes
    ----------
    graph : StateGraph
    method : str
    games, explore, seed, workers
        Their origin: games played, M, the seed, and the number of workers.
    visits : (n_actions,) int64
        Number of times each action was taken.
    values : (n_actions,) float64
        Estimated: the mean payoff (1 for a win, -1 for a loss) or points after each
        action; NaN for actions never taken.
    standard_errors : (n_actions,) float64 or None
        Of `values`, from the spread of the results. The change of the players by
        learning meanwhile is not included. None for Q-learning.
    """

    graph: StateGraph
    method: str
    games: int
    explore: float
    seed: int
    workers: int
    visits: NDArray[np.int64] = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    standard_errors: NDArray[np.float64] | None = field(repr=False)

    @property
    def is_score(self) -> bool:
        """Whether values are points or expected payoffs, and not those of wins and losses."""
        return self.graph.is_score

    @property
    def estimate_name(self) -> str:
        """The name of `estimates` in a table."""
        if self.graph.has_stakes:
            return "payoff"
        return "score" if self.is_score else "win_rate"

    @cached_property
    def seen(self) -> NDArray[np.int64]:
        """How often each state was met: (n_states,) int64."""
        return fold_actions(self.graph, np.add, self.visits)

    @cached_property
    def best_actions(self) -> NDArray[np.int64]:
        """The action with the best estimate in each state: (n_states,) int64.

        Only actions that were taken count; of equal ones the first in the order
        of the rules. -1 in unseen states.
        """
        graph = self.graph
        worst = -np.inf * sign_of(graph.objective)
        cost = costs(graph, np.where(self.visits > 0, self.values, worst))
        # estimates have no bound
        return np.where(self.seen > 0, first_of_each_state(graph, cost == 0.0), -1)

    @cached_property
    def policy(self) -> Policy:
        """The learned actions; in unseen states, the first of the rules."""
        first = first_actions(self.graph)
        actions = np.where(self.best_actions < 0, first, self.best_actions)
        return Policy.of_actions(self.graph, "learned", actions)

    @cached_property
    def estimates(self) -> NDArray[np.float64]:
        """Win rates of the learned actions, or mean points: (n_states,) float64.

        In unseen states -1 for a rate, NaN for points.
        """
        values = self.values[self.best_actions]
        if self.is_score:
            return np.where(self.best_actions < 0, np.nan, values)
        return np.where(self.best_actions < 0, -1.0, win_probability(values))

    @cached_property
    def estimate_errors(self) -> NDArray[np.float64]:
        """Standard errors of `estimates`, NaN where they can't be told: (n_states,) float64."""
        if self.standard_errors is None:
            return np.full(self.graph.n_states, np.nan)
        errors = self.standard_errors[self.best_actions] * (1.0 if self.is_score else 0.5)
        return np.where(self.best_actions < 0, np.nan, errors)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """The numbers of the learned actions, -1 in unseen states: (n_states,) int64."""
        labels = self.graph.action_label[self.best_actions].astype(np.int64)
        return np.where(self.best_actions < 0, -1, labels)

    def since(self, earlier: Learned) -> Learned:
        """The estimates from the games after an earlier point of the same run alone.

        Raises
        ------
        UsageError
            `earlier` isn't an earlier point of this run, or the learner's values
            aren't means over games.
        """
        visits = self.visits - earlier.visits
        if self.standard_errors is None or earlier.standard_errors is None:
            raise UsageError(f"what {self.method} learned isn't a mean over games")
        if self.games < earlier.games or np.any(visits < 0):
            raise UsageError("that isn't an earlier point of the same run")
        total = np.zeros(len(visits))
        squares = np.zeros(len(visits))
        for part, sign in ((self, 1), (earlier, -1)):
            n = part.visits
            mean = np.where(n > 0, part.values, 0.0)
            assert part.standard_errors is not None
            spread = np.where(n > 1, part.standard_errors**2 * (n - 1), 0.0)
            total += sign * n * mean
            squares += sign * n * (spread + mean**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            means = np.where(visits > 0, total / visits, np.nan)
            variance = np.maximum(squares / visits - means**2, 0.0)
            errors = np.where(visits > 1, np.sqrt(variance / (visits - 1)), np.nan)
        return replace(
            self,
            games=self.games - earlier.games,
            visits=visits,
            values=means,
            standard_errors=errors,
        )

    def grid(self, column: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Values of the states as a matrix, if the states have two fields and fill one.

        Row and column are the first and the second field. None for other games.
        """
        states = self.graph.rows
        if states.shape[1] != 2:
            return None
        shape = states.max(axis=0).astype(np.int64) - states.min(axis=0) + 1
        return grid(states, column) if int(np.prod(shape)) == len(states) else None

    def table(self) -> pl.DataFrame:
        """A row for each state, in the order of the fields; in a game with throws after each throw.

        Returns
        -------
        polars.DataFrame
            A column for each field, then ``action`` (-1 in unseen states),
            ``win_rate`` (-1 there), ``score`` or ``payoff``, ``standard_error``,
            ``action_visits`` and ``visits`` (of the state).
        """
        import polars as pl

        graph = self.graph
        taken = np.where(self.best_actions < 0, 0, self.visits[self.best_actions])
        columns = {name: graph.rows[:, i] for i, name in enumerate(graph.columns)}
        frame = pl.DataFrame(columns).with_columns(
            graph.vocabulary.column(self.labels),
            pl.Series(self.estimate_name, self.estimates, nan_to_null=True),
            pl.Series("standard_error", self.estimate_errors, nan_to_null=True),
            pl.Series("action_visits", taken),
            pl.Series("visits", self.seen),
        )
        unseen = pl.when(pl.col("visits") == 0).then(pl.lit("-1"))  # which a throw's number is too
        frame = frame.with_columns(action=unseen.otherwise("action"))
        if graph.throw_names:  # there is no choice before a throw
            frame = frame.filter(pl.Series(graph.thrown_in))
        return frame.sort(graph.columns)
