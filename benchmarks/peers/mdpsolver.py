"""MDPSolver: C++ behind lists of lists. Andersen and Andersen, "MDPSolver" (2024).

It wants a discount below 1, and one who chooses: a pass as a negative probability, which
QuantEcon takes, makes it run for ever. Updates are Gauss-Seidel: with standard ones, in
parallel or not, and by value iteration, it didn't come to rest on Pig to 25.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import numpy as np

from benchmarks.peers import Answer
from benchmarks.peers.decision_process import DISCOUNT, decision_process, worth
from benchmarks.work import Problem, Work

TOOL = "MDPSolver"
PACKAGE = "mdpsolver"
WAYS = {
    "mpi": "modified policy iteration, discount 1 − 2⁻⁴⁰",
    "pi": "policy iteration, discount 1 − 2⁻⁴⁰",
}
STOP = 1e-10


def refusal(work: Work, way: str) -> str | None:
    return "it has no second player who chooses" if work.two_choose else None


def start(problem: Problem, way: str) -> Callable[[], Answer]:
    import mdpsolver

    given = decision_process(problem)
    matrix = given.probability
    first = np.searchsorted(given.action_state, np.arange(given.action_state[-1] + 2)).tolist()
    ends = matrix.indptr.tolist()
    columns, chances = matrix.indices.tolist(), matrix.data.tolist()
    rewards = given.reward.tolist()
    actions = [range(a, b) for a, b in itertools.pairwise(first)]
    reward_lists = [[rewards[a] for a in own] for own in actions]
    column_lists = [[columns[ends[a] : ends[a + 1]] for a in own] for own in actions]
    chance_lists = [[chances[ends[a] : ends[a + 1]] for a in own] for own in actions]

    def solve() -> Answer:
        clock = time.perf_counter
        started = clock()
        model = mdpsolver.model()
        model.mdp(
            discount=DISCOUNT,
            rewards=reward_lists,
            tranMatProbs=chance_lists,
            tranMatColumns=column_lists,
        )
        built = clock()
        # Its tolerance is divided by what the discount leaves, so that 1e-10 would never come.
        model.solve(
            algorithm=way,
            update="gs",
            tolerance=STOP * DISCOUNT / (1 - DISCOUNT),
            parallel=False,
            postProcessing=False,
            makeFinalCheck=False,
        )
        ended = clock()
        values = model.getValueVector()
        return Answer(
            {"build": built - started, "solve": ended - built},
            lambda: worth(problem, values),
            f"none: stops at a change of about {STOP:g}",
        )

    return solve
