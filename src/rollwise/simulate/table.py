"""Policies written as the nodes that a game moves through (see `rollwise.kernels.play`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph import StateGraph
from rollwise.graph.choices import is_throw
from rollwise.graph.codes import codes_of
from rollwise.graph.policies import Policy
from rollwise.kernels import play as kernels

MOST_MOVES = 1 << 20  # a game longer than this is taken for one that never ends


@dataclass(frozen=True, eq=False)
class Games:
    """What became of some games.

    Attributes
    ----------
    payoff : (n_games,) int8
        Of the player who moved first: 1 won, 0 drawn, -1 lost; in a game for stakes 1 where
        the player has gained, -1 where the other has.
    turns, moves : (n_games,) int32
    points : (n_games,) float64
        Of the player who moved first: the sum of the rewards, the other's with the other sign,
        and the payoff at the end. Empty for games that are won or lost.
    """

    payoff: NDArray[np.int8]
    turns: NDArray[np.int32]
    moves: NDArray[np.int32]
    points: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlayTable:
    """Nodes and alias tables for the games between two policies, or of one with itself.

    Attributes
    ----------
    graph : StateGraph
    starts : tuple of int
        The node in which games begin, by the policy that moves first.
    nodes : (n_nodes,) int64
    action : (n_nodes,) int32
    reward : (n_nodes,) float64
    cells : (3, n_cells) int32
        Codes, thresholds and other codes; see `rollwise.kernels.play.fill_nodes`.
    """

    graph: StateGraph
    starts: tuple[int, ...]
    nodes: NDArray[np.int64]
    action: NDArray[np.int32]
    reward: NDArray[np.float64]
    cells: NDArray[np.int32]

    @classmethod
    def of(cls, graph: StateGraph, policy: Policy, against: Policy | None = None) -> PlayTable:
        """Compile a policy, against another or itself.

        Raises
        ------
        UsageError
            The game has one player, or a policy doesn't fit.
        """
        if against is not None and graph.players != 2:
            raise UsageError(f"{graph.game} is a game for one: there is no opponent")
        policies = [policy] if against is None else [policy, against]
        for one in policies:
            if one.probability.shape != (graph.n_actions,):
                raise UsageError(f"the policy {one.name} doesn't fit {graph.title}")
        probability = np.array([one.probability for one in policies])
        n, count = graph.n_states, len(policies)
        reached = np.zeros(count * n, np.bool_)
        keys = np.arange(count, dtype=np.int64) * n
        kernels.reach(
            keys,
            n,
            count,
            graph.action_indptr,
            graph.outcome_indptr,
            graph.outcome_state,
            graph.outcome_passes,
            probability,
            reached,
        )
        node_of = np.empty(count * n, np.int32)
        order = graph.components.order
        n_nodes, n_cells = kernels.number_nodes(
            order,
            count,
            graph.action_indptr,
            graph.outcome_indptr,
            probability,
            reached,
            node_of,
        )
        codes = codes_of(graph)
        nodes = np.empty(n_nodes, np.int64)
        action = np.empty(n_nodes, np.int32)
        reward = np.empty(n_nodes)
        cells = np.empty((3, n_cells), np.int32)
        kernels.fill_nodes(
            order,
            count,
            graph.action_indptr,
            graph.action_reward,
            ~is_throw(graph),
            graph.outcome_indptr,
            graph.outcome_weight,
            graph.outcome_state,
            codes,
            probability,
            node_of,
            nodes,
            action,
            reward,
            *cells,
        )
        return cls(graph, tuple(node_of[keys].tolist()), nodes, action, reward, cells)

    def play(self, games: int, words: NDArray[np.uint64], first: int = 0) -> Games:
        """Play games from the start.

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
        played = Games(
            np.empty(games, np.int8),
            np.empty(games, np.int32),
            np.empty(games, np.int32),
            np.empty(games if self.graph.is_score else 0),
        )
        with np.errstate(over="ignore"):  # random numbers wrap round, without the compiler too
            stuck: int = kernels.play_games(  # type: ignore[call-arg]
                games,
                MOST_MOVES,
                self.starts[first],
                self.nodes,
                self.reward,
                *self.cells,
                self.graph.ending_payoffs,
                words,
                played.payoff,
                played.turns,
                played.moves,
                played.points,
            )
        if stuck >= 0:
            a = int(self.action[stuck])
            state = "" if a < 0 else self.graph.state_text(int(self.graph.action_state[a]))
            raise EndlessPlay(
                f"{self.graph.game}: these policies play on for more than {MOST_MOVES:,} moves; "
                f"they are now in {state or 'a state where one mixes'}"
            )
        if self.graph.has_stakes:
            played.payoff[:] = np.sign(played.points)
        return played
