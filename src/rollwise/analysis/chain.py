"""A game between given policies: certified expectations.

With policies in both seats each state has one action, and play is a Markov chain. Any sum along a
play is the score of a solitaire game on it. The solver computes its expectation and the certificate
proves it: expected numbers of events, and probabilities of events. The variance of a result follows
from second moments, by a recursion of the same kind (Sobel, The variance of discounted Markov
decision processes, Journal of Applied Probability 19, 1982).

The shares of luck and skill in a game are measured with players of several levels. The level of the
first player and that of all others are drawn with equal probabilities, and they play. By the law of
total variance

    Var(result) = Var(mean result of the pair) + mean of Var(result of the pair)

The first part depends on the players: skill. The second part depends on the dice: luck.
In a game for one, one level is drawn. All games have the same levels of players, for comparisons:
random moves, greedy ones (best if all moves after it are random), the best found rule of thumb, and
best play.

For a condition on an event during play, such as plays that come to some position, the graph is
doubled. Play moves from the first copy of the states to the second when the event
happens, and this move adds a number of points larger than any difference of totals. So the
distribution of the total tells plays with the event from the others, and a conditional probability
is a quotient of certified sums (`Distribution.given`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.distributions import Distribution, counted_play, distribution, played
from rollwise.answer.certified import Certified, Progress, solve_and_certify
from rollwise.answer.evaluation import look_ahead_by, one_each
from rollwise.answer.filters import rows_where
from rollwise.answer.references import Policies
from rollwise.answer.rows import frame_of
from rollwise.derive.by_score import points_to_come
from rollwise.derive.changed import copied
from rollwise.derive.seats import take_seats
from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import (
    are_best,
    chances,
    first_best,
    fold_actions,
    fold_outcomes,
    summed,
)
from rollwise.graph.policies import Policy, is_drawn, payoffs_at
from rollwise.hooks import InWords
from rollwise.many.seats import parts_of_a_win, seen_from
from rollwise.simulate.match import require_end

Floats = NDArray[np.float64]
ROUNDING = 2.0**-48  # of a sum over the outcomes of an action, against its largest part


@dataclass(frozen=True, eq=False)
class Chain:
    """Play from the start of a game, one policy in each seat.

    Results are payoffs: 1 for a win and -1 for a loss, or in a game of three or more its share of
    the win.

    Attributes
    ----------
    source : StateGraph
        The game.
    policies : sequence of Policy
        One for each seat, in the order of the moves.
    graph : StateGraph
        One action a state. State 0 is the start.
    number : (n_states,) int
        The corresponding state of the source.
    seat : (n_states,) int
        The seat to move; 0 is the first mover of the game.
    progress : callable, optional
        Of the solver.
    """

    source: StateGraph = field(repr=False)
    policies: Sequence[Policy]
    graph: StateGraph = field(repr=False)
    number: NDArray[Any] = field(repr=False)
    seat: NDArray[Any] = field(repr=False)
    progress: Progress | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        graph: StateGraph,
        *policies: Policy,
        start: int = 0,
        progress: Progress | None = None,
    ) -> Chain:
        """The chain of policies, one for each seat in the order of the moves, or one for all."""
        policies = tuple(one_each(graph, policies))
        seats = take_seats(graph, policies, [start])
        n = seats.n_before
        return cls(graph.flat, policies, seats.graph, seats.key % n, seats.key // n, progress)

    @cached_property
    def sign(self) -> Floats:
        """1 where the first player moves and -1 where another does: (n_states,) float64."""
        return np.where(self.seat == 0, 1.0, -1.0)

    @cached_property
    def chance(self) -> Floats:
        """The probability of each outcome: (n_outcomes,) float64."""
        return chances(self.graph)

    @cached_property
    def payoffs(self) -> Floats:
        """The payoffs of outcomes that end the game, of all seats: (n_outcomes, n_seats) float64.

        The seats are in the order of the moves; 0 where the game goes on.
        """
        graph, over = self.graph, np.flatnonzero(self.is_over)
        from_mover = payoffs_at(graph, over)
        action = np.searchsorted(graph.outcome_indptr, over, side="right") - 1
        mover = self.seat[graph.action_state[action]].astype(np.int64)
        after = np.arange(graph.players) - mover[:, None]
        payoffs = np.zeros((graph.n_outcomes, graph.players))
        payoffs[over] = np.take_along_axis(from_mover, after % graph.players, axis=1)
        return payoffs

    @cached_property
    def payoff(self) -> Floats:
        """The first player's payoff of each outcome that ends the game: (n_outcomes,) float64."""
        return np.ascontiguousarray(self.payoffs[:, 0])

    @property
    def is_over(self) -> NDArray[np.bool_]:
        """Whether each outcome ends the game: (n_outcomes,) bool."""
        return self.graph.outcome_state < 0

    def of_next(self, numbers: NDArray[Any], over: Any = 0.0) -> NDArray[Any]:
        """The number of each outcome's next state: (n_outcomes,).

        Parameters
        ----------
        over : number or (n_outcomes,)
            The number for outcomes that end the game.
        """
        return np.where(self.is_over, over, numbers[self.graph.outcome_state])

    def mean(self, numbers: NDArray[Any]) -> Floats:
        """The mean over each state's outcomes of a number of the outcome: (n_states,) float64."""
        return fold_outcomes(self.graph, np.add, self.chance * numbers)

    def expected(
        self,
        each: Floats | None = None,
        *,
        at_end: Floats | None = None,
        goes_on: NDArray[np.bool_] | None = None,
    ) -> tuple[Floats, Floats]:
        """Expected sums along play from each state on.

        Parameters
        ----------
        each : (n_states,) float64, optional
            The amount for a visit of a state.
        at_end : (n_outcomes,) float64, optional
            The amount for an outcome that ends play.
        goes_on : (n_outcomes,) bool, optional
            The outcomes that continue play; all unless given.

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
        counted = summed(
            graph,
            each,
            np.where(ends, 0.0 if at_end is None else at_end, 0.0),
            outcome_state=np.where(ends, -1, graph.outcome_state),
        )
        try:
            result, certificate, _ = solve_and_certify(counted, progress=self.progress)
        except EndlessPlay:
            require_end(counted)  # names the position; the solver takes the chain for a game
            raise
        return result.values, certificate.bounds

    @cached_property
    def moves(self) -> float:
        """Upper bound on the expected states of a play, throws included, over the first movers."""
        values, bounds = self.expected(np.ones(self.graph.n_states))
        n = self.graph.n_roots
        return float((values[:n] + bounds[:n]).max())

    def total(self, each: Floats) -> Certified:
        """The expected sum over a game begun by the first seat."""
        values, bounds = self.expected(each)
        off = ROUNDING * float(np.abs(each).max())
        return Certified(float(values[0]), float(bounds[0]) + (self.moves * off if off else 0.0))

    def chance_of_end(
        self, ends: NDArray[np.bool_], goes_on: NDArray[np.bool_] | None = None
    ) -> tuple[Floats, Floats]:
        """The probability of an end with one of some outcomes: (n_states,) values, and bounds."""
        return self.expected(at_end=ends.astype(np.float64), goes_on=goes_on)

    def draws(self) -> Certified:
        """The probability of a draw of a game begun by the first seat: a shared win is one."""
        values, bounds = self.chance_of_end(is_drawn(self.graph))
        return Certified(float(values[0]), float(bounds[0]))

    def results(self) -> list[tuple[Certified, Certified]]:
        """Mean and variance of the first seat's result; one pair for each seat that may begin."""
        if not self.source.action_reward.any():
            values, bounds = self.expected(at_end=self.payoff)
            # a result of 1 or -1 has the square 1
            squares, off = np.ones(len(values)), np.zeros(len(values))
            if np.any(self.payoff[self.is_over] ** 2 != 1):
                squares, off = self.expected(at_end=self.payoff**2)
        else:
            require_end(self.graph)
            found, certificate, _ = solve_and_certify(self.graph, progress=self.progress)
            values, bounds = self.sign * found.values, certificate.bounds
            squares, off = self._squares_of_points(values, bounds)
        # the square of a mean m off by b is off by 2 abs(m) b + b² at most
        off = off + (2 * np.abs(values) + bounds) * bounds + ROUNDING * (squares + 1)
        variances = np.maximum(squares - values**2, 0.0)
        pairs = zip(values.tolist(), bounds.tolist(), variances.tolist(), off.tolist(), strict=True)
        return [
            (Certified(mean, bound), Certified(variance, sure))
            for mean, bound, variance, sure in islice(pairs, self.graph.n_roots)
        ]

    def luck(self) -> Certified:
        """The standard deviation of the first seat's result, if it begins."""
        return self.results()[0][1].root

    def _squares_of_points(self, worth: Floats, bounds: Floats) -> tuple[Floats, Floats]:
        """The mean of the square of the result, with bounds: (r + R)² is r² + 2rR + R² on the way.

        The mean of R is off by its bound, in every step of the play.
        """
        graph, n = self.source, self.source.n_states
        everywhere = np.zeros((2, len(self.policies), n))
        everywhere[:, self.seat, self.number] = worth, bounds
        over, chance = graph.outcome_state < 0, chances(graph)
        terms = np.diff(graph.outcome_indptr).max() + np.diff(graph.action_indptr).max()
        each, off = np.zeros((2, self.graph.n_states))
        # the sign makes r and R points of the first player, whoever moves
        for seat, policy in enumerate(self.policies):
            sign = 1.0 if seat == 0 else -1.0
            next_seat = np.where(graph.outcome_passes, 1 - seat, seat)
            to_come, unsure = everywhere[:, next_seat, graph.outcome_state]
            to_come = np.where(over, sign * graph.outcome_payoff, to_come)
            ahead = fold_outcomes(graph, np.add, chance * to_come)
            sure = fold_outcomes(graph, np.maximum, np.where(over, 0.0, unsure))
            points = sign * graph.action_reward
            sure = sure + 2.0**-52 * (8 + int(terms)) * (np.abs(ahead) + np.abs(points))
            mine = self.seat == seat
            of_actions = (each, points**2 + 2 * points * ahead), (off, 2 * np.abs(points) * sure)
            for of_chain, amounts in of_actions:
                of_state = fold_actions(graph, np.add, policy.probability * amounts)
                of_chain[mine] = of_state[self.number[mine]]
        values, sure = self.expected(each, at_end=self.payoff**2)
        return values, sure + self.added_up(off, worth + bounds)

    def added_up(self, off: Floats, most: Floats) -> Floats:
        """Upper bounds on the sum of errors on the way, on average over plays: (n_states,) float64.

        Parameters
        ----------
        off : (n_states,) float64
            The error of each move.
        most : (n_states,) float64
            Upper bounds on the mean of the points.
        """
        reward = self.graph.action_reward
        # Each point comes with an error, at most `worst` for a point, if points are never lost and
        # nothing else brings errors.
        is_lost = len(self.policies) > 1 or np.any(reward < 0.0)
        if not (is_lost or self.payoff.any() or np.any(off[reward == 0.0])):
            worst = float(np.max(off[reward > 0.0] / reward[reward > 0.0], initial=0.0))
            return np.asarray(worst * most * (1.0 + 2.0**-49))
        # Otherwise errors add up like points.
        return np.asarray(np.sum(self.expected(off), axis=0))


