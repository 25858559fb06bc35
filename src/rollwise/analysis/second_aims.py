"""Second aims, and ranges over all optimal policies: `rollwise.answer.optimal_set` by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.distributions import Distribution
from rollwise.analysis.one_distribution import distribution
from rollwise.analysis.quantities import chance_of_scores, read_aim, read_quantity
from rollwise.answer.optimal_set import Amounts, Certified, OptimalSet, Quantity, Range
from rollwise.answer.references import Policies, Subject
from rollwise.answer.solution import Solution
from rollwise.derive.by_score import by_score, require_points
from rollwise.derive.larger import places_of
from rollwise.derive.with_score import WithScore
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import chances, fold_outcomes, has_choice
from rollwise.graph.policies import Policy, ties_in_play

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class SecondAims:
    """The optimal policies that are best for further aims, one aim after the other.

    Attributes
    ----------
    aims : tuple of str
        As ``least variance``.
    values : tuple of Certified
        What each comes to, and how far that can be off.
    policies : OptimalSet
        Those that are left.
    """

    aims: tuple[str, ...]
    values: tuple[Certified, ...]
    policies: OptimalSet

    @property
    def name(self) -> str:
        """``optimal, then least variance``."""
        return ", then ".join(("optimal", *self.aims))

    @cached_property
    def policy(self) -> Policy:
        """The first of the policies that are left, on the graph of `policies`."""
        return self.policies.policy(self.name)

    def distribution(self) -> Distribution:
        """How the final score is distributed under `policy`."""
        return distribution_in(self.policies, self.policy)

    def table(self, solution: Solution) -> pl.DataFrame:
        """`policy` as a table, which is a policy where it is typed (see `Policies.find`).

        One row for each state with a choice, also for those that optimal play doesn't come to:
        there it is the policy of the solution. With the field ``score`` where an aim rests on the
        points made so far; it is then a policy of the game `rollwise.derive.with_score.WithScore`.

        Parameters
        ----------
        solution : Solution
            Whose optimal policies these are.
        """
        import polars as pl

        graph = solution.graph
        labels = _labels(graph, solution.policy)
        if self.policies.scores is not None:
            scored = by_score(graph)
            graph, labels = scored.graph, labels[scored.state]
        chosen = self.policies.graph
        labels[places_of(chosen, graph)] = _labels(chosen, self.policy)
        asked = np.flatnonzero(has_choice(graph))
        fields = dict(zip(graph.field_names, graph.states[asked].T, strict=True))
        return pl.DataFrame({**fields, "action": [graph.vocabulary.text(a) for a in labels[asked]]})


def _labels(graph: StateGraph, policy: Policy) -> NDArray[np.int64]:
    """The label of the action that a policy takes, for each state."""
    taken = np.flatnonzero(policy.probability > 0)
    labels = np.empty(graph.n_states, np.int64)
    labels[graph.action_state[taken]] = graph.action_label[taken]
    return labels


def second_aims(game: Subject, aims: Sequence[str], *, ties: str = "shared") -> SecondAims:
    """Of all optimal policies those that are best for a second aim, then for a third, and so on.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        Solved unless it is a solution.
    aims : sequence of str
        See `rollwise.analysis.quantities`.
    ties : {"shared", "first", "win-or-tie"}
        Who wins a tie, for the aim ``win``.

    Raises
    ------
    UsageError, RulesError
        An aim makes no sense for the game.

    Examples
    --------
    >>> from rollwise.games.threes import Threes
    >>> second_aims(Threes(dice=2), ["score<=0"]).values[0].value.__round__(6)
    0.092593
    """
    solution = solution_of(game)
    found, values, names = OptimalSet.of(solution), [], []
    wanted = [read_aim(solution, text, ties) for text in aims]
    if any(aim.quantity.by_score for aim in wanted):
        found = found.with_scores
    for aim in wanted:
        value, found = found.then(aim.quantity, least=aim.least)
        values.append(value)
        names.append(aim.text)
    return SecondAims(tuple(names), tuple(values), found)


def ranges(game: Subject, quantities: Sequence[str], *, ties: str = "shared") -> list[Range]:
    """What each quantity can be under an optimal policy: the least and the most, certified.

    Parameters
    ----------
    game, ties
        As `second_aims` takes them.
    quantities : sequence of str
        See `rollwise.analysis.quantities`.
    """
    solution = solution_of(game)
    return ranges_in(OptimalSet.of(solution), solution, quantities, ties=ties)


def ranges_in(
    found: OptimalSet, solution: Solution, quantities: Sequence[str], *, ties: str = "shared"
) -> list[Range]:
    """The same over the optimal policies of a set, such as those that second aims left."""
    return [found.range(read_quantity(solution, text, ties)) for text in quantities]


def length_ranges(solution: Solution, counted: Sequence[str]) -> list[Range] | None:
    """How long a play from the start is on average, at least and at most, if it is optimal.

    Parameters
    ----------
    counted : sequence of {"turns", "moves", "rolls"}

    Returns
    -------
    list of Range, or None
        None where play comes to no equally good actions, or where these let it go round for ever.
    """
    if ties_in_play(solution.graph, solution.policy) is None:
        return None
    try:
        found = OptimalSet.of(solution)
    except UsageError:
        return None
    passing = Quantity("passes", lambda s: Amounts(actions=_passing(s.graph)))
    ranges = []
    for name in counted:
        one = found.range(passing if name == "turns" else read_quantity(solution, name))
        if name == "turns":  # the first one passes nowhere; chances are rounded
            off = one.error_bound + 2.0**-50 * (1 + one.most)
            one = Range(name, one.least + 1, one.most + 1, off)
        ranges.append(one)
    return ranges


def _passing(graph: StateGraph) -> NDArray[np.float64]:
    """How likely each action passes the turn: (n_actions,)."""
    return fold_outcomes(graph, np.add, np.where(graph.outcome_passes, chances(graph), 0.0))


@dataclass(frozen=True, eq=False)
class ScoreRanges:
    """How likely each final score is, at least and at most, under an optimal policy.

    Attributes
    ----------
    rows : dict of int to Range
        By the score.
    at_most : dict of int to Range
        Of that score or less.
    variance : Range
    loss : float
        What any of these policies can lose against the best, proved.
    """

    rows: dict[int, Range]
    at_most: dict[int, Range]
    variance: Range
    loss: float


def score_ranges(game: Subject) -> ScoreRanges:
    """The range of every probability of a final score over all optimal policies."""
    solution = solution_of(game)
    require_points(solution.graph)
    found = OptimalSet.of(solution).with_scores
    assert found.scores is not None
    rows, at_most = {}, {}
    for score in np.sort(found.scores).tolist():
        rows[score] = found.range(_is(score))
        at_most[score] = found.range(_is_at_most(score))
    variance = found.range(read_quantity(solution, "variance"))
    return ScoreRanges(rows, at_most, variance, found.loss)


def ranges_of_scores(game: Subject, scores: Iterable[int]) -> dict[int, Range]:
    """How likely some final scores are, at least and at most, under an optimal policy."""
    solution = solution_of(game)
    if isinstance(solution.game, WithScore):  # whose optimal policies are those of its inner game
        solution = solution_of(solution.game.inner)
    found = OptimalSet.of(solution).with_scores
    return {score: found.range(_is(score)) for score in scores}


def _is(score: int):  # type: ignore[no-untyped-def]
    return chance_of_scores(f"score={score}", lambda x: x == score)


def _is_at_most(score: int):  # type: ignore[no-untyped-def]
    return chance_of_scores(f"score<={score}", lambda x: x <= score)


def distribution_in(found: OptimalSet, policy: Policy) -> Distribution:
    """How the final score is distributed under a policy of a set."""
    return distribution(found.graph, policy, points=found.points).trimmed()


def solution_of(game: Subject) -> Solution:
    """The solution of a game, found unless it is given."""
    return game if isinstance(game, Solution) else Policies.of(game).solution
