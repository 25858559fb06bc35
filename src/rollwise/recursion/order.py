"""The recursion of a graph in solving order: components last ones first.

Everything that rollwise computes about a game is one recursion over its graph (see
`rollwise.kernels.recursion`): values are the fixed point of one, and bounds on their
errors the fixed point of another.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import TooManyStates
from rollwise.graph.components import Components
from rollwise.graph.lotteries import Lotteries
from rollwise.graph.state_graph import StateGraph
from rollwise.graph.view import sign_of
from rollwise.kernels import recursion as kernels
from rollwise.kernels.recursion import Arranged

# Pieces of the work: some of them, for two cores to share it, and none so small that handing
# it over takes longer than doing it.
PIECES, LEAST, MOST = 16, 1 << 13, 1 << 15  # the last two in states


class Recursion:
    """``v[i] = max over a of constant[a] + sum of c[k] * v[target[k]]``, in solving order.

    Attributes
    ----------
    components : Components
        ``components.order[i]`` is the state at position i.
    n_states : int
    arranged : rollwise.kernels.recursion.Arranged
        The arrays; actions stand in the order of their positions. Right as far as they
        have been written.
    ranks : (n_states,) int32
        By position, see `rollwise.proofs.check`: as far as somebody asked whether play ends.
    """

    def __init__(
        self,
        components: Components,
        arranged: Arranged,
        ranks: NDArray[np.int32] | None = None,
    ) -> None:
        self.components, self.arranged = components, arranged
        self.n_states = len(components.order)
        self.ranks = np.empty(len(components.order), np.int32) if ranks is None else ranks

    @classmethod
    def of_values(cls, graph: StateGraph) -> Recursion:
        """The recursion of the values of a game; of their negatives, to minimize."""
        arranging = Arranging(graph)
        arranging.write(len(graph.components))
        return arranging

    def with_terms(
        self, constant: NDArray[np.float64], coefficient: NDArray[np.float64]
    ) -> Recursion:
        """The same, with other constants and other coefficients of the lotteries."""
        arranged = self.arranged._replace(constant=constant, coefficient=coefficient)
        return Recursion(self.components, arranged, self.ranks)


class Arranging(Recursion):
    """The recursion of the values of a game that is written as its components are found.

    Attributes
    ----------
    done : int
        Number of components that are written.

    Parameters
    ----------
    graph : StateGraph
    """

    def __init__(self, graph: StateGraph) -> None:
        if graph.n_outcomes >= 2**32:
            raise TooManyStates(f"{graph.title}: {graph.n_outcomes:,} outcomes are too many")
        constant, coefficient, goes_on = _of_lotteries(graph.lotteries)
        n, n_actions = graph.n_states, graph.n_actions
        arranged = Arranged(
            np.empty(n + 1, np.uint32),
            np.empty(n_actions),
            np.empty(n_actions, np.uint32),
            np.empty(n_actions + 1, np.uint32),
            np.empty(graph.n_outcomes, np.uint32),
            goes_on,
            coefficient,
            np.empty(n, np.uint8),
            np.empty(n, np.uint32),
            np.empty(n, np.uint32),
        )
        arranged.action_indptr[0] = arranged.outcome_indptr[0] = 0
        super().__init__(graph.components_so_far, arranged)
        self.done = 0
        self._graph = graph
        self._constant = sign_of(graph.objective) * constant

    @property
    def piece(self) -> int:
        """Number of states of a piece of work."""
        return min(max(self.n_states // PIECES, LEAST), MOST)

    def pieces(self) -> Iterator[int]:
        """Find the components, piece by piece: up to which one they are found."""
        n, step = self.n_states, self.piece
        if step < n:
            yield self.components.find(step // 4)  # a small one, so that nobody waits long for it
        for end in (*range(step, n, step), n):
            yield self.components.find(end)

    def write(self, stop: int) -> None:
        """Go on to the component `stop`; those before it are found."""
        if stop <= self.done:
            return
        graph, components = self._graph, self.components
        kernels.arrange(
            self.done,
            stop,
            components.indptr,
            components.order,
            components.position,
            graph.action_indptr,
            graph.action_lottery,
            graph.outcome_indptr,
            graph.outcome_state,
            self._constant,
            self.arranged,
        )
        self.done = stop


def _of_lotteries(
    lotteries: Lotteries,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.uint32]]:
    """What lotteries do to the value of an action.

    Returns
    -------
    constant : (n_lotteries,) float64
        Brought by the reward and by the outcomes that end the game.
    coefficient : float64, indptr : (n_lotteries + 1,) uint32
        Of the values of what the other outcomes lead to.
    """
    begin = lotteries.indptr[:-1]
    total = np.add.reduceat(lotteries.weight.astype(np.float64), begin)
    ended = np.where(lotteries.over, lotteries.weight * lotteries.payoff, 0.0)
    constant = lotteries.reward + np.add.reduceat(ended, begin) / total
    chance = lotteries.weight / np.repeat(total, np.diff(lotteries.indptr))
    goes_on = ~lotteries.over
    coefficient = np.where(lotteries.passes, -chance, chance)[goes_on]
    before = np.concatenate([[0], np.cumsum(goes_on)])
    return constant, coefficient, before[lotteries.indptr].astype(np.uint32)
