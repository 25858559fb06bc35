"""Games whose play may never end, solved by trying every pair of policies.

A play under fixed policies is a Markov chain. Its recurrent classes are where play never ends:
they have what that is worth, and all other states the values of one linear system.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from rollwise.graph import StateGraph


def chain_values(graph: StateGraph, taken: dict, stuck: float) -> dict:
    """Values to seat 0 of all pairs (state, seat), under one action for each of them.

    Parameters
    ----------
    taken : (state, seat) -> action
    stuck : what endless play is worth; with two players who lose by it, where both keep it up
    """
    nodes = list(taken)
    place = {node: i for i, node in enumerate(nodes)}
    matrix, right = np.zeros((len(nodes), len(nodes))), np.zeros(len(nodes))
    for (s, seat), a in taken.items():
        eyes = 1.0 if seat == 0 else -1.0
        ways = range(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
        total = sum(graph.outcome_weight[k] for k in ways)
        right[place[s, seat]] += graph.action_reward[a]
        for k in ways:
            chance = graph.outcome_weight[k] / total
            t = int(graph.outcome_state[k])
            if t < 0:
                right[place[s, seat]] += chance * eyes * graph.outcome_payoff[k]
            else:
                after = t, seat ^ int(graph.outcome_passes[k])
                matrix[place[s, seat], place[after]] += chance
    reach = np.linalg.matrix_power(np.eye(len(nodes)) + (matrix > 0), len(nodes)) > 0
    ends = 1 - matrix.sum(axis=1) > 1e-12
    values = np.full(len(nodes), np.nan)
    for i in range(len(nodes)):
        after = np.flatnonzero(reach[i])
        if not ends[after].any() and reach[after, i].all():  # recurrent
            seats = {nodes[t][1] for t in after}
            alone = graph.players == 2 and graph.endless == "lose" and len(seats) == 1
            values[i] = (-1.0 if seats == {0} else 1.0) if alone else stuck
    known = ~np.isnan(values)
    if np.isinf(stuck):
        values[reach[:, known].any(axis=1)] = stuck
        known = ~np.isnan(values)
    rest = np.flatnonzero(~known)
    constant = right[rest]
    if known.any() and not np.isinf(stuck):
        constant = constant + matrix[np.ix_(rest, known)] @ values[known]
    values[rest] = np.linalg.solve(np.eye(len(rest)) - matrix[np.ix_(rest, rest)], constant)
    return {node: values[i] for node, i in place.items()}


def best_values(graph: StateGraph, stuck: float) -> np.ndarray:
    """The values to the mover, by all pairs of policies (pure and stationary ones are enough)."""
    n, sign = graph.n_states, -1.0 if graph.objective == "minimize" else 1.0
    choices = [range(graph.action_indptr[s], graph.action_indptr[s + 1]) for s in range(n)]
    best = np.full(n, -np.inf)
    for mine in product(*choices):
        if graph.players == 1:
            found = chain_values(graph, {(s, 0): a for s, a in enumerate(mine)}, stuck)
            values = np.array([found[s, 0] for s in range(n)])
            best = np.maximum(best, sign * values)
            continue
        worst = np.full(n, np.inf)
        for theirs in product(*choices):
            taken = {(s, 0): a for s, a in enumerate(mine)}
            taken |= {(s, 1): a for s, a in enumerate(theirs)}
            found = chain_values(graph, taken, stuck)
            worst = np.minimum(worst, [found[s, 0] for s in range(n)])
        best = np.maximum(best, worst)
    return sign * best


def has_free_round(graph: StateGraph) -> bool:
    """Whether some policy of a game for one goes round without a cost, on average."""
    n, sign = graph.n_states, -1.0 if graph.objective == "minimize" else 1.0
    choices = [range(graph.action_indptr[s], graph.action_indptr[s + 1]) for s in range(n)]
    for policy in product(*choices):
        matrix = np.zeros((n, n))
        for s, a in enumerate(policy):
            ways = slice(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
            weight = graph.outcome_weight[ways] / graph.outcome_weight[ways].sum()
            inside = graph.outcome_state[ways] >= 0
            np.add.at(matrix[s], graph.outcome_state[ways][inside], weight[inside])
        reach = np.linalg.matrix_power(np.eye(n) + (matrix > 0), n) > 0
        for s in range(n):
            members = np.flatnonzero(reach[s])
            closed = np.all(matrix[members].sum(axis=1) > 1 - 1e-12)
            if closed and reach[members, s].all():
                part = matrix[np.ix_(members, members)]
                system = np.vstack([part.T - np.eye(len(members)), np.ones(len(members))])
                share = np.linalg.lstsq(system, np.append(np.zeros(len(members)), 1), rcond=None)[0]
                if sign * share @ graph.action_reward[np.array(policy)[members]] > -1e-9:
                    return True
    return False


def end_components(graph: StateGraph, allowed: np.ndarray) -> tuple[set[frozenset[int]], set[int]]:
    """The states of each maximal end component, and the actions that stay in one."""
    n = graph.n_states
    ends = {
        a: (int(graph.action_state[a]), {int(t) for t in graph.outcome_state[begin:end]})
        for a, (begin, end) in enumerate(
            zip(graph.outcome_indptr[:-1], graph.outcome_indptr[1:], strict=True)
        )
        if allowed[a]
    }
    while True:
        steps = np.eye(n)
        for s, after in ends.values():
            steps[s, [t for t in after if 0 <= t < n]] = 1
        reach = np.linalg.matrix_power(steps, n) > 0
        stays = {
            a: (s, after)
            for a, (s, after) in ends.items()
            if all(0 <= t < n and reach[t, s] for t in after)
        }
        if len(stays) == len(ends):
            inside = {s for s, _ in stays.values()}
            return {frozenset(np.flatnonzero(reach[s] & reach[:, s]).tolist()) for s in inside}, {
                *stays
            }
        ends = stays
