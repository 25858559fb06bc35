"""Any game as a Python game of OpenSpiel.

Lanctot et al. (2019), "OpenSpiel: A Framework for Reinforcement Learning in Games".
An OpenSpiel action is the index of a rules' action among all actions of the game. A
chance outcome is the index of an outcome of its action.
"""

from __future__ import annotations

import re

import numpy as np

from rollwise.builders import build
from rollwise.builders.contract import refuse_many
from rollwise.derive.changed import throws_as_fields
from rollwise.errors import MissingExtra, UsageError, another_kind
from rollwise.game import Game
from rollwise.graph import StateGraph

MOST_MOVES = 100_000  # OpenSpiel wants a limit; games here have none

_REGISTERED: dict[str, str] = {}  # the hash of each registered graph, by its name there


def register(game: Game | StateGraph, name: str | None = None) -> str:
    """Register a game with OpenSpiel.

    Parameters
    ----------
    game : Game or StateGraph
        Rules with their parameters, or a graph (such as that of a contest).
    name : str, optional
        The name there; made from the game and its parameters unless given, and from the hash of its
        graph too where other rules have this name.

    Returns
    -------
    str
        The name, for ``pyspiel.load_game(name)``.

    Raises
    ------
    MissingExtra
        OpenSpiel isn't installed.
    UsageError
        Another game has the name given, or it is no name.
    ForMorePlayers
        A game of three or more.
    """
    try:
        import pyspiel
    except ImportError as error:
        raise MissingExtra("OpenSpiel isn't installed: pip install open_spiel") from error
    from rollwise.export.open_spiel_game import game_class

    graph = throws_as_fields(game if isinstance(game, StateGraph) else build(game))
    if graph.players > 2:
        refuse_many(graph.title, graph.players, game)
    code = graph.content_hash
    if name is None:
        words = "_".join([graph.game, *(f"{k}_{v}" for k, v in graph.parameters.items())])
        name = "rollwise_" + "".join(c if c.isalnum() else "_" for c in words).lower()
        if _REGISTERED.get(name, code) != code:  # of rules that have changed, in a notebook
            name = f"{name}_{code[:8]}"
    elif not isinstance(name, str):
        raise another_kind("a name is wanted, such as 'my_pig'", name)
    elif not re.fullmatch(r"\w+", name):
        raise UsageError(f"{name!r} is no name for OpenSpiel: letters, digits and underscores are")
    if _REGISTERED.get(name) == code:
        return name
    if name in pyspiel.registered_names():
        raise UsageError(f"OpenSpiel has another game with the name {name!r}; give another one")
    for_points = bool(graph.lotteries.reward.any()) or graph.objective != "win"
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
    most = float(np.abs(graph.ending_payoffs).max())
    if for_points:
        most += float(np.abs(graph.action_reward).max()) * MOST_MOVES
    info = pyspiel.GameInfo(
        num_distinct_actions=len(np.unique(graph.action_label)),
        max_chance_outcomes=int(np.diff(graph.outcome_indptr).max()),
        num_players=graph.players,
        min_utility=-most,
        max_utility=most,
        utility_sum=0.0 if graph.players == 2 else None,
        max_game_length=MOST_MOVES,
    )
    pyspiel.register_game(kind, game_class(graph, kind, info))
    _REGISTERED[name] = code
    return name
