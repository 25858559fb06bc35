"""What each learner keeps of the games it has seen, and how it plays the next one.

A tally is a handful of arrays over the actions and states of a graph, with the
kernel that plays games into them. Those whose arrays are sums over games can be
added up, which is what lets workers learn side by side.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph import StateGraph, sign_of
from rollwise.kernels import learning, learning_points, q_learning
from rollwise.learn.episodes import GameRecord

MOST_MOVES = 1 << 20  # a game longer than this is taken for one that never ends
POWER = 2 / 3  # Q-learning: the n-th visit moves a value by n ** -POWER of the way

Arrays = dict[str, NDArray[Any]]


class Tally(ABC):
    """What is known from games.

    Attributes
    ----------
    sums : tuple of str
        Names of arrays that are sums over games.
    lows, highs : tuple of str
        Names of arrays that are minima or maxima over games.
    """

    sums: ClassVar[tuple[str, ...]]
    lows: ClassVar[tuple[str, ...]] = ()
    highs: ClassVar[tuple[str, ...]] = ()

    def __init__(self, graph: StateGraph, cells: NDArray[np.int32], explore: float) -> None:
        self.graph = graph
        self.cells = cells
        self.explore = explore
        self.sign = sign_of(graph.objective)
        self.seen = np.zeros(graph.n_states, np.int64)
        self.rate = np.empty(graph.n_actions)
        self.threshold = np.zeros(graph.n_actions, np.int64)
        self.path = np.empty(1024, np.int64)

    @property
    @abstractmethod
    def visits(self) -> NDArray[np.int64]:
        """How often each action was taken: (n_actions,)."""

    @property
    @abstractmethod
    def values(self) -> NDArray[np.float64]:
        """Mean payoff or points of each action, NaN where it wasn't seen: (n_actions,)."""

    @property
    @abstractmethod
    def standard_errors(self) -> NDArray[np.float64] | None:
        """Of `values`: (n_actions,), NaN where they can't be told."""

    @abstractmethod
    def refresh(self) -> None:
        """Work out what the choices need after the arrays were set from outside."""

    @abstractmethod
    def _play(self, games: int, words: NDArray[np.uint64]) -> int:
        """Play up to so many games; fewer if one needs a longer `path`."""

    @abstractmethod
    def record(self, game: GameRecord) -> None:
        """Count a game that was played elsewhere."""

    def play(self, games: int, words: NDArray[np.uint64]) -> None:
        """Play games from the start and learn from them.

        Raises
        ------
        EndlessPlay
            A game goes on for more than a million moves.
        """
        with np.errstate(over="ignore"):  # random numbers wrap round, without the compiler too
            while (played := self._play(games, words)) < games:
                games -= played
                if len(self.path) >= MOST_MOVES:
                    raise EndlessPlay(
                        f"{self.graph.game}: a game goes on for more than {MOST_MOVES:,} moves"
                    )
                self.path = np.empty(4 * len(self.path), np.int64)

    def arrays(self) -> Arrays:
        """The arrays that say everything, by name."""
        names = (*self.sums, *self.lows, *self.highs)
        return {name: getattr(self, name) for name in names}

    def set_arrays(self, arrays: Arrays) -> None:
        """Take over the contents of arrays of the same names."""
        for name, array in self.arrays().items():
            array[...] = arrays[name]
        self.refresh()


class MeanTally(Tally):
    """Means over the games in which an action was taken, and a choice by them.

    `refresh` and the kernels keep how often each state was seen, the rates of its
    actions and the thresholds by which it chooses.
    """

    def __init__(
        self, graph: StateGraph, cells: NDArray[np.int32], explore: float, rule: int
    ) -> None:
        super().__init__(graph, cells, explore)
        self.choosing = (self.seen, self.rate, self.threshold, explore, rule)

    @property
    @abstractmethod
    def gains(self) -> NDArray[Any]:
        """Payoffs or points after each action, added up: (n_actions,)."""

    @property
    @abstractmethod
    def squared_gains(self) -> NDArray[Any]:
        """Their squares, added up: (n_actions,)."""

    @property
    def values(self) -> NDArray[np.float64]:
        visits = self.visits
        with np.errstate(invalid="ignore"):
            return np.where(visits > 0, self.gains / visits, np.nan)

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        visits = self.visits
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = self.squared_gains / visits - (self.gains / visits) ** 2
            return np.where(visits > 1, np.sqrt(np.maximum(spread, 0) / (visits - 1)), np.nan)


