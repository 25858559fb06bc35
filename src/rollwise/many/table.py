"""The table: who can sit there, what each seat gets, certified, and many games between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rollwise.answer.certified import solve_and_certify
from rollwise.answer.references import Policies
from rollwise.errors import PolicyError, UsageError
from rollwise.game import Game
from rollwise.graph import StateGraph, win_probability
from rollwise.graph.policies import Policy
from rollwise.many.seats import Stakes, against_all, build_seats, ending_payoffs, seen_from
from rollwise.numbers.randomness import check_seed, fresh_seed, stream
from rollwise.play.games import PlayTable


class Players(Policies):
    """Who can sit at the table: see `rollwise.answer.references.Policies`.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    equilibrium : Policy or callable, optional
        What ``optimal`` is, or what finds it when it is first asked for.
    """

    game: Game

    def __init__(
        self,
        graph: StateGraph,
        game: Game,
        equilibrium: Policy | Callable[[], Policy] | None = None,
    ) -> None:
        super().__init__(graph, game)
        self._equilibrium = equilibrium

    @classmethod
    def of(cls, subject: Game, **how: Any) -> Players:  # type: ignore[override]
        """Those of a game; without an equilibrium nobody is optimal."""
        return cls(build_seats(subject, **how), subject)

    @property
    def players(self) -> int:
        return self.graph.players

    @property
    def optimal(self) -> Policy:
        """The equilibrium's policy."""
        if self._equilibrium is None:
            raise PolicyError(f"{self.graph.title}: no equilibrium is known, so nobody is optimal")
        if not isinstance(self._equilibrium, Policy):
            self._equilibrium = self._equilibrium()
        return self._equilibrium

    def _named(self, reference: str) -> Policy:
        if reference == "optimal" and "optimal" not in self.game.policies():
            return self.optimal
        return super()._named(reference)


ADVERSARIES = "adversaries"  # who want nothing but to keep a seat from winning
ALLIES = "allies"  # who want nothing but that it wins
BLOCK = 1 << 16  # games played before they are counted


@dataclass(frozen=True)
class Shares:
    """What each seat gets from the start, on average.

    Attributes
    ----------
    policies : tuple of str
    win_probabilities : tuple of float
        In a game for payoffs these, here and below.
    error_bound : float
        Of each of them; proved.
    """

    policies: tuple[str, ...]
    win_probabilities: tuple[float, ...]
    error_bound: float


@dataclass(frozen=True)
class Response:
    """What one seat can get where all others play one policy.

    Attributes
    ----------
    policy : str
    win_probabilities : tuple of float
        Of each seat from the start, with the same policy; empty where there is none.
    best : tuple of float
        The same with the best response to it.
    error_bound : float
        Of each of them; proved.
    """

    policy: str
    win_probabilities: tuple[float, ...]
    best: tuple[float, ...]
    error_bound: float


@dataclass(frozen=True)
class Played:
    """What each seat got in many games.

    Attributes
    ----------
    win_rates, standard_errors : tuple of float
    moves : float
        Actions in a game, on average.
    """

    policies: tuple[str, ...]
    games: int
    seed: int
    win_rates: tuple[float, ...]
    standard_errors: tuple[float, ...]
    moves: float


def evaluate_seats(graph: StateGraph, policies: Sequence[Policy]) -> Shares:
    """What each seat gets from the start, where each plays a policy of its own.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    policies : sequence of Policy
        One a seat, in the order of the moves; one alone is everybody's.
    """
    seated = _one_each(graph, policies)
    profile = [policy.probability for policy in seated]
    found = [_certified(seen_from(graph, seat, profile)) for seat in range(graph.players)]
    return Shares(
        tuple(policy.name for policy in seated),
        tuple(value for value, _ in found),
        max(bound for _, bound in found),
    )


