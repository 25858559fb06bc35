"""The sequence form as a linear program (Koller, Megiddo and von Stengel 1996), solved by HiGHS.

The first player chooses realization weights x, and the second answers with the best response. The
value w[k] of each information set k of the second player, for the first player, is at most the
value of each of its sequences:

    maximize w[root]   with   w[set of j] <= sum of w[child sets of j] + (A^T x)[j]   for each j,

where the weights of the sequences after each sequence of the first player add up to its own. The
dual variables of these rows are the realization weights of the second player.
"""

from __future__ import annotations

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


def solve_program(tree: Tree) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Optimal strategies of both players, up to the tolerance of HiGHS.

    Raises
    ------
    NotConverged
    """
    from scipy.optimize import linprog

    upper, equal = response_rows(payoff_matrix(tree), *tree.seats)
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
