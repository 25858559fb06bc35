"""The arrays of a learner, filled from its games, and its choices in the next one.

The one loop of `rollwise.kernels.learning` plays games into them. Sums over games can be added up,
and workers learn side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rollwise.errors import EndlessPlay, UsageError
from rollwise.graph import StateGraph, sign_of
from rollwise.graph.policies import alias_cells, seat_bits, seat_payoffs
from rollwise.kernels import learning as kernels
from rollwise.learn.episodes import GameRecord

MOST_MOVES = 1 << 20  # a longer game counts as endless
RULES = {
    "counts": kernels.BY_RATES,
    "monte-carlo": kernels.BY_EPSILON,
    "q-learning": kernels.BY_VALUES,
}

Arrays = dict[str, NDArray[Any]]


class Tally:
    """The estimates of a method from the games so far.

    Attributes
    ----------
    sums : (n_actions, 3) float64
        Number of times each action was taken, and its player's payoffs or points afterwards:
        their sum and the sum of their squares. With Q-learning the second column is the value.
    scales : (n_states, 2) float64 or None
        The least and most points after each state, if a game for up to two players has points.
    """

    def __init__(self, graph: StateGraph, method: str, explore: float, like: Tally | None = None):
        payoffs, limit = seat_payoffs(graph), float(graph.players <= 2)
        low, high = float(payoffs.min(initial=-limit)), float(payoffs.max(initial=limit))
        self.graph, self.method = graph, method
        self.rules: kernels.Rules = kernels.Rules(
            graph.action_indptr,
            graph.action_state,
            graph.outcome_indptr,
            alias_cells(graph) if like is None else like.rules.cells,
            payoffs,
            low,
            high if high > low else low + 1.0,
            seat_bits(graph),
            sign_of(graph.objective),
            RULES[method],
            explore,
        )
        self.known = kernels.Known(
            np.zeros((graph.n_actions, 4)), np.zeros(graph.n_actions, np.int64)
        )
        self.sums = self.known.table[:, :3]
        has_points = graph.is_score and graph.players <= 2
        self.rewards = graph.action_reward if has_points else None
        has_scales = has_points and method != "q-learning"
        self.scales = np.tile((np.inf, -np.inf), (graph.n_states, 1)) if has_scales else None
        self._path = None if method == "q-learning" else np.empty(1024, np.int64)
        self._gained = np.empty(payoffs.shape[1])
        self.refresh()

    @property
    def visits(self) -> NDArray[np.int64]:
        """How often each action was taken: (n_actions,)."""
        return self.sums[:, kernels.VISITS].astype(np.int64)

    @property
    def values(self) -> NDArray[np.float64]:
        """Mean payoff or points of each action, NaN where it wasn't seen: (n_actions,)."""
        visits, total, _ = self.sums.T
        with np.errstate(invalid="ignore"):
            means = total if self.method == "q-learning" else total / visits
        return np.where(visits > 0, means, np.nan)

    @property
    def standard_errors(self) -> NDArray[np.float64] | None:
        """Of `values`: (n_actions,), NaN where the data don't show them; None for Q-learning."""
        if self.method == "q-learning":
            return None
        visits, total, squares = self.sums.T
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = squares / visits - (total / visits) ** 2
            return np.where(visits > 1, np.sqrt(np.maximum(spread, 0) / (visits - 1)), np.nan)

    def refresh(self) -> None:
        """Work out the chances of actions after the arrays were set from outside."""
        if self.method != "q-learning":  # its choices look at the values
            kernels.refresh(self.rules, self.known, self.scales)

    def play(self, games: int, words: NDArray[np.uint64]) -> None:
        """Play games from the start and learn from them.

        Raises
        ------
        EndlessPlay
            A game goes on for more than a million moves.
        """
        while True:
            most = MOST_MOVES if self._path is None else len(self._path)
            with np.errstate(over="ignore"):  # random numbers wrap round, without the compiler too
                games -= kernels.learn_games(
                    games,
                    most,
                    self.rules,
                    self.known,
                    self.scales,
                    self.rewards,
                    self._path,
                    self._gained,
                    words,
                )
            if games == 0:
                return
            if most >= MOST_MOVES:
                raise EndlessPlay(
                    f"{self.graph.game}: a game goes on for more than {MOST_MOVES:,} moves"
                )
            self._path = np.empty(4 * most, np.int64)

    def record(self, game: GameRecord) -> None:
        """Count a game played elsewhere."""
        if self.method == "q-learning":
            raise UsageError("Q-learning learns from its own games only")
        arrays = self.rules, self.known, self.scales, self.rewards, self._gained
        kernels.count_game(game.path, len(game.path), game.ending, *arrays)

    def arrays(self) -> Arrays:
        """The arrays behind all estimates, by name."""
        return {"sums": self.sums} | ({} if self.scales is None else {"scales": self.scales})

    def set_arrays(self, arrays: Arrays) -> None:
        """Take over the contents of arrays of the same names."""
        for name, array in self.arrays().items():
            array[...] = arrays[name]
        self.refresh()


def add_up(base: Arrays, tallies: Sequence[Tally]) -> Arrays:
    """The sum of the arrays of all workers, each continued from `base`."""
    parts = [tally.arrays() for tally in tallies]
    if len(parts) == 1:
        return {name: array.copy() for name, array in parts[0].items()}
    total = {"sums": base["sums"] + sum(part["sums"] - base["sums"] for part in parts)}
    if "scales" in base:
        scales = np.stack([part["scales"] for part in parts])
        total["scales"] = np.stack([scales[..., 0].min(axis=0), scales[..., 1].max(axis=0)], axis=1)
    return total
