"""Learned policies, compared with the exact solution: the amount, place and reason of errors.

Positions are weighted by their frequency under *good play*: both players take, with equal
probability, any action with a cost of at most `near_tie`. These weights don't depend on a choice
between actions of equal value.

Each position with no learned action or a wrong one has the first applicable reason:

- *hopeless*: no action wins there, so the action is arbitrary;
- *unreachable*: no play from the start comes there;
- *bad play*: only bad play comes there, and it is soon unlearned;
- *near tie*: the learned action costs no more than `near_tie`;
- *rare*: under good play it comes up too seldom, in so many games, for the
  difference between the actions to stand out by three standard errors;
- *not explored*: the position came up often enough, but the best action was tried
  too seldom for that difference to stand out (a larger M tries it more);
- *early games*: the estimate of the learned or of the best action is off by more than
  three standard errors, since it includes early games with bad play afterwards;
- *unexplained*: none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import Certified
from rollwise.answer.evaluation import best_response, evaluate
from rollwise.answer.references import AnyPolicy, Policies, Subject
from rollwise.answer.solution import Solution
from rollwise.derive.changed import Against
from rollwise.derive.seats import take_seats
from rollwise.engine.following import Following
from rollwise.errors import UsageError
from rollwise.graph import sign_of, unit_of
from rollwise.graph.choices import fold_actions, has_choice
from rollwise.graph.policies import Policy, Ties, reachable_states, ties_in_play
from rollwise.hooks import InWords
from rollwise.layers import layer_of_graph
from rollwise.learn import Learned, Learner
from rollwise.numbers.given import whole_number
from rollwise.simulate.match import over_the_seats

REASONS = (
    "hopeless",
    "unreachable",
    "bad play",
    "near tie",
    "rare",
    "not explored",
    "early games",
    "unexplained",
)
NEAR_TIE = 0.01
VISITS_LOST, MOST_ROUNDS = 1e-15, 100_000  # share of a component's visits, and its sweeps
OFTEN = 1000  # expected visits under good play from which a position counts as frequent
OFF = 1e-9  # of an exact value, for equal results that should have been it
UNSEEN_ERROR = 0.5  # of a win rate without any game


@dataclass(frozen=True, eq=False)
class Reference:
    """The exact answer, and the frequencies of positions under good play.

    Attributes
    ----------
    solution : Solution
    near_tie : float
        In win probability, or in points.
    visits : (n_states,) float64
        Expected visits in a game under good play.
    reachable : (n_states,) bool
        Whether any play from the start comes there.
    """

    solution: Solution
    near_tie: float
    visits: NDArray[np.float64]
    reachable: NDArray[np.bool_]

    @classmethod
    def of(cls, solution: Solution, near_tie: float = NEAR_TIE) -> Reference:
        """The reference of a solution.

        Parameters
        ----------
        near_tie : float
            Largest cost of an action in good play: in win probability, or as a share of the
            expected score of a game for points.
        """
        graph = solution.graph
        if solution.is_score:
            size = float(np.abs(solution.values).max()) if graph.has_stakes else abs(solution.value)
            margin = near_tie = near_tie * max(size, 1e-300)
        else:
            margin = 2 * near_tie
        good = (solution.regret <= margin) | solution.is_best
        chosen = good.astype(np.float64)
        chosen /= fold_actions(graph, np.add, chosen)[graph.action_state]
        played = take_seats(graph, [Policy("good play", chosen)]).graph
        chain = Following(layer_of_graph(played))
        place, memory = chain.place, chain.memory()
        visits = chain.visits(memory, place[:1], VISITS_LOST, MOST_ROUNDS)[place]
        (reachable,) = reachable_states(graph, np.ones((1, graph.n_actions)), np.zeros(1, np.int64))
        return cls(solution, near_tie, visits, reachable)


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(InWords):
    """A learned result against the exact one.

    Attributes
    ----------
    learned : Learned
    reference : Reference
    loss : float
        Of the learned policy from the start, see `loss_of`.
    loss_bound : float
        Certified error bound of `loss`.
    recent : Learned or None
        The results of the later games alone. Rates over the whole run include games of
        exploration, and their bias isn't in the standard errors.
    """

    learned: Learned
    reference: Reference
    loss: float
    loss_bound: float
    recent: Learned | None = None

    @cached_property
    def exact(self) -> NDArray[np.float64]:
        """Exact win probabilities, or expected points: (n_states,) float64."""
        solution = self.reference.solution
        probabilities = solution.win_probabilities
        return solution.values if probabilities is None else probabilities

    @cached_property
    def errors(self) -> NDArray[np.float64]:
        """Distance of the estimates from the exact values: (n_states,) float64.

        For unseen positions: 0.5 for a win probability; NaN for points.
        """
        off = np.abs(self.learned.estimates - self.exact)
        if self.learned.is_score:
            return off
        return np.where(self.learned.best_actions < 0, UNSEEN_ERROR, off)

    @property
    def weighted_error(self) -> float:
        """Mean error, positions counting by their visits under good play."""
        weight = np.where(np.isnan(self.errors), 0.0, self.reference.visits)
        if not weight.sum() > 0:
            return float("nan")
        return float(np.nansum(weight * self.errors) / weight.sum())

    @cached_property
    def optimal(self) -> NDArray[np.bool_]:
        """Whether the learned action is one of the best: (n_states,) bool."""
        actions = self.learned.best_actions
        return np.asarray((actions >= 0) & self.reference.solution.is_best[actions])

    @property
    def optimal_share(self) -> float:
        """Share of optimal learned actions among the reachable positions with a choice."""
        which = self.reference.reachable & has_choice(self.learned.graph)
        return float(self.optimal[which].mean()) if which.any() else 1.0

    @property
    def weighted_optimal_share(self) -> float:
        """The share of optimal learned actions, positions counting by visits under good play."""
        choice = has_choice(self.learned.graph)
        weight = np.where(choice, self.reference.visits, 0.0)
        return float((weight * self.optimal).sum() / weight.sum()) if weight.any() else 1.0

    @cached_property
    def frequent(self) -> NDArray[np.bool_]:
        """Positions with 1000 expected visits under good play in these games: (n_states,) bool."""
        return self.reference.visits * self.learned.games >= OFTEN

    def deviations(self, recent: bool = False) -> NDArray[np.float64]:
        """Errors of the frequent positions, in standard errors of their estimates.

        Parameters
        ----------
        recent : bool
            Of the estimates from `recent` instead of the whole run.
        """
        source = self.recent if recent else self.learned
        if source is None or source.standard_errors is None:
            return np.empty(0)
        actions = self.learned.best_actions[self.frequent]
        unit = unit_of(self.learned)
        exact = self.reference.solution.values[self.frequent]
        with np.errstate(divide="ignore", invalid="ignore"):
            off = unit * np.abs(source.values[actions] - exact)
            deviations = off / (unit * source.standard_errors[actions])
        return np.asarray(deviations[(actions >= 0) & ~np.isnan(deviations)])

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """The cost of the learned action, in win probability or points; NaN where unseen."""
        actions = self.learned.best_actions
        unit = unit_of(self.learned)
        return np.where(actions < 0, np.nan, unit * self.reference.solution.regret[actions])

    @cached_property
    def reasons(self) -> NDArray[np.int64]:
        """Index into `REASONS` of each position, -1 for a correct learned action."""
        reference, learned = self.reference, self.learned
        unseen = learned.best_actions < 0
        if learned.is_score:
            hopeless = np.zeros(len(unseen), np.bool_)
            with np.errstate(invalid="ignore"):
                spread = learned.estimate_errors * np.sqrt(
                    np.where(unseen, 0, learned.visits[learned.best_actions])
                )
        else:
            bound = reference.solution.error_bounds / 2
            hopeless = self.exact <= np.maximum(bound, 1e-15)
            spread = np.full(len(unseen), 0.5)
        best = reference.solution.best_actions
        stale = np.zeros(len(learned.values), np.bool_)
        if learned.standard_errors is not None:
            exact = reference.solution.action_values
            # equal results have no spread: those that are off were learned while play was worse
            alike = (learned.visits > 1) & np.isnan(learned.standard_errors)
            with np.errstate(invalid="ignore"):
                room = np.where(alike, OFF * (1 + np.abs(exact)), 3 * learned.standard_errors)
                stale = np.abs(learned.values - exact) > room
        arbitrary = hopeless & (learned.best_actions != best)
        with np.errstate(invalid="ignore", divide="ignore"):
            needed = np.where(unseen, np.inf, 2 * (3 * spread / self.costs) ** 2)
        # in the order of the reasons: the first one that applies counts
        conditions = [
            hopeless,
            ~reference.reachable,
            reference.visits <= 0,
            self.costs <= reference.near_tie,
            reference.visits * learned.games < needed,
            learned.visits[best] < needed,
            stale[best] | stale[learned.best_actions],
        ]
        first = np.select(conditions, range(len(conditions)), len(conditions))
        return np.where(~self.optimal | arbitrary, first, -1)

    def reason_counts(self) -> dict[str, int]:
        """The number of positions for each of the reasons."""
        return {name: int((self.reasons == i).sum()) for i, name in enumerate(REASONS)}


def assess(learned: Learned, reference: Reference, earlier: Learned | None = None) -> Assessment:
    """Compare a learned result with the exact solution of the same graph.

    Parameters
    ----------
    learned : Learned
    reference : Reference
    earlier : Learned, optional
        An earlier point of the run: the games since then are also assessed alone.

    Raises
    ------
    UsageError
        They are of different games.
    """
    graph = learned.graph
    solved = reference.solution.graph
    if graph is not solved and graph.content_hash != solved.content_hash:
        raise UsageError(f"{graph.title} was learned, but {solved.title} was solved")
    recent = None
    if earlier is not None and learned.standard_errors is not None:
        recent = learned.since(earlier)
    loss, bound = loss_of(learned, reference.solution)
    return Assessment(learned, reference, loss, bound, recent)


def play_and_assess(
    learner: Learner,
    games: int,
    checkpoints: int,
    reference: Reference,
    *,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> list[Assessment]:
    """Let a learner play, and assess it along the way, at doubling numbers of games.

    Parameters
    ----------
    games : int
        Total number of games at the end, with the earlier ones.
    checkpoints : int
        Number of assessments, with the last one.

    Returns
    -------
    list of Assessment
        Each has an assessment of the later half of its games too.
    """
    # each point is assessed with the games since half of it, so its half is a stop too
    points = {games >> i for i in range(min(checkpoints, games.bit_length()))}
    points = {point for point in points if point > learner.games}
    learned: dict[int, Learned] = {}
    assessments = []
    for point in sorted(points | {point // 2 for point in points}):
        if point < max(learner.games, 1):
            continue
        learner.play(point - learner.games, progress=progress)
        learned[point] = learner.result()
        if point in points:
            assessments.append(assess(learned[point], reference, learned.get(point // 2)))
            learned.pop(point // 4, None)
    return assessments


def loss_of(learned: Learned, solution: Solution) -> tuple[float, float]:
    """The loss of a learned policy, and its proved error bound.

    As a win probability, in points or in payoffs. With two players, the average gain of a best
    response over both seats. In a game for one, the difference from the best value.
    """
    graph = learned.graph
    unit = unit_of(learned)
    if graph.players == 2:
        response = best_response(graph, learned.policy, starts=[0])
        return unit * response.exploitability(), unit * response.exploitability_bound()
    evaluation = evaluate(graph, learned.policy, starts=[0])
    sign = sign_of(graph.objective)
    bound = float("inf") if evaluation.bounds is None else float(evaluation.bounds[0])
    loss = unit * sign * (solution.value - float(evaluation.values[0]))
    return loss, unit * (bound + float(solution.error_bounds[0])) + 2.0**-53 * abs(loss)


class LearnedAgainst(NamedTuple):
    """A policy learned in games against an opponent, and its result.

    Attributes
    ----------
    learned : Learned
        On the graph of the game. Positions unreachable against the opponent stay unseen.
    against : str
        The name of the opponent's policy.
    gets, best : Certified
        The results of the learned policy and of a best response: a win probability or
        a payoff, mean over the seats.
    ties : Ties or None
        The effect of the choice among equally good actions of an optimal opponent.
    """

    learned: Learned
    against: str
    gets: Certified
    best: Certified
    ties: Ties | None


def learn_against(
    game: Subject,
    policy: AnyPolicy,
    games: int,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> LearnedAgainst:
    """Learn from games against a policy.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        For two.
    policy : str, callable or Policy
    games : int
    settings : mapping
        Of the learner, see `rollwise.learn.Learner`; None for its own choice.

    Raises
    ------
    UsageError
        The game is for one; there is no such policy; a number is out of range.
    """
    policies = Policies.of(game)
    graph = policies.graph
    if graph.players != 2:
        raise UsageError(f"{graph.title} is a game for one: there is no opponent to learn against")
    games = whole_number("games", games, 1)
    opponent = policies.find(policy)
    against = Against.of(graph, opponent)
    given = {name: value for name, value in (settings or {}).items() if value is not None}
    learner = Learner(against.graph, **given)
    learner.play(games, progress=progress)
    seen = learner.result()
    deviations, by_game = seen.deviations, seen.by_game
    learned = replace(
        seen,
        graph=graph,
        visits=against.as_before(seen.visits, 0),
        values=against.as_before(seen.values, np.nan),
        deviations=None if deviations is None else against.as_before(deviations, np.nan),
        by_game=None
        if by_game is None
        else np.column_stack([against.as_before(sums, 0.0) for sums in by_game.T]),
    )
    evaluation = evaluate(policies, learned.policy, opponent, starts=[0])
    best = best_response(policies, opponent, starts=[0])
    gets, could = (over_the_seats(one, is_score=graph.is_score) for one in (evaluation, best))
    ties = ties_in_play(graph, opponent, learned.policy)
    return LearnedAgainst(learned, opponent.name, gets, could, ties)
