"""All optimal strategies of a player: the range of each probability, and of a payoff.

A realization plan x of a player is optimal if its best response leaves the value V of the game. As
in `rollwise.hidden.program` this is linear in x and in the values w of the information sets of the
other player: ``w[root] >= V``. The optimal plans are a face of a polytope, and a probability in an
information set is a quotient of two weights, ``x[sequence] / x[parent]``. Divided by ``x[parent]``
the program stays linear (Charnes and Cooper 1962): with t = 1 / x[parent], the plan adds up to t
and the weight of the parent is 1.

Ranges are found in doubles, to about 1e-7. The strategies printed with them are proved; the ends
of a range aren't.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.hidden.program import response_rows
from rollwise.hidden.tree import Seat

SLACK = 1e-10  # of the value, beside its error bound
RAREST = 1e-4  # the least chance by which a player's own choices come to a set with a range
NARROW = 1e-5  # ranges that count as one number
FINE = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Face:
    """The optimal strategies of one player.

    Parameters
    ----------
    payoffs : sparse array, (sequences of the other player, sequences of this player)
        Of this player, times the chance.
    own, other : Seat
    value, error : float
        Of the game for this player.
    """

    def __init__(self, payoffs: Any, own: Seat, other: Seat, value: float, error: float) -> None:
        from scipy.sparse import csr_array, hstack, vstack

        # the last column is t, the weight of the empty sequence
        upper, equal = response_rows(payoffs, own, other)
        n = equal.shape[1]
        total = csr_array(-np.eye(equal.shape[0], 1))
        least = csr_array(([-1.0], ([0], [own.n_sequences])), shape=(1, n))
        worth = np.array([[value - error - SLACK * max(1.0, abs(value))]])
        self.own = own
        self.upper = vstack(
            [hstack([upper, csr_array((upper.shape[0], 1))]), hstack([least, csr_array(worth)])],
            format="csr",
        )
        self.equal = hstack([equal, total], format="csr")
        self.limits: list[tuple[float | None, float | None]]
        self.limits = [(0.0, None)] * own.n_sequences
        self.limits += [(None, None)] * (n - own.n_sequences)

    def _least(self, cost: NDArray[np.float64], parent: int) -> float:
        """The least cost of an optimal plan, divided by the weight of a sequence; inf if none."""
        from scipy.optimize import linprog

        limits = [*self.limits, (1.0, 1.0 / RAREST)]
        limits[parent] = (1.0, 1.0)
        found = linprog(
            np.pad(cost, (0, len(limits) - len(cost))),
            A_ub=self.upper,
            b_ub=np.zeros(self.upper.shape[0]),
            A_eq=self.equal,
            b_eq=np.zeros(self.equal.shape[0]),
            bounds=limits,
            method="highs",
            options=FINE,
        )
        return float(found.fun) if found.x is not None else math.inf

    def payoffs(self, cost: NDArray[np.float64]) -> tuple[float, float]:
        """The least and the largest sum of ``cost * plan`` over all optimal plans."""
        return self._least(cost, 0), -self._least(-cost, 0)

    def probabilities(self, number: int) -> list[tuple[float, float]]:
        """The range of each probability in an information set; empty if each is one number.

        They are those of optimal strategies whose own choices lead there.
        """
        begin, end = self.own.first[number : number + 2].tolist()
        parent, ranges = int(self.own.parents[number]), []
        # the weight of the parent is 1, so the weight of a sequence is its probability
        for sequence in range(begin, end):
            cost = np.zeros(self.own.n_sequences)
            cost[sequence] = 1.0
            low = self._least(cost, parent)
            if low == math.inf:
                return []
            high = -self._least(-cost, parent)
            ranges.append((min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)))
        return ranges if max(high - low for low, high in ranges) > NARROW else []


def matrix_face(entries: NDArray[np.float64], value: float, error: float) -> Face:
    """The optimal mixtures of the player who chooses the row of a matrix game."""
    from scipy.sparse import csr_array

    padded = np.zeros((entries.shape[1] + 1, entries.shape[0] + 1))
    padded[1:, 1:] = entries.T
    own, other = (
        Seat(np.zeros(1, np.int64), np.array([1, 1 + n]), np.zeros(1, np.int64), {})
        for n in entries.shape
    )
    return Face(csr_array(padded), own, other, value, error)
