"""Any game as a Python game of OpenSpiel.

Lanctot et al. (2019), "OpenSpiel: A Framework for Reinforcement Learning in Games".
An action of theirs is the place of a rules' action among all that the game has; a
chance outcome is the number of an outcome among those of its action.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rollwise.builders import build
from rollwise.errors import MissingExtra
from rollwise.game import Game
from rollwise.graph import StateGraph

MOST_MOVES = 100_000  # OpenSpiel wants a limit; games here have none


def register(game: Game | StateGraph, name: str | None = None) -> str:
    """Register a game with OpenSpiel.

    Parameters
    ----------
    game : Game or StateGraph
        Rules with their parameters, or a graph (such as that of a contest).
    name : str, optional
        The name there; made from the game and its parameters unless given.

    Returns
    -------
    str
        The name, for ``pyspiel.load_game(name)``.

    Raises
    ------
    MissingExtra
        OpenSpiel isn't installed.
    """
    try:
        import pyspiel
    except ImportError as error:
        raise MissingExtra("OpenSpiel isn't installed: pip install open_spiel") from error
    graph = game if isinstance(game, StateGraph) else build(game)
    if name is None:
        words = "_".join([graph.game, *(f"{k}_{v}" for k, v in graph.parameters.items())])
        name = "rollwise_" + "".join(c if c.isalnum() else "_" for c in words).lower()
    if name in pyspiel.registered_names():
        return name
    for_points = graph.objective != "win"
    zero_sum = pyspiel.GameType.Utility.ZERO_SUM
    kind = pyspiel.GameType(
        short_name=name,
        long_name=f"{graph.title} (rollwise)",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=zero_sum if graph.players == 2 else pyspiel.GameType.Utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.REWARDS
        if for_points
        else pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=graph.players,
        min_num_players=graph.players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={},
    )
    most = float(np.abs(graph.action_reward).max()) * MOST_MOVES if for_points else 1.0
    info = pyspiel.GameInfo(
        num_distinct_actions=len(np.unique(graph.action_label)),
        max_chance_outcomes=int(np.diff(graph.outcome_indptr).max()),
        num_players=graph.players,
        min_utility=-most,
        max_utility=most,
        utility_sum=0.0 if graph.players == 2 else None,
        max_game_length=MOST_MOVES,
    )
    game_class, _ = _classes(pyspiel, graph, kind, info)
    pyspiel.register_game(kind, game_class)
    return name


def _classes(pyspiel: Any, graph: StateGraph, kind: Any, info: Any) -> tuple[type, type]:
    """The classes of the game and its states."""
    labels = np.unique(graph.action_label)
    ranks = np.searchsorted(labels, graph.action_label).tolist()
    sign = -1.0 if graph.objective == "minimize" else 1.0

    class RollwiseState(pyspiel.State):  # type: ignore[misc]
        """A position, or dice about to fall (`action` is then what was chosen)."""

        def __init__(self, game: Any) -> None:
            super().__init__(game)
            self.state = 0
            self.seat = 0
            self.action = -1
            self.over = False
            self.points = 0.0
            self.last_points = 0.0
            self.payoff = 0.0  # of the first player

        def current_player(self) -> int:
            if self.over:
                return int(pyspiel.PlayerId.TERMINAL)
            return int(pyspiel.PlayerId.CHANCE) if self.action >= 0 else self.seat

        def _legal_actions(self, player: int) -> list[int]:
            begin, end = graph.action_indptr[self.state : self.state + 2].tolist()
            return sorted(ranks[begin:end])

        def state_of_rollwise(self) -> tuple[int, ...]:
            """The fields of the state, as the mover sees it."""
            return tuple(graph.states[self.state].tolist())

        def chance_outcomes(self) -> list[tuple[int, float]]:
            begin, end = graph.outcome_indptr[self.action : self.action + 2].tolist()
            weight = graph.outcome_weight[begin:end]
            return list(enumerate((weight / weight.sum()).tolist()))

        def _apply_action(self, action: int) -> None:
            if self.action < 0:
                begin, end = graph.action_indptr[self.state : self.state + 2].tolist()
                self.action = begin + ranks[begin:end].index(action)
                self.last_points = sign * float(graph.action_reward[self.action])
                self.points += self.last_points
                return
            self.last_points = 0.0
            k = int(graph.outcome_indptr[self.action]) + action
            self.action = -1
            t = int(graph.outcome_state[k])
            if t < 0:
                self.over = True
                payoff = float(graph.outcome_payoff[k])
                self.payoff = payoff if self.seat == 0 else -payoff
            else:
                self.seat ^= int(graph.outcome_passes[k])
                self.state = t

        def _action_to_string(self, player: int, action: int) -> str:
            if player == pyspiel.PlayerId.CHANCE:
                return f"outcome {action + 1}"
            label = int(labels[action])
            return graph.action_names.get(label, str(label))

        def is_terminal(self) -> bool:
            return self.over

        def returns(self) -> list[float]:
            if graph.players == 1:
                return [self.points + self.payoff]
            return [self.payoff, -self.payoff]

        def rewards(self) -> list[float]:
            if graph.players == 1:
                return [self.last_points + self.payoff]
            return self.returns()

        def __str__(self) -> str:
            # What is told apart is what matters from here on, and points that were made.
            made = f" points={self.points:g}" if graph.objective != "win" else ""
            if self.over:
                return f"over {self.payoff:+g}{made}"
            chosen = f" {graph.action_text(self.action)}" if self.action >= 0 else ""
            return f"player {self.seat}: {graph.state_text(self.state)}{chosen}{made}"

    class RollwiseGame(pyspiel.Game):  # type: ignore[misc]
        """The game."""

        def __init__(self, params: Any = None) -> None:
            super().__init__(kind, info, params or {})

        def new_initial_state(self, state: Any = None) -> RollwiseState:
            return RollwiseState(self)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
            return Observer()

    class Observer:
        """The fields of the state as the one to move sees it, and who that is."""

        def __init__(self) -> None:
            self.tensor = np.zeros(len(graph.field_names) + 1, np.float32)
            self.dict = {"observation": self.tensor}

        def set_from(self, state: RollwiseState, player: int) -> None:
            self.tensor[:-1] = graph.states[state.state]
            self.tensor[-1] = state.seat

        def string_from(self, state: RollwiseState, player: int) -> str:
            return str(state)

    return RollwiseGame, RollwiseState
