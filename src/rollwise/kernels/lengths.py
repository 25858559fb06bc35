"""Following play forward, turn by turn, as a distribution over positions."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel


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
    """Play one turn from the distribution ``now``, which is used up.

    ``order`` has a state before what it leads to wherever cycles allow, so that one
    pass does nearly all; what goes backward waits in ``now`` for the next pass.
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
