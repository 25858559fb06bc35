"""Shortest and longest expected game lengths, with cooperating or opposed players.

The number of moves of a play is the score of a game with a point for every move; the throw before a
choice is no move. Extreme lengths are solved and certified like any other score. Cooperating
players are one player. Opposed players, one for a long play and one for a short play, play for
stakes: each move is worth 1 to the one, -1 to the other. Such chains may be slow, with a millionth
of the error removed in a sweep. Even then the steps of strategy iteration solve linear systems, and
the certificate weighs errors by the remaining length of the play (Bertsekas and Tsitsiklis, An
analysis of stochastic shortest path problems, Mathematics of Operations Research 16, 1991).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from rollwise.analysis.chain import Chain
from rollwise.answer.certified import Certified, CertifiedResult, solve_and_certify
from rollwise.answer.layer_lengths import Bracket, LayerLengths, require_no_pool
from rollwise.answer.references import (
    AnyPolicy,
    Policies,
    Subject,
    first_chosen,
    moves_of,
    together,
)
from rollwise.derive.seats import take_seats
from rollwise.errors import EndlessPlay, UsageError
from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.graph.choices import has_choice
from rollwise.graph.endings import describe, end_components
from rollwise.graph.policies import Policy, Ties, ties_in_play
from rollwise.hooks import InWords
from rollwise.machine.interrupts import Clock, asked_first
from rollwise.many.seats import seen_from

AIMS = {  # of several players, and of one alone
    "shortest": ("both want it short", "as short as can be"),
    "policy": ("both play {}", "{}"),
    "first hurries": ("who begins wants it short, the other long", ""),
    "first stretches": ("who begins wants it long, the other short", ""),
    "longest": ("both want it long", "as long as can be"),
}
OPPOSED = ("first hurries", "first stretches")


class Spread(NamedTuple):
    """The mean and variance of a number of moves, or of points.

    Attributes
    ----------
    mean, variance : Certified
    ties : Ties or None
        The ties among the best actions for this mean. Other choices in them may have another
        variance.
    """

    mean: Certified
    variance: Certified
    ties: Ties | None = None

    @property
    def deviation(self) -> Certified:
        """The standard deviation."""
        return self.variance.root


@dataclass(frozen=True, eq=False)
class Length:
    """The number of moves of a play from the start, for an aim of its players.

    Attributes
    ----------
    aim : str
        A key of `AIMS`.
    moves : Spread or None
        None for endless play, for an unfinished search, and for opposed players where both together
        could prolong play for ever, without a proof.
    endless : str
        The reason, where the players can prolong play for ever; else empty.
    unsettled : Bracket or None
        Proved bounds of an unfinished search.
    by_layers : bool
        Whether the search went by layers. Its ties are unknown.
    """

    aim: str
    moves: Spread | None
    endless: str = ""
    unsettled: Bracket | None = None
    by_layers: bool = False

    @property
    def ties(self) -> Ties | None:
        """The ties behind the standard deviation, if any are known."""
        return None if self.moves is None else self.moves.ties

    @property
    def bracket(self) -> Bracket | None:
        """Proved bounds of the expected moves; the upper one is infinite without a proof.

        None for endless play, and without a proof.
        """
        if self.moves is None:
            return self.unsettled
        value, bound = self.moves.mean
        low = max(math.nextafter(value - bound, -math.inf), 0.0)
        return Bracket(low, math.nextafter(value + bound, math.inf))


@dataclass(frozen=True, eq=False, repr=False)
class LengthRange(InWords):
    """The expected lengths of a game from the start.

    Attributes
    ----------
    policy : str
        Empty without a policy.
    players : int
    lengths : tuple of Length
        By their aims; those of one player against the other only in a game for two.
    score : Spread or None
        Of a game for points, under the policy; None too where its plays need not end.
    timed_out, stopped : bool
        Whether the time limit, or Ctrl-C, ended the search.
    ties : Ties or None
        The effect of the choice among equally good actions on the figures under an optimal policy.
    subject : StateGraph or Game
        The rules, or a graph without rules.
    """

    policy: str
    players: int
    lengths: tuple[Length, ...]
    score: Spread | None
    timed_out: bool = False
    stopped: bool = False
    ties: Ties | None = None
    subject: StateGraph | Game | None = field(default=None, repr=False, compare=False)

    def of(self, aim: str) -> Length:
        """The length with an aim."""
        return next(length for length in self.lengths if length.aim == aim)

    def words(self, length: Length) -> str:
        """The players' aim for a length."""
        together, alone = AIMS[length.aim]
        if self.players > 2:
            together = together.replace("both", "all")
        return (together if self.players > 1 else alone).format(self.policy)


