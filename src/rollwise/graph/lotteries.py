"""Parts of a graph: its lotteries, and its strongly connected components.

Most actions of a game differ only in where they lead: a throw of a die has its six weights
everywhere. Everything else about an action (reward, weights, passes, payoffs) is its *lottery*.
Actions with equal lotteries share one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rollwise.numbers.shares import is_payoffs


def spans(begin: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.int64]:
    """``begin[i], begin[i] + 1, ...``, ``counts[i]`` of them, one after the other."""
    shift = begin - (np.cumsum(counts) - counts)
    # Entry k of the result is k plus the shift of its span.
    return np.asarray(np.repeat(shift, counts) + np.arange(int(counts.sum())))


def pointers(sizes: NDArray[Any] | list[int]) -> NDArray[np.int64]:
    """Start of each row in a concatenation of rows of these sizes, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64, copy=False)


class Lotteries(NamedTuple):
    """The lotteries of a graph.

    Attributes
    ----------
    indptr : (n_lotteries + 1,) int64
        Lottery i has the outcomes ``indptr[i]:indptr[i + 1]``, in the order of the
        outcomes of its actions.
    reward : (n_lotteries,) float64
        Points for taking the action.
    weight : (n_lottery_outcomes,) int64 or float64
    over : (n_lottery_outcomes,) bool
        The game ends.
    passes : (n_lottery_outcomes,) bool
        With three or more players uint8: by how many seats the die moves on.
    payoff : (n_lottery_outcomes,) float64
        As the arrays of `rollwise.graph.StateGraph`.
    """

    indptr: NDArray[np.int64]
    reward: NDArray[np.float64]
    weight: NDArray[Any]
    over: NDArray[np.bool_]
    passes: NDArray[Any]
    payoff: NDArray[np.float64]

    def has_draws(self) -> bool:
        """Whether a game may end without a winner."""
        return bool(np.any(self.over & (self.payoff == 0)))

    def has_stakes(self) -> bool:
        """Whether there are points, or payoffs besides a win, a draw and a loss."""
        plain = np.isin(self.payoff, (1.0, 0.0, -1.0))
        return bool(np.any(self.reward)) or not bool(np.all(plain))

    def has_seat_payoffs(self) -> bool:
        """Whether the game may end with payoffs of several seats, and not only with shares."""
        return bool(np.any(self.over & is_payoffs(self.payoff)))

    def followed_by(self, others: Lotteries) -> Lotteries:
        """These lotteries, and others behind them."""
        indptr = np.concatenate([self.indptr, self.indptr[-1] + others.indptr[1:]])
        pairs = list(zip(self, others, strict=True))[1:]  # of all but `indptr`
        return Lotteries(indptr, *(np.concatenate(pair) for pair in pairs))

    def with_stakes(self) -> Lotteries:
        """These lotteries and an extra one, with a payoff besides a win, a draw and a loss.

        No action has the extra lottery. It marks a part of a game for stakes that may have no such
        payoff of its own.
        """
        ending = (np.ones(1), np.ones(1), np.zeros(1), np.full(1, 2.0))
        parts = zip(ending, (self.weight, self.over, self.passes, self.payoff), strict=True)
        weight, over, passes, payoff = (number.astype(part.dtype) for number, part in parts)
        extra = Lotteries(np.array([0, 1]), np.zeros(1), weight, over, passes, payoff)
        return self.followed_by(extra)

    def chances(self) -> NDArray[np.float64]:
        """How likely each outcome is: (n_lottery_outcomes,) float64, each within 4 roundings."""
        total = np.add.reduceat(self.weight, self.indptr[:-1])
        found: NDArray[np.float64] = self.weight / np.repeat(total, np.diff(self.indptr))
        return found

    def only(self, kept: NDArray[Any]) -> Lotteries:
        """Some of the lotteries, in this order."""
        sizes = np.diff(self.indptr)[kept]
        indptr = pointers(sizes)
        place: Any = spans(self.indptr[kept], sizes)
        return Lotteries(indptr, self.reward[kept], *(part[place] for part in self[2:]))


