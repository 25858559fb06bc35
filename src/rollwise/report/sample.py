"""What a report says of a game that is too large for one graph: games are played, and counted.

The positions that it looks at are drawn from those that these games came to, evenly. So what is
said of them, weighted by how often they were drawn, is said of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rollwise.analysis.lengths import Lengths, lengths
from rollwise.answer.solution import Solution
from rollwise.builders.rules import Rules
from rollwise.builders.some_states import positions_at_once
from rollwise.simulate.turn_by_turn import (
    PlayedGames,
    Player,
    best_play,
    play_turn_by_turn,
    policy_play,
    random_play,
)

if TYPE_CHECKING:
    from rollwise.answer.layered_solution import LayeredSolution

GAMES, SEED = 400, 1


@dataclass(frozen=True, eq=False)
class Sample:
    """Games played best, and the answer in some of the positions that they came to.

    Attributes
    ----------
    answer : LayeredSolution
        The whole answer.
    """

    answer: LayeredSolution

    @cached_property
    def best(self) -> Player:
        """Who plays best."""
        return best_play(self.answer)

    @cached_property
    def played(self) -> PlayedGames:
        """The games."""
        return play_turn_by_turn(self.answer.game, self.best, GAMES, SEED)

    @property
    def about(self) -> str:
        """Where estimates come from."""
        return f"estimated from {GAMES} games that rollwise played so, seed {SEED}"

    @cached_property
    def _drawn(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Which positions are looked at, the start first, and how often a game comes to each."""
        played = self.played
        total, most = int(played.visits.sum()), positions_at_once(Rules(self.answer.game))
        n = min(total, most)
        places = np.searchsorted(np.cumsum(played.visits), (np.arange(n) + 0.5) * total / n)
        which, often = np.unique(np.append(places, 0), return_counts=True)
        often[0] -= 1  # the start is looked at whether it is drawn or not
        return which, np.asarray(often * (total / n / GAMES), np.float64)

    @property
    def n_positions(self) -> int:
        """How many positions are looked at."""
        return len(self._drawn[0])

    @cached_property
    def solution(self) -> Solution:
        """The answer in these positions."""
        rows = self.played.positions[self._drawn[0]]
        return self.answer.parts(self.answer.numbers_of(rows))

    @cached_property
    def lengths(self) -> Lengths:
        """How long the games lasted, and how often a game comes to the states of `solution`."""
        played, graph = self.played, self.solution.graph
        begin = np.zeros(graph.n_states)
        begin[: len(self._drawn[1])] = self._drawn[1]
        visits = lengths(graph, self.solution.policy, begin=begin).visits
        last = int(played.lengths.max(initial=0))

        def shares(which: NDArray[np.bool_]) -> NDArray[np.float64]:
            counted = np.bincount(played.lengths[which & played.over], minlength=last + 1)
            return np.asarray(counted / played.n)

        gains, won = played.gains, self.answer.objective == "win"
        first, second = won & (gains > 0), won & (gains < 0)
        return Lengths(
            played.unit,
            shares(first),
            shares(second),
            shares(~(first | second)),
            float(1 - played.over.mean()),
            visits,
            np.zeros(last + 1),
        )

    def games_of(self, name: str) -> list[PlayedGames]:
        """As many games by a policy of the rules, or ``random``; of two players in each seat.

        Raises
        ------
        PolicyError
        """
        game, random = self.answer.game, np.random.default_rng(SEED)
        known = name in game.policies()
        player = policy_play(game, name, random) if known else random_play(game, random)
        seats: list[tuple[Player, Player | None]] = [(player, None)]
        if game.players == 2:
            seats = [(player, self.best), (self.best, player)]
        return [play_turn_by_turn(game, one, GAMES, SEED, other) for one, other in seats]