def respond_to(graph: StateGraph, policy: Policy) -> Response:
    """The best response of each seat where all others play one policy.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    """
    n, size = graph.players, graph.n_states
    others = [policy.probability] * n
    worth, best = (
        solve_and_certify(seen_from(graph, 0, [first, *others[1:]]))
        for first in (policy.probability, None)
    )
    starts = [-seat % n * size for seat in range(n)]  # the seat k is to move after n - k others
    return Response(
        policy.name,
        tuple(worth.found.values[starts].tolist()),
        tuple(best.found.values[starts].tolist()),
        float(max(x.certificate.bounds[starts].max() for x in (worth, best))),
    )


def respond_to_all(graph: StateGraph, others: str) -> Response:
    """What each seat has if all others want nothing but to keep it from winning, or that it wins.

    Against adversaries it is the value of a game for two, the seat and all others together:
    a lower bound of what the seat has in any equilibrium. With allies it is that of a game for one:
    an upper bound of what it has whatever anybody plays.

    Parameters
    ----------
    graph : StateGraph
        From `rollwise.many.seats.build_seats`.
    others : {"adversaries", "allies"}
    """
    n, size = graph.players, graph.n_states
    starts = [-seat % n * size for seat in range(n)]
    if others == ALLIES:
        alone, certificate, _ = solve_and_certify(seen_from(graph, 0, [None] * n))
        best = alone.values[starts]
        return Response(ALLIES, (), tuple(best.tolist()), float(certificate.bounds[starts].max()))
    found, certificate, _ = solve_and_certify(against_all(graph))
    stakes = Stakes.of(graph)
    sign = np.where(np.arange(n) == 0, 1.0, -1.0)  # of the others' states, in their eyes
    return Response(
        ADVERSARIES,
        (),
        tuple(stakes.paid(win_probability(sign * found.values[starts])).tolist()),
        float(stakes.error(certificate.bounds[starts].max() / 2.0 + 2.0**-52)),
    )


def simulate_seats(
    graph: StateGraph, policies: Sequence[Policy], *, games: int, seed: int | None = None
) -> Played:
    """Play games from the start, each seat by a policy of its own.

    Parameters
    ----------
    games : int
        At least 2.
    """
    if games < 2:
        raise UsageError(f"games is {games}; it must be at least 2")
    seated = _one_each(graph, policies)
    drawn = fresh_seed() if seed is None else check_seed(seed)
    table, words, n = (
        PlayTable.of(graph, *(seated if len(set(seated)) > 1 else seated[:1])),
        stream(drawn, 0),
        graph.players,
    )
    totals, moves = np.zeros((2, n)), 0
    payoffs, seats = ending_payoffs(graph), np.arange(n)
    for begin in range(0, games, BLOCK):
        ends = table.run(np.full(min(BLOCK, games - begin), table.starts[0]), words)
        # the mover is the first of an ending's payoffs
        got = payoffs[ends.ended[:, None], (seats - ends.passes[:, None]) % n]
        totals += got.sum(axis=0), (got**2).sum(axis=0)
        moves += int(ends.moves.sum())
    means = totals[0] / games
    spread = np.maximum(totals[1] / games - means**2, 0.0) * games / (games - 1)
    return Played(
        tuple(policy.name for policy in seated),
        games,
        drawn,
        tuple(means.tolist()),
        tuple(math.sqrt(x / games) for x in spread.tolist()),
        moves / games,
    )


def _certified(graph: StateGraph) -> tuple[float, float]:
    """The value of the start, and its error bound."""
    found, certificate, _ = solve_and_certify(graph)
    return float(found.values[0]), float(certificate.bounds[0])


def _one_each(graph: StateGraph, policies: Sequence[Policy]) -> list[Policy]:
    if len(policies) == 1:
        return [policies[0]] * graph.players
    if len(policies) != graph.players:
        raise UsageError(
            f"{graph.title} has {graph.players} seats, and {len(policies)} policies were given; "
            "give one for each, or one for all"
        )
    return list(policies)