def share(
    action_reward: NDArray[np.float64],
    outcome_indptr: NDArray[np.int64],
    outcome_state: NDArray[np.int32],
    outcome_weight: NDArray[Any],
    outcome_passes: NDArray[Any],
    outcome_payoff: NDArray[np.float64],
) -> tuple[NDArray[np.int32], Lotteries]:
    """Find the common lotteries of actions.

    Parameters
    ----------
    The arrays of `rollwise.graph.StateGraph`.

    Returns
    -------
    action_lottery : (n_actions,) int32
    lotteries : Lotteries
        Numbered in the order of their first action.
    """
    from rollwise.kernels.lotteries import share_lotteries

    action_lottery = np.empty(len(action_reward), np.int32)
    first_action = np.empty(len(action_reward), np.int64)
    n = share_lotteries(
        action_reward.view(np.int64),
        outcome_indptr,
        outcome_state,
        outcome_weight.view(np.int64),
        outcome_passes,
        outcome_payoff.view(np.int64),
        action_lottery,
        first_action,
    )
    first = first_action[:n]
    begin, sizes = outcome_indptr[first], np.diff(outcome_indptr)[first]
    indptr = pointers(sizes)
    place = spans(begin, sizes)  # the outcomes of the first action of each lottery
    return action_lottery, Lotteries(
        indptr,
        action_reward[first],
        outcome_weight[place],
        outcome_state[place] < 0,
        outcome_passes[place],
        outcome_payoff[place],
    )


@dataclass(frozen=True, eq=False)
class Components:
    """Strongly connected components, terminal components first.

    Attributes
    ----------
    order : (n_states,) int32
        States, component by component; within one, a state stands after its
        successors wherever the cycles allow.
    indptr : (n_components + 1,) int64
        Component c is ``order[indptr[c]:indptr[c + 1]]``.
    position : (n_states,) int32
        The index of each state in `order`.
    """

    order: NDArray[np.int32]
    indptr: NDArray[np.int64]
    position: NDArray[np.int32]

    @classmethod
    def of(cls, first_edge: NDArray[Any], outcome_state: NDArray[np.int32]) -> Components:
        """The components of a graph.

        Parameters
        ----------
        first_edge : (n_states + 1,) integers
            The first outcome of each state.
        outcome_state : (n_outcomes,) int32
            Next states; negative numbers, and ``n_states`` or more, are outside.
        """
        return ComponentSearch(first_edge, outcome_state).run()

    @classmethod
    def of_order(cls, order: NDArray[np.int32], indptr: NDArray[np.int64]) -> Components:
        """Components from their states in order, and the first index of each."""
        position = np.empty_like(order)
        position[order] = np.arange(len(order), dtype=order.dtype)
        return cls(order, indptr, position)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def find(self, n: int) -> int:
        """The number of the components that hold the first `n` states of `order`."""
        return int(np.searchsorted(self.indptr, n))

    @property
    def largest(self) -> int:
        """Number of states of the largest component."""
        return int(np.diff(self.indptr).max())


class ComponentSearch:
    """Finds the components of a graph in their order, as many as are asked for.

    Parameters
    ----------
    first_edge, outcome_state
        As in `Components.of`.

    Attributes
    ----------
    order, indptr, position
        As in `Components`, filled as far as components are found; `indptr` is longer.
    """

    def __init__(self, first_edge: NDArray[Any], outcome_state: NDArray[np.int32]) -> None:
        from rollwise.kernels.components import N_COUNTERS, NOT_MET, Walk

        n, edges = len(first_edge) - 1, np.uint32 if len(outcome_state) < 2**32 else np.uint64
        self.order, self.indptr = np.empty(n, np.int32), np.zeros(n + 1, np.int64)
        self.position = np.full(n, NOT_MET, np.int32)
        self._n_found = 0
        self._walk: Walk | None = Walk(
            np.ascontiguousarray(first_edge, edges),
            outcome_state,
            np.empty(n, np.uint32),
            np.empty(n, np.uint32),
            np.empty(n, np.int32),
            np.empty(n, edges),
            np.zeros(N_COUNTERS, np.int64),
        )

    def run(self) -> Components:
        """Find all components."""
        found = self.find(len(self.order))
        return Components(self.order, self.indptr[: found + 1].copy(), self.position)

    def find(self, n: int) -> int:
        """Find components until they hold `n` states; return the number of components found."""
        from rollwise.kernels.components import find_components

        if self._walk is not None:
            filled = self.order, self.indptr, self.position
            self._n_found = int(find_components(n, self._walk, *filled))
            if n == len(self.order):
                self._walk = None  # much memory
        return self._n_found
