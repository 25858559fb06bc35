"""Measure learning and simulating beside loops written by hand, and in plain Python.

Writes benchmarks/learning.md. Run it by `python benchmarks/learning.py`. Each figure
is the best of many short runs, since other work on the machine only ever adds time.
"""

from __future__ import annotations

import os
import platform
import random
import time
from collections.abc import Callable, Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numba
import numpy as np

from rollwise.builders import build
from rollwise.games.dice_blackjack import DiceBlackjack
from rollwise.games.pig import Pig
from rollwise.learn import METHODS, Learner
from rollwise.learn.rule import choice_probabilities
from rollwise.policies import find_policy
from rollwise.randomness import stream
from rollwise.simulate import simulate
from rollwise.simulate.table import PlayTable

HERE = Path(__file__).parent


def rate(play: Callable[[int], Any], games: int, runs: int = 40) -> float:
    """Games a second, the best of several runs after one that isn't counted."""
    play(games)
    best = float("inf")
    for _ in range(runs):
        started = time.perf_counter()
        play(games)
        best = min(best, time.perf_counter() - started)
    return games / best


# Dice blackjack, 6 sides, 15 to 17, at most 2 dice, M = 100.


def blackjack_in_python(games: int) -> None:
    wins = [[[0, 0] for _ in range(15)] for _ in range(15)]
    losses = [[[0, 0] for _ in range(15)] for _ in range(15)]
    for _ in range(games):
        mine, theirs, path = 0, 0, []
        while True:
            chances = choice_probabilities(wins[mine][theirs], losses[mine][theirs], 100)
            n = 1 if random.random() < chances[0] else 2
            path.append((mine, theirs, n - 1))
            mine += sum(random.randint(1, 6) for _ in range(n))
            if mine >= 15:
                break
            mine, theirs = theirs, mine
        won = mine <= 17
        for x, y, j in reversed(path):
            (wins if won else losses)[x][y][j] += 1
            won = not won


@numba.njit(error_model="numpy")
def blackjack_by_hand(games, counts, rates, chance, words):
    """The same loop for this one game: dice by their faces, tables by the two totals."""
    state = words[0]
    path = np.empty((64, 3), np.int64)
    for _ in range(games):
        mine, theirs, length = 0, 0, 0
        while True:
            state += np.uint64(0x9E3779B97F4A7C15)
            z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z ^= z >> np.uint64(31)
            j = np.int64(np.float64(z >> np.uint64(40)) * 2.0**-24 >= chance[mine, theirs])
            path[length, 0], path[length, 1], path[length, 2] = mine, theirs, j
            length += 1
            low = np.int64(z & np.uint64(0xFFFFF))
            mine += 1 + ((low * 6) >> 20)
            if j == 1:
                mine += 1 + ((np.int64((z >> np.uint64(20)) & np.uint64(0xFFFFF)) * 6) >> 20)
            if mine >= 15:
                break
            mine, theirs = theirs, mine
        column = 0 if mine <= 17 else 1
        for i in range(length - 1, -1, -1):
            x, y, j = path[i, 0], path[i, 1], path[i, 2]
            counts[x, y, j, column] += 1
            w, n = counts[x, y, j, 0], counts[x, y, j, 0] + counts[x, y, j, 1]
            rates[x, y, j] = w / n
            first, second = rates[x, y, 0], rates[x, y, 1]
            total = (counts[x, y, 0, 0] + counts[x, y, 0, 1] + counts[x, y, 1, 0]
                     + counts[x, y, 1, 1])  # fmt: skip
            gain = total * max(first, second) + 100.0
            best = gain / (gain + 100.0)
            chance[x, y] = best if first >= second else 1.0 - best
            column = 1 - column
    words[0] = state


