"""A game as it is to one player against a policy, with the first move drawn by chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rollwise.derive.seats import take_seats
from rollwise.graph import StateGraph
from rollwise.graph.policies import Policy

Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True, eq=False)
class Against:
    """A game for two in which one of them plays a policy.

    Attributes
    ----------
    source : StateGraph
        The game.
    graph : StateGraph
        State 0 is before it is drawn who moves first. Then come the states that play comes to,
        those of the policy with one action each.
    mine : (n,) int64
        The actions of the free player, in `graph`.
    action : (n,) int64
        The actions of `source` that these are.
    """

    source: StateGraph = field(repr=False)
    graph: StateGraph = field(repr=False)
    mine: NDArray[np.int64] = field(repr=False)
    action: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, graph: StateGraph, policy: Policy) -> Against:
        """A game against a policy.

        Raises
        ------
        UsageError
            The game has one player.
        """
        seats = take_seats(graph, [None, policy], [0])
        own = np.flatnonzero(seats.key[seats.graph.action_state] < seats.n_before)
        return cls(graph, _first_move_drawn(seats.graph), own + 1, seats.action[own].astype(int))

    def as_before(self, numbers: NDArray[Number], elsewhere: float) -> NDArray[Number]:
        """A number of each action of `graph`, by the actions of `source`.

        Parameters
        ----------
        elsewhere : float
            The number of actions that play against the policy doesn't come to.
        """
        found = np.full(self.source.n_actions, elsewhere, numbers.dtype)
        found[self.action] = numbers[self.mine]
        return found


def _first_move_drawn(two: StateGraph) -> StateGraph:
    """Two seats with a state before them that leads to the start of either.

    The state belongs to the first seat, so the die passes where the second one begins.
    """
    before = two.states[0].copy()
    before[-1] = 2  # nobody's seat
    target = two.outcome_state.astype(np.int64)
    return two.with_arrays(
        states=np.vstack([before, two.states]).astype(np.int32),
        action_indptr=np.append(0, two.action_indptr + 1),
        action_label=np.append(two.action_label[:1], two.action_label),
        action_reward=np.append(0.0, two.action_reward),
        outcome_indptr=np.append(0, two.outcome_indptr + 2),
        outcome_state=np.append([1, 2], np.where(target < 0, -1, target + 1)).astype(np.int32),
        outcome_weight=np.append([1.0, 1.0], two.outcome_weight),
        outcome_passes=np.append([False, True], two.outcome_passes),
        outcome_payoff=np.append([0.0, 0.0], two.outcome_payoff),
        n_roots=1,
    )
