"""The algorithms that this project grew from, in plain Python, each for its own game.

Super Six: synchronous value iteration over all states with at most n sticks (Höhle 2023).
Pig: updates in place from the last state backward, with the better action where the
source had a policy's. Threes: backward induction over the dice left, exactly where the
source drew at random. Dice blackjack: the same idea, from high totals down.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from benchmarks.peers import Answer
from benchmarks.work import Problem, Work

TOOL = "plain Python"
PACKAGE = None
WAYS = {"": "a loop for this game"}
STOP = 1e-10


def refusal(work: Work, way: str) -> str | None:
    return None


def super_six(sticks: int) -> dict[tuple[int, ...], float]:
    """Values of (lid, mine, theirs, forced), from -1 to 1; all are swept until none moves."""
    states = [
        (lid, mine, total - lid - mine, forced)
        for total in range(2, sticks + 1)
        for lid in range(min(total, 5) + 1)
        for mine in range(1, total - lid)
        for forced in (0, 1)
    ]
    values = dict.fromkeys(states, 0.0)
    change = 1.0
    while change > STOP:
        swept = {}
        change = 0.0
        for state in states:
            lid, mine, theirs, forced = state
            if mine == 1:
                throw = (6 - lid) / 6
            else:
                throw = values[lid, mine - 1, theirs, 0] / 6
                if lid < 5:
                    throw += (5 - lid) / 6 * values[lid + 1, mine - 1, theirs, 0]
            if lid > 0:
                throw -= lid / 6 * values[lid - 1, theirs, mine + 1, 1]
            worth = throw if forced else max(throw, -values[lid, theirs, mine, 1])
            swept[state] = worth
            change = max(change, abs(worth - values[state]))
        values = swept
    return values


def pig(target: int, against: int | None = None) -> tuple[list[Any], list[Any]]:
    """Chances to win by ``[banked][rival][turn]``: of the mover, and of the responder while
    the other, who holds at `against`, is to move (empty where both choose)."""
    size = range(target)
    mover = [[[0.0] * (target - i) for _ in size] for i in size]
    waiter = [[[0.0] * (target - i) for _ in size] for i in size] if against else []
    change = 1.0
    while change > STOP:
        change = 0.0
        for i in reversed(size):
            for j in reversed(size):
                row = mover[i][j]
                bust = waiter[j][i][0] if against else 1 - mover[j][i][0]
                for k in reversed(range(target - i)):
                    roll = bust
                    for face in range(2, 7):
                        roll += 1.0 if i + k + face >= target else row[k + face]
                    best = roll / 6
                    if k > 0:
                        held = waiter[j][i + k][0] if against else 1 - mover[j][i + k][0]
                        best = max(best, held)
                    change = max(change, abs(best - row[k]))
                    row[k] = best
                if against is None:
                    continue
                row = waiter[i][j]  # the other has i, the responder j
                for k in reversed(range(target - i)):
                    if k >= against:
                        new = mover[j][i + k][0]
                    else:
                        new = mover[j][i][0]
                        for face in range(2, 7):
                            new += 0.0 if i + k + face >= target else row[k + face]
                        new /= 6
                    change = max(change, abs(new - row[k]))
                    row[k] = new
    return mover, waiter


def threes(dice: int) -> dict[tuple[int, bool], float]:
    """Expected points by dice about to be rolled and whether two must be taken."""
    values: dict[tuple[int, bool], float] = {(0, False): 0.0}
    for left in range(1, dice + 1):
        for must_take_two in (True, False):
            if must_take_two and left < 2:
                continue
            total = 0.0
            for roll in product((0, 1, 2, 4, 5, 6), repeat=left):
                lowest = sorted(roll)
                best, points = float("inf"), 0
                for taken in range(1, left + 1):
                    points += lowest[taken - 1]
                    if taken > must_take_two:
                        best = min(best, points + values[left - taken, False])
                if not must_take_two and left > 1:
                    best = min(best, values[left, True])
                total += best
            values[left, must_take_two] = total / 6**left
    return values


def blackjack(low: int, high: int) -> list[list[float]]:
    """Chances to win by ``[mine][theirs]`` with two dice of six; totals only grow."""
    two = [0] * 13
    for first, second in product(range(1, 7), repeat=2):
        two[first + second] += 1
    throws = [[(1 / 6, points) for points in range(1, 7)]]
    throws.append([(ways / 36, points) for points, ways in enumerate(two) if ways])
    chance = [[0.0] * low for _ in range(low)]
    for total in range(2 * low - 2, -1, -1):
        for mine in range(max(0, total - low + 1), min(low, total + 1)):
            theirs = total - mine
            best = 0.0
            for throw in throws:
                worth = 0.0
                for p, points in throw:
                    sum_ = mine + points
                    if sum_ < low:
                        worth += p * (1 - chance[theirs][sum_])
                    elif sum_ <= high:
                        worth += p
                best = max(best, worth)
            chance[mine][theirs] = best
    return chance


def start(problem: Problem, way: str) -> Callable[[], Answer]:
    work = problem.work
    states = problem.array("states")
    given = work.parameters

    def of_super_six() -> np.ndarray:
        values = super_six(given["sticks"])
        return lambda: np.array([(1 + values[tuple(s)]) / 2 for s in states.tolist()])

    def of_pig() -> Any:
        mover, waiter = pig(given["target"], 20 if work.against else None)

        def worth() -> np.ndarray:
            if not waiter:
                return np.array([mover[i][j][k] for i, j, k in states.tolist()])
            return np.array(
                [(waiter if seat else mover)[i][j][k] for i, j, k, seat in states.tolist()]
            )

        return worth

    def of_threes() -> Any:
        values = threes(5)
        return lambda: values[5, False]

    def of_blackjack() -> Any:
        chance = np.array(blackjack(given["low"], given["high"]))
        return lambda: chance[states[:, 0], states[:, 1]]

    loops: dict[str, tuple[Callable[[], Any], str]] = {
        "super-six": (of_super_six, f"none: stops at a change of {STOP:g}"),
        "pig": (of_pig, f"none: stops at a change of {STOP:g}"),
        "threes": (of_threes, "none: rounding alone"),
        "dice-blackjack": (of_blackjack, "none: rounding alone"),
    }
    loop, claim = loops[work.game]

    def solve() -> Answer:
        started = time.perf_counter()
        worth = loop()
        return Answer({"solve": time.perf_counter() - started}, worth, claim)

    return solve
