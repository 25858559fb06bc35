"""QuantEcon's DiscreteDP, with sparse state-action pairs.

It wants a discount below 1 for policy iteration; with 1 it is "an object carrying the
Bellman operator", whose `operator_iteration` is value iteration. It has no second player;
but it doesn't look at the probabilities, and a pass written as a negative one gives the
game of two. Its policy iteration then fails at its last step, a Markov chain of the policy,
and is repeated here with its own steps. Batista et al. (2024), QuantEcon.py.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import Answer
from benchmarks.peers.decision_process import DISCOUNT, decision_process, worth
from benchmarks.work import Problem, Work

TOOL = "QuantEcon"
PACKAGE = "quantecon"
WAYS = {
    "policy-iteration": "policy iteration, discount 1 − 2⁻⁴⁰",
    "operator-iteration": "value iteration, no discount",
}
STOP = 1e-10
MOST_STEPS = 1_000


def refusal(work: Work, way: str) -> str | None:
    """A game of two is stated by negative probabilities."""
    return None


def policy_iteration(process: Any) -> tuple[NDArray[np.float64], int]:
    """What its policy iteration does, but for the chain that it makes at the end."""
    policy = process.compute_greedy(process.s_wise_max(process.R))
    for step in range(1, MOST_STEPS):
        values = process.evaluate_policy(policy)
        better = process.compute_greedy(values)
        if np.array_equal(better, policy):
            return values, step
        policy = better
    return values, MOST_STEPS


def start(problem: Problem, way: str) -> Callable[[], Answer]:
    from quantecon.markov import DiscreteDP

    given = decision_process(problem)
    arrays = (given.reward, given.probability)
    indices = (given.action_state, given.action_label)
    trick = " (a pass is a negative probability)" if problem.work.two_choose else ""

    def solve() -> Answer:
        clock = time.perf_counter
        started = clock()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            process = DiscreteDP(*arrays, DISCOUNT if way == "policy-iteration" else 1.0, *indices)
        built = clock()
        if way == "policy-iteration":
            values, rounds = policy_iteration(process)
            most, said = MOST_STEPS, "none"
        else:
            values, most = np.zeros(process.num_states), 100_000
            rounds = process.operator_iteration(process.bellman_operator, values, most, tol=STOP)
            said = f"none: stops at a change of {STOP:g}"
        ended = clock()
        if rounds >= most:
            raise ArithmeticError(f"no rest after {most:,} iterations")
        return Answer(
            {"build": built - started, "solve": ended - built},
            lambda: worth(problem, values),
            said + trick,
        )

    return solve
