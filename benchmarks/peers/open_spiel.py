"""OpenSpiel: value iteration in Python. Lanctot et al. (2019).

Pig is its own game, written in C++ (who reaches the target still has to hold, which
changes no value); the others are rollwise's graphs, registered as Python games.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import Answer
from benchmarks.work import Problem, Work

TOOL = "OpenSpiel"
PACKAGE = "open_spiel"
WAYS = {"value-iteration": "value iteration"}
STOP = 1e-10
PIG = re.compile(r"Scores: (\d+) (\d+), Turn total: (\d+)\nCurrent player: (\d)")


def refusal(work: Work, way: str) -> str | None:
    if work.against is not None:
        return "its value iteration has no fixed second player: the game of two does as much"
    return None


def start(problem: Problem, way: str) -> Callable[[], Answer]:
    import pyspiel
    from open_spiel.python.algorithms import get_all_states, value_iteration

    work = problem.work
    if work.game == "pig":
        target = work.parameters["target"]
        name = f"pig(players=2,winscore={target},horizon=1000000)"
    else:
        from rollwise.export.open_spiel import register

        name = register(work.rules())
    finding = get_all_states.get_all_states

    def solve() -> Answer:
        clock = time.perf_counter
        found_in = 0.0

        def timed(*arguments: Any, **options: Any) -> Any:
            nonlocal found_in
            began = clock()
            states = finding(*arguments, **options)
            found_in = clock() - began
            return states

        get_all_states.get_all_states = timed
        deepest = sys.getrecursionlimit()
        sys.setrecursionlimit(10**7)  # it looks for states by recursion
        started = clock()
        try:
            game = pyspiel.load_game(name)
            values = value_iteration.value_iteration(game, -1, STOP, cyclic_game=True)
        finally:
            sys.setrecursionlimit(deepest)
        took = clock() - started
        return Answer(
            {"build": found_in, "solve": took - found_in},
            lambda: worth_of(problem, game, values),
            f"none: stops at a change of {STOP:g}",
        )

    return solve


def worth_of(problem: Problem, game: Any, values: dict[str, float]) -> Any:
    """By state for Pig, else of the start; values are those of the first player."""
    if problem.work.game != "pig":
        value = values[str(game.new_initial_state())]
        if problem.is_score:
            return -value if problem.facts["objective"] == "minimize" else value
        return (1 + value) / 2
    states = problem.array("states")
    number = {tuple(row): s for s, row in enumerate(states.tolist())}
    worth = np.full(len(states), np.nan)
    for text, value in values.items():
        found = PIG.match(text)
        if found is None:
            continue
        first, second, turn, player = map(int, found.groups())
        mine, theirs = (first, second) if player == 0 else (second, first)
        s = number.get((mine, theirs, turn))
        if s is not None:
            worth[s] = (1 + value) / 2 if player == 0 else (1 - value) / 2
    return worth
