"""A problem as a Markov decision process: what QuantEcon and its like are given.

States and actions are those of the problem's graph, and one state more where play is
over. The arrays are made from rollwise's graph, and making them isn't timed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.work import Problem

DISCOUNT = 1 - 2.0**-40  # for tools that insist: less by 1e-12


class DecisionProcess(NamedTuple):
    """Arrays: n states and, last, the one where play is over.

    Attributes
    ----------
    action_state, action_label : (n_actions,) int
        Whose actions they are, and their number among those of the state.
    reward : (n_actions,) float64
        What is expected at once: payoffs where play ends, or points; to be maximized.
    probability : scipy.sparse.csr_array, (n_actions, n_states)
        A pass to the other player has its probability negated where two players choose:
        what is good for the next mover is bad for this one.
    """

    action_state: NDArray[np.int64]
    action_label: NDArray[np.int64]
    reward: NDArray[np.float64]
    probability: Any


def decision_process(problem: Problem) -> DecisionProcess:
    """Make the arrays; values are payoffs from -1 to 1 (of the first player), or points lost."""
    from scipy.sparse import csr_array

    states = problem.array("states")
    n = len(states)
    action_indptr = problem.array("action_indptr")
    counts = np.diff(action_indptr)
    action_state = np.repeat(np.arange(n), counts)
    outcome_indptr = problem.array("outcome_indptr")
    weight = problem.array("outcome_weight").astype(np.float64)
    action_of = np.repeat(np.arange(len(action_state)), np.diff(outcome_indptr))
    chance = weight / np.add.reduceat(weight, outcome_indptr[:-1])[action_of]
    target = problem.array("outcome_state").astype(np.int64)
    over = target < 0
    payoff = problem.array("outcome_payoff") * over
    sign = np.ones(len(target))
    if problem.work.two_choose:
        sign[problem.array("outcome_passes") & ~over] = -1.0
    elif problem.facts["players"] == 2:
        payoff *= np.where(states[action_state[action_of], -1] == 0, 1.0, -1.0)
    reward = np.bincount(action_of, chance * payoff, minlength=len(action_state))
    points = problem.array("action_reward")
    reward += -points if problem.facts["objective"] == "minimize" else points
    probability = csr_array(
        (chance * sign, np.where(over, n, target), outcome_indptr), (len(action_state), n + 1)
    )
    probability.sum_duplicates()
    label = np.arange(len(action_state)) - np.repeat(action_indptr[:-1], counts)
    # The state where play is over leads to itself.
    last = csr_array(([1.0], ([0], [n])), (1, n + 1))
    from scipy.sparse import vstack

    return DecisionProcess(
        np.append(action_state, n),
        np.append(label, 0),
        np.append(reward, 0.0),
        csr_array(vstack([probability, last], format="csr")),
    )


def worth(problem: Problem, values: Any) -> NDArray[np.float64]:
    """Values of the process in the problem's own terms."""
    found = np.asarray(values, dtype=np.float64)[:-1]
    if problem.is_score:
        return -found if problem.facts["objective"] == "minimize" else found
    return (1 + found) / 2
