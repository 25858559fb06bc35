"""The value of a policy: against itself, against another, against the best response.

A policy's values obey the game's recursion without the max (Bellman's expectation
equation; Sutton and Barto 2020, section 4.1). The exact method solves and certifies its
graph (see `rollwise.derive.seats`) like any other. The iterative method of the textbooks
sweeps over all states until none changes by more than theta, which is a stopping
threshold and no bound.

With a given policy in one seat, the optimal policy of the other seat is a best response. The
exploitability of the policy is the mean result of the response over the two seats, with +1 for
a win and -1 for a loss (half the NashConv of Lanctot et al. 2017).

With `starts`, only the positions reachable from there by the two policies are solved. These
may be far fewer than those of the game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple, Self, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.average import average_of_policy, with_home_of
from rollwise.answer.certified import Certified, solve_and_certify
from rollwise.answer.references import AnyPolicy, Policies, Subject, are_policies
from rollwise.derive.average import Average
from rollwise.derive.seats import Seats, take_seats
from rollwise.errors import EndlessPlay, ForMorePlayers, UsageError
from rollwise.graph import StateGraph, unit_of, win_probability
from rollwise.graph.choices import Ahead, look_ahead, taken
from rollwise.graph.policies import Policy, Ties, ties_in_play
from rollwise.hooks import InWords
from rollwise.many.seats import Stakes, against_all, reached_from, seat_columns
from rollwise.methods import Setting
from rollwise.methods.result import MethodResult, Status
from rollwise.methods.value_iteration import value_iteration
from rollwise.numbers.printed import CHANCE_ROUNDING
from rollwise.proofs.endless_play import settled

ADVERSARIES = "adversaries"  # all others minimise a seat's chance to win
ALLIES = "allies"  # all others maximise it


@dataclass(frozen=True, eq=False, repr=False)
class Shares(InWords):
    """The expected result of each seat, with a policy for each.

    Attributes
    ----------
    graph : StateGraph
    policies : tuple of str
        Of the seats, in the order of the moves.
    values : (n_movers, n_states, players) float64
        ``values[j, s, k]`` is the result of the seat k places after the mover in state s, with
        seat j to move: its chance to win, or its expected payoff in a game with stakes. With one
        policy for all seats it is the same for all movers, and ``n_movers`` is 1. NaN in states
        that are unreachable from the starts.
    bounds : (n_movers, n_states) float64
        Error bounds; proved.
    """

    graph: StateGraph = field(repr=False)
    policies: tuple[str, ...]
    values: NDArray[np.float64] = field(repr=False)
    bounds: NDArray[np.float64] = field(repr=False)

    @property
    def win_probabilities(self) -> tuple[float, ...]:
        """The result of each seat from the start."""
        return self.at(0).win_probabilities

    @property
    def error_bound(self) -> float:
        """Of each of them; proved."""
        return self.at(0).error_bound

    def at(self, state: int) -> SharesAt:
        """The results of all seats from a state, with the first seat to move."""
        return SharesAt(tuple(self.values[0, state].tolist()), float(self.bounds[0, state]))

    def columns_of(self, states: NDArray[np.int64], mover: int) -> dict[str, Any]:
        """The columns of some states with a seat to move: results from the mover on, and bounds."""
        worths = seat_columns(self.graph, self.values[mover, states])
        return {**worths, "error_bound": self.bounds[mover, states]}


class SharesAt(NamedTuple):
    """The expected result of each seat from a state, and their error bound; proved."""

    win_probabilities: tuple[float, ...]
    error_bound: float


@dataclass(frozen=True, repr=False)
class Response(InWords):
    """The best result of each seat where all others play one policy.

    Attributes
    ----------
    graph : StateGraph
    policy : str
    win_probabilities : tuple of float
        Of each seat from the start, with the same policy; empty without a policy.
    best : tuple of float
        The same with the best response to it.
    error_bound : float
        Of each of them; proved.
    """

    graph: StateGraph = field(repr=False)
    policy: str
    win_probabilities: tuple[float, ...]
    best: tuple[float, ...]
    error_bound: float


def evaluate_seats(
    graph: StateGraph,
    policies: Sequence[Policy],
    starts: Sequence[int] | None = None,
    *,
    at_best: bool = False,
) -> Shares:
    """The result of each seat, with a policy for each.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    policies : sequence of Policy
        One for each seat, in the order of the moves; a single one is for all seats.
    starts : sequence of int, optional
        As in `evaluate`.
    at_best : bool
        Instead the best result of each seat, where all others keep to their policies.
    """
    seated, n = one_each(graph, policies), graph.players
    is_one = len(set(seated)) == 1
    runs = []
    for seat in range(1 if is_one else n):
        profile = [
            None if at_best and k == seat else policy.probability for k, policy in enumerate(seated)
        ]
        runs.append(_seat_results(graph, seat, profile, starts))

    def after(k: int, mover: int) -> NDArray[np.float64]:
        """The results of the seat k places after a mover, and their bounds."""
        # with one policy for all it has those of the first seat k moves before its own
        return runs[0][-k % n] if is_one else runs[(mover + k) % n][mover]

    found = np.array([[after(k, mover) for k in range(n)] for mover in range(len(runs))])
    values, bounds = found[:, :, 0].transpose(0, 2, 1), found[:, :, 1].max(axis=1)
    return Shares(graph, tuple(policy.name for policy in seated), values, bounds)


def _seat_results(
    graph: StateGraph,
    seat: int,
    profile: Sequence[NDArray[np.float64] | None],
    starts: Sequence[int] | None,
) -> list[NDArray[np.float64]]:
    """The values of a seat and their bounds, with each seat to move: (2, n_states) float64 each."""
    seats = reached_from(graph, seat, profile, starts)
    found, certificate, _ = solve_and_certify(seats.graph)
    spread = zip(seats.spread(found.values), seats.spread(certificate.bounds), strict=True)
    return list(map(np.stack, spread))


def respond_to(graph: StateGraph, policy: Policy, state: int = 0) -> Response:
    """The best response of each seat where all others play one policy.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    state : int
        The first state of play.
    """
    others = [policy.probability] * (graph.players - 1)
    worth, off = from_each_seat(graph, [policy.probability, *others], state)
    best, best_off = from_each_seat(graph, [None, *others], state)
    return Response(graph, policy.name, worth, best, max(off, best_off))


def from_each_seat(
    graph: StateGraph, profile: Sequence[NDArray[np.float64] | None], state: int = 0
) -> tuple[tuple[float, ...], float]:
    """The result of the first policy of a profile in each seat, and their error bound.

    Parameters
    ----------
    profile : sequence of (n_actions,) float64 or None
        As `rollwise.many.seats.seen_from` takes it.
    state : int
        The first state of play.
    """
    found = _seat_results(graph, 0, profile, [state])
    pairs = (found[-seat][:, state].tolist() for seat in range(graph.players))
    worths, bounds = zip(*pairs, strict=True)
    return worths, max(bounds)


def in_seats(
    policies: Policies, mine: Policy, theirs: Policy, places: Sequence[tuple[int, int]]
) -> list[Certified]:
    """The results of a policy in some seats, where all other seats play another one.

    Parameters
    ----------
    policies : Policies
        Of a game for two players or more.
    mine, theirs : Policy
    places : sequence of (int, int)
        The first state of play, and the seat of the first policy: 0 moves first.

    Returns
    -------
    list of Certified
        Chances to win, or expected payoffs.
    """
    graph, n = policies.graph, policies.graph.players
    starts = list(dict.fromkeys(state for state, _ in places))
    if n > 2:
        profile = [mine.probability, *[theirs.probability] * (n - 1)]
        found = _seat_results(graph, 0, profile, starts)
        return [Certified(*found[-seat % n][:, state].tolist()) for state, seat in places]
    evaluation = evaluate(policies, mine, theirs, starts=starts)
    scored = graph.is_score
    return [certified_at(evaluation, at)[seat].shown(is_score=scored) for at, seat in places]


def look_ahead_by(policies: Policies, policy: Policy) -> Ahead:
    """One look ahead: each action relative to its state, if all play a policy before and after it.

    Parameters
    ----------
    policies : Policies
        Of a game for any number of players.

    Raises
    ------
    EndlessPlay
        The policy can go round for ever.
    """
    graph = policies.graph
    if graph.players > 2:
        from rollwise.many.equilibrium import SeatValues

        shares = evaluate_seats(graph, [policy])
        bounds = np.broadcast_to(shares.bounds[0][:, None], shares.values[0].shape)
        return SeatValues(graph, shares.values[0], bounds).ahead
    found = evaluate(policies, policy)
    assert found.bounds is not None
    return look_ahead(graph, found.values, found.bounds)


def respond_to_all(graph: StateGraph, others: str, state: int = 0) -> Response:
    """The best result of each seat if all others minimise it, or if all others maximise it.

    Against adversaries it is the value of a game for two, the seat against all others together:
    a lower bound of the seat's result in any equilibrium. With allies it is the value of a game
    for one: an upper bound of the seat's result under any policies.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    others : {"adversaries", "allies"}
    state : int
        The first state of play.
    """
    n = graph.players
    starts = [-seat % n * graph.n_states + state for seat in range(n)]
    if others == ALLIES:
        return Response(graph, ALLIES, (), *from_each_seat(graph, [None] * n, state))
    result, certificate, _ = solve_and_certify(against_all(graph).graph)
    sign = np.where(np.arange(n) == 0, 1.0, -1.0)  # of the others' states, in their eyes
    bound = float(certificate.bounds[starts].max())
    found = [of_a_side(graph, Certified(x, bound)) for x in (sign * result.values[starts]).tolist()]
    best, bounds = zip(*found, strict=True)
    return Response(graph, ADVERSARIES, (), best, max(bounds))


def two_sides(
    graph: StateGraph,
    mine: Policy | None,
    theirs: Policy | None,
    starts: Sequence[int] | None = None,
) -> Seats:
    """The game of the first seat against all others together, as one for two players.

    Parameters
    ----------
    graph : StateGraph
        Of a game for two players or more.
    mine, theirs : Policy or None
        The policy of the first seat, and of all others; None leaves them free. Free others only
        try to keep the first seat from winning.
    starts : sequence of int, optional
        As in `rollwise.derive.seats.take_seats`.
    """
    if graph.players == 2:
        return take_seats(graph, [mine, theirs], starts)
    chances = [None if policy is None else policy.probability for policy in (mine, theirs)]
    return against_all(graph, [chances[0], *chances[1:] * (graph.players - 1)], starts)


def of_a_side(graph: StateGraph, value: Certified) -> Certified:
    """A value of the first seat in `two_sides` as a chance to win, or as points or a payoff."""
    if graph.players == 2:
        return value.shown(is_score=graph.is_score)
    stakes = Stakes.of(graph)
    bound = float(stakes.error(value.bound / 2.0 + 2.0**-52))
    return Certified(float(stakes.paid(win_probability(value.value))), bound)


def one_each(graph: StateGraph, policies: Sequence[Policy]) -> list[Policy]:
    """A policy for each seat; a single policy is for all seats."""
    if len(policies) == 1:
        return [policies[0]] * graph.players
    if len(policies) != graph.players:
        seats = "is a game for one" if graph.players == 1 else f"has {graph.players} seats"
        raise UsageError(
            f"{graph.title} {seats}, and {len(policies)} policies were given; give one for each, "
            "or one for all"
        )
    return list(policies)


METHODS = ("exact", "iterative")
ITERATIVE = ("theta", "order", "max_sweeps", "time_limit", "on_sweep", "on_values")  # options
SeatPolicies: TypeAlias = "list[AnyPolicy] | tuple[AnyPolicy, ...]"
THETA = 1e-10
LIMITS = (
    Setting("theta", float, THETA, ""),
    Setting("max_sweeps", int, None, ""),
    Setting("time_limit", float, None, ""),
)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(InWords):
    """The value of a policy in every state, or in the states reachable from `starts`.

    Values and bounds are NaN in states that are unreachable from `starts`.

    Attributes
    ----------
    graph : StateGraph
    policy, against : str
        Names; the same for a policy evaluated against itself.
    values : (n_states,) float64
        The policy's values with the policy to move.
    values_second : (n_states,) float64
        The policy's values with the opponent to move.
    bounds, bounds_second : (n_states,) float64, optional
        Certified error bounds of the values. None for the iterative method, which proves
        no bounds.
    method : {"exact", "iterative"}
    status : Status
    sweeps : int
    history : sequence of float
        The largest change in each sweep: of a win probability, or of the points.
    theta : float, optional
        The stopping threshold of the iterative method, which is no bound on the error.
    n_solved : int
        Number of solved positions, counted for each seat.
    ties : Ties or None
        The ties of an optimal policy from the starts; other choices in them may give other figures.
    average : (float, float), optional
        Of play without an end: the average of the policy in the long run, and its error bound.
    """

    graph: StateGraph = field(repr=False)
    policy: str
    against: str
    values: NDArray[np.float64] = field(repr=False)
    values_second: NDArray[np.float64] = field(repr=False)
    bounds: NDArray[np.float64] | None = field(repr=False)
    bounds_second: NDArray[np.float64] | None = field(repr=False)
    method: str
    status: Status
    sweeps: int
    history: Sequence[float] = field(default=(), repr=False)
    theta: float | None = None
    n_solved: int = 0
    ties: Ties | None = None
    average: tuple[float, float] | None = None

    @property
    def is_score(self) -> bool:
        """Whether values are expected scores or payoffs, rather than chances to win."""
        return self.graph.is_score

    @classmethod
    def of(
        cls,
        graph: StateGraph,
        names: tuple[str, str],
        seats: Seats,
        run: MethodResult,
        bounds: Any,
        **more: Any,
    ) -> Self:
        """The evaluation by the result of a method on a graph with seats.

        Parameters
        ----------
        bounds : (n,) float64 or None
            Error bounds on that graph.
        """
        alone, values = seats.graph.players == 1, seats.spread(run.values)
        spread = [None] if bounds is None else seats.spread(bounds)
        # one seat stands for both, since the next mover plays the same policy
        return cls(
            graph,
            *names,
            values[0],
            values[-1] if alone else 0.0 - values[-1],  # one kind of zero
            spread[0],
            spread[-1],
            status=run.status,
            sweeps=run.sweeps,
            n_solved=seats.graph.n_states,
            **more,
        )

    @property
    def win_probability(self) -> NDArray[np.float64]:
        """The policy's chance to win with the policy to move; a draw counts half: (n_states,).

        NaN in a game for points or stakes.
        """
        return self._chances(self.values)

    @property
    def win_probability_second(self) -> NDArray[np.float64]:
        """The policy's chance to win with its opponent to move: (n_states,) float64."""
        return self._chances(self.values_second)

    def columns_of(self, states: NDArray[np.int64], mover: int = 0) -> dict[str, Any]:
        """The columns of some states with the policy to move: value, chance to win and bound."""
        values = self.values[states]
        return {
            "value": values,
            "win_probability": self.graph.view.win_probability(values),
            "error_bound": None if self.bounds is None else self.bounds[states],
        }

    def _chances(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.full(len(values), np.nan) if self.is_score else win_probability(values)


@dataclass(frozen=True, eq=False, repr=False)
class BestResponse(Evaluation):
    """A best response to a policy, and its value against it.

    Attributes
    ----------
    find_response : callable
        Makes `response`.
    """

    find_response: Callable[[], Policy] = field(kw_only=True, repr=False)

    @cached_property
    def response(self) -> Policy:
        """The best response as a policy: the first of the best actions.

        In states unreachable from `starts` it equals the given policy.
        """
        return self.find_response()

    def exploitability(self, state: int = 0) -> float:
        """Mean payoff of the response against the policy, over the two seats."""
        return float(self.values[state] + self.values_second[state]) / 2

    def exploitability_bound(self, state: int = 0) -> float:
        """Error bound of `exploitability`."""
        if self.bounds is None or self.bounds_second is None:
            return float("inf")
        return float(self.bounds[state] + self.bounds_second[state]) / 2 + 2.0**-52


def certified_at(evaluation: Evaluation, state: int = 0) -> tuple[Certified, Certified]:
    """The values of a policy from a state, moving first and moving second.

    Raises
    ------
    EndlessPlay
        The evaluation has no bounds.
    """
    if evaluation.bounds is None or evaluation.bounds_second is None:
        raise EndlessPlay("the evaluation isn't certified")
    return (
        Certified(float(evaluation.values[state]), float(evaluation.bounds[state])),
        Certified(float(evaluation.values_second[state]), float(evaluation.bounds_second[state])),
    )


def _checked_options(method: str, iterative: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the iterative method, each in its type."""
    if method not in METHODS:
        raise UsageError(f"there is no method {method!r} of evaluation (exact, iterative)")
    if method == "exact" and iterative:
        raise UsageError(f"{next(iter(iterative))} is for the iterative method")
    if unknown := [name for name in iterative if name not in ITERATIVE]:
        names = ", ".join(ITERATIVE)
        raise UsageError(f"the iterative method has no option {unknown[0]!r} (it has {names})")
    options = dict(iterative)
    for setting in LIMITS:
        if options.get(setting.name) is not None:
            options[setting.name] = setting.checked("the method iterative", options[setting.name])
    return options


def _opponent(policies: Policies, against: AnyPolicy) -> Policy:
    opponent = policies.find(against)
    if policies.graph.players != 2:
        raise UsageError(f"{policies.graph.game} is a game for one: there is no opponent")
    return opponent


@overload
def evaluate(
    game: Subject, policy: SeatPolicies, *, starts: Sequence[int] | None = None
) -> Shares: ...


@overload
def evaluate(
    game: Subject,
    policy: AnyPolicy,
    against: AnyPolicy | None = None,
    *,
    starts: Sequence[int] | None = None,
    method: str = "exact",
    **iterative: Any,
) -> Evaluation: ...


def evaluate(
    game: Subject,
    policy: AnyPolicy | SeatPolicies,
    against: AnyPolicy | None = None,
    *,
    starts: Sequence[int] | None = None,
    method: str = "exact",
    **iterative: Any,
) -> Evaluation | Shares:
    """Evaluate a policy, against itself or another; or policies of all seats.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
    policy : str, callable or Policy; or a list or tuple of them
        As in `rollwise.answer.references.Policies`: ``"hold-at-20"``,
        ``"0.9*optimal+0.1*random"``, or a function from states to actions. A list has the policy
        of each seat, in the order of the moves, in a game of any number of players. A list of one
        policy is for all seats.
    against : optional
        The opponent's policy; the same policy unless given.
    starts : sequence of int, optional
        First states of play, with either player to move. Only states reachable from there
        are evaluated, which is faster; all states unless given.
    method : {"exact", "iterative"}
        Exact: linear systems, certified. Iterative: sweeps from a win probability
        (or a value) of 0 everywhere.
    **iterative
        Of the iterative method. ``theta``: it stops after a sweep that changes no win
        probability (or value) by more (1e-10). ``order``: see
        `rollwise.methods.sweeping.sweep_order`. ``max_sweeps``, ``time_limit``: its limits.
        ``on_sweep(sweep, change)`` and ``on_values(win probabilities or values)`` are called.

    Returns
    -------
    Evaluation
        The value of the policy in every state; for a list, `Shares`, the result of each seat. In
        play without an end values are those of a cycle at the average of best play, and ``average``
        is that of the policy.

    Raises
    ------
    PolicyError
        There is no such policy.
    UsageError
        No such method, or an option that it doesn't have; an opponent in a solitaire game; no
        such start; a list that isn't as long as there are seats.
    ForMorePlayers
        A single policy in a game of three or more.
    EndlessPlay
        The policies can go round for ever, from the starts (exact only).

    Examples
    --------
    >>> from rollwise.games.pig import Pig
    >>> evaluate(Pig(target=20), "hold-at-20", "optimal").win_probability[0].round(4)
    np.float64(0.6156)
    """
    iterative = _checked_options(method, iterative)
    if are_policies(policy):
        if against is not None or method != "exact":
            raise UsageError("a list of policies, one a seat, is evaluated exactly")
        return _shares(Policies.of(game, any_players=True), policy, starts)
    policies = without_a_list(game, policy)
    graph, mine = policies.graph, policies.find(policy)  # type: ignore[arg-type]
    theirs = None if against is None else _opponent(policies, against)
    how: dict[str, Any] = {"method": method}
    of_start = starts is None or np.array_equal(starts, [0])
    if isinstance(policies.game, Average) and method == "exact" and of_start:
        how["average"] = average_of_policy(policies.game, mine)
        if (moved := with_home_of(policies.game, mine)) is not policies.game:
            graph = moved.derive()  # the policy doesn't return to the home of best play
    seats = take_seats(graph, [mine] if theirs is None else [mine, theirs], starts)
    bounds = None
    if method == "exact":
        result, certificate, _ = solve_and_certify(seats.graph)
        bounds = certificate.bounds
    else:
        how["theta"] = iterative.setdefault("theta", THETA)
        result, how["history"] = _swept(graph, seats, **iterative)
    names = mine.name, mine.name if theirs is None else theirs.name
    ties = ties_between(graph, mine, theirs, 0 if starts is None else starts)
    return Evaluation.of(graph, names, seats, result, bounds, **how, ties=ties)


def ties_between(
    graph: StateGraph, mine: Policy, theirs: Policy | None, start: int | Sequence[int] = 0
) -> Ties | None:
    """The ties on which the figures of a policy rest, against itself or another; None without any.

    Against itself an optimal policy has the value of the game, whichever it is; a mixture hasn't.
    """
    if (theirs is None or theirs is mine) and not mine.mixes:
        return None
    return ties_in_play(graph, mine, theirs, start=start)


def without_a_list(game: Subject, policy: object) -> Policies:
    """The policies of a game for one or two.

    Raises
    ------
    ForMorePlayers
        A game for more takes a list of policies.
    """
    try:
        return Policies.of(game)
    except ForMorePlayers as error:
        title, _, _ = str(error).partition(": this is")
        advice = f"{title}: give a list with a policy for each seat, as in [{policy!r}, ...]"
        raise ForMorePlayers(advice, error.game) from None


def _shares(policies: Policies, given: Sequence[AnyPolicy], starts: Sequence[int] | None) -> Shares:
    """The result of each seat, given the policies of all seats."""
    graph, seated = policies.graph, one_each(policies.graph, [policies.find(p) for p in given])
    if graph.players > 2:
        return evaluate_seats(graph, seated, starts)
    found, one = evaluate(policies, *seated, starts=starts), len(set(seated))
    assert found.bounds is not None
    assert found.bounds_second is not None
    # the mover's values, with the first player to move and with the second
    values = np.stack([found.values, -found.values_second][:one])
    bounds = np.stack([found.bounds, found.bounds_second][:one])
    values = np.stack([values, -values][: graph.players], axis=2)
    if not graph.is_score:
        values, bounds = win_probability(values), bounds / 2.0 + CHANCE_ROUNDING
    return Shares(graph, tuple(policy.name for policy in seated), values, bounds)


def best_responses(game: Subject, policy: AnyPolicy) -> Response:
    """The best result of each seat from the start where all others play one policy, certified.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        For two players or more.
    policy : str, callable or Policy
        As `evaluate` takes it.

    Raises
    ------
    PolicyError
        There is no such policy.
    UsageError
        The game has one player.
    """
    policies = Policies.of(game, any_players=True)
    graph, chosen = policies.graph, policies.find(policy)
    if graph.players > 2:
        return respond_to(graph, chosen)
    worth = _shares(policies, [chosen], [0])
    best = certified_at(best_response(policies, chosen, starts=[0]))
    got, bounds = zip(*(x.shown(is_score=graph.is_score) for x in best), strict=True)
    bound = max(worth.error_bound, *bounds)
    return Response(graph, chosen.name, worth.win_probabilities, got, bound)


def _swept(
    graph: StateGraph,
    seats: Seats,
    *,
    theta: float,
    order: str = "reversed",
    max_sweeps: int = 1_000_000,
    time_limit: float | None = None,
    on_sweep: Callable[[int, float], None] | None = None,
    on_values: Callable[[NDArray[np.float64]], None] | None = None,
) -> tuple[MethodResult, list[float]]:
    """The values of a graph of given policies by sweeps, and the changes of the sweeps."""
    played = seats.graph
    # The chance to win is (1 + value) / 2: its 0 is -1, its changes are half as large.
    scale = 1.0 / unit_of(graph)

    def report(sweep: int, change: float) -> None:
        if on_sweep is not None:
            on_sweep(sweep, change / scale)

    # where the rules forbid endless play, sweeps go on to their limit, as in the textbooks
    worthless = graph.objective == "win" and graph.endless == "forbidden"
    settling = None if worthless else settled(played)

    def lend(values: NDArray[np.float64]) -> None:
        spread = values if settling is None else settling.spread(values)
        mine = seats.spread(spread)[0]
        if on_values is not None:
            on_values(mine if scale == 1.0 else win_probability(mine))

    result = value_iteration(
        played if settling is None else settling.graph,
        epsilon=scale * theta,
        order=order,
        start=1.0 - scale,
        max_sweeps=max_sweeps,
        time_limit=time_limit,
        on_sweep=report,
        on_values=None if on_values is None else lend,
    )
    return (
        result if settling is None else result.spread(settling),
        [change / scale for change in result.history],
    )


def best_response(
    game: Subject, policy: AnyPolicy, *, starts: Sequence[int] | None = None
) -> BestResponse:
    """The best response of an opponent with knowledge of the policy, certified.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        For two.
    policy : str, callable or Policy
        As `evaluate` takes it.
    starts : sequence of int, optional
        First states of play, with either player to move. Only states reachable from there
        against the policy are solved, which is faster; all states unless given.
        ``starts=[0]`` is enough for the policy's exploitability.

    Returns
    -------
    BestResponse
        Its values are the response's; ``against`` is the policy.

    Raises
    ------
    PolicyError
        There is no such policy.
    ForMorePlayers
        See `best_responses`.
    UsageError
        The game has one player; no such start.
    EndlessPlay
        The response can make play go round for ever, from the starts.
    """
    policies = Policies.of(game, any_players=True)
    if (players := policies.graph.players) > 2:
        advice = f"{policies.graph.title} is a game for {players}: best_responses is for each seat"
        raise ForMorePlayers(advice, policies.game)
    opponent = _opponent(policies, policy)
    seats = take_seats(policies.graph, [None, opponent], starts)
    result, certificate, _ = solve_and_certify(seats.graph)
    name = f"best response to {opponent.name}"
    return BestResponse.of(
        policies.graph,
        (name, opponent.name),
        seats,
        result,
        certificate.bounds,
        method="exact",
        find_response=partial(_response, seats, opponent, name, result.values, certificate.bounds),
    )


def _response(
    seats: Seats,
    opponent: Policy,
    name: str,
    values: NDArray[np.float64],
    bounds: NDArray[np.float64],
) -> Policy:
    """The best response with these values, as a policy of the game."""
    ahead = look_ahead(seats.graph, values, bounds)
    return seats.respond(opponent, name, taken(seats.graph, ahead))
