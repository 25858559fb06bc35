"""Simultaneous choices without hidden fields: a matrix game at each position (Shapley 1953).

The value of a position is that of the matrix game whose entries are the rewards and the values
after each pair of actions. Components of positions are solved from the last to the first. Within
one, sweeps repeat until the values stop changing: every play ends, so they converge. Error bounds
are then widened until `check.proves_positions` accepts them.

A matrix game is solved by the simplex method on the positive matrix M: the second player maximizes
the sum of q with M q <= 1 and q >= 0, and the dual variables are the first player's (Dantzig 1951).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay, NotConverged
from rollwise.graph.lotteries import Components, pointers
from rollwise.hidden.check import UNIT, corners, never_ends, proves_positions
from rollwise.hidden.reading import ENDED, MOVE, TOGETHER, Positions
from rollwise.kernels.jit import inner_kernel, kernel

SWEEPS, ROUNDS = 100_000, 60
STOP = 4e-15  # change of a sweep, as a part of the largest payoff, in which values count as settled


@dataclass(frozen=True, eq=False)
class Matrices:
    """Positions as matrix games, for kernels.

    Attributes
    ----------
    heights, widths : (n,) int64
        Actions of the mover and of the other player; 1 for a player who doesn't choose.
    first_choice, first_outcome, rewards, chances, payoffs, targets, signs
        As in `Positions`, in doubles. A sign is -1 where the target is of the other player's view.
    """

    heights: NDArray[np.int64]
    widths: NDArray[np.int64]
    first_choice: NDArray[np.int64]
    first_outcome: NDArray[np.int64]
    rewards: NDArray[np.float64]
    chances: NDArray[np.float64]
    payoffs: NDArray[np.float64]
    targets: NDArray[np.int64]
    signs: NDArray[np.float64]

    @classmethod
    def of(cls, positions: Positions) -> Matrices:
        """The matrices of a game."""
        kinds, menus = positions.kinds, positions.menus
        heights = [
            len(menu[0]) if kind >= MOVE else 1 for kind, menu in zip(kinds, menus, strict=True)
        ]
        widths = [
            len(menu[1]) if kind == TOGETHER else 1 for kind, menu in zip(kinds, menus, strict=True)
        ]
        return cls(
            np.array(heights, np.int64),
            np.array(widths, np.int64),
            positions.first_choice,
            positions.first_outcome,
            positions.rewards.astype(np.float64),
            positions.chances(),
            positions.payoffs.astype(np.float64),
            positions.targets,
            1.0 - 2.0 * positions.turns.astype(np.float64),
        )

    @property
    def arrays(self) -> tuple[NDArray[np.int64] | NDArray[np.float64], ...]:
        """All arrays, in order."""
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)


@dataclass(frozen=True, eq=False)
class Plan:
    """Values and strategies of all positions.

    Attributes
    ----------
    values, error_bounds : (n,) float64
        For the mover.
    first : (n + 1,) int64
        Where the probabilities of each position begin.
    rows, columns : float64
        Probabilities of the mover's actions, and of the other's, position by position.
    """

    values: NDArray[np.float64]
    error_bounds: NDArray[np.float64]
    first_row: NDArray[np.int64]
    first_column: NDArray[np.int64]
    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    sweeps: int


@inner_kernel
def _entry(choice, values, first_outcome, rewards, chances, payoffs, targets, signs):
    """The mover's value of a choice."""
    total = rewards[choice]
    for k in range(first_outcome[choice], first_outcome[choice + 1]):
        worth = payoffs[k]
        if targets[k] >= 0:
            worth = signs[k] * values[targets[k]]
        total += chances[k] * worth
    return total


