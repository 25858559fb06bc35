"""The sequence form as a linear program, solved by HiGHS, and all optimal strategies of a player.

In the program (Koller, Megiddo and von Stengel 1996) the first player chooses realization weights
x, and the second answers with the best response. The value w[k] of each information set k of the
second player, for the first player, is at most the value of each of its sequences:

    maximize w[root]   with   w[set of j] <= sum of w[child sets of j] + (A^T x)[j]   for each j,

where the weights of the sequences after each sequence of the first player add up to its own. The
dual variables of these rows are the realization weights of the second player.

A realization plan x of a player is optimal if its best response leaves the value V of the game.
This is linear in x and in the values w of the information sets of the other player: ``w[root] >=
V``. The optimal plans are a face of a polytope, and a probability in an information set is a
quotient of two weights, ``x[sequence] / x[parent]``. Divided by ``x[parent]`` the program stays
linear (Charnes and Cooper 1962): with t = 1 / x[parent], the plan adds up to t and the weight of
the parent is 1.

Ranges are found in doubles, to about 1e-7. The strategies printed with them are proved; the ends
of a range aren't.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import NotConverged
from rollwise.hidden.check import bounds, gains_of
from rollwise.hidden.tree import Seat, Tree

DENOMINATORS = (10, 100, 1000, 10_000)  # of probabilities, tried for an exact answer


def _flow(seat: Seat) -> Any:
    """The rows "the sequences of a set minus the sequence before it", the empty sequence first."""
    from scipy.sparse import csr_array

    n = len(seat.parents)
    sets = np.repeat(np.arange(1, n + 1), np.diff(seat.first))
    rows = np.concatenate([[0], sets, np.arange(1, n + 1)])
    columns = np.concatenate([[0], np.arange(1, seat.n_sequences), seat.parents])
    signs = np.concatenate([[1.0], np.ones(len(sets)), -np.ones(n)])
    return csr_array((signs, (rows, columns)), shape=(n + 1, seat.n_sequences))


def payoff_matrix(tree: Tree) -> Any:
    """The payoffs of the first player: a row for each sequence of the second one."""
    from scipy.sparse import csr_array

    first, second = tree.seats
    return csr_array(
        (tree.payoffs.astype(np.float64), (tree.columns, tree.rows)),
        shape=(second.n_sequences, first.n_sequences),
    )


def unit_of(payoffs: Any) -> float:
    """A power of 1,024 near the largest payoff: tolerances of HiGHS are for numbers about 1."""
    _, exponent = math.frexp(abs(payoffs).max() or 1.0)
    return math.ldexp(1.0, 10 * round(exponent / 10))


def response_rows(payoffs: Any, own: Seat, other: Seat) -> tuple[Any, Any]:
    """The rows of the program for a player's plan x and the values w of the other player's sets.

    Returns
    -------
    upper : sparse array
        At most 0: the value of each set, less each of its sequences.
    equal : sparse array
        The plan: 1 in the first row, and 0 in the others.
    """
    from scipy.sparse import csr_array, hstack

    flow, answers = _flow(own), _flow(other)
    upper = hstack([-payoffs, answers.T], format="csr")
    equal = hstack([flow, csr_array((flow.shape[0], answers.shape[0]))], format="csr")
    return upper, equal


def solve_program(
    tree: Tree, *, finely: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Optimal strategies of both players, up to the tolerance of HiGHS: 1e-7, or `finely` 1e-10.

    Raises
    ------
    NotConverged
    """
    from scipy.optimize import linprog

    # a player alone has a best response, and no program
    if min(seat.n_sequences for seat in tree.seats) == 1:
        return complete(tree, [np.eye(1, seat.n_sequences)[0] for seat in tree.seats])
    payoffs = payoff_matrix(tree)
    upper, equal = response_rows(payoffs / unit_of(payoffs), *tree.seats)
    n, columns = tree.seats[0].n_sequences, equal.shape[1]
    # w[root] is the first variable behind the plan; the duals of the rows are the other plan
    found = linprog(
        -np.eye(1, columns, n)[0],
        A_ub=upper,
        b_ub=np.zeros(upper.shape[0]),
        A_eq=equal,
        b_eq=np.eye(1, equal.shape[0])[0],
        bounds=[(0, None)] * n + [(None, None)] * (columns - n),
        method="highs",
        options=FINE if finely else None,
    )
    if found.x is None:
        raise NotConverged(f"{tree.positions.title}: HiGHS found no answer: {found.message}")
    return complete(tree, (found.x[:n], -found.ineqlin.marginals))


