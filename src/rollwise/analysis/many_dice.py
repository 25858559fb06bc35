"""Games of taking the lowest dice, for numbers of dice far beyond any graph.

All dice are rolled together, some are taken, at least one, and the rest are rolled
again until none is left. The lowest are the best to take, and the aim is a small
sum. A game declares this by `face_points`, ascending from a single 0. Its parameter
``dice`` is the number of dice. With ``skip``, a player may take none, and then at least
two of the next roll; never of the last die.

The value of n dice depends only on the values of fewer dice, and nearly all rolls
need not be distinguished (see below). The kernel checks the necessary facts for every
number of dice. Every value has proved bounds, and the first few are compared with the
general solver.

Dice are rolled together and taken from the lowest up; taken dice count their
points, and the lowest face has none. Let V(n) be the expected points of n
dice with at least one to take (or, if that is allowed, none, and then at
least two), and W(n) the same with at least two to take. A roll sorted as r1 <= r2
<= ... is worth the least of r1 + ... + rk + V(n - k) over k, or W(n).

With z dice of no points and c the points of the next face, two facts leave few k:

1. Taking die k > z changes the sum by r_k - (V(m) - V(m - 1)), m = n - k + 1. This
   is >= c - (V(m) - V(m - 1)) >= 0 wherever V rises by at most c in a step: for all
   m > m0. None of these k is better than z, or than the smallest allowed number.
2. Leaving j <= m0 dice takes n - z - j dice of at least c points each. Where this
   alone is as much as the largest V (plus the required points), it isn't better.

Only rolls with nearly all dice free of points are enumerated. For other rolls the
number of such dice, a binomial variable, decides; if they are too few, also the two
lowest other dice. The kernel checks both facts with proved bounds before it uses them,
and gives up if they fail.

Every V(n) is enclosed. The recursion is monotone: from lower bounds, rounded down, it
gives a lower bound, and likewise an upper bound. The rounding of each step is bounded.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.solve import solve_whole
from rollwise.errors import NotConverged, ParameterError, UsageError
from rollwise.game import Game, require_game
from rollwise.hooks import InWords
from rollwise.kernels.jit import inner_kernel, kernel

if TYPE_CHECKING:
    import polars as pl

MOST = 20_000
LOOKED_AT = 30  # up to this many dice every roll is enumerated; 6 ** 30 rolls, 324,632 kinds
UNIT = 2.0**-53
NEGLIGIBLE = 1e-40  # smaller probabilities are enclosed by their largest effect
HELD_AGAINST = 6  # largest number of dice compared with the general solver


@dataclass(frozen=True, eq=False, repr=False)
class ManyDice(InWords):
    """Expected scores for every number of dice up to some.

    Attributes
    ----------
    low, high : (2, most + 1) float64
        Proved bounds on the expected score of n dice: row 0 with at least one die to take,
        row 1 with at least two (infinite where this is impossible).
    face_points : (faces,) float64
    skip : bool
    seconds : float
    subject : Game
        The game.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    face_points: NDArray[np.float64]
    skip: bool
    seconds: float
    subject: Game | None = field(default=None, repr=False)

    @property
    def most(self) -> int:
        """The largest number of dice."""
        return int(self.low.shape[1]) - 1

    def value(self, dice: int, *, take_two: bool = False) -> tuple[float, float]:
        """The expected score of so many dice, and its error bound."""
        if not 0 <= dice <= self.most:
            raise UsageError(f"from 0 to {self.most} dice, not {dice}")
        low, high = float(self.low[int(take_two), dice]), float(self.high[int(take_two), dice])
        return (low + high) / 2, float(np.nextafter((high - low) / 2, np.inf))

    def best(self, roll: Sequence[int], *, take_two: bool = False) -> list[tuple[int, float]]:
        """The best numbers of dice to take from a roll, lowest first, with their values.

        Parameters
        ----------
        roll : (faces,) int
            Number of dice of each face, in the order of `face_points`.

        Returns
        -------
        list of (taken, expected score)
            The best first; 0 taken refuses the roll.
        """
        dice = int(sum(roll))
        points = np.repeat(self.face_points, roll)
        cost = np.concatenate([[0.0], np.cumsum(points)])
        finite = np.isfinite(self.low)
        middle = np.where(finite, (np.where(finite, self.low, 0) + self.high) / 2, np.inf)
        rows = [(k, float(cost[k] + middle[0, dice - k])) for k in range(1 + take_two, dice + 1)]
        if self.skip and not take_two and dice > 1:
            rows.append((0, float(middle[1, dice])))
        return sorted(rows, key=lambda row: row[1])

    def table(self) -> pl.DataFrame:
        """A row for each number of dice, ready to plot.

        Returns
        -------
        polars.DataFrame
            ``dice``, ``expected_score``, ``error_bound`` (proved), ``take_two`` (the
            expected score with at least two to take; null where this is
            impossible) and ``refuse_from`` (without a free die, refuse a roll with at least
            so many points on its lowest die; null where none is refused).
        """
        import polars as pl

        finite = np.isfinite(self.low[1])
        two = (np.where(finite, self.low[1], 0) + np.where(finite, self.high[1], 0)) / 2
        first = (self.low[0] + self.high[0]) / 2
        refuse: list[int | None] = [None] * (self.most + 1)
        # without a free die: the lowest die costs p, and a refusal leaves n dice with two to take
        for n in range(2, self.most + 1):
            worse = [p for p in self.face_points[1:] if finite[n] and p + first[n - 1] > two[n]]
            refuse[n] = int(worse[0]) if worse else None
        frame = pl.DataFrame(
            {
                "dice": np.arange(self.most + 1),
                "expected_score": first,
                "error_bound": np.nextafter((self.high[0] - self.low[0]) / 2, np.inf),
                "take_two": pl.Series(
                    [float(x) if ok else None for x, ok in zip(two, finite, strict=True)],
                    dtype=pl.Float64,
                ),
                "refuse_from": pl.Series(refuse, dtype=pl.Int64),
            }
        )
        return frame.filter(pl.col("dice") > 0)


