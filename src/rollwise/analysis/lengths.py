"""The number of turns of a game: its distribution, and the chances within 1, 2, 3, ... turns.

The distribution under a policy: play is followed forward from the start as a distribution over
positions. In a game for two, a turn ends when it passes or the game is over. In a solitaire game
the counted unit is a roll: a move with more than one outcome. In one without chance each move
counts.

The chances within some turns: the chance within k turns follows from that within k - 1 turns: a
play of one turn ends, or leads to a position after the turn, whose chance is known (Bellman, "A
Markovian decision process", Journal of Mathematics and Mechanics 6, 1957). A turn is solved as a
graph with these positions as its border, and certified like any other graph. A turn of one player
is a move of the rules, which has the throws before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.certified import solve_and_certify
from rollwise.derive.seats import take_seats
from rollwise.derive.within import ends_of_turns
from rollwise.errors import UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import actions_of, is_roll, is_throw, outcome_action, outcomes_of
from rollwise.graph.endings import ways_out
from rollwise.graph.lotteries import pointers
from rollwise.graph.policies import Policy, reached_by
from rollwise.hooks import InWords
from rollwise.kernels.play import play_turn
from rollwise.layers import layer_of_graph
from rollwise.many.seats import seen_from

Floats = NDArray[np.float64]

TAIL = 1e-9
LEAST_TURNS, MOST_TURNS = 5_000, 200_000  # followed in any case, and at most
WORK = 2_000_000_000  # outcomes followed in all turns together
FORGOTTEN = 1e-16
FEW = 1e-8  # a negligible share of games


@dataclass(frozen=True, eq=False, repr=False)
class Turns(InWords):
    """A distribution over numbers of turns.

    Attributes
    ----------
    chance : (n,) float64
        The probability of 0, 1, 2, ...
    tail : float
        The probability of more turns than were followed.
    """

    chance: Floats = field(repr=False)
    tail: float

    @property
    def mean(self) -> float:
        """The mean without the tail; the mean of all is larger."""
        return float(np.arange(len(self.chance)) @ self.chance / self.chance.sum())

    @property
    def longest(self) -> int:
        """The number of followed turns."""
        return len(self.chance) - 1

    @property
    def is_cut(self) -> bool:
        """Whether the tail is more than a trace."""
        return self.tail > FEW

    def quantile(self, share: float) -> int | None:
        """The first number of turns that is reached or undercut with this share of all chances.

        None for more turns than were followed.
        """
        total = np.cumsum(self.chance)
        # a sum equal to the share up to rounding reaches it
        index = int(np.searchsorted(total, share * (total[-1] + self.tail) - 1e-12))
        return None if index == len(total) else index

    def quantile_text(self, share: float) -> str:
        """The quantile in words: ``more than 5,000`` beyond the followed turns."""
        return turns_text(self.quantile(share), self.longest)


@dataclass(frozen=True, eq=False, repr=False)
class Lengths(Turns):
    """The length of a game.

    Attributes
    ----------
    unit : {"turns", "rolls", "moves"}
    first, second, other : (n,) float64
        The parts of `chance`: the game is won by the first player, won by the second, or otherwise
        over (a draw, or no winner).
    visits : (n_states,) float64
        Expected visits of each state (without the tail).
    watched : (n,) float64
        Expected total of `watch` in turn 0, 1, 2, ...; zeros without it.
    """

    unit: str
    first: Floats = field(repr=False)
    second: Floats = field(repr=False)
    other: Floats = field(repr=False)
    visits: Floats = field(repr=False)
    watched: Floats = field(repr=False)


def turns_text(turns: int | None, followed: int) -> str:
    """A number of turns, or "more than" the followed turns."""
    return f"more than {followed:,}" if turns is None else f"{turns}"


def lengths(
    graph: StateGraph,
    policy: Policy,
    *,
    begin: Floats | None = None,
    watch: Floats | None = None,
) -> Lengths:
    """The lengths of games from the start, with one policy in all seats.

    The number of turns before the tail is limited by the time that they take.

    Parameters
    ----------
    graph : StateGraph
    policy : Policy
    begin : (n_states,) float64, optional
        Number of games begun in each state; by default one game from the start.
    watch : (n_states,) float64, optional
        Amount added to the turn's `watched` total by each visit of a state.

    Returns
    -------
    Lengths
        Floating point, not certified: the roundings of a sum of positive numbers.
    """
    unit, moves = _counted(graph)
    at_first = np.zeros(graph.n_states)
    at_first[0] = 1.0
    if begin is not None:
        at_first[:] = begin
    # from some states the policy never ends the play: they are the tail, and each move there counts
    ends_never = ways_out(graph, policy.probability > 0) < 0
    order = graph.components.order[::-1]
    order = order[reached_by(graph, policy, np.flatnonzero(at_first))[order]]
    steps = _steps(graph, policy, order, ends_never, moves)
    most = min(max(LEAST_TURNS, WORK // max(len(steps[1]), 1)), MOST_TURNS)
    now, may_end = at_first[order], np.where(ends_never[order], 0.0, 1.0)
    visits, watches = np.zeros(len(order)), None if watch is None else watch[order]
    ends, seen = [np.zeros(3)], [0.0]
    # `now` has the games by position at the beginning of a turn, `later` at its end
    while now @ may_end > TAIL and len(ends) <= most:
        ends.append(np.zeros(3))
        later = np.zeros(len(order))
        play_turn(*steps, FORGOTTEN, now, later, visits, ends[-2], ends[-1])
        now = later
        seen.append(0.0 if watches is None else float(watches @ visits))
    table = np.array(ends)
    if graph.players > 1:  # wins and losses are the mover's: the second player moves in even turns
        table[::2] = table[::2][:, [1, 0, 2]]
    tail = max(0.0, float(now.sum()))
    first, second, other = (np.ascontiguousarray(column) for column in table.T)
    watched = np.diff(seen, prepend=0.0)
    chance = first + second + other
    everywhere = np.zeros(graph.n_states)
    everywhere[order] = visits
    return Lengths(chance, tail, unit, first, second, other, everywhere, watched)


def _counted(graph: StateGraph) -> tuple[str, NDArray[np.bool_] | None]:
    """The unit of lengths, and the counted moves: (n_actions,) bool; None where turns count."""
    if graph.players > 1:
        return "turns", None
    rolls = is_roll(graph)
    return ("rolls", rolls) if rolls.any() else ("moves", ~is_throw(graph))


def _steps(
    graph: StateGraph,
    policy: Policy,
    order: NDArray[Any],
    ends_never: NDArray[np.bool_],
    moves: NDArray[np.bool_] | None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The moves of a policy between some states, as `play_turn` takes them.

    Parameters
    ----------
    moves : (n_actions,) bool or None
        The counted moves. None counts turns.

    Returns
    -------
    begins, target, chance, counted : arrays
        State ``order[i]`` has the outcomes ``begins[i]:begins[i + 1]``.
    """
    actions, counts = actions_of(graph, order)
    taken = policy.probability[actions] > 0
    actions, place = actions[taken], np.repeat(np.arange(len(order)), counts)[taken]
    outcomes, sizes = outcomes_of(graph, actions)
    weight = graph.outcome_weight[outcomes].astype(np.float64)
    total = np.add.reduceat(weight, pointers(sizes)[:-1])
    chance = weight * np.repeat(policy.probability[actions] / total, sizes)
    state, payoff = graph.outcome_state[outcomes], graph.outcome_payoff[outcomes]
    if moves is not None:
        counted = np.repeat(moves[actions], sizes)
    else:
        counted = (graph.outcome_passes[outcomes] != 0) | (state < 0)
    counted |= np.append(ends_never, False)[state]
    number = np.zeros(graph.n_states, np.int64)
    number[order] = np.arange(len(order))
    ending = np.where(payoff > 0, 0, np.where(payoff < 0, 1, 2))
    target = np.where(state < 0, ~ending, number[state])
    begins = pointers(np.bincount(place, sizes, len(order)).astype(np.int64))
    return begins, target, chance, counted


