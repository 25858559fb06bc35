"""Thousands of games at once as a Gymnasium vector environment, stepped in compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rollwise.answer.references import AnyPolicy
from rollwise.environments import need
from rollwise.environments.arena import arena_of, seat_by_name
from rollwise.errors import UsageError
from rollwise.game import Game
from rollwise.graph.choices import is_throw
from rollwise.kernels.environment import step_batch
from rollwise.numbers.given import finite_number, whole_number
from rollwise.numbers.randomness import check_seed, seed_of, stream
from rollwise.play.games import MOST_MOVES, PlayTable

gymnasium = need("gymnasium")


class GameVectorEnv(gymnasium.vector.VectorEnv):  # type: ignore[misc, name-defined]
    """Many games of one kind. Observations and rewards are those of `GameEnv`.

    A finished game begins again at the next step, and the action of this step is
    ignored (Gymnasium's ``AutoresetMode.NEXT_STEP``). ``infos["action_mask"]`` is
    (n, n_ranks) int8 and ``infos["state"]`` (n,) int64. A reset takes one seed
    for all games.

    Parameters
    ----------
    num_envs : int
    copy : bool
        Give new arrays at each step; otherwise the next step overwrites them.
    actions : sequence of str, optional
        As in `GameEnv`.
    max_episode_steps : int, optional
        A game that isn't over after so many steps is truncated, as by Gymnasium's ``TimeLimit``:
        the observation is the last one of this game, and the next step begins a new one.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": [],
        "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        game: str | Game | type[Game],
        num_envs: int = 1,
        opponent: AnyPolicy = "optimal",
        seat: str = "first",
        illegal_reward: float = -1.0,
        render_mode: None = None,
        copy: bool = True,
        actions: Sequence[str] | None = None,
        max_episode_steps: int | None = None,
        **parameters: Any,
    ) -> None:
        if render_mode is not None:
            raise UsageError(f"render_mode is {render_mode!r}; many games at once have no pictures")
        num_envs = whole_number("num_envs", num_envs, 1)
        if max_episode_steps is not None:
            max_episode_steps = whole_number("max_episode_steps", max_episode_steps, 1)
        self.max_episode_steps = max_episode_steps
        wanted = seat_by_name(seat)  # before anything is built
        self.arena = arena_of(game, parameters, opponent, actions=actions)
        self.graph = graph = self.arena.graph
        self.seat = self.arena.seat(wanted)
        self.illegal_reward = finite_number("illegal_reward", illegal_reward)
        self.copy = copy
        self.num_envs = num_envs
        low, high = self.arena.bounds
        n_ranks = len(self.arena.labels)
        self.single_observation_space = gymnasium.spaces.Box(low, high, dtype=np.int32)
        self.single_action_space = gymnasium.spaces.Discrete(n_ranks)
        batch = gymnasium.vector.utils.batch_space
        self.observation_space = batch(self.single_observation_space, num_envs)
        self.action_space = batch(self.single_action_space, num_envs)
        self.action_names = self.arena.action_names

        seats = (None,) if self.arena.opponent is None else (None, self.arena.opponent)
        self._table = table = PlayTable.of(graph, *seats)
        starts = [int(node) for node in table.starts]
        if not is_throw(graph)[0]:
            starts[0] = -1  # the agent chooses at once
        # By the opponent's payoff, the opposite of the agent's.
        self._early_state = np.zeros(len(graph.ending_payoffs), np.int64)
        for payoff in self.arena.early_payoffs.tolist():
            ending = np.searchsorted(graph.ending_payoffs, -payoff)
            self._early_state[ending] = self.arena.early_state(payoff)
        self._play = (
            graph.ending_payoffs,
            graph.action_indptr,
            table.node_of[0],
            np.array([*starts, -1][:2], np.int64),
            MOST_MOVES,
            (table.bits, table.nodes, table.reward, *table.cells),
        )
        self._words = stream(seed_of(None), 0)
        self._state = np.zeros(num_envs, np.int64)
        self._done = np.ones(num_envs, np.bool_)
        self._room = (
            np.zeros(num_envs, np.int64),
            np.zeros(num_envs, np.int64),
            table.room(num_envs),
        )
        self._observation = np.zeros((num_envs, len(low)), np.int32)
        self._mask = np.zeros((num_envs, n_ranks), np.int8)
        self._reward = np.zeros(num_envs)
        self._owed = np.zeros(num_envs)
        self._terminated = np.zeros(num_envs, np.bool_)
        self._truncated = np.zeros(num_envs, np.bool_)
        self._steps = np.zeros(num_envs, np.int64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int32], dict[str, Any]]:
        """Begin all games; one seed for all of them."""
        if seed is not None:
            self._words = stream(check_seed(seed), 0)
        self._step(np.zeros(self.num_envs, np.int64), reset=True)
        return self._given(self._observation), self._info()

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[
        NDArray[np.int32],
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Step all games."""
        given = np.asarray(actions)
        if not np.issubdtype(given.dtype, np.integer):
            raise UsageError(f"actions are of the type {given.dtype}; they must be whole numbers")
        actions = given.astype(np.int64)  # a copy, in which the kernel works
        if actions.shape != (self.num_envs,):
            raise UsageError(f"actions have the shape {actions.shape}, not ({self.num_envs},)")
        self._step(actions, reset=False)
        return (
            self._given(self._observation),
            self._given(self._reward),
            self._given(self._terminated),
            self._given(self._truncated),
            self._info(),
        )

    def _step(self, actions: NDArray[np.int64], *, reset: bool) -> None:
        arena = self.arena
        begins = np.ones_like(self._done) if reset else self._done.copy()
        with np.errstate(over="ignore"):  # random numbers wrap round, without the compiler too
            wrong, stuck = step_batch(
                actions,
                reset,
                self.seat,
                self.illegal_reward,
                arena.reward_sign,
                arena.observations,
                arena.masks,
                arena.action_of,
                arena.early_payoffs,
                self._early_state,
                *self._play,
                self._words,
                self._state,
                self._done,
                self._owed,
                *self._room,
                self._observation,
                self._mask,
                self._reward,
                self._terminated,
            )
        if wrong >= 0:
            raise UsageError(f"action {actions[wrong]} of game {wrong} isn't an action")
        self._table.require_end(stuck)
        self._steps = np.where(begins, 0, self._steps + 1)
        if self.max_episode_steps is not None:
            np.greater_equal(self._steps, self.max_episode_steps, out=self._truncated)
            self._done |= self._truncated

    def _given(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy() if self.copy else array

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._given(self._mask), "state": self._given(self._state)}
