"""Many games at once: between fixed policies, one a seat, in compiled code, or step by step.

In a `Stepper` actions and chance lead to outcomes. One game takes the same step as
`rollwise.graph.view.Action.step`. The loops of `rollwise.kernels.play` and
`rollwise.kernels.learning` play games by the million.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import fold_actions, is_throw
from rollwise.graph.policies import (
    Policy,
    codes_of,
    reachable_states,
    require_size,
    seat_bits,
)
from rollwise.kernels import play as kernels

MOST_MOVES = 1 << 20  # a longer game counts as endless


class Ends(NamedTuple):
    """The ends of games.

    Attributes
    ----------
    ended : (n_games,) int32
        Indices in ``graph.ending_payoffs``; beyond these, states with a choice of the open seat.
    passes : (n_games,) int32
        Number of seats that the die had moved on before the last move.
    moves : (n_games,) int32
    points : (n_games,) float64
        The sum of the first player's rewards, minus the other player's.
        Empty for games of wins and losses.
    """

    ended: NDArray[np.int32]
    passes: NDArray[np.int32]
    moves: NDArray[np.int32]
    points: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Games:
    """Results of some games for one player or two.

    Attributes
    ----------
    payoff : (n_games,) int8
        Of the first player: 1 won, 0 drawn, -1 lost. In a game for stakes 1 for a gain of
        the first player and -1 for a gain of the other.
    turns, moves : (n_games,) int32
    points : (n_games,) float64
        Of the first player: the sum of the rewards, minus the other's,
        plus the payoff at the end. Empty for games of wins and losses.
    """

    payoff: NDArray[np.int8]
    turns: NDArray[np.int32]
    moves: NDArray[np.int32]
    points: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlayTable:
    """Nodes and alias tables for the games between policies, one a seat.

    Attributes
    ----------
    graph : StateGraph
    bits : int
        See `rollwise.kernels.play.fill_nodes`.
    node_of : (n_policies, n_states) int32
        The first node of each state with each policy to move; -1 where games don't come.
    nodes : (n_nodes,) int64
    action : (n_nodes,) int32
    reward : (n_nodes,) float64
    cells : (3, n_cells) int32
        Codes, thresholds and other codes; see `rollwise.kernels.play.fill_nodes`.
    """

    graph: StateGraph
    bits: int
    node_of: NDArray[np.int32]
    nodes: NDArray[np.int64]
    action: NDArray[np.int32]
    reward: NDArray[np.float64]
    cells: NDArray[np.int32]

    @classmethod
    def of(cls, graph: StateGraph, *policies: Policy | None) -> PlayTable:
        """Compile policies.

        Parameters
        ----------
        *policies
            One for each seat, or a single one for all seats. At most one is None: the open seat.

        Raises
        ------
        UsageError
            The number of policies isn't that of the seats, or a policy doesn't fit.
        """
        if len(policies) not in (1, graph.players):
            seats = "is a game for one" if graph.players == 1 else f"has {graph.players} seats"
            raise UsageError(f"{graph.game} {seats}, and {len(policies)} policies were given")
        for one in policies:
            if one is not None:
                require_size(graph, one)
        whole = np.ones(graph.n_actions)
        probability = np.array([whole if one is None else one.probability for one in policies])
        open_seat = policies.index(None) if None in policies else -1
        count = len(policies)
        starts = np.arange(count) * graph.n_states
        node_of, n_nodes, n_cells = _numbered(
            graph, probability, open_seat, reachable_states(graph, probability, starts)
        )
        bits = seat_bits(graph)
        nodes = np.empty(n_nodes, np.int64)
        action = np.empty(n_nodes, np.int32)
        reward = np.empty(n_nodes)
        cells = np.empty((3, n_cells), np.int32)
        kernels.fill_nodes(
            graph.components.order,
            count,
            open_seat,
            len(graph.ending_payoffs),
            bits,
            graph.action_indptr,
            graph.action_reward,
            ~is_throw(graph),
            graph.outcome_indptr,
            graph.outcome_weight,
            graph.outcome_state,
            codes_of(graph),
            probability,
            node_of.reshape(-1),
            nodes,
            action,
            reward,
            *cells,
        )
        return cls(graph, bits, node_of, nodes, action, reward, cells)

    @property
    def starts(self) -> tuple[int, ...]:
        """The first node of games, by the policy that moves first."""
        return tuple(self.node_of[:, 0].tolist())

    def run(self, begin: NDArray[np.int64], words: NDArray[np.uint64]) -> Ends:
        """Play games, each from its own node.

        Parameters
        ----------
        begin : (n_games,) int64
        words : (4,) uint64
            State of the random numbers; changed in place.

        Raises
        ------
        EndlessPlay
            A game goes on for more than a million moves; names the state.
        """
        ends = self.room(len(begin))
        with np.errstate(over="ignore"):  # random numbers wrap round, without the compiler too
            stuck: int = kernels.play_games(  # type: ignore[call-arg]
                begin, MOST_MOVES, self.bits, self.nodes, self.reward, *self.cells, words, *ends
            )
        self.require_end(stuck)
        return ends

    def room(self, games: int) -> Ends:
        """Arrays for the ends of so many games."""
        ended, passes, moves = np.empty((3, games), np.int32)
        return Ends(ended, passes, moves, np.empty(games if self.graph.is_score else 0))

    def require_end(self, stuck: int) -> None:
        """Raise EndlessPlay where a game was given up in a node; -1 is none."""
        if stuck >= 0:
            a = int(self.action[stuck])
            state = "" if a < 0 else self.graph.state_text(int(self.graph.action_state[a]))
            raise EndlessPlay(
                f"{self.graph.game}: these policies play on for more than {MOST_MOVES:,} moves; "
                f"they are now in {state or 'a state where one mixes'}"
            )

    def play(self, games: int, words: NDArray[np.uint64], first: int = 0) -> Games:
        """Play games for one player or two from the start.

        Parameters
        ----------
        games : int
        words : (4,) uint64
            State of the random numbers; changed in place.
        first : {0, 1}
            The policy that moves first.

        Raises
        ------
        EndlessPlay
            A game goes on for more than a million moves; names the state.
        """
        ends = self.run(np.full(games, self.starts[first]), words)
        payoff = self.graph.ending_payoffs[ends.ended]
        # after an odd number of passes the last mover is the second player
        payoff[ends.passes & 1 != 0] *= -1.0
        points = ends.points + payoff if self.graph.is_score else ends.points
        gained = points if self.graph.has_stakes else payoff
        return Games(np.sign(gained).astype(np.int8), ends.passes + 1, ends.moves, points)


def _numbered(
    graph: StateGraph,
    probability: NDArray[np.float64],
    open_seat: int,
    reached: NDArray[np.bool_],
) -> tuple[NDArray[np.int32], int, int]:
    """The first node of each policy in each state, and how many nodes and cells there are.

    Nodes are numbered component by component. A node that draws an action comes before the nodes of
    the actions, and has a cell for each.

    Parameters
    ----------
    reached : (n_policies, n_states) bool
        The other nodes are -1.
    """
    taken, sizes = probability > 0, np.diff(graph.outcome_indptr)
    support = np.array([fold_actions(graph, np.add, some.astype(np.int64)) for some in taken])
    cells = np.array([fold_actions(graph, np.add, np.where(some, sizes, 0)) for some in taken])
    mixes = support > 1
    if open_seat >= 0:  # it chooses by itself
        mixes[open_seat] = False
    order = graph.components.order
    n_nodes = np.where(reached, support + mixes, 0)[:, order].T
    end = np.cumsum(n_nodes).reshape(n_nodes.shape)
    node_of = np.full(reached.shape, -1, np.int32)
    node_of[:, order] = np.where(reached[:, order].T, end - n_nodes, -1).T
    return node_of, int(n_nodes.sum()), int((cells + support * mixes)[reached].sum())


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Steps(NamedTuple):
    """The result of one move in each of some games. All arrays have their length.

    Attributes
    ----------
    gained : float64
        By the mover: the reward of the action, and the payoff at the end of the game.
    is_over : bool
    passes : bool
        The game goes on, and the die passes.
    state : int64
        The next state; -1 if the game is over.
    """

    gained: Floats
    is_over: NDArray[np.bool_]
    passes: NDArray[np.bool_]
    state: Ints


class Move(NamedTuple):
    """A move in each unfinished game. All arrays have their length."""

    game: Ints
    state: Ints
    seat: Ints
    action: Ints
    gained: Floats  # by the first player, the end of the game included
    turn_ends: NDArray[np.bool_]  # the die passes and the game goes on
    is_over: NDArray[np.bool_]
    after: Ints  # the next state; -1 if the game is over


class Stepper:
    """Moves games of a graph for one player or two.

    Parameters
    ----------
    graph : StateGraph
    random : Generator
        One number is drawn for each chosen action, and one for each outcome.
    """

    def __init__(self, graph: StateGraph, random: np.random.Generator) -> None:
        self.graph, self.random = graph, random
        self._heaped = heaped(graph.lotteries.weight)

    def choose(self, chances: Floats, states: Ints) -> Ints:
        """Random actions of a policy in some states.

        Parameters
        ----------
        chances : (n_actions + 1,) float64
            Cumulative probabilities of the policy, from `heaped`.
        """
        indptr = self.graph.action_indptr
        return drawn(self.random, chances, indptr[states], indptr[states + 1])

    def step(self, actions: Ints) -> Steps:
        """Take an action in each of some games."""
        graph, lotteries = self.graph, self.graph.lotteries
        lottery = graph.action_lottery[actions]
        begin = lotteries.indptr[lottery]
        number = drawn(self.random, self._heaped, begin, lotteries.indptr[lottery + 1])
        over = lotteries.over[number]
        gained = lotteries.reward[lottery] + np.where(over, lotteries.payoff[number], 0.0)
        state = graph.outcome_state[graph.outcome_indptr[actions] + number - begin]
        return Steps(gained, over, lotteries.passes[number] & ~over, state.astype(np.int64))

    def between(self, players: Sequence[Policy], games: int, start: int = 0) -> Iterator[Move]:
        """Play games from a state to their ends, by the policies of the first seat and the second.

        Raises
        ------
        EndlessPlay
            A game goes on for more than a million moves.
        """
        seats = [heaped(policy.probability) for policy in players]

        def act(states: Ints, seat: Ints) -> Ints:
            action = np.empty(len(states), np.int64)
            # the games with the same seat to move choose together
            for k, chances in enumerate(seats):
                mine = seat == k
                action[mine] = self.choose(chances, states[mine])
            return action

        return self.play(act, np.full(games, start, np.int64))

    def play(
        self, act: Callable[[Ints, Ints], Ints], state: Ints, until: int | None = None
    ) -> Iterator[Move]:
        """Play games from some states to their ends.

        Parameters
        ----------
        act : callable
            The actions in some states with these seats to move.
        until : int, optional
            A game also stops in this state, and in any state behind it.

        Raises
        ------
        EndlessPlay
            A game goes on for more than a million moves.
        """
        game, seat = np.arange(len(state)), np.zeros(len(state), np.int64)
        for _ in range(MOST_MOVES):
            action = act(state, seat)
            step = self.step(action)
            gained = np.where(seat == 0, step.gained, -step.gained)
            yield Move(game, state, seat, action, gained, step.passes, step.is_over, step.state)
            on = ~step.is_over if until is None else ~step.is_over & (step.state < until)
            if not on.any():
                return
            # finished games leave the arrays, and the rest close up
            game, state, seat = game[on], step.state[on], (seat ^ step.passes)[on]
        raise EndlessPlay(
            f"{self.graph.game}: simulated games go on for more than {MOST_MOVES:,} moves; one of "
            f"them is now in {self.graph.state_text(int(state[0]))}"
        )


def heaped(weights: NDArray[Any]) -> Floats:
    """The sum of the weights before each, and of all: (n + 1,) float64."""
    return np.concatenate([[0.0], np.cumsum(weights, dtype=np.float64)])


def drawn(
    random: np.random.Generator, chances: Floats, first: NDArray[Any], stop: NDArray[Any]
) -> Ints:
    """A random index from `first` to below `stop` for each game, by its probability.

    Parameters
    ----------
    chances : (n + 1,) float64
        From `heaped`.
    """
    low, high = chances[first], chances[stop]
    drawn_weight = low + random.random(len(low)) * (high - low)
    # below `high` in spite of rounding: no index of probability 0 is drawn
    drawn_weight = np.minimum(drawn_weight, np.nextafter(high, low))
    return np.asarray(np.searchsorted(chances, drawn_weight, side="right") - 1)
