"""The loops of `rollwise.proofs.check_endless`: trusted for games whose play may never end."""

from __future__ import annotations

import numpy as np

from rollwise.kernels.chances import is_at_most
from rollwise.kernels.check import is_proved
from rollwise.kernels.jit import ONE, index, kernel


@kernel
def find_upholding(
    action_indptr, lottery, outcome_indptr, state, chances, values, sign, bounds, upholds
):
    """Mark the actions that are worth at least v - bound when what follows is worse by its own.

    Parameters
    ----------
    upholds : (n_actions,) bool, filled
    """
    for s in range(index(action_indptr.shape[0] - 1)):
        for a in range(index(action_indptr[s]), index(action_indptr[s + ONE])):
            upholds[a] = is_proved(
                s, a, lottery, outcome_indptr, state, chances, values, bounds, sign
            )[1]


@kernel
def find_worth_it(worth, values, bounds, free, forcing):
    """Mark the states where an upper bound is at least what endless play is worth.

    Parameters
    ----------
    worth : float
    values, bounds : (n_states,) float64
    free, forcing : (n_states,) bool, filled
        By the upper bound of the mover, and by that of the other player.
    """
    for s in range(values.shape[0]):
        vague = bounds[s] == np.inf
        free[s] = vague or is_at_most(worth, 0.0, values[s], bounds[s])
        forcing[s] = vague or is_at_most(worth, 0.0, -values[s], bounds[s])


@kernel
def force_an_end(
    action_indptr, outcome_indptr, outcome_state, passes, component, upholds, free, forcing
):
    """Mark the states from which one player can see to it that play ends, or stops to matter.

    That player takes only actions that uphold the value, the other one any. A state is
    marked as soon as, whatever the other does, there is a chance to come to a marked one
    or out of the component. If all are marked, play can't go round for ever among states that
    were not marked to begin with: in as many moves as there are states there is always a chance
    to leave them (the attractor of de Alfaro 1997, chance on the player's side).

    Parameters
    ----------
    outcome_state : (n_outcomes,) int32
    passes : (n_outcomes,) bool
    component : (n_states,) int32
        A number of each state, which no outcome raises.
    upholds : (n_actions,) bool
    free, forcing : (n_states,) bool, filled
        Where the other one is to move, and where the player is.
    """
    n = action_indptr.shape[0] - 1
    changed = True
    while changed:
        changed = False
        for s in range(n):
            if free[s] and forcing[s]:
                continue
            every, some = True, False
            for a in range(action_indptr[s], action_indptr[s + 1]):
                with_free, with_forcing = False, False
                for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                    t = outcome_state[k]
                    if t < 0 or t >= n or component[t] != component[s]:
                        with_free, with_forcing = True, True
                        break
                    with_free = with_free or (forcing[t] if passes[k] else free[t])
                    with_forcing = with_forcing or (free[t] if passes[k] else forcing[t])
                every = every and with_free
                some = some or (upholds[a] and with_forcing)
            if every and not free[s]:
                free[s], changed = True, True
            if some and not forcing[s]:
                forcing[s], changed = True, True