def many_dice(game: Game, most: int) -> ManyDice:
    """Expected scores and best play for every number of dice up to `most`, certified.

    Parameters
    ----------
    game : Game
        One with `face_points`; its own number of dice doesn't matter.
    most : int
        From 1 to 20,000. Time grows with its square: 5,000 take about a second.

    Raises
    ------
    UsageError, ParameterError
        The game isn't one of taking the lowest dice, or `most` is out of range.
    NotConverged
        A necessary fact of the method fails for some number of dice, or
        the general solver has another value.
    """
    if not require_game(game).face_points:
        raise UsageError(
            f"{game.name} isn't a game of taking the lowest dice (it has no face_points), so "
            "there is no method for very many"
        )
    if most not in range(1, MOST + 1):
        raise ParameterError(f"{game.name}: many dice are from 1 to {MOST:,}, not {most!r}")
    most = int(most)
    points = np.array(game.face_points, np.float64)
    if len(points) < 3 or points[0] != 0 or points[1] <= 0 or np.any(np.diff(points) < 0):
        raise UsageError(
            f"{game.name}: face_points is {tuple(game.face_points)}; it must ascend from a "
            "single 0 over at least three faces"
        )
    skip = bool(getattr(game, "skip", False))
    started = time.perf_counter()
    choose = np.array(
        [[comb(n, k) for k in range(LOOKED_AT + 1)] for n in range(LOOKED_AT + 1)], np.float64
    )
    bounds = np.zeros((2, 2, most + 1))
    failed = enclose_values(most, points, skip, LOOKED_AT, choose, bounds)
    if failed:
        raise NotConverged(
            f"{game.name}: the method for many dice can't tell which dice to take from "
            f"{failed} dice on (another die there costs as much as a face)"
        )
    seconds = time.perf_counter() - started
    result = ManyDice(bounds[0], bounds[1], points, skip, seconds, game)
    for dice in range(1, min(most, HELD_AGAINST) + 1):
        solution = solve_whole(replace(game, dice=dice))  # type: ignore[call-arg]
        value, bound = result.value(dice)
        if not abs(solution.value - value) <= bound + solution.error_bound:
            raise NotConverged(
                f"{game.name}: with {dice} dice the rules give {solution.value} and the method "
                f"for many dice {value}: the rules differ from face_points and skip"
            )
    return result


@inner_kernel
def add(sums, row, term):
    """Add to ``sums[row, 0]``; ``sums[row, 1]`` collects the rounding errors (Neumaier 1974)."""
    before, after = sums[row, 0], sums[row, 0] + term
    larger, smaller = (before, term) if before >= term else (term, before)
    sums[row, 1] += (larger - after) + smaller
    sums[row, 0] = after


