"""Kernels written by hand for one game each: what is left when all generality is gone.

Pig: the positions (i, j) and (j, i) make a component; with the value y of the other's
turn given, a turn is solved backward, with its slope in y, and Newton's step on the pair
is strategy iteration. Super Six: sticks only leave the game, so that those with n in play
are a layer; a layer is swept (Gauss-Seidel) until it rests. Nothing is certified, and no
graph is built.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numba
import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import Answer
from benchmarks.work import Problem, Work

TOOL = "by hand"
PACKAGE = None
WAYS = {"": "a Numba kernel for this game"}
REST = 1e-15  # a component is done when nothing moves by more
LAYER_RESTS = 1e-14
MOST_STEPS = 60


def refusal(work: Work, way: str) -> str | None:
    if work.game not in ("pig", "super-six"):
        return "no kernel was written for it"
    return None


@numba.njit(cache=True)
def turn_of_mover(i, j, target, wait, held, row):
    """A turn at (i, j) where the mover chooses, backward; its value, and its slope in `wait`.

    Parameters
    ----------
    wait : float
        The mover's chance to win after losing the turn.
    held : (target, target)
        ``held[i + k, j]`` is its chance after holding.
    row : (target,)
        Filled with its chances at k points in the turn.
    """
    s2 = s3 = s4 = s5 = s6 = 0.0  # slopes at k + 2 and so on
    v2 = v3 = v4 = v5 = v6 = 1.0
    v1, s1 = 1.0, 0.0
    for k in range(target - 1 - i, -1, -1):
        value = (wait + v2 + v3 + v4 + v5 + v6) / 6.0
        slope = (1.0 + s2 + s3 + s4 + s5 + s6) / 6.0
        if k > 0 and held[i + k, j] > value:
            value, slope = held[i + k, j], 0.0
        row[k] = value
        v6, v5, v4, v3, v2, v1 = v5, v4, v3, v2, v1, value
        s6, s5, s4, s3, s2, s1 = s5, s4, s3, s2, s1, slope
    return v1, s1


@numba.njit(cache=True)
def pig_for_two(target):
    """Chances of the mover by [banked, rival, turn]: (target, target, target) float64."""
    chance = np.zeros((target, target, target))
    held = np.zeros((target, target))  # of who held, who has i, against j
    for total in range(2 * target - 2, -1, -1):
        for i in range(max(0, total - target + 1), total // 2 + 1):
            j = total - i
            x = y = 0.5
            for _ in range(MOST_STEPS):
                fx, sx = turn_of_mover(i, j, target, 1.0 - y, held, chance[i, j])
                if i == j:
                    # x = fx + sx * (y - x) with x = y
                    new = (fx + sx * y) / (1.0 + sx)
                    moved = abs(new - y)
                    x = y = new
                else:
                    fy, sy = turn_of_mover(j, i, target, 1.0 - x, held, chance[j, i])
                    # x - fx = -sx * (new y - y), new y - fy = -sy * (new x - x)
                    a, b = fx + sx * y, fy + sy * x
                    new_x = (a - sx * b) / (1.0 - sx * sy)
                    new_y = b - sy * new_x
                    moved = max(abs(new_x - x), abs(new_y - y))
                    x, y = new_x, new_y
                if moved <= REST:
                    break
            held[j, i] = 1.0 - x
            held[i, j] = 1.0 - y
    return chance


@numba.njit(cache=True)
def turn_of_holder(i, j, target, hold, busted, after, row):
    """A turn of who holds at `hold` and has i: the chance of the responder, who has j.

    ``after[j, i + k]`` is the responder's chance where it moves next; `busted` that where
    the turn was lost. Gives the value and its slope in `busted`.
    """
    v1 = v2 = v3 = v4 = v5 = v6 = 0.0
    s1 = s2 = s3 = s4 = s5 = s6 = 0.0
    for k in range(target - 1 - i, -1, -1):
        if k >= hold:
            value, slope = after[j, i + k], 0.0
        else:
            value = (busted + v2 + v3 + v4 + v5 + v6) / 6.0
            slope = (1.0 + s2 + s3 + s4 + s5 + s6) / 6.0
        row[k] = value
        v6, v5, v4, v3, v2, v1 = v5, v4, v3, v2, v1, value
        s6, s5, s4, s3, s2, s1 = s5, s4, s3, s2, s1, slope
    return v1, s1


@numba.njit(cache=True)
def pig_response(target, hold):
    """Chances of the best response to holding: where it moves, by [its points, the other's,
    turn], and where the other moves, by [the other's points, its, turn]."""
    moves = np.zeros((target, target, target))
    waits = np.zeros((target, target, target))
    held = np.zeros((target, target))  # held[i, j]: the responder holds, with i against j
    after = np.zeros((target, target))  # after[i, j]: the responder is to move
    for total in range(2 * target - 2, -1, -1):
        for i in range(max(0, total - target + 1), min(target - 1, total) + 1):
            j = total - i
            x = y = 0.5
            for _ in range(MOST_STEPS):
                fy, sy = turn_of_holder(j, i, target, hold, x, after, waits[j, i])
                fx, sx = turn_of_mover(i, j, target, y, held, moves[i, j])
                a, b = fx - sx * y, fy - sy * x  # x = a + sx * y and y = b + sy * x
                new_x = (a + sx * b) / (1.0 - sx * sy)
                new_y = b + sy * new_x
                moved = max(abs(new_x - x), abs(new_y - y))
                x, y = new_x, new_y
                if moved <= REST:
                    break
            after[i, j] = x
            held[i, j] = y
    return moves, waits


@numba.njit(cache=True)
def super_six(sticks):
    """What a throw is worth by [sticks in play, mine, lid]: (sticks + 1, sticks, 6), -1 to 1.

    A forced state is worth its throw; another the better of its throw and of stopping,
    which is minus the throw of the other player in the same position. A layer is swept in
    the order of the fewest sticks that either player has, beginning with its answer for
    one stick less.
    """
    throw = np.zeros((sticks + 1, sticks, 6))
    known = np.zeros((sticks, 6))  # what a six brings: the layer below
    for total in range(2, sticks + 1):
        layer, below = throw[total], throw[total - 1]
        for mine in range(1, total):
            for lid in range(min(5, total - mine - 1) + 1):
                if mine == 1:
                    known[mine, lid] = (6.0 - lid) / 6.0  # the last stick finds its hole
                else:
                    theirs = total - lid - mine
                    known[mine, lid] = max(below[mine - 1, lid], -below[theirs, lid]) / 6.0
                layer[mine, lid] = below[min(mine, total - 2), lid]
        change = 1.0
        while change > LAYER_RESTS:
            change = 0.0
            for fewest in range(1, total // 2 + 1):
                for lid in range(5, -1, -1):
                    rest = total - lid - fewest
                    if rest >= fewest:
                        change = max(change, back_up(layer, known, lid, fewest, rest))
                for lid in range(5, -1, -1):
                    rest = total - lid - fewest
                    if rest > fewest:
                        change = max(change, back_up(layer, known, lid, rest, fewest))
    return throw


@numba.njit(cache=True)
def back_up(layer, known, lid, mine, theirs):
    """Renew the worth of a throw; how much it changed."""
    value = known[mine, lid]
    if lid < 5 and mine > 1:
        value += (5.0 - lid) / 6.0 * max(layer[mine - 1, lid + 1], -layer[theirs, lid + 1])
    if lid > 0:
        value -= lid / 6.0 * layer[theirs, lid - 1]
    change = abs(value - layer[mine, lid])
    layer[mine, lid] = value
    return change


def start(problem: Problem, way: str) -> Callable[[], Answer]:
    work, states = problem.work, problem.array("states")

    def solve() -> Answer:
        started = time.perf_counter()
        if work.game == "super-six":
            found = (super_six(work.parameters["sticks"]),)
        elif work.against is None:
            found = (pig_for_two(work.parameters["target"]),)
        else:
            found = pig_response(work.parameters["target"], 20)
        seconds = time.perf_counter() - started
        return Answer({"solve": seconds}, lambda: worth_of(work, states, found), "none")

    return solve


def worth_of(
    work: Work, states: NDArray[np.int32], found: tuple[NDArray[np.float64], ...]
) -> NDArray[np.float64]:
    """The chance to win, by state."""
    if work.game == "super-six":
        (throw,) = found
        lid, mine, theirs, forced = states.T
        total = lid + mine + theirs
        value, stop = throw[total, mine, lid], -throw[total, theirs, lid]
        return (1 + np.where(forced == 1, value, np.maximum(value, stop))) / 2
    if work.against is None:
        (chance,) = found
        return chance[tuple(states.T)]
    moves, waits = found
    banked, rival, turn, seat = states.T
    return np.where(seat == 0, moves[banked, rival, turn], waits[banked, rival, turn])
