"""Simultaneous choices without hidden fields: a matrix game at each position (Shapley 1953).

The value of a position is that of the matrix game whose entries are the rewards and the values
after each pair of actions. Components of positions are solved from the last to the first. Within
one, sweeps repeat until the values stop changing: they converge where every play ends. Where
endless play is a draw ("recursive games", Everett 1957), later values count less by a discount that
tends to 0, and between sweeps the mixtures are evaluated by linear equations, as in Newton's method
(Pollatschek and Avi-Itzhak 1969). Bounds are then widened until `check.proves_positions` accepts
them.

To wait may be as good as to act in the matrix of a position, although it isn't good for ever. So
where play may never end, the mover's mixture is taken from the matrix of the lower bounds, and the
other player's from that of the upper bounds. Bounds are wider after waiting, so to act is better.

A matrix game is solved by the simplex method on the positive matrix M: the second player maximizes
the sum of q with M q <= 1 and q >= 0, and the dual variables are the first player's (Dantzig 1951).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import NotConverged
from rollwise.graph.lotteries import Components, pointers, spans
from rollwise.hidden.check import (
    UNIT,
    corners,
    end_of,
    endless_positions,
    may_go_on,
    proved_ends,
    proves_positions,
)
from rollwise.hidden.cycles import solved
from rollwise.hidden.positions import ENDED, MOVE, TOGETHER, Positions
from rollwise.kernels.jit import inner_kernel, kernel

SWEEPS = 2_000  # before a component in which every play ends is solved by Newton's method too
PASSES = 1_000  # over the bounds of a component, before their margin is multiplied by ten
STOP = 4e-15  # change of a sweep, as a part of the largest payoff, in which values count as settled
MOST = 1e-3  # error bound of an answer, as a part of the largest payoff
NOISE = 1e-14  # shares below this one are rounding errors: who waits for ever needs none
LATER = 10.0 ** -np.arange(1, 10)  # discounts of later values, where play may never end
STEPS = 100  # sweeps with each of them
NEARER = 0.1  # change after a step without a discount, as a part of the change before
REMEDY = "; play may last too long here: count the rounds in a field, and end the game"


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
    lows, highs : (n,) float64
        Proved bounds on the values, for the mover.
    first_row, first_column : (n + 1,) int64
        Where the probabilities of each position begin.
    rows, columns : float64
        Probabilities of the mover's actions, and of the other's, position by position.
    """

    lows: NDArray[np.float64]
    highs: NDArray[np.float64]
    first_row: NDArray[np.int64]
    first_column: NDArray[np.int64]
    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    sweeps: int

    @property
    def arrays(self) -> tuple[NDArray[np.int64] | NDArray[np.float64], ...]:
        """All arrays, in order."""
        names = ("lows", "highs", "first_row", "first_column", "rows", "columns")
        return tuple(getattr(self, name) for name in names)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The middle of the bounds."""
        middle: NDArray[np.float64] = self.lows + (self.highs - self.lows) / 2
        return middle

    @property
    def error_bounds(self) -> NDArray[np.float64]:
        """The largest distance of each value from its bounds, rounded up."""
        most = np.maximum(self.highs - self.values, self.values - self.lows)
        return np.asarray(most * (1 + 2 * UNIT))


@inner_kernel
def _normalize(mixture, size):
    """Divide by the sum; shares below the rounding errors of a tableau are 0."""
    least = NOISE * mixture[:size].sum()
    for i in range(size):
        if mixture[i] < least:
            mixture[i] = 0.0
    mixture[:size] /= mixture[:size].sum()


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
    _normalize(x, height)
    _normalize(y, width)
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


@inner_kernel
def _room(largest):
    """Room for matrix games: the matrix, both mixtures, the tableau and its basis."""
    table = np.empty((largest + 1, 2 * largest + 1))
    basis = np.empty(largest, np.int64)
    return np.empty((largest, largest)), np.empty(largest), np.empty(largest), table, basis


@inner_kernel
def _solve_position(s, side, share, plan, room, game):
    """The value of the matrix game of a position; optimal mixtures are written to the room.

    The values after it count by a share. They are at their lower (side 0) or upper bounds (side 1),
    or in the middle (side 2).
    """
    lows, highs = plan[0], plan[1]
    heights, widths, first_choice, first_outcome, rewards, chances, payoffs, targets, signs = game
    matrix, x, y, table, basis = room
    choice = first_choice[s]
    # the choices of a position are its pairs of actions, row by row
    for i in range(heights[s]):
        for j in range(widths[s]):
            total = rewards[choice]
            for k in range(first_outcome[choice], first_outcome[choice + 1]):
                worth = payoffs[k]
                if targets[k] >= 0:
                    worth = share * end_of(side, targets[k], signs[k], lows, highs)
                total += chances[k] * worth
            matrix[i, j] = total
            choice += 1
    return _solve_matrix(matrix, heights[s], widths[s], x, y, table, basis)


@inner_kernel
def _mixture(s, side, plan, game):
    """The probabilities of the mover's actions (side 0), or of the other player's (side 1)."""
    _, _, first_row, first_column, rows, columns = plan
    if side == 0:
        return rows[first_row[s] : first_row[s] + game[0][s]]
    return columns[first_column[s] : first_column[s] + game[1][s]]


@inner_kernel
def _take(s, side, plan, room, game):
    """Take a mixture from the room."""
    mixture, solved = _mixture(s, side, plan, game), room[1] if side == 0 else room[2]
    mixture[:] = solved[: len(mixture)]


@inner_kernel
def _improve(s, side, plan, room, game):
    """Choose a mixture for the lower (side 0) or the upper bound (side 1) of a position.

    The one chosen before stays unless the new one proves more: the equal sums of a new one are
    beyond the bound by their rounding.
    """
    before = _mixture(s, side, plan, game).copy()
    old_low, old_high = corners(s, 0.0, plan, game)
    _solve_position(s, side, 1.0, plan, room, game)
    _take(s, side, plan, room, game)
    low, high = corners(s, 0.0, plan, game)
    if low <= old_low if side == 0 else high >= old_high:
        _mixture(s, side, plan, game)[:] = before


@kernel
def _sweep(order, share, plan, largest, game):
    """Solve the matrix games of some positions once, and return the largest change of a value.

    Both bounds are the value. Later values count by a share.
    """
    lows, highs = plan[0], plan[1]
    room = _room(largest)
    change = 0.0
    for s in order:
        worth = _solve_position(s, 2, share, plan, room, game)
        change = max(change, abs(worth - lows[s]))
        lows[s], highs[s] = worth, worth
        _take(s, 0, plan, room, game)
        _take(s, 1, plan, room, game)
    return change


@kernel
def _widen(order, margin, plan, largest, game, endless, waits):
    """Widen the bounds of some positions that aren't proved, and return the number of them.

    They get what they need, and a margin more. With `waits` the mixtures are chosen anew for these
    bounds. Players who may wait for ever need no margin: bounds are equal wherever they wait.
    """
    lows, highs = plan[0], plan[1]
    room = _room(largest)
    wider = 0
    for s in order:
        if waits:
            _improve(s, 0, plan, room, game)
            _improve(s, 1, plan, room, game)
        below, above = proved_ends(s, plan, game, endless)
        if not (below and above):
            more = max(margin, 4 * UNIT * max(abs(lows[s]), abs(highs[s])))
            low, high = corners(s, more, plan, game)
            if not below:
                lows[s] = min(lows[s], low)
                lows[s] -= more if endless[s] and lows[s] > 0.0 else 0.0
            if not above:
                highs[s] = max(highs[s], high)
                highs[s] += more if endless[s] and highs[s] < 0.0 else 0.0
            wider += 1
    return wider


def solve_positions(positions: Positions) -> Plan:
    """Values, bounds and optimal strategies of a game without hidden fields.

    Raises
    ------
    EndlessPlay
        Some play need never end, and the rules don't say that it is a draw.
    NotConverged
        The values or the bounds didn't settle.
    """
    may_go_on(positions)  # raises if the rules give endless play no value
    return solve_matrices(Matrices.of(positions), positions.title)


def solve_matrices(game: Matrices, title: str) -> Plan:
    """Values, bounds and optimal strategies of positions, where endless play is worth 0."""
    n, first_outcome = len(game.heights), game.first_outcome[game.first_choice]
    components = Components.of(first_outcome, game.targets.astype(np.int32))
    order, first = components.order.astype(np.int64), components.indptr
    first_row = pointers(game.heights)
    first_column = pointers(game.widths)
    rows, columns = np.ones(first_row[-1]), np.ones(first_column[-1])
    plan = Plan(np.zeros(n), np.zeros(n), first_row, first_column, rows, columns, 0)
    search = _Search(
        game,
        title,
        plan,
        endless_positions(game),
        int(max(*game.heights, *game.widths)),
        max(abs(game.payoffs).max(), abs(game.rewards).max(), 1e-300),
    )
    loops = np.zeros(n, bool)
    sources = np.repeat(np.arange(n), np.diff(first_outcome))
    loops[sources[sources == game.targets]] = True
    cyclic = (np.diff(first) > 1) | loops[order[first[:-1]]]
    begin, sweeps = 0, 0
    for k in [*np.flatnonzero(cyclic).tolist(), len(cyclic)]:
        # first the positions before the next component with a cycle, which need one sweep
        search.pass_through(order[first[begin] : first[k]])
        if k < len(cyclic):
            sweeps = max(sweeps, search.settle(order[first[k] : first[k + 1]]))
        begin = k + 1
    if not proves_positions(plan.arrays, game.arrays, search.endless):
        raise NotConverged(f"{title}: the error bounds could not be proved")
    return replace(plan, sweeps=sweeps)


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for values and bounds.

    Attributes
    ----------
    plan : Plan
        The bounds are 0 before the first sweep.
    endless : (n,) bool
        As of `endless_positions`.
    largest : int
        The most actions of a player.
    scale : float
        The largest payoff or reward, without its sign.
    """

    game: Matrices
    title: str
    plan: Plan
    endless: NDArray[np.bool_]
    largest: int
    scale: float

    def _sweep(self, part: NDArray[np.int64], share: float = 1.0) -> float:
        return float(_sweep(part, share, self.plan.arrays, self.largest, self.game.arrays))

    def _widen(self, part: NDArray[np.int64], margin: float, waits: bool) -> int:
        more = (self.game.arrays, self.endless, waits)
        return int(_widen(part, margin, self.plan.arrays, self.largest, *more))

    def _set(self, part: NDArray[np.int64], values: NDArray[np.float64] | float) -> None:
        self.plan.lows[part] = self.plan.highs[part] = values

    def pass_through(self, part: NDArray[np.int64]) -> None:
        """Solve positions without a cycle, each after those that follow it."""
        self._sweep(part)
        self._widen(part, 0.0, False)

    def _follow(self, part: NDArray[np.int64], share: float) -> tuple[NDArray[np.int64], Any]:
        """Evaluate the mixtures of a component, where later values count by a share.

        The values solve linear equations. They are 0 where the mixtures never lead out.

        Returns
        -------
        left, steps
            The other places in the component, and the matrix of their shares in each other's value.
        """
        from scipy.sparse import csr_array

        game, plan = self.game, self.plan
        sizes = np.diff(game.first_choice)[part]
        choices = spans(game.first_choice[part], sizes)
        place = np.repeat(np.arange(len(part)), sizes)
        row, column = np.divmod(choices - game.first_choice[part][place], game.widths[part][place])
        taken = plan.rows[plan.first_row[part][place] + row]
        taken = taken * plan.columns[plan.first_column[part][place] + column]
        counts = np.diff(game.first_outcome)[choices]
        outcomes = spans(game.first_outcome[choices], counts)
        source, targets = np.repeat(place, counts), game.targets[outcomes]
        chances = np.repeat(taken, counts) * game.chances[outcomes]
        number = np.full(len(self.endless), -1)
        number[part] = np.arange(len(part))
        stays = (targets >= 0) & (number[targets] >= 0)
        ends, signs = targets < 0, game.signs[outcomes]
        middle = plan.lows + (plan.highs - plan.lows) / 2
        worths = np.where(ends, game.payoffs[outcomes], share * signs * middle[targets])
        total = np.bincount(place, taken * game.rewards[choices], len(part))
        total += np.bincount(source[~stays], (chances * worths)[~stays], len(part))
        steps = chances * (share * signs)
        leads = csr_array(
            (steps[stays], (source[stays], number[targets[stays]])), (len(part), len(part))
        )
        out = np.bincount(source[~stays], chances[~stays], len(part)) > 0
        # the positions that lead out grow by those that lead there
        while (now := out | (abs(leads) @ out > 0)).tolist() != out.tolist():
            out = now
        left, found = np.flatnonzero(out), np.zeros(len(part))
        steady = leads[left][:, left]
        solution = solved(steady, total[left].astype(float))
        # play leads out too late for double precision: the values stay
        found[left] = middle[part][left] if solution is None else solution
        self._set(part, found)
        return left, steady

    def _approach(self, part: NDArray[np.int64]) -> tuple[int, NDArray[np.float64]]:
        """Values of a component in which play may never end, or ends late.

        Sweeps without a discount may stop at other values: a player waits for the last move of a
        finite game, after which no answer counts. With a discount to wait costs something.

        Returns
        -------
        sweeps, moves
            The number of sweeps, and the expected moves before play leaves the component; 0 where
            it stays.
        """
        sweeps, plan = 0, self.plan
        for share in 1.0 - LATER:
            change, sweeps = self._sweep(part, share), sweeps + 1
            for _ in range(STEPS):
                if change <= STOP * self.scale:
                    break
                # a step of Newton's method, or a sweep where that leads away from the solution
                values = plan.lows[part]
                self._follow(part, share)
                after, sweeps = self._sweep(part, share), sweeps + 1
                if after > change:
                    self._set(part, values)
                    after, sweeps = self._sweep(part, share), sweeps + 1
                change = after
        # mixtures without a discount are better where they lead out and change little
        change, places = math.inf, self._places(part)
        while True:
            mixtures = [shares[place] for shares, place in places]
            left, steps = self._follow(part, 1.0)
            values, after = plan.lows[part], self._sweep(part)
            sweeps += 1
            if after >= NEARER * change:
                break
            change, found = after, (values, mixtures, left, steps)
        values, mixtures, left, steps = found
        self._set(part, values)
        for (shares, place), mixture in zip(places, mixtures, strict=True):
            shares[place] = mixture
        moves, solution = np.zeros(len(part)), solved(abs(steps), np.ones(len(left)))
        moves[left] = 0.0 if solution is None else solution
        return sweeps, moves

    def _places(self, part: NDArray[np.int64]) -> list[tuple[NDArray[np.float64], Any]]:
        """The probabilities of both players, and where those of a component are."""
        game, plan = self.game, self.plan
        rows = spans(plan.first_row[part], game.heights[part])
        columns = spans(plan.first_column[part], game.widths[part])
        return [(plan.rows, rows), (plan.columns, columns)]

    def settle(self, part: NDArray[np.int64]) -> int:
        """Solve a component with a cycle and widen its bounds; return the number of sweeps."""
        waits, plan, scale = bool(self.endless[part].any()), self.plan, self.scale
        sweeps, moves, change = 0, np.zeros(len(part)), math.inf
        while change > STOP * scale and sweeps < SWEEPS and not waits:
            change, sweeps = self._sweep(part), sweeps + 1
        if change > STOP * scale:  # slowly, or perhaps never
            more, moves = self._approach(part)
            sweeps += more
        margin, passes = 32 * UNIT * scale, 0
        # a margin for each move is about right; bounds that aren't proved grow, pass by pass, and
        # with them those that depend on them
        plan.lows[part] -= margin * moves
        plan.highs[part] += margin * moves
        while (plan.highs - plan.lows)[part].max() <= 2 * MOST * scale:
            if not self._widen(part, margin, waits):
                return sweeps
            passes += 1
            if passes % PASSES == 0:
                margin *= 10
        raise NotConverged(
            f"{self.title}: no bounds of the values could be proved within {MOST:g} of the "
            f"largest payoff, after {sweeps:,} sweeps{REMEDY if waits else ''}"
        )


