"""OpenSpiel's classes of a game, a state and an observer, on a graph.

The graph is an attribute of the class, since OpenSpiel copies all attributes of an
instance. This module is imported only where OpenSpiel is installed.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pyspiel
from numpy.typing import NDArray

from rollwise.graph import StateGraph


class RollwiseState(pyspiel.State):  # type: ignore[misc]
    """A position, or a chance node after the action `action`."""

    graph: ClassVar[StateGraph]
    labels: ClassVar[NDArray[np.int64]]  # of all actions; their indices are OpenSpiel's actions
    ranks: ClassVar[list[int]]  # the index of each action's label

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.state = 0
        self.seat = 0
        self.action = -1
        self.over = False
        self.points = 0.0  # of the first player
        self.last_points = 0.0  # by the last action; they are its reward after its chances, too
        self.payoff = 0.0  # of the first player

    def current_player(self) -> int:
        if self.over:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if self.action >= 0 else self.seat

    def _legal_actions(self, player: int) -> list[int]:
        return sorted(self.ranks[action] for action in self.graph.view[self.state].actions)

    def state_of_rollwise(self) -> tuple[int, ...]:
        """The fields of the state, as the mover sees it."""
        return self.graph.row(self.state)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return list(enumerate(self.graph.view.action(self.action).chances))

    def _apply_action(self, action: int) -> None:
        if self.action < 0:
            self._choose(action)
        else:
            self._fall(action)

    def _choose(self, rank: int) -> None:
        view = self.graph.view
        chosen = next(a for a in view[self.state].actions if self.ranks[a] == rank)
        self.action = chosen.index
        self.last_points = view.sign * chosen.reward * (1 if self.seat == 0 else -1)
        self.points += self.last_points

    def _fall(self, number: int) -> None:
        outcome = self.graph.view.action(self.action).outcome(number)
        self.action = -1
        if outcome.is_over:
            self.over = True
            self.payoff = outcome.payoff if self.seat == 0 else -outcome.payoff
        else:
            self.seat ^= int(outcome.passes)
            self.state = outcome.target

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"outcome {action + 1}"
        return self.graph.vocabulary.text(int(self.labels[action]))

    def is_terminal(self) -> bool:
        return self.over

    def returns(self) -> list[float]:
        return self._both(self.points + self.payoff)

    def rewards(self) -> list[float]:
        return self._both(self.last_points + self.payoff)

    def _both(self, first: float) -> list[float]:
        """The returns of both players, from the first player's."""
        return [first] if self.graph.players == 1 else [first, -first]

    def __str__(self) -> str:
        # Information states differ where future play or past points differ.
        graph = self.graph
        for_points = graph.objective != "win" or graph.lotteries.reward.any()
        made = f" points={self.points:g}" if for_points else ""
        if self.over:
            return f"over {self.payoff:+g}{made}"
        chosen = f" {graph.view.action(self.action)}" if self.action >= 0 else ""
        return f"player {self.seat}: {graph.state_text(self.state)}{chosen}{made}"


class RollwiseGame(pyspiel.Game):  # type: ignore[misc]
    """The game."""

    kind: ClassVar[Any]  # a pyspiel.GameType
    info: ClassVar[Any]  # a pyspiel.GameInfo
    state_class: ClassVar[type[RollwiseState]]

    def __init__(self, params: Any = None) -> None:
        super().__init__(self.kind, self.info, params or {})

    def new_initial_state(self, state: Any = None) -> RollwiseState:
        return self.state_class(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        return Observer(self.state_class.graph)


class Observer:
    """The fields of the state as the mover sees it, and the mover."""

    def __init__(self, graph: StateGraph) -> None:
        self.states = graph.rows
        self.tensor = np.zeros(len(graph.columns) + 1, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: RollwiseState, player: int) -> None:
        self.tensor[:-1] = self.states[state.state]
        self.tensor[-1] = state.seat

    def string_from(self, state: RollwiseState, player: int) -> str:
        return str(state)


def game_class(graph: StateGraph, kind: Any, info: Any) -> type[RollwiseGame]:
    """The class of games on a graph."""
    labels = np.unique(graph.action_label)
    ranks = np.searchsorted(labels, graph.action_label).tolist()
    words = {"graph": graph, "labels": labels, "ranks": ranks}
    state_class = type("RollwiseState", (RollwiseState,), words)
    shown = {"kind": kind, "info": info, "state_class": state_class}
    return type("RollwiseGame", (RollwiseGame,), shown)
