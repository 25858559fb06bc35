"""The certificate: the exact exploitability of two strategies, in one pass, rounded outward.

A strategy gives each sequence its probability within its information set. Against a fixed strategy
the other player faces a decision tree. The value of its best response is one fold from the last
information sets to the first: of each set the best action counts, and chances and payoffs add up.
The best response to the first player's strategy bounds the value of the game from below, and the
one to the second player's from above. No search is imported here.

In doubles every term is a product of at most `depth` chances and probabilities, and every sum has
at most as many additions as there are terms. With n such operations the computed value is
the exact one of terms changed by a factor between 1 - g and 1 + g, with g = n u / (1 - n u) and
u = 2^-53 (Higham 2002, section 3.1). The best response to absolute payoffs bounds the change.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.hidden.reading import Positions
from rollwise.hidden.tree import Seat, Tree, added
from rollwise.kernels.jit import inner_kernel, kernel

UNIT = 2.0**-53


@kernel
def _plan(parents, first, strategy, plan):  # type: ignore[no-untyped-def]
    """Multiply the probabilities of a player's actions along each sequence, parents first."""
    plan[0] = strategy[0]
    for k in range(len(parents)):
        for sequence in range(first[k], first[k + 1]):
            plan[sequence] = plan[parents[k]] * strategy[sequence]


@kernel
def _fold(parents, first, gains):  # type: ignore[no-untyped-def]
    """Add the best action of each information set to the sequence before it, last sets first."""
    for k in range(len(parents) - 1, -1, -1):
        best = gains[first[k]]
        for sequence in range(first[k] + 1, first[k + 1]):
            if gains[sequence] > best:
                best = gains[sequence]
        gains[parents[k]] += best


def plan_of(seat: Seat, strategy: NDArray[Any]) -> NDArray[Any]:
    """The realization weight of each sequence of a player."""
    plan = np.empty_like(strategy)
    run = _plan if strategy.dtype != object else _plan.function
    run(seat.parents, seat.first, strategy, plan)
    return plan


def gains_of(tree: Tree, seat: int, plan: NDArray[Any], payoffs: NDArray[Any]) -> NDArray[Any]:
    """The gain of each sequence of a player with best play after it, against a plan of the other.

    The gain of sequence 0 is the value of the best response. Gains are weighted with the chance
    that the other player and chance lead there.
    """
    own, other = (tree.rows, tree.columns)[:: 1 if seat == 0 else -1]
    gains = added(own, payoffs * plan[other], tree.seats[seat].n_sequences)
    run = _fold if gains.dtype != object else _fold.function
    run(tree.seats[seat].parents, tree.seats[seat].first, gains)
    return gains


def check_strategy(seat: Seat, strategy: NDArray[Any]) -> None:
    """Refuse probabilities that are negative or don't add up to 1.

    Raises
    ------
    ValueError
    """
    sums = np.add.reduceat(strategy, seat.first[:-1]) if len(seat.parents) else np.ones(0)
    if (strategy < 0).any() or strategy[0] != 1 or (abs(sums - 1) > 1e-12).any():
        raise ValueError("the probabilities of a strategy must be from 0 on and add up to 1")


def rounding_bound(tree: Tree, most: float) -> float:
    """A bound on the rounding error of a sum of payoffs; `most` is the sum of absolute payoffs."""
    menus = max(int(np.diff(s.first).max(initial=1)) for s in tree.seats)
    n = len(tree.rows) + tree.nodes + sum(s.n_sequences for s in tree.seats)
    n += tree.depth * (menus + 8)
    return float(1.01 * n * UNIT / (1 - n * UNIT) * most)


def bounds(tree: Tree, strategies: tuple[NDArray[Any], NDArray[Any]]) -> tuple[Any, Any]:
    """Bounds on the value of the game for the first player, proved by two strategies.

    Parameters
    ----------
    strategies : pair of (n_sequences,) float64, or object for fractions
        The probability of each action in its information set; 1 for sequence 0.

    Returns
    -------
    low, high
        The first player gets at least `low` with the first strategy, whatever the other does, and
        at most `high` against the second. With fractions both are exact.
    """
    found = []
    for seat, sign in ((1, -1), (0, 1)):
        other = 1 - seat
        check_strategy(tree.seats[other], strategies[other])
        plan = plan_of(tree.seats[other], strategies[other])
        worth = sign * gains_of(tree, seat, plan, sign * tree.payoffs)[0]
        if tree.payoffs.dtype != object:
            most = gains_of(tree, seat, plan, abs(tree.payoffs))[0]
            worth += sign * rounding_bound(tree, most)
        found.append(worth)
    low, high = found
    return low, max(low, high)


@inner_kernel
def corners(s, plan, bounds, game):  # type: ignore[no-untyped-def]
    """The least and the most that the mover gets in a position, in doubles rounded outward.

    The least: the mover plays its mixture, the other player the worst action for it, and the values
    after it are at their lower bounds. The most: the other way round, at their upper bounds.
    """
    values, first_row, first_column, rows, columns = plan
    heights, widths, first_choice, first_outcome, rewards, chances, payoffs, targets, signs = game
    height, width = heights[s], widths[s]
    low, high = np.inf, -np.inf
    longest, size = 0, 0.0
    for side in range(2):
        for a in range(width if side == 0 else height):
            total = 0.0
            for b in range(height if side == 0 else width):
                i, j = (b, a) if side == 0 else (a, b)
                share = rows[first_row[s] + i] if side == 0 else columns[first_column[s] + j]
                choice = first_choice[s] + i * width + j
                entry = rewards[choice]
                extent = abs(entry)
                begin, end = first_outcome[choice], first_outcome[choice + 1]
                for k in range(begin, end):
                    worth = payoffs[k]
                    if targets[k] >= 0:
                        worth = signs[k] * values[targets[k]]
                        worth += bounds[targets[k]] if side == 1 else -bounds[targets[k]]
                    entry += chances[k] * worth
                    extent += chances[k] * abs(worth)
                total += share * entry
                longest, size = max(longest, end - begin), max(size, extent)
            if side == 0:
                low = min(low, total)
            else:
                high = max(high, total)
    slack = 2.0 * (longest + height + width + 8) * UNIT * size
    return low - slack, high + slack


@kernel
def proves_positions(plan, bounds, game):  # type: ignore[no-untyped-def]
    """Whether values are proved to be within their bounds, by the mixtures of a plan.

    For games in which every play ends (`never_ends`): with the mixtures of one player, values minus
    bounds are at most the one-step guarantee everywhere, so they are guaranteed to the end.
    """
    values = plan[0]
    for s in range(len(values)):
        low, high = corners(s, plan, bounds, game)
        if not (values[s] - bounds[s] <= low and high <= values[s] + bounds[s]):
            return False
    return True


def never_ends(positions: Positions) -> int | None:
    """A position from which the players together can avoid the end for ever; None without one.

    Positions are marked in which each choice may end the game or lead to a marked position.
    """
    n = len(positions.states)
    choice = np.repeat(np.arange(len(positions.rewards)), np.diff(positions.first_outcome))
    sure = np.zeros(n, bool)
    while True:
        good = (positions.targets < 0) | sure[positions.targets]
        leads = np.zeros(len(positions.rewards), bool)
        leads[choice[good]] = True
        now = np.logical_and.reduceat(leads, positions.first_choice[:-1])
        if (now == sure).all():
            left = np.flatnonzero(~sure)
            return int(left[0]) if len(left) else None
        sure = now
