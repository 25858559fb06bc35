"""An equilibrium of a game of three or more players, with a proven bound on deviation gains.

All seats play one stationary policy, each from its own view. It is an equilibrium if no seat gains
by another policy while the others keep to it. For two players with opposite interests this
gives the value of the game. With more players there may be several equilibria, and the proof
makes no claim about the others.

Two facts are proved about exactly the printed profile:

- *Values.* With every seat's policy fixed the game is a Markov chain: its values are bounded.
- *Deviations.* With the others' policy fixed the game is one for a single player: its value is
  bounded from above. No policy gains more than `deviation_gain`, for any seat, from
  any position.

`rollwise.many.proving` proves both.

A game may have several equilibria. Two methods search for further ones:

- *Starts.* The search begins with a random policy and its values: each
  component has its own bias towards early or late actions.
- *Supports.* If two or three decisions of a component are opposed, all their supports are
  tried: each takes the first action, the second, or both. The decisions are the mixed ones, and
  the first ones where an equilibrium from another start differs. Successors of the component keep
  their values in the known equilibrium.

Every result is proved as the first one is. An empty result proves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import Mode, Progress
from rollwise.errors import UsageError
from rollwise.game import Game, require_game
from rollwise.graph import Outcome, StateGraph
from rollwise.graph.choices import Ahead, fold_actions
from rollwise.graph.policies import Policy
from rollwise.hooks import InWords
from rollwise.kernels.chances import UNIT
from rollwise.many.component import MARGIN, SAME, Component, equilibria_by_support
from rollwise.many.finding import Found, find_profile
from rollwise.many.proving import find_ties, means_after, prove_profile
from rollwise.many.seats import Stakes, build_seats, has_payoffs, seat_columns
from rollwise.many.table import Table, table_of
from rollwise.many.ties import SeatTies
from rollwise.numbers.given import positive_number
from rollwise.numbers.printed import (
    column,
    gain_text,
    how_many,
    in_common,
    percents,
    sure_text,
)
from rollwise.numbers.randomness import check_seed
from rollwise.numbers.shares import seat_names

NAMED = 3  # unsettled components named in a message
Floats = NDArray[np.float64]


class SeatValues:
    """The values of all seats if all play one policy, and a look ahead by them.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    values, error_bounds : (n_states, players) float64
        As in `Equilibrium`.
    """

    def __init__(self, graph: StateGraph, values: Floats, error_bounds: Floats) -> None:
        self.graph, self.values, self.error_bounds = graph, values, error_bounds

    @cached_property
    def action_worths(self) -> Floats:
        """Value of each action for each seat, if all go on by the policy.

        Returns
        -------
        (n_actions, players) float64
            From the mover on.
        """
        stakes = Stakes.of(self.graph)
        worth = self._mean_after(stakes.units(self.values), table_of(self.graph))
        return np.asarray(stakes.paid(worth))

    @cached_property
    def action_errors(self) -> Floats:
        """Error bound of each action's value for the mover: (n_actions,), in units of `Stakes`.

        It consists of the errors of the next states, the search margin of equilibria, and
        roundings. An unproved error counts as 0.
        """
        graph = self.graph
        bounds = np.where(np.isfinite(self.error_bounds), self.error_bounds, 0.0)
        bounds /= Stakes.of(graph).span
        table = table_of(graph)
        # the error of a known ending is 0, so its payoff is 0 in this mean
        ends_known = table._replace(payoff=np.zeros_like(table.payoff))
        off = self._mean_after(bounds, ends_known)
        terms = 16.0 + float(np.diff(graph.lotteries.indptr).max())
        return np.asarray((1.0 + 2.0 * terms * UNIT) * off[:, 0] + MARGIN + 2.0 * terms * UNIT)

    def _mean_after(self, numbers: Floats, table: Table) -> Floats:
        """The mean of numbers of seats over the outcomes of each action: (n_actions, players)."""
        mean = np.empty((self.graph.n_actions, self.graph.players))
        means_after(table, numbers[None], mean)
        return mean

    @property
    def mover_values(self) -> Floats:
        """Value of each state for the mover, as that of a `Solution`: (n_states,) float64."""
        return np.asarray(self.as_values(self.values[:, 0]))

    @property
    def mover_bounds(self) -> Floats:
        """Error bounds of `mover_values`, with the search margin of equilibria."""
        return self.unit * (self.error_bounds[:, 0] + Stakes.of(self.graph).span * MARGIN)

    @cached_property
    def ahead(self) -> Ahead:
        """The value of each action for the mover, relative to its state.

        Two actions are equally good if neither the certified values nor the search margin tell
        them apart.
        """
        graph, values = self.graph, self.mover_values
        gap = self.as_values(self.action_worths[:, 0]) - values[graph.action_state]
        off = self.unit * Stakes.of(graph).span * self.action_errors
        return Ahead(gap, off, np.zeros(graph.n_actions), values, self.mover_bounds)

    @property
    def unit(self) -> float:
        """The range of a solution's values divided by the range of `values`."""
        return 1.0 if has_payoffs(self.graph) else 2.0

    def as_values(self, worth: Any) -> Any:
        """Chances to win as values of a `Solution`, from -1 to 1; payoffs as they are."""
        return worth.copy() if has_payoffs(self.graph) else 2.0 * worth - 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(SeatValues, InWords):
    """A profile of a game of three or more players, with its proven bounds.

    Attributes
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    policy : Policy
        The policy of the mover, the same for all seats.
    values, error_bounds : (n_states, players) float64
        Value of each seat if all play the policy, from the mover on: its probability of winning,
        a shared win counted in part, or its expected payoff in a game for payoffs. Certified.
    deviation_gains : (n_states, players) float64
        Proven upper bound on the gain of a seat by any other policy, from here on.
    unsettled : tuple of int
        Components without an equilibrium found. The proofs cover them too.
    seconds : dict
        Of each stage.
    timed_out : bool
        Whether the time limit ended the search in some of the unsettled components.
    """

    graph: StateGraph
    game: Game
    policy: Policy
    values: Floats = field(repr=False)
    error_bounds: Floats = field(repr=False)
    deviation_gains: Floats = field(repr=False)
    unsettled: tuple[int, ...]
    seconds: Mapping[str, float]
    timed_out: bool = False

    @property
    def players(self) -> int:
        return self.graph.players

    @property
    def worth(self) -> tuple[float, ...]:
        """Value of the start for each seat, in the order of the moves."""
        return tuple(self.values[0].tolist())

    @property
    def win_probabilities(self) -> tuple[float, ...]:
        """How likely each seat wins from the start; empty in a game for payoffs."""
        return () if has_payoffs(self.graph) else self.worth

    @property
    def payoffs(self) -> tuple[float, ...]:
        """Expected payoff of each seat from the start; empty in a game of wins."""
        return self.worth if has_payoffs(self.graph) else ()

    @property
    def error_bound(self) -> float:
        """The largest error of a value."""
        return float(self.error_bounds.max())

    @property
    def deviation_gain(self) -> float:
        """Upper bound on the gain of any seat by another policy, in any position."""
        return float(self.deviation_gains.max())

    @property
    def unproved(self) -> NDArray[np.int64]:
        """The states without a proven bound: play leaves some too slowly, or leads there."""
        return np.flatnonzero(~np.isfinite(self.deviation_gains).all(axis=1))

    @property
    def faults(self) -> list[str]:
        """The components without an equilibrium, and the states without a bound, in words."""
        faults, graph = [], self.graph
        if self.unsettled:
            components = graph.components
            first = components.order[components.indptr[list(self.unsettled[:NAMED])]]
            places = "; ".join(map(graph.state_text, first.tolist()))
            faults.append(
                f"{'time ended the search: ' if self.timed_out else ''}in "
                f"{how_many(len(self.unsettled), 'component')} no equilibrium was found, as at "
                f"{places}; the proved bound includes them: {gain_text(self.deviation_gain)}"
            )
        if len(self.unproved):
            state = graph.state_text(int(self.unproved[-1]))
            faults.append(
                f"not certified: in {how_many(len(self.unproved), 'position')} no bound was "
                f"proved, as at {state}; play leaves some of them so slowly that roundings count "
                "for more than chances"
            )
        return faults

    @cached_property
    def mixing(self) -> NDArray[np.int64]:
        """The states in which the policy mixes actions."""
        chance = self.policy.probability
        mixes = (chance > 0) & (chance < 1)
        return np.unique(self.graph.action_state[mixes]).astype(np.int64)

    @cached_property
    def mixing_components(self) -> int:
        """How many components have such states."""
        components = self.graph.components
        where = components.position[self.mixing]
        return len(np.unique(np.searchsorted(components.indptr, where, side="right")))

    def after(self, outcome: Outcome) -> Floats:
        """Values of an outcome for each seat, from the mover on: (players,) float64."""
        if outcome.is_over:
            return np.array(outcome.shares)
        rolled: Floats = np.roll(self.values[outcome.target], outcome.seats_on)
        return rolled

    @cached_property
    def likeliest(self) -> NDArray[np.int64]:
        """The first of the likeliest actions of each state: (n_states,) int64."""
        graph, chance = self.graph, self.policy.probability
        likely = chance == fold_actions(graph, np.maximum, chance)[graph.action_state]
        return fold_actions(
            graph, np.minimum, np.where(likely, np.arange(graph.n_actions), graph.n_actions)
        )

    @cached_property
    def taken(self) -> NDArray[np.int64]:
        """The actions with positive probability, throws before a choice included."""
        return np.flatnonzero(self.policy.probability > 0)

    def state_columns(self, states: NDArray[np.int64]) -> dict[str, Floats]:
        """The columns of some states: the value of each seat from the mover on, and the bounds."""
        return {
            **seat_columns(self.graph, self.values[states]),
            "error_bound": self.error_bounds[states].max(axis=1),
            "deviation_gain": self.deviation_gains[states].max(axis=1),
        }

    def said_of(self, state: int) -> list[str]:
        """The mixture of the mover in a position, and the values of the others: lines of text."""
        here = self.graph.view[state]
        chances = self.policy.probability[list(here.action_range)]
        lines = []
        if np.any((chances > 0) & (chances < 1)):
            pairs = zip(here.action_names, chances.tolist(), strict=True)
            lines.append("mixed: " + ", ".join(f"{name} {100 * p:.2f} %" for name, p in pairs))
        texts = self.texts(self.values[state].tolist())
        others = list(zip(seat_names(self.players), texts, strict=True))[1:]
        return [*lines, ", ".join(f"{name} {text}" for name, text in others)]

    def texts(self, numbers: Sequence[float], digits: int = 2) -> list[str]:
        """The values of seats in words: chances to win in percent, or payoffs."""
        if has_payoffs(self.graph):
            return [f"{number:z.{digits + 2}f}" for number in numbers]
        return [f"{100 * number:.{digits}f} %" for number in numbers]

    def __str__(self) -> str:
        what, written = ("payoffs", column) if self.payoffs else ("the seats win", percents)
        numbers, worst = in_common(written(self.worth, self.error_bound))
        return f"{what} {', '.join(numbers)} ({sure_text(self.error_bound, worst)})"

    @cached_property
    def ties(self) -> SeatTies:
        """Positions with several equally good actions for the mover, and their effects."""
        return find_ties(self)

    def others(
        self, starts: int = 5, *, seed: int = 1, progress: Progress | None = None
    ) -> OtherEquilibria:
        """Search for other equilibria, from other starts and by supports.

        Parameters
        ----------
        starts : int
            Number of searches from a random policy.
        seed : int
            Of the first search; each further one adds 1.

        Returns
        -------
        OtherEquilibria
            An empty result is no proof that there is none.
        """
        if starts < 1:
            raise UsageError(f"starts is {starts}; it must be at least 1")
        check_seed(seed)
        others: list[Other] = []
        unsettled = 0
        for start in range(starts):
            if progress is not None:
                progress("other starts", start, starts)
            unsettled += not _keep(self, others, seed=seed + start)
        tried = 0
        # a support fixes one component, and the search is repeated: earlier components depend on it
        for component, pairs in _opposed(self, others):
            if tried == MOST_COMPONENTS:
                break
            tried += 1
            values = Stakes.of(self.graph).units(self.values).copy()
            at_hand = Component(self.graph, component, table_of(self.graph), values)
            here = self.policy.probability[at_hand.actions]
            places = {int(a): k for k, a in enumerate(at_hand.actions)}
            inside = [(places[one], places[two]) for one, two in pairs]
            for chances in equilibria_by_support(at_hand, here, inside):
                if np.abs(chances - here).max() > SAME:
                    _keep(self, others, forced={component: chances})
        return OtherEquilibria(starts, seed, unsettled, tried, tuple(others))


