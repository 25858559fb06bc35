"""Any game as a PettingZoo environment, each player an agent (AEC)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from rollwise.environments import need
from rollwise.environments.arena import Arena, Telling, arena_of, require_render_mode
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.graph import Outcome
from rollwise.numbers.given import finite_number
from rollwise.numbers.randomness import check_seed

gymnasium = need("gymnasium")
pettingzoo = need("pettingzoo")


def env(game: str | Game | type[Game], *, illegal_reward: float = -1.0, **options: Any) -> Any:
    """A game for PettingZoo, with its usual wrappers: an illegal action ends the game.

    Parameters
    ----------
    game : str, Game or subclass of Game
        A game, or the name or class of one, with its `parameters`.
    illegal_reward : float
        The reward of an illegal action. A loss has -1; a game for points needs less than its worst
        result, or agents learn to end it.
    **options
        Of `GameAECEnv`.
    """
    illegal_reward = finite_number("illegal_reward", illegal_reward)
    wrappers = pettingzoo.utils.wrappers
    made = GameAECEnv(game, **options)
    made = wrappers.TerminateIllegalWrapper(made, illegal_reward=illegal_reward)
    made = wrappers.AssertOutOfBoundsWrapper(made)
    return wrappers.OrderEnforcingWrapper(made)


class GameAECEnv(pettingzoo.AECEnv):  # type: ignore[misc, name-defined]
    """A game, agents taking turns.

    Agents are ``player_0``, the first to move, ``player_1`` if the game has two, and so on. In a
    game of three or more the rewards at the end are shares of one win. An observation is a dict:
    ``observation``, the fields of the state from the view of the mover (the same for both) and the
    throw before the choice, and ``action_mask``, all zero for the other.

    Parameters
    ----------
    game : str, Game or subclass of Game
        As for `env`.
    render_mode : {"ansi"}, optional
    actions : sequence of str, optional
        As in `GameEnv`.
    **parameters
        Of the game.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": ["ansi"],
        "render_fps": 1,
        "name": "rollwise_v0",
        "is_parallelizable": False,
    }

    def __init__(
        self,
        game: str | Game | type[Game],
        render_mode: str | None = None,
        actions: Sequence[str] | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__()
        require_render_mode(render_mode)
        self.arena: Arena = arena_of(game, parameters, None, any_players=True, actions=actions)
        self.graph = self.arena.graph
        self.render_mode = render_mode
        self.possible_agents = [f"player_{i}" for i in range(self.graph.players)]
        self.agents = self.possible_agents[:]
        low, high = self.arena.bounds
        n = len(self.arena.labels)
        spaces = gymnasium.spaces
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(low, high, dtype=np.int32),
                    "action_mask": spaces.Box(0, 1, shape=(n,), dtype=np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(n) for agent in self.possible_agents}
        self.action_names = self.arena.action_names
        self._random = np.random.default_rng()
        self._telling = Telling(self.arena)
        self._begin()

    def observation_space(self, agent: str) -> Any:
        """The space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game."""
        if seed is not None:
            self._random = np.random.default_rng(check_seed(seed))
        self._begin()

    def _begin(self) -> None:
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._state = 0
        if self.render_mode is not None:
            self._telling.begin(self._random)
        self._throw()

    def _throw(self) -> None:
        """Make the throw before the next agent's choice, in a game with throws."""
        thrown = self.arena.throw(self._state, self._random)
        if thrown is None:
            return
        if self.render_mode is not None:
            self._tell(self.agent_selection, thrown)
        self._state = thrown.target

    def observe(self, agent: str) -> dict[str, Any]:
        """The observation of an agent."""
        mask = self.arena.masks[self._state]
        over = any(self.terminations.values())
        if agent != self.agent_selection or over:
            mask = np.zeros_like(mask)
        return {
            "observation": self.arena.observations[self._state].copy(),
            "action_mask": mask.copy(),
        }

    def step(self, action: Any) -> None:
        """Take an action for the agent to move.

        Raises
        ------
        UsageError
            There is no such action, or it can't be done now.
        """
        mover = self.agent_selection
        if self.terminations[mover] or self.truncations[mover]:
            self._was_dead_step(action)
            return
        space = self.action_spaces[mover]
        if not space.contains(action):
            raise UsageError(f"{self.graph.title}: {action!r} isn't an action; there are {space}")
        a = int(self.arena.action_of[self._state, int(action)])
        if a < 0:
            legal = np.flatnonzero(self.arena.masks[self._state]).tolist()
            raise UsageError(
                f"{self.graph.title}: {self.action_names[int(action)]} can't be done in the state "
                f"{self.arena.state_text(self._state)}; the legal actions are "
                f"{', '.join(f'{rank} ({self.action_names[rank]})' for rank in legal)}"
            )
        taken = self.graph.view.action(a)
        outcome = taken.step(self._random)
        if self.render_mode is not None:
            self._telling.lines = []
            self._tell(mover, outcome)
        self._cumulative_rewards[mover] = 0.0
        self._clear_rewards()
        points = self.arena.reward_sign * taken.reward
        self.rewards[mover] = points
        for other in self.agents:
            if other != mover:
                self.rewards[other] = -points
        seat = self.possible_agents.index(mover)
        following = (seat + outcome.seats_on) % len(self.possible_agents)
        if outcome.is_over:
            # payoffs of an ending are from the mover on
            for agent, payoff in zip(self._from(mover), self._payoffs(outcome), strict=True):
                self.rewards[agent] += payoff
            self.terminations = dict.fromkeys(self.agents, True)
            following = (seat + 1) % len(self.possible_agents)
        else:
            self._state = outcome.target
        self.agent_selection = self.possible_agents[following]
        if not outcome.is_over:
            self._throw()
        self._accumulate_rewards()

    def _from(self, mover: str) -> list[str]:
        """All agents, in the order of their moves from this one on."""
        seat = self.possible_agents.index(mover)
        return self.possible_agents[seat:] + self.possible_agents[:seat]

    def _payoffs(self, outcome: Outcome) -> Sequence[float]:
        """Payoffs of the agents at the end of a game, from the mover on."""
        if self.graph.players > 2:
            return outcome.shares
        return (outcome.payoff, -outcome.payoff)[: self.graph.players]

    def _tell(self, mover: str, outcome: Outcome) -> None:
        self._telling.tell(mover, outcome, self._from(mover))

    def render(self) -> str | None:
        """The last move and the present position."""
        if self.render_mode is None:
            return None
        over = any(self.terminations.values())
        position = self.arena.state_text(self._state)
        here = "game over" if over else f"{self.agent_selection} to move: {position}"
        return "\n".join([*self._telling.lines, here])

    def close(self) -> None:
        """Do nothing. The interface requires this method."""
