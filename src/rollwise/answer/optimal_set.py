"""The set of all optimal policies, and ranges of quantities over it.

In some states several actions are equally good. Then many policies are optimal. They share one
value, but differ in the chance of a given score and in the length of play. Together they are the
policies of a smaller game, which has only the optimal actions (conserving actions; Puterman 1994,
chapter 7). A policy may depend on the points made so far. This adds a field to the states.

- A quantity linear in the policy, such as the chance of a score or the uses of an action, has a
  least and a largest expectation over the set. Each is the value of the smaller game with this
  quantity as its reward, certified like any other value.
- The policies with an extreme expectation are again the policies of a smaller game. Aims can
  therefore follow each other (lexicographic order).
- In a game for two both seats play optimally, and a quantity counts over the moves of both.
- In a game for three or more the set has the ways to break the ties of an equilibrium: where
  several actions are equally good for the mover, who doesn't mix, any of them is taken; elsewhere
  all keep to the equilibrium. Others may care about the choice, and then the result need not be an
  equilibrium.

The rule of tolerance in `rollwise.graph.choices` decides which actions are optimal. Every optimal
action passes it, so the range covers all optimal policies. The cost of a passing action may be as
large as the certified error allows; `OptimalSet.loss` bounds the resulting loss of a policy. The
method `exact` finds values as fractions; then only actions of equal value are kept, and the loss
is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import Certified, solve_and_certify
from rollwise.derive.by_score import by_score
from rollwise.derive.seats import take_seats
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import (
    are_best,
    first_actions,
    fold_actions,
    has_choice,
    has_ties,
    look_ahead,
    most_costs,
    summed,
)
from rollwise.graph.endings import describe, end_components, regroup
from rollwise.graph.policies import Policy, reached_by
from rollwise.layers import Layer, layer_of_graph
from rollwise.proofs.endless_play import endless_states

if TYPE_CHECKING:
    from rollwise.answer.solution import Solution
    from rollwise.many.equilibrium import Equilibrium

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Amounts(NamedTuple):
    """The amounts summed along a play; None stands for zeros.

    Attributes
    ----------
    actions : (n_actions,) float64
    endings : (n_outcomes,) float64
        For outcomes that end the game.
    scores, score_bounds : (n_scores,) float64
        For each final score, with error bounds.
    """

    actions: Reals | None = None
    endings: Reals | None = None
    scores: Reals | None = None
    score_bounds: Reals | None = None


@dataclass(frozen=True, eq=False)
class Quantity:
    """A quantity with an expectation linear in the policy.

    Attributes
    ----------
    name : str
    amounts : callable
        Its amounts in the graph of a set.
    by_score : bool
        Whether it depends on the final score.
    finish : callable
        Maps the expectation to the requested figure, such as the variance.
    """

    name: str
    amounts: Callable[[OptimalSet], Amounts]
    by_score: bool = False
    finish: Callable[[Certified], Certified] = lambda found: found


class Range(NamedTuple):
    """The range of a quantity over the policies of a set.

    Attributes
    ----------
    name : str
    least, most : float
    error_bound : float
        Of either end, proved.
    """

    name: str
    least: float
    most: float
    error_bound: float


class Mixtures(NamedTuple):
    """The mixtures of an equilibrium, each one action of a set.

    Attributes
    ----------
    graph : StateGraph
        Of the equilibrium.
    probability : (n_actions,) float64
        Its policy.
    state : (n_actions_of_the_set,) int64
        The state of each mixture in that graph; -1 for actions that are no mixtures.
    """

    graph: StateGraph
    probability: Reals
    state: Ints


class Extreme(NamedTuple):
    """One end of a range, with the values of its solution."""

    found: Certified
    values: Reals
    bounds: Reals


@dataclass(frozen=True, eq=False)
class OptimalSet:
    """Optimal policies: all policies of a graph with only their actions.

    Attributes
    ----------
    graph : StateGraph
        The reachable states, with the actions of the set. With `scores` it is unrolled by the
        points made so far, and its border is the final scores.
    loss : float
        Proved bound on the loss of its policies against the best; infinite without a proof. Of an
        equilibrium, on the cost of each of its actions for the mover.
    scores : (n_scores,) int64 or None
        Of the border, the best first.
    mixtures : Mixtures or None
        Of an equilibrium.
    """

    graph: StateGraph
    loss: float
    scores: Ints | None = None
    mixtures: Mixtures | None = None

    @classmethod
    def of(cls, solution: Solution) -> OptimalSet:
        """All optimal policies of a solved game, from its start.

        Raises
        ------
        UsageError
            The method gave up, or the optimal actions let play go round for ever.
        """
        if solution.gave_up:
            raise UsageError(
                f"{solution.graph.title}: the method {solution.method} gave up, so that no one "
                "knows which policies are optimal"
            )
        graph, best = solution.graph, solution.is_best
        if solution.profile is not None:
            return cls.of_equilibrium(solution.profile, best)
        exact = solution.run.fractions is not None
        if exact:
            best = _equal_in_fractions(solution, best)
        smaller, kept = _with_only(graph, best)
        _require_end(smaller)
        policies = cls(smaller, 0.0)
        ties = has_choice(smaller)[smaller.action_state]
        if exact or not ties.any():
            return policies
        if not np.isfinite(solution.error_bound):
            return replace(policies, loss=np.inf)
        costs = np.where(ties, most_costs(graph, solution.ahead)[kept], 0.0)
        most = float(costs.max())
        if not most:
            return policies
        # the largest expected sum of costs over all policies of the set
        lost = policies.extreme(Quantity("lost", lambda _: Amounts(actions=costs / most))).found
        return replace(policies, loss=most * (lost.value + lost.bound) * (1 + 2.0**-40))

    @classmethod
    def of_equilibrium(cls, found: Equilibrium, best: Mask) -> OptimalSet:
        """All ways to break the ties of an equilibrium, from its start.

        Parameters
        ----------
        best : (n_actions,) bool
            The equally good actions of each state.
        """
        graph, mixes = found.graph, np.zeros(found.graph.n_states, np.bool_)
        mixes[found.mixing] = True
        choices = best & ~mixes[graph.action_state]
        taken = Policy("ties", np.where(choices, 1.0, found.policy.probability))
        # actions that are no choice are those of a mixture
        taken.probability[~choices & ~mixes[graph.action_state]] = 0.0
        smaller = take_seats(graph, [taken], [0], choices=choices)
        _require_end(smaller.graph)
        ties = has_choice(smaller.graph)[smaller.graph.action_state]
        costs = most_costs(graph, found.ahead)[smaller.action[ties]]
        loss = np.inf if len(found.unproved) else float(costs.max(initial=0.0))
        state = smaller.key[smaller.graph.action_state].astype(np.int64)
        mixtures = Mixtures(graph, found.policy.probability, np.where(mixes[state], state, -1))
        return cls(smaller.graph, loss, mixtures=mixtures)

    def amounts_of(self, count: Callable[[StateGraph], NDArray[np.generic]]) -> Reals:
        """An amount of each action of the set; that of a mixture is a mean: (n_actions,) float64.

        Parameters
        ----------
        count : callable
            Gives the amounts of the actions of a graph.
        """
        amounts = np.asarray(count(self.graph), np.float64)
        if self.mixtures is not None:
            graph, probability, state = self.mixtures
            of_all = np.asarray(count(graph), np.float64)
            means = fold_actions(graph, np.add, probability * of_all)
            amounts = np.where(state < 0, amounts, means[state])
        return amounts

    def with_only(self, allowed: Mask) -> OptimalSet:
        """The set with some of its actions alone."""
        graph, kept = _with_only(self.graph, allowed)
        mixtures = self.mixtures
        if mixtures is not None:
            mixtures = mixtures._replace(state=mixtures.state[kept])
        return replace(self, graph=graph, mixtures=mixtures)

    @cached_property
    def with_scores(self) -> OptimalSet:
        """The set with the points made so far in the states.

        Raises
        ------
        UsageError, RulesError, TooManyStates
            See `rollwise.derive.by_score.by_score`.
        """
        if self.scores is not None:
            return self
        scored = by_score(self.graph)
        return OptimalSet(scored.graph, self.loss, scored.scores)

    def for_quantity(self, quantity: Quantity) -> OptimalSet:
        """The set on the graph that a quantity needs."""
        return self.with_scores if quantity.by_score else self

    def extreme(self, quantity: Quantity, *, least: bool = False) -> Extreme:
        """The largest expectation of a quantity under a policy of the set, or the least.

        A quantity that depends on the score needs the set of `for_quantity`.
        """
        amounts = quantity.amounts(self)
        sign = -1.0 if least else 1.0
        border: Reals | None = None
        if self.scores is not None:
            n = len(self.scores)
            border = np.zeros(n) if amounts.scores is None else sign * amounts.scores
        if amounts.actions is None and amounts.endings is None:
            graph, layer = self._uncounted
        else:
            graph = self._counting(sign, amounts.actions, amounts.endings)
            layer = layer_of_graph(graph)
        run = solve_and_certify(
            graph, border_values=border, border_bounds=amounts.score_bounds, layer=layer
        )
        end = run.at(sign=sign)
        if amounts.actions is not None:
            most = float(np.abs(amounts.actions).max(initial=0.0))
            end = Certified(end.value, end.bound + most * self._rounding)
        end = quantity.finish(end)
        return Extreme(end, run.found.values, run.certificate.bounds)

    @cached_property
    def _rounding(self) -> float:
        """The rounding of mean amounts up to 1 of mixtures, in a sum along a play."""
        if self.mixtures is None or not (self.mixtures.state >= 0).any():
            return 0.0
        longest = solve_and_certify(self._counting(1.0, np.ones(self.graph.n_actions), None)).at(0)
        actions = int(np.diff(self.mixtures.graph.action_indptr).max())
        return 2.0**-52 * actions * (longest.value + longest.bound)

    def range(self, quantity: Quantity) -> Range:
        """The least and the largest expectation of a quantity."""
        here = self.for_quantity(quantity)
        least, most = (here.extreme(quantity, least=end).found for end in (True, False))
        bound = max(least.bound, most.bound)
        return Range(quantity.name, least.value, most.value, bound)

    def then(self, quantity: Quantity, *, least: bool = False) -> tuple[Certified, OptimalSet]:
        """The best expectation for a second aim, and the policies of the set with it."""
        here = self.for_quantity(quantity)
        end, values, bounds = here.extreme(quantity, least=least)
        sign = -1.0 if least else 1.0
        amounts = quantity.amounts(here)
        graph = here._counting(sign, amounts.actions, amounts.endings)
        border = np.zeros(graph.n_border)
        if amounts.scores is not None:
            border = sign * amounts.scores
        # the best actions for this aim are a smaller set of the same kind
        best = are_best(graph, look_ahead(graph, values, bounds, border, amounts.score_bounds))
        return end, here.with_only(best)

    def first(self) -> OptimalSet:
        """The set of one policy, with the first action of this set in each state."""
        chosen = np.zeros(self.graph.n_actions, np.bool_)
        chosen[first_actions(self.graph)] = True
        return self.with_only(chosen)

    def policy(self, name: str) -> Policy:
        """The policy with the first action of the set in each state."""
        everywhere = np.ones(self.graph.n_actions, np.bool_)
        return Policy.of_actions(self.graph, name, first_actions(self.graph), everywhere)

    @cached_property
    def n_ties(self) -> int:
        """Number of states with several actions in the set."""
        return int(has_ties(self.graph, np.ones(self.graph.n_actions, np.bool_)).sum())

    @cached_property
    def _uncounted(self) -> tuple[StateGraph, Layer]:
        """The graph without rewards or payoffs before its border, in solving order."""
        graph = self._counting(1.0, None, None)
        return graph, layer_of_graph(graph)

    def _counting(self, sign: float, actions: Reals | None, endings: Reals | None) -> StateGraph:
        """The graph with these amounts, for a single player who maximises them."""
        amounts = (None if x is None else sign * x for x in (actions, endings))
        return summed(self.graph, *amounts)


def _with_only(graph: StateGraph, allowed: Mask) -> tuple[StateGraph, Ints]:
    """The graph from its start with the allowed actions alone, and their old indices."""
    reached = reached_by(graph, Policy("allowed", allowed.astype(np.float64)))
    numbers = np.where(reached, np.cumsum(reached) - 1, -1)
    kept = np.flatnonzero(allowed & reached[graph.action_state])
    return regroup(graph, numbers, kept, numbers[graph.action_state[kept]]), kept


def _require_end(graph: StateGraph) -> None:
    """Refuse a graph of optimal actions in which play may go round for ever.

    Raises
    ------
    UsageError
    """
    if len(endless_states(graph)):
        found = end_components(graph)
        where = describe(graph, found.states, found.stays)
        raise UsageError(
            f"{graph.title}: optimal actions let play go round for ever: {where}. Not every "
            "policy made of them is optimal, so there is no range to tell"
        )


def _equal_in_fractions(solution: Solution, best: Mask) -> Mask:
    """Among actions tied within the error, the best ones by exact fractions."""
    from rollwise.graph.view import sign_of
    from rollwise.methods.exact import action_fractions

    assert solution.run.fractions is not None
    graph, fractions = solution.graph, solution.run.fractions
    sign = int(sign_of(graph.objective))
    exactly = best.copy()
    for s in np.flatnonzero(has_ties(graph, best)).tolist():
        worth = [sign * x for x in action_fractions(graph, fractions, s)]
        exactly[list(graph.view[s].action_range)] = [x == max(worth) for x in worth]
    return exactly


def ranges_against(solution: Solution, rival: Policy) -> tuple[Range, Range]:
    """The values of optimal policies against a policy, which need not be optimal.

    Here an optimal policy takes optimal actions in every state, also after a mistake of the
    other player.

    Parameters
    ----------
    solution : Solution
        Of a game for two.
    rival : Policy

    Returns
    -------
    first, second : Range
        Of the optimal player's value as the first mover, and as the second mover.

    Raises
    ------
    UsageError
        The game isn't for two, or play can go round for ever.
    """
    if solution.profile is not None:
        raise UsageError(
            f"{solution.title}: the range of results against a policy is for two players; "
            "evaluate has the results of a policy for each seat"
        )
    seats = take_seats(solution.graph, [None, rival], [0])
    graph = seats.graph
    is_free = (seats.key < seats.n_before)[graph.action_state]
    # of the free seat only the optimal actions are left, of the rival all that it takes
    kept = np.flatnonzero(~is_free | solution.is_best[seats.action])
    graph = regroup(graph, np.arange(graph.n_states), kept, graph.action_state[kept])
    _require_end(graph)
    ends = []
    # the free seat maximizes its value, then the negated one
    for sign in (-1.0, 1.0):
        wanted = graph.with_arrays(
            action_reward=sign * graph.action_reward, outcome_payoff=sign * graph.outcome_payoff
        )
        result, certificate, _ = solve_and_certify(wanted)
        # state 0 is the start with the optimal player to move, state 1 with the other
        values = [0.0 + sign * float(result.values[0]), 0.0 - sign * float(result.values[1])]
        ends.append((values, float(certificate.bounds[:2].max())))
    (least, off), (most, also_off) = ends
    first, second = (
        Range(name, least[i], most[i], max(off, also_off))
        for i, name in enumerate(("moving first", "moving second"))
    )
    return first, second