def equilibrium(
    game: Game,
    *,
    mode: Mode = "auto",
    max_states: int | None = None,
    seed: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Equilibrium:
    """Find an equilibrium of a game of three or more players, and bound the gain from deviating.

    Parameters
    ----------
    game : Game
    mode, max_states
        How to build the graph; see `rollwise.build`.
    seed : int, optional
        Begin the search with a random policy. Another start may lead to another
        equilibrium. By default it begins with the first action everywhere.
    time_limit : float, optional
        Seconds of search. Remaining components keep the first action, and are
        `unsettled`; the proofs cover them too.
    progress : callable, optional
        Called now and then as ``progress(stage, done, total or None)``.

    Examples
    --------
    >>> from rollwise.games.pig import Pig
    >>> found = equilibrium(Pig(target=5, players=3))
    >>> found.deviation_gain < 1e-12
    True
    """
    if require_game(game).players < 2:
        raise UsageError(f"{game.name} is a game for one player; an equilibrium needs several")
    began = time.perf_counter()
    graph = build_seats(game, mode=mode, max_states=max_states, progress=progress)
    built = time.perf_counter() - began
    return equilibrium_on(
        graph, game, {"build": built}, seed=seed, time_limit=time_limit, progress=progress
    )


def equilibrium_on(
    graph: StateGraph,
    game: Game,
    seconds: Mapping[str, float],
    *,
    seed: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Equilibrium:
    """As `equilibrium`, on an existing graph: see `rollwise.many.seats.build_seats`."""
    if time_limit is not None:
        time_limit = positive_number("time_limit", time_limit)
    began = time.perf_counter()
    until = None if time_limit is None else time.monotonic() + time_limit
    profile = find_profile(graph, _stage(progress, "solving"), seed=seed, until=until)
    spent = {**seconds, "solve": time.perf_counter() - began}
    return proved(graph, game, profile, spent, progress)


def proved(
    graph: StateGraph,
    game: Game,
    profile: Found,
    seconds: Mapping[str, float],
    progress: Progress | None = None,
    *,
    claimed: Floats | None = None,
) -> Equilibrium:
    """A profile, with its values and proven bounds.

    Parameters
    ----------
    claimed : (n_states, players) float64, optional
        Values to be bounded, from 0 to 1: see `rollwise.many.seats.Stakes`.
    """
    began = time.perf_counter()
    stakes, probability = Stakes.of(graph), profile.probability
    values, bounds, gains = prove_profile(
        graph, probability, claimed, _stage(progress, "certifying")
    )
    spent = {**seconds, "certify": time.perf_counter() - began}
    policy = Policy("optimal", probability, game=graph.title)
    worth = stakes.paid(values), stakes.span * bounds, stakes.span * gains
    return Equilibrium(
        *(graph, game, policy, *worth, tuple(profile.unsettled), spent), timed_out=profile.timed_out
    )


def _stage(progress: Progress | None, name: str) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(name, done, total)


MOST_OPPOSED = 3  # largest number of decisions with all supports tried
MOST_COMPONENTS = 20
MOST_GAIN = 1e-9  # largest deviation gain of an equilibrium
DISTANCE = 1e-10  # of values that differ, besides their errors


@dataclass(frozen=True, eq=False)
class Other:
    """Another equilibrium.

    Attributes
    ----------
    found : Equilibrium
    differing : int
        Number of positions where some seat has another value, beyond the errors.
    first : int
        One of them, in the component that is solved first.
    """

    found: Equilibrium
    differing: int
    first: int


@dataclass(frozen=True, eq=False, repr=False)
class OtherEquilibria(InWords):
    """The result of a search for other equilibria.

    Attributes
    ----------
    starts, seed : int
    unsettled : int
        Starts without an equilibrium found.
    components : int
        Number of components with all supports tried.
    others : tuple of Other
        All differ from the first one, and from each other.
    """

    starts: int
    seed: int
    unsettled: int
    components: int
    others: tuple[Other, ...]


def _keep(equilibrium: Equilibrium, others: list[Other], **how: object) -> bool:
    """Search once more, and add a new equilibrium; whether one was found."""
    profile = find_profile(equilibrium.graph, **how)  # type: ignore[arg-type]
    if profile.unsettled:
        return False
    other = proved(equilibrium.graph, equilibrium.game, profile, {})
    if other.deviation_gain > MOST_GAIN * Stakes.of(equilibrium.graph).span:
        return False
    differs = _differ(equilibrium, other)
    if differs.any() and all(_differ(kept.found, other).any() for kept in others):
        where = np.flatnonzero(differs)
        first = where[np.argmin(equilibrium.graph.components.position[where])]
        others.append(Other(other, len(where), int(first)))
    return True


def _differ(one: Equilibrium, two: Equilibrium) -> NDArray[np.bool_]:
    """The states in which some seat has another value."""
    room = one.error_bounds + two.error_bounds + DISTANCE * Stakes.of(one.graph).span
    return np.asarray((np.abs(one.values - two.values) > room).any(axis=1))


def _opposed(
    equilibrium: Equilibrium, others: list[Other]
) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Components with few opposed decisions, and two actions of each."""
    seen = set()
    components = equilibrium.graph.components
    # another equilibrium first differs in a component, or this one mixes there
    places = [(int(components.position[other.first]), other.found) for other in list(others)]
    places += [(int(components.position[state]), equilibrium) for state in equilibrium.mixing]
    for index, other in places:
        component = int(np.searchsorted(components.indptr, index, side="right")) - 1
        if component in seen:
            continue
        seen.add(component)
        pairs = _decisions(equilibrium, other, component)
        if 0 < len(pairs) <= MOST_OPPOSED:
            yield component, pairs


def _decisions(
    equilibrium: Equilibrium, other: Equilibrium, component: int
) -> list[tuple[int, int]]:
    """The decisions of a component that mix in either profile, or differ: two actions of each."""
    graph, pairs = equilibrium.graph, []
    first, last = graph.components.indptr[component : component + 2].tolist()
    for state in graph.components.order[first:last].tolist():
        actions = np.arange(graph.action_indptr[state], graph.action_indptr[state + 1])
        taken = (equilibrium.policy.probability[actions] > 0) | (
            other.policy.probability[actions] > 0
        )
        if np.count_nonzero(taken) == 2:
            one, two = actions[taken].tolist()
            pairs.append((one, two))
        elif np.count_nonzero(taken) > 2:
            return []  # larger supports aren't tried
    return pairs