@dataclass(frozen=True, eq=False, repr=False)
class Skill(InWords):
    """Results of players of several levels against each other.

    Attributes
    ----------
    players : tuple of Policy
        The levels, the weakest first.
    means : (n_levels, n_levels) float64
        The first player's mean result: rows are his level, columns that of all others. One column
        in a game for one.
    against_best : list of float
        The mean result of each level, over the seats, where all others have the best one; or alone.
    error_bound : float
        Of these.
    share : Certified
        The players' share of the variance of the result.
    """

    players: tuple[Policy, ...] = field(repr=False)
    means: Floats = field(repr=False)
    against_best: list[float]
    error_bound: float
    share: Certified

    @property
    def levels(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(player.name for player in self.players)


def greedy(policies: Policies) -> Policy:
    """The best action of each state, if all moves after it are random.

    Raises
    ------
    EndlessPlay
        Random moves can go round for ever.
    """
    graph = policies.graph
    best = are_best(graph, look_ahead_by(policies, policies.find("random")))
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
        Some of these can go round for ever.
    """
    graph, n = policies.graph, len(levels)
    others = graph.players - 1
    means, variances = np.zeros((2, n, n if others else 1))
    off = off_squares = 0.0
    against_best = list[float]()
    for mine, theirs in np.ndindex(means.shape):
        # state k begins with the player k places before the others' turn is over
        results = Chain.of(graph, levels[mine], *[levels[theirs]] * others).results()
        mean, variance = results[0]
        means[mine, theirs], variances[mine, theirs] = mean.value, variance.value
        off = max(off, *(one.bound for one, _ in results))
        off_squares = max(off_squares, variance.bound)
        if theirs == means.shape[1] - 1:
            against_best.append(fsum(one.value for one, _ in results) / len(results))
    share = _share(means.ravel(), variances.ravel(), off, off_squares)
    return Skill(tuple(levels), means, against_best, off, share)


def _share(means: Floats, variances: Floats, off: float, off_squares: float) -> Certified:
    """The share of the variance between pairs in the total variance."""
    n = len(means)
    middle = fsum(means) / n
    apart = np.abs(means - middle)
    between, within = fsum(apart**2) / n, fsum(variances) / n
    # a deviation from the mean is off by 2 off, and its square by (2 apart + 2 off) 2 off
    between_off = fsum((2 * apart + 2 * off) * 2 * off) / n + ROUNDING * between
    within_off = off_squares + ROUNDING * within
    total, total_off = between + within, between_off + within_off
    if not total > total_off:
        return Certified(0.0, 1.0)
    low = max(between - between_off, 0.0) / (total + total_off)
    high = min((between + between_off) / (total - total_off), 1.0)
    value = between / total
    return Certified(value, max(high - value, value - low) + 2.0**-50)


SEAT = "seat"  # the column of the player to move, in conditions on games of several


class Followed(NamedTuple):
    """A game of one player that policies play, with the player to move in each state.

    Attributes
    ----------
    graph : StateGraph
    policy : Policy
    rows : (n_states, n_columns) int
        The fields of each state, with its throw, and in a game of several with the seat, from 1.
    columns : tuple of str
    parts : int
        Scores are results times this number: so shares of a win become whole numbers.
    """

    graph: StateGraph
    policy: Policy
    rows: NDArray[np.int64]
    columns: tuple[str, ...]
    parts: int = 1

    def distribution(self, *, state: int = 0, count: str | None = None) -> Distribution:
        """The distribution of the result from a state, or of the uses of an action."""
        return self.of_results(distribution(self.graph, self.policy, state=state, count=count))

    def of_results(self, scores: Distribution) -> Distribution:
        """The distribution of results by that of scores, without results of probability 0."""
        found = scores.trimmed()
        return found if self.parts == 1 else replace(found, values=found.values / self.parts)


def seats_with_results(graph: StateGraph) -> range:
    """The seats whose results don't follow from another's: of two players the first alone."""
    return range(graph.players if graph.players > 2 else 1)


def followed(
    graph: StateGraph, policies: Sequence[Policy], seat: int = 0, *, settles: bool = True
) -> Followed:
    """A game played by policies, as a game of one player.

    Parameters
    ----------
    policies : sequence of Policy
        One for each seat.
    seat : int
        The seat whose result is the score, from `seats_with_results`.
    settles : bool
        Whether endless play of two ends at once, with the result that the rules give it; that of
        one does so in `distribution`.

    Raises
    ------
    UsageError
        The result isn't one at the end alone.
    """
    if graph.players == 1:
        return Followed(graph, policies[0], graph.rows.astype(np.int64), graph.columns)
    if graph.action_reward.any():
        raise UsageError(
            f"{graph.title}: the distribution for several players is of results at the end, and "
            "these rules have rewards before it; write the difference of the points as payoff(x) "
            "there"
        )
    parts = 1
    if graph.players == 2:
        chain = Chain.of(graph, *policies)
        if settles:
            ended, _ = played(chain.graph, Policy("", np.ones(chain.graph.n_actions)))
            chain = replace(chain, graph=ended)
        # what remains of endless play has no worth: it would depend on who stays
        alone = summed(chain.graph, endings=chain.payoff, objective=graph.objective)
        number, mover = chain.number, chain.seat
    else:
        parts = parts_of_a_win(graph)
        alone = seen_from(graph, seat, [policy.probability for policy in policies])
        alone = alone.with_arrays(outcome_payoff=np.rint(parts * alone.outcome_payoff))
        mover, number = np.divmod(np.arange(alone.n_states), graph.n_states)
    rows = np.column_stack([graph.rows[number], mover + 1])
    name = " and ".join(dict.fromkeys(policy.name for policy in policies))
    policy = Policy(name, np.ones(alone.n_actions))
    return Followed(alone, policy, rows, (*graph.columns, SEAT), parts)


def distribution_given(
    play: Followed, event: str, *, state: int = 0, count: str | None = None
) -> tuple[Distribution, float]:
    """The distribution of the total among plays that come to some position, and their share.

    Parameters
    ----------
    play : Followed
        Not settled: an event may happen in endless play.
    event : str
        A condition on the columns, as in `rollwise.Solution.table`: ``turn >= 20``.
    state, count
        As in `rollwise.analysis.distributions.distribution`.

    Raises
    ------
    ExpressionError
    UsageError
        As `distribution`, or no play comes to such a position.
    """
    columns = dict(zip(play.columns, play.rows.T, strict=True))
    frame = frame_of(columns, len(play.rows), play.graph.vocabulary)
    happens = rows_where(frame, event)
    graph, policy, points = counted_play(play.graph, play.policy, count, start=state, settles=False)
    low, high = points_to_come(graph, points)
    # larger than the difference of any two totals
    lift = int(high[state] - low[state]) + 1
    # the second copy is for play after the event
    leads = [happens[graph.outcome_state].astype(np.int64), np.ones(graph.n_outcomes, np.int64)]
    doubled, n = copied(graph.flat, leads), graph.n_states
    enters = doubled.outcome_state[: len(points)] >= n
    # the move from the first copy to the second adds `lift`
    both = np.concatenate([points + lift * enters, points])
    twice = Policy(policy.name, np.tile(policy.probability, 2))
    begun = bool(happens[state])
    found = distribution(doubled, twice, state=state + n * begun, points=both)
    found = found.trimmed()
    least = int(low[state]) + lift * (not begun)
    among, share = found.given(lambda total: total >= least)
    return play.of_results(among.shifted(-lift * (not begun))), share
