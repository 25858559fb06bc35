"""Naive twins: what rollwise does, in a few slow lines that anyone believes.

A game or a graph is here a dictionary: for each state the list of its actions,
each a `Move` with everything that the recursion needs, in exact fractions.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from functools import cache
from statistics import mean, stdev
from typing import NamedTuple

import numpy as np

from rollwise.game import Game
from rollwise.graph import StateGraph
from rollwise.then import DRAW, END, LOSE, WIN, is_over, payoff_of, seats_on

PAYOFF = {WIN: 1, LOSE: -1, DRAW: 0, END: 0}


class Move(NamedTuple):
    """An action: worth ``constant + sum of coefficient * value`` over what follows."""

    label: int
    constant: Fraction
    coefficients: dict[Hashable, Fraction]  # negative part where the turn passes


Moves = Mapping[Hashable, list[Move]]


def expand_action(game: Game, *choice) -> list[tuple[Fraction, int, tuple | None]]:
    """The outcomes of an action as (weight, then, next state), without impossible ones."""
    outcomes = []
    for weight, then, following in game.outcomes(*choice):
        if weight != 0:
            weight = Fraction(weight if isinstance(weight, float) else int(weight))
            outcomes.append((weight, then, None if is_over(then) else following))
    return outcomes


def explore(game: Game) -> dict[tuple, dict[int, list[tuple[Fraction, int, tuple | None]]]]:
    """All states, breadth first from the start and the other roots, with what can follow."""
    queue = list(dict.fromkeys([game.start(), *game.roots()]))
    found = {}
    seen = set(queue)
    for state in queue:  # grows while it runs
        found[state] = {a: expand_action(game, state, a) for a in game.actions(state)}
        for outcomes in found[state].values():
            for _, _, following in outcomes:
                if following is not None and following not in seen:
                    seen.add(following)
                    queue.append(following)
    return found


def merge_equal(found: dict[tuple, dict[int, list]], first_states: int = 1024) -> None:
    """Merge equal outcomes, from the first that lead on among those of the first states."""
    merging = False
    for place, actions in enumerate(found.values()):
        for label, outcomes in actions.items():
            leading_on = [way for _, *way in outcomes if way[1] is not None]
            merging |= place < first_states and any(leading_on.count(w) > 1 for w in leading_on)
            weights: dict[tuple, Fraction] = {}
            for weight, *way in outcomes:
                known = weights.get(tuple(way), Fraction(0))
                whole = weight.denominator == known.denominator == 1
                total = known + weight if whole else Fraction(float(known) + float(weight))
                weights[tuple(way)] = total
            if merging:
                actions[label] = [(weight, *way) for way, weight in weights.items()]


def moves_of_game(game: Game) -> dict[tuple, list[Move]]:
    """The recursion of a game, straight from its rules; after a throw it is in (state, throw)."""
    moves, queue = {}, list(dict.fromkeys([game.start(), *game.roots()]))
    for state in queue:  # grows while it runs
        if state in moves:
            continue
        situations = {state: (state,)}
        if game.has_throws:
            throws = list(game.throws(state))
            total = sum(weight for weight, _ in throws)
            chances = {(state, throw): Fraction(weight, total) for weight, throw in throws}
            moves[state] = [Move(-1, Fraction(0), chances)]
            situations = {key: key for key in chances}
        for here, at in situations.items():
            moves[here] = [move_of(game, *at, label) for label in game.actions(*at)]
            queue += [t for move in moves[here] for t in move.coefficients]
    return moves


def move_of(game: Game, *choice) -> Move:
    """The move that a choice of the rules is: the state, the throw if there is one, the action."""
    outcomes = expand_action(game, *choice)
    total = sum(weight for weight, _, _ in outcomes)
    constant, coefficients = Fraction(game.reward(*choice)), {}
    for weight, then, following in outcomes:
        if following is None:
            worth = PAYOFF[then] if then in PAYOFF else payoff_of(then)
            constant += weight / total * Fraction(worth)
        else:
            sign = -1 if seats_on(then, 2) else 1
            coefficients[following] = coefficients.get(following, 0) + sign * weight / total
    return Move(choice[-1], constant, coefficients)


def moves_of_graph(graph: StateGraph) -> dict[int, list[Move]]:
    """The recursion of a graph; states at and past ``n_states`` are the border."""
    moves = {}
    for s in range(graph.n_states):
        moves[s] = []
        for a in range(graph.action_indptr[s], graph.action_indptr[s + 1]):
            outcomes = range(graph.outcome_indptr[a], graph.outcome_indptr[a + 1])
            weights = {k: Fraction(graph.outcome_weight[k].item()) for k in outcomes}
            total = sum(weights.values())
            constant, coefficients = Fraction(graph.action_reward[a].item()), {}
            for k, weight in weights.items():
                t = int(graph.outcome_state[k])
                if t < 0:
                    constant += weight / total * Fraction(graph.outcome_payoff[k].item())
                else:
                    sign = -1 if graph.outcome_passes[k] else 1
                    coefficients[t] = coefficients.get(t, 0) + sign * weight / total
            moves[s].append(Move(int(graph.action_label[a]), constant, coefficients))
    return moves


def worth(move: Move, values) -> Fraction:
    """One look ahead."""
    return move.constant + sum(c * values[t] for t, c in move.coefficients.items())


def value_iteration(moves: Moves, sweeps: int, *, smallest: bool = False, border=None) -> dict:
    """Floating-point values after so many sweeps from zero."""
    best = min if smallest else max
    floats = {
        s: [Move(m.label, float(m.constant), {t: float(c) for t, c in m.coefficients.items()})
            for m in options]
        for s, options in moves.items()
    }  # fmt: skip
    values = dict.fromkeys(moves, 0.0) | {s: float(v) for s, v in (border or {}).items()}
    for _ in range(sweeps):
        for s, options in floats.items():
            values[s] = best(worth(move, values) for move in options)
    return values


def evaluate(policy: Mapping[Hashable, Move], border=None) -> dict[Hashable, Fraction]:
    """Exact values when every state takes its move, by Gaussian elimination over fractions."""
    known = dict(border or {})
    order = list(policy)
    place = {s: i for i, s in enumerate(order)}
    rows = {}
    for s in reversed(order):  # write each value in terms of earlier states only
        constant, row = policy[s].constant, dict(policy[s].coefficients)
        while later := [t for t in row if t in known or t in rows]:
            t = max(later, key=lambda t: place.get(t, -1))
            c = row.pop(t)
            if t in known:
                constant += c * known[t]
                continue
            constant += c * rows[t][0]
            for u, d in rows[t][1].items():
                row[u] = row.get(u, 0) + c * d
        rest = 1 - row.pop(s, 0)
        rows[s] = constant / rest, {t: c / rest for t, c in row.items()}
    values = dict(known)
    for s in order:
        values[s] = rows[s][0] + sum(c * values[t] for t, c in rows[s][1].items())
    return values


def exact_values(moves: Moves, *, smallest: bool = False, border=None) -> dict[Hashable, Fraction]:
    """The exact values, as fractions.

    A policy is guessed by value iteration, evaluated exactly, and improved where
    it isn't the best against its own values. The answer proves itself: it is
    given back only when it solves the optimality equation exactly, and where
    every play ends that equation has one solution.
    """
    sign = -1 if smallest else 1

    def greedy(values):
        return {s: max(m, key=lambda move: sign * worth(move, values)) for s, m in moves.items()}

    for sweeps in (60, 600, 6000):
        policy = greedy(value_iteration(moves, sweeps, smallest=smallest, border=border))
        for _ in range(50):
            values = evaluate(policy, border)
            better = greedy(values)
            wrong = [s for s in moves if worth(better[s], values) != values[s]]
            if not wrong:
                return values
            policy |= {s: better[s] for s in wrong}
    raise AssertionError("choosing for both players at once went round in circles")


def strong_components(successors: Mapping[int, set[int]]) -> set[frozenset[int]]:
    """States that lead to each other, by working out all that each one leads to."""
    reach = {}
    for s in successors:
        reach[s], pending = {s}, [s]
        while pending:
            for t in successors[pending.pop()] - reach[s]:
                reach[s].add(t)
                pending.append(t)
    return {frozenset(t for t in reach[s] if s in reach[t]) for s in successors}


def endless_states(successors: Mapping[int, list[set[int | None]]]) -> set[int]:
    """Where play can be kept up for ever: the largest set that some action never leaves.

    `successors` has one set for each action, with None where a play can end.
    """
    inside = set(successors)
    while True:
        stay = {s for s in inside if any(after <= inside for after in successors[s])}
        if stay == inside:
            return inside
        inside = stay


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


MASK = 2**64 - 1


class Xoshiro:
    """xoshiro256++ as its authors print it, on Python's whole numbers."""

    def __init__(self, words):
        self.s = [int(word) for word in words]

    @staticmethod
    def rotated(x, k):
        return ((x << k) | (x >> (64 - k))) & MASK

    def draw(self):
        s = self.s
        result = (self.rotated((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = self.rotated(s[3], 45)
        return result


def alias_probabilities(rows, codes):
    """The exact probability of each code under an alias table of these rows."""
    chances = dict.fromkeys(codes, Fraction(0))
    for threshold, first, other, _ in rows:
        share = Fraction(int(threshold), 2**31)
        chances[first] += share / len(rows)
        chances[other] += (1 - share) / len(rows)
    return chances


def pick(cells, begin, end, bits):
    """The code in an alias table that 32 random bits fall on."""
    spread = bits * (end - begin)
    threshold, first, other, _ = (int(x) for x in cells[begin + (spread >> 32)])
    return first if (spread & 0xFFFFFFFF) >> 1 < threshold else other


def choice(wins, losses, explore):
    """The source's p, in fractions, with B the first of the best."""
    f = [Fraction(w, w + x) if w + x else Fraction(1, 2) for w, x in zip(wins, losses, strict=True)]
    total, k, m = sum(wins) + sum(losses), len(f), Fraction(explore)
    best = f.index(max(f))
    g = sum(f) - f[best]
    p_best = (total * f[best] + m) / (total * f[best] + k * m)
    return [
        p_best if j == best else (1 - p_best) * (total * f[j] + m) / (g * total + (k - 1) * m)
        for j in range(k)
    ]


def learn(graph, cells, games, explore, words):
    """The source's learner, game by game, with exact probabilities: (n_actions, 2) counts."""
    random = Xoshiro(words)
    counts = np.zeros((graph.n_actions, 2), int)
    for _ in range(games):
        s, seat, path, code = 0, 0, [], 0
        while code >= 0:
            begin, end = int(graph.action_indptr[s]), int(graph.action_indptr[s + 1])
            bits = random.draw()
            high, low = bits >> 32, bits & 0xFFFFFFFF
            a = begin
            if end - begin > 1:
                p = choice(counts[begin:end, 0].tolist(), counts[begin:end, 1].tolist(), explore)
                so_far = Fraction(0)
                while a < end - 1:
                    so_far += p[a - begin]
                    if high < int(so_far * 2**32):
                        break
                    a += 1
            path.append((a, seat))
            code = pick(cells, int(graph.outcome_indptr[a]), int(graph.outcome_indptr[a + 1]), low)
            s, seat = code >> 1, seat ^ (code & 1)
        seat ^= code & 1  # the codes of endings change no seat
        winner = path[-1][1] if code == -3 else 1 - path[-1][1]
        for a, mover in path:
            counts[a, 0 if mover == winner else 1] += 1
    return counts
