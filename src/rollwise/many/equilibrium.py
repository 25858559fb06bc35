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

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.references import AnyPolicy
from rollwise.errors import UsageError
from rollwise.game import Game, require_game
from rollwise.graph import Outcome, StateGraph
from rollwise.graph.policies import Policy
from rollwise.machine.atomic_files import write_atomically
from rollwise.machine.parquet_files import write_parquet
from rollwise.many.finding import Found, find_profile
from rollwise.many.proving import prove_profile
from rollwise.many.seats import Stakes, build_seats, has_payoffs
from rollwise.many.table import Players

if TYPE_CHECKING:
    import polars as pl
    from plotly.graph_objects import Figure

    from rollwise.machine.html_pages import HtmlPage
    from rollwise.many.mover_view import MoverView
    from rollwise.many.others import OtherEquilibria
    from rollwise.many.ties import Ties

Floats = NDArray[np.float64]
Progress = Callable[[str, int, int | None], None]
PLACE = "place"  # a column of a file: the number of the action in the graph


@dataclass(frozen=True, eq=False)
class Worth:
    """What one action brings each seat, seen from the mover.

    Attributes
    ----------
    action : str
    chance : float
        How likely the mover takes it.
    values : tuple of float
    """

    action: str
    chance: float
    values: tuple[float, ...]


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

    def find(
        self, state: Sequence[Any] | Mapping[str, Any], throw: Any = None, rolls: int | None = None
    ) -> int:
        """The number of a state, as `rollwise.StateGraph.find` takes it."""
        return self.graph.find(state, throw, rolls)

    def advise(self, state: int) -> list[Worth]:
        """What each action of a state brings each seat, if all go on by the policy."""
        found = []
        for action in self.graph.view[state].actions:
            total = sum(outcome.weight for outcome in action.outcomes)
            values = np.zeros(self.players)
            for outcome in action.outcomes:
                values += outcome.weight / total * self.after(outcome)
            chance = float(self.policy.probability[action.index])
            found.append(Worth(action.name, chance, tuple(values.tolist())))
        return found

    def after(self, outcome: Outcome) -> Floats:
        """What an outcome brings each seat, seen from the mover: (players,) float64."""
        if outcome.is_over:
            return np.array(outcome.shares)
        rolled: Floats = np.roll(self.values[outcome.target], outcome.seats_on)
        return rolled

    def rows(self, where: str | None = None, *, throws: bool = False) -> pl.DataFrame:
        """The strategy as a table: a row for each action that is taken, most states have one.

        Parameters
        ----------
        where : str, optional
            Which rows, as `Solution.table` takes it.
        throws : bool
            Rows also for positions before a throw, in which nothing is chosen.

        Returns
        -------
        DataFrame
            The fields, ``action``, its ``probability``, ``win_probability.0`` of the mover and
            so on round the table (``payoff.0`` in a game for payoffs), ``error_bound`` and
            ``deviation_gain``.
        """
        return self.seen.table(where, throws=throws)

    def find_policy(self, policy: AnyPolicy) -> Policy:
        """A policy by what is typed for it; ``optimal`` is the equilibrium's."""
        return self.table.find(policy)

    @property
    def table(self) -> Players:
        """The policies that may play."""
        return Players(self.graph, self.game, self.policy)

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

    @cached_property
    def seen(self) -> MoverView:
        """It as a solution of whoever moves: what pictures and reports read."""
        from rollwise.many.mover_view import MoverView

        return MoverView.of(self)

    def plot(self, kind: str = "policy", **choices: Any) -> Figure:
        """Draw it: a Plotly figure, which a notebook shows by itself.

        Parameters
        ----------
        kind : str
            policy, value, regret, surface or limit, in the mover's eyes; or rivals: how the
            limit of a decision differs with two rivals in each other's places.
        **choices
            See `rollwise.plot.Choices`.

        Raises
        ------
        MissingExtra
            Plotly isn't installed.
        UsageError
            The kind makes no sense for this game, or a choice doesn't fit it.
        """
        return self.seen.plot(kind, **choices)

    def report(self, path: str | Path | None = None, *, rules: int = 0) -> HtmlPage:
        """The whole answer as one page for people, as `Solution.report` writes it."""
        return self.seen.report(path, rules=rules)

    def save(self, path: str | Path) -> None:
        """Write it to a Parquet file, which `rollwise.load_equilibrium` reads.

        It is written all at once or not at all. It is a table too: a row for each action that is
        taken, as in `rows`.
        """
        import polars as pl

        from rollwise.answer.storage import EQUILIBRIUM, FORMAT

        graph = self.graph
        taken = np.flatnonzero(self.policy.probability > 0)
        frame = self.rows(throws=True).with_columns(pl.Series(PLACE, taken))
        facts = {
            "format": FORMAT,
            "game": graph.game,
            "parameters": dict(graph.parameters),
            "graph_hash": graph.content_hash,
            "method": EQUILIBRIUM,
            "unsettled": list(self.unsettled),
            "deviation_gain": self.deviation_gain,
            "error_bound": self.error_bound,
        }
        metadata = {"rollwise": json.dumps(facts)}
        write_atomically(Path(path), lambda place: write_parquet(frame, place, metadata))


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
