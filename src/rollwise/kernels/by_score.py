"""Loops over the points of a play of a solitaire game.

A graph with points in whole numbers is unrolled by the points made so far. The distribution of the
remaining points is carried back over it. ``points`` has the points of each outcome: (n_outcomes,)
int64. The points of a play must be bounded: either no cycle makes points (see
`rollwise.derive.by_score.require_bounded`), or a play is over beyond a limit.
"""

from __future__ import annotations

import numpy as np

from rollwise.kernels.jit import inner_kernel, kernel

UNIT = 2.0**-53
NOT_REACHED = np.int64(2**62)
MOST_REDUCED = 256  # states of a component solved by elimination


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
    # Components are stored in reverse order of play, so the roots come first here. The ranges of a
    # component are widened until none changes.
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
                        # The game ends here, or each play with this outcome is beyond the limit.
                        if t < 0 or low[s] + points[k] > limit:
                            continue
                        if low[s] + points[k] < low[t]:
                            low[t] = low[s] + points[k]
                            changed = True
                        most = min(high[s] + points[k], limit)
                        if most > high[t]:
                            high[t] = most
                            changed = True
            if indptr[c + 1] - indptr[c] == 1 and limit == NOT_REACHED:
                break  # it can't make points and lead back to itself


@kernel
def points_to_come(order, indptr, action_indptr, outcome_indptr, outcome_state, points, low, high):
    """The range of the points still to come from every state.

    No cycle may make points; with one it runs for ever.

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
                        # The next state has no range yet.
                        if least > most:
                            continue
                        if least + points[k] < low[s]:
                            low[s] = least + points[k]
                            changed = True
                        if most + points[k] > high[s]:
                            high[s] = most + points[k]
                            changed = True
            if indptr[c + 1] - indptr[c] == 1:
                break  # it makes no points on a way back to itself


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
        # A state has one place in `number` for each score, from its least score on.
        here = place[s] + root_score[r] - low[s]
        if number[here] < 0:
            number[here] = n
            state[n] = s
            score[n] = root_score[r]
            n += 1
    n_roots = n
    n_actions = 0
    n_outcomes = 0
    # `state` and `score` are the queue: the pairs before `head` are expanded.
    head = 0
    while head < n:
        s = state[head]
        for a in range(action_indptr[s], action_indptr[s + 1]):
            n_actions += 1
            n_outcomes += outcome_indptr[a + 1] - outcome_indptr[a]
            for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                t = outcome_state[k]
                after = score[head] + points[k]
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
    """Write the graph of the pairs of `find_scored`.

    Parameters
    ----------
    scored_action, scored_outcome : int64 arrays, filled
        The corresponding action and outcome of the graph.
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
            for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
                t = outcome_state[k]
                after = score[i] + points[k]
                over = t < 0 or after > limit
                final_score[n_outcomes] = after if over else 0
                scored_outcome_state[n_outcomes] = -1 if over else number[place[t] + after - low[t]]
                scored_outcome[n_outcomes] = k
                n_outcomes += 1
            scored_action[n_actions] = a
            n_actions += 1
            scored_outcome_indptr[n_actions] = n_outcomes
        scored_action_indptr[i + 1] = n_actions


@inner_kernel
def _add_rows(s, frame, rows, number, least, staying, row):
    """Add the distributions after the outcomes of a state to a row that begins at `least`.

    Parameters
    ----------
    frame, rows : tuple of arrays
        As in `_distribute`.
    number : (n_states,) int64
        Outcomes to a state with a nonnegative number add to `staying` instead.

    Returns
    -------
    leaving : float
        The probability of the others.
    carried : float
        The largest rounding of their rows.
    terms : int
    """
    action_indptr, outcome_indptr, outcome_state, outcome_weight, points, chance = frame
    low, width, place, probability, rounding = rows
    leaving, carried, terms = 0.0, 0.0, 0
    for a in range(action_indptr[s], action_indptr[s + 1]):
        if chance[a] == 0.0:
            continue
        # The total has the type of the weights: whole weights are added exactly.
        total = outcome_weight[outcome_indptr[a]] * 0
        for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
            total += outcome_weight[k]
        for k in range(outcome_indptr[a], outcome_indptr[a + 1]):
            p = chance[a] * (outcome_weight[k] / total)
            t = outcome_state[k]
            terms += 1
            if t >= 0 and number[t] >= 0:
                staying[number[t]] += p
                continue
            leaving += p
            if t < 0:
                row[points[k] - least] += p
                continue
            carried = max(carried, rounding[t])
            # Entry x of a row of t is the chance of low[t] + x points; the outcome adds its own.
            shift = points[k] + low[t] - least
            for x in range(width[t]):
                row[x + shift] += p * probability[place[t] + x]
    return leaving, carried, terms


