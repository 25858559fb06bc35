"""The graph of a game of three or more players, and its form for one of the seats.

A state is written from the view of the mover; seat k is the k-th after the mover. The payoffs of
an ending to all seats are one number, as the rules gave it: see `rollwise.numbers.shares`.

With known policies of the other seats, a game is one for a single player: `seen_from` makes an
ordinary graph of it, with a copy of each state for each seat to move. Every method solves it,
and the ordinary certificate proves it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.builders import build, build_with_report
from rollwise.derive.changed import with_draw
from rollwise.derive.seats import Seats, take_seats
from rollwise.errors import RulesError
from rollwise.game import Game, has_many, require_game
from rollwise.graph import StateGraph
from rollwise.graph.lotteries import Lotteries, pointers
from rollwise.graph.naming import OF_SEATS
from rollwise.graph.policies import Policy
from rollwise.numbers.shares import brought
from rollwise.then import bits_of, then_text

Floats = NDArray[np.float64]


def build_seats(game: Game, **how: Any) -> StateGraph:
    """The graph of a game of any number of players.

    Parameters
    ----------
    **how
        As in `rollwise.build`.

    Raises
    ------
    RulesError
        An end of the game gives no result for the seats.
    """
    graph, _ = build_with_report(game, any_players=True, **how)
    payoffs_of(graph)
    return graph


def build_for_all(game: Game, **how: Any) -> StateGraph:
    """The graph of a game; for three or more players from `build_seats`."""
    return build_seats(game, **how) if has_many(require_game(game)) else build(game, **how)


def payoffs_of(graph: StateGraph) -> Floats:
    """Payoffs of each outcome of the lotteries to each seat, from the mover on.

    Returns
    -------
    (n_lottery_outcomes, players) float64
        Shares of one win, or payoffs; 0 if the game goes on.
    """
    lotteries = graph.lotteries
    ending = np.searchsorted(graph.ending_payoffs, np.where(lotteries.over, lotteries.payoff, 0.0))
    return np.where(lotteries.over[:, None], ending_payoffs(graph)[ending], 0.0)


def ending_payoffs(graph: StateGraph) -> Floats:
    """Payoffs of each ending to each seat, from the mover on: (n_endings, players) float64.

    The rows are those of ``graph.ending_payoffs``; 0 for endings that never occur.
    """
    payoffs = np.zeros((len(graph.ending_payoffs), graph.players))
    for payoff, numbers in _endings(graph):
        payoffs[graph.ending_payoffs == payoff] = [float(x) for x in numbers]
    return payoffs


def _endings(graph: StateGraph) -> list[tuple[float, tuple[Fraction, ...]]]:
    """The possible payoffs of an end, and the payoffs to each seat, from the mover on."""
    n, endings = graph.players, []
    for payoff in np.unique(graph.lotteries.payoff[graph.lotteries.over]).tolist():
        numbers = brought(payoff, n)
        if not numbers:
            raise RulesError(
                f"{graph.title}: it can end with {then_text(bits_of(payoff))}; a game for {n} ends "
                f"with WIN, LOSE, DRAW, won_by(seats), with seats from 0 to {n - 1}, or "
                f"shared(...) or payoffs(...) with a number for each of {n} seats"
            )
        endings.append((payoff, numbers))
    return endings


def parts_of_a_win(graph: StateGraph) -> int:
    """The least number of equal parts of which all payoffs of endings are made."""
    return math.lcm(*(x.denominator for _, numbers in _endings(graph) for x in numbers))


class Stakes(NamedTuple):
    """The scale of payoffs: a number from 0 to 1, times `span`, plus `low`.

    Equilibria are computed and proved in such numbers. Shares of a win are unchanged. The span is
    a power of two and `low` a whole number, so that no payoff on the `grid` is rounded.
    """

    low: int
    span: int

    @classmethod
    def of(cls, graph: StateGraph) -> Stakes:
        if not has_payoffs(graph):
            return cls(0, 1)
        numbers = [x for _, numbers in _endings(graph) for x in numbers]
        low = math.floor(min(numbers))
        return cls(low, 1 << (math.ceil(max(numbers)) - low - 1).bit_length())

    @property
    def is_plain(self) -> bool:
        return self.low == 0 and self.span == 1

    @property
    def grid(self) -> float:
        """Multiples of this are numbers whose payoffs are doubles."""
        most = max(abs(self.low), abs(self.low + self.span))
        return 2.0 ** ((most - 1).bit_length() - 52) / self.span

    def on_grid(self, units: Floats) -> Floats:
        """The nearest numbers whose payoffs aren't rounded."""
        return units if self.is_plain else np.asarray(np.rint(units / self.grid) * self.grid)

    def units(self, numbers: Any) -> Any:
        """Payoffs as numbers from 0 to 1."""
        return numbers if self.is_plain else (numbers - self.low) / self.span

    def paid(self, units: Any) -> Any:
        """Numbers from 0 to 1 as payoffs."""
        return units if self.is_plain else self.low + self.span * units

    def error(self, units: Any) -> Any:
        """How far off payoffs may be, if numbers from 0 to 1, also off the grid, are by so much."""
        most = abs(self.low) + self.span
        return units if self.is_plain else self.span * units + 2.0**-50 * most


def has_payoffs(graph: StateGraph) -> bool:
    """Whether the game is for payoffs, one a seat, and not for a win or shares of it."""
    return graph.lotteries.has_seat_payoffs()


