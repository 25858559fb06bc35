"""The play of random rule sheets, naively: the reference of `benchmarks.attack_questions`.

Play is a chain of positions and seats. An expectation is a linear system in doubles, and a best one
comes from sweeps. Where play may be endless or slow there is no figure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

SWEEPS, MOST_NODES = 2_000, 2_000
Amount = Callable[[int, "Way"], float]  # of a node and a way from it


class Unknown(Exception):
    """The reference gives no figure."""


class Way(NamedTuple):
    """An outcome of a node: points and payoffs are the first player's, of three his shares."""

    chance: float
    to: int  # the next node, or -1
    reward: float
    paid: float
    outcome: Any
    made: int  # so far, of the counted number

    @property
    def action(self) -> Any:
        return self.outcome.action


class Play:
    """Play from a state, with a policy for each seat, in turn; None leaves a seat all actions.

    A node is a state, the seat to move, and the number counted on the way.
    """

    def __init__(
        self,
        graph: Any,
        policies: list[Any],
        start: int = 0,
        counts: Callable[[float], int] = lambda brought: 0,
        allowed: Any = None,
    ) -> None:
        self.policies, view = policies, graph.flat.view
        self.nodes, self.ways = [(start, 0, 0)], list[list[Way]]()
        number = {self.nodes[0]: 0}
        for s, seat, made in self.nodes:  # which grows
            sign, policy = (1 if seat == 0 else -1), policies[seat % len(policies)]
            found = []
            for action in view[s].actions:
                p = 1.0 if policy is None else float(policy.probability[action])
                if not p or (allowed is not None and not allowed[action]):
                    continue
                for outcome in action.outcomes:
                    paid, reward, to = 0.0, sign * action.reward, -1
                    if outcome.is_over and graph.players < 3:
                        paid = sign * outcome.payoff
                    elif outcome.is_over:
                        paid = float(outcome.shares[-seat % graph.players])
                    total = made + counts(reward + paid)
                    if not outcome.is_over:
                        node = outcome.target, (seat + outcome.seats_on) % graph.players, total
                        to = number.setdefault(node, len(self.nodes))
                        if to == len(self.nodes):
                            self.nodes.append(node)
                        if to > MOST_NODES:
                            raise Unknown
                    found.append(Way(p * outcome.chance, to, reward, paid, outcome, total))
            self.ways.append(found)

    def choices(self) -> list[list[list[Way]]]:
        """The ways of each node, by action where its seat has no policy."""
        found = []
        for (_, seat, _), ways in zip(self.nodes, self.ways, strict=True):
            free = self.policies[seat % len(self.policies)] is None
            actions = dict.fromkeys(w.action.index for w in ways) if free else [None]
            found.append([[w for w in ways if a in (None, w.action.index)] for a in actions])
        return found

    def require_end(self) -> None:
        """Give up where play may go on for ever: among some nodes, by actions that stay there."""
        left, choices = set(range(len(self.nodes))), self.choices()
        while left:
            stays = {i for i in left if any({w.to for w in row} <= left for row in choices[i])}
            if stays == left:
                raise Unknown
            left = stays

    def total(self, amount: Amount) -> Any:
        """The expected sum of an amount of each way, from each node."""
        self.require_end()
        n = len(self.nodes)
        matrix, right = np.eye(n), np.zeros(n)
        for i, ways in enumerate(self.ways):
            for way in ways:
                right[i] += way.chance * amount(i, way)
                if way.to >= 0:
                    matrix[i, way.to] -= way.chance
        return np.linalg.solve(matrix, right)

    def mean(self, amount: Amount) -> float:
        return float(self.total(amount)[0])

    def result(self) -> tuple[float, float]:
        """The mean and the variance of the first player's result."""
        ahead = np.append(self.total(brought), 0.0)
        square = self.mean(lambda i, w: brought(i, w) * (brought(i, w) + 2 * ahead[w.to]))
        return float(ahead[0]), square - float(ahead[0]) ** 2

    def best(self, amount: Amount, sign: Callable[[int], int]) -> Any:
        """The best expected sums: a node's seat wants the most of the sign times the sum."""
        self.require_end()
        choices, values = self.choices(), np.zeros(len(self.nodes) + 1)
        for _ in range(SWEEPS):
            before = values.copy()
            for i in reversed(range(len(self.nodes))):
                sums = [
                    sum(w.chance * (amount(i, w) + values[w.to]) for w in r) for r in choices[i]
                ]
                values[i] = max(sums) if sign(i) > 0 else min(sums)
            if np.abs(values - before).max() < 1e-13:
                return values[:-1]
        raise Unknown

    def only_best(self, amount: Amount, sign: int) -> float:
        """The best sum from the start; only the best actions are left."""
        values = self.best(amount, lambda i: sign)
        ahead = np.append(values, 0.0)
        for i, rows in enumerate(self.choices()):
            sums = [sum(w.chance * (amount(i, w) + ahead[w.to]) for w in row) for row in rows]
            kept = [row for row, x in zip(rows, sums, strict=True) if abs(x - values[i]) < 1e-9]
            self.ways[i] = [w for row in kept for w in row]
        return float(values[0])

    def scores(self) -> dict[int, float]:
        """The chance of each total of the counted number."""
        self.require_end()  # a play without any end has no total
        ends = sorted({w.made for ways in self.ways for w in ways if w.to < 0})
        return {x: self.mean(lambda i, w, x=x: w.to < 0 and w.made == x) for x in ends}


def brought(i: int, way: Way) -> float:
    return way.reward + way.paid


def whole(points: float) -> int:
    """Points as a whole number."""
    if points != round(points):
        raise Unknown
    return round(points)


def is_drawn(i: int, way: Way) -> float:
    """Whether the game ends here without one winner."""
    if way.to >= 0:
        return 0.0
    if way.outcome.graph.players < 3:
        return float(way.paid == 0)
    return float(1.0 not in way.outcome.shares)


def is_move(i: int, way: Way) -> float:
    return float(not way.action.is_throw)


def is_roll(i: int, way: Way) -> float:
    return float(len({(o.target, o.seats_on, o.payoff) for o in way.action.outcomes}) > 1)


def at_end(worth: Callable[[int], float]) -> Amount:
    """An amount for each final score."""
    return lambda i, w: worth(w.made) if w.to < 0 else 0.0