class WinTally(MeanTally):
    """Wins, losses and draws after each action: for the methods `counts` and `monte-carlo`."""

    sums = ("counts",)

    def __init__(
        self, graph: StateGraph, cells: NDArray[np.int32], explore: float, rule: int
    ) -> None:
        super().__init__(graph, cells, explore, rule)
        self.counts = np.zeros((graph.n_actions, 4), np.int64)  # the fourth column is padding
        self.refresh()

    @property
    def visits(self) -> NDArray[np.int64]:
        return np.asarray(self.counts[:, :3].sum(axis=1))

    @property
    def gains(self) -> NDArray[np.int64]:
        return np.asarray(self.counts[:, learning.WINS] - self.counts[:, learning.LOSSES])

    @property
    def squared_gains(self) -> NDArray[np.int64]:
        return np.asarray(self.counts[:, learning.WINS] + self.counts[:, learning.LOSSES])

    def refresh(self) -> None:
        learning.refresh(self.graph.action_indptr, self.counts, *self.choosing)

    def _play(self, games: int, words: NDArray[np.uint64]) -> int:
        graph = self.graph
        played: int = learning.learn_wins(
            games,
            graph.action_indptr,
            graph.action_state,
            graph.outcome_indptr,
            self.cells,
            self.counts,
            *self.choosing,
            words,
            self.path,
        )
        return played

    def record(self, game: GameRecord) -> None:
        graph = self.graph
        learning.count_game(
            game.path,
            len(game.path),
            game.ending,
            graph.action_indptr,
            graph.action_state,
            self.counts,
            *self.choosing,
        )


class PointTally(MeanTally):
    """Points after each action for its player, in a game for points or stakes."""

    sums = ("taken", "total", "squares")
    lows = ("low",)
    highs = ("high",)

    def __init__(
        self, graph: StateGraph, cells: NDArray[np.int32], explore: float, rule: int
    ) -> None:
        super().__init__(graph, cells, explore, rule)
        self.taken = np.zeros(graph.n_actions, np.int64)
        self.total = np.zeros(graph.n_actions)
        self.squares = np.zeros(graph.n_actions)
        self.low = np.full(graph.n_states, np.inf)
        self.high = np.full(graph.n_states, -np.inf)
        self._points = (self.taken, self.total, self.squares, self.low, self.high, self.sign)
        self.refresh()

    @property
    def visits(self) -> NDArray[np.int64]:
        return self.taken

    @property
    def gains(self) -> NDArray[np.float64]:
        return self.total

    @property
    def squared_gains(self) -> NDArray[np.float64]:
        return self.squares

    def refresh(self) -> None:
        learning_points.refresh_points(
            self.graph.action_indptr,
            self.taken,
            self.total,
            self.low,
            self.high,
            self.sign,
            *self.choosing,
        )

    def _play(self, games: int, words: NDArray[np.uint64]) -> int:
        graph = self.graph
        played: int = learning_points.learn_points(
            games,
            graph.action_indptr,
            graph.action_state,
            graph.action_reward,
            graph.ending_payoffs,
            graph.outcome_indptr,
            self.cells,
            *self._points,
            *self.choosing,
            words,
            self.path,
        )
        return played

    def record(self, game: GameRecord) -> None:
        graph = self.graph
        learning_points.count_points(
            game.path,
            len(game.path),
            graph.ending_payoffs[-1 - game.ending],
            graph.action_indptr,
            graph.action_state,
            graph.action_reward,
            *self._points,
            *self.choosing,
        )


class QTally(Tally):
    """Values of actions by Q-learning. They aren't sums over games."""

    sums = ("q", "taken", "seen")

    def __init__(self, graph: StateGraph, cells: NDArray[np.int32], explore: float) -> None:
        super().__init__(graph, cells, explore)
        self.q = np.zeros(graph.n_actions)
        self.taken = np.zeros(graph.n_actions, np.int64)

    @property
    def visits(self) -> NDArray[np.int64]:
        return self.taken

    @property
    def values(self) -> NDArray[np.float64]:
        return np.where(self.taken > 0, self.q, np.nan)

    @property
    def standard_errors(self) -> None:
        return None

    def refresh(self) -> None:
        pass

    def _play(self, games: int, words: NDArray[np.uint64]) -> int:
        played: int = q_learning.learn_q(
            games,
            MOST_MOVES,
            self.graph.action_indptr,
            self.graph.action_reward,
            self.graph.ending_payoffs,
            self.graph.outcome_indptr,
            self.cells,
            self.q,
            self.taken,
            self.seen,
            self.sign,
            self.explore,
            POWER,
            words,
        )
        if played < games:
            raise EndlessPlay(
                f"{self.graph.game}: a game goes on for more than {MOST_MOVES:,} moves"
            )
        return played

    def record(self, game: GameRecord) -> None:
        raise UsageError("Q-learning learns from its own games only")


def add_up(base: Arrays, tallies: Sequence[Tally]) -> Arrays:
    """What all workers know together, who each went on from `base`."""
    kind = type(tallies[0])
    parts = [tally.arrays() for tally in tallies]
    total: Arrays = {}
    for name in base:
        if len(parts) == 1:
            total[name] = parts[0][name].copy()
        elif name in kind.lows:
            total[name] = np.minimum.reduce([part[name] for part in parts])
        elif name in kind.highs:
            total[name] = np.maximum.reduce([part[name] for part in parts])
        else:
            total[name] = base[name] + sum(part[name] - base[name] for part in parts)
    return total
