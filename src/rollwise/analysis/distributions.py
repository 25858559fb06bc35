"""The distribution of the total of a play, under any policy, from every state.

The counted amount is a whole number for each outcome: its points, or 1 for an action of a given
name. The distribution of the remaining total obeys the recursion of an expected value, with a row
of probabilities in the place of a number, shifted by the amount of the action (Sobel 1982, "The
variance of discounted Markov decision processes", for the undiscounted total).

Play by a policy comes with certainty to its end, or to states in which it goes round for ever.
Where the rules say what this is worth, it is a result like the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import solve_and_certify
from rollwise.answer.references import AnyPolicy, Policies, Subject
from rollwise.derive.by_score import (
    Ints,
    ended,
    on_outcomes,
    points_of,
    points_to_come,
    require_bounded,
    require_points,
)
from rollwise.derive.seats import take_seats
from rollwise.errors import EndlessPlay, ForMorePlayers, UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import actions_of, outcomes_of, summed
from rollwise.graph.endings import (
    WORTH,
    describe,
    end_components,
    regroup,
    staying_for_worth,
    ways_out,
)
from rollwise.graph.lotteries import pointers
from rollwise.graph.policies import Policy, reached_by
from rollwise.graph.view import Action
from rollwise.hooks import InWords
from rollwise.kernels import by_score as kernels
from rollwise.machine.memory_limits import memory_of_machine
from rollwise.proofs.endless_play import endless_states, require_ending

MOST_SWEEPS = 100_000
MOST_PLACES = 400_000_000
LONG = 20_000_000  # entries of all rows; above it only possible numbers are stored


def most_places() -> int:
    """The largest number of probabilities: three such arrays take half of the memory."""
    memory = memory_of_machine()
    return min(MOST_PLACES, memory // 2 // 24) if memory else MOST_PLACES


@dataclass(frozen=True, eq=False, repr=False)
class Distribution(InWords):
    """The probability of each number.

    Attributes
    ----------
    values : (n,) int64
        Ascending; float64 where seats can share a win.
    probabilities : (n,) float64
    error_bound : float
        Proved error bound of each probability.
    """

    values: NDArray[Any] = field(repr=False)
    probabilities: NDArray[np.float64] = field(repr=False)
    error_bound: float

    @property
    def mean(self) -> float:
        """The expected value."""
        return float(self.values @ self.probabilities)

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return float(np.sqrt(((self.values - self.mean) ** 2) @ self.probabilities))

    def at_most(self, value: float) -> float:
        """The probability of `value` or less."""
        return float(self.probabilities[self.values <= value].sum())

    @property
    def mean_bound(self) -> float:
        """Proved error bound of `mean`."""
        sizes = np.abs(self.values)
        return float(sizes.sum() * self.error_bound + self._rounding(sizes))

    @property
    def sd_bound(self) -> float:
        """Proved error bound of `sd`.

        With a mean m' off by e, the sum of (x - m')² p is the variance plus e².
        """
        squares = (self.values - self.mean) ** 2
        off = squares.sum() * self.error_bound + self.mean_bound**2 + self._rounding(squares)
        return float(min(np.sqrt(off), off / self.sd if self.sd else np.inf)) * (1 + 2.0**-40)

    def _rounding(self, factors: NDArray[Any]) -> float:
        """The rounding error of a sum of probabilities times factors, in doubles."""
        units = 2 * (len(self.values) + 5) * 2.0**-53
        return float(units * (np.abs(factors) @ self.probabilities))

    def quantile(self, share: float) -> Any:
        """The least number with a cumulative probability of at least `share`.

        Parameters
        ----------
        share : float
            From 0 to 1; one half asks for the median.
        """
        if not 0 <= share <= 1:
            raise UsageError(f"a quantile is from 0 to 1, not {share}")
        # A sum equal to the share up to rounding counts as reaching it.
        reached = np.cumsum(self.probabilities) >= share - 1e-12
        return self.values[np.argmax(reached) if reached.any() else -1].item()

    def shifted(self, by: int) -> Distribution:
        """The distribution of the number plus a constant."""
        return Distribution(self.values + by, self.probabilities, self.error_bound)

    def given(self, condition: Callable[[Ints], NDArray[np.bool_]]) -> tuple[Distribution, float]:
        """The distribution among the numbers that meet a condition, and their probability.

        With a sum t of n probabilities off by e each, a quotient p / t is off by at most
        (e + n e p / t) / (t - n e), and by the rounding of the sum and the quotient.

        Raises
        ------
        UsageError
            The condition isn't proved to be possible.
        """
        part = condition(self.values)
        chances, off = self.probabilities[part], self.error_bound
        total, n = float(chances.sum()), int(part.sum())
        if total <= 2 * n * off:
            raise UsageError("no play meets the condition, so nothing follows from it")
        share = chances / total
        bound = off * (1 + n * float(share.max())) / (total - n * off) + (n + 4) * 2.0**-53
        return Distribution(self.values[part], share, bound * (1 + 2.0**-40)), total

    def trimmed(self) -> Distribution:
        """Without numbers of probability 0."""
        likely = self.probabilities > 0
        return Distribution(self.values[likely], self.probabilities[likely], self.error_bound)


@dataclass(frozen=True, eq=False, repr=False)
class Distributions(InWords):
    """The distribution of the remaining total, from every state.

    Attributes
    ----------
    low, place : (n_states,) and (n_states + 1,) int64
        The least number in each state, and the offset of its row of probabilities.
    probability : (place[-1],) float64
    relative_error : (n_states,) float64
        Rounding: relative error bound of each probability of a state.
    absolute_error : (n_states,) float64
        Additional absolute error bound (0 where few states lead to each other).
    """

    low: Ints = field(repr=False)
    place: Ints = field(repr=False)
    probability: NDArray[np.float64] = field(repr=False)
    relative_error: NDArray[np.float64] = field(repr=False)
    absolute_error: NDArray[np.float64] = field(repr=False)

    def of(self, state: int) -> Distribution:
        """The distribution from a state, given by its number."""
        row = self.probability[self.place[state] : self.place[state + 1]].copy()
        values = np.arange(len(row), dtype=np.int64) + self.low[state]
        bound = float(self.relative_error[state] * row.max() + self.absolute_error[state])
        return Distribution(values, row, bound)


def counted_actions(graph: StateGraph, name: str) -> Ints:
    """1 for every outcome of an action of this name or number, else 0: (n_outcomes,) int64.

    Raises
    ------
    UsageError
        No action has this name.
    """
    is_counted = np.isin(graph.action_label, graph.vocabulary.require(name))
    return on_outcomes(graph, is_counted.astype(np.int64))


def counted_points(graph: StateGraph, count: str | None, points: Ints | None) -> Ints:
    """The counted amounts: `points` if given, 1 for a counted action, else the graph's points.

    Raises
    ------
    UsageError
        `points` isn't a whole number for each outcome.
    """
    if points is not None:
        given = np.asarray(points)
        if given.shape != (graph.n_outcomes,) or given.dtype.kind not in "iu":
            raise UsageError(
                f"{graph.title}: points has the shape {given.shape} of {given.dtype}; a whole "
                f"number for each of the {graph.n_outcomes:,} outcomes is needed"
            )
        return given.astype(np.int64)
    if count is None:
        return points_of(graph)
    require_points(graph)
    return counted_actions(graph, count)


def played(
    graph: StateGraph, policy: Policy, start: int | None = None, *, settles: bool = True
) -> tuple[StateGraph, Policy]:
    """The graph without actions unused by the policy, where these could go on for ever.

    States keep their numbers. With a start, states unreachable from it end the play.

    Parameters
    ----------
    settles : bool
        Whether play that goes round for ever ends at once, with the worth that the rules give it.
    """
    if not len(endless_states(graph)):
        return graph, policy
    taken = policy.probability > 0
    numbers = np.arange(graph.n_states)
    reached = np.ones(graph.n_states, np.bool_)
    if start is not None:
        reached = reached_by(graph, policy, start)
    ends = ~reached
    if settles:
        ends |= staying_for_worth(graph, taken)
    taken &= ~ends[graph.action_state]
    left = np.flatnonzero(ends)
    # -1 stands for an end of play in states that the policy never reaches, or never leaves
    actions = np.append(np.flatnonzero(taken), np.full(len(left), -1))
    owner = np.append(graph.action_state[taken], left)
    order = np.argsort(owner, kind="stable")
    actions, owner = actions[order], owner[order]
    chance = np.where(actions < 0, 1.0, policy.probability[actions])
    worth = WORTH.get(graph.endless, 0.0)
    return regroup(graph, numbers, actions, owner, worth), Policy(policy.name, chance)


def require_ending_by(graph: StateGraph, policy: Policy) -> None:
    """Require that play by a policy ends with certainty, in a graph of its actions alone.

    Raises
    ------
    EndlessPlay
        Names the policy, and states and actions by which play can continue forever.
    """
    taken = policy.probability > 0
    endless = ways_out(graph, taken) < 0
    if not endless.any():
        return
    found = end_components(graph, taken & endless[graph.action_state])
    places = describe(graph, found.states, found.stays)
    raise EndlessPlay(
        f"{graph.game}: by {policy.name} play can go round for ever: {places}. This needs a policy "
        "by which every play ends: take another one (--policy), or take the action away there"
    )


def counted_play(
    graph: StateGraph,
    policy: Policy,
    count: str | None,
    points: Ints | None = None,
    start: int | None = None,
    *,
    settles: bool = True,
) -> tuple[StateGraph, Policy, Ints]:
    """A graph in which the play of a policy ends, the policy there, and the counted numbers.

    Parameters
    ----------
    count : str, optional
        Count this action instead of the points.
    points : (n_outcomes,) int64, optional
        Count these numbers, in a graph where play ends.
    start : int, optional
        The only state where play begins.
    settles : bool
        Whether endless play has the result that the rules give it. Uses of an action in it have no
        number.

    Raises
    ------
    UsageError, RulesError, EndlessPlay
        The game has no score or no such action; the number of a play has no bound.
    """
    if points is None:
        require_points(graph)
        graph, policy = played(graph, policy, start, settles=settles and count is None)
        require_ending_by(graph, policy)
    else:
        require_ending(graph)
    counted = counted_points(graph, count, points)
    require_bounded(graph, counted, f"times of {count!r}" if count else "points")
    return graph, policy, counted


def _policies_of(game: Subject) -> Policies:
    """The policies of a game for one player or two.

    Raises
    ------
    ForMorePlayers
    """
    policies = Policies.of(game, any_players=True)
    if (players := policies.graph.players) > 2:
        raise ForMorePlayers(
            f"{policies.graph.title} is a game for {players}: this is for one player; "
            "`rollwise distribution` has results of each seat",
            policies.game,
        )
    return policies


def distributions(
    game: Subject,
    policy: AnyPolicy = "optimal",
    *,
    count: str | None = None,
    points: Ints | None = None,
) -> Distributions:
    """The distribution of the total of a play from each state.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        For one player.
    policy : str, callable or Policy
        As in `rollwise.evaluate`.
    count : str, optional
        Count the uses of the action of this name, instead of points.
    points : (n_outcomes,) int64, optional
        Count these amounts, instead of the graph's points.

    Raises
    ------
    UsageError, RulesError
        The game has no points, or they aren't whole, or have no bound.
    """
    policies = _policies_of(game)
    graph, plan, points = counted_play(policies.graph, policies.find(policy), count, points)
    low, high = points_to_come(graph, points)
    first = pointers(high - low + 1)
    if first[-1] > most_places():
        raise UsageError(
            f"{graph.title}: the distributions from all states hold {first[-1]:,} probabilities, "
            f"and there is room for {most_places():,}; that from one state may need far fewer"
        )
    components = graph.components
    frame = (
        components.order,
        components.indptr,
        graph.action_indptr,
        graph.outcome_indptr,
        ended(graph),
    )
    moves = graph.outcome_weight, points, plan.probability
    return _solved(frame, moves, low, high, lambda: _most_steps(graph, plan))


def _solved(
    frame: tuple[Any, ...],
    moves: tuple[Any, ...],
    low: Ints,
    high: Ints,
    most_steps: Callable[[], Any],
) -> Distributions:
    """The rows of some states, from the least to the largest number of each.

    Parameters
    ----------
    frame : tuple of arrays
        As `rollwise.kernels.by_score.points_to_come` takes them.
    moves : (n_outcomes,), (n_outcomes,) int64 and (n_actions,) float64
        The weights and the points of the outcomes, and the policy.
    low, high : (n,) int64
    most_steps : callable
        Bounds of the expected number of remaining actions: (n,) float64, or one for all states.
    """
    width = high - low + 1
    place = pointers(width)
    probability, rounding = np.zeros(int(place[-1])), np.zeros(len(low))
    swept = np.diff(frame[1]).max() > kernels.MOST_REDUCED
    distribute: Callable[..., float] = kernels.distribute_slowly if swept else kernels.distribute
    arrays = (low, width, place[:-1], probability, rounding)
    last = distribute(*frame, *moves, *arrays, MOST_SWEEPS)
    # the remainder of the sweeps at each step, times the expected number of steps
    absolute = np.zeros(len(low))
    if last > 0.0:
        absolute += 1.01 * last * most_steps()
    return Distributions(low, place, probability, rounding * kernels.UNIT * 1.01, absolute)


def _most_steps(
    graph: StateGraph, policy: Policy, starts: list[int] | None = None
) -> NDArray[np.float64]:
    """Upper bounds of the expected number of remaining actions: (n_states,) float64."""
    each = np.ones(graph.n_actions)
    counted = summed(graph, each, n_border=0, outcome_state=ended(graph))
    followed = take_seats(counted, [policy], starts)
    found, certificate, _ = solve_and_certify(followed.graph)
    return followed.spread(found.values + certificate.bounds)[0]


def exact_distribution(
    graph: StateGraph, policy: Policy, *, count: str | None = None, state: int = 0
) -> dict[int, Fraction]:
    """The distribution from one state as fractions.

    Raises
    ------
    UsageError
        A play can come back to a state, the rules have weights that aren't whole, or the policy
        has an action probability that is no simple fraction.
    """
    graph, policy = played(graph, policy, state, settles=count is None)
    points = counted_points(graph, count, None)
    if graph.outcome_weight.dtype.kind != "i":
        raise UsageError(f"{graph.title} has weights that aren't whole numbers: no exact fractions")
    rows: dict[int, dict[int, Fraction]] = {}
    # successors first: the row of a state is that of its successors, shifted and weighted
    for s in graph.components.order.tolist():
        row: dict[int, Fraction] = {}
        for action in graph.view[s].actions:
            taken = _fraction(action, policy)
            if taken == 0:
                continue
            for outcome, chance in zip(action.outcomes, action.exact_chances, strict=True):
                t = outcome.target
                if t >= 0 and t not in rows:
                    raise UsageError(
                        f"{graph.title}: play can come back to the state {graph.state_text(s)}; "
                        "exact fractions are for games where it can't"
                    )
                after = rows[t] if t >= 0 else {0: Fraction(1)}
                for value, probability in after.items():
                    key = value + int(points[outcome])
                    row[key] = row.get(key, Fraction(0)) + taken * chance * probability
        rows[s] = row
    return dict(sorted(rows[state].items()))


def _fraction(action: Action, policy: Policy) -> Fraction:
    """A policy's probability as a simple fraction: 1/3 and not the double next to it.

    Raises
    ------
    UsageError
        It is no simple fraction.
    """
    chance = float(policy.probability[action.index])
    simple = Fraction(chance).limit_denominator(1 << 20)
    if float(simple) != chance:
        raise UsageError(
            f"{action.graph.title}: {policy.name} takes {action.name} in the state {action.state} "
            f"with the chance {chance!r}, which is no fraction of whole numbers up to {1 << 20:,}; "
            "leave out --exact (exact=True)"
        )
    return simple


def distribution(
    game: Subject,
    policy: AnyPolicy = "optimal",
    *,
    state: int = 0,
    count: str | None = None,
    points: Ints | None = None,
) -> Distribution:
    """The distribution of the total of a play from one state.

    Parameters
    ----------
    game, policy, count, points
        As in `rollwise.analysis.distributions.distributions`.
    state : int
        The first state of play.

    Raises
    ------
    UsageError, RulesError
        The game has no points, or they aren't whole, or have no bound; or there isn't room for
        the probabilities needed at a time; or there is no such state.
    """
    policies = _policies_of(game)
    if state not in range(policies.graph.n_states):
        raise UsageError(
            f"state is {state!r}; the states of {policies.graph.title} are numbered from 0 to "
            f"{policies.graph.n_states - 1:,} (solution.find gives the number of a state)"
        )
    state = int(state)
    graph, plan, counted = counted_play(policies.graph, policies.find(policy), count, points, state)
    play = _Play.of(graph, plan, counted, state)
    n = len(play.states)
    low, high = np.empty(n, np.int64), np.empty(n, np.int64)
    kernels.points_to_come(*play.frame, play.points, low, high)
    total = int((high - low + 1).sum())
    if total > LONG and play.is_acyclic:
        return _of_few_numbers(graph, play)
    _require_room(graph, total)
    moves = play.weight, play.points, play.chance
    rows = _solved(play.frame, moves, low, high, lambda: _most_steps(graph, plan, [state])[state])
    return rows.of(play.start)


@dataclass(frozen=True, eq=False)
class _Play:
    """The states reached by play, in solving order, and the policy's actions there.

    Attributes
    ----------
    states : (n,) int64
        Their numbers in the graph; here their number is the index.
    indptr : (n_components + 1,) int64
        The first index of each component.
    start : int
    """

    states: Ints
    indptr: Ints
    start: int
    action_indptr: Ints
    outcome_indptr: Ints
    outcome_state: NDArray[np.int32]
    weight: NDArray[Any]
    points: Ints
    chance: NDArray[np.float64]

    @property
    def frame(self) -> tuple[Ints, Ints, Ints, Ints, NDArray[np.int32]]:
        """The arrays for the kernels."""
        order = np.arange(len(self.states))
        return order, self.indptr, self.action_indptr, self.outcome_indptr, self.outcome_state

    @classmethod
    def of(cls, graph: StateGraph, policy: Policy, points: Ints, start: int) -> _Play:
        # the states that play reaches, numbered anew in solving order
        reached = reached_by(graph, policy, start)
        components = graph.components
        inside = reached[components.order]
        states = components.order[inside].astype(np.int64)
        # components without a reached state drop out, the others keep their order
        sizes = np.add.reduceat(inside.astype(np.int64), components.indptr[:-1])
        number = np.full(graph.n_states, -1, np.int64)
        number[states] = np.arange(len(states))
        actions, _ = actions_of(graph, states)
        actions = actions[policy.probability[actions] > 0]
        outcomes, sizes_of_actions = outcomes_of(graph, actions)
        after = ended(graph)[outcomes]
        counts = np.bincount(number[graph.action_state[actions]], minlength=len(states))
        return cls(
            states,
            pointers(sizes[sizes > 0]),
            int(number[start]),
            pointers(counts),
            pointers(sizes_of_actions),
            np.where(after >= 0, number[after], -1).astype(np.int32),
            graph.outcome_weight[outcomes],
            points[outcomes],
            policy.probability[actions],
        )

    @property
    def is_acyclic(self) -> bool:
        """Whether play comes back to no state."""
        source = np.repeat(np.arange(len(self.states)), self._sizes)
        return len(self.indptr) == len(self.states) + 1 and not (self.outcome_state == source).any()

    @property
    def _sizes(self) -> Ints:
        """The number of outcomes of each state: (n,) int64."""
        return np.asarray(np.diff(self.outcome_indptr[self.action_indptr]))

    @property
    def last_use(self) -> Ints:
        """The last index that reads each state: (n,) int64."""
        n = len(self.states)
        source = np.repeat(np.arange(n), self._sizes)
        inside = self.outcome_state >= 0
        last = np.zeros(n, np.int64)
        np.maximum.at(last, self.outcome_state[inside], source[inside])
        # the row of the start is the answer, and never dropped
        last[self.start] = n
        return last


def _require_room(graph: StateGraph, total: int) -> None:
    """Raise unless so many probabilities fit."""
    most = most_places()
    if total > most:
        raise UsageError(
            f"{graph.title}: the distribution needs {total:,} probabilities at a time, and there "
            f"is room for {most:,}; count the points in larger units, or take smaller parameters"
        )


def _of_few_numbers(graph: StateGraph, play: _Play) -> Distribution:
    """The distribution at the start, of the possible numbers, for plays without cycles.

    Each state has its numbers, ascending, and their probabilities. Its rounding is counted as in
    `rollwise.kernels.by_score.distribute`.
    """
    last_use = play.last_use
    dropped_at = np.argsort(last_use, kind="stable")
    rows: dict[int, tuple[Ints, NDArray[np.float64]]] = {-1: (np.zeros(1, np.int64), np.ones(1))}
    rounding = np.zeros(len(play.states) + 1)  # the last entry is for the end
    held = gone = 0
    # in solving order, so that all rows read here are known
    for s in range(play.start + 1):
        values, chances = [], []
        for a in range(int(play.action_indptr[s]), int(play.action_indptr[s + 1])):
            part = slice(int(play.outcome_indptr[a]), int(play.outcome_indptr[a + 1]))
            weights = play.weight[part]
            shares = play.chance[a] * (weights / weights.sum())
            points = iter(play.points[part].tolist())
            for t, share in zip(play.outcome_state[part].tolist(), shares.tolist(), strict=True):
                values.append(rows[t][0] + next(points))
                chances.append(rows[t][1] * share)
                rounding[s] = max(rounding[s], rounding[t])
        rounding[s] += 2.0 * len(values) + 6.0
        different, index = np.unique(np.concatenate(values), return_inverse=True)
        rows[s] = different, np.asarray(np.bincount(index, np.concatenate(chances)), np.float64)
        held += len(different)
        _require_room(graph, 2 * held)
        # rows are dropped after their last reader
        while last_use[dropped_at[gone]] <= s:  # the start is read after all others
            held -= len(rows.pop(int(dropped_at[gone]), ((),))[0])
            gone += 1
    different, row = rows[play.start]
    relative = float(rounding[play.start]) * kernels.UNIT * 1.01
    return Distribution(different, row, relative * float(row.max()))