@inner_kernel
def _eliminate(staying, leaving, rows):
    """Solve for the rows of a component's states, without a subtraction.

    The states are eliminated one by one, the last one first: its predecessors go to its successors
    (Grassmann, Taksar and Heyman, Operations Research 33, 1985). Every step is exact for
    probabilities that are off by a few units. Each row is a quotient of sums of products of at most
    as many probabilities as there are states, all positive (Freidlin and Wentzell). So a relative
    change of a probability changes it by at most twice as many such parts, even for slow play.

    Parameters
    ----------
    staying : (m, m) float64, changed
    leaving : (m,) float64, changed
    rows : (m, width) float64
        The distribution of each state when play leaves from it; filled with the solution.
    """
    m = leaving.shape[0]
    for k in range(m - 1, -1, -1):
        # 1 minus the chance to stay in k, as a sum: all later states are eliminated.
        away = leaving[k] + staying[k, :k].sum()
        if away == 0.0:  # no way out within the precision of doubles
            away = np.inf
        leaving[k] /= away
        staying[k, :k] /= away
        rows[k] /= away
        # A way from i into k goes on as k does.
        for i in range(k):
            p = staying[i, k]
            if p > 0.0:
                leaving[i] += p * leaving[k]
                staying[i, :k] += p * staying[k, :k]
                rows[i] += p * rows[k]
    # State i now moves to earlier states only, and their rows are final.
    for i in range(1, m):
        for j in range(i):
            rows[i] += staying[i, j] * rows[j]


@inner_kernel
def _sweep(states, frame, rows, number, most_sweeps):
    """Solve for the rows of a large component by sweeps.

    Returns
    -------
    float
        The remaining error of the equation.
    """
    low, width, place, probability, rounding = rows
    carried, units, change = 0.0, 0.0, np.inf
    rounding[states] = 0.0
    for _ in range(most_sweeps):
        change = 0.0
        for s in states:
            row = np.zeros(width[s])
            # No state has a number here: rows of the component count as last written, as those of
            # the border do.
            _, off, terms = _add_rows(s, frame, rows, number, low[s], row, row)
            carried, units = max(carried, off), max(units, 2.0 * terms + 6.0)
            for x in range(width[s]):
                change = max(change, abs(row[x] - probability[place[s] + x]))
                probability[place[s] + x] = row[x]
        if change < 1e-18:
            break
    rounding[states] = carried
    return change + units * UNIT


def _distribute(
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
    """Carry the distribution of the remaining points back from the end of the game.

    All terms are positive, so the relative error of a probability is at most that of the worst of
    its terms, and a unit for each operation on the way: it is carried along in `rounding`. A
    component is solved by elimination, or with more than `MOST_REDUCED` states by sweeps, with an
    error at each step.

    Parameters
    ----------
    chance : (n_actions,) float64
        The policy.
    low, width, place : (n_states,) int64
        The least remaining points of each state, the length of its row of probabilities,
        and the offset of the row.
    probability : (n_places,) float64, zeros; filled
    rounding : (n_states,) float64, filled
        Relative error of the probabilities, in units of 2**-53.

    Returns
    -------
    float
        The largest error of a step in a sweep: 0 without sweeps.
    """
    frame = action_indptr, outcome_indptr, outcome_state, outcome_weight, points, chance
    rows = low, width, place, probability, rounding
    number = np.full(low.shape[0], -1)
    worst = 0.0
    for c in range(indptr.shape[0] - 1):
        states = order[indptr[c] : indptr[c + 1]]
        m = states.shape[0]
        if m > MOST_REDUCED:
            worst = max(worst, _sweep(states, frame, rows, number, most_sweeps))
            continue
        least, most = low[states].min(), (low[states] + width[states]).max()
        staying, leaving, solved = np.zeros((m, m)), np.zeros(m), np.zeros((m, most - least))
        number[states] = np.arange(m)
        carried, units = 0.0, 0.0
        for i in range(m):
            leaving[i], off, terms = _add_rows(
                states[i], frame, rows, number, least, staying[i], solved[i]
            )
            # Each term: its weight, their sum (exact for whole weights), the
            # share, two products, and one addition a term.
            carried, units = max(carried, off), max(units, 2.0 * terms + 6.0)
        if m > 1 or staying[0, 0] > 0.0:
            _eliminate(staying, leaving, solved)
            units = 2.0 * m * m * (units + m + 6.0)
        for i in range(m):
            s = states[i]
            number[s] = -1
            # The joint rows begin at `least`; the row of s is a part of its joint row.
            shift = low[s] - least
            probability[place[s] : place[s] + width[s]] = solved[i, shift : shift + width[s]]
            rounding[s] = carried + units
    return worst


distribute = kernel(_distribute)
distribute_slowly = kernel(never_interpreted=True)(_distribute)  # where there are sweeps