def worth_column(graph: StateGraph) -> str:
    """The name of the column with the values of a seat."""
    win, payoff = OF_SEATS
    return payoff if graph.is_score else win


def seat_columns(graph: StateGraph, worths: Floats) -> dict[str, Floats]:
    """A column of values for each seat from the mover on, from (n, players) float64."""
    return {f"{worth_column(graph)}.{seat}": column for seat, column in enumerate(worths.T)}


def seen_from(
    graph: StateGraph,
    seat: int,
    profile: Sequence[Floats | None],
) -> StateGraph:
    """The game for one seat, with given policies of some seats.

    Parameters
    ----------
    graph : StateGraph
        From `build_seats`.
    seat : int
        The seat whose payoff counts.
    profile : sequence of (n_actions,) float64 or None
        Probability of each action for each seat. None leaves a seat free, as if `seat` chose for
        it.

    Returns
    -------
    StateGraph
        For one player. State s with seat j to move is state ``j * n_states + s``.
    """
    return reached_from(graph, seat, profile, None).graph


def reached_from(
    graph: StateGraph,
    seat: int,
    profile: Sequence[Floats | None],
    starts: Sequence[int] | None,
) -> Seats:
    """As `seen_from`, of the positions that play reaches from some states, with any seat to move.

    Parameters
    ----------
    starts : sequence of int or None
        All states unless given.
    """
    policies = [None if chance is None else Policy("given", chance) for chance in profile]
    seats = take_seats(graph, policies, starts, lotteries=of_movers(graph, seat))
    alone = replace(seats.graph, players=1, objective="win", n_roots=1, endless="forbidden")
    return replace(seats, graph=alone)


def of_movers(graph: StateGraph, seat: int) -> Lotteries:
    """The lotteries of a graph in the eyes of one seat: with seat 0 to move, with seat 1, ..."""
    n, lotteries, payoffs = graph.players, graph.lotteries, payoffs_of(graph)
    passes, reward = np.zeros(len(payoffs), np.bool_), np.zeros(len(lotteries.reward))
    seen = (
        lotteries._replace(reward=reward, passes=passes, payoff=payoffs[:, (seat - mover) % n])
        for mover in range(n)
    )
    return reduce(Lotteries.followed_by, seen)


def against_all(
    graph: StateGraph,
    profile: Sequence[Floats | None] | None = None,
    starts: Sequence[int] | None = None,
) -> Seats:
    """The game of the first seat against all others together, as one for two players.

    Parameters
    ----------
    graph : StateGraph
        From `build_seats`.
    profile : sequence of (n_actions,) float64 or None, optional
        Probability of each action for each seat. None leaves a seat free, all seats unless given:
        free others only try to keep the first seat from winning.
    starts : sequence of int, optional
        As in `reached_from`.

    Returns
    -------
    Seats
        Payoffs are those of the mover, 1 for the first seat's maximum and -1 for its minimum.
    """
    stakes = Stakes.of(graph)
    seats = reached_from(graph, 0, profile or [None] * graph.players, starts)
    alone, mine = seats.graph, seats.key < seats.n_before
    here = np.repeat(mine[alone.action_state], np.diff(alone.outcome_indptr))
    goes_on = alone.outcome_state >= 0
    there = mine[np.where(goes_on, alone.outcome_state, 0)]
    payoff = np.where(here, 1.0, -1.0) * (2.0 * stakes.units(alone.outcome_payoff) - 1.0)
    two = alone.with_arrays(
        players=2,
        outcome_passes=goes_on & (here != there),
        outcome_payoff=np.where(goes_on, 0.0, payoff),
    )
    return replace(seats, graph=two)


def in_a_drawn_seat(graph: StateGraph, others: Floats) -> StateGraph:
    """The game for one player in a random seat, among others with a given policy.

    Parameters
    ----------
    graph : StateGraph
        From `build_seats`.
    others : (n_actions,) float64
        Probability of each action for all others.

    Returns
    -------
    StateGraph
        For one player, who wins or loses: an ending with a share of the win is won with this
        probability. A game for payoffs remains one for payoffs. State 0 is before the draw of the
        seat. Then states follow as in `seen_from`, one place on. The player's actions are those of
        `graph`, one place on.
    """
    n, size = graph.players, graph.n_states
    alone = seen_from(graph, 0, [None, *[others] * (n - 1)])
    share = alone.outcome_payoff
    over = alone.outcome_state < 0
    paid = has_payoffs(graph)
    part = over & (share > 0.0) & (share < 1.0) & (not paid)
    times = 1 + part.astype(np.int64)
    lost = np.zeros(int(times.sum()), np.bool_)  # the second one of an ending that was a share
    lost[np.cumsum(times)[part] - 1] = True
    payoff = share if paid else np.where(over, np.where(share > 0.0, 1.0, -1.0), 0.0)
    payoff = np.where(lost, -1.0, np.repeat(payoff, times))
    weight = np.repeat(alone.outcome_weight.astype(np.float64), times)
    split = np.repeat(np.where(part, share, 1.0), times)
    weight *= np.where(lost, 1.0 - split, split)
    split_up = alone.with_arrays(
        outcome_indptr=pointers(np.add.reduceat(times, alone.outcome_indptr[:-1])),
        outcome_state=np.repeat(alone.outcome_state, times),
        outcome_weight=weight,
        outcome_passes=np.zeros(len(weight), np.bool_),
        outcome_payoff=payoff,
    )
    nobody = np.append(alone.states[0, :-1], n)  # the start, with no seat to move
    return with_draw(split_up, nobody, size * np.arange(n))
