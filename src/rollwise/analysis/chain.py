"""A game that is played by given policies: what can be expected of it, certified.

With policies in both seats each state has one action, so play is a Markov chain. Whatever adds up
along a play is the score of a solitaire game on it, which the solver finds and the certificate
proves: how often something happens, and how likely it is that something never does.

How much of a game is luck and how much is skill is measured with players of several levels. Two
players are drawn from the levels, each as likely as any, and play. The result then differs for
two reasons. By the law of total variance

    Var(result) = Var(mean result of the pair) + mean of Var(result of the pair)

and the players decide the first part: skill. The dice decide the second: luck.
In a game for one, one player is drawn. Every game has the same levels of players, so that games can
be compared: random moves, greedy ones (best if everybody moved at random afterwards), the best rule
of thumb that was found, and best play.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement
from math import fsum, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import solve_and_certify
from rollwise.answer.evaluation import evaluate
from rollwise.answer.references import Policies
from rollwise.derive.seats import take_seats
from rollwise.graph import StateGraph
from rollwise.graph.choices import (
    are_best,
    chances,
    first_best,
    fold_actions,
    fold_outcomes,
    look_ahead,
    outcome_action,
)
from rollwise.graph.policies import Policy
from rollwise.simulate.lengths import Certified

Floats = NDArray[np.float64]
ROUNDING = 2.0**-48  # of a sum over the outcomes of an action, against its largest part


@dataclass(frozen=True, eq=False)
class Chain:
    """Play from the start of a game, one policy in each seat.

    Attributes
    ----------
    source : StateGraph
        The game.
    policies : sequence of Policy
        One that plays alone or itself, or that of the first player and that of the second.
    graph : StateGraph
        One action a state. State 0 is the start.
    number : (n_states,) int
        The state of the source that each state is.
    seat : (n_states,) int
        Who moves there; 0 is the player who moved first in the game.
    """

    source: StateGraph = field(repr=False)
    policies: Sequence[Policy]
    graph: StateGraph = field(repr=False)
    number: NDArray[Any] = field(repr=False)
    seat: NDArray[Any] = field(repr=False)

    @classmethod
    def of(cls, graph: StateGraph, first: Policy, second: Policy | None = None) -> Chain:
        """The chain of a policy against another, or itself; alone in a game for one."""
        policies = [first] if graph.players == 1 else [first, first if second is None else second]
        seats = take_seats(graph, policies, [0])
        n = seats.n_before
        return cls(graph.flat, policies, seats.graph, seats.key % n, seats.key // n)

    @cached_property
    def sign(self) -> Floats:
        """1 where the first player moves and -1 where the second does: (n_states,) float64."""
        return np.where(self.seat == 0, 1.0, -1.0)

    @cached_property
    def chance(self) -> Floats:
        """How likely each outcome is: (n_outcomes,) float64."""
        return chances(self.graph)

    @cached_property
    def payoff(self) -> Floats:
        """What each outcome that ends the game brings the first player: (n_outcomes,) float64."""
        return self.sign[outcome_action(self.graph)] * self.graph.outcome_payoff

    @property
    def is_over(self) -> NDArray[np.bool_]:
        """Which outcomes end the game: (n_outcomes,) bool."""
        return self.graph.outcome_state < 0

    def of_next(self, numbers: NDArray[Any], over: Any = 0.0) -> NDArray[Any]:
        """A number of each state, for the outcomes that lead there: (n_outcomes,).

        Parameters
        ----------
        over : number or (n_outcomes,)
            The number of outcomes that end the game.
        """
        return np.where(self.is_over, over, numbers[self.graph.outcome_state])

    def mean(self, numbers: NDArray[Any]) -> Floats:
        """The mean of a number of the outcomes that can come next: (n_states,) float64."""
        return fold_outcomes(self.graph, np.add, self.chance * numbers)

    def expected(
        self,
        each: Floats | None = None,
        *,
        at_end: Floats | None = None,
        goes_on: NDArray[np.bool_] | None = None,
    ) -> tuple[Floats, Floats]:
        """What adds up from each state on, on average.

        Parameters
        ----------
        each : (n_states,) float64, optional
            What a visit of a state adds.
        at_end : (n_outcomes,) float64, optional
            What an outcome adds that ends play.
        goes_on : (n_outcomes,) bool, optional
            The outcomes that play is followed beyond; all unless given.

        Returns
        -------
        values, bounds : (n_states,) float64

        Raises
        ------
        EndlessPlay
            The policies can go round for ever.
        """
        graph = self.graph
        ends = self.is_over if goes_on is None else self.is_over | ~goes_on
        counted = graph.with_arrays(
            players=1,
            objective="maximize",
            endless="forbidden",
            action_reward=np.zeros(graph.n_states) if each is None else each,
            outcome_state=np.where(ends, -1, graph.outcome_state),
            outcome_passes=np.zeros(graph.n_outcomes, np.bool_),
            outcome_payoff=np.where(ends, 0.0 if at_end is None else at_end, 0.0),
        )
        found, certificate, _ = solve_and_certify(counted)
        return found.values, certificate.bounds

    @cached_property
    def moves(self) -> float:
        """The most states that a play comes through on average, throws included, by who begins."""
        values, bounds = self.expected(np.ones(self.graph.n_states))
        n = self.graph.n_roots
        return float((values[:n] + bounds[:n]).max())

    def totals(
        self, each: Floats, off: float = 0.0, at_end: Floats | None = None
    ) -> list[Certified]:
        """What adds up in a game from the start, on average; one for each seat that may begin.

        Parameters
        ----------
        off : float
            How far what is added each time can be off, besides its rounding.
        """
        values, bounds = self.expected(each, at_end=at_end)
        off += ROUNDING * float(np.abs(each).max())
        extra = self.moves * off if off else 0.0
        return [
            Certified(float(values[s]), float(bounds[s]) + extra) for s in range(self.graph.n_roots)
        ]

    def total(self, each: Floats) -> Certified:
        """What adds up in a game that the first seat begins, on average."""
        return self.totals(each)[0]

    def chance_of_end(
        self, ends: NDArray[np.bool_], goes_on: NDArray[np.bool_] | None = None
    ) -> tuple[Floats, Floats]:
        """How likely play ends with one of some outcomes: (n_states,) values, and bounds."""
        return self.expected(at_end=ends.astype(np.float64), goes_on=goes_on)

    def results(self) -> list[tuple[Certified, Certified]]:
        """Mean and variance of what the first seat gets; one pair for each seat that may begin."""
        reward = self.source.action_reward
        if not reward.any():
            values, bounds = self.expected(at_end=self.payoff)
            squares = [Certified(1.0, 0.0)] * self.graph.n_roots
            if np.any(self.payoff[self.is_over] ** 2 != 1):
                squares = self.totals(np.zeros(self.graph.n_states), at_end=self.payoff**2)
        else:
            each = self.sign * self._mean_reward(reward)
            values, bounds = self.expected(each, at_end=self.payoff)
            bounds = bounds + self.moves * ROUNDING * float(np.abs(each).max())
            squares = self._squares_of_points(values, float(bounds.max()))
        found = []
        for s, square in enumerate(squares):
            mean = Certified(float(values[s]), float(bounds[s]))
            off = square.bound + (2 * abs(mean.value) + mean.bound) * mean.bound
            variance = max(square.value - mean.value**2, 0.0)
            found.append((mean, Certified(variance, off + ROUNDING * (square.value + 1))))
        return found

    def luck(self) -> Certified:
        """The standard deviation of what the first seat gets, if it begins."""
        _, variance = self.results()[0]
        value = sqrt(variance.value)
        low = sqrt(max(variance.value - variance.bound, 0.0))
        high = sqrt(variance.value + variance.bound)
        return Certified(value, max(high - value, value - low) + 2.0**-52 * value)

    def _squares_of_points(self, worth: Floats, off: float) -> list[Certified]:
        """The mean of the square of the result: (r + R)² is r² + 2rR + R² on the way."""
        graph, n = self.source, self.source.n_states
        everywhere = np.zeros((len(self.policies), n))
        everywhere[self.seat, self.number] = worth
        over, chance = graph.outcome_state < 0, chances(graph)
        each = np.zeros(self.graph.n_states)
        for seat, policy in enumerate(self.policies):
            sign = 1.0 if seat == 0 else -1.0
            next_seat = np.where(graph.outcome_passes, 1 - seat, seat)
            to_come = np.where(
                over, sign * graph.outcome_payoff, everywhere[next_seat, graph.outcome_state]
            )
            points = sign * graph.action_reward
            of_action = points**2 + 2 * points * fold_outcomes(graph, np.add, chance * to_come)
            of_state = fold_actions(graph, np.add, policy.probability * of_action)
            mine = self.seat == seat
            each[mine] = of_state[self.number[mine]]
        most = 2 * float(np.abs(graph.action_reward).max())
        return self.totals(each, most * off, self.payoff**2)

    def _mean_reward(self, reward: Floats) -> Floats:
        """What the mover of each state gets there, on average: (n_states,) float64."""
        means = np.zeros(self.graph.n_states)
        for seat, policy in enumerate(self.policies):
            mine = self.seat == seat
            of_state = fold_actions(self.source, np.add, policy.probability * reward)
            means[mine] = of_state[self.number[mine]]
        return means


@dataclass(frozen=True, eq=False)
class Skill:
    """What players of several levels get from each other.

    Attributes
    ----------
    players : tuple of Policy
        The levels, the weakest first.
    means : (n_levels, n_levels) float64
        What who moves first gets: their level is the row, that of the other the column. One column
        in a game for one.
    error_bound : float
        How far these can be off.
    share : Certified
        Of the variance of the result, what who plays decides.
    """

    players: tuple[Policy, ...] = field(repr=False)
    means: Floats = field(repr=False)
    error_bound: float
    share: Certified

    @property
    def levels(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(player.name for player in self.players)

    @property
    def against_best(self) -> list[float]:
        """What each level gets against the best, mean over the seats; alone in a game for one."""
        if self.means.shape[1] == 1:
            return self.means[:, 0].tolist()  # type: ignore[no-any-return]
        return ((self.means[:, -1] - self.means[-1]) / 2).tolist()  # type: ignore[no-any-return]


def greedy(policies: Policies) -> Policy:
    """The best action of each state, if everybody moved at random after it.

    Raises
    ------
    EndlessPlay
        Moving at random may go round for ever.
    """
    graph = policies.graph
    found = evaluate(policies, "random")
    assert found.bounds is not None
    ahead = look_ahead(graph, found.values, found.bounds)
    best = are_best(graph, ahead)
    return Policy.of_actions(graph, "greedy", first_best(graph, best))


def measure_skill(policies: Policies, levels: Sequence[Policy]) -> Skill:
    """The share of skill in a game's result.

    Parameters
    ----------
    policies : Policies
    levels : sequence of Policy
        The weakest first.

    Raises
    ------
    EndlessPlay
        Two of these can go round for ever.
    """
    graph, n = policies.graph, len(levels)
    alone = graph.players == 1
    columns = 1 if alone else n
    means, variances = np.zeros((n, columns)), np.zeros((n, columns))
    off = off_squares = 0.0
    pairs = [(k, k) for k in range(n)] if alone else combinations_with_replacement(range(n), 2)
    for one, two in pairs:
        found = Chain.of(graph, levels[one], levels[two]).results()
        for (first, second), sign, (mean, variance) in zip(
            ((one, two), (two, one)), (1.0, -1.0), found, strict=False
        ):
            place = (first, 0 if alone else second)
            means[place], variances[place] = sign * mean.value, variance.value
            off, off_squares = max(off, mean.bound), max(off_squares, variance.bound)
    share = _share(means.ravel(), variances.ravel(), off, off_squares)
    return Skill(tuple(levels), means, off, share)


def _share(means: Floats, variances: Floats, off: float, off_squares: float) -> Certified:
    """The share of the variance between pairs in all of it."""
    n = len(means)
    middle = fsum(means) / n
    apart = np.abs(means - middle)
    between, within = fsum(apart**2) / n, fsum(variances) / n
    between_off = fsum((2 * apart + 2 * off) * 2 * off) / n + ROUNDING * between
    within_off = off_squares + ROUNDING * within
    total, total_off = between + within, between_off + within_off
    if not total > total_off:
        return Certified(0.0, 1.0)
    low = max(between - between_off, 0.0) / (total + total_off)
    high = min((between + between_off) / (total - total_off), 1.0)
    value = between / total
    return Certified(value, max(high - value, value - low) + 2.0**-50)
