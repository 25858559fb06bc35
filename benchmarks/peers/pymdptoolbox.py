"""pymdptoolbox, with sparse matrices. Chadès et al. (2014), "MDPtoolbox", Ecography.

Every state must have every action, so that the first is repeated where there are fewer,
and one chooses. Its check of the input makes a dense matrix of states by states and is
switched off. Its policy iteration makes one too, its modified policy iteration doesn't
come to rest here, and its Gauss-Seidel fails with today's NumPy; value iteration is left.
A discount of 1 is allowed, with a warning.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable

import numpy as np

from benchmarks.peers import Answer
from benchmarks.peers.decision_process import decision_process, worth
from benchmarks.work import Problem, Work

TOOL = "pymdptoolbox"
PACKAGE = "pymdptoolbox"
WAYS = {"value-iteration": "value iteration, no discount"}
STOP = 1e-10
MOST_ROUNDS = 100_000


def refusal(work: Work, way: str) -> str | None:
    return "it has no second player who chooses" if work.two_choose else None


def start(problem: Problem, way: str) -> Callable[[], Answer]:
    import mdptoolbox.mdp
    import mdptoolbox.util

    mdptoolbox.util.check = lambda transitions, reward: None
    given = decision_process(problem)
    n = given.probability.shape[1]
    first = np.searchsorted(given.action_state, np.arange(n + 1))
    counts = np.diff(first)
    chosen = [first[:-1] + np.where(a < counts, a, 0) for a in range(int(counts.max()))]

    def solve() -> Answer:
        clock = time.perf_counter
        started = clock()
        transitions = tuple(given.probability[rows] for rows in chosen)
        reward = np.column_stack([given.reward[rows] for rows in chosen])
        with contextlib.redirect_stdout(io.StringIO()):
            process = mdptoolbox.mdp.ValueIteration(
                transitions, reward, 1.0, epsilon=STOP, max_iter=MOST_ROUNDS
            )
        built = clock()
        process.run()
        ended = clock()
        if process.iter >= MOST_ROUNDS:
            raise ArithmeticError(f"no rest after {MOST_ROUNDS:,} iterations")
        return Answer(
            {"build": built - started, "solve": ended - built},
            lambda: worth(problem, process.V),
            f"none: stops where changes differ by less than {STOP:g}",
        )

    return solve