@kernel
def binomial(n, faces, chance):
    """``chance[z]``: the probability that z of n dice show one given face.

    Built from the mode outwards by ratios and divided by the sum, so that the
    relative error is at most ``2 |z - mode| + 2 E|z - mode| + 8`` units.

    Returns
    -------
    mode : int
    spread : float
        E|z - mode|, rounded up.
    """
    mode = (n + 1) // faces
    others = faces - 1
    chance[mode] = 1.0
    sums = np.array([[1.0, 0.0]])
    spread = 0.0
    for z in range(mode + 1, n + 1):
        # the ratio of neighbouring binomial chances
        chance[z] = chance[z - 1] * (n - z + 1) / (z * others)
        spread += (z - mode) * chance[z]
        add(sums, 0, chance[z])
    for z in range(mode - 1, -1, -1):
        chance[z] = chance[z + 1] * ((z + 1) * others) / (n - z)
        spread += (mode - z) * chance[z]
        add(sums, 0, chance[z])
    total = sums[0, 0] + sums[0, 1]
    for z in range(n + 1):
        chance[z] /= total
    return mode, spread / total * (1.0 + 1e-9)


@inner_kernel
def take(best, cost, bounds, left):
    """Lower both ends to the worth of dice of this cost, with so many left."""
    for side in range(2):
        best[side] = min(best[side], cost + bounds[side, 0, left])


@kernel
def one_by_one(n, zeros, need, points, bounds, skipped, choose, worth):
    """The mean over all rolls with `zeros` dice free of points, one by one.

    Parameters
    ----------
    need : int
        Smallest number of dice to take.
    bounds : (2, 2, most + 1) float64
        Lower and upper bounds on V, in their first rows.
    skipped : (2,) float64
        Bounds on the value of taking none; infinite where that isn't allowed.
    worth : (2,) float64, filled
        Bounds on the mean, right to (number of faces + 8) units each, and two for their sum.
    """
    others = points.shape[0] - 1
    rest = n - zeros
    shown = np.zeros(others, np.int64)
    shown[0] = rest
    ways_total = 1.0
    for _ in range(rest):
        ways_total *= others
    start, best, sums = skipped.copy(), np.empty(2), np.zeros((2, 2))
    # free dice alone cost nothing, in every roll with so many of them
    for k in range(need, zeros + 1):
        take(start, 0.0, bounds, n - k)
    while True:
        ways = 1.0
        left = rest
        # the number of orders in which the rest shows these faces
        for face in range(others):
            ways *= choose[left, shown[face]]
            left -= shown[face]
        best[0], best[1] = start[0], start[1]
        taken = zeros
        cost = 0.0
        for face in range(others):
            for _ in range(shown[face]):
                taken += 1
                cost += points[face + 1]
                if taken >= need:
                    take(best, cost, bounds, n - taken)
        for side in range(2):
            add(sums, side, ways * best[side])
        # the next composition of the rest (Nijenhuis and Wilf 1978, NEXCOM)
        first = 0
        while first < others - 1 and shown[first] == 0:
            first += 1
        if first >= others - 1:
            break
        moved = shown[first]
        shown[first] = 0
        shown[0] = moved - 1
        shown[first + 1] += 1
    for side in range(2):
        worth[side] = (sums[side, 0] + sums[side, 1]) / ways_total


@inner_kernel
def lowest_two(n, zeros, need, points, base, skipped):
    """Rolls with fewer free dice than must be taken, by their one or two lowest others.

    Parameters
    ----------
    base, skipped : float
        A bound on V of the dice that are left, and on the value of taking none.

    Returns
    -------
    float
        A sum weighted with the probabilities (not a mean), right to 32 n units of
        the probability times the worth.
    """
    faces = points.shape[0]
    total = 0.0
    if need == 1 or zeros == 1:
        # one more must be taken: the lowest of the others
        dice = n - zeros
        # with one free die this is n / faces times the chance of the other n - 1
        factor = 1.0 if zeros == 0 else n / faces
        for i in range(1, faces):
            # the lowest of the dice is i: none is lower, and not all are higher
            p = factor * (((faces - i) / faces) ** dice - ((faces - i - 1) / faces) ** dice)
            total += p * min(points[i] + base, skipped)
        return total
    for i in range(1, faces):
        at_least, above = (faces - i) / faces, (faces - i - 1) / faces
        # both lowest are i: none is lower, and not fewer than two are i
        twice = at_least**n - above**n - n / faces * above ** (n - 1)
        total += max(twice, 0.0) * min(2 * points[i] + base, skipped)
        for j in range(i + 1, faces):
            p = n / faces
            p *= ((faces - j) / faces) ** (n - 1) - ((faces - j - 1) / faces) ** (n - 1)
            total += p * min(points[i] + points[j] + base, skipped)
    return total