def length_range(
    game: Subject,
    policy: AnyPolicy = "optimal",
    *,
    progress: Callable[[str, int, int], None] | None = None,
) -> LengthRange:
    """Shortest and longest expected length of a game, and the length under a policy.

    Parameters
    ----------
    game : Game, Solution, StateGraph or Policies
        For any number of players.
    policy : str, callable or Policy
        The policy of all players, for the expected length.

    Returns
    -------
    LengthRange
        Certified.

    Raises
    ------
    PolicyError
        There is no such policy.

    Examples
    --------
    >>> from rollwise.games.pig import Piglet
    >>> found = length_range(Piglet(target=3))
    >>> [round(found.of(aim).moves.mean.value, 6) for aim in ("shortest", "longest")]
    [11.4, 14.0]
    """
    policies = Policies.of(game, any_players=True)
    graph, played = policies.graph, policies.find(policy)
    free, chain = _one_will(graph, None), _one_will(graph, played)
    by_aim = {
        "shortest": _length(
            "shortest", free, lambda: _spread(together(free, "shortest"), progress)
        ),
        "policy": _length("policy", chain, lambda: _spread(together(chain, "longest"), progress)),
        "longest": _length("longest", free, lambda: _spread(together(free, "longest"), progress)),
    }
    if graph.players == 2:
        seats = take_seats(graph, [None, None], [0]).graph
        opposed = _Opposed(seats, progress)
        for root, aim in enumerate(("first stretches", "first hurries")):
            by_aim[aim] = _length(aim, seats, partial(opposed.spread, root))
    lengths = tuple(by_aim[aim] for aim in AIMS if aim in by_aim)
    score = None
    if graph.objective != "win" and not len(end_components(chain)):  # else play need not end
        score = Spread(*Chain.of(graph, played, progress=progress).results()[0])
    ties = ties_in_play(graph, played) if graph.players < 3 else None
    subject = policies.game or graph
    return LengthRange(played.name, graph.players, lengths, score, ties=ties, subject=subject)


def _one_will(graph: StateGraph, policy: Policy | None) -> StateGraph:
    """The game with a single player for all seats, following a policy or choosing freely."""
    if graph.players <= 2:
        return take_seats(graph, [policy], [0]).graph
    moves = None if policy is None else policy.probability
    return seen_from(graph, 0, [moves] * graph.players)


