"""Learning and simulating, beside loops written by hand, and in plain Python.

    python -m benchmarks.rates QUICK

All take turns, and each figure is the median of its turns. What runs on one core is
measured in processor time; what runs on several, in elapsed time.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from benchmarks.measure import Settings, ask
from benchmarks.worker import own_output, say


class Loop(NamedTuple):
    """A way to play many games.

    Attributes
    ----------
    play : callable
        Plays as many games as it is told.
    games : int
        How many a turn.
    cores : int
        How many it works on.
    """

    name: str
    play: Callable[[int], Any]
    games: int
    cores: int = 1


def in_turn(loops: list[Loop], turns: int) -> list[dict[str, Any]]:
    """Games a second of each loop: medians of turns, after one that isn't counted."""
    took: list[list[float]] = [[] for _ in loops]
    for turn in range(turns + 1):
        for loop, times in zip(loops, took, strict=True):
            clock = time.process_time if loop.cores == 1 else time.perf_counter
            started = clock()
            loop.play(loop.games)
            if turn > 0:
                times.append(clock() - started)
    return [
        {"name": loop.name, "rate": loop.games / statistics.median(times), "cores": loop.cores}
        for loop, times in zip(loops, took, strict=True)
    ]


def rows(settings: Settings, quick: bool) -> dict[str, Any]:
    """Both tables, measured in a process of its own."""
    return ask(["benchmarks.rates", str(int(quick))], 10 * settings.limit)


BY_HAND = "a loop by hand for this game, Numba"
GAMMA = np.uint64(0x9E3779B97F4A7C15)


@numba.njit(error_model="numpy")
def mixed(state):
    """The random word of a state, which grows by `GAMMA` from word to word (SplitMix64)."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def on_all_cores(play: Callable[[int], Callable[[int], Any]], games: int) -> list[Loop]:
    """What a number of workers plays, with one for each core, where there are several."""
    cores = os.cpu_count() or 1
    return [Loop(f"the same, {cores} workers", play(cores), games, cores)] if cores > 1 else []


# Dice blackjack, 6 sides, 15 to 17, at most 2 dice, M = 100.


def blackjack_in_python(games: int) -> None:
    from rollwise.learn.learner import choice_probabilities

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
            state += GAMMA
            z = mixed(state)
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


def learning() -> list[Loop]:
    """Dice blackjack learned by self-play."""
    from rollwise.builders import build
    from rollwise.games.dice_blackjack import DiceBlackjack
    from rollwise.learn import METHODS, Learner

    counts = np.zeros((15, 15, 2, 2), np.int64)
    rates, chance = np.full((15, 15, 2), 0.5), np.full((15, 15), 0.5)
    words = stream_words()
    loops = [
        Loop("plain Python", blackjack_in_python, 2_000),
        Loop(BY_HAND, lambda n: blackjack_by_hand(n, counts, rates, chance, words), 100_000),
    ]
    graph = build(DiceBlackjack())
    for method in METHODS:
        loops.append(Loop(f"rollwise, {method}", one_core(graph, method, Learner), 100_000))
    whole = Learner(graph, explore=100, seed=1)
    loops.append(Loop("rollwise, counts, `Learner.play`", whole.play, 500_000))
    return loops + on_all_cores(
        lambda workers: Learner(graph, explore=100, seed=1, workers=workers).play, 1_000_000
    )


def one_core(graph: Any, method: str, learner_class: Any) -> Callable[[int], Any]:
    """The learner's own loop, without what `Learner.play` does around it."""
    learner = learner_class(graph, explore=100, seed=1, method=method)
    tally, own = learner.tallies[0], learner.words[0]
    return lambda games: tally.play(games, own)


def stream_words() -> Any:
    """The state of a random stream."""
    from rollwise.numbers.randomness import stream

    return stream(1, 0)


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
                state += GAMMA
                z = mixed(state)
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


def simulating() -> list[Loop]:
    """Pig to 100, both holding at 20, or to win."""
    from rollwise.answer.references import Policies
    from rollwise.builders import build
    from rollwise.games.pig import Pig
    from rollwise.play.games import PlayTable
    from rollwise.simulate import simulate

    game = Pig()
    graph = build(game)
    policy = Policies(graph, game).find("hold-at-20")
    words, own = stream_words(), stream_words()
    table = PlayTable.of(graph, policy)

    def simulated(workers: int) -> Callable[[int], Any]:
        return lambda n: simulate(graph, policy, games=n, seed=1, exact=False, workers=workers)

    return [
        Loop("plain Python", pig_in_python, 500),
        Loop(BY_HAND, lambda n: pig_by_hand(n, words), 20_000),
        Loop("rollwise, one core", lambda n: table.play(n, own), 20_000),
        Loop("rollwise, `simulate`, with all its statistics", simulated(1), 200_000),
        *on_all_cores(simulated, 500_000),
    ]


def main() -> None:
    turns = 3 if sys.argv[1] == "1" else 9
    say(own_output(), learning=in_turn(learning(), turns), simulating=in_turn(simulating(), turns))


if __name__ == "__main__":
    main()