@inner_kernel
def _solve_matrix(matrix, height, width, x, y, table, basis):
    """The value of a matrix game; optimal mixtures are written to x and y."""
    x[:height] = 0.0
    y[:width] = 0.0
    least, most = matrix[0, 0], matrix[0, 0]
    for i in range(height):
        for j in range(width):
            least, most = min(least, matrix[i, j]), max(most, matrix[i, j])
    # A saddle point in pure actions is the common case.
    best_low, row = -np.inf, 0
    for i in range(height):
        low = matrix[i, 0]
        for j in range(1, width):
            low = min(low, matrix[i, j])
        if low > best_low:
            best_low, row = low, i
    best_high, column = np.inf, 0
    for j in range(width):
        high = matrix[0, j]
        for i in range(1, height):
            high = max(high, matrix[i, j])
        if high < best_high:
            best_high, column = high, j
    if best_low >= best_high:
        x[row], y[column] = 1.0, 1.0
        return best_low
    # The tableau: rows of M with slack variables, and last the negative objective.
    # entries from 1 to 2: with a positive matrix the sum of q is 1 / value, so it is bounded
    shift, scale = least, most - least
    columns = width + height + 1
    for i in range(height):
        for j in range(width):
            table[i, j] = (matrix[i, j] - shift) / scale + 1.0
        for j in range(height):
            table[i, width + j] = 1.0 if i == j else 0.0
        table[i, columns - 1] = 1.0
        basis[i] = width + i
    for j in range(columns):
        table[height, j] = -1.0 if j < width else 0.0
    for pivots in range(50 * (height + width)):
        entering, steepest = -1, -1e-12
        # the steepest objective enters, or the first one, which ends cycles
        for j in range(columns - 1):
            if table[height, j] < steepest:
                entering = j
                if pivots > 10 * (height + width):  # Bland's rule ends cycles
                    break
                steepest = table[height, j]
        if entering < 0:
            break
        leaving, ratio = -1, np.inf
        # the smallest ratio leaves: right sides stay at 0 or above
        for i in range(height):
            if table[i, entering] > 1e-12:
                r = table[i, columns - 1] / table[i, entering]
                if r < ratio or (r == ratio and basis[i] < basis[leaving]):
                    leaving, ratio = i, r
        if leaving < 0:
            break
        pivot = table[leaving, entering]
        for j in range(columns):
            table[leaving, j] /= pivot
        for i in range(height + 1):
            factor = table[i, entering]
            if i != leaving and factor != 0.0:
                for j in range(columns):
                    table[i, j] -= factor * table[leaving, j]
        basis[leaving] = entering
    # basic variables are the second player's; reduced costs of the slacks are the first's
    for i in range(height):
        if basis[i] < width:
            y[basis[i]] = max(table[i, columns - 1], 0.0)
        x[i] = max(table[height, width + i], 0.0)
    x[:height] /= x[:height].sum()
    y[:width] /= y[:width].sum()
    # the mixtures guarantee low and high, so the middle is off by half their distance at most
    low, high = np.inf, -np.inf
    for j in range(width):
        worth = 0.0
        for i in range(height):
            worth += x[i] * matrix[i, j]
        low = min(low, worth)
    for i in range(height):
        worth = 0.0
        for j in range(width):
            worth += y[j] * matrix[i, j]
        high = max(high, worth)
    return 0.5 * (low + high)


@kernel
def _sweep(order, plan, largest, game):
    """Solve the matrix games of some positions once, and return the largest change of a value."""
    values, first_row, first_column, rows, columns = plan
    heights, widths, first_choice, first_outcome, rewards, chances, payoffs, targets, signs = game
    matrix = np.empty((largest, largest))
    table = np.empty((largest + 1, 2 * largest + 1))
    basis = np.empty(largest, np.int64)
    x, y = np.empty(largest), np.empty(largest)
    change = 0.0
    for s in order:
        height, width = heights[s], widths[s]
        choice = first_choice[s]
        # the choices of a position are its pairs of actions, row by row
        for i in range(height):
            for j in range(width):
                matrix[i, j] = _entry(
                    choice, values, first_outcome, rewards, chances, payoffs, targets, signs
                )
                choice += 1
        worth = _solve_matrix(matrix, height, width, x, y, table, basis)
        change = max(change, abs(worth - values[s]))
        values[s] = worth
        rows[first_row[s] : first_row[s] + height] = x[:height]
        columns[first_column[s] : first_column[s] + width] = y[:width]
    return change


@kernel
def _widen(order, plan, bounds, game):
    """Widen the bounds of some positions to their needs, and return the largest relative growth."""
    values = plan[0]
    growth = 0.0
    for s in order:
        low, high = corners(s, plan, bounds, game)
        needed = max(values[s] - low, high - values[s], 0.0) + 4 * UNIT * abs(values[s])
        if needed > bounds[s]:
            growth = max(growth, (needed - bounds[s]) / needed)
            bounds[s] = needed
    return growth


def solve_positions(positions: Positions) -> Plan:
    """Values, bounds and optimal strategies of a game without hidden fields.

    Raises
    ------
    EndlessPlay
        Some play need never end.
    NotConverged
        The values or the bounds didn't settle.
    """
    if (stuck := never_ends(positions)) is not None:
        raise EndlessPlay(
            f"{positions.title}: the players can go on for ever from {positions.text(stuck)}; "
            "with simultaneous choices every pair of actions must bring the end nearer"
        )
    return solve_matrices(Matrices.of(positions), positions.title)


