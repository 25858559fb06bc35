"""An equilibrium of a game of three or more players, and the proof of how good it is.

All seats play one stationary policy, each in its own eyes. It is an equilibrium if nobody gains
by another policy while the others keep to it. For two players that have opposite interests this
gives the value of the game. For more it doesn't: there may be several equilibria, and nothing is
claimed of the others.

What is proved, of the very profile that is printed:

- *Values.* With every seat's policy known the game is a Markov chain: its values are bounded.
- *Deviations.* With the others' policy known the game is one for a single player: its value is
  bounded from above. So no policy whatever gains more than `deviation_gain`, for any seat, from
  any position.

`rollwise.many.proving` proves both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import UsageError
from rollwise.game import Game, require_game
from rollwise.graph import Outcome, StateGraph
from rollwise.graph.policies import Policy
from rollwise.kernels.chances import UNIT
from rollwise.kernels.many import worth_of_actions
from rollwise.many.component import MARGIN
from rollwise.many.finding import Found, find_profile
from rollwise.many.proving import prove_profile
from rollwise.many.seats import Stakes, build_seats, has_payoffs, tables_of

if TYPE_CHECKING:
    from rollwise.many.others import OtherEquilibria
    from rollwise.many.ties import Ties

Floats = NDArray[np.float64]
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A profile of a game of three or more players, with what is proved of it.

    Attributes
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    policy : Policy
        What the mover does, whoever it is.
    values, error_bounds : (n_states, players) float64
        What each seat gets if all play the policy, seen from the mover: its chance to win, a
        shared win counted in part, or its expected payoff in a game for payoffs. Certified.
    deviation_gains : (n_states, players) float64
        No seat gains more than this by any other policy, from here on. Proved.
    unsettled : tuple of int
        Components in which no equilibrium was found; the proofs hold of them too.
    seconds : dict
        Of each stage.
    kept_from : str or None
        When it was found, if an earlier run did and it was kept.
    timed_out : bool
        Whether time ended the search in some of the components that aren't settled.
    """

    graph: StateGraph
    game: Game
    policy: Policy
    values: Floats = field(repr=False)
    error_bounds: Floats = field(repr=False)
    deviation_gains: Floats = field(repr=False)
    unsettled: tuple[int, ...]
    seconds: Mapping[str, float]
    kept_from: str | None = None
    timed_out: bool = False

    @property
    def players(self) -> int:
        return self.graph.players

    @property
    def worth(self) -> tuple[float, ...]:
        """What each seat gets from the start, in the order of the moves."""
        return tuple(self.values[0].tolist())

    @property
    def win_probabilities(self) -> tuple[float, ...]:
        """How likely each seat wins from the start; empty in a game for payoffs."""
        return () if has_payoffs(self.graph) else self.worth

    @property
    def payoffs(self) -> tuple[float, ...]:
        """What each seat is paid from the start, on average; empty in a game that is won."""
        return self.worth if has_payoffs(self.graph) else ()

    @property
    def error_bound(self) -> float:
        """The largest error of a value."""
        return float(self.error_bounds.max())

    @property
    def deviation_gain(self) -> float:
        """What nobody can gain more than by another policy, in any position."""
        return float(self.deviation_gains.max())

    @property
    def unproved(self) -> NDArray[np.int64]:
        """The states of which no bound was proved: play leaves some too slowly, or leads there."""
        return np.flatnonzero(~np.isfinite(self.deviation_gains).all(axis=1))

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

    @cached_property
    def action_worths(self) -> Floats:
        """What each action brings each seat, if all go on by the policy.

        Returns
        -------
        (n_actions, players) float64
            Seen from the mover.
        """
        stakes = Stakes.of(self.graph)
        worth = self._mean_after(stakes.units(self.values), tables_of(self.graph))
        return np.asarray(stakes.paid(worth))

    @cached_property
    def action_errors(self) -> Floats:
        """How far the mover's number of each action can be off: (n_actions,), in units of `Stakes`.

        By the errors of the next states, the margin with which an equilibrium is looked for, and
        roundings. Where nothing is known of an error, it counts as none.
        """
        graph = self.graph
        known = np.where(np.isfinite(self.error_bounds), self.error_bounds, 0.0)
        known /= Stakes.of(graph).span
        *chances, payoffs = tables_of(graph)
        off = self._mean_after(known, (*chances, np.zeros_like(payoffs)))  # ends are known
        terms = 16.0 + float(np.diff(graph.lotteries.indptr).max())
        return np.asarray((1.0 + 2.0 * terms * UNIT) * off[:, 0] + MARGIN + 2.0 * terms * UNIT)

    def _mean_after(self, numbers: Floats, tables: tuple[NDArray[np.generic], ...]) -> Floats:
        """The mean of numbers of seats over the outcomes of each action: (n_actions, players)."""
        graph = self.graph
        lists = graph.action_indptr, graph.outcome_indptr, graph.outcome_state
        mean = np.empty((graph.n_actions, graph.players))
        worth_of_actions(np.arange(graph.n_states), *lists, tables, numbers, mean)
        return mean

    def after(self, outcome: Outcome) -> Floats:
        """What an outcome brings each seat, seen from the mover: (players,) float64."""
        if outcome.is_over:
            return np.array(outcome.shares)
        rolled: Floats = np.roll(self.values[outcome.target], outcome.seats_on)
        return rolled

    @cached_property
    def ties(self) -> Ties:
        """Where movers have several actions that are equally good to them, and who cares."""
        from rollwise.many.ties import find_ties

        return find_ties(self)

    def others(
        self, starts: int = 5, *, seed: int = 1, progress: Progress | None = None
    ) -> OtherEquilibria:
        """Look for other equilibria, from so many other starts and by supports.

        Parameters
        ----------
        starts : int
            Searches that begin with a policy drawn at random.
        seed : int
            Of the first; each has the next.

        Returns
        -------
        OtherEquilibria
            None found is no proof that there is none.
        """
        from rollwise.many.others import find_others

        return find_others(self, starts, seed=seed, progress=progress)

    def with_profile(self, profile: Found) -> Equilibrium:
        """Another profile of the same game, with the proof of how good it is."""
        return proved(self.graph, self.game, profile, {})