def complete(tree: Tree, plans: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Strategies with these realization weights.

    In an information set that the player's own play avoids, the best action against the other
    player's plan is chosen.
    """
    plans = tuple(np.maximum(plan, 0.0) for plan in plans)
    found = []
    for number, seat in enumerate(tree.seats):
        own, other = plans[number], plans[1 - number]
        sign = 1 if number == 0 else -1
        gains = gains_of(tree, number, other, sign * tree.payoffs.astype(np.float64))
        strategy = np.ones(seat.n_sequences)
        # realization weights within a set, divided by their sum, are its probabilities
        for begin, end in pairwise(seat.first.tolist()):
            part, total = own[begin:end], own[begin:end].sum()
            if total <= 1e-9:
                part = (gains[begin:end] >= gains[begin:end].max() - 1e-12).astype(float)
                total = part.sum()
            strategy[begin:end] = part / total
            strategy[begin:end] /= strategy[begin:end].sum()
        found.append(strategy)
    return found[0], found[1]


def as_fractions(
    tree: Tree, strategies: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Optimal strategies in fractions near these, proved optimal; None where none is found.

    Parameters
    ----------
    tree : Tree
        With payoffs in fractions.
    """
    # equal bounds prove the strategies optimal; coarse fractions first
    for denominator in DENOMINATORS:
        found = tuple(
            _rounded(seat, strategy, denominator)
            for seat, strategy in zip(tree.seats, strategies, strict=True)
        )
        low, high = bounds(tree, (found[0], found[1]))
        if low == high:
            return found[0], found[1]
    return None


def _rounded(seat: Seat, strategy: NDArray[np.float64], denominator: int) -> NDArray[Any]:
    """Probabilities with small denominators; the largest of a set is the rest of 1."""
    found = np.array(
        [Fraction(p).limit_denominator(denominator) for p in strategy.tolist()], object
    )
    # the largest probability takes the rounding of the others
    for begin, end in pairwise(seat.first.tolist()):
        largest = begin + int(np.argmax(strategy[begin:end]))
        found[largest] += 1 - sum(found[begin:end])
    return found


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
        self.unit = unit_of(payoffs)
        value, error = value / self.unit, error / self.unit
        upper, equal = response_rows(payoffs / self.unit, own, other)
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
        self._weights = {0: 1.0}

    def _most(self, parent: int) -> float:
        """The largest weight of a sequence in an optimal plan."""
        if parent not in self._weights:
            cost = np.zeros(self.own.n_sequences)
            cost[parent] = -1.0
            self._weights[parent] = -self._least(cost, 0)
        return self._weights[parent]

    def _least(self, cost: NDArray[np.float64], parent: int) -> float:
        """The least cost of an optimal plan, divided by the weight of a sequence; inf if none."""
        from scipy.optimize import linprog

        limits = [*self.limits, (1.0, 1.0 / RAREST if parent else 1.0)]
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
        cost = cost / self.unit
        return self.unit * self._least(cost, 0), -self.unit * self._least(-cost, 0)

    def probabilities(self, number: int) -> list[tuple[float, float]]:
        """The range of each probability in an information set; empty if each is one number.

        They are those of optimal strategies whose own choices lead there.
        """
        begin, end = self.own.first[number : number + 2].tolist()
        parent, ranges = int(self.own.parents[number]), list[tuple[float, float]]()
        # without such a plan the programs below have no answer, for which HiGHS may take minutes
        if self._most(parent) < RAREST:
            return []
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
