"""The chance that a game is over, and won by each seat, within 1, 2, 3, ... turns.

The chance within k turns follows from that within k - 1 turns: a play of one turn ends, or leads to
a position after the turn, whose chance is known (Bellman, "A Markovian decision process", Journal
of Mathematics and Mechanics 6, 1957). A turn is solved as a graph with these positions as its
border, and certified like any other graph. A turn of one player is a move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import solve_and_certify
from rollwise.derive.seats import take_seats
from rollwise.derive.within import ends_of_turns
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import outcome_action
from rollwise.graph.policies import Policy
from rollwise.layers import layer_of_graph
from rollwise.many.seats import seen_from

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """Chances by the number of turns.

    Attributes
    ----------
    unit : {"turns", "moves"}
    over : (turns,) float64
        The chance that the game is over within 1, 2, 3, ... turns.
    won : list of (turns,) float64
        The chance that each seat has won; with three or more seats its expected share of the win.
        Empty in a game for points or payoffs.
    best : (turns,) float64 or None
        The largest chance of the first seat, with a policy for this number of turns.
    error_bound : float
        Of each chance; proved.
    """

    unit: str
    over: Floats
    won: list[Floats]
    best: Floats | None
    error_bound: float


def within(
    graph: StateGraph,
    policies: Sequence[Policy],
    turns: int,
    *,
    best: bool = False,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Curve:
    """The chances within each number of turns, from the start.

    Parameters
    ----------
    graph : StateGraph
        Of any number of players.
    policies : sequence of Policy
        One for each seat, in the order of the moves; a single one is for all seats.
    turns : int
    best : bool
        Also the best chance of the first seat. A second player tries to prevent the win.
    progress : callable, optional

    Raises
    ------
    UsageError
        The wrong number of turns or policies, or `best` for a game without a winner, or of three or
        more players.
    EndlessPlay
        A turn need not end.
    """
    seats = graph.players
    if turns < 1:
        raise UsageError(f"the number of turns is {turns}; it must be at least 1")
    if len(policies) not in (1, seats):
        raise UsageError(f"{graph.title} has {seats} seats, and {len(policies)} policies are given")
    if best and (graph.is_score or seats > 2):
        raise UsageError(
            f"{graph.title}: the best chance to win in time is for games of one player or two that "
            "are won or lost"
        )
    curves = [_Turns(graph, list(policies) * (seats // len(policies)))]
    if best:
        curves.append(_Turns(graph, [None] * seats))
    chain = curves[0]
    wanted = [(chain, None), *((chain, seat) for seat in range(seats) if not graph.is_score)]
    wanted += [(free, 0) for free in curves[1:]]
    rows, bounds = [], []
    for number, (of, seat) in enumerate(wanted):
        if progress is not None:
            progress("turns", number, len(wanted))
        row, bound = of.chances(seat, turns)
        rows.append(row)
        bounds.append(bound)
    over, *won = rows
    unit = "moves" if seats == 1 else "turns"
    return Curve(unit, over, won[: len(won) - best], won[-1] if best else None, max(bounds))


class _Turns:
    """One turn after the other, with given policies or the best ones.

    Chances are those of one player, or in a game of two with a choice, of the mover: negative if
    the second seat moves.
    """

    def __init__(self, graph: StateGraph, policies: Sequence[Policy | None]) -> None:
        self.players = graph.players
        if graph.players > 2:
            probabilities = [None if one is None else one.probability for one in policies]
            graphs = [seen_from(graph, seat, probabilities) for seat in range(graph.players)]
            self.graph, self.won = graphs[0], [one.outcome_payoff for one in graphs]
            mover = (np.arange(self.graph.n_states) // graph.n_states).astype(np.int32)
        else:
            taken = take_seats(graph, policies, [0])
            self.graph, mover = taken.graph, taken.key // taken.n_before
        source = self.graph.action_state[outcome_action(self.graph)]
        self.mover = mover[source]
        if graph.players > 2:
            self.ends = mover[self.graph.outcome_state] != self.mover
        else:
            self.ends = ends_of_turns(self.graph)
            first = np.where(self.mover == 0, 1.0, -1.0) * self.graph.outcome_payoff
            self.won = [(first > 0).astype(np.float64), (first < 0).astype(np.float64)]

    def chances(self, seat: int | None, turns: int) -> tuple[Floats, float]:
        """The chance that a seat has won within each number of turns, or that play is over.

        Returns
        -------
        chances : (turns,) float64
        error_bound : float
        """
        graph, n = self.graph, self.graph.n_states
        over = graph.outcome_state < 0
        paid = np.where(over, 1.0 if seat is None else self.won[seat], 0.0)
        sign = np.where((self.mover == 1) & (self.players == 2), -1.0, 1.0)
        after = np.where(self.ends & ~over, n + graph.outcome_state, graph.outcome_state)
        turn = graph.with_arrays(
            outcome_state=after.astype(np.int32),
            outcome_payoff=paid * sign,
            action_reward=np.zeros(graph.n_actions),
            n_border=n,
            objective="win",
            endless="forbidden",
        )
        layer = layer_of_graph(turn)
        values, bounds = np.zeros(n), np.zeros(n)
        chances, bound = np.empty(turns), 0.0
        for k in range(turns):
            found, certificate, _ = solve_and_certify(
                turn, border_values=values, border_bounds=bounds, layer=layer
            )
            values, bounds = found.values, certificate.bounds
            chances[k], bound = values[0], max(bound, float(bounds[0]))
        return chances, bound