def solve_matrices(game: Matrices, title: str) -> Plan:
    """Values, bounds and optimal strategies of positions from which every play ends."""
    n, first_outcome = len(game.heights), game.first_outcome[game.first_choice]
    components = Components.of(first_outcome, game.targets.astype(np.int32))
    order, first = components.order.astype(np.int64), components.indptr
    first_row = pointers(game.heights)
    first_column = pointers(game.widths)
    rows, columns = np.ones(first_row[-1]), np.ones(first_column[-1])
    values, bounds = np.zeros(n), np.zeros(n)
    plan, widest = (
        (values, first_row, first_column, rows, columns),
        int(max(*game.heights, *game.widths)),
    )
    loops = np.zeros(n, bool)
    sources = np.repeat(np.arange(n), np.diff(first_outcome))
    loops[sources[sources == game.targets]] = True
    scale = max(abs(game.payoffs).max(), abs(game.rewards).max(), 1e-300)
    cyclic = (np.diff(first) > 1) | loops[order[first[:-1]]]
    begin, sweeps = 0, 0
    for k in [*np.flatnonzero(cyclic).tolist(), len(cyclic)]:
        # first the positions before the next component with a cycle, which need one sweep
        single = order[first[begin] : first[k]]
        _sweep(single, plan, widest, game.arrays)
        _widen(single, plan, bounds, game.arrays)
        if k < len(cyclic):
            part = order[first[k] : first[k + 1]]
            sweeps = max(sweeps, _settle(part, plan, bounds, widest, game, scale, title))
        begin = k + 1
    if not proves_positions(plan, bounds, game.arrays):
        raise NotConverged(f"{title}: the error bounds could not be proved")
    return Plan(values, bounds, first_row, first_column, rows, columns, sweeps)


def _settle(
    part: NDArray[np.int64], plan: Any, bounds: NDArray[np.float64], widest: int, game: Matrices,
    scale: float, title: str,
) -> int:  # fmt: skip
    """Solve a component with a cycle and widen its bounds; return the number of sweeps."""
    change, sweeps = math.inf, 0
    while change > STOP * scale and sweeps < SWEEPS:
        change, sweeps = _sweep(part, plan, widest, game.arrays), sweeps + 1
    if change > STOP * scale:
        raise NotConverged(f"{title}: after {SWEEPS:,} sweeps values still change by {change:.1e}")
    # bounds of a cycle depend on themselves: grow until a round adds little
    while _widen(part, plan, bounds, game.arrays) > 1e-3:
        pass
    bounds[part] = bounds[part] * 1.01 + 4 * UNIT * scale
    # then some room more, doubled until one pass needs no growth
    for _ in range(ROUNDS):
        if _widen(part, plan, bounds.copy(), game.arrays) == 0:
            break
        bounds[part] *= 2
    return sweeps


def evaluate_positions(
    positions: Positions,
    plan: Plan,
    players: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    responder: int | None,
) -> tuple[float, float]:
    """The first player's payoff if players use their strategies and one may respond.

    Each position is doubled, by the player who moves. The probabilities of fixed strategies become
    chances, so that the choices of the responder alone are left.

    Parameters
    ----------
    players : pair of (rows, columns)
        Of each player the probabilities as the mover, and as the other one.
    responder : int, optional
        The player who chooses the best response instead.

    Returns
    -------
    value, error_bound
    """
    game = Matrices.of(positions)
    n, n_choices = len(positions.states), len(game.rewards)
    place = np.repeat(np.arange(n), np.diff(game.first_choice))
    within = np.arange(n_choices) - game.first_choice[place]
    row, column = np.divmod(within, game.widths[place])
    choice_of = np.repeat(np.arange(n_choices), np.diff(game.first_outcome))
    parts = []
    # a fixed strategy becomes part of the chances; only the responder's axis remains a choice
    for mover in (0, 1):
        keeps_row, keeps_column = responder == mover, responder == 1 - mover
        share = np.ones(n_choices)
        if not keeps_row:
            share *= players[mover][0][plan.first_row[place] + row]
        if not keeps_column:
            share *= players[1 - mover][1][plan.first_column[place] + column]
        choice = row if keeps_row else column if keeps_column else 0 * row
        parts.append((2 * place + mover, choice, share))
    position, choice, share = (np.concatenate(part) for part in zip(*parts, strict=True))
    ones = np.ones(n, np.int64)
    heights, widths = (
        np.stack([own if responder == k else ones for k in seats], axis=1).ravel()
        for own, seats in ((game.heights, (0, 1)), (game.widths, (1, 0)))
    )
    first_choice = pointers(heights * widths)
    number = first_choice[position] + choice  # of the new choice
    outcome = np.concatenate([np.arange(len(choice_of))] * 2)
    source = np.concatenate([choice_of, choice_of + n_choices])
    # outcomes of choices that became one lie side by side
    order = np.argsort(number[source], kind="stable")
    outcome, source = outcome[order], source[order]
    mover = position[source] & 1
    targets = 2 * game.targets[outcome] + (mover ^ (game.signs[outcome] < 0))
    doubled = Matrices(
        heights,
        widths,
        first_choice,
        np.searchsorted(number[source], np.arange(first_choice[-1] + 1)),
        np.bincount(number, share * np.tile(game.rewards, 2), first_choice[-1]).astype(float),
        game.chances[outcome] * share[source],
        game.payoffs[outcome],
        np.where(game.targets[outcome] < 0, ENDED, targets),
        game.signs[outcome],
    )
    found = solve_matrices(doubled, positions.title)
    return float(found.values[0]), float(found.error_bounds[0])