def learning() -> Iterator[tuple[str, float]]:
    yield "plain Python", rate(blackjack_in_python, 1000, 3)
    counts = np.zeros((15, 15, 2, 2), np.int64)
    rates, chance = np.full((15, 15, 2), 0.5), np.full((15, 15), 0.5)
    words = stream(1, 0)
    yield (
        "a loop by hand for this game, Numba",
        rate(lambda n: blackjack_by_hand(n, counts, rates, chance, words), 50_000),
    )
    graph = build(DiceBlackjack())
    for method in METHODS:
        learner = Learner(graph, explore=100, seed=1, method=method)
        tally, own = learner.tallies[0], learner.words[0]
        yield f"rollwise, {method}, one core", rate(lambda n: tally.play(n, own), 50_000)  # noqa: B023
    learner = Learner(graph, explore=100, seed=1)
    yield "rollwise, counts, `Learner.play`", rate(learner.play, 1_000_000, 5)
    cores = os.cpu_count() or 1
    learner = Learner(graph, explore=100, seed=1, workers=cores)
    yield f"rollwise, counts, `Learner.play`, {cores} workers", rate(learner.play, 2_000_000, 5)


# Pig, 100 points, hold at 20 (or to win) against itself.


def pig_in_python(games: int) -> None:
    for _ in range(games):
        banked, rival = 0, 0
        while True:
            turn = 0
            while turn < 20 and banked + turn < 100:
                face = random.randint(1, 6)
                if face == 1:
                    turn = 0
                    break
                turn += face
            banked += turn
            if banked >= 100:
                break
            banked, rival = rival, banked


@numba.njit(error_model="numpy")
def pig_by_hand(games, words):
    """The same in compiled code, for this one game and policy."""
    state = words[0]
    first_won = 0
    for _ in range(games):
        banked, rival, seat = 0, 0, 0
        while True:
            turn = 0
            while turn < 20 and banked + turn < 100:
                state += np.uint64(0x9E3779B97F4A7C15)
                z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                face = 1 + np.int64(((z >> np.uint64(32)) * np.uint64(6)) >> np.uint64(32))
                if face == 1:
                    turn = 0
                    break
                turn += face
            banked += turn
            if banked >= 100:
                break
            banked, rival = rival, banked
            seat ^= 1
        first_won += seat == 0
    words[0] = state
    return first_won


def simulating() -> Iterator[tuple[str, float]]:
    yield "plain Python", rate(pig_in_python, 500, 3)
    words = stream(1, 0)
    yield (
        "a loop by hand for this game and policy, Numba",
        rate(lambda n: pig_by_hand(n, words), 20_000),
    )
    game = Pig()
    graph = build(game)
    policy = find_policy(graph, game, "hold-at-20")
    table = PlayTable.of(graph, policy)
    own = stream(1, 0)
    yield "rollwise, one core", rate(lambda n: table.play(n, own), 20_000)
    yield (
        "rollwise, `simulate`, with all its statistics",
        rate(lambda n: simulate(graph, policy, games=n, seed=1, exact=False), 1_000_000, 5),
    )
    cores = os.cpu_count() or 1
    yield (
        f"the same, {cores} workers",
        rate(
            lambda n: simulate(graph, policy, games=n, seed=1, exact=False, workers=cores),
            2_000_000,
            5,
        ),
    )


def table(rows: Iterator[tuple[str, float]]) -> Iterator[str]:
    yield "| | million games a second | times plain Python |"
    yield "|---|---|---|"
    slowest = None
    for name, games in rows:
        slowest = slowest or games
        yield f"| {name} | {games / 1e6:.4g} | {games / slowest:,.0f} |"


def main() -> None:
    lines = [
        "# Learning and simulating",
        "",
        "Written by `python benchmarks/learning.py`; not to be edited by hand.",
        "",
        f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores (load before the run: "
        f"{os.getloadavg()[0]:.1f}), Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy"))
        + ". The best of many short runs each.",
        "",
        f"## Learning {build(DiceBlackjack()).title}, M = 100",
        "",
        *table(learning()),
        "",
        "The loop by hand uses splitmix64 and knows the two totals; rollwise plays on the graph "
        "of any game.",
        "",
        "## Simulating Pig, hold at 20 or to win, against itself",
        "",
        *table(simulating()),
        "",
        "rollwise counts turns and moves of every game too; the loop by hand counts wins only.",
        "",
    ]
    (HERE / "learning.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