@kernel(never_interpreted=True)
def enclose_values(most, points, skip, looked_at, choose, bounds):
    """Enclose V and W for every number of dice up to `most`.

    Parameters
    ----------
    points : (faces,) float64
        Of each face, ascending, the first 0 and the second positive.
    skip : bool
        Whether a roll may be refused.
    looked_at : int
        Up to this many dice every roll is enumerated.
    choose : (looked_at + 1, looked_at + 1) float64
        Binomial coefficients, exact.
    bounds : (2, 2, most + 1) float64, filled
        Lower and upper bounds, each on V (row 0) and W (row 1).

    Returns
    -------
    int
        The number of dice for which the facts above fail; 0 if none.
    """
    faces = points.shape[0]
    least, worst = points[1], points[faces - 1]
    chance = np.zeros(most + 1)
    skipped, free, worth, sums = np.empty(2), np.empty(2), np.empty(2), np.empty((2, 2))
    bounds[:, :, 0] = 0.0
    largest = 0.0
    steep = 0  # m0: V rises by at most ``points[1]`` in every step above it
    for n in range(1, most + 1):
        mode, spread = binomial(n, faces, chance)
        # The probabilities add up to 1 within a few units. The error of each therefore
        # matters only as far as its worth differs from the usual worth.
        usual = bounds[1, 0, n - 1]
        near = int(np.ceil(largest / least)) + steep  # others with fewer are examined
        # fact 2 for the rolls with fewer free dice than must be taken
        blurred = (n - 1 - steep) * least < largest + 2 * worst or near > looked_at
        if n > looked_at and blurred:
            return n
        # W first: V needs it where a roll may be refused
        for level in range(1, -1, -1):
            need = 1 + level
            if need > n or (level == 1 and not skip):
                bounds[:, level, n] = np.inf
                continue
            may_skip = level == 0 and skip and n > 1
            for side in range(2):
                skipped[side] = bounds[side, 1, n] if may_skip else np.inf
            free[:] = np.inf  # the best of taking only free dice
            sums[:] = 0.0
            slack = 0.0
            # z of n dice have no points
            for z in range(n + 1):
                if z >= need:
                    take(free, 0.0, bounds, n - z)
                p = chance[z]
                off = 2.0 * abs(z - mode) + 2.0 * spread + 8.0
                if n <= looked_at or n - z < near:
                    if p < NEGLIGIBLE:
                        slack += NEGLIGIBLE * (largest + n * worst) / UNIT
                        continue
                    one_by_one(n, z, need, points, bounds, skipped, choose, worth)
                    slack += p * worth[1] * (faces + 12.0)
                elif z < need:
                    left = n - min(need, n)
                    for side in range(2):
                        base = bounds[side, 0, left]
                        worth[side] = lowest_two(n, z, need, points, base, skipped[side])
                    slack += 32.0 * n * p * (2 * worst + largest) + p * off * usual
                    p = 1.0
                    off = 0.0
                else:
                    for side in range(2):
                        worth[side] = min(free[side], skipped[side])
                slack += p * off * max(abs(worth[0] - usual), abs(worth[1] - usual))
                slack += 6.0 * p * worth[1]
                for side in range(2):
                    add(sums, side, p * worth[side])
            slack = (slack + 8.0 * usual) * UNIT * (1.0 + 1e-6) + 1e-300
            bounds[0, level, n] = sums[0, 0] + sums[0, 1] - slack
            bounds[1, level, n] = sums[1, 0] + sums[1, 1] + slack
        if bounds[1, 0, n] - bounds[0, 0, n - 1] > least * (1.0 - 1e-12):
            steep = n
        largest = max(largest, bounds[1, 0, n])
    return 0