def evaluate_positions(
    positions: Positions,
    plan: Plan,
    players: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    responder: int | None,
) -> tuple[float, float]:
    """The first player's payoff if players use their strategies and one may respond.

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
    found = solve_matrices(_doubled(positions, plan, players, responder), positions.title)
    return float(found.values[0]), float(found.error_bounds[0])


def unending(
    positions: Positions,
    plan: Plan,
    players: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    responder: int | None,
) -> NDArray[np.bool_]:
    """From each position, with each player as its mover, whether play can't end: (n, 2) bool.

    Parameters
    ----------
    As of `evaluate_positions`; the responder may take any action.
    """
    game = _doubled(positions, plan, players, responder)
    counts = np.diff(game.first_outcome[game.first_choice])
    source = np.repeat(np.arange(len(counts)), counts)
    ends = np.zeros(len(counts), bool)
    # the positions that can end grow by those that lead there
    while True:
        now = ends.copy()
        now[source[(game.targets < 0) | ends[game.targets]]] = True
        if (now == ends).all():
            return ~ends.reshape(-1, 2)
        ends = now


def _doubled(
    positions: Positions,
    plan: Plan,
    players: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    responder: int | None,
) -> Matrices:
    """The positions of a game with fixed strategies; see `evaluate_positions`.

    Each position is doubled, by the player who moves: that of player m is ``2 * position + m``. The
    probabilities of fixed strategies become chances, so that the choices of the responder alone are
    left.
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
        share, is_taken = np.ones(n_choices), np.ones(n_choices, bool)
        for keeps, taken in (
            (keeps_row, players[mover][0][plan.first_row[place] + row]),
            (keeps_column, players[1 - mover][1][plan.first_column[place] + column]),
        ):
            if not keeps:
                share *= taken
                is_taken &= taken > 0
        choice = row if keeps_row else column if keeps_column else 0 * row
        parts.append((2 * place + mover, choice, share, is_taken))
    position, choice, share, is_taken = (np.concatenate(part) for part in zip(*parts, strict=True))
    ones = np.ones(n, np.int64)
    heights, widths = (
        np.stack([own if responder == k else ones for k in seats], axis=1).ravel()
        for own, seats in ((game.heights, (0, 1)), (game.widths, (1, 0)))
    )
    first_choice = pointers(heights * widths)
    number = first_choice[position] + choice  # of the new choice
    outcome = np.concatenate([np.arange(len(choice_of))] * 2)
    source = np.concatenate([choice_of, choice_of + n_choices])
    outcome, source = outcome[is_taken[source]], source[is_taken[source]]
    # outcomes of choices that became one lie side by side
    order = np.argsort(number[source], kind="stable")
    outcome, source = outcome[order], source[order]
    mover = position[source] & 1
    targets = 2 * game.targets[outcome] + (mover ^ (game.signs[outcome] < 0))
    return Matrices(
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