def length_range_by_layer(
    game: Game,
    *,
    max_states: int | None = None,
    time_limit: float | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> LengthRange:
    """Shortest and longest expected length of a large game, one layer at a time.

    Parameters
    ----------
    game : Game
        With throws, and a method ``progress(s)`` that no outcome lowers.
    max_states : int, optional
        Stop with an error beyond this many states; the default is the room in memory.
    time_limit : float, optional
        Seconds of search, shared among the layers. Unsettled lengths have proved bounds then:
        `Length.unsettled`. Building all layers is not limited.
        Ctrl-C has the same effect once the states are found; another one interrupts.
    progress : callable, optional
        Called now and then as ``progress(stage, done, total or None)``.

    Returns
    -------
    LengthRange
        Certified, for cooperating players.

    Raises
    ------
    UsageError
        The rules have a pool of dice, or no progress.
    TooManyStates, TooLittleMemory
    """
    from rollwise.builders.by_layer import find_layers
    from rollwise.builders.contract import require_two
    from rollwise.builders.rules import Rules

    if time_limit is not None and not time_limit > 0:
        raise UsageError(f"time_limit is {time_limit}; it must be more than 0")
    clock = Clock(time_limit)
    require_two(game)
    require_no_pool(Rules(game))
    layers = find_layers(game, max_states=max_states, progress=progress)
    lengths, timed_out = [], False
    with asked_first() as interrupt:
        # the first search may take half of the time, the second all that is left
        for aim in ("shortest", "longest"):
            longest = aim == "longest"
            by_layers = LayerLengths(
                *(layers, longest, progress),
                clock=clock if longest else Clock(clock.left / 2),
                is_asked=lambda: interrupt.asked,
            )
            lengths.append(_length_by_layer(aim, by_layers, layers.start))
            timed_out |= by_layers.timed_out
    ended = any(length.unsettled is not None for length in lengths)
    stopped = ended and interrupt.asked
    return LengthRange(
        *("", game.players, tuple(lengths), None),
        timed_out=timed_out and not stopped,
        stopped=stopped,
        subject=game,
    )


def _length_by_layer(aim: str, lengths: LayerLengths, start: int) -> Length:
    try:
        lengths.run()
    except EndlessPlay as error:
        return Length(aim, None, str(error), by_layers=True)
    if lengths.n_unsettled or math.isinf(lengths.above):
        return Length(aim, None, unsettled=lengths.bracket(start), by_layers=True)
    mean, variance = lengths.spread(start)
    return Length(aim, Spread(Certified(*mean), Certified(*variance)), by_layers=True)


def _length(aim: str, graph: StateGraph, find: Callable[[], Spread]) -> Length:
    with suppress(EndlessPlay):
        moves = find()
        if math.isfinite(moves.mean.bound):
            return Length(aim, moves)
    components = end_components(graph)
    if not len(components):
        return Length(aim, None, "no bound could be proved")
    places = describe(graph, components.states, components.stays)
    opposed = "not proved, since both together could keep" if aim in OPPOSED else "they can keep"
    return Length(aim, None, f"{opposed} play up for ever: {places}")


class _Opposed:
    """A game between one player for a long play and one for a short play.

    The mover of the first half of the graph wants a long play.
    """

    def __init__(self, seats: StateGraph, progress: Callable[[str, int, int], None] | None) -> None:
        self._progress = progress
        seat = seats.states[:, -1][seats.action_state]
        # the mover of the first half gains a point a move, the other one pays it
        self._graph = seats.with_arrays(
            action_reward=np.where(seat == 0, 1.0, -1.0) * moves_of(seats),
            outcome_payoff=np.zeros(seats.n_outcomes),
        )

    @cached_property
    def _found(self) -> CertifiedResult:
        return solve_and_certify(self._graph, progress=self._progress)

    def spread(self, root: int) -> Spread:
        """The moves of a play from the start, by the first mover."""
        graph, found = self._graph, self._found
        best = first_chosen(graph, found.found.values, found.certificate.bounds)
        moves = together(graph, "longest")
        chain = Chain.of(moves, best, start=root, progress=self._progress)
        mean = found.at(root, 1.0 if root == 0 else -1.0)
        return Spread(mean, chain.results()[0][1], ties_in_play(graph, best, start=root))


def _spread(graph: StateGraph, progress: Callable[[str, int, int], None] | None) -> Spread:
    """The mean of a score from the start, and its variance with the best actions."""
    if not has_choice(graph).any():
        only = Policy("", np.ones(graph.n_actions))
        return Spread(*Chain.of(graph, only, progress=progress).results()[0])
    found = solve_and_certify(graph, progress=progress)
    best = first_chosen(graph, found.found.values, found.certificate.bounds)
    (_, variance), *_ = Chain.of(graph, best, progress=progress).results()
    return Spread(found.at(), variance, ties_in_play(graph, best))
