"""Naive twins of the methods: a few slow lines each, in exact fractions where it can be."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from functools import cache
from statistics import mean, stdev

from naive import Move, Moves, worth


def sweep(moves: Moves, values: Mapping, *, order=None, in_place=False, smallest=False) -> dict:
    """One sweep of value iteration."""
    best = min if smallest else max
    new = dict(values)
    for s in moves if order is None else order:
        new[s] = best(worth(move, new if in_place else values) for move in moves[s])
    return new


def sweep_bounds(moves: Moves, low: Mapping, high: Mapping, *, smallest=False) -> tuple[dict, dict]:
    """One synchronous sweep of interval iteration."""
    best = min if smallest else max

    def ahead(move: Move, up: Mapping, down: Mapping):
        return move.constant + sum(c * (up if c > 0 else down)[t] for t, c in split(move).items())

    def split(move: Move) -> dict:
        return {t: c for t, c in move.coefficients.items() if c}

    new_low, new_high = dict(low), dict(high)
    for s, options in moves.items():
        new_low[s] = max(low[s], best(ahead(m, low, high) for m in options))
        new_high[s] = min(high[s], best(ahead(m, high, low) for m in options))
    return new_low, new_high


def sampled(graph, counts, samples, chosen) -> tuple[list, list, list]:
    """Backward induction on counted draws: values, own errors and standard errors.

    The own error of a state is that of the mean of a list of numbers. What it does to other states
    is tried: one value is moved at a time, while all keep to the `chosen` actions.
    """
    better = min if graph.objective == "minimize" else max
    n = range(graph.n_states)

    def followed(a, values) -> list[float]:
        """What followed each draw of an action."""
        found = []
        for k in range(graph.outcome_indptr[a], graph.outcome_indptr[a + 1]):
            t = int(graph.outcome_state[k])
            worth = float(graph.outcome_payoff[k]) if t < 0 else values(t)
            found += [-worth if t >= 0 and graph.outcome_passes[k] else worth] * int(counts[k])
        return found

    def worth(a, values) -> float:
        return float(graph.action_reward[a]) + mean(followed(a, values))

    @cache
    def value(s):
        actions = range(graph.action_indptr[s], graph.action_indptr[s + 1])
        return better(worth(a, value) for a in actions)

    def kept_to(moved, by):
        @cache
        def value(s):
            return worth(chosen[s], value) + (by if s == moved else 0.0)

        return [value(s) for s in n]

    sizes = [graph.outcome_indptr[a + 1] - graph.outcome_indptr[a] for a in chosen]
    own = [stdev(followed(chosen[s], value)) / samples**0.5 if sizes[s] > 1 else 0.0 for s in n]
    still = kept_to(None, 0.0)
    moved = [kept_to(u, own[u]) for u in n]
    whole = [sum((one[s] - still[s]) ** 2 for one in moved) ** 0.5 for s in n]
    return [value(s) for s in n], own, whole


def mix(options: list[Move], chances: list[Fraction]) -> Move:
    """The move that takes each of several with its chance."""
    total = sum(chances)
    constant, coefficients = Fraction(0), {}
    for move, chance in zip(options, chances, strict=True):
        constant += chance / total * move.constant
        for t, c in move.coefficients.items():
            coefficients[t] = coefficients.get(t, 0) + chance / total * c
    return Move(-1, constant, coefficients)


def two_seats(moves: Moves, passes: Mapping[tuple[Hashable, int, Hashable], Fraction]) -> dict:
    """Two copies, keyed (seat, state); `passes` has what part of each coefficient is a PASS."""
    doubled = {}
    for seat in (0, 1):
        for s, options in moves.items():
            doubled[seat, s] = []
            for i, move in enumerate(options):
                coefficients = {}
                for t, c in move.coefficients.items():
                    passing = passes.get((s, i, t), Fraction(0))
                    coefficients[seat, t] = c - passing
                    coefficients[1 - seat, t] = passing
                kept = {t: c for t, c in coefficients.items() if c}
                doubled[seat, s].append(Move(move.label, move.constant, kept))
    return doubled
