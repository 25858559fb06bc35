"""Naive twins: what rollwise does, in a few slow lines that anyone believes.

A game or a graph is here a dictionary: for each state the list of its actions,
each a `Move` with everything that the recursion needs, in exact fractions.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import NamedTuple

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
