"""The transition function for many games at once: actions and chance lead to outcomes.

One game takes the same step as `rollwise.graph.view.Action.step`. The loops of
`rollwise.kernels.play` and `rollwise.kernels.learning` play games by the million.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay
from rollwise.graph import StateGraph
from rollwise.graph.policies import Policy
from rollwise.play.games import MOST_MOVES

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
