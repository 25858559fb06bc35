"""Games with hidden fields whose rounds can return to each other."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pytest

from rollwise import AGAIN, DRAW, LOSE, PASS, WIN, Game, payoff, policy
from rollwise.errors import EndlessPlay, RulesError
from rollwise.hidden import solve
from rollwise.hidden.check import bounds
from rollwise.hidden.program import solve_program
from rollwise.hidden.reading import read
from rollwise.hidden.tree import unfold

seeded = partial(random.Random)  # rules that name a generator of random numbers are refused


class Place(NamedTuple):
    number: int
    label: int


@cache
def drawn_rows(seed: int, n: int, labels: int, deals: float, back: float) -> list:
    """For each position its label, 0 for a deal, and the outcomes of each action."""
    draws = seeded(repr((seed, n, labels, deals)))
    kinds = [0 if draws.random() < deals else draws.randint(1, labels) for _ in range(n)]
    kinds[0] = draws.choice((0, labels + 1))
    menus = [1, *(draws.randint(1, 3) for _ in range(labels + 1))]
    returns = [k for k in range(n) if kinds[k] in (0, labels + 1)]

    def outcome(k, label):
        weight = draws.randint(1, 3)
        if label and draws.random() < back:
            return weight, draws.choice((AGAIN, PASS)), draws.choice(returns)
        if label and (k >= n - 3 or draws.random() < 0.3):
            return weight, payoff(draws.randint(-4, 4)), None
        after = min(n, k + draws.choice((1, 1, 2, 2, 3, 4)))
        return weight, draws.choice((AGAIN, PASS, PASS)), after

    return [
        (
            label,
            [[outcome(k, label) for _ in range(draws.randint(1, 3))] for _ in range(menus[label])],
        )
        for k, label in enumerate(kinds)
    ]


@dataclass(frozen=True)
class Lanterns(Game):
    """Positions drawn at random, with returns. The mover sees a label."""

    seed: int = 0
    n: int = 8
    labels: int = 4
    deals: float = 0.3
    back: float = 0.2
    endless = "draw"

    def rows(self, s):
        return drawn_rows(self.seed, self.n, self.labels, self.deals, self.back)[s.number]

    def place(self, number):
        label = -1 if number >= self.n else self.rows(Place(number, 0))[0]
        return Place(number, label)

    def start(self):
        return self.place(0)

    def deal(self, s):
        if s.label == 0:
            for weight, _, after in self.rows(s)[1][0]:
                yield weight, self.place(after)

    def hidden(self, s):
        return ("number",)

    def actions(self, s):
        return range(len(self.rows(s)[1])) if s.number < self.n else (0,)

    def outcomes(self, s, action):
        if s.number >= self.n:
            yield 1, payoff(1), s
            return
        for weight, then, after in self.rows(s)[1][action]:
            yield weight, then, s if after is None else self.place(after)

    @policy
    def first(self, s):
        """Always the first action."""
        return 0


def drawn_game(seed: int) -> Lanterns:
    draws = seeded(seed)
    return Lanterns(
        seed, draws.randint(3, 7), draws.choice((2, 4, 8)), draws.choice((0.1, 0.4)),
        draws.choice((0.1, 0.2, 0.4)),
    )  # fmt: skip


class Counted(NamedTuple):
    number: int
    label: int
    left: int
    mover: int  # the first or the second player


@dataclass(frozen=True)
class Shortened(Game):
    """The same game with a hidden count of returns; after the last one a payoff ends it."""

    seed: int = 0
    returns: int = 4
    at_last: int = 0  # of the first player

    @property
    def inner(self):
        return drawn_game(self.seed)

    def start(self):
        return Counted(*self.inner.start(), self.returns, 0)

    def deal(self, s):
        for weight, after in self.inner.deal(Place(s.number, s.label)):
            yield weight, Counted(*after, s.left, s.mover)

    def hidden(self, s):
        return ("number", "left")

    def actions(self, s):
        return self.inner.actions(Place(s.number, s.label))

    def outcomes(self, s, action):
        for weight, then, after in self.inner.outcomes(Place(s.number, s.label), action):
            if then not in (AGAIN, PASS) or after.number > s.number:
                yield weight, then, Counted(*after, s.left, s.mover ^ (then == PASS))
            elif s.left:
                yield weight, then, Counted(*after, s.left - 1, s.mover ^ (then == PASS))
            else:
                yield weight, payoff(self.at_last * (1 - 2 * s.mover)), s


def whole_bounds(game: Game) -> tuple[float, float]:
    """Bounds on the value from one tree of all plays."""
    tree = unfold(read(game), limit=300_000)
    return bounds(tree, solve_program(tree))
