"""Loops over the points that a play of a solitaire game has made so far.

A graph whose actions give whole points is unrolled by the points made so far. The distribution
of the points still to come is carried back over it. The points of a play must be bounded. Either
no cycle makes points (`rounds_with_points` finds those that do), or there is a limit, beyond which
a play is over.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import kernel

UNIT = 2.0**-53
NOT_REACHED = np.int64(2**62)


@kernel
def rounds_with_points(order, indptr, action_indptr, outcome_indptr, outcome_state, points):
    """The first action that gives points and can lead back to its own state, or -1."""
    n = order.shape[0]
    component = np.empty(n, np.int32)
    for c in range(indptr.shape[0] - 1):
        for i in range(indptr[c], indptr[c + 1]):
            component[order[i]] = c
    for s in range(n):
        for a in range(action_indptr[s], action_indptr[s + 1]):
            if points[a] == 0:
                continue
            for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                t = outcome_state[k]
                if t >= 0 and component[t] == component[s]:
                    return a
    return -1


@kernel
def points_so_far(
    order, indptr, action_indptr, outcome_indptr, outcome_state, points, limit, low, high
):
    """Carry the range of the points made so far from the roots to all states.

    Parameters
    ----------
    limit : int
        With more points than this a play is over.
    low, high : (n_states,) int64
        Given at the roots; elsewhere ``low`` is NOT_REACHED and ``high`` its
        negative. Widened in place.
    """
    for c in range(indptr.shape[0] - 2, -1, -1):
        changed = True
        while changed:
            changed = False
            for i in range(indptr[c + 1] - 1, indptr[c] - 1, -1):
                s = order[i]
                if low[s] > high[s]:
                    continue
                for a in range(action_indptr[s], action_indptr[s + 1]):
                    for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                        t = outcome_state[k]
                        if t < 0 or low[s] + points[a] > limit:
                            continue
                        if low[s] + points[a] < low[t]:
                            low[t] = low[s] + points[a]
                            changed = True
                        most = min(high[s] + points[a], limit)
                        if most > high[t]:
                            high[t] = most
                            changed = True
            if indptr[c + 1] - indptr[c] == 1 and limit == NOT_REACHED:
                break  # it can't make points and lead back to itself


@kernel
def points_to_come(order, indptr, action_indptr, outcome_indptr, outcome_state, points, low, high):
    """The range of the points still to come from every state.

    Parameters
    ----------
    low, high : (n_states,) int64, filled
    """
    for c in range(indptr.shape[0] - 1):
        for i in range(indptr[c], indptr[c + 1]):
            low[order[i]] = NOT_REACHED
            high[order[i]] = -NOT_REACHED
        changed = True
        while changed:
            changed = False
            for i in range(indptr[c], indptr[c + 1]):
                s = order[i]
                for a in range(action_indptr[s], action_indptr[s + 1]):
                    for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                        t = outcome_state[k]
                        least = low[t] if t >= 0 else 0
                        most = high[t] if t >= 0 else 0
                        if least > most:
                            continue
                        if least + points[a] < low[s]:
                            low[s] = least + points[a]
                            changed = True
                        if most + points[a] > high[s]:
                            high[s] = most + points[a]
                            changed = True
            if indptr[c + 1] - indptr[c] == 1:
                break


@kernel
def find_scored(
    root_state,
    root_score,
    action_indptr,
    outcome_indptr,
    outcome_state,
    points,
    limit,
    low,
    place,
    number,
    state,
    score,
):
    """Find all pairs of a state and the points made so far, breadth first.

    Parameters
    ----------
    limit : int
        With more points than this a play is over.
    low : (n_states,) int64
        The least score so far in each state.
    place : (n_states + 1,) int64
        Where in `number` the scores of each state begin.
    number : (n_places,) int32, filled
        The number of each pair, -1 where no play comes.
    state, score : (n_places,) int32, filled

    Returns
    -------
    n_roots, n_pairs, n_actions, n_outcomes : int
    """
    number[:] = -1
    n = 0
    for r in range(root_state.shape[0]):
        s = root_state[r]
        here = place[s] + root_score[r] - low[s]
        if number[here] < 0:
            number[here] = n
            state[n] = s
            score[n] = root_score[r]
            n += 1
    n_roots = n
    n_actions = 0
    n_outcomes = 0
    head = 0
    while head < n:
        s = state[head]
        for a in range(action_indptr[s], action_indptr[s + 1]):
            after = score[head] + points[a]
            n_actions += 1
            n_outcomes += outcome_indptr[a + 1] - outcome_indptr[a]
            for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                t = outcome_state[k]
                if t < 0 or after > limit:
                    continue
                there = place[t] + after - low[t]
                if number[there] < 0:
                    number[there] = n
                    state[n] = t
                    score[n] = after
                    n += 1
        head += 1
    return n_roots, n, n_actions, n_outcomes


@kernel
def unroll(
    state,
    score,
    action_indptr,
    outcome_indptr,
    outcome_state,
    points,
    limit,
    low,
    place,
    number,
    scored_action_indptr,
    scored_action,
    scored_outcome_indptr,
    scored_outcome_state,
    scored_outcome,
    final_score,
):
    """Write the graph of the pairs that `find_scored` found.

    Parameters
    ----------
    scored_action, scored_outcome : int64 arrays, filled
        The action and the outcome of the graph that each one stands for.
    final_score : (n_outcomes,) int64, filled
        The score where an outcome ends the game (its state is -1), else 0.
    """
    n_actions = 0
    n_outcomes = 0
    scored_action_indptr[0] = 0
    scored_outcome_indptr[0] = 0
    for i in range(state.shape[0]):
        s = state[i]
        for a in range(action_indptr[s], action_indptr[s + 1]):
            after = score[i] + points[a]
            for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                t = outcome_state[k]
                over = t < 0 or after > limit
                final_score[n_outcomes] = after if over else 0
                scored_outcome_state[n_outcomes] = -1 if over else number[place[t] + after - low[t]]
                scored_outcome[n_outcomes] = k
                n_outcomes += 1
            scored_action[n_actions] = a
            n_actions += 1
            scored_outcome_indptr[n_actions] = n_outcomes
        scored_action_indptr[i + 1] = n_actions


@kernel
def distribute(
    order,
    indptr,
    action_indptr,
    outcome_indptr,
    outcome_state,
    outcome_weight,
    points,
    chance,
    low,
    width,
    place,
    probability,
    rounding,
    most_sweeps,
):
    """Carry the distribution of the points to come back from the end of the game.

    All terms are positive, so where there is no cycle the relative error of a
    probability is at most that of the worst of its terms, and a unit for each
    operation on the way: it is carried along in `rounding`.

    Parameters
    ----------
    chance : (n_actions,) float64
        The policy.
    low, width, place : (n_states,) int64
        The least points to come in each state, the length of its row of probabilities,
        and where that begins.
    probability : (n_places,) float64, zeros; filled
    rounding : (n_states,) float64, filled
        Relative error of the probabilities, in units of 2**-53.

    Returns
    -------
    float
        The largest change in the last sweep over a component with a cycle: 0
        where there is none.
    """
    worst = 0.0
    for c in range(indptr.shape[0] - 1):
        for _ in range(most_sweeps):
            change = 0.0
            cyclic = indptr[c + 1] - indptr[c] > 1
            for i in range(indptr[c], indptr[c + 1]):
                s = order[i]
                begin = place[s]
                row = np.zeros(width[s])
                terms = 0
                carried = 0.0
                for a in range(action_indptr[s], action_indptr[s + 1]):
                    if chance[a] == 0.0:
                        continue
                    total = outcome_weight[outcome_indptr[a]] * 0
                    for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                        total += outcome_weight[k]
                    for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                        p = chance[a] * (outcome_weight[k] / total)
                        t = outcome_state[k]
                        terms += 1
                        if t < 0:
                            row[points[a] - low[s]] += p
                            continue
                        if t == s:
                            cyclic = True
                        carried = max(carried, rounding[t])
                        shift = points[a] + low[t] - low[s]
                        for x in range(width[t]):
                            row[x + shift] += p * probability[place[t] + x]
                for x in range(width[s]):
                    change = max(change, abs(row[x] - probability[begin + x]))
                    probability[begin + x] = row[x]
                # Each term: its weight, their sum (exact for whole weights), the
                # share, two products, and one addition a term.
                rounding[s] = carried + 2.0 * terms + 6.0
            if not cyclic:
                change = 0.0
                break
            if change < 1e-18:
                break
        worst = max(worst, change)
    return worst


@kernel
def steps_left(
    order,
    indptr,
    action_indptr,
    outcome_indptr,
    outcome_state,
    outcome_weight,
    chance,
    steps,
    most_sweeps,
):
    """The expected number of actions still to come under a policy, by plain sweeps."""
    for c in range(indptr.shape[0] - 1):
        for _ in range(most_sweeps):
            change = 0.0
            for i in range(indptr[c], indptr[c + 1]):
                s = order[i]
                here = 1.0
                for a in range(action_indptr[s], action_indptr[s + 1]):
                    if chance[a] == 0.0:
                        continue
                    total = 0.0
                    ahead = 0.0
                    for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                        total += outcome_weight[k]
                        if outcome_state[k] >= 0:
                            ahead += outcome_weight[k] * steps[outcome_state[k]]
                    here += chance[a] * ahead / total
                change = max(change, abs(here - steps[s]) / here)
                steps[s] = here
            if change < 1e-12:
                break
