"""Play under a fixed policy, followed forward: visited states, and turn by turn."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel

MOST_ROUNDS = 100_000


@kernel
def expected_visits(order, component_indptr, outcome_indptr, outcome_state, outcome_weight, visits):
    """Expected visits of every state in a game from state 0, where each state has one action.

    Visits flow from a state to its successors. Components come in the order of
    play; within one, arrived visits are passed on, state by state, until hardly
    any are left.

    Parameters
    ----------
    order, component_indptr
        Components of the graph, terminal components first.
    outcome_indptr : (n_states + 1,) int64
    outcome_state, outcome_weight : (n_outcomes,)
    visits : (n_states,) float64
        To fill.
    """
    n = order.shape[0]
    arrived = np.zeros(n)
    arrived[0] = 1.0
    for s in range(n):
        visits[s] = 0.0
    for c in range(component_indptr.shape[0] - 2, -1, -1):
        low, high = component_indptr[c], component_indptr[c + 1]
        waiting = 0.0
        for i in range(low, high):
            waiting += arrived[order[i]]
        if waiting == 0.0:
            continue
        enough = 1e-15 * waiting
        for _ in range(MOST_ROUNDS):
            for i in range(high - 1, low - 1, -1):
                s = order[i]
                amount = arrived[s]
                if amount == 0.0:
                    continue
                arrived[s] = 0.0
                visits[s] += amount
                total = 0.0
                for k in range(outcome_indptr[s], outcome_indptr[s + 1]):
                    total += outcome_weight[k]
                for k in range(outcome_indptr[s], outcome_indptr[s + 1]):
                    if outcome_state[k] >= 0:
                        arrived[outcome_state[k]] += amount * outcome_weight[k] / total
            waiting = 0.0
            for i in range(low, high):
                waiting += arrived[order[i]]
            if waiting <= enough:
                break
        for i in range(low, high):
            arrived[order[i]] = 0.0


@kernel
def play_turn(
    order,
    action_indptr,
    outcome_indptr,
    outcome_state,
    outcome_weight,
    outcome_payoff,
    counted,
    probability,
    forgotten,
    now,
    later,
    visits,
    ends_before,
    ends_with,
):
    """Play one turn from the distribution ``now``, leaving it empty.

    ``order`` has a state before its successors wherever cycles allow, so that one
    pass does nearly all; probability going backward waits in ``now`` for the next pass.
    ``counted`` marks the outcomes that end the turn: they lead to ``later``.
    """
    while True:
        moved = 0.0
        for s in order:
            mass = now[s]
            if mass == 0.0:
                continue
            now[s] = 0.0
            visits[s] += mass
            moved += mass
            for a in range(action_indptr[s], action_indptr[s + 1]):
                if probability[a] == 0.0:
                    continue
                total = 0.0
                for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                    total += outcome_weight[k]
                share = mass * probability[a] / total
                for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                    part = share * outcome_weight[k]
                    t = outcome_state[k]
                    if t >= 0:
                        if counted[k]:
                            later[t] += part
                        else:
                            now[t] += part
                    else:
                        ending = 2
                        if outcome_payoff[k] > 0:
                            ending = 0
                        elif outcome_payoff[k] < 0:
                            ending = 1
                        if counted[k]:
                            ends_with[ending] += part
                        else:
                            ends_before[ending] += part
        if moved <= forgotten:
            break
        left = np.sum(now)
        if left <= forgotten:
            break