@dataclass(frozen=True, eq=False, repr=False)
class Curve(InWords):
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
        Also the best chance of the first seat. A second player tries to prevent the win; of three
        or more players all others keep to their policies.
    progress : callable, optional

    Raises
    ------
    UsageError
        The wrong number of turns or policies, or `best` for a game without a winner.
    EndlessPlay
        A turn need not end, and the rules give endless play no worth.
    """
    seats = graph.players
    if turns < 1:
        raise UsageError(f"the number of turns is {turns}; it must be at least 1")
    if len(policies) not in (1, seats):
        raise UsageError(f"{graph.title} has {seats} seats, and {len(policies)} policies are given")
    if best and graph.is_score:
        raise UsageError(
            f"{graph.title}: the best chance to win in time is for games that are won or lost"
        )
    profile = list(policies) * (seats // len(policies))
    curves = [_Turns(graph, profile)]
    if best:
        curves.append(_Turns(graph, [None, *(profile[1:] if seats > 2 else [None])][:seats]))
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

    A turn is a graph with payoffs, those of the mover of each state. The chance of an event is
    ``offset + factor * payoff`` of the first mover.

    An endless turn is never over. Where it is lost to the player who keeps it up, that has to be
    the payoff -1: a chance p is then 2p - 1 for the first player, and 1 - 2p for the second one.
    Elsewhere it is no win, with the payoff 0.
    """

    def __init__(self, graph: StateGraph, policies: Sequence[Policy | None]) -> None:
        if graph.players > 2:
            probabilities = [None if one is None else one.probability for one in policies]
            graphs = [seen_from(graph, seat, probabilities) for seat in range(graph.players)]
            self.graph, self.won = graphs[0], [one.outcome_payoff for one in graphs]
            mover = (np.arange(self.graph.n_states) // graph.n_states).astype(np.int32)
        else:
            taken = take_seats(graph, policies, [0])
            self.graph, mover = taken.graph, taken.key // taken.n_before
        self.source = source = self.graph.action_state[outcome_action(self.graph)]
        # payoffs are the mover's, and chances those of the first mover: the second's turn them
        self.sign = np.where((mover == 1) & (graph.players == 2), -1.0, 1.0)
        if graph.players > 2:
            self.ends = mover[self.graph.outcome_state] != mover[source]
        else:
            self.ends = ends_of_turns(self.graph)
            first = self.sign[source] * self.graph.outcome_payoff
            self.won = [(first > 0).astype(np.float64), (first < 0).astype(np.float64)]

    def chances(self, seat: int | None, turns: int) -> tuple[Floats, float]:
        """The chance that a seat has won within each number of turns, or that play is over.

        Returns
        -------
        chances : (turns,) float64
        error_bound : float
        """
        graph, n = self.graph, self.graph.n_states
        over, endless = graph.outcome_state < 0, graph.endless
        happens = 1.0 if seat is None else self.won[seat]
        offset, factor = 0.0, 1.0
        if endless == "lose" and seat is None:
            endless = "draw"
        elif endless == "lose":
            offset, factor = 0.5, -0.5 if seat else 0.5
        paid = np.where(over, (happens - offset) / factor, 0.0)
        after = np.where(self.ends & ~over, n + graph.outcome_state, graph.outcome_state)
        turn = graph.with_arrays(
            outcome_state=after.astype(np.int32),
            outcome_payoff=paid * self.sign[self.source],
            action_reward=np.zeros(graph.n_actions),
            n_border=n,
            objective="win",
            endless=endless,
        )
        layer = layer_of_graph(turn)
        values, bounds = -offset / factor * self.sign, np.zeros(n)
        chances, bound = np.empty(turns), 0.0
        # the chances within k turns are the border values of k + 1 turns
        for k in range(turns):
            found, certificate, _ = solve_and_certify(
                turn, border_values=values, border_bounds=bounds, layer=layer
            )
            values, bounds = found.values, certificate.bounds
            chances[k] = offset + factor * values[0]
            bound = max(bound, abs(factor) * float(bounds[0]))
        return chances, bound
