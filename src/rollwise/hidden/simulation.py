"""Games played between two strategies: estimates, and stories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rollwise.hidden.answer import Answer, Situation
from rollwise.hidden.reading import DEAL, TOGETHER


@dataclass
class Walk:
    """One game in progress.

    Attributes
    ----------
    position, mover : int
        The position, and the player whose view it is.
    payoff : float
        Of the first player so far; complete once the game is over.
    """

    answer: Answer
    random: np.random.Generator
    position: int = 0
    mover: int = 0
    payoff: float = 0.0
    is_over: bool = False

    def __post_init__(self) -> None:
        self.memories: list[Any] = [None, None]
        self._deal()

    def choosers(self) -> list[tuple[int, int]]:
        """Player and side of each player who chooses now."""
        both = self.answer.positions.kinds[self.position] == TOGETHER
        return [(self.mover, 0), *([(1 - self.mover, 1)] if both else [])]

    def situation(self, player: int, side: int) -> Situation:
        """The choice of a player."""
        return self.answer.at(self.memories[player], player, side, self.position)

    def act(self, indices: list[int]) -> None:
        """Take an action of each chooser, by index, and let chance act."""
        positions = self.answer.positions
        for (player, _), index in zip(self.choosers(), indices, strict=True):
            memory = self.memories[player]
            self.memories[player] = self.answer.remember(memory, player, self.position, index)
        width = len(positions.menus[self.position][-1]) if len(indices) > 1 else 1
        self._step(indices[0] * width + (indices[1] if len(indices) > 1 else 0))
        self._deal()

    def _deal(self) -> None:
        while not self.is_over and self.answer.positions.kinds[self.position] == DEAL:
            self._step(0)

    def _step(self, within: int) -> None:
        positions = self.answer.positions
        choice = int(positions.first_choice[self.position]) + within
        sign = 1 - 2 * self.mover
        self.payoff += sign * float(positions.rewards[choice])
        rows = positions.outcomes(choice)
        weights = np.array([float(row[0]) for row in rows])
        _, points, target, turn = rows[self.random.choice(len(rows), p=weights / weights.sum())]
        if target < 0:
            self.payoff += sign * float(points)
            self.is_over = True
        else:
            self.position, self.mover = target, self.mover ^ turn


def drawn(situation: Situation, random: np.random.Generator) -> int:
    """The index of an action by the probabilities of a strategy."""
    shares = np.array(situation.probabilities, float)
    return int(random.choice(len(shares), p=shares / shares.sum()))


def simulate(answer: Answer, games: int, seed: int) -> tuple[float, float]:
    """The first player's mean payoff in simulated games, and its standard error."""
    random = np.random.default_rng(seed)
    payoffs = np.empty(games)
    for k in range(games):
        walk = Walk(answer, random)
        while not walk.is_over:
            walk.act([drawn(walk.situation(*who), random) for who in walk.choosers()])
        payoffs[k] = walk.payoff
    spread = payoffs.std(ddof=1) if games > 1 else np.inf
    return float(payoffs.mean()), float(spread / np.sqrt(games))