def equilibrium(
    game: Game,
    *,
    max_states: int | None = None,
    seed: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Equilibrium:
    """Find an equilibrium of a game of three or more players, and prove how good it is.

    Parameters
    ----------
    game : Game
    max_states : int, optional
        Stop with an error beyond this many states.
    seed : int, optional
        Begin the search with a policy drawn at random. Another start may lead to another
        equilibrium. Unless given, it begins with the first action everywhere.
    time_limit : float, optional
        Seconds after which it looks no further. What is left then keeps the first action, and is
        `unsettled`; the proofs hold of it too.
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
    graph = build_seats(game, max_states=max_states, progress=progress)
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
    """As `equilibrium`, on a graph that is there: see `rollwise.many.seats.build_seats`."""
    if time_limit is not None and not time_limit > 0:
        raise UsageError(f"time_limit is {time_limit}; it must be more than 0")
    began = time.perf_counter()
    until = None if time_limit is None else time.monotonic() + time_limit
    found = find_profile(graph, _stage(progress, "solving"), seed=seed, until=until)
    spent = {**seconds, "solve": time.perf_counter() - began}
    return proved(graph, game, found, spent, progress)


def proved(
    graph: StateGraph,
    game: Game,
    found: Found,
    seconds: Mapping[str, float],
    progress: Progress | None = None,
) -> Equilibrium:
    """A profile, and what is thought of its values, with the proof of how good it is.

    Parameters
    ----------
    found : Found
        With values from 0 to 1: see `rollwise.many.seats.Stakes`.
    """
    began = time.perf_counter()
    stakes, probability = Stakes.of(graph), found.probability
    values = stakes.on_grid(found.values)
    bounds, gains = prove_profile(graph, values, probability, _stage(progress, "certifying"))
    spent = {**seconds, "certify": time.perf_counter() - began}
    policy = Policy("optimal", probability)
    worth = stakes.paid(values), stakes.span * bounds, stakes.span * gains
    return Equilibrium(
        *(graph, game, policy, *worth, tuple(found.unsettled), spent), timed_out=found.timed_out
    )


def _stage(progress: Progress | None, name: str) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(name, done, total)
